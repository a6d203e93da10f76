//! aC + bS + cC² + dCS + eS² with C = cos θ, S = sin θ over all θ.
//!
//! With v = (C, S) this is vᵀMv + gᵀv on the unit circle, a trust-region problem in two
//! dimensions. In the eigenbasis of M, with eigenvalues w₁ ≤ w₂ and gap Δ = w₂ − w₁, the global
//! minimiser is v = (−g₁/2s, −g₂/2(s + Δ)) for the one s ≥ 0 that gives it unit length (math
//! note, A.1).

use super::near::Near;
use super::{Coefficients, ComponentMin, Ending};

/// The global minimum over all θ; see [`super::hyperbolic`] for `near` and `base`.
pub(crate) fn minimise(k: &Coefficients, near: Option<&Near>, base: f64) -> ComponentMin {
    let mut theta = trust_region(k);
    for _ in 0..3 {
        let (s, c) = theta.sin_cos();
        let slope = match near {
            Some(near) if theta.abs() < 1.0 => {
                let half = (0.5 * theta).sin();
                near.slope(-2.0 * half * half, s, -1.0)
            }
            _ => -k.a * s + k.b * c + 2.0 * (k.e - k.c) * c * s + k.d * (c - s) * (c + s),
        };
        let bend = -k.a * c - k.b * s + 2.0 * (k.e - k.c) * (c - s) * (c + s) - 4.0 * k.d * c * s;
        let step = slope / bend;
        if bend > 0.0 && step.abs() <= 1e-3 {
            theta -= step;
        }
    }
    let (s, c) = theta.sin_cos();
    let value = match near {
        Some(near) if theta.abs() < 1.0 => {
            let half = (0.5 * theta).sin();
            base + near.value(-2.0 * half * half, s)
        }
        _ => k.at(c, s),
    };
    ComponentMin { ending: Ending::Attained, value, angle: Some(theta) }
}

/// θ of the global minimiser in (−π, π], near θ = 0 where there is a choice.
fn trust_region(k: &Coefficients) -> f64 {
    let (half, off) = (0.5 * (k.c - k.e), 0.5 * k.d);
    let radius = half.hypot(off);
    let rounding = f64::EPSILON * (k.c.abs() + k.e.abs());
    if radius <= rounding {
        // M is a multiple of I: v against g, or anything
        return if k.a.hypot(k.b) <= rounding { 0.0 } else { (-k.b).atan2(-k.a) };
    }
    // the eigenvectors (cos ψ, sin ψ) of w₂ and (−sin ψ, cos ψ) of w₁
    let (sin, cos) = (0.5 * off.atan2(half)).sin_cos();
    let (g1, g2, gap) = (-sin * k.a + cos * k.b, cos * k.a + sin * k.b, 2.0 * radius);
    let back = |v1: f64, v2: f64| (cos * v2 - sin * v1, sin * v2 + cos * v1); // (C, S)
    let negligible = f64::EPSILON * (g1.abs() + g2.abs() + gap);
    let (c, s) = if g1.abs() <= negligible && g2.abs() <= 2.0 * gap {
        // the hard case: two minimisers, mirror images of each other
        let v2 = (-g2 / (2.0 * gap)).clamp(-1.0, 1.0);
        let v1 = ((1.0 - v2) * (1.0 + v2)).sqrt();
        let (plus, minus) = (back(v1, v2), back(-v1, v2));
        if plus.0 >= minus.0 { plus } else { minus }
    } else {
        let shift = secular(g1.abs(), g2.abs(), gap);
        let v1 = if g1 == 0.0 { 0.0 } else { -g1 / (2.0 * shift) };
        back(v1, -g2 / (2.0 * (shift + gap)))
    };
    s.atan2(c)
}

/// The root s of (g₁/2s)² + (g₂/2(s + Δ))² = 1: the left side falls, so bisection with Newton
/// steps on 1/√(left side), which is nearly linear.
fn secular(g1: f64, g2: f64, gap: f64) -> f64 {
    let (mut lo, mut hi) = ((0.5 * g1).max(0.5 * g2 - gap).max(0.0), 0.5 * g1.hypot(g2));
    let mut s = hi;
    for _ in 0..100 {
        let (x, y) = (g1 / (2.0 * s), g2 / (2.0 * (s + gap)));
        let length = x.hypot(y);
        if length > 1.0 {
            lo = s
        } else {
            hi = s
        }
        // d|v|/ds = −(x²/s + y²/(s + Δ))/|v|
        let fall = (x * x / s + y * y / (s + gap)) / length;
        let next = s + (length - 1.0) * length / fall;
        let next = if next > lo && next < hi { next } else { 0.5 * (lo + hi) };
        if (next - s).abs() <= 2.0 * f64::EPSILON * s || hi - lo <= 2.0 * f64::EPSILON * hi {
            return next;
        }
        s = next;
    }
    s
}
