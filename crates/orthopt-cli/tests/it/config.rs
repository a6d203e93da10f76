//! Config files.

use crate::common::{Dir, stdout};
use predicates::prelude::*;

#[test]
fn what_is_typed_overrides_the_file() {
    let dir = Dir::new();
    dir.write(
        "run.toml",
        "problem = 'l0-pca'\ndata = 'builtin:pitprops'\nrank = 2\nlambda = 0.1\nseed = 5\n",
    );
    let object = dir.json(&["solve", "--config", "run.toml"]);
    assert_eq!((object["rank"].as_u64(), object["seed"].as_u64()), (Some(2), Some(5)));
    let object = dir.json(&["solve", "--config", "run.toml", "-r", "3", "--seed", "6"]);
    assert_eq!((object["rank"].as_u64(), object["seed"].as_u64()), (Some(3), Some(6)));
    assert_eq!(object["lambda"], 0.1);
    let object = dir.json(&["solve", "l1-pca", "randn:20:4", "--config", "run.toml"]);
    assert_eq!((object["problem"].as_str(), object["data"]["cols"].as_u64()), (Some("l1-pca"), Some(4)));
    // a value of the file that does not apply to what is typed is refused as one that is typed
    dir.fails(
        &["solve", "pca", "randn:20:4", "--config", "run.toml"],
        2,
        &["run.toml", "--lambda does not apply to pca"],
    );
}

#[test]
fn a_switch_can_be_taken_back() {
    let dir = Dir::new();
    dir.write("run.toml", "center = true\ncertify = true\n");
    let args = ["solve", "pca", "randn:20:4", "--config", "run.toml"];
    assert_eq!(dir.json(&args)["data"]["centered"], true);
    let object = dir.json(&[&args[..], &["--center=false", "--certify=false"]].concat());
    assert_eq!(object["data"]["centered"], false);
    assert!(object["certificate"].is_null());
}

#[test]
fn a_printed_config_gives_the_same_run() {
    let dir = Dir::new();
    let args = [
        "solve",
        "l0-pca",
        "builtin:pitprops",
        "-r",
        "3",
        "--lambda",
        "0.1",
        "--init",
        "random",
        "--seed",
        "11",
        "--working-set",
        "greedy-sv",
        "--candidates",
        "all",
        "--certify",
    ];
    let printed = stdout(&mut dir.orthopt(&[&args[..], &["--print-config"]].concat()));
    for line in ["problem = \"l0-pca\"", "rank = 3", "seed = 11", "certify = true", "solver = \"auto\""] {
        assert!(printed.contains(line), "{printed}");
    }
    dir.write("run.toml", &printed);
    let again = stdout(&mut dir.orthopt(&["solve", "--config", "run.toml", "--print-config"]));
    assert_eq!(printed, again);
    let (typed, read) = (dir.json(&args), dir.json(&["solve", "--config", "run.toml"]));
    for field in ["objective", "iterations", "settings", "certificate", "seed"] {
        assert_eq!(typed[field], read[field], "{field}");
    }
}

#[test]
fn errors_name_the_file_and_the_key() {
    let dir = Dir::new();
    let fails = |content: &str, parts: &[&str]| {
        dir.write("run.toml", content);
        dir.fails_in_one_line(&["solve", "pca", "builtin:pitprops", "--config", "run.toml"], 2, parts);
    };
    fails("rank = 2\nlamda = 0.1\n", &["run.toml:2: ", "`lamda`", "`lambda`"]);
    fails("rank = 'two'\n", &["run.toml:1: rank: ", "expected a whole number"]);
    fails("rank\n", &["run.toml:1: "]);
    fails("solver = 'magic'\n", &["run.toml: ", "'magic'", "obcd"]);
    fails("tol = -1\n", &["run.toml: ", "tol is -1"]);
    let args = ["solve", "pca", "builtin:pitprops", "--config", "none.toml"];
    dir.fails_in_one_line(&args, 1, &["`none.toml`"]);
}

#[test]
fn files_in_a_config_are_written() {
    let dir = Dir::new();
    dir.write("run.toml", "save-x = 'x.npy'\njson = '-'\nmax-iters = 50\n");
    dir.orthopt(&["solve", "pca", "builtin:pitprops", "--config", "run.toml"])
        .assert()
        .success()
        .stdout(predicate::str::starts_with("{"));
    assert!(dir.has("x.npy"));
}
