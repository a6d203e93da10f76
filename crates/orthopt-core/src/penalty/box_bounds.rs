use crate::nonsmooth::Nonsmooth;
use crate::options::{Constants, constants};
use crate::pair::PairModel;
use crate::pair::PairPenalty;
use crate::pair::box_search::search_box;
use crate::pair::fold::Scratch;
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_linalg::plane::PairMove;
use orthopt_linalg::simd::Simd;

constants! {
    /// Shape of [`BoxBounds`].
    #[derive(Copy)]
    pub struct BoxShape {
        /// lower bound of every entry (-1: none, as |x| <= 1)
        lower [""]: f64 = -1.0, "a finite number <= 0" if |v| v <= 0.0;
        /// upper bound of every entry (1: none, as |x| <= 1)
        upper [""]: f64 = 1.0, "a finite number > 0" if |v| v > 0.0;
    }
}

/// Entries beyond a bound by less than this count as inside: a move is rounded, and X is repaired
/// now and then.
const SLACK: f64 = 1e-9;

/// h = indicator of lower ≤ x ≤ upper, lower ≤ 0 < upper. X⁰ must be inside: named starts are
/// moved there (`start/in_box.rs`). Bounds below 1/√n in absolute value leave no feasible X at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxBounds {
    bounds: [f64; 2], // lower, upper
}

impl BoxBounds {
    /// The box [lower, upper].
    ///
    /// # Errors
    /// Bounds that are not finite, lower > 0, or upper ≤ 0.
    pub fn new(lower: f64, upper: f64) -> Result<Self> {
        Self::shaped(BoxShape { lower, upper })
    }

    /// The box of these bounds.
    ///
    /// # Errors
    /// As [`BoxBounds::new`].
    #[doc(hidden)]
    pub fn shaped(shape: BoxShape) -> Result<Self> {
        let BoxShape { lower, upper } = shape.checked("box")?;
        Ok(Self { bounds: [lower, upper] })
    }

    /// lower and upper.
    pub fn bounds(&self) -> [f64; 2] {
        self.bounds
    }

    /// Number of entries up to `most` that a column of unit length has at least.
    #[doc(hidden)]
    pub fn rows_needed(most: f64) -> usize {
        (1.0 / (most + SLACK).powi(2)).ceil() as usize
    }

    /// Refuses a box without an n × r X with XᵀX = I, if that is easily proved: n entries are too few for unit
    /// length, or n rows for columns that share none, as those of X ≥ 0.
    ///
    /// # Errors
    /// [`Error::Incompatible`] with the proof.
    #[doc(hidden)]
    pub fn check_shape(&self, n: usize, r: usize) -> Result<()> {
        let [lower, upper] = self.bounds;
        let most = upper.max(-lower);
        let needed = Self::rows_needed(most);
        let apart = lower >= 0.0 && needed.saturating_mul(r) > n;
        if needed <= n && !apart {
            return Ok(());
        }
        let why = if needed > n {
            let length = n as f64 * most * most;
            format!(
                "{n} entries of at most {most} in absolute value have a sum of squares of at most {length:.4}, and \
                 each column needs 1"
            )
        } else {
            format!(
                "columns with X >= 0 share no row, each has at least {needed} entries, and {needed} * {r} is more than \
                 the {n} rows"
            )
        };
        Err(Error::Incompatible(
            Message::from(format!(
                "infeasible: no {n} x {r} X with X'X = I has all entries in [{lower}, {upper}]: {why}; widen "
            ))
            .option("box-lower")
            .text(" or ")
            .option("box-upper"),
        ))
    }

    /// Refuses an X with entries outside, called `what`.
    ///
    /// # Errors
    /// [`Error::Incompatible`] with the first of them.
    #[doc(hidden)]
    pub fn check_point(&self, x: &RowMat, what: &str) -> Result<()> {
        let Some(at) = x.data().iter().position(|v| self.entry(*v) != 0.0) else { return Ok(()) };
        let ([lower, upper], r) = (self.bounds, x.ncols());
        let (row, column, value) = (at / r + 1, at % r + 1, x.data()[at]);
        Err(Error::Incompatible(
            format!("{what} has {value} in row {row}, column {column}, outside the box [{lower}, {upper}]")
                .into(),
        ))
    }
}

impl Nonsmooth for BoxBounds {
    #[inline(always)]
    fn entry(&self, x: f64) -> f64 {
        let [lower, upper] = self.bounds;
        if x >= lower - SLACK && x <= upper + SLACK { 0.0 } else { f64::INFINITY }
    }

    fn affine(&self, x: f64) -> Option<(f64, f64)> {
        (self.entry(x) == 0.0).then_some((0.0, 0.0))
    }

    fn weak_convexity(&self) -> Option<f64> {
        Some(0.0)
    }

    fn prox(&self, v: f64, _mu: f64) -> f64 {
        v.clamp(self.bounds[0], self.bounds[1])
    }

    fn subdifferential(&self, x: f64) -> (f64, f64) {
        // the normal cone of [lower, upper]
        let [lower, upper] = self.bounds;
        let below = if x <= lower { f64::NEG_INFINITY } else { 0.0 };
        (below, if x >= upper { f64::INFINITY } else { 0.0 })
    }

    fn kinks(&self) -> &[f64] {
        &self.bounds
    }

    fn requires_nonneg(&self) -> bool {
        self.bounds[0] >= 0.0
    }

    fn is_even(&self) -> bool {
        false
    }
}

impl PairPenalty for BoxBounds {
    #[inline(always)]
    fn search_in<S: Simd>(&self, _simd: S, m: &PairModel<'_>, scratch: &mut Scratch) -> Option<PairMove> {
        search_box(self.bounds, m, scratch)
    }
}
