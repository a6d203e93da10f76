//! Matrices of other crates and back.

use orthopt::prelude::Matrix;

fn matrix() -> Matrix {
    Matrix::from_fn(3, 2, |i, j| (10 * i + j) as f64)
}

#[test]
fn faer_and_back() {
    let m = faer::Mat::from(&matrix());
    assert_eq!(m[(2, 1)], 21.0);
    assert_eq!(Matrix::from(m.as_ref()), matrix());
}

#[cfg(feature = "ndarray")]
#[test]
fn ndarray_and_back() {
    let a = ndarray::Array2::from(&matrix());
    assert_eq!(a[[2, 1]], 21.0);
    assert_eq!(Matrix::from(a.view()), matrix());
    // a view whose rows are not contiguous
    assert_eq!(Matrix::from(a.t()), Matrix::from_fn(2, 3, |i, j| (10 * j + i) as f64));
}

#[cfg(feature = "nalgebra")]
#[test]
fn nalgebra_and_back() {
    let a = nalgebra::DMatrix::from(&matrix());
    assert_eq!(a[(2, 1)], 21.0);
    assert_eq!(Matrix::from(&a), matrix());
}
