//! `orthopt solve`: the summary, and what can be chosen.

use crate::common::{Dir, feasibility, orthopt, read_npy, stdout};
use predicates::prelude::*;

const PITPROPS: [&str; 3] = ["solve", "l0-pca", "builtin:pitprops"];

#[test]
fn the_first_run_of_a_newcomer() {
    let args = [&PITPROPS[..], &["-r", "3", "--lambda", "0.5", "--certify"]].concat();
    let text = stdout(&mut orthopt(&args));
    let has = |text: &str, parts: &[&str]| {
        for part in parts {
            assert!(text.contains(part), "no `{part}` in\n{text}");
        }
    };
    // components first, and what they have together beside PCA
    assert!(
        text.starts_with("component  nonzeros       own     added  largest loadings\n        1"),
        "{text}"
    );
    let shared = [
        " together ",
        "of the variance; PCA with as many components: 65.",
        "explained by regression on the scores: ",
        "optimal       F is the global minimum: it equals its lower bound",
        "data          builtin:pitprops, 13 x 13, C itself",
        "||X'X - I||_F",
        "certificate   certified block-2 stationary: all ",
    ];
    has(&text, &shared);
    has(&text, &["problem       l0-pca, rank 3, lambda 0.5\n", " from "]);
    assert!(!text.contains("race of") && !text.contains("local search"), "{text}");

    let text = stdout(&mut orthopt(&[&args[..], &["-v"]].concat()));
    has(&text, &shared);
    has(
        &text,
        &[
            "problem       l0-pca, sparse PCA: min -1/2 <X, CX> + lambda ||X||_0",
            "rank          3",
            "lambda        0.5",
            "solver        ",
            "- race of ",
            "search        ",
            "local search: ",
            "(smooth) + ",
            "iterations",
        ],
    );
}

#[test]
fn loadings_carry_names_or_numbers() {
    let text = stdout(&mut orthopt(&[&PITPROPS[..], &["-r", "2", "--lambda", "0.1"]].concat()));
    assert!(text.contains("topdiam") || text.contains("moist"), "{text}");

    let text = stdout(&mut orthopt(&["solve", "pca", "randn:30:4", "-r", "1", "--top", "2"]));
    let row = text.lines().find(|line| line.trim_start().starts_with("1  ")).unwrap();
    let shown = row.split_whitespace().filter(|word| word.starts_with('x')).count();
    assert_eq!(shown, 2, "{row}");

    let text = stdout(&mut orthopt(&["solve", "pca", "randn:30:4", "-r", "1", "--top", "0"]));
    assert!(!text.contains("largest loadings") && !text.contains("x1 "), "{text}");
}

#[test]
fn rank_and_lambda_have_defaults_and_say_so() {
    let text = stdout(&mut orthopt(&[&PITPROPS[..], &["--effort", "quick"]].concat()));
    assert!(text.contains("l0-pca, rank 5, nonzeros "), "{text}");
    assert!(text.contains("- rank 5: 5, or one fewer than the columns if that is less"), "{text}");
    assert!(text.contains("nonzeros in each component: the knee"), "{text}");
    let text = stdout(&mut orthopt(&[&PITPROPS[..], &["--solver", "obcd"]].concat()));
    assert!(text.contains("- lambda 0.05: 0.05 of the mean of the 5 largest C_ii"), "{text}");
    let text = stdout(&mut orthopt(&["solve", "l1-pca", "randn:20:3"]));
    assert!(text.contains("l1-pca, rank 2, lambda "), "{text}");
}

#[test]
fn lambda_is_refused_where_there_is_none() {
    for (problem, more) in [
        ("pca", &[][..]),
        ("nonneg-pca", &[]),
        ("pca", &["--nonzeros", "3"]),
        ("nonneg-pca", &["--variables", "6"]),
    ] {
        let args = ["solve", problem, "builtin:pitprops", "-r", "2", "--lambda", "3"];
        let said = format!("--lambda does not apply to {problem}");
        Dir::new().fails_in_one_line(
            &[&args[..], more].concat(),
            2,
            &[&said, "a penalty with a weight", "leave it out"],
        );
    }
    let args = ["solve", "l0-pca", "builtin:pitprops", "-r", "2", "--lambda", "3"];
    let uncorrelated = ["--nonzeros", "3", "--constraint", "uncorrelated", "--penalty", "none"];
    Dir::new().fails_in_one_line(
        &[&args[..], &uncorrelated].concat(),
        2,
        &["--lambda does not apply", "leave one of them out"],
    );
}

#[test]
fn plain_pca_finds_the_leading_eigenspace() {
    let object = Dir::new().json(&["solve", "pca", "builtin:pitprops", "-r", "2"]);
    // half the sum of the two largest eigenvalues
    let f = object["objective"].as_f64().unwrap();
    assert!((f + 3.298_366_767).abs() < 1e-6, "{f}");
}

#[test]
fn nonnegative_components_are_nonnegative() {
    let dir = Dir::new();
    let args = ["solve", "nonneg-pca", "builtin:pitprops", "-r", "3", "--save-x", "x.npy", "-v"];
    let text = stdout(&mut dir.orthopt(&args));
    assert!(text.contains("nonnegativity 0.0e0, ||min(0, X)||_F"), "{text}");
    let x = read_npy(&dir.path("x.npy"));
    assert!(x.iter().flatten().all(|v| *v >= 0.0));
    assert!(feasibility(&x) < 1e-12);
}

#[test]
fn every_start_rule_and_model_runs() {
    let dir = Dir::new();
    let solve = ["solve", "l0-pca", "builtin:pitprops", "-r", "2", "--lambda", "0.1", "--max-iters", "2000"];
    let choices: &[&[&str]] = &[
        &["--init", "identity"],
        &["--init", "coordinates"],
        &["--init", "pca"],
        &["--init", "random", "--seed", "3"],
        &["--init", "partition"],
        &["--solver", "obcd"],
        &["--solver", "auto", "--restarts", "3"],
        &["--working-set", "cyclic"],
        &["--working-set", "greedy-sv", "--candidates", "10"],
        &["--working-set", "greedy-or", "--candidates", "all"],
        &["--block", "4"],
        &["--model", "diagonal"],
        &["--alpha", "0.001"],
        &["--min-decrease", "0.5"],
    ];
    for choice in choices {
        let object = dir.json(&[&solve[..], choice].concat());
        assert!(object["objective"].as_f64().unwrap() < 0.0, "{choice:?}");
        assert!(object["feasibility"].as_f64().unwrap() < 1e-12, "{choice:?}");
    }
}

#[test]
fn a_saved_x_is_a_start() {
    let dir = Dir::new();
    let solve = ["solve", "l0-pca", "builtin:pitprops", "-r", "2", "--lambda", "0.1"];
    let first = dir.json(&[&solve[..], &["--save-x", "x.npy"]].concat());
    let second = dir.json(&[&solve[..], &["--init", "x.npy"]].concat());
    assert_eq!(second["start"], "file");
    assert!(second["objective"].as_f64().unwrap() <= first["objective"].as_f64().unwrap() + 1e-9);
}

#[test]
fn limits_end_a_run() {
    let dir = Dir::new();
    let solve =
        ["solve", "l1-pca", "randn:40:60", "-r", "4", "--lambda", "1", "--tol", "0", "--solver", "obcd"];
    let object = dir.json(&[&solve[..], &["--max-iters", "100"]].concat());
    assert_eq!((object["status"].as_str(), object["iterations"].as_u64()), (Some("max_iters"), Some(100)));
    let object = dir.json(&[&solve[..], &["--time-limit", "0.05"]].concat());
    assert_eq!(object["status"], "time_limit");
    let object = dir.json(&[&solve[..], &["--min-decrease", "0.1"]].concat());
    assert_eq!(object["status"], "stalled");
    // the search, too
    let search = &["solve", "l0-pca", "randn:40:60", "-r", "4", "--lambda", "1"];
    let object = dir.json(&[&search[..], &["--max-iters", "100"]].concat());
    assert_eq!((object["status"].as_str(), object["iterations"].as_u64()), (Some("max_iters"), Some(100)));
    let object = dir.json(&[&search[..], &["--time-limit", "0"]].concat());
    assert_eq!(object["status"], "time_limit");
}

/// A run with a time limit does not compute the optimum of a large problem.
#[test]
fn no_optimum_of_large_problems_after_a_limit_of_time() {
    let dir = Dir::new();
    for (data, is_known) in [("randn:20:400", true), ("randn:20:600", false)] {
        let solve = ["solve", "pca", data, "-r", "2", "--solver", "obcd"];
        let object = dir.json(&[&solve[..], &["--time-limit", "0"]].concat());
        assert_eq!((object["status"].as_str(), object["optimum"].is_f64()), (Some("time_limit"), is_known));
        let object = dir.json(&[&solve[..], &["--max-iters", "1"]].concat());
        assert!(object["optimum"].as_f64().unwrap() <= object["objective"].as_f64().unwrap());
    }
}

#[test]
fn a_table_of_samples_is_prepared_when_asked() {
    let dir = Dir::new();
    dir.write("a.csv", "height,weight,age\n1,10,3\n2,11,5\n3,13,2\n4,19,8\n");
    let text = stdout(&mut dir.orthopt(&["solve", "pca", "a.csv", "-r", "1", "--center", "--scale", "unit"]));
    assert!(text.contains("a.csv, 4 x 3, columns centred, columns scaled to norm 1"), "{text}");
    assert!(text.contains("weight 0."), "{text}");
    // uncentred data with large means get a remark
    dir.orthopt(&["solve", "pca", "a.csv", "-r", "1"])
        .assert()
        .success()
        .stderr(predicate::str::contains("of tr C; --center subtracts them"));
    let object = dir.json(&["solve", "pca", "a.csv", "-r", "1", "--features", "2"]);
    assert_eq!(object["data"]["cols"], 2);
}

#[test]
fn sparse_and_dense_data_give_the_same_f() {
    let dir = Dir::new();
    dir.orthopt(&["data", "generate", "sparse-randn:60:12:150", "a.mtx"]).assert().success();
    dir.orthopt(&["data", "convert", "a.mtx", "a.npy"]).assert().success();
    let f = |extra: &[&str]| {
        let args = ["solve", "pca", "-r", "2", "--center", "--tol", "1e-12"];
        dir.json(&[&args[..], extra].concat())["objective"].as_f64().unwrap()
    };
    let dense = f(&["a.npy"]);
    for other in [f(&["a.mtx"]), f(&["a.mtx", "--storage", "gram"]), f(&["a.npy", "--storage", "gram"])] {
        assert!((dense - other).abs() <= 1e-7 * dense.abs(), "{dense} {other}");
    }
}

#[test]
fn c_itself_can_be_given() {
    let dir = Dir::new();
    dir.orthopt(&["data", "convert", "builtin:pitprops", "c.csv"]).assert().success();
    let given = dir.json(&["solve", "l0-pca", "--gram", "c.csv", "-r", "3", "--lambda", "0.1"]);
    let builtin = dir.json(&["solve", "l0-pca", "builtin:pitprops", "-r", "3", "--lambda", "0.1"]);
    assert_eq!(given["objective"], builtin["objective"]);
    assert_eq!(given["data"]["role"], "gram");
}

#[test]
fn one_variable_is_enough() {
    let dir = Dir::new();
    for problem in ["l0-pca", "l1-pca", "nonneg-pca", "pca"] {
        let mut args = vec!["solve", problem, "randn:10:1", "--certify"];
        if problem == "l0-pca" {
            args.extend(["--lambda", "0.1"]); // a number of nonzeros ties all rows together: no pairs
        }
        let object = dir.json(&args);
        let known = matches!(object["status"].as_str(), Some("converged" | "optimal"));
        assert!(known && object["rank"] == 1, "{object}");
        assert_eq!(object["certificate"]["pairs_total"], 0);
    }
}
