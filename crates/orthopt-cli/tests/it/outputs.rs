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
    assert!(svg.contains("<title>Convergence, 4 sparse components of 40 variables</title>"));
    assert!(svg.contains("l1-pca, randn:60:40:1, lambda = 2: F = "));
    assert!(svg.contains("seconds in the solver"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

/// A disk that is full at the end.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_costs_nothing_else() {
    let dir = Dir::new();
    std::fs::create_dir(dir.path("no")).unwrap();
    for name in ["x.npy", "p.svg", "r.json"] {
        std::os::unix::fs::symlink("/dev/full", dir.path("no").join(name)).unwrap();
    }
    let args = ["--max-iters", "500", "--save-x", "no/x.npy", "--trace", "t.csv", "--plot", "no/p.svg"];
    dir.orthopt(&[&SOLVE[..7], &args, &["--json", "r.json"]].concat())
        .assert()
        .code(1)
        .stdout(predicate::str::contains("||X'X - I||_F"))
        .stderr(predicate::str::contains("error: cannot write `no/x.npy`"))
        .stderr(predicate::str::contains("error: cannot write `no/p.svg`"));
    assert!(dir.has("t.csv") && dir.has("r.json"));

    dir.orthopt(&[&SOLVE[..7], &["--max-iters", "500", "--json", "no/r.json", "--save-x", "x.npy"]].concat())
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

/// Nothing is searched for, or trained, when its result does not apply.
#[test]
fn an_output_that_cannot_be_written_is_found_before_the_work() {
    let dir = Dir::new();
    dir.write("t.tsv", "a\tr\tb\nb\tr\tc\n");
    dir.write("file", "");
    let long = ["--time-limit", "300"];
    let begin = std::time::Instant::now();
    let solve = ["solve", "l0-pca", "randn:60:30", "-r"];
    for (option, place) in [
        ("--json", "none/m.json"),
        ("--save-x", "file/x.npy"),
        ("--save-loadings", "none/l.csv"),
        ("--report", "none/r.html"),
        ("--trace", "none/t.csv"),
        ("--plot", "none/p.svg"),
        ("--json", "."),
    ] {
        let args = [&solve[..], &["2", option, place], &long].concat();
        dir.fails_in_one_line(&args, 1, &["cannot write"]);
    }
    for option in ["--json", "--save-model", "--checkpoint"] {
        let args = ["embed", "t.tsv", "--valid", "t.tsv", "--dim", "4", "--signature", "2", option, "none/m"];
        dir.fails_in_one_line(&[&args[..], &long].concat(), 1, &["cannot write"]);
    }
    dir.fails_in_one_line(
        &["path", "l0-pca", "randn:60:30", "-r", "2", "--json", "none/p.json"],
        1,
        &["cannot write"],
    );
    dir.fails_in_one_line(
        &[&["bound", "l0-pca", "randn:60:30", "-r", "2", "--save-dual", "none/d.npz"][..], &long].concat(),
        1,
        &["cannot write"],
    );
    assert!(begin.elapsed().as_secs() < 200, "the work was done");
}

/// Errors only: what is asked for in a file or on stdout is written all the same.
#[test]
fn quiet_commands_print_nothing() {
    let dir = Dir::new();
    let about = ["l0-pca", "builtin:pitprops", "-q", "--time-limit", "1"];
    let quiet = |command: &'static str, more: &[&'static str]| {
        let words = [&[command], &about[..], more].concat();
        dir.orthopt(&words).assert().success().stdout("").stderr("");
    };
    quiet("solve", &["-r", "2", "--lambda", "0.1", "--save-x", "x.npy", "--certify"]);
    quiet("bound", &["-r", "1", "--nonzeros", "3"]);
    quiet("path", &["-r", "1", "--counts", "2,3"]);
    quiet("compare", &["-r", "1", "--lambda", "0.1", "--solvers", "obcd-c,ladmm"]);
    dir.orthopt(&["certify", "l0-pca", "builtin:pitprops", "--lambda", "0.1", "--x", "x.npy", "-q"])
        .assert()
        .success()
        .stdout("")
        .stderr("");
    dir.orthopt(&["explore", "builtin:pitprops", "-q"]).assert().success().stdout("").stderr("");
    assert_eq!(
        dir.json(&["solve", "l0-pca", "builtin:pitprops", "-r", "1", "--nonzeros", "3", "-q"])["rank"],
        1
    );
    dir.fails_in_one_line(
        &["certify", "l0-pca", "builtin:pitprops", "--x", "absent.npy", "-q"],
        1,
        &["absent.npy"],
    );
}
