//! Tables longer than what is examined first, with columns that change on the way and rows that may be no samples: read whole, part
//! by part, and as frames.

use std::fmt::Write;

use orthopt_data::stream::Parts;
use orthopt_data::{FrameCells, FrameColumn, LoadOptions, Missing, TableOptions, framed, read_file};
use orthopt_fuzz::{one_line, pick, run};
use rand::RngExt;
use rand_pcg::Pcg64;
use tempfile::TempDir;

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Numbers,
    Whole,
    Counting,
    Words,
    Names,
    Kilograms,
    Truths,
    Answers,
    Thousands,
    Empty,
}

const KINDS: [Kind; 10] = [
    Kind::Numbers,
    Kind::Whole,
    Kind::Counting,
    Kind::Words,
    Kind::Names,
    Kind::Kilograms,
    Kind::Truths,
    Kind::Answers,
    Kind::Thousands,
    Kind::Empty,
];
const NAMES: [&str; 8] = ["a", "id", "x y", "Sample", "year", "t", "case_id", "b"];
const ROWS: [&str; 8] =
    ["Total", "North total", "Mean", "SD", "N", "__no_feature", "Total cholesterol", "Sum"];

fn cell(rng: &mut Pcg64, kind: Kind, row: usize) -> String {
    let whole = rng.random_range(0..50_i32);
    match kind {
        Kind::Numbers => format!("{}.{}", whole, rng.random_range(1..99)),
        Kind::Whole => whole.to_string(),
        Kind::Counting => (row + 1).to_string(),
        Kind::Words => pick(rng, &["low", "high", "none at all", "Total", ""]).into(),
        Kind::Names => format!("r{row}"),
        Kind::Kilograms => format!("{whole} kg"),
        Kind::Truths => pick(rng, &["TRUE", "FALSE"]).into(),
        Kind::Answers => pick(rng, &["1 no", "2 yes", "3 do not know"]).into(),
        Kind::Thousands => format!("{}.{:03}", 1 + whole, rng.random_range(0..1000)),
        Kind::Empty => String::new(),
    }
}

/// Rows of cells below names.
fn table(rng: &mut Pcg64) -> (Vec<String>, Vec<Vec<String>>) {
    let (rows, columns) = (pick(rng, &[3, 9, 30, 210, 450]), rng.random_range(2..6));
    let change = if rng.random_range(0..2) == 0 { rows } else { rng.random_range(0..rows) };
    let kinds: Vec<(Kind, Kind)> = (0..columns)
        .map(|_| {
            let kind = pick(rng, &KINDS);
            (kind, if rng.random_range(0..3) == 0 { pick(rng, &KINDS) } else { kind })
        })
        .collect();
    let mut cells: Vec<Vec<String>> = (0..rows)
        .map(|i| {
            kinds.iter().map(|(early, late)| cell(rng, if i < change { *early } else { *late }, i)).collect()
        })
        .collect();
    for _ in 0..rng.random_range(0..3) {
        let (at, from) = (rng.random_range(0..=cells.len()), rng.random_range(0..cells.len()));
        let end = (from + rng.random_range(1..9)).min(cells.len());
        let total: Vec<String> = (0..columns)
            .map(|j| {
                let sum: f64 = cells[from..end].iter().filter_map(|row| row[j].parse::<f64>().ok()).sum();
                if kinds[j].0 == Kind::Names { pick(rng, &ROWS).into() } else { sum.to_string() }
            })
            .collect();
        cells.insert(at, total);
    }
    let mut names: Vec<String> = (0..columns).map(|_| pick(rng, &NAMES).to_string()).collect();
    names[0] = pick(rng, &["", "id", "a", "when"]).into();
    (names, cells)
}

fn text(names: &[String], cells: &[Vec<String>], separator: &str) -> String {
    let mut text = names.join(separator) + "\n";
    cells.iter().for_each(|row| writeln!(text, "{}", row.join(separator)).unwrap());
    text
}

#[test]
fn fuzz_long_tables() {
    let folder = TempDir::new().unwrap();
    run("long tables", 300, |rng| {
        let (names, cells) = table(rng);
        let (separator, ending) = pick(rng, &[(",", "csv"), (";", "csv"), ("\t", "tsv"), ("\t", "txt")]);
        let path = folder.path().join(format!("a.{ending}"));
        std::fs::write(&path, text(&names, &cells, separator)).unwrap();
        let mut options = LoadOptions { missing: Missing::Drop, ..LoadOptions::default() };
        if rng.random_range(0..4) == 0 {
            options.table.set("drop-rows", pick(rng, &["none", "2"])).unwrap();
        }
        let whole = read_file(&path, &options);
        let files = [path];
        let mut parts = Parts::new(&files, &options).unwrap();
        let mut rows = 0;
        let streamed = loop {
            match parts.next_chunk(20) {
                Ok(Some(chunk)) => rows += chunk.rows().len(),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        match (&whole, &streamed) {
            (Ok(data), Ok(())) => {
                assert_eq!((data.matrix.nrows(), &data.names.as_deref()), (rows, &parts.names()));
            }
            // parts do not know of a row that is listed whether another part has it
            (Err(error), Ok(())) => {
                assert!(
                    rows == 0 || error.to_string().contains("there is no row"),
                    "{rows} rows, and whole: {error}"
                );
            }
            (_, Err(error)) => one_line(&error.to_string()),
        }
        whole.iter().for_each(|data| assert!(data.matrix.nrows() > 0));
    });
}

/// A frame of numbers and words has the variables and samples of the file with the same cells.
#[test]
fn fuzz_frames() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.tsv");
    run("frames", 300, |rng| {
        let (mut names, mut cells) = table(rng);
        cells.retain(|row| row.iter().any(|cell| !cell.is_empty())); // lines of nothing are none
        names.iter_mut().enumerate().for_each(|(j, name)| *name = format!("{j}{name}"));
        std::fs::write(&path, text(&names, &cells, "\t")).unwrap();
        let mut options = LoadOptions { missing: Missing::Mean, ..LoadOptions::default() };
        options.table.set("header", "yes").unwrap();
        let of_file = read_file(&path, &options);
        let numbers: Vec<Option<Vec<f64>>> = (0..names.len())
            .map(|j| {
                let number = |row: &Vec<String>| match row[j].as_str() {
                    "" => Some(f64::NAN),
                    text => text.parse().ok(),
                };
                cells.iter().map(number).collect()
            })
            .collect();
        let columns: Vec<FrameColumn<'_>> = (0..names.len())
            .map(|j| FrameColumn {
                name: names[j].clone(),
                cells: match &numbers[j] {
                    Some(values) => FrameCells::Numbers(values),
                    None => FrameCells::Words(cells.iter().map(|row| row[j].clone()).collect()),
                },
            })
            .collect();
        let of_frame = framed(&columns, cells.len(), None, &TableOptions::default(), "the data");
        match (of_file, of_frame) {
            (Ok(file), Ok(frame)) => {
                let kept: Vec<String> = frame.columns.iter().map(|at| names[*at].clone()).collect();
                assert_eq!(
                    file.names,
                    Some(kept),
                    "{:?} {:?} {}",
                    file.how.notes,
                    frame.how.notes,
                    text(&names, &cells, "\t")
                );
            }
            (_, Err(error)) => one_line(&error.to_string()),
            (Err(error), Ok(frame)) => {
                // a column without any value, which cannot be filled in, is told by those who take the frame
                let text = error.to_string();
                assert!(
                    text.contains("no values") || text.contains("line") || !frame.columns.is_empty(),
                    "{text}"
                );
            }
        }
    });
}
