//! The constants that the search was tuned by, each in one place, and the parts of it that an ablation leaves out.

use std::ops::Range;

/// Constants and parts of the search. Work is in units of `linalg::work`. Beside a constant stands what measures it: a file of
/// `bench/results`, or a part of [`PARTS`], which the suite `ablation` of the benches leaves out (`search_ablation.csv`,
/// `docs/search-ablation.md`). A constant with neither has no recorded measurement. How often a numerical method iterates stands beside the
/// method, and which solvers and starts there are in `family/line_up.rs`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    // Runs: a start and a chain of solvers. Level l is 2^l times as patient as level 0.
    /// Gradients that the first solver of a run may cost at level 0.
    pub run: u64,
    /// Most work of it, whatever a gradient costs, and of a polish: a third of a second.
    pub longest: u64,
    /// Most work of the first solver of a run, and of a polish, for a measure: it tries many exchanges for each that it
    /// makes.
    pub longest_of_measures: u64,
    /// Least work of a solver in a run, where gradients cost nothing.
    pub min_run: u64,
    /// Level at which the constants of the solvers are their defaults.
    pub own_level: u32,
    /// Growth of the penalty of LADMM at level 0 (`ladmm_growth.csv`; part `patience`),
    pub growth: f64,
    /// and of that of supports.
    pub growth_of_support: f64,
    /// Iterations at level 0 before a method that raises a penalty gives way to the next (part `hand on`).
    pub hand_on: u64,
    /// ‖X − Y‖/√r at which LADMM gives way to the next (`ladmm_growth.csv`; part `near`).
    pub near: f64,
    /// Work of the first solver over that of a later one (part `share`).
    pub share: u64,
    /// Decrease of F in the last half of its work, times |F|, for which a later solver has as much again (parts `again`, `further`).
    pub again: f64,

    // The candidates.
    /// Rounds of halving (part `halving`).
    pub levels: u32,

    // The iterated local search: a move from an elite point, and a polish.
    /// Moves in flight together: enough for four threads. Half as many in the race.
    pub in_flight: usize,
    /// Failures in a row, times [`in_flight`](Self::in_flight), that end it: nothing can move.
    pub failures: u32,
    /// Elite points.
    pub elite: usize,
    /// Gradients that a polish may cost,
    pub polish: u64,
    /// and its least work.
    pub min_polish: u64,

    // Moves and starts.
    /// Most nonzeros that are exchanged, as a share of all (part `nonzeros exchanged`).
    pub shake: f64,
    /// Least exponent u with which LADMM lowers its penalty, β = L·100^(−u); the largest is twice as much (part
    /// `penalty lowered and raised`).
    pub warmth: f64,
    /// Work of LADMM after that, in polishes.
    pub reheat: u64,
    /// Rows that a component solved anew with a limit of nonzeros is searched for from.
    pub candidates: usize,
    /// Decrease of F in a pass, times |F|, below which a short run ends.
    pub slow: f64,

    // Around it.
    /// Work that is spent on a proof before a search begins.
    pub before: u64,
    /// Share of the work of a search, and of its time where that is limited, that is spent on a proof. Of eleven single
    /// components (pitprops, ionosphere, w1a, news20; 13 to 300 variables, 3 to 20 nonzeros) 1/32 proves five and 1/4 eight, each in less
    /// time than the search takes; 1/2 proves no more.
    pub on_proof: f64,
    /// Variables of the first set of a search on some of them, for each that a solution has: as many outside of a solution as in it.
    pub room: usize,

    // For the ablation.
    /// Parts that are left out, by their names in [`PARTS`].
    pub without: &'static [&'static str],
    /// Work after which the search ends, with one thread.
    pub max_work: Option<u64>,
}

impl Tuning {
    /// The default constants.
    pub const DEFAULT: Self = Self {
        run: 500,
        longest: 1_000_000_000,
        longest_of_measures: 3_000_000_000,
        min_run: 30_000_000,
        own_level: 2,
        growth: 0.04,
        growth_of_support: 0.1,
        hand_on: 200,
        near: 1e-3,
        share: 4,
        again: 0.003,
        levels: 3,
        in_flight: 4,
        failures: 8,
        elite: 6,
        polish: 200,
        min_polish: 100_000_000,
        shake: 0.5,
        warmth: 0.35,
        reheat: 8,
        candidates: 64,
        slow: 1e-5,
        before: 1_000_000_000,
        on_proof: 0.25,
        room: 2,
        without: &[],
        max_work: None,
    };

    /// Methods that raise a penalty, the constant that does it, and its growth at level 0.
    pub(crate) fn growths(&self) -> [(&'static str, &'static str, f64); 2] {
        [("ladmm", "rho", self.growth), ("support", "growth", self.growth_of_support)]
    }

    /// Work that a polish may cost where a gradient costs so much.
    pub(crate) fn polish_at(&self, gradient: u64) -> u64 {
        (self.polish * gradient).min(self.longest).max(self.min_polish)
    }

    /// Runs in flight together in the race.
    pub(super) fn in_race(&self) -> usize {
        self.in_flight / 2
    }

    /// Range of the exponents u by which the move lowers a penalty, β = L·100^(−u), before it is raised again.
    pub(crate) fn reheat_range(&self) -> Range<f64> {
        self.warmth..2.0 * self.warmth
    }

    /// Is a part there?
    pub fn has(&self, part: &str) -> bool {
        !self.without.contains(&part)
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A part that can be left out.
#[derive(Clone, Copy, Debug)]
pub struct Component {
    /// Its name.
    pub name: &'static str,
    /// Problems of the ablation that it concerns.
    pub problems: &'static str,
}

const fn part(name: &'static str, problems: &'static str) -> Component {
    Component { name, problems }
}

/// The parts.
pub const PARTS: &[Component] = &[
    part("components dropped and grown", "l0 nonneg counts measured"),
    part("nonzeros exchanged", "counts uncorrelated"),
    part("components solved anew", "uncorrelated"),
    part("components of two points", "l0 l1 nonneg scad counts"),
    part("components turned", "counts"),
    part("penalty lowered and raised", "l0 l1 nonneg scad counts"),
    part("some components found anew", "measured"),
    part("two components turned", "measured"),
    part("known supports", "measured uncorrelated"),
    part("halving", "l0 l1 nonneg scad counts measured uncorrelated"),
    part("settle", "l0 l1 nonneg scad counts uncorrelated"),
    part("further", "l0 l1 scad"),
    part("again", "l0 l1 scad"),
    part("share", "l0 l1 nonneg scad"),
    part("near", "l0 l1 nonneg scad"),
    part("hand on", "l0 l1 nonneg scad counts"),
    part("patience", "l0 l1 nonneg scad counts"),
    part("by turns", "l1"),
    part("sparse starts", "l0 scad nonneg"),
    part("k-components", "l0 nonneg counts measured"),
    part("support", "l0"),
    part("pca", "counts"),
    part("random", "l0 counts"),
    part("varimax", "l0 l1 nonneg scad counts measured uncorrelated"),
    part("deflation", "counts uncorrelated"),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The search has no more constants than one person can hold in the head.
    #[test]
    fn constants_are_few() {
        let all = format!("{:?}", Tuning::DEFAULT);
        let names = all.matches(": ").count() - 2; // `without` and `max_work` are none
        assert!(names <= 27, "{names} constants: {all}");
    }

    #[test]
    fn parts_have_different_names() {
        let mut names: Vec<_> = PARTS.iter().map(|part| part.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PARTS.len());
        let tuning = Tuning { without: &["varimax"], ..Tuning::DEFAULT };
        assert!(!tuning.has("varimax") && tuning.has("support"));
    }
}
