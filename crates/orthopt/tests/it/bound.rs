//! Global bounds: golden values, degenerate input, errors, ends, what can be checked from outside.

use orthopt::RowMat;
use orthopt::bound::{Bound, Dual, End, Kind, Method, Options, Proof, lower_bound};
use orthopt::cancel::Cancel;
use orthopt::smooth::{AnySmooth, DenseQuadratic};
use orthopt_data::Matrix;
use orthopt_linalg::eigen::symmetric_eigenvalues;

fn negative(c: &RowMat) -> AnySmooth {
    AnySmooth::Dense(DenseQuadratic::negative(c.as_mat()).unwrap())
}

fn pitprops() -> RowMat {
    let data = orthopt_data::load("builtin:pitprops", &Default::default()).unwrap();
    let Matrix::Dense(c) = data.matrix else { panic!("a dense table") };
    RowMat::from_mat(c.as_ref())
}

/// A Gram matrix of rank m (n × n).
fn covariance(n: usize, m: usize, seed: usize) -> RowMat {
    let a = RowMat::from_fn(m, n, |i, j| ((i * i * 3 + (j + seed) * (2 * i + 1)) as f64 * 0.713).sin());
    orthopt_linalg::products::gram(&a)
}

fn bound(c: &RowMat, r: usize, kind: &Kind, nodes: u64) -> Bound {
    let options = Options { nodes, ..Options::default() };
    lower_bound(&negative(c), r, kind, None, &options, &Cancel::never(), &|_| ()).unwrap()
}

fn half_sum(c: &RowMat, r: usize) -> f64 {
    0.5 * symmetric_eigenvalues(c).unwrap()[..r].iter().sum::<f64>()
}

#[test]
fn pitprops_relaxations_have_the_known_values() {
    let c = pitprops();
    let known = [
        (2, 0.05, 2.5971),
        (2, 0.1, 2.0677),
        (2, 0.2, 1.2705),
        (3, 0.05, 3.3751),
        (3, 0.1, 2.6862),
        (3, 0.2, 1.7436),
    ];
    for (r, lambda, known) in known {
        let found = bound(&c, r, &Kind::L0 { lambda }, 0);
        assert!((-found.value - known).abs() <= 0.003 * known, "r {r} λ {lambda}: {}", found.value);
        assert_eq!((found.method, found.nodes, found.proof), (Method::Fantope, 0, None));
    }
    for (r, known) in [(2, 3.01422), (3, 3.6965)] {
        let found = bound(&c, r, &Kind::Nonnegative, 0);
        assert!(-found.value <= known + 5e-5, "r {r}: {}", found.value);
    }
}

#[test]
fn pitprops_is_solved_for_larger_lambda() {
    let c = pitprops();
    for (r, lambda, known) in
        [(2, 0.1, 2.039095), (2, 0.2, 1.244077), (3, 0.1, 2.636819401), (3, 0.2, 1.716239)]
    {
        let found = bound(&c, r, &Kind::L0 { lambda }, 10_000);
        assert_eq!(found.proof, Some(Proof::Optimal), "r {r} λ {lambda}: {:?}", found.gap);
        assert!((-found.value - known).abs() <= 1e-6, "r {r} λ {lambda}: {}", found.value);
        let objective = found.objective.unwrap();
        assert!(objective >= found.value && objective - found.value <= 1e-8);
        assert!(orthopt_core::constraint::stiefel::feasibility(found.x.as_ref().unwrap()) <= 1e-13);
    }
}

/// Small λ, where supports meet: few nodes close what a relaxation of XXᵀ alone leaves at 3 to 4 %.
#[test]
fn pitprops_is_solved_for_small_lambda() {
    let c = pitprops();
    for (lambda, f) in [(0.05, -2.4890948), (0.02, -2.9146849)] {
        let found = bound(&c, 2, &Kind::L0 { lambda }, u64::MAX);
        assert_eq!(found.proof, Some(Proof::Optimal), "{lambda}: {found:?}");
        assert!((found.value - f).abs() <= 1e-7 && found.nodes <= 600, "{} {}", found.value, found.nodes);
    }
}

#[test]
fn pitprops_is_solved_for_nonnegative_components() {
    for (r, best) in [(2, 3.00845), (3, 3.67676)] {
        let found = bound(&pitprops(), r, &Kind::Nonnegative, 10_000);
        assert_eq!(found.proof, Some(Proof::Optimal), "r {r}: {:?}", found.gap);
        assert!((-found.value - best).abs() <= 1e-5, "r {r}: {}", found.value);
        assert!(found.x.unwrap().data().iter().all(|v| *v >= 0.0));
    }
}

/// Branch and bound agrees with the dynamic programme, which it does not use above 18 variables.
#[test]
fn variables_without_variance_change_nothing() {
    let small = covariance(8, 12, 3);
    let large = RowMat::from_fn(20, 20, |i, j| if i < 8 && j < 8 { small.get(i, j) } else { 0.0 });
    for (r, kind) in [(2, Kind::L0 { lambda: 0.8 }), (2, Kind::Nonnegative), (1, Kind::L0 { lambda: 0.3 })] {
        let (a, b) = (bound(&small, r, &kind, 50_000), bound(&large, r, &kind, 50_000));
        assert_eq!(a.proof, Some(Proof::Optimal), "{kind:?} {:?}", a.gap);
        assert_eq!(b.proof, Some(Proof::Optimal), "{kind:?} {:?}", b.gap);
        assert!((a.value - b.value).abs() <= 1e-8 * a.value.abs(), "{kind:?}: {} {}", a.value, b.value);
    }
}

#[test]
fn without_penalty_it_is_the_sum_of_eigenvalues() {
    for (n, m, r) in [(9, 20, 3), (9, 4, 5), (6, 9, 6), (5, 7, 1), (200, 30, 4)] {
        let c = covariance(n, m, 1);
        for kind in [Kind::L0 { lambda: 0.0 }, Kind::L1 { lambda: 0.0 }] {
            let found = bound(&c, r, &kind, 0).value;
            let known = -half_sum(&c, r);
            assert!(found <= known && known - found <= 1e-8 * known.abs(), "{n} {r}: {found} {known}");
        }
    }
}

/// Of at most s rows, each at a price, against all sets of rows; and closer than what their nonzeros say.
#[test]
fn bounds_for_rows_hold() {
    for (n, s, r, lambda, seed) in
        [(7, 3, 2, 0.0, 1), (7, 7, 2, 0.2, 2), (6, 4, 3, 0.1, 3), (6, 6, 1, 0.3, 4)]
    {
        let c = covariance(n, 12, seed);
        let mut best = f64::INFINITY;
        for set in (0u32..1 << n).filter(|set| (r..=s).contains(&(set.count_ones() as usize))) {
            let rows: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
            let part = RowMat::from_fn(rows.len(), rows.len(), |a, b| c.get(rows[a], rows[b]));
            best = best.min(lambda * rows.len() as f64 - half_sum(&part, r));
        }
        let found = bound(&c, r, &Kind::Rows { rows: s, lambda }, 0).value;
        assert!(found <= best + 1e-9 * best.abs(), "{n} {s} {r}: {found} {best}");
        let kind = Kind::Total { nonzeros: s * r, lambda: lambda / r as f64 };
        let by_entries = bound(&c, r, &kind, 0).value;
        assert!(found >= by_entries - 1e-6 * best.abs(), "{found} {by_entries}");
    }
}

#[test]
fn degenerate_matrices_have_exact_bounds() {
    let zero = RowMat::zeros(4, 4);
    let found = bound(&zero, 2, &Kind::L0 { lambda: 0.5 }, 100);
    assert!((found.value + -1.0).abs() <= 1e-12 && found.proof.is_some(), "{}", found.value);
    assert!(bound(&zero, 2, &Kind::Nonnegative, 0).value.abs() <= 1e-200);
    // r = n: X is orthogonal, and ‖X‖₀ ≥ n
    let c = covariance(6, 9, 2);
    let found = bound(&c, 6, &Kind::L0 { lambda: 0.3 }, 0).value;
    let known = 6.0 * 0.3 - half_sum(&c, 6);
    assert!(found <= known && known - found <= 1e-9 * known.abs());
    // one nonzero a column: the largest diagonal entries
    let mut diagonal: Vec<f64> = (0..6).map(|i| -0.5 * c.get(i, i)).collect();
    diagonal.sort_by(f64::total_cmp);
    let total = bound(&c, 2, &Kind::Total { nonzeros: 2, lambda: 0.0 }, 0).value;
    assert!(total <= diagonal[0] + diagonal[1] + 1e-9);
    assert!(bound(&c, 2, &Kind::Total { nonzeros: 12, lambda: 0.0 }, 0).value <= 1e-7 - half_sum(&c, 2));
}

#[test]
fn scales_cancel() {
    let c = covariance(7, 9, 5);
    let known = bound(&c, 2, &Kind::L0 { lambda: 0.4 }, 0).value;
    for scale in [2f64.powi(-900), 2f64.powi(-30), 2f64.powi(40), 2f64.powi(900)] {
        let scaled = RowMat::from_fn(7, 7, |i, j| scale * c.get(i, j));
        let found = bound(&scaled, 2, &Kind::L0 { lambda: scale * 0.4 }, 0).value;
        assert!((found / scale - known).abs() <= 1e-12 * known.abs(), "{scale:e}: {found:e}");
    }
    assert!(bound(&c, 2, &Kind::L0 { lambda: 1e300 }, 0).value > 0.0);
}

/// The check of docs/bounds.md: the bound that C and Z prove for a problem; `None` where they prove none, or where the
/// numbers beside them are those of another problem.
fn check(dual: &Dual, kind: &Kind) -> Option<f64> {
    let (n, r) = (dual.c.nrows(), dual.rank);
    let root = (r as f64).sqrt();
    let top = |m: &dyn Fn(usize, usize) -> f64| -> f64 {
        symmetric_eigenvalues(&RowMat::from_fn(n, n, m)).unwrap()[..r].iter().sum()
    };
    let largest = dual.z.data().iter().fold(0.0f64, |most, v| most.max(v.abs()));
    let (mut at_least, mut at_most) = (0.0, f64::INFINITY);
    let (lambda, budget) = match kind {
        Kind::L0 { lambda } => (*lambda, None),
        Kind::Total { nonzeros, lambda } => (*lambda, Some(*nonzeros as f64)),
        Kind::Counts { nonzeros, lambda } => (*lambda, Some(nonzeros.iter().sum::<usize>() as f64)),
        Kind::Rows { rows, lambda } => (lambda / root, Some(*rows as f64 * root)),
        Kind::Nonnegative => (0.0, None),
        Kind::L1 { lambda } => {
            let mut tau = (n as f64).sqrt();
            if let Some(f) = dual.objective {
                at_most = f;
                tau =
                    tau.min(((top(&|i, j| 0.5 * dual.c.get(i, j)) + f) / lambda - (r as f64 - 1.0)).max(1.0));
            }
            let weight = lambda / (tau + 1.0);
            at_least = r as f64 * (lambda - weight);
            (weight, None)
        }
        _ => return None,
    };
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs();
    let same = near(lambda, dual.lambda) && dual.budget.is_some() == budget.is_some();
    if !same || budget.zip(dual.budget).is_some_and(|(a, b)| !near(a, b)) {
        return None;
    }
    let extra = match kind {
        Kind::Nonnegative if dual.z.data().iter().all(|v| *v <= 0.0) => 0.0,
        Kind::Nonnegative => return None,
        _ if largest <= lambda => 0.0,
        _ => budget? * (largest - lambda),
    };
    Some((-(top(&|i, j| 0.5 * dual.c.get(i, j) - dual.z.get(i, j)) + extra) + at_least).min(at_most))
}

/// All kinds, from C, Z and the problem alone; and a problem that it is not is refused.
#[test]
fn one_check_serves_all_kinds() {
    for (n, r, seed) in [(9, 2, 1), (12, 3, 5), (8, 1, 3)] {
        let c = covariance(n, 14, seed);
        let f = negative(&c);
        let x = orthopt::start::leading_eigenvectors(&f, r).unwrap();
        let kinds = [
            Kind::L0 { lambda: 0.4 },
            Kind::Total { nonzeros: 2 * r, lambda: 0.0 },
            Kind::Total { nonzeros: 2 * r + 1, lambda: 0.2 },
            Kind::Counts { nonzeros: (2..r + 2).collect(), lambda: 0.1 },
            Kind::Rows { rows: r + 1, lambda: 0.0 },
            Kind::Rows { rows: r + 2, lambda: 0.3 },
            Kind::Nonnegative,
            Kind::L1 { lambda: 0.3 },
        ];
        for kind in &kinds {
            let dual = bound(&c, r, kind, 0).dual(&f, r);
            let known = check(&dual, kind).unwrap_or_else(|| panic!("{kind:?} is refused"));
            let size = half_sum(&c, r) + known.abs();
            assert!((known - dual.relaxation).abs() <= 1e-9 * size, "{kind:?}: {known} {}", dual.relaxation);
            assert!(dual.bound >= dual.relaxation, "{kind:?}");
            assert!(dual.method != Method::Fantope || dual.bound == dual.relaxation, "{kind:?}");
            // for one column rows are entries, and two of these are the same problem
            for other in kinds.iter().filter(|other| *other != kind && r > 1) {
                assert!(check(&dual, other).is_none(), "{kind:?} passes for {other:?}");
            }
            // the constant that is stored is the one that the check adds
            let m = RowMat::from_fn(n, n, |i, j| 0.5 * c.get(i, j) - dual.z.get(i, j));
            let sum: f64 = symmetric_eigenvalues(&m).unwrap()[..r].iter().sum();
            assert!((known + sum + dual.constant).abs() <= 1e-9 * size, "{kind:?}");
        }
        // with an incumbent l1 has a larger weight, which depends on F
        let kind = Kind::L1 { lambda: 2.0 };
        let options = Options::default();
        let dual =
            lower_bound(&f, r, &kind, Some(&x), &options, &Cancel::never(), &|_| ()).unwrap().dual(&f, r);
        let known = check(&dual, &kind).unwrap();
        assert!(
            (known - dual.bound).abs() <= 1e-9 * (half_sum(&c, r) + known.abs()),
            "{known} {}",
            dual.bound
        );
        // a weight above that of τ = √n is refused without the F that it needs; for one column F gives a smaller τ
        let needed = dual.lambda > (1.0 + 1e-6) * 2.0 / ((n as f64).sqrt() + 1.0);
        assert!(needed || r > 1, "{}", dual.lambda);
        assert_eq!(check(&Dual { objective: None, ..dual }, &kind).is_none(), needed);
    }
}

/// With K = s, the number of variables, ‖XXᵀ‖₁,₁ ≤ K is false: what follows from it is above an F that exists.
#[test]
fn the_obvious_budget_of_rows_is_refused() {
    // Y = I − vvᵀ with v = (1, 1, 1)/√3 is XXᵀ for an X on three rows, and ‖Y‖₁,₁ = 4
    let on = |i: usize| f64::from(u8::from(i < 3));
    let c = RowMat::from_fn(5, 5, |i, j| on(i) * on(j) * (f64::from(u8::from(i == j)) - 1.0 / 3.0));
    let (f, kind, wrong) =
        (negative(&c), Kind::Rows { rows: 3, lambda: 0.0 }, Kind::Total { nonzeros: 3, lambda: 0.0 });
    let (right, false_) = (bound(&c, 2, &kind, 0), bound(&c, 2, &wrong, 0));
    assert!(right.value <= -1.0 && false_.value > -0.95, "{} {}", right.value, false_.value);
    assert!((check(&right.dual(&f, 2), &kind).unwrap() - right.relaxation.bound).abs() <= 1e-9);
    assert!(check(&false_.dual(&f, 2), &kind).is_none() && check(&right.dual(&f, 2), &wrong).is_none());
}

/// The check of a saved dual matrix in docs/mathematics.md, also after screening.
#[test]
fn the_dual_matrix_proves_the_bound() {
    let c = covariance(30, 5, 4);
    for (kind, limit) in
        [(Kind::L0 { lambda: 1.2 }, 1.2), (Kind::L0 { lambda: 0.2 }, 0.2), (Kind::Nonnegative, 0.0)]
    {
        let found = bound(&c, 3, &kind, 0);
        let z = found.relaxation.dual_matrix(&negative(&c));
        let allowed = |v: &f64| if limit > 0.0 { v.abs() <= limit } else { *v <= 0.0 };
        assert!(z.data().iter().all(allowed));
        let m = RowMat::from_fn(30, 30, |i, j| 0.5 * c.get(i, j) - z.get(i, j));
        let sum: f64 = symmetric_eigenvalues(&m).unwrap()[..3].iter().sum();
        assert!((sum + found.value).abs() <= 1e-9 * sum.abs(), "{kind:?}: {sum} {}", found.value);
        let start = found.relaxation.leading_eigenvectors(3).unwrap();
        assert!((start.nrows(), start.ncols()) == (30, 3) && start.find_non_finite().is_none());
    }
}

#[test]
fn counts_of_their_own_are_never_worse_than_their_sum() {
    let c = covariance(8, 12, 6);
    for counts in [vec![1, 7], vec![2, 2], vec![1, 1, 8]] {
        let (r, nonzeros) = (counts.len(), counts.iter().sum());
        let apart = bound(&c, r, &Kind::Counts { nonzeros: counts.clone(), lambda: 0.0 }, 0);
        let sum = bound(&c, r, &Kind::Total { nonzeros, lambda: 0.0 }, 0);
        assert!(apart.value >= sum.value - 1e-5 * sum.value.abs(), "{counts:?}");
        assert!(apart.value <= 0.0);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let c = covariance(20, 30, 7);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            [Kind::L0 { lambda: 1.5 }, Kind::Nonnegative].map(|kind| {
                let found = bound(&c, 2, &kind, 40);
                (found.value.to_bits(), found.nodes, found.objective.map(f64::to_bits))
            })
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn ends_with_the_best_bound_so_far() {
    let c = covariance(12, 20, 8);
    let f = negative(&c);
    let kind = Kind::L0 { lambda: 0.5 };
    let full = bound(&c, 2, &kind, 0).value;
    for (options, end) in [
        (Options::default(), End::Interrupted),
        (Options { iterations: 10, ..Options::default() }, End::Limit),
        (Options { seconds: Some(0.0), ..Options::default() }, End::Time),
    ] {
        let cancel = Cancel::when(move || end == End::Interrupted);
        let found = lower_bound(&f, 2, &kind, None, &options, &cancel, &|_| ()).unwrap();
        assert_eq!(found.end, end);
        assert!(found.value.is_finite() && found.value <= full + 1e-9, "{end:?}: {} {full}", found.value);
    }
    let again = Options { warm: Some(bound(&c, 2, &kind, 0).relaxation), ..Options::default() };
    let warm = lower_bound(&f, 2, &kind, None, &again, &Cancel::never(), &|_| ()).unwrap();
    assert!((warm.value - full).abs() <= 1e-6 * full.abs());
}

#[test]
fn errors_say_what_is_wrong() {
    let f = negative(&covariance(5, 8, 9));
    let refused = |r: usize, kind: Kind, options: Options| {
        lower_bound(&f, r, &kind, None, &options, &Cancel::never(), &|_| ()).unwrap_err().to_string()
    };
    let plain = Options::default;
    assert!(refused(6, Kind::Nonnegative, plain()).contains("rank 6 exceeds"));
    assert!(refused(2, Kind::L0 { lambda: -1.0 }, plain()).contains("lambda is -1"));
    assert!(refused(2, Kind::L1 { lambda: f64::NAN }, plain()).contains("NaN"));
    assert!(refused(3, Kind::Total { nonzeros: 2, lambda: 0.0 }, plain()).contains("at least 3"));
    assert!(refused(3, Kind::Rows { rows: 2, lambda: 0.0 }, plain()).contains("at least 3"));
    assert!(refused(3, Kind::Counts { nonzeros: vec![1, 2], lambda: 0.0 }, plain()).contains("2 numbers"));
    let few = Options { variables: 3, ..plain() };
    let message = refused(2, Kind::Nonnegative, few);
    assert!(message.contains("no bound") && message.contains("limit is 3"), "{message}");
    let x = RowMat::zeros(5, 2);
    let kind = Kind::Nonnegative;
    assert!(lower_bound(&f, 2, &kind, Some(&x), &plain(), &Cancel::never(), &|_| ()).is_err());
}
