//! Comma or tab separated numbers, with or without a line of column names and a first column of
//! row names.
//!
//! The first line is a header when one of its fields is text. The first column holds row names
//! when it is text in every row; it is skipped together with its header. When the only text of
//! the first line is in that column, the line could be either a row or a header with numbers as
//! names: then it is taken for a header if its first field is empty or a word such as `name`, and
//! refused otherwise, because a row lost silently is worse than a question.

use std::io::{self, Write};

use csv::{ByteRecord, ReaderBuilder, Trim, WriterBuilder};
use faer::Mat;

use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::input::Input;
use crate::text::{parse_f64, show, write_number};

const MISSING: [&str; 8] = ["NA", "N/A", "#N/A", "NaN", "null", "none", "?", "."];
const CORNER: [&str; 5] = ["row", "name", "id", "index", "sample"];

pub(super) fn read_csv(input: Input, _: &LoadOptions) -> Result<DataSet, DataError> {
    read(input, b',')
}

pub(super) fn read_tsv(input: Input, _: &LoadOptions) -> Result<DataSet, DataError> {
    read(input, b'\t')
}

pub(super) fn write_csv(data: &DataSet, out: &mut dyn Write) -> io::Result<()> {
    write(data, b',', out)
}

pub(super) fn write_tsv(data: &DataSet, out: &mut dyn Write) -> io::Result<()> {
    write(data, b'\t', out)
}

fn read(mut input: Input, delimiter: u8) -> Result<DataSet, DataError> {
    let mut table = Table::default();
    let (mut text, mut record) = (Vec::new(), ByteRecord::new());
    // Line by line rather than with one csv reader for the file, whose line numbers are off
    // after blank lines and with Windows line ends. Only quoted fields need its rules.
    while input.next_line(&mut text)? {
        let line = input.line();
        if text.iter().all(|byte| b" \r\n".contains(byte)) {
            continue;
        }
        if text.contains(&b'"') {
            complete_quotes(&mut input, &mut text, line)?;
            record = split_quoted(&text, delimiter).map_err(|error| input.line_error(error))?;
        } else {
            record.clear();
            let fields = text.split(|byte| *byte == delimiter);
            fields.for_each(|field| record.push_field(field.trim_ascii()));
        }
        table.push(&record, line).map_err(|problem| problem.at(&input, line))?;
    }
    table.into_data(input.name())
}

/// Appends lines until every quote is closed.
fn complete_quotes(input: &mut Input, text: &mut Vec<u8>, line: u64) -> Result<(), DataError> {
    let quotes = |text: &[u8]| text.iter().filter(|byte| **byte == b'"').count();
    let mut more = Vec::new();
    let mut open = quotes(text) % 2 == 1;
    while open {
        if !input.next_line(&mut more)? {
            let problem = "a quoted field does not end".into();
            return Err(DataError::Line { path: input.name().into(), line, problem });
        }
        open = quotes(&more) % 2 == 0;
        text.append(&mut more);
    }
    Ok(())
}

fn split_quoted(text: &[u8], delimiter: u8) -> Result<ByteRecord, String> {
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).delimiter(delimiter).trim(Trim::All);
    let mut record = ByteRecord::new();
    let mut reader = builder.buffer_capacity(text.len()).from_reader(text);
    match reader.read_byte_record(&mut record) {
        Ok(_) => Ok(record),
        Err(error) => Err(error.to_string()),
    }
}

/// What has been read so far.
#[derive(Default)]
struct Table {
    header: Option<Header>,
    layout: Option<Layout>, // from the first row of data
    values: Vec<f64>,
    rows: usize,
}

struct Header {
    names: Vec<String>,
    line: u64,
    could_be_row: bool,
}

struct Layout {
    width: usize, // fields per line, with the row name
    line: u64,
    row_name: Option<String>, // of the first row: there are row names
}

impl Table {
    fn push(&mut self, record: &ByteRecord, line: u64) -> Result<(), Problem> {
        if self.layout.is_none() {
            if self.header.is_none() && record.iter().any(is_text) {
                self.header = Some(Header::new(record, line));
                return Ok(());
            }
            self.layout = Some(self.first_row(record, line)?);
        }
        self.push_row(record)
    }

    fn first_row(&mut self, record: &ByteRecord, line: u64) -> Result<Layout, Problem> {
        let row_name = record.get(0).filter(|first| record.len() > 1 && is_text(first));
        let row_name = row_name.map(|name| String::from_utf8_lossy(name).into_owned());
        if let Some(header) = &mut self.header {
            if row_name.is_some() && header.could_be_row {
                return Err(Problem::Elsewhere(header.line, AMBIGUOUS.into()));
            }
            // Some programs (R) leave out the name of the column of row names.
            let corner_missing = row_name.is_some() && header.names.len() + 1 == record.len();
            if corner_missing {
                header.names.insert(0, String::new());
            }
            if header.names.len() != record.len() {
                return Err(ragged(record.len(), header.names.len(), header.line));
            }
        }
        let line = self.header.as_ref().map_or(line, |header| header.line);
        Ok(Layout { width: record.len(), line, row_name })
    }

    fn push_row(&mut self, record: &ByteRecord) -> Result<(), Problem> {
        let Some(layout) = &self.layout else {
            return Ok(());
        };
        if record.len() != layout.width {
            return Err(ragged(record.len(), layout.width, layout.line));
        }
        self.rows += 1;
        let skip = usize::from(layout.row_name.is_some());
        if let Some(first) = &layout.row_name
            && let Some(number) = record.get(0).filter(|field| parse_f64(field).is_some())
        {
            return Err(Problem::Here(format!(
                "the first column holds {} here but {} in the first row; it must be numbers or names throughout",
                show(number),
                show(first.as_bytes())
            )));
        }
        for (at, field) in record.iter().enumerate().skip(skip) {
            match parse_f64(field) {
                Some(value) if value.is_finite() => self.values.push(value),
                Some(value) => {
                    return Err(Problem::NotFinite { row: self.rows, column: at + 1 - skip, value });
                }
                None => return Err(Problem::Here(self.bad_cell(at, field))),
            }
        }
        Ok(())
    }

    fn bad_cell(&self, at: usize, field: &[u8]) -> String {
        let name = self.header.as_ref().map(|header| &header.names[at]).filter(|name| !name.is_empty());
        let name = name.map_or(String::new(), |name| format!(" ({})", show(name.as_bytes())));
        let column = at + 1;
        if field.is_empty() {
            return format!("column {column}{name} is empty; fill it in, or remove the row or column");
        }
        let advice = if is_missing(field) {
            " but a missing value; fill it in, or remove the row or column"
        } else if field.contains(&b';') || field.contains(&b'\t') {
            "; columns are separated by commas in .csv and by tabs in .tsv"
        } else {
            ""
        };
        format!("{} in column {column}{name} is not a number{advice}", show(field))
    }

    fn into_data(self, place: &str) -> Result<DataSet, DataError> {
        let skip = usize::from(self.layout.as_ref().is_some_and(|layout| layout.row_name.is_some()));
        let names = self.header.map(|header| header.names);
        let width = match (&self.layout, &names) {
            (Some(layout), _) => layout.width,
            (None, Some(names)) => names.len(),
            (None, None) => 0,
        };
        let (rows, columns) = (self.rows, width - skip);
        if rows == 0 || columns == 0 {
            return Err(DataError::Empty { place: place.into(), rows, columns });
        }
        let matrix = Mat::from_fn(rows, columns, |i, j| self.values[i * columns + j]);
        let mut data = DataSet::new(matrix, place);
        data.names = names.map(|mut names| names.split_off(skip));
        Ok(data)
    }
}

const AMBIGUOUS: &str = "this line could be column names or the first row: only its first field is \
     text, as in every row; add a line of column names, or write `name` as its first field";

impl Header {
    fn new(record: &ByteRecord, line: u64) -> Self {
        let names = record.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        let first = record.get(0).unwrap_or_default();
        let is_corner = CORNER.iter().any(|word| first.eq_ignore_ascii_case(word.as_bytes()));
        let could_be_row = !is_corner && is_text(first) && !record.iter().skip(1).any(is_text);
        Self { names, line, could_be_row }
    }
}

fn ragged(found: usize, expected: usize, line: u64) -> Problem {
    Problem::Here(format!(
        "{found} fields where line {line} has {expected}; every line needs the same number"
    ))
}

/// Neither a number nor the absence of one.
fn is_text(field: &[u8]) -> bool {
    !field.is_empty() && parse_f64(field).is_none() && !is_missing(field)
}

fn is_missing(field: &[u8]) -> bool {
    MISSING.iter().any(|word| field.eq_ignore_ascii_case(word.as_bytes()))
}

/// What is wrong, before it is put together with the name of the file.
enum Problem {
    Here(String),
    Elsewhere(u64, String),
    NotFinite { row: usize, column: usize, value: f64 },
}

impl Problem {
    fn at(self, input: &Input, line: u64) -> DataError {
        let path = input.name().to_string();
        match self {
            Self::Here(problem) => DataError::Line { path, line, problem },
            Self::Elsewhere(line, problem) => DataError::Line { path, line, problem },
            Self::NotFinite { row, column, value } => {
                DataError::NotFinite { place: format!("{path}:{line}"), row, column, value }
            }
        }
    }
}

fn write(data: &DataSet, delimiter: u8, out: &mut dyn Write) -> io::Result<()> {
    let names = data.names.as_ref().filter(|names| names.len() == data.matrix.ncols());
    // Names that all look like numbers would come back as a row of data. A column of row names
    // marks the line as a header.
    let row_names = names.is_some_and(|names| !names.iter().any(|name| is_text(name.as_bytes())));
    if let Some(names) = names {
        let mut writer = WriterBuilder::new().delimiter(delimiter).from_writer(&mut *out);
        let corner = row_names.then_some(CORNER[0]);
        writer.write_record(corner.into_iter().chain(names.iter().map(String::as_str)))?;
        writer.flush()?;
    }
    let mut row = 0;
    data.matrix.for_each_dense_row(|values| {
        row += 1;
        if row_names {
            write!(out, "r{row}{}", char::from(delimiter))?;
        }
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                out.write_all(&[delimiter])?;
            }
            write_number(out, *value)?;
        }
        writeln!(out)
    })
}
