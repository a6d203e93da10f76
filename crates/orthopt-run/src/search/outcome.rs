//! Result of a search.

use std::time::Duration;

use super::engine::{ALL_WORK, Elite, Engine};
use super::task::Done;
use super::{Arm, Effort};
use orthopt_bound::is_met;
use orthopt_core::objective::{Evaluate, count_nonzeros, is_point};
use orthopt_core::solve::{SearchReport, Solution, Status};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;

impl<P: Evaluate + Sync + 'static> Engine<'_, '_, P> {
    /// The best point and everything there is to say.
    pub(super) fn solution(mut self) -> Result<Solution> {
        self.is_over();
        if self.end.is_none() && !self.is_reached() && self.has_worked() {
            self.end = Some((Status::Stalled, ALL_WORK.into()));
        }
        if self.elite.is_empty() {
            self.without_any()?;
        }
        self.watcher.look(true);
        let curve = self.control.newer(0).1.map(|best| best.curve).unwrap_or_default();
        let Elite { done, solver } = self.elite.remove(0);
        let tried = self.arms.iter().map(|a| a.runs).sum::<u64>();
        let own = (done.status, done.message);
        let compared = self.arms.len() > 1 || self.turns.reports.iter().any(|kind| kind.tried > 0);
        let (status, message) = match (self.end.take(), own) {
            (Some((Status::TimeLimit | Status::MaxIters, limit)), (Status::Converged, why)) => {
                (Status::Converged, format!("{why}; the search continued until it {limit}"))
            }
            (Some(end), _) => end,
            (None, (Status::Converged | Status::Stalled | Status::MaxIters, _)) if compared => {
                let effort = self.settings.effort.unwrap_or_default();
                (Status::Converged, why_it_ends(self.ending.worth(self.work), effort))
            }
            (None, (status, why)) => (status, why),
        };
        let (problem, mut settings) = (self.problem, done.settings);
        let x = problem.cleaned(&done.x).unwrap_or(done.x);
        let objective = problem.objective(&x);
        let met = self.settings.bound.is_some_and(|bound| is_met(objective.total, bound));
        let (status, message) = match status {
            Status::Optimal if !met => (Status::Stalled, "F of X is above its lower bound".into()),
            _ => (status, message),
        };
        let message = match self.arms.len() {
            1 => message, // nothing was compared
            _ if tried == 0 => format!("{message} before a run had ended"),
            arms => format!("{message} (the best of {tried} runs of {arms} arms)"),
        };
        settings.insert("starts".into(), tried.into());
        let search = SearchReport {
            arms: self.arms,
            moves: self.turns.reports,
            winner: self.winner,
            work: self.work,
            race: self.race,
            effort: self.settings.effort.unwrap_or_default().name(),
            tries: self.ending.tries(),
            curve,
            variables: None,
        };
        Ok(Solution {
            objective,
            scale: problem.scale(&x),
            feasibility: problem.feasibility(&x),
            nonneg_violation: problem.nonneg_violation(&x),
            nnz: count_nonzeros(&x),
            x,
            status,
            message,
            iterations: self.iterations,
            seconds: self.control.cancel.seconds(),
            trace: self.watcher.trace,
            seed: self.settings.seed,
            solver,
            splitting: done.stages.iter().rev().find_map(|s| s.splitting),
            stages: done.stages,
            starts: tried,
            best_start: 0,
            raw: None,
            settings,
            notes: self.notes,
            search: Some(search),
            proof: None,
        })
    }
}

/// Time for a first X where a limit has left none for it.
const GRACE: Duration = Duration::from_millis(500);

/// That the search ends before there is an X.
/// What ends a search after which a doubling of its work has to lower F by this share.
fn why_it_ends(worth: f64, effort: Effort) -> String {
    if worth >= 1.0 {
        // less than all of F says nothing
        return "after so much work the search ends with the runs that it has begun".into();
    }
    // two digits, and not fewer than it is
    let less = if worth > effort.worth() { format!("{:.1e}", 1.05 * worth) } else { format!("{worth:e}") };
    format!("the last doubling of the work lowered F by less than {less} of it")
}

fn too_late(cancel: &Cancel) -> Error {
    if cancel.is_cancelled() {
        let why =
            "interrupted before an X on the constraints was found: wait longer, or give a starting point";
        return Error::Incompatible(why.into());
    }
    let why = "no X on the constraints was found in the time that there was: allow more (";
    let instead = "), give a starting point, or allow more nonzeros";
    Error::Incompatible(Message::from(why).option("time-limit").text(instead))
}

impl<P: Evaluate + Sync + 'static> Engine<'_, '_, P> {
    /// Adds a point to return if no task has given one: the search was cut off before the first task ended, or F is
    /// finite nowhere.
    fn without_any(&mut self) -> Result<()> {
        let (x, solver) = match self.control.newer(0).1 {
            Some(best) => (best.x, self.portfolio.arms[0].solver.clone()),
            None => self.begun()?,
        };
        if !is_point(self.problem, &x) {
            // every arm has begun from such an X, or none has come that far
            let why = "no X on the constraints was found: give a starting point, or allow more nonzeros";
            return Err(Error::Incompatible(why.into()));
        }
        let objective = self.problem.value(&x);
        self.control.offer(&x, objective); // for the trace, where there is nothing in it
        let done = Done {
            x,
            objective,
            work: 0,
            iterations: 0,
            stages: Vec::new(),
            settings: Default::default(),
            status: Status::NumericalError,
            message: "no solver reached a finite F from any of its starting points: give a starting point"
                .into(),
            curve: Vec::new(),
            failures: Vec::new(),
            further: None,
        };
        self.elite.push(Elite { done, solver });
        Ok(())
    }

    /// X⁰ of the first arm that has one for this problem, and the solver of the arm.
    fn begun(&self) -> Result<(RowMat, String)> {
        let cancel = &self.control.cancel;
        let begin = |arm: &Arm<P>| {
            let x0 = (arm.task)(self.problem, 0, self.settings.seed)?.x0;
            // what is there at once, or a point that takes a moment
            let grace = cancel.with_grace(GRACE);
            let found = |c: &Cancel| c.during(|| x0(self.problem, c));
            let x = match found(cancel).or_else(|_| found(&grace)) {
                Err(Error::Incompatible(_)) if grace.is_over() => return Err(too_late(cancel)),
                found => found?,
            };
            Ok((x, arm.solver.clone()))
        };
        let arms = &self.portfolio.arms;
        arms[1..].iter().fold(begin(&arms[0]), |found, arm| match found {
            Err(Error::NoPlace { .. }) => begin(arm),
            found => found,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A share is said where it says something, and not below what it is.
    #[test]
    fn the_share_of_f_is_said_where_it_is_less_than_one() {
        let said = |worth| why_it_ends(worth, Effort::Normal);
        assert!(said(1e-3).ends_with("less than 1e-3 of it"), "{}", said(1e-3));
        for worth in [1.04e-3, 1.61e-3, 0.0349, 0.97] {
            let words = said(worth);
            let share = words.split(' ').find_map(|word| word.parse::<f64>().ok());
            assert!(share.is_some_and(|share| (worth..1.11 * worth).contains(&share)), "{worth}: {words}");
        }
        for worth in [1.0, 3.4, f64::INFINITY] {
            assert!(said(worth).ends_with("the runs that it has begun"), "{}", said(worth));
        }
    }
}
