//! R with C = RᵀR: scores RX have twice the digits of their products XᵀCX, and what is projected on them is never more than there is.

use crate::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::inherit;
use orthopt_linalg::eigen::symmetric_eigenvalues;
use orthopt_linalg::factor::{cholesky, transpose};
use orthopt_linalg::kernels::{axpy, is_zero};
use orthopt_linalg::products::multiply;
use orthopt_linalg::sequential::{pivoted_cholesky, triangle};
use orthopt_linalg::small::symmetric_eigen;
use orthopt_linalg::unit::unit_of;

/// Number of variables up to which a root of C is computed.
const MOST: usize = 1024;
/// Numbers up to which samples are kept beside C: 32 MB.
const KEPT: usize = 4_000_000;
/// A smallest eigenvalue down to this share of the largest one is rounding: C is positive semidefinite.
const INDEFINITE: f64 = 1e-10;

/// R, in a unit of a power of two, so that neither squares overflow nor anything depends on the unit of the data.
#[derive(Clone, Debug)]
pub struct Root {
    rt: RowMat, // Rᵀ, n × q
    unit: f64,  // C is so many RᵀR
    trace: f64, // of RᵀR
    least: f64, // as a share of the trace: a smaller variance is rounding
}

impl Root {
    fn new(rt: RowMat, unit: f64, least: f64) -> Self {
        let trace = rt.inner(&rt);
        Self { rt, unit, trace, least }
    }

    /// True if m samples of n variables are few enough.
    pub fn takes(m: usize, n: usize) -> bool {
        n <= MOST && n.saturating_mul(m) <= KEPT
    }

    /// Of samples, a variable in each row. Cost 2mn².
    pub fn of_samples(at: &RowMat) -> Self {
        let (n, m) = (at.nrows(), at.ncols());
        let unit = unit_of(at.data());
        let scaled = RowMat::from_fn(n, m, |i, l| at.get(i, l) / unit);
        let rt = if m > n {
            transpose(&RowMat::from_mat(triangle(scaled.as_mat().transpose()).as_ref()))
        } else {
            scaled
        };
        Self::new(rt, unit * unit, f64::EPSILON)
    }

    /// Of the C of f(X) = −½ tr(XᵀCX); `None` where C has many variables and no samples, or is indefinite.
    pub fn of(f: &impl Quadratic, most: usize) -> Option<Self> {
        if let Some(at) = f.factor() {
            let unit = unit_of(at.data()); // A is there, and C is not
            let scaled = || RowMat::from_fn(at.nrows(), at.ncols(), |i, l| at.get(i, l) / unit);
            return (at.data().len() <= KEPT).then(|| Self::new(scaled(), unit * unit, f64::EPSILON));
        }
        (f.nrows() <= most.min(MOST)).then(|| Self::of_matrix(&matrix(f)))?
    }

    /// Root of the matrix C. Cost n³/3, and 9n³ if rounding has made C indefinite.
    pub fn of_matrix(c: &RowMat) -> Option<Self> {
        // it is computed to the end, as the value of X needs it
        inherit(None, || {
            let (n, unit) = (c.nrows(), unit_of(c.data()));
            if let Some(correlations) = definite(c) {
                let (l, order) = pivoted_cholesky(correlations.matrix.as_mat())?;
                // a pivot that is rounding of the correlations has a root of 1e-8, which polar variance sees
                let rank = (0..l.ncols()).take_while(|k| l[(*k, *k)].powi(2) > slack(n)).count();
                let mut rt = RowMat::zeros(n, rank.max(1));
                for (a, i) in order.iter().enumerate() {
                    let i = *i;
                    (0..rank).for_each(|k| rt.set(i, k, correlations.deviations[i] * l[(a, k)]));
                }
                return Some(Self::new(rt, unit, slack(n)));
            }
            let c = RowMat::from_fn(n, n, |i, j| c.get(i, j) / unit);
            let (values, vectors) = symmetric_eigen(&c)?;
            if is_indefinite(&values) {
                return None;
            }
            let root = |k: usize| values[k].max(0.0).sqrt();
            // what is below zero is as large as what rounding has put above it
            let trace = values.iter().fold(f64::MIN_POSITIVE, |sum, v| sum + v.max(0.0));
            let least = slack(n).max(-4.0 * values[0] / trace);
            Some(Self::new(RowMat::from_fn(n, n, |i, k| vectors.get(i, k) * root(k)), unit, least))
        })
    }

    /// That of some of the variables.
    pub fn on_variables(&self, variables: &[usize]) -> Self {
        let rt = RowMat::from_fn(variables.len(), self.rt.ncols(), |i, k| self.rt.get(variables[i], k));
        Self::new(rt, self.unit, self.least)
    }

    /// n.
    pub fn variables(&self) -> usize {
        self.rt.nrows()
    }

    /// Factor of RᵀR.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// A variance of a score of an x of length 1 that is rounding: √ε of the size of R, more where R comes from C.
    pub fn rounding(&self) -> f64 {
        self.least * self.trace
    }

    /// The columns of RX, in rows. Cost that of the nonzero rows of X.
    pub fn scores(&self, x: &RowMat) -> RowMat {
        let mut out = RowMat::zeros(x.ncols(), self.rt.ncols());
        for i in (0..x.nrows()).filter(|i| !is_zero(x.row(*i))) {
            for (k, v) in x.row(i).iter().enumerate().filter(|(_, v)| **v != 0.0) {
                axpy(*v, self.rt.row(i), out.row_mut(k));
            }
        }
        out
    }

    /// RᵀV of the rows of V.
    pub fn spread(&self, v: &RowMat) -> RowMat {
        multiply(self.rt.as_mat(), v.as_mat().transpose())
    }

    /// The rows of (RZ)ᵀ for an n × r matrix Z.
    pub fn gather(&self, z: &RowMat) -> RowMat {
        multiply(z.as_mat().transpose(), self.rt.as_mat())
    }
}

/// C of f(X) = −½ tr(XᵀCX).
fn matrix(f: &impl Quadratic) -> RowMat {
    let n = f.nrows();
    let columns: Vec<Vec<f64>> = (0..n).map(|i| f.column(i)).collect();
    RowMat::from_fn(n, n, |i, j| -columns[i.min(j)][i.max(j)])
}

/// Rounding of eigenvalues of an n × n matrix, as a share of its size.
fn slack(n: usize) -> f64 {
    16.0 * n as f64 * f64::EPSILON
}

/// Correlations and standard deviations.
struct Correlations {
    matrix: RowMat,
    deviations: Vec<f64>, // in the root of the unit of C
}

/// Those of C where it is positive semidefinite up to the last digits.
fn definite(c: &RowMat) -> Option<Correlations> {
    let n = c.nrows();
    let unit = unit_of(c.data());
    let variances: Vec<f64> = (0..n).map(|i| c.get(i, i) / unit).collect();
    if variances.iter().any(|v| v.is_nan() || *v < 0.0) {
        return None;
    }
    let deviations: Vec<f64> = variances.iter().map(|v| v.sqrt()).collect();
    let entry = |i: usize, j: usize| {
        let size = deviations[i] * deviations[j];
        if i == j {
            f64::from(u8::from(variances[i] > 0.0))
        } else if size > 0.0 {
            c.get(i, j) / unit / size
        } else {
            c.get(i, j) / unit // of a variable without variance, 0 where C is semidefinite
        }
    };
    let matrix = RowMat::from_fn(n, n, entry);
    let shifted = RowMat::from_fn(n, n, |i, j| matrix.get(i, j) + if i == j { slack(n) } else { 0.0 });
    let has_variance = variances.iter().any(|v| *v > 0.0);
    (has_variance && cholesky(&shifted).is_some()).then_some(Correlations { matrix, deviations })
}

/// The smallest and the largest eigenvalue of an indefinite C, f(X) = −½ tr(XᵀCX); `None` where C is positive semidefinite up
/// to rounding.
pub fn indefinite(f: &impl Quadratic) -> Option<(f64, f64)> {
    if f.is_concave() {
        return None;
    }
    let c = matrix(f);
    if definite(&c).is_some() {
        return None;
    }
    let mut values = symmetric_eigenvalues(&c)?;
    values.reverse();
    is_indefinite(&values).then(|| (values[0], values[values.len() - 1]))
}

/// True if eigenvalues in ascending order are those of an indefinite matrix.
pub fn is_indefinite(values: &[f64]) -> bool {
    values.first().zip(values.last()).is_some_and(|(least, most)| *least < -INDEFINITE * most.max(0.0))
}
