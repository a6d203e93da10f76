//! Tables are written here, data sets and results alike.

use std::io::{self, Write};
use std::path::Path;

use csv::WriterBuilder;
use faer::MatRef;

use crate::dataset::{DataSet, Matrix};
use crate::error::DataError;
use crate::output;
use crate::table::{is_identifier, is_spelled_missing};
use crate::text::{parse_f64, write_number};

/// Numbers with the names of their rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct Table<'a> {
    /// Name of the column of row names.
    pub corner: &'a str,
    /// A name for each row; numbers from 1 are written if there are none.
    pub row_names: Option<&'a [String]>,
    /// A name for each column.
    pub names: &'a [String],
    /// The numbers.
    pub values: MatRef<'a, f64>,
}

/// Writes a table separated by commas, or by tabs in a `.tsv` file; a final `.gz` compresses. `-` is
/// standard output.
///
/// # Errors
/// [`DataError::Io`] when the file cannot be written.
pub fn write_table(path: &Path, table: &Table<'_>) -> Result<(), DataError> {
    let name = path.to_string_lossy().to_lowercase();
    let delimiter = if name.trim_end_matches(".gz").ends_with(".tsv") { b'\t' } else { b',' };
    if name == "-" {
        let written = write(table, delimiter, &mut io::stdout().lock());
        return match written {
            // a reader that has gone away has what it wants
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(DataError::Io { action: "write", path: "standard output".into(), error })
            }
            _ => Ok(()),
        };
    }
    output::write_to(path, |out| write(table, delimiter, out))
}

fn write(table: &Table<'_>, delimiter: u8, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = WriterBuilder::new().delimiter(delimiter).from_writer(out);
    writer.write_record(std::iter::once(table.corner).chain(table.names.iter().map(String::as_str)))?;
    for i in 0..table.values.nrows() {
        match table.row_names.and_then(|names| names.get(i)) {
            Some(name) => writer.write_field(name)?,
            None => writer.write_field((i + 1).to_string())?,
        }
        for k in 0..table.values.ncols() {
            let mut number = Vec::new();
            write_number(&mut number, table.values[(i, k)])?;
            writer.write_field(&number)?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    writer.flush()
}

/// The byte order mark that may begin a file.
const MARK: char = '\u{feff}';

/// Writes a data set row by row, sparse ones without a dense copy.
pub(super) fn write_data(data: &DataSet, delimiter: u8, corner: &str, out: &mut dyn Write) -> io::Result<()> {
    let names = data.names.as_ref().filter(|names| names.len() == data.matrix.ncols());
    // A first row that climbs would come back as names, and a first column that counts as names of the rows.
    let counts = data.matrix.ncols() > 1 && counts(&data.matrix);
    let numbered: Vec<String> = (1..=data.matrix.ncols()).map(|j| format!("x{j}")).collect();
    let names = names.or((counts || climbs(&data.matrix)).then_some(&numbered));
    // Names that all look like numbers would come back as a row of data, and a first name without letters as
    // that of a column of row names. Such a column marks the line as a header.
    let unlike_header = |names: &Vec<String>| {
        !names.iter().any(|name| is_text(name.as_bytes()))
            || names.first().is_some_and(|n| n.trim().is_empty())
    };
    let tells_rows_apart = |names: &Vec<String>| names.len() > 1 && is_identifier(&names[0]);
    let invented = counts || names.is_some_and(|names| unlike_header(names) || tells_rows_apart(names));
    let all_text = |names: &[String]| names.iter().all(|name| is_text(name.as_bytes()));
    let readable =
        |names: &&Vec<String>| names.len() == data.matrix.nrows() && (!invented || all_text(names));
    let named = data.row_names.as_ref().filter(readable);
    let row_name = |row: usize| match named {
        Some(names) => Some(names[row].clone()),
        None => invented.then(|| format!("r{}", row + 1)),
    };
    let corner = (invented || named.is_some()).then_some(if invented { corner } else { "" });
    let first = if names.is_some() { corner.or(names.map(|names| names[0].as_str())) } else { None };
    if first.map_or_else(|| row_name(0), |first| Some(first.into())).is_some_and(|f| f.starts_with(MARK)) {
        write!(out, "{MARK}")?; // readers take the first one for the mark of the encoding
    }
    let mut writer = WriterBuilder::new().delimiter(delimiter).from_writer(&mut *out);
    if let Some(names) = names {
        writer.write_record(corner.into_iter().chain(names.iter().map(String::as_str)))?;
    }
    writer.flush()?;
    drop(writer);
    write_rows(&data.matrix, delimiter, row_name, out)
}

fn entry(matrix: &Matrix, i: usize, j: usize) -> f64 {
    match matrix {
        Matrix::Dense(a) => a[(i, j)],
        Matrix::Sparse(a) => a.get(i, j).copied().unwrap_or(0.0),
    }
}

/// True if the first row increases or decreases.
fn climbs(matrix: &Matrix) -> bool {
    let row: Vec<f64> = (0..matrix.ncols()).map(|j| entry(matrix, 0, j)).collect();
    row.len() > 1 && (row.windows(2).all(|w| w[0] < w[1]) || row.windows(2).all(|w| w[0] > w[1]))
}

/// True if the first column counts.
fn counts(matrix: &Matrix) -> bool {
    let rows = matrix.nrows();
    rows > 2 && (1..rows).all(|i| entry(matrix, i, 0) - entry(matrix, i - 1, 0) == 1.0)
}

fn write_rows(
    matrix: &Matrix,
    delimiter: u8,
    row_name: impl Fn(usize) -> Option<String>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut row = 0;
    matrix.for_each_dense_row(|values| {
        if let Some(name) = row_name(row) {
            let mut field = WriterBuilder::new().delimiter(delimiter).from_writer(Vec::new());
            field.write_record([&name])?;
            let bytes = field.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
            out.write_all(bytes.trim_ascii_end())?;
            out.write_all(&[delimiter])?;
        }
        row += 1;
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                out.write_all(&[delimiter])?;
            }
            write_number(out, *value)?;
        }
        writeln!(out)
    })
}

/// Neither a number nor the absence of one.
fn is_text(field: &[u8]) -> bool {
    !field.is_empty() && parse_f64(field).is_none() && !is_spelled_missing(field)
}
