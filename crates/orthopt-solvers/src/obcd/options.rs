//! Options of OBCD, and what the registry says of it and of its presets.

use super::Obcd;
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::options::{Constant, Constants, only};
use orthopt_core::pair::options::ObcdOptions;
use orthopt_core::pair::working_set::WorkingSet;
use orthopt_core::problem::PcaProblem;
use orthopt_core::solve::AnySolver;
use orthopt_core::solve::info::{SolverInfo, SolverOptions};
use orthopt_linalg::error::Result;

/// Entry of the registry for OBCD. Its constants are shared options.
pub const INFO: SolverInfo = SolverInfo {
    name: "obcd",
    doc: "block coordinate descent on rows with globally solved pairs; feasible and monotone",
    constants: &[],
    shared: ObcdOptions::LIST,
    handles: &|p| p.h.row_weight().is_none(),
    scope: "every penalty but l21",
    make: &|o| made(INFO.name, o, |_| ()),
};

/// Options of the presets, without what they fix, and candidates only where the rule has some.
const BUT_RULE: &[Constant] = &only(ObcdOptions::LIST, ["block", "model", "alpha", "jacobi"]);
const BUT_GREEDY: &[Constant] = &only(ObcdOptions::LIST, ["block", "model", "alpha", "candidates", "jacobi"]);
const BUT_JACOBI: &[Constant] =
    &only(ObcdOptions::LIST, ["working-set", "block", "model", "alpha", "candidates"]);

/// The rules of the papers by the papers' names, and two more.
pub const OBCD_R: SolverInfo = SolverInfo {
    name: "obcd-r",
    doc: "OBCD with random working sets",
    shared: BUT_RULE,
    make: &|o| made(OBCD_R.name, o, |options| options.working_set = WorkingSet::Random),
    ..INFO
};
/// See [`OBCD_R`].
pub const OBCD_C: SolverInfo = SolverInfo {
    name: "obcd-c",
    doc: "OBCD with cyclic working sets",
    shared: BUT_RULE,
    make: &|o| made(OBCD_C.name, o, |options| options.working_set = WorkingSet::Cyclic),
    ..INFO
};
/// See [`OBCD_R`].
pub const OBCD_SV: SolverInfo = SolverInfo {
    name: "obcd-sv",
    doc: "OBCD with greedy working sets by stationarity violation",
    shared: BUT_GREEDY,
    make: &|o| made(OBCD_SV.name, o, |options| options.working_set = WorkingSet::GreedySv),
    ..INFO
};
/// See [`OBCD_R`].
pub const OBCD_OR: SolverInfo = SolverInfo {
    name: "obcd-or",
    doc: "OBCD with greedy working sets by objective reduction",
    shared: BUT_GREEDY,
    make: &|o| made(OBCD_OR.name, o, |options| options.working_set = WorkingSet::GreedyOr),
    ..INFO
};
/// Rows of a block of `obcd-block` unless set.
pub const BLOCK: usize = 32;

/// See [`OBCD_R`].
pub const OBCD_BLOCK: SolverInfo = SolverInfo {
    name: "obcd-block",
    doc: "OBCD with sweeps inside blocks of rows: 32 rows, or the block size",
    make: &|o| {
        made(OBCD_BLOCK.name, o, |options| {
            options.block = if options.block > 2 { options.block } else { BLOCK }
        })
    },
    ..INFO
};
/// See [`OBCD_R`].
pub const OBCD_JACOBI: SolverInfo = SolverInfo {
    name: "obcd-jacobi",
    doc: "OBCD with rounds of n/2 disjoint pairs in parallel",
    shared: BUT_JACOBI,
    make: &|o| made(OBCD_JACOBI.name, o, |options| options.jacobi = true),
    ..INFO
};

fn made(
    name: &'static str,
    o: &SolverOptions,
    preset: fn(&mut ObcdOptions),
) -> Result<AnySolver<PcaProblem>> {
    let mut options = ObcdOptions { name, seed: o.seed, ..o.obcd.clone() };
    preset(&mut options);
    Ok(AnySolver::new(Obcd::new(options)?))
}
