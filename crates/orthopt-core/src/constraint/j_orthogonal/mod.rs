//! The J-orthogonal group {X ∈ ℝⁿˣⁿ : XᵀJX = J}, J a diagonal of signs.
//!
//! XᵀJX = J implies X⁻¹ = JXᵀJ and XJXᵀ = J, so Xᵀ belongs to the group too, every row has
//! xᵢJxᵢᵀ = Jᵢᵢ and so |xᵢ| ≥ 1, and ‖X‖₂ = ‖X⁻¹‖₂ ≥ 1. Where both signs occur the group is not
//! compact: ‖X‖ has no bound, and rounding leaves a residual of about eps·‖X‖²
//! (docs/mathematics.md, section 9).
//! With one sign only it is the orthogonal group.
//!
//! With W = ∇f(X)Xᵀ, the skew matrix Ω = JW − (JW)ᵀ holds the derivatives of f along all plane
//! rotations, circular and hyperbolic, of pairs of rows; X is critical when it vanishes.

mod cs;
mod qr;
mod repair;
mod signature;

pub use cs::{CsFactors, random};
pub use qr::{HyperbolicQr, hyperbolic_qr};
pub use repair::{polar, repair};
pub use signature::Signature;

use rand_pcg::Pcg64;

use super::Constraint;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::is_over;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::products::{cross, multiply, product, symmetric_cross};
use orthopt_linalg::small::symmetric_eigen;

/// Largest mean |XᵀJX − J| of a starting point that is accepted (and then repaired).
pub const START_TOLERANCE: f64 = 1e-6;

/// n × n matrices with XᵀJX = J.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct JOrthogonal {
    /// J.
    pub signature: Signature,
}

/// μ_max of a random point: ‖X‖ ≤ e.
const RANDOM_MU: f64 = 1.0;

impl JOrthogonal {
    /// The group of J.
    pub fn new(signature: Signature) -> Self {
        Self { signature }
    }
}

impl Constraint for JOrthogonal {
    fn shape(&self) -> (usize, usize) {
        (self.signature.len(), self.signature.len())
    }

    /// The mean of |XᵀJX − J|.
    fn feasibility(&self, x: &RowMat) -> f64 {
        feasibility(x, &self.signature)
    }

    fn check(&self, x: &RowMat, what: &str) -> Result<()> {
        check(x, &self.signature, what)
    }

    fn repair(&self, x: &mut RowMat) -> f64 {
        repair(x, &self.signature).unwrap_or_else(|| residual(x, &self.signature).norm())
    }

    /// A random hyperbolic CS decomposition with ‖X‖ ≤ e.
    fn random(&self, rng: &mut Pcg64) -> RowMat {
        cs::draw(&self.signature, RANDOM_MU, rng)
    }

    fn tangent(&self, x: &RowMat, d: &RowMat) -> RowMat {
        tangent(x, d, &self.signature)
    }
}

/// XᵀJX − J.
pub fn residual(x: &RowMat, j: &Signature) -> RowMat {
    let mut e = symmetric_cross(x, &j.times(x));
    (0..j.len()).for_each(|i| e.set(i, i, e.get(i, i) - j.sign(i)));
    e
}

/// The mean of |XᵀJX − J| over all entries, the measure of the papers. Cost n³ flops.
pub fn feasibility(x: &RowMat, j: &Signature) -> f64 {
    mean_abs(&residual(x, j))
}

/// [`feasibility`] divided by max(1, ‖X‖₂²), the unit in which rounding counts.
pub fn relative_feasibility(x: &RowMat, j: &Signature) -> f64 {
    feasibility(x, j) / spectral_norm(x).powi(2).max(1.0)
}

/// A measured [`feasibility`] of X in that unit; `None` if X is large and the work is cancelled. Cost O(n²).
pub fn relative(feasibility: f64, x: &RowMat) -> Option<f64> {
    let is_large = x.data().len() > LARGE;
    Some(feasibility / norm_unless(x, || is_large && is_over())?.powi(2).max(1.0))
}

/// Entries of X from which on its norm takes a tenth of a second.
const LARGE: usize = 250_000;

fn mean_abs(e: &RowMat) -> f64 {
    e.data().iter().map(|v| v.abs()).sum::<f64>() / e.data().len().max(1) as f64
}

/// ‖X‖₂ from below, to a few digits: power iteration on XᵀX from a fixed vector.
pub fn spectral_norm(x: &RowMat) -> f64 {
    norm_unless(x, || false).unwrap_or(f64::NAN)
}

/// ‖X‖₂ as in [`spectral_norm`], or `None` if `over` becomes true during the iteration.
fn norm_unless(x: &RowMat, over: impl Fn() -> bool) -> Option<f64> {
    let (n, m) = (x.nrows(), x.ncols());
    let mut v: Vec<f64> = (0..m).map(|i| 1.0 + 0.5 * ((i as f64 + 1.0) * 0.754_877).fract()).collect();
    let mut norm = 0.0;
    for _ in 0..100 {
        if over() {
            return None;
        }
        let length = v.iter().map(|a| a * a).sum::<f64>().sqrt();
        if !(length > 0.0 && length.is_finite()) {
            return Some(length);
        }
        let mut next = vec![0.0; m];
        for i in 0..n {
            let row = x.row(i);
            let along = row.iter().zip(&v).map(|(a, b)| a * b).sum::<f64>() / length;
            next.iter_mut().zip(row).for_each(|(t, a)| *t += along * a);
        }
        let estimate = next.iter().map(|a| a * a).sum::<f64>().sqrt().sqrt();
        v = next;
        if (estimate - norm).abs() <= 1e-6 * estimate {
            return Some(estimate);
        }
        norm = estimate;
    }
    Some(norm)
}

/// Ω = JW − (JW)ᵀ with W = GXᵀ: entry (i, j) is, up to sign, the derivative of f along the plane
/// rotation of rows i and j. Cost 2n³ flops.
pub fn skew(x: &RowMat, g: &RowMat, j: &Signature) -> RowMat {
    let jw = multiply(j.times(g).as_mat(), x.as_mat().transpose());
    RowMat::from_fn(x.nrows(), x.nrows(), |a, b| jw.get(a, b) - jw.get(b, a))
}

/// The stationarity measure max |Ωᵢⱼ| (docs/mathematics.md, section 9); zero exactly at critical points.
pub fn stationarity(x: &RowMat, g: &RowMat, j: &Signature) -> f64 {
    max_abs(&skew(x, g, j))
}

/// The largest |Mᵢⱼ|.
pub fn max_abs(m: &RowMat) -> f64 {
    m.data().iter().fold(0.0, |a, v| a.max(v.abs()))
}

/// The tangent descent direction −JΩX, along which f falls at the rate ½‖Ω‖²_F. (G − JXGᵀXJ of
/// the paper vanishes at the same points, but it is not tangent.) Cost 4n³ flops.
pub fn tangent_descent(x: &RowMat, g: &RowMat, j: &Signature) -> RowMat {
    let mut out = RowMat::zeros(x.nrows(), x.ncols());
    product(&mut out, false, -1.0, j.times(&skew(x, g, j)).as_mat(), x.as_mat());
    out
}

/// The orthogonal projection of D onto the tangent space {JKX : K skew} at X: K solves KS + SK =
/// JDXᵀ − (JDXᵀ)ᵀ with S = XXᵀ, entry by entry in the eigenbasis of S. NaN where X or D is not finite.
/// Cost O(n³).
pub fn tangent(x: &RowMat, d: &RowMat, j: &Signature) -> RowMat {
    let n = x.nrows();
    let times = |a: &RowMat, b: &RowMat| multiply(a.as_mat(), b.as_mat());
    let s = multiply(x.as_mat(), x.as_mat().transpose());
    let Some((values, q)) = symmetric_eigen(&s) else { return RowMat::from_fn(n, n, |_, _| f64::NAN) };
    let turned = times(&cross(&q, &skew(x, d, j)), &q); // QᵀΩQ
    let k = RowMat::from_fn(n, n, |a, b| turned.get(a, b) / (values[a] + values[b]));
    let qk = multiply(times(&q, &k).as_mat(), q.as_mat().transpose());
    j.times(&times(&qk, x))
}

/// Checks a given X: n × n, finite, J-orthogonal to 1e-6 on average.
///
/// # Errors
/// [`Error::Shape`], [`Error::NotFinite`] or [`Error::NotJOrthogonal`] with the measured error.
pub fn check(x: &RowMat, j: &Signature, what: &str) -> Result<()> {
    let n = j.len();
    if (x.nrows(), x.ncols()) != (n, n) {
        return Err(Error::Shape {
            what: what.into(),
            rows: x.nrows(),
            cols: x.ncols(),
            expected_rows: n,
            expected_cols: n,
        });
    }
    if let Some((row, col)) = x.find_non_finite() {
        return Err(Error::NotFinite { what: what.into(), row: row + 1, col: col + 1 });
    }
    let error = feasibility(x, j);
    if error > START_TOLERANCE || error.is_nan() {
        return Err(Error::NotJOrthogonal { what: what.into(), error, tolerance: START_TOLERANCE });
    }
    Ok(())
}
