//! Paths: no point is worse than what others have found, more nonzeros never explain less, bounds hold.

use faer::sparse::{SparseColMat, Triplet};
use orthopt::cancel::Cancel;
use orthopt::family::{Effort, Family, Knee, Limit, Request, find_problem, pose};
use orthopt::objective::Evaluate;
use orthopt::path::{Along, By, Fold, Folds, Path, PathRequest, Watch, cross_validate, folds, judge, path};
use orthopt::problem::PcaData;
use orthopt::report::{DataFacts, Report};
use orthopt::smooth::{Centring, Measure};
use orthopt::solve::Stopping;

/// 50 samples of 14 variables: two factors with four variables each, and noise.
/// Folds of the rows.
fn rows(count: usize) -> Folds {
    Folds { count, by: By::Rows }
}

fn data() -> faer::Mat<f64> {
    let noise = |i: usize, j: usize| {
        let t = (i * 127 + j * 311 + 7) as f64;
        (t.sin() * 43_758.545).fract()
    };
    faer::Mat::from_fn(50, 14, |i, j| {
        let factor = if j < 4 {
            2.0 * noise(i, 91)
        } else if j < 8 {
            1.5 * noise(i, 92)
        } else {
            0.0
        };
        factor + 0.6 * noise(i, j)
    })
}

fn request(problem: &str, rank: usize, along: Along) -> PathRequest {
    PathRequest {
        problem: find_problem(problem).unwrap(),
        options: Request { rank: Some(rank.into()), ..Default::default() },
        along,
        stopping: Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 },
    }
}

fn walked(a: &faer::Mat<f64>, request: &PathRequest) -> Path {
    let data = PcaData::Dense(a.as_ref());
    let facts = DataFacts::of(&data);
    let mut seen = Vec::new();
    let mut stage = |i: usize, n: usize| seen.push((i, n));
    let mut watch = Watch { cancel: &Cancel::never(), observers: &mut [], stage: &mut stage };
    let found = path(&data, &facts, request, &mut watch).unwrap();
    let n = request.along.len();
    assert_eq!(seen, (0..n).map(|i| (i, n)).collect::<Vec<_>>());
    found
}

fn objective(report: &Report) -> f64 {
    report.solution.objective.total
}

#[test]
fn along_counts_f_never_rises_and_the_knee_is_found() {
    let a = data();
    let mut asked = request("l0-pca", 2, Along::Counts(vec![1, 2, 3, 4, 6, 10, 14]));
    asked.options.maximise = Some(Measure::Variance);
    let found = walked(&a, &asked);
    for pair in found.points.windows(2) {
        let (f, g) = (objective(&pair[0].report), objective(&pair[1].report));
        assert!(g <= f + 1e-9 * (1.0 + f.abs()), "{g} above {f}");
        assert!(pair[1].maximised() >= pair[0].maximised() - 1e-9);
    }
    for point in &found.points {
        assert!(point.report.nonzeros().iter().all(|k| *k as f64 <= point.at));
        assert!(point.report.solution.feasibility < 1e-12);
    }
    assert_eq!(found.points[found.knee].at, 4.0);
    assert!(!found.interrupted);
    // the same again, bit for bit
    let again = walked(&a, &asked);
    for (one, other) in found.points.iter().zip(&again.points) {
        assert_eq!(one.report.x().data(), other.report.x().data());
    }
}

#[test]
fn along_lambda_no_x_of_another_point_is_better() {
    let a = data();
    for problem in ["l1-pca", "l0-pca"] {
        let asked = request(problem, 3, Along::Lambdas(vec![40.0, 10.0, 3.0, 0.5]));
        let found = walked(&a, &asked);
        for point in &found.points {
            let pose_options = Request { rank: Some(3.into()), lambda: Some(point.at), ..Default::default() };
            let posed = pose(asked.problem, &PcaData::Dense(a.as_ref()), &pose_options).unwrap();
            let p = &posed.problem;
            let own = p.value(point.report.x());
            assert!((own - objective(&point.report)).abs() <= 1e-7 * (1.0 + own.abs()));
            for other in &found.points {
                let value = p.value(other.report.x());
                assert!(own <= value + 1e-7 * (1.0 + value.abs()), "{problem} at {}", point.at);
            }
        }
    }
}

/// The properties of a finished path also hold if the time is too short to search all points.
#[test]
fn limits_leave_a_path_consistent() {
    let a = data();
    for along in [Along::Lambdas(vec![40.0, 10.0, 3.0, 0.5]), Along::Counts(vec![1, 2, 4, 8, 14])] {
        for seconds in [0.0, 0.004, 0.03] {
            let mut asked = request("l0-pca", 3, along.clone());
            asked.stopping.time_limit = Some(seconds);
            let found = walked(&a, &asked);
            assert_eq!(found.points.len(), along.len());
            for point in &found.points {
                let f = objective(&point.report);
                for other in &found.points {
                    let x = other.report.x();
                    let value = match &along {
                        Along::Lambdas(_) => {
                            other.report.solution.objective.smooth + point.at * other.nnz() as f64
                        }
                        Along::Counts(_) if other.at <= point.at => objective(&other.report),
                        Along::Counts(_) => continue,
                    };
                    assert!(f <= value + 1e-9 * (1.0 + value.abs()), "{f} {value} at {} {x:?}", point.at);
                }
            }
        }
    }
}

#[test]
fn bounds_are_below_f_and_those_of_denser_points_hold_for_sparser_ones() {
    let a = data();
    let asked = request("l0-pca", 2, Along::Counts(vec![2, 4, 8]));
    let data = PcaData::Dense(a.as_ref());
    let mut found = walked(&a, &asked);
    found.bound(&data, &asked, 2.0, &Cancel::never()).unwrap();
    let mut last = f64::INFINITY;
    for point in &found.points {
        let global = point.report.global.as_ref().unwrap();
        let f = objective(&point.report);
        assert!(global.bound <= f + 1e-9 * (1.0 + f.abs()));
        assert!(global.bound <= last);
        last = global.bound;
    }
    let without = request("scad-pca", 2, Along::Lambdas(vec![1.0]));
    let mut scad = walked(&a, &without);
    assert!(scad.bound(&data, &without, 1.0, &Cancel::never()).is_err());
}

#[test]
fn validation_uses_rows_that_were_held_out() {
    let a = data();
    let data = PcaData::Dense(a.as_ref());
    let facts = DataFacts::of(&data);
    let asked = request("l0-pca", 2, Along::Counts(vec![1, 4, 14]));
    let mut stage = |_: usize, _: usize| ();
    let mut watch = Watch { cancel: &Cancel::never(), observers: &mut [], stage: &mut stage };
    let found = cross_validate(&data, &facts, &asked, rows(5), &mut watch).unwrap().unwrap();
    assert_eq!(found.mean.len(), 3);
    assert_eq!(found.chosen, 1, "{found:?}");
    // by hand: the path of the training rows, the projection of the rows held out
    let by_hand = |fold: &Fold| -> Vec<f64> {
        let train = faer::Mat::from_fn(fold.train.len(), 14, |i, j| a[(fold.train[i], j)]);
        let walked = walked(&train, &asked);
        let share = |x: &orthopt::RowMat| {
            let kept: f64 = fold
                .test
                .iter()
                .map(|i| {
                    (0..2)
                        .map(|k| (0..14).map(|j| a[(*i, j)] * x.get(j, k)).sum::<f64>().powi(2))
                        .sum::<f64>()
                })
                .sum();
            kept / fold.test.iter().map(|i| (0..14).map(|j| a[(*i, j)].powi(2)).sum::<f64>()).sum::<f64>()
        };
        walked.points.iter().map(|p| share(p.report.x())).collect()
    };
    let shares: Vec<_> = folds(50, 5, 0).unwrap().iter().map(by_hand).collect();
    for (i, mean) in found.mean.iter().enumerate() {
        let direct = shares.iter().map(|s| s[i]).sum::<f64>() / 5.0;
        assert!((mean - direct).abs() < 1e-10, "{mean} {direct}");
    }
    // means are those of the training rows, of dense and of sparse data alike
    let dense = PcaData::Centred(a.as_ref(), Centring::of(a.as_ref()));
    let triplets: Vec<_> = (0..14).flat_map(|j| (0..50).map(move |i| (i, j))).collect();
    let entries: Vec<_> = triplets.iter().map(|(i, j)| Triplet::new(*i, *j, a[(*i, *j)])).collect();
    let sparse = SparseColMat::<usize, f64>::try_new_from_triplets(50, 14, &entries).unwrap();
    let means = (0..14).map(|j| (0..50).map(|i| a[(i, j)]).sum::<f64>() / 50.0).collect();
    let sparse = PcaData::Sparse(sparse.as_ref(), Some(means));
    let mut centred = |data: &PcaData<'_>| {
        cross_validate(data, &DataFacts::of(data), &asked, rows(5), &mut watch).unwrap().unwrap().mean
    };
    for (one, other) in centred(&dense).iter().zip(centred(&sparse)) {
        assert!((one - other).abs() < 1e-9, "{one} {other}");
    }
    assert!(cross_validate(&data, &facts, &asked, rows(51), &mut watch).is_err());
    let c = faer::Mat::<f64>::identity(5, 5);
    let gram = PcaData::Gram(c.as_ref());
    let error = cross_validate(&gram, &DataFacts::of(&gram), &asked, rows(2), &mut watch).unwrap_err();
    assert!(error.to_string().contains("needs samples"), "{error}");
}

/// The point chosen by cells of a table with two factors of four variables each, whichever way it is held in memory.
#[test]
fn validation_by_cells_finds_the_variables_of_planted_factors() {
    let noise =
        |i: usize, j: usize| ((i * 7919 + j * 104_729 + i * i * 31 + i * j * 17) % 1000) as f64 / 500.0 - 1.0;
    let a = faer::Mat::from_fn(60, 12, |i, j| match j / 4 {
        block @ (0 | 1) => 2.0 * noise(i, 50 + block) + 0.6 * noise(i, j) + 3.0,
        _ => noise(i, j) + 3.0,
    });
    let mut asked = request("l0-pca", 2, Along::Counts(vec![1, 2, 3, 4, 6, 12]));
    asked.options.effort = Some(Effort::Quick);
    let mut stage = |_: usize, _: usize| ();
    let mut watch = Watch { cancel: &Cancel::never(), observers: &mut [], stage: &mut stage };
    let cells = Folds { count: 6, by: By::Cells };
    let data = PcaData::Centred(a.as_ref(), Centring::of(a.as_ref()));
    let found = cross_validate(&data, &DataFacts::of(&data), &asked, cells, &mut watch).unwrap().unwrap();
    assert_eq!(found.chosen, 3, "{found:?}");
    let triplets = (0..12).flat_map(|j| (0..60).map(move |i| (i, j)));
    let entries: Vec<_> = triplets.map(|(i, j)| Triplet::new(i, j, a[(i, j)])).collect();
    let sparse = SparseColMat::<usize, f64>::try_new_from_triplets(60, 12, &entries).unwrap();
    let means = (0..12).map(|j| (0..60).map(|i| a[(i, j)]).sum::<f64>() / 60.0).collect();
    let sparse = PcaData::Sparse(sparse.as_ref(), Some(means));
    let same = cross_validate(&sparse, &DataFacts::of(&sparse), &asked, cells, &mut watch).unwrap().unwrap();
    assert!(found.mean.iter().zip(&same.mean).all(|(one, other)| (one - other).abs() < 1e-9));
    // one fold alone, and one that does not exist
    let alone = judge(&data, &DataFacts::of(&data), &asked, (2, cells), &mut watch).unwrap().unwrap();
    assert_eq!(alone.len(), 6);
    assert!(judge(&data, &DataFacts::of(&data), &asked, (6, cells), &mut watch).is_err());
    let gram = PcaData::Gram(a.as_ref().subrows(0, 12));
    assert!(cross_validate(&gram, &DataFacts::of(&gram), &asked, cells, &mut watch).is_err());
}

#[test]
fn an_interruption_keeps_the_points_so_far() {
    let a = data();
    let data = PcaData::Dense(a.as_ref());
    let asked = request("l0-pca", 2, Along::Counts(vec![1, 2, 3, 4, 5, 6, 7, 8]));
    let cancel = Cancel::never();
    let mut stage = |i: usize, _: usize| {
        if i == 2 {
            cancel.cancel();
        }
    };
    let mut watch = Watch { cancel: &cancel, observers: &mut [], stage: &mut stage };
    let found = path(&data, &DataFacts::of(&data), &asked, &mut watch).unwrap();
    assert!(found.interrupted);
    assert!(found.points.len() == 3 && found.knee < 3);
}

#[test]
fn paths_that_cannot_be_walked_say_so() {
    let a = data();
    let data = PcaData::Dense(a.as_ref());
    let error = |problem: &str, along: Along| {
        let mut stage = |_: usize, _: usize| ();
        let mut watch = Watch { cancel: &Cancel::never(), observers: &mut [], stage: &mut stage };
        path(&data, &DataFacts::of(&data), &request(problem, 2, along), &mut watch).unwrap_err().to_string()
    };
    assert!(error("l0-pca", Along::Counts(vec![])).contains("at least one"));
    assert!(error("l0-pca", Along::Counts(vec![4, 2])).contains("increasing counts"));
    assert!(error("l0-pca", Along::Counts(vec![0, 2])).contains("at least 1"));
    assert!(error("l1-pca", Along::Counts(vec![2])).contains("does not apply to l1-pca"));
    assert!(error("nonneg-pca", Along::Lambdas(vec![1.0])).contains("has a lambda"));
    assert!(error("l1-pca", Along::Lambdas(vec![f64::NAN])).contains("finite"));
}

/// Without λ and without counts the problem with the penalty l0 is one with a number of nonzeros.
#[test]
fn what_nobody_weighs_is_counted() {
    let a = data();
    let info = find_problem("l0-pca").unwrap();
    let open = Request { rank: Some(2.into()), ..Default::default() }.or_counts(info);
    assert_eq!(open.limit(), Some(Limit::Knee));
    let posed = pose(info, &PcaData::Dense(a.as_ref()), &open).unwrap();
    assert_eq!(posed.lambda, None);
    let reasons: Vec<_> = posed.reasons.iter().map(ToString::to_string).collect();
    assert!(reasons.iter().any(|r| r.starts_with("4 nonzeros in each component: the knee")), "{reasons:?}");
    let f = orthopt::problem::covariance_model(&PcaData::Dense(a.as_ref()), Default::default()).unwrap();
    assert_eq!(Knee::of(&f, 2).unwrap().count, 4);
    // λ, a solver, an option of pairs: nothing is counted
    let named = Request { solver: Some("obcd".into()), ..Default::default() };
    assert_eq!(named.or_counts(info).limit(), None);
    let paired = Request { block: Some(2), ..Default::default() };
    assert_eq!(paired.or_counts(info).limit(), None);
    let weighed = Request { lambda: Some(1.0), ..Default::default() };
    assert_eq!(weighed.or_counts(info).limit(), None);
    let l1 = find_problem("l1-pca").unwrap();
    assert_eq!(Request::default().or_counts(l1).limit(), None);
}

/// Above the largest useful λ no component has a second nonzero; just below it the best pair pays.
#[test]
fn the_largest_useful_lambda_is_where_components_become_single() {
    let a = data();
    let info = find_problem("l0-pca").unwrap();
    let solved = |share: f64| {
        let options = Request { rank: Some(1.into()), relative_lambda: Some(share), ..Default::default() };
        let posed = pose(info, &PcaData::Dense(a.as_ref()), &options).unwrap();
        assert!(posed.reasons.iter().any(|r| r.to_string().contains("lambda_max")), "{:?}", posed.reasons);
        let p = &posed.problem;
        let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
        let wanted = Request::default();
        p.plan(&wanted).unwrap().run(p, &wanted, &stopping, None, &Cancel::never(), &mut []).unwrap().nnz
    };
    assert_eq!(solved(1.01), 1);
    assert!(solved(0.5) > 1);
    let both = Request { lambda: Some(1.0), relative_lambda: Some(0.5), ..Default::default() };
    assert!(pose(info, &PcaData::Dense(a.as_ref()), &both).unwrap_err().to_string().contains("lambda"));
    let scad = Request { relative_lambda: Some(0.5), ..Default::default() };
    let error = pose(find_problem("nonneg-pca").unwrap(), &PcaData::Dense(a.as_ref()), &scad).unwrap_err();
    assert!(error.to_string().contains("l0 and l1"), "{error}");
}

/// Data times 2^±250: the same X at every point, F times 2^±500.
#[test]
fn points_do_not_depend_on_a_unit_far_from_one() {
    let a = data();
    let counts = Along::Counts(vec![2, 4, 14]);
    let lambdas = |unit: f64| Along::Lambdas(vec![8.0 * unit, 2.0 * unit]);
    for (problem, along) in [("l0-pca", None), ("l1-pca", Some(lambdas))] {
        let walk = |k: i32| {
            let unit = 2f64.powi(k);
            let along = along.map_or(counts.clone(), |along| along(unit * unit));
            let scaled = faer::Mat::from_fn(a.nrows(), a.ncols(), |i, j| unit * a[(i, j)]);
            let mut found = walked(&scaled, &request(problem, 2, along.clone()));
            found
                .bound(&PcaData::Dense(scaled.as_ref()), &request(problem, 2, along), 30.0, &Cancel::never())
                .unwrap();
            let back = |f: f64| f / (unit * unit);
            let point = |point: &orthopt::path::Point| {
                let bound = point.report.global.as_ref().unwrap();
                let words = (point.report.solution.status, bound.proof, point.nnz());
                (point.report.x().data().to_vec(), back(objective(&point.report)), words)
            };
            (found.knee, found.points.iter().map(point).collect::<Vec<_>>())
        };
        let one = walk(0);
        for k in [-250, 250] {
            assert_eq!(walk(k), one, "{problem} {k}");
        }
    }
}
