//! Tables as people have them: what the first command makes of them, and what it says.

use std::path::PathBuf;

use crate::common::{Dir, repository, stdout};
use serde_json::{Value, json};

/// A table of these tests.
fn table(name: &str) -> String {
    let path: PathBuf = repository("crates/orthopt-cli/tests/data").join(name);
    std::fs::canonicalize(path).unwrap().to_str().unwrap().into()
}

fn pca<'a>(data: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["solve", "pca", data, "-r", "1"], more].concat()
}

/// Rows, columns and names as analysed.
fn shape(object: &Value) -> (u64, u64) {
    (object["data"]["rows"].as_u64().unwrap(), object["data"]["cols"].as_u64().unwrap())
}

fn shares(object: &Value) -> Vec<f64> {
    object["explained_variance"]["ratio"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| 100.0 * v.as_f64().unwrap())
        .collect()
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 0.006), "{found:?} {expected:?}");
}

/// What a run says on stderr.
fn notes(dir: &Dir, args: &[&str]) -> String {
    String::from_utf8(dir.orthopt(args).output().unwrap().stderr).unwrap()
}

#[test]
fn a_first_line_that_counts_is_a_header() {
    let dir = Dir::new();
    for name in ["integer-names.csv", "integer-names-and-index.csv"] {
        let data = table(name);
        let object = dir.json(&["solve", "pca", &data, "--scale", "std", "-r", "2"]);
        assert_eq!((shape(&object), &object["names"]), ((30, 4), &json!(["0", "1", "2", "3"])), "{name}");
        close(&shares(&object), &[59.81, 38.74]);
    }
    let data = table("integer-names.csv");
    let said = notes(&dir, &pca(&data, &["--center"]));
    assert!(
        said.contains("the first line (0, 1, 2, ...) is read as the names of the columns; --header no"),
        "{said}"
    );
    assert_eq!(shape(&dir.json(&pca(&data, &["--center", "--header", "no"]))), (31, 4));
}

#[test]
fn every_run_says_how_the_table_was_read() {
    let dir = Dir::new();
    let data = table("iris.csv");
    let args = pca(&data, &["--scale", "std", "--drop", "Species"]);
    let read = "15 samples \u{d7} 4 variables; names from the first line; dropped: `Species` (text)";
    let text = stdout(&mut dir.orthopt(&args));
    assert!(text.contains(&format!("read as       {read}\n")), "{text}");
    let object = dir.json(&args);
    let facts = &object["data"];
    assert_eq!(facts["read"], json!(read));
    assert_eq!(
        (&facts["header"], &facts["row_names"], &facts["dropped"]),
        (&json!(true), &json!(null), &json!(["Species"]))
    );
    assert_eq!((&facts["transposed"], &facts["weights"]), (&json!(false), &json!(null)));
    assert!(
        object["notes"]
            .as_array()
            .unwrap()
            .iter()
            .any(|note| note.as_str() == Some(&format!("the table was read as {read}")))
    );
    for command in [
        &[
            "path", "l0-pca", &data, "--drop", "5", "--center", "-r", "1", "--counts", "1,2", "--effort",
            "quick",
        ][..],
        &["bound", "l0-pca", &data, "--drop", "text", "--center", "-r", "1", "--nonzeros", "2"],
        &[
            "compare",
            "pca",
            &data,
            "--columns",
            "1-4",
            "--center",
            "-r",
            "1",
            "--solvers",
            "obcd",
            "--max-iters",
            "100",
        ],
        &["data", "info", &data],
    ] {
        let text = stdout(&mut dir.orthopt(command));
        assert!(text.contains("15 samples \u{d7} 4 variables"), "{command:?}: {text}");
    }
}

#[test]
fn columns_of_words_are_left_out() {
    let dir = Dir::new();
    let data = table("iris.csv");
    let solve = ["solve", "l0-pca", &data, "--scale", "std", "-r", "2"];
    assert_eq!(shape(&dir.json(&solve)), (15, 4));
    let said = notes(&dir, &solve);
    assert!(said.contains("column `Species` holds words and is left out; --labels Species takes"), "{said}");
    dir.fails_in_one_line(
        &[&solve[..], &["--columns", "4,5"]].concat(),
        1,
        &["iris.csv:2: `setosa` in column 5 (`Species`) is not a number: the column holds words"],
    );
    for (option, value) in [
        ("--drop", "Species"),
        ("--drop", "5"),
        ("--drop", "text"),
        ("--drop", "Sp*"),
        ("--columns", "1-4"),
        ("--columns", "Sepal*,Petal.Length-Petal.Width"),
        ("--labels", "Species"),
        ("--row-names", "Species"),
    ] {
        let object = dir.json(&[&solve[..], &[option, value]].concat());
        assert_eq!(shape(&object), (15, 4), "{option} {value}");
    }
    let typo = [&solve[..], &["--drop", "Speces"]].concat();
    dir.fails_in_one_line(&typo, 1, &["--drop: there is no column `Speces`; there are `Sepal.Length`"]);
    dir.fails_in_one_line(
        &[&solve[..], &["--header", "perhaps"]].concat(),
        2,
        &["--header is `perhaps`: expected auto, yes, no or a number of lines"],
    );
    dir.fails_in_one_line(
        &[&solve[..], &["--decimal", "x"]].concat(),
        2,
        &["--decimal is `x`: expected `.` or `,`"],
    );
    // what is labelled is drawn so
    let scores = [&solve[..], &["--labels", "Species", "--plot-scores", "p.svg"]].concat();
    dir.orthopt(&scores).assert().success();
    assert!(dir.read("p.svg").contains("versicolor"));
}

#[test]
fn first_columns_that_tell_rows_apart_are_no_variables() {
    let dir = Dir::new();
    let bfi = table("bfi_200.csv");
    let solve =
        ["solve", "nonneg-pca", &bfi, "--scale", "std", "--missing", "em", "-r", "5", "--effort", "quick"];
    let object = dir.json(&solve);
    assert_eq!((shape(&object), &object["data"]["row_names"]), ((200, 28), &json!("rownames")));
    let said = notes(&dir, &solve);
    assert!(
        said.contains("column `rownames` (61617, 61618, 61620, ...) tells the rows apart: it names them and is no variable; --row-names none"),
        "{said}"
    );
    assert_eq!(shape(&dir.json(&[&solve[..], &["--row-names", "none"]].concat())), (200, 29));
    dir.write("counted.csv", "x,a,b\n1,3,4\n2,1,9\n3,5,5\n4,2,2\n5,7,1\n6,0,3\n");
    assert_eq!(shape(&dir.json(&pca("counted.csv", &["--center"]))), (6, 2));
    dir.write("values.csv", "x,a,b\n1,3,4\n2,1,9\n3,5,5\n4,2,2\n5,7,1\n7,0,3\n");
    assert_eq!(shape(&dir.json(&pca("values.csv", &["--center"]))), (6, 3));
}

#[test]
fn numbers_as_spreadsheets_of_other_countries_write_them() {
    let dir = Dir::new();
    let data = table("decimal-comma.csv");
    let object = dir.json(&["solve", "pca", &data, "--covariance", "-r", "1"]);
    assert_eq!(shape(&object), (30, 4));
    let x: Vec<f64> =
        object["x"].as_array().unwrap().iter().map(|row| row[0].as_f64().unwrap().abs()).collect();
    assert!(x[3] > 0.9, "the amounts, 10484 to 10524, vary most: {x:?}");
    let info = stdout(&mut dir.orthopt(&["data", "info", &data]));
    assert!(info.contains("3.84 to 10524") && info.contains("decimal commas"), "{info}");
    let unicode = table("unicode.txt");
    let info = stdout(&mut dir.orthopt(&["data", "info", &unicode]));
    assert!(info.contains("30 x 4") && info.contains("Höhe") && info.contains("UTF-16"), "{info}");
    assert!(info.contains("3.84 to 1503.44"), "{info}");
    dir.write("latin1.csv", b"Name;H\xf6he;b\nx;1,5;2\ny;3,5;4\nz;0,5;1\n");
    assert_eq!(dir.json(&pca("latin1.csv", &["--center"]))["names"], json!(["Höhe", "b"]));
    dir.write("returns.csv", "a,b\r1,2\r3,5\r4,4\r");
    assert_eq!(shape(&dir.json(&pca("returns.csv", &["--center"]))), (3, 2));
    dir.write("sep.csv", "sep=;\na;b\n1;2\n3;5\n");
    assert_eq!(dir.json(&pca("sep.csv", &["--center"]))["names"], json!(["a", "b"]));
}

#[test]
fn units_are_told() {
    let dir = Dir::new();
    let body = table("body.csv");
    dir.fails_in_one_line(
        &pca(&body, &["--scale", "std"]),
        1,
        &[
            "body.csv:2: `70 kg` in column 1 (`weight`) is a number with the unit `kg`",
            "--drop weight",
            "--row-names weight",
        ],
    );
    assert_eq!(shape(&dir.json(&pca(&body, &["--strip", "weight"]))), (5, 3));
    // the same beside every number says nothing that the number does not
    for (cells, beside) in [("1,$5\n2,$6\n", "$"), ("1,5 %\n2,6 %\n", "%")] {
        dir.write("beside.csv", format!("a,b\n{cells}"));
        let object = dir.json(&pca("beside.csv", &["--center"]));
        let read = object["data"]["read"].as_str().unwrap();
        assert!(shape(&object) == (2, 2) && read.contains(&format!("`b` without its `{beside}`")), "{read}");
    }
    dir.write("mixed.csv", "a,b\n1,$5\n2,6 %\n3,7*\n");
    dir.fails_in_one_line(
        &pca("mixed.csv", &[]),
        1,
        &["`$5` in column 2 (`b`) is a number with a currency, and so in 2 more cells (`6 %`, `7*`): --strip b"],
    );
}

#[test]
fn single_cells() {
    let dir = Dir::new();
    let folder = table("10x");
    let matrix = table("10x/matrix.mtx");
    for data in [&folder, &matrix] {
        let object = dir.json(&["solve", "l0-pca", data, "--center", "-r", "1", "--nonzeros", "3"]);
        assert_eq!((shape(&object), &object["names"][3]), ((60, 25), &json!("GENE3")));
        assert_eq!(object["data"]["transposed"], json!(true));
    }
    assert_eq!(shape(&dir.json(&pca(&matrix, &["--center", "--transpose=false"]))), (25, 60));
    // the same file without its companions
    std::fs::copy(&matrix, dir.path("m.mtx")).unwrap();
    let features = table("10x/features.tsv");
    dir.fails_in_one_line(
        &pca("m.mtx", &["--names", &features]),
        1,
        &["25 names for the 60 columns of m.mtx, which has 25 rows; --transpose takes its rows as variables"],
    );
    let object = dir.json(&pca("m.mtx", &["--names", &features, "--transpose", "--center"]));
    assert_eq!((shape(&object), &object["names"][24]), ((60, 25), &json!("GENE24")));
    let cells = table("cells.mtx");
    let symbols = |file: &str| dir.json(&pca(&cells, &["--center", "--names", file]))["names"][3].clone();
    assert_eq!(symbols(&features), json!("GENE3"));
    assert_eq!(symbols(&format!("{features}:2")), json!("GENE3"));
    assert_eq!(symbols(&format!("{features}:1")), json!("ENSG00000000003"));
    dir.orthopt(&["data", "convert", "m.mtx", "t.csv", "--transpose", "--names", &features])
        .assert()
        .success();
    assert_eq!(shape(&dir.json(&pca("t.csv", &["--center"]))), (60, 25));
}

#[test]
fn covariances_among_samples() {
    let dir = Dir::new();
    let corr = table("corr.csv");
    let said = notes(&dir, &pca(&corr, &["--scale", "std"]));
    assert!(said.contains("looks like a correlation matrix and is read as samples; --gram "), "{said}");
    assert!(notes(&dir, &["solve", "pca", "--gram", &corr, "-r", "1"]).is_empty());
    let solve = ["solve", "l0-pca", "--gram", &corr, "-r", "2", "--nonzeros", "5", "--maximise", "variance"];
    close(&shares(&dir.json(&solve)), &[35.75, 34.30]);
    // one triangle, and a part of the variables
    let (full, mut lower) = (std::fs::read_to_string(&corr).unwrap(), String::new());
    for (i, line) in full.lines().enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let kept = cells.iter().enumerate().map(|(j, cell)| if i > 0 && j > i { "" } else { cell });
        lower += &(kept.collect::<Vec<_>>().join(",") + "\n");
    }
    dir.write("lower.csv", lower);
    let half = dir.json(&["solve", "pca", "--gram", "lower.csv", "-r", "2"]);
    let whole = dir.json(&["solve", "pca", "--gram", &corr, "-r", "2"]);
    assert_eq!(half["objective"], whole["objective"]);
    assert!(
        notes(&dir, &["solve", "pca", "--gram", "lower.csv", "-r", "2"])
            .contains("its lower triangle is used")
    );
    let part = dir.json(&["solve", "pca", "--gram", &corr, "-r", "1", "--columns", "mpg,cyl,hp"]);
    assert_eq!(shape(&part), (3, 3));
}

#[test]
fn indefinite_correlations() {
    let dir = Dir::new();
    let pairwise = table("pairwise.csv");
    let solve = ["solve", "pca", "--gram", &pairwise, "-r", "4"];
    let said = notes(&dir, &solve);
    assert!(
        said.contains("C is indefinite: its smallest eigenvalue is -1.0") && said.contains("--nearest"),
        "{said}"
    );
    let nearest = [&solve[..], &["--nearest"]].concat();
    let object = dir.json(&nearest);
    assert!(object["explained_variance"]["total"].as_f64().unwrap() < 1.0);
    let said = notes(&dir, &nearest);
    assert!(said.contains("nearest matrix") && !said.contains("indefinite"), "{said}");
    dir.fails_in_one_line(
        &["solve", "pca", &pairwise, "-r", "1", "--nearest"],
        1,
        &["--nearest is for C itself, and these are samples"],
    );
}

#[test]
fn repeated_names() {
    let dir = Dir::new();
    let (train, moved) = (table("repeated.csv"), table("repeated-moved.csv"));
    let solve = ["solve", "l0-pca", &train, "--scale", "std", "-r", "2", "--nonzeros", "2"];
    assert!(notes(&dir, &solve).contains("the name `b` occurs 2 times"));
    assert_eq!(dir.json(&solve)["names"], json!(["a", "b", "b.1", "d"]));
    dir.orthopt(&[&solve[..], &["--json", "model.json"]].concat()).assert().success();
    for data in [&train, &moved] {
        dir.fails_in_one_line(&["transform", "model.json", data, "-o", "-"], 1, &["has several columns `b`"]);
    }
}

#[test]
fn transform_takes_what_the_model_needs() {
    let dir = Dir::new();
    let iris = table("iris.csv");
    let model = [
        "solve",
        "pca",
        &iris,
        "--drop",
        "text",
        "--center",
        "-r",
        "1",
        "--json",
        "model.json",
        "--save-scores",
        "s.csv",
    ];
    dir.orthopt(&model).assert().success();
    let text = stdout(&mut dir.orthopt(&["transform", "model.json", &iris, "-o", "-", "--quiet"]));
    assert_eq!(text, dir.read("s.csv"));
}

#[test]
fn spreadsheets() {
    let dir = Dir::new();
    let xlsx = table("table.xlsx");
    let info = stdout(&mut dir.orthopt(&["data", "info", &xlsx]));
    assert!(info.contains("25 samples \u{d7} 5 variables"), "{info}");
    let object = dir.json(&["solve", "l0-pca", &xlsx, "--scale", "std", "-r", "2"]);
    assert_eq!(object["data"]["cols"], json!(5));
    dir.fails_in_one_line(
        &pca(&xlsx, &["--sheet", "no"]),
        1,
        &["--sheet: there is no sheet `no`; there are "],
    );
    for (name, words) in [
        ("a.h5ad", "this is an AnnData file. In Python, two lines make a file that is read: `import anndata"),
        ("a.rds", "`x <- readRDS(\"a.rds\")` and `write.csv"),
        ("a.sav", "pyreadstat.read_sav(\"a.sav\")"),
    ] {
        dir.write(name, "x");
        dir.fails_in_one_line(&pca(name, &[]), 1, &[words]);
    }
    dir.write("a.xyz", "1 2\n");
    dir.fails_in_one_line(&pca("a.xyz", &[]), 1, &["rename the file"]);
}

/// Rows repeated as often as their weight says, through every door.
#[test]
fn weights_are_repeated_rows() {
    let dir = Dir::new();
    let survey = table("survey.csv");
    let text = std::fs::read_to_string(&survey).unwrap();
    let mut repeated = "q1,q2,q3,q4,q5\n".to_string();
    let (mut weights, mut plain) = (String::new(), repeated.clone());
    for line in text.lines().skip(1) {
        let (row, weight) = line.rsplit_once(',').unwrap();
        (0..weight.parse::<usize>().unwrap()).for_each(|_| repeated += &format!("{row}\n"));
        weights += &format!("{weight}\n");
        plain += &format!("{row}\n");
    }
    dir.write("repeated.csv", repeated);
    dir.write("weights.txt", weights);
    dir.write("plain.csv", plain);
    dir.orthopt(&["data", "convert", "plain.csv", "plain.svm"]).assert().success();
    for prepare in
        [&["--scale", "std"][..], &["--covariance"], &["--center"], &["--scale", "unit", "--center"], &[]]
    {
        let f = |data: &[&str]| {
            let args = [&["solve", "l0-pca", "-r", "2", "--nonzeros", "3"], data, prepare].concat();
            dir.json(&args)["objective"].as_f64().unwrap()
        };
        let expected = f(&["repeated.csv"]);
        for data in [
            &[&survey, "--weights", "weight"][..],
            &["plain.csv", "--weights", "weights.txt"],
            &[&survey, "--weights", "6", "--stream"],
            &["plain.csv", "--weights", "weights.txt", "--stream"],
            &["plain.svm", "--weights", "weights.txt"],
            &["plain.svm", "--weights", "weights.txt", "--stream"],
        ] {
            let found = f(data);
            assert!(
                (found - expected).abs() < 1e-12 * expected.abs(),
                "{data:?} {prepare:?}: {found} {expected}"
            );
        }
    }
    dir.orthopt(&["data", "gram", &survey, "--weights", "weight", "-o", "c.npz"]).assert().success();
    let gram = |data: &[&str]| {
        dir.json(&[&["solve", "pca", "-r", "1", "--scale", "std"], data].concat())["objective"]
            .as_f64()
            .unwrap()
    };
    let (found, expected) = (gram(&["--gram", "c.npz"]), gram(&["repeated.csv"]));
    assert!((found - expected).abs() < 1e-12 * expected.abs(), "{found} {expected}");
    // scores are those of the rows, whatever they weigh
    let scores = |data: &[&str]| {
        let args = [&["solve", "pca", "-r", "1", "--scale", "std", "--save-scores", "s.csv"], data].concat();
        dir.orthopt(&args).assert().success();
        dir.read("s.csv").lines().nth(1).unwrap().split(',').nth(1).unwrap().parse::<f64>().unwrap()
    };
    let (weighted, first) = (scores(&[&survey, "--weights", "weight"]), scores(&["repeated.csv"]));
    assert!((weighted - first).abs() < 1e-9, "{weighted} {first}");
    let path = [
        "path",
        "l0-pca",
        &survey,
        "--weights",
        "weight",
        "--scale",
        "std",
        "-r",
        "1",
        "--counts",
        "1,3",
        "--cv",
        "3",
    ];
    dir.orthopt(&path).assert().success();
    dir.write("few.txt", "1\n2\n");
    dir.fails_in_one_line(&pca("plain.csv", &["--weights", "few.txt"]), 1, &["2 weights for the 40 rows"]);
    dir.write("bad.txt", text.lines().skip(1).map(|_| "-1\n").collect::<String>());
    dir.fails_in_one_line(&pca("plain.csv", &["--weights", "bad.txt"]), 1, &["the weight of row 1 is -1"]);
}

#[test]
fn missing_values_of_ones_own() {
    let dir = Dir::new();
    dir.write("t.csv", "a,b\n1,-999\n<LOD,2\n3,4\n5,1\n");
    let object = dir.json(&pca("t.csv", &["--na", "-999,<LOD", "--missing", "mean", "--center"]));
    assert_eq!((shape(&object), &object["data"]["missing"]), ((4, 2), &json!(2)));
    dir.fails_in_one_line(
        &pca("t.csv", &[]),
        1,
        &["`<LOD` in column 1 (`a`) is not a number; if it stands for a missing value, say --na '<LOD'"],
    );
}

#[test]
fn headers_of_triples() {
    let dir = Dir::new();
    let (train, valid, test) = (table("train_h.tsv"), table("valid_h.tsv"), table("test_h.tsv"));
    let args = [
        "embed",
        &train,
        "--valid",
        &valid,
        "--test",
        &test,
        "--dim",
        "8",
        "--signature",
        "7",
        "--epochs",
        "1",
    ];
    let output = dir.orthopt(&args).output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(
        text.contains("40 entities") && text.contains("3 relations") && text.contains("96 triples"),
        "{text}"
    );
    assert!(text.contains("3 header lines (head, relation, tail) left out"), "{text}");
}
