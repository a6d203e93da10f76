//! The rivals of JOBCD in its paper, corrected (docs/mathematics.md, section 9): ADMM, UMCM and CSDM.
//!
//! ADMM and UMCM leave the group. What they show is the best J-orthogonal X met so far: every few
//! iterations the generalised polar factor of the iterate is taken, which is a nearby point of the
//! group if there is one. The iterate itself is reported as [`Raw`].

mod adagrad;
mod admm;
mod csdm;
mod umcm;

pub use admm::{INFO as J_ADMM, admm_update};
pub use csdm::{INFO as CSDM, cs_gradient};
pub use umcm::{INFO as UMCM, merit};

use crate::jobcd::relative_stationarity;
use orthopt_core::constraint::JOrthogonal;
use orthopt_core::constraint::j_orthogonal::{self, polar, repair};
use orthopt_core::solve::Raw;
use orthopt_solvers::prelude::*;

/// Iterations between two checks of the group.
const LOOK: u64 = 10;

/// True if methods that leave the group search for a point of it after so many iterations: the first too, since a
/// run with a time limit has to know what that takes.
fn is_looked_at(iterations: u64) -> bool {
    iterations == 1 || iterations.is_multiple_of(LOOK)
}

/// Why a method that diverged stops.
const DIVERGED: &str = "the iterates diverged: try a larger penalty or a smaller learning rate";

/// The best J-orthogonal X so far.
#[derive(Clone, Debug)]
struct Shown {
    x: RowMat,
    f: f64,
    residual: f64, // its stationarity, relative to the largest |W| seen
    scale: f64,    // that |W|
    misses: u64,   // iterates without a point of the group nearby
}

impl Shown {
    fn new<F: Smooth>(p: &Problem<JOrthogonal, F>, x: RowMat) -> Self {
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        let f = p.f.value_and_gradient(&x, &mut g);
        let mut scale = 0.0;
        let residual = relative_stationarity(p, &x, &g, &mut scale);
        Self { x, f, residual, scale, misses: 0 }
    }

    /// Takes the point of the group near `iterate` if it is better, and gives the stationarity of
    /// the best one.
    fn offer<F: Smooth>(&mut self, p: &Problem<JOrthogonal, F>, iterate: &RowMat) -> f64 {
        let mut near = iterate.clone();
        let found = match repair(&mut near, p.signature()) {
            Some(_) => Some(near),
            None => polar(iterate, p.signature()),
        };
        let Some(x) = found.filter(|x| j_orthogonal::feasibility(x, p.signature()) <= 1e-9) else {
            self.misses += 1;
            return self.residual;
        };
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        let f = p.f.value_and_gradient(&x, &mut g);
        if f < self.f {
            self.residual = relative_stationarity(p, &x, &g, &mut self.scale);
            (self.x, self.f) = (x, f);
        }
        self.residual
    }
}

/// An iterate off the group, with the penalty that draws it there and the best point of the group so far.
#[derive(Clone, Debug)]
struct OffGroup {
    x: RowMat, // Xᵗ
    beta: f64, // β
    beta0: f64,
    iterations: u64,
    shown: Shown,
}

impl OffGroup {
    fn new<F: Smooth>(p: &Problem<JOrthogonal, F>, x0: RowMat, beta: f64) -> Self {
        let shown = Shown::new(p, x0.clone());
        Self { x: x0, beta, beta0: beta, iterations: 0, shown }
    }

    /// Takes X⁺; β doubles every `double` iterations up to `most` times its start. The stationarity of the best point where it is
    /// looked for.
    fn take<F: Smooth>(
        &mut self,
        p: &Problem<JOrthogonal, F>,
        x: RowMat,
        (double, most): (u64, f64),
    ) -> Option<f64> {
        self.x = x;
        self.iterations += 1;
        if double > 0 && self.iterations.is_multiple_of(double) && self.beta <= most * self.beta0 {
            self.beta *= 2.0;
        }
        is_looked_at(self.iterations).then(|| self.shown.offer(p, &self.x))
    }

    fn finish<F: Smooth>(mut self, p: &Problem<JOrthogonal, F>, mut details: Details) -> Ending {
        details.set("misses", self.shown.misses);
        let raw = Some(raw(p, &self.x));
        if self.iterations > 0 && !is_looked_at(self.iterations) {
            self.shown.offer(p, &self.x);
        }
        Ending::new(self.shown.x, details).with_raw(raw)
    }
}

/// L_f, or an estimate from ∇f(X⁰).
fn curvature<F: Smooth>(p: &Problem<JOrthogonal, F>, x0: &RowMat) -> f64 {
    let estimate = || (p.gradient(x0).norm() / x0.norm().max(1.0)).max(f64::MIN_POSITIVE);
    p.f.lipschitz().filter(|l| *l > 0.0).unwrap_or_else(estimate)
}

/// Profile of a method for which a point of the group takes much longer than the rest of an iteration.
fn profile<F: Smooth>(p: &Problem<JOrthogonal, F>) -> Behaviour {
    let stagnation = if p.f.is_quadratic() { Stagnation::Iterations } else { Stagnation::Work };
    Behaviour { closing_steps: 1.0, ..Behaviour::fading(stagnation) }
}

/// Values to report of an iterate off the group.
fn raw<F: Smooth>(p: &Problem<JOrthogonal, F>, x: &RowMat) -> Raw {
    Raw {
        objective: p.f.value(x),
        feasibility: p.feasibility(x),
        nnz: orthopt_core::objective::count_nonzeros(x),
    }
}

/// Largest |entry|, infinite where one is not a number.
fn size(x: &RowMat) -> f64 {
    x.data().iter().fold(0.0f64, |m, v| if v.is_finite() { m.max(v.abs()) } else { f64::INFINITY })
}

/// Status and message of a run whose iterate has entries of this `size`, if that is too large. If f may be unbounded,
/// it is too large above `limit`.
fn lost<F: Smooth>(p: &Problem<JOrthogonal, F>, size: f64, limit: f64) -> Option<(Status, &'static str)> {
    match p.is_bounded() {
        false if size > limit => Some(super::jobcd::beyond_limit(&p.f)),
        true if size > 1e12 => Some((Status::Stalled, DIVERGED)),
        _ => None,
    }
}
