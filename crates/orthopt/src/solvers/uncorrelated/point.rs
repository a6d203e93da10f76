//! An X with CX.

use crate::linalg::RowMat;
use crate::problem::UncorrelatedProblem;
use crate::smooth::Quadratic;

/// X, CX and the diagonal of C.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub x: RowMat,
    pub cx: RowMat,
    pub diagonal: Vec<f64>,
}

impl Point {
    pub fn new<F: Quadratic>(p: &UncorrelatedProblem<F>, x: RowMat) -> Self {
        let diagonal = p.f.diagonal().iter().map(|v| -v).collect();
        let mut cx = p.f.apply(&x);
        cx.data_mut().iter_mut().for_each(|v| *v = -*v);
        Self { x, cx, diagonal }
    }

    /// xₖᵀCxₖ.
    pub fn variance(&self, k: usize) -> f64 {
        (0..self.x.nrows()).map(|i| self.x.get(i, k) * self.cx.get(i, k)).sum()
    }

    /// F, from CX.
    pub fn objective<F: Quadratic>(&self, p: &UncorrelatedProblem<F>) -> f64 {
        let nonzeros = self.x.data().iter().filter(|v| **v != 0.0).count() as f64;
        -0.5 * self.x.inner(&self.cx) + if p.lambda() > 0.0 { p.lambda() * nonzeros } else { 0.0 }
    }

    /// Component k becomes `v` on `rows`.
    pub fn replace<F: Quadratic>(&mut self, p: &UncorrelatedProblem<F>, k: usize, rows: &[usize], v: &[f64]) {
        let n = self.x.nrows();
        (0..n).for_each(|i| self.x.set(i, k, 0.0));
        rows.iter().zip(v).for_each(|(i, value)| self.x.set(*i, k, *value));
        let image = p.f.apply(&RowMat::from_fn(n, 1, |i, _| self.x.get(i, k)));
        (0..n).for_each(|i| self.cx.set(i, k, -image.get(i, 0)));
    }

    /// Components whose image Cxⱼ is not zero on the rows, without those in `skip`.
    pub fn others(&self, rows: &[usize], skip: &[usize]) -> Vec<usize> {
        let image = |j: &usize| rows.iter().any(|i| self.cx.get(*i, *j) != 0.0);
        (0..self.x.ncols()).filter(|j| !skip.contains(j) && image(j)).collect()
    }

    /// ‖Cxⱼ‖.
    pub fn size(&self, j: usize) -> f64 {
        (0..self.cx.nrows()).map(|i| self.cx.get(i, j).powi(2)).sum::<f64>().sqrt()
    }

    /// Their images Cxⱼ/‖Cxⱼ‖ on the rows: what a component there must be orthogonal to.
    pub fn images_on(&self, rows: &[usize], skip: &[usize]) -> Vec<Vec<f64>> {
        let column = |j: usize| {
            let size = self.size(j);
            rows.iter().map(|i| self.cx.get(*i, j) / size).collect()
        };
        self.others(rows, skip).into_iter().map(column).collect()
    }
}
