//! The loop.

use std::cmp::Ordering;

use super::confirmed::{believed, of_another, succeeds};
use super::pace::{Kept, Looks, Pace};
use super::punctual::Punctual;
use super::stop::{MOST_WORK, interrupted, numerical_error};
use super::{
    Ending, Event, Fading, MaxIterations, Observer, Or, Pass, Progress, Raw, Settings, Solution, Solver,
    Stage, Status, Stop, StopReason, TimeLimit, Trace, TracePoint,
};
use crate::cancel::Cancel;
use crate::error::Result;
use crate::linalg::{RowMat, work};
use crate::message::Message;
use crate::objective::{Evaluate, Objective, count_nonzeros, size};

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

/// Where a run begins: solvers that run one after the other, and X⁰ of the first.
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
/// What was found is never lost: a run whose numbers break ends with the best finite X it had, and a
/// later start or stage that cannot be made ends the run with what is there and a note.
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
    let first = start(0)?;
    let scale = problem.scale(&first.x0);
    let best = f64::INFINITY;
    let (restarts, effort) = (options.restarts, options.effort);
    let mut session = Session { problem, options, scale, trace, notes, iteration: 0, clock, best };
    let mut best = session.run_chain(first, stop, observers)?;
    let (mut runs, mut winner) = (1, 0);
    let mut last = best.reason.clone();
    let is_small = |iterations| iterations < effort && work::so_far() - worked < MOST_WORK.0;
    while (runs <= restarts || is_small(session.iteration))
        && runs - winner <= PATIENCE
        && matches!(last.status, Status::Converged | Status::Stalled)
    {
        let outcome = match start(runs).and_then(|next| session.run_chain(next, stop, observers)) {
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

/// How one start ended.
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

/// The last point of a run of one solver, and why it is the last.
struct End {
    x: RowMat,
    reason: StopReason,
}

/// What is shared by all starts of a run.
struct Session<'a, P> {
    problem: &'a P,
    options: RunOptions,
    scale: f64, // of F
    trace: Trace,
    notes: Vec<Message>,
    iteration: u64,
    clock: Cancel,
    best: f64, // lowest F recorded
}

impl<P: Evaluate> Session<'_, P> {
    /// The stages of a start, each from the best point of those before it: a later stage that
    /// ends higher is not counted, and one that cannot begin ends the start.
    fn run_chain<S: Solver<P>>(
        &mut self,
        start: Chain<S>,
        stop: &mut dyn Stop,
        observers: &mut [&mut dyn Observer],
    ) -> Result<Outcome> {
        let last = start.stages.len().saturating_sub(1);
        let limit = stop.time_limit();
        let names: Vec<_> = start.stages.iter().map(|s| s.name().to_string()).collect();
        let (mut best, mut by): (Option<Outcome>, usize) = (None, 0);
        let (mut settings, mut stages) = (Settings::new(), Vec::new());
        for (k, solver) in start.stages.iter().enumerate() {
            let x0 = best.as_ref().map_or_else(|| start.x0.clone(), |o| o.x.clone());
            let share = self.options.stage_seconds.filter(|_| k < last).map(|s| self.seconds() + s);
            let mut limited = Or::new(&mut *stop, TimeLimit(share));
            let mut outcome = match self.run_once(solver, x0, limit, &mut limited, observers) {
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
            return Err(crate::Error::Incompatible("a chain needs at least one solver".into()));
        };
        (best.solver, best.settings, best.stages) = (names.join("+"), settings, stages);
        Ok(best)
    }

    fn run_once<S: Solver<P>>(
        &mut self,
        solver: &S,
        x0: RowMat,
        limit: Option<f64>,
        stop: &mut dyn Stop,
        observers: &mut [&mut dyn Observer],
    ) -> Result<Outcome> {
        let span = tracing::info_span!("run", solver = solver.name(), n = x0.nrows(), r = x0.ncols());
        let _guard = span.enter();
        let mut kept = Kept::new(x0.clone());
        let mut state = solver.init(self.problem, x0)?;
        let (mut pace, mut looks, began) = (Pace::default(), Looks::new(), self.iteration);
        let limited = limit.is_some() || self.options.max_iterations.is_some();
        let (mut fading, worked) = (Fading::new(solver.fades(self.problem), limited), work::so_far());
        let (mut punctual, ready) = (Punctual::new(limit, solver.closing_steps()), self.seconds());
        let mut reason = self.begin(solver.point(&state), &mut kept, observers);
        punctual.opened(self.seconds() - ready);
        reason = reason.or_else(|| punctual.check(self.seconds()));
        while reason.is_none() {
            let budget = pace.budget(self.seconds()).min(self.iterations_left()).min(looks.ahead());
            let before = self.seconds();
            let info = solver.step(self.problem, &mut state, budget);
            self.iteration += info.iterations;
            let look = looks.take(info.iterations);
            if look {
                kept.look(info.objective, self.iteration - began, solver.point(&state));
            }
            let p = self.progress(info.objective, info.pass, info.residual.filter(|_| look));
            pace.adapt(info.iterations, p.seconds - before);
            punctual.stepped(p.seconds - before);
            reason = if info.objective.is_finite() {
                self.show(&p, || solver.point(&state), observers);
                let limit = MaxIterations(self.options.max_iterations).check(&p);
                let ended = info.ended.map(|(status, why)| StopReason { status, message: why.into() });
                let over = ended.is_some();
                let work = work::so_far().saturating_sub(worked);
                let faded = fading.as_mut().filter(|_| look).and_then(|fading| fading.check(&p, work));
                let found = stop.check(&p).or(limit).or(ended);
                let second = || solver.confirmed(self.problem, &state);
                let found = believed(found, &p, stop, over, second).or(faded);
                let broke = || self.clock.is_cancelled().then(interrupted);
                found.or_else(broke).or_else(|| punctual.check(p.seconds))
            } else {
                Some(numerical_error())
            };
        }
        let Ending { x, mut settings, constants, raw, splitting } = solver.ending(self.problem, state);
        let x = self.problem.cleaned(&x).unwrap_or(x);
        let (end, (objective, parts)) =
            self.best_of(End { x, reason: reason.unwrap_or_else(interrupted) }, kept);
        let p = self.progress(objective, None, None);
        let feasibility = self.problem.feasibility(&end.x);
        self.record(&p, &end.x, Some(feasibility), observers);
        let (End { x, reason }, iterations) = (end, self.iteration - began);
        tracing::info!(status = reason.status.name(), iterations = self.iteration, objective, "ended");
        splitting.iter().for_each(|s| s.display(&mut settings));
        let (name, status) = (solver.name().to_string(), reason.status);
        let stages = vec![Stage { solver: name, objective, status, iterations, constants, splitting }];
        let solver = solver.name().into();
        Ok(Outcome { x, objective, parts, feasibility, reason, settings, solver, stages, raw })
    }

    /// The last X, or the best one of the looks where that is lower by more than rounding or the last
    /// one is broken; with F there.
    fn best_of(&self, mut end: End, kept: Kept) -> (End, (f64, Objective)) {
        let finite = end.x.find_non_finite().is_none();
        let last = if finite { self.problem.evaluated(&end.x) } else { (f64::NAN, Objective::NAN) };
        let objective = last.0;
        let limit = objective - 1e-9 * size(self.scale, objective);
        let whole = objective.is_finite();
        if whole && kept.objective >= limit {
            return (end, last);
        }
        let best = self.problem.evaluated(&kept.x); // the tracked F may be off
        if whole && best.0.partial_cmp(&limit) != Some(Ordering::Less) {
            return (end, last);
        }
        if !whole {
            end.reason = numerical_error();
        }
        let reason = of_another(end.reason, &format!("iteration {}", kept.iteration));
        match self.problem.cleaned(&kept.x) {
            Some(x) => {
                let best = self.problem.evaluated(&x);
                (End { x, reason }, best)
            }
            None => (End { x: kept.x, reason }, best),
        }
    }

    fn seconds(&self) -> f64 {
        self.clock.seconds()
    }

    fn iterations_left(&self) -> u64 {
        self.options.max_iterations.map_or(u64::MAX, |m| m.saturating_sub(self.iteration)).max(1)
    }

    fn progress(&self, objective: f64, pass: Option<Pass>, residual: Option<f64>) -> Progress {
        let (iteration, seconds) = (self.iteration, self.seconds());
        Progress { iteration, seconds, objective, scale: self.scale, pass, residual }
    }

    /// Records X⁰; a starting point where F is not finite ends the run.
    fn begin(
        &mut self,
        x: &RowMat,
        kept: &mut Kept,
        observers: &mut [&mut dyn Observer],
    ) -> Option<StopReason> {
        let objective = self.problem.value(x);
        kept.look(objective, 0, x);
        let p = self.progress(objective, None, None);
        self.record(&p, x, None, observers);
        if objective == f64::INFINITY && x.find_non_finite().is_none() {
            let message = "F is infinite at the starting point: give one where the penalty is finite".into();
            return Some(StopReason { status: Status::NumericalError, message });
        }
        (!objective.is_finite()).then(numerical_error)
    }

    /// `x` gives X, which is asked for only where it is recorded.
    fn show<'x>(
        &mut self,
        p: &Progress,
        x: impl FnOnce() -> &'x RowMat,
        observers: &mut [&mut dyn Observer],
    ) {
        observers.iter_mut().for_each(|o| o.observe(Event::Step(p)));
        if self.trace.is_due(p.seconds) {
            self.record(p, x(), None, observers);
        }
    }

    /// Adds a point to the trace, unless an earlier start has been lower already or the value
    /// differs from the last one by rounding only (the tracked F and F evaluated afresh). `feasibility` where it
    /// has been measured.
    fn record(
        &mut self,
        p: &Progress,
        x: &RowMat,
        feasibility: Option<f64>,
        observers: &mut [&mut dyn Observer],
    ) {
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
        observers.iter_mut().for_each(|o| o.observe(Event::Trace(&point, x)));
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
        }
    }
}
