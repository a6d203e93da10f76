//! The pair search for h = λ‖·‖₁.

use super::PairModel;
use super::arc;
use super::circle::{Trig, hypot};
use super::fold::{Best, Curve, Lanes, Scratch, lane_move, noise};
use orthopt_linalg::plane::PairMove;
use orthopt_linalg::simd::{Simd, V, padded};

/// h = λ‖·‖₁ = λ Σ ρₖ(|cos(φₖ−θ)| + |sin(φₖ−θ)|): between breakpoints a sinusoid whose two
/// coefficients change by (−2v, 2u) at a breakpoint (docs/mathematics.md, section 2).
///
/// The breakpoints are ordered by counting, evaluated for eight polynomials, and every
/// interval is then dropped by a bound or solved, so that the answer is the global one.
/// Cost O(r²/8) comparisons and O(r) vector operations; no branch until an interval survives.
#[inline(always)]
pub fn search_l1<S: Simd>(
    simd: S,
    lambda: f64,
    m: &PairModel<'_>,
    scratch: &mut Scratch,
) -> Option<PairMove> {
    let circles = m.circles();
    let n = scratch.pack(simd, m.z1, m.z2).nonzero;
    scratch.fold(simd, n);
    sort(simd, scratch, n);
    let h0 = fill_curve(simd, lambda, scratch, n);
    let lanes = Lanes::new(&circles);
    let eps = noise(&circles, 2.0 * h0);
    let mut best = Best { value: circles[0].at_zero() + h0, found: None };
    offer_points(simd, &lanes, &scratch.sorted, n, eps, &mut best);
    solve_intervals(simd, &circles, &lanes, &scratch.sorted, n, eps, &mut best);
    best.found.filter(PairMove::is_direction)
}

/// Ranks by counting smaller keys (s − c grows with the angle), then places the columns:
/// n²/8 comparisons without a branch beat a comparison sort for n up to a few hundred.
#[inline(always)]
fn sort<S: Simd>(simd: S, scratch: &mut Scratch, n: usize) {
    let lanes = V::<S>::LANES;
    let Scratch { u, v, c, s, f: keys, sorted, .. } = scratch;
    let mut at = 0;
    while at < n {
        (V::load(simd, s, at) - V::load(simd, c, at)).store(keys, at);
        at += lanes;
    }
    let one = V::splat(simd, 1.0);
    let keys = &keys[..padded(n)];
    at = 0;
    while at < n {
        let own = V::load(simd, keys, at);
        let mut rank = V::splat(simd, 0.0);
        for key in &keys[..n] {
            rank = V::splat(simd, *key).less(own).select(rank + one, rank);
        }
        rank.store(&mut sorted.rank, at);
        at += lanes;
    }
    sorted.taken[..n].fill(0);
    for k in 0..n {
        // columns with equal keys have equal ranks: they take the places that follow
        let rank = sorted.rank[k] as usize;
        let place = 1 + rank + sorted.taken[rank] as usize;
        sorted.taken[rank] += 1;
        (sorted.u[place], sorted.v[place]) = (u[k], v[k]);
        (sorted.c[place], sorted.s[place]) = (c[k], s[k]);
    }
}

/// h and its coefficients at all points; returns h(0).
#[inline(always)]
fn fill_curve<S: Simd>(simd: S, lambda: f64, scratch: &mut Scratch, n: usize) -> f64 {
    let (mut sum_u, mut sum_v) = (V::splat(simd, 0.0), V::splat(simd, 0.0));
    let mut at = 0;
    while at < n {
        sum_u = sum_u + V::load(simd, &scratch.u, at);
        sum_v = sum_v + V::load(simd, &scratch.v, at);
        at += V::<S>::LANES;
    }
    let (sum_u, sum_v) = (sum_u.sum(), sum_v.sum());
    // ρ(|cos| + |sin|) = (u+v) cos θ + (v−u) sin θ before the column's own angle
    let (mut ha, mut hb) = (lambda * (sum_u + sum_v), lambda * (sum_v - sum_u));
    let h0 = ha;
    let twice = 2.0 * lambda;
    let Curve { u, v, c, s, h, ha: all_a, hb: all_b, .. } = &mut scratch.sorted;
    let end = n + 2;
    let (u, v) = (&u[..end], &v[..end]);
    let (all_a, all_b) = (&mut all_a[..end], &mut all_b[..end]);
    (c[0], s[0], all_a[0], all_b[0]) = (1.0, 0.0, ha, hb);
    for k in 1..=n {
        ha -= twice * v[k];
        hb += twice * u[k];
        (all_a[k], all_b[k]) = (ha, hb);
    }
    (c[n + 1], s[n + 1], all_a[n + 1], all_b[n + 1]) = (0.0, 1.0, ha, hb);
    // the curve is continuous: its value at a point may be taken from either side
    at = 0;
    while at < end {
        let (c, s) = (V::load(simd, c, at), V::load(simd, s, at));
        let (a, b) = (V::load_partial(simd, all_a, at), V::load_partial(simd, all_b, at));
        a.mul_add(c, b * s).store(h, at);
        at += V::<S>::LANES;
    }
    h0
}

/// Offers all points: the lowest of eight lanes each, a vector of points at a time.
#[inline(always)]
fn offer_points<S: Simd>(simd: S, lanes: &Lanes, curve: &Curve, n: usize, eps: f64, best: &mut Best) {
    let infinity = V::splat(simd, f64::INFINITY);
    let (mut lowest, mut place) = (infinity, infinity);
    let end = (n + 2) as f64;
    let mut index = V::load(simd, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 0);
    let step = V::splat(simd, V::<S>::LANES as f64);
    let mut at = 0;
    while at < n + 2 {
        let (c, s) = (V::load(simd, &curve.c, at), V::load(simd, &curve.s, at));
        let value = lanes.lowest(simd, c, s) + V::load(simd, &curve.h, at);
        let value = index.less(V::splat(simd, end)).select(value, infinity);
        let lower = value.less(lowest);
        lowest = lower.select(value, lowest);
        place = lower.select(index, place);
        index = index + step;
        at += V::<S>::LANES;
    }
    let value = lowest.lowest();
    if value < best.value - eps {
        let at_lowest = lowest.at_most(V::splat(simd, value)).select(place, infinity).lowest();
        let k = (at_lowest as usize).min(n + 1);
        let (c, s) = (curve.c[k], curve.s[k]);
        *best = Best { value, found: Some(lane_move(lanes.lowest_lane(c, s).0, c, s)) };
    }
}

/// Every interval between neighbouring points: for each lane a lower bound, and where that
/// does not exclude it, branch and bound.
///
/// On an interval h is concave, so it stays above its chord; p stays above its tangent at
/// either end minus n2·δ²/2, n2 ≥ |p″|. Both bounds are concave on their half of the interval,
/// hence smallest at the end (already known not to be below the best) or in the middle.
#[inline(always)]
fn solve_intervals<S: Simd>(
    simd: S,
    circles: &[Trig; 2],
    lanes: &Lanes,
    curve: &Curve,
    n: usize,
    eps: f64,
    best: &mut Best,
) {
    let bend = [half_bend(&circles[0]), half_bend(&circles[1])];
    let mut at = 0;
    while at < n + 1 {
        let (c, s, h) =
            (V::load(simd, &curve.c, at), V::load(simd, &curve.s, at), V::load(simd, &curve.h, at));
        let (c1, s1, h1) = (
            V::load(simd, &curve.c, at + 1),
            V::load(simd, &curve.s, at + 1),
            V::load(simd, &curve.h, at + 1),
        );
        let (sin, cos) = ((c * s1 - s * c1).max(V::splat(simd, 0.0)), c.mul_add(c1, s * s1));
        let t = sin / (V::splat(simd, 1.0) + cos); // tan(Δ/2) ≥ Δ/2 ≥ sin(Δ)/2
        let (half_sin, rise) = (sin * V::splat(simd, 0.5), (h1 - h) * V::splat(simd, 0.5));
        for b in 0..2 {
            let sag = V::splat(simd, bend[b]) * (t * t);
            let [x, w, y, z] = lanes.parts(simd, b, c, s);
            let [x1, w1, y1, z1] = lanes.parts(simd, b, c1, s1);
            let (left, right) = (h + rise - sag, h1 - rise - sag);
            // value + the lower end of slope·[sin(Δ)/2, tan(Δ/2)], for the four lanes
            let bounds = [
                (x + y + left + least(t, half_sin, w + z))
                    .min(x1 + y1 + right + least(t, half_sin, -(w1 + z1))),
                (w - y + left + least(t, half_sin, -(x + z)))
                    .min(w1 - y1 + right + least(t, half_sin, x1 + z1)),
                (y - x + left + least(t, half_sin, z - w)).min(y1 - x1 + right + least(t, half_sin, w1 - z1)),
                (left - w - y + least(t, half_sin, x - z)).min(right - w1 - y1 + least(t, half_sin, z1 - x1)),
            ];
            let limit = best.value - eps;
            let lowest = bounds[0].min(bounds[1]).min(bounds[2].min(bounds[3])).lowest();
            if lowest >= limit {
                continue;
            }
            for q in 0..4 {
                let mut bits = bounds[q].less(V::splat(simd, best.value - eps)).bits();
                while bits != 0 {
                    let l = bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    if at + l < n + 1 {
                        let mut tan = [0.0; 8];
                        t.store(&mut tan, 0);
                        solve_interval(lanes, 4 * b + q, curve, at + l, tan[l], eps, best);
                    }
                }
            }
        }
        at += V::<S>::LANES;
    }
}

/// The lower end of slope·[sin(Δ)/2, tan(Δ/2)].
#[inline(always)]
fn least<S: Simd>(t: V<S>, half_sin: V<S>, slope: V<S>) -> V<S> {
    (slope * t).min(slope * half_sin)
}

/// Half of a bound on |p″|.
#[inline(always)]
fn half_bend(p: &Trig) -> f64 {
    0.5 * (hypot(p.a, p.b) + 4.0 * hypot(p.a2, p.b2))
}

#[inline(always)]
fn solve_interval(lanes: &Lanes, lane: usize, curve: &Curve, k: usize, t: f64, eps: f64, best: &mut Best) {
    let (pc, ps) = (curve.c[k], curve.s[k]);
    let mut p = lanes.lane(lane);
    p.a += curve.ha[k];
    p.b += curve.hb[k];
    if let Some(found) = arc::minimise(&p.shifted(pc, ps), t, best.value, eps) {
        let (c, s) = (pc * found.c - ps * found.s, ps * found.c + pc * found.s);
        *best = Best { value: found.value, found: Some(lane_move(lane, c, s)) };
    }
}
