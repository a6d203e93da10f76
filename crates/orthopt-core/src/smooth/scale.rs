//! The size of f that the data give.

use orthopt_linalg::order::sort_numbers_down;

/// The scale of ½ tr(XᵀMX) for every number of columns: half the sum of the r largest |Mᵢᵢ|, and at least half of a
/// number that is not zero where M is not, as the diagonal of an indefinite M may be.
#[derive(Clone, Debug)]
pub struct Scale {
    sums: Vec<f64>, // of the 0, 1, 2, ... largest |Mᵢᵢ|
    least: f64,
}

impl Scale {
    /// Of a diagonal, and of the largest |Mᵢⱼ| or a norm of M; 0 where M is semidefinite, whose diagonal suffices.
    pub fn new(diagonal: impl Iterator<Item = f64>, least: f64) -> Self {
        let mut sizes: Vec<f64> = diagonal.map(f64::abs).collect();
        sort_numbers_down(&mut sizes);
        let mut sum = 0.0;
        let sums = std::iter::once(0.0)
            .chain(sizes.into_iter().map(|v| {
                sum += v;
                sum
            }))
            .collect();
        Self { sums, least }
    }

    /// For an X with this number of columns.
    pub fn of(&self, columns: usize) -> f64 {
        0.5 * self.sums[columns.min(self.sums.len() - 1)].max(self.least)
    }
}
