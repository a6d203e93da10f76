//! The Stiefel manifold St(n, r) = {X ∈ ℝⁿˣʳ : XᵀX = I}.

use rand::RngExt;
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

use super::Constraint;
use super::repair::error_matrix;
pub use super::repair::{drop_lone_overlaps, repair_on_support, repair_within};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
pub use orthopt_linalg::orthonormal::orthonormalise;

/// Largest ‖XᵀX − I‖_F of a starting point that is accepted (and then repaired to rounding).
pub const START_TOLERANCE: f64 = 1e-6;

/// n × r matrices with orthonormal columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stiefel {
    /// Number of rows n.
    pub n: usize,
    /// Number of columns r.
    pub r: usize,
}

impl Stiefel {
    /// St(n, r).
    ///
    /// # Errors
    /// [`Error::Rank`] unless 1 ≤ r ≤ n.
    pub fn new(n: usize, r: usize) -> Result<Self> {
        if r == 0 || r > n { Err(Error::Rank { rank: r, columns: n }) } else { Ok(Self { n, r }) }
    }
}

impl Constraint for Stiefel {
    fn shape(&self) -> (usize, usize) {
        (self.n, self.r)
    }

    fn feasibility(&self, x: &RowMat) -> f64 {
        feasibility(x)
    }

    fn is_sized(&self, x: &RowMat) -> bool {
        has_unit_columns(x)
    }

    fn check(&self, x: &RowMat, what: &str) -> Result<()> {
        check(x, self.n, self.r, what)
    }

    /// On the support of X: zeros stay.
    fn repair(&self, x: &mut RowMat) -> f64 {
        repair_on_support(x)
    }

    fn random(&self, rng: &mut Pcg64) -> RowMat {
        random(self.n, self.r, rng)
    }

    fn tangent(&self, x: &RowMat, d: &RowMat) -> RowMat {
        tangent(x, d)
    }
}

/// True if all columns have the length 1, up to [`START_TOLERANCE`]. Cost 2nr flops.
pub fn has_unit_columns(x: &RowMat) -> bool {
    let mut squares = vec![0.0; x.ncols()];
    for i in 0..x.nrows() {
        squares.iter_mut().zip(x.row(i)).for_each(|(sum, v)| *sum += v * v);
    }
    squares.iter().all(|square| (square - 1.0).abs() <= START_TOLERANCE) // false for what is no number
}

/// ‖XᵀX − I‖_F. Cost 2nr² flops.
pub fn feasibility(x: &RowMat) -> f64 {
    error_matrix(x).norm()
}

/// The orthogonal projection of D onto the tangent space at X: D − ½X(XᵀD + DᵀX)
/// (OBCD paper, Lemma A.6). Cost 6nr² flops.
pub fn tangent(x: &RowMat, d: &RowMat) -> RowMat {
    let xtd = orthopt_linalg::products::cross(x, d);
    let sym = xtd.symmetric_part();
    let mut out = d.clone();
    orthopt_linalg::products::product(&mut out, true, -1.0, x.as_mat(), sym.as_mat());
    out
}

/// A random orthonormal n × r matrix: Q of a Gaussian matrix, uniform on the manifold.
pub fn random(n: usize, r: usize, rng: &mut Pcg64) -> RowMat {
    let gauss = RowMat::from_fn(n, r, |_, _| rng.sample(StandardNormal));
    orthonormalise(&gauss)
}

/// Checks a starting point given by the user: n × r, finite, orthonormal to 1e-6.
///
/// # Errors
/// [`Error::Shape`], [`Error::NotFinite`] or [`Error::NotOrthonormal`] with the measured error.
pub fn check(x: &RowMat, n: usize, r: usize, what: &str) -> Result<()> {
    if (x.nrows(), x.ncols()) != (n, r) {
        return Err(Error::Shape {
            what: what.into(),
            rows: x.nrows(),
            cols: x.ncols(),
            expected_rows: n,
            expected_cols: r,
        });
    }
    if let Some((i, j)) = x.find_non_finite() {
        return Err(Error::NotFinite { what: what.into(), row: i + 1, col: j + 1 });
    }
    let error = feasibility(x);
    if error > START_TOLERANCE {
        return Err(Error::NotOrthonormal { what: what.into(), error, tolerance: START_TOLERANCE });
    }
    Ok(())
}
