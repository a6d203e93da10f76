//! The command line: one line per subcommand.

use std::error::Error;
use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Parser, Subcommand};
use orthopt_data::printable;

use crate::arguments;
use crate::cmd;
use crate::failure::{EXIT_CODES, ExitCode};
use crate::options::Misread;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  orthopt data.csv
  orthopt solve l0-pca builtin:pitprops -r 3 --lambda 0.1 --certify
  orthopt solve nonneg-pca data.csv --center -r 5 --save-x x.npy
  orthopt explore data.csv --report page.html
  orthopt path l0-pca data.csv --scale std --cv 5
  orthopt transform result.json new.csv -o scores.csv
  orthopt compare l1-pca builtin:pitprops -r 3 --time-limit 2
  orthopt certify l0-pca builtin:pitprops --x x.npy --lambda 0.1
  orthopt bound l0-pca builtin:pitprops -r 3 --lambda 0.1
  orthopt check-proof proof.json builtin:pitprops
  orthopt reproduce list
  orthopt data info data.svm.gz
  orthopt embed train.tsv --valid valid.tsv --test test.tsv --dim 32 --signature 31
  orthopt list";

/// A file alone is analysed.
const USAGE: &str = "orthopt FILE [OPTIONS]          analyse a table, as `orthopt explore FILE`\n       \
    orthopt COMMAND [OPTIONS]";

/// Sparse, nonnegative and plain PCA whose components are orthogonal to rounding:
/// min f(X) + h(X) over the n x r matrices X with X'X = I.
#[derive(Debug, Parser)]
#[command(
    name = "orthopt",
    version,
    override_usage = USAGE,
    max_term_width = 100,
    after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Explore(Box<cmd::explore::Args>),
    Solve(Box<cmd::solve::Args>),
    Path(Box<cmd::path::Args>),
    Transform(cmd::transform::Args),
    Compare(Box<cmd::compare::Args>),
    Certify(Box<cmd::certify::Args>),
    Bound(Box<cmd::bound::Args>),
    CheckProof(Box<cmd::check_proof::Args>),
    #[cfg(feature = "papers")]
    Reproduce(cmd::reproduce::Args),
    #[cfg(not(feature = "papers"))]
    Reproduce(cmd::without_papers::Args),
    Data(cmd::data::Args),
    Embed(Box<cmd::embed::Args>),
    List(cmd::list::Args),
    Completions(cmd::completions::Args),
}

/// Runs the command; the exit code gives the ending (see [`crate::failure`]).
pub fn run(words: Vec<OsString>) -> anyhow::Result<ExitCode> {
    if cmd::completions::answered(&words, Cli::command)? {
        return Ok(ExitCode::SUCCESS);
    }
    let words = arguments::keep(explored(words));
    match Cli::try_parse_from(words) {
        Ok(cli) => cli.run(),
        Err(error) if error.use_stderr() => {
            if let Some(Misread(error)) = error.source().and_then(|source| source.downcast_ref()) {
                return Err(error.clone().into());
            }
            let _ = named_as_no_file(in_print(error, words)).print(); // a closed stderr is no error
            Ok(ExitCode::from(2))
        }
        Err(help) => output::told(help.print()).map(|()| ExitCode::SUCCESS),
    }
}

/// The words with `explore` in front of data, or of `--gram`, where a command is expected.
fn explored(mut words: Vec<OsString>) -> Vec<OsString> {
    let data = words.get(1).and_then(|word| word.to_str()).is_some_and(|word| {
        let is_written_so = word.contains(['.', ':', '/', '\\']) || Path::new(word).exists();
        let is_file =
            is_written_so && !word.starts_with('-') && Cli::command().find_subcommand(word).is_none();
        is_file || word == "--gram"
    });
    if data {
        words.insert(1, "explore".into());
    }
    words
}

/// The error; a word that is no command is no file either.
fn named_as_no_file(mut error: clap::Error) -> clap::Error {
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) {
        let tip = format!("a table of your own is named with its extension, and there is no file '{word}'");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// The error for the same words without control characters, because it quotes them.
fn in_print(error: clap::Error, words: &[OsString]) -> clap::Error {
    let words = words.iter().map(|word| printable(&word.to_string_lossy()));
    Cli::try_parse_from(words).err().unwrap_or(error)
}

impl Cli {
    fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Solve(args) => cmd::solve::run(*args),
            Command::Transform(args) => cmd::transform::run(&args),
            Command::Path(args) => cmd::path::run(*args),
            Command::Explore(args) => cmd::explore::run(*args),
            Command::Compare(args) => cmd::compare::run(*args),
            Command::Certify(args) => cmd::certify::run(*args),
            Command::Bound(args) => cmd::bound::run(*args),
            Command::CheckProof(args) => cmd::check_proof::run(*args),
            #[cfg(feature = "papers")]
            Command::Reproduce(args) => cmd::reproduce::run(&args),
            #[cfg(not(feature = "papers"))]
            Command::Reproduce(args) => cmd::without_papers::run(&args),
            Command::Data(args) => cmd::data::run(args),
            Command::Embed(args) => cmd::embed::run(*args),
            Command::List(args) => cmd::list::run(args),
            Command::Completions(args) => cmd::completions::run(args),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
