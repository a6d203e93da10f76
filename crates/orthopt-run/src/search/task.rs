//! One task of a search: solvers one after the other from a point, each with a limit of its own.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::control::Control;
use super::ended::{Ended, Known};
use orthopt_core::objective::{Evaluate, is_point};
use orthopt_core::solve::{
    Allowance, AnySolver, Budget, Current, Ending, Executor, Finished, Further, Monitor, Progress, Settings,
    Solver, Stage, Status, StopReason, Stopping, is_lower, of_another, succeeds,
};
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::{RowMat, work};

/// A solver of a task and the work it may do.
pub struct Phase<P> {
    /// The solver.
    pub solver: AnySolver<P>,
    /// Most work. `None` is no limit for the first phase, and for others a share of the work of those before them.
    pub most: Option<u64>,
    /// That work over this is the share.
    pub share: u64,
    /// It has as much work again where the last half of it lowered F by more than this times |F|.
    pub again: Option<f64>,
    /// True if it has the whole share and not half of it, and continues where a pass lowers F by less than 1e-5 of its size.
    pub patient: bool,
    /// The next one continues where F has not fallen for half of the iterations, but not before so many.
    pub hands_on: Option<u64>,
}

/// Solvers one after the other, from X⁰.
pub struct Task<P> {
    /// The solvers.
    pub phases: Vec<Phase<P>>,
    /// X⁰.
    pub x0: MakeStart<P>,
}

/// Makes X⁰ for a problem on the thread of the task, whose work it counts as; it may end early where it is cancelled.
pub type MakeStart<P> = Box<dyn Fn(&P, &Cancel) -> Result<RowMat> + Send + Sync>;

/// X⁰ as it is.
pub fn at<P>(x0: RowMat) -> MakeStart<P> {
    Box::new(move |_, _| Ok(x0.clone()))
}

/// Result of a task.
#[derive(Clone, Debug)]
pub(super) struct Done {
    pub x: RowMat,
    pub objective: f64,
    pub work: u64,
    pub iterations: u64,
    pub stages: Vec<Stage>,
    pub settings: Settings, // of all solvers, as `solver.setting`
    pub status: Status,     // of the last phase
    pub message: String,
    pub curve: Vec<(f64, f64)>,   // seconds and F, where F fell
    pub failures: Vec<String>,    // of solvers that do not take their X⁰
    pub further: Option<Further>, // where its last phase was cut off while F fell
}

/// Work of a task whatever it does, so that those that do nothing come to an end.
pub(super) const OVERHEAD: u64 = 400_000;

/// Runs a task to its end, or until the control says so; what it found and its work. Of the points it examines (after
/// iterations of given numbers, never when the clock says so) the best is what it found. Its work is added to `shown` as it
/// continues, and `tick` is called all the time.
///
/// # Errors
/// There is no X⁰, or no solver takes it.
pub(super) fn perform<P: Evaluate + 'static>(
    problem: &P,
    task: &Task<P>,
    stopping: &Stopping,
    (control, most_iterations, known): (&Control, Option<u64>, &Known),
    shown: &Arc<AtomicU64>,
    tick: &mut dyn FnMut(),
) -> (Result<Done>, u64) {
    let (x0, begun) = work::shown(shown, || control.cancel.during(|| (task.x0)(problem, &control.cancel)));
    let x0 = match x0 {
        Ok(x0) => x0,
        Err(error) => return (Err(error), begun + OVERHEAD),
    };
    control.worked(begun);
    let mut all = begun;
    let mut done: Option<Done> = None;
    let mut failures = Vec::new();
    for (k, phase) in task.phases.iter().enumerate() {
        // a share of the work of those before that took their X⁰
        let before = done.as_ref().map_or(begun, |d| d.work);
        let share = before / (phase.share * if phase.patient { 1 } else { 2 });
        let most = phase.most.or((k > 0).then_some(share.max(control.tuning.min_run)));
        let x0 = done.as_ref().map_or(&x0, |d| &d.x).clone();
        let left = most_iterations.map(|m| m.saturating_sub(done.as_ref().map_or(0, |d| d.iterations)));
        let run = Run { problem, phase, most, left, known, stopping, control };
        let (stage, spent) = work::shown(shown, || run.perform(x0, tick));
        let spent = spent + OVERHEAD;
        all += spent;
        control.worked(spent);
        match stage {
            Ok(stage) => done = Some(joined(done, stage, spent)),
            Err(error) => failures.push(error),
        }
        if control.cancel.is_over() {
            break;
        }
    }
    let result = match done {
        Some(done) => {
            let failures = failures.iter().map(Error::to_string).collect();
            Ok(Done { work: done.work + begun, failures, ..done })
        }
        None => Err(failures.swap_remove(0)),
    };
    (result, all)
}

fn joined(done: Option<Done>, stage: Done, work: u64) -> Done {
    let Some(mut all) = done else { return Done { work, ..stage } };
    all.work += work;
    all.iterations += stage.iterations;
    all.stages.extend(stage.stages);
    all.settings.extend(stage.settings);
    all.curve.extend(stage.curve);
    let mut reason = StopReason { status: stage.status, message: stage.message };
    if succeeds((stage.objective, stage.status), all.objective) {
        (all.x, all.objective) = (stage.x, stage.objective);
    } else if stage.status == Status::Converged {
        reason = of_another(reason, "an earlier solver");
    }
    (all.status, all.message, all.further) = (reason.status, reason.message, stage.further);
    all
}

/// One phase at work.
struct Run<'a, P> {
    problem: &'a P,
    phase: &'a Phase<P>,
    most: Option<u64>,
    left: Option<u64>, // iterations
    known: &'a Known,  // when the task was launched
    stopping: &'a Stopping,
    control: &'a Control,
}

impl<P: Evaluate + 'static> Run<'_, P> {
    /// Fails where the solver does not take X⁰, or F is not finite anywhere.
    fn perform(&self, x0: RowMat, tick: &mut dyn FnMut()) -> Result<Done> {
        let (problem, phase, control) = (self.problem, self.phase, self.control);
        let solver = &phase.solver;
        let min_decrease = if phase.patient { 0.0 } else { control.tuning.slow };
        let own = Stopping { max_iters: None, time_limit: None, ..*self.stopping };
        let own = Stopping { min_decrease: own.min_decrease.max(min_decrease), ..own };
        let work = self.most.map(|most| Allowance::new(most, phase.again, self.known.lowest));
        let executor = Executor {
            problem,
            scale: None,
            stop: &mut own.criteria(),
            budget: Budget { iterations: self.left, seconds: None, work },
            hands_on: phase.hands_on,
            made: 0,
            cancel: &control.cancel,
        };
        let ended = solver.behaviour(problem).goes_by_supports.then_some(&self.known.ended);
        let mut shown = Shown { control, ended, at_once: 0, curve: Vec::new(), tick };
        let Finished { ending, mut kept, mut reason, iterations, scale, further } =
            executor.run(solver, x0, &mut shown)?;
        let (curve, iterations) = (shown.curve, iterations + shown.at_once);
        let Ending { x: last, details, splitting, .. } = ending;
        // what was cut off is not worth an end of its own
        let cut = matches!(reason.status, Status::Interrupted | Status::TimeLimit | Status::MaxIters);
        if !cut && is_point(problem, &last) {
            let x = problem.cleaned(&last).unwrap_or(last);
            let objective = problem.value(&x);
            // the clean end counts even where rounding puts it above the tracked F
            if !objective.is_nan() && !is_lower(kept.objective, objective, scale) {
                (kept.x, kept.objective) = (x, objective);
                control.offer(&kept.x, kept.objective);
            } else {
                reason = of_another(reason, &kept.place());
            }
        }
        if cut && iterations == 0 && kept.objective == f64::INFINITY {
            kept.objective = problem.value(&kept.x); // X⁰, if cancelled for a step
            control.offer(&kept.x, kept.objective);
        }
        let StopReason { status, message } = reason;
        let objective = kept.objective;
        let settings = owned_by(solver.name(), details.settings);
        let (name, constants, splitting) = (solver.name().to_string(), details.constants, splitting);
        let stages = vec![Stage { solver: name, objective, status, iterations, constants, splitting }];
        if !objective.is_finite() || !is_point(problem, &kept.x) {
            let why = format!("{} from its X reaches no finite F of a feasible X", solver.name());
            return Err(Error::Incompatible(why.into()));
        }
        let (x, failures) = (kept.x, Vec::new());
        let work = 0;
        Ok(Done {
            x,
            objective,
            work,
            iterations,
            stages,
            settings,
            status,
            message,
            curve,
            failures,
            further,
        })
    }
}

/// The end of a run where another one has ended.
fn known() -> StopReason {
    let message = "an earlier run has ended on the same supports".into();
    StopReason { status: Status::Converged, message }
}

/// Shows a run to the observers of the search, and ends it where another one has ended.
struct Shown<'a> {
    control: &'a Control,
    ended: Option<&'a Ended>, // where runs have ended, if the solver goes by supports
    at_once: u64, // 1 for a run that begins there: it counts as an iteration, so that a limit of these is reached
    curve: Vec<(f64, f64)>,
    tick: &'a mut dyn FnMut(),
}

impl Shown<'_> {
    fn is_known(&self, x: &RowMat, p: &Progress) -> bool {
        self.ended.is_some_and(|ended| ended.has(x, p.objective, p.scale))
    }
}

impl Monitor for Shown<'_> {
    fn begin(&mut self, p: &Progress, x: &RowMat) -> Option<StopReason> {
        let objective = if p.objective.is_finite() { p.objective } else { f64::INFINITY };
        self.control.offer(x, objective);
        let is_known = self.is_known(x, p);
        self.at_once = u64::from(is_known);
        self.control.made(self.at_once);
        is_known.then(known)
    }

    fn step(&mut self, p: &Progress, iterations: u64, now: &Current<'_>) -> Option<StopReason> {
        self.control.made(iterations);
        (self.tick)();
        self.is_known(now.x(), p).then(known)
    }

    fn lower(&mut self, p: &Progress, x: &RowMat) {
        self.control.offer(x, p.objective);
        self.curve.push((p.seconds, p.objective));
    }
}

/// The settings of a solver under `solver.setting`.
fn owned_by(solver: &str, settings: Settings) -> Settings {
    settings.into_iter().map(|(key, v)| (format!("{solver}.{key}"), v)).collect()
}
