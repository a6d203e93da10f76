//! Products of sparse columns, and the rows of a matrix that is kept by columns, for products with vectors of few entries.

use orthopt_linalg::RowMat;
use orthopt_linalg::kernels::add_weighted_rows;
use orthopt_linalg::parallel::for_each_chunk;
use orthopt_linalg::work::count;

/// Cost of a multiplication with an entry found by its index, relative to one of a product.
pub(super) const SCATTERED: usize = 4;

/// Rows of a product that one task computes.
const TOGETHER: usize = 64;

/// S (m × n) by rows, a copy of its nonzeros made where it is first asked for: 10 bytes each up to 2¹⁶ columns, 12 beyond.
#[derive(Clone, Debug)]
pub(super) enum Rows {
    Narrow(RowsOf<u16>),
    Wide(RowsOf<u32>),
}

/// A column of a sparse matrix: row indices and values.
type Column<'a> = (&'a [u32], &'a [f64]);

/// Evaluates a call for rows of either width of index.
macro_rules! of_either {
    ($rows:expr, $own:ident => $call:expr) => {
        match $rows {
            Rows::Narrow($own) => $call,
            Rows::Wide($own) => $call,
        }
    };
}

impl Rows {
    /// Of n columns with m rows. Cost nnz(S).
    pub fn of<'a>(m: usize, n: usize, column: impl Fn(usize) -> Column<'a>) -> Self {
        match n <= 1 << 16 {
            true => Self::Narrow(RowsOf::of(m, n, column)),
            false => Self::Wide(RowsOf::of(m, n, column)),
        }
    }

    /// Number of pairs of entries in the same row.
    pub fn pairs(&self) -> usize {
        let pairs = |ptr: &[usize]| ptr.windows(2).map(|row| (row[1] - row[0]).pow(2)).sum();
        of_either!(self, rows => pairs(&rows.ptr))
    }

    /// out ← out + Σ v·S(i, j) for the rows i with a number v in a column, and the columns j from `first` on.
    pub fn add_rows_from(&self, first: usize, column: Column<'_>, weight: f64, out: &mut [f64]) {
        of_either!(self, rows => rows.add_rows_from(first, column, weight, out));
    }

    /// out ← SX, X (n × r), out (m × r) of zeros. Cost 2·nnz(S)·r flops, which the caller counts.
    pub fn times(&self, x: &RowMat, out: &mut RowMat) {
        of_either!(self, rows => rows.times(x, out));
    }

    /// −SᵀSv for each of the vectors v, given by their entries, as rows. Of S only the rows are touched that have
    /// an entry in a column where v has one.
    pub fn product<'a>(
        &self,
        vectors: &[Vec<(usize, f64)>],
        n: usize,
        column: impl Fn(usize) -> Column<'a>,
    ) -> RowMat {
        of_either!(self, rows => rows.product(vectors, n, column))
    }
}

/// Number of a column.
pub(super) trait Index: Copy + Default + Send + Sync {
    fn new(j: usize) -> Self;
    fn at(self) -> usize;
}

impl Index for u16 {
    fn new(j: usize) -> Self {
        j as Self
    }

    #[inline(always)]
    fn at(self) -> usize {
        usize::from(self)
    }
}

impl Index for u32 {
    fn new(j: usize) -> Self {
        j as Self
    }

    #[inline(always)]
    fn at(self) -> usize {
        self as usize
    }
}

/// Rows with numbers of columns of this type.
#[derive(Clone, Debug)]
pub(super) struct RowsOf<I> {
    ptr: Vec<usize>,
    columns: Vec<I>,
    values: Vec<f64>,
}

impl<I: Index> RowsOf<I> {
    fn of<'a>(m: usize, n: usize, column: impl Fn(usize) -> Column<'a>) -> Self {
        let mut ptr = vec![0; m + 1];
        (0..n).for_each(|j| column(j).0.iter().for_each(|i| ptr[*i as usize + 1] += 1));
        (0..m).for_each(|i| ptr[i + 1] += ptr[i]);
        let mut next = ptr.clone();
        let (mut columns, mut values) = (vec![I::default(); ptr[m]], vec![0.0; ptr[m]]);
        for j in 0..n {
            for (i, v) in column(j).0.iter().zip(column(j).1) {
                let place = &mut next[*i as usize];
                (columns[*place], values[*place]) = (I::new(j), *v);
                *place += 1;
            }
        }
        Self { ptr, columns, values }
    }

    fn add_rows_from(&self, first: usize, column: Column<'_>, weight: f64, out: &mut [f64]) {
        for (i, v) in column.0.iter().zip(column.1) {
            let range = self.ptr[*i as usize]..self.ptr[*i as usize + 1];
            let (columns, values, v) = (&self.columns[range.clone()], &self.values[range], weight * v);
            let skipped = columns.partition_point(|j| j.at() < first);
            columns[skipped..].iter().zip(&values[skipped..]).for_each(|(j, w)| out[j.at()] += v * w);
        }
    }

    fn times(&self, x: &RowMat, out: &mut RowMat) {
        let r = x.ncols();
        for_each_chunk(out.data_mut(), r * TOGETHER, &|_, chunk, rows| {
            for (k, row) in rows.chunks_exact_mut(r).enumerate() {
                let i = chunk * TOGETHER + k;
                let (first, last) = (self.ptr[i], self.ptr[i + 1]);
                let term = |l: usize| (self.values[first + l], self.columns[first + l].at() * r);
                add_weighted_rows(last - first, term, x.data(), row);
            }
        });
    }

    fn product<'a>(
        &self,
        vectors: &[Vec<(usize, f64)>],
        n: usize,
        column: impl Fn(usize) -> Column<'a>,
    ) -> RowMat {
        let mut out = RowMat::zeros(vectors.len(), n);
        let mut y = vec![0.0; self.ptr.len() - 1]; // Sv
        let mut touched = Vec::new(); // its rows, in the order of the first entry
        let mut seen = vec![false; y.len()];
        let mut work = 0;
        for (k, vector) in vectors.iter().enumerate() {
            let image = out.row_mut(k);
            for (j, x) in vector {
                let (rows, values) = column(*j);
                work += rows.len();
                for (i, v) in rows.iter().zip(values) {
                    let i = *i as usize;
                    y[i] += v * x;
                    if !std::mem::replace(&mut seen[i], true) {
                        touched.push(i);
                    }
                }
            }
            for i in touched.drain(..) {
                let range = self.ptr[i]..self.ptr[i + 1];
                work += range.len();
                for (j, v) in self.columns[range.clone()].iter().zip(&self.values[range]) {
                    image[j.at()] -= v * y[i];
                }
                (y[i], seen[i]) = (0.0, false);
            }
        }
        count(SCATTERED * work);
        out
    }
}

/// Ratio of lengths from which on entries of the shorter column are searched in the longer one.
pub(super) const LONGER: usize = 8;

/// Inner product of two sorted sparse vectors: merged when they are of like length, else the
/// entries of the shorter are searched in the rest of the longer (a frequent word has a
/// thousand times the entries of a rare one).
pub(super) fn sparse_product<'a>(a: Column<'a>, b: Column<'a>) -> f64 {
    let ((short, vs), (long, vl)) = if a.0.len() <= b.0.len() { (a, b) } else { (b, a) };
    let mut sum = 0.0;
    let mut from = 0;
    if LONGER * short.len() < long.len() {
        for (row, v) in short.iter().zip(vs) {
            from += long[from..].partition_point(|l| l < row);
            if from == long.len() {
                break;
            }
            if long[from] == *row {
                sum += v * vl[from];
            }
        }
        return sum;
    }
    let mut p = 0;
    while p < short.len() && from < long.len() {
        match short[p].cmp(&long[from]) {
            std::cmp::Ordering::Less => p += 1,
            std::cmp::Ordering::Greater => from += 1,
            std::cmp::Ordering::Equal => {
                sum += vs[p] * vl[from];
                p += 1;
                from += 1;
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_row_by_row_are_those_of_the_matrix() {
        let (m, n, r) = (2 * TOGETHER + 7, 23, 5);
        let entry = |i: usize, j: usize| if (i * j + i) % 4 == 1 { (i % 9) as f64 - 4.0 } else { 0.0 };
        let columns: Vec<(Vec<u32>, Vec<f64>)> = (0..n)
            .map(|j| {
                let rows: Vec<usize> = (0..m).filter(|i| entry(*i, j) != 0.0).collect();
                (rows.iter().map(|i| *i as u32).collect(), rows.iter().map(|i| entry(*i, j)).collect())
            })
            .collect();
        let x = RowMat::from_fn(n, r, |j, k| ((7 * j + 3 * k) % 11) as f64 - 5.0);
        let slow = RowMat::from_fn(m, r, |i, k| (0..n).map(|j| entry(i, j) * x.get(j, k)).sum());
        let column = |j: usize| -> Column<'_> { (&columns[j].0, &columns[j].1) };
        assert!(matches!(Rows::of(m, n, column), Rows::Narrow(_)));
        for rows in [Rows::of(m, n, column), Rows::Wide(RowsOf::of(m, n, column))] {
            let mut out = RowMat::zeros(m, r);
            rows.times(&x, &mut out);
            assert_eq!(out, slow, "whole numbers: no rounding");
        }
    }
}
