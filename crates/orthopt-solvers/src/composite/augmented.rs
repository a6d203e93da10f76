//! Code shared by the methods of multipliers with an inner Riemannian solver: ManIAL, RiAL and RADA-RGD.
//!
//! ```text
//! Φ(X) = f − ⟨ξ, X⟩ + h^{1/σ}(A(X) + z/σ),    y = prox_{h/σ}(A(X) + z/σ),    w = σ(A(X) + z/σ − y) ∈ ∂h(y)
//! ```
//!
//! h^{1/σ} is the Moreau envelope; −g is linearised anew at every inner step.

use super::descent::{Descent, Inner};
use super::splitting::{Linearised, confirmed, curvature, end, plus, prox, pull_back};
use crate::prelude::*;
use orthopt_core::composite::distance;

/// Growth of σ beyond which differences of the envelope drown in rounding.
pub(super) const MOST_GROWTH: f64 = 1e10;

/// X with the descent on Φ, and what Φ is made of.
#[derive(Clone, Debug)]
pub(super) struct Augmented {
    pub sigma: f64,              // σ
    pub z: RowMat,               // z
    pub descent: Descent<Point>, // X and what belongs to it
    lf: f64,                     // L_f
    abar: f64,                   // Ā
    scale: f64,                  // of f
}

impl Augmented {
    /// At X⁰ with z = 0.
    pub fn new<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        p: &Composite<F, H, G, A>,
        x0: RowMat,
        sigma: f64,
    ) -> Self {
        let ax = p.a.apply(&x0);
        let z = RowMat::zeros(ax.nrows(), ax.ncols());
        let (lf, abar, scale) = (curvature(&p.f, &x0), p.a.norm(p.shape()), p.f.scale(&x0));
        let first = 1.0 / (lf + sigma * abar * abar);
        let descent = Descent::new(&Subproblem { p, z: &z, sigma }, x0, first);
        Self { sigma, z, descent, lf, abar, scale }
    }

    /// X.
    pub fn x(&self) -> &RowMat {
        &self.descent.x
    }

    /// A step that may raise Φ by `slack`; false if none is found.
    pub fn advance<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &mut self,
        p: &Composite<F, H, G, A>,
        slack: f64,
    ) -> bool {
        let Self { sigma, z, descent, .. } = self;
        descent.advance_within(&Subproblem { p, z, sigma: *sigma }, slack)
    }

    /// Another z and σ at the same X; `warm` keeps the length of the next step.
    pub fn reset<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &mut self,
        p: &Composite<F, H, G, A>,
        (z, sigma): (RowMat, f64),
        warm: bool,
    ) {
        (self.z, self.sigma) = (z, sigma);
        let subproblem = Subproblem { p, z: &self.z, sigma };
        let first = 1.0 / (self.lf + sigma * self.abar * self.abar);
        let step = warm.then(|| self.descent.step());
        self.descent = Descent::new(&subproblem, self.descent.x.clone(), first);
        if let Some(step) = step {
            self.descent.try_next(step);
        }
    }

    /// y = prox_{h/σ}(A(X) + z/σ) and the multiplier w = σ(A(X) + z/σ − y) ∈ ∂h(y).
    pub fn split<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &self,
        p: &Composite<F, H, G, A>,
    ) -> (RowMat, RowMat) {
        let v = plus(p.a.apply(self.x()), 1.0 / self.sigma, &self.z);
        let y = prox(&p.h, &v, 1.0 / self.sigma);
        let mut w = plus(v, -1.0, &y);
        w.data_mut().iter_mut().for_each(|v| *v *= self.sigma);
        (y, w)
    }

    /// The Riemannian gradient of Φ relative to the terms of the Euclidean one.
    pub fn relative_gradient(&self) -> f64 {
        let d = &self.descent;
        let terms = d.at.terms.grad_f.norm() + d.at.terms.xi.norm() + d.at.pulled.norm();
        d.gradient.norm() / (self.scale + terms).max(f64::MIN_POSITIVE)
    }

    /// The larger of that and ‖A(X) − y‖/(1 + ‖y‖).
    pub fn residual<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &self,
        p: &Composite<F, H, G, A>,
    ) -> f64 {
        let (y, _) = self.split(p);
        let primal = distance(&p.a.apply(self.x()), &y) / (1.0 + y.norm());
        primal.max(self.relative_gradient())
    }

    /// Recomputed criticality of it ([`confirmed`]).
    pub fn confirmed<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &self,
        p: &Composite<F, H, G, A>,
    ) -> Option<Confirmed> {
        let (y, w) = self.split(p);
        confirmed(p, self.x(), &y, &w)
    }

    /// Everything there is at the end.
    pub fn ending<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        self,
        p: &Composite<F, H, G, A>,
        details: Details,
    ) -> Ending {
        let (y, w) = self.split(p);
        end(p, details, None, self.descent.x, &y, &w)
    }
}

/// Φ.
struct Subproblem<'a, F, H, G, A> {
    p: &'a Composite<F, H, G, A>,
    z: &'a RowMat,
    sigma: f64,
}

/// Terms of Φ at one X.
#[derive(Clone, Debug)]
pub(super) struct Point {
    terms: Linearised, // ∇f(X), ξ
    pulled: RowMat,    // Aᵀ of the gradient of the envelope
    envelope: f64,     // h^{1/σ}
}

impl<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap> Inner for Subproblem<'_, F, H, G, A> {
    type Point = Point;

    fn at(&self, x: &RowMat) -> Point {
        let v = plus(self.p.a.apply(x), 1.0 / self.sigma, self.z);
        let y = prox(&self.p.h, &v, 1.0 / self.sigma);
        let mut w = plus(v, -1.0, &y);
        let envelope = self.p.h.of(&y) + 0.5 * self.sigma * w.inner(&w);
        w.data_mut().iter_mut().for_each(|v| *v *= self.sigma);
        Point { terms: Linearised::at(self.p, x), pulled: pull_back(self.p, w), envelope }
    }

    fn gradient(&self, at: &Point) -> RowMat {
        at.terms.plus(at.pulled.clone())
    }

    fn change(&self, from: &Point, to: &Point, step: &RowMat) -> f64 {
        from.terms.change_of_f(&to.terms, step) - step.inner(&from.terms.xi) + (to.envelope - from.envelope)
    }
}
