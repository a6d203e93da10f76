//! Keyword arguments of `solve` and its relatives, as the table of options reads them.

use std::path::PathBuf;

use numpy::PyReadonlyArray2;
use orthopt::Error;
use orthopt::family::{Call, CallOptions, find_problem};
use orthopt::job::Job;
use orthopt::request::{Entry, Front, OPTIONS, Request, Size, Written, find_option};
use orthopt_foreign::Preparation;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Failure, named};
use crate::input::{OTHERS, copied};

/// Options without Python in them. They come as a dictionary with
///
/// * `options`: what users give, by the names of Python;
/// * `call`: the call; `own`: arguments of the call alone that are given;
/// * `assumed`: what the package sets and not the user; `judged`: whether the options have been judged already;
/// * `bound`: seconds of a bound after a run; `weights`: those of the rows.
#[derive(Clone)]
pub struct Options {
    pub request: Request,
    pub given: CallOptions,
    pub how: Preparation,
}

impl Options {
    /// The job of these options.
    ///
    /// # Errors
    /// There is no such problem.
    pub fn job(&self, problem: &str) -> Result<Job, Error> {
        Ok(Job::new(find_problem(problem)?, self.request.clone(), self.given.clone()))
    }
}

/// The same before anything is made of it, so that more can be filled in.
pub struct Stated {
    /// The options that are given.
    pub options: Request,
    given: CallOptions,
    bound: Option<f64>,
    weights: Option<Vec<f64>>,
}

impl Stated {
    /// The options with what holds where nothing is said.
    ///
    /// # Errors
    /// Values out of range, options that exclude each other.
    pub fn checked(self) -> Result<Options, Failure> {
        let mut request = self.options.checked()?;
        let mut how = Preparation::of::<Failure>(&request)?;
        (how.weights, how.others) = (self.weights, OTHERS);
        request.max_memory.get_or_insert_with(|| Size(orthopt_data::default_memory()));
        request.bound = self.bound;
        Ok(Options { request, given: self.given, how })
    }
}

impl<'py> FromPyObject<'_, 'py> for Options {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Stated::extract(given)?.checked()?)
    }
}

impl<'py> FromPyObject<'_, 'py> for Stated {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let mut options = Request::of(Front::Python);
        for (key, value) in given.get_item("options")?.cast_into::<PyDict>()?.iter() {
            let name: String = key.extract()?;
            let option = find_option(&name, Front::Python);
            let value = match (value.is_none(), option) {
                (true, Some(_)) => continue,
                (true, None) => Written::Text("auto".into()),
                (false, _) => written(&value).ok_or_else(|| unusable(&name, option, &value))?,
            };
            options.set(&name, value).map_err(Failure::from)?;
        }
        let given = given.to_owned();
        let list = |key: &str| -> PyResult<Vec<String>> {
            let names: Vec<String> = given.get_item(key)?.extract()?;
            Ok(names.into_iter().map(|name| name.replace('_', "-")).collect())
        };
        let (mut asked, assumed) = (list("own")?, list("assumed")?);
        if !given.get_item("judged")?.extract::<bool>()? {
            let names = options.given().into_iter().map(String::from);
            asked.splice(0..0, names.filter(|name| !assumed.contains(name)));
        }
        let call: String = given.get_item("call")?.extract()?;
        let named = Call::named(&call);
        let call = named.ok_or_else(|| PyValueError::new_err(format!("there is no call `{call}`")))?;
        let (bound, weights) = (given.get_item("bound")?.extract()?, given.get_item("weights")?.extract()?);
        Ok(Self { options, given: CallOptions::new(call, asked), bound, weights })
    }
}

/// A value of Python, if it is one that options have.
fn written(value: &Bound<'_, PyAny>) -> Option<Written> {
    if let Ok(flag) = value.extract() {
        return Some(Written::Flag(flag));
    }
    if let Ok(text) = value.extract() {
        return Some(Written::Text(text));
    }
    if let Ok(matrix) = value.extract::<PyReadonlyArray2<'_, f64>>() {
        return copied(&matrix).ok().map(|matrix| Written::Matrix(matrix.into()));
    }
    if let Ok(list) = value.try_iter() {
        return list.map(|one| written(&one.ok()?)).collect::<Option<_>>().map(Written::List);
    }
    let whole = value.extract().ok().map(Written::Whole);
    let number = || value.extract().ok().map(Written::Number);
    whole.or_else(number).or_else(|| value.extract::<PathBuf>().ok().map(Written::Path))
}

/// What to say of a value that no option has.
fn unusable(name: &str, option: Option<&Entry>, value: &Bound<'_, PyAny>) -> PyErr {
    let expected = option.map(|entry| entry.expected(Front::Python));
    let expected = expected.unwrap_or_else(|| "a number, True, False or a name".into());
    let shown = value.repr().map_or_else(|_| "such a value".into(), |text| text.to_string());
    named("InvalidOptionError", &format!("{name} is {shown}: expected {expected}"))
}

/// The options of Python: each with what the package needs to know of it.
#[pyfunction]
pub fn options(py: Python<'_>) -> PyResult<Vec<(String, Bound<'_, PyDict>)>> {
    let described = |entry: &'static Entry| {
        let out = PyDict::new(py);
        out.set_item("group", entry.group.heading())?;
        out.set_item("matrix", entry.matrix.is_some())?;
        out.set_item("choices", entry.names())?;
        Ok((entry.name_in(Front::Python), out))
    };
    let here = |entry: &&Entry| entry.lacked_by(Front::Python).is_none() && !entry.positional;
    OPTIONS.iter().filter(here).map(described).collect()
}
