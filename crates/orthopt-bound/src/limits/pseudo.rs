//! Pseudocosts of branch and bound: the cost of a decision about a row, the same for any number of threads.

use std::collections::BTreeMap;

/// A fall of a bound counts as this in a product, at least.
const SMALLEST: f64 = 1e-6;
/// The distance of a share from the decision counts as this, at least.
const NEAR: f64 = 0.05;

/// The decision that made a node.
#[derive(Clone, Debug)]
pub struct Origin {
    id: u64,
    key: (usize, usize), // the part and the row
    inside: bool,
    share: f64, // that the relaxation gave the row
    most: f64,  // the bound of the parent
}

/// Falls of the bound for each unit of share that a decision took or gave.
#[derive(Debug, Default)]
pub struct Pseudocosts {
    next: u64,
    news: Vec<(u64, (usize, usize), bool, f64)>,
    costs: [BTreeMap<(usize, usize), Mean>; 2], // outside, inside
    all: [Mean; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Pseudocosts {
    /// A decision about row i of part p, with a number of its own.
    pub fn origin(&mut self, p: usize, i: usize, inside: bool, share: f64, most: f64) -> Origin {
        self.next += 1;
        Origin { id: self.next, key: (p, i), inside, share, most }
    }

    /// Records the bound after a decision. The calls may come in any order; [`Pseudocosts::absorb`] sorts them.
    pub fn observe(&mut self, origin: &Origin, most: f64, cutoff: f64) {
        let way = if origin.inside { 1.0 - origin.share } else { origin.share };
        let fall = (origin.most - most.max(cutoff)).max(0.0) / cutoff.abs().max(f64::MIN_POSITIVE);
        if fall.is_finite() {
            self.news.push((origin.id, origin.key, origin.inside, fall / way.max(NEAR)));
        }
    }

    /// Takes in what was observed since, in the order of the decisions.
    pub fn absorb(&mut self) {
        self.news.sort_by_key(|news| news.0);
        for (_, key, inside, fall) in self.news.drain(..) {
            let side = usize::from(inside);
            for mean in [self.costs[side].entry(key).or_default(), &mut self.all[side]] {
                mean.sum += fall;
                mean.count += 1.0;
            }
        }
    }

    /// The product of what both decisions about a row are expected to bring; each row begins at the mean of all.
    pub fn score(&self, p: usize, i: usize, share: f64) -> f64 {
        let share = share.clamp(0.0, 1.0);
        let cost = |side: usize| {
            let all = self.all[side];
            let start = if all.count > 0.0 { all.sum / all.count } else { 1.0 };
            let own = self.costs[side].get(&(p, i)).copied().unwrap_or_default();
            (own.sum + start) / (own.count + 1.0)
        };
        (cost(1) * (1.0 - share)).max(SMALLEST) * (cost(0) * share).max(SMALLEST) + 1e-14 * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_news_changes_nothing() {
        let run = |order: [usize; 3]| {
            let mut costs = Pseudocosts::default();
            let origins: Vec<Origin> = (0..3).map(|k| costs.origin(0, k % 2, k > 0, 0.3, 2.0)).collect();
            for k in order {
                costs.observe(&origins[k], 1.0 + 0.1 * (k as f64 + 1.0) / 3.0, 1.0);
            }
            costs.absorb();
            [costs.score(0, 0, 0.4), costs.score(0, 1, 0.4), costs.score(1, 0, 0.4)]
        };
        assert_eq!(run([0, 1, 2]), run([2, 0, 1]));
        assert!(run([0, 1, 2])[0] > 0.0);
    }
}
