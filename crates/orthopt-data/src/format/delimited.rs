//! Numbers separated by commas, tabs, `;` or spaces, with or without a line of column names and a first column of
//! row names.
//!
//! The first line is a header when one of its fields is text. The first column holds row names
//! when it is text in every row, when its header is empty (pandas, R's `write.csv`) or when the header
//! is one name short (R's `write.table`). When the only text of the first line is in a first column
//! of text, the line could be either a row or a header with numbers as names: then it is taken for a
//! header if its first field is empty or a word such as `name`, and refused otherwise, because a row
//! lost silently is worse than a question.

use std::io::{self, Write};

use csv::{ByteRecord, ReaderBuilder, Trim};
use faer::Mat;

use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::format::guess::Style;
use crate::format::table;
use crate::input::{BYTE_ORDER_MARK, Input};
use crate::missing::Missing;
use crate::stream::{Chunk, Chunks};
use crate::text::{parse_f64, show, tokens};

const MISSING: [&str; 8] = ["NA", "N/A", "#N/A", "NaN", "null", "none", "?", "."];
const CORNER: [&str; 6] = ["row", "name", "id", "index", "sample", "variable"];

pub(super) fn read_csv(input: Input, options: &LoadOptions) -> Result<DataSet, DataError> {
    read(input, Some(b','), options.missing)
}

pub(super) fn read_tsv(input: Input, options: &LoadOptions) -> Result<DataSet, DataError> {
    read(input, Some(b'\t'), options.missing)
}

/// A table with any separator.
pub(crate) fn read_txt(input: Input, options: &LoadOptions) -> Result<DataSet, DataError> {
    read(input, None, options.missing)
}

pub(super) fn write_csv(data: &DataSet, out: &mut dyn Write) -> io::Result<()> {
    table::write_data(data, b',', CORNER[0], out)
}

pub(super) fn write_tsv(data: &DataSet, out: &mut dyn Write) -> io::Result<()> {
    table::write_data(data, b'\t', CORNER[0], out)
}

pub(super) fn csv_chunks(input: Input, options: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    Ok(Box::new(Lines::new(input, Some(b','), options.missing)))
}

pub(super) fn tsv_chunks(input: Input, options: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    Ok(Box::new(Lines::new(input, Some(b'\t'), options.missing)))
}

/// A table with any separator, part by part.
pub(super) fn txt_chunks(input: Input, options: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    Ok(Box::new(Lines::new(input, None, options.missing)))
}

fn read(input: Input, usual: Option<u8>, missing: Missing) -> Result<DataSet, DataError> {
    let mut lines = Lines::new(input, usual, missing);
    while lines.next_line()? {}
    lines.table.into_data(lines.input.name())
}

/// The lines of a table on their way into it.
struct Lines {
    input: Input,
    usual: Option<u8>, // the separator that the extension promises
    style: Option<Style>,
    table: Rows,
    text: Vec<u8>,
    record: ByteRecord,
}

impl Lines {
    fn new(input: Input, usual: Option<u8>, missing: Missing) -> Self {
        let table = Rows { missing, ..Rows::default() };
        Self { input, usual, style: None, table, text: Vec::new(), record: ByteRecord::new() }
    }

    /// Reads one line; false at the end.
    // Line by line rather than with one csv reader for the file, whose line numbers are off
    // after blank lines and with Windows line ends. Only quoted fields need its rules.
    fn next_line(&mut self) -> Result<bool, DataError> {
        let Self { input, table, text, record, .. } = self;
        if !input.next_line(text)? {
            return Ok(false);
        }
        let line = input.line();
        if text.iter().all(|byte| b" \r\n".contains(byte)) {
            return Ok(true);
        }
        let style = *self.style.get_or_insert_with(|| Style::of(text, self.usual));
        if text.contains(&b'"') {
            complete_quotes(input, text, line)?;
            let delimiter = style.delimiter.unwrap_or(b' ');
            *record = split_quoted(text, delimiter).map_err(|error| input.line_error(error))?;
        } else {
            record.clear();
            match style.delimiter {
                None => tokens(text).for_each(|field| record.push_field(field)),
                Some(delimiter) => {
                    let fields = text.split(|byte| *byte == delimiter);
                    fields.for_each(|field| record.push_field(field.trim_ascii()));
                }
            }
        }
        table.push(record, line, style).map_err(|problem| problem.at(input, line))?;
        input.budget().check(table.bytes())?;
        Ok(true)
    }
}

impl Chunks for Lines {
    fn next(&mut self, numbers: usize) -> Result<Option<Chunk>, DataError> {
        let first = self.table.rows;
        while self.table.values.len() < numbers && self.next_line()? {}
        let (rows, columns) = (self.table.rows - first, self.table.columns());
        let values = std::mem::take(&mut self.table.values);
        self.table.names.clear();
        if rows == 0 || columns == 0 {
            let empty = (first == 0).then(|| self.input.name().into());
            return empty.map_or(Ok(None), |place| Err(DataError::Empty { place, rows, columns }));
        }
        Ok(Some(Chunk::new(first, Mat::from_fn(rows, columns, |i, j| values[i * columns + j]))))
    }

    fn names(&self) -> Option<Vec<String>> {
        let names = &self.table.header.as_ref()?.names;
        Some(names[self.table.skip()..].to_vec())
    }

    fn bytes(&self) -> u64 {
        self.input.taken()
    }
}

/// Bytes of a quoted field over several lines.
const LONGEST_QUOTED: usize = 1 << 20;

/// Appends lines until every quote is closed.
fn complete_quotes(input: &mut Input, text: &mut Vec<u8>, line: u64) -> Result<(), DataError> {
    let quotes = |text: &[u8]| text.iter().filter(|byte| **byte == b'"').count();
    let mut more = Vec::new();
    let mut open = quotes(text) % 2 == 1;
    while open {
        if !input.next_line(&mut more)? {
            let problem = "a quoted field is not closed".into();
            return Err(DataError::Line { path: input.name().into(), line, problem });
        }
        open = quotes(&more) % 2 == 0;
        text.append(&mut more);
        if open && text.len() > LONGEST_QUOTED {
            let problem = "a quoted field of more than 1 MB; a quote is missing".into();
            return Err(DataError::Line { path: input.name().into(), line, problem });
        }
    }
    Ok(())
}

fn split_quoted(text: &[u8], delimiter: u8) -> Result<ByteRecord, String> {
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).delimiter(delimiter).trim(Trim::All);
    let mut record = ByteRecord::new();
    // The csv crate takes a first mark for that of the encoding, which is gone already.
    let mark = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK } else { b"" };
    let text = [mark, text].concat();
    let mut reader = builder.buffer_capacity(text.len()).from_reader(&text[..]);
    match reader.read_byte_record(&mut record) {
        Ok(_) => Ok(record),
        Err(error) => Err(error.to_string()),
    }
}

/// What has been read so far.
#[derive(Default)]
struct Rows {
    header: Option<Header>,
    layout: Option<Layout>, // from the first row of data
    values: Vec<f64>,
    names: Vec<String>, // of the rows
    rows: usize,
    missing: Missing,
}

struct Header {
    names: Vec<String>,
    line: u64,
    could_be_row: bool,
}

struct Layout {
    width: usize, // fields per line, with the row name
    line: u64,
    row_names: bool,
    text: Option<String>, // the first row name, where it is text and so makes all of them names
}

impl Rows {
    /// Bytes that the table takes: the numbers, once more as a matrix, and the names.
    fn bytes(&self) -> usize {
        8 * (self.values.capacity() + self.values.len()) + size_of::<String>() * self.names.capacity()
    }

    fn push(&mut self, record: &ByteRecord, line: u64, style: Style) -> Result<(), Problem> {
        if self.layout.is_none() {
            if self.header.is_none() && record.iter().any(|field| style.is_text(field)) {
                self.header = Some(Header::new(record, line));
                return Ok(());
            }
            self.layout = Some(self.first_row(record, line, style)?);
        }
        self.push_row(record, style)
    }

    fn first_row(&mut self, record: &ByteRecord, line: u64, style: Style) -> Result<Layout, Problem> {
        let text = record.get(0).filter(|first| record.len() > 1 && style.is_text(first));
        let text = text.map(|name| String::from_utf8_lossy(name).into_owned());
        let mut row_names = text.is_some();
        if let Some(header) = &mut self.header {
            // R leaves out the name of the column of row names, or leaves it empty
            if header.names.len() + 1 == record.len() {
                header.names.insert(0, String::new());
                row_names = true;
            } else if text.is_some() && header.could_be_row {
                return Err(Problem::Elsewhere(header.line, AMBIGUOUS.into()));
            }
            row_names |= header.names.len() > 1 && header.names[0].is_empty();
            if header.names.len() != record.len() {
                return Err(ragged(record.len(), header.names.len(), header.line));
            }
        }
        let line = self.header.as_ref().map_or(line, |header| header.line);
        Ok(Layout { width: record.len(), line, row_names, text })
    }

    fn push_row(&mut self, record: &ByteRecord, style: Style) -> Result<(), Problem> {
        let Some(layout) = &self.layout else {
            return Ok(());
        };
        if record.len() != layout.width {
            return Err(ragged(record.len(), layout.width, layout.line));
        }
        self.rows += 1;
        if let Some(first) =
            layout.text.as_ref().filter(|_| self.header.as_ref().is_none_or(Header::leaves_it_open))
            && let Some(number) = record.get(0).filter(|field| style.number(field).is_some())
        {
            return Err(Problem::Here(format!(
                "the first column holds {} here but {} in the first row; it must be numbers or names throughout",
                show(number),
                show(first.as_bytes())
            )));
        }
        let skip = usize::from(layout.row_names);
        if let Some(name) = record.get(0).filter(|_| layout.row_names) {
            self.names.push(String::from_utf8_lossy(name).into_owned());
        }
        for (at, field) in record.iter().enumerate().skip(skip) {
            let value = match style.number(field) {
                Some(value) if value.is_finite() => value,
                Some(value) if !value.is_nan() => {
                    return Err(Problem::NotFinite { row: self.rows, column: at + 1 - skip, value });
                }
                _ => self.absent(at, skip, field)?,
            };
            self.values.push(value);
        }
        Ok(())
    }

    /// NaN where missing values are welcome.
    fn absent(&self, at: usize, skip: usize, field: &[u8]) -> Result<f64, Problem> {
        if !field.is_empty() && !is_missing(field) {
            return Err(Problem::Here(self.bad_cell(at, field)));
        }
        if self.missing != Missing::Error {
            return Ok(f64::NAN);
        }
        let (row, column, name) = (self.rows, at + 1 - skip, self.name_of(at));
        let text = if field.is_empty() { "the cell is empty".into() } else { show(field) };
        Err(Problem::Missing { row, column, name, text })
    }

    /// The name of a column in brackets, where it has one.
    fn name_of(&self, at: usize) -> String {
        let name = self.header.as_ref().map(|header| &header.names[at]).filter(|name| !name.is_empty());
        name.map_or(String::new(), |name| format!(" ({})", show(name.as_bytes())))
    }

    fn bad_cell(&self, at: usize, field: &[u8]) -> String {
        let (column, name) = (at + 1, self.name_of(at));
        let separated = field.iter().any(|byte| b";\t".contains(byte));
        let advice = if separated { "; the first line has another separator" } else { "" };
        format!("{} in column {column}{name} is not a number{advice}", show(field))
    }

    /// Columns in front of the numbers: one, where rows have names.
    fn skip(&self) -> usize {
        usize::from(self.layout.as_ref().is_some_and(|layout| layout.row_names))
    }

    /// Columns of numbers.
    fn columns(&self) -> usize {
        let width = match (&self.layout, &self.header) {
            (Some(layout), _) => layout.width,
            (None, Some(header)) => header.names.len(),
            (None, None) => 0,
        };
        width - self.skip()
    }

    fn into_data(self, place: &str) -> Result<DataSet, DataError> {
        let (rows, columns, skip) = (self.rows, self.columns(), self.skip());
        let names = self.header.map(|header| header.names);
        if rows == 0 || columns == 0 {
            return Err(DataError::Empty { place: place.into(), rows, columns });
        }
        let matrix = Mat::from_fn(rows, columns, |i, j| self.values[i * columns + j]);
        let mut data = DataSet::new(matrix, place);
        data.names = names.map(|mut names| names.split_off(skip));
        data.row_names = (skip > 0).then_some(self.names);
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

    /// Whether the header says nothing of the first column, so that its text decides.
    fn leaves_it_open(&self) -> bool {
        !self.names.first().is_some_and(String::is_empty)
    }
}

fn ragged(found: usize, expected: usize, line: u64) -> Problem {
    let s = if found == 1 { "" } else { "s" };
    Problem::Here(format!(
        "{found} field{s} where line {line} has {expected}; every line needs the same number"
    ))
}

/// Neither a number nor the absence of one.
pub(super) fn is_text(field: &[u8]) -> bool {
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
    Missing { row: usize, column: usize, name: String, text: String },
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
            Self::Missing { row, column, name, text } => {
                DataError::Missing { place: format!("{path}:{line}"), row, column, name, text }
            }
        }
    }
}
