//! What users name: sparse PCA, nonnegative PCA, plain PCA, assembled from a smooth part and a
//! penalty.

mod data;
pub mod nonlinear_eig;
mod variance;

use crate::auto::{self, Plan, Wanted};
use crate::certify::{self, Scope};
use crate::constraint::stiefel;
use crate::error::{Error, Result};
use crate::linalg::RowMat;
use crate::nonsmooth::Nonsmooth;
use crate::objective::{Evaluate, Objective};
use crate::penalty::{AnyPenalty, PENALTIES};
use crate::smooth::{AnySmooth, Smooth};
use crate::solve::{Certificate, Solution};
use crate::solvers::{SOLVERS, SolverInfo};
use crate::start::{STARTS, Start};

pub use data::{PcaData, Storage, covariance_model};
pub(crate) use variance::by_variance;
pub use variance::{ExplainedVariance, explained_variance, order_components};

/// min F(X) = f(X) + h(X) over X ∈ St(n, r).
#[derive(Clone, Debug)]
pub struct Problem<F, H> {
    /// The smooth part f.
    pub f: F,
    /// The nonsmooth part h.
    pub h: H,
    rank: usize,
}

/// The problem with parts chosen at run time.
pub type AnyProblem = Problem<AnySmooth, AnyPenalty>;

impl<F: Smooth, H: Nonsmooth> Evaluate for Problem<F, H> {
    fn value(&self, x: &RowMat) -> f64 {
        self.value(x)
    }

    fn objective(&self, x: &RowMat) -> Objective {
        self.objective(x)
    }

    fn feasibility(&self, x: &RowMat) -> f64 {
        self.feasibility(x)
    }

    fn nonneg_violation(&self, x: &RowMat) -> Option<f64> {
        self.nonneg_violation(x)
    }
}

impl<F: Smooth, H: Nonsmooth> Problem<F, H> {
    /// min f + h over St(n, r), n the number of rows f is made for.
    ///
    /// # Errors
    /// [`Error::Rank`] unless 1 ≤ r ≤ n.
    pub fn new(f: F, h: H, rank: usize) -> Result<Self> {
        if rank == 0 || rank > f.nrows() {
            return Err(Error::Rank { rank, columns: f.nrows() });
        }
        if let Some(cols) = f.ncols().filter(|c| *c != rank) {
            return Err(Error::Shape {
                what: "the linear term E".into(),
                rows: f.nrows(),
                cols,
                expected_rows: f.nrows(),
                expected_cols: rank,
            });
        }
        Ok(Self { f, h, rank })
    }

    /// Number of rows n of X.
    pub fn nrows(&self) -> usize {
        self.f.nrows()
    }

    /// Number of columns r of X.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// F(X) with exact zeros: the value the algorithms lower. Cost of a gradient.
    pub fn value(&self, x: &RowMat) -> f64 {
        self.f.value(x) + self.h.value(x.data())
    }

    /// F(X) and its parts as reported (|x| > 1e-6 counts as nonzero). Cost of a gradient.
    pub fn objective(&self, x: &RowMat) -> Objective {
        let (smooth, nonsmooth) = (self.f.value(x), self.h.reported_value(x.data()));
        Objective { total: smooth + nonsmooth, smooth, nonsmooth }
    }

    /// ‖XᵀX − I‖_F.
    pub fn feasibility(&self, x: &RowMat) -> f64 {
        stiefel::feasibility(x)
    }

    /// ‖min(0, X)‖_F where X must be nonnegative.
    pub fn nonneg_violation(&self, x: &RowMat) -> Option<f64> {
        self.h.requires_nonneg().then(|| x.data().iter().map(|v| v.min(0.0).powi(2)).sum::<f64>().sqrt())
    }
}

/// What the registry says of a problem.
#[derive(Clone, Copy, Debug)]
pub struct ProblemInfo {
    /// The name users type.
    pub name: &'static str,
    /// What it is made of and which solvers there are.
    pub kind: Kind,
    /// Name of its penalty.
    pub penalty: &'static str,
    /// Whether λ means something.
    pub uses_lambda: bool,
    /// One line of documentation.
    pub doc: &'static str,
}

/// The kinds of problems, each with solvers of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// −½⟨X, CX⟩ + h(X), XᵀX = I.
    Pca,
    /// −½⟨X, CX⟩ − g(X) + h(A(X)), XᵀX = I.
    Composite,
    /// 1/(2m)‖XXᵀD − D‖² − g(X) + h(A(X)), XᵀX = I, D = Aᵀ of m samples.
    DataFit,
    /// tr(XᵀCX), XᵀJX = J.
    HyperbolicEig,
    /// Distances in ultrahyperbolic space, XᵀJX = J.
    Probe,
    /// ½⟨X, CX⟩ + ⟨E, X⟩ + (λ/4) ρᵀC†ρ, XᵀX = I.
    NonlinearEig,
}

/// All problems of the library.
pub const PROBLEMS: &[ProblemInfo] = &[
    ProblemInfo {
        name: "l0-pca",
        kind: Kind::Pca,
        penalty: "l0",
        uses_lambda: true,
        doc: "sparse PCA: min -1/2 <X, CX> + lambda ||X||_0, X'X = I",
    },
    ProblemInfo {
        name: "l1-pca",
        kind: Kind::Pca,
        penalty: "l1",
        uses_lambda: true,
        doc: "sparse PCA: min -1/2 <X, CX> + lambda ||X||_1, X'X = I",
    },
    ProblemInfo {
        name: "nonneg-pca",
        kind: Kind::Pca,
        penalty: "nonneg",
        uses_lambda: false,
        doc: "nonnegative PCA: min -1/2 <X, CX>, X'X = I, X >= 0",
    },
    ProblemInfo {
        name: "pca",
        kind: Kind::Pca,
        penalty: "none",
        uses_lambda: false,
        doc: "plain PCA: min -1/2 <X, CX>, X'X = I (any basis of the leading eigenspace)",
    },
    ProblemInfo {
        name: "mcp-pca",
        kind: Kind::Pca,
        penalty: "mcp",
        uses_lambda: true,
        doc: "sparse PCA with mcp: min -1/2 <X, CX> + h(X), X'X = I",
    },
    ProblemInfo {
        name: "scad-pca",
        kind: Kind::Pca,
        penalty: "scad",
        uses_lambda: true,
        doc: "sparse PCA with scad: min -1/2 <X, CX> + h(X), X'X = I",
    },
    ProblemInfo {
        name: "dc-pca",
        kind: Kind::DataFit,
        penalty: "l1-largest-k",
        uses_lambda: true,
        doc: "k-sparse PCA: min 1/(2m) ||XX'D - D||^2 + lambda (||X||_1 - the k largest |X_ij|), X'X = I, D = A'",
    },
    ProblemInfo {
        name: "capped-l1-pca",
        kind: Kind::Composite,
        penalty: "capped-l1",
        uses_lambda: true,
        doc: "sparse PCA with capped l1 as l1 minus its excess: min -1/2 <X, CX> + lambda sum min(|X_ij|, cap), X'X = I",
    },
    ProblemInfo {
        name: "fused-pca",
        kind: Kind::Composite,
        penalty: "fused-l1",
        uses_lambda: true,
        doc: "piecewise constant PCA: min -1/2 <X, CX> + lambda sum |X_i+1,j - X_ij|, X'X = I",
    },
    ProblemInfo {
        name: "hyperbolic-eig",
        kind: Kind::HyperbolicEig,
        penalty: "none",
        uses_lambda: false,
        doc: "hyperbolic eigenvalues: min tr(X'CX), X'JX = J, C = A'A/m + ridge positive definite; the minimum is known",
    },
    ProblemInfo {
        name: "probe",
        kind: Kind::Probe,
        penalty: "none",
        uses_lambda: false,
        doc: "structural probe: a J-orthogonal map after which distances of the samples in ultrahyperbolic space match a table",
    },
    nonlinear_eig::INFO,
];

/// Looks a problem up by name.
///
/// # Errors
/// [`Error::UnknownName`] with the names there are.
pub fn find_problem(name: &str) -> Result<&'static ProblemInfo> {
    PROBLEMS.iter().find(|p| p.name == name).ok_or_else(|| Error::UnknownName {
        kind: "problem",
        name: name.into(),
        known: PROBLEMS.iter().map(|p| p.name).collect::<Vec<_>>().join(", "),
    })
}

impl AnyProblem {
    /// The PCA problem called `name` (see [`PROBLEMS`]) of the data, with C = AᵀA:
    /// F(X) = −½ tr(XᵀCX) + h(X).
    ///
    /// # Errors
    /// An unknown name, a bad rank or λ, data that are not finite, a C that is not symmetric.
    pub fn pca(name: &str, data: &PcaData<'_>, rank: usize, lambda: f64, storage: Storage) -> Result<Self> {
        let info = find_problem(name)?;
        if info.kind != Kind::Pca {
            return Err(Error::Incompatible(format!(
                "{name} is not f + h with X'X = I: pose it by orthopt::named"
            )));
        }
        let penalty =
            PENALTIES.iter().find(|p| p.name == info.penalty).ok_or_else(|| Error::UnknownName {
                kind: "penalty",
                name: info.penalty.into(),
                known: PENALTIES.iter().map(|p| p.name).collect::<Vec<_>>().join(", "),
            })?;
        let columns = data.ncols();
        if rank == 0 || rank > columns {
            return Err(Error::Rank { rank, columns }); // before any work
        }
        let h = (penalty.make)(lambda)?;
        Self::new(covariance_model(data, storage)?, h, rank)
    }
}

/// A kind of problem with everything that a command line or another language needs to solve it
/// by name: its solvers, its starting points, its certificates.
pub trait Family: Evaluate + Send + Sync + Sized + 'static {
    /// Its solvers.
    fn solvers() -> &'static [SolverInfo<Self>];

    /// Names of its starting points, with one line each; the first is the default.
    fn starts() -> &'static [(&'static str, &'static str)];

    /// Rows and columns of X.
    fn shape(&self) -> (usize, usize);

    /// The starting point called `name`.
    ///
    /// # Errors
    /// [`Error::UnknownName`], and what stands in its way.
    fn start(&self, name: &str, seed: u64) -> Result<RowMat>;

    /// The starting point of those who do not name one.
    fn default_start(&self) -> &'static str {
        Self::starts().first().map_or("random", |s| s.0)
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
    fn plan(&self, wanted: &Wanted) -> Result<Plan<Self>> {
        Plan::by_default(self, wanted)
    }

    /// What [`Evaluate::feasibility`] measures, in words.
    fn feasibility_name(&self) -> &'static str {
        "||X'X - I||_F"
    }

    /// The same divided by ‖X‖₂², the unit in which rounding counts where ‖X‖ is not bounded;
    /// `None` where it is.
    fn relative_feasibility(&self, _x: &RowMat) -> Option<f64> {
        None
    }

    /// What [`Family::criticality`] measures, in words.
    fn criticality_name(&self) -> &'static str {
        "dist(0, dF(X)) along the manifold"
    }

    /// Whether local solutions differ, so that further starts are worth their time.
    fn has_local_solutions(&self) -> bool {
        true
    }

    /// Iterations worth spending on further starts where the user sets no limit and leaves the
    /// solver open: about a second of OBCD.
    fn auto_effort(&self) -> u64 {
        2_000_000
    }

    /// The minimum of F where it is known in closed form. May cost O(n³).
    fn known_optimum(&self) -> Option<f64> {
        None
    }

    /// Variance explained by the columns of X, where that means something.
    fn explained_variance(&self, _x: &RowMat) -> Option<ExplainedVariance> {
        None
    }

    /// Puts the columns of the solution in a canonical order, where the order is free.
    fn order_components(&self, _solution: &mut Solution) {}

    /// Checks an X that somebody else made: shape, finite, feasible to 1e-6.
    ///
    /// # Errors
    /// What is wrong with it, with the measured error.
    fn check(&self, x: &RowMat, what: &str) -> Result<()>;

    /// How far X is from being critical.
    fn criticality(&self, x: &RowMat) -> f64;

    /// Block-2 stationarity, where pairs of rows can be solved globally.
    fn block_stationarity(&self, x: &RowMat, scope: Scope) -> Option<Certificate>;
}

impl Family for AnyProblem {
    fn solvers() -> &'static [SolverInfo] {
        SOLVERS
    }

    fn starts() -> &'static [(&'static str, &'static str)] {
        STARTS
    }

    fn shape(&self) -> (usize, usize) {
        (self.nrows(), self.rank())
    }

    fn start(&self, name: &str, seed: u64) -> Result<RowMat> {
        Start::parse(name)?.point(&self.f, self.rank(), self.h.requires_nonneg(), seed)
    }

    /// The papers' starts, but a random one where h = 0: the span of a few coordinates can be
    /// invariant under C, and then it is a saddle point that methods with full gradients never
    /// leave. The first 20 variables of w1a only ever occur with 14 others, and from there plain PCA
    /// ends at -1234 instead of below -6000.
    fn default_start(&self) -> &'static str {
        match &self.h {
            h if h.requires_nonneg() => "partition",
            AnyPenalty::None(_) => "random",
            _ => "identity",
        }
    }

    fn given(&self, x: &RowMat) -> Result<RowMat> {
        Start::Given(x.clone()).point(&self.f, self.rank(), self.h.requires_nonneg(), 0)
    }

    fn plan(&self, wanted: &Wanted) -> Result<Plan<Self>> {
        auto::plan(self, wanted)
    }

    fn explained_variance(&self, x: &RowMat) -> Option<ExplainedVariance> {
        Some(explained_variance(&self.f, x))
    }

    fn order_components(&self, solution: &mut Solution) {
        order_components(self, solution);
    }

    fn check(&self, x: &RowMat, what: &str) -> Result<()> {
        stiefel::check(x, self.nrows(), self.rank(), what)
    }

    fn criticality(&self, x: &RowMat) -> f64 {
        certify::criticality(self, x)
    }

    fn block_stationarity(&self, x: &RowMat, scope: Scope) -> Option<Certificate> {
        Some(certify::block_stationarity(self, x, scope))
    }
}
