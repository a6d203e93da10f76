//! Bounds that prove for limits of nonzeros: at most k of a component, K of all, s rows of X that are not zero
//! (docs/bounds-limits.md).
//!
//! ```text
//! max tr Xᵀ(½C)X   subject to   XᵀX = I_r,   the rows of column p that are not zero lie in S_p,  |S_p| ≤ k_p
//! ```
//!
//! [`cones`] has the projections, [`admm`] finds multipliers, [`dual`] turns any multipliers into a number that holds in
//! floating point, [`tree`] splits on the rows that a component must have or may not have.

mod admm;
mod cones;
mod dual;
mod incumbent;
mod large;
mod pseudo;
mod saved;
mod state;
mod tree;

use super::covariance::{Covariance, Screen};
use super::columns::principal;
use super::tree::{Limits, Outcome, cutoff, search};
use super::types::{End, Kind, Options, Progress, Watch};
use crate::error::Result;
use crate::linalg::order::descending_to;
use crate::linalg::{RowMat, work};
use crate::problem::nonzero_rows;
use crate::smooth::Quadratic;
use dual::Problem;
pub use saved::{LimitDual, limit_dual};
use incumbent::{Effort, best_on, best_set, deflated_sets, exchanged_columns, solution_on};
use tree::LimitBranching;

/// Variables that nodes take, at most; with several parts, of which each has matrices of its own, variables times parts.
const VARIABLES: usize = 400;
/// Variables, at most, of which a core of the above is looked for: n² numbers are kept.
pub(super) const LARGEST: usize = 5000;
/// Lists of limits that a total allows, at most.
const LISTS: usize = 300;
/// The share of the gap asked for at which a node is closed; the rest is for the rounding of what is reported.
const SHARE: f64 = 0.5;

/// The limits of each list of parts, and the number of columns of a part; `None` where there are no limits, or too
/// much of it.
fn limits_of(kind: &Kind, r: usize, n: usize) -> Option<(usize, Vec<Vec<usize>>)> {
    let (rank, lists) = match kind.unsigned() {
        Kind::Counts { nonzeros, .. } => (1, vec![nonzeros.iter().map(|k| *k.min(&n)).collect()]),
        Kind::Total { nonzeros, .. } => (1, partitions((*nonzeros).min(r * n), r, n)?),
        Kind::Rows { rows, .. } if r == 1 || !kind.nonneg() => (r, vec![vec![*rows.min(&n)]]),
        _ => return None,
    };
    let small = n * (r / rank) <= VARIABLES;
    (small || (n <= LARGEST && lists.len() == 1)).then_some((rank, lists))
}

/// The problem, divided by a power of two, which is returned.
fn posed(
    f: &impl Quadratic,
    r: usize,
    kind: &Kind,
    rank: usize,
    usual: usize,
) -> Result<(Problem, f64)> {
    let Covariance { c, scale, .. } = Covariance::of(f, r, Screen::All, LARGEST)?;
    let lambda = (kind.lambda() / scale).min(1e100); // a smaller one only raises the bound
    Ok((Problem { c, rank, lambda, nonneg: kind.nonneg(), usual }, scale))
}

impl Problem {
    /// Divided by a power of two further, so that `each` in the unit of the data becomes about 1 where it is positive; the new
    /// scale.
    fn rescaled(&mut self, scale: f64, each: f64) -> f64 {
        let each = each / scale;
        if !(each.is_finite() && each > 0.0) {
            return scale;
        }
        let more = 2f64.powi((each.log2().round() as i32).clamp(-500, 500));
        self.c.data_mut().iter_mut().for_each(|v| *v /= more);
        self.lambda /= more;
        scale * more
    }
}

/// The ways to write a total as a sum of r numbers from 1 to n, the largest first.
fn partitions(total: usize, r: usize, n: usize) -> Option<Vec<Vec<usize>>> {
    fn extend(list: &mut Vec<usize>, left: usize, r: usize, most: usize, out: &mut Vec<Vec<usize>>) {
        if list.len() == r {
            if left == 0 {
                out.push(list.clone());
            }
            return;
        }
        let others = r - list.len() - 1;
        for k in (1..=most.min(left.saturating_sub(others))).rev() {
            if out.len() > LISTS || k * (others + 1) < left {
                return;
            }
            list.push(k);
            extend(list, left - k, r, k, out);
            list.pop();
        }
    }
    let mut out = Vec::new();
    extend(&mut Vec::new(), total, r, n, &mut out);
    (!out.is_empty() && out.len() <= LISTS).then_some(out)
}

/// Work of one iteration at the root for r columns of n variables, at most.
pub(crate) fn step(n: usize, r: usize) -> u64 {
    let (n, r) = (n as u64, r as u64);
    (r + u64::from(r > 1)) * 8 * n.pow(3) + r * admm::projections(n as usize) as u64
}

/// Whether these bounds are there for a problem.
pub(super) fn apply(kind: &Kind, r: usize, n: usize) -> bool {
    limits_of(kind, r, n).is_some()
}

/// The bound of −F by branch and bound. `offer` takes an X that was found and returns the largest −F known; without one it
/// says what is known.
#[allow(clippy::too_many_arguments)]
pub(super) fn prove(
    f: &impl Quadratic,
    r: usize,
    kind: &Kind,
    incumbent: Option<&RowMat>,
    mut offer: impl FnMut(Option<RowMat>) -> f64,
    known: Progress,
    options: &Options,
    watch: &Watch<'_>,
) -> Result<Option<Outcome>> {
    let Some((rank, lists)) = limits_of(kind, r, f.nrows()) else { return Ok(None) };
    let usual = incumbent.map_or(usize::MAX, |x| nonzero_rows(x).len().max(rank));
    let (mut problem, mut scale) = posed(f, r, kind, rank, usual)?;
    let begun = work::so_far();
    let large = f.nrows() * (r / rank) > VARIABLES;
    let few = large && incumbent.is_some(); // a search of its own would take long
    for sets in starts(&problem, &lists, incumbent, few) {
        offer(best_on(&problem, &sets, Effort::Full).map(|(_, x)| x));
    }
    // the incumbent is to be about 1 for each column, without the price
    let price = incumbent.map_or(0.0, |x| kind.penalty(x));
    scale = problem.rescaled(scale, (offer(None) + price) / r as f64);
    let gap = SHARE * options.gap;
    let mut core = Core { rows: (0..f.nrows()).collect(), most: f64::INFINITY };
    if large {
        let best = offer(None) / scale;
        let first = nearest(&problem, incumbent);
        let over = || watch.is_over();
        let size = VARIABLES / (r / rank);
        let found = large::reduce(&problem, &lists[0], (size, &first), cutoff(best, gap), &over);
        let Some(found) = found else { return Ok(None) };
        let most = found.most.max(best);
        let Some(rows) = found.rows else {
            let end = watch.ask(known).unwrap_or(End::Finished);
            return Ok(Some(Outcome { most: (most * scale).next_up(), nodes: 1, open: 0, end }));
        };
        problem.c = principal(&problem.c, &rows);
        core = Core { rows, most };
    }
    let spent = work::so_far() - begun;
    let allowance = options.work.map_or(u64::MAX, |most| most.saturating_sub(spent));
    let branching = LimitBranching::new(&problem, &lists, gap, allowance, watch);
    let left_out = core.rows.len() < f.nrows();
    let improve = |sets: Option<&[Vec<usize>]>| {
        let x = sets.and_then(|sets| best_on(&problem, sets, Effort::Full)).map(|(_, x)| core.whole(&x, f.nrows()));
        offer(x) / scale
    };
    let limits = Limits { nodes: options.nodes, gap, scale };
    let mut outcome = search(&branching, LimitBranching::root(), core.most, limits, improve, known, watch);
    if left_out {
        // X at or below the cutoff may have been left out
        outcome.most = outcome.most.max(cutoff(offer(None) / scale, gap));
    }
    outcome.most = (outcome.most * scale).next_up();
    Ok(Some(outcome))
}

/// The variables that are left.
struct Core {
    rows: Vec<usize>,
    most: f64, // over all X, proved
}

impl Core {
    /// X over all n variables.
    fn whole(&self, x: &RowMat, n: usize) -> RowMat {
        let mut out = RowMat::zeros(n, x.ncols());
        self.rows.iter().enumerate().for_each(|(a, i)| out.row_mut(*i).copy_from_slice(x.row(a)));
        out
    }
}

/// All rows, those first that X has or is drawn to, and those with a large diagonal.
fn nearest(problem: &Problem, incumbent: Option<&RowMat>) -> Vec<usize> {
    let c = &problem.c;
    let n = c.nrows();
    let pulls: Vec<f64> = match incumbent {
        Some(x) => {
            let rows = nonzero_rows(x);
            let pull = |i: usize, k: usize| rows.iter().map(|j| c.get(i, *j) * x.get(*j, k)).sum::<f64>().abs();
            let used = |i: usize| if x.row(i).iter().any(|v| *v != 0.0) { 1e9 } else { 0.0 };
            (0..n).map(|i| used(i) + (0..x.ncols()).map(|k| pull(i, k)).fold(0.0, f64::max)).collect()
        }
        None => vec![0.0; n],
    };
    let by_pull = descending_to(n, &|i| pulls[i]);
    let by_diagonal = descending_to(n, &|i| c.get(i, i));
    let mut taken = vec![false; n];
    let both = by_pull.into_iter().zip(by_diagonal).flat_map(|(a, b)| [a, b]);
    both.filter(|i| !std::mem::replace(&mut taken[*i], true)).collect()
}

/// Supports to begin from: those of the incumbent, and of a search of the largest parts of C first.
fn starts(
    problem: &Problem,
    lists: &[Vec<usize>],
    incumbent: Option<&RowMat>,
    few: bool,
) -> Vec<Vec<Vec<usize>>> {
    let mut out: Vec<Vec<Vec<usize>>> = Vec::new();
    let single = lists.iter().all(|list| list.len() == 1);
    if let Some(x) = incumbent {
        let support = |columns: std::ops::Range<usize>| -> Vec<usize> {
            (0..x.nrows()).filter(|i| columns.clone().any(|k| x.get(*i, k) != 0.0)).collect()
        };
        let r = x.ncols();
        out.push(if single { vec![support(0..r)] } else { (0..r).map(|k| support(k..k + 1)).collect() });
    }
    if few || problem.nonneg || (problem.lambda > 0.0 && incumbent.is_some()) {
        return out; // exchanges know neither signs nor prices
    }
    for list in lists {
        match list[..] {
            [k] => out.extend(best_set(problem, k).map(|(_, set)| vec![set])),
            _ => out.extend(deflated_sets(problem, list)),
        }
    }
    if !single {
        // a total has many lists: only the best of them is worth exchanges
        let value = |sets: &Vec<Vec<usize>>| {
            solution_on(problem, sets, Effort::Little).map_or(f64::NEG_INFINITY, |s| s.0)
        };
        let best = out.iter().map(value).enumerate().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        out.extend(best.and_then(|(k, _)| exchanged_columns(problem, out[k].clone())).map(|(_, sets)| sets));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_are_all_there() {
        let known = vec![vec![4, 1, 1], vec![3, 2, 1], vec![2, 2, 2]];
        assert_eq!(partitions(6, 3, 5).unwrap(), known);
        assert_eq!(partitions(6, 3, 3).unwrap(), known[1..]);
        assert_eq!(partitions(6, 3, 2).unwrap(), known[2..]);
        assert_eq!(partitions(7, 1, 9).unwrap(), vec![vec![7]]);
        assert!(partitions(400, 10, 400).is_none());
    }
}
