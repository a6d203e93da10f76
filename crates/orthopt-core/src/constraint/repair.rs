//! Exact orthogonality on the support of a sparse matrix.

use orthopt_linalg::RowMat;
use orthopt_linalg::masked_system::MaskedSystem;
use orthopt_linalg::order::ascending;
use orthopt_linalg::orthonormal::nearest;
use orthopt_linalg::products::{gram, multiply};

/// Maximum number of Newton steps; a dozen suffice if the method converges.
const MOST: usize = 30;
/// Maximum number of steps of conjugate gradients in all of them. If a feasible X with this
/// support exists, a few dozen suffice; otherwise only this limit ends them.
const STEPS: usize = 1000;
/// ‖XᵀX − I‖_F per column that is rounding.
const ROUNDING: f64 = 2e-15;

/// XᵀX − I.
pub(super) fn error_matrix(x: &RowMat) -> RowMat {
    let mut g = gram(x);
    for k in 0..g.ncols() {
        g.set(k, k, g.get(k, k) - 1.0);
    }
    g
}

/// Restores XᵀX = I without touching a zero: Newton's method X ← X + P ∘ (XΛ) with the least
/// change, P the support of X and sym(Xᵀ(P ∘ XΛ)) = −½(XᵀX − I). Columns that share no row are only
/// rescaled, so the signs of a nonnegative X stay. Returns the final ‖XᵀX − I‖_F.
///
/// The plain step has Λ = −½(XᵀX − I), which is the same for a dense X. If two columns share
/// a tenth of their rows, it needs hundreds of steps instead of a few.
///
/// Meant for points that are nearly feasible. Cost per step: 4nr² flops and a linear system of
/// r(r+1)/2 unknowns (Cholesky up to r = 10, then conjugate gradients of 4nr² flops each); nothing
/// where X is feasible already, a polar factor where it has no zero.
pub fn repair_on_support(x: &mut RowMat) -> f64 {
    repair_within(x, STEPS)
}

/// [`repair_on_support`] with at most `steps` steps of conjugate gradients (r > 10), for callers that can do without a
/// repair.
pub fn repair_within(x: &mut RowMat, steps: usize) -> f64 {
    let (n, r) = (x.nrows(), x.ncols());
    let mut e = error_matrix(x);
    let mut error = e.norm();
    if error <= ROUNDING * r as f64 || error.is_nan() {
        return error;
    }
    if x.data().iter().all(|v| *v != 0.0) {
        let y = x.clone();
        return if nearest(&y, x) { error_matrix(x).norm() } else { error };
    }
    let mut system = MaskedSystem::new(n, r).within(steps);
    for (p, v) in system.mask().iter_mut().zip(x.data()) {
        *p = f64::from(u8::from(*v != 0.0));
    }
    for _ in 0..MOST {
        if error <= ROUNDING * r as f64 || system.is_exhausted() {
            break;
        }
        e.data_mut().iter_mut().for_each(|v| *v *= 0.5);
        system.forget();
        let lambda = system.solve(x, &e, 0.5 * error);
        let mut next = multiply(x.as_mat(), lambda.as_mat());
        for (new, old) in next.data_mut().iter_mut().zip(x.data()) {
            *new = if *old == 0.0 { 0.0 } else { old + *new };
        }
        let after = error_matrix(&next);
        if after.norm().is_nan() || after.norm() >= error {
            break;
        }
        (*x, error, e) = (next, after.norm(), after);
    }
    error
}

/// Rounds of [`drop_lone_overlaps`]; what is dropped can leave other pairs with a single row.
const ROUNDS: usize = 10;

/// Two columns whose supports share a single row cannot be orthogonal: of its two entries the smaller becomes zero, or
/// the other one where a column would be left empty. Cost 2nr² flops a round, one round where there are none.
pub fn drop_lone_overlaps(x: &mut RowMat) {
    let (n, r) = (x.nrows(), x.ncols());
    let mut size: Vec<usize> = (0..r).map(|k| (0..n).filter(|i| x.get(*i, k) != 0.0).count()).collect();
    for _ in 0..ROUNDS {
        let shared = gram(&RowMat::from_fn(n, r, |i, k| f64::from(u8::from(x.get(i, k) != 0.0))));
        let mut dropped = false;
        for i in 0..n {
            let mut here: Vec<usize> = (0..r).rev().filter(|k| x.get(i, *k) != 0.0).collect();
            // the smallest first, and it goes if it is alone with any larger one
            ascending(&mut here, &|k| x.get(i, k).abs());
            for (at, k) in here.iter().enumerate() {
                if size[*k] > 1 && here[at + 1..].iter().any(|l| shared.get(*k, *l) == 1.0) {
                    x.set(i, *k, 0.0);
                    size[*k] -= 1;
                    dropped = true;
                }
            }
        }
        if !dropped {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::stiefel::feasibility;

    /// Supports that overlap in single rows are parted there and nowhere else, and can then be repaired.
    #[test]
    fn lone_overlaps_go() {
        let mut x = sparse(60, 5, 20, 10, 0.0);
        let before = x.clone();
        drop_lone_overlaps(&mut x);
        assert_eq!(x, before);
        // columns 0 and 1 share row 3 only, 1 and 2 share two rows, 3 and 4 are the same single row
        let mut x = RowMat::from_fn(12, 5, |i, k| match (k, i) {
            (0, 0..=3) => 0.5,
            (1, 3..=6) => 0.6,
            (2, 5) => -0.6,
            (2, 6..=8) => 0.5,
            (3 | 4, 10) => 1.0,
            _ => 0.0,
        });
        let before = x.clone();
        drop_lone_overlaps(&mut x);
        let gone: Vec<_> = (0..60).filter(|at| x.data()[*at] != before.data()[*at]).collect();
        assert_eq!(gone, [15]); // row 3, column 0; for columns 3 and 4 nothing can be done
        let mut apart = RowMat::from_fn(12, 4, |i, k| x.get(i, k));
        for k in 0..4 {
            let length = (0..12).map(|i| apart.get(i, k).powi(2)).sum::<f64>().sqrt();
            (0..12).for_each(|i| apart.set(i, k, apart.get(i, k) / length));
        }
        assert!(repair_on_support(&mut apart) <= 1e-13);
    }

    /// Unit columns with `length` nonzeros in sliding windows, slightly perturbed.
    fn sparse(n: usize, r: usize, length: usize, shift: usize, noise: f64) -> RowMat {
        let mut x = RowMat::zeros(n, r);
        for k in 0..r {
            for l in 0..length {
                let i = (k * shift + l) % n;
                x.set(i, k, ((l * (k + 3)) as f64 * 1.7).sin() + 0.1);
            }
        }
        // orthonormal on the support first, by many small steps
        for k in 0..r {
            let norm = (0..n).map(|i| x.get(i, k).powi(2)).sum::<f64>().sqrt();
            (0..n).for_each(|i| x.set(i, k, x.get(i, k) / norm));
        }
        repair_on_support(&mut x);
        for (k, v) in x.data_mut().iter_mut().enumerate() {
            *v *= 1.0 + noise * (k as f64).sin();
        }
        x
    }

    #[test]
    fn converges_where_columns_overlap_little() {
        for (n, r, length, shift) in [(60, 5, 20, 10), (200, 12, 40, 30), (9, 3, 9, 1), (50, 3, 10, 10)] {
            let x = sparse(n, r, length, shift, 1e-3);
            let mut fixed = x.clone();
            let error = repair_on_support(&mut fixed);
            assert!(error <= 1e-13 && feasibility(&fixed) <= 1e-13, "{n} {r}: {error:e}");
            for (a, b) in fixed.data().iter().zip(x.data()) {
                assert!((*a == 0.0) == (*b == 0.0) && (a - b).abs() <= 0.1);
            }
        }
    }

    /// Columns in pairs on the same single row, and others that overlap: only the limit ends this.
    #[test]
    fn a_repair_without_hope_ends() {
        let mut hopeless = sparse(60, 20, 9, 3, 0.3);
        (0..60).for_each(|i| hopeless.set(i, 1, f64::from(u8::from(i == 4))));
        let mut none = hopeless.clone();
        let before = error_matrix(&none).norm();
        assert_eq!(repair_within(&mut none, 0), before);
        assert_eq!(none, hopeless);
        let mut some = hopeless.clone();
        let after = repair_within(&mut some, 40);
        assert!(after <= before && some.find_non_finite().is_none());
    }

    #[test]
    fn what_cannot_be_repaired_is_left_finite() {
        let mut x = RowMat::from_fn(5, 2, |i, _| f64::from(u8::from(i == 0))); // twice e₁
        assert!(repair_on_support(&mut x) > 0.1);
        assert!(x.find_non_finite().is_none());
    }
}
