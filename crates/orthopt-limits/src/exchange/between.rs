//! Two components at a time: a row changes hands, or a nonzero of the total does.

use super::component::leading;
use super::point::{Point, View, against};
use super::scan::{affordable, entering};
use crate::problem::CardinalityProblem;
use orthopt_core::problem::Cardinality;
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::cancel::is_over;
use orthopt_linalg::order::{best_first, descending};
use orthopt_linalg::work::count;

/// Entries and rows that k and l lose and gain; entries as their places, rows by their numbers.
#[derive(Clone, Copy, Debug)]
struct Double {
    k_out: Option<usize>,
    k_in: Option<usize>,
    l_out: usize,
    l_in: Option<usize>,
}

/// Entries of the other component, and free rows, that are examined for each pair.
const LOOKED: usize = 12;
/// Rows that may come in the place of the one that changed hands.
const REPLACEMENTS: usize = 2;

/// All components of a point, and the rows that each would like best.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    views: Vec<View>,
    free: Vec<Vec<usize>>,
}

impl Pairs {
    pub fn new<F: Quadratic>(p: &CardinalityProblem<F>, at: &Point) -> Self {
        let views: Vec<View> = (0..p.rank()).map(|k| View::new(p, at, k)).collect();
        let free = views.iter().map(|v| first(entering(p, at, v, true), LOOKED)).collect();
        Self { views, free }
    }

    /// Changes `at`, the point of these pairs, for the first other component for which an exchange with k lowers F.
    pub fn improve<F: Quadratic>(&self, p: &CardinalityProblem<F>, at: &mut Point, k: usize) -> bool {
        let Self { views, free } = self;
        (0..p.rank()).filter(|l| *l != k).any(|l| {
            let all = candidates(p, at, (&views[k], &views[l]), (&free[k], &free[l]));
            let all = best_first(all, |a| a.0);
            let most = affordable(views[k].rows.len().max(views[l].rows.len())) / 2;
            let some = all.iter().take(most).take_while(|_| !is_over());
            some.into_iter().any(|(_, double)| try_double(p, at, (&views[k], &views[l]), *double))
        })
    }
}

fn first(mut list: Vec<usize>, most: usize) -> Vec<usize> {
    list.truncate(most);
    list
}

/// Exchanges between k, which gains a row, and l, with what they promise.
fn candidates<F: Quadratic>(
    p: &CardinalityProblem<F>,
    at: &Point,
    (k, l): (&View, &View),
    (free_k, free_l): (&[usize], &[usize]),
) -> Vec<(f64, Double)> {
    let mut all = Vec::new();
    let mut add = |double: Double| {
        let enters = l.rows.get(double.l_out).copied();
        let lost = l.estimate(p, at, Some(double.l_out), double.l_in) - l.variance;
        let won = k.estimate(p, at, double.k_out, double.k_in.or(enters)) - k.variance;
        if lost > f64::NEG_INFINITY {
            all.push((won + lost, double));
        }
    };
    let cheapest = k.cheapest().first().copied();
    // the rows of l that k would like best
    let mut wanted: Vec<usize> = (0..l.rows.len()).filter(|b| at.x.get(l.rows[*b], k.k) == 0.0).collect();
    let gain = |b: usize| k.estimate(p, at, None, Some(l.rows[b])) + l.estimate(p, at, Some(b), None);
    descending(&mut wanted, &gain);
    for b in wanted.into_iter().take(LOOKED) {
        let enters = Some(l.rows[b]);
        let swapped = cheapest.map(|a| k.rows[a]).filter(|i| at.x.get(*i, l.k) == 0.0);
        let ins = free_l.iter().take(REPLACEMENTS).copied().chain(swapped);
        let room = at.room(p, k.k) > 0;
        for l_in in ins.map(Some).chain([None]) {
            let k_out = if room { None } else { cheapest };
            add(Double { k_out, k_in: enters, l_out: b, l_in });
        }
        if matches!(p.limits(), Cardinality::Total(_)) {
            add(Double { k_out: None, k_in: enters, l_out: b, l_in: None });
        }
    }
    if matches!(p.limits(), Cardinality::Total(_)) && l.rows.len() > 1 {
        for b in l.cheapest().into_iter().take(REPLACEMENTS) {
            for i in free_k.iter().take(LOOKED) {
                add(Double { k_out: None, k_in: Some(*i), l_out: b, l_in: None });
            }
        }
    }
    count(600 * all.len());
    all
}

/// Solves l, then k, on the rows that come of it; both stay as they are unless F falls.
fn try_double<F: Quadratic>(
    p: &CardinalityProblem<F>,
    at: &mut Point,
    (k, l): (&View, &View),
    double: Double,
) -> bool {
    let (c, rows, warm) = l.exchanged(p, at, Some(double.l_out), double.l_in);
    if rows.is_empty() {
        return false;
    }
    let nonneg = p.requires_nonneg();
    let of_l = leading(&c, &against(&at.x, &rows, &[k.k, l.k]), Some(&warm), nonneg);
    let Some((variance_l, v)) = of_l else { return false };
    let (c, k_rows, warm) = k.exchanged(p, at, double.k_out, double.k_in);
    let mut others = against(&at.x, &k_rows, &[k.k, l.k]);
    let place = |i: &usize| rows.iter().position(|j| j == i).map_or(0.0, |a| v[a]);
    let new: Vec<f64> = k_rows.iter().map(place).collect();
    if new.iter().any(|e| *e != 0.0) {
        others.push(new);
    }
    let Some((variance_k, w)) = leading(&c, &others, Some(&warm), nonneg) else { return false };
    let nonzeros = |list: &[f64]| list.iter().filter(|e| **e != 0.0).count() as f64;
    let before = (k.variance + l.variance, (k.rows.len() + l.rows.len()) as f64);
    let after = (variance_l + variance_k, nonzeros(&v) + nonzeros(&w));
    if !at.gains(before, after, p.lambda()) {
        return false;
    }
    at.replace(&p.f, l.k, &rows, &v);
    at.replace(&p.f, k.k, &k_rows, &w);
    true
}
