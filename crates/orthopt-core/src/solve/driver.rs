//! Runs as users make them: chains of solvers, from several starts, under one clock and with one trace.

use super::budget::Budget;
use super::confirmed::{of_another, succeeds};
use super::executor::{Executor, Finished, Kept, Monitor, is_lower};
use super::stop::{MOST_WORK, numerical_error, off_the_constraint};
use super::{
    Current, Details, Ending, Event, Observer, Or, Progress, Raw, Settings, Solution, Solver, Stage, Status,
    Stop, StopReason, TimeLimit, Trace, TracePoint,
};
use crate::objective::{Evaluate, Objective, count_nonzeros, is_point};
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::Result;
use orthopt_linalg::message::Message;
use orthopt_linalg::{RowMat, work};

/// Options of a run.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Never make more iterations than this.
    pub max_iterations: Option<u64>,
    /// Reported with the solution; the solver has its own copy.
    pub seed: u64,
    /// Further starts after the first has ended by itself; the best point counts.
    pub restarts: u64,
    /// Further starts beyond `restarts` until this many iterations or 3·10¹⁰ multiplications have been made in all:
    /// small problems get many starts, large ones none, and no clock decides.
    pub effort: u64,
    /// Seconds that a stage of a chain other than the last may take.
    pub stage_seconds: Option<f64>,
    /// Ends the run; the best X so far is still returned.
    pub cancel: Cancel,
}

/// Solvers that run one after the other, and X⁰ of the first.
#[derive(Clone, Debug)]
pub struct Chain<S> {
    /// The solvers; each one begins where the one before it ended.
    pub stages: Vec<S>,
    /// X⁰.
    pub x0: RowMat,
}

impl<S> Chain<S> {
    /// One solver from X⁰.
    pub fn single(solver: S, x0: RowMat) -> Self {
        Self { stages: vec![solver], x0 }
    }
}

/// Starts without a better point after which no further start is made.
const PATIENCE: u64 = 100;

/// Runs `solver` from X⁰ until `stop` or `options.cancel` says so.
///
/// # Errors
/// Whatever [`Solver::init`] finds wrong. What happens later is a [`Status`].
pub fn run<P: Evaluate, S: Solver<P> + Clone>(
    problem: &P,
    solver: &S,
    x0: RowMat,
    options: RunOptions,
    stop: &mut dyn Stop,
    observers: &mut [&mut dyn Observer],
) -> Result<Solution> {
    let start = |_| Ok(Chain::single(solver.clone(), x0.clone()));
    run_restarts(problem, start, options, stop, observers)
}

/// Runs from several starts under one clock, one iteration count and one trace (of the best F
/// so far), and returns the best point. `start(k)` gives the solvers and X⁰ of start k = 0, 1,
/// ..., `options.restarts`; a further start is made only when the one before ended by itself
/// (converged or stalled), and not after a hundred that found nothing better.
///
/// The best point is always kept: a run whose numbers are no longer finite ends with the best finite X it had. A later
/// start or stage that cannot be made ends the run with the best point so far and a note.
///
/// # Errors
/// Whatever `start(0)` or the [`Solver::init`] of its first stage finds wrong.
pub fn run_restarts<P: Evaluate, S: Solver<P>>(
    problem: &P,
    mut start: impl FnMut(u64) -> Result<Chain<S>>,
    options: RunOptions,
    stop: &mut dyn Stop,
    observers: &mut [&mut dyn Observer],
) -> Result<Solution> {
    let (clock, worked) = (options.cancel.within(stop.time_limit()), work::so_far());
    let (trace, notes) = (Trace::default(), Vec::new());
    let mut start = |k| clock.during(|| start(k));
    let first = start(0)?;
    let scale = problem.scale(&first.x0);
    let best = f64::INFINITY;
    let (restarts, effort) = (options.restarts, options.effort);
    let shared = clock.clone();
    let mut session =
        Session { problem, options, scale, trace, notes, iteration: 0, clock: shared, best, observers };
    let mut best = session.run_chain(first, stop)?;
    let (mut runs, mut winner) = (1, 0);
    let mut last = best.reason.clone();
    let is_small = |iterations| iterations < effort && work::so_far() - worked < MOST_WORK.0;
    while (runs <= restarts || is_small(session.iteration))
        && runs - winner <= PATIENCE
        && matches!(last.status, Status::Converged | Status::Stalled)
    {
        let outcome = match start(runs).and_then(|next| session.run_chain(next, stop)) {
            Ok(outcome) => outcome,
            Err(error) => {
                let what = format!("start {} of the run failed: ", runs + 1);
                session.notes.push(Message::from(what).then(error.message()));
                break;
            }
        };
        last = outcome.reason.clone();
        if outcome.objective < best.objective {
            (best, winner) = (outcome, runs);
        }
        runs += 1;
    }
    // how the run ended, also where an earlier start was the best
    if matches!(last.status, Status::Interrupted | Status::NumericalError) {
        best.reason = last;
    }
    if runs > 1 {
        best.reason.message = format!("{} (the best of {runs} starts)", best.reason.message);
    }
    best.settings.extend([("starts".into(), runs.into()), ("best_start".into(), winner.into())]);
    Ok(Solution { starts: runs, best_start: winner, ..session.solution(best) })
}

/// Result of one start.
struct Outcome {
    x: RowMat,
    objective: f64,   // F
    parts: Objective, // F and its parts
    feasibility: f64, // of X
    reason: StopReason,
    settings: Settings,
    solver: String, // all stages, also those that did not run
    stages: Vec<Stage>,
    raw: Option<Raw>,
}

/// State shared by all starts of a run.
struct Session<'a, 'o, P> {
    problem: &'a P,
    options: RunOptions,
    scale: f64, // of F
    trace: Trace,
    notes: Vec<Message>,
    iteration: u64,
    clock: Cancel,
    best: f64, // lowest F recorded
    observers: &'a mut [&'o mut dyn Observer],
}

impl<P: Evaluate> Session<'_, '_, P> {
    /// The stages of a start, each from the best point of those before it: a later stage that
    /// ends higher is not counted, and one that cannot begin ends the start.
    fn run_chain<S: Solver<P>>(&mut self, start: Chain<S>, stop: &mut dyn Stop) -> Result<Outcome> {
        let last = start.stages.len().saturating_sub(1);
        let names: Vec<_> = start.stages.iter().map(|s| s.name().to_string()).collect();
        let (mut best, mut by): (Option<Outcome>, usize) = (None, 0);
        let (mut settings, mut stages) = (Settings::new(), Vec::new());
        for (k, solver) in start.stages.iter().enumerate() {
            let x0 = best.as_ref().map_or_else(|| start.x0.clone(), |o| o.x.clone());
            let share = self.options.stage_seconds.filter(|_| k < last).map(|s| self.seconds() + s);
            let mut limited = Or::new(&mut *stop, TimeLimit(share));
            let mut outcome = match self.run_once(solver, x0, &mut limited) {
                Err(error) if best.is_some() => {
                    let what = format!("{} after {} failed: ", names[k], names[..k].join("+"));
                    self.notes.push(Message::from(what).then(error.message()));
                    break;
                }
                other => other?,
            };
            if last > 0 {
                let own = std::mem::take(&mut outcome.settings);
                settings.extend(own.into_iter().map(|(name, v)| (format!("{}.{name}", names[k]), v)));
                settings.insert(format!("{}.objective", names[k]), outcome.objective.into());
                settings.insert(format!("{}.status", names[k]), outcome.reason.status.name().into());
            } else {
                settings = std::mem::take(&mut outcome.settings);
            }
            stages.append(&mut outcome.stages);
            let reason = outcome.reason.clone();
            if k < last && reason.status == Status::NumericalError {
                self.notes.push(format!("{}: {}", names[k], reason.message).into());
            }
            let over =
                k < last && reason.status == Status::TimeLimit && share.is_some_and(|s| self.seconds() < s);
            if best.as_ref().is_none_or(|b| succeeds((outcome.objective, reason.status), b.objective)) {
                (best, by) = (Some(outcome), k);
            } else if let Some(b) = &mut best {
                let is_converged = reason.status == Status::Converged;
                b.reason = if is_converged { of_another(reason.clone(), &names[by]) } else { reason.clone() };
            }
            if over || matches!(reason.status, Status::Interrupted | Status::MaxIters) {
                break;
            }
        }
        // An empty list of stages is a solver that does nothing.
        let Some(mut best) = best else {
            return Err(orthopt_linalg::Error::Incompatible("a chain needs at least one solver".into()));
        };
        (best.solver, best.settings, best.stages) = (names.join("+"), settings, stages);
        Ok(best)
    }

    fn run_once<S: Solver<P>>(&mut self, solver: &S, x0: RowMat, stop: &mut dyn Stop) -> Result<Outcome> {
        let span = tracing::info_span!("run", solver = solver.name(), n = x0.nrows(), r = x0.ncols());
        let _guard = span.enter();
        let (problem, clock) = (self.problem, self.clock.clone());
        let (iterations, seconds) = (self.options.max_iterations, clock.limit());
        let budget = Budget { iterations, seconds, work: None };
        let (scale, made, cancel) = (Some(self.scale), self.iteration, &clock);
        let executor = Executor { problem, scale, stop, budget, hands_on: None, made, cancel };
        let Finished { ending, kept, reason, iterations, .. } = executor.run(solver, x0, self)?;
        let Ending { x, details: Details { mut settings, constants }, raw, splitting } = ending;
        let x = problem.cleaned(&x).unwrap_or(x);
        let (x, (objective, parts), reason) = self.best_of(x, reason, kept);
        let feasibility = problem.feasibility(&x);
        let (iteration, seconds) = (self.iteration, clock.seconds());
        let p = Progress { iteration, seconds, objective, scale: self.scale, pass: None, residual: None };
        self.record(&p, &x, Some(feasibility));
        tracing::info!(status = reason.status.name(), iterations = self.iteration, objective, "ended");
        splitting.iter().for_each(|s| s.display(&mut settings));
        let (name, status) = (solver.name().to_string(), reason.status);
        let stages = vec![Stage { solver: name, objective, status, iterations, constants, splitting }];
        let solver = solver.name().into();
        Ok(Outcome { x, objective, parts, feasibility, reason, settings, solver, stages, raw })
    }

    /// The last X, or the best one of the checks where that is lower by more than rounding or the last
    /// one is broken; with F there.
    fn best_of(&self, x: RowMat, reason: StopReason, kept: Kept) -> (RowMat, (f64, Objective), StopReason) {
        let is_feasible = is_point(self.problem, &x);
        let is_off = !is_feasible && x.find_non_finite().is_none();
        let last = if is_feasible { self.problem.evaluated(&x) } else { (f64::NAN, Objective::NAN) };
        let is_whole = last.0.is_finite();
        if is_whole && !is_lower(kept.objective, last.0, self.scale) {
            return (x, last, reason);
        }
        let best = self.problem.evaluated(&kept.x); // the tracked F may be off
        if is_whole && (!is_lower(best.0, last.0, self.scale) || !is_point(self.problem, &kept.x)) {
            return (x, last, reason);
        }
        let broken = || if is_off { off_the_constraint() } else { numerical_error() };
        let reason = of_another(if is_whole { reason } else { broken() }, &kept.place());
        match self.problem.cleaned(&kept.x) {
            Some(x) => {
                let best = self.problem.evaluated(&x);
                (x, best, reason)
            }
            None => (kept.x, best, reason),
        }
    }

    fn seconds(&self) -> f64 {
        self.clock.seconds()
    }

    /// Adds a point to the trace, unless an earlier start has been lower already or the value
    /// differs from the last one by rounding only (the tracked F and F evaluated afresh). `feasibility` where it
    /// has been measured.
    fn record(&mut self, p: &Progress, x: &RowMat, feasibility: Option<f64>) {
        let rounding = 1e-10 * p.size();
        if p.objective > self.best + rounding {
            return;
        }
        self.best = self.best.min(p.objective);
        let point = TracePoint {
            seconds: p.seconds,
            iteration: p.iteration,
            objective: self.best,
            feasibility: feasibility.unwrap_or_else(|| self.problem.feasibility(x)),
            nnz: count_nonzeros(x),
        };
        self.trace.push(point);
        self.trace.rest(self.seconds());
        self.observers.iter_mut().for_each(|o| o.observe(Event::Trace(&point, x)));
    }

    fn solution(self, best: Outcome) -> Solution {
        let (problem, x) = (self.problem, best.x);
        Solution {
            objective: best.parts,
            scale: self.scale,
            feasibility: best.feasibility,
            nonneg_violation: problem.nonneg_violation(&x),
            nnz: count_nonzeros(&x),
            x,
            status: best.reason.status,
            message: best.reason.message,
            iterations: self.iteration,
            seconds: self.clock.seconds(),
            trace: self.trace,
            seed: self.options.seed,
            solver: best.solver,
            splitting: best.stages.iter().rev().find_map(|s| s.splitting),
            stages: best.stages,
            starts: 1,
            best_start: 0,
            raw: best.raw,
            settings: best.settings,
            notes: self.notes,
            search: None,
            proof: None,
        }
    }
}

impl<P: Evaluate> Monitor for Session<'_, '_, P> {
    /// A starting point where F is not finite ends the run.
    fn begin(&mut self, p: &Progress, x: &RowMat) -> Option<StopReason> {
        self.record(p, x, None);
        if p.objective == f64::INFINITY && x.find_non_finite().is_none() {
            let message = "F is infinite at the starting point: give one where the penalty is finite".into();
            return Some(StopReason { status: Status::NumericalError, message });
        }
        (!p.objective.is_finite()).then(numerical_error)
    }

    fn step(&mut self, p: &Progress, iterations: u64, now: &Current<'_>) -> Option<StopReason> {
        self.iteration += iterations;
        if !p.objective.is_finite() {
            return None;
        }
        self.observers.iter_mut().for_each(|o| o.observe(Event::Step(p)));
        if self.trace.is_due(p.seconds) {
            self.record(p, now.x(), None);
        }
        None
    }
}
