use super::checked_lambda;
use crate::nonsmooth::Nonsmooth;
use crate::options::{Constants, constants};
use crate::pair::PairModel;
use crate::pair::PairPenalty;
use crate::pair::fold::Scratch;
use crate::pair::l1_search::search_l1;
use orthopt_linalg::error::Result;
use orthopt_linalg::plane::PairMove;
use orthopt_linalg::simd::Simd;

constants! {
    /// Shape of [`ElasticNet`].
    #[derive(Copy)]
    pub struct ElasticNetShape {
        /// weight of the square; a constant on X'X = I, so it matters under a linear map only
        eta ["η"]: f64 = 1.0, "a finite number >= 0" if |e| e >= 0.0;
    }
}

/// h = λ(|x| + η/2·x²), λ, η ≥ 0. On the manifold Σ x² = r, so for OBCD it is ℓ1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElasticNet {
    lambda: f64,
    eta: f64, // η
}

impl ElasticNet {
    /// The penalty with weight λ and share η of the square.
    ///
    /// # Errors
    /// A parameter negative, NaN or infinite.
    pub fn new(lambda: f64, eta: f64) -> Result<Self> {
        Self::shaped(lambda, ElasticNetShape { eta })
    }

    /// The penalty of this shape.
    ///
    /// # Errors
    /// As [`ElasticNet::new`].
    #[doc(hidden)]
    pub fn shaped(lambda: f64, shape: ElasticNetShape) -> Result<Self> {
        let lambda = checked_lambda(lambda)?;
        Ok(Self { lambda, eta: shape.checked("elastic-net")?.eta })
    }
}

impl Nonsmooth for ElasticNet {
    #[inline(always)]
    fn entry(&self, x: f64) -> f64 {
        self.lambda * (x.abs() + 0.5 * self.eta * x * x)
    }

    fn affine(&self, x: f64) -> Option<(f64, f64)> {
        Some((0.0, self.lambda * x.signum()))
    }

    fn bend(&self, _x: f64) -> f64 {
        self.lambda * self.eta
    }

    fn weak_convexity(&self) -> Option<f64> {
        Some(0.0)
    }

    fn lipschitz(&self) -> f64 {
        self.lambda * (1.0 + self.eta)
    }

    fn prox(&self, v: f64, mu: f64) -> f64 {
        let t = mu * self.lambda;
        v.signum() * (v.abs() - t).max(0.0) / (1.0 + t * self.eta)
    }

    fn subdifferential(&self, x: f64) -> (f64, f64) {
        if x == 0.0 {
            (-self.lambda, self.lambda)
        } else {
            let g = self.lambda * (x.signum() + self.eta * x);
            (g, g)
        }
    }

    fn turning_price(&self, x: &[f64]) -> Option<f64> {
        // c² + s² = 1: the squares stay as they are
        Some(self.lambda * x.iter().map(|v| v.abs()).sum::<f64>())
    }

    fn promotes_sparsity(&self) -> bool {
        true
    }
}

impl PairPenalty for ElasticNet {
    /// The square is the same for every V Z.
    #[inline(always)]
    fn search_in<S: Simd>(&self, simd: S, m: &PairModel<'_>, scratch: &mut Scratch) -> Option<PairMove> {
        search_l1(simd, self.lambda, m, scratch)
    }
}
