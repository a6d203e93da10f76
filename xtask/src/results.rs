//! The figures: `docs/benchmarks.md` and `docs/search-ablation.md` are written from `bench/results/*.csv`, and those of README.md stand there.

use anyhow::Context;

use crate::cargo::{Run, Workspace};
use crate::venv;

/// Writes the pages.
pub fn write(workspace: &Workspace) -> anyhow::Result<()> {
    script(workspace, &["bench/results.py", "page"])
}

/// Fails where the page or a figure of README.md is not what the files say.
pub fn check(workspace: &Workspace) -> anyhow::Result<()> {
    script(workspace, &["bench/test_results.py"])?;
    script(workspace, &["bench/results.py", "check"]).context("`cargo xtask results` writes the pages anew")
}

/// The scripts need Python's standard library only.
fn script(workspace: &Workspace, args: &[&str]) -> anyhow::Result<()> {
    Run::new(venv::interpreter()).args(args).dir(&workspace.root).run()
}
