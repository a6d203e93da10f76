//! Riemannian gradient descent with Barzilai–Borwein steps and a monotone line search: the inner
//! solver of MADMM, ManIAL, RiAL and RADA-RGD.

use super::splitting::{plus, project};
use crate::prelude::*;
use orthopt_core::constraint::stiefel::tangent;

/// A smooth function on the manifold for the descent: what is known of it at one X.
pub(crate) trait Inner {
    /// Result of [`Inner::at`].
    type Point: Clone + std::fmt::Debug;

    /// Everything about X that the next two need.
    fn at(&self, x: &RowMat) -> Self::Point;

    /// The Euclidean gradient there.
    fn gradient(&self, at: &Self::Point) -> RowMat;

    /// Its change from one point to another, `step` = X⁺ − X, computed from differences.
    fn change(&self, from: &Self::Point, to: &Self::Point, step: &RowMat) -> f64;
}

/// Armijo's constant, the backtracking factor and the most halvings.
const SUFFICIENT: f64 = 1e-4;
const SHRINK: f64 = 0.5;
const MAX_BACKTRACKS: u32 = 40;
/// Bounds of a Barzilai–Borwein step in units of the first step.
const RANGE: (f64, f64) = (1e-3, 1e3);

/// X with the Riemannian gradient there and the next step to try.
#[derive(Clone, Debug)]
pub(crate) struct Descent<P> {
    pub x: RowMat,
    pub at: P,
    pub gradient: RowMat, // Riemannian
    step: f64,
    first: f64, // step that one over the curvature suggests
}

impl<P: Clone + std::fmt::Debug> Descent<P> {
    /// At X, with the first step to try.
    pub fn new<I: Inner<Point = P>>(inner: &I, x: RowMat, first: f64) -> Self {
        let at = inner.at(&x);
        let gradient = tangent(&x, &inner.gradient(&at));
        Self { x, at, gradient, step: first, first }
    }

    /// The step that is tried next.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// Tries another one next, within the bounds of steps.
    pub fn try_next(&mut self, step: f64) {
        self.step = step.clamp(RANGE.0 * self.first, RANGE.1 * self.first);
    }

    /// One step; false if no step lowers the function any more.
    pub fn advance<I: Inner<Point = P>>(&mut self, inner: &I) -> bool {
        self.advance_within(inner, 0.0)
    }

    /// One step that may raise the function by at most `slack`; false if there is no such step.
    pub fn advance_within<I: Inner<Point = P>>(&mut self, inner: &I, slack: f64) -> bool {
        let slope = self.gradient.inner(&self.gradient);
        let mut eta = self.step;
        for _ in 0..=MAX_BACKTRACKS {
            let next = project(&plus(self.x.clone(), -eta, &self.gradient));
            let at = inner.at(&next);
            let step = plus(next.clone(), -1.0, &self.x);
            if inner.change(&self.at, &at, &step) <= slack - SUFFICIENT * eta * slope {
                let gradient = tangent(&next, &inner.gradient(&at));
                let sz = step.inner(&gradient) - step.inner(&self.gradient);
                let bb = step.inner(&step) / sz.abs();
                let suggested = if bb.is_finite() { bb } else { self.first };
                self.try_next(suggested);
                (self.x, self.at, self.gradient) = (next, at, gradient);
                return true;
            }
            eta *= SHRINK;
        }
        false
    }
}
