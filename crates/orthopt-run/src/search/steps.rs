//! The search step by step: what ends is taken in, and what comes next is launched.

use std::sync::Arc;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::Move;
use super::ended::Known;
use super::engine::{Elite, Engine, JobKind, Place, Until};
use super::jobs::{Job, Outcome};
use super::task::{MakeStart, Task, at};
use orthopt_core::objective::{Evaluate, lowers};
use orthopt_core::solve::{Further, Status};
use orthopt_linalg::error::Error;
use orthopt_linalg::{RowMat, work};

/// A gain of a move below this share of the size of F is rounding.
const ROUNDING: f64 = 1e-12;
/// Time that a watching thread sleeps when there is nothing else to do.
const NAP: Duration = Duration::from_micros(500);

impl<P: Evaluate + Sync + 'static> Engine<'_, '_, P> {
    /// Continues until something is reached. Performs tasks and checks for an end in the meantime.
    pub(super) fn go_on(&mut self, until: Until) {
        (self.until, self.failures) = (until, 0);
        self.proceed();
        while !self.is_there() {
            match self.own_job() {
                Some(job) => job.perform(self.context(), &mut || self.tick()),
                None => self.rest(),
            }
            self.tick();
        }
    }

    /// One for this thread, where it performs any.
    fn own_job(&self) -> Option<Arc<Job<P>>> {
        if self.performs || self.jobs.is_without_help() { self.jobs.take() } else { None }
    }

    /// Waits for the next end.
    fn rest(&mut self) {
        loop {
            self.watcher.look(false);
            std::thread::park_timeout(NAP);
            if self.jobs.is_next_known() || self.control.cancel.is_over() {
                return;
            }
        }
    }

    /// Between two steps of a task: it is no work of that one.
    fn tick(&mut self) {
        self.watcher.look(false);
        if self.jobs.is_next_known() {
            work::counted(|| self.proceed());
        }
    }

    /// Takes in what has ended and launches what comes next.
    fn proceed(&mut self) {
        while !self.is_there() && (self.launch() || self.take_in()) {}
    }

    /// True if it has reached what it continues until. Asked after every end, so that what follows does not depend on how many
    /// tasks have been performed by then.
    fn is_there(&mut self) -> bool {
        match self.until {
            Until::Landed => self.jobs.len() == 0,
            Until::Round => !self.jobs.aims().any(|aim| matches!(aim, JobKind::Arm(_))),
            Until::Enough => {
                self.is_over() || !self.can_move(self.portfolio.tuning.failures) || self.is_enough()
            }
        }
    }

    /// True if there is anything to continue with, and not so many times [`Tuning::in_flight`](super::Tuning::in_flight) of the moves have
    /// failed in a row.
    fn can_move(&self, times: u32) -> bool {
        !self.elite.is_empty() && self.failures < times * self.portfolio.tuning.in_flight as u32
    }

    /// Launches a move if there is room for one; whether there was.
    fn launch(&mut self) -> bool {
        let room = match self.until {
            Until::Landed => 0,
            Until::Round if self.moves.is_empty() || !self.can_move(1) => 0,
            Until::Round => self.portfolio.tuning.in_race(),
            Until::Enough => self.portfolio.tuning.in_flight,
        };
        if self.jobs.len() >= room || self.is_over() {
            return false;
        }
        if let Some((task, aim, lowest)) = self.further() {
            let known = Known { lowest, ..self.known() };
            self.jobs.launch(task, aim, known);
            return true;
        }
        let moves = self.moves.len();
        // a round of candidates has moves beside it
        let kinds = 0..moves + usize::from(!matches!(self.until, Until::Round));
        let Some(kind) = self.turns.next(kinds) else { return false };
        let own = Pcg64::seed_from_u64(self.rng.random());
        let task = match self.moves.get(kind).cloned() {
            Some(movement) => {
                let elite = &self.elite;
                let points =
                    self.points.get_or_insert_with(|| elite.iter().map(|e| e.done.x.clone()).collect());
                Some((moved(&movement, self.problem, points, own), None))
            }
            None => self.next_candidate().and_then(|place| Some((self.task_of(place).ok()?, Some(place)))),
        };
        match task {
            Some((task, place)) => self.jobs.launch(task, JobKind::Search(kind, place), self.known()),
            None => self.failures += 1,
        }
        true
    }

    /// The polish of the best point where it was cut off while F fell: once more as much as it has done.
    fn further(&mut self) -> Option<(Task<P>, JobKind, f64)> {
        if !self.has("further") {
            return None;
        }
        let best = self.elite.first_mut()?;
        let Further { work, again } = best.done.further.take()?;
        let settle = self.portfolio.settle.as_ref()?;
        let mut task = settle(self.problem, self.portfolio.tuning.levels, self.settings.seed).ok()?;
        task.x0 = at(best.done.x.clone());
        task.phases.iter_mut().for_each(|phase| (phase.most, phase.again) = (Some(work), Some(again)));
        let aim = JobKind::Further(best.solver.clone(), best.done.stages.clone());
        Some((task, aim, best.done.objective))
    }

    /// Takes in what has ended next; whether it is known what that is.
    fn take_in(&mut self) -> bool {
        let Some((aim, outcome, work)) = self.jobs.ended() else { return false };
        if matches!(self.end, Some((Status::Optimal, _))) {
            return true; // cut off, since there is nothing to be found
        }
        self.work += work;
        if let Some(Ok(done)) = &outcome
            && done.status == Status::Converged
        {
            self.ended.add(&done.x, done.objective);
        }
        self.iterations += outcome.as_ref().and_then(|o| o.as_ref().ok()).map_or(0, |done| done.iterations);
        match aim {
            JobKind::Arm(place) => self.ran(place, outcome),
            JobKind::Search(kind, place) => {
                self.searched_from(kind, place, outcome, work);
            }
            JobKind::Further(solver, stages) => {
                if let Some(Ok(mut done)) = outcome {
                    done.stages = [stages, done.stages].concat();
                    self.keep(Elite { done, solver });
                }
            }
            JobKind::Settle => {
                if let Some(Ok(done)) = outcome {
                    self.settled(done);
                }
                return true;
            }
        }
        self.ending.tried(self.work, (self.lowest(), self.size));
        true
    }

    fn searched_from(&mut self, kind: usize, place: Option<Place>, outcome: Outcome, work: u64) {
        let Some(Ok(done)) = outcome else {
            self.failures += 1;
            return;
        };
        self.failures = 0;
        let (lowest, scale) = (self.lowest(), self.problem.scale(&done.x));
        let gain =
            if lowers(done.objective, lowest, scale, ROUNDING) { lowest - done.objective } else { 0.0 };
        self.turns.learn(kind, gain, work);
        match place {
            Some(place) => self.book_arm(place, done),
            None => {
                let solver = self.elite.first().map(|e| e.solver.clone()).unwrap_or_default();
                self.keep(Elite { done, solver });
            }
        }
    }
}

/// The task of a move from the best points. The move itself is made on the thread of the task.
fn moved<P: 'static>(
    movement: &Arc<dyn Move<P>>,
    problem: &P,
    points: &Arc<[RowMat]>,
    mut rng: Pcg64,
) -> Task<P> {
    let phases = movement.phases(problem, &mut rng);
    let (movement, points) = (Arc::clone(movement), Arc::clone(points));
    let x0: MakeStart<P> = Box::new(move |problem, cancel| {
        let x = movement.point(problem, &points, &mut rng.clone(), cancel);
        let none = || Error::Incompatible(format!("the move {} is not available", movement.name()).into());
        x.filter(|x| x.find_non_finite().is_none()).ok_or_else(none)
    });
    Task { phases, x0 }
}
