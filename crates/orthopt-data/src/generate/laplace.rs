//! `laplace:N` and `laplace2:P:Q`: the Laplacians of a chain and of a grid with zero boundary, sparse
//! and symmetric positive definite. They are C itself, not samples.

use crate::dataset::{DataSet, Role};
use crate::error::DataError;
use crate::generate::Arguments;
use crate::sparse::{Columns, check_size};

/// Rows, of at most five entries each: 1.4 GB.
const MOST_ROWS: usize = 1 << 24;

/// tridiag(−1, 2, −1), N × N.
pub(super) fn chain(arguments: &mut Arguments<'_>) -> Result<DataSet, DataError> {
    let n = arguments.count("N")?;
    stencil(arguments, 1, n, 2.0)
}

/// The five-point stencil of a P × Q grid, PQ × PQ; the points of a row of the grid follow each other.
pub(super) fn grid(arguments: &mut Arguments<'_>) -> Result<DataSet, DataError> {
    let (p, q) = (arguments.count("P")?, arguments.count("Q")?);
    stencil(arguments, p, q, 4.0)
}

fn stencil(arguments: &mut Arguments<'_>, p: usize, q: usize, diagonal: f64) -> Result<DataSet, DataError> {
    arguments.nothing_more()?;
    let Some(n) = p.checked_mul(q).filter(|n| *n <= MOST_ROWS) else {
        return Err(arguments.error(format!("{p} x {q} points are more than {MOST_ROWS}")));
    };
    check_size(&arguments.budget(), n, n, 5 * n)?;
    let mut columns = Columns::new(n, 5 * n);
    for i in 0..n {
        let neighbours = [
            (i >= q).then(|| i - q),
            (i % q > 0).then(|| i - 1),
            Some(i),
            (i % q + 1 < q).then_some(i + 1),
            (i + q < n).then_some(i + q),
        ];
        for j in neighbours.into_iter().flatten() {
            columns.push(j, if j == i { diagonal } else { -1.0 });
        }
        columns.end_column();
    }
    let mut data = DataSet::new(columns.finish(), arguments.source());
    data.role = Role::Gram;
    Ok(data)
}
