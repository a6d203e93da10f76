//! Common parts of commands that take the options of `solve`: help in two lengths and a file of options.

use std::path::PathBuf;

use anyhow::Context;
use clap::{ArgAction, ValueHint};
use orthopt::family::{Call, CallOptions};
use orthopt::request::Request;

use crate::config;
use crate::constants::HELP;
use crate::files::Files;
use crate::settings::Settings;

/// Help in two lengths; the command disables the help flag of its own.
#[derive(Debug, clap::Args)]
pub struct Help {
    /// Print the common options
    #[arg(short, long, action = ArgAction::HelpShort, help_heading = HELP)]
    help: Option<bool>,

    /// Print all options
    #[arg(long, action = ArgAction::HelpLong, help_heading = HELP)]
    help_all: Option<bool>,
}

/// [`Help`] and `--config`.
#[derive(Debug, clap::Args)]
pub struct Configured {
    #[command(flatten)]
    help: Help,

    /// Read options from a TOML file; options of the command line override it
    #[arg(long, value_name = "FILE.toml", hide_short_help = true, help_heading = "Configuration", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
}

impl Configured {
    /// Options of the command line, and those of the file for the rest.
    ///
    /// # Errors
    /// The file cannot be read or understood.
    pub fn options(&self, typed: Request) -> anyhow::Result<Request> {
        match &self.config {
            Some(path) => config::merge(typed, path),
            None => Ok(typed),
        }
    }

    /// The files that options name.
    pub fn files(&self, options: &Request) -> Files {
        Files::of(options).reads("--config", self.config.as_deref())
    }

    /// Settings of `call` with defaults filled in; `own` are the options of the call alone that are given.
    ///
    /// # Errors
    /// A value that makes no sense, an option that means nothing.
    pub fn settings(&self, call: Call, options: &mut Request, own: &[&str]) -> anyhow::Result<Settings> {
        let given = CallOptions::new(call, options.given()).and(own.iter().copied());
        let settings = Settings::resolve(given, options);
        match &self.config {
            Some(path) => settings.with_context(|| format!("with {}", path.display())),
            None => settings,
        }
    }
}
