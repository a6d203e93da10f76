use faer::MatRef;

use super::{BlockModel, LinearTerm, Smooth, spectral_norm};
use crate::error::{Error, Result};
use crate::linalg::RowMat;
use crate::linalg::kernels::axpy2;
use crate::linalg::products::product;
use crate::linalg::simd::Simd;

/// f(X) = ½ tr(XᵀMX) + ⟨E, X⟩ with a dense symmetric M (n × n).
///
/// Keeps Y = MX + E. A gradient row costs nothing, a move of two rows 4nr flops.
#[derive(Clone, Debug)]
pub struct Quadratic {
    m: RowMat, // M, symmetric
    e: LinearTerm,
    concave: bool,
}

impl Quadratic {
    /// ½ tr(XᵀMX) for symmetric M.
    ///
    /// # Errors
    /// M not square, not finite, or not symmetric to 1e-8 relative to its largest entry.
    pub fn new(m: MatRef<'_, f64>) -> Result<Self> {
        check_symmetric("the matrix M", m)?;
        Ok(Self { m: RowMat::from_mat(m), e: LinearTerm::default(), concave: false })
    }

    /// −½ tr(XᵀCX) for a symmetric C (a covariance or correlation matrix). C is not checked
    /// for positive semidefiniteness, so f is not taken to be concave.
    ///
    /// # Errors
    /// As [`Quadratic::new`].
    pub fn negative(c: MatRef<'_, f64>) -> Result<Self> {
        check_symmetric("the Gram matrix C", c)?;
        let m = RowMat::from_fn(c.nrows(), c.ncols(), |i, j| -0.5 * (c[(i, j)] + c[(j, i)]));
        Ok(Self { m, e: LinearTerm::default(), concave: false })
    }

    /// −½ tr(XᵀAᵀAX), AᵀA formed once. Cost 2mn² flops, n² numbers.
    pub(crate) fn from_gram_of(a: MatRef<'_, f64>) -> Self {
        let n = a.ncols();
        let mut m = RowMat::zeros(n, n);
        product(&mut m, false, -1.0, a.transpose(), a);
        symmetrise(&mut m);
        Self { m, e: LinearTerm::default(), concave: true }
    }

    /// ½ tr(ZᵀKZ) with the curvature K of a block of a larger model, for sweeps inside it.
    pub(crate) fn block(k: RowMat, concave: bool) -> Self {
        Self { m: k, e: LinearTerm::default(), concave }
    }

    /// −½ tr(XᵀCX) for C = AᵀA known to be symmetric positive semidefinite.
    pub(crate) fn from_negative_gram(mut m: RowMat) -> Self {
        symmetrise(&mut m);
        Self { m, e: LinearTerm::default(), concave: true }
    }

    /// Adds the linear term ⟨E, X⟩.
    ///
    /// # Errors
    /// E has another number of rows than M or is not finite.
    pub fn with_linear(mut self, e: RowMat) -> Result<Self> {
        self.e = LinearTerm::checked(e, self.m.nrows())?;
        Ok(self)
    }
}

/// Products of panels may differ in the last bit above and below the diagonal; moves read M by
/// rows and by columns, so it is made exactly symmetric.
fn symmetrise(m: &mut RowMat) {
    for i in 0..m.nrows() {
        for j in 0..i {
            let v = m.get(j, i);
            m.set(i, j, v);
        }
    }
}

pub(super) fn check_symmetric(what: &str, m: MatRef<'_, f64>) -> Result<()> {
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
    let mut largest = 0.0f64;
    for j in 0..n {
        for i in 0..n {
            if !m[(i, j)].is_finite() {
                return Err(Error::NotFinite { what: what.into(), row: i + 1, col: j + 1 });
            }
            largest = largest.max(m[(i, j)].abs());
        }
    }
    for j in 0..n {
        for i in 0..j {
            let (upper, lower) = (m[(i, j)], m[(j, i)]);
            if (upper - lower).abs() > 1e-8 * largest {
                return Err(Error::NotSymmetric { what: what.into(), row: i + 1, col: j + 1, upper, lower });
            }
        }
    }
    Ok(())
}

impl Smooth for Quadratic {
    fn nrows(&self) -> usize {
        self.m.nrows()
    }

    fn ncols(&self) -> Option<usize> {
        self.e.ncols()
    }

    fn value(&self, x: &RowMat) -> f64 {
        self.value_at(&self.image(x), x)
    }

    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        product(g, false, 1.0, self.m.as_mat(), x.as_mat());
        self.e.add(g);
    }

    fn value_gradient(&self, x: &RowMat, g: &mut RowMat) -> f64 {
        self.gradient(x, g);
        self.value_at(g, x) // the gradient is the image
    }

    fn lipschitz(&self) -> f64 {
        spectral_norm(self.nrows(), self.m.norm(), |v| self.apply(v))
    }

    fn is_concave(&self) -> bool {
        self.concave
    }
}

impl BlockModel for Quadratic {
    type Image = RowMat; // Y = MX + E

    fn image(&self, x: &RowMat) -> RowMat {
        let mut y = RowMat::zeros(x.nrows(), x.ncols());
        self.gradient(x, &mut y);
        y
    }

    #[inline(always)]
    fn gradient_row<'a>(&'a self, y: &'a RowMat, i: usize, _buf: &'a mut [f64]) -> &'a [f64] {
        y.row(i)
    }

    #[inline(always)]
    fn curvature(&self, i: usize, j: usize) -> f64 {
        self.m.get(i, j)
    }

    #[inline(always)]
    fn move_pair<S: Simd>(&self, simd: S, y: &mut RowMat, i: usize, j: usize, di: &[f64], dj: &[f64]) {
        let (mi, mj) = (self.m.row(i), self.m.row(j)); // rows of M are its columns
        for l in 0..mi.len() {
            axpy2(simd, mi[l], di, mj[l], dj, y.row_mut(l));
        }
    }

    fn move_block(&self, y: &mut RowMat, rows: &[usize], delta: &RowMat) {
        // Y += M(:, B)·Δ with M(:, B) gathered from the rows of M
        let columns = RowMat::from_fn(rows.len(), self.nrows(), |k, l| self.m.get(rows[k], l));
        product(y, true, 1.0, columns.as_mat().transpose(), delta.as_mat());
    }

    fn value_at(&self, y: &RowMat, x: &RowMat) -> f64 {
        // ½⟨X, Y + E⟩ as Y already holds E
        0.5 * (x.inner(y) + self.e.inner(x))
    }

    fn apply(&self, v: &RowMat) -> RowMat {
        let mut out = RowMat::zeros(v.nrows(), v.ncols());
        product(&mut out, false, 1.0, self.m.as_mat(), v.as_mat());
        out
    }

    fn bookkeeping(&self) -> String {
        "Y = MX kept, rank-2 update per move (dense M, n x n)".into()
    }
}
