//! Range of the values of the columns of a chunk, and the number that is subtracted from a column before its products
//! are added up.

use super::slices::above;
use super::wide::power_of_two;

/// Number of standard deviations beyond which a mean is subtracted before sums are made: without that, rounding
/// counts up to 1 + FAR² times as much in the variance that is left at the end. Columns of which 6 % of the entries
/// or more are zeros have nearer means, so that a shift fills no sparse column.
const FAR: f64 = 4.0;

/// Squares of numbers within 2^±USUAL, their sums and what rounding leaves of those are normal numbers.
const USUAL: i32 = 400;

/// Largest exponent of a unit, so that its power and the inverse of that are normal numbers.
pub(super) const LARGEST_UNIT: i32 = 1000;

/// Smallest and largest value of a column: ∞ and −∞ without rows, −∞ and ∞ where they are not known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Range {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Range {
    pub(crate) const EMPTY: Self = Self { low: f64::INFINITY, high: f64::NEG_INFINITY };
    pub(crate) const UNKNOWN: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY };

    pub(crate) fn include(&mut self, value: f64) {
        let value = value + 0.0; // −0 is 0
        *self = Self { low: self.low.min(value), high: self.high.max(value) };
    }

    pub(crate) fn join(&mut self, other: Self) {
        *self = Self { low: self.low.min(other.low), high: self.high.max(other.high) };
    }

    /// True if all values are known to be the same.
    pub(crate) fn is_constant(&self) -> bool {
        self.low == self.high
    }

    /// The largest distance of a value from a number; 0 without rows.
    fn farthest(&self, from: f64) -> f64 {
        (self.high - from).max(from - self.low).max(0.0)
    }
}

/// The coordinates of a column: an entry a is kept as (a − shift)/2^unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Frame {
    /// Number that is subtracted.
    pub(super) shift: f64,
    /// 0 but for numbers whose squares would overflow or underflow; `None` as long as all entries are the shift.
    pub(super) unit: Option<i32>,
}

impl Frame {
    /// 2^−unit.
    pub(super) fn factor(&self) -> f64 {
        power_of_two(-self.exponent())
    }

    /// The unit, 0 where there is none yet.
    pub(super) fn exponent(&self) -> i32 {
        self.unit.unwrap_or(0)
    }

    /// True if entries are kept as they are.
    pub(super) fn is_plain(&self) -> bool {
        self.shift == 0.0 && self.exponent() == 0
    }

    /// With a unit that suits numbers of this size too.
    pub(super) fn with_room(self, size: f64) -> Self {
        if size == 0.0 {
            return self;
        }
        let top = above(size);
        let own = if top.abs() <= USUAL { 0 } else { top.clamp(-LARGEST_UNIT, LARGEST_UNIT) };
        let unit = match self.unit {
            Some(unit) if top <= unit.saturating_add(USUAL) => unit,
            Some(unit) => unit.max(own),
            None => own,
        };
        Self { unit: Some(unit), ..self }
    }

    /// With a unit for all values of a range.
    pub(super) fn with_room_for(self, range: Range) -> Self {
        self.with_room(range.farthest(self.shift).min(f64::MAX))
    }

    /// The shift for a column with this mean and standard deviation: the present one as long as it is near the mean,
    /// none where 0 is near. Others are multiples of a power of two about the standard deviation, so that whole
    /// numbers stay whole and what is left of the entries has few digits.
    pub(super) fn shift_for(&self, mean: f64, spread: f64) -> f64 {
        let is_near = |shift: f64| (mean - shift).abs() <= FAR * spread;
        if is_near(self.shift) || !mean.is_finite() || !spread.is_finite() {
            return self.shift;
        }
        if is_near(0.0) {
            return 0.0;
        }
        if spread < power_of_two(-LARGEST_UNIT) {
            return mean;
        }
        let unit = power_of_two(above(spread) - 1);
        let multiple = (mean / unit).round_ties_even() * unit;
        if multiple.is_finite() { multiple } else { mean }
    }
}

/// A power of two of the size of a range: numbers in it over this have squares that do not overflow.
pub(super) fn size_of(range: Range) -> f64 {
    let size = (range.high - range.low).abs().min(f64::MAX);
    power_of_two(above(size).clamp(-LARGEST_UNIT, LARGEST_UNIT))
}
