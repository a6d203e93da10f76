use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use faer::MatRef;

use super::centring::slab;
use super::{Centring, Halves, LinearTerm, Quadratic, Scale, Smooth, Usage, ritz_curvature, spectral_norm};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::kernels::{add_weighted_rows, axpy2, inner, is_zero};
use orthopt_linalg::parallel::for_each_chunk;
use orthopt_linalg::products::{add_rows_product, product_in_time, symmetric_product};
use orthopt_linalg::simd::Simd;

/// Rows of A that are copied at a time to form AᵀA.
const SLAB: usize = 1024;

/// f(X) = ½ tr(XᵀMX) + ⟨E, X⟩ + a constant with a dense symmetric M (n × n), or ½ tr(XᵀMXD) + a constant with a diagonal D.
///
/// Keeps Y = MX + E (MXD) where X has many nonzero rows or few pairs move, and computes rows of it
/// where X has few nonzero rows and many pairs move.
#[derive(Clone, Debug)]
pub struct DenseQuadratic {
    m: RowMat, // M, symmetric
    e: LinearTerm,
    d: Option<Vec<f64>>, // diagonal of D; no E then
    constant: f64,
    concave: bool,          // M is negative semidefinite
    scale: OnceLock<Scale>, // of ½ tr(XᵀMX)
}

impl DenseQuadratic {
    fn made(m: RowMat, concave: bool) -> Self {
        Self { m, e: LinearTerm::default(), d: None, constant: 0.0, concave, scale: OnceLock::new() }
    }

    /// ½ tr(XᵀMX) for symmetric M.
    ///
    /// # Errors
    /// M not square, not finite, or not symmetric to 1e-8 relative to its largest entry.
    pub fn new(m: MatRef<'_, f64>) -> Result<Self> {
        check_symmetric("the matrix M", m)?;
        Ok(Self::made(RowMat::from_mat(m), false))
    }

    /// −½ tr(XᵀCX) for a symmetric C (a covariance or correlation matrix). C is not checked
    /// for positive semidefiniteness, so f is not taken to be concave.
    ///
    /// # Errors
    /// As [`DenseQuadratic::new`].
    pub fn negative(c: MatRef<'_, f64>) -> Result<Self> {
        check_symmetric("the Gram matrix C", c)?;
        let m = RowMat::from_fn(c.nrows(), c.ncols(), |i, j| -0.5 * (c[(i, j)] + c[(j, i)]));
        Ok(Self::made(m, false))
    }

    /// −½ tr(XᵀAᵀAX), AᵀA formed once, of A minus its column means if `centring` is given. Cost
    /// 2mn² flops, n² numbers, and a copy of a slab of rows at a time: no copy of A.
    #[doc(hidden)]
    pub fn from_gram_of(a: MatRef<'_, f64>, centring: Option<&Centring>) -> Option<Self> {
        let n = a.ncols();
        let mut m = RowMat::zeros(n, n);
        for start in (0..a.nrows()).step_by(SLAB) {
            let rows = slab(a.subrows(start, SLAB.min(a.nrows() - start)), centring);
            if !product_in_time(&mut m, start > 0, -1.0, rows.as_ref().transpose(), rows.as_ref()) {
                return None;
            }
        }
        symmetrise(&mut m);
        Some(Self::made(m, true))
    }

    /// ½ tr(ZᵀKZ), or ½ tr(ZᵀKZD), with the curvature K of a block of the larger model `f`, for sweeps inside it.
    #[doc(hidden)]
    pub fn block(k: RowMat, f: &impl Quadratic) -> Self {
        let concave = f.is_concave();
        Self { d: f.column_weights().map(<[f64]>::to_vec), ..Self::made(k, concave) }
    }

    /// f restricted to some of the variables.
    pub(super) fn on_variables(&self, variables: &[usize]) -> Self {
        let n = variables.len();
        let m = RowMat::from_fn(n, n, |i, j| self.m.get(variables[i], variables[j]));
        Self { d: self.d.clone(), ..Self::made(m, self.concave) }
    }

    /// M.
    #[doc(hidden)]
    pub fn matrix(&self) -> &RowMat {
        &self.m
    }

    /// −½ tr(XᵀCX) for C = AᵀA known to be symmetric positive semidefinite.
    #[doc(hidden)]
    pub fn from_negative_gram(mut m: RowMat) -> Self {
        symmetrise(&mut m);
        Self::made(m, true)
    }

    /// Adds the linear term ⟨E, X⟩.
    ///
    /// # Errors
    /// E has another number of rows than M or is not finite; weights of columns beside it.
    pub fn with_linear(mut self, e: RowMat) -> Result<Self> {
        self.alone(self.d.is_some())?;
        self.e = LinearTerm::checked(e, self.m.nrows())?;
        Ok(self)
    }

    /// ½ tr(XᵀMXD) with the diagonal matrix D of `weights`, one for each column of X.
    ///
    /// # Errors
    /// No weights, one that is not finite, only zeros; a linear term beside them.
    pub fn with_column_weights(self, weights: Vec<f64>) -> Result<Self> {
        self.alone(self.e.ncols().is_some())?;
        if let Some(k) = weights.iter().position(|d| !d.is_finite()) {
            return Err(Error::NotFinite { what: "the weights of the columns".into(), row: k + 1, col: 1 });
        }
        if weights.iter().all(|d| *d == 0.0) {
            return Err(Error::Incompatible("the weights of the columns of X are all 0".into()));
        }
        Ok(Self { d: Some(weights), ..self })
    }

    fn alone(&self, other: bool) -> Result<()> {
        match other {
            true => {
                Err(Error::Incompatible("weights of columns and a linear term exclude each other".into()))
            }
            false => Ok(()),
        }
    }

    /// VD.
    #[doc(hidden)]
    pub fn times_weights<'v>(&self, v: &'v RowMat) -> Cow<'v, RowMat> {
        match &self.d {
            None => Cow::Borrowed(v),
            Some(d) => Cow::Owned(RowMat::from_fn(v.nrows(), v.ncols(), |i, k| v.get(i, k) * d[k])),
        }
    }

    /// The largest |Dₖₖ|.
    fn largest_weight(&self) -> f64 {
        self.d.as_ref().map_or(1.0, |d| d.iter().fold(0.0, |most: f64, d| most.max(d.abs())))
    }

    /// This f with `constant` as its constant term.
    pub fn with_constant(self, constant: f64) -> Self {
        Self { constant, ..self }
    }
}

/// Products of panels may differ in the last bit above and below the diagonal; moves read M by
/// rows and by columns, so it is made exactly symmetric.
fn symmetrise(m: &mut RowMat) {
    let n = m.nrows();
    mirror(m.data_mut(), n, 0..n);
}

/// Rows and columns of a part of a matrix that stays in the cache.
const TILE: usize = 64;

/// Copies what is above the diagonal below it: `rows` are these rows of a matrix with n columns, and so are the columns. In halves, so that rows
/// that are read are apart from those that are written.
fn mirror(rows: &mut [f64], n: usize, range: Range<usize>) {
    let (from, count) = (range.start, range.len());
    if count <= TILE {
        (1..count).for_each(|i| (0..i).for_each(|j| rows[i * n + from + j] = rows[j * n + from + i]));
        return;
    }
    let half = count / 2;
    let (upper, lower) = rows.split_at_mut(half * n);
    let read: &[f64] = upper;
    for_each_chunk(lower, TILE * n, &|_, chunk, rows| {
        let first = from + half + chunk * TILE; // of the rows that are written
        for left in (0..half).step_by(TILE) {
            for (i, row) in rows.chunks_exact_mut(n).enumerate() {
                (left..half.min(left + TILE)).for_each(|j| row[from + j] = read[j * n + first + i]);
            }
        }
    });
    mirror(upper, n, from..from + half);
    mirror(lower, n, from + half..range.end);
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

impl Smooth for DenseQuadratic {
    fn nrows(&self) -> usize {
        self.m.nrows()
    }

    fn ncols(&self) -> Option<usize> {
        self.d.as_ref().map(Vec::len).or(self.e.ncols())
    }

    fn value(&self, x: &RowMat) -> f64 {
        let mut y = RowMat::zeros(x.nrows(), x.ncols());
        self.gradient(x, &mut y);
        0.5 * (x.inner(&y) + self.e.inner(x)) + self.constant
    }

    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        symmetric_product(g, 1.0, &self.m, x);
        weigh_rows(self.d.as_deref(), g.data_mut());
        self.e.add(g);
    }

    fn value_and_gradient(&self, x: &RowMat, g: &mut RowMat) -> f64 {
        self.gradient(x, g);
        0.5 * (x.inner(g) + self.e.inner(x)) + self.constant
    }

    fn scale(&self, x: &RowMat) -> f64 {
        let scale = self.scale.get_or_init(|| {
            let largest = || self.m.data().iter().fold(0.0f64, |a, v| a.max(v.abs()));
            Scale::new(self.diagonal().into_iter(), if self.concave { 0.0 } else { largest() })
        });
        let mean = self.d.as_ref().map_or(1.0, |d| mean_size(d));
        scale.of(x.ncols()) * mean + self.e.scale()
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(spectral_norm(self.nrows(), self.m.norm(), |v| self.apply(v)) * self.largest_weight())
    }

    fn step_curvature(&self, columns: usize) -> Option<f64> {
        match self.is_concave() {
            true => ritz_curvature(self, columns).map(|curvature| curvature * self.largest_weight()),
            false => self.lipschitz(),
        }
    }

    fn is_concave(&self) -> bool {
        self.concave && self.d.iter().flatten().all(|d| *d >= 0.0)
    }

    fn is_quadratic(&self) -> bool {
        true
    }
}

/// Rows of d.len() numbers times D, where there is one.
#[inline(always)]
fn weigh_rows(d: Option<&[f64]>, rows: &mut [f64]) {
    if let Some(d) = d {
        rows.chunks_exact_mut(d.len()).for_each(|row| row.iter_mut().zip(d).for_each(|(v, d)| *v *= d));
    }
}

#[cold]
#[inline(never)]
fn weighed(d: &[f64], row: &[f64]) -> Vec<f64> {
    row.iter().zip(d).map(|(v, d)| v * d).collect()
}

/// The mean of the absolute values of weights.
pub fn mean_size(weights: &[f64]) -> f64 {
    weights.iter().map(|d| d.abs()).sum::<f64>() / weights.len().max(1) as f64
}

/// Representation of the gradient Y = MX + E of a dense M, whichever is cheaper.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum QuadraticImage {
    /// Y itself: a row costs nothing, a move of two rows 4nr flops.
    Kept(RowMat),
    /// Only the s rows of X that may be nonzero: a gradient row costs 2sr flops, a
    /// move nothing.
    Rows {
        /// The rows, in the order they became nonzero.
        list: Vec<usize>,
        /// For each row, true if it is among them.
        member: Vec<bool>,
    },
}

impl QuadraticImage {
    fn rows(x: &RowMat) -> Self {
        let member: Vec<bool> = (0..x.nrows()).map(|i| !is_zero(x.row(i))).collect();
        Self::Rows { list: (0..x.nrows()).filter(|i| member[*i]).collect(), member }
    }
}

/// A run begins without Y if fewer than one in this many rows is nonzero.
const FEW_ROWS: usize = 16;
/// Factor by which computed rows must be cheaper before Y is dropped, because it may have to be formed again.
const CLEARLY: f64 = 4.0;

impl DenseQuadratic {
    /// Row i of MX + E over the rows of X that may be nonzero.
    #[inline(always)]
    fn row_from(&self, list: &[usize], x: &RowMat, i: usize, buf: &mut [f64]) {
        buf.fill(0.0);
        self.e.add_row(i, buf);
        let m = self.m.row(i);
        add_weighted_rows(list.len(), |l| (m[list[l]], list[l] * x.ncols()), x.data(), buf);
        weigh_rows(self.d.as_deref(), buf); // no E then
    }
}

impl Quadratic for DenseQuadratic {
    type Image = QuadraticImage;

    const SHORT_ROWS: bool = true;

    fn image(&self, x: &RowMat) -> QuadraticImage {
        let nonzero = (0..x.nrows()).filter(|i| !is_zero(x.row(*i))).count();
        if nonzero <= x.nrows() / FEW_ROWS {
            return QuadraticImage::rows(x);
        }
        let mut y = RowMat::zeros(x.nrows(), x.ncols());
        self.gradient(x, &mut y);
        QuadraticImage::Kept(y)
    }

    #[inline(always)]
    fn gradient_row<'a>(
        &'a self,
        image: &'a QuadraticImage,
        x: &RowMat,
        i: usize,
        buf: &'a mut [f64],
    ) -> &'a [f64] {
        match image {
            QuadraticImage::Kept(y) => y.row(i),
            QuadraticImage::Rows { list, .. } => {
                self.row_from(list, x, i, buf);
                buf
            }
        }
    }

    #[inline(always)]
    fn curvature(&self, i: usize, j: usize) -> f64 {
        self.m.get(i, j)
    }

    #[inline(always)]
    fn move_pair<S: Simd>(
        &self,
        simd: S,
        image: &mut QuadraticImage,
        i: usize,
        j: usize,
        di: &[f64],
        dj: &[f64],
    ) {
        match image {
            QuadraticImage::Kept(y) => {
                let weighed = self.d.as_deref().map(|d| [weighed(d, di), weighed(d, dj)]);
                let (di, dj) = weighed.as_ref().map_or((di, dj), |[a, b]| (a, b));
                let (mi, mj) = (self.m.row(i), self.m.row(j)); // rows of M are its columns
                for l in 0..mi.len() {
                    axpy2(simd, mi[l], di, mj[l], dj, y.row_mut(l));
                }
            }
            QuadraticImage::Rows { list, member } => {
                for row in [i, j] {
                    if !std::mem::replace(&mut member[row], true) {
                        list.push(row);
                    }
                }
            }
        }
    }

    fn pair_work(&self, image: &QuadraticImage) -> (usize, usize) {
        match image {
            QuadraticImage::Kept(y) => (0, 4 * y.data().len()),
            QuadraticImage::Rows { list, .. } => (8 * list.len(), 0),
        }
    }

    fn move_block(&self, image: &mut QuadraticImage, rows: &[usize], delta: &RowMat) {
        match image {
            // Y += M(:, B)·Δ, or M(:, B)·ΔD; rows of M are its columns
            QuadraticImage::Kept(y) => add_rows_product(y, &self.m, rows, &self.times_weights(delta)),
            QuadraticImage::Rows { list, member } => {
                list.extend(rows.iter().filter(|i| !std::mem::replace(&mut member[**i], true)));
            }
        }
    }

    fn value_at(&self, image: &QuadraticImage, x: &RowMat) -> f64 {
        match image {
            // ½⟨X, Y + E⟩ as Y already holds E
            QuadraticImage::Kept(y) => 0.5 * (x.inner(y) + self.e.inner(x)) + self.constant,
            QuadraticImage::Rows { list, .. } => {
                let mut buf = vec![0.0; x.ncols()];
                let row = |i: &usize| {
                    self.row_from(list, x, *i, &mut buf);
                    inner(&buf, x.row(*i))
                };
                0.5 * (list.iter().map(row).sum::<f64>() + self.e.inner(x)) + self.constant
            }
        }
    }

    fn column_weights(&self) -> Option<&[f64]> {
        self.d.as_deref()
    }

    fn norm(&self) -> f64 {
        // of D ⊗ M, and of M
        spectral_norm(self.nrows(), self.m.norm(), |v| self.apply(v)) * self.largest_weight().max(1.0)
    }

    fn apply(&self, v: &RowMat) -> RowMat {
        let mut out = RowMat::zeros(v.nrows(), v.ncols());
        symmetric_product(&mut out, 1.0, &self.m, v);
        out
    }

    fn halves(&self) -> Halves<'_> {
        Halves::Matrix(&self.m)
    }

    fn keeps_gradient(&self, image: &QuadraticImage) -> bool {
        matches!(image, QuadraticImage::Kept(_))
    }

    /// In units of 2r flops: keeping Y costs 2n a move; computing rows costs s for each that is
    /// read and has not been since X moved last.
    fn rebalance(&self, image: &mut QuadraticImage, x: &RowMat, usage: Usage) -> bool {
        let n = self.nrows() as f64;
        let keeping = 2.0 * n * usage.moves as f64;
        let read = (2.0 * usage.pairs as f64).min(n * (usage.moves + 1) as f64);
        let computing = read * usage.nonzero_rows as f64;
        match image {
            QuadraticImage::Kept(_) if CLEARLY * computing < keeping => *image = QuadraticImage::rows(x),
            QuadraticImage::Rows { .. } if keeping < computing => {
                let mut y = RowMat::zeros(x.nrows(), x.ncols());
                self.gradient(x, &mut y);
                *image = QuadraticImage::Kept(y);
            }
            _ => return false,
        }
        true
    }

    fn bookkeeping(&self, image: &QuadraticImage) -> String {
        match image {
            QuadraticImage::Kept(_) => {
                "Y = MX kept, rank-2 update per move (dense M): cheaper than rows from the nonzero rows of X"
                    .into()
            }
            QuadraticImage::Rows { list, .. } => format!(
                "rows of MX computed from the {} nonzero rows of X, reused until X moves (dense M): cheaper than keeping Y = MX",
                list.len()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_above_the_diagonal_is_copied_below() {
        for n in [0, 1, 2, TILE, TILE + 1, 2 * TILE + 3, 5 * TILE - 1] {
            let entry = |i: usize, j: usize| ((7 * i + 13 * j) % 101) as f64 - 50.0;
            let mut m = RowMat::from_fn(n, n, entry);
            symmetrise(&mut m);
            assert_eq!(m, RowMat::from_fn(n, n, |i, j| entry(i.min(j), i.max(j))), "{n}");
        }
    }
}
