//! Building compressed columns from entries in any order.

use faer::sparse::{SparseColMat, SymbolicSparseColMat};

use crate::error::DataError;
use crate::memory::Budget;

/// Entries of a sparse matrix as they come, positions counted from 0.
#[derive(Default)]
pub(crate) struct Triplets {
    rows: Vec<usize>,
    cols: Vec<usize>,
    values: Vec<f64>,
}

impl Triplets {
    /// Room for `entries`, but not for more than a file that is read in a moment could hold:
    /// the number may come from a header that is wrong.
    pub(crate) fn with_declared(entries: usize) -> Self {
        let room = entries.min(1 << 16);
        Self {
            rows: Vec::with_capacity(room),
            cols: Vec::with_capacity(room),
            values: Vec::with_capacity(room),
        }
    }

    pub(crate) fn push(&mut self, row: usize, col: usize, value: f64) {
        self.rows.push(row);
        self.cols.push(col);
        self.values.push(value);
    }

    /// Bytes that the entries take, and will take when they are sorted and compressed.
    pub(crate) fn bytes(&self) -> usize {
        24 * self.values.capacity() + 40 * self.values.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Compressed rows of the rows `first..first + rows`, in which all entries are: starts, columns and values.
    /// Entries at the same position are summed, zeros are dropped.
    pub(crate) fn into_rows(self, first: usize, rows: usize) -> (Vec<usize>, Vec<usize>, Vec<f64>) {
        let mut order: Vec<usize> = (0..self.len()).collect();
        let key = |at: &usize| (self.rows[*at], self.cols[*at]);
        if !order.is_sorted_by_key(key) {
            order.sort_by_key(key); // stable: sums do not depend on anything but the file
        }
        let (mut starts, mut cols, mut values) = (vec![0], Vec::new(), Vec::<f64>::new());
        let mut at = 0;
        for row in first..first + rows {
            while at < order.len() && self.rows[order[at]] == row {
                let (col, mut value) = (self.cols[order[at]], 0.0);
                while at < order.len() && key(&order[at]) == (row, col) {
                    value += self.values[order[at]];
                    at += 1;
                }
                if value != 0.0 {
                    cols.push(col);
                    values.push(value);
                }
            }
            starts.push(values.len());
        }
        (starts, cols, values)
    }

    /// Compressed columns; entries at the same position are summed, zeros are dropped. Positions
    /// must be inside the matrix. Two counting sorts: time and memory linear in entries and sizes.
    pub(crate) fn into_matrix(self, nrows: usize, ncols: usize) -> SparseColMat<usize, f64> {
        let by_row =
            if self.rows.is_sorted() { self } else { self.sorted_by(nrows, |entries| &entries.rows) };
        let col_ptr = starts(&by_row.cols, ncols);
        let sorted = by_row.sorted_by(ncols, |entries| &entries.cols);
        merged(nrows, col_ptr, sorted.rows, sorted.values)
    }

    /// Stable sort by one of the positions, which is below `size`.
    fn sorted_by(&self, size: usize, key: impl Fn(&Self) -> &[usize]) -> Self {
        let keys = key(self);
        let mut next = starts(keys, size);
        let mut sorted =
            Self { rows: vec![0; self.len()], cols: vec![0; self.len()], values: vec![0.0; self.len()] };
        for (from, &key) in keys.iter().enumerate() {
            let to = next[key];
            next[key] += 1;
            sorted.rows[to] = self.rows[from];
            sorted.cols[to] = self.cols[from];
            sorted.values[to] = self.values[from];
        }
        sorted
    }
}

/// Start of the group of each key in sorted order, and the total at the end.
fn starts(keys: &[usize], size: usize) -> Vec<usize> {
    let mut starts = vec![0; size + 1];
    for &key in keys {
        starts[key + 1] += 1;
    }
    for key in 0..size {
        starts[key + 1] += starts[key];
    }
    starts
}

/// Compressed rows or columns as files have them: places in any order, the same one more than once, zeros.
pub(crate) struct Compressed {
    /// Start of each row (or column), and the number of entries.
    pub(crate) starts: Vec<usize>,
    /// The column (or row) of each entry.
    pub(crate) places: Vec<u32>,
    pub(crate) values: Vec<f64>,
}

impl Compressed {
    /// Bytes that an entry takes while it is brought into order.
    pub(crate) const BYTES: usize = 20;

    /// Compressed columns of compressed rows; entries at the same position are summed, zeros are dropped. Places must be below
    /// `ncols`. Time and memory are linear in entries and sizes.
    pub(crate) fn rows_into_matrix(self, ncols: usize) -> SparseColMat<usize, f64> {
        let nrows = self.starts.len() - 1;
        let (starts, rows, values) = self.transposed(ncols, |row| row);
        merged(nrows, starts, rows, values)
    }

    /// The matrix of compressed columns; entries at the same position are summed, zeros are dropped. Places must be
    /// below `nrows`.
    pub(crate) fn columns_into_matrix(self, nrows: usize) -> SparseColMat<usize, f64> {
        let ncols = self.starts.len() - 1;
        if self.starts.windows(2).all(|range| self.places[range[0]..range[1]].is_sorted()) {
            let rows = self.places.iter().map(|row| *row as usize).collect();
            return merged(nrows, self.starts, rows, self.values);
        }
        let (starts, places, values) = self.transposed(nrows, |column| column as u32);
        Self { starts, places, values }.rows_into_matrix(ncols)
    }

    /// The other way round; what has the same place keeps its order. Values first, so that those that have been moved are gone before there are
    /// places for them.
    fn transposed<I: Copy + Default>(
        self,
        size: usize,
        kept: impl Fn(usize) -> I,
    ) -> (Vec<usize>, Vec<I>, Vec<f64>) {
        let Self { starts: own, places, values } = self;
        let mut starts = vec![0; size + 1];
        places.iter().for_each(|place| starts[*place as usize + 1] += 1);
        (0..size).for_each(|place| starts[place + 1] += starts[place]);
        let values = {
            let before = values;
            moved(&starts, &places, |at| before[at])
        };
        let mut outer = 0;
        let kept = moved(&starts, &places, |at| {
            while own[outer + 1] <= at {
                outer += 1;
            }
            kept(outer)
        });
        (starts, kept, values)
    }
}

/// Values `of` the entries, sorted into the groups that begin at `starts`; entries of a group keep their order.
fn moved<T: Copy + Default>(starts: &[usize], places: &[u32], mut of: impl FnMut(usize) -> T) -> Vec<T> {
    let (mut next, mut out) = (starts.to_vec(), vec![T::default(); places.len()]);
    for (at, place) in places.iter().enumerate() {
        let to = &mut next[*place as usize];
        out[*to] = of(at);
        *to += 1;
    }
    out
}

/// Sums neighbours of the same row within each column and drops what is zero, in place.
fn merged(
    nrows: usize,
    mut col_ptr: Vec<usize>,
    mut rows: Vec<usize>,
    mut values: Vec<f64>,
) -> SparseColMat<usize, f64> {
    let ncols = col_ptr.len() - 1;
    let (mut from, mut to) = (0, 0);
    for column in 0..ncols {
        let end = col_ptr[column + 1];
        while from < end {
            let (row, mut value) = (rows[from], 0.0);
            while from < end && rows[from] == row {
                value += values[from];
                from += 1;
            }
            if value != 0.0 {
                (rows[to], values[to]) = (row, value);
                to += 1;
            }
        }
        col_ptr[column + 1] = to;
    }
    rows.truncate(to);
    values.truncate(to);
    SparseColMat::new(SymbolicSparseColMat::new_checked(nrows, ncols, col_ptr, None, rows), values)
}

/// Compressed columns, filled column by column with rows increasing.
pub(crate) struct Columns {
    nrows: usize,
    col_ptr: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<f64>,
}

impl Columns {
    pub(crate) fn new(nrows: usize, entries: usize) -> Self {
        Self {
            nrows,
            col_ptr: vec![0],
            rows: Vec::with_capacity(entries),
            values: Vec::with_capacity(entries),
        }
    }

    pub(crate) fn push(&mut self, row: usize, value: f64) {
        self.rows.push(row);
        self.values.push(value);
    }

    pub(crate) fn end_column(&mut self) {
        self.col_ptr.push(self.rows.len());
    }

    pub(crate) fn finish(self) -> SparseColMat<usize, f64> {
        let ncols = self.col_ptr.len() - 1;
        let pattern = SymbolicSparseColMat::new_checked(self.nrows, ncols, self.col_ptr, None, self.rows);
        SparseColMat::new(pattern, self.values)
    }
}

/// Refuses sizes that the entries present do not justify, or that memory does not: storage grows with the
/// number of columns (and of rows) even when all of them are empty, and one wrong digit must not cost
/// gigabytes.
pub(crate) fn check_size(
    budget: &Budget,
    nrows: usize,
    ncols: usize,
    entries: usize,
) -> Result<(), DataError> {
    let largest = entries.saturating_mul(8).max(1 << 24);
    for (size, what) in [(nrows, "rows"), (ncols, "columns")] {
        if size > largest {
            let problem = format!(
                "a sparse matrix with {size} {what} but only {entries} entries is refused \
                 (at most {largest} for so few); check the sizes or indices"
            );
            return Err(DataError::TooLarge { place: budget.place().into(), problem });
        }
    }
    // positions and values, and the starts of rows and columns while they are sorted
    let sizes = nrows.saturating_add(ncols.saturating_mul(2));
    budget.check(entries.saturating_mul(16).saturating_add(sizes.saturating_mul(8)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_order_duplicates_and_zeros() {
        let mut entries = Triplets::default();
        for (row, col, value) in
            [(2, 1, 5.0), (0, 1, 1.0), (2, 1, -2.0), (1, 0, 4.0), (1, 2, 7.0), (1, 2, -7.0)]
        {
            entries.push(row, col, value);
        }
        let matrix = entries.into_matrix(3, 4);
        assert_eq!(matrix.col_ptr(), [0, 1, 3, 3, 3]);
        assert_eq!(matrix.row_idx(), [1, 0, 2]);
        assert_eq!(matrix.val(), [4.0, 1.0, 3.0]);
    }

    /// Triplets are the slow twin of arrays that are compressed one way or the other.
    #[test]
    fn compressed_either_way() {
        let (nrows, ncols) = (4, 5);
        let entries = [
            (2, 1, 5.0),
            (0, 4, 1.0),
            (2, 1, -2.0),
            (1, 0, 4.0),
            (1, 2, 7.0),
            (1, 2, -7.0),
            (3, 4, 0.0),
            (0, 1, 0.1),
            (0, 1, 0.2),
            (0, 1, 0.3),
        ];
        let mut triplets = Triplets::default();
        entries.iter().for_each(|(row, col, value)| triplets.push(*row, *col, *value));
        let expected = triplets.into_matrix(nrows, ncols);
        let compressed = |outer: usize, by_rows: bool| {
            let key = |entry: &(usize, usize, f64)| {
                if by_rows { (entry.0, entry.1) } else { (entry.1, entry.0) }
            };
            let mut all = Compressed { starts: vec![0], places: vec![], values: vec![] };
            for place in 0..outer {
                for entry in entries.iter().filter(|entry| key(entry).0 == place) {
                    all.places.push(key(entry).1 as u32);
                    all.values.push(entry.2);
                }
                all.starts.push(all.values.len());
            }
            all
        };
        let by_rows = compressed(nrows, true).rows_into_matrix(ncols);
        let by_columns = compressed(ncols, false).columns_into_matrix(nrows);
        for found in [by_rows, by_columns] {
            assert_eq!((found.nrows(), found.ncols()), (nrows, ncols));
            assert_eq!(found.col_ptr(), expected.col_ptr());
            assert_eq!(found.row_idx(), expected.row_idx());
            assert_eq!(found.val(), expected.val());
        }
    }

    #[test]
    fn sizes_need_entries() {
        let budget = |bytes| Budget::new("f", Some(bytes));
        assert!(check_size(&budget(1 << 30), 1 << 24, 10, 0).is_ok());
        assert!(check_size(&budget(1 << 30), 10, 30_000_000, 5_000_000).is_ok());
        let error = check_size(&budget(1 << 40), 3, 1 << 40, 7).unwrap_err().to_string();
        assert!(error.contains("1099511627776 columns but only 7 entries"), "{error}");
        let error = check_size(&budget(1 << 20), 3, 1 << 24, 7).unwrap_err().to_string();
        assert!(error.starts_with("f: at least 268 MB of memory"), "{error}");
    }
}
