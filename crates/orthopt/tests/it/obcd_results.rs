//! Converged points of OBCD, and settings that must not change the result.

use crate::common::Steps;
use crate::common::obcd::{RULES, options};
use crate::common::{
    PROBLEMS, gaussian, iterate, on_data, penalty, problem, solve_from, sparse, thinned, usual_start,
};
use orthopt::RowMat;
use orthopt::certify::{Scope, block_stationarity};
use orthopt::objective::size;
use orthopt::problem::{PcaData, PcaProblem, Problem, Storage};
use orthopt::solve::{Solver, Status};
use orthopt::solvers::obcd::Model;
use orthopt::solvers::obcd::{Obcd, ObcdOptions};
use orthopt::start::Start;

/// "Converged" to a tolerance is confirmed to that tolerance by checking all pairs of the final
/// X afresh.
#[test]
fn converged_means_certified() {
    let (mut runs, mut refuted) = (0, Vec::new());
    for (k, (name, lambda)) in PROBLEMS.into_iter().enumerate() {
        let p = problem(name, lambda, 18, 3, 40 + k as u64);
        for rule in 0..RULES.len() {
            for block in [2, 3, 7, 16] {
                for tol in [1e-7, 1e-10] {
                    let o = options(rule, block, Model::Exact, 9);
                    let solution = solve_from(&p, usual_start(&p, 1), &o, tol, 1_000_000);
                    assert_eq!(solution.status, Status::Converged, "{name}: {}", solution.message);
                    let limit = tol * size(solution.scale, solution.objective.total);
                    let certificate = block_stationarity(&p, &solution.x, Scope::All);
                    runs += 1;
                    if !certificate.holds(limit) {
                        let ratio = certificate.max_decrease / limit;
                        refuted.push(format!(
                            "{name}, {:?}, block {block}, tol {tol:e}: {ratio:.1} times",
                            RULES[rule]
                        ));
                    }
                }
            }
        }
    }
    let count = refuted.len();
    assert!(count == 0, "{count} of {runs} runs offer more than their tolerance:\n{}", refuted.join("\n"));
}

/// Zeros are exact or absent: an entry of 1e-20 counts as nonzero for ℓ0, has one subgradient
/// only for ℓ1, and keeps its breakpoints from being found.
#[test]
fn converged_solutions_have_no_dust() {
    for (name, lambda) in [("l0-pca", 0.5), ("l1-pca", 1.5), ("l1-pca", 5.0), ("nonneg-pca", 0.0)] {
        for seed in 0..4 {
            let p = problem(name, lambda, 16, 3, 41 + seed);
            let solution = solve_from(&p, usual_start(&p, seed), &ObcdOptions::default(), 1e-12, 2_000_000);
            let dust: Vec<f64> =
                solution.x.data().iter().copied().filter(|v| *v != 0.0 && v.abs() < 1e-11).collect();
            assert!(dust.is_empty(), "{name}, lambda {lambda}, seed {seed}: {dust:?}");
        }
    }
}

/// Entries on their way to zero, which passes leave alone within their tolerance, are zero where a run ends; F is no
/// higher than it was followed to, whether the run has converged or not.
#[test]
fn what_is_next_to_zero_is_zero_in_the_end() {
    for (name, lambda) in [("l1", 8.0), ("scad", 12.0), ("mcp", 12.0), ("capped-l1", 12.0), ("l0", 4.0)] {
        for (seed, total) in [(0, 900), (1, 4000), (2, 1_000_000)] {
            let f = problem("pca", 0.0, 30, 5, 60 + seed).f;
            let p = Problem::new(f, penalty(name, lambda), 5).unwrap();
            for rule in [0, 2] {
                let solver = Obcd::new(options(rule, 2, Model::Exact, seed)).unwrap();
                let what = format!("{name}, seed {seed}, {:?}", RULES[rule]);
                let mut state = solver.init(&p, Start::Pca.point(&p.f, 5, false, seed).unwrap()).unwrap();
                let (mut done, mut quiet) = (0, false);
                while done < total && !quiet {
                    let info = solver.steps(&p, &mut state, total - done);
                    done += info.iterations;
                    quiet = info.pass.is_some_and(|pass| pass.covers_all && pass.decrease == 0.0);
                }
                let before = p.value(iterate(&solver, &p, &state));
                let x = solver.finish(&p, state).x;
                let x = p.cleaned(&x).unwrap_or(x);
                let dust = x.data().iter().filter(|v| **v != 0.0 && v.abs() <= 1e-6).count();
                let zeros = x.data().iter().filter(|v| **v == 0.0).count();
                assert!(p.feasibility(&x) <= 1e-12, "{what}: {:e}", p.feasibility(&x));
                assert!(p.value(&x) <= before + 1e-11 * (1.0 + before.abs()), "{what}");
                assert!(dust == 0 && zeros > 10, "{what}: {dust} entries of dust, {zeros} zeros");
            }
        }
    }
}

/// X and F after exactly `total` iterations, taken `budget` at a time.
fn after(p: &PcaProblem, options: &ObcdOptions, total: u64, budget: u64) -> (RowMat, f64) {
    let solver = Obcd::new(options.clone()).unwrap();
    let mut state = solver.init(p, usual_start(p, 4)).unwrap();
    let (mut done, mut objective) = (0, 0.0);
    while done < total {
        let info = solver.steps(p, &mut state, budget.min(total - done));
        (done, objective) = (done + info.iterations, info.objective);
    }
    (iterate(&solver, p, &state).clone(), objective)
}

#[test]
fn steps_threads_and_repetition_change_nothing() {
    for (k, (name, lambda)) in PROBLEMS.into_iter().enumerate() {
        let p = problem(name, lambda, 30, 4, 80 + k as u64);
        for rule in 0..RULES.len() {
            for (block, jacobi, total) in [(2, false, 700), (7, false, 60), (2, true, 60)] {
                let o = ObcdOptions { jacobi, ..options(rule, block, Model::Exact, 3) };
                let what = format!("{name}, {:?}, block {block}, jacobi {jacobi}", RULES[rule]);
                let once = after(&p, &o, total, 1);
                assert!(once == after(&p, &o, total, 1000), "{what}: budget 1000");
                assert!(once == after(&p, &o, total, 7), "{what}: budget 7");
                assert!(once == after(&p, &o, total, 1), "{what}: repeated");
                for threads in [1, 2] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    assert!(once == pool.install(|| after(&p, &o, total, 50)), "{what}: {threads} threads");
                }
            }
        }
    }
}

#[test]
fn another_seed_is_another_run() {
    let p = problem("l1-pca", 1.5, 30, 4, 90);
    let a = after(&p, &options(0, 2, Model::Exact, 1), 300, 50);
    let b = after(&p, &options(0, 2, Model::Exact, 2), 300, 50);
    assert!(a.0 != b.0);
}

#[test]
fn storages_converge_alike() {
    for (k, (name, lambda)) in PROBLEMS.into_iter().enumerate() {
        let a = thinned(40, 24, 0.4, 21 + k as u64);
        let s = sparse(&a);
        let (dense, rows) = (PcaData::Dense(a.as_ref()), PcaData::Sparse(s.as_ref(), None));
        let mut values = Vec::new();
        for (data, storage) in [
            (&dense, Storage::Dense),
            (&dense, Storage::Gram),
            (&rows, Storage::Dense),
            (&rows, Storage::Gram),
        ] {
            let p = orthopt::family::pca_problem(name, data, 3, lambda, storage).unwrap();
            for block in [2, 7] {
                let o = ObcdOptions { block, ..Default::default() };
                let solution = solve_from(&p, usual_start(&p, 5), &o, 1e-12, 1_000_000);
                assert_eq!(solution.status, Status::Converged, "{name} {storage:?}: {}", solution.message);
                let certificate = block_stationarity(&p, &solution.x, Scope::All);
                let scale = 1.0 + solution.objective.total.abs();
                assert!(certificate.holds(1e-10 * scale), "{name} {storage:?}: {certificate:?}");
                values.push((block, solution.objective.total));
            }
        }
        for (block, value) in &values {
            let known = values.iter().find(|v| v.0 == *block).unwrap().1;
            // ℓ1 has whole curves of block-2 stationary points: rounding decides where it ends
            assert!((value - known).abs() <= 1e-5 * (1.0 + known.abs()), "{name}: {values:?}");
        }
    }
}

/// Without a penalty every block-2 stationary point spans the leading eigenspace.
#[test]
fn plain_pca_reaches_the_leading_eigenvalues() {
    let (n, r) = (20, 4);
    let a = gaussian(35, n, 51);
    let eigenvalues = (a.transpose() * &a).self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
    let best = -0.5 * eigenvalues.iter().rev().take(r).sum::<f64>();
    let p = on_data("pca", 0.0, &a, r);
    for rule in 0..RULES.len() {
        for block in [2, 3, 7, 16] {
            for model in [Model::Exact, Model::Diagonal] {
                let o = options(rule, block, model, 6);
                let solution = solve_from(&p, usual_start(&p, 1), &o, 1e-14, 400_000);
                let found = solution.objective.total;
                assert!(
                    (found - best).abs() <= 1e-8 * best.abs(),
                    "{:?}, block {block}, {model:?}: {found}, eigenvalues give {best} ({})",
                    RULES[rule],
                    solution.message
                );
            }
        }
    }
}
