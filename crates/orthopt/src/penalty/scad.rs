use super::checked_lambda;
use crate::error::Result;
use crate::linalg::plane::PairMove;
use crate::linalg::simd::Simd;
use crate::nonsmooth::Nonsmooth;
use crate::nonsmooth::{Piece, Pieces};
use crate::options::{Constants, constants};
use crate::pair::PairModel;
use crate::pair::PairPenalty;
use crate::pair::fold::Scratch;

constants! {
    /// Shape of [`Scad`].
    #[derive(Copy)]
    pub struct ScadShape {
        /// the penalty is constant from a lambda on (Fan and Li: 3.7)
        a ["a"]: f64 = 3.7, "a finite number > 2" if |a| a > 2.0;
        /// factor of the penalty; lambda is also where it bends, and with lambda >= 1 it is l1, as no |x|
        /// exceeds 1
        weight ["w"]: f64 = 1.0, "a finite number > 0" if |w| w > 0.0;
    }
}

/// Smoothly clipped absolute deviation: h = λ|x| for |x| ≤ λ, (2aλ|x| − x² − λ²)/(2(a−1)) up to
/// aλ, (a+1)λ²/2 beyond, times a weight w; weakly convex with W = w/(a−1).
#[derive(Clone, Debug, PartialEq)]
pub struct Scad {
    lambda: f64,
    a: f64,
    weight: f64, // w
    pieces: Pieces,
}

impl Scad {
    /// The penalty with λ ≥ 0 and a > 2.
    ///
    /// # Errors
    /// A parameter outside its range, NaN or infinite.
    pub fn new(lambda: f64, a: f64) -> Result<Self> {
        Self::shaped(lambda, ScadShape { a, ..ScadShape::DEFAULT })
    }

    /// The penalty of this shape, with a weight.
    ///
    /// # Errors
    /// As [`Scad::new`].
    pub fn shaped(lambda: f64, shape: ScadShape) -> Result<Self> {
        let lambda = checked_lambda(lambda)?;
        let ScadShape { a, weight } = shape.checked("scad")?;
        let bend = weight / (a - 1.0);
        let pieces = Pieces::new(vec![
            Piece { from: 0.0, constant: 0.0, slope: weight * lambda, bend: 0.0 },
            Piece {
                from: lambda,
                constant: -0.5 * bend * lambda * lambda,
                slope: a * lambda * bend,
                bend: -bend,
            },
            Piece {
                from: a * lambda,
                constant: 0.5 * weight * (a + 1.0) * lambda * lambda,
                slope: 0.0,
                bend: 0.0,
            },
        ]);
        Ok(Self { lambda, a, weight, pieces })
    }
}

impl Nonsmooth for Scad {
    #[inline(always)]
    fn entry(&self, x: f64) -> f64 {
        self.pieces.entry(x)
    }

    fn affine(&self, x: f64) -> Option<(f64, f64)> {
        Some(self.pieces.affine(x))
    }

    fn bend(&self, x: f64) -> f64 {
        self.pieces.bend(x)
    }

    fn weak_convexity(&self) -> Option<f64> {
        Some(self.weight / (self.a - 1.0))
    }

    fn lipschitz(&self) -> f64 {
        self.weight * self.lambda
    }

    /// The closed form for τ = wμ < a − 1; for larger ones the objective is not convex and the
    /// best of a few candidates is taken.
    fn prox(&self, v: f64, mu: f64) -> f64 {
        let (size, tau, a, lambda) = (v.abs(), self.weight * mu, self.a, self.lambda);
        if tau >= a - 1.0 {
            self.pieces.prox(v, mu)
        } else if size > a * lambda {
            v
        } else if size > lambda * (1.0 + tau) {
            v.signum() * ((a - 1.0) * size - a * lambda * tau) / (a - 1.0 - tau)
        } else if size > tau * lambda {
            v.signum() * (size - tau * lambda)
        } else {
            0.0
        }
    }

    fn subdifferential(&self, x: f64) -> (f64, f64) {
        self.pieces.subdifferential(x)
    }

    fn kinks(&self) -> &[f64] {
        self.pieces.kinks()
    }

    fn promotes_sparsity(&self) -> bool {
        true
    }
}

impl PairPenalty for Scad {
    #[inline(always)]
    fn search_in<S: Simd>(&self, _simd: S, m: &PairModel<'_>, scratch: &mut Scratch) -> Option<PairMove> {
        self.pieces.search(m, scratch)
    }
}
