//! The first-order solvers where codes break: bad starts, extreme weights, data of every scale.

use crate::common::Steps;
use crate::common::first_order::{NAMES, apart, build, solve, wide};
use crate::common::{exact_objective, gaussian, gradient, on_data, problem};
use orthopt::certify::criticality;
use orthopt::penalty::{AnyPenalty, L1};
use orthopt::problem::Problem;
use orthopt::smooth::{AnySmooth, DenseQuadratic};
use orthopt::solve::{Solution, Solver, Status};
use orthopt::start::Start;
use orthopt_core::constraint::stiefel;

/// The starts and weights that send public codes to coordinate vectors, to NaN, or to a point
/// that is called converged because the step was long.
#[test]
fn starts_that_make_public_codes_fail() {
    for (m, n, r, lambda) in
        [(10, 60, 4, 0.25), (10, 60, 4, 0.4), (50, 100, 10, 0.4), (5, 40, 5, 2.0), (5, 30, 3, 50.0)]
    {
        let p = wide("l1-pca", lambda, m, n, r, 7);
        for start in [Start::Random, Start::Pca, Start::Identity] {
            let x0 = start.point(&p.f, r, false, 3).unwrap();
            for name in ["slpg", "irpg", "amanpg", "manpg-ada"] {
                let what = format!("{name}, {n} x {r}, lambda {lambda}, from {}", start.name());
                let s = solve(&p, name, x0.clone(), 1e-8, 4000);
                assert!(s.x.find_non_finite().is_none() && s.feasibility <= 1e-12, "{what}");
                assert_ne!(s.status, Status::NumericalError, "{what}");
                if s.status == Status::Converged {
                    let scale = gradient(&p, &s.x).norm();
                    let distance = criticality(&p, &s.x) / scale;
                    assert!(distance <= 1e-6, "{what}: called converged at {distance:e}");
                }
            }
        }
    }
}

/// A starting point without a gradient, a penalty without slope, data of extreme scale.
#[test]
fn degenerate_problems_end() {
    let zero = || AnySmooth::Dense(DenseQuadratic::new(faer::Mat::<f64>::zeros(6, 6).as_ref()).unwrap());
    let nothing = Problem::new(zero(), AnyPenalty::L1(L1::new(0.0).unwrap()), 2).unwrap();
    let only_h = Problem::new(zero(), AnyPenalty::L1(L1::new(1.0).unwrap()), 2).unwrap();
    let scaled = |c: f64| {
        let a = gaussian(12, 8, 3);
        let a = faer::Mat::from_fn(12, 8, |i, j| c * a[(i, j)]);
        on_data("l1-pca", c * c, &a, 2)
    };
    for p in [nothing, only_h, scaled(1e-7), scaled(1e7)] {
        for name in NAMES {
            let x0 = Start::Random.point(&p.f, 2, false, 6).unwrap();
            let s = solve(&p, name, x0.clone(), 1e-9, 3000);
            assert!(s.feasibility <= 1e-12 && s.objective.total.is_finite(), "{name}");
            assert!(exact_objective(&p, &s.x) <= exact_objective(&p, &x0) * (1.0 + 1e-12) + 1e-300, "{name}");
        }
    }
    // the same iterations on data of every scale
    let paths: Vec<Solution> = [1.0, 1e-7, 1e7]
        .into_iter()
        .map(|c| {
            let p = scaled(c);
            solve(&p, "irpg", Start::Random.point(&p.f, 2, false, 6).unwrap(), 1e-9, 3000)
        })
        .collect();
    for s in &paths[1..] {
        assert!(apart(&s.x, &paths[0].x) <= 1e-6, "{:e}", apart(&s.x, &paths[0].x));
        assert_eq!(s.status, paths[0].status);
    }
}

/// A start that is orthonormal to 1e-7 only, and an iteration that finds nothing better.
#[test]
fn starts_are_made_feasible() {
    let p = problem("l1-pca", 1.0, 10, 2, 1);
    let mut x0 = Start::Random.point(&p.f, 2, false, 1).unwrap();
    x0.data_mut().iter_mut().enumerate().for_each(|(k, v)| *v *= 1.0 + 1e-7 * (k as f64).sin());
    assert!(stiefel::feasibility(&x0) > 1e-9);
    for name in NAMES {
        let solver = build(name, &p);
        let mut state = solver.init(&p, x0.clone()).unwrap();
        assert!(stiefel::feasibility(solver.point(&p, &state)) <= 1e-12, "{name}");
        solver.steps(&p, &mut state, 1);
        assert!(stiefel::feasibility(&solver.finish(&p, state).x) <= 1e-12, "{name}");
        x0.set(0, 0, x0.get(0, 0) + 0.1);
        assert!(solver.init(&p, x0.clone()).is_err(), "{name}");
        x0.set(0, 0, x0.get(0, 0) - 0.1);
    }
}
