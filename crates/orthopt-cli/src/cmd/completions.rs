//! `orthopt completions SHELL`.

use clap::Command;
use clap_complete::Shell;

use crate::failure::ExitCode;
use crate::output::print_bytes;

const EXAMPLES: &str = "\
Examples:
  orthopt completions bash > ~/.local/share/bash-completion/completions/orthopt
  orthopt completions fish > ~/.config/fish/completions/orthopt.fish";

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Name of the shell
    shell: Shell,
}

/// `command` is the whole command line.
pub fn run(args: Args, mut command: Command) -> anyhow::Result<ExitCode> {
    // Through a buffer: clap_complete panics when stdout is closed early.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "orthopt", &mut script);
    print_bytes(&script)?;
    Ok(ExitCode::SUCCESS)
}
