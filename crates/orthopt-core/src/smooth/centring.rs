//! Centred dense data without a centred copy of them.

use faer::{Mat, MatRef};

use orthopt_linalg::RowMat;
use orthopt_linalg::column_mean::{Column, ColumnMean};

/// The means of the columns of a dense A, to be subtracted where entries of A are read. Gives
/// the same numbers, bit by bit, as subtracting them from A beforehand, column by column.
///
/// A mean causes no loss of digits of C: the subtracted number has more digits than an f64 if they matter.
#[derive(Clone, Debug, PartialEq)]
pub struct Centring {
    means: Vec<f64>,
    columns: Vec<ColumnMean>,
}

impl Centring {
    /// The means of the columns of A. Reads A twice, in the order in which it is stored.
    pub fn of(a: MatRef<'_, f64>) -> Self {
        let rows = a.nrows() as f64;
        let mut columns = vec![Column::default(); a.ncols()];
        for_each(a, |_, j, v| columns[j].see(v));
        columns.iter_mut().for_each(|column| column.take_mean(rows));
        for_each(a, |_, j, v| columns[j].compare(v, 1.0));
        let columns: Vec<ColumnMean> = columns.iter().map(|column| column.finish(rows)).collect();
        Self { means: columns.iter().map(ColumnMean::value).collect(), columns }
    }

    /// The means.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// Entry `value` of column j, centred.
    #[inline(always)]
    pub fn apply(&self, j: usize, value: f64) -> f64 {
        self.columns[j].apply(value)
    }

    /// The sum of squares of each centred column: Cⱼⱼ.
    pub fn squares(&self, a: MatRef<'_, f64>) -> Vec<f64> {
        let mut squares = vec![0.0; a.ncols()];
        for_each(a, |_, j, v| squares[j] += self.apply(j, v).powi(2));
        squares
    }

    /// A centred copy.
    pub fn copy(&self, a: MatRef<'_, f64>) -> Mat<f64> {
        Mat::from_fn(a.nrows(), a.ncols(), |i, j| self.apply(j, a[(i, j)]))
    }
}

/// Calls `visit` with row, column and value of every entry, rows first or columns first as A is
/// stored; the order within a column is by row in either case.
pub fn for_each(a: MatRef<'_, f64>, mut visit: impl FnMut(usize, usize, f64)) {
    let by_rows = a.col_stride().unsigned_abs() < a.row_stride().unsigned_abs();
    let (outer, inner) = if by_rows { (a.nrows(), a.ncols()) } else { (a.ncols(), a.nrows()) };
    for p in 0..outer {
        for q in 0..inner {
            let (i, j) = if by_rows { (p, q) } else { (q, p) };
            visit(i, j, a[(i, j)]);
        }
    }
}

/// Some rows of A, centred if asked for, with contiguous columns: products of it do not depend
/// on how A is stored.
pub(super) fn slab(a: MatRef<'_, f64>, centring: Option<&Centring>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), a.ncols());
    for_each(a, |i, j, v| out[(i, j)] = centring.map_or(v, |c| c.apply(j, v)));
    out
}

/// Aᵀ, centred if asked for, a variable in each row.
pub(super) fn transposed(a: MatRef<'_, f64>, centring: Option<&Centring>) -> RowMat {
    let mut out = RowMat::zeros(a.ncols(), a.nrows());
    for_each(a, |i, j, v| out.set(j, i, centring.map_or(v, |c| c.apply(j, v))));
    out
}
