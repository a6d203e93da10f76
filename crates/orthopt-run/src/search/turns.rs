//! Which kind of task comes next: the one that has had the least work.

use std::ops::Range;

use orthopt_core::solve::MoveReport;

/// Tasks, success and work of every kind.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    pub reports: Vec<MoveReport>,
    spent: Vec<u64>, // with the work that a task is assumed to take before it has ended
    expected: Vec<u64>,
}

impl Turns {
    /// The kinds and the work that a task of each may take.
    pub fn new(names: &[&str], expected: Vec<u64>) -> Self {
        let report =
            |name: &&str| MoveReport { name: name.to_string(), tried: 0, won: 0, decrease: 0.0, work: 0 };
        let reports: Vec<_> = names.iter().map(report).collect();
        Self { spent: vec![0; reports.len()], reports, expected }
    }

    /// The kind among `kinds` that has had the least work, the first of equal ones; `None` where there is none.
    pub fn next(&mut self, kinds: Range<usize>) -> Option<usize> {
        let k = kinds.min_by_key(|k| self.spent[*k])?;
        self.spent[k] += self.expected[k];
        Some(k)
    }

    /// A task of kind k has lowered F by `decrease` (0: not).
    pub fn learn(&mut self, k: usize, decrease: f64, work: u64) {
        let report = &mut self.reports[k];
        report.tried += 1;
        report.won += u64::from(decrease > 0.0);
        report.decrease += decrease;
        report.work += work;
        // what it was assumed to take is what it took
        self.spent[k] = (self.spent[k] + work).saturating_sub(self.expected[k]);
        self.expected[k] = (self.expected[k] + work) / 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_equal_work() {
        let mut turns = Turns::new(&["cheap", "dear"], vec![10, 10]);
        for _ in 0..1000 {
            let k = turns.next(0..2).unwrap();
            turns.learn(k, 0.0, [1, 9][k]);
        }
        let [cheap, dear] = [0, 1].map(|k| turns.reports[k].work as f64);
        assert!((cheap / dear - 1.0).abs() < 0.2, "{cheap} {dear}");
        assert!(turns.next(0..0).is_none());
    }

    /// One that gives no point is not tried for ever.
    #[test]
    fn what_fails_costs_what_it_might_have_cost() {
        let mut turns = Turns::new(&["fails", "works"], vec![5, 5]);
        let mut failed = 0;
        for _ in 0..100 {
            match turns.next(0..2) {
                Some(1) => turns.learn(1, 0.1, 5),
                _ => failed += 1,
            }
        }
        assert!((40..=60).contains(&failed), "{failed}");
    }
}
