//! Errors as other languages name them.

use orthopt::Error;
use orthopt::message::Message;
use orthopt_data::{DataError, Note, NotePart};

/// The kind of an error of the library: the one table from variants to names that users see.
pub fn class_of(error: &Error) -> &'static str {
    match error {
        Error::InvalidOption { .. } => "InvalidOptionError",
        Error::Rank { .. } => "RankError",
        Error::Shape { .. } => "ShapeError",
        Error::NotOrthonormal { .. } => "NotOrthonormalError",
        Error::NotJOrthogonal { .. } => "NotJOrthogonalError",
        Error::NotDefinite { .. } => "NotDefiniteError",
        Error::Negative { .. } => "NegativeError",
        Error::NotFinite { .. } | Error::NoNumber(_) => "NotFiniteError",
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

/// Name of the class of an error of the readers of data.
pub fn class_of_data(error: &DataError) -> &'static str {
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

/// A note of the readers as a message of the library.
pub fn message(note: &Note) -> Message {
    note.parts().iter().fold(Message::default(), |message, part| match part {
        NotePart::Text(text) => message.text(text.clone()),
        NotePart::Option { name, value: None } => message.option(*name),
        NotePart::Option { name, value: Some(value) } => message.set(name, value.clone()),
    })
}
