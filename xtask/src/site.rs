//! The documentation as a site, built strictly: a link or an anchor that leads nowhere is an error, an example that
//! fails, and a word that is spelled wrong there or in the code. `xtask/site/build.py` says how the pages come about.

use anyhow::Context;

use crate::cargo::{Run, Workspace};
use crate::venv::Venv;
use crate::{python, spelling};

/// Builds it into the target folder, with the tools of `docs/requirements.txt`, from the pages, the installed Python
/// package, the help of the command and the documentation of the crates.
pub fn build(workspace: &Workspace) -> anyhow::Result<()> {
    let work = workspace.target.join("site");
    let tools = workspace.root.join("docs/requirements.txt");
    let venv = Venv::kept(&work.join("venv"), &tools).context("pip needs a package index")?;
    spelling::check(workspace, &venv)?;
    // as `cargo xtask test` builds them: there nothing is left to do
    workspace.cargo(&["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings").run()?;
    workspace.cargo(&python::PROGRAMS).run()?;
    let wheel = python::build(workspace, &venv, &work.join("wheels"))?;
    venv.install().args(["--force-reinstall", "--no-deps"]).args([&wheel]).run()?;
    let parts = [work.clone(), workspace.program("orthopt"), workspace.target.join("doc")];
    Run::new(venv.path()).args([workspace.root.join("xtask/site/build.py")]).args(parts).run()?;
    eprintln!("the documentation: {}", work.join("html/index.html").display());
    Ok(())
}
