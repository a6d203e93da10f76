//! All fuzz targets (tests whose name has `fuzz_` in it), each in a process of its own, for so many minutes together.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::cargo::Workspace;

/// The packages that have targets.
const PACKAGES: [&str; 4] = ["orthopt-data", "orthopt", "orthopt-embed", "orthopt-cli"];

struct Target {
    program: PathBuf,
    folder: PathBuf,
    test: String,
}

/// Builds the tests, shares the minutes among the targets, and prints what each of them tried.
pub fn run(workspace: &Workspace, minutes: f64, seed: u64) -> anyhow::Result<()> {
    let targets = targets(workspace)?;
    let seconds = ((60.0 * minutes / targets.len() as f64) as u64).max(1);
    eprintln!("{} targets, {seconds} s each, seeds from {seed}", targets.len());
    println!("| target | inputs tried | slowest (ms) | peak (MB) | failures |");
    println!("|---|---|---|---|---|");
    let mut failed = Vec::new();
    let mut total = 0;
    for target in &targets {
        let Tried { words, passed } = try_for(target, seconds, seed)?;
        let word =
            |name: &str| words.iter().skip_while(|word| *word != name).nth(1).map_or("-", String::as_str);
        total += word("inputs").parse::<u64>().unwrap_or(0);
        let row = [word("inputs"), word("slowest_ms"), word("peak_mb"), if passed { "0" } else { "1" }];
        println!("| {} | {} |", target.test, row.join(" | "));
        if !passed {
            failed.push(target.test.as_str());
        }
    }
    println!("| all | {total} | | | {} |", failed.len());
    if !failed.is_empty() {
        bail!("a target ends at its first failure; what it said is above: {}", failed.join(", "));
    }
    Ok(())
}

/// The test programs with their fuzz targets.
fn targets(workspace: &Workspace) -> anyhow::Result<Vec<Target>> {
    let mut build = workspace.cargo(&["test", "--profile", "fuzz", "--no-run", "--tests"]);
    build = build.args(["--message-format", "json-render-diagnostics"]);
    for package in PACKAGES {
        build = build.args(["-p", package]);
    }
    let output = build.0.stderr(std::process::Stdio::inherit()).output().context("cannot run cargo test")?;
    if !output.status.success() {
        bail!("the tests cannot be built");
    }
    let mut targets = Vec::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let facts: Value = serde_json::from_str(line).context("cargo printed no JSON")?;
        let (Some(program), Some(manifest)) = (facts["executable"].as_str(), facts["manifest_path"].as_str())
        else {
            continue;
        };
        if facts["profile"]["test"] == true {
            let folder = PathBuf::from(manifest).parent().context("a manifest without a folder")?.into();
            targets.extend(of_program(program.into(), folder)?);
        }
    }
    if targets.is_empty() {
        bail!("no test is called fuzz_...");
    }
    Ok(targets)
}

fn of_program(program: PathBuf, folder: PathBuf) -> anyhow::Result<Vec<Target>> {
    let output = Command::new(&program).args(["--list", "--format", "terse", "fuzz_"]).output()?;
    let list = String::from_utf8_lossy(&output.stdout);
    let tests = list.lines().filter_map(|line| line.strip_suffix(": test"));
    let tests = tests.filter(|test| test.rsplit("::").next().is_some_and(|name| name.starts_with("fuzz_")));
    Ok(tests
        .map(|test| Target { program: program.clone(), folder: folder.clone(), test: test.into() })
        .collect())
}

/// Output of a target.
struct Tried {
    words: Vec<String>,
    passed: bool,
}

fn try_for(target: &Target, seconds: u64, seed: u64) -> anyhow::Result<Tried> {
    let output = Command::new(&target.program)
        .args(["--exact", &target.test, "--nocapture", "--test-threads", "1"])
        .current_dir(&target.folder)
        .env("ORTHOPT_FUZZ_SECONDS", seconds.to_string())
        .env("ORTHOPT_FUZZ_SEED", seed.to_string())
        .output()
        .with_context(|| format!("cannot run {}", target.program.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        eprintln!("{said}{}", String::from_utf8_lossy(&output.stderr));
    }
    // the name of the test may stand before it, in the same line
    let line = said.lines().filter_map(|line| line.split_once("fuzz: ")).next_back();
    let words = line.map_or(Vec::new(), |(_, line)| line.split(' ').map(String::from).collect());
    Ok(Tried { words, passed: output.status.success() })
}
