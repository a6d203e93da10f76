//! One task of a search: solvers one after the other from a point, each with a limit of its own.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::control::Control;
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::linalg::{RowMat, work};
use crate::objective::{Evaluate, size};
use crate::solve::{
    AnySolver, Fading, Kept, Looks, Pace, Progress, Settings, Solver, Stage, Status, Stop, StopReason,
    Stopping, believed, of_another, succeeds,
};

/// A solver of a task and the work it may do.
pub struct Part<P> {
    /// The solver.
    pub solver: AnySolver<P>,
    /// Most work. `None` is no limit for the first part, and for others a share of the work of those before them.
    pub most: Option<u64>,
    /// That work over this is the share.
    pub share: u64,
    /// It has as much work again where the last half of it lowered F by more than this times |F|.
    pub again: Option<f64>,
    /// Whether it has the whole share and not half of it, and goes on where a pass lowers F by less than 1e-5 of its size.
    pub patient: bool,
    /// The next one goes on where F has not fallen for half of the iterations, but not before so many.
    pub hands_on: Option<u64>,
}

/// Solvers one after the other, from X⁰.
pub struct Task<P> {
    /// The solvers.
    pub parts: Vec<Part<P>>,
    /// X⁰.
    pub x0: MakeStart<P>,
}

/// Makes X⁰ for a problem on the thread of the task, whose work it counts as; it may end early where it is cancelled.
pub type MakeStart<P> = Box<dyn Fn(&P, &Cancel) -> Result<RowMat> + Send + Sync>;

/// X⁰ as it is.
pub fn at<P>(x0: RowMat) -> MakeStart<P> {
    Box::new(move |_, _| Ok(x0.clone()))
}

/// What may still be to come, times what the last half of the work has brought: where F falls towards its limit like t^-1/2
/// or faster, it is less than this.
const REACH: f64 = 3.0;

/// How a task ended.
#[derive(Clone, Debug)]
pub(super) struct Done {
    pub x: RowMat,
    pub objective: f64,
    pub work: u64,
    pub iterations: u64,
    pub stages: Vec<Stage>,
    pub settings: Settings, // of all solvers, as `solver.setting`
    pub status: Status,     // of the last part
    pub message: String,
    pub curve: Vec<(f64, f64)>,   // seconds and F, where F fell
    pub failures: Vec<String>,    // of solvers that do not take their X⁰
    pub further: Option<Further>, // where its last part was cut off while F fell
}

/// What a part has done that was cut off while F fell, not fast enough to have as much work again at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Further {
    pub work: u64,
    pub again: f64,
}

/// Work of a task whatever it does, so that those that do nothing come to an end.
pub(super) const OVERHEAD: u64 = 400_000;
/// Work that is worth nobody's attention.
const LITTLE: u64 = 30_000_000;
/// Where a task that polishes may stop: a pass that lowers F by less than this times its size.
const SLOW: f64 = 1e-5;

/// Runs a task to its end, or until the control says so; what it found and its work. Of the points it looks at (after
/// iterations of given numbers, never when the clock says so) the best is what it found. Its work is added to `shown` as it
/// goes on, and `tick` is called all the time.
///
/// # Errors
/// There is no X⁰, or no solver takes it.
pub(super) fn perform<P: Evaluate + 'static>(
    problem: &P,
    task: &Task<P>,
    stopping: &Stopping,
    (control, most_iterations, to_beat): (&Control, Option<u64>, f64),
    shown: &Arc<AtomicU64>,
    tick: &mut dyn FnMut(),
) -> (Result<Done>, u64) {
    let (x0, begun) = work::shown(shown, || (task.x0)(problem, &control.cancel));
    let x0 = match x0 {
        Ok(x0) => x0,
        Err(error) => return (Err(error), begun + OVERHEAD),
    };
    control.worked(begun);
    let mut all = begun;
    let mut done: Option<Done> = None;
    let mut failures = Vec::new();
    for (k, part) in task.parts.iter().enumerate() {
        // a share of the work of those before that took their X⁰
        let before = done.as_ref().map_or(begun, |d| d.work);
        let share = before / (part.share * if part.patient { 1 } else { 2 });
        let most = part.most.or((k > 0).then_some(share.max(LITTLE)));
        let x0 = done.as_ref().map_or(&x0, |d| &d.x).clone();
        let left = most_iterations.map(|m| m.saturating_sub(done.as_ref().map_or(0, |d| d.iterations)));
        let run = Run { problem, part, most, left, to_beat, stopping, control };
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

/// The work that a part may do, which doubles as long as F falls.
struct Allowance {
    most: Option<u64>,
    first: u64, // `most` at first
    again: Option<f64>,
    halfway: f64, // F where half of it had been done
    to_beat: f64, // F that it must come near to
    reach: bool,
}

impl Allowance {
    fn new(most: Option<u64>, again: Option<f64>, (objective, to_beat): (f64, f64)) -> Self {
        Self { most, first: most.unwrap_or_default().max(1), again, halfway: objective, to_beat, reach: true }
    }

    /// Whether so much work is all there is, with the lowest F so far.
    fn is_spent(&mut self, work: u64, lowest: f64) -> bool {
        let Some(most) = self.most else { return false };
        if work < most {
            if 2 * work < most {
                self.halfway = lowest;
            }
            return false;
        }
        // twice the work is to bring twice as much
        let falls = self.falls(lowest, (most / self.first) as f64);
        if falls {
            (self.most, self.halfway) = (Some(2 * work), lowest);
        }
        !falls
    }

    /// Whether the last half of the work has brought so many times what it has as much again for, and the lowest F of the search is
    /// within reach.
    fn falls(&self, lowest: f64, times: f64) -> bool {
        let fell = self.halfway - lowest;
        let is_near = !self.reach || lowest - REACH * fell <= self.to_beat;
        is_near && self.again.is_some_and(|least| fell > times * least * lowest.abs())
    }

    /// What there is to go on with later.
    fn further(&self, work: u64, lowest: f64) -> Option<Further> {
        let again = self.again?;
        self.falls(lowest, 1.0).then_some(Further { work, again })
    }
}

/// One part at work.
struct Run<'a, P> {
    problem: &'a P,
    part: &'a Part<P>,
    most: Option<u64>,
    left: Option<u64>, // iterations
    to_beat: f64,      // the lowest F of the search when the task was launched
    stopping: &'a Stopping,
    control: &'a Control,
}

impl<P: Evaluate + 'static> Run<'_, P> {
    /// Fails where the solver does not take X⁰, or F is not finite anywhere.
    fn perform(&self, x0: RowMat, tick: &mut dyn FnMut()) -> Result<Done> {
        let (p, solver, control) = (self.problem, &self.part.solver, self.control);
        let mut kept = Kept::new(x0.clone());
        let mut curve = Vec::new();
        let mut state = solver.init(p, x0)?;
        let (mut looks, mut pace, mut iterations) = (Looks::new(), Pace::default(), 0);
        let min_decrease = if self.part.patient { 0.0 } else { SLOW };
        let own = Stopping { max_iters: None, time_limit: None, ..*self.stopping };
        let own = Stopping { min_decrease: own.min_decrease.max(min_decrease), ..own };
        let mut stop = own.criteria();
        let fading = Fading::new(solver.fades(p), self.left.is_some() || self.most.is_some());
        let mut fading = match self.part.hands_on {
            Some(first) => fading.map(|f| f.handed_on(first)),
            None => fading,
        };
        let scale = p.scale(solver.point(&state));
        let first = p.value(solver.point(&state));
        kept.look(first, 0, solver.point(&state));
        control.offer(&kept.x, kept.objective);
        let mut further = None;
        let mut allowance = Allowance::new(self.most, self.part.again, (kept.objective, self.to_beat));
        allowance.reach = control.tuning.has("reach");
        let (status, message) = loop {
            if control.cancel.is_over() || self.left == Some(iterations) {
                break (Status::Interrupted, String::new());
            }
            let left = self.left.map_or(u64::MAX, |left| left - iterations);
            let budget = pace.budget(control.cancel.seconds()).min(looks.ahead()).min(left);
            let before = control.cancel.seconds();
            let info = solver.step(p, &mut state, budget);
            iterations += info.iterations;
            control.made(info.iterations);
            let look = looks.take(info.iterations);
            if look || info.pass.is_some() || info.ended.is_some() {
                let lowest = kept.objective;
                kept.look(info.objective, iterations, solver.point(&state));
                if kept.objective < lowest {
                    control.offer(&kept.x, kept.objective);
                    curve.push((control.cancel.seconds(), kept.objective));
                }
            }
            let seconds = control.cancel.seconds();
            pace.adapt(info.iterations, seconds - before);
            tick();
            if !info.objective.is_finite() {
                break (Status::NumericalError, "F became NaN or infinite".to_string());
            }
            let residual = info.residual.filter(|_| look);
            let progress = Progress {
                iteration: iterations,
                seconds,
                objective: info.objective,
                scale,
                pass: info.pass,
                residual,
            };
            let faded =
                fading.as_mut().filter(|_| look).and_then(|fading| fading.check(&progress, work::so_far()));
            let ended = info.ended.map(|(status, why)| StopReason { status, message: why.into() });
            let over = ended.is_some();
            let found = ended.or_else(|| stop.check(&progress));
            let found = believed(found, &progress, &mut stop, over, || solver.confirmed(p, &state));
            if let Some(reason) = found.or(faded) {
                break (reason.status, reason.message);
            }
            if (look || info.pass.is_some()) && allowance.is_spent(work::so_far(), kept.objective) {
                further = allowance.further(work::so_far(), kept.objective);
                break (Status::Stalled, "reached the work it may do".to_string());
            }
        };
        let whole = status != Status::Interrupted;
        let ending = solver.ending(p, state);
        let mut reason = StopReason { status, message };
        if whole && ending.x.find_non_finite().is_none() {
            let x = p.cleaned(&ending.x).unwrap_or(ending.x);
            let objective = p.value(&x);
            // the clean end counts even where rounding puts it a hair above the tracked F
            if objective <= kept.objective + 1e-9 * size(scale, objective) {
                (kept.x, kept.objective) = (x, objective);
                control.offer(&kept.x, kept.objective);
            } else {
                reason = of_another(reason, &format!("iteration {}", kept.iteration));
            }
        }
        let StopReason { status, message } = reason;
        let objective = kept.objective;
        let settings = owned_by(solver.name(), ending.settings);
        let (name, constants, splitting) = (solver.name().to_string(), ending.constants, ending.splitting);
        let stages = vec![Stage { solver: name, objective, status, iterations, constants, splitting }];
        if !objective.is_finite() {
            let why = format!("{} from its X reaches no finite F", solver.name());
            return Err(Error::Incompatible(why.into()));
        }
        Ok(Done {
            x: kept.x,
            objective,
            work: 0,
            iterations,
            stages,
            settings,
            status,
            message,
            curve,
            failures: Vec::new(),
            further,
        })
    }
}

/// The settings of a solver under `solver.setting`.
fn owned_by(solver: &str, settings: Settings) -> Settings {
    settings.into_iter().map(|(key, v)| (format!("{solver}.{key}"), v)).collect()
}

#[cfg(test)]
mod tests {
    use super::{Allowance, REACH};

    /// The first F, and the F to beat.
    const NEAR: (f64, f64) = (0.0, -10.0);

    #[test]
    fn work_doubles_as_long_as_f_falls() {
        let mut fixed = Allowance::new(Some(100), None, NEAR);
        assert!(!fixed.is_spent(99, -5.0) && fixed.is_spent(100, -9.0));
        assert!(fixed.further(100, -9.0).is_none());
        assert!(!Allowance::new(None, Some(0.1), NEAR).is_spent(u64::MAX, 0.0));

        let mut falling = Allowance::new(Some(100), Some(0.1), NEAR);
        assert!(!falling.is_spent(40, -5.0)); // F = -5 half-way
        assert!(!falling.is_spent(100, -10.0)); // to -10: as much again
        assert!(!falling.is_spent(199, -10.5));
        assert!(falling.is_spent(200, -10.9)); // from -10 by less than a tenth
        assert!(falling.further(200, -10.9).is_none());
        // what is gained in the first half does not count
        let mut early = Allowance::new(Some(100), Some(0.1), NEAR);
        assert!(!early.is_spent(49, -10.0) && early.is_spent(100, -10.5));
    }

    #[test]
    fn more_work_is_to_bring_more() {
        let mut slowing = Allowance::new(Some(100), Some(0.1), NEAR);
        assert!(!slowing.is_spent(49, -8.0) && !slowing.is_spent(100, -10.0));
        // the second doubling costs twice as much: a tenth is not enough any more, but enough to go on with later
        assert!(slowing.is_spent(200, -11.5));
        let further = slowing.further(200, -11.5).unwrap();
        assert_eq!((further.work, further.again), (200, 0.1));
        // a fifth is
        let mut steady = Allowance::new(Some(100), Some(0.1), NEAR);
        assert!(!steady.is_spent(49, -8.0) && !steady.is_spent(100, -10.0) && !steady.is_spent(200, -13.0));
    }

    #[test]
    fn what_cannot_come_near_ends() {
        // F falls from -8 half-way to -10
        let ended = |to_beat| {
            let mut allowance = Allowance::new(Some(100), Some(0.1), (0.0, to_beat));
            let is_spent = allowance.is_spent(49, -8.0) || allowance.is_spent(100, -10.0);
            assert!(!is_spent || allowance.further(100, -10.0).is_none());
            is_spent
        };
        assert!(!ended(-10.0 - 0.99 * REACH * 2.0));
        assert!(ended(-10.0 - 1.01 * REACH * 2.0));
        assert!(!ended(f64::INFINITY), "nothing has been found yet");
    }
}
