//! Moves from good points to others for f + h over XᵀX = I with a quadratic f: what they give is feasible
//! to rounding and is polished by the solver that comes with them.

use std::ops::Range;
use std::sync::Arc;

use rand::RngExt;
use rand_pcg::Pcg64;

use super::{Move, Phase, Tuning};
use orthopt_core::constraint::{Stiefel, stiefel};
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::problem::Problem;
use orthopt_core::smooth::Quadratic;
use orthopt_core::solve::AnySolver;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::kernels::is_zero;
use orthopt_linalg::order::ascending_to;

const T: Tuning = Tuning::DEFAULT;

/// f + h over XᵀX = I.
type Plain<F, H> = Problem<Stiefel, F, H>;

/// Makes the solver that polishes, with a seed; and how much work it may do for a problem.
pub struct Polish<P> {
    /// The solver with a seed.
    pub solver: Arc<dyn Fn(u64) -> AnySolver<P> + Send + Sync>,
    /// The most work it may do.
    pub most: u64,
}

impl<P> Clone for Polish<P> {
    fn clone(&self) -> Self {
        Self { solver: Arc::clone(&self.solver), most: self.most }
    }
}

impl<P> std::fmt::Debug for Polish<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Polish")
    }
}

impl<P> Polish<P> {
    pub(super) fn phase(&self, rng: &mut Pcg64) -> Phase<P> {
        Phase {
            solver: (self.solver)(rng.random()),
            most: Some(self.most),
            share: 1,
            again: None,
            patient: false,
            hands_on: None,
        }
    }
}

/// A way from good points to a new one, which is polished afterwards.
pub trait Perturbation<P>: Send + Sync {
    /// Its name.
    fn name(&self) -> &'static str;

    /// As [`Move::point`].
    fn point(&self, problem: &P, best: &[RowMat], rng: &mut Pcg64, cancel: &Cancel) -> Option<RowMat>;
}

/// A way and the polish at its end: a move.
#[derive(Debug)]
pub struct Polished<W, P>(pub W, pub Polish<P>);

impl<P, W: Perturbation<P>> Move<P> for Polished<W, P> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn point(&self, p: &P, best: &[RowMat], rng: &mut Pcg64, cancel: &Cancel) -> Option<RowMat> {
        self.0.point(p, best, rng, cancel)
    }

    fn phases(&self, _: &P, rng: &mut Pcg64) -> Vec<Phase<P>> {
        vec![self.1.phase(rng)]
    }
}

/// Takes some columns out of X, drawn: one, several or all of them.
pub(super) fn taken_out(x: &mut RowMat, rng: &mut Pcg64) -> Vec<usize> {
    let (n, r) = (x.nrows(), x.ncols());
    let count = (r as f64).powf(rng.random::<f64>()).round().clamp(1.0, r as f64) as usize;
    let mut out: Vec<usize> = (0..r).collect();
    (0..count).for_each(|k| out.swap(k, rng.random_range(k..r)));
    out.truncate(count);
    for k in &out {
        (0..n).for_each(|i| x.set(i, *k, 0.0));
    }
    out
}

/// Components of two good points: some of one, and of the other those that overlap least with them.
#[derive(Debug)]
pub struct Cross;

impl<F: Quadratic, H: Nonsmooth> Perturbation<Plain<F, H>> for Cross {
    fn name(&self) -> &'static str {
        "components of two points"
    }

    fn point(&self, _: &Plain<F, H>, best: &[RowMat], rng: &mut Pcg64, _: &Cancel) -> Option<RowMat> {
        if best.len() < 2 || best[0].ncols() < 2 {
            return None;
        }
        let (a, b) = (&best[0], &best[rng.random_range(1..best.len().min(T.elite))]);
        let (n, r) = (a.nrows(), a.ncols());
        let mut columns: Vec<usize> = (0..r).collect();
        let keep = rng.random_range(1..r);
        (0..keep).for_each(|k| columns.swap(k, rng.random_range(k..r)));
        columns.truncate(keep);
        // what column l of b has in common with the kept ones
        let shared = |l: usize| -> f64 {
            (0..n).filter(|i| columns.iter().any(|k| a.get(*i, *k) != 0.0)).map(|i| b.get(i, l).powi(2)).sum()
        };
        let others = ascending_to(r, &shared);
        let mut x = RowMat::zeros(n, r);
        for i in 0..n {
            columns.iter().enumerate().for_each(|(to, k)| x.set(i, to, a.get(i, *k)));
            if is_zero(x.row(i)) {
                (keep..r).for_each(|to| x.set(i, to, b.get(i, others[to - keep])));
            }
        }
        restored(&mut x, keep)?;
        Some(x)
    }
}

/// XᵀX = I again where the columns from `first` on have lost rows: on the supports if that is possible, else
/// every row goes to the column where it is largest.
fn restored(x: &mut RowMat, first: usize) -> Option<()> {
    let (n, r) = (x.nrows(), x.ncols());
    let normalise = |x: &mut RowMat| {
        (first..r).all(|k| {
            let length = (0..n).map(|i| x.get(i, k).powi(2)).sum::<f64>().sqrt();
            (0..n).for_each(|i| x.set(i, k, x.get(i, k) / length.max(f64::MIN_POSITIVE)));
            length > 1e-6
        })
    };
    if !normalise(x) {
        return None;
    }
    if stiefel::feasibility(x) < 0.5 {
        let mut repaired = x.clone();
        if stiefel::repair_on_support(&mut repaired) <= 1e-12 {
            *x = repaired;
            return Some(());
        }
    }
    for i in 0..n {
        let owner = (0..r).fold(0, |best, k| if x.get(i, k).abs() > x.get(i, best).abs() { k } else { best });
        if owner >= first || !(0..first).any(|k| x.get(i, k) != 0.0) {
            (first..r).filter(|k| *k != owner).for_each(|k| x.set(i, k, 0.0));
        }
    }
    (normalise(x) && stiefel::feasibility(x) <= 1e-10).then_some(())
}

/// A method that is led by its penalty, started again at the best point with a part of it: what the method
/// does between is between a polish and a fresh start.
pub struct Reheat<P> {
    /// Its name.
    pub name: &'static str,
    /// The method at a temperature from 0 (cold, hardly moves) to 1.
    pub solver: MakeSolver<P>,
    /// Temperatures.
    pub warmth: Range<f64>,
    /// The steps after it.
    pub polish: Polish<P>,
}

/// Makes a solver for a problem and a temperature.
pub type MakeSolver<P> = Box<dyn Fn(&P, f64) -> AnySolver<P> + Send + Sync>;

impl<P> std::fmt::Debug for Reheat<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reheat")
    }
}

impl<P> Move<P> for Reheat<P> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn point(&self, _: &P, best: &[RowMat], rng: &mut Pcg64, _: &Cancel) -> Option<RowMat> {
        Some(best[rng.random_range(0..best.len().min(2))].clone())
    }

    fn phases(&self, p: &P, rng: &mut Pcg64) -> Vec<Phase<P>> {
        let solver = (self.solver)(p, rng.random_range(self.warmth.clone()));
        vec![
            Phase {
                solver,
                most: Some(T.reheat * self.polish.most),
                share: 1,
                again: None,
                patient: false,
                hands_on: None,
            },
            self.polish.phase(rng),
        ]
    }
}
