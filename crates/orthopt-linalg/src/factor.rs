//! Factorisations of square matrices on one thread, so that the bits do not depend on the pool.

use faer::Mat;

use super::RowMat;
use super::sequential::{self, Svd, cholesky_solve, lu_solve};

/// Aᵀ, in square tiles that stay in the cache.
pub fn transpose(a: &RowMat) -> RowMat {
    const TILE: usize = 32;
    let (m, n) = (a.nrows(), a.ncols());
    let mut out = RowMat::zeros(n, m);
    for top in (0..m).step_by(TILE) {
        for left in (0..n).step_by(TILE) {
            for i in top..(top + TILE).min(m) {
                (left..(left + TILE).min(n)).for_each(|j| out.set(j, i, a.get(i, j)));
            }
        }
    }
    out
}

/// The lower triangular L with A = LLᵀ; `None` unless A (symmetric, its lower triangle is read)
/// is positive definite. Cost n³/3 flops.
pub fn cholesky(a: &RowMat) -> Option<RowMat> {
    if a.find_non_finite().is_some() {
        return None;
    }
    Some(RowMat::from_mat(sequential::cholesky(a.as_mat())?.as_ref()))
}

/// A⁻¹B for a symmetric positive definite A; `None` if it is not. Cost n³/3 + 2n²·ncols(B) flops.
pub fn solve_definite(a: &RowMat, b: &RowMat) -> Option<RowMat> {
    if a.find_non_finite().is_some() || b.find_non_finite().is_some() {
        return None;
    }
    let l = sequential::cholesky(a.as_mat())?;
    Some(RowMat::from_mat(cholesky_solve(l.as_ref(), b.as_mat()).as_ref()))
}

/// A⁻¹ by LU with partial pivoting; `None` where an entry is not finite. Cost 2n³ flops.
pub fn inverse(a: &RowMat) -> Option<RowMat> {
    if a.find_non_finite().is_some() {
        return None;
    }
    let identity = Mat::<f64>::identity(a.nrows(), a.nrows());
    let inverse = RowMat::from_mat(lu_solve(a.as_mat(), identity.as_ref()).as_ref());
    inverse.find_non_finite().is_none().then_some(inverse)
}

/// The full singular value decomposition A = U·diag(σ)·Vᵀ (U: m × m, V: n × n, min(m, n) values
/// in descending order); `None` if the routine does not converge.
pub fn svd(a: &RowMat) -> Option<(RowMat, Vec<f64>, RowMat)> {
    if a.find_non_finite().is_some() {
        return None;
    }
    let Svd { u, sigma, v } = sequential::svd(a.as_mat(), false)?;
    Some((RowMat::from_mat(u.as_ref()), sigma, RowMat::from_mat(v.as_ref())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::products::{cross, times};

    fn close(a: &RowMat, b: &RowMat) {
        let error = a.data().iter().zip(b.data()).fold(0.0f64, |e, (x, y)| e.max((x - y).abs()));
        assert!(error <= 1e-12, "{error:e}");
    }

    #[test]
    fn factors_multiply_back() {
        let x = RowMat::from_fn(7, 5, |i, k| ((i * (k + 2)) as f64 * 0.7 + k as f64).sin());
        let mut a = cross(&x, &x);
        (0..5).for_each(|i| a.set(i, i, a.get(i, i) + 1.0));
        let l = cholesky(&a).unwrap();
        close(&times(&l, &transpose(&l)), &a);
        let b = RowMat::from_fn(5, 3, |i, k| (i + k) as f64);
        close(&times(&a, &solve_definite(&a, &b).unwrap()), &b);
        let identity = RowMat::from_fn(5, 5, |i, j| f64::from(u8::from(i == j)));
        close(&times(&a, &inverse(&a).unwrap()), &identity);
        for m in [x.clone(), transpose(&x)] {
            let (u, sigma, v) = svd(&m).unwrap();
            let scaled = RowMat::from_fn(u.nrows(), v.nrows(), |i, k| {
                if k < sigma.len() && k < u.ncols() { u.get(i, k) * sigma[k] } else { 0.0 }
            });
            close(&times(&scaled, &transpose(&v)), &m);
        }
    }

    #[test]
    fn what_cannot_be_factored_is_none() {
        let indefinite = RowMat::from_fn(2, 2, |i, j| if i == j { 0.0 } else { 1.0 });
        let nan = RowMat::from_fn(2, 2, |_, _| f64::NAN);
        assert!(cholesky(&indefinite).is_none() && solve_definite(&indefinite, &nan).is_none());
        assert!(inverse(&RowMat::zeros(2, 2)).is_none());
        assert!(cholesky(&nan).is_none() && inverse(&nan).is_none() && svd(&nan).is_none());
    }
}
