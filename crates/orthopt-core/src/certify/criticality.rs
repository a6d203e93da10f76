//! Criticality of X for f(X) + h(X), XᵀX = I.

use crate::certify::shortest_residual::shortest_residual;
use crate::constraint::Stiefel;
use crate::nonsmooth::{Nonsmooth, Subgradients};
use crate::problem::Problem;
use crate::smooth::Smooth;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::long::is_left;
use orthopt_linalg::products::{cross, product};

/// dist(0, ∂_M F(X)) in the measure of the papers: the smallest ‖G − XGᵀX‖_F over G ∈ ∇f(X) +
/// ∂h(X), where ∂h is free (ℓ0), an interval (ℓ1) or a half-line (X ≥ 0) wherever X = 0, and a ball (ℓ2,1) wherever a
/// row of X is.
///
/// The operator T(D) = D − XDᵀX is self-adjoint with ‖T‖ ≤ 2, so this is a convex quadratic in
/// the free entries with such constraints, solved by projected gradients with momentum and
/// restart to a relative change of 1e-10. Cost 4nr² flops an iteration.
pub fn criticality<F: Smooth, H: Nonsmooth>(p: &Problem<Stiefel, F, H>, x: &RowMat) -> f64 {
    criticality_while(p, x, &Cancel::never()).unwrap_or(f64::INFINITY)
}

/// [`criticality`], or `None` as soon as it is cancelled, which is asked in every iteration.
pub fn criticality_while<F: Smooth, H: Nonsmooth>(
    p: &Problem<Stiefel, F, H>,
    x: &RowMat,
    cancel: &Cancel,
) -> Option<f64> {
    let (n, r) = (x.nrows(), x.ncols());
    if cancel.is_over() || is_left(n * r * r) {
        return None; // a gradient may take long, too
    }
    let mut grad = RowMat::zeros(n, r);
    p.f.gradient(x, &mut grad);
    if is_left(n * r * r) {
        return None;
    }
    let bounds = Subgradients::of(&p.h, x, 0.0);
    let residual = |d: &RowMat| -> RowMat {
        let mut g = grad.clone();
        g.data_mut().iter_mut().zip(d.data()).for_each(|(a, b)| *a += b);
        commutator(x, &g)
    };
    // The best entry by entry for T = I is a good start: cancel the gradient where possible.
    let mut d = grad.clone();
    d.data_mut().iter_mut().for_each(|v| *v = -*v);
    // T is self-adjoint; step 1/‖T‖² = 1/4
    let descent = |e: &RowMat| {
        let mut out = commutator(x, e);
        out.data_mut().iter_mut().for_each(|v| *v *= 0.25);
        out
    };
    shortest_residual(d, &bounds, (residual, descent), (cancel, usize::MAX)).map(|(norm, _)| norm)
}

/// T(G) = G − XGᵀX.
fn commutator(x: &RowMat, g: &RowMat) -> RowMat {
    let gtx = cross(g, x); // GᵀX
    let mut out = g.clone();
    product(&mut out, true, -1.0, x.as_mat(), gtx.as_mat());
    out
}
