//! All eigenpairs of a symmetric matrix, on the calling thread.
//!
//! [`super::small::symmetric_eigen`] hands its work to one shared thread; searches that run in
//! parallel would queue there. Here the routine is called below the interface that takes the
//! number of threads, so the bits do not depend on that number.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par};

use super::RowMat;
use super::long::or_cancelled;
use super::unit::unit_of;
use super::work::count;

/// Eigenvalues in descending order and, as columns, their eigenvectors; the lower triangle of `a` is
/// read. `None` where an entry is not finite, the routine does not converge, or n is large and the work
/// is cancelled (`linalg/long.rs`). Cost 9n³ flops.
pub fn symmetric_eigenpairs(a: &RowMat) -> Option<(Vec<f64>, RowMat)> {
    let n = a.nrows();
    let (ascending, vectors) = decompose(a, true)?;
    let reversed = RowMat::from_fn(n, n, |i, k| vectors[(i, n - 1 - k)]);
    Some((ascending.into_iter().rev().collect(), reversed))
}

/// Eigenvalues in descending order. Cost 4n³/3 flops.
pub fn symmetric_eigenvalues(a: &RowMat) -> Option<Vec<f64>> {
    let (mut values, _) = decompose(a, false)?;
    values.reverse();
    Some(values)
}

/// Eigenvalues in ascending order, and eigenvectors where they are requested (else a matrix without entries).
pub(super) fn decompose(a: &RowMat, with_vectors: bool) -> Option<(Vec<f64>, Mat<f64>)> {
    if a.find_non_finite().is_some() {
        return None;
    }
    let n = a.nrows();
    // in a unit that is near its entries: the routine has absolute thresholds
    let unit = unit_of(a.data());
    let a = RowMat::from_fn(n, n, |i, j| a.get(i, j) / unit);
    let work = 8 * n * n * n;
    count(work);
    if n == 0 {
        return Some((Vec::new(), Mat::zeros(0, 0))); // which the routine would not survive
    }
    let factorise = move || {
        let wanted = if with_vectors { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
        let mut vectors = if with_vectors { Mat::zeros(n, n) } else { Mat::zeros(0, 0) };
        let scratch = self_adjoint_evd_scratch::<f64>(n, wanted, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(scratch);
        let mut values = Diag::<f64>::zeros(n);
        self_adjoint_evd(
            a.as_mat(),
            values.as_mut(),
            with_vectors.then(|| vectors.as_mut()),
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        )
        .ok()?;
        Some(((0..n).map(|k| values.column_vector()[k] * unit).collect(), vectors))
    };
    or_cancelled(work, factorise)?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::small::symmetric_eigen;

    #[test]
    fn agrees_with_the_shared_thread() {
        for n in [1, 2, 7, 40] {
            let a = RowMat::from_fn(n, n, |i, j| ((i * j + i + j) as f64 * 0.37).sin());
            let (values, vectors) = symmetric_eigenpairs(&a).unwrap();
            let (slow, _) = symmetric_eigen(&a).unwrap();
            let alone = symmetric_eigenvalues(&a).unwrap();
            for k in 0..n {
                assert!((values[k] - slow[n - 1 - k]).abs() <= 1e-13 * n as f64);
                assert!((values[k] - alone[k]).abs() <= 1e-13 * n as f64);
                for i in 0..n {
                    let image: f64 = (0..n).map(|j| a.get(i, j) * vectors.get(j, k)).sum();
                    assert!((image - values[k] * vectors.get(i, k)).abs() <= 1e-13 * n as f64);
                }
            }
        }
        assert_eq!(symmetric_eigenvalues(&RowMat::zeros(0, 0)), Some(vec![]));
        assert!(symmetric_eigenpairs(&RowMat::from_fn(2, 2, |_, _| f64::NAN)).is_none());
    }
}
