//! Named choices of users: problems, the solvers and starting points of each family, and the
//! defaults of open choices. An application service above the mathematics and the solvers.

use orthopt_bound as bound;
use orthopt_core::certify::{Certificate, Scope};
use orthopt_core::objective::Evaluate;
use orthopt_core::problem::{ExplainedVariance, variance_in_time};
use orthopt_core::smooth::AnySmooth;
use orthopt_core::solve::Solution;
use orthopt_core::solve::info::SolverInfo;
use orthopt_core::start::Start;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::Result;

mod arms;
mod brockett;
mod cardinality;
#[doc(hidden)]
pub mod catalogue;
mod composite;
mod composite_pca;
mod curvature;
mod in_time;
#[doc(hidden)]
pub mod in_unit;
mod j_orthogonal;
mod knee;
mod lambda;
mod line_up;
mod low_rank;
mod measured;
mod memory;
mod named;
mod narrow;
mod nonlinear_eig;
mod pca;
mod plan;
mod portfolio;
mod pose;
mod posed;
mod problem_options;
mod problems;
mod procrustes;
mod proof_file;
mod rank;
pub mod request;
mod samples;
mod shared_rows;
mod signs;
mod statement;
mod supports_proof;
mod uncentred;
mod uncorrelated;

pub use crate::search::Effort;
pub use cardinality::Limit;
pub(crate) use catalogue::all_starts;
pub use catalogue::{
    NamedConstant, PenaltyEntry, SolverEntry, all_constants, all_penalties, all_solvers, check_constants,
    check_solvers, penalty_called, solvers_called,
};
pub(crate) use composite_pca::default_k;
pub use composite_pca::{CompositeOptions, Split, composite_parts, composite_problem, needs_parts};
pub use in_unit::InUnit;
pub use knee::{Knee, knee};
pub use named::AnyProblem;
pub use narrow::WarmStart;
pub use narrow::{MaybeOwned, Reducible};
pub use nonlinear_eig::{LinearInput, SOLVERS as NONLINEAR_EIG_SOLVERS};
pub use orthopt_core::problem::Between;
pub use pca::{order_components, pca_problem};
pub use plan::Plan;
pub use pose::pose;
pub use posed::{Kind, Posed, ProblemInfo};
pub use problems::{PROBLEMS, find_problem};
pub use rank::{RankRule, Scree, scree};
pub use request::{Call, CallOptions, Case, Request, Run};
pub use uncentred::remark_on_means;

/// Facts about a problem that take no computation.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    /// Names of its starting points, with one line each.
    pub starts: &'static [(&'static str, &'static str)],
    /// The starting point of those who do not name one.
    pub default_start: &'static str,
    /// Starting points that another seed changes.
    pub random_starts: &'static [&'static str],
    /// Quantity that [`Evaluate::feasibility`] measures, in words.
    pub feasibility: &'static str,
    /// Quantity that [`Family::criticality`] measures, in words.
    pub criticality: &'static str,
    /// True if local solutions differ, so that further starts are worth their time.
    pub has_local_solutions: bool,
    /// Iterations worth spending on further starts where the user sets no limit and leaves the
    /// solver open: about a second of OBCD.
    pub auto_effort: u64,
    /// True if pairs of rows can be solved globally, so that [`Family::block_stationarity`] says
    /// something.
    pub has_pairs: bool,
}

impl Default for Recipe {
    fn default() -> Self {
        Self {
            starts: &[],
            default_start: "random",
            random_starts: &["random", "partition"],
            feasibility: "||X'X - I||_F",
            criticality: "dist(0, dF(X)) along the manifold",
            has_local_solutions: true,
            auto_effort: 2_000_000,
            has_pairs: true,
        }
    }
}

/// A kind of problem with everything that a command line or another language needs to solve it
/// by name: its solvers, its starting points, its certificates.
pub trait Family: Evaluate + Send + Sync + Sized + 'static {
    /// Its solvers.
    fn solvers(&self) -> &'static [SolverInfo<Self>];

    /// The facts about it.
    fn recipe(&self) -> Recipe;

    /// Rows and columns of X.
    fn shape(&self) -> (usize, usize);

    /// The problem of the data divided by a power of two, where it is posed so, and what its F is multiplied by: runs are runs
    /// of that problem.
    #[doc(hidden)]
    fn in_unit(&self) -> Option<(&Self, f64)> {
        None
    }

    /// The starting point called `name`.
    ///
    /// # Errors
    /// [`Error::UnknownName`](orthopt_linalg::Error::UnknownName), and what stands in its way.
    fn start(&self, name: &str, seed: u64) -> Result<RowMat> {
        self.start_while(name, seed, &Cancel::never())
    }

    /// The same; a start that takes its time ends early where `cancel` says so.
    ///
    /// # Errors
    /// Like [`start`](Self::start).
    fn start_while(&self, name: &str, seed: u64, cancel: &Cancel) -> Result<RowMat>;

    /// X⁰ of `start`.
    ///
    /// # Errors
    /// An unknown name; a point that does not fit.
    fn start_at(&self, start: &Start, seed: u64, cancel: &Cancel) -> Result<RowMat> {
        match start {
            Start::Given(x) => self.given(x),
            named => self.start_while(named.name(), seed, cancel),
        }
    }

    /// A starting point of the user's own, checked and repaired to rounding.
    ///
    /// # Errors
    /// As [`Family::check`].
    fn given(&self, x: &RowMat) -> Result<RowMat> {
        self.check(x, "the starting point X")?;
        Ok(x.clone())
    }

    /// Solvers, options and starting points for what the user wants.
    ///
    /// # Errors
    /// Unknown names, solvers that do not fit, options out of range.
    fn plan(&self, request: &Request) -> Result<Plan<Self>> {
        Plan::by_default(self, request)
    }

    /// The minimum of F where it is known in closed form. May cost O(n³).
    fn known_optimum(&self) -> Option<f64> {
        None
    }

    /// f and the kind of the problem, where lower bounds of F over all feasible points are known.
    ///
    /// # Errors
    /// There is no bound, and why.
    fn bounded(&self) -> Result<(&AnySmooth, bound::Kind)> {
        Err(bound::no_bound("this problem has no relaxation that is proved to be below F"))
    }

    /// A lower bound of F over all feasible points; `x` is the best one known.
    ///
    /// # Errors
    /// As [`Family::bounded`] and [`bound::lower_bound`].
    fn lower_bound(
        &self,
        x: Option<&RowMat>,
        options: &bound::Options,
        cancel: &Cancel,
        show: bound::Show<'_>,
    ) -> Result<bound::Bound> {
        let (f, kind) = self.bounded()?;
        let (_, rank) = self.shape();
        bound::lower_bound(f, rank, &kind, x, options, cancel, show)
    }

    /// The minimum of F, proved with at most so much work (`linalg::work`) from the X that is known, if one is: the same
    /// for any number of threads unless `cancel` says so. `None` where that is not enough.
    fn proved_with(&self, known: Option<&RowMat>, work: u64, cancel: &Cancel) -> Option<bound::Bound> {
        known.and_then(|x| proved_by_branching(self, Some(x), work, cancel))
    }

    /// The problem as one that can be searched on some of its variables, or, given a seed, with less of C where X needs all
    /// variables and that pays; `None` where it is not.
    fn narrow(&self, _low_rank: Option<(u64, &Cancel)>) -> Option<MaybeOwned<'_, Self>> {
        None
    }

    /// The quadratic form of the C whose variance the columns of X explain, where that means something.
    fn covariance(&self) -> Option<&AnySmooth> {
        None
    }

    /// Variance explained by the columns of X, where that means something.
    fn explained_variance(&self, x: &RowMat) -> Option<ExplainedVariance> {
        variance_in_time(self.covariance()?, None, x)
    }

    /// Puts the columns of the solution in a canonical order, where the order is free.
    fn order_components(&self, _solution: &mut Solution) {}

    /// Checks a given X: shape, finite, feasible to 1e-6.
    ///
    /// # Errors
    /// Error if X is infeasible, with the measured error.
    fn check(&self, x: &RowMat, what: &str) -> Result<()>;

    /// How far X is from being critical; `None` if it was cancelled before
    /// that was known.
    fn criticality(&self, x: &RowMat, cancel: &Cancel) -> Option<f64>;

    /// Block-2 stationarity, where pairs of rows can be solved globally. When it is cancelled it ends at
    /// once with what has been checked, [`Certificate::pairs_checked`].
    fn block_stationarity(&self, _x: &RowMat, _scope: Scope, _cancel: &Cancel) -> Option<Certificate> {
        None
    }
}

/// The minimum of F by branch and bound with at most so much work, from the X that is known, if one is.
fn proved_by_branching<P: Family>(
    p: &P,
    known: Option<&RowMat>,
    work: u64,
    cancel: &Cancel,
) -> Option<bound::Bound> {
    let ((n, r), (_, kind)) = (p.shape(), p.bounded().ok()?);
    if !bound::branches(&kind, r, n) || bound::least_proof_work(n, r) > work {
        return None;
    }
    let options = bound::Options { nodes: u64::MAX, work: Some(work), ..Default::default() };
    p.lower_bound(known, &options, cancel, &|_| ()).ok().filter(|bound| bound.proof.is_some())
}
