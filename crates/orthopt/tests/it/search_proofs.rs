//! What a search with λ or with X ≥ 0 calls `optimal`, beside the minimum over all supports, on tables that are hard for proofs.

use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::family::{Effort, Family, Request, find_problem, pose};
use orthopt::problem::PcaData;
use orthopt::solve::{Solution, Status, Stopping};
use rand::RngExt;

use crate::common::{gaussian, rng};

/// C = AᵀA times `unit`: few rows, repeated and zero columns, equal entries, negative ones, an indefinite C.
fn hostile(kind: usize, n: usize, seed: u64, unit: f64) -> RowMat {
    let rows = if kind == 0 { 2 } else { n + 2 };
    let mut a = gaussian(rows, n, seed);
    match kind {
        1 => (0..rows).for_each(|i| a[(i, n - 1)] = a[(i, 0)]),
        2 => (0..rows).for_each(|i| a[(i, 1)] = 0.0),
        3 => (0..n).for_each(|j| (0..rows).for_each(|i| a[(i, j)] = f64::from(u8::from(i == j % 3)))),
        4 => (0..rows).for_each(|i| a[(i, 0)] = -a[(i, 1)]),
        _ => {}
    }
    let shift = if kind == 5 { 3.0 } else { 0.0 };
    RowMat::from_fn(n, n, |i, j| {
        let c: f64 = (0..rows).map(|k| a[(k, i)] * a[(k, j)]).sum();
        unit * (c - if i == j { shift } else { 0.0 })
    })
}

/// The largest eigenvalue of C on each set of rows, by Jacobi rotations, and whether its eigenvector may have one sign (`signed`).
fn largest_on(c: &RowMat, signed: bool) -> Vec<f64> {
    let n = c.nrows();
    (0..1usize << n)
        .map(|set| {
            let rows: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
            let size = rows.len();
            let mut m: Vec<Vec<f64>> =
                rows.iter().map(|i| rows.iter().map(|j| c.get(*i, *j)).collect()).collect();
            let mut v: Vec<Vec<f64>> =
                (0..size).map(|i| (0..size).map(|j| f64::from(u8::from(i == j))).collect()).collect();
            for _ in 0..30 {
                for p in 0..size {
                    for q in p + 1..size {
                        if m[p][q] == 0.0 {
                            continue;
                        }
                        let theta = 0.5 * (2.0 * m[p][q]).atan2(m[q][q] - m[p][p]);
                        let (s, c) = theta.sin_cos();
                        for k in 0..size {
                            let (a, b) = (m[k][p], m[k][q]);
                            (m[k][p], m[k][q]) = (c * a - s * b, s * a + c * b);
                        }
                        for k in 0..size {
                            let (a, b) = (m[p][k], m[q][k]);
                            (m[p][k], m[q][k]) = (c * a - s * b, s * a + c * b);
                            let (a, b) = (v[k][p], v[k][q]);
                            (v[k][p], v[k][q]) = (c * a - s * b, s * a + c * b);
                        }
                    }
                }
            }
            let one_sign = |k: usize| {
                let column = || (0..size).map(|i| v[i][k]);
                column().all(|x| x >= -1e-9) || column().all(|x| x <= 1e-9)
            };
            let counts = (0..size).filter(|k| !signed || one_sign(*k));
            counts.map(|k| m[k][k]).fold(f64::NEG_INFINITY, f64::max)
        })
        .collect()
}

fn solved(name: &str, c: &RowMat, rank: usize, lambda: Option<f64>) -> Solution {
    let options = Request { rank: Some(rank.into()), lambda, ..Request::default() };
    let p = pose(find_problem(name).unwrap(), &PcaData::Gram(c.as_mat()), &options).unwrap().problem;
    let wanted = Request { effort: Some(Effort::Normal), ..Request::default() };
    let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    p.plan(&wanted).unwrap().run(&p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap()
}

/// One component with λ‖x‖₀: ½λ₁(C[S, S]) − λ|S| over all S. X ≥ 0: the largest eigenvalue on S whose eigenvector has one sign, for
/// disjoint S of two components.
#[test]
fn what_a_search_calls_optimal_is_the_minimum() {
    let mut proved = [0, 0, 0];
    for kind in 0..6 {
        for seed in 0..4u64 {
            let unit = [1.0, 2f64.powi(500), 2f64.powi(-500), 1.0][seed as usize];
            let mut draw = rng(100 * kind as u64 + seed);
            let n = draw.random_range(3..7usize);
            let c = hostile(kind, n, 10 * kind as u64 + seed, unit);
            let top = (0..n).map(|i| c.get(i, i)).fold(0.0, f64::max);
            let lambda = draw.random_range(0.01..0.4) * top;
            let value = |all: &[f64], set: usize| 0.5 * all[set] - lambda * f64::from(set.count_ones());
            let (any, signed) = (largest_on(&c, false), largest_on(&c, true));
            let sets = 1..1usize << n;
            let one = sets.clone().map(|s| value(&any, s)).fold(f64::NEG_INFINITY, f64::max);
            let positive = sets.clone().map(|s| 0.5 * signed[s]).fold(f64::NEG_INFINITY, f64::max);
            let apart = |s: usize| sets.clone().filter(move |t| s & t == 0).map(move |t| (s, t));
            let pairs = sets.clone().flat_map(apart);
            let two = pairs.map(|(s, t)| 0.5 * (signed[s] + signed[t])).fold(f64::NEG_INFINITY, f64::max);
            let cases = [
                ("l0-pca", 1, Some(lambda), one),
                ("nonneg-pca", 1, None, positive),
                ("nonneg-pca", 2, None, two),
            ];
            for (k, (name, rank, lambda, best)) in cases.into_iter().enumerate() {
                let found = solved(name, &c, rank, lambda);
                let size = top + lambda.unwrap_or(0.0) * n as f64;
                let what = format!("{name} {rank} kind {kind} seed {seed}: {} {best}", found.objective.total);
                assert!(found.objective.total >= -best - 1e-7 * size, "{what}");
                if found.status == Status::Optimal {
                    assert!(found.objective.total <= -best + 1e-7 * size, "{what}");
                    let proof = found.proof.as_ref().unwrap();
                    assert!(proof.value <= -best + 1e-7 * size && proof.proof.is_some(), "{what}");
                    proved[k] += 1;
                }
            }
        }
    }
    assert!(proved.iter().all(|of| *of >= 20), "of 24 each: {proved:?}");
}
