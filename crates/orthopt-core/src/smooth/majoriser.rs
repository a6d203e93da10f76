//! The separable majoriser of any smooth f at a point.

use super::{Quadratic, Smooth};
use orthopt_linalg::RowMat;
use orthopt_linalg::kernels::axpy;
use orthopt_linalg::simd::Simd;

/// m(Y) = ⟨G, Y − X⟩ + L/2‖Y − X‖²_F with G = ∇f(X): f(Y) ≤ f(X) + m(Y) where L bounds the curvature of f between
/// X and Y. It is a quadratic with M = L·I, so rows that move at the same time are
/// independent, and the methods for a quadratic f solve the subproblems of any f.
#[derive(Clone, Copy, Debug)]
pub struct Majoriser<'a> {
    /// G.
    pub g: &'a RowMat, // G
    /// X.
    pub x: &'a RowMat, // X
    /// L ≥ 0.
    pub l: f64, // L ≥ 0
}

impl Smooth for Majoriser<'_> {
    fn nrows(&self) -> usize {
        self.x.nrows()
    }

    fn ncols(&self) -> Option<usize> {
        Some(self.x.ncols())
    }

    fn value(&self, y: &RowMat) -> f64 {
        let d = RowMat::from_fn(y.nrows(), y.ncols(), |i, k| y.get(i, k) - self.x.get(i, k));
        self.g.inner(&d) + 0.5 * self.l * d.inner(&d)
    }

    fn gradient(&self, y: &RowMat, g: &mut RowMat) {
        (0..y.nrows()).for_each(|i| {
            self.gradient_row(&(), y, i, g.row_mut(i));
        });
    }

    fn lipschitz(&self) -> Option<f64> {
        Some(self.l)
    }

    /// The linearisation of a concave f.
    fn is_concave(&self) -> bool {
        self.l <= 0.0
    }

    fn is_quadratic(&self) -> bool {
        true
    }
}

impl Quadratic for Majoriser<'_> {
    type Image = (); // a row of the gradient comes from rows of G, X and Y

    fn image(&self, _: &RowMat) {}

    #[inline(always)]
    fn gradient_row<'a>(&'a self, _: &'a (), y: &RowMat, i: usize, buf: &'a mut [f64]) -> &'a [f64] {
        buf.copy_from_slice(self.g.row(i));
        axpy(self.l, y.row(i), buf);
        axpy(-self.l, self.x.row(i), buf);
        buf
    }

    #[inline(always)]
    fn curvature(&self, i: usize, j: usize) -> f64 {
        if i == j { self.l } else { 0.0 }
    }

    fn isotropic(&self) -> Option<f64> {
        Some(self.l)
    }

    #[inline(always)]
    fn move_pair<S: Simd>(&self, _: S, _: &mut (), _: usize, _: usize, _: &[f64], _: &[f64]) {}

    fn move_block(&self, _: &mut (), _: &[usize], _: &RowMat) {}

    fn apply(&self, v: &RowMat) -> RowMat {
        RowMat::from_fn(v.nrows(), v.ncols(), |i, k| self.l * v.get(i, k))
    }
}
