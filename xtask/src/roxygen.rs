//! The help pages of R and `NAMESPACE`, which roxygen2 makes of the comments beside the code.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use crate::cargo::{Run, Workspace};

/// Makes the pages in `r`; left out where there is no roxygen2 of the version that made them.
pub fn write(workspace: &Workspace) -> anyhow::Result<()> {
    let package = workspace.root.join("r");
    let Some(made) = made(workspace)? else { return Ok(()) };
    for name in pages(&package)?.keys() {
        fs::remove_file(package.join(name))?;
    }
    for (name, text) in made {
        fs::write(package.join(name), text)?;
    }
    Ok(())
}

/// Compares the pages in `r` with those that roxygen2 makes; left out where there is no roxygen2 of the version that made
/// them.
pub fn check(workspace: &Workspace) -> anyhow::Result<()> {
    let Some(made) = made(workspace)? else { return Ok(()) };
    let kept = pages(&workspace.root.join("r"))?;
    match kept.keys().chain(made.keys()).find(|name| kept.get(*name) != made.get(*name)) {
        Some(name) => {
            bail!("r/{name} is not what roxygen2 makes of r/R: `cargo xtask generate` writes it anew")
        }
        None => Ok(()),
    }
}

/// Copies a folder but for what has been built in it.
pub fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        let built = path.extension().is_some_and(|e| e == "o" || e == "a" || e == "so");
        if path.is_dir() && name != "target" {
            copy(&path, &to.join(name))?;
        } else if path.is_file() && !built {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

/// The pages, made in a copy without the compiled half; none where roxygen2 does not fit.
fn made(workspace: &Workspace) -> anyhow::Result<Option<BTreeMap<String, String>>> {
    let (package, work) = (workspace.root.join("r"), workspace.target.join("r-pages"));
    if !installed(&package)? {
        return Ok(None);
    }
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    copy(&package, &work)?;
    for name in pages(&work)?.keys() {
        fs::remove_file(work.join(name))?;
    }
    let run = Run::new("R").args(["-s", "--vanilla", "-e", "roxygen2::roxygenise(load_code = 'source')"]);
    run.dir(&work).run().context("the comments in r/R")?;
    pages(&work).map(Some)
}

/// True if the roxygen2 that DESCRIPTION names is installed: another one writes pages that differ.
fn installed(package: &Path) -> anyhow::Result<bool> {
    let description = fs::read_to_string(package.join("DESCRIPTION"))?;
    let wanted = description.lines().find_map(|line| line.strip_prefix("RoxygenNote: "));
    let wanted = wanted.context("r/DESCRIPTION has no RoxygenNote")?;
    let asked = Command::new("R").args(["-s", "-e", "cat(format(packageVersion('roxygen2')))"]).output();
    let found = asked.ok().filter(|output| output.status.success());
    let found = found.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    if found.as_deref() != Some(wanted) {
        let here = found.map_or("none".into(), |version| format!("version {version}"));
        eprintln!("the help pages of R are left out: roxygen2 {wanted} makes them, and {here} is installed");
        return Ok(false);
    }
    Ok(true)
}

/// What roxygen2 writes: texts by name.
fn pages(package: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let mut names = vec!["NAMESPACE".to_string()];
    for entry in fs::read_dir(package.join("man"))? {
        names.push(format!("man/{}", entry?.file_name().to_string_lossy()));
    }
    let read = |name: String| fs::read_to_string(package.join(&name)).map(|text| (name, text));
    names.into_iter().map(|name| read(name).context("r")).collect()
}
