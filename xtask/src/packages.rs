//! The crates as they would be published, and the stated minimum Rust version.

use std::path::PathBuf;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::cargo::{Run, Workspace};
use crate::{crates, versions};

/// The crates that are published behind those of the library, in the order in which they depend on each other.
const PUBLISHED: [&str; 4] = ["orthopt-data", "orthopt-embed", "orthopt-papers", "orthopt-cli"];

fn published() -> impl Iterator<Item = &'static str> {
    crates::LIBRARY.iter().copied().chain(PUBLISHED)
}

/// Packs every published crate, which checks its manifest, its files and its dependencies, holds the dependencies to
/// the minimum Rust version that `Cargo.toml` states, compares the versions of all packages, and checks what crates use and how long they are.
pub fn check(workspace: &Workspace) -> anyhow::Result<()> {
    versions::check(workspace)?;
    crates::check(workspace)?;
    let mut command = pack(workspace, &["--no-verify"]);
    let output = command.0.output().context("cannot run cargo package")?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || said.contains("warning: manifest") {
        bail!("cargo package finds fault with a crate:\n{}", said.trim());
    }
    oldest_rust(workspace)
}

/// Packs every published crate and builds it from what was packed; their files.
pub fn verified(workspace: &Workspace) -> anyhow::Result<Vec<PathBuf>> {
    check(workspace)?;
    pack(workspace, &[]).run()?;
    let version = versions::version(workspace)?;
    let file = |name: &str| workspace.target.join("package").join(format!("{name}-{version}.crate"));
    Ok(published().map(file).collect())
}

/// `cargo package` of the published crates.
fn pack(workspace: &Workspace, options: &[&str]) -> Run {
    let names = published().flat_map(|name| ["-p", name]);
    workspace.cargo(&["package", "--allow-dirty"]).args(options).args(names)
}

/// No dependency asks for a later Rust than we do. (Our own code is held to it by clippy.)
fn oldest_rust(workspace: &Workspace) -> anyhow::Result<()> {
    let facts = workspace.metadata(&["--filter-platform", &host()?])?;
    let packages = facts["packages"].as_array().context("cargo metadata lists no packages")?;
    let ours = packages.iter().find(|p| p["name"] == "orthopt").context("no package orthopt")?;
    let limit = version(&ours["rust_version"]);
    let late: Vec<String> = packages
        .iter()
        .filter(|p| version(&p["rust_version"]) > limit)
        .map(|p| format!("{} {} needs Rust {}", p["name"], p["version"], p["rust_version"]))
        .collect();
    if !late.is_empty() {
        bail!("Cargo.toml states Rust {}, but {}", ours["rust_version"], late.join(", "));
    }
    Ok(())
}

/// `1.89` or `1.89.0` as numbers; nothing stated is lower than everything.
fn version(stated: &Value) -> Vec<u32> {
    let mut parts: Vec<u32> =
        stated.as_str().unwrap_or("").split('.').filter_map(|part| part.parse().ok()).collect();
    parts.resize(3, 0);
    parts
}

/// The platform of this machine, as rustc calls it.
fn host() -> anyhow::Result<String> {
    let output = std::process::Command::new("rustc").arg("-vV").output().context("cannot run rustc")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).context("rustc -vV names no host")
}
