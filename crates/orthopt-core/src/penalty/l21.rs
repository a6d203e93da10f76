use super::checked_lambda;
use crate::nonsmooth::Nonsmooth;
use crate::pair::PairModel;
use crate::pair::PairPenalty;
use crate::pair::fold::Scratch;
use orthopt_linalg::error::Result;
use orthopt_linalg::plane::PairMove;
use orthopt_linalg::simd::Simd;

/// h(X) = λ Σ ‖X(i,:)‖₂, λ ≥ 0, the ℓ2,1 norm: whole rows of X are zero. It is the same for X and XQ, Q orthogonal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L21 {
    lambda: f64,
}

impl L21 {
    /// The penalty with weight λ.
    ///
    /// # Errors
    /// λ negative, NaN or infinite.
    pub fn new(lambda: f64) -> Result<Self> {
        Ok(Self { lambda: checked_lambda(lambda)? })
    }
}

/// [`Nonsmooth::row_weight`] says what h is; the methods for single numbers are those of rows with one entry.
impl Nonsmooth for L21 {
    fn row_weight(&self) -> Option<f64> {
        Some(self.lambda)
    }

    fn entry(&self, x: f64) -> f64 {
        self.lambda * x.abs()
    }

    fn value(&self, row: &[f64]) -> f64 {
        self.lambda * row.iter().map(|x| x * x).sum::<f64>().sqrt()
    }

    fn prox(&self, v: f64, mu: f64) -> f64 {
        v - v.clamp(-mu * self.lambda, mu * self.lambda)
    }

    fn subdifferential(&self, x: f64) -> (f64, f64) {
        if x == 0.0 {
            return (-self.lambda, self.lambda);
        }
        (self.lambda.copysign(x), self.lambda.copysign(x))
    }

    fn weak_convexity(&self) -> Option<f64> {
        Some(0.0)
    }

    fn lipschitz(&self) -> f64 {
        self.lambda
    }

    fn promotes_sparsity(&self) -> bool {
        true
    }
}

/// A rotation or reflection of two rows keeps the determinant of their Gram matrix: rows that are linearly independent
/// stay so, and none of them becomes zero. Pairs of rows therefore never leave the set of nonzero rows that h is about, and
/// no solver on pairs takes this penalty.
impl PairPenalty for L21 {
    #[inline(always)]
    fn search_in<S: Simd>(&self, _: S, _: &PairModel<'_>, _: &mut Scratch) -> Option<PairMove> {
        None
    }
}
