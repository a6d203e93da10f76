//! Checks of a point X (docs/mathematics.md, section 5): criticality, block-2 stationarity, and decreases
//! by larger blocks of rows.

mod block_search;
mod blocks;
mod criticality;
mod nonlinear;
mod rows;
pub mod shortest_residual;

use rand::SeedableRng;
use rand_pcg::Pcg64;

pub use blocks::{BlockReport, BlockScope, RowBlocks, block_k_stationarity};
pub use criticality::{criticality, criticality_while};
pub use nonlinear::CircleOffers;
pub use rows::block_stationarity;
pub use rows::{RowOffers, entering_rows};

use crate::pair::movable::Movable;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::parallel::map_with;

/// Block-2 stationarity of a point (OBCD paper, Definition 3.5; JOBCD paper, Definition 3.2).
///
/// Only pairs with a nonzero row can change X; `pairs_total` counts those. The point is
/// certified when all of them were checked and none lowers F by more than a stated tolerance. A
/// check that was stopped, or a sample, has `pairs_checked` < `pairs_total`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Certificate {
    /// Pairs whose subproblem was solved globally.
    pub pairs_checked: u64,
    /// Pairs that can change X.
    pub pairs_total: u64,
    /// Largest decrease of F by any checked pair.
    pub max_decrease: f64,
    /// Mean over the checked pairs of dist(I, argmin)².
    pub mean_distance: f64,
}

impl Certificate {
    /// This certificate with the decrease of F multiplied by `unit`, a power of two.
    #[doc(hidden)]
    pub fn times(self, unit: f64) -> Self {
        Self { max_decrease: unit * self.max_decrease, ..self }
    }

    /// True if every pair was checked and none lowers F by more than `tolerance`.
    pub fn holds(&self, tolerance: f64) -> bool {
        self.pairs_checked == self.pairs_total && self.max_decrease <= tolerance
    }
}

/// Which pairs are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All pairs that can move.
    All,
    /// Random pairs (with repetition) by a seed; all pairs if there are fewer.
    Sample {
        /// Number of pairs.
        pairs: u64,
        /// Seed.
        seed: u64,
    },
}

/// Decreases of F by the pairs of rows of a given X, each solved globally by the exact model without a proximal
/// term.
pub trait PairOffers: Sync {
    /// Buffers of one thread.
    type Work;

    /// The buffers.
    fn work(&self) -> Self::Work;

    /// The pairs that can change X.
    fn rows(&self) -> &Movable;

    /// Decreases of F up to this are rounding.
    fn noise(&self) -> f64;

    /// The largest gradient entry and the scale of f, whose squares the subproblems are solved with.
    fn sizes(&self) -> [f64; 2];

    /// Decrease of F by the rows i < j. `pivot` is the row of the two that stays while its partners change.
    fn offer(&self, pair: (usize, usize), pivot: usize, work: &mut Self::Work) -> Offer;
}

/// Decrease of F by a pair of rows.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    /// Decrease of F at the global minimiser V.
    pub decrease: f64, // of F at the global minimiser V
    /// ‖V − I‖².
    pub distance: f64, // ‖V − I‖²
}

/// The largest |gᵢⱼ|; infinite if one is NaN.
pub fn largest(g: &RowMat) -> f64 {
    if g.find_non_finite().is_some() {
        return f64::INFINITY;
    }
    g.data().iter().fold(0.0, |m, v| m.max(v.abs()))
}

/// Number of pairs between two questions whether to continue: some microseconds.
const EVERY: u64 = 16;
/// Pairs of a sample that share a stream of random numbers.
const CHUNK: u64 = 4096;

/// Range of numbers that can be squared without overflow, and without underflow that loses the digits of differences.
const SQUARED: std::ops::RangeInclusive<f64> = 1e-140..=1e140;

/// True if pairs with numbers of these sizes can be solved: their squares neither overflow
/// nor underflow.
fn can_be_squared([largest, scale]: [f64; 2]) -> bool {
    let zero = largest == 0.0 && scale == 0.0;
    zero || (largest <= *SQUARED.end() && SQUARED.contains(&scale))
}

/// Solves the subproblem of every pair that can change X (or of a sample) globally and
/// reports the largest decrease of F by any of them and the mean of dist(I, argmin)². A pair whose decrease is within
/// rounding counts as optimal. No pair is checked where numbers are too large or too small to be squared. When it is
/// cancelled it ends within microseconds with what has been checked so far.
///
/// In parallel; unless stopped, the result does not depend on the number of threads.
pub fn certify<O: PairOffers>(oracle: &O, scope: Scope, cancel: &Cancel) -> Certificate {
    let (rows, total) = (oracle.rows(), oracle.rows().pairs());
    if !can_be_squared(oracle.sizes()) {
        return Certificate { pairs_checked: 0, pairs_total: total, max_decrease: 0.0, mean_distance: 0.0 };
    }
    let tallies: Vec<Tally> = match scope {
        Scope::Sample { pairs, seed } if pairs < total => {
            let chunk = |work: &mut O::Work, c: usize| {
                let c = c as u64;
                // a stream of its own for every chunk
                let mut rng = Pcg64::seed_from_u64(seed.wrapping_add(c.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
                let draws = (0..CHUNK.min(pairs - c * CHUNK)).map_while(|_| rows.random_pair(&mut rng));
                tally(oracle, draws.map(|pair| (pair, pair.0)), work, cancel)
            };
            map_with(pairs.div_ceil(CHUNK) as usize, 1, || oracle.work(), chunk)
        }
        _ => {
            let pivots = rows.sorted();
            let row = |work: &mut O::Work, k: usize| {
                let i = pivots[k];
                let pairs = rows.partners(i).map(|j| ((i.min(j), i.max(j)), i));
                tally(oracle, pairs, work, cancel)
            };
            map_with(pivots.len(), 1, || oracle.work(), row)
        }
    };
    let mut sum = Tally::default();
    for t in tallies {
        sum.checked += t.checked;
        sum.distance += t.distance;
        sum.max_decrease = sum.max_decrease.max(t.max_decrease);
    }
    Certificate {
        pairs_checked: sum.checked,
        pairs_total: total,
        max_decrease: sum.max_decrease,
        mean_distance: if sum.checked > 0 { sum.distance / sum.checked as f64 } else { 0.0 },
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    checked: u64,
    max_decrease: f64,
    distance: f64, // Σ dist(I, argmin)²
}

/// Some pairs with their pivots, until it is time to stop.
fn tally<O: PairOffers>(
    oracle: &O,
    pairs: impl Iterator<Item = ((usize, usize), usize)>,
    work: &mut O::Work,
    cancel: &Cancel,
) -> Tally {
    let mut tally = Tally::default();
    for (pair, pivot) in pairs {
        if tally.checked % EVERY == 0 && cancel.is_over() {
            break;
        }
        let offer = oracle.offer(pair, pivot, work);
        tally.checked += 1;
        tally.max_decrease = tally.max_decrease.max(offer.decrease);
        // a minimiser no lower than I up to rounding (swapped duplicate rows, say) makes I one too
        if offer.decrease > oracle.noise() {
            tally.distance += offer.distance;
        }
    }
    tally
}
