//! Row-major matrices, SIMD kernels, deterministic products and small factorisations.
//!
//! faer is the matrix library; this module adds the needs of row-block methods:
//! contiguous rows, eight-lane arithmetic and products whose result does not depend on the
//! number of threads.

pub mod block_krylov;
pub mod cancel;
pub mod cholesky;
pub mod column_mean;
mod convert;
pub mod eigen;
pub mod elementary;
pub mod error;
pub mod factor;
pub mod givens;
pub mod kernels;
pub mod krylov;
pub mod lanczos;
pub mod long;
pub mod masked_system;
pub mod message;
pub mod order;
pub mod orthonormal;
pub mod parallel;
pub mod plane;
pub mod products;
pub mod row_mat;
pub mod sequential;
pub mod simd;
pub mod small;
pub mod threads;
pub mod unit;
pub mod varimax;
pub mod work;

pub use error::{Error, Result};
pub use givens::{GivensFactor, givens_factors};
pub use row_mat::RowMat;

/// ‖XᵀX − I‖_F.
#[cfg(test)]
fn feasibility(x: &RowMat) -> f64 {
    let r = x.ncols();
    let inner = |i: usize, k: usize| (0..x.nrows()).map(|row| x.get(row, i) * x.get(row, k)).sum::<f64>();
    let error = |i: usize, k: usize| (inner(i, k) - f64::from(u8::from(i == k))).powi(2);
    (0..r).flat_map(|i| (0..r).map(move |k| (i, k))).map(|(i, k)| error(i, k)).sum::<f64>().sqrt()
}
