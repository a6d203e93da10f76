//! `cargo xtask test`: everything CI runs, in order, stopping at the first failure.
//! `cargo xtask python`, `r`, `capi`, `octave`, `site`: the parts of it that are about the Python package, the R package, the C
//! library, the package of MATLAB and Octave, and the documentation. `cargo xtask generate`: what is made of the table of options, and the lists of public items, which `cargo xtask public` compares. `cargo xtask results`: docs/benchmarks.md from bench/results. `cargo xtask fuzz
//! MINUTES [SEED]`: damaged files and random pairs for so long. `cargo xtask fuzz commands MINUTES [SEED]` and `fuzz calls COUNT [SEED]`: random command lines and calls of Python.
//! `cargo xtask wheel [PROFILE]`: what is published for Python. `cargo xtask release --dry-run [PROFILE]`: all that is published,
//! built and tried.

mod cargo;
mod conda;
mod crates;
mod deny;
mod fuzz;
mod octave;
mod packages;
mod public;
mod python;
mod r;
mod release;
mod results;
mod roxygen;
mod site;
mod spelling;
mod steps;
mod venv;
mod versions;
mod wheel;

use std::process::ExitCode;

use anyhow::bail;

use cargo::Workspace;
use steps::Steps;

/// The Rust code, then the Python and the R package, which share what the tests have built, then the documentation. A
/// new check is one line.
fn test(workspace: &Workspace) -> anyhow::Result<()> {
    let cargo = |args: &[&str]| workspace.cargo(args);
    let mut steps = Steps::new();
    steps.run("format", || cargo(&["fmt", "--all", "--check"]).run())?;
    steps
        .run("clippy", || cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]).run())?;
    steps.run("docs", || public::check(workspace))?;
    steps.run("deny", || deny::check(workspace))?;
    steps.run("packages", || packages::check(workspace))?;
    steps.run("results", || results::check(workspace))?;
    steps.run("build", || cargo(&["test", "--workspace", "--no-run"]).run())?;
    steps.run("tests", || tests(workspace))?;
    steps.run("features", || features(workspace))?;
    steps.run("data sets", || data_sets(workspace))?;
    steps.run("python", || python::test(workspace))?;
    steps.run("octave", || octave::test(workspace))?;
    steps.run_both(("r", &|| r::test(workspace)), ("site", &|| site::build(workspace)))?;
    steps.finish();
    Ok(())
}

/// All tests but those that need data sets: with nextest, where it is installed, and without.
fn tests(workspace: &Workspace) -> anyhow::Result<()> {
    if !workspace.has("nextest") {
        return workspace.cargo(&["test", "--workspace", "--quiet"]).run();
    }
    let quiet = ["--status-level", "fail", "--no-fail-fast"];
    workspace.cargo(&[&["nextest", "run", "--workspace"], &quiet[..]].concat()).run()?;
    workspace.cargo(&["test", "--workspace", "--doc", "--quiet"]).run()
}

/// The command without any feature; the readers behind the feature `parquet`, and the pictures behind `pictures`. Of the whole workspace, although a crate
/// each has the test: so cargo takes the dependencies as the other tests have built them.
fn features(workspace: &Workspace) -> anyhow::Result<()> {
    let plain = ["clippy", "-p", "orthopt-cli", "--no-default-features", "--", "-D", "warnings"];
    workspace.cargo(&plain).run()?;
    let with = ["--workspace", "--features", "orthopt-data/parquet,orthopt-cli/pictures"];
    let both = [&["test"], &with[..], &["--quiet", "--test", "parquet", "--test", "drawn"]].concat();
    workspace.cargo(&both).run()
}

/// The tests that are left out where the data sets are not beside the checkout.
fn data_sets(workspace: &Workspace) -> anyhow::Result<()> {
    let folder = workspace.data_sets();
    if !folder.is_dir() {
        eprintln!(
            "tests on data sets are left out: there is no {} (ORTHOPT_DATA names another folder)",
            folder.display()
        );
        return Ok(());
    }
    let ignored = ["test", "--workspace", "--tests", "--quiet", "--", "--ignored"];
    workspace.cargo(&ignored).env("ORTHOPT_DATA", &folder).run()
}

fn python_alone(workspace: &Workspace) -> anyhow::Result<()> {
    let mut steps = Steps::new();
    steps.run("build", || workspace.cargo(&python::PROGRAMS).run())?;
    steps.run("python", || python::test(workspace))?;
    steps.finish();
    Ok(())
}

fn r_alone(workspace: &Workspace) -> anyhow::Result<()> {
    let mut steps = Steps::new();
    steps.run("r", || r::test(workspace))?;
    steps.finish();
    Ok(())
}

fn octave_alone(workspace: &Workspace) -> anyhow::Result<()> {
    let mut steps = Steps::new();
    steps.run("octave", || octave::test(workspace))?;
    steps.finish();
    Ok(())
}

/// Documentation, keywords of Python and options of R, written by the test that compares them; R's help pages; the lists of
/// public items.
fn generate(workspace: &Workspace) -> anyhow::Result<()> {
    let test = ["test", "--workspace", "--test", "it", "--quiet", "files_made_of_the_table"];
    workspace.cargo(&test).env("ORTHOPT_GENERATE", "1").run()?;
    let header = ["test", "--workspace", "--test", "capi", "--quiet", "the_header"];
    workspace.cargo(&header).env("ORTHOPT_GENERATE", "1").run()?;
    roxygen::write(workspace)?;
    public::write(workspace)
}

const USAGE: &str = "usage: cargo xtask test|python|r|capi|octave|site|generate|public|results|wheel [PROFILE]|release --dry-run [PROFILE]|fuzz [commands] MINUTES [SEED]|fuzz calls COUNT [SEED]";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let (task, detail) = (args.next(), args.next());
    if let (Some("fuzz"), Some("commands" | "calls")) = (task.as_deref(), detail.as_deref()) {
        let given: Vec<String> = args.collect();
        let run = if detail.as_deref() == Some("calls") { python::fuzz_calls } else { python::fuzz_commands };
        return finish(|workspace| run(workspace, &given));
    }
    if let (Some("fuzz"), Some(minutes)) = (task.as_deref(), &detail) {
        return fuzz_for(minutes, args.next().as_deref().unwrap_or("0"), fuzz::run);
    }
    let task = match (task.as_deref(), detail) {
        (Some("test"), None) => test,
        (Some("python"), None) => python_alone,
        (Some("r"), None) => r_alone,
        (Some("capi"), None) => octave::of_c,
        (Some("octave"), None) => octave_alone,
        (Some("site"), None) => site::build,
        (Some("generate"), None) => generate,
        (Some("public"), None) => public::check,
        (Some("results"), None) => results::write,
        (Some("wheel"), profile) => {
            return finish(|workspace| {
                wheel::build(workspace, profile.as_deref().unwrap_or("dist")).map(drop)
            });
        }
        (Some("release"), Some(how)) if how == "--dry-run" => {
            let profile = args.next();
            return finish(|workspace| release::dry_run(workspace, profile.as_deref().unwrap_or("dist")));
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    finish(task)
}

fn fuzz_for(
    minutes: &str,
    seed: &str,
    run: impl FnOnce(&Workspace, f64, u64) -> anyhow::Result<()>,
) -> ExitCode {
    let (Ok(minutes), Ok(seed)) = (minutes.parse::<f64>(), seed.parse::<u64>()) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    finish(|workspace| run(workspace, minutes, seed))
}

/// Does it in the workspace, and says what failed.
fn finish(task: impl FnOnce(&Workspace) -> anyhow::Result<()>) -> ExitCode {
    let result = Workspace::find().and_then(|workspace| {
        if !workspace.root.join("Cargo.lock").exists() {
            bail!("{} has no Cargo.lock", workspace.root.display());
        }
        task(&workspace)
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: FAILED: {error:#}");
            ExitCode::FAILURE
        }
    }
}
