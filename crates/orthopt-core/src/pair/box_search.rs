//! The pair search for entries in a box.
//!
//! An entry of V Z is x(θ) = ρ cos(θ − φ). It is above an upper bound U < ρ on an open arc
//! around φ and below a lower bound L > −ρ on one around φ + π. What these arcs leave of the two
//! circles is feasible, and h is 0 there: on each remaining arc the candidates are its two ends
//! and the minima inside.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use super::circle::Trig;
use super::fold::Scratch;
use super::{PairModel, arc};
use orthopt_linalg::plane::{Branch, PairMove};

/// Arcs that overlap by less than this (in radians, so by less in an entry) only touch: angles
/// come with rounding, and bounds are what moves end on.
const TOUCH: f64 = 1e-12;

/// The global minimiser over the V with lower ≤ V Z ≤ upper, or `None` when V = I is one up to
/// rounding (or nothing is feasible). Cost O(r log r).
pub fn search_box(bounds: [f64; 2], m: &PairModel<'_>, scratch: &mut Scratch) -> Option<PairMove> {
    let circles = m.circles();
    let eps = 8.0 * f64::EPSILON * circles[0].scale().max(circles[1].scale());
    // I itself is feasible regardless of rounding
    let mut best = Best { value: circles[0].at_zero(), found: None };
    for (branch, p) in [Branch::Rotation, Branch::Reflection].into_iter().zip(&circles) {
        if p.lower_bound() >= best.value - eps {
            continue;
        }
        forbidden_arcs(bounds, branch, m, &mut scratch.arcs);
        for_free_arcs(&scratch.arcs, |start, end| best.search(branch, p, start, end, eps));
    }
    best.found
}

struct Best {
    value: f64,
    found: Option<PairMove>,
}

impl Best {
    fn offer(&mut self, branch: Branch, theta: f64, value: f64, eps: f64) {
        if value < self.value - eps {
            *self = Self { value, found: Some(PairMove::new(branch, theta.cos(), theta.sin())) };
        }
    }

    /// The arc [start, end] in steps of at most a quarter turn.
    fn search(&mut self, branch: Branch, p: &Trig, start: f64, end: f64, eps: f64) {
        let parts = ((end - start) / FRAC_PI_2).ceil().max(1.0);
        let width = (end - start) / parts;
        for k in 0..=parts as u32 {
            let theta = start + f64::from(k) * width;
            let (s, c) = theta.sin_cos();
            self.offer(branch, theta, p.value(c, s), eps);
            if f64::from(k) < parts && width > 0.0 {
                let local = p.shifted(c, s);
                if let Some(m) = arc::minimise(&local, (0.5 * width).tan(), self.value, eps) {
                    self.offer(branch, theta + m.s.atan2(m.c), m.value, eps);
                }
            }
        }
    }
}

/// The arcs where some entry leaves the box, by their starts; those across π twice.
fn forbidden_arcs([lower, upper]: [f64; 2], branch: Branch, m: &PairModel<'_>, arcs: &mut Vec<(f64, f64)>) {
    arcs.clear();
    let sign = if branch == Branch::Rotation { 1.0 } else { -1.0 };
    for (&a, &b) in m.z1.iter().zip(m.z2) {
        // the two rows of V Z as cos θ·x + sin θ·y
        for (x, y) in [(sign * a, b), (b, -sign * a)] {
            let rho = x.hypot(y);
            if rho <= upper && rho <= -lower {
                continue;
            }
            let phi = y.atan2(x);
            for (centre, bound) in [(phi, upper), (phi + PI, -lower)] {
                if rho > bound {
                    let half = (bound / rho).acos();
                    let start = (centre - half + PI).rem_euclid(TAU) - PI;
                    let end = start + 2.0 * half;
                    arcs.push((start, end));
                    if end > PI {
                        arcs.push((-TAU, end - TAU)); // its other part, which begins before −π
                    }
                }
            }
        }
    }
    arcs.sort_unstable_by(|p, q| p.0.total_cmp(&q.0));
}

/// The closed arcs between them on [−π, π]; single points too, where two arcs touch.
fn for_free_arcs(forbidden: &[(f64, f64)], mut visit: impl FnMut(f64, f64)) {
    let mut free_from = -PI;
    for (start, end) in forbidden {
        if *start >= free_from - TOUCH {
            visit(free_from.min(*start), *start);
        }
        free_from = free_from.max(*end);
    }
    if free_from <= PI {
        visit(free_from, PI);
    }
}
