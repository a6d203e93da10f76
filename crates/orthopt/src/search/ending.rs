//! When a search has done enough.

use super::{Effort, Tuning};

/// Looks at F after each doubling of the work, and after long stretches of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    effort: Option<Effort>,
    first: u64,   // work of the first round
    checked: u64, // work when F was last looked at
    then: f64,    // lowest F then
    pub(super) quiet: u32,
    pub(super) agreed: bool,
    tuning: Tuning,
}

impl Ending {
    pub(super) fn new(effort: Option<Effort>, tuning: Tuning) -> Self {
        Self { effort, first: 0, checked: 0, then: f64::INFINITY, quiet: 0, agreed: false, tuning }
    }

    /// Work of a stretch.
    fn stretch(&self) -> u64 {
        self.tuning.stretch * u64::from(self.effort.unwrap_or_default().patience())
    }

    /// Whether doublings are counted.
    pub(super) fn has_begun(&self) -> bool {
        self.checked > 0
    }

    /// Whether so much work has been done that it is a matter of seconds.
    pub(super) fn is_long(&self, work: u64) -> bool {
        work > self.stretch()
    }

    /// Whether it is enough: F has fallen by too little often enough, or what has been found is agreed on and going on would
    /// take long. Counts from the first call on. `size` is what decreases are measured by, `bound` a lower bound of F, `found`
    /// the starts of all arms with the lowest F that each has led to.
    pub(super) fn is_reached(
        &mut self,
        work: u64,
        (lowest, size): (f64, f64),
        bound: Option<f64>,
        found: &[(&str, f64)],
    ) -> bool {
        if self.checked == 0 {
            (self.first, self.checked, self.then) = (work, work.max(self.tuning.min_search), lowest);
        }
        loop {
            let next = (2 * self.checked).min(self.checked + self.stretch());
            if work < next {
                break;
            }
            let due = self.tuning.worth * size * (self.checked as f64 / self.stretch() as f64).max(1.0);
            self.quiet = if self.then - lowest > due { 0 } else { self.quiet + 1 };
            (self.checked, self.then) = (next, lowest);
        }
        let Some(effort) = self.effort else { return false };
        self.agreed = self.tuning.has("agreement")
            && self.is_long(work)
            && starts_within(found, lowest + self.tuning.same() * size) >= self.tuning.agreed;
        let further =
            u64::from(effort.patience() - 1) * self.tuning.disputed().min(self.tuning.rounds * self.first);
        let is_undisputed = || {
            let near = lowest + self.tuning.worth * size;
            let enough = self.tuning.agreed.min(starts_within(found, f64::INFINITY));
            !self.tuning.has("disputed")
                || bound.is_some_and(|bound| lowest - bound <= self.tuning.worth * size)
                || starts_within(found, near) >= enough
        };
        self.agreed || (self.quiet >= effort.patience() && (work >= further || is_undisputed()))
    }
}

/// Number of different starts that have led to F up to `most`.
fn starts_within(found: &[(&str, f64)], most: f64) -> usize {
    let mut starts: Vec<&str> = found.iter().filter(|arm| arm.1 <= most).map(|arm| arm.0).collect();
    starts.sort_unstable();
    starts.dedup();
    starts.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: u64 = Tuning::DEFAULT.min_search;
    const STRETCH: u64 = Tuning::DEFAULT.stretch;
    const ROUNDS: u64 = Tuning::DEFAULT.rounds;
    const DISPUTED: u64 = 64 * LEAST;

    const NONE: &[(&str, f64)] = &[];

    /// The work at which it ends where F is `course` of the work.
    fn end(effort: Effort, course: impl Fn(u64) -> f64, found: &[(&str, f64)]) -> u64 {
        let mut ending = Ending::new(Some(effort), Tuning::DEFAULT);
        (1..1_000_000u64)
            .map(|step| step * STRETCH / 20)
            .find(|work| ending.is_reached(*work, (course(*work), 1.0), None, found))
            .expect("every search ends")
    }

    #[test]
    fn doublings_that_bring_nothing_end_it() {
        let least = LEAST.max(STRETCH / 20);
        assert_eq!(end(Effort::Quick, |_| -1.0, NONE), 2 * least);
        assert_eq!(end(Effort::Normal, |_| -1.0, NONE), 4 * least);
        assert_eq!(end(Effort::Thorough, |_| -1.0, NONE), 16 * least);
        // 1e-3 for every doubling keep it going until doublings are long
        let falling = |work: u64| -1.0 - 1e-3 * (work as f64).log2();
        assert!(end(Effort::Normal, falling, NONE) > 3 * STRETCH);
    }

    #[test]
    fn short_searches_count_from_less() {
        let tuning = Tuning { min_search: LEAST / 8, ..Tuning::DEFAULT };
        let mut ending = Ending::new(Some(Effort::Quick), tuning);
        let mut at = |work| ending.is_reached(work, (-1.0, 1.0), None, NONE);
        assert!(!at(LEAST / 16) && !at(LEAST / 5) && at(LEAST / 4));
    }

    #[test]
    fn a_search_that_goes_on_finding_a_little_ends() {
        // 2e-3 for each 10^10: what is noise for ever finds a little
        let noise = |work: u64| -1.0 - 2e-3 * (work as f64 / 1e10);
        let (quick, normal) = (end(Effort::Quick, noise, NONE), end(Effort::Normal, noise, NONE));
        assert!(quick >= 20 * STRETCH && normal > quick, "{quick} {normal}");
    }

    #[test]
    fn agreement_ends_what_takes_long() {
        let falling = |work: u64| -1.0 - 1e-3 * (work as f64).log2();
        let all = [("pca", -2.0), ("random", -2.0), ("pool", -2.0), ("grown", -1.0)];
        assert_eq!(end(Effort::Normal, |_| -2.0, &all), 4 * LEAST, "short ones end by doublings");
        let few = [("pca", -2.0), ("pca", -2.0), ("pool", -2.0), ("grown", -1.0)];
        let at = |found: &[(&str, f64)]| {
            let mut ending = Ending::new(Some(Effort::Normal), Tuning::DEFAULT);
            ending.is_reached(5 * STRETCH, (-2.0, 1.0), None, found)
        };
        assert!(at(&all) && !at(&few));
        let above = [("pca", -0.9), ("random", -0.9), ("pool", -0.9)];
        assert_eq!(end(Effort::Normal, falling, &above), end(Effort::Normal, falling, NONE));
    }

    /// Starts that lead to different F say that there are many solutions: two quiet doublings of a second are no end there.
    #[test]
    fn starts_that_differ_keep_it_going() {
        let still = |_| -1.0; // a first round of STRETCH / 20
        let rounds = DISPUTED.min(ROUNDS * STRETCH / 20);
        let apart = [("pca", -0.99), ("random", -1.0), ("pool", -0.98), ("grown", f64::INFINITY)];
        assert_eq!(end(Effort::Quick, still, &apart), 2 * LEAST, "quick is quick");
        assert_eq!(end(Effort::Normal, still, &apart), rounds);
        assert!(end(Effort::Thorough, still, &apart) >= 3 * rounds);
        let near = [("pca", -0.99995), ("random", -1.0), ("pool", -0.99999), ("grown", -0.9)];
        assert_eq!(end(Effort::Normal, still, &near), 4 * LEAST);
        // where there are two starts these are all that can agree
        let two = [("random", -1.0), ("random", -0.9), ("eigen", -1.0)];
        assert_eq!(end(Effort::Normal, still, &two), 4 * LEAST);
        let mut ending = Ending::new(Some(Effort::Normal), Tuning::DEFAULT);
        let mut at = |work, bound| ending.is_reached(work, (-1.0, 1.0), bound, &apart);
        // a first round of LEAST
        assert!(!at(LEAST, None) && !at(4 * LEAST, None) && !at(5 * LEAST, Some(-1.01)));
        assert!(at(5 * LEAST, Some(-1.00005)), "as low as the bound up to what is worth a doubling");
    }
}
