//! Trust-region Newton-CG on the Stiefel manifold: minima that are known, the order of convergence, invariants, units, threads,
//! and functions and Hessians that break its assumptions.

use crate::common::{Steps, gaussian, gaussian_rows, limits, rng, sparse, thinned};
use orthopt::RowMat;
use orthopt::constraint::Stiefel;
use orthopt::nonsmooth::Nonsmooth;
use orthopt::penalty::{L1, NoPenalty};
use orthopt::problem::{PcaData, Problem, Storage};
use orthopt::smooth::{HessianVector, Smooth};
use orthopt::solve::{AnySolver, Critical, MaxIterations, Setting, Solution, Solver, Status, Stop, run};
use orthopt::solvers::{SOLVERS, SolverInfo, SolverOptions, second_order, smooth_only};
use orthopt_core::constraint::stiefel;
use proptest::prelude::*;

/// A function given by its values and gradients, and by products with its Hessian.
struct Own<V, W> {
    rows: usize,
    both: V,
    hessian: W,
}

impl<V, W> Smooth for Own<V, W>
where
    V: Fn(&RowMat, &mut RowMat) -> f64 + Send + Sync,
    W: Send + Sync,
{
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

impl<V, W> HessianVector for Own<V, W>
where
    V: Fn(&RowMat, &mut RowMat) -> f64 + Send + Sync,
    W: Fn(&RowMat, &RowMat) -> RowMat + Send + Sync,
{
    fn hessian_vector(&self, x: &RowMat, d: &RowMat) -> RowMat {
        (self.hessian)(x, d)
    }
    fn has_hessian(&self) -> bool {
        true
    }
}

/// An f without a Hessian.
struct Bare<F>(F);

impl<F: Smooth> Smooth for Bare<F> {
    fn nrows(&self) -> usize {
        self.0.nrows()
    }
    fn value(&self, x: &RowMat) -> f64 {
        self.0.value(x)
    }
    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        self.0.gradient(x, g);
    }
}

impl<F: Smooth> HessianVector for Bare<F> {}

/// unit·Σ (½ dᵢwₖXᵢₖ² + ¼ q Xᵢₖ⁴) with d from 1 to `condition` in equal ratios and w = r, ..., 1: Brockett's function if q = 0.
fn weighted(n: usize, r: usize, condition: f64, q: f64, unit: f64) -> impl HessianVector {
    let d = move |i: usize| condition.powf(i as f64 / (n.max(2) as f64 - 1.0));
    let w = move |k: usize| (r - k) as f64;
    let both = move |x: &RowMat, g: &mut RowMat| {
        let mut sum = 0.0;
        for (i, k) in (0..n).flat_map(|i| (0..r).map(move |k| (i, k))) {
            let v = x.get(i, k);
            sum += 0.5 * d(i) * w(k) * v * v + 0.25 * q * v.powi(4);
            g.set(i, k, unit * (d(i) * w(k) * v + q * v.powi(3)));
        }
        unit * sum
    };
    let hessian = move |x: &RowMat, v: &RowMat| {
        RowMat::from_fn(n, r, |i, k| unit * (d(i) * w(k) + 3.0 * q * x.get(i, k).powi(2)) * v.get(i, k))
    };
    Own { rows: n, both, hessian }
}

/// The minimum of Brockett's function: the largest weight has the smallest d.
fn least(n: usize, r: usize, condition: f64) -> f64 {
    (0..r).map(|k| 0.5 * (r - k) as f64 * condition.powf(k as f64 / (n as f64 - 1.0))).sum()
}

type Smoothed<F> = Problem<Stiefel, F, NoPenalty>;

fn posed<F: Smooth>(f: F, r: usize) -> Smoothed<F> {
    Problem::new(f, NoPenalty, r).unwrap()
}

fn entry<F: HessianVector + 'static, H: Nonsmooth + 'static>() -> &'static SolverInfo<Problem<Stiefel, F, H>>
{
    second_order::<F, H>().iter().find(|info| info.name == "trust-region").unwrap()
}

/// Options with these constants of the solver.
fn set(constants: &[(&str, f64)]) -> SolverOptions {
    let mut options = SolverOptions::default();
    for (name, value) in constants {
        options.constants.insert(format!("trust-region-{name}"), *value);
    }
    options
}

fn solver<F: HessianVector + 'static>(p: &Smoothed<F>, constants: &[(&str, f64)]) -> AnySolver<Smoothed<F>> {
    entry().build(p, &set(constants)).unwrap()
}

fn run_with<F: Smooth>(p: &Smoothed<F>, s: &AnySolver<Smoothed<F>>, x0: RowMat, tol: f64) -> Solution {
    let mut stop = Critical { tol }.or(MaxIterations(Some(20_000)));
    run(p, s, x0, limits(20_000, 0), &mut stop, &mut []).unwrap()
}

fn solve<F: HessianVector + 'static>(p: &Smoothed<F>, x0: RowMat, tol: f64) -> Solution {
    run_with(p, &solver(p, &[]), x0, tol)
}

fn count(s: &Solution, name: &str) -> u64 {
    match s.settings[name] {
        Setting::Int(count) => count,
        ref other => unreachable!("{other:?} is no count"),
    }
}

/// Random starts and a start close to a critical point that is no minimum all come to the minimum.
#[test]
fn it_ends_at_the_minimum_and_leaves_saddles() {
    for (n, r, condition) in [(2, 1, 10.0), (9, 1, 10.0), (30, 4, 100.0), (12, 12, 50.0), (60, 5, 1e4)] {
        let p = posed(weighted(n, r, condition, 0.0, 1.0), r);
        // the last coordinates are the worst critical point
        let worst = RowMat::from_fn(n, r, |i, k| f64::from(u8::from(i + r == n + k)));
        let noise = gaussian_rows(n, r, 8);
        let mut beside = worst.clone();
        let tilted = RowMat::from_fn(n, r, |i, k| worst.get(i, k) + 1e-7 * noise.get(i, k));
        assert!(orthopt_linalg::orthonormal::nearest(&tilted, &mut beside));
        for x0 in [stiefel::random(n, r, &mut rng(3)), beside] {
            let s = solve(&p, x0, 1e-10);
            assert_eq!(s.status, Status::Converged, "{n} {r}: {}", s.message);
            let best = least(n, r, condition);
            let (f, size) = (s.objective.total, condition * r as f64);
            assert!((f - best).abs() <= 1e-12 * size, "{n} {r}: {f} and not {best}");
            assert!(s.feasibility <= 1e-13, "{n} {r}");
        }
    }
}

/// Residuals near the end fall with order 2 where θ = 1, and with order 1 where θ = 0.
#[test]
fn the_end_is_superlinear() {
    let p = posed(weighted(40, 4, 100.0, 30.0, 1.0), 4);
    let from_small_to_tiny = |constants: &[(&str, f64)]| {
        let s = solver(&p, constants);
        let mut st = s.init(&p, stiefel::random(40, 4, &mut rng(2))).unwrap();
        let mut residuals = Vec::new();
        for _ in 0..200 {
            let made = s.steps(&p, &mut st, 1);
            residuals.extend(made.residual);
            if made.ended.is_some() || made.residual.is_some_and(|v| v < 1e-12) {
                break;
            }
        }
        assert!(residuals.last().is_some_and(|v| *v < 1e-12), "{residuals:?}");
        residuals.iter().filter(|v| (1e-12..1e-2).contains(*v)).count()
    };
    let (quadratic, linear) =
        (from_small_to_tiny(&[("theta", 1.0)]), from_small_to_tiny(&[("theta", 0.0), ("kappa", 0.5)]));
    assert!(quadratic <= 4, "{quadratic} iterations");
    assert!(linear > 2 * quadratic, "{linear} iterations with θ = 0, {quadratic} with θ = 1");
}

/// No higher than L-BFGS, and with a small part of its evaluations of f; the counts are printed (`--no-capture`).
#[test]
fn it_knows_the_curvature() {
    let functions = [
        (60, 3, 1e4, 1.0),
        (40, 8, 1e5, 1.0),
        (100, 5, 30.0, 30.0),
        (60, 5, 1e4, 0.0),
        (200, 1, 100.0, 50.0),
        (100, 5, 1e3, 1.0),
    ];
    for (n, r, condition, q) in functions {
        let p = posed(weighted(n, r, condition, q, 1.0), r);
        let x0 = stiefel::random(n, r, &mut rng(1));
        let ours = solve(&p, x0.clone(), 1e-8);
        let lbfgs = smooth_only().iter().find(|info| info.name == "lbfgs").unwrap();
        let theirs = run_with(&p, &lbfgs.build(&p, &SolverOptions::default()).unwrap(), x0, 1e-8);
        assert_eq!(ours.status, Status::Converged, "{}", ours.message);
        let (a, b) = (ours.objective.total, theirs.objective.total);
        assert!(a <= b + 1e-8 * b.abs(), "{a} {b}");
        let products = count(&ours, "hessian_products");
        let (a, b) = (count(&ours, "evaluations"), count(&theirs, "evaluations"));
        println!(
            "{n} x {r}, condition {condition}, quartic {q}: {a} + {products}, lbfgs {b} {:?}",
            theirs.status
        );
        assert!(4 * a < b, "{a} evaluations, lbfgs {b}");
        assert!(products >= ours.iterations);
    }
}

/// The quadratic f of PCA in every storage, by its name in the registry.
#[test]
fn pca_has_its_eigenvalues() {
    let dense = gaussian(30, 20, 5);
    let thin = sparse(&thinned(60, 20, 0.3, 6));
    for storage in [Storage::Auto, Storage::Dense, Storage::Gram] {
        for data in [PcaData::Dense(dense.as_ref()), PcaData::Sparse(thin.as_ref(), None)] {
            let p = orthopt::family::pca_problem("pca", &data, 3, 0.0, storage).unwrap();
            let of = |name: &str| {
                let info = SOLVERS.iter().find(|s| s.name == name).unwrap();
                let s = info.build(&p, &SolverOptions::default()).unwrap();
                let mut stop = Critical { tol: 1e-10 }.or(MaxIterations(Some(1000)));
                let x0 = stiefel::random(20, 3, &mut rng(4));
                run(&p, &s, x0, limits(1000, 0), &mut stop, &mut []).unwrap()
            };
            let (ours, theirs) = (of("trust-region"), of("spectral"));
            let (a, b) = (ours.objective.total, theirs.objective.total);
            assert!((a - b).abs() <= 1e-11 * b.abs(), "{storage:?}: {a} {b}");
            assert_eq!(ours.status, Status::Converged, "{}", ours.message);
        }
    }
}

/// A power of two times f: the same bits of X after as many evaluations and products.
#[test]
fn the_unit_of_f_changes_no_bit() {
    let x0 = stiefel::random(20, 3, &mut rng(5));
    let at = |power: i32| {
        let p = posed(weighted(20, 3, 100.0, 1.0, 2f64.powi(power)), 3);
        let s = solve(&p, x0.clone(), 1e-12);
        (count(&s, "evaluations"), count(&s, "hessian_products"), s.status, s.x)
    };
    let one = at(0);
    for power in [-300, -60, -1, 1, 60, 300] {
        assert!(one == at(power), "2^{power}");
    }
}

#[test]
fn the_same_bits_for_any_threads_and_steps() {
    let p = posed(weighted(400, 20, 1e3, 1.0, 1.0), 20);
    let s = solver(&p, &[]);
    let on = |threads: usize, budget: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut st = s.init(&p, stiefel::random(400, 20, &mut rng(2))).unwrap();
            let mut done = 0;
            while done < 12 {
                done += s.steps(&p, &mut st, budget.min(12 - done)).iterations;
            }
            s.point(&p, &st).clone()
        })
    };
    let one = on(1, 1);
    assert_eq!(one.data(), on(2, 5).data());
    assert_eq!(one.data(), on(3, 12).data());
}

proptest! {
    #![proptest_config(crate::common::cases(24))]

    /// X is feasible, f is as reported and falls but for rounding.
    #[test]
    fn iterates_keep_what_is_promised(
        seed in 0u64..1000, n in 2usize..20, r in 1usize..6, condition in 1.0..1e4f64, q in -50.0..50.0f64
    ) {
        let r = r.min(n);
        let p = posed(weighted(n, r, condition, q, 1.0), r);
        let s = solver(&p, &[]);
        let mut st = s.init(&p, stiefel::random(n, r, &mut rng(seed))).unwrap();
        let mut last = f64::INFINITY;
        for _ in 0..60 {
            let info = s.steps(&p, &mut st, 1);
            let x = s.point(&p, &st);
            prop_assert!(stiefel::feasibility(x) <= 1e-12);
            prop_assert!((p.value(x) - info.objective).abs() <= 1e-12 * (1.0 + info.objective.abs()));
            prop_assert!(info.objective <= last + 1e-12 * (condition * r as f64 + last.abs()));
            last = info.objective;
            if info.ended.is_some() {
                break;
            }
        }
    }
}

/// Whatever is taken for the Hessian, f falls, and only a point with a small gradient is called converged.
#[test]
fn a_wrong_hessian_costs_products_and_no_more() {
    let (n, r) = (15, 3);
    let x0 = stiefel::random(n, r, &mut rng(7));
    let wrong: [fn(&RowMat) -> RowMat; 4] = [
        |v| RowMat::from_fn(v.nrows(), v.ncols(), |i, k| -v.get(i, k)),
        |v| RowMat::from_fn(v.nrows(), v.ncols(), |i, k| 1e6 * v.get(i, k)),
        |v| RowMat::from_fn(v.nrows(), v.ncols(), |i, k| v.get((i + 1) % v.nrows(), k)),
        |v| RowMat::zeros(v.nrows(), v.ncols()),
    ];
    for (case, hessian) in wrong.into_iter().enumerate() {
        let right = weighted(n, r, 10.0, 1.0, 1.0);
        let both = move |x: &RowMat, g: &mut RowMat| right.value_and_gradient(x, g);
        let p = posed(Own { rows: n, both, hessian: move |_: &RowMat, v: &RowMat| hessian(v) }, r);
        let s = solve(&p, x0.clone(), 1e-7);
        assert!(s.objective.total < p.value(&x0) - 1e-3, "{case}: {} {}", s.objective.total, s.message);
        assert!(s.feasibility <= 1e-12, "{case}");
        let small = orthopt::certify::criticality(&p, &s.x) <= 1e-4;
        assert!(small || s.status != Status::Converged, "{case}: {}", s.message);
    }
    let right = weighted(n, r, 10.0, 1.0, 1.0);
    let both = move |x: &RowMat, g: &mut RowMat| right.value_and_gradient(x, g);
    let hessian = |_: &RowMat, v: &RowMat| RowMat::from_fn(v.nrows(), v.ncols(), |_, _| f64::NAN);
    let s = solve(&posed(Own { rows: n, both, hessian }, r), x0, 1e-7);
    assert_eq!(s.status, Status::NumericalError, "{}", s.message);
    assert!(s.message.contains("Hessian") && s.feasibility <= 1e-12, "{}", s.message);
}

/// With the sign of the gradient wrong no step lowers f: the message names it.
#[test]
fn a_wrong_gradient_stalls_and_says_so() {
    let right = weighted(12, 3, 10.0, 1.0, 1.0);
    let both = move |x: &RowMat, g: &mut RowMat| {
        let f = right.value_and_gradient(x, g);
        g.data_mut().iter_mut().for_each(|v| *v = -*v);
        f
    };
    let hessian = |_: &RowMat, v: &RowMat| v.clone();
    let p = posed(Own { rows: 12, both, hessian }, 3);
    let s = solve(&p, stiefel::random(12, 3, &mut rng(1)), 1e-8);
    assert_eq!(s.status, Status::Stalled, "{}", s.message);
    assert!(s.message.contains("wrong gradient"), "{}", s.message);
}

/// Where f is no number the step is shortened; a start where it is none ends at once.
#[test]
fn places_where_f_is_no_number_are_avoided() {
    let x0 = stiefel::random(10, 2, &mut rng(6));
    for (from, start_is_none) in [(x0.get(0, 0) + 0.05, false), (-2.0, true)] {
        let f = weighted(10, 2, 100.0, 1.0, 1.0);
        let both = move |x: &RowMat, g: &mut RowMat| {
            let value = f.value_and_gradient(x, g);
            if x.get(0, 0) > from { f64::NAN } else { value }
        };
        let g = weighted(10, 2, 100.0, 1.0, 1.0);
        let hessian = move |x: &RowMat, v: &RowMat| g.hessian_vector(x, v);
        let p = posed(Own { rows: 10, both, hessian }, 2);
        let s = solve(&p, x0.clone(), 1e-8);
        assert!(s.feasibility <= 1e-12);
        if start_is_none {
            assert_eq!(s.status, Status::NumericalError, "{}", s.message);
        } else {
            assert!(s.objective.total.is_finite() && s.objective.total < p.value(&x0), "{}", s.message);
        }
    }
}

#[test]
fn an_f_without_a_hessian_penalties_and_bad_constants_are_refused() {
    const WHY: &str = "solver trust-region is for problems without a penalty (pca), with an f that has products with its Hessian";
    let whole = || weighted(6, 2, 10.0, 1.0, 1.0);
    assert_eq!(refused(&posed(Bare(whole()), 2), &[]), WHY);
    assert_eq!(refused(&Problem::new(whole(), L1::new(1.0).unwrap(), 2).unwrap(), &[]), WHY);
    for (name, value) in
        [("kappa", 0.0), ("kappa", 1.0), ("theta", -1.0), ("theta", f64::NAN), ("inner", 0.0)]
    {
        let error = refused(&posed(whole(), 2), &[(name, value)]);
        assert!(error.contains(&format!("trust-region-{name}")), "{error}");
    }
}

/// The error of making the solver.
fn refused<F: HessianVector + 'static, H: Nonsmooth + 'static>(
    p: &Problem<Stiefel, F, H>,
    constants: &[(&str, f64)],
) -> String {
    entry().build(p, &set(constants)).err().unwrap().to_string()
}
