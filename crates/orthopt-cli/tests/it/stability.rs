//! `--stability`: frequencies in the summary, in JSON, beside the loadings and as a picture; what is complete is kept.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::Dir;

/// Two factors of four variables each, the 60 rows of a table of Zou, Hastie and Tibshirani.
const SOLVE: [&str; 11] = [
    "solve",
    "l0-pca",
    "spiked:zht:60",
    "--scale",
    "std",
    "-r",
    "2",
    "--nonzeros",
    "4",
    "--maximise",
    "variance",
];

fn json(dir: &Dir, name: &str) -> Value {
    serde_json::from_str(&dir.read(name)).unwrap()
}

fn matrix(value: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(value.clone()).unwrap()
}

#[test]
fn frequencies_are_everywhere_the_result_is() {
    let dir = Dir::new();
    let files =
        ["--json", "s.json", "--save-loadings", "l.csv", "--plot-stability", "p.svg", "--report", "r.html"];
    let out = dir.orthopt(&[&SOLVE[..], &["--stability", "8"], &files].concat()).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let told = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(
        told.contains("8 pairs of halves of the rows") && told.contains("each of the 16 halves"),
        "{told}"
    );
    assert!(!told.contains("X1 1.00"), "a share of 16 halves: {told}");
    let found = json(&dir, "s.json");
    let s = &found["stability"];
    assert_eq!(
        (s["subsamples"].as_u64(), s["pairs"].as_u64(), s["threshold"].as_f64()),
        (Some(16), Some(8), Some(0.9))
    );
    let (frequency, low, high) = (matrix(&s["frequency"]), matrix(&s["low"]), matrix(&s["high"]));
    let x = matrix(&found["x"]);
    for i in 0..10 {
        for k in 0..2 {
            let sure = x[i][k] != 0.0;
            assert_eq!(frequency[i][k] >= 0.9, sure, "{i} {k}: {frequency:?}");
            assert!(!sure || (low[i][k] <= x[i][k] + 0.1 && high[i][k] >= x[i][k] - 0.1));
        }
    }
    assert_eq!(s["expected_false"][0].as_f64().unwrap(), 16.0 / (0.8 * 10.0));
    // beside the loadings
    let table = dir.read("l.csv");
    let mut lines = table.lines();
    let header = "variable,PC1,PC2,PC1_frequency,PC2_frequency,PC1_low,PC2_low,PC1_high,PC2_high";
    assert_eq!(lines.next(), Some(header));
    for (line, (i, row)) in lines.zip(x.iter().enumerate()) {
        let cells: Vec<f64> = line.split(',').skip(1).map(|cell| cell.parse().unwrap()).collect();
        let expected = [&row[..], &frequency[i], &low[i], &high[i]].concat();
        assert_eq!(cells, expected);
    }
    let drawn = dir.read("p.svg");
    for part in [
        "Stability, 2 sparse components of 10 variables",
        "PC1 (cosine",
        "share of 16 halves with a nonzero loading",
        "X8",
        "1.00",
    ] {
        assert!(drawn.contains(part), "{part}");
    }
    assert!(dir.read("r.html").contains("How sure are the components?"));
    // without it the table is as ever, and there is no object
    dir.orthopt(&[&SOLVE[..], &["-q", "--json", "o.json", "--save-loadings", "o.csv"]].concat())
        .assert()
        .success();
    assert!(
        dir.read("o.csv").starts_with("variable,PC1,PC2\n")
            && json(&dir, "o.json").get("stability").is_none()
    );
    assert_eq!(json(&dir, "o.json")["x"], found["x"], "the run of all rows is the same");
}

#[test]
fn threads_change_nothing() {
    let dir = Dir::new();
    let run = |threads: &str| {
        let more = ["--stability", "6", "-q", "--json", "s.json", "--threads", threads];
        dir.orthopt(&[&SOLVE[..], &more].concat()).assert().success();
        json(&dir, "s.json")["stability"].clone()
    };
    assert_eq!(run("1"), run("2"));
}

#[test]
fn what_has_no_halves_is_refused() {
    let dir = Dir::new();
    dir.write("three.csv", "a,b,c\n1,2,3\n2,1,4\n0,5,1\n");
    dir.write("c.csv", "2,1\n1,2\n");
    dir.write("rows.csv", "a,b\n1,2\n2,1\n4,3\n1,5\n2,2\n");
    let refused = |args: &[&str], part: &str| {
        let out = dir.orthopt(args).output().unwrap();
        let told = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(2), "{args:?}: {told}");
        assert!(told.contains(part), "{args:?}: {told}");
    };
    refused(&["solve", "pca", "three.csv", "-r", "1", "--stability", "3"], "at least 4 rows");
    refused(&["solve", "pca", "--gram", "c.csv", "-r", "1", "--stability", "3"], "samples");
    refused(&["solve", "pca", "rows.csv", "-r", "1", "--stream", "--stability", "3"], "only C is there");
    refused(&["solve", "pca", "rows.csv", "-r", "1", "--stability", "0"], ">= 1");
    refused(&["solve", "pca", "rows.csv", "-r", "1", "--plot-stability", "p.svg"], "--stability");
    refused(&["solve", "hyperbolic-eig", "rows.csv", "--stability", "3"], "PCA problems");
    for call in ["path", "compare", "bound"] {
        refused(&[call, "l0-pca", "rows.csv", "-r", "1", "--stability", "3"], "it is for solve");
    }
}

/// Ctrl-C ends the halves; the pairs that are complete and all files are there.
#[test]
fn an_interruption_keeps_what_is_complete() {
    let dir = Dir::new();
    let files = ["--json", "s.json", "--save-loadings", "l.csv"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_orthopt"))
        .args([&SOLVE[..], &["--stability", "1000000"], &files].concat())
        .current_dir(dir.path(""))
        .env("ORTHOPT_LOG", "info")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("a pair of halves of the rows has ended") {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0, "the program ended at once");
    }
    let drain = std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let out = child.wait_with_output().unwrap();
    drain.join().unwrap().unwrap();
    assert_eq!(out.status.code(), Some(130));
    let s = json(&dir, "s.json")["stability"].clone();
    let pairs = s["pairs"].as_u64().unwrap();
    assert!((1..1_000_000).contains(&pairs) && s["requested"].as_u64() == Some(1_000_000), "{pairs}");
    assert!(dir.read("l.csv").contains("PC1_frequency"));
    assert!(String::from_utf8_lossy(&out.stdout).contains("more were not complete"));
}

/// Half of the time is for X, and the rest for the halves, of which there are too many for a day.
#[test]
fn a_time_limit_is_of_both() {
    let dir = Dir::new();
    let more = ["--stability", "1000000", "-q", "--json", "s.json", "--time-limit", "2"];
    dir.orthopt(&[&SOLVE[..], &more].concat()).assert().success();
    assert!(json(&dir, "s.json")["stability"]["pairs"].as_u64().unwrap() < 1_000_000);
}

/// Halves that take longer than their share of a limit are counted with what they have, and the summary says so.
#[test]
fn halves_end_at_their_share() {
    let dir = Dir::new();
    dir.orthopt(&["data", "generate", "randn:60:900", "wide.npy"]).assert().success();
    let solve = ["solve", "l0-pca", "wide.npy", "-r", "8", "--nonzeros", "40", "--maximise", "adjusted"];
    let more = ["--stability", "4", "--json", "s.json", "--time-limit", "6"];
    let out = dir.orthopt(&[&solve[..], &more].concat()).output().unwrap();
    assert!(out.status.success());
    let s = json(&dir, "s.json")["stability"].clone();
    let (pairs, limited) = (s["pairs"].as_u64().unwrap(), s["limited"].as_u64().unwrap());
    assert!(pairs >= 1 && limited <= 2 * pairs, "{pairs} {limited}");
    let told = String::from_utf8_lossy(&out.stdout).into_owned();
    assert_eq!(told.contains("a longer limit of time may find better components"), limited > 0, "{told}");
    // an exploration says the same in its answer
    let out =
        dir.orthopt(&["explore", "wide.npy", "-r", "8", "--time-limit", "5", "--json", "e.json"]).output();
    let told = String::from_utf8_lossy(&out.unwrap().stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    let limited = json(&dir, "e.json")["solution"]["stability"]["limited"].as_u64().unwrap_or(0);
    assert_eq!(told.contains("halves were ended by their share of --time-limit"), limited > 0, "{told}");
    assert!(told.contains("How sure?"), "{told}");
}
