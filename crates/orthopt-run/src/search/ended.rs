//! End points of runs, by their supports.

use std::sync::Arc;

use orthopt_core::objective::lowers;
use orthopt_linalg::RowMat;

/// Decreases of F below this share of its size are rounding.
const ROUNDING: f64 = 1e-9;

/// The supports at which runs have ended, each with its lowest F. A run that goes by supports and comes to one of them with no lower F
/// would repeat what the earlier one did from there, so it ends.
#[derive(Clone, Debug, Default)]
pub(super) struct Ended(Arc<Vec<(u64, f64)>>);

impl Ended {
    /// A run has ended at X.
    pub fn add(&mut self, x: &RowMat, objective: f64) {
        let (key, all) = (key(x), Arc::make_mut(&mut self.0));
        match all.iter_mut().find(|(known, _)| *known == key) {
            Some((_, lowest)) => *lowest = lowest.min(objective),
            None => all.push((key, objective)),
        }
    }

    /// True if a run has ended on the supports of X with an F that is not higher.
    pub fn has(&self, x: &RowMat, objective: f64, scale: f64) -> bool {
        let key = key(x);
        let known = self.0.iter().find(|(known, _)| *known == key);
        known.is_some_and(|(_, lowest)| !lowers(objective, *lowest, scale, ROUNDING))
    }
}

/// Ends of tasks known at a launch.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// The lowest F.
    pub lowest: f64,
    /// End points of runs.
    pub ended: Ended,
}

/// A number of the supports (FNV-1a), the same for any order of the columns. Two sets of supports may share one in a search of 10⁹ of
/// them; F is compared as well.
fn key(x: &RowMat) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let join = |hash: u64, number: u64| (hash ^ number).wrapping_mul(PRIME);
    let mut columns = vec![BASIS; x.ncols()];
    for i in 0..x.nrows() {
        for (column, _) in columns.iter_mut().zip(x.row(i)).filter(|(_, v)| **v != 0.0) {
            *column = join(*column, i as u64 + 1);
        }
    }
    columns.sort_unstable();
    columns.into_iter().fold(BASIS, |hash, column| join(hash ^ (hash >> 29), column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn supports_are_known_in_any_order_and_a_lower_f_is_not() {
        let x = RowMat::from_fn(4, 2, |i, k| [[0.6, 0.0], [0.8, 0.0], [0.0, 1.0], [0.0, 0.0]][i][k]);
        let turned = RowMat::from_fn(4, 2, |i, k| -x.get(i, 1 - k));
        let moved = RowMat::from_fn(4, 2, |i, k| x.get((i + 1) % 4, k));
        let fewer = RowMat::from_fn(4, 2, |i, k| if i == 0 { 0.0 } else { x.get(i, k) });
        let mut ended = Ended::default();
        assert!(!ended.has(&x, -1.0, 0.0));
        ended.add(&x, -1.0);
        assert!(ended.has(&x, -1.0, 0.0) && ended.has(&turned, -0.5, 0.0));
        assert!(!ended.has(&x, -1.001, 0.0), "a lower F on the same supports is not known");
        assert!(!ended.has(&moved, -0.5, 0.0) && !ended.has(&fewer, -0.5, 0.0));
        ended.add(&turned, -1.1);
        assert!(ended.has(&x, -1.1, 0.0) && !ended.has(&x, -1.2, 0.0));
    }
}
