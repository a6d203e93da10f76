//! One component after the other: its entries exchanged, added or dropped, and itself solved exactly on what rows
//! come of it, the others fixed.

use super::component::leading;
use super::point::{Point, View, against};
use crate::problem::CardinalityProblem;
use orthopt_core::problem::Cardinality;
use orthopt_core::smooth::{Quadratic, together};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::{Cancel, is_over};
use orthopt_linalg::order::{best_first, largest_first};
use orthopt_linalg::work::count;

/// A component that lowers F.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub rows: Vec<usize>,
    pub v: Vec<f64>,
}

/// Entries that may leave, and rows that may enter, of a component: so many are compared with each other.
const OUTS: usize = 24;
const INS: usize = 48;
/// Exchanges that are solved exactly are fewer where components are long: this many by their length, within limits.
const EXACT: (usize, usize, usize) = (2000, 4, 30);
/// Number of exchanges that are solved exactly for a component of s entries.
pub(super) fn affordable(s: usize) -> usize {
    (EXACT.0 / s.max(1)).clamp(EXACT.1, EXACT.2)
}

/// A change of component k that lowers F: the component solved anew on its rows, or the first exchange, in the order of
/// the estimates, that lowers it.
pub(super) fn improve<F: Quadratic>(p: &CardinalityProblem<F>, at: &Point, k: usize) -> Option<Change> {
    let view = View::new(p, at, k);
    let most = affordable(view.rows.len());
    let mut candidates = vec![(None, None)];
    candidates.extend(ordered(p, at, &view, true).into_iter().take(most));
    if !p.requires_nonneg() {
        candidates.extend(ordered(p, at, &view, false).into_iter().take(most / 2));
    }
    let waits = |_: &Exchange| !is_over();
    candidates.into_iter().take_while(waits).find_map(|(out, enter)| solved(p, at, &view, out, enter))
}

/// An entry that leaves, as its place, and a row that enters.
type Exchange = (Option<usize>, Option<usize>);

/// Exchanges with rows that no component has (`free`) or that others have, the most promising first.
fn ordered<F: Quadratic>(p: &CardinalityProblem<F>, at: &Point, view: &View, free: bool) -> Vec<Exchange> {
    let mut ins = entering(p, at, view, free);
    ins.truncate(INS.max(view.rows.len().min(2 * INS)));
    let mut outs: Vec<Option<usize>> = view.cheapest().into_iter().take(OUTS).map(Some).collect();
    if at.room(p, view.k) > 0 {
        outs.insert(0, None);
    }
    let (lambda, mut all) = (p.lambda(), Vec::new());
    let mut add = |out: Option<usize>, enter: Option<usize>| {
        let cost = lambda * (usize::from(enter.is_some()) as f64 - usize::from(out.is_some()) as f64);
        let gain = 0.5 * (view.estimate(p, at, out, enter) - view.variance) - cost;
        all.push((gain, (out, enter)));
    };
    for out in &outs {
        ins.iter().for_each(|i| add(*out, Some(*i)));
        if free && lambda > 0.0 && out.is_some() && view.rows.len() > 1 {
            add(*out, None);
        }
    }
    count(300 * all.len());
    best_first(all, |e| e.0).into_iter().map(|e| e.1).collect()
}

/// Rows that the component does not have, in the order of what it gains by them without losing one.
pub(super) fn entering<F: Quadratic>(
    p: &CardinalityProblem<F>,
    at: &Point,
    view: &View,
    free: bool,
) -> Vec<usize> {
    let n = at.x.nrows();
    count(300 * n);
    let fits =
        |i: &usize| at.x.get(*i, view.k) == 0.0 && at.is_free(*i) == free && (free || view.can_share(at, *i));
    let mut ins: Vec<(f64, usize)> =
        (0..n).filter(fits).map(|i| (view.estimate(p, at, None, Some(i)), i)).collect();
    largest_first(&mut ins);
    ins.truncate(4 * INS);
    ins.into_iter().map(|e| e.1).collect()
}

/// Rows that no component has and that lower F in the place of one of its entries, or beside them, those that promise most first. Every
/// such row is compared with every entry of every component; those whose estimate lowers F are solved exactly. Where all components
/// share their rows none is searched for. Cost: the rows of C that X has, and O(n) for each of its nonzeros.
pub fn entrants<F: Quadratic>(p: &CardinalityProblem<F>, x: &RowMat, cancel: &Cancel) -> Vec<usize> {
    if matches!(p.limits(), Cardinality::Rows(_)) {
        return Vec::new();
    }
    let (n, r) = (p.nrows(), p.rank());
    let at = Point::new(&p.f, x.clone());
    let free: Vec<usize> = (0..n).filter(|i| at.is_free(*i)).collect();
    let mut found: Vec<(f64, usize)> = Vec::new();
    for k in 0..r {
        let view = View::new(p, &at, k);
        let gain = |out: Option<(usize, f64)>, i: usize| {
            let more = if out.is_none() { p.lambda() } else { 0.0 };
            0.5 * (view.entering(p, &at, out, i) - view.variance) - more
        };
        let room = at.room(p, k) > 0;
        let none = |i: &usize| if room { gain(None, *i) } else { f64::NEG_INFINITY };
        let mut best: Vec<(f64, Option<usize>)> = free.iter().map(|i| (none(i), None)).collect();
        let places: Vec<usize> = (0..view.rows.len()).collect();
        for some in places.chunks(together(n)) {
            if cancel.is_over() {
                return Vec::new();
            }
            let units: Vec<_> = some.iter().map(|a| vec![(view.rows[*a], 1.0)]).collect();
            let columns = p.f.apply_few(&units);
            for (c, a) in some.iter().enumerate() {
                for (i, best) in free.iter().zip(&mut best) {
                    let own = gain(Some((*a, columns.get(c, *i))), *i);
                    if own > best.0 {
                        *best = (own, Some(*a));
                    }
                }
            }
        }
        let promising = free.iter().zip(best).filter(|(_, (gain, _))| *gain > 0.0);
        let exact = promising.filter(|(i, (_, out))| solved(p, &at, &view, *out, Some(**i)).is_some());
        found.extend(exact.map(|(i, (gain, _))| (gain, *i)));
    }
    largest_first(&mut found);
    let mut seen = vec![false; n];
    found.into_iter().map(|e| e.1).filter(|i| !std::mem::replace(&mut seen[*i], true)).collect()
}

/// The component after an exchange, if F is lower then.
fn solved<F: Quadratic>(
    p: &CardinalityProblem<F>,
    at: &Point,
    view: &View,
    out: Option<usize>,
    enter: Option<usize>,
) -> Option<Change> {
    let (c, rows, warm) = view.exchanged(p, at, out, enter);
    if rows.is_empty() {
        return None;
    }
    let (variance, v) = leading(&c, &against(&at.x, &rows, &[view.k]), Some(&warm), p.requires_nonneg())?;
    let nonzeros = v.iter().filter(|e| **e != 0.0).count() as f64;
    let before = (view.variance, view.rows.len() as f64);
    at.gains(before, (variance, nonzeros), p.lambda()).then_some(Change { rows, v })
}
