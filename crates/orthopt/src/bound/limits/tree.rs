//! Branch and bound over the rows that each part must have and may have (docs/bounds-limits.md, section 5).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::super::certified::{OUTWARD, eigenvalue_error, gamma, sum_of_largest};
use super::super::columns::principal;
use super::super::fixed::fixed_supports;
use super::super::tree::{Branching, Evaluated, cutoff};
use super::super::types::Watch;
use super::admm::{Effort, Splitting};
use super::dual::{Part, Problem, blocks_of};
use super::incumbent::{self, exchanged, exchanged_columns, solution_on};
use super::pseudo::{Origin, Pseudocosts};
use super::state::Packed;
use crate::linalg::RowMat;
use crate::linalg::eigen::symmetric_eigenpairs;
use crate::linalg::order::{descending_to, sort_numbers_down};

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

/// How nodes are split and bounded.
pub struct LimitBranching<'a> {
    problem: &'a Problem,
    roots: Vec<Vec<Part>>,
    gap: f64,
    padded: bool,                // there are rows for disjoint sets of all parts
    lifted: f64,                 // ½C plus this times I is positive semidefinite, proved
    alone: BTreeMap<usize, f64>, // what a column with a limit can have without the others, proved
    pseudo: Mutex<Pseudocosts>,
}

/// How a round ended.
enum Round {
    Closed(f64),
    Leaf(f64, Vec<Vec<usize>>),
    Open,
}

impl<'a> LimitBranching<'a> {
    /// One root for each list of limits, one limit for each part.
    pub fn new(problem: &'a Problem, limits: &[Vec<usize>], gap: f64, watch: &Watch<'_>) -> Self {
        let n = problem.c.nrows();
        let roots: Vec<Vec<Part>> =
            limits.iter().map(|list| list.iter().map(|k| Part::all(n, *k)).collect()).collect();
        let padded = limits.iter().all(|list| list.iter().sum::<usize>() <= n);
        // the largest eigenvalue of −½C
        let half = RowMat::from_fn(n, n, |i, j| 0.5 * problem.c.get(i, j));
        let lifted =
            sum_of_largest(&RowMat::zeros(n, n), &half, 1, f64::NEG_INFINITY).unwrap_or(f64::INFINITY);
        let mut alone = BTreeMap::new();
        for k in limits.iter().filter(|list| list.len() > 1).flatten() {
            alone.entry(*k).or_insert_with(|| {
                let parts = [Part::all(n, *k)];
                let found = Splitting::new(problem, &parts, None).lower(f64::NEG_INFINITY, ONE_COLUMN, watch);
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

    /// What eigenvalues and traces of the blocks say, proved.
    fn simple(&self, parts: &[Part]) -> f64 {
        let mut sum = 0.0;
        for (part, block) in parts.iter().zip(blocks_of(&self.problem.c, parts)) {
            let zero = RowMat::zeros(block.nrows(), block.nrows());
            let values = sum_of_largest(&block, &zero, self.problem.rank, f64::NEG_INFINITY);
            let value = values.unwrap_or(f64::INFINITY).min(self.by_trace(part));
            sum += value + SUMS * value.abs();
        }
        sum
    }

    /// Σ_m of a positive semidefinite matrix is at most its trace.
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

    /// One part, and few sets of it: the best of them.
    fn enumerated(&self, parts: &[Part]) -> Option<(f64, Vec<Vec<usize>>)> {
        let [part] = parts else { return None };
        let free: Vec<usize> =
            (0..part.rows.len()).filter(|a| !part.forced[*a]).map(|a| part.rows[a]).collect();
        let must: Vec<usize> =
            (0..part.rows.len()).filter(|a| part.forced[*a]).map(|a| part.rows[a]).collect();
        let q = part.open();
        if binomial(free.len(), q) > ENUMERATED {
            return None;
        }
        let (mut most, mut best) = (f64::NEG_INFINITY, (f64::NEG_INFINITY, Vec::new()));
        let mut chosen: Vec<usize> = (0..q).collect();
        loop {
            let mut set: Vec<usize> = must.iter().copied().chain(chosen.iter().map(|a| free[*a])).collect();
            set.sort_unstable();
            let block = principal(&self.problem.c, &set);
            let (values, vectors) = symmetric_eigenpairs(&block)?;
            let (rank, error) = (self.problem.rank, eigenvalue_error(&block, &values, &vectors));
            let value = 0.5 * values[..rank].iter().sum::<f64>();
            let size: f64 = values[..rank].iter().map(|v| v.abs()).sum();
            most = most.max(value + OUTWARD * (rank as f64 * error + gamma(rank + 2) * size));
            if value > best.0 {
                best = (value, set);
            }
            if !next_subset(&mut chosen, free.len()) {
                return Some((most, vec![best.1]));
            }
        }
    }

    /// All sets are known.
    fn last(&self, parts: &[Part], cutoff: f64) -> (f64, Option<Vec<Vec<usize>>>) {
        let sets: Vec<Vec<usize>> = parts.iter().map(|part| part.rows.clone()).collect();
        let shared = |a: &[usize], b: &[usize]| a.iter().filter(|i| b.contains(i)).count();
        // orthogonal columns share no row or two; every X has sets that do, where there are rows to fill them up
        if self.padded && (0..sets.len()).any(|p| sets[..p].iter().any(|s| shared(s, &sets[p]) == 1)) {
            return (f64::NEG_INFINITY, None);
        }
        let rows = super::admm::union_of(parts);
        let local: Vec<Vec<usize>> = parts
            .iter()
            .map(|part| part.rows.iter().filter_map(|i| rows.binary_search(i).ok()).collect())
            .collect();
        let bound = fixed_supports(&principal(&self.problem.c, &rows), &local, cutoff);
        (bound.map_or(f64::INFINITY, |sum| sum + SUMS * sum.abs()), Some(sets))
    }

    /// The sets with the largest shares, and their value: improved by exchanges where that costs little in all.
    fn rounded(&self, node: &Node, shares: &[Vec<f64>], root: bool) -> Option<(f64, Vec<Vec<usize>>)> {
        let of = |(part, shares): (&Part, &Vec<f64>)| {
            let worth = |a: usize| if part.forced[a] { 2.0 } else { shares[a] };
            let order = descending_to(part.rows.len(), &worth);
            let mut set: Vec<usize> = order.into_iter().take(part.k).map(|a| part.rows[a]).collect();
            set.sort_unstable();
            set
        };
        let mut sets: Vec<Vec<usize>> = node.parts.iter().zip(shares).map(of).collect();
        match &mut sets[..] {
            _ if !root => {}
            [set] => *set = exchanged(self.problem, std::mem::take(set))?.1,
            _ => return exchanged_columns(self.problem, sets),
        }
        let (value, _) = solution_on(self.problem, &sets, incumbent::Effort::Little)?;
        Some((value, sets))
    }

    /// Bounds the node, leaves out what the bound decides, and does so again while that is worthwhile.
    fn rounds(
        &self,
        node: &mut Node,
        cut: &mut f64,
        best: &mut Option<(f64, Vec<Vec<usize>>)>,
        watch: &Watch<'_>,
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
            if !node.parts.iter_mut().all(Part::settle) {
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
            let found = run.lower(*cut, effort, watch);
            let shares = run.shares();
            state = Some(run.into_state());
            let Some(found) = found else { break };
            node.most = node.most.min(found.most);
            if node.most <= *cut {
                return Round::Closed(node.most);
            }
            if round == 0
                && let Some((value, sets)) = self.rounded(node, &shares, root)
                && cutoff(value, self.gap) > *cut
            {
                *cut = cutoff(value, self.gap);
                *best = Some((value, sets));
                if node.most <= *cut {
                    return Round::Closed(node.most);
                }
            }
            let changed = found.dual.fix(&mut node.parts, found.most, *cut);
            known = (parts, shares);
            if changed == 0 || (changed as f64) < WORTHWHILE * before as f64 || watch.is_over() {
                break;
            }
        }
        // the last conclusions
        if !node.parts.iter_mut().all(Part::settle) {
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

    fn evaluate(&self, mut node: Node, cut: f64, watch: &Watch<'_>) -> Evaluated<Node> {
        let (mut cut, mut best) = (cut, None);
        let round = self.rounds(&mut node, &mut cut, &mut best, watch);
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
                    solution_on(self.problem, sets, incumbent::Effort::Full).map(|s| s.0)
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
