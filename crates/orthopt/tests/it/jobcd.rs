//! GS-JOBCD and J-JOBCD on problems whose optimum is known.

use crate::common::jobcd::{definite, hyperbolic, options, side, solver};
use crate::common::jorth::{feasible, shuffled, times};
use crate::common::{Steps, gaussian_rows, limits};
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::certify::Scope;
use orthopt::constraint::Signature;
use orthopt::family::Family;
use orthopt::problem::{JProblem, Problem};
use orthopt::smooth::{HessianVector, Smooth, TwoSided};
use orthopt::solve::{AnySolver, MaxIterations, RunOptions, Setting, Solver, Stationary, Status, Stop, run};
use orthopt::solvers::obcd::Model;
use orthopt::solvers::obcd::WorkingSet;
use orthopt::solvers::{J_SOLVERS, SolverOptions, find_solvers, j_general};
use orthopt::solvers::{JobcdOptions, Side};
use orthopt_core::constraint::j_orthogonal::feasibility;
use orthopt_core::constraint::j_orthogonal::spectral_norm;
use orthopt_linalg::factor::transpose;
use orthopt_linalg::small::symmetric_eigen;

/// Steps until a pass finds nothing (or `most` iterations), watching f and the residual.
fn watch(p: &JProblem, s: &AnySolver<JProblem>, x0: RowMat, most: u64, every: u64) -> (RowMat, bool) {
    watch_until(p, s, x0, f64::NEG_INFINITY, most, every)
}

/// The same until f is at most `enough`.
fn watch_until(
    p: &JProblem,
    s: &AnySolver<JProblem>,
    x0: RowMat,
    enough: f64,
    most: u64,
    every: u64,
) -> (RowMat, bool) {
    let mut st = s.init(p, x0.clone()).unwrap();
    let (mut f, mut norm, mut done, mut stationary) = (p.value(&x0), 1.0f64, 0, false);
    while done < most && !stationary && f > enough {
        let info = s.steps(p, &mut st, every);
        done += info.iterations;
        assert!(info.objective <= f, "f rose from {f} to {}", info.objective);
        f = info.objective;
        let x = s.point(p, &st);
        norm = norm.max(spectral_norm(x));
        let residual = feasibility(x, &p.constraint.signature);
        assert!(residual <= 100.0 * f64::EPSILON * norm * norm, "{residual:e} at norm {norm}");
        assert!((p.value(x) - f).abs() <= 1e-10 * f.abs().max(1e-3), "{} {f}", p.value(x));
        stationary = info.pass.is_some_and(|q| q.covers_all && q.decrease == 0.0);
        if let Some((status, why)) = info.ended {
            assert_eq!(status, Status::Stalled, "{why}");
            break; // down to rounding
        }
    }
    (s.finish(p, st).x, stationary)
}

#[test]
fn every_variant_reaches_the_closed_form() {
    let sets = [WorkingSet::Cyclic, WorkingSet::Random, WorkingSet::GreedySv, WorkingSet::GreedyOr];
    for (n, p) in [(1, 1), (2, 1), (5, 2), (9, 4), (12, 9)] {
        let problem = hyperbolic(n, p, n as u64);
        let best = problem.optimum().unwrap().unwrap();
        for start in ["random", "identity"] {
            let x0 = problem.start(start, 3).unwrap();
            for side in [Side::Auto, Side::Rows, Side::Columns] {
                let mut variants = vec![];
                for working_set in sets {
                    for model in [Model::Exact, Model::Diagonal] {
                        variants.push((
                            "gs-jobcd",
                            JobcdOptions {
                                working_set: Some(working_set),
                                model,
                                side,
                                ..Default::default()
                            },
                        ));
                    }
                }
                variants.push(("j-jobcd", JobcdOptions { side, ..Default::default() }));
                variants.push((
                    "j-jobcd",
                    JobcdOptions { side, working_set: Some(WorkingSet::Random), ..Default::default() },
                ));
                for (name, jobcd) in variants {
                    let what = format!("n {n}, p {p}, {start}, {name}, {jobcd:?}");
                    let s = solver(&problem, name, &options(jobcd, &[]));
                    let enough = best * (1.0 + 1e-9);
                    let (x, _) = watch_until(&problem, &s, x0.clone(), enough, 30_000, 100);
                    let gap = (problem.value(&x) - best) / best;
                    assert!(gap <= 1e-8, "{what}: {gap:e}");
                    assert!(gap >= -1e-12, "{what}: {gap:e}");
                }
            }
        }
    }
}

#[test]
fn larger_problems_of_several_signatures() {
    for (n, p) in [(60, 30), (41, 7), (50, 49), (33, 16), (20, 0), (20, 20)] {
        let problem = hyperbolic(n, p, 7);
        let best = problem.optimum().unwrap().unwrap();
        let x0 = problem.start("random", 1).unwrap();
        for (name, which, most) in [
            ("gs-jobcd", Side::Auto, 40_000),
            ("gs-jobcd", Side::Rows, 90_000),
            ("j-jobcd", Side::Auto, 1_500),
        ] {
            let s = solver(&problem, name, &options(side(which), &[]));
            let (x, stationary) = watch(&problem, &s, x0.clone(), most, 5000);
            let gap = (problem.value(&x) - best) / best;
            assert!(gap.abs() <= 1e-8, "n {n}, p {p}, {name}, {which:?}: {gap:e}");
            let what = format!("n {n}, p {p}, {name}, {which:?}");
            assert!(stationary || which == Side::Rows, "{what}: no certificate");
            let certificate = problem.block_stationarity(&x, Scope::All, &Cancel::never()).unwrap();
            assert!(certificate.holds(1e-8 * best), "{what}: {certificate:?}");
        }
    }
}

/// From n = 64 on the columns come in blocks: as few passes, the same X for any number of threads.
#[test]
fn rounds_of_blocks() {
    for (n, p) in [(64, 32), (101, 38), (133, 132)] {
        let problem = hyperbolic(n, p, 7);
        let best = problem.optimum().unwrap().unwrap();
        let x0 = problem.start("random", 1).unwrap();
        for working_set in [None, Some(WorkingSet::Random)] {
            let s =
                solver(&problem, "j-jobcd", &options(JobcdOptions { working_set, ..side(Side::Auto) }, &[]));
            let block = if n < 128 { n / 32 } else { 4 };
            let pass = n.div_ceil(block).next_multiple_of(2) as u64 - 1;
            let (x, stationary) = watch(&problem, &s, x0.clone(), 14 * pass, pass);
            let what = format!("n {n}, p {p}, {working_set:?}");
            assert!(stationary, "{what}: no certificate");
            assert!((problem.value(&x) - best).abs() <= 1e-10 * best, "{what}");
            assert!(
                problem.block_stationarity(&x, Scope::All, &Cancel::never()).unwrap().holds(1e-8 * best),
                "{what}"
            );
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| watch(&problem, &s, x0.clone(), 3 * pass, 1).0)
            };
            assert_eq!(on(1), on(3), "{what}");
        }
    }
}

/// A handful of passes on the column side, as for every Jacobi eigenvalue method.
#[test]
fn columns_converge_quadratically() {
    let problem = hyperbolic(40, 20, 3);
    for name in ["gs-jobcd", "j-jobcd"] {
        let s = solver(&problem, name, &options(JobcdOptions::default(), &[]));
        let x0 = problem.start("random", 2).unwrap();
        let mut stop = Stationary { tol: 1e-9 };
        let solution = run(&problem, &s, x0, RunOptions::default(), &mut stop, &mut []).unwrap();
        assert_eq!(solution.status, Status::Converged);
        let pass = if name == "gs-jobcd" { 40 * 39 / 2 } else { 39 };
        assert!(solution.iterations <= 12 * pass, "{name}: {}", solution.iterations);
        let best = problem.optimum().unwrap().unwrap();
        assert!((solution.objective.total - best).abs() <= 1e-11 * best);
        assert!(problem.criticality(&solution.x, &Cancel::never()).unwrap() <= 1e-5 * best);
        let trace = solution.trace.points();
        assert!(trace.windows(2).all(|w| w[1].objective <= w[0].objective));
        // started at a minimiser, one or two passes say so
        let again = run(&problem, &s, solution.x, RunOptions::default(), &mut stop, &mut []).unwrap();
        assert!(again.status == Status::Converged && again.iterations <= 3 * pass, "{}", again.iterations);
    }
}

#[test]
fn the_result_depends_on_the_seed_alone() {
    let problem = hyperbolic(37, 15, 2);
    let x0 = problem.start("random", 4).unwrap();
    for (name, which, most) in
        [("gs-jobcd", Side::Auto, 3000), ("j-jobcd", Side::Auto, 100), ("j-jobcd", Side::Rows, 60)]
    {
        let s = solver(
            &problem,
            name,
            &options(
                JobcdOptions { working_set: Some(WorkingSet::Random), side: which, ..Default::default() },
                &[],
            ),
        );
        let on = |threads: usize, budget: u64| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut st = s.init(&problem, x0.clone()).unwrap();
                let mut done = 0;
                while done < most {
                    done += s.steps(&problem, &mut st, budget.min(most - done)).iterations;
                }
                s.finish(&problem, st).x
            })
        };
        let one = on(1, 1);
        assert_eq!(one, on(3, 1), "{name}: other threads");
        assert_eq!(one, on(2, 17), "{name}: other steps");
    }
}

/// With one pair there is nothing to do at once: J-JOBCD is GS-JOBCD with the diagonal Q.
#[test]
fn a_round_of_one_pair_is_a_gauss_seidel_step() {
    for (p, seed) in [(1, 1), (2, 2), (1, 3)] {
        let problem = hyperbolic(2, p, seed);
        let x0 = problem.start("random", seed).unwrap();
        let l = problem.f.lipschitz().unwrap();
        let gs_options = JobcdOptions { model: Model::Diagonal, side: Side::Rows, ..Default::default() };
        let gs = solver(&problem, "gs-jobcd", &options(gs_options, &[("gs-jobcd-theta", 0.0)]));
        let j_options = options(side(Side::Rows), &[("j-jobcd-theta", 0.0), ("j-jobcd-s", l)]);
        let j = solver(&problem, "j-jobcd", &j_options);
        let first = |s: &AnySolver<JProblem>| {
            let mut st = s.init(&problem, x0.clone()).unwrap();
            s.steps(&problem, &mut st, 1);
            s.point(&problem, &st).clone()
        };
        let (a, b) = (first(&gs), first(&j));
        assert!(crate::common::jorth::difference(&a, &b) <= 1e-13, "{a:?} {b:?}");
        assert!(p == 2 || crate::common::jorth::difference(&a, &x0) > 1e-3);
    }
}

/// min ½tr(XᵀMXN) over the orthogonal group: eigenvalues in opposite order.
#[test]
fn one_sign_only_is_the_orthogonal_group() {
    let n = 8;
    let (a, b) = (gaussian_rows(n, n, 1), gaussian_rows(n, n, 2));
    let symmetric = |a: &RowMat| RowMat::from_fn(n, n, |i, k| a.get(i, k) + a.get(k, i));
    let (m, right) = (symmetric(&a), symmetric(&b));
    let values = |m: &RowMat| symmetric_eigen(m).unwrap().0;
    let best: f64 = 0.5 * values(&m).iter().zip(values(&right).iter().rev()).map(|(x, y)| x * y).sum::<f64>();
    for p in [0, n] {
        let j = Signature::leading(p, n).unwrap();
        let problem = JProblem::quadratic(m.as_mat(), Some(right.as_mat()), j).unwrap();
        for which in [Side::Rows, Side::Columns] {
            for name in ["gs-jobcd", "j-jobcd"] {
                let s = solver(&problem, name, &options(side(which), &[]));
                let (x, _) = watch(&problem, &s, problem.start("random", 1).unwrap(), 20_000, 1000);
                let value = problem.value(&x);
                assert!((value - best).abs() <= 1e-7 * best.abs(), "{name} {which:?}: {value} {best}");
            }
        }
    }
    // tr(XᵀCX) is constant there, and the first pass says so
    let problem = hyperbolic(6, 6, 1);
    let s = solver(&problem, "gs-jobcd", &options(side(Side::Rows), &[]));
    let x0 = problem.start("random", 1).unwrap();
    let solution = run(&problem, &s, x0, limits(1000, 0), &mut Stationary { tol: 1e-9 }, &mut []).unwrap();
    assert_eq!((solution.status, solution.iterations), (Status::Converged, 15));
}

/// An indefinite M with a positive definite shift M + τJ is bounded all the same.
#[test]
fn a_shifted_pencil_has_the_same_minimisers() {
    let (n, j) = (10, shuffled(4, 10, 3));
    let c = definite(n, 1e-1, 5);
    let tau = 0.9; // makes C − τJ indefinite
    let m = RowMat::from_fn(n, n, |i, k| 2.0 * (c.get(i, k) - if i == k { tau * j.sign(i) } else { 0.0 }));
    let base = JProblem::hyperbolic_eig(c.as_mat(), j.clone()).unwrap();
    let problem = JProblem::quadratic(m.as_mat(), None, j.clone()).unwrap();
    let best = base.optimum().unwrap().unwrap() - tau * (4.0 - 6.0);
    for which in [Side::Rows, Side::Columns] {
        for model in [Model::Exact, Model::Diagonal] {
            let o = options(JobcdOptions { model, ..side(which) }, &[]);
            let s = solver(&problem, "gs-jobcd", &o);
            let (x, _) = watch(&problem, &s, problem.start("random", 1).unwrap(), 40_000, 1000);
            let gap = (problem.value(&x) - best) / best;
            assert!(gap.abs() <= 1e-8, "{which:?} {model:?}: {gap:e}");
        }
    }
}

/// f(X) = ‖X − B‖² for a feasible B, with nothing known but values and gradients.
struct Distance(RowMat);

impl Smooth for Distance {
    fn nrows(&self) -> usize {
        self.0.nrows()
    }
    fn value(&self, x: &RowMat) -> f64 {
        x.data().iter().zip(self.0.data()).map(|(a, b)| (a - b) * (a - b)).sum()
    }
    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        *g = RowMat::from_fn(x.nrows(), x.ncols(), |i, k| 2.0 * (x.get(i, k) - self.0.get(i, k)));
    }
}

impl TwoSided for Distance {}

impl HessianVector for Distance {}

#[test]
fn a_users_own_f() {
    let j = shuffled(5, 9, 1);
    let target = feasible(&j, 2);
    // the start on the same component of the group
    let nearby = {
        let turn = feasible(&j, 3);
        let c = times(&transpose(&turn), &turn); // positive definite, so near I
        times(&c, &target)
    };
    let problem = Problem::with_signature(Distance(target.clone()), j.clone()).unwrap();
    let mut ends = Vec::new();
    for info in j_general() {
        let s = info.build(&problem, &options(JobcdOptions::default(), &[])).unwrap();
        let mut stop = Stationary { tol: 1e-9 }.or(MaxIterations(Some(1500)));
        let found = run(&problem, &s, nearby.clone(), RunOptions::default(), &mut stop, &mut []).unwrap();
        assert!(found.objective.total < problem.value(&nearby), "{}", info.name);
        ends.push(found.objective.total);
    }
    assert!(ends[0] <= 1e-8 * problem.value(&nearby), "j-jobcd: {:e}", ends[0]);
}

#[test]
fn settings_tell_what_was_done() {
    let problem = hyperbolic(10, 5, 1);
    let s = solver(&problem, "gs-jobcd", &options(JobcdOptions::default(), &[]));
    let x0 = problem.start("random", 1).unwrap();
    let mut stop = Stationary { tol: 1e-9 }.or(MaxIterations(Some(100_000)));
    let solution = run(&problem, &s, x0, RunOptions::default(), &mut stop, &mut []).unwrap();
    assert_eq!(solution.settings["side"], Setting::Text("columns".into()));
    assert_eq!(solution.settings["pairs"], Setting::Int(solution.iterations));
    assert!(solution.message.contains("all 45 pairs"), "{}", solution.message);
}

#[test]
fn bad_options_and_problems_are_refused() {
    let problem = hyperbolic(4, 2, 1);
    let refused = |name: &str, constant: &str, value: f64| {
        let o = options(JobcdOptions::default(), &[(constant, value)]);
        find_solvers(J_SOLVERS, name).unwrap()[0].build(&problem, &o).err().map(|e| e.to_string())
    };
    assert_eq!(
        refused("gs-jobcd", "gs-jobcd-theta", -1.0).unwrap(),
        "gs-jobcd-theta is -1: expected a finite number >= 0"
    );
    for (constant, value) in
        [("j-jobcd-s", 0.0), ("j-jobcd-mu-max", f64::NAN), ("j-jobcd-norm-limit", 0.5), ("j-jobcd-tol", -1.0)]
    {
        assert!(refused("j-jobcd", constant, value).unwrap().starts_with(constant));
    }
    let said = |p: &JProblem, name: &str| {
        find_solvers(J_SOLVERS, name).unwrap()[0]
            .build(p, &SolverOptions::default())
            .err()
            .unwrap()
            .to_string()
    };
    assert_eq!(
        said(&problem, "vr-j-jobcd"),
        "solver vr-j-jobcd is for finite sums (probe, functions of your own with sampled components)"
    );
    for name in ["gs-jobcd", "j-jobcd"] {
        let s = solver(&problem, name, &SolverOptions::default());
        assert!(
            s.init(&problem, RowMat::zeros(4, 4)).err().unwrap().to_string().contains("not J-orthogonal")
        );
        assert!(s.init(&problem, RowMat::zeros(3, 4)).is_err());
    }
    assert!(Side::parse("sideways").unwrap_err().to_string().contains("auto, rows, columns"));
    assert_eq!(Side::parse("rows").unwrap().name(), "rows");
}
