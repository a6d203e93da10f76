//! Branch and bound over the rows that each part must have and may have (docs/bounds-limits.md, section 5).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::certified::{OUTWARD, eigenvalue_error, gamma, sum_of_largest};
use super::super::covariance::principal;
use super::super::fixed::fixed_supports;
use super::super::tree::{Branching, Evaluated, cutoff};
use super::super::types::Watch;
use super::admm::{Effort, Splitting};
use super::dual::{Part, Problem, blocks_of, union_of};
use super::incumbent::{self, best_on, exchanged, exchanged_columns};
use super::pseudo::{Origin, Pseudocosts};
use super::state::Packed;
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::order::{descending_to, sort_numbers_down};
use orthopt_linalg::{RowMat, work};

/// Sets of a part that are enumerated rather than bounded, at most.
const ENUMERATED: f64 = 300.0;
/// Rows left out or put in, as a share of all, for which a node is bounded again.
const WORTHWHILE: f64 = 0.1;
/// Rounding, relative to what is summed, of a bound that is proved but for a few sums.
const SUMS: f64 = 1e-14;

/// Effort for a node; roots get more, as all nodes start where they end.
const NODE: Effort = Effort { iterations: 40, patience: 2, share: 0.1, rounds: 6 };
const ONE_COLUMN: Effort = Effort { iterations: 60, patience: 5, share: 0.03, rounds: 12 };
const ONE_PART: Effort = Effort { iterations: 100, patience: 5, share: 0.03, rounds: 12 };
const PARTS: Effort = Effort { iterations: 200, patience: 6, share: 0.02, rounds: 6 };

/// A set of X.
#[derive(Clone, Debug, Default)]
pub struct Node {
    pub parts: Vec<Part>, // of the node before all roots, none
    shares: Vec<Vec<f64>>,
    state: Option<Arc<Packed>>,
    origin: Option<Origin>,
    most: f64,
}

/// Rules by which nodes are split and bounded.
pub struct LimitBranching<'a> {
    problem: &'a Problem,
    roots: Vec<Vec<Part>>,
    gap: f64,
    padded: bool, // there are rows for disjoint sets of all parts, or sets are supports
    lifted: f64,  // ½C plus this times I is positive semidefinite, proved
    alone: BTreeMap<usize, f64>, // what a column with a limit can have without the others, proved
    pseudo: Mutex<Pseudocosts>,
}

/// Result of a round.
enum Round {
    Closed(f64),
    Leaf(f64, Vec<Vec<usize>>),
    Open,
}

impl<'a> LimitBranching<'a> {
    /// Roots that together hold every X that matters.
    pub fn new(
        problem: &'a Problem,
        roots: Vec<Vec<Part>>,
        gap: f64,
        allowance: u64,
        watch: &Watch<'_>,
    ) -> Self {
        let begun = work::so_far();
        let over = || watch.is_over() || work::so_far() - begun > allowance;
        let n = problem.c.nrows();
        let limits = |root: &[Part]| root.iter().map(|part| part.k).collect::<Vec<usize>>();
        let padded = problem.exact() || roots.iter().all(|root| limits(root).iter().sum::<usize>() <= n);
        // the largest eigenvalue of −½C
        let half = RowMat::from_fn(n, n, |i, j| 0.5 * problem.c.get(i, j));
        let lifted =
            sum_of_largest(&RowMat::zeros(n, n), &half, 1, f64::NEG_INFINITY).unwrap_or(f64::INFINITY);
        let mut alone = BTreeMap::new();
        for k in roots.iter().filter(|root| root.len() > 1).flat_map(|root| limits(root)) {
            alone.entry(k).or_insert_with(|| {
                let parts = [Part::all(n, k)];
                let found = Splitting::new(problem, &parts, None).lower(f64::NEG_INFINITY, ONE_COLUMN, &over);
                found.map_or(f64::INFINITY, |found| found.most)
            });
        }
        Self { problem, roots, gap, padded, lifted, alone, pseudo: Mutex::default() }
    }

    /// The sum of what the columns can have one by one.
    fn apart(&self, parts: &[Part]) -> f64 {
        if parts.len() < 2 {
            return f64::INFINITY;
        }
        let sum: f64 = parts.iter().map(|p| self.alone.get(&p.k).copied().unwrap_or(f64::INFINITY)).sum();
        sum + SUMS * sum.abs()
    }

    /// The node before all roots.
    pub fn root() -> Node {
        Node { most: f64::INFINITY, ..Node::default() }
    }

    fn closed(node: Node, most: f64, cutoff: f64, sets: Option<Vec<Vec<usize>>>) -> Evaluated<Node> {
        // X at or below the cutoff may have been left out on the way
        Evaluated { node, most: most.max(cutoff), final_: true, sets }
    }

    /// Bound from eigenvalues and traces of the blocks, proved.
    fn simple(&self, parts: &[Part]) -> f64 {
        let mut sum = 0.0;
        for (part, block) in parts.iter().zip(blocks_of(&self.problem.c, parts)) {
            let zero = RowMat::zeros(block.nrows(), block.nrows());
            let values = sum_of_largest(&block, &zero, self.problem.rank, f64::NEG_INFINITY);
            let value = values.unwrap_or(f64::INFINITY).min(self.by_trace(part)).min(self.by_circles(part));
            sum += value - self.problem.least_price(part) + SUMS * value.abs();
        }
        sum
    }

    /// Σ_m of a positive semidefinite matrix is at most its trace.
    ///
    /// The price of the rows that the part must have is left to [`LimitBranching::simple`].
    fn by_trace(&self, part: &Part) -> f64 {
        let lifted = self.lifted;
        let mut free = Vec::new();
        let mut sum = 0.0;
        for (i, forced) in part.rows.iter().zip(&part.forced) {
            let value = 0.5 * self.problem.c.get(*i, *i) + lifted;
            if *forced { sum += value } else { free.push(value) }
        }
        sort_numbers_down(&mut free);
        sum += free.iter().take(part.open()).sum::<f64>();
        let size = sum.abs() + (part.k + self.problem.rank) as f64 * lifted.abs();
        sum - self.problem.rank as f64 * lifted + 2.0 * gamma(part.k + 8) * size
    }

    /// Gershgorin: the largest eigenvalue of ½C on a set is at most the largest sum of |½Cᵢⱼ| over a row of it, the diagonal
    /// with its sign; of a row, those that the part must have and the largest others. Good where variables are nearly equal.
    fn by_circles(&self, part: &Part) -> f64 {
        if self.problem.rank > 1 {
            return f64::INFINITY;
        }
        let mut free = Vec::new();
        let mut most = f64::NEG_INFINITY;
        for (a, i) in part.rows.iter().enumerate() {
            let (mut sum, mut taken) = (0.0, 1);
            free.clear();
            for (b, j) in part.rows.iter().enumerate().filter(|(b, _)| *b != a) {
                let size = self.problem.c.get(*i, *j).abs();
                if part.forced[b] {
                    sum += size;
                    taken += 1;
                } else {
                    free.push(size);
                }
            }
            sort_numbers_down(&mut free);
            sum += free.iter().take(part.k.saturating_sub(taken)).sum::<f64>();
            let own = self.problem.c.get(*i, *i);
            most = most.max(0.5 * (own + sum) + gamma(part.k + 8) * (own.abs() + sum));
        }
        most
    }

    /// The largest value on exactly these rows, rounded up: a sum of eigenvalues, for X > 0 one with an eigenvector that can be
    /// positive; less the price. `None` where eigenvalues are not found.
    fn on_set(&self, set: &[usize]) -> Option<f64> {
        let block = principal(&self.problem.c, set);
        let (values, vectors) = symmetric_eigenpairs(&block)?;
        let (rank, error) = (self.problem.rank, eigenvalue_error(&block, &values, &vectors));
        let first = if self.problem.nonneg { positive(&values, &vectors, error) } else { Some(0) };
        let Some(first) = first else { return Some(f64::NEG_INFINITY) };
        let values = &values[first..first + rank];
        let (sum, size): (f64, f64) = (values.iter().sum(), values.iter().map(|v| v.abs()).sum());
        let price = self.problem.lambda * set.len() as f64;
        let rounding = rank as f64 * error + gamma(rank + 4) * (size + price);
        Some(0.5 * sum - price + OUTWARD * rounding)
    }

    /// One part, and few sets of it: the best of them.
    fn enumerated(&self, parts: &[Part]) -> Option<(f64, Vec<Vec<usize>>)> {
        let [part] = parts else { return None };
        let free: Vec<usize> =
            (0..part.rows.len()).filter(|a| !part.forced[*a]).map(|a| part.rows[a]).collect();
        let must: Vec<usize> =
            (0..part.rows.len()).filter(|a| part.forced[*a]).map(|a| part.rows[a]).collect();
        let q = part.open().min(free.len());
        let fewest =
            if self.problem.exact() { self.problem.rank.saturating_sub(must.len()) } else { part.open() };
        if fewest > q || (fewest..=q).map(|q| binomial(free.len(), q)).sum::<f64>() > ENUMERATED {
            return None;
        }
        let mut best = (f64::NEG_INFINITY, must.clone());
        for q in fewest..=q {
            let mut chosen: Vec<usize> = (0..q).collect();
            loop {
                let mut set: Vec<usize> =
                    must.iter().copied().chain(chosen.iter().map(|a| free[*a])).collect();
                set.sort_unstable();
                let value = if set.is_empty() { f64::NEG_INFINITY } else { self.on_set(&set)? };
                if value > best.0 {
                    best = (value, set);
                }
                if !next_subset(&mut chosen, free.len()) {
                    break;
                }
            }
        }
        Some((best.0, vec![best.1]))
    }

    /// All sets are known.
    fn last(&self, parts: &[Part], cutoff: f64) -> (f64, Option<Vec<Vec<usize>>>) {
        let sets: Vec<Vec<usize>> = parts.iter().map(|part| part.rows.clone()).collect();
        let shared = |a: &[usize], b: &[usize]| a.iter().filter(|i| b.contains(i)).count();
        // orthogonal columns share no row or two; every X has sets that do, where there are rows to fill them up
        let wrong = |shared: usize| if self.problem.nonneg { shared > 0 } else { shared == 1 };
        if self.padded && (0..sets.len()).any(|p| sets[..p].iter().any(|s| wrong(shared(s, &sets[p])))) {
            return (f64::NEG_INFINITY, None);
        }
        if self.problem.nonneg {
            let add = |sum: f64, value: f64| sum + value + SUMS * (sum.abs() + value.abs());
            let value = |set: &Vec<usize>| self.on_set(set).unwrap_or(f64::INFINITY);
            return (sets.iter().map(value).fold(0.0, add), Some(sets));
        }
        let price = self.problem.lambda * sets.iter().map(Vec::len).sum::<usize>() as f64;
        let rows = union_of(parts);
        let local: Vec<Vec<usize>> = parts
            .iter()
            .map(|part| part.rows.iter().filter_map(|i| rows.binary_search(i).ok()).collect())
            .collect();
        let bound = fixed_supports(&principal(&self.problem.c, &rows), &local, cutoff + price);
        (bound.map_or(f64::INFINITY, |(sum, _)| sum - price + SUMS * (sum.abs() + price)), Some(sets))
    }

    /// The sets with the largest shares, and their value: improved by exchanges where that costs little in all.
    fn rounded(
        &self,
        node: &Node,
        shares: &[Vec<f64>],
        root: bool,
        over: &dyn Fn() -> bool,
    ) -> Option<(f64, Vec<Vec<usize>>)> {
        let problem = self.problem;
        let worth = |p: usize, a: usize| if node.parts[p].forced[a] { 2.0 } else { shares[p][a] };
        // a row of X ≥ 0 is in one column
        let first = |p: usize, a: usize| {
            let other = |q: usize| {
                node.parts[q].place(node.parts[p].rows[a]).map_or(f64::NEG_INFINITY, |b| worth(q, b))
            };
            let own = worth(p, a);
            (0..node.parts.len()).all(|q| q == p || other(q) < own || (other(q) == own && p < q))
        };
        let of = |p: usize| {
            let part = &node.parts[p];
            let mut order = descending_to(part.rows.len(), &|a| worth(p, a));
            order.retain(|a| !problem.nonneg || first(p, *a));
            let wanted = order.iter().filter(|a| worth(p, **a) > 0.5).count().max(problem.rank);
            order.truncate(if problem.exact() { wanted.min(part.k) } else { part.k });
            let mut set: Vec<usize> = order.into_iter().map(|a| part.rows[a]).collect();
            set.sort_unstable();
            set
        };
        let mut sets: Vec<Vec<usize>> = (0..node.parts.len()).map(of).collect();
        if root && !problem.nonneg {
            match &mut sets[..] {
                [set] => *set = exchanged(problem, std::mem::take(set))?.1,
                _ => sets = exchanged_columns(problem, sets, over)?.1,
            }
        }
        let (value, _) = best_on(problem, &sets, incumbent::Effort::Little)?;
        Some((value, sets))
    }

    /// Bounds the node, leaves out what the bound decides, and does so again while that is worthwhile.
    fn rounds(
        &self,
        node: &mut Node,
        cut: &mut f64,
        best: &mut Option<(f64, Vec<Vec<usize>>)>,
        over: &dyn Fn() -> bool,
    ) -> Round {
        let root = node.origin.is_none();
        let effort = match (root, node.parts.len(), self.problem.rank) {
            (false, ..) => NODE,
            (true, 1, 1) => ONE_COLUMN,
            (true, 1, _) => ONE_PART,
            _ => PARTS,
        };
        let mut state = node.state.take().map(|packed| packed.unpack(&node.parts));
        let mut known = (node.parts.clone(), std::mem::take(&mut node.shares)); // shares, and of which rows
        for round in 0..effort.rounds {
            let before: usize = node.parts.iter().map(|part| part.rows.len()).sum();
            if !settle(self.problem, &mut node.parts) {
                return Round::Closed(f64::NEG_INFINITY);
            }
            if let Some((most, sets)) = self.enumerated(&node.parts) {
                return Round::Leaf(most, sets);
            }
            node.most = node.most.min(self.simple(&node.parts));
            if node.most <= *cut {
                return Round::Closed(node.most);
            }
            if node.parts.iter().all(Part::is_decided) {
                let (most, sets) = self.last(&node.parts, *cut);
                let most = node.most.min(most);
                return sets.map_or(Round::Closed(most), |sets| Round::Leaf(most, sets));
            }
            let state_here = state.take().map(|state| state.restricted(&node.parts));
            let parts = node.parts.clone();
            let mut run = Splitting::new(self.problem, &parts, state_here);
            let found = run.lower(*cut, effort, over);
            let shares = run.shares();
            state = Some(run.into_state());
            let Some(found) = found else { break };
            node.most = node.most.min(found.most);
            if node.most <= *cut {
                return Round::Closed(node.most);
            }
            if round == 0
                && let Some((value, sets)) = self.rounded(node, &shares, root, over)
                && cutoff(value, self.gap) > *cut
            {
                *cut = cutoff(value, self.gap);
                *best = Some((value, sets));
                if node.most <= *cut {
                    return Round::Closed(node.most);
                }
            }
            let changed = found.dual.fix(self.problem.exact(), &mut node.parts, found.most, *cut);
            known = (parts, shares);
            if changed == 0 || (changed as f64) < WORTHWHILE * before as f64 || over() {
                break;
            }
        }
        // the last conclusions
        if !settle(self.problem, &mut node.parts) {
            return Round::Closed(f64::NEG_INFINITY);
        }
        if let Some((most, sets)) = self.enumerated(&node.parts) {
            return Round::Leaf(most, sets);
        }
        if node.parts.iter().all(Part::is_decided) {
            let (most, sets) = self.last(&node.parts, *cut);
            let most = node.most.min(most);
            return sets.map_or(Round::Closed(most), |sets| Round::Leaf(most, sets));
        }
        node.shares = shares_on(&node.parts, &known.0, &known.1);
        node.state = state.map(|state| Arc::new(state.restricted(&node.parts).pack()));
        Round::Open
    }

    /// The parts that are like an earlier one: the same limit and rows, nothing that they must have.
    fn alike(parts: &[Part], p: usize, q: usize) -> bool {
        parts[p].k == parts[q].k && parts[p].rows == parts[q].rows && parts[p].must() + parts[q].must() == 0
    }

    /// The part and the row to split on.
    fn choose(&self, node: &Node, pseudo: &Pseudocosts) -> Option<(usize, usize)> {
        let mut best: Option<(f64, usize, usize)> = None;
        for (p, part) in node.parts.iter().enumerate() {
            if (0..p).any(|q| Self::alike(&node.parts, p, q)) {
                continue;
            }
            for (a, i) in part.rows.iter().enumerate().filter(|(a, _)| !part.forced[*a]) {
                let share = node.shares.get(p).and_then(|s| s.get(a)).copied().unwrap_or(0.5);
                let score = pseudo.score(p, *i, share);
                if best.is_none_or(|b| score > b.0) {
                    best = Some((score, p, *i));
                }
            }
        }
        best.map(|(_, p, i)| (p, i))
    }
}

/// Draws the conclusions for all parts: rows that a column of X ≥ 0 must have are in no other. `false` where nothing is left.
fn settle(problem: &Problem, parts: &mut [Part]) -> bool {
    for p in 0..parts.len() {
        if problem.nonneg {
            let part = parts[p].clone();
            let must = |i: usize| part.place(i).is_some_and(|a| part.forced[a]);
            for (_, other) in parts.iter_mut().enumerate().filter(|(q, _)| *q != p) {
                if (0..other.rows.len()).any(|a| other.forced[a] && must(other.rows[a])) {
                    return false;
                }
                other.keep(|other, a| !must(other.rows[a]));
            }
        }
    }
    parts.iter_mut().all(|part| part.settle(problem))
}

/// The first of the eigenvectors, the largest eigenvalue first, that can be positive: computed eigenvalues are within `error`
/// of exact ones, and a vector whose eigenvalue is apart from the others by g is known to 4·error/g.
fn positive(values: &[f64], vectors: &RowMat, error: f64) -> Option<usize> {
    let n = values.len();
    (0..n).find(|k| {
        let apart = |l: usize| if l == *k { f64::INFINITY } else { (values[l] - values[*k]).abs() };
        let gap = (0..n).map(apart).fold(f64::INFINITY, f64::min) - 2.0 * error;
        let known = if gap > 0.0 { 4.0 * error / gap + 1e-12 } else { f64::INFINITY };
        let above = (0..n).any(|i| vectors.get(i, *k) > known);
        let below = (0..n).any(|i| vectors.get(i, *k) < -known);
        !(above && below)
    })
}

/// The shares of the rows that are left.
fn shares_on(now: &[Part], before: &[Part], shares: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let of = |((now, before), shares): ((&Part, &Part), &Vec<f64>)| {
        now.rows.iter().map(|i| before.place(*i).map_or(0.0, |a| shares[a])).collect()
    };
    now.iter().zip(before).zip(shares).map(of).collect()
}

/// n over q.
fn binomial(n: usize, q: usize) -> f64 {
    (0..q.min(n.saturating_sub(q))).fold(1.0, |product, k| product * (n - k) as f64 / (k + 1) as f64)
}

/// The next subset of 0..n of the same size, ascending, in lexical order; `false` after the last.
fn next_subset(chosen: &mut [usize], n: usize) -> bool {
    let q = chosen.len();
    let Some(k) = (0..q).rev().find(|k| chosen[*k] < n - q + k) else { return false };
    chosen[k] += 1;
    (k + 1..q).for_each(|l| chosen[l] = chosen[l - 1] + 1);
    true
}

impl Branching for LimitBranching<'_> {
    type Node = Node;

    fn children(&self, node: &Node) -> Vec<Node> {
        let mut pseudo = self.pseudo.lock().unwrap_or_else(PoisonError::into_inner);
        pseudo.absorb();
        if node.parts.is_empty() {
            let root =
                |parts: &Vec<Part>| Node { parts: parts.clone(), most: self.apart(parts), ..Self::root() };
            return self.roots.iter().map(root).collect();
        }
        let Some((p, row)) = self.choose(node, &pseudo) else { return Vec::new() };
        let share = node.parts[p].place(row).and_then(|a| node.shares.get(p)?.get(a)).copied();
        let mut child = |inside: bool| {
            let mut child = node.clone();
            let share = share.unwrap_or(0.5);
            child.origin = Some(pseudo.origin(p, row, inside, share, node.most));
            if inside {
                child.parts[p].place(row).into_iter().for_each(|a| child.parts[p].forced[a] = true);
            } else {
                // what is in none of the columns that are alike
                for q in (0..node.parts.len()).filter(|q| *q == p || Self::alike(&node.parts, p, *q)) {
                    child.parts[q].keep(|part, a| part.rows[a] != row);
                }
            }
            child.shares = shares_on(&child.parts, &node.parts, &node.shares);
            child
        };
        vec![child(true), child(false)]
    }

    fn evaluate(&self, node: Node, cut: f64, watch: &Watch<'_>, spent: &dyn Fn() -> bool) -> Evaluated<Node> {
        self.bounded(node, cut, &|| watch.is_over() || spent())
    }
}

impl LimitBranching<'_> {
    fn bounded(&self, mut node: Node, cut: f64, over: &dyn Fn() -> bool) -> Evaluated<Node> {
        let (mut cut, mut best) = (cut, None);
        let round = self.rounds(&mut node, &mut cut, &mut best, over);
        let most = match &round {
            Round::Closed(most) | Round::Leaf(most, _) => most.max(cut),
            Round::Open => node.most,
        };
        if let Some(origin) = &node.origin {
            let mut pseudo = self.pseudo.lock().unwrap_or_else(PoisonError::into_inner);
            pseudo.observe(origin, most, cut);
        }
        let sets = best.map(|(_, sets)| sets);
        match round {
            Round::Closed(most) => Self::closed(node, most, cut, sets),
            Round::Leaf(most, leaf) => {
                let value = |sets: &Vec<Vec<usize>>| {
                    best_on(self.problem, sets, incumbent::Effort::Full).map(|s| s.0)
                };
                let better = sets.filter(|sets| value(sets) >= value(&leaf));
                Self::closed(node, most, cut, Some(better.unwrap_or(leaf)))
            }
            Round::Open => {
                let most = node.most.max(cut);
                Evaluated { node, most, final_: false, sets }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_are_all_there_once() {
        for (n, q) in [(5, 0), (5, 2), (5, 5), (6, 3), (1, 1)] {
            let mut chosen: Vec<usize> = (0..q).collect();
            let mut seen = vec![chosen.clone()];
            while next_subset(&mut chosen, n) {
                assert!(!seen.contains(&chosen) && chosen.windows(2).all(|w| w[0] < w[1]));
                seen.push(chosen.clone());
            }
            assert_eq!(seen.len() as f64, binomial(n, q), "{n} {q}");
        }
    }
}
