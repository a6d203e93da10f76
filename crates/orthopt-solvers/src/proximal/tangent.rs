//! The proximal subproblem on the tangent space at X (Chen, Ma, So, Zhang 2020, eq. (4.3)):
//!
//! ```text
//! min_D  ⟨∇f(X), D⟩ + ‖D‖²/(2t) + h(X + D)    subject to   DᵀX + XᵀD = 0
//! ```
//!
//! With Y = X + D and V = X − t∇f(X) it reads min ½‖Y − V‖² + t·h(Y) subject to sym(XᵀY) = I.
//! Its dual is smooth and convex in the symmetric multiplier S (r × r):
//!
//! ```text
//! ψ(S) = ⟨W, Y⟩ − ½‖Y‖² − t·h(Y) − tr S,   W = V + XS,   Y = Y(S) = prox_th(W)
//! ∇ψ(S) = E(S) = sym(XᵀY) − I
//! ∂²ψ(S)[Δ] ∋ J[Δ] = sym(Xᵀ(P ∘ XΔ)),   P = 1 where Y is not at a kink of h, else 0
//! ```
//!
//! For h = λ Σ ‖row‖ the Jacobian of the prox is (1 − τ)I + τŷŷᵀ at a row y ≠ 0 of Y, τ = tλ/(‖y‖ + tλ), ŷ = y/‖y‖.
//!
//! XᵀX = I makes 0 ⪯ J ⪯ I: S − E is a safe step, and the Newton step where P = 1 throughout.

use super::distance;
use crate::prelude::*;
use orthopt_linalg::masked_system::MaskedSystem;
use orthopt_linalg::products::{cross, product};
use orthopt_linalg::simd::dispatch;

/// Newton steps after which the current Y is taken as it is.
const MOST: u64 = 100;

/// Result of the solution of a subproblem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inner {
    /// Newton steps.
    pub steps: u64,
    /// ‖E(S)‖_F = ‖sym(XᵀY) − I‖_F reached.
    pub error: f64,
    /// ‖D‖_F = ‖Y − X‖_F.
    pub distance: f64,
    /// True if the accuracy asked for was reached.
    pub exact: bool,
}

/// Solves the subproblem by a regularised semismooth Newton method on E(S) = 0, warm-started
/// from the S it ended with, globalised by a line search on ψ.
///
/// Cost per Newton step: 4nr² flops for an evaluation, plus the linear system (direct for small
/// r: nr³ for the Jacobian and r⁶/24; conjugate gradients beyond: 4nr² each).
#[derive(Clone, Debug)]
pub struct TangentProx {
    s: RowMat,  // S, the multiplier times t
    t: f64,     // t that S belongs to
    y: RowMat,  // Y = prox_th(W)
    w: RowMat,  // W = V + XS
    e: RowMat,  // E = sym(XᵀY) − I
    error: f64, // ‖E‖_F
    system: MaskedSystem,
}

impl TangentProx {
    /// For n × r matrices X, with S = 0.
    pub fn new(n: usize, r: usize) -> Self {
        Self {
            s: RowMat::zeros(r, r),
            t: 1.0,
            y: RowMat::zeros(n, r),
            w: RowMat::zeros(n, r),
            e: RowMat::zeros(r, r),
            error: f64::INFINITY,
            system: MaskedSystem::new(n, r),
        }
    }

    /// Y = X + D of the last solve: as sparse as h makes it.
    pub fn y(&self) -> &RowMat {
        &self.y
    }

    /// S = tΛ of the last solve, Λ the multiplier of sym(XᵀY) = I.
    pub fn multiplier(&self) -> &RowMat {
        &self.s
    }

    /// Λ = S/t of the last solve.
    pub(crate) fn lambda(&self) -> RowMat {
        RowMat::from_fn(self.s.nrows(), self.s.ncols(), |k, l| self.s.get(k, l) / self.t)
    }

    /// Λ ← Λ + b(Λ − `before`), where X moves on in a straight line: a start nearer to the next Λ.
    pub(crate) fn extrapolate_multiplier(&mut self, before: &RowMat, b: f64) {
        for (s, before) in self.s.data_mut().iter_mut().zip(before.data()) {
            *s += b * (*s - self.t * before);
        }
    }

    /// Solves the subproblem at `x` for `v` = X − t∇f(X) and a convex finite `h` until
    /// ‖E‖_F ≤ `accuracy(‖D‖_F)`, or as far as rounding lets it.
    pub fn solve<H: Nonsmooth>(
        &mut self,
        h: &H,
        x: &RowMat,
        v: &RowMat,
        t: f64,
        accuracy: impl Fn(f64) -> f64,
    ) -> Inner {
        // the multiplier itself hardly depends on t
        let rescale = t / self.t;
        self.s.data_mut().iter_mut().for_each(|s| *s *= rescale);
        self.t = t;
        self.system.forget();
        self.evaluate(h, x, v);
        let floor = 1e-14 + 2e-15 * x.ncols() as f64;
        let mut steps = 0;
        loop {
            let distance = distance(&self.y, x);
            let exact = self.error <= accuracy(distance).max(floor);
            if exact || steps == MOST || !self.newton_step(h, x, v) {
                return Inner { steps, error: self.error, distance, exact };
            }
            steps += 1;
        }
    }

    /// W, Y and E at S.
    fn evaluate<H: Nonsmooth>(&mut self, h: &H, x: &RowMat, v: &RowMat) {
        self.w.data_mut().copy_from_slice(v.data());
        product(&mut self.w, true, 1.0, x.as_mat(), self.s.as_mat());
        self.y.data_mut().copy_from_slice(self.w.data());
        h.prox_rows(self.y.data_mut(), x.ncols(), self.t);
        let xty = cross(x, &self.y);
        let r = x.ncols();
        for i in 0..r {
            for j in 0..r {
                let identity = f64::from(u8::from(i == j));
                self.e.set(i, j, 0.5 * (xty.get(i, j) + xty.get(j, i)) - identity);
            }
        }
        self.error = self.e.norm();
    }

    /// ψ(S), S evaluated.
    fn psi<H: Nonsmooth>(&self, h: &H) -> f64 {
        let trace: f64 = (0..self.s.nrows()).map(|k| self.s.get(k, k)).sum();
        let (wy, yy) = (self.w.inner(&self.y), self.y.inner(&self.y));
        wy - 0.5 * yy - self.t * h.of(&self.y) - trace
    }

    /// S ← S + αΔ with (J + εI)Δ = −E. A full step is taken when it halves ‖E‖, otherwise the
    /// first α of 1, ½, ¼, ... with Armijo's decrease of ψ, otherwise the gradient step. `false`
    /// when not even that brings anything: E is rounding.
    fn newton_step<H: Nonsmooth>(&mut self, h: &H, x: &RowMat, v: &RowMat) -> bool {
        let error = self.error;
        let start = self.s.clone();
        let gradient = self.e.clone();
        let delta = self.direction(h, x);
        let slope = delta.inner(&gradient);
        let along = |this: &mut Self, alpha: f64, direction: &RowMat| {
            super::combine(&mut this.s, &start, alpha, direction);
            this.evaluate(h, x, v);
        };
        if slope < 0.0 {
            along(self, 1.0, &delta);
            if self.error <= 0.5 * error {
                return true; // as nearly always: ψ is not asked for
            }
        }
        along(self, 0.0, &gradient);
        let psi = self.psi(h);
        let rounding = 1e-15 * (psi.abs() + 1.0);
        let mut alpha = 1.0;
        while slope < 0.0 && alpha > 1e-4 {
            along(self, alpha, &delta);
            if self.error <= 0.5 * error || self.psi(h) < psi + 1e-4 * alpha * slope - rounding {
                return true;
            }
            alpha *= 0.5;
        }
        along(self, -1.0, &gradient);
        if self.psi(h) < psi - rounding || self.error < 0.9 * error {
            return true;
        }
        along(self, 0.0, &gradient);
        false
    }

    /// Δ = −(J + εI)⁻¹E.
    fn direction<H: Nonsmooth>(&mut self, h: &H, x: &RowMat) -> RowMat {
        if let Some(lambda) = h.row_weight() {
            let t = self.t * lambda;
            self.system.shrink_rows(&self.y, |size| t / (size + t));
            return self.system.solve(x, &self.e, self.error);
        }
        let kinks = h.kinks();
        let active = self.system.mask();
        let y = self.y.data();
        if let [zero] = kinks
            && *zero == 0.0
        {
            dispatch(|| {
                for (p, v) in active.iter_mut().zip(y) {
                    *p = f64::from(u8::from(*v != 0.0));
                }
            });
        } else {
            for (p, v) in active.iter_mut().zip(y) {
                *p = f64::from(u8::from(!kinks.contains(v)));
            }
        }
        self.system.solve(x, &self.e, self.error)
    }
}
