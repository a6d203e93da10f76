//! J-JOBCD and VR-J-JOBCD on the structural probe.

use crate::common::Steps;
use crate::common::gaussian;
use crate::common::jobcd::probe;
use crate::common::jorth::difference;
use orthopt::RowMat;
use orthopt::constraint::Signature;
use orthopt::family::Family;
use orthopt::problem::JProblem;
use orthopt::smooth::Placement;
use orthopt::solve::{AnySolver, MaxIterations, Setting, Solver, Status, run};
use orthopt::solvers::{J_SOLVERS, SolverOptions, find_solvers};
use orthopt_core::constraint::j_orthogonal::feasibility;
use orthopt_core::constraint::j_orthogonal::spectral_norm;

fn solver(p: &JProblem, name: &str, constants: &[(&str, f64)]) -> AnySolver<JProblem> {
    let constants = constants.iter().map(|(k, v)| ((*k).to_string(), *v)).collect();
    let o = SolverOptions { seed: 3, constants, ..Default::default() };
    find_solvers(J_SOLVERS, name).unwrap()[0].build(p, &o).unwrap()
}

fn count(s: &orthopt::solve::Settings, name: &str) -> u64 {
    match s.get(name) {
        Some(Setting::Int(v)) => *v,
        other => panic!("{name} is {other:?}"),
    }
}

/// Both lower f in every step that they show, and stay on the group.
#[test]
fn the_probe_is_learnt() {
    let p = probe(90, 7, Placement::After);
    let x0 = p.start("random", 1).unwrap();
    let start = p.value(&x0);
    for (name, most) in [("j-jobcd", 150), ("vr-j-jobcd", 1500)] {
        let s = solver(&p, name, &[]);
        let mut st = s.init(&p, x0.clone()).unwrap();
        let (mut f, mut norm, mut done) = (start, 1.0f64, 0);
        while done < most {
            let info = s.steps(&p, &mut st, 50);
            done += info.iterations;
            assert!(info.objective <= f, "{name}: {} after {f}", info.objective);
            f = info.objective;
            let x = s.point(&p, &st);
            norm = norm.max(spectral_norm(x));
            assert!(feasibility(x, &p.constraint.signature) <= 100.0 * f64::EPSILON * norm * norm);
            assert!((p.value(x) - f).abs() <= 1e-10 * f);
            assert!(info.residual.is_none_or(|r| (0.0..=2.0).contains(&r)));
        }
        let x = s.finish(&p, st).x;
        assert!(p.value(&x) <= f * (1.0 + 1e-12) && f < 0.8 * start, "{name}: {f} from {start}");
    }
}

/// With as much work on components, a value of one counted like its gradient, the estimator gets further: J-JOBCD
/// needs values of all components to find its steps. (Where values are free it stays ahead.)
#[test]
fn variance_reduction_pays() {
    let p = probe(400, 20, Placement::After);
    let reached = |name: &str, start: u64| {
        let s = solver(&p, name, &[]);
        let mut st = s.init(&p, p.start("random", start).unwrap()).unwrap();
        let mut info = s.steps(&p, &mut st, 1);
        let done = |st: &_| {
            let settings = s.settings(&p, st);
            count(&settings, "component_gradients") + 400 * count(&settings, "values")
        };
        while done(&st) < 60 * 400 {
            info = s.steps(&p, &mut st, 1);
        }
        info.objective
    };
    // from one start rounding may decide which local minimum is met
    let mean = |name| (1..=4).map(|start| reached(name, start)).sum::<f64>() / 4.0;
    let (full, reduced) = (mean("j-jobcd"), mean("vr-j-jobcd"));
    assert!(reduced < full, "{reduced} with the estimator, {full} without");
}

/// A batch of all components makes the estimator exact, and the first round that of J-JOBCD.
#[test]
fn the_full_batch_is_the_plain_method() {
    let p = probe(40, 6, Placement::After);
    let x0 = p.start("random", 2).unwrap();
    let s0 = 1e3; // large enough for the first trial to be accepted
    let vr = solver(&p, "vr-j-jobcd", &[("vr-j-jobcd-batch", 10.0), ("vr-j-jobcd-s", s0)]);
    let j = solver(&p, "j-jobcd", &[("j-jobcd-s", s0), ("j-jobcd-mu-max", 0.5)]);
    let first = |s: &AnySolver<JProblem>| {
        let mut st = s.init(&p, x0.clone()).unwrap();
        s.steps(&p, &mut st, 1);
        let end = s.finish(&p, st);
        (end.details.settings, end.x)
    };
    let ((settings, a), (_, b)) = (first(&vr), first(&j));
    assert_eq!(count(&settings, "batch_size"), 40);
    assert!(difference(&a, &b) <= 1e-13 && difference(&a, &x0) > 1e-6);
}

#[test]
fn the_result_depends_on_the_seed_alone() {
    let p = probe(120, 9, Placement::After);
    let x0 = p.start("random", 4).unwrap();
    for name in ["j-jobcd", "vr-j-jobcd"] {
        let s = solver(&p, name, &[]);
        let on = |threads: usize, budget: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut st = s.init(&p, x0.clone()).unwrap();
                let mut done = 0;
                while done < 60 {
                    done += s.steps(&p, &mut st, budget.min(60 - done)).iterations;
                }
                s.finish(&p, st).x
            })
        };
        let one = on(1, 1);
        assert_eq!(one, on(3, 1), "{name}: other threads");
        assert_eq!(one, on(2, 23), "{name}: other steps");
    }
}

/// The printed problem does not depend on X: nothing to gain, and every solver finds out.
#[test]
fn the_printed_probe_leaves_solvers_nothing_to_do() {
    let p = probe(60, 6, Placement::Printed);
    let x0 = p.start("random", 1).unwrap();
    let start = p.value(&x0);
    for name in ["j-jobcd", "vr-j-jobcd"] {
        let s = solver(&p, name, &[]);
        let options = orthopt::solve::RunOptions { max_iterations: Some(20_000), ..Default::default() };
        let solution = run(&p, &s, x0.clone(), options, &mut MaxIterations(Some(20_000)), &mut []).unwrap();
        assert!((solution.objective.total - start).abs() <= 1e-11 * start, "{name}");
        assert_eq!(solution.status, Status::Stalled, "{name}: {}", solution.message);
        assert!(solution.feasibility <= 1e-12 * spectral_norm(&solution.x).powi(2));
    }
}

#[test]
fn components_and_constants() {
    let p = probe(100, 5, Placement::After);
    let s = solver(&p, "vr-j-jobcd", &[]);
    let mut st = s.init(&p, p.start("identity", 0).unwrap()).unwrap();
    s.steps(&p, &mut st, 400);
    let settings = s.settings(&p, &st);
    assert_eq!((count(&settings, "components"), count(&settings, "batch_size")), (100, 10));
    let refresh =
        SolverOptions { constants: [("vr-j-jobcd-batch".to_string(), 0.0)].into(), ..Default::default() };
    assert!(find_solvers(J_SOLVERS, "vr-j-jobcd").unwrap()[0].build(&p, &refresh).is_err());
    let infeasible = RowMat::from_fn(5, 5, |_, _| 1.0);
    assert!(s.init(&p, infeasible).is_err());
    assert!(
        JProblem::probe(
            gaussian(3, 2, 1).as_ref(),
            RowMat::zeros(3, 3),
            Signature::leading(2, 2).unwrap(),
            1.0,
            Placement::After
        )
        .is_err()
    );
}
