//! `stability`: a problem on pairs of disjoint halves of the rows.

use std::sync::atomic::{AtomicUsize, Ordering};

use numpy::{PyArray1, PyReadonlyArray2};
use orthopt::Error;
use orthopt::RowMat;
use orthopt::family::{Case, Family, Named, Plan, Posed, Run, find_problem, pose};
use orthopt::report::{Report, Stability, Task};
use orthopt::solve::Observer;
use orthopt::stability::{Request as Halves, Watch, check, of_halves, of_run, stability as solved};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Failure, worded};
use crate::input::{About, Given, copied};
use crate::options::Request;
use crate::result::{array, put_report};
use crate::solve::{is_gram, put_units};
use crate::supervise::{self, follow};
use crate::threads;

/// The run of all rows, unless their X was given, and what the halves say.
struct Found {
    report: Option<Report>,
    task: Task,
    stability: Stability,
}

/// Solves the problem, unless X is given, and then on pairs of halves of the rows; returns a dictionary. Ctrl-C ends the halves
/// with the pairs that are complete, and so does a callback that returns true.
#[pyfunction]
pub fn stability<'py>(
    py: Python<'py>,
    problem: &str,
    data: Given<'py>,
    options: Request,
    pairs: usize,
    x: Option<PyReadonlyArray2<'py, f64>>,
    callback: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let info = find_problem(problem).map_err(Failure::from)?;
    let x = x.map(|x| copied(&x)).transpose()?;
    let view = data.borrow()?;
    let (ended, all) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let look = || match (&callback, all.load(Ordering::Relaxed)) {
        (Some(callback), of) if of > 0 => callback.call1((ended.load(Ordering::Relaxed), of))?.is_truthy(),
        _ => Ok(false),
    };
    let show = |done: usize, of: usize| {
        ended.fetch_max(done, Ordering::Relaxed);
        all.store(of, Ordering::Relaxed);
    };
    let request = &options;
    let (found, about) = follow(py, look, |watch| -> Result<_, Failure> {
        threads::pool(request.threads)?.install(|| {
            view.with(info, &request.how, |data, about| {
                request.asked.check(Case::new(info, &request.pose).of_gram(is_gram(data)))?;
                check(data, pairs)?;
                let pose_options = request.pose.clone().or_counts(info, &request.wanted);
                let pose_options = if about.facts.centered { pose_options.centred() } else { pose_options };
                let clock = watch.cancel().within(request.stopping.time_limit);
                let posed = clock.during(|| pose(info, data, &pose_options))?;
                let task = Task::new(&posed, about.facts.clone());
                let request = &Request { stopping: request.stopping.after(&clock), ..request.clone() };
                let (x, report) = match x {
                    Some(x) => (x, None),
                    None => {
                        let report = whole(posed, &task, request, watch)?;
                        (report.x().clone(), Some(report))
                    }
                };
                let stopping = match &report {
                    Some(report) => of_halves(request.stopping, report.solution.seconds),
                    None => request.stopping,
                };
                let halves = Halves::of(&task, &pose_options, &request.wanted, stopping, pairs);
                let seen = Watch { cancel: watch.cancel(), done: &show };
                let none = || {
                    Error::Incompatible("no pair of halves of the rows was complete when it was ended".into())
                };
                let stability = solved(data, &about.facts, &x, &halves, &seen)?.ok_or_else(none)?;
                Ok(Found { report, task, stability })
            })
        })
    })??;
    told(py, &found, &about)
}

/// The run of all rows.
fn whole(posed: Posed, task: &Task, request: &Request, watch: &supervise::Watch) -> Result<Report, Failure> {
    run(&posed.problem, task, request, watch)
}

fn run(problem: &Named, task: &Task, request: &Request, watch: &supervise::Watch) -> Result<Report, Failure> {
    let Request { wanted, stopping, restarts, .. } = request;
    let mut plan: Plan = problem.plan(wanted)?;
    let case = Case::new(task.problem, &request.pose).run_by(Run::of(problem, &plan, *restarts));
    request.asked.check(case)?;
    plan.reasons.extend(plan.restart_reason(problem, wanted, stopping, *restarts));
    let mut observer = watch.clone();
    let observers: &mut [&mut dyn Observer] = &mut [&mut observer];
    let solution = plan.run(problem, wanted, &of_run(*stopping), *restarts, watch.cancel(), observers)?;
    Ok(Report::new(task, problem, &plan, wanted, *stopping, solution)?)
}

fn told<'py>(py: Python<'py>, found: &Found, about: &About) -> PyResult<Bound<'py, PyDict>> {
    let Found { report, task, stability: s } = found;
    let out = PyDict::new(py);
    put_stability(&out, s)?;
    out.set_item("feature_names", &task.data.names)?;
    let notes = report.as_ref().map_or(&[][..], |report| &report.notes);
    out.set_item("notes", worded(&[&task.notes[..], &about.notes[..], notes].concat()))?;
    let solution = report.as_ref().map(|report| {
        let one = PyDict::new(py);
        put_report(&one, report)?;
        put_units(&one, about, &report.task.data)?;
        PyResult::Ok(one)
    });
    out.set_item("solution", solution.transpose()?)?;
    Ok(out)
}

/// Adds what halves of the rows say.
///
/// # Errors
/// Memory.
pub fn put_stability(out: &Bound<'_, PyDict>, s: &Stability) -> PyResult<()> {
    let py = out.py();
    let counts =
        [("pairs", s.pairs), ("requested", s.requested), ("failed", s.failed), ("limited", s.limited)];
    for (name, count) in counts {
        out.set_item(name, count)?;
    }
    let matrices: [(&str, &RowMat); 4] =
        [("frequency", &s.frequency), ("simultaneous", &s.simultaneous), ("low", &s.low), ("high", &s.high)];
    for (name, values) in matrices {
        out.set_item(name, array(py, values)?)?;
    }
    for (name, values) in [("cosine", &s.cosine), ("used", &s.used), ("selected", &s.selected)] {
        out.set_item(name, PyArray1::from_slice(py, values))?;
    }
    out.set_item("selected_together", s.selected_together)
}
