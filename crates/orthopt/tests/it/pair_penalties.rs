//! The penalties with kinks away from zero: prox, value, subdifferential and pair search, each
//! against a slow twin.

use crate::common::pair::Case;
use crate::common::{cases, normal, penalty, rng};
use orthopt::nonsmooth::Nonsmooth;
use orthopt::penalty::PairPenalty;
use orthopt::penalty::{AnyPenalty, PENALTIES, Shape, find_penalty};
use orthopt_core::pair::PairModel;
use orthopt_core::pair::fold::Scratch;
use orthopt_core::pair::slow;
use orthopt_linalg::plane::Branch;
use orthopt_linalg::plane::PairMove;
use proptest::prelude::*;
use rand::RngExt;

/// Penalties whose pair search is new here, and shape parameters that put kinks among the entries.
const SHAPED: [(&str, &[(&str, f64)]); 9] = [
    ("mcp", &[]),
    ("mcp", &[("mcp-gamma", 0.3)]),
    ("mcp", &[("mcp-gamma", 4.0)]),
    ("scad", &[]),
    ("scad", &[("scad-a", 2.1), ("scad-weight", 3.0)]),
    ("capped-l1", &[]),
    ("capped-l1", &[("capped-l1-cap", 1.1)]),
    ("elastic-net", &[]),
    ("elastic-net", &[("elastic-net-eta", 0.3)]),
];

fn shaped(number: usize, lambda: f64) -> AnyPenalty {
    let (name, set) = SHAPED[number];
    let set: Shape = set.iter().map(|(k, v)| ((*k).into(), *v)).collect();
    (find_penalty(name).unwrap().make_shaped)(lambda, &set).unwrap()
}

/// q(V) − q(I).
fn change(m: &PairModel<'_>, h: &AnyPenalty, step: Option<&PairMove>) -> f64 {
    let Some(step) = step else { return 0.0 };
    let r = m.z1.len();
    let (mut n1, mut n2) = (vec![0.0; r], vec![0.0; r]);
    step.apply(m.z1, m.z2, &mut n1, &mut n2);
    h.value(&n1) + h.value(&n2) - h.value(m.z1) - h.value(m.z2) - m.smooth_decrease(step)
}

/// Entries that are general, zero, equal to another, or where default kinks are.
fn rows() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    let entry = || prop_oneof![6 => -1.5..1.5f64, 2 => Just(0.0), 1 => Just(0.5), 1 => Just(-0.25)];
    prop::collection::vec((entry(), entry()), 1..16).prop_map(|z| z.into_iter().unzip())
}

fn numbers<const N: usize>() -> impl Strategy<Value = [f64; N]> {
    prop::collection::vec(prop_oneof![6 => -2.0..2.0f64, 1 => Just(0.0)], N)
        .prop_map(|v| <[f64; N]>::try_from(v).unwrap())
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn search_is_global(
        (z1, z2) in rows(),
        p in numbers::<4>(),
        k in numbers::<3>(),
        number in 0..SHAPED.len(),
        lambda in prop_oneof![1 => Just(0.0), 6 => 0.01..3.0f64, 1 => Just(40.0)],
        exact in any::<bool>(),
    ) {
        let h = shaped(number, lambda);
        let k = if exact { k } else { [0.0; 3] };
        let m = PairModel::with_curvature([[p[0], p[1]], [p[2], p[3]]], k, &z1, &z2);
        let fast = change(&m, &h, h.search(&m, &mut Scratch::new(z1.len())).as_ref());
        let twin = change(&m, &h, Some(&slow::minimise(&m, &h).step)).min(0.0);
        let scale = 1.0 + h.value(&z1) + h.value(&z2);
        prop_assert!(fast <= twin + 1e-9 * scale, "{:?}: fast {fast}, slow {twin}", SHAPED[number]);
    }

    #[test]
    fn search_of_the_box_is_global(
        (z1, z2) in rows(),
        p in numbers::<4>(),
        k in numbers::<3>(),
        lower in prop_oneof![Just(0.0), Just(-1.0), -1.0..0.0f64],
        upper in 0.05..1.0f64,
    ) {
        let set: Shape = [("box-lower".into(), lower), ("box-upper".into(), upper)].into();
        let h = (find_penalty("box").unwrap().make_shaped)(0.0, &set).unwrap();
        let inside = |z: &[f64]| z.iter().map(|v| v.clamp(lower, upper)).collect::<Vec<_>>();
        let (z1, z2) = (inside(&z1), inside(&z2));
        let m = PairModel::with_curvature([[p[0], p[1]], [p[2], p[3]]], k, &z1, &z2);
        let found = h.search(&m, &mut Scratch::new(z1.len()));
        let fast = change(&m, &h, found.as_ref());
        let twin = change(&m, &h, Some(&slow::minimise(&m, &h).step));
        prop_assert!(fast.is_finite() && fast <= twin + 1e-9, "fast {fast}, slow {twin}");
    }

    #[test]
    fn prox_is_a_global_minimiser(
        v in -4.0..4.0f64,
        mu in prop_oneof![0.01..6.0f64, Just(1.0)],
        number in 0..PENALTIES.len(),
        lambda in 0.0..2.0f64,
    ) {
        let h = (PENALTIES[number].make)(lambda).unwrap();
        let cost = |x: f64| (x - v).powi(2) / (2.0 * mu) + h.entry(x);
        let x = h.prox(v, mu);
        // a grid and the kinks
        let grid = (-1000..=1000).map(|k| f64::from(k) * 4e-3).chain(h.kinks().iter().copied());
        let best = grid.map(cost).fold(f64::INFINITY, f64::min);
        prop_assert!(cost(x) <= best + 1e-12, "{}: prox({v}) = {x}", PENALTIES[number].name);
        // and it is stationary: (v − x)/μ ∈ ∂h(x)
        let (lo, hi) = h.subdifferential(x);
        let g = (v - x) / mu;
        prop_assert!(g >= lo - 1e-9 && g <= hi + 1e-9, "{}: {g} not in [{lo}, {hi}]", PENALTIES[number].name);
    }

    #[test]
    fn forms_between_kinks(x in -2.0..2.0f64, number in 0..SHAPED.len(), lambda in 0.0..2.0f64) {
        let h = shaped(number, lambda);
        let nearest = h.kinks().iter().map(|k| (k - x).abs()).fold(f64::INFINITY, f64::min);
        prop_assume!(nearest > 1e-3);
        let (alpha, beta) = h.affine(x).unwrap();
        for t in [x - 5e-4, x, x + 7e-4] {
            let form = alpha + beta * t + 0.5 * h.bend(x) * t * t;
            prop_assert!((form - h.entry(t)).abs() <= 1e-12 * (1.0 + lambda));
        }
        let slope = (h.entry(x + 1e-6) - h.entry(x - 1e-6)) / 2e-6;
        let (lo, hi) = h.subdifferential(x);
        prop_assert!(lo == hi && (lo - slope).abs() <= 1e-5 * (1.0 + lambda), "{lo} {hi} {slope}");
        prop_assert!(slope.abs() <= h.lipschitz() * (1.0 + x.abs()) + 1e-6);
    }

    /// h + W/2 x² is convex, and not for a smaller W.
    #[test]
    fn weak_convexity_is_the_smallest(number in 0..5usize, lambda in 0.05..2.0f64) {
        let h = shaped(number, lambda);
        let w = h.weak_convexity().unwrap();
        let worst = |w: f64| {
            let f = |x: f64| h.entry(x) + 0.5 * w * x * x;
            let mid = |a: f64, b: f64| f(0.5 * (a + b)) - 0.5 * (f(a) + f(b));
            let points: Vec<f64> = (-60..=60).map(|k| f64::from(k) * 0.1 * lambda).collect();
            points.windows(2).map(|p| mid(p[0], p[1])).fold(f64::NEG_INFINITY, f64::max)
        };
        prop_assert!(worst(w) <= 1e-12, "not convex with W = {w}");
        prop_assert!(worst(0.9 * w) > 1e-7 * lambda * lambda, "convex with less than W = {w}");
    }
}

/// The moves of general and degenerate pairs against the fine grid of the other pair tests.
#[test]
fn searches_against_the_grid() {
    let mut rng = rng(5);
    for number in 0..30 {
        let mut draw = || normal(&mut rng);
        let p = [[draw(), draw()], [draw(), draw()]];
        let k = if number % 2 == 0 { [0.0; 3] } else { [draw(), draw(), draw()] };
        let r = 1 + number % 7;
        let z1: Vec<f64> = (0..r).map(|_| draw()).collect();
        let z2: Vec<f64> = if number % 5 == 0 { z1.clone() } else { (0..r).map(|_| draw()).collect() };
        for h in ["mcp", "scad", "capped-l1", "elastic-net"] {
            for lambda in [0.3, 1.0, 7.0] {
                let case = Case { p, k, z1: z1.clone(), z2: z2.clone(), h, lambda };
                let oracle = case.oracle(1024);
                case.check(oracle).unwrap_or_else(|e| panic!("{h} {lambda}: {e}\n{case:?}"));
            }
        }
    }
}

/// With γλ ≥ 1 and λ/s ≥ 1 no entry of a row of unit length reaches the bends: ℓ1 up to a constant.
#[test]
fn far_kinks_are_l1() {
    let mut rng = rng(6);
    let set: Shape = [("mcp-gamma".into(), 1.0), ("scad-a".into(), 3.0), ("scad-weight".into(), 1.0)].into();
    for _ in 0..50 {
        let angle: f64 = rng.random::<f64>() * 6.0;
        let (z1, z2) = ([angle.cos(), 0.0, angle.sin()], [0.0, 1.0, 0.0]);
        let p = [[normal(&mut rng), normal(&mut rng)], [normal(&mut rng), normal(&mut rng)]];
        let m = PairModel::linear(p, &z1, &z2);
        let mut scratch = Scratch::new(3);
        let l1 = penalty("l1", 1.5);
        let expected = change(&m, &l1, l1.search(&m, &mut scratch).as_ref());
        for name in ["mcp", "scad", "elastic-net"] {
            let h = (find_penalty(name).unwrap().make_shaped)(1.5, &set).unwrap();
            let found = change(&m, &h, h.search(&m, &mut scratch).as_ref());
            assert!((found - expected).abs() <= 1e-12, "{name}: {found}, l1 {expected}");
        }
    }
}

#[test]
fn bad_shapes_are_refused() {
    let made = |name: &str, key: &str, value: f64| {
        let set: Shape = [(key.into(), value)].into();
        (find_penalty(name).unwrap().make_shaped)(1.0, &set).unwrap_err().to_string()
    };
    assert_eq!(made("mcp", "mcp-gamma", 0.0), "mcp-gamma is 0: expected a finite number > 0");
    assert_eq!(made("scad", "scad-a", 2.0), "scad-a is 2: expected a finite number > 2");
    assert_eq!(made("scad", "scad-weight", -1.0), "scad-weight is -1: expected a finite number > 0");
    assert_eq!(
        made("capped-l1", "capped-l1-cap", f64::INFINITY),
        "capped-l1-cap is inf: expected a finite number > 0"
    );
    assert_eq!(made("box", "box-upper", 0.0), "box-upper is 0: expected a finite number > 0");
    assert_eq!(made("box", "box-lower", 0.5), "box-lower is 0.5: expected a finite number <= 0");
    assert_eq!(
        made("elastic-net", "elastic-net-eta", -0.5),
        "elastic-net-eta is -0.5: expected a finite number >= 0"
    );
    let unknown = find_penalty("lasso").unwrap_err().to_string();
    assert!(unknown.starts_with("there is no penalty 'lasso'; choose one of: none, l0, l1"), "{unknown}");
    for name in ["mcp", "scad", "capped-l1", "elastic-net"] {
        assert!((find_penalty(name).unwrap().make)(-1.0).is_err(), "{name}");
        assert!((find_penalty(name).unwrap().make)(0.0).is_ok(), "{name}");
    }
}

/// A move that ends on a bound is still inside.
#[test]
fn moves_to_a_bound_stay_inside() {
    let set: Shape = [("box-lower".into(), -0.3), ("box-upper".into(), 0.8)].into();
    let h = (find_penalty("box").unwrap().make_shaped)(0.0, &set).unwrap();
    // wants the first entry as large as possible
    let (z1, z2) = ([0.1, 0.2], [-0.3, 0.79]);
    let m = PairModel::linear([[0.0, -1.0], [0.0, 0.0]], &z1, &z2);
    let step = h.search(&m, &mut Scratch::new(2)).unwrap();
    assert!(matches!(step.branch, Branch::Rotation | Branch::Reflection));
    let change = change(&m, &h, Some(&step));
    assert!(change < -0.1 && change.is_finite(), "{change}");
}

/// λ has the unit of F and |x| has none: with λ times t, h is t times what it was and bends at the same |x|.
#[test]
fn default_shapes_do_not_depend_on_units() {
    let mut rng = rng(11);
    for info in PENALTIES.iter().filter(|info| info.has_lambda()) {
        for t in [2f64.powi(-60), 0.25, 2f64.powi(50)] {
            let (h, g) = ((info.make)(0.7).unwrap(), (info.make)(0.7 * t).unwrap());
            assert_eq!(h.kinks(), g.kinks(), "{}", info.name);
            assert_eq!(h.lipschitz() * t, g.lipschitz(), "{}", info.name);
            assert_eq!(h.weak_convexity().map(|w| w * t), g.weak_convexity(), "{}", info.name);
            for _ in 0..50 {
                let (x, mu) = (2.0 * rng.random::<f64>() - 1.0, 0.01 + rng.random::<f64>());
                assert_eq!(h.entry(x) * t, g.entry(x), "{} at {x}", info.name);
                assert_eq!(h.prox(x, mu), g.prox(x, mu / t), "{} at {x}", info.name);
            }
        }
    }
}
