//! The tangent-space subproblem and ManPG as a whole against slow references.

use crate::common::first_order::{apart, manpg, plain_product, sum, sym, tangent_prox, transposed_product};
use crate::common::{gaussian_rows, problem};
use orthopt::RowMat;
use orthopt::nonsmooth::Nonsmooth;
use orthopt::penalty::{AnyPenalty, L1, NoPenalty};
use orthopt::smooth::Quadratic;
use orthopt::solve::{Critical, MaxIterations, RunOptions, Stop, run};
use orthopt::solvers::ManPg;
use orthopt::start::Start;
use orthopt_solvers::proximal::TangentProx;

/// Direct systems (r ≤ 10) and conjugate gradients (beyond), sparse and dense, r = 1 and r = n.
#[test]
fn subproblem_equals_the_slow_dual_method() {
    for (n, r) in [(1, 1), (7, 1), (5, 5), (30, 3), (40, 10), (40, 13), (13, 13)] {
        for (k, lambda) in [0.0, 0.05, 0.3, 2.0, 50.0].into_iter().enumerate() {
            for t in [0.1, 1.0] {
                let x = crate::common::first_order::polar(&gaussian_rows(n, r, 3 + k as u64));
                let v = sum(&x, -t, &gaussian_rows(n, r, 77));
                let h = L1::new(lambda).unwrap();
                let mut solver = TangentProx::new(n, r);
                let inner = solver.solve(&h, &x, &v, t, |_| 1e-12);
                let what = format!("{n} x {r}, lambda {lambda}, t {t}");
                assert!(inner.exact, "{what}: {inner:?}");
                let (slow, off) = tangent_prox(&h, &x, &v, t, 1e-12, 500_000);
                assert!(off <= 1e-11, "{what}: the reference is only at {off:e}");
                assert!(apart(solver.y(), &slow) <= 1e-8, "{what}: {:e}", apart(solver.y(), &slow));
                // D = Y − X is tangent
                let xty = sym(&transposed_product(&x, solver.y()));
                let identity = |i: usize, j: usize| f64::from(u8::from(i == j));
                let off =
                    (0..r * r).map(|c| (xty.data()[c] - identity(c / r, c % r)).abs()).fold(0.0, f64::max);
                assert!(off <= 1e-11, "{what}: {off:e}");
                // and 0 ∈ (Y − V)/t − X·S/t + ∂h(Y)
                let xs = plain_product(&x, solver.multiplier());
                for (i, y) in solver.y().data().iter().enumerate() {
                    let g = (y - v.data()[i] - xs.data()[i]) / t;
                    assert!(h.distance_to_stationarity(*y, g) <= 1e-10 * (1.0 + lambda), "{what}, entry {i}");
                }
            }
        }
    }
}

/// Without kinks the solution is the projection: Y = V + XS, S = I − sym(XᵀV), in one step.
#[test]
fn subproblem_without_penalty_is_a_projection() {
    let (n, r) = (12, 4);
    let x = crate::common::first_order::polar(&gaussian_rows(n, r, 1));
    let v = gaussian_rows(n, r, 2);
    let mut solver = TangentProx::new(n, r);
    let inner = solver.solve(&NoPenalty, &x, &v, 0.3, |_| 1e-13);
    assert_eq!(inner.steps, 1);
    let s = sym(&transposed_product(&x, &v));
    let s = RowMat::from_fn(r, r, |i, j| f64::from(u8::from(i == j)) - s.get(i, j));
    assert!(apart(solver.y(), &sum(&v, 1.0, &plain_product(&x, &s))) <= 1e-13);
}

/// A warm start needs fewer steps and ends at the same point.
#[test]
fn warm_starts_are_used() {
    let (n, r) = (60, 5);
    let x = crate::common::first_order::polar(&gaussian_rows(n, r, 4));
    let h = AnyPenalty::L1(L1::new(0.4).unwrap());
    let direction = gaussian_rows(n, r, 5);
    let mut solver = TangentProx::new(n, r);
    let cold = solver.solve(&h, &x, &sum(&x, -0.5, &direction), 0.5, |_| 1e-12);
    let again = solver.solve(&h, &x, &sum(&x, -0.5, &direction), 0.5, |_| 1e-12);
    assert!(cold.steps >= 3 && again.steps == 0, "{} and {} steps", cold.steps, again.steps);
    let warm = solver.solve(&h, &x, &sum(&x, -0.501, &direction), 0.501, |_| 1e-12);
    assert!(warm.steps < cold.steps && warm.exact);
}

#[test]
fn manpg_equals_the_slow_reference() {
    for (n, r, lambda, seed) in
        [(15, 2, 2.0, 1), (20, 3, 4.0, 2), (10, 1, 1.0, 3), (6, 6, 1.0, 4), (24, 11, 2.0, 5)]
    {
        let p = problem("l1-pca", lambda, n, r, seed);
        let x0 = Start::Random.point(&p.f, r, false, seed).unwrap();
        let t = 1.0 / p.f.norm();
        let (_, slow) = manpg(&p, &x0, t, 1e-8);
        for solver in [ManPg { t: Some(t), ..ManPg::FIXED }, ManPg::FIXED] {
            let most = 50_000;
            let mut stop = Critical { tol: 1e-9 }.or(MaxIterations(Some(most)));
            let options = RunOptions { max_iterations: Some(most), ..Default::default() };
            let s = run(&p, &solver, x0.clone(), options, &mut stop, &mut []).unwrap();
            let gap = (s.objective.total - slow).abs() / slow.abs();
            assert!(gap <= 1e-6, "{n} x {r}: {} and {slow}, {gap:e}, {}", s.objective.total, s.message);
        }
    }
}
