//! The pair searches for h = 0 and h = λ‖·‖₀.

use super::PairModel;
use super::fold::{Best, Lanes, Scratch, lane_move, noise, offer_smooth};
use orthopt_linalg::plane::{PairMove, SNAP};
use orthopt_linalg::simd::{Simd, V};

/// h = 0: the lower of the two circles' global minima. `None` when that is the identity, up to
/// rounding. Cost O(1) after the 2×2 products.
#[inline(always)]
pub fn search_none(m: &PairModel<'_>) -> Option<PairMove> {
    let circles = m.circles();
    let mut best = Best { value: circles[0].at_zero(), found: None };
    offer_smooth(&mut best, &circles, 0.0, noise(&circles, 0.0));
    best.found
}

/// h = λ‖·‖₀. Off the breakpoints h is the constant 2λ·#{nonzero columns}; at the angle of a
/// group of m columns it is λm lower (docs/mathematics.md, section 2).
///
/// Columns with one nonzero entry all vanish together at θ = 0. The others are evaluated a
/// vector at a time; only those that could win if all of them vanished together are counted
/// against each other, so nothing is sorted. Cost O(r) as a rule, O(r²/8) at worst.
#[inline(always)]
pub fn search_l0<S: Simd>(
    simd: S,
    lambda: f64,
    m: &PairModel<'_>,
    scratch: &mut Scratch,
) -> Option<PairMove> {
    let circles = m.circles();
    let count = scratch.pack(simd, m.z1, m.z2);
    let n = count.nonzero;
    let full = 2.0 * lambda * n as f64;
    let eps = noise(&circles, full);
    let mut best = Best { value: circles[0].at_zero() + full - lambda * count.single as f64, found: None };
    let floor = circles[0].lower_bound().min(circles[1].lower_bound());
    if floor + full - lambda * n as f64 >= best.value - eps {
        return None;
    }
    let lanes = Lanes::new(&circles);
    scratch.fold(simd, n);
    let on_axis = count_on_axis(simd, scratch, n);
    if on_axis > 0 {
        let (lane, p) = lanes.lowest_lane(1.0, 0.0);
        let value = p + full - lambda * on_axis as f64;
        if value < best.value - eps {
            best = Best { value, found: Some(lane_move(lane, 1.0, 0.0)) };
        }
    }
    let generic = n - on_axis;
    if generic > 0 && floor + full - lambda * (generic as f64) < best.value - eps {
        offer_generic(simd, lambda, full, &lanes, scratch, (n, generic), eps, &mut best);
    }
    offer_smooth(&mut best, &circles, full, eps);
    best.found
}

/// Offers the breakpoints of the `generic` columns of `n` that are not on the axis.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
fn offer_generic<S: Simd>(
    simd: S,
    lambda: f64,
    full: f64,
    lanes: &Lanes,
    scratch: &mut Scratch,
    (n, generic): (usize, usize),
    eps: f64,
    best: &mut Best,
) {
    let (zero, infinity) = (V::splat(simd, 0.0), V::splat(simd, f64::INFINITY));
    let mut lowest = infinity;
    let mut at = 0;
    while at < n {
        let (c, s) = (V::load(simd, &scratch.c, at), V::load(simd, &scratch.s, at));
        // columns on the axis (and padding) are decided
        let p = zero.less(s).select(lanes.lowest(simd, c, s), infinity);
        p.store(&mut scratch.f, at);
        lowest = lowest.min(p);
        at += V::<S>::LANES;
    }
    let lowest = lowest.lowest();
    // Even if all generic columns vanished together, those above this limit cannot win. The lowest smooth value
    // has at least one zero of its own, which tightens the limit; where lambda is less than rounding of the smooth
    // values that one is the limit itself, and counts.
    let together = lambda * generic as f64;
    let limit = (best.value - eps - full + together).min(lowest + (together - lambda * 0.999_999));
    if lowest > limit {
        return;
    }
    let mut winner = None;
    at = 0;
    while at < n {
        let mut bits = V::load(simd, &scratch.f, at).at_most(V::splat(simd, limit)).bits();
        while bits != 0 {
            let k = at + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let (c, s) = (scratch.c[k], scratch.s[k]);
            let together = if generic > 1 { vanish_together(simd, scratch, n, c, s) } else { 1 };
            let value = scratch.f[k] + full - lambda * together as f64;
            if value < best.value - eps {
                best.value = value;
                winner = Some((c, s));
            }
        }
        at += V::<S>::LANES;
    }
    if let Some((c, s)) = winner {
        best.found = Some(lane_move(lanes.lowest_lane(c, s).0, c, s));
    }
}

/// Columns with v = 0: they vanish together at θ = 0.
#[inline(always)]
fn count_on_axis<S: Simd>(simd: S, scratch: &Scratch, n: usize) -> usize {
    let zero = V::splat(simd, 0.0);
    let (mut off, mut at) = (0, 0);
    while at < n {
        off += zero.less(V::load(simd, &scratch.v, at)).bits().count_ones() as usize;
        at += V::<S>::LANES;
    }
    n - off // padding has v = 0 and is not counted
}

/// Number of columns that vanish at the direction (c, s): those whose direction differs by at most
/// [`SNAP`], which are exactly the entries that `PairMove::apply` sets to zero.
#[inline(always)]
fn vanish_together<S: Simd>(simd: S, scratch: &Scratch, n: usize, c: f64, s: f64) -> usize {
    let (c, s, snap, zero) =
        (V::splat(simd, c), V::splat(simd, -s), V::splat(simd, SNAP), V::splat(simd, 0.0));
    let (mut count, mut at) = (0, 0);
    while at < n {
        let (u, v) = (V::load(simd, &scratch.u, at), V::load(simd, &scratch.v, at));
        let cross = c.mul_add(v, s * u).abs();
        let length = u + v;
        // strictly positive length: padding does not count
        count += cross.at_most(snap * length).and(zero.less(length)).bits().count_ones() as usize;
        at += V::<S>::LANES;
    }
    count.max(1)
}
