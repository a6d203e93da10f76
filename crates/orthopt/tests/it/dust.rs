//! Zeros of an X that is returned are exactly 0.0, wherever it comes from.

use crate::common::gaussian;
use faer::Mat;
use orthopt::cancel::Cancel;
use orthopt::family::{Between, Effort, Family, Limit, Request, find_problem, pose};
use orthopt::problem::PcaData;
use orthopt::smooth::Measure;
use orthopt::solve::Stopping;

/// Entries of a unit column that can be nothing but rounding.
const DUST: f64 = 1e-11;

/// Starts come from eigenvectors of singular C and from relaxations, and no time is left to move them.
#[test]
fn tables_of_low_rank_with_hardly_any_time() {
    let limits: [(&str, Option<Limit>); 6] = [
        ("l0-pca", None),
        ("l0-pca", Some(Limit::Nonzeros(vec![3]))),
        ("l0-pca", Some(Limit::Total(7))),
        ("l0-pca", Some(Limit::Variables(4))),
        ("nonneg-pca", Some(Limit::Total(7))),
        ("nonneg-pca", Some(Limit::Nonzeros(vec![3]))),
    ];
    let mut found = Vec::new();
    for seed in 0..200u64 {
        let (m, n, low) = (5 + seed as usize % 7, 4 + seed as usize % 6, 1 + seed as usize % 3);
        let a: Mat<f64> = gaussian(m, low, seed) * gaussian(low, n, seed + 1000);
        let (problem, limit) = &limits[seed as usize % limits.len()];
        let lambda = limit.is_none().then_some(0.3);
        let options =
            Request { rank: Some(3.into()), lambda, ..Default::default() }.with_limit(limit.clone());
        let posed = pose(find_problem(problem).unwrap(), &PcaData::Dense(a.as_ref()), &options).unwrap();
        let wanted = Request { seed: Some(seed), ..Default::default() };
        let plan = posed.problem.plan(&wanted).unwrap();
        for seconds in [0.0, 0.01] {
            let stopping =
                Stopping { max_iters: None, time_limit: Some(seconds), tol: 1e-9, min_decrease: 0.0 };
            let solution =
                plan.run(&posed.problem, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap();
            let dust = solution.x.data().iter().filter(|v| **v != 0.0 && v.abs() <= DUST).count();
            if dust > 0 {
                found.push(format!("{problem} {limit:?} seed {seed}, {seconds} s: {dust} entries"));
            }
            assert!(solution.feasibility <= 1e-12, "{problem} {limit:?} seed {seed}");
        }
    }
    assert!(found.is_empty(), "{} of 400:\n{}", found.len(), found.join("\n"));
}

/// Scores with hardly any variance have correlations that see an entry of 1e-15: such entries leave all the same, as the others can
/// make up for them.
#[test]
fn no_entry_is_rounding_where_scores_have_hardly_any_variance() {
    for seed in 0..120u64 {
        let (n, k) = [(5, 4), (6, 4), (6, 5)][seed as usize % 3];
        let a = gaussian(2, n, seed);
        let c = Mat::from_fn(n, n, |i, j| a[(0, i)] * a[(0, j)] + a[(1, i)] * a[(1, j)]);
        let limit = Some(Limit::Nonzeros(vec![k]));
        let options = Request { rank: Some(3.into()), constraint: Some(Between::Both), ..Request::default() }
            .with_limit(limit);
        let problem =
            pose(find_problem("l0-pca").unwrap(), &PcaData::Gram(c.as_ref()), &options).unwrap().problem;
        let wanted = Request { solver: Some("overshoot".into()), ..Request::default() };
        let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
        let plan = problem.plan(&wanted).unwrap();
        let Ok(found) = plan.run(&problem, &wanted, &stopping, Some(0), &Cancel::never(), &mut []) else {
            continue;
        };
        let dust: Vec<f64> =
            found.x.data().iter().copied().filter(|v| *v != 0.0 && v.abs() <= DUST).collect();
        assert!(dust.is_empty(), "{seed}: {dust:?} in {:?}", found.x);
        problem.check(&found.x, "X").unwrap();
    }
}

/// Columns that repeat each other, and runs that are cut off.
#[test]
fn copies_of_columns_leave_no_rounding() {
    let measures = [Measure::Polar, Measure::Adjusted, Measure::Explained, Measure::Variance];
    let mut found = Vec::new();
    for seed in 0..160u64 {
        let n = 5 + seed as usize % 3;
        let a = gaussian(2 + seed as usize % 2, n, seed);
        let from = |j: usize| (3 * j + seed as usize) % (n - 2);
        let a = Mat::from_fn(a.nrows(), n, |i, j| a[(i, from(j))]);
        let c = Mat::from_fn(n, n, |i, j| (0..a.nrows()).map(|m| a[(m, i)] * a[(m, j)]).sum::<f64>());
        let options = Request {
            rank: Some(3.into()),
            constraint: Some(Between::Both),
            maximise: Some(measures[seed as usize % 4]),
            ..Request::default()
        }
        .with_limit(Some(Limit::Nonzeros(vec![n - 1, n - 2, 3])));
        let posed = pose(find_problem("l0-pca").unwrap(), &PcaData::Gram(c.as_ref()), &options).unwrap();
        let wanted = Request { effort: Some(Effort::Quick), ..Request::default() };
        let stopping = Stopping { max_iters: Some(2), time_limit: None, tol: 1e-9, min_decrease: 0.0 };
        let plan = posed.problem.plan(&wanted).unwrap();
        let Ok(solution) = plan.run(&posed.problem, &wanted, &stopping, None, &Cancel::never(), &mut [])
        else {
            continue;
        };
        let dust: Vec<f64> =
            solution.x.data().iter().copied().filter(|v| *v != 0.0 && v.abs() <= DUST).collect();
        if !dust.is_empty() {
            found.push(format!("{seed}: {dust:?}"));
        }
    }
    assert!(found.is_empty(), "{} of 160:\n{}", found.len(), found.join("\n"));
}
