//! `sparse-randn:M:N:NNZ[:SEED]`: exactly NNZ standard normal entries at distinct random
//! positions.
//!
//! First every entry draws its column (again, where that column is full), then, column by column,
//! the rows are drawn without replacement and the values from the top down. Time and memory are
//! linear in M + N + NNZ, however large M·N is.

use crate::dataset::DataSet;
use crate::error::DataError;
use crate::generate::{Arguments, Random};
use crate::sparse::{Columns, check_size};

/// 2³⁰ entries: as much memory (17 GB) as dense matrices may take.
const MOST_ENTRIES: usize = 1 << 30;

pub(super) fn generate(arguments: &mut Arguments<'_>) -> Result<DataSet, DataError> {
    let (rows, cols) = (arguments.count("M")?, arguments.count("N")?);
    let entries = arguments.count("NNZ")?;
    let mut random = arguments.seeded()?;
    if rows.checked_mul(cols).is_some_and(|room| entries > room) {
        return Err(arguments.error(format!("a {rows} x {cols} matrix cannot hold {entries} entries")));
    }
    if entries > MOST_ENTRIES {
        return Err(arguments.error(format!("NNZ is larger than {MOST_ENTRIES} (17 GB)")));
    }
    check_size(&arguments.budget(), rows, cols, entries)?;
    let counts = draw_counts(rows, cols, entries, &mut random);
    let mut columns = Columns::new(rows, entries);
    let mut sampler = Sampler { chosen_for: vec![usize::MAX; rows], rows: Vec::new() };
    for (col, &count) in counts.iter().enumerate() {
        for &row in sampler.draw(col, count, &mut random) {
            columns.push(row, random.normal());
        }
        columns.end_column();
    }
    Ok(DataSet::new(columns.finish(), arguments.source()))
}

fn draw_counts(rows: usize, cols: usize, entries: usize, random: &mut Random) -> Vec<usize> {
    let mut counts = vec![0; cols];
    for _ in 0..entries {
        let mut col = random.below(cols);
        while counts[col] == rows {
            col = random.below(cols);
        }
        counts[col] += 1;
    }
    counts
}

/// Draws rows without replacement, by Floyd's method: one draw per row, however full the column.
struct Sampler {
    chosen_for: Vec<usize>, // the last column that a row was chosen for
    rows: Vec<usize>,
}

impl Sampler {
    fn draw(&mut self, col: usize, count: usize, random: &mut Random) -> &[usize] {
        self.rows.clear();
        let total = self.chosen_for.len();
        for last in total - count..total {
            let drawn = random.below(last + 1);
            let row = if self.chosen_for[drawn] == col { last } else { drawn };
            self.chosen_for[row] = col;
            self.rows.push(row);
        }
        self.rows.sort_unstable();
        &self.rows
    }
}
