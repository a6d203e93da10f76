//! Problems with limits of nonzeros, and with other measures of variance than that of each component by itself.

pub(crate) mod cardinality;
pub(crate) mod measured;
pub(crate) mod uncorrelated;

pub use cardinality::CardinalityProblem;
pub use measured::{MeasuredProblem, Share};
pub use uncorrelated::UncorrelatedProblem;
pub use uncorrelated::takes_one_by_one;

use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};

/// Refuses an X, called `what`, of another shape than n × r, or with a number that is not finite.
fn check_numbers(x: &RowMat, what: &str, (expected_rows, expected_cols): (usize, usize)) -> Result<()> {
    let (rows, cols) = (x.nrows(), x.ncols());
    if (rows, cols) != (expected_rows, expected_cols) {
        return Err(Error::Shape { what: what.into(), rows, cols, expected_rows, expected_cols });
    }
    x.find_non_finite().map_or(Ok(()), |(row, col)| {
        let at = format!("{what} is not finite in row {}, column {}", row + 1, col + 1);
        Err(Error::Incompatible(at.into()))
    })
}

/// Divides columns by their lengths.
fn scale_columns(x: &mut RowMat) {
    for k in 0..x.ncols() {
        let length = (0..x.nrows()).map(|i| x.get(i, k).powi(2)).sum::<f64>().sqrt();
        (0..x.nrows()).for_each(|i| x.set(i, k, x.get(i, k) / length));
    }
}
