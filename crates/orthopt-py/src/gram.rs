//! `GramAccumulator`: C = A'A of rows that come in chunks. What can be said in Python is said in `orthopt._gram`.

use faer::Mat;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use orthopt_data::{DataError, GramAccumulator, Prepare, Rows, Scale, SparseRows, Summation};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::{Failure, named};
use crate::input::view;

/// Sums of a known number of columns.
#[pyclass(name = "GramAccumulator", module = "orthopt._orthopt")]
pub struct PyGram {
    sums: GramAccumulator,
}

type Numbers<'py> = Option<PyReadonlyArray1<'py, f64>>;

/// C, means and scales.
type Prepared<'py> = (Bound<'py, PyArray2<f64>>, Option<Vec<f64>>, Option<Vec<f64>>);

#[pymethods]
impl PyGram {
    #[new]
    fn new(columns: usize, reproducible: bool, place: &str) -> PyResult<Self> {
        let how = if reproducible { Summation::Reproducible } else { Summation::Compensated };
        let sums = GramAccumulator::new(columns, how, place, None).map_err(Failure::from)?;
        Ok(Self { sums })
    }

    /// Adds the rows of a contiguous array.
    fn add_dense(
        &mut self,
        py: Python<'_>,
        rows: PyReadonlyArray2<'_, f64>,
        weights: Numbers<'_>,
    ) -> PyResult<()> {
        let (rows, weights) = (view(&rows)?, weights.as_ref().map(|w| w.as_slice()).transpose()?);
        let sums = &mut self.sums;
        Ok(py.detach(|| sums.add(Rows::Dense(rows), weights)).map_err(Failure::from)?)
    }

    /// Adds compressed rows.
    fn add_sparse(
        &mut self,
        py: Python<'_>,
        columns: usize,
        starts: PyReadonlyArray1<'_, i64>,
        indices: PyReadonlyArray1<'_, i64>,
        values: PyReadonlyArray1<'_, f64>,
        weights: Numbers<'_>,
    ) -> PyResult<()> {
        // a negative index becomes one that is far too large
        let unsigned = |v: &[i64]| v.iter().map(|i| *i as usize).collect::<Vec<_>>();
        let (starts, indices) = (unsigned(starts.as_slice()?), unsigned(indices.as_slice()?));
        let (values, weights) = (values.as_slice()?, weights.as_ref().map(|w| w.as_slice()).transpose()?);
        let sums = &mut self.sums;
        let added = py.detach(|| match SparseRows::new(columns, &starts, &indices, values) {
            Ok(rows) => sums.add(Rows::Sparse(rows), weights),
            Err(problem) => Err(DataError::File { path: "the chunk".into(), problem }),
        });
        Ok(added.map_err(Failure::from)?)
    }

    /// Adds all rows of another one.
    fn merge(&mut self, py: Python<'_>, other: PyRef<'_, Self>) -> PyResult<()> {
        let (sums, other) = (&mut self.sums, &other.sums);
        Ok(py.detach(|| sums.merge(other)).map_err(Failure::from)?)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let sums = &self.sums;
        PyBytes::new(py, &py.detach(|| sums.to_bytes()))
    }

    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let sums = py.detach(|| GramAccumulator::from_bytes(bytes, "the bytes")).map_err(Failure::from)?;
        Ok(Self { sums })
    }

    /// C with what was subtracted and divided by.
    fn prepared<'py>(
        &self,
        py: Python<'py>,
        center: Option<bool>,
        scale: Option<&str>,
        covariance: Option<bool>,
    ) -> PyResult<Prepared<'py>> {
        let scale = scale.map_or(Some(Scale::None), Scale::parse);
        let Some(scale) = scale else {
            let message = format!("scale: expected {}", Scale::EXPECTED);
            return Err(named("InvalidOptionError", &message));
        };
        let prepare = Prepare::of(center, scale, covariance, None);
        let all: Vec<usize> = (0..self.sums.columns()).collect();
        let sums = &self.sums;
        let (c, units) = py.detach(|| sums.prepared(&prepare, &all)).map_err(Failure::from)?;
        Ok((array(py, &c)?, units.means, units.scales))
    }

    fn set_names(&mut self, names: Vec<String>) -> PyResult<()> {
        self.sums = self.sums.clone().named(names).map_err(Failure::from)?;
        Ok(())
    }

    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        self.sums.names().map(<[String]>::to_vec)
    }

    #[getter]
    fn columns(&self) -> usize {
        self.sums.columns()
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.sums.rows()
    }

    #[getter]
    fn weight(&self) -> f64 {
        self.sums.weight()
    }

    #[getter]
    fn sums<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.sums.sums())
    }

    #[getter]
    fn reproducible(&self) -> bool {
        self.sums.is_reproducible()
    }
}

/// A symmetric matrix, which is the same by rows and by columns.
fn array<'py>(py: Python<'py>, c: &Mat<f64>) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let n = c.nrows();
    let values: Vec<f64> = (0..n).flat_map(|j| c.col_as_slice(j).iter().copied()).collect();
    PyArray1::from_vec(py, values).reshape([n, n])
}
