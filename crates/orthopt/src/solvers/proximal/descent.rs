//! One step of a proximal gradient method on the manifold: direction, line search, retraction.

use super::{Inner, Point, Relative, TangentProx, combine, difference};
use crate::constraint::Stiefel;
use crate::constraint::stiefel;
use crate::linalg::RowMat;
use crate::linalg::orthonormal::{inverse_root, nearest};
use crate::linalg::products::{gram, product};
use crate::nonsmooth::Nonsmooth;
use crate::problem::Problem;
use crate::smooth::Smooth;

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

/// Xᵗ, the point tried next, and the subproblem between them.
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

    /// Whether the decrease that the last full step promised is above the rounding errors of F.
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
