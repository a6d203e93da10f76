//! The plain breakpoint search, as in the papers: angles by atan2, all breakpoints of the circle
//! sorted, the penalty evaluated afresh at each, every piece solved. Scalar, O(r²).
//!
//! It serves penalties that are quadratic between their kinks, with a speed between the fast
//! searches and the slow twin, and is the reference of the benchmarks.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::circle::Trig;
use super::{PairModel, arc};
use crate::nonsmooth::Nonsmooth;
use orthopt_linalg::plane::{Branch, PairMove, SNAP};

/// The global minimiser of the pair problem, or `None` when V = I is one up to rounding (or h is
/// not quadratic between its kinks).
pub fn search(m: &PairModel<'_>, h: &impl Nonsmooth) -> Option<PairMove> {
    let circles = m.circles();
    let mut best = (circles[0].at_zero() + h.value(m.z1) + h.value(m.z2), None);
    let eps = 8.0 * f64::EPSILON * (circles[0].scale().max(circles[1].scale()) + best.0.abs());
    for (branch, p) in [Branch::Rotation, Branch::Reflection].into_iter().zip(&circles) {
        let cuts = breakpoints(branch, m, h);
        for (k, start) in cuts.iter().enumerate() {
            let end = cuts.get(k + 1).copied().unwrap_or(cuts[0] + TAU);
            let mut offer = |theta: f64, value: f64| {
                if value < best.0 - eps {
                    best = (value, Some(PairMove::new(branch, theta.cos(), theta.sin())));
                }
                best.0
            };
            let upper =
                offer(*start, p.value(start.cos(), start.sin()) + penalty(branch, *start, m, h, true));
            if end - start <= 1e-15 {
                continue;
            }
            if let Some((constant, curve)) = piece(branch, 0.5 * (start + end), p, m, h) {
                let local = curve.shifted(start.cos(), start.sin());
                let half = (0.5 * (end - start)).tan();
                if let Some(found) = arc::minimise(&local, half, upper - constant, eps) {
                    offer(start + found.s.atan2(found.c), found.value + constant);
                }
            }
        }
    }
    best.1
}

/// The entries of V Z as cos θ·x + sin θ·y.
fn entries<'a>(branch: Branch, m: &'a PairModel<'_>) -> impl Iterator<Item = (f64, f64)> + 'a {
    let sign = if branch == Branch::Rotation { 1.0 } else { -1.0 };
    m.z1.iter().zip(m.z2).flat_map(move |(&a, &b)| [(sign * a, b), (b, -sign * a)])
}

/// Angles in [−π, π) where an entry passes a kink, and the multiples of π/2.
fn breakpoints(branch: Branch, m: &PairModel<'_>, h: &impl Nonsmooth) -> Vec<f64> {
    let mut cuts = vec![-PI, -FRAC_PI_2, 0.0, FRAC_PI_2];
    for (x, y) in entries(branch, m) {
        let rho = x.hypot(y);
        for kink in h.kinks() {
            if rho > 0.0 && kink.abs() <= rho {
                let (phi, d) = (y.atan2(x), (kink / rho).acos());
                cuts.extend([phi + d, phi - d].map(|t| (t + PI).rem_euclid(TAU) - PI));
            }
        }
    }
    cuts.sort_by(f64::total_cmp);
    cuts
}

/// h(V Z) at an angle, entries within rounding of zero counted as zero.
fn penalty(branch: Branch, theta: f64, m: &PairModel<'_>, h: &impl Nonsmooth, snap: bool) -> f64 {
    let (s, c) = theta.sin_cos();
    entries(branch, m)
        .map(|(x, y)| {
            let v = c * x + s * y;
            h.entry(if snap && v.abs() <= SNAP * (x.abs() + y.abs()) { 0.0 } else { v })
        })
        .sum()
}

/// On the piece around `theta`, h(V Z) is a constant and a trigonometric polynomial of degree 2: the
/// constant, and p with the polynomial added. `None` where h is infinite or of another form.
fn piece(branch: Branch, theta: f64, p: &Trig, m: &PairModel<'_>, h: &impl Nonsmooth) -> Option<(f64, Trig)> {
    let (s, c) = theta.sin_cos();
    let (mut constant, mut curve) = (0.0, *p);
    for (x, y) in entries(branch, m) {
        let (alpha, beta) = h.affine(c * x + s * y)?;
        constant += alpha;
        curve.a += beta * x;
        curve.b += beta * y;
        let bend = h.bend(c * x + s * y);
        if bend != 0.0 {
            let quarter = 0.25 * bend;
            constant += quarter * (x * x + y * y);
            curve.a2 += quarter * (x - y) * (x + y);
            curve.b2 += 2.0 * quarter * x * y;
        }
    }
    Some((constant, curve))
}
