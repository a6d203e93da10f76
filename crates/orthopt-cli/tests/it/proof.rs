//! `orthopt bound ... --proof FILE.json` and `orthopt check-proof FILE.json DATA`.

use crate::common::{Dir, stdout};

const PROBLEM: [&str; 6] = ["bound", "l0-pca", "builtin:pitprops", "-r", "2", "--nonzeros"];

fn write(dir: &Dir, extra: &[&'static str]) {
    dir.orthopt(&[&PROBLEM[..], extra].concat()).assert().success();
}

#[test]
fn a_proof_is_written_and_checked() {
    let dir = Dir::new();
    write(&dir, &["3", "--proof", "p.json", "--threads", "1"]);
    let text = stdout(&mut dir.orthopt(&["check-proof", "p.json", "builtin:pitprops"]));
    for part in [
        "holds; written by orthopt ",
        "no other choice of variables is better",
        "at most 3 nonzeros in each component",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let stated =
        ["check-proof", "p.json", "builtin:pitprops", "-r", "2", "--nonzeros", "3", "--maximise", "adjusted"];
    assert_eq!(stdout(&mut dir.orthopt(&stated)), text);
    // by another number of threads, of another X, and of C in a file
    write(&dir, &["3", "--proof", "q.json", "--threads", "3", "--seed", "5"]);
    dir.orthopt(&["data", "convert", "builtin:pitprops", "c.csv"]).assert().success();
    let of_file = stdout(&mut dir.orthopt(&["check-proof", "q.json", "--gram", "c.csv"]));
    assert!(of_file.contains("no other choice of variables is better"), "{of_file}");
}

#[test]
fn what_was_done_to_the_data_is_done_again() {
    let dir = Dir::new();
    dir.orthopt(&["data", "generate", "spiked:40:8:2:3", "a.csv"]).assert().success();
    let bound = ["bound", "l0-pca", "a.csv", "-r", "2", "--nonzeros", "3", "--proof", "p.json"];
    let prepared = |how: &[&'static str]| dir.orthopt(&[&bound[..], how].concat()).assert().success();
    prepared(&["--scale", "std"]);
    dir.orthopt(&["check-proof", "p.json", "a.csv"]).assert().success();
    for extra in [&["--scale", "none"][..], &["--center=false"]] {
        let args = [&["check-proof", "p.json", "a.csv"], extra].concat();
        dir.fails_in_one_line(&args, 2, &["p.json", "another table"]);
    }
    // what is not what these options mean where nothing else is said
    for how in [
        &["--scale", "std", "--center=false"][..],
        &["--scale", "std", "--covariance=false"],
        &["--covariance", "--center=false"],
        &["--covariance"],
    ] {
        prepared(how);
        dir.orthopt(&["check-proof", "p.json", "a.csv"]).assert().success();
        dir.fails_in_one_line(&["check-proof", "p.json", "a.csv", "--scale", "unit"], 2, &["another table"]);
    }
    dir.orthopt(&["data", "generate", "spiked:40:8:2:4", "b.csv"]).assert().success();
    dir.fails_in_one_line(&["check-proof", "p.json", "b.csv"], 2, &["another table"]);
}

#[test]
fn other_problems_are_refused_in_words() {
    let dir = Dir::new();
    write(&dir, &["3", "--proof", "p.json"]);
    let check = |extra: &[&'static str]| [&["check-proof", "p.json", "builtin:pitprops"], extra].concat();
    dir.fails_in_one_line(&check(&["-r", "3"]), 2, &["rank 2, and 3 is asked for"]);
    dir.fails_in_one_line(&check(&["--nonzeros", "4"]), 2, &["at most 3 in each component"]);
    dir.fails_in_one_line(&check(&["--maximise", "polar"]), 2, &["measure adjusted, and polar is asked for"]);
    dir.fails_in_one_line(&check(&["--total-nonzeros", "6"]), 2, &["at most 6 in all components together"]);
    let altered = dir.read("p.json").replacen("\"rank\": 2", "\"rank\": 3", 1);
    dir.write("r.json", altered);
    dir.fails_in_one_line(&["check-proof", "r.json", "builtin:pitprops"], 2, &["r.json"]);
    dir.write("none.json", "{\"schema\": 1}");
    dir.fails_in_one_line(
        &["check-proof", "none.json", "builtin:pitprops"],
        1,
        &["none.json", "orthopt bound"],
    );
    dir.fails_in_one_line(&["check-proof", "absent.json", "builtin:pitprops"], 1, &["absent.json"]);
}

#[test]
fn what_cannot_be_written_says_why_before_any_search() {
    let dir = Dir::new();
    let l1 = ["bound", "l1-pca", "builtin:pitprops", "-r", "2", "--lambda", "0.2", "--proof", "p.json"];
    dir.fails_in_one_line(&l1, 2, &["no proof to cite for l1"]);
    let explained =
        ["bound", "l0-pca", "builtin:pitprops", "-r", "2", "--nonzeros", "3", "--maximise", "explained"];
    let explained = [&explained[..], &["--proof", "p.json"]].concat();
    dir.fails_in_one_line(&explained, 2, &["variance, adjusted or polar variance"]);
    assert!(!dir.has("p.json"));
}

#[test]
fn lambda_and_signs_have_proofs_too() {
    let dir = Dir::new();
    for problem in [
        &["l0-pca", "builtin:pitprops", "-r", "2", "--lambda", "0.2"][..],
        &["nonneg-pca", "builtin:pitprops", "-r", "2"],
    ] {
        dir.orthopt(&[&["bound"], problem, &["--nodes", "0", "--proof", "p.json"]].concat())
            .assert()
            .success();
        let text = stdout(&mut dir.orthopt(&["check-proof", "p.json", "builtin:pitprops"]));
        assert!(
            text.contains("Of all 13 x 2 matrices X with X'X = I") && text.contains("none has F"),
            "{text}"
        );
    }
}
