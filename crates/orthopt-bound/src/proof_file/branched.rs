//! The check of a proof of variance by a tree (docs/bounds-limits.md, sections 1, 2 and 7): what is known of the supports at a node
//! follows from the splits above it and from the multipliers of the file alone.

use super::certain::{largest, peak, rounding, sum_of_largest};
use super::duals::{less, of_variance, symmetric};
use super::{Branched, Limits, PartWeights, Refusal, Statement, Weights, matrix, refused};
use orthopt_linalg::RowMat;

/// The cutoff is so much of F above that of the X that is proved.
const SHARE: f64 = 5e-10;
/// Share of the cutoff that an X may have above it, for the rounding of a checker.
const SLACK: f64 = 4e-10;
/// Sets of a part that are looked at one by one, at most.
const SETS: usize = 300;

/// Value at which nodes are closed, for an X with this F.
pub(crate) fn cutoff_at(objective: f64) -> f64 {
    -objective + SHARE * objective.abs()
}

/// Columns of X with common rows: a set S of k rows with I ⊆ S ⊆ R holds their nonzeros, or is their support, of at most k rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Known {
    pub k: usize,
    pub rows: Vec<usize>,  // R
    pub forced: Vec<bool>, // which of them are in I
}

impl Known {
    pub fn must(&self) -> usize {
        self.forced.iter().filter(|f| **f).count()
    }

    pub fn is_decided(&self) -> bool {
        self.forced.iter().all(|f| *f)
    }

    fn keep(&mut self, wanted: impl Fn(usize, bool) -> bool) {
        let both: Vec<(usize, bool)> = self
            .rows
            .iter()
            .copied()
            .zip(self.forced.iter().copied())
            .filter(|(i, f)| wanted(*i, *f))
            .collect();
        (self.rows, self.forced) = both.into_iter().unzip();
    }
}

/// The problem in the unit of a file.
#[derive(Debug)]
pub(crate) struct ScaledProblem {
    c: RowMat,
    lambda: f64,
    nonneg: bool,
    m: usize, // columns of a part
    padded: bool,
    cut: f64,
}

/// All ways to give nonzeros to the parts.
pub(crate) fn ways(problem: &Statement, n: usize) -> Vec<Vec<usize>> {
    match &problem.limits {
        Some(Limits::Nonzeros(list)) => vec![list.iter().map(|k| *k.min(&n)).collect()],
        Some(Limits::Variables(s)) => vec![vec![*s.min(&n)]],
        Some(Limits::Total(total)) => divided(*total, problem.rank, n),
        None => vec![vec![n; problem.rank]],
    }
}

/// All ways to divide a total into r parts from 1 to n, in ascending order.
fn divided(total: usize, r: usize, n: usize) -> Vec<Vec<usize>> {
    let total = total.min(r * n);
    let mut all = vec![Vec::new()];
    for j in 0..r {
        let longer = |list: &Vec<usize>| {
            let (least, used) = (list.last().copied().unwrap_or(1), list.iter().sum::<usize>());
            let left = total.saturating_sub(used);
            let range =
                if j + 1 == r { left.max(least)..=left.min(n) } else { least..=(left / (r - j)).min(n) };
            range.map(|k| [list.as_slice(), &[k]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// An upper bound of −F over all X.
pub(crate) fn most(problem: &Statement, tree: &Branched, c: &RowMat) -> Result<f64, Refusal> {
    of_variance(problem)?;
    let n = c.nrows();
    let sorted = |list: &Vec<usize>| {
        let mut list = list.clone();
        list.sort_unstable();
        list
    };
    let mut asked: Vec<_> = ways(problem, n).iter().map(sorted).collect();
    let mut given: Vec<_> = tree.ways.iter().map(|way| sorted(&way.counts)).collect();
    asked.sort();
    given.sort();
    if asked != given {
        return refused("nonzeros are not given to the components in all ways that the limit allows");
    }
    let mut most = tree.cutoff + SLACK * tree.cutoff.abs();
    for way in &tree.ways {
        let scaled = ScaledProblem::new(problem, c, tree.unit, most.max(tree.cutoff), &way.counts)?;
        most = most.max(scaled.left(tree, way.node, scaled.all(&way.counts), f64::INFINITY)?);
    }
    match most.is_finite() {
        true => Ok(most * tree.unit),
        false => refused("a number is not finite"),
    }
}

impl ScaledProblem {
    pub fn new(
        problem: &Statement,
        c: &RowMat,
        unit: f64,
        cut: f64,
        counts: &[usize],
    ) -> Result<Self, Refusal> {
        if !(unit.is_finite() && unit > 0.0 && unit.log2().fract() == 0.0) {
            return refused("the unit is not a power of two");
        }
        let (n, lambda, m) = (c.nrows(), problem.lambda / unit, problem.rank / counts.len().max(1));
        let c = RowMat::from_fn(n, n, |i, j| c.get(i, j) / unit);
        if c.find_non_finite().is_some() || !lambda.is_finite() || !cut.is_finite() {
            return refused("a number is not finite");
        }
        if m * counts.len() != problem.rank || m > 1 && problem.nonnegative || counts.iter().any(|k| *k < m) {
            return refused("a way has another number of parts");
        }
        // disjoint sets of all parts are there, or sets are supports
        let padded = lambda > 0.0 || problem.nonnegative || counts.iter().sum::<usize>() <= n;
        Ok(Self { c, lambda, nonneg: problem.nonnegative, m, padded, cut })
    }

    /// Nothing is known.
    pub fn all(&self, counts: &[usize]) -> Vec<Known> {
        let n = self.c.nrows();
        counts.iter().map(|k| Known { k: *k, rows: (0..n).collect(), forced: vec![false; n] }).collect()
    }

    /// True if S is the support.
    fn exact(&self) -> bool {
        self.lambda > 0.0 || self.nonneg
    }

    /// Draws all conclusions; `false` where no X is left.
    pub fn settle(&self, parts: &mut [Known]) -> bool {
        loop {
            let before = parts.to_vec();
            if !(0..parts.len()).all(|p| self.settle_one(parts, p)) {
                return false;
            }
            if before == *parts {
                break;
            }
        }
        // orthogonal columns have no common row, or two
        let decided: Vec<&Known> = parts.iter().filter(|part| part.is_decided()).collect();
        let common = |a: &Known, b: &Known| a.rows.iter().filter(|i| b.rows.binary_search(i).is_ok()).count();
        let one = |p: usize| (0..p).any(|q| common(decided[p], decided[q]) == 1);
        !(self.padded && (0..decided.len()).any(one))
    }

    fn settle_one(&self, parts: &mut [Known], p: usize) -> bool {
        // columns of X ≥ 0 have no common row
        let others = |i: &usize| {
            let has = |part: &Known| part.rows.binary_search(i).is_ok_and(|a| part.forced[a]);
            self.nonneg && parts.iter().enumerate().any(|(q, part)| q != p && has(part))
        };
        let taken: Vec<usize> = parts[p].rows.iter().copied().filter(others).collect();
        let least = if self.exact() { self.m } else { parts[p].k };
        let part = &mut parts[p];
        let is_taken = |i: usize| taken.binary_search(&i).is_ok();
        let conflict = part.rows.iter().zip(&part.forced).any(|(i, forced)| *forced && is_taken(*i));
        part.keep(|i, _| !is_taken(i));
        if conflict || part.must() > part.k || part.rows.len() < least {
            return false;
        }
        if part.must() == part.k {
            part.keep(|_, forced| forced);
        } else if part.rows.len() == least {
            part.forced.fill(true);
        }
        true
    }

    /// Of each part by itself: of its sets, where they are few.
    pub fn simple(&self, parts: &[Known]) -> Option<f64> {
        let (mut sum, mut size) = (0.0, 0.0);
        for part in parts {
            let must: Vec<usize> = (0..part.rows.len()).filter(|a| part.forced[*a]).collect();
            let free: Vec<usize> = (0..part.rows.len()).filter(|a| !part.forced[*a]).collect();
            let q = (part.k - must.len()).min(free.len());
            // supports of more rows have more variance and a larger price
            let sizes = if self.lambda > 0.0 { self.m.saturating_sub(must.len())..=q } else { q..=q };
            let price = |rows: usize| self.lambda * rows as f64 * (1.0 - 4.0 * f64::EPSILON);
            let most = match sets_of(&free, sizes) {
                Some(sets) => {
                    let value = |set: &Vec<usize>| {
                        let rows: Vec<usize> = must.iter().chain(set).map(|a| part.rows[*a]).collect();
                        Some(self.on(&rows)? - price(rows.len()))
                    };
                    sets.iter().map(value).try_fold(f64::NEG_INFINITY, |most, v| Some(v?.max(most)))?
                }
                None => self.on(&part.rows)? - price(must.len().max(self.m)),
            };
            (sum, size) = (sum + most, size + most.abs() + price(part.k));
        }
        Some(sum + rounding(parts.len() + 4) * size)
    }

    /// Σₘ(½C) on these rows.
    fn on(&self, rows: &[usize]) -> Option<f64> {
        let block = RowMat::from_fn(rows.len(), rows.len(), |i, j| 0.5 * self.c.get(rows[i], rows[j]));
        if self.m == 1 { largest(&block, 0.0) } else { sum_of_largest(&block, self.m, 0.0) }
    }

    /// The bound of some multipliers; rows without which, or with which, an X is not above the cutoff are decided by it.
    pub fn step(&self, parts: &mut [Known], weights: &Weights) -> Result<f64, Refusal> {
        if weights.parts.len() != parts.len() {
            return refused("a step has not the multipliers of all parts");
        }
        let written = united(weights.parts.iter().map(|part| &part.rows));
        let rows = united(parts.iter().map(|part| &part.rows));
        let n = rows.len();
        let w = match places(&rows, &written) {
            Some(_) if weights.w.is_empty() => RowMat::zeros(n, n),
            Some(at) => block(&symmetric(&weights.w, written.len(), "W")?, &at),
            None => return refused("a multiplier has not all rows of a node"),
        };
        let pi: Vec<f64> = match (places(&rows, &written), weights.pi.len()) {
            (_, 0) => vec![0.0; n],
            (Some(at), count) if count == written.len() => at.iter().map(|a| weights.pi[*a]).collect(),
            _ => return refused("pi has another size"),
        };
        if !(0..n).all(|i| pi[i] >= 0.0 && pi[i] <= w.get(i, i)) {
            return refused("pi is not between 0 and the diagonal of W");
        }
        let negative = RowMat::from_fn(n, n, |i, j| -w.get(i, j));
        let not_finite = || refused("an eigenvalue is not finite");
        let Some(below) = largest(&negative, 0.0) else { return not_finite() };
        let mut sum: f64 = (0..n).map(|i| w.get(i, i) - pi[i]).sum::<f64>() + n as f64 * below.max(0.0);
        let mut size = 2.0 * (0..n).map(|i| w.get(i, i).abs()).sum::<f64>() + n as f64 * below.abs();
        let mut costs = Vec::new();
        for (part, weights) in parts.iter().zip(&weights.parts) {
            let at = places(&part.rows, &rows).unwrap_or_default();
            let pi: Vec<f64> = at.iter().map(|a| pi[*a]).collect();
            let of_part = self.part(part, weights, &block(&w, &at), &pi)?;
            let Some(found) = sum_of_largest(&of_part.left, self.m, of_part.off) else { return not_finite() };
            let paid = spent(part, &of_part.costs).0;
            size += found.abs() + paid.abs() + self.lambda * part.k as f64;
            sum += found + paid;
            costs.push(of_part.costs);
        }
        let most = sum + rounding(4 * n + 64) * size;
        if most > self.cut {
            let off = rounding(16) * size;
            parts.iter_mut().zip(costs).for_each(|(part, costs)| self.decide(part, &costs, most + off));
        }
        Ok(most)
    }

    /// ½C less the multipliers of a part, and the cost of each of its rows.
    fn part(&self, part: &Known, weights: &PartWeights, w: &RowMat, pi: &[f64]) -> Result<OfPart, Refusal> {
        let (n, size, k) = (part.rows.len(), weights.rows.len(), part.k);
        let ascends = weights.rows.windows(2).all(|two| two[0] < two[1]);
        let Some(at) = places(&part.rows, &weights.rows).filter(|_| ascends) else {
            return refused("a multiplier has not all rows of a node");
        };
        let zero = || RowMat::zeros(size, size);
        let z = if weights.z.is_empty() { zero() } else { symmetric(&weights.z, size, "Z")? };
        let u = if weights.u.is_empty() { Some(zero()) } else { matrix(&weights.u, size, Some(size)) };
        let list = |list: &Vec<f64>| {
            let list = if list.is_empty() { vec![0.0; size] } else { list.clone() };
            (list.len() == size && list.iter().all(|v| v.is_finite() && *v >= 0.0)).then_some(list)
        };
        let (Some(u), Some(d), Some(a)) = (u, list(&weights.d), list(&weights.a)) else {
            return refused("U, d or a of a part have another size, or d or a is negative");
        };
        let (z, u) = (block(&z, &at), block(&u, &at));
        let [d, a] = [d, a].map(|list| at.iter().map(|i| list[*i]).collect::<Vec<f64>>());
        let sign = |v: f64| if self.nonneg { v.max(0.0) } else { v.abs() };
        let large = |i: usize, j: usize| sign(z.get(i, j)) > a[i] * a[j] * (1.0 + 1e-14);
        if (0..n).any(|i| (0..n).any(|j| large(i, j))) {
            return refused("Z of a part is larger than a allows");
        }
        let (of_m, of_k) = (self.m as f64, k as f64);
        let kappa = (of_m + (of_m * (of_k - 1.0) * (of_k - of_m)).max(0.0).sqrt()) / of_k;
        let mut costs = Vec::with_capacity(n);
        for i in 0..n {
            let square = |j: usize| sign(u.get(i, j)).powi(2);
            let taken = |j: usize| j == i || part.forced[j];
            let own = (0..n).filter(|j| taken(*j)).count();
            let mut others: Vec<f64> = (0..n).filter(|j| !taken(*j)).map(square).collect();
            others.sort_by(|a, b| b.total_cmp(a));
            let spread: f64 = (0..n).filter(|j| taken(*j)).map(square).sum::<f64>()
                + others.iter().take(k.saturating_sub(own)).sum::<f64>();
            if spread > 0.0 && d[i] == 0.0 {
                return refused("d of a part is not positive");
            }
            let of_row = if spread > 0.0 { spread / (4.0 * d[i]) } else { 0.0 };
            let cost = (kappa * a[i] * a[i] + of_row + pi[i]) * (1.0 + rounding(n + 24));
            costs.push(cost - self.lambda * (1.0 - 4.0 * f64::EPSILON));
        }
        let taken = RowMat::from_fn(n, n, |i, j| {
            let diagonal = if i == j { d[i] } else { 0.0 };
            w.get(i, j) + z.get(i, j) + 0.5 * (u.get(i, j) + u.get(j, i)) - diagonal
        });
        let c = block(&self.c, &part.rows);
        let (left, _) = less(&c, &taken.symmetric_part());
        let largest = d.iter().fold(0.0, |most: f64, d| most.max(*d));
        let off = rounding(8) * (peak(&c) + peak(w) + peak(&z) + peak(&u) + largest);
        Ok(OfPart { left, off, costs })
    }

    /// The bound of the sets with, or without, a row differs from `most` by the exchange of one cost for another.
    fn decide(&self, part: &mut Known, costs: &[f64], most: f64) {
        let q = part.k.saturating_sub(part.must());
        let free = part.rows.len() - part.must();
        if q == 0 || q >= free && !self.exact() {
            return;
        }
        let (_, last, next) = spent(part, costs);
        let leaves = |a: usize| !part.forced[a] && costs[a] < last && most - (last - costs[a]) <= self.cut;
        let enters = |a: usize| costs[a] >= last && costs[a] > 0.0 && most - (costs[a] - next) <= self.cut;
        let left: Vec<usize> = (0..part.rows.len()).filter(|a| leaves(*a)).map(|a| part.rows[a]).collect();
        let forced: Vec<bool> = (0..part.rows.len()).map(|a| part.forced[a] || enters(a)).collect();
        part.forced = forced;
        part.keep(|i, _| left.binary_search(&i).is_err());
    }

    /// The largest bound of what is left open below a node.
    fn left(&self, tree: &Branched, at: usize, mut parts: Vec<Known>, most: f64) -> Result<f64, Refusal> {
        let Some(node) = tree.nodes.get(at) else { return refused(format!("node {at} is missing")) };
        let mut most = most;
        for step in std::iter::once(None).chain(node.steps.iter().map(Some)) {
            if let Some(weights) = step {
                most = most.min(self.step(&mut parts, weights)?);
            }
            if most <= self.cut || !self.settle(&mut parts) {
                return Ok(f64::NEG_INFINITY);
            }
            most = most.min(self.simple(&parts).unwrap_or(f64::INFINITY));
            if most <= self.cut {
                return Ok(f64::NEG_INFINITY);
            }
        }
        let Some(split) = &node.split else { return Ok(most) };
        if split.inside <= at || split.outside <= at {
            return refused(format!("node {at} is not before its parts"));
        }
        let halves = divided_by(&parts, &split.columns, split.row).filter(|_| split.row < self.c.nrows());
        let Some(halves) = halves else {
            return refused(format!("node {at} is divided by no row of its parts"));
        };
        let mut open = f64::NEG_INFINITY;
        for (place, half) in [split.inside, split.outside].into_iter().zip(halves) {
            if let Some(parts) = half {
                open = open.max(self.left(tree, place, parts, most)?);
            }
        }
        Ok(open)
    }
}

/// States of the parts if the first of parts that are alike has the row, and if none of them has it; `None` where no X
/// remains. The checker may have decided more than the writer of the file: parts are made alike again by what either of
/// them may have.
pub(crate) fn divided_by(parts: &[Known], columns: &[usize], row: usize) -> Option<[Option<Vec<Known>>; 2]> {
    let mut parts = parts.to_vec();
    let first = parts.get(*columns.first()?)?.clone();
    if columns.iter().any(|p| parts.get(*p).is_none_or(|part| part.k != first.k)) {
        return None;
    }
    if columns.len() > 1 {
        let rows = united(columns.iter().map(|p| &parts[*p].rows));
        let forced = vec![false; rows.len()];
        columns.iter().for_each(|p| {
            parts[*p] = Known { k: first.k, rows: rows.clone(), forced: forced.clone() };
        });
    }
    let (mut inside, mut outside) = (parts.clone(), parts);
    let first = &mut inside[columns[0]];
    let Ok(at) = first.rows.binary_search(&row) else { return Some([None, Some(outside)]) };
    let has = std::mem::replace(&mut first.forced[at], true);
    columns.iter().for_each(|p| outside[*p].keep(|i, _| i != row));
    Some([Some(inside), (!has).then_some(outside)])
}

struct OfPart {
    left: RowMat,
    off: f64,
    costs: Vec<f64>,
}

/// Cost of the most expensive set, the least of its free costs, and the largest beside it.
fn spent(part: &Known, costs: &[f64]) -> (f64, f64, f64) {
    let must: f64 = (0..costs.len()).filter(|a| part.forced[*a]).map(|a| costs[a]).sum();
    let mut free: Vec<f64> =
        (0..costs.len()).filter(|a| !part.forced[*a] && costs[*a] > 0.0).map(|a| costs[a]).collect();
    free.sort_by(|a, b| b.total_cmp(a));
    let q = part.k.saturating_sub(part.must());
    let at = |k: usize| free.get(k).copied().unwrap_or(0.0);
    (must + free.iter().take(q).sum::<f64>(), if q > 0 { at(q - 1) } else { 0.0 }, at(q))
}

/// All subsets of these sizes, the empty one not, where they are few.
fn sets_of(free: &[usize], sizes: std::ops::RangeInclusive<usize>) -> Option<Vec<Vec<usize>>> {
    let mut all = Vec::new();
    for size in sizes {
        let mut some: Vec<(usize, Vec<usize>)> = vec![(0, Vec::new())];
        for left in (0..size).rev() {
            let longer = |(from, set): &(usize, Vec<usize>)| {
                let range = *from..free.len().saturating_sub(left);
                range.map(|a| (a + 1, [set.as_slice(), &[free[a]]].concat())).collect::<Vec<_>>()
            };
            some = some.iter().flat_map(longer).collect();
            if some.len() > SETS {
                return None;
            }
        }
        all.extend(some.into_iter().map(|(_, set)| set));
        if all.len() > SETS {
            return None;
        }
    }
    Some(all)
}

fn united<'a>(lists: impl Iterator<Item = &'a Vec<usize>>) -> Vec<usize> {
    let mut all: Vec<usize> = lists.flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The places of `rows` in `among`, both ascending; `None` where it has not all of them.
fn places(rows: &[usize], among: &[usize]) -> Option<Vec<usize>> {
    rows.iter().map(|i| among.binary_search(i).ok()).collect()
}

fn block(m: &RowMat, at: &[usize]) -> RowMat {
    RowMat::from_fn(at.len(), at.len(), |i, j| m.get(at[i], at[j]))
}
