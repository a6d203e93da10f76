//! The Python package: a wheel in a fresh virtual environment, its tests, doctests and examples.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::cargo::{Run, Workspace};

/// The oldest Python that the wheel runs on.
const OLDEST: (u32, u32) = (3, 10);

/// Builds the wheel, installs it with everything its tests need, and runs them. The command and the
/// example that they compare with have been built before.
///
/// The interpreter is `python3`, or the one that the variable `PYTHON` names. Packages come from
/// where pip is configured to find them.
pub fn test(workspace: &Workspace) -> anyhow::Result<()> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    check(&python)?;
    let programs = [workspace.program("orthopt"), workspace.program("examples/same_x")];
    if let Some(missing) = programs.iter().find(|path| !path.exists()) {
        bail!("{} has not been built", missing.display());
    }
    let work = workspace.target.join("python");
    let (venv, wheels) = (work.join("venv"), work.join("wheels"));
    Run::new(&python).args(["-m", "venv", "--clear"]).args([&venv]).run()?;
    let inside = inside(&venv);
    let pip = || Run::new(&inside).args(["-m", "pip", "install", "--quiet"]);
    pip().args(["maturin>=1.7,<2"]).run().context("cannot install maturin; pip needs a package index")?;
    let wheel = build(workspace, &inside, &wheels)?;
    pip().args([format!("{}[test]", wheel.display())]).run()?;

    let pytest = |args: &[&str]| {
        let run = Run::new(&inside).args(["-m", "pytest", "-q"]).args(args).dir(&workspace.root);
        run.env("ORTHOPT_CLI", &programs[0])
            .env("ORTHOPT_SAME_X", &programs[1])
            .env("MPLBACKEND", "Agg")
            .run()
    };
    stubs(workspace, &inside, &work)?;
    pytest(&["python/tests"])?;
    pytest(&["--doctest-modules", "--pyargs", "orthopt"])?;
    pytest(&["docs/python.md", "docs/bounds.md", "docs/beyond-memory.md"])?;
    for example in examples(&workspace.root)? {
        eprintln!("example {}", example.display());
        Run::new(&inside).args([&example]).dir(&work).env("MPLBACKEND", "Agg").run()?;
    }
    Ok(())
}

/// Whether the stubs say what the installed package has.
fn stubs(workspace: &Workspace, inside: &Path, work: &Path) -> anyhow::Result<()> {
    let file = |name: &str| workspace.root.join("python").join(name);
    let settings = [file("stubtest.ini"), file("stubtest-allow.txt")];
    Run::new(inside)
        .args(["-m", "mypy.stubtest", "orthopt", "--concise"])
        .args([Path::new("--mypy-config-file"), &settings[0], Path::new("--allowlist"), &settings[1]])
        .dir(work)
        .run()
}

/// The wheel of the dev profile. With the feature `shared-build` cargo takes the dependencies as the
/// tests of the workspace have built them, instead of building all of them again.
fn build(workspace: &Workspace, inside: &Path, wheels: &Path) -> anyhow::Result<PathBuf> {
    if wheels.exists() {
        std::fs::remove_dir_all(wheels)?; // wheels of other versions
    }
    let maturin = ["-m", "maturin", "build", "--quiet", "--profile", "dev", "--features", "shared-build"];
    Run::new(inside)
        .args(maturin)
        .args([Path::new("--interpreter"), inside, Path::new("--out"), wheels])
        .dir(&workspace.root)
        .env("CARGO", workspace.cargo_path())
        .env("CARGO_TARGET_DIR", &workspace.target)
        .run()?;
    let found = std::fs::read_dir(wheels)?.filter_map(Result::ok).map(|entry| entry.path()).next();
    found.with_context(|| format!("maturin left no wheel in {}", wheels.display()))
}

/// The example programs of the package.
fn examples(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(root.join("python/examples"))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "py"))
        .collect();
    paths.sort();
    Ok(paths)
}

/// A Python that is there, new enough, and can make virtual environments.
fn check(python: &str) -> anyhow::Result<()> {
    let (major, minor) = OLDEST;
    let advice = format!(
        "the Python package needs Python >= {major}.{minor} with venv: install them (Debian and Ubuntu: \
         apt-get install python3-venv), or name another interpreter in the variable PYTHON"
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

/// The interpreter of a virtual environment.
fn inside(venv: &Path) -> PathBuf {
    if cfg!(windows) { venv.join("Scripts/python.exe") } else { venv.join("bin/python") }
}
