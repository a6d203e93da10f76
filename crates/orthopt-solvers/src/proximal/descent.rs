//! One step of a proximal gradient method on the manifold: direction, line search, retraction.

use super::{Inner, Point, Relative, TangentProx, combine, difference};
use crate::prelude::*;
use orthopt_core::composite::relative_criticality;
use orthopt_linalg::orthonormal::{inverse_root, nearest};
use orthopt_linalg::products::{gram, product};
use orthopt_linalg::simd::dispatch;

/// Steps shorter than this times D are not tried: D itself is then too inexact or too long.
const SHORTEST: f64 = 1e-4;

/// Outcome of a line search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Searched {
    /// X has moved, after so many backtracks.
    Moved(u64),
    /// No step along D lowers F enough.
    Failed,
}

/// Xᵗ (with momentum, the Z that steps begin at), the point tried next, and the subproblem between them.
#[derive(Clone, Debug)]
pub(crate) struct Descent {
    pub(crate) at: Point,            // Xᵗ
    trial: Point,                    // Retr(Xᵗ + αD)
    pub(crate) tangent: TangentProx, // Y = Xᵗ + D and the multiplier
    v: RowMat,                       // V = X − t∇f(X), then X + αD
    t: f64,                          // t of the last direction
    pub(crate) inner: Inner,         // how the last subproblem was solved
    relative: Relative,
}

impl Descent {
    pub(crate) fn new<F: Smooth, H: Nonsmooth>(p: &Problem<Stiefel, F, H>, x0: RowMat) -> Self {
        let (n, r) = (x0.nrows(), x0.ncols());
        let at = Point::new(p, x0);
        let mut relative = Relative::default();
        relative.meet(&at.grad);
        Self {
            trial: at.clone(),
            at,
            tangent: TangentProx::new(n, r),
            v: RowMat::zeros(n, r),
            t: 1.0,
            inner: Inner { steps: 0, error: 0.0, distance: f64::INFINITY, exact: true },
            relative,
        }
    }

    /// D ← argmin ⟨∇f(X), D⟩ + ‖D‖²/(2t) + h(X + D) over the tangent space.
    pub(crate) fn direction<F: Smooth, H: Nonsmooth>(
        &mut self,
        p: &Problem<Stiefel, F, H>,
        t: f64,
        accuracy: impl Fn(f64) -> f64,
    ) {
        self.t = t;
        combine(&mut self.v, &self.at.x, -t, &self.at.grad);
        self.inner = self.tangent.solve(&p.h, &self.at.x, &self.v, t, accuracy);
    }

    /// ‖D‖·max(1/t, L) relative to the largest ‖∇f‖ met. ‖D‖ grows with t and ‖D‖/t falls, so
    /// this bounds the measure ‖D‖·L of the step t = 1/L whatever t is: a long step cannot make
    /// a point look stationary.
    pub(crate) fn residual(&self, lipschitz: f64) -> f64 {
        self.relative.to((self.inner.distance + self.inner.error) * (1.0 / self.t).max(lipschitz))
    }

    /// True if the decrease that the last full step promised is above the rounding errors of F.
    pub(crate) fn is_visible(&self, delta: f64) -> bool {
        delta * self.inner.distance.powi(2) / self.t > self.at.rounding()
    }

    /// X ← Retr_X(αD) for the first α = 1, γ, γ², ... with F ≤ `reference` − αδ‖D‖²/t, by the
    /// polar retraction; α‖D‖² below rounding counts as decrease enough.
    pub(crate) fn line_search<F: Smooth, H: Nonsmooth>(
        &mut self,
        p: &Problem<Stiefel, F, H>,
        reference: f64,
        gamma: f64,
        delta: f64,
    ) -> Searched {
        let decrease = delta * self.inner.distance.powi(2) / self.t;
        let slack = self.at.rounding();
        let (mut alpha, mut backtracks) = (1.0, 0);
        while alpha >= SHORTEST {
            self.retract(alpha);
            self.trial.evaluate(p);
            if self.trial.objective() <= reference - alpha * decrease + slack {
                std::mem::swap(&mut self.at, &mut self.trial);
                self.relative.meet(&self.at.grad);
                return Searched::Moved(backtracks);
            }
            alpha *= gamma;
            backtracks += 1;
        }
        Searched::Failed
    }

    /// X ← Retr_X(D), if F is not above `most` there.
    pub(crate) fn full_step<F: Smooth, H: Nonsmooth>(
        &mut self,
        p: &Problem<Stiefel, F, H>,
        most: f64,
    ) -> bool {
        self.retract(1.0);
        self.trial.evaluate(p);
        if self.trial.objective() > most {
            return false;
        }
        std::mem::swap(&mut self.at, &mut self.trial);
        self.relative.meet(&self.at.grad);
        true
    }

    /// X ← Retr(X⁺ + b(X⁺ − X)) for the point X⁺ of `next`, with the gradient; f and h stay those of X.
    /// `false`, and X nothing to continue from, where the columns are near dependence. Cost 6nr² flops where
    /// ∇f is linear, that of a gradient besides elsewhere.
    pub(crate) fn extrapolate<F: Smooth, H: Nonsmooth>(
        &mut self,
        p: &Problem<Stiefel, F, H>,
        next: &Point,
        b: f64,
    ) -> bool {
        overshoot(&mut self.at.x, &next.x, b);
        let Some(root) = inverse_root(&gram(&self.at.x)) else { return false };
        product(&mut self.v, false, 1.0, self.at.x.as_mat(), root.as_mat());
        std::mem::swap(&mut self.v, &mut self.at.x);
        if is_linear(&p.f) {
            overshoot(&mut self.at.grad, &next.grad, b);
            product(&mut self.v, false, 1.0, self.at.grad.as_mat(), root.as_mat());
            std::mem::swap(&mut self.v, &mut self.at.grad);
        } else {
            p.f.gradient(&self.at.x, &mut self.at.grad);
        }
        self.relative.meet(&self.at.grad);
        true
    }

    /// trial ← (X + αD)(I + α²DᵀD)^{−1/2}.
    fn retract(&mut self, alpha: f64) {
        let y = if alpha == 1.0 {
            self.tangent.y()
        } else {
            difference(&mut self.v, self.tangent.y(), &self.at.x);
            for (v, x) in self.v.data_mut().iter_mut().zip(self.at.x.data()) {
                *v = x + alpha * *v;
            }
            &self.v
        };
        match inverse_root(&gram(y)) {
            Some(root) => product(&mut self.trial.x, false, 1.0, y.as_mat(), root.as_mat()),
            None if nearest(y, &mut self.trial.x) => {}
            None => self.trial.x.data_mut().copy_from_slice(self.at.x.data()),
        }
    }

    /// s = Xᵗ − Xᵗ⁻¹ and the change of the gradient of the Lagrangian, y = ∇f(Xᵗ) − ∇f(Xᵗ⁻¹) −
    /// sΛ with the multiplier Λ of the last subproblem: (⟨s, s⟩, ⟨s, y⟩), for the length of Barzilai
    /// and Borwein. Cost 2nr² flops.
    pub(crate) fn secant(&mut self) -> (f64, f64) {
        let before = &self.trial; // swapped by the line search
        difference(&mut self.v, &self.at.x, &before.x);
        let sts = gram(&self.v);
        let ss = (0..sts.nrows()).map(|k| sts.get(k, k)).sum();
        let gradients = self.v.inner(&self.at.grad) - self.v.inner(&before.grad);
        (ss, gradients - sts.inner(self.tangent.multiplier()) / self.t)
    }

    /// Criticality of the X that [`Descent::finish`] would return.
    pub(crate) fn confirmed<F: Smooth, H: Nonsmooth>(
        &self,
        p: &Problem<Stiefel, F, H>,
        x: &RowMat,
        objective: f64,
    ) -> Option<Confirmed> {
        Some(Confirmed::new(relative_criticality(p, &self.clone().finish(p, x.clone(), objective))))
    }

    /// The sparse Y of the last subproblem made orthonormal on its support, where that is
    /// possible and F no higher than `objective` up to rounding: zeros are then exact. Else `x`.
    pub(crate) fn finish<F: Smooth, H: Nonsmooth>(
        self,
        p: &Problem<Stiefel, F, H>,
        x: RowMat,
        objective: f64,
    ) -> RowMat {
        let mut sparse = self.tangent.y().clone();
        let promising = self.inner.distance < 0.1 && sparse.data().contains(&0.0);
        if promising
            && stiefel::repair_on_support(&mut sparse) <= 1e-12
            && p.value(&sparse) <= objective + self.at.rounding()
        {
            return sparse;
        }
        x
    }
}

/// x ← y + b(y − x).
fn overshoot(x: &mut RowMat, y: &RowMat, b: f64) {
    let x = x.data_mut();
    dispatch(|| {
        for (x, y) in x.iter_mut().zip(y.data()) {
            *x = y + b * (y - *x);
        }
    });
}

/// True if ∇f(XR) = ∇f(X)R for every R (r × r): f = ½tr(XᵀMX). A linear term, or a matrix between the
/// columns, fixes their number.
fn is_linear<F: Smooth>(f: &F) -> bool {
    f.is_quadratic() && f.ncols().is_none()
}
