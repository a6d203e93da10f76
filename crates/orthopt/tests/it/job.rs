//! The stages of a solve: what each refuses, that they agree with [`SparsePca`], and that limits are those of all of them.

use orthopt::cancel::Cancel;
use orthopt::family::{Call, CallOptions, find_problem};
use orthopt::job::{Job, PosedJob};
use orthopt::prelude::*;
use orthopt::problem::PcaData;
use orthopt::report::DataFacts;
use orthopt::request::{Request, Written};
use orthopt::solve::Status;
use orthopt::stability::Watch;
use orthopt::{Result, RowMat};

fn samples() -> Matrix {
    Matrix::from_fn(40, 8, |i, j| ((i * (j + 3)) as f64 * 0.37).sin() * (j + 1) as f64)
}

fn job(problem: &str, call: Call, options: &[(&str, Written)]) -> Result<Job> {
    let mut request = Request::default();
    for (name, value) in options {
        request.set(name, value.clone())?;
    }
    let given = CallOptions::new(call, request.given());
    Ok(Job::new(find_problem(problem)?, request.checked()?, given))
}

fn posed(problem: &str, options: &[(&str, Written)]) -> Result<PosedJob> {
    let a = samples();
    let data = PcaData::from(&a);
    let job = job(problem, Call::Solve, options)?;
    let clock = Cancel::never().within(job.request.time_limit);
    job.pose(&data, DataFacts::of(&data), Vec::new(), &clock)
}

fn bits(x: &RowMat) -> Vec<u64> {
    x.data().iter().map(|v| v.to_bits()).collect()
}

#[test]
fn its_stages_are_those_of_the_facade() {
    let posed =
        posed("l0-pca", &[("rank", 2.into()), ("nonzeros", 3.into()), ("effort", "quick".into())]).unwrap();
    let run = posed.plan().unwrap();
    assert!(run.searches());
    let report = posed.run(&run, &Cancel::never(), &mut []).unwrap();
    let a = samples();
    let found =
        SparsePca::l0(&a).components(2).option("nonzeros", 3).option("effort", "quick").fit().unwrap();
    assert_eq!(bits(report.x()), bits(found.x()));
    assert_eq!(report.reasons.len(), found.reasons.len());
    // PCA of the same table, by another road
    let all = SparsePca::plain(&a).components(2).fit().unwrap();
    let pca = report.pca_share.unwrap();
    assert!((pca - all.explained_variance.unwrap().total).abs() < 1e-12);
    assert!(report.explained_variance.unwrap().total <= pca);
}

#[test]
fn each_stage_refuses_what_it_knows_to_be_wrong() {
    let said = |made: Result<PosedJob>| made.unwrap_err().to_string();
    // the problem
    let wrong =
        job("l1-pca", Call::Solve, &[("target", Written::Matrix(RowMat::zeros(2, 2).into()))]).unwrap();
    assert!(wrong.check().unwrap_err().to_string().contains("target"));
    // the data
    let c = Matrix::from_fn(3, 3, |i, j| f64::from(u8::from(i == j)));
    let of_c = job("pca", Call::Solve, &[("stability", 3.into())]).unwrap();
    let data = PcaData::Gram(c.as_mat());
    assert!(of_c.check_data(&data, &DataFacts::of(&data)).unwrap_err().to_string().contains("stability"));
    assert!(said(posed("pca", &[("rank", 9.into())])).contains("rank 9"));
    // a bound where there is none, before any work
    let none = posed("l0-pca", &[("penalty", "scad".into()), ("bound", 5.0.into())]);
    assert!(said(none).contains("no bound"));
    // the solvers
    let posed = posed("l1-pca", &[("solver", "manpg".into()), ("working-set", "cyclic".into())]).unwrap();
    assert!(posed.plan().unwrap_err().to_string().contains("working-set"));
    // an X that is given has none
    assert!(posed.check_x(false).is_err());
}

#[test]
fn one_limit_is_for_all_stages() {
    let options = |limit: f64| {
        [
            ("rank", 2.into()),
            ("nonzeros", 3.into()),
            ("time-limit", Written::from(limit)),
            ("stability", 4.into()),
        ]
    };
    let posed = posed("l0-pca", &options(0.0)).unwrap();
    let run = posed.plan().unwrap();
    assert_eq!(run.stopping.time_limit, Some(0.0));
    let mut report = posed.run(&run, &Cancel::never(), &mut []).unwrap();
    assert_eq!(report.solution.status, Status::TimeLimit);
    let a = samples();
    let cancel = Cancel::never();
    posed.halves(&mut report, &PcaData::from(&a), &Watch { cancel: &cancel, done: &|_, _| () }).unwrap();
    assert!(report.stability.is_none(), "no time is left for halves");
    // a clock that began earlier has less left
    let job = job("l0-pca", Call::Solve, &options(1e6)).unwrap();
    let data = PcaData::from(&a);
    let clock = Cancel::never().within(Some(1e6));
    let posed = job.pose(&data, DataFacts::of(&data), Vec::new(), &clock).unwrap();
    assert!(posed.left().time_limit <= Some(1e6));
    assert!(posed.plan().unwrap().stopping.time_limit <= Some(1e6));
}

/// With and without a proof on the way, on tables with a repeated column, of two rows, and in other units.
#[test]
fn x_is_the_same_whether_a_bound_is_asked_for_or_not() {
    let never = Cancel::never();
    let a = samples();
    let repeated = Matrix::from_fn(40, 8, |i, j| a.get(i, if j == 3 { 1 } else { j }));
    let few = Matrix::from_fn(2, 8, |i, j| a.get(i, j));
    let small = Matrix::from_fn(40, 8, |i, j| a.get(i, j) * 2f64.powi(-40));
    let limits: [&[(&str, Written)]; 3] = [
        &[("nonzeros", 3.into()), ("maximise", "variance".into())],
        &[("nonzeros", 2.into())],
        &[("relative-lambda", 0.2.into())],
    ];
    for table in [&a, &repeated, &few, &small] {
        for limit in limits {
            let found = |bound: Option<f64>| {
                let mut options = vec![("rank", 2.into()), ("effort", "quick".into())];
                options.extend_from_slice(limit);
                options.extend(bound.map(|seconds| ("bound", seconds.into())));
                let data = PcaData::from(table);
                let job = job("l0-pca", Call::Solve, &options).unwrap();
                let posed = job.pose(&data, DataFacts::of(&data), Vec::new(), &never).unwrap();
                let mut report = posed.run(&posed.plan().unwrap(), &never, &mut []).unwrap();
                if let Some(seconds) = bound {
                    posed.bound(&mut report, (seconds, false), &never, &|_| ()).unwrap();
                }
                report
            };
            let (plain, bounded) = (found(None), found(Some(0.5)));
            assert_eq!(bits(plain.x()), bits(bounded.x()), "{limit:?}");
            let (f, bound) = (bounded.solution.objective.total, bounded.global.unwrap().bound);
            assert!(bound <= f + 1e-9 * f.abs(), "{limit:?}: {bound} {f}");
        }
    }
}

#[test]
fn rivals_have_names_starts_and_the_whole_limit() {
    let posed =
        posed("l1-pca", &[("rank", 2.into()), ("lambda", 5.0.into()), ("time-limit", 7.0.into())]).unwrap();
    let names: Vec<String> = ["obcd", "auto"].map(String::from).into();
    let runs = posed.rivals(&names).unwrap();
    assert_eq!(runs.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["obcd", "auto"]);
    let (obcd, auto) = (&runs[0].1, &runs[1].1);
    assert!(!obcd.searches() && auto.searches() && obcd.restarts == Some(0) && auto.restarts.is_none());
    assert!(obcd.request.start().is_some() && auto.request.start().is_none());
    assert!(runs.iter().all(|(_, run)| run.stopping.time_limit == Some(7.0)));
    // without names: the search and its arms
    let runs = posed.rivals(&[]).unwrap();
    let arms = posed.problem.plan(&posed.job.request).unwrap().portfolio.unwrap().arms;
    assert_eq!(runs.len(), 1 + arms.len());
    assert_eq!(runs[0].0, "auto");
    assert!(posed.rivals(&["nope".to_string()]).is_err());
}
