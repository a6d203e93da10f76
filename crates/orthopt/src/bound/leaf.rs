//! Boxes of counts that cannot be split any more: every way to give the nonzeros of a row to columns.

use super::blocks::{Cover, Subsets, best_blocks};
use crate::linalg::RowMat;

/// The most rows with a nonzero.
const ROWS: usize = 14;
/// Assignments looked at, at most.
const MOST: u64 = 2_000_000;

/// A bound of −F over the X whose row i has exactly cᵢ ≥ 1 nonzeros (rows of `c` only), and the supports
/// that attain it where they are disjoint. `None` where there are too many.
///
/// Column j on the rows S_j gives at most ½λ₁(C_{S_j S_j}); orthogonal columns share no row or two at least.
pub(super) fn leaf(c: &RowMat, r: usize, lambda: f64, counts: &[u8]) -> Option<(f64, Vec<u32>)> {
    let m = counts.len();
    if m > ROWS {
        return None;
    }
    let subsets = Subsets::new(c, r, Cover::Disjoint, None)?;
    if counts.iter().all(|k| *k == 1) {
        let found = best_blocks(&subsets, lambda, (1 << m) - 1, Cover::Disjoint, None)?;
        return Some((found.most, found.sets));
    }
    let mut search =
        Search { subsets: &subsets, counts, sets: vec![0; r], most: f64::NEG_INFINITY, left: MOST };
    search.give(0);
    let nonzeros: u32 = counts.iter().map(|k| u32::from(*k)).sum();
    let most = search.most - lambda * f64::from(nonzeros);
    let rounding = 1e-14 * (search.most.abs() + lambda * f64::from(nonzeros));
    (search.left > 0).then_some((most + rounding, Vec::new()))
}

struct Search<'a> {
    subsets: &'a Subsets,
    counts: &'a [u8],
    sets: Vec<u32>, // S_j
    most: f64,
    left: u64,
}

impl Search<'_> {
    /// Gives row `i` to every choice of cᵢ columns, then the rows after it.
    fn give(&mut self, i: usize) {
        if self.left == 0 {
            return;
        }
        if i == self.counts.len() {
            self.left -= 1;
            self.finish();
            return;
        }
        for choice in 1u32..1 << self.sets.len() {
            if choice.count_ones() == u32::from(self.counts[i]) && self.is_first_of_its_kind(choice) {
                self.toggle(choice, i);
                self.give(i + 1);
                self.toggle(choice, i);
            }
        }
    }

    fn toggle(&mut self, choice: u32, i: usize) {
        for (j, set) in self.sets.iter_mut().enumerate() {
            *set ^= (choice >> j & 1) << i;
        }
    }

    /// Columns with the same rows so far are alike: of two neighbours the first goes first.
    fn is_first_of_its_kind(&self, choice: u32) -> bool {
        (1..self.sets.len())
            .all(|j| self.sets[j] != self.sets[j - 1] || choice >> (j - 1) & 1 >= choice >> j & 1)
    }

    fn finish(&mut self) {
        for (j, a) in self.sets.iter().enumerate() {
            if *a == 0 || self.sets[..j].iter().any(|b| (a & b).count_ones() == 1) {
                return;
            }
        }
        let sum: f64 = self.sets.iter().map(|s| self.subsets.value(*s, 1, 0.0)).sum();
        self.most = self.most.max(sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without symmetry: all choices of every row.
    #[test]
    fn agrees_with_all_assignments() {
        let a = RowMat::from_fn(7, 5, |i, j| ((i * i + 3 * j * i + 7 * j) as f64 * 0.61).sin());
        let c = crate::linalg::products::gram(&a);
        let subsets = Subsets::new(&c, 3, Cover::Disjoint, None).unwrap();
        for counts in [[2u8, 1, 2, 1, 1], [2, 2, 2, 1, 3], [1, 1, 1, 1, 1]] {
            let mut best = f64::NEG_INFINITY;
            for code in 0..8u32.pow(5) {
                let choice: Vec<u32> = (0..5).map(|i| code / 8u32.pow(i) % 8).collect();
                let sets: Vec<u32> =
                    (0..3).map(|j| (0..5).fold(0, |s, i| s | (choice[i] >> j & 1) << i)).collect();
                let fits = (0..5).all(|i| choice[i].count_ones() == u32::from(counts[i]));
                let met = (0..3).any(|j| (0..j).any(|l| (sets[j] & sets[l]).count_ones() == 1));
                if fits && !met && sets.iter().all(|s| *s != 0) {
                    best = best.max(sets.iter().map(|s| subsets.value(*s, 1, 0.0)).sum::<f64>());
                }
            }
            let nonzeros: f64 = counts.iter().map(|k| f64::from(*k)).sum();
            let found = leaf(&c, 3, 0.2, &counts).unwrap().0;
            let known = best - 0.2 * nonzeros;
            assert!((found - known).abs() <= 1e-10 || found == known, "{counts:?}: {found} {known}");
        }
    }
}
