//! `orthopt bound` and `certify --global`.

use crate::common::{Dir, feasibility, read_npy, stdout};

const PROBLEM: [&str; 6] = ["l0-pca", "builtin:pitprops", "-r", "3", "--lambda", "0.1"];

fn bound(extra: &[&'static str]) -> Vec<&'static str> {
    [&["bound"], &PROBLEM[..], extra].concat()
}

#[test]
fn the_first_answer_of_the_readme_is_a_global_minimum() {
    let dir = Dir::new();
    let text = stdout(&mut dir.orthopt(&bound(&["--plot", "b.svg", "--save-x", "x.npy"])));
    for part in ["bound         -2.6368194", "F is proved to be the global minimum", "; optimal"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let svg = dir.read("b.svg");
    assert!(svg.contains("bound") && svg.contains("proved to be the global minimum"), "no legend");
    assert!(feasibility(&read_npy(&dir.path("x.npy"))) < 1e-12);
    let object = dir.json(&bound(&[]));
    assert_eq!((object["schema"].as_u64(), object["proof"].as_str()), (Some(1), Some("optimal")));
    assert_eq!((object["status"].as_str(), object["method"].as_str()), (Some("optimal"), Some("blocks")));
    let number = |name: &str| object[name].as_f64().unwrap();
    assert!((number("bound") + 2.636819401).abs() < 1e-6 && number("objective") >= number("bound"));
    assert!((0.0..1e-9).contains(&number("gap")) && number("seconds") > 0.0);
    assert!(number("relaxation") < number("bound"));
}

#[test]
fn the_relaxation_alone_leaves_a_gap_and_its_dual() {
    let dir = Dir::new();
    let object = dir.json(&bound(&["--nodes", "0", "--save-dual", "dual.npz"]));
    assert_eq!((object["proof"].as_str(), object["method"].as_str()), (None, Some("fantope")));
    assert!((object["gap"].as_f64().unwrap() - 0.0187).abs() < 1e-3, "{object}");
    assert_eq!(object["relaxation"], object["bound"]);
    dir.json(&bound(&["--nodes", "0", "--save-dual", "z.npy"]));
    let z = read_npy(&dir.path("z.npy"));
    assert_eq!((z.len(), z[0].len()), (13, 13));
    assert!(z.iter().flatten().all(|v| v.abs() <= 0.1));
    let arrays = dir.bytes("dual.npz");
    assert!(arrays.starts_with(b"PK"));
    for name in ["C", "Z", "method", "rank", "lam", "K", "constant", "relaxation", "bound", "objective"] {
        let entry = format!("{name}.npy");
        assert!(arrays.windows(entry.len()).any(|bytes| bytes == entry.as_bytes()), "no {entry}");
    }
    // the method is a text of NumPy
    let text: Vec<u8> = "fantope".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    assert!(arrays.windows(text.len()).any(|bytes| bytes == text) && arrays.windows(3).any(|b| b == b"<U7"));
    let info = stdout(&mut dir.orthopt(&["data", "info", "z.npy"]));
    assert!(info.contains("13"), "{info}");
}

#[test]
fn an_x_of_ones_own_is_the_incumbent() {
    let dir = Dir::new();
    let solve = ["solve", "l0-pca", "builtin:pitprops", "-r", "2", "--lambda", "0.2", "--save-x", "x.npy"];
    dir.orthopt(&solve).assert().success();
    let given = ["l0-pca", "builtin:pitprops", "--lambda", "0.2", "--x", "x.npy"];
    let object = dir.json(&[&["bound"], &given[..]].concat());
    assert_eq!((object["rank"].as_u64(), object["incumbent"].as_str()), (Some(2), Some("x.npy")));
    assert_eq!(object["proof"], "optimal");
    let text = stdout(&mut dir.orthopt(&[&["certify"], &given[..], &["--global", "20"]].concat()));
    for part in
        ["certified block-2 stationary", "bound         -1.24407", "F is proved to be the global minimum"]
    {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let object = dir.json(&[&["certify"], &given[..], &["--global"]].concat());
    assert_eq!((object["certified"].as_bool(), object["proof"].as_str()), (Some(true), Some("optimal")));
    assert!(object["gap"].as_f64().unwrap() < 1e-9 && object["bound"].is_number());
    let without = dir.json(&[&["certify"], &given[..]].concat());
    assert!(without["bound"].is_null() && without["gap"].is_null() && without["proof"].is_null());
}

#[test]
fn solve_bounds_what_it_found() {
    let dir = Dir::new();
    let solve = [&["solve"], &PROBLEM[..]].concat();
    let object = dir.json(&[&solve[..], &["--bound", "30"]].concat());
    assert_eq!((object["proof"].as_str(), object["status"].as_str()), (Some("optimal"), Some("optimal")));
    let plain = dir.json(&solve);
    assert_eq!(plain["status"], "optimal"); // a search proves by itself what costs little
    let counted = dir.json(&[&solve[..], &["--max-iters", "1000000", "--effort", "normal"]].concat());
    assert_eq!((counted["status"].as_str(), counted["bound"].is_null()), (Some("converged"), true));
    // the bound comes after the search, which it does not change
    assert_eq!((&object["objective"], &object["iterations"]), (&plain["objective"], &plain["iterations"]));
    let number = |name: &str| object[name].as_f64().unwrap();
    assert!(number("gap") < 1e-9 && number("bound") <= number("objective"));
    let text = stdout(&mut dir.orthopt(&[&solve[..], &["--bound", "--plot", "f.svg"]].concat()));
    assert!(text.contains("F is proved to be the global minimum"), "{text}");
    assert!(dir.read("f.svg").contains("proved to be the global minimum"));
    assert!((plain["bound"].as_f64().unwrap() - number("bound")).abs() <= 1e-9 * number("bound").abs());
    dir.fails_in_one_line(
        &["solve", "l0-pca", "builtin:pitprops", "--penalty", "scad", "--bound", "1"],
        2,
        &["no bound"],
    );
    dir.fails_in_one_line(&["solve", "l0-pca", "randn:9:3", "--bound", "-1"], 2, &["bound is -1"]);
    dir.fails_in_one_line(
        &["compare", "l0-pca", "randn:9:3", "--bound", "1"],
        2,
        &["orthopt bound computes it"],
    );
}

#[test]
fn numbers_of_nonzeros_are_limited() {
    let dir = Dir::new();
    let limited = |extra: &[&str]| {
        dir.json(
            &[&["bound", "l0-pca", "builtin:pitprops", "-r", "2", "--maximise", "variance"], extra].concat(),
        )["bound"]
            .as_f64()
            .unwrap()
    };
    let (each, total) = (limited(&["--nonzeros", "5"]), limited(&["--total-nonzeros", "10"]));
    let (uneven, plain) = (limited(&["--nonzeros", "1,9"]), limited(&["--total-nonzeros", "26"]));
    assert!(plain <= total && total <= each + 1e-9 && total <= uneven, "{plain} {total} {each} {uneven}");
    let x = "0.7071067811865476,0\n0.7071067811865476,0\n0,1\n".to_string() + &"0,0\n".repeat(10);
    dir.write("x.csv", x);
    let given = ["bound", "l0-pca", "builtin:pitprops", "--x", "x.csv", "--nonzeros"];
    let object = dir.json(&[&given[..], &["2"]].concat());
    assert!(object["gap"].as_f64().unwrap() > 0.0 && object["lambda"].is_null(), "{object}");
    assert!(object["limits"]["components"] == serde_json::json!([2, 2]), "{object}");
    dir.fails_in_one_line(&[&given[..], &["1"]].concat(), 2, &["x.csv: X has 2, 1 nonzeros"]);
}

#[test]
fn what_has_no_bound_says_so_and_why() {
    let dir = Dir::new();
    let refused = |args: &[&str], parts: &[&str]| {
        dir.fails_in_one_line(&[&["bound"], args].concat(), 2, parts);
    };
    refused(&["hyperbolic-eig", "builtin:pitprops"], &["no bound", "there are bounds for l0-pca"]);
    refused(&["l0-pca", "builtin:pitprops", "--penalty", "mcp"], &["no bound", "no longer grows"]);
    refused(&["l1-pca", "builtin:pitprops", "--penalty", "elastic-net"], &["take l1"]);
    refused(&["l1-pca", "builtin:pitprops", "--nonzeros", "3"], &["is for l0-pca, nonneg-pca and pca"]);
    refused(&["l0-pca", "builtin:pitprops", "--trace", "t.csv"], &["not write a trace"]);
    refused(&["l0-pca", "builtin:pitprops", "--certify"], &["certify --global"]);
    refused(&["l0-pca", "builtin:pitprops", "--save-dual", "z.txt"], &[".npy or .npz"]);
    refused(&["l0-pca", "builtin:pitprops", "--time-limit", "-1"], &["time-limit is -1"]);
    refused(&["l0-pca", "builtin:pitprops", "-r", "2", "--nonzeros", "1,2,3"], &["3 numbers"]);
    dir.write("x.csv", "1\n0\n0\n");
    let given = ["certify", "l0-pca", "randn:9:3", "--penalty", "scad", "--x", "x.csv", "--global"];
    dir.fails_in_one_line(&given, 2, &["no bound"]);
}

/// The limits of time and nodes are results, not failures.
#[test]
fn limits_keep_the_bound() {
    let dir = Dir::new();
    let hard = ["bound", "l0-pca", "randn:60:40:1", "-r", "3", "--lambda", "6", "--max-iters", "2000"];
    let object = dir.json(&[&hard[..], &["--nodes", "20", "--time-limit", "600"]].concat());
    assert_eq!(object["status"], "max_iters");
    assert!((20..60).contains(&object["nodes"].as_u64().unwrap()), "{}", object["nodes"]);
    let object = dir.json(&[&hard[..], &["--time-limit", "0.3"]].concat());
    assert_eq!(object["status"], "time_limit");
    assert!(object["bound"].as_f64().unwrap() <= object["objective"].as_f64().unwrap());
}
