//! Checks on matrices that are given as C.

use faer::MatRef;

use crate::error::DataError;

/// Largest difference of two entries (i, j) and (j, i), relative to the largest entry.
pub const SYMMETRY_TOLERANCE: f64 = 1e-8;

/// Checks that the shape and symmetry of a matrix are those of C = AᵀA.
///
/// # Errors
/// [`DataError::NotSquare`], or [`DataError::NotSymmetric`] with the worst pair, when a pair
/// differs by more than [`SYMMETRY_TOLERANCE`] times the largest absolute entry.
pub fn check_symmetric(matrix: MatRef<'_, f64>) -> Result<(), DataError> {
    let (rows, columns) = matrix.shape();
    if rows != columns {
        return Err(DataError::NotSquare { rows, columns });
    }
    let entries = (0..columns).flat_map(|j| (0..rows).map(move |i| matrix[(i, j)]));
    let largest = entries.fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let tolerance = SYMMETRY_TOLERANCE * largest;
    let mut worst = (tolerance, None);
    for j in 0..columns {
        for i in 0..j {
            let difference = (matrix[(i, j)] - matrix[(j, i)]).abs();
            // A NaN is the worst there is, and stays so: nothing compares as larger.
            if difference > worst.0 || (difference.is_nan() && !worst.0.is_nan()) {
                worst = (difference, Some((i, j)));
            }
        }
    }
    let Some((i, j)) = worst.1 else { return Ok(()) };
    Err(DataError::NotSymmetric {
        row: i + 1,
        column: j + 1,
        upper: matrix[(i, j)],
        lower: matrix[(j, i)],
        tolerance,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn names_the_worst_pair() {
        let mut matrix = Mat::from_fn(4, 4, |i, j| (i + j) as f64);
        assert!(check_symmetric(matrix.as_ref()).is_ok());
        matrix[(0, 1)] += 1e-9;
        assert!(check_symmetric(matrix.as_ref()).is_ok());
        matrix[(1, 0)] = 1.5;
        matrix[(3, 1)] = 9.0;
        let error = check_symmetric(matrix.as_ref()).unwrap_err().to_string();
        assert_eq!(
            error,
            "the matrix is not symmetric: entry (2, 4) is 4 but entry (4, 2) is 9 (counted from 1); \
             they may differ by 9e-8. Symmetrise it as (C + Cᵀ)/2 if that is what is meant"
        );
    }

    #[test]
    fn must_be_square() {
        let error = check_symmetric(Mat::zeros(3, 2).as_ref()).unwrap_err().to_string();
        assert!(error.starts_with("a 3 x 2 matrix cannot be C"), "{error}");
    }
}
