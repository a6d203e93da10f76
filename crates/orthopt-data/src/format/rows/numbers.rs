//! Rows whose cells have types: numbers come as numbers, and words beside them.

use super::{Hole, Rows, note_hole};
use crate::missing::Missing;
use crate::table::kind_of;

/// Words beside the numbers of a row.
#[derive(Clone, Debug, Default)]
pub(in crate::format) struct Words<'a> {
    /// Its name, where a column holds some.
    pub(in crate::format) name: Option<String>,
    pub(in crate::format) group: Option<String>,
    pub(in crate::format) weight: Option<f64>,
    /// Words that are left out, and may say what the row is.
    pub(in crate::format) others: Vec<&'a str>,
}

impl Rows {
    /// Takes the numbers of a row, NaN where one is missing; `hole` says what stands there.
    pub(in crate::format) fn push_numbers(
        &mut self,
        values: &[f64],
        words: Words<'_>,
        hole: impl Fn(usize) -> String,
    ) {
        self.count += 1;
        let row = self.count;
        let Words { name, group, weight, others } = words;
        let labels =
            || name.as_deref().into_iter().chain(others.iter().copied()).filter(|word| !word.is_empty());
        let kind = labels().find_map(|word| kind_of(word.as_bytes()));
        let label = labels().next().unwrap_or_default().to_string();
        if self.rules.drops() && values.len() > 1 && values.iter().all(|value| value.is_nan()) {
            return self.leave_out_empty(row, label);
        }
        if self.rules.missing == Missing::Error {
            for (k, _) in values.iter().enumerate().filter(|(_, value)| value.is_nan()) {
                let hole = || Hole { line: 0, row, text: hole(k) };
                note_hole(&mut self.missing, &self.marked, k, hole);
            }
        }
        self.values.extend_from_slice(values);
        self.names.extend(name);
        self.groups.extend(group);
        self.weights.extend(weight);
        self.numbers.push(row);
        if kind.is_some() || self.rules.drop_rows.is_list() {
            self.mark(row, kind, label);
        }
    }
}
