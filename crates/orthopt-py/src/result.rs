//! Solutions and certificates as dictionaries; `orthopt._solution` gives them names and types.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use orthopt::RowMat;
use orthopt::family::Scree;
use orthopt::problem::ExplainedVariance;
use orthopt::report::{Checks, Report, Task};
use orthopt::solve::{ArmReport, Setting, Solution};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::worded;

/// A matrix as a NumPy array.
pub fn array<'py>(py: Python<'py>, x: &RowMat) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray1::from_slice(py, x.data()).reshape([x.nrows(), x.ncols()])
}

/// Adds what a solution says.
///
/// # Errors
/// Memory.
pub fn put_solution(out: &Bound<'_, PyDict>, s: &Solution) -> PyResult<()> {
    let py = out.py();
    out.set_item("X", array(py, &s.x)?)?;
    out.set_item("objective", s.objective.total)?;
    out.set_item("smooth", s.objective.smooth)?;
    out.set_item("nonsmooth", s.objective.nonsmooth)?;
    out.set_item("feasibility", s.feasibility)?;
    out.set_item("nonneg_violation", s.nonneg_violation)?;
    out.set_item("nnz", s.nnz)?;
    out.set_item("status", s.status.name())?;
    out.set_item("message", &s.message)?;
    out.set_item("iterations", s.iterations)?;
    out.set_item("seconds", s.seconds)?;
    out.set_item("seed", s.seed)?;
    out.set_item("solver", &s.solver)?;
    let settings = PyDict::new(py);
    for (name, value) in &s.settings {
        settings.set_item(name, setting(py, value)?)?;
    }
    out.set_item("settings", settings)?;
    out.set_item("starts", s.starts)?;
    let raw = s.raw.map(|raw| {
        let dict = PyDict::new(py);
        dict.set_item("objective", raw.objective)?;
        dict.set_item("feasibility", raw.feasibility)?;
        dict.set_item("nnz", raw.nnz)?;
        PyResult::Ok(dict)
    });
    out.set_item("raw", raw.transpose()?)?;
    let trace = PyDict::new(py);
    let points = s.trace.points();
    trace.set_item("seconds", PyArray1::from_iter(py, points.iter().map(|p| p.seconds)))?;
    trace.set_item("iteration", PyArray1::from_iter(py, points.iter().map(|p| p.iteration)))?;
    trace.set_item("objective", PyArray1::from_iter(py, points.iter().map(|p| p.objective)))?;
    trace.set_item("feasibility", PyArray1::from_iter(py, points.iter().map(|p| p.feasibility)))?;
    trace.set_item("nnz", PyArray1::from_iter(py, points.iter().map(|p| p.nnz as u64)))?;
    out.set_item("trace", trace)
}

fn setting<'py>(py: Python<'py>, value: &Setting) -> PyResult<Bound<'py, PyAny>> {
    match value {
        Setting::Bool(v) => v.into_bound_py_any(py),
        Setting::Int(v) => v.into_bound_py_any(py),
        Setting::Real(v) => v.into_bound_py_any(py),
        Setting::Text(v) => v.into_bound_py_any(py),
    }
}

/// Adds what a report says, its solution included.
///
/// # Errors
/// Memory.
pub fn put_report(out: &Bound<'_, PyDict>, report: &Report) -> PyResult<()> {
    let task = &report.task;
    put_task(out, task)?;
    out.set_item("title", &task.title)?;
    if let Some(scree) = &task.scree {
        out.set_item("scree", described(out.py(), scree)?)?;
    }
    put_solution(out, &report.solution)?;
    out.set_item("solver", &report.solver)?;
    out.set_item("start", &report.start)?;
    out.set_item("reasons", worded(&report.reasons))?;
    out.set_item("notes", worded(&[&task.notes[..], &report.notes].concat()))?;
    out.set_item("data_shape", (task.data.rows, task.data.cols))?;
    out.set_item("feature_names", &task.data.names)?;
    out.set_item("optimum", report.optimum)?;
    let arms = report.solution.search.iter().flat_map(|search| &search.arms);
    out.set_item("arms", arms.map(|arm| described_arm(out.py(), arm)).collect::<PyResult<Vec<_>>>()?)?;
    out.set_item("tolerance", report.tolerance())?;
    put_variance(out, report.explained_variance.as_ref())?;
    out.set_item("pca_share", report.pca_share)?;
    if let Some(global) = &report.global {
        out.set_item("bound", global.bound)?;
        out.set_item("gap", global.gap)?;
        out.set_item("proof", global.proof)?;
    }
    put_checks(out, &report.checks)
}

/// An arm of a search.
fn described_arm<'py>(py: Python<'py>, arm: &ArmReport) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("solver", &arm.solver)?;
    dict.set_item("start", &arm.start)?;
    dict.set_item("seed", arm.seed)?;
    dict.set_item("work", arm.work)?;
    dict.set_item("objective", arm.objective)?;
    dict.set_item("seconds", PyArray1::from_iter(py, arm.curve.iter().map(|p| p.0)))?;
    dict.set_item("course", PyArray1::from_iter(py, arm.curve.iter().map(|p| p.1)))?;
    Ok(dict)
}

/// Adds what is known of the problem.
///
/// # Errors
/// Memory.
pub fn put_task(out: &Bound<'_, PyDict>, task: &Task) -> PyResult<()> {
    out.set_item("problem", task.problem.name)?;
    out.set_item("rank", task.rank)?;
    out.set_item("lam", task.lambda)
}

/// Eigenvalues beside those of noise.
///
/// # Errors
/// Memory.
pub fn described<'py>(py: Python<'py>, scree: &Scree) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("rank", scree.rank)?;
    dict.set_item("rule", scree.rule)?;
    dict.set_item("eigenvalues", PyArray1::from_slice(py, &scree.eigenvalues))?;
    dict.set_item("reference", PyArray1::from_slice(py, &scree.reference))?;
    dict.set_item("share", scree.share)?;
    dict.set_item("reason", &scree.reason)?;
    Ok(dict)
}

/// Adds what the checks say.
///
/// # Errors
/// Memory.
pub fn put_checks(out: &Bound<'_, PyDict>, checks: &Checks) -> PyResult<()> {
    let py = out.py();
    out.set_item("criticality", checks.criticality)?;
    let certificate = checks.certificate.map(|c| {
        let dict = PyDict::new(py);
        dict.set_item("pairs_checked", c.pairs_checked)?;
        dict.set_item("pairs_total", c.pairs_total)?;
        dict.set_item("max_decrease", c.max_decrease)?;
        dict.set_item("mean_distance", c.mean_distance)?;
        PyResult::Ok(dict)
    });
    out.set_item("certificate", certificate.transpose()?)
}

/// Adds the variance explained.
///
/// # Errors
/// Memory.
pub fn put_variance(out: &Bound<'_, PyDict>, explained: Option<&ExplainedVariance>) -> PyResult<()> {
    let py = out.py();
    let explained = explained.map(|e| {
        let dict = PyDict::new(py);
        dict.set_item("ratio", PyArray1::from_slice(py, &e.ratio))?;
        dict.set_item("adjusted", PyArray1::from_slice(py, &e.adjusted))?;
        dict.set_item("total", e.total)?;
        dict.set_item("projected", e.projected)?;
        dict.set_item("polar", e.polar)?;
        dict.set_item("predicted", e.predicted)?;
        dict.set_item("maximised", e.maximised)?;
        PyResult::Ok(dict)
    });
    out.set_item("explained_variance", explained.transpose()?)
}
