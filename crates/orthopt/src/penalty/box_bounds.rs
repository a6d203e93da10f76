use crate::error::Result;
use crate::linalg::plane::PairMove;
use crate::linalg::simd::Simd;
use crate::nonsmooth::Nonsmooth;
use crate::options::{Constants, constants};
use crate::pair::PairModel;
use crate::pair::PairPenalty;
use crate::pair::box_search::search_box;
use crate::pair::fold::Scratch;

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

/// h = indicator of lower ≤ x ≤ upper, lower ≤ 0 < upper. X⁰ must be inside: bounds below
/// 1/√n in absolute value leave no feasible X at all, and `partition` is the start with the
/// smallest entries.
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
    pub fn shaped(shape: BoxShape) -> Result<Self> {
        let BoxShape { lower, upper } = shape.checked("box")?;
        Ok(Self { bounds: [lower, upper] })
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
