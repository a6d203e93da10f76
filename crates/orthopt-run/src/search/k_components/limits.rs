//! Assignment of variables to directions, under a price of each variable and limits on their number in a component.

use orthopt_core::smooth::{Entries, Measure};
use orthopt_linalg::RowMat;
use orthopt_linalg::order::{descending_to, select_largest, select_numbers};
use orthopt_linalg::simd::dispatch;

use super::is_projected;
use super::samples::Directions;

/// Limits on nonzeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limits {
    /// None.
    Free,
    /// So many in each component.
    Each(Vec<usize>),
    /// So many in all, from `min` to `max` in each.
    Total {
        /// In all components together.
        total: usize,
        /// The least in one.
        min: usize,
        /// The most in one.
        max: usize,
    },
}

/// The request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The price λ of a nonzero.
    pub lambda: f64,
    /// Limits besides it.
    pub limits: Limits,
    /// X ≥ 0.
    pub nonneg: bool,
    /// The objective: variance, or variance explained by orthonormal directions.
    pub measure: Measure,
    /// Moves in a row without a gain that end the search.
    pub patience: usize,
}

impl Request {
    /// Variance at a price or within limits, a dozen moves without a gain.
    pub fn new(lambda: f64, limits: Limits) -> Self {
        Self { lambda, limits, nonneg: false, measure: Measure::Variance, patience: 12 }
    }
}

/// Of a variable that no direction covers.
pub(super) const NOBODY: usize = usize::MAX;

/// A request for n variables and r components.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub rank: usize,
    pub lambda: f64,
    pub nonneg: bool,
    pub measure: Measure,
    pub orthonormal: bool,
    pub patience: usize,
    /// The most that component k may have.
    pub most: Vec<usize>,
    /// The least that each has.
    pub least: usize,
    /// The most in all.
    pub total: usize,
}

/// The direction of each variable.
#[derive(Clone, Debug)]
pub(super) struct Assignment {
    pub label: Vec<usize>,
    /// ½ Σ (gain − 2λ).
    pub value: f64,
}

impl Rules {
    pub fn new(request: &Request, n: usize, rank: usize) -> Option<Self> {
        if rank == 0 || rank > n || !(request.lambda >= 0.0 && request.lambda.is_finite()) {
            return None;
        }
        let room = n - (rank - 1); // others need a variable each
        let (most, least, total) = match &request.limits {
            Limits::Free => (vec![room; rank], 1, n),
            Limits::Each(list) if list.len() != rank || list.contains(&0) => return None,
            Limits::Each(list) => (list.iter().map(|s| (*s).min(room)).collect(), 1, n),
            Limits::Total { total, min, max } => {
                if *total < rank || *min * rank > (*total).min(n) || max < min || *max == 0 {
                    return None;
                }
                (vec![(*max).min(room); rank], (*min).max(1), (*total).min(n))
            }
        };
        let Request { lambda, nonneg, measure, patience, .. } = *request;
        let orthonormal = is_projected(measure);
        Some(Self { rank, lambda, nonneg, measure, orthonormal, patience, most, least, total })
    }

    /// The part of a score that counts.
    #[inline(always)]
    pub fn counts(&self, score: f64) -> f64 {
        if self.nonneg { score.max(0.0) } else { score.abs() }
    }

    /// True if more variables may want a place than there are.
    fn is_limited(&self, n: usize) -> bool {
        self.total < n || self.least > 1 || self.most.iter().any(|s| *s < n - (self.rank - 1))
    }

    /// Each variable goes to the direction that explains most of it, if that is more than its price times `share`, and as limits allow: each direction
    /// keeps those it explains most of, and what has found no place goes where there is one. `places` says which component a direction is.
    pub fn assign(&self, y: &RowMat, places: &[usize], share: f64) -> Assignment {
        let n = y.ncols();
        let (mut label, gain) = self.largest(y, 2.0 * self.lambda * share);
        if !self.is_limited(n) {
            return self.valued(y, label);
        }
        let most: Vec<usize> = places.iter().map(|k| widened(self.most[*k], share, n)).collect();
        let total = widened(self.total, share, n);
        let mut groups: Vec<Vec<(f64, usize)>> = vec![Vec::new(); places.len()];
        for i in (0..n).filter(|i| label[*i] != NOBODY) {
            groups[label[i]].push((gain[i], i));
        }
        label.fill(NOBODY);
        for (l, group) in groups.iter_mut().enumerate() {
            select_largest(group, most[l]);
            group.iter().for_each(|e| label[e.1] = l);
        }
        self.fill(y, share, &most, &mut groups, &mut label);
        if groups.iter().map(Vec::len).sum::<usize>() > total {
            self.cut(total, &groups, &mut label);
        }
        self.valued(y, label)
    }

    /// The direction that explains most of each variable, and the square of its score, where that is above a price.
    fn largest(&self, y: &RowMat, price: f64) -> (Vec<usize>, Vec<f64>) {
        let n = y.ncols();
        let (mut label, mut best) = (vec![NOBODY; n], vec![0.0f64; n]);
        for l in 0..y.nrows() {
            let (label, best, nonneg) = (&mut label[..], &mut best[..], self.nonneg);
            dispatch(|| {
                for ((label, best), score) in label.iter_mut().zip(best).zip(y.row(l)) {
                    let own = if nonneg { *score } else { score.abs() };
                    let is_more = own > *best;
                    *best = if is_more { own } else { *best };
                    *label = if is_more { l } else { *label };
                }
            });
        }
        for (label, best) in label.iter_mut().zip(&mut best) {
            *best *= *best;
            if *best <= price {
                *label = NOBODY;
            }
        }
        (label, best)
    }

    /// Directions with free places take the best of the variables that have found none.
    fn fill(
        &self,
        y: &RowMat,
        share: f64,
        most: &[usize],
        groups: &mut [Vec<(f64, usize)>],
        label: &mut [usize],
    ) {
        let price = 2.0 * self.lambda * share;
        for (l, group) in groups.iter_mut().enumerate() {
            let places = most[l].saturating_sub(group.len());
            if places == 0 {
                continue;
            }
            let gain = |i: usize| self.counts(y.get(l, i)).powi(2);
            let free = (0..label.len()).filter(|i| label[*i] == NOBODY && gain(*i) > price);
            let mut free: Vec<(f64, usize)> = free.map(|i| (gain(i), i)).collect();
            select_largest(&mut free, places);
            free.iter().for_each(|e| label[e.1] = l);
            group.append(&mut free);
        }
    }

    /// The largest gains of all stay, but of each direction the least number that it has.
    fn cut(&self, total: usize, groups: &[Vec<(f64, usize)>], label: &mut [usize]) {
        let mut rest = Vec::new();
        let mut sure = 0;
        for group in groups {
            let mut first = group.clone();
            select_largest(&mut first, self.least);
            sure += first.len();
            first.iter().for_each(|e| label[e.1] |= KEPT);
            rest.extend(group.iter().filter(|e| label[e.1] & KEPT == 0).copied());
        }
        select_largest(&mut rest, total.saturating_sub(sure));
        rest.iter().for_each(|e| label[e.1] |= KEPT);
        for label in label.iter_mut() {
            *label = if *label == NOBODY || *label & KEPT == 0 { NOBODY } else { *label & !KEPT };
        }
    }

    /// Labels with what they are worth.
    pub fn valued(&self, y: &RowMat, label: Vec<usize>) -> Assignment {
        let (mut sum, mut count) = (0.0, 0usize);
        for (i, l) in label.iter().enumerate().filter(|(_, l)| **l != NOBODY) {
            sum += self.counts(y.get(*l, i)).powi(2);
            count += 1;
        }
        Assignment { label, value: 0.5 * sum - self.lambda * count as f64 }
    }

    /// Entries of a new direction in place k, and its gain over what variables have. A variable counts by the amount by
    /// which the square of its score exceeds its `floor` times `share`. The scores of those that count are the next
    /// mixture.
    pub fn marginal(&self, y: &[f64], floor: &[f64], share: f64, k: usize) -> (Entries, f64) {
        let places = self.places(k);
        let gain = |i: usize| self.counts(y[i]).powi(2) - floor[i] * share;
        let hurdle = hurdle(y.len(), places, gain);
        let mut gains = above(y.len(), hurdle, gain);
        if gains.len() < places && hurdle > 0.0 {
            gains = above(y.len(), 0.0, gain);
        }
        select_largest(&mut gains, places);
        gains.sort_unstable_by_key(|e| e.1);
        let sum = gains.iter().map(|e| e.0).sum();
        (gains.into_iter().map(|(_, i)| (i, y[i])).collect(), sum)
    }

    /// The direction that explains most gets the place of the largest limit, and so on.
    pub fn matched(&self, directions: Directions) -> Directions {
        if self.most.iter().all(|s| *s == self.most[0]) || directions.len() != self.rank {
            return directions;
        }
        let (label, gain) = self.largest(&directions.y, 2.0 * self.lambda);
        let mut explained = vec![0.0; self.rank];
        label.iter().zip(&gain).filter(|(l, _)| **l != NOBODY).for_each(|(l, gain)| explained[*l] += gain);
        let order = descending_to(self.rank, &|k| explained[k]);
        let limits = descending_to(self.rank, &|k| self.most[k] as f64);
        let mut place = vec![0; self.rank];
        order.iter().zip(&limits).for_each(|(from, to)| place[*from] = *to);
        directions.arranged(&place, self.rank)
    }

    /// Number of variables that a new component may expect.
    fn places(&self, k: usize) -> usize {
        self.most[k].min((2 * self.total).div_ceil(self.rank).max(self.least))
    }

    /// The least gain of a variable that keeps its place: where a total is used up, a new variable takes that of the worst.
    pub fn entry(&self, y: &RowMat, label: &[usize]) -> f64 {
        let price = 2.0 * self.lambda;
        if self.total >= y.ncols() {
            return price;
        }
        let served = label.iter().enumerate().filter(|(_, l)| **l != NOBODY);
        let gains = served.map(|(i, l)| self.counts(y.get(*l, i)).powi(2));
        let (count, least) = gains.fold((0, f64::INFINITY), |(c, m), g| (c + 1, g.min(m)));
        if count >= self.total { price.max(least) } else { price }
    }
}

/// One in so many numbers is examined for a hurdle.
const SAMPLED: usize = 8;

/// A number that some more than `places` of n numbers are likely to exceed; 0 where that is no help.
#[inline(always)]
fn hurdle(n: usize, places: usize, gain: impl Fn(usize) -> f64) -> f64 {
    if n < 4 * places {
        return 0.0;
    }
    let mut sample: Vec<f64> = (0..n).step_by(SAMPLED).map(gain).collect();
    let rank = 2 * places / SAMPLED + 4;
    if rank >= sample.len() { 0.0 } else { select_numbers(&mut sample, rank).unwrap_or(0.0).max(0.0) }
}

/// Numbers above a hurdle.
#[inline(always)]
fn above(n: usize, hurdle: f64, gain: impl Fn(usize) -> f64) -> Vec<(f64, usize)> {
    let mut found = Vec::new();
    dispatch(|| {
        for i in 0..n {
            let gain = gain(i);
            if gain > hurdle {
                found.push((gain, i));
            }
        }
    });
    found
}

/// Marks a label.
const KEPT: usize = 1 << (usize::BITS - 2);

/// A limit while the price is lower.
fn widened(most: usize, share: f64, n: usize) -> usize {
    if share < 1.0 { ((most as f64 / share).round() as usize).min(n) } else { most }
}
