//! ¼ Σ xᵢₖ⁴ + ½ Σ dᵢ xᵢₖ² of a user, who says nothing of its curvature: neither quadratic nor concave.

use orthopt::RowMat;
use orthopt::smooth::Smooth;

#[derive(Clone)]
pub struct Quartic(pub Vec<f64>);

impl Smooth for Quartic {
    fn nrows(&self) -> usize {
        self.0.len()
    }
    fn value(&self, x: &RowMat) -> f64 {
        let row = |i: usize| x.row(i).iter().map(|v| 0.25 * v.powi(4) + 0.5 * self.0[i] * v * v).sum::<f64>();
        (0..x.nrows()).map(row).sum()
    }
    fn gradient(&self, x: &RowMat, g: &mut RowMat) {
        *g = RowMat::from_fn(x.nrows(), x.ncols(), |i, k| x.get(i, k).powi(3) + self.0[i] * x.get(i, k));
    }
}
