//! Options of the methods that descend along pairs of rows.

use super::step::{Model, Search};
use super::working_set::{Candidates, WorkingSet};
use crate::options::{choices, constants};

constants! {
    /// Options of OBCD with the papers' defaults.
    pub struct ObcdOptions {
        /// rule for choosing rows
        working_set ["B"]: WorkingSet = WorkingSet::Random;
        /// number of rows in B; subproblems of 2 are solved globally
        block ["k"]: usize = 2, "at least 2 rows" if |k| k >= 2.0;
        /// model of a block: exact (8) or diagonal (9)
        model ["Q"]: Model = Model::Exact;
        /// weight of the proximal term alpha/2 ||V - I||^2, relative to the scale of F
        alpha ["α"]: f64 = 1e-5, "a finite number > 0 (papers: 1e-5)" if |alpha| alpha > 0.0;
        /// pairs scored by the greedy rules; min(n, 200) unless set
        candidates [""]: Option<Candidates> = None, "at least 1 pair" if |pairs| pairs >= 1.0;
        /// rounds of n/2 disjoint pairs in parallel with the diagonal model (Appendix C.4)
        jacobi [""]: bool = false;
    }
    plain {
        /// The name of the solver, `obcd` or that of a preset.
        name: &'static str = "obcd";
        /// Method for the two-row subproblem.
        search: Search = Search::Fast;
        /// Whole passes leave pairs alone that offer no more than this times the size of F, so that the
        /// last pass moves nothing and is a certificate of the X it leaves.
        tol: f64 = 1e-9;
        /// Seed of all random choices.
        seed: u64 = 0;
    }
}

choices! {
    /// Which pairs a step turns.
    #[derive(Default)]
    pub enum Side as "side", SIDES {
        /// Columns where that decouples the pairs (`hyperbolic-eig`), rows elsewhere.
        #[default]
        Auto = "auto", "columns where that decouples the pairs (hyperbolic-eig), rows elsewhere";
        /// Pairs of rows of X, as in the paper.
        Rows = "rows", "pairs of rows of X, as in the paper";
        /// Pairs of columns of X: the paper's algorithm on the transposed problem.
        Columns = "columns", "pairs of columns of X: the same algorithm on the transposed problem";
    }
}

constants! {
    /// Choices of JOBCD that the solvers of XᵀJX = J share, some of them with OBCD.
    pub struct JobcdOptions {
        /// rule for the pair of a step (gs-jobcd), or for the pairs of a round (j-jobcd: random or cyclic,
        /// where a cyclic pass of n - 1 rounds meets all pairs once); cyclic unless set, but random
        /// rounds of rows, as in the paper
        working_set ["B"]: Option<WorkingSet> = None;
        /// model of a step of gs-jobcd for quadratic f; others, and rounds of rows, have the metric, and decoupled
        /// columns the exact one
        model ["Q"]: Model = Model::Exact;
        /// JOBCD: pairs of rows of X (the paper), of columns, or auto: columns where that decouples them
        side [""]: Side = Side::Auto;
        /// pairs that the greedy rules of gs-jobcd examine; min(n, 200) unless set
        candidates [""]: Option<Candidates> = None, "at least 1 pair" if |pairs| pairs >= 1.0;
    }
}
