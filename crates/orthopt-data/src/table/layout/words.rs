//! Messages about the columns of a table: those left out, those that name the rows, and words where numbers are
//! expected.

use std::collections::HashSet;

use super::{Head, LISTED, Problem, Role, Table, bracketed, option_word};
use crate::table::header::is_even;
use crate::table::how::{HowRead, Kind};
use crate::table::note::Note;
use crate::table::number::{Cell, decoded};
use crate::text::show;

/// First fields of a line that names groups of columns.
const GROUPS: [&str; 10] =
    ["label", "labels", "class", "group", "groups", "treatment", "condition", "phenotype", "type", "batch"];

/// A number with so many digits as people read.
fn rounded(value: f64) -> f64 {
    let size = 10f64.powi(6 - value.abs().log10().ceil() as i32);
    if size.is_normal() { (value * size).round() / size } else { value }
}

impl Table<'_> {
    /// That a line below the names holds groups, as tables have whose samples stand in columns.
    pub(super) fn note_of_groups(&self, lines: usize) -> Option<Note> {
        let named =
            |row: &&Head| GROUPS.iter().any(|word| row.field(0).eq_ignore_ascii_case(word.as_bytes()));
        let row = self.rows.iter().take(lines).find(named)?;
        let note = format!(
            "line {} ({}: {}, ...) names groups of columns and is left out; if samples are in columns, ",
            row.line,
            show(row.field(0)),
            show(row.field(1))
        );
        Some(Note::from(note).set("transpose", "true").text(" takes the rows as variables"))
    }

    /// That a first column of numbers climbs evenly, as positions of samples do, and not by one as counts of rows.
    pub(super) fn note_of_axis(&self, at: usize, values: &[f64]) -> Option<Note> {
        const FEWEST: usize = 6;
        let first = at == 0 && values.len() >= FEWEST && self.names.is_some();
        let step = values[1] - values[0];
        if !(first && is_even(values) && step != 1.0) {
            return None;
        }
        let column = option_word(self.names.as_deref(), at);
        let note = format!(
            "column {} goes by steps of {}: where it names the rows, ",
            show(column.as_bytes()),
            rounded(step)
        );
        let note =
            Note::from(note).set("row-names", column).text(" says so, and if samples are in columns, ");
        Some(note.set("transpose", "true").text(" too"))
    }

    pub(super) fn note_of_index(&self, at: usize) -> Note {
        let column = option_word(self.names.as_deref(), at);
        let shown: Vec<String> = self.rows.iter().take(3).map(|row| decoded(row.field(at))).collect();
        let note = format!(
            "column {} ({}, ...) tells the rows apart and is no variable; ",
            show(column.as_bytes()),
            shown.join(", ")
        );
        Note::from(note).set("row-names", "none").text(" takes it as one")
    }

    /// That columns of words are no variables.
    pub(super) fn note_of_words(&self, roles: &[Role], kinds: &[Kind], frame: bool) -> Option<Note> {
        let words: Vec<usize> =
            (0..roles.len()).filter(|at| roles[*at] == Role::Word && kinds[*at].is_words()).collect();
        let named: Vec<String> = words
            .iter()
            .take(LISTED)
            .map(|at| show(option_word(self.names.as_deref(), *at).as_bytes()))
            .collect();
        let first = words.iter().find(|at| kinds[**at] == Kind::Text).or(words.first())?;
        let more = match words.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (column, is, s) =
            if words.len() == 1 { ("column", "holds", "is") } else { ("columns", "hold", "are") };
        let note = format!("{column} {}{more} {is} words and {s} left out; ", named.join(", "));
        if frame {
            return Some(note.trim_end_matches("; ").to_string().into());
        }
        let word = option_word(self.names.as_deref(), *first);
        Some(Note::from(note).set("labels", word).text(" takes one as groups for pictures"))
    }

    /// A table without numbers.
    pub(super) fn refuse_words(&self, kinds: &[Kind]) -> Problem {
        const SHOWN: usize = 7;
        let texts: Vec<usize> = (0..kinds.len()).filter(|at| kinds[*at] == Kind::Text).collect();
        let mut words: Vec<String> = Vec::new();
        let mut cells = 0;
        for (at, row) in texts.iter().flat_map(|at| self.rows.iter().map(move |row| (at, row))) {
            let word = decoded(row.field(*at));
            cells += usize::from(!word.is_empty());
            if !word.is_empty() && !words.contains(&word) && words.len() <= SHOWN {
                words.push(word);
            }
        }
        if words.is_empty() || words.len() > SHOWN || words.len() == cells {
            return Problem::Here("no column holds numbers, and components are of numbers".into());
        }
        words.sort();
        let shown: Vec<String> = words.iter().map(|word| show(word.as_bytes())).collect();
        let coded: Vec<String> =
            words.iter().enumerate().map(|(k, word)| format!("{word:?}: {}", k + 1)).collect();
        let of_column = |at: &usize| {
            let cells: HashSet<&[u8]> =
                self.rows.iter().map(|row| row.field(*at)).filter(|cell| !cell.is_empty()).collect();
            cells.len()
        };
        let same = if texts.iter().all(|at| 2 * of_column(at) > words.len()) { "the same " } else { "" };
        let problem = format!(
            "no column holds numbers: {} columns hold {same}{} answers in words ({}). Answers have to be numbers, in \
             the order that they mean; in Python: `d = pandas.read_csv(FILE); d.replace({{{}}}).to_csv(\"coded.csv\", \
             index=False)`, with the numbers in this order",
            texts.len(),
            words.len(),
            shown.join(", "),
            coded.join(", ")
        );
        Problem::Here(problem)
    }

    /// Names of rows that repeat may be groups.
    pub(super) fn note_repeats(&self, at: usize, identifier: bool, frame: bool, how: &mut HowRead) {
        let mut seen = HashSet::new();
        let repeated = self.rows.iter().map(|row| row.field(at)).find(|name| !seen.insert(*name));
        let Some(name) = repeated.filter(|_| self.names.is_some() && !identifier) else { return };
        let word = option_word(self.names.as_deref(), at);
        let note = format!(
            "the rows are named by column {}, in which {} repeats; ",
            show(word.as_bytes()),
            show(name)
        );
        let note = match frame {
            true => Note::from(note),
            false => Note::from(note).set("labels", word.clone()).text(" takes it as groups, "),
        };
        how.notes.push(note.set("drop", word).text(" leaves it out"));
    }

    /// Columns of text that are asked for as variables.
    pub(super) fn refuse_text(&self, roles: &[Role], is_text: &[bool]) -> Result<(), Problem> {
        let asked = |at: &usize| roles[*at].is_variable() && is_text[*at];
        let Some(at) = (0..roles.len()).find(asked) else { return Ok(()) };
        let row = self.rows.iter().find(|row| self.marks.cell(row.field(at)) == Cell::Text);
        let Some(row) = row else { return Ok(()) };
        let names = self.names.as_deref();
        let begin = format!("{} in column {}{}", show(row.field(at)), at + 1, bracketed(names, at));
        let note = Note::from(format!("{begin} is not a number: the column holds words; "));
        let note = note.set("labels", option_word(names, at)).text(" takes it as groups for pictures");
        Err(Problem::Advice(Some(row.line), note))
    }
}
