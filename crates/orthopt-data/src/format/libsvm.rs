//! LIBSVM text: one row per line, `label index:value index:value ...`, indices from 1 and
//! increasing; `#` starts a comment.
//!
//! The format does not state the number of columns. The largest index decides, and the writer
//! makes sure that it is there: an empty last column is written as one explicit zero.

use std::io::{self, Write};

use crate::dataset::{DataSet, Matrix};
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::input::Input;
use crate::sparse::{Triplets, check_size};
use crate::stream::{Chunk, Chunks};
use crate::text::{parse_f64, parse_usize, show, tokens, write_number};

pub(super) fn read(mut input: Input, options: &LoadOptions) -> Result<DataSet, DataError> {
    let mut rows = Rows { features: options.features, ..Rows::default() };
    let mut line = Vec::new();
    while rows.next_line(&mut input, &mut line)? {}
    let (nrows, ncols) = (rows.labels.len(), options.features.unwrap_or(rows.largest));
    check_size(input.budget(), nrows, ncols, rows.entries.len())?;
    let mut data = DataSet::new(rows.entries.into_matrix(nrows, ncols), input.name());
    data.labels = Some(rows.labels);
    Ok(data)
}

/// Part by part, as wide as the largest index so far.
pub(super) fn chunks(input: Input, options: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    let rows = Rows { features: options.features, ..Rows::default() };
    Ok(Box::new(Parts { input, rows, line: Vec::new() }))
}

struct Parts {
    input: Input,
    rows: Rows,
    line: Vec<u8>,
}

impl Chunks for Parts {
    fn next(&mut self, numbers: usize) -> Result<Option<Chunk>, DataError> {
        let Self { input, rows, line } = self;
        let first = rows.labels.len();
        // a row counts as an entry: many of them may be empty
        while rows.entries.len() + rows.labels.len() - first < numbers && rows.next_line(input, line)? {}
        let entries = std::mem::take(&mut rows.entries);
        let (last, columns) = (rows.labels.len(), rows.features.unwrap_or(rows.largest));
        if last == first {
            let empty = (first == 0).then(|| input.name().into());
            return empty.map_or(Ok(None), |place| Err(DataError::Empty { place, rows: 0, columns }));
        }
        check_size(input.budget(), last - first, columns, entries.len())?;
        Ok(Some(Chunk::sparse(first, last - first, columns, entries)))
    }

    fn bytes(&self) -> u64 {
        self.input.taken()
    }

    fn grows(&self) -> bool {
        self.rows.features.is_none()
    }
}

/// Rows that have been read so far.
#[derive(Default)]
struct Rows {
    features: Option<usize>,
    labels: Vec<f64>,
    entries: Triplets,
    largest: usize, // index, counted from 1
}

impl Rows {
    /// Reads one line; false at the end.
    fn next_line(&mut self, input: &mut Input, line: &mut Vec<u8>) -> Result<bool, DataError> {
        if !input.next_line(line)? {
            return Ok(false);
        }
        let comment = line.iter().position(|&byte| byte == b'#').unwrap_or(line.len());
        self.push_line(&line[..comment]).map_err(|problem| problem.at(input, self.labels.len()))?;
        input.budget().check(self.entries.bytes())?;
        Ok(true)
    }

    fn push_line(&mut self, line: &[u8]) -> Result<(), Problem> {
        let mut fields = tokens(line);
        let Some(label) = fields.next() else {
            return Ok(());
        };
        self.labels.push(parse_label(label)?);
        let mut previous = 0;
        for field in fields {
            let (index, value) = parse_entry(field)?;
            if index <= previous {
                return Err(out_of_order(index, previous));
            }
            if let Some(features) = self.features.filter(|&features| index > features) {
                return Err(Problem::Text(format!(
                    "index {index} is larger than the number of features asked for ({features}); \
                     ask for more, or for none to take the largest index"
                )));
            }
            self.entries.push(self.labels.len() - 1, index - 1, value);
            previous = index;
        }
        self.largest = self.largest.max(previous);
        Ok(())
    }
}

fn parse_label(token: &[u8]) -> Result<f64, Problem> {
    if token.contains(&b':') {
        return Err(Problem::Text(format!(
            "the line starts with {} where a label is required; put a number first (0 if there are no labels)",
            show(token)
        )));
    }
    match parse_f64(token) {
        Some(label) if label.is_finite() => Ok(label),
        _ => Err(Problem::Text(format!(
            "the label {} is not a finite number; labels must be single numbers such as -1 or 2",
            show(token)
        ))),
    }
}

fn parse_entry(field: &[u8]) -> Result<(usize, f64), Problem> {
    let Some(colon) = field.iter().position(|&byte| byte == b':') else {
        return Err(Problem::Text(format!("{} has no colon; expected index:value", show(field))));
    };
    let (name, value) = (&field[..colon], &field[colon + 1..]);
    if name == b"qid" {
        let text = "`qid:` (query numbers of ranking data) is not supported; remove these fields";
        return Err(Problem::Text(text.into()));
    }
    let index = match parse_usize(name) {
        Some(0) => Err(format!("index 0 in {}; indices are counted from 1", show(field))),
        Some(index) => Ok(index),
        None => Err(format!("the index in {} is not a whole number of at least 1", show(field))),
    };
    let index = index.map_err(Problem::Text)?;
    match parse_f64(value) {
        Some(value) if value.is_finite() => Ok((index, value)),
        Some(value) => Err(Problem::NotFinite { index, value }),
        None => Err(Problem::Text(format!("the value in {} is not a number", show(field)))),
    }
}

fn out_of_order(index: usize, previous: usize) -> Problem {
    Problem::Text(if index == previous {
        format!("index {index} appears twice; every index may occur once per line")
    } else {
        format!("index {index} comes after index {previous}; indices must increase within a line")
    })
}

/// Error in a line, before it is known which line it is.
enum Problem {
    Text(String),
    NotFinite { index: usize, value: f64 },
}

impl Problem {
    fn at(self, input: &Input, row: usize) -> DataError {
        match self {
            Self::Text(problem) => input.line_error(problem),
            Self::NotFinite { index, value } => {
                DataError::NotFinite { place: input.place(), row, column: index, value }
            }
        }
    }
}

pub(super) fn write(data: &DataSet, out: &mut dyn Write) -> io::Result<()> {
    let labels = data.labels.as_ref().filter(|labels| labels.len() == data.matrix.nrows());
    let mut shown = shows_last_column(&data.matrix);
    let mut row = 0;
    data.matrix.for_each_sparse_row(|cols, values| {
        write_number(out, labels.map_or(0.0, |labels| labels[row]))?;
        for (col, &value) in cols.iter().zip(values) {
            write!(out, " {}:", col + 1)?;
            write_number(out, value)?;
        }
        if !shown {
            write!(out, " {}:0", data.matrix.ncols())?;
            shown = true;
        }
        row += 1;
        writeln!(out)
    })
}

fn shows_last_column(matrix: &Matrix) -> bool {
    let last = matrix.ncols().checked_sub(1);
    last.is_none_or(|last| matrix.stored_column(last).iter().any(|value| *value != 0.0))
}
