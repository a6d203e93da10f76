//! The command `orthopt`: sparse, nonnegative and plain PCA with exactly orthogonal components.
//!
//! It is a library so that it compiles in parallel with the library `orthopt`, for which a
//! program would wait. Other programs should use the crate `orthopt`.

mod blocks;
mod cli;
mod cmd;
mod config;
mod configured;
mod constants;
mod describe;
mod export;
mod failure;
mod files;
mod given;
mod global;
mod input;
mod interrupt;
mod model;
mod options;
mod output;
mod path_report;
mod picture;
mod plot;
mod pose;
mod progress;
mod reproduce;
mod rows;
mod run;
mod settings;
mod streamed;
mod summary;
mod table;
mod text;
mod wording;

use std::io::IsTerminal;
use std::process::ExitCode;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Runs the command with the arguments of the process; returns its exit code.
#[must_use]
pub fn main() -> ExitCode {
    start_log();
    interrupt::listen().and_then(|()| cli::run()).unwrap_or_else(|error| failure::report(&error))
}

/// `ORTHOPT_LOG=info`, or levels by module (`warn,orthopt::linalg=debug`), shows spans and events on
/// stderr.
fn start_log() {
    let Ok(text) = std::env::var("ORTHOPT_LOG") else { return };
    match text.parse::<Targets>() {
        Ok(levels) => {
            let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            let lines = fmt::layer().with_ansi(colours).with_writer(std::io::stderr);
            tracing_subscriber::registry().with(lines).with(levels).init();
        }
        Err(error) => {
            failure::say("warning", &format!("ORTHOPT_LOG is `{text}`: {error}; nothing is logged"));
        }
    }
}
