//! The signs of components: fixed where they are free, left alone where they are not.

use faer::Mat;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::family::{self, Family, LinearInput, Request, find_problem};
use orthopt::problem::PcaData;
use orthopt::solve::Stopping;

fn solve(problem: &str, options: &Request, solver: &str) -> RowMat {
    let a = Mat::from_fn(20, 8, |i, j| ((i * 8 + j * j) as f64 * 0.7).sin() * (j + 1) as f64);
    let info = find_problem(problem).unwrap();
    let posed = family::pose(info, &PcaData::Dense(a.as_ref()), options).unwrap();
    let wanted = Request { solver: Some(solver.into()), seed: Some(3), ..Request::default() };
    let stopping = Stopping { max_iters: Some(2000), time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    let problem = posed.problem;
    let plan = problem.plan(&wanted).unwrap();
    plan.run(&problem, &wanted, &stopping, Some(0), &Cancel::never(), &mut []).unwrap().x
}

fn largest(x: &RowMat) -> Vec<f64> {
    let column = |k: usize| (0..x.nrows()).map(move |i| x.get(i, k));
    (0..x.ncols()).map(|k| column(k).max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap()).collect()
}

#[test]
fn the_largest_loading_is_positive_where_f_is_even() {
    let options = Request { rank: Some(3.into()), lambda: Some(0.5), ..Request::default() };
    for (problem, solver) in [
        ("l0-pca", "obcd"),
        ("l1-pca", "obcd"),
        ("l1-pca", "manpg"),
        ("pca", "spectral"),
        ("dc-pca", "obcd"),
        ("nonneg-pca", "obcd"),
    ] {
        let lambda = options.lambda.filter(|_| !matches!(problem, "pca" | "nonneg-pca"));
        let x = solve(problem, &Request { lambda, ..options.clone() }, solver);
        assert!(largest(&x).iter().all(|v| *v > 0.0), "{problem} {solver}: {:?}", largest(&x));
    }
}

/// ⟨E, X⟩ says which of xₖ and −xₖ is lower, and that one stays.
#[test]
fn a_linear_term_keeps_its_signs() {
    let linear = LinearInput::Given(RowMat::from_fn(8, 2, |_, _| 50.0));
    let options = Request {
        rank: Some(2.into()),
        lambda: Some(1.0),
        linear: Some(linear.into()),
        ..Request::default()
    };
    let x = solve("nonlinear-eig", &options, "obcd");
    let sums: Vec<f64> = (0..2).map(|k| (0..8).map(|i| x.get(i, k)).sum()).collect();
    assert!(sums.iter().sum::<f64>() < 0.0, "{sums:?}");
}
