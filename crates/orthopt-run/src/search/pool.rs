//! Components of few variables found from many rows at once: how the search solves components anew. A component of few variables
//! among many is a clique of C; from a row that is not in it no method of small steps finds it.

use rand::RngExt;
use rand_pcg::Pcg64;

use orthopt_core::smooth::{Quadratic, together};
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::order::best_first;
use orthopt_linalg::work::count;

/// Products with a block of vectors after the columns of the rows themselves.
const POWERS: usize = 6;

/// A unit vector with few entries, and what it is worth: xᵀCx here.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) worth: f64,
    pub(super) entries: Vec<(usize, f64)>,
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
/// variables once. `None` if cancelled.
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
            // the first to come to a set of variables continues from there for the others too
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

/// True if no other walk has reached the variables of `v` before, after as many steps or fewer.
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
