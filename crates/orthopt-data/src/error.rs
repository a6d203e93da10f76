//! The one error type of the crate.

use std::io;

use crate::table::Note;

/// Why data could not be read, written or generated.
///
/// Every message says what is wrong, where (file and line, or row and column, counted from 1)
/// and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// There is no file of this name, and the name is no generator or built-in table either.
    #[error("`{path}`: no such file; {known}")]
    NotFound {
        /// Text given by the user.
        path: String,
        /// A file of a similar name, or everything that would have been understood.
        known: String,
    },

    /// The operating system refused to read or write.
    #[error("cannot {action} `{path}`: {error}")]
    Io {
        /// `read` or `write`.
        action: &'static str,
        /// The file.
        path: String,
        /// Error of the operating system.
        error: io::Error,
    },

    /// The extension of a file belongs to no format.
    #[error(
        "`{path}`: {problem}; rename the file so that it ends in one of {known} (each also .gz, .bz2, .xz)"
    )]
    UnknownFormat {
        /// The file.
        path: String,
        /// Problem with its name.
        problem: String,
        /// The extensions that are known.
        known: String,
    },

    /// A compressed file that cannot be decompressed to its end.
    #[error("{path}: the {format} data is truncated or corrupt ({problem}); copy or compress the file again")]
    Compressed {
        /// The file.
        path: String,
        /// `gzip`, `bzip2` or `xz`.
        format: &'static str,
        /// Error of the decoder.
        problem: String,
    },

    /// Something is wrong in one line of a text file.
    #[error("{path}:{line}: {problem}")]
    Line {
        /// The file.
        path: String,
        /// The line, counted from 1.
        line: u64,
        /// Problem and remedy.
        problem: String,
    },

    /// Something in a table that options can put right.
    #[error("{place}: {problem}")]
    Table {
        /// The file, with the line where it is in one.
        place: String,
        /// The fault, with the options that help.
        problem: Note,
    },

    /// A value of an option of tables that makes no sense.
    #[error("option `{option}` is `{value}`: expected {expected}")]
    Option {
        /// The option.
        option: String,
        /// The value.
        value: String,
        /// Values that are accepted.
        expected: String,
    },

    /// Something is wrong with a file as a whole.
    #[error("{path}: {problem}")]
    File {
        /// The file.
        path: String,
        /// Problem and remedy.
        problem: String,
    },

    /// A value that is NaN or infinite.
    #[error(
        "{place}: the value in row {row}, column {column} (counted from 1) is {value}; \
         all values must be finite: remove the row or fill the value in"
    )]
    NotFinite {
        /// The file, with the line where it has lines.
        place: String,
        /// Row of the matrix, counted from 1.
        row: usize,
        /// Column of the matrix, counted from 1.
        column: usize,
        /// The value: NaN or an infinity.
        value: f64,
    },

    /// A matrix without rows or without columns.
    #[error("{place}: no data ({rows} rows, {columns} columns); at least one of each is needed")]
    Empty {
        /// The file or specification.
        place: String,
        /// Number of rows found.
        rows: usize,
        /// Number of columns found.
        columns: usize,
    },

    /// A specification such as `randn:M:N` that cannot be understood.
    #[error("`{spec}`: {problem}; expected {expected}")]
    Spec {
        /// Text given by the user.
        spec: String,
        /// Problem with it.
        problem: String,
        /// The form that works.
        expected: String,
    },

    /// A matrix too large for this machine or for any reasonable use.
    #[error("{place}: {problem}")]
    TooLarge {
        /// The file or specification.
        place: String,
        /// The sizes and the limit.
        problem: String,
    },

    /// Data that take more memory than is allowed ([`LoadOptions::max_memory`](crate::LoadOptions::max_memory)).
    #[error(
        "{place}: at least {needed} of memory are needed, and {allowed} are allowed; give fewer rows or columns, \
         or allow more"
    )]
    Memory {
        /// The file or specification.
        place: String,
        /// Memory needed, as far as it is known.
        needed: String,
        /// Memory allowed.
        allowed: String,
    },

    /// More (or fewer) features asked for than there are columns.
    #[error("{features} features were asked for, but the data has {columns} columns; choose 1 to {columns}")]
    Features {
        /// The number asked for.
        features: usize,
        /// The number of columns there are.
        columns: usize,
    },

    /// A chunk of rows with another number of columns than those before.
    #[error("{place}: {found} columns where {expected} are expected; all parts need the same columns")]
    Width {
        /// The data and the chunk, counted from 1.
        place: String,
        /// Columns of the chunk.
        found: usize,
        /// Columns of those before.
        expected: usize,
    },

    /// A column whose sums do not tell its spread from rounding beside its mean.
    #[error(
        "{place}: column {column}{name} has the mean {mean} and a standard deviation of at most {spread:.1e}, which is \
         lost in the rounding of its sums; subtract a number near the mean from the column, or leave it out, and add \
         up the rows again"
    )]
    Spread {
        /// The data.
        place: String,
        /// The column, counted from 1.
        column: usize,
        /// Its name in brackets, where it has one.
        name: String,
        /// Its mean.
        mean: f64,
        /// Upper bound of the standard deviation.
        spread: f64,
    },

    /// A standard deviation or a covariance of one row.
    #[error("one row has no variance: standard deviations and covariances need at least two")]
    OneRow,

    /// A cell of a table without a value.
    #[error(
        "{place}: row {row}, column {column}{name} has a missing value ({text}); fill it in, \
         remove the row or column, or choose how missing values are treated: mean (of the column), drop (the row) or em"
    )]
    Missing {
        /// The file and its line.
        place: String,
        /// Row of the matrix, counted from 1.
        row: usize,
        /// Column of the matrix, counted from 1.
        column: usize,
        /// The name of the column in brackets, where it has one.
        name: String,
        /// Text of the file there.
        text: String,
    },

    /// Centring or scaling was asked for where the matrix is already C = AᵀA.
    #[error(
        "{place}: {action} is not possible, because the table is C itself and not samples; \
         leave it out, or give the samples"
    )]
    GramPreparation {
        /// The file or specification.
        place: String,
        /// `centring` or `scaling`.
        action: &'static str,
    },

    /// A matrix given as C that is not square.
    #[error(
        "a {rows} x {columns} matrix cannot be C = AᵀA: it must be square; to use it as samples, do not give it as a Gram matrix"
    )]
    NotSquare {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
    },

    /// A matrix given as C that is not symmetric; the worst pair is named.
    #[error(
        "the matrix is not symmetric: entry ({row}, {column}) is {upper} but entry ({column}, {row}) is {lower} \
         (counted from 1); they may differ by {tolerance:e}. Symmetrise it as (C + Cᵀ)/2 if that is what is meant"
    )]
    NotSymmetric {
        /// Row of the entry above the diagonal, counted from 1.
        row: usize,
        /// Column of the entry above the diagonal, counted from 1.
        column: usize,
        /// The value above the diagonal.
        upper: f64,
        /// The value below the diagonal.
        lower: f64,
        /// The difference that would have been accepted.
        tolerance: f64,
    },
}

impl DataError {
    /// The message, with options as `word` says them.
    pub fn worded(&self, word: impl Fn(&str, Option<&str>) -> String) -> String {
        match (self, self.hint()) {
            (Self::Table { place, problem }, _) => format!("{place}: {}", problem.worded(word)),
            (Self::Option { option, value, expected }, _) => {
                format!("{} is `{value}`: expected {expected}", word(option, None))
            }
            (_, Some(option)) => format!("{self} ({})", word(option, None)),
            (_, None) => self.to_string(),
        }
    }

    /// The option that helps, if there is one; front ends add its spelling.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Missing { .. } => Some("missing"),
            Self::Memory { .. } => Some("max-memory"),
            Self::GramPreparation { action, .. } => Some(match *action {
                "centring" => "center",
                "scaling" => "scale",
                _ => "covariance",
            }),
            _ => None,
        }
    }

    /// This error; if no file was found, with a list of what can be named instead.
    pub(crate) fn with_known(self, say: impl FnOnce() -> String) -> Self {
        match self {
            Self::NotFound { path, .. } => Self::NotFound { path, known: say() },
            other => other,
        }
    }
}
