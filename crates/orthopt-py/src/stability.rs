//! `stability`: a problem on pairs of disjoint halves of the rows.

use std::sync::atomic::{AtomicUsize, Ordering};

use numpy::{PyArray1, PyReadonlyArray2};
use orthopt::Error;
use orthopt::RowMat;
use orthopt::report::{Report, Stability, Task};
use orthopt::solve::Observer;
use orthopt::stability::{Watch as Halves, check};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Failure, worded};
use crate::input::{About, Given, copied};
use crate::options::Options;
use crate::result::{array, put_report};
use crate::solve::put_units;
use crate::supervise::follow;
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
    options: Options,
    pairs: usize,
    x: Option<PyReadonlyArray2<'py, f64>>,
    callback: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut job = options.job(problem).map_err(Failure::from)?;
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
    let given = x;
    if given.is_none() {
        job.request.stability = Some(pairs);
    }
    let (found, about) = follow(py, look, |watch| -> Result<_, Failure> {
        threads::pool(job.request.threads)?.install(|| {
            view.with(job.problem, &options.how, |data, about| {
                check(data, pairs)?;
                let clock = watch.cancel().within(job.request.time_limit);
                let posed = job.pose(data, about.facts.clone(), Vec::new(), &clock)?;
                let seen = Halves { cancel: watch.cancel(), done: &show };
                let (report, stability) = match given {
                    Some(x) => (None, posed.halves_of(&x, posed.left(), pairs, data, &seen)?),
                    None => {
                        let run = posed.plan()?;
                        let mut observer = watch.clone();
                        let observers: &mut [&mut dyn Observer] = &mut [&mut observer];
                        let mut report = posed.run(&run, watch.cancel(), observers)?;
                        posed.halves(&mut report, data, &seen)?;
                        let stability = report.stability.clone();
                        (Some(report), stability)
                    }
                };
                let none = || {
                    Error::Incompatible("no pair of halves of the rows was complete when it was ended".into())
                };
                Ok(Found { report, task: posed.task, stability: stability.ok_or_else(none)? })
            })
        })
    })??;
    told(py, &found, &about)
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
