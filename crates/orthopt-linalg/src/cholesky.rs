//! Cholesky factors of small symmetric positive definite matrices (r × r), and the QR factorisation
//! of a tall matrix through its Gram matrix.

use super::RowMat;
use super::kernels::{axpy, dot};
use super::products::{gram, multiply};
use super::simd::{Simd, WithSimd, dispatch};

/// The lower triangular L with A = LLᵀ, of which the lower triangle is read; zeros above. `None`
/// where A is not positive definite to rounding. Cost r³/3 flops.
pub fn cholesky(a: &RowMat) -> Option<RowMat> {
    dispatch(Factor(a))
}

struct Factor<'a>(&'a RowMat);

impl WithSimd for Factor<'_> {
    type Output = Option<RowMat>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Option<RowMat> {
        let n = self.0.nrows();
        let mut l = RowMat::zeros(n, n);
        for i in 0..n {
            for j in 0..=i {
                let sum = self.0.get(i, j) - dot(simd, &l.row(i)[..j], &l.row(j)[..j]);
                if i > j {
                    l.set(i, j, sum / l.get(j, j));
                } else if sum > f64::EPSILON * self.0.get(i, i).abs() && sum.is_finite() {
                    l.set(i, i, sum.sqrt());
                } else {
                    return None;
                }
            }
        }
        Some(l)
    }
}

/// (LLᵀ)⁻¹B for B (n × k), rows of B as right-hand sides of all columns at once. Cost 2n²k flops.
pub fn solve(l: &RowMat, b: &RowMat) -> RowMat {
    let n = l.nrows();
    let mut y = b.clone();
    for i in 0..n {
        for j in 0..i {
            subtract_row(&mut y, i, j, l.get(i, j));
        }
        scale_row(&mut y, i, 1.0 / l.get(i, i));
    }
    for i in (0..n).rev() {
        for j in i + 1..n {
            subtract_row(&mut y, i, j, l.get(j, i));
        }
        scale_row(&mut y, i, 1.0 / l.get(i, i));
    }
    y
}

/// L⁻ᵀ, upper triangular.
fn inverse_transposed(l: &RowMat) -> RowMat {
    let n = l.nrows();
    // rows of L⁻¹ by forward substitution, then transposed
    let mut inverse = RowMat::from_fn(n, n, |i, j| f64::from(u8::from(i == j)));
    for i in 0..n {
        for j in 0..i {
            subtract_row(&mut inverse, i, j, l.get(i, j));
        }
        scale_row(&mut inverse, i, 1.0 / l.get(i, i));
    }
    RowMat::from_fn(n, n, |i, j| inverse.get(j, i))
}

/// The Q factor of X (n × r), R with a positive diagonal, as XL⁻ᵀ with XᵀX = LLᵀ: two matrix
/// products, 4nr² flops at their speed. ‖QᵀQ − I‖ is about the square of the condition number of
/// X in units of rounding, so it is for X that are nearly orthonormal, and `None` where X is not.
pub fn cholesky_qr(x: &RowMat) -> Option<RowMat> {
    let l = cholesky(&gram(x))?;
    let (mut least, mut most) = (f64::INFINITY, 0.0f64);
    for k in 0..l.nrows() {
        (least, most) = (least.min(l.get(k, k)), most.max(l.get(k, k)));
    }
    if least < 1e-3 * most {
        return None;
    }
    let q = multiply(x.as_mat(), inverse_transposed(&l).as_mat());
    Some(q)
}

/// Row i −= c · row j.
fn subtract_row(y: &mut RowMat, i: usize, j: usize, c: f64) {
    let k = y.ncols();
    let (low, high) = y.data_mut().split_at_mut(i.max(j) * k);
    if j < i {
        axpy(-c, &low[j * k..(j + 1) * k], &mut high[..k]);
    } else {
        axpy(-c, &high[..k], &mut low[i * k..(i + 1) * k]);
    }
}

fn scale_row(y: &mut RowMat, i: usize, c: f64) {
    y.row_mut(i).iter_mut().for_each(|v| *v *= c);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orthonormal::orthonormalise;

    fn sample(n: usize, r: usize) -> RowMat {
        RowMat::from_fn(n, r, |i, k| ((i * (k + 2) + 3 * k) as f64 * 0.7).sin() + f64::from(u8::from(i == k)))
    }

    fn distance(a: &RowMat, b: &RowMat) -> f64 {
        a.data().iter().zip(b.data()).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()))
    }

    #[test]
    fn factor_and_solve() {
        for r in [1, 2, 5, 13] {
            let a = gram(&sample(40, r));
            let l = cholesky(&a).unwrap();
            let back = multiply(l.as_mat(), l.as_mat().transpose());
            assert!(distance(&a, &back) <= 1e-13 * a.norm());
            let b = sample(r, 3);
            let x = solve(&l, &b);
            let ax = multiply(a.as_mat(), x.as_mat());
            assert!(distance(&ax, &b) <= 1e-11 * b.norm());
        }
        assert!(cholesky(&RowMat::zeros(3, 3)).is_none());
        assert!(cholesky(&RowMat::from_fn(2, 2, |i, j| if i == j { 1.0 } else { 2.0 })).is_none());
        assert!(cholesky(&RowMat::from_fn(2, 2, |_, _| f64::NAN)).is_none());
    }

    #[test]
    fn cholesky_qr_is_the_q_factor_of_householder() {
        for (n, r) in [(7, 1), (50, 6), (300, 20)] {
            let x = sample(n, r);
            let (fast, slow) = (cholesky_qr(&x).unwrap(), orthonormalise(&x));
            assert!(distance(&fast, &slow) <= 1e-10, "{n} {r}: {:e}", distance(&fast, &slow));
        }
        assert!(cholesky_qr(&RowMat::from_fn(9, 2, |i, _| i as f64)).is_none());
        assert!(cholesky_qr(&RowMat::from_fn(9, 2, |i, k| if k == 0 { 1e5 } else { i as f64 })).is_none());
    }
}
