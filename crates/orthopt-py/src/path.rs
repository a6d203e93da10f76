//! `path`: a problem along numbers of nonzeros or along λ.

use std::sync::atomic::{AtomicUsize, Ordering};

use orthopt::path::{Along, By, Folds, Path, Validation, Watch, cross_validate, judge, path as walk};
use orthopt::problem::PcaData;
use orthopt::solve::Observer;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::{Failure, worded};
use crate::input::{About, Given};
use crate::options::Options;
use crate::result::put_report;
use crate::solve::put_units;
use crate::supervise::{self, follow};
use crate::threads;

/// Options in addition to those of `solve`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Steps {
    counts: Option<Vec<usize>>,
    lams: Option<Vec<f64>>,
    cv: Option<usize>,
    cv_by: Option<String>,
    bound: Option<f64>,
}

impl Steps {
    fn along(&self) -> Option<Along> {
        let counts = self.counts.clone().map(Along::Counts);
        counts.or_else(|| self.lams.clone().map(Along::Lambdas)).map(Along::ordered)
    }

    fn folds(&self) -> Result<Option<Folds>, Failure> {
        let by = self.cv_by.as_deref().map(By::parse).transpose()?.unwrap_or_default();
        Ok(self.cv.map(|count| Folds { count, by }))
    }
}

/// Options of Python for a path.
struct Asked<'a, 'py> {
    problem: &'a str,
    data: &'a Given<'py>,
    options: &'a Options,
    steps: &'a Steps,
    callback: Option<Bound<'py, PyAny>>,
}

/// The data as the problem takes them, what is known of them, and the path that is asked for; who watches, and who says
/// whether to continue.
type Work<'a, T> = dyn Fn(
        &PcaData<'_>,
        &About,
        &orthopt::path::PathRequest,
        &mut Watch<'_, '_>,
        &supervise::Watch,
    ) -> Result<T, Failure>
    + Sync
    + 'a;

/// Does something along a path; each of `walks` paths has its share of the time. Ctrl-C ends it, and so does a callback
/// that returns true; it is called with the number of the point and of all points.
fn along<T: Send>(
    py: Python<'_>,
    asked: Asked<'_, '_>,
    walks: usize,
    work: &Work<'_, T>,
) -> PyResult<(T, About)> {
    let Asked { problem, data, options, steps, callback } = asked;
    let job = options.job(problem).map_err(Failure::from)?;
    let view = data.borrow()?;
    let (at, of) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let look = || match (&callback, of.load(Ordering::Relaxed)) {
        (Some(callback), n) if n > 0 => callback.call1((at.load(Ordering::Relaxed), n))?.is_truthy(),
        _ => Ok(false),
    };
    let found = follow(py, look, |watch| -> Result<_, Failure> {
        threads::pool(options.request.threads)?.install(|| {
            view.with(job.problem, &options.how, |data, about| {
                let clock = watch.cancel().within(job.request.time_limit);
                let facts = &about.facts;
                let (request, _) = job.path(data, facts, steps.along(), walks, &clock)?;
                let mut observer = watch.clone();
                let observers: &mut [&mut dyn Observer] = &mut [&mut observer];
                let mut stage = |i: usize, n: usize| {
                    at.store(i, Ordering::Relaxed);
                    of.store(n, Ordering::Relaxed);
                };
                work(
                    data,
                    about,
                    &request,
                    &mut Watch { cancel: watch.cancel(), observers, stage: &mut stage },
                    watch,
                )
            })
        })
    })??;
    Ok(found)
}

/// Walks the path; returns a dictionary. Ctrl-C ends it with the points so far, and so does a callback that
/// returns true.
#[pyfunction]
pub fn path<'py>(
    py: Python<'py>,
    problem: &str,
    data: Given<'py>,
    options: Options,
    steps: Steps,
    callback: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let asked = Asked { problem, data: &data, options: &options, steps: &steps, callback };
    let walks = 1 + steps.cv.unwrap_or(0);
    let (cv, seconds) = (steps.folds()?, steps.bound);
    let ((found, validation, name), about) =
        along(py, asked, walks, &|data, about, request, seen, watch| {
            let facts = &about.facts;
            let validation = match cv {
                Some(folds) => cross_validate(data, facts, request, folds, seen)?,
                None => None,
            };
            let mut found = walk(data, facts, request, seen)?;
            if let Some(seconds) = seconds.filter(|_| !found.interrupted) {
                found.bound(data, request, seconds, watch.cancel())?;
            }
            Ok((found, validation, request.along.name()))
        })?;
    told(py, &found, validation.as_ref(), name, &about)
}

/// One of the `cv` folds, counted from 0: the share of the variance of its rows that each point keeps. `None` where it was
/// ended before.
#[pyfunction]
pub fn judged_fold<'py>(
    py: Python<'py>,
    problem: &str,
    data: Given<'py>,
    options: Options,
    steps: Steps,
    fold: usize,
    callback: Option<Bound<'py, PyAny>>,
) -> PyResult<Option<Vec<f64>>> {
    let asked = Asked { problem, data: &data, options: &options, steps: &steps, callback };
    let folds = steps.folds()?.unwrap_or(Folds { count: 0, by: By::Rows });
    let (shares, _) = along(py, asked, 1, &|data, about, request, seen, _| {
        Ok(judge(data, &about.facts, request, (fold, folds), seen)?)
    })?;
    Ok(shares)
}

/// Mean, standard error and the point chosen, from what all folds say.
#[pyfunction]
pub fn validation(folds: Vec<Vec<f64>>) -> (Vec<f64>, Vec<f64>, usize) {
    let Validation { mean, error, chosen } = Validation::of(&folds);
    (mean, error, chosen)
}

/// The dictionary of a path.
///
/// # Errors
/// Memory.
pub fn told<'py>(
    py: Python<'py>,
    found: &Path,
    validation: Option<&Validation>,
    along: &str,
    about: &About,
) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let points = PyList::empty(py);
    for point in &found.points {
        let one = PyDict::new(py);
        put_report(&one, &point.report)?;
        let notes = [&about.notes[..], &point.report.task.notes, &point.report.notes].concat();
        one.set_item("notes", worded(&notes))?;
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
    out.set_item("along", along)?;
    out.set_item("knee", found.knee)?;
    out.set_item("chosen", validation.map_or(found.knee, |v| v.chosen))?;
    out.set_item("held_out", validation.map(|v| v.mean.clone()))?;
    out.set_item("held_out_error", validation.map(|v| v.error.clone()))?;
    out.set_item("interrupted", found.interrupted)?;
    Ok(out)
}
