//! Two rows of the nonlinear eigenvalue problem: the circle of degree 4 against f itself.

use crate::common::nonlinear::{models, random_point};
use crate::common::{cases, normal, rng};
use orthopt::RowMat;
use orthopt::smooth::{NonlinearEig, Smooth};
use orthopt_core::pair::nonlinear::CircleSearch;
use orthopt_core::pair::nonlinear::PairObjective;
use orthopt_core::pair::trig4::Trig4;
use orthopt_core::pair::trig4::roots_from_zero;
use orthopt_linalg::plane::Branch;
use orthopt_linalg::plane::PairMove;
use proptest::prelude::*;
use rand::RngExt;

/// X with its rows i and j moved.
fn moved(x: &RowMat, (i, j): (usize, usize), step: PairMove) -> RowMat {
    let mut out = x.clone();
    let (a, b) = (x.row(i).to_vec(), x.row(j).to_vec());
    let v = step.matrix();
    for k in 0..x.ncols() {
        out.set(i, k, v[0][0] * a[k] + v[0][1] * b[k]);
        out.set(j, k, v[1][0] * a[k] + v[1][1] * b[k]);
    }
    out
}

fn objective<'a>(f: &NonlinearEig, x: &'a RowMat, pair: (usize, usize), alpha: f64) -> PairObjective<'a> {
    PairObjective::new(f, x, &f.image(x), pair, alpha)
}

fn rotation(branch: Branch, theta: f64) -> PairMove {
    PairMove { branch, c: theta.cos(), s: theta.sin() }
}

proptest! {
    #![proptest_config(cases(60))]

    /// The nine coefficients are f along both circles, α/2‖V − I‖² included.
    #[test]
    fn the_circle_polynomial_is_f(seed in 0u64..10_000, which in 0usize..5, i in 0usize..12, shift in 1usize..12, theta in -4.0f64..4.0) {
        let (j, alpha) = ((i + shift) % 12, 0.7);
        let (name, f) = models(3).swap_remove(which);
        let x = random_point(12, 3, seed);
        let base = f.value(&x);
        for (circle, branch) in objective(&f, &x, (i, j), alpha).circles().iter().zip([Branch::Rotation, Branch::Reflection]) {
            let step = rotation(branch, theta);
            let change = circle.value(theta) - objective(&f, &x, (i, j), alpha).circles()[0].value(0.0);
            let direct = f.value(&moved(&x, (i, j), step)) + alpha * step.half_dist_sq() - base;
            let scale = 1.0 + base.abs() + direct.abs();
            prop_assert!((change - direct).abs() <= 1e-9 * scale, "{name} {branch:?}: {change} {direct}");
        }
    }

    /// The global minimum is that of a dense grid, and the fifth-order iteration never below it.
    #[test]
    fn the_minimum_over_a_circle_is_global(seed in 0u64..100_000, sparse: bool) {
        let mut numbers = rng(seed);
        let mut one = || if sparse && numbers.random::<bool>() { 0.0 } else { normal(&mut numbers) };
        let p = Trig4 { c0: one(), a: [one(), one(), one(), one()], b: [one(), one(), one(), one()] };
        let theta = p.minimiser();
        let found = p.value(theta);
        let grid = (0..20_000).map(|k| p.value(f64::from(k) * std::f64::consts::TAU / 20_000.0)).fold(f64::INFINITY, f64::min);
        let scale = 1.0 + p.bound(0);
        prop_assert!(found <= grid + 1e-14 * scale && grid - found <= 1e-5 * scale, "{found} {grid}");
        prop_assert!(p.derivatives(theta)[1].abs() <= 1e-7 * scale);
        let local = p.fifth_order(0.0);
        prop_assert!(p.value(local) >= found - 1e-13 * scale && p.value(local) <= p.value(0.0));
        prop_assert!(p.derivatives(local)[1].abs() <= 1e-5 * scale, "not critical: {}", p.derivatives(local)[1]);
    }

    #[test]
    fn derivatives_are_those_of_the_value(seed in 0u64..1000, theta in -7.0f64..7.0) {
        let mut numbers = rng(seed);
        let mut one = || normal(&mut numbers);
        let p = Trig4 { c0: one(), a: [one(), one(), one(), one()], b: [one(), one(), one(), one()] };
        let (d, h) = (p.derivatives(theta), 1e-4);
        let (up, down) = (p.derivatives(theta + h), p.derivatives(theta - h));
        for k in 0..4 {
            prop_assert!(((up[k] - down[k]) / (2.0 * h) - d[k + 1]).abs() <= 1e-4 * p.bound(5), "derivative {}", k + 1);
        }
        for k in 0..5 {
            prop_assert!(d[k].abs() <= p.bound(k as i32) + p.c0.abs() + 1e-12);
        }
    }

    #[test]
    fn polynomial_roots_are_all_found(a in 0.01f64..9.0, b in 0.01f64..9.0, c in 0.01f64..9.0, d in 0.01f64..9.0) {
        let mut known = [a, b, c, d];
        known.sort_by(f64::total_cmp);
        prop_assume!(known.windows(2).all(|w| w[1] - w[0] > 0.05));
        // (u − a)(u − b)(u − c)(u − d), multiplied out one factor at a time
        let mut poly = vec![1.0];
        for root in known {
            let mut next = vec![0.0; poly.len() + 1];
            for (k, v) in poly.iter().enumerate() {
                next[k] -= root * v;
                next[k + 1] += v;
            }
            poly = next;
        }
        let found = roots_from_zero(&poly);
        prop_assert_eq!(found.len(), 4, "{:?} {:?}", known, found);
        found.iter().zip(known).for_each(|(u, v)| assert!((u - v).abs() <= 1e-6 * (1.0 + v), "{u} {v}"));
    }

    /// On the same pair the exact search is never above the iteration of the paper, and both keep
    /// what they promise.
    #[test]
    fn exact_is_never_above_approx(seed in 0u64..10_000, which in 0usize..5) {
        let (name, f) = models(3).swap_remove(which);
        let x = random_point(12, 3, seed);
        let mut numbers = rng(seed);
        let i = numbers.random_range(0..11);
        let pair = (i, numbers.random_range(i + 1..12));
        let value = |search| {
            let step = objective(&f, &x, pair, 0.0).search(search);
            step.map_or(f.value(&x), |v| f.value(&moved(&x, pair, v)))
        };
        let (exact, approx, stay) = (value(CircleSearch::Exact), value(CircleSearch::FifthOrder), f.value(&x));
        let slack = 1e-11 * (1.0 + stay.abs());
        prop_assert!(exact <= approx + slack && approx <= stay + slack, "{name}: {exact} {approx} {stay}");
        // both circles on a grid
        for branch in [Branch::Rotation, Branch::Reflection] {
            for k in 0..200 {
                let there = f.value(&moved(&x, pair, rotation(branch, 0.031_415_9 * f64::from(k))));
                prop_assert!(exact <= there + slack, "{name}: {exact} but {there} at {branch:?} {k}");
            }
        }
    }
}

#[test]
fn flat_circles_end() {
    // constants, rounding around a constant, and minima without curvature
    let tiny = |k: f64| Trig4 { c0: 1.0, a: [k, -k, k, 0.3 * k], b: [0.0, k, -0.7 * k, k] };
    let quartic = Trig4 { c0: 0.0, a: [-4.0, 1.0, 0.0, 0.0], b: [0.0; 4] }; // cos 2θ − 4 cos θ: p″(0) = 0
    let high = Trig4 { c0: 0.0, a: [0.0, 0.0, 0.0, 1.0], b: [0.0; 4] }; // four equal minima
    let flat: Vec<Trig4> =
        [0.0, 1e-20, 1e-17, 1e-16, 1e-15, 1e-13].map(tiny).into_iter().chain([quartic, high]).collect();
    for p in flat {
        let (value, spread, c0) = (p.value(p.minimiser()), p.bound(0), p.c0);
        assert!(value <= c0 + 1e-15 && value >= c0 - spread - 1e-15);
    }
}
