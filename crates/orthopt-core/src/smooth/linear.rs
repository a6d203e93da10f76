//! The linear term of f.

use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};

/// The linear term E of f, or none.
#[derive(Clone, Debug, Default)]
pub struct LinearTerm(pub Option<RowMat>);

impl LinearTerm {
    #[doc(hidden)]
    pub fn checked(e: RowMat, n: usize) -> Result<Self> {
        if e.nrows() != n {
            return Err(Error::Shape {
                what: "the linear term E".into(),
                rows: e.nrows(),
                cols: e.ncols(),
                expected_rows: n,
                expected_cols: e.ncols(),
            });
        }
        match e.find_non_finite() {
            Some((i, j)) => {
                Err(Error::NotFinite { what: "the linear term E".into(), row: i + 1, col: j + 1 })
            }
            None => Ok(Self(Some(e))),
        }
    }

    #[doc(hidden)]
    pub fn ncols(&self) -> Option<usize> {
        self.0.as_ref().map(RowMat::ncols)
    }

    /// Σₖ ‖eₖ‖, what ⟨E, X⟩ is at most for unit columns.
    #[doc(hidden)]
    pub fn scale(&self) -> f64 {
        let Some(e) = &self.0 else { return 0.0 };
        let column = |k| (0..e.nrows()).map(|i| e.get(i, k) * e.get(i, k)).sum::<f64>().sqrt();
        (0..e.ncols()).map(column).sum()
    }

    #[doc(hidden)]
    pub fn inner(&self, x: &RowMat) -> f64 {
        self.0.as_ref().map_or(0.0, |e| e.inner(x))
    }

    /// out += E, row `i`.
    #[inline(always)]
    #[doc(hidden)]
    pub fn add_row(&self, i: usize, out: &mut [f64]) {
        if let Some(e) = &self.0 {
            for (o, v) in out.iter_mut().zip(e.row(i)) {
                *o += v;
            }
        }
    }

    #[doc(hidden)]
    pub fn add(&self, out: &mut RowMat) {
        if let Some(e) = &self.0 {
            for (o, v) in out.data_mut().iter_mut().zip(e.data()) {
                *o += v;
            }
        }
    }
}
