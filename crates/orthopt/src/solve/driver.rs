//! The loop.

use std::ops::ControlFlow;
use std::time::Instant;

use super::{
    Event, MaxIterations, Observer, Progress, Settings, Solution, Status, Stop, StopReason, Trace, TracePoint,
};
use crate::constraint::stiefel;
use crate::error::Result;
use crate::linalg::RowMat;
use crate::nonsmooth::Nonsmooth;
use crate::problem::{Problem, count_nonzeros};
use crate::smooth::Smooth;

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

/// What one call of [`Solver::step`] did.
#[derive(Clone, Copy, Debug)]
pub struct StepInfo {
    /// Iterations made, at most the budget.
    pub iterations: u64,
    /// F after the step.
    pub objective: f64,
    /// The pass that ended in this step. A step ends where a pass ends.
    pub pass: Option<Pass>,
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

    /// Makes at most `budget` ≥ 1 iterations. The sequence of iterates must not depend on how
    /// it is cut into steps.
    fn step(&self, problem: &P, state: &mut Self::State, budget: u64) -> StepInfo;

    /// The current feasible X.
    fn iterate<'a>(&self, state: &'a Self::State) -> &'a RowMat;

    /// The final X, cleaned of rounding drift.
    fn finish(&self, problem: &P, state: Self::State) -> RowMat;

    /// Settings and counters for the report.
    fn settings(&self, problem: &P, state: &Self::State) -> Settings;
}

/// Options of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOptions {
    /// Never make more iterations than this.
    pub max_iterations: Option<u64>,
    /// Reported with the solution; the solver has its own copy.
    pub seed: u64,
    /// Further starts after the first has ended by itself; the best point counts.
    pub restarts: u64,
    /// Further starts beyond `restarts` until this many iterations have been made in all: small
    /// problems get many starts, large ones none, and no clock decides.
    pub effort: u64,
}

/// Starts without a better point after which no further start is made.
const PATIENCE: u64 = 100;

/// Runs `solver` from X⁰ until `stop` says so or an observer breaks.
///
/// # Errors
/// Whatever [`Solver::init`] finds wrong. What happens later is a [`Status`].
pub fn run<F: Smooth, H: Nonsmooth, S: Solver<Problem<F, H>> + Clone>(
    problem: &Problem<F, H>,
    solver: &S,
    x0: RowMat,
    options: RunOptions,
    stop: &mut dyn Stop,
    observers: &mut [&mut dyn Observer],
) -> Result<Solution> {
    run_restarts(problem, |_| Ok((solver.clone(), x0.clone())), options, stop, observers)
}

/// Runs from several starts under one clock, one iteration count and one trace (of the best F
/// so far), and returns the best point. `start(k)` gives the solver and X⁰ of start k = 0, 1,
/// ..., `options.restarts`; a further start is made only when the one before ended by itself
/// (converged or stalled), and not after a hundred that found nothing better. The number of
/// starts and the best of them are among the settings of the solution.
///
/// # Errors
/// Whatever `start(0)` or its [`Solver::init`] finds wrong; a later start that fails ends the run.
pub fn run_restarts<F: Smooth, H: Nonsmooth, S: Solver<Problem<F, H>>>(
    problem: &Problem<F, H>,
    mut start: impl FnMut(u64) -> Result<(S, RowMat)>,
    options: RunOptions,
    stop: &mut dyn Stop,
    observers: &mut [&mut dyn Observer],
) -> Result<Solution> {
    let clock = Instant::now();
    let mut session =
        Session { problem, options, trace: Trace::default(), iteration: 0, clock, best: f64::INFINITY };
    let (solver, x0) = start(0)?;
    let mut best = session.run_once(&solver, x0, stop, observers)?;
    let (mut runs, mut winner) = (1, 0);
    let mut last = best.reason.status;
    while (runs <= options.restarts || session.iteration < options.effort)
        && runs - winner <= PATIENCE
        && matches!(last, Status::Converged | Status::Stalled)
    {
        let Ok((solver, x0)) = start(runs) else { break };
        let outcome = session.run_once(&solver, x0, stop, observers)?;
        last = outcome.reason.status;
        if outcome.objective < best.objective {
            (best, winner) = (outcome, runs);
        }
        runs += 1;
    }
    if runs > 1 {
        best.reason.message = format!("{} (the best of {runs} starts)", best.reason.message);
    }
    // An interrupted run is reported as such even where an earlier start was the best.
    if last == Status::Interrupted {
        best.reason.status = last;
    }
    best.settings.insert("starts".into(), runs.into());
    best.settings.insert("best_start".into(), winner.into());
    Ok(session.solution(best))
}

/// How one start ended.
struct Outcome {
    x: RowMat,
    objective: f64, // F with exact zeros
    reason: StopReason,
    settings: Settings,
    solver: &'static str,
}

/// What is shared by all starts of a run.
struct Session<'a, F, H> {
    problem: &'a Problem<F, H>,
    options: RunOptions,
    trace: Trace,
    iteration: u64,
    clock: Instant,
    best: f64, // lowest F recorded
}

impl<F: Smooth, H: Nonsmooth> Session<'_, F, H> {
    fn run_once<S: Solver<Problem<F, H>>>(
        &mut self,
        solver: &S,
        x0: RowMat,
        stop: &mut dyn Stop,
        observers: &mut [&mut dyn Observer],
    ) -> Result<Outcome> {
        let span = tracing::info_span!("run", solver = solver.name(), n = x0.nrows(), r = x0.ncols());
        let _guard = span.enter();
        let fallback = x0.clone();
        let mut state = solver.init(self.problem, x0)?;
        let mut pace = Pace::default();
        let mut reason = self.begin(solver.iterate(&state), observers);
        while reason.is_none() {
            let budget = pace.budget(self.seconds()).min(self.iterations_left());
            let before = self.seconds();
            let info = solver.step(self.problem, &mut state, budget);
            self.iteration += info.iterations;
            let p = self.progress(info.objective, info.pass);
            pace.adapt(info.iterations, p.seconds - before);
            reason = if info.objective.is_finite() {
                let broke = self.show(&p, solver.iterate(&state), observers);
                let limit = MaxIterations(self.options.max_iterations).check(&p);
                stop.check(&p).or(limit).or_else(|| broke.then(interrupted))
            } else {
                Some(numerical_error())
            };
        }
        let settings = solver.settings(self.problem, &state);
        let mut x = solver.finish(self.problem, state);
        if x.find_non_finite().is_some() {
            x = fallback; // never hand out a broken X
        }
        let objective = self.problem.f.value(&x) + self.problem.h.value(x.data());
        let p = self.progress(objective, None);
        self.record(&p, &x, observers);
        let reason = reason.unwrap_or_else(interrupted);
        tracing::info!(status = reason.status.name(), iterations = self.iteration, objective, "ended");
        Ok(Outcome { x, objective, reason, settings, solver: solver.name() })
    }

    fn seconds(&self) -> f64 {
        self.clock.elapsed().as_secs_f64()
    }

    fn iterations_left(&self) -> u64 {
        self.options.max_iterations.map_or(u64::MAX, |m| m.saturating_sub(self.iteration)).max(1)
    }

    fn progress(&self, objective: f64, pass: Option<Pass>) -> Progress {
        Progress { iteration: self.iteration, seconds: self.seconds(), objective, pass }
    }

    /// Records X⁰; a starting point where F is not finite ends the run.
    fn begin(&mut self, x: &RowMat, observers: &mut [&mut dyn Observer]) -> Option<StopReason> {
        let objective = self.problem.f.value(x) + self.problem.h.value(x.data());
        let p = self.progress(objective, None);
        self.record(&p, x, observers);
        (!objective.is_finite()).then(numerical_error)
    }

    fn show(&mut self, p: &Progress, x: &RowMat, observers: &mut [&mut dyn Observer]) -> bool {
        let mut broke = false;
        for o in observers.iter_mut() {
            broke |= o.observe(Event::Step(p)) == ControlFlow::Break(());
        }
        if self.trace.is_due(p.seconds) {
            self.record(p, x, observers);
        }
        broke
    }

    /// Adds a point to the trace, unless an earlier start has been lower already or the value
    /// differs from the last one by rounding only (the tracked F and F evaluated afresh).
    fn record(&mut self, p: &Progress, x: &RowMat, observers: &mut [&mut dyn Observer]) {
        let rounding = 1e-10 * (1.0 + p.objective.abs());
        if p.objective > self.best + rounding {
            return;
        }
        self.best = self.best.min(p.objective);
        let point = TracePoint {
            seconds: p.seconds,
            iteration: p.iteration,
            objective: self.best,
            feasibility: stiefel::feasibility(x),
            nnz: count_nonzeros(x),
        };
        self.trace.push(point);
        for o in observers.iter_mut() {
            // control flow is taken from the step events
            let _ = o.observe(Event::Trace(&point, x));
        }
    }

    fn solution(self, best: Outcome) -> Solution {
        let (problem, x) = (self.problem, best.x);
        Solution {
            objective: problem.objective(&x),
            feasibility: problem.feasibility(&x),
            nonneg_violation: problem.nonneg_violation(&x),
            nnz: count_nonzeros(&x),
            x,
            status: best.reason.status,
            message: best.reason.message,
            iterations: self.iteration,
            seconds: self.clock.elapsed().as_secs_f64(),
            trace: self.trace,
            seed: self.options.seed,
            solver: best.solver.into(),
            settings: best.settings,
        }
    }
}

fn interrupted() -> StopReason {
    StopReason { status: Status::Interrupted, message: "interrupted; this is the best point so far".into() }
}

fn numerical_error() -> StopReason {
    StopReason {
        status: Status::NumericalError,
        message: "F became NaN or infinite: look at the scale of the data".into(),
    }
}

/// Sizes steps: about 1 % of the time so far, between 0.2 and 20 ms, so that the trace is fine
/// at the start, and limits and Ctrl-C are prompt later.
#[derive(Default)]
struct Pace {
    rate: f64, // iterations per second, smoothed
}

impl Pace {
    fn budget(&self, seconds: f64) -> u64 {
        ((self.rate * (0.01 * seconds).clamp(2e-4, 2e-2)) as u64).max(1)
    }

    fn adapt(&mut self, iterations: u64, seconds: f64) {
        let rate = iterations as f64 / seconds.max(1e-7);
        self.rate = if self.rate == 0.0 { rate.min(1e5) } else { 0.5 * (self.rate + rate) };
    }
}
