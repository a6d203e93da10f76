//! Problems over the J-orthogonal group: min f(X) subject to XᵀJX = J, X ∈ ℝⁿˣⁿ.

use faer::MatRef;

use super::Problem;
use crate::constraint::JOrthogonal;
use crate::constraint::j_orthogonal::Signature;
use crate::smooth::{Form, JFunction, JQuadratic, Placement, Probe, Smooth, hyperbolic_minimum};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};

/// min f(X) over XᵀJX = J, with an f of the library.
///
/// ```
/// use orthopt::constraint::Signature;
/// use orthopt::family::Family;
/// use orthopt::problem::JProblem;
/// use orthopt::solve::{RunOptions, Stationary, Status, run};
/// use orthopt::solvers::{J_SOLVERS, SolverOptions, find_solvers};
///
/// // min tr(XᵀCX), two coordinates of each sign
/// let c = faer::Mat::from_fn(4, 4, |i, j| if i == j { 2.0 } else { 0.3 });
/// let problem = JProblem::hyperbolic_eig(c.as_ref(), Signature::leading(2, 4)?)?;
/// let info = find_solvers(J_SOLVERS, "gs-jobcd")?[0];
/// let solver = info.build(&problem, &SolverOptions::default())?;
/// let x0 = problem.start("random", 1)?;
/// let mut stop = Stationary { tol: 1e-10 };
/// let solution = run(&problem, &solver, x0, RunOptions::default(), &mut stop, &mut [])?;
///
/// assert_eq!(solution.status, Status::Converged);
/// let optimum = problem.optimum().expect("known in closed form")?;
/// assert!((solution.objective.total - optimum).abs() <= 1e-8 * optimum);
/// # Ok::<(), orthopt::Error>(())
/// ```
pub type JProblem = Problem<JOrthogonal, JFunction>;

impl<F: Smooth, H, G, A> Problem<JOrthogonal, F, H, G, A> {
    /// J.
    pub fn signature(&self) -> &Signature {
        &self.constraint.signature
    }

    /// n.
    pub fn order(&self) -> usize {
        self.nrows()
    }

    /// True if f is known to have a minimum, so that a large ‖X‖ is no sign of divergence.
    #[doc(hidden)]
    pub fn is_bounded(&self) -> bool {
        self.f.is_coercive() || self.signature().is_definite()
    }
}

impl<F: Smooth> Problem<JOrthogonal, F> {
    /// min f(X) over XᵀJX = J for any f, of the library or of the caller.
    ///
    /// # Errors
    /// f and J of different order.
    pub fn with_signature(f: F, signature: Signature) -> Result<Self> {
        let (order, n) = (f.nrows(), signature.len());
        if order != n {
            return Err(Error::InvalidOption {
                option: "signature".into(),
                value: format!("one of {n} signs"),
                expected: format!("one sign for each of the {order} variables"),
            });
        }
        Self::over(JOrthogonal::new(signature), f)
    }
}

impl JProblem {
    /// `hyperbolic-eig`: min tr(XᵀCX), C symmetric positive definite.
    ///
    /// # Errors
    /// C not symmetric, or not definite (the message names its smallest eigenvalue and a ridge,
    /// see [`covariance`](super::covariance)); an order other than that of J.
    pub fn hyperbolic_eig(c: MatRef<'_, f64>, signature: Signature) -> Result<Self> {
        Self::with_signature(JFunction::Quadratic(JQuadratic::hyperbolic_eig(c)?), signature)
    }

    /// The papers' objective min −tr(XᵀCX), which has no lower bound when both signs occur:
    /// solvers follow it to the limit of ‖X‖ and end with
    /// [`Status::Unbounded`](crate::solve::Status).
    ///
    /// # Errors
    /// C not symmetric; an order other than that of J.
    pub fn reproduction(c: MatRef<'_, f64>, signature: Signature) -> Result<Self> {
        Self::with_signature(JFunction::Quadratic(JQuadratic::reproduction(c)?), signature)
    }

    /// min ½tr(XᵀMXN) with symmetric M and N (N = I where it is `None`).
    ///
    /// # Errors
    /// Those of [`JQuadratic::new`]; an order other than that of J.
    pub fn quadratic(m: MatRef<'_, f64>, n: Option<MatRef<'_, f64>>, signature: Signature) -> Result<Self> {
        Self::with_signature(JFunction::Quadratic(JQuadratic::new(m, n)?), signature)
    }

    /// `probe`: the structural probe of the rows of D and the distances T with radius α.
    ///
    /// # Errors
    /// Those of [`Probe::new`].
    pub fn probe(
        d: MatRef<'_, f64>,
        t: RowMat,
        signature: Signature,
        alpha: f64,
        placement: Placement,
    ) -> Result<Self> {
        let probe = Probe::new(d, t, signature.clone(), alpha, placement)?;
        Self::with_signature(JFunction::Probe(probe), signature)
    }

    fn form(&self) -> Form {
        self.f.quadratic().map_or(Form::General, JQuadratic::form)
    }

    /// True if every critical point is known to be a global minimiser, so that one start is enough
    /// (docs/mathematics.md, section 9).
    #[doc(hidden)]
    pub fn has_local_solutions(&self) -> bool {
        self.form() == Form::General
    }

    /// True if this is the papers' unbounded objective.
    pub fn is_reproduction(&self) -> bool {
        self.form() == Form::Reproduction
    }

    /// The minimum where it is known in closed form: Σ|λᵢ(JC)| for `hyperbolic-eig`. Cost O(n³).
    pub fn optimum(&self) -> Option<Result<f64>> {
        let q = self.f.quadratic().filter(|q| q.form() == Form::HyperbolicEig)?;
        let c = RowMat::from_fn(self.order(), self.order(), |i, k| 0.5 * q.m().get(i, k));
        Some(hyperbolic_minimum(c.as_mat(), self.signature()))
    }
}
