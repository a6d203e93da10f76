//! The closed form for f = ½tr(VSVᵀ) with a symmetric positive definite S, the model of JOBCD on
//! the transposed problem when f = tr(XᵀCX): P vanishes, and all components have the same values.
//!
//! For rows of different sign the minimiser is the hyperbolic rotation that makes S₁₂ vanish,
//! tanh 2μ = −2S₁₂/(S₁₁ + S₂₂); for rows of the same sign f is constant, and of all its
//! minimisers the rotation that makes S₁₂ vanish is the one that helps the other pairs. With both
//! JOBCD is the J-Jacobi method for eigenvalues (Veselić 1993), whose cyclic passes converge
//! quadratically.

use super::{Component, JMove};

/// The hyperbolic rotation that diagonalises S = [S₁₁, S₁₂, S₂₂], and its decrease of ½tr S. `None` where |2S₁₂| ≥
/// S₁₁ + S₂₂: S is not positive definite and there is none.
#[inline]
pub fn hyperbolic([s11, s12, s22]: [f64; 3]) -> Option<(JMove, f64)> {
    let (trace, off) = (s11 + s22, 2.0 * s12);
    let product = (trace - off.abs()) * (trace + off.abs());
    if trace <= 0.0 || product <= 0.0 || !product.is_finite() {
        return None;
    }
    let root = product.sqrt();
    // cosh 2μ = trace/root, sinh 2μ = −off/root
    let c = (0.5 * (root + trace) / root).sqrt();
    let s = -off / root / (2.0 * c);
    let c1 = s * s / (1.0 + c);
    let decrease = 0.5 * off * off / (trace + root);
    Some((JMove::from_parts(Component::BOOSTS[0], c1, s), decrease))
}

/// The rotation by at most π/4 that diagonalises S; ½tr S does not change.
#[inline]
pub fn circular([s11, s12, s22]: [f64; 3]) -> JMove {
    if s12 == 0.0 {
        return JMove::from_parts(Component::Rotation, 0.0, 0.0);
    }
    let cot2 = (s11 - s22) / (2.0 * s12);
    let tan = cot2.signum() / (cot2.abs() + cot2.hypot(1.0));
    let c = 1.0 / tan.hypot(1.0);
    let s = c * tan;
    JMove::from_parts(Component::Rotation, -s * s / (1.0 + c), s)
}
