use faer::{Mat, MatRef};

use super::centring::transposed;
use super::half::entries;
use super::{
    Centring, Entries, Halves, LinearTerm, Quadratic, Samples, Scale, Smooth, ritz_curvature, spectral_norm,
};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::Result;
use orthopt_linalg::factor::transpose;
use orthopt_linalg::kernels::{add_weighted_rows, axpy2, inner};
use orthopt_linalg::parallel::for_each_chunk;
use orthopt_linalg::products::{add_rows_product, cross, gram, multiply, product, product_in_time};
use orthopt_linalg::simd::Simd;
use orthopt_linalg::small::symmetric_eigen;
use orthopt_linalg::work::count;

/// Samples up to which AAᵀ is decomposed for ‖A‖.
const SMALL_GRAM: usize = 128;

/// f(X) = −½ tr(XᵀAᵀAX) + ⟨E, X⟩ with a dense A (m × n); AᵀA is never formed.
///
/// Keeps R = AX (m × r). A gradient row costs 2mr flops, a move of two rows 4mr, a curvature
/// entry 2m: the storage for wide data, m ≪ n.
#[derive(Clone, Debug)]
pub struct DenseGram {
    at: RowMat, // Aᵀ: a variable is a contiguous row
    e: LinearTerm,
    norms: Vec<f64>, // ‖A(:, i)‖²
    scale: Scale,    // of −½ tr(XᵀAᵀAX)
}

impl DenseGram {
    /// The model of a data matrix A (rows are samples). Copies A.
    pub fn new(a: MatRef<'_, f64>) -> Self {
        Self::from_transposed(transposed(a, None))
    }

    /// The model of A minus its column means. Copies A once.
    #[doc(hidden)]
    pub fn centred(a: MatRef<'_, f64>, centring: &Centring) -> Self {
        Self::from_transposed(transposed(a, Some(centring)))
    }

    #[doc(hidden)]
    pub fn from_transposed(at: RowMat) -> Self {
        let norms: Vec<f64> = (0..at.nrows()).map(|i| inner(at.row(i), at.row(i))).collect();
        let scale = Scale::new(norms.iter().copied(), 0.0);
        Self { at, e: LinearTerm::default(), norms, scale }
    }

    /// Number of rows of A.
    pub(super) fn samples(&self) -> usize {
        self.at.ncols()
    }

    /// −AᵀA of some of the variables; `None` if cancelled.
    pub(super) fn negative_gram(&self, variables: &[usize]) -> Option<RowMat> {
        let at = self.columns(variables);
        let mut m = RowMat::zeros(at.nrows(), at.nrows());
        product_in_time(&mut m, false, -1.0, at.as_mat(), at.as_mat().transpose()).then_some(m)
    }

    /// f restricted to some of the variables, without the linear term.
    pub(super) fn on_variables(&self, variables: &[usize]) -> Self {
        Self::from_transposed(self.columns(variables))
    }

    /// Some columns of A, as rows.
    fn columns(&self, variables: &[usize]) -> RowMat {
        RowMat::from_fn(variables.len(), self.at.ncols(), |i, l| self.at.get(variables[i], l))
    }

    /// Adds the linear term ⟨E, X⟩.
    ///
    /// # Errors
    /// E has another number of rows than A has columns or is not finite.
    pub fn with_linear(mut self, e: RowMat) -> Result<Self> {
        self.e = LinearTerm::checked(e, self.at.nrows())?;
        Ok(self)
    }

    /// A as faer sees it (m × n).
    pub fn matrix(&self) -> Mat<f64> {
        self.at.as_mat().transpose().to_owned()
    }
}

impl Smooth for DenseGram {
    fn nrows(&self) -> usize {
        self.at.nrows()
    }

    fn ncols(&self) -> Option<usize> {
        self.e.ncols()
    }

    fn value(&self, x: &RowMat) -> f64 {
        self.value_at(&self.image(x), x)
    }

    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        let r = self.image(x);
        product(g, false, -1.0, self.at.as_mat(), r.as_mat());
        self.e.add(g);
    }

    fn value_and_gradient(&self, x: &RowMat, g: &mut RowMat) -> f64 {
        let r = self.image(x);
        product(g, false, -1.0, self.at.as_mat(), r.as_mat());
        self.e.add(g);
        self.value_at(&r, x)
    }

    fn scale(&self, x: &RowMat) -> f64 {
        self.scale.of(x.ncols()) + self.e.scale()
    }

    fn lipschitz(&self) -> Option<f64> {
        // ‖A‖² = ‖AAᵀ‖, and AAᵀ is small for wide data
        if self.at.ncols() <= SMALL_GRAM.min(self.nrows())
            && let Some((values, _)) = symmetric_eigen(&gram(&self.at))
        {
            return Some(1.000_001 * values.last().copied().unwrap_or(0.0).max(0.0));
        }
        Some(spectral_norm(self.nrows(), self.norms.iter().sum(), |v| self.apply(v)))
    }

    fn step_curvature(&self, columns: usize) -> Option<f64> {
        ritz_curvature(self, columns)
    }

    fn is_concave(&self) -> bool {
        true
    }

    fn is_quadratic(&self) -> bool {
        true
    }
}

impl Samples for DenseGram {
    fn mixtures(&self, w: &[Entries]) -> RowMat {
        let m = self.samples();
        count(entries(w) * m);
        let mut out = RowMat::zeros(w.len(), m);
        for_each_chunk(out.data_mut(), m, &|_, k, row| {
            add_weighted_rows(w[k].len(), |l| (w[k][l].1, w[k][l].0 * m), self.at.data(), row);
        });
        out
    }

    fn scores(&self, z: &RowMat) -> RowMat {
        let out = multiply(self.at.as_mat(), z.as_mat().transpose());
        transpose(&out)
    }

    fn work(&self) -> usize {
        self.at.data().len()
    }
}

impl Quadratic for DenseGram {
    type Image = RowMat; // R = AX

    fn image(&self, x: &RowMat) -> RowMat {
        cross(&self.at, x)
    }

    #[inline(always)]
    fn gradient_row<'a>(&'a self, r: &'a RowMat, _x: &RowMat, i: usize, buf: &'a mut [f64]) -> &'a [f64] {
        buf.fill(0.0);
        let a = self.at.row(i);
        add_weighted_rows(a.len(), |l| (-a[l], l * r.ncols()), r.data(), buf);
        self.e.add_row(i, buf);
        buf
    }

    #[inline(always)]
    fn curvature(&self, i: usize, j: usize) -> f64 {
        if i == j { -self.norms[i] } else { -inner(self.at.row(i), self.at.row(j)) }
    }

    #[inline(always)]
    fn move_pair<S: Simd>(&self, simd: S, r: &mut RowMat, i: usize, j: usize, di: &[f64], dj: &[f64]) {
        let (ai, aj) = (self.at.row(i), self.at.row(j));
        for l in 0..ai.len() {
            axpy2(simd, ai[l], di, aj[l], dj, r.row_mut(l));
        }
    }

    fn move_block(&self, r: &mut RowMat, rows: &[usize], delta: &RowMat) {
        add_rows_product(r, &self.at, rows, delta);
    }

    fn value_at(&self, r: &RowMat, x: &RowMat) -> f64 {
        -0.5 * r.inner(r) + self.e.inner(x)
    }

    fn diagonal(&self) -> Vec<f64> {
        self.norms.iter().map(|v| -v).collect()
    }

    fn apply(&self, v: &RowMat) -> RowMat {
        let mut out = RowMat::zeros(v.nrows(), v.ncols());
        product(&mut out, false, -1.0, self.at.as_mat(), cross(&self.at, v).as_mat());
        out
    }

    fn factor(&self) -> Option<&RowMat> {
        Some(&self.at)
    }

    fn halves(&self) -> Halves<'_> {
        Halves::Samples(self)
    }

    fn pair_work(&self, r: &RowMat) -> (usize, usize) {
        (4 * r.data().len(), 4 * r.data().len())
    }

    fn bookkeeping(&self, _r: &RowMat) -> String {
        "R = AX kept, gradient rows as -A(:,i)'R, reused until X moves (dense A, nothing n x n)".into()
    }
}
