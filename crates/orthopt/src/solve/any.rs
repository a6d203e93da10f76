//! Solvers chosen at run time: one type for all of them.

use super::{Confirmed, Ending, Fades, Raw, Settings, Solver, Step, StepInfo};
use crate::error::Result;
use crate::linalg::RowMat;

/// A solver whose type is not known before the program runs. It is itself a [`Solver`].
pub type AnySolver<P> = Box<dyn ErasedSolver<P>>;

/// [`Solver`] without its state in the type; made for every solver below.
pub trait ErasedSolver<P>: Send + Sync {
    /// See [`Solver::name`].
    fn erased_name(&self) -> &'static str;

    /// See [`Solver::fades`].
    fn erased_fades(&self, problem: &P) -> Fades;

    /// See [`Solver::closing_steps`].
    fn erased_closing_steps(&self) -> f64;

    /// See [`Solver::init`].
    ///
    /// # Errors
    /// Those of [`Solver::init`].
    fn start(&self, problem: &P, x0: RowMat) -> Result<Box<dyn Running<P>>>;

    /// The same solver once more.
    fn boxed_clone(&self) -> AnySolver<P>;
}

/// A solver with its state.
pub trait Running<P>: Send {
    /// See [`Solver::one_iteration`].
    fn one_iteration(&mut self, problem: &P) -> Step;
    /// See [`Solver::step`]; one call of an unknown function for all iterations of a step.
    fn step(&mut self, problem: &P, budget: u64) -> StepInfo;
    /// See [`Solver::objective`].
    fn objective(&self, problem: &P) -> f64;
    /// See [`Solver::residual`].
    fn residual(&self, problem: &P) -> Option<f64>;
    /// See [`Solver::confirmed`].
    fn confirmed(&self, problem: &P) -> Option<Confirmed>;
    /// See [`Solver::point`].
    fn point(&self) -> &RowMat;
    /// See [`Solver::finish`].
    fn finish(self: Box<Self>, problem: &P) -> RowMat;
    /// See [`Solver::ending`].
    fn ending(self: Box<Self>, problem: &P) -> Ending;
    /// See [`Solver::chosen`].
    fn chosen(&self, problem: &P) -> Vec<(&'static str, f64)>;
    /// See [`Solver::settings`].
    fn settings(&self, problem: &P) -> Settings;
    /// See [`Solver::raw`].
    fn raw(&self, problem: &P) -> Option<Raw>;
}

struct Run<S, T> {
    solver: S,
    state: T,
}

impl<P, S: Solver<P>> Running<P> for Run<S, S::State>
where
    S: Send,
    S::State: Send,
{
    fn one_iteration(&mut self, problem: &P) -> Step {
        self.solver.one_iteration(problem, &mut self.state)
    }

    fn step(&mut self, problem: &P, budget: u64) -> StepInfo {
        self.solver.step(problem, &mut self.state, budget)
    }

    fn objective(&self, problem: &P) -> f64 {
        self.solver.objective(problem, &self.state)
    }

    fn residual(&self, problem: &P) -> Option<f64> {
        self.solver.residual(problem, &self.state)
    }

    fn confirmed(&self, problem: &P) -> Option<Confirmed> {
        self.solver.confirmed(problem, &self.state)
    }

    fn point(&self) -> &RowMat {
        self.solver.point(&self.state)
    }

    fn finish(self: Box<Self>, problem: &P) -> RowMat {
        self.solver.finish(problem, self.state)
    }

    fn ending(self: Box<Self>, problem: &P) -> Ending {
        self.solver.ending(problem, self.state)
    }

    fn chosen(&self, problem: &P) -> Vec<(&'static str, f64)> {
        self.solver.chosen(problem, &self.state)
    }

    fn settings(&self, problem: &P) -> Settings {
        self.solver.settings(problem, &self.state)
    }

    fn raw(&self, problem: &P) -> Option<Raw> {
        self.solver.raw(problem, &self.state)
    }
}

impl<P: 'static, S> ErasedSolver<P> for S
where
    S: Solver<P> + Clone + Send + Sync + 'static,
    S::State: Send + 'static,
{
    fn erased_name(&self) -> &'static str {
        self.name()
    }

    fn erased_fades(&self, problem: &P) -> Fades {
        self.fades(problem)
    }

    fn erased_closing_steps(&self) -> f64 {
        self.closing_steps()
    }

    fn start(&self, problem: &P, x0: RowMat) -> Result<Box<dyn Running<P>>> {
        let state = self.init(problem, x0)?;
        Ok(Box::new(Run { solver: self.clone(), state }))
    }

    fn boxed_clone(&self) -> AnySolver<P> {
        Box::new(self.clone())
    }
}

/// A solver under another name: that of the preset it was made by.
struct Preset<P> {
    name: &'static str,
    solver: AnySolver<P>,
}

impl<P: 'static> ErasedSolver<P> for Preset<P> {
    fn erased_name(&self) -> &'static str {
        self.name
    }

    fn erased_fades(&self, problem: &P) -> Fades {
        self.solver.erased_fades(problem)
    }

    fn erased_closing_steps(&self) -> f64 {
        self.solver.erased_closing_steps()
    }

    fn start(&self, problem: &P, x0: RowMat) -> Result<Box<dyn Running<P>>> {
        self.solver.start(problem, x0)
    }

    fn boxed_clone(&self) -> AnySolver<P> {
        named(self.name, self.solver.clone())
    }
}

/// `solver` called `name`.
pub(crate) fn named<P: 'static>(name: &'static str, solver: AnySolver<P>) -> AnySolver<P> {
    if solver.erased_name() == name { solver } else { Box::new(Preset { name, solver }) }
}

impl<P: 'static> Clone for AnySolver<P> {
    fn clone(&self) -> Self {
        (**self).boxed_clone()
    }
}

impl<P: 'static> Solver<P> for AnySolver<P> {
    type State = Box<dyn Running<P>>;

    fn name(&self) -> &'static str {
        (**self).erased_name()
    }

    fn fades(&self, problem: &P) -> Fades {
        (**self).erased_fades(problem)
    }

    fn closing_steps(&self) -> f64 {
        (**self).erased_closing_steps()
    }

    fn init(&self, problem: &P, x0: RowMat) -> Result<Self::State> {
        (**self).start(problem, x0)
    }

    fn one_iteration(&self, problem: &P, state: &mut Self::State) -> Step {
        (**state).one_iteration(problem)
    }

    fn step(&self, problem: &P, state: &mut Self::State, budget: u64) -> StepInfo {
        (**state).step(problem, budget)
    }

    fn objective(&self, problem: &P, state: &Self::State) -> f64 {
        (**state).objective(problem)
    }

    fn residual(&self, problem: &P, state: &Self::State) -> Option<f64> {
        (**state).residual(problem)
    }

    fn confirmed(&self, problem: &P, state: &Self::State) -> Option<Confirmed> {
        (**state).confirmed(problem)
    }

    fn point<'a>(&self, state: &'a Self::State) -> &'a RowMat {
        (**state).point()
    }

    fn finish(&self, problem: &P, state: Self::State) -> RowMat {
        state.finish(problem)
    }

    fn ending(&self, problem: &P, state: Self::State) -> Ending {
        state.ending(problem)
    }

    fn chosen(&self, problem: &P, state: &Self::State) -> Vec<(&'static str, f64)> {
        (**state).chosen(problem)
    }

    fn settings(&self, problem: &P, state: &Self::State) -> Settings {
        (**state).settings(problem)
    }

    fn raw(&self, problem: &P, state: &Self::State) -> Option<Raw> {
        (**state).raw(problem)
    }
}
