//! When a search has done enough: the last doubling of its work was not worth it, and enough was tried since the last gain.

use super::Effort;

/// Examines F whenever something has been tried.
///
/// With w the work so far and F(w) the lowest F then, a search of effort ε, s ends when F(w/2) − F(w) ≤ ε|F| and at least s
/// candidates or perturbations have ended since F last fell by more than ε|F|, fifty times as many where they have cost less than t = a quarter
/// of a second, a second or ten seconds of one thread together. After t ε grows in proportion to w, so that a second of work must
/// lower F by as much however long the search has been. (On 13 tables of 14 to 600 variables that take
/// seconds it ends after 118 s together; where ε grows after 10t, after 181 s or more, for .1 % of F.) The first condition alone ends inside the first long run, where nothing is better while one candidate runs; the
/// second alone ends where cheap moves fail one after the other. (Boender and Rinnooy Kan, Bayesian stopping rules for
/// multistart global optimization methods, 1987, compares such rules.)
#[derive(Clone, Debug)]
pub(super) struct Ending {
    effort: Option<Effort>,
    before: u64,            // work of searches before this one
    falls: Vec<(u64, f64)>, // work and lowest F, wherever that fell
    last: (u64, f64),       // the same at the last gain that counts
    tries: u32,             // since then
}

impl Ending {
    /// Before anything is tried, but for so much work of searches that this one continues; without an effort nothing but a limit ends it.
    pub(super) fn new(effort: Option<Effort>, before: u64) -> Self {
        Self { effort, before, falls: Vec::new(), last: (0, f64::INFINITY), tries: 0 }
    }

    /// The share of F that the last doubling of so much work has to lower it by.
    pub(super) fn worth(&self, work: u64) -> f64 {
        self.effort.unwrap_or_default().worth_at(work.saturating_add(self.before))
    }

    /// A candidate or a perturbation has ended after so much work in all; `size` is what decreases of F are measured by.
    pub(super) fn tried(&mut self, work: u64, (lowest, size): (f64, f64)) {
        if self.falls.last().is_none_or(|(_, f)| lowest < *f) {
            self.falls.push((work, lowest));
        }
        if self.last.1 - lowest > self.worth(work) * size {
            (self.last, self.tries) = ((work, lowest), 0);
        } else {
            self.tries = self.tries.saturating_add(1);
        }
    }

    /// True if it is enough.
    pub(super) fn is_reached(&self, work: u64, (lowest, size): (f64, f64)) -> bool {
        let Some(effort) = self.effort else { return false };
        let (least, cheap) = effort.tries();
        let due = if work - self.last.0.min(work) < effort.little() { cheap } else { least };
        let then =
            self.falls.iter().rev().find(|fall| 2 * fall.0 <= work).map_or(f64::INFINITY, |fall| fall.1);
        self.tries >= due && then - lowest <= self.worth(work) * size
    }

    /// The race is over: that candidates are worse than the best of them says nothing of what continues from it.
    pub(super) fn begin(&mut self) {
        self.tries = 0;
    }

    /// Number of candidates and perturbations since the last gain that counts, and since the race.
    pub(super) fn tries(&self) -> u32 {
        self.tries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The work at which a search ends that tries something for each `step` of work, where F is `course` of the work.
    fn end(effort: Effort, step: u64, course: impl Fn(u64) -> f64) -> Option<u64> {
        let mut ending = Ending::new(Some(effort), 0);
        (1..20_000u64).map(|k| k * step).find(|work| {
            let f = course(*work);
            ending.tried(*work, (f, f.abs()));
            ending.is_reached(*work, (f, f.abs()))
        })
    }

    const ALL: [Effort; 3] = [Effort::Quick, Effort::Normal, Effort::Thorough];

    #[test]
    fn what_stands_still_ends_after_as_many_tries_as_the_effort_says() {
        for effort in ALL {
            // the first point is a gain, and the doubling begins with it
            assert_eq!(end(effort, 1, |_| -1.0), Some(u64::from(effort.tries().1 + 1)), "{effort:?}");
            let dear = effort.little() / u64::from(effort.tries().0);
            assert_eq!(
                end(effort, dear, |_| -1.0),
                Some(dear * u64::from(effort.tries().0 + 1)),
                "{effort:?}"
            );
        }
    }

    /// A gain at work w is followed by as much work again, and more effort never ends sooner.
    #[test]
    fn a_gain_doubles_the_work() {
        let step = |at: u64| move |work: u64| if work < at { -1.0 } else { -1.1 };
        for effort in ALL {
            let at = u64::from(effort.tries().1); // just before it would end
            let ended = end(effort, 1, step(at)).unwrap();
            assert!(ended >= 2 * at, "{effort:?}: {ended}");
        }
        let slow = |work: u64| -1.0 - 0.01 * (work as f64).log2();
        let ends = ALL.map(|effort| end(effort, 1, slow).unwrap_or(u64::MAX));
        assert!(ends[0] < ends[1] && ends[1] <= ends[2], "{ends:?}");
    }

    /// More effort tries more if a try is expensive for some efforts and cheap for others.
    #[test]
    fn more_effort_tries_more() {
        let step = Effort::Normal.little() / 20;
        let ends = ALL.map(|effort| end(effort, step, |_| -1.0).unwrap() / step);
        assert!(2 * ends[0] < ends[1] && 5 * ends[1] < ends[2], "{ends:?}");
    }

    /// A search ends although F falls by as much in every doubling of the work: a second must lower F by a constant
    /// share of it.
    #[test]
    fn a_second_must_bring_as_much_however_long_it_has_been() {
        let step = Effort::Normal.little() / 2;
        let slow = |times: f64| {
            move |work: u64| -1.0 - times * Effort::Normal.worth() * (work as f64 / step as f64).log2()
        };
        let [little, more] = [2.0, 8.0].map(|times| end(Effort::Normal, step, slow(times)).unwrap());
        assert!(little > 2 * Effort::Normal.little(), "{}", little / step);
        assert!(
            more >= 2 * little && more < 20 * Effort::Normal.little(),
            "{} and {}",
            little / step,
            more / step
        );
    }

    /// A search that continues others must gain as much as they would have to, after so much work: the gains of a first
    /// search are not worth it.
    #[test]
    fn what_continues_a_long_search_ends_sooner() {
        let gains = |work: u64| -1.0 - 4.0 * Effort::Normal.worth() * (work as f64).log2();
        let tried = |before: u64| {
            let mut ending = Ending::new(Some(Effort::Normal), before);
            let step = Effort::Normal.little() / 4;
            let ends = |work: &u64| {
                ending.tried(*work, (gains(*work), 1.0));
                ending.is_reached(*work, (gains(*work), 1.0))
            };
            (1..20_000u64).map(|k| k * step).find(ends).unwrap() / step
        };
        let (fresh, continued) = (tried(0), tried(100 * Effort::Normal.little()));
        assert!(continued <= 8 && fresh >= 3 * continued, "{fresh} and {continued}");
    }

    /// Small gains add up: they count once their sum does.
    #[test]
    fn small_gains_add_up() {
        let mut ending = Ending::new(Some(Effort::Normal), 0);
        let tenth = 0.4 * Effort::Normal.worth();
        for k in 0..30u64 {
            ending.tried(k + 1, (-1.0 - tenth * k as f64, 1.0));
            assert!(ending.tries() < Effort::Normal.tries().0);
        }
    }

    #[test]
    fn without_an_effort_it_goes_on() {
        let mut ending = Ending::new(None, 0);
        (1..100).for_each(|work| ending.tried(work, (-1.0, 1.0)));
        assert!(!ending.is_reached(100, (-1.0, 1.0)));
    }
}
