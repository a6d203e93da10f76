//! Components that maximise a measure of what they explain: the mathematics of the measures, golden values, brute force, a
//! greedy oracle, and what must hold whatever the data are.

use crate::common::{gaussian, pitprops, rng, table};
use faer::Mat;
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::family::Effort;
use orthopt::family::{AnyProblem, Between, Family, Limit, Request, find_problem, pose};
use orthopt::objective::Evaluate;
use orthopt::penalty::L1;
use orthopt::problem::{
    ExplainedVariance, MeasuredProblem, PcaData, Problem, Storage, covariance_model, explained_variance,
    support,
};
use orthopt::smooth::{AnySmooth, Measure, Measured, Order, Smooth};
use orthopt::solve::{MaxIterations, RunOptions, Solution, Stopping, run};
use orthopt::solvers::{SolverOptions, general, pairwise};
use orthopt_core::constraint::stiefel;
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::products::{cross, times};
use orthopt_linalg::sequential::qr;

const ALL: [Measure; 4] = [Measure::Variance, Measure::Adjusted, Measure::Polar, Measure::Explained];

const BREAST_CANCER: &str = include_str!("../tables/breast_cancer.csv");
const WINE: &str = include_str!("../tables/wine.csv");
const IRIS: &str = include_str!("../tables/iris.csv");
const US_ARRESTS: &str = include_str!("../tables/us_arrests.csv");
const MTCARS: &str = include_str!("../tables/mtcars.csv");

/// C of random data with structure.
fn random(m: usize, n: usize, seed: u64) -> Mat<f64> {
    let g = gaussian(m, n, seed);
    let a = Mat::from_fn(m, n, |i, j| g[(i, j)] + 0.8 * g[(i, j % 3)]);
    Mat::from_fn(n, n, |i, j| (0..m).map(|s| a[(s, i)] * a[(s, j)]).sum::<f64>())
}

fn model(c: &Mat<f64>) -> AnySmooth {
    covariance_model(&PcaData::Gram(c.as_ref()), Storage::Auto).unwrap()
}

fn measured(c: &Mat<f64>, measure: Measure) -> Measured {
    Measured::new(model(c), measure).unwrap()
}

fn problem(c: &Mat<f64>, rank: usize, options: Request) -> orthopt::Result<MeasuredProblem> {
    let options = Request { rank: Some(rank.into()), ..options };
    match pose(find_problem("l0-pca").unwrap(), &PcaData::Gram(c.as_ref()), &options)?.problem {
        AnyProblem::Measured(p) => Ok(p),
        other => panic!("not a measure: {other:?}"),
    }
}

fn each(measure: Measure, k: usize) -> Request {
    Request { maximise: Some(measure), ..Request::default() }.with_limit(Some(Limit::Nonzeros(vec![k])))
}

fn total(measure: Measure, k: usize) -> Request {
    Request { maximise: Some(measure), ..Request::default() }.with_limit(Some(Limit::Total(k)))
}

fn solve_with(p: &MeasuredProblem, effort: Option<Effort>) -> Solution {
    let wanted = Request { effort, ..Request::default() };
    let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    let found = p.plan(&wanted).unwrap().run(p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap();
    p.check(&found.x, "X").unwrap();
    assert!(found.feasibility <= 1e-13, "{:e}", found.feasibility);
    assert!((found.objective.total - p.value(&found.x)).abs() <= 1e-13 * p.value(&found.x).abs());
    found
}

fn solve(p: &MeasuredProblem) -> Solution {
    solve_with(p, None)
}

/// What was maximised, as a share of tr C.
fn share(c: &Mat<f64>, found: &Solution) -> f64 {
    -2.0 * found.objective.total / (0..c.nrows()).map(|i| c[(i, i)]).sum::<f64>()
}

fn explained(c: &Mat<f64>, x: &RowMat) -> ExplainedVariance {
    explained_variance(&model(c), x)
}

/// Finite differences of every measure, also where data have fewer samples than variables.
#[test]
fn gradients_are_those_of_finite_differences() {
    for (m, n, r, seed) in [(30, 7, 3, 1), (12, 9, 4, 2), (5, 9, 2, 3), (20, 6, 1, 4)] {
        let c = random(m, n, seed);
        for measure in ALL {
            let f = measured(&c, measure);
            // not orthonormal: the measures are functions of any X
            let mut x = stiefel::random(n, r, &mut rng(seed));
            x.data_mut().iter_mut().enumerate().for_each(|(k, v)| *v *= 1.0 + 0.1 * (k % 5) as f64);
            let mut g = RowMat::zeros(n, r);
            let value = f.value_and_gradient(&x, &mut g);
            assert_eq!(value, f.value(&x), "{measure:?}");
            let h = 1e-6;
            for k in 0..x.data().len() {
                let at = |t: f64| {
                    let mut y = x.clone();
                    y.data_mut()[k] += t;
                    f.value(&y)
                };
                let slope = (at(h) - at(-h)) / (2.0 * h);
                let error = (slope - g.data()[k]).abs() / value.abs();
                assert!(error <= 1e-6, "{measure:?} {n} x {r}, entry {k}: {slope} {}", g.data()[k]);
            }
        }
    }
}

/// adjusted is that of a QR factorisation of the scores, explained that of a regression of the data on them, polar that of the
/// polar factor; for PCA all agree, and else they are ordered.
#[test]
fn measures_are_what_they_say_of_the_data() {
    let a = RowMat::from_mat(gaussian(25, 8, 7).as_ref());
    let c = cross(&a, &a);
    let (f, trace) = (c.to_mat(), a.inner(&a));
    for seed in 0..5 {
        let x = stiefel::random(8, 3, &mut rng(seed));
        let t = times(&a, &x);
        let by = |measure: Measure| -2.0 * measured(&f, measure).value(&x);
        // the variances of the scores in order
        let mut order: Vec<usize> = (0..3).collect();
        let variance = |k: usize| (0..25).map(|i| t.get(i, k).powi(2)).sum::<f64>();
        order.sort_by(|a, b| variance(*b).total_cmp(&variance(*a)));
        let sorted = RowMat::from_fn(25, 3, |i, k| t.get(i, order[k]));
        let (q, diagonal) = qr(sorted.as_mat());
        let adjusted: f64 = diagonal.iter().map(|d| d * d).sum();
        assert!((by(Measure::Adjusted) - adjusted).abs() <= 1e-12 * trace);
        // what a regression on the scores leaves
        let q = RowMat::from_mat(q.as_ref());
        let projected = times(&q, &cross(&q, &a));
        let left: f64 = a.data().iter().zip(projected.data()).map(|(a, p)| (a - p).powi(2)).sum();
        assert!((by(Measure::Explained) - (trace - left)).abs() <= 1e-11 * trace);
        let nearest = orthopt_linalg::small::polar(&t).unwrap();
        let along = cross(&nearest, &t);
        let polar: f64 = (0..3).map(|k| along.get(k, k).powi(2)).sum();
        assert!((by(Measure::Polar) - polar).abs() <= 1e-12 * trace);
        assert!(
            by(Measure::Adjusted) <= by(Measure::Variance) && by(Measure::Polar) <= by(Measure::Variance)
        );
        assert!(by(Measure::Variance) <= by(Measure::Explained));
        // explained does not depend on the axes in the space of the scores
        let mix = RowMat::from_fn(3, 3, |i, j| if i == j { 2.0 } else { 0.3 * (i + 2 * j) as f64 });
        let mixed = times(&x, &mix);
        assert!(
            (-2.0 * measured(&f, Measure::Explained).value(&mixed) - by(Measure::Explained)).abs()
                <= 1e-10 * trace
        );
        let reported = explained(&f, &x);
        assert!((reported.polar - polar / trace).abs() <= 1e-12 && reported.maximised == "variance");
    }
    let (values, vectors) = symmetric_eigenpairs(&c).unwrap();
    let pca = RowMat::from_fn(8, 3, |i, k| vectors.get(i, 7 - k));
    let best: f64 = values.iter().rev().take(3).sum();
    for measure in ALL {
        assert!((-2.0 * measured(&f, measure).value(&pca) - best).abs() <= 1e-12 * trace, "{measure:?}");
    }
}

/// A score that is a combination of others adds nothing, and breaks nothing.
#[test]
fn scores_that_depend_on_others_are_counted_once() {
    // variables 1 and 2 are the same
    let base = random(30, 5, 3);
    let place = |i: usize| if i == 0 { 1 } else { i - 1 };
    let c = Mat::from_fn(6, 6, |i, j| base[(place(i), place(j))]);
    let x = RowMat::from_fn(6, 2, |i, k| f64::from(u8::from(i == k)));
    let y = RowMat::from_fn(6, 2, |i, k| f64::from(u8::from(i == k + 1)));
    // the scores of x are those of variables 1 and 0 of the base, those of y of 0 and 1; copies have one variable's
    let twin = RowMat::from_fn(6, 2, |i, k| f64::from(u8::from(i == 2 * k)));
    for measure in [Measure::Adjusted, Measure::Polar, Measure::Explained] {
        let f = measured(&c, measure);
        for x in [&x, &y, &twin] {
            let mut g = RowMat::zeros(6, 2);
            assert!(
                f.value_and_gradient(x, &mut g).is_finite() && g.find_non_finite().is_none(),
                "{measure:?}"
            );
        }
        let one = RowMat::from_fn(6, 1, |i, _| f64::from(u8::from(i == 0)));
        let alone = measured(&c, measure).value(&one);
        assert!(
            (f.value(&twin) - alone).abs() <= 1e-8 * alone.abs(),
            "{measure:?}: {} {alone}",
            f.value(&twin)
        );
    }
}

/// Values of the first study (design note), which were checked over all pairs of supports for two components.
#[test]
fn pitprops_has_the_golden_values() {
    let c = pitprops();
    let golden = [
        (2, each(Measure::Adjusted, 4), 0.383124210),
        (2, each(Measure::Adjusted, 5), 0.420429226),
        (3, each(Measure::Adjusted, 4), 0.535340145),
        (3, each(Measure::Adjusted, 5), 0.569995085),
        (2, total(Measure::Adjusted, 8), 0.430511716),
        (2, total(Measure::Adjusted, 10), 0.455291153),
        (3, total(Measure::Adjusted, 12), 0.558632903),
        (3, total(Measure::Adjusted, 15), 0.589630563),
        (2, each(Measure::Polar, 4), 0.389999657),
        (3, each(Measure::Polar, 4), 0.542631703),
        (3, each(Measure::Polar, 5), 0.577367001),
        (2, each(Measure::Explained, 4), 0.494333573),
        (3, each(Measure::Explained, 5), 0.644262562),
    ];
    for (r, options, value) in golden {
        let what = format!("{:?} {r} {:?}", options.maximise, options.limit());
        let found = solve(&problem(&c, r, options).unwrap());
        assert!(share(&c, &found) >= value - 2e-9, "{what}: {:.9} below {value}", share(&c, &found));
    }
}

/// Components one after the other: golden values, and r components are the first of r + 1.
#[test]
fn sequences_are_nested() {
    let c = pitprops();
    let sequence = |measure, k, r| {
        let p = problem(&c, r, Request { order: Some(Order::Sequential), ..each(measure, k) }).unwrap();
        let found = solve(&p);
        (share(&c, &found), found.x)
    };
    for (r, k, value) in [(2, 4, 0.382843512), (2, 5, 0.420377652), (3, 4, 0.535206838), (3, 5, 0.540296345)]
    {
        let (share, x) = sequence(Measure::Adjusted, k, r);
        assert!(share >= value - 2e-9, "{r} x {k}: {share:.9}");
        assert!(
            (explained(&c, &x).total - share).abs() <= 1e-12,
            "the order of the columns is that of the sequence"
        );
    }
    for measure in [Measure::Variance, Measure::Adjusted, Measure::Explained] {
        let (_, two) = sequence(measure, 4, 2);
        let (_, three) = sequence(measure, 4, 3);
        for i in 0..13 {
            for k in 0..2 {
                assert!((two.get(i, k).abs() - three.get(i, k).abs()).abs() <= 1e-10, "{measure:?}");
            }
        }
    }
    let refused =
        |options: Request| problem(&c, 2, Request { order: Some(Order::Sequential), ..options }).is_err();
    assert!(refused(total(Measure::Adjusted, 8)) && refused(each(Measure::Polar, 4)));
}

/// All pairs of supports and all angles on a grid, for two components of two entries: nothing that the search misses.
#[test]
fn small_problems_are_solved_by_brute_force() {
    const GRID: usize = 90;
    for seed in 1..6 {
        let c = random(9, 5, seed);
        for measure in [Measure::Adjusted, Measure::Polar, Measure::Explained] {
            let f = measured(&c, measure);
            let mut best = 0.0f64;
            let angle = |t: usize| (std::f64::consts::PI * t as f64 / GRID as f64).sin_cos();
            let mut look = |rows: [[usize; 2]; 2], angles: [usize; 2]| {
                let mut x = RowMat::zeros(5, 2);
                for k in 0..2 {
                    let (s, c) = angle(angles[k]);
                    x.set(rows[k][0], k, c);
                    x.set(rows[k][1], k, s);
                }
                best = best.max(-2.0 * f.value(&x));
            };
            for a in 0..5 {
                for b in a + 1..5 {
                    for t in 0..GRID {
                        // the same rows: a rotation of both
                        look([[a, b], [b, a]], [t, GRID - t]);
                    }
                    for d in 0..5 {
                        for e in d + 1..5 {
                            if (a, b) < (d, e) && d != a && d != b && e != a && e != b {
                                (0..GRID * GRID).for_each(|t| look([[a, b], [d, e]], [t / GRID, t % GRID]));
                            }
                        }
                    }
                }
            }
            let p = problem(&c, 2, each(measure, 2)).unwrap();
            let found = -2.0 * solve_with(&p, Some(Effort::Quick)).objective.total;
            assert!(found >= best * (1.0 - 1e-12), "{measure:?} {seed}: {found} below {best}");
            // no point of the grid is further than half a step away from the best one
            assert!(found <= best * 1.02, "{measure:?} {seed}: {found} far above {best}");
            let bound = p.lower_bound(None, &Default::default(), &Cancel::never(), &|_| {}).unwrap();
            assert!(-2.0 * bound.value >= best, "{measure:?} {seed}: bound {} of {best}", -2.0 * bound.value);
        }
    }
}

/// Components one after the other on rows that no other one has, each grown entry by entry to the largest eigenvalue of what
/// those before it leave: what people write in thirty lines. Adjusted and explained variance as shares.
fn greedy(c: &Mat<f64>, r: usize, k: usize, predicts: bool) -> ExplainedVariance {
    let n = c.nrows();
    let mut left = RowMat::from_mat(c.as_ref());
    let mut used = vec![false; n];
    let mut x = RowMat::zeros(n, r);
    for j in 0..r {
        let squares = cross(&left, &left);
        let worth = |rows: &[usize]| {
            let part = |m: &RowMat| RowMat::from_fn(rows.len(), rows.len(), |a, b| m.get(rows[a], rows[b]));
            let s = rows.len();
            let (values, u) = symmetric_eigenpairs(&part(&left)).unwrap();
            if !predicts {
                return (values[s - 1], (0..s).map(|a| u.get(a, s - 1)).collect::<Vec<f64>>());
            }
            // the pencil (R², R): x = R^{-1/2}y
            let root =
                orthopt_linalg::small::spectral_function(&part(&left), |w| 1.0 / w.max(1e-9).sqrt()).unwrap();
            let (values, y) =
                symmetric_eigenpairs(&times(&times(&root, &part(&squares)), &root).symmetric_part()).unwrap();
            let v = times(&root, &RowMat::from_fn(s, 1, |a, _| y.get(a, s - 1)));
            let length = v.norm();
            (values[s - 1], v.data().iter().map(|v| v / length).collect())
        };
        let mut rows: Vec<usize> = Vec::new();
        while rows.len() < k {
            let free = (0..n).filter(|i| !used[*i] && !rows.contains(i));
            let with = |i: usize| {
                let mut rows = rows.clone();
                rows.push(i);
                (worth(&rows).0, i)
            };
            let Some((_, i)) = free.map(with).max_by(|a, b| a.0.total_cmp(&b.0)) else { break };
            rows.push(i);
        }
        if rows.is_empty() {
            break; // no variable is left
        }
        let (_, v) = worth(&rows);
        for (i, v) in rows.iter().zip(&v) {
            used[*i] = true;
            x.set(*i, j, *v);
        }
        let column = RowMat::from_fn(n, 1, |i, _| x.get(i, j));
        let image = times(&left, &column);
        let own = column.inner(&image).max(f64::MIN_POSITIVE);
        left = RowMat::from_fn(n, n, |a, b| left.get(a, b) - image.get(a, 0) * image.get(b, 0) / own);
    }
    explained(c, &x)
}

/// On every table the search is at or above greedy code in what it maximises.
#[test]
fn tables_are_explained_better_than_by_greedy_code() {
    for (name, text, sizes) in [
        ("breast cancer", BREAST_CANCER, &[(3, 3), (3, 6), (5, 5)][..]),
        ("wine", WINE, &[(3, 3), (4, 4)]),
        ("USArrests", US_ARRESTS, &[(2, 2), (3, 3)]),
        ("iris", IRIS, &[(2, 2), (3, 3)]),
        ("mtcars", MTCARS, &[(2, 3), (3, 3), (3, 4)]),
    ] {
        let c = table(text);
        for (r, k) in sizes {
            for measure in [Measure::Adjusted, Measure::Explained] {
                let code = greedy(&c, *r, *k, measure == Measure::Explained);
                let most = if measure == Measure::Adjusted { code.total } else { code.predicted };
                let found = solve_with(&problem(&c, *r, each(measure, *k)).unwrap(), Some(Effort::Quick));
                let own = share(&c, &found);
                assert!(own >= most - 1e-12, "{name} {r} x {k}, {measure:?}: {own:.6} below {most:.6}");
            }
        }
    }
    let c = table(BREAST_CANCER);
    let found = solve(&problem(&c, 3, each(Measure::Adjusted, 3)).unwrap());
    let all = explained(&c, &found.x);
    assert!(all.total >= 0.249681904 - 2e-9 && all.predicted > 0.61, "{all:?}");
    assert!(all.closest.unwrap().2 < 0.7 && all.least_added().unwrap().1 > 0.2);
    let found = solve(&problem(&c, 3, each(Measure::Adjusted, 6)).unwrap());
    assert!(share(&c, &found) >= 0.411326017 - 2e-9, "{:.9}", share(&c, &found));
}

/// A table, with standard deviations and the first two columns of loadings.
type Reference = (&'static str, &'static [f64], &'static [f64], &'static [f64]);

/// prcomp(scale. = TRUE) of R 4: standard deviations and the first two columns of the rotation.
const PRCOMP: &[Reference] = &[
    (
        US_ARRESTS,
        &[1.574878274391, 0.994869414818],
        &[-0.535899474938, -0.583183634910, -0.278190874619, -0.543432091446],
        &[-0.418180865421, -0.187985604232, 0.872806193060, 0.167318635402],
    ),
    (
        MTCARS,
        &[2.570680892837, 1.628025765405],
        &[
            -0.362530503570,
            0.373916027207,
            0.368185195850,
            0.330056924554,
            -0.294151382376,
            0.346103316387,
            -0.200456346987,
            -0.306511321115,
            -0.234942890563,
            -0.206916237286,
            0.214017656336,
        ],
        &[
            0.0161243985163,
            0.0437437127065,
            -0.0493241262404,
            0.2487840204071,
            0.2746940849835,
            -0.1430382508275,
            -0.4633748187289,
            -0.2316469927901,
            0.4294176532811,
            0.4623486339558,
            0.4135710572998,
        ],
    ),
    (
        IRIS,
        &[1.708361149328, 0.956049408487],
        &[0.521065914670, -0.269347442506, 0.580413095796, 0.564856535779],
        &[-0.3774176155646, -0.9232956595407, -0.0244916090856, -0.0669419869681],
    ),
    (
        WINE,
        &[2.169297179501, 1.580181550775],
        &[
            -0.144329395406,
            0.245187580257,
            0.002051061444,
            0.239320405488,
            -0.141992041953,
            -0.394660845067,
            -0.422934296710,
            0.298533102955,
            -0.313429488308,
            0.088616704725,
            -0.296714563586,
            -0.376167410739,
            -0.286752226897,
        ],
        &[
            -0.483651547817,
            -0.224930934628,
            -0.316068814025,
            0.010590502288,
            -0.299634003238,
            -0.065039511819,
            0.003359812100,
            -0.028779488113,
            -0.039301722290,
            -0.529995672070,
            0.279235147924,
            0.164496192836,
            -0.364902831798,
        ],
    ),
];

/// Limits that bind nothing, no limit at all and a λ next to 0 give PCA, whatever is maximised.
#[test]
fn without_limits_it_is_pca() {
    for (text, deviations, first, second) in PRCOMP {
        let c = table(text);
        let n = c.nrows();
        let check = |what: &str, x: &RowMat| {
            for (k, column) in [first, second].into_iter().enumerate() {
                let sign = (0..n).map(|i| x.get(i, k) * column[i]).sum::<f64>().signum();
                for i in 0..n {
                    let error = (sign * x.get(i, k) - column[i]).abs();
                    assert!(error <= 1e-8, "{what}, n = {n}, entry {i}, {k}: {error:e}");
                }
            }
            let variances = explained(&c, x);
            for k in 0..2 {
                assert!((variances.ratio[k] * n as f64 - deviations[k].powi(2)).abs() <= 1e-8, "{what}");
            }
        };
        let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
        let run = |name: &str, options: Request| -> RowMat {
            let info = find_problem(name).unwrap();
            let options = Request { rank: Some(2.into()), ..options };
            let wanted = Request { effort: Some(Effort::Quick), ..Request::default() };
            let posed = pose(info, &PcaData::Gram(c.as_ref()), &options).unwrap();
            let p = posed.problem;
            p.plan(&wanted).unwrap().run(&p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap().x
        };
        for measure in ALL {
            check(&format!("{measure:?}, counts = n"), &run("l0-pca", each(measure, n)));
            check(
                &format!("{measure:?}, no limit"),
                &run("pca", Request { maximise: Some(measure), ..Default::default() }),
            );
            let small = Request { maximise: Some(measure), lambda: Some(1e-13), ..Default::default() };
            check(&format!("{measure:?}, small lambda"), &run("l0-pca", small));
        }
        check("all variables", &run("l0-pca", Request::default().with_limit(Some(Limit::Variables(n)))));
        check(
            "l1 with a small lambda",
            &run("l1-pca", Request { lambda: Some(1e-13), ..Default::default() }),
        );
    }
}

/// XᵀX = I and XᵀCX diagonal, sparse: exact, and variance, adjusted and polar are the same.
#[test]
fn loadings_are_orthogonal_and_scores_uncorrelated() {
    let both = |limit: Limit| {
        Request { constraint: Some(Between::Both), ..Request::default() }.with_limit(Some(limit))
    };
    let check = |c: &Mat<f64>, found: &Solution| {
        assert!(stiefel::feasibility(&found.x) <= 1e-12, "{:e}", stiefel::feasibility(&found.x));
        let all = explained(c, &found.x);
        if let Some((_, _, correlation)) = all.closest {
            assert!(correlation <= 1e-12, "{correlation:e}");
        }
        for other in [all.total, all.polar] {
            assert!((all.projected - other).abs() <= 1e-12, "{all:?}");
        }
    };
    let c = pitprops();
    let mut before = 0.0;
    for limit in [Limit::Total(6), Limit::Nonzeros(vec![3]), Limit::Nonzeros(vec![5])] {
        let p = problem(&c, 3, both(limit.clone())).unwrap();
        let found = solve_with(&p, Some(Effort::Quick));
        check(&c, &found);
        let variance = explained(&c, &found.x).projected;
        assert!(variance >= before, "{limit:?}: {variance}");
        before = variance;
        // a bound of variance holds for what is a subset of its feasible set
        let bound = p.lower_bound(Some(&found.x), &Default::default(), &Cancel::never(), &|_| {}).unwrap();
        assert!(bound.value <= found.objective.total && bound.gap.is_some());
    }
    // an X of the first study has 34.8 % with six nonzeros
    let six = solve(&problem(&c, 3, both(Limit::Total(6))).unwrap());
    assert!(explained(&c, &six.x).projected >= 0.347, "{:?}", explained(&c, &six.x));
    for seed in 1..9 {
        let c = random(12, 6, seed);
        let found = solve_with(&problem(&c, 3, both(Limit::Nonzeros(vec![2]))).unwrap(), Some(Effort::Quick));
        check(&c, &found);
        assert!((0..3).all(|k| support(&found.x, k).len() <= 2));
    }
    // uncorrelated alone: the same counts
    let alone = |limit| {
        Request { constraint: Some(Between::Uncorrelated), ..Request::default() }.with_limit(Some(limit))
    };
    let c = random(12, 6, 3);
    let found = solve_with(&problem(&c, 3, alone(Limit::Nonzeros(vec![2]))).unwrap(), Some(Effort::Quick));
    assert!(explained(&c, &found.x).closest.unwrap().2 <= 1e-12);
}

/// A total with a floor and a cap for each component.
#[test]
fn totals_take_a_floor_and_a_cap() {
    let c = table(WINE);
    let free = solve_with(&problem(&c, 4, total(Measure::Adjusted, 16)).unwrap(), Some(Effort::Quick));
    let shared = Request { min_nonzeros: Some(3), max_nonzeros: Some(5), ..total(Measure::Adjusted, 16) };
    let found = solve_with(&problem(&c, 4, shared).unwrap(), Some(Effort::Quick));
    let counts: Vec<usize> = (0..4).map(|k| support(&found.x, k).len()).collect();
    assert!(counts.iter().all(|s| (3..=5).contains(s)) && counts.iter().sum::<usize>() <= 16, "{counts:?}");
    assert!(share(&c, &found) <= share(&c, &free) + 1e-6);
    let wrong = Request { min_nonzeros: Some(5), ..total(Measure::Adjusted, 16) };
    assert!(problem(&c, 4, wrong).is_err());
    let each_of_them = Request { min_nonzeros: Some(2), ..each(Measure::Adjusted, 4) };
    assert!(problem(&c, 4, each_of_them).is_err());
}

/// Data scaled by a power of two, C by an odd one as well, give the same bits of X; so do one thread and two.
#[test]
fn neither_units_nor_threads_change_a_bit() {
    let c = random(20, 8, 5);
    for measure in ALL {
        let solved = |scale: f64, threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let c = Mat::from_fn(8, 8, |i, j| scale * c[(i, j)]);
            let options = Request { min_nonzeros: Some(2), ..total(measure, 9) };
            let p = problem(&c, 3, options).unwrap();
            pool.install(|| solve_with(&p, Some(Effort::Quick))).x
        };
        let known = solved(1.0, 1);
        assert_eq!(known, solved(1.0, 2), "{measure:?}");
        for k in [-7, 1, 2, 40] {
            assert_eq!(known, solved(2f64.powi(k), 2), "{measure:?}, 2^{k}");
        }
    }
}

/// The bound lies above everything that is found, and gives gaps.
#[test]
fn bounds_hold_and_give_gaps() {
    let c = pitprops();
    for (r, options, most) in [
        (2, each(Measure::Adjusted, 4), 0.035),
        (2, each(Measure::Polar, 4), 0.035),
        (3, each(Measure::Adjusted, 4), 0.03),
        (2, each(Measure::Explained, 4), 0.1),
    ] {
        let what = format!("{:?} {r}", options.maximise);
        let p = problem(&c, r, options).unwrap();
        let found = solve(&p);
        let bound = p.lower_bound(Some(&found.x), &Default::default(), &Cancel::never(), &|_| {}).unwrap();
        assert!(bound.value <= found.objective.total, "{what}");
        assert!(bound.gap.unwrap() <= most, "{what}: {:?} by {:?}", bound.gap, bound.method);
    }
}

/// Methods for any smooth f take a measure, with a penalty as well.
#[test]
fn general_solvers_take_measures() {
    let c = random(20, 8, 2);
    for measure in [Measure::Adjusted, Measure::Polar, Measure::Explained] {
        let p = Problem::new(measured(&c, measure), L1::new(0.5).unwrap(), 2).unwrap();
        let x0 = RowMat::from_fn(8, 2, |i, k| f64::from(u8::from(i == k)));
        let ladmm = general::<Measured, L1>().iter().find(|info| info.name == "ladmm").unwrap();
        for info in [&pairwise::<Measured, L1>()[0], ladmm] {
            let solver = info.build(&p, &SolverOptions::default()).unwrap();
            let mut stop = MaxIterations(Some(2000));
            let found = run(&p, &solver, x0.clone(), RunOptions::default(), &mut stop, &mut []).unwrap();
            assert!(found.objective.total < p.value(&x0), "{} {measure:?}", info.name);
            assert!(found.feasibility <= 1e-11, "{} {measure:?}", info.name);
        }
    }
}
