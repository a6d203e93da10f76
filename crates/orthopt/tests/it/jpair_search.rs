//! The two-row subproblem of JOBCD: golden values, the slow twin, the closed forms, invariants.

use crate::common::jorth::{golden, matrix, numbers};
use crate::common::{cases, gaussian_rows, normal, rng};
use orthopt::RowMat;
use orthopt_hyperbolic::jpair::Component;
use orthopt_hyperbolic::jpair::Ending;
use orthopt_hyperbolic::jpair::JMove;
use orthopt_hyperbolic::jpair::JPair;
use orthopt_hyperbolic::jpair::JPairMin;
use orthopt_hyperbolic::jpair::jacobi;
use orthopt_hyperbolic::jpair::slow;
use orthopt_linalg::factor::transpose;
use proptest::prelude::*;
use serde_json::Value;

fn two(m: &RowMat) -> [[f64; 2]; 2] {
    [[m.get(0, 0), m.get(0, 1)], [m.get(1, 0), m.get(1, 1)]]
}

fn four(m: &RowMat) -> [[f64; 4]; 4] {
    std::array::from_fn(|i| std::array::from_fn(|k| m.get(i, k)))
}

fn ending(v: &Value) -> Ending {
    match v.as_str().unwrap() {
        "attained" => Ending::Attained,
        "unbounded" => Ending::Unbounded,
        "infimum_not_attained" => Ending::NotAttained,
        other => panic!("status {other}"),
    }
}

fn component(part: &Value, mixed: bool) -> Component {
    if mixed {
        let e = numbers(&part["signs"]);
        return Component::Boost { e1: e[0], e2: e[1] };
    }
    match part["kind"].as_str().unwrap() {
        k if k.starts_with("rotation") => Component::Rotation,
        _ => Component::Reflection,
    }
}

#[track_caller]
fn close(found: f64, known: f64, what: &str) {
    assert!((found - known).abs() <= 1e-10 * (1.0 + known.abs()), "{what}: {found}, golden {known}");
}

#[test]
fn golden_subproblems() {
    let file = golden(include_str!("../data/j2x2_subproblems.json"));
    let all = file["cases"].as_array().unwrap();
    assert_eq!(all.len(), 61);
    for case in all {
        let what = format!("case {} ({})", case["id"], case["kind"].as_str().unwrap());
        let signs = numbers(&case["J"]);
        let mixed = signs[0] != signs[1];
        let model = JPair::from_p(two(&matrix(&case["P"])), four(&matrix(&case["Q"])));
        for part in case["components"].as_array().unwrap() {
            let component = component(part, mixed);
            let what = format!("{what}, {component:?}");
            let k = model.coefficients(component);
            for (found, known) in [k.a, k.b, k.c, k.d, k.e].into_iter().zip(numbers(&part["coeffs"])) {
                close(found, known, &what);
            }
            let found = model.component(component);
            // circular components have no status: they are compact
            let known = part.get("status").map_or(Ending::Attained, ending);
            assert_eq!(found.ending, known, "{what}");
            if known != Ending::Unbounded {
                close(found.value, part["value"].as_f64().unwrap(), &what);
            }
        }
        let found = model.solve(mixed);
        assert_eq!(found.ending, ending(&case["status"]), "{what}");
        if found.ending == Ending::Attained {
            let known = case["value"].as_f64().unwrap();
            close(model.value_at_identity() - found.decrease, known, &what);
            let v = found.step.map_or([[1.0, 0.0], [0.0, 1.0]], |v| v.matrix());
            if case["unique"].as_bool().unwrap() {
                let known = two(&matrix(&case["V"]));
                for (a, b) in v.iter().flatten().zip(known.iter().flatten()) {
                    // where φ is nearly flat the minimiser is known to √eps only
                    assert!((a - b).abs() <= 1e-7 * (1.0 + b.abs()), "{what}: V {v:?}, golden {known:?}");
                }
            }
        } else {
            assert!(found.step.is_none() && found.decrease == 0.0, "{what}");
        }
    }
}

/// Steps of 10⁻⁷ to 10⁻¹³ come out with ten digits of their own.
#[test]
fn tiny_steps_are_exact() {
    let file = golden(include_str!("../data/j2x2_subproblems.json"));
    let mut seen = 0;
    for case in file["cases"].as_array().unwrap() {
        if !case["kind"].as_str().unwrap().contains("tiny step") {
            continue;
        }
        seen += 1;
        let (p, q) = (two(&matrix(&case["P"])), four(&matrix(&case["Q"])));
        let model = JPair::from_p(p, q);
        let v = model.solve(true).step.expect("a step").matrix();
        // P is given to 17 digits of its entries, so the slope at I is known to 1e-16 only
        let (found, known) = (v[0][1].asinh(), case["mu"].as_f64().unwrap());
        assert!((found - known).abs() <= 1e-9 * known.abs() + 1e-16, "{found} {known}");
    }
    assert_eq!(seen, 3);
}

/// A model with Q = LLᵀ·size + θI and W, or an indefinite one.
fn model(seed: u64, size: f64, theta: f64, definite: bool) -> JPair {
    let mut rng = rng(seed);
    let l = gaussian_rows(4, 4, seed + 1);
    let q = std::array::from_fn(|i| {
        std::array::from_fn(|k| {
            let gram: f64 = (0..4).map(|m| l.get(i, m) * l.get(k, m)).sum();
            let value = if definite { gram } else { l.get(i, k) + l.get(k, i) };
            size * value + if i == k { theta } else { 0.0 }
        })
    });
    JPair { w: std::array::from_fn(|_| std::array::from_fn(|_| 3.0 * normal(&mut rng))), q }
}

fn value_of(m: &JPair, found: &JPairMin) -> f64 {
    m.value_at_identity() - found.decrease
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn the_fast_search_is_never_above_the_slow_twin(seed in 0u64..10_000, size in 0.05f64..5.0, mixed in any::<bool>()) {
        let m = model(seed, size, 0.05, true);
        let found = m.solve(mixed);
        prop_assert_eq!(found.ending, Ending::Attained);
        let (slow, component, angle) = slow::minimise(&m, mixed, 9.0);
        let tolerance = 1e-9 * (1.0 + slow.abs());
        prop_assert!(value_of(&m, &found) <= slow + tolerance, "{} {slow} {component:?} {angle}", value_of(&m, &found));
        // and it is a value that V takes
        if let Some(v) = found.step {
            prop_assert!((m.decrease(&v) - found.decrease).abs() <= 1e-12 * (1.0 + found.decrease));
            prop_assert!(found.decrease > 0.0);
        }
    }

    #[test]
    fn minima_within_a_limit(seed in 0u64..10_000, limit in 0.01f64..3.0, definite in any::<bool>()) {
        let m = model(seed, 1.0, 0.0, definite);
        let found = m.solve_within(true, limit);
        let (slow, ..) = slow::minimise(&m, true, limit);
        let slow = slow.min(m.value_at_identity());
        prop_assert!((value_of(&m, &found) - slow).abs() <= 1e-8 * (1.0 + slow.abs()), "{} {slow}", value_of(&m, &found));
        if let Some(v) = found.step {
            let mu = v.matrix()[0][1].abs().asinh();
            prop_assert!(mu <= limit * (1.0 + 1e-12));
        }
    }

    #[test]
    fn moves_are_j_orthogonal(mu in -20.0f64..20.0, kind in 0usize..6, x in -2.0f64..2.0) {
        let component = if kind < 4 { Component::BOOSTS[kind] } else { [Component::Rotation, Component::Reflection][kind - 4] };
        let v = JMove::at(component, mu);
        let sign = if kind < 4 { -1.0 } else { 1.0 };
        let m = v.matrix();
        let scale = m.iter().flatten().fold(1.0f64, |a, b| a.max(b * b));
        for (i, k, target) in [(0, 0, 1.0), (0, 1, 0.0), (1, 1, sign)] {
            let entry = m[0][i] * m[0][k] + sign * m[1][i] * m[1][k];
            prop_assert!((entry - target).abs() <= 8.0 * f64::EPSILON * scale);
        }
        let (mut z1, mut z2) = (vec![x, 1.0], vec![0.5, -x]);
        let (old1, old2) = (z1.clone(), z2.clone());
        v.apply(&mut z1, &mut z2);
        for k in 0..2 {
            let size = (m[0][0].abs() + m[0][1].abs()) * (1.0 + x.abs());
            prop_assert!((z1[k] - m[0][0] * old1[k] - m[0][1] * old2[k]).abs() <= 1e-15 * size * 4.0);
            prop_assert!((z2[k] - m[1][0] * old1[k] - m[1][1] * old2[k]).abs() <= 1e-15 * size * 4.0);
        }
        let (mut y1, mut y2) = (old1, old2);
        v.apply_wide(&mut y1, &mut y2);
        prop_assert!((y1[0] - z1[0]).abs() <= 1e-14 * (1.0 + z1[0].abs()) && (y2[1] - z2[1]).abs() <= 1e-14 * (1.0 + z2[1].abs()));
    }

    /// f(VZ) − f(Z) for f = ½tr(A Z B Zᵀ) is what the exact model says.
    #[test]
    fn the_exact_model_is_exact(seed in 0u64..10_000, angle in -1.5f64..1.5, mixed in any::<bool>()) {
        let (l, z, b) = (gaussian_rows(2, 2, seed), gaussian_rows(2, 5, seed + 1), gaussian_rows(5, 5, seed + 2));
        let times = crate::common::jorth::times;
        let a = times(&l, &transpose(&l));
        let b = times(&b, &transpose(&b));
        let f = |z: &RowMat| 0.5 * times(&a, z).inner(&times(z, &b));
        let s = times(&times(&z, &b), &transpose(&z));
        let w = two(&times(&a, &s));
        let m = JPair::exact(w, [a.get(0, 0), a.get(0, 1), a.get(1, 1)], [s.get(0, 0), s.get(0, 1), s.get(1, 1)], 0.0);
        let component = if mixed { Component::BOOSTS[(seed % 4) as usize] } else { Component::Rotation };
        let v = JMove::at(component, angle);
        let mut moved = z.clone();
        let (mut z1, mut z2) = (z.row(0).to_vec(), z.row(1).to_vec());
        v.apply(&mut z1, &mut z2);
        moved.row_mut(0).copy_from_slice(&z1);
        moved.row_mut(1).copy_from_slice(&z2);
        let (found, known) = (m.decrease(&v), f(&z) - f(&moved));
        prop_assert!((found - known).abs() <= 1e-11 * (1.0 + f(&z) + f(&moved)), "{found} {known}");
    }

    /// The closed forms for A = I are the general search.
    #[test]
    fn closed_forms_agree_with_the_search(s11 in 0.01f64..10.0, s22 in 0.01f64..10.0, share in -0.999f64..0.999) {
        let s12 = share * (s11 * s22).sqrt();
        let s = [s11, s12, s22];
        let m = JPair::exact([[s11, s12], [s12, s22]], [1.0, 0.0, 1.0], s, 0.0);
        let (step, decrease) = jacobi::hyperbolic(s).expect("positive definite");
        let found = m.solve(true);
        prop_assert!((decrease - found.decrease).abs() <= 1e-12 * (s11 + s22), "{decrease} {}", found.decrease);
        prop_assert!((m.decrease(&step) - decrease).abs() <= 1e-12 * (s11 + s22));
        for v in [step, jacobi::circular(s)] {
            prop_assert!(v.congruence(s)[1].abs() <= 1e-13 * (s11 + s22));
        }
        // rows of the same sign: every V is a minimiser, and the search stays at I
        prop_assert!(m.solve(false).step.is_none());
        prop_assert!(m.decrease(&jacobi::circular(s)).abs() <= 1e-13 * (s11 + s22));
    }
}

#[test]
fn closed_forms_at_the_edge() {
    assert!(jacobi::hyperbolic([1.0, 1.0, 1.0]).is_none());
    assert!(jacobi::hyperbolic([1.0, -2.0, 1.0]).is_none());
    assert!(jacobi::hyperbolic([0.0, 0.0, 0.0]).is_none());
    assert!(jacobi::hyperbolic([f64::INFINITY, 0.0, 1.0]).is_none());
    let (v, decrease) = jacobi::hyperbolic([3.0, 1e-12, 1.0]).unwrap();
    assert!((decrease - 2.5e-25).abs() <= 1e-35 && (v.matrix()[0][1] + 2.5e-13).abs() <= 1e-24);
    assert_eq!(jacobi::circular([2.0, 0.0, 1.0]).distance_squared(), 0.0);
}
