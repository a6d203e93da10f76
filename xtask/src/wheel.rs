//! Packages published for Python: a wheel for all Pythons from the oldest one on, and the sources, each of them
//! installed in a fresh virtual environment, where a small problem is solved.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::cargo::{Run, Workspace};
use crate::venv::Venv;

/// The largest file that is let out.
const MOST: u64 = 15_000_000;

/// Test of an installed package: the problem of the README's first page, to the F that is proved to be the lowest.
const SOLVE: &str = "\
import orthopt
found = orthopt.solve('l0-pca', 'builtin:pitprops', 3, 0.1, certify=True)
assert abs(found.objective + 2.636819401) < 1e-8, found.objective
print('orthopt', orthopt.__version__, 'solves: F =', found.objective)
";

/// Builds both with a profile of cargo, and tries them.
pub fn build(workspace: &Workspace, profile: &str) -> anyhow::Result<Vec<PathBuf>> {
    let work = workspace.target.join("wheel");
    let out = work.join("out");
    if out.exists() {
        std::fs::remove_dir_all(&out)?; // files of other versions
    }
    let venv = Venv::fresh(&work.join("venv"))?;
    let tools = ["maturin>=1.9.4,<2"];
    venv.install().args(tools).run().context("cannot install maturin; pip needs a package index")?;
    let maturin = |args: &[&str]| {
        let run = venv.module("maturin").args(args).args([Path::new("--out"), &out]);
        let run = run.dir(&workspace.root).env("CARGO", workspace.cargo_path());
        run.env("CARGO_TARGET_DIR", &workspace.target).run()
    };
    maturin(&[&["build", "--locked", "--profile", profile], manylinux()].concat())?;
    maturin(&["sdist"])?;
    let files = files(&out)?;
    for file in &files {
        let size = std::fs::metadata(file)?.len();
        if size > MOST {
            bail!("{} has {size} bytes, more than {MOST}", file.display());
        }
        try_out(workspace, &work.join("fresh"), file, profile)?;
        eprintln!("{}: {:.1} MB", file.display(), size as f64 / 1e6);
    }
    Ok(files)
}

/// With zig as the linker a wheel runs on Linux systems that are older than this one; without it, on those whose C
/// library is not older than the symbols that are used, which the wheel's name says.
fn manylinux() -> &'static [&'static str] {
    if has_zig() { &["--compatibility", "manylinux2014", "--zig"] } else { &[] }
}

/// True on Linux with zig on the path.
pub fn has_zig() -> bool {
    let zig = Run::new("zig").args(["version"]).0.output();
    cfg!(target_os = "linux") && zig.is_ok_and(|output| output.status.success())
}

fn files(out: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(out)?.filter_map(Result::ok).map(|entry| entry.path()).collect();
    files.sort();
    match &files[..] {
        [_, _] => Ok(files),
        _ => bail!("{} should have a wheel and the sources, and has {files:?}", out.display()),
    }
}

/// Installs the file in an environment of its own, away from the checkout, and solves something there. What pip
/// compiles for that goes where everything else goes: what the crates need is compiled once.
fn try_out(workspace: &Workspace, fresh: &Path, file: &Path, profile: &str) -> anyhow::Result<()> {
    let venv = Venv::fresh(fresh)?;
    venv.install()
        .args([file])
        .env("MATURIN_PEP517_ARGS", format!("--profile {profile}"))
        .env("CARGO_TARGET_DIR", &workspace.target)
        .dir(fresh)
        .run()?;
    Run::new(venv.path()).args(["-c", SOLVE]).dir(fresh).run()
}
