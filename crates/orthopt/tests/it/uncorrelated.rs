//! Sparse PCA with uncorrelated components: against a fine grid on all supports of small problems, and what must hold
//! whatever the data are.

use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::family::Effort;
use orthopt::family::{AnyProblem, Between, Family, Limit, Request, find_problem, pose};
use orthopt::objective::Evaluate;
use orthopt::problem::{Cardinality, MeasuredProblem, PcaData, Storage, covariance_model, support};
use orthopt::smooth::{Measure, Measured};
use orthopt::solve::{Solution, Stopping};
use orthopt_linalg::eigen::symmetric_eigenpairs;
use proptest::prelude::*;

fn data(m: usize, n: usize, seed: u64) -> faer::Mat<f64> {
    let g = |i: usize, j: usize| {
        let t = (i as u64 * 7919 + j as u64 * 104_729 + seed * 1_299_709) as f64;
        (t * 0.618_033_988_75).fract() - 0.5 + (t.sin() * 43_758.545).fract()
    };
    faer::Mat::from_fn(m, n, |i, j| g(i, j) + 0.8 * g(i, n + j % 2) + 0.5 * g(i, n + 3 + j % 3))
}

fn problem(a: &faer::Mat<f64>, nonzeros: Vec<usize>, lambda: f64) -> MeasuredProblem {
    let f = covariance_model(&PcaData::Dense(a.as_ref()), Storage::Auto).unwrap();
    let (f, rank) = (Measured::new(f, Measure::Variance).unwrap(), nonzeros.len());
    let limits = Cardinality::Components(nonzeros);
    let p = MeasuredProblem::new(f, rank, limits, lambda, Between::Uncorrelated).unwrap();
    assert!(p.takes_one_by_one());
    p
}

fn solve(p: &MeasuredProblem, seed: u64, iterations: Option<u64>) -> Solution {
    let wanted = Request { seed: Some(seed), effort: Some(Effort::Quick), ..Default::default() };
    let stopping = Stopping { max_iters: iterations, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    p.plan(&wanted).unwrap().run(p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap()
}

fn feasible(p: &MeasuredProblem, x: &RowMat) {
    assert_eq!(p.evaluated(x), (p.value(x), p.objective(x)));
    assert!(p.feasibility(x) <= 1e-11, "{:e}", p.feasibility(x));
    let counts: Vec<usize> = (0..x.ncols()).map(|k| support(x, k).len()).collect();
    let mut allowed: Vec<usize> = (0..p.rank()).map(|k| p.most(k)).collect();
    let mut sorted = counts.clone();
    allowed.sort_unstable();
    sorted.sort_unstable();
    assert!(sorted.iter().zip(&allowed).all(|(has, may)| has <= may), "{counts:?}");
}

fn covariance(a: &faer::Mat<f64>) -> RowMat {
    let n = a.ncols();
    RowMat::from_fn(n, n, |i, j| (0..a.nrows()).map(|s| a[(s, i)] * a[(s, j)]).sum())
}

/// The slow twin for r = 2 and three nonzeros each: x₁ on a grid of its sphere, x₂ the best on the plane that
/// is uncorrelated with it; ½(x₁ᵀCx₁ + x₂ᵀCx₂).
fn best_of_grid(c: &RowMat, s: [usize; 3], t: [usize; 3]) -> f64 {
    const GRID: usize = 48;
    let mut best = f64::NEG_INFINITY;
    for u in 0..GRID {
        for w in 0..GRID {
            let (a, b) = (
                std::f64::consts::PI * u as f64 / GRID as f64,
                std::f64::consts::PI * w as f64 / GRID as f64,
            );
            let x = [a.cos(), a.sin() * b.cos(), a.sin() * b.sin()];
            let form = |p: &[f64; 3], q: &[f64; 3], r: [usize; 3], o: [usize; 3]| -> f64 {
                (0..3).map(|i| (0..3).map(|j| p[i] * c.get(r[i], o[j]) * q[j]).sum::<f64>()).sum()
            };
            let v: Vec<f64> = (0..3).map(|i| (0..3).map(|j| c.get(t[i], s[j]) * x[j]).sum()).collect();
            let Some([p, q]) = plane(&v) else { continue };
            let (pp, pq, qq) = (form(&p, &p, t, t), form(&p, &q, t, t), form(&q, &q, t, t));
            let second = 0.5 * (pp + qq) + (0.5 * (pp - qq)).hypot(pq);
            best = best.max(0.5 * (form(&x, &x, s, s) + second));
        }
    }
    best
}

/// An orthonormal basis of what is orthogonal to v.
fn plane(v: &[f64]) -> Option<[[f64; 3]; 2]> {
    let length = v.iter().map(|e| e * e).sum::<f64>().sqrt();
    if length == 0.0 {
        return None;
    }
    let n = [v[0] / length, v[1] / length, v[2] / length];
    let least = (0..3).fold(0, |b, i| if n[i].abs() < n[b].abs() { i } else { b });
    let mut p = [0.0; 3];
    p[least] = 1.0;
    (0..3).for_each(|i| p[i] -= n[least] * n[i]);
    let size = p.iter().map(|e| e * e).sum::<f64>().sqrt();
    p.iter_mut().for_each(|e| *e /= size);
    let q = [n[1] * p[2] - n[2] * p[1], n[2] * p[0] - n[0] * p[2], n[0] * p[1] - n[1] * p[0]];
    Some([p, q])
}

#[test]
fn nothing_on_a_grid_over_all_supports_is_better() {
    let sets: Vec<[usize; 3]> =
        (0..6).flat_map(|a| (a + 1..6).flat_map(move |b| (b + 1..6).map(move |c| [a, b, c]))).collect();
    for seed in 0..3 {
        let a = data(20, 6, seed);
        let c = covariance(&a);
        let p = problem(&a, vec![3, 3], 0.0);
        let found = solve(&p, 0, None);
        feasible(&p, &found.x);
        let pairs = sets.iter().flat_map(|s| sets.iter().map(move |t| (*s, *t)));
        let grid = pairs.map(|(s, t)| best_of_grid(&c, s, t)).fold(f64::NEG_INFINITY, f64::max);
        assert!(-found.objective.total >= grid, "{} {grid}", found.objective.total);
        assert!(-found.objective.total <= 1.02 * grid, "{} {grid}", found.objective.total);
    }
}

#[test]
fn without_a_limit_it_is_pca() {
    let a = data(30, 8, 5);
    let found = solve(&problem(&a, vec![8; 3], 0.0), 0, None);
    let (values, _) = symmetric_eigenpairs(&covariance(&a)).unwrap();
    let pca = 0.5 * values[..3].iter().sum::<f64>();
    assert!((found.objective.total + pca).abs() < 1e-9 * pca, "{} {pca}", found.objective.total);
}

#[test]
fn no_variance_is_counted_twice() {
    let p = problem(&data(40, 12, 1), vec![4; 4], 0.0);
    let x = solve(&p, 0, None).x;
    let shares = p.explained_variance(&x).unwrap();
    assert!(shares.ratio.iter().zip(&shares.adjusted).all(|(a, b)| (a - b).abs() < 1e-12));
    // and what is orthogonal only does count some twice here
    assert!(shares.total > 0.0);
}

#[test]
fn what_it_does_not_go_with_is_refused() {
    let a = data(20, 6, 0);
    let posed = |problem: &str, options: Request| {
        let options = Request { constraint: Some(Between::Uncorrelated), rank: Some(2.into()), ..options };
        pose(find_problem(problem).unwrap(), &PcaData::Dense(a.as_ref()), &options)
    };
    let limit = |limit: Limit| Request::default().with_limit(Some(limit));
    let good = posed("l0-pca", limit(Limit::Nonzeros(vec![3]))).unwrap();
    let takes_one_by_one = |problem: &AnyProblem| match problem {
        AnyProblem::Measured(p) => p.between() == Between::Uncorrelated && p.takes_one_by_one(),
        _ => panic!("of another type"),
    };
    assert!(takes_one_by_one(&good.problem) && good.statement.contains("X'CX diagonal"));
    assert!(posed("l0-pca", limit(Limit::Knee)).is_ok());
    let together = posed("l0-pca", limit(Limit::Total(6))).unwrap();
    assert!(!takes_one_by_one(&together.problem) && together.statement.contains("X'CX diagonal"));
    let few = posed("l0-pca", limit(Limit::Nonzeros(vec![1]))).unwrap();
    assert!(!takes_one_by_one(&few.problem));
    for (good, problem) in [(true, &good.problem), (false, &together.problem), (false, &few.problem)] {
        let wanted = Request { solver: Some("uncorrelated-exchange".into()), ..Default::default() };
        assert_eq!(problem.plan(&wanted).is_ok(), good);
    }
    for (name, options) in [
        ("l1-pca", limit(Limit::Nonzeros(vec![3]))),
        ("nonneg-pca", limit(Limit::Nonzeros(vec![3]))),
        ("hyperbolic-eig", limit(Limit::Nonzeros(vec![3]))),
        ("l0-pca", limit(Limit::Variables(3))),
        ("l0-pca", Request { lambda: Some(1.0), ..Default::default() }),
        ("pca", Request { lambda: Some(1.0), ..limit(Limit::Nonzeros(vec![3])) }),
        ("l0-pca", limit(Limit::Nonzeros(vec![3, 3, 3]))),
    ] {
        assert!(posed(name, options).is_err(), "{name}");
    }
    assert!(Between::parse("orthogonl").unwrap_err().to_string().contains("orthogonal, uncorrelated"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn every_x_is_feasible_and_more_work_is_never_worse(
        n in 5usize..14, r in 1usize..4, extra in 0usize..3, weight in 0.0f64..0.3, seed in 0u64..1000,
    ) {
        let a = data(2 * n, n, seed);
        let scale = covariance(&a).get(0, 0);
        let counts: Vec<usize> = (0..r).map(|k| r + (k + extra) % 3).collect();
        let p = problem(&a, counts, weight * scale);
        let mut last = f64::INFINITY;
        for iterations in [1, 10, 100, 2000] {
            let found = solve(&p, seed, Some(iterations));
            feasible(&p, &found.x);
            prop_assert!(found.objective.total <= last, "{} after {last}", found.objective.total);
            last = found.objective.total;
        }
    }
}
