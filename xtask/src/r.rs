//! The R package: what would be released, built and checked by R itself, and the examples of its page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::cargo::{Run, Workspace};
use crate::{crates, python, roxygen, versions};

/// The crates whose sources the package carries, each in a folder of its name, beside that of the package itself.
fn packed() -> impl Iterator<Item = &'static str> {
    crates::LIBRARY.iter().copied().chain(["orthopt-data"])
}

/// Addition to the manifest of a crate outside the workspace, with the library beside it.
fn alone() -> String {
    let line = |name| format!("{name} = {{ path = \"../{name}\" }}\n");
    format!("\n[workspace]\n\n[patch.crates-io]\n{}", packed().map(line).collect::<String>())
}

/// Compares the help pages, builds the package and lets `R CMD check --as-cran` install it, run its examples and its
/// tests; errors and warnings fail, notes are shown (CONTRIBUTING.md has those that remain). Then runs the examples of
/// `docs/r.md` and of `README.md`.
///
/// Left out where there is no R. The static library comes from the workspace: compiled once, with what the tests
/// have built.
pub fn test(workspace: &Workspace) -> anyhow::Result<()> {
    if !answers(&["--version"]) {
        eprintln!("the R package is left out: there is no R on the PATH");
        return Ok(());
    }
    roxygen::check(workspace)?;
    // the other checks see the crate without its feature, which is empty
    let clippy = ["clippy", "--package", "orthopt-r", "--features", "r,shared-build", "--", "-D", "warnings"];
    workspace.cargo(&clippy).run()?;
    let work = workspace.target.join("r");
    let package = stage(workspace, &work)?;
    // without knitr there are no vignettes, and nothing else is missing
    let knitr = answers(&["-s", "-e", "stopifnot(requireNamespace('knitr'), requireNamespace('markdown'))"]);
    let (build, check): (&[&str], &[&str]) = match knitr {
        true => (&[], &["--as-cran", "--no-manual"]),
        false => (&["--no-build-vignettes"], &["--as-cran", "--no-manual", "--ignore-vignettes"]),
    };
    r_cmd(workspace, &work, "build").args(build).args([&package]).run()?;
    let tarball = newest_tarball(&work)?;
    no_repository(&work)?;
    r_cmd(workspace, &work, "check").args(check).args([&tarball]).run()?;
    judge(&work.join("orthopt.Rcheck/00check.log"))?;
    examples(workspace, &work)?;
    front_page(workspace, &work)?;
    python::same_in_r(workspace, &work.join("orthopt.Rcheck"))
}

/// Packs the sources of the package with all crates that they need, and installs them without a network; nothing where
/// there is no R.
pub fn sources(workspace: &Workspace, profile: &str) -> anyhow::Result<Vec<PathBuf>> {
    if !answers(&["--version"]) {
        eprintln!("the R package is left out: there is no R on the PATH");
        return Ok(Vec::new());
    }
    let work = workspace.target.join("r-release");
    let package = stage(workspace, &work)?;
    let rust = package.join("src/rust");
    let vendor = ["vendor", "--quiet", "--locked", "--manifest-path"];
    workspace.cargo(&vendor).args([rust.join("Cargo.toml"), rust.join("vendor")]).run()?;
    Run::new("tar").args(["-cJf", "vendor.tar.xz", "vendor"]).dir(&rust).run()?;
    fs::remove_dir_all(rust.join("vendor"))?;
    let library = work.join("library");
    fs::create_dir_all(&library)?;
    Run::new("R").args(["CMD", "build", "--no-build-vignettes"]).args([&package]).dir(&work).run()?;
    let tarball = newest_tarball(&work)?;
    Run::new("R")
        .args(["CMD", "INSTALL", "--library=library"])
        .args([&tarball])
        .dir(&work)
        .env("CARGO", workspace.cargo_path())
        .env("CARGO_NET_OFFLINE", "true")
        .env("CARGO_HOME", work.join("cargo")) // crates that this machine has are not to be found
        .env("ORTHOPT_PROFILE", if profile == "dev" { "dev" } else { "release" })
        .run()?;
    Run::new("R").args(["-s", "--vanilla", "-e", SOLVE]).dir(&work).env("R_LIBS", &library).run()?;
    Ok(vec![tarball])
}

/// Test of an installed package: the problem of the README's first page, to the F that is proved to be the lowest.
const SOLVE: &str = "library(orthopt); found <- sparse_pca(covmat = pitprops, ncomp = 3, lambda = 0.1); \
    stopifnot(abs(found$objective + 2.636819401) < 1e-8)";

/// True if R runs and succeeds.
fn answers(args: &[&str]) -> bool {
    Command::new("R").args(args).output().is_ok_and(|output| output.status.success())
}

/// `R CMD`, which compiles with the cargo, the profile and the folder of the tests.
fn r_cmd(workspace: &Workspace, work: &Path, command: &str) -> Run {
    Run::new("R")
        .args(["CMD", command])
        .dir(work)
        .env("CARGO", workspace.cargo_path())
        .env("CARGO_TARGET_DIR", &workspace.target)
        .env("ORTHOPT_MANIFEST", workspace.root.join("r/src/rust/Cargo.toml"))
        .env("ORTHOPT_PROFILE", "dev")
        .env("ORTHOPT_CARGO_FLAGS", "--features shared-build")
        .env("_R_CHECK_FORCE_SUGGESTS_", "false")
        .env("_R_CHECK_CRAN_INCOMING_REMOTE_", "false") // no network is needed
        .env("R_CRAN_WEB", format!("file://{}", work.join("cran").display())) // see no_repository
        .env("_R_CHECK_SYSTEM_CLOCK_", "false")
        .env("_R_CHECK_EXAMPLE_TIMING_THRESHOLD_", "600") // of the profile for tests, perhaps beside others
        .env("R_QPDF", "true") // there is no PDF whose size it could reduce
}

/// A list of packages without any: `--as-cran` asks it for the maintainers of suggested packages that are not installed.
fn no_repository(work: &Path) -> anyhow::Result<()> {
    const LIST: &str = "saveRDS(data.frame(Package = character(), Maintainer = character()), 'packages.rds')";
    let folder = work.join("cran/web/packages");
    fs::create_dir_all(&folder)?;
    Run::new("R").args(["-s", "--vanilla", "-e", LIST]).dir(&folder).run()
}

/// The sources of the package with all Rust code in it, in a folder `orthopt` of `work`.
///
/// # Errors
/// Crates that cannot be packed, files that cannot be written.
fn stage(workspace: &Workspace, work: &Path) -> anyhow::Result<PathBuf> {
    let package = work.join("orthopt");
    if work.exists() {
        fs::remove_dir_all(work)?;
    }
    roxygen::copy(&workspace.root.join("r"), &package)?;
    versions::check(workspace)?;
    let version = versions::version(workspace)?;
    let mut pack = workspace.cargo(&["package", "--quiet", "--no-verify", "--allow-dirty"]);
    for name in packed().chain(["orthopt-r"]) {
        pack = pack.args(["-p", name]);
    }
    pack.run()?;
    fs::remove_dir_all(package.join("src/rust"))?;
    for name in packed().chain(["orthopt-r"]) {
        let folder = if name == "orthopt-r" { "rust" } else { name };
        unpack(workspace, &format!("{name}-{version}"), work, &package.join("src").join(folder))?;
    }
    let manifest = package.join("src/rust/Cargo.toml");
    fs::write(&manifest, fs::read_to_string(&manifest)? + &alone())?;
    // the sources must be complete: cargo finds every crate and every target of them
    let facts = ["metadata", "--quiet", "--format-version", "1", "--manifest-path"];
    let output = workspace.cargo(&facts).args([&manifest]).0.output().context("cannot run cargo metadata")?;
    if !output.status.success() {
        bail!("the crates in the R package do not fit: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(package)
}

/// Unpacks what `cargo package` has made of a crate.
fn unpack(workspace: &Workspace, stem: &str, work: &Path, to: &Path) -> anyhow::Result<()> {
    let archive = workspace.target.join("package").join(format!("{stem}.crate"));
    Run::new("tar").args([Path::new("-xzf"), &archive, Path::new("-C"), work]).run()?;
    fs::rename(work.join(stem), to).with_context(|| format!("{} holds no {stem}", archive.display()))?;
    for extra in [".cargo_vcs_info.json", "Cargo.toml.orig"] {
        if to.join(extra).exists() {
            fs::remove_file(to.join(extra))?;
        }
    }
    Ok(())
}

/// Package that `R CMD build` has made.
fn newest_tarball(work: &Path) -> anyhow::Result<PathBuf> {
    let mut paths = fs::read_dir(work)?.filter_map(Result::ok).map(|entry| entry.path());
    let found = paths.find(|path| path.extension().is_some_and(|e| e == "gz"));
    found.with_context(|| format!("R CMD build left no package in {}", work.display()))
}

/// `R CMD check` ends well with warnings, too.
fn judge(log: &Path) -> anyhow::Result<()> {
    let text = fs::read_to_string(log).with_context(|| format!("there is no {}", log.display()))?;
    let status = text.lines().rev().find_map(|line| line.strip_prefix("Status: "));
    let status = status.with_context(|| format!("{} has no status", log.display()))?;
    if status.contains("WARNING") || status.contains("ERROR") {
        bail!("R CMD check: {status}; see {}", log.display());
    }
    Ok(())
}

/// Runs the code of the page with the package that has been checked.
fn examples(workspace: &Workspace, work: &Path) -> anyhow::Result<()> {
    let page = fs::read_to_string(workspace.root.join("docs/r.md")).context("docs/r.md")?;
    let blocks = page.split("```r\n").skip(1).filter_map(|rest| rest.split("```").next());
    let script = work.join("page.R");
    fs::write(&script, blocks.collect::<Vec<_>>().join("\n"))?;
    let quiet = ["-s", "--vanilla", "-f"];
    let run = Run::new("R").args(quiet).args([&script]).dir(work);
    run.env("R_LIBS", work.join("orthopt.Rcheck")).run().context("the examples of docs/r.md")
}

/// Runs the session of `README.md` with the package that has been checked, and compares what it prints.
fn front_page(workspace: &Workspace, work: &Path) -> anyhow::Result<()> {
    let page = fs::read_to_string(workspace.root.join("README.md")).context("README.md")?;
    let session = page.split("```r\n").nth(1).and_then(|rest| rest.split("```").next());
    let (code, shown): (Vec<_>, Vec<_>) =
        session.context("README.md has no R")?.lines().partition(|line| line.starts_with("> "));
    let script = work.join("front.R");
    fs::write(&script, code.iter().map(|line| format!("{}\n", &line[2..])).collect::<String>())?;
    let mut run = Run::new("R").args(["-s", "--vanilla", "-f"]).args([&script]).dir(work);
    let output = run.0.env("R_LIBS", work.join("orthopt.Rcheck")).output().context("cannot run R")?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let printed: Vec<_> = printed.lines().map(str::trim_end).collect();
    if printed != shown {
        bail!("README.md shows another output of R than\n{}", printed.join("\n"));
    }
    Ok(())
}
