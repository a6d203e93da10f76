//! Functions of small symmetric matrices (r × r) by their eigendecomposition.

use super::RowMat;
use super::eigen::decompose;
use super::products::{gram, multiply};
use super::sequential::{Svd, svd};
use super::work::count;

/// Eigenvalues in ascending order and eigenvectors as columns of a symmetric matrix, of which
/// the lower triangle is read. `None` if the routine does not converge. Cost O(r³).
pub fn symmetric_eigen(a: &RowMat) -> Option<(Vec<f64>, RowMat)> {
    let (values, vectors) = decompose(a, true)?;
    Some((values, RowMat::from_mat(vectors.as_ref())))
}

/// U·diag(f(w))·Uᵀ for A = U·diag(w)·Uᵀ.
pub fn spectral_function(a: &RowMat, f: impl Fn(f64) -> f64) -> Option<RowMat> {
    let (values, vectors) = symmetric_eigen(a)?;
    let scaled = RowMat::from_fn(a.nrows(), a.nrows(), |i, k| vectors.get(i, k) * f(values[k]));
    let out = multiply(scaled.as_mat(), vectors.as_mat().transpose());
    Some(out)
}

/// The polar factor UVᵀ of X = UΣVᵀ (n × r, rank r): the nearest matrix with orthonormal columns.
/// `None` where X has lost rank.
///
/// Through the eigendecomposition of XᵀX and a second pass for the digits that squaring loses,
/// 8nr² flops; a thin SVD where X is too ill-conditioned for that.
pub fn polar(x: &RowMat) -> Option<RowMat> {
    if x.nrows() < x.ncols() {
        return None; // its rank is at most the number of its rows
    }
    count(40_000 + 30 * x.data().len());
    let (values, _) = symmetric_eigen(&gram(x))?;
    let largest = values.last().copied().unwrap_or(0.0);
    if largest <= 0.0 || largest.is_nan() {
        return None;
    }
    if values[0] < 1e-8 * largest {
        return polar_by_svd(x);
    }
    let once = |x: &RowMat| -> Option<RowMat> {
        let root = spectral_function(&gram(x), |w| 1.0 / w.max(f64::MIN_POSITIVE).sqrt())?;
        let out = multiply(x.as_mat(), root.as_mat());
        Some(out)
    };
    once(&once(x)?)
}

fn polar_by_svd(x: &RowMat) -> Option<RowMat> {
    let Svd { u, sigma, v } = svd(x.as_mat(), true)?;
    let r = x.ncols();
    if sigma[r - 1].is_nan() || sigma[r - 1] <= 1e-14 * sigma[0] {
        return None;
    }
    let out = multiply(u.as_ref(), v.transpose());
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(n: usize, r: usize, last: f64) -> RowMat {
        RowMat::from_fn(n, r, |i, k| {
            let scale = if k == r - 1 { last } else { 1.0 };
            scale * ((i * (k + 2)) as f64 * 0.7 + k as f64).sin()
        })
    }

    #[test]
    fn polar_factor_is_that_of_the_svd() {
        for last in [1.0, 1e-3, 1e-6, 1e-9] {
            let x = sample(40, 5, last);
            let (fast, slow) = (polar(&x).unwrap(), polar_by_svd(&x).unwrap());
            let error = fast.data().iter().zip(slow.data()).fold(0.0f64, |e, (a, b)| e.max((a - b).abs()));
            assert!(error <= 1e-15 / last.min(1e-4), "{last}: {error:e}");
            assert!(crate::feasibility(&fast) <= 1e-14, "{last}");
        }
        assert!(polar(&RowMat::zeros(4, 2)).is_none());
        assert!(polar(&RowMat::from_fn(1, 2, |_, k| 1.0 + k as f64)).is_none());
        assert!(polar(&RowMat::from_fn(2, 3, |i, k| ((i + 2 * k) as f64).cos())).is_none());
        assert!(polar(&RowMat::from_fn(4, 2, |i, _| i as f64)).is_none());
        assert!(polar(&RowMat::from_fn(4, 2, |_, _| f64::NAN)).is_none());
    }

    #[test]
    fn spectral_function_squares_and_inverts() {
        let x = sample(9, 3, 1.0);
        let g = gram(&x);
        let root = spectral_function(&g, f64::sqrt).unwrap();
        let square = multiply(root.as_mat(), root.as_mat());
        square.data().iter().zip(g.data()).for_each(|(a, b)| assert!((a - b).abs() <= 1e-12 * g.norm()));
    }
}
