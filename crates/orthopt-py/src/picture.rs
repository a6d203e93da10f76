//! Pictures as the command describes them, for `orthopt._draw`.

use orthopt_cli::pictures;
use pyo3::prelude::*;
use pythonize::{Depythonizer, pythonize};

/// The description of a picture: title, axes and marks in the units of the data. `shown` names the picture and what it shows.
#[pyfunction]
pub fn chart<'py>(py: Python<'py>, shown: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    Ok(pythonize(py, &pictures::chart(&mut Depythonizer::from_object(shown))?)?)
}

/// Boxes (left, bottom, right, top) for names of arrows from `zero` to `tips`, apart from each other and in `frame`; `sizes` are
/// widths and heights.
#[pyfunction]
pub fn names_beside(
    zero: (f64, f64),
    tips: Vec<(f64, f64)>,
    sizes: Vec<(f64, f64)>,
    frame: [f64; 4],
    gap: f64,
) -> Vec<[f64; 4]> {
    pictures::names(zero, &tips, &sizes, frame, gap)
}
