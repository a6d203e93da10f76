//! The rows of a table, as its layout takes them: cells become numbers, rows that are no samples are left out ([`sift`]), and
//! errors are reported when all of them are known.

mod frame;
#[cfg(feature = "parquet")]
mod numbers;
mod sift;
mod watch;

use faer::Mat;

use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::input::Input;
use crate::missing::Missing;
use crate::stream::Chunk;
use crate::table::{
    Cell, DropRows, Head, HowRead, LAST_ROWS, Layout, Note, OddCells, Problem, Role, RowKind, Totals, answer,
    decoded, kind_of, measured, ragged, titles, truth,
};
use crate::text::show;
pub use frame::{FrameCells, FrameColumn, Framed, framed};
#[cfg(feature = "parquet")]
pub(super) use numbers::Words;
use sift::{EMPTY, NAMELESS, PartsOfSums};
use watch::Watch;

/// Cells that decide how a table is read: of so many rows at most and at least, and so many together.
const LOOKED_AT: (usize, usize) = (200, 5);
const CELLS: usize = 200_000;

/// A table whose cells are text already, `place` in messages.
///
/// # Errors
/// Faults of a table.
pub(super) fn of_records(
    mut records: Vec<Head>,
    place: &str,
    input: &Input,
    options: &LoadOptions,
    tell: impl Fn(&mut HowRead),
) -> Result<DataSet, DataError> {
    records.retain(|record| record.line > options.table.skip as u64);
    let above = titles(&records);
    records.drain(..above);
    if records.is_empty() {
        return Err(DataError::Empty { place: place.into(), rows: 0, columns: 0 });
    }
    let width = records[0].fields.len().max(1);
    let (most, least) = LOOKED_AT;
    let looked_at = (CELLS / width).clamp(least, most).min(records.len());
    let line = records[0].line;
    let read = |looked_at: usize| {
        let layout = Layout::of(&records[..looked_at], Some(b'\t'), &options.table);
        let mut layout = layout.map_err(|problem| (problem.at(place, line), true))?;
        layout.how.style.extend(left_out(above, "line above the table"));
        tell(&mut layout.how);
        let header = layout.above;
        let mut rows = Rows::new(Some(layout), options);
        for Head { line, fields, .. } in &records[header..] {
            rows.push(*line, fields.iter()).map_err(|problem| (problem.at(place, *line), true))?;
            input.budget().check(rows.bytes()).map_err(|error| (error, false))?;
        }
        rows.into_data(place)
    };
    let mut data = decided_by_all(looked_at < records.len(), read(looked_at), || read(records.len()))?;
    data.source = input.name().into();
    Ok(data)
}

/// The data, or an error and whether the first lines may be the reason for it.
pub(super) type Read = Result<DataSet, (DataError, bool)>;

/// A table that its first lines decide, or all of them where these do not agree.
pub(super) fn decided_by_all(
    part: bool,
    first: Read,
    all: impl FnOnce() -> Read,
) -> Result<DataSet, DataError> {
    match first {
        Err((error, true)) if part => match all() {
            Err((DataError::Memory { .. }, _)) => Err(error),
            found => found.map_err(|(error, _)| error),
        },
        found => found.map_err(|(error, _)| error),
    }
}

/// Number and kind of the things that were left out, in words, if there are any.
pub(super) fn left_out(count: usize, what: &str) -> Option<String> {
    let (first, rest) = what.split_once(' ').map_or((what, String::new()), |(a, b)| (a, format!(" {b}")));
    let s = if count == 1 { "" } else { "s" };
    (count > 0).then(|| format!("{count} {first}{s}{rest} left out"))
}

/// Rows at the end that are kept back until the end is known: rows of totals are the last ones.
const KEPT_BACK: usize = LAST_ROWS;

/// The rows of a table on their way into it.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) layout: Option<Layout>,
    rules: Rules,
    values: Vec<f64>,
    names: Vec<String>, // of the rows
    groups: Vec<String>,
    weights: Vec<f64>,
    numbers: Vec<usize>,                   // of the rows that are held, counted from 1
    marked: Vec<(usize, RowKind, String)>, // rows by these numbers that may be no samples
    totals: Totals,
    given: usize,            // rows that have been given away
    count: usize,            // rows of the file so far
    missing: Vec<Vec<Hole>>, // of each variable those in rows that may be no samples, and the first other one
    odd: OddCells,
    left_out: Vec<(String, &'static str)>, // rows with their reasons
    parts: PartsOfSums,
    watch: Watch,
    in_doubt: bool,                   // numbers so far may have decimals or thousands
    listed: Vec<String>,              // names of rows that somebody lists and that were found
    below: Vec<(u64, usize, String)>, // last lines with one field
}

/// A missing value where none may be.
#[derive(Clone, Debug)]
struct Hole {
    line: u64, // 0 where the file has none
    row: usize,
    text: String, // what stands there
}

/// Treatment of rows and missing values.
#[derive(Clone, Debug, Default)]
struct Rules {
    missing: Missing,
    drop_rows: DropRows,
    footer: usize,
    /// Rows are samples, and not the variables of C or of a table that is turned.
    samples: bool,
    gram: bool,
    /// Rows of the files before this one, where the table is a part of one.
    part: Option<usize>,
}

impl Rows {
    /// No row so far.
    pub(super) fn new(layout: Option<Layout>, options: &LoadOptions) -> Self {
        let rules = Rules {
            missing: options.missing,
            drop_rows: options.table.drop_rows.clone(),
            footer: options.table.footer,
            samples: !options.gram && options.table.transpose != Some(true),
            gram: options.gram,
            part: options.table.part,
        };
        let mut rows = Self { rules, ..Self::default() };
        if let Some(layout) = layout {
            rows.begin(layout, false);
        }
        rows
    }

    /// Takes the layout, which all lines have decided, or the first ones alone.
    pub(super) fn begin(&mut self, layout: Layout, by_all: bool) {
        self.watch = if by_all { Watch::default() } else { Watch::of(&layout) };
        self.in_doubt = layout.doubt.is_some();
        self.layout = Some(layout);
    }

    /// Bytes that the table takes: the numbers, once more as a matrix, and the names.
    pub(super) fn bytes(&self) -> usize {
        let words = self.names.capacity() + self.groups.capacity();
        8 * (self.values.capacity() + self.values.len() + self.numbers.capacity())
            + size_of::<String>() * words
    }

    /// Numbers that are held.
    pub(super) fn held(&self) -> usize {
        self.values.len()
    }

    /// Rows of the file so far.
    #[cfg(feature = "parquet")]
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// True if no row has been read.
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Takes the fields of a row, which stands in this line.
    pub(super) fn push<'f>(
        &mut self,
        line: u64,
        fields: impl Iterator<Item = &'f [u8]>,
    ) -> Result<(), Problem> {
        let Some(layout) = &self.layout else { return Ok(()) };
        let (width, begin) = (layout.roles.len(), self.values.len());
        self.count += 1;
        let row = self.count;
        let (mut at, mut wrong, mut extra) = (0, None, false);
        let (mut filled, mut label): (usize, Option<&[u8]>) = (0, None);
        let mut kind = None;
        let mut first: &[u8] = b"";
        let mut odd: Vec<(usize, &[u8])> = Vec::new(); // cells of this row
        for field in fields {
            if let Some(role) = layout.roles.get(at).filter(|_| wrong.is_none()) {
                let taken = match role {
                    Role::Number | Role::Marked | Role::Logical => {
                        if *role == Role::Number && self.in_doubt && shows_decimals(field) {
                            self.in_doubt = false;
                        }
                        let value = value_of(layout, *role, at, field);
                        let hole = value.is_none() && layout.marks.cell(field) == Cell::Missing;
                        filled += usize::from(!hole);
                        let k = self.values.len() - begin;
                        if value.is_none() {
                            odd.extend(no_number(
                                &mut self.missing,
                                &self.marked,
                                (k, at),
                                (row, line),
                                field,
                                hole,
                            ));
                        }
                        self.values.push(value.unwrap_or(f64::NAN));
                        match value.filter(|value| !value.is_finite()) {
                            Some(value) => Err(Problem::NotFinite { row, column: k + 1, value }),
                            None => Ok(()),
                        }
                    }
                    Role::Skip => {
                        self.watch.see(at, line, field, layout);
                        Ok(())
                    }
                    Role::Word => {
                        self.watch.see(at, line, field, layout);
                        label = label.or(Some(field).filter(|field| !field.is_empty()));
                        kind = kind.or_else(|| kind_of(field));
                        Ok(())
                    }
                    Role::RowName => {
                        self.watch.see(at, line, field, layout);
                        self.names.push(decoded(field));
                        label = Some(field).filter(|field| !field.is_empty()).or(label);
                        kind = kind_of(field).or(kind);
                        check_name(layout, field)
                    }
                    Role::Label => {
                        self.groups.push(decoded(field));
                        Ok(())
                    }
                    Role::Weight => weight(layout, at, field).map(|weight| self.weights.push(weight)),
                    Role::Empty if field.is_empty() || layout.marks.cell(field) == Cell::Missing => Ok(()),
                    Role::Empty => Err(found_in_empty(layout, at, field)),
                };
                wrong = taken.err();
            } else if at >= width {
                extra |= !field.is_empty();
            }
            if at == 0 {
                first = field;
            }
            at += 1;
        }
        let columns = self.values.len() - begin;
        let is_ended =
            at == width || (at > width && !extra) || (at + 1 == width && layout.roles[at] == Role::Empty);
        if at == 1 && width > 2 && !self.rules.gram && layout.marks.number(first).is_none() {
            let text = decoded(first);
            self.forget(begin, row);
            self.below.push((line, width, text));
            return Ok(());
        }
        if let Some((line, width, _)) = self.below.first() {
            return Err(Problem::Elsewhere(*line, ragged(1, *width, layout.line)));
        }
        match wrong {
            _ if !is_ended => return Err(Problem::Here(ragged(at, width, layout.line))),
            Some(problem) => return Err(problem),
            None => {}
        }
        // a note in a column of numbers is one as well
        let note =
            odd.first().map(|(_, field)| *field).filter(|_| odd.len() == 1 && filled == 1 && columns > 2);
        let is_empty = filled == 0 && columns > 1;
        if self.rules.drops() && (is_empty || note.is_some()) {
            let name = note.or(label).map(decoded).unwrap_or_default();
            self.leave_out_empty(row, name);
            self.forget(begin, row);
            return Ok(());
        }
        odd.into_iter().for_each(|(at, field)| self.odd.see(at, line, field));
        self.numbers.push(row);
        if kind.is_some() || self.rules.drop_rows.is_list() {
            self.mark(row, kind, label.map(decoded).unwrap_or_default());
        }
        Ok(())
    }

    /// Takes a row of separators alone: one without a value, where rows are samples.
    pub(super) fn push_empty(&mut self, line: u64) -> Result<(), Problem> {
        let Some(layout) = self.layout.as_ref().filter(|_| !self.rules.gram) else { return Ok(()) };
        if self.rules.drops() {
            self.count += 1;
            self.leave_out_empty(self.count, String::new());
            return Ok(());
        }
        let fields = vec![&b""[..]; layout.roles.len()];
        self.push(line, fields.into_iter())
    }

    /// Notes a row without a number.
    fn leave_out_empty(&mut self, row: usize, name: String) {
        self.is_listed(row, &name); // somebody may have listed it, and has what was asked for
        let why = if name.is_empty() { EMPTY } else { NAMELESS };
        self.left_out.push((if name.is_empty() { self.number_of(row).to_string() } else { name }, why));
    }

    /// The number of a row in the whole table.
    fn number_of(&self, row: usize) -> usize {
        self.rules.part.unwrap_or(0) + row
    }

    /// All listed rows are there; those of a part may be in another one.
    fn check_listed(&self, place: &str) -> Result<(), DataError> {
        match self.rules.part {
            Some(_) => Ok(()),
            None => self.rules.drop_rows.check(&self.listed, place),
        }
    }

    /// True if the name of some row says something of it.
    fn is_marked(&self) -> bool {
        !self.marked.is_empty()
    }

    /// True if the row is listed, by its name or its number, which is remembered.
    fn is_listed(&mut self, row: usize, name: &str) -> bool {
        let found = self.rules.drop_rows.listed(self.number_of(row), name);
        let is_listed = !found.is_empty();
        self.listed.extend(found);
        is_listed
    }

    /// Notes what the name of a row says of it.
    fn mark(&mut self, row: usize, kind: Option<RowKind>, name: String) {
        if self.is_listed(row, &name) {
            let name = if name.is_empty() { self.number_of(row).to_string() } else { name };
            self.marked.push((row, RowKind::Listed, name));
            return;
        }
        self.marked.extend(kind.map(|kind| (row, kind, name)));
    }

    /// Takes back a row that is none.
    fn forget(&mut self, begin: usize, row: usize) {
        let rows = self.numbers.len();
        self.values.truncate(begin);
        self.names.truncate(rows);
        self.groups.truncate(rows);
        self.weights.truncate(rows);
        self.missing.iter_mut().for_each(|holes| holes.retain(|hole| hole.row != row));
    }

    /// Number of variables.
    fn columns(&self) -> usize {
        self.layout.as_ref().map_or(0, Layout::columns)
    }

    /// Error for the cells so far, if there is one: odd cells first, all of them together. Of the rows that are held,
    /// `known` are known to be samples.
    fn check(&self, known: usize, place: &str) -> Result<(), DataError> {
        let Some(layout) = &self.layout else { return Ok(()) };
        if let Some(problem) = self.odd.problem(layout) {
            return Err(problem.at(place, layout.line));
        }
        if self.rules.missing != Missing::Error {
            return Ok(());
        }
        let is_known = |hole: &&Hole| self.numbers[..known].binary_search(&hole.row).is_ok();
        let first = |(k, holes): (usize, &Vec<Hole>)| Some((k, holes.iter().find(is_known)?.clone()));
        let holes = self.missing.iter().enumerate().filter_map(first);
        let Some((k, hole)) = holes.min_by_key(|(_, hole)| hole.row) else {
            return Ok(());
        };
        let variables = layout.roles.iter().enumerate().filter(|(_, role)| role.is_variable());
        let at = variables.map(|(at, _)| at).nth(k).unwrap_or(k);
        let place = if hole.line == 0 { place.into() } else { format!("{place}:{}", hole.line) };
        let (row, column, name, text) = (hole.row, k + 1, layout.name_of(at), hole.text);
        Err(DataError::Missing { place, row, column, name, text })
    }

    /// The rows as a part of the table; some are kept back unless this is the end. `None` where no row is left.
    pub(super) fn chunk(&mut self, end: bool, place: &str) -> Result<Option<Chunk>, DataError> {
        let rows = self.leave_out(end, place)?;
        self.check(rows, place)?;
        if end {
            self.watch.finish();
        }
        if let Some(problem) = self.layout.as_ref().and_then(|layout| self.watch.problem(layout, place)) {
            return Err(problem);
        }
        let (columns, first) = (self.columns(), self.given);
        if end {
            self.tell();
        }
        if rows == 0 || columns == 0 {
            let empty = end && first == 0;
            return if empty {
                Err(DataError::Empty { place: place.into(), rows, columns })
            } else {
                Ok(None)
            };
        }
        let values: Vec<f64> = self.values.drain(..rows * columns).collect();
        if self.rules.samples && !end {
            self.totals.add(&values, columns);
        }
        let weights: Vec<f64> = self.weights.drain(..rows.min(self.weights.len())).collect();
        self.names.drain(..rows.min(self.names.len()));
        self.groups.drain(..rows.min(self.groups.len()));
        self.numbers.drain(..rows);
        self.given += rows;
        let chunk = Chunk::new(first, Mat::from_fn(rows, columns, |i, j| values[i * columns + j]));
        Ok(Some(if weights.is_empty() { chunk } else { chunk.weighted(weights) }))
    }

    /// The table as a whole, or what is wrong and whether the first lines may be the reason.
    pub(super) fn into_data(mut self, place: &str) -> Read {
        let sure = |error| (error, false);
        self.leave_out(true, place).map_err(sure)?;
        self.check_listed(place).map_err(sure)?;
        self.check(self.numbers.len(), place).map_err(|error| {
            let is_hole = matches!(error, DataError::Missing { .. }) && self.watch.found.is_none();
            (error, !is_hole)
        })?;
        self.watch.finish();
        let (rows, columns) = (self.numbers.len(), self.columns());
        if rows == 0 || columns == 0 {
            return Err((DataError::Empty { place: place.into(), rows, columns }, true));
        }
        if let (Some(layout), Some(_)) = (&self.layout, &self.watch.found) {
            let problem = self.watch.problem(layout, place);
            return Err((problem.unwrap_or(DataError::Empty { place: place.into(), rows, columns }), true));
        }
        self.tell();
        let matrix = Mat::from_fn(rows, columns, |i, j| self.values[i * columns + j]);
        let mut data = DataSet::new(matrix, place);
        data.row_names = Some(self.names).filter(|names| !names.is_empty());
        data.groups = Some(self.groups).filter(|groups| !groups.is_empty());
        data.weights = Some(self.weights).filter(|weights| !weights.is_empty());
        if let Some(layout) = self.layout {
            data.names = layout.names;
            data.how = layout.how;
        }
        Ok(data)
    }
}

impl Rules {
    /// True if rows are left out by themselves.
    fn drops(&self) -> bool {
        self.drop_rows != DropRows::None && !self.gram
    }
}

/// Notes a cell without a value (`hole`); returns any other one.
#[cold]
fn no_number<'f>(
    missing: &mut Vec<Vec<Hole>>,
    marked: &[(usize, RowKind, String)],
    (k, at): (usize, usize),
    (row, line): (usize, u64),
    field: &'f [u8],
    hole: bool,
) -> Option<(usize, &'f [u8])> {
    if !hole {
        return Some((at, field));
    }
    note_hole(missing, marked, k, || Hole {
        line,
        row,
        text: if field.is_empty() { "the cell is empty".into() } else { show(field) },
    });
    None
}

/// Notes a cell without a value, unless there is one before it in a row that is a sample.
fn note_hole(
    missing: &mut Vec<Vec<Hole>>,
    marked: &[(usize, RowKind, String)],
    k: usize,
    hole: impl FnOnce() -> Hole,
) {
    if missing.len() <= k {
        missing.resize(k + 1, Vec::new());
    }
    let may_be_none = |hole: &Hole| marked.binary_search_by_key(&hole.row, |(row, _, _)| *row).is_ok();
    if missing[k].last().is_none_or(may_be_none) {
        missing[k].push(hole());
    }
}

/// True if the mark of a number can only stand before decimals.
fn shows_decimals(field: &[u8]) -> bool {
    let Some(at) = field.iter().position(|byte| b".,".contains(byte)) else { return false };
    let whole = field[..at].trim_ascii_start();
    let whole = whole.strip_prefix(b"-").unwrap_or(whole);
    !(field.len() - at == 4 && (1..=3).contains(&whole.len()) && whole[0] != b'0')
}

/// The number in a cell of a variable, which may be infinite; `None` where there is none.
fn value_of(layout: &Layout, role: Role, at: usize, field: &[u8]) -> Option<f64> {
    match (role, layout.marks.cell(field)) {
        (Role::Number, Cell::Number(value)) => Some(value),
        (Role::Number, _) => None,
        _ => beside(layout, role, at, field),
    }
}

/// A number with something beside it, or true and false as 1 and 0; `None` where a cell is neither.
fn beside(layout: &Layout, role: Role, at: usize, field: &[u8]) -> Option<f64> {
    let plain = || match layout.marks.cell(field) {
        Cell::Number(value) if value.is_finite() => Some(value),
        _ => None,
    };
    if role == Role::Logical {
        return truth(field).or_else(|| plain().filter(|value| *value == 0.0 || *value == 1.0));
    }
    let wanted = &layout.beside[at];
    match measured(field) {
        Some(found) if wanted.as_ref().map_or(found.mark.is_value(), |wanted| *wanted == found.beside) => {
            found.value(&layout.marks)
        }
        Some(_) => None,
        None => {
            plain().or_else(|| answer(field).map(|(code, _)| f64::from(code))).filter(|_| wanted.is_none())
        }
    }
}

/// A number among names that are names because the first of them is text.
fn check_name(layout: &Layout, field: &[u8]) -> Result<(), Problem> {
    match &layout.text {
        Some(first) if layout.marks.number(field).is_some() => {
            let text = format!(
                "the first column holds {} here but {} in the first row; it must be numbers or names throughout: ",
                show(field),
                show(first.as_bytes())
            );
            let note = Note::from(text).set("row-names", layout.first_reference()).text(" takes it as names");
            Err(Problem::Advice(None, note))
        }
        _ => Ok(()),
    }
}

fn weight(layout: &Layout, at: usize, field: &[u8]) -> Result<f64, Problem> {
    match layout.marks.cell(field) {
        Cell::Number(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err(Problem::Here(format!(
            "{} in column {}{} is no weight: weights are numbers of at least 0",
            show(field),
            at + 1,
            layout.name_of(at)
        ))),
    }
}

fn found_in_empty(layout: &Layout, at: usize, field: &[u8]) -> Problem {
    let (column, name) = (at + 1, layout.name_of(at));
    let what = if name.is_empty() { "no name and nothing above" } else { "no value above" };
    let note = format!("column {column}{name} has {what}, but {} here; ", show(field));
    let note = match name.is_empty() {
        true => Note::from(note + "give it a name, or "),
        false => Note::from(note).option("columns").text(" with all variables takes it as one, "),
    };
    Problem::Advice(None, note.set("drop", layout.reference(at)).text(" leaves it out"))
}
