//! Exact orthogonality on the support of a sparse matrix.

use crate::linalg::RowMat;
use crate::linalg::masked_system::MaskedSystem;
use crate::linalg::orthonormal::nearest;
use crate::linalg::products::{gram, product};

/// Newton steps; a dozen are plenty where it converges at all.
const MOST: usize = 30;
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
/// The plain step takes Λ = −½(XᵀX − I), which is the same where X is dense; where two
/// columns share a tenth of their rows it needs hundreds of steps for what takes a few here.
///
/// Meant for points that are nearly feasible. Cost per step: 4nr² flops and a linear system of
/// r(r+1)/2 unknowns (Cholesky up to r = 10, then conjugate gradients of 4nr² flops each); nothing
/// where X is feasible already, a polar factor where it has no zero.
pub fn repair_on_support(x: &mut RowMat) -> f64 {
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
    let mut system = MaskedSystem::new(n, r);
    for (p, v) in system.mask().iter_mut().zip(x.data()) {
        *p = f64::from(u8::from(*v != 0.0));
    }
    for _ in 0..MOST {
        if error <= ROUNDING * r as f64 {
            break;
        }
        e.data_mut().iter_mut().for_each(|v| *v *= 0.5);
        system.forget();
        let lambda = system.solve(x, &e, 0.5 * error);
        let mut next = RowMat::zeros(n, r);
        product(&mut next, false, 1.0, x.as_mat(), lambda.as_mat());
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::stiefel::feasibility;

    /// Unit columns with so many nonzeros in sliding windows, slightly off.
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

    #[test]
    fn what_cannot_be_repaired_is_left_finite() {
        let mut x = RowMat::from_fn(5, 2, |i, _| f64::from(u8::from(i == 0))); // twice e₁
        assert!(repair_on_support(&mut x) > 0.1);
        assert!(x.find_non_finite().is_none());
    }
}
