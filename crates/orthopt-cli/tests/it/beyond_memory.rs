//! Rows that come part by part: `--stream`, several files, `--screen`, `data gram`.

use crate::common::{Dir, read_npy, stdout};

/// Two tables of rows of the same columns, and both in one.
fn tables(dir: &Dir) {
    let row = |i: i32| -> String {
        let values: Vec<String> =
            (0..6).map(|j| format!("{}", ((i * (j + 3)) % 11) as f64 * 0.37 + f64::from(j))).collect();
        values.join(",") + "\n"
    };
    let head = "a,b,c,d,e,f\n";
    let rows = |range: std::ops::Range<i32>| -> String { range.map(row).collect() };
    dir.write("part-1.csv", format!("{head}{}", rows(0..17)));
    dir.write("part-2.csv", format!("{head}{}", rows(17..40)));
    dir.write("all.csv", format!("{head}{}", rows(0..40)));
}

const SOLVE: [&str; 6] = ["-r", "2", "--nonzeros", "2", "--seed", "1"];

fn solve<'a>(data: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    ["solve", "l0-pca"].iter().chain(data).chain(&SOLVE).chain(more).copied().collect()
}

#[test]
fn rows_in_parts_give_what_rows_in_memory_give() {
    let dir = Dir::new();
    tables(&dir);
    for how in
        [&[][..], &["--center"], &["--scale", "std"], &["--scale", "unit", "--center"], &["--features", "4"]]
    {
        let whole = dir.json(&solve(&["all.csv"], how));
        for (data, extra) in [
            (&["all.csv"][..], &["--stream"][..]),
            (&["part-1.csv", "part-2.csv"], &[]),
            (&["part-*.csv"], &["--reproducible"]),
        ] {
            let parts = dir.json(&solve(data, &[how, extra].concat()));
            let close = |a: &serde_json::Value, b: &serde_json::Value, far: f64| {
                let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
                assert!((a - b).abs() <= far * (1.0 + a.abs()), "{how:?} {data:?}: {a} {b}");
            };
            close(&whole["objective"], &parts["objective"], 1e-12);
            for (row, other) in whole["x"].as_array().unwrap().iter().zip(parts["x"].as_array().unwrap()) {
                close(&row[0], &other[0], 1e-6);
                close(&row[1], &other[1], 1e-6);
            }
            for field in ["rank", "names", "nonzeros_per_component"] {
                assert_eq!(whole[field], parts[field], "{how:?} {data:?}");
            }
            for field in ["rows", "cols", "nnz"] {
                // of rows part by part, zeros count before the means are taken off
                if field != "nnz" || whole["data"]["centered"] == false {
                    assert_eq!(whole["data"][field], parts["data"][field], "{field}: {how:?} {data:?}");
                }
            }
            for (field, n) in [("means", 6), ("scales", 6)] {
                assert_eq!(whole[field].is_null(), parts[field].is_null(), "{field} of {n}");
            }
        }
    }
}

#[test]
fn sums_are_kept_and_take_more_rows() {
    let dir = Dir::new();
    tables(&dir);
    let said = stdout(&mut dir.orthopt(&["data", "gram", "part-1.csv", "-o", "c.npz", "--reproducible"]));
    assert!(said.contains("\nwrote c.npz: C of 6 columns, 17 rows, reproducible sums; "), "{said}");
    let said = stdout(&mut dir.orthopt(&["data", "gram", "part-2.csv", "--add", "c.npz", "-o", "c.npz"]));
    assert!(said.contains("40 rows, reproducible sums (17 of them in the earlier file)"), "{said}");
    stdout(&mut dir.orthopt(&["data", "gram", "part-2.csv", "-o", "d.npz", "--reproducible"]));
    stdout(&mut dir.orthopt(&["data", "gram", "part-1.csv", "d.npz", "-o", "e.npz"]));
    stdout(&mut dir.orthopt(&["data", "gram", "all.csv", "-o", "f.npz", "--reproducible"]));

    let from = |data: &[&str]| {
        let x = [data, &["--center", "--save-x", "x.npy"]].concat();
        stdout(&mut dir.orthopt(&solve(&[], &x)));
        read_npy(&dir.path("x.npy"))
    };
    let expected = from(&["part-2.csv", "part-1.csv", "--reproducible"]);
    for archive in ["c.npz", "e.npz", "f.npz"] {
        assert_eq!(from(&["--gram", archive]), expected, "{archive}"); // bit by bit
    }
    let text = stdout(&mut dir.orthopt(&solve(&["--gram", "c.npz"], &["--scale", "std"])));
    assert!(
        text.contains("c.npz, 40 x 6, columns centred, columns scaled to standard deviation 1"),
        "{text}"
    );
    // C itself, as it stands in the file
    let info = dir.json(&["data", "info", "c.npz"]);
    assert_eq!((&info["role"], &info["rows"]), (&"gram".into(), &6.into()));
}

#[test]
fn screening_names_what_is_left() {
    let dir = Dir::new();
    let rows: String =
        (0..30).map(|i| format!("0 1:{} 2:0.01 5:{} 9:{}\n", i % 5, i % 7, (i % 2) * 20)).collect();
    dir.write("a.svm", &rows);
    let object = dir.json(&solve(&["a.svm"], &["--screen", "2"]));
    assert_eq!(object["names"], serde_json::json!(["5", "9"]));
    let run = dir.orthopt(&["solve", "pca", "a.svm", "-r", "1", "--screen", "3"]).assert().success();
    let text = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    assert!(text.contains("a.svm, 3 of 9 columns by variance, 30 x 3"), "{text}");
    let notes = String::from_utf8(run.get_output().stderr.clone()).unwrap();
    assert!(notes.contains("3 of 9 columns are kept, those with the largest variance"), "{notes}");
    dir.fails_in_one_line(&["solve", "pca", "a.svm", "--screen", "10"], 2, &["10 features", "9 columns"]);
}

#[test]
fn what_cannot_be_is_said() {
    let dir = Dir::new();
    tables(&dir);
    dir.write("other.csv", "a,b,x,d,e,f\n1,2,3,4,5,6\n");
    dir.write("bad.csv", "a,b,c,d,e,f\n1,2,3,4,5,6\n1,2,3,,5,6\n");
    dir.write("names.txt", "u\nv\n");
    for (args, code, words) in [
        (&["solve", "pca", "part-1.csv", "other.csv"][..], 1, &["other.csv", "column `c` is missing"][..]),
        (&["solve", "pca", "part-1.csv", "bad.csv"], 1, &["bad.csv:3", "row 2, column 4 (`d`)", "missing"]),
        (&["solve", "pca", "part-1.csv", "bad.csv", "--missing", "mean"], 1, &["drop"]),
        (&["solve", "pca", "part-*.tsv", "--stream"], 1, &["part-*.tsv"]),
        (
            &["solve", "pca", "all.csv", "--stream", "--save-scores", "s.csv"],
            2,
            &["--save-scores", "part by part"],
        ),
        (&["solve", "pca", "all.csv", "part-1.csv", "--stream=false"], 2, &["--stream=false"]),
        (&["solve", "pca", "all.csv", "--stream", "--names", "names.txt"], 1, &["2 names for 6 columns"]),
        (&["solve", "pca", "--gram", "all.csv", "--stream"], 2, &["--gram"]),
        (&["solve", "pca", "-", "--screen", "2"], 2, &["--screen", "standard input"]),
        (&["solve", "pca", "all.csv", "--stream", "--max-memory", "10"], 1, &["memory"]),
        (&["data", "gram", "all.csv", "-o", "c.npy"], 2, &["must end in .npz"]),
        (&["data", "gram", "-o", "c.npz"], 2, &["FILES are missing"]),
        (&["data", "gram", "all.csv", "--add", "part-1.csv", "-o", "c.npz"], 2, &["--add part-1.csv"]),
        (&["data", "gram", "laplace:9", "-o", "c.npz"], 1, &["C itself"]),
    ] {
        dir.fails_in_one_line(args, code, words);
    }
    stdout(&mut dir.orthopt(&["data", "gram", "all.csv", "-o", "c.npz"]));
    dir.fails_in_one_line(&["data", "gram", "d.csv", "--add", "c.npz", "-o", "c.npz"], 1, &["d.csv"]);
    dir.fails_in_one_line(
        &["data", "gram", "all.csv", "--add", "c.npz", "-o", "c.npz", "--reproducible"],
        2,
        &["sum the rows again"],
    );
    // the rows of C are no samples
    dir.fails_in_one_line(&["solve", "pca", "c.npz", "--stream"], 1, &["C and not samples"]);
    // with missing values left out
    let object = dir.json(&solve(&["part-1.csv", "bad.csv"], &["--missing", "drop"]));
    assert_eq!((&object["data"]["rows"], &object["data"]["missing"]), (&18.into(), &1.into()));
}
