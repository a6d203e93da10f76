//! Cells that are no numbers in columns of numbers: counted while a table is read, and reported together with a remedy.

use super::layout::{Layout, Problem};
use super::mark::{Mark, Measured, answer, measured};
use super::note::Note;
use super::number::{decoded, is_number};
use super::options::Columns;
use crate::text::show;

/// Different cells of a column that are kept.
const KEPT: usize = 64;

/// Examples of a column, and columns, that a message shows.
const SHOWN: usize = 3;
const COLUMNS: usize = 8;

/// The odd cells of a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct OddCells(Vec<OddColumn>);

/// The odd cells of a column.
#[derive(Clone, Debug)]
struct OddColumn {
    at: usize,
    /// Of the first one.
    line: u64,
    cells: usize,
    different: Vec<Vec<u8>>,
}

impl OddCells {
    /// Takes a cell of the column `at`.
    #[cold]
    pub(crate) fn see(&mut self, at: usize, line: u64, field: &[u8]) {
        let known = self.0.iter().position(|column| column.at == at);
        let known = known.unwrap_or_else(|| {
            self.0.push(OddColumn { at, line, cells: 0, different: Vec::new() });
            self.0.len() - 1
        });
        let column = &mut self.0[known];
        column.cells += 1;
        if column.different.len() < KEPT && !column.different.iter().any(|other| other == field) {
            column.different.push(field.to_vec());
        }
    }

    /// All of them in one sentence for each column, with the option that mends it.
    pub(crate) fn problem(&self, layout: &Layout) -> Option<Problem> {
        let line = self.0.iter().map(|column| column.line).min()?;
        let mut columns: Vec<&OddColumn> = self.0.iter().collect();
        columns.sort_by_key(|column| column.at);
        // a word that stands for a missing value in all of them needs no other advice
        let first = columns[0].codes();
        let is_one_code = !first.is_empty() && columns.iter().all(|column| column.codes() == first);
        let shown = if columns.len() > COLUMNS || is_one_code { 1 } else { columns.len() };
        let mends = Mends::of(&columns, layout);
        let mut note = Note::default();
        for (k, column) in columns.iter().take(shown).enumerate() {
            note = column.told(layout, &mends, if k == 0 { note } else { note.text("; ") });
        }
        if columns.len() > shown {
            let places: Vec<usize> = columns.iter().map(|column| column.at + 1).collect();
            let more = columns.len() - shown;
            let s = if more == 1 { "" } else { "s" };
            note = note.text(format!("; and so in {more} more column{s}"));
            if !is_one_code {
                note = note.text(", which are left out by ").set("drop", ranges(&places));
            }
        }
        Some(Problem::Advice(Some(line), note))
    }
}

/// Values of the options that mend all columns together.
struct Mends {
    strip: String,
    na: String,
}

impl Mends {
    fn of(columns: &[&OddColumn], layout: &Layout) -> Self {
        let strip: Vec<String> = columns
            .iter()
            .filter(|column| column.is_strippable())
            .map(|column| layout.reference(column.at))
            .collect();
        let mut na: Vec<String> = Vec::new();
        for code in columns.iter().take(COLUMNS).flat_map(|column| column.codes()) {
            if !na.contains(&code) {
                na.push(code);
            }
        }
        let listed = |words: &[String]| Columns::listed(words.iter().map(String::as_str));
        let places: Vec<usize> = columns.iter().map(|column| column.at + 1).collect();
        let strip = if strip.len() > COLUMNS { ranges(&places) } else { listed(&strip) };
        Self { strip, na: listed(&na) }
    }
}

/// Numbers of columns, as a list of ranges.
fn ranges(places: &[usize]) -> String {
    let range = |run: &[usize]| match run {
        [only] => only.to_string(),
        run => format!("{}-{}", run[0], run[run.len() - 1]),
    };
    places.chunk_by(|a, b| a + 1 == *b).map(range).collect::<Vec<_>>().join(",")
}

/// True if a cell is a number with something beside it that does not change it.
fn is_value(cell: &[u8]) -> bool {
    measured(cell).is_some_and(|found| found.mark.is_value()) || answer(cell).is_some()
}

impl OddColumn {
    /// The cells as numbers with something beside them, where all are such.
    fn measured(&self) -> Option<Vec<Measured>> {
        self.different.iter().map(|cell| measured(cell)).collect()
    }

    /// True if numbers are the values of some cells, whatever stands beside them, and all others may stand for missing
    /// values.
    fn is_strippable(&self) -> bool {
        let (values, others): (Vec<&Vec<u8>>, Vec<_>) =
            self.different.iter().partition(|cell| is_value(cell));
        !values.is_empty() && (others.is_empty() || !self.codes().is_empty())
    }

    /// The cells as codes of missing values: limits, each or all that begin so, and a few words; those whose value is the
    /// number are none.
    fn codes(&self) -> Vec<String> {
        let cells: Vec<&Vec<u8>> = self.different.iter().filter(|cell| !is_value(cell)).collect();
        let (limits, words): (Vec<&Vec<u8>>, Vec<_>) =
            cells.into_iter().partition(|cell| measured(cell).is_some_and(|found| found.mark == Mark::Limit));
        let text = |cells: &[&Vec<u8>]| cells.iter().map(|cell| decoded(cell)).collect::<Vec<_>>();
        let is_none = |cell: &&Vec<u8>| {
            is_number(cell) || measured(cell).is_some() || cell.iter().any(|b| b";\t".contains(b))
        };
        let typed = || words.iter().all(|word| super::layout::is_typed(&decoded(word)));
        if words.len() > COLUMNS || words.iter().any(is_none) || !typed() {
            return Vec::new();
        }
        let mut codes = text(&limits);
        if limits.len() > SHOWN {
            codes = limits.iter().filter_map(|cell| Some(format!("{}*", measured(cell)?.beside))).collect();
            codes.sort();
            codes.dedup();
        }
        codes.extend(text(&words));
        codes
    }

    fn told(&self, layout: &Layout, mends: &Mends, note: Note) -> Note {
        let first = &self.different[0];
        let (column, name) = (self.at + 1, layout.name_of(self.at));
        let begin = format!("{} in column {column}{name}", show(first));
        let more = self.more();
        let reference = layout.reference(self.at);
        let strip = |note: Note| {
            let note = note.set("strip", mends.strip.clone()).text(" reads the numbers alone, ");
            let note = note.set("drop", reference.clone()).text(" leaves the column out");
            match layout.may_name_rows(self.at) {
                true => note
                    .text(", ")
                    .set("row-names", reference.clone())
                    .text(" makes it the names of the rows"),
                false => note,
            }
        };
        if self.different.iter().all(|cell| is_value(cell) && measured(cell).is_none()) {
            return strip(note.text(format!("{begin} is a code with words beside it{more}: ")));
        }
        if self.is_strippable() && !self.codes().is_empty() {
            let note = note.text(format!("{begin} is a cell with more than a number{more}: "));
            let note =
                note.set("strip", mends.strip.clone()).text(" reads numbers without the text beside them, ");
            let note = note.set("na", mends.na.clone()).text(" takes the other cells as missing, ");
            return note.set("drop", reference).text(" leaves the column out");
        }
        if let Some(all) = self.measured() {
            let what = &all[0].what;
            if all.iter().all(|one| one.mark.is_value()) {
                return strip(note.text(format!("{begin} is a number with {what}{more}: ")));
            }
            if all.iter().all(|one| one.mark == Mark::Limit) {
                let note = note.text(format!("{begin} is a number with {what}{more}: "));
                let note = note.set("na", mends.na.clone());
                let note =
                    note.text(" takes such cells as missing (").option("missing").text(" treats those), ");
                return note.set("drop", reference).text(" leaves the column out");
            }
            let text = format!(
                "{begin} is a number with {what}{more}: write a number, with a minus sign where brackets mean one, or "
            );
            return note.text(text).set("drop", reference).text(" leaves the column out");
        }
        let begin = format!("{begin} is not a number{more}");
        if first.iter().any(|byte| b";\t".contains(byte)) {
            return note.text(format!("{begin}; the first line has another separator"));
        }
        let has = |byte: u8| first.iter().filter(|b| **b == byte).count() >= 1;
        let other = if layout.marks.decimal == b'.' { b',' } else { b'.' };
        if has(other) && is_number(first) {
            let known = if other == b',' { "point" } else { "comma" };
            let why = if layout.has_marks() {
                format!(": other cells have a decimal {known}; ")
            } else {
                "; ".into()
            };
            let note = note.text(begin).text(why).option("decimal").text(" and ");
            return note.option("thousands").text(" say what the marks are");
        }
        let note = note.text(begin);
        if self.codes().is_empty() {
            return note.text("; if the column holds text, ").set("drop", reference).text(" leaves it out");
        }
        note.text("; if it stands for a missing value, say ")
            .set("na", mends.na.clone())
            .text(" (")
            .option("missing")
            .text(" says how missing values are treated), and if the column holds text, ")
            .set("drop", reference)
            .text(" leaves it out")
    }

    /// That there are more cells like the first one.
    fn more(&self) -> String {
        let others: Vec<String> =
            self.different.iter().skip(1).take(SHOWN - 1).map(|cell| show(cell)).collect();
        let s = if self.cells == 2 { "" } else { "s" };
        match (self.cells, others.is_empty()) {
            (1, _) => String::new(),
            (cells, true) => format!(", and so in {} more cell{s}", cells - 1),
            (cells, false) => format!(
                ", and so in {} more cell{s} ({}{})",
                cells - 1,
                others.join(", "),
                if self.different.len() > SHOWN { ", ..." } else { "" }
            ),
        }
    }
}
