use super::{checked_lambda, in_pieces, pairs_in_pieces};
use crate::nonsmooth::{Nonsmooth, Piece, Pieces};
use crate::options::{Constants, constants};
use orthopt_linalg::error::Result;

constants! {
    /// Shape of [`CappedL1`].
    #[derive(Copy)]
    pub struct CappedL1Shape {
        /// the penalty is constant from there on
        cap ["q"]: f64 = 0.25, "a finite number > 0" if |q| q > 0.0;
    }
}

/// h = λ·min(|x|, q). Its kinks at ±q point upwards, so no W makes it weakly convex; methods
/// that need weak convexity use λ|x| − λ·max(|x| − q, 0), see [`crate::concave::CappedExcess`].
#[derive(Clone, Debug, PartialEq)]
pub struct CappedL1 {
    lambda: f64,
    cap: f64, // q
    pieces: Pieces,
}

impl CappedL1 {
    /// The penalty with weight λ ≥ 0 and cap q > 0.
    ///
    /// # Errors
    /// A parameter outside its range, NaN or infinite.
    pub fn new(lambda: f64, cap: f64) -> Result<Self> {
        Self::shaped(lambda, CappedL1Shape { cap })
    }

    /// The penalty of this shape.
    ///
    /// # Errors
    /// As [`CappedL1::new`].
    #[doc(hidden)]
    pub fn shaped(lambda: f64, shape: CappedL1Shape) -> Result<Self> {
        let lambda = checked_lambda(lambda)?;
        let cap = shape.checked("capped-l1")?.cap;
        let pieces = Pieces::new(vec![
            Piece { from: 0.0, constant: 0.0, slope: lambda, bend: 0.0 },
            Piece { from: cap, constant: lambda * cap, slope: 0.0, bend: 0.0 },
        ]);
        Ok(Self { lambda, cap, pieces })
    }
}

impl Nonsmooth for CappedL1 {
    in_pieces!();

    fn lipschitz(&self) -> f64 {
        self.lambda
    }

    /// The better of the soft threshold kept below q and v kept above it.
    fn prox(&self, v: f64, mu: f64) -> f64 {
        let size = v.abs();
        let (low, high) = ((size - mu * self.lambda).clamp(0.0, self.cap), size.max(self.cap));
        let cost = |x: f64| 0.5 * (x - size) * (x - size) / mu + self.entry(x);
        v.signum() * if cost(high) < cost(low) { high } else { low }
    }
}

pairs_in_pieces!(CappedL1);
