//! Problems over the J-orthogonal group from the command line.

mod common;

use common::{Dir, orthopt, read_npy, stdout};
use predicates::prelude::*;

#[test]
fn hyperbolic_eig_reaches_the_closed_form() {
    let dir = Dir::new();
    dir.write("signs.txt", "1\n-1\n1\n-1\n-1\n1\n1\n");
    for signature in ["0", "3", "7", "signs.txt"] {
        let object =
            dir.json(&["solve", "hyperbolic-eig", "randn:40:7", "--signature", signature, "--certify"]);
        let (f, optimum) = (object["objective"].as_f64().unwrap(), object["optimum"].as_f64().unwrap());
        assert!((f - optimum).abs() <= 1e-8 * optimum, "{signature}: {f} {optimum}");
        assert!(object["feasibility"].as_f64().unwrap() <= 1e-13, "{signature}");
        assert_eq!(object["status"], "converged", "{signature}");
        assert_eq!(object["certificate"]["pairs_checked"], 21);
    }
}

#[test]
fn the_papers_sign_is_unbounded_and_says_so() {
    let dir = Dir::new();
    let args = ["solve", "hyperbolic-eig", "randn:40:6", "--reproduction", "--save-x", "x.npy"];
    dir.orthopt(&args).assert().code(4).stdout(predicate::str::contains("unbounded"));
    let x = read_npy(&dir.path("x.npy"));
    assert!(x.iter().flatten().all(|v| v.is_finite()));
}

#[test]
fn certify_measures_any_x() {
    let dir = Dir::new();
    dir.orthopt(&["solve", "hyperbolic-eig", "randn:30:5", "--signature", "2", "--save-x", "x.npy"])
        .assert()
        .success();
    let text = stdout(&mut dir.orthopt(&[
        "certify",
        "hyperbolic-eig",
        "randn:30:5",
        "--signature",
        "2",
        "--x",
        "x.npy",
    ]));
    assert!(text.contains("mean of |X'JX - J|") && text.contains("certified block-2 stationary"), "{text}");
    dir.fails_in_one_line(
        &["certify", "hyperbolic-eig", "randn:30:5", "--signature", "3", "--x", "x.npy"],
        1,
        &["X is not J-orthogonal"],
    );
}

#[test]
fn compare_and_probe() {
    let dir = Dir::new();
    let all = dir.json(&[
        "compare",
        "hyperbolic-eig",
        "randn:30:6",
        "--solvers",
        "gs-jobcd,j-jobcd",
        "--time-limit",
        "5",
    ]);
    for object in all.as_array().unwrap() {
        let gap = object["objective"].as_f64().unwrap() - object["optimum"].as_f64().unwrap();
        assert!(gap.abs() <= 1e-7, "{object}");
    }
    let probe = ["solve", "probe", "randn:20:6", "--signature", "3", "--max-iters", "200", "--restarts", "0"];
    let object = dir.json(&probe);
    assert_eq!(object["solver"], "j-jobcd");
    assert!(object["feasibility"].as_f64().unwrap() <= 1e-12);
    let start = dir.json(&[&probe[..5], &["--max-iters", "1", "--restarts", "0"]].concat());
    assert!(object["objective"].as_f64() <= start["objective"].as_f64());
}

#[test]
fn bad_input_says_what_to_do() {
    let dir = Dir::new();
    let solve = |more: &[&'static str]| [&["solve", "hyperbolic-eig"][..], more].concat();
    dir.fails_in_one_line(&solve(&["randn:30:5", "--signature", "6"]), 2, &["signature is 6", "at most"]);
    dir.fails_in_one_line(&solve(&["randn:30:5", "--signature", "nowhere.txt"]), 1, &["nowhere.txt"]);
    dir.fails_in_one_line(&solve(&["randn:3:5"]), 1, &["not positive definite", "ridge"]);
    dir.fails_in_one_line(&solve(&["randn:30:5", "-r", "3"]), 2, &["X of hyperbolic-eig is square"]);
    dir.fails_in_one_line(&solve(&["randn:30:5", "--solver", "obcd"]), 2, &["no solver is called 'obcd'"]);
    dir.write("signs.txt", "1\n0\n-1\n1\n1\n");
    dir.fails_in_one_line(&solve(&["randn:30:5", "--signature", "signs.txt"]), 2, &["entry 2"]);
    dir.write("c.csv", "2,1\n0,2\n");
    dir.fails_in_one_line(&solve(&["--gram", "c.csv"]), 1, &["not symmetric"]);
    orthopt(&solve(&["randn:3:5", "--ridge", "0.1"])).assert().success();
}
