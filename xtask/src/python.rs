//! The Python package: a wheel in a fresh virtual environment, its tests, doctests and examples.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::cargo::{Run, Workspace};
use crate::venv::Venv;

/// Pages whose examples are run as doctests.
const PAGES: [&str; 9] = [
    "README.md",
    "python/README.md",
    "docs/index.md",
    "docs/python.md",
    "docs/minimize.md",
    "docs/gallery-minimize.md",
    "docs/bounds.md",
    "docs/beyond-memory.md",
    "docs/for-ml-researchers.md",
];

/// Arguments of cargo for the programs that the tests compare with, built as `cargo xtask test` builds them.
pub const PROGRAMS: [&str; 6] = ["build", "--workspace", "--bin", "orthopt", "--example", "same_x"];

/// Builds the wheel, installs it with everything its tests need, and runs them. The command and the
/// example that they compare with have been built before.
pub fn test(workspace: &Workspace) -> anyhow::Result<()> {
    let programs = [workspace.program("orthopt"), workspace.program("examples/same_x")];
    if let Some(missing) = programs.iter().find(|path| !path.exists()) {
        bail!("{} has not been built", missing.display());
    }
    let work = workspace.target.join("python");
    let venv = Venv::fresh(&work.join("venv"))?;
    venv.install()
        .args(["maturin>=1.9.4,<2"])
        .run()
        .context("cannot install maturin; pip needs a package index")?;
    let wheel = build(workspace, &venv, &work.join("wheels"))?;
    venv.install().args([format!("{}[test]", wheel.display())]).run()?;

    let pytest = |args: &[&str]| {
        let run = venv.module("pytest").args(["-q"]).args(args).dir(&workspace.root);
        run.env("ORTHOPT_CLI", &programs[0])
            .env("ORTHOPT_SAME_X", &programs[1])
            .env("MPLBACKEND", "Agg")
            .run()
    };
    pytest(&["python/tests", "-n", "auto", "--dist", "loadfile"])?;
    // one process each
    let pages = || {
        stubs(workspace, &venv, &work)?;
        pytest(&["--doctest-modules", "--pyargs", "orthopt"])?;
        pytest(&PAGES)?;
        venv.module("doctest").args(["docs/check_dual.py"]).dir(&workspace.root).run()?;
        for example in examples(&workspace.root)? {
            eprintln!("example {}", example.display());
            Run::new(venv.path()).args([&example]).dir(&work).env("MPLBACKEND", "Agg").run()?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let beside = scope.spawn(|| random_commands(workspace, &venv, &["1".into()]));
        let done: anyhow::Result<()> = pages();
        beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).and(done)
    })
}

/// Asks R, with the package in this library, what the tests have asked the command: the same answers. Left out where the
/// tests of Python have left no environment.
pub fn same_in_r(workspace: &Workspace, library: &Path) -> anyhow::Result<()> {
    let folder = workspace.target.join("python").join("venv");
    if !folder.exists() {
        eprintln!(
            "the answers of R are not compared with those of the command: cargo xtask python has not been run"
        );
        return Ok(());
    }
    let run = Venv::inside(&folder).module("pytest").args([
        "-q",
        "python/tests/test_doors.py",
        "python/tests/test_cases.py",
        "-k",
        "test_r and not test_rust",
    ]);
    run.dir(&workspace.root)
        .env("ORTHOPT_CLI", workspace.program("orthopt"))
        .env("ORTHOPT_R_LIB", library)
        .run()
        .context("R answers otherwise than the command")
}

/// Random command lines, and what they say recomputed with NumPy; first the checks themselves, which have to refuse wrong results.
fn random_commands(workspace: &Workspace, venv: &Venv, given: &[String]) -> anyhow::Result<()> {
    let fuzz = workspace.root.join("xtask/fuzz");
    Run::new(venv.path()).args([fuzz.join("planted.py")]).run()?;
    Run::new(venv.path()).args([&fuzz.join("commands.py"), &workspace.program("orthopt")]).args(given).run()
}

/// The same alone: builds the command, and an environment with NumPy. `given` are the minutes, the seed and options of the script.
///
/// # Errors
/// A command line failed.
pub fn fuzz_commands(workspace: &Workspace, given: &[String]) -> anyhow::Result<()> {
    workspace.cargo(&PROGRAMS).run()?;
    let venv = Venv::fresh(&workspace.target.join("python").join("numpy"))?;
    venv.install().args(["numpy"]).run()?;
    random_commands(workspace, &venv, given)
}

/// Random calls of the Python module, and what they give recomputed with NumPy. `given` are their number, the seed and options of the script.
///
/// # Errors
/// A call failed.
pub fn fuzz_calls(workspace: &Workspace, given: &[String]) -> anyhow::Result<()> {
    let work = workspace.target.join("python");
    let venv = Venv::fresh(&work.join("calls"))?;
    venv.install().args(["maturin>=1.9.4,<2"]).run()?;
    let wheel = build(workspace, &venv, &work.join("wheels"))?;
    venv.install().args([&wheel]).run()?;
    Run::new(venv.path()).args([workspace.root.join("xtask/fuzz/calls.py")]).args(given).run()
}

/// Checks that the stubs agree with the installed package.
fn stubs(workspace: &Workspace, venv: &Venv, work: &Path) -> anyhow::Result<()> {
    let file = |name: &str| workspace.root.join("python").join(name);
    let settings = [file("stubtest.ini"), file("stubtest-allow.txt")];
    venv.module("mypy.stubtest")
        .args(["orthopt", "--concise"])
        .args([Path::new("--mypy-config-file"), &settings[0], Path::new("--allowlist"), &settings[1]])
        .dir(work)
        .run()
}

/// The wheel of the dev profile. With the feature `shared-build` cargo takes the dependencies as the
/// tests of the workspace have built them, instead of building all of them again.
pub fn build(workspace: &Workspace, venv: &Venv, wheels: &Path) -> anyhow::Result<PathBuf> {
    if wheels.exists() {
        std::fs::remove_dir_all(wheels)?; // wheels of other versions
    }
    venv.module("maturin")
        .args(["build", "--quiet", "--profile", "dev", "--features", "shared-build"])
        .args([Path::new("--interpreter"), venv.path(), Path::new("--out"), wheels])
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
