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
mod saved;
mod screening;
mod state;
mod tree;
mod written;

use std::collections::BTreeMap;

use super::certified::gamma;
use super::covariance::principal;
use super::covariance::{Covariance, Screen};
use super::tree::{Limits, Outcome, cutoff, search};
use super::types::{End, Kind, Options, Progress, Room, Watch};
use dual::{Part, Problem};
use incumbent::{Effort, best_on, best_set, deflated_sets, exchanged_columns, solution_on};
use orthopt_core::problem::nonzero_rows;
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::error::Result;
use orthopt_linalg::order::{select_numbers, sort_numbers_down};
use orthopt_linalg::{RowMat, work};
pub use saved::{LimitDual, limit_dual};
use tree::LimitBranching;
pub(super) use written::written_tree;

/// Variables that the tree takes, at most; with several parts, of which each has matrices of its own, variables times parts.
pub(super) const VARIABLES: usize = 1000;
/// Variables times parts up to which the tree needs no screening before it; with λ alone there is none.
const FEW: usize = 400;
/// Variables, at most, where columns have limits of their own: C and a list of entries of each row are kept, and screening is
/// to leave no more than the tree takes.
const SCREENED: usize = 5000;
/// Bytes of these for every pair of variables.
const BYTES_PER_PAIR: f64 = 28.0;
/// Lists of limits that a total allows, at most.
const LISTS: usize = 300;
/// Iterations between two checks of a bound, twice.
const LOOKS: u64 = 20;
/// The share of the gap asked for at which a node is closed; the rest is for the rounding of what is reported.
const SHARE: f64 = 0.5;

/// The limits of each list of parts, and the number of columns of a part; `None` where there are no limits, or too
/// much of it.
fn limits_of(kind: &Kind, r: usize, n: usize) -> Option<(usize, Vec<Vec<usize>>)> {
    let (rank, lists) = match kind.unsigned() {
        Kind::L0 { lambda } if *lambda > 0.0 && n * r <= FEW => (1, vec![vec![n; r]]),
        Kind::Counts { nonzeros, .. } => (1, vec![nonzeros.iter().map(|k| *k.min(&n)).collect()]),
        Kind::Total { nonzeros, .. } => (1, partitions((*nonzeros).min(r * n), r, n)?),
        Kind::Rows { rows, .. } if r == 1 || !kind.nonneg() => (r, vec![vec![*rows.min(&n)]]),
        _ => return None,
    };
    let screens = rank == 1 && lists.len() == 1 && n <= SCREENED;
    (is_small(n, r / rank) || screens).then_some((rank, lists))
}

/// True if the tree takes all n variables.
fn is_small(n: usize, parts: usize) -> bool {
    n * parts <= VARIABLES
}

/// Number of nonzeros of the column that has most of them.
fn fullest_column(x: &RowMat) -> usize {
    let nonzeros = |k: usize| (0..x.nrows()).filter(|i| x.get(*i, k) != 0.0).count();
    (0..x.ncols()).map(nonzeros).max().unwrap_or(0)
}

/// The problem, divided by a power of two, which is returned.
fn posed(
    f: &impl Quadratic,
    r: usize,
    (kind, options): (&Kind, &Options),
    rank: usize,
    usual: usize,
) -> Result<(Problem, f64)> {
    let room = Room::new(SCREENED, options, BYTES_PER_PAIR);
    let Covariance { c, scale, .. } = Covariance::of(f, r, Screen::All, room)?;
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

/// Work without which no proof succeeds, for r columns of n variables: two checks of the bound of the root, or where that is
/// less and enough for one column, screening.
pub fn least_work(n: usize, r: usize) -> u64 {
    let (rows, columns) = (n as u64, r as u64);
    let step = (columns + u64::from(r > 1)) * 8 * rows.pow(3) + columns * admm::projections(n) as u64;
    let looks = LOOKS.saturating_mul(step);
    if r == 1 { looks.min(screening::first_work(n) as u64) } else { looks }
}

/// True if these bounds are there for a problem.
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
    let usual =
        incumbent.map_or(usize::MAX, |x| if rank == 1 { fullest_column(x) } else { nonzero_rows(x).len() });
    let usual = usual.max(rank);
    let (mut problem, mut scale) = posed(f, r, (kind, options), rank, usual)?;
    let begun = work::so_far();
    let columns = r / rank;
    // a search of several columns of many variables would take long here
    let searched = incumbent.is_some() && columns > 1 && !is_small(f.nrows(), columns);
    let spent = || work::so_far() - begun > options.work.unwrap_or(u64::MAX);
    for sets in starts(&problem, &lists, incumbent, searched, &|| watch.is_over() || spent()) {
        if watch.is_over() || spent() {
            break;
        }
        offer(best_on(&problem, &sets, Effort::Full).map(|(_, x)| x));
    }
    // the incumbent is to be about 1 for each column, without the price
    let price = incumbent.map_or(0.0, |x| kind.penalty(x));
    scale = problem.rescaled(scale, (offer(None) + price) / r as f64);
    let gap = SHARE * options.gap;
    let cut = cutoff(offer(None) / scale, gap);
    let over = || watch.is_over();
    let left = || options.work.map_or(u64::MAX, |most| most.saturating_sub(work::so_far() - begun));
    let limits = Limits { nodes: options.nodes, work: left(), gap, scale };
    let field = match options.work {
        Some(most) if work::so_far() - begun > most => return Ok(None),
        _ => Field::of(&problem, &lists, cut, limits, watch, &over),
    };
    let Some(roots) = field.roots else {
        let done = field.is_bounded || field.most <= cut;
        let end = watch.ask(known).unwrap_or(if done { End::Finished } else { End::Limit });
        let most = (field.most.max(cut) * scale).next_up();
        return Ok(Some(Outcome { most, nodes: field.nodes, open: 0, end }));
    };
    if let Some(rows) = &field.rows {
        problem.c = principal(&problem.c, rows);
    }
    let branching = LimitBranching::new(&problem, roots, gap, left(), watch);
    let limits = Limits { work: left(), ..limits };
    let whole = |x: RowMat| field.rows.as_ref().map_or_else(|| x.clone(), |rows| lifted(&x, rows, f.nrows()));
    let improve = |sets: Option<&[Vec<usize>]>| {
        let x = sets.and_then(|sets| best_on(&problem, sets, Effort::Full)).map(|(_, x)| whole(x));
        offer(x) / scale
    };
    let mut outcome = search(&branching, LimitBranching::root(), field.most, limits, improve, known, watch);
    if field.rows.is_some() {
        outcome.most = outcome.most.max(cut); // X at or below the cutoff may have been screened out
    }
    outcome.most = (outcome.most * scale).next_up();
    outcome.nodes += field.nodes;
    Ok(Some(outcome))
}

/// X over n variables from X over some of them.
fn lifted(x: &RowMat, rows: &[usize], n: usize) -> RowMat {
    let mut out = RowMat::zeros(n, x.ncols());
    rows.iter().enumerate().for_each(|(a, i)| out.row_mut(*i).copy_from_slice(x.row(a)));
    out
}

/// The sets of rows that the tree searches.
struct Field {
    rows: Option<Vec<usize>>,      // the variables left, or all
    roots: Option<Vec<Vec<Part>>>, // over those; `None` where they are too many
    most: f64,                     // proved without the tree
    nodes: u64,                    // of trees for single columns
    is_bounded: bool,              // whether a relaxation has nothing to add to `most`
}

impl Field {
    /// All variables, with one root for each list.
    fn all(n: usize, lists: &[Vec<usize>]) -> Self {
        let root = |list: &Vec<usize>| list.iter().map(|k| Part::all(n, *k)).collect();
        Self {
            rows: None,
            roots: Some(lists.iter().map(root).collect()),
            most: f64::INFINITY,
            nodes: 0,
            is_bounded: false,
        }
    }

    /// The sets above `cut` that screening leaves.
    fn of(
        problem: &Problem,
        lists: &[Vec<usize>],
        cut: f64,
        limits: Limits,
        watch: &Watch<'_>,
        over: &(dyn Fn() -> bool + Sync),
    ) -> Self {
        let n = problem.c.nrows();
        let screens = lists.iter().flatten().any(|k| *k < n);
        match lists {
            [list] if problem.rank == 1 && list.len() == 1 => Self::of_one(problem, list[0], cut, over),
            [list] if screens && n * list.len() > FEW => {
                Self::of_several(problem, list, cut, limits, watch, over)
            }
            _ => Self::all(n, lists),
        }
    }

    /// One column: all rows left where they are few, else a root for each pivot.
    fn of_one(problem: &Problem, k: usize, cut: f64, over: &(dyn Fn() -> bool + Sync)) -> Self {
        let n = problem.c.nrows();
        let most = circles(problem, k);
        let Some(found) = screening::screened(problem, k, cut, VARIABLES, over) else {
            if is_small(n, 1) {
                return Self::all(n, &[vec![k]]);
            }
            return Self { rows: None, roots: None, most, nodes: 0, is_bounded: false };
        };
        let root = |(pivot, rows): &(usize, Vec<usize>)| {
            let place = |i: &usize| found.rows.partition_point(|j| j < i);
            vec![Part {
                k,
                rows: rows.iter().map(place).collect(),
                forced: rows.iter().map(|i| i == pivot).collect(),
            }]
        };
        let roots = match found.rows.len() {
            0 => return Self { rows: None, roots: None, most: cut.min(most), nodes: 0, is_bounded: true },
            left if is_small(left, 1) => vec![vec![Part::all(left, k)]],
            _ => found.pivots.iter().map(root).collect(),
        };
        Self { rows: Some(found.rows), roots: Some(roots), most, nodes: 0, is_bounded: false }
    }

    /// Several columns of too many variables: what they can have one by one, and the rows without which a column has too little
    /// beside the most that the others can have.
    fn of_several(
        problem: &Problem,
        list: &[usize],
        cut: f64,
        limits: Limits,
        watch: &Watch<'_>,
        over: &(dyn Fn() -> bool + Sync),
    ) -> Self {
        let mut alone: BTreeMap<usize, f64> = BTreeMap::new();
        let (mut nodes, mut is_bounded) = (0, true);
        for k in list {
            alone.entry(*k).or_insert_with(|| {
                let (most, count, by_tree) = best_alone(problem, *k, limits, watch, over);
                nodes += count;
                is_bounded &= by_tree;
                most
            });
        }
        let sum: f64 = list.iter().map(|k| alone[k]).sum();
        let size: f64 = list.iter().map(|k| alone[k].abs()).sum();
        let most = sum + gamma(list.len() + 4) * size;
        let none = |most| Self { rows: None, roots: None, most, nodes, is_bounded };
        let rest = |most| {
            let all = Self { most, nodes, ..Self::all(problem.c.nrows(), &[list.to_vec()]) };
            if is_small(problem.c.nrows(), list.len()) { all } else { none(most) }
        };
        if most <= cut {
            return none(most);
        }
        let room = VARIABLES / list.len();
        let left = |k: &usize| {
            let others = most - alone[k] + gamma(4) * (most.abs() + alone[k].abs());
            let own = cut - others - gamma(4) * (cut.abs() + others.abs());
            Some(screening::screened(problem, *k, own, room, over)?.rows)
        };
        let Some(each) = list.iter().map(left).collect::<Option<Vec<Vec<usize>>>>() else {
            return rest(most);
        };
        let mut rows: Vec<usize> = each.iter().flatten().copied().collect();
        rows.sort_unstable();
        rows.dedup();
        if each.iter().any(Vec::is_empty) {
            return none(most.min(cut));
        }
        if rows.len() > room {
            return rest(most);
        }
        let part = |(k, own): (&usize, &Vec<usize>)| {
            let places: Vec<usize> = own.iter().map(|i| rows.partition_point(|j| j < i)).collect();
            Part { k: *k, forced: vec![false; places.len()], rows: places }
        };
        let root = list.iter().zip(&each).map(part).collect();
        Self { rows: Some(rows), roots: Some(vec![root]), most, nodes, is_bounded }
    }
}

/// A bound of what one column of k rows can have, the nodes that took, and whether screening left the tree few enough rows.
fn best_alone(
    problem: &Problem,
    k: usize,
    limits: Limits,
    watch: &Watch<'_>,
    over: &(dyn Fn() -> bool + Sync),
) -> (f64, u64, bool) {
    let simple = circles(problem, k);
    // for X ≥ 0 and with prices it may be more than there is, which is as good a cutoff
    let Some((mut best, _)) = best_set(problem, k) else { return (simple, 0, false) };
    let cut = cutoff(best, limits.gap);
    let field = Field::of_one(problem, k, cut, over);
    let Some(roots) = field.roots else {
        return (field.most.max(cut).min(simple), 0, field.is_bounded);
    };
    let rows: Vec<usize> = field.rows.unwrap_or_else(|| (0..problem.c.nrows()).collect());
    let small = Problem { c: principal(&problem.c, &rows), ..problem.clone() };
    let quiet = watch.quiet();
    let branching = LimitBranching::new(&small, roots, limits.gap, u64::MAX, &quiet);
    let improve = |sets: Option<&[Vec<usize>]>| {
        let value = sets.and_then(|sets| best_on(&small, sets, Effort::Little)).map(|found| found.0);
        best = best.max(value.unwrap_or(f64::NEG_INFINITY));
        best
    };
    let known = quiet.last();
    let outcome = search(&branching, LimitBranching::root(), field.most, limits, improve, known, &quiet);
    (outcome.most.max(cut).min(simple), outcome.nodes, true)
}

/// Gershgorin: half the largest eigenvalue of k rows is at most half the largest sum over a row of its k − 1 largest
/// |Cᵢⱼ| and Cᵢᵢ.
fn circles(problem: &Problem, k: usize) -> f64 {
    let c = &problem.c;
    let most = (0..c.nrows()).map(|i| {
        let mut others: Vec<f64> = (0..c.ncols()).filter(|j| *j != i).map(|j| c.get(i, j).abs()).collect();
        let q = (k - 1).min(others.len());
        select_numbers(&mut others, q);
        others.truncate(q);
        sort_numbers_down(&mut others);
        let sum: f64 = others.iter().sum();
        0.5 * (c.get(i, i) + sum) + gamma(k + 8) * (c.get(i, i).abs() + sum)
    });
    (most.fold(f64::NEG_INFINITY, f64::max) - problem.lambda).next_up()
}

/// Supports to begin from: those of the incumbent, and of a search of the largest parts of C first.
fn starts(
    problem: &Problem,
    lists: &[Vec<usize>],
    incumbent: Option<&RowMat>,
    searched: bool,
    over: &dyn Fn() -> bool,
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
    if searched || problem.nonneg || (problem.lambda > 0.0 && incumbent.is_some()) {
        return out; // exchanges know neither signs nor prices
    }
    for list in lists {
        match list[..] {
            [k] => out.extend(best_set(problem, k).map(|(_, set)| vec![set])),
            _ => out.extend(deflated_sets(problem, list, over)),
        }
    }
    if !single {
        // a total has many lists: only the best of them is worth exchanges
        let value = |sets: &Vec<Vec<usize>>| {
            solution_on(problem, sets, Effort::Little).map_or(f64::NEG_INFINITY, |s| s.0)
        };
        let best = out.iter().map(value).enumerate().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        out.extend(
            best.and_then(|(k, _)| exchanged_columns(problem, out[k].clone(), over)).map(|(_, sets)| sets),
        );
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
