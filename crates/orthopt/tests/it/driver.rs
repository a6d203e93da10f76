//! The one loop around every solver: stops, observers, broken numbers, trace, several starts.

use crate::common::obcd::absolute;
use crate::common::{PROBLEMS, exact_objective, limits, problem, usual_start};
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::constraint::Stiefel;
use orthopt::penalty::NoPenalty;
use orthopt::problem::{PcaData, PcaProblem, Problem, Storage};
use orthopt::smooth::Smooth;
use orthopt::solve::{
    Chain, Current, Details, Ending, Event, MaxIterations, Observer, Pass, RelativeDecrease, RunOptions,
    Setting, Solution, Solver, Stationary, Status, Step, Stop, TimeLimit, run, run_restarts,
};
use orthopt::solvers::obcd::{Obcd, ObcdOptions};
use orthopt::{Error, Result};
use orthopt_core::constraint::stiefel;

/// A run that does not end by itself for a long time: ℓ1 with short steps.
fn endless() -> (PcaProblem, Obcd) {
    let p = problem("l1-pca", 1.5, 30, 4, 3);
    let solver = Obcd::new(ObcdOptions { alpha: absolute(&p, 1e3), ..Default::default() }).unwrap();
    (p, solver)
}

fn run_endless(options: RunOptions, stop: &mut dyn Stop, observers: &mut [&mut dyn Observer]) -> Solution {
    let (p, solver) = endless();
    let x0 = usual_start(&p, 0);
    let solution = run(&p, &solver, x0.clone(), options, stop, observers).unwrap();
    assert!(solution.feasibility <= 1e-12);
    assert!(solution.objective.total <= exact_objective(&p, &x0));
    check_trace(&solution);
    solution
}

/// Invariants of every trace.
fn check_trace(s: &Solution) {
    let points = s.trace.points();
    assert_eq!(points[0].iteration, 0);
    assert!(points.len() <= 1000);
    for w in points.windows(2) {
        assert!(w[1].seconds >= w[0].seconds && w[1].iteration > w[0].iteration);
        assert!(w[1].objective <= w[0].objective, "F rose from {} to {}", w[0].objective, w[1].objective);
        assert!(w[1].feasibility <= 1e-12);
    }
    let (last, value) = (points[points.len() - 1], s.objective.total);
    assert_eq!(last.iteration, s.iterations);
    assert!(
        (last.objective - value).abs() <= 1e-9 * (1.0 + value.abs()),
        "{} in the trace, {value}",
        last.objective
    );
    assert!(last.seconds <= s.seconds);
}

#[test]
fn the_iteration_limit_is_exact() {
    for most in [1, 2, 7, 100, 12_345] {
        let mut stop = MaxIterations(Some(most));
        let s = run_endless(limits(most, 0), &mut stop, &mut []);
        assert_eq!((s.iterations, s.status), (most, Status::MaxIters));
        assert_eq!(s.message, format!("reached the limit of {most} iterations"));
        assert_eq!(s.settings["pairs"], Setting::Int(most));
    }
}

/// "Never make more iterations than this", whatever the criteria say.
#[test]
fn the_options_alone_limit_iterations() {
    let mut stop = TimeLimit(Some(0.5));
    let s = run_endless(limits(100, 0), &mut stop, &mut []);
    assert_eq!((s.iterations, s.status), (100, Status::MaxIters), "{}", s.message);
}

/// The step that passes the limit is the last one.
#[test]
fn the_time_limit_is_kept() {
    for limit in [0.05, 0.2] {
        let (mut before, mut after) = (0, 0);
        let mut count = |event: Event<'_>| {
            if let Event::Step(p) = event {
                *(if p.seconds < limit { &mut before } else { &mut after }) += 1;
            }
        };
        let s = run_endless(RunOptions::default(), &mut TimeLimit(Some(limit)), &mut [&mut count]);
        assert_eq!(s.status, Status::TimeLimit);
        // none where a busy machine has shown that the end of a run takes as long as a step
        assert!(after <= 1, "{after} steps after the limit of {limit} s, and {before} before it");
        assert_eq!(s.message, "reached the time limit");
    }
}

#[test]
fn slow_progress_is_stalled() {
    let mut stop = RelativeDecrease { tol: 1e-4 }.or(TimeLimit(Some(20.0)));
    let s = run_endless(RunOptions::default(), &mut stop, &mut []);
    assert_eq!(s.status, Status::Stalled, "{}", s.message);
    assert!(s.message.starts_with("a pass of ") && s.message.ends_with(" only"), "{}", s.message);
}

#[test]
fn every_problem_converges_and_says_so() {
    for (name, lambda) in PROBLEMS {
        let p = problem(name, lambda, 25, 3, 5);
        let solver = Obcd::new(ObcdOptions::default()).unwrap();
        let mut stop = Stationary { tol: 1e-10 }.or(TimeLimit(Some(30.0)));
        let options = RunOptions { seed: 17, ..Default::default() };
        let s = run(&p, &solver, usual_start(&p, 1), options, &mut stop, &mut []).unwrap();
        assert_eq!(s.status, Status::Converged, "{name}: {}", s.message);
        assert!(s.message.starts_with("block-2 stationary: a whole pass over all "), "{}", s.message);
        assert_eq!((s.seed, s.solver.as_str(), s.status.name()), (17, "obcd", "converged"));
        assert_eq!(s.objective.total, s.objective.smooth + s.objective.nonsmooth);
        assert_eq!(s.nnz, s.x.data().iter().filter(|v| **v != 0.0).count());
        assert_eq!(s.nonneg_violation, (name == "nonneg-pca").then_some(0.0));
        check_trace(&s);
    }
}

#[test]
fn observers_watch_and_interrupt() {
    let cancel = Cancel::never();
    let (mut steps, mut traced, mut last) = (0, 0, f64::INFINITY);
    let mut watcher = |event: Event<'_>| {
        match event {
            Event::Step(p) => {
                steps += 1;
                assert!(p.objective <= last + 1e-12 && p.iteration > 0);
                last = p.objective;
            }
            Event::Trace(point, x) => {
                traced += 1;
                assert_eq!(point.feasibility, stiefel::feasibility(x));
            }
        }
        if steps == 25 {
            cancel.cancel();
        }
    };
    let options = RunOptions { cancel: cancel.clone(), ..Default::default() };
    let s = run_endless(options.clone(), &mut TimeLimit(Some(20.0)), &mut [&mut watcher]);
    assert_eq!((s.status, steps), (Status::Interrupted, 25));
    assert_eq!(s.message, "interrupted; this is the best point so far");
    assert!(traced >= 2 && s.trace.points().len() <= traced);
    // what is over before it begins makes one step at most
    let s = run_endless(options, &mut TimeLimit(Some(20.0)), &mut []);
    assert!(s.status == Status::Interrupted && s.iterations <= 1, "{} iterations", s.iterations);
}

/// f(x) = value − x₁ on 2 × 1 matrices.
struct Made {
    value: f64,
}

impl Smooth for Made {
    fn nrows(&self) -> usize {
        2
    }
    fn value(&self, x: &RowMat) -> f64 {
        self.value - x.get(0, 0)
    }
    fn gradient(&self, _x: &RowMat, g: &mut RowMat) {
        g.data_mut().copy_from_slice(&[-1.0, 0.0]);
    }
    fn lipschitz(&self) -> Option<f64> {
        Some(0.0)
    }
}

/// Follows a script: F after every iteration, and X with it; X becomes NaN together with F.
/// Converged when the script is over.
#[derive(Clone)]
struct Scripted {
    values: Vec<f64>,
}

impl Solver<Problem<Stiefel, Made, NoPenalty>> for Scripted {
    type State = (usize, RowMat);

    fn name(&self) -> &'static str {
        "scripted"
    }
    fn init(&self, _: &Problem<Stiefel, Made, NoPenalty>, x0: RowMat) -> Result<(usize, RowMat)> {
        if self.values.is_empty() {
            return Err(Error::Factorisation("the script"));
        }
        Ok((0, x0))
    }
    fn step(&self, _: &Problem<Stiefel, Made, NoPenalty>, state: &mut (usize, RowMat)) -> Step {
        state.0 += 1;
        state.1 = at(self.objective(state));
        let pass = Pass { pairs: 1, decrease: 0.0, max_decrease: 0.0, covers_all: true };
        Step::passed((state.0 >= self.values.len()).then_some(pass)).with_residual(Some(1.0))
    }
    fn current<'a>(&self, _: &Problem<Stiefel, Made, NoPenalty>, state: &'a (usize, RowMat)) -> Current<'a> {
        Current::new(&state.1, self.objective(state))
    }
    fn finish(&self, _: &Problem<Stiefel, Made, NoPenalty>, state: (usize, RowMat)) -> Ending {
        Ending::new(state.1, Details::default())
    }
}

impl Scripted {
    fn objective(&self, state: &(usize, RowMat)) -> f64 {
        self.values[state.0.clamp(1, self.values.len()) - 1]
    }
}

/// A script by its values of F, all in [−1, 1] where they are finite.
fn script(values: &[f64]) -> Scripted {
    Scripted { values: values.to_vec() }
}

/// The unit vector at which F of [`made`]`(0.0)` has this value; a longer one where there is none.
fn at(objective: f64) -> RowMat {
    RowMat::from_vec(2, 1, vec![-objective, (1.0 - objective * objective).max(0.0).sqrt()]).unwrap()
}

fn made(value: f64) -> Problem<Stiefel, Made, NoPenalty> {
    Problem::new(Made { value }, NoPenalty, 1).unwrap()
}

fn unit() -> RowMat {
    at(-0.6)
}

const BAD: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

/// Runs of one chain per start, all from the same X⁰; a missing one is a start that cannot be made.
fn run_scripts(starts: Vec<Option<Vec<Scripted>>>) -> Result<Solution> {
    let start = |k: u64| match &starts[k as usize] {
        Some(stages) => Ok(Chain { stages: stages.clone(), x0: unit() }),
        None => Err(Error::Factorisation("the start")),
    };
    let options = RunOptions { restarts: starts.len() as u64 - 1, ..Default::default() };
    let mut stop = Stationary { tol: 1e-9 }.or(MaxIterations(Some(10_000)));
    run_restarts(&made(0.0), start, options, &mut stop, &mut [])
}

/// Outside of the constraint F may be anything: such an X is never the result, however low F is there.
#[test]
fn an_x_that_has_left_the_constraint_is_never_the_result() {
    for (values, best, iteration) in [
        (&[-5.0][..], -0.6, 0),
        (&[-0.7, -0.9, -1e150], -0.9, 2),
        (&[-0.7, -5.0, -0.9, -1.0001], -0.9, 3),
        (&[-5.0, -0.3, -1e305], -0.6, 0),
    ] {
        let s = run_scripts(vec![Some(vec![script(values)])]).unwrap();
        assert_eq!((s.status, &s.x), (Status::NumericalError, &at(best)), "{values:?}: {}", s.message);
        assert!(s.objective.total == best && s.feasibility <= 1e-12, "{values:?}");
        let place = format!("the best X is that of iteration {iteration}");
        assert!(
            s.message.contains("X has left the constraint") && s.message.contains(&place),
            "{}",
            s.message
        );
    }
    // one that comes back ends as it would
    let s = run_scripts(vec![Some(vec![script(&[-0.7, -5.0, -0.9])])]).unwrap();
    assert_eq!((s.status, s.objective.total), (Status::Converged, -0.9), "{}", s.message);
}

#[test]
fn broken_numbers_end_the_run_with_the_best_finite_x_it_had() {
    for bad in BAD {
        // the script, and F and iteration of the best finite X in it
        let scripts: [(&[f64], f64, u64); 5] = [
            (&[bad], -0.6, 0),
            (&[-0.7, -0.9, bad], -0.9, 2),
            (&[-0.7, -0.9, -0.8, -0.65, bad], -0.9, 2),
            (&[-0.7, bad, -0.95], -0.7, 1),
            (&[-0.3, -0.1, bad], -0.6, 0),
        ];
        for (values, best, iteration) in scripts {
            let s = run_scripts(vec![Some(vec![script(values)])]).unwrap();
            assert_eq!((s.status, &s.x), (Status::NumericalError, &at(best)), "{values:?}");
            assert_eq!(s.objective.total, best);
            assert_eq!(
                s.message,
                format!(
                    "F became NaN or infinite: check the scale of the data; the best X is that of iteration {iteration}"
                )
            );
        }
        // F is not finite at X⁰ already
        let mut stop = MaxIterations(Some(3));
        let s = run(&made(bad), &script(&[-1.0]), unit(), RunOptions::default(), &mut stop, &mut []).unwrap();
        assert_eq!((s.status, s.iterations, &s.x), (Status::NumericalError, 0, &unit()));
    }
}

/// The looks get sparser: the best X is at most a sixteenth of the iterations old.
#[test]
fn a_break_late_in_the_run_loses_little() {
    let f = |k: u64| -0.6 - 1e-4 * k as f64;
    for last in [17, 100, 1234] {
        let values: Vec<f64> = (1..=last).map(f).chain([f64::NAN]).collect();
        let s = run_scripts(vec![Some(vec![script(&values)])]).unwrap();
        assert_eq!((s.status, s.iterations), (Status::NumericalError, last + 1));
        assert!(s.objective.total <= f(last - last / 16), "{last}: {}", s.objective.total);
    }
}

#[test]
fn a_stage_that_breaks_or_fails_loses_nothing() {
    // the second stage gets to -0.9 and breaks
    let s = run_scripts(vec![Some(vec![script(&[-0.8]), script(&[-0.7, -0.9, f64::NAN])])]).unwrap();
    assert_eq!((s.status, &s.x), (Status::NumericalError, &at(-0.9)));
    // it breaks before it gets anywhere
    let s = run_scripts(vec![Some(vec![script(&[-0.8]), script(&[-0.7, f64::NAN])])]).unwrap();
    assert_eq!((s.status, &s.x), (Status::NumericalError, &at(-0.8)));
    // the first one breaks; the second one continues from its best X and converges
    let s = run_scripts(vec![Some(vec![script(&[-0.8, f64::NAN]), script(&[-0.85])])]).unwrap();
    assert_eq!((s.status, &s.x, s.notes.len()), (Status::Converged, &at(-0.85), 1));
    assert!(s.notes[0].to_string().starts_with("scripted: F became NaN"), "{}", s.notes[0]);
    // it cannot begin at all
    let s = run_scripts(vec![Some(vec![script(&[-0.8]), script(&[])])]).unwrap();
    assert_eq!((s.status, &s.x), (Status::Converged, &at(-0.8)));
    let note = s.notes[0].to_string();
    assert!(note.starts_with("scripted after scripted failed: the script did not"), "{note}");
    assert!(run_scripts(vec![Some(vec![script(&[]), script(&[-0.8])])]).is_err());
}

#[test]
fn a_later_start_that_breaks_or_fails_loses_nothing() {
    let good = || Some(vec![script(&[-0.8])]);
    let s = run_scripts(vec![good(), Some(vec![script(&[-0.7, -0.9, f64::NAN])]), good()]).unwrap();
    assert_eq!((s.status, &s.x), (Status::NumericalError, &at(-0.9)));
    assert!(s.message.ends_with("iteration 2 (the best of 2 starts)"), "{}", s.message);
    let s = run_scripts(vec![good(), Some(vec![script(&[-0.7, f64::NAN])]), good()]).unwrap();
    assert_eq!((s.status, &s.x), (Status::NumericalError, &at(-0.8)));
    for fails in [None, Some(vec![script(&[])])] {
        let s = run_scripts(vec![good(), Some(vec![script(&[-0.9])]), fails, good()]).unwrap();
        assert_eq!((s.status, &s.x), (Status::Converged, &at(-0.9)));
        assert!(s.notes[0].to_string().starts_with("start 3 of the run failed: "), "{}", s.notes[0]);
    }
    assert!(run_scripts(vec![None, good()]).is_err());
}

/// A method that goes up again returns the best X that was examined, which is not the one that it found critical; one that
/// rises by rounding the last one.
#[test]
fn the_best_point_counts() {
    let s = run_scripts(vec![Some(vec![script(&[-0.7, -0.9, -0.8])])]).unwrap();
    assert_eq!((s.status, &s.x), (Status::Stalled, &at(-0.9)));
    assert!(s.message.ends_with("; the best X is that of iteration 2"), "{}", s.message);
    let s = run_scripts(vec![Some(vec![script(&[-0.7, -0.9, -0.9 + 1e-13])])]).unwrap();
    assert_eq!((s.status, &s.x), (Status::Converged, &at(-0.9 + 1e-13)));
}

#[test]
fn data_beyond_the_range_of_numbers() {
    for size in [8e307] {
        // C is finite, sums of its entries are not
        let c = faer::Mat::from_fn(60, 60, |i, j| size * (i.abs_diff(j) as f64 * 0.01).cos());
        for (name, lambda) in PROBLEMS {
            let data = PcaData::Gram(c.as_ref());
            let p = orthopt::family::pca_problem(name, &data, 2, lambda, Storage::Auto).unwrap();
            let solver = Obcd::new(ObcdOptions::default()).unwrap();
            let mut stop = MaxIterations(Some(50));
            let s = run(&p, &solver, usual_start(&p, 1), RunOptions::default(), &mut stop, &mut []).unwrap();
            // some X have a finite F
            let breaks = s.status == Status::NumericalError;
            assert!(breaks || s.objective.total.is_finite(), "{name} {size:e}: {}", s.message);
            assert!(s.feasibility <= 1e-12);
        }
    }
}

#[test]
fn samples_without_squares_are_refused() {
    for (size, large) in [(1e160, true), (1e300, true), (1e-165, false), (1e-300, false)] {
        let a = faer::Mat::from_fn(8, 5, |i, j| size * ((i * 7 + j * 3) as f64).sin());
        for (name, lambda) in PROBLEMS {
            for storage in [Storage::Dense, Storage::Gram] {
                let error =
                    orthopt::family::pca_problem(name, &PcaData::Dense(a.as_ref()), 2, lambda, storage)
                        .unwrap_err();
                match error {
                    Error::Overflow { column: 1 } => assert!(large),
                    Error::Underflow => assert!(!large),
                    other => panic!("{name} {size:e}: {other}"),
                }
            }
        }
    }
}

#[test]
fn several_starts_share_clock_and_trace_and_the_best_counts() {
    let p = problem("nonneg-pca", 0.0, 20, 3, 4);
    let one = |k: u64| {
        let solver = Obcd::new(ObcdOptions { seed: k, ..Default::default() })?;
        Ok(Chain::single(solver, usual_start(&p, k)))
    };
    let mut alone = Vec::new();
    for k in 0..6 {
        let Chain { stages, x0 } = one(k).unwrap();
        let mut stop = Stationary { tol: 1e-10 };
        alone.push(run(&p, &stages[0], x0, RunOptions::default(), &mut stop, &mut []).unwrap());
    }
    let options = RunOptions { restarts: 5, ..Default::default() };
    let s = run_restarts(&p, one, options.clone(), &mut Stationary { tol: 1e-10 }, &mut []).unwrap();
    let best = alone.iter().min_by(|a, b| a.objective.total.total_cmp(&b.objective.total)).unwrap();
    assert_eq!((s.x.clone(), s.status), (best.x.clone(), Status::Converged));
    assert!(s.message.ends_with("(the best of 6 starts)"), "{}", s.message);
    assert_eq!(s.starts, 6);
    assert_eq!(s.settings["best_start"], Setting::Int(s.best_start));
    assert_eq!(s.iterations, alone.iter().map(|a| a.iterations).sum::<u64>());
    let points = s.trace.points();
    assert!(points.windows(2).all(|w| w[1].objective <= w[0].objective && w[1].iteration > w[0].iteration));
    assert!(
        (points[points.len() - 1].objective - best.objective.total).abs()
            <= 1e-9 * best.objective.total.abs()
    );
    // a limit holds for all starts together
    let mut stop = Stationary { tol: 1e-10 }.or(MaxIterations(Some(alone[0].iterations + 5)));
    let options = RunOptions { max_iterations: Some(alone[0].iterations + 5), ..options };
    let s = run_restarts(&p, one, options, &mut stop, &mut []).unwrap();
    assert_eq!(s.iterations, alone[0].iterations + 5);
    assert!(s.objective.total <= alone[0].objective.total);
}

#[test]
fn very_many_starts_keep_the_trace_short() {
    // every start ends a little lower than the one before
    let start = |k: u64| {
        let (s, c) = (1e-4 * k as f64).sin_cos();
        Ok(Chain::single(Scripted { values: vec![-s] }, RowMat::from_vec(2, 1, vec![s, c]).unwrap()))
    };
    let options = RunOptions { restarts: 3000, ..Default::default() };
    let s = run_restarts(&made(0.0), start, options, &mut Stationary { tol: 1e-9 }, &mut []).unwrap();
    assert_eq!((s.starts, s.best_start), (3001, 3000));
    assert!((s.objective.total + 0.3f64.sin()).abs() < 1e-12);
    assert!(s.trace.points().len() <= 1000, "{} points", s.trace.points().len());
}
