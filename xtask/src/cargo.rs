//! The workspace as cargo sees it, and commands run in it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

/// Where things are.
pub struct Workspace {
    /// The root of the repository.
    pub root: PathBuf,
    /// Where cargo puts what it builds: `CARGO_TARGET_DIR`, the configuration of cargo, or `target`.
    pub target: PathBuf,
    cargo: String,
}

impl Workspace {
    /// Asks cargo.
    pub fn find() -> anyhow::Result<Self> {
        // the cargo that runs us, so that toolchain overrides hold
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        let here = env!("CARGO_MANIFEST_DIR").into();
        let mut workspace = Self { root: here, target: PathBuf::new(), cargo };
        let facts = workspace.metadata(&["--no-deps"])?;
        let path = |key: &str| facts[key].as_str().map(PathBuf::from);
        let (Some(root), Some(target)) = (path("workspace_root"), path("target_directory")) else {
            bail!("cargo metadata names no workspace_root and target_directory");
        };
        (workspace.root, workspace.target) = (root, target);
        Ok(workspace)
    }

    /// Output of `cargo metadata`.
    pub fn metadata(&self, args: &[&str]) -> anyhow::Result<Value> {
        let mut command = self.cargo(&["metadata", "--format-version", "1"]);
        let output = command.0.args(args).output().context("cannot run cargo metadata")?;
        if !output.status.success() {
            bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        serde_json::from_slice(&output.stdout).context("cargo metadata printed no JSON")
    }

    /// A cargo command in the root of the repository.
    pub fn cargo(&self, args: &[&str]) -> Run {
        let mut command = Command::new(&self.cargo);
        command.args(args).current_dir(&self.root);
        Run(command)
    }

    /// The cargo to use.
    pub fn cargo_path(&self) -> &str {
        &self.cargo
    }

    /// True if a tool that adds a command to cargo is installed.
    pub fn has(&self, tool: &str) -> bool {
        let output = self.cargo(&[tool, "--version"]).0.output();
        output.is_ok_and(|output| output.status.success())
    }

    /// The folder of data sets that are not part of the repository.
    pub fn data_sets(&self) -> PathBuf {
        let beside = || self.root.join("../shared/data");
        std::env::var_os("ORTHOPT_DATA").map_or_else(beside, |folder| self.root.join(folder))
    }

    /// A program of the dev profile.
    pub fn program(&self, name: &str) -> PathBuf {
        self.target.join("debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }
}

/// A command that must succeed.
pub struct Run(pub Command);

impl Run {
    /// Any program.
    pub fn new(program: impl AsRef<std::ffi::OsStr>) -> Self {
        Self(Command::new(program))
    }

    pub fn args<A: AsRef<std::ffi::OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.0.args(args);
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    pub fn dir(mut self, folder: impl AsRef<std::path::Path>) -> Self {
        self.0.current_dir(folder);
        self
    }

    /// Runs it; what fails is named as it can be typed again.
    pub fn run(mut self) -> anyhow::Result<()> {
        let shown = self.shown();
        let status = self.0.status().with_context(|| format!("cannot run {shown}"))?;
        if status.success() {
            return Ok(());
        }
        match status.code() {
            Some(code) => bail!("`{shown}` ended with exit code {code}"),
            None => bail!("`{shown}` was ended by a signal ({status})"),
        }
    }

    fn shown(&self) -> String {
        let program = std::path::Path::new(self.0.get_program()).file_name().unwrap_or_default();
        let words = std::iter::once(program).chain(self.0.get_args());
        words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }
}
