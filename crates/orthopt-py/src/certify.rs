//! `certify`: what kind of point is this X?

use numpy::PyReadonlyArray2;
use orthopt::certify::Scope;
use orthopt::family::Family;
use orthopt::linalg::RowMat;
use orthopt::objective::count_nonzeros;
use orthopt::{Error, with_family};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Failure, pythonic};
use crate::input::{Given, copied};
use crate::options::Options;
use crate::result::{Checks, put_checks};
use crate::solve::pose_for;
use crate::supervise::attend;
use crate::threads;

/// Entries of a nonnegative X down to minus this are rounding.
const NEGATIVE: f64 = 1e-6;

/// Checks X; returns a dictionary. Ctrl-C ends the check and is raised.
#[pyfunction]
pub fn certify<'py>(
    py: Python<'py>,
    problem: &str,
    data: Given<'py>,
    x: PyReadonlyArray2<'py, f64>,
    options: Options<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let x = copied(&x)?;
    let (posed, threads, scope) = pose_for(py, problem, &data, &options, x.ncols())?;
    let out = PyDict::new(py);
    out.set_item("problem", posed.info.name)?;
    out.set_item("rank", posed.rank)?;
    out.set_item("lam", posed.lambda)?;
    out.set_item("notes", posed.notes.iter().map(|n| pythonic(n)).collect::<Vec<_>>())?;
    let tol = options.tol;
    with_family!(posed.problem, problem => check(py, &out, problem, x, threads, scope, tol))?;
    Ok(out)
}

fn check<P: Family>(
    py: Python<'_>,
    out: &Bound<'_, PyDict>,
    problem: P,
    x: RowMat,
    threads: Option<usize>,
    scope: Option<Scope>,
    tol: f64,
) -> PyResult<()> {
    let found = attend(py, move |watch| -> Result<_, Failure> {
        problem.check(&x, "X")?;
        let nonneg = problem.nonneg_violation(&x).is_some();
        let x = without_rounding(x, nonneg)?;
        let scope = Some(scope.unwrap_or(Scope::All));
        let keep_going = || watch.keep_going();
        let checks = threads::pool(threads)?.install(|| Checks::of(&problem, &x, scope, &keep_going));
        Ok((problem, x, checks))
    });
    let (problem, x, checks) = found??;
    let objective = problem.objective(&x);
    let tolerance = tol * (1.0 + objective.total.abs());
    out.set_item("objective", objective.total)?;
    out.set_item("smooth", objective.smooth)?;
    out.set_item("nonsmooth", objective.nonsmooth)?;
    out.set_item("nnz", count_nonzeros(&x))?;
    out.set_item("feasibility", problem.feasibility(&x))?;
    out.set_item("tolerance", tolerance)?;
    put_checks(out, &checks)
}

/// Where X must be nonnegative, entries a hair below zero become zero, and others are an error.
fn without_rounding(mut x: RowMat, nonneg: bool) -> Result<RowMat, Error> {
    if !nonneg {
        return Ok(x);
    }
    let columns = x.ncols();
    for (k, value) in x.data_mut().iter_mut().enumerate() {
        if *value < -NEGATIVE {
            let (row, col) = (k / columns + 1, k % columns + 1);
            return Err(Error::Negative { what: "X".into(), row, col, value: *value });
        }
        *value = value.max(0.0);
    }
    Ok(x)
}
