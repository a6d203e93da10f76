//! Limits of a run (iterations, seconds, work), and its division into steps so that none is exceeded.

use super::StopReason;
use super::stop::{out_of_iterations, out_of_time};

/// The limits of a run of one solver.
#[derive(Clone, Copy, Debug, Default)]
pub struct Budget {
    /// Iterations, those of earlier runs included.
    pub iterations: Option<u64>,
    /// Seconds on the clock of the run.
    pub seconds: Option<f64>,
    /// Work.
    pub work: Option<Allowance>,
}

impl Budget {
    /// Is there any limit?
    pub fn is_limited(&self) -> bool {
        self.iterations.is_some() || self.seconds.is_some() || self.work.is_some()
    }

    /// Iterations that are left after `made`.
    pub fn left(&self, made: u64) -> u64 {
        self.iterations.map_or(u64::MAX, |most| most.saturating_sub(made))
    }

    /// The reason to stop after so many iterations.
    pub fn spent(&self, made: u64) -> Option<StopReason> {
        self.iterations.filter(|most| made >= *most).map(out_of_iterations)
    }
}

/// Bound of the decrease of F that is still to come, over that of the last half of the work. It holds if F falls
/// towards its limit like t^-1/2 or faster.
const REACH: f64 = 3.0;

/// Work that doubles as long as F falls.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    most: u64,
    first: u64,         // `most` at first
    again: Option<f64>, // what F must fall by in the last half, times |F|
    halfway: f64,       // F where half of it had been done
    to_beat: f64,       // F that it must come near to
}

impl Allowance {
    /// So much work, and as much again where the last half of it lowered F by more than `again` times |F| and `to_beat` is within
    /// reach.
    pub fn new(most: u64, again: Option<f64>, to_beat: f64) -> Self {
        Self { most, first: most.max(1), again, halfway: f64::INFINITY, to_beat }
    }

    /// F at X⁰.
    pub fn begin(&mut self, objective: f64) {
        self.halfway = objective;
    }

    /// Is so much work all there is, with the lowest F so far?
    pub fn is_spent(&mut self, work: u64, lowest: f64) -> bool {
        if work < self.most {
            if 2 * work < self.most {
                self.halfway = lowest;
            }
            return false;
        }
        // twice the work is to bring twice as much
        let falls = self.falls(lowest, (self.most / self.first) as f64);
        if falls {
            (self.most, self.halfway) = (2 * work, lowest);
        }
        !falls
    }

    /// Has the last half of the work brought so many times what it has as much again for, with the lowest F of the search
    /// within reach?
    fn falls(&self, lowest: f64, times: f64) -> bool {
        let fell = self.halfway - lowest;
        let is_near = lowest - REACH * fell <= self.to_beat;
        is_near && self.again.is_some_and(|least| fell > times * least * lowest.abs())
    }

    /// State of a run to continue later, if it has done this much work and F still fell; else `None`.
    pub fn further(&self, work: u64, lowest: f64) -> Option<Further> {
        let again = self.again?;
        self.falls(lowest, 1.0).then_some(Further { work, again })
    }
}

/// State of a run that was cut off while F fell, but not fast enough for as much work again at once.
#[derive(Clone, Copy, Debug)]
pub struct Further {
    /// Work that the run has done.
    pub work: u64,
    /// Least decrease of F in the last half of the work, times |F|.
    pub again: f64,
}

/// Allowed excess over the limit: half of the promised 0.5 s or tenth of the limit.
fn slack(limit: f64) -> f64 {
    (0.05 * limit).max(0.25)
}

/// A limit of time that is kept although a run has something to do at its end and steps may be long: it says when the end
/// has to begin. All it knows it has measured; only large problems feel it.
pub struct Deadline {
    limit: Option<f64>,
    steps: f64,   // what the solver has to do at the end, in steps
    closing: f64, // seconds that X, F and its feasibility take at the end
    longest: f64, // seconds of the longest step so far
    lately: f64, // the same, forgotten by and by: a first step, or other work of the machine, says little of the next
}

/// Rest of an earlier step after another one.
const FORGET: f64 = 0.9;

impl Deadline {
    /// `steps` of the solver are what [`Solver::finish`](super::Solver::finish) takes.
    pub fn new(limit: Option<f64>, steps: f64) -> Self {
        Self { limit, steps, closing: 0.0, longest: 0.0, lately: 0.0 }
    }

    /// F and the feasibility of X⁰ took so long; at the end X is cleaned as well.
    pub fn opened(&mut self, seconds: f64) {
        self.closing = 2.0 * seconds;
    }

    /// A step took so long.
    pub fn stepped(&mut self, seconds: f64) {
        self.longest = self.longest.max(seconds);
        self.lately = (FORGET * self.lately).max(seconds);
    }

    /// The reason to begin the end now, `seconds` after the start.
    pub fn check(&self, seconds: f64) -> Option<StopReason> {
        let limit = self.limit?;
        let end = seconds + self.closing + self.steps * self.longest;
        // methods with an end that takes steps have such steps in between
        let next = if self.steps > 0.0 { self.longest } else { self.lately };
        let over = end >= limit || end + next > limit + slack(limit);
        over.then(out_of_time)
    }
}

/// The iterations after which a run is examined: 1, 2, ..., 16, then further apart by a sixteenth
/// of their number. Steps are sized by the clock; the iteration at which a method is found to have
/// converged, and the points of which the best one counts, must not be.
pub(super) struct Looks {
    made: u64, // iterations made
    due: u64,  // iteration of the next check
}

impl Looks {
    pub fn new() -> Self {
        Self { made: 0, due: 1 }
    }

    /// Iterations that do not pass over the next check.
    pub fn ahead(&self) -> u64 {
        self.due.saturating_sub(self.made).max(1)
    }

    /// Is a check due after so many more iterations?
    pub fn take(&mut self, iterations: u64) -> bool {
        self.made += iterations;
        let is_due = self.made == self.due;
        while self.due <= self.made {
            self.due += 1 + self.due / 16;
        }
        is_due
    }
}

/// Sizes steps: about 1 % of the time so far, between 0.2 and 20 ms, so that the trace is fine
/// at the start, and limits and Ctrl-C are prompt later.
#[derive(Default)]
pub(super) struct Pace {
    rate: f64, // iterations per second, smoothed
}

impl Pace {
    pub fn budget(&self, seconds: f64) -> u64 {
        ((self.rate * (0.01 * seconds).clamp(2e-4, 2e-2)) as u64).max(1)
    }

    pub fn adapt(&mut self, iterations: u64, seconds: f64) {
        let rate = iterations as f64 / seconds.max(1e-7);
        self.rate = if self.rate == 0.0 { rate.min(1e5) } else { 0.5 * (self.rate + rate) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_begins_in_time() {
        let mut quick = Deadline::new(Some(2.0), 0.0);
        assert!(quick.check(1.99).is_none() && quick.check(2.0).is_some());
        quick.opened(0.3);
        assert!(quick.check(1.3).is_none() && quick.check(1.41).is_some());

        let mut long = Deadline::new(Some(2.0), 1.0);
        long.stepped(0.5);
        long.stepped(0.1);
        // a step from 1.24 on and the end after it are over at 2.24, those from 1.26 on at 2.26
        assert!(long.check(1.24).is_none() && long.check(1.26).is_some());

        let mut slow_once = Deadline::new(Some(5.0), 0.0);
        slow_once.stepped(2.0);
        assert!(slow_once.check(3.5).is_some());
        (0..30).for_each(|_| slow_once.stepped(0.02));
        assert!(slow_once.check(4.9).is_none());
        assert!(Deadline::new(None, 9.0).check(1e9).is_none());
    }

    /// From F = 0, with F to beat.
    fn allowance(most: u64, again: Option<f64>) -> Allowance {
        let mut allowance = Allowance::new(most, again, -10.0);
        allowance.begin(0.0);
        allowance
    }

    #[test]
    fn work_doubles_as_long_as_f_falls() {
        let mut fixed = allowance(100, None);
        assert!(!fixed.is_spent(99, -5.0) && fixed.is_spent(100, -9.0));
        assert!(fixed.further(100, -9.0).is_none());
        let none = Budget::default();
        assert!(!none.is_limited() && none.left(7) == u64::MAX && none.spent(u64::MAX).is_none());

        let mut falling = allowance(100, Some(0.1));
        assert!(!falling.is_spent(40, -5.0)); // F = -5 half-way
        assert!(!falling.is_spent(100, -10.0)); // to -10: as much again
        assert!(!falling.is_spent(199, -10.5));
        assert!(falling.is_spent(200, -10.9)); // from -10 by less than a tenth
        assert!(falling.further(200, -10.9).is_none());
        // what is gained in the first half does not count
        let mut early = allowance(100, Some(0.1));
        assert!(!early.is_spent(49, -10.0) && early.is_spent(100, -10.5));
    }

    #[test]
    fn more_work_is_to_bring_more() {
        let mut slowing = allowance(100, Some(0.1));
        assert!(!slowing.is_spent(49, -8.0) && !slowing.is_spent(100, -10.0));
        // the second doubling costs twice as much: a tenth is not enough any more, but enough to continue with later
        assert!(slowing.is_spent(200, -11.5));
        let further = slowing.further(200, -11.5).unwrap();
        assert_eq!((further.work, further.again), (200, 0.1));
        // a fifth is
        let mut steady = allowance(100, Some(0.1));
        assert!(!steady.is_spent(49, -8.0) && !steady.is_spent(100, -10.0) && !steady.is_spent(200, -13.0));
    }

    #[test]
    fn what_cannot_come_near_ends() {
        // F falls from -8 half-way to -10
        let ended = |to_beat| {
            let mut allowance = Allowance { to_beat, ..allowance(100, Some(0.1)) };
            let is_spent = allowance.is_spent(49, -8.0) || allowance.is_spent(100, -10.0);
            assert!(!is_spent || allowance.further(100, -10.0).is_none());
            is_spent
        };
        assert!(!ended(-10.0 - 0.99 * REACH * 2.0));
        assert!(ended(-10.0 - 1.01 * REACH * 2.0));
        assert!(!ended(f64::INFINITY), "nothing has been found yet");
    }
}
