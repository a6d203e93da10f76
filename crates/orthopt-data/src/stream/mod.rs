//! Data part by part: files that need not fit memory, several of them, and patterns of their names.

mod accumulate;
mod archive;
mod moments;
mod names;
mod parts;

use std::path::PathBuf;

use faer::Mat;

pub use accumulate::{Accumulate, Accumulated, accumulate};
pub use archive::{read_accumulator, write_accumulator};
pub use names::files;
pub(crate) use names::fits;
pub use parts::{Parts, Step};

use crate::dataset::{DataSet, Matrix};
use crate::error::DataError;
use crate::gram::{Rows, SparseRows};
use crate::sparse::Triplets;
use crate::table::HowRead;

/// Default size of a chunk in numbers: 64 MB.
pub const CHUNK: usize = 1 << 23;

/// Rows of a file, chunk by chunk.
pub(crate) trait Chunks {
    /// The next rows, with about `numbers` numbers (entries of sparse rows), and at least one
    /// row; `None` at the end.
    fn next(&mut self, numbers: usize) -> Result<Option<Chunk>, DataError>;

    /// Names of the columns, where there are some; known with the first chunk.
    fn names(&self) -> Option<Vec<String>> {
        None
    }

    /// Facts about the reading of the file, if they decide which columns there are; known with the first chunk. If
    /// `None`, the receiver of the chunks selects columns.
    fn how(&self) -> Option<&HowRead> {
        None
    }

    /// Bytes of the file read so far.
    fn bytes(&self) -> u64;

    /// True if later chunks may have more columns.
    fn grows(&self) -> bool {
        false
    }
}

/// Rows that follow each other.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Number of rows of the file before this chunk.
    pub first: usize,
    columns: usize,
    body: Body,
    weights: Option<Vec<f64>>,
}

#[derive(Clone, Debug)]
enum Body {
    Dense(Mat<f64>),
    Sparse { starts: Vec<usize>, indices: Vec<usize>, values: Vec<f64> },
}

impl Chunk {
    pub(crate) fn new(first: usize, rows: Mat<f64>) -> Self {
        Self { first, columns: rows.ncols(), body: Body::Dense(rows), weights: None }
    }

    /// Entries of the rows `first..first + rows`.
    pub(crate) fn sparse(first: usize, rows: usize, columns: usize, entries: Triplets) -> Self {
        let (starts, indices, values) = entries.into_rows(first, rows);
        Self { first, columns, body: Body::Sparse { starts, indices, values }, weights: None }
    }

    /// The chunk with a weight for each row.
    pub(crate) fn weighted(self, weights: Vec<f64>) -> Self {
        Self { weights: Some(weights), ..self }
    }

    /// The weights of the rows, where they have some.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The values of a column.
    pub(crate) fn column(&self, j: usize) -> Vec<f64> {
        let mut column = vec![0.0; self.rows().len()];
        self.rows().visit(|i, k, value| {
            if k == j {
                column[i] = value;
            }
        });
        column
    }

    /// The chunk with the rows transformed entry by entry; those that are not stored are 0 and stay.
    pub(crate) fn mapped(mut self, map: impl Fn(f64) -> f64) -> Self {
        match &mut self.body {
            Body::Dense(rows) => {
                (0..rows.ncols())
                    .for_each(|j| rows.col_as_slice_mut(j).iter_mut().for_each(|v| *v = map(*v)));
            }
            Body::Sparse { values, .. } => values.iter_mut().for_each(|v| *v = map(*v)),
        }
        self
    }

    /// As it is added to sums.
    pub fn rows(&self) -> Rows<'_> {
        match &self.body {
            Body::Dense(rows) => Rows::Dense(rows.as_ref()),
            Body::Sparse { starts, indices, values } => {
                Rows::Sparse(SparseRows::trusted(self.columns, starts, indices, values))
            }
        }
    }

    /// The chunk with more columns, of zeros, for sparse rows.
    pub(crate) fn widened(self, columns: usize) -> Self {
        match self.body {
            Body::Sparse { .. } => Self { columns: columns.max(self.columns), ..self },
            Body::Dense(_) => self,
        }
    }

    /// The chunk with these of its columns, in this order; `at` is where each column goes, if anywhere. Of sparse rows there
    /// may be less columns than are known.
    pub(crate) fn selected(&self, kept: &[usize], at: &[Option<usize>]) -> Self {
        let body = match &self.body {
            Body::Dense(rows) => {
                Body::Dense(Mat::from_fn(rows.nrows(), kept.len(), |i, k| rows[(i, kept[k])]))
            }
            Body::Sparse { starts, indices, values } => {
                let (mut new, mut columns, mut numbers) = (vec![0], Vec::new(), Vec::new());
                for range in starts.windows(2) {
                    for entry in range[0]..range[1] {
                        // columns beyond those that were there are zeros elsewhere
                        if let Some(k) = at.get(indices[entry]).copied().flatten() {
                            columns.push(k);
                            numbers.push(values[entry]);
                        }
                    }
                    new.push(columns.len());
                }
                Body::Sparse { starts: new, indices: columns, values: numbers }
            }
        };
        let columns = kept.partition_point(|j| *j < self.columns);
        Self { first: self.first, columns, body, weights: self.weights.clone() }
    }

    /// The chunk with these of its rows.
    pub(crate) fn with_rows(&self, kept: &[usize]) -> Self {
        let body = match &self.body {
            Body::Dense(rows) => {
                Body::Dense(Mat::from_fn(kept.len(), rows.ncols(), |i, j| rows[(kept[i], j)]))
            }
            Body::Sparse { starts, indices, values } => {
                let (mut new, mut columns, mut numbers) = (vec![0], Vec::new(), Vec::new());
                for i in kept {
                    columns.extend_from_slice(&indices[starts[*i]..starts[i + 1]]);
                    numbers.extend_from_slice(&values[starts[*i]..starts[i + 1]]);
                    new.push(columns.len());
                }
                Body::Sparse { starts: new, indices: columns, values: numbers }
            }
        };
        let weights = self.weights.as_ref().map(|all| kept.iter().map(|i| all[*i]).collect());
        Self { first: self.first, columns: self.columns, body, weights }
    }

    /// Without the rows that have a missing value; returns how many values were missing.
    pub(crate) fn complete(&mut self) -> usize {
        let Body::Dense(rows) = &mut self.body else { return 0 };
        let (m, n) = rows.shape();
        let missing = |i: usize| (0..n).filter(|j| rows[(i, *j)].is_nan()).count();
        let counts: Vec<usize> = (0..m).map(missing).collect();
        let total = counts.iter().sum();
        if total > 0 {
            let kept: Vec<usize> = (0..m).filter(|i| counts[*i] == 0).collect();
            *self = self.with_rows(&kept);
        }
        total
    }

    /// All values finite; the row is counted in the file.
    pub(crate) fn check(&self, place: &str) -> Result<(), DataError> {
        let error = |row: usize, column: usize, value: f64| {
            let row = self.first + row + 1;
            Err(DataError::NotFinite { place: place.into(), row, column: column + 1, value })
        };
        match &self.body {
            Body::Dense(rows) => {
                for j in 0..rows.ncols() {
                    if let Some(i) = rows.col_as_slice(j).iter().position(|v| !v.is_finite()) {
                        return error(i, j, rows[(i, j)]);
                    }
                }
            }
            Body::Sparse { starts, indices, values } => {
                if let Some(at) = values.iter().position(|v| !v.is_finite()) {
                    return error(starts.partition_point(|start| *start <= at) - 1, indices[at], values[at]);
                }
            }
        }
        Ok(())
    }
}

/// Name of all files together.
fn place(files: &[PathBuf]) -> String {
    match files {
        [] => "no file".into(),
        [only] => only.display().to_string(),
        [first, others @ ..] => format!("{} and {} more", first.display(), others.len()),
    }
}

/// A data set that is in memory, in chunks.
#[derive(Debug)]
pub(crate) struct Whole {
    matrix: Matrix,
    names: Option<Vec<String>>,
    weights: Option<Vec<f64>>,
    how: Option<HowRead>,
    next: usize,
    rows: Option<faer::sparse::SparseRowMat<usize, f64>>, // a sparse matrix by rows
}

impl Whole {
    pub(crate) fn new(data: DataSet) -> Self {
        let rows = match &data.matrix {
            Matrix::Dense(_) => None,
            Matrix::Sparse(matrix) => matrix.to_row_major().ok(),
        };
        let DataSet { matrix, names, weights, .. } = data;
        Self { matrix, names, weights, how: None, next: 0, rows }
    }

    /// A data set whose columns have been selected.
    pub(crate) fn arranged(data: DataSet) -> Self {
        let how = Some(data.how.clone());
        Self { how, ..Self::new(data) }
    }
}

impl Chunks for Whole {
    fn next(&mut self, numbers: usize) -> Result<Option<Chunk>, DataError> {
        let (first, left) = (self.next, self.matrix.nrows() - self.next);
        if left == 0 {
            return Ok(None);
        }
        let columns = self.matrix.ncols();
        let chunk = match (&self.matrix, &self.rows) {
            (Matrix::Dense(all), _) => {
                let rows = (numbers / columns).max(1).min(left);
                Chunk::new(first, all.subrows(first, rows).to_owned())
            }
            (_, None) => return Ok(None), // a sparse matrix always has its rows
            (_, Some(all)) => {
                let mut entries = Triplets::default();
                let mut last = first;
                while last < first + left && (last == first || entries.len() + last - first < numbers) {
                    let row = all.col_idx_of_row(last).zip(all.val_of_row(last));
                    row.for_each(|(j, v)| entries.push(last, j, *v));
                    last += 1;
                }
                Chunk::sparse(first, last - first, columns, entries)
            }
        };
        self.next += chunk.rows().len();
        let weights = self.weights.as_ref().map(|weights| weights[first..self.next].to_vec());
        Ok(Some(Chunk { weights, ..chunk }))
    }

    fn how(&self) -> Option<&HowRead> {
        self.how.as_ref()
    }

    fn names(&self) -> Option<Vec<String>> {
        self.names.clone()
    }

    fn bytes(&self) -> u64 {
        0
    }
}
