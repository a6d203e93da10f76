//! Problems over the J-orthogonal group: closed forms, golden values, gradients, bad input.

use crate::common::jorth::{difference, feasible, golden, matrix, numbers, relative, shuffled, times};
use crate::common::{cases, gaussian, gaussian_rows, normal, rng};
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::certify::Scope;
use orthopt::constraint::Signature;
use orthopt::family::Family;
use orthopt::problem::PcaData;
use orthopt::problem::{JProblem, covariance};
use orthopt::smooth::{FiniteSum, HessianVector, JQuadratic, Placement, Probe, Smooth, euclidean_distances};
use orthopt_core::constraint::j_orthogonal::feasibility;
use orthopt_core::constraint::j_orthogonal::skew;
use orthopt_core::smooth::two_sided::hyperbolic_minimum;
use orthopt_core::smooth::two_sided::hyperbolic_optimum;
use orthopt_hyperbolic::jpair::Component;
use orthopt_hyperbolic::jpair::JMove;
use orthopt_linalg::factor::transpose;
use proptest::prelude::*;

fn gradient(f: &impl Smooth, x: &RowMat) -> RowMat {
    let mut g = RowMat::zeros(x.nrows(), x.ncols());
    let value = f.value_and_gradient(x, &mut g);
    assert!((value - f.value(x)).abs() <= 1e-12 * (1.0 + value.abs()));
    g
}

/// Central differences of f, entry by entry.
fn differences(f: &impl Smooth, x: &RowMat, h: f64) -> RowMat {
    RowMat::from_fn(x.nrows(), x.ncols(), |i, k| {
        let at = |t: f64| {
            let mut y = x.clone();
            y.set(i, k, x.get(i, k) + t);
            f.value(&y)
        };
        (at(h) - at(-h)) / (2.0 * h)
    })
}

/// LLᵀ/n + a ridge.
fn definite(n: usize, seed: u64) -> RowMat {
    let a = gaussian(2 * n, n, seed);
    covariance(&PcaData::Dense(a.as_ref()), 1e-2).unwrap()
}

#[test]
fn golden_hyperbolic_eigenvalue_problems() {
    let file = golden(include_str!("../data/hevp_closed_form.json"));
    let all = file["cases"].as_array().unwrap();
    assert_eq!(all.len(), 15);
    let mut seen = 0;
    for case in all {
        let id = &case["id"];
        let (c, j) = (matrix(&case["C"]), Signature::from_signs(&numbers(&case["J"])).unwrap());
        if let Some(known) = case.get("X_opt") {
            seen += 1;
            let (optimum, x) = hyperbolic_optimum(c.as_mat(), &j).unwrap();
            let alone = hyperbolic_minimum(c.as_mat(), &j).unwrap();
            assert!((alone - optimum).abs() <= 1e-12 * optimum, "{alone} {optimum}");
            let expected = case["optimum"].as_f64().unwrap();
            assert!((optimum - expected).abs() <= 1e-10 * expected, "case {id}: {optimum}");
            assert!(feasibility(&x, &j) <= 1e-13, "case {id}");
            let p = JProblem::hyperbolic_eig(c.as_mat(), j.clone()).unwrap();
            let (given, feasible) = (matrix(known), matrix(&case["feasible_point"]));
            for x in [&x, &given] {
                assert!((p.value(x) - expected).abs() <= 1e-10 * expected, "case {id}");
                assert!(
                    p.criticality(x, &Cancel::never()).unwrap() <= 1e-9 * expected,
                    "case {id}: {}",
                    p.criticality(x, &Cancel::never()).unwrap()
                );
                let certificate = p.block_stationarity(x, Scope::All, &Cancel::never()).unwrap();
                assert!(certificate.holds(1e-12 * (1.0 + expected)), "case {id}: {certificate:?}");
            }
            let value = case["feasible_value"].as_f64().unwrap();
            assert!((p.value(&feasible) - value).abs() <= 1e-10 * value, "case {id}");
            assert!((p.optimum().unwrap().unwrap() - expected).abs() <= 1e-10 * expected);
        }
    }
    assert_eq!(seen, 12);
    let boost = |mu: f64| RowMat::from_fn(2, 2, |a, b| if a == b { mu.cosh() } else { mu.sinh() });
    let j = Signature::leading(1, 2).unwrap();
    // C = [[1, 1], [1, 1]]: the infimum 0 is not attained, and C is not definite
    let c = matrix(&all[12]["C"]);
    let said = JProblem::hyperbolic_eig(c.as_mat(), j.clone()).unwrap_err().to_string();
    assert!(said.contains("positive definite") && said.contains("ridge"), "{said}");
    let p = JProblem::quadratic(c.as_mat(), None, j.clone()).unwrap();
    assert!((p.value(&boost(-9.0)) - (-18f64).exp()).abs() <= 1e-8 * p.value(&boost(0.0)));
    // the papers' objective falls without end
    let p = JProblem::reproduction(matrix(&all[13]["C"]).as_mat(), j).unwrap();
    for (mu, value) in numbers(&all[13]["boost_mu"]).iter().zip(numbers(&all[13]["value_of_minus_trace"])) {
        assert!((p.value(&boost(*mu)) - value).abs() <= 1e-10 * value.abs());
    }
    // C − τJ has the same minimisers and the optimum shifted by −τ(p − q)
    let shifted = &all[14];
    let (base, tau) = (&all[3], shifted["tau"].as_f64().unwrap());
    let j = Signature::from_signs(&numbers(&shifted["J"])).unwrap();
    let c = matrix(&base["C"]);
    let m = RowMat::from_fn(4, 4, |a, b| 2.0 * (c.get(a, b) - if a == b { tau * j.sign(a) } else { 0.0 }));
    let p = JProblem::quadratic(m.as_mat(), None, j).unwrap();
    let x = matrix(&base["X_opt"]);
    assert!((p.value(&x) - shifted["optimum"].as_f64().unwrap()).abs() <= 1e-10);
    assert!(p.criticality(&x, &Cancel::never()).unwrap() <= 1e-10);
}

#[test]
fn golden_structural_probes() {
    let file = golden(include_str!("../data/hspp_loss_gradient.json"));
    let all = file["cases"].as_array().unwrap();
    assert_eq!(all.len(), 12);
    for (id, case) in all.iter().enumerate() {
        let (n, p) = (case["n"].as_u64().unwrap() as usize, case["p"].as_u64().unwrap() as usize);
        let j = Signature::leading(p, n).unwrap();
        let literal = case["variant"] == "literal";
        let placement = if literal { Placement::Printed } else { Placement::After };
        let (d, alpha) = (matrix(&case["D"]), case["alpha"].as_f64().unwrap());
        let f = Probe::new(d.as_mat(), matrix(&case["T"]), j.clone(), alpha, placement).unwrap();
        let x = matrix(&case["X"]);
        let loss = case["loss"].as_f64().unwrap();
        assert!((f.value(&x) - loss).abs() <= 1e-10 * loss, "case {id}: {} {loss}", f.value(&x));
        let identity = RowMat::from_fn(n, n, |a, b| f64::from(u8::from(a == b)));
        let at_identity = case["loss_at_identity"].as_f64().unwrap();
        assert!((f.value(&identity) - at_identity).abs() <= 1e-10 * at_identity, "case {id}");
        let g = gradient(&f, &x);
        assert!(relative(&g, &matrix(&case["gradient"])) <= 1e-9, "case {id}");
        let lie = skew(&x, &g, &j).data().iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let known = case["lie_gradient_skew_JGXt_maxabs"].as_f64().unwrap();
        if literal {
            assert!(lie <= 1e-12 * (1.0 + g.norm()), "case {id}: {lie:e}");
        } else {
            // the file has ½(M − Mᵀ); the derivative along a plane rotation is M − Mᵀ
            assert!((0.5 * lie - known).abs() <= 1e-9 * known, "case {id}: {lie} {known}");
        }
        let rows: Vec<usize> = numbers(&case["minibatch_rows"]).iter().map(|r| *r as usize).collect();
        let mut part = RowMat::zeros(n, n);
        let value = f.sample_gradient(&rows, &x, &mut part);
        let known = case["minibatch_loss"].as_f64().unwrap();
        assert!((value - known).abs() <= 1e-10 * known, "case {id}: {value} {known}");
        assert!(relative(&part, &matrix(&case["minibatch_gradient"])) <= 1e-9, "case {id}");
        let every: Vec<usize> = (0..d.nrows()).collect();
        f.sample_gradient(&every, &x, &mut part);
        assert!(relative(&part, &g) <= 1e-12, "case {id}");
    }
}

/// A probe of m random points with the Euclidean distances as T.
fn probe(m: usize, j: &Signature, seed: u64, placement: Placement) -> Probe {
    let d = gaussian(m, j.len(), seed);
    Probe::new(d.as_ref(), euclidean_distances(d.as_ref()), j.clone(), 1.0, placement).unwrap()
}

/// The printed objective does not depend on X: not a single move changes it.
#[test]
fn the_printed_probe_is_constant() {
    let j = shuffled(4, 9, 2);
    let (literal, after) = (probe(150, &j, 1, Placement::Printed), probe(150, &j, 1, Placement::After));
    let identity = RowMat::from_fn(9, 9, |a, b| f64::from(u8::from(a == b)));
    let value = literal.value(&identity);
    assert!((value - after.value(&identity)).abs() <= 1e-12 * value);
    for seed in 0..5 {
        let x = feasible(&j, seed);
        assert!((literal.value(&x) - value).abs() <= 1e-12 * value);
        assert!((after.value(&x) - value).abs() >= 1e-5 * value);
        let g = gradient(&literal, &x);
        assert!(skew(&x, &g, &j).norm() <= 1e-11 * g.norm());
    }
}

proptest! {
    #![proptest_config(cases(20))]

    #[test]
    fn gradients_are_those_of_central_differences(n in 2usize..7, p in 0usize..6, seed in 0u64..500) {
        let j = shuffled(p.min(n - 1), n, seed);
        let x = feasible(&j, seed);
        let f = probe(7, &j, seed, Placement::After);
        let (g, fd) = (gradient(&f, &x), differences(&f, &x, 1e-6));
        // a pair of points near one of the kinks of d spoils the differences, so most must agree
        let close = g.data().iter().zip(fd.data()).filter(|(a, b)| (*a - *b).abs() <= 1e-5 * (1.0 + fd.norm())).count();
        prop_assert!(close * 10 >= 9 * n * n, "{close} of {}", n * n);
        let (m, k) = (definite(n, seed), gaussian_rows(n, n, seed));
        let k = RowMat::from_fn(n, n, |a, b| k.get(a, b) + k.get(b, a));
        for right in [None, Some(k.as_mat())] {
            let f = JQuadratic::new(m.as_mat(), right).unwrap();
            prop_assert!(difference(&gradient(&f, &x), &differences(&f, &x, 1e-4)) <= 1e-7);
            // the Hessian of a quadratic is its gradient map, and differences find it too
            let d = gaussian_rows(n, n, seed + 3);
            let exact = f.hessian_vector(&x, &d);
            prop_assert!(relative(&Wrapped(f).hessian_vector(&x, &d), &exact) <= 1e-8);
        }
    }
}

/// A user's own f, with nothing but what must be there.
struct Wrapped(JQuadratic);

impl Smooth for Wrapped {
    fn nrows(&self) -> usize {
        self.0.nrows()
    }
    fn value(&self, x: &RowMat) -> f64 {
        self.0.value(x)
    }
    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        self.0.gradient(x, g);
    }
}

impl HessianVector for Wrapped {}

#[test]
fn gradients_do_not_depend_on_the_number_of_threads() {
    let j = shuffled(10, 24, 1);
    let (f, x) = (probe(700, &j, 2, Placement::After), feasible(&j, 3));
    let sample: Vec<usize> = (0..700).step_by(3).collect();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut part = RowMat::zeros(24, 24);
            let value = f.sample_gradient(&sample, &x, &mut part);
            (f.value(&x), gradient(&f, &x), value, part)
        })
    };
    assert_eq!(on(1), on(3));
}

/// Every pair offers what its subproblem says, also where there is no minimum.
#[test]
fn block_stationarity_finds_the_best_pair() {
    let (n, j) = (7, shuffled(4, 7, 5));
    let (c, x) = (definite(n, 4), feasible(&j, 6));
    let p = JProblem::hyperbolic_eig(c.as_mat(), j.clone()).unwrap();
    let before = p.value(&x);
    let mut most = 0.0f64;
    for a in 0..n {
        for b in a + 1..n {
            for k in -400..=400i32 {
                let component = if j.mixed(a, b) { Component::BOOSTS[0] } else { Component::Rotation };
                let mut y = x.clone();
                let v = JMove::at(component, f64::from(k) * 5e-3);
                let (mut z1, mut z2) = (y.row(a).to_vec(), y.row(b).to_vec());
                v.apply(&mut z1, &mut z2);
                y.row_mut(a).copy_from_slice(&z1);
                y.row_mut(b).copy_from_slice(&z2);
                most = most.max(before - p.value(&y));
            }
        }
    }
    let certificate = p.block_stationarity(&x, Scope::All, &Cancel::never()).unwrap();
    assert_eq!((certificate.pairs_checked, certificate.pairs_total), (21, 21));
    assert!(certificate.max_decrease >= most - 1e-9 * before, "{certificate:?}, found {most}");
    assert!(certificate.mean_distance > 0.0 && !certificate.holds(1e-9));
    let sample = p.block_stationarity(&x, Scope::Sample { pairs: 20, seed: 1 }, &Cancel::never()).unwrap();
    assert!(sample.pairs_checked == 20 && sample.max_decrease <= certificate.max_decrease);
    let unbounded = JProblem::reproduction(c.as_mat(), j).unwrap();
    let certificate = unbounded.block_stationarity(&x, Scope::All, &Cancel::never()).unwrap();
    assert!(certificate.max_decrease.is_finite() && certificate.max_decrease > 0.1 * before);
}

#[test]
fn covariances_with_a_ridge() {
    let a = gaussian(9, 4, 1);
    let plain = covariance(&PcaData::Dense(a.as_ref()), 0.0).unwrap();
    let rows = RowMat::from_mat(a.as_ref());
    let gram = times(&transpose(&rows), &rows);
    let expected = RowMat::from_fn(4, 4, |i, k| gram.get(i, k) / 9.0);
    assert!(difference(&plain, &expected) <= 1e-14);
    let trace: f64 = (0..4).map(|i| plain.get(i, i)).sum();
    let sparse = crate::common::sparse(&a);
    for (data, base) in [
        (PcaData::Dense(a.as_ref()), &plain),
        (PcaData::Sparse(sparse.as_ref(), None), &plain),
        (PcaData::Gram(plain.as_mat()), &plain),
    ] {
        let with = covariance(&data, 0.5).unwrap();
        let ridged =
            RowMat::from_fn(4, 4, |i, k| base.get(i, k) + if i == k { 0.5 * trace / 4.0 } else { 0.0 });
        assert!(difference(&with, &ridged) <= 1e-13);
    }
    assert!(covariance(&PcaData::Dense(a.as_ref()), -1.0).is_err());
    assert!(covariance(&PcaData::Dense(a.as_ref()), f64::NAN).is_err());
}

#[test]
fn bad_input_is_refused_with_what_to_do() {
    let j = Signature::leading(2, 4).unwrap();
    let said = |c: &RowMat| JProblem::hyperbolic_eig(c.as_mat(), j.clone()).unwrap_err().to_string();
    let mut c = definite(4, 1);
    c.set(0, 2, 9.0);
    assert!(said(&c).starts_with("the matrix C is not symmetric: entry (1, 3) is 9 but (3, 1) is "));
    let indefinite = RowMat::from_fn(4, 4, |a, b| if a == b { [1.0, 2.0, -0.5, 3.0][a] } else { 0.0 });
    assert_eq!(
        said(&indefinite),
        "the matrix C is not positive definite: its smallest eigenvalue is -5.000e-1, so the minimum may not exist; add a ridge of at least 4.0e-1 times its mean diagonal entry"
    );
    let singular = RowMat::from_fn(4, 4, |_, _| 1.0);
    assert!(said(&singular).contains("add a ridge of at least 1.0e-3"), "{}", said(&singular));
    // the ridge that the message offers is enough
    for (c, ridge) in [(&indefinite, 0.4), (&singular, 1e-3)] {
        let better = covariance(&PcaData::Gram(c.as_mat()), ridge).unwrap();
        JProblem::hyperbolic_eig(better.as_mat(), j.clone()).unwrap();
    }
    assert!(said(&RowMat::zeros(4, 4)).contains("smallest eigenvalue is 0.000e0"));
    assert!(said(&RowMat::zeros(4, 3)).contains("4 x 3"));
    let mut broken = definite(4, 1);
    broken.set(1, 1, f64::NAN);
    assert!(said(&broken).contains("not finite in row 2, column 2"));
    assert_eq!(
        said(&definite(5, 1)),
        "signature is one of 4 signs: expected one sign for each of the 5 variables"
    );
    let p = JProblem::hyperbolic_eig(definite(4, 1).as_mat(), j.clone()).unwrap();
    assert!(p.start("pca", 0).unwrap_err().to_string().contains("random, identity"));
    assert!(p.check(&RowMat::zeros(4, 4), "X").is_err());
    for name in ["random", "identity"] {
        p.check(&p.start(name, 3).unwrap(), "X").unwrap();
    }

    let d = gaussian(6, 4, 1);
    let t = euclidean_distances(d.as_ref());
    let refused = |d: &faer::Mat<f64>, t: &RowMat, j: &Signature, alpha: f64| {
        Probe::new(d.as_ref(), t.clone(), j.clone(), alpha, Placement::After).unwrap_err().to_string()
    };
    assert!(refused(&d, &RowMat::zeros(5, 6), &j, 1.0).contains("T is 5 x 6, expected 6 x 6"));
    assert!(refused(&d, &t, &Signature::leading(2, 5).unwrap(), 1.0).contains("D is 6 x 4"));
    assert!(refused(&d, &t, &Signature::leading(4, 4).unwrap(), 1.0).contains("at least one minus one"));
    assert!(refused(&d, &t, &j, 0.0).contains("alpha is 0"));
    let mut lopsided = t.clone();
    lopsided.set(0, 1, 7.0);
    assert!(refused(&d, &lopsided, &j, 1.0).contains("not symmetric"));
}

/// Points that coincide, points at the origin, antipodes: finite values and gradients.
#[test]
fn degenerate_points_of_the_probe() {
    let j = Signature::leading(2, 4).unwrap();
    let mut rng = rng(4);
    let base = RowMat::from_fn(6, 4, |i, _| if i == 0 { 0.0 } else { normal(&mut rng) });
    let d = faer::Mat::from_fn(6, 4, |i, k| match i {
        2 => base.get(1, k),
        3 => -base.get(1, k),
        _ => base.get(i, k),
    });
    let f =
        Probe::new(d.as_ref(), euclidean_distances(d.as_ref()), j.clone(), 1.0, Placement::After).unwrap();
    for seed in 0..4 {
        let x = feasible(&j, seed);
        let g = gradient(&f, &x);
        assert!(f.value(&x).is_finite() && g.find_non_finite().is_none() && g.norm() <= 1e3, "{}", g.norm());
    }
}
