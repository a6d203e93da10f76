//! A direction that adds most to those that are there.

use rand_pcg::Pcg64;

use orthopt_core::smooth::{Entries, Quadratic};
use orthopt_linalg::order::descending_to;

use super::super::pool::drawn;
use super::limits::{NOBODY, Rules};
use super::samples::{Directions, Space};

/// Effort of growing a direction.
#[derive(Debug)]
pub(super) struct Growth {
    /// Columns that no direction covers, to begin with.
    pub seeds: usize,
    /// Power steps.
    pub steps: usize,
}

impl Growth {
    /// As many seeds as are paid for by the work of a direction, where the scores of one cost so much.
    pub fn affordable(scores: usize) -> Self {
        let seeds = WORK / (PRODUCTS * scores.max(1));
        Self { seeds: seeds.clamp(4, 24), steps: 8 }
    }
}

/// Work of a direction: 10 ms.
const WORK: usize = 100_000_000;
/// Scores of directions that a seed takes, most of which are left on the way.
const PRODUCTS: usize = 5;

/// Shares of the price that seeds begin with.
const SHARES: [f64; 3] = [1.0, 0.5, 0.2];
/// Steps after which the worse half of them is left, as long as there are so many.
const ROUND: usize = 2;
const FEW: usize = 3;

/// Power steps on the exact marginal gain Σ[(aᵢᵀz)² − max(2λ, what i has)]₊ from columns that no direction covers; the best of them, to be component `place`.
/// Apart from the others where all are orthonormal. `own` says which components those are.
pub(super) fn added<F: Quadratic>(
    space: &Space<'_, F>,
    rules: &Rules,
    (others, own): (&Directions, &[usize]),
    place: usize,
    growth: &Growth,
    rng: &mut Pcg64,
) -> Directions {
    let n = space.f.nrows();
    let (floor, free) = floors(rules, others, own, n);
    let apart = rules.orthonormal.then_some(others);
    let from = drawn(n, growth.seeds, |i| free[i], rng);
    let mut w: Vec<Entries> = from.iter().map(|i| vec![(*i, 1.0)]).collect();
    let mut shares: Vec<f64> = (0..w.len()).map(|k| SHARES[k % SHARES.len()]).collect();
    let mut grown = space.directions(&w, apart, false);
    for step in 1..=growth.steps {
        if step > ROUND && (step - 1) % ROUND == 0 && w.len() > FEW {
            let worth = gains(rules, &grown, &floor, place);
            let order = descending_to(w.len(), &|k| worth[k]);
            let mut kept = order[..w.len().div_ceil(2)].to_vec();
            kept.sort_unstable();
            let dropped: Vec<usize> = (0..w.len()).filter(|k| !kept.contains(k)).collect();
            grown = grown.without(&dropped);
            shares = kept.iter().map(|k| shares[*k]).collect();
        }
        let risen = (step - 1) as f64 / growth.steps.saturating_sub(3).max(1) as f64;
        let share = |k: usize| (shares[k] + (1.0 - shares[k]) * risen).min(1.0);
        w = (0..grown.len()).map(|k| rules.marginal(grown.y.row(k), &floor, share(k), place).0).collect();
        let mut next = space.directions(&w, apart, false);
        // one that nothing pays for stays
        (0..w.len()).filter(|k| w[*k].is_empty()).for_each(|k| next.copy(k, &grown));
        grown = next;
    }
    let worth = gains(rules, &grown, &floor, place);
    grown.one(descending_to(worth.len(), &|k| worth[k])[0])
}

/// Gain of each direction.
fn gains(rules: &Rules, grown: &Directions, floor: &[f64], place: usize) -> Vec<f64> {
    (0..grown.len()).map(|k| rules.marginal(grown.y.row(k), floor, 1.0, place).1).collect()
}

/// Least gain at which each variable counts, and a mark for the variables that no direction covers (all, if there are
/// none such).
fn floors(rules: &Rules, others: &Directions, own: &[usize], n: usize) -> (Vec<f64>, Vec<bool>) {
    if others.len() == 0 {
        return (vec![2.0 * rules.lambda; n], vec![true; n]);
    }
    let found = rules.assign(&others.y, own, 1.0);
    let entry = rules.entry(&others.y, &found.label);
    let had = |(i, l): (usize, &usize)| match *l {
        NOBODY => entry,
        l => rules.counts(others.y.get(l, i)).powi(2).max(entry),
    };
    let floor = found.label.iter().enumerate().map(had).collect();
    let mut free: Vec<bool> = found.label.iter().map(|l| *l == NOBODY).collect();
    if !free.contains(&true) {
        free.fill(true);
    }
    (floor, free)
}
