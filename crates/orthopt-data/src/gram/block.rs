//! Rows in blocks of columns, and products of blocks by panels of the lower triangle.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// Maximum number of rows of a block: sums of this many products of integers up to 2²² are exact in f64.
pub(super) const ROWS: usize = 512;

/// Numbers that the copies of a block may take together.
const NUMBERS: usize = 1 << 24;

/// Most numbers of a product of a panel.
const PRODUCT: usize = 1 << 21;

/// Number of rows of a panel with `columns` columns: large enough that packing is a small
/// part of a product, and small enough that little of it is above the diagonal.
pub(super) fn height(columns: usize) -> usize {
    (columns / 8).clamp(32, 256).min((PRODUCT / columns).max(8))
}

/// Number of rows of a block with `columns` columns.
pub(super) fn rows_of_block(columns: usize) -> usize {
    (NUMBERS / (8 * columns)).clamp(32, ROWS)
}

/// A block of rows, column by column, a column of ones (or of weights' roots) first.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) values: Vec<f64>,
}

impl Block {
    /// Zeros.
    pub(super) fn new(rows: usize, columns: usize) -> Self {
        Self { rows, columns, values: vec![0.0; rows * columns] }
    }

    /// As the only factor of a product.
    pub(super) fn factors(&self) -> Factors<'_> {
        Factors { rows: self.rows, count: 1, values: &self.values }
    }
}

/// Matrices F of equal size whose products FᵀF are requested; of each column those of all matrices in turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factors<'a> {
    pub(super) rows: usize,
    pub(super) count: usize,
    pub(super) values: &'a [f64],
}

impl<'a> Factors<'a> {
    /// Columns `from..to` of a matrix.
    fn part(&self, factor: usize, from: usize, to: usize) -> MatRef<'a, f64> {
        let stride = self.rows * self.count;
        let all = MatRef::from_column_major_slice_with_stride(
            &self.values[factor * self.rows..],
            self.rows,
            self.values.len() / stride,
            stride,
        );
        all.subcols(from, to - from)
    }

    /// Rows `from..to` of the lower triangles of all products: entry (j, k) of product f stands at
    /// `[(f·(to − from) + j − from)·to + k]`.
    pub(super) fn products(&self, from: usize, to: usize, out: &mut Vec<f64>) {
        let size = (to - from) * to;
        out.resize(size * self.count, 0.0);
        for (factor, out) in out.chunks_exact_mut(size).enumerate() {
            let out = MatMut::from_column_major_slice_mut(out, to, to - from);
            let (all, some) = (self.part(factor, 0, to), self.part(factor, from, to));
            matmul(out, Accum::Replace, all.transpose(), some, 1.0, Par::Seq);
        }
    }
}

/// Numbers of a lower triangle with `rows` rows.
pub(super) fn triangle(rows: usize) -> usize {
    rows * (rows + 1) / 2
}

/// Rows `from..to` of a packed lower triangle whose entries take `width` elements each.
#[derive(Debug)]
pub(super) struct Panel<'a, T> {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) values: &'a mut [T],
}

impl<T> Panel<'_, T> {
    /// Row j: its entries (j, 0) to (j, j).
    pub(super) fn row(&mut self, j: usize, width: usize) -> &mut [T] {
        let start = (triangle(j) - triangle(self.from)) * width;
        &mut self.values[start..start + (j + 1) * width]
    }
}

/// The triangle in panels of products.
pub(super) fn panels<T>(values: &mut [T], columns: usize, width: usize) -> Vec<Panel<'_, T>> {
    let height = height(columns);
    cut(values, width, (0..columns).step_by(height).map(|from| (from, (from + height).min(columns))))
}

/// The triangle in a few panels of about equal size.
pub(super) fn shares<T>(values: &mut [T], columns: usize, width: usize) -> Vec<Panel<'_, T>> {
    let count = if columns < 64 { 1 } else { 4 * rayon::current_num_threads() };
    let edge = |part: usize| (columns as f64 * (part as f64 / count as f64).sqrt()).round() as usize;
    cut(
        values,
        width,
        (0..count).map(|part| (edge(part), if part + 1 == count { columns } else { edge(part + 1) })),
    )
}

fn cut<T>(values: &mut [T], width: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<Panel<'_, T>> {
    let mut rest = values;
    let mut panels = Vec::new();
    for (from, to) in edges.filter(|(from, to)| from < to) {
        let (values, after) = rest.split_at_mut((triangle(to) - triangle(from)) * width);
        rest = after;
        panels.push(Panel { from, to, values });
    }
    panels
}
