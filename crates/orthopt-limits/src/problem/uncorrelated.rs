//! Sparse PCA whose components are uncorrelated instead of orthogonal: min −½ tr(XᵀCX) + λ‖X‖₀ over unit columns
//! with xⱼᵀCxₖ = 0 for j ≠ k and at most sₖ nonzeros in column k.

use std::sync::OnceLock;

use super::{check_numbers, scale_columns};
use orthopt_core::objective::{Evaluate, Objective, count_nonzeros, with_price, without_dust};
use orthopt_core::penalty::checked_lambda;
use orthopt_core::problem::limits::support;
use orthopt_core::smooth::measured::Covariance;
use orthopt_core::smooth::{AnySmooth, Quadratic};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::products::cross;

/// min −½ tr(XᵀCX) + λ‖X‖₀ over n × r X with ‖xₖ‖ = 1, xⱼᵀCxₖ = 0 for j ≠ k and ‖xₖ‖₀ ≤ sₖ; f = −½ tr(XᵀCX),
/// C positive semidefinite. Scores AX are uncorrelated then, loadings X are in general not orthogonal.
///
/// On a support of sₖ rows a component satisfies r − 1 equations, so a component exists for every C if sₖ ≥ r.
/// Without a limit (sₖ = n, λ = 0) the solution is PCA: for Y = C^½X = UD, UᵀU = I, the variance dₖ² = 1/(uₖᵀC⁻¹uₖ) is at
/// most uₖᵀCuₖ (Jensen), and the sum of these at most that of the r largest eigenvalues.
#[derive(Clone, Debug)]
pub struct UncorrelatedProblem<F = AnySmooth> {
    /// −½ tr(XᵀCX).
    pub f: F,
    nonzeros: Vec<usize>,
    lambda: f64,
    covariance: OnceLock<Covariance>, // for searches
}

/// Largest accepted correlation of scores, and deviation of lengths from 1, of a given X.
const GIVEN: f64 = 1e-6;
/// Product of two standard deviations that counts as none, as a share of the scale of f.
pub(super) const NO_VARIANCE: f64 = 1e-6;
/// Violation of the constraint that is rounding.
const ROUNDING: f64 = 1e-12;

impl<F: Quadratic> UncorrelatedProblem<F> {
    /// The problem with at most `nonzeros[k]` nonzeros in component k.
    ///
    /// # Errors
    /// A rank, λ or count out of range: of the counts, sorted, the j-th must be at least j, because
    /// j − 1 equations need j nonzeros; an f with a linear term.
    pub fn new(f: F, nonzeros: Vec<usize>, lambda: f64) -> Result<Self> {
        let (n, r) = (f.nrows(), nonzeros.len());
        if r == 0 || r > n {
            return Err(Error::Rank { rank: r, columns: n });
        }
        checked_lambda(lambda)?;
        if f.ncols().is_some() {
            return Err(Error::Incompatible(
                "uncorrelated components need an f without a linear term".into(),
            ));
        }
        let nonzeros: Vec<usize> = nonzeros.into_iter().map(|s| s.min(n)).collect();
        if let Some((j, s)) = first_short(&nonzeros) {
            let expected = format!(
                "at least {} in {} of {r} components: components one by one are uncorrelated with {j} others, {j} equations; \
                 MeasuredProblem finds components with fewer nonzeros together, where there are any",
                j + 1,
                r - j
            );
            return Err(Error::InvalidOption { option: "nonzeros".into(), value: s.to_string(), expected });
        }
        Ok(Self { f, nonzeros, lambda, covariance: OnceLock::new() })
    }

    /// n.
    pub fn nrows(&self) -> usize {
        self.f.nrows()
    }

    /// r.
    pub fn rank(&self) -> usize {
        self.nonzeros.len()
    }

    /// sₖ.
    pub fn nonzeros(&self) -> &[usize] {
        &self.nonzeros
    }

    /// λ.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// C as a search examines it, made once.
    #[doc(hidden)]
    pub fn covariance(&self) -> &Covariance {
        self.covariance.get_or_init(|| Covariance::new(&self.f, false))
    }

    /// Checks a given X: shape, finite, unit columns and uncorrelated scores to 1e-6, within the
    /// limits.
    ///
    /// # Errors
    /// Error if X is infeasible, with the measured numbers.
    pub fn check(&self, x: &RowMat, what: &str) -> Result<()> {
        check_numbers(x, what, (self.nrows(), self.rank()))?;
        let off = self.feasibility(x);
        if off.is_nan() || off > GIVEN {
            return Err(Error::Incompatible(
                format!(
                    "{what} does not have uncorrelated scores and unit columns: lengths and correlations deviate by \
                     {off:.3e}, and {GIVEN:e} is allowed"
                )
                .into(),
            ));
        }
        let counts: Vec<usize> = (0..x.ncols()).map(|k| support(x, k).len()).collect();
        if counts.iter().zip(&self.nonzeros).any(|(has, may)| has > may) {
            let has: Vec<String> = counts.iter().map(usize::to_string).collect();
            let may: Vec<String> = self.nonzeros.iter().map(usize::to_string).collect();
            return Err(Error::Incompatible(
                format!(
                    "{what} has {} nonzeros in its components: {} are allowed",
                    has.join(", "),
                    may.join(", ")
                )
                .into(),
            ));
        }
        Ok(())
    }
}

impl<F: Quadratic> Evaluate for UncorrelatedProblem<F> {
    fn value(&self, x: &RowMat) -> f64 {
        self.objective(x).total
    }

    fn objective(&self, x: &RowMat) -> Objective {
        with_price(self.f.value(x), self.lambda, || count_nonzeros(x))
    }

    fn evaluated(&self, x: &RowMat) -> (f64, Objective) {
        let objective = self.objective(x);
        (objective.total, objective)
    }

    fn scale(&self, x: &RowMat) -> f64 {
        self.f.scale(x)
    }

    fn asks_for_zeros(&self) -> bool {
        true
    }

    /// Columns are brought back to unit length; the correlations of scores must not increase.
    fn cleaned(&self, x: &RowMat) -> Option<RowMat> {
        let most = self.feasibility(x).max(ROUNDING);
        let restore = |x: &mut RowMat| {
            scale_columns(x);
            if self.feasibility(x) <= most { 0.0 } else { f64::INFINITY }
        };
        without_dust(x, |x| self.objective(x), restore)
    }

    /// √(Σₖ (‖xₖ‖² − 1)² + Σ_{j≠k} corr(Axⱼ, Axₖ)²).
    fn feasibility(&self, x: &RowMat) -> f64 {
        let length = |k: usize| (0..x.nrows()).map(|i| x.get(i, k).powi(2)).sum::<f64>();
        let lengths: f64 = (0..x.ncols()).map(|k| (length(k) - 1.0).powi(2)).sum();
        (lengths + squares_of_correlations(&cross(x, &self.f.apply(x)), NO_VARIANCE * self.f.scale(x))).sqrt()
    }
}

/// The first of the counts, sorted, that is not above the number of those before it, and its place.
fn first_short(nonzeros: &[usize]) -> Option<(usize, usize)> {
    let mut sorted = nonzeros.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().enumerate().find(|(j, s)| *s <= *j)
}

/// True if components with so many nonzeros can be found one by one, the fewest first, whatever C is.
pub fn takes_one_by_one(nonzeros: &[usize]) -> bool {
    first_short(nonzeros).is_none()
}

/// Σ_{j≠k} of the squared correlations of scores whose products are ±`s`, where the product of two standard deviations counts as
/// `none` at least: components without variance have only rounding in common with others, and with each other.
pub(super) fn squares_of_correlations(s: &RowMat, none: f64) -> f64 {
    let r = s.nrows();
    let mut sum = 0.0;
    for k in 0..r {
        for j in (0..r).filter(|j| *j != k) {
            let (own, other) = (s.get(j, j).abs(), s.get(k, k).abs());
            let size = (own.sqrt() * other.sqrt()).max(none).max(f64::MIN_POSITIVE);
            sum += (0.5 * (s.get(j, k) + s.get(k, j)) / size).powi(2);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthopt_core::smooth::DenseQuadratic;

    fn problem(nonzeros: Vec<usize>) -> Result<UncorrelatedProblem<DenseQuadratic>> {
        let m = faer::Mat::from_fn(4, 4, |i, j| if i == j { -2.0 - i as f64 } else { -0.5 });
        UncorrelatedProblem::new(DenseQuadratic::new(m.as_ref())?, nonzeros, 0.0)
    }

    #[test]
    fn counts_that_leave_no_direction_are_refused() {
        assert!(problem(vec![3, 3, 3]).is_ok() && problem(vec![2, 1, 3]).is_ok());
        for list in [vec![2, 2, 2], vec![1, 1], vec![0], vec![], vec![4; 5]] {
            assert!(problem(list.clone()).is_err(), "{list:?}");
        }
        let message = problem(vec![2, 2, 2]).unwrap_err().to_string();
        assert!(message.contains("at least 3 in 1 of 3"), "{message}");
    }

    #[test]
    fn correlations_and_lengths_are_measured() {
        let p = problem(vec![2, 2]).unwrap();
        let x = RowMat::from_fn(4, 2, |i, k| if i == k { 1.0 } else { 0.0 });
        let expected = 0.5 / 6f64.sqrt();
        assert!((p.feasibility(&x) - 2f64.sqrt() * expected).abs() < 1e-15);
        assert!(p.check(&x, "X").unwrap_err().to_string().contains("correlations deviate by"));
        // x₂ ⊥ Cx₁ = (2, 0.5, 0.5, 0.5)
        let y = RowMat::from_fn(4, 2, |i, k| match (i, k) {
            (0, 0) => 1.0,
            (1, 1) => 0.5f64.sqrt(),
            (2, 1) => -0.5f64.sqrt(),
            _ => 0.0,
        });
        assert!(p.feasibility(&y) < 1e-15 && p.check(&y, "X").is_ok());
    }
}
