//! What an algorithm is.

use super::{Confirmed, Ending, Fades, Raw, Settings, Status};
use crate::error::Result;
use crate::linalg::RowMat;

/// A finished pass of a solver over its working sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// Pairs tried in it.
    pub pairs: u64,
    /// Decrease of F over the whole pass.
    pub decrease: f64,
    /// Largest decrease that one pair made or offered.
    pub max_decrease: f64,
    /// Whether every pair that can move was tried (a random sample does not tell).
    pub covers_all: bool,
}

/// What one iteration has to say; mostly nothing.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Step {
    /// The pass that ended with it.
    pub pass: Option<Pass>,
    /// The measure of stationarity, where the method looks at it now and then only.
    pub residual: Option<f64>,
    /// The solver has nothing more to do: how it ended and why.
    pub ended: Option<(Status, &'static str)>,
}

impl Step {
    /// An iteration that may have ended a pass.
    pub fn passed(pass: Option<Pass>) -> Self {
        Self { pass, ..Self::default() }
    }

    /// An iteration after which there may be nothing more to do.
    pub fn ended(ended: Option<(Status, &'static str)>) -> Self {
        Self { ended, ..Self::default() }
    }

    /// The same with a measure of stationarity, where the method has looked at it.
    pub fn with_residual(self, residual: Option<f64>) -> Self {
        Self { residual, ..self }
    }

    /// Whether the driver should hear of it before the next iteration.
    fn speaks(&self) -> bool {
        self.pass.is_some() || self.residual.is_some() || self.ended.is_some()
    }
}

/// What one call of [`Solver::step`] did.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct StepInfo {
    /// Iterations made, at most the budget.
    pub iterations: u64,
    /// F after the step.
    pub objective: f64,
    /// The pass that ended in this step. A step ends where a pass ends.
    pub pass: Option<Pass>,
    /// The solver's own measure of stationarity, relative so that 1e-6 is small; methods whose
    /// certificate is a pass give none.
    pub residual: Option<f64>,
    /// The solver has nothing more to do: how it ended and why. The step ends there.
    pub ended: Option<(Status, &'static str)>,
}

/// An algorithm: no clock, no printing, no stopping inside.
pub trait Solver<P> {
    /// Everything that changes.
    type State;

    /// Its name in the registry.
    fn name(&self) -> &'static str;

    /// The complete state at X⁰.
    ///
    /// # Errors
    /// Settings that do not fit the problem.
    fn init(&self, problem: &P, x0: RowMat) -> Result<Self::State>;

    /// One iteration.
    fn one_iteration(&self, problem: &P, state: &mut Self::State) -> Step;

    /// Makes at most `budget` ≥ 1 iterations, fewer where one of them has something to say. The
    /// sequence of points does not depend on how it is cut into steps.
    fn step(&self, problem: &P, state: &mut Self::State, budget: u64) -> StepInfo {
        let mut last = self.one_iteration(problem, state);
        let mut iterations = 1;
        while iterations < budget && !last.speaks() {
            last = self.one_iteration(problem, state);
            iterations += 1;
        }
        StepInfo {
            iterations,
            objective: self.objective(problem, state),
            pass: last.pass,
            residual: last.residual.or_else(|| self.residual(problem, state)),
            ended: last.ended,
        }
    }

    /// Whether a run ends as stalled where F no longer falls (by 1e-5 of its scale plus |F| in three quarters of its iterations). Not where iterations are
    /// pairs of rows, which end by passes over everything, nor where F of feasible points says little before the end.
    fn fades(&self, _problem: &P) -> Fades {
        Fades::Iterations
    }

    /// What [`Solver::finish`] takes, in the longest of its iterations: a time limit has to leave room for it.
    fn closing_steps(&self) -> f64 {
        0.0
    }

    /// F of [`Solver::point`], looked at where a step ends.
    fn objective(&self, problem: &P, state: &Self::State) -> f64;

    /// The solver's own measure of stationarity, relative so that 1e-6 is small, where it can be had
    /// at any time; looked at where a step ends.
    fn residual(&self, _problem: &P, _state: &Self::State) -> Option<f64> {
        None
    }

    /// How critical the X is that would be returned now, computed anew: asked before a run is called
    /// converged. `None` where [`Solver::residual`] is such a measure itself, or a pass over all pairs is the
    /// certificate.
    fn confirmed(&self, _problem: &P, _state: &Self::State) -> Option<Confirmed> {
        None
    }

    /// The current feasible X.
    fn point<'a>(&self, state: &'a Self::State) -> &'a RowMat;

    /// The final X, cleaned of rounding drift.
    fn finish(&self, problem: &P, state: Self::State) -> RowMat;

    /// The constants of the registry that the data decided or a bound moved, with the values in force.
    fn chosen(&self, _problem: &P, _state: &Self::State) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// Settings and counters for display.
    fn settings(&self, problem: &P, state: &Self::State) -> Settings;

    /// The method's natural iterate where that is not feasible: what the papers report.
    fn raw(&self, _problem: &P, _state: &Self::State) -> Option<Raw> {
        None
    }

    /// Everything there is at the end.
    fn ending(&self, problem: &P, state: Self::State) -> Ending {
        Ending {
            settings: self.settings(problem, &state),
            constants: self.chosen(problem, &state),
            raw: self.raw(problem, &state),
            splitting: None,
            x: self.finish(problem, state),
        }
    }
}
