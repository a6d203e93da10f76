//! Iterate of a splitting method.

use super::splitting::{Linearised, confirmed, curvature, end, pull_back, shifted_multiplier};
use crate::prelude::*;
use orthopt_core::composite::distance;

/// X with A(X), its copies y and y̌, and the multiplier z of A(X) = y.
#[derive(Clone, Debug)]
pub struct Iterate {
    /// X.
    pub x: RowMat,
    /// y.
    pub y: RowMat,
    /// y̌, the prox output; y where there is no smoothing.
    pub ycheck: RowMat,
    /// z.
    pub z: RowMat,
    /// L_f.
    pub lf: f64,
    /// Ā.
    pub abar: f64,
    pub(crate) ax: RowMat,      // A(X)
    pub(crate) now: Linearised, // ∇f(X), ξ
    pub(crate) scale: f64,      // of f
}

impl Iterate {
    /// At X⁰ with y = A(X⁰) and z = 0; L_f is estimated unless given.
    ///
    /// # Errors
    /// X⁰ off the manifold.
    pub(crate) fn new<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        p: &Composite<F, H, G, A>,
        x0: RowMat,
        lf: Option<f64>,
    ) -> Result<Self> {
        let (n, r) = p.shape();
        stiefel::check(&x0, n, r, "the starting point X")?;
        let ax = p.a.apply(&x0);
        Ok(Self {
            y: ax.clone(),
            ycheck: ax.clone(),
            z: RowMat::zeros(ax.nrows(), ax.ncols()),
            lf: lf.unwrap_or_else(|| curvature(&p.f, &x0)),
            abar: p.a.norm((n, r)),
            ax,
            now: Linearised::at(p, &x0),
            scale: p.f.scale(&x0),
            x: x0,
        })
    }

    /// βĀ² + L_f, the curvature of the augmented Lagrangian.
    pub(crate) fn curvature(&self, beta: f64) -> f64 {
        beta * self.abar * self.abar + self.lf
    }

    /// ∇f(X) − ξ + Aᵀ(z + β(A(X) − y)).
    pub(crate) fn gradient<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &self,
        p: &Composite<F, H, G, A>,
        beta: f64,
    ) -> RowMat {
        self.now.plus(pull_back(p, shifted_multiplier(&self.ax, &self.y, &self.z, beta)))
    }

    /// Takes another X, and gives the last one. Cost of a gradient.
    pub(crate) fn move_to<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &mut self,
        p: &Composite<F, H, G, A>,
        x: RowMat,
    ) -> RowMat {
        self.now.update(p, &x);
        self.ax = p.a.apply(&x);
        std::mem::replace(&mut self.x, x)
    }

    /// z ← z + β(A(X) − y).
    pub(crate) fn ascend(&mut self, beta: f64) {
        self.z = shifted_multiplier(&self.ax, &self.y, &self.z, beta);
    }

    /// X and F, and the larger of ‖A(X) − y‖/(1 + ‖y‖) and ‖Proj_T(∇f − ξ + Aᵀz)‖/(the scale of f + its terms): stationarity, up to
    /// what smoothing costs.
    pub(crate) fn current<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &self,
        p: &Composite<F, H, G, A>,
    ) -> Current<'_> {
        let Self { x, now, .. } = self;
        let primal = distance(&self.ax, &self.y) / (1.0 + self.y.norm());
        let atz = pull_back(p, self.z.clone());
        let size = self.scale + now.grad_f.norm() + now.xi.norm() + atz.norm();
        let tangent = stiefel::tangent(x, &now.plus(atz)).norm() / size.max(f64::MIN_POSITIVE);
        Current::new(x, p.value(x)).with_residual(Some(primal.max(tangent)))
    }

    /// Recomputed criticality of X and y̌ ([`confirmed`]).
    pub(crate) fn confirmed<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &self,
        p: &Composite<F, H, G, A>,
    ) -> Option<Confirmed> {
        confirmed(p, &self.x, &self.ycheck, &self.z)
    }

    /// The end of a run; `mu_norm_z` is μ‖z‖, where there is a smoothing.
    pub(crate) fn end<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        self,
        p: &Composite<F, H, G, A>,
        details: Details,
        mu_norm_z: Option<f64>,
    ) -> Ending {
        end(p, details, mu_norm_z, self.x, &self.ycheck, &self.z)
    }
}
