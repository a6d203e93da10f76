//! Data that cannot be read or make no sense: exit code 1 and one line that says where.

use crate::common::Dir;

fn solve_fails(file: &str, content: impl AsRef<[u8]>, parts: &[&str]) {
    let dir = Dir::new();
    dir.write(file, content);
    dir.fails_in_one_line(&["solve", "l0-pca", file, "--lambda", "1"], 1, parts);
}

#[test]
fn missing_or_unknown_files() {
    let dir = Dir::new();
    dir.fails_in_one_line(&["solve", "pca", "nothing.csv"], 1, &["`nothing.csv`: no such file"]);
    dir.write("a.xyz", "1,2\n");
    dir.fails_in_one_line(&["solve", "pca", "a.xyz"], 1, &["`a.xyz`", ".xyz", ".svm", ".npy"]);
    dir.fails_in_one_line(&["solve", "pca", "randn:10"], 1, &["randn:M:N[:SEED]"]);
    dir.fails_in_one_line(&["solve", "pca", "builtin:moon"], 1, &["builtin:pitprops"]);
}

#[test]
fn libsvm() {
    solve_fails("a.svm", "1 1:0.5\n1 0:2\n", &["a.svm:2: ", "index"]);
    solve_fails("a.svm", "1 3:0.5 2:1\n", &["a.svm:1: "]);
    solve_fails("a.svm", "1 1:0.5\n-1 2:nan\n", &["a.svm:2"]);
}

#[test]
fn csv() {
    solve_fails("a.csv", "a,b\n1,2\n3\n", &["a.csv:3: "]);
    solve_fails("a.csv", "", &["a.csv"]);
    solve_fails("a.csv", "1,2\n3,inf\n", &["a.csv:2"]);
}

#[test]
fn matrix_market_with_a_wrong_count() {
    let header = "%%MatrixMarket matrix coordinate real general\n";
    solve_fails("a.mtx", format!("{header}2 2 3\n1 1 1\n2 2 1\n"), &["a.mtx", "3"]);
}

#[test]
fn truncated_files() {
    let dir = Dir::new();
    dir.orthopt(&["data", "generate", "randn:6:5", "a.npy"]).assert().success();
    dir.orthopt(&["data", "generate", "randn:60:5", "a.csv.gz"]).assert().success();
    for file in ["a.npy", "a.csv.gz"] {
        let bytes = dir.bytes(file);
        dir.write(file, &bytes[..bytes.len() - 20]);
        dir.fails_in_one_line(&["solve", "pca", file], 1, &[file]);
    }
}

#[test]
fn a_gram_matrix_that_is_none() {
    let dir = Dir::new();
    dir.write("c.csv", "1,0.5\n0.25,1\n");
    dir.fails_in_one_line(
        &["solve", "pca", "--gram", "c.csv"],
        1,
        &["c.csv: ", "not symmetric", "entry (1, 2) is 0.5 but entry (2, 1) is 0.25"],
    );
    dir.write("c.csv", "1,2,3\n4,5,6\n");
    dir.fails_in_one_line(&["solve", "pca", "--gram", "c.csv"], 1, &["2 x 3", "square"]);
    dir.fails_in_one_line(&["solve", "pca", "--gram", "none.csv"], 1, &["--gram: cannot read `none.csv`"]);
}

#[test]
fn a_start_that_is_none() {
    let dir = Dir::new();
    let solve = |file: &'static str| {
        ["solve", "l0-pca", "builtin:pitprops", "-r", "2", "--lambda", "1", "--init", file]
    };
    dir.fails_in_one_line(&solve("none.npy"), 1, &["--init: cannot read `none.npy`"]);
    dir.orthopt(&["data", "generate", "randn:5:2", "x.npy"]).assert().success();
    dir.fails_in_one_line(&solve("x.npy"), 1, &["--init: X is 5 x 2", "13 rows"]);
    dir.orthopt(&["data", "generate", "randn:2:13", "x.npy"]).assert().success();
    dir.fails_in_one_line(&solve("x.npy"), 1, &["X is 2 x 13", "transposed"]);
    dir.orthopt(&["data", "generate", "randn:13:3", "x.npy"]).assert().success();
    dir.fails_in_one_line(&solve("x.npy"), 1, &["13 x 3, expected 13 x 2"]);
    dir.orthopt(&["data", "generate", "randn:13:2", "x.npy"]).assert().success();
    dir.fails_in_one_line(&solve("x.npy"), 1, &["not orthonormal", "error of its Gram matrix is "]);
}

#[test]
fn numbers_too_large_to_square() {
    let dir = Dir::new();
    dir.write("a.csv", "1e200,1\n1e200,2\n");
    dir.fails_in_one_line(&["solve", "pca", "a.csv"], 4, &["overflows in column 1"]);
    dir.orthopt(&["solve", "pca", "a.csv", "--scale", "unit"]).assert().success();
}

/// Squares of the coefficients of a pair overflow: these ran for ever, and no limit stopped them.
#[test]
fn numbers_whose_fourth_powers_overflow_end() {
    let dir = Dir::new();
    let rows: Vec<String> = (0..12u32)
        .map(|i| (0..6u32).map(|j| ((7 * i + 3 * j * j) % 11).to_string()).collect::<Vec<_>>().join(","))
        .collect();
    let mut text = rows.join("\n") + "\n";
    text.replace_range(0..1, "1e80");
    dir.write("huge.csv", &text);
    for args in [
        &["solve", "l1-pca", "huge.csv", "-r", "2"][..],
        &["solve", "nonneg-pca", "huge.csv", "-r", "2"],
        &["solve", "l1-pca", "builtin:pitprops", "-r", "2", "--alpha", "1e300"],
        &["solve", "scad-pca", "builtin:pitprops", "-r", "2", "--lambda", "1e300"],
        &["solve", "mcp-pca", "builtin:pitprops", "-r", "2", "--lambda", "1e155"],
    ] {
        let limits = ["--solver", "obcd", "--restarts", "0", "--time-limit", "5", "--json", "-"];
        let mut command = dir.orthopt(&[args, &limits].concat());
        let output = command.timeout(std::time::Duration::from_secs(60)).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| {
            panic!("{args:?}: {e}: {}", String::from_utf8_lossy(&output.stderr));
        });
        assert!(report["feasibility"].as_f64().unwrap() < 1e-12, "{args:?}");
    }
}
