//! Its slow twin is enumeration: all assignments of few variables to few components.

use rand::RngExt;

use super::*;
use orthopt_core::constraint::stiefel::feasibility;
use orthopt_core::smooth::{AnySmooth, DenseGram, DenseQuadratic};
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::factor::transpose;

const NEVER: &dyn Fn() -> bool = &|| false;

/// A (m × n) of few factors and noise; ties and zeros where `kind` says so.
fn table(m: usize, n: usize, seed: u64, kind: usize) -> RowMat {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut number = || rng.random_range(-1.0..1.0f64);
    let factors = RowMat::from_fn(m, 2, |_, _| number());
    let noise = RowMat::from_fn(m, n, |_, _| number());
    RowMat::from_fn(m, n, |i, j| match kind {
        0 => factors.get(i, j % 2) * (1.0 + j as f64 / n as f64) + 0.6 * noise.get(i, j),
        1 => factors.get(i, j % 2),           // rank 2, columns repeated
        2 if j % 3 == 0 => 0.0,               // columns of zeros
        3 => (noise.get(i, j) * 2.0).round(), // ties
        4 => 0.0,
        _ => noise.get(i, j),
    })
}

/// Two representations of a table: samples, and C.
fn stored(a: &RowMat) -> Vec<AnySmooth> {
    let gram = orthopt_linalg::products::gram(a);
    vec![
        AnySmooth::DenseGram(DenseGram::from_transposed(transpose(a))),
        AnySmooth::Dense(DenseQuadratic::from_negative_gram(RowMat::from_fn(
            a.ncols(),
            a.ncols(),
            |i, j| -gram.get(i, j),
        ))),
    ]
}

fn requests(n: usize, r: usize, unit: f64) -> Vec<Request> {
    let mut all = vec![
        Request::new(0.1 * unit, Limits::Free),
        Request::new(0.0, Limits::Free),
        Request::new(1e3 * unit, Limits::Free),
        Request::new(0.0, Limits::Each((0..r).map(|k| 1 + (k + 1) % n.min(3)).collect())),
        Request::new(0.05 * unit, Limits::Each(vec![n; r])),
        Request::new(0.0, Limits::Total { total: n.min(r + 2), min: 1, max: n }),
    ];
    if n >= 2 * r {
        all.push(Request::new(0.0, Limits::Total { total: n.min(2 * r + 1), min: 2, max: 3 }));
    }
    all
}

/// The most variance of each set of variables: the leading eigenvalue, of a subset with a leading eigenvector of one sign where X ≥ 0.
fn most_of_sets(a: &RowMat, nonneg: bool) -> Vec<f64> {
    let n = a.ncols();
    let c = orthopt_linalg::products::gram(a);
    let mut most = vec![0.0f64; 1 << n];
    for set in 1usize..1 << n {
        let own: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
        let block = RowMat::from_fn(own.len(), own.len(), |i, j| c.get(own[i], own[j]));
        let (values, vectors) = symmetric_eigenpairs(&block).unwrap();
        let signs = (0..own.len()).map(|l| vectors.get(l, 0));
        let one_sign = signs.clone().all(|v| v >= -1e-9) || signs.clone().all(|v| v <= 1e-9);
        let parts = own.iter().map(|i| most[set & !(1 << i)]).fold(0.0, f64::max);
        most[set] = if !nonneg || one_sign { values[0].max(parts) } else { parts };
    }
    most
}

/// The least F over disjoint supports within the limits.
fn enumerated(a: &RowMat, r: usize, request: &Request) -> f64 {
    let n = a.ncols();
    let most = most_of_sets(a, request.nonneg);
    let mut best = f64::INFINITY;
    for code in 0..(r + 1).pow(n as u32) {
        let (mut sets, mut rest) = (vec![0usize; r], code);
        for i in 0..n {
            if rest % (r + 1) > 0 {
                sets[rest % (r + 1) - 1] |= 1 << i;
            }
            rest /= r + 1;
        }
        let sizes: Vec<usize> = sets.iter().map(|s| s.count_ones() as usize).collect();
        let count: usize = sizes.iter().sum();
        let allowed = match &request.limits {
            Limits::Free => true,
            Limits::Each(list) => sizes.iter().zip(list).all(|(s, l)| s <= l),
            Limits::Total { total, min, max } => {
                count <= *total && sizes.iter().all(|s| (min..=max).contains(&s))
            }
        };
        if allowed && !sizes.contains(&0) {
            let explained: f64 = sets.iter().map(|s| most[*s]).sum();
            best = best.min(request.lambda * count as f64 - 0.5 * explained);
        }
    }
    best
}

fn check(x: &RowMat, request: &Request, words: &str) {
    let (n, r) = (x.nrows(), x.ncols());
    assert!(feasibility(x) <= 1e-12, "{words}: {:e}", feasibility(x));
    assert!(!request.nonneg || x.data().iter().all(|v| *v >= 0.0), "{words}");
    let sizes: Vec<usize> = (0..r).map(|k| (0..n).filter(|i| x.get(*i, k) != 0.0).count()).collect();
    assert!(sizes.iter().all(|s| *s > 0), "{words}: {sizes:?}");
    assert!((0..n).all(|i| x.row(i).iter().filter(|v| **v != 0.0).count() <= 1), "{words}: shared variables");
    match &request.limits {
        Limits::Free => {}
        Limits::Each(list) => assert!(sizes.iter().zip(list).all(|(s, l)| s <= l), "{words}: {sizes:?}"),
        Limits::Total { total, min, max } => {
            assert!(sizes.iter().sum::<usize>() <= *total, "{words}: {sizes:?}");
            assert!(sizes.iter().all(|s| (min..=max).contains(&s)), "{words}: {sizes:?}");
        }
    }
}

/// Every kind of table and of limits, as data and as C: X is feasible, F is that of X, no alternation is below the optimum, and the whole search nearly
/// always has the optimum.
#[test]
fn finds_what_enumeration_finds_and_never_more() {
    let (mut runs, mut optimal) = (0, 0);
    for (n, r) in [(6, 2), (5, 3), (4, 1), (3, 3)] {
        for seed in 0..6 {
            let kind = seed as usize;
            let a = table(4 + n / 2, n, seed, kind);
            let unit = orthopt_linalg::products::gram(&a).norm().max(1e-3);
            for mut request in requests(n, r, unit) {
                for nonneg in [false, true] {
                    request.nonneg = nonneg;
                    let least = enumerated(&a, r, &request);
                    for f in stored(&a) {
                        let words = format!("{n} {r} {seed} {request:?}");
                        let mut search = KComponents::new(&f, r, &request, seed).unwrap();
                        search.start(NEVER);
                        let first = search.found().unwrap();
                        while !search.is_idle() {
                            search.advance(NEVER);
                        }
                        let found = search.found().unwrap();
                        for found in [&first, &found] {
                            check(&found.x, &request, &words);
                            let value = objective_of(&f, &request, &found.x);
                            assert!((found.value - value).abs() <= 1e-12 * (unit + value.abs()), "{words}");
                            assert!(value >= least - 1e-9 * (unit + least.abs()), "{words}: {value} {least}");
                        }
                        runs += 1;
                        optimal += usize::from(found.value <= least + 1e-7 * (unit + least.abs()));
                    }
                }
            }
        }
    }
    assert!(100 * optimal >= 90 * runs, "{optimal} of {runs}");
}

fn objective_of(f: &AnySmooth, request: &Request, x: &RowMat) -> f64 {
    use orthopt_core::smooth::Smooth;
    let nonzeros = x.data().iter().filter(|v| **v != 0.0).count();
    f.value(x) + request.lambda * nonzeros as f64
}

/// From random directions at the whole price the value never falls, whatever the limits and the measure.
#[test]
fn alternation_never_lowers_the_value() {
    for seed in 0..40u64 {
        let (m, n, r) = (3 + seed as usize % 9, 30, 1 + seed as usize % 5);
        let a = table(m, n, seed, seed as usize % 4);
        let unit = 0.2 * orthopt_linalg::products::gram(&a).norm();
        for f in stored(&a) {
            for mut request in requests(n, r, unit) {
                for (nonneg, measure) in
                    [(false, Measure::Variance), (true, Measure::Variance), (false, Measure::Adjusted)]
                {
                    (request.nonneg, request.measure) = (nonneg, measure);
                    let (space, rules) = (Space::new(&f), Rules::new(&request, n, r).unwrap());
                    let x = orthopt_core::constraint::stiefel::random(n, r, &mut Pcg64::seed_from_u64(seed));
                    let directions = space.directions(&entries_of(&x), None, rules.orthonormal);
                    let mut before = f64::NEG_INFINITY;
                    for most in 1..12 {
                        let patience = Patience { most, hope: f64::NEG_INFINITY };
                        let state = alternate(&space, &rules, directions.clone(), 1.0, patience, NEVER);
                        let scale = state.value.abs() + unit;
                        let words = format!("{seed} {most} {request:?}: {before} {}", state.value);
                        assert!(state.value >= before - 1e-12 * scale, "{words}");
                        before = state.value;
                    }
                }
            }
        }
    }
}

/// Scores of orthonormal directions: X is feasible, its measure is at most that of principal components, and the surrogate is close.
#[test]
fn orthonormal_directions_explain_what_they_say() {
    for seed in 0..24u64 {
        let (m, n, r) = ([6, 12, 1][seed as usize % 3], 20, 2 + seed as usize % 3);
        let a = table(m, n, seed, seed as usize % 6);
        let c = orthopt_linalg::products::gram(&a);
        let values = symmetric_eigenpairs(&c).unwrap().0;
        let bound = 0.5 * values[..r].iter().map(|v| v.max(0.0)).sum::<f64>();
        for f in stored(&a) {
            for measure in [Measure::Adjusted, Measure::Polar, Measure::Explained] {
                for limits in [Limits::Each(vec![4; r]), Limits::Free] {
                    let mut request = Request::new(0.0, limits);
                    request.measure = measure;
                    let found = k_components(&f, r, &request, u64::MAX, seed, &Cancel::never()).unwrap();
                    check(&found.x, &request, &format!("{seed} {measure:?}"));
                    assert!(-found.value <= bound * (1.0 + 1e-9), "{seed}: {} {bound}", found.value);
                    assert!(found.value <= 0.0);
                }
            }
        }
    }
}

/// The bits do not depend on the threads, nor, but for the exponent, on the unit of the data.
#[test]
fn the_same_for_any_number_of_threads_and_any_unit() {
    let (m, n, r) = (12, 400, 4);
    let a = table(m, n, 5, 0);
    let scaled = |k: i32| RowMat::from_fn(m, n, |i, j| a.get(i, j) * 2f64.powi(k));
    for (measure, limits) in [
        (Measure::Variance, Limits::Each(vec![20; r])),
        (Measure::Variance, Limits::Free),
        (Measure::Adjusted, Limits::Each(vec![20; r])),
    ] {
        for kept in 0..2 {
            let run = |k: i32, threads: usize| {
                let f = stored(&scaled(k)).swap_remove(kept);
                let lambda = if limits == Limits::Free { 0.5 * 4f64.powi(k) } else { 0.0 };
                let mut request = Request::new(lambda, limits.clone());
                (request.measure, request.patience) = (measure, 3);
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| k_components(&f, r, &request, u64::MAX, 1, &Cancel::never())).unwrap()
            };
            let one = run(0, 1);
            assert_eq!(one.x, run(0, 3).x);
            for k in [-250, 250] {
                let other = run(k, 1);
                assert_eq!((&one.x, one.gains, one.moves), (&other.x, other.gains, other.moves), "{k}");
                assert_eq!(one.value * 4f64.powi(k), other.value);
            }
        }
    }
}

/// Work and a flag end it with what it has.
#[test]
fn it_ends_where_the_work_or_the_patience_ends() {
    let a = table(10, 60, 3, 0);
    let f = stored(&a).remove(0);
    let request = Request::new(0.0, Limits::Each(vec![5; 3]));
    let over = Cancel::never();
    over.cancel();
    for (limit, cancel) in [(0, &Cancel::never()), (u64::MAX, &over)] {
        let found = k_components(&f, 3, &request, limit, 0, cancel).unwrap();
        check(&found.x, &request, "nothing done");
        assert_eq!(found.moves, 0);
    }
    let long = k_components(&f, 3, &request, u64::MAX, 0, &Cancel::never()).unwrap();
    assert!(long.moves >= request.patience);
    let (short, work) =
        orthopt_linalg::work::counted(|| k_components(&f, 3, &request, 1, 0, &Cancel::never()));
    assert!(work > 0 && short.unwrap().value >= long.value);
}

/// From any X, also with shared variables, it continues at least as well as the directions of X serve.
#[test]
fn it_goes_on_from_any_x() {
    let (n, r) = (40, 3);
    let a = table(9, n, 8, 0);
    for f in stored(&a) {
        let request = Request::new(0.0, Limits::Each(vec![6; r]));
        let found = k_components(&f, r, &request, u64::MAX, 4, &Cancel::never()).unwrap();
        let mut search = KComponents::new(&f, r, &request, 0).unwrap();
        search.go_on_from(&found.x, NEVER);
        let again = search.found().unwrap();
        assert!(again.value <= found.value * (1.0 - 1e-9), "{} {}", again.value, found.value);
        let dense = RowMat::from_fn(n, r, |i, k| ((i * 7 + k * 5) as f64).sin());
        search.go_on_from(&dense, NEVER);
        check(&search.found().unwrap().x, &request, "from a dense X");
        assert!(search.offer_x(&found.x, NEVER) || search.value() >= Some(-found.value * (1.0 - 1e-9)));
    }
}

/// Impossible requests give `None`, without a panic.
#[test]
fn impossible_requests_are_refused() {
    let f = stored(&table(4, 5, 0, 0)).remove(0);
    let none = |r: usize, request: Request| k_components(&f, r, &request, 1, 0, &Cancel::never()).is_none();
    assert!(none(6, Request::new(0.1, Limits::Free)) && none(0, Request::new(0.1, Limits::Free)));
    assert!(none(2, Request::new(f64::NAN, Limits::Free)) && none(2, Request::new(-1.0, Limits::Free)));
    assert!(
        none(2, Request::new(0.0, Limits::Each(vec![3])))
            && none(2, Request::new(0.0, Limits::Each(vec![3, 0])))
    );
    assert!(none(2, Request::new(0.0, Limits::Total { total: 1, min: 1, max: 5 })));
    assert!(none(2, Request::new(0.0, Limits::Total { total: 4, min: 3, max: 5 })));
}
