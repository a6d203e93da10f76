//! The rows of a table, as its layout takes them: cells become numbers, rows that are no samples are left out, and what is
//! wrong is told when all of it is known.

use faer::Mat;

use crate::dataset::DataSet;
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::input::Input;
use crate::missing::Missing;
use crate::stream::Chunk;
use crate::table::{
    Cell, DropRows, Head, HowRead, Layout, Note, OddCells, Problem, Role, RowKind, Totals, decoded, kind_of,
    measured, ragged, titles, truth,
};
use crate::text::show;

/// Cells that decide how a table is read: of so many rows at most and at least, and so many together.
const LOOKED_AT: (usize, usize) = (200, 5);
const CELLS: usize = 200_000;

/// A table whose cells are text already, `place` in messages.
///
/// # Errors
/// What a table can be wrong in.
pub(super) fn of_records(
    mut records: Vec<Head>,
    place: &str,
    input: &Input,
    options: &LoadOptions,
    tell: impl FnOnce(&mut HowRead),
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
    let mut layout = Layout::of(&records[..looked_at], Some(b'\t'), &options.table)
        .map_err(|problem| problem.at(place, line))?;
    layout.how.style.extend(left_out(above, "line above the table"));
    tell(&mut layout.how);
    let header = layout.above;
    let mut rows = Rows::new(Some(layout), options);
    for Head { line, fields, .. } in records.drain(header..) {
        rows.push(line, fields.iter()).map_err(|problem| problem.at(place, line))?;
        input.budget().check(rows.bytes())?;
    }
    let mut data = rows.into_data(place)?;
    data.source = input.name().into();
    Ok(data)
}

/// What was left out, in words, where something was.
pub(super) fn left_out(count: usize, what: &str) -> Option<String> {
    let (first, rest) = what.split_once(' ').map_or((what, String::new()), |(a, b)| (a, format!(" {b}")));
    let s = if count == 1 { "" } else { "s" };
    (count > 0).then(|| format!("{count} {first}{s}{rest} left out"))
}

/// Rows at the end that are kept back until the end is known: rows of totals are the last ones.
const KEPT_BACK: usize = 8;

/// Names that a note shows.
const SHOWN: usize = 3;

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
    given: usize,               // rows that have been given away
    count: usize,               // rows of the file so far
    missing: Vec<Option<Hole>>, // the first one of each variable
    odd: OddCells,
    left_out: Vec<(String, &'static str)>, // rows with their reasons
    listed: Vec<String>,                   // names of rows that somebody lists and that were found
    below: Vec<(u64, usize, String)>,      // last lines with one field
}

/// A missing value where none may be.
#[derive(Clone, Debug)]
struct Hole {
    line: u64,
    row: usize,
    text: Option<Vec<u8>>, // `None` of an empty cell
}

/// What is done with rows and missing values.
#[derive(Clone, Debug, Default)]
struct Rules {
    missing: Missing,
    drop_rows: DropRows,
    footer: usize,
    /// Rows are samples, and not the variables of C or of a table that is turned.
    samples: bool,
    gram: bool,
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
        };
        Self { layout, rules, ..Self::default() }
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

    /// Whether no row has been read.
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
                    Role::Number => {
                        let value = match layout.marks.cell(field) {
                            Cell::Number(value) if value.is_finite() => Ok(value),
                            Cell::Number(value) => {
                                let column = self.values.len() - begin + 1;
                                Err(Problem::NotFinite { row, column, value })
                            }
                            cell => {
                                let hole = cell == Cell::Missing;
                                let k = self.values.len() - begin;
                                odd.extend(no_number(&mut self.missing, k, at, row, line, field, hole));
                                Ok(f64::NAN)
                            }
                        };
                        filled += usize::from(!field.is_empty());
                        value.map(|value| self.values.push(value))
                    }
                    Role::Marked | Role::Logical => {
                        let value = beside(layout, *role, at, field);
                        if value.is_none() {
                            let hole = layout.marks.cell(field) == Cell::Missing;
                            let k = self.values.len() - begin;
                            odd.extend(no_number(&mut self.missing, k, at, row, line, field, hole));
                        }
                        filled += usize::from(!field.is_empty());
                        self.values.push(value.unwrap_or(f64::NAN));
                        Ok(())
                    }
                    Role::Skip => Ok(()),
                    Role::Word => {
                        label = label.or(Some(field).filter(|field| !field.is_empty()));
                        kind = kind.or_else(|| kind_of(field));
                        Ok(())
                    }
                    Role::RowName => {
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
        let only = if filled == 0 && columns > 1 { label } else { note };
        if let Some(name) = only.filter(|_| self.rules.drops()) {
            let name = decoded(name);
            self.left_out.push((name, NAMELESS));
            self.forget(begin, row);
            return Ok(());
        }
        odd.into_iter().for_each(|(at, field)| self.odd.see(at, line, field));
        self.numbers.push(row);
        if kind.is_some() || matches!(self.rules.drop_rows, DropRows::Listed(_)) {
            self.mark(row, kind, label.map(decoded).unwrap_or_default());
        }
        Ok(())
    }

    /// Notes what the name of a row says of it.
    fn mark(&mut self, row: usize, kind: Option<RowKind>, name: String) {
        if let DropRows::Listed(words) = &self.rules.drop_rows {
            let number = row.to_string();
            if let Some(word) = words.iter().find(|word| **word == name || **word == number) {
                self.listed.push(word.clone());
                self.marked.push((row, RowKind::Listed, if name.is_empty() { number } else { name }));
                return;
            }
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
        for hole in &mut self.missing {
            if hole.as_ref().is_some_and(|hole| hole.row == row) {
                *hole = None;
            }
        }
    }

    /// Number of variables.
    fn columns(&self) -> usize {
        self.layout.as_ref().map_or(0, Layout::columns)
    }

    fn has(&self, role: Role) -> bool {
        self.layout.as_ref().is_some_and(|layout| layout.has(role))
    }

    /// Leaves out the rows that are no samples, as far as is known before the end or at it.
    fn leave_out(&mut self, end: bool) {
        let columns = self.columns();
        let mut out = vec![false; self.numbers.len()];
        let footer = if end { self.rules.footer.min(out.len()) } else { 0 };
        out.iter_mut().rev().take(footer).for_each(|out| *out = true);
        let at = |row: usize| self.numbers.binary_search(&row).ok();
        let turned = self.layout.as_ref().is_some_and(|layout| layout.how.transposed);
        let by_name = self.rules.drops() && self.rules.samples && !turned;
        let mut reasons = Vec::new();
        for (row, kind, name) in &self.marked {
            let why = match kind {
                RowKind::Listed => Some("as asked"),
                RowKind::Counter if self.rules.drops() => Some("a counter"),
                RowKind::Total if by_name => Some("a total"),
                _ => None,
            };
            if let Some((i, why)) = at(*row).zip(why).filter(|(i, _)| !out[*i]) {
                out[i] = true;
                reasons.push((name.clone(), why));
            }
        }
        if end && by_name {
            self.leave_out_statistics(&mut out, &mut reasons);
            self.leave_out_sum(&mut out, &mut reasons, columns);
        }
        self.left_out.append(&mut reasons);
        self.keep(&out, columns);
    }

    /// Means, deviations and counts in the last rows, by their names.
    fn leave_out_statistics(&self, out: &mut [bool], reasons: &mut Vec<(String, &'static str)>) {
        let named = |i: usize| self.marked.iter().find(|(row, _, _)| *row == self.numbers[i]);
        let block: Vec<usize> = (0..out.len())
            .rev()
            .take_while(|i| out[*i] || named(*i).is_some())
            .filter(|i| !out[*i])
            .collect();
        let is_sure = block.iter().any(|i| named(*i).is_some_and(|(_, kind, _)| *kind == RowKind::Statistic))
            || (!block.is_empty() && out.iter().any(|out| *out));
        if is_sure && block.len() < out.len() {
            for i in block.into_iter().rev() {
                out[i] = true;
                reasons.push((named(i).map_or(String::new(), |(_, _, name)| name.clone()), "a statistic"));
            }
        }
    }

    /// A last row that is the sum or the mean of all others.
    fn leave_out_sum(&self, out: &mut [bool], reasons: &mut Vec<(String, &'static str)>, columns: usize) {
        let Some(last) = out.iter().rposition(|out| !out).filter(|_| columns > 0) else { return };
        let row = &self.values[last * columns..(last + 1) * columns];
        if row.iter().all(|value| value.is_nan()) {
            return;
        }
        // a few columns are enough to see that it is none
        const FEW: usize = 4;
        let others: Vec<usize> = (0..last).filter(|i| !out[*i]).collect();
        let column = |j: usize| others.iter().map(move |i| self.values[i * columns + j]);
        if self.given == 0 && !(0..columns.min(FEW)).all(|j| Totals::may_be(row[j], column(j))) {
            return;
        }
        let mut totals = self.totals.clone();
        others.iter().for_each(|i| totals.add(&self.values[i * columns..(i + 1) * columns], columns));
        if let Some(why) = totals.of(row) {
            let name = self.names.get(last).cloned().unwrap_or_default();
            reasons.push((if name.is_empty() { self.numbers[last].to_string() } else { name }, why));
            out[last] = true;
        }
    }

    fn keep(&mut self, out: &[bool], columns: usize) {
        if !out.iter().any(|out| *out) {
            return;
        }
        let kept: Vec<usize> = (0..out.len()).filter(|i| !out[*i]).collect();
        for (to, from) in kept.iter().enumerate() {
            self.values.copy_within(from * columns..(from + 1) * columns, to * columns);
        }
        self.values.truncate(kept.len() * columns);
        let mut rows = out.iter();
        self.numbers.retain(|_| !rows.next().copied().unwrap_or(false));
        for words in [&mut self.names, &mut self.groups] {
            let mut rows = out.iter();
            words.retain(|_| !rows.next().copied().unwrap_or(false));
        }
        let mut rows = out.iter();
        self.weights.retain(|_| !rows.next().copied().unwrap_or(false));
    }

    /// What is wrong with the cells so far: odd ones first, all of them together.
    fn check(&self, place: &str) -> Result<(), DataError> {
        let Some(layout) = &self.layout else { return Ok(()) };
        if let Some(problem) = self.odd.problem(layout) {
            return Err(problem.at(place, layout.line));
        }
        if self.rules.missing != Missing::Error {
            return Ok(());
        }
        let held = |hole: &Hole| hole.row <= self.given || self.numbers.binary_search(&hole.row).is_ok();
        let holes = self.missing.iter().enumerate().filter_map(|(k, hole)| Some((k, hole.as_ref()?)));
        let Some((k, hole)) = holes.filter(|(_, hole)| held(hole)).min_by_key(|(_, hole)| hole.row) else {
            return Ok(());
        };
        let variables = layout.roles.iter().enumerate().filter(|(_, role)| role.is_variable());
        let at = variables.map(|(at, _)| at).nth(k).unwrap_or(k);
        let text = hole.text.as_deref().map_or("the cell is empty".into(), show);
        let (row, column, name) = (hole.row, k + 1, layout.name_of(at));
        Err(Problem::Missing { row, column, name, text }.at(place, hole.line))
    }

    /// The rows as a part of the table; some are kept back unless this is the end. `None` where no row is left.
    pub(super) fn chunk(&mut self, end: bool, place: &str) -> Result<Option<Chunk>, DataError> {
        self.leave_out(end);
        self.check(place)?;
        let (columns, first) = (self.columns(), self.given);
        let back = if end { 0 } else { KEPT_BACK.max(self.rules.footer + KEPT_BACK) };
        let rows = self.numbers.len().saturating_sub(back);
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
        Ok(Some(if self.has(Role::Weight) { chunk.weighted(weights) } else { chunk }))
    }

    /// The table as a whole.
    pub(super) fn into_data(mut self, place: &str) -> Result<DataSet, DataError> {
        self.leave_out(true);
        if let DropRows::Listed(words) = &self.rules.drop_rows
            && let Some(word) = words.iter().find(|word| !self.listed.contains(word))
        {
            let problem =
                format!(": there is no row {}; rows are named, or numbered from 1", show(word.as_bytes()));
            return Err(DataError::Table {
                place: place.into(),
                problem: Note::about("drop-rows").text(problem),
            });
        }
        self.check(place)?;
        let (rows, columns) = (self.numbers.len(), self.columns());
        if rows == 0 || columns == 0 {
            return Err(DataError::Empty { place: place.into(), rows, columns });
        }
        self.tell();
        let matrix = Mat::from_fn(rows, columns, |i, j| self.values[i * columns + j]);
        let mut data = DataSet::new(matrix, place);
        data.row_names = self.has(Role::RowName).then(|| std::mem::take(&mut self.names));
        data.groups = self.has(Role::Label).then(|| std::mem::take(&mut self.groups));
        data.weights = self.has(Role::Weight).then(|| std::mem::take(&mut self.weights));
        if let Some(layout) = self.layout {
            data.names = layout.names;
            data.how = layout.how;
        }
        Ok(data)
    }

    /// Says which rows were left out.
    fn tell(&mut self) {
        let left_out = std::mem::take(&mut self.left_out);
        let below = std::mem::take(&mut self.below);
        let Some(layout) = &mut self.layout else { return };
        if !below.is_empty() {
            let s = if below.len() == 1 { "" } else { "s" };
            layout.how.style.push(format!("{} line{s} below the table left out", below.len()));
        }
        if self.rules.footer > 0 {
            let s = if self.rules.footer == 1 { "" } else { "s" };
            layout.how.style.push(format!("the last {} row{s} left out", self.rules.footer));
        }
        let mut reasons: Vec<&'static str> = Vec::new();
        left_out.iter().for_each(|(_, why)| {
            if !reasons.contains(why) {
                reasons.push(why)
            }
        });
        for why in reasons {
            let names: Vec<&String> = left_out.iter().filter(|row| row.1 == why).map(|row| &row.0).collect();
            layout.how.notes.push(note_of_rows(&names, why));
        }
    }
}

/// Why a row with nothing but a name is left out.
const NAMELESS: &str = "nothing but a name";

fn note_of_rows(names: &[&String], why: &'static str) -> Note {
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| show(name.as_bytes())).collect();
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    let (rows, are) = if names.len() == 1 { ("row", "is") } else { ("rows", "are") };
    let what = match why {
        NAMELESS => format!("{rows} {}{more} with {NAMELESS} {are} left out", shown.join(", ")),
        "as asked" => return Note::from(format!("{rows} {}{more} {are} left out", shown.join(", "))),
        "the sum" | "the mean" => {
            format!("{rows} {} {are} {why} of the others and no sample", shown.join(", "))
        }
        why => format!("{rows} {}{more} {are} no sample by the name ({why})", shown.join(", ")),
    };
    let they = if names.len() == 1 { "it" } else { "them" };
    Note::from(format!("{what}; ")).set("drop-rows", "none").text(format!(" keeps {they}"))
}

impl Rules {
    /// Whether rows are left out by themselves.
    fn drops(&self) -> bool {
        self.drop_rows != DropRows::None && !self.gram
    }
}

/// Notes a cell without a value (`hole`); returns any other one.
#[cold]
fn no_number<'f>(
    missing: &mut Vec<Option<Hole>>,
    k: usize,
    at: usize,
    row: usize,
    line: u64,
    field: &'f [u8],
    hole: bool,
) -> Option<(usize, &'f [u8])> {
    if !hole {
        return Some((at, field));
    }
    if missing.len() <= k {
        missing.resize(k + 1, None);
    }
    let text = (!field.is_empty()).then(|| field.to_vec());
    missing[k].get_or_insert(Hole { line, row, text });
    None
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
        None => plain().filter(|_| wanted.is_none()),
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
