//! Starting points of the search: eigenvectors pruned, variables divided among components, components that share no
//! variable.

use super::support_model::{GROWING, PASSING, Point, STAYING, SupportModel, mask_of};
use orthopt_core::smooth::Quadratic;
use orthopt_core::smooth::measured::Covariance;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::order::{largest_first, select_largest};
use orthopt_linalg::products::{cross, multiply, product};
use orthopt_linalg::small::spectral_function;
use orthopt_linalg::work::count;

/// Rows that a component is grown from, and the correlation with one of them from which on another row is none of them.
const SEEDS: usize = 6;
const ALIKE: f64 = 0.9;
/// An eigenvalue of S below this share of the largest counts as zero.
const NOTHING: f64 = 1e-12;
/// A variance below this, in the unit of the largest one, is none.
const NO_VARIANCE: f64 = 1e-12;

/// The best point on all entries near orthonormal columns `v`, pruned to the limits.
pub fn pruned<F: Quadratic>(model: &SupportModel<'_, F>, v: &RowMat) -> Option<Point> {
    let mask = vec![true; v.data().len()];
    model.filled(model.prune(Point { x: v.clone(), mask, value: model.value(v) })?)
}

/// Every variable given to the column where its loading is largest, pruned to the limits.
pub fn divided<F: Quadratic>(model: &SupportModel<'_, F>, v: &RowMat) -> Option<Point> {
    let r = v.ncols();
    let largest = |i: usize| (0..r).fold(0, |b, k| if v.get(i, k).abs() > v.get(i, b).abs() { k } else { b });
    let owner: Vec<usize> = (0..v.nrows()).map(largest).collect();
    let mask: Vec<bool> = (0..v.data().len()).map(|e| owner[e / r] == e % r).collect();
    let at = model.polish(v, &mask, STAYING)?;
    model.filled(model.prune(at)?)
}

/// The feasible point nearest to X on its support.
pub fn repaired<F: Quadratic>(model: &SupportModel<'_, F>, x: &RowMat) -> Option<Point> {
    model.polish(x, &mask_of(x), (0, 0.0))
}

/// The point on the supports of X, with what the limits leave used.
pub fn polished<F: Quadratic>(model: &SupportModel<'_, F>, x: &RowMat) -> Option<Point> {
    model.filled(model.prune(model.polish(x, &mask_of(x), STAYING)?)?)
}

/// Components one after the other that share no variable: each is grown, on what earlier ones leave of C, from the rows
/// that have most in common with their closest ones. `None` where C is not kept, or where variables or time run out.
pub fn apart<F: Quadratic>(model: &SupportModel<'_, F>, shares: &[usize], cancel: &Cancel) -> Option<RowMat> {
    let (n, r) = model.shape();
    let c = model.cov.matrix()?;
    let mut x = RowMat::zeros(n, r);
    let all: Vec<usize> = (0..n).collect();
    let mut used = vec![false; n];
    for (k, size) in shares.iter().enumerate() {
        let own = Covariance::of_matrix(left(model, c.clone(), &all, &x), model.squares());
        let alone = model.alone(model.f(), &own, *size);
        let mut best: Option<Point> = None;
        for seed in seeds(&own, &used, *size) {
            if cancel.is_over() {
                return None;
            }
            let Some(at) = grown(&alone, seed, &used, *size) else { continue };
            if best.as_ref().is_none_or(|b| at.value > b.value) {
                best = Some(at);
            }
        }
        let column = best?.x;
        for i in (0..n).filter(|i| column.get(*i, 0) != 0.0) {
            x.set(i, k, column.get(i, 0));
            used[i] = true;
        }
    }
    Some(x)
}

/// Part of C that the nonzero columns of X leave, C − CX(XᵀCX)⁺XᵀC, on rows on which `c` is C.
pub(super) fn left<F: Quadratic>(
    model: &SupportModel<'_, F>,
    mut c: RowMat,
    rows: &[usize],
    x: &RowMat,
) -> RowMat {
    let columns: Vec<usize> =
        (0..x.ncols()).filter(|k| (0..x.nrows()).any(|i| x.get(i, *k) != 0.0)).collect();
    let x = RowMat::from_fn(x.nrows(), columns.len(), |i, k| x.get(i, columns[k]));
    let m = model.cov.times(model.f(), &x);
    let s = cross(&x, &m).symmetric_part();
    let largest = (0..s.nrows()).fold(0.0f64, |a, k| a.max(s.get(k, k)));
    let inverse = |w: f64| if w > NOTHING * largest { 1.0 / w } else { 0.0 };
    let Some(inverse) = spectral_function(&s, inverse).filter(|_| !columns.is_empty()) else { return c };
    let m = RowMat::from_fn(rows.len(), columns.len(), |a, k| m.get(rows[a], k));
    let half = multiply(m.as_mat(), inverse.as_mat());
    product(&mut c, true, -1.0, half.as_mat(), m.as_mat().transpose());
    c.symmetric_part()
}

/// Rows that are not used, those first whose column of C, or of C² in units of their variance, has most in its largest entries;
/// no two of them alike.
fn seeds(own: &Covariance, used: &[bool], size: usize) -> Vec<usize> {
    let Some(c) = own.matrix() else { return Vec::new() };
    let n = used.len();
    count(2 * n * n);
    let score = |i: usize| {
        let scale = match own.square_matrix() {
            Some(_) => 1.0 / own.diagonal(i).max(NO_VARIANCE),
            None => 1.0,
        };
        let row = own.square_matrix().unwrap_or(c).row(i);
        let mut squares: Vec<(f64, usize)> =
            (0..n).filter(|j| !used[*j]).map(|j| ((scale * row[j]).powi(2), j)).collect();
        select_largest(&mut squares, size);
        largest_first(&mut squares);
        squares.iter().map(|s| s.0).sum::<f64>()
    };
    let mut all: Vec<(f64, usize)> = (0..n).filter(|i| !used[*i]).map(|i| (score(i), i)).collect();
    largest_first(&mut all);
    let mut out: Vec<usize> = Vec::new();
    for (_, i) in all {
        let alike = |j: &usize| c.get(i, *j).abs() >= ALIKE * (c.get(i, i) * c.get(*j, *j)).max(0.0).sqrt();
        if out.len() < SEEDS && !out.iter().any(alike) {
            out.push(i);
        }
    }
    out
}

/// A component from one row on, the entry of most exact gain first.
fn grown(alone: &SupportModel<'_, impl Quadratic>, seed: usize, used: &[bool], size: usize) -> Option<Point> {
    let n = used.len();
    let x = RowMat::from_fn(n, 1, |i, _| f64::from(u8::from(i == seed)));
    let mut at = alone.polish(&x, &mask_of(&x), GROWING)?;
    for _ in 1..size {
        let best = alone.entries(alone.gains(&at.x), |e| !used[e] && !at.mask[e]).into_iter().next();
        let Some((_, e, entry)) = best else { break };
        let (mut x, mut mask) = (at.x.clone(), at.mask.clone());
        x.data_mut()[e] = entry;
        mask[e] = true;
        at = alone.polish(&x, &mask, GROWING)?;
    }
    Some(at)
}

/// Two columns turned by an angle in their plane, on the rows of both, polished and pruned.
pub fn rotated<F: Quadratic>(
    model: &SupportModel<'_, F>,
    x: &RowMat,
    (a, b): (usize, usize),
    angle: f64,
) -> Option<Point> {
    let (sin, cos) = angle.sin_cos();
    let (mut y, mut mask) = (x.clone(), mask_of(x));
    for i in 0..x.nrows() {
        let (u, v) = (x.get(i, a), x.get(i, b));
        y.set(i, a, cos * u + sin * v);
        y.set(i, b, cos * v - sin * u);
        let either = u != 0.0 || v != 0.0;
        (mask[i * x.ncols() + a], mask[i * x.ncols() + b]) = (either, either);
    }
    model.filled(model.prune(model.polish(&y, &mask, PASSING)?)?)
}
