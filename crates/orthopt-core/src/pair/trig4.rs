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

/// Arcs that the circle is cut into to begin with, with middles at multiples of π/8: eight and more
/// than there are minima, and θ = 0 is a middle.
const ARCS: usize = 16;
/// cos(kπ/8).
const COSINES: [f64; ARCS] = {
    let (a, b, c) = (0.923_879_532_511_286_7, std::f64::consts::FRAC_1_SQRT_2, 0.382_683_432_365_089_8);
    [1.0, a, b, c, 0.0, -c, -b, -a, -1.0, -a, -b, -c, 0.0, c, b, a]
};
/// Halvings of an arc at most: its width is then below rounding.
const DEPTH: u32 = 40;

/// Angles at which values and slopes determine p.
pub const NODES: usize = 5;

impl Trig4 {
    /// Angle number k of [`NODES`], from 0.
    #[doc(hidden)]
    pub fn node(k: usize) -> f64 {
        TAU * k as f64 / NODES as f64
    }

    /// The p with these values and slopes at the five angles 2πk/5; of their ten numbers a p of degree 4 has the sum of the
    /// slopes zero, and of another function that sum is left out.
    ///
    /// At five angles the frequencies m and m − 5 are one, with the sum of their coefficients in the values and the
    /// sum weighted by frequency in the slopes: two equations for two numbers.
    #[doc(hidden)]
    pub fn through(values: &[f64; NODES], slopes: &[f64; NODES]) -> Self {
        let n = NODES as f64;
        let mut out = Self { c0: values.iter().sum::<f64>() / n, ..Self::default() };
        for m in 1..=2 {
            // the complex coefficients of frequency m: of the values, and of the slopes divided by i
            let (mut value, mut slope) = ([0.0; 2], [0.0; 2]);
            for k in 0..NODES {
                let (s, c) = Self::node(m * k % NODES).sin_cos();
                value = [value[0] + values[k] * c / n, value[1] - values[k] * s / n];
                slope = [slope[0] - slopes[k] * s / n, slope[1] - slopes[k] * c / n];
            }
            let (low, high) = (m as f64, n - m as f64);
            let [re, im] = [0, 1].map(|part| (slope[part] + high * value[part]) / n);
            (out.a[m - 1], out.b[m - 1]) = (2.0 * re, -2.0 * im);
            let [re, im] = [0, 1].map(|part| (low * value[part] - slope[part]) / n);
            (out.a[NODES - m - 1], out.b[NODES - m - 1]) = (2.0 * re, 2.0 * im);
        }
        out
    }

    /// The derivatives p⁽⁰⁾(θ), ..., p⁽⁴⁾(θ).
    pub fn derivatives(&self, theta: f64) -> [f64; 5] {
        let (s, c) = theta.sin_cos();
        let mut angles = [(c, s); 4]; // cos mθ, sin mθ
        for m in 1..4 {
            let (cm, sm) = angles[m - 1];
            angles[m] = (cm * c - sm * s, sm * c + cm * s);
        }
        self.derivatives_at(&angles)
    }

    /// The derivatives p⁽⁰⁾(θ), ..., p⁽⁴⁾(θ) at θ = kπ/8, from a table of cosines.
    fn derivatives_on_grid(&self, k: usize) -> [f64; 5] {
        let angle = |m: usize| (COSINES[m * k % ARCS], COSINES[(m * k + 12) % ARCS]);
        self.derivatives_at(&[angle(1), angle(2), angle(3), angle(4)])
    }

    fn derivatives_at(&self, angles: &[(f64, f64); 4]) -> [f64; 5] {
        let mut out = [self.c0, 0.0, 0.0, 0.0, 0.0];
        for (m, (cm, sm)) in angles.iter().enumerate() {
            let f = (m + 1) as f64;
            let (even, odd) = (self.a[m] * cm + self.b[m] * sm, self.b[m] * cm - self.a[m] * sm);
            out[0] += even;
            out[1] += f * odd;
            out[2] -= f * f * even;
            out[3] -= f * f * f * odd;
            out[4] += f * f * f * f * even;
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

    /// The angle in [−π, π] of the global minimum, by branch and bound. With c the middle of an arc, w
    /// half its width and M₃ ≥ |p‴| the arc is
    /// * dropped where p ≥ p(c) − |p′(c)|w + min(p″(c), 0)w²/2 − M₃w³/6 keeps it above the lowest
    ///   value so far, where p′ has no zero in it, and where p is concave;
    /// * solved by Newton's method where p is convex;
    /// * halved otherwise.
    ///
    /// θ = 0 is tried first and stays unless something is lower by more than rounding; so are bounds
    /// compared, or a constant p would be cut up for ever.
    pub fn minimiser(&self) -> f64 {
        let m3 = self.bound(3);
        let rounding = 4.0 * f64::EPSILON * (self.c0.abs() + self.bound(0));
        let grid: [[f64; 5]; ARCS] = std::array::from_fn(|k| self.derivatives_on_grid(k));
        let mut best = Lowest { value: grid[0][0], theta: 0.0, rounding };
        // all middles first: a low value discards most arcs
        let mut arcs = [Arc::default(); ARCS + DEPTH as usize + 1];
        for (k, (arc, d)) in arcs.iter_mut().zip(&grid).enumerate() {
            let turn = if k > ARCS / 2 { k as f64 - ARCS as f64 } else { k as f64 };
            *arc = Arc {
                middle: TAU * turn / ARCS as f64,
                half: PI / ARCS as f64,
                depth: 0,
                d: [d[0], d[1], d[2]],
            };
            best.offer(arc.middle, d[0]);
        }
        let mut open = ARCS;
        while open > 0 {
            open -= 1;
            let arc = arcs[open];
            let (w, [p, d1, d2]) = (arc.half, arc.d);
            let bend = m3 * w; // p″ changes by no more
            if p - d1.abs() * w + 0.5 * d2.min(0.0) * w * w - bend * w * w / 6.0 >= best.value - rounding
                || d1.abs() > (d2.abs() + 0.5 * bend) * w
                || d2 + bend < 0.0
            {
                continue;
            }
            if d2 - bend >= 0.0 || arc.depth >= DEPTH {
                if let Some(theta) = self.newton(&arc) {
                    best.offer(theta, self.value(theta));
                }
                continue;
            }
            for side in [-0.5, 0.5] {
                let middle = arc.middle + side * w;
                let [p, d1, d2, ..] = self.derivatives(middle);
                best.offer(middle, p);
                arcs[open] = Arc { middle, half: 0.5 * w, depth: arc.depth + 1, d: [p, d1, d2] };
                open += 1;
            }
        }
        best.theta
    }

    /// The minimum inside an arc where p is convex, if there is one: Newton's method inside a
    /// shrinking bracket.
    fn newton(&self, arc: &Arc) -> Option<f64> {
        let [_, mut d1, mut d2] = arc.d;
        let mut theta = arc.middle;
        // the end towards which p falls: without a change of sign another arc has the minimum
        let end = theta - arc.half.copysign(d1);
        if self.derivatives(end)[1] * d1 > 0.0 {
            return None;
        }
        let (mut lo, mut hi) = if d1 > 0.0 { (end, theta) } else { (theta, end) };
        for _ in 0..60 {
            let newton = theta - d1 / d2;
            let good = d2 > 0.0 && newton >= lo && newton <= hi;
            let next = if good { newton } else { 0.5 * (lo + hi) };
            let step = (next - theta).abs();
            theta = next;
            // the error of a Newton step is of the order of its square
            if step <= if good { 1e-9 } else { 1e-15 } {
                break;
            }
            [_, d1, d2, ..] = self.derivatives(theta);
            if d1 > 0.0 {
                hi = theta;
            } else {
                lo = theta;
            }
        }
        Some(theta)
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
    half: f64,   // half its width
    depth: u32,  // how often it has been halved
    d: [f64; 3], // p, p′ and p″ in the middle
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
pub fn majorant_step(d: &[f64; 5], p5: f64) -> f64 {
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
            let step = (next - u).abs();
            u = next;
            if step <= 4.0 * f64::EPSILON * u.abs() {
                break;
            }
        }
        roots.push(u);
    }
    roots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_values_and_slopes_give_the_polynomial_back() {
        let p = Trig4 { c0: 0.3, a: [1.0, -2.0, 0.5, 0.25], b: [-0.7, 0.2, 3.0, -1.5] };
        let at = |k| p.derivatives(Trig4::node(k));
        let found = Trig4::through(&std::array::from_fn(|k| at(k)[0]), &std::array::from_fn(|k| at(k)[1]));
        let all = |p: &Trig4| [[p.c0, 0.0, 0.0, 0.0], p.a, p.b].concat();
        for (right, found) in all(&p).iter().zip(all(&found)) {
            assert!((right - found).abs() <= 1e-14, "{p:?} {found:?}");
        }
    }
}
