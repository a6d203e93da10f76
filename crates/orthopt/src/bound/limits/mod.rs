//! Bounds that prove for limits on nonzeros: at most k of a component, K of all, s rows of X that are not zero
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
mod pseudo;
mod state;
mod tree;

use super::covariance::{Covariance, Screen};
use super::tree::{Limits, Outcome, search};
use super::types::{Kind, Options, Progress, Watch};
use crate::error::Result;
use crate::linalg::RowMat;
use crate::smooth::Quadratic;
use dual::Problem;
use incumbent::{Effort, best_set, deflated_sets, exchanged_columns, solution_on};
use tree::LimitBranching;

/// Variables, at most; with several parts, of which each has matrices of its own, variables times parts.
const VARIABLES: usize = 400;
/// Lists of limits that a total allows, at most.
const LISTS: usize = 300;
/// The share of the gap asked for at which a node is closed; the rest is for the rounding of what is reported.
const SHARE: f64 = 0.5;

/// The limits of each list of parts, and the number of columns of a part; `None` where there are no limits, a
/// price of nonzeros as well, or too much of it.
fn limits_of(kind: &Kind, r: usize, n: usize) -> Option<(usize, Vec<Vec<usize>>)> {
    let (rank, lists) = match kind {
        Kind::Counts { nonzeros, lambda: 0.0 } => (1, vec![nonzeros.iter().map(|k| *k.min(&n)).collect()]),
        Kind::Total { nonzeros, lambda: 0.0 } => (1, partitions((*nonzeros).min(r * n), r, n)?),
        Kind::Rows { rows, lambda: 0.0 } => (r, vec![vec![*rows.min(&n)]]),
        _ => return None,
    };
    let parts = r / rank;
    (n * parts <= VARIABLES).then_some((rank, lists))
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
    let Covariance { c, mut scale, .. } = Covariance::of(f, r, Screen::All, VARIABLES)?;
    let mut problem = Problem { c, rank };
    for sets in starts(&problem, &lists, incumbent) {
        offer(solution_on(&problem, &sets, Effort::Full).map(|(_, x)| x));
    }
    // the incumbent is to be about 1 for each column
    let each = offer(None) / scale / r as f64;
    if each.is_finite() && each > 0.0 {
        let more = 2f64.powi((each.log2().round() as i32).clamp(-500, 500));
        problem.c.data_mut().iter_mut().for_each(|v| *v /= more);
        scale *= more;
    }
    let gap = SHARE * options.gap;
    let branching = LimitBranching::new(&problem, &lists, gap, watch);
    let improve = |sets: Option<&[Vec<usize>]>| {
        let x = sets.and_then(|sets| solution_on(&problem, sets, Effort::Full)).map(|(_, x)| x);
        offer(x) / scale
    };
    let limits = Limits { nodes: options.nodes, gap, scale };
    let mut outcome =
        search(&branching, LimitBranching::root(), f64::INFINITY, limits, improve, known, watch);
    outcome.most = (outcome.most * scale).next_up();
    Ok(Some(outcome))
}

/// Supports to begin from: those of the incumbent, and of a search of the largest parts of C first.
fn starts(problem: &Problem, lists: &[Vec<usize>], incumbent: Option<&RowMat>) -> Vec<Vec<Vec<usize>>> {
    let mut out: Vec<Vec<Vec<usize>>> = Vec::new();
    let single = lists.iter().all(|list| list.len() == 1);
    if let Some(x) = incumbent {
        let support = |columns: std::ops::Range<usize>| -> Vec<usize> {
            (0..x.nrows()).filter(|i| columns.clone().any(|k| x.get(*i, k) != 0.0)).collect()
        };
        let r = x.ncols();
        out.push(if single { vec![support(0..r)] } else { (0..r).map(|k| support(k..k + 1)).collect() });
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
