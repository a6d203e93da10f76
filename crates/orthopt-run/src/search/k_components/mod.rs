//! k-components: sparse PCA with disjoint supports, as clustering of the variables in sample space.
//!
//! For given disjoint supports S₁, ..., S_r the best xₖ on Sₖ is A_Sᵀz normalised for a unit vector z of samples, so
//!
//! ```text
//! −min F over disjoint supports  =  max over unit z₁..z_r of ½ Σᵢ [ maxₖ (aᵢᵀzₖ)² − 2λ ]₊
//! ```
//!
//! or, with limits of nonzeros, the same over the variables that each component may have; with (aᵢᵀz)₊ where X ≥ 0. Over
//! *orthonormal* z it is the optimal projected variance of X, a little above its adjusted variance.
//!
//! ```text
//! alternate  every variable goes to the direction that explains most of it; one power step for each direction on its
//!            variables (a polar factor of all of them where they are orthonormal): never lowers the value
//! grow       a direction that adds most to those that are there, from columns that no direction covers
//! move       some directions dropped, as many grown, alternate; kept if better
//! ```
//!
//! An iteration costs a gradient. It sees no shared variables: other methods continue from its X.

mod alternation;
mod growth;
mod limits;
mod loadings;
mod samples;
#[cfg(test)]
mod tests;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use orthopt_core::smooth::{Measure, Quadratic};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::work::so_far;

use alternation::{Patience, State, alternate};
use growth::{Growth, added};
use limits::Rules;
pub use limits::{Limits, Request};
use loadings::entries_of;
use samples::{Directions, Space};

/// Relative gain above which a point is better than another.
const BETTER: f64 = 1e-9;
/// Orthonormal directions whose value is below the best by less than this share are examined.
const NEAR: f64 = 0.02;
/// Iterations of a start, and of a move.
const PATIENT: usize = 25;
const BRISK: usize = 20;
/// Iterations at most that a new best point then continues for.
const SETTLED: usize = 60;
/// Shares of the price that an alternation after a move begins with: all of it, or less, so that more variables enter at first.
const SHARES: [f64; 3] = [1.0, 0.6, 0.3];

/// Result of the clustering.
#[derive(Clone, Debug)]
pub struct Found {
    /// X, feasible, with disjoint supports.
    pub x: RowMat,
    /// F(X).
    pub value: f64,
    /// Moves that were made, and those that gained.
    pub moves: usize,
    /// Those that gained.
    pub gains: usize,
}

/// Starts, then moves until `request.patience` of them in a row have gained nothing, the work is done or cancelled.
/// `None` where there are fewer variables than components, or numbers that are not finite.
pub fn k_components<F: Quadratic>(
    f: &F,
    r: usize,
    request: &Request,
    work_limit: u64,
    seed: u64,
    cancel: &Cancel,
) -> Option<Found> {
    let mut search = KComponents::new(f, r, request, seed)?;
    let begun = so_far();
    let over = || cancel.is_over() || so_far() - begun >= work_limit;
    search.start(&over);
    while !search.is_idle() && !over() {
        search.advance(&over);
    }
    search.found()
}

/// The state of the search: directions and the variables that they serve.
#[derive(Debug)]
pub struct KComponents<'a, F: Quadratic> {
    space: Space<'a, F>,
    rules: Rules,
    rng: Pcg64,
    best: Option<State>,
    /// The X of least F among those whose value is nearly the best. If directions are orthonormal, their value exceeds
    /// −F by an amount that varies.
    truest: Option<(RowMat, f64)>,
    idle: usize,
    moves: usize,
    gains: usize,
}

impl<'a, F: Quadratic> KComponents<'a, F> {
    /// Nothing found yet. `None` where there are fewer variables than components.
    pub fn new(f: &'a F, r: usize, request: &Request, seed: u64) -> Option<Self> {
        let (mut rules, space) = (Rules::new(request, f.nrows(), r)?, Space::new(f));
        rules.lambda /= space.unit;
        let rng = Pcg64::seed_from_u64(seed ^ 0x4b43_4f4d_5053);
        Some(Self { space, rules, rng, best: None, truest: None, idle: 0, moves: 0, gains: 0 })
    }

    /// From directions grown one after the other.
    pub fn start(&mut self, over: &dyn Fn() -> bool) {
        let r = self.rules.rank;
        let grown = self.grown(Directions::empty(), (0..r).collect(), over);
        let grown = self.rules.matched(grown);
        for share in [1.0, 0.5] {
            self.offer(grown.clone(), share, PATIENT, over);
        }
    }

    /// Alternates from the directions of any X (n × r, its columns need not be orthogonal); true where this is the best so far.
    pub fn offer_x(&mut self, x: &RowMat, over: &dyn Fn() -> bool) -> bool {
        self.offer_from(x, 1.0, over)
    }

    /// Continues from the directions of any X, whatever was found before.
    pub fn go_on_from(&mut self, x: &RowMat, over: &dyn Fn() -> bool) {
        (self.best, self.truest, self.idle) = (None, None, 0);
        self.offer_x(x, over);
    }

    fn offer_from(&mut self, x: &RowMat, share: f64, over: &dyn Fn() -> bool) -> bool {
        let directions = self.space.directions(&entries_of(x), None, self.rules.orthonormal);
        let directions = self.rules.matched(directions);
        self.offer(directions, share, PATIENT, over)
    }

    /// Some directions dropped, as many grown, alternation; true where that gained.
    pub fn advance(&mut self, over: &dyn Fn() -> bool) -> bool {
        let Some(best) = &self.best else { return false };
        let dropped = drawn(best, &mut self.rng);
        let left = best.directions.without(&dropped);
        let directions = self.grown(left, dropped, over);
        let share = SHARES[self.rng.random_range(0..SHARES.len())];
        let gained = self.offer(directions, share, BRISK, over);
        self.moves += 1;
        self.gains += usize::from(gained);
        self.idle = if gained { 0 } else { self.idle + 1 };
        gained
    }

    /// True if so many moves in a row have gained nothing as there should be; sure where nothing was found.
    pub fn is_idle(&self) -> bool {
        self.best.is_none() || self.idle >= self.rules.patience
    }

    /// ½ Σ [...]₊ of the best directions, −F up to what their loadings add; without any, nothing.
    pub fn value(&self) -> Option<f64> {
        self.best.as_ref().map(|best| best.value * self.space.unit)
    }

    /// The best X.
    pub fn found(&self) -> Option<Found> {
        let (x, value) = match &self.truest {
            Some(truest) => truest.clone(),
            None => self.at(self.best.as_ref()?)?,
        };
        Some(Found { x, value, moves: self.moves, gains: self.gains })
    }

    /// The X of a state, and F; also where time is over, as products are then left without their numbers.
    fn at(&self, state: &State) -> Option<(RowMat, f64)> {
        Cancel::never().during(|| {
            let x = loadings::loadings(&self.space, &self.rules, state)?;
            let value = loadings::objective(&self.space, &self.rules, &x);
            value.is_finite().then_some((x, value))
        })
    }

    /// `left` and a grown direction for each of the `places`, which keep their order.
    fn grown(&mut self, left: Directions, places: Vec<usize>, over: &dyn Fn() -> bool) -> Directions {
        let growth = Growth::affordable(self.space.work());
        let r = self.rules.rank;
        let mut own: Vec<usize> = (0..r).filter(|k| !places.contains(k)).collect();
        let mut directions = left;
        for place in places {
            if over() && directions.len() > 0 {
                break;
            }
            let new = added(&self.space, &self.rules, (&directions, &own), place, &growth, &mut self.rng);
            directions.push(&new);
            own.push(place);
        }
        directions.arranged(&own, r)
    }

    /// Alternates; what is better than the best so far continues until it stands still, and is the best.
    fn offer(&mut self, directions: Directions, share: f64, most: usize, over: &dyn Fn() -> bool) -> bool {
        let hope =
            self.best.as_ref().map_or(f64::NEG_INFINITY, |best| best.value + BETTER * best.value.abs());
        let state = alternate(&self.space, &self.rules, directions, share, Patience { most, hope }, over);
        let is_better = state.value > hope;
        let settled = if is_better {
            let patience = Patience { most: SETTLED, hope: f64::NEG_INFINITY };
            let on = alternate(&self.space, &self.rules, state.directions.clone(), 1.0, patience, over);
            // an assignment within limits that does not know the last one may be worse
            if on.value > state.value { on } else { state }
        } else {
            state
        };
        if self.rules.orthonormal && settled.value >= hope - NEAR * hope.abs() {
            let found = self.at(&settled);
            if found.as_ref().is_some_and(|own| self.truest.as_ref().is_none_or(|best| own.1 < best.1)) {
                self.truest = found;
            }
        }
        if is_better {
            self.best = Some(settled);
        }
        is_better
    }
}

/// One to a third of the components, those without a variable among them.
fn drawn(best: &State, rng: &mut Pcg64) -> Vec<usize> {
    let r = best.directions.len();
    let mut order: Vec<usize> = (0..r).collect();
    order.shuffle(rng);
    let sizes = best.sizes(r);
    let empty = sizes.iter().filter(|s| **s == 0).count();
    order.sort_by_key(|k| sizes[*k] > 0);
    let most = if r == 1 { 1 } else { (r / 3).max(2) };
    order.truncate(rng.random_range(1..=most).max(empty.min(most)));
    order.sort_unstable();
    order
}

/// True if a measure counts what components share once, so that directions are orthonormal.
fn is_projected(measure: Measure) -> bool {
    measure != Measure::Variance
}
