//! The search itself.

use std::cell::RefCell;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::control::Control;
use super::ended::{Ended, Known};
use super::ending::Ending;
use super::jobs::{JobContext, Jobs, Queue, help};
use super::task::{Done, at};
use super::turns::Turns;
use super::watcher::Watcher;
use super::{Effort, Move, Portfolio, Tuning};
use orthopt_bound::is_met;
use orthopt_core::objective::{Evaluate, size};
use orthopt_core::solve::{ArmReport, Stage};
use orthopt_core::solve::{Observer, Solution, Status, Stopping, Trace};
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_linalg::order::best_first;
use orthopt_linalg::parallel::{alone, is_alone};
use orthopt_linalg::threads::{self, Crew};
use orthopt_linalg::{RowMat, work};

/// Note for an X whose F equals its lower bound.
pub(crate) const IS_MINIMUM: &str = "F is the global minimum: it equals its lower bound";

/// Note for a search that has reached its limit of work.
pub(crate) const ALL_WORK: &str = "has done all the work it may do";

/// Settings of a search.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Seed of everything.
    pub seed: u64,
    /// When it ends by itself; `None` with a limit of time or iterations: then that is the end.
    pub effort: Option<Effort>,
    /// Work of all tasks together after which no other begins; any if `None`.
    pub work: Option<u64>,
    /// Work of the searches that this one continues: more of it must be worth more.
    pub before: u64,
    /// Tolerances and limits.
    pub stopping: Stopping,
    /// A lower bound of F over all X: the search ends where F meets it.
    pub bound: Option<f64>,
}

/// Work so far over that of the last polish, where F does not fall fast enough for more.
const PART: u64 = 4;
/// The share of |f| that |F| is taken to be at least.
const CANCELLED: f64 = 1e-3;
/// Largest amount by which F at the end of a solver may exceed the F that it tracked, relative to the size of F.
const ROUNDING: f64 = 1e-11;

/// Searches for the X of lowest F.
///
/// # Errors
/// No arm can begin.
pub fn search<P: Evaluate + Sync + 'static>(
    problem: &P,
    portfolio: &Portfolio<P>,
    settings: Settings,
    cancel: &Cancel,
    observers: &mut [&mut dyn Observer],
) -> Result<Solution> {
    if portfolio.arms.is_empty() {
        return Err(Error::Incompatible("a search needs at least one arm".into()));
    }
    let control = Control::new(cancel.within(settings.stopping.time_limit), portfolio.tuning);
    let has = |m: &&Arc<dyn Move<P>>| portfolio.tuning.has(m.name());
    let moves: Vec<_> = portfolio.moves.iter().filter(has).cloned().collect();
    let names: Vec<_> = moves.iter().map(|m| m.name()).chain([CANDIDATE]).collect();
    let expected = moves.iter().map(|_| portfolio.polish).chain([2 * portfolio.run]).collect();
    let Settings { seed, effort, stopping, .. } = settings;
    let on = JobContext { problem, stopping, control: &control };
    // The launching thread launches tasks at any time where others perform them. A limit of iterations means the same for any number of
    // threads where they are made one task after the other; and a search that is to be alone on its thread, or is on one of a pool, has
    // no others.
    let performs = stopping.max_iters.is_some() || is_alone() || rayon::current_thread_index().is_some();
    let helpers = if performs { 0 } else { threads::count() };
    let crew = Crew::new();
    thread::scope(|scope| {
        let came = RefCell::new(Vec::new());
        let call = |queue: Arc<Queue<P>>| {
            let crew = Arc::clone(&crew);
            let helper = thread::Builder::new().spawn_scoped(scope, move || help(&queue, &crew, on));
            let comes = helper.is_ok();
            came.borrow_mut().extend(helper);
            comes
        };
        let control = &control;
        let mut engine = Engine {
            problem,
            portfolio,
            moves,
            settings,
            cancel,
            control,
            watcher: Watcher { problem, control, observers, trace: Trace::default(), seen: 0 },
            jobs: Jobs::new(helpers, &call),
            until: Until::Landed,
            performs,
            order: Vec::new(),
            survivors: Vec::new(),
            pending: Vec::new(),
            level: 0,
            failures: 0,
            arms: Vec::new(),
            ends: Vec::new(),
            elite: Vec::new(),
            points: None,
            size: 0.0,
            turns: Turns::new(&names, expected),
            rng: Pcg64::seed_from_u64(seed ^ 0x5345_4152_4348),
            work: 0,
            race: 0,
            iterations: 0,
            winner: 0,
            ended: Ended::default(),
            ending: Ending::new(effort, settings.before),
            end: None,
            notes: Vec::new(),
            fresh: 0,
        };
        let all = || {
            // what this thread has counted elsewhere is no work of the search
            work::counted(|| {
                engine.race();
                engine.local_search();
                engine.settle();
                engine.solution()
            })
            .0
        };
        // a caller that waits for a thread of the pool can neither launch a task nor show progress
        let found = if performs { all() } else { alone(all) };
        for helper in came.take() {
            helper.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        found
    })
}

/// The kind of task that is no move: a candidate that has done well runs again, more patiently or from another start.
const CANDIDATE: &str = "candidate again";

/// An arm, a level and a seed.
pub(super) type Place = (usize, u32, u64);

/// Purpose of a running task.
pub(super) enum JobKind {
    /// A run of an arm in a round of the race.
    Arm(Place),
    /// A move of this kind, or an arm afresh.
    Search(usize, Option<Place>),
    /// The best point, polished further: how it was found.
    Further(String, Vec<Stage>),
    /// The best point, polished.
    Settle,
}

/// Event up to which the search continues.
#[derive(Clone, Copy)]
pub(super) enum Until {
    /// Until the round of arms is over.
    Round,
    /// Until the work is no longer worth it.
    Enough,
    /// Until nothing is in flight.
    Landed,
}

/// A good point and how it was found.
pub(super) struct Elite {
    pub(super) done: Done,
    pub(super) solver: String,
}

pub(super) struct Engine<'a, 'o, P> {
    pub(super) problem: &'a P,
    pub(super) portfolio: &'a Portfolio<P>,
    pub(super) moves: Vec<Arc<dyn Move<P>>>, // those of the portfolio that are not left out
    pub(super) settings: Settings,
    pub(super) cancel: &'a Cancel, // of the caller
    pub(super) control: &'a Control,
    pub(super) watcher: Watcher<'a, 'o, P>,
    pub(super) jobs: Jobs<'a, P, JobKind>,
    pub(super) until: Until,
    pub(super) performs: bool,           // tasks, on this thread
    pub(super) order: Vec<(f64, usize)>, // of the arms of a round, by what they have reached
    pub(super) survivors: Vec<usize>,    // candidates that successive halving has left
    pub(super) pending: Vec<Place>, // those of its present round that are still to run, the next one last
    pub(super) level: u32,          // of that round
    pub(super) failures: u32,       // of moves, one after the other
    pub(super) arms: Vec<ArmReport>,
    pub(super) ends: Vec<Option<(Status, RowMat)>>, // of the last run of arms that continue
    pub(super) elite: Vec<Elite>,                   // lowest F first
    pub(super) points: Option<Arc<[RowMat]>>,       // theirs, until they change
    pub(super) size: f64, // what decreases of F are measured by: |F|, or more where f and h almost cancel
    pub(super) turns: Turns,
    pub(super) rng: Pcg64,
    pub(super) work: u64, // of all tasks that have ended
    pub(super) race: u64,
    pub(super) iterations: u64, // of tasks that have ended
    pub(super) winner: usize,
    pub(super) ended: Ended, // where runs have ended
    pub(super) ending: Ending,
    pub(super) end: Option<(Status, String)>,
    pub(super) notes: Vec<Message>,
    pub(super) fresh: u64,
}

fn keep_among(elite: &mut Vec<Elite>, new: Elite, scale: f64, tuning: &Tuning) {
    let same = 1e-9 * size(scale, new.done.objective);
    let near = |e: &Elite| (e.done.objective - new.done.objective).abs() <= same;
    if let Some(same) = elite.iter_mut().find(|e| near(e)) {
        if new.done.objective < same.done.objective {
            *same = new;
        }
    } else {
        elite.push(new);
    }
    *elite = best_first(std::mem::take(elite), |e| -e.done.objective);
    elite.truncate(tuning.elite);
}

impl<'a, P: Evaluate + Sync + 'static> Engine<'a, '_, P> {
    /// Among the good points, if it is one and differs from the others.
    pub(super) fn keep(&mut self, new: Elite) {
        let before = self.lowest();
        let scale = self.problem.scale(&new.done.x);
        keep_among(&mut self.elite, new, scale, &self.portfolio.tuning);
        self.points = None;
        if self.lowest() < before {
            self.measure();
        }
    }

    /// The size of F at the best point.
    fn measure(&mut self) {
        let parts = self.problem.objective(&self.elite[0].done.x);
        self.size = parts.total.abs().max(CANCELLED * parts.smooth.abs());
    }

    /// True if a part is there.
    pub(super) fn has(&self, part: &str) -> bool {
        self.portfolio.tuning.has(part)
    }

    /// Problem, limits and control that tasks share.
    pub(super) fn context(&self) -> JobContext<'a, P> {
        JobContext { problem: self.problem, stopping: self.settings.stopping, control: self.control }
    }

    /// Budget of a task that is launched now.
    pub(super) fn known(&self) -> Known {
        let ended = if self.has("known supports") { self.ended.clone() } else { Ended::default() };
        Known { lowest: self.lowest(), ended }
    }

    /// Lowest F so far.
    pub(super) fn lowest(&self) -> f64 {
        self.elite.first().map_or(f64::INFINITY, |e| e.done.objective)
    }

    /// True if a limit, a user or the bound ends the search now.
    pub(super) fn is_over(&mut self) -> bool {
        if self.end.is_some() {
            return true;
        }
        let max_iters = self.settings.stopping.max_iters;
        let lowest = self.lowest();
        let met = self.settings.bound.is_some_and(|bound| is_met(lowest, bound));
        self.end = if self.cancel.is_cancelled() {
            Some((Status::Interrupted, "interrupted; this is the best point so far".into()))
        } else if self.control.is_spent() {
            Some((Status::Stalled, ALL_WORK.into()))
        } else if self.control.cancel.is_late() {
            Some((Status::TimeLimit, "reached the time limit".into()))
        } else if max_iters.is_some_and(|most| self.control.iterations() >= most) {
            let limit = max_iters.unwrap_or_default();
            Some((Status::MaxIters, format!("reached the limit of {limit} iterations")))
        } else {
            met.then(|| (Status::Optimal, IS_MINIMUM.into()))
        };
        if met {
            self.control.cancel.cancel(); // what is in flight finds nothing lower
        }
        self.end.is_some()
    }

    /// True if more work is not worth it, or is not allowed.
    pub(super) fn is_enough(&self) -> bool {
        self.has_worked() || self.is_reached()
    }

    /// True if more work is not worth it.
    pub(super) fn is_reached(&self) -> bool {
        self.ending.is_reached(self.work, (self.lowest(), self.size))
    }

    /// True if all of its work is done. Tasks count when they are taken in, in an order that does not depend on threads.
    pub(super) fn has_worked(&self) -> bool {
        self.settings.work.is_some_and(|most| self.work >= most)
    }

    /// Tasks from the best points until the work is no longer worth it.
    fn local_search(&mut self) {
        self.go_on(Until::Enough);
        self.go_on(Until::Landed);
    }

    /// The best point, polished until no pair of rows lowers F, as long as that is worth it.
    fn settle(&mut self) {
        if self.is_over() || !self.has("settle") {
            return;
        }
        let (Some(settle), Some(best)) = (&self.portfolio.settle, self.elite.first()) else { return };
        let Ok(mut task) = settle(self.problem, self.portfolio.tuning.levels, self.settings.seed) else {
            return;
        };
        task.x0 = at(best.done.x.clone());
        // a part of what there has been, and more for what is worth it there
        let worth = self.ending.worth(self.work) / PART as f64;
        let most = (self.work / PART).max(self.portfolio.tuning.min_polish);
        task.phases.iter_mut().for_each(|phase| (phase.most, phase.again) = (Some(most), Some(worth)));
        let known = Known { lowest: best.done.objective, ..self.known() };
        self.jobs.launch(task, JobKind::Settle, known);
        self.go_on(Until::Landed);
    }

    /// The best point after it has been polished.
    pub(super) fn settled(&mut self, mut done: Done) {
        let (lowest, scale) = (self.lowest(), self.problem.scale(&done.x));
        if let Some(best) =
            self.elite.first().filter(|_| done.objective <= lowest + ROUNDING * size(scale, lowest))
        {
            done.stages = [best.done.stages.clone(), done.stages].concat();
            let solver = best.solver.clone();
            self.elite.insert(0, Elite { done, solver });
            self.measure();
        }
    }
}
