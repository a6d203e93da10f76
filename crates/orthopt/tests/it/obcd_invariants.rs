//! Invariants of OBCD at every single step, for every rule, block size and model.

use crate::common::obcd::{RULES, TOL, absolute, check_end, options, walk};
use crate::common::{
    PROBLEMS, exact_objective, gaussian, gaussian_rows, on_data, penalty, problem, solve_from, usual_start,
};
use faer::Mat;
use orthopt::problem::{PcaProblem, Problem};
use orthopt::smooth::{AnySmooth, DenseQuadratic};
use orthopt::solve::Status;
use orthopt::solvers::obcd::Model;
use orthopt::solvers::obcd::ObcdOptions;
use orthopt_core::constraint::stiefel;

fn every_step(block: usize) {
    for (k, (name, lambda)) in PROBLEMS.into_iter().enumerate() {
        let p = problem(name, lambda, 16, 3, 40 + k as u64);
        let x0 = usual_start(&p, 1);
        for rule in 0..RULES.len() {
            for model in [Model::Exact, Model::Diagonal] {
                let what = format!("{name}, {:?}, block {block}, {model:?}", RULES[rule]);
                let x = walk(&what, &p, &options(rule, block, model, 9), &x0);
                check_end(&what, &p, model, &x);
            }
        }
    }
}

#[test]
fn every_step_of_pairs() {
    every_step(2);
}

#[test]
fn every_step_of_blocks_of_3() {
    every_step(3);
}

#[test]
fn every_step_of_blocks_of_7() {
    every_step(7);
}

#[test]
fn every_step_of_blocks_of_16() {
    every_step(16);
}

/// Rounds of n/2 pairs at once: F falls by what the pairs promise together, also where f is not
/// concave and λ_max(M) is only bounded.
#[test]
fn every_step_of_jacobi_rounds() {
    let jacobi = ObcdOptions { jacobi: true, seed: 9, ..Default::default() };
    for (k, (name, lambda)) in PROBLEMS.into_iter().enumerate() {
        let p = problem(name, lambda, 16, 3, 40 + k as u64);
        for rule in [0, 1, 2] {
            let (working_set, candidates) = RULES[rule];
            let o = ObcdOptions { working_set, candidates, ..jacobi.clone() };
            let what = format!("{name}, jacobi, {working_set:?}");
            let x = walk(&what, &p, &o, &usual_start(&p, 1));
            check_end(&what, &p, Model::Exact, &x);
        }
    }
    for (h, lambda) in [("l0", 0.8), ("l1", 0.5), ("none", 0.0), ("nonneg", 0.0)] {
        for n in [15, 30] {
            let b = gaussian(n, n, 30);
            let m = Mat::from_fn(n, n, |i, j| b[(i, j)] + b[(j, i)]);
            let f = DenseQuadratic::new(m.as_ref()).unwrap().with_linear(gaussian_rows(n, 4, 31)).unwrap();
            let p: PcaProblem = Problem::new(AnySmooth::Dense(f), penalty(h, lambda), 4).unwrap();
            let what = format!("{h}, jacobi, indefinite {n}");
            let x = walk(&what, &p, &jacobi, &usual_start(&p, 1));
            check_end(&what, &p, Model::Exact, &x);
        }
    }
}

/// A large α makes steps short, so that the sufficient decrease is all but used up.
#[test]
fn sufficient_decrease_with_a_large_alpha() {
    for (k, (name, lambda)) in PROBLEMS.into_iter().enumerate() {
        let p = problem(name, lambda, 12, 2, 60 + k as u64);
        for block in [2, 3, 7, 12] {
            for alpha in [1.0, 30.0] {
                for model in [Model::Exact, Model::Diagonal] {
                    let o = ObcdOptions { alpha: absolute(&p, alpha), ..options(0, block, model, 2) };
                    let what = format!("{name}, alpha {alpha}, block {block}, {model:?}");
                    let x = walk(&what, &p, &o, &usual_start(&p, 1));
                    assert!(stiefel::feasibility(&x) <= 1e-12);
                }
            }
        }
    }
}

/// Sizes at the edge: rank n, rank 1, one or two rows, and data that are all zero.
#[test]
fn small_and_empty_problems() {
    for (name, lambda) in PROBLEMS {
        for (m, n, r) in [(12, 6, 6), (9, 7, 1), (3, 1, 1), (4, 2, 1), (4, 2, 2), (2, 5, 4)] {
            for zero in [false, true] {
                let a = if zero { Mat::zeros(m, n) } else { gaussian(m, n, 17) };
                let p = on_data(name, lambda, &a, r);
                for rule in 0..RULES.len() {
                    for block in [2, 3, 16] {
                        let what = format!(
                            "{name}, {m} x {n}, rank {r}, zero {zero}, {:?}, block {block}",
                            RULES[rule]
                        );
                        let x0 = usual_start(&p, 3);
                        let before = exact_objective(&p, &x0);
                        let o = options(rule, block, Model::Exact, 1);
                        let solution = solve_from(&p, x0, &o, TOL, 100_000);
                        assert_eq!(solution.status, Status::Converged, "{what}: {}", solution.message);
                        assert!(solution.objective.total <= before + 1e-12 * (1.0 + before.abs()), "{what}");
                        check_end(&what, &p, Model::Exact, &solution.x);
                        if zero {
                            let known = if lambda == 0.0 { 0.0 } else { lambda * r as f64 };
                            assert!((solution.objective.total - known).abs() < 1e-12, "{what}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn indefinite_quadratics_with_a_linear_term() {
    for (k, h) in [("l0", 0.8), ("l1", 0.5), ("nonneg", 0.0), ("none", 0.0)].into_iter().enumerate() {
        let (n, r) = (14, 3);
        let b = gaussian(n, n, 30 + k as u64);
        let m = Mat::from_fn(n, n, |i, j| b[(i, j)] + b[(j, i)]);
        let e = gaussian_rows(n, r, 31);
        let f = DenseQuadratic::new(m.as_ref()).unwrap().with_linear(e).unwrap();
        let p: PcaProblem = Problem::new(AnySmooth::Dense(f), penalty(h.0, h.1), r).unwrap();
        for rule in 0..RULES.len() {
            for block in [2, 7] {
                for model in [Model::Exact, Model::Diagonal] {
                    let what = format!("{h:?}, {:?}, block {block}, {model:?}", RULES[rule]);
                    let x = walk(&what, &p, &options(rule, block, model, 5), &usual_start(&p, 2));
                    check_end(&what, &p, model, &x);
                }
            }
        }
    }
}
