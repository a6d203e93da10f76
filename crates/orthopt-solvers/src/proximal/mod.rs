//! Code shared by the full-gradient methods for f(X) + h(X), XᵀX = I: a point with its gradient, the proximal
//! subproblem on the tangent space, a descent step with retraction, the feasible copy of an infeasible iterate.

mod copies;
mod descent;
mod feasible;
mod tangent;

pub(crate) use copies::Copies;
pub(crate) use descent::{Descent, Searched};
pub(crate) use feasible::Feasible;
pub use tangent::{Inner, TangentProx};

use crate::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use orthopt_core::smooth::estimate_lipschitz;
use orthopt_linalg::kernels::squared_distance;
use orthopt_linalg::simd::dispatch;

/// X with f(X), h(X) and ∇f(X).
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) x: RowMat,    // X
    pub(crate) grad: RowMat, // ∇f(X)
    pub(crate) f: f64,       // f(X)
    pub(crate) h: f64,       // h(X)
}

impl Point {
    pub(crate) fn new<F: Smooth, H: Nonsmooth>(p: &Problem<Stiefel, F, H>, x: RowMat) -> Self {
        let grad = RowMat::zeros(x.nrows(), x.ncols());
        let mut point = Self { x, grad, f: 0.0, h: 0.0 };
        point.evaluate(p);
        point
    }

    /// Brings f, h and ∇f up to date with X. Cost of a gradient.
    pub(crate) fn evaluate<F: Smooth, H: Nonsmooth>(&mut self, p: &Problem<Stiefel, F, H>) {
        self.f = p.f.value_and_gradient(&self.x, &mut self.grad);
        self.h = p.h.of(&self.x);
    }

    /// F(X).
    pub(crate) fn objective(&self) -> f64 {
        self.f + self.h
    }

    /// Rounding errors of F(X), generously.
    pub(crate) fn rounding(&self) -> f64 {
        1e-14 * (self.f.abs() + self.h.abs())
    }
}

/// L, the Lipschitz constant of ∇f, or ‖∇f‖ where ∇f is constant: step lengths are in units of 1/L. 1 where ∇f = 0.
/// If f does not know L, it is estimated from gradients near X⁰.
pub(crate) fn curvature<F: Smooth>(f: &F, x0: &RowMat) -> f64 {
    let l = f.lipschitz().unwrap_or_else(|| estimated_curvature(f, x0));
    if l > 0.0 && l.is_finite() {
        return l;
    }
    let mut g = RowMat::zeros(x0.nrows(), x0.ncols());
    f.gradient(x0, &mut g);
    let size = g.norm();
    if size > 0.0 && size.is_finite() { size } else { 1.0 }
}

/// L as estimated at X⁰.
pub(crate) fn estimated_curvature<F: Smooth>(f: &F, x0: &RowMat) -> f64 {
    let direction = stiefel::random(x0.nrows(), x0.ncols(), &mut Pcg64::seed_from_u64(0x4c));
    estimate_lipschitz(f, x0, &direction)
}

/// X⁰ as the methods need it: checked, and feasible to rounding.
pub(crate) fn feasible_start<F: Smooth, H: Nonsmooth>(
    p: &Problem<Stiefel, F, H>,
    mut x0: RowMat,
) -> Result<RowMat> {
    stiefel::check(&x0, p.nrows(), p.rank(), "the starting point X")?;
    let error = stiefel::repair_on_support(&mut x0);
    if error > 1e-12 {
        let what = "the starting point X".into();
        return Err(Error::NotOrthonormal { what, error, tolerance: 1e-12 });
    }
    Ok(x0)
}

/// A stationarity measure relative to the size of the gradients met, so that it depends neither
/// on the scale of the data nor on a gradient that vanishes at the solution.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Relative {
    largest: f64, // max ‖∇f(X)‖_F so far
}

impl Relative {
    pub(crate) fn meet(&mut self, gradient: &RowMat) {
        self.largest = self.largest.max(gradient.norm());
    }

    pub(crate) fn to(self, value: f64) -> f64 {
        if self.largest > 0.0 { value / self.largest } else { value }
    }
}

/// Iterations without any progress after which a method has stalled.
const PATIENCE: u64 = 2000;
/// Relative stationarity that rounding allows.
const EXACT: f64 = 1e-14;

/// Sees when a method has ended by itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progressing {
    objective: f64, // lowest F
    residual: f64,  // residual at the last progress
    idle: u64,      // iterations since then
}

impl Default for Progressing {
    fn default() -> Self {
        Self { objective: f64::INFINITY, residual: f64::INFINITY, idle: 0 }
    }
}

impl Progressing {
    /// The problem that is being solved has changed (a penalty parameter has grown).
    pub(crate) fn restart(&mut self) {
        (self.residual, self.idle) = (f64::INFINITY, 0);
    }

    /// Notes an iteration; says how the method has ended, if it has.
    pub(crate) fn note(&mut self, objective: f64, residual: f64) -> Option<(Status, &'static str)> {
        if residual <= EXACT {
            return Some((Status::Converged, "critical up to rounding: the step to take is zero"));
        }
        let lower = objective < self.objective - 1e-13 * objective.abs();
        if lower || residual < 0.9 * self.residual {
            self.idle = 0;
            self.residual = residual;
            self.objective = self.objective.min(objective);
            return None;
        }
        self.idle += 1;
        (self.idle >= PATIENCE).then_some((
            Status::Stalled,
            "neither F nor the stationarity measure has fallen in 2000 iterations",
        ))
    }
}

/// out ← a − b.
pub(crate) fn difference(out: &mut RowMat, a: &RowMat, b: &RowMat) {
    let out = out.data_mut();
    dispatch(|| {
        for ((o, x), y) in out.iter_mut().zip(a.data()).zip(b.data()) {
            *o = x - y;
        }
    });
}

/// out ← a + c·b.
pub(crate) fn combine(out: &mut RowMat, a: &RowMat, c: f64, b: &RowMat) {
    let out = out.data_mut();
    dispatch(|| {
        for ((o, x), y) in out.iter_mut().zip(a.data()).zip(b.data()) {
            *o = x + c * y;
        }
    });
}

/// ‖a − b‖_F.
pub(crate) fn distance(a: &RowMat, b: &RowMat) -> f64 {
    dispatch(|| squared_distance(a.data(), b.data()).sqrt())
}
