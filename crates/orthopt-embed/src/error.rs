//! Errors of the input.

use orthopt_data::DataError;

/// Result with this crate's error.
pub type Result<T> = std::result::Result<T, Error>;

/// Invalid input: every message says what, where and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that cannot be read or written, with the line where it has lines.
    #[error(transparent)]
    Data(#[from] DataError),
    /// An option outside its range.
    #[error(transparent)]
    Option(#[from] orthopt::Error),
    /// Triples that cannot be learned from.
    #[error("{0}")]
    Graph(String),
    /// A file that is no model or checkpoint of ours.
    #[error("{path}: {problem}")]
    Model {
        /// The file.
        path: String,
        /// Problem and remedy.
        problem: String,
    },
}

impl Error {
    pub(crate) fn option(option: &str, value: impl ToString, expected: impl Into<String>) -> Self {
        let (option, value, expected) = (option.into(), value.to_string(), expected.into());
        Self::Option(orthopt::Error::InvalidOption { option, value, expected })
    }
}
