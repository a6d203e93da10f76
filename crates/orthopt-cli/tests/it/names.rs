//! `list`, `completions`, help, and readers that go away.

use std::process::{Command, Stdio};

use crate::common::{orthopt, stdout};
use predicates::prelude::*;

#[test]
fn list_shows_the_registries() {
    let problems = stdout(&mut orthopt(&["list", "problems"]));
    assert!(
        problems.lines().any(|line| line.starts_with("l0-pca ") && line.contains("  sparse PCA: ")),
        "{problems}"
    );
    let all = stdout(&mut orthopt(&["list"]));
    for kind in
        ["problems", "solvers", "penalties", "starts", "working-sets", "formats", "generators", "builtins"]
    {
        assert!(all.lines().any(|line| line == kind), "{kind}");
        let one = stdout(&mut orthopt(&["list", kind]));
        assert!(one.lines().all(|line| all.contains(line)), "{kind}");
    }
    orthopt(&["list", "colours"]).assert().code(2).stderr(predicate::str::contains("possible values"));
}

#[test]
fn completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        orthopt(&["completions", shell])
            .assert()
            .success()
            .stdout(predicate::str::contains("working-set"))
            .stdout(predicate::str::contains("orthopt"));
    }
}

#[test]
fn help_has_examples() {
    for args in [
        vec!["--help"],
        vec!["solve", "--help"],
        vec!["certify", "--help"],
        vec!["data", "info", "--help"],
        vec!["data", "convert", "--help"],
        vec!["data", "generate", "--help"],
        vec!["list", "--help"],
        vec!["completions", "--help"],
    ] {
        orthopt(&args).assert().success().stdout(predicate::str::contains("\nExamples:\n"));
    }
    for args in
        [&["--help"][..], &["solve", "--help-all"], &["compare", "--help-all"], &["certify", "--help-all"]]
    {
        let help = stdout(&mut orthopt(args));
        assert!(help.contains("\nExit codes:\n  0 ") && help.contains("\n  130  interrupted"), "{help}");
    }
    orthopt(&["--version"]).assert().success().stdout(predicate::str::starts_with("orthopt "));
}

#[test]
fn examples_in_help_are_commands_that_exist() {
    let help = stdout(&mut orthopt(&["--help"])) + &stdout(&mut orthopt(&["solve", "--help-all"]));
    let builtin: Vec<&str> = help
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("orthopt solve l0-pca builtin:"))
        .collect();
    assert!(builtin.len() >= 2);
    for line in builtin {
        let args: Vec<&str> = line.split_whitespace().skip(1).collect();
        orthopt(&args).assert().success();
    }
}

#[test]
fn a_reader_that_goes_away_is_success() {
    for args in [&["list"][..], &["completions", "bash"], &["solve", "pca", "builtin:pitprops"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_orthopt"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take()); // closes the pipe
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn a_log_can_be_asked_for() {
    orthopt(&["solve", "pca", "builtin:pitprops", "-r", "1"])
        .env("ORTHOPT_LOG", "info")
        .assert()
        .success()
        .stderr(predicate::str::contains("status="));
}
