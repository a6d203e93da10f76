//! `procrustes`: closed forms where there are some, planted sparse loadings, and what is refused.

use crate::common::first_order::{plain_product, polar};
use crate::common::{gaussian, gaussian_rows, normal, rng};
use faer::Mat;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::certify::Scope;
use orthopt::family::{AnyProblem, Family, LinearInput, Request, find_problem, pose};
use orthopt::problem::{PcaData, PcaProblem};
use orthopt::solve::{Solution, Status, Stopping};

fn posed(data: &PcaData<'_>, options: &Request) -> orthopt::Result<PcaProblem> {
    match pose(find_problem("procrustes").unwrap(), data, options)?.problem {
        AnyProblem::Pca(p) => Ok(p),
        _ => panic!("f with a linear term, and h"),
    }
}

fn of(a: &Mat<f64>, b: &RowMat, change: impl FnOnce(&mut Request)) -> PcaProblem {
    let mut options = Request { target: Some(b.clone().into()), ..Default::default() };
    change(&mut options);
    posed(&PcaData::Dense(a.as_ref()), &options).unwrap()
}

fn solved(p: &PcaProblem, solver: Option<&str>, seed: u64) -> Solution {
    solved_within(None, p, solver, seed)
}

fn solved_within(max_iters: Option<u64>, p: &PcaProblem, solver: Option<&str>, seed: u64) -> Solution {
    let wanted = Request { solver: solver.map(Into::into), seed: Some(seed), ..Default::default() };
    let stopping = Stopping { max_iters, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    p.plan(&wanted).unwrap().run(p, &wanted, &stopping, solver.map(|_| 0), &Cancel::never(), &mut []).unwrap()
}

/// ½‖AX − B‖², entry by entry.
fn fit(a: &Mat<f64>, x: &RowMat, b: &RowMat) -> f64 {
    let ax = plain_product(&RowMat::from_mat(a.as_ref()), x);
    0.5 * ax.data().iter().zip(b.data()).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
}

fn nuclear(m: &RowMat) -> f64 {
    m.to_mat().singular_values().unwrap().iter().sum()
}

fn transposed(a: &Mat<f64>) -> RowMat {
    RowMat::from_fn(a.ncols(), a.nrows(), |i, j| a[(j, i)])
}

/// X square: ½‖A‖² + ½‖B‖² − the sum of the singular values of A'B, in both halves of O(n).
#[test]
fn square_problems_have_their_closed_form() {
    for seed in 0..6 {
        let (a, b) = (gaussian(20, 5, seed), gaussian_rows(20, 5, 50 + seed));
        let atb = plain_product(&transposed(&a), &b);
        let squares = RowMat::from_mat(a.as_ref()).norm().powi(2) + b.norm().powi(2);
        let least = 0.5 * squares - nuclear(&atb);
        let p = of(&a, &b, |_| ());
        for solver in [None, Some("obcd"), Some("obcd-jacobi")] {
            let found = solved(&p, solver, seed);
            let f = found.objective.total;
            assert!((f - least).abs() <= 1e-8 * squares, "seed {seed}, {solver:?}: {f} and {least}");
            assert!((f - fit(&a, &found.x, &b)).abs() <= 1e-10 * squares);
        }
    }
}

/// X tall and A'A = I: the polar factor of A'B. Else: no start finds less than the default.
#[test]
fn tall_problems() {
    let q = polar(&gaussian_rows(30, 9, 4)).to_mat();
    let b = gaussian_rows(30, 3, 5);
    let least = 0.5 * 3.0 + 0.5 * b.norm().powi(2) - nuclear(&plain_product(&transposed(&q), &b));
    let found = solved(&of(&q, &b, |_| ()), None, 1);
    assert!((found.objective.total - least).abs() <= 1e-8 * least);
    for seed in 0..4 {
        let (a, b) = (gaussian(25, 8, 10 + seed), gaussian_rows(25, 2, 20 + seed));
        let p = of(&a, &b, |_| ());
        let default = solved(&p, None, 0);
        assert!(matches!(default.status, Status::Converged), "{:?}", default.message);
        for other in 0..10 {
            let wanted = Request {
                solver: Some("lbfgs".into()),
                init: Some(orthopt::start::Start::Random.into()),
                seed: Some(other),
                ..Default::default()
            };
            let stopping = Stopping { max_iters: Some(2000), time_limit: None, tol: 1e-9, min_decrease: 0.0 };
            let plan = p.plan(&wanted).unwrap();
            let f =
                plan.run(&p, &wanted, &stopping, Some(0), &Cancel::never(), &mut []).unwrap().objective.total;
            assert!(default.objective.total <= f + 1e-7 * f.abs(), "{} and {f}", default.objective.total);
        }
        assert!(p.explained_variance(&default.x).is_none() && p.bounded().is_err());
    }
}

/// Sparse loadings behind a noisy target are found by ℓ1, ℓ0 and rows, and pairs of rows agree that they are stationary.
#[test]
fn planted_loadings_are_found() {
    let truth = RowMat::from_fn(14, 3, |i, k| {
        let own = (i / 2 == k) as u8;
        f64::from(own) * std::f64::consts::FRAC_1_SQRT_2 * if i % 2 == 1 && k == 1 { -1.0 } else { 1.0 }
    });
    let a = gaussian(300, 14, 8);
    let mut noise = rng(9);
    let exact = plain_product(&RowMat::from_mat(a.as_ref()), &truth);
    let b = RowMat::from_fn(300, 3, |i, k| exact.get(i, k) + 0.1 * normal(&mut noise));
    for (penalty, lambda) in [("l1", 15.0), ("l0", 3.0), ("l21", 15.0), ("mcp", 15.0)] {
        let p = of(&a, &b, |o| (o.penalty, o.lambda) = (Some(penalty.into()), Some(lambda)));
        let found = solved(&p, None, 0);
        for i in 0..14 {
            for k in 0..3 {
                let (x, t) = (found.x.get(i, k), truth.get(i, k));
                if penalty == "l21" {
                    assert_eq!(found.x.row(i).iter().any(|v| *v != 0.0), i < 6, "row {i}");
                } else {
                    assert_eq!(x != 0.0, t != 0.0, "{penalty}, entry {i}, {k}: {x}");
                }
                assert!((x - t).abs() <= 0.05, "{penalty}, entry {i}, {k}: {x} and {t}");
            }
        }
        match p.block_stationarity(&found.x, Scope::All, &Cancel::never()) {
            Some(c) => assert!(c.max_decrease <= 1e-6 * found.scale, "{penalty}: {c:?}"),
            None => assert_eq!(penalty, "l21"),
        }
    }
}

/// C and E themselves give the same as A and B, but for the constant.
#[test]
fn of_c_itself() {
    let (a, b) = (gaussian(25, 8, 1), gaussian_rows(25, 2, 2));
    let at = transposed(&a);
    let c = plain_product(&at, &RowMat::from_mat(a.as_ref())).to_mat();
    let mut e = plain_product(&at, &b);
    e.data_mut().iter_mut().for_each(|v| *v = -*v);
    let options = Request { linear: Some(LinearInput::Given(e).into()), ..Default::default() };
    let p = posed(&PcaData::Gram(c.as_ref()), &options).unwrap();
    let x = polar(&gaussian_rows(8, 2, 3));
    let constant = 0.5 * b.norm().powi(2);
    assert!((p.value(&x) + constant - of(&a, &b, |_| ()).value(&x)).abs() <= 1e-10 * constant);
}

/// The default λ finds planted loadings, whatever their number; without a target that says anything it is measured by C.
#[test]
fn the_default_lambda_suits_the_target() {
    for own in [2, 4, 7] {
        let truth =
            RowMat::from_fn(28, 3, |i, k| if i / own == k { (own as f64).sqrt().recip() } else { 0.0 });
        let a = gaussian(400, 28, own as u64);
        let mut noise = rng(9);
        let exact = plain_product(&RowMat::from_mat(a.as_ref()), &truth);
        let b = RowMat::from_fn(400, 3, |i, k| exact.get(i, k) + 0.1 * normal(&mut noise));
        for penalty in ["l1", "l0", "l21", "mcp", "scad", "elastic-net", "capped-l1"] {
            let found = solved(&of(&a, &b, |o| o.penalty = Some(penalty.into())), None, 0);
            let rows =
                |x: &RowMat| (0..28).filter(|i| x.row(*i).iter().any(|v| *v != 0.0)).collect::<Vec<_>>();
            assert_eq!(rows(&found.x), rows(&truth), "{penalty}, {own} entries");
        }
    }
    let options = Request {
        linear: Some(LinearInput::Given(RowMat::zeros(4, 2)).into()),
        penalty: Some("l1".into()),
        ..Default::default()
    };
    let c = Mat::from_fn(4, 4, |i, j| if i == j { 1.0 + i as f64 } else { 0.5 });
    let posed = pose(find_problem("procrustes").unwrap(), &PcaData::Gram(c.as_ref()), &options).unwrap();
    assert_eq!(posed.lambda, Some(0.5 * 3.5));
}

/// Data and target times 2ᵏ, λ times 4ᵏ: the same bits.
#[test]
fn the_unit_means_nothing() {
    let (a, b) = (gaussian(25, 8, 1), gaussian_rows(25, 2, 2));
    for (penalty, lambda) in
        [("none", None), ("l1", Some(3.0)), ("l1", None), ("l21", Some(3.0)), ("l0", Some(2.0)), ("l0", None)]
    {
        let at = |s: f64| {
            let scaled = Mat::from_fn(25, 8, |i, j| s * a[(i, j)]);
            let target = RowMat::from_fn(25, 2, |i, k| s * b.get(i, k));
            let p = of(&scaled, &target, |o| {
                (o.penalty, o.lambda) = (Some(penalty.into()), lambda.map(|l| s * s * l));
            });
            let found = solved_within(Some(400), &p, None, 3);
            (found.x.data().iter().map(|v| (v + 0.0).to_bits()).collect::<Vec<_>>(), found.status)
        };
        let one = at(1.0);
        for k in [-40, -1, 1, 40] {
            assert_eq!(at(2f64.powi(k)), one, "{penalty}, 2^{k}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (a, b) = (gaussian(25, 8, 1), gaussian_rows(25, 2, 2));
    let refused = |change: &dyn Fn(&mut Request)| {
        let mut options = Request { target: Some(b.clone().into()), ..Default::default() };
        change(&mut options);
        posed(&PcaData::Dense(a.as_ref()), &options).unwrap_err().to_string()
    };
    assert!(refused(&|o| o.target = None).contains("needs B"));
    assert!(refused(&|o| o.target = Some(gaussian_rows(24, 2, 1).into())).contains("24"));
    let mut bad = b.clone();
    bad.set(3, 1, f64::NAN);
    assert!(refused(&|o| o.target = Some(bad.clone().into())).contains("row 4"));
    assert!(refused(&|o| o.target = Some(gaussian_rows(25, 9, 1).into())).contains('9'));
    assert!(refused(&|o| o.rank = Some(3.into())).contains('2'));
    assert!(refused(&|o| o.lambda = Some(1.0)).contains("lambda"));
    let c = Mat::<f64>::identity(8, 8);
    let error = posed(&PcaData::Gram(c.as_ref()), &Request::default()).unwrap_err().to_string();
    assert!(error.contains("needs E"), "{error}");
}
