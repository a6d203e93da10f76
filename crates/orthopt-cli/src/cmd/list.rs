//! `orthopt list`: names and one-line descriptions, from the registries.

use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use orthopt::registry::{self, LISTS};

use crate::output::print;

type Entries = Vec<(String, &'static str)>;
/// A kind of thing and how to get its names.
type List = (&'static str, fn() -> Entries);

/// What can be listed besides what the library has.
const DATA_LISTS: &[List] = &[
    ("formats", orthopt_data::formats),
    ("generators", orthopt_data::generators),
    ("builtins", orthopt_data::builtins),
];

fn lists() -> Vec<(&'static str, Entries)> {
    let of_library = LISTS.iter().map(|(kind, entries)| (*kind, owned(entries())));
    of_library.chain(DATA_LISTS.iter().map(|(kind, entries)| (*kind, entries()))).collect()
}

fn owned(entries: registry::Entries) -> Entries {
    entries.into_iter().map(|(name, doc)| (name.into(), doc)).collect()
}

const EXAMPLES: &str = "\
Examples:
  orthopt list
  orthopt list problems";

/// List problems, solvers, penalties and what else has a name
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What to list; everything if left out
    #[arg(value_name = "KIND", value_parser = PossibleValuesParser::new(lists().iter().map(|l| l.0)))]
    kind: Option<String>,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let text: Vec<String> = match &args.kind {
        Some(kind) => lists().iter().filter(|l| l.0 == kind).map(|l| table(&l.1, "")).collect(),
        None => lists().iter().map(|l| format!("{}\n{}", l.0, table(&l.1, "  "))).collect(),
    };
    print(&text.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn table(entries: &Entries, indent: &str) -> String {
    let width = entries.iter().map(|e| e.0.len()).max().unwrap_or(0);
    entries.iter().map(|(name, doc)| format!("{indent}{name:width$}  {doc}\n")).collect()
}
