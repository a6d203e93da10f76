//! L-BFGS on the Stiefel manifold: closed forms, invariants, units, threads, and functions that break its assumptions.

use crate::common::Steps;
use crate::common::{gaussian_rows, limits, rng};
use orthopt::RowMat;
use orthopt::certify::criticality;
use orthopt::constraint::Stiefel;
use orthopt::nonsmooth::Nonsmooth;
use orthopt::penalty::{L1, NoPenalty};
use orthopt::problem::Problem;
use orthopt::smooth::Smooth;
use orthopt::solve::{AnySolver, Critical, MaxIterations, Setting, Solution, Solver, Status, Stop, run};
use orthopt::solvers::{SolverInfo, SolverOptions, smooth_only};
use orthopt_core::constraint::stiefel;
use proptest::prelude::*;

/// A function given by its values and gradients.
struct Own<V> {
    rows: usize,
    both: V,
}

impl<V: Fn(&RowMat, &mut RowMat) -> f64 + Send + Sync> Smooth for Own<V> {
    fn nrows(&self) -> usize {
        self.rows
    }
    fn value(&self, x: &RowMat) -> f64 {
        self.value_and_gradient(x, &mut RowMat::zeros(x.nrows(), x.ncols()))
    }
    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        self.value_and_gradient(x, g);
    }
    fn value_and_gradient(&self, x: &RowMat, g: &mut RowMat) -> f64 {
        (self.both)(x, g)
    }
}

fn own<V: Fn(&RowMat, &mut RowMat) -> f64 + Send + Sync>(rows: usize, both: V) -> Own<V> {
    Own { rows, both }
}

/// unit·(½ Σ dᵢXᵢₖ² + ¼ Σ Xᵢₖ⁴), d from 1 to `condition` in equal ratios.
fn quartic(n: usize, condition: f64, unit: f64) -> Own<impl Fn(&RowMat, &mut RowMat) -> f64 + Send + Sync> {
    own(n, move |x, g| {
        let mut sum = 0.0;
        for i in 0..n {
            let d = condition.powf(i as f64 / (n as f64 - 1.0));
            for (v, g) in x.row(i).iter().zip(g.row_mut(i)) {
                sum += 0.5 * d * v * v + 0.25 * v * v * v * v;
                *g = unit * (d * v + v * v * v);
            }
        }
        unit * sum
    })
}

/// ½‖X − B‖²: the minimum is the polar factor of B in the half of O(n) that X⁰ is in.
fn nearest_to(b: RowMat) -> Own<impl Fn(&RowMat, &mut RowMat) -> f64 + Send + Sync> {
    own(b.nrows(), move |x, g| {
        let mut sum = 0.0;
        for ((g, x), b) in g.data_mut().iter_mut().zip(x.data()).zip(b.data()) {
            *g = x - b;
            sum += 0.5 * *g * *g;
        }
        sum
    })
}

fn entry<F: Smooth + 'static, H: Nonsmooth + 'static>(
    name: &str,
) -> &'static SolverInfo<Problem<Stiefel, F, H>> {
    smooth_only::<F, H>().iter().find(|info| info.name == name).unwrap()
}

fn named<F: Smooth + 'static>(name: &str, p: &Smoothed<F>) -> AnySolver<Smoothed<F>> {
    entry(name).build(p, &SolverOptions::default()).unwrap()
}

type Smoothed<F> = Problem<Stiefel, F, NoPenalty>;

fn solve<F: Smooth + 'static>(p: &Smoothed<F>, name: &str, x0: RowMat, tol: f64) -> Solution {
    let mut stop = Critical { tol }.or(MaxIterations(Some(20_000)));
    run(p, &named(name, p), x0, limits(20_000, 0), &mut stop, &mut []).unwrap()
}

fn evaluations(s: &Solution) -> u64 {
    match s.settings["evaluations"] {
        Setting::Int(count) => count,
        ref other => unreachable!("{other:?} is no number of evaluations"),
    }
}

#[test]
fn it_reaches_the_nearest_orthonormal_matrix() {
    for (n, r) in [(1, 1), (5, 1), (30, 4), (6, 5), (7, 7)] {
        // close to an orthonormal matrix in the half of X⁰: every other critical point is a saddle
        let x0 = stiefel::random(n, r, &mut rng(3));
        let noise = gaussian_rows(n, r, 4);
        let b = RowMat::from_fn(n, r, |i, k| x0.get(i, k) + 0.2 * noise.get(i, k) / (n as f64).sqrt());
        let mut best = RowMat::zeros(n, r);
        assert!(orthopt_linalg::orthonormal::nearest(&b, &mut best));
        let p = Problem::new(nearest_to(b), NoPenalty, r).unwrap();
        let s = solve(&p, "lbfgs", x0, 1e-9);
        let apart = s.x.data().iter().zip(best.data()).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(apart <= 1e-7, "{n} {r}: {apart:e}, {}", s.message);
        assert!(s.feasibility <= 1e-13, "{n} {r}");
    }
}

/// An ill-conditioned f takes a small part of the evaluations of gradient steps, and ends no higher.
#[test]
fn it_learns_the_curvature() {
    for (n, r, condition) in [(60, 3, 1e4), (40, 8, 1e5)] {
        let p = Problem::new(quartic(n, condition, 1.0), NoPenalty, r).unwrap();
        let x0 = stiefel::random(n, r, &mut rng(1));
        let [ours, theirs] = ["lbfgs", "optm-cayley"].map(|name| solve(&p, name, x0.clone(), 1e-8));
        assert_eq!(ours.status, Status::Converged, "{}", ours.message);
        assert!(criticality(&p, &ours.x) <= 1e-6 * condition);
        let (a, b) = (ours.objective.total, theirs.objective.total);
        assert!(a <= b + 1e-8 * b.abs(), "{a} {b}");
        let (a, b) = (evaluations(&ours), evaluations(&theirs));
        assert!(2 * a < b, "{a} evaluations, optm-cayley {b}");
    }
}

/// A power of two times f: the same bits of X after as many evaluations.
#[test]
fn the_unit_of_f_changes_no_bit() {
    let x0 = stiefel::random(20, 3, &mut rng(5));
    let at = |power: i32| {
        let p = Problem::new(quartic(20, 100.0, 2f64.powi(power)), NoPenalty, 3).unwrap();
        let s = solve(&p, "lbfgs", x0.clone(), 1e-9);
        (evaluations(&s), s.status, s.x)
    };
    let one = at(0);
    for power in [-300, -60, -1, 1, 60, 300] {
        assert!(one == at(power), "2^{power}");
    }
}

#[test]
fn the_same_bits_for_any_threads_and_steps() {
    let p = Problem::new(quartic(400, 1e3, 1.0), NoPenalty, 20).unwrap();
    let s = named("lbfgs", &p);
    let on = |threads: usize, budget: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut st = s.init(&p, stiefel::random(400, 20, &mut rng(2))).unwrap();
            let mut done = 0;
            while done < 40 {
                done += s.steps(&p, &mut st, budget.min(40 - done)).iterations;
            }
            s.point(&p, &st).clone()
        })
    };
    let one = on(1, 1);
    assert_eq!(one.data(), on(2, 7).data());
    assert_eq!(one.data(), on(3, 40).data());
}

proptest! {
    #![proptest_config(crate::common::cases(24))]

    /// X is feasible, f is as reported and falls but for rounding.
    #[test]
    fn iterates_keep_what_is_promised(seed in 0u64..1000, n in 1usize..20, r in 1usize..6, condition in 1.0..1e4f64) {
        let r = r.min(n);
        let p = Problem::new(quartic(n.max(2), condition, 1.0), NoPenalty, r).unwrap();
        let s = named("lbfgs", &p);
        let mut st = s.init(&p, stiefel::random(n.max(2), r, &mut rng(seed))).unwrap();
        let mut last = f64::INFINITY;
        for _ in 0..60 {
            let info = s.steps(&p, &mut st, 1);
            let x = s.point(&p, &st);
            prop_assert!(stiefel::feasibility(x) <= 1e-12);
            prop_assert!((p.value(x) - info.objective).abs() <= 1e-12 * (1.0 + info.objective.abs()));
            prop_assert!(info.objective <= last + 1e-12 * (condition + last.abs()));
            last = info.objective;
            if info.ended.is_some() {
                break;
            }
        }
    }
}

/// With the sign of the gradient wrong no step lowers f: the message names it.
#[test]
fn a_wrong_gradient_stalls_and_says_so() {
    let right = quartic(12, 10.0, 1.0);
    let wrong = own(12, move |x, g| {
        let f = right.value_and_gradient(x, g);
        g.data_mut().iter_mut().for_each(|v| *v = -*v);
        f
    });
    let p = Problem::new(wrong, NoPenalty, 3).unwrap();
    let x0 = stiefel::random(12, 3, &mut rng(1));
    let s = solve(&p, "lbfgs", x0, 1e-8);
    assert_eq!(s.status, Status::Stalled, "{}", s.message);
    assert!(s.message.contains("wrong gradient"), "{}", s.message);
}

/// Kinks: F falls as far as an independent method gets, and the end is called no minimum.
#[test]
fn an_f_with_kinks_is_descended() {
    let kinks = || {
        own(8, |x: &RowMat, g: &mut RowMat| {
            g.data_mut()
                .iter_mut()
                .zip(x.data())
                .for_each(|(g, x)| *g = if *x == 0.0 { 0.0 } else { x.signum() });
            x.data().iter().map(|v| v.abs()).sum()
        })
    };
    let x0 = stiefel::random(8, 2, &mut rng(6));
    let s = solve(&Problem::new(kinks(), NoPenalty, 2).unwrap(), "lbfgs", x0.clone(), 1e-8);
    assert_ne!(s.status, Status::Converged, "{}", s.message);
    let start: f64 = x0.data().iter().map(|v| v.abs()).sum();
    assert!(
        s.objective.total < start - 0.5 && s.objective.total >= 2.0 - 1e-9,
        "{} {start}",
        s.objective.total
    );
    assert!(s.feasibility <= 1e-12);
}

/// Where f is no number the step is shortened; a start where it is none ends at once.
#[test]
fn places_where_f_is_no_number_are_avoided() {
    let hole = |from: f64| {
        let f = quartic(10, 100.0, 1.0);
        own(10, move |x: &RowMat, g: &mut RowMat| {
            let value = f.value_and_gradient(x, g);
            if x.get(0, 0) > from { f64::NAN } else { value }
        })
    };
    let x0 = RowMat::from_fn(10, 2, |i, k| f64::from(u8::from(i == k + 5)));
    let mut x0_tilted = x0.clone();
    orthopt_linalg::orthonormal::nearest(
        &RowMat::from_fn(10, 2, |i, k| x0.get(i, k) + 0.1 + 0.01 * i as f64),
        &mut x0_tilted,
    );
    let s = solve(&Problem::new(hole(0.7), NoPenalty, 2).unwrap(), "lbfgs", x0_tilted.clone(), 1e-8);
    assert!(s.objective.total.is_finite() && s.feasibility <= 1e-12, "{}", s.message);
    let s = solve(&Problem::new(hole(-2.0), NoPenalty, 2).unwrap(), "lbfgs", x0_tilted, 1e-8);
    assert_eq!(s.status, Status::NumericalError, "{}", s.message);
}

#[test]
fn penalties_and_bad_constants_are_refused() {
    let p = Problem::new(quartic(6, 10.0, 1.0), L1::new(1.0).unwrap(), 2).unwrap();
    let error = build(&p, &SolverOptions::default());
    assert_eq!(error, "solver lbfgs is for problems without a penalty (pca)");
    let p = Problem::new(quartic(6, 10.0, 1.0), NoPenalty, 2).unwrap();
    for memory in [0.0, 0.5, 1e6] {
        let mut options = SolverOptions::default();
        options.constants.insert(String::from("lbfgs-memory"), memory);
        let error = build(&p, &options);
        assert!(error.contains("lbfgs-memory"), "{error}");
    }
}

/// The error of making the solver.
fn build<F: Smooth + 'static, H: Nonsmooth + 'static>(
    p: &Problem<Stiefel, F, H>,
    options: &SolverOptions,
) -> String {
    entry("lbfgs").build(p, options).err().unwrap().to_string()
}
