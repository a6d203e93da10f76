//! `minimize`: f is a Python callable, the constraint XᵀX = I or XᵀJX = J.

use std::sync::{Arc, Mutex};

use numpy::PyReadonlyArray2;
use orthopt::cancel::Cancel;
use orthopt::linear_map::{AnyMap, FunctionMap};
use orthopt::minimize::{Function, OwnRun, checked_lipschitz};
use orthopt::request::Front;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::Failure;
use crate::input::copied;
use crate::options::Options;
use crate::result::put_solution;
use crate::smooth::{Between, Functions};

/// Minimises. `x0` is X⁰ or its shape; returns a dictionary.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // called by one Python function that names them
pub fn minimize<'py>(
    py: Python<'py>,
    fun: Py<PyAny>,
    hess: Option<Py<PyAny>>,
    convert: Py<PyAny>,
    x0: Option<PyReadonlyArray2<'py, f64>>,
    shape: (usize, usize),
    constraint: &str,
    lipschitz: Option<f64>,
    sums: Option<(Py<PyAny>, usize)>,
    mut options: Options,
    map: Option<(Py<PyAny>, Py<PyAny>)>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let lipschitz = lipschitz.map(checked_lipschitz).transpose().map_err(Failure::from)?;
    let (cancel, raised) = (Cancel::never(), Mutex::default());
    let functions = Functions { fun, hess, sums, convert, shape, cancel: cancel.clone(), raised };
    let functions = Arc::new(functions);
    let x0 = x0.as_ref().map(copied).transpose()?;
    if let Some((apply, adjoint)) = map {
        let (here, back) = (Arc::clone(&functions), Arc::clone(&functions));
        let made = py.detach(|| {
            FunctionMap::new(shape, move |x| here.matrix(&apply, x), move |y| back.matrix(&adjoint, y))
        });
        if let Some(error) = functions.raised() {
            return Err(error);
        }
        options.request.map = Some(AnyMap::Functions(made.map_err(Failure::from)?).into());
    }
    let f = Function::new(functions.clone(), shape, lipschitz, cancel);
    let Options { request, given, .. } = &options;
    let run = OwnRun { f: f.clone(), x0, constraint, request, given, front: Front::Python };
    let found =
        py.detach(|| orthopt::minimize::minimize(&run, &mut [&mut Between::new(&functions, callback)]));
    if let Some(error) = functions.raised() {
        return Err(error); // it explains every other failure
    }
    let found = found.map_err(Failure::from)?;
    let out = PyDict::new(py);
    put_solution(&out, &found.solution)?;
    out.set_item("problem", constraint)?;
    out.set_item("rank", shape.1)?;
    out.set_item("lam", request.lambda)?;
    out.set_item("criticality", found.criticality)?;
    out.set_item("evaluations", f.evaluations())?;
    Ok(out)
}
