//! Matrix products with the same result for every number of threads.
//!
//! A product is cut into panels of output rows of a fixed height; each panel is computed by
//! faer on one thread, the panels in parallel by rayon. The cut depends on the shape alone, so
//! the bits of the result do not depend on how many threads there are. Small products are
//! computed panel by panel on the calling thread, because the pool would cost more.

use std::sync::atomic::{AtomicBool, Ordering};

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use super::RowMat;
use super::factor::transpose;
use super::kernels::add_weighted_rows;
use super::parallel::{OnChunk, for_each_chunk, map};
use super::work::count;
use crate::cancel::Cancel;

/// Rows of the output one task computes.
const PANEL: usize = 128;
/// Number of multiplications below which a product stays on the calling thread: about 100
/// microseconds of work, several times the cost of waking a thread of the pool.
const SMALL: usize = 4_000_000;
/// Rows of a square matrix that a cache near the core holds.
const CACHED: usize = 1024;

/// `out ← beta·out + alpha·lhs·rhs` with beta ∈ {0, 1} (`accumulate`). Shapes: lhs m × k, rhs k × n, out
/// m × n row-major. Cost 2·m·k·n flops.
pub fn product(out: &mut RowMat, accumulate: bool, alpha: f64, lhs: MatRef<'_, f64>, rhs: MatRef<'_, f64>) {
    let n = out.ncols();
    let accum = if accumulate { Accum::Add } else { Accum::Replace };
    if out.nrows() == 0 || n == 0 {
        return;
    }
    count(lhs.nrows() * lhs.ncols() * n);
    let small = lhs.nrows() * lhs.ncols() * n < SMALL;
    for_each_panel(out.data_mut(), n, small, &|_, p, panel| {
        let rows = panel.len() / n;
        let dst = MatMut::from_row_major_slice_mut(panel, rows, n);
        matmul(dst, accum, lhs.subrows(p * PANEL, rows), rhs, alpha, Par::Seq);
    });
}

/// lhs·rhs. Cost 2·m·k·n flops.
pub fn multiply(lhs: MatRef<'_, f64>, rhs: MatRef<'_, f64>) -> RowMat {
    let mut out = RowMat::zeros(lhs.nrows(), rhs.ncols());
    product(&mut out, false, 1.0, lhs, rhs);
    out
}

/// [`multiply`] of matrices by rows.
pub fn times(a: &RowMat, b: &RowMat) -> RowMat {
    multiply(a.as_mat(), b.as_mat())
}

/// [`product`], for which each panel asks the clock; false, and `out` of no use, if cancelled.
pub fn product_in_time(
    out: &mut RowMat,
    accumulate: bool,
    alpha: f64,
    lhs: MatRef<'_, f64>,
    rhs: MatRef<'_, f64>,
) -> bool {
    let n = out.ncols();
    let accum = if accumulate { Accum::Add } else { Accum::Replace };
    if out.nrows() == 0 || n == 0 {
        return true;
    }
    count(lhs.nrows() * lhs.ncols() * n);
    let small = lhs.nrows() * lhs.ncols() * n < SMALL;
    let (waiting, left) = (Cancel::current(), AtomicBool::new(false));
    for_each_panel(out.data_mut(), n, small, &|_, p, panel| {
        if waiting.as_ref().is_some_and(Cancel::is_over) {
            return left.store(true, Ordering::Relaxed);
        }
        let rows = panel.len() / n;
        let dst = MatMut::from_row_major_slice_mut(panel, rows, n);
        matmul(dst, accum, lhs.subrows(p * PANEL, rows), rhs, alpha, Par::Seq);
    });
    !left.into_inner()
}

/// `out ← alpha·M·X` for a symmetric M (n × n). Shapes: X and out n × r. Cost 2·n²·r flops.
///
/// A product with r columns fills vectors with r numbers, which is a waste where r is a little more than their length or much
/// less. As rows of M are its columns, n numbers may fill them instead, as long as a cache holds M: M is then read across.
pub fn symmetric_product(out: &mut RowMat, alpha: f64, m: &RowMat, x: &RowMat) {
    let n = out.ncols();
    if m.nrows() > CACHED || !matches!(n, 1..=4 | 9..=12) {
        return product(out, false, alpha, m.as_mat(), x.as_mat());
    }
    count(m.nrows() * m.ncols() * n);
    let small = m.nrows() * m.ncols() * n < SMALL;
    for_each_panel(out.data_mut(), n, small, &|part, p, panel| {
        let rows = panel.len() / n;
        part.resize(panel.len(), 0.0);
        let dst = MatMut::from_column_major_slice_mut(part, rows, n);
        let lhs = m.as_mat().subcols(p * PANEL, rows).transpose();
        matmul(dst, Accum::Replace, lhs, x.as_mat(), alpha, Par::Seq);
        for (k, column) in part.chunks_exact(rows).enumerate() {
            panel[k..].iter_mut().step_by(n).zip(column).for_each(|(to, v)| *to = *v);
        }
    });
}

/// `out ← out + M(B, :)ᵀ·Δ` for some rows B of M: what a move Δ of the rows B of X changes in MX, M
/// symmetric. Shapes: M n × p, Δ |B| × r, out p × r. Cost 2·|B|·p·r flops.
///
/// Every task gathers the part of M(B, :) that its panel needs, so that copying, which takes as
/// long as multiplying where r is small, is shared among the threads as well.
pub fn add_rows_product(out: &mut RowMat, m: &RowMat, rows: &[usize], delta: &RowMat) {
    let n = out.ncols();
    if out.nrows() == 0 || n == 0 || rows.is_empty() {
        return;
    }
    count(rows.len() * out.nrows() * n);
    let small = rows.len() * out.nrows() * n < SMALL;
    for_each_panel(out.data_mut(), n, small, &|part, p, panel| {
        let (start, height) = (p * PANEL, panel.len() / n);
        part.clear();
        rows.iter().for_each(|i| part.extend_from_slice(&m.row(*i)[start..start + height]));
        let part = MatRef::from_row_major_slice(part, rows.len(), height);
        let dst = MatMut::from_row_major_slice_mut(panel, height, n);
        matmul(dst, Accum::Add, part.transpose(), delta.as_mat(), 1.0, Par::Seq);
    });
}

/// Times as many numbers as X has entries that a product with all of them may cost: above it the entries alone are faster.
const SPARSE: usize = 16;

/// True if so many entries of rows × columns are few enough that a product takes them one by one.
pub fn is_sparse(entries: usize, rows: usize, columns: usize) -> bool {
    SPARSE * entries <= rows * columns
}

/// M·X for a symmetric M (n × n), entry by entry of X (n × r). Cost 2n flops for each that is not zero.
pub fn sparse_product(m: &RowMat, x: &RowMat) -> RowMat {
    let (n, r) = (x.nrows(), x.ncols());
    let mut entries = vec![Vec::new(); r];
    for i in 0..n {
        let row = entries.iter_mut().zip(x.row(i)).filter(|(_, v)| **v != 0.0);
        row.for_each(|(column, v)| column.push((i, *v)));
    }
    if n == 0 || r == 0 {
        return RowMat::zeros(n, r);
    }
    let mut columns = RowMat::zeros(r, n); // of the product, as rows
    let few = n * entries.iter().map(Vec::len).sum::<usize>();
    count(few);
    let one = |_: &mut Vec<f64>, k: usize, column: &mut [f64]| {
        let own: &[(usize, f64)] = &entries[k];
        add_weighted_rows(own.len(), |l| (own[l].1, own[l].0 * n), m.data(), column);
    };
    if few < SMALL {
        columns.data_mut().chunks_mut(n).enumerate().for_each(|(k, column)| one(&mut Vec::new(), k, column));
    } else {
        for_each_chunk(columns.data_mut(), n, &one);
    }
    transpose(&columns)
}

/// Panels of rows of `n` numbers each, here where they are `small` together.
fn for_each_panel(rows: &mut [f64], n: usize, small: bool, f: &OnChunk<'_>) {
    if small {
        let mut buffer = Vec::new();
        rows.chunks_mut(PANEL * n).enumerate().for_each(|(p, panel)| f(&mut buffer, p, panel));
    } else {
        for_each_chunk(rows, PANEL * n, f);
    }
}

/// The Gram matrix XᵀX (r × r) of a row-major X (n × r): panels of rows are multiplied in
/// parallel and added in order. Cost 2·n·r² flops.
pub fn gram(x: &RowMat) -> RowMat {
    cross(x, x)
}

/// XᵀY (r × s) for row-major X (n × r) and Y (n × s), the same bits for every thread count.
pub fn cross(x: &RowMat, y: &RowMat) -> RowMat {
    cross_of(x.as_mat(), y.as_mat())
}

/// XᵀY (r × r) where it is symmetric: the lower triangle is computed, in panels of rows in parallel, and mirrored. Cost
/// n·r² flops and a little, half of [`cross`]; for r that is large.
pub fn symmetric_cross(x: &RowMat, y: &RowMat) -> RowMat {
    let r = x.ncols();
    let mut out = RowMat::zeros(r, r);
    if r == 0 {
        return out;
    }
    count(x.nrows() * r * r / 2);
    let small = x.nrows() * r * r < SMALL;
    for_each_panel(out.data_mut(), r, small, &|_, p, panel| {
        let (start, rows) = (p * PANEL, panel.len() / r);
        let dst = MatMut::from_row_major_slice_mut(panel, rows, r).subcols_mut(0, start + rows);
        let (lhs, rhs) = (x.as_mat().subcols(start, rows).transpose(), y.as_mat().subcols(0, start + rows));
        matmul(dst, Accum::Replace, lhs, rhs, 1.0, Par::Seq);
    });
    mirror(&mut out);
    out
}

/// The upper triangle from the lower one, in tiles that stay in the cache.
fn mirror(m: &mut RowMat) {
    const TILE: usize = 64;
    let n = m.nrows();
    for rows in (0..n).step_by(TILE) {
        for columns in (rows..n).step_by(TILE) {
            for i in rows..(rows + TILE).min(n) {
                for j in columns.max(i + 1)..(columns + TILE).min(n) {
                    m.set(i, j, m.get(j, i));
                }
            }
        }
    }
}

/// [`cross`] of parts of matrices.
pub fn cross_of(x: MatRef<'_, f64>, y: MatRef<'_, f64>) -> RowMat {
    let (r, s) = (x.ncols(), y.ncols());
    let height = 8 * PANEL;
    count(x.nrows() * r * s);
    let one_part = |p: usize| {
        let start = p * height;
        let rows = height.min(x.nrows() - start);
        let (x, y) = (x.subrows(start, rows), y.subrows(start, rows));
        // by columns: r is the larger number where one is, and fills vectors
        let mut part = Mat::<f64>::zeros(r, s);
        matmul(part.as_mut(), Accum::Replace, x.transpose(), y, 1.0, Par::Seq);
        part
    };
    let count = x.nrows().div_ceil(height);
    let parts: Vec<Mat<f64>> = if count == 1 || x.nrows() * r * s < SMALL {
        (0..count).map(one_part).collect()
    } else {
        map(count, 1, one_part)
    };
    let mut out = RowMat::zeros(r, s);
    for part in parts {
        for (k, column) in part.col_iter().enumerate() {
            column.iter().enumerate().for_each(|(i, v)| out.set(i, k, out.get(i, k) + v));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_that_nobody_waits_for_is_left() {
        let a = RowMat::from_fn(300, 20, |i, k| ((i * 7 + k * 3) as f64).sin());
        let (mut fast, mut slow) = (RowMat::zeros(300, 300), RowMat::zeros(300, 300));
        product(&mut slow, false, -1.0, a.as_mat(), a.as_mat().transpose());
        let mut made = || product_in_time(&mut fast, false, -1.0, a.as_mat(), a.as_mat().transpose());
        let over = Cancel::never();
        over.cancel();
        assert!(!over.during(&mut made));
        assert!(Cancel::never().during(&mut made) && made());
        assert_eq!(fast.data(), slow.data());
    }

    #[test]
    fn half_of_a_symmetric_product_is_all_of_it() {
        for (n, r) in [(5, 3), (40, 130), (300, 257)] {
            let x = RowMat::from_fn(n, r, |i, k| ((7 * i + 13 * k) % 23) as f64 - 11.0);
            let signed = RowMat::from_fn(n, r, |i, k| if i % 3 == 0 { -x.get(i, k) } else { x.get(i, k) });
            assert_eq!(symmetric_cross(&x, &signed), cross(&x, &signed), "whole numbers: no rounding");
        }
    }

    #[test]
    fn by_symmetry_or_not_the_product_is_the_same() {
        for (n, r) in [(5, 3), (150, 10), (700, 4), (700, 20), (1100, 2)] {
            let m = RowMat::from_fn(n, n, |i, j| ((7 * i.min(j) + 13 * i.max(j)) % 23) as f64 - 11.0);
            let x = RowMat::from_fn(n, r, |i, k| ((3 * i + 5 * k) % 17) as f64 - 8.0);
            let (mut out, mut slow) = (RowMat::zeros(n, r), RowMat::zeros(n, r));
            symmetric_product(&mut out, -2.0, &m, &x);
            product(&mut slow, false, -2.0, m.as_mat(), x.as_mat());
            assert_eq!(out, slow, "whole numbers: no rounding");
        }
    }

    #[test]
    fn a_product_with_few_entries_is_that_with_all_of_them() {
        for (n, r, size) in [(0, 3, 0), (7, 1, 2), (150, 9, 5), (1100, 60, 90)] {
            let m = RowMat::from_fn(n, n, |i, j| ((7 * i.min(j) + 13 * i.max(j)) % 23) as f64 - 11.0);
            let column = |k: usize| (0..size).map(move |a| ((5 * k + 11 * a) % n, (k + a) as f64 - 3.0));
            let mut x = RowMat::zeros(n, r);
            for k in 0..r {
                column(k).for_each(|(i, v)| x.set(i, k, x.get(i, k) + v));
            }
            let slow = multiply(m.as_mat(), x.as_mat());
            assert_eq!(sparse_product(&m, &x), slow, "whole numbers: no rounding");
        }
    }

    #[test]
    fn a_product_of_rows_is_the_sum_of_their_outer_products() {
        let value = |i: usize, k: usize| ((7 * i + 13 * k) % 23) as f64 - 11.0;
        // below and above the size from which panels go to the pool
        for (n, count, r) in [(150, 7, 3), (700, 400, 20)] {
            let m = RowMat::from_fn(n, n, value);
            let rows: Vec<usize> = (0..count).map(|k| (3 * k + 1) % n).collect();
            let delta = RowMat::from_fn(count, r, |i, k| value(k, i));
            let mut out = RowMat::from_fn(n, r, value);
            let mut slow = out.clone();
            for (k, i) in rows.iter().enumerate() {
                for j in 0..n {
                    (0..r).for_each(|c| slow.set(j, c, slow.get(j, c) + m.get(*i, j) * delta.get(k, c)));
                }
            }
            add_rows_product(&mut out, &m, &rows, &delta);
            assert_eq!(out, slow, "whole numbers: no rounding");
        }
    }
}
