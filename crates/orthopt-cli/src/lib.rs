//! The command `orthopt`: sparse, nonnegative and plain PCA with exactly orthogonal components.
//!
//! It is a library so that it compiles in parallel with the library `orthopt`, for which a
//! program would wait, and so that the Python package has the command, too. Other programs should use the crate `orthopt`.

mod arguments;
mod blocks;
mod cli;
mod cmd;
mod config;
mod configured;
mod constants;
mod data_request;
mod describe;
mod explored;
mod export;
mod failure;
mod files;
mod given;
mod global;
mod input;
mod interrupt;
mod look;
mod model;
mod options;
mod output;
mod path_report;
mod picture;
mod plot;
mod pose;
mod progress;
#[cfg(feature = "papers")]
mod reproduce;
mod rows;
mod run;
mod settings;
mod stability;
mod streamed;
mod summary;
mod table;
mod table_options;
mod text;
mod wording;

/// Pictures as data, which the package for Python draws.
#[doc(hidden)]
pub mod pictures {
    use serde::{Deserialize, Deserializer, Serialize};

    use crate::picture::Asked;
    pub use crate::picture::place::names;

    /// The description of a picture: title, axes and marks in the units of the data. `shown` names the picture and what it shows.
    ///
    /// # Errors
    /// There is no such picture, or it shows something else.
    pub fn chart<'de, D: Deserializer<'de>>(shown: D) -> Result<impl Serialize, D::Error> {
        Ok(Asked::deserialize(shown)?.chart())
    }
}

use std::ffi::OsString;
use std::io::IsTerminal;

use orthopt_linalg::simd;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Runs the command with these words, the first of which is its name; returns its exit code. Once in a process: signals are
/// its own from then on.
#[must_use]
pub fn command(words: Vec<OsString>) -> u8 {
    start_log();
    if let Err(error) = check_simd() {
        return failure::report(&error).0;
    }
    let ended = interrupt::listen().and_then(|()| cli::run(words));
    ended.unwrap_or_else(|error| failure::report(&error)).0
}

/// An unknown instruction set is no limit.
fn check_simd() -> anyhow::Result<()> {
    let (variable, known) = simd::LIMIT;
    match std::env::var(variable) {
        Ok(value) if !known.contains(&value.as_str()) => {
            Err(failure::usage(format!("{variable} is `{value}`: expected {}", known.join(", "))))
        }
        _ => Ok(()),
    }
}

/// `ORTHOPT_LOG=info`, or levels by module (`warn,orthopt_linalg=debug`), shows spans and events on
/// stderr.
fn start_log() {
    let Ok(text) = std::env::var("ORTHOPT_LOG") else { return };
    match text.parse::<Targets>() {
        Ok(levels) => {
            let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            let lines = fmt::layer().with_ansi(colours).with_writer(std::io::stderr);
            tracing_subscriber::registry().with(lines).with(levels).try_init().ok(); // a process may have a log of its own
        }
        Err(error) => {
            failure::say("warning", &format!("ORTHOPT_LOG is `{text}`: {error}; nothing is logged"));
        }
    }
}
