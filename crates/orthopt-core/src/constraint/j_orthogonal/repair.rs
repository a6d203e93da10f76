//! Back to XᵀJX = J: the Newton–Schulz step for drift, the generalised polar factor for more.

use super::{Signature, residual};
use orthopt_linalg::RowMat;
use orthopt_linalg::factor::inverse;
use orthopt_linalg::products::product;

/// ‖M − I‖_F, M = JXᵀJX, up to which the Newton–Schulz step is safe (docs/mathematics.md, section 9).
pub const REPAIR_LIMIT: f64 = 0.5;

/// Repeats the Newton–Schulz step X ← X(3I − M)/2, M = JXᵀJX, until ‖M − I‖_F stops shrinking,
/// and returns that error: about eps·‖X‖², as small as rounding lets it be. The error E becomes
/// −¾E² + ¼E³ in a step. `None`, and X untouched, where ‖E‖_F ≥ 0.5: there the step may diverge.
///
/// Cost 3n³ flops a step, two or three steps.
pub fn repair(x: &mut RowMat, j: &Signature) -> Option<f64> {
    let mut e = residual(x, j);
    let mut error = e.norm();
    if error.is_nan() || error >= REPAIR_LIMIT {
        return None;
    }
    for _ in 0..20 {
        if error <= f64::EPSILON {
            break;
        }
        let mut next = x.clone();
        // M − I = J(XᵀJX − J)
        product(&mut next, true, -0.5, x.as_mat(), j.times(&e).as_mat());
        let next_e = residual(&next, j);
        let after = next_e.norm();
        if after.is_nan() || after >= 0.9 * error {
            break;
        }
        (*x, e, error) = (next, next_e, after);
    }
    Some(error)
}

/// The J-orthogonal factor Q of the generalised (indefinite) polar decomposition X = QS (JSᵀJ = S), by the
/// Newton iteration X ← ½(X + JX⁻ᵀJ). For X near the group it is a nearby point of it. `None`
/// where the decomposition does not exist or the iteration does not converge.
///
/// Cost 2n³ flops a step, about ten steps; then a repair.
///
/// # Examples
/// ```
/// use orthopt::RowMat;
/// use orthopt::constraint::{Signature, indefinite_polar};
///
/// let j = Signature::leading(1, 2)?;
/// let x = RowMat::from_fn(2, 2, |i, k| [[2.0, 0.5], [0.3, 1.0]][i][k]);
/// let q = indefinite_polar(&x, &j).expect("the eigenvalues of JX'JX are positive");
/// // Q'JQ = J
/// let product = |b: &RowMat, i, k| (0..2).map(|l| q.get(l, i) * j.sign(l) * b.get(l, k)).sum::<f64>();
/// assert!((product(&q, 0, 0) - 1.0).abs() < 1e-14 && product(&q, 0, 1).abs() < 1e-14);
/// // S = JQ'JX is self-adjoint: JS is symmetric
/// assert!((product(&x, 0, 1) - product(&x, 1, 0)).abs() < 1e-14);
/// # Ok::<(), orthopt::Error>(())
/// ```
pub fn polar(x: &RowMat, j: &Signature) -> Option<RowMat> {
    let mut y = x.clone();
    for _ in 0..40 {
        let inverse = inverse(&y)?;
        let mut next = RowMat::from_fn(y.nrows(), y.ncols(), |a, b| {
            0.5 * (y.get(a, b) + j.sign(a) * inverse.get(b, a) * j.sign(b))
        });
        let size = next.norm();
        let change = next.data().iter().zip(y.data()).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        if !size.is_finite() || !change.is_finite() {
            return None;
        }
        if change <= 1e-6 * size {
            return repair(&mut next, j).map(|_| next);
        }
        y = next;
    }
    None
}
