//! Every error of the library as a named Python exception (`orthopt.errors`).

use orthopt::Error;
use orthopt::message::{Hint, Message};
use orthopt::request::{Front, OPTIONS};
use orthopt_data::DataError;
use orthopt_foreign::errors::{class_of, class_of_data};
use pyo3::prelude::*;

/// Errors between Python and the library.
#[derive(Debug)]
pub enum Failure {
    /// Said by the library.
    Library(Error),
    /// Said by the readers of data.
    Data(DataError),
    /// Raised by Python code of the user.
    Python(PyErr),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Library(error) => named(class_of(&error), &error.message().worded(word)),
            Failure::Data(error) => named(class_of_data(&error), &error.worded(typed)),
            Failure::Python(error) => error,
        }
    }
}

/// The exception `orthopt.errors.{class}`.
pub fn named(class: &str, message: &str) -> PyErr {
    Python::attach(|py| {
        let made = py
            .import("orthopt.errors")
            .and_then(|module| module.getattr(class))
            .and_then(|class| class.call1((message,)));
        made.map_or_else(|failed| failed, PyErr::from_value)
    })
}

/// An option as it is given in Python: `max_iters=`, `scale="unit"`.
pub fn word(hint: &Hint) -> String {
    typed(&hint.option, hint.value.as_deref())
}

/// The same of an option and a value for it.
pub fn typed(option: &str, value: Option<&str>) -> String {
    let entry = OPTIONS.iter().find(|entry| entry.name == option);
    let name = entry.map_or_else(|| option.replace('-', "_"), |entry| entry.name_in(Front::Python));
    match value {
        None => format!("{name}="),
        Some("true") => format!("{name}=True"),
        Some("false") => format!("{name}=False"),
        Some(value) if value.parse::<f64>().is_ok() => format!("{name}={value}"),
        Some(value) => format!("{name}=\"{value}\""),
    }
}

/// Messages, worded.
pub fn worded(messages: &[Message]) -> Vec<String> {
    messages.iter().map(|message| message.worded(word)).collect()
}
