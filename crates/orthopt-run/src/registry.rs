//! Everything that has a name users type, with one line each.

use crate::family::PROBLEMS;
use crate::family::{all_penalties, all_solvers, all_starts};
use crate::solvers::AUTO;
use orthopt_core::linear_map::MAPS;
use orthopt_core::pair::options::SIDES;
use orthopt_solvers::obcd::WORKING_SETS;

/// A list of names: `(name, one line)`.
pub type Entries = Vec<(&'static str, &'static str)>;

/// A registry: the word users type for it, and its entries.
pub type List = (&'static str, fn() -> Entries);

/// The registries by the word users type for them.
pub const LISTS: &[List] = &[
    ("problems", || PROBLEMS.iter().map(|p| (p.name, p.doc)).collect()),
    ("solvers", || [AUTO].into_iter().chain(all_solvers().iter().map(|s| (s.name, s.doc))).collect()),
    ("penalties", || all_penalties().iter().map(|p| (p.name, p.doc)).collect()),
    ("maps", || MAPS.to_vec()),
    ("starts", || all_starts()),
    ("working-sets", || WORKING_SETS.iter().map(|w| (w.0, w.2)).collect()),
    ("sides", || SIDES.iter().map(|s| (s.0, s.2)).collect()),
];
