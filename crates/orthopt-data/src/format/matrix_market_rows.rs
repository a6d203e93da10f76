//! Matrix Market part by part, where the entries come by rows.

use std::collections::VecDeque;

use super::matrix_market::{Header, check_finite, header, next_content, parse_entry, read_after};
use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::input::Input;
use crate::sparse::{Triplets, check_size};
use crate::stream::{Chunk, Chunks, Whole};

/// Entries that are examined to see whether they come by rows.
const LOOK: usize = 1 << 16;

/// Coordinate files, general, by increasing rows. Others have to be held in memory, as far as they fit.
pub(super) fn chunks(mut input: Input, _: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    let header = header(&mut input)?;
    if !header.is_general_coordinate() {
        let matrix = read_after(&mut input, &header)?;
        return Ok(Box::new(Whole::new(DataSet::new(matrix, input.name()))));
    }
    let mut lines = Lines { input, header, found: 0, line: Vec::new() };
    let mut ahead = VecDeque::new();
    while ahead.len() < LOOK
        && let Some(entry) = lines.next()?
    {
        ahead.push_back(entry);
    }
    if ahead.iter().is_sorted_by_key(|entry| entry.0) {
        return Ok(Box::new(ByRows { lines, ahead, next: 0, last: 0 }));
    }
    let mut entries = Triplets::default();
    ahead.into_iter().for_each(|(row, column, value)| entries.push(row, column, value));
    while let Some((row, column, value)) = lines.next()? {
        entries.push(row, column, value);
        lines.input.budget().check(entries.bytes())?;
    }
    let Header { rows, columns, .. } = lines.header;
    check_size(lines.input.budget(), rows, columns, entries.len())?;
    let name = lines.input.name();
    Ok(Box::new(Whole::new(DataSet::new(entries.into_matrix(rows, columns), name))))
}

/// The lines of entries.
struct Lines {
    input: Input,
    header: Header,
    found: usize,
    line: Vec<u8>,
}

impl Lines {
    /// Row, column and value of the next entry.
    fn next(&mut self) -> Result<Option<(usize, usize, f64)>, DataError> {
        let Self { input, header, found, line } = self;
        if !next_content(input, line)? {
            if *found < header.entries {
                return Err(input.file_error(format!(
                    "{} entries are declared but there are only {found}; the file is truncated",
                    header.entries
                )));
            }
            return Ok(None);
        }
        if *found == header.entries {
            return Err(input.line_error(format!("more than the {} entries declared", header.entries)));
        }
        *found += 1;
        let parsed = parse_entry(line, header.pattern(), header.rows, header.columns);
        let (row, column, value) = parsed.map_err(|problem| input.line_error(problem))?;
        check_finite(input, row, column, value)?;
        Ok(Some((row, column, value)))
    }
}

struct ByRows {
    lines: Lines,
    ahead: VecDeque<(usize, usize, f64)>, // entries read and not yet given
    next: usize,                          // the first row of the next chunk
    last: usize,                          // the row of the entry read last
}

impl ByRows {
    /// The row of the next entry.
    fn peek(&mut self) -> Result<Option<usize>, DataError> {
        if self.ahead.is_empty() {
            let Some(entry) = self.lines.next()? else { return Ok(None) };
            if entry.0 < self.last {
                return Err(self.lines.input.line_error(
                    "the entries are not sorted by rows, so the file cannot be read part by part; sort the \
                     lines of entries (sort -n -s -k1,1), or convert the file to .svm",
                ));
            }
            self.ahead.push_back(entry);
        }
        Ok(self.ahead.front().map(|entry| entry.0))
    }
}

impl Chunks for ByRows {
    fn next(&mut self, numbers: usize) -> Result<Option<Chunk>, DataError> {
        let (first, rows, columns) = (self.next, self.lines.header.rows, self.lines.header.columns);
        if first == rows {
            return Ok(None);
        }
        let mut entries = Triplets::default();
        let end = loop {
            let Some(row) = self.peek()? else { break rows };
            if entries.len() >= numbers && row > self.last {
                break row;
            }
            if let Some((row, column, value)) = self.ahead.pop_front() {
                entries.push(row, column, value);
                self.last = row;
            }
            self.lines.input.budget().check(entries.bytes())?;
        };
        check_size(self.lines.input.budget(), end - first, columns, entries.len())?;
        self.next = end;
        Ok(Some(Chunk::sparse(first, end - first, columns, entries)))
    }

    fn bytes(&self) -> u64 {
        self.lines.input.taken()
    }
}
