//! The rivals of JOBCD: golden updates, gradients against differences, runs, chains.

use crate::common::Steps;
use crate::common::jorth::{difference, feasible, golden, matrix, numbers, relative, shuffled};
use crate::common::{gaussian, gaussian_rows, limits};
use orthopt::RowMat;
use orthopt::constraint::Signature;
use orthopt::family::Family;
use orthopt::problem::PcaData;
use orthopt::problem::{JProblem, covariance};
use orthopt::smooth::{JQuadratic, Placement, Smooth, euclidean_distances};
use orthopt::solve::{
    AnySolver, Chain, MaxIterations, RunOptions, Setting, Solution, Solver, Stationary, Status, Stop, run,
    run_restarts,
};
use orthopt::solvers::{J_SOLVERS, SolverOptions, find_solvers};
use orthopt_core::constraint::j_orthogonal::CsFactors;
use orthopt_core::constraint::j_orthogonal::spectral_norm;
use orthopt_hyperbolic::j_baselines::admm_update;
use orthopt_hyperbolic::j_baselines::cs_gradient;
use orthopt_hyperbolic::j_baselines::merit;

const RIVALS: [&str; 3] = ["j-admm", "umcm", "csdm"];

fn doubled(c: &RowMat) -> RowMat {
    RowMat::from_fn(c.nrows(), c.ncols(), |i, k| 2.0 * c.get(i, k))
}

#[test]
fn golden_admm_and_umcm() {
    let file = golden(include_str!("../data/ultrae_and_baselines.json"));
    let case = &file["admm"];
    let at = |name: &str| matrix(&case[name]);
    let j = Signature::from_signs(&numbers(&case["J"])).unwrap();
    let f = JQuadratic::new(doubled(&at("C")).as_mat(), None).unwrap();
    let (x, y, z, w) = (at("X"), at("Y"), at("Z"), at("W"));
    let mut grad = RowMat::zeros(4, 4);
    f.gradient(&x, &mut grad);
    let (beta, l) = (case["beta"].as_f64().unwrap(), case["l"].as_f64().unwrap());
    let (x, y, z, w) = admm_update((&x, &y, &z, &w), &grad, &j, beta, l).unwrap();
    for (found, name) in [(x, "X_next"), (y, "Y_next"), (z, "Z_next"), (w, "W_next")] {
        assert!(relative(&found, &at(name)) <= 1e-10, "{name}");
    }
    let case = &file["umcm"];
    let (c, x) = (matrix(&case["C"]), matrix(&case["X"]));
    let f = JQuadratic::new(doubled(&c).as_mat(), None).unwrap();
    let (value, gradient) = merit(&f, &x, &j, case["beta"].as_f64().unwrap());
    let known = case["value"].as_f64().unwrap();
    assert!((value - known).abs() <= 1e-10 * known, "{value} {known}");
    assert!(relative(&gradient, &matrix(&case["gradient"])) <= 1e-10);
}

fn definite(n: usize, ridge: f64, seed: u64) -> RowMat {
    let a = gaussian(2 * n, n, seed);
    covariance(&PcaData::Dense(a.as_ref()), ridge).unwrap()
}

fn hyperbolic(n: usize, p: usize, seed: u64) -> JProblem {
    JProblem::hyperbolic_eig(definite(n, 1e-2, seed).as_mat(), shuffled(p, n, seed)).unwrap()
}

fn probe(m: usize, n: usize) -> JProblem {
    let d = gaussian(m, n, 4);
    let d = faer::Mat::from_fn(m, n, |i, k| d[(i, k)] / (k + 1) as f64);
    let t = euclidean_distances(d.as_ref());
    JProblem::probe(d.as_ref(), t, shuffled(n / 2, n, 2), 1.0, Placement::After).unwrap()
}

#[test]
fn the_merit_gradient_is_that_of_differences() {
    for (n, p, seed) in [(4, 2, 1), (5, 1, 2), (3, 3, 3)] {
        let j = shuffled(p, n, seed);
        let (base, noise) = (feasible(&j, seed), gaussian_rows(n, n, seed));
        // off the group, where all terms count
        let x = RowMat::from_fn(n, n, |a, b| base.get(a, b) + 0.2 * noise.get(a, b));
        let right = gaussian_rows(n, n, 9);
        let right = RowMat::from_fn(n, n, |a, b| right.get(a, b) + right.get(b, a));
        let f = JQuadratic::new(definite(n, 0.1, seed).as_mat(), Some(right.as_mat())).unwrap();
        let (_, g) = merit(&f, &x, &j, 3.0);
        let fd = RowMat::from_fn(n, n, |a, b| {
            let at = |t: f64| {
                let mut y = x.clone();
                y.set(a, b, x.get(a, b) + t);
                merit(&f, &y, &j, 3.0).0
            };
            (at(1e-5) - at(-1e-5)) / 2e-5
        });
        assert!(relative(&g, &fd) <= 1e-7, "n {n}: {:e}", relative(&g, &fd));
    }
}

#[test]
fn the_gradient_of_the_factors_is_that_of_differences() {
    for (n, p, seed) in [(5, 2, 1), (6, 3, 2), (5, 4, 3), (3, 0, 4), (3, 3, 5)] {
        let j = shuffled(p, n, seed);
        let f = JQuadratic::new(definite(n, 0.1, seed).as_mat(), None).unwrap();
        let factors = CsFactors::decompose(&feasible(&j, seed), &j).unwrap();
        let mut g = RowMat::zeros(n, n);
        f.gradient(&factors.compose(&j), &mut g);
        let d = cs_gradient(&factors, &g, &j);
        let along = |change: &dyn Fn(&mut CsFactors, f64)| {
            let at = |t: f64| {
                let mut moved = factors.clone();
                change(&mut moved, t);
                f.value(&moved.compose(&j))
            };
            (at(1e-5) - at(-1e-5)) / 2e-5
        };
        let check = |pick: fn(&mut CsFactors) -> &mut RowMat, known: &RowMat| {
            for a in 0..known.nrows() {
                for b in 0..known.ncols() {
                    let fd = along(&|m, t| {
                        let u = pick(m);
                        u.set(a, b, u.get(a, b) + t);
                    });
                    assert!((fd - known.get(a, b)).abs() <= 1e-7 * (1.0 + fd.abs()), "n {n}, p {p}: {fd}");
                }
            }
        };
        check(|m| &mut m.u1, &d.u1);
        check(|m| &mut m.u2, &d.u2);
        check(|m| &mut m.v1, &d.v1);
        check(|m| &mut m.v2, &d.v2);
        for k in 0..factors.mu.len() {
            let fd = along(&|m, t| m.mu[k] += t);
            assert!((fd - d.mu[k]).abs() <= 1e-7 * (1.0 + fd.abs()), "mu {k}: {fd} {}", d.mu[k]);
        }
    }
}

fn solver(p: &JProblem, name: &str, constants: &[(&str, f64)]) -> AnySolver<JProblem> {
    let constants = constants.iter().map(|(k, v)| ((*k).to_string(), *v)).collect();
    let o = SolverOptions { seed: 3, constants, ..Default::default() };
    find_solvers(J_SOLVERS, name).unwrap()[0].build(p, &o).unwrap()
}

fn solve(p: &JProblem, name: &str, most: u64) -> Solution {
    let s = solver(p, name, &[]);
    let x0 = p.start("random", 1).unwrap();
    run(p, &s, x0, limits(most, 0), &mut MaxIterations(Some(most)), &mut []).unwrap()
}

#[test]
fn rivals_come_near_the_optimum_with_a_feasible_point() {
    for (n, p) in [(8, 4), (9, 2), (7, 7)] {
        let problem = hyperbolic(n, p, 1);
        let best = problem.optimum().unwrap().unwrap();
        let start = problem.value(&problem.start("random", 1).unwrap());
        for name in RIVALS {
            let s = solve(&problem, name, 3000);
            let value = s.objective.total;
            assert!(s.feasibility <= 1e-13 * spectral_norm(&s.x).powi(2), "{name}: {:e}", s.feasibility);
            assert!(value >= best * (1.0 - 1e-10), "{name}: {value} below {best}");
            let left = (value - best) / (start - best).max(1e-12 * best);
            assert!(
                left <= if name == "j-admm" { 0.05 } else { 0.2 },
                "{name}, n {n}, p {p}: {left} of the gap is left"
            );
            assert_eq!(s.raw.is_some(), name != "csdm");
            assert!(s.trace.points().windows(2).all(|w| w[1].objective <= w[0].objective));
        }
    }
}

#[test]
fn rivals_of_the_unbounded_problem_end_in_finite_numbers() {
    let c = definite(6, 0.0, 2);
    let problem = JProblem::reproduction(c.as_mat(), Signature::leading(3, 6).unwrap()).unwrap();
    for name in RIVALS {
        let quick: &[(&str, f64)] =
            if name == "j-admm" { &[] } else { &[("csdm-lr", 0.5), ("umcm-lr", 0.5)] };
        let s = solver(&problem, name, quick);
        let x0 = problem.start("random", 1).unwrap();
        let mut stop = MaxIterations(Some(30_000));
        let solution = run(&problem, &s, x0, limits(30_000, 0), &mut stop, &mut []).unwrap();
        assert!(solution.x.find_non_finite().is_none() && solution.objective.total.is_finite(), "{name}");
        // never called converged; one that creeps ends as stalled
        let ends = [Status::Unbounded, Status::MaxIters, Status::Stalled];
        assert!(ends.contains(&solution.status), "{name}: {:?}", solution.status);
        let norm = spectral_norm(&solution.x);
        assert!(solution.feasibility <= 1e-12 * norm * norm, "{name}: {:e}", solution.feasibility);
    }
}

#[test]
fn rivals_take_any_f() {
    let p = probe(30, 5);
    let start = p.value(&p.start("random", 1).unwrap());
    for name in RIVALS {
        let s = solve(&p, name, 300);
        assert!(s.objective.total <= start && s.feasibility <= 1e-12, "{name}: {}", s.objective.total);
    }
}

#[test]
fn rivals_are_deterministic() {
    let p = hyperbolic(30, 12, 1);
    let x0 = p.start("random", 2).unwrap();
    for name in RIVALS {
        let s = solver(&p, name, &[]);
        let on = |threads: usize, budget: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut st = s.init(&p, x0.clone()).unwrap();
                let mut done = 0;
                while done < 35 {
                    done += s.steps(&p, &mut st, budget.min(35 - done)).iterations;
                }
                s.finish(&p, st).x
            })
        };
        let one = on(1, 1);
        assert_eq!(one, on(3, 1), "{name}: other threads");
        assert_eq!(one, on(2, 16), "{name}: other steps");
    }
}

/// `csdm+gs-jobcd`, as on the command line: the second stage finishes what the first began.
#[test]
fn chains() {
    let p = hyperbolic(12, 5, 4);
    let best = p.optimum().unwrap().unwrap();
    let infos = find_solvers(J_SOLVERS, "csdm+gs-jobcd").unwrap();
    let stages: Vec<_> = infos.iter().map(|i| i.build(&p, &SolverOptions::default()).unwrap()).collect();
    let x0 = p.start("random", 1).unwrap();
    let options = RunOptions { stage_seconds: Some(0.2), ..Default::default() };
    let mut stop = Stationary { tol: 1e-9 }.or(MaxIterations(Some(10_000_000)));
    let start = |_| Ok(Chain { stages: stages.clone(), x0: x0.clone() });
    let s = run_restarts(&p, start, options, &mut stop, &mut []).unwrap();
    assert_eq!((s.solver.as_str(), s.status), ("csdm+gs-jobcd", Status::Converged));
    assert!((s.objective.total - best).abs() <= 1e-8 * best);
    let Setting::Real(first) = s.settings["csdm.objective"] else {
        panic!("no objective of the first stage")
    };
    assert!(first >= s.objective.total && first < p.value(&x0));
    assert!(difference(&s.x, &x0) > 1e-3);
}

#[test]
fn constants_are_checked() {
    let p = hyperbolic(3, 1, 1);
    for (name, constant) in [("j-admm", "j-admm-beta"), ("umcm", "umcm-lr"), ("csdm", "csdm-lr")] {
        let o = SolverOptions { constants: [(constant.to_string(), 0.0)].into(), ..Default::default() };
        let error = find_solvers(J_SOLVERS, name).unwrap()[0].build(&p, &o).err().unwrap().to_string();
        assert_eq!(error, format!("{constant} is 0: expected a finite number > 0"));
    }
    let o = SolverOptions { constants: [("umcm-double".to_string(), 2.5)].into(), ..Default::default() };
    assert!(find_solvers(J_SOLVERS, "umcm").unwrap()[0].build(&p, &o).is_err());
}
