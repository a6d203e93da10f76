//! Largest eigenvalues that are proved by a Cholesky factorisation which runs to its end: nothing here is shared with the code
//! that makes proofs.

use orthopt_linalg::RowMat;
use orthopt_linalg::eigen::{symmetric_eigenpairs, symmetric_eigenvalues};
use orthopt_linalg::products::{multiply, times};

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;
/// The least raise of an eigenvalue, that of zeros.
const SMALLEST: f64 = 1e-300;
/// Raises of an eigenvalue until it is proved.
const TRIALS: usize = 40;

/// The relative error of so many operations in a row, and that of computing it.
pub fn rounding(operations: usize) -> f64 {
    let ku = operations as f64 * U;
    1.01 * ku / (1.0 - ku)
}

/// True if λ₁(B) ≤ t for the symmetric B of k rows whose lower triangle is read, each entry of which is off by at most `off`: a
/// factorisation of (t − e)I − B that completes has a backward error of at most its trace times γₖ₊₁.
pub fn is_below(b: &[f64], k: usize, t: f64, off: f64, spare: &mut Vec<f64>) -> bool {
    let size = (0..k).fold(t.abs(), |most, i| most.max(b[i * k + i].abs()));
    let t = t - k as f64 * (off + rounding(k + 6) * 2.0 * size);
    spare.clear();
    spare.resize(k * k, 0.0);
    for i in 0..k {
        for j in 0..=i {
            let before: f64 = (0..j).map(|a| spare[i * k + a] * spare[j * k + a]).sum();
            let entry = if i == j { t - b[i * k + i] } else { -b[i * k + j] };
            let left = entry - before;
            if i > j {
                spare[i * k + j] = left / spare[j * k + j];
            } else if left > 0.0 && left.is_finite() {
                spare[i * k + i] = left.sqrt();
            } else {
                return false;
            }
        }
    }
    true
}

/// A number that λ₁ of the symmetric matrix is not above, each entry being off by at most `off`.
pub fn largest(m: &RowMat, off: f64) -> Option<f64> {
    let value = *symmetric_eigenvalues(m)?.first()?;
    let mut step = (1e-14 * (value.abs() + m.norm()) + m.nrows() as f64 * off).max(SMALLEST);
    let (mut t, mut spare) = (value + step, Vec::new());
    for _ in 0..TRIALS {
        if is_below(m.data(), m.nrows(), t, off, &mut spare) {
            return Some(t);
        }
        t += step;
        step *= 2.0;
    }
    None
}

/// A number that the sum of the r largest eigenvalues of the symmetric matrix is not above, from the residuals of computed
/// eigenpairs (Weyl).
pub fn sum_of_largest(m: &RowMat, r: usize, off: f64) -> Option<f64> {
    let n = m.nrows();
    let (values, v) = symmetric_eigenpairs(m)?;
    let (image, square) = (times(m, &v), cross(&v, &v));
    let residual = RowMat::from_fn(n, n, |i, k| image.get(i, k) - v.get(i, k) * values[k]).norm();
    let unit = RowMat::from_fn(n, n, |i, k| square.get(i, k) - f64::from(u8::from(i == k))).norm();
    let size = m.norm() + values.iter().fold(0.0f64, |most, w| most.max(w.abs()));
    let error = residual + 1.01 * unit * size + rounding(4 * n + 8) * (n as f64 * size) + n as f64 * off;
    let sum: f64 = values.iter().take(r).sum();
    let most = sum + r as f64 * error;
    most.is_finite().then_some(most)
}

/// A'B.
pub fn cross(a: &RowMat, b: &RowMat) -> RowMat {
    multiply(a.as_mat().transpose(), b.as_mat())
}

/// |A|.
pub fn absolute(a: &RowMat) -> RowMat {
    RowMat::from_fn(a.nrows(), a.ncols(), |i, j| a.get(i, j).abs())
}

/// The largest entry.
pub fn peak(a: &RowMat) -> f64 {
    a.data().iter().fold(0.0, |most: f64, v| if v.is_nan() { f64::NAN } else { most.max(v.abs()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(n: usize, seed: usize) -> RowMat {
        RowMat::from_fn(n, n, |i, j| (((i + 1) * (j + 1) * seed) as f64 * 0.7).sin()).symmetric_part()
    }

    #[test]
    fn eigenvalues_are_proved_from_above_and_closely() {
        for n in 1..12 {
            for seed in 1..20 {
                let m = matrix(n, seed);
                let exact = symmetric_eigenvalues(&m).unwrap();
                let found = largest(&m, 0.0).unwrap();
                assert!(found >= exact[0] && found - exact[0] < 1e-11, "{n} {seed}: {}", found - exact[0]);
                for r in 1..=n {
                    let sum: f64 = exact[..r].iter().sum();
                    let found = sum_of_largest(&m, r, 0.0).unwrap();
                    assert!(found >= sum - 1e-14 && found - sum < 1e-10, "{n} {seed} {r}");
                }
                let mut spare = Vec::new();
                assert!(!is_below(m.data(), n, exact[0] - 1e-12, 0.0, &mut spare));
                assert!(!is_below(m.data(), n, exact[0] + 1e-3, 1.0, &mut spare), "an error counts");
            }
        }
    }

    #[test]
    fn zeros_have_an_eigenvalue_of_nearly_zero() {
        assert!((0.0..1e-290).contains(&largest(&RowMat::zeros(13, 13), 0.0).unwrap()));
    }

    #[test]
    fn what_is_no_number_proves_nothing() {
        let m = RowMat::from_fn(2, 2, |_, _| f64::NAN);
        assert!(!is_below(m.data(), 2, 9.0, 0.0, &mut Vec::new()));
        assert!(!is_below(&[0.0], 1, f64::NAN, 0.0, &mut Vec::new()));
        assert!(!is_below(&[0.0], 1, 1.0, f64::NAN, &mut Vec::new()));
        assert!(largest(&m, 0.0).is_none() && sum_of_largest(&m, 1, 0.0).is_none());
    }
}
