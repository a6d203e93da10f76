//! A seed gives the same X, for any number of threads.

use crate::common::Dir;

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let dir = Dir::new();
    let problems: &[&[&str]] = &[
        &["l0-pca", "randn:80:120:3", "--lambda", "3"],
        &["l1-pca", "sparse-randn:300:90:2000", "--lambda", "1", "--center", "--storage", "gram"],
        &["nonneg-pca", "randn:80:60", "--working-set", "greedy-or"],
        &["l1-pca", "randn:60:500", "--lambda", "1", "--init", "random"],
        &["l0-pca", "randn:40:300:3", "--lambda", "3", "--storage", "gram", "--init", "pca", "--block", "5"],
    ];
    for problem in problems {
        let x = |extra: &[&str]| {
            let common = ["-r", "4", "--max-iters", "4000", "--save-x", "x.npy", "--certify"];
            dir.orthopt(&[&["solve"], *problem, &common, extra].concat()).assert().success();
            dir.bytes("x.npy")
        };
        let first = x(&["--seed", "9", "--threads", "1"]);
        assert!(first == x(&["--seed", "9", "--threads", "1"]), "{problem:?}: again");
        assert!(first == x(&["--seed", "9", "--threads", "2"]), "{problem:?}: two threads");
    }
}

/// Kernels of every instruction set that this machine has find the same minimum, each the same bytes for any number of threads;
/// without a limit it is the widest.
#[test]
fn every_instruction_set_finds_the_same() {
    let dir = Dir::new();
    let problems: &[&[&str]] = &[
        &["l0-pca", "randn:80:60:3", "--lambda", "3", "-r", "4", "--solver", "obcd"],
        &["l1-pca", "sparse-randn:300:90:2000", "--lambda", "1", "-r", "4", "--solver", "irpg"],
        &["nonneg-pca", "randn:80:60", "-r", "4", "--solver", "ladmm+obcd"],
        &["hyperbolic-eig", "randn:60:20", "--signature", "10", "--solver", "j-jobcd"],
    ];
    for problem in problems {
        let run = |set: &str, threads: &str| {
            let words = ["--seed", "9", "--threads", threads, "--save-x", "x.npy", "--json", "x.json", "-q"];
            let mut command = dir.orthopt(&[&["solve"], *problem, &words].concat());
            command.env_remove("ORTHOPT_SIMD");
            if !set.is_empty() {
                command.env("ORTHOPT_SIMD", set);
            }
            command.assert().success();
            let object: serde_json::Value = serde_json::from_str(&dir.read("x.json")).unwrap();
            let number = |name: &str| object[name].as_f64().unwrap();
            assert!(number("feasibility") <= 1e-10, "{problem:?} {set}");
            (number("objective"), dir.bytes("x.npy"))
        };
        let (f, widest) = run("", "1");
        for set in ["scalar", "avx2", "avx512"] {
            let (other, x) = run(set, "1");
            assert!((other - f).abs() <= 1e-6 * f.abs(), "{problem:?} {set}: {other} and {f}");
            assert!(x == run(set, "2").1, "{problem:?} {set}: two threads");
            assert!(set != "avx512" || x == widest, "{problem:?}: the limit is no lower than the machine");
        }
    }
    let mut unknown = dir.orthopt(&["list", "solvers"]);
    let output = unknown.env("ORTHOPT_SIMD", "sse9").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("ORTHOPT_SIMD is `sse9`: expected scalar, avx2, avx512"), "{message}");
}
