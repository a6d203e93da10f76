//! The race of the arms: which of them is worth more work.

use super::Portfolio;
use super::engine::{Aim, Elite, Engine, Place, Until};
use super::flight::Outcome;
use super::task::{Done, Task};
use crate::error::Error;
use crate::linalg::order::{ascending, least_first};
use crate::message::Message;
use crate::objective::Evaluate;
use crate::solve::ArmReport;

impl<P: Evaluate + Sync + 'static> Engine<'_, '_, P> {
    /// A quick look; the leaders, perhaps after another one; then all other arms at level 0, the better half at level 1, ...
    pub(super) fn race(&mut self) {
        let arms = &self.portfolio.arms;
        let leaders = self.portfolio.leaders.min(arms.len());
        self.arms = arms.iter().map(|arm| report(&arm.solver, &arm.start)).collect();
        // a small share of the work of a leader, and all there is where not even one of those comes to an end
        for (k, _) in &self.portfolio.quick {
            self.round(&mut vec![*k], 0);
        }
        // what most often does well, as patiently as it would be run alone: on large data that is all there is time for
        self.glance(leaders);
        let (mut living, late) = self.lead((0..leaders).collect());
        self.is_enough(); // doublings count from here
        if !self.ending.agreed && self.portfolio.hopeless.is_none() {
            self.search_as_long((0, 0), 1);
        }
        // the others one after the other, and in between the best point so far is searched from
        let mut rest: Vec<usize> =
            late.into_iter().chain(leaders..arms.len()).filter(|k| !living.contains(k)).collect();
        if !self.has("race") {
            rest.clear();
        }
        rest.reverse();
        while !rest.is_empty() && !self.is_over() && !self.is_enough() {
            let before = self.spent();
            let mut some: Vec<usize> =
                (0..self.portfolio.tuning.in_race()).filter_map(|_| rest.pop()).collect();
            self.round(&mut some, 0);
            living.extend(some);
            self.search_as_long(before, self.portfolio.tuning.patience());
        }
        living.sort_unstable();
        ascending(&mut living, &|k| self.arms[k].objective);
        if !self.has("halving") {
            living.clear();
        }
        for level in 1..=self.portfolio.tuning.levels + self.portfolio.freshest {
            if self.is_over() || self.is_enough() || living.is_empty() {
                break;
            }
            living.truncate(living.len().div_ceil(2));
            let before = self.spent();
            self.round(&mut living, level);
            self.search_as_long(before, 1);
        }
        self.race = self.work;
    }

    /// The leaders run, all at once or two by two; those that have run and those that are to wait.
    fn lead(&mut self, leaders: Vec<usize>) -> (Vec<usize>, Vec<usize>) {
        let mut waiting = self.looked_at(leaders);
        let Some(margin) = self.portfolio.hopeless else {
            self.round(&mut waiting, self.portfolio.tuning.own_level);
            return (waiting, Vec::new());
        };
        let (mut living, mut late) = (Vec::new(), Vec::new());
        while !waiting.is_empty() && !self.is_over() {
            let before = self.spent();
            let mut some: Vec<usize> =
                waiting.drain(..self.portfolio.tuning.in_race().min(waiting.len())).collect();
            self.round(&mut some, self.portfolio.tuning.own_level);
            living.extend(some);
            let (hopeless, others) = waiting.into_iter().partition(|k| self.is_hopeless(*k, margin));
            (late, waiting) = ([late, hopeless].concat(), others);
            self.search_as_long(before, 1);
        }
        (living, late)
    }

    /// Whether the best end of the runs that an arm's solver has had from other starts is above the best of all by more than
    /// `margin`·|F|.
    fn is_hopeless(&self, arm: usize, margin: f64) -> bool {
        let alike = |other: &&ArmReport| {
            other.level >= self.portfolio.tuning.own_level && other.solver == self.arms[arm].solver
        };
        // where other arms have come after a glance, one start is not enough to tell
        let enough = 1 + usize::from(!self.portfolio.glances.is_empty());
        self.arms.iter().filter(alike).count() >= enough && self.are_behind(alike, margin)
    }

    /// Whether some arms have run and the best of them is above the best of all by more than `margin`·|F|.
    fn are_behind(&self, which: impl Fn(&&ArmReport) -> bool, margin: f64) -> bool {
        let run = self.arms.iter().filter(|arm| arm.runs > 0).filter(which);
        let reached = run.map(|arm| arm.objective).fold(f64::INFINITY, f64::min);
        reached.is_finite() && reached - self.lowest() > margin * self.size
    }

    /// The leaders in the order in which they run: the first of them runs, and beside it some arms that are looked at, the best of
    /// which comes next.
    fn looked_at(&mut self, mut leaders: Vec<usize>) -> Vec<usize> {
        let looks = &self.portfolio.looks;
        let Some(first) = leaders.first().copied().filter(|_| !looks.is_empty()) else { return leaders };
        let places = std::iter::once((first, self.portfolio.tuning.own_level))
            .chain(looks.iter().map(|look| (look.0, 0)))
            .collect();
        let order = self.round_of(places);
        let has_place = self.arms[first].runs > 0;
        if !has_place && !self.is_over() {
            leaders.remove(0);
        }
        if let Some(best) = order.into_iter().find(|k| *k != first) {
            leaders.retain(|k| *k != best);
            leaders.insert(usize::from(has_place), best);
        }
        leaders
    }

    /// Where a run takes seconds: the first of the leaders runs, and a glance at some arms shows which of them are worth a run
    /// before the other leaders. A start that a quick look has found to be far behind is not worth even that.
    fn glance(&mut self, leaders: usize) {
        let glances = self.portfolio.glances.clone();
        if glances.is_empty() || leaders == 0 {
            return;
        }
        let start = |k: usize| &self.portfolio.arms[k].start;
        let is_known = |k: &usize| self.portfolio.quick.iter().any(|(quick, _)| start(*quick) == start(*k));
        let (mut known, new): (Vec<usize>, Vec<usize>) = glances.iter().partition(|k| is_known(k));
        self.round_of(
            std::iter::once((0, self.portfolio.tuning.own_level))
                .chain(new.into_iter().map(|k| (k, 0)))
                .collect(),
        );
        let (far, level) = (10.0 * self.portfolio.tuning.hopeless, self.portfolio.tuning.own_level - 1);
        known.retain(|k| !self.are_behind(|arm| arm.start == *start(*k), far));
        self.round(&mut known, 0);
        let is_near = |k: &usize| self.arms[*k].objective - self.lowest() <= far * self.size;
        self.round(&mut glances.into_iter().filter(is_near).collect(), level);
    }

    /// Work of all tasks, and of the moves among them.
    fn spent(&self) -> (u64, u64) {
        (self.work, self.searched)
    }

    /// What has been found is searched from for so many times the work that arms have done since there was that.
    fn search_as_long(&mut self, (work, searched): (u64, u64), times: u64) {
        if !self.has("search in between") {
            return;
        }
        let arms = (self.work - self.searched) - (work - searched);
        self.go_on(Until::Searched(searched + times * arms));
    }

    /// One round of arms at a level, which are brought into the order of what they have reached.
    fn round(&mut self, living: &mut Vec<usize>, level: u32) {
        *living = self.round_of(living.iter().map(|k| (*k, level)).collect());
    }

    /// One round of arms at levels of their own; those that have reached something, the best first.
    fn round_of(&mut self, places: Vec<(usize, u32)>) -> Vec<usize> {
        self.order.clear();
        for (k, level) in places {
            let arm = &self.arms[k];
            if arm.runs > 0 && arm.level >= level {
                self.order.push((arm.objective, k)); // has been there
                continue;
            }
            let seed = self.seed_of(k, level);
            match (self.portfolio.arms[k].task)(self.problem, level, seed) {
                Ok(mut task) => {
                    if level == 0 {
                        look_only(self.portfolio, k, &mut task);
                    }
                    self.flight.launch(task, Aim::Arm((k, level, seed)), self.lowest());
                }
                Err(error) => self.failed(k, error),
            }
        }
        self.go_on(Until::Round);
        let mut order = std::mem::take(&mut self.order);
        least_first(&mut order);
        order.into_iter().map(|(_, k)| k).collect()
    }

    /// An arm has run.
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

    /// An arm that gave nothing; what is said once is enough.
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
        // the leaders begin where they would begin alone
        let further = if level == self.portfolio.tuning.own_level && arm < self.portfolio.leaders {
            0
        } else {
            arm as u64 * 1000 + u64::from(level)
        };
        self.settings.seed.wrapping_add(further)
    }

    pub(super) fn book_arm(&mut self, (k, level, seed): Place, done: Done) {
        for failure in &done.failures {
            let what = format!("{failure}: left out of {}", self.arms[k].solver);
            self.note(what.into());
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

/// The task of arm k at level 0 ends soon where it is there for a look.
fn look_only<P>(portfolio: &Portfolio<P>, k: usize, task: &mut Task<P>) {
    let Portfolio { quick, looks, glances, .. } = portfolio;
    let quick = quick.iter().find(|quick| quick.0 == k);
    if let Some((_, most)) = quick {
        let shares = std::iter::once(1).chain(std::iter::repeat(portfolio.tuning.quick_polish));
        task.parts.iter_mut().zip(shares).for_each(|(part, share)| part.most = Some(most / share));
    }
    let look = looks.iter().find(|look| look.0 == k).map(|look| look.1);
    if let (Some(share), Some((first, others))) =
        (look.filter(|share| *share > 1), task.parts.split_first_mut())
    {
        // what goes on from there does as much as if the first one had not been shortened
        others.iter_mut().for_each(|part| part.most = first.most.map(|most| most / (2 * part.share)));
        first.most = first.most.map(|most| most / share);
    }
    if glances.contains(&k) {
        task.parts
            .iter_mut()
            .for_each(|part| part.most = part.most.map(|most| most / portfolio.tuning.patience()));
    }
    if quick.is_some() || look.is_some() || glances.contains(&k) {
        task.parts.iter_mut().for_each(|part| part.again = None);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::RowMat;
    use crate::problem::PcaProblem;
    use crate::search::{Part, Tuning, at};
    use crate::solve::AnySolver;
    use crate::solvers::obcd::Obcd;

    #[test]
    fn looks_do_not_go_on_while_f_falls() {
        let portfolio: Portfolio<PcaProblem> = Portfolio {
            arms: Vec::new(),
            leaders: 0,
            quick: vec![(1, 800)],
            hopeless: None,
            looks: vec![(2, 1), (4, 5)],
            glances: vec![3],
            moves: Vec::new(),
            run: 1,
            polish: 1,
            freshest: 0,
            settle: None,
            tuning: Default::default(),
        };
        let limits = |k: usize| {
            let part = |most| Part {
                solver: AnySolver::new(Obcd::seeded(0)),
                most,
                share: 1,
                again: Some(0.5),
                patient: false,
                hands_on: None,
            };
            let x0 = at(RowMat::zeros(2, 1));
            let mut task = Task { parts: vec![part(Some(5)), part(None)], x0 };
            look_only(&portfolio, k, &mut task);
            task.parts.iter().map(|part| (part.most, part.again)).collect::<Vec<_>>()
        };
        assert_eq!(limits(0), [(Some(5), Some(0.5)), (None, Some(0.5))], "a run");
        assert_eq!(limits(1), [(Some(800), None), (Some(100), None)], "a quick look");
        assert_eq!(limits(2), [(Some(5), None), (None, None)], "a look");
        assert_eq!(limits(4), [(Some(1), None), (Some(2), None)], "a shorter look");
        assert_eq!(limits(3), [(Some(5 / Tuning::DEFAULT.patience()), None), (None, None)], "a glance");
    }
}
