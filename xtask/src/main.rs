//! `cargo xtask test`: everything CI runs, in order, stopping at the first failure.
//! `cargo xtask python`: the part of it that is about the Python package.

mod python;

use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, bail};

/// One thing to run: a name, the command, and variables for its environment.
struct Step {
    name: &'static str,
    command: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
}

/// What `cargo xtask test` runs. A new check is one line.
#[rustfmt::skip]
const TEST: &[Step] = &[
    Step { name: "format", command: &["cargo", "fmt", "--all", "--check"], env: &[] },
    Step { name: "clippy", command: &["cargo", "clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], env: &[] },
    Step { name: "tests", command: &["cargo", "test", "--workspace"], env: &[] },
    Step { name: "docs", command: &["cargo", "doc", "--workspace", "--no-deps"], env: &[("RUSTDOCFLAGS", "-D warnings")] },
];

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let result = match (args.next().as_deref(), args.next()) {
        (Some("test"), None) => run_all(TEST),
        (Some("python"), None) => python(),
        _ => {
            eprintln!("usage: cargo xtask test|python");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run_all(steps: &[Step]) -> anyhow::Result<()> {
    let start = Instant::now();
    let mut done = Vec::new();
    for step in steps {
        eprintln!("== {}: {}", step.name, step.command.join(" "));
        let began = Instant::now();
        run(step).with_context(|| {
            format!("{} failed after {} of {} steps passed", step.name, done.len(), steps.len())
        })?;
        let seconds = began.elapsed().as_secs_f64();
        eprintln!("== {}: passed in {seconds:.1} s", step.name);
        done.push(step.name);
    }
    eprintln!("== python: the wheel in a fresh virtual environment, tests, doctests, examples");
    python().with_context(|| format!("python failed after {} steps passed", done.len()))?;
    done.push("python");
    println!("xtask: all passed ({}) in {:.1} s", done.join(", "), start.elapsed().as_secs_f64());
    Ok(())
}

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn python() -> anyhow::Result<()> {
    python::test(&root().canonicalize()?, &resolve("cargo"))
}

fn run(step: &Step) -> anyhow::Result<()> {
    let [program, args @ ..] = step.command else { bail!("an empty command") };
    let status = Command::new(resolve(program))
        .args(args)
        .envs(step.env.iter().copied())
        .current_dir(root())
        .status()
        .with_context(|| format!("cannot run {program}"))?;
    if !status.success() {
        bail!("{} ended with {status}", step.command.join(" "));
    }
    Ok(())
}

/// The cargo that runs us, so that toolchain overrides hold; other programs from PATH.
fn resolve(program: &str) -> String {
    match std::env::var("CARGO") {
        Ok(cargo) if program == "cargo" => cargo,
        _ => program.into(),
    }
}
