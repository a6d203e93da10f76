//! Nonsmooth optimisation under orthogonality constraints.
//!
//! ```text
//! min F(X) = f(X) + h(X)   subject to   XᵀX = I_r,   X ∈ ℝⁿˣʳ
//! ```
//!
//! with a smooth f and a separable nonsmooth h: sparse PCA (ℓ0, ℓ1) and nonnegative PCA whose
//! components are *exactly* orthogonal. The main solver is OBCD, block coordinate descent on the rows
//! of X: every iterate is feasible, F never rises, zeros are exact, and what it returns comes
//! with a statement of what kind of point it is (block-2 stationary, checked over all pairs).
//!
//! ```
//! use orthopt::prelude::*;
//!
//! // 40 samples (rows) of 6 variables (columns)
//! let a = Matrix::from_fn(40, 6, |i, j| ((i * (j + 3)) as f64 * 0.37).sin() * (j + 1) as f64);
//!
//! // min −½ tr(XᵀAᵀAX) + 20‖X‖₀ over 6 × 2 matrices with orthonormal columns
//! let found = SparsePca::l0(&a).components(2).lambda(20.0).certify().fit()?;
//!
//! assert_eq!(found.solution.status, Status::Optimal); // no feasible X has a lower F
//! assert!(found.solution.feasibility <= 1e-12);
//! assert!(found.is_certified());
//! # Ok::<(), orthopt::Error>(())
//! ```
//!
//! The parts behind it, for problems, solvers and criteria of your own (`examples/` has more):
//!
//! ```
//! use orthopt::certify::{Scope, block_stationarity};
//! use orthopt::problem::{PcaProblem, PcaData, Storage};
//! use orthopt::prelude::*;
//! use orthopt::solvers::obcd::{Obcd, ObcdOptions};
//! use orthopt::start::Start;
//!
//! // 40 samples of 6 variables, rows are samples
//! let a = faer::Mat::from_fn(40, 6, |i, j| ((i * (j + 3)) as f64 * 0.37).sin() * (j + 1) as f64);
//! let data = PcaData::Dense(a.as_ref());
//!
//! // min −½ tr(XᵀAᵀAX) + 20‖X‖₀ over 6 × 2 matrices with orthonormal columns
//! let problem = orthopt::family::pca_problem("l0-pca", &data, 2, 20.0, Storage::Auto)?;
//! let x0 = Start::Coordinates.point(&problem.f, 2, false, 0)?;
//! let mut stop = Stationary { tol: 1e-10 }.or(TimeLimit(Some(10.0)));
//! let solver = Obcd::new(ObcdOptions::default())?;
//! let solution = run(&problem, &solver, x0, RunOptions::default(), &mut stop, &mut [])?;
//!
//! assert_eq!(solution.status, Status::Converged);
//! assert!(solution.feasibility <= 1e-12);
//! let certificate = block_stationarity(&problem, &solution.x, Scope::All);
//! assert!(certificate.holds(1e-8));
//! # Ok::<(), orthopt::Error>(())
//! ```
//!
//! # Where things are
//!
//! | module | holds |
//! |---|---|
//! | [`SparsePca`], [`prelude`] | components in three lines, and what most programs import |
//! | [`report`], [`message`] | what there is to say of a run, and messages that name options |
//! | [`family`] | what users name: problems, solvers, starts, and what is chosen for them |
//! | [`request`] | every option of every front end, declared once, and what they mean |
//! | [`problem`] | a constraint and the terms f, h, g and A put together; data, explained variance |
//! | [`constraint`] | what a constraint is: the Stiefel manifold, the J-orthogonal group |
//! | [`smooth`] | what f is and the capabilities that solvers ask for; one f or storage per file |
//! | [`nonsmooth`], [`penalty`] | what h is, and one penalty per file |
//! | [`concave`], [`linear_map`] | the part g that is subtracted, the map A inside h |
//! | [`composite`] | how far a point of f − g + h(A(X)) is from being critical |
//! | [`solvers`] | algorithms |
//! | [`solve`] | the one loop: clock, stopping, observers, solution |
//! | [`start`], [`cancel`] | starting points; whether work may continue |
//! | [`bound`] | lower bounds of F over all X, proofs of optimality |
//! | [`minimize`] | functions of the caller's own: starts, default solvers, one text for all front ends |
//! | [`explore`] | from a table to components: how many, how sparse, which, how good |
//! | [`certify`] | criticality and block-2 stationarity |
//! | [`path`], [`stability`] | how sparse components are to be, and how sure they are |
//! | [`RowMat`] | the matrix type: rows are contiguous |
//!
//! An f, h, g or A of your own is a type that implements [`smooth::Smooth`], [`nonsmooth::Nonsmooth`],
//! [`concave::Concave`] or [`linear_map::LinearMap`]; every solver takes it whose bounds it meets
//! (`examples/own_smooth.rs`, `any_smooth.rs`, `own_penalty.rs`, `own_composite.rs`).
//!
//! Bad input is an [`Error`]; what the mathematics does is a [`solve::Status`]. Nothing panics
//! on user input. The same seed gives the same X for any number of threads.

pub mod explore;
pub mod job;
pub mod minimize;
pub mod path;
pub mod prelude;
mod sparse_pca;
pub mod stability;

pub use orthopt_core::{Error, Result, RowMat};
#[doc(no_inline)]
pub use orthopt_run::request;
#[doc(inline)]
pub use orthopt_run::{registry, report, solvers};
pub use sparse_pca::SparsePca;

#[doc(inline)]
pub use orthopt_linalg::threads;

/// Lower bounds of F over all feasible X, and proofs that others can check.
pub mod bound {
    #[doc(inline)]
    pub use orthopt_bound::{
        Bound, CheckedProof, Claim, Dual, Elsewhere, End, Kind, LimitDual, Limits, Method, Options, PROVED,
        Point, Prepared, Progress, Proof, ProofFile, Relaxation, Show, Statement, limit_dual, lower_bound,
    };
}

/// Cancellation of work: one clock, one deadline and one flag.
pub mod cancel {
    #[doc(inline)]
    pub use orthopt_linalg::cancel::Cancel;
}

/// Checks of a point X: criticality, block-2 stationarity, decreases by larger blocks of rows.
pub mod certify {
    #[doc(inline)]
    pub use orthopt_core::certify::{
        BlockReport, BlockScope, Certificate, RowBlocks, Scope, block_k_stationarity, block_stationarity,
        criticality, criticality_while,
    };
}

/// Criticality of a point of f − g + h(A(X)).
pub mod composite {
    #[doc(inline)]
    pub use orthopt_core::composite::{Composite, CritParts, crit_parts, criticality};
}

/// The part g that is subtracted.
pub mod concave {
    #[doc(inline)]
    pub use orthopt_core::concave::{AnyConcave, CappedExcess, Concave, LargestK, NoConcave, Through};
}

/// Constraints: feasibility, tangent space, random points, repair.
pub mod constraint {
    #[doc(inline)]
    pub use orthopt_core::constraint::{
        Constraint, GivensFactor, HyperbolicQr, JOrthogonal, Signature, Stiefel, givens_factors,
        hyperbolic_qr, indefinite_polar,
    };
}

/// Named choices of users: problems, the solvers and starting points of each family, and the
/// defaults of open choices. An application service above the mathematics and the solvers.
pub mod family {
    #[doc(inline)]
    pub use orthopt_run::family::{
        AnyProblem, CompositeOptions, Effort, Family, InUnit, Kind, Knee, Limit, LinearInput, MaybeOwned,
        NONLINEAR_EIG_SOLVERS, NamedConstant, PROBLEMS, PenaltyEntry, Plan, Posed, ProblemInfo, RankRule,
        Recipe, Reducible, Request, Scree, SolverEntry, Split, all_constants, all_penalties, all_solvers,
        check_constants, check_solvers, composite_parts, composite_problem, find_problem, knee, needs_parts,
        order_components, pca_problem, penalty_called, pose, remark_on_means, request, scree, solvers_called,
    };
    // what the front ends of this repository share
    #[doc(hidden)]
    pub use orthopt_run::family::*;
}

/// The linear map A inside h.
pub mod linear_map {
    #[doc(inline)]
    pub use orthopt_core::linear_map::{
        AnyMap, Composition, Differences, FunctionMap, Identity, LeftMatrix, LinearMap, Selection,
    };
}

/// Messages that name options.
pub mod message {
    #[doc(inline)]
    pub use orthopt_linalg::message::{Hint, Message};
}

/// The nonsmooth part h: what it is and what methods ask of it.
pub mod nonsmooth {
    #[doc(inline)]
    pub use orthopt_core::nonsmooth::{Nonsmooth, Piece, Pieces};
}

/// F and its parts.
pub mod objective {
    #[doc(inline)]
    pub use orthopt_core::objective::{Evaluate, Objective, REPORT_ZERO, count_nonzeros, size};
}

/// Named values: constants of solvers and choices.
pub mod options {
    #[doc(inline)]
    pub use orthopt_core::options::{Constant, Constants, Given, Kind, Value, checked};
}

/// Penalties h, one per type, and the list of them.
pub mod penalty {
    #[doc(inline)]
    pub use orthopt_core::penalty::{
        AnyPenalty, BoxBounds, CappedL1, ElasticNet, L0, L1, L21, LAMBDA_SHARE, Mcp, NoPenalty, NoShape,
        Nonneg, PENALTIES, PairPenalty, PenaltyInfo, Scad, Shape, find_penalty,
    };
}

/// The smooth part f, one storage per type.
pub mod smooth {
    #[doc(inline)]
    pub use orthopt_core::smooth::{
        AnySmooth, Centring, DenseGram, DenseQuadratic, Entries, FiniteSum, Halves, HessianVector,
        JQuadratic, Loss, MEASURES, Measure, Measured, NonlinearEig, Order, Placement, Probe, Quadratic,
        SampleLoss, Samples, Smooth, SparseGram, TwoSided, Unpacked, Usage, estimate_lipschitz,
        euclidean_distances,
    };
    #[doc(no_inline)]
    pub use orthopt_linalg::simd::Simd;
}

/// The one loop around every solver: budget, NaN check, stopping, observers, solution.
pub mod solve {
    #[doc(inline)]
    pub use orthopt_core::solve::{
        And, AnySolver, ArmReport, Behaviour, Chain, Confirmed, Critical, Current, Details, Ending, Event,
        MaxIterations, MoveReport, Observer, Or, Pass, Progress, Raw, RelativeDecrease, RunOptions, Running,
        SearchReport, Setting, Settings, Solution, Solver, Splitting, Stage, Stagnation, Stationary, Status,
        Step, Stop, StopReason, Stopping, TimeLimit, Trace, TracePoint, VariablesReport, advance, run,
        run_restarts,
    };
}

/// Starting points X⁰ with XᵀX = I.
pub mod start {
    #[doc(inline)]
    pub use orthopt_core::start::{STARTS, Start, leading_eigenvectors};
}

/// Problems: a constraint set and the terms of F, put together.
///
/// ```
/// use orthopt::concave::LargestK;
/// use orthopt::linear_map::Differences;
/// use orthopt::penalty::L1;
/// use orthopt::problem::Problem;
/// use orthopt::smooth::DenseQuadratic;
///
/// // min ½tr(XᵀMX) + ½‖X‖₁ over 5 × 2 matrices with orthonormal columns
/// let m = faer::Mat::from_fn(5, 5, |i, j| 1.0 / (1 + i + j) as f64);
/// let plain = Problem::new(DenseQuadratic::new(m.as_ref())?, L1::new(0.5)?, 2)?;
/// // the same minus the 3 largest entries, with the penalty on differences of rows
/// let composite = plain.minus(LargestK::new(0.5, 3)?)?.through(Differences)?;
/// assert_eq!((composite.nrows(), composite.rank()), (5, 2));
/// # Ok::<(), orthopt::Error>(())
/// ```
pub mod problem {
    #[doc(inline)]
    pub use orthopt_core::problem::{
        Between, Cardinality, CompositeProblem, Cost, ExplainedVariance, JProblem, NonlinearEigProblem,
        PcaData, PcaProblem, Problem, SampleProblem, Storage, covariance, covariance_model,
        explained_variance, scatter, squares_on_span, support,
    };
    #[doc(inline)]
    pub use orthopt_limits::problem::{CardinalityProblem, MeasuredProblem, Share};
}

/// The examples of the README are compiled and run by the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
