//! Files that `solve` writes.

use crate::common::{Dir, feasibility, read_npy, stdout};
use predicates::prelude::*;

const SOLVE: [&str; 8] = ["solve", "l1-pca", "randn:60:40", "-r", "4", "--lambda", "2", "--quiet"];

#[test]
fn the_trace_is_monotone_in_both_formats() {
    let dir = Dir::new();
    let args = ["--max-iters", "20000", "--trace", "t.csv", "--json", "r.json"];
    dir.orthopt(&[&SOLVE[..], &args].concat()).assert().success();
    let text = dir.read("t.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("seconds,iteration,objective,feasibility,nnz"));
    let rows: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|field| field.parse().unwrap()).collect()).collect();
    assert!(rows.len() >= 2);
    assert!(rows.iter().all(|row| row.len() == 5 && row[3] < 1e-10));
    for pair in rows.windows(2) {
        assert!(pair[1][0] >= pair[0][0] && pair[1][1] > pair[0][1]);
        assert!(pair[1][2] <= pair[0][2] + 1e-9 * (1.0 + pair[0][2].abs()), "F rises");
    }
    let object: serde_json::Value = serde_json::from_str(&dir.read("r.json")).unwrap();
    let (end, f) = (rows[rows.len() - 1][2], object["objective"].as_f64().unwrap());
    assert!((end - f).abs() <= 1e-8 * (1.0 + f.abs()), "{end} {f}");

    dir.orthopt(&[&SOLVE[..], &["--max-iters", "2000", "--trace", "t.jsonl"]].concat()).assert().success();
    for line in dir.read("t.jsonl").lines() {
        let point: serde_json::Value = serde_json::from_str(line).unwrap();
        let keys: Vec<_> = point.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["feasibility", "iteration", "nnz", "objective", "seconds"]);
    }
}

#[test]
fn x_is_orthonormal() {
    let dir = Dir::new();
    dir.orthopt(&[&SOLVE[..], &["--max-iters", "5000", "--save-x", "x.npy"]].concat()).assert().success();
    let x = read_npy(&dir.path("x.npy"));
    assert_eq!((x.len(), x[0].len()), (40, 4));
    assert!(feasibility(&x) < 1e-12);
}

#[test]
fn the_plot_is_an_svg_with_a_title() {
    let dir = Dir::new();
    dir.orthopt(&[&SOLVE[..], &["--max-iters", "5000", "--plot", "p.svg"]].concat()).assert().success();
    let svg = dir.read("p.svg");
    assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    assert!(svg.contains("l1-pca, randn:60:40:1, r = 4, lambda = 2"));
    assert!(svg.contains("seconds in the solver"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn what_cannot_be_written_costs_nothing_else() {
    let dir = Dir::new();
    let args = ["--max-iters", "500", "--save-x", "no/x.npy", "--trace", "t.csv", "--plot", "no/p.svg"];
    dir.orthopt(&[&SOLVE[..], &args, &["--json", "r.json"]].concat())
        .assert()
        .code(1)
        .stdout(predicate::str::contains("feasibility"))
        .stderr(predicate::str::contains("error: cannot write `no/x.npy`"))
        .stderr(predicate::str::contains("error: cannot write `no/p.svg`"));
    assert!(dir.has("t.csv") && dir.has("r.json"));

    dir.orthopt(&[&SOLVE[..], &["--max-iters", "500", "--json", "no/r.json", "--save-x", "x.npy"]].concat())
        .assert()
        .code(1)
        .stdout(predicate::str::contains("together"))
        .stderr(predicate::str::contains("error: cannot write `no/r.json`"));
    assert!(dir.has("x.npy"));
}

#[test]
fn there_is_no_progress_bar_off_a_terminal() {
    let dir = Dir::new();
    let args = ["solve", "l1-pca", "randn:60:40", "--lambda", "2", "--time-limit", "0.3", "--tol", "0"];
    dir.orthopt(&args).assert().success().stderr("");
    assert!(stdout(&mut dir.orthopt(&args)).is_ascii(), "no control or drawing characters");
}
