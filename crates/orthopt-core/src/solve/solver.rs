//! Interface of an algorithm: a state and a step.

use std::borrow::Borrow;

use super::{Confirmed, Ending, Pass, Stagnation, Status};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::Result;

/// Report of one iteration.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step {
    /// The pass that ended with it.
    pub pass: Option<Pass>,
    /// The measure of stationarity, where the method examines it now and then only.
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

    /// This report with a measure of stationarity, if the method has examined it.
    pub fn with_residual(self, residual: Option<f64>) -> Self {
        Self { residual, ..self }
    }

    /// True if the loop reads this report before the next iteration.
    fn has_report(&self) -> bool {
        self.pass.is_some() || self.residual.is_some() || self.ended.is_some()
    }
}

/// Point of a solver between two iterations.
#[derive(Clone, Copy)]
pub struct Current<'a> {
    x: &'a dyn Borrow<RowMat>,
    /// F there.
    pub objective: f64,
    /// The solver's own measure of stationarity, relative so that 1e-6 is small, where it can be had at any time;
    /// methods whose certificate is a pass give none.
    pub residual: Option<f64>,
}

impl<'a> Current<'a> {
    /// X and F there. X may be anything that has it, such as a state that computes it when it is asked for.
    pub fn new(x: &'a dyn Borrow<RowMat>, objective: f64) -> Self {
        Self { x, objective, residual: None }
    }

    /// This point with a measure of stationarity.
    pub fn with_residual(self, residual: Option<f64>) -> Self {
        Self { residual, ..self }
    }

    /// The feasible X.
    pub fn x(&self) -> &'a RowMat {
        self.x.borrow()
    }
}

/// Properties of a method that the driver of a run depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Behaviour {
    /// Rule by which a run ends as stalled where F no longer falls (by 1e-5 of its scale plus |F| in three quarters of
    /// its iterations). Never if iterations are pairs of rows, which end by passes over everything, or if F of feasible
    /// points says little before the end.
    pub stagnation: Stagnation,
    /// Time of [`Solver::finish`], in units of the longest iteration, for which a time limit leaves room.
    pub closing_steps: f64,
    /// True if X is the best on its supports after every step, and what follows depends on the supports alone: a run that comes to the
    /// supports and the F of one that has ended finds what that one found.
    pub goes_by_supports: bool,
}

impl Behaviour {
    /// One that ends at this stagnation of F, without closing steps.
    pub fn fading(stagnation: Stagnation) -> Self {
        Self { stagnation, closing_steps: 0.0, goes_by_supports: false }
    }
}

impl Default for Behaviour {
    fn default() -> Self {
        Self::fading(Stagnation::Iterations)
    }
}

/// An algorithm: no clock, no printing, no stopping inside.
pub trait Solver<P> {
    /// Everything that changes.
    type State;

    /// Its name in the registry.
    fn name(&self) -> &'static str;

    /// Properties of the method on `problem`.
    fn behaviour(&self, _problem: &P) -> Behaviour {
        Behaviour::default()
    }

    /// The complete state at X⁰.
    ///
    /// # Errors
    /// Settings that do not fit the problem.
    fn init(&self, problem: &P, x0: RowMat) -> Result<Self::State>;

    /// One iteration.
    fn step(&self, problem: &P, state: &mut Self::State) -> Step;

    /// X, F and the measure of stationarity now.
    fn current<'a>(&self, problem: &P, state: &'a Self::State) -> Current<'a>;

    /// Criticality of the X that would be returned now, computed anew; it is requested before a run is called
    /// converged. `None` if [`Current::residual`] is such a measure itself, or if a pass over all pairs is the
    /// certificate.
    fn confirmed(&self, _problem: &P, _state: &Self::State) -> Option<Confirmed> {
        None
    }

    /// The final X, cleaned of rounding drift, and what there is to say.
    fn finish(&self, problem: &P, state: Self::State) -> Ending;
}

/// At most `budget` ≥ 1 iterations, fewer where one of them has something to say: how many, and what the last one says. The
/// sequence of points does not depend on how it is cut into steps.
pub fn advance<P, S: Solver<P>>(solver: &S, problem: &P, state: &mut S::State, budget: u64) -> (u64, Step) {
    let mut last = solver.step(problem, state);
    let mut iterations = 1;
    while iterations < budget && !last.has_report() {
        last = solver.step(problem, state);
        iterations += 1;
    }
    (iterations, last)
}
