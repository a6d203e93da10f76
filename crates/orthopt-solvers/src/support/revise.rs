//! Revision of the pattern S, entry by entry.
//!
//! At a stationary point of the manifold of S with multipliers Λ the residual is R = ∇f − XΛ.
//! An entry xᵢₖ alone, the others following to keep XᵀX = I, changes F by about
//!
//! ```text
//! Rᵢₖ(x − xᵢₖ) + ½cᵢₖ(x − xᵢₖ)² + κ(h(x) − h(xᵢₖ))
//! ```
//!
//! where cᵢₖ is the curvature of the Lagrangian, Mᵢᵢ − Λₖₖ. For a column of its own this is the
//! 2 × 2 eigenvalue problem of turning xₖ towards eᵢ, whose exact gain has the same form with
//! c = δ + √(δ² + R²), 2δ = Mᵢᵢ − Λₖₖ, which stays positive where the Lagrangian is not convex.
//! The minimiser over x is a prox of h; entries that it takes from zero or to zero are the moves,
//! and a batch of the best of them is made at once. It counts only if F itself goes down.

use super::descent::{LOOSE, Objective, Pace, Point};
use super::pattern::Pattern;
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::objective::lowers;
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::order::best_first;
use orthopt_linalg::products::product;

/// A change of one entry from or to zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryMove {
    pub gain: f64, // decrease of F that the model promises
    pub row: usize,
    pub col: usize,
    pub value: f64,
}

/// Entries larger than this are neither made nor dropped at once: beyond 45° the model is another.
const LARGEST: f64 = 0.7;
/// ε of [`Pattern::multipliers`]. Columns that overlap in a few small entries have multipliers that
/// are large and mean nothing for the entries about to come, which make them overlap properly.
const RIDGE: f64 = 0.2;
/// A batch must lower F by this much relative to its size.
const LEAST: f64 = 1e-9;

/// Factors of the size of a batch after one that was kept, and after one that was not.
const GROW: f64 = 4.0;
const SHRINK: f64 = 0.3;
/// Gradient steps after a batch.
const STEPS: usize = 3;

/// The batch to come.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    share: f64,            // part of the promising moves that is made at once
    moves: Vec<EntryMove>, // those of the point at hand, the best first, where they are known
}

impl Default for Batch {
    fn default() -> Self {
        Self { share: 1.0, moves: Vec::new() }
    }
}

/// Result of a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Revision {
    /// F went down.
    Improved,
    /// A smaller batch may do.
    Refused,
    /// No entry promises anything, or the best alone did not keep its promise.
    Exhausted,
}

impl<F: Quadratic, H: Nonsmooth> Objective<'_, F, H> {
    /// One batch of entry moves from `point`, kept if F_κ is lower after a few gradient steps.
    pub fn revise(
        &self,
        point: &mut Point<F::Image>,
        diagonal: &[f64],
        batch: &mut Batch,
        pace: &mut Pace,
    ) -> Revision {
        if batch.moves.is_empty() {
            batch.moves = self.moves(point, diagonal, pace);
        }
        let promising = batch.moves.len();
        if promising == 0 {
            return Revision::Exhausted;
        }
        let take = ((promising as f64 * batch.share).ceil() as usize).clamp(1, promising);
        let mut z = point.x.clone();
        batch.moves[..take].iter().for_each(|m| z.set(m.row, m.col, m.value));
        if let Some(next) = self.settled(z, pace)
            && lowers(self.of(&next), self.of(point), self.f.scale(&point.x), LEAST)
        {
            *point = next;
            *batch = Batch { share: (batch.share * GROW).min(1.0), moves: Vec::new() };
            return Revision::Improved;
        }
        batch.share = take as f64 / promising as f64 * SHRINK;
        if take > 1 {
            return Revision::Refused;
        }
        batch.moves.clear();
        Revision::Exhausted
    }

    /// Z back on the manifold of its own pattern, and a few gradient steps there.
    fn settled(&self, mut z: RowMat, pace: &mut Pace) -> Option<Point<F::Image>> {
        let pattern = Pattern::of(&z);
        let weights = pattern.diagonal(&z);
        if pattern.restore(&mut z, &weights, LOOSE) > LOOSE {
            return None;
        }
        let mut point = self.at(z);
        self.descend(&mut point, STEPS, 1e-9, pace);
        Some(point)
    }

    /// All moves that promise a gain, the best first.
    pub(super) fn moves(&self, point: &Point<F::Image>, diagonal: &[f64], pace: &mut Pace) -> Vec<EntryMove> {
        let x = &point.x;
        let (n, r) = (x.nrows(), x.ncols());
        let mut residual = self.gradient(point, &(0..n).collect::<Vec<_>>());
        let pattern = Pattern::of(x);
        let mut d = residual.clone();
        self.add_slope(x, &mut d);
        pattern.restrict(&mut d);
        pattern.multipliers(x, &pattern.diagonal(x), (1e-6, RIDGE), &d, &mut pace.lambda);
        product(&mut residual, true, -1.0, x.as_mat(), pace.lambda.as_mat());
        let mut moves = Vec::new();
        for i in 0..n {
            for k in 0..r {
                let (old, slope) = (x.get(i, k), residual.get(i, k));
                let twice = diagonal[i] - pace.lambda.get(k, k);
                let curvature = 0.5 * (twice + (twice * twice + 4.0 * slope * slope).sqrt());
                if let Some((gain, value)) = self.entry_move(old, slope, curvature) {
                    moves.push(EntryMove { gain, row: i, col: k, value });
                }
            }
        }
        best_first(moves, |one| one.gain)
    }

    /// The minimiser of the model of one entry where it is a move with a gain.
    fn entry_move(&self, old: f64, slope: f64, curvature: f64) -> Option<(f64, f64)> {
        if curvature <= 0.0 || old.abs() > LARGEST {
            return None;
        }
        let value = self.h.prox(old - slope / curvature, self.kappa / curvature).clamp(-LARGEST, LARGEST);
        if (value == 0.0) == (old == 0.0) {
            return None;
        }
        let change = value - old;
        let smooth = slope * change + 0.5 * curvature * change * change;
        let gain = -(smooth + self.kappa * (self.h.entry(value) - self.h.entry(old)));
        (gain > 0.0).then_some((gain, value))
    }
}
