//! Options that make no sense: exit code 2.

use crate::common::Dir;

const PITPROPS: [&str; 3] = ["solve", "l0-pca", "builtin:pitprops"];

fn fails(extra: &[&str], parts: &[&str]) {
    Dir::new().fails_in_one_line(&[&PITPROPS[..], extra].concat(), 2, parts);
}

#[test]
fn ranks() {
    fails(&["-r", "20"], &["rank 20 exceeds the 13 columns"]);
    fails(&["-r", "0"], &["rank 0", "from 1 to 13"]);
    fails(&["--features", "3", "-r", "4"], &["rank 4 exceeds the 3 columns"]);
}

#[test]
fn numbers_out_of_range() {
    fails(&["--lambda", "-1"], &["lambda is -1: expected a finite number >= 0"]);
    fails(&["--lambda", "nan"], &["lambda is NaN"]);
    fails(&["--tol", "-1e-9"], &["tol is -"]);
    fails(&["--min-decrease", "nan"], &["min-decrease is NaN"]);
    fails(&["--time-limit", "-2"], &["time-limit is -2"]);
    fails(&["--max-iters", "0"], &["max-iters is 0"]);
    fails(&["--threads", "0"], &["threads is 0"]);
    fails(&["--block", "1"], &["block is 1"]);
    fails(&["--alpha", "0"], &["alpha is 0"]);
    fails(&["--candidates", "0"], &["candidates is 0"]);
    fails(&["--candidates", "some"], &["candidates is some"]);
    fails(&["--certify-sample", "0"], &["certify-sample is 0"]);
    fails(&["--features", "14"], &["14 features", "13 columns"]);
}

#[test]
fn lambda_is_checked_even_where_it_is_not_used() {
    let args = ["solve", "pca", "builtin:pitprops", "--lambda", "-1"];
    Dir::new().fails_in_one_line(&args, 2, &["lambda is -1"]);
}

#[test]
fn names_that_do_not_exist() {
    let dir = Dir::new();
    dir.fails(&["solve", "l7-pca", "builtin:pitprops"], 2, &["l7-pca", "l0-pca, l1-pca"]);
    dir.fails(&[&PITPROPS[..], &["--solver", "magic"]].concat(), 2, &["magic", "obcd"]);
    dir.fails(&[&PITPROPS[..], &["--working-set", "best"]].concat(), 2, &["best", "random", "cyclic"]);
    dir.fails(&[&PITPROPS[..], &["--model", "wrong"]].concat(), 2, &["exact"]);
    dir.fails(&["frobnicate"], 2, &["frobnicate"]);
    fails(&["--init", "middle"], &["there is no starting point 'middle'", "identity", ".npy"]);
}

#[test]
fn choices_that_do_not_go_together() {
    let dir = Dir::new();
    fails(&["--center"], &["builtin:pitprops: centring is not possible", "C itself"]);
    fails(&["--scale", "unit"], &["scaling is not possible"]);
    dir.fails(&[&PITPROPS[..], &["--gram", "c.csv"]].concat(), 2, &["--gram"]);
    let args = ["solve", "nonneg-pca", "builtin:pitprops", "--init", "random"];
    dir.fails_in_one_line(&args, 2, &["not nonnegative"]);
}

#[test]
fn something_is_missing() {
    let dir = Dir::new();
    dir.fails_in_one_line(&["solve"], 2, &["PROBLEM is missing"]);
    dir.fails_in_one_line(&["solve", "l0-pca"], 2, &["DATA is missing"]);
    dir.fails(&["certify", "l0-pca", "builtin:pitprops"], 2, &["--x"]);
}

#[test]
fn output_files_of_no_known_kind_are_refused_before_the_run() {
    fails(&["--trace", "t.txt"], &["--trace t.txt: the name must end in .csv or .jsonl"]);
    fails(&["--plot", "p.gif"], &["--plot p.gif: the name must end in .svg, .png or .pdf"]);
    if cfg!(not(feature = "pictures")) {
        fails(
            &["--plot-scores", "p.PNG"],
            &["--plot-scores p.PNG: this build draws .svg only", "`pictures`"],
        );
    }
    fails(&["--save-x", "x.mat"], &["--save-x x.mat: the name must end in .npy"]);
}

#[test]
fn solvers_of_other_problems() {
    let dir = Dir::new();
    let solve = ["solve", "l1-pca", "builtin:pitprops", "--lambda", "0.1", "--solver"];
    let parts = ["solver obcd-approx is for every smooth f without a penalty"];
    dir.fails_in_one_line(&[&solve[..], &["obcd-approx"]].concat(), 2, &parts);
    dir.fails_in_one_line(
        &[&solve[..], &["ladmm+gs-jobcd"]].concat(),
        2,
        &["solver gs-jobcd is for problems with X'JX = J"],
    );
    dir.fails(&[&solve[..], &["magic"]].concat(), 2, &["there is no solver 'magic'"]);
}

#[test]
fn more_candidates_than_pairs_are_all_pairs() {
    let args = ["--lambda", "0.1", "--solver", "obcd-sv", "--max-iters", "50", "--candidates"];
    let run = |count: &str| {
        let output = Dir::new().orthopt(&[&PITPROPS[..], &args, &[count]].concat()).output().unwrap();
        assert!(output.status.success());
        let said = String::from_utf8(output.stderr).unwrap();
        said.lines().filter(|line| !line.contains("repeat each other")).collect::<String>()
    };
    assert_eq!(run("78"), "");
    assert_eq!(run("79"), "note: --candidates exceeds the 78 pairs that exist: all are scored");
    assert!(run("18446744073709551615").contains("78 pairs"));
}

#[test]
fn thousands_of_threads_are_cut_down() {
    let args = [&PITPROPS[..], &["--threads", "10000", "--max-iters", "50"]].concat();
    let output = Dir::new().orthopt(&args).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("10000 threads are more than this machine can use"), "{said}");
}

/// A matrix that is read with the options must not start the threads.
#[test]
fn threads_are_those_asked_for_where_options_are_files() {
    let dir = Dir::new();
    dir.write("c.csv", "2,1,0\n1,2,0\n0,0,1\n");
    dir.write("map.csv", "1,0,0\n0,1,0\n0,0,1\n");
    let args = "solve l1-pca --gram c.csv --map map.csv --lambda 0.1 -r 2 --threads 1 --time-limit 1 -q";
    assert_eq!(dir.json(&args.split(' ').collect::<Vec<_>>())["threads"], 1);
}
