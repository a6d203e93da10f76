//! Principal components in three lines: data, penalty and options, `fit`.

use crate::job::Job;
use orthopt_core::problem::PcaData;
use orthopt_core::smooth::Centring;
use orthopt_core::solve::{Observer, Status};
use orthopt_core::start::Start;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_run::family::request::{Group, Rank, Request, Written, find_option};
use orthopt_run::family::{Call, CallOptions, find_problem};
use orthopt_run::report::{DataFacts, Report};

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
    request: Request,
    further: Vec<(String, Written)>,
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
        let (request, further, cancel) = (Request::default(), Vec::new(), Cancel::never());
        Self { problem, data, center: false, request, further, cancel }
    }

    fn asking(mut self, ask: impl FnOnce(&mut Request)) -> Self {
        ask(&mut self.request);
        self
    }

    /// r, the number of components; 5 if not given, or one fewer than the variables where there are fewer.
    pub fn components(self, r: usize) -> Self {
        self.asking(|request| request.rank = Some(Rank::Given(r)))
    }

    /// λ, the weight of the penalty. If not given, [`l0`](Self::l0) gets a number of nonzeros for each component
    /// instead ([`Knee`](orthopt_run::family::Knee)), and others a share of the largest variances.
    pub fn lambda(self, lambda: f64) -> Self {
        self.asking(|request| request.lambda = Some(lambda))
    }

    /// An option of the problem, the solver or the end of a run by the name that it has in the command
    /// ([`OPTIONS`](crate::request::OPTIONS)): `("nonzeros", vec![5, 3])`, `("maximise", "variance")`.
    pub fn option(mut self, name: &str, value: impl Into<Written>) -> Self {
        self.further.push((name.into(), value.into()));
        self
    }

    /// Subtracts the mean of each column first, without a copy of the data.
    pub fn center(mut self) -> Self {
        self.center = true;
        self
    }

    /// One solver, or a chain `a+b` ([`registry`](orthopt_run::registry) lists all), instead of the library's
    /// choice.
    pub fn solver(self, names: &str) -> Self {
        self.asking(|request| request.solver = Some(names.into()))
    }

    /// Begins with this X (n × r, XᵀX = I to 1e-6).
    pub fn start(self, x0: RowMat) -> Self {
        self.asking(|request| request.init = Some(Start::Given(x0).into()))
    }

    /// Number of further starts after the first one; the best X is returned.
    pub fn restarts(self, starts: u64) -> Self {
        self.asking(|request| request.restarts = Some(starts))
    }

    /// Time limit in seconds of [`fit`](Self::fit), from the first use of the data on; all of it is used, for further starts too.
    pub fn time_limit(self, seconds: f64) -> Self {
        self.asking(|request| request.time_limit = Some(seconds))
    }

    /// Limit on the number of iterations.
    pub fn max_iterations(self, iterations: u64) -> Self {
        self.asking(|request| request.max_iters = Some(iterations))
    }

    /// The seed of all random choices; 0 if not given.
    pub fn seed(self, seed: u64) -> Self {
        self.asking(|request| request.seed = Some(seed))
    }

    /// Ends the run where `cancel` is set; the best X so far is returned.
    pub fn cancel(mut self, cancel: &Cancel) -> Self {
        self.cancel = cancel.clone();
        self
    }

    /// Measures criticality at the end, and solves the subproblem of every pair of rows globally.
    pub fn certify(self) -> Self {
        self.asking(|request| request.certify = Some(true))
    }

    /// Solves the problem.
    ///
    /// # Errors
    /// Data that are not finite, a rank or λ that makes no sense, unknown names.
    pub fn fit(self) -> Result<Report> {
        self.fit_watched(&mut [])
    }

    /// Solves the problem while observers watch.
    ///
    /// # Errors
    /// As [`SparsePca::fit`].
    pub fn fit_watched(mut self, observers: &mut [&mut dyn Observer]) -> Result<Report> {
        self.check_kinds()?;
        for (name, value) in std::mem::take(&mut self.further) {
            self.request.set(&name, value)?;
        }
        let given = CallOptions::new(Call::Solve, self.request.given());
        let job = Job::new(find_problem(self.problem)?, self.request.checked()?, given);
        let clock = self.cancel.within(job.request.time_limit);
        let data = if self.center { centred(self.data.clone())? } else { self.data.clone() };
        let facts = DataFacts { source: "samples".into(), ..DataFacts::of(&data) };
        let posed = job.pose(&data, facts, Vec::new(), &clock)?;
        let run = posed.plan()?;
        let mut report = posed.run(&run, &self.cancel, observers)?;
        if posed.job.request.scope().is_some() && report.solution.status != Status::Interrupted {
            posed.check(&mut report, (&self.cancel, &self.cancel), |_| ());
        }
        Ok(report)
    }

    /// Refuses options of data, which are here already, and of what is made of a result.
    fn check_kinds(&self) -> Result<()> {
        let own = |group| matches!(group, Group::Problem | Group::Solver | Group::Stopping | Group::Pairs);
        let not_here = |name: &str| {
            let entry = find_option(name, self.request.front);
            entry.is_some_and(|entry| !own(entry.group) && !entry.name.starts_with("certify"))
        };
        match self.further.iter().find(|(name, _)| not_here(name)) {
            Some((name, _)) => {
                let why =
                    " is no option of SparsePca: it is of data that are read, or of what is made of a result";
                Err(Error::Incompatible(Message::about(name.clone()).text(why)))
            }
            None => Ok(()),
        }
    }
}

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
