//! Sums of products of blocks, each block in f64 and the blocks together in pairs of f64.

use rayon::prelude::*;

use super::block::{Block, panels, shares, triangle};
use super::rows::SparseRows;

/// hi + lo of every entry of the lower triangle.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Compensated {
    columns: usize,
    pub(super) sums: Vec<[f64; 2]>,
}

impl Compensated {
    pub(super) fn new(columns: usize) -> Self {
        Self { columns, sums: vec![[0.0; 2]; triangle(columns)] }
    }

    pub(super) fn widen(&mut self, columns: usize) {
        self.columns = columns;
        self.sums.resize(triangle(columns), [0.0; 2]);
    }

    pub(super) fn add_block(&mut self, block: &Block) {
        let factors = block.factors();
        panels(&mut self.sums, self.columns, 1).par_iter_mut().for_each_init(Vec::new, |products, panel| {
            let (from, to) = (panel.from, panel.to);
            factors.products(from, to, products);
            for j in from..to {
                let products = &products[(j - from) * to..];
                panel.row(j, 1).iter_mut().zip(products).for_each(|(sum, v)| add(sum, *v));
            }
        });
    }

    /// Rows as they are, each product rounded once.
    pub(super) fn add_sparse(&mut self, rows: &SparseRows<'_>, roots: &[f64]) {
        shares(&mut self.sums, self.columns, 1).par_iter_mut().for_each_init(Vec::new, |scaled, panel| {
            for i in 0..rows.len() {
                let (indices, values) = rows.row(i);
                let first = indices.partition_point(|at| at + 1 < panel.from);
                let last = indices.partition_point(|at| at + 1 < panel.to);
                scaled.clear();
                scaled.extend(values[..last].iter().map(|v| v * roots[i]));
                if panel.from == 0 {
                    add(&mut panel.row(0, 1)[0], roots[i] * roots[i]);
                }
                for t in first..last {
                    let row = panel.row(indices[t] + 1, 1);
                    add(&mut row[0], scaled[t] * roots[i]);
                    for (k, v) in indices[..=t].iter().zip(&scaled[..=t]) {
                        add(&mut row[k + 1], scaled[t] * v);
                    }
                }
            }
        });
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (sum, [hi, lo]) in self.sums.iter_mut().zip(&other.sums) {
            add(sum, *hi);
            add(sum, *lo);
        }
    }

    pub(super) fn entry(&self, j: usize, k: usize) -> (f64, f64) {
        let [hi, lo] = self.sums[triangle(j.max(k)) + j.min(k)];
        (hi, lo)
    }
}

/// Adds with the rounding error kept (Knuth's two-sum).
#[inline]
fn add(sum: &mut [f64; 2], v: f64) {
    let (hi, error) = two_sum(sum[0], v);
    *sum = [hi, sum[1] + error];
}

/// a + b as the rounded sum and what it lacks.
#[inline]
pub(crate) fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}
