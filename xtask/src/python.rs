//! The Python package: a wheel in a fresh virtual environment, its tests, doctests and examples.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

/// The oldest Python that the wheel runs on.
const OLDEST: (u32, u32) = (3, 10);

/// Builds the wheel, installs it with everything its tests need, and runs them.
///
/// The interpreter is `python3`, or the one that the variable `PYTHON` names. Packages come from
/// where pip is configured to find them.
pub fn test(root: &Path, cargo: &str) -> anyhow::Result<()> {
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    check(&python)?;
    let work = root.join("target/python");
    let (venv, wheels) = (work.join("venv"), work.join("wheels"));
    run(Command::new(&python).args(["-m", "venv", "--clear"]).arg(&venv))?;
    let inside = inside(&venv);
    let pip = || {
        let mut command = Command::new(&inside);
        command.args(["-m", "pip", "install", "--quiet"]);
        command
    };
    run(pip().arg("maturin>=1.7,<2")).context("cannot install maturin; pip needs a package index")?;

    if wheels.exists() {
        std::fs::remove_dir_all(&wheels)?; // wheels of other versions
    }
    let mut build = Command::new(&inside);
    build.args(["-m", "maturin", "build", "--quiet", "--profile", "dev", "--interpreter"]).arg(&inside);
    run(build.arg("--out").arg(&wheels).current_dir(root).env("CARGO", cargo))?;
    let wheel = std::fs::read_dir(&wheels)?.filter_map(Result::ok).map(|entry| entry.path()).next();
    let Some(wheel) = wheel else { bail!("maturin left no wheel in {}", wheels.display()) };
    run(pip().arg(format!("{}[test]", wheel.display())))?;

    // what tests compare with, bit by bit
    run(Command::new(cargo).args(["build", "--quiet", "-p", "orthopt-cli"]).current_dir(root))?;
    let example = ["build", "--quiet", "-p", "orthopt", "--example", "same_x"];
    run(Command::new(cargo).args(example).current_dir(root))?;

    let pytest = |args: &[&str]| {
        let mut command = Command::new(&inside);
        command.args(["-m", "pytest", "-q"]).args(args).current_dir(root);
        command.env("ORTHOPT_CLI", program(root, "orthopt"));
        command.env("ORTHOPT_SAME_X", program(root, "examples/same_x"));
        command.env("MPLBACKEND", "Agg");
        command
    };
    run(&mut pytest(&["python/tests"]))?;
    run(&mut pytest(&["--doctest-modules", "--pyargs", "orthopt"]))?;
    run(&mut pytest(&["docs/python.md"]))?;
    let mut examples: Vec<PathBuf> = std::fs::read_dir(root.join("python/examples"))?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "py"))
        .collect();
    examples.sort();
    for example in examples {
        eprintln!("== example {}", example.display());
        run(Command::new(&inside).arg(&example).current_dir(&work).env("MPLBACKEND", "Agg"))?;
    }
    Ok(())
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

/// A program of the dev profile.
fn program(root: &Path, name: &str) -> PathBuf {
    root.join("target/debug").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let shown = format!("{command:?}");
    let status = command.status().with_context(|| format!("cannot run {shown}"))?;
    if !status.success() {
        bail!("{shown} ended with {status}");
    }
    Ok(())
}
