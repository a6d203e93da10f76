//! OBCD for any smooth f: rounds of pairs and blocks with one gradient each.

use crate::common::nonlinear::{models, random_point};
use crate::common::quartic::Quartic;
use crate::common::*;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::certify::{Scope, criticality};
use orthopt::constraint::Stiefel;
use orthopt::family::Family;
use orthopt::family::NONLINEAR_EIG_SOLVERS as SOLVERS;
use orthopt::penalty::PairPenalty;
use orthopt::penalty::{L0, L1, Mcp, NoPenalty, Nonneg};
use orthopt::problem::{NonlinearEigProblem, Problem};
use orthopt::smooth::{DenseQuadratic, NonlinearEig, Smooth};
use orthopt::solve::{Critical, MaxIterations, Solution, Solver, Stationary, Status, Stop, run};
use orthopt::solvers::obcd::Model;
use orthopt::solvers::obcd::{Candidates, Obcd, ObcdOptions, WorkingSet};
use orthopt::solvers::{SolverOptions, pairwise};
use orthopt_core::constraint::stiefel;
use orthopt_solvers::obcd_majorised::MajorisedObcd;
use proptest::prelude::*;

/// Rounds of pairs, blocks, single pairs; both models; every rule.
fn forms() -> Vec<ObcdOptions> {
    let plain = ObcdOptions::default;
    vec![
        ObcdOptions { jacobi: true, ..plain() },
        ObcdOptions { jacobi: true, working_set: WorkingSet::Cyclic, ..plain() },
        ObcdOptions { jacobi: true, model: Model::Diagonal, ..plain() },
        ObcdOptions { block: 4, ..plain() },
        ObcdOptions { block: 5, model: Model::Diagonal, working_set: WorkingSet::Cyclic, ..plain() },
        ObcdOptions { block: 4, working_set: WorkingSet::GreedySv, ..plain() },
        ObcdOptions { model: Model::Diagonal, ..plain() },
        ObcdOptions { working_set: WorkingSet::GreedyOr, candidates: Some(Candidates::All), ..plain() },
    ]
}

fn solve<F: Smooth + 'static, H: PairPenalty + 'static>(
    p: &Problem<Stiefel, F, H>,
    options: &ObcdOptions,
    x0: &RowMat,
    (tol, most): (f64, u64),
) -> Solution {
    let solver = MajorisedObcd::new(options.clone()).unwrap();
    let mut stop = Stationary { tol }.or(Critical { tol }).or(MaxIterations(Some(most)));
    run(p, &solver, x0.clone(), limits(most, 0), &mut stop, &mut []).unwrap()
}

fn quartic(n: usize) -> Quartic {
    Quartic((0..n).map(|i| f64::from((7 * i as u32) % 5) - 1.0).collect())
}

/// Steps one by one: F falls in each, as it is, and X stays orthonormal.
fn descends<F: Smooth, H: PairPenalty>(
    p: &Problem<Stiefel, F, H>,
    options: &ObcdOptions,
    x0: RowMat,
    steps: usize,
) -> f64 {
    let solver = MajorisedObcd::new(options.clone()).unwrap();
    let mut state = solver.init(p, x0.clone()).unwrap();
    let (mut last, mut actual) = (f64::INFINITY, p.value(&x0));
    for _ in 0..steps {
        let info = solver.steps(p, &mut state, 1);
        let x = solver.point(p, &state);
        let value = p.value(x);
        assert!(info.objective <= last, "{options:?}: {} after {last}", info.objective);
        assert!(value <= actual + 1e-13 * (1.0 + value.abs()), "{options:?}: {value} after {actual}");
        let size = orthopt::objective::size(p.f.scale(x), value);
        assert!((value - info.objective).abs() <= 1e-11 * size, "{options:?}: {value} {}", info.objective);
        // X is examined every 500 moves and repaired from 5e-14 on; more may gather in between
        assert!(stiefel::feasibility(x) <= 3e-13, "{options:?}: {:e}", stiefel::feasibility(x));
        (last, actual) = (info.objective, value);
        if info.ended.is_some() {
            break;
        }
    }
    let x = solver.finish(p, state).x;
    assert!(stiefel::feasibility(&x) <= 1e-13 && p.value(&x) <= last + 1e-10 * (1.0 + last.abs()));
    last
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn every_round_lowers_f_and_keeps_x_orthonormal(seed in 0u64..1000, which in 0usize..5, form in 0usize..8) {
        let options = ObcdOptions { seed, ..forms().swap_remove(form) };
        let (_, f) = models(3).swap_remove(which);
        descends(&Problem::new(f, NoPenalty, 3).unwrap(), &options, random_point(12, 3, seed), 300);
        let l1 = Problem::new(quartic(12), L1::new(0.2).unwrap(), 3).unwrap();
        descends(&l1, &options, random_point(12, 3, seed), 300);
    }
}

/// A pair of rows may turn far without a change of F: gradients at both ends then say nothing of it.
#[test]
fn a_long_way_at_the_same_height_is_no_decrease() {
    for seed in [391, 397] {
        let options = ObcdOptions { seed, ..forms().swap_remove(7) };
        let l1 = Problem::new(quartic(12), L1::new(0.2).unwrap(), 3).unwrap();
        descends(&l1, &options, random_point(12, 3, seed), 400);
    }
}

/// From the same start most forms end where exact pairs do; where a form ends in another basin it is as stationary.
#[test]
fn all_forms_end_where_exact_pairs_do() {
    let cases = [
        (NonlinearEig::laplacian_1d(20, 5.0).unwrap(), 2),
        (NonlinearEig::laplacian_2d(4, 5, 3.0).unwrap(), 8),
        (NonlinearEig::laplacian_1d(17, 10.0).unwrap(), 7),
    ];
    for (f, agreeing) in cases {
        let p = NonlinearEigProblem::new(f, NoPenalty, 3).unwrap();
        let x0 = p.start("random", 2).unwrap();
        let build = |o: ObcdOptions| SOLVERS[0].build(&p, &SolverOptions { obcd: o, ..Default::default() });
        let exact = build(ObcdOptions::default()).unwrap();
        let mut stop = Stationary { tol: 1e-13 }.or(MaxIterations(Some(4_000_000)));
        let known = run(&p, &exact, x0.clone(), limits(4_000_000, 0), &mut stop, &mut []).unwrap();
        let (known, mut agree) = (known.objective.total, 0);
        for options in forms() {
            // by name and options, as the command has it
            let solver = build(options.clone()).unwrap();
            let mut stop = Stationary { tol: 1e-9 }.or(Critical { tol: 1e-8 });
            let s = run(&p, &solver, x0.clone(), limits(3_000_000, 0), &mut stop, &mut []).unwrap();
            assert_eq!(
                (s.status, s.solver.as_str()),
                (Status::Converged, "obcd"),
                "{options:?}: {}",
                s.message
            );
            let critical = p.criticality(&s.x, &Cancel::never()).unwrap();
            let certificate = p.block_stationarity(&s.x, Scope::All, &Cancel::never()).unwrap();
            // the tolerance of the run: 1e-9 of F for a pair, and its root for the gradient
            assert!(
                critical <= 1e-9f64.sqrt() && certificate.holds(1e-9 * known.abs()),
                "{options:?}: {critical:e}, {certificate:?}"
            );
            assert!(s.feasibility <= 1e-13);
            agree += usize::from((s.objective.total - known).abs() <= 1e-8 * known.abs());
        }
        assert!(agree >= agreeing, "{agree} of 8 end at {known}");
    }
}

/// A concave quadratic, whose linearisation majorises it, and one that is neither.
#[test]
fn quadratics_end_where_obcd_does() {
    let a = gaussian(30, 12, 4);
    let c = a.transpose() * &a;
    let g = gaussian(12, 12, 6);
    let indefinite = &g + g.transpose();
    let all = [DenseQuadratic::negative(c.as_ref()), DenseQuadratic::new(indefinite.as_ref())];
    for f in all.map(Result::unwrap) {
        let p = Problem::new(f, NoPenalty, 3).unwrap();
        let x0 = random_point(12, 3, 5);
        let exact = Obcd::new(ObcdOptions::default()).unwrap();
        let mut stop = Stationary { tol: 1e-13 }.or(MaxIterations(Some(2_000_000)));
        let known = run(&p, &exact, x0.clone(), limits(2_000_000, 0), &mut stop, &mut []).unwrap();
        let known = known.objective.total;
        for options in forms() {
            let s = solve(&p, &options, &x0, (1e-8, 2_000_000));
            let gap = s.objective.total - known;
            assert!(gap.abs() <= 1e-8 * known.abs(), "{options:?}: {gap:e} of {known}, {}", s.message);
        }
    }
}

/// f of a user with penalties of the library: the run ends, by itself, critical or stalled.
#[test]
fn a_users_f_with_penalties_of_the_library() {
    fn check<H: PairPenalty + Clone + 'static>(h: H, x0: &RowMat) -> usize {
        let p = Problem::new(quartic(14), h, 3).unwrap();
        let mut converged = 0;
        for info in pairwise::<Quartic, H>() {
            for (block, working_set) in [
                (2, WorkingSet::Random),
                (2, WorkingSet::Cyclic),
                (6, WorkingSet::Random),
                (2, WorkingSet::GreedySv),
            ] {
                let obcd = ObcdOptions { block, working_set, ..Default::default() };
                let solver = info.build(&p, &SolverOptions { obcd, ..Default::default() }).unwrap();
                let mut stop = Stationary { tol: 1e-9 }.or(Critical { tol: 1e-6 });
                let s = run(&p, &solver, x0.clone(), limits(2_000_000, 0), &mut stop, &mut []).unwrap();
                assert!(s.objective.total < p.value(x0) - 0.1, "{}", s.objective.total);
                assert!(s.feasibility <= 1e-13 && s.nonneg_violation.unwrap_or(0.0) == 0.0);
                let mut g = RowMat::zeros(14, 3);
                p.f.gradient(&s.x, &mut g);
                let critical = criticality(&p, &s.x) / (1.0 + g.norm());
                match s.status {
                    Status::Converged => assert!(critical <= 2e-5, "{critical:e}: {}", s.message),
                    Status::Stalled => assert!(critical > 1e-7, "{critical:e}: {}", s.message),
                    other => panic!("{other:?}: {}", s.message),
                }
                converged += usize::from(s.status == Status::Converged);
            }
        }
        converged
    }
    let x0 = random_point(14, 3, 5);
    assert_eq!(check(NoPenalty, &x0), 4, "without h what pairs leave alone is critical");
    check(L1::new(0.1).unwrap(), &x0);
    check(L0::new(0.05).unwrap(), &x0);
    let thirds =
        RowMat::from_fn(14, 3, |i, k| if i % 3 == k { 1.0 / (14usize - k).div_ceil(3) as f64 } else { 0.0 });
    let thirds = RowMat::from_fn(14, 3, |i, k| thirds.get(i, k).sqrt());
    check(Nonneg, &thirds);
}

/// Pairs of rows stall at points that are not critical; the steps of all rows lead on from there, on data of any size.
#[test]
fn runs_with_h_end_critical_at_every_scale() {
    fn check<H: PairPenalty + Clone + 'static>(h: impl Fn(f64) -> H) {
        for seed in 0..4 {
            let a = gaussian(40, 16, seed);
            let c = a.transpose() * &a;
            let x0 = random_point(16, 3, seed);
            for (block, working_set) in [
                (2, WorkingSet::Random),
                (2, WorkingSet::Cyclic),
                (6, WorkingSet::Random),
                (2, WorkingSet::GreedySv),
            ] {
                let obcd = ObcdOptions { block, working_set, seed, ..Default::default() };
                let at = |scale: f64| {
                    let mut scaled = c.clone();
                    scaled.col_iter_mut().for_each(|col| col.iter_mut().for_each(|v| *v *= scale));
                    let f = DenseQuadratic::negative(scaled.as_ref()).unwrap();
                    let p = Problem::new(f, h(scale), 3).unwrap();
                    let solver = pairwise::<DenseQuadratic, H>()[0]
                        .build(&p, &SolverOptions { obcd: obcd.clone(), ..Default::default() })
                        .unwrap();
                    let mut stop = Stationary { tol: 1e-9 }.or(Critical { tol: 1e-6 });
                    let s = run(&p, &solver, x0.clone(), limits(2_000_000, 0), &mut stop, &mut []).unwrap();
                    let mut g = RowMat::zeros(16, 3);
                    p.f.gradient(&s.x, &mut g);
                    let critical = criticality(&p, &s.x) / (p.f.scale(&s.x) + g.norm());
                    assert!(
                        s.status == Status::Converged && critical <= 2e-6 && s.feasibility <= 1e-13,
                        "{:?} {obcd:?} {scale}: {critical:e}, {:?}, {}",
                        p.h,
                        s.status,
                        s.message
                    );
                    s.x
                };
                assert_eq!(at(1.0), at(2f64.powi(40)), "the scale of the data changes X");
            }
        }
    }
    check(|s| L1::new(4.0 * s).unwrap());
    check(|s| L0::new(2.0 * s).unwrap());
    check(|s| Mcp::new(4.0 * s, 0.1 / s).unwrap());
}

#[test]
fn one_gradient_serves_a_round() {
    let p = NonlinearEigProblem::new(NonlinearEig::laplacian_1d(60, 10.0).unwrap(), NoPenalty, 4).unwrap();
    let x0 = p.start("random", 1).unwrap();
    let options = ObcdOptions { jacobi: true, ..Default::default() };
    let s = solve(&p, &options, &x0, (1e-6, 100_000));
    let count = |name: &str| match s.settings[name] {
        orthopt::solve::Setting::Int(v) => v,
        ref other => panic!("{name}: {other:?}"),
    };
    assert_eq!(s.status, Status::Converged, "{}", s.message);
    // a gradient for X⁰, for every round, for every refused trial, and for repairs
    let rounds = s.iterations + count("trials_refused") + 1;
    assert!(count("gradients") <= rounds + 2 + count("moves") / 500, "{} {rounds}", count("gradients"));
    assert!(count("trials_refused") <= s.iterations, "L follows the curvature");
}

#[test]
fn the_result_depends_on_the_seed_alone() {
    let p = Problem::new(quartic(90), L1::new(0.1).unwrap(), 4).unwrap();
    let x0 = random_point(90, 4, 3);
    for options in
        [ObcdOptions { jacobi: true, ..Default::default() }, ObcdOptions { block: 8, ..Default::default() }]
    {
        let go = |threads: usize, budget: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let solver = MajorisedObcd::new(options.clone()).unwrap();
                let mut state = solver.init(&p, x0.clone()).unwrap();
                let mut made = 0;
                while made < 60 {
                    made += solver.steps(&p, &mut state, budget.min(60 - made)).iterations;
                }
                solver.finish(&p, state).x
            })
        };
        let one = go(1, 1);
        assert_eq!(one, go(3, 1), "{options:?}: other threads");
        assert_eq!(one, go(2, 13), "{options:?}: other steps");
    }
}

#[test]
fn bad_options_and_broken_numbers() {
    for options in [
        ObcdOptions { alpha: 0.0, ..Default::default() },
        ObcdOptions { block: 1, ..Default::default() },
        ObcdOptions { tol: -1.0, ..Default::default() },
    ] {
        assert!(MajorisedObcd::new(options).is_err());
    }
    let p = Problem::new(quartic(9), NoPenalty, 2).unwrap();
    let solver = MajorisedObcd::new(ObcdOptions::default()).unwrap();
    assert!(solver.init(&p, RowMat::zeros(9, 2)).is_err());
    let nan = Problem::new(Quartic(vec![f64::NAN; 9]), NoPenalty, 2).unwrap();
    let mut stop = MaxIterations(Some(1000));
    let s = run(&nan, &solver, random_point(9, 2, 1), limits(1000, 0), &mut stop, &mut []).unwrap();
    assert_eq!(s.status, Status::NumericalError);
}
