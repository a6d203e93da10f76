use super::checked_lambda;
use crate::nonsmooth::Nonsmooth;
use crate::pair::PairModel;
use crate::pair::PairPenalty;
use crate::pair::fold::Scratch;
use crate::pair::l0_search::search_l0;
use orthopt_linalg::error::Result;
use orthopt_linalg::plane::PairMove;
use orthopt_linalg::simd::Simd;

/// h = λ·#{x ≠ 0}, λ ≥ 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L0 {
    lambda: f64,
}

impl L0 {
    /// The penalty with weight λ.
    ///
    /// # Errors
    /// λ negative, NaN or infinite.
    pub fn new(lambda: f64) -> Result<Self> {
        Ok(Self { lambda: checked_lambda(lambda)? })
    }

    /// λ.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }
}

impl Nonsmooth for L0 {
    fn is_zero(&self) -> bool {
        self.lambda == 0.0
    }

    #[inline(always)]
    fn entry(&self, x: f64) -> f64 {
        if x == 0.0 { 0.0 } else { self.lambda }
    }

    #[inline(always)]
    fn value(&self, x: &[f64]) -> f64 {
        // counted first, so that sums over rows are exact multiples of λ
        self.lambda * x.iter().filter(|v| **v != 0.0).count() as f64
    }

    fn affine(&self, x: f64) -> Option<(f64, f64)> {
        Some((self.entry(x), 0.0))
    }

    fn prox(&self, v: f64, mu: f64) -> f64 {
        if v * v > 2.0 * mu * self.lambda { v } else { 0.0 }
    }

    fn subdifferential(&self, x: f64) -> (f64, f64) {
        // at 0 every number is a limiting subgradient (for λ > 0)
        if x == 0.0 && self.lambda > 0.0 { (f64::NEG_INFINITY, f64::INFINITY) } else { (0.0, 0.0) }
    }

    fn turning_price(&self, x: &[f64]) -> Option<f64> {
        Some(self.value(x))
    }

    fn promotes_sparsity(&self) -> bool {
        true
    }
}

impl PairPenalty for L0 {
    #[inline(always)]
    fn search_in<S: Simd>(&self, simd: S, m: &PairModel<'_>, scratch: &mut Scratch) -> Option<PairMove> {
        search_l0(simd, self.lambda, m, scratch)
    }
}
