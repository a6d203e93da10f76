use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::*;
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::penalty::find_penalty;
use orthopt_core::problem::{Between, Cardinality, PcaData, PcaProblem, Storage, covariance_model, support};
use orthopt_core::smooth::{Measure, Measured, Smooth};
use orthopt_core::solve::Stopping;
use orthopt_limits::problem::{CardinalityProblem, MeasuredProblem};
use orthopt_linalg::eigen::symmetric_eigenpairs;

const N: usize = 40;

/// Two groups of variables that move together; the second is last in the order, outside of any first set.
const GROUPS: [[usize; 5]; 2] = [[0, 1, 2, 3, 4], [35, 36, 37, 38, 39]];

/// 60 rows of noise and the groups, times `unit`.
fn data(seed: u64, unit: f64) -> Mat<f64> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let factors: Vec<[f64; 2]> = (0..60).map(|_| [rng.random(), rng.random()]).collect();
    let noise: Vec<f64> = (0..60 * N).map(|_| rng.random::<f64>() - 0.5).collect();
    Mat::from_fn(60, N, |i, j| {
        let group = GROUPS.iter().position(|group| group.contains(&j));
        unit * (noise[i * N + j] + group.map_or(0.0, |g| 2.0 * (factors[i][g] - 0.5)))
    })
}

fn counts(a: &Mat<f64>) -> CardinalityProblem {
    let f = covariance_model(&PcaData::Dense(a.as_ref()), Storage::Gram).unwrap();
    CardinalityProblem::new(f, 2, Cardinality::Components(vec![5, 5]), 0.0, false).unwrap()
}

fn prices(a: &Mat<f64>, lambda: f64) -> PcaProblem {
    priced(a, "l0", lambda)
}

fn priced(a: &Mat<f64>, penalty: &str, lambda: f64) -> PcaProblem {
    let f = covariance_model(&PcaData::Dense(a.as_ref()), Storage::Gram).unwrap();
    PcaProblem::new(f, (find_penalty(penalty).unwrap().make)(lambda).unwrap(), 2).unwrap()
}

fn measured(a: &Mat<f64>, measure: Measure) -> MeasuredProblem {
    let f = covariance_model(&PcaData::Dense(a.as_ref()), Storage::Gram).unwrap();
    let f = Measured::new(f, measure).unwrap();
    MeasuredProblem::new(f, 2, Cardinality::Components(vec![5, 5]), 0.0, Between::Orthogonal).unwrap()
}

/// Adjusted variance is searched on some variables as variance is; what scores explain by regression is a sum over all of them.
#[test]
fn measures_that_see_no_other_variables() {
    for seed in 0..3 {
        let p = measured(&data(seed, 1.0), Measure::Adjusted);
        let found = forced(&p, 12, None);
        assert_eq!(supports(&found.x), GROUPS.map(|group| group.to_vec()));
        let report = found.search.unwrap().variables.unwrap();
        assert!(report.checked && report.searched < N, "{report:?}");
        let f = found.objective.total;
        assert!((f - p.f.value(&found.x)).abs() <= 1e-12 * f.abs());
    }
    assert!(measured(&data(0, 1.0), Measure::Polar).narrow(None).is_some());
    assert!(measured(&data(0, 1.0), Measure::Explained).narrow(None).is_none());
}

/// Penalties of single entries that cost something at once, with a λ for the data of these tests.
const PENALTIES: [(&str, f64); 6] =
    [("l0", 0.8), ("l1", 4.0), ("mcp", 4.0), ("scad", 4.0), ("capped-l1", 4.0), ("elastic-net", 4.0)];

/// The rounds whatever they cost, from the first variables of the order.
fn forced<P: Family>(problem: &P, first: usize, limit: Option<f64>) -> Solution {
    let (cancel, request) = (Cancel::never(), Request { seed: Some(1), ..Request::default() });
    let stopping = Stopping { max_iters: None, time_limit: limit, tol: 1e-9, min_decrease: 0.0 };
    let effort = limit.is_none().then_some(Effort::Normal);
    let settings = Settings { seed: 1, effort, stopping, work: None, before: 0, bound: None };
    let narrow = problem.narrow(None).unwrap();
    let rounds = Rounds::new(problem, &*narrow, (&request, settings), &cancel, &mut []);
    let order: Vec<usize> = (0..N).map(|i| 7 * i % N).collect(); // some of each group first
    rounds.run(&order, first, &|_| true).unwrap()
}

/// With little work the search continues from the first point, whose variables are in the set, and ends with it where it has taken all:
/// F is never above that of the first point. The second group is outside of the first set, and X of both is the best one.
#[test]
fn little_work_continues_from_the_first_point() {
    for seed in 0..3 {
        let p = measured(&data(seed, 1.0), Measure::Adjusted);
        let best = forced(&p, 12, None);
        for (work, rounds) in [(1, 0), (100_000_000, 1)] {
            let (cancel, request) = (Cancel::never(), Request::default().with_work(work));
            let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
            let effort = Some(Effort::Quick);
            let settings = Settings { seed: 1, effort, stopping, work: Some(work), before: 0, bound: None };
            let narrow = p.narrow(None).unwrap();
            let mut search = Rounds::new(&p, &*narrow, (&request, settings), &cancel, &mut []);
            search.begin_at(best.x.clone()).unwrap();
            let order: Vec<usize> = (0..N).collect();
            let found = search.run(&order, 6, &|_| true).unwrap();
            let f = best.objective.total;
            assert!(found.objective.total <= f + 1e-12 * f.abs(), "{seed} {work}: {}", found.objective.total);
            let report = found.search.unwrap().variables.unwrap();
            assert!(report.rounds >= rounds && (rounds > 0 || report.rounds == 0), "{report:?}");
            assert!(rounds > 0 || (report.searched == N && !report.checked), "{report:?}");
        }
    }
}

fn supports(x: &RowMat) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = (0..x.ncols()).map(|k| support(x, k)).collect();
    all.sort();
    all
}

#[test]
fn variables_left_out_at_first_are_found() {
    for seed in 0..3 {
        let a = data(seed, 1.0);
        for found in [forced(&counts(&a), 20, None), forced(&prices(&a, 1.0), 20, None)] {
            assert_eq!(supports(&found.x), GROUPS.map(|group| group.to_vec()));
            let report = found.search.unwrap().variables.unwrap();
            assert!(report.checked && report.rounds > 1 && (24..N).contains(&report.searched), "{report:?}");
            assert_eq!(report.of, N);
        }
    }
}

/// With a penalty that leaves more than the groups: all of each is there, from a first set that has half of it.
#[test]
fn penalties_find_what_was_left_out() {
    for (penalty, lambda) in &PENALTIES[1..] {
        let found = forced(&priced(&data(1, 1.0), penalty, *lambda), 20, None);
        for (support, group) in supports(&found.x).iter().zip(GROUPS) {
            assert!(group.iter().all(|i| support.contains(i)), "{penalty}: {support:?}");
        }
        assert!(found.search.unwrap().variables.unwrap().rounds > 1, "{penalty}");
    }
}

/// C on these rows, from the data.
fn gram(a: &Mat<f64>, rows: &[usize]) -> RowMat {
    let entry = |i: usize, j: usize| (0..a.nrows()).map(|l| a[(l, i)] * a[(l, j)]).sum();
    RowMat::from_fn(rows.len(), rows.len(), |i, j| entry(rows[i], rows[j]))
}

/// Slow twin of the check: the leading eigenvalue of C on the rows of a component after each exchange with each variable that none has.
#[test]
fn no_exchange_with_any_variable_lowers_f() {
    for seed in 0..3 {
        let a = data(seed + 10, 1.0);
        let x = forced(&counts(&a), 12, None).x;
        let leading = |rows: &[usize]| symmetric_eigenpairs(&gram(&a, rows)).unwrap().0[0];
        let all = supports(&x);
        assert!(all[0].iter().all(|i| !all[1].contains(i)), "components apart");
        for rows in &all {
            let before = leading(rows);
            for i in (0..N).filter(|i| x.row(*i).iter().all(|v| *v == 0.0)) {
                for out in 0..rows.len() {
                    let mut other = rows.clone();
                    other[out] = i;
                    assert!(leading(&other) <= before * (1.0 + 1e-9), "{i} for {}", rows[out]);
                }
            }
        }
    }
}

/// The least F of X with the rows i and j turned by many angles; i is a zero row.
fn lowest_turned(p: &PcaProblem, x: &RowMat, (i, j): (usize, usize)) -> f64 {
    let turned = |step: u32| {
        let (s, c) = (f64::from(step) * std::f64::consts::PI / 100.0).sin_cos();
        let (s, c) = (if step.is_multiple_of(100) { 0.0 } else { s }, if step % 100 == 50 { 0.0 } else { c });
        let mut y = x.clone();
        (0..2).for_each(|k| {
            y.set(i, k, s * x.get(j, k));
            y.set(j, k, c * x.get(j, k));
        });
        p.value(&y)
    };
    (0..200).map(turned).fold(f64::INFINITY, f64::min)
}

fn zero_rows(x: &RowMat) -> (Vec<usize>, Vec<usize>) {
    (0..N).partition(|i| x.row(*i).iter().all(|v| *v == 0.0))
}

/// True if an entry of a zero row that leaves 0 lowers F at once: its gradient is steeper than the penalty.
fn is_steep(p: &PcaProblem, x: &RowMat, i: usize) -> bool {
    let (_, slope) = p.h.subdifferential(0.0);
    p.f.apply(x).row(i).iter().any(|g| g.abs() > slope * (1.0 + 1e-9))
}

/// Slow twin of the check with a penalty: F at many angles of each pair of a row and a zero row, and the slope at each zero row.
#[test]
fn no_pair_with_any_variable_lowers_f() {
    for (seed, (penalty, lambda)) in (0..2).flat_map(|seed| PENALTIES.map(|h| (seed, h))) {
        let p = priced(&data(seed + 20, 1.0), penalty, lambda);
        let found = forced(&p, 12, None);
        let (x, lowest) = (found.x, found.objective.total);
        let (zero, rows) = zero_rows(&x);
        assert!(!zero.is_empty() && !rows.is_empty(), "{penalty}");
        assert!(found.search.unwrap().variables.unwrap().checked, "{penalty}");
        assert!(p.entrants(&x, &Cancel::never()).is_empty(), "{penalty}");
        for i in &zero {
            assert!(!is_steep(&p, &x, *i), "{penalty} {i}");
            for j in &rows {
                let turned = lowest_turned(&p, &x, (*i, *j));
                assert!(turned >= lowest - 1e-9 * lowest.abs(), "{penalty} {i} {j}");
            }
        }
    }
}

/// At points that are far from any solution each zero row that lowers F is named.
#[test]
fn entrants_are_the_rows_that_lower_f() {
    for (seed, (penalty, lambda)) in (0..4).flat_map(|seed| PENALTIES.map(|h| (seed, h))) {
        let p = priced(&data(seed + 40, 1.0), penalty, 1.5 * lambda);
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut x = RowMat::zeros(N, 2);
        let shared = seed % 2 == 1; // the two components on the same variables
        (0..6).for_each(|i| (0..2).for_each(|k| x.set(i, k, rng.random::<f64>() - 0.5)));
        if !shared {
            (0..6).for_each(|i| x.set(i, usize::from(i < 3), 0.0));
        }
        let x = orthopt_core::constraint::stiefel::orthonormalise(&x);
        let (zero, rows) = zero_rows(&x);
        let (named, before) = (p.entrants(&x, &Cancel::never()), p.value(&x));
        assert!(named.iter().all(|i| zero.contains(i)));
        for i in &zero {
            let turned = rows.iter().map(|j| lowest_turned(&p, &x, (*i, *j))).fold(f64::INFINITY, f64::min);
            let lowers = turned < before - 1e-9 * before.abs() || is_steep(&p, &x, *i);
            assert!(!lowers || named.contains(i), "{penalty} {seed}: {i} lowers F");
        }
    }
}

#[test]
fn the_unit_and_the_threads_change_nothing() {
    let bits = |x: &RowMat| x.data().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    let on = |threads: usize, f: &(dyn Fn() -> RowMat + Sync)| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
    };
    let (a, b) = (data(1, 1.0), data(1, 1024.0));
    let one = bits(&on(1, &|| forced(&counts(&a), 20, None).x));
    assert_eq!(one, bits(&on(2, &|| forced(&counts(&a), 20, None).x)));
    assert_eq!(one, bits(&forced(&counts(&b), 20, None).x));
    let one = bits(&forced(&prices(&a, 1.0), 20, None).x);
    assert_eq!(one, bits(&forced(&prices(&b, 1024.0 * 1024.0), 20, None).x));
}

/// With time left the set grows to all variables, and F is not above that of the run without a limit; without time there is
/// a feasible X that claims nothing.
#[test]
fn limits_of_time() {
    let a = data(2, 1.0);
    let (free, long, short) = (
        forced(&counts(&a), 20, None),
        forced(&counts(&a), 20, Some(2.0)),
        forced(&counts(&a), 20, Some(0.0)),
    );
    assert!(long.objective.total <= free.objective.total);
    assert!(long.search.unwrap().variables.unwrap().searched == N);
    assert!(short.feasibility < 1e-12 && short.status == Status::TimeLimit, "{:?}", short.status);
}

/// Small problems are searched as a whole; large ones on some variables.
#[test]
fn only_where_it_pays() {
    let on_some = |p: &CardinalityProblem| {
        let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
        let settings =
            Settings { seed: 1, effort: Some(Effort::Quick), stopping, work: None, before: 0, bound: None };
        narrowed(p, &Default::default(), settings, &Cancel::never(), &mut []).map(|found| found.unwrap())
    };
    let a = data(3, 1.0);
    assert!(on_some(&counts(&a)).is_none());
    let large =
        Mat::from_fn(
            200,
            4500,
            |i, j| {
                if j < N { a[(i % 60, j)] } else { ((i * j + 7 * j) % 101) as f64 / 300.0 }
            },
        );
    let f = covariance_model(&PcaData::Dense(large.as_ref()), Storage::Gram).unwrap();
    let of = |count: usize| {
        CardinalityProblem::new(f.clone(), 8, Cardinality::Components(vec![count; 8]), 0.0, false).unwrap()
    };
    assert!(on_some(&of(800)).is_none(), "supports of all variables");
    let found = on_some(&of(3)).unwrap();
    let report = found.search.unwrap().variables.unwrap();
    assert!(report.checked && report.searched >= 48 && report.searched < 4500, "{report:?}");

    // what was found with another limit is in the first set of the next
    let request = Request { carried: WarmStart::along(), ..Default::default() };
    let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    let settings =
        Settings { seed: 1, effort: Some(Effort::Quick), stopping, work: None, before: 0, bound: None };
    let rows = |x: &RowMat| -> Vec<usize> {
        (0..x.nrows()).filter(|i| x.row(*i).iter().any(|v| *v != 0.0)).collect()
    };
    let mut before: Vec<usize> = Vec::new();
    for count in [5, 3, 4] {
        let (order, more) = request.carried.placed((0..4500).rev().collect(), 2 * 8 * count);
        assert!(before.iter().all(|i| order[..more].contains(i)));
        let p = of(count);
        let found = narrowed(&p, &request, settings, &Cancel::never(), &mut []).unwrap().unwrap();
        assert!(found.search.unwrap().variables.unwrap().checked);
        before = rows(&found.x);
        assert_eq!(request.carried.with(|kept| kept.variables.clone()), Some(before.clone()));
    }
}

#[test]
fn the_form_on_some_variables_is_that_of_their_columns() {
    let a = data(4, 1.0);
    let some = [3, 7, 8, 20, 39];
    let x = RowMat::from_fn(5, 2, |i, k| (1 + i + 3 * k) as f64 / 7.0);
    let means = (0..N).map(|j| (0..60).map(|i| a[(i, j)]).sum::<f64>() / 60.0).collect();
    let entries: Vec<_> =
        (0..60 * N).map(|e| faer::sparse::Triplet::new(e / N, e % N, a[(e / N, e % N)])).collect();
    let sparse = faer::sparse::SparseColMat::try_new_from_triplets(60, N, &entries).unwrap();
    for (data, storage) in [
        (PcaData::Dense(a.as_ref()), Storage::Gram),
        (PcaData::Dense(a.as_ref()), Storage::Dense),
        (PcaData::Sparse(sparse.as_ref(), Some(means)), Storage::Gram),
    ] {
        let f = covariance_model(&data, storage).unwrap();
        let (part, whole) = (f.on_variables(&some).value(&x), f.value(&lift(&x, &some, N)));
        assert!((part - whole).abs() <= 1e-12 * whole.abs(), "{part} {whole}");
        // also if cancelled on them
        let over = Cancel::never();
        over.cancel();
        let part = over.during(|| f.on_variables(&some)).value(&x);
        assert!((part - whole).abs() <= 1e-12 * whole.abs(), "{part} {whole}");
    }
}
