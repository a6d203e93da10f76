//! Measures on hostile tables: scores that depend on each other, repeated and empty columns, few samples, large and small units,
//! indefinite C, lists of limits. What is said is compared with an SVD and a QR factorisation of the scores.

use crate::common::{normal, rng};
use faer::Mat;
use faer::sparse::{SparseColMat, Triplet};
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::family::{AnyProblem, Effort, Family, Limit, Request, find_problem, pose};
use orthopt::objective::Evaluate;
use orthopt::problem::{Cardinality, ExplainedVariance, MeasuredProblem, PcaData, Storage, support};
use orthopt::smooth::{Centring, Measure, Smooth};
use orthopt::solve::{Solution, Status, Stopping};
use orthopt_core::constraint::stiefel;
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::sequential::qr;
use rand::RngExt;

const MEASURES: [Measure; 3] = [Measure::Adjusted, Measure::Polar, Measure::Explained];

/// Singular values of scores below this share of the size of the data are rounding.
const NOTHING: f64 = 1.5e-8;

/// A table that is hostile in the way of its number.
fn table(kind: usize, (m, n): (usize, usize), seed: u64) -> Mat<f64> {
    let mut rng = rng(seed * 31 + kind as u64);
    let mut a = Mat::from_fn(m, n, |_, _| normal(&mut rng));
    match kind {
        0 => {}
        1 => a = Mat::from_fn(m, n, |_, _| f64::from(rng.random_range(-5i32..5))),
        2 => (0..m).for_each(|i| (n / 2..n).for_each(|j| a[(i, j)] = a[(i, j - n / 2)])), // repeated
        3 => {
            let b = Mat::from_fn(n, 2, |_, _| normal(&mut rng)); // rank 2
            let left = a.subcols(0, 2.min(n)).to_owned();
            a = Mat::from_fn(m, n, |i, j| (0..2.min(n)).map(|k| left[(i, k)] * b[(j, k)]).sum());
        }
        4 => (0..m).for_each(|i| (1..n).for_each(|j| a[(i, j)] = a[(i, 0)] * (j as f64 + 1.0))), // rank 1
        5 => (0..m).for_each(|i| a[(i, n - 1)] = 0.0),
        6 => a = Mat::from_fn(m, n, |i, j| a[(i, j)] * 10f64.powi(-(j as i32))), // units
        _ => (0..m).for_each(|i| (1..n).for_each(|j| a[(i, j)] = a[(i, 0)] + 1e-4 * a[(i, j)])), // near copies
    }
    a
}
const KINDS: usize = 8;

fn centred(a: &Mat<f64>) -> Mat<f64> {
    let m = a.nrows() as f64;
    let mean: Vec<f64> = (0..a.ncols()).map(|j| (0..a.nrows()).map(|i| a[(i, j)]).sum::<f64>() / m).collect();
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] - mean[j])
}

fn times(a: &Mat<f64>, x: &RowMat) -> Mat<f64> {
    Mat::from_fn(a.nrows(), x.ncols(), |i, k| (0..a.ncols()).map(|j| a[(i, j)] * x.get(j, k)).sum())
}

fn trace(a: &Mat<f64>) -> f64 {
    a.squared_norm_l2()
}

/// The measures of X by factorisations of the scores of `a`: an SVD, and QR in the order of the columns.
struct Independent {
    adjusted: f64,
    polar: f64,
    explained: f64,
}

fn independent(a: &Mat<f64>, x: &RowMat) -> Independent {
    let t = times(a, x);
    let (m, r) = (t.nrows(), t.ncols());
    let svd = t.thin_svd().unwrap();
    let (u, s, v) = (svd.U(), svd.S().column_vector(), svd.V());
    let least = NOTHING * trace(a).sqrt();
    let mut explained = 0.0;
    for k in (0..m.min(r)).filter(|k| s[*k] > least) {
        for j in 0..a.ncols() {
            explained += (0..m).map(|i| u[(i, k)] * a[(i, j)]).sum::<f64>().powi(2);
        }
    }
    let root = |j: usize| (0..m.min(r)).map(|k| v[(j, k)].powi(2) * s[k]).sum::<f64>();
    let tall = Mat::from_fn(m.max(r), r, |i, k| if i < m { t[(i, k)] } else { 0.0 });
    // one column after the other, as those that are combinations of others take part no more
    let (mut kept, mut adjusted): (Vec<usize>, f64) = (Vec::new(), 0.0);
    for k in 0..r {
        kept.push(k);
        let part = Mat::from_fn(tall.nrows(), kept.len(), |i, l| tall[(i, kept[l])]);
        let pivot = qr(part.as_ref()).1.last().unwrap().abs();
        if pivot > least {
            adjusted += pivot * pivot;
        } else {
            kept.pop();
        }
    }
    Independent { adjusted, polar: (0..r).map(|j| root(j).powi(2)).sum(), explained }
}

fn options(measure: Measure, r: usize, limit: Limit) -> Request {
    Request { maximise: Some(measure), rank: Some(r.into()), ..Request::default() }.with_limit(Some(limit))
}

fn posed(data: &PcaData<'_>, options: &Request) -> orthopt::Result<MeasuredProblem> {
    match pose(find_problem("l0-pca").unwrap(), data, options)?.problem {
        AnyProblem::Measured(p) => Ok(p),
        other => panic!("not a measure: {other:?}"),
    }
}

/// The measures of r components that are not their variance.
fn of_rank(r: usize) -> impl Iterator<Item = Measure> {
    MEASURES.into_iter().filter(move |measure| r > 1 || *measure == Measure::Explained)
}

fn sparse(a: &Mat<f64>) -> SparseColMat<usize, f64> {
    let entries: Vec<_> = (0..a.ncols())
        .flat_map(|j| (0..a.nrows()).map(move |i| (i, j)))
        .filter(|at| a[*at] != 0.0)
        .map(|(i, j)| Triplet::new(i, j, a[(i, j)]))
        .collect();
    SparseColMat::try_new_from_triplets(a.nrows(), a.ncols(), &entries).unwrap()
}

fn gram(a: &Mat<f64>) -> Mat<f64> {
    a.transpose() * a
}

/// The sum of the r largest eigenvalues of AᵀA.
fn most(a: &Mat<f64>, r: usize) -> f64 {
    symmetric_eigenpairs(&RowMat::from_mat(gram(a).as_ref())).unwrap().0.iter().take(r).sum()
}

/// A short search.
fn solved(p: &impl Family, seed: u64) -> Solution {
    let wanted = Request { effort: Some(Effort::Quick), seed: Some(seed), ..Request::default() };
    let stopping = Stopping { max_iters: Some(40), time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    let plan = p.plan(&wanted).unwrap();
    let mut found = plan.run(p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap();
    p.order_components(&mut found);
    assert_ne!(found.status, Status::NumericalError);
    found
}

fn of(measure: Measure, all: &Independent) -> f64 {
    match measure {
        Measure::Adjusted => all.adjusted,
        Measure::Polar => all.polar,
        _ => all.explained,
    }
}

fn share(measure: Measure, all: &ExplainedVariance) -> f64 {
    match measure {
        Measure::Adjusted => all.total,
        Measure::Polar => all.polar,
        _ => all.predicted,
    }
}

/// F is that of an independent formula, and not beyond what there is.
fn is_true(p: &MeasuredProblem, a: &Mat<f64>, x: &RowMat, what: &str) {
    let (measure, all, r) = (p.f.measure(), trace(a), x.ncols());
    let value = -2.0 * p.value(x);
    let given = matches!(p.limits(), Cardinality::Components(list) if list.iter().any(|s| *s != list[0]));
    let orders = match measure == Measure::Adjusted && !given {
        true => by_own_variance(a, x),
        false => vec![x.clone()],
    };
    let others: Vec<f64> = orders.iter().map(|x| of(measure, &independent(a, x))).collect();
    let near = others.iter().any(|other| (value - other).abs() <= 1e-9 * all);
    assert!(near, "{what}: {value} {others:?}, tr C {all}\n{x:?}");
    assert!(value <= most(a, r) * (1.0 + 1e-9), "{what}: {value} of {}", most(a, r));
}

/// The same of what a run returns, and the table says the same.
fn agree(p: &MeasuredProblem, a: &Mat<f64>, x: &RowMat, what: &str) {
    is_true(p, a, x, what);
    let (value, told) = (-2.0 * p.value(x), share(p.f.measure(), &p.explained_variance(x).unwrap()));
    assert!(
        (told * trace(a) - value).abs() <= 1e-12 * trace(a),
        "{what}: {value}, the table {}",
        told * trace(a)
    );
}

/// Scores that depend on each other: more components than rank, columns of the null space, copies.
fn hostile_x(n: usize, r: usize, seed: u64) -> RowMat {
    let mut rng = rng(seed);
    match seed % 3 {
        0 => stiefel::random(n, r, &mut rng),
        1 => {
            let start = rng.random_range(0..n);
            RowMat::from_fn(n, r, |i, k| f64::from(u8::from(i == (start + k) % n)))
        }
        _ => {
            // sums and differences of pairs of variables
            let place = |i: usize, k: usize| i == 2 * (k / 2) % n || i == (2 * (k / 2) + 1) % n;
            let mut x = RowMat::from_fn(n, r, |i, k| match (place(i, k), k % 2 == 1 && i % 2 == 1) {
                (false, _) => 0.0,
                (true, second) => {
                    if second {
                        -0.5f64.sqrt()
                    } else {
                        0.5f64.sqrt()
                    }
                }
            });
            if stiefel::feasibility(&x) > 1e-12 {
                x = RowMat::from_fn(n, r, |i, k| f64::from(u8::from(i == k)));
            }
            x
        }
    }
}

/// In each of them: samples, centred ones, sparse ones, C.
#[test]
fn values_are_those_of_factorisations_of_the_scores() {
    for kind in 0..KINDS {
        for (m, n) in [(2, 3), (2, 8), (3, 4), (6, 4), (12, 5), (5, 9)] {
            let a = table(kind, (m, n), 7);
            let middle = centred(&a);
            let (thin, c) = (sparse(&a), gram(&a));
            for r in 1..=n.min(5) {
                for measure in of_rank(r) {
                    if kind == 6 && measure == Measure::Explained {
                        continue; // scores about as small as what counts for nothing: the two formulas leave out different parts of them
                    }
                    let options = options(measure, r, Limit::Nonzeros(vec![n]));
                    let storages = [
                        (PcaData::Dense(a.as_ref()), &a),
                        (PcaData::Centred(a.as_ref(), Centring::of(a.as_ref())), &middle),
                        (PcaData::Sparse(thin.as_ref(), None), &a),
                        (PcaData::Gram(c.as_ref()), &a),
                    ];
                    for (place, (data, a)) in storages.iter().enumerate() {
                        for storage in [Storage::Auto, Storage::Gram] {
                            if place == 3 && (storage == Storage::Gram || kind == 7 || kind == 6) {
                                continue; // C has half of the digits of what tells these apart
                            }
                            let p =
                                posed(data, &Request { storage: Some(storage), ..options.clone() }).unwrap();
                            for seed in 0..6 {
                                let x = hostile_x(n, r, seed);
                                let what =
                                    format!("{measure:?}, table {kind}, {m} x {n}, r = {r}, {place}, {seed}");
                                is_true(&p, a, &x, &what);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The columns of X in all orders of falling variances of their scores; equal ones have many.
fn by_own_variance(a: &Mat<f64>, x: &RowMat) -> Vec<RowMat> {
    let t = times(a, x);
    let own: Vec<f64> = (0..x.ncols()).map(|k| (0..t.nrows()).map(|i| t[(i, k)].powi(2)).sum()).collect();
    let slack = 1e-12 * own.iter().fold(0.0f64, |most, v| most.max(*v));
    let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..own.len() {
        let longer = |order: &Vec<usize>| {
            let left: Vec<usize> = (0..own.len()).filter(|k| !order.contains(k)).collect();
            let most = left.iter().fold(0.0f64, |most, k| most.max(own[*k]));
            let next = left.into_iter().filter(|k| own[*k] >= most - slack);
            next.map(|k| order.iter().copied().chain([k]).collect()).collect::<Vec<Vec<usize>>>()
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    orders.iter().map(|order| RowMat::from_fn(x.nrows(), order.len(), |i, k| x.get(i, order[k]))).collect()
}

/// No search claims more than there is, and what is said of its result is true.
#[test]
fn no_search_climbs_rounding() {
    for kind in 0..KINDS {
        for (m, n, seed) in [(2, 4, 1), (3, 5, 2), (10, 5, 4)] {
            let a = table(kind, (m, n), seed);
            let a = if seed % 2 == 0 { a } else { centred(&a) };
            let c = gram(&a);
            for r in [1, n - 2] {
                for measure in of_rank(r) {
                    for k in [1, n - 1] {
                        for given in [false, true] {
                            if given && kind >= 6 {
                                continue;
                            }
                            let data =
                                if given { PcaData::Gram(c.as_ref()) } else { PcaData::Dense(a.as_ref()) };
                            let p = posed(&data, &options(measure, r, Limit::Nonzeros(vec![k]))).unwrap();
                            let found = solved(&p, seed);
                            let what =
                                format!("{measure:?}, table {kind}, {m} x {n}, r = {r}, k = {k}, C {given}");
                            assert!(found.objective.total == p.value(&found.x), "{what}");
                            p.check(&found.x, "X").unwrap();
                            agree(&p, &a, &found.x, &what);
                            if measure != Measure::Explained || k == 1 {
                                continue;
                            }
                            let bound = p
                                .lower_bound(Some(&found.x), &Default::default(), &Cancel::never(), &|_| {})
                                .unwrap();
                            assert!(bound.value <= found.objective.total + 1e-9 * trace(&a), "{what}");
                        }
                    }
                }
            }
        }
    }
}

/// Data times 2^400 and 2^-400, C times 2^800 and 2^-800: the same bits of X, and of F but for the exponent.
#[test]
fn units_change_no_bit_of_what_is_measured() {
    for kind in [0, 3, 5] {
        let a = table(kind, (6, 5), 11);
        for measure in MEASURES {
            let run = |power: i32| {
                let scaled = Mat::from_fn(6, 5, |i, j| a[(i, j)] * 2f64.powi(power));
                let data = PcaData::Dense(scaled.as_ref());
                let options = options(measure, 3, Limit::Nonzeros(vec![2]));
                let p = pose(find_problem("l0-pca").unwrap(), &data, &options).unwrap().problem;
                let found = solved(&p, 1);
                let shares = p.explained_variance(&found.x).unwrap();
                let value = p.value(&found.x) * 2f64.powi(-power) * 2f64.powi(-power);
                (found.x, value, share(measure, &shares))
            };
            let known = run(0);
            assert!(known.1.is_finite() && known.2 > 0.0);
            for power in [1, 40, -40, 61, -61, 250, -250, 400, -400] {
                assert_eq!(known, run(power), "{measure:?}, table {kind}, 2^{power}");
            }
        }
    }
}

/// Of one component with one variable every variable is tried.
#[test]
fn the_best_of_n_variables_is_found() {
    for seed in 0..40 {
        let (m, n) = (2 + seed as usize % 3, 8);
        let a = table(seed as usize % KINDS, (m, n), seed);
        let p = posed(&PcaData::Dense(a.as_ref()), &options(Measure::Explained, 1, Limit::Nonzeros(vec![1])));
        let p = p.unwrap();
        let best = (0..n)
            .map(|j| p.value(&RowMat::from_fn(n, 1, |i, _| f64::from(u8::from(i == j)))))
            .fold(0.0f64, f64::min);
        let found = solved(&p, seed);
        assert!(found.objective.total <= best * (1.0 - 1e-9), "{seed}: {} {best}", found.objective.total);
    }
}

/// A list of limits that differ belongs to components in the order of the list, and so does F.
#[test]
fn lists_of_limits_have_one_order() {
    for seed in 0..30 {
        let mut rng = rng(seed);
        let (m, n) = (rng.random_range(2..7), rng.random_range(3..6));
        let a = table(seed as usize % KINDS, (m, n), seed);
        let r = rng.random_range(2..=3);
        let list: Vec<usize> = (0..r).map(|_| rng.random_range(1..=n)).collect();
        let p =
            posed(&PcaData::Dense(a.as_ref()), &options(Measure::Adjusted, r, Limit::Nonzeros(list.clone())));
        let p = p.unwrap();
        let found = solved(&p, seed);
        assert!((0..r).all(|k| support(&found.x, k).len() <= list[k]), "{list:?}");
        agree(&p, &a, &found.x, &format!("{seed}: {list:?}"));
    }
}

/// Two scores of one size that are nearly, and exactly, the same: all digits of polar variance.
#[test]
fn polar_variance_of_equal_scores_has_all_digits() {
    for angle in [0.0, 1e-9, 1e-7, 1e-3, 0.5] {
        // scores (1, 0) and (cos, sin): S^{1/2} of [[1, c], [c, 1]] has the diagonal (√(1 + c) + √(1 − c))/2
        let (sin, cos) = f64::sin_cos(angle);
        let a = Mat::from_fn(2, 2, |i, j| [[1.0, cos], [0.0, sin]][i][j]);
        let p = posed(&PcaData::Dense(a.as_ref()), &options(Measure::Polar, 2, Limit::Nonzeros(vec![1])))
            .unwrap();
        let x = RowMat::from_fn(2, 2, |i, k| f64::from(u8::from(i == k)));
        let half = 0.5 * angle;
        let root = (half.cos() + half.sin()) / 2f64.sqrt();
        assert!((-2.0 * p.value(&x) - 2.0 * root * root).abs() <= 1e-14, "{angle}");
    }
}

/// Gradients where the scores are well apart but C is singular.
#[test]
fn gradients_are_those_of_differences_where_c_is_singular() {
    for kind in [2, 3, 5] {
        let a = table(kind, (7, 6), 5);
        for measure in MEASURES {
            let p =
                posed(&PcaData::Dense(a.as_ref()), &options(measure, 2, Limit::Nonzeros(vec![6]))).unwrap();
            let x = stiefel::random(6, 2, &mut rng(3));
            let mut g = RowMat::zeros(6, 2);
            let value = p.f.value_and_gradient(&x, &mut g);
            assert_eq!(value, p.f.value(&x));
            for e in 0..12 {
                let at = |t: f64| {
                    let mut y = x.clone();
                    y.data_mut()[e] += t;
                    p.f.value(&y)
                };
                let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((slope - g.data()[e]).abs() <= 1e-6 * value.abs(), "{measure:?} {kind} {e}: {slope}");
            }
        }
    }
}

/// An indefinite C is refused wherever a measure of it is asked for; one that rounding has made so is not.
#[test]
fn measures_are_for_matrices_of_variances() {
    let c = faer::mat![[1.0, 2.0], [2.0, 1.0]];
    let wide = faer::mat![[1.0, 0.9, 0.2], [0.9, 1.0, 0.9], [0.2, 0.9, 1.0]]; // 2.4, .8 and -.2
    for c in [&c, &wide] {
        for measure in MEASURES {
            let error = posed(&PcaData::Gram(c.as_ref()), &options(measure, 2, Limit::Nonzeros(vec![1])));
            let said = error.unwrap_err().to_string();
            assert!(said.contains("indefinite") && said.contains("`nearest`"), "{said}");
            let model =
                orthopt::problem::covariance_model(&PcaData::Gram(c.as_ref()), Storage::Auto).unwrap();
            assert!(orthopt::smooth::Measured::new(model, measure).is_err());
        }
        let both = Request {
            maximise: None,
            constraint: Some(orthopt::family::Between::Both),
            ..options(Measure::Variance, 2, Limit::Nonzeros(vec![2]))
        };
        assert!(posed(&PcaData::Gram(c.as_ref()), &both).is_ok(), "variance is for any C");
    }
    for share in [1e-11, 9e-11, 2e-10] {
        let c = faer::mat![[1.0, 0.0], [0.0, -share]];
        let made =
            posed(&PcaData::Gram(c.as_ref()), &options(Measure::Explained, 1, Limit::Nonzeros(vec![1])));
        assert_eq!(made.is_ok(), share <= 1e-10, "{share}");
    }
}

/// Two scores that are the same have half of the trace as polar variance, to all digits and whatever their variance is: a root of what
/// rounding leaves of a pivot would be 1e-8.
#[test]
fn polar_variance_of_two_equal_scores_is_half_whatever_their_variance() {
    let mut rng = rng(5);
    for _ in 0..400 {
        let variance: f64 = rng.random_range(1.0..4.0);
        let n = rng.random_range(2..6);
        let c = Mat::from_fn(n, n, |_, _| variance);
        let f = orthopt::problem::covariance_model(&PcaData::Gram(c.as_ref()), Storage::Auto).unwrap();
        let x = RowMat::from_fn(n, 2, |i, k| f64::from(u8::from(i == k)));
        let found = orthopt::problem::explained_variance(&f, &x);
        let share = 1.0 / n as f64;
        assert!((found.polar - share).abs() <= 1e-13, "{variance}, {n} variables: {}", found.polar - share);
    }
}

/// A search begins and ends with an X within its limits on every hostile table, the one of zeros too: where components may have more nonzeros than
/// there are variables, where there are many of them, and where each has a least number of nonzeros. So do its starts.
#[test]
fn a_search_begins_on_any_table() {
    let (m, n) = (7, 10);
    for kind in 0..=KINDS {
        let a = if kind < KINDS { table(kind, (m, n), 5) } else { Mat::zeros(m, n) };
        for measure in [Measure::Adjusted, Measure::Polar] {
            let list =
                |r: usize, most: usize| (options(measure, r, Limit::Nonzeros(vec![most; r])), 1, r * most);
            let total = |r: usize, total: usize, least: usize| {
                let min_nonzeros = Some(least);
                (Request { min_nonzeros, ..options(measure, r, Limit::Total(total)) }, least, total)
            };
            let unequal = options(measure, 5, Limit::Nonzeros(vec![5, 4, 3, 2, 1]));
            let cases =
                [list(6, 3), list(10, 2), list(3, 3), (unequal, 1, 15), total(4, 16, 3), total(4, 9, 2)];
            for (case, (options, least, most)) in cases.into_iter().enumerate() {
                let p = posed(&PcaData::Dense(a.as_ref()), &options).unwrap();
                let is_right = |x: &RowMat, what: &str| {
                    let counts: Vec<usize> = (0..x.ncols()).map(|k| support(x, k).len()).collect();
                    let why = format!("table {kind}, case {case}, {measure:?}, {what}: {counts:?}");
                    assert!(stiefel::feasibility(x) <= 1e-10 && p.check(x, "X").is_ok(), "{why}");
                    assert!(
                        counts.iter().all(|c| *c >= least) && counts.iter().sum::<usize>() <= most,
                        "{why}"
                    );
                };
                is_right(&solved(&p, 1).x, "search");
                for start in ["shared", "k-components", "pruned"] {
                    is_right(&p.start(start, 1).unwrap(), start);
                }
                if let Ok(x) = p.start("sequential", 1) {
                    is_right(&x, "sequential");
                }
            }
        }
    }
}

/// Components one after the other are found where those before them have used up the rows.
#[test]
fn sequential_components_share_rows_where_none_are_left() {
    for kind in 0..KINDS {
        let a = table(kind, (12, 9), 3);
        let options = options(Measure::Adjusted, 7, Limit::Nonzeros(vec![3; 7]));
        let options = Request { order: Some(orthopt::smooth::Order::Sequential), ..options };
        let p = posed(&PcaData::Dense(a.as_ref()), &options).unwrap();
        let found = solved(&p, 1);
        assert_eq!(found.status, Status::Converged, "table {kind}: {}", found.message);
        assert!(p.check(&found.x, "X").is_ok(), "table {kind}");
    }
}

/// Where limits allow more nonzeros than there are variables, components that share rows explain more than those that share none.
#[test]
fn shared_rows_explain_more_where_disjoint_ones_leave_nonzeros_unused() {
    for seed in 0..8 {
        let a = table((seed % 2) as usize, (30, 24), seed);
        for (r, most) in [(10, 6), (18, 4)] {
            let options = options(Measure::Adjusted, r, Limit::Nonzeros(vec![most; r]));
            let p = posed(&PcaData::Dense(a.as_ref()), &options).unwrap();
            let [shared, apart, one_by_one] =
                ["shared", "k-components", "sequential"].map(|name| p.value(&p.start(name, seed).unwrap()));
            assert!(one_by_one < apart, "{seed}, {r} x {most}: {one_by_one} and {apart}");
            assert!(shared < apart - 0.02 * apart.abs(), "{seed}, {r} x {most}: {shared} and {apart}");
        }
    }
}
