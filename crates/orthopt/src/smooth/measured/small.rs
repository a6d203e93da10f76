//! The measures as functions of S = XᵀCX and W = XᵀC²X (r × r): values without allocation, and weights of the gradient.

use super::Measure;
use crate::linalg::RowMat;
use crate::linalg::unit::power_of_two;

/// A pivot of S below this share of the diagonal entry it comes from is rounding: that score is a combination of others.
const DEPENDENT: f64 = 1e-10;
/// An eigenvalue of S counts as at least this share of tr S where it is divided by.
const SMALLEST: f64 = 1e-12;
/// Sweeps of the eigenvalue routine; it converges in fewer than ten.
const SWEEPS: usize = 40;

/// Workspace for r × r matrices, which are slices by rows.
#[derive(Clone, Debug)]
pub(crate) struct Small {
    r: usize,
    given: bool,       // pivots in the order of the columns
    order: Vec<usize>, // of the pivots
    l: Vec<f64>,       // unit lower L of S = L·Diag(d)·Lᵀ in this order
    d: Vec<f64>,       // 0 where a pivot is rounding; that column of L is zero
    z: Vec<f64>,
    a: Vec<f64>, // eigenvalues on the diagonal
    v: Vec<f64>, // eigenvectors as columns
}

impl Small {
    /// For r columns. Adjusted variance has its order from the variances of scores, or, where `given`, from the columns.
    pub fn new(r: usize, given: bool) -> Self {
        let square = || vec![0.0; r * r];
        Self {
            r,
            given,
            order: (0..r).collect(),
            l: square(),
            d: vec![0.0; r],
            z: square(),
            a: square(),
            v: square(),
        }
    }

    /// The measure of S and W; W is looked at for [`Measure::Explained`] only. Cost O(r³).
    pub fn value(&mut self, measure: Measure, s: &[f64], w: &[f64]) -> f64 {
        let r = self.r;
        match measure {
            Measure::Variance => (0..r).map(|j| s[j * r + j]).sum(),
            Measure::Adjusted => {
                self.factor(s);
                (0..r).map(|j| self.d[j]).sum()
            }
            Measure::Polar => {
                let unit = self.root(s);
                unit * (0..r).map(|j| self.z[j * r + j].powi(2)).sum::<f64>()
            }
            Measure::Explained => {
                self.factor(s);
                self.quotient(w)
            }
        }
    }

    /// The measure with Q and P such that its gradient is 2(CXQ + C²XP); P is `None` where it is zero.
    pub fn weights(&mut self, measure: Measure, s: &[f64], w: &[f64]) -> (f64, RowMat, Option<RowMat>) {
        let r = self.r;
        let value = self.value(measure, s, w);
        let identity = || RowMat::from_fn(r, r, |a, b| f64::from(u8::from(a == b)));
        match measure {
            Measure::Variance => (value, identity(), None),
            Measure::Adjusted => {
                // UUᵀ for U = L⁻ᵀ, the unit upper triangular U with least tr UᵀSU
                let u = self.inverse_factor();
                let mut q = RowMat::zeros(r, r);
                for a in 0..r {
                    for b in 0..r {
                        let sum: f64 = (0..r).map(|j| u[j * r + a] * u[j * r + b]).sum();
                        q.set(self.order[a], self.order[b], sum);
                    }
                }
                (value, q, None)
            }
            Measure::Polar => {
                // of degree 0 in S, so that the unit of `root` does not matter
                let root: Vec<f64> = (0..r).map(|j| self.z[j * r + j]).collect();
                let trace: f64 = (0..r).map(|j| self.a[j * r + j]).sum();
                let least = (SMALLEST * trace).max(f64::MIN_POSITIVE);
                let sigma: Vec<f64> = (0..r).map(|j| self.a[j * r + j].max(least).sqrt()).collect();
                let v = |a: usize, k: usize| self.v[a * r + k];
                let inner = RowMat::from_fn(r, r, |a, b| {
                    let sum: f64 = (0..r).map(|j| v(j, a) * 2.0 * root[j] * v(j, b)).sum();
                    sum / (sigma[a] + sigma[b])
                });
                let half = RowMat::from_fn(r, r, |i, b| (0..r).map(|a| v(i, a) * inner.get(a, b)).sum());
                let q = RowMat::from_fn(r, r, |i, j| (0..r).map(|b| half.get(i, b) * v(j, b)).sum());
                (value, q, None)
            }
            Measure::Explained => {
                let u = self.inverse_factor();
                // S⁻¹ on the columns whose pivots count
                let mut p = RowMat::zeros(r, r);
                for a in 0..r {
                    for b in 0..r {
                        let counted = (0..r).filter(|j| self.d[*j] > 0.0);
                        let sum: f64 = counted.map(|j| u[j * r + a] * u[j * r + b] / self.d[j]).sum();
                        p.set(self.order[a], self.order[b], sum);
                    }
                }
                let half = RowMat::from_fn(r, r, |a, b| (0..r).map(|c| p.get(a, c) * w[c * r + b]).sum());
                let q =
                    RowMat::from_fn(r, r, |a, b| -(0..r).map(|c| half.get(a, c) * p.get(c, b)).sum::<f64>());
                (value, q, Some(p))
            }
        }
    }

    /// L and d of S = L·Diag(d)·Lᵀ.
    fn factor(&mut self, s: &[f64]) {
        let (r, given) = (self.r, self.given);
        let Self { order, l, d, .. } = self;
        order.iter_mut().enumerate().for_each(|(k, o)| *o = k);
        if !given {
            // few numbers, nearly in order: insertion, and the first of equal ones stays the first
            for k in 1..r {
                let mut at = k;
                while at > 0 && s[order[at] * (r + 1)] > s[order[at - 1] * (r + 1)] {
                    order.swap(at, at - 1);
                    at -= 1;
                }
            }
        }
        for j in 0..r {
            let own = s[order[j] * (r + 1)];
            let pivot = own - (0..j).map(|k| l[j * r + k] * l[j * r + k] * d[k]).sum::<f64>();
            d[j] = if pivot > DEPENDENT * own { pivot } else { 0.0 };
            l[j * r + j] = 1.0;
            for i in j + 1..r {
                let sum: f64 = (0..j).map(|k| l[i * r + k] * l[j * r + k] * d[k]).sum();
                let entry = s[order[i] * r + order[j]] - sum;
                l[i * r + j] = if d[j] > 0.0 { entry / d[j] } else { 0.0 };
            }
        }
    }

    /// tr(S⁻¹W) over the columns whose pivots count.
    fn quotient(&mut self, w: &[f64]) -> f64 {
        let r = self.r;
        let Self { order, l, d, z, .. } = self;
        // Z = L⁻¹W in the order of the pivots
        for c in 0..r {
            for a in 0..r {
                let sum: f64 = (0..a).map(|b| l[a * r + b] * z[b * r + c]).sum();
                z[a * r + c] = w[order[a] * r + order[c]] - sum;
            }
        }
        let mut total = 0.0;
        for c in 0..r {
            // row c of Z·L⁻ᵀ up to its diagonal
            for a in 0..=c {
                let sum: f64 = (0..a).map(|b| l[a * r + b] * z[c * r + b]).sum();
                z[c * r + a] -= sum;
            }
            if d[c] > 0.0 {
                total += z[c * r + c] / d[c];
            }
        }
        total
    }

    /// L⁻¹ by rows.
    fn inverse_factor(&self) -> Vec<f64> {
        let (r, l) = (self.r, &self.l);
        let mut u = vec![0.0; r * r];
        for a in 0..r {
            u[a * r + a] = 1.0;
            for c in 0..a {
                u[a * r + c] = -(c..a).map(|b| l[a * r + b] * u[b * r + c]).sum::<f64>();
            }
        }
        u
    }

    /// S^{1/2} in `z`, with eigenvalues and eigenvectors of S in `a` and `v`, all of S divided by the power of two that is
    /// returned: square roots of data scaled by an odd one have other bits.
    fn root(&mut self, s: &[f64]) -> f64 {
        let r = self.r;
        let unit = power_of_two((0..r).map(|j| s[j * (r + 1)]).sum());
        self.a.iter_mut().zip(s).for_each(|(a, s)| *a = s / unit);
        diagonalise(r, &mut self.a, &mut self.v);
        for i in 0..r {
            for j in 0..=i {
                let term =
                    |k: usize| self.v[i * r + k] * self.a[k * (r + 1)].max(0.0).sqrt() * self.v[j * r + k];
                let entry = (0..r).map(term).sum();
                self.z[i * r + j] = entry;
                self.z[j * r + i] = entry;
            }
        }
        unit
    }
}

/// Eigenvalues on the diagonal of `a` and eigenvectors as columns of `v` by rotations of Jacobi (Golub and Van Loan, Matrix
/// Computations, section 8.5): for matrices of a few rows, and without allocation.
fn diagonalise(r: usize, a: &mut [f64], v: &mut [f64]) {
    v.fill(0.0);
    (0..r).for_each(|k| v[k * (r + 1)] = 1.0);
    let size: f64 = a.iter().map(|x| x * x).sum();
    for _ in 0..SWEEPS {
        let off: f64 =
            (0..r).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i * r + j].powi(2)).sum();
        if off <= 1e-34 * size || off.is_nan() {
            break;
        }
        for p in 0..r {
            for q in p + 1..r {
                let apq = a[p * r + q];
                if apq == 0.0 {
                    continue;
                }
                let theta = (a[q * (r + 1)] - a[p * (r + 1)]) / (2.0 * apq);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..r {
                    let (x, y) = (a[k * r + p], a[k * r + q]);
                    (a[k * r + p], a[k * r + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..r {
                    let (x, y) = (a[p * r + k], a[q * r + k]);
                    (a[p * r + k], a[q * r + k]) = (c * x - s * y, s * x + c * y);
                    let (x, y) = (v[k * r + p], v[k * r + q]);
                    (v[k * r + p], v[k * r + q]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
}
