//! Results for other programs: loadings, scores, and scores of new rows.

use crate::common::{Dir, read_npy};
use predicates::prelude::*;
use serde_json::{Value, json};

const TABLE: &str = "id,a,b,c\nu,1,4,9\nv,2,1,7\nw,5,2,1\nx,3,8,2\ny,9,1,4\nz,4,4,4\n";
const SOLVE: [&str; 9] = ["solve", "l0-pca", "t.csv", "-r", "2", "--lambda", "0.1", "--max-iters", "2000"];

fn numbers(table: &str) -> Vec<Vec<f64>> {
    let row = |line: &str| line.split(',').skip(1).map(|field| field.parse().unwrap()).collect();
    table.lines().skip(1).map(row).collect()
}

fn close(a: &[Vec<f64>], b: &[Vec<f64>], what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    for (x, y) in a.iter().flatten().zip(b.iter().flatten()) {
        assert!((x - y).abs() <= 1e-12 * (1.0 + x.abs()), "{what}: {x} {y}");
    }
}

fn matrix(value: &Value) -> Vec<Vec<f64>> {
    serde_json::from_value(value.clone()).unwrap()
}

#[test]
fn sorted_loadings() {
    let dir = Dir::new();
    let solve = ["solve", "l0-pca", "builtin:pitprops", "-r", "3", "--nonzeros", "4,3,2"];
    let files = ["--save-loadings", "l.csv", "--save-sorted-loadings", "s.csv"];
    dir.orthopt(&[&solve[..], &files].concat()).assert().success();
    let (plain, sorted) = (dir.read("l.csv"), dir.read("s.csv"));
    let lines = |text: &str| text.lines().skip(1).map(String::from).collect::<Vec<_>>();
    let (mut a, mut b) = (lines(&plain), lines(&sorted));
    assert_ne!(a, b);
    a.sort();
    b.sort();
    assert_eq!(a, b);
    // first the variables of the first component, the largest ahead; last those of none
    let keys: Vec<(usize, f64)> = numbers(&sorted)
        .iter()
        .map(|row| {
            let largest = (0..3).max_by(|i, j| row[*i].abs().total_cmp(&row[*j].abs())).unwrap();
            if row[largest] == 0.0 { (3, 0.0) } else { (largest, -row[largest].abs()) }
        })
        .collect();
    assert!(keys.is_sorted(), "{keys:?}");
    assert!(keys.iter().filter(|key| key.0 == 0).count() >= 2 && keys.last().unwrap().0 == 3);
}

#[test]
fn loadings_and_scores_have_names() {
    let dir = Dir::new();
    dir.write("t.csv", TABLE);
    let files = ["--center", "--save-loadings", "l.csv", "--save-scores", "s.csv", "--save-x", "x.csv"];
    dir.orthopt(&[&SOLVE[..], &files, &["--json", "m.json"]].concat()).assert().success();
    let object: Value = serde_json::from_str(&dir.read("m.json")).unwrap();
    let x = matrix(&object["x"]);
    let (loadings, scores) = (dir.read("l.csv"), dir.read("s.csv"));
    assert!(loadings.starts_with("variable,PC1,PC2\na,"), "{loadings}");
    assert!(scores.starts_with("sample,PC1,PC2\nu,"), "{scores}");
    assert_eq!(numbers(&loadings), x);
    assert_eq!(read_npy(&dir.path("x.csv")), x);
    assert_eq!(object["names"], json!(["a", "b", "c"]));
    assert_eq!(object["means"], json!([4.0, 20.0 / 6.0, 4.5]));
    assert_eq!(object["scales"], Value::Null);
    let counts: Vec<usize> = (0..2).map(|k| x.iter().filter(|row| row[k].abs() > 1e-6).count()).collect();
    assert_eq!(object["nonzeros_per_component"], json!(counts));
    let means = [4.0, 20.0 / 6.0, 4.5];
    let score = |row: &Vec<f64>, k: usize| (0..3).map(|j| (row[j] - means[j]) * x[j][k]).sum::<f64>();
    let expected: Vec<Vec<f64>> =
        numbers(TABLE).iter().map(|row| vec![score(row, 0), score(row, 1)]).collect();
    close(&numbers(&scores), &expected, "scores");
    // X as a table begins a run and can be certified
    let from = [
        "solve",
        "l0-pca",
        "t.csv",
        "--center",
        "-r",
        "2",
        "--lambda",
        "0.1",
        "--init",
        "x.csv",
        "--max-iters",
        "2000",
    ];
    dir.orthopt(&from).assert().success();
}

/// The scores of transform for the rows of the model are those that solve wrote.
#[test]
fn transform_gives_the_scores_of_solve() {
    let dir = Dir::new();
    dir.write("t.csv", TABLE);
    dir.write("t.svm", "1 1:1 2:4\n1 2:1 3:7\n2 1:5 3:1\n2 1:3 2:8\n2 1:9 3:4\n1 2:4 3:4\n");
    for data in ["t.csv", "t.svm"] {
        for how in [
            &["--center"][..],
            &["--scale", "std"],
            &["--scale", "unit", "--center"],
            &["--scale", "0.5"],
            &["--covariance"],
            &["--scale", "std", "--center=false"],
        ] {
            let solve = [
                "solve",
                "l0-pca",
                data,
                "-r",
                "2",
                "--lambda",
                "0.01",
                "--max-iters",
                "2000",
                "--json",
                "m.json",
            ];
            dir.orthopt(&[&solve[..], how, &["--save-scores", "s.csv"]].concat()).assert().success();
            dir.orthopt(&["transform", "m.json", data, "-o", "new.csv"])
                .assert()
                .success()
                .stdout(predicate::str::contains("wrote new.csv: 6 x 2 scores; the components explain"));
            close(&numbers(&dir.read("new.csv")), &numbers(&dir.read("s.csv")), &format!("{data} {how:?}"));
            dir.orthopt(&["transform", "m.json", data, "-o", "new.npy", "-q"]).assert().success().stdout("");
            close(&read_npy(&dir.path("new.npy")), &numbers(&dir.read("s.csv")), "as an array");
        }
    }
}

#[test]
fn new_rows_are_matched_by_name() {
    let dir = Dir::new();
    dir.write("t.csv", TABLE);
    dir.orthopt(&[&SOLVE[..], &["--scale", "std", "--json", "m.json"]].concat()).assert().success();
    let transform = |content: &str, more: &[&str]| {
        let args = [&["transform", "m.json", "-", "-o", "-"][..], more].concat();
        let output = dir.orthopt(&args).write_stdin(content).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        (String::from_utf8(output.stdout).unwrap(), stderr, output.status.code().unwrap())
    };
    let (plain, _, code) = transform("a,b,c\n1,2,3\n4,5,7\n", &[]);
    assert_eq!(code, 0);
    assert!(plain.starts_with("sample,PC1,PC2\n1,"), "{plain}");
    assert_eq!(transform("more,c,b,a\n9,3,2,1\n9,7,5,4\n", &[]).0, plain);
    assert_eq!(transform("1,2,3\n4,5,7\n", &[]).0, plain);
    // means of the model, where the scores of a centred variable are 0
    let (_, error, code) = transform("a,b,c\n1,2,3\n4,5,NA\n", &[]);
    assert!(code == 1 && error.contains("row 2, column 3 (`c`) has a missing value"), "{error}");
    let (filled, note, _) = transform("a,b,c\n4,3.3333333333333335,NA\n", &["--missing", "mean"]);
    assert!(note.contains("1 missing value"), "{note}");
    numbers(&filled).iter().flatten().for_each(|score| assert!(score.abs() < 1e-12, "{filled}"));
    assert_eq!(transform("a,b,c\n1,2,3\n4,5,7\n1,NA,3\n", &["--missing", "drop", "-q"]).0, plain);
    for (content, problem) in [
        ("a,b\n1,2\n", "standard input has no column `c`, which the model needs"),
        ("x,y,c\n1,2,3\n", "standard input has no column `a` and 1 more, which the model needs"),
        ("1,2\n", "standard input has 2 columns, the model 3 variables"),
    ] {
        let (_, error, code) = transform(content, &[]);
        assert!(code == 1 && error.contains(problem), "{error}");
    }
}

/// What `transform` takes from a model cannot change unseen; a model without a checksum is somebody else's.
#[test]
fn a_changed_model_is_found() {
    let dir = Dir::new();
    dir.write("t.csv", TABLE);
    dir.orthopt(&[&SOLVE[..], &["--scale", "std", "--json", "m.json"]].concat()).assert().success();
    let model: Value = serde_json::from_str(&dir.read("m.json")).unwrap();
    let transform = ["transform", "m.json", "t.csv", "-o", "s.csv"];
    let near = |value: &Value| json!(value.as_f64().unwrap() * (1.0 + 1e-12) + 1e-12);
    for field in ["x", "means", "scales", "names"] {
        let mut other = model.clone();
        match field {
            "x" => other["x"][0][0] = near(&model["x"][0][0]),
            "names" => other["names"][0] = json!("b2"),
            _ => other[field][1] = near(&model[field][1]),
        }
        dir.write("m.json", other.to_string());
        let said = ["m.json: it is damaged or was edited (its checksum is wrong)"];
        dir.fails_in_one_line(&transform, 1, &said);
    }
    let mut own = model.clone();
    own.as_object_mut().unwrap().remove("checksum");
    for whole in [model, own] {
        dir.write("m.json", whole.to_string());
        dir.orthopt(&transform).assert().success();
    }
}

#[test]
fn models_that_are_none() {
    let dir = Dir::new();
    dir.write("t.csv", TABLE);
    for (content, problem) in [
        ("", "m.json: not a result of solve: EOF while parsing"),
        ("{}", "m.json: it holds no x: write the model with orthopt solve ... --json FILE"),
        ("{\"x\": [[]]}", "m.json: it holds no x"),
        ("{\"x\": [[1, 0], [1]]}", "m.json: row 2 of x has 1 numbers where the first row has 2"),
        ("{\"x\": [[1], [2]], \"means\": [1]}", "m.json: means has 1 entries for the 2 rows of x"),
        ("[]", "m.json: not a result of solve: invalid type: sequence, expected one JSON object"),
        ("{\"x\": [[1], [0]]}", "m.json: it holds no schema"),
        ("{\"schema\": 99, \"x\": [[1], [0]]}", "m.json: schema 99 is of another version"),
        ("{\"schema\": 1, \"x\": [[1], [0]], \"scales\": [1, 0]}", "m.json: entry 2 of scales is 0"),
        ("{\"schema\": 1, \"x\": [[1], [0]], \"scales\": [-1, 1]}", "m.json: entry 1 of scales is -1"),
        ("{\"schema\": 1, \"x\": [[1], [0]], \"scales\": [1, 1e-320]}", "m.json: entry 2 of scales is"),
        ("{\"schema\": 1, \"x\": [[1], [2]]}", "m.json: columns 1 and 1 of x have the inner product 5e0"),
        (
            "{\"schema\": 1, \"x\": [[1, 0.6], [0, 0.8]]}",
            "m.json: columns 1 and 2 of x have the inner product",
        ),
        ("{\"schema\": 1, \"x\": [[1, null], [0, 1]]}", "m.json: not a result of solve"),
        ("{\"x\": \"no\"}", "m.json: not a result of solve"),
    ] {
        dir.write("m.json", content);
        dir.fails_in_one_line(&["transform", "m.json", "t.csv", "-o", "s.csv"], 1, &[problem]);
    }
    dir.fails_in_one_line(
        &["transform", "no.json", "t.csv", "-o", "s.csv"],
        1,
        &["cannot read the model `no.json`"],
    );
    dir.fails_in_one_line(
        &["transform", "m.json", "t.csv", "-o", "s.xls"],
        2,
        &["--output s.xls: the name must end in"],
    );
    assert!(!dir.has("s.csv"));
}

#[test]
fn files_that_need_samples_or_a_single_result() {
    let dir = Dir::new();
    let gram = ["solve", "pca", "builtin:pitprops", "--save-scores", "s.csv"];
    dir.fails_in_one_line(&gram, 2, &["--save-scores does not apply to C itself: it is for samples"]);
    dir.fails_in_one_line(
        &["compare", "pca", "builtin:pitprops", "--save-loadings", "l.csv"],
        2,
        &["--save-loadings does not apply to compare"],
    );
    dir.fails_in_one_line(
        &["bound", "pca", "builtin:pitprops", "--save-loadings", "l.csv"],
        2,
        &["--save-loadings does not apply to bound"],
    );
    let wrong = ["solve", "pca", "builtin:pitprops", "--save-loadings", "l.xlsx"];
    dir.fails_in_one_line(
        &wrong,
        2,
        &["--save-loadings l.xlsx: the name must end in .csv, .csv.gz, .tsv or .tsv.gz"],
    );
}

#[test]
fn the_largest_loading_is_positive() {
    let dir = Dir::new();
    for (problem, seed) in [("l0-pca", "1"), ("l1-pca", "2"), ("pca", "3"), ("l1-pca", "4")] {
        for solver in ["auto", "obcd"] {
            let args = [
                "solve",
                problem,
                "randn:30:12:5",
                "-r",
                "4",
                "--seed",
                seed,
                "--solver",
                solver,
                "--max-iters",
                "2000",
            ];
            let x = matrix(&dir.json(&args)["x"]);
            for k in 0..4 {
                let largest = x.iter().map(|row| row[k]).max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap();
                assert!(largest > 0.0, "{problem} {solver}: {largest}");
            }
        }
    }
}
