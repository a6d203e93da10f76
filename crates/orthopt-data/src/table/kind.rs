//! What the cells of a column are together.

use super::how::Kind;
use super::mark::{Mark, is_date, measured, truth};
use super::number::{Cell, Marks, is_number};

/// Things beside numbers that are told apart.
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

/// Numbers with another separator between them.
fn has_separator(field: &[u8]) -> bool {
    field.iter().any(|byte| b";\t".contains(byte)) && field.iter().any(u8::is_ascii_digit)
}

/// The cells of a column, counted.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    numbers: usize,
    words: usize,
    dates: usize,
    truths: usize,
    /// Numbers in other marks than those of the table.
    foreign: usize,
    marked: usize,
    /// What stands beside numbers, and how often it is glued to them as in codes.
    beside: Vec<(Mark, String)>,
    glued: usize,
}

impl Tally {
    pub(super) fn see(&mut self, field: &[u8], marks: &Marks) {
        match marks.cell(field) {
            Cell::Missing => {}
            Cell::Number(_) => self.numbers += 1,
            Cell::Text if truth(field).is_some() => self.truths += 1,
            Cell::Text if is_number(field) || has_separator(field) => self.foreign += 1,
            Cell::Text if is_date(field) => self.dates += 1,
            Cell::Text => self.see_text(field),
        }
    }

    fn see_text(&mut self, field: &[u8]) {
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

    /// The kind of most cells.
    pub(super) fn kind(&self) -> Kind {
        let odd = self.marked + self.foreign;
        let others = self.words + self.dates + self.truths;
        if others > self.numbers + odd {
            return match others {
                _ if self.truths == self.count() => Kind::Logical,
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

    /// What stands beside every number, where it is the same thing and the number is the value.
    pub(super) fn beside(&self) -> Option<String> {
        match &self.beside[..] {
            [(mark, beside)] if self.marked > 1 && self.marked == self.count() => {
                matches!(mark, Mark::Unit | Mark::PerCent | Mark::Currency).then(|| beside.clone())
            }
            _ => None,
        }
    }
}

/// Whether a column of this name tells rows apart.
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
