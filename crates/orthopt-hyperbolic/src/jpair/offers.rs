//! Pairs of rows for XᵀJX = J and a quadratic f, whose subproblems are solved exactly and globally (JOBCD
//! paper, Definition 3.2).

use super::{Ending, JPair};
use orthopt_core::certify::{Offer, PairOffers, largest};
use orthopt_core::constraint::j_orthogonal::Signature;
use orthopt_core::objective::size;
use orthopt_core::pair::movable::Movable;
use orthopt_core::smooth::{JQuadratic, Smooth};
use orthopt_linalg::RowMat;
use orthopt_linalg::products::product;

/// Length of the boost if a pair has no minimum, so that the decrease is finite.
const FOLLOW: f64 = 1.0;

/// Decreases of ½tr(MS), S = XNXᵀ, by pairs of rows with θ = 0. Cost 6n³ flops, then O(1) per pair.
pub struct JOffers<'a> {
    f: &'a JQuadratic,
    j: &'a Signature,
    s: RowMat, // S
    w: RowMat, // MS
    rows: Movable,
    noise: f64,
    scale: f64,
}

impl<'a> JOffers<'a> {
    /// Those of f at X.
    pub fn new(f: &'a JQuadratic, j: &'a Signature, x: &RowMat) -> Self {
        let n = j.len();
        let (mut s, mut w) = (RowMat::zeros(n, n), RowMat::zeros(n, n));
        product(&mut s, false, 1.0, f.times_n(x.clone()).as_mat(), x.as_mat().transpose());
        product(&mut w, false, 1.0, f.m().as_mat(), s.as_mat());
        let value = 0.5 * (0..n).map(|i| w.get(i, i)).sum::<f64>();
        let scale = f.scale(x);
        Self { f, j, s, w, rows: Movable::always(n), noise: 1e-12 * size(scale, value), scale }
    }
}

impl PairOffers for JOffers<'_> {
    type Work = ();

    fn work(&self) {}

    fn rows(&self) -> &Movable {
        &self.rows
    }

    fn noise(&self) -> f64 {
        self.noise
    }

    fn sizes(&self) -> [f64; 2] {
        [largest(&self.w), self.scale]
    }

    fn offer(&self, (a, b): (usize, usize), _pivot: usize, _work: &mut ()) -> Offer {
        let w = &self.w;
        let three = |m: &RowMat| [m.get(a, a), m.get(a, b), m.get(b, b)];
        let block = [[w.get(a, a), w.get(a, b)], [w.get(b, a), w.get(b, b)]];
        let pair = JPair::exact(block, three(self.f.m()), three(&self.s), 0.0);
        let solved = pair.solve(self.j.mixed(a, b));
        let unbounded = solved.ending == Ending::Unbounded;
        let found = if unbounded { pair.solve_within(true, FOLLOW) } else { solved };
        Offer { decrease: found.decrease, distance: found.step.map_or(0.0, |v| v.distance_squared()) }
    }
}
