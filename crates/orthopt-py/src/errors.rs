//! Every error of the library as a named Python exception (`orthopt.errors`).

use orthopt::Error;
use orthopt_data::DataError;
use pyo3::prelude::*;

/// What can go wrong between Python and the library.
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
            Failure::Library(error) => named(class_of(&error), &error.to_string()),
            Failure::Data(error) => named(class_of_data(&error), &error.to_string()),
            Failure::Python(error) => error,
        }
    }
}

/// The one table from variants to exceptions.
fn class_of(error: &Error) -> &'static str {
    match error {
        Error::InvalidOption { .. } => "InvalidOptionError",
        Error::Rank { .. } => "RankError",
        Error::Shape { .. } => "ShapeError",
        Error::NotOrthonormal { .. } => "NotOrthonormalError",
        Error::NotJOrthogonal { .. } => "NotJOrthogonalError",
        Error::NotDefinite { .. } => "NotDefiniteError",
        Error::Negative { .. } => "NegativeError",
        Error::NotFinite { .. } => "NotFiniteError",
        Error::NotSymmetric { .. } => "NotSymmetricError",
        Error::UnknownName { .. } => "UnknownNameError",
        Error::Overflow { .. } => "DataOverflowError",
        Error::Incompatible(_) => "IncompatibleError",
        Error::Factorisation(_) => "FactorisationError",
        _ => "OrthoptError",
    }
}

/// The same for data that are named by a string.
fn class_of_data(error: &DataError) -> &'static str {
    match error {
        DataError::NotFound { .. } => "DataNotFoundError",
        DataError::Io { .. } => "DataIOError",
        DataError::UnknownFormat { .. } => "UnknownFormatError",
        DataError::NotFinite { .. } => "NotFiniteError",
        DataError::Empty { .. } => "EmptyDataError",
        DataError::TooLarge { .. } => "DataTooLargeError",
        DataError::Features { .. } => "InvalidOptionError",
        DataError::NotSymmetric { .. } => "NotSymmetricError",
        DataError::NotSquare { .. } => "ShapeError",
        DataError::Spec { .. } => "DataSpecError",
        DataError::GramPreparation { .. } => "IncompatibleError",
        _ => "DataFileError",
    }
}

/// The exception `orthopt.errors.{class}`.
pub fn named(class: &str, message: &str) -> PyErr {
    Python::attach(|py| {
        let made = py
            .import("orthopt.errors")
            .and_then(|module| module.getattr(class))
            .and_then(|class| class.call1((pythonic(message),)));
        made.map_or_else(|failed| failed, PyErr::from_value)
    })
}

/// A message of the library, whose options are those of the command line (`--scale unit`), with
/// the options as they are called in Python (`scale unit`, `max_iters`).
pub fn pythonic(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut words = message.split("--");
    out.push_str(words.next().unwrap_or_default());
    for word in words {
        if !word.starts_with(|c: char| c.is_ascii_lowercase()) {
            out.push_str("--"); // a dash, not an option
        }
        let end = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(word.len());
        out.push_str(&word[..end].replace('-', "_"));
        out.push_str(&word[end..]);
    }
    out
}
