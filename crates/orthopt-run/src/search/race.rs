//! The candidates: each runs once, the better half of them again and twice as patiently, until one is left.

use super::engine::{Elite, Engine, JobKind, Place, Until};
use super::jobs::Outcome;
use super::task::{Done, Task, at};
use orthopt_core::objective::Evaluate;
use orthopt_core::solve::{ArmReport, Status};
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_linalg::order::{ascending, least_first};

impl<P: Evaluate + Sync + 'static> Engine<'_, '_, P> {
    /// Every candidate at level 0, a few at a time, the ones that most often do well first.
    pub(super) fn race(&mut self) {
        let arms = &self.portfolio.arms;
        self.arms = arms.iter().map(|arm| report(&arm.solver, &arm.start)).collect();
        self.ends = arms.iter().map(|_| None).collect();
        let all: Vec<usize> = (0..arms.len()).collect();
        for some in all.chunks(self.portfolio.tuning.in_race()) {
            self.round(some);
            if self.is_over() || self.has_worked() {
                break;
            }
        }
        let mut survivors: Vec<usize> = all.into_iter().filter(|k| self.arms[*k].runs > 0).collect();
        ascending(&mut survivors, &|k| self.arms[k].objective);
        self.survivors = survivors;
        self.race = self.work;
        self.ending.begin();
    }

    /// Next candidate of successive halving: the better half of the candidates at the next level, one after the other.
    /// After the last round, candidates with a random start run from other seeds, by turns.
    pub(super) fn next_candidate(&mut self) -> Option<Place> {
        let halving = self.portfolio.tuning.has("halving");
        if halving && self.pending.is_empty() && self.level < self.portfolio.tuning.levels {
            self.level += 1;
            let mut survivors = std::mem::take(&mut self.survivors);
            ascending(&mut survivors, &|k| self.arms[k].objective);
            survivors.truncate(survivors.len().div_ceil(2));
            let open = survivors.iter().rev().filter(|k| !self.has_ended(**k));
            self.pending = open.map(|k| (*k, self.level, self.seed_of(*k, self.level))).collect();
            self.survivors = survivors;
        }
        if let Some(place) = self.pending.pop() {
            return Some(place);
        }
        let chance = |k: &usize| self.portfolio.arms[*k].random && self.arms[*k].runs > 0;
        let random: Vec<usize> = (0..self.arms.len()).filter(chance).collect();
        let next = *random.get(self.fresh as usize % random.len().max(1))?;
        self.fresh += 1;
        Some((next, 1, self.settings.seed.wrapping_add(1_000_000 + self.fresh)))
    }

    /// True if another run of the arm would end where the last one did.
    fn has_ended(&self, k: usize) -> bool {
        self.ends[k].as_ref().is_some_and(|(status, _)| *status == Status::Converged)
    }

    /// The task of an arm; one that continues begins where its last run was cut off.
    pub(super) fn task_of(&self, (k, level, seed): Place) -> Result<Task<P>> {
        let mut task = (self.portfolio.arms[k].task)(self.problem, level, seed)?;
        if let Some((_, x)) = &self.ends[k] {
            task.x0 = at(x.clone());
        }
        Ok(task)
    }

    /// Some candidates at level 0.
    fn round(&mut self, some: &[usize]) {
        self.order.clear();
        for k in some {
            let seed = self.seed_of(*k, 0);
            match self.task_of((*k, 0, seed)) {
                Ok(task) => self.jobs.launch(task, JobKind::Arm((*k, 0, seed)), self.known()),
                Err(error) => self.failed(*k, error),
            }
        }
        self.go_on(Until::Round);
        least_first(&mut self.order);
    }

    /// A candidate of the race has run.
    pub(super) fn ran(&mut self, place: Place, outcome: Outcome) {
        match outcome {
            Some(Ok(done)) => {
                self.order.push((done.objective, place.0));
                self.book_arm(place, done);
            }
            Some(Err(error)) => self.failed(place.0, error),
            None => {}
        }
    }

    /// Records why a candidate failed; the same message is kept once.
    fn failed(&mut self, k: usize, error: Error) {
        if self.control.cancel.is_over() || matches!(error, Error::NoPlace { .. }) {
            return; // cut off, or for other problems
        }
        let arm = &self.portfolio.arms[k];
        let what = format!("{} from {} failed: ", arm.solver, arm.start);
        self.note(Message::from(what).then(error.message()));
    }

    fn note(&mut self, note: Message) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn seed_of(&self, arm: usize, level: u32) -> u64 {
        self.settings.seed.wrapping_add(arm as u64 * 1000 + u64::from(level))
    }

    pub(super) fn book_arm(&mut self, (k, level, seed): Place, done: Done) {
        for failure in &done.failures {
            let what = format!("{failure}: left out of {}", self.arms[k].solver);
            self.note(what.into());
        }
        if self.portfolio.arms[k].continues {
            self.ends[k] = Some((done.status, done.x.clone()));
        }
        let report = &mut self.arms[k];
        report.runs += 1;
        report.level = report.level.max(level);
        report.work += done.work;
        if done.objective < report.objective {
            (report.objective, report.seed, report.best_level) = (done.objective, seed, level);
            report.constants = (self.portfolio.arms[k].constants)(level);
        }
        let lowest = report.curve.last().map_or(f64::INFINITY, |c| c.1);
        report.curve.extend(done.curve.iter().filter(|c| c.1 < lowest));
        let is_best = self.elite.first().is_none_or(|best| done.objective < best.done.objective);
        if is_best {
            self.winner = k;
        }
        let solver = self.portfolio.arms[k].solver.clone();
        self.keep(Elite { done, solver });
    }
}

fn report(solver: &str, start: &str) -> ArmReport {
    ArmReport {
        solver: solver.into(),
        start: start.into(),
        level: 0,
        seed: 0,
        best_level: 0,
        constants: Default::default(),
        runs: 0,
        objective: f64::INFINITY,
        work: 0,
        curve: Vec::new(),
    }
}
