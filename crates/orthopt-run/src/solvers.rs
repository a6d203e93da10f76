//! Algorithms, and the lists of them.
//!
//! A new solver is one file that implements [`Solver`](orthopt_core::solve::Solver), says what it is in
//! a `SolverInfo`, and has one line in a list such as [`SOLVERS`].

#[doc(inline)]
pub use orthopt_core::pair::options::{JobcdOptions, SIDES, Side};
#[doc(inline)]
pub use orthopt_core::solve::info::{Make, SolverInfo, SolverOptions, find_solvers};
#[doc(inline)]
pub use orthopt_hyperbolic::{J_SOLVERS, j_general, j_sums};
#[doc(inline)]
pub use orthopt_solvers::{
    COMPOSITE_SOLVERS, FirstBeta, ManPg, NonlinearObcd, Oadmm, OadmmOptions, SOLVERS, Variant, approximate,
    first_order, general, general_pairwise, pairwise, second_order, smooth_only, splitting,
};

/// OBCD: block coordinate descent on the rows of X.
pub mod obcd {
    #[doc(inline)]
    pub use orthopt_solvers::obcd::{
        Candidates, CircleSearch, Model, Obcd, ObcdOptions, Search, State, WORKING_SETS, WorkingSet, pairs,
    };
}

/// The name that lets the library choose (see [`crate::family`]).
pub const AUTO: (&str, &str) =
    ("auto", "chooses solver, working set and start from the penalty and the data, and reports the choice");
