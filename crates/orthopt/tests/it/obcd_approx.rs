//! OBCD-Approx for any smooth f: pairs of rows along f itself.

use crate::common::nonlinear::{models, random_point};
use crate::common::quartic::Quartic;
use crate::common::*;
use orthopt::RowMat;
use orthopt::constraint::Stiefel;
use orthopt::penalty::{L1, NoPenalty};
use orthopt::problem::Problem;
use orthopt::smooth::Smooth;
use orthopt::solve::{Critical, MaxIterations, Solution, Solver, Stationary, Status, Stop, run};
use orthopt::solvers::NonlinearObcd;
use orthopt::solvers::obcd::{Candidates, CircleSearch, ObcdOptions, WorkingSet};
use orthopt_core::constraint::stiefel;
use orthopt_linalg::plane::Branch;
use orthopt_linalg::plane::PairMove;
use orthopt_solvers::obcd_approx::ObcdApprox;
use orthopt_solvers::obcd_majorised::MajorisedObcd;
use proptest::prelude::*;

/// Σ ln cosh of the entries of AX: no polynomial, and nothing known of its curvature.
#[derive(Clone)]
struct LogCosh(RowMat);

impl Smooth for LogCosh {
    fn nrows(&self) -> usize {
        self.0.ncols()
    }
    fn value(&self, x: &RowMat) -> f64 {
        let scores = self.0.as_mat() * x.as_mat();
        scores.col_iter().flat_map(|c| c.iter().map(|v| v.cosh().ln()).collect::<Vec<_>>()).sum()
    }
    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        let mut scores = self.0.as_mat() * x.as_mat();
        scores.col_iter_mut().for_each(|c| c.iter_mut().for_each(|v| *v = v.tanh()));
        *g = RowMat::from_mat((self.0.as_mat().transpose() * scores).as_ref());
    }
}

/// A quartic with a linear term, which prefers some angles.
#[derive(Clone)]
struct Tilted(Quartic, RowMat);

impl Smooth for Tilted {
    fn nrows(&self) -> usize {
        self.0.nrows()
    }
    fn value(&self, x: &RowMat) -> f64 {
        let linear = |i: usize| x.row(i).iter().zip(self.1.row(i)).map(|(x, e)| x * e).sum::<f64>();
        self.0.value(x) + (0..x.nrows()).map(linear).sum::<f64>()
    }
    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        self.0.gradient(x, g);
        *g = RowMat::from_fn(x.nrows(), x.ncols(), |i, k| g.get(i, k) + self.1.get(i, k));
    }
}

fn log_cosh(n: usize) -> LogCosh {
    LogCosh(gaussian_rows(30, n, 4))
}

fn quartic(n: usize) -> Quartic {
    Quartic((0..n).map(|i| f64::from((7 * i as u32) % 5) - 1.0).collect())
}

fn options(rule: WorkingSet, seed: u64) -> ObcdOptions {
    ObcdOptions { working_set: rule, candidates: Some(Candidates::All), seed, ..Default::default() }
}

const RULES: [WorkingSet; 4] =
    [WorkingSet::Random, WorkingSet::Cyclic, WorkingSet::GreedySv, WorkingSet::GreedyOr];

/// Steps one by one: F falls in each by what it says, and X stays orthonormal.
fn descends<F: Smooth>(f: F, r: usize, options: &ObcdOptions, steps: usize) {
    let n = f.nrows();
    let p = Problem::new(f, NoPenalty, r).unwrap();
    let solver = ObcdApprox::new(options.clone()).unwrap();
    let mut state = solver.init(&p, random_point(n, r, options.seed)).unwrap();
    let mut last = f64::INFINITY;
    for _ in 0..steps {
        let info = solver.steps(&p, &mut state, 1);
        let x = solver.point(&p, &state);
        let (value, size) = (p.value(x), orthopt::objective::size(p.f.scale(x), info.objective));
        assert!(value <= last + 1e-14 * size, "{value} after {last}");
        assert!((value - info.objective).abs() <= 1e-11 * size, "{value} {}", info.objective);
        assert!(stiefel::feasibility(x) <= 3e-13, "{:e}", stiefel::feasibility(x));
        last = value;
    }
}

proptest! {
    #![proptest_config(cases(12))]

    #[test]
    fn every_pair_lowers_f_and_keeps_x_orthonormal(seed in 0u64..1000, rule in 0usize..4, square: bool) {
        let (r, options) = (if square { 7 } else { 3 }, options(RULES[rule], seed));
        descends(quartic(7), r, &options, 200);
        descends(log_cosh(7), r, &options, 200);
    }
}

fn solve<F: Smooth + 'static>(
    p: &Problem<Stiefel, F, NoPenalty>,
    options: &ObcdOptions,
    x0: &RowMat,
) -> Solution {
    let mut stop = Stationary { tol: 1e-11 }.or(Critical { tol: 1e-11 }).or(MaxIterations(Some(20_000)));
    let solver = ObcdApprox::new(options.clone()).unwrap();
    run(p, &solver, x0.clone(), limits(20_000, 0), &mut stop, &mut []).unwrap()
}

/// f of X with its two rows moved.
fn along<F: Smooth>(f: &F, x: &RowMat, branch: Branch, theta: f64) -> f64 {
    let v = PairMove { branch, c: theta.cos(), s: theta.sin() }.matrix();
    f.value(&RowMat::from_fn(2, x.ncols(), |i, k| v[i][0] * x.get(0, k) + v[i][1] * x.get(1, k)))
}

/// Two rows are one pair: where the first step ends, f has a local minimum among the angles of its circle, no higher than where it
/// began, and mostly the lowest of both circles.
#[test]
fn the_step_of_a_pair_ends_in_a_minimum_over_angles() {
    const ANGLES: usize = 4000;
    let (mut global, mut all) = (0, 0);
    for seed in 0..40 {
        let f = Tilted(quartic(2), gaussian_rows(2, 2, seed));
        for r in [1, 2] {
            let x0 = random_point(2, r, seed);
            let p = Problem::new(f.clone(), NoPenalty, r).unwrap();
            let solver = ObcdApprox::new(options(WorkingSet::Cyclic, seed)).unwrap();
            let mut state = solver.init(&p, x0.clone()).unwrap();
            let value = solver.steps(&p, &mut state, 1).objective;
            assert!(value <= p.value(&x0));
            let angle = |k: usize| std::f64::consts::TAU * k as f64 / ANGLES as f64;
            let (mut lowest, mut minima) = (f64::INFINITY, Vec::new());
            for branch in [Branch::Rotation, Branch::Reflection] {
                let values: Vec<f64> = (0..ANGLES).map(|k| along(&f, &x0, branch, angle(k))).collect();
                for k in 0..ANGLES {
                    lowest = f64::min(lowest, values[k]);
                    let (before, after) = (values[(k + ANGLES - 1) % ANGLES], values[(k + 1) % ANGLES]);
                    if values[k] <= before && values[k] <= after {
                        minima.push(values[k]);
                    }
                }
            }
            // the grid is 4e-4 off a minimum at the most, where f is flat
            assert!(minima.iter().any(|m| (m - value).abs() <= 1e-4), "{seed}: {value} of {minima:?}");
            all += 1;
            global += usize::from(value <= lowest + 1e-4);
        }
    }
    assert!(10 * global >= 7 * all, "{global} of {all}");
}

/// ⟨E, X⟩, which its own linearisation majorises.
#[derive(Clone)]
struct Linear(RowMat);

impl Smooth for Linear {
    fn nrows(&self) -> usize {
        self.0.nrows()
    }
    fn value(&self, x: &RowMat) -> f64 {
        self.0.inner(x)
    }
    fn gradient(&self, _: &RowMat, g: &mut RowMat) {
        g.data_mut().copy_from_slice(self.0.data());
    }
    fn is_concave(&self) -> bool {
        true
    }
}

/// Of a linear f every circle has one minimum: both methods take the lower one in their first step.
#[test]
fn of_a_linear_function_a_pair_takes_the_lowest_of_all_angles() {
    for seed in 0..20 {
        let (f, x0) = (Linear(gaussian_rows(2, 2, seed)), random_point(2, 2, seed + 50));
        let p = Problem::new(f.clone(), NoPenalty, 2).unwrap();
        let lowest = [Branch::Rotation, Branch::Reflection]
            .into_iter()
            .flat_map(|branch| {
                (0..20_000).map(move |k| (branch, std::f64::consts::TAU * f64::from(k) / 20_000.0))
            })
            .map(|(branch, theta)| along(&f, &x0, branch, theta))
            .fold(f64::INFINITY, f64::min);
        let options = options(WorkingSet::Cyclic, seed);
        let (approx, majorised) =
            (ObcdApprox::new(options.clone()).unwrap(), MajorisedObcd::new(options).unwrap());
        let mut state = approx.init(&p, x0.clone()).unwrap();
        let first = approx.steps(&p, &mut state, 1).objective;
        let mut state = majorised.init(&p, x0).unwrap();
        let other = majorised.steps(&p, &mut state, 1).objective;
        for found in [first, other] {
            assert!((found - lowest).abs() <= 1e-6 * lowest.abs(), "{seed}: {found} {lowest}");
        }
    }
}

/// The polynomial through five angles is the one that the data give. The iteration ends where p falls no more beyond rounding, which leaves
/// angles open to the root of it.
#[test]
fn on_nonlinear_eigenvalues_it_is_the_method_made_for_them() {
    for (name, f) in models(3) {
        let p = Problem::new(f, NoPenalty, 3).unwrap();
        let options = options(WorkingSet::Cyclic, 5);
        let own = NonlinearObcd::new(CircleSearch::FifthOrder, options.clone()).unwrap();
        let any = ObcdApprox::new(options).unwrap();
        let x0 = random_point(12, 3, 2);
        let (mut a, mut b) = (own.init(&p, x0.clone()).unwrap(), any.init(&p, x0).unwrap());
        for step in 0..30 {
            let (fa, fb) = (own.steps(&p, &mut a, 1).objective, any.steps(&p, &mut b, 1).objective);
            assert!((fa - fb).abs() <= 1e-8 * (1.0 + fa.abs()), "{name} {step}: {fa} {fb}");
        }
        let (xa, xb) = (own.point(&p, &a), any.point(&p, &b));
        let apart = xa.data().iter().zip(xb.data()).map(|(u, v)| (u - v).abs()).fold(0.0, f64::max);
        assert!(apart <= 1e-4, "{name}: {apart:e}");
    }
}

/// X is critical where it has converged, tall and square, and no single pair of rows is left that lowers f.
#[test]
fn it_ends_at_a_critical_point_of_any_f() {
    fn check<F: Smooth + Clone + 'static>(f: &F, r: usize, rule: WorkingSet) {
        let p = Problem::new(f.clone(), NoPenalty, r).unwrap();
        let s = solve(&p, &options(rule, 1), &random_point(f.nrows(), r, 3));
        assert_eq!(s.status, Status::Converged, "{rule:?} {r}");
        let mut g = RowMat::zeros(s.x.nrows(), r);
        f.gradient(&s.x, &mut g);
        let residual = stiefel::tangent(&s.x, &g).norm() / g.norm();
        assert!(residual <= 1e-4, "{rule:?} {r}: {residual:e}");
        assert!(stiefel::feasibility(&s.x) <= 1e-13);
    }
    for rule in [WorkingSet::Cyclic, WorkingSet::GreedySv] {
        for r in [1, 3, 8] {
            check(&quartic(8), r, rule);
            check(&log_cosh(8), r, rule);
        }
    }
}

#[test]
fn a_penalty_is_refused() {
    let p = Problem::new(quartic(5), L1::new(0.1).unwrap(), 2).unwrap();
    let solver = ObcdApprox::new(ObcdOptions::default()).unwrap();
    let error = solver.init(&p, random_point(5, 2, 1)).unwrap_err();
    assert!(error.to_string().contains("without a penalty"), "{error}");
}
