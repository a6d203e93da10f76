//! Algorithms, one per file or folder.

pub mod obcd;

/// What the registry says of a solver.
#[derive(Clone, Copy, Debug)]
pub struct SolverInfo {
    /// The name users type.
    pub name: &'static str,
    /// One line of documentation.
    pub doc: &'static str,
}

/// All solvers of the library.
pub const SOLVERS: &[SolverInfo] = &[
    SolverInfo {
        name: "auto",
        doc: "chooses solver, working set and start from the penalty and the data, and says so",
    },
    SolverInfo {
        name: "obcd",
        doc: "block coordinate descent on rows with globally solved pairs; feasible and monotone",
    },
];
