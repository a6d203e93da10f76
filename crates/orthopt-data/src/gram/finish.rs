//! From sums to C: centred, scaled and divided as [`Prepare`] asks, in pairs of f64, because what centring leaves
//! may be far smaller than what it starts from.

use faer::Mat;

use super::GramAccumulator;
use super::compensated::two_sum;
use crate::error::DataError;
use crate::prepare::{Prepare, Scale, Units};

/// A number as hi + lo.
type Pair = (f64, f64);

/// What is left of the squares of a column when the mean is removed, relative to before, and is rounding:
/// of exact sums, and of compensated ones, whose blocks are f64.
const CONSTANT_EXACT: f64 = 1e-24;
const CONSTANT: f64 = 1e-13;

impl GramAccumulator {
    /// C of the columns in the order given, with what was subtracted and divided by.
    ///
    /// # Errors
    /// [`DataError::OneRow`] where a variance needs two rows; columns too small for reproducible sums.
    pub fn prepared(&self, prepare: &Prepare, columns: &[usize]) -> Result<(Mat<f64>, Units), DataError> {
        self.check_sizes()?;
        let rows = self.weight();
        if rows <= 1.0 && (prepare.covariance || prepare.scale == Scale::Std) {
            return Err(DataError::OneRow);
        }
        let sums: Vec<Pair> = columns.iter().map(|j| self.entry(j + 1, 0)).collect();
        let constant = if self.is_reproducible() { CONSTANT_EXACT } else { CONSTANT };
        let centred = |j: usize, k: usize| {
            let left = less(self.entry(columns[j] + 1, columns[k] + 1), product(sums[j], sums[k]), rows);
            let whole = self.entry(columns[j] + 1, columns[j] + 1).0;
            if j == k && left <= constant * whole { 0.0 } else { left }
        };
        let plain = |j: usize, k: usize| self.entry(columns[j] + 1, columns[k] + 1).0;
        let variances: Vec<f64> = (0..columns.len()).map(|j| centred(j, j)).collect();
        let squares = |j: usize| if prepare.center { variances[j] } else { plain(j, j) };
        let divisor = |j: usize| {
            prepare.scale.divisor(rows, || squares(j).max(0.0).sqrt(), || variances[j].max(0.0).sqrt())
        };
        let divisors: Vec<f64> = (0..columns.len()).map(divisor).collect();
        let shrink = if prepare.covariance { rows - 1.0 } else { 1.0 };
        let mut c = Mat::zeros(columns.len(), columns.len());
        for j in 0..columns.len() {
            for k in 0..=j {
                let value = match prepare.center {
                    true if variances[j] == 0.0 || variances[k] == 0.0 => 0.0,
                    true => centred(j, k),
                    false => plain(j, k),
                };
                let value = value / (divisors[j] * divisors[k] * shrink);
                c[(j, k)] = value;
                c[(k, j)] = value;
            }
        }
        let units = Units {
            means: prepare.center.then(|| sums.iter().map(|sum| sum.0 / rows).collect()),
            scales: (prepare.scale != Scale::None).then_some(divisors),
            shrunk: prepare.covariance.then(|| shrink.sqrt()),
        };
        Ok((c, units))
    }
}

/// a·b of two pairs.
fn product(a: Pair, b: Pair) -> Pair {
    let (high, low) = two_product(a.0, b.0);
    (high, low + (a.0 * b.1 + a.1 * b.0))
}

/// a − b/m, rounded once at the end but for a share of about 2⁻¹⁰⁰ of a.
fn less(a: Pair, b: Pair, m: f64) -> f64 {
    let quotient = b.0 / m;
    let (whole, part) = two_product(quotient, m);
    let rest = ((b.0 - whole) - part) + b.1;
    let (high, low) = two_sum(a.0, -quotient);
    high + (low + (a.1 - rest / m))
}

/// a·b as the rounded product and what it lacks (Dekker's, for processors without fused multiply-add).
fn two_product(a: f64, b: f64) -> Pair {
    let split = |v: f64| {
        let shifted = 134_217_729.0 * v; // 2²⁷ + 1
        let high = shifted - (shifted - v);
        (high, v - high)
    };
    let (product, (a1, a0), (b1, b0)) = (a * b, split(a), split(b));
    (product, ((a1 * b1 - product) + a1 * b0 + a0 * b1) + a0 * b0)
}
