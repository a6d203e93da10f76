//! Check of the decisions from the first lines of a table against all of it. If they do not hold, all lines decide.

use crate::error::DataError;
use crate::table::{Assumed, LAST_ROWS, Layout, Note, Problem};
use crate::text::show;

/// Cells that are remembered. Of longer tables, which are read part by part, those behind them are not compared.
const MOST: usize = 1 << 22;

/// Decisions from the first lines about each column, and the first cell where they do not hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    columns: Vec<Watched>,
    /// The first cell where they do not hold.
    pub(super) found: Option<Found>,
}

/// The bits of a number, and its line.
type Cell = (u64, u64);

#[derive(Clone, Debug)]
enum Watched {
    No,
    /// Numbers, which only the last rows may lack.
    Numbers {
        counting: bool,
        last: Option<f64>,
        seen: Vec<Cell>,
        lacking: usize,
    },
    Words {
        words: usize,
        numbers: usize,
        line: u64,
    },
}

/// Line and column of a cell that contradicts the first lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    line: u64,
    at: usize,
    what: &'static str,
}

impl Watch {
    /// Of what a layout assumes.
    pub(super) fn of(layout: &Layout) -> Self {
        let mut columns = vec![Watched::No; layout.assumed.iter().map(|(at, _)| at + 1).max().unwrap_or(0)];
        for (at, assumed) in &layout.assumed {
            columns[*at] = match assumed {
                Assumed::DifferentNumbers | Assumed::Counting => Watched::Numbers {
                    counting: *assumed == Assumed::Counting,
                    last: None,
                    seen: Vec::new(),
                    lacking: 0,
                },
                Assumed::Words => Watched::Words { words: 0, numbers: 0, line: 0 },
            };
        }
        Self { columns, ..Self::default() }
    }

    /// Examines a cell.
    pub(super) fn see(&mut self, at: usize, line: u64, field: &[u8], layout: &Layout) {
        let Some(watched) = self.columns.get_mut(at) else { return };
        let number = || layout.marks.number(field).filter(|value| !layout.marks.is_missing_number(*value));
        let what = match watched {
            Watched::No => return,
            Watched::Numbers { counting, last, seen, lacking } => {
                let fits = match number() {
                    None => {
                        *lacking += 1;
                        *lacking <= LAST_ROWS
                    }
                    Some(value) => {
                        let follows = last.is_none_or(|last| value == last + 1.0);
                        *last = Some(value);
                        if !*counting && seen.len() < MOST {
                            seen.push((value.to_bits(), line));
                        }
                        *lacking == 0 && (follows || !*counting)
                    }
                };
                if fits {
                    return;
                }
                if *counting { "counts the rows" } else { "tells the rows apart" }
            }
            Watched::Words { words, numbers, line: first } => {
                let begins = field.first().is_some_and(|byte| byte.is_ascii_digit() || b"+-.".contains(byte));
                if begins && number().is_some() {
                    *numbers += 1;
                    *first = if *first == 0 { line } else { *first };
                } else {
                    *words += usize::from(!field.is_empty());
                }
                return;
            }
        };
        self.columns[at] = Watched::No;
        self.found.get_or_insert(Found { line, at, what });
    }

    /// At the end: cells that repeat, and columns of words that hold more numbers.
    pub(super) fn finish(&mut self) {
        for (at, watched) in self.columns.iter_mut().enumerate() {
            let found = match watched {
                Watched::No => None,
                Watched::Numbers { seen, .. } => repeated(seen).map(|line| (line, "tells the rows apart")),
                Watched::Words { words, numbers, line } => {
                    (numbers > words).then_some((*line, "holds words"))
                }
            };
            if let Some((line, what)) = found {
                self.found.get_or_insert(Found { line, at, what });
            }
        }
    }

    /// Error of a reader that cannot begin again.
    pub(super) fn problem(&self, layout: &Layout, place: &str) -> Option<DataError> {
        let Found { line, at, what } = self.found?;
        let column = layout.reference(at);
        let text = format!("column {} {what} in the first lines, and not here: ", show(column.as_bytes()));
        let note = match what {
            "holds words" => Note::from(text),
            _ => Note::from(text).set("row-names", "none").text(" takes it as a variable, "),
        };
        let note = note.set("drop", column).text(" leaves it out");
        Some(Problem::Advice(Some(line), note).at(place, line))
    }
}

/// The line of the first cell that stands for a second time.
fn repeated(seen: &mut [Cell]) -> Option<u64> {
    seen.sort_unstable();
    let twice = |pair: &[Cell]| (pair[0].0 == pair[1].0).then_some(pair[1].1);
    seen.windows(2).filter_map(twice).min()
}
