//! An X with CX, for components that must be uncorrelated.

pub(super) use crate::exchange::point::Point;

/// An image below this share of the scale of F is rounding: any component is uncorrelated with one without variance.
const NOTHING: f64 = 1e-13;

impl Point {
    /// xₖᵀCxₖ.
    pub fn variance(&self, k: usize) -> f64 {
        (0..self.x.nrows()).map(|i| self.x.get(i, k) * self.cx.get(i, k)).sum()
    }

    /// Components whose image Cxⱼ is not zero on the rows, without those in `skip`.
    pub fn others(&self, rows: &[usize], skip: &[usize]) -> Vec<usize> {
        let has = |j: usize| self.size(j) > NOTHING * self.scale;
        let image = |j: &usize| rows.iter().any(|i| self.cx.get(*i, *j) != 0.0) && has(*j);
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
