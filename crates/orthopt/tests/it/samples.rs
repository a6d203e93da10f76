//! `ica`, `dictionary`, `robust-subspace` and `onmf`: planted truths are found, gradients are those of the functions, and the unit of
//! the data means nothing.

use crate::common::first_order::{plain_product, polar, transposed_product};
use crate::common::{gaussian, gaussian_rows, normal, rng};
use faer::Mat;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::family::{AnyProblem, Family, Request, find_problem, pose};
use orthopt::problem::PcaData;
use orthopt::smooth::{HessianVector, Loss, SampleLoss, Smooth};
use orthopt::solve::{Solution, Status, Stopping};
use orthopt::start::Start;
use orthopt_core::smooth::central_difference;
use rand::RngExt;

fn named(name: &str, a: &Mat<f64>, rank: usize) -> AnyProblem {
    let options = Request { rank: Some(rank.into()), ..Default::default() };
    pose(find_problem(name).unwrap(), &PcaData::Dense(a.as_ref()), &options).unwrap().problem
}

fn solved(name: &str, a: &Mat<f64>, rank: usize) -> Solution {
    solved_within(None, name, a, rank)
}

fn solved_within(max_iters: Option<u64>, name: &str, a: &Mat<f64>, rank: usize) -> Solution {
    let stopping = Stopping { max_iters, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    let wanted = Request { seed: Some(2), ..Default::default() };
    let p = &named(name, a, rank);
    p.plan(&wanted).unwrap().run(p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap()
}

/// The least of the largest |entry| of every column, and the largest of all others: a signed permutation has 1 and 0.
fn permuted(m: &RowMat) -> (f64, f64) {
    let (mut least, mut other) = (f64::INFINITY, 0.0f64);
    for k in 0..m.ncols() {
        let mut column: Vec<f64> = (0..m.nrows()).map(|i| m.get(i, k).abs()).collect();
        column.sort_by(f64::total_cmp);
        least = least.min(column[m.nrows() - 1]);
        other = column[..m.nrows() - 1].iter().fold(other, |m, v| m.max(*v));
    }
    (least, other)
}

const LOSSES: [Loss; 3] = [Loss::Ica, Loss::Dictionary, Loss::RobustSubspace];

/// Central differences in every entry.
#[test]
fn gradients_are_those_of_the_values() {
    for loss in LOSSES {
        let f = SampleLoss::new(loss, gaussian_rows(40, 6, 3)).unwrap();
        let x = polar(&gaussian_rows(6, 3, 4));
        let mut g = RowMat::zeros(6, 3);
        let value = f.value_and_gradient(&x, &mut g);
        assert!((value - f.value(&x)).abs() <= 1e-14 * value.abs());
        for k in 0..18 {
            let at = |t: f64| {
                let mut y = x.clone();
                y.data_mut()[k] += t;
                f.value(&y)
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - g.data()[k]).abs() <= 1e-6 * g.norm(), "{loss:?}: {slope} and {}", g.data()[k]);
        }
    }
}

/// Products with the Hessian beside central differences of the gradient, at points with X'X = I and others; trust-region needs them.
#[test]
fn hessians_are_those_of_the_gradients() {
    for loss in LOSSES {
        let f = SampleLoss::new(loss, gaussian_rows(40, 6, 3)).unwrap();
        assert!(f.has_hessian());
        let tall = polar(&gaussian_rows(6, 3, 4));
        let short = RowMat::from_fn(6, 3, |i, k| 0.6 * tall.get(i, k));
        for x in [tall, short] {
            let d = gaussian_rows(6, 3, 5);
            let (exact, near) = (f.hessian_vector(&x, &d), central_difference(&f, &x, &d));
            let apart = RowMat::from_fn(6, 3, |i, k| exact.get(i, k) - near.get(i, k)).norm();
            assert!(
                exact.norm() > 1e-3 && apart <= 1e-7 * exact.norm(),
                "{loss:?}: {apart} of {}",
                exact.norm()
            );
        }
    }
    for (name, a) in [
        ("ica", gaussian(200, 5, 7)),
        ("dictionary", gaussian(200, 5, 8)),
        ("robust-subspace", gaussian(60, 6, 9)),
    ] {
        let stopping = Stopping { max_iters: Some(2000), time_limit: None, tol: 1e-9, min_decrease: 0.0 };
        let run = |solver: &str| {
            let wanted = Request { solver: Some(solver.into()), seed: Some(2), ..Default::default() };
            let p = &named(name, &a, 2);
            p.plan(&wanted).unwrap().run(p, &wanted, &stopping, Some(3), &Cancel::never(), &mut []).unwrap()
        };
        let (newton, other) = (run("trust-region"), run("lbfgs"));
        assert!(matches!(newton.status, Status::Converged), "{name}: {:?}", newton.message);
        let (f, g) = (newton.objective.total, other.objective.total);
        assert!((f - g).abs() <= 1e-8 * g.abs(), "{name}: {f} and {g}");
    }
}

/// E ln cosh ν by the trapezoidal rule: samples that are normal have no excess, and those of two points a known one.
#[test]
fn normal_numbers_have_no_excess() {
    let h = 1e-3;
    let weight = |t: f64| (-0.5 * t * t).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let mean: f64 = (-12_000..=12_000).map(|k| f64::from(k) * h).map(|t| h * weight(t) * t.cosh().ln()).sum();
    // z = ±1: ln cosh 1
    let two = RowMat::from_fn(10, 1, |i, _| if i % 2 == 0 { 3.0 } else { -3.0 });
    let f = SampleLoss::new(Loss::Ica, two).unwrap();
    let value = f.value(&RowMat::from_fn(1, 1, |_, _| 1.0));
    let expected = -0.5 * (1f64.cosh().ln() - mean).powi(2);
    assert!((value - expected).abs() <= 1e-12, "{value} and {expected}");
}

/// Sources with heavy and with light tails, mixed by any invertible matrix, are separated.
#[test]
fn sources_are_separated() {
    let (m, n) = (2000, 4);
    let mut random = rng(5);
    let sources = Mat::from_fn(m, n, |_, k| match k {
        0 | 1 => {
            let u: f64 = random.random_range(-0.5..0.5);
            -u.signum() * (1.0 - 2.0 * u.abs()).ln() // Laplace
        }
        2 => random.random_range(-1.0..1.0),
        _ => (if random.random::<bool>() { 1.0 } else { -1.0 }) + 0.1 * normal(&mut random),
    });
    let mixing = gaussian_rows(n, n, 8);
    let a = &sources * mixing.to_mat();
    let found = solved("ica", &a, n);
    assert!(matches!(found.status, Status::Converged), "{}", found.message);
    // Z = A C^(−½) X beside the sources: correlations
    let c = transposed_product(&RowMat::from_mat(a.as_ref()), &RowMat::from_mat(a.as_ref()));
    let root = orthopt_linalg::small::spectral_function(&c, |w| (m as f64 / w).sqrt()).unwrap();
    let z = plain_product(&plain_product(&RowMat::from_mat(a.as_ref()), &root), &found.x);
    let unit = RowMat::from_fn(m, n, |i, k| {
        let size = (0..m).map(|i| sources[(i, k)].powi(2)).sum::<f64>().sqrt();
        sources[(i, k)] / size * (m as f64).sqrt().recip()
    });
    let (least, other) = permuted(&transposed_product(&unit, &z));
    assert!(least > 0.995 && other < 0.1, "{least} and {other}");
}

#[test]
fn a_dictionary_is_found() {
    let (m, n) = (3000, 10);
    let mut random = rng(6);
    let d = polar(&gaussian_rows(n, n, 7));
    let codes = Mat::from_fn(m, n, |_, _| {
        let value = normal(&mut random);
        if random.random::<f64>() < 0.2 { value } else { 0.0 }
    });
    let a = &codes * d.to_mat().transpose();
    let found = solved("dictionary", &a, n);
    let (least, other) = permuted(&transposed_product(&d, &found.x));
    assert!(least > 0.99 && other < 0.1, "{least} and {other}");
}

/// A third of the samples are far off in all directions; PCA turns towards them and the sum of distances does not.
#[test]
fn a_subspace_is_found_despite_outliers() {
    let n = 15;
    let w = polar(&gaussian_rows(n, 2, 1));
    let (inliers, off) = (gaussian_rows(120, 2, 2), gaussian_rows(60, n, 3));
    let a = Mat::from_fn(180, n, |i, j| {
        if i < 120 {
            inliers.get(i, 0) * w.get(j, 0) + inliers.get(i, 1) * w.get(j, 1)
        } else {
            3.0 * off.get(i - 120, j)
        }
    });
    let angle = |x: &RowMat| transposed_product(&w, x).to_mat().singular_values().unwrap()[1];
    let found = solved("robust-subspace", &a, 2);
    assert!(angle(&found.x) > 0.999, "{}", angle(&found.x));
    assert!(angle(&solved("pca", &a, 2).x) < 0.9);
    // F is the sum of the distances, up to δ for each
    let p = RowMat::from_mat(a.as_ref());
    let rest = plain_product(&plain_product(&p, &found.x), &RowMat::from_fn(2, n, |k, j| found.x.get(j, k)));
    let norm = |row: &[f64]| row.iter().map(|v| v * v).sum::<f64>().sqrt();
    let distances: f64 = (0..180)
        .map(|i| norm(&p.row(i).iter().zip(rest.row(i)).map(|(a, b)| a - b).collect::<Vec<_>>()))
        .sum();
    let delta = 1e-3 * p.norm() / 180f64.sqrt();
    let f = found.objective.total;
    assert!(f >= distances - 1e-9 * f && f <= distances + 180.0 * delta, "{f} and {distances}");
}

/// Columns that are multiples of three patterns, and noise: a cluster for each.
#[test]
fn clusters_of_columns_are_found() {
    let mut random = rng(12);
    let patterns = Mat::from_fn(40, 3, |_, _| random.random::<f64>());
    let a = Mat::from_fn(40, 30, |i, j| {
        (1.0 + (j / 3) as f64 * 0.2) * patterns[(i, j % 3)] + 0.05 * random.random::<f64>()
    });
    let found = solved("onmf", &a, 3);
    let label = |j: usize| (0..3).position(|k| found.x.get(j, k) > 0.0);
    assert!(found.x.data().iter().all(|v| *v >= 0.0));
    for j in 0..30 {
        assert!(label(j).is_some() && label(j) == label(j % 3), "column {j}: {:?}", found.x.row(j));
    }
    let distinct: std::collections::HashSet<_> = (0..3).map(label).collect();
    assert_eq!(distinct.len(), 3);
}

#[test]
fn the_unit_means_nothing() {
    let a = gaussian(60, 5, 3);
    for name in ["ica", "dictionary", "robust-subspace"] {
        let at = |s: f64| {
            let scaled = Mat::from_fn(60, 5, |i, j| s * a[(i, j)]);
            let found = solved_within(Some(400), name, &scaled, 2);
            (found.x.data().iter().map(|v| (v + 0.0).to_bits()).collect::<Vec<_>>(), found.status)
        };
        let one = at(1.0);
        for k in [-30, -1, 1, 30] {
            assert_eq!(at(2f64.powi(k)), one, "{name}, 2^{k}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |name: &str, data: &PcaData<'_>, rank: usize| {
        let options = Request { rank: Some(rank.into()), ..Default::default() };
        pose(find_problem(name).unwrap(), data, &options).unwrap_err().to_string()
    };
    let a = gaussian(20, 4, 1);
    assert!(refused("ica", &PcaData::Gram(Mat::<f64>::identity(4, 4).as_ref()), 2).contains("needs samples"));
    assert!(refused("dictionary", &PcaData::Dense(a.as_ref()), 5).contains('5'));
    let twice = Mat::from_fn(20, 4, |i, j| a[(i, j.min(2))]);
    assert!(refused("ica", &PcaData::Dense(twice.as_ref()), 2).contains("singular"));
    assert!(refused("ica", &PcaData::Dense(gaussian(3, 4, 1).as_ref()), 2).contains("singular"));
    let hole = Mat::from_fn(20, 4, |i, j| if (i, j) == (3, 1) { f64::NAN } else { a[(i, j)] });
    assert!(refused("robust-subspace", &PcaData::Dense(hole.as_ref()), 2).contains("row 4"));
}

/// OBCD for any smooth f finds the minimum that L-BFGS finds from the same start.
#[test]
fn pairs_of_rows_end_where_gradients_do() {
    let a = gaussian(60, 6, 7);
    for name in ["dictionary", "robust-subspace"] {
        let p = &named(name, &a, 2);
        let stopping = Stopping { max_iters: Some(50_000), time_limit: None, tol: 1e-9, min_decrease: 0.0 };
        let run = |solver: &str| {
            let wanted = Request {
                solver: Some(solver.into()),
                init: Some(Start::Pca.into()),
                seed: Some(2),
                ..Default::default()
            };
            p.plan(&wanted).unwrap().run(p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap()
        };
        let lowest = run("lbfgs").objective.total;
        for solver in ["obcd-majorised", "obcd-approx"] {
            let s = run(solver);
            assert_eq!(s.solver, solver);
            assert!(
                s.status == Status::Converged && s.feasibility <= 1e-13,
                "{name} {solver}: {:?}",
                s.status
            );
            let apart = (s.objective.total - lowest).abs();
            assert!(apart <= 1e-7 * lowest.abs(), "{name} {solver}: {} {lowest}", s.objective.total);
        }
    }
}
