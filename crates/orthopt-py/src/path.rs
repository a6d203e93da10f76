//! `path`: a problem along numbers of nonzeros or along λ.

use std::sync::atomic::{AtomicUsize, Ordering};

use orthopt::family::find_problem;
use orthopt::path::{Along, Path, Validation, Watch, cross_validate, path as walk};
use orthopt::solve::{Observer, Stopping};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::Failure;
use crate::input::{About, Given};
use crate::options::Options;
use crate::result::put_report;
use crate::solve::{Request, put_units};
use crate::supervise::follow;
use crate::threads;

/// What is wanted besides the options of `solve`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Steps {
    counts: Option<Vec<usize>>,
    lams: Option<Vec<f64>>,
    cv: Option<usize>,
    bound: Option<f64>,
}

impl Steps {
    fn along(&self) -> Option<Along> {
        let counts = self.counts.clone().map(Along::Counts);
        counts.or_else(|| self.lams.clone().map(Along::Lambdas)).map(Along::ordered)
    }
}

/// Walks the path; returns a dictionary. Ctrl-C ends it with the points so far, and so does a callback that
/// returns true; it is called with the number of the point and of all points.
#[pyfunction]
pub fn path<'py>(
    py: Python<'py>,
    problem: &str,
    data: Given<'py>,
    options: Options<'py>,
    steps: Steps,
    callback: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let info = find_problem(problem).map_err(Failure::from)?;
    let asked = Request::new(&options)?;
    let how = options.preparation().map_err(Failure::from)?;
    let view = data.borrow()?;
    let (at, of) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let look = || match (&callback, of.load(Ordering::Relaxed)) {
        (Some(callback), n) if n > 0 => callback.call1((at.load(Ordering::Relaxed), n))?.is_truthy(),
        _ => Ok(false),
    };
    let ((found, validation, along), about) = follow(py, look, |watch| -> Result<_, Failure> {
        threads::pool(asked.threads)?.install(|| {
            view.with(info, &how, |data, about| {
                let along = match steps.along() {
                    Some(along) => along,
                    None => Along::of_default(info, &asked.pose, data)?,
                };
                let walks = 1.0 + steps.cv.unwrap_or(0) as f64;
                let time_limit = asked.stopping.time_limit.map(|seconds| seconds / walks);
                let request = orthopt::path::Request {
                    problem: info,
                    pose: asked.pose.clone(),
                    along,
                    wanted: asked.wanted.clone(),
                    stopping: Stopping { time_limit, ..asked.stopping },
                };
                let mut observer = watch.clone();
                let observers: &mut [&mut dyn Observer] = &mut [&mut observer];
                let mut stage = |i: usize, n: usize| {
                    at.store(i, Ordering::Relaxed);
                    of.store(n, Ordering::Relaxed);
                };
                let mut seen = Watch { observers, stage: &mut stage };
                let facts = &about.facts;
                let validation = match steps.cv {
                    Some(folds) => cross_validate(data, facts, &request, folds, &mut seen)?,
                    None => None,
                };
                let mut found = walk(data, facts, &request, &mut seen)?;
                if let Some(seconds) = steps.bound.filter(|_| !found.interrupted) {
                    found.bound(data, &request, seconds, &|_| watch.keep_going())?;
                }
                Ok((found, validation, request.along))
            })
        })
    })??;
    told(py, &found, validation.as_ref(), &along, &about)
}

fn told<'py>(
    py: Python<'py>,
    found: &Path,
    validation: Option<&Validation>,
    along: &Along,
    about: &About,
) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let points = PyList::empty(py);
    for point in &found.points {
        let one = PyDict::new(py);
        put_report(&one, &point.report)?;
        put_units(&one, about, &point.report.task.data)?;
        let bound = point.report.global.as_ref();
        let entry = PyDict::new(py);
        entry.set_item("at", point.at)?;
        entry.set_item("from", point.from)?;
        entry.set_item("bound", bound.map(|b| b.bound))?;
        entry.set_item("gap", bound.and_then(|b| b.gap))?;
        entry.set_item("proof", bound.and_then(|b| b.proof))?;
        entry.set_item("solution", one)?;
        points.append(entry)?;
    }
    let validation = validation.filter(|v| v.chosen < found.points.len());
    out.set_item("points", points)?;
    out.set_item("along", along.name())?;
    out.set_item("knee", found.knee)?;
    out.set_item("chosen", validation.map_or(found.knee, |v| v.chosen))?;
    out.set_item("held_out", validation.map(|v| v.mean.clone()))?;
    out.set_item("held_out_error", validation.map(|v| v.error.clone()))?;
    out.set_item("interrupted", found.interrupted)?;
    Ok(out)
}
