//! The pair searches on two rows of any scale, from 1e-150 to 1e150: never a panic, always an orthogonal move, and
//! never above the slow twin by more than rounding.
//!
//! Scales come in two kinds. Those of Z, P and K whose products stay within a double are held to the slow twin; all
//! others (their squares overflow or vanish) have no values to compare, and must give a move that is orthogonal.

use crate::common::normal;
use crate::common::pair::Case;
use orthopt::nonsmooth::Nonsmooth;
use orthopt::penalty::{PENALTIES, PairPenalty, Shape, find_penalty};
use orthopt_core::pair::PairModel;
use orthopt_core::pair::fold::Scratch;
use orthopt_core::pair::slow;
use orthopt_fuzz::{pick, run};
use orthopt_hyperbolic::jpair;
use orthopt_hyperbolic::jpair::Ending;
use orthopt_hyperbolic::jpair::JPair;
use orthopt_linalg::plane::PairMove;
use rand::RngExt;
use rand_pcg::Pcg64;

/// A random power of ten between 10^-most and 10^most, or 1.
fn scale(rng: &mut Pcg64, most: f64) -> f64 {
    if rng.random_range(0..3) == 0 { 1.0 } else { 10f64.powf(rng.random_range(-most..most)) }
}

/// Zero, one of a few that repeat, or general.
fn entry(rng: &mut Pcg64) -> f64 {
    match rng.random_range(0..8) {
        0 | 1 => 0.0,
        2 => 0.5,
        3 => -0.25,
        _ => normal(rng),
    }
}

/// Rows of 1 to 24 columns, mostly few: the slow twin's cost grows with their square, and with three or four columns
/// pieces meet in every way that they do with more. General, one of them zero, parallel, or each column with a scale of
/// its own.
fn rows(rng: &mut Pcg64, size: f64, spread: f64) -> (Vec<f64>, Vec<f64>) {
    let most = pick(rng, &[2, 4, 4, 8, 24]);
    let r = rng.random_range(1..=most);
    let mut z1: Vec<f64> = (0..r).map(|_| size * entry(rng)).collect();
    let mut z2: Vec<f64> = (0..r).map(|_| size * entry(rng)).collect();
    match rng.random_range(0..8) {
        0 => z1.fill(0.0),
        1 => z2.clone_from(&z1),
        2 => z1.iter_mut().zip(&mut z2).for_each(|(a, b)| {
            let s = scale(rng, spread);
            (*a, *b) = (s * *a, s * *b);
        }),
        _ => {}
    }
    (z1, z2)
}

fn numbers<const N: usize>(rng: &mut Pcg64, size: f64) -> [f64; N] {
    std::array::from_fn(|_| size * entry(rng))
}

/// Penalties with their λ inside the common scale, and h restricted to what it allows.
fn case(rng: &mut Pcg64, h: &'static str, most: f64) -> Case {
    // P, K·W and λ of one scale, as those of a problem are, or each of its own
    let (z, all) = (scale(rng, most), scale(rng, most));
    let own = |rng: &mut Pcg64| if rng.random() { all } else { scale(rng, most) };
    let (mut z1, mut z2) = rows(rng, z, most.min(12.0));
    if h == "nonneg" {
        z1.iter_mut().chain(&mut z2).for_each(|v| *v = v.abs());
    }
    let (sp, sk) = (own(rng), own(rng));
    let p = numbers::<4>(rng, sp);
    let k = if rng.random() { numbers(rng, sk) } else { [0.0; 3] };
    let lambda = match h {
        "l0" | "l1" => own(rng) * rng.random_range(0.0..2.0),
        _ => 0.0,
    };
    Case { p: [[p[0], p[1]], [p[2], p[3]]], k, z1, z2, h, lambda }
}

fn never_above_the_twin(name: &str, h: &'static str) {
    run(name, 120, |rng| {
        let case = case(rng, h, 40.0);
        let twin = slow::minimise(&case.model(), &case.penalty()).step;
        let reference = case.value(Some(&twin)).min(case.value(None));
        if let Err(message) = case.check(reference) {
            panic!("{message}\n{case:?}");
        }
    });
}

#[test]
fn fuzz_pairs_none() {
    never_above_the_twin("pairs none", "none");
}

#[test]
fn fuzz_pairs_l0() {
    never_above_the_twin("pairs l0", "l0");
}

#[test]
fn fuzz_pairs_l1() {
    never_above_the_twin("pairs l1", "l1");
}

#[test]
fn fuzz_pairs_nonneg() {
    never_above_the_twin("pairs nonneg", "nonneg");
}

fn orthogonal(step: &PairMove) -> bool {
    (step.c * step.c + step.s * step.s - 1.0).abs() <= 1e-15
}

/// Scales whose squares and products are beyond a double: no value is right, but V is orthogonal whatever it is.
#[test]
fn fuzz_pairs_of_any_scale() {
    run("pairs of any scale", 2000, |rng| {
        for h in ["none", "l0", "l1", "nonneg"] {
            let case = case(rng, h, 150.0);
            for step in case.fast().into_iter().flatten() {
                assert!(orthogonal(&step), "{step:?}\n{case:?}");
            }
        }
    });
}

/// All other penalties: kinks are at places of their own, so that rows have entries about 1.
#[test]
fn fuzz_pairs_of_shaped_penalties() {
    run("pairs shaped", 250, |rng| {
        let info = &PENALTIES[rng.random_range(0..PENALTIES.len())];
        if info.name == "l21" {
            return; // no pairs
        }
        let (common, lambda) = (scale(rng, 6.0), rng.random_range(0.0..2.0));
        let (mut z1, mut z2) = rows(rng, 1.0, 6.0);
        let shape: Shape = if info.name == "box" {
            let (lower, upper) = (-rng.random_range(0.0..1.0f64), rng.random_range(0.05..1.0));
            z1.iter_mut().chain(&mut z2).for_each(|v| *v = v.clamp(lower, upper));
            [("box-lower".into(), lower), ("box-upper".into(), upper)].into()
        } else {
            Shape::default()
        };
        if info.name == "nonneg" {
            z1.iter_mut().chain(&mut z2).for_each(|v| *v = v.abs());
        }
        let h = (find_penalty(info.name).unwrap().make_shaped)(common * lambda, &shape).unwrap();
        let (p, k) = (numbers::<4>(rng, common), numbers::<3>(rng, common));
        let m = PairModel::with_curvature([[p[0], p[1]], [p[2], p[3]]], k, &z1, &z2);
        let change = |step: Option<&PairMove>| {
            let Some(step) = step else { return 0.0 };
            let (mut n1, mut n2) = (z1.clone(), z2.clone());
            step.apply(&z1, &z2, &mut n1, &mut n2);
            h.value(&n1) + h.value(&n2) - h.value(&z1) - h.value(&z2) - m.smooth_decrease(step)
        };
        let found = h.search(&m, &mut Scratch::new(z1.len()));
        assert!(found.as_ref().is_none_or(orthogonal), "{found:?}");
        let twin = slow::minimise(&m, &h).step;
        let (fast, slow) = (change(found.as_ref()), change(Some(&twin)).min(0.0));
        let square: f64 = z1.iter().chain(&z2).map(|v| v * v).sum();
        let terms = p.iter().chain(&k).map(|v| v.abs()).sum::<f64>() * (1.0 + square);
        let size = terms + h.value(&z1) + h.value(&z2);
        assert!(
            fast <= slow + 1e-9 * size,
            "{} λ = {:e}, {shape:?}: fast {fast}, slow {slow}\n{m:?}",
            info.name,
            common * lambda
        );
    });
}

/// The pairs of JOBCD: attained minima against the slow twin, and no number that is none.
#[test]
fn fuzz_j_pairs() {
    run("j pairs", 400, |rng| {
        let (size, definite, mixed) = (scale(rng, 40.0), rng.random_range(0..4) > 0, rng.random());
        let l: [[f64; 4]; 4] = std::array::from_fn(|_| numbers(rng, 1.0));
        let gram = |i: usize, k: usize| (0..4).map(|m| l[i][m] * l[k][m]).sum::<f64>();
        let theta = rng.random_range(0.01..1.0);
        let q = |i: usize, k: usize| match definite {
            true => gram(i, k) + if i == k { theta } else { 0.0 },
            false => l[i][k] + l[k][i],
        };
        let q = std::array::from_fn(|i| std::array::from_fn(|k| size * q(i, k)));
        let w = [numbers(rng, size), numbers(rng, size)];
        let m = JPair { w, q };
        let found = m.solve(mixed);
        assert!(found.decrease >= 0.0 && found.decrease.is_finite(), "{found:?}\n{m:?}");
        let Some(v) = &found.step else { return };
        let entries = v.matrix();
        assert!(entries.iter().flatten().all(|v| v.is_finite()), "{found:?}\n{m:?}");
        if definite {
            assert_eq!(found.ending, Ending::Attained, "{m:?}");
            let (slow, ..) = jpair::slow::minimise(&m, mixed, 9.0);
            let value = m.value_at_identity() - found.decrease;
            let terms = q.iter().flatten().chain(w.iter().flatten()).map(|v| v.abs()).sum::<f64>();
            assert!(value <= slow + 1e-9 * (terms + slow.abs()), "{value} {slow}\n{m:?}");
        }
    });
}
