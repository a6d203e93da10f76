//! Functions of the scores Z = AX of samples (the rows of A) that are not quadratic, one [`Loss`] each.

use super::{HessianVector, Smooth};
use orthopt_linalg::RowMat;
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::kernels::inner;
use orthopt_linalg::long::is_left;
use orthopt_linalg::products::{cross, gram, multiply};
use orthopt_linalg::unit::unit_of;

/// The loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// −½ Σₖ (mean ln cosh zₖ − E ln cosh ν)², ν normal, of whitened samples: columns of Z far from normal, with heavier or
    /// lighter tails (Hyvärinen 1999). The samples are A C^(−½) with C = AᵀA/m.
    Ica,
    /// −¼ mean Σₖ zₖ⁴: Z with few large entries (Zhai, Yang, Liao, Wright and Ma 2020).
    Dictionary,
    /// Σ √(‖a‖² − ‖z‖² + δ²), the distances of the samples a from the span of X and not their squares (Ding, Zhou, He and Zha
    /// 2006; Lerman and Maunu 2018). δ is a thousandth of the root mean square of ‖a‖: nearer points count as quadratic, so that
    /// f is smooth.
    RobustSubspace,
}

/// E ln cosh ν of a standard normal number ν.
const NORMAL: f64 = 0.374_567_207_491_438_1;
/// δ, relative to the root mean square of the lengths of samples.
const NEAR: f64 = 1e-3;
/// Smallest eigenvalue of C of the samples to be whitened, relative to the largest.
const SINGULAR: f64 = 1e-12;

/// A loss of m samples of n variables. A gradient costs 4mnr flops.
#[derive(Clone, Debug)]
pub struct SampleLoss {
    a: RowMat, // A (m × n), whitened for ICA
    loss: Loss,
    squares: Vec<f64>, // ‖aᵢ‖²
    near: f64,         // δ²
}

impl SampleLoss {
    /// The loss of the rows of A.
    ///
    /// # Errors
    /// Samples that are not finite; for [`Loss::Ica`] samples whose covariance is singular.
    pub fn new(loss: Loss, a: RowMat) -> Result<Self> {
        if let Some((i, j)) = a.find_non_finite() {
            return Err(Error::NotFinite { what: "the data".into(), row: i + 1, col: j + 1 });
        }
        let a = if loss == Loss::Ica { whitened(&a)? } else { a };
        let of_row = |i: usize| inner(a.row(i), a.row(i));
        let squares: Vec<f64> = (0..a.nrows()).map(of_row).collect();
        let near = NEAR * NEAR * squares.iter().sum::<f64>() / squares.len().max(1) as f64;
        Ok(Self { a, loss, squares, near })
    }

    /// Which loss it is.
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// The r leading eigenvectors of AᵀA; `None` also if it is long and cancelled.
    pub fn leading_eigenvectors(&self, r: usize) -> Option<RowMat> {
        if is_left(self.a.nrows() * self.a.ncols().pow(2)) {
            return None;
        }
        let (_, vectors) = symmetric_eigenpairs(&gram(&self.a))?;
        Some(RowMat::from_fn(self.a.ncols(), r, |i, k| vectors.get(i, k)))
    }

    /// f, and ∂f/∂Z in the place of Z.
    fn of_scores(&self, z: &mut RowMat) -> f64 {
        let (m, r) = (self.a.nrows() as f64, z.ncols());
        match self.loss {
            Loss::Ica => {
                let mut excess = vec![-NORMAL; r];
                for row in z.data().chunks_exact(r) {
                    excess.iter_mut().zip(row).for_each(|(e, z)| *e += ln_cosh(*z) / m);
                }
                for row in z.data_mut().chunks_exact_mut(r) {
                    row.iter_mut().zip(&excess).for_each(|(z, e)| *z = -e * z.tanh() / m);
                }
                -0.5 * excess.iter().map(|e| e * e).sum::<f64>()
            }
            Loss::Dictionary => {
                let mut total = 0.0;
                for z in z.data_mut() {
                    let cube = *z * *z * *z;
                    total += cube * *z;
                    *z = -cube / m;
                }
                -0.25 * total / m
            }
            Loss::RobustSubspace => {
                let mut total = 0.0;
                for (row, square) in z.data_mut().chunks_exact_mut(r).zip(&self.squares) {
                    let distance = ((square - inner(row, row)).max(0.0) + self.near).sqrt();
                    total += distance;
                    row.iter_mut().for_each(|z| *z = if distance > 0.0 { -*z / distance } else { 0.0 });
                }
                total
            }
        }
    }
}

/// ln cosh z.
fn ln_cosh(z: f64) -> f64 {
    let size = z.abs();
    size + (-2.0 * size).exp().ln_1p() - std::f64::consts::LN_2
}

/// A C^(−½), C = AᵀA/m: uncorrelated variables of variance 1, as near to those of A as they can be.
fn whitened(a: &RowMat) -> Result<RowMat> {
    let (m, n) = (a.nrows(), a.ncols());
    let unit = unit_of(a.data());
    let scaled = RowMat::from_fn(m, n, |i, j| a.get(i, j) / unit);
    let (values, vectors) =
        symmetric_eigenpairs(&gram(&scaled)).ok_or(Error::Factorisation("the eigenvalue decomposition"))?;
    let largest = values.iter().copied().fold(0.0, f64::max);
    if values.iter().copied().fold(f64::INFINITY, f64::min) <= SINGULAR * largest {
        return Err(Error::Incompatible(
            "ica needs samples whose covariance is not singular: more samples than variables, no variable that others \
             determine; take fewer columns"
                .into(),
        ));
    }
    let turned = RowMat::from_fn(n, n, |i, k| vectors.get(i, k) * (m as f64 / values[k]).sqrt());
    let root = multiply(turned.as_mat(), vectors.as_mat().transpose());
    let out = multiply(scaled.as_mat(), root.as_mat());
    Ok(out)
}

impl Smooth for SampleLoss {
    fn nrows(&self) -> usize {
        self.a.ncols()
    }

    fn value(&self, x: &RowMat) -> f64 {
        let mut z = multiply(self.a.as_mat(), x.as_mat());
        self.of_scores(&mut z)
    }

    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        self.value_and_gradient(x, g);
    }

    fn value_and_gradient(&self, x: &RowMat, g: &mut RowMat) -> f64 {
        let mut z = multiply(self.a.as_mat(), x.as_mat());
        let f = self.of_scores(&mut z);
        *g = cross(&self.a, &z);
        f
    }
}

/// Aᵀ times the derivative of ∂f/∂Z along W = AD. Cost 6mnr flops.
impl HessianVector for SampleLoss {
    fn hessian_vector(&self, x: &RowMat, d: &RowMat) -> RowMat {
        let (m, r) = (self.a.nrows(), x.ncols());
        let [z, mut w] = [x, d].map(|x| multiply(self.a.as_mat(), x.as_mat()));
        let count = m as f64;
        match self.loss {
            Loss::Ica => {
                let (mut excess, mut change) = (vec![-NORMAL; r], vec![0.0; r]);
                for (k, (z, w)) in z.data().iter().zip(w.data()).enumerate() {
                    excess[k % r] += ln_cosh(*z) / count;
                    change[k % r] += z.tanh() * w / count;
                }
                for (k, (z, w)) in z.data().iter().zip(w.data_mut()).enumerate() {
                    let t = z.tanh();
                    *w = -(change[k % r] * t + excess[k % r] * (1.0 - t * t) * *w) / count;
                }
            }
            Loss::Dictionary => {
                w.data_mut().iter_mut().zip(z.data()).for_each(|(w, z)| *w *= -3.0 * z * z / count);
            }
            Loss::RobustSubspace => {
                for (i, square) in self.squares.iter().enumerate() {
                    let (z, w) = (z.row(i), w.row_mut(i));
                    let apart = square - inner(z, z);
                    let distance = (apart.max(0.0) + self.near).sqrt();
                    let turn = if apart > 0.0 { inner(z, w) / (distance * distance) } else { 0.0 };
                    let by =
                        |w: &mut f64, z: &f64| if distance > 0.0 { -(*w + turn * z) / distance } else { 0.0 };
                    w.iter_mut().zip(z).for_each(|(w, z)| *w = by(w, z));
                }
            }
        }
        cross(&self.a, &w)
    }

    fn has_hessian(&self) -> bool {
        true
    }
}
