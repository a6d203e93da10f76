//! Sparse PCA with the number of nonzeros given: against all supports of small problems, and what must hold
//! whatever the data are.

use orthopt::RowMat;
use orthopt::bound::{Options, lower_bound};
use orthopt::cancel::Cancel;
use orthopt::family::Effort;
use orthopt::family::{Family, Request};
use orthopt::objective::Evaluate;
use orthopt::problem::{Cardinality, CardinalityProblem, PcaData, Storage, covariance_model};
use orthopt::solve::{Solution, Stopping};
use orthopt_core::constraint::stiefel;
use proptest::prelude::*;

/// m samples of n variables, some of them correlated.
fn data(m: usize, n: usize, seed: u64) -> faer::Mat<f64> {
    let g = |i: usize, j: usize| {
        let t = (i as u64 * 7919 + j as u64 * 104_729 + seed * 1_299_709) as f64;
        (t * 0.618_033_988_75).fract() - 0.5 + (t.sin() * 43_758.545).fract()
    };
    faer::Mat::from_fn(m, n, |i, j| g(i, j) + 0.8 * g(i, n + j % 2) + 0.5 * g(i, n + 3 + j % 3))
}

fn problem(
    a: &faer::Mat<f64>,
    r: usize,
    limits: Cardinality,
    lambda: f64,
    nonneg: bool,
) -> CardinalityProblem {
    let f = covariance_model(&PcaData::Dense(a.as_ref()), Storage::Auto).unwrap();
    CardinalityProblem::new(f, r, limits, lambda, nonneg).unwrap()
}

fn solve(p: &CardinalityProblem, seed: u64, iterations: Option<u64>) -> Solution {
    let wanted = Request { seed: Some(seed), effort: Some(Effort::Quick), ..Default::default() };
    let stopping = Stopping { max_iters: iterations, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    p.plan(&wanted).unwrap().run(p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap()
}

fn feasible(p: &CardinalityProblem, x: &RowMat) {
    assert_eq!(p.evaluated(x), (p.value(x), p.objective(x)));
    assert!(stiefel::feasibility(x) <= 1e-12, "{:e}", stiefel::feasibility(x));
    assert!(p.limits().allows(x), "{:?}", p.limits());
    assert!(!p.requires_nonneg() || x.data().iter().all(|v| *v >= 0.0));
}

/// The largest ½ tr(XᵀCX) over X with two columns on the given supports (bits), from many starts: each column is
/// solved exactly in turn, and the second is orthogonal to the first.
fn on_supports(c: &RowMat, sets: [u32; 2]) -> f64 {
    let n = c.nrows();
    let rows = |s: u32| (0..n).filter(|i| s >> i & 1 == 1).collect::<Vec<_>>();
    let (s, t) = (rows(sets[0]), rows(sets[1]));
    let form =
        |x: &[f64]| -> f64 { (0..n).map(|i| (0..n).map(|j| x[i] * c.get(i, j) * x[j]).sum::<f64>()).sum() };
    let mut best = f64::NEG_INFINITY;
    let starts = if sets[0] & sets[1] == 0 { 1 } else { 25 };
    for start in 0..starts {
        let mut x = vec![vec![0.0; n]; 2];
        for (k, set) in [&s, &t].into_iter().enumerate() {
            for i in set {
                x[k][*i] = ((start * 31 + i * 7 + k * 13 + 1) as f64).sin();
            }
        }
        let mut value = f64::NEG_INFINITY;
        for _ in 0..400 {
            for (k, set) in [&s, &t].into_iter().enumerate() {
                // power steps on the complement of the other column, shifted by nothing as C is a Gram matrix
                for _ in 0..4 {
                    let other: Vec<f64> =
                        (0..n).map(|i| if set.contains(&i) { x[1 - k][i] } else { 0.0 }).collect();
                    let norm: f64 = other.iter().map(|v| v * v).sum();
                    let mut w: Vec<f64> =
                        (0..n)
                            .map(|i| {
                                if set.contains(&i) {
                                    (0..n).map(|j| c.get(i, j) * x[k][j]).sum()
                                } else {
                                    0.0
                                }
                            })
                            .collect();
                    for _ in 0..2 {
                        let dot: f64 = w.iter().zip(&other).map(|(a, b)| a * b).sum();
                        if norm > 1e-20 {
                            w.iter_mut().zip(&other).for_each(|(a, b)| *a -= dot / norm * b);
                        }
                    }
                    let length = w.iter().map(|v| v * v).sum::<f64>().sqrt();
                    if length > 1e-9 {
                        x[k] = w.iter().map(|v| v / length).collect();
                    }
                }
            }
            let dot: f64 = x[0].iter().zip(&x[1]).map(|(a, b)| a * b).sum();
            let lengths = x.iter().all(|v| (v.iter().map(|e| e * e).sum::<f64>() - 1.0).abs() < 1e-9);
            let now = if dot.abs() < 1e-9 && lengths {
                0.5 * (form(&x[0]) + form(&x[1]))
            } else {
                f64::NEG_INFINITY
            };
            if now.is_finite() && now - value <= 1e-14 * now.abs() && value.is_finite() {
                break;
            }
            value = now.max(value);
        }
        best = best.max(value);
    }
    best
}

fn subsets(n: usize, most: usize) -> Vec<u32> {
    (1..1u32 << n).filter(|s| s.count_ones() as usize == most.min(n)).collect()
}

#[test]
fn reaches_the_best_of_all_supports() {
    for (seed, n, counts) in [(1, 6, [3, 3]), (2, 7, [4, 2]), (3, 6, [5, 4]), (4, 5, [4, 4]), (5, 7, [2, 2])]
    {
        let a = data(12, n, seed);
        let c = orthopt_linalg::products::gram(&RowMat::from_mat(a.as_ref()));
        let mut best = f64::NEG_INFINITY;
        for s in subsets(n, counts[0]) {
            for t in subsets(n, counts[1]) {
                best = best.max(on_supports(&c, [s, t]));
            }
        }
        let p = problem(&a, 2, Cardinality::Components(counts.to_vec()), 0.0, false);
        let found = solve(&p, 0, None);
        feasible(&p, &found.x);
        let f = found.objective.total;
        assert!(f <= -best + 1e-8 * best, "seed {seed}: {f} above {}", -best);
        let (smooth, kind) = p.bounded().unwrap();
        let bound =
            lower_bound(smooth, 2, &kind, None, &Options::default(), &Cancel::never(), &|_| ()).unwrap();
        assert!(bound.value <= f, "{} {f}", bound.value);
    }
}

#[test]
fn selects_the_best_variables() {
    for (seed, n, s, r, lambda) in [
        (1, 8, 4, 2, 0.0),
        (2, 9, 3, 3, 0.0),
        (3, 7, 5, 1, 0.0),
        (4, 8, 8, 2, 1.0),
        (5, 9, 9, 3, 2.0),
        (6, 8, 5, 2, 0.4),
    ] {
        let a = data(15, n, seed);
        let c = orthopt_linalg::products::gram(&RowMat::from_mat(a.as_ref()));
        let best_of = |size: usize| {
            let mut best = 0.0f64;
            for set in subsets(n, size) {
                let rows: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
                let part = RowMat::from_fn(size, size, |i, j| c.get(rows[i], rows[j]));
                let values = orthopt_linalg::eigen::symmetric_eigenvalues(&part).unwrap();
                best = best.max(0.5 * values[..r].iter().sum::<f64>());
            }
            lambda * size as f64 - best
        };
        let least = if lambda > 0.0 { r } else { s };
        let best = (least..=s).map(best_of).fold(f64::INFINITY, f64::min);
        let p = problem(&a, r, Cardinality::Rows(s), lambda, false);
        let found = solve(&p, 0, None);
        feasible(&p, &found.x);
        let off = (found.objective.total - best).abs();
        assert!(off <= 1e-9 * best.abs(), "{lambda}: {} {best}", found.objective.total);
        let rows = orthopt_core::problem::limits::nonzero_rows(&found.x).len();
        assert!((found.objective.nonsmooth - lambda * rows as f64).abs() <= 1e-12, "{rows}");
    }
}

#[test]
fn a_total_is_shared_out_at_least_as_well_as_by_hand() {
    let a = data(30, 10, 7);
    let total = solve(&problem(&a, 2, Cardinality::Total(6), 0.0, false), 0, None);
    for counts in [[1, 5], [2, 4], [3, 3]] {
        let p = problem(&a, 2, Cardinality::Components(counts.to_vec()), 0.0, false);
        let by_hand = solve(&p, 0, None);
        feasible(&p, &by_hand.x);
        assert!(total.objective.total <= by_hand.objective.total + 1e-9, "{counts:?}");
    }
}

#[test]
fn no_limit_is_plain_pca_and_a_weight_drops_entries() {
    let a = data(20, 6, 3);
    let c = orthopt_linalg::products::gram(&RowMat::from_mat(a.as_ref()));
    let values = orthopt_linalg::eigen::symmetric_eigenvalues(&c).unwrap();
    let p = problem(&a, 2, Cardinality::Components(vec![60, 60]), 0.0, false);
    let found = solve(&p, 0, None);
    let best: f64 = -0.5 * (values[0] + values[1]);
    assert!((found.objective.total - best).abs() <= 1e-8 * best.abs(), "{} {best}", found.objective.total);
    let p = problem(&a, 2, Cardinality::Components(vec![6, 6]), 0.2 * values[0], false);
    let sparse = solve(&p, 0, None);
    feasible(&p, &sparse.x);
    assert!(
        sparse.nnz < 12 && sparse.notes.iter().any(|note| note.to_string().contains("fewer than allowed"))
    );
}

#[test]
fn the_same_x_for_any_number_of_threads_and_never_worse_with_more_iterations() {
    let a = data(25, 40, 11);
    let p = problem(&a, 3, Cardinality::Components(vec![6, 5, 4]), 0.0, false);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| solve(&p, 5, None))
    };
    let (one, three) = (on(1), on(3));
    assert_eq!(one.x, three.x);
    let mut last = f64::INFINITY;
    for most in [1, 5, 20, 100, 400, 1600] {
        let found = solve(&p, 5, Some(most));
        feasible(&p, &found.x);
        assert!(found.objective.total <= last, "{most}: {} after {last}", found.objective.total);
        last = found.objective.total;
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let a = data(9, 5, 1);
    let refused = |limits: Cardinality, r: usize, lambda: f64, part: &str| {
        let f = covariance_model(&PcaData::Dense(a.as_ref()), Storage::Auto).unwrap();
        let error = CardinalityProblem::new(f, r, limits, lambda, false).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    refused(Cardinality::Components(vec![2, 2]), 3, 0.0, "3, one for each component");
    refused(Cardinality::Components(vec![2, 0]), 2, 0.0, "at least 1");
    refused(Cardinality::Total(2), 3, 0.0, "at least 3");
    refused(Cardinality::Rows(1), 2, 0.0, "at least 2");

    refused(Cardinality::Total(6), 6, 0.0, "rank 6 exceeds");
    refused(Cardinality::Total(6), 2, -1.0, "lambda is -1");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Feasible for any data and limits, at every number of iterations.
    #[test]
    fn every_point_is_feasible(
        seed in 0u64..1000,
        n in 2usize..12,
        r in 1usize..5,
        kind in 0usize..3,
        size in 1usize..9,
        nonneg: bool,
        most in 1u64..60,
    ) {
        let r = r.min(n);
        let limits = match kind {
            0 => Cardinality::Components((0..r).map(|k| 1 + (size + k) % 9).collect()),
            1 => Cardinality::Total(r + size),
            _ => Cardinality::Rows(r + size % 4),
        };
        let a = data(3 + n / 2, n, seed);
        let lambda = 0.05 * (seed % 3) as f64;
        let p = problem(&a, r, limits, lambda, nonneg);
        let found = solve(&p, seed, Some(most));
        feasible(&p, &found.x);
        // F as reported takes entries up to 1e-6 as zero; after few iterations there may be some
        let tiny = if matches!(p.limits(), Cardinality::Rows(_)) {
            0 // rows are those that are not exactly zero
        } else {
            found.x.data().iter().filter(|v| **v != 0.0 && v.abs() <= 1e-6).count()
        };
        let exact = p.value(&found.x) - lambda * tiny as f64;
        prop_assert!((exact - found.objective.total).abs() <= 1e-6 * (1.0 + found.objective.total.abs()));
    }
}
