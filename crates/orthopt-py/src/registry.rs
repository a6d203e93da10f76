//! Names that users type, from the library's own lists.

use orthopt::family::{all_shapes, all_solvers};
use orthopt::registry::LISTS;
use pyo3::prelude::*;

/// The entries of a list: names with one line each. `None` if there is no such list.
#[pyfunction]
pub fn registry(list: &str) -> Option<Vec<(&'static str, &'static str)>> {
    LISTS.iter().find(|entry| entry.0 == list).map(|entry| (entry.1)())
}

/// Every constant of every solver and penalty as an argument: its name, its meaning, its default.
#[pyfunction]
pub fn constants() -> Vec<(String, &'static str, Option<f64>)> {
    let of_solvers = all_solvers().into_iter().flat_map(|s| s.2.iter().map(move |c| (s.0, c)));
    let all = of_solvers.chain(all_shapes());
    all.map(|(owner, c)| (format!("{owner}_{}", c.name).replace('-', "_"), c.doc, c.default)).collect()
}
