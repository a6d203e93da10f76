//! A time limit is kept although a run has something to do at its end, and although steps may be long.

use super::StopReason;
use super::stop::out_of_time;

/// What may be over the limit: half of what is promised, 0.5 s or a tenth of the limit.
fn slack(limit: f64) -> f64 {
    (0.05 * limit).max(0.25)
}

/// When a run has to begin its end. All it knows it has measured: only large problems feel it.
pub(crate) struct Punctual {
    limit: Option<f64>,
    steps: f64,   // what the solver has to do at the end, in steps
    closing: f64, // seconds that X, F and its feasibility take at the end
    longest: f64, // seconds of the longest step so far
    lately: f64, // the same, forgotten by and by: a first step, or other work of the machine, says little of the next
}

/// What is left of an earlier step after another one.
const FORGET: f64 = 0.9;

impl Punctual {
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

    /// Whether the end has to begin now, `seconds` after the start.
    pub fn check(&self, seconds: f64) -> Option<StopReason> {
        let limit = self.limit?;
        let end = seconds + self.closing + self.steps * self.longest;
        // methods with an end that takes steps have such steps in between
        let next = if self.steps > 0.0 { self.longest } else { self.lately };
        let over = end >= limit || end + next > limit + slack(limit);
        over.then(|| out_of_time(limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_begins_in_time() {
        let mut quick = Punctual::new(Some(2.0), 0.0);
        assert!(quick.check(1.99).is_none() && quick.check(2.0).is_some());
        quick.opened(0.3);
        assert!(quick.check(1.3).is_none() && quick.check(1.41).is_some());

        let mut long = Punctual::new(Some(2.0), 1.0);
        long.stepped(0.5);
        long.stepped(0.1);
        // a step from 1.24 on and the end after it are over at 2.24, those from 1.26 on at 2.26
        assert!(long.check(1.24).is_none() && long.check(1.26).is_some());

        let mut slow_once = Punctual::new(Some(5.0), 0.0);
        slow_once.stepped(2.0);
        assert!(slow_once.check(3.5).is_some());
        (0..30).for_each(|_| slow_once.stepped(0.02));
        assert!(slow_once.check(4.9).is_none());
        assert!(Punctual::new(None, 9.0).check(1e9).is_none());
    }
}
