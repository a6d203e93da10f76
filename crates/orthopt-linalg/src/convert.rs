//! Matrices of other crates, behind features of their names. All are copies, as [`RowMat`] is row-major
//! and owned.

use crate::RowMat;

impl From<faer::MatRef<'_, f64>> for RowMat {
    fn from(m: faer::MatRef<'_, f64>) -> Self {
        Self::from_mat(m)
    }
}

impl From<&RowMat> for faer::Mat<f64> {
    fn from(m: &RowMat) -> Self {
        m.as_mat().to_owned()
    }
}

#[cfg(feature = "ndarray")]
impl From<ndarray::ArrayView2<'_, f64>> for RowMat {
    fn from(a: ndarray::ArrayView2<'_, f64>) -> Self {
        Self::from_fn(a.nrows(), a.ncols(), |i, j| a[[i, j]])
    }
}

#[cfg(feature = "ndarray")]
impl From<&RowMat> for ndarray::Array2<f64> {
    fn from(m: &RowMat) -> Self {
        Self::from_shape_fn((m.nrows(), m.ncols()), |(i, j)| m.get(i, j))
    }
}

#[cfg(feature = "nalgebra")]
impl From<&nalgebra::DMatrix<f64>> for RowMat {
    fn from(a: &nalgebra::DMatrix<f64>) -> Self {
        Self::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)])
    }
}

#[cfg(feature = "nalgebra")]
impl From<&RowMat> for nalgebra::DMatrix<f64> {
    fn from(m: &RowMat) -> Self {
        Self::from_row_slice(m.nrows(), m.ncols(), m.data())
    }
}
