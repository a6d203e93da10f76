//! OBCD on composite problems, after OADMM and alone, and the rivals of OADMM.

use std::collections::BTreeMap;

use crate::common::Steps;
use crate::common::composite::{KINDS, composite};
use crate::common::problem;
use orthopt::cancel::Cancel;
use orthopt::family::Family;
use orthopt::linear_map::LinearMap;
use orthopt::problem::CompositeProblem;
use orthopt::solve::{
    Chain, Critical, MaxIterations, RunOptions, Setting, Solution, Solver, Stationary, Status, Stop, run,
    run_restarts,
};
use orthopt::solvers::COMPOSITE_SOLVERS;
use orthopt::solvers::{SolverOptions, find_solvers};

/// One solver from the start of the seed, or from `from`.
fn solve<P: Family>(p: &P, name: &str, from: Option<&Solution>, iterations: u64, seed: u64) -> Solution {
    let solver = find_solvers(p.solvers(), name).unwrap()[0];
    let solver = solver.build(p, &SolverOptions { seed, ..Default::default() }).unwrap();
    let x0 = from.map_or_else(|| p.start("random", seed).unwrap(), |s| s.x.clone());
    let options = RunOptions { max_iterations: Some(iterations), seed, ..Default::default() };
    let mut stop = Stationary { tol: 1e-11 }.or(Critical { tol: 1e-9 }).or(MaxIterations(Some(iterations)));
    run(p, &solver, x0, options, &mut stop, &mut []).unwrap()
}

/// F of OADMM and of OBCD from its point.
fn after_oadmm<P: Family>(p: &P, oadmm: &str, seed: u64) -> (f64, f64) {
    let first = solve(p, oadmm, None, 600, seed);
    let then = solve(p, "obcd", Some(&first), 50_000, seed);
    assert!(first.feasibility <= 1e-12 && then.feasibility <= 1e-12);
    (p.value(&first.x), p.value(&then.x))
}

#[test]
fn obcd_after_oadmm_is_never_above_it_and_often_below() {
    for oadmm in ["oadmm", "oadmm-ep", "oadmm-rr"] {
        let mut below = BTreeMap::<&str, u32>::new();
        for seed in 0..4 {
            let l1 = problem("l1-pca", 4.0, 24, 3, seed);
            let mcp = problem("mcp-pca", 4.0, 24, 3, seed);
            let dc = composite(("dc-pca", None), 24, 3, 3.0, seed);
            let runs = [
                ("l1", after_oadmm(&l1, oadmm, seed)),
                ("mcp", after_oadmm(&mcp, oadmm, seed)),
                ("dc", after_oadmm(&dc, oadmm, seed)),
            ];
            for (name, (before, after)) in runs {
                let scale = 1.0 + before.abs();
                assert!(after <= before + 1e-10 * scale, "{oadmm} {name} {seed}: {before} {after}");
                *below.entry(name).or_default() += u32::from(after < before - 1e-9 * scale);
            }
        }
        assert!(below.values().all(|count| *count >= 2), "{oadmm}: {below:?}");
    }
}

#[test]
fn a_chain_by_name_reports_both_stages() {
    let p = composite(("dc-pca", None), 15, 2, 3.0, 1);
    let stages = find_solvers(COMPOSITE_SOLVERS, "oadmm-ep+obcd").unwrap();
    let build =
        |info: &orthopt::solvers::SolverInfo<CompositeProblem>| info.build(&p, &SolverOptions::default());
    let stages = stages.into_iter().map(build).collect::<Result<Vec<_>, _>>().unwrap();
    let x0 = p.start("random", 1).unwrap();
    let start = |_| Ok(Chain { stages: stages.clone(), x0: x0.clone() });
    let options = RunOptions { stage_seconds: Some(0.1), ..Default::default() };
    let s = run_restarts(&p, start, options, &mut Stationary { tol: 1e-10 }, &mut []).unwrap();
    assert_eq!((s.solver.as_str(), s.status), ("oadmm-ep+obcd", Status::Converged));
    let Some(Setting::Real(first)) = s.settings.get("oadmm-ep.objective") else { panic!("{:?}", s.settings) };
    assert!(p.value(&s.x) <= *first);
    assert!(s.settings.contains_key("oadmm-ep.objective_sparse"));
}

/// F of every iterate of OBCD on problems with A = I.
#[test]
fn obcd_never_raises_f_and_is_plain_obcd_without_g() {
    for kind in KINDS {
        let p = composite(kind, 18, 3, 2.0, 4);
        let info = find_solvers(COMPOSITE_SOLVERS, "obcd").unwrap()[0];
        if !p.a.is_identity() {
            let refused = info.build(&p, &SolverOptions::default()).map(|_| ()).unwrap_err().to_string();
            assert!(refused.contains("without a linear map"), "{refused}");
            continue;
        }
        let solver = info.build(&p, &SolverOptions { seed: 2, ..Default::default() }).unwrap();
        let mut st = solver.init(&p, p.start("random", 2).unwrap()).unwrap();
        let mut last = p.value(solver.point(&p, &st));
        for _ in 0..300 {
            let said = solver.steps(&p, &mut st, 13).objective;
            let now = p.value(solver.point(&p, &st));
            let rounding = 1e-11 * (1.0 + last.abs());
            assert!(now <= last + rounding, "{kind:?}: {last} {now}");
            // what is tracked is the majorant: F or above
            assert!(said >= now - 1e-9 * (1.0 + now.abs()), "{kind:?}: {said} {now}");
            last = now;
        }
    }
    let (lambda, seed) = (2.0, 5);
    let plain = problem("mcp-pca", lambda, 16, 2, seed);
    let same = composite(("mcp-pca", None), 16, 2, lambda, seed);
    let a = solve(&plain, "obcd", None, 5000, 3);
    let b = solve(&same, "obcd", None, 5000, 3);
    assert_eq!((a.x, a.iterations), (b.x, b.iterations));
}

/// Every method that handles a problem is feasible and lowers F from a bad start.
#[test]
fn every_rival_runs_on_every_kind() {
    for kind in KINDS {
        let p = composite(kind, 14, 2, 1.0, 7);
        let begin = p.value(&p.start("random", 1).unwrap());
        for info in COMPOSITE_SOLVERS.iter().filter(|s| (s.handles)(&p)) {
            let s = solve(&p, info.name, None, 400, 1);
            assert!(s.feasibility <= 1e-12, "{kind:?} {}: {}", info.name, s.feasibility);
            assert!(s.objective.total < begin, "{kind:?} {}: {begin} {}", info.name, s.objective.total);
            assert!(p.criticality(&s.x, &Cancel::never()).unwrap().is_finite());
        }
    }
}

/// The same point from the same seed, whatever the number of threads.
#[test]
fn deterministic_for_any_number_of_threads() {
    let p = composite(("dc-pca", None), 60, 5, 5.0, 3);
    let on = |threads: usize, name: &str| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| solve(&p, name, None, 150, 1).x)
    };
    for info in COMPOSITE_SOLVERS {
        assert_eq!(on(1, info.name), on(2, info.name), "{}", info.name);
    }
}
