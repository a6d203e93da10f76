//! `certify`: what kind of point is this X?

use numpy::PyReadonlyArray2;
use orthopt::RowMat;
use orthopt::certify::Scope;
use orthopt::family::{AnyProblem, Family};
use orthopt::report::{Assessment, Checks};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Failure, worded};
use crate::input::{Given, copied};
use crate::options::Options;
use crate::result::{put_checks, put_task, put_variance};
use crate::solve::pose_for;
use crate::supervise::attend;
use crate::threads;

/// Checks X; returns a dictionary. Ctrl-C ends the check and is raised.
#[pyfunction]
pub fn certify<'py>(
    py: Python<'py>,
    problem: &str,
    data: Given<'py>,
    x: PyReadonlyArray2<'py, f64>,
    options: Options,
) -> PyResult<Bound<'py, PyDict>> {
    let x = copied(&x)?;
    let job = options.job(problem).map_err(Failure::from)?;
    let (posed, _, _) = pose_for(py, job, &data, &options, Some(x.ncols()))?;
    let out = PyDict::new(py);
    put_task(&out, &posed.task)?;
    out.set_item("notes", worded(&posed.task.notes))?;
    let request = posed.job.request;
    let scope = request.scope().unwrap_or(Scope::All);
    check(py, &out, posed.problem, x, request.threads, scope, request.stopping().tol)?;
    Ok(out)
}

fn check(
    py: Python<'_>,
    out: &Bound<'_, PyDict>,
    problem: AnyProblem,
    x: RowMat,
    threads: Option<usize>,
    scope: Scope,
    tol: f64,
) -> PyResult<()> {
    let worked = attend(py, move |watch| -> Result<_, Failure> {
        let found = Assessment::new(&problem, x, "X", tol)?;
        let checks =
            threads::pool(threads)?.install(|| Checks::of(&problem, &found.x, Some(scope), watch.cancel()));
        Ok((problem, found, checks))
    });
    let (problem, found, checks) = worked??;
    out.set_item("objective", found.objective.total)?;
    out.set_item("smooth", found.objective.smooth)?;
    out.set_item("nonsmooth", found.objective.nonsmooth)?;
    out.set_item("nnz", found.nnz)?;
    out.set_item("feasibility", found.feasibility)?;
    out.set_item("optimum", problem.known_optimum())?;
    out.set_item("tolerance", found.tolerance)?;
    put_variance(out, found.explained_variance.as_ref())?;
    put_checks(out, &checks)
}
