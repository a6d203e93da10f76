//! Tables as spreadsheets, R and pandas write them; names from files; missing values.

use crate::common::{message_with, read, read_with};
use faer::Mat;
use orthopt_data::stream::Parts;
use orthopt_data::{
    DataSet, FrameCells, FrameColumn, LoadOptions, Missing, Table, TableOptions, framed, load, read_file,
    read_names, write_table,
};
use tempfile::TempDir;

fn text(words: &[&str]) -> Option<Vec<String>> {
    Some(words.iter().map(|word| word.to_string()).collect())
}

#[test]
fn tables_of_other_programs() {
    let expected = faer::mat![[1.5, 2.0], [3.0, 4.0]];
    for (name, content, rows) in [
        // write.csv and to_csv: numbers as names of the rows, an empty corner
        ("a.csv", "\"\",\"a\",\"b\"\n\"1\",1.5,2\n\"2\",3,4\n", text(&["1", "2"])),
        ("a.csv", ",a,b\n0,1.5,2\n1,3,4\n", text(&["0", "1"])),
        // write.table: no corner at all
        ("a.txt", "\"a\" \"b\"\n\"1\" 1.5 2\n\"2\" 3 4\n", text(&["1", "2"])),
        ("a.csv", "a,b\n1,1.5,2\n2,3,4\n", text(&["1", "2"])),
        ("a.tsv", "a\tb\nx\t1.5\t2\ny\t3\t4\n", text(&["x", "y"])),
        // write.csv2 and spreadsheets with decimal commas
        ("a.csv", "\"\";\"a\";\"b\"\n\"x y\";1,5;2\n\"z\";3;4\n", text(&["x y", "z"])),
        ("a.csv", "a;b\r\n1,5;2\r\n3;4\r\n", None),
        ("a.csv", "a;b\n1.5;2\n3;4\n", None),
        // tabs in spite of the name, any white space
        ("a.csv", "a\tb\n1.5\t2\n3\t4\n", None),
        ("a.txt", "a   b\n 1.5  2\n3\t4 \n", None),
    ] {
        let data = read(name, content).unwrap_or_else(|error| panic!("{content:?}: {error}"));
        assert_eq!(data.matrix.to_dense(), expected, "{content:?}");
        assert_eq!(data.names, text(&["a", "b"]), "{content:?}");
        assert_eq!(data.row_names, rows, "{content:?}");
    }
    assert_eq!(read("a.csv", "1,5;2\n3;4\n").unwrap().matrix.to_dense(), expected);
}

fn with(missing: Missing) -> LoadOptions {
    LoadOptions { missing, ..LoadOptions::default() }
}

const GAPS: &str = "id,a,b\nw,1,10\nx,NA,20\ny,3,\nz,5,60\n";

#[test]
fn missing_values_on_request() {
    let data = |missing| read_with("a.csv", GAPS, &with(missing)).1.unwrap();
    let mean = data(Missing::Mean);
    assert_eq!(mean.matrix.to_dense(), faer::mat![[1.0, 10.0], [3.0, 20.0], [3.0, 30.0], [5.0, 60.0]]);
    assert_eq!(mean.missing, 2);
    let kept = data(Missing::Drop);
    assert_eq!(kept.matrix.to_dense(), faer::mat![[1.0, 10.0], [5.0, 60.0]]);
    assert_eq!((kept.row_names, kept.missing), (text(&["w", "z"]), 2));
    assert!(data(Missing::Keep).matrix.to_dense()[(1, 0)].is_nan());
    assert_eq!(data(Missing::Em).matrix.nrows(), 4); // too small for a model: means
    assert_eq!(Missing::NAMES.iter().filter_map(|(name, _)| Missing::parse(name)).count(), 4);
    assert!(Missing::parse("zero").is_none());
}

#[test]
fn what_cannot_be_filled_in() {
    // a column without any value is no variable
    let empty = read_with("a.csv", "a,b\n1,NA\n2,NA\n", &with(Missing::Error)).1.unwrap();
    assert_eq!((empty.names.clone(), empty.matrix.ncols()), (text(&["a"]), 1));
    assert!(empty.sentence().contains("dropped: `b` (empty)"), "{}", empty.sentence());
    assert_eq!(
        message_with("a.csv", "1,NA\nNA,2\n", &with(Missing::Drop)),
        "a.csv: no row is complete, so none would be left; use mean or em instead of drop"
    );
    let infinite = message_with("a.csv", "1,inf\n", &with(Missing::Mean));
    assert!(infinite.contains("row 1, column 2 (counted from 1) is inf"), "{infinite}");
}

/// Three components and little noise: EM is far closer to the truth than means are, in any units.
#[test]
fn em_predicts_from_the_other_variables() {
    let factor = |i: usize, k: usize| ((i * (7 * k + 3)) as f64 * 0.61 + k as f64).sin();
    for (m, n) in [(60, 12), (15, 40)] {
        let truth = Mat::from_fn(m, n, |i, j| {
            let signal: f64 = (0..2).map(|k| factor(i, k) * ((j + 1) as f64 * (k + 1) as f64).cos()).sum();
            100.0 * (j + 1) as f64 + (j + 1) as f64 * (signal + 0.05 * ((i * 31 + j * 17) as f64).sin())
        });
        let mut table = String::new();
        let gone = |i: usize, j: usize| (i * 5 + j * 3).is_multiple_of(11);
        for i in 0..m {
            let cell = |j: usize| if gone(i, j) { "NA".into() } else { truth[(i, j)].to_string() };
            table += &((0..n).map(cell).collect::<Vec<_>>().join(",") + "\n");
        }
        let off = |missing| {
            let found = read_with("a.csv", &table, &with(missing)).1.unwrap().matrix.to_dense();
            let error = |i: usize, j: usize| ((found[(i, j)] - truth[(i, j)]) / (j + 1) as f64).powi(2);
            let all = (0..m).flat_map(|i| (0..n).map(move |j| (i, j)));
            let mut sum = 0.0;
            for (i, j) in all {
                assert!(gone(i, j) || (found[(i, j)] - truth[(i, j)]).abs() < 1e-9 * truth[(i, j)]);
                sum += error(i, j);
            }
            sum.sqrt()
        };
        let (em, mean) = (off(Missing::Em), off(Missing::Mean));
        assert!(em < 0.3 * mean, "{m} x {n}: {em} {mean}");
    }
}

#[test]
fn names_from_a_file() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("words.txt");
    let names = |content: &str| {
        std::fs::write(&path, content).unwrap();
        read_names(&path)
    };
    assert_eq!(names("the\n\"of\"\r\n and \n\n").unwrap(), ["the", "of", "and"]);
    assert_eq!(names("the,of, and").unwrap(), ["the", "of", "and"]);
    assert!(names("").unwrap_err().to_string().ends_with("words.txt: the file is empty"));
    assert!(names("\n\n").unwrap_err().to_string().contains("it has no names"));
    let data = DataSet::new(Mat::zeros(2, 3), "a.mtx");
    let error = data.named(vec!["x".into()], "words.txt").unwrap_err().to_string();
    assert_eq!(
        error,
        "words.txt: 1 names for the 3 columns of a.mtx; one per line is expected, in the order of the columns"
    );
}

#[test]
fn what_is_written_can_be_read() {
    let folder = TempDir::new().unwrap();
    let values = faer::mat![[1.0, -0.5], [1e-300, 0.0]];
    let (rows, names) = (["a, b", "c"].map(String::from), ["PC1", "PC2"].map(String::from));
    for (file, row_names) in [("t.csv", Some(&rows[..])), ("t.tsv.gz", Some(&rows[..])), ("t.csv", None)] {
        let path = folder.path().join(file);
        let table = Table { corner: "variable", row_names, names: &names, values: values.as_ref() };
        write_table(&path, &table).unwrap();
        let back = read_file(&path, &LoadOptions::default()).unwrap();
        let shift = usize::from(row_names.is_none()); // numbers are a column unless there are names
        assert_eq!(back.matrix.to_dense().get(.., shift..), values);
        assert_eq!(back.row_names.as_deref(), row_names);
        assert_eq!(back.names.unwrap()[shift..], names);
    }
    let error = load("no.csv", &LoadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("- for standard input"), "{error}");
}

/// A total that is given away before the rows that it is the sum of is an error, and no sample; read whole it is left out.
#[test]
fn totals_far_above_their_rows() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.csv");
    let row = |i: usize| [(i * 7 % 101) as f64 + 0.5, (i * 13 % 89) as f64];
    let sums = (0..500).map(row).fold([0.0, 0.0], |a, b| [a[0] + b[0], a[1] + b[1]]);
    let mut text = format!("name,a,b\nu,1.5,2\nTotal,{},{}\n", sums[0], sums[1]);
    (0..500).for_each(|i| text += &format!("r{i},{},{}\n", row(i)[0], row(i)[1]));
    std::fs::write(&path, text).unwrap();
    let options = LoadOptions::default();
    assert_eq!(read_file(&path, &options).unwrap().matrix.nrows(), 501);
    let files = [path];
    let mut parts = Parts::new(&files, &options).unwrap();
    let error = loop {
        match parts.next_chunk(20) {
            Ok(Some(_)) => {}
            Ok(None) => panic!("a total is a sample"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("row 2 (`Total`) is the sum of others, which is known too late"), "{error}");
}

/// A frame has the variables and the samples of the file that it was written to.
#[test]
fn frames_are_read_as_files() {
    let words = |words: &[&str]| FrameCells::Words(words.iter().map(|word| word.to_string()).collect());
    let columns = |all: Vec<(&str, FrameCells<'static>)>| -> Vec<FrameColumn<'static>> {
        all.into_iter().map(|(name, cells)| FrameColumn { name: name.into(), cells }).collect()
    };
    let (a, b): (&[f64], &[f64]) = (&[1.5, 2.0, 5.0, 3.0, 9.0, 20.5], &[4.0, 1.5, 2.0, 8.0, 1.0, 16.5]);
    let read = |all: Vec<(&str, FrameCells<'static>)>, index: Option<&[String]>, options: &TableOptions| {
        framed(&columns(all), 6, index, options, "the data")
    };
    let plain = TableOptions::default();
    let (one, two) = (FrameCells::Numbers(a), FrameCells::Numbers(b));
    // the last row is the sum of the others
    let found = read(vec![("a", one.clone()), ("b", two.clone())], None, &plain).unwrap();
    assert_eq!((found.columns, found.rows.len()), (vec![0, 1], 5));
    // words, identifiers, units beside numbers, names of rows
    let ids: &[f64] = &[3.0, 1.0, 4.0, 15.0, 9.0, 26.0];
    let all = vec![
        ("who", words(&["u", "v", "w", "x", "y", "z"])),
        ("a", one.clone()),
        ("id", FrameCells::Numbers(ids)),
        ("kg", words(&["1 kg", "2 kg", "5 kg", "", "9 kg", "3 kg"])),
        ("kind", words(&["p", "q", "p", "q", "p", "q"])),
        ("lists", FrameCells::Other),
    ];
    let found = read(all.clone(), None, &plain).unwrap();
    assert_eq!((found.columns, found.row_names, found.rows.len()), (vec![1, 3], Some(0), 6));
    assert!(found.numbers[0].0 == 3 && found.numbers[0].1[3].is_nan() && found.numbers[0].1[4] == 9.0);
    let notes: Vec<String> = found.how.notes.iter().map(ToString::to_string).collect();
    assert!(
        notes.iter().any(|note| note.starts_with("column `id` (3, 1, 4, ...) tells the rows apart")),
        "{notes:?}"
    );
    assert!(notes.contains(&"columns `kind`, `lists` hold words and are left out".to_string()), "{notes:?}");
    // what is listed is listed for frames, too
    let mut options = TableOptions::default();
    options.set("columns", "a,id").unwrap();
    options.set("drop-rows", "y").unwrap();
    let found = read(all, None, &options).unwrap();
    assert_eq!((found.columns, found.rows), (vec![1, 2], vec![0, 1, 2, 3, 5]));
    // an index names the rows: `Total` among others is none of them by name alone
    let index = ["u", "v", "Total", "x", "y", "z"].map(String::from);
    let found =
        read(vec![("a", two.clone()), ("b", FrameCells::Numbers(ids))], Some(&index), &plain).unwrap();
    assert_eq!(found.rows.len(), 6);
    assert!(found.how.notes[0].to_string().starts_with("row `Total` is among other rows"));
    // odd cells are reported as in files
    let odd = vec![("a", one), ("b", words(&["1", "<2", "3*", "4", "5", "6"]))];
    let error = read(odd, None, &plain).unwrap_err().to_string();
    assert!(error.contains("`<2` in column 2 (`b`)"), "{error}");
    let nothing =
        read(vec![("a", words(&["p", "q", "p", "q", "p", "q"]))], None, &plain).unwrap_err().to_string();
    assert!(nothing.contains("no column holds numbers"), "{nothing}");
}

/// A row that is left out by itself may be listed as well.
#[test]
fn a_listed_row_may_be_left_out_already() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("t.csv");
    std::fs::write(&path, "name,a,b\nu,1.5,2\nSource: survey,,\nv,2,7\nw,3,1\n").unwrap();
    for (list, rows) in [("2", Some(3)), ("Source: survey,u", Some(2)), ("9", None)] {
        let mut options = LoadOptions::default();
        options.table.set("drop-rows", list).unwrap();
        assert_eq!(read_file(&path, &options).ok().map(|data| data.matrix.nrows()), rows, "{list}");
    }
}

/// A line of separators alone is a row without a value, as in a frame: it is left out, and the rows behind it have their numbers.
#[test]
fn lines_of_separators_are_rows() {
    let folder = TempDir::new().unwrap();
    let full: String = (0..250).map(|i| format!("r{i},{},{}\n", i * i % 17, i % 5)).collect();
    let frame = |rows: usize| -> (Vec<f64>, Vec<f64>) {
        let value = |i: usize, v: usize| if i == 1 || i == 4 { f64::NAN } else { v as f64 };
        ((0..rows).map(|i| value(i, i * 3 % 7)).collect(), (0..rows).map(|i| value(i, i * i % 5)).collect())
    };
    for (name, content, rows, empty) in [
        // of another width, after names and units, before the end
        (
            "a.csv",
            ",,,\nTitle,,\nid,a,b\n,,\nu,1.5,2\n,\n\nv,2,7\nw,3,1\n,,\n,,,\n".into(),
            3,
            "`1`, `3`, `6` and 1 more",
        ),
        ("a.tsv", "id\ta\tb\nu\t1.5\t2\n\t\t\nv\t2\t7\nw\t3\t1\n\t\t\n".into(), 3, "`2`, `5`"),
        ("a.txt", "a;b\n1,5;2\n;\n2;7\n;\n3;1\n".into(), 3, "`2`, `4`"),
        // behind the lines that decide
        ("long.csv", format!("id,a,b\n{full},,\n{full}\"\",\"\",\"\"\n"), 500, "`251`, `502`"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, &content).unwrap();
        let data = read_file(&path, &LoadOptions::default()).unwrap();
        assert_eq!(data.matrix.nrows(), rows, "{content:?}");
        let said = format!("rows {empty} with no value are left out");
        assert!(
            data.how.notes.iter().any(|note| note.to_string().starts_with(&said)),
            "{:?}",
            data.how.notes
        );
        // part by part as well
        let (files, options) = ([path], LoadOptions::default());
        let mut parts = Parts::new(&files, &options).unwrap();
        let mut seen = 0;
        while let Some(chunk) = parts.next_chunk(6).unwrap() {
            seen += chunk.rows().len();
        }
        assert_eq!(seen, rows, "{content:?}");
    }
    // the same rows as a frame has
    let (a, b) = frame(7);
    let columns = [("a", &a), ("b", &b)]
        .map(|(name, cells)| FrameColumn { name: name.into(), cells: FrameCells::Numbers(cells) });
    let cell = |v: f64| if v.is_nan() { String::new() } else { v.to_string() };
    let lines: String = (0..7).map(|i| format!("{},{}\n", cell(a[i]), cell(b[i]))).collect();
    let path = folder.path().join("same.csv");
    std::fs::write(&path, format!("a,b\n{lines}")).unwrap();
    for list in [None, Some("6"), Some("4,7"), Some("5")] {
        let mut options = LoadOptions::default();
        list.iter().for_each(|list| options.table.set("drop-rows", list).unwrap());
        let file = read_file(&path, &options).unwrap();
        let frame = framed(&columns, 7, None, &options.table, "the data").unwrap();
        let rows: Vec<f64> = frame.rows.iter().map(|i| a[*i]).collect();
        assert_eq!(file.matrix.to_dense().col_as_slice(0), rows, "{list:?}");
    }
    // kept, they are rows of missing values; C itself has no rows to leave out
    let mut options = LoadOptions { missing: Missing::Mean, ..LoadOptions::default() };
    options.table.set("drop-rows", "none").unwrap();
    assert_eq!(read_file(&path, &options).unwrap().matrix.nrows(), 7);
    let path = folder.path().join("c.csv");
    std::fs::write(&path, "2,1\n,\n1,3\n,\n").unwrap();
    let c = read_file(&path, &LoadOptions { gram: true, ..LoadOptions::default() }).unwrap();
    assert_eq!(c.matrix.to_dense(), faer::mat![[2.0, 1.0], [1.0, 3.0]]);
}

/// What databases, pages and pandas write: markers of missing values, lines that are drawn, names beside the rows, apostrophes.
#[test]
fn tables_of_databases_and_pages() {
    let expected = faer::mat![[1.5, 2.0], [3.0, 4.0], [5.0, 7.5]];
    let psql = "   a  |  b  \n------+-----\n  1.5 | 2\n    3 | 4\n    5 | 7.5\n(3 rows)\n";
    let page = "| a | b |\n|---|:-:|\n| 1.5 | 2 |\n| 3 | 4 |\n| 5 | 7.5 |\n";
    let split = r#"{"columns":["a","b"],"index":[0,1,2],"data":[[1.5,2],[3,4],[5,7.5]]}"#;
    let records = r#"{"schema":{"fields":[]},"data":[{"a":1.5,"b":2},{"a":3,"b":4},{"a":5,"b":7.5}]}"#;
    let columns = r#"{"data":[1.5,3,5],"b":[2,4,7.5]}"#;
    for (name, content, first) in [
        ("a.txt", psql, "a"),
        ("a.txt", page, "a"),
        ("a.json", split, "a"),
        ("a.json", records, "a"),
        ("a.json", columns, "data"),
        ("a.csv", "a,b\n1.5,'2\n3,'4\n5,'7.5\n", "a"),
    ] {
        let data = read(name, content).unwrap_or_else(|error| panic!("{content:?}: {error}"));
        assert_eq!(data.matrix.to_dense(), expected, "{content:?}");
        assert_eq!(data.names, text(&[first, "b"]), "{content:?}");
    }
    // a first column that would name the rows is asked about
    let asked = read("a.csv", "a,b\n'1.5,2\n'3,4\n'5,7.5\n").unwrap_err().to_string();
    assert!(asked.contains("an apostrophe in front") && asked.contains("strip"), "{asked}");
    let dump = read_with("a.tsv", "a\tb\n1.5\t2\n\\N\t4\n5\t7.5\n", &with(Missing::Mean)).1.unwrap();
    assert_eq!(dump.matrix.to_dense()[(1, 0)], 3.25);
}
