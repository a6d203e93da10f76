//! Variances of columns, for numbers of columns whose C does not fit into memory.

use super::Chunk;
use crate::error::DataError;
use crate::gram::Range;

/// Number of rows, mean and sum of squares about it of every column, and the range of its values.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments {
    rows: f64,
    columns: Vec<Column>,
}

#[derive(Clone, Copy, Debug)]
struct Column {
    mean: f64,
    squares: f64,
    range: Range,
}

impl Moments {
    /// Adds a chunk: its own means and squares, merged with those of the rows before (Chan, Golub and LeVeque 1983).
    pub(super) fn add(&mut self, chunk: &Chunk) {
        let rows = chunk.rows();
        let count = rows.len() as f64;
        if rows.is_empty() {
            return;
        }
        let zeros = if self.rows > 0.0 { Range { low: 0.0, high: 0.0 } } else { Range::EMPTY };
        let wide = self.columns.len().max(rows.columns());
        self.columns.resize(wide, Column { mean: 0.0, squares: 0.0, range: zeros });
        let total = self.rows + count;
        let roots = vec![1.0; rows.len()];
        let ranges = rows.ranges(&roots);
        let moments = rows.moments(&roots, &ranges, count);
        for (j, column) in self.columns.iter_mut().enumerate() {
            let none = ((0.0, 0.0), Range { low: 0.0, high: 0.0 }); // of columns that the chunk does not have
            let ((mean, spread), range) = if j < moments.len() { (moments[j], ranges[j]) } else { none };
            let way = mean - column.mean;
            column.squares += count * spread * spread + self.rows * count / total * way * way;
            column.mean += way * (count / total);
            column.range.join(range);
        }
        self.rows = total;
    }

    /// Columns seen so far.
    pub(super) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// The `count` columns of the largest variance, in the order of the file; of equal ones the first.
    ///
    /// # Errors
    /// The squares of a column overflow, or underflow although it is not constant.
    pub(super) fn largest(&self, count: usize, place: &str) -> Result<Vec<usize>, DataError> {
        let lost = |column: &Column| {
            let known = (f64::MIN_POSITIVE..=f64::MAX).contains(&column.squares);
            !known && !column.range.is_constant()
        };
        if let Some(j) = self.columns.iter().position(lost) {
            let problem = format!(
                "the values of column {} are so small or so large that their squares overflow or underflow; \
                 multiply the column by a power of ten",
                j + 1
            );
            return Err(DataError::TooLarge { place: place.into(), problem });
        }
        let squares =
            |j: usize| if self.columns[j].range.is_constant() { 0.0 } else { self.columns[j].squares };
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by(|a, b| squares(*b).total_cmp(&squares(*a))); // stable
        order.truncate(count);
        order.sort_unstable();
        Ok(order)
    }
}
