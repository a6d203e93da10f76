//! The command `orthopt`: sparse, nonnegative and plain PCA with exactly orthogonal components.

mod cli;
mod cmd;
mod config;
mod constants;
mod describe;
mod export;
mod failure;
mod input;
mod interrupt;
mod options;
mod output;
mod plot;
mod pose;
mod progress;
mod reproduce;
mod run;
mod settings;
mod summary;
mod table;
mod text;
mod wording;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    start_log();
    cli::Cli::parse().run().unwrap_or_else(|error| failure::report(&error))
}

/// `ORTHOPT_LOG=info` (or any filter of tracing-subscriber) shows spans and events on stderr.
fn start_log() {
    if let Ok(filter) = EnvFilter::try_from_env("ORTHOPT_LOG") {
        let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_ansi(colours)
            .with_writer(std::io::stderr)
            .init();
    }
}
