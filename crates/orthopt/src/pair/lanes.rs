//! Penalties that ignore signs: one penalty curve, eight smooth polynomials.
//!
//! Such an h is unchanged when the two rows of V Z are negated or swapped, and O(2) is the
//! eight signed 2×2 permutations times {rot(θ): 0 ≤ θ < π/2}. So h(θ) and its breakpoints on
//! [0, π/2) are found once and serve eight smooth polynomials that differ in signs and order of
//! (a, b, a2, b2) only: eight f64 lanes (math note, section 2). No angle is ever computed:
//! a column of Z is folded into the first quadrant, (u, v) with u, v ≥ 0, and sorted by
//! v/(u+v), which grows with its angle.

use super::arc;
use super::circle::{Trig, hypot};
use super::{Branch, PairModel, PairMove, SNAP};
use crate::linalg::f8::F8;

/// A column of Z folded into the first quadrant.
#[derive(Clone, Copy, Debug, Default)]
struct Column {
    key: f64, // v/(u+v), increasing in the angle
    u: f64,
    v: f64,
}

/// A point on the quarter circle with what is known there.
#[derive(Clone, Copy, Debug)]
struct Point {
    c: f64,
    s: f64,
    h: f64,
    // h(θ) = ha cos θ + hb sin θ from here to the next point
    ha: f64,
    hb: f64,
}

/// Work space of the pair searches, grown once and reused: a search allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    columns: Vec<Column>,
    points: Vec<Point>,
    values: Vec<F8>,
    slopes: Vec<F8>,
}

impl Scratch {
    /// Work space for rows of length `r`.
    pub fn new(r: usize) -> Self {
        Self {
            columns: Vec::with_capacity(r),
            points: Vec::with_capacity(r + 2),
            values: Vec::with_capacity(r + 2),
            slopes: Vec::with_capacity(r + 2),
        }
    }

    /// Folds the nonzero columns of Z; returns how many there are.
    #[inline(always)]
    fn fold(&mut self, z1: &[f64], z2: &[f64]) -> usize {
        self.columns.clear();
        for (&x, &y) in z1.iter().zip(z2) {
            let (ax, ay) = (x.abs(), y.abs());
            let sum = ax + ay;
            if sum == 0.0 {
                continue;
            }
            // Same signs: angle in the first quadrant. Opposite signs: a quarter turn later.
            let (mut u, mut v) = if (x >= 0.0) == (y >= 0.0) { (ax, ay) } else { (ay, ax) };
            if u <= SNAP * v {
                (u, v) = (v, 0.0); // angle π/2 is angle 0 of the next quarter
            } else if v <= SNAP * u {
                v = 0.0;
            }
            self.columns.push(Column { key: v / sum, u, v });
        }
        self.columns.len()
    }

    #[inline(always)]
    fn sort(&mut self) {
        let cols = &mut self.columns[..];
        if cols.len() > 32 {
            cols.sort_unstable_by(|a, b| a.key.total_cmp(&b.key));
            return;
        }
        for i in 1..cols.len() {
            let x = cols[i];
            let mut j = i;
            while j > 0 && cols[j - 1].key > x.key {
                cols[j] = cols[j - 1];
                j -= 1;
            }
            cols[j] = x;
        }
    }
}

/// Eight smooth polynomials: lanes 0–3 are rot(θ + mπ/2), lanes 4–7 diag(−1, 1)·rot(θ + mπ/2).
#[derive(Clone, Copy)]
struct Lanes {
    a: F8,
    b: F8,
    a2: F8,
    b2: F8,
}

impl Lanes {
    #[inline(always)]
    fn new(rot: &Trig, refl: &Trig) -> Self {
        // diag(−1, 1)·rot(θ) = ref(−θ)
        let (ra, rb, r2a, r2b) = (refl.a, -refl.b, refl.a2, -refl.b2);
        let (a, b, a2, b2) = (rot.a, rot.b, rot.a2, rot.b2);
        Self {
            a: F8([a, b, -a, -b, ra, rb, -ra, -rb]),
            b: F8([b, -a, -b, a, rb, -ra, -rb, ra]),
            a2: F8([a2, -a2, a2, -a2, r2a, -r2a, r2a, -r2a]),
            b2: F8([b2, -b2, b2, -b2, r2b, -r2b, r2b, -r2b]),
        }
    }

    /// Values and slopes of the eight polynomials at the direction (c, s).
    #[inline(always)]
    fn value_and_slope(&self, c: f64, s: f64) -> (F8, F8) {
        let (c1, s1) = (F8::splat(c), F8::splat(s));
        let (c2, s2) = (F8::splat((c - s) * (c + s)), F8::splat(2.0 * s * c));
        let value = self.a.mul_add(c1, self.b.mul_add(s1, self.a2.mul_add(c2, self.b2 * s2)));
        let second = self.b2.mul_add(c2, -(self.a2 * s2));
        let slope = second.mul_add(F8::splat(2.0), self.b.mul_add(c1, -(self.a * s1)));
        (value, slope)
    }

    #[inline(always)]
    fn value(&self, c: f64, s: f64) -> F8 {
        let (c2, s2) = (F8::splat((c - s) * (c + s)), F8::splat(2.0 * s * c));
        self.a.mul_add(F8::splat(c), self.b.mul_add(F8::splat(s), self.a2.mul_add(c2, self.b2 * s2)))
    }

    /// Lane `l` as a polynomial.
    #[inline(always)]
    fn lane(&self, l: usize) -> Trig {
        Trig { a: self.a.0[l], b: self.b.0[l], a2: self.a2.0[l], b2: self.b2.0[l] }
    }
}

/// The element of O(2) that lane `l` stands for at the direction (c, s).
#[inline(always)]
fn lane_move(l: usize, c: f64, s: f64) -> PairMove {
    let (c, s) = match l & 3 {
        0 => (c, s),
        1 => (-s, c),
        2 => (-c, -s),
        _ => (s, -c),
    };
    if l < 4 { PairMove::new(Branch::Rotation, c, s) } else { PairMove::new(Branch::Reflection, c, -s) }
}

/// Best candidate so far; a lane and a direction, or a move of its own.
struct Best {
    value: f64,
    found: Option<PairMove>,
}

impl Best {
    /// Takes the lowest lane of `values` if it is lower by more than `eps`.
    #[inline(always)]
    fn offer(&mut self, values: F8, c: f64, s: f64, eps: f64) {
        let limit = self.value - eps;
        if values.min_lane() < limit {
            let mut lane = 0;
            for l in 1..8 {
                if values.0[l] < values.0[lane] {
                    lane = l;
                }
            }
            self.value = values.0[lane];
            self.found = Some(lane_move(lane, c, s));
        }
    }
}

/// Differences below this are rounding: a few units in the last place of the largest terms.
#[inline(always)]
fn noise(rot: &Trig, refl: &Trig, h: f64) -> f64 {
    8.0 * f64::EPSILON * (rot.scale().max(refl.scale()) + h)
}

/// Global minimum without a penalty, or with one that is the constant `h` almost everywhere
/// and never above `h_identity`-independent: offers the minimisers of the two circles.
#[inline(always)]
fn offer_smooth(best: &mut Best, circles: &[Trig; 2], h: f64, eps: f64) {
    for (branch, p) in [Branch::Rotation, Branch::Reflection].into_iter().zip(circles) {
        if p.lower_bound() + h < best.value - eps {
            let (c, s) = p.minimiser();
            let value = p.value(c, s) + h;
            if value < best.value - eps {
                *best = Best { value, found: Some(PairMove::new(branch, c, s)) };
            }
        }
    }
}

/// h = 0: the lower of the two circles' global minima. `None` when that is the identity, up to
/// rounding. Cost O(1) after the 2×2 products.
#[inline(always)]
pub fn search_none(m: &PairModel<'_>) -> Option<PairMove> {
    let circles = m.circles();
    let mut best = Best { value: circles[0].at_zero(), found: None };
    offer_smooth(&mut best, &circles, 0.0, noise(&circles[0], &circles[1], 0.0));
    best.found
}

/// h = λ‖·‖₀. Off the breakpoints h is the constant 2λ·#{nonzero columns}; at the angle of a
/// group of m columns it is λm lower (math note 2.1). Cost O(r log r), often O(r): when the
/// lower bounds of the two circles exclude all of that, nothing is sorted.
#[inline(always)]
pub fn search_l0(lambda: f64, m: &PairModel<'_>, scratch: &mut Scratch) -> Option<PairMove> {
    let n = scratch.fold(m.z1, m.z2);
    let circles = m.circles();
    let zeros = scratch.columns.iter().filter(|c| c.v == 0.0).count();
    let full = 2.0 * lambda * n as f64;
    let value = circles[0].at_zero() + (full - lambda * zeros as f64);
    let eps = noise(&circles[0], &circles[1], full);
    let mut best = Best { value, found: None };
    let floor = circles[0].lower_bound().min(circles[1].lower_bound());
    if floor + full - lambda * n as f64 >= value - eps {
        return None;
    }
    offer_smooth(&mut best, &circles, full, eps);
    scratch.sort();
    let lanes = Lanes::new(&circles[0], &circles[1]);
    let mut k = 0;
    while k < n {
        let first = scratch.columns[k];
        let rho = hypot(first.u, first.v);
        let (c, s) = (first.u / rho, first.v / rho);
        let start = k;
        k += 1;
        while k < n {
            let col = scratch.columns[k];
            if c * col.v - s * col.u > SNAP * (col.u + col.v) {
                break;
            }
            k += 1;
        }
        let h = full - lambda * (k - start) as f64;
        if floor + h < best.value - eps {
            best.offer(lanes.value(c, s) + F8::splat(h), c, s, eps);
        }
    }
    best.found
}

/// h = λ‖·‖₁ = λ Σ ρₖ(|cos(φₖ−θ)| + |sin(φₖ−θ)|): between breakpoints a sinusoid whose two
/// coefficients change by (−2v, 2u) at a breakpoint (math note 2.2). All breakpoints are
/// evaluated eight lanes at a time; an interval is then dropped by a bound or solved.
/// Cost O(r log r).
#[inline(always)]
pub fn search_l1(lambda: f64, m: &PairModel<'_>, scratch: &mut Scratch) -> Option<PairMove> {
    let n = scratch.fold(m.z1, m.z2);
    scratch.sort();
    let circles = m.circles();
    let lanes = Lanes::new(&circles[0], &circles[1]);
    fill_l1_curve(lambda, scratch);
    let h0 = scratch.points[0].h;
    let eps = noise(&circles[0], &circles[1], 2.0 * h0);
    let mut best = Best { value: circles[0].at_zero() + h0, found: None };
    scratch.values.clear();
    scratch.slopes.clear();
    for p in &scratch.points {
        let (value, slope) = lanes.value_and_slope(p.c, p.s);
        let value = value + F8::splat(p.h);
        best.offer(value, p.c, p.s, eps);
        scratch.values.push(value);
        scratch.slopes.push(slope);
    }
    // |p″| ≤ ‖(a, b)‖ + 4‖(a2, b2)‖, the same for the four lanes of a branch
    let bend = circles.map(|p| hypot(p.a, p.b) + 4.0 * hypot(p.a2, p.b2));
    let bend = F8([bend[0], bend[0], bend[0], bend[0], bend[1], bend[1], bend[1], bend[1]]);
    for i in 0..=n {
        let (p, q) = (scratch.points[i], scratch.points[i + 1]);
        let (sin, cos) = (p.c * q.s - p.s * q.c, p.c * q.c + p.s * q.s);
        let t = sin / (1.0 + cos);
        let mut survivors = survivors(scratch, &bend, i, t, sin, best.value - eps);
        while survivors != 0 {
            let l = survivors.trailing_zeros() as usize;
            survivors &= survivors - 1;
            let mut curve = lanes.lane(l);
            curve.a += p.ha;
            curve.b += p.hb;
            let local = curve.shifted(p.c, p.s);
            if let Some(found) = arc::minimise(&local, t, best.value, eps) {
                let (c, s) = (p.c * found.c - p.s * found.s, p.s * found.c + p.c * found.s);
                best = Best { value: found.value, found: Some(lane_move(l, c, s)) };
            }
        }
    }
    best.found
}

/// The lanes whose minimum on interval `i` may lie below `limit`.
///
/// h is concave there, so it stays above its chord; p stays above its tangent at either end
/// minus bend·δ²/2. Both bounds are concave on their half of the interval, hence smallest at
/// the end (already known not to be below the best) or in the middle.
#[inline(always)]
fn survivors(scratch: &Scratch, bend: &F8, i: usize, t: f64, sin: f64, limit: f64) -> u32 {
    let half_rise = 0.5 * (scratch.points[i + 1].h - scratch.points[i].h);
    let (hi, lo) = (F8::splat(t), F8::splat(0.5 * sin)); // lo ≤ Δ/2 ≤ hi
    let sag = *bend * F8::splat(0.5 * t * t);
    let (left, right) = (scratch.slopes[i], -scratch.slopes[i + 1]);
    let rise = F8::splat(half_rise);
    let mid_left = scratch.values[i] + rise + (left * hi).min(left * lo) - sag;
    let mid_right = scratch.values[i + 1] - rise + (right * hi).min(right * lo) - sag;
    mid_left.min(mid_right).below(F8::splat(limit))
}

/// Points θ = 0, the sorted breakpoints, θ = π/2, with h and its two coefficients.
#[inline(always)]
fn fill_l1_curve(lambda: f64, scratch: &mut Scratch) {
    let Scratch { columns, points, .. } = scratch;
    points.clear();
    // ρ(|cos| + |sin|) = (u+v) cos θ + (v−u) sin θ before the column's own angle
    let (mut ha, mut hb) = (0.0, 0.0);
    for col in columns.iter() {
        ha += lambda * (col.u + col.v);
        hb += lambda * (col.v - col.u);
    }
    let h0 = ha;
    points.push(Point { c: 1.0, s: 0.0, h: h0, ha, hb });
    for col in columns.iter() {
        let scale = 1.0 / hypot(col.u, col.v);
        let (c, s) = (col.u * scale, col.v * scale);
        let h = ha * c + hb * s;
        ha -= 2.0 * lambda * col.v;
        hb += 2.0 * lambda * col.u;
        points.push(Point { c, s, h, ha, hb });
    }
    // after a quarter turn the curve repeats
    points.push(Point { c: 0.0, s: 1.0, h: h0, ha, hb });
}
