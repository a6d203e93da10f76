//! Largest eigenvalues of many small symmetric matrices, row by row in slices: rotations for a number, a Cholesky
//! factorisation for a proof.

use super::super::certified::gamma;

/// Sweeps of rotations; a matrix of a few rows needs fewer than ten.
const SWEEPS: usize = 30;
/// A rotation of an entry below this share of the diagonal changes no digit.
const SMALL: f64 = 1e-18;

/// Buffers for matrices of k rows.
#[derive(Clone, Debug)]
pub struct Kernel {
    k: usize,
    /// The matrix, which [`leading`](Self::leading) overwrites.
    pub b: Vec<f64>,
    /// Eigenvector of the last call of [`leading`](Self::leading).
    pub x: Vec<f64>,
    v: Vec<f64>,
    l: Vec<f64>,
}

impl Kernel {
    pub fn new(k: usize) -> Self {
        let square = || vec![0.0; k * k];
        Self { k, b: square(), x: vec![0.0; k], v: square(), l: square() }
    }

    /// tI − B ⪰ −eI by a factorisation that completes, e = [`Kernel::error`] of the size of B and t.
    pub fn is_below(&mut self, t: f64) -> bool {
        let (k, b, l) = (self.k, &self.b, &mut self.l);
        for i in 0..k {
            for j in 0..=i {
                let dot: f64 = l[i * k..i * k + j].iter().zip(&l[j * k..j * k + j]).map(|(a, b)| a * b).sum();
                let sum = if i == j { t - b[i * k + i] } else { -b[i * k + j] } - dot;
                if i > j {
                    l[i * k + j] = sum / l[j * k + j];
                } else if sum > 0.0 {
                    l[i * k + i] = sum.sqrt();
                } else {
                    return false; // NaN as well
                }
            }
        }
        true
    }

    /// What a factorisation of tI − B that completes may have missed, |t| + max |Bᵢᵢ| ≤ `size`: the backward error is at
    /// most γₖ₊₁ times the trace.
    pub fn error(k: usize, size: f64) -> f64 {
        1.01 * gamma(k + 3) * k as f64 * size
    }

    /// The largest eigenvalue of B, to rounding, and its eigenvector in `x`; cyclic rotations, about 20k³ flops.
    pub fn leading(&mut self) -> f64 {
        let k = self.k;
        let (b, v) = (&mut self.b, &mut self.v);
        if k == 1 {
            self.x[0] = 1.0;
            return b[0];
        }
        v.fill(0.0);
        (0..k).for_each(|i| v[i * (k + 1)] = 1.0);
        for _ in 0..SWEEPS {
            let mut rotated = false;
            for p in 0..k {
                for q in p + 1..k {
                    rotated |= rotate(b, v, k, p, q);
                }
            }
            if !rotated {
                break;
            }
        }
        let most = (0..k).fold(0, |m, i| if b[i * (k + 1)] > b[m * (k + 1)] { i } else { m });
        (0..k).for_each(|i| self.x[i] = v[i * k + most]);
        b[most * (k + 1)]
    }
}

/// One rotation; false where the entry is nothing beside the diagonal.
fn rotate(b: &mut [f64], v: &mut [f64], k: usize, p: usize, q: usize) -> bool {
    let (app, aqq, apq) = (b[p * k + p], b[q * k + q], b[p * k + q]);
    if apq.abs() <= SMALL * (app.abs() + aqq.abs()) || apq.is_nan() {
        return false;
    }
    let theta = (aqq - app) / (2.0 * apq);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for i in 0..k {
        let (x, y) = (b[i * k + p], b[i * k + q]);
        (b[i * k + p], b[i * k + q]) = (c * x - s * y, s * x + c * y);
    }
    for i in 0..k {
        let (x, y) = (b[p * k + i], b[q * k + i]);
        (b[p * k + i], b[q * k + i]) = (c * x - s * y, s * x + c * y);
        let (x, y) = (v[i * k + p], v[i * k + q]);
        (v[i * k + p], v[i * k + q]) = (c * x - s * y, s * x + c * y);
    }
    (b[p * k + q], b[q * k + p]) = (0.0, 0.0);
    t.abs() > f64::EPSILON
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthopt_linalg::RowMat;
    use orthopt_linalg::eigen::symmetric_eigenvalues;

    #[test]
    fn agrees_with_the_general_routine() {
        for k in 1..9 {
            for seed in 0..50 {
                let m = RowMat::from_fn(k, k, |i, j| (((i + 1) * (j + 1) * (seed + 1)) as f64 * 0.7).sin());
                let m = m.symmetric_part();
                let exact = symmetric_eigenvalues(&m).unwrap();
                let mut kernel = Kernel::new(k);
                kernel.b.copy_from_slice(m.data());
                let size = 2.0 * m.norm();
                assert!(kernel.is_below(exact[0] + Kernel::error(k, size) + 1e-13));
                assert!(!kernel.is_below(exact[0] - 1e-12 * (1.0 + size)));
                let value = kernel.leading();
                assert!((value - exact[0]).abs() <= 1e-13 * (1.0 + size), "{k} {seed}: {value} {}", exact[0]);
                for i in 0..k {
                    let image: f64 = (0..k).map(|j| m.get(i, j) * kernel.x[j]).sum();
                    assert!((image - value * kernel.x[i]).abs() <= 1e-12 * (1.0 + size));
                }
            }
        }
    }

    #[test]
    fn what_is_no_number_is_never_below() {
        for bad in [f64::NAN, f64::INFINITY] {
            let mut kernel = Kernel::new(2);
            kernel.b.copy_from_slice(&[bad, 0.0, 0.0, 1.0]);
            assert!(!kernel.is_below(9.0) && !Kernel::new(2).is_below(f64::NAN));
        }
    }
}
