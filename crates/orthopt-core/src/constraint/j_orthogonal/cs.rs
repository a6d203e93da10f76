//! The hyperbolic CS decomposition (JOBCD paper, Proposition 2.2, for any p and q).
//!
//! ```text
//! X[perm, perm] = blkdiag(U₁, U₂) · H(μ) · blkdiag(V₁, V₂)ᵀ
//! ```
//!
//! with perm the plus indices followed by the minus indices, p and q their numbers, U and V
//! orthogonal, and H = I but for Hᵢᵢ = H_{p+i,p+i} = cosh μᵢ, H_{i,p+i} = H_{p+i,i} = sinh μᵢ for
//! i < min(p, q). The singular values of X are e^{±μᵢ} and ones.

use rand::RngExt;
use rand_pcg::Pcg64;

use super::Signature;
use crate::constraint::stiefel;
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::factor::{svd, transpose};
use orthopt_linalg::products::{cross, multiply};

/// The factors; p × p, q × q and min(p, q) numbers.
#[derive(Clone, Debug)]
pub struct CsFactors {
    /// U₁ (p × p).
    pub u1: RowMat,
    /// U₂ (q × q).
    pub u2: RowMat,
    /// V₁ (p × p).
    pub v1: RowMat,
    /// V₂ (q × q).
    pub v2: RowMat,
    /// μ.
    pub mu: Vec<f64>,
}

/// A random J-orthogonal X: U and V Haar distributed, μᵢ uniform in [0, `mu_max`]. ‖X‖₂ ≤
/// e^mu_max; one sign only gives a Haar distributed orthogonal matrix. Cost O(n³).
///
/// # Errors
/// `mu_max` negative or above 10, where rounding errors of X are no longer small relative to X.
pub fn random(j: &Signature, mu_max: f64, rng: &mut Pcg64) -> Result<RowMat> {
    if !(0.0..=10.0).contains(&mu_max) {
        return Err(Error::InvalidOption {
            option: "mu-max".into(),
            value: mu_max.to_string(),
            expected: "a number from 0 to 10; ||X|| is at most exp(mu-max)".into(),
        });
    }
    Ok(draw(j, mu_max, rng))
}

/// [`random`] for a valid `mu_max`.
pub(super) fn draw(j: &Signature, mu_max: f64, rng: &mut Pcg64) -> RowMat {
    let (p, q) = (j.plus().len(), j.minus().len());
    let mut haar = |k: usize| stiefel::random(k, k, rng);
    let (u1, u2, v1, v2) = (haar(p), haar(q), haar(p), haar(q));
    let mu = (0..p.min(q)).map(|_| mu_max * rng.random::<f64>()).collect();
    CsFactors { u1, u2, v1, v2, mu }.compose(j)
}

impl CsFactors {
    /// X from its factors. Cost O(n³).
    pub fn compose(&self, j: &Signature) -> RowMat {
        let h = self.apply_h(&self.u1, &self.u2);
        let mut x = RowMat::zeros(j.len(), j.len());
        // the columns of blkdiag(U)·H times blkdiag(V)ᵀ, one block column at a time
        let p = self.u1.nrows();
        for (cols, v, from) in [(j.plus(), &self.v1, 0), (j.minus(), &self.v2, p)] {
            let k = cols.len();
            let left = RowMat::from_fn(j.len(), k, |i, c| h.get(i, from + c));
            let block = multiply(left.as_mat(), v.as_mat().transpose());
            for (at, row) in j.plus().iter().chain(j.minus()).enumerate() {
                cols.iter().enumerate().for_each(|(c, col)| x.set(*row, *col, block.get(at, c)));
            }
        }
        x
    }

    /// blkdiag(U₁, U₂)·H(μ), n × n in the order of perm.
    fn apply_h(&self, u1: &RowMat, u2: &RowMat) -> RowMat {
        let (p, q) = (u1.nrows(), u2.nrows());
        let mut out = RowMat::zeros(p + q, p + q);
        (0..p).for_each(|i| out.row_mut(i)[..p].copy_from_slice(u1.row(i)));
        (0..q).for_each(|i| out.row_mut(p + i)[p..].copy_from_slice(u2.row(i)));
        for (k, mu) in self.mu.iter().enumerate() {
            let (c, s) = (mu.cosh(), mu.sinh());
            for i in 0..p + q {
                let (a, b) = (out.get(i, k), out.get(i, p + k));
                out.set(i, k, c * a + s * b);
                out.set(i, p + k, s * a + c * b);
            }
        }
        out
    }

    /// The factors of a J-orthogonal X, with errors of about eps·‖X‖₂²; `None` if the singular
    /// value routine fails. Cost O(n³).
    ///
    /// XXᵀ has the off-diagonal block U₁ sinh(2μ) U₂ᵀ, whose full decomposition gives U and μ;
    /// then blkdiag(V)ᵀ = H(−μ) blkdiag(U)ᵀ X.
    pub fn decompose(x: &RowMat, j: &Signature) -> Option<Self> {
        let rows = |index: &[usize]| RowMat::from_fn(index.len(), j.len(), |i, k| x.get(index[i], k));
        let (top, bottom) = (rows(j.plus()), rows(j.minus()));
        let (p, q) = (top.nrows(), bottom.nrows());
        let identity = |k: usize| RowMat::from_fn(k, k, |a, b| f64::from(u8::from(a == b)));
        let (u1, sigma, u2) = if p == 0 || q == 0 {
            (identity(p), Vec::new(), identity(q))
        } else {
            let off = multiply(top.as_mat(), bottom.as_mat().transpose());
            svd(&off)?
        };
        let mu: Vec<f64> = sigma.iter().map(|s| 0.5 * s.asinh()).collect();
        let (mut a, mut b) = (cross(&u1, &top), cross(&u2, &bottom)); // blkdiag(U)ᵀ X
        for (k, mu) in mu.iter().enumerate() {
            let (c, s) = (mu.cosh(), mu.sinh());
            for col in 0..j.len() {
                let (x1, x2) = (a.get(k, col), b.get(k, col));
                a.set(k, col, c * x1 - s * x2);
                b.set(k, col, c * x2 - s * x1);
            }
        }
        let part = |m: &RowMat, index: &[usize]| {
            stiefel::orthonormalise(&transpose(&RowMat::from_fn(m.nrows(), index.len(), |i, k| {
                m.get(i, index[k])
            })))
        };
        Some(Self { v1: part(&a, j.plus()), v2: part(&b, j.minus()), u1, u2, mu })
    }
}
