//! Branching on how many nonzeros the rows of X have, for λ‖X‖₀.
//!
//! A node is a box: row i of X has from lowᵢ to highᵢ nonzeros. Two orthogonal columns whose supports meet
//! share two rows at least, so the root splits into the X with disjoint supports (no row has
//! more than one nonzero), and, for every pair of rows, those where these are the first two rows with more.

use std::sync::Arc;

use super::admm::{Admm, Point};
use super::blocks::{Cover, Subsets, best_blocks};
use super::covariance::Covariance;
use super::leaf::leaf;
use super::penalty::Rows;
use super::rounding::disjoint_supports;
use super::tree::{Branching, Evaluated};
use super::types::Watch;
use crate::linalg::RowMat;

/// Up to so many rows with at most one nonzero each are solved exactly.
const EXACT: usize = 11;
/// Looks at the bound of a node, at most.
const LOOKS: usize = 40;
/// Looks after which a node must have come nearer to the cutoff by this share to go on.
const PATIENCE: usize = 4;
const SHARE: f64 = 0.04;

/// The problem.
#[derive(Debug)]
pub(super) struct CountBranching<'a> {
    pub cov: &'a Covariance,
    pub r: usize,
    pub lambda: f64,       // scaled
    pub disjoint: f64,     // −F of all X with disjoint supports is at most this
    pub meeting: f64,      // −F of all X with supports that meet is at most this
    pub order: Vec<usize>, // rows, those first that are likely to have several nonzeros
}

/// A box of counts.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    low: Vec<u8>,
    high: Vec<u8>,
    split: Split,
    start: Option<Arc<Packed>>, // where the relaxation of the parent ended
}

/// How a box is split next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Split {
    /// Into disjoint supports and the first row with two nonzeros.
    Supports,
    /// By the second row with two nonzeros, behind this place of the order.
    Second(usize),
    /// Row `0` has up to `1` nonzeros, or more.
    Row(usize, u8),
    /// Not yet known.
    Open,
}

/// T, U and the weights over all rows, in single precision: there are many of them.
#[derive(Debug)]
struct Packed {
    lower: Vec<(f32, f32)>,
    weights: Vec<f32>,
    rho: f64,
}

impl CountBranching<'_> {
    /// All X.
    pub fn root(&self) -> Counts {
        let n = self.cov.c.nrows();
        let split = if self.r == 1 { Split::Open } else { Split::Supports };
        let mut root = Counts { low: vec![0; n], high: vec![self.r.min(255) as u8; n], split, start: None };
        if self.r == 1 {
            root.split = self.choose(&root, &vec![0.5; n]).unwrap_or(Split::Open);
        }
        root
    }

    /// The row whose count is farthest from the ends of its interval.
    fn choose(&self, node: &Counts, counts: &[f64]) -> Option<Split> {
        let mut best: Option<(f64, usize, u8)> = None;
        for (i, c) in counts.iter().enumerate() {
            let (low, high) = (node.low[i], node.high[i]);
            if low == high {
                continue;
            }
            let at = (c.floor().max(0.0) as u8).clamp(low, high - 1);
            let score = (c - f64::from(at)).min(f64::from(at) + 1.0 - c) + 1e-3 * c;
            if best.is_none_or(|b| score > b.0) {
                best = Some((score, i, at));
            }
        }
        best.map(|(_, row, at)| Split::Row(row, at))
    }

    fn exact(&self, node: &Counts, rows: &[usize]) -> Option<(f64, Vec<Vec<usize>>)> {
        let block = self.cov.block(rows);
        let subsets = Subsets::new(&block, self.r, Cover::Disjoint, None)?;
        let forced = (0..rows.len()).filter(|k| node.low[rows[*k]] > 0).fold(0u32, |m, k| m | 1 << k);
        let found = best_blocks(&subsets, self.lambda, forced, Cover::Disjoint, None)?;
        let set = |s: &u32| (0..rows.len()).filter(|k| s >> k & 1 == 1).map(|k| rows[k]).collect();
        Some((found.most, found.sets.iter().map(set).collect()))
    }

    /// A box whose counts are all fixed.
    fn last(&self, node: Counts, rows: &[usize], block: &RowMat, most: f64) -> Evaluated<Counts> {
        let counts: Vec<u8> = rows.iter().map(|i| node.low[*i]).collect();
        let (exact, sets) = leaf(block, self.r, self.lambda, &counts).unwrap_or((f64::INFINITY, Vec::new()));
        let set = |s: &u32| (0..rows.len()).filter(|k| s >> k & 1 == 1).map(|k| rows[k]).collect();
        let sets: Vec<Vec<usize>> = sets.iter().map(set).collect();
        Evaluated { node, most: most.min(exact), final_: true, sets: (!sets.is_empty()).then_some(sets) }
    }

    fn start(&self, node: &Counts, rows: &[usize], penalty: &mut Rows) -> Option<Point> {
        let packed = node.start.as_ref()?;
        let at = |i: usize, j: usize| {
            let (a, b) = (rows[i].max(rows[j]), rows[i].min(rows[j]));
            packed.lower[a * (a + 1) / 2 + b]
        };
        let m = rows.len();
        rows.iter().enumerate().for_each(|(k, i)| penalty.weights[k] = f64::from(packed.weights[*i]));
        Some(Point {
            t: RowMat::from_fn(m, m, |i, j| f64::from(at(i, j).0)),
            u: RowMat::from_fn(m, m, |i, j| f64::from(at(i, j).1)),
            rho: packed.rho,
        })
    }

    fn pack(&self, rows: &[usize], admm: &Admm<'_, Rows>) -> Packed {
        let n = self.cov.c.nrows();
        let mut lower = vec![(0.0, 0.0); n * (n + 1) / 2];
        let mut weights = vec![self.lambda.sqrt() as f32; n];
        let Point { t, u, rho } = &admm.point;
        for (p, i) in rows.iter().enumerate() {
            weights[*i] = admm.penalty.weights[p] as f32;
            for (q, j) in rows.iter().enumerate().take(p + 1) {
                lower[i * (i + 1) / 2 + j] = (t.get(p, q) as f32, u.get(p, q) as f32);
            }
        }
        Packed { lower, weights, rho: *rho }
    }
}

impl Branching for CountBranching<'_> {
    type Node = Counts;

    fn children(&self, node: &Counts) -> Vec<Counts> {
        let with = |change: &dyn Fn(&mut Counts)| {
            let mut child = Counts { split: Split::Open, ..node.clone() };
            change(&mut child);
            child
        };
        // rows of the order from `from` up to `place` have one nonzero at most, that at `place` has two
        let second = |from: usize, place: usize, split: Split| {
            with(&|child: &mut Counts| {
                for i in &self.order[from..place] {
                    child.high[*i] = child.high[*i].min(1);
                }
                child.low[self.order[place]] = 2;
                child.split = split;
            })
        };
        let n = self.order.len();
        match node.split {
            Split::Supports => {
                let single = with(&|child: &mut Counts| child.high.iter_mut().for_each(|h| *h = 1));
                let first = (0..n - 1).map(|place| second(0, place, Split::Second(place)));
                std::iter::once(single).chain(first).collect()
            }
            Split::Second(first) => {
                (first + 1..n).map(|place| second(first + 1, place, Split::Open)).collect()
            }
            Split::Row(i, at) => {
                vec![with(&|child| child.high[i] = at), with(&|child| child.low[i] = at + 1)]
            }
            Split::Open => Vec::new(),
        }
    }

    fn evaluate(&self, mut node: Counts, cutoff: f64, watch: &Watch<'_>) -> Evaluated<Counts> {
        let rows: Vec<usize> = (0..node.high.len()).filter(|i| node.high[*i] > 0).collect();
        let done = |node, most, sets| Evaluated { node, most, final_: true, sets };
        if rows.len() < self.r {
            return done(node, f64::NEG_INFINITY, None);
        }
        let meets = node.low.iter().any(|c| *c > 1);
        let single = node.high.iter().all(|c| *c <= 1);
        let cap = if meets {
            self.meeting
        } else if single {
            self.disjoint
        } else {
            f64::INFINITY
        };
        if cap <= cutoff {
            return done(node, cap, None);
        }
        if single
            && rows.len() <= EXACT
            && let Some((most, sets)) = self.exact(&node, &rows)
        {
            return done(node, most, (!sets.is_empty()).then_some(sets));
        }
        let take = |v: &[u8]| rows.iter().map(|i| f64::from(v[*i])).collect();
        let mut penalty = Rows::new(self.lambda, take(&node.low), take(&node.high));
        let start = self.start(&node, &rows, &mut penalty);
        let block = self.cov.block(&rows);
        let mut admm = Admm::new(&block, self.r, f64::NEG_INFINITY, penalty, start);
        let most = lower(&mut admm, cutoff, watch).min(cap);
        if most <= cutoff {
            return done(node, most, None);
        }
        let mut counts = vec![0.0; node.high.len()];
        admm.penalty.counts(&admm.point.t).iter().zip(&rows).for_each(|(c, i)| counts[*i] = *c);
        if node.split == Split::Open {
            match self.choose(&node, &counts) {
                Some(split) => node.split = split,
                None => return self.last(node, &rows, &block, most),
            }
        }
        node.start = Some(Arc::new(self.pack(&rows, &admm)));
        let sets = (!meets)
            .then(|| disjoint_supports(&block, &admm.point.t, self.r, self.lambda))
            .flatten()
            .map(|sets| sets.iter().map(|s| s.iter().map(|k| rows[*k]).collect()).collect());
        Evaluated { node, most, final_: false, sets }
    }
}

/// Iterates until the bound is at the cutoff or comes no nearer to it; the proved bound.
pub(super) fn lower<P: super::penalty::Penalty>(
    admm: &mut Admm<'_, P>,
    cutoff: f64,
    watch: &Watch<'_>,
) -> f64 {
    let mut history = Vec::new();
    for look in 0..LOOKS {
        let now = admm.best().estimate;
        // a little below, as the proved bound is a little above
        if now + 1e-12 * now.abs() <= cutoff {
            break;
        }
        history.push(now);
        let stalled = look >= 2 * PATIENCE && history[look - PATIENCE] - now <= SHARE * (now - cutoff);
        if stalled || watch.is_over() || !admm.advance() {
            break;
        }
    }
    admm.certified()
}
