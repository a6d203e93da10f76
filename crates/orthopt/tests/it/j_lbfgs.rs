//! L-BFGS on the J-orthogonal group: against the closed form, invariants, ends, the race it is part of.

use crate::common::Steps;
use crate::common::jobcd::{definite, options, probe, solver};
use crate::common::jorth::shuffled;
use crate::common::limits;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::constraint::{Constraint, Signature};
use orthopt::family::{Family, Request};
use orthopt::problem::{JProblem, Problem};
use orthopt::smooth::{HessianVector, Placement, Smooth, TwoSided};
use orthopt::solve::{Critical, MaxIterations, RunOptions, Solution, Solver, Status, Stop, Stopping, run};
use orthopt::solvers::{JobcdOptions, SolverOptions, find_solvers, j_general};
use orthopt_core::constraint::j_orthogonal::feasibility;
use orthopt_core::constraint::j_orthogonal::spectral_norm;
use orthopt_core::constraint::j_orthogonal::stationarity;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::sync::atomic::{AtomicUsize, Ordering};

const NAME: &str = "j-lbfgs";

fn solve(p: &JProblem, name: &str, most: u64, tol: f64) -> Solution {
    let s = solver(p, name, &options(JobcdOptions::default(), &[]));
    let x0 = p.start("random", 1).unwrap();
    let mut stop: Box<dyn Stop> =
        if tol > 0.0 { Box::new(Critical { tol }) } else { Box::new(MaxIterations(Some(most))) };
    run(p, &s, x0, limits(most, 0), &mut stop, &mut []).unwrap()
}

/// Every critical point of hyperbolic-eig is a minimum, which is known.
#[test]
fn it_reaches_the_closed_form() {
    for (n, p, ridge) in [(2, 1, 0.1), (9, 4, 1e-2), (20, 10, 1e-3), (12, 12, 1e-2), (6, 0, 1e-2)] {
        let problem = JProblem::hyperbolic_eig(definite(n, ridge, 3).as_mat(), shuffled(p, n, 2)).unwrap();
        let best = problem.optimum().unwrap().unwrap();
        let s = solve(&problem, NAME, 5_000, 1e-9);
        let gap = (s.objective.total - best) / best;
        assert!((-1e-12..1e-10).contains(&gap), "n {n}, p {p}: {gap:e} ({})", s.message);
    }
}

#[test]
fn points_are_feasible_and_f_falls_as_it_says() {
    for p in [probe(25, 6, Placement::After), probe(12, 4, Placement::After)] {
        let s = solver(&p, NAME, &options(JobcdOptions::default(), &[]));
        let mut st = s.init(&p, p.start("random", 2).unwrap()).unwrap();
        let mut last = f64::INFINITY;
        for _ in 0..150 {
            let info = s.steps(&p, &mut st, 1);
            let x = s.point(&p, &st);
            let unit = spectral_norm(x).powi(2);
            assert!(feasibility(x, p.signature()) <= 1e-12 * unit);
            assert!(info.objective <= last + 1e-12 * (1.0 + last.abs()), "{} after {last}", info.objective);
            assert!((p.value(x) - info.objective).abs() <= 1e-9 * (1.0 + info.objective.abs()));
            last = info.objective;
            if info.ended.is_some() {
                break;
            }
        }
    }
}

/// At a critical end the recomputed measure of the gradient is small.
#[test]
fn a_converged_end_is_critical() {
    let problem = JProblem::hyperbolic_eig(definite(15, 1e-2, 5).as_mat(), shuffled(6, 15, 1)).unwrap();
    let s = solve(&problem, NAME, 5_000, 1e-8);
    assert_eq!(s.status, Status::Converged, "{}", s.message);
    let mut g = RowMat::zeros(15, 15);
    problem.f.gradient(&s.x, &mut g);
    let size = g.norm() * s.x.norm();
    assert!(stationarity(&s.x, &g, problem.signature()) <= 1e-7 * size);
}

#[test]
fn it_ends_below_the_methods_that_follow_the_gradient() {
    let p = probe(40, 8, Placement::After);
    let own = solve(&p, NAME, 400, 0.0).objective.total;
    for rival in ["j-jobcd", "csdm", "gs-jobcd"] {
        let theirs = solve(&p, rival, 400, 0.0).objective.total;
        assert!(own < theirs, "{rival}: {theirs}, {NAME}: {own}");
    }
}

/// The printed objective of hyperbolic-eig has no lower bound; a sum of squares has one, however large X gets.
#[test]
fn a_large_x_ends_it_and_the_status_says_why() {
    let j = Signature::leading(3, 6).unwrap();
    let problem = JProblem::reproduction(definite(6, 0.0, 2).as_mat(), j).unwrap();
    let s = solve(&problem, NAME, 5_000, 0.0);
    assert_eq!(s.status, Status::Unbounded, "{}", s.message);
    assert!(s.x.find_non_finite().is_none() && s.feasibility <= 1e-13 * spectral_norm(&s.x).powi(2));
    let p = probe(40, 8, Placement::After);
    let near = options(JobcdOptions::default(), &[("j-lbfgs-norm-limit", 1.0)]);
    let s = solver(&p, NAME, &near);
    let x0 = p.start("random", 1).unwrap();
    let s = run(&p, &s, x0, limits(5_000, 0), &mut MaxIterations(Some(5_000)), &mut []).unwrap();
    assert_eq!(s.status, Status::Stalled, "{}", s.message);
    assert!(s.message.contains("reached its limit"), "{}", s.message);
}

#[test]
fn the_same_bits_for_any_threads_and_steps() {
    let p = probe(70, 9, Placement::After);
    let s = solver(&p, NAME, &options(JobcdOptions::default(), &[]));
    let on = |threads: usize, budget: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut st = s.init(&p, p.start("random", 4).unwrap()).unwrap();
            let mut done = 0;
            while done < 60 {
                done += s.steps(&p, &mut st, budget.min(60 - done)).iterations;
            }
            s.point(&p, &st).clone()
        })
    };
    let one = on(1, 1);
    assert_eq!(one.data(), on(2, 7).data());
    assert_eq!(one.data(), on(3, 60).data());
}

/// The default of the probe: a race of the methods of the paper and its rivals; more iterations never give a higher F.
#[test]
fn the_race_is_monotone_in_effort_and_below_each_of_its_methods() {
    let p = probe(30, 6, Placement::After);
    let race = |most: u64| {
        let stopping = Stopping { max_iters: Some(most), time_limit: None, tol: 1e-9, min_decrease: 0.0 };
        let wanted = Request { seed: Some(1), ..Default::default() };
        let s =
            p.plan(&wanted).unwrap().run(&p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap();
        s.objective.total
    };
    let reached: Vec<f64> = [200, 2_000, 20_000].map(race).into();
    assert!(reached.windows(2).all(|w| w[1] <= w[0]), "{reached:?}");
    for name in ["j-jobcd", "vr-j-jobcd", "j-admm", "csdm", NAME] {
        let alone = solve(&p, name, 20_000, 0.0).objective.total;
        assert!(reached[2] <= alone + 1e-3 * alone.abs(), "{name}: {alone}, the race {}", reached[2]);
    }
}

/// f that no step lowers. Nobody waits any more after so many of its values.
struct Rising {
    n: usize,
    last: usize,
    values: AtomicUsize,
    cancel: Cancel,
}

impl Smooth for Rising {
    fn nrows(&self) -> usize {
        self.n
    }

    fn ncols(&self) -> Option<usize> {
        Some(self.n)
    }

    fn value(&self, _: &RowMat) -> f64 {
        let values = self.values.fetch_add(1, Ordering::Relaxed) + 1;
        if values == self.last {
            self.cancel.cancel();
        }
        values as f64
    }

    fn gradient(&self, _: &RowMat, g: &mut RowMat) {
        *g = RowMat::from_fn(self.n, self.n, |i, k| ((7 * i + 3 * k) as f64).sin());
    }

    fn value_and_gradient(&self, x: &RowMat, g: &mut RowMat) -> f64 {
        self.gradient(x, g);
        self.value(x)
    }
}

impl TwoSided for Rising {}

impl HessianVector for Rising {}

/// A step of a large problem asks between its trials whether anybody waits, and leaves X as it was.
#[test]
fn a_step_that_nobody_waits_for_is_left() {
    for (n, left) in [(6, false), (480, true)] {
        for name in [NAME, "j-jobcd"] {
            let values = |last: usize| {
                let cancel = Cancel::never();
                let f = Rising { n, last, values: AtomicUsize::new(0), cancel: cancel.clone() };
                let p = Problem::with_signature(f, Signature::leading(n / 2, n).unwrap()).unwrap();
                let s =
                    find_solvers(j_general(), name).unwrap()[0].build(&p, &SolverOptions::default()).unwrap();
                let x0 = p.constraint.random(&mut Pcg64::seed_from_u64(1));
                let stop = &mut MaxIterations(Some(1));
                let found =
                    run(&p, &s, x0.clone(), RunOptions { cancel, ..limits(1, 0) }, stop, &mut []).unwrap();
                assert!(feasibility(&found.x, p.signature()) <= 1e-12, "{name}");
                assert!(found.x.data().iter().zip(x0.data()).all(|(a, b)| (a - b).abs() <= 1e-10), "{name}");
                p.f.values.load(Ordering::Relaxed)
            };
            // the fifth is one of a trial; at the end come the last X and the best one
            let (whole, cut) = (values(usize::MAX), values(5));
            assert!(whole > 10, "{name}: {whole} values");
            assert_eq!(cut < whole / 2, left, "{name}, n {n}: {cut} of {whole} values");
        }
    }
}
