//! Options of OBCD, and what the registry says of it and of its presets.

use super::Obcd;
use crate::error::{Error, Result};
use crate::pair::step::{Model, Search};
use crate::problem::PcaProblem;
use crate::solve::AnySolver;
use crate::solvers::{SolverInfo, SolverOptions};

/// Rule for choosing the rows of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkingSet {
    /// Uniformly among the pairs that can move (OBCD-R).
    Random,
    /// All pairs that can move, in order.
    Cyclic,
    /// The pair of largest stationarity violation, S = XGᵀ − GXᵀ (OBCD-SV).
    GreedySv,
    /// The pair of largest objective reduction of a linear model (OBCD-OR).
    GreedyOr,
}

/// Names of the working set rules, with one line each.
pub const WORKING_SETS: &[(&str, WorkingSet, &str)] = &[
    ("random", WorkingSet::Random, "uniform over the pairs that can move"),
    ("cyclic", WorkingSet::Cyclic, "all pairs that can move, in order"),
    ("greedy-sv", WorkingSet::GreedySv, "largest stationarity violation among sampled pairs"),
    ("greedy-or", WorkingSet::GreedyOr, "largest model reduction among sampled pairs"),
];

impl WorkingSet {
    /// Parses one of [`WORKING_SETS`].
    ///
    /// # Errors
    /// [`Error::UnknownName`].
    pub fn parse(name: &str) -> Result<Self> {
        WORKING_SETS.iter().find(|w| w.0 == name).map(|w| w.1).ok_or_else(|| Error::UnknownName {
            kind: "working set",
            name: name.into(),
            known: WORKING_SETS.iter().map(|w| w.0).collect::<Vec<_>>().join(", "),
        })
    }

    /// Its name in [`WORKING_SETS`].
    pub fn name(self) -> &'static str {
        WORKING_SETS.iter().find(|w| w.1 == self).map_or("?", |w| w.0)
    }
}

/// How many pairs a greedy rule scores per step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// A random sample of so many pairs (papers: min(n, 200)).
    Sample(usize),
    /// All pairs; O(n²r) per move.
    All,
}

/// Options of OBCD with the papers' defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct ObcdOptions {
    /// Rule for the working set.
    pub working_set: WorkingSet,
    /// k, rows per working set, ≥ 2.
    pub block: usize,
    /// Choice of Q.
    pub model: Model,
    /// α > 0 of the proximal term; the papers use 1e-5.
    pub alpha: f64,
    /// Pairs scored by the greedy rules; `None` is min(n, 200).
    pub candidates: Option<Candidates>,
    /// Rounds of n/2 disjoint pairs in parallel with the diagonal model (Appendix C.4) instead of
    /// single working sets; whole passes stay as they are.
    pub jacobi: bool,
    /// How pairs are solved.
    pub search: Search,
    /// Whole passes leave pairs alone that offer no more than this times 1 + |F|, so that the
    /// last pass moves nothing and is a certificate of the X it leaves.
    pub tol: f64,
    /// Seed of all random choices.
    pub seed: u64,
}

impl Default for ObcdOptions {
    fn default() -> Self {
        Self {
            working_set: WorkingSet::Random,
            block: 2,
            model: Model::Exact,
            alpha: 1e-5,
            candidates: None,
            jacobi: false,
            search: Search::Fast,
            tol: 1e-9,
            seed: 0,
        }
    }
}

/// What the registry says of OBCD. Its constants are options of their own.
pub const INFO: SolverInfo = SolverInfo {
    name: "obcd",
    doc: "block coordinate descent on rows with globally solved pairs; feasible and monotone",
    constants: &[],
    handles: |_| true,
    scope: "every problem",
    make: |o| made(o, |_| ()),
};

/// The rules of the papers by the papers' names, and two more.
pub const OBCD_R: SolverInfo = SolverInfo {
    name: "obcd-r",
    doc: "OBCD with random working sets",
    make: |o| made(o, |options| options.working_set = WorkingSet::Random),
    ..INFO
};
/// See [`OBCD_R`].
pub const OBCD_C: SolverInfo = SolverInfo {
    name: "obcd-c",
    doc: "OBCD with cyclic working sets",
    make: |o| made(o, |options| options.working_set = WorkingSet::Cyclic),
    ..INFO
};
/// See [`OBCD_R`].
pub const OBCD_SV: SolverInfo = SolverInfo {
    name: "obcd-sv",
    doc: "OBCD with greedy working sets by stationarity violation",
    make: |o| made(o, |options| options.working_set = WorkingSet::GreedySv),
    ..INFO
};
/// See [`OBCD_R`].
pub const OBCD_OR: SolverInfo = SolverInfo {
    name: "obcd-or",
    doc: "OBCD with greedy working sets by objective reduction",
    make: |o| made(o, |options| options.working_set = WorkingSet::GreedyOr),
    ..INFO
};
/// See [`OBCD_R`].
pub const OBCD_BLOCK: SolverInfo = SolverInfo {
    name: "obcd-block",
    doc: "OBCD with sweeps inside blocks of 32 rows (or --block K)",
    make: |o| made(o, |options| options.block = if options.block > 2 { options.block } else { 32 }),
    ..INFO
};
/// See [`OBCD_R`].
pub const OBCD_JACOBI: SolverInfo = SolverInfo {
    name: "obcd-jacobi",
    doc: "OBCD with rounds of n/2 disjoint pairs in parallel",
    make: |o| made(o, |options| options.jacobi = true),
    ..INFO
};

fn made(o: &SolverOptions, preset: fn(&mut ObcdOptions)) -> Result<AnySolver<PcaProblem>> {
    let mut options = ObcdOptions { seed: o.seed, ..o.obcd.clone() };
    preset(&mut options);
    Ok(Box::new(Obcd::new(options)?))
}
