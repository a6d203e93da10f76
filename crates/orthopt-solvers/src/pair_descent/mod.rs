//! Block coordinate descent over pairs of rows (OBCD paper, Algorithm 1; JOBCD paper, Algorithm 1), for
//! every problem whose pairs of rows an oracle can solve.
//!
//! ```text
//! for t = 0, 1, ...
//!   (S1) choose a working set B of two rows            Schedule::choose
//!   (S2) choose Q, the curvature of the model of F     PairOracle::try_pair
//!   (S3) V ← a global minimiser of K(V; X, B)            "
//!   (S4) X(B, :) ← V X(B, :)                             "
//! ```
//!
//! A working set may also be disjoint blocks of k rows, or a matching of all rows
//! (`PairOracle::try_blocks`, `try_matching`). Three things are added to the printed algorithm:
//!
//! * **Near pairs.** Where few rows are nonzero, the zero rows that are worth a try are narrowed down by
//!   their gradient (`PairOracle::narrow`), afresh for every round.
//! * **Whole passes.** A round of random or greedy working sets that brings little is followed by a pass
//!   over all pairs that can move, which either finds what they missed or shows block-2 stationarity.
//!   Passes leave pairs alone that offer no more than a tolerance, so that the last pass moves nothing
//!   and is a certificate of the X it leaves.
//! * **Control of drift.** Every so many moves the image is computed afresh from X, and X is repaired
//!   where rounding has carried it off the constraint.

mod greedy;
mod oracle;
mod schedule;
#[cfg(test)]
mod tests;

pub(crate) use greedy::{row_products, stationarity_score};
pub use oracle::{Demand, PairOracle, Tried, Upkeep};
pub use orthopt_core::pair::working_set::{Candidates, WORKING_SETS, WorkingSet, pairs};
pub use schedule::{Schedule, Turn};

use orthopt_core::pair::working_set::Rows;
use orthopt_core::solve::{Pass, Step};
use orthopt_linalg::work::count;

/// A pair takes about as long as so many multiplications of a large product (1 to 3 µs, at some 10 to 25 of them in a ns).
const PAIR: usize = 10_000;
/// A round of working sets that lowers F by less than this, relative to the size of F, is followed by a
/// whole pass.
const SLOW: f64 = 1e-4;
/// A fresh value of F above the tracked one by no more than this, relative to the size of F, is rounding.
const ROUNDING: f64 = 1e-9;

/// State of Algorithm 1 at iteration t; Xᵗ and its image belong to the oracle.
#[derive(Clone, Debug)]
pub struct State {
    /// F(Xᵗ), tracked by the decreases.
    pub objective: f64,
    /// Α, lowered when it alone stands in the way.
    pub alpha: f64,
    /// Round or pass that is under way, and the position in it.
    pub schedule: Schedule,
}

/// Algorithm 1 at work.
pub struct PairDescent<'a, O> {
    /// Solves the pairs.
    pub oracle: O,
    /// State of the descent.
    pub state: &'a mut State,
}

impl<O: PairOracle> PairDescent<'_, O> {
    /// Iteration t, unless the oracle has given up.
    #[inline]
    pub fn iterate(&mut self) -> Step {
        count(PAIR);
        let mut ended = self.oracle.ended(self.state.objective);
        let pass = if ended.is_none() { self.working_set() } else { None };
        ended = ended.or_else(|| self.oracle.ended(self.state.objective));
        Step { pass, ended, ..Step::default() }
    }

    /// One working set, and the round or pass that ends with it.
    fn working_set(&mut self) -> Option<Pass> {
        let demand = self.demand();
        let rows = self.state.schedule.choose(&mut self.oracle); // (S1)
        let tried = match &rows {
            Some(Rows::Pair(i, j)) => self.oracle.try_pair(*i, *j, demand), // (S2), (S3), (S4)
            Some(Rows::Blocks(blocks)) => self.oracle.try_blocks(blocks, demand),
            Some(Rows::Matching(pairs)) => self.oracle.try_matching(pairs, demand),
            None => Tried::default(), // nothing can move
        };
        let before = self.state.objective;
        self.state.objective -= tried.decrease;
        // what rounding swallows is no decrease
        self.state.schedule.book(&tried, before - self.state.objective);
        let over = self.state.schedule.is_over();
        self.control_drift(over);
        over.then(|| self.next_phase())
    }

    /// Least decrease of F by a move: α/2‖V − I‖², and in passes more than the tolerance.
    #[inline]
    fn demand(&self) -> Demand {
        let State { objective, alpha, schedule } = &*self.state;
        let passes = schedule.in_pass();
        Demand { alpha: *alpha, least: if passes { self.tolerance(*objective) } else { 0.0 } }
    }

    /// The decrease of F that a pass leaves to a pair.
    #[inline]
    fn tolerance(&self, objective: f64) -> f64 {
        self.state.schedule.tol * self.oracle.size(objective) / self.oracle.shares()
    }

    /// Ends a round or pass and begins the next: a pass after a round that was slow, and after a slow pass
    /// that found something; a round otherwise.
    fn next_phase(&mut self) -> Pass {
        let size = self.oracle.size(self.state.objective);
        let (whole, exhausted) = (self.state.schedule.in_whole_pass(), self.state.schedule.is_exhausted());
        let near = self.state.schedule.in_pass() && !whole;
        let may_pass = self.state.schedule.may_pass(self.oracle.rows());
        let pass = self.state.schedule.end();
        let slow = may_pass && pass.decrease <= SLOW * size;
        if pass.covers_all && pass.decrease == 0.0 && pass.max_decrease > 0.0 {
            self.lower(pass.max_decrease, size);
        }
        let found = pass.max_decrease > self.tolerance(self.state.objective);
        if whole {
            self.oracle.after_pass(found);
        }
        let sweep = exhausted || slow && (found || !pass.covers_all);
        let schedule = &self.state.schedule;
        let narrows = schedule.narrows();
        // near pairs while they bring something, and all of them now and then
        let due = near && (!found || schedule.is_whole_pass_due(self.oracle.rows()));
        let next = match (sweep, narrows && !due) {
            (false, _) => Turn::Round,
            (true, true) => Turn::Near,
            (true, false) => Turn::Pass,
        };
        if narrows {
            self.oracle.narrow();
        }
        self.state.schedule.begin(next, self.oracle.rows());
        pass
    }

    /// A pass moved nothing though a pair offers `best`. Nothing stopped the run, so the rest is tried. Either it
    /// is below the tolerance of passes, or it goes far for little and is refused by α alone, which
    /// may be any positive number.
    fn lower(&mut self, best: f64, size: f64) {
        let State { alpha, schedule, .. } = &mut *self.state;
        let best = best * self.oracle.shares();
        if best > schedule.tol * size {
            *alpha = (0.1 * *alpha).max(f64::MIN_POSITIVE);
        }
        schedule.tol = schedule.tol.min(0.1 * best / size);
    }

    /// Every so many moves the image afresh from X; sooner if X has left the constraint.
    fn control_drift(&mut self, over: bool) {
        let Upkeep { refresh, look, between_passes } = self.oracle.upkeep();
        let schedule = &mut self.state.schedule;
        if between_passes && !over {
            return;
        }
        if schedule.moves < schedule.refreshed + refresh {
            if schedule.moves < schedule.looked + look {
                return;
            }
            schedule.looked = schedule.moves;
            if !self.oracle.has_drifted() {
                return;
            }
        }
        (schedule.refreshed, schedule.looked) = (schedule.moves, schedule.moves);
        let fresh = self.oracle.refresh();
        let drift = fresh - self.state.objective;
        // Rounding may put the fresh value above the tracked one, which would show as an
        // increase; only a real difference replaces it.
        if drift < 0.0 || drift > ROUNDING * self.oracle.size(fresh) || drift.is_nan() {
            self.state.objective = fresh;
        }
    }
}
