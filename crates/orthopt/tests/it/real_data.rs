//! OBCD on w1a, which is not part of the repository, and on the random matrix of the papers.

use crate::common::{shared, usual_start};
use orthopt::certify::{Scope, block_stationarity};
use orthopt::problem::{PcaData, PcaProblem, Storage};
use orthopt::solve::{Chain, MaxIterations, RunOptions, Solution, Stationary, Status, Stop, run_restarts};
use orthopt::solvers::obcd::{Obcd, ObcdOptions};
use orthopt_data::{LoadOptions, Matrix, load};

/// Iterations of a test.
const MOST: u64 = 4_000_000;

fn matrix(spec: &str) -> Matrix {
    load(spec, &LoadOptions::default()).unwrap().matrix
}

fn problem_on(a: &Matrix, name: &str, lambda: f64, r: usize) -> PcaProblem {
    let data = match a {
        Matrix::Dense(a) => PcaData::Dense(a.as_ref()),
        Matrix::Sparse(a) => PcaData::Sparse(a.as_ref(), None),
    };
    orthopt::family::pca_problem(name, &data, r, lambda, Storage::Auto).unwrap()
}

/// Random pairs from the start of the papers, seeds 0 to 12 one after the other, and what must hold of
/// any run. Iterations end it, about ten seconds of them, so that it is the same run on every machine.
fn solve(p: &PcaProblem, tol: f64) -> Solution {
    let start = |seed: u64| {
        let solver = Obcd::new(ObcdOptions { seed, tol, ..Default::default() })?;
        Ok(Chain::single(solver, usual_start(p, seed)))
    };
    let mut stop = Stationary { tol }.or(MaxIterations(Some(MOST)));
    let options = RunOptions { restarts: 12, max_iterations: Some(MOST), ..Default::default() };
    let s = run_restarts(p, start, options, &mut stop, &mut []).unwrap();
    assert!(s.feasibility <= 1e-12, "feasibility {:e}", s.feasibility);
    for w in s.trace.points().windows(2) {
        assert!(w[1].objective <= w[0].objective);
        assert!(w[1].feasibility <= 1e-12, "{:e} after {} s", w[1].feasibility, w[1].seconds);
    }
    if let Some(violation) = s.nonneg_violation {
        assert!(violation == 0.0 && s.x.data().iter().all(|v| *v >= 0.0));
    }
    eprintln!("F = {:.6} after {:.2} s, {}", s.objective.total, s.seconds, s.message);
    s
}

/// w1a (2477 × 300, binary) with 20 components.
fn w1a(name: &str, lambda: f64) -> Solution {
    let a = matrix(&shared("w1a.svm").display().to_string());
    assert_eq!((a.nrows(), a.ncols()), (2477, 300));
    solve(&problem_on(&a, name, lambda, 20), 1e-9)
}

#[test]
#[ignore = "needs the data sets beside the checkout: ../shared/data"]
fn w1a_l0_with_a_large_lambda() {
    // counts are whole numbers here, so F is one too
    for (lambda, known) in [(300.0, 1264.0), (1000.0, 15264.0)] {
        let s = w1a("l0-pca", lambda);
        assert_eq!(s.objective.total, known, "lambda {lambda}: {}", s.message);
    }
}

#[test]
#[ignore = "needs the data sets beside the checkout: ../shared/data"]
fn w1a_l0_with_a_small_lambda() {
    let s = w1a("l0-pca", 1.0);
    assert!(s.objective.total <= -5900.0, "{}", s.objective.total);
}

#[test]
#[ignore = "needs the data sets beside the checkout: ../shared/data"]
fn w1a_l1() {
    for (lambda, known) in [(1.0, -7100.0), (100.0, -3275.0)] {
        let s = w1a("l1-pca", lambda);
        assert!(s.objective.total <= known, "lambda {lambda}: {}", s.objective.total);
    }
}

#[test]
#[ignore = "needs the data sets beside the checkout: ../shared/data"]
fn w1a_nonnegative() {
    let s = w1a("nonneg-pca", 0.0);
    assert!(s.objective.total <= -6290.0, "{}", s.objective.total);
}

#[test]
fn randn_l0_converges_and_is_certified() {
    let p = problem_on(&matrix("randn:500:1000"), "l0-pca", 100.0, 20);
    let s = solve(&p, 1e-9);
    assert_eq!(s.status, Status::Converged, "{}", s.message);
    let certificate = block_stationarity(&p, &s.x, Scope::All);
    assert!(certificate.holds(1e-9 * (1.0 + s.objective.total.abs())), "{certificate:?}");
}
