//! `list`, `completions`, help, and readers that go away.

use std::process::{Command, Stdio};

use crate::common::{Dir, orthopt, stdout};
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
        let script = stdout(&mut orthopt(&["completions", shell]));
        assert!(script.contains("ORTHOPT_COMPLETE") && script.contains("orthopt"), "{shell}");
        assert!(script.lines().count() < 100, "{shell}");
        // the script's question, with nothing typed
        let mut asked = orthopt(&["--", "orthopt", ""]);
        asked.env("ORTHOPT_COMPLETE", shell).env("_CLAP_COMPLETE_INDEX", "1");
        assert!(stdout(&mut asked).contains("explore"), "{shell}");
    }
    let unknown = orthopt(&["--", "orthopt", ""]).env("ORTHOPT_COMPLETE", "cmd").output().unwrap();
    let said = String::from_utf8(unknown.stderr).unwrap();
    assert!(!unknown.status.success() && said.contains("unknown shell `cmd`"), "{said}");
}

/// What the script of bash gets for words of which the last one is not finished.
fn completed(words: &[&str], dir: &Dir) -> Vec<String> {
    let index = (words.len() - 1).to_string();
    let mut asked = dir.orthopt(&[&["--"], words].concat());
    asked.env("ORTHOPT_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index).env("_CLAP_IFS", "\n");
    stdout(&mut asked).lines().map(String::from).collect()
}

#[test]
fn completions_are_commands_options_names_and_files() {
    let dir = Dir::new();
    dir.write("table.csv", "a,b\n1,2\n");
    assert_eq!(completed(&["orthopt", "so"], &dir), ["solve"]);
    assert_eq!(completed(&["orthopt", "solve", "l0"], &dir), ["l0-pca"]);
    assert_eq!(completed(&["orthopt", "solve", "l0-pca", "tab"], &dir), ["table.csv"]);
    assert_eq!(
        completed(&["orthopt", "solve", "l0-pca", "table.csv", "--plot-corr"], &dir),
        ["--plot-correlations"]
    );
    assert_eq!(
        completed(&["orthopt", "solve", "l0-pca", "table.csv", "--working-set", "greedy-s"], &dir),
        ["greedy-sv"]
    );
    assert_eq!(completed(&["orthopt", "list", "sol"], &dir), ["solvers", "solver"]); // the alias takes a name
    let options = completed(&["orthopt", "solve", "--"], &dir);
    assert!(options.len() > 80 && options.contains(&"--nonzeros".into()), "{options:?}");
}

/// The script in bash itself, where there is one.
#[test]
fn bash_completes() {
    if !Command::new("bash").arg("--version").output().is_ok_and(|o| o.status.success()) {
        eprintln!("skipped: no bash");
        return;
    }
    let dir = Dir::new();
    let script = "source <(orthopt completions bash); COMP_WORDS=(orthopt solve l0); COMP_CWORD=2; COMP_TYPE=9; \
                  _clap_complete_orthopt orthopt l0 solve; echo \"${COMPREPLY[*]}\"";
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_orthopt")).parent().unwrap().display();
    let said = Command::new("bash")
        .args(["--norc", "-c", script])
        .env("PATH", format!("{folder}:{}", std::env::var("PATH").unwrap()))
        .current_dir(dir.path(""))
        .output()
        .unwrap();
    let said = (
        String::from_utf8_lossy(&said.stdout).into_owned(),
        String::from_utf8_lossy(&said.stderr).into_owned(),
    );
    assert_eq!(said.0.trim(), "l0-pca", "{}", said.1);
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
