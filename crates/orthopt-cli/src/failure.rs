//! Reporting of errors: one line on stderr and an exit code.
//!
//! | code | means |
//! |---|---|
//! | 0 | finished: converged, or a limit the user set |
//! | 1 | unreadable or invalid data, or a file that cannot be written |
//! | 2 | usage: an option or a value of it that makes no sense |
//! | 4 | numerical breakdown, or an unbounded problem |
//! | 130 | interrupted |

use std::io::Write;

use orthopt::solve::Status;
use orthopt_data::{DataError, printable};

use crate::wording::explained;

/// The exit codes as help shows them.
pub const EXIT_CODES: &str = "\
Exit codes:
  0    finished: converged, or a limit that was set
  1    unreadable or invalid data, or a file that cannot be written
  2    usage: an option or a value of it that makes no sense
  4    numerical breakdown, or an unbounded problem
  130  interrupted (what was found is still written)";

/// Exit code of a command: a number that a caller in the same process can read, unlike the one of the standard library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitCode(pub u8);

impl ExitCode {
    pub const SUCCESS: Self = Self(0);
}

impl From<u8> for ExitCode {
    fn from(code: u8) -> Self {
        Self(code)
    }
}

/// The user asked for something that makes no sense.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// An [`anyhow::Error`] that exits with code 2.
pub fn usage(message: impl Into<String>) -> anyhow::Error {
    Usage(message.into()).into()
}

/// Prints the error and gives its exit code.
pub fn report(error: &anyhow::Error) -> ExitCode {
    say("error", &explained(error));
    ExitCode::from(code(error))
}

/// Writes one line to stderr, with control characters escaped. A closed stderr is not an error.
pub fn say(kind: &str, message: &str) {
    let _ = writeln!(std::io::stderr(), "{kind}: {}", printable(message.trim_end()));
}

fn code(error: &anyhow::Error) -> u8 {
    if error.is::<Usage>() {
        return 2;
    }
    if let Some(error) = error.downcast_ref::<DataError>() {
        return match error {
            DataError::Features { .. } | DataError::GramPreparation { .. } | DataError::Option { .. } => 2,
            _ => 1,
        };
    }
    match error.downcast_ref::<orthopt::Error>() {
        Some(
            orthopt::Error::InvalidOption { .. }
            | orthopt::Error::Rank { .. }
            | orthopt::Error::UnknownName { .. }
            | orthopt::Error::Incompatible(_)
            | orthopt::Error::NoPlace { .. },
        ) => 2,
        Some(
            orthopt::Error::Factorisation(_) | orthopt::Error::Overflow { .. } | orthopt::Error::Underflow,
        ) => 4,
        _ => 1,
    }
}

/// The exit code of a run that ended with `status`.
pub fn code_of(status: Status) -> u8 {
    match status {
        Status::Interrupted => 130,
        Status::Unbounded | Status::NumericalError => 4,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn context_does_not_hide_the_code() {
        let rank = orthopt::Error::Rank { rank: 20, columns: 13 };
        let error = Err::<(), _>(rank).context("data.csv").unwrap_err();
        assert_eq!(code(&error), 2);
        assert_eq!(code(&usage("no")), 2);
        assert_eq!(code(&anyhow::anyhow!("disk full")), 1);
        let empty = DataError::Empty { place: "a".into(), rows: 0, columns: 0 };
        assert_eq!(code(&empty.into()), 1);
    }
}
