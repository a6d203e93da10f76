//! The mean of a column with more digits than an f64, if they matter.

/// A column whose norm falls by this factor when its mean is removed is constant, and its
/// remainder is rounding. (The same figure as where data are centred as they are read.)
const CONSTANT: f64 = 1e-12;

/// A mean that is off by less than this share of the variance, both squared, changes no digit of C.
const MATTERS: f64 = f64::EPSILON / 2.0;

/// Number of standard deviations from which on a mean is far: Σa² − m·mean² then loses up to
/// log₁₀(1 + FAR²) more digits than Σa². A column with 6 % of zeros or more has a nearer mean.
const FAR: f64 = 4.0;

/// The mean of a column, to be subtracted from its entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnMean {
    high: f64,
    low: f64,
    left: f64,      // the mean of what is left
    constant: bool, // nothing but rounding is left of the column
    far: bool,
}

impl ColumnMean {
    /// The mean of a column of `rows` entries from its nonzero entries.
    pub fn of(stored: &[f64], rows: usize) -> Self {
        let absent = (rows - stored.len()) as f64;
        let mut column = Column::default();
        stored.iter().for_each(|v| column.see(*v));
        if absent > 0.0 {
            column.see(0.0);
        }
        column.take_mean(rows as f64);
        stored.iter().for_each(|v| column.compare(*v, 1.0));
        if absent > 0.0 {
            column.compare(0.0, absent);
        }
        column.finish(rows as f64)
    }

    /// Of a column with a weight for each entry, all above 0.
    pub fn weighted(values: &[f64], weights: &[f64]) -> Self {
        let mass = weights.iter().sum::<f64>();
        let mut column = Column::default();
        for (value, weight) in values.iter().zip(weights) {
            column.see(*value);
            column.sum += (weight - 1.0) * value;
        }
        column.take_mean(mass);
        values.iter().zip(weights).for_each(|(value, weight)| column.compare(*value, *weight));
        column.finish(mass)
    }

    /// The mean as a number.
    pub fn value(&self) -> f64 {
        self.high + self.low
    }

    /// True if it is more than four standard deviations from 0.
    pub fn is_far(&self) -> bool {
        self.far
    }

    /// The mean of the entries that [`apply`](Self::apply) gives: a remainder that changes no
    /// square of these entries, but matters in products with columns that are not centred.
    pub fn left(&self) -> f64 {
        self.left
    }

    /// An entry minus the mean; 0 in a constant column.
    #[inline(always)]
    pub fn apply(&self, value: f64) -> f64 {
        if self.constant { 0.0 } else { (value - self.high) - self.low }
    }
}

/// A column that is read twice, entry by entry.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    sum: f64,
    least: f64,
    most: f64,
    mean: f64,
    factor: f64, // a power of two, so that squares neither overflow nor underflow
    off: f64,    // Σ(a − mean), and squares of that and of a, all times the factor
    left: f64,
    whole: f64,
}

impl Default for Column {
    fn default() -> Self {
        let (least, most) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { sum: 0.0, least, most, mean: 0.0, factor: 1.0, off: 0.0, left: 0.0, whole: 0.0 }
    }
}

impl Column {
    /// A value of the first pass.
    #[inline(always)]
    pub fn see(&mut self, value: f64) {
        self.sum += value;
        self.least = self.least.min(value);
        self.most = self.most.max(value);
    }

    /// Between both.
    pub fn take_mean(&mut self, rows: f64) {
        self.mean = self.sum / rows;
        let largest = self.least.abs().max(self.most.abs());
        let exponent = ((largest.to_bits() >> 52) as i64 - 1023).clamp(-1022, 1022);
        self.factor = f64::from_bits(((1023 - exponent) as u64) << 52);
    }

    /// The second pass, at an entry with its multiplicity.
    #[inline(always)]
    pub fn compare(&mut self, value: f64, times: f64) {
        let (whole, left) = (value * self.factor, (value - self.mean) * self.factor);
        self.off += times * left;
        self.left += times * (left * left);
        self.whole += times * (whole * whole);
    }

    /// Result of the observations.
    pub fn finish(&self, rows: f64) -> ColumnMean {
        let off = self.off / rows;
        let variance = (self.left / rows - off * off).max(0.0);
        let small = rows * variance <= CONSTANT * CONSTANT * self.whole;
        // of sums that overflow nothing is known; C is refused then
        let constant = self.sum.is_finite() && (self.least == self.most || small);
        let matters = self.sum.is_finite() && off * off > MATTERS * variance;
        let far = self.sum.is_finite() && (self.mean * self.factor).abs() > FAR * variance.sqrt();
        let high = if constant && self.least == self.most { self.least } else { self.mean };
        let rest = if self.sum.is_finite() && !constant { off / self.factor } else { 0.0 };
        let (low, left) = if matters { (rest, 0.0) } else { (0.0, rest) };
        ColumnMean { high, low, left, constant, far }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_keeps_more_digits_than_a_number() {
        for size in [1.0, 1e7, 1e11] {
            let values: Vec<f64> = (0..100_000).map(|i| size + f64::from(i % 3)).collect();
            let mean = ColumnMean::of(&values, values.len());
            // Σ(i mod 3)/100000 = 99999/100000
            for v in 0..3 {
                let expected = f64::from(v) - 0.99999;
                let found = mean.apply(size + f64::from(v)) - mean.left();
                assert!((found - expected).abs() < 1e-12, "{size} {v}: {found}");
            }
            assert_eq!(mean.is_far(), size > 1.0);
        }
    }

    #[test]
    fn constant_columns_are_zeros_in_any_unit() {
        for unit in [1.0, 1e-170, 1e300] {
            let constant = vec![0.1 * unit; 50_000];
            let mean = ColumnMean::of(&constant, constant.len());
            assert_eq!((mean.apply(constant[0]), mean.value()), (0.0, 0.1 * unit));
            let mean = ColumnMean::of(&[0.1 * unit, 0.3 * unit], 4);
            assert!((mean.apply(0.0) / unit + 0.1).abs() < 1e-15 && !mean.is_far());
        }
        let mean = ColumnMean::of(&[f64::NAN, 1.0, 1.0], 3);
        assert!(mean.apply(1.0).is_nan());
    }
}
