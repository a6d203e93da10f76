//! `explore`: how many variables, which components, how far from the best.

use std::sync::Mutex;

use orthopt::explore::{Exploration, Watch, explore as look_at};
use orthopt::request::Front;
use orthopt::solve::Observer;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::errors::{Failure, worded};
use crate::input::Given;
use crate::options::Options;
use crate::path::told;
use crate::result::put_report;
use crate::solve::put_units;
use crate::stability::put_stability;
use crate::supervise::follow;
use crate::threads;

/// Examines the data; returns a dictionary. Ctrl-C ends it with what is there, and so does a callback that returns true, which is
/// called with the question that is asked.
#[pyfunction]
pub fn explore<'py>(
    py: Python<'py>,
    data: Given<'py>,
    options: Options,
    callback: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let job = options.job("l0-pca").map_err(Failure::from)?;
    let view = data.borrow()?;
    let asked = Mutex::new("");
    let question = || asked.lock().map_or("", |question| *question);
    let look = || match &callback {
        Some(callback) if !question().is_empty() => callback.call1((question(),))?.is_truthy(),
        _ => Ok(false),
    };
    let (found, about) = follow(py, look, |watch| -> Result<_, Failure> {
        threads::pool(options.request.threads)?.install(|| {
            view.with(job.problem, &options.how, |data, about| {
                job.check_data(data, &about.facts)?;
                let mut observer = watch.clone();
                let observers: &mut [&mut dyn Observer] = &mut [&mut observer];
                let mut stage = |question: &'static str| {
                    if let Ok(mut now) = asked.lock() {
                        *now = question;
                    }
                };
                let mut seen = Watch { cancel: watch.cancel(), observers, stage: &mut stage };
                Ok(look_at(data, &about.facts, &job.request, &mut seen)?)
            })
        })
    })??;
    let out = PyDict::new(py);
    let path = told(py, &found.path, None, found.along.name(), &about)?;
    out.set_item("path", path)?;
    let solution = PyDict::new(py);
    put_report(&solution, &found.report)?;
    put_units(&solution, &about, &found.report.task.data)?;
    let bound = found.report.global.as_ref();
    out.set_item("bound", bound.map(|b| b.bound))?;
    out.set_item("gap", bound.and_then(|b| b.gap))?;
    out.set_item("proof", bound.and_then(|b| b.proof))?;
    out.set_item("solution", solution)?;
    let data = &found.report.task.data;
    out.set_item("scale", data.scaled.then(|| data.scale.clone()))?;
    if let Some(halves) = &found.report.stability {
        let stability = PyDict::new(py);
        put_stability(&stability, halves)?;
        out.set_item("stability", stability)?;
    }
    if let Some(fewer) = &found.fewer {
        let solution = PyDict::new(py);
        put_report(&solution, &fewer.report)?;
        put_units(&solution, &about, &fewer.report.task.data)?;
        out.set_item("fewer", solution)?;
    }
    put_answers(&out, &found)?;
    Ok(out)
}

fn put_answers(out: &Bound<'_, PyDict>, found: &Exploration) -> PyResult<()> {
    let py = out.py();
    let answers = PyList::empty(py);
    for (question, all) in found.said() {
        answers.append((question, worded(&all)))?;
    }
    let steps = PyList::empty(py);
    for step in &found.steps {
        let named = |(name, value): &(&'static str, String)| {
            let entry = orthopt::request::OPTIONS.iter().find(|entry| entry.name == *name);
            (entry.map_or_else(|| (*name).to_string(), |entry| entry.name_in(Front::Python)), value.clone())
        };
        let options: Vec<_> = step.options.iter().map(named).collect();
        steps.append((step.question, step.call.name(), options, step.seconds, step.limited))?;
    }
    out.set_item("answers", answers)?;
    out.set_item("steps", steps)?;
    out.set_item("count", found.count())?;
    out.set_item("bends", found.path.bends)?;
    out.set_item("most_possible", found.most_possible())?;
    out.set_item("interrupted", found.interrupted)
}
