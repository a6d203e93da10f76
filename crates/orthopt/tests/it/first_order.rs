//! The first-order solvers: what each of them promises, on every penalty it takes.

use crate::common::Steps;
use crate::common::first_order::{
    NAMES, apart, build, check_descent, info, polar, solve, sum, sym, transposed_product, wide,
    with_linear_term,
};
use crate::common::{exact_objective, gaussian, gaussian_rows, gradient, penalty, problem, usual_start};
use orthopt::RowMat;
use orthopt::certify::criticality;
use orthopt::nonsmooth::Nonsmooth;
use orthopt::penalty::{AnyPenalty, L0, L1, NoPenalty, Nonneg};
use orthopt::problem::{PcaData, PcaProblem, Problem, Storage};
use orthopt::smooth::{AnySmooth, DenseQuadratic, Quadratic, Smooth};
use orthopt::solve::{Solver, Status};
use orthopt::solvers::ManPg;
use orthopt::solvers::SolverOptions;
use orthopt::start::Start;
use orthopt_solvers::amanpg::AManPg;
use orthopt_solvers::irpg::Irpg;
use orthopt_solvers::ladmm::Ladmm;
use orthopt_solvers::rsubgrad::RSubGrad;
use orthopt_solvers::slpg::Slpg;

fn problems(n: usize, r: usize) -> Vec<PcaProblem> {
    let mut out = vec![
        problem("l1-pca", 1.5, n, r, 1),
        problem("pca", 0.0, n, r, 2),
        problem("l0-pca", 2.0, n, r, 3),
        problem("nonneg-pca", 0.0, n, r, 4),
    ];
    out.push(wide("l1-pca", 0.2, 5, n, r, 5));
    out.push(with_linear_term(n, r));
    out
}

#[test]
fn every_solver_is_feasible_and_no_worse_than_its_start() {
    for (n, r) in [(12, 3), (9, 1), (5, 5), (1, 1), (40, 7)] {
        for (k, p) in problems(n, r).iter().enumerate() {
            let starts = [
                usual_start(p, 1),
                if p.h.requires_nonneg() {
                    Start::Partition.point(&p.f, r, true, 9).unwrap()
                } else {
                    Start::Random.point(&p.f, r, false, 9).unwrap()
                },
            ];
            for name in NAMES.into_iter().filter(|s| (info(s).handles)(p)) {
                for x0 in &starts {
                    let what = format!("{name} on problem {k}, {n} x {r}");
                    let s = solve(p, name, x0.clone(), 1e-10, 150);
                    assert!(s.feasibility <= 1e-12, "{what}: {:e}", s.feasibility);
                    assert!(s.objective.total.is_finite(), "{what}");
                    let (before, after) = (exact_objective(p, x0), exact_objective(p, &s.x));
                    assert!(after <= before + 1e-12 * (1.0 + before.abs()), "{what}: {before} to {after}");
                    assert_eq!(s.nonneg_violation.unwrap_or(0.0), 0.0, "{what}");
                    for w in s.trace.points().windows(2) {
                        assert!(w[1].objective <= w[0].objective && w[1].feasibility <= 1e-12, "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn manpg_never_raises_f() {
    for name in ["manpg", "manpg-ada"] {
        for p in [
            problem("l1-pca", 3.0, 30, 4, 11),
            wide("l1-pca", 0.2, 10, 60, 3, 12),
            problem("pca", 0.0, 25, 4, 13),
        ] {
            check_descent(&p, &build(name, &p), name);
        }
    }
}

/// With h = 0 and α = 1 ManPG is X ← polar(X − t·grad f(X)).
#[test]
fn manpg_without_penalty_is_riemannian_gradient_descent() {
    let p = problem("pca", 0.0, 20, 4, 21);
    let t = 1.0 / p.f.norm();
    let solver = ManPg { t: Some(t), ..ManPg::FIXED };
    let mut x = Start::Random.point(&p.f, 4, false, 3).unwrap();
    let mut state = solver.init(&p, x.clone()).unwrap();
    for k in 0..60 {
        solver.steps(&p, &mut state, 1);
        let g = gradient(&p, &x);
        let normal = crate::common::first_order::plain_product(&x, &sym(&transposed_product(&x, &g)));
        x = polar(&sum(&x, -t, &sum(&g, -1.0, &normal)));
        let found = solver.point(&p, &state);
        assert!(apart(found, &x) <= 1e-12, "iteration {k}: {:e}", apart(found, &x));
    }
}

/// With h = 0 the multiplier of LADMM stays 0, its copy is X, and what is left is
/// X ← polar(X − ∇f(X)/ℓ).
#[test]
fn ladmm_without_penalty_is_a_projected_gradient_method() {
    let convex = {
        let b = gaussian(15, 15, 5);
        let m = &b * b.transpose();
        Problem::new(
            AnySmooth::Dense(DenseQuadratic::new(m.as_ref()).unwrap()),
            AnyPenalty::None(NoPenalty),
            3,
        )
        .unwrap()
    };
    for (p, beta) in [(problem("pca", 0.0, 15, 3, 22), 30.0), (convex, 20.0)] {
        let ell = if p.f.is_concave() { beta } else { p.f.norm() + beta };
        let solver = Ladmm { beta: Some(beta), rho: 1.0, ..Ladmm::default() };
        let mut x = Start::Random.point(&p.f, 3, false, 4).unwrap();
        let mut state = solver.init(&p, x.clone()).unwrap();
        for k in 0..40 {
            solver.steps(&p, &mut state, 1);
            x = polar(&sum(&x, -1.0 / ell, &gradient(&p, &x)));
            let raw = solver.finish(&p, state.clone()).raw.unwrap();
            let value = exact_objective(&p, &x);
            assert!((raw.objective - value).abs() <= 1e-10 * (1.0 + value.abs()), "iteration {k}");
            assert!(raw.feasibility <= 1e-12);
            if k < 10 {
                // every early iterate is offered as the feasible copy, and F falls
                let found = solver.point(&p, &state);
                assert!(apart(found, &x) <= 1e-11, "iteration {k}: {:e}", apart(found, &x));
            }
        }
    }
}

/// On smooth problems every one of them finds the leading eigenspace.
#[test]
fn plain_pca_is_solved() {
    let (n, r) = (30, 3);
    let p = problem("pca", 0.0, n, r, 31);
    let best = {
        let v = Start::Pca.point(&p.f, r, false, 0).unwrap();
        exact_objective(&p, &v)
    };
    for name in NAMES {
        let s = solve(&p, name, Start::Random.point(&p.f, r, false, 5).unwrap(), 1e-9, 20_000);
        let gap = (s.objective.total - best) / best.abs();
        // diminishing steps: no faster than their sum grows
        let tol = if name == "rsubgrad" { 1e-4 } else { 1e-8 };
        assert!(gap.abs() <= tol, "{name}: {gap:e}, {}", s.message);
    }
}

/// Points called converged are critical, and zeros are exact.
#[test]
fn converged_means_critical() {
    for seed in 0..3 {
        let p = wide("l1-pca", 0.25, 12, 80, 4, 40 + seed);
        for name in ["manpg", "manpg-ada", "irpg", "amanpg", "slpg"] {
            let x0 = Start::Random.point(&p.f, 4, false, seed).unwrap();
            let s = solve(&p, name, x0, 1e-9, 50_000);
            assert_eq!(s.status, Status::Converged, "{name}: {}", s.message);
            let scale = gradient(&p, &s.x).norm();
            let distance = criticality(&p, &s.x) / scale;
            assert!(distance <= 1e-7, "{name}, seed {seed}: {distance:e}");
            let zeros = s.x.data().iter().filter(|v| **v == 0.0).count();
            let tiny = s.x.data().iter().filter(|v| **v != 0.0 && v.abs() < 1e-9).count();
            assert!(zeros > 50 && tiny == 0, "{name}, seed {seed}: {zeros} zeros, {tiny} tiny");
        }
    }
}

/// The same bits for every number of threads, however a run is cut into steps.
#[test]
fn threads_and_steps_change_nothing() {
    let l1 = wide("l1-pca", 0.2, 20, 400, 12, 3);
    let l0 = problem("l0-pca", 5.0, 60, 5, 8);
    for (p, names) in [(&l1, &NAMES[..]), (&l0, &["ladmm", "spm", "soc"][..])] {
        for name in names {
            let result = |threads: usize, cut: u64| {
                let pool = rayon_pool(threads);
                pool.install(|| {
                    let solver = build(name, p);
                    let mut state =
                        solver.init(p, Start::Random.point(&p.f, p.rank(), false, 1).unwrap()).unwrap();
                    let (mut left, mut last) = (40u64, None);
                    while left > 0 {
                        let info = solver.steps(p, &mut state, cut.min(left));
                        assert!(info.iterations <= cut.min(left) && info.iterations > 0);
                        left -= info.iterations;
                        last = Some((info.objective.to_bits(), info.residual.map(f64::to_bits)));
                        if info.ended.is_some() {
                            break;
                        }
                    }
                    (solver.finish(p, state).x, last)
                })
            };
            let one = result(1, 1);
            assert!(one == result(2, 7), "{name}: threads");
            assert!(one == result(3, 40), "{name}: steps");
        }
    }
}

fn rayon_pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

#[test]
fn a_solver_says_what_it_is_for() {
    for name in ["manpg", "manpg-ada", "irpg", "amanpg", "slpg", "rsubgrad"] {
        for (problem_name, lambda) in [("l0-pca", 1.0), ("nonneg-pca", 0.0)] {
            let p = problem(problem_name, lambda, 8, 2, 1);
            let error = info(name).build(&p, &SolverOptions::default()).err().unwrap().to_string();
            assert!(error.contains(&format!("solver {name} is for convex penalties")), "{error}");
            assert!(error.contains("use obcd, ladmm, spm or soc"), "{error}");
        }
    }
    // made without the registry
    let f = || DenseQuadratic::negative(faer::Mat::<f64>::identity(4, 4).as_ref()).unwrap();
    let x0 = RowMat::from_fn(4, 2, |i, k| f64::from(u8::from(i == k)));
    let l0 = Problem::new(f(), L0::new(1.0).unwrap(), 2).unwrap();
    assert!(ManPg::FIXED.init(&l0, x0.clone()).is_err());
    assert!(Irpg::default().init(&l0, x0.clone()).is_err());
    assert!(AManPg::default().init(&l0, x0.clone()).is_err());
    let nonneg = Problem::new(f(), Nonneg, 2).unwrap();
    assert!(Slpg::default().init(&nonneg, x0.clone()).is_err());
    assert!(RSubGrad::default().init(&nonneg, x0.clone()).is_err());
    let l1 = Problem::new(f(), L1::new(1.0).unwrap(), 2).unwrap();
    assert!(ManPg::FIXED.init(&l1, x0.clone()).is_ok());
    assert!(ManPg::FIXED.init(&l1, RowMat::zeros(4, 2)).is_err());
}

#[test]
fn constants_are_checked_by_name() {
    let p = problem("l1-pca", 1.0, 8, 2, 1);
    for (solver, constant, bad) in [
        ("manpg", "t", -1.0),
        ("manpg", "gamma", 1.0),
        ("manpg", "delta", 0.6),
        ("manpg-ada", "tau", 1.0),
        ("irpg", "phi", 0.0),
        ("irpg", "memory", 0.0),
        ("irpg", "longest", 0.5),
        ("amanpg", "step", 2.5),
        ("amanpg", "phi", 0.0),
        ("slpg", "inner", 0.0),
        ("slpg", "memory", f64::NAN),
        ("rsubgrad", "eta", 0.0),
        ("rsubgrad", "p", 2.0),
        ("ladmm", "beta", -1.0),
        ("ladmm", "rho", 0.5),
        ("spm", "rho", 1.0),
        ("spm", "most", f64::INFINITY),
        ("soc", "beta", 0.0),
    ] {
        let name = format!("{solver}-{constant}");
        let options = SolverOptions { constants: [(name.clone(), bad)].into(), ..Default::default() };
        let error = info(solver).build(&p, &options).err().unwrap().to_string();
        assert!(error.contains(&name), "{error}");
        assert!(info(solver).constants.iter().any(|c| c.name == constant), "{name} is not listed");
    }
    // and used
    let options = SolverOptions { constants: [("manpg-t".to_string(), 1e-9)].into(), ..Default::default() };
    let solver = info("manpg").build(&p, &options).unwrap();
    let x0 = usual_start(&p, 0);
    let mut state = solver.init(&p, x0.clone()).unwrap();
    solver.steps(&p, &mut state, 1);
    assert!(apart(solver.point(&p, &state), &x0) <= 1e-6);
}

/// `raw` is the papers' convention: F of the sparse copy and how far it is from feasible.
#[test]
fn raw_reports_the_natural_iterate() {
    let p = problem("l0-pca", 3.0, 30, 3, 17);
    for name in ["ladmm", "spm", "soc"] {
        let s = solve(&p, name, usual_start(&p, 0), 1e-12, 20);
        let raw = s.raw.unwrap();
        assert!(raw.feasibility > 1e-12 && raw.objective.is_finite() && raw.nnz < 90, "{name}: {raw:?}");
        assert!(s.feasibility <= 1e-12);
    }
    let p = wide("l1-pca", 0.2, 10, 40, 3, 2);
    let slpg = solve(&p, "slpg", Start::Random.point(&p.f, 3, false, 1).unwrap(), 1e-12, 10);
    assert!(slpg.raw.unwrap().feasibility > 1e-12);
    for name in ["manpg", "irpg", "amanpg", "rsubgrad"] {
        assert!(solve(&p, name, usual_start(&p, 0), 1e-3, 10).raw.is_none());
    }
}

/// Functions of whole matrices agree with those of single entries.
#[test]
fn batched_calls_agree_with_plain_ones() {
    for n in [1, 7, 40, 400] {
        let x = gaussian_rows(n, 3, n as u64);
        for (name, lambda) in [("l1", 0.7), ("l0", 0.4), ("nonneg", 0.0), ("none", 0.0)] {
            let h = penalty(name, lambda);
            let mut all = x.clone();
            h.prox_all(all.data_mut(), 0.6);
            for (y, v) in all.data().iter().zip(x.data()) {
                assert!((y - h.prox(*v, 0.6)).abs() <= 1e-16 * v.abs(), "{name}");
                assert_eq!(*y == 0.0, h.prox(*v, 0.6) == 0.0);
            }
            let plain: f64 = all.data().iter().map(|v| h.entry(*v)).sum();
            let value = h.value(all.data());
            assert!((value - plain).abs() <= 1e-13 * (1.0 + plain.abs()), "{name}: {value} for {plain}");
        }
    }
    let a = gaussian(6, 20, 1);
    let x = gaussian_rows(20, 3, 2);
    let sparse = crate::common::sparse(&a);
    for storage in [Storage::Dense, Storage::Gram] {
        for data in [
            PcaData::Dense(a.as_ref()),
            PcaData::Sparse(sparse.as_ref(), Some(crate::common::means(&sparse))),
        ] {
            let p = orthopt::family::pca_problem("pca", &data, 3, 0.0, storage).unwrap();
            let mut g = RowMat::zeros(20, 3);
            let value = p.f.value_and_gradient(&x, &mut g);
            assert!((value - p.f.value(&x)).abs() <= 1e-13 * value.abs());
            assert_eq!(apart(&g, &gradient(&p, &x)), 0.0);
        }
    }
}
