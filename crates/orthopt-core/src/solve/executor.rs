//! The one loop.

use super::budget::{Budget, Deadline, Further, Looks, Pace};
use super::confirmed::believed;
use super::stop::{interrupted, numerical_error, out_of_time, out_of_work};
use super::{
    Behaviour, Current, Details, Ending, Fading, Progress, Solver, Status, Stop, StopReason, advance,
};
use crate::objective::{Evaluate, lowers};
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::long::is_left;
use orthopt_linalg::{RowMat, work};

/// Runs one solver from X⁰ until a criterion is met, the budget is spent or it is cancelled.
pub struct Executor<'a, P> {
    /// The problem.
    pub problem: &'a P,
    /// The scale of F, where it is known from an earlier run.
    pub scale: Option<f64>,
    /// The criteria.
    pub stop: &'a mut dyn Stop,
    /// The limits.
    pub budget: Budget,
    /// Another solver continues where F has not fallen for half of the iterations, but not before so many.
    pub hands_on: Option<u64>,
    /// Iterations of earlier runs.
    pub made: u64,
    /// Ends the run; its clock is that of the run.
    pub cancel: &'a Cancel,
}

/// Sees a run from within.
pub trait Monitor {
    /// X⁰ and F there; the reason not to begin, if there is one.
    fn begin(&mut self, p: &Progress, x: &RowMat) -> Option<StopReason>;

    /// After a step of so many iterations, which led to `now`; the reason to end there, if there is one.
    fn step(&mut self, p: &Progress, iterations: u64, now: &Current<'_>) -> Option<StopReason>;

    /// A point with a lower F than all before it.
    fn lower(&mut self, _p: &Progress, _x: &RowMat) {}
}

/// A run that has ended.
pub struct Finished {
    /// The last point and what the solver says of it.
    pub ending: Ending,
    /// The best of the points that were examined.
    pub kept: Kept,
    /// Why it is the last one.
    pub reason: StopReason,
    /// Iterations of this run.
    pub iterations: u64,
    /// The scale of F.
    pub scale: f64,
    /// State of the run to continue later, if the work was used up while F fell.
    pub further: Option<Further>,
}

impl<P: Evaluate> Executor<'_, P> {
    /// Runs `solver` from X⁰.
    ///
    /// # Errors
    /// The solver does not take X⁰.
    pub fn run<S: Solver<P>>(
        mut self,
        solver: &S,
        x0: RowMat,
        monitor: &mut dyn Monitor,
    ) -> Result<Finished> {
        let (problem, cancel, began) = (self.problem, self.cancel, work::so_far());
        let mut kept = Kept::new(x0.clone());
        let work = x0.nrows() * x0.ncols().pow(2);
        let left = || cancel.during(|| is_left(work));
        if left() {
            return Ok(self.not_begun(kept));
        }
        let mut state = match cancel.during(|| solver.init(problem, x0)) {
            Ok(state) => state,
            // a decomposition that is cancelled: X⁰ is what there is
            Err(Error::Factorisation(_)) if cancel.is_over() => return Ok(self.not_begun(kept)),
            Err(error) => return Err(error),
        };
        if left() {
            return Ok(self.not_begun(kept)); // F of X⁰ and the first step would be long, too
        }
        let Behaviour { stagnation, closing_steps, .. } = solver.behaviour(problem);
        let mut fading = Fading::new(stagnation, self.budget.is_limited());
        if let Some(first) = self.hands_on {
            fading = fading.map(|fading| fading.handed_on(first));
        }
        let (mut pace, mut looks) = (Pace::default(), Looks::new());
        let mut deadline = Deadline::new(self.budget.seconds, closing_steps);
        let x = solver.current(problem, &state).x();
        let (mut iterations, mut further, mut p) = (0, None, self.first(x));
        kept.look(problem, p.objective, 0, x);
        let mut reason = monitor.begin(&p, x);
        deadline.opened(cancel.seconds() - p.seconds);
        if let Some(work) = &mut self.budget.work {
            work.begin(kept.objective);
        }
        reason = reason.or_else(|| self.over(&p, &deadline));
        while reason.is_none() {
            let left = self.budget.left(p.iteration).min(looks.ahead());
            let before = cancel.seconds();
            let (made, step) = {
                let steps = pace.budget(before).min(left);
                cancel.during(|| advance(solver, problem, &mut state, steps))
            };
            iterations += made;
            let is_look = looks.take(made);
            // where a step ends the clock says: what it costs to measure there is no work
            let measured = || solver.current(problem, &state);
            let now = if is_look { measured() } else { work::counted(measured).0 };
            p = Progress {
                iteration: self.made + iterations,
                seconds: cancel.seconds(),
                objective: now.objective,
                pass: step.pass,
                residual: step.residual.or(now.residual).filter(|_| is_look),
                ..p
            };
            pace.adapt(made, p.seconds - before);
            deadline.stepped(p.seconds - before);
            let is_end = step.pass.is_some() || step.ended.is_some();
            if (is_look || is_end) && kept.look(problem, p.objective, iterations, now.x()) {
                monitor.lower(&p, &kept.x);
            }
            let seen = monitor.step(&p, made, &now);
            if !p.objective.is_finite() {
                reason = Some(numerical_error());
                break;
            }
            // what the criteria, the solver and the course of F say; then what the limits do
            let ended = step.ended.map(|(status, why)| StopReason { status, message: why.into() });
            let has_ended = ended.is_some();
            let found = self.stop.check(&p).or(ended);
            let anew = || solver.confirmed(problem, &state);
            reason = believed(found, &p, self.stop, has_ended, anew).or(seen);
            let worked = work::so_far().saturating_sub(began);
            if let Some(fading) = fading.as_mut().filter(|_| is_look && reason.is_none()) {
                reason = fading.check(&p, worked);
            }
            let work = self.budget.work.as_mut().filter(|_| is_look || step.pass.is_some());
            if let Some(work) = work.filter(|_| reason.is_none())
                && work.is_spent(worked, kept.objective)
            {
                further = work.further(worked, kept.objective);
                reason = Some(out_of_work());
            }
            reason = reason.or_else(|| self.over(&p, &deadline));
        }
        let mut reason = reason.unwrap_or_else(interrupted);
        if reason.status == Status::NumericalError && cancel.is_over() {
            reason = self.ended(); // what broke may be what was left
        }
        let ending = solver.finish(problem, state);
        Ok(Finished { ending, kept, reason, iterations, scale: p.scale, further })
    }

    /// X⁰, the result if cancelled.
    fn not_begun(&self, kept: Kept) -> Finished {
        let (scale, x) = (self.scale.unwrap_or_else(|| self.problem.scale(&kept.x)), kept.x.clone());
        let (reason, ending) = (self.ended(), Ending::new(x, Details::default()));
        Finished { ending, kept, reason, iterations: 0, scale, further: None }
    }

    /// The end by the caller, or by the clock.
    fn ended(&self) -> StopReason {
        if self.cancel.is_cancelled() { interrupted() } else { out_of_time() }
    }

    /// X⁰.
    fn first(&self, x: &RowMat) -> Progress {
        let seconds = self.cancel.seconds();
        let scale = self.scale.unwrap_or_else(|| self.problem.scale(x));
        let objective = self.problem.value(x);
        Progress { iteration: self.made, seconds, objective, scale, pass: None, residual: None }
    }

    /// The limits: the caller, iterations, time.
    fn over(&self, p: &Progress, deadline: &Deadline) -> Option<StopReason> {
        let seconds = self.cancel.seconds();
        let late = || self.cancel.is_late().then(out_of_time);
        (self.cancel.is_cancelled().then(interrupted))
            .or_else(|| self.budget.spent(p.iteration))
            .or_else(|| deadline.check(seconds))
            .or_else(late)
    }
}

/// Largest amount by which F of the last point may exceed that of the best one, relative to its size: the tracked F is
/// rounded.
const ROUNDING: f64 = 1e-9;

/// Is `objective` lower than that of the last point by more than rounding?
pub fn is_lower(objective: f64, last: f64, scale: f64) -> bool {
    lowers(objective, last, scale, ROUNDING)
}

/// The best of the points that were examined, X⁰ first: what is left when numbers break, and what
/// counts for methods that go up and down. A copy of X per check at which F is lower is all it costs,
/// some sixteen for every e-fold of the iterations.
pub struct Kept {
    /// The point.
    pub x: RowMat,
    /// F there, as the solver tracks it.
    pub objective: f64,
    /// Iterations of this run that led there.
    pub iteration: u64,
}

impl Kept {
    fn new(x0: RowMat) -> Self {
        Self { x: x0, objective: f64::INFINITY, iteration: 0 }
    }

    /// Takes X in if F is lower there than before and X may be feasible; was it?
    fn look(&mut self, problem: &impl Evaluate, objective: f64, iteration: u64, x: &RowMat) -> bool {
        let lower = objective.is_finite() && objective < self.objective && problem.is_sized(x);
        if lower {
            self.x.data_mut().copy_from_slice(x.data());
            (self.objective, self.iteration) = (objective, iteration);
        }
        lower
    }

    /// Iteration at which it was found, in words.
    pub fn place(&self) -> String {
        format!("iteration {}", self.iteration)
    }
}
