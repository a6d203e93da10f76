//! Every error of the library as a named Python exception (`orthopt.errors`).

use orthopt::Error;
use orthopt::message::{Hint, Message};
use orthopt::request::{Front, OPTIONS};
use orthopt_data::{DataError, Note, NotePart};
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
        Error::Underflow => "DataUnderflowError",
        Error::Contradiction { .. } => "ContradictionError",
        Error::Incompatible(_) | Error::NoPlace { .. } => "IncompatibleError",
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
        DataError::NotFinite { .. } | DataError::Missing { .. } => "NotFiniteError",
        DataError::Empty { .. } => "EmptyDataError",
        DataError::TooLarge { .. } => "DataTooLargeError",
        DataError::Features { .. } | DataError::Option { .. } => "InvalidOptionError",
        DataError::NotSymmetric { .. } => "NotSymmetricError",
        DataError::NotSquare { .. } | DataError::Width { .. } => "ShapeError",
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

/// A note of the readers as a message of the library.
pub fn message(note: &Note) -> Message {
    note.parts().iter().fold(Message::default(), |message, part| match part {
        NotePart::Text(text) => message.text(text.clone()),
        NotePart::Option { name, value: None } => message.option(*name),
        NotePart::Option { name, value: Some(value) } => message.set(name, value.clone()),
    })
}

/// Messages, worded.
pub fn worded(messages: &[Message]) -> Vec<String> {
    messages.iter().map(|message| message.worded(word)).collect()
}
