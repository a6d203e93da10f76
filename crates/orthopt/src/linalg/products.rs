//! Matrix products with the same result for every number of threads.
//!
//! A product is cut into panels of output rows of a fixed height; each panel is computed by
//! faer on one thread, the panels in parallel by rayon. The cut depends on the shape alone, so
//! the bits of the result do not depend on how many threads there are.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use super::RowMat;

/// Rows of the output one task computes.
const PANEL: usize = 128;
/// Products of so many multiplications take less time than waking up another thread; they are
/// computed in the same panels one after the other, with the same bits.
const SMALL: usize = 500_000;

/// `out ← beta·out + alpha·lhs·rhs` with beta ∈ {0, 1} (`accumulate`). Shapes: lhs m × k, rhs k × n, out
/// m × n row-major. Cost 2·m·k·n flops.
pub fn product(out: &mut RowMat, accumulate: bool, alpha: f64, lhs: MatRef<'_, f64>, rhs: MatRef<'_, f64>) {
    let n = out.ncols();
    let accum = if accumulate { Accum::Add } else { Accum::Replace };
    if out.nrows() == 0 || n == 0 {
        return;
    }
    let work = out.nrows() * n * lhs.ncols();
    let one = |(p, panel): (usize, &mut [f64])| {
        let rows = panel.len() / n;
        let dst = MatMut::from_row_major_slice_mut(panel, rows, n);
        matmul(dst, accum, lhs.subrows(p * PANEL, rows), rhs, alpha, Par::Seq);
    };
    if work <= SMALL {
        out.data_mut().chunks_mut(PANEL * n).enumerate().for_each(one);
    } else {
        out.data_mut().par_chunks_mut(PANEL * n).enumerate().for_each(one);
    }
}

/// The Gram matrix XᵀX (r × r) of a row-major X (n × r): panels of rows are multiplied in
/// parallel and added in order. Cost 2·n·r² flops.
pub fn gram(x: &RowMat) -> RowMat {
    cross(x, x)
}

/// XᵀY (r × s) for row-major X (n × r) and Y (n × s), the same bits for every thread count.
pub fn cross(x: &RowMat, y: &RowMat) -> RowMat {
    let (r, s) = (x.ncols(), y.ncols());
    let height = 8 * PANEL;
    let part = |p: usize| {
        let start = p * height;
        let rows = height.min(x.nrows() - start);
        let mut part = RowMat::zeros(r, s);
        matmul(
            part.as_mat_mut(),
            Accum::Replace,
            x.as_mat().subrows(start, rows).transpose(),
            y.as_mat().subrows(start, rows),
            1.0,
            Par::Seq,
        );
        part
    };
    let panels = x.nrows().div_ceil(height);
    let parts: Vec<RowMat> = if x.nrows() * r * s <= SMALL || panels == 1 {
        (0..panels).map(part).collect()
    } else {
        (0..panels).into_par_iter().map(part).collect()
    };
    let mut out = RowMat::zeros(r, s);
    for part in parts {
        for (o, v) in out.data_mut().iter_mut().zip(part.data()) {
            *o += v;
        }
    }
    out
}
