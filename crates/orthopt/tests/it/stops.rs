//! Stopping criteria and the trace, without a solver.

use orthopt::solve::{
    MaxIterations, Pass, Progress, RelativeDecrease, Stationary, Status, Stop, StopReason, TimeLimit, Trace,
    TracePoint,
};

#[test]
fn criteria_compose() {
    let at = |iteration, seconds, pass| Progress {
        iteration,
        seconds,
        objective: -9.0,
        scale: 1.0,
        pass,
        residual: None,
    };
    let quiet = Pass { pairs: 10, decrease: 0.0, max_decrease: 1e-13, covers_all: true };
    let partial = Pass { covers_all: false, ..quiet };
    let busy = Pass { decrease: 1.0, max_decrease: 0.5, ..quiet };
    let offered = Pass { max_decrease: 0.5, ..quiet };
    let moved = Pass { decrease: 1e-12, ..quiet };
    let status = |s: &mut dyn Stop, p: Progress| s.check(&p).map(|r: StopReason| r.status);
    let mut or = MaxIterations(Some(5)).or(TimeLimit(Some(2.0)));
    assert_eq!(status(&mut or, at(4, 1.9, None)), None);
    assert_eq!(status(&mut or, at(5, 1.9, None)), Some(Status::MaxIters));
    assert_eq!(status(&mut or, at(4, 2.0, None)), Some(Status::TimeLimit));
    assert_eq!(status(&mut or, at(5, 2.0, None)), Some(Status::MaxIters)); // the first is asked first
    let mut and = MaxIterations(Some(5)).and(TimeLimit(Some(2.0)));
    assert_eq!(status(&mut and, at(5, 1.9, None)), None);
    assert_eq!(status(&mut and, at(4, 2.0, None)), None);
    assert_eq!(status(&mut and, at(5, 2.0, None)), Some(Status::MaxIters));
    assert_eq!(status(&mut MaxIterations(None).or(TimeLimit(None)), at(u64::MAX, 1e9, Some(quiet))), None);
    let mut stationary = Stationary { tol: 1e-10 };
    assert_eq!(status(&mut stationary, at(1, 0.0, None)), None);
    assert_eq!(status(&mut stationary, at(1, 0.0, Some(busy))), None);
    assert_eq!(status(&mut stationary, at(1, 0.0, Some(partial))), None);
    assert_eq!(status(&mut stationary, at(1, 0.0, Some(offered))), None);
    assert_eq!(status(&mut stationary, at(1, 0.0, Some(moved))), None); // not of the X it ended with
    assert_eq!(status(&mut stationary, at(1, 0.0, Some(quiet))), Some(Status::Converged));
    let mut stalled = RelativeDecrease { tol: 1e-3 };
    assert_eq!(status(&mut stalled, at(1, 0.0, Some(busy))), None);
    assert_eq!(status(&mut stalled, at(1, 0.0, Some(partial))), Some(Status::Stalled));
    assert_eq!(status(&mut RelativeDecrease { tol: 0.0 }, at(1, 0.0, Some(quiet))), None);
    let mut boxed: Box<dyn Stop> = Box::new(MaxIterations(Some(1)));
    assert_eq!(status(&mut boxed, at(1, 0.0, None)), Some(Status::MaxIters));
}

#[test]
fn traces_stay_short_for_any_length_of_run() {
    let point =
        |seconds, iteration| TracePoint { seconds, iteration, objective: 0.0, feasibility: 0.0, nnz: 0 };
    for step in [1e-4, 1e-2, 3.0, 1e4] {
        let mut trace = Trace::default();
        for k in 0..300_000u64 {
            let seconds = k as f64 * step;
            if trace.is_due(seconds) {
                trace.push(point(seconds, k));
            }
        }
        trace.push(point(3e5 * step, 300_000)); // the last point is always recorded
        let points = trace.points();
        assert!(points.len() <= 1000 && points[0].iteration == 0, "{} points", points.len());
        assert_eq!(points[points.len() - 1].iteration, 300_000);
    }
    // dense at the start: 100 points and more in the first half second
    let mut trace = Trace::default();
    for k in 0..500u64 {
        let seconds = k as f64 * 1e-3;
        if trace.is_due(seconds) {
            trace.push(point(seconds, k));
        }
    }
    assert!(trace.points().len() >= 100, "{} points", trace.points().len());
    let mut trace = Trace::default();
    trace.push(point(0.0, 4));
    trace.push(point(1.0, 4)); // the same iteration again replaces the point
    assert_eq!(trace.points(), [point(1.0, 4)]);
}

/// A point that takes two seconds to measure is followed by twenty without one.
#[test]
fn traces_leave_the_time_to_the_solver() {
    let mut trace = Trace::default();
    trace.push(TracePoint { seconds: 1.0, iteration: 7, objective: 0.0, feasibility: 0.0, nnz: 0 });
    assert!(trace.is_due(1.5));
    trace.rest(3.0);
    assert!(!trace.is_due(22.9) && trace.is_due(23.0));
}
