//! Errors of the input. An outcome of the mathematics is a
//! `Status`, not an error.

use crate::message::Message;

/// Result with this crate's error.
pub type Result<T> = std::result::Result<T, Error>;

/// The known name that is nearest to one that is not known; `None` where none is near.
pub fn nearest_name<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = name.chars().count() / 3;
    let distance = |other: &&str| strsim::damerau_levenshtein(name, other);
    known.into_iter().filter(|other| distance(other) <= most).min_by_key(distance)
}

/// The nearest name of a list, as a question; empty where none is near.
fn nearest(name: &str, known: &str) -> String {
    nearest_name(name, known.split(", "))
        .map_or_else(String::new, |near| format!(" (did you mean '{near}'?)"))
}

/// Invalid input: each message says what, where and what to do. [`Error::message`] is for
/// front ends with their own spelling of options.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An option outside its range.
    #[error("{option} is {value}: expected {expected}")]
    InvalidOption {
        /// Name of the option.
        option: String,
        /// The offending value.
        value: String,
        /// Accepted values, in words.
        expected: String,
    },
    /// A rank of zero, or larger than the number of variables.
    #[error("rank {rank} {problem} {columns} columns of the data: choose a rank from 1 to {columns}", problem = if *rank == 0 { "is too small for the" } else { "exceeds the" })]
    Rank {
        /// The rank asked for.
        rank: usize,
        /// Number of variables n.
        columns: usize,
    },
    /// Two shapes that must agree but do not.
    #[error("{what} is {rows} x {cols}, expected {expected_rows} x {expected_cols}")]
    Shape {
        /// Which matrix.
        what: String,
        /// Its rows.
        rows: usize,
        /// Its columns.
        cols: usize,
        /// Rows it should have.
        expected_rows: usize,
        /// Columns it should have.
        expected_cols: usize,
    },
    /// A matrix that must have orthonormal columns does not.
    #[error(
        "{what} is not orthonormal: the error of its Gram matrix is {error:.3e}, at most {tolerance:.0e} is accepted"
    )]
    NotOrthonormal {
        /// Which matrix.
        what: String,
        /// Measured ‖XᵀX − I‖_F.
        error: f64,
        /// Largest accepted error.
        tolerance: f64,
    },
    /// A matrix that must be J-orthogonal is not.
    #[error(
        "{what} is not J-orthogonal: the mean of |X'JX - J| is {error:.3e}, at most {tolerance:.0e} is accepted"
    )]
    NotJOrthogonal {
        /// Which matrix.
        what: String,
        /// Measured mean of |XᵀJX − J|.
        error: f64,
        /// Largest accepted error.
        tolerance: f64,
    },
    /// A matrix that must be positive definite is not.
    #[error(
        "{what} is not positive definite: its smallest eigenvalue is {smallest:.3e}, so the minimum may not exist; add a ridge of at least {ridge:.1e} times its mean diagonal entry"
    )]
    NotDefinite {
        /// Which matrix.
        what: String,
        /// Its smallest eigenvalue.
        smallest: f64,
        /// The ridge that would make it definite, relative to tr(C)/n.
        ridge: f64,
    },
    /// A matrix that must be nonnegative is not.
    #[error(
        "{what} has a negative entry {value} in row {row}, column {col} (counted from 1), but the problem asks for X >= 0"
    )]
    Negative {
        /// Which matrix.
        what: String,
        /// Row, from 1.
        row: usize,
        /// Column, from 1.
        col: usize,
        /// The entry.
        value: f64,
    },
    /// NaN or infinity where a number is needed.
    #[error("{what} has a value that is not finite in row {row}, column {col} (counted from 1)")]
    NotFinite {
        /// Which matrix.
        what: String,
        /// Row, from 1.
        row: usize,
        /// Column, from 1.
        col: usize,
    },
    /// A quadratic term whose matrix is not symmetric.
    #[error(
        "{what} is not symmetric: entry ({row}, {col}) is {upper} but ({col}, {row}) is {lower} (counted from 1)"
    )]
    NotSymmetric {
        /// Which matrix.
        what: String,
        /// Row, from 1.
        row: usize,
        /// Column, from 1.
        col: usize,
        /// Entry (row, col).
        upper: f64,
        /// Entry (col, row).
        lower: f64,
    },
    /// A name that is not in the registry.
    #[error("there is no {kind} '{name}'{}; choose one of: {known}", nearest(name, known))]
    UnknownName {
        /// Kind of thing: problem, solver, penalty, ...
        kind: &'static str,
        /// Name that was requested.
        name: String,
        /// Names that exist.
        known: String,
    },
    /// Data so large that C = AᵀA is not finite.
    #[error("{}", self.message())]
    Overflow {
        /// Column, from 1.
        column: usize,
    },
    /// Data so small that C = AᵀA has too few digits, or none.
    #[error("{}", self.message())]
    Underflow,
    /// More memory than allowed or available.
    #[error("{}", self.message())]
    Memory {
        /// Name of the largest part.
        what: String,
        /// Bytes that are needed at least.
        bytes: u64,
        /// Memory available, in words.
        allowed: String,
        /// Options that make it smaller.
        advice: Message,
    },
    /// F of a feasible point lies below what was proved to be a lower bound.
    #[error(
        "F = {objective:e} of a feasible X lies below its lower bound {bound:e}: one of the two is wrong, so no result \
         is given; please report this with the data and the command"
    )]
    Contradiction {
        /// F.
        objective: f64,
        /// The bound.
        bound: f64,
    },
    /// Two incompatible choices.
    #[error("{0}")]
    Incompatible(Message),
    /// A start that is not available for this problem; others are.
    #[error("the start {start} is not available here: {why}; choose another start, such as {instead}")]
    NoPlace {
        /// The start.
        start: &'static str,
        /// Why not.
        why: String,
        /// Another.
        instead: &'static str,
    },
    /// A function of the caller's own is no number where a run begins.
    #[error("{0}")]
    NoNumber(String),
    /// The eigenvalue or orthogonalisation routine failed.
    #[error("{}", self.message())]
    Factorisation(&'static str),
}

impl Error {
    /// Message in which options are marked.
    pub fn message(&self) -> Message {
        match self {
            Self::Overflow { column } => Message::from(format!(
                "C = A'A overflows in column {column} (counted from 1): the data are too large; scale them ("
            ))
            .set("scale", "unit")
            .text(")"),
            Self::Underflow => Message::from(
                "C is so small that floating-point numbers have no digits left for it (below 1e-313): multiply \
                 the data by a power of ten, or scale them (",
            )
            .set("scale", "unit")
            .text(")"),
            Self::Factorisation(what) => {
                Message::from(*what).text(" did not converge; choose another ").option("init")
            }
            Self::Memory { what, bytes, allowed, advice } => {
                let needed = bytes_in_words(*bytes as f64);
                Message::from(format!("{what}: {needed} of memory are needed, but {allowed}; "))
                    .then(advice.clone())
                    .text(", or allow more (")
                    .option("max-memory")
                    .text(")")
            }
            Self::Incompatible(message) => message.clone(),
            other => other.to_string().into(),
        }
    }
}

/// Number of bytes in words.
pub fn bytes_in_words(bytes: f64) -> String {
    if bytes < 1e9 { format!("{:.0} MB", (bytes / 1e6).ceil()) } else { format!("{:.1} GB", bytes / 1e9) }
}
