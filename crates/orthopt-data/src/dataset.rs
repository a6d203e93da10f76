//! Result of a reader or generator: a matrix with its names, labels and source.

use faer::Mat;
use faer::sparse::SparseColMat;

use crate::error::DataError;
use crate::memory::Budget;
use crate::sparse::Columns;
use crate::table::HowRead;

/// The most entries a dense matrix may have when its size comes from a specification or from a
/// sparse file rather than from numbers that were read: 2³¹, which is 17 GB.
pub const MAX_DENSE_ENTRIES: usize = 1 << 31;

/// A data matrix: rows are samples, columns are variables.
#[derive(Clone, Debug)]
pub enum Matrix {
    /// All entries stored.
    Dense(Mat<f64>),
    /// Compressed columns. Readers and generators store no zeros and no duplicates.
    Sparse(SparseColMat<usize, f64>),
}

impl Matrix {
    /// Number of rows (samples).
    pub fn nrows(&self) -> usize {
        match self {
            Self::Dense(dense) => dense.nrows(),
            Self::Sparse(sparse) => sparse.nrows(),
        }
    }

    /// Number of columns (variables).
    pub fn ncols(&self) -> usize {
        match self {
            Self::Dense(dense) => dense.ncols(),
            Self::Sparse(sparse) => sparse.ncols(),
        }
    }

    /// Number of entries that are not zero (stored zeros are not counted).
    pub fn nnz(&self) -> usize {
        let nonzeros = |values: &[f64]| values.iter().filter(|value| **value != 0.0).count();
        (0..self.ncols()).map(|j| nonzeros(self.stored_column(j))).sum()
    }

    /// True if the storage is sparse.
    pub fn is_sparse(&self) -> bool {
        matches!(self, Self::Sparse(_))
    }

    /// A dense copy.
    ///
    /// # Panics
    /// When memory does not suffice. For a size that comes from outside use
    /// [`try_to_dense`](Self::try_to_dense).
    pub fn to_dense(&self) -> Mat<f64> {
        match self {
            Self::Dense(dense) => dense.clone(),
            Self::Sparse(sparse) => sparse.to_dense(),
        }
    }

    /// A dense copy, or [`DataError::TooLarge`] when it would have more than
    /// [`MAX_DENSE_ENTRIES`] entries or memory does not suffice; `place` names the data in the
    /// message.
    pub fn try_to_dense(&self, place: &str) -> Result<Mat<f64>, DataError> {
        let mut dense = zeros(&Budget::new(place, None), self.nrows(), self.ncols())?;
        for j in 0..self.ncols() {
            let column = dense.col_as_slice_mut(j);
            match self {
                Self::Dense(from) => column.copy_from_slice(from.col_as_slice(j)),
                Self::Sparse(from) => {
                    for (i, value) in from.row_idx_of_col(j).zip(from.val_of_col(j)) {
                        column[i] += value;
                    }
                }
            }
        }
        Ok(dense)
    }

    /// The mean of each column; absent entries of a sparse matrix count as zeros.
    pub fn column_means(&self) -> Vec<f64> {
        let rows = self.nrows() as f64;
        (0..self.ncols()).map(|j| self.stored_column(j).iter().sum::<f64>() / rows).collect()
    }

    /// The values stored for a column: all of them, or those of its sparse entries.
    pub(crate) fn stored_column(&self, j: usize) -> &[f64] {
        match self {
            Self::Dense(dense) => dense.col_as_slice(j),
            Self::Sparse(sparse) => sparse.val_of_col(j),
        }
    }

    /// Calls `visit` with the columns and values of the non-zeros of each row, in order.
    pub(crate) fn for_each_sparse_row<E: From<std::io::Error>>(
        &self,
        mut visit: impl FnMut(&[usize], &[f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut cols, mut values) = (Vec::new(), Vec::new());
        let mut gather = |entries: &mut dyn Iterator<Item = (usize, f64)>| {
            cols.clear();
            values.clear();
            for (j, value) in entries.filter(|entry| entry.1 != 0.0) {
                cols.push(j);
                values.push(value);
            }
            visit(&cols, &values)
        };
        match self {
            Self::Dense(dense) => {
                for i in 0..dense.nrows() {
                    gather(&mut (0..dense.ncols()).map(|j| (j, dense[(i, j)])))?;
                }
            }
            Self::Sparse(sparse) => {
                let by_row =
                    sparse.to_row_major().map_err(|error| std::io::Error::other(format!("{error:?}")))?;
                for i in 0..by_row.nrows() {
                    let values = by_row.val_of_row(i).iter().copied();
                    gather(&mut by_row.col_idx_of_row(i).zip(values))?;
                }
            }
        }
        Ok(())
    }

    /// Calls `visit` with all entries of each row, in order, holding one dense row at a time.
    pub(crate) fn for_each_dense_row<E: From<std::io::Error>>(
        &self,
        mut visit: impl FnMut(&[f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut row = vec![0.0; self.ncols()];
        if let Self::Dense(dense) = self {
            // Not through the non-zeros: that would turn -0.0 into 0.0.
            for i in 0..dense.nrows() {
                for (j, value) in row.iter_mut().enumerate() {
                    *value = dense[(i, j)];
                }
                visit(&row)?;
            }
            return Ok(());
        }
        self.for_each_sparse_row(|cols, values| {
            row.fill(0.0);
            for (&j, &value) in cols.iter().zip(values) {
                row[j] = value;
            }
            visit(&row)
        })
    }
}

impl From<Mat<f64>> for Matrix {
    fn from(dense: Mat<f64>) -> Self {
        Self::Dense(dense)
    }
}

impl From<SparseColMat<usize, f64>> for Matrix {
    fn from(sparse: SparseColMat<usize, f64>) -> Self {
        Self::Sparse(sparse)
    }
}

/// Role of the matrix of a [`DataSet`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// Samples A: one per row; the problems use C = AᵀA.
    Samples,
    /// The matrix is C itself, as in `builtin:pitprops`.
    Gram,
}

/// A data matrix with what its source says about it.
#[derive(Clone, Debug)]
pub struct DataSet {
    /// The numbers: rows are samples, columns are variables.
    pub matrix: Matrix,
    /// Names of the columns, where the source has them.
    pub names: Option<Vec<String>>,
    /// Names of the rows, where the source has them.
    pub row_names: Option<Vec<String>>,
    /// Entries that were missing in the source and have been filled in, or dropped with their rows.
    pub missing: usize,
    /// One label per row, where the source has them (LIBSVM, or `y` in an `.npz`).
    pub labels: Option<Vec<f64>>,
    /// One label per row in words, where they were asked for ([`TableOptions::labels`](crate::TableOptions::labels)).
    pub groups: Option<Vec<String>>,
    /// One weight per row, finite and at least 0: the row counts as so many.
    pub weights: Option<Vec<f64>>,
    /// The true components (columns × components, orthonormal) of generated data that has them.
    pub truth: Option<Mat<f64>>,
    /// Role of the matrix: samples, or C itself.
    pub role: Role,
    /// Facts about the reading of the file.
    pub how: HowRead,
    /// Source of the data: the path as it was typed, or the specification with its seed.
    pub source: String,
}

impl DataSet {
    /// Samples without names, labels or known components.
    pub fn new(matrix: impl Into<Matrix>, source: impl Into<String>) -> Self {
        Self {
            matrix: matrix.into(),
            names: None,
            row_names: None,
            missing: 0,
            labels: None,
            groups: None,
            weights: None,
            truth: None,
            role: Role::Samples,
            how: HowRead::default(),
            source: source.into(),
        }
    }

    /// One sentence about the table: its size, and how it was read.
    pub fn sentence(&self) -> String {
        self.how.sentence(self.matrix.nrows(), self.matrix.ncols(), self.role == Role::Gram)
    }

    /// The data set with these of its rows, in this order.
    pub(crate) fn with_rows(mut self, rows: &[usize]) -> Self {
        self.matrix = match &self.matrix {
            Matrix::Dense(a) => Mat::from_fn(rows.len(), a.ncols(), |i, j| a[(rows[i], j)]).into(),
            Matrix::Sparse(a) => {
                let mut at = vec![None; a.nrows()];
                rows.iter().enumerate().for_each(|(new, old)| at[*old] = Some(new));
                let mut kept = Columns::new(rows.len(), a.compute_nnz());
                for j in 0..a.ncols() {
                    let entries = a.row_idx_of_col(j).zip(a.val_of_col(j));
                    entries.for_each(|(i, value)| {
                        if let Some(i) = at[i] {
                            kept.push(i, *value);
                        }
                    });
                    kept.end_column();
                }
                kept.finish().into()
            }
        };
        fn chosen<T: Clone>(all: Option<Vec<T>>, rows: &[usize]) -> Option<Vec<T>> {
            all.map(|all| rows.iter().map(|i| all[*i].clone()).collect())
        }
        self.row_names = chosen(self.row_names, rows);
        self.labels = chosen(self.labels, rows);
        self.groups = chosen(self.groups, rows);
        self.weights = chosen(self.weights, rows);
        self
    }

    /// The data set with these of its columns, in this order. The true components, which are not orthonormal
    /// any more, are dropped.
    ///
    /// # Panics
    /// There is no such column.
    #[must_use]
    pub fn selected(self, columns: &[usize]) -> Self {
        let rows = self.matrix.nrows();
        let matrix = match &self.matrix {
            Matrix::Dense(a) => Mat::from_fn(rows, columns.len(), |i, k| a[(i, columns[k])]).into(),
            Matrix::Sparse(a) => {
                let mut kept = Columns::new(rows, 0);
                for &j in columns {
                    let entries = a.row_idx_of_col(j).zip(a.val_of_col(j));
                    entries.for_each(|(i, value)| kept.push(i, *value));
                    kept.end_column();
                }
                kept.finish().into()
            }
        };
        let names = self.names.map(|names| columns.iter().map(|j| names[*j].clone()).collect());
        Self { matrix, names, truth: None, ..self }
    }

    /// Requirements on every reader: at least one row and column, and finite values. Readers of
    /// text have named the line of a bad value before this looks.
    pub(crate) fn checked(self) -> Result<Self, DataError> {
        let (rows, columns) = (self.matrix.nrows(), self.matrix.ncols());
        if rows == 0 || columns == 0 {
            return Err(DataError::Empty { place: self.source, rows, columns });
        }
        for j in 0..columns {
            let values = self.matrix.stored_column(j);
            let Some(at) = values.iter().position(|value| !value.is_finite()) else {
                continue;
            };
            let row = match &self.matrix {
                Matrix::Dense(_) => at,
                Matrix::Sparse(sparse) => sparse.row_idx_of_col_raw(j)[at],
            };
            let (row, column, value) = (row + 1, j + 1, values[at]);
            return Err(DataError::NotFinite { place: self.source, row, column, value });
        }
        Ok(self)
    }
}

/// A dense matrix of zeros, or an error when it would be too large.
pub(crate) fn zeros(budget: &Budget, nrows: usize, ncols: usize) -> Result<Mat<f64>, DataError> {
    let too_large = |limit: &str| {
        let gigabytes = nrows as f64 * ncols as f64 * 8e-9;
        let problem = format!("a dense {nrows} x {ncols} matrix takes {gigabytes:.1} GB, {limit}");
        DataError::TooLarge { place: budget.place().into(), problem }
    };
    if nrows.checked_mul(ncols).is_none_or(|entries| entries > MAX_DENSE_ENTRIES) {
        return Err(too_large("more than the 17 GB that are allowed"));
    }
    budget.check(8 * nrows * ncols)?;
    let mut matrix = Mat::new();
    matrix.try_reserve(nrows, ncols).map_err(|_| too_large("more than this machine has free"))?;
    matrix.resize_with(nrows, ncols, |_, _| 0.0);
    Ok(matrix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::Triplets;

    fn example() -> (Mat<f64>, Matrix, Matrix) {
        let dense = faer::mat![[1.0, 0.0, -2.0], [0.0, 0.0, 4.0]];
        let mut entries = Triplets::default();
        for (i, j) in [(0, 0), (0, 2), (1, 2)] {
            entries.push(i, j, dense[(i, j)]);
        }
        (dense.clone(), dense.into(), entries.into_matrix(2, 3).into())
    }

    #[test]
    fn both_storages_answer_alike() {
        let (expected, dense, sparse) = example();
        for matrix in [&dense, &sparse] {
            assert_eq!((matrix.nrows(), matrix.ncols(), matrix.nnz()), (2, 3, 3));
            assert_eq!(matrix.to_dense(), expected);
            assert_eq!(matrix.try_to_dense("x").unwrap(), expected);
            assert_eq!(matrix.column_means(), [0.5, 0.0, 1.0]);
        }
        assert!(sparse.is_sparse() && !dense.is_sparse());
    }

    #[test]
    fn rows_come_in_order() {
        let (_, dense, sparse) = example();
        for matrix in [dense, sparse] {
            let (mut rows, mut entries) = (Vec::new(), Vec::new());
            let gather = matrix.for_each_dense_row(|row| {
                rows.push(row.to_vec());
                std::io::Result::Ok(())
            });
            gather.unwrap();
            let gather = matrix.for_each_sparse_row(|cols, values| {
                entries.push((cols.to_vec(), values.to_vec()));
                std::io::Result::Ok(())
            });
            gather.unwrap();
            assert_eq!(rows, [vec![1.0, 0.0, -2.0], vec![0.0, 0.0, 4.0]]);
            assert_eq!(entries, [(vec![0, 2], vec![1.0, -2.0]), (vec![2], vec![4.0])]);
        }
    }

    #[test]
    fn a_dense_copy_is_not_forced_into_memory() {
        let empty = Triplets::default().into_matrix(1 << 20, 1 << 20);
        let error = Matrix::from(empty).try_to_dense("big.mtx").unwrap_err().to_string();
        assert!(error.starts_with("big.mtx: a dense 1048576 x 1048576 matrix takes"), "{error}");
    }

    #[test]
    fn what_is_public_crosses_threads() {
        fn check<T: Send + Sync>() {}
        check::<DataSet>();
        check::<DataError>();
    }
}
