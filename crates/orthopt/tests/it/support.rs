//! The solver `support`: feasible and exactly sparse at every step, monotone, far below OBCD on
//! dense data, and block-2 stationary at its end.

use crate::common::Steps;
use crate::common::*;
use orthopt::Error;
use orthopt::RowMat;
use orthopt::certify::{Scope, block_stationarity};
use orthopt::problem::PcaProblem;
use orthopt::solve::{MaxIterations, RunOptions, Solution, Solver, Stationary, Status, Stop, run};
use orthopt::solvers::{SolverOptions, find_solvers};
use orthopt::start::Start;
use orthopt_core::constraint::stiefel;
use orthopt_solvers::support::INFO;
use orthopt_solvers::support::Support;
use orthopt_solvers::support::SupportOptions;
use proptest::prelude::*;

fn support(seed: u64) -> Support {
    let mut options = SupportOptions { patience: 2, ..SupportOptions::default() };
    options.obcd.seed = seed;
    Support::new(options).unwrap()
}

fn run_from(p: &PcaProblem, x0: RowMat, solver: &Support, most: u64) -> Solution {
    let mut stop = Stationary { tol: 1e-9 }.or(MaxIterations(Some(most)));
    run(p, solver, x0, limits(most, 0), &mut stop, &mut []).unwrap()
}

fn start(p: &PcaProblem, start: &Start) -> RowMat {
    start.point(&p.f, p.rank(), false, 3).unwrap()
}

/// A Gaussian A with fewer rows than columns and a small λ: pairs of rows get stuck early.
fn dense(name: &str, lambda: f64, n: usize, r: usize) -> PcaProblem {
    on_data(name, lambda, &gaussian(n / 2, n, 17), r)
}

#[test]
fn ends_far_below_obcd_on_dense_data_and_block_2_stationary() {
    for (n, r, lambda) in [(100, 15, 0.3), (200, 10, 1.0)] {
        let p = dense("l0-pca", lambda, n, r);
        let x0 = start(&p, &Start::Identity);
        let obcd = solve_from(&p, x0.clone(), &Default::default(), 1e-9, 2_000_000);
        let found = run_from(&p, x0, &support(0), 100_000);
        let (ours, theirs) = (found.objective.total, obcd.objective.total);
        assert!(ours < theirs - 0.15 * theirs.abs(), "n {n} r {r}: {ours}, OBCD {theirs}");
        assert_eq!(found.status, Status::Converged);
        assert!(found.feasibility <= 1e-12);
        let certificate = block_stationarity(&p, &found.x, Scope::All);
        assert!(certificate.holds(2e-9 * (1.0 + ours.abs())), "{certificate:?}");
        assert!((exact_objective(&p, &found.x) - ours).abs() <= 1e-9 * ours.abs(), "no entry below 1e-6");
    }
}

#[test]
fn is_never_above_obcd_from_the_same_start() {
    // sparse data with a large λ, where OBCD is at its best
    for (seed, lambda) in [(1, 1.0), (2, 4.0), (3, 20.0)] {
        let p = on_data("l0-pca", lambda, &thinned(80, 40, 0.1, seed), 8);
        for from in [Start::Identity, Start::Coordinates] {
            let x0 = start(&p, &from);
            let obcd = solve_from(&p, x0.clone(), &Default::default(), 1e-9, 500_000).objective.total;
            let ours = run_from(&p, x0, &support(0), 100_000).objective.total;
            assert!(
                ours <= obcd + 1e-3 * obcd.abs(),
                "seed {seed} from {}: {ours}, OBCD {obcd}",
                from.name()
            );
        }
    }
}

/// Makes iterations in steps of so many and checks what is promised at each.
fn watch(p: &PcaProblem, x0: RowMat, budget: u64, total: u64) -> (Vec<f64>, RowMat) {
    let solver = support(5);
    let mut state = solver.init(p, x0).unwrap();
    let (mut curve, mut made) = (Vec::new(), 0);
    while made < total {
        let info = solver.steps(p, &mut state, budget.min(total - made));
        made += info.iterations;
        let x = solver.point(p, &state);
        assert!(stiefel::feasibility(x) <= 1e-12, "{:e}", stiefel::feasibility(x));
        let fresh = exact_objective(p, x);
        assert!((fresh - info.objective).abs() <= 1e-9 * (1.0 + fresh.abs()), "{fresh} {}", info.objective);
        if let Some(last) = curve.last() {
            assert!(info.objective <= *last, "rises from {last} to {}", info.objective);
        }
        curve.push(info.objective);
        if info.ended.is_some() {
            break;
        }
    }
    (curve, solver.finish(p, state).x)
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn every_iterate_is_orthonormal_and_f_never_rises(
        seed in 0u64..1000, n in 3usize..40, r in 1usize..8, lambda in 0.0f64..20.0, l1: bool, identity: bool,
    ) {
        let r = r.min(n);
        let p = on_data(if l1 { "l1-pca" } else { "l0-pca" }, lambda, &gaussian(n.div_ceil(2), n, seed), r);
        let from = if identity { Start::Identity } else { Start::Random };
        let (curve, x) = watch(&p, start(&p, &from), 1, 400);
        prop_assert!(curve.len() > 10);
        prop_assert!(stiefel::feasibility(&x) <= 1e-12);
    }
}

#[test]
fn does_not_depend_on_how_it_is_cut_into_steps_or_on_threads() {
    let p = dense("l0-pca", 0.3, 60, 5);
    let x0 = start(&p, &Start::Identity);
    let (_, one) = watch(&p, x0.clone(), 1, 300);
    let (_, many) = watch(&p, x0.clone(), 17, 300);
    assert_eq!(one, many);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let (_, threads) = pool.install(|| watch(&p, x0, 17, 300));
    assert_eq!(one, threads);
}

#[test]
fn sparse_storage_gives_the_same_quality_as_a_formed_matrix() {
    use orthopt::problem::{PcaData, Storage};
    let a = thinned(60, 50, 0.3, 4);
    let sparse = sparse(&a);
    let value = |storage| {
        let p =
            orthopt::family::pca_problem("l0-pca", &PcaData::Sparse(sparse.as_ref(), None), 5, 0.3, storage)
                .unwrap();
        let s = run_from(&p, start(&p, &Start::Identity), &support(0), 100_000);
        assert!(s.feasibility <= 1e-12);
        s.objective.total
    };
    let (formed, kept) = (value(Storage::Dense), value(Storage::Gram));
    assert!((formed - kept).abs() <= 0.03 * formed.abs(), "{formed} {kept}");
}

#[test]
fn lambda_zero_is_plain_pca() {
    let p = problem("l0-pca", 0.0, 20, 4, 9);
    let found = run_from(&p, start(&p, &Start::Identity), &support(0), 100_000);
    let best = problem("pca", 0.0, 20, 4, 9).f.value_of(&found.x, 4);
    assert!((found.objective.total - best).abs() <= 1e-6 * best.abs(), "{} {best}", found.objective.total);
}

/// −½ of the sum of the leading eigenvalues.
trait Leading {
    fn value_of(&self, x: &RowMat, r: usize) -> f64;
}

impl<F: orthopt::smooth::Quadratic> Leading for F {
    fn value_of(&self, x: &RowMat, r: usize) -> f64 {
        let n = x.nrows();
        let m = self.apply(&RowMat::from_fn(n, n, |i, j| f64::from(u8::from(i == j))));
        let (values, _) = orthopt_linalg::small::symmetric_eigen(&m).unwrap();
        0.5 * values[..r].iter().sum::<f64>()
    }
}

#[test]
fn small_shapes_end() {
    for (n, r) in [(1, 1), (2, 1), (2, 2), (5, 5), (7, 1)] {
        let p = problem("l0-pca", 0.5, n, r, 2);
        let s = run_from(&p, start(&p, &Start::Identity), &support(0), 20_000);
        assert_eq!(s.status, Status::Converged, "{n} x {r}: {}", s.message);
        assert!(s.feasibility <= 1e-12);
    }
}

#[test]
fn says_what_it_is_for_and_refuses_bad_constants() {
    let known = find_solvers(orthopt::solvers::SOLVERS, "support").unwrap();
    assert_eq!(known[0].name, INFO.name);
    for name in ["nonneg-pca", "pca"] {
        let error = INFO.build(&problem(name, 0.0, 6, 2, 1), &SolverOptions::default()).err().unwrap();
        assert_eq!(error.to_string(), "solver support is for the penalties l0 and l1");
    }
    for (constant, value) in [("rho0", 0.0), ("growth", 1.0), ("kappa", f64::NAN), ("patience", 1.5)] {
        let mut options = SolverOptions::default();
        options.constants.insert(format!("support-{constant}"), value);
        let error = INFO.build(&problem("l0-pca", 1.0, 6, 2, 1), &options).err().unwrap();
        assert!(
            matches!(&error, Error::InvalidOption { option, .. } if option == &format!("support-{constant}"))
        );
    }
    let p = problem("l0-pca", 1.0, 6, 2, 1);
    let bad = RowMat::from_fn(6, 2, |_, _| 1.0);
    let error =
        run(&p, &support(0), bad, RunOptions::default(), &mut MaxIterations(Some(1)), &mut []).unwrap_err();
    assert!(matches!(error, Error::NotOrthonormal { .. }));
}
