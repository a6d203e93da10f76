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
