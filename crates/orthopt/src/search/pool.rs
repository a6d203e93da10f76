//! Components found from many rows at once, and the best of them that share no variable: a start, and how the
//! search solves components anew. A component of few variables among many is a clique of C; from a row that is not in
//! it no method of small steps finds it.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::Tuning;
use crate::cancel::Cancel;
use crate::linalg::RowMat;
use crate::linalg::order::best_first;
use crate::linalg::work::count;
use crate::problem::CardinalityProblem;
use crate::smooth::{Quadratic, together};
use crate::solvers::exchange::rounded;

const T: Tuning = Tuning::DEFAULT;
/// Rows that a start looks from.
const ROWS: usize = 8 * T.candidates;
/// Products with a block of vectors after the columns of the rows themselves.
const POWERS: usize = 6;

/// A unit vector with few entries, and what it is worth: xᵀCx here.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) worth: f64,
    pub(super) entries: Vec<(usize, f64)>,
}

impl Found {
    fn meets(&self, taken: &[bool]) -> bool {
        self.entries.iter().any(|(i, _)| taken[*i])
    }
}

/// r components from up to 512 rows drawn at random, those with the most variance that share no variable. `None`
/// where the data are zero, or nobody waits any more. Cost some 4,000 products with vectors.
pub fn pooled<F: Quadratic>(p: &CardinalityProblem<F>, seed: u64, cancel: &Cancel) -> Option<RowMat> {
    let mut rng = Pcg64::seed_from_u64(seed ^ 0x504f_4f4c);
    let (n, r) = (p.nrows(), p.rank());
    let sizes = p.limits().shares(r);
    let rows = drawn(n, ROWS, |_| true, &mut rng);
    let mut pools: Vec<(usize, Vec<Found>)> = Vec::new(); // one for each size
    for size in &sizes {
        if pools.iter().all(|pool| pool.0 != *size) {
            pools.push((*size, components((&p.f, p.requires_nonneg()), &rows, &|_| true, *size, cancel)?));
        }
    }
    let pool = |k: usize| pools.iter().find(|pool| pool.0 == sizes[k]).map_or(&[][..], |pool| &pool.1[..]);
    rounded(p, &apart(n, r, &pool)?)
}

/// Components that share no variable, one of every pool (best first), as columns: of the sets that begin with one of the
/// first 64 and always take the best that fits, the best. Columns for which none is left are zero.
pub(super) fn apart<'a>(n: usize, r: usize, pool: &dyn Fn(usize) -> &'a [Found]) -> Option<RowMat> {
    let mut best: Option<(f64, Vec<&Found>)> = None;
    for first in pool(0).iter().take(T.candidates) {
        let mut taken = vec![false; n];
        let (mut set, mut total) = (vec![first], first.worth);
        first.entries.iter().for_each(|(i, _)| taken[*i] = true);
        for k in 1..r {
            let Some(next) = pool(k).iter().find(|found| !found.meets(&taken)) else { break };
            next.entries.iter().for_each(|(i, _)| taken[*i] = true);
            total += next.worth;
            set.push(next);
        }
        if best.as_ref().is_none_or(|(most, chosen)| {
            set.len() > chosen.len() || (set.len() == chosen.len() && total > *most)
        }) {
            best = Some((total, set));
        }
    }
    let mut x = RowMat::zeros(n, r);
    for (k, found) in best?.1.into_iter().enumerate() {
        found.entries.iter().for_each(|(i, v)| x.set(*i, k, *v));
    }
    Some(x)
}

/// Whether the rows that a start looks from are drawn: few enough are all taken.
pub fn pool_is_drawn(n: usize) -> bool {
    n > ROWS
}

/// At most so many of the rows that are `allowed`, at random.
pub(super) fn drawn(n: usize, most: usize, allowed: impl Fn(usize) -> bool, rng: &mut Pcg64) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..n).filter(|i| allowed(*i)).collect();
    let most = most.min(rows.len());
    let len = rows.len();
    (0..most).for_each(|k| rows.swap(k, rng.random_range(k..len)));
    rows.truncate(most);
    rows
}

/// Components with `size` entries on the rows that are `allowed`, from each of the rows of `seeds`: its column of C, cut to
/// the largest entries, then truncated power iterations. The one with the most variance first, each set of
/// variables once. `None` where nobody waits any more.
pub(super) fn components<F: Quadratic>(
    (f, nonneg): (&F, bool),
    seeds: &[usize],
    allowed: &dyn Fn(usize) -> bool,
    size: usize,
    cancel: &Cancel,
) -> Option<Vec<Found>> {
    let n = f.nrows();
    let mut all: Vec<Found> = Vec::new();
    let mut visited = Visited::new();
    for block in seeds.chunks(together(n)) {
        let mut from = block.to_vec();
        let mut v: Vec<Vec<(usize, f64)>> = block.iter().map(|i| vec![(*i, 1.0)]).collect();
        let mut variances = vec![0.0; block.len()];
        for step in 0..=POWERS {
            if cancel.is_over() {
                return None;
            }
            if v.is_empty() {
                break; // all have met others
            }
            let w = f.apply_few(&v); // −CV
            for (k, variance) in variances.iter_mut().enumerate() {
                *variance = -v[k].iter().map(|(i, x)| x * w.get(k, *i)).sum::<f64>();
            }
            for (k, v) in v.iter_mut().enumerate() {
                let w = w.row(k);
                let entry = |i: usize| -w[i];
                let of = |i: &usize| if nonneg { entry(*i).max(0.0) } else { entry(*i) };
                let mut rows: Vec<usize> = (0..n).filter(|i| allowed(*i) && of(i) != 0.0).collect();
                if rows.len() > size {
                    rows.select_nth_unstable_by(size - 1, |a, b| {
                        of(b).abs().total_cmp(&of(a).abs()).then(a.cmp(b))
                    });
                    rows.truncate(size);
                }
                let length = rows.iter().map(|i| of(i).powi(2)).sum::<f64>().sqrt();
                rows.sort_unstable();
                rows.retain(|_| length > 0.0 && length.is_finite());
                *v = rows.iter().map(|i| (*i, of(i) / length)).collect();
            }
            count(4 * n * v.len());
            // the first to come to a set of variables goes on from there for the others too
            let stay: Vec<bool> =
                v.iter().zip(&from).map(|(v, i)| is_first(&mut visited, v, (*i, step))).collect();
            keep(&mut v, &stay);
            keep(&mut from, &stay);
            keep(&mut variances, &stay);
        }
        // the variance is that of the vectors before the last product; theirs is not below it where C >= 0
        let found = variances.into_iter().zip(v).filter(|(_, entries)| !entries.is_empty());
        all.extend(found.map(|(worth, entries)| Found { worth, entries }));
    }
    Some(ranked(all))
}

/// Who has come to a set of variables, from which row, and after how many steps.
type Visited = std::collections::BTreeMap<Vec<usize>, (usize, usize)>;

/// Whether nobody else has come to the variables of `v` before, after as many steps or fewer.
fn is_first(visited: &mut Visited, v: &[(usize, f64)], own: (usize, usize)) -> bool {
    let entry = visited.entry(v.iter().map(|e| e.0).collect()).or_insert(own);
    if entry.1 > own.1 {
        *entry = own;
    }
    entry.0 == own.0
}

/// Those that stay.
fn keep<T>(all: &mut Vec<T>, stay: &[bool]) {
    let mut stay = stay.iter();
    all.retain(|_| stay.next().is_some_and(|s| *s));
}

/// The best first, each set of variables once.
pub(super) fn ranked(all: Vec<Found>) -> Vec<Found> {
    let mut all = best_first(all, |found| found.worth);
    let mut seen: std::collections::BTreeSet<Vec<usize>> = std::collections::BTreeSet::new();
    all.retain(|found| seen.insert(found.entries.iter().map(|e| e.0).collect()));
    all
}
