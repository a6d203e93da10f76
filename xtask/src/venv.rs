//! Virtual environments of Python under the target folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;

use crate::cargo::Run;

/// The oldest Python that the wheel runs on.
const OLDEST: (u32, u32) = (3, 10);

/// A virtual environment.
pub struct Venv {
    inside: PathBuf,
}

impl Venv {
    /// A fresh one in this folder, of the `interpreter`.
    pub fn fresh(folder: &Path) -> anyhow::Result<Self> {
        let python = interpreter();
        check(&python)?;
        Run::new(&python).args(["-m", "venv", "--clear"]).args([folder]).run()?;
        Ok(Self::inside(folder))
    }

    /// One in this folder with the packages of a list: that of an earlier call, if the list is the same.
    pub fn kept(folder: &Path, list: &Path) -> anyhow::Result<Self> {
        let (wanted, stamp) = (std::fs::read_to_string(list)?, folder.join("packages.txt"));
        if std::fs::read_to_string(&stamp).is_ok_and(|there| there == wanted) {
            return Ok(Self::inside(folder));
        }
        let venv = Self::fresh(folder)?;
        venv.install().args(["-r"]).args([list]).run()?;
        std::fs::write(stamp, wanted)?;
        Ok(venv)
    }

    /// One that is there.
    pub fn inside(folder: &Path) -> Self {
        let program = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
        Self { inside: folder.join(program) }
    }

    /// A program that a package has installed there.
    pub fn program(&self, name: &str) -> PathBuf {
        self.inside.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// Its interpreter.
    pub fn path(&self) -> &Path {
        &self.inside
    }

    /// Its interpreter with a module: `-m NAME`.
    pub fn module(&self, name: &str) -> Run {
        Run::new(&self.inside).args(["-m", name])
    }

    /// Packages come from where pip is configured to find them.
    pub fn install(&self) -> Run {
        self.module("pip").args(["install", "--quiet"])
    }
}

/// The interpreter that the variable `PYTHON` names, or `python3`.
pub fn interpreter() -> String {
    std::env::var("PYTHON").unwrap_or_else(|_| "python3".into())
}

/// A Python that is there, new enough, and can make virtual environments.
fn check(python: &str) -> anyhow::Result<()> {
    let (major, minor) = OLDEST;
    let advice = format!(
        "the Python package and the documentation need Python >= {major}.{minor} with venv: install them \
         (Debian and Ubuntu: apt-get install python3-venv), or name another interpreter in the variable PYTHON"
    );
    let script = format!("import sys, ensurepip, venv; sys.exit(sys.version_info < ({major}, {minor}))");
    let output = Command::new(python).args(["-c", &script]).output();
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let why = String::from_utf8_lossy(&output.stderr);
            let why = why.lines().last().unwrap_or("it is too old");
            bail!("{python} will not do ({why}); {advice}")
        }
        Err(error) => bail!("cannot run {python} ({error}); {advice}"),
    }
}
