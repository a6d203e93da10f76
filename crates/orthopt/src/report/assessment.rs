//! Assessment of a given X, and checks of any X.

use crate::bound::Point;
use crate::cancel::Cancel;
use crate::certify::{Certificate, Scope};
use crate::error::{Error, Result};
use crate::family::Family;
use crate::linalg::RowMat;
use crate::objective::{Objective, count_nonzeros, count_tiny, size};
use crate::problem::ExplainedVariance;

/// Entries of a nonnegative X above minus this number are rounding.
const NEGATIVE: f64 = 1e-6;

/// Checks of X. `None` is not requested, interrupted, or not available.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checks {
    /// The first-order measure of the papers.
    pub criticality: Option<f64>,
    /// Block-2 stationarity.
    pub certificate: Option<Certificate>,
}

impl Checks {
    /// Criticality, and block-2 stationarity where there is a scope, as far as `cancel` lets it: cancelled means
    /// that the user waits for the end.
    pub fn of<P: Family>(problem: &P, x: &RowMat, scope: Option<Scope>, cancel: &Cancel) -> Self {
        let criticality = problem.criticality(x, cancel);
        // without criticality it was stopped already
        let scope = scope.filter(|_| criticality.is_some());
        let certificate = scope.and_then(|scope| problem.block_stationarity(x, scope, cancel));
        Self { criticality, certificate }
    }
}

/// Facts about a given X before it is checked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Assessment {
    /// X, with tiny negative entries set to zero if X must be nonnegative.
    pub x: RowMat,
    /// F(X) and its parts.
    pub objective: Objective,
    /// Number of entries that are not zero.
    pub nnz: usize,
    /// Number of those that are at most 1e-6: F, `nnz` and the certificate count them.
    pub tiny: usize,
    /// How far X is from the constraint.
    pub feasibility: f64,
    /// Feasibility divided by ‖X‖², if that is not bounded.
    pub relative_feasibility: Option<f64>,
    /// ‖min(0, X)‖_F of X as it was given, where X must be nonnegative.
    pub nonneg_violation: Option<f64>,
    /// Variance explained, if it is defined.
    pub explained_variance: Option<ExplainedVariance>,
    /// A decrease of F that counts as none.
    pub tolerance: f64,
}

impl Assessment {
    /// Assesses X, called `what` in errors; decreases of F up to `tol` times its scale plus |F| count as none.
    ///
    /// # Errors
    /// As [`Family::check`]; entries below zero where X must be nonnegative.
    pub fn new<P: Family>(problem: &P, x: RowMat, what: &str, tol: f64) -> Result<Self> {
        problem.check(&x, what)?;
        let nonneg_violation = problem.nonneg_violation(&x);
        let x = if nonneg_violation.is_some() { without_rounding(x, what)? } else { x };
        let (objective, feasibility) = (problem.objective(&x), problem.feasibility(&x));
        Ok(Self {
            nnz: count_nonzeros(&x),
            tiny: count_tiny(&x),
            feasibility,
            relative_feasibility: problem.relative_feasibility(&x, feasibility),
            nonneg_violation,
            explained_variance: problem.explained_variance(&x),
            tolerance: tol * size(problem.scale(&x), objective.total),
            objective,
            x,
        })
    }

    /// Assessment of X made feasible to rounding, for the claim of a bound.
    ///
    /// # Errors
    /// As [`Assessment::new`]; X has no feasible point near it on its support.
    pub fn repaired<P: Family>(problem: &P, x: RowMat, what: &str, tol: f64) -> Result<Self> {
        let read = Self::new(problem, x, what, tol)?;
        Self::new(problem, problem.given(&read.x)?, what, tol)
    }

    /// F and feasibility.
    pub fn point(&self) -> Point {
        Point { objective: self.objective.total, feasibility: self.feasibility }
    }
}

/// A nonnegative X: tiny negative entries become zero, and others are an error.
///
/// # Errors
/// [`Error::Negative`].
pub(crate) fn without_rounding(mut x: RowMat, what: &str) -> Result<RowMat> {
    let columns = x.ncols();
    for (k, value) in x.data_mut().iter_mut().enumerate() {
        if *value < -NEGATIVE {
            let (row, col) = (k / columns + 1, k % columns + 1);
            return Err(Error::Negative { what: what.into(), row, col, value: *value });
        }
        *value = value.max(0.0);
    }
    Ok(x)
}

/// Nonzeros of each column.
pub fn nonzeros(x: &RowMat) -> Vec<usize> {
    let mut counts = vec![0; x.ncols()];
    for i in 0..x.nrows() {
        for (count, value) in counts.iter_mut().zip(x.row(i)) {
            *count += usize::from(*value != 0.0);
        }
    }
    counts
}
