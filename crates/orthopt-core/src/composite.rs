//! Composite problems: min F(X) = f(X) − g(X) + h(A(X)) subject to XᵀX = I (OADMM paper,
//! Problem (1)), with a smooth f, a convex g, a linear map A and a nonsmooth h that acts entry by
//! entry; and their measure of criticality (Definition 2.7).

use crate::certify::shortest_residual::shortest_residual;
use crate::concave::Concave;
use crate::constraint::Stiefel;
use crate::constraint::stiefel::tangent;
use crate::linear_map::LinearMap;
use crate::nonsmooth::{Nonsmooth, Subgradients};
use crate::objective::REPORT_ZERO;
use crate::problem::Problem;
use crate::smooth::Smooth;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;

/// min f − g + h∘A over n × r matrices with orthonormal columns. Without g and A it is f + h.
pub type Composite<F, H, G, A> = Problem<Stiefel, F, H, G, A>;

/// The three terms of Crit(X, y, z) = ‖A(X) − y‖ + dist(∂h(y), z) + ‖Proj_T(∇f − ξ + Aᵀz)‖_F,
/// ξ ∈ ∂g(X).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CritParts {
    /// ‖A(X) − y‖.
    pub primal: f64,
    /// dist(∂h(y), z).
    pub dual: f64,
    /// ‖Proj_T(∇f(X) − ξ + Aᵀz)‖_F.
    pub tangent: f64,
}

impl CritParts {
    /// Their sum.
    pub fn total(&self) -> f64 {
        self.primal + self.dual + self.tangent
    }
}

/// The terms of Crit at (X, y, z). Cost of a gradient and O(nr²).
pub fn crit_parts<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
    p: &Composite<F, H, G, A>,
    x: &RowMat,
    y: &RowMat,
    z: &RowMat,
) -> CritParts {
    let ax = p.a.apply(x);
    let primal = distance(&ax, y);
    let mut nearest = z.clone();
    Subgradients::of(&p.h, y, 0.0).nearest(&mut nearest);
    let dual = distance(&nearest, z);
    let mut g = smooth_gradient(p, x);
    add(&mut g, 1.0, &p.a.adjoint(z, p.shape()));
    CritParts { primal, dual, tangent: tangent(x, &g).norm() }
}

/// ∇f(X) − ξ.
fn smooth_gradient<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
    p: &Composite<F, H, G, A>,
    x: &RowMat,
) -> RowMat {
    let mut g = RowMat::zeros(x.nrows(), x.ncols());
    p.f.gradient(x, &mut g);
    if !p.g.is_zero() {
        let mut xi = RowMat::zeros(x.nrows(), x.ncols());
        p.g.subgradient(x, &mut xi);
        add(&mut g, -1.0, &xi);
    }
    g
}

/// The least ‖Proj_T(∇f(X) − ξ + Aᵀz)‖_F over z ∈ ∂h(A(X)): the value of Crit if its other
/// two terms are zero. Where A is not the identity, entries of A(X) up to 1e-6 count as zeros: they are differences
/// of entries of X, and rounded.
///
/// A convex quadratic in z with interval constraints, solved by projected gradients with
/// momentum and restart. Cost 6nr² flops an iteration for A = I. `None` as soon as it is cancelled, which
/// is asked in every iteration.
pub fn criticality<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
    p: &Composite<F, H, G, A>,
    x: &RowMat,
    cancel: &Cancel,
) -> Option<f64> {
    criticality_within(p, x, cancel, usize::MAX)
}

/// [`criticality`], or `None` after `most` iterations that were not enough.
fn criticality_within<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
    p: &Composite<F, H, G, A>,
    x: &RowMat,
    cancel: &Cancel,
    most: usize,
) -> Option<f64> {
    shortest_subgradient(p, x, cancel, most).map(|(norm, _, _)| norm)
}

/// The value of [`criticality`], the z ∈ ∂h(A(X)) that has it, and E = Proj_T(∇f(X) − ξ + Aᵀz). −E is a direction along which F falls
/// at the rate ‖E‖² where h is a sum of functions of one entry and A the identity (docs/mathematics.md, section 6).
pub fn shortest_subgradient<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
    p: &Composite<F, H, G, A>,
    x: &RowMat,
    cancel: &Cancel,
    most: usize,
) -> Option<(f64, RowMat, RowMat)> {
    if cancel.is_over() {
        return None; // a gradient may take long, too
    }
    let c = smooth_gradient(p, x);
    let zero = if p.a.is_identity() { 0.0 } else { REPORT_ZERO };
    let bounds = Subgradients::of(&p.h, &p.a.apply(x), zero);
    let residual = |z: &RowMat| {
        let mut e = p.a.adjoint(z, p.shape());
        add(&mut e, 1.0, &c);
        tangent(x, &e)
    };
    let mut z = p.a.apply(&c);
    z.data_mut().iter_mut().for_each(|v| *v = -*v);
    let step = 1.0 / p.a.norm(p.shape()).powi(2).max(f64::MIN_POSITIVE);
    let descent = |e: &RowMat| {
        let mut out = p.a.apply(e); // Proj_T is idempotent: the gradient is A(e)
        out.data_mut().iter_mut().for_each(|v| *v *= step);
        out
    };
    let (norm, z) = shortest_residual(z, &bounds, (residual, descent), (cancel, most))?;
    let e = residual(&z);
    Some((norm, z, e))
}

/// Iterations of [`criticality`] in a run, where it must not cost more than the run itself.
pub const MOST: usize = 999;

/// [`criticality`] over the scale of f plus ‖∇f(X) − ξ‖, at the X that a run returns, without
/// tiny entries; infinite if the computation takes too long.
pub fn relative_criticality<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
    p: &Composite<F, H, G, A>,
    x: &RowMat,
) -> f64 {
    let clean = p.cleaned(x);
    let x = clean.as_ref().unwrap_or(x);
    let found = criticality_within(p, x, &Cancel::never(), MOST);
    let size = || (p.f.scale(x) + smooth_gradient(p, x).norm()).max(f64::MIN_POSITIVE);
    found.map_or(f64::INFINITY, |c| c / size())
}

/// y += c·x.
pub fn add(y: &mut RowMat, c: f64, x: &RowMat) {
    orthopt_linalg::kernels::axpy(c, x.data(), y.data_mut());
}

/// ‖X − Y‖_F.
pub fn distance(x: &RowMat, y: &RowMat) -> f64 {
    x.data().iter().zip(y.data()).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}
