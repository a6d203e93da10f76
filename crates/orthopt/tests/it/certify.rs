//! Block-2 stationarity against the slow twin of the pair searches.

use std::sync::atomic::Ordering;

use crate::common::pair::linear_part;
use crate::common::{
    PROBLEMS, exact_objective, gaussian, gaussian_rows, gradient, on_data, patient, penalty, problem, rng,
    solve, thinned, usual_start,
};
use faer::Mat;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::certify::{Certificate, Scope, block_stationarity, criticality};
use orthopt::family::Family;
use orthopt::nonsmooth::Nonsmooth;
use orthopt::penalty::NoPenalty;
use orthopt::problem::JProblem;
use orthopt::problem::NonlinearEigProblem;
use orthopt::problem::{PcaProblem, Problem};
use orthopt::smooth::{AnySmooth, DenseQuadratic, NonlinearEig, Quadratic};
use orthopt_core::constraint::stiefel;
use orthopt_core::pair::PairModel;
use orthopt_core::pair::slow;

/// All pairs with a nonzero row by the slow twin.
fn slow_certificate(p: &PcaProblem, x: &RowMat) -> Certificate {
    let (g, n) = (gradient(p, x), x.nrows());
    let noise = 1e-12 * (1.0 + p.objective(x).total.abs());
    let zero = |i: usize| x.row(i).iter().all(|v| *v == 0.0);
    let (mut total, mut largest, mut distance) = (0, 0.0f64, 0.0);
    for i in 0..n {
        for j in i + 1..n {
            if zero(i) && zero(j) {
                continue;
            }
            total += 1;
            let (rows, grads) = ((x.row(i), x.row(j)), (g.row(i), g.row(j)));
            let k = [p.f.curvature(i, i), p.f.curvature(i, j), p.f.curvature(j, j)];
            let m = PairModel::with_curvature(linear_part(grads, k, 0.0, rows), k, rows.0, rows.1);
            let best = slow::minimise(&m, &p.h);
            let now = m.circles()[0].at_zero() + m.constant() + p.h.value(rows.0) + p.h.value(rows.1);
            if now - best.value > noise {
                distance += best.step.distance_to_identity().powi(2);
            }
            largest = largest.max(now - best.value);
        }
    }
    let mean_distance = if total > 0 { distance / total as f64 } else { 0.0 };
    Certificate { pairs_checked: total, pairs_total: total, max_decrease: largest, mean_distance }
}

#[test]
fn block_stationarity_against_the_slow_twin() {
    for (name, lambda) in PROBLEMS {
        for (n, r) in [(12, 3), (9, 1), (5, 5), (2, 1)] {
            let p = problem(name, lambda, n, r, 8);
            let mut points = vec![usual_start(&p, 2), solve(&p, 2, 1e-13).x];
            if !p.h.requires_nonneg() {
                points.push(stiefel::orthonormalise(&gaussian_rows(n, r, 4)));
            }
            for (k, x) in points.iter().enumerate() {
                let (found, known) = (block_stationarity(&p, x, Scope::All), slow_certificate(&p, x));
                let what = format!("{name}, {n} x {r}, point {k}: {found:?}, slow {known:?}");
                assert_eq!(
                    (found.pairs_checked, found.pairs_total),
                    (known.pairs_total, known.pairs_total),
                    "{what}"
                );
                let scale = 1.0 + exact_objective(&p, x).abs();
                assert!((found.max_decrease - known.max_decrease.max(0.0)).abs() <= 1e-9 * scale, "{what}");
                // several minimisers may be equally good, at different distances
                assert_eq!(found.mean_distance > 0.0, known.mean_distance > 0.0, "{what}");
                assert!((0.0..=8.0).contains(&found.mean_distance), "{what}");
            }
        }
    }
}

/// With a linear term and a dense X every pair has one minimiser.
#[test]
fn mean_distance_against_the_slow_twin() {
    for (h, lambda) in [("l0", 0.8), ("l1", 0.5), ("none", 0.0)] {
        let b = gaussian(9, 9, 3);
        let m = Mat::from_fn(9, 9, |i, j| b[(i, j)] + b[(j, i)]);
        let f = DenseQuadratic::new(m.as_ref()).unwrap().with_linear(gaussian_rows(9, 3, 4)).unwrap();
        let p: PcaProblem = Problem::new(AnySmooth::Dense(f), penalty(h, lambda), 3).unwrap();
        let x = stiefel::random(9, 3, &mut rng(6));
        let (found, known) = (block_stationarity(&p, &x, Scope::All), slow_certificate(&p, &x));
        assert!((found.mean_distance - known.mean_distance).abs() <= 1e-5, "{h}: {found:?}, slow {known:?}");
    }
}

#[test]
fn samples_are_reproducible_and_never_larger() {
    for (name, lambda) in PROBLEMS {
        let p = problem(name, lambda, 25, 3, 6);
        let x = usual_start(&p, 1);
        let all = block_stationarity(&p, &x, Scope::All);
        assert!(all.max_decrease > 0.0 && !all.holds(0.5 * all.max_decrease) && all.holds(all.max_decrease));
        let mut seen = Vec::new();
        for (pairs, seed) in [(1, 0), (20, 0), (20, 1), (all.pairs_total - 1, 0), (0, 0)] {
            let sample = block_stationarity(&p, &x, Scope::Sample { pairs, seed });
            assert_eq!((sample.pairs_checked, sample.pairs_total), (pairs, all.pairs_total), "{name}");
            assert!(!sample.holds(f64::INFINITY), "{name}: a sample is no certificate");
            assert!(sample.max_decrease <= all.max_decrease, "{name}: {sample:?} {all:?}");
            assert!(sample == block_stationarity(&p, &x, Scope::Sample { pairs, seed }), "{name}");
            seen.push(sample);
        }
        assert!(seen[1] != seen[2], "{name}: the seed does not matter");
        assert!((seen[3].mean_distance - all.mean_distance).abs() < 0.5 * (1.0 + all.mean_distance));
        // with repetition they would miss some, so no fewer than there are means all
        for pairs in [all.pairs_total, 10_000] {
            assert!(all == block_stationarity(&p, &x, Scope::Sample { pairs, seed: 0 }), "{name}");
        }
    }
}

#[test]
fn threads_change_nothing() {
    let a = thinned(60, 150, 0.3, 5);
    for (name, lambda) in PROBLEMS {
        let p = on_data(name, lambda, &a, 4);
        let x = usual_start(&p, 1);
        let measures = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let sample = Scope::Sample { pairs: 9000, seed: 3 };
                (
                    block_stationarity(&p, &x, Scope::All),
                    block_stationarity(&p, &x, sample),
                    criticality(&p, &x),
                )
            })
        };
        let one = measures(1);
        assert!(one == measures(2) && one == measures(3), "{name}");
    }
}

/// Criticality and a certificate that may continue for so many questions.
fn asked<P: Family>(p: &P, x: &RowMat, scope: Scope, answers: u64) -> (Option<f64>, Certificate, u64) {
    let (ask, questions) = patient(answers);
    let certificate = p.block_stationarity(x, scope, &ask).expect("pairs can be solved");
    let asked = questions.swap(0, Ordering::Relaxed);
    (p.criticality(x, &ask), certificate, asked)
}

/// In every family a check that is stopped ends at once and reports its progress.
fn stops<P: Family>(what: &str, p: &P, x: &RowMat) {
    let go_on = |scope| p.block_stationarity(x, scope, &Cancel::never()).expect("pairs can be solved");
    let all = go_on(Scope::All);
    assert_eq!(all.pairs_checked, all.pairs_total, "{what}");
    let (critical, found, questions) = asked(p, x, Scope::All, u64::MAX);
    assert!(critical == p.criticality(x, &Cancel::never()) && critical.is_some() && found == all, "{what}");
    // often: no more than 16 pairs between two questions
    assert!(questions >= all.pairs_total / 16, "{what}: {questions} questions for {all:?}");
    let sample = Scope::Sample { pairs: all.pairs_total - 1, seed: 4 };
    for scope in [Scope::All, sample] {
        for answers in [0, 1, 5] {
            let (critical, found, _) = asked(p, x, scope, answers);
            assert!(found.pairs_checked <= 16 * answers, "{what}: {found:?} after {answers} answers");
            assert!(found.pairs_checked < found.pairs_total && !found.holds(f64::INFINITY), "{what}");
            assert_eq!(found.pairs_total, all.pairs_total, "{what}");
            assert!(answers > 0 || critical.is_none(), "{what}");
        }
    }
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| (go_on(Scope::All), go_on(sample)))
    };
    assert!(on(1) == on(3), "{what}: threads");
}

#[test]
fn a_check_that_is_stopped_says_how_far_it_came() {
    for (name, lambda) in PROBLEMS {
        let p = problem(name, lambda, 40, 3, 6);
        stops(name, &p, &usual_start(&p, 1));
    }
    let f = NonlinearEig::laplacian_1d(40, 5.0).unwrap();
    let p = NonlinearEigProblem::new(f, NoPenalty, 3).unwrap();
    stops("nonlinear-eig", &p, &p.start("random", 1).unwrap());
    let a = gaussian(80, 40, 2);
    let c = Mat::from_fn(40, 40, |i, j| (0..80).map(|k| a[(k, i)] * a[(k, j)]).sum::<f64>());
    let p = JProblem::hyperbolic_eig(c.as_ref(), crate::common::jorth::shuffled(15, 40, 2)).unwrap();
    stops("hyperbolic-eig", &p, &p.start("random", 1).unwrap());
}

/// The search for the shortest residual asks in every iteration.
#[test]
fn criticality_can_be_stopped() {
    let p = problem("l1-pca", 1.5, 40, 3, 6);
    let x = solve(&p, 2, 1e-9).x;
    let (always, questions) = patient(u64::MAX);
    let all = p.criticality(&x, &always);
    assert_eq!(all, Some(criticality(&p, &x)));
    let needed = questions.load(Ordering::Relaxed);
    assert!(needed > 10, "{needed} iterations");
    for answers in [0, 1, needed - 1] {
        let (cancel, asked) = patient(answers);
        assert_eq!(p.criticality(&x, &cancel), None);
        assert_eq!(asked.load(Ordering::Relaxed), answers + 1, "it went on after a no");
    }
}
