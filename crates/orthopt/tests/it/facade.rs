//! `SparsePca` against the parts behind it, and the report it returns.

use crate::common::{PROBLEMS, exact_objective};
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::prelude::*;
use orthopt::problem::{PcaData, Storage};
use orthopt::solvers::obcd::{Obcd, ObcdOptions};
use orthopt::start::Start;

fn samples() -> Matrix {
    Matrix::from_fn(30, 8, |i, j| ((i * (j + 3)) as f64 * 0.37).sin() * (j + 1) as f64)
}

fn of<'a>(problem: &str, a: &'a Matrix) -> SparsePca<'a> {
    match problem {
        "l0-pca" => SparsePca::l0(a),
        "l1-pca" => SparsePca::l1(a),
        "nonneg-pca" => SparsePca::nonneg(a),
        _ => SparsePca::plain(a),
    }
}

#[test]
fn is_the_same_run_as_by_hand() {
    let a = samples();
    for (name, lambda) in PROBLEMS {
        let problem =
            orthopt::family::pca_problem(name, &PcaData::from(&a), 2, lambda, Storage::Auto).unwrap();
        let x0 = problem.start(problem.recipe().default_start, 3).unwrap();
        let mut builder = of(name, &a).components(2).solver("obcd").seed(3).restarts(0).start(x0.clone());
        if matches!(name, "l0-pca" | "l1-pca") {
            builder = builder.lambda(lambda);
        }
        let found = builder.fit().unwrap();
        let x0 = problem.start_at(&Start::Given(x0), 3, &Cancel::never()).unwrap();
        let solver = Obcd::new(ObcdOptions { seed: 3, tol: 1e-9, ..ObcdOptions::default() }).unwrap();
        let mut stop = found.stopping.criteria();
        let mut by_hand = run(&problem, &solver, x0, RunOptions::default(), &mut stop, &mut []).unwrap();
        problem.order_components(&mut by_hand);
        assert!(same_but_for_signs(found.x(), &by_hand.x), "{name}"); // those of a plan are fixed
        assert_eq!((found.solver.as_str(), found.start.as_str()), ("obcd", "file"));
        assert!(exact_objective(&problem, found.x()).is_finite());
    }
}

/// Bit by bit, each column as it is or negated.
fn same_but_for_signs(a: &RowMat, b: &RowMat) -> bool {
    let same = |k: usize, sign: f64| (0..a.nrows()).all(|i| a.get(i, k) == sign * b.get(i, k));
    a.nrows() == b.nrows() && a.ncols() == b.ncols() && (0..a.ncols()).all(|k| same(k, 1.0) || same(k, -1.0))
}

#[test]
fn the_report_says_what_was_chosen_and_what_x_is() {
    let a = samples();
    let found = SparsePca::l1(&a).components(2).certify().fit().unwrap();
    assert!(found.is_certified() && found.checks.criticality.is_some());
    let search = found.solution.search.as_ref().unwrap();
    let winner = &search.arms[search.winner];
    assert_eq!((&found.solver, &found.solution.solver), (&winner.solver, &winner.solver));
    assert_eq!(found.start, winner.start);
    let all_ran = search.arms.len() >= 3 && search.arms.iter().all(|arm| arm.runs >= 1);
    assert!(all_ran && found.solution.starts >= search.arms.len() as u64);
    assert_eq!(found.nonzeros().iter().sum::<usize>(), found.solution.nnz);
    assert!(found.reasons.iter().any(|r| r.to_string().starts_with("lambda ")));
    for (name, value) in winner.constants.iter() {
        assert_eq!(found.constants.get(name), Some(value), "{name}");
    }
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["objective"], found.solution.objective.total);
    assert_eq!(json["data"]["rows"], 30);
    assert_eq!(json["settings"]["starts"], found.solution.starts);
}

#[test]
fn a_preset_keeps_its_name() {
    let a = samples();
    let found = SparsePca::l1(&a).components(2).lambda(1.0).solver("obcd-c+obcd-sv").fit().unwrap();
    let names: Vec<_> = found.solution.stages.iter().map(|s| s.solver.as_str()).collect();
    assert_eq!(names, ["obcd-c", "obcd-sv"]);
    assert_eq!(found.solution.solver, "obcd-c+obcd-sv");
}

#[test]
fn centring_is_that_of_the_data() {
    let a = samples();
    let mean = |j: usize| (0..30).map(|i| a.get(i, j)).sum::<f64>() / 30.0;
    let means: Vec<f64> = (0..8).map(mean).collect();
    let copy = Matrix::from_fn(30, 8, |i, j| a.get(i, j) - means[j]);
    let run = |p: SparsePca<'_>| p.components(3).seed(5).fit().unwrap();
    let (own, by_hand) = (run(SparsePca::plain(&a).center()), run(SparsePca::plain(&copy)));
    let (f, g) = (own.solution.objective.total, by_hand.solution.objective.total);
    assert!((f - g).abs() <= 1e-9 * g.abs(), "{f} {g}");
    assert!(own.task.data.centered && !by_hand.task.data.centered);
}

#[test]
fn bad_input_is_an_error() {
    let a = samples();
    let broken = Matrix::from_fn(4, 3, |i, _| if i == 2 { f64::NAN } else { 1.0 });
    let c = faer::Mat::<f64>::identity(4, 4);
    let messages = [
        (SparsePca::l0(&a).components(9).fit(), "rank 9 exceeds the 8 columns"),
        (SparsePca::l0(&a).lambda(-1.0).fit(), "lambda is -1"),
        (SparsePca::l0(&a).time_limit(f64::NAN).fit(), "time-limit is NaN"),
        (SparsePca::l0(&a).solver("sovler").fit(), "there is no solver 'sovler'"),
        (SparsePca::l0(&broken).components(2).fit(), "row 3"),
        (SparsePca::l0(PcaData::Gram(c.as_ref())).center().fit(), "C itself cannot be centred"),
    ];
    for (result, message) in messages {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

fn quick(p: SparsePca<'_>) -> SparsePca<'_> {
    p.components(2).option("effort", "quick")
}

/// Options without a method of their own have the names of the command, and mean what they mean there.
#[test]
fn options_by_name() {
    let a = samples();
    let maximised = |p: SparsePca<'_>| p.fit().unwrap().explained_variance.unwrap().maximised;
    let of = || quick(SparsePca::l0(&a));
    assert_eq!(maximised(of().option("nonzeros", 3)), "adjusted");
    assert_eq!(maximised(of().option("nonzeros", vec![3, 2])), "adjusted");
    assert_eq!(maximised(of().option("nonzeros", 3).option("maximise", "variance")), "variance");
    assert_eq!(maximised(of()), "adjusted"); // a number is chosen
    assert_eq!(maximised(of().lambda(20.0)), "variance");
    assert_eq!(maximised(of().components(1).option("nonzeros", 3)), "variance");
    assert_eq!(maximised(quick(SparsePca::plain(&a)).option("nonzeros", 3)), "adjusted");
    assert_eq!(maximised(quick(SparsePca::nonneg(&a)).option("nonzeros", 3)), "variance");
    let found = of().option("nonzeros", vec![3, 2]).fit().unwrap();
    assert_eq!(found.nonzeros(), [3, 2]);
    for (asked, message) in [
        (of().option("nonzeroes", 3), "there is no option 'nonzeroes'"),
        (of().option("nonzeros", 0), "nonzeros"),
        (of().option("nonzeros", 3).option("variables", 4), "exclude each other"),
        (of().option("scale", "std"), "no option of SparsePca"),
        (of().option("bound", 5.0), "no option of SparsePca"),
        (of().option("json", "a.json"), "no option of SparsePca"),
        (of().option("penalty", "l1").option("maximise", "adjusted"), "does not apply"),
    ] {
        let error = asked.fit().unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// The limit is of setting up the problem too: none of it is left to a run whose problem was long in the making, and no time
/// at all gives the start with the word for it.
#[test]
fn the_limit_is_of_the_whole_call() {
    let a = samples();
    let none = || SparsePca::l0(&a).components(2).time_limit(0.0);
    for asked in [none().lambda(20.0), none().option("nonzeros", 3), none(), none().lambda(20.0).certify()] {
        let found = asked.fit().unwrap();
        assert_eq!(found.solution.status, Status::TimeLimit);
        assert!(found.solution.feasibility < 1e-12);
    }
    let stopping = Stopping { max_iters: None, time_limit: Some(3600.0), tol: 1e-9, min_decrease: 0.0 };
    let clock = Cancel::never();
    assert_eq!(stopping.after(&clock).time_limit, Some(3600.0)); // a difference below what is shown
    std::thread::sleep(std::time::Duration::from_millis(60));
    assert!(stopping.after(&clock).time_limit < Some(3600.0));
    let short = Stopping { time_limit: Some(0.01), ..stopping };
    assert_eq!(short.after(&clock).time_limit, Some(0.0));
    assert_eq!(Stopping { time_limit: None, ..stopping }.after(&clock).time_limit, None);
}
