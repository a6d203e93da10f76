//! Frames in memory, by the rules of files: which of their columns are variables, which rows are samples, and what is said of it.

use csv::ByteRecord;

use super::watch::Watch;
use super::{Rows, beside};
use crate::error::DataError;
use crate::format::LoadOptions;
use crate::table::{Cell, Head, Header, HowRead, Layout, Note, OddCells, Role, TableOptions, kind_of};
use crate::text::show;

/// Rows that decide how a frame is read, unless others contradict them.
const LOOKED_AT: usize = 200;

/// Cells that decide it, of a wide frame of fewer rows.
const CELLS: usize = 200_000;
const FEWEST: usize = 5;

/// A column of a frame.
#[derive(Clone, Debug)]
pub struct FrameColumn<'a> {
    /// Its name.
    pub name: String,
    /// Cells of the column.
    pub cells: FrameCells<'a>,
}

/// The cells of a column.
#[derive(Clone, Debug)]
pub enum FrameCells<'a> {
    /// Numbers, NaN where one is missing.
    Numbers(&'a [f64]),
    /// Texts, empty where one is missing.
    Words(Vec<String>),
    /// Neither: lists, bytes.
    Other,
}

/// Roles of the rows and columns of a frame.
#[derive(Clone, Debug, Default)]
pub struct Framed {
    /// The columns that are variables.
    pub columns: Vec<usize>,
    /// The numbers of those that are texts.
    pub numbers: Vec<(usize, Vec<f64>)>,
    /// The rows that are samples.
    pub rows: Vec<usize>,
    /// The column that names them.
    pub row_names: Option<usize>,
    /// Decisions about the reading, with notes.
    pub how: HowRead,
}

impl FrameColumn<'_> {
    fn text(&self, row: usize) -> String {
        match &self.cells {
            FrameCells::Numbers(values) if values[row].is_nan() => String::new(),
            FrameCells::Numbers(values) => values[row].to_string(),
            FrameCells::Words(words) => words[row].clone(),
            FrameCells::Other => "[...]".into(),
        }
    }
}

/// A frame by the rules of files. `index` are the names of its rows, where it has some.
///
/// # Errors
/// Cells that are no numbers among numbers; columns that do not exist; no column of numbers.
pub fn framed(
    columns: &[FrameColumn<'_>],
    rows: usize,
    index: Option<&[String]>,
    options: &TableOptions,
    place: &str,
) -> Result<Framed, DataError> {
    if rows == 0 || columns.is_empty() {
        return Err(DataError::Empty { place: place.into(), rows, columns: columns.len() });
    }
    let indexed = index.is_some();
    let options = &TableOptions { frame: true, indexed, header: Header::Yes, ..options.clone() };
    let frame = Frame { columns, rows, index, options, place };
    let looked_at = (CELLS / columns.len()).clamp(FEWEST, LOOKED_AT).min(rows);
    let layout = frame.layout(looked_at)?;
    let layout = match rows > looked_at && !frame.agrees(&layout) {
        true => frame.layout(rows)?,
        false => layout,
    };
    frame.read(layout)
}

struct Frame<'a> {
    columns: &'a [FrameColumn<'a>],
    rows: usize,
    index: Option<&'a [String]>,
    options: &'a TableOptions,
    place: &'a str,
}

impl Frame<'_> {
    fn layout(&self, rows: usize) -> Result<Layout, DataError> {
        let line = |line: usize, fields: Vec<String>| Head {
            line: line as u64,
            fields: ByteRecord::from(fields),
            quoted: false,
        };
        let names = self.columns.iter().map(|column| column.name.clone()).collect();
        let mut head = vec![line(1, names)];
        head.extend((0..rows).map(|i| line(i + 2, self.columns.iter().map(|c| c.text(i)).collect())));
        Layout::of(&head, Some(b','), self.options).map_err(|problem| problem.at(self.place, 1))
    }

    /// True if all rows agree with what the first ones say.
    fn agrees(&self, layout: &Layout) -> bool {
        let mut watch = Watch::of(layout);
        for (at, _) in &layout.assumed {
            let column = &self.columns[*at];
            (0..self.rows).for_each(|i| watch.see(*at, i as u64, column.text(i).as_bytes(), layout));
        }
        watch.finish();
        let filled = |at: usize| match &self.columns[at].cells {
            FrameCells::Numbers(values) => values.iter().any(|value| !value.is_nan()),
            FrameCells::Words(words) => words.iter().any(|word| !word.is_empty()),
            FrameCells::Other => false,
        };
        let odd = || {
            let mut odd = OddCells::default();
            let _ = self.numbers(layout, &mut odd);
            odd.problem(layout).is_some()
        };
        let empty = |(at, role): (usize, &Role)| *role == Role::Empty && filled(at);
        watch.found.is_none() && !layout.roles.iter().enumerate().any(empty) && !odd()
    }

    /// The numbers of columns of texts that are variables.
    fn numbers(&self, layout: &Layout, odd: &mut OddCells) -> Vec<(usize, Vec<f64>)> {
        let mut all = Vec::new();
        for (at, role) in layout.roles.iter().enumerate().filter(|(_, role)| role.is_variable()) {
            let FrameCells::Words(words) = &self.columns[at].cells else { continue };
            let above = first_row(layout);
            let mut values = vec![f64::NAN; above.min(words.len())];
            for (i, word) in words.iter().enumerate().skip(above) {
                let cell = layout.marks.cell(word.as_bytes());
                let value = match (role, cell) {
                    (_, Cell::Missing) => Some(f64::NAN),
                    (Role::Number, Cell::Number(value)) => Some(value),
                    (Role::Number, _) => None,
                    _ => beside(layout, *role, at, word.as_bytes()),
                };
                if value.is_none() {
                    odd.see(at, i as u64 + 2, word.as_bytes());
                }
                values.push(value.unwrap_or(f64::NAN));
            }
            all.push((at, values));
        }
        all
    }

    fn read(&self, layout: Layout) -> Result<Framed, DataError> {
        let mut odd = OddCells::default();
        let numbers = self.numbers(&layout, &mut odd);
        if let Some(problem) = odd.problem(&layout) {
            return Err(problem.at(self.place, layout.line));
        }
        let columns: Vec<usize> =
            (0..self.columns.len()).filter(|at| layout.roles[*at].is_variable()).collect();
        if let Some(at) = columns.iter().find(|at| matches!(self.columns[**at].cells, FrameCells::Other)) {
            let text = format!("column {} holds no numbers; ", show(self.columns[*at].name.as_bytes()));
            let note = Note::from(text).set("drop", layout.reference(*at)).text(" leaves it out");
            return Err(DataError::Table { place: self.place.into(), problem: note });
        }
        if columns.is_empty() || self.rows == 0 {
            return Err(DataError::Empty {
                place: self.place.into(),
                rows: self.rows,
                columns: columns.len(),
            });
        }
        let row_names = layout.roles.iter().position(|role| *role == Role::RowName);
        let (rows, how) = self.samples(layout, &columns, &numbers);
        let (rows, how) = (rows?, how);
        if rows.is_empty() {
            return Err(DataError::Empty { place: self.place.into(), rows: 0, columns: columns.len() });
        }
        Ok(Framed { columns, numbers, rows, row_names, how })
    }

    /// The rows that are samples. Rows whose words say nothing are examined where the last one may be the sum of the others.
    fn samples(
        &self,
        layout: Layout,
        columns: &[usize],
        numbers: &[(usize, Vec<f64>)],
    ) -> (Result<Vec<usize>, DataError>, HowRead) {
        let value = |at: usize, i: usize| match &self.columns[at].cells {
            FrameCells::Numbers(values) => values[i],
            _ => numbers.iter().find(|(known, _)| *known == at).map_or(f64::NAN, |(_, values)| values[i]),
        };
        let of_words: Vec<usize> = (0..layout.roles.len())
            .filter(|at| matches!(layout.roles[*at], Role::Word | Role::RowName))
            .collect();
        let label = |i: usize| {
            let own = self.index.map(|index| index[i].clone());
            let words = of_words.iter().map(|at| self.columns[*at].text(i));
            own.into_iter().chain(words).filter(|word| !word.is_empty()).collect::<Vec<_>>()
        };
        let load = LoadOptions { table: self.options.clone(), ..LoadOptions::default() };
        let above = first_row(&layout);
        let mut rows = Rows::new(Some(layout), &load);
        let listed = self.options.drop_rows.is_list();
        let is_empty = |i: usize| columns.len() > 1 && columns.iter().all(|at| value(*at, i).is_nan());
        let drops = rows.rules.drops();
        for i in above..self.rows {
            if drops && is_empty(i) {
                rows.leave_out_empty(i + 1, label(i).into_iter().next().unwrap_or_default());
                continue;
            }
            rows.numbers.push(i + 1);
            let labels = label(i);
            let kind = labels.iter().find_map(|word| kind_of(word.as_bytes()));
            if kind.is_some() || listed {
                rows.mark(i + 1, kind, labels.first().cloned().unwrap_or_default());
            }
        }
        let held: Vec<usize> = rows.numbers.iter().map(|row| row - 1).collect();
        let may_be = |at: &usize| {
            held.split_last().is_some_and(|(last, others)| {
                crate::table::Totals::may_be(value(*at, *last), others.iter().map(|i| value(*at, *i)))
            })
        };
        let look = rows.is_marked() || self.options.footer > 0 || columns.iter().all(may_be);
        let done = match look {
            true => {
                rows.values =
                    held.iter().flat_map(|i| columns.iter().map(move |at| value(*at, *i))).collect();
                rows.leave_out(true, self.place).map(|_| ())
            }
            false => Ok(()),
        };
        let kept = done.and_then(|()| rows.check_listed(self.place));
        let kept = kept.map(|()| rows.numbers.iter().map(|row| row - 1).collect());
        rows.tell();
        (kept, rows.layout.map_or_else(HowRead::default, |layout| layout.how))
    }
}

/// Rows of a frame before its samples: lines of units and questions that a program has read as rows.
fn first_row(layout: &Layout) -> usize {
    layout.above.saturating_sub(1)
}
