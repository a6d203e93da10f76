//! Solvers one after the other under one clock and one trace, and solvers behind one type.

use crate::common::{problem, usual_start};
use orthopt::Error;
use orthopt::family::Family;
use orthopt::family::{Plan, Request};
use orthopt::problem::PcaProblem;
use orthopt::solve::{
    AnySolver, Chain, MaxIterations, RunOptions, Setting, Solver, Stationary, Status, Stop, TimeLimit, run,
    run_restarts,
};
use orthopt::solvers::obcd::{Obcd, ObcdOptions, WorkingSet};
use orthopt::solvers::{SOLVERS, SolverOptions, find_solvers};
use orthopt::start::Start;

fn solver(working_set: WorkingSet) -> AnySolver<PcaProblem> {
    AnySolver::new(Obcd::new(ObcdOptions { working_set, seed: 3, ..Default::default() }).unwrap())
}

#[test]
fn a_boxed_solver_is_the_solver() {
    let p = problem("l0-pca", 2.0, 20, 3, 1);
    let x0 = usual_start(&p, 0);
    let plain = Obcd::new(ObcdOptions { seed: 3, ..Default::default() }).unwrap();
    let stop = || Stationary { tol: 1e-10 };
    let known = run(&p, &plain, x0.clone(), RunOptions::default(), &mut stop(), &mut []).unwrap();
    let boxed = solver(ObcdOptions::default().working_set);
    let s = run(&p, &boxed.clone(), x0, RunOptions::default(), &mut stop(), &mut []).unwrap();
    assert_eq!((s.x, s.iterations, s.settings), (known.x, known.iterations, known.settings));
    assert_eq!(Solver::<PcaProblem>::name(&boxed), "obcd");
}

#[test]
fn a_chain_goes_on_from_where_the_stage_before_it_ended() {
    for (name, lambda) in crate::common::PROBLEMS {
        let p = problem(name, lambda, 25, 3, 2);
        let x0 = usual_start(&p, 1);
        let stop = || Stationary { tol: 1e-10 };
        let first =
            run(&p, &solver(WorkingSet::Cyclic), x0.clone(), RunOptions::default(), &mut stop(), &mut []);
        let first = first.unwrap();
        let chain = Chain { stages: vec![solver(WorkingSet::Cyclic), solver(WorkingSet::GreedySv)], x0 };
        let start = |_| Ok(chain.clone());
        let s = run_restarts(&p, start, RunOptions::default(), &mut stop(), &mut []).unwrap();
        assert_eq!((s.solver.as_str(), s.status), ("obcd+obcd", Status::Converged), "{name}");
        assert!(s.objective.total <= first.objective.total, "{name}");
        assert!(s.iterations > first.iterations, "{name}");
        assert_eq!(s.settings["obcd.status"], Setting::Text("converged".into()));
        assert!(s.trace.points().windows(2).all(|w| w[1].objective <= w[0].objective));
    }
}

#[test]
fn a_stage_keeps_to_its_share_and_a_limit_ends_the_chain() {
    let p = problem("l1-pca", 1.0, 60, 5, 3);
    let chain = |x0| Chain { stages: vec![solver(WorkingSet::Random), solver(WorkingSet::Cyclic)], x0 };
    let start = |_| Ok(chain(usual_start(&p, 1)));
    // no time for the first stage: the second one does the work
    let options = RunOptions { stage_seconds: Some(0.0), ..Default::default() };
    let mut stop = Stationary { tol: 1e-10 }.or(TimeLimit(Some(60.0)));
    let s = run_restarts(&p, start, options, &mut stop, &mut []).unwrap();
    assert_eq!(s.status, Status::Converged, "{}", s.message);
    // iterations are counted for the whole chain
    let options = RunOptions { max_iterations: Some(40), ..Default::default() };
    let s = run_restarts(&p, start, options, &mut MaxIterations(Some(40)), &mut []).unwrap();
    assert_eq!((s.status, s.iterations), (Status::MaxIters, 40));
}

#[test]
fn plans_follow_what_is_wanted() {
    let p = problem("l0-pca", 2.0, 20, 3, 1);
    let names = |plan: &Plan<PcaProblem>| plan.solvers.iter().map(|s| s.name).collect::<Vec<_>>();
    let wanted = |solver: &str| Request { solver: Some(solver.into()), ..Default::default() };
    let plan = p.plan(&wanted("obcd-sv+obcd")).unwrap();
    assert_eq!((names(&plan), plan.start_name(0)), (vec!["obcd-sv", "obcd"], "identity"));
    assert_eq!(plan.start(&p, 0).unwrap().stages.len(), 2);
    let auto = p.plan(&Request::default()).unwrap();
    assert_eq!(names(&auto), ["ladmm", "obcd"], "{:?}", auto.reasons);
    let arms = &auto.portfolio.as_ref().unwrap().arms;
    assert!(arms.iter().any(|arm| arm.solver == "obcd"), "OBCD from X0 is always among the arms");
    assert!(plan.portfolio.is_none(), "what the user names runs alone");
    let rounds = auto.starts.len() as u64;
    let stages = |plan: &Plan<PcaProblem>, k| plan.start(&p, k).unwrap().stages.len();
    // further starts of one chain (--restarts): once every starting point has been tried, pairs of rows alone
    assert_eq!((stages(&auto, rounds - 1), stages(&auto, rounds)), (2, 1));
    assert_eq!(stages(&plan, rounds), 2, "what the user names runs whole");
    assert_eq!(auto.start_name(rounds), auto.start_name(0));
    for (name, expected) in [
        ("nonneg-pca", &["ladmm", "obcd"][..]),
        ("l1-pca", &["ladmm", "irpg", "obcd"]),
        ("pca", &["spectral"]),
    ] {
        assert_eq!(
            names(&problem(name, 2.0, 20, 3, 1).plan(&Request::default()).unwrap()),
            expected,
            "{name}"
        );
    }
    assert!(auto.starts.contains(&Start::named("varimax")));
    assert!(matches!(p.plan(&wanted("obcd+")), Err(Error::UnknownName { .. })));
    let far = Request { init: Some(Start::named("mars").into()), ..wanted("obcd") };
    assert!(matches!(p.plan(&far).unwrap().start(&p, 0), Err(Error::UnknownName { .. })));
}

#[test]
fn every_solver_of_the_registry_says_what_it_handles() {
    for info in SOLVERS {
        assert_eq!(find_solvers(SOLVERS, info.name).unwrap()[0].name, info.name);
        for (name, lambda) in crate::common::PROBLEMS {
            let p = problem(name, lambda, 12, 2, 1);
            let built = info.build(&p, &SolverOptions::default());
            match (info.handles)(&p) {
                true => assert!(built.is_ok(), "{} on {name}: {:?}", info.name, built.err()),
                false => assert!(matches!(built, Err(Error::Incompatible(_))), "{} on {name}", info.name),
            }
        }
    }
}
