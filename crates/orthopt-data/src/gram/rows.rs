//! Chunks of rows as they are added, and what must hold of them.

use faer::MatRef;
use rayon::prelude::*;

use super::block::{Block, ROWS, panels, shares};
use super::frame::{Frame, Range, size_of};
use crate::error::DataError;

/// Rows in compressed form (CSR): the entries of row i stand at `starts[i]..starts[i + 1]`, by increasing columns.
#[derive(Clone, Copy, Debug)]
pub struct SparseRows<'a> {
    columns: usize,
    starts: &'a [usize],
    indices: &'a [usize],
    values: &'a [f64],
}

impl<'a> SparseRows<'a> {
    /// Checks that the arrays belong together.
    ///
    /// # Errors
    /// Description of the inconsistency.
    pub fn new(
        columns: usize,
        starts: &'a [usize],
        indices: &'a [usize],
        values: &'a [f64],
    ) -> Result<Self, String> {
        if starts.first() != Some(&0) || !starts.is_sorted() || starts.last() != Some(&values.len()) {
            return Err(format!("the row pointers do not increase from 0 to {}", values.len()));
        }
        if indices.len() != values.len() {
            return Err(format!("{} column indices for {} values", indices.len(), values.len()));
        }
        let rows = Self { columns, starts, indices, values };
        for i in 0..rows.len() {
            let indices = rows.row(i).0;
            if indices.last().is_some_and(|last| *last >= columns) || indices.windows(2).any(|w| w[0] >= w[1])
            {
                return Err(format!(
                    "the column indices of row {} do not increase within 0..{columns}; sort them and add up duplicates",
                    i + 1
                ));
            }
        }
        Ok(rows)
    }

    /// Arrays of our own.
    pub(crate) fn trusted(
        columns: usize,
        starts: &'a [usize],
        indices: &'a [usize],
        values: &'a [f64],
    ) -> Self {
        Self { columns, starts, indices, values }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Columns and values of a row.
    pub fn row(&self, i: usize) -> (&'a [usize], &'a [f64]) {
        let range = self.range(i);
        (&self.indices[range.clone()], &self.values[range])
    }

    /// The rows in the frames of their columns: starts, columns and values. A column with a shift has no zeros.
    pub(super) fn framed(&self, frames: &[Frame]) -> (Vec<usize>, Vec<usize>, Vec<f64>) {
        let shifted: Vec<usize> = (0..self.columns).filter(|j| frames[*j].shift != 0.0).collect();
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..self.len() {
            let (indices, stored) = self.row(i);
            let (mut at, mut next) = (0, 0);
            while at < indices.len() || next < shifted.len() {
                let own = indices.get(at).copied().unwrap_or(usize::MAX);
                let j = own.min(shifted.get(next).copied().unwrap_or(usize::MAX));
                let value = if own == j { stored[at] } else { 0.0 };
                at += usize::from(own == j);
                next += usize::from(shifted.get(next) == Some(&j));
                columns.push(j);
                values.push((value - frames[j].shift) * frames[j].factor());
            }
            starts.push(columns.len());
        }
        (starts, columns, values)
    }

    /// Calls `entry` for every entry with the row of the lower triangle `sums` that its column has, its row and how many entries stand before it
    /// there; for each row of the triangle by increasing rows. `ones` has the row of the column of ones, the first. Numbers of the
    /// triangle take `width` elements each.
    ///
    /// A triangle that stays in the cache is filled row of the data by row. In a larger one that would take each number from memory; then a
    /// row of the triangle is filled at a time, and the entries of the rows of the data are read instead, which are fewer.
    pub(super) fn fill_triangle<T: Send>(
        &self,
        sums: &mut [T],
        width: usize,
        ones: impl Fn(&mut [T]) + Sync,
        entry: impl Fn(&mut [T], usize, usize) + Sync,
    ) {
        let columns = self.columns + 1;
        if size_of_val(sums) <= CACHE {
            shares(sums, columns, width).par_iter_mut().for_each(|panel| {
                if panel.from == 0 {
                    ones(panel.row(0, width));
                }
                for i in 0..self.len() {
                    let indices = self.row(i).0;
                    let first = indices.partition_point(|at| at + 1 < panel.from);
                    let last = indices.partition_point(|at| at + 1 < panel.to);
                    (first..last).for_each(|before| entry(panel.row(indices[before] + 1, width), i, before));
                }
            });
            return;
        }
        let (starts, places) = self.by_columns();
        panels(sums, columns, width).par_iter_mut().for_each(|panel| {
            if panel.from == 0 {
                ones(panel.row(0, width));
            }
            for j in panel.from.max(1)..panel.to {
                let sums = panel.row(j, width);
                for (i, before) in &places[starts[j - 1]..starts[j]] {
                    entry(sums, *i as usize, *before as usize);
                }
            }
        });
    }

    /// Starts of the columns among their entries; and for each entry its row and the number of entries before it in
    /// that row. 8 bytes an entry.
    fn by_columns(&self) -> (Vec<usize>, Vec<(u32, u32)>) {
        let mut starts = vec![0; self.columns + 1];
        self.indices.iter().for_each(|j| starts[j + 1] += 1);
        (0..self.columns).for_each(|j| starts[j + 1] += starts[j]);
        let (mut next, mut places) = (starts.clone(), vec![(0, 0); self.indices.len()]);
        for i in 0..self.len() {
            for at in self.range(i) {
                let place = &mut next[self.indices[at]];
                places[*place] = (i as u32, (at - self.starts[i]) as u32);
                *place += 1;
            }
        }
        (starts, places)
    }

    pub(super) fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.starts[i]..self.starts[i + 1]
    }

    pub(super) fn index(&self, at: usize) -> usize {
        self.indices[at]
    }
}

/// Bytes that stay in the second cache of a processor.
const CACHE: usize = 1 << 20;

/// A chunk of rows in either form.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a> {
    /// All entries.
    Dense(MatRef<'a, f64>),
    /// Nonzero entries.
    Sparse(SparseRows<'a>),
}

/// From this share of nonzeros on, sparse rows are multiplied as dense ones.
const DENSE: f64 = 0.15;

impl Rows<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Dense(a) => a.nrows(),
            Self::Sparse(rows) => rows.len(),
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Self::Dense(a) => a.ncols(),
            Self::Sparse(rows) => rows.columns(),
        }
    }

    /// Entries that are not zero in the first `features` columns.
    pub fn nonzeros(&self, features: usize) -> u64 {
        match self {
            Self::Dense(a) => {
                let of_column = |j| a.col(j).iter().filter(|v| **v != 0.0).count() as u64;
                (0..a.ncols().min(features)).map(of_column).sum()
            }
            Self::Sparse(rows) => {
                let entries = rows.indices.iter().zip(rows.values.iter());
                entries.filter(|(j, v)| **j < features && **v != 0.0).count() as u64
            }
        }
    }

    pub(super) fn are_dense(&self) -> bool {
        match self {
            Self::Dense(_) => true,
            Self::Sparse(rows) => rows.values.len() as f64 > DENSE * rows.len() as f64 * rows.columns as f64,
        }
    }

    /// Calls `visit` with row, column and value of every entry that is there; within a column by row.
    pub(crate) fn visit(&self, mut visit: impl FnMut(usize, usize, f64)) {
        match self {
            Self::Dense(a) => {
                // in blocks, which suits rows that are contiguous and columns that are
                for from in (0..a.nrows()).step_by(ROWS) {
                    let to = (from + ROWS).min(a.nrows());
                    for j in 0..a.ncols() {
                        (from..to).for_each(|i| visit(i, j, a[(i, j)]));
                    }
                }
            }
            Self::Sparse(rows) => {
                for i in 0..rows.len() {
                    let (indices, values) = rows.row(i);
                    indices.iter().zip(values).for_each(|(j, v)| visit(i, *j, *v));
                }
            }
        }
    }

    /// Rows `from..from + block.rows` in the frames of their columns, row i times `roots[i]`, behind a column of the
    /// roots.
    pub(super) fn fill(&self, from: usize, roots: &[f64], frames: &[Frame], block: &mut Block) {
        let rows = block.rows;
        let (ones, values) = block.values.split_at_mut(rows);
        ones.copy_from_slice(&roots[from..from + rows]);
        match self {
            Self::Dense(a) => {
                for (j, column) in values.chunks_exact_mut(rows).take(a.ncols()).enumerate() {
                    let (shift, factor) = (frames[j].shift, frames[j].factor());
                    for (i, out) in column.iter_mut().enumerate() {
                        *out = (a[(from + i, j)] - shift) * factor * roots[from + i];
                    }
                }
            }
            Self::Sparse(sparse) => {
                for (column, frame) in values.chunks_exact_mut(rows).zip(frames) {
                    let zero = -frame.shift * frame.factor();
                    column.iter_mut().zip(&*ones).for_each(|(out, root)| *out = zero * root);
                }
                for i in 0..rows {
                    let (indices, stored) = sparse.row(from + i);
                    for (j, v) in indices.iter().zip(stored) {
                        let frame = &frames[*j];
                        values[j * rows + i] = (v - frame.shift) * frame.factor() * roots[from + i];
                    }
                }
            }
        }
    }

    /// All entries, times the roots of their rows, finite and at most `most` in size.
    pub(super) fn check(&self, roots: &[f64], most: f64, place: &str) -> Result<(), DataError> {
        let bad = |i: usize, v: f64| !v.is_finite() || (v * roots[i]).abs() > most;
        let found = match self {
            Self::Dense(a) => (0..a.ncols()).find_map(|j| {
                let i = (0..a.nrows()).find(|i| bad(*i, a[(*i, j)]))?;
                Some((i, j, a[(i, j)]))
            }),
            Self::Sparse(rows) => (0..rows.len()).find_map(|i| {
                let (indices, values) = rows.row(i);
                let at = values.iter().position(|v| bad(i, *v))?;
                Some((i, indices[at], values[at]))
            }),
        };
        let Some((row, column, value)) = found else { return Ok(()) };
        let (place, row, column) = (place.to_string(), row + 1, column + 1);
        Err(match value.is_finite() {
            false => DataError::NotFinite { place, row, column, value },
            true => {
                let problem = format!(
                    "the value {value:e} in row {row}, column {column} (counted from 1) is, with its weight, beyond \
                     {most:e}, the largest value that these sums can hold; scale the column"
                );
                DataError::TooLarge { place, problem }
            }
        })
    }
}

impl Rows<'_> {
    /// The range of each column, over the rows that have a weight.
    pub(crate) fn ranges(&self, roots: &[f64]) -> Vec<Range> {
        let mut found = vec![(Range::EMPTY, 0); self.columns()];
        self.visit(|i, j, v| {
            if roots[i] > 0.0 {
                found[j].0.include(v);
                found[j].1 += 1;
            }
        });
        let rows = roots.iter().filter(|root| **root > 0.0).count();
        let with_zeros = |(mut range, seen): (Range, usize)| {
            if seen < rows {
                range.include(0.0);
            }
            range
        };
        found.into_iter().map(with_zeros).collect()
    }

    /// Mean and standard deviation of each column of rows of this total weight, whose ranges are given. The mean is as
    /// exact as its distance from the lowest value, both lie in the range.
    pub(crate) fn moments(&self, roots: &[f64], ranges: &[Range], total: f64) -> Vec<(f64, f64)> {
        // weights that were seen, and sums: of zeros that are not stored the rest of the weight is
        let mut seen = vec![(0.0, 0.0); self.columns()];
        self.visit(|i, j, v| {
            let weight = roots[i] * roots[i];
            seen[j].0 += weight;
            seen[j].1 += weight * (v - ranges[j].low);
        });
        let absent = |weight: f64| (total - weight).max(0.0);
        let means: Vec<f64> = (seen.iter().zip(ranges))
            .map(|((weight, sum), range)| {
                let mean = range.low + (sum - absent(*weight) * range.low) / total;
                mean.clamp(range.low, range.high.max(range.low))
            })
            .collect();
        let factors: Vec<f64> = ranges.iter().map(|range| size_of(*range)).collect();
        let mut squares = vec![0.0; self.columns()];
        self.visit(|i, j, v| squares[j] += (roots[i] * ((v - means[j]) / factors[j])).powi(2));
        let spread = |j: usize| {
            let zeros = absent(seen[j].0) * (means[j] / factors[j]).powi(2);
            let spread = factors[j] * ((squares[j] + zeros) / total).sqrt();
            if ranges[j].is_constant() { 0.0 } else { spread }
        };
        (0..means.len()).map(|j| (means[j], spread(j))).collect()
    }
}
