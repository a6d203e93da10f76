//! f(X) = ½tr(XᵀMXN), and the hyperbolic eigenvalue problem among them.
//!
//! `hyperbolic-eig` is min tr(XᵀCX) over XᵀJX = J with C positive definite. Its minimum is
//! Σ|λᵢ(JC)|, every critical point is a global minimiser, and the minimisers are X*·blkdiag(O_p,
//! O_q) (docs/mathematics.md, section 9). The papers print the problem with a minus sign, for which f has no lower
//! bound whenever both signs occur: a boost by μ in a plane with a light-like vector v, Cv ≠
//! 0, multiplies f by about e^{2μ}. That form is kept as the reproduction mode.

use faer::MatRef;

use super::{HessianVector, Scale, Smooth, TwoSided, spectral_norm};
use crate::constraint::j_orthogonal::Signature;
use orthopt_linalg::RowMat;
use orthopt_linalg::eigen::symmetric_eigenvalues;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::factor::{cholesky, transpose};
use orthopt_linalg::kernels::axpy;
use orthopt_linalg::products::multiply;
use orthopt_linalg::small::symmetric_eigen;

/// Properties of f in addition to its matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// tr(XᵀCX), C positive definite: every critical point is a global minimiser.
    HyperbolicEig,
    /// −tr(XᵀCX), the papers' objective, which has no lower bound where both signs occur.
    Reproduction,
    /// ½tr(XᵀMXN).
    General,
}

/// f(X) = ½tr(XᵀMXN) with symmetric M and N (n × n). A gradient costs 4n³ flops, half of that
/// where N = I.
#[derive(Clone, Debug)]
pub struct JQuadratic {
    m: RowMat,              // M
    n: Option<RowMat>,      // N; None: I
    factor: Option<RowMat>, // K with M = KKᵀ, where M is known to be positive definite
    lipschitz: f64,         // ‖M‖₂‖N‖₂
    scale: f64,
    form: Form,
}

/// M symmetric to 1e-8 relative to its largest entry, as a row-major copy made exactly symmetric.
fn symmetric(what: &str, m: MatRef<'_, f64>) -> Result<RowMat> {
    let n = m.nrows();
    if m.ncols() != n {
        return Err(Error::Shape {
            what: what.into(),
            rows: n,
            cols: m.ncols(),
            expected_rows: n,
            expected_cols: n,
        });
    }
    let out = RowMat::from_fn(n, n, |i, j| 0.5 * (m[(i, j)] + m[(j, i)]));
    let largest = out.data().iter().fold(0.0f64, |a, v| a.max(v.abs()));
    for i in 0..n {
        for j in 0..n {
            if !m[(i, j)].is_finite() {
                return Err(Error::NotFinite { what: what.into(), row: i + 1, col: j + 1 });
            }
        }
    }
    for i in 0..n {
        for j in i + 1..n {
            if (m[(i, j)] - m[(j, i)]).abs() > 1e-8 * largest {
                return Err(Error::NotSymmetric {
                    what: what.into(),
                    row: i + 1,
                    col: j + 1,
                    upper: m[(i, j)],
                    lower: m[(j, i)],
                });
            }
        }
    }
    Ok(out)
}

fn norm_of(m: &RowMat) -> f64 {
    spectral_norm(m.nrows(), m.norm(), |v| multiply(m.as_mat(), v.as_mat()))
}

/// The largest |mᵢⱼ|.
fn largest(m: &RowMat) -> f64 {
    m.data().iter().fold(0.0, |a, v| a.max(v.abs()))
}

/// The scale of ½tr(XᵀMX), of all n columns.
fn scale_of(m: &RowMat) -> f64 {
    Scale::new((0..m.nrows()).map(|i| m.get(i, i)), largest(m)).of(m.nrows())
}

impl JQuadratic {
    /// ½tr(XᵀMXN); N = I where it is `None`. Cost O(n³), for norms.
    ///
    /// # Errors
    /// A matrix that is not square, not finite, not symmetric to 1e-8 relative to its largest
    /// entry, or of another order than the other.
    pub fn new(m: MatRef<'_, f64>, n: Option<MatRef<'_, f64>>) -> Result<Self> {
        let m = symmetric("the matrix M", m)?;
        let n = n.map(|n| symmetric("the matrix N", n)).transpose()?;
        if let Some(n) = n.as_ref().filter(|n| n.nrows() != m.nrows()) {
            return Err(Error::Shape {
                what: "the matrix N".into(),
                rows: n.nrows(),
                cols: n.ncols(),
                expected_rows: m.nrows(),
                expected_cols: m.nrows(),
            });
        }
        let lipschitz = norm_of(&m) * n.as_ref().map_or(1.0, norm_of);
        let scale = scale_of(&m) * n.as_ref().map_or(1.0, largest);
        Ok(Self { m, n, factor: None, lipschitz, scale, form: Form::General })
    }

    /// tr(XᵀCX) for a positive definite C.
    ///
    /// # Errors
    /// As [`Self::new`]; [`Error::NotDefinite`] with the smallest eigenvalue of C and the ridge
    /// that would make it definite.
    pub fn hyperbolic_eig(c: MatRef<'_, f64>) -> Result<Self> {
        let what = "the matrix C";
        let c = symmetric(what, c)?;
        let factor = definite_factor(&c, what)?;
        let root2 = std::f64::consts::SQRT_2;
        let scaled = |a: &RowMat, by: f64| RowMat::from_fn(a.nrows(), a.ncols(), |i, j| by * a.get(i, j));
        let lipschitz = 2.0 * norm_of(&c);
        Ok(Self {
            scale: 2.0 * scale_of(&c),
            m: scaled(&c, 2.0),
            n: None,
            factor: Some(scaled(&factor, root2)),
            lipschitz,
            form: Form::HyperbolicEig,
        })
    }

    /// −tr(XᵀCX), the papers' objective, for any symmetric C.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn reproduction(c: MatRef<'_, f64>) -> Result<Self> {
        let c = symmetric("the matrix C", c)?;
        let lipschitz = 2.0 * norm_of(&c);
        let m = RowMat::from_fn(c.nrows(), c.ncols(), |i, j| -2.0 * c.get(i, j));
        Ok(Self { scale: scale_of(&m), m, n: None, factor: None, lipschitz, form: Form::Reproduction })
    }

    /// Which of the named problems it is.
    pub fn form(&self) -> Form {
        self.form
    }

    /// M.
    pub fn m(&self) -> &RowMat {
        &self.m
    }

    /// N, `None` for I.
    pub fn n(&self) -> Option<&RowMat> {
        self.n.as_ref()
    }

    /// K with M = KKᵀ, where M is known to be positive definite and N = I.
    pub fn factor(&self) -> Option<&RowMat> {
        self.factor.as_ref()
    }

    /// MXN.
    pub fn image(&self, x: &RowMat) -> RowMat {
        let mx = multiply(self.m.as_mat(), x.as_mat());
        self.times_n(mx)
    }

    /// XN.
    #[doc(hidden)]
    pub fn times_n(&self, x: RowMat) -> RowMat {
        match &self.n {
            None => x,
            Some(n) => multiply(x.as_mat(), n.as_mat()),
        }
    }
}

impl Smooth for JQuadratic {
    fn nrows(&self) -> usize {
        self.m.nrows()
    }

    fn ncols(&self) -> Option<usize> {
        Some(self.m.nrows())
    }

    fn value(&self, x: &RowMat) -> f64 {
        0.5 * self.image(x).inner(x)
    }

    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        *g = self.image(x);
    }

    fn value_and_gradient(&self, x: &RowMat, g: &mut RowMat) -> f64 {
        *g = self.image(x);
        0.5 * g.inner(x)
    }

    /// That of ½tr(XᵀMX), times the largest |Nᵢⱼ|.
    fn scale(&self, _: &RowMat) -> f64 {
        self.scale
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(self.lipschitz)
    }

    fn is_quadratic(&self) -> bool {
        true
    }

    /// True if M is positive definite and N = I.
    fn is_coercive(&self) -> bool {
        self.factor.is_some()
    }
}

impl TwoSided for JQuadratic {
    fn two_sided(&self) -> Option<&JQuadratic> {
        Some(self)
    }
}

impl HessianVector for JQuadratic {
    fn hessian_vector(&self, _: &RowMat, d: &RowMat) -> RowMat {
        self.image(d)
    }

    fn has_hessian(&self) -> bool {
        true
    }
}

/// The Cholesky factor of a symmetric C, whose eigenvalues must be above rounding.
fn definite_factor(c: &RowMat, what: &str) -> Result<RowMat> {
    let mean = (0..c.nrows()).map(|i| c.get(i, i)).sum::<f64>() / c.nrows().max(1) as f64;
    let factor = cholesky(c);
    // a factor with a negligible pivot is one of a singular matrix
    let solid = |l: &RowMat| (0..l.nrows()).all(|i| l.get(i, i).powi(2) > 1e-13 * mean.abs());
    match factor.filter(solid) {
        Some(l) => Ok(l),
        None => {
            let failed = Error::Factorisation(EIGEN);
            let smallest = symmetric_eigenvalues(c).and_then(|w| w.last().copied()).ok_or(failed)?;
            let ridge = (1e-3f64).max(1.1 * -smallest / mean.abs().max(f64::MIN_POSITIVE));
            Err(Error::NotDefinite { what: what.into(), smallest, ridge })
        }
    }
}

/// The minimum Σ|λᵢ(JC)| of tr(XᵀCX) over XᵀJX = J, and a minimiser: C = LLᵀ, LᵀJL = WΛWᵀ, X* =
/// L⁻ᵀW|Λ|^½ with the signs of Λ in the order of J. Cost O(n³).
///
/// # Errors
/// C not symmetric or not positive definite, of another order than J, or an eigenvalue routine
/// that fails.
pub fn hyperbolic_optimum(c: MatRef<'_, f64>, j: &Signature) -> Result<(f64, RowMat)> {
    let n = j.len();
    let (l, ljl) = congruent(c, j)?;
    let (values, w) = symmetric_eigen(&ljl).ok_or(Error::Factorisation(EIGEN))?;
    // ascending: the q negative eigenvalues come first (Sylvester's law of inertia)
    let q = j.minus().len();
    let mut place = vec![0; n];
    j.minus().iter().enumerate().for_each(|(k, i)| place[*i] = k);
    j.plus().iter().enumerate().for_each(|(k, i)| place[*i] = q + k);
    // LᵀX* = W|Λ|^½, by back substitution
    let mut x = RowMat::from_fn(n, n, |i, k| w.get(i, place[k]) * values[place[k]].abs().sqrt());
    let lt = transpose(&l);
    for i in (0..n).rev() {
        let (above, below) = x.data_mut().split_at_mut((i + 1) * n);
        let row = &mut above[i * n..];
        below.chunks_exact(n).zip(i + 1..n).for_each(|(solved, k)| axpy(-lt.get(i, k), solved, row));
        let pivot = lt.get(i, i);
        row.iter_mut().for_each(|v| *v /= pivot);
    }
    Ok((values.iter().map(|v| v.abs()).sum(), x))
}

/// The minimum alone. Cost 4n³ flops.
///
/// # Errors
/// As [`hyperbolic_optimum`].
pub fn hyperbolic_minimum(c: MatRef<'_, f64>, j: &Signature) -> Result<f64> {
    let values = symmetric_eigenvalues(&congruent(c, j)?.1).ok_or(Error::Factorisation(EIGEN))?;
    Ok(values.iter().map(|v| v.abs()).sum())
}

const EIGEN: &str = "the eigenvalue decomposition";

/// L and LᵀJL for C = LLᵀ.
fn congruent(c: MatRef<'_, f64>, j: &Signature) -> Result<(RowMat, RowMat)> {
    let n = j.len();
    let what = "the matrix C";
    let c = symmetric(what, c)?;
    if c.nrows() != n {
        let (rows, cols) = (c.nrows(), c.ncols());
        return Err(Error::Shape { what: what.into(), rows, cols, expected_rows: n, expected_cols: n });
    }
    let l = definite_factor(&c, what)?;
    let ljl = multiply(l.as_mat().transpose(), j.times(&l).as_mat());
    Ok((l, ljl))
}
