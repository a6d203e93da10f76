//! Solutions and certificates as dictionaries; `orthopt._solution` gives them names and types.

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use orthopt::certify::Certificate;
use orthopt::certify::Scope;
use orthopt::family::Family;
use orthopt::linalg::RowMat;
use orthopt::problem::ExplainedVariance;
use orthopt::solve::{Setting, Solution};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What is found out about X after the run.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    pub criticality: Option<f64>,
    pub certificate: Option<Certificate>,
    pub explained: Option<ExplainedVariance>,
    pub optimum: Option<f64>,
}

impl Checks {
    /// Variance and optimum always, the costly part if `scope` asks for it, and as far as `keep_going` lets it:
    /// no means that the user waits for the end.
    pub fn of<P: Family>(
        problem: &P,
        x: &RowMat,
        scope: Option<Scope>,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Self {
        let explained = problem.explained_variance(x);
        let mut checks = Self { explained, ..Self::default() };
        if !keep_going() {
            return checks;
        }
        checks.optimum = problem.known_optimum();
        if let Some(scope) = scope {
            checks.criticality = problem.criticality(x, keep_going);
            // without criticality it was stopped already
            let more = checks.criticality.is_some();
            checks.certificate = more.then(|| problem.block_stationarity(x, scope, keep_going)).flatten();
        }
        checks
    }
}

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
    out.set_item("message", crate::errors::pythonic(&s.message))?;
    out.set_item("iterations", s.iterations)?;
    out.set_item("seconds", s.seconds)?;
    out.set_item("seed", s.seed)?;
    out.set_item("solver", &s.solver)?;
    let settings = PyDict::new(py);
    for (name, value) in &s.settings {
        settings.set_item(name, setting(py, value)?)?;
    }
    out.set_item("settings", settings)?;
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

/// Adds what the checks say.
///
/// # Errors
/// Memory.
pub fn put_checks(out: &Bound<'_, PyDict>, checks: &Checks) -> PyResult<()> {
    let py = out.py();
    out.set_item("criticality", checks.criticality)?;
    out.set_item("optimum", checks.optimum)?;
    let certificate = checks.certificate.map(|c| {
        let dict = PyDict::new(py);
        dict.set_item("pairs_checked", c.pairs_checked)?;
        dict.set_item("pairs_total", c.pairs_total)?;
        dict.set_item("max_decrease", c.max_decrease)?;
        dict.set_item("mean_distance", c.mean_distance)?;
        PyResult::Ok(dict)
    });
    out.set_item("certificate", certificate.transpose()?)?;
    let explained = checks.explained.as_ref().map(|e| {
        let dict = PyDict::new(py);
        dict.set_item("ratio", PyArray1::from_slice(py, &e.ratio))?;
        dict.set_item("adjusted", PyArray1::from_slice(py, &e.adjusted))?;
        dict.set_item("total", e.total)?;
        PyResult::Ok(dict)
    });
    out.set_item("explained_variance", explained.transpose()?)
}
