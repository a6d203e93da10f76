//! Pairs of rows of the nonlinear eigenvalue problem.

use super::{Offer, PairOffers};
use crate::objective::size;
use crate::pair::movable::Movable;
use crate::pair::nonlinear::{CircleSearch, Work, solve_pair};
use crate::smooth::nonlinear_eig::Image;
use crate::smooth::{NonlinearEig, Smooth};
use orthopt_linalg::RowMat;

/// Decreases of F by pairs of rows of X. Cost of a gradient, then O(r) and some microseconds per pair.
pub struct CircleOffers<'a> {
    f: &'a NonlinearEig,
    x: &'a RowMat,
    image: Image,
    rows: Movable,
    noise: f64,
}

impl<'a> CircleOffers<'a> {
    /// Those of `f` at X.
    pub fn new(f: &'a NonlinearEig, x: &'a RowMat) -> Self {
        let image = f.image(x);
        let noise = 1e-12 * size(f.scale(x), f.value_at(&image, x));
        Self { f, x, image, rows: Movable::new(x), noise }
    }
}

impl PairOffers for CircleOffers<'_> {
    type Work = Work;

    fn work(&self) -> Work {
        Work::new(self.x.ncols())
    }

    fn rows(&self) -> &Movable {
        &self.rows
    }

    fn noise(&self) -> f64 {
        self.noise
    }

    fn sizes(&self) -> [f64; 2] {
        let scale = self.f.scale(self.x);
        [scale, scale]
    }

    fn offer(&self, pair: (usize, usize), _pivot: usize, work: &mut Work) -> Offer {
        let (decrease, gain) = solve_pair(self.f, self.x, &self.image, pair, 0.0, CircleSearch::Exact, work);
        Offer { decrease, distance: gain.map_or(0.0, |g| 2.0 * g.step.half_dist_sq()) }
    }
}
