//! Names from a separate file: vocabularies of text matrices, genes of single cells, labels of rows.

use std::path::Path;

use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::guess::delimiter;
use crate::input::Input;
use crate::table::decoded;
use crate::text::{parse_f64, show};

/// Bytes that a line takes besides its text, as it is read and as a name, in lists that grow by doubling.
const LINE: usize = 4 * size_of::<String>();

/// The lines of a text file (also `.gz`), without white space around them and without quotes; blank
/// lines at the end do not count. A single line is split at its commas or tabs. Of lines with tabs one column is taken:
/// the second one, where the first holds numbers or the identifiers of genes, else the first.
///
/// # Errors
/// The file cannot be read, or has no line.
pub fn read_names(path: &Path) -> Result<Vec<String>, DataError> {
    read(path, None)
}

/// The names that `FILE` or `FILE:COLUMN` gives; the column is a number from 1 or a word of the first line.
///
/// # Errors
/// As from [`read_names`]; a column that there is not.
pub fn read_column(spec: &str) -> Result<Vec<String>, DataError> {
    let (path, column) = split(spec);
    read(Path::new(path), column)
}

/// True if a word names a file, perhaps with a column of it.
pub(crate) fn is_file(spec: &str) -> bool {
    Path::new(split(spec).0).is_file()
}

/// The file and the column.
fn split(spec: &str) -> (&str, Option<&str>) {
    match spec.rsplit_once(':') {
        Some((path, column)) if !Path::new(spec).exists() && Path::new(path).exists() => (path, Some(column)),
        _ => (spec, None),
    }
}

fn read(path: &Path, column: Option<&str>) -> Result<Vec<String>, DataError> {
    let mut input =
        Input::open(path).map_err(|error| error.with_known(|| "it has to be a text file".into()))?;
    input.as_text()?;
    let (mut lines, mut line, mut bytes) = (Vec::new(), Vec::new(), 0);
    while input.next_line(&mut line)? {
        let text = decoded(line.trim_ascii_end());
        bytes += LINE + 2 * text.len(); // the names are copies
        lines.push(text);
        input.budget().check(bytes)?;
    }
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    match &lines[..] {
        [] => return Err(input.file_error("it has no names; one per line is expected")),
        [only] if column.is_none() => return Ok(only.split([',', '\t']).map(plain).collect()),
        [first, ..] if column.is_none() && !first.contains('\t') => {
            return Ok(lines.iter().map(|line| plain(line)).collect());
        }
        _ => {}
    }
    let separator = delimiter(lines[0].as_bytes(), Some(b'\t')).map_or('\t', char::from);
    let fields = |line: &String| line.split(separator).map(plain).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = lines.iter().map(fields).collect();
    let width = rows[0].len();
    let (at, skip) = match column {
        None => (symbols(&rows), 0),
        Some(word) => match (rows[0].iter().position(|name| name == word), word.parse::<usize>()) {
            (Some(at), _) => (at, 1),
            (None, Ok(number)) if (1..=width).contains(&number) => (number - 1, 0),
            _ => {
                let problem = format!("there is no column {} among its {width}", show(word.as_bytes()));
                return Err(input.file_error(problem));
            }
        },
    };
    Ok(rows
        .into_iter()
        .skip(skip)
        .map(|mut row| if at < row.len() { row.swap_remove(at) } else { String::new() })
        .collect())
}

/// The column of a table that holds names: that of the symbols, where the first one has identifiers of genes.
fn symbols(rows: &[Vec<String>]) -> usize {
    let first: Vec<&str> = rows.iter().filter_map(|row| row.first()).map(String::as_str).collect();
    let gene = |id: &&str| {
        let rest = id.strip_prefix("ENS").unwrap_or_default();
        let digits = rest.trim_start_matches(|c: char| c.is_ascii_uppercase());
        digits.len() >= 5 && digits.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    const KINDS: [&str; 3] = ["Gene Expression", "Antibody Capture", "Peaks"];
    let kind = |row: &Vec<String>| row.get(2).is_some_and(|word| KINDS.contains(&word.as_str()));
    let has_symbols = rows.iter().any(kind)
        || 2 * first.iter().filter(|id| gene(id)).count() > first.len()
        || first.iter().all(|word| parse_f64(word.as_bytes()).is_some());
    usize::from(has_symbols && rows[0].len() > 1)
}

fn plain(text: &str) -> String {
    text.trim().trim_matches('"').into()
}

impl DataSet {
    /// The data set with other names of its columns.
    ///
    /// # Errors
    /// Their number is not that of the columns; `place` is where they come from.
    pub fn named(mut self, names: Vec<String>, place: &str) -> Result<Self, DataError> {
        let columns = self.matrix.ncols();
        if names.len() != columns {
            let problem = format!(
                "{} names for the {columns} columns of {}; one per line is expected, in the order of the columns",
                names.len(),
                self.source
            );
            return Err(DataError::File { path: place.into(), problem });
        }
        self.names = Some(names);
        Ok(self)
    }
}
