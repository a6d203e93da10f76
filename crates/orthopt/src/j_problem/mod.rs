//! Problems over the J-orthogonal group: min f(X) subject to XᵀJX = J, X ∈ ℝⁿˣⁿ.
//!
//! ```
//! use orthopt::constraint::j_orthogonal::Signature;
//! use orthopt::j_problem::JProblem;
//! use orthopt::family::Family;
//! use orthopt::solve::{RunOptions, Stationary, Status, run};
//! use orthopt::solvers::{J_SOLVERS, SolverOptions, find_solvers};
//!
//! // min tr(XᵀCX), two coordinates of each sign
//! let c = faer::Mat::from_fn(4, 4, |i, j| if i == j { 2.0 } else { 0.3 });
//! let problem = JProblem::hyperbolic_eig(c.as_ref(), Signature::leading(2, 4)?)?;
//! let info = find_solvers(J_SOLVERS, "gs-jobcd")?[0];
//! let solver = info.build(&problem, &SolverOptions::default())?;
//! let x0 = problem.start("random", 1)?;
//! let mut stop = Stationary { tol: 1e-10 };
//! let solution = run(&problem, &solver, x0, RunOptions::default(), &mut stop, &mut [])?;
//!
//! assert_eq!(solution.status, Status::Converged);
//! let optimum = problem.optimum().expect("known in closed form")?;
//! assert!((solution.objective.total - optimum).abs() <= 1e-8 * optimum);
//! # Ok::<(), orthopt::Error>(())
//! ```

pub mod geodesic;
mod probe;
mod quadratic;
mod smooth;

use std::sync::Arc;

use faer::MatRef;

pub use probe::{Placement, Probe, euclidean_distances};
pub use quadratic::{JQuadratic, covariance, hyperbolic_optimum};
pub use smooth::{JFunction, JSmooth};

use crate::constraint::j_orthogonal::{self, Signature};
use crate::error::{Error, Result};
use crate::linalg::RowMat;
use crate::objective::{Evaluate, Objective};

/// min f(X) over XᵀJX = J.
#[derive(Clone, Debug)]
pub struct JProblem {
    /// f.
    pub f: JFunction,
    /// J.
    pub signature: Signature,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    HyperbolicEig,
    Reproduction,
    Other,
}

impl JProblem {
    /// min f(X) for any f.
    ///
    /// # Errors
    /// f and J of different order.
    pub fn new(f: JFunction, signature: Signature) -> Result<Self> {
        let (order, n) = (f.order(), signature.len());
        if order != n {
            return Err(Error::InvalidOption {
                option: "signature".into(),
                value: format!("one of {n} signs"),
                expected: format!("one sign for each of the {order} variables"),
            });
        }
        Ok(Self { f, signature, kind: Kind::Other })
    }

    /// `hyperbolic-eig`: min tr(XᵀCX), C symmetric positive definite.
    ///
    /// # Errors
    /// C not symmetric, or not definite (the message names its smallest eigenvalue and a ridge,
    /// see [`covariance`]); another order than J.
    pub fn hyperbolic_eig(c: MatRef<'_, f64>, signature: Signature) -> Result<Self> {
        let f = JFunction::Quadratic(JQuadratic::hyperbolic_eig(c)?);
        Ok(Self { kind: Kind::HyperbolicEig, ..Self::new(f, signature)? })
    }

    /// The papers' objective min −tr(XᵀCX), which has no lower bound when both signs occur:
    /// solvers follow it to the limit of ‖X‖ and end with
    /// [`Status::Unbounded`](crate::solve::Status).
    ///
    /// # Errors
    /// C not symmetric; another order than J.
    pub fn reproduction(c: MatRef<'_, f64>, signature: Signature) -> Result<Self> {
        let f = JFunction::Quadratic(JQuadratic::reproduction(c)?);
        Ok(Self { kind: Kind::Reproduction, ..Self::new(f, signature)? })
    }

    /// min ½tr(XᵀMXN) with symmetric M and N (N = I where it is `None`).
    ///
    /// # Errors
    /// Those of [`JQuadratic::new`]; another order than J.
    pub fn quadratic(m: MatRef<'_, f64>, n: Option<MatRef<'_, f64>>, signature: Signature) -> Result<Self> {
        Self::new(JFunction::Quadratic(JQuadratic::new(m, n)?), signature)
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
        Self::new(JFunction::Probe(probe), signature)
    }

    /// An f of the user's own.
    ///
    /// # Errors
    /// Another order than J.
    pub fn custom(f: impl JSmooth + 'static, signature: Signature) -> Result<Self> {
        Self::new(JFunction::Custom(Arc::new(f)), signature)
    }

    /// n.
    pub fn order(&self) -> usize {
        self.signature.len()
    }

    /// Whether f is known to have a lower bound, so that a large ‖X‖ means nothing bad.
    pub fn is_bounded(&self) -> bool {
        self.kind == Kind::HyperbolicEig || self.signature.is_definite()
    }

    /// Whether every critical point is known to be a global minimiser, so that one start is enough
    /// (docs/mathematics.md, section 9).
    pub fn has_local_solutions(&self) -> bool {
        self.kind == Kind::Other
    }

    /// Whether this is the papers' unbounded objective.
    pub fn is_reproduction(&self) -> bool {
        self.kind == Kind::Reproduction
    }

    /// The minimum where it is known in closed form: Σ|λᵢ(JC)| for `hyperbolic-eig`. Cost O(n³).
    pub fn optimum(&self) -> Option<Result<f64>> {
        let q = self.f.quadratic().filter(|_| self.kind == Kind::HyperbolicEig)?;
        let c = RowMat::from_fn(self.order(), self.order(), |i, k| 0.5 * q.m().get(i, k));
        Some(hyperbolic_optimum(c.as_mat(), &self.signature).map(|found| found.0))
    }

    /// ∇f(X).
    pub fn gradient(&self, x: &RowMat) -> RowMat {
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        self.f.gradient(x, &mut g);
        g
    }
}

impl Evaluate for JProblem {
    fn value(&self, x: &RowMat) -> f64 {
        self.f.value(x)
    }

    fn objective(&self, x: &RowMat) -> Objective {
        let smooth = self.f.value(x);
        Objective { total: smooth, smooth, nonsmooth: 0.0 }
    }

    /// The mean of |XᵀJX − J|.
    fn feasibility(&self, x: &RowMat) -> f64 {
        j_orthogonal::feasibility(x, &self.signature)
    }
}
