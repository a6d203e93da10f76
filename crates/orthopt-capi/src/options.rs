//! Options as JSON: an object with the names of `docs/options.md`, as the table of options reads it.

use orthopt::family::{Call, CallOptions, find_problem};
use orthopt::job::Job;
use orthopt::request::{Front, Request, Size, Written};
use orthopt::{Error, RowMat};
use orthopt_foreign::Preparation;
use serde_json::{Map, Value};

use crate::outcome::Failure;

/// What is asked for.
pub struct Options {
    pub request: Request,
    pub given: CallOptions,
    pub how: Preparation,
}

/// An object before its options are read; a call takes its own arguments out of it first.
pub struct Stated(Map<String, Value>);

impl Stated {
    /// The object of a text; nothing is given by an empty one.
    ///
    /// # Errors
    /// It is no JSON object.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        if text.trim().is_empty() {
            return Ok(Self(Map::new()));
        }
        let wrong = |why: String| {
            Failure::argument(format!(
                "options are a JSON object such as {{\"rank\": 3, \"nonzeros\": 5}}, but {why}"
            ))
        };
        match serde_json::from_str(text).map_err(|error| wrong(error.to_string()))? {
            Value::Object(map) => Ok(Self(map)),
            other => Err(wrong(format!("this is {other}"))),
        }
    }

    /// A number that this call alone has.
    ///
    /// # Errors
    /// It is none, or below `least`.
    pub fn take(&mut self, name: &str, least: f64, expected: &str) -> Result<Option<f64>, Failure> {
        let Some(value) = self.0.remove(name).filter(|value| !value.is_null()) else { return Ok(None) };
        let number = value.as_f64().filter(|number| *number >= least && number.is_finite());
        number.map(Some).ok_or_else(|| invalid(name, &value.to_string(), expected))
    }

    /// True if an option is given.
    pub fn has(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| !value.is_null())
    }

    /// The options, read for a call; `own` are arguments of it alone that are given.
    ///
    /// # Errors
    /// A name that does not exist, a value of another kind or out of range, options that exclude each other.
    pub fn read(self, call: Call, own: &[&str]) -> Result<Options, Failure> {
        let mut request = Request::of(Front::C);
        for (name, value) in self.0.into_iter().filter(|(_, value)| !value.is_null()) {
            let written = written(&value).ok_or_else(|| {
                invalid(
                    &name,
                    &value.to_string(),
                    "a number, true, false, a text, or a list or matrix of numbers",
                )
            })?;
            request.set(&name, written)?;
        }
        let given = CallOptions::new(call, request.given()).and(own.iter().copied());
        let mut request = request.checked()?;
        request.max_memory.get_or_insert_with(|| Size(orthopt_data::default_memory()));
        let how = Preparation::of::<Failure>(&request)?;
        Ok(Options { request, given, how })
    }
}

impl Options {
    /// The job of a problem.
    ///
    /// # Errors
    /// There is no such problem.
    pub fn job(&self, problem: &str) -> Result<Job, Error> {
        Ok(Job::new(find_problem(problem)?, self.request.clone(), self.given.clone()))
    }
}

fn invalid(option: &str, value: &str, expected: &str) -> Failure {
    let (option, value, expected) = (option.into(), value.into(), expected.into());
    Error::InvalidOption { option, value, expected }.into()
}

/// A value of JSON, if it is one that options have; rows of numbers are a matrix.
fn written(value: &Value) -> Option<Written> {
    match value {
        Value::Bool(flag) => Some(Written::Flag(*flag)),
        Value::String(text) => Some(Written::Text(text.clone())),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Some(Written::Whole(whole)),
            None => number.as_f64().map(Written::Number),
        },
        Value::Array(rows) if rows.iter().any(Value::is_array) => {
            matrix(rows).map(|matrix| Written::Matrix(matrix.into()))
        }
        Value::Array(list) => list.iter().map(written).collect::<Option<_>>().map(Written::List),
        Value::Null | Value::Object(_) => None,
    }
}

fn matrix(rows: &[Value]) -> Option<RowMat> {
    let row = |row: &Value| row.as_array()?.iter().map(Value::as_f64).collect::<Option<Vec<_>>>();
    let rows = rows.iter().map(row).collect::<Option<Vec<_>>>()?;
    let columns = rows.first()?.len();
    let is_matrix = columns > 0 && rows.iter().all(|row| row.len() == columns);
    is_matrix.then(|| RowMat::from_fn(rows.len(), columns, |i, k| rows[i][k]))
}
