//! Statements of `solve`, `bound` and `certify` about an X agree with each other, and no wrong X is proved.

use std::path::Path;

use serde_json::Value;

use crate::common::{Dir, stdout};

/// Writes an n × r matrix.
fn write_x(path: &Path, n: usize, r: usize, entry: impl Fn(usize, usize) -> f64) {
    let x = orthopt::RowMat::from_fn(n, r, entry);
    orthopt_data::write_npy(path, x.as_mat()).unwrap();
}

/// A symmetric table with entries of both signs.
fn table(n: usize) -> String {
    let entry = |i: usize, j: usize| ((i.min(j) * 37 + i.max(j) * 11 + 5) as f64 * 1.37).sin() * 4.0;
    let row = |i: usize| (0..n).map(|j| entry(i, j).to_string()).collect::<Vec<_>>().join(",");
    (0..n).map(|i| row(i) + "\n").collect()
}

/// Finite F, a bound that is at most F, a gap within tolerance where a proof is claimed, and none without.
fn consistent(object: &Value) {
    let number = |name: &str| object[name].as_f64();
    let (f, bound, gap) = (number("objective"), number("bound"), number("gap"));
    let proof = object["proof"].as_str();
    if let (Some(f), Some(bound)) = (f, bound) {
        assert!(bound <= f, "bound {bound} above F = {f}: {object}");
        assert!(bound.abs() < 1e300, "{object}");
    }
    let claimed = proof == Some("optimal") || object["status"] == "optimal";
    assert!(!claimed || f.is_some() && gap.is_some_and(|gap| gap <= 1e-9), "{object}");
    if let Some(decrease) = object["certificate"]["max_decrease"].as_f64() {
        assert!(
            !claimed || decrease <= 1e-8 * f.unwrap().abs(),
            "proved and improved by {decrease}: {object}"
        );
    }
}

#[test]
fn a_bound_does_not_end_a_search_before_it_has_found_anything() {
    let dir = Dir::new();
    for start in ["pca", "random", "coordinates", "identity"] {
        let solve = [
            "solve",
            "l0-pca",
            "builtin:pitprops",
            "-r",
            "3",
            "--lambda",
            ".1",
            "--init",
            start,
            "--bound",
            "1",
        ];
        let object = dir.json(&solve);
        consistent(&object);
        if object["status"] == "optimal" {
            assert!((object["objective"].as_f64().unwrap() + 2.636819401).abs() < 1e-8, "{start}: {object}");
        }
    }
    let object = dir.json(&[
        "solve",
        "l0-pca",
        "randn:15:40",
        "-r",
        "3",
        "--lambda",
        "1",
        "--bound",
        "1",
        "--time-limit",
        "1",
    ]);
    consistent(&object);
}

#[test]
fn one_nonnegative_component_is_proved_by_its_minimum_only() {
    let dir = Dir::new();
    write_x(&dir.path("e1.npy"), 25, 1, |i, _| f64::from(u8::from(i == 0)));
    let problem = ["nonneg-pca", "randn:20:25:1"];
    let object = dir.json(&[&["bound"], &problem[..], &["-r", "1", "--x", "e1.npy"]].concat());
    consistent(&object);
    assert!(object["proof"].is_null() && object["bound"].as_f64().unwrap() <= -29.429, "{object}");
    let object = dir.json(&[&["certify"], &problem[..], &["--x", "e1.npy", "--global", "5"]].concat());
    consistent(&object);
    assert!(object["proof"].is_null(), "{object}");
    let object = dir.json(&[&["solve"], &problem[..], &["-r", "1", "--bound", "2"]].concat());
    consistent(&object);
    assert!(object["objective"].as_f64().unwrap() <= -29.429);
}

#[test]
fn a_table_of_supports_that_is_cut_off_proves_nothing() {
    let dir = Dir::new();
    dir.write("c.csv", table(16));
    write_x(&dir.path("x.npy"), 16, 1, |i, _| f64::from(u8::from(i == 0)));
    let problem = ["bound", "l0-pca", "--gram", "c.csv", "-r", "1", "--lambda", "1", "--x", "x.npy"];
    let whole = dir.json(&problem);
    consistent(&whole);
    assert_eq!(whole["proof"], "optimal");
    let (minimum, seconds) = (whole["objective"].as_f64().unwrap(), whole["seconds"].as_f64().unwrap());
    for k in 1..=12 {
        let limit = (seconds * f64::from(k) / 12.0).to_string();
        let object = dir.json(&[&problem[..], &["--time-limit", &limit]].concat());
        consistent(&object);
        let f = object["objective"].as_f64().unwrap();
        assert!(
            object["proof"].is_null() || f <= minimum + 1e-8 * minimum.abs(),
            "after {limit} s: {object}"
        );
        assert!(object["bound"].as_f64().unwrap() <= minimum + 1e-9, "after {limit} s: {object}");
    }
}

#[test]
fn variables_of_an_indefinite_matrix_are_bounded_by_more_than_their_trace() {
    let dir = Dir::new();
    dir.write("c.csv", "0,3,0\n3,0,0\n0,0,1\n");
    let object =
        dir.json(&["solve", "l0-pca", "--gram", "c.csv", "-r", "1", "--variables", "2", "--bound", "2"]);
    consistent(&object);
    assert!((object["objective"].as_f64().unwrap() + 1.5).abs() < 1e-9, "{object}");
}

#[test]
fn an_x_that_is_off_by_little_is_repaired_before_it_is_judged() {
    let dir = Dir::new();
    dir.write("c.csv", "1,0.9\n0.9,1\n");
    write_x(&dir.path("x.npy"), 2, 1, |i, _| if i == 0 { 1.0 + 2e-7 } else { 0.0 });
    let problem = ["l0-pca", "--gram", "c.csv", "--lambda", "1", "--x", "x.npy"];
    for command in [&["bound"][..], &["certify", "--global", "2"]] {
        let object = dir.json(&[&command[..1], &problem[..], &command[1..]].concat());
        consistent(&object);
        assert!((object["objective"].as_f64().unwrap() - 0.5).abs() < 1e-14, "{object}");
    }
    let text = stdout(&mut dir.orthopt(&[&["bound"], &problem[..]].concat()));
    assert!(text.contains("F is proved to be the global minimum"), "{text}");
}
