use super::{checked_lambda, in_pieces, pairs_in_pieces};
use crate::nonsmooth::{Nonsmooth, Piece, Pieces};
use crate::options::{Constants, constants};
use orthopt_linalg::error::Result;

constants! {
    /// Shape of [`Mcp`].
    #[derive(Copy)]
    pub struct McpShape {
        /// the penalty is constant from gamma lambda on; 1/(2 lambda), so from 1/2 on, unless set; with
        /// gamma lambda >= 1 it differs from l1 by a constant only, as no |x| exceeds 1
        gamma ["γ"]: Option<f64> = None, "a finite number > 0" if |g| g > 0.0;
    }
}

/// Minimax concave penalty: h = λ|x| − x²/(2γ) for |x| ≤ γλ, γλ²/2 beyond; weakly convex with
/// W = 1/γ.
#[derive(Clone, Debug, PartialEq)]
pub struct Mcp {
    lambda: f64,
    gamma: f64, // γ
    pieces: Pieces,
}

impl Mcp {
    /// The penalty with weight λ ≥ 0 and γ > 0.
    ///
    /// # Errors
    /// A parameter outside its range, NaN or infinite.
    pub fn new(lambda: f64, gamma: f64) -> Result<Self> {
        Self::shaped(lambda, McpShape { gamma: Some(gamma) })
    }

    /// The penalty of this shape.
    ///
    /// # Errors
    /// As [`Mcp::new`].
    #[doc(hidden)]
    pub fn shaped(lambda: f64, shape: McpShape) -> Result<Self> {
        let lambda = checked_lambda(lambda)?;
        let usual = if lambda > 0.0 { 0.5 / lambda } else { 1.0 };
        let gamma = shape.checked("mcp")?.gamma.unwrap_or(usual);
        let pieces = Pieces::new(vec![
            Piece { from: 0.0, constant: 0.0, slope: lambda, bend: -1.0 / gamma },
            Piece { from: gamma * lambda, constant: 0.5 * gamma * lambda * lambda, slope: 0.0, bend: 0.0 },
        ]);
        Ok(Self { lambda, gamma, pieces })
    }
}

impl Nonsmooth for Mcp {
    in_pieces!();

    fn weak_convexity(&self) -> Option<f64> {
        Some(1.0 / self.gamma)
    }

    fn lipschitz(&self) -> f64 {
        self.lambda
    }

    /// The soft threshold, stretched so that it meets the identity at γλ; for μ ≥ γ the
    /// objective is not convex and the best of a few candidates is taken.
    fn prox(&self, v: f64, mu: f64) -> f64 {
        let (size, threshold) = (v.abs(), mu * self.lambda);
        if mu >= self.gamma {
            self.pieces.prox(v, mu)
        } else if size > self.gamma * self.lambda {
            v
        } else if size <= threshold {
            0.0
        } else {
            v.signum() * (size - threshold) / (1.0 - mu / self.gamma)
        }
    }
}

pairs_in_pieces!(Mcp);
