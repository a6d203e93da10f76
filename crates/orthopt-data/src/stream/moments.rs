//! Variances of columns, of so many columns that C does not fit.

use super::Chunk;
use crate::gram::{Rows, two_sum};

/// Sum and sum of squares of every column, in pairs of f64.
#[derive(Clone, Debug, Default)]
pub(super) struct Moments {
    rows: f64,
    columns: Vec<[[f64; 2]; 2]>,
}

impl Moments {
    pub(super) fn add(&mut self, chunk: &Chunk) {
        let rows = chunk.rows();
        self.rows += rows.len() as f64;
        self.columns.resize(self.columns.len().max(rows.columns()), [[0.0; 2]; 2]);
        match rows {
            Rows::Dense(a) => {
                (0..a.ncols()).for_each(|j| (0..a.nrows()).for_each(|i| self.entry(j, a[(i, j)])));
            }
            Rows::Sparse(sparse) => {
                for i in 0..sparse.len() {
                    let (indices, values) = sparse.row(i);
                    indices.iter().zip(values).for_each(|(j, v)| self.entry(*j, *v));
                }
            }
        }
    }

    fn entry(&mut self, j: usize, v: f64) {
        for (sum, v) in self.columns[j].iter_mut().zip([v, v * v]) {
            let (high, low) = two_sum(sum[0], v);
            *sum = [high, sum[1] + low];
        }
    }

    /// Columns seen so far.
    pub(super) fn columns(&self) -> usize {
        self.columns.len()
    }

    /// The `count` columns of the largest variance, in the order of the file; of equal ones the first.
    pub(super) fn largest(&self, count: usize) -> Vec<usize> {
        let total = |sum: [f64; 2]| sum[0] + sum[1];
        let variance = |[sum, squares]: [[f64; 2]; 2]| total(squares) - total(sum) / self.rows * total(sum);
        let variances: Vec<f64> = self.columns.iter().map(|column| variance(*column)).collect();
        let mut order: Vec<usize> = (0..variances.len()).collect();
        order.sort_by(|a, b| variances[*b].total_cmp(&variances[*a])); // stable
        order.truncate(count);
        order.sort_unstable();
        order
    }
}
