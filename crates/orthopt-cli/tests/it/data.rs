//! `orthopt data info|convert|generate`.

use crate::common::{Dir, feasibility, orthopt, read_npy, stdout};
use predicates::prelude::*;

#[test]
fn info_for_a_person() {
    let text = stdout(&mut orthopt(&["data", "info", "builtin:pitprops"]));
    for part in [
        "shape         13 x 13 (C itself)",
        "nonzeros      169, 100 % of the entries",
        "storage       dense",
        "values        -0.424 to 1",
        "names         topdiam, length",
        "(13 in all)",
        "labels        none",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn info_as_json() {
    let dir = Dir::new();
    dir.write("a.svm", "1 1:2 3:-1\n-1\n1 3:4\n");
    let object = dir.json(&["data", "info", "a.svm"]);
    let expected = serde_json::json!({
        "source": "a.svm", "rows": 3, "cols": 3, "nnz": 3, "density": 1.0 / 3.0, "storage": "sparse",
        "role": "samples", "min": -1.0, "max": 4.0, "empty_rows": 1, "empty_cols": 1, "names": null,
        "labels": [{"label": -1.0, "rows": 1}, {"label": 1.0, "rows": 2}], "truth": null,
    });
    let same = |object: &serde_json::Value| {
        expected
            .as_object()
            .unwrap()
            .iter()
            .for_each(|(key, value)| assert_eq!(object[key], *value, "{key}"));
        assert_eq!(
            (&object["constant"], &object["missing"]),
            (&serde_json::json!(["x2"]), &serde_json::json!(0))
        );
        assert_eq!(object["command"], serde_json::json!("orthopt solve l0-pca a.svm --center -r 3"));
    };
    same(&object);
    let text = stdout(&mut dir.orthopt(&["data", "info", "a.svm", "--json", "facts.json"]));
    assert!(text.contains("labels        -1 (1 rows), 1 (2 rows)"), "{text}");
    same(&serde_json::from_str(&dir.read("facts.json")).unwrap());
}

#[test]
fn convert_round_trip() {
    let dir = Dir::new();
    dir.write("a.csv", "x,y\n1,0\n0,2.5\n");
    let formats = ["b.svm", "b.mtx.gz", "b.npy", "b.npz", "b.tsv", "b.csv"];
    let mut from = "a.csv";
    for to in formats {
        let text = stdout(&mut dir.orthopt(&["data", "convert", from, to]));
        assert_eq!(text, format!("wrote {to}: 2 x 2 from {from}\n"));
        from = to;
    }
    let (before, after) = (dir.json(&["data", "info", "a.csv"]), dir.json(&["data", "info", "b.csv"]));
    assert_eq!((&before["nnz"], &before["max"]), (&after["nnz"], &after["max"]));
    dir.orthopt(&["data", "convert", "builtin:pitprops", "c.csv"])
        .assert()
        .success()
        .stderr("note: the table holds C, not samples: give the file with --gram c.csv\n");
    dir.fails_in_one_line(&["data", "convert", "a.csv", "a.foo"], 1, &["a.foo", ".npy"]);
    dir.fails_in_one_line(&["data", "convert", "none.csv", "a.npy"], 1, &["none.csv"]);
    dir.fails_in_one_line(&["data", "convert", "a.csv", "no/a.npy"], 1, &["cannot write `no/a.npy`"]);
}

#[test]
fn generate_with_the_truth() {
    let dir = Dir::new();
    dir.orthopt(&["data", "generate", "spiked:30:10:2:3", "a.csv", "--truth", "t.npy"])
        .assert()
        .success()
        .stdout(predicate::str::contains("wrote a.csv: 30 x 10 from spiked:30:10:2:3:20:1\n"))
        .stdout(predicate::str::contains("wrote t.npy: 10 x 2, the true components\n"));
    assert!(feasibility(&read_npy(&dir.path("t.npy"))) < 1e-12);
    // what was written is what the specification gives
    let solve = |data| dir.json(&["solve", "pca", data, "-r", "2", "--max-iters", "500"]);
    assert_eq!(solve("a.csv")["objective"], solve("spiked:30:10:2:3")["objective"]);
}

#[test]
fn generate_knows_what_it_can_do() {
    let dir = Dir::new();
    let generate = |spec, extra: &[&str]| [&["data", "generate", spec, "a.npy"], extra].concat().join(" ");
    for (line, code, part) in [
        (generate("noise:3:4", &[]), 2, "`noise:3:4` is not a generator; generators are: randn:M:N"),
        (generate("builtin:pitprops", &[]), 2, "is not a generator"),
        (generate("randn:3", &[]), 1, "expected randn:M:N[:SEED]"),
        (generate("randn:3:4", &["--truth", "t.npy"]), 2, "has no true components"),
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        dir.fails_in_one_line(&args, code, &[part]);
        assert!(!dir.has("a.npy"), "{line}");
    }
}
