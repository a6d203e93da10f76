//! Rows that are no samples: which they are, and what is said of them.

use super::{KEPT_BACK, Rows};
use crate::error::DataError;
use crate::table::{Layout, Note, RowKind, Sums, Totals};
use crate::text::show;

/// Names that a note shows.
const SHOWN: usize = 3;

/// Why a row with nothing but a name is left out.
pub(super) const NAMELESS: &str = "nothing but a name";

/// Reason why a row without a value and without a name is left out.
pub(super) const EMPTY: &str = "no value";

/// A row, and why it is left out.
type Reasons = Vec<(String, &'static str)>;

/// Rows that are sums of some others.
#[derive(Debug, Default)]
pub(super) struct PartsOfSums {
    /// Of all rows up to the last one that was a sum.
    begin: Sums,
    /// Rows that are called total among others and are no sum of those above.
    doubtful: Vec<Doubtful>,
}

/// A row that is called total.
#[derive(Debug)]
struct Doubtful {
    row: usize,
    name: String,
    values: Vec<f64>,
    /// Of all rows up to it, and with it.
    above: Sums,
    /// Another such row stands below.
    ended: bool,
}

impl Rows {
    /// Leaves out the rows that are no samples, as far as is known before the end or at it. Returns how many of those that are
    /// held, from the first one on, are known to be samples.
    pub(super) fn leave_out(&mut self, end: bool, place: &str) -> Result<usize, DataError> {
        let columns = self.columns();
        let mut out = vec![false; self.numbers.len()];
        let known = if end { out.len() } else { out.len().saturating_sub(KEPT_BACK + self.rules.footer) };
        let footer = if end { self.rules.footer.min(out.len()) } else { 0 };
        out.iter_mut().rev().take(footer).for_each(|out| *out = true);
        let turned = self.layout.as_ref().is_some_and(|layout| layout.how.transposed);
        let by_name = self.rules.drops() && self.rules.samples && !turned;
        let mut reasons = Vec::new();
        for (row, kind, name) in &self.marked {
            let why = match kind {
                RowKind::Listed => "as asked",
                RowKind::Counter if self.rules.drops() => "a counter",
                _ => continue,
            };
            if let Ok(i) = self.numbers.binary_search(row)
                && !out[i]
            {
                out[i] = true;
                reasons.push((name.clone(), why));
            }
        }
        if by_name && columns > 0 {
            self.leave_out_totals(&mut out, &mut reasons, known, (end, place))?;
        }
        if end && by_name {
            self.leave_out_statistics(&mut out, &mut reasons);
            self.leave_out_sum(&mut out, &mut reasons, columns);
        }
        self.left_out.append(&mut reasons);
        self.keep(&out, columns);
        Ok(out[..known].iter().filter(|out| !**out).count())
    }

    /// Kind of a row that is held, by its name, and the name.
    fn named(&self, i: usize) -> Option<(RowKind, &str)> {
        let at = self.marked.binary_search_by_key(&self.numbers[i], |(row, _, _)| *row).ok()?;
        let (_, kind, name) = &self.marked[at];
        Some((*kind, name))
    }

    /// Rows that are called total: the first one and the last ones by their names, others where they are the sum of rows above
    /// them or below, or of all others.
    fn leave_out_totals(
        &mut self,
        out: &mut [bool],
        reasons: &mut Reasons,
        known: usize,
        (end, place): (bool, &str),
    ) -> Result<(), DataError> {
        let is_total = |kind: RowKind| matches!(kind, RowKind::Total | RowKind::PerhapsTotal);
        if !self.marked.iter().any(|(_, kind, _)| is_total(*kind)) && self.parts.doubtful.is_empty() {
            return Ok(());
        }
        let is_last = |i: &usize| {
            out[*i]
                || self.named(*i).is_some_and(|(kind, _)| !matches!(kind, RowKind::Listed | RowKind::Counter))
        };
        let last = if end { (0..out.len()).rev().take_while(is_last).last().unwrap_or(known) } else { known };
        let at_edge = |i: usize| (end && i >= last) || self.numbers[i] == 1;
        let mut edge = Vec::new();
        for i in (0..known).filter(|i| !out[*i] && at_edge(*i)) {
            if let Some((RowKind::Total, name)) = self.named(i) {
                edge.push((i, name.to_string()));
            }
        }
        let count = out.len();
        for (i, name) in edge.into_iter().filter(|_| count > 1) {
            out[i] = true;
            reasons.push((name, "a total"));
        }
        // what is found below a row changes the sums of all above the next one
        for _ in 0..3 {
            if !self.leave_out_sums(out, reasons, known, (end, place))? {
                break;
            }
        }
        Ok(())
    }

    /// Rows called total that are sums of rows above them or below, or of all others; whether one was found that changes
    /// the sums of others.
    fn leave_out_sums(
        &mut self,
        out: &mut [bool],
        reasons: &mut Reasons,
        known: usize,
        (end, place): (bool, &str),
    ) -> Result<bool, DataError> {
        let columns = self.columns();
        let mut all = self.totals.sums();
        let mut begin = self.parts.begin.clone();
        let mut doubtful = std::mem::take(&mut self.parts.doubtful);
        doubtful.retain(|one| self.numbers.binary_search(&one.row).is_err()); // the others are examined again
        let mut of_rows_below: Vec<usize> = Vec::new();
        let mut see_below = |doubtful: &mut Vec<Doubtful>, all: &Sums| {
            for (k, one) in doubtful.iter_mut().enumerate().filter(|(_, one)| !one.ended) {
                one.ended = true;
                if all.since(&one.above).is(&one.values) {
                    of_rows_below.push(k);
                }
            }
        };
        for i in 0..known {
            if out[i] {
                continue;
            }
            let row = &self.values[i * columns..(i + 1) * columns];
            let named =
                self.named(i).filter(|(kind, _)| matches!(kind, RowKind::Total | RowKind::PerhapsTotal));
            let Some((kind, name)) = named else {
                all.add(row);
                continue;
            };
            let is_sum = all.since(&begin).is(row) || all.is(row);
            if kind == RowKind::Total || is_sum {
                see_below(&mut doubtful, &all);
            }
            if is_sum {
                reasons.push((name.into(), "sums"));
                out[i] = true;
                begin = all.clone();
                continue;
            }
            all.add(row);
            if kind == RowKind::Total {
                let (row, name, values) = (self.numbers[i], name.to_string(), row.to_vec());
                doubtful.push(Doubtful { row, name, values, above: all.clone(), ended: false });
            }
        }
        self.parts.begin = if end { self.parts.begin.clone() } else { begin };
        if end {
            see_below(&mut doubtful, &all);
            of_rows_below.extend(
                (0..doubtful.len()).filter(|k| all.without(&doubtful[*k].values).is(&doubtful[*k].values)),
            );
        }
        let mut found = false;
        for one in of_rows_below.iter().map(|k| &doubtful[*k]) {
            match self.numbers.binary_search(&one.row) {
                Ok(i) if !out[i] => {
                    out[i] = true;
                    found = true;
                    reasons.push((one.name.clone(), "sums"));
                }
                Ok(_) => {}
                Err(_) => return Err(too_late(one, place)),
            }
        }
        doubtful.retain(|one| self.numbers.binary_search(&one.row).map_or(true, |i| !out[i]));
        self.parts.doubtful = doubtful;
        Ok(found)
    }

    /// Means, deviations and counts in the last rows, by their names.
    fn leave_out_statistics(&self, out: &mut [bool], reasons: &mut Reasons) {
        let may_be = |i: &usize| {
            out[*i]
                || self.named(*i).is_some_and(|(kind, _)| matches!(kind, RowKind::Statistic | RowKind::Weak))
        };
        let block: Vec<usize> = (0..out.len()).rev().take_while(may_be).collect();
        let is_sure = block
            .iter()
            .any(|i| out[*i] || self.named(*i).is_some_and(|(kind, _)| kind == RowKind::Statistic));
        let block: Vec<usize> = block.into_iter().rev().filter(|i| !out[*i]).collect();
        if is_sure && block.len() < out.len() {
            for i in block {
                let name = self.named(i).map_or(String::new(), |(_, name)| name.into());
                out[i] = true;
                reasons.push((name, "a statistic"));
            }
        }
    }

    /// A last row that is the sum or the mean of all others.
    fn leave_out_sum(&self, out: &mut [bool], reasons: &mut Reasons, columns: usize) {
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

    /// Says which rows were left out.
    pub(super) fn tell(&mut self) {
        let left_out = std::mem::take(&mut self.left_out);
        let below = std::mem::take(&mut self.below);
        let doubtful = std::mem::take(&mut self.parts.doubtful);
        let (rows, found) = (self.count, std::mem::take(&mut self.listed));
        let Some(layout) = &mut self.layout else { return };
        layout.how.rows = rows;
        layout.how.rows_found.extend(found);
        let doubt = layout.doubt.take().filter(|_| self.in_doubt);
        layout.how.notes.splice(..0, doubt);
        if !below.is_empty() {
            let s = if below.len() == 1 { "" } else { "s" };
            layout.how.style.push(format!("{} line{s} below the table left out", below.len()));
        }
        if self.rules.footer > 0 {
            let s = if self.rules.footer == 1 { "" } else { "s" };
            layout.how.style.push(format!("the last {} row{s} left out", self.rules.footer));
        }
        let names: Vec<&String> = doubtful.iter().map(|one| &one.name).collect();
        layout.how.notes.extend(note_of_doubt(&names));
        say_left_out(layout, &left_out);
    }
}

fn say_left_out(layout: &mut Layout, left_out: &Reasons) {
    // another table may have more of one name, but hardly rows of the same numbers
    const MOST: usize = 100;
    let named = left_out.iter().filter(|(name, why)| {
        !name.is_empty() && !matches!(*why, NAMELESS | EMPTY) && name.parse::<u64>().is_err()
    });
    layout.how.rows_left_out = named.map(|(name, _)| name.clone()).take(MOST).collect();
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

/// A row that has been given away turns out to be a sum.
fn too_late(one: &Doubtful, place: &str) -> DataError {
    let text = format!(
        "row {} ({}) is the sum of others, which is known too late where rows are read part by part: ",
        one.row,
        show(one.name.as_bytes())
    );
    let note = Note::from(text).set("drop-rows", one.row.to_string()).text(" leaves it out, ");
    DataError::Table { place: place.into(), problem: note.set("drop-rows", "none").text(" keeps it") }
}

fn shown(names: &[&String]) -> String {
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| show(name.as_bytes())).collect();
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    shown.join(", ") + &more
}

/// Rows that are called total and stay.
fn note_of_doubt(names: &[&String]) -> Option<Note> {
    let first = names.first()?;
    let (rows, them) = match names.len() {
        1 => ("row", "is among other rows and is not their sum: it is read as a sample; "),
        _ => ("rows", "are among other rows and are not their sums: they are read as samples; "),
    };
    let leaves = if names.len() == 1 { " leaves it out" } else { " leaves one out" };
    Some(Note::from(format!("{rows} {} {them}", shown(names))).set("drop-rows", first.as_str()).text(leaves))
}

fn note_of_rows(names: &[&String], why: &'static str) -> Note {
    let (rows, are) = if names.len() == 1 { ("row", "is") } else { ("rows", "are") };
    let shown = shown(names);
    let what = match why {
        NAMELESS | EMPTY => format!("{rows} {shown} with {why} {are} left out"),
        "as asked" => return Note::from(format!("{rows} {shown} {are} left out")),
        "sums" if names.len() == 1 => format!("row {shown} is the sum of others and no sample"),
        "sums" => format!("rows {shown} are sums of others and no samples"),
        "the sum" | "the mean" => format!("{rows} {shown} {are} {why} of the others and no sample"),
        why => format!("{rows} {shown} {are} no sample by the name ({why})"),
    };
    let they = if names.len() == 1 { "it" } else { "them" };
    Note::from(format!("{what}; ")).set("drop-rows", "none").text(format!(" keeps {they}"))
}
