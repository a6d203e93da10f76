//! Trigonometric polynomials of degree 2: global minima on the circle and on arcs against a
//! dense grid polished by golden section, and the identities of their representation.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use crate::common::pair::{golden_section, polished_minimum};
use crate::common::{cases, rng};
use orthopt_core::pair::arc;
use orthopt_core::pair::circle::Trig;
use orthopt_linalg::plane::one_minus_cos;
use proptest::prelude::*;
use rand::RngExt;

/// Coefficients of all sizes and kinds, many of them zero or nearly so.
fn trig() -> impl Strategy<Value = Trig> {
    let entry = || {
        prop_oneof![
            5 => -2.0..2.0f64,
            2 => Just(0.0),
            1 => (-1.0..1.0f64, -18.0..-2.0f64).prop_map(|(v, e)| v * 10f64.powf(e)),
            1 => (-1.0..1.0f64, 1.0..8.0f64).prop_map(|(v, e)| v * 10f64.powf(e)),
        ]
    };
    let scale = prop_oneof![4 => Just(1.0), 1 => Just(1e-8), 1 => Just(1e8), 1 => Just(1e20)];
    (entry(), entry(), entry(), entry(), scale).prop_map(|(a, b, a2, b2, k)| Trig {
        a: k * a,
        b: k * b,
        a2: k * a2,
        b2: k * b2,
    })
}

fn at(p: &Trig, t: f64) -> f64 {
    p.value(t.cos(), t.sin())
}

/// Lowest value on the open arc (0, width), by grid and golden section between grid points.
fn arc_minimum(p: &Trig, width: f64) -> f64 {
    const GRID: usize = 400;
    let f = |t: f64| at(p, t);
    let step = width / GRID as f64;
    let values: Vec<f64> = (0..=GRID).map(|k| f(k as f64 * step)).collect();
    let mut best = f64::INFINITY;
    for k in 0..GRID {
        let inside = values[k].min(values[k + 1]);
        let around = values[k.saturating_sub(1)].min(values[(k + 2).min(GRID)]);
        if inside <= around {
            best = best.min(golden_section(&f, k as f64 * step, (k + 1) as f64 * step));
        }
    }
    best
}

/// The minimum the circle reaches, and that the reported direction is a unit vector.
fn check_circle(p: &Trig) -> Result<(), TestCaseError> {
    let (c, s) = p.minimiser();
    prop_assert!((c * c + s * s - 1.0).abs() <= 4e-15, "{p:?}: direction ({c}, {s})");
    let (found, reference) = (p.value(c, s), polished_minimum(&|t| at(p, t), 256));
    let tolerance = 1e-12 * (reference.abs() + p.scale().min(1.0));
    prop_assert!(found <= reference + tolerance, "{p:?}: {found}, {reference} is possible");
    prop_assert!(found >= p.lower_bound() - tolerance && p.lower_bound() >= -p.scale() * (1.0 + 1e-15));
    Ok(())
}

/// Checks [`arc::minimise`] on the arc, with the lower end value as the bound.
fn check_arc(p: &Trig, width: f64) -> Result<(), TestCaseError> {
    let (t, eps) = ((0.5 * width).tan(), 1e-14 * p.scale());
    let upper = at(p, 0.0).min(at(p, width));
    let reference = arc_minimum(p, width);
    let slack = 1e-12 * p.scale();
    match arc::minimise(p, t, upper, eps) {
        None => {
            prop_assert!(reference >= upper - eps - slack, "{p:?} on {width}: missed {reference} < {upper}")
        }
        Some(m) => {
            prop_assert!(m.value < upper - eps);
            prop_assert!(
                (m.value - p.value(m.c, m.s)).abs() <= slack,
                "{p:?} on {width}: {m:?} is no value of p"
            );
            prop_assert!(m.value <= reference + slack, "{p:?} on {width}: {m:?}, {reference} is possible");
            let angle = m.s.atan2(m.c);
            let angle = if angle < -1e-9 { angle + TAU } else { angle };
            prop_assert!((-1e-9..=width + 1e-9).contains(&angle), "{p:?} on {width}: {angle} is outside");
            prop_assert!((m.c.hypot(m.s) - 1.0).abs() <= 1e-14);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(20_000))]

    #[test]
    fn global_minimum_on_the_circle(p in trig()) {
        check_circle(&p)?;
    }

    #[test]
    fn global_minimum_on_an_arc(p in trig(), width in prop_oneof![
        4 => 1e-3..FRAC_PI_2, 1 => 1e-12..1e-3f64, 1 => Just(FRAC_PI_2)
    ]) {
        check_arc(&p, width)?;
    }

    #[test]
    fn shifting_is_turning(p in trig(), t in -PI..PI, d in -PI..PI) {
        let rounding = 1e-14 * p.scale();
        let q = p.shifted(t.cos(), t.sin());
        prop_assert!((at(&q, d) - at(&p, t + d)).abs() <= rounding);
        prop_assert!((q.at_zero() - at(&p, t)).abs() <= rounding);
        prop_assert!((q.slope(1.0, 0.0) - p.slope(t.cos(), t.sin())).abs() <= 4.0 * rounding);
        prop_assert!((q.bend(1.0, 0.0) - p.bend(t.cos(), t.sin())).abs() <= 8.0 * rounding);
        prop_assert!(q.scale() <= 2.0 * p.scale() * (1.0 + 1e-14));
    }

    #[test]
    fn decrease_from_zero_has_no_cancellation(p in trig(), e in -15.0..0.5f64, sign in any::<bool>()) {
        let t = if sign { 10f64.powf(e) } else { -10f64.powf(e) };
        // 1 − cos t = 2 sin²(t/2), 1 − cos 2t = 2 sin² t
        let parts = [
            p.a * 2.0 * (0.5 * t).sin().powi(2),
            -p.b * t.sin(),
            p.a2 * 2.0 * t.sin().powi(2),
            -p.b2 * (2.0 * t).sin(),
        ];
        let size: f64 = parts.iter().map(|v| v.abs()).sum();
        let found = p.decrease_from_zero(t.cos(), t.sin());
        prop_assert!((found - parts.iter().sum::<f64>()).abs() <= 1e-14 * size, "{p:?} at {t}");
        prop_assert!((one_minus_cos(t.cos(), t.sin()) - 2.0 * (0.5 * t).sin().powi(2)).abs() <= 1e-15 * t * t);
    }

    #[test]
    fn slope_and_bend_are_derivatives(p in trig(), t in -PI..PI) {
        let e = 1e-4;
        let (down, up) = (at(&p, t - e), at(&p, t + e));
        let (slope, bend) = (p.slope(t.cos(), t.sin()), p.bend(t.cos(), t.sin()));
        prop_assert!(((up - down) / (2.0 * e) - slope).abs() <= 2e-8 * p.scale());
        prop_assert!(((up - 2.0 * at(&p, t) + down) / (e * e) - bend).abs() <= 2e-6 * p.scale());
    }
}

#[test]
fn degenerate_circles() {
    let mut list = vec![Trig { a: 0.0, b: 0.0, a2: 0.0, b2: 0.0 }];
    for v in [1.0, -1.0, 1e-8, 1e8] {
        list.push(Trig { a: v, b: 0.0, a2: 0.0, b2: 0.0 });
        list.push(Trig { a: 0.0, b: 0.0, a2: v, b2: 0.0 });
        list.push(Trig { a: 0.0, b: 0.0, a2: 0.0, b2: v });
        list.push(Trig { a: 0.0, b: 0.0, a2: v, b2: -v });
        // at a = ∓4·a2 the minimum or the saddle at 0 or π is flat to fourth order
        for off in [0.0, 1e-15, -1e-15, 1e-12, -1e-12, 1e-8, -1e-8, 1e-4, -1e-4] {
            for (a, b) in [(4.0, 0.0), (-4.0, 0.0), (0.0, 4.0), (0.0, -4.0)] {
                for (a2, b2) in [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
                    list.push(Trig { a: v * (a + off), b: v * b, a2: v * a2, b2: v * b2 });
                    list.push(Trig { a: v * a, b: v * (b + off), a2: v * a2, b2: v * b2 });
                }
            }
        }
        // hard case: g orthogonal to the eigenvector of the smallest eigenvalue, or almost
        for off in [0.0, 1e-300, 1e-30, 1e-20, 1e-16, 1e-12, 1e-8] {
            for g in [0.0, 1e-10, 0.5, 3.9999, 4.0, 4.0001, 10.0] {
                list.push(Trig { a: off * v, b: g * v, a2: -v.abs(), b2: 0.0 });
                list.push(Trig { a: -g * v, b: off * v, a2: v.abs(), b2: 0.0 });
            }
        }
    }
    for p in &list {
        check_circle(p).unwrap();
        for width in [1e-6, 0.3, 1.1, FRAC_PI_2] {
            for turn in [0.0, 0.7, 1.6, 2.9, 4.4] {
                check_arc(&p.shifted(f64::cos(turn), f64::sin(turn)), width).unwrap();
            }
        }
    }
}

/// −cos 2θ − b sin θ has two minima less than a quarter circle apart; the lower one counts.
#[test]
fn arcs_with_two_minima_inside() {
    let mut rng = rng(3);
    let mut seen = 0;
    for _ in 0..400 {
        let p = Trig {
            a: rng.random_range(-0.05..0.05),
            b: -rng.random_range(2.5..3.95),
            a2: -1.0,
            b2: rng.random_range(-0.05..0.05),
        };
        let width = rng.random_range(1.0..FRAC_PI_2);
        let start = FRAC_PI_2 - rng.random_range(0.45..0.55) * width;
        let p = p.shifted(start.cos(), start.sin());
        let values: Vec<f64> = (0..=300).map(|k| at(&p, width * f64::from(k) / 300.0)).collect();
        let inside = values.windows(3).filter(|w| w[1] < w[0] && w[1] < w[2]).count();
        seen += usize::from(inside == 2);
        check_arc(&p, width).unwrap();
    }
    assert!(seen >= 100, "only {seen} arcs with two minima");
}

/// Bounds other than the end values: nothing above them is reported.
#[test]
fn an_upper_bound_below_the_minimum_gives_none() {
    let mut rng = rng(9);
    for _ in 0..500 {
        let mut draw = || rng.random_range(-1.0..1.0);
        let p = Trig { a: draw(), b: draw(), a2: draw(), b2: draw() };
        let reference = arc_minimum(&p, 1.5);
        assert!(arc::minimise(&p, 0.75f64.tan(), reference - 1e-9, 0.0).is_none());
        // the value sought is found when the bound lets it pass
        let m = arc::minimise(&p, 0.75f64.tan(), f64::INFINITY, 0.0);
        let ends = at(&p, 0.0).min(at(&p, 1.5));
        assert!(reference >= ends - 1e-12 || m.is_some_and(|m| (m.value - reference).abs() < 1e-12));
    }
}
