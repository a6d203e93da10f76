//! Forms of tables of data: separators, names, missing values, standard input, units.

use crate::common::{Dir, stdout};
use predicates::prelude::*;
use serde_json::json;

const TABLE: &str = "id,a,b,c\nu,1,4,9\nv,2,1,7\nw,5,2,1\nx,3,8,2\ny,9,1,4\nz,4,4,4\n";
const SOLVE: [&str; 9] = ["solve", "l0-pca", "t.csv", "-r", "2", "--lambda", "0.1", "--max-iters", "2000"];

fn solve<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SOLVE[..], more].concat()
}

#[test]
fn covariances_do_not_depend_on_the_number_of_samples() {
    let dir = Dir::new();
    dir.write("t.csv", TABLE);
    let twice = TABLE.to_string() + &TABLE.lines().skip(1).map(|l| format!("{l}\n")).collect::<String>();
    dir.write("twice.csv", twice);
    let once = dir.json(&solve(&["--covariance"]));
    assert_eq!(
        (once["data"]["centered"].clone(), once["data"]["covariance"].clone()),
        (json!(true), json!(true))
    );
    let f = |name: &str, lambda: &str| {
        let args =
            ["solve", "l0-pca", name, "-r", "2", "--lambda", lambda, "--covariance", "--max-iters", "20000"];
        dir.json(&args)["smooth"].as_f64().unwrap()
    };
    let ratio = f("twice.csv", "0.1") / f("t.csv", "0.1");
    assert!((ratio - 10.0 / 11.0).abs() < 1e-9, "{ratio}"); // 2(m - 1) / (2m - 1) = 10/11
    // correlations: three variables, two components of a matrix with trace 3
    let std = dir.json(&solve(&["--scale", "std"]));
    assert_eq!(
        (std["data"]["scale"].clone(), std["data"]["covariance"].clone()),
        (json!("std"), json!(true))
    );
    let unit = dir.json(&solve(&["--scale", "unit", "--center"]));
    let difference = std["objective"].as_f64().unwrap() - unit["objective"].as_f64().unwrap();
    assert!(difference.abs() < 1e-12, "{difference}");
    dir.orthopt(&solve(&["--scale", "std"]))
        .assert()
        .success()
        .stdout(predicate::str::contains("centred, columns scaled to standard deviation 1, C = A'A/(m - 1)"));
    let z = dir.json(&solve(&["--scale", "std", "--covariance=false"]));
    let ratio = z["smooth"].as_f64().unwrap() / std["smooth"].as_f64().unwrap();
    assert!((ratio - 5.0).abs() < 1e-9 || z["nnz"] != std["nnz"], "{ratio}");
    dir.fails_in_one_line(
        &["solve", "pca", "builtin:pitprops", "--covariance"],
        2,
        &["is not possible, because the table is C itself"],
    );
}

#[test]
fn missing_values_are_an_error_that_says_what_to_do() {
    let dir = Dir::new();
    dir.write("t.csv", TABLE.replace("v,2,1,7", "v,2,NA,7"));
    dir.fails_in_one_line(
        &SOLVE,
        1,
        &[
            "t.csv:3: row 2, column 2 (`b`) has a missing value (`NA`); fill it in",
            "mean (of the column)",
            "(--missing)",
        ],
    );
    for (how, rows) in [("mean", 6), ("drop", 5), ("em", 6)] {
        let object = dir.json(&solve(&["--missing", how]));
        assert_eq!(
            (object["data"]["rows"].clone(), object["data"]["missing"].clone()),
            (json!(rows), json!(1))
        );
        let output = dir.orthopt(&solve(&["--missing", how])).output().unwrap();
        let notes = String::from_utf8(output.stderr).unwrap();
        assert!(notes.contains("1 missing value in the data, treated as --missing says"), "{notes}");
    }
    dir.fails(&solve(&["--missing", "zero"]), 2, &["invalid value 'zero'"]);
    dir.write("c.csv", "1,0.5\n0.5,NA\n");
    dir.fails(
        &["solve", "pca", "--gram", "c.csv", "-r", "1", "--missing", "mean"],
        2,
        &["--missing does not apply to C itself: it is for samples"],
    );
}

#[test]
fn names_and_labels_from_files() {
    let dir = Dir::new();
    dir.write("t.mtx", "%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n7\n");
    dir.write("words.txt", "the\nof\n");
    let solve = ["solve", "l0-pca", "t.mtx", "-r", "1", "--lambda", "0.1"];
    let object = dir.json(&[&solve[..], &["--names", "words.txt"]].concat());
    assert_eq!(object["names"], json!(["the", "of"]));
    dir.orthopt(&[&solve[..], &["--names", "words.txt"]].concat())
        .assert()
        .success()
        .stdout(predicate::str::contains("of 0."));
    dir.write("words.txt", "the\nof\nand\n");
    let three = [&solve[..], &["--names", "words.txt"]].concat();
    dir.fails_in_one_line(
        &three,
        1,
        &["words.txt: 3 names for the 2 columns of t.mtx, which has 3 rows; --transpose takes"],
    );
    let absent = [&solve[..], &["--names", "no.txt"]].concat();
    dir.fails_in_one_line(&absent, 1, &["--names: cannot read `no.txt`"]);
    dir.write("groups.txt", "x\ny\n");
    let two = [&solve[..], &["--labels", "groups.txt", "--plot-scores", "p.svg"]].concat();
    dir.fails_in_one_line(&two, 1, &["--labels groups.txt: 2 labels for the 3 rows of t.mtx"]);
}

#[test]
fn standard_input_in_any_format() {
    let dir = Dir::new();
    let semicolons = TABLE.replace(',', ";").replace("u;1;", "u;1,0;");
    let spaces = TABLE.replace("id,", "").replace(',', " ");
    let svm = "1 1:1 2:4 3:9\n1 1:2 2:1 3:7\n2 1:5 2:2 3:1\n2 1:3 2:8 3:2\n2 1:9 2:1 3:4\n1 1:4 2:4 3:4\n";
    dir.write("t.csv", TABLE);
    let expected = dir.json(&solve(&[]))["objective"].clone();
    for content in [TABLE, &semicolons, &spaces, svm] {
        let args =
            ["solve", "l0-pca", "-", "-r", "2", "--lambda", "0.1", "--max-iters", "2000", "--json", "-"];
        let output = dir.orthopt(&args).write_stdin(content).output().unwrap();
        assert!(output.status.success(), "{content}: {}", String::from_utf8_lossy(&output.stderr));
        let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(
            (&object["objective"], &object["data"]["source"]),
            (&expected, &json!("standard input")),
            "{content}"
        );
    }
    let nothing = dir.orthopt(&["data", "info", "-"]).write_stdin("").output().unwrap();
    let error = String::from_utf8(nothing.stderr).unwrap();
    assert_eq!(error, "error: standard input: there is nothing to read\n");
    let info = stdout(dir.orthopt(&["data", "info", "-"]).write_stdin(TABLE));
    assert!(info.contains("6 x 3"), "{info}");
}
