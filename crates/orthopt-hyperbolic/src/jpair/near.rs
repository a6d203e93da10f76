//! q about V = I, free of cancellation.

/// q on the component of I: c₁·trace + S·slope + ½(c₁²·ii + 2c₁S·ik + S²·kk).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    pub trace: f64, // W₁₁ + W₂₂
    pub slope: f64, // W₁₂ + W₂₁ or W₁₂ − W₂₁, the derivative at V = I
    pub ii: f64,    // vec(I)ᵀQ vec(I)
    pub ik: f64,    // vec(I)ᵀQ vec(K), K the matrix that S multiplies
    pub kk: f64,    // vec(K)ᵀQ vec(K)
}

impl Near {
    #[inline(always)]
    pub fn value(&self, c1: f64, s: f64) -> f64 {
        c1 * self.trace
            + s * self.slope
            + 0.5 * (c1 * c1 * self.ii + 2.0 * c1 * s * self.ik + s * s * self.kk)
    }

    /// dq/dangle, where dC = `turn`·S and dS = C (`turn` = 1 hyperbolic, −1 circular).
    #[inline(always)]
    pub fn slope(&self, c1: f64, s: f64, turn: f64) -> f64 {
        let c = 1.0 + c1;
        turn * s * (self.trace + c1 * self.ii + s * self.ik) + c * (self.slope + c1 * self.ik + s * self.kk)
    }
}
