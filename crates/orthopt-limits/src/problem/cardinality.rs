//! Sparse PCA with the number of nonzeros given: min −½ tr(XᵀCX) + λ‖X‖₀ over XᵀX = I and a
//! limit on cardinality, which is not a sum over entries and so is a constraint in addition to XᵀX = I and not a
//! penalty. If variables are selected for all components together, λ is the penalty of a variable: λ‖X‖₂,₀.

use orthopt_core::constraint::{Constraint, Stiefel};
use orthopt_core::objective::{Evaluate, Objective, count_nonzeros, with_price, without_dust};
use orthopt_core::penalty::checked_lambda;
use orthopt_core::problem::limits::{Cardinality, nonzero_rows, support};
use orthopt_core::smooth::{AnySmooth, Quadratic};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};

/// min −½ tr(XᵀCX) + λ‖X‖₀ over XᵀX = I_r and a [`Cardinality`], with X ≥ 0 where asked for; f = −½ tr(XᵀCX). With
/// [`Cardinality::Rows`] λ weighs rows that are not zero: λ‖X‖₂,₀.
#[derive(Clone, Debug)]
pub struct CardinalityProblem<F = AnySmooth> {
    /// −½ tr(XᵀCX).
    pub f: F,
    constraint: Stiefel,
    limits: Cardinality,
    lambda: f64,
    nonneg: bool,
}

impl<F: Quadratic> CardinalityProblem<F> {
    /// The problem.
    ///
    /// # Errors
    /// A rank, λ or limit out of range, an f with a linear term.
    pub fn new(f: F, rank: usize, limits: Cardinality, lambda: f64, nonneg: bool) -> Result<Self> {
        let n = f.nrows();
        let constraint = Stiefel::new(n, rank)?;
        checked_lambda(lambda)?;
        if f.ncols().is_some() {
            return Err(Error::Incompatible("limits on nonzeros need an f without a linear term".into()));
        }
        let mut limits = limits.checked(n, rank)?;
        if nonneg && let Cardinality::Rows(s) = limits {
            limits = Cardinality::Total(s); // a row of X >= 0 with X'X = I has one nonzero at most
        }
        Ok(Self { f, constraint, limits, lambda, nonneg })
    }

    /// n.
    pub fn nrows(&self) -> usize {
        self.constraint.n
    }

    /// r.
    pub fn rank(&self) -> usize {
        self.constraint.r
    }

    /// The limits.
    pub fn limits(&self) -> &Cardinality {
        &self.limits
    }

    /// λ.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// λ times the nonzeros that are not exactly zero, or the rows.
    pub fn price(&self, x: &RowMat) -> f64 {
        self.parts(0.0, x).nonsmooth
    }

    fn parts(&self, smooth: f64, x: &RowMat) -> Objective {
        with_price(smooth, self.lambda, || match self.limits {
            Cardinality::Rows(_) => nonzero_rows(x).len(),
            _ => count_nonzeros(x),
        })
    }

    /// True if X ≥ 0.
    pub fn requires_nonneg(&self) -> bool {
        self.nonneg
    }

    /// Checks a given X: shape, finite, orthonormal to 1e-6, within the limits, no
    /// entry below −1e-6 where X ≥ 0.
    ///
    /// # Errors
    /// Error if X is infeasible, with the measured numbers.
    pub fn check(&self, x: &RowMat, what: &str) -> Result<()> {
        self.constraint.check(x, what)?;
        if !self.limits.allows(x) {
            let counts: Vec<_> = (0..x.ncols()).map(|k| support(x, k).len().to_string()).collect();
            return Err(Error::Incompatible(
                format!(
                    "{what} has {} nonzeros in its components and {} nonzero rows: {} are allowed",
                    counts.join(", "),
                    nonzero_rows(x).len(),
                    self.limits.words()
                )
                .into(),
            ));
        }
        let negative = x.data().iter().position(|v| *v < -1e-6).filter(|_| self.nonneg);
        negative.map_or(Ok(()), |e| {
            let (row, col) = (e / x.ncols() + 1, e % x.ncols() + 1);
            Err(Error::Negative { what: what.into(), row, col, value: x.data()[e] })
        })
    }
}

impl<F: Quadratic> Evaluate for CardinalityProblem<F> {
    fn value(&self, x: &RowMat) -> f64 {
        self.objective(x).total
    }

    fn objective(&self, x: &RowMat) -> Objective {
        self.parts(self.f.value(x), x)
    }

    fn evaluated(&self, x: &RowMat) -> (f64, Objective) {
        let objective = self.objective(x);
        (objective.total, objective)
    }

    fn scale(&self, x: &RowMat) -> f64 {
        self.f.scale(x)
    }

    fn feasibility(&self, x: &RowMat) -> f64 {
        self.constraint.feasibility(x)
    }

    fn asks_for_zeros(&self) -> bool {
        true
    }

    fn cleaned(&self, x: &RowMat) -> Option<RowMat> {
        let is_negative = |x: &RowMat| self.nonneg && x.data().iter().any(|v| *v < 0.0);
        let restore = |x: &mut RowMat| {
            let error = self.constraint.repair(x);
            if is_negative(x) { f64::INFINITY } else { error }
        };
        without_dust(x, |x| self.objective(x), restore)
    }

    fn nonneg_violation(&self, x: &RowMat) -> Option<f64> {
        self.nonneg.then(|| x.data().iter().map(|v| v.min(0.0).powi(2)).sum::<f64>().sqrt())
    }
}
