//! Greedy working sets (OBCD paper, Appendix D, Algorithm 2).
//!
//! * WSS-SV: S = X Gᵀ − G Xᵀ, the violation of stationarity (equation (30));
//! * WSS-OR: Sᵢⱼ = min over V ∈ O(2) of ⟨V − I, T_BB⟩, T = (G − L_f X)Xᵀ − αI, the reduction of a
//!   linear model: min(−c₁ − √(c₁² + c₂²), −c₁ − √(c₃² + c₄²)) (equation (31)).

use std::cmp::Ordering;

use rand_pcg::Pcg64;

use super::oracle::PairOracle;
use orthopt_core::pair::working_set::{Candidates, Rows, WorkingSet};
use orthopt_linalg::kernels::inner;

/// Best pairs kept from one scoring of all pairs; they are tried in order until one moves.
const KEEP: usize = 64;
/// Steps in a row without a move after which a whole pass is due.
const PATIENCE: u32 = 50;

/// The greedy choice.
#[derive(Clone, Debug)]
pub(super) struct Greedy {
    candidates: Candidates,
    queue: Vec<(usize, usize)>, // best pairs not tried yet, best last (all pairs scored)
    fruitless: u32,             // steps since something moved
}

impl Greedy {
    pub fn new(candidates: Candidates) -> Self {
        Self { candidates, queue: Vec::new(), fruitless: 0 }
    }

    pub fn candidates(&self) -> Candidates {
        self.candidates
    }

    /// X has changed: scores are stale.
    pub fn forget(&mut self) {
        self.queue.clear();
        self.fruitless = 0;
    }

    /// True if the best pairs keep failing, so that a whole pass is due.
    #[inline]
    pub fn is_exhausted(&self) -> bool {
        self.fruitless >= PATIENCE
    }

    /// The working set of k rows with the largest scores.
    pub fn choose<O: PairOracle>(&mut self, k: usize, oracle: &mut O, rng: &mut Pcg64) -> Option<Rows> {
        self.fruitless += 1;
        if let Some((i, j)) = self.queue.pop() {
            return Some(Rows::Pair(i, j));
        }
        let pairs: Vec<_> = match self.candidates {
            Candidates::Sample(count) => (0..count).map_while(|_| oracle.rows().random_pair(rng)).collect(),
            Candidates::All => oracle.rows().all_pairs().collect(),
        };
        let scores = oracle.score(&pairs);
        let mut scored: Vec<_> = scores.into_iter().zip(pairs).collect();
        if k > 2 {
            best_last(&mut scored, usize::MAX);
            return Some(Rows::Blocks(vec![non_overlapping(&scored, k)]));
        }
        if self.candidates == Candidates::All {
            best_last(&mut scored, KEEP);
            self.queue = scored.iter().map(|s| s.1).collect();
            return self.queue.pop().map(|(i, j)| Rows::Pair(i, j));
        }
        scored.into_iter().max_by(by_score).map(|(_, (i, j))| Rows::Pair(i, j))
    }
}

/// A pair with its score.
type Scored = (f64, (usize, usize));

fn by_score(a: &Scored, b: &Scored) -> Ordering {
    a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))
}

/// So many of the best, the best last; once for all kinds of pairs.
fn best_last(scored: &mut Vec<Scored>, most: usize) {
    if scored.len() > most {
        let cut = scored.len() - most;
        scored.select_nth_unstable_by(cut, by_score);
        scored.drain(..cut);
    }
    scored.sort_unstable_by(by_score);
}

/// The rows of the best pairs until k distinct ones are found; `scored` has the best last.
fn non_overlapping(scored: &[Scored], k: usize) -> Vec<usize> {
    let mut rows = Vec::with_capacity(k);
    for &(_, (i, j)) in scored.iter().rev() {
        if rows.len() + 2 > k {
            break;
        }
        if !rows.contains(&i) && !rows.contains(&j) {
            rows.extend([i, j]);
        }
    }
    rows
}

/// GᵀX and XᵀX of two rows of G and X, as [`stationarity_score`] takes them.
pub(crate) fn row_products([gi, gj, xi, xj]: [&[f64]; 4]) -> [f64; 7] {
    let (cross, own) = ([inner(gi, xi), inner(gi, xj), inner(gj, xi), inner(gj, xj)], inner(xi, xj));
    [cross[0], cross[1], cross[2], cross[3], inner(xi, xi), own, inner(xj, xj)]
}

/// |Sᵢⱼ| of a rule for XᵀX = I with α and L_f, from g₁·z₁, g₁·z₂, g₂·z₁, g₂·z₂, z₁·z₁, z₁·z₂ and z₂·z₂.
#[inline(always)]
pub(crate) fn stationarity_score(
    rule: WorkingSet,
    alpha: f64,
    l: f64,
    [g11, g12, g21, g22, w11, w12, w22]: [f64; 7],
) -> f64 {
    if rule == WorkingSet::GreedySv {
        return (g12 - g21).abs();
    }
    let (t11, t22) = (g11 - l * w11 - alpha, g22 - l * w22 - alpha);
    let (t12, t21) = (g12 - l * w12, g21 - l * w12);
    let c1 = t11 + t22;
    let rotation = c1 * c1 + (t12 - t21) * (t12 - t21);
    let reflection = (t22 - t11) * (t22 - t11) + (t12 + t21) * (t12 + t21);
    (c1 + rotation.max(reflection).sqrt()).abs()
}
