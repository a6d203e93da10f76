//! Block-2 stationarity against the slow twin of the pair searches.

use crate::common::pair::linear_part;
use crate::common::{
    PROBLEMS, exact_objective, gaussian, gaussian_rows, gradient, on_data, penalty, problem, rng, solve,
    thinned, usual_start,
};
use faer::Mat;
use orthopt::certify::Certificate;
use orthopt::certify::{Scope, block_stationarity, criticality};
use orthopt::constraint::stiefel;
use orthopt::linalg::RowMat;
use orthopt::nonsmooth::Nonsmooth;
use orthopt::pair::{PairModel, slow};
use orthopt::problem::{PcaProblem, Problem};
use orthopt::smooth::{AnySmooth, DenseQuadratic, Quadratic};

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
        for (pairs, seed) in [(1, 0), (20, 0), (20, 1), (10_000, 0), (0, 0)] {
            let sample = block_stationarity(&p, &x, Scope::Sample { pairs, seed });
            assert_eq!((sample.pairs_checked, sample.pairs_total), (pairs, all.pairs_total), "{name}");
            assert!(sample.max_decrease <= all.max_decrease, "{name}: {sample:?} {all:?}");
            assert!(sample == block_stationarity(&p, &x, Scope::Sample { pairs, seed }), "{name}");
            seen.push(sample);
        }
        assert!(seen[1] != seen[2], "{name}: the seed does not matter");
        assert_eq!(seen[3].max_decrease, all.max_decrease, "{name}: 10,000 draws miss a pair of 300");
        assert!((seen[3].mean_distance - all.mean_distance).abs() < 0.1 * (1.0 + all.mean_distance));
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
