//! `orthopt reproduce` of a program that has no papers.

use crate::failure::{ExitCode, usage};

/// The papers' tables and figures, which this program was built without
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Any arguments
    #[arg(value_name = "ITEM", trailing_var_arg = true, allow_hyphen_values = true)]
    _words: Vec<String>,
}

/// # Errors
/// Always: it says how to get them.
pub fn run(_: &Args) -> anyhow::Result<ExitCode> {
    Err(usage(
        "this program was built without the papers; `cargo install orthopt-cli` builds it with them \
         (from a checkout: `cargo build --release -p orthopt-cli`), `--features papers` adds them to other features",
    ))
}

#[test]
fn it_says_how_to_get_the_papers() {
    let said = run(&Args { _words: vec!["list".into()] }).map(drop).unwrap_err().to_string();
    assert!(said.contains("`cargo install orthopt-cli`") && said.contains("--features papers"), "{said}");
}
