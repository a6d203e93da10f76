//! Global minimum of a trigonometric polynomial of degree 2 on an arc, by branch and bound.
//!
//! An arc is dropped by a bound, split, or solved where it is convex; never discarded by the
//! signs of its end slopes alone, because two minima can hide between two ends.

use super::circle::{Trig, hypot};

/// A minimum inside an arc: direction relative to the start of the arc, and value.
#[derive(Clone, Copy, Debug)]
pub struct ArcMin {
    /// cos δ, δ measured from the start of the arc.
    pub c: f64,
    /// sin δ.
    pub s: f64,
    /// Value of the polynomial there.
    pub value: f64,
}

/// Arcs narrower than this hold no minimum that differs from their ends' values by more than
/// rounding (value differences are second order in the width).
const MAX_DEPTH: u32 = 48;

/// The lowest interior point of `p` on 0 ≤ δ ≤ Δ, tan(Δ/2) = `t`, Δ ≤ π/2, that lies more than
/// `eps` below `upper`, or `None` when there is none. The caller treats the two ends.
///
/// Cost: a bound of some 20 flops where it suffices, else a few splits and Newton steps.
#[inline(always)]
pub fn minimise(p: &Trig, t: f64, upper: f64, eps: f64) -> Option<ArcMin> {
    let bounds = Bounds {
        n2: hypot(p.a, p.b) + 4.0 * hypot(p.a2, p.b2),
        n3: hypot(p.a, p.b) + 8.0 * hypot(p.a2, p.b2),
    };
    if bounds.excludes(p, t, upper - eps) {
        return None;
    }
    // also where squares have overflowed, or a coefficient is not a number
    if bounds.n3 > LARGE || bounds.n3.is_nan() {
        return scaled_down(p, t, upper, eps);
    }
    solve(p, t, upper, eps, bounds)
}

/// Above this squares of coefficients come near to overflow, which invalidates the bounds:
/// without them the search would visit all 2⁴⁸ pieces.
const LARGE: f64 = 1e140;

/// [`minimise`] with the coefficients divided by the largest of them; also `None` if one of them is not finite.
#[cold]
#[inline(never)]
fn scaled_down(p: &Trig, t: f64, upper: f64, eps: f64) -> Option<ArcMin> {
    let most = p.a.abs().max(p.b.abs()).max(p.a2.abs()).max(p.b2.abs());
    let finite = [p.a, p.b, p.a2, p.b2, upper, eps].iter().all(|x| x.is_finite());
    if !finite || most <= 1.0 {
        return None;
    }
    let q = Trig { a: p.a / most, b: p.b / most, a2: p.a2 / most, b2: p.b2 / most };
    let found = minimise(&q, t, upper / most, eps / most)?;
    Some(ArcMin { value: found.value * most, ..found })
}

#[derive(Clone, Copy)]
struct Bounds {
    n2: f64, // |p″| ≤ n2
    n3: f64, // |p‴| ≤ n3
}

impl Bounds {
    /// True if p ≥ `limit` on the whole arc follows from values and slopes at its two ends:
    /// from either end p ≥ p_end + slope·δ − n2 δ²/2, a concave bound, so on each half of the
    /// arc it is smallest at the end or in the middle.
    #[inline(always)]
    fn excludes(&self, p: &Trig, t: f64, limit: f64) -> bool {
        let (c, s) = half_tan(t);
        let end = p.shifted(c, s);
        // half the width: t = tan(Δ/2) bounds it from above, sin(Δ/2) from below; a slope is
        // multiplied by the one that lowers the bound
        let lo = 0.5 * s;
        let sag = 0.5 * self.n2 * t * t;
        let left = slope_at_zero(p);
        let right = -slope_at_zero(&end);
        let mid_left = p.at_zero() + (left * t).min(left * lo) - sag;
        let mid_right = end.at_zero() + (right * t).min(right * lo) - sag;
        let ends = p.at_zero().min(end.at_zero());
        ends.min(mid_left).min(mid_right) >= limit
    }
}

#[inline(never)]
fn solve(p: &Trig, t: f64, upper: f64, eps: f64, bounds: Bounds) -> Option<ArcMin> {
    let mut best = None;
    let mut limit = upper - eps;
    // Depth-first over sub-arcs: (start direction, tan of half the width, depth).
    let mut stack = [((1.0, 0.0), 0.0, 0u32); MAX_DEPTH as usize + 2];
    stack[0] = ((1.0, 0.0), t, 0);
    let mut len = 1;
    while len > 0 {
        len -= 1;
        let (start, t, depth) = stack[len];
        let q = p.shifted(start.0, start.1);
        if bounds.excludes(&q, t, limit) {
            continue;
        }
        let (c, s) = half_tan(t);
        let width = 2.0 * t; // an upper bound of Δ
        let bend = -q.a - 4.0 * q.a2;
        if bend + bounds.n3 * width <= 0.0 {
            continue; // concave: no interior minimum
        }
        let convex = bend - bounds.n3 * width >= 0.0;
        if convex || depth >= MAX_DEPTH {
            if let Some(found) = convex_minimum(&q, t, c, s)
                && found.value < limit
            {
                limit = found.value;
                best = Some(compose(start, found));
            }
            continue;
        }
        let half = t / (1.0 + (1.0 + t * t).sqrt()); // tan(Δ/4)
        let (hc, hs) = half_tan(half);
        let mid = (start.0 * hc - start.1 * hs, start.1 * hc + start.0 * hs);
        // an end of a sub-arc is an interior point of the arc: it may be the minimum itself
        let value = q.value(hc, hs);
        if value < limit {
            limit = value;
            best = Some(ArcMin { c: mid.0, s: mid.1, value });
        }
        stack[len] = (mid, half, depth + 1);
        stack[len + 1] = (start, half, depth + 1);
        len += 2;
    }
    best
}

/// Minimum of a convex piece by Newton's method kept inside a shrinking bracket, in the
/// variable τ = tan(δ/2) ∈ [0, t], so that no trigonometric function is called.
#[inline(always)]
fn convex_minimum(q: &Trig, t: f64, c_end: f64, s_end: f64) -> Option<ArcMin> {
    let (d0, d1) = (slope_at_zero(q), q.slope(c_end, s_end));
    if d0 >= 0.0 || d1 <= 0.0 {
        return None; // the minimum is at an end
    }
    let (mut lo, mut hi) = (0.0, t);
    let mut tau = t * d0 / (d0 - d1); // secant guess between the two end slopes
    let mut dir = half_tan(tau);
    for _ in 0..60 {
        let (d, dd) = (q.slope(dir.0, dir.1), q.bend(dir.0, dir.1));
        if d > 0.0 {
            hi = tau;
        } else {
            lo = tau;
        }
        // δ ← δ − d/dd; tan of half of that, up to the third order in the step
        let step = -0.5 * d / dd;
        let mut next = (tau + step) / (1.0 - tau * step);
        if !(dd > 0.0 && next > lo && next < hi) {
            next = 0.5 * (lo + hi);
        }
        let moved = (next - tau).abs();
        tau = next;
        dir = half_tan(tau);
        // the value is second order in what is left
        if moved <= 1e-9 * t {
            break;
        }
    }
    Some(ArcMin { c: dir.0, s: dir.1, value: q.value(dir.0, dir.1) })
}

#[inline(always)]
fn compose(start: (f64, f64), m: ArcMin) -> ArcMin {
    ArcMin { c: start.0 * m.c - start.1 * m.s, s: start.1 * m.c + start.0 * m.s, value: m.value }
}

#[inline(always)]
fn slope_at_zero(p: &Trig) -> f64 {
    p.b + 2.0 * p.b2
}

/// (cos δ, sin δ) from tan(δ/2).
#[inline(always)]
pub fn half_tan(t: f64) -> (f64, f64) {
    let q = 1.0 / (1.0 + t * t);
    ((1.0 - t * t) * q, 2.0 * t * q)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A common factor changes nothing but the value, also where squares overflow; and it ends.
    #[test]
    fn scale_does_not_matter() {
        let p = Trig { a: -0.76, b: -0.64, a2: 0.05, b2: 0.02 };
        let (upper, t) = (p.at_zero().min(p.value(0.0, 1.0)), 1.0);
        let plain = minimise(&p, t, upper, 0.0).unwrap();
        for scale in [1e100, 1e150, 1e200, 1e300] {
            let q = Trig { a: scale * p.a, b: scale * p.b, a2: scale * p.a2, b2: scale * p.b2 };
            let large = minimise(&q, t, scale * upper, 0.0).unwrap();
            assert!((large.c - plain.c).abs() < 1e-8 && (large.s - plain.s).abs() < 1e-8, "{scale:e}");
            assert!((large.value / scale - plain.value).abs() < 1e-12, "{scale:e}");
        }
        for broken in [f64::NAN, f64::INFINITY] {
            assert!(minimise(&Trig { a: broken, ..p }, t, upper, 0.0).is_none());
        }
    }
}
