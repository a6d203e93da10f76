//! Penalty continuation: min f(X) + h(Y) + ρ/2‖X − Y‖² over XᵀX = I and sparse Y, ρ growing.
//!
//! ```text
//! X ← the nearest orthonormal matrix to ρY − ∇f(X) + LX      (L = 0 where f is concave)
//! Y ← prox of h/ρ at X                                       (ℓ0: the hard-thresholded copy)
//! ρ ← growth · ρ
//! ```
//!
//! Both steps lower the penalty function for a fixed ρ: −∇f + LX belongs to a linear majorant of
//! f on the manifold. It ends when a sparse copy of X is orthonormal enough for
//! [`Pattern::restore`].

use super::descent::{LOOSE, Objective, Point};
use super::pattern::Pattern;
use orthopt_core::constraint::stiefel;
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::kernels::is_zero;
use orthopt_linalg::small::polar;

/// ‖YᵀY − I‖_F below which a copy is tried.
const NEARLY: f64 = 0.5;
/// Factor of ρ for that copy: half the threshold of Y with ℓ0.
const GENEROUS: f64 = 4.0;
/// Steps between two tries.
const EVERY: u64 = 10;
/// ρ/L at which nothing more can be expected.
const LARGEST: f64 = 1e5;

/// The continuation under way.
#[derive(Clone, Debug)]
pub(crate) struct Continuation {
    x: RowMat,
    y: RowMat,
    rho: f64, // ρ
    growth: f64,
    lipschitz: f64, // L
    shift: f64,     // L, or 0 where f is concave
    steps: u64,
}

/// Outcome of a step.
#[derive(Debug)]
pub(crate) enum Outcome<I> {
    Going,
    /// An orthonormal matrix with the support of a sparse copy of X.
    Met(Box<Point<I>>),
    /// ρ is at its end and there is none.
    Lost,
}

impl Continuation {
    /// From X⁰ with ρ = rho0·L, or more where that keeps nothing of X⁰.
    pub fn new<F: Quadratic, H: Nonsmooth>(
        p: Objective<'_, F, H>,
        x: RowMat,
        rho0: f64,
        growth: f64,
    ) -> Self {
        let lipschitz = p.f.norm().max(f64::MIN_POSITIVE);
        let shift = if p.f.is_concave() { 0.0 } else { lipschitz };
        let y = x.clone();
        let mut out = Self { x, y, rho: rho0 * lipschitz, growth, lipschitz, shift, steps: 0 };
        out.copy(p.h);
        out
    }

    /// X and Y.
    pub fn iterates(&self) -> (&RowMat, &RowMat) {
        (&self.x, &self.y)
    }

    /// L.
    pub fn lipschitz(&self) -> f64 {
        self.lipschitz
    }

    /// Y from X; ρ grows where Y would be zero, which attracts nothing.
    fn copy(&mut self, h: &impl Nonsmooth) {
        loop {
            let mu = 1.0 / self.rho;
            self.y.data_mut().iter_mut().zip(self.x.data()).for_each(|(y, x)| *y = h.prox(*x, mu));
            if !is_zero(self.y.data()) || self.rho > LARGEST * self.lipschitz {
                return;
            }
            self.rho *= self.growth;
        }
    }

    /// One step in X, Y and ρ. Cost of a gradient and a polar factor.
    pub fn step<F: Quadratic, H: Nonsmooth>(&mut self, p: Objective<'_, F, H>) -> Outcome<F::Image> {
        let at = p.at(self.x.clone());
        let mut target = p.gradient(&at, &(0..self.x.nrows()).collect::<Vec<_>>());
        let parts = self.x.data().iter().zip(self.y.data());
        target
            .data_mut()
            .iter_mut()
            .zip(parts)
            .for_each(|(g, (x, y))| *g = self.rho * y - *g + self.shift * x);
        let Some(x) = polar(&target) else { return Outcome::Lost };
        self.x = x;
        self.rho *= self.growth;
        self.copy(p.h);
        self.steps += 1;
        let over = self.rho > LARGEST * self.lipschitz;
        if (over || self.steps.is_multiple_of(EVERY))
            && let Some(point) = self.restored(p)
        {
            return Outcome::Met(Box::new(point));
        }
        if over { Outcome::Lost } else { Outcome::Going }
    }

    /// A copy of X with more entries than Y, restored. Y itself overlaps too little for that when r
    /// is large; what is too much goes in the first revision.
    fn restored<F: Quadratic, H: Nonsmooth>(&self, p: Objective<'_, F, H>) -> Option<Point<F::Image>> {
        let mut x = self.x.clone();
        let mu = 1.0 / (GENEROUS * self.rho);
        x.data_mut().iter_mut().for_each(|v| *v = p.h.prox(*v, mu));
        if stiefel::feasibility(&x) > NEARLY {
            return None;
        }
        let pattern = Pattern::of(&x);
        let diagonal = pattern.diagonal(&x);
        (pattern.restore(&mut x, &diagonal, LOOSE) <= LOOSE).then(|| p.at(x))
    }
}
