//! Licences, versions and sources of what we depend on, as `deny.toml` lets them in, where `cargo deny` is installed.

use std::path::PathBuf;

use crate::cargo::Workspace;

/// All but the known faults; these too where their database has been fetched. The scheduled job examines those of the day.
pub fn check(workspace: &Workspace) -> anyhow::Result<()> {
    if !workspace.has("deny") {
        eprintln!("licences and sources of dependencies are not checked: there is no cargo deny");
        return Ok(());
    }
    workspace.cargo(&["deny", "--log-level", "error", "check", "licenses", "bans", "sources"]).run()?;
    if !advisories().is_some_and(|folder| folder.is_dir()) {
        eprintln!("known faults of dependencies are not looked up: `cargo deny fetch db` has not been run");
        return Ok(());
    }
    workspace.cargo(&["deny", "--log-level", "error", "--offline", "check", "advisories"]).run()
}

/// The folder into which `cargo deny fetch db` puts the database.
fn advisories() -> Option<PathBuf> {
    let own = || std::env::home_dir().map(|home| home.join(".cargo"));
    Some(std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(own)?.join("advisory-dbs"))
}
