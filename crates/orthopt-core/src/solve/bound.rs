//! Lower bound of F over all feasible X, as a solution holds it.

use std::sync::Arc;

use super::claim::{Claim, Elsewhere, PROVED, Point, Proof};
use super::proof_record::Record;
use crate::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::error::Result;

/// Progress of the computation of a bound.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Iterations of the relaxation at the root.
    pub iterations: u64,
    /// Nodes done.
    pub nodes: u64,
    /// Nodes still open.
    pub open: u64,
    /// The best lower bound of F that is proved.
    pub bound: f64,
    /// The lowest F known.
    pub incumbent: Option<f64>,
    /// Seconds.
    pub seconds: f64,
}

impl Progress {
    /// This progress with F multiplied by `unit`, a power of two.
    #[doc(hidden)]
    pub fn times(self, unit: f64) -> Self {
        Self { bound: unit * self.bound, incumbent: self.incumbent.map(|f| unit * f), ..self }
    }
}

impl End {
    /// A name for reports, those of [`Status`](super::Status) where they mean the same.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Limit => "max_iters",
            Self::Time => "time_limit",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Reason why a computation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// By itself: the bound fell no more, or every node was closed.
    Finished,
    /// The limit of iterations or nodes.
    Limit,
    /// The limit of seconds.
    Time,
    /// It was cancelled.
    Interrupted,
}

/// Which argument gave the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// The dual of the relaxation over the Fantope.
    Fantope,
    /// The largest variances of single variables, for a limit of rows.
    Trace,
    /// The largest variances of single variables, for every group of components with the same number of nonzeros.
    Groups,
    /// Disjoint blocks, by a dynamic programme over all subsets of the variables.
    Blocks,
    /// Branch and bound.
    Tree,
    /// One-component bounds of whitened scores, for adjusted and polar variance.
    Scores,
    /// Branch and bound over the supports of each component, for adjusted and polar variance.
    Supports,
}

impl Method {
    /// A name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fantope => "fantope",
            Self::Trace => "trace",
            Self::Groups => "groups",
            Self::Blocks => "blocks",
            Self::Tree => "tree",
            Self::Scores => "scores",
            Self::Supports => "supports",
        }
    }
}

/// A lower bound of F over all feasible X.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The bound: F(X) ≥ value for every feasible X, in floating point as well.
    pub value: f64,
    /// The lowest F known: the incumbent's once it is feasible to rounding, or that of `x`.
    pub objective: Option<f64>,
    /// An X better than the incumbent that was given, if one was found.
    pub x: Option<RowMat>,
    /// (F − value)/|F|, as in [`Claim`].
    pub gap: Option<f64>,
    /// Proof of the incumbent, as in [`Claim`].
    pub proof: Option<Proof>,
    /// The gap at which it counts as proved.
    pub tolerance: f64,
    /// Bound of all X with other supports than some.
    pub elsewhere: Option<Elsewhere>,
    /// The size of the terms of F, which rounding is measured by.
    pub size: f64,
    /// Which argument gave the value.
    pub method: Method,
    /// Reason why it ended.
    pub end: End,
    /// Iterations of the relaxation at the root.
    pub iterations: u64,
    /// Nodes of branch and bound.
    pub nodes: u64,
    /// Nodes left open.
    pub open: u64,
    /// Seconds.
    pub seconds: f64,
    /// Bound and incumbent as they changed, thinned so that neighbours are 1 % apart in time.
    pub trace: Vec<Progress>,
    /// The relaxation at the root: its dual matrix proves the bound of [`Method::Fantope`], its primal
    /// solution is a start for solvers.
    pub relaxation: Relaxation,
    /// Record of a proof over lists of supports, if it is kept.
    #[doc(hidden)]
    pub record: Option<Arc<Record>>,
}

impl Bound {
    /// This bound with F multiplied by `unit`, a power of two.
    #[doc(hidden)]
    pub fn times(mut self, unit: f64) -> Self {
        self.record = self.record.map(|record| Arc::new(record.times(unit)));
        self.value *= unit;
        self.objective = self.objective.map(|f| unit * f);
        self.size *= unit;
        self.elsewhere.iter_mut().for_each(|other| other.bound *= unit);
        self.trace.iter_mut().for_each(|now| *now = now.times(unit));
        self.relaxation.times(unit);
        self
    }

    /// Claim of the bound about the F of another feasible point.
    ///
    /// # Errors
    /// As [`Claim::new`].
    pub fn beside(&self, point: Point) -> Result<Claim> {
        Claim::new(self.value, Some(point), self.size, self.tolerance.max(PROVED))
    }

    /// Claim of the bound about the F of another feasible point X, whose supports may be proved.
    ///
    /// # Errors
    /// As [`Claim::new`].
    pub fn beside_x(&self, point: Point, x: &RowMat) -> Result<Claim> {
        let tolerance = self.tolerance.max(PROVED);
        Ok(self.beside(point)?.with(self.elsewhere.as_ref(), x, point, tolerance))
    }
}

/// The relaxation over the Fantope, over the variables that screening left.
#[derive(Clone, Debug)]
pub struct Relaxation {
    /// The variables, ascending.
    pub rows: Vec<usize>,
    /// Number of all variables.
    pub variables: usize,
    /// λ, the weight of ‖XXᵀ‖₁,₁: what the dual subtracts on the diagonal of the variables left out.
    pub threshold: f64,
    /// K where ‖XXᵀ‖₁,₁ ≤ K for every feasible X.
    pub budget: Option<f64>,
    /// Z: the sum of the r largest eigenvalues of ½C − Z, plus `constant`, bounds −F.
    pub z: RowMat,
    /// See `z`.
    pub constant: f64,
    /// The lower bound of F that Z proves, in floating point as well.
    pub bound: f64,
    /// T, the sparse one of the two primal variables.
    pub t: RowMat,
    /// Y, the one in the Fantope.
    pub y: RowMat,
    #[doc(hidden)]
    pub u: RowMat, // multiplier and penalty parameter of ADMM, to continue from
    #[doc(hidden)]
    pub rho: f64,
}

impl Relaxation {
    /// That of C and λ times a power of two.
    #[doc(hidden)]
    pub fn times(&mut self, unit: f64) {
        self.threshold *= unit;
        self.z.data_mut().iter_mut().for_each(|v| *v *= unit);
        self.constant *= unit;
        self.bound *= unit;
        self.rho *= unit;
    }

    /// The eigenvectors of T for its r largest eigenvalues, over all n variables (n × r): a point near
    /// which good X are found. `None` where T has fewer than r rows.
    pub fn leading_eigenvectors(&self, r: usize) -> Option<RowMat> {
        if self.t.nrows() < r {
            return None;
        }
        let (_, vectors) = symmetric_eigenpairs(&self.t)?;
        let mut out = RowMat::zeros(self.variables, r);
        for (i, row) in self.rows.iter().enumerate() {
            (0..r).for_each(|k| out.set(*row, k, vectors.get(i, k)));
        }
        Some(out)
    }

    /// C over all n variables (n × n), as the bound sees it.
    pub fn covariance(&self, f: &impl Quadratic) -> RowMat {
        RowMat::from_fn(self.variables, self.variables, |i, j| -f.curvature(i, j))
    }

    /// Z over all n variables (n × n): what is to be saved so that others can check the bound. Where
    /// variables were left out it is ½C off the diagonal and the threshold on it.
    pub fn dual_matrix(&self, f: &impl Quadratic) -> RowMat {
        let n = self.variables;
        let mut place = vec![None; n];
        self.rows.iter().enumerate().for_each(|(k, row)| place[*row] = Some(k));
        RowMat::from_fn(n, n, |i, j| match (place[i], place[j]) {
            (Some(a), Some(b)) => self.z.get(a, b),
            _ if i == j => self.threshold,
            _ => -0.5 * f.curvature(i, j),
        })
    }
}
