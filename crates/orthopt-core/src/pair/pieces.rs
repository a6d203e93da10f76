//! Penalties of |x| that are quadratic between kinks, and their pair search.
//!
//! An entry of V Z is x(θ) = a cos θ + b sin θ, so between two kinks its penalty
//! c + s|x| + ½q x² is a trigonometric polynomial of degree 2, like the smooth part: on every
//! interval between breakpoints the whole problem is one [`Trig`] plus a constant, and its
//! minimum is found by [`arc::minimise`].
//!
//! As the penalty ignores signs, the columns are folded into the first quadrant and one curve
//! on [0, π/2] serves eight smooth polynomials, as in [`super::l1_search`]. There a column at
//! the angle φ with length ρ has the two entries ρ cos(φ − θ) and ρ|sin(φ − θ)|; the second is
//! zero at φ, and kinks κ < ρ are passed at φ ± acos(κ/ρ) and φ ± asin(κ/ρ). Directions come
//! from products of cosines and sines, so no angle is computed here either.

use super::circle::Trig;
use super::cut::{Curve, Cut};
use super::fold::{Best, Lanes, Scratch, lane_move, noise};
use super::{PairModel, arc};
use crate::nonsmooth::Pieces;
use orthopt_linalg::plane::PairMove;
impl Pieces {
    /// The pair search: O(r) breakpoints in order, eight polynomials on every interval between
    /// them. Cost O(r log r).
    #[inline(never)]
    #[doc(hidden)]
    pub fn search(&self, m: &PairModel<'_>, scratch: &mut Scratch) -> Option<PairMove> {
        let circles = m.circles();
        let n = scratch.pack(pulp::Scalar, m.z1, m.z2).nonzero;
        scratch.fold(pulp::Scalar, n);
        let (mut curve, size) = self.first_interval(scratch, n);
        let eps = noise(&circles, size);
        let h0 = curve.value(1.0, 0.0);
        let mut best = Best { value: circles[0].at_zero() + h0, found: None };
        self.fill_breakpoints(scratch, n);
        let lanes = Lanes::new(&circles);
        let all = [0, 1, 2, 3, 4, 5, 6, 7].map(|l| lanes.lane(l));
        let (mut c, mut s) = (1.0, 0.0);
        offer_point(&lanes, &curve, (c, s), eps, &mut best);
        for cut in &scratch.cuts {
            solve_interval(&all, &curve, (c, s), (cut.c, cut.s), eps, &mut best);
            curve.add(&cut.change);
            (c, s) = (cut.c, cut.s);
            offer_point(&lanes, &curve, (c, s), eps, &mut best);
        }
        solve_interval(&all, &curve, (c, s), (0.0, 1.0), eps, &mut best);
        offer_point(&lanes, &curve, (0.0, 1.0), eps, &mut best);
        best.found
    }

    /// h just after θ = 0, and the size of its terms.
    fn first_interval(&self, scratch: &Scratch, n: usize) -> (Curve, f64) {
        let (mut curve, mut size) = (Curve::default(), 0.0);
        for k in 0..n {
            let (u, v) = (scratch.u[k], scratch.v[k]);
            let rho = length(scratch, k);
            // ρ cos(φ − θ) rises from u and so has passed a kink at u < ρ, ρ sin(φ − θ) falls from v
            let passed = self.pieces.iter().skip(1).take_while(|p| p.from <= u && p.from < rho).count();
            for (piece, (a, b)) in [(&self.pieces[passed], (u, v)), (self.at(v), (v, -u))] {
                curve.add(&Curve::entry(piece, a, b));
                size += piece.constant.abs() + (piece.slope + piece.bend.abs() * (u + v)) * (u + v);
            }
        }
        (curve, size)
    }

    /// The breakpoints in (0, π/2), each with the change of the curve there, by angle.
    fn fill_breakpoints(&self, scratch: &mut Scratch, n: usize) {
        scratch.cuts.clear();
        for k in 0..n {
            let (u, v, c, s) = (scratch.u[k], scratch.v[k], scratch.c[k], scratch.s[k]);
            let rho = length(scratch, k);
            let cuts = &mut scratch.cuts;
            let first = Curve::entry(&self.pieces[0], -v, u);
            cuts.push(Cut::new((c, s), first.minus(&Curve::entry(&self.pieces[0], v, -u))));
            for (low, high) in self.pieces.iter().zip(&self.pieces[1..]) {
                let kink = high.from;
                if kink >= rho {
                    break;
                }
                // κ/ρ = cos d = sin(π/2 − d)
                let x = kink / rho;
                let y = ((1.0 - x) * (1.0 + x)).sqrt();
                let (low_first, high_first) = (Curve::entry(low, u, v), Curve::entry(high, u, v));
                if u < kink {
                    cuts.push(Cut::new((c * x + s * y, s * x - c * y), high_first.minus(&low_first)));
                }
                if v < kink {
                    cuts.push(Cut::new((c * x - s * y, s * x + c * y), low_first.minus(&high_first)));
                }
                if v > kink {
                    let down = Curve::entry(low, v, -u).minus(&Curve::entry(high, v, -u));
                    cuts.push(Cut::new((c * y + s * x, s * y - c * x), down));
                }
                if u > kink {
                    let up = Curve::entry(high, -v, u).minus(&Curve::entry(low, -v, u));
                    cuts.push(Cut::new((c * y - s * x, s * y + c * x), up));
                }
            }
        }
        scratch.cuts.sort_unstable_by(|a, b| a.key.total_cmp(&b.key));
    }
}

/// ρ of the folded column k, not below its entries.
#[inline(always)]
fn length(scratch: &Scratch, k: usize) -> f64 {
    let (u, v) = (scratch.u[k], scratch.v[k]);
    (u * scratch.c[k] + v * scratch.s[k]).max(u).max(v)
}

#[inline(always)]
fn offer_point(lanes: &Lanes, curve: &Curve, (c, s): (f64, f64), eps: f64, best: &mut Best) {
    let (lane, smooth) = lanes.lowest_lane(c, s);
    let value = smooth + curve.value(c, s);
    if value < best.value - eps {
        *best = Best { value, found: Some(lane_move(lane, c, s)) };
    }
}

/// The minimum inside an interval, for all lanes.
#[inline(always)]
fn solve_interval(
    lanes: &[Trig; 8],
    curve: &Curve,
    (c, s): (f64, f64),
    end: (f64, f64),
    eps: f64,
    best: &mut Best,
) {
    let (sin, cos) = (c * end.1 - s * end.0, c * end.0 + s * end.1);
    if sin <= 0.0 {
        return;
    }
    let t = sin / (1.0 + cos); // tan of half the width
    for (l, lane) in lanes.iter().enumerate() {
        let h = &curve.p;
        let p = Trig { a: lane.a + h.a, b: lane.b + h.b, a2: lane.a2 + h.a2, b2: lane.b2 + h.b2 };
        if let Some(found) = arc::minimise(&p.shifted(c, s), t, best.value - curve.constant, eps) {
            let dir = (c * found.c - s * found.s, s * found.c + c * found.s);
            *best = Best { value: found.value + curve.constant, found: Some(lane_move(l, dir.0, dir.1)) };
        }
    }
}
