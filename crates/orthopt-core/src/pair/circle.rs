//! Trigonometric polynomials of degree 2 on the circle and their global minimum.

use orthopt_linalg::plane::one_minus_cos;

/// p(θ) = a cos θ + b sin θ + a2 cos 2θ + b2 sin 2θ.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Trig {
    /// Coefficient of cos θ.
    pub a: f64,
    /// Coefficient of sin θ.
    pub b: f64,
    /// Coefficient of cos 2θ (A in docs/mathematics.md, section 2).
    pub a2: f64,
    /// Coefficient of sin 2θ (B in docs/mathematics.md, section 2).
    pub b2: f64,
}

/// Coefficients below this count as zero: their squares underflow, and the direction would
/// not have length 1.
const VANISHING: f64 = 1e-146;
/// Coefficients beyond this overflow when squared: there is no direction, and no move.
const HUGE: f64 = 1e150;

impl Trig {
    /// p at the direction (c, s) = (cos θ, sin θ).
    #[inline(always)]
    pub fn value(&self, c: f64, s: f64) -> f64 {
        self.a * c + self.b * s + self.a2 * (c - s) * (c + s) + 2.0 * self.b2 * (s * c)
    }

    /// p(0).
    #[inline(always)]
    pub fn at_zero(&self) -> f64 {
        self.a + self.a2
    }

    /// p′ at the direction (c, s).
    #[inline(always)]
    pub fn slope(&self, c: f64, s: f64) -> f64 {
        self.b * c - self.a * s - 4.0 * self.a2 * (s * c) + 2.0 * self.b2 * (c - s) * (c + s)
    }

    /// p″ at the direction (c, s).
    #[inline(always)]
    pub fn bend(&self, c: f64, s: f64) -> f64 {
        -self.a * c - self.b * s - 4.0 * (self.a2 * (c - s) * (c + s) + 2.0 * self.b2 * (s * c))
    }

    /// p(0) − p(θ), free of cancellation for small θ.
    #[inline(always)]
    pub fn decrease_from_zero(&self, c: f64, s: f64) -> f64 {
        self.a * one_minus_cos(c, s) - self.b * s + 2.0 * self.a2 * (s * s) - 2.0 * self.b2 * (s * c)
    }

    /// The polynomial δ ↦ p(θ + δ) for the direction (c, s) of θ.
    #[inline(always)]
    pub fn shifted(&self, c: f64, s: f64) -> Self {
        let (c2, s2) = ((c - s) * (c + s), 2.0 * s * c);
        Self {
            a: self.a * c + self.b * s,
            b: self.b * c - self.a * s,
            a2: self.a2 * c2 + self.b2 * s2,
            b2: self.b2 * c2 - self.a2 * s2,
        }
    }

    /// Size of the coefficients: a bound on |p|, and the unit of rounding errors.
    #[inline(always)]
    pub fn scale(&self) -> f64 {
        self.a.abs() + self.b.abs() + self.a2.abs() + self.b2.abs()
    }

    /// Lower bound on p over the circle: −‖(a, b)‖ − ‖(a2, b2)‖.
    #[inline(always)]
    pub fn lower_bound(&self) -> f64 {
        -hypot(self.a, self.b) - hypot(self.a2, self.b2)
    }

    /// The direction (c, s) of the global minimum of p over the whole circle.
    ///
    /// With v = (c, s) this is a trust-region problem in the plane, min ½vᵀSv + gᵀv on ‖v‖ = 1,
    /// S = 2[a2 b2; b2 −a2]. In the eigenbasis of S (eigenvalues ±2R) the minimiser is
    /// v = −(S + μI)⁻¹g for the one root ν = μ − 2R ≥ 0 of
    /// g₁²/(ν+4R)² + g₂²/ν² = 1, found by Newton's method on the reciprocal root, which is
    /// monotone from the left; the hard case g₂ = 0 is taken apart, and near it Newton steps on
    /// p′ restore the digits.
    #[inline(always)]
    pub fn minimiser(&self) -> (f64, f64) {
        self.minimiser_given(self.norms())
    }

    /// ‖(a, b)‖ and R = ‖(a2, b2)‖.
    #[inline(always)]
    pub fn norms(&self) -> (f64, f64) {
        (hypot(self.a, self.b), hypot(self.a2, self.b2))
    }

    /// [`Trig::minimiser`] with the known [`Trig::norms`]. It is a sequence of dependent
    /// square roots and divisions, so each one costs time.
    #[inline(always)]
    pub fn minimiser_given(&self, (g, big_r): (f64, f64)) -> (f64, f64) {
        let usual = (big_r > VANISHING) & (big_r + g < HUGE);
        if !usual {
            // nothing of degree 2, nothing at all, or more than can be squared
            let plain = g > VANISHING && big_r + g < HUGE;
            return if plain { (-self.a / g, -self.b / g) } else { (1.0, 0.0) };
        }
        // e2: eigenvector of −2R, at half the angle of (−a2, −b2); e1 ⟂ e2.
        let long = big_r + self.a2.abs();
        let scale = 1.0 / hypot(long, self.b2);
        let (big, small) = (long * scale, -self.b2 * scale);
        let (ec, es) = if self.a2 <= 0.0 { (big, small) } else { (small, big) };
        let (g1, g2) = (self.a * es - self.b * ec, self.a * ec + self.b * es);
        let (v1, v2) = secular_root(g1, g2, g, 4.0 * big_r);
        let (c, s) = (v1 * es + v2 * ec, v2 * es - v1 * ec);
        if g2.abs() > 1e-5 * g {
            // The angle is right to 1e-8 or better and p to the square of that.
            let n = 1.5 - 0.5 * (c * c + s * s);
            return (c * n, s * n);
        }
        // Near the hard case g₂ has lost its digits.
        self.polished(c, s)
    }

    /// Up to two Newton steps on p′ from the direction (c, s), of length 1 to 1e-8 or better,
    /// taken only while p″ > 0 and the step is short: near a minimum they gain the last digits,
    /// elsewhere they do nothing.
    #[inline(always)]
    fn polished(&self, c: f64, s: f64) -> (f64, f64) {
        let n = 1.5 - 0.5 * (c * c + s * s);
        let (mut c, mut s) = (c * n, s * n);
        for _ in 0..2 {
            let (d, dd) = (self.slope(c, s), self.bend(c, s));
            // Longer steps mean a flat minimum, where Newton's model is no help.
            if dd <= 0.0 || d.abs() > 1e-3 * dd {
                break;
            }
            let t = -0.5 * d / dd; // ≈ tan of half the step, |t| ≤ 5e-4
            let t2 = t * t;
            let q = 1.0 - t2 + t2 * t2; // 1/(1 + t²)
            let (dc, ds) = ((1.0 - t2) * q, 2.0 * t * q);
            (c, s) = (c * dc - s * ds, s * dc + c * ds);
            if t.abs() < 1e-7 {
                break; // what is left no longer changes the value
            }
        }
        (c, s)
    }
}

/// The unit vector v = (−g₁/(ν+gap), −g₂/ν) minimising R(v₁² − v₂²) + g·v with gap = 4R and
/// `g` = ‖(g₁, g₂)‖.
#[inline(always)]
fn secular_root(g1: f64, g2: f64, g: f64, gap: f64) -> (f64, f64) {
    let tiny = f64::EPSILON * f64::EPSILON * gap;
    if g2.abs() <= tiny {
        // Hard case: either ν = |g₁| − gap > 0, or ν = 0 and v₂ fills up the length.
        if g1.abs() >= gap {
            return (-g1.signum(), 0.0);
        }
        let v1 = -g1 / gap;
        return (v1, (1.0 - v1 * v1).sqrt());
    }
    let mut nu = g2.abs().max(g - gap);
    let (mut i1, mut i2) = (1.0 / (nu + gap), 1.0 / nu);
    for k in 0..40 {
        let (v1, v2) = (g1 * i1, g2 * i2);
        let norm2 = v1 * v1 + v2 * v2;
        // φ = ‖v‖², −φ′/2 = v₁²/(ν+gap) + v₂²/ν; Newton on 1/‖v‖ = 1.
        let step = (norm2.sqrt() - 1.0) * norm2 / (v1 * v1 * i1 + v2 * v2 * i2);
        nu += step;
        (i1, i2) = (1.0 / (nu + gap), 1.0 / nu);
        // Quadratic convergence: after this step the error is the square of it. Two steps are
        // the rule and are made without asking, as a branch on each would be mispredicted.
        if k >= 1 && step <= 1e-4 * nu {
            break;
        }
    }
    (-g1 * i1, -g2 * i2)
}

/// √(x² + y²) without the guard against overflow of `f64::hypot`, which costs ten times more;
/// coefficients here are sums of products of data and stay far from 1e154.
#[inline(always)]
pub fn hypot(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}
