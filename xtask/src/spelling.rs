//! The spelling of pages, comments, help and messages. `typos.toml` has the words that are right as they stand.

use crate::cargo::{Run, Workspace};
use crate::venv::Venv;

/// Parts of the checkout that are checked; a target folder may have any name.
const PARTS: [&str; 12] = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "pyproject.toml",
    "docs",
    "bench",
    "crates",
    "octave",
    "python",
    "r",
    "xtask",
];

/// Reads everything, with the tool of `docs/requirements.txt`.
pub fn check(workspace: &Workspace, venv: &Venv) -> anyhow::Result<()> {
    Run::new(venv.program("typos")).args(["--format", "brief"]).args(PARTS).dir(&workspace.root).run()
}
