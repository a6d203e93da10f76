//! Trigonometric polynomials of degree 4: nine coefficients, global minimum on the circle.

use std::f64::consts::{PI, TAU};

/// p(θ) = c₀ + Σₘ (aₘ cos mθ + bₘ sin mθ), m = 1, ..., 4.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Trig4 {
    /// c₀.
    pub c0: f64,
    /// a₁, ..., a₄.
    pub a: [f64; 4],
    /// b₁, ..., b₄.
    pub b: [f64; 4],
}

/// Arcs that the circle is cut into to begin with; eight and more than there are minima.
const ARCS: usize = 16;
/// Halvings of an arc at most: its width is then below rounding.
const DEPTH: u32 = 40;

impl Trig4 {
    /// The derivatives p⁽⁰⁾(θ), ..., p⁽⁴⁾(θ).
    pub fn derivatives(&self, theta: f64) -> [f64; 5] {
        let (s, c) = theta.sin_cos();
        let mut out = [self.c0, 0.0, 0.0, 0.0, 0.0];
        let (mut cm, mut sm) = (c, s); // cos mθ, sin mθ
        for m in 0..4 {
            let f = (m + 1) as f64;
            let (even, odd) = (self.a[m] * cm + self.b[m] * sm, self.b[m] * cm - self.a[m] * sm);
            out[0] += even;
            out[1] += f * odd;
            out[2] -= f * f * even;
            out[3] -= f * f * f * odd;
            out[4] += f * f * f * f * even;
            (cm, sm) = (cm * c - sm * s, sm * c + cm * s);
        }
        out
    }

    /// p(θ).
    pub fn value(&self, theta: f64) -> f64 {
        self.derivatives(theta)[0]
    }

    /// A bound of |p⁽ᵈ⁾| over the circle: Σ mᵈ‖(aₘ, bₘ)‖.
    pub fn bound(&self, d: i32) -> f64 {
        (0..4).map(|m| ((m + 1) as f64).powi(d) * self.a[m].hypot(self.b[m])).sum()
    }

    /// The angle in [−π, π] of the global minimum, by branch and bound: an arc is dropped where
    /// p ≥ p(c) − |p′(c)|w − M₂w²/2 (c its middle, w half its width, M₂ ≥ |p″|) or the bound of the
    /// next order keeps it above the lowest value so far, solved by Newton's method where it is
    /// convex, and halved otherwise. θ = 0 is tried first and stays unless something is lower by
    /// more than rounding; so are bounds compared, or a constant p would be cut up for ever.
    pub fn minimiser(&self) -> f64 {
        let (m2, m3) = (self.bound(2), self.bound(3));
        let rounding = 4.0 * f64::EPSILON * (self.c0.abs() + self.bound(0));
        let mut best = Lowest { value: self.value(0.0), theta: 0.0, rounding };
        // all middles first: a low value discards most arcs
        let mut arcs = [Arc::default(); ARCS + DEPTH as usize + 1];
        for (k, arc) in arcs.iter_mut().take(ARCS).enumerate() {
            *arc =
                Arc { middle: TAU * (k as f64 + 0.5) / ARCS as f64 - PI, half: PI / ARCS as f64, depth: 0 };
            best.offer(arc.middle, self.value(arc.middle));
        }
        let mut open = ARCS;
        while open > 0 {
            open -= 1;
            let Arc { middle, half: w, depth } = arcs[open];
            let [p, d1, d2, ..] = self.derivatives(middle);
            best.offer(middle, p);
            let first = p - d1.abs() * w - 0.5 * m2 * w * w;
            let second = p - d1.abs() * w + (0.5 * d2.min(0.0)) * w * w - m3 * w * w * w / 6.0;
            if first.max(second) >= best.value - rounding {
                continue;
            }
            if d2 - m3 * w >= 0.0 || depth >= DEPTH {
                let theta = self.newton(middle, w);
                best.offer(theta, self.value(theta));
                continue;
            }
            for side in [-0.5, 0.5] {
                arcs[open] = Arc { middle: middle + side * w, half: 0.5 * w, depth: depth + 1 };
                open += 1;
            }
        }
        best.theta
    }

    /// The minimum on an arc where p is convex: Newton's method inside a shrinking bracket.
    fn newton(&self, c: f64, w: f64) -> f64 {
        let (mut lo, mut hi) = (c - w, c + w);
        let mut theta = c;
        for _ in 0..60 {
            let [_, d1, d2, ..] = self.derivatives(theta);
            if d1 > 0.0 {
                hi = theta;
            } else {
                lo = theta;
            }
            let mut next = theta - d1 / d2;
            if !(d2 > 0.0 && next >= lo && next <= hi) {
                next = 0.5 * (lo + hi);
            }
            if (next - theta).abs() <= 1e-15 {
                break;
            }
            theta = next;
        }
        theta
    }

    /// The fifth-order iteration of OBCD-Approx (first version, section 7.2) from θ₀:
    ///
    /// θ⁺ = argmin Σ_{i≤4} p⁽ⁱ⁾(θ)/i!·(t − θ)ⁱ + p̄₅/5!·|t − θ|⁵ with p̄₅ = Σ m⁵‖(aₘ, bₘ)‖ ≥ |p⁽⁵⁾|.
    ///
    /// The model majorises p and touches it at θ, so p never rises. The limit is a critical point of
    /// p, not always its global minimum.
    pub fn fifth_order(&self, theta0: f64) -> f64 {
        let p5 = self.bound(5);
        let mut theta = theta0;
        for _ in 0..50 {
            let d = self.derivatives(theta);
            let step = majorant_step(&d, p5);
            let next = theta + step;
            // rounding: a step that does not lower p is none
            if self.value(next) >= d[0] {
                break;
            }
            theta = next;
            if step.abs() <= 1e-12 {
                break;
            }
        }
        theta
    }
}

/// An arc of the circle.
#[derive(Clone, Copy, Default)]
struct Arc {
    middle: f64,
    half: f64, // half its width
    depth: u32,
}

/// The lowest value so far.
struct Lowest {
    value: f64,
    theta: f64,
    rounding: f64,
}

impl Lowest {
    fn offer(&mut self, theta: f64, value: f64) {
        let least = if self.theta == 0.0 { self.rounding } else { 0.0 };
        if value < self.value - least {
            (self.value, self.theta) = (value, theta);
        }
    }
}

/// The t that minimises Σ_{1≤i≤4} dᵢtⁱ/i! + p̄₅|t|⁵/5!: on each half-line a polynomial whose
/// stationary points are the roots of a quartic.
fn majorant_step(d: &[f64; 5], p5: f64) -> f64 {
    let model = |t: f64| {
        t * (d[1] + t * (d[2] / 2.0 + t * (d[3] / 6.0 + t * d[4] / 24.0))) + p5 * t.abs().powi(5) / 120.0
    };
    let mut best = (0.0, 0.0);
    for side in [1.0, -1.0] {
        // the derivative along t = side·u, u ≥ 0
        let quartic = [side * d[1], d[2], side * d[3] / 2.0, d[4] / 6.0, p5 / 24.0];
        for u in roots_from_zero(&quartic) {
            let value = model(side * u);
            if value < best.0 {
                best = (value, side * u);
            }
        }
    }
    best.1
}

/// The roots u ≥ 0 of c₀ + c₁u + ... at which the polynomial changes its sign: between the roots of
/// the derivative it is monotone, so bisection with Newton steps finds them all.
pub fn roots_from_zero(c: &[f64]) -> Vec<f64> {
    let Some(degree) = c.iter().rposition(|v| *v != 0.0).filter(|d| *d > 0) else { return Vec::new() };
    let lead = c[degree];
    // Cauchy's bound of all roots
    let largest = 1.0 + c[..degree].iter().fold(0.0f64, |m, v| m.max((v / lead).abs()));
    if !largest.is_finite() {
        return Vec::new();
    }
    let derivative: Vec<f64> = (1..=degree).map(|k| k as f64 * c[k]).collect();
    let mut cuts = vec![0.0];
    cuts.extend(roots_from_zero(&derivative).into_iter().filter(|u| *u < largest));
    cuts.push(largest);
    let at = |u: f64| c[..=degree].iter().rev().fold(0.0, |sum, v| sum * u + v);
    let slope = |u: f64| derivative.iter().rev().fold(0.0, |sum, v| sum * u + v);
    let mut roots: Vec<f64> = Vec::new();
    for pair in cuts.windows(2) {
        let (mut lo, mut hi) = (pair[0], pair[1]);
        let (left, right) = (at(lo), at(hi));
        if left == 0.0 && lo > 0.0 && roots.last() != Some(&lo) {
            roots.push(lo);
        }
        if left * right >= 0.0 {
            continue;
        }
        let mut u = 0.5 * (lo + hi);
        for _ in 0..200 {
            let v = at(u);
            if v * left > 0.0 {
                lo = u;
            } else {
                hi = u;
            }
            let newton = u - v / slope(u);
            let next = if newton > lo && newton < hi { newton } else { 0.5 * (lo + hi) };
            if (next - u).abs() <= 1e-16 * u.abs() {
                break;
            }
            u = next;
        }
        roots.push(u);
    }
    roots
}
