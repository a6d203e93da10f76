//! Bounds that prove for adjusted and polar variance under limits of nonzeros (docs/bounds-adjusted.md).
//!
//! ```text
//! Σⱼ (qⱼ'tⱼ)² ≤ tr M + v₁(S₁) + Σ_{j ≥ 2} v₂(Sⱼ)      for every M ⪰ 0, tⱼ = Axⱼ, C = A'A
//! v₁(S) = λ₁(C_SS − A_S'MA_S/β),  β ≥ λ₁(C_SS);       v₂(S) = λ₁(A_S A_S' − M)
//! ```
//!
//! Each column is a problem of its own beside a common multiplier M, so that supports leave the list of a column one by one.
//! [`multiplier`] says what M proves, [`relaxed`] finds M, [`tree`] splits on a row of a column, [`leaf`] bounds known supports.

mod descent;
mod kernel;
mod leaf;
mod multiplier;
mod record;
mod relaxed;
mod supports;
#[cfg(test)]
pub(super) mod tests;
mod tree;

use std::sync::Arc;

use super::tree::{Limits, cutoff, search};
use super::types::{End, Progress, Show, Watch};
use multiplier::{Form, own_variances};
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::unit::power_of_two;
use orthopt_linalg::{RowMat, work};
pub(crate) use record::{Cell, Leaf, Record};
use supports::{List, binomial};
use tree::SupportBranching;

/// Supports of all lists together, at most.
const SUPPORTS: usize = 1_000_000;
/// Work of the eigenvalues and eigenvectors of an n × n matrix, over n³.
const DECOMPOSED: u64 = 8;
/// Supports from which on a limit of time or work may come before anything is proved of the lists.
const LONG: usize = 60_000;
/// Ways to divide a total, at most.
const WAYS: usize = 60;
/// Share of the tolerance at which a node is closed; the rest is for the rounding of what is reported.
const SHARE: f64 = 0.5;
/// Slack of the order of variances, which is to rounding.
const ORDER: f64 = 1e-11;

/// The problem.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// C ⪰ 0.
    pub c: &'a RowMat,
    /// Numbers of nonzeros of the columns, one list for each way to divide a total. Where the first column has a term of its own
    /// it is in front.
    pub counts: Vec<Vec<usize>>,
    /// True if the first column is the first of Gram and Schmidt: adjusted variance. Else polar.
    pub has_order: bool,
    /// True if that is the one with the largest variance.
    pub own_order: bool,
    /// The incumbent, its columns in that order.
    pub x: &'a RowMat,
    /// Value of the incumbent, in the unit of C.
    pub known: f64,
    /// X at most this share better does not count.
    pub tolerance: f64,
    /// Work, at most.
    pub work: Option<u64>,
    /// True if the parts of the proof are kept.
    pub keeps: bool,
}

/// The proof.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// No X has more, in the unit of C.
    pub most: f64,
    /// No X with other supports than these has more than `elsewhere`; `most` is of them.
    pub supports: Option<Vec<Vec<usize>>>,
    /// Value of the best X known plus half of the tolerance.
    pub elsewhere: f64,
    /// Nodes done.
    pub nodes: u64,
    /// Nodes left open.
    pub open: u64,
    /// Reason why it ended.
    pub end: End,
    /// The parts of the proof.
    pub record: Option<Record>,
}

/// The ways to give numbers of nonzeros to r columns where a total is limited, each from 1 to `most`: the first one in front, the
/// others in descending order; all in descending order where none is in front.
pub fn ways(total: usize, r: usize, most: usize, has_order: bool) -> Option<Vec<Vec<usize>>> {
    fn extend(
        list: &mut Vec<usize>,
        left: usize,
        (r, most, free): (usize, usize, bool),
        out: &mut Vec<Vec<usize>>,
    ) {
        if out.len() > WAYS {
            return;
        }
        if list.len() == r {
            if left == 0 {
                out.push(list.clone());
            }
            return;
        }
        let others = r - list.len() - 1;
        let ceiling = match list.last() {
            Some(last) if !(free && list.len() == 1) => (*last).min(most),
            _ => most,
        };
        for k in (1..=ceiling.min(left.saturating_sub(others))).rev() {
            list.push(k);
            extend(list, left - k, (r, most, free), out);
            list.pop();
        }
    }
    let mut out = Vec::new();
    extend(&mut Vec::new(), total.min(r * most), (r, most, has_order), &mut out);
    (!out.is_empty() && out.len() <= WAYS).then_some(out)
}

/// The number of supports of n rows in all lists, as far as it is a number.
fn supports_of(n: usize, counts: &[Vec<usize>]) -> usize {
    let mut sizes: Vec<usize> = counts.iter().flatten().map(|k| *k.min(&n)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes.iter().map(|k| binomial(n, *k)).fold(0usize, usize::saturating_add)
}

/// True if a proof over these lists may be cut off before it has any bound.
pub fn lists_are_long(n: usize, counts: &[Vec<usize>]) -> bool {
    supports_of(n, counts) > LONG
}

/// True if all supports of these numbers of n rows are listed.
pub fn applies(n: usize, counts: &[Vec<usize>]) -> bool {
    let lists = supports_of(n, counts);
    n <= usize::from(u16::MAX) && lists <= SUPPORTS && counts.iter().all(|list| list.len() >= 2)
}

/// Work of the eigenvalues of C and of the variances of all supports of the columns that are first, which come before anything else.
pub fn least_work(n: usize, counts: &[Vec<usize>], has_order: bool) -> u64 {
    let of = |counts: &Vec<usize>| {
        let k = counts[0].min(n);
        binomial(n, k).saturating_mul(multiplier::rotated(k)) as u64
    };
    let variances = if has_order { counts.iter().map(of).max().unwrap_or(0) } else { 0 };
    variances.saturating_add(DECOMPOSED * (n as u64).pow(3))
}

/// A proof of the supports within the time of `cancel`, where `known` is proved of F before; `show` sees nodes.
pub fn supports_proved(
    request: &Request<'_>,
    climb: impl FnMut(&[Vec<usize>]) -> f64,
    known: Progress,
    nodes: u64,
    cancel: &Cancel,
    show: Show<'_>,
) -> Option<Outcome> {
    let shown = |now: &Progress| show(&Progress { bound: known.bound, incumbent: known.incumbent, ..*now });
    let watch = Watch::new(cancel.clone(), &shown);
    cancel.during(|| prove(request, climb, known, nodes, &watch))
}

/// A bound by branch and bound. `climb` finds an X on given supports and returns the most that is known, in the unit of C. `None`
/// where lists are too long, nothing is known, or C is not finite.
pub(crate) fn prove(
    request: &Request<'_>,
    mut climb: impl FnMut(&[Vec<usize>]) -> f64,
    known: Progress,
    nodes: u64,
    watch: &Watch<'_>,
) -> Option<Outcome> {
    let (n, r) = (request.c.nrows(), request.x.ncols());
    let is_known = request.known.is_finite() && request.known > 0.0;
    if !is_known
        || !applies(n, &request.counts)
        || request.work.is_some_and(|most| least_work(n, &request.counts, request.has_order) > most)
    {
        return None;
    }
    let begun = work::so_far();
    let unit = power_of_two(request.known / r as f64);
    let one = request.known / r as f64 / unit;
    let c = RowMat::from_fn(n, n, |i, j| request.c.get(i, j) / unit);
    let form = Form::new(c)?;
    let gap = SHARE * request.tolerance;
    let mut best = request.known / unit;
    let roots = roots(&form, request, cutoff(best, gap), &|| watch.is_over())?;
    let start = tree::start(&form, request.x);
    let spent = work::so_far() - begun;
    let allowance = request.work.map_or(u64::MAX, |most| most.saturating_sub(spent));
    let heads = usize::from(request.has_order);
    let own = request.has_order && request.own_order;
    let visits = request.keeps.then(record::Visits::default);
    let branching = SupportBranching::new(&form, roots, start, (heads, own), one, visits);
    // the bound of the other nodes says nothing of supports that are left
    let quiet = watch.quiet();
    let limits = Limits { nodes, work: allowance, gap, scale: unit };
    let improve = |sets: Option<&[Vec<usize>]>| {
        if let Some(sets) = sets {
            best = best.max(climb(sets) / unit);
        }
        best
    };
    let found = search(&branching, SupportBranching::root(), f64::INFINITY, limits, improve, known, &quiet);
    let cut = cutoff(best, gap);
    let (open, visits) = branching.open(cut);
    let record = visits.map(|visits| Record {
        unit,
        cutoff: cut,
        counts: request.counts.iter().map(|list| list.iter().map(|k| *k.min(&n)).collect()).collect(),
        visits: visits.all(&form),
    });
    let left = open.iter().map(|open| open.most).fold(cut, f64::max);
    let most = (found.most.max(left) * unit).next_up();
    let end = quiet.ask(known).filter(|end| *end == End::Interrupted).unwrap_or(found.end);
    let closed = end == End::Finished && found.most <= cut;
    let supports = closed.then(|| same(&open)).flatten();
    let elsewhere = (cut * unit).next_up();
    Some(Outcome {
        most,
        supports,
        elsewhere,
        nodes: found.nodes,
        open: found.open + open.len() as u64,
        end,
        record,
    })
}

/// The supports of all that is open, where they are the same.
fn same(open: &[tree::Open]) -> Option<Vec<Vec<usize>>> {
    let sorted = |open: &tree::Open| {
        let mut sets = open.sets.clone();
        sets.sort();
        sets
    };
    let first = sorted(open.first()?);
    open.iter().all(|other| sorted(other) == first).then_some(first)
}

/// The lists of all columns, once for each way. A first column with the largest variance has at least its share.
fn roots(
    form: &Form,
    request: &Request<'_>,
    cut: f64,
    over: &(dyn Fn() -> bool + Sync),
) -> Option<Vec<Vec<Arc<List>>>> {
    let n = form.n();
    let mut made: Vec<Arc<List>> = Vec::new();
    let mut whole = |k: usize| match made.iter().find(|list| list.size == k) {
        Some(list) => Arc::clone(list),
        None => {
            made.push(Arc::new(List::all(n, k)));
            Arc::clone(&made[made.len() - 1])
        }
    };
    let mut firsts: Vec<(usize, Arc<List>)> = Vec::new();
    let mut all = Vec::new();
    for counts in &request.counts {
        let mut lists: Vec<Arc<List>> = counts.iter().map(|k| whole((*k).min(n))).collect();
        if request.has_order {
            let k = lists[0].size;
            let first = match firsts.iter().find(|(size, _)| *size == k) {
                Some((_, list)) => Arc::clone(list),
                None => {
                    let least = if request.own_order {
                        cut / counts.len() as f64 * (1.0 - ORDER)
                    } else {
                        f64::NEG_INFINITY
                    };
                    let own = own_variances(form, &lists[0], over)?;
                    let mut list = lists[0].kept(|s| own[s] > least);
                    list.own = own.into_iter().filter(|own| *own > least).collect();
                    firsts.push((k, Arc::new(list)));
                    Arc::clone(&firsts[firsts.len() - 1].1)
                }
            };
            lists[0] = first;
        }
        all.push(lists);
    }
    Some(all)
}
