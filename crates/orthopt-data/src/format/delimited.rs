//! Numbers separated by commas, tabs, `;`, `|` or spaces, with or without a line of column names and a first column of
//! row names. What the columns are is decided by the first lines ([`crate::table`]), and
//! by all of them where the others do not agree.

use std::collections::VecDeque;
use std::io::{self, Write};

use csv::{ByteRecord, ReaderBuilder, Trim};

use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::format::guess;
use crate::format::rows::{Read, Rows, decided_by_all, left_out};
use crate::format::table;
use crate::input::{BYTE_ORDER_MARK, Input};
use crate::stream::{Chunk, Chunks, Whole};
use crate::table::{Columns, Head, HowRead, Layout, Problem, TableOptions, arranged, titles};
use crate::text::{parse_f64, tokens};

pub(super) fn read_csv(input: Input, options: &LoadOptions) -> Result<DataSet, DataError> {
    read(input, Some(b','), options)
}

pub(super) fn read_tsv(input: Input, options: &LoadOptions) -> Result<DataSet, DataError> {
    read(input, Some(b'\t'), options)
}

/// A table with any separator.
pub(crate) fn read_txt(input: Input, options: &LoadOptions) -> Result<DataSet, DataError> {
    read(input, None, options)
}

pub(super) fn write_csv(data: &DataSet, out: &mut dyn Write) -> io::Result<()> {
    table::write_data(data, b',', CORNER, out)
}

pub(super) fn write_tsv(data: &DataSet, out: &mut dyn Write) -> io::Result<()> {
    table::write_data(data, b'\t', CORNER, out)
}

/// The name of a column of row names.
const CORNER: &str = "row";

pub(super) fn csv_chunks(input: Input, options: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    chunks(input, Some(b','), options)
}

pub(super) fn tsv_chunks(input: Input, options: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    chunks(input, Some(b'\t'), options)
}

/// A table with any separator, part by part.
pub(super) fn txt_chunks(input: Input, options: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    chunks(input, None, options)
}

/// The rows of a table; one that turns by itself is read whole, as its samples are columns.
fn chunks(input: Input, usual: Option<u8>, options: &LoadOptions) -> Result<Box<dyn Chunks>, DataError> {
    let mut lines = Lines::new(input, usual, options)?;
    lines.look()?;
    if !lines.rows.layout.as_ref().is_some_and(|layout| layout.how.transposed) {
        return Ok(Box::new(lines));
    }
    let data = lines.read_all().map_err(|(error, _)| error)?;
    Ok(Box::new(Whole::arranged(arranged(data, options)?)))
}

fn read(input: Input, usual: Option<u8>, options: &LoadOptions) -> Result<DataSet, DataError> {
    let input = input.kept();
    let again = input.origin();
    let mut lines = Lines::new(input, usual, options)?;
    let first = lines.read_all();
    decided_by_all(lines.more, first, || {
        let input = again.open().map_err(|error| (error, false))?;
        let mut lines = Lines::new(input, usual, options).map_err(|error| (error, false))?;
        lines.by_all = true;
        lines.read_all()
    })
}

/// Lines that are examined before any is read: so many, or so many bytes, but some in any case.
const LOOKED_AT: (usize, usize, usize) = (200, 1 << 20, 5);

/// Beginnings of lines that are no data.
const COMMENTS: [&[u8]; 3] = [b"#", b"%", b"//"];

/// The lines of a table on their way into it.
struct Lines {
    input: Input,
    usual: Option<u8>, // the separator that the extension promises
    options: TableOptions,
    delimiter: Option<u8>,
    comment: Option<&'static [u8]>, // how comments begin, where there were some in front
    ahead: VecDeque<Head>,          // rows that were examined
    rows: Rows,
    by_all: bool,   // all lines decide, and not the first ones alone
    more: bool,     // there are more lines than those that have decided
    ended: bool,    // no line is left
    finished: bool, // and the last rows have been given away
    text: Vec<u8>,
    encoding: Option<&'static str>,
}

impl Lines {
    fn new(mut input: Input, usual: Option<u8>, options: &LoadOptions) -> Result<Self, DataError> {
        let encoding = input.as_text()?;
        Ok(Self {
            input,
            usual,
            options: options.table.clone(),
            delimiter: usual,
            comment: None,
            ahead: VecDeque::new(),
            rows: Rows::new(None, options),
            by_all: false,
            more: false,
            ended: false,
            finished: false,
            text: Vec::new(),
            encoding,
        })
    }

    /// Reads the whole table.
    fn read_all(&mut self) -> Read {
        loop {
            match self.next_row() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    let by_lines = !matches!(error, DataError::Memory { .. } | DataError::Io { .. });
                    return Err((error, by_lines));
                }
            }
        }
        std::mem::take(&mut self.rows).into_data(self.input.name())
    }

    /// Reads the next line with something in it, to the end of its quotes; false at the end. Separators alone are something.
    fn next_text(&mut self) -> Result<bool, DataError> {
        loop {
            if !self.input.next_line(&mut self.text)? {
                return Ok(false);
            }
            if is_rule(&self.text) || (self.is_blank(&self.text) && !self.has_separator(&self.text)) {
                continue;
            }
            if self.comment.is_some_and(|begin| self.text.starts_with(begin)) {
                continue;
            }
            if self.text.contains(&b'"') {
                let line = self.input.line();
                complete_quotes(&mut self.input, &mut self.text, line)?;
            }
            return Ok(true);
        }
    }

    /// True if no field of a line has anything in it.
    fn is_blank(&self, text: &[u8]) -> bool {
        let blank = |byte: &u8| b" \r\n\t\"".contains(byte) || Some(*byte) == self.delimiter;
        text.iter().all(blank) && !is_quoted_over_lines(text)
    }

    /// True if a line is divided; until the separator is known, by tabs unless the extension promises commas.
    fn has_separator(&self, text: &[u8]) -> bool {
        match self.delimiter {
            Some(delimiter) => text.contains(&delimiter),
            None => self.rows.layout.is_none() && self.usual != Some(b',') && text.contains(&b'\t'),
        }
    }

    /// The line in which the text read last begins: a quoted field may spread over several.
    fn first_line(&self) -> u64 {
        let inside = &self.text[..self.text.len().saturating_sub(1)];
        self.input.line() - inside.iter().filter(|byte| **byte == b'\n').count() as u64
    }

    /// Examines the first lines and decides what they are.
    fn look(&mut self) -> Result<(), DataError> {
        // until the separator is known, a line of separators is not distinguished from others
        self.delimiter = None;
        for _ in 0..self.options.skip {
            if !self.input.next_line(&mut self.text)? {
                break;
            }
        }
        let mut first: Vec<(u64, Vec<u8>)> = Vec::new();
        let (most, most_bytes, least) = LOOKED_AT;
        let mut bytes = 0;
        self.more = true;
        while self.by_all || first.len() < least || (first.len() < most && bytes < most_bytes) {
            if !self.next_text()? {
                self.more = false;
                break;
            }
            bytes += self.text.len();
            self.input.budget().check(if self.by_all { 4 } else { 2 } * bytes)?;
            first.push((self.first_line(), std::mem::take(&mut self.text)));
        }
        let named = first.first().and_then(|(_, text)| named_separator(text));
        if named.is_some() {
            first.remove(0);
        }
        let field = first.first().map(|(_, text)| Field::of(text)).unwrap_or_default();
        let comments = self.comments(&mut first);
        let separated = first.iter().map(|(_, text)| guess::delimiter(text, self.usual));
        // a title has no separator
        let bare = |text: &[u8], delimiter: Option<u8>| delimiter.is_some_and(|d| !text.contains(&d));
        let found = separated.zip(&first).take(least).find(|(d, (_, text))| !bare(text, *d)).map(|(d, _)| d);
        self.delimiter = named.or(found.unwrap_or(self.usual));
        if named.is_none() && self.usual == Some(b',') && found.is_none() && guess::is_spaced(&first) {
            self.delimiter = None;
        }
        let (name, mut head, mut empty) = (self.input.name().to_string(), Vec::new(), Vec::new());
        for (line, text) in first {
            if self.is_blank(&text) {
                empty.extend(self.delimiter.is_some_and(|d| text.contains(&d)).then_some(line));
                continue;
            }
            let fields =
                self.fields(&text).map_err(|error| Problem::Elsewhere(line, error).at(&name, line))?;
            if fields.len() <= 1 || fields.iter().any(|field| !field.is_empty()) {
                let quoted = is_quoted(&text, self.delimiter);
                head.push(Head { line, fields, quoted });
            }
        }
        if let Some((line, text)) = &comments.1 {
            let uncommented =
                self.fields(text).map_err(|error| Problem::Elsewhere(*line, error).at(&name, *line))?;
            let number = |field: &[u8]| parse_f64(field).is_some();
            let is_header = head.first().is_some_and(|row| {
                uncommented.len() > 1
                    && row.fields.len() == uncommented.len()
                    && row.fields.iter().any(number)
            });
            if is_header {
                head.insert(0, Head { line: *line, fields: uncommented, quoted: false });
            }
        }
        let titles = titles(&head);
        head.drain(..titles);
        if head.is_empty() {
            return Ok(());
        }
        let field = field.or(Field::of_header(&head[0]));
        let bookkeeping = field.bookkeeping(&head[0]);
        if self.options.drop.is_none() && self.options.columns.is_none() {
            self.options.drop = Columns::of_names(bookkeeping);
        }
        let line = head[0].line;
        let mut layout =
            Layout::of(&head, self.delimiter, &self.options).map_err(|problem| problem.at(&name, line))?;
        // rows without a value, from the first one on
        let above = head.drain(..layout.above).next_back();
        let from = above.or_else(|| head.first().cloned()).map_or(0, |row| row.line);
        let rows = empty.into_iter().filter(|line| *line > from);
        head.extend(rows.map(|line| Head { line, fields: ByteRecord::new(), quoted: false }));
        head.sort_by_key(|row| row.line);
        layout.how.transposed = field != Field::Any && self.options.transpose.is_none();
        if field == Field::Any && self.options.transpose.is_none() {
            layout.how.notes.extend(layout.how.note_of_genes());
        }
        self.ahead = head.into();
        layout.how.style.extend(self.encoding.map(String::from));
        layout.how.style.extend(left_out(comments.0, "comment"));
        layout.how.style.extend(left_out(titles, "line above the table"));
        self.rows.begin(layout, !self.more);
        Ok(())
    }

    /// Takes comments out of the first lines. Returns how many there were, and the last one in front, which may be the
    /// names of the columns.
    fn comments(&mut self, first: &mut Vec<(u64, Vec<u8>)>) -> (usize, Option<(u64, Vec<u8>)>) {
        let begin =
            first.first().and_then(|(_, text)| COMMENTS.into_iter().find(|begin| text.starts_with(begin)));
        let Some(begin) = begin else { return (0, None) };
        let is_comment = |text: &[u8]| text.starts_with(begin);
        let in_front = first.iter().take_while(|(_, text)| is_comment(text)).count();
        if in_front == first.len() {
            return (0, None); // names of rows that begin so
        }
        self.comment = Some(begin);
        let last = first.get(in_front - 1).map(|(line, text)| (*line, uncommented(text, begin)));
        let before = first.len();
        first.retain(|(_, text)| !is_comment(text));
        (before - first.len(), last)
    }

    /// The fields of a line.
    fn fields(&self, text: &[u8]) -> Result<ByteRecord, String> {
        if text.contains(&b'"') {
            return split_quoted(text, self.delimiter.unwrap_or(b' '));
        }
        let mut record = ByteRecord::new();
        match self.delimiter {
            None => tokens(text).for_each(|field| record.push_field(field)),
            Some(delimiter) => {
                text.split(|byte| *byte == delimiter).for_each(|field| record.push_field(field.trim_ascii()));
            }
        }
        Ok(record)
    }

    /// Reads one row; false at the end.
    // Line by line rather than with one csv reader for the file, whose line numbers are off
    // after blank lines and with Windows line ends. Only quoted fields need its rules.
    fn next_row(&mut self) -> Result<bool, DataError> {
        if self.rows.layout.is_none() {
            self.look()?;
        }
        if let Some(Head { line, fields, .. }) = self.ahead.pop_front() {
            let pushed = match fields.is_empty() {
                true => self.rows.push_empty(line),
                false => self.rows.push(line, fields.iter()),
            };
            pushed.map_err(|problem| problem.at(self.input.name(), line))?;
            return self.input.budget().check(self.rows.bytes()).map(|()| true);
        }
        if self.rows.layout.is_none() || !self.next_text()? {
            return Ok(false);
        }
        let line = self.first_line();
        let pushed = if self.is_blank(&self.text) {
            self.rows.push_empty(line)
        } else if self.text.contains(&b'"') {
            let record = split_quoted(&self.text, self.delimiter.unwrap_or(b' '));
            let record = record.map_err(|error| Problem::Here(error).at(self.input.name(), line))?;
            self.rows.push(line, record.iter())
        } else {
            match self.delimiter {
                None => self.rows.push(line, tokens(&self.text)),
                Some(delimiter) => {
                    let fields = self.text.split(|byte| *byte == delimiter).map(|field| field.trim_ascii());
                    self.rows.push(line, fields)
                }
            }
        };
        pushed.map_err(|problem| problem.at(self.input.name(), line))?;
        self.input.budget().check(self.rows.bytes())?;
        Ok(true)
    }
}

/// Formats of a field that are tables with samples in columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Field {
    #[default]
    Any,
    /// GenePattern's `.gct`: two lines, then names, descriptions and samples.
    Gct,
    /// Counts of operational taxonomic units, as QIIME writes them.
    Otu,
    /// Counts of reads in genes, as featureCounts writes them.
    Reads,
}

/// Columns of the position of a gene, in the tables of featureCounts.
const PLACES: [&[u8]; 5] = [b"Chr", b"Start", b"End", b"Strand", b"Length"];

impl Field {
    /// By the first line of a file.
    fn of(text: &[u8]) -> Self {
        let is_gct = [&b"#1.2"[..], b"#1.3"].contains(&text.trim_ascii());
        if is_gct { Self::Gct } else { Self::Any }
    }

    /// By the names of the columns.
    fn of_header(head: &Head) -> Self {
        let first = head.fields.get(0).unwrap_or_default();
        let is_reads = first == b"Geneid" && head.fields.iter().skip(1).take(PLACES.len()).eq(PLACES);
        match first {
            _ if is_reads => Self::Reads,
            b"#OTU ID" | b"#OTUID" | b"OTU ID" => Self::Otu,
            _ => Self::Any,
        }
    }

    /// Columns that are no samples.
    fn bookkeeping(self, head: &Head) -> Vec<&'static str> {
        match self {
            Self::Gct if head.fields.iter().any(|name| name == b"Description") => vec!["Description"],
            Self::Reads => vec!["Chr", "Start", "End", "Strand", "Length"],
            _ => Vec::new(),
        }
    }

    fn or(self, other: Self) -> Self {
        if self == Self::Any { other } else { self }
    }
}

/// True if every field of a line stands in quotes.
fn is_quoted(text: &[u8], delimiter: Option<u8>) -> bool {
    let text = text.trim_ascii();
    let quotes = text.iter().filter(|byte| **byte == b'"').count();
    let between = match delimiter {
        Some(delimiter) => text.split(|byte| *byte == delimiter).count(),
        None => tokens(text).count(),
    };
    text.starts_with(b"\"") && text.ends_with(b"\"") && quotes == 2 * between
}

/// `sep=;`, which tells spreadsheets the separator.
fn named_separator(text: &[u8]) -> Option<u8> {
    let line: Vec<u8> = text.iter().copied().filter(|byte| !b"\"\r\n ".contains(byte)).collect();
    match line.get(..4)?.eq_ignore_ascii_case(b"sep=") {
        true if line.len() == 5 => Some(line[4]),
        _ => None,
    }
}

/// A comment without its mark, where a space stands behind it.
fn uncommented(text: &[u8], begin: &[u8]) -> Vec<u8> {
    let rest = text.strip_prefix(begin).unwrap_or(text);
    if rest.starts_with(b" ") || begin != b"#" { rest.trim_ascii().to_vec() } else { text.to_vec() }
}

/// True if a line is drawn around a table: `-----+-----` and `(3 rows)` of a database, `|---|---|` of a page.
fn is_rule(text: &[u8]) -> bool {
    let is_drawn = |text: &[u8]| text.iter().all(|byte| b"-+|=: \t\r\n".contains(byte));
    match text.first() {
        Some(b'(') => {
            let inside = text.trim_ascii_end().strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")"));
            let count =
                inside.and_then(|inside| inside.strip_suffix(b" rows").or(inside.strip_suffix(b" row")));
            count.is_some_and(|count| !count.is_empty() && count.iter().all(u8::is_ascii_digit))
        }
        _ => is_drawn(text) && text.windows(3).any(|three| three == b"---"),
    }
}

/// True if a quoted field is open at the end of a line.
fn is_quoted_over_lines(text: &[u8]) -> bool {
    text.iter().filter(|byte| **byte == b'"').count() % 2 == 1
}

impl Chunks for Lines {
    fn next(&mut self, numbers: usize) -> Result<Option<Chunk>, DataError> {
        loop {
            let held = self.rows.held();
            while !self.ended && self.rows.held() < held.max(1) + numbers {
                self.ended = !self.next_row()?;
            }
            if self.ended && self.rows.held() == 0 && !self.rows.is_empty() && self.finished {
                return Ok(None);
            }
            self.finished = self.ended;
            let chunk = self.rows.chunk(self.ended, self.input.name())?;
            if chunk.is_some() || self.ended {
                return Ok(chunk);
            }
        }
    }

    fn names(&self) -> Option<Vec<String>> {
        self.rows.layout.as_ref()?.names.clone()
    }

    fn how(&self) -> Option<&HowRead> {
        Some(&self.rows.layout.as_ref()?.how)
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
