//! `orthopt certify`.

use crate::common::{Dir, stdout};
use predicates::prelude::*;

const PROBLEM: [&str; 2] = ["l0-pca", "builtin:pitprops"];

fn solved(dir: &Dir) -> serde_json::Value {
    dir.json(
        &[&["solve"], &PROBLEM[..], &["-r", "3", "--lambda", "0.1", "--save-x", "x.npy", "--certify"]]
            .concat(),
    )
}

fn certify(extra: &'static [&'static str]) -> Vec<&'static str> {
    [&["certify"], &PROBLEM[..], &["--x", "x.npy"], extra].concat()
}

#[test]
fn a_solution_is_certified() {
    let dir = Dir::new();
    let solution = solved(&dir);
    let text = stdout(&mut dir.orthopt(&certify(&["--lambda", "0.1"])));
    for part in
        ["X             x.npy, 13 x 3", "feasibility", "criticality", "certified block-2 stationary: all "]
    {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let object = dir.json(&certify(&["--lambda", "0.1"]));
    assert_eq!(object["schema"], 1);
    assert_eq!(object["certified"], true);
    for field in ["objective", "nnz", "rank", "lambda", "certificate", "criticality", "explained_variance"] {
        assert_eq!(object[field], solution[field], "{field}");
    }
}

#[test]
fn another_lambda_or_x_is_not() {
    let dir = Dir::new();
    solved(&dir);
    let object = dir.json(&certify(&["--lambda", "0.001"]));
    assert_eq!(object["certified"], false);
    assert!(object["certificate"]["max_decrease"].as_f64().unwrap() > 1e-3);
    assert!(object["verdict"].as_str().unwrap().starts_with("not block-2 stationary"));
}

#[test]
fn a_sample_says_that_it_is_one() {
    let dir = Dir::new();
    solved(&dir);
    let object = dir.json(&certify(&["--lambda", "0.1", "--sample", "5"]));
    assert_eq!(object["certificate"]["pairs_checked"], 5);
    assert_eq!(object["certified"], false);
    // as many as there are is all of them
    let object = dir.json(&certify(&["--lambda", "0.1", "--sample", "100000"]));
    assert_eq!(object["certified"], true);
}

#[test]
fn the_default_lambda_is_that_of_a_solver_by_name() {
    let dir = Dir::new();
    let solve = ["solve", "l0-pca", "builtin:pitprops", "-r", "3", "--solver", "obcd", "--save-x", "x.npy"];
    let solution = dir.json(&solve);
    let object = dir.json(&certify(&[]));
    assert_eq!(object["lambda"], solution["lambda"]);
    dir.orthopt(&certify(&[])).assert().stderr(predicate::str::contains("check it with --nonzeros K"));
    dir.orthopt(&certify(&["--nonzeros", "6"]))
        .assert()
        .stderr(predicate::str::contains("check it with").not());
    assert!(object["reasons"][0].as_str().unwrap().starts_with("lambda 0.05"));
}

#[test]
fn bad_x() {
    let dir = Dir::new();
    dir.fails_in_one_line(&certify(&[]), 1, &["--x: cannot read `x.npy`"]);
    dir.orthopt(&["data", "generate", "randn:13:2", "x.npy"]).assert().success();
    dir.fails_in_one_line(&certify(&[]), 1, &["x.npy: X is not orthonormal", "1e-6"]);
    dir.orthopt(&["data", "generate", "randn:12:2", "x.npy"]).assert().success();
    dir.fails_in_one_line(&certify(&[]), 1, &["X is 12 x 2", "13 columns", "13 rows"]);
    dir.orthopt(&["data", "generate", "randn:2:13", "x.npy"]).assert().success();
    dir.fails_in_one_line(&certify(&[]), 1, &["transposed"]);
    dir.orthopt(&["data", "generate", "randn:13:14", "x.npy"]).assert().success();
    dir.fails_in_one_line(&certify(&[]), 2, &["rank 14 exceeds the 13 columns"]);
    dir.write("x.csv", "1,0\n0,nan\n");
    dir.fails_in_one_line(&["certify", "pca", "randn:5:2", "--x", "x.csv"], 1, &["x.csv"]);
    dir.write("x.csv", "1\n0\n");
    dir.fails_in_one_line(&["certify", "pca", "randn:5:2", "--x", "x.csv", "--tol", "-1"], 2, &["tol is -1"]);
    dir.fails_in_one_line(
        &["certify", "l0-pca", "randn:5:2", "--x", "x.csv", "--sample", "0"],
        2,
        &["sample is 0"],
    );
}

#[test]
fn nonnegative_x() {
    let dir = Dir::new();
    dir.write("x.csv", "-1,0\n0,1\n0,0\n");
    let args = ["certify", "nonneg-pca", "randn:9:3", "--x", "x.csv"];
    dir.fails_in_one_line(&args, 1, &["x.csv: X has a negative entry -1 in row 1, column 1"]);
    dir.write("x.csv", "1,-1e-9\n0,1\n0,0\n"); // rounding
    let object = dir.json(&args);
    assert_eq!(object["nonneg_violation"], 1e-9);
    assert!(object["objective"].is_number());
}

#[test]
fn tiny_entries_are_remarked_on() {
    let dir = Dir::new();
    dir.write("x.csv", "1\n1e-9\n0\n");
    dir.orthopt(&["certify", "l0-pca", "randn:9:3", "--x", "x.csv", "--lambda", "1"])
        .assert()
        .success()
        .stderr(predicate::str::contains(
            "1 entry of X is not zero but at most 1e-6 in absolute value: F, nonzeros",
        ));
    let object = dir.json(&["certify", "l0-pca", "randn:9:3", "--x", "x.csv", "--lambda", "1"]);
    assert_eq!((&object["nnz"], &object["nonsmooth"]), (&2.into(), &2.0.into()), "what is there is counted");
}

#[test]
fn larger_blocks_are_searched() {
    let dir = Dir::new();
    solved(&dir);
    let args = ["--lambda", "0.1", "--blocks", "3", "--block-samples", "50"];
    let text = stdout(&mut dir.orthopt(&[&certify(&[])[..], &args].concat()));
    assert!(text.contains("blocks of 3   50 of ") && text.contains("from 12 starts each"), "{text}");
    let json = |extra: &[&str]| dir.json(&[&certify(&[])[..], &args[..4], extra].concat());
    let (all, some) = (json(&[]), json(&["--block-samples", "50", "--block-starts", "0", "--seed", "2"]));
    assert_eq!(all["blocks"]["blocks_checked"].as_f64(), all["blocks"]["blocks_total"].as_f64());
    assert_eq!((&some["blocks"]["blocks_checked"], &some["blocks"]["starts"]), (&50.into(), &0.into()));
    // V = I alone: pairs, which the certificate has checked
    assert_eq!((&some["blocks"]["offering"], &some["certified"]), (&0.into(), &true.into()));
    assert!(json(&[])["blocks"] == all["blocks"], "the seed decides");
    for (bad, said) in [
        (["--blocks", "1"], "--blocks 1: from 2 to 16 rows"),
        (["--blocks", "14"], "--blocks 14: X has 13 rows"),
    ] {
        dir.fails_in_one_line(&[&certify(&["--lambda", "0.1"])[..], &bad].concat(), 2, &[said]);
    }
    let limits = ["--nonzeros", "13", "--blocks", "3"];
    dir.fails(&[&certify(&[])[..], &limits].concat(), 2, &["--blocks is for f(X) + h(X)"]);
}
