//! The C library and the package of MATLAB and Octave.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::cargo::{Run, Workspace};
use crate::venv::Venv;

/// Pages whose examples are run.
const PAGES: [&str; 2] = ["docs/octave.md", "docs/manopt.md"];

/// The header and the programs in C, under AddressSanitizer or valgrind.
pub fn of_c(workspace: &Workspace) -> anyhow::Result<()> {
    workspace.cargo(&["test", "--workspace", "--test", "capi"]).run()
}

/// Compiles the half that is C against the library of the tests, runs the tests of the package and the examples of its pages,
/// and compares the bits of X with those of C, Python and the command, where `cargo xtask python` has left an environment.
/// Left out where there is no Octave.
pub fn test(workspace: &Workspace) -> anyhow::Result<()> {
    let there = |program: &str, option: &str| {
        Command::new(program).arg(option).output().is_ok_and(|output| output.status.success())
    };
    if !there("octave", "--version") || !there("mkoctfile", "--version") {
        eprintln!(
            "Octave is left out: there is no octave and mkoctfile on the PATH (Debian: octave, octave-dev)"
        );
        return Ok(());
    }
    workspace.cargo(&["test", "--workspace", "--test", "capi", "--no-run"]).run()?;
    let work = workspace.target.join("octave");
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    fs::create_dir_all(&work)?;
    let package = workspace.root.join("octave");
    let library = library(workspace);
    let build = format!("addpath ('{}'); build ('{}')", package.display(), library.display());
    octave(&work).args(["--eval", &build]).run()?;
    octave(&work).args([package.join("tests/run.m")]).run()?;
    interrupted(&package, &work)?;
    for page in PAGES {
        let script = work.join("page.m");
        fs::write(&script, examples(&workspace.root.join(page), &package)?)?;
        octave(&work).args([&script]).run().with_context(|| format!("the examples of {page}"))?;
    }
    same_bits(workspace, &work)
}

/// Where the tests have built the C library.
fn library(workspace: &Workspace) -> PathBuf {
    workspace.target.join("debug").join("deps")
}

/// Octave in a folder, without the path of cargo, on which an older library may lie.
fn octave(work: &Path) -> Run {
    let mut run = Run::new("octave").args(["--no-gui", "--quiet", "--no-init-file"]).dir(work);
    run.0.env_remove("LD_LIBRARY_PATH");
    run
}

/// The code between ```` ```octave ```` marks of a page, with the package on the path.
fn examples(page: &Path, package: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(page).with_context(|| page.display().to_string())?;
    let blocks = text.split("```octave\n").skip(1).filter_map(|rest| rest.split("```").next());
    let blocks: Vec<&str> = blocks.collect();
    if blocks.is_empty() {
        bail!("{} has no examples", page.display());
    }
    Ok(format!("addpath ('{}');\n{}", package.display(), blocks.join("\n")))
}

/// Ctrl-C ends a run of ten minutes with the best X so far.
fn interrupted(package: &Path, work: &Path) -> anyhow::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let mut run = octave(work).args([package.join("tests/interrupt.m")]);
    let mut child = run.0.stdout(Stdio::piped()).spawn().context("cannot run octave")?;
    let mut said = String::new();
    let mut out = BufReader::new(child.stdout.take().context("no output of octave")?);
    out.read_line(&mut said)?; // "running"
    thread::sleep(Duration::from_secs(3));
    let began = Instant::now();
    Run::new("kill").args(["-INT", &child.id().to_string()]).run()?;
    out.read_to_string(&mut said)?;
    child.wait()?;
    if !said.contains("interrupted 300 20") || began.elapsed() > Duration::from_secs(120) {
        bail!("Ctrl-C did not end a run of Octave with what it had: {said}");
    }
    Ok(())
}

/// The same bits of X at four doors.
fn same_bits(workspace: &Workspace, work: &Path) -> anyhow::Result<()> {
    let folder = workspace.target.join("python").join("venv");
    if !folder.exists() {
        eprintln!(
            "the bits of C and Octave are not compared with those of Python: cargo xtask python has not been run"
        );
        return Ok(());
    }
    let program = bits(workspace, work)?;
    let mut run = Venv::inside(&folder).module("pytest").args(["-q", "python/tests/test_same_bits_c.py"]);
    run.0.env_remove("LD_LIBRARY_PATH");
    run.dir(&workspace.root)
        .env("ORTHOPT_CLI", workspace.program("orthopt"))
        .env("ORTHOPT_C_BITS", program)
        .env("ORTHOPT_OCTAVE", "octave")
        .run()
        .context("C or Octave has other bits of X")
}

/// The program in C that prints the bits of X.
fn bits(workspace: &Workspace, work: &Path) -> anyhow::Result<PathBuf> {
    let (source, program) = (workspace.root.join("crates/orthopt-capi"), work.join("bits"));
    let library = library(workspace);
    Run::new("cc")
        .args([&source.join("c/bits.c"), Path::new("-o"), &program])
        .args([Path::new("-I"), &source.join("include"), Path::new("-L"), &library])
        .args(["-lorthopt_capi", &format!("-Wl,-rpath,{}", library.display())])
        .run()?;
    Ok(program)
}
