//! The unit of a table means nothing: what is found, what is said and what is certified is the same in per cent, in
//! kilograms, and in numbers near the ends of the range.

use crate::common::{Dir, orthopt, read_npy};
use serde_json::Value;

/// A table of 40 samples of 12 substances, in a unit: some are large, some go together, some are often zero.
fn table(unit: f64) -> String {
    let hidden = |i: usize, k: usize| ((7 * i + 3) as f64 * (k as f64 + 0.7)).sin();
    let mut text = (0..12).map(|j| format!("s{j}")).collect::<Vec<_>>().join(",") + "\n";
    for i in 0..40 {
        let row = (0..12).map(|j| {
            let own = 0.4 * ((i * (j + 2)) as f64 * 1.37).cos();
            let size = [9.0, 7.0, 0.8, 0.3, 5.0, 1.2][j % 6];
            let value = size * (2.0 + hidden(i, j % 3) + own);
            format!("{:e}", unit * if value < 0.5 { 0.0 } else { (100.0 * value).round() / 100.0 })
        });
        text += &(row.collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

fn number(object: &Value, at: &str) -> f64 {
    object.pointer(at).and_then(Value::as_f64).unwrap_or_else(|| panic!("no number at {at} in {object}"))
}

/// The tables in two units, `one.csv` and `small.csv`.
fn both(dir: &Dir, unit: f64) {
    dir.write("one.csv", table(1.0));
    dir.write("small.csv", table(unit));
}

#[test]
fn penalties_bend_where_they_do_in_any_unit() {
    let dir = Dir::new();
    both(&dir, 1e-3);
    for problem in ["scad-pca", "mcp-pca", "l1-pca", "capped-l1-pca"] {
        let x = |file: &str| {
            let args = [
                "solve",
                problem,
                file,
                "--covariance",
                "-r",
                "2",
                "--max-iters",
                "3000",
                "--save-x",
                "x.npy",
            ];
            dir.orthopt(&args).assert().success();
            read_npy(&dir.path("x.npy"))
        };
        let (one, small) = (x("one.csv"), x("small.csv"));
        for (a, b) in one.iter().flatten().zip(small.iter().flatten()) {
            assert!((a - b).abs() <= 1e-4 && (*a == 0.0) == (*b == 0.0), "{problem}: {one:?} {small:?}");
        }
        assert!(one.iter().flatten().any(|v| *v == 0.0), "{problem} is not sparse: {one:?}");
    }
}

#[test]
fn a_random_x_is_no_better_in_small_units() {
    let dir = Dir::new();
    both(&dir, 1e-6);
    let start =
        ["solve", "l1-pca", "one.csv", "--covariance", "-r", "3", "--lambda", "1", "--solver", "obcd"];
    let ends = ["--init", "random", "--restarts", "0", "--max-iters", "1", "--save-x", "x.npy"];
    dir.orthopt(&[&start[..], &ends].concat()).assert().success();
    let said = |file: &str, lambda: &str| {
        dir.json(&["certify", "l1-pca", file, "--covariance", "--lambda", lambda, "--x", "x.npy"])
    };
    let (one, small) = (said("one.csv", "1"), said("small.csv", "1e-12"));
    for object in [&one, &small] {
        let certified = object.pointer("/certified").and_then(Value::as_bool);
        assert_eq!(certified, Some(false), "{object}");
    }
    let decrease = |object: &Value| number(object, "/certificate/max_decrease");
    assert!((1e12 * decrease(&small) / decrease(&one) - 1.0).abs() <= 1e-9, "{one} {small}");
}

#[test]
fn solvers_end_where_they_do_in_any_unit() {
    let dir = Dir::new();
    both(&dir, 1e-6);
    for solver in
        ["obcd", "obcd-c", "obcd-or", "oadmm", "manial", "rial", "radmm", "spgm-ep", "manpg", "ladmm"]
    {
        let found = |file: &str| {
            let args = ["solve", "l1-pca", file, "--covariance", "-r", "3", "--relative-lambda", ".2"];
            let how = ["--solver", solver, "--init", "pca", "--restarts", "0", "--max-iters", "5000"];
            dir.json(&[&args[..], &how].concat())
        };
        let (one, small) = (found("one.csv"), found("small.csv"));
        let (f, g) = (number(&one, "/objective"), 1e12 * number(&small, "/objective"));
        assert!((f - g).abs() <= 1e-5 * f.abs(), "{solver}: {f} {g}");
        assert_eq!(one["status"], small["status"], "{solver}");
    }
}

/// Rows that come part by part: their sums know no unit either. X has the same bits, F is scaled exactly, and what is
/// counted, certified, bounded and said is the same.
#[test]
fn streamed_rows_say_the_same_in_any_unit() {
    let dir = Dir::new();
    let write = |unit: f64| {
        let text = table(unit);
        let (head, rows) = text.split_once('\n').unwrap();
        let (first, last) = rows.split_at(rows.len() / 2 + rows[rows.len() / 2..].find('\n').unwrap() + 1);
        dir.write("all.csv", &text);
        dir.write("part-1.csv", format!("{head}\n{first}"));
        dir.write("part-2.csv", format!("{head}\n{last}"));
        let sparse = rows.lines().map(|row| {
            let entries = row.split(',').enumerate().filter(|(_, value)| *value != "0e0");
            "0".to_string() + &entries.map(|(j, v)| format!(" {}:{v}", j + 1)).collect::<String>() + "\n"
        });
        dir.write("all.svm", sparse.collect::<String>());
        dir.orthopt(&["data", "gram", "part-1.csv", "part-2.csv", "-o", "c.npz"]).assert().success();
    };
    let doors: [&[&str]; 6] = [
        &["all.csv", "--stream"],
        &["part-1.csv", "part-2.csv", "--center"],
        &["part-1.csv", "part-2.csv", "--reproducible", "--scale", "std"],
        &["all.svm", "--stream", "--covariance", "--center"],
        &["all.csv", "--screen", "9", "--center"],
        &["--gram", "c.npz", "--center"],
    ];
    let cases: [&[&str]; 5] = [
        &["pca"],
        &["l0-pca", "--nonzeros", "3", "--maximise", "variance", "--bound", "5"],
        &["l0-pca", "--relative-lambda", ".05", "--effort", "quick"],
        &["l1-pca", "--solver", "ladmm+obcd", "--max-iters", "300"],
        &["nonneg-pca", "--solver", "obcd", "--max-iters", "3000"],
    ];
    let said = |exponent: i32| {
        write(2f64.powi(exponent));
        let back = 4f64.powi(-exponent);
        let mut all = Vec::new();
        for door in doors {
            for case in cases {
                let args = [&["solve"], case, door, &["-r", "2", "--certify", "--save-x", "x.npy"]].concat();
                let mut object = dir.json(&args);
                // correlations have no unit
                let back = if door.contains(&"std") { 1.0 } else { back };
                // a search ends when its bound has come: its X then depends on the clock, in the last digits
                let waits = case.contains(&"--bound");
                let numbers = ["/objective", "/lambda", "/bound", "/certificate/max_decrease"].map(|at| {
                    let v = back * object.pointer(at).and_then(Value::as_f64)?;
                    Some(if waits && at == "/objective" { f64::from(v as f32) } else { v }.to_bits())
                });
                object["certificate"] =
                    object.pointer("/certificate/pairs_checked").cloned().unwrap_or_default();
                if waits {
                    object["iterations"].take();
                    object["gap"].take();
                }
                let words =
                    ["status", "proof", "gap", "nnz", "nonzeros_per_component", "certificate", "iterations"]
                        .map(|field| object[field].take());
                let x = if waits { Vec::new() } else { dir.bytes("x.npy") };
                all.push((args.join(" "), x, numbers, words));
            }
        }
        all
    };
    let one = said(0);
    for exponent in [-60, -1, 1, 60] {
        for (here, there) in one.iter().zip(said(exponent)) {
            assert!(*here == there, "2^{exponent}: {}: {:?} {:?}", here.0, here.2, there.2);
        }
    }
}

/// Where C = AᵀA has hardly any digits left, or squares of it none, runs end at their limits.
#[test]
fn numbers_near_the_ends_of_the_range_end() {
    for unit in [1e-158, 1e-100, 1e75, 1e150] {
        let dir = Dir::new();
        dir.write("a.csv", table(unit));
        for problem in ["pca", "l0-pca", "l1-pca", "nonneg-pca"] {
            let mut command =
                orthopt(&["solve", problem, "a.csv", "-r", "2", "--time-limit", "1", "--json", "-"]);
            let command = command.current_dir(dir.path("."));
            let output = command.timeout(std::time::Duration::from_secs(90)).output().unwrap();
            let what = format!("{problem} {unit:e}: {}", String::from_utf8_lossy(&output.stderr));
            assert!(output.status.code().is_some(), "{what} does not end");
            if problem == "pca" {
                let object: Value =
                    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{what}: {e}"));
                assert!(number(&object, "/feasibility") <= 1e-12, "{what}");
                let share = number(&object, "/explained_variance/projected");
                assert!(share > 0.5 && share <= 1.0 + 1e-6, "{what}: {share}");
            }
        }
    }
}

/// Where no digits are left that is said, by every door, and no claim is made of zeros; nothing is said of data that are
/// zero, or of columns that are small beside others.
#[test]
fn numbers_without_digits_are_refused() {
    let dir = Dir::new();
    dir.write("tiny.csv", table(1e-170));
    dir.write("subnormal.csv", table(1e-162));
    dir.write("huge.csv", table(1e170));
    dir.write("zero.csv", "a,b,c\n0,0,0\n0,0,0\n0,0,0\n");
    dir.write("one.csv", "a,b,c\n7,7,7\n7,7,7\n7,7,7\n");
    dir.write("mixed.csv", "a,b,c\n1,2,1e-170\n2,1,2e-170\n3,1,3e-170\n");
    dir.write("c.csv", "0,3e-320\n3e-320,0\n");
    dir.write("indefinite.csv", "0,3\n3,0\n");
    let doors: [&[&str]; 6] = [
        &["solve", "pca"],
        &["solve", "pca", "--center"],
        &["solve", "l0-pca", "--bound", "1"],
        &["bound", "nonneg-pca", "--time-limit", "2"],
        &["solve", "pca", "--stream"],
        &["solve", "l1-pca", "--relative-lambda", ".1", "--storage", "gram"],
    ];
    for door in doors {
        for (file, part) in [("tiny.csv", "small"), ("subnormal.csv", "small"), ("huge.csv", "large")] {
            let args = [&door[..2], &[file, "-r", "2"], &door[2..]].concat();
            let output = dir.orthopt(&args).output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && stderr.contains(part), "{args:?}: {stderr}");
        }
    }
    for args in [
        &["solve", "pca", "zero.csv"][..],
        &["solve", "pca", "one.csv", "--center"],
        &["solve", "pca", "mixed.csv"],
        &["solve", "pca", "--gram", "indefinite.csv"],
        &["solve", "pca", "tiny.csv", "--scale", "unit"],
        &["solve", "pca", "tiny.csv", "--scale", "std"],
    ] {
        dir.orthopt(&[args, &["-r", "2"]].concat()).assert().success();
    }
    dir.fails_in_one_line(&["solve", "pca", "--gram", "c.csv", "-r", "1"], 4, &["no digits left"]);
}

/// Bounds, shares and F of data whose C has no squares are those of any unit, times it.
#[test]
fn numbers_far_from_one_are_those_of_any_unit() {
    let dir = Dir::new();
    let commands: [&[&str]; 7] = [
        &["bound", "pca"],
        &["bound", "l0-pca", "--nonzeros", "2", "--maximise", "explained"],
        &["bound", "l0-pca", "--total-nonzeros", "5"],
        &["bound", "nonneg-pca", "--nodes", "20"],
        &["solve", "l0-pca", "--nonzeros", "2", "--maximise", "explained", "--effort", "quick"],
        &["solve", "l0-pca", "--nonzeros", "2", "--effort", "quick"],
        &["solve", "robust-subspace", "--max-iters", "100"],
    ];
    let said = |command: &[&str], exponent: i32| {
        dir.write("a.csv", table(2f64.powi(exponent)));
        let mut args = vec![command[0], command[1], "a.csv", "-r", "2", "--threads", "1"];
        args.extend_from_slice(&command[2..]);
        let object = dir.json(&args);
        let back = if command[1] == "robust-subspace" { -exponent } else { -2 * exponent };
        let number = |at: &str| object.pointer(at).and_then(Value::as_f64);
        let sizes = ["/objective", "/bound"].map(|at| number(at).map(|v| v * 2f64.powi(back)));
        let shares = ["/gap", "/explained_variance/predicted", "/explained_variance/total"].map(number);
        assert!(sizes[0].is_some_and(f64::is_finite), "{args:?}: {object}");
        (sizes, shares, ["status", "proof"].map(|word| object[word].clone()))
    };
    for command in commands {
        let one = said(command, 0);
        for exponent in [-270, 280, 500] {
            // C of the last overflows, distances do not
            if exponent < 500 || command[1] == "robust-subspace" {
                assert_eq!(said(command, exponent), one, "{command:?} 2^{exponent}");
            }
        }
    }
}
