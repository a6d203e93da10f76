//! The options of tables: those of [`orthopt::request`] in the group of this name, which every command that takes data
//! has. What they mean is understood by the readers.

use std::path::Path;

use clap::error::Result as ClapResult;
use clap::{ArgMatches, Command};
use orthopt::request::{Entry, FileUse, Group, OPTIONS, Request, Written};
use orthopt_data::{LoadOptions, TableOptions};

use crate::files::Files;
use crate::options::argument;

/// The options as they were typed, for commands that do not take those of `solve`.
#[derive(Clone, Debug, Default)]
pub struct TableArgs(Request);

fn entries() -> impl Iterator<Item = &'static Entry> {
    OPTIONS.iter().filter(|entry| entry.group == Group::Table)
}

impl clap::Args for TableArgs {
    fn augment_args(command: Command) -> Command {
        command.args(entries().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for TableArgs {
    fn from_arg_matches(matches: &ArgMatches) -> ClapResult<Self> {
        let mut typed = Self::default();
        typed.update_from_arg_matches(matches)?;
        Ok(typed)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> ClapResult<()> {
        for entry in entries() {
            if let Some(value) = matches.get_one::<Written>(entry.name) {
                let _ = entry.set(&mut self.0, value); // the parser of the argument has seen to it
            }
        }
        Ok(())
    }
}

impl TableArgs {
    /// Their meaning.
    ///
    /// # Errors
    /// A text that is no value of its option.
    pub fn options(&self) -> anyhow::Result<TableOptions> {
        of(&self.0)
    }

    /// `how` with these options of tables.
    ///
    /// # Errors
    /// As [`options`](Self::options).
    pub fn added_to(&self, how: &LoadOptions) -> anyhow::Result<LoadOptions> {
        Ok(LoadOptions { table: self.options()?, ..how.clone() })
    }

    /// Adds the files that the options name.
    pub fn files(&self, files: Files) -> Files {
        entries().filter(|entry| entry.file == FileUse::Read).fold(files, |files, entry| {
            let file = entry.get(&self.0).map(|value| value.to_string());
            files.reads(entry.name, file.as_deref().map(Path::new))
        })
    }
}

/// The options of tables in a request.
///
/// # Errors
/// A text that is no value of its option.
pub fn of(request: &Request) -> anyhow::Result<TableOptions> {
    let mut options = TableOptions::default();
    for entry in entries() {
        if let Some(value) = entry.get(request) {
            let text = match value {
                Written::Flag(flag) => flag.to_string(),
                other => other.to_string(),
            };
            // the default of several options, which says nothing against a layout
            if text != "auto" {
                options.set(entry.name, &text)?;
            }
        }
    }
    Ok(options)
}
