//! Factorisations of a matrix.

use numpy::{PyArray2, PyReadonlyArray2};
use orthopt::constraint::{self, Signature};
use pyo3::prelude::*;

use crate::errors::Failure;
use crate::input::{copied, view};
use crate::result::array;

/// Q, R and the signs of A = QR.
type HyperbolicQr<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>, Vec<f64>);
/// Rows i and j of a factor, and its 2 × 2 block.
type GivensFactor = (usize, usize, [[f64; 2]; 2]);

/// The hyperbolic QR factorisation of A.
#[pyfunction]
pub fn hyperbolic_qr<'py>(
    py: Python<'py>,
    a: PyReadonlyArray2<'py, f64>,
    signature: &str,
) -> PyResult<HyperbolicQr<'py>> {
    let a = view(&a)?;
    let j = Signature::parse(signature, a.nrows()).map_err(Failure::from)?;
    let found = constraint::hyperbolic_qr(a, &j).map_err(Failure::from)?;
    Ok((array(py, &found.q)?, array(py, &found.r)?, found.signs))
}

/// The J-orthogonal factor of X, `None` if there is none.
#[pyfunction]
pub fn indefinite_polar<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f64>,
    signature: &str,
) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
    let x = copied(&x)?;
    let j = Signature::parse(signature, x.nrows()).map_err(Failure::from)?;
    constraint::indefinite_polar(&x, &j).map(|q| array(py, &q)).transpose()
}

/// The plane factors of an orthogonal matrix.
#[pyfunction]
pub fn givens_factors(d: PyReadonlyArray2<'_, f64>) -> PyResult<Vec<GivensFactor>> {
    let factors = constraint::givens_factors(view(&d)?).map_err(Failure::from)?;
    Ok(factors.into_iter().map(|f| (f.i, f.j, f.block.matrix())).collect())
}
