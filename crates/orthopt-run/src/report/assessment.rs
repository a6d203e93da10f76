//! Assessment of a given X, and checks of any X.

use crate::family::{AnyProblem, Family};
use orthopt_bound::Point;
use orthopt_core::certify::{Certificate, Scope};
use orthopt_core::objective::{Evaluate, Objective, count_nonzeros, count_tiny, size};
use orthopt_core::problem::ExplainedVariance;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::{Cancel, moment};
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::long::left_after;

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
    pub fn of(problem: &AnyProblem, x: &RowMat, scope: Option<Scope>, cancel: &Cancel) -> Self {
        let criticality = problem.criticality(x, cancel);
        // without criticality it was stopped already
        let scope = scope.filter(|_| criticality.is_some());
        let certificate = scope.and_then(|scope| problem.block_stationarity(x, scope, cancel));
        Self { criticality, certificate }
    }
}

/// Seconds that checks of X may take after a run in any case.
const CHECKS: f64 = 0.2;

/// Runs `f`, which checks the X of a run, with a clock that is over after what the run has left of its limit and a moment, or
/// where `patient` is: a moment after `cancel`, in which small problems are checked. Within `f` long steps end as soon as
/// they are cancelled: after `cancel`, or if the run has left too little time.
pub fn in_time<R>(
    (limit, seconds): (Option<f64>, f64),
    (cancel, patient): (&Cancel, &Cancel),
    f: impl FnOnce(&Cancel) -> R,
) -> R {
    let left = |limit: f64| (limit - seconds).max(0.0) + CHECKS.max(moment(limit));
    let clock = patient.within(limit.map(left));
    let long = cancel.within(limit.map(|limit| left_after(limit, seconds)));
    long.during(|| f(&clock))
}

/// Criticality of X, and block stationarity where there is a scope, [`in_time`]; of the pairs that were checked by then.
pub fn check_in_time(
    problem: &AnyProblem,
    (x, scope): (&RowMat, Option<Scope>),
    spent: (Option<f64>, f64),
    cancels: (&Cancel, &Cancel),
    stage: impl Fn(&'static str),
) -> Checks {
    in_time(spent, cancels, |clock| {
        stage("measuring criticality");
        let criticality = problem.criticality(x, clock);
        let certificate = scope.and_then(|scope| {
            stage("checking pairs of rows");
            problem.block_stationarity(x, scope, clock)
        });
        Checks { criticality, certificate }
    })
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
    /// Distance of X from the constraint.
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
    pub fn new(problem: &AnyProblem, x: RowMat, what: &str, tol: f64) -> Result<Self> {
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
    pub fn repaired(problem: &AnyProblem, x: RowMat, what: &str, tol: f64) -> Result<Self> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use orthopt_linalg::long::is_left;

    /// Without a limit nothing is left; long steps are not begun where the run has left no time, and small ones are.
    #[test]
    fn checks_have_what_the_run_has_left() {
        const LONG: usize = 1_000_000_000;
        let (never, asked) = (Cancel::never(), Cancel::never());
        asked.cancel();
        let left = |spent, cancel: &Cancel, patient: &Cancel| {
            in_time(spent, (cancel, patient), |clock| (is_left(LONG), is_left(1), clock.is_cancelled()))
        };
        assert_eq!(left((None, 1e9), &never, &never), (false, false, false));
        assert_eq!(left((Some(2.0), 2.0), &never, &never), (false, false, false)); // there is a moment
        assert_eq!(left((Some(0.5), 0.5), &never, &never), (true, false, false));
        assert_eq!(left((Some(2.0), 9.0), &never, &never), (true, false, false));
        assert_eq!(left((None, 0.0), &asked, &never), (true, false, false));
        assert_eq!(left((None, 0.0), &asked, &asked), (true, false, true));
        assert_eq!(in_time((Some(0.0), 9.0), (&never, &never), |clock| clock.limit()), Some(CHECKS));
        assert_eq!(in_time((Some(10.0), 4.0), (&never, &never), |clock| clock.limit()), Some(6.5));
        assert_eq!(in_time((None, 4.0), (&never, &never), |clock| clock.limit()), None);
    }
}
