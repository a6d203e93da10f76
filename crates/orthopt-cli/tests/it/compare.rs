//! `compare`: one problem and one start, several solvers.

use crate::common::{Dir, feasibility, orthopt, read_npy, stdout};

const TASK: [&str; 7] = ["compare", "l0-pca", "builtin:pitprops", "-r", "3", "--lambda", "0.1"];

fn args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&TASK[..], more].concat()
}

#[test]
fn every_solver_has_a_row_and_the_best_has_nothing_above_it() {
    let text = stdout(&mut orthopt(&args(&["--solvers", "obcd-r,obcd-c,obcd-r+obcd-jacobi", "--certify"])));
    for name in ["obcd-r", "obcd-c", "obcd-r+obcd-jacobi"] {
        assert!(text.lines().any(|line| line.split_whitespace().next() == Some(name)), "{name}: {text}");
    }
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("obcd"))
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert!(rows.iter().any(|row| row[2] == "0"), "{text}");
    assert!(rows.iter().all(|row| row.contains(&"certified") && row.last() == Some(&"converged")), "{text}");
}

#[test]
fn without_names_the_search_and_its_arms_run() {
    let dir = Dir::new();
    let all = dir.json(&args(&["--max-iters", "50"]));
    let names: Vec<&str> = all.as_array().unwrap().iter().map(|o| o["solver"].as_str().unwrap()).collect();
    assert!(names[0] == "auto" && names.contains(&"obcd k-components"), "{names:?}");
    for object in all.as_array().unwrap() {
        assert_eq!(object["schema"], 1);
        let name = object["solver"].as_str().unwrap();
        assert!(name == "auto" || name.ends_with(object["start"].as_str().unwrap()), "{name}");
        assert!(object["feasibility"].as_f64().unwrap() <= 1e-12, "{object}");
        assert!(object["criticality"].is_number());
    }
}

#[test]
fn files_hold_the_best_x_and_all_curves() {
    let dir = Dir::new();
    let more = ["--solvers", "obcd-c,obcd-r", "--save-x", "x.npy", "--plot", "f.svg", "--json", "all.json"];
    dir.orthopt(&args(&more)).assert().success();
    let all: serde_json::Value = serde_json::from_str(&dir.read("all.json")).unwrap();
    let best = all.as_array().unwrap().iter().map(|o| o["objective"].as_f64().unwrap()).fold(0.0, f64::min);
    let x = read_npy(&dir.path("x.npy"));
    assert!(feasibility(&x) <= 1e-12);
    let known = dir.json(&["certify", "l0-pca", "builtin:pitprops", "--lambda", "0.1", "--x", "x.npy"]);
    assert!((known["objective"].as_f64().unwrap() - best).abs() <= 1e-12 * best.abs());
    let plot = dir.read("f.svg");
    assert!(plot.contains("obcd-c") && plot.contains("obcd-r"));
}

#[test]
fn a_chain_is_not_above_its_first_solver() {
    let dir = Dir::new();
    let f = |solver: &str| {
        let object = dir.json(&args(&["--solvers", solver, "--max-iters", "2000"]));
        object[0]["objective"].as_f64().unwrap()
    };
    assert!(f("obcd-c+obcd-jacobi") <= f("obcd-c") + 1e-12);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let dir = Dir::new();
    dir.fails_in_one_line(&args(&["--solver", "obcd"]), 2, &["--solvers A,B,..."]);
    dir.fails_in_one_line(
        &args(&["--solvers", "obcd,simplex"]),
        2,
        &["there is no solver 'simplex'", "obcd-sv"],
    );
    dir.fails_in_one_line(&args(&["--solvers", "obcd", "--trace", "t.csv"]), 2, &["--plot"]);
    dir.fails_in_one_line(&args(&["--solvers", "obcd", "--init", "nowhere.npy"]), 1, &["nowhere.npy"]);
}

/// Starts that the search chooses by itself do not end a comparison: a table of zeros has no component to find.
#[test]
fn a_table_of_zeros_is_compared() {
    let dir = Dir::new();
    dir.write("z.csv", format!("a,b,c,d\n{}", "0,0,0,0\n".repeat(6)));
    for extra in
        [&["--lambda", "1"][..], &["--nonzeros", "2"], &["--nonzeros", "2", "--constraint", "uncorrelated"]]
    {
        let compare = ["compare", "l0-pca", "z.csv", "-r", "2", "--max-iters", "20"];
        dir.orthopt(&[&compare[..], extra].concat()).assert().success();
        let solve = ["solve", "l0-pca", "z.csv", "-r", "2", "--restarts", "0"];
        let said = dir.orthopt(&[&solve[..], extra].concat()).output().unwrap();
        assert!(said.status.success(), "{extra:?}: {said:?}");
        let solve =
            dir.orthopt(&[&["solve", "l0-pca", "z.csv", "-r", "2"][..], extra].concat()).output().unwrap();
        let said = String::from_utf8(solve.stderr).unwrap();
        assert!(!said.contains("failed") && !said.contains("above the global minimum"), "{extra:?}: {said}");
    }
}
