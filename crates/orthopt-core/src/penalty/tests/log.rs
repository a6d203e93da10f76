use super::checked_lambda;
use crate::nonsmooth::Nonsmooth;
use crate::options::{Constants, constants};
use crate::pair::PairPenalty;
use orthopt_linalg::error::Result;

constants! {
    /// Shape of [`Log`].
    #[derive(Copy)]
    pub struct LogShape {
        /// entries much smaller than it are penalised like l1, larger ones hardly more than it
        epsilon ["ε"]: f64 = 0.1, "a finite number > 0" if |e| e > 0.0;
    }
}

/// h = λ·ln(1 + |x|/ε)/ln(1 + 1/ε): 0 at 0, λ at |x| = 1, between ℓ0 and ℓ1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Log {
    weight: f64, // λ/ln(1 + 1/ε)
    epsilon: f64,
}

impl Log {
    /// The penalty of this shape.
    ///
    /// # Errors
    /// A parameter outside its range, NaN or infinite.
    pub fn shaped(lambda: f64, shape: LogShape) -> Result<Self> {
        let lambda = checked_lambda(lambda)?;
        let epsilon = shape.checked("log")?.epsilon;
        Ok(Self { weight: lambda / (1.0 / epsilon).ln_1p(), epsilon })
    }
}

impl Nonsmooth for Log {
    fn entry(&self, x: f64) -> f64 {
        self.weight * (x.abs() / self.epsilon).ln_1p()
    }

    /// The better of 0 and the larger root of (x − |v|)(ε + x) + μw = 0, where the derivative vanishes.
    fn prox(&self, v: f64, mu: f64) -> f64 {
        let size = v.abs();
        let discriminant = (size + self.epsilon).powi(2) - 4.0 * mu * self.weight;
        if discriminant <= 0.0 {
            return 0.0;
        }
        let x = 0.5 * (size - self.epsilon + discriminant.sqrt());
        let cost = |x: f64| 0.5 * (x - size) * (x - size) / mu + self.entry(x);
        if x > 0.0 && cost(x) < cost(0.0) { x.copysign(v) } else { 0.0 }
    }

    fn subdifferential(&self, x: f64) -> (f64, f64) {
        if x == 0.0 {
            let steepest = self.weight / self.epsilon;
            return (-steepest, steepest);
        }
        let slope = (self.weight / (self.epsilon + x.abs())).copysign(x);
        (slope, slope)
    }

    /// −h″ is largest at 0.
    fn weak_convexity(&self) -> Option<f64> {
        Some(self.weight / (self.epsilon * self.epsilon))
    }

    fn lipschitz(&self) -> f64 {
        self.weight / self.epsilon
    }

    fn promotes_sparsity(&self) -> bool {
        true
    }
}

/// Pairs of rows by the search that needs no more than `entry`.
impl PairPenalty for Log {}
