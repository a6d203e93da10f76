//! From sums to C: centred, scaled and divided as [`Prepare`] asks, in pairs of f64, because what centring leaves
//! may be far smaller than what it starts from.

use faer::Mat;

use super::GramAccumulator;
use super::frame::{Frame, Range};
use super::pair::{Pair, less, plus, times};
use super::wide::power_of_two;
use crate::error::DataError;
use crate::prepare::{Prepare, Scale, Units};

/// A column is constant up to the rounding of its values where less than this of its squares is left when the mean is
/// removed. (The square of the figure for data in memory.)
const CONSTANT: f64 = 1e-24;

/// A square that rounding may be off by more than this share of it has no digit that is certain.
const CERTAIN: f64 = 0.1;

impl GramAccumulator {
    /// C of the columns in the order given, with what was subtracted and divided by.
    ///
    /// # Errors
    /// [`DataError::OneRow`] where a variance needs two rows; [`DataError::Spread`] for a column whose mean is taken
    /// off and leaves less than rounding may; [`DataError::TooLarge`] for squares that overflow or underflow, and
    /// columns too small for reproducible sums.
    pub fn prepared(&self, prepare: &Prepare, columns: &[usize]) -> Result<(Mat<f64>, Units), DataError> {
        self.check_sizes()?;
        let rows = self.weight();
        if rows <= 1.0 && (prepare.covariance || prepare.scale == Scale::Std) {
            return Err(DataError::OneRow);
        }
        let weight = self.entry(0, 0);
        let frames: Vec<Frame> = columns.iter().map(|j| self.frame(*j)).collect();
        let sums: Vec<Pair> = columns.iter().map(|j| self.entry(j + 1, 0)).collect();
        let shifts: Vec<Pair> = frames.iter().map(|frame| (frame.shift * frame.factor(), 0.0)).collect();
        let entry = |j: usize, k: usize| self.entry(columns[j] + 1, columns[k] + 1);
        let centred = |j: usize, k: usize| less(entry(j, k), times(sums[j], sums[k]), rows);
        let plain = |j: usize, k: usize| {
            if shifts[j].0 == 0.0 && shifts[k].0 == 0.0 {
                return entry(j, k).0;
            }
            let mixed = plus(times(shifts[j], sums[k]), times(shifts[k], sums[j]));
            plus(plus(entry(j, k), mixed), times(weight, times(shifts[j], shifts[k]))).0
        };
        // in the units of the columns, as all here until the end
        let variances: Vec<f64> = match prepare.center || prepare.scale == Scale::Std {
            true => (0..columns.len())
                .map(|j| self.variance(columns[j], (centred(j, j), plain(j, j)), sums[j], rows))
                .collect::<Result<_, _>>()?,
            false => Vec::new(),
        };
        let squares = |j: usize| if prepare.center { variances[j] } else { plain(j, j) };
        let divisor = |j: usize| {
            let spread = || variances[j].sqrt();
            let divisor = prepare.scale.divisor(rows, || squares(j).max(0.0).sqrt(), spread);
            // a column of zeros is divided by 1, whatever its unit
            let own = match prepare.scale {
                Scale::Unit => squares(j),
                Scale::Std => variances[j],
                _ => 0.0,
            };
            (divisor, if own > 0.0 { frames[j].exponent() } else { 0 })
        };
        let divisors: Vec<(f64, i32)> = (0..columns.len()).map(divisor).collect();
        let shrink = if prepare.covariance { rows - 1.0 } else { 1.0 };
        let mut c = Mat::zeros(columns.len(), columns.len());
        for j in 0..columns.len() {
            for k in 0..=j {
                let value = match prepare.center {
                    true if variances[j] == 0.0 || variances[k] == 0.0 => 0.0,
                    true => centred(j, k),
                    false => plain(j, k),
                };
                let value = value / (divisors[j].0 * divisors[k].0 * shrink);
                let unit = |j: usize| frames[j].exponent() - divisors[j].1;
                let value = times_power(value, unit(j) + unit(k));
                c[(j, k)] = value;
                c[(k, j)] = value;
            }
            self.check_square(columns[j], squares(j), c[(j, j)])?;
        }
        let mean = |j: usize| frames[j].shift + times_power(sums[j].0 / rows, frames[j].exponent());
        let scales = || divisors.iter().map(|(divisor, unit)| times_power(*divisor, *unit)).collect();
        let units = Units {
            means: prepare.center.then(|| (0..columns.len()).map(mean).collect()),
            scales: (prepare.scale != Scale::None).then(scales),
            shrunk: prepare.covariance.then(|| shrink.sqrt()),
        };
        Ok((c, units))
    }

    /// The centred square of a column, from what is left of the whole when the mean is taken off: 0 for a constant one.
    fn variance(
        &self,
        column: usize,
        (left, whole): (f64, f64),
        sum: Pair,
        rows: f64,
    ) -> Result<f64, DataError> {
        let (range, rounding) = (self.ranges[column], self.rounding_of(column));
        if range.is_constant() || range == Range::EMPTY {
            return Ok(0.0);
        }
        if self.is_reproducible() || rounding == 0.0 || CERTAIN * left > rounding {
            return Ok(if left <= CONSTANT * whole { 0.0 } else { left });
        }
        let frame = self.frame(column);
        let spread = ((left.max(0.0) + rounding) / rows).sqrt();
        Err(DataError::Spread {
            place: self.place.clone(),
            column: column + 1,
            name: self.name_of(column),
            mean: frame.shift + times_power(sum.0 / rows, frame.exponent()),
            spread: times_power(spread, frame.exponent()),
        })
    }

    /// That a square, in the units of its column, is a number with all its digits as an entry of C.
    fn check_square(&self, column: usize, square: f64, entry: f64) -> Result<(), DataError> {
        if square == 0.0 || (f64::MIN_POSITIVE..=f64::MAX).contains(&entry) {
            return Ok(());
        }
        let (number, name) = (column + 1, self.name_of(column));
        let size = if entry < 1.0 { "small" } else { "large" };
        let problem = format!(
            "the values of column {number}{name} are so {size} that their squares overflow or underflow; \
             multiply the column by a power of ten, or scale it to standard deviation 1"
        );
        Err(DataError::TooLarge { place: self.place.clone(), problem })
    }

    fn name_of(&self, column: usize) -> String {
        let name = self.names.as_ref().and_then(|names| names.get(column));
        name.map_or(String::new(), |name| format!(" ({})", crate::text::show(name.as_bytes())))
    }
}

/// v·2^exponent, in two steps, as the power may be no normal number.
fn times_power(v: f64, exponent: i32) -> f64 {
    let half = exponent / 2;
    v * power_of_two(half.clamp(-1022, 1023)) * power_of_two((exponent - half).clamp(-1022, 1023))
}
