//! The search itself.

use std::ops::Range;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::bandit::Bandit;
use super::batch::{Outcome, perform_all, perform_counted};
use super::control::Control;
use super::ending::Ending;
use super::task::{Done, Origin, Task};
use super::watcher::Watcher;
use super::{Effort, Move, Portfolio};
use crate::bound::PROVED;
use crate::error::{Error, Result};
use crate::linalg::RowMat;
use crate::linalg::order::{ascending, best_first};
use crate::message::Message;
use crate::objective::Evaluate;
use crate::solve::ArmReport;
use crate::solve::{Observer, Solution, Status, Stopping, Trace};

/// How a search goes.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Seed of everything.
    pub seed: u64,
    /// When it ends by itself; `None` with a limit of time or iterations: then that is the end.
    pub effort: Option<Effort>,
    /// Tolerances and limits.
    pub stopping: Stopping,
    /// A lower bound of F over all X: the search ends where F meets it.
    pub bound: Option<f64>,
}

/// Tasks of a batch of the local search.
const BATCH: usize = 4;
/// Good points that are kept, and how many numbers they may have where that is less.
const ELITE: usize = 24;
const FEWER: usize = 6;
const NUMBERS: usize = 5_000_000;
/// Which of the arms fresh starts take, by what they have reached: the best half of the time.
const FINALISTS: [usize; 6] = [0, 1, 0, 2, 0, 1];
/// Those that have reached no more than this share of |F| above the best of them are not among them.
const HOPELESS: f64 = 0.02;
/// The share of the local search that starts afresh. Where solutions are many and shallow nothing does better; elsewhere moves
/// from the best points lower F by some ten times more for the same work.
const AFRESH: f64 = 0.2;
/// The highest level of the race, counted from the least of fresh starts.
pub(super) const LEVELS: u32 = 3;
/// The share of |f| that |F| is taken to be at least.
const CANCELLED: f64 = 1e-3;
/// The least work that a settling may do.
const LEAST: u64 = 1_000_000_000;
/// How far above the F that a solver has tracked the F of its end may lie, relative to 1 + |F|.
const ROUNDING: f64 = 1e-11;
/// A task of the local search that fails as often in a row as this many batches ends it: nothing can move.
const EMPTY: u32 = 8;

/// Searches for the X of lowest F.
///
/// # Errors
/// No arm can begin.
pub fn search<P: Evaluate + Sync + 'static>(
    problem: &P,
    portfolio: &Portfolio<P>,
    settings: Settings,
    observers: &mut [&mut dyn Observer],
) -> Result<Solution> {
    if portfolio.arms.is_empty() {
        return Err(Error::Incompatible("a search needs at least one arm".into()));
    }
    let control = Control::new(settings.stopping.time_limit);
    let names: Vec<_> = portfolio.moves.iter().map(|m| m.name()).chain(FRESH.iter().copied()).collect();
    let levels = portfolio.freshest..portfolio.freshest + FRESH.len() as u32;
    let fresh = levels.map(|level| f64::from(1u32 << level) * portfolio.run as f64);
    let prior = portfolio.moves.iter().map(|_| portfolio.polish as f64).chain(fresh).collect();
    let watcher =
        Watcher { problem, control: &control, observers, trace: Trace::default(), seen: 0, broke: false };
    let mut engine = Engine {
        problem,
        portfolio,
        settings,
        control: &control,
        watcher,
        arms: Vec::new(),
        elite: Vec::new(),
        bandit: Bandit::new(&names, prior),
        rng: Pcg64::seed_from_u64(settings.seed ^ 0x5345_4152_4348),
        work: 0,
        race: 0,
        winner: 0,
        ending: Ending::new(settings.effort),
        end: None,
        notes: Vec::new(),
        fresh: 0,
    };
    engine.race();
    engine.local_search();
    engine.settle();
    engine.solution()
}

/// The moves that run an arm that has done well from a new start, at three levels one after the other.
const FRESH: &[&str] = &["fresh start", "patient fresh start", "very patient fresh start"];

/// An arm, a level and a seed.
type Place = (usize, u32, u64);

/// A good point and how it was found.
pub(super) struct Elite {
    pub(super) done: Done,
    pub(super) solver: String,
}

pub(super) struct Engine<'a, 'o, P> {
    pub(super) problem: &'a P,
    pub(super) portfolio: &'a Portfolio<P>,
    pub(super) settings: Settings,
    pub(super) control: &'a Control,
    pub(super) watcher: Watcher<'a, 'o, P>,
    pub(super) arms: Vec<ArmReport>,
    pub(super) elite: Vec<Elite>, // lowest F first
    pub(super) bandit: Bandit,
    pub(super) rng: Pcg64,
    pub(super) work: u64,
    pub(super) race: u64,
    pub(super) winner: usize,
    pub(super) ending: Ending,
    pub(super) end: Option<(Status, String)>,
    pub(super) notes: Vec<Message>,
    pub(super) fresh: u64,
}

fn keep_among(elite: &mut Vec<Elite>, new: Elite) {
    let near =
        |e: &Elite| (e.done.objective - new.done.objective).abs() <= 1e-9 * (1.0 + new.done.objective.abs());
    if let Some(same) = elite.iter_mut().find(|e| near(e)) {
        if new.done.objective < same.done.objective {
            *same = new;
        }
    } else {
        elite.push(new);
    }
    *elite = best_first(std::mem::take(elite), |e| -e.done.objective);
    let numbers = elite[0].done.x.data().len().max(1);
    elite.truncate((NUMBERS / numbers).clamp(FEWER, ELITE));
}

impl<P: Evaluate + Sync + 'static> Engine<'_, '_, P> {
    /// Among the good points, if it is one and differs from the others.
    pub(super) fn keep(&mut self, new: Elite) {
        keep_among(&mut self.elite, new);
    }

    pub(super) fn perform(&mut self, tasks: &[Task<P>]) -> Vec<Outcome> {
        let (stopping, control) = (&self.settings.stopping, self.control);
        let mut tick = || self.watcher.look(false);
        let results = match stopping.max_iters {
            Some(most) => perform_counted(self.problem, tasks, stopping, (control, most), &mut tick),
            None => perform_all(self.problem, tasks, stopping, control, &mut tick),
        };
        let done = results.iter().filter_map(|r| r.as_ref()?.as_ref().ok());
        self.work += done.map(|d| d.work).sum::<u64>();
        results
    }

    /// Lowest F so far.
    pub(super) fn lowest(&self) -> f64 {
        self.elite.first().map_or(f64::INFINITY, |e| e.done.objective)
    }

    /// What decreases of F are measured by: |F|, or more where f and h almost cancel.
    pub(super) fn size(&self) -> f64 {
        let Some(best) = self.elite.first() else { return 0.0 };
        let parts = self.problem.objective(&best.done.x);
        parts.total.abs().max(CANCELLED * parts.smooth.abs())
    }

    /// Whether a limit, a user or the bound ends it here.
    pub(super) fn is_over(&mut self) -> bool {
        if self.end.is_some() {
            return true;
        }
        let Stopping { max_iters, time_limit, .. } = self.settings.stopping;
        let lowest = self.lowest();
        let met = self.settings.bound.is_some_and(|bound| lowest - bound <= PROVED * lowest.abs());
        self.end = if self.watcher.broke {
            Some((Status::Interrupted, "interrupted; this is the best point so far".into()))
        } else if self.control.is_late() {
            let limit = time_limit.unwrap_or_default();
            Some((Status::TimeLimit, format!("reached the time limit of {limit} s")))
        } else if max_iters.is_some_and(|most| self.control.iterations() >= most) {
            let limit = max_iters.unwrap_or_default();
            Some((Status::MaxIters, format!("reached the limit of {limit} iterations")))
        } else {
            met.then(|| (Status::Optimal, "F is the global minimum: it meets its lower bound".into()))
        };
        self.end.is_some()
    }

    /// Tasks from the best points until the work is no longer worth it.
    fn local_search(&mut self) {
        let mut empty = 0;
        while !self.is_over() && !self.is_enough() && !self.elite.is_empty() && empty < EMPTY {
            let found = self.batch();
            empty = if found { 0 } else { empty + 1 };
        }
    }

    /// Whether more work is not worth it.
    pub(super) fn is_enough(&mut self) -> bool {
        let (lowest, size) = (self.lowest(), self.size());
        let found: Vec<_> = self.arms.iter().map(|arm| (arm.start.as_str(), arm.objective)).collect();
        self.ending.is_reached(self.work, (lowest, size), &found)
    }

    /// Four tasks; whether any gave a point.
    pub(super) fn batch(&mut self) -> bool {
        let points: Arc<[RowMat]> = self.elite.iter().map(|e| e.done.x.clone()).collect();
        let (mut tasks, mut kinds) = (Vec::new(), Vec::new());
        let (moves, fresh) = self.kinds();
        if moves.is_empty() {
            return false; // no moves, and no start with chance in it
        }
        self.bandit.measure(self.size());
        let is_fresh_due = self.is_fresh_due();
        for slot in 0..BATCH {
            let from = if is_fresh_due && slot + 1 == BATCH { &fresh } else { &moves };
            let kind = self.bandit.choose(from.clone(), &mut self.rng);
            let own = Pcg64::seed_from_u64(self.rng.random());
            let task = match self.portfolio.moves.get(kind) {
                Some(movement) => Some((moved(movement, self.problem, &points, own), None)),
                None => {
                    self.fresh_start((kind - self.portfolio.moves.len()) as u32 + self.portfolio.freshest)
                }
            };
            match task {
                Some((task, arm)) => {
                    tasks.push(task);
                    kinds.push((kind, arm));
                }
                None => self.bandit.fail(kind),
            }
        }
        let results = self.perform(&tasks);
        let mut any = false;
        for ((kind, arm), outcome) in kinds.into_iter().zip(results) {
            let Some(Ok(done)) = outcome else {
                self.bandit.fail(kind);
                continue;
            };
            any = true;
            let gain = (self.lowest() - done.objective).max(0.0);
            let gain = if gain > 1e-12 * (1.0 + done.objective.abs()) { gain } else { 0.0 };
            self.bandit.learn(kind, gain, done.work.max(1));
            match arm {
                Some((k, level, seed)) => self.book_arm(k, level, seed, done),
                None => {
                    let solver = self.elite.first().map(|e| e.solver.clone()).unwrap_or_default();
                    self.keep(Elite { done, solver });
                }
            }
        }
        any
    }

    /// The moves from the best points and those that start afresh, where there are any.
    fn kinds(&self) -> (Range<usize>, Range<usize>) {
        let (moves, all) = (self.portfolio.moves.len(), self.bandit.reports.len());
        let fresh = if self.portfolio.arms.iter().any(|arm| arm.random) { moves..all } else { 0..moves };
        (if moves > 0 { 0..moves } else { fresh.clone() }, if fresh.is_empty() { moves..all } else { fresh })
    }

    /// Whether starts afresh have had less than their share of the work of the local search.
    fn is_fresh_due(&self) -> bool {
        let (moves, all) = (self.portfolio.moves.len(), self.bandit.reports.len());
        (self.bandit.work(moves..all) as f64) < AFRESH * self.bandit.work(0..all).max(1) as f64
    }

    /// An arm that has done well, with chance in its start if there is one, from another start.
    fn fresh_start(&mut self, level: u32) -> Option<(Task<P>, Option<Place>)> {
        let mut order: Vec<usize> = (0..self.arms.len()).filter(|k| self.arms[*k].runs > 0).collect();
        ascending(&mut order, &|k| self.arms[k].objective);
        let mut random: Vec<usize> =
            order.iter().copied().filter(|k| self.portfolio.arms[*k].random).collect();
        if let Some(first) = random.first() {
            let hopeless = self.arms[*first].objective + HOPELESS * self.size();
            random.retain(|k| self.arms[*k].objective <= hopeless);
        }
        let turn = FINALISTS[self.fresh as usize % FINALISTS.len()];
        let k = *random.get(turn).or(random.first())?;
        self.fresh += 1;
        let seed = self.settings.seed.wrapping_add(1_000_000 + self.fresh);
        let task = (self.portfolio.arms[k].task)(self.problem, level, seed).ok()?;
        Some((task, Some((k, level, seed))))
    }

    /// The best point, polished until no pair of rows lowers F.
    fn settle(&mut self) {
        if self.is_over() {
            return;
        }
        let (Some(settle), Some(best)) = (&self.portfolio.settle, self.elite.first()) else { return };
        let Ok(mut task) = settle(self.problem, LEVELS, self.settings.seed) else { return };
        task.x0 = Origin::Point(best.done.x.clone());
        // not more than there has been
        task.parts.iter_mut().for_each(|part| part.most = Some(self.work.max(LEAST)));
        let solver = best.solver.clone();
        let stages = best.done.stages.clone();
        if let Some(Some(Ok(mut done))) = self.perform(&[task]).pop()
            && done.objective <= self.lowest() + ROUNDING * (1.0 + self.lowest().abs())
        {
            done.stages = [stages, done.stages].concat();
            self.elite.insert(0, Elite { done, solver });
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
    let parts = movement.parts(problem, &mut rng);
    let (movement, points) = (Arc::clone(movement), Arc::clone(points));
    let x0 = Origin::Start(Box::new(move |problem, go_on| {
        let x = movement.point(problem, &points, &mut rng.clone(), go_on);
        let none = || Error::Incompatible(format!("there is no place for {}", movement.name()).into());
        x.filter(|x| x.find_non_finite().is_none()).ok_or_else(none)
    }));
    Task { parts, x0 }
}
