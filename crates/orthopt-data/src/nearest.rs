//! The nearest correlation matrix: alternating projections with Dykstra's correction.
//!
//! N. J. Higham, Computing the nearest correlation matrix, a problem from finance, IMA J. Numer. Anal. 22 (2002),
//! Algorithm 3.3.

use faer::{Mat, Side};

/// The nearest matrix.
#[derive(Clone, Debug)]
pub(crate) struct Nearest {
    /// A matrix with the same diagonal that is positive semidefinite.
    pub(crate) matrix: Mat<f64>,
    /// Projections on the cone.
    pub(crate) steps: usize,
    /// The most that an entry has changed, in correlations.
    pub(crate) largest_change: f64,
}

/// Change of the matrix, relative to its norm, that ends it.
const SETTLED: f64 = 1e-10;
const STEPS: usize = 1000;

/// The correlation matrix that is nearest to that of `c` in the Frobenius norm, with the variances of `c`. `None` where one
/// of these is not positive, or an eigendecomposition fails.
pub(crate) fn correlation(c: &Mat<f64>) -> Option<Nearest> {
    let n = c.ncols();
    // roots of the variances in a unit of their own: another unit changes no bit
    let unit = unit_of((0..n).map(|i| c[(i, i)]).fold(0.0, f64::max));
    let scales: Vec<f64> = (0..n).map(|i| (c[(i, i)] / unit).sqrt()).collect();
    if scales.iter().any(|scale| !(*scale > 0.0 && scale.is_finite())) {
        return None;
    }
    let given = Mat::from_fn(n, n, |i, j| {
        let mean = 0.5 * (c[(i, j)] / unit + c[(j, i)] / unit);
        if i == j { 1.0 } else { mean / (scales[i] * scales[j]) }
    });
    let (mut y, mut correction, mut steps) = (given.clone(), Mat::<f64>::zeros(n, n), 0);
    loop {
        steps += 1;
        let shifted = &y - &correction;
        let x = semidefinite(&shifted)?;
        correction = &x - &shifted;
        let next = Mat::from_fn(n, n, |i, j| if i == j { 1.0 } else { x[(i, j)] });
        let change = (&next - &y).norm_l2() / next.norm_l2();
        y = next;
        if change <= SETTLED || steps == STEPS {
            break;
        }
    }
    // the last point has the diagonal; its eigenvalues are moved above rounding, and its diagonal kept
    let x = semidefinite(&y)?;
    let root: Vec<f64> = (0..n).map(|i| x[(i, i)].max(f64::MIN_POSITIVE).sqrt()).collect();
    let y = Mat::from_fn(n, n, |i, j| if i == j { 1.0 } else { x[(i, j)] / (root[i] * root[j]) });
    let largest_change = (0..n).flat_map(|j| (0..n).map(move |i| (i, j))).map(|at| (y[at] - given[at]).abs());
    let largest_change = largest_change.fold(0.0, f64::max);
    let matrix =
        Mat::from_fn(n, n, |i, j| if i == j { c[(i, i)] } else { y[(i, j)] * scales[i] * scales[j] * unit });
    Some(Nearest { matrix, steps, largest_change })
}

/// The power of two at or below a positive number.
fn unit_of(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & f64::INFINITY.to_bits()).clamp(f64::MIN_POSITIVE, f64::MAX)
}

/// The nearest matrix without negative eigenvalues, symmetric to the last bit.
fn semidefinite(a: &Mat<f64>) -> Option<Mat<f64>> {
    let n = a.ncols();
    let eigen = a.self_adjoint_eigen(Side::Lower).ok()?;
    let weighted = Mat::from_fn(n, n, |i, k| eigen.U()[(i, k)] * eigen.S().column_vector()[k].max(0.0));
    let x = &weighted * eigen.U().transpose();
    Some(Mat::from_fn(n, n, |i, j| 0.5 * (x[(i, j)] + x[(j, i)])))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Higham's paper, section 4, whose solution is printed there to four digits.
    #[test]
    fn the_example_of_the_paper() {
        let a = faer::mat![
            [2.0, -1.0, 0.0, 0.0],
            [-1.0, 2.0, -1.0, 0.0],
            [0.0, -1.0, 2.0, -1.0],
            [0.0, 0.0, -1.0, 2.0]
        ];
        let indefinite = faer::mat![[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]];
        let found = correlation(&indefinite).unwrap();
        let expected = [(0, 1, 0.7607), (0, 2, 0.1573), (1, 2, 0.7607)];
        for (i, j, value) in expected {
            assert!((found.matrix[(i, j)] - value).abs() < 5e-5, "{:?}", found.matrix);
        }
        let lowest = found.matrix.self_adjoint_eigenvalues(Side::Lower).unwrap()[0];
        assert!(lowest > -1e-14 && (0..3).all(|i| found.matrix[(i, i)] == 1.0), "{lowest}");
        for power in [-301, -9, 1, 400] {
            let scale = 2f64.powi(power);
            let other = correlation(&(faer::Scale(scale) * &indefinite)).unwrap().matrix;
            assert!((0..3).all(|j| (0..3).all(|i| other[(i, j)] == scale * found.matrix[(i, j)])), "{power}");
        }
        // what is a covariance matrix stays
        let same = correlation(&a).unwrap();
        assert!((&same.matrix - &a).norm_l2() < 1e-13 && same.largest_change < 1e-14);
        assert!(correlation(&faer::mat![[0.0, 0.0], [0.0, 1.0]]).is_none());
    }
}
