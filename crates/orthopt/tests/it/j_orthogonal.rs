//! The J-orthogonal group: signatures, random points, decomposition, repair, stationarity.

use crate::common::jorth::{difference, feasible, golden, matrix, numbers, shuffled, times};
use crate::common::{cases, gaussian_rows, rng};
use orthopt::RowMat;
use orthopt::constraint::Signature;
use orthopt_core::constraint::j_orthogonal::CsFactors;
use orthopt_core::constraint::j_orthogonal::check;
use orthopt_core::constraint::j_orthogonal::feasibility;
use orthopt_core::constraint::j_orthogonal::polar;
use orthopt_core::constraint::j_orthogonal::random;
use orthopt_core::constraint::j_orthogonal::relative_feasibility;
use orthopt_core::constraint::j_orthogonal::repair;
use orthopt_core::constraint::j_orthogonal::residual;
use orthopt_core::constraint::j_orthogonal::skew;
use orthopt_core::constraint::j_orthogonal::spectral_norm;
use orthopt_core::constraint::j_orthogonal::stationarity;
use orthopt_core::constraint::j_orthogonal::tangent_descent;
use orthopt_linalg::factor::svd;
use orthopt_linalg::factor::transpose;
use proptest::prelude::*;

#[test]
fn golden_hyperbolic_cs_decompositions() {
    let file = golden(include_str!("../data/hyperbolic_cs.json"));
    let all = file["cases"].as_array().unwrap();
    assert_eq!(all.len(), 7);
    for (id, case) in all.iter().enumerate() {
        let j = Signature::from_signs(&numbers(&case["J"])).unwrap();
        let square = |v: &serde_json::Value| {
            if v.as_array().unwrap().is_empty() { RowMat::zeros(0, 0) } else { matrix(v) }
        };
        let factors = CsFactors {
            u1: square(&case["U1"]),
            u2: square(&case["U2"]),
            v1: square(&case["V1"]),
            v2: square(&case["V2"]),
            mu: numbers(&case["mu"]),
        };
        let (x, known) = (factors.compose(&j), matrix(&case["X"]));
        assert!(difference(&x, &known) <= 1e-13, "case {id}");
        assert!(feasibility(&x, &j) <= 1e-14, "case {id}");
        let (_, sigma, _) = svd(&x).unwrap();
        for (found, expected) in sigma.iter().zip(numbers(&case["expected_singular_values"])) {
            assert!((found - expected).abs() <= 1e-12, "case {id}: {found} {expected}");
        }
        let again = CsFactors::decompose(&known, &j).unwrap();
        assert!(difference(&again.compose(&j), &known) <= 1e-12, "case {id}");
        let (mut mu, mut expected) = (again.mu, numbers(&case["mu"]));
        mu.iter_mut().chain(&mut expected).for_each(|m| *m = m.abs());
        mu.sort_by(f64::total_cmp);
        expected.sort_by(f64::total_cmp);
        mu.iter().zip(&expected).for_each(|(a, b)| assert!((a - b).abs() <= 1e-12, "case {id}: {a} {b}"));
    }
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn random_points_are_feasible_and_bounded(n in 1usize..24, share in 0.0f64..1.01, mu in 0.0f64..1.0, seed in 0u64..1000) {
        let p = ((n as f64 * share) as usize).min(n);
        let j = shuffled(p, n, seed);
        let x = random(&j, mu, &mut rng(seed)).unwrap();
        let bound = mu.exp() * (1.0 + 1e-12);
        prop_assert!(spectral_norm(&x) <= bound);
        let most = residual(&x, &j).data().iter().fold(0.0f64, |m, v| m.max(v.abs()));
        prop_assert!(most <= 1e-13, "{most:e}");
        // Xᵀ belongs to the group too, and X⁻¹ = JXᵀJ
        prop_assert!(feasibility(&transpose(&x), &j) <= 1e-13);
        let inverse = j.times_right(&j.times(&transpose(&x)));
        let identity = RowMat::from_fn(n, n, |a, b| f64::from(u8::from(a == b)));
        prop_assert!(difference(&times(&x, &inverse), &identity) <= 1e-12);
        check(&x, &j, "X").unwrap();
        // and it is put together again from its factors
        let again = CsFactors::decompose(&x, &j).unwrap().compose(&j);
        prop_assert!(difference(&again, &x) <= 1e-12);
    }

    #[test]
    fn the_tangent_direction_descends_along_the_group(n in 2usize..12, p in 0usize..12, seed in 0u64..1000) {
        let j = shuffled(p.min(n), n, seed);
        let (x, g) = (feasible(&j, seed), gaussian_rows(n, n, seed + 1));
        let d = tangent_descent(&x, &g, &j);
        // DᵀJX + XᵀJD = 0
        let (a, b) = (times(&transpose(&d), &j.times(&x)), times(&transpose(&x), &j.times(&d)));
        let minus = RowMat::from_fn(n, n, |i, k| -b.get(i, k));
        prop_assert!(difference(&a, &minus) <= 1e-10 * (1.0 + d.norm()));
        let rate = g.inner(&d);
        let expected = -0.5 * skew(&x, &g, &j).norm().powi(2);
        prop_assert!((rate - expected).abs() <= 1e-10 * (1.0 + expected.abs()), "{rate} {expected}");
    }

    #[test]
    fn repair_brings_small_errors_to_rounding(n in 1usize..20, p in 0usize..20, size in -9.0f64..-2.5, seed in 0u64..1000) {
        let j = shuffled(p.min(n), n, seed);
        let exact = feasible(&j, seed);
        let noise = gaussian_rows(n, n, seed + 7);
        let scale = 10f64.powf(size) / n as f64;
        let mut x = RowMat::from_fn(n, n, |a, b| exact.get(a, b) + scale * noise.get(a, b));
        let before = x.clone();
        let error = repair(&mut x, &j).expect("a small error");
        prop_assert!(error <= 1e-13 * n as f64, "{error:e}");
        prop_assert!(difference(&x, &before) <= 100.0 * scale * n as f64);
    }
}

#[test]
fn the_stationarity_measure_is_the_derivative_along_plane_rotations() {
    let j = Signature::parse("+ - - + -", 5).unwrap();
    let (x, c) = (feasible(&j, 3), gaussian_rows(5, 5, 4));
    let f = |x: &RowMat| x.inner(&times(&c, x)); // tr(XᵀCX), C any square matrix
    let g = {
        let (a, b) = (times(&c, &x), times(&transpose(&c), &x));
        RowMat::from_fn(5, 5, |i, k| a.get(i, k) + b.get(i, k))
    };
    let omega = skew(&x, &g, &j);
    for a in 0..5 {
        for b in 0..a {
            let turned = |t: f64| {
                let (c, s, back) =
                    if j.mixed(a, b) { (t.cosh(), t.sinh(), 1.0) } else { (t.cos(), t.sin(), -1.0) };
                let mut y = x.clone();
                for k in 0..5 {
                    let (u, v) = (x.get(a, k), x.get(b, k));
                    y.set(a, k, c * u + s * v);
                    y.set(b, k, back * s * u + c * v);
                }
                assert!(feasibility(&y, &j) <= 1e-13);
                f(&y)
            };
            let slope = (turned(1e-5) - turned(-1e-5)) / 2e-5;
            let known = omega.get(a, b).abs();
            assert!((slope.abs() - known).abs() <= 1e-7 * (1.0 + known), "{a} {b}: {slope} {known}");
        }
    }
    assert_eq!(stationarity(&x, &g, &j), omega.data().iter().fold(0.0, |m: f64, v| m.max(v.abs())));
}

#[test]
fn repair_refuses_what_it_could_make_worse() {
    let j = Signature::leading(3, 6).unwrap();
    let exact = feasible(&j, 1);
    let noise = gaussian_rows(6, 6, 2);
    let far = RowMat::from_fn(6, 6, |a, b| exact.get(a, b) + 0.3 * noise.get(a, b));
    let mut x = far.clone();
    assert!(repair(&mut x, &j).is_none());
    assert_eq!(x, far, "left as it was");
    let mut broken = RowMat::from_fn(6, 6, |_, _| f64::NAN);
    assert!(repair(&mut broken, &j).is_none());
}

#[test]
fn the_polar_factor_reaches_the_group_from_afar() {
    for (p, seed) in [(0, 1), (2, 2), (3, 3), (6, 4)] {
        let j = shuffled(p, 6, seed);
        let (exact, noise) = (feasible(&j, seed), gaussian_rows(6, 6, seed + 9));
        let x = RowMat::from_fn(6, 6, |a, b| exact.get(a, b) + 0.05 * noise.get(a, b));
        let q = polar(&x, &j).unwrap();
        assert!(feasibility(&q, &j) <= 1e-14);
        // S = Q⁻¹X satisfies JSᵀJ = S
        let s = times(&j.times_right(&j.times(&transpose(&q))), &x);
        let adjoint = j.times_right(&j.times(&transpose(&s)));
        assert!(difference(&s, &adjoint) <= 1e-12);
        assert!(difference(&polar(&exact, &j).unwrap(), &exact) <= 1e-12);
    }
    let j = Signature::leading(1, 2).unwrap();
    assert!(polar(&RowMat::zeros(2, 2), &j).is_none());
    // rows and columns swapped: no signature fits
    assert!(polar(&RowMat::from_fn(2, 2, |a, b| f64::from(u8::from(a != b))), &j).is_none());
}

#[test]
fn large_points_are_as_feasible_as_rounding_allows() {
    let j = Signature::leading(10, 25).unwrap();
    let x = random(&j, 8.0, &mut rng(5)).unwrap();
    let norm = spectral_norm(&x);
    assert!(norm > 100.0 && norm <= 8f64.exp());
    assert!(feasibility(&x, &j) <= 10.0 * f64::EPSILON * norm * norm);
    assert!(relative_feasibility(&x, &j) <= 10.0 * f64::EPSILON);
}

#[test]
fn signatures_are_read_and_refused() {
    assert_eq!(Signature::parse("2", 4).unwrap().signs(), [1.0, 1.0, -1.0, -1.0]);
    assert_eq!(Signature::parse("1\n-1\n\n+1\n", 3).unwrap().signs(), [1.0, -1.0, 1.0]);
    assert_eq!(Signature::parse("+,-", 2).unwrap().minus(), [1]);
    assert_eq!(Signature::parse("-1", 1).unwrap().plus().len(), 0);
    assert!(
        Signature::parse("4", 4).unwrap().is_definite() && Signature::parse("0", 4).unwrap().is_definite()
    );
    let said = |text: &str, n| Signature::parse(text, n).unwrap_err().to_string();
    assert_eq!(said("7", 5), "signature is 7: expected at most the number of variables, 5");
    assert_eq!(said("1 2 -1", 3), "signature is 2: expected 1 or -1 as entry 2 (counted from 1)");
    assert_eq!(
        said("1 -1", 3),
        "signature is a list of 2 signs: expected one sign for each of the 3 variables, or the number of leading ones"
    );
    assert!(Signature::from_signs(&[1.0, 0.0]).is_err());
    assert!(Signature::from_signs(&[1.0, f64::NAN]).is_err());
    assert!(random(&Signature::leading(1, 2).unwrap(), f64::NAN, &mut rng(1)).is_err());
}

#[test]
fn points_of_others_are_checked() {
    let j = Signature::leading(2, 4).unwrap();
    let said = |x: &RowMat| check(x, &j, "X of x.npy").unwrap_err().to_string();
    assert_eq!(said(&RowMat::zeros(4, 3)), "X of x.npy is 4 x 3, expected 4 x 4");
    assert!(
        said(&RowMat::zeros(4, 4))
            .starts_with("X of x.npy is not J-orthogonal: the mean of |X'JX - J| is 2.500e-1")
    );
    let mut x = feasible(&j, 1);
    x.set(1, 2, f64::NAN);
    assert!(said(&x).contains("not finite in row 2, column 3"));
    x.set(1, 2, 1e200);
    assert!(check(&x, &j, "X").is_err());
}
