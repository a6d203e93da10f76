//! Moves from good points to others where components maximise a measure: what they give is on the constraints.

use rand::RngExt;
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

use super::Tuning;
use super::moves::Way;
use super::pool::{components, drawn};
use orthopt_core::problem::support;
use orthopt_limits::overshoot::{Grounded, Point, grouped, overshot, rotated, thinned};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;

const T: Tuning = Tuning::DEFAULT;

/// Which of the best points a move begins from: the better ones more often.
fn parent<'b>(best: &'b [RowMat], rng: &mut Pcg64) -> &'b RowMat {
    &best[rng.random_range(0..best.len().min(3))]
}

/// Many entries added by gradients with noise on them, and pruned again.
#[derive(Debug)]
pub struct Overshot;

impl<P: Grounded> Way<P> for Overshot {
    fn name(&self) -> &'static str {
        "entries added and pruned"
    }

    fn point(&self, p: &P, best: &[RowMat], rng: &mut Pcg64, _: &Cancel) -> Option<RowMat> {
        let x = parent(best, rng);
        let entries = x.data().iter().filter(|v| **v != 0.0).count();
        let most = rng.random_range(2..(entries / 2).max(4));
        let noise: Vec<f64> = x.data().iter().map(|_| rng.sample::<f64, _>(StandardNormal).exp()).collect();
        Some(overshot(&p.ground(), x, most, |e| noise[e])?.x)
    }
}

/// A part of the entries forgotten, and others in their place by exact gains.
#[derive(Debug)]
pub struct Forget;

impl<P: Grounded> Way<P> for Forget {
    fn name(&self) -> &'static str {
        "entries forgotten"
    }

    fn point(&self, p: &P, best: &[RowMat], rng: &mut Pcg64, _: &Cancel) -> Option<RowMat> {
        let x = parent(best, rng);
        let mut mask: Vec<bool> =
            x.data().iter().map(|v| *v != 0.0 && rng.random::<f64>() > T.forgotten).collect();
        let r = x.ncols();
        for k in 0..r {
            let rows = support(x, k);
            if rows.iter().all(|i| !mask[i * r + k]) {
                rows.iter().for_each(|i| mask[i * r + k] = true);
            }
        }
        Some(thinned(&p.ground(), x, mask)?.x)
    }
}

/// A component forgotten, and another one in its place from a row that no other component uses.
#[derive(Debug)]
pub struct Renew;

impl<P: Grounded> Way<P> for Renew {
    fn name(&self) -> &'static str {
        "a component found anew"
    }

    fn point(&self, p: &P, best: &[RowMat], rng: &mut Pcg64, cancel: &Cancel) -> Option<RowMat> {
        let mut x = parent(best, rng).clone();
        let (n, r) = (x.nrows(), x.ncols());
        let k = rng.random_range(0..r);
        let size = support(&x, k).len();
        (0..n).for_each(|i| x.set(i, k, 0.0));
        let free: Vec<bool> = (0..n).map(|i| x.row(i).iter().all(|v| *v == 0.0)).collect();
        let seeds = drawn(n, T.candidates, |i| free[i], rng);
        let found = components((p.ground().f(), false), &seeds, &|i| free[i], size, cancel)?;
        let place = rng.random_range(0..found.len().clamp(1, 4));
        found.get(place)?.entries.iter().for_each(|(i, v)| x.set(*i, k, *v));
        let mask = x.data().iter().map(|v| *v != 0.0).collect();
        Some(thinned(&p.ground(), &x, mask)?.x)
    }
}

/// Components divided into groups at random, each group on rows that its components share; some rows are left out at first.
#[derive(Debug)]
pub struct Regroup;

/// Share of the rows that are left out.
const LEFT_OUT: f64 = 0.25;

impl<P: Grounded> Way<P> for Regroup {
    fn name(&self) -> &'static str {
        "components grouped anew"
    }

    fn point(&self, p: &P, best: &[RowMat], rng: &mut Pcg64, cancel: &Cancel) -> Option<RowMat> {
        let (n, r) = (best[0].nrows(), best[0].ncols());
        let mut columns: Vec<usize> = (0..r).collect();
        (0..r).for_each(|k| columns.swap(k, rng.random_range(k..r)));
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for k in columns {
            match groups.last_mut() {
                Some(last) if rng.random() => last.push(k),
                _ => groups.push(vec![k]),
            }
        }
        let allowed: Vec<bool> = (0..n).map(|_| rng.random::<f64>() > LEFT_OUT).collect();
        Some(grouped(&p.ground().until(cancel), &groups, &allowed)?.x)
    }
}

/// Two components turned in their plane, on the rows of both, and pruned.
#[derive(Debug)]
pub struct Rotate;

impl<P: Grounded> Way<P> for Rotate {
    fn name(&self) -> &'static str {
        "two components turned"
    }

    fn point(&self, p: &P, best: &[RowMat], rng: &mut Pcg64, _: &Cancel) -> Option<RowMat> {
        let x = parent(best, rng);
        let r = x.ncols();
        if r < 2 {
            return None;
        }
        let a = rng.random_range(0..r);
        let b = (a + rng.random_range(1..r)) % r;
        let found: Point = rotated(&p.ground(), x, (a, b), rng.random_range(0.2..1.3))?;
        Some(found.x)
    }
}
