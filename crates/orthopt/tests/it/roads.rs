//! One idea, one answer: problems that are asked for in two ways, components that are orthogonal and uncorrelated at once, limits that
//! leave few X, and tables on which every gain is rounding.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::common::{gaussian, rng};
use faer::Mat;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::family::{
    AnyProblem, Between, Effort, Family, Limit, PROBLEMS, Posed, Request, find_problem, pose,
};
use orthopt::objective::Evaluate;
use orthopt::problem::{PcaData, support};
use orthopt::smooth::{Measure, Order};
use orthopt::solve::{Solution, Status, Stopping};
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::parallel::alone;
use rand::RngExt;

const STOPPING: Stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };

fn posed(name: &str, data: &PcaData<'_>, rank: usize, options: &Request) -> orthopt::Result<Posed> {
    let options = Request { rank: Some(rank.into()), ..options.clone() };
    pose(find_problem(name).unwrap(), data, &options)
}

fn run(problem: &AnyProblem, wanted: &Request, stopping: &Stopping) -> orthopt::Result<Solution> {
    problem.plan(wanted)?.run(problem, wanted, stopping, None, &Cancel::never(), &mut [])
}

fn solved(name: &str, c: &Mat<f64>, rank: usize, options: &Request) -> orthopt::Result<Solution> {
    let problem = posed(name, &PcaData::Gram(c.as_ref()), rank, options)?.problem;
    let wanted = Request { effort: Some(Effort::Quick), ..Request::default() };
    let found = run(&problem, &wanted, &STOPPING)?;
    problem.check(&found.x, "X").unwrap();
    Ok(found)
}

fn counts(limit: &[usize]) -> Request {
    Request::default().with_limit(Some(Limit::Nonzeros(limit.to_vec())))
}

fn total(total: usize, min: Option<usize>, max: Option<usize>) -> Request {
    let limit = Some(Limit::Total(total));
    Request { min_nonzeros: min, max_nonzeros: max, ..Request::default() }.with_limit(limit)
}

fn between(between: Between, options: Request) -> Request {
    Request { constraint: Some(between), ..options }
}

fn pitprops() -> Mat<f64> {
    orthopt_data::load("builtin:pitprops", &Default::default()).unwrap().matrix.to_dense()
}

fn gram(a: &Mat<f64>) -> Mat<f64> {
    a.transpose() * a
}

fn from_rows<const N: usize>(rows: &[[f64; N]]) -> Mat<f64> {
    Mat::from_fn(rows.len(), N, |i, j| rows[i][j])
}

/// F, status, words and what is said of the limits, of a problem as it is asked for.
fn answer(name: &str, data: &PcaData<'_>, rank: usize, options: &Request) -> (f64, Status, String, String) {
    let posed = posed(name, data, rank, options).unwrap();
    let wanted = Request::default();
    let found = run(&posed.problem, &wanted, &STOPPING).unwrap();
    let limits = posed.limits.map_or_else(String::new, |limits| limits.words());
    (found.objective.total, found.status, found.message, limits)
}

/// Two ways of asking for one problem with limits pose the same problem, so that nothing else can differ.
#[test]
fn limits_have_one_form() {
    let all = [Between::Orthogonal, Between::Uncorrelated, Between::Both];
    let c = pitprops();
    let form = |rank: usize, options: &Request| {
        let posed = posed("l0-pca", &PcaData::Gram(c.as_ref()), rank, options).unwrap();
        let kind = match posed.problem {
            AnyProblem::Cardinality(_) => "cardinality",
            AnyProblem::Measured(p) if p.takes_one_by_one() => "uncorrelated",
            AnyProblem::Measured(_) => "measured",
            _ => "other",
        };
        (kind, format!("{:?}", posed.limits), posed.notes, posed.reasons, posed.statement, posed.title)
    };
    for constraint in all {
        let same = [
            (3, counts(&[4]), counts(&[4, 4, 4])),
            (3, counts(&[4]), total(12, Some(4), Some(4))),
            (3, counts(&[4]), total(12, Some(4), None)),
            (3, counts(&[4]), total(12, None, Some(4))),
            (3, counts(&[4]), total(30, Some(4), Some(4))),
            (3, counts(&[4]), total(39, None, Some(4))),
            (1, counts(&[4]), total(4, None, None)),
            (1, counts(&[4]), total(9, Some(1), Some(4))),
            (3, total(12, None, None), total(12, Some(1), Some(13))),
            (3, total(12, None, None), total(12, None, Some(10))),
        ];
        for (rank, one, other) in same {
            let (one, other) = (between(constraint, one), between(constraint, other));
            assert_eq!(
                form(rank, &one),
                form(rank, &other),
                "{constraint:?} {:?} {:?}",
                one.limit(),
                other.limit()
            );
        }
        // where something is left to choose it stays a total
        let free = between(constraint, total(12, Some(2), Some(6)));
        assert!(form(3, &free).1.contains("Total"), "{constraint:?}");
    }
    let variables = Request::default().with_limit(Some(Limit::Variables(4)));
    assert_eq!(form(1, &variables), form(1, &counts(&[4])));
    assert_ne!(form(2, &variables), form(2, &counts(&[4])));
    // what no X meets is refused, however it is said
    for wrong in [total(12, Some(5), None), total(12, Some(5), Some(4)), total(2, None, Some(4))] {
        assert!(posed("l0-pca", &PcaData::Gram(c.as_ref()), 3, &wrong).is_err(), "{wrong:?}");
    }
}

/// What excludes no X is plain PCA, and says that its X is the minimum, in the same words.
#[test]
fn what_excludes_nothing_is_plain_pca() {
    let a = gaussian(20, 6, 3);
    let c = gram(&a);
    let n = 6;
    let variables = Request::default().with_limit(Some(Limit::Variables(n)));
    let lambda = Request { lambda: Some(0.0), ..Request::default() };
    let all = [
        ("pca", Request::default()),
        ("l0-pca", counts(&[n])),
        ("l0-pca", counts(&[n, n])),
        ("pca", counts(&[n])),
        ("l0-pca", total(2 * n, None, None)),
        ("l0-pca", total(2 * n, Some(n), Some(n))),
        ("l0-pca", variables),
        ("l0-pca", lambda.clone()),
        ("l1-pca", lambda),
    ];
    let (values, _) = symmetric_eigenpairs(&RowMat::from_fn(n, n, |i, j| c[(i, j)])).unwrap();
    let minimum = -0.5 * values[..2].iter().sum::<f64>();
    let mut said = Vec::new();
    for (name, options) in all {
        for data in [PcaData::Gram(c.as_ref()), PcaData::Dense(a.as_ref())] {
            let (objective, status, message, _) = answer(name, &data, 2, &options);
            assert!((objective - minimum).abs() <= 1e-12 * minimum.abs(), "{name} {options:?}: {objective}");
            assert_eq!(status, Status::Optimal, "{name} {options:?}: {message}");
            said.push(message);
        }
    }
    said.dedup();
    assert_eq!(said.len(), 1, "{said:?}");
}

/// Where nothing binds a search that is asked for ends at plain PCA, whatever is maximised and however few of the components have
/// variance.
#[test]
fn an_effort_leaves_plain_pca_what_it_is() {
    for seed in 0..6u64 {
        let low = gaussian(9, 2 + seed as usize % 2, seed) * gaussian(2 + seed as usize % 2, 5, seed + 50);
        let a = Mat::from_fn(9, 5, |i, j| low[(i, if j == 4 { 1 } else { j })]); // a column twice
        let c = gram(&a);
        let (values, _) = symmetric_eigenpairs(&RowMat::from_fn(5, 5, |i, j| c[(i, j)])).unwrap();
        for measure in [Measure::Adjusted, Measure::Polar, Measure::Explained] {
            let options = Request { maximise: Some(measure), ..Request::default() };
            let problem = posed("pca", &PcaData::Dense(a.as_ref()), 3, &options).unwrap().problem;
            let wanted = Request { effort: Some(Effort::Quick), ..Request::default() };
            let found = run(&problem, &wanted, &Stopping { max_iters: Some(30), ..STOPPING }).unwrap();
            let minimum = -0.5 * values[..3].iter().sum::<f64>();
            let off = (found.objective.total - minimum).abs();
            assert!(off <= 1e-9 * minimum.abs(), "{seed} {measure:?}: {off:e}, {}", found.message);
        }
    }
}

/// One component has no other one to be uncorrelated with: one problem, whatever the constraint is called.
#[test]
fn one_component_is_uncorrelated_with_no_other() {
    let (a, c) = (gaussian(2, 6, 4), gram(&gaussian(9, 6, 5)));
    for data in [PcaData::Dense(a.as_ref()), PcaData::Gram(c.as_ref())] {
        for options in [counts(&[1]), counts(&[3]), total(2, None, None)] {
            let plain = answer("l0-pca", &data, 1, &options);
            for tied in [Between::Uncorrelated, Between::Both] {
                assert_eq!(answer("l0-pca", &data, 1, &between(tied, options.clone())), plain, "{options:?}");
            }
            let in_order = Request { order: Some(Order::Sequential), ..options.clone() };
            assert_eq!(answer("l0-pca", &data, 1, &in_order), plain, "{options:?}");
            let explained = Request { maximise: Some(Measure::Explained), ..options };
            let plain = answer("l0-pca", &data, 1, &explained);
            assert_eq!(answer("l0-pca", &data, 1, &between(Between::Both, explained)), plain);
        }
    }
}

/// Neither of the two solvers finds the better X on all data: with both in one search it is found on either road.
#[test]
fn the_better_of_two_solvers_is_found() {
    let c = pitprops();
    for options in [counts(&[4]), total(12, Some(4), Some(4))] {
        let data = PcaData::Gram(c.as_ref());
        let (objective, ..) = answer("l0-pca", &data, 3, &between(Between::Uncorrelated, options.clone()));
        assert!(objective <= -3.245_482 + 1e-6, "{objective}");
        let variance = Request { maximise: Some(Measure::Variance), ..options };
        let (objective, status, ..) = answer("l0-pca", &data, 3, &variance);
        assert!(matches!(status, Status::Optimal | Status::Converged), "{objective}"); // the work says whether it is proved
    }
    let a = orthopt_data::load("randn:60:12:1", &Default::default()).unwrap().matrix.to_dense();
    let options = between(Between::Uncorrelated, counts(&[4]));
    let (objective, ..) = answer("l0-pca", &PcaData::Dense(a.as_ref()), 3, &options);
    assert!(objective <= -143.276_865 + 1e-5, "{objective}");
}

/// Variance of the best X on rows that all columns share.
fn best_common(c: &Mat<f64>, r: usize, k: usize) -> f64 {
    let mut best = 0.0f64;
    for set in sets(c.nrows(), k) {
        let block = RowMat::from_fn(k, k, |a, b| c[(set[a], set[b])]);
        best = best.max(symmetric_eigenpairs(&block).unwrap().0[..r].iter().sum());
    }
    best
}

/// Variance of the best pair of columns on rows of their own that do not meet, and of one column of the pair on one or two rows: what
/// one angle decides, on a grid.
fn best_apart(c: &Mat<f64>) -> f64 {
    const GRID: usize = 181;
    let n = c.nrows();
    let mut best = 0.0f64;
    for s in sets(n, 2) {
        for t in sets(n, 2).into_iter().filter(|t| t.iter().all(|i| !s.contains(i))) {
            for g in 0..GRID {
                let angle = std::f64::consts::PI * g as f64 / GRID as f64;
                let x = [angle.cos(), angle.sin()];
                let image = |i: usize| x[0] * c[(i, s[0])] + x[1] * c[(i, s[1])];
                let (u, v) = (image(t[0]), image(t[1]));
                let length = u.hypot(v).max(f64::MIN_POSITIVE);
                let y = [v / length, -u / length];
                let own = x[0] * image(s[0]) + x[1] * image(s[1]);
                let other = |a: usize| y[0] * c[(t[a], t[0])] + y[1] * c[(t[a], t[1])];
                best = best.max(own + y[0] * other(0) + y[1] * other(1));
            }
        }
    }
    best
}

/// All sets of k of n rows.
fn sets(n: usize, k: usize) -> Vec<Vec<usize>> {
    (0..1usize << n)
        .filter(|mask| mask.count_ones() as usize == k)
        .map(|mask| (0..n).filter(|i| mask >> i & 1 == 1).collect())
        .collect()
}

/// X on rows that all columns share is one with both constraints, and nothing on a grid over all supports is better.
#[test]
fn both_constraints_miss_no_shared_rows() {
    let mut random = rng(11);
    for case in 0..24u64 {
        let (n, r) = (5 + (case % 3) as usize, 2 + (case % 2) as usize);
        let k = r + random.random_range(0..=1usize);
        let g = gaussian(n + 2, n, 100 + case);
        let a = Mat::from_fn(n + 2, n, |i, j| g[(i, j)] * (1.0 + j as f64) + 0.8 * g[(i, j % 2)]);
        let c = gram(&a);
        let found = solved("l0-pca", &c, r, &between(Between::Both, counts(&[k]))).unwrap();
        let variance = -2.0 * found.objective.total;
        let common = best_common(&c, r, k);
        assert!(variance >= common * (1.0 - 1e-12), "case {case}: {variance} below {common} of shared rows");
        if (r, k) == (2, 2) {
            let apart = best_apart(&c);
            assert!(
                variance >= apart * (1.0 - 1e-12),
                "case {case}: {variance} below {apart} of single rows"
            );
        }
    }
    // F of `variables` with the same number is not lower
    let c = from_rows(&COMMON);
    let both = solved("l0-pca", &c, 2, &between(Between::Both, counts(&[2]))).unwrap();
    let variables = Request::default().with_limit(Some(Limit::Variables(2)));
    let selected = solved("l0-pca", &c, 2, &variables).unwrap();
    assert!(both.objective.total <= selected.objective.total * (1.0 - 1e-12), "{}", both.objective.total);
}

/// What scores explain on shared rows is no sum over the columns: the rows that explain most are searched for as well.
#[test]
fn both_constraints_explain_what_shared_rows_do() {
    for case in 0..12u64 {
        let (n, r, k) = (5, 3, 3 + case as usize % 2);
        let g = gaussian(13, 4, 200 + case);
        let a = Mat::from_fn(13, n, |i, j| g[(i, (j * (1 + case as usize % 3)) % 4)]); // columns that repeat others
        let options = Request { maximise: Some(Measure::Explained), ..counts(&[k]) };
        let problem = posed("l0-pca", &PcaData::Dense(a.as_ref()), r, &between(Between::Both, options))
            .unwrap()
            .problem;
        let wanted = Request { effort: Some(Effort::Quick), ..Request::default() };
        let found = run(&problem, &wanted, &Stopping { max_iters: Some(30), ..STOPPING }).unwrap();
        let c = gram(&a);
        for set in sets(n, k) {
            let block = RowMat::from_fn(k, k, |p, q| c[(set[p], set[q])]);
            let (_, v) = symmetric_eigenpairs(&block).unwrap();
            let mut x = RowMat::zeros(n, r);
            set.iter().enumerate().for_each(|(p, i)| (0..r).for_each(|j| x.set(*i, j, v.get(p, j))));
            let other = problem.value(&x);
            assert!(found.objective.total <= other + 1e-9 * other.abs(), "{case}: {set:?} has {other}");
        }
    }
}

/// Columns on shared rows explain 74 % of it, on rows of their own 66 %.
const COMMON: [[f64; 5]; 5] = [
    [3.164133591888608, 0.9348619366629258, -2.1201928626577997, 3.246019423226655, 0.30828314220547887],
    [0.9348619366629258, 4.780837010733549, -1.2782502791766415, 2.503844617544759, -1.1258812560733094],
    [-2.1201928626577997, -1.2782502791766415, 2.2395646367767306, -2.0351624000294115, -1.9517449290854414],
    [3.246019423226655, 2.503844617544759, -2.0351624000294115, 9.74414387595209, -5.128823883681212],
    [0.30828314220547887, -1.1258812560733094, -1.9517449290854414, -5.128823883681212, 17.576723463726843],
];

/// Zeros of C itself leave X where there are fewer unknowns than equations.
#[test]
fn zeros_of_the_covariance_leave_solutions() {
    let diagonal = Mat::from_fn(4, 4, |i, j| if i == j { 4.0 - i as f64 } else { 0.0 });
    let blocks =
        from_rows(&[[2.0, 1.0, 0.0, 0.0], [1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 3.0, 1.0], [0.0, 0.0, 1.0, 3.0]]);
    for constraint in [Between::Both, Between::Uncorrelated] {
        let found = solved("l0-pca", &diagonal, 2, &between(constraint, counts(&[1]))).unwrap();
        assert!((found.objective.total + 3.5).abs() <= 1e-12, "{constraint:?}: {}", found.objective.total);
        let found = solved("l0-pca", &diagonal, 3, &between(constraint, total(3, None, None))).unwrap();
        assert!((found.objective.total + 4.5).abs() <= 1e-12, "{constraint:?}: {}", found.objective.total);
    }
    let found = solved("l0-pca", &blocks, 4, &between(Between::Both, counts(&[2]))).unwrap();
    assert!((found.objective.total + 5.0).abs() <= 1e-12, "{}", found.objective.total);
    // a C without zeros has none, which is said after a search for them
    let full = Mat::from_fn(5, 5, |i, j| if i == j { 5.0 } else { 1.0 / (1 + i + j) as f64 });
    for constraint in [Between::Both, Between::Uncorrelated] {
        let said = solved("l0-pca", &full, 2, &between(constraint, counts(&[1]))).unwrap_err().to_string();
        assert!(said.starts_with("no X with ") && said.contains("allow more nonzeros"), "{said}");
        assert!(said.contains("1 equations"), "{said}");
    }
}

/// λ alone does not say how many nonzeros there are; beside a number of them it is a price.
#[test]
fn uncorrelated_scores_need_a_number_of_nonzeros() {
    let c = gram(&gaussian(20, 6, 1));
    let lambda = Request { lambda: Some(1.0), ..Request::default() };
    for constraint in [Between::Both, Between::Uncorrelated] {
        let said = solved("l0-pca", &c, 2, &between(constraint, lambda.clone())).unwrap_err().to_string();
        assert!(said.contains("needs a number of nonzeros for each component"), "{said}");
        for k in [4, 6] {
            let priced = Request { lambda: Some(1.0), ..between(constraint, counts(&[k])) };
            let found = solved("l0-pca", &c, 2, &priced).unwrap();
            let free = solved("l0-pca", &c, 2, &between(constraint, counts(&[k]))).unwrap();
            let price = free.nnz as f64;
            assert!(found.objective.total <= free.objective.total + price + 1e-9, "{constraint:?} {k}");
        }
    }
}

/// C of rank 1: components of its null space have no variance, and so are uncorrelated with all others.
#[test]
fn components_without_variance_are_uncorrelated() {
    let v = [0.186_405, 2.387_694, 1.865_832, 3.116_657, 0.857_544];
    let c = Mat::from_fn(5, 5, |i, j| v[i] * v[j]);
    for scale in [1.0, 2f64.powi(300), 2f64.powi(-300)] {
        let c = Mat::from_fn(5, 5, |i, j| c[(i, j)] * scale);
        for list in [vec![4, 2, 3], vec![3, 3, 3], vec![2, 3, 4]] {
            for constraint in [Between::Uncorrelated, Between::Both] {
                let found = solved("l0-pca", &c, 3, &between(constraint, counts(&list)));
                let found =
                    found.unwrap_or_else(|error| panic!("{constraint:?} {list:?} {scale:e}: {error}"));
                assert!(
                    found.objective.total < 0.0 && found.feasibility <= 1e-9,
                    "{list:?}: {:e}",
                    found.feasibility
                );
                assert!(found.status != Status::NumericalError, "{}", found.message);
                let most: f64 = support(&found.x, 0).len() as f64;
                assert!(most <= 4.0);
            }
        }
    }
}

/// Tables on which some components add nothing but rounding.
fn degenerate() -> Vec<(&'static str, Mat<f64>)> {
    let repeated = from_rows(&[
        [
            -0.07700584976202403,
            1.892388528270538,
            2.8457242257845157,
            -0.3429197320019974,
            -0.07700584976202403,
        ],
        [
            -0.9999059397387864,
            2.3826412552353156,
            -0.18772729998615725,
            1.1002625001468578,
            -0.9999059397387864,
        ],
        [
            -0.4270820876609902,
            -0.32356683593703045,
            -0.8289826793864283,
            0.5204849539714191,
            -0.4270820876609902,
        ],
    ]);
    let scores = [
        0.21658261874114,
        0.6910066138415846,
        -0.36692312154796436,
        -0.09279207527423813,
        -0.002702422300117089,
        0.6680425740443554,
        -0.13231091825764715,
        0.24772062136744044,
        -0.20168951626261863,
        -0.3935377915950346,
        -0.5887701164210825,
        -0.40876900137634675,
    ];
    let loadings = [1.0, 2.753_136_290_812_6, -0.287_749_355_3];
    let g = gaussian(8, 5, 4);
    vec![
        ("rank 1", Mat::from_fn(12, 3, |i, j| scores[i] * loadings[j])),
        ("repeated", repeated),
        ("zero column", Mat::from_fn(8, 5, |i, j| if j == 2 { 0.0 } else { g[(i, j)] })),
        ("constant", Mat::from_fn(6, 4, |_, j| 1.0 + j as f64)),
        ("zero", Mat::zeros(6, 4)),
        ("one row", Mat::from_fn(1, 5, |_, j| g[(0, j)])),
        ("ties", Mat::from_fn(5, 5, |i, j| f64::from(u8::from(i == j)))),
    ]
}

/// Columns without their means.
fn centred(a: &Mat<f64>) -> Mat<f64> {
    let m = a.nrows() as f64;
    let mean = |j: usize| (0..a.nrows()).map(|i| a[(i, j)]).sum::<f64>() / m;
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)] - mean(j))
}

/// Every way to ask for components of a table.
fn questions(n: usize) -> Vec<(&'static str, Request)> {
    let mut all = Vec::new();
    let limits = [
        counts(&[1]),
        counts(&[2]),
        total(5, None, None),
        total(6, Some(1), Some(3)),
        Request::default().with_limit(Some(Limit::Variables(3))),
        Request { lambda: Some(0.1), ..Request::default() },
        counts(&[n]),
    ];
    for limit in limits {
        for maximise in [Measure::Variance, Measure::Adjusted, Measure::Polar, Measure::Explained] {
            for order in [Order::Joint, Order::Sequential] {
                for between in [Between::Orthogonal, Between::Uncorrelated, Between::Both] {
                    all.push((
                        "l0-pca",
                        Request {
                            maximise: Some(maximise),
                            order: Some(order),
                            constraint: Some(between),
                            ..limit.clone()
                        },
                    ));
                }
            }
        }
    }
    let others = PROBLEMS.iter().filter(|info| info.name != "l0-pca" && info.name != "nonlinear-eig");
    all.extend(others.map(|info| (info.name, Request::default())));
    all
}

/// Seconds of a limit, and of the processor that everything may take beyond it.
const LIMIT: f64 = 0.03;
const BEYOND: f64 = 2.0;

/// Every question of a degenerate table ends near its limit of time, with a finite F of a feasible X, or is refused.
#[test]
fn rounding_is_never_a_gain_for_ever() {
    for (name, table) in degenerate() {
        let (to, from) = channel();
        let watched = name;
        let worker = std::thread::spawn(move || {
            to.send(Seen::Thread(std::fs::canonicalize("/proc/thread-self").ok())).unwrap();
            for a in [table.clone(), centred(&table)] {
                for (problem, options) in questions(a.ncols()) {
                    for rank in [2, 3, a.ncols()] {
                        let words = format!("{watched}: {problem}, r = {rank}, {options:?}");
                        to.send(Seen::Question(words.clone())).unwrap();
                        // all of it on this thread, whose clock is checked
                        alone(|| asked(problem, &a, rank, &options, &words));
                    }
                }
            }
            to.send(Seen::End).unwrap();
        });
        watch(&from);
        worker.join().unwrap();
    }
}

enum Seen {
    Thread(Option<std::path::PathBuf>),
    Question(String),
    End,
}

/// Sees that no question takes too much of the processor; where the system does not tell, that they end.
fn watch(from: &Receiver<Seen>) {
    let (mut thread, mut question, mut begun) = (None, String::new(), 0.0);
    loop {
        match from.recv_timeout(Duration::from_millis(100)) {
            Ok(Seen::Thread(path)) => thread = path,
            Ok(Seen::Question(words)) => (question, begun) = (words, processor(thread.as_deref())),
            Ok(Seen::End) => return,
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return, // it says why
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                let took = processor(thread.as_deref()) - begun;
                assert!(took <= LIMIT + BEYOND, "{question}: {took} s of the processor and no end");
            }
        }
    }
}

/// Seconds of the processor that a thread has had; 0 where the system does not tell.
fn processor(thread: Option<&std::path::Path>) -> f64 {
    let text = thread.and_then(|path| std::fs::read_to_string(path.join("schedstat")).ok());
    let nanoseconds = text.as_deref().and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or(0.0, |ns| 1e-9 * ns)
}

fn asked(name: &str, a: &Mat<f64>, rank: usize, options: &Request, words: &str) {
    let data = PcaData::Dense(a.as_ref());
    let rank = if matches!(name, "hyperbolic-eig" | "probe") { a.ncols() } else { rank };
    // what is refused is refused in words
    let Ok(posed) = posed(name, &data, rank, options) else { return };
    let stopping = Stopping { time_limit: Some(LIMIT), ..STOPPING };
    let found = match run(&posed.problem, &Request::default(), &stopping) {
        Ok(found) => found,
        Err(error) => {
            let said = error.to_string();
            assert!(!said.is_empty() && !said.contains("contradict"), "{words}: {said}");
            return;
        }
    };
    assert!(found.objective.total.is_finite(), "{words}: {found:?}");
    let off = posed.problem.relative_feasibility(&found.x, found.feasibility).unwrap_or(found.feasibility);
    assert!(off <= 1e-6, "{words}: {off:e}");
    assert!(posed.problem.value(&found.x).is_finite(), "{words}");
}
