//! Moves from good points to others under a limit of cardinality: each gives supports, X solved on them.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_pcg::Pcg64;

use super::Tuning;
use super::moves::{Perturbation, taken_out};
use super::pool::{components, drawn};
use orthopt_core::problem::{Cardinality, nonzero_rows, support};
use orthopt_core::smooth::Quadratic;
use orthopt_limits::exchange::rounded;
use orthopt_limits::problem::CardinalityProblem;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::order::{ascending, descending};

const T: Tuning = Tuning::DEFAULT;

/// Some nonzeros exchanged for random other ones, the likelier the more variance they promise.
#[derive(Debug)]
pub struct Shake;

impl<F: Quadratic> Perturbation<CardinalityProblem<F>> for Shake {
    fn name(&self) -> &'static str {
        "nonzeros exchanged"
    }

    fn point(
        &self,
        p: &CardinalityProblem<F>,
        best: &[RowMat],
        rng: &mut Pcg64,
        _: &Cancel,
    ) -> Option<RowMat> {
        let from = rng.random_range(0..best.len().min(3));
        let mut x = best[from].clone();
        let mut scores = p.f.apply(&x);
        let (n, r) = (x.nrows(), x.ncols());
        let rows = matches!(p.limits(), Cardinality::Rows(_));
        let filled =
            x.data().iter().filter(|v| **v != 0.0).count() as f64 / if rows { r as f64 } else { 1.0 };
        let count = (T.shake * filled).max(1.0).powf(rng.random::<f64>()).round().max(1.0) as usize;
        for _ in 0..count {
            if rows {
                exchange_rows(&mut x, &mut scores, p.lambda() > 0.0, rng)?;
                continue;
            }
            let k = rng.random_range(0..r);
            let inside = support(&x, k);
            let out = *inside.get(rng.random_range(0..inside.len().max(1)))?;
            let mut others: Vec<usize> = (0..n).filter(|i| x.get(*i, k) == 0.0).collect();
            descending(&mut others, &|i| scores.get(i, k).abs());
            let enter = *others.get(by_rank(others.len(), rng))?;
            // a row that others have mostly changes hands: to share it takes two
            if rng.random::<f64>() < 0.7 {
                x.row_mut(enter).fill(0.0);
            }
            let size = x.get(out, k).abs().max(0.1);
            x.set(out, k, 0.0);
            x.set(enter, k, -size * scores.get(enter, k).signum());
        }
        rounded(p, &x)
    }
}

/// A place among `count`, the k-th with a chance that falls like 1/k.
pub(super) fn by_rank(count: usize, rng: &mut Pcg64) -> usize {
    ((count.max(1) as f64).powf(rng.random::<f64>()) as usize).saturating_sub(1)
}

/// A row for another; where rows have a `price`, one more or one fewer as well.
fn exchange_rows(x: &mut RowMat, scores: &mut RowMat, price: bool, rng: &mut Pcg64) -> Option<()> {
    let inside = nonzero_rows(x);
    let out = *inside.get(rng.random_range(0..inside.len().max(1)))?;
    let length = |i: usize| scores.row(i).iter().map(|v| v * v).sum::<f64>();
    let mut others: Vec<usize> = (0..x.nrows()).filter(|i| !inside.contains(i)).collect();
    descending(&mut others, &length);
    let enter = others.get(by_rank(others.len(), rng)).copied();
    let (enters, leaves) =
        if price { *[(true, true), (true, false), (false, true)].choose(rng)? } else { (true, true) };
    if enters {
        // large enough to be among those that stay
        x.row_mut(enter?).fill(1.0);
    }
    if leaves {
        x.row_mut(out).fill(0.0);
    }
    Some(())
}

/// Some components taken out and found again by truncated power iterations, on free rows or on any.
#[derive(Debug)]
pub struct Anew;

impl<F: Quadratic> Perturbation<CardinalityProblem<F>> for Anew {
    fn name(&self) -> &'static str {
        "components solved anew"
    }

    fn point(
        &self,
        p: &CardinalityProblem<F>,
        best: &[RowMat],
        rng: &mut Pcg64,
        cancel: &Cancel,
    ) -> Option<RowMat> {
        if matches!(p.limits(), Cardinality::Rows(_)) {
            return None;
        }
        let mut x = best[rng.random_range(0..best.len().min(3))].clone();
        let n = x.nrows();
        let were: Vec<usize> = (0..x.ncols()).map(|k| support(&x, k).len().max(1)).collect();
        let out = taken_out(&mut x, rng);
        let size = |k: usize| match p.limits() {
            Cardinality::Components(list) => list[k],
            _ => were[k],
        };
        let apart = p.requires_nonneg() || rng.random::<f64>() < 0.6;
        for k in &out {
            let size = size(*k);
            let free: Vec<bool> = (0..n).map(|i| !apart || x.row(i).iter().all(|v| *v == 0.0)).collect();
            if apart {
                // the best of components from many rows
                let seeds = drawn(n, T.candidates, |i| free[i], rng);
                let found = components((&p.f, p.requires_nonneg()), &seeds, &|i| free[i], size, cancel)?;
                let place = by_rank(found.len(), rng) / 4; // mostly the first
                found.get(place)?.entries.iter().for_each(|(i, v)| x.set(*i, *k, *v));
                continue;
            }
            let v = component_by_power(p, &x, &free, size, (&mut *rng, cancel))?;
            (0..n).for_each(|i| x.set(i, *k, v[i]));
        }
        rounded(p, &x)
    }
}

/// Products at least, and at most where the numbers of entries do not fall.
const MIN_POWERS: usize = 8;
const MAX_POWERS: usize = 60;

/// A vector with `size` entries on the rows that `allowed` says, by truncated power iterations from a row of
/// large variance: the number of entries falls by half until it is there (Yuan and Zhang 2013). What it has in
/// common with the columns of `x` is taken out of every product. Cost some twenty products with C.
pub(crate) fn component_by_power<F: Quadratic>(
    p: &CardinalityProblem<F>,
    x: &RowMat,
    allowed: &[bool],
    size: usize,
    (rng, cancel): (&mut Pcg64, &Cancel),
) -> Option<Vec<f64>> {
    let n = p.nrows();
    let diagonal = p.f.diagonal();
    let mut order: Vec<usize> = (0..n).filter(|i| allowed[*i]).collect();
    ascending(&mut order, &|i| diagonal[i]);
    let first = *order.get(by_rank(order.len(), rng))?;
    let mut v = RowMat::from_fn(n, 1, |i, _| f64::from(u8::from(i == first)));
    let mut most = order.len();
    for step in 0.. {
        if cancel.is_over() {
            return None;
        }
        let mut w = p.f.apply(&v);
        for k in 0..x.ncols() {
            let common: f64 = (0..n).map(|i| x.get(i, k) * w.get(i, 0)).sum();
            (0..n).for_each(|i| w.set(i, 0, w.get(i, 0) - common * x.get(i, k)));
        }
        let nonneg = p.requires_nonneg();
        let entry = |i: usize| match -w.get(i, 0) {
            _ if !allowed[i] => 0.0,
            e if nonneg => e.max(0.0),
            e => e,
        };
        let mut next = RowMat::from_fn(n, 1, |i, _| entry(i));
        Cardinality::Components(vec![most]).truncate(&mut next);
        let length = next.norm();
        if !(length > 0.0 && length.is_finite()) {
            return None;
        }
        next.data_mut().iter_mut().for_each(|e| *e /= length);
        v = next;
        if most == size && step >= MIN_POWERS {
            break;
        }
        most = if step % 3 == 2 { (most / 2).max(size) } else { most };
        most = most.min(order.len()).max(size.min(order.len()));
        if step > MAX_POWERS {
            Cardinality::Components(vec![size]).truncate(&mut v);
            break;
        }
    }
    Some(v.data().to_vec())
}

/// Some components of one good point and, of another, those that overlap least with them.
#[derive(Debug)]
pub struct Mix;

impl<F: Quadratic> Perturbation<CardinalityProblem<F>> for Mix {
    fn name(&self) -> &'static str {
        "components of two points"
    }

    fn point(
        &self,
        p: &CardinalityProblem<F>,
        best: &[RowMat],
        rng: &mut Pcg64,
        _: &Cancel,
    ) -> Option<RowMat> {
        if best.len() < 2 {
            return None;
        }
        let (a, b) = (&best[0], &best[rng.random_range(1..best.len().min(T.elite))]);
        let (n, r) = (a.nrows(), a.ncols());
        let x = match p.limits() {
            // rows of either, half of each
            Cardinality::Rows(_) => {
                let of_a: Vec<bool> = (0..n).map(|_| rng.random()).collect();
                RowMat::from_fn(n, r, |i, k| if of_a[i] { a.get(i, k) } else { b.get(i, k) })
            }
            _ => components_of(a, b, rng)?,
        };
        rounded(p, &x)
    }
}

/// `a` with some of its components, drawn, replaced by those of `b` that are most like them.
fn components_of(a: &RowMat, b: &RowMat, rng: &mut Pcg64) -> Option<RowMat> {
    let (n, r) = (a.nrows(), a.ncols());
    if r < 2 {
        return None;
    }
    let mut x = a.clone();
    let keep: Vec<bool> = (0..r).map(|_| rng.random()).collect();
    let mut used = vec![false; r];
    for k in (0..r).filter(|k| !keep[*k]) {
        // the one of b that is most like this one has its number of nonzeros, or nearly
        let like = |l: usize| (0..n).map(|i| a.get(i, k) * b.get(i, l)).sum::<f64>().abs();
        let l = (0..r).filter(|l| !used[*l]).max_by(|s, t| like(*s).total_cmp(&like(*t)))?;
        used[l] = true;
        (0..n).for_each(|i| x.set(i, k, b.get(i, l)));
    }
    Some(x)
}

/// Two components turned against each other on all the rows that one of them has: what overlaps comes from this.
#[derive(Debug)]
pub struct Turn;

impl<F: Quadratic> Perturbation<CardinalityProblem<F>> for Turn {
    fn name(&self) -> &'static str {
        "components turned"
    }

    fn point(
        &self,
        p: &CardinalityProblem<F>,
        best: &[RowMat],
        rng: &mut Pcg64,
        _: &Cancel,
    ) -> Option<RowMat> {
        let r = p.rank();
        if r < 2 || p.requires_nonneg() || matches!(p.limits(), Cardinality::Rows(_)) {
            return None;
        }
        let mut x = best[rng.random_range(0..best.len().min(3))].clone();
        let k = rng.random_range(0..r);
        let l = (k + rng.random_range(1..r)) % r;
        // a step towards what the two would be without limits
        let image = p.f.apply(&x);
        let length = image.norm().max(f64::MIN_POSITIVE);
        let pull = rng.random::<f64>() * (r as f64).sqrt();
        let (s, c) = rng.random_range(0.1..1.5f64).sin_cos();
        for i in 0..x.nrows() {
            let a = x.get(i, k) - pull * image.get(i, k) / length;
            let b = x.get(i, l) - pull * image.get(i, l) / length;
            x.set(i, k, c * a + s * b);
            x.set(i, l, c * b - s * a);
        }
        rounded(p, &x)
    }
}
