//! Claims of optimality: no wrong X is called a minimum, whatever door it comes through and whenever the
//! computation is cut off.

use std::sync::atomic::Ordering;

use orthopt::Error;
use orthopt::RowMat;
use orthopt::bound::{Bound, Kind, Options, Proof, lower_bound};
use orthopt::cancel::Cancel;
use orthopt::family::{AnyProblem, Family, Limit, Request, find_problem, pose};
use orthopt::problem::PcaData;
use orthopt::smooth::{AnySmooth, DenseQuadratic};
use orthopt::solve::{Solution, Status, Stopping};
use orthopt::start::Start;

use crate::common::{gaussian, normal, patient, rng};

const STOPPING: Stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };

fn negative(c: &RowMat) -> AnySmooth {
    AnySmooth::Dense(DenseQuadratic::negative(c.as_mat()).unwrap())
}

/// The problems that have a bound, with a λ that makes some entries zero, over a C whose entries are about 1.
fn problems(n: usize, r: usize) -> Vec<(&'static str, Request)> {
    let plain = Request { rank: Some(r.into()), ..Default::default() };
    let with = |limit: Limit| plain.clone().with_limit(Some(limit));
    let k = (n / 4).max(1);
    vec![
        ("l0-pca", Request { lambda: Some(0.15), ..plain.clone() }),
        ("l1-pca", Request { lambda: Some(0.2), ..plain.clone() }),
        ("nonneg-pca", plain.clone()),
        ("pca", plain.clone()),
        ("l0-pca", with(Limit::Nonzeros(vec![k]))),
        ("l0-pca", with(Limit::Total(k * r))),
        ("l0-pca", with(Limit::Variables((k * r).max(r).min(n)))),
    ]
}

fn posed(c: &RowMat, name: &str, options: &Request) -> AnyProblem {
    pose(find_problem(name).unwrap(), &PcaData::Gram(c.as_mat()), options).unwrap().problem
}

/// A correlation matrix of Gaussian samples.
fn correlations(n: usize, seed: u64) -> RowMat {
    let a = gaussian(n + 5, n, seed);
    let length = |j: usize| (0..n + 5).map(|i| a[(i, j)] * a[(i, j)]).sum::<f64>().sqrt();
    let lengths: Vec<f64> = (0..n).map(length).collect();
    RowMat::from_fn(n, n, |i, j| {
        (0..n + 5).map(|k| a[(k, i)] * a[(k, j)]).sum::<f64>() / (lengths[i] * lengths[j])
    })
}

/// Unit vectors: feasible for every problem, and nowhere near a minimum.
fn units(n: usize, r: usize, first: usize) -> RowMat {
    RowMat::from_fn(n, r, |i, k| f64::from(u8::from(i == (first + k) % n)))
}

fn quick<P: Family>(problem: &P) -> Solution {
    let mut plan = problem.plan(&Request { seed: Some(1), ..Request::default() }).unwrap();
    plan.lower_bound = None;
    let stopping = Stopping { max_iters: Some(3000), ..STOPPING };
    plan.run(
        problem,
        &Request { seed: Some(1), ..Request::default() },
        &stopping,
        None,
        &Cancel::never(),
        &mut [],
    )
    .unwrap()
}

fn limits(nodes: u64) -> Options {
    Options { nodes, iterations: 150, ..Options::default() }
}

/// A bad X and the X of a search, every problem with a bound, few and many variables: the bound is at most the lowest F
/// known, and only an X with that F is proved.
#[test]
fn no_wrong_x_is_called_a_minimum() {
    for (n, ranks) in
        [(5, vec![1, 2, 3, 5]), (10, vec![1, 2, 3]), (19, vec![1, 2, 3]), (25, vec![1, 3]), (40, vec![1, 2])]
    {
        let c = correlations(n, n as u64);
        for r in ranks {
            for (name, options) in problems(n, r) {
                let what = format!("{name} n {n} r {r} {:?}", options.limit());
                judged(&posed(&c, name, &options), &what);
            }
        }
    }
}

/// Work that a bound may take.
const WORK: u64 = 400_000_000;

fn judged<P: Family>(problem: &P, what: &str) {
    let (n, r) = problem.shape();
    let found = quick(problem);
    let candidates = [units(n, r, 0), units(n, r, n / 2), found.x.clone()];
    let values: Vec<f64> = candidates.iter().map(|x| problem.value(x)).collect();
    let lowest = values.iter().fold(f64::INFINITY, |m, v| m.min(*v));
    // a node of a tree over the supports of all columns takes long where there are many
    let options = Options { work: Some(WORK), ..limits(if n > 20 { 15 } else { 60 }) };
    for (x, f) in candidates.iter().zip(&values) {
        let bound = problem.lower_bound(Some(x), &options, &Cancel::never(), &|_| ()).unwrap();
        // an X that was met on the way counts, too
        let lowest = lowest.min(bound.objective.unwrap());
        consistent(&bound, lowest, what);
        let claim = bound.beside(orthopt::bound::Point { objective: *f, feasibility: 1e-15 }).unwrap();
        if claim.proof == Some(Proof::Optimal) {
            let slack = bound.tolerance.max(2e-9) * lowest.abs();
            assert!(f - lowest <= slack, "{what}: F = {f} proved, {lowest} exists");
        }
    }
}

fn consistent(bound: &Bound, lowest: f64, what: &str) {
    let rounding = 1e-10 * (lowest.abs() + bound.size);
    assert!(bound.value <= lowest + rounding, "{what}: bound {} above F = {lowest}", bound.value);
    assert!(bound.value.is_finite(), "{what}: bound {}", bound.value);
    if bound.proof == Some(Proof::Optimal) {
        let (f, gap) = (bound.objective.unwrap(), bound.gap.unwrap());
        let tolerance = bound.tolerance.max(1e-9); // 1e-6 for adjusted and polar variance
        assert!(
            gap <= tolerance && bound.value <= f && f - lowest <= rounding + 2.0 * tolerance * lowest.abs(),
            "{what}: {f} {gap}"
        );
    }
}

/// Branch and bound without a node that can be split, and a table that is cut off in its last level.
#[test]
fn what_is_cut_off_at_any_moment_claims_nothing_false() {
    let c = correlations(12, 3);
    let kinds = [Kind::L0 { lambda: 0.2 }, Kind::Nonnegative, Kind::Rows { rows: 5, lambda: 0.0 }];
    for kind in kinds {
        for r in [1, 2] {
            let f = negative(&c);
            let bad = units(12, r, 0);
            let (always, asked) = patient(u64::MAX);
            let known = lower_bound(&f, r, &kind, None, &limits(1000), &always, &|_| ()).unwrap();
            let lowest = known.objective.unwrap_or(f64::INFINITY);
            let all = asked.load(Ordering::Relaxed);
            for k in 0..20 {
                // more moments where the end is near
                let moment = if k < 10 { all * k / 10 } else { all - all * (20 - k) / 100 };
                let cut = patient(moment).0;
                let bound = lower_bound(&f, r, &kind, Some(&bad), &limits(1000), &cut, &|_| ()).unwrap();
                let what = format!("{kind:?} r {r}, cut off at {moment} of {all}");
                consistent(&bound, lowest.min(bound.objective.unwrap()), &what);
            }
        }
    }
}

/// Σ_r(½C_RR) of every set of rows, and ½xᵀCx of X ≥ 0 by the eigenvectors of all sets.
fn brute(c: &RowMat, kind: &Kind) -> f64 {
    let n = c.nrows();
    let mut best = f64::INFINITY;
    for set in 1u32..1 << n {
        let rows: Vec<usize> = (0..n).filter(|i| set >> i & 1 == 1).collect();
        let block = RowMat::from_fn(rows.len(), rows.len(), |a, b| c.get(rows[a], rows[b]));
        let (values, vectors) = orthopt_linalg::eigen::symmetric_eigenpairs(&block).unwrap();
        let s = rows.len() as f64;
        best = match kind {
            Kind::L0 { lambda } => best.min(lambda * s - 0.5 * values[0]),
            Kind::Rows { rows: most, lambda } if rows.len() <= *most => {
                best.min(lambda * s - 0.5 * values[0])
            }
            Kind::Counts { nonzeros, lambda } if rows.len() <= nonzeros[0] => {
                best.min(lambda * s - 0.5 * values[0])
            }
            Kind::Nonnegative => (0..rows.len())
                .filter(|k| {
                    let column = || (0..rows.len()).map(|i| vectors.get(i, *k));
                    column().all(|v| v >= 0.0) || column().all(|v| v <= 0.0)
                })
                .fold(best, |best, k| best.min(-0.5 * values[k])),
            _ => best,
        };
    }
    best
}

/// One component of indefinite C, of C of rank 1, with ties, duplicates and zeros, against all supports.
#[test]
fn no_bound_is_above_the_minimum_of_any_c() {
    let mut random = rng(7);
    for round in 0..120 {
        let n = 2 + round % 6;
        let g = RowMat::from_fn(n, n, |_, _| normal(&mut random));
        let c = RowMat::from_fn(n, n, |i, j| match round % 6 {
            0 => g.get(i, j) + g.get(j, i), // indefinite
            1 => g.get(i, 0) * g.get(j, 0),
            2 => f64::from(u8::from(i == j)),
            3 => f64::from(u8::from(i != j)), // zero diagonal, ties
            4 => g.get(i / 2, 0) * g.get(j / 2, 0) - f64::from(u8::from(i == j)), // duplicates
            _ => {
                if i < n / 2 && j < n / 2 {
                    g.get(i, j) + g.get(j, i)
                } else {
                    0.0
                }
            }
        });
        let half = n.div_ceil(2);
        for kind in [
            Kind::L0 { lambda: 0.3 },
            Kind::Nonnegative,
            Kind::Rows { rows: half, lambda: 0.0 },
            Kind::Rows { rows: half, lambda: 0.2 },
            Kind::Counts { nonzeros: vec![half], lambda: 0.0 },
        ] {
            let best = brute(&c, &kind);
            for (x, nodes) in
                [(None, 0), (None, 200), (Some(units(n, 1, 0)), 200), (Some(units(n, 1, n - 1)), 0)]
            {
                let bound = lower_bound(
                    &negative(&c),
                    1,
                    &kind,
                    x.as_ref(),
                    &limits(nodes),
                    &Cancel::never(),
                    &|_| (),
                )
                .unwrap();
                let rounding = 1e-9 * (1.0 + best.abs());
                assert!(
                    bound.value <= best + rounding,
                    "{kind:?} round {round}: {} above {best}",
                    bound.value
                );
                if bound.proof.is_some() {
                    let f = bound.objective.unwrap();
                    assert!(f <= best + rounding, "{kind:?} round {round}: {f} proved, {best} exists");
                }
            }
        }
    }
}

/// Two variables of an indefinite C have more than the trace of their block.
#[test]
fn limits_of_rows_do_not_need_a_semidefinite_c() {
    let c = RowMat::from_fn(3, 3, |i, j| [[0.0, 3.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 1.0]][i][j]);
    let bound = lower_bound(
        &negative(&c),
        1,
        &Kind::Rows { rows: 2, lambda: 0.0 },
        Some(&units(3, 1, 2)),
        &Options::default(),
        &Cancel::never(),
        &|_| (),
    )
    .unwrap();
    assert!(bound.value <= -1.5 && bound.proof.is_none(), "{} {:?}", bound.value, bound.proof);
}

/// An X that is orthonormal to 4e-7 has an F below the minimum: it is repaired before anything is said of it.
#[test]
fn an_x_that_is_nearly_feasible_is_repaired_first() {
    let c = RowMat::from_fn(2, 2, |i, j| if i == j { 1.0 } else { 0.9 });
    let x = RowMat::from_fn(2, 1, |i, _| if i == 0 { (1.0f64 + 4e-7).sqrt() } else { 0.0 });
    let kind = Kind::L0 { lambda: 1.0 };
    let bound =
        lower_bound(&negative(&c), 1, &kind, Some(&x), &limits(100), &Cancel::never(), &|_| ()).unwrap();
    assert!((bound.objective.unwrap() - 0.5).abs() <= 1e-15, "{:?}", bound.objective);
    let as_given = orthopt::bound::Point { objective: 0.5 - 2e-7, feasibility: 1e-15 };
    assert!(matches!(bound.beside(as_given), Err(Error::Contradiction { .. })));
}

/// A minimum of zero: no data, or nothing to gain.
#[test]
fn a_minimum_of_zero_is_proved() {
    for c in [RowMat::zeros(4, 4), RowMat::from_fn(4, 4, |i, j| if i == j { 0.0 } else { -1.0 })] {
        let x = units(4, 1, 1);
        let bound = lower_bound(
            &negative(&c),
            1,
            &Kind::Nonnegative,
            Some(&x),
            &limits(50),
            &Cancel::never(),
            &|_| (),
        )
        .unwrap();
        assert!(bound.proof.is_some() && bound.gap == Some(0.0), "{:?} {:?}", bound.value, bound.gap);
    }
}

/// A given lower bound ends a search only if F equals it.
#[test]
fn a_search_ends_at_its_bound_and_nowhere_else() {
    let data = orthopt_data::load("builtin:pitprops", &Default::default()).unwrap();
    let orthopt_data::Matrix::Dense(c) = data.matrix else { panic!("a dense table") };
    let options = Request { rank: Some(3.into()), lambda: Some(0.1), ..Default::default() };
    let posed = pose(find_problem("l0-pca").unwrap(), &PcaData::Gram(c.as_ref()), &options).unwrap();
    const MINIMUM: f64 = -2.636819401;
    let problem = &posed.problem;
    for start in ["pca", "identity", "random", "varimax", "coordinates"] {
        let wanted = Request { init: Some(Start::named(start).into()), seed: Some(1), ..Request::default() };
        let run = |bound: Option<f64>| {
            let mut plan = problem.plan(&wanted).unwrap();
            plan.lower_bound = bound;
            let stopping = Stopping { max_iters: Some(20_000), ..STOPPING };
            plan.run(problem, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap()
        };
        let without = run(None);
        for (bound, optimal) in
            [(MINIMUM, true), (-2.0, false), (-2.7, false), (3.0, false), (f64::MAX, false)]
        {
            let solution = run(Some(bound));
            let f = solution.objective.total;
            assert!(f >= MINIMUM - 1e-9, "{start}: {f}");
            assert!(optimal || solution.x == without.x, "{start}: a bound of {bound} ended the search");
            let says = solution.status == Status::Optimal;
            assert!(!says || optimal && f - MINIMUM <= 1e-8, "{start} {bound}: optimal at {f}");
        }
    }
}

/// Many variables, where branch and bound has hardly begun when it is over.
#[test]
fn many_variables_and_few_nodes_prove_no_bad_x() {
    let n = 120;
    let c = correlations(n, 11);
    for r in [1, 2] {
        for kind in [Kind::L0 { lambda: 0.15 }, Kind::Nonnegative] {
            let options = Options { nodes: 2, iterations: 40, ..Options::default() };
            let bad = units(n, r, 0);
            let bound = lower_bound(&negative(&c), r, &kind, Some(&bad), &options, &Cancel::never(), &|_| ())
                .unwrap();
            let f = -0.5 * r as f64 + if let Kind::L0 { lambda } = kind { lambda * r as f64 } else { 0.0 };
            let lowest = bound.objective.unwrap();
            assert!(lowest <= f + 1e-12 && bound.value <= lowest, "{kind:?} r {r}: {lowest} {}", bound.value);
            let options = if let Kind::L0 { lambda } = kind { Some(lambda) } else { None };
            let name = if options.is_some() { "l0-pca" } else { "nonneg-pca" };
            let options = Request { rank: Some(r.into()), lambda: options, ..Default::default() };
            let known = quick(&posed(&c, name, &options)).objective.total;
            assert!(bound.value <= known + 1e-10, "{kind:?} r {r}: {} above {known}", bound.value);
            assert!(
                bound.proof.is_none() || lowest <= known + 1e-9,
                "{kind:?} r {r}: {lowest} proved, {known} exists"
            );
        }
    }
}
