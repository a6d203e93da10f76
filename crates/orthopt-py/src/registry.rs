//! Names that users type, from the library's own lists.

use orthopt::family::all_constants;
use orthopt::options::{Kind, Value};
use orthopt::registry::LISTS;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The entries of a list: names with one line each. `None` if there is no such list.
#[pyfunction]
pub fn registry(list: &str) -> Option<Vec<(&'static str, &'static str)>> {
    LISTS.iter().find(|entry| entry.0 == list).map(|entry| (entry.1)())
}

/// Every constant of every solver and penalty as a keyword: what `orthopt.Constant` has.
#[pyfunction]
pub fn constants(py: Python<'_>) -> PyResult<Vec<(String, Bound<'_, PyDict>)>> {
    all_constants().into_iter().map(|c| Ok((c.option.replace('-', "_"), described(py, &c)?))).collect()
}

fn described<'py>(py: Python<'py>, c: &orthopt::family::NamedConstant) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    out.set_item("doc", c.constant.doc)?;
    out.set_item("default", value(py, c.constant.default)?)?;
    out.set_item("type", type_name(c.constant.kind))?;
    out.set_item("range", c.constant.range())?;
    out.set_item("symbol", c.constant.symbol)?;
    out.set_item("owner", c.owner)?;
    Ok(out)
}

/// The Python type of a constant.
fn type_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Number => "float",
        Kind::Whole => "int",
        Kind::WholeOr(_) => "int or str",
        Kind::Flag => "bool",
        Kind::Name(_) => "str",
    }
}

/// A value; `None` where it is chosen from the data.
fn value(py: Python<'_>, value: Value) -> PyResult<Bound<'_, PyAny>> {
    match value {
        Value::Auto => Ok(py.None().into_bound(py)),
        Value::Flag(v) => v.into_bound_py_any(py),
        Value::Whole(v) => v.into_bound_py_any(py),
        Value::Number(v) => v.into_bound_py_any(py),
        Value::Name(v) => v.into_bound_py_any(py),
    }
}
