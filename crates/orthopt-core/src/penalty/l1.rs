use super::checked_lambda;
use crate::nonsmooth::Nonsmooth;
use crate::pair::PairModel;
use crate::pair::PairPenalty;
use crate::pair::fold::Scratch;
use crate::pair::l1_search::search_l1;
use orthopt_linalg::error::Result;
use orthopt_linalg::kernels::sum_abs;
use orthopt_linalg::plane::PairMove;
use orthopt_linalg::simd::{Simd, dispatch};

/// h = λ·|x|, λ ≥ 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L1 {
    lambda: f64,
}

impl L1 {
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

impl Nonsmooth for L1 {
    fn is_zero(&self) -> bool {
        self.lambda == 0.0
    }

    #[inline(always)]
    fn entry(&self, x: f64) -> f64 {
        self.lambda * x.abs()
    }

    #[inline(always)]
    fn value(&self, x: &[f64]) -> f64 {
        // rows are short and summed inside their caller's kernel; whole matrices have one of their own
        if x.len() < 512 { x.iter().map(|v| self.entry(*v)).sum() } else { self.lambda * sum_abs(x) }
    }

    fn affine(&self, x: f64) -> Option<(f64, f64)> {
        Some((0.0, self.lambda * x.signum()))
    }

    fn prox(&self, v: f64, mu: f64) -> f64 {
        let t = mu * self.lambda;
        if v > t {
            v - t
        } else if v < -t {
            v + t
        } else {
            0.0
        }
    }

    fn weak_convexity(&self) -> Option<f64> {
        Some(0.0)
    }

    fn lipschitz(&self) -> f64 {
        self.lambda
    }

    fn prox_all(&self, v: &mut [f64], mu: f64) {
        let t = mu * self.lambda;
        // x − clamp(x) is 0 inside [−t, t], and the loop has no branches
        dispatch(|| v.iter_mut().for_each(|x| *x -= x.max(-t).min(t)));
    }

    fn subdifferential(&self, x: f64) -> (f64, f64) {
        if x == 0.0 {
            (-self.lambda, self.lambda)
        } else {
            let g = self.lambda * x.signum();
            (g, g)
        }
    }

    fn turning_price(&self, x: &[f64]) -> Option<f64> {
        Some(self.value(x))
    }

    fn promotes_sparsity(&self) -> bool {
        true
    }
}

impl PairPenalty for L1 {
    #[inline(always)]
    fn search_in<S: Simd>(&self, simd: S, m: &PairModel<'_>, scratch: &mut Scratch) -> Option<PairMove> {
        search_l1(simd, self.lambda, m, scratch)
    }
}
