//! Kind of the cells of a column.

use std::collections::HashSet;

use super::how::Kind;
use super::mark::{Mark, answer, is_date, measured, truth};
use super::number::{Cell, Marks, is_number};
use crate::text::printable;

/// Kinds of text beside numbers.
const DIFFERENT: usize = 32;

/// Names of columns that tell rows apart.
const IDENTIFIERS: [&str; 28] = [
    "id",
    "ids",
    "index",
    "row",
    "rows",
    "rowname",
    "rownames",
    "row.names",
    "row_names",
    "row_name",
    "rowid",
    "name",
    "names",
    "date",
    "case",
    "caseid",
    "obs",
    "no",
    "no.",
    "nr",
    "nr.",
    "#",
    "key",
    "uuid",
    "record",
    "recno",
    "rownum",
    "respondent",
];

/// Numbers with another separator between them than the columns have.
fn has_separator(field: &[u8], delimiter: Option<u8>) -> bool {
    let other = [b';', b'\t'].into_iter().find(|byte| field.contains(byte));
    let is_other = |byte: &u8| delimiter != Some(b'\t') && delimiter != Some(*byte);
    other
        .filter(is_other)
        .is_some_and(|byte| field.split(|b| *b == byte).all(|part| is_number(part.trim_ascii())))
}

/// The cells of a column, counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    numbers: usize,
    /// Those of them that are 0 or 1.
    bits: usize,
    words: usize,
    dates: usize,
    truths: usize,
    /// Numbers in other marks than those of the table.
    foreign: usize,
    marked: usize,
    /// Texts beside numbers; `glued` counts those that are joined to them as in codes.
    beside: Vec<(Mark, String)>,
    glued: usize,
    /// Codes with the words that explain them, and how many cells hold some.
    answers: Vec<Vec<u8>>,
    answered: usize,
}

/// Different answers to a question.
const ANSWERS: std::ops::RangeInclusive<usize> = 2..=11;

impl Tally {
    pub(super) fn see(&mut self, field: &[u8], marks: &Marks, delimiter: Option<u8>) {
        match marks.cell(field) {
            Cell::Missing => {}
            Cell::Number(value) => {
                self.numbers += 1;
                self.bits += usize::from(value == 0.0 || value == 1.0);
            }
            Cell::Text if truth(field).is_some() => self.truths += 1,
            Cell::Text if is_number(field) || has_separator(field, delimiter) => self.foreign += 1,
            Cell::Text if is_date(field) => self.dates += 1,
            Cell::Text => self.see_text(field),
        }
    }

    fn see_text(&mut self, field: &[u8]) {
        if answer(field).is_some() {
            self.answered += 1;
            if self.answers.len() <= *ANSWERS.end() && !self.answers.iter().any(|known| known == field) {
                self.answers.push(field.to_vec());
            }
        }
        let Some(found) = measured(field) else {
            self.words += 1;
            return;
        };
        self.marked += 1;
        self.glued += usize::from(found.glued);
        let beside = (found.mark, found.beside);
        if self.beside.len() < DIFFERENT && !self.beside.contains(&beside) {
            self.beside.push(beside);
        }
    }

    /// Cells with a value.
    pub(super) fn count(&self) -> usize {
        self.numbers + self.words + self.dates + self.truths + self.foreign + self.marked
    }

    /// Codes with words beside them (`1 Disagree`), where all cells are such, every code has one word, and answers repeat.
    pub(super) fn answers(&self) -> Option<String> {
        let count = self.answers.len();
        if !ANSWERS.contains(&count) || self.answered != self.count() || self.answered < 2 * count {
            return None;
        }
        let mut pairs: Vec<(i32, &str)> = self.answers.iter().filter_map(|cell| answer(cell)).collect();
        pairs.sort_unstable();
        let differ = |pair: &[(i32, &str)]| pair[0].0 != pair[1].0;
        let words: HashSet<&str> = pairs.iter().map(|pair| pair.1).collect();
        let [(first, word), .., (last, other)] = &pairs[..] else { return None };
        // codes begin with 0 or 1, and weights of 5 kg and 7 lb do not
        let begins = pairs.iter().any(|(code, _)| matches!(code, 0 | 1));
        (begins && pairs.windows(2).all(differ) && words.len() == count)
            .then(|| format!("{first} {}, ..., {last} {}", printable(word), printable(other)))
    }

    /// The kind of most cells.
    pub(super) fn kind(&self) -> Kind {
        if self.answers().is_some() {
            return Kind::Marked;
        }
        if self.truths > 0 && self.truths + self.bits == self.count() {
            return Kind::Logical;
        }
        let odd = self.marked + self.foreign;
        let others = self.words + self.dates + self.truths;
        if others > self.numbers + odd {
            return match others {
                _ if self.dates > self.words => Kind::Date,
                _ => Kind::Text,
            };
        }
        // 12B, 7C, 3A: the letters are no unit
        let units = self.beside.iter().filter(|(mark, _)| *mark == Mark::Unit).count();
        if units > 1 && 2 * units > self.marked && self.glued > 0 && self.marked > self.numbers {
            return Kind::Text;
        }
        if odd > self.numbers { Kind::Marked } else { Kind::Number }
    }

    /// Text beside every number, if it is the same one and the number is the value.
    pub(super) fn beside(&self) -> Option<String> {
        match &self.beside[..] {
            [(mark, beside)] if self.marked > 1 && self.marked == self.count() => {
                matches!(mark, Mark::Unit | Mark::PerCent | Mark::Currency).then(|| beside.clone())
            }
            _ => None,
        }
    }
}

/// True if a column of this name tells rows apart.
pub fn is_identifier(name: &str) -> bool {
    let lower = name.trim().to_lowercase();
    IDENTIFIERS.contains(&lower.as_str())
        || lower.starts_with("unnamed: ")
        || ["_id", ".id", " id", "-id"].iter().any(|end| lower.ends_with(end))
        || (name.len() > 2 && name.ends_with("ID"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers() {
        for name in ["id", "Unnamed: 0", "rownames", "patient_id", "SampleID", "Date", "#"] {
            assert!(is_identifier(name), "{name}");
        }
        for name in ["acid", "grid", "width", "x", ""] {
            assert!(!is_identifier(name), "{name}");
        }
    }
}
