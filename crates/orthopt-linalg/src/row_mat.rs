//! A dense matrix whose rows are contiguous.

use faer::{Mat, MatRef};

/// A dense row-major matrix. Row-block methods read and write whole rows of X (n × r), so rows
/// are contiguous slices; [`RowMat::as_mat`] gives faer's view of the same memory.
#[derive(Clone, Debug, PartialEq)]
pub struct RowMat {
    nrows: usize,
    ncols: usize,
    data: Vec<f64>,
}

impl RowMat {
    /// The nrows × ncols matrix of zeros.
    pub fn zeros(nrows: usize, ncols: usize) -> Self {
        Self { nrows, ncols, data: vec![0.0; nrows * ncols] }
    }

    /// The matrix with entries `f(i, j)`.
    pub fn from_fn(nrows: usize, ncols: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        // plain loops: an iterator is compiled again for each of the many closures
        let mut out = Self::zeros(nrows, ncols);
        for i in 0..nrows {
            for (j, v) in out.row_mut(i).iter_mut().enumerate() {
                *v = f(i, j);
            }
        }
        out
    }

    /// A row-major copy of a faer matrix.
    pub fn from_mat(m: MatRef<'_, f64>) -> Self {
        Self::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)])
    }

    /// Takes `data` as nrows × ncols in row-major order; `None` if the length does not fit.
    pub fn from_vec(nrows: usize, ncols: usize, data: Vec<f64>) -> Option<Self> {
        (data.len() == nrows.checked_mul(ncols)?).then_some(Self { nrows, ncols, data })
    }

    /// Number of rows.
    #[inline(always)]
    pub fn nrows(&self) -> usize {
        self.nrows
    }

    /// Number of columns.
    #[inline(always)]
    pub fn ncols(&self) -> usize {
        self.ncols
    }

    /// Row `i`.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.ncols..(i + 1) * self.ncols]
    }

    /// Row `i`, writable.
    #[inline(always)]
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.ncols..(i + 1) * self.ncols]
    }

    /// Rows i < j, both writable.
    #[doc(hidden)]
    pub fn two_rows_mut(&mut self, i: usize, j: usize) -> (&mut [f64], &mut [f64]) {
        let r = self.ncols;
        let (head, tail) = self.data.split_at_mut(j * r);
        (&mut head[i * r..(i + 1) * r], &mut tail[..r])
    }

    /// Entry (i, j).
    #[inline(always)]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.ncols + j]
    }

    /// Sets entry (i, j).
    #[inline(always)]
    pub fn set(&mut self, i: usize, j: usize, v: f64) {
        self.data[i * self.ncols + j] = v;
    }

    /// All entries, row by row.
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// All entries, row by row, writable.
    pub fn data_mut(&mut self) -> &mut [f64] {
        &mut self.data
    }

    /// faer's view of this matrix.
    pub fn as_mat(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.data, self.nrows, self.ncols)
    }

    /// A column-major copy.
    pub fn to_mat(&self) -> Mat<f64> {
        self.as_mat().to_owned()
    }

    /// ½(M + Mᵀ) of a square M.
    pub fn symmetric_part(&self) -> Self {
        Self::from_fn(self.nrows, self.ncols, |i, j| 0.5 * (self.get(i, j) + self.get(j, i)))
    }

    /// ⟨self, other⟩ = Σ selfᵢⱼ·otherᵢⱼ, summed in a fixed order.
    pub fn inner(&self, other: &Self) -> f64 {
        super::kernels::inner(&self.data, &other.data)
    }

    /// ‖self‖_F.
    pub fn norm(&self) -> f64 {
        self.inner(self).sqrt()
    }

    /// Position of the first entry that is NaN or infinite.
    pub fn find_non_finite(&self) -> Option<(usize, usize)> {
        let k = self.data.iter().position(|v| !v.is_finite())?;
        Some((k / self.ncols, k % self.ncols))
    }
}
