use super::{checked_lambda, in_pieces, pairs_in_pieces};
use crate::nonsmooth::{Nonsmooth, Piece, Pieces};
use crate::options::{Constants, constants};
use orthopt_linalg::error::Result;

constants! {
    /// Shape of [`Scad`].
    #[derive(Copy)]
    pub struct ScadShape {
        /// the penalty is constant from a times the |x| where it bends (Fan and Li: 3.7)
        a ["a"]: f64 = 3.7, "a finite number > 2" if |a| a > 2.0;
        /// weight s, in the unit of lambda: it bends at |x| = lambda/s; 2 a lambda, so that it is constant from 1/2
        /// on, unless set; 1 is the penalty of Fan and Li, and with lambda/s >= 1 it is l1, as no |x| exceeds 1
        weight ["s"]: Option<f64> = None, "a finite number > 0" if |w| w > 0.0;
    }
}

/// Smoothly clipped absolute deviation: h = s·p(x) with the p of Fan and Li for λ/s, which is (λ/s)|x| for |x| ≤ λ/s,
/// (2aλ|x|/s − x² − (λ/s)²)/(2(a−1)) up to aλ/s, and (a+1)(λ/s)²/2 beyond: λ|x| where |x| is small. Weakly convex with
/// W = s/(a−1).
///
/// λ has the unit of F and |x| ≤ 1 has none, so a bend at |x| = λ, the penalty of Fan and Li (s = 1), depends on the unit of
/// the data. By default s = 2aλ: the bend is at 1/(2a) and the penalty is constant from 1/2 on, as that of [`super::Mcp`] is, in any
/// unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Scad {
    lambda: f64,
    a: f64,
    bends: f64,  // λ/s
    weight: f64, // s
    pieces: Pieces,
}

impl Scad {
    /// The penalty of Fan and Li (s = 1) with λ ≥ 0 and a > 2.
    ///
    /// # Errors
    /// A parameter outside its range, NaN or infinite.
    pub fn new(lambda: f64, a: f64) -> Result<Self> {
        Self::shaped(lambda, ScadShape { a, weight: Some(1.0) })
    }

    /// The penalty of this shape.
    ///
    /// # Errors
    /// As [`Scad::new`].
    #[doc(hidden)]
    pub fn shaped(lambda: f64, shape: ScadShape) -> Result<Self> {
        let lambda = checked_lambda(lambda)?;
        let ScadShape { a, weight } = shape.checked("scad")?;
        let (weight, bends) = weight.map_or((2.0 * a * lambda, 0.5 / a), |s| (s, lambda / s));
        let bend = weight / (a - 1.0);
        let pieces = Pieces::new(vec![
            Piece { from: 0.0, constant: 0.0, slope: lambda, bend: 0.0 },
            Piece {
                from: bends,
                constant: -0.5 * bend * bends * bends,
                slope: a * bends * bend,
                bend: -bend,
            },
            Piece { from: a * bends, constant: 0.5 * (a + 1.0) * lambda * bends, slope: 0.0, bend: 0.0 },
        ]);
        Ok(Self { lambda, a, bends, weight, pieces })
    }
}

impl Nonsmooth for Scad {
    in_pieces!();

    fn weak_convexity(&self) -> Option<f64> {
        Some(self.weight / (self.a - 1.0))
    }

    fn lipschitz(&self) -> f64 {
        self.lambda
    }

    /// The closed form for τ = sμ < a − 1; for larger ones the objective is not convex and the
    /// best of a few candidates is taken.
    fn prox(&self, v: f64, mu: f64) -> f64 {
        let (size, tau, a, bends) = (v.abs(), self.weight * mu, self.a, self.bends);
        if tau >= a - 1.0 {
            self.pieces.prox(v, mu)
        } else if size > a * bends {
            v
        } else if size > bends * (1.0 + tau) {
            v.signum() * ((a - 1.0) * size - a * bends * tau) / (a - 1.0 - tau)
        } else if size > mu * self.lambda {
            v.signum() * (size - mu * self.lambda)
        } else {
            0.0
        }
    }
}

pairs_in_pieces!(Scad);
