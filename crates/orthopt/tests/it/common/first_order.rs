//! The first-order methods by name, and slow and obvious twins of them.

use crate::common::Steps;
use faer::Mat;
use orthopt::RowMat;
use orthopt::nonsmooth::Nonsmooth;
use orthopt::problem::{PcaData, PcaProblem, Problem, Storage};
use orthopt::smooth::{AnySmooth, DenseQuadratic, Smooth};
use orthopt::solve::{AnySolver, Critical, MaxIterations, RunOptions, Solution, Solver, Stop, run};
use orthopt::solvers::{SOLVERS, SolverInfo, SolverOptions};
use orthopt::start::Start;
use orthopt_core::constraint::stiefel;

use super::{exact_objective, gaussian, gaussian_rows, gradient, penalty};

/// The first-order solvers.
pub const NAMES: [&str; 9] =
    ["manpg", "manpg-ada", "irpg", "amanpg", "slpg", "rsubgrad", "ladmm", "spm", "soc"];

pub fn info(name: &str) -> &'static SolverInfo {
    SOLVERS.iter().find(|s| s.name == name).unwrap()
}

pub fn build(name: &str, p: &PcaProblem) -> AnySolver<PcaProblem> {
    info(name).build(p, &SolverOptions::default()).unwrap()
}

pub fn solve(p: &PcaProblem, name: &str, x0: RowMat, tol: f64, most: u64) -> Solution {
    let mut stop = Critical { tol }.or(MaxIterations(Some(most)));
    let options = RunOptions { max_iterations: Some(most), ..Default::default() };
    run(p, &build(name, p), x0, options, &mut stop, &mut []).unwrap()
}

/// The ℓ1 problem on wide data, columns centred and of unit norm.
pub fn wide(name: &str, lambda: f64, m: usize, n: usize, r: usize, seed: u64) -> PcaProblem {
    let g = gaussian(m, n, seed);
    let mean = |j: usize| (0..m).map(|i| g[(i, j)]).sum::<f64>() / m as f64;
    let norm = |j: usize| (0..m).map(|i| (g[(i, j)] - mean(j)).powi(2)).sum::<f64>().sqrt();
    let a = Mat::from_fn(m, n, |i, j| (g[(i, j)] - mean(j)) / norm(j));
    orthopt::family::pca_problem(name, &PcaData::Dense(a.as_ref()), r, lambda, Storage::Gram).unwrap()
}

/// f = ½tr(XᵀMX) + ⟨E, X⟩, neither concave nor of XXᵀ alone.
pub fn with_linear_term(n: usize, r: usize) -> PcaProblem {
    let b = gaussian(n, n, 6);
    let m = Mat::from_fn(n, n, |i, j| b[(i, j)] + b[(j, i)]);
    let f = DenseQuadratic::new(m.as_ref()).unwrap().with_linear(gaussian_rows(n, r, 7)).unwrap();
    Problem::new(AnySmooth::Dense(f), penalty("l1", 0.5), r).unwrap()
}

/// 300 iterations from a random start: every X feasible, F as tracked, and never higher than before.
pub fn check_descent<S: Solver<PcaProblem>>(p: &PcaProblem, solver: &S, what: &str) {
    let x0 = Start::Random.point(&p.f, p.rank(), false, 2).unwrap();
    let mut last = exact_objective(p, &x0);
    let mut state = solver.init(p, x0).unwrap();
    for k in 0..300 {
        let step = solver.steps(p, &mut state, 1);
        let x = solver.point(p, &state);
        let value = exact_objective(p, x);
        assert!(stiefel::feasibility(x) <= 1e-12, "{what}, iteration {k}");
        assert!((value - step.objective).abs() <= 1e-12 * (1.0 + value.abs()), "{what}: tracked F");
        assert!(value <= last + 1e-13 * value.abs(), "{what}, iteration {k}: {last} to {value}");
        last = value;
    }
}

/// aᵀb.
pub fn transposed_product(a: &RowMat, b: &RowMat) -> RowMat {
    RowMat::from_fn(a.ncols(), b.ncols(), |i, j| (0..a.nrows()).map(|k| a.get(k, i) * b.get(k, j)).sum())
}

/// ab.
pub fn plain_product(a: &RowMat, b: &RowMat) -> RowMat {
    RowMat::from_fn(a.nrows(), b.ncols(), |i, j| (0..a.ncols()).map(|k| a.get(i, k) * b.get(k, j)).sum())
}

/// a + c·b.
pub fn sum(a: &RowMat, c: f64, b: &RowMat) -> RowMat {
    RowMat::from_fn(a.nrows(), a.ncols(), |i, j| a.get(i, j) + c * b.get(i, j))
}

/// (m + mᵀ)/2.
pub fn sym(m: &RowMat) -> RowMat {
    RowMat::from_fn(m.nrows(), m.nrows(), |i, j| 0.5 * (m.get(i, j) + m.get(j, i)))
}

/// The polar factor through a singular value decomposition.
pub fn polar(y: &RowMat) -> RowMat {
    let svd = y.to_mat().thin_svd().unwrap();
    RowMat::from_mat((svd.U() * svd.V().transpose()).as_ref())
}

/// Largest difference of two entries.
pub fn apart(a: &RowMat, b: &RowMat) -> f64 {
    a.data().iter().zip(b.data()).fold(0.0, |m, (x, y)| m.max((x - y).abs()))
}

/// argmin ½‖Y − V‖² + t·h(Y) subject to sym(XᵀY) = I by accelerated gradient ascent on the dual
/// with restarts, entry by entry, until the constraint holds to `tol` or for `most` iterations; Y
/// and how far off it is.
pub fn tangent_prox(
    h: &impl Nonsmooth,
    x: &RowMat,
    v: &RowMat,
    t: f64,
    tol: f64,
    most: usize,
) -> (RowMat, f64) {
    let r = x.ncols();
    let point = |s: &RowMat| {
        let w = sum(v, 1.0, &plain_product(x, s));
        RowMat::from_fn(x.nrows(), r, |i, j| h.prox(w.get(i, j), t))
    };
    let error = |y: &RowMat| {
        let g = sym(&transposed_product(x, y));
        RowMat::from_fn(r, r, |i, j| g.get(i, j) - f64::from(u8::from(i == j)))
    };
    let (mut s, mut ahead, mut momentum, mut last) =
        (RowMat::zeros(r, r), RowMat::zeros(r, r), 1.0f64, f64::INFINITY);
    for _ in 0..most {
        let e = error(&point(&ahead));
        let next = sum(&ahead, -1.0, &e); // the dual is 1-smooth
        let reached = e.norm();
        if reached <= tol {
            break;
        }
        if reached > last {
            momentum = 1.0;
        }
        last = reached;
        let grown = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
        let step = sum(&next, -1.0, &s);
        ahead = sum(&next, (momentum - 1.0) / grown, &step);
        (s, momentum) = (next, grown);
    }
    let y = point(&ahead);
    let off = error(&y).norm();
    (y, off)
}

/// ManPG with t = 1/L, subproblems solved by [`tangent_prox`], the polar factor by an SVD, until
/// ‖D‖ ≤ `tol`. Returns X and F.
pub fn manpg(p: &PcaProblem, x0: &RowMat, t: f64, tol: f64) -> (RowMat, f64) {
    let value = |x: &RowMat| p.f.value(x) + p.h.value(x.data());
    let (mut x, mut objective) = (x0.clone(), value(x0));
    for _ in 0..20_000 {
        let v = sum(&x, -t, &gradient(p, &x));
        let y = tangent_prox(&p.h, &x, &v, t, 1e-11, 3000).0;
        let d = sum(&y, -1.0, &x);
        if d.norm() <= tol {
            return (x, objective);
        }
        let mut alpha = 1.0;
        loop {
            let trial = polar(&sum(&x, alpha, &d));
            let reached = value(&trial);
            if reached <= objective - 0.5 * alpha * d.norm().powi(2) / t + 1e-13 * objective.abs() {
                (x, objective) = (trial, reached);
                break;
            }
            alpha *= 0.5;
            assert!(alpha > 1e-10, "no descent");
        }
    }
    panic!("the reference did not converge");
}
