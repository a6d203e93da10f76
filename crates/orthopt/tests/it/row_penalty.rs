//! The ℓ2,1 penalty, a function of the rows of X: prox, subproblem and criticality against slow references, planted rows,
//! and one minimum for all solvers that take it.

use crate::common::first_order::{apart, plain_product, polar, solve, sum, sym, transposed_product};
use crate::common::{gaussian, gaussian_rows, on_data};
use faer::Mat;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::certify::criticality;
use orthopt::family::{Family, Request, find_problem, pose};
use orthopt::linear_map::AnyMap;
use orthopt::nonsmooth::Nonsmooth;
use orthopt::penalty::L21;
use orthopt::problem::{PcaData, PcaProblem};
use orthopt::solve::{Solution, Stopping};
use orthopt::solvers::SOLVERS;
use orthopt_solvers::proximal::TangentProx;

fn norm(row: &[f64]) -> f64 {
    row.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// λ Σ ‖X(i,:)‖, entry by entry.
fn slow_value(lambda: f64, x: &RowMat) -> f64 {
    (0..x.nrows()).map(|i| lambda * norm(x.row(i))).sum()
}

/// Samples of three dense components on the first eight of n variables.
fn planted(m: usize, n: usize, seed: u64) -> Mat<f64> {
    let w = polar(&gaussian_rows(8, 3, seed));
    let (scores, noise) = (gaussian(m, 3, seed + 1), gaussian(m, n, seed + 2));
    Mat::from_fn(m, n, |i, j| {
        let signal: f64 =
            (0..3).filter(|_| j < 8).map(|k| (5.0 - k as f64) * scores[(i, k)] * w.get(j, k)).sum();
        signal + 0.5 * noise[(i, j)]
    })
}

fn solved(p: &PcaProblem, solver: Option<&str>) -> Solution {
    let wanted = Request { solver: solver.map(Into::into), seed: Some(1), ..Default::default() };
    let stopping = Stopping { max_iters: Some(20_000), time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    let plan = p.plan(&wanted).unwrap();
    plan.run(p, &wanted, &stopping, solver.map(|_| 0), &Cancel::never(), &mut []).unwrap()
}

fn rows(x: &RowMat) -> Vec<usize> {
    (0..x.nrows()).filter(|i| x.row(*i).iter().any(|v| *v != 0.0)).collect()
}

/// No point of a grid in every direction costs less, and what is lost is in ∂h.
#[test]
fn prox_of_rows_is_the_minimiser() {
    for (r, lambda, mu) in [(1, 0.7, 0.5), (2, 0.7, 1.3), (3, 2.0, 0.4), (3, 0.0, 1.0)] {
        let h = L21::new(lambda).unwrap();
        let v = gaussian_rows(30, r, 5);
        let mut y = v.clone();
        h.prox_rows(y.data_mut(), r, mu);
        let directions = gaussian_rows(400, r, 9);
        let mut zeros = 0;
        for i in 0..30 {
            let cost = |z: &[f64]| {
                let far: f64 = z.iter().zip(v.row(i)).map(|(a, b)| (a - b).powi(2)).sum();
                far / (2.0 * mu) + lambda * norm(z)
            };
            let here = cost(y.row(i));
            zeros += usize::from(y.row(i).iter().all(|v| *v == 0.0));
            assert!(here <= cost(&vec![0.0; r]) + 1e-14);
            for d in 0..400 {
                for size in [1e-4, 1e-2, 0.3, 2.0] {
                    let z: Vec<f64> =
                        y.row(i).iter().zip(directions.row(d)).map(|(y, d)| y + size * d).collect();
                    assert!(here <= cost(&z) + 1e-14, "r = {r}: {z:?} is below {:?}", y.row(i));
                }
            }
        }
        assert_eq!(zeros > 0, lambda > 0.0);
        assert!((h.of(&v) - slow_value(lambda, &v)).abs() <= 1e-13 * (1.0 + h.of(&v)));
    }
}

/// Rows with one entry: ℓ1.
#[test]
fn one_column_is_l1() {
    let a = gaussian(30, 12, 3);
    let (rows, entries) = (on_data("l21-pca", 9.0, &a, 1), on_data("l1-pca", 9.0, &a, 1));
    let x = polar(&gaussian_rows(12, 1, 4));
    assert!((rows.value(&x) - entries.value(&x)).abs() <= 1e-12 * rows.value(&x).abs());
    let from = |p: &PcaProblem| solve(p, "irpg", x.clone(), 1e-10, 5000);
    let (found, same) = (from(&entries), from(&rows));
    assert!((found.objective.total - same.objective.total).abs() <= 1e-8 * found.objective.total.abs());
    for x in [&x, &found.x] {
        let (a, b) = (criticality(&rows, x), criticality(&entries, x));
        assert!((a - b).abs() <= 1e-6 * (1e-3 + b), "{a} and {b}");
    }
}

/// The dual of the subproblem by plain gradient ascent, with a prox row by row.
fn slow_subproblem(lambda: f64, x: &RowMat, v: &RowMat, t: f64) -> RowMat {
    let r = x.ncols();
    let point = |s: &RowMat| {
        let mut w = sum(v, 1.0, &plain_product(x, s));
        for i in 0..w.nrows() {
            let size = norm(w.row(i));
            let share = (1.0 - t * lambda / size).max(0.0);
            w.row_mut(i).iter_mut().for_each(|v| *v *= share);
        }
        w
    };
    let mut s = RowMat::zeros(r, r);
    for _ in 0..200_000 {
        let g = sym(&transposed_product(x, &point(&s)));
        let e = RowMat::from_fn(r, r, |i, j| g.get(i, j) - f64::from(u8::from(i == j)));
        if e.norm() <= 1e-12 {
            break;
        }
        s = sum(&s, -1.0, &e);
    }
    point(&s)
}

#[test]
fn subproblem_equals_the_slow_dual_method() {
    for (n, r) in [(7, 1), (5, 5), (30, 3), (40, 13)] {
        for (k, lambda) in [0.0, 0.05, 0.3, 2.0].into_iter().enumerate() {
            let (t, x) = (0.4, polar(&gaussian_rows(n, r, 3 + k as u64)));
            let v = sum(&x, -t, &gaussian_rows(n, r, 77));
            let mut solver = TangentProx::new(n, r);
            let inner = solver.solve(&L21::new(lambda).unwrap(), &x, &v, t, |_| 1e-12);
            let slow = slow_subproblem(lambda, &x, &v, t);
            let off = apart(solver.y(), &slow);
            assert!(inner.exact && off <= 1e-9, "{n} x {r}, lambda {lambda}: {inner:?}, {off:e}");
            // Newton's method and not a linear rate
            assert!(inner.steps <= 25, "{n} x {r}, lambda {lambda}: {} steps", inner.steps);
        }
    }
}

/// The distance of 0 to ∂F: a wrong X is far from critical, zeros in a wrong place too, and of the minimiser nothing is left.
#[test]
fn criticality_tells_a_solution_from_others() {
    let a = planted(150, 20, 11);
    let p = on_data("l21-pca", 60.0, &a, 3);
    let found = solved(&p, Some("irpg"));
    let size = p.gradient(&found.x).norm();
    let at = |x: &RowMat| criticality(&p, x) / size;
    assert!(at(&found.x) <= 1e-6, "{:e}", at(&found.x));
    let other = at(&polar(&gaussian_rows(20, 3, 5)));
    assert!(other >= 0.1, "{other}");
    // rows that are zero though they should not be: a ball around 0 does not hold the gradient
    let wrong = RowMat::from_fn(20, 3, |i, k| f64::from(u8::from(i == k)));
    assert!(at(&wrong) >= 0.1, "{}", at(&wrong));
    // and by hand: X = e₁ (r = 1) leaves rows with |∇f| − λ
    let one = on_data("l21-pca", 60.0, &a, 1);
    let x = RowMat::from_fn(20, 1, |i, _| f64::from(u8::from(i == 0)));
    let g = one.gradient(&x);
    let by_hand: f64 = (1..20).map(|i| (g.get(i, 0).abs() - 60.0).max(0.0).powi(2)).sum::<f64>().sqrt();
    assert!((criticality(&one, &x) - by_hand).abs() <= 1e-9 * size);
}

#[test]
fn planted_rows_are_found() {
    for seed in [20, 30, 40] {
        let p = on_data("l21-pca", 150.0, &planted(200, 40, seed), 3);
        let found = solved(&p, None);
        assert_eq!(rows(&found.x), (0..8).collect::<Vec<_>>(), "seed {seed}");
        // the same for a turned X: columns come as principal components of the variables that are left
        let turned = plain_product(&found.x, &polar(&gaussian_rows(3, 3, seed)));
        assert!((p.value(&turned) - found.objective.total).abs() <= 1e-12 * found.objective.total.abs());
    }
}

/// Every solver that takes the penalty comes to the minimum; those on pairs of rows say that they do not.
#[test]
fn solvers_agree_and_pairs_are_refused() {
    let p = on_data("l21-pca", 40.0, &planted(100, 25, 3), 2);
    let lowest = solved(&p, None).objective.total;
    let mut taken = Vec::new();
    for solver in SOLVERS {
        if !(solver.handles)(&p) {
            continue;
        }
        let found = solved(&p, Some(solver.name)).objective.total;
        let slack = match solver.name {
            "rsubgrad" | "subgrad" => 1e-2, // steps that fall
            "spgm-ep" | "spgm-rr" | "spm" | "oadmm-ep" | "oadmm-rr" | "radmm" | "madmm" => 1e-3,
            _ => 1e-6,
        };
        assert!((found - lowest).abs() <= slack * lowest.abs(), "{}: {found} and {lowest}", solver.name);
        taken.push(solver.name);
    }
    for name in ["irpg", "amanpg", "manpg", "slpg", "ladmm", "soc", "oadmm", "manial"] {
        assert!(taken.contains(&name), "{name} is not among {taken:?}");
    }
    assert!(!taken.iter().any(|name| name.contains("obcd") || *name == "support"), "{taken:?}");
    let refused = p.plan(&Request { solver: Some("obcd".into()), ..Default::default() }).unwrap_err();
    assert!(refused.to_string().contains("every penalty but l21"), "{refused}");
}

/// The lengths of differences of neighbouring rows: components that change at the same places.
#[test]
fn with_a_map_rows_change_together() {
    let (m, n) = (200, 24);
    let w = polar(&gaussian_rows(3, 2, 8)); // three stretches of eight
    let (scores, noise) = (gaussian(m, 2, 4), gaussian(m, n, 5));
    let a = Mat::from_fn(m, n, |i, j| {
        (0..2).map(|k| (4.0 - k as f64) * scores[(i, k)] * w.get(j / 8, k)).sum::<f64>() + 0.3 * noise[(i, j)]
    });
    let options = Request {
        rank: Some(2.into()),
        lambda: Some(200.0),
        penalty: Some("l21".into()),
        map: Some(AnyMap::parse("differences").unwrap().into()),
        ..Default::default()
    };
    let posed = pose(find_problem("pca").unwrap(), &PcaData::Dense(a.as_ref()), &options).unwrap();
    let stopping = Stopping { max_iters: Some(3000), time_limit: None, tol: 1e-8, min_decrease: 0.0 };
    let p = &posed.problem;
    let x = {
        let wanted = Request::default();
        p.plan(&wanted).unwrap().run(p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap().x
    };
    let jump = |i: usize| norm(&[x.get(i + 1, 0) - x.get(i, 0), x.get(i + 1, 1) - x.get(i, 1)]);
    let jumps: Vec<usize> = (0..n - 1).filter(|i| jump(*i) > 1e-3).collect();
    assert_eq!(jumps, [7, 15], "{:?}", (0..n - 1).map(jump).collect::<Vec<_>>());
}
