//! Which move to try next: those that have paid for their work, and now and then any of them.

use std::ops::Range;

use rand::RngExt;
use rand_pcg::Pcg64;

use super::Tuning;
use crate::solve::MoveReport;

/// Success and work of every kind of move.
#[derive(Clone, Debug)]
pub(super) struct Bandit {
    pub reports: Vec<MoveReport>,
    gain: Vec<f64>, // remembered
    scale: f64,
    prior: Vec<f64>,  // what a task may cost, before any has been tried
    failed: Vec<f64>, // tasks that gave no point
    tuning: Tuning,
}

impl Bandit {
    pub fn new(names: &[&str], prior: Vec<f64>, tuning: Tuning) -> Self {
        let report =
            |name: &&str| MoveReport { name: name.to_string(), tried: 0, won: 0, decrease: 0.0, work: 0 };
        let reports: Vec<_> = names.iter().map(report).collect();
        let zeros = vec![0.0; reports.len()];
        Self { reports, gain: zeros.clone(), scale: 1.0, prior, failed: zeros, tuning }
    }

    /// The size of F, which says what a decrease is worth.
    pub fn measure(&mut self, objective: f64) {
        self.scale = objective.abs().max(f64::MIN_POSITIVE);
    }

    /// A kind of move among `kinds`, which are not empty.
    pub fn choose(&self, kinds: Range<usize>, rng: &mut Pcg64) -> usize {
        if !self.tuning.has("bandit") {
            return drawn(rng, kinds, |_| 1.0);
        }
        // about the same work for every kind
        let fair = |k: usize| {
            let MoveReport { work, tried, .. } = self.reports[k];
            (1.0 + tried as f64) / (self.prior[k] * (1.0 + self.failed[k]) + work as f64)
        };
        if rng.random::<f64>() < self.tuning.curiosity {
            return drawn(rng, kinds, fair);
        }
        drawn(rng, kinds, |k| (self.gain[k] + self.tuning.same() * self.scale) * fair(k))
    }

    /// Work of `kinds` so far.
    pub fn work(&self, kinds: Range<usize>) -> u64 {
        self.reports[kinds].iter().map(|r| r.work).sum()
    }

    /// A task of kind k gave no point: the less is expected of the next one.
    pub fn fail(&mut self, k: usize) {
        self.failed[k] += 1.0;
        self.gain[k] *= self.tuning.memory;
    }

    /// A task of kind k has lowered F by `decrease` (0: not).
    pub fn learn(&mut self, k: usize, decrease: f64, work: u64) {
        let report = &mut self.reports[k];
        report.tried += 1;
        report.won += u64::from(decrease > 0.0);
        report.decrease += decrease;
        report.work += work;
        self.gain[k] = self.tuning.memory * self.gain[k] + (1.0 - self.tuning.memory) * decrease;
    }
}

/// One of `kinds` with probabilities in proportion to `weight`.
fn drawn(rng: &mut Pcg64, kinds: Range<usize>, weight: impl Fn(usize) -> f64) -> usize {
    let mut left = rng.random::<f64>() * kinds.clone().map(&weight).sum::<f64>();
    let last = kinds.end - 1;
    (kinds.into_iter())
        .find(|k| {
            left -= weight(*k);
            left <= 0.0
        })
        .unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn what_pays_is_chosen_more_often_and_nothing_is_forgotten() {
        let mut bandit = Bandit::new(&["a", "b", "c"], vec![100.0; 3], Tuning::DEFAULT);
        bandit.learn(1, 5.0, 100);
        bandit.learn(0, 0.0, 100);
        let mut rng = Pcg64::seed_from_u64(1);
        let mut chosen = [0; 3];
        (0..1000).for_each(|_| chosen[bandit.choose(0..3, &mut rng)] += 1);
        assert!(chosen[1] > 700 && chosen[0] > 20 && chosen[2] > 20, "{chosen:?}");
    }

    #[test]
    fn what_has_no_place_is_hardly_tried() {
        let mut bandit = Bandit::new(&["a", "b"], vec![100.0; 2], Tuning::DEFAULT);
        (0..100).for_each(|_| bandit.fail(0));
        (0..100).for_each(|_| bandit.learn(1, 0.0, 100));
        let mut rng = Pcg64::seed_from_u64(1);
        let chosen = (0..1000).filter(|_| bandit.choose(0..2, &mut rng) == 0).count();
        assert!((1..50).contains(&chosen), "{chosen}");
    }
}
