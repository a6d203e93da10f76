//! `orthopt list`: names and one-line descriptions, from the registries.

use clap::builder::PossibleValuesParser;
use orthopt::family::{penalty_called, solvers_called};
use orthopt::registry::{self, LISTS};

use crate::describe;
use crate::failure::{ExitCode, usage};
use crate::output::print;

type Entries = Vec<(String, &'static str)>;
/// A kind of thing and how to get its names.
type List = (&'static str, fn() -> Entries);

/// Lists in addition to those of the library.
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
  orthopt list problems
  orthopt list solver manpg
  orthopt list penalty mcp";

/// List problems, solvers, penalties and all other names that options take
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Kind of names to list [default: all]
    #[arg(value_name = "KIND", value_parser = kinds())]
    kind: Option<String>,

    /// The solver or penalty to show with its constants
    #[arg(value_name = "NAME", required_if_eq_any([("kind", "solver"), ("kind", "penalty")]))]
    name: Option<String>,
}

/// The lists, and what can be shown alone.
fn kinds() -> PossibleValuesParser {
    PossibleValuesParser::new(lists().iter().map(|l| l.0).chain(["solver", "penalty"]))
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let text: Vec<String> = match (args.kind.as_deref(), &args.name) {
        (Some("solver"), Some(name)) => vec![describe::solver(&solvers_called(name)?)],
        (Some("penalty"), Some(name)) => vec![describe::penalty(&penalty_called(name)?)],
        (Some(kind), Some(name)) => {
            return Err(usage(format!("`orthopt list {kind}` takes no name: leave `{name}` out")));
        }
        (Some(kind), None) => lists().iter().filter(|l| l.0 == kind).map(|l| table(&l.1, "")).collect(),
        (None, _) => lists().iter().map(|l| format!("{}\n{}", l.0, table(&l.1, "  "))).collect(),
    };
    print(&text.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn table(entries: &Entries, indent: &str) -> String {
    let width = entries.iter().map(|e| e.0.len()).max().unwrap_or(0);
    entries.iter().map(|(name, doc)| format!("{indent}{name:width$}  {doc}\n")).collect()
}
