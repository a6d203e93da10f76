//! stdout that is full or closed, names that are no text, signals while nothing is lost yet.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, Stdio};

use crate::common::{Dir, orthopt};

const TALK: [&[&str]; 9] = [
    &["--help"],
    &["solve", "--help-all"],
    &["--version"],
    &["list"],
    &["completions", "bash"],
    &["data", "info", "builtin:pitprops"],
    &["solve", "l0-pca", "builtin:pitprops", "-r", "1", "--lambda", "0.5", "--max-iters", "10"],
    &[
        "solve",
        "l0-pca",
        "builtin:pitprops",
        "-r",
        "1",
        "--lambda",
        "0.5",
        "--max-iters",
        "10",
        "--json",
        "-",
    ],
    &["solve", "l0-pca", "builtin:pitprops", "--print-config"],
];

#[test]
fn text_that_is_lost_is_a_failure() {
    for args in TALK {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_orthopt"));
        let output = command.args(args).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let output = output.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}: {stderr}");
        assert!(stderr.contains("error: cannot write to stdout"), "{args:?}: {stderr}");
    }
}

#[test]
fn a_reader_that_has_gone_away_is_none() {
    for args in TALK {
        let mut child = Command::new("sh")
            .args(["-c", "sleep 0.2; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_orthopt")])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn data_may_have_any_name() {
    let dir = Dir::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.csv");
    let run = |args: &[&str]| {
        let output = dir.orthopt(args).arg(name).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    };
    run(&["data", "convert", "randn:20:4"]);
    run(&["data", "info"]);
    run(&["solve", "l0-pca", "-r", "2", "--lambda", "0.1", "--json", "m.json", "--save-x", "x.npy"]);
    run(&["certify", "l0-pca", "--x", "x.npy"]);
    run(&["transform", "m.json", "-o", "s.csv"]);
    dir.write("run.toml", "rank = 2\nlambda = 0.1\nproblem = 'l0-pca'\n");
    let output = dir.orthopt(&["solve", "--config", "run.toml", "l0-pca"]).arg(name).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = dir.orthopt(&["solve", "l0-pca", "--print-config"]).arg(name).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("cannot be written as TOML"), "{stderr}");
}

/// The program, once it is reading data that do not come, is interrupted.
#[test]
fn an_interrupted_reader_says_so() {
    for name in ["-INT", "-TERM", "-HUP"] {
        let dir = Dir::new();
        let pipe = dir.path("a.csv");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let child = Command::new(env!("CARGO_BIN_EXE_orthopt"))
            .args(["solve", "l0-pca"])
            .arg(&pipe)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut writer = std::fs::File::options().write(true).open(&pipe).unwrap(); // waits for the reader
        writer.write_all(b"1,2\n3,4\n").unwrap();
        assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{name}: {stderr}");
        assert_eq!(stderr, "error: interrupted before there was a result\n");
    }
}

#[test]
fn an_interrupted_writer_leaves_nothing_behind() {
    let dir = Dir::new();
    let parts = || {
        let entries = std::fs::read_dir(dir.path("")).unwrap().map(|entry| entry.unwrap().file_name());
        entries.filter(|name| name.to_string_lossy().ends_with(".part")).count()
    };
    let child = Command::new(env!("CARGO_BIN_EXE_orthopt"))
        .args(["data", "generate", "randn:4000:3000", "a.csv.gz"])
        .current_dir(dir.path(""))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while parts() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert!(parts() == 0 && !dir.has("a.csv.gz"));
}

#[test]
fn help_and_version_go_to_stdout() {
    for args in [["--help"], ["--version"]] {
        let output = orthopt(&args).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty() && !output.stdout.is_empty());
    }
}
