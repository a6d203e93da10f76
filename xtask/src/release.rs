//! What is published, built and tried but not published: `cargo xtask release --dry-run [PROFILE]`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::cargo::Workspace;
use crate::steps::Steps;
use crate::{conda, packages, r, site, versions, wheel};

/// Builds everything that is published and tries it; what came of it is in the folder `release-files` of the target folder.
///
/// # Errors
/// Versions differ, or something cannot be built or does not work.
pub fn dry_run(workspace: &Workspace, profile: &str) -> anyhow::Result<()> {
    let out = workspace.target.join("release-files");
    if out.exists() {
        fs::remove_dir_all(&out)?; // files of other versions
    }
    fs::create_dir_all(&out)?;
    let mut steps = Steps::new();
    steps.run("versions", || versions::check(workspace))?;
    steps.run("crates", || keep(&packages::verified(workspace)?, &out))?;
    steps.run("wheel", || keep(&wheel::build(workspace, profile)?, &out))?;
    steps.run("r", || keep(&r::sources(workspace, profile)?, &out))?;
    steps.run("conda", || conda::render(workspace))?;
    steps.run("site", || site::build(workspace))?;
    for file in fs::read_dir(&out)?.filter_map(Result::ok) {
        println!("{:6.1} MB  {}", file.metadata()?.len() as f64 / 1e6, file.path().display());
    }
    if !wheel::has_zig() {
        println!(
            "the wheel is for Linux systems as new as this one, as its name says: there is no zig on the path"
        );
    }
    steps.finish();
    println!("nothing is published");
    Ok(())
}

fn keep(files: &[PathBuf], out: &Path) -> anyhow::Result<()> {
    for file in files {
        let name = file.file_name().with_context(|| format!("{} is no file", file.display()))?;
        fs::copy(file, out.join(name)).with_context(|| format!("cannot copy {}", file.display()))?;
    }
    Ok(())
}
