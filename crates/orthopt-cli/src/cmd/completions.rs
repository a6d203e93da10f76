//! `orthopt completions SHELL`, and what its script asks for.

use std::ffi::OsString;

use clap::Command;
use clap_complete::Shell;
use clap_complete::env::{CompleteEnv, Shells};

use crate::failure::ExitCode;
use crate::output::print_bytes;

const EXAMPLES: &str = "\
Examples:
  orthopt completions bash > ~/.local/share/bash-completion/completions/orthopt
  orthopt completions fish > ~/.config/fish/completions/orthopt.fish";

/// Set by the script to the name of the shell, when it asks for the words that may stand at the cursor.
const VARIABLE: &str = "ORTHOPT_COMPLETE";
const NAME: &str = "orthopt";

/// Print a completion script for a shell
///
/// The script asks `orthopt` for what may stand at the cursor: commands, options, names and files. Write it again after an update.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Name of the shell
    shell: Shell,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    if let Some(shell) = Shells::builtins().completer(&args.shell.to_string()) {
        shell.write_registration(VARIABLE, NAME, NAME, NAME, &mut script)?;
    }
    print_bytes(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Answers the script, if it is the one that calls; `words` are those of the call.
///
/// # Errors
/// Another shell than those there are scripts for; stdout is closed.
pub fn answered(words: &[OsString], command: fn() -> Command) -> anyhow::Result<bool> {
    let folder = std::env::current_dir().ok();
    let asked = CompleteEnv::with_factory(command).var(VARIABLE).try_complete(words, folder.as_deref());
    asked.map_err(|error| {
        let said = error.to_string();
        anyhow::anyhow!("{VARIABLE}: {}", said.trim_start_matches("error: ").trim_end())
    })
}
