//! Principal components in three lines: data, penalty and options, `fit`.

use faer::sparse::SparseColMatRef;

use crate::cancel::Cancel;
use crate::certify::Scope;
use crate::error::{Error, Result};
use crate::family::{Case, Family, Named, PoseOptions, Run, Wanted, find_problem, pose};
use crate::linalg::RowMat;
use crate::problem::PcaData;
use crate::report::{Checks, DataFacts, Report, Task};
use crate::smooth::Centring;
use crate::solve::{Observer, Status, Stopping};
use crate::start::Start;

/// Sparse, nonnegative or plain principal components of a table, orthogonal to rounding:
///
/// ```text
/// min −½ tr(XᵀCX) + h(X)   over the n × r matrices with XᵀX = I,   C = AᵀA
/// ```
///
/// Rows of A are samples, columns are variables. Open choices are made from the data, as in
/// the command `orthopt solve`, and [`Report::reasons`] gives the reasons; the same choices give the same X,
/// bit for bit. A run without a limit ends by its own stopping rule.
///
/// ```
/// use orthopt::prelude::*;
///
/// // 40 samples of 6 variables
/// let a = Matrix::from_fn(40, 6, |i, j| ((i * (j + 3)) as f64 * 0.37).sin() * (j + 1) as f64);
/// let found = SparsePca::l0(&a).components(2).lambda(20.0).certify().fit()?;
///
/// assert_eq!((found.x().nrows(), found.x().ncols()), (6, 2));
/// assert!(found.solution.feasibility < 1e-12);
/// assert!(found.is_certified());
/// # Ok::<(), orthopt::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is solved before `fit`"]
pub struct SparsePca<'a> {
    problem: &'static str,
    data: PcaData<'a>,
    center: bool,
    pose: PoseOptions,
    wanted: Wanted,
    stopping: Stopping,
    restarts: Option<u64>,
    scope: Option<Scope>,
    cancel: Cancel,
}

impl<'a> SparsePca<'a> {
    /// With λ‖X‖₀: λ for every entry of X that is not zero.
    pub fn l0(data: impl Into<PcaData<'a>>) -> Self {
        Self::of("l0-pca", data.into())
    }

    /// With λ‖X‖₁: λ times the sum of the absolute values.
    pub fn l1(data: impl Into<PcaData<'a>>) -> Self {
        Self::of("l1-pca", data.into())
    }

    /// With X ≥ 0, where every variable belongs to one component at most.
    pub fn nonneg(data: impl Into<PcaData<'a>>) -> Self {
        Self::of("nonneg-pca", data.into())
    }

    /// With h = 0: plain PCA.
    pub fn plain(data: impl Into<PcaData<'a>>) -> Self {
        Self::of("pca", data.into())
    }

    fn of(problem: &'static str, data: PcaData<'a>) -> Self {
        let stopping = Stopping { max_iters: None, time_limit: None, tol: TOL, min_decrease: 0.0 };
        let wanted = Wanted { tol: Some(TOL), ..Wanted::default() };
        let pose = PoseOptions::default();
        let cancel = Cancel::never();
        Self { problem, data, center: false, pose, wanted, stopping, restarts: None, scope: None, cancel }
    }

    /// r, the number of components; 5 if not given, or all variables where there are fewer.
    pub fn components(mut self, r: usize) -> Self {
        self.pose.rank = Some(r);
        self
    }

    /// λ, the weight of the penalty. If not given, [`l0`](Self::l0) gets a number of nonzeros for each component
    /// instead ([`Knee`](crate::family::Knee)), and others a share of the largest variances.
    pub fn lambda(mut self, lambda: f64) -> Self {
        self.pose.lambda = Some(lambda);
        self
    }

    /// Subtracts the mean of each column first, without a copy of the data.
    pub fn center(mut self) -> Self {
        self.center = true;
        self
    }

    /// One solver, or a chain `a+b` ([`registry`](crate::registry) lists all), instead of the library's
    /// choice.
    pub fn solver(mut self, names: &str) -> Self {
        self.wanted.solver = Some(names.into());
        self
    }

    /// Begins with this X (n × r, XᵀX = I to 1e-6).
    pub fn start(mut self, x0: RowMat) -> Self {
        self.wanted.start = Some(Start::Given(x0));
        self
    }

    /// Number of further starts after the first one; the best X is returned.
    pub fn restarts(mut self, starts: u64) -> Self {
        self.restarts = Some(starts);
        self
    }

    /// Time limit in seconds; all of it is used, for further starts too.
    pub fn time_limit(mut self, seconds: f64) -> Self {
        self.stopping.time_limit = Some(seconds);
        self
    }

    /// Limit on the number of iterations.
    pub fn max_iterations(mut self, iterations: u64) -> Self {
        self.stopping.max_iters = Some(iterations);
        self
    }

    /// The seed of all random choices; 0 if not given.
    pub fn seed(mut self, seed: u64) -> Self {
        self.wanted.seed = seed;
        self
    }

    /// Ends the run where `cancel` is set; the best X so far is returned.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// Measures criticality at the end, and solves the subproblem of every pair of rows globally.
    pub fn certify(mut self) -> Self {
        self.scope = Some(Scope::All);
        self
    }

    /// Solves the problem.
    ///
    /// # Errors
    /// Data that are not finite, a rank or λ that makes no sense, unknown names.
    pub fn fit(self) -> Result<Report> {
        self.fit_watched(&mut [])
    }

    /// The same while observers watch.
    ///
    /// # Errors
    /// As [`SparsePca::fit`].
    pub fn fit_watched(self, observers: &mut [&mut dyn Observer]) -> Result<Report> {
        self.check()?;
        let data = if self.center { centred(self.data.clone())? } else { self.data.clone() };
        let info = find_problem(self.problem)?;
        let clock = self.cancel.within(self.stopping.time_limit);
        let posed = clock.during(|| pose(info, &data, &self.pose.clone().or_counts(info, &self.wanted)))?;
        let facts = DataFacts { source: "samples".into(), ..DataFacts::of(&data) };
        let task = Task::new(&posed, facts);
        self.run(&task, &posed.problem, observers)
    }

    fn run(self, task: &Task, problem: &Named, observers: &mut [&mut dyn Observer]) -> Result<Report> {
        let Self { wanted, stopping, restarts, scope, cancel, .. } = &self;
        let mut plan = problem.plan(wanted)?;
        let case = Case::new(task.problem, &self.pose).run_by(Run::of(problem, &plan, *restarts));
        case.check(wanted.given())?;
        plan.reasons.extend(plan.restart_reason(problem, wanted, stopping, *restarts));
        let solution = plan.run(problem, wanted, stopping, *restarts, cancel, observers)?;
        let mut report = Report::new(task, problem, &plan, wanted, *stopping, solution)?;
        if scope.is_some() && report.solution.status != Status::Interrupted {
            report.checks = Checks::of(problem, report.x(), *scope, cancel);
        }
        Ok(report)
    }

    fn check(&self) -> Result<()> {
        let no = |option: &str, value: f64| Error::InvalidOption {
            option: option.into(),
            value: value.to_string(),
            expected: "a finite number >= 0".into(),
        };
        let given = [("lambda", self.pose.lambda), ("time-limit", self.stopping.time_limit)];
        match given
            .iter()
            .find_map(|(name, v)| v.filter(|v| !(*v >= 0.0 && v.is_finite())).map(|v| no(name, v)))
        {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// Decreases of F within this times its size count as none.
const TOL: f64 = 1e-9;

/// The data with the means of the columns to be subtracted.
fn centred(data: PcaData<'_>) -> Result<PcaData<'_>> {
    Ok(match data {
        PcaData::Dense(a) => PcaData::Centred(a, Centring::of(a)),
        PcaData::Sparse(a, None) => {
            let mean = |j| a.val_of_col(j).iter().sum::<f64>() / a.nrows() as f64;
            PcaData::Sparse(a, Some((0..a.ncols()).map(mean).collect()))
        }
        PcaData::Gram(_) | PcaData::SparseGram(_) => {
            return Err(Error::Incompatible("C itself cannot be centred: center needs samples".into()));
        }
        already => already,
    })
}

impl<'a> From<&'a RowMat> for PcaData<'a> {
    /// Samples in rows.
    fn from(a: &'a RowMat) -> Self {
        Self::Dense(a.as_mat())
    }
}

impl<'a> From<&'a faer::Mat<f64>> for PcaData<'a> {
    /// Samples in rows.
    fn from(a: &'a faer::Mat<f64>) -> Self {
        Self::Dense(a.as_ref())
    }
}

impl<'a> From<faer::MatRef<'a, f64>> for PcaData<'a> {
    /// Samples in rows.
    fn from(a: faer::MatRef<'a, f64>) -> Self {
        Self::Dense(a)
    }
}

impl<'a> From<SparseColMatRef<'a, usize, f64>> for PcaData<'a> {
    /// Samples in rows.
    fn from(a: SparseColMatRef<'a, usize, f64>) -> Self {
        Self::Sparse(a, None)
    }
}
