use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use faer::sparse::SparseColMatRef;

use super::sparse_rows::{LONGER, Rows, SCATTERED, sparse_product};
use super::{
    Entries, Halves, LinearTerm, Quadratic, Samples, Scale, Smooth, Unpacked, ritz_curvature, spectral_norm,
};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::{Cancel, inherit};
use orthopt_linalg::column_mean::ColumnMean;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::factor::transpose;
use orthopt_linalg::kernels::{add_weighted_rows, axpy, is_zero};
use orthopt_linalg::parallel::for_each_chunk;
use orthopt_linalg::simd::{Simd, dispatch};
use orthopt_linalg::work::count;

/// An X in which one of this many rows is nonzero is treated as dense.
const DENSE: usize = 4;
/// Columns of A that one task multiplies.
const COLUMNS: usize = 64;

/// Rounding of a mean, as a share of the mean of the absolute values.
const MEAN_ROUNDING: f64 = 1e-9;

/// f(X) = −½ tr(XᵀAᵀAX) + ⟨E, X⟩ with a sparse A (m × n), optionally centred:
/// A stands for S − 1μᵀ with sparse S and column means μ, and nothing is densified.
/// Nothing of size n × n or m × n is ever formed.
///
/// A column whose mean is more than four standard deviations from 0 has hardly any zeros. It is kept minus its mean, with
/// an entry for each row, so that no digits of its variance are lost in Σs² − mμ²; for the others that costs at most a
/// digit and a half.
///
/// The nonzeros are kept by columns and, from the first product with an X of many nonzero rows on, by rows as well.
///
/// Keeps R = SX (m × r) and q = μᵀX. A gradient row costs 2·nnz(S(:, i))·r flops, a move of
/// two rows twice that, a curvature entry nnz of the two columns.
#[derive(Clone, Debug)]
pub struct SparseGram {
    nrows: usize, // m
    col_ptr: Vec<usize>,
    row_idx: Vec<u32>,
    values: Vec<f64>,
    mu: Option<Vec<f64>>, // column means of S when A = S − 1μᵀ
    e: LinearTerm,
    norms: Vec<f64>, // ‖A(:, i)‖²
    scale: Scale,    // of −½ tr(XᵀAᵀAX)
    rows: Arc<OnceLock<Rows>>,
}

/// R = SX and q = μᵀX.
#[derive(Clone, Debug)]
pub struct SparseImage {
    r: RowMat,
    q: Vec<f64>,
}

impl SparseGram {
    /// The model of a sparse data matrix (rows are samples). `means` are the column means to
    /// subtract implicitly. Copies the nonzeros (12 bytes each).
    ///
    /// # Errors
    /// A value or mean that is not finite, a wrong number of means, means that are not those of the columns,
    /// more than 2³² rows.
    pub fn new(a: SparseColMatRef<'_, usize, f64>, means: Option<Vec<f64>>) -> Result<Self> {
        let (m, n) = (a.nrows(), a.ncols());
        let row_limit = u32::try_from(m)
            .map_err(|_| Error::Incompatible(format!("{m} rows are more than 2^32").into()))?;
        debug_assert!(row_limit as usize == m);
        if let Some(mu) = &means {
            check_means(a, mu)?;
        }
        let mut mu = means;
        let nnz = a.compute_nnz();
        let (mut col_ptr, mut row_idx, mut values) =
            (vec![0], Vec::with_capacity(nnz), Vec::with_capacity(nnz));
        for j in 0..n {
            let mean = mu.as_ref().map(|_| ColumnMean::of(a.val_of_col(j), m)).filter(ColumnMean::is_far);
            if let (Some(mu), Some(mean)) = (&mut mu, mean) {
                mu[j] = mean.left();
                let mut stored = a.row_idx_of_col(j).zip(a.val_of_col(j)).peekable();
                for i in 0..m {
                    let value = stored.next_if(|entry| entry.0 == i).map_or(0.0, |entry| *entry.1);
                    let left = mean.apply(value);
                    if left != 0.0 {
                        row_idx.push(i as u32);
                        values.push(left);
                    }
                }
                col_ptr.push(values.len());
                continue;
            }
            let rows = a.row_idx_of_col_raw(j);
            for (i, v) in rows.iter().zip(a.val_of_col(j)) {
                if !v.is_finite() {
                    return Err(Error::NotFinite { what: "the data matrix".into(), row: i + 1, col: j + 1 });
                }
                if *v != 0.0 {
                    row_idx.push(*i as u32);
                    values.push(*v);
                }
            }
            col_ptr.push(values.len());
        }
        let mut out = Self {
            nrows: m,
            col_ptr,
            row_idx,
            values,
            mu,
            e: LinearTerm::default(),
            norms: vec![],
            scale: Scale::new(std::iter::empty(), 0.0),
            rows: Arc::default(),
        };
        out.norms = (0..n).map(|i| out.column_product(i, i)).collect();
        out.scale = Scale::new(out.norms.iter().copied(), 0.0);
        Ok(out)
    }

    /// Adds the linear term ⟨E, X⟩.
    ///
    /// # Errors
    /// E has another number of rows than A has columns or is not finite.
    pub fn with_linear(mut self, e: RowMat) -> Result<Self> {
        self.e = LinearTerm::checked(e, self.nrows())?;
        Ok(self)
    }

    /// Row indices and values of column `i` of S.
    #[inline(always)]
    fn column(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.col_ptr[i]..self.col_ptr[i + 1];
        (&self.row_idx[range.clone()], &self.values[range])
    }

    /// ⟨A(:, i), A(:, j)⟩ = ⟨S(:, i), S(:, j)⟩ − m μᵢ μⱼ.
    #[inline(always)]
    fn column_product(&self, i: usize, j: usize) -> f64 {
        let sum = sparse_product(self.column(i), self.column(j));
        match &self.mu {
            Some(mu) => sum - self.nrows as f64 * (mu[i] * mu[j]),
            None => sum,
        }
    }

    /// ⟨A(:, i), A(:, j)⟩ with column i unpacked: as many multiplications as column j has nonzeros, and
    /// no branches, where merging two columns mispredicts one at nearly every step. The sum has the
    /// same terms in the same order, and so the same bits.
    #[inline(always)]
    fn unpacked_product(&self, unpacked: &mut Unpacked, i: usize, j: usize) -> f64 {
        let (rows, values) = self.column(j);
        // a pivot that changes with every pair is not worth unpacking
        let stays = unpacked.asked.replace(i) == Some(i);
        if !stays || rows.len() > LONGER * self.column(i).0.len() {
            return self.column_product(i, j); // merged, or the few of i looked up in the many of j
        }
        self.unpack(unpacked, i);
        let sum = rows.iter().zip(values).map(|(l, v)| v * unpacked.column[*l as usize]).sum::<f64>();
        match &self.mu {
            Some(mu) => sum - self.nrows as f64 * (mu[i] * mu[j]),
            None => sum,
        }
    }

    /// Makes `unpacked` hold column i of S.
    #[inline(always)]
    fn unpack(&self, unpacked: &mut Unpacked, i: usize) {
        if unpacked.variable == Some(i) {
            return;
        }
        unpacked.column.resize(self.nrows, 0.0);
        if let Some(before) = unpacked.variable {
            self.column(before).0.iter().for_each(|l| unpacked.column[*l as usize] = 0.0);
        }
        let (rows, values) = self.column(i);
        rows.iter().zip(values).for_each(|(l, v)| unpacked.column[*l as usize] = *v);
        unpacked.variable = Some(i);
    }

    /// R and q move with row i of X.
    #[inline(always)]
    fn move_row(&self, image: &mut SparseImage, i: usize, dx: &[f64]) {
        let (rows, values) = self.column(i);
        for (l, v) in rows.iter().zip(values) {
            axpy(*v, dx, image.r.row_mut(*l as usize));
        }
        if let Some(mu) = &self.mu {
            axpy(mu[i], dx, &mut image.q);
        }
    }

    /// Row i of −AᵀAX into `buf`.
    #[inline(always)]
    fn product_row(&self, image: &SparseImage, i: usize, buf: &mut [f64]) {
        buf.fill(0.0);
        let (rows, values) = self.column(i);
        let width = image.r.ncols();
        add_weighted_rows(rows.len(), |l| (-values[l], rows[l] as usize * width), image.r.data(), buf);
        if let Some(mu) = &self.mu {
            // AᵀAX = SᵀSX − m μ (μᵀX)
            axpy(self.nrows as f64 * mu[i], &image.q, buf);
        }
    }

    /// S by rows.
    fn by_rows(&self) -> &Rows {
        self.rows.get_or_init(|| Rows::of(self.nrows, self.nrows(), |j| self.column(j)))
    }

    /// R = SX row by row, for an X with few zero rows: every row is summed where it stays, not scattered.
    fn image_by_rows(&self, x: &RowMat) -> SparseImage {
        let mut image = SparseImage { r: RowMat::zeros(self.nrows, x.ncols()), q: vec![0.0; x.ncols()] };
        self.by_rows().times(x, &mut image.r);
        if let Some(mu) = &self.mu {
            add_weighted_rows(mu.len(), |i| (mu[i], i * x.ncols()), x.data(), &mut image.q);
        }
        image
    }

    /// All rows of the gradient. Cost 2·nnz(S)·r flops.
    fn gradient_at(&self, image: &SparseImage, x: &RowMat, g: &mut RowMat) {
        let r = g.ncols();
        count(SCATTERED * self.values.len() * r);
        for_each_chunk(g.data_mut(), r, &|_, i, row| {
            self.gradient_row(image, x, i, row);
        });
    }

    /// The upper triangle of −AᵀA of some columns of A, dense. `None` if cancelled.
    #[doc(hidden)]
    pub fn negative_gram(&self, columns: &[usize]) -> Option<RowMat> {
        let mut out = self.negative_sums(columns)?;
        if let Some(mu) = &self.mu {
            for_each_chunk(out.data_mut(), columns.len(), &|_, i, row| {
                let mean = self.nrows as f64 * mu[columns[i]];
                row[i..].iter_mut().zip(&columns[i..]).for_each(|(v, j)| *v += mean * mu[*j]);
            });
        }
        Some(out)
    }

    /// The upper triangle of −SᵀS of some columns of S. Row i is summed over the rows of S in which column i has an entry, so that only
    /// pairs of entries in the same row of S cost anything. `None` if cancelled, which is asked in every row.
    fn negative_sums(&self, columns: &[usize]) -> Option<RowMat> {
        let n = columns.len();
        let by_rows = Rows::of(self.nrows, n, |j| self.column(columns[j]));
        count(SCATTERED * by_rows.pairs());
        let mut out = RowMat::zeros(n, n);
        let (waiting, left) = (Cancel::current(), AtomicBool::new(false));
        for_each_chunk(out.data_mut(), n, &|_, i, row| {
            if waiting.as_ref().is_some_and(Cancel::is_over) {
                return left.store(true, Ordering::Relaxed);
            }
            by_rows.add_rows_from(i, self.column(columns[i]), -1.0, row);
        });
        (!left.into_inner()).then_some(out)
    }

    /// True if the pairs of entries that are in the same row of S are fewer than what all pairs of columns have to be merged from, roughly.
    fn is_sooner_by_rows(&self, columns: &[usize]) -> bool {
        let entries = self.entries(columns);
        entries.saturating_mul(entries) / self.nrows.max(1) + self.nrows < columns.len() * entries
    }

    /// Number of entries of A in some of its columns.
    pub(super) fn entries(&self, variables: &[usize]) -> usize {
        variables.iter().map(|i| self.column(*i).0.len()).sum()
    }

    /// f restricted to some of the variables, without the linear term.
    pub(super) fn on_variables(&self, variables: &[usize]) -> Self {
        let entries = self.entries(variables);
        let (mut col_ptr, mut row_idx, mut values) =
            (vec![0], Vec::with_capacity(entries), Vec::with_capacity(entries));
        for i in variables {
            let (rows, own) = self.column(*i);
            row_idx.extend_from_slice(rows);
            values.extend_from_slice(own);
            col_ptr.push(values.len());
        }
        let norms: Vec<f64> = variables.iter().map(|i| self.norms[*i]).collect();
        let scale = Scale::new(norms.iter().copied(), 0.0);
        let mu = self.mu.as_ref().map(|mu| variables.iter().map(|i| mu[*i]).collect());
        let (nrows, e, rows) = (self.nrows, LinearTerm::default(), Arc::default());
        Self { nrows, col_ptr, row_idx, values, mu, e, norms, scale, rows }
    }
}

/// Checks that μ is the mean of the columns: ⟨S(:, i), 1⟩ = m μᵢ is used throughout. Values that are not finite are
/// checked elsewhere.
fn check_means(a: SparseColMatRef<'_, usize, f64>, mu: &[f64]) -> Result<()> {
    if mu.len() != a.ncols() || mu.iter().any(|v| !v.is_finite()) {
        let text = format!("expected {} finite column means, got {}", a.ncols(), mu.len());
        return Err(Error::Incompatible(text.into()));
    }
    let rows = a.nrows() as f64;
    for (j, mean) in mu.iter().enumerate() {
        let (sum, size) = a.val_of_col(j).iter().fold((0.0, 0.0), |(s, a), v| (s + v, a + f64::abs(*v)));
        let off = (sum - rows * mean).abs();
        if off > MEAN_ROUNDING * size.max(rows * mean.abs()) {
            return Err(Error::Incompatible(
                format!("column {} has another mean than the {mean} to subtract from it", j + 1).into(),
            ));
        }
    }
    Ok(())
}

impl Smooth for SparseGram {
    fn nrows(&self) -> usize {
        self.col_ptr.len() - 1
    }

    fn ncols(&self) -> Option<usize> {
        self.e.ncols()
    }

    fn value(&self, x: &RowMat) -> f64 {
        self.value_at(&self.image(x), x)
    }

    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        self.gradient_at(&self.image(x), x, g);
    }

    fn value_and_gradient(&self, x: &RowMat, g: &mut RowMat) -> f64 {
        let image = self.image(x);
        self.gradient_at(&image, x, g);
        self.value_at(&image, x)
    }

    fn scale(&self, x: &RowMat) -> f64 {
        self.scale.of(x.ncols()) + self.e.scale()
    }

    fn lipschitz(&self) -> Option<f64> {
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

impl Samples for SparseGram {
    fn mixtures(&self, w: &[Entries]) -> RowMat {
        let stored = |w: &Entries| w.iter().map(|(i, _)| self.column(*i).0.len()).sum::<usize>();
        count(SCATTERED * w.iter().map(stored).sum::<usize>() + w.len() * self.nrows);
        let mut out = RowMat::zeros(w.len(), self.nrows);
        for_each_chunk(out.data_mut(), self.nrows, &|_, k, row| {
            for (i, x) in &w[k] {
                let (rows, values) = self.column(*i);
                rows.iter().zip(values).for_each(|(l, v)| row[*l as usize] += x * v);
            }
            if let Some(mu) = &self.mu {
                let mean: f64 = w[k].iter().map(|(i, x)| x * mu[*i]).sum();
                row.iter_mut().for_each(|v| *v -= mean);
            }
        });
        out
    }

    fn scores(&self, z: &RowMat) -> RowMat {
        let (k, columns) = (z.nrows(), transpose(z));
        count(SCATTERED * self.values.len() * k);
        let sums: Vec<f64> = (0..k).map(|l| z.row(l).iter().sum()).collect(); // 1ᵀZ
        let mut out = RowMat::zeros(self.nrows(), k);
        for_each_chunk(out.data_mut(), k * COLUMNS, &|_, chunk, part| {
            for (own, row) in part.chunks_exact_mut(k).enumerate() {
                let i = chunk * COLUMNS + own;
                let (rows, values) = self.column(i);
                add_weighted_rows(rows.len(), |l| (values[l], rows[l] as usize * k), columns.data(), row);
                if let Some(mu) = &self.mu {
                    axpy(-mu[i], &sums, row);
                }
            }
        });
        transpose(&out)
    }

    fn work(&self) -> usize {
        SCATTERED * self.values.len()
    }
}

impl Quadratic for SparseGram {
    type Image = SparseImage;

    fn image(&self, x: &RowMat) -> SparseImage {
        count(SCATTERED * self.values.len() * x.ncols());
        let nonzero: Vec<usize> = (0..self.nrows()).filter(|i| !is_zero(x.row(*i))).collect();
        if nonzero.len() >= x.nrows() / DENSE {
            return self.image_by_rows(x);
        }
        // a row-sparse X: a zero row costs nothing
        let mut image = SparseImage { r: RowMat::zeros(self.nrows, x.ncols()), q: vec![0.0; x.ncols()] };
        dispatch(|| nonzero.iter().for_each(|i| self.move_row(&mut image, *i, x.row(*i))));
        image
    }

    #[inline(always)]
    fn gradient_row<'a>(
        &'a self,
        image: &'a SparseImage,
        _x: &RowMat,
        i: usize,
        buf: &'a mut [f64],
    ) -> &'a [f64] {
        self.product_row(image, i, buf);
        self.e.add_row(i, buf);
        buf
    }

    /// For many rows in a tenth of the time of the pairs one by one.
    fn curvature_block(&self, rows: &[usize]) -> RowMat {
        if self.is_sooner_by_rows(rows)
            && let Some(sums) = inherit(None, || self.negative_sums(rows))
        {
            let mean = |i: usize, j: usize| match &self.mu {
                Some(mu) => self.nrows as f64 * mu[rows[i]] * mu[rows[j]],
                None => 0.0,
            };
            let entry = |i: usize, j: usize| {
                let sum = sums.get(i.min(j), i.max(j));
                0.5 * ((sum + mean(i, j)) + (sum + mean(j, i)))
            };
            return RowMat::from_fn(rows.len(), rows.len(), entry);
        }
        super::curvature_by_pairs(self, rows)
    }

    #[inline(always)]
    fn curvature(&self, i: usize, j: usize) -> f64 {
        if i == j {
            return -self.norms[i];
        }
        count(SCATTERED * (self.column(i).0.len() + self.column(j).0.len()));
        -self.column_product(i, j)
    }

    #[inline(always)]
    fn pair_curvature(&self, (i, j): (usize, usize), pivot: usize, unpacked: &mut Unpacked) -> [f64; 3] {
        let partner = if pivot == i { j } else { i };
        [-self.norms[i], -self.unpacked_product(unpacked, pivot, partner), -self.norms[j]]
    }

    #[inline(always)]
    fn move_pair<S: Simd>(
        &self,
        _simd: S,
        image: &mut SparseImage,
        i: usize,
        j: usize,
        di: &[f64],
        dj: &[f64],
    ) {
        self.move_row(image, i, di);
        self.move_row(image, j, dj);
    }

    fn move_block(&self, image: &mut SparseImage, rows: &[usize], delta: &RowMat) {
        for (k, i) in rows.iter().enumerate() {
            self.move_row(image, *i, delta.row(k));
        }
    }

    fn value_at(&self, image: &SparseImage, x: &RowMat) -> f64 {
        let q2: f64 = image.q.iter().map(|v| v * v).sum();
        -0.5 * (image.r.inner(&image.r) - self.nrows as f64 * q2) + self.e.inner(x)
    }

    fn diagonal(&self) -> Vec<f64> {
        self.norms.iter().map(|v| -v).collect()
    }

    /// One product with all columns, instead of merging each of them with column i.
    fn column(&self, i: usize) -> Vec<f64> {
        let unit = RowMat::from_fn(self.nrows(), 1, |j, _| f64::from(u8::from(i == j)));
        self.apply(&unit).data().to_vec()
    }

    fn apply(&self, v: &RowMat) -> RowMat {
        let image = self.image(v);
        let mut out = RowMat::zeros(v.nrows(), v.ncols());
        for_each_chunk(out.data_mut(), v.ncols(), &|_, i, row| self.product_row(&image, i, row));
        out
    }

    fn apply_few(&self, vectors: &[Vec<(usize, f64)>]) -> RowMat {
        let mut out = self.by_rows().product(vectors, self.nrows(), |j| self.column(j));
        if let Some(mu) = &self.mu {
            // AᵀAX = SᵀSX − m μ (μᵀX)
            let q = |v: &Vec<(usize, f64)>| -> f64 { v.iter().map(|(i, x)| mu[*i] * x).sum() };
            let q: Vec<f64> = vectors.iter().map(q).collect();
            (0..q.len()).for_each(|k| axpy(self.nrows as f64 * q[k], mu, out.row_mut(k)));
        }
        out
    }

    fn halves(&self) -> Halves<'_> {
        Halves::Samples(self)
    }

    fn pair_work(&self, image: &SparseImage) -> (usize, usize) {
        let entries = self.values.len() / self.nrows().max(1) + 1;
        let work = 2 * SCATTERED * entries * image.q.len();
        (work, work)
    }

    fn bookkeeping(&self, _image: &SparseImage) -> String {
        "R = AX kept, gradient rows as -A(:,i)'R over the nonzeros, reused until X moves (sparse A, nothing n x n)"
            .into()
    }
}

#[cfg(test)]
mod tests {
    use faer::sparse::{SparseColMat, Triplet};

    use super::*;
    use crate::smooth::curvature_by_pairs;

    impl SparseGram {
        /// Column j of S, zeros included.
        fn dense_column(&self, j: usize) -> Vec<f64> {
            let mut out = vec![0.0; self.nrows];
            self.column(j).0.iter().zip(self.column(j).1).for_each(|(i, v)| out[*i as usize] = *v);
            out
        }
    }

    /// Its slow twin adds the products of each pair of columns row by row, in the order of the rows. The numbers of nonzeros of columns are
    /// as unlike as those of words: 1/(1 + j) of the rows.
    #[test]
    fn sums_have_the_bits_of_the_order_of_rows() {
        let (m, n) = (300, 90);
        let entry = |i: usize, j: usize| {
            let v = ((i * 7919 + j * 104_729 + 13) as f64 * 0.618).sin();
            if (i * 31 + j * 17).is_multiple_of(1 + j) { v * 10f64.powi((i % 7) as i32) } else { 0.0 }
        };
        let entries: Vec<_> = (0..m * n)
            .map(|e| (e / n, e % n))
            .filter(|(i, j)| entry(*i, *j) != 0.0)
            .map(|(i, j)| Triplet::new(i, j, entry(i, j)))
            .collect();
        let a = SparseColMat::<usize, f64>::try_new_from_triplets(m, n, &entries).unwrap();
        let means: Vec<f64> = (0..n).map(|j| a.val_of_col(j).iter().sum::<f64>() / m as f64).collect();
        let some: Vec<usize> = (0..n).filter(|j| j % 3 != 1).rev().collect();
        for means in [None, Some(means)] {
            let f = SparseGram::new(a.as_ref(), means).unwrap();
            let mean = |j: usize| f.mu.as_ref().map_or(0.0, |mu| mu[j]);
            let slow = |i: usize, j: usize| {
                let (u, v) = (f.dense_column(some[i]), f.dense_column(some[j]));
                let sum = u.iter().zip(&v).fold(0.0, |sum, (u, v)| sum - u * v);
                sum + m as f64 * mean(some[i]) * mean(some[j])
            };
            let slow = RowMat::from_fn(some.len(), some.len(), |i, j| if j < i { 0.0 } else { slow(i, j) });
            for threads in 1..4 {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                assert_eq!(pool.install(|| f.negative_gram(&some)).unwrap(), slow, "{threads}");
            }
        }
    }

    /// Its slow twin is each pair of columns for itself.
    #[test]
    fn blocks_by_rows_are_those_by_pairs() {
        let (m, n) = (60, 40);
        let entries: Vec<_> = (0..m * n)
            .filter(|e| (e * 7 + e / n) % 5 == 0)
            .map(|e| Triplet::new(e / n, e % n, ((e % 13) as f64 - 4.0) / 3.0))
            .collect();
        let a = SparseColMat::<usize, f64>::try_new_from_triplets(m, n, &entries).unwrap();
        let means: Vec<f64> = (0..n).map(|j| a.val_of_col(j).iter().sum::<f64>() / m as f64).collect();
        let (all, few): (Vec<usize>, Vec<usize>) = ((0..n).collect(), vec![3, 30]);
        for means in [None, Some(means)] {
            let f = SparseGram::new(a.as_ref(), means).unwrap();
            assert!(f.is_sooner_by_rows(&all) && !f.is_sooner_by_rows(&few));
            for rows in [&all, &few] {
                let (own, slow) = (f.curvature_block(rows), curvature_by_pairs(&f, rows));
                for (u, v) in own.data().iter().zip(slow.data()) {
                    assert!((u - v).abs() <= 1e-11, "{u} {v}");
                }
            }
        }
    }
}
