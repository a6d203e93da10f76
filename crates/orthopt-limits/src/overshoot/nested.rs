//! Components one after the other: each is the best on what those before it leave of C, orthogonal to them.

use super::starts::left;
use super::support_model::SupportModel;
use crate::exchange::component::{leading, orthonormal, others};
use orthopt_core::constraint::stiefel;
use orthopt_core::objective::lowers;
use orthopt_core::smooth::{Measure, Quadratic};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::factor::{cholesky, transpose};
use orthopt_linalg::kernels::axpy;
use orthopt_linalg::order::{ascending, best_first, largest_first};
use orthopt_linalg::products::{gram, product};
use orthopt_linalg::small::symmetric_eigen;
use orthopt_linalg::work::count;

/// Rows that a component may choose from, those with the most variance left: of a component of explained variance, whose
/// eigenproblems are generalised, fewer.
const ROWS: usize = 2048;
const FEW_ROWS: usize = 400;
/// Share of the rows too many that leave at a time.
const AT_ONCE: f64 = 0.1;
/// Sets of rows, the best of those examined, that are improved by exchanges.
const EXCHANGED: usize = 2;
/// Rows that are tried in the place of each.
const ENTERING: usize = 8;
/// Least gain of an exchange, as a share of the size of the value.
const WORTH: f64 = 1e-10;
/// Added to the diagonal of the covariance that explained variance divides by, as a share of its trace.
const RIDGE: f64 = 1e-11;

/// Value of a component, its rows and its entries there.
type Chosen = (f64, Vec<usize>, Vec<f64>);

/// Part of C that earlier components leave, on the rows that the next one may choose from.
struct Left {
    rows: Vec<usize>,
    r: RowMat,          // R = C − CY(YᵀCY)⁺YᵀC
    r2: Option<RowMat>, // R² on these rows, for explained variance
    scale: f64,         // of the value of a component
    cancel: Cancel,
}

/// Column k of X, the best one with `size` nonzeros beside the columns before it; `None` where no direction is left.
pub(super) fn component<F: Quadratic>(
    model: &SupportModel<'_, F>,
    x: &RowMat,
    k: usize,
    size: usize,
) -> Option<Vec<f64>> {
    let (n, _) = model.shape();
    let before = RowMat::from_fn(n, k, |i, j| x.get(i, j));
    let left = Left::of(model, &before, if model.squares() { FEW_ROWS } else { ROWS })?;
    let all: Vec<usize> = (0..left.rows.len()).collect();
    let is_free = |a: &usize| before.row(left.rows[*a]).iter().all(|v| *v == 0.0);
    let free: Vec<usize> = all.iter().copied().filter(is_free).collect();
    // where components have used up most rows, a direction is left on those of one of them
    let on = |j: usize| all.iter().copied().filter(|a| before.get(left.rows[*a], j) != 0.0).collect();
    let mut sets: Vec<Vec<usize>> = (0..k).map(on).collect();
    sets.sort_unstable();
    sets.dedup();
    sets.extend([all.clone(), free]);
    let mut found: Vec<Chosen> = Vec::new();
    for allowed in sets {
        found.extend(left.pruned(&before, allowed, size));
    }
    let mut best: Option<Chosen> = None;
    for mut at in best_first(found, |at| at.0).into_iter().take(EXCHANGED) {
        while let Some(next) = left.exchanged(&before, &at.1, &at.2, at.0) {
            at = next; // higher each time by more than rounding
        }
        best =
            [best, Some(at)].into_iter().flatten().reduce(|best, at| if at.0 > best.0 { at } else { best });
    }
    let (_, rows, v) = best?;
    let mut out = vec![0.0; n];
    rows.iter().zip(&v).for_each(|(a, v)| out[left.rows[*a]] = *v);
    Some(out)
}

/// All components one after the other; `None` where there is no direction left for one, or time runs out.
pub fn one_by_one<F: Quadratic>(model: &SupportModel<'_, F>) -> Option<RowMat> {
    let (n, r) = model.shape();
    let mut x = RowMat::zeros(n, r);
    for (k, size) in model.limits().shares(r).into_iter().enumerate() {
        let v = if model.is_over() { None } else { component(model, &x, k, size) };
        v?.iter().enumerate().for_each(|(i, v)| x.set(i, k, *v));
    }
    stiefel::repair_on_support(&mut x);
    Some(x)
}

impl Left {
    fn of<F: Quadratic>(model: &SupportModel<'_, F>, before: &RowMat, most: usize) -> Option<Self> {
        let (n, _) = model.shape();
        let mut by_variance: Vec<(f64, usize)> = (0..n).map(|i| (model.cov.diagonal(i), i)).collect();
        largest_first(&mut by_variance);
        by_variance.truncate(most);
        let mut rows: Vec<usize> = by_variance.into_iter().map(|(_, i)| i).collect();
        rows.sort_unstable();
        let c = model.block(&rows)?;
        // variance counts what components share for each of them
        let r = if model.measure == Measure::Variance { c } else { left(model, c, &rows, before) };
        let r2 = model.squares().then(|| gram(&r));
        Some(Self { rows, r, r2, scale: model.cov.scale(1), cancel: model.cancel().clone() })
    }

    /// Backward from the rows that are `allowed` to `size` of them.
    fn pruned(&self, before: &RowMat, allowed: Vec<usize>, size: usize) -> Option<Chosen> {
        let mut rows = allowed;
        if rows.is_empty() {
            return None;
        }
        let (mut value, mut v) = self.best(before, &rows)?;
        while rows.len() > size {
            if self.cancel.is_over() {
                return None;
            }
            let leave = ((AT_ONCE * (rows.len() - size) as f64) as usize).max(1);
            let mut order: Vec<(f64, usize)> = v.iter().enumerate().map(|(p, v)| (v.abs(), p)).collect();
            largest_first(&mut order);
            order.truncate(rows.len() - leave);
            let mut kept: Vec<usize> = order.into_iter().map(|(_, p)| rows[p]).collect();
            kept.sort_unstable();
            rows = kept;
            (value, v) = self.best(before, &rows)?;
        }
        Some((value, rows, v))
    }

    /// The first exchange of a row for one with a large gradient that raises the value, rows with small loadings first.
    fn exchanged(&self, before: &RowMat, rows: &[usize], v: &[f64], value: f64) -> Option<Chosen> {
        let matrix = self.r2.as_ref().unwrap_or(&self.r);
        let mut g = vec![0.0; self.rows.len()];
        rows.iter().zip(v).for_each(|(a, v)| axpy(*v, matrix.row(*a), &mut g));
        let mut outside: Vec<(f64, usize)> =
            (0..g.len()).filter(|a| !rows.contains(a)).map(|a| (g[a].abs(), a)).collect();
        largest_first(&mut outside);
        outside.truncate(ENTERING);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        ascending(&mut order, &|p| v[p].abs());
        for p in order {
            for (_, enter) in &outside {
                if self.cancel.is_over() {
                    return None;
                }
                let mut next = rows.to_vec();
                next[p] = *enter;
                next.sort_unstable();
                if let Some((w, v)) =
                    self.best(before, &next).filter(|b| lowers(-b.0, -value, self.scale, WORTH))
                {
                    return Some((w, next, v));
                }
            }
        }
        None
    }

    /// The best component on some rows, orthogonal to those before it.
    fn best(&self, before: &RowMat, rows: &[usize]) -> Option<(f64, Vec<f64>)> {
        let part = |m: &RowMat| RowMat::from_fn(rows.len(), rows.len(), |a, b| m.get(rows[a], rows[b]));
        let real: Vec<usize> = rows.iter().map(|a| self.rows[*a]).collect();
        let against = others(before, &real, &[]);
        match &self.r2 {
            None => leading(&part(&self.r), &against, None, false),
            Some(r2) => quotient(&part(r2), &part(&self.r), &against),
        }
    }
}

/// The largest xᵀBx / xᵀAx over x orthogonal to the vectors `against`, and x of length 1. Cost O(s³).
fn quotient(b: &RowMat, a: &RowMat, against: &[Vec<f64>]) -> Option<(f64, Vec<f64>)> {
    let s = a.nrows();
    count(20 * s * s * s + 50_000);
    let basis = orthonormal(against, s)?;
    if basis.len() >= s {
        return None;
    }
    let trace: f64 = (0..s).map(|i| a.get(i, i)).sum();
    if trace.is_nan() || trace <= 0.0 {
        return None;
    }
    // both on the complement of the basis; on the basis A is tr A and B is 0, so that no maximiser is there
    let mut projector = RowMat::from_fn(s, s, |i, j| f64::from(u8::from(i == j)));
    for q in &basis {
        (0..s).for_each(|i| axpy(-q[i], q, projector.row_mut(i)));
    }
    let on = |m: &RowMat| {
        let (mut half, mut out) = (RowMat::zeros(s, s), RowMat::zeros(s, s));
        product(&mut half, false, 1.0, projector.as_mat(), m.as_mat());
        product(&mut out, false, 1.0, half.as_mat(), projector.as_mat());
        out.symmetric_part()
    };
    let (mut a, b) = (on(a), on(b));
    for i in 0..s {
        for j in 0..s {
            let off: f64 = basis.iter().map(|q| q[i] * q[j]).sum();
            a.set(i, j, a.get(i, j) + trace * off + if i == j { RIDGE * trace } else { 0.0 });
        }
    }
    let l = cholesky(&a)?;
    // L⁻¹BL⁻ᵀ by two triangular solves
    let solve = |m: &RowMat| {
        let mut y = m.clone();
        for i in 0..s {
            for j in 0..i {
                let (factor, row) = (l.get(i, j), y.row(j).to_vec());
                axpy(-factor, &row, y.row_mut(i));
            }
            let pivot = l.get(i, i);
            y.row_mut(i).iter_mut().for_each(|v| *v /= pivot);
        }
        y
    };
    let (values, u) = symmetric_eigen(&solve(&transpose(&solve(&b))).symmetric_part())?;
    let mut x: Vec<f64> = (0..s).map(|i| u.get(i, s - 1)).collect();
    for i in (0..s).rev() {
        let sum: f64 = (i + 1..s).map(|j| l.get(j, i) * x[j]).sum();
        x[i] = (x[i] - sum) / l.get(i, i);
    }
    for q in &basis {
        let along: f64 = q.iter().zip(&x).map(|(q, x)| q * x).sum();
        axpy(-along, q, &mut x);
    }
    let length = x.iter().map(|v| v * v).sum::<f64>().sqrt();
    (length > 0.0 && length.is_finite()).then(|| (values[s - 1], x.iter().map(|v| v / length).collect()))
}
