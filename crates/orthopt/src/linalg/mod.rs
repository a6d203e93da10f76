//! Row-major matrices, SIMD kernels, deterministic products and small factorisations.
//!
//! faer is the matrix library; this module adds the needs of row-block methods:
//! contiguous rows, eight-lane arithmetic and products whose result does not depend on the
//! number of threads.

pub mod block_krylov;
pub(crate) mod bounded;
pub mod cholesky;
pub mod eigen;
pub mod elementary;
pub mod factor;
pub mod givens;
pub mod kernels;
pub mod krylov;
pub mod lanczos;
pub(crate) mod long;
pub(crate) mod masked_system;
pub(crate) mod order;
pub mod orthonormal;
pub(crate) mod parallel;
pub mod plane;
pub mod products;
pub mod row_mat;
pub mod sequential;
pub mod simd;
pub mod small;
pub mod unit;
pub mod varimax;
pub mod work;

pub use givens::{GivensFactor, givens_factors};
pub use row_mat::RowMat;
