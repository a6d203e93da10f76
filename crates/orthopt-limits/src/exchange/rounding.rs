//! A feasible X near any matrix: its largest entries as supports, orthogonality restored on them.

use super::component::{block, leading, others};
use super::rows::{best_on, filled, worthwhile};
use crate::problem::CardinalityProblem;
use orthopt_core::constraint::stiefel;
use orthopt_core::problem::{Cardinality, nonzero_rows, support};
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::order::largest_first;

/// ‖XᵀX − I‖_F that counts as none, and above which restoring is not tried.
const FEASIBLE: f64 = 1e-12;
const FAR: f64 = 0.7;

/// A feasible X on the largest entries of `guide` (n × r): as near to it as restoring XᵀX = I on the support
/// leaves it where that is possible; else its components solved one after the other on their supports, each
/// orthogonal to those before; else on disjoint supports, which always exist.
pub fn rounded<F: Quadratic>(p: &CardinalityProblem<F>, guide: &RowMat) -> Option<RowMat> {
    let mut x = guide.clone();
    if x.find_non_finite().is_some() {
        return None;
    }
    if let Cardinality::Rows(most) = p.limits() {
        if p.lambda() > 0.0 {
            let rows = worthwhile(p, &x, *most);
            return best_on(p, &rows, None).map(|found| found.1);
        }
        p.limits().truncate(&mut x);
        let rows = filled(p, nonzero_rows(&x), *most);
        return best_on(p, &rows, None).map(|found| found.1);
    }
    if p.requires_nonneg() {
        return disjoint(p, &positive(x));
    }
    p.limits().truncate(&mut x);
    if normalised(&mut x) && stiefel::feasibility(&x) < FAR {
        let mut y = x.clone();
        if stiefel::repair_on_support(&mut y) <= FEASIBLE {
            return Some(y);
        }
    }
    sequential(p, &x).or_else(|| disjoint(p, guide))
}

/// Signs of the columns by their heavier half, what is negative then dropped.
fn positive(mut x: RowMat) -> RowMat {
    for k in 0..x.ncols() {
        let skew: f64 = (0..x.nrows()).map(|i| x.get(i, k) * x.get(i, k).abs()).sum();
        let sign = if skew < 0.0 { -1.0 } else { 1.0 };
        (0..x.nrows()).for_each(|i| x.set(i, k, (sign * x.get(i, k)).max(0.0)));
    }
    x
}

fn normalised(x: &mut RowMat) -> bool {
    (0..x.ncols()).all(|k| {
        let length = (0..x.nrows()).map(|i| x.get(i, k).powi(2)).sum::<f64>().sqrt();
        (0..x.nrows()).for_each(|i| x.set(i, k, x.get(i, k) / length.max(f64::MIN_POSITIVE)));
        length > 0.0
    })
}

/// The components of `x`, those with the largest variance first, each the best on its support that is orthogonal
/// to those before.
pub fn sequential<F: Quadratic>(p: &CardinalityProblem<F>, x: &RowMat) -> Option<RowMat> {
    let r = x.ncols();
    let mut order: Vec<(f64, usize)> = Vec::new();
    for k in 0..r {
        let rows = support(x, k);
        let alone = leading(&block(&p.f, &rows), &[], None, p.requires_nonneg())?;
        order.push((alone.0, k));
    }
    largest_first(&mut order);
    let mut out = RowMat::zeros(x.nrows(), r);
    for (_, k) in order {
        let rows = support(x, k);
        let (_, v) = leading(&block(&p.f, &rows), &others(&out, &rows, &[]), None, p.requires_nonneg())?;
        rows.iter().zip(v).for_each(|(i, e)| out.set(*i, k, e));
    }
    Some(out)
}

/// Every row goes to the component where it is largest, every component keeps its largest ones, and those
/// with none get the rows of largest variance that no component needs.
pub fn disjoint<F: Quadratic>(p: &CardinalityProblem<F>, guide: &RowMat) -> Option<RowMat> {
    let (n, r) = (guide.nrows(), guide.ncols());
    let mut x = RowMat::zeros(n, r);
    for i in 0..n {
        let size = |k: usize| guide.get(i, k).abs();
        let owner = (0..r).fold(0, |best, k| if size(k) > size(best) { k } else { best });
        x.set(i, owner, guide.get(i, owner));
    }
    // room for a first row of every component: those that no component has, then the smallest of what others have
    let diagonal = p.f.diagonal();
    for k in (0..r).filter(|k| support(&x, *k).is_empty()).collect::<Vec<_>>() {
        let free = (0..n).filter(|i| x.row(*i).iter().all(|v| *v == 0.0));
        let best = free.min_by(|a, b| diagonal[*a].total_cmp(&diagonal[*b]).then(a.cmp(b)));
        let row = best.or_else(|| spare(&x))?;
        x.row_mut(row).fill(0.0);
        x.set(row, k, 1.0);
    }
    p.limits().truncate(&mut x);
    sequential(p, &x)
}

/// The row of a component with several that counts least.
fn spare(x: &RowMat) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    for k in 0..x.ncols() {
        let rows = support(x, k);
        for i in rows.iter().filter(|_| rows.len() > 1) {
            let size = x.get(*i, k).abs();
            if best.is_none_or(|b| size < b.0) {
                best = Some((size, *i));
            }
        }
    }
    best.map(|b| b.1)
}
