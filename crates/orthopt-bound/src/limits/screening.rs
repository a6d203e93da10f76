//! Rows that no better set has, found without a matrix decomposition (docs/bounds-limits.md, section 2).
//!
//! Let S be a set of at most k rows on which the largest eigenvalue θ of C is above θ₀, and B the matrix |C| with the diagonal
//! of C (for X ≥ 0 the positive part of C off the diagonal). The largest eigenvalue of B_SS is at least θ, with an
//! eigenvector x ≥ 0 whose largest entry is 1, at the *pivot*:
//!
//! ```text
//! (θ − Cᵢᵢ) xᵢ = Σ_{l ∈ S∖i} Bᵢₗ xₗ ≤ top_{k−1}(Bᵢₗ yₗ : l ≠ i)      for any y ≥ x, for all i ∈ S
//! ```
//!
//! so that y shrinks from 1 on, and rows where it falls below 1 are no pivots. For each pivot p the same inequalities on the
//! rows that may stand beside it bound xⱼ from above, and the one of p, θ − Cₚₚ ≤ Σ Bₚₗxₗ, bounds it from below: rows
//! where the two contradict each other leave.

use super::super::certified::gamma;
use super::dual::Problem;
use orthopt_linalg::order::{select_numbers, sort_numbers_down};
use orthopt_linalg::parallel::map_items;
use orthopt_linalg::work;

/// Rounds of the inequalities over all rows, and over the rows beside a pivot, at most.
const ROUNDS: usize = 60;
/// A round that lowers no bound by more than this is the last.
const SETTLED: f64 = 1e-4;
/// Entries of a row that are examined one by one: so many times k, the others by the largest of them.
const KEPT: usize = 4;

/// Work of an entry that is compared.
const PASS: usize = 30;

/// The rows that a better set may have.
#[derive(Debug)]
pub struct Screened {
    /// All of them, ascending.
    pub rows: Vec<usize>,
    /// Pivots, and the rows that may stand beside each of them, ascending, itself among them.
    pub pivots: Vec<(usize, Vec<usize>)>,
}

/// Work of the first round for n variables: the entries of C, sorted in part.
pub fn first_work(n: usize) -> usize {
    PASS * n * n
}

/// The rows of the sets of at most k rows that have a value above `cutoff`: half the largest eigenvalue of C, less the price.
/// `None` where that is no help: more than `most` rows beside a pivot, or `over`.
pub fn screened(
    problem: &Problem,
    k: usize,
    cutoff: f64,
    most: usize,
    over: &(dyn Fn() -> bool + Sync),
) -> Option<Screened> {
    let least = 2.0 * (cutoff + problem.lambda) * (1.0 - f64::EPSILON); // the set has a row, which has its price
    if problem.rank != 1 || k < 2 || least.is_nan() || least <= 0.0 {
        return None;
    }
    let sums = Sums { problem, k, least, up: 1.0 + gamma(k + 16) };
    let y = sums.everywhere(over)?;
    let pivots: Vec<usize> = (0..y.len()).filter(|i| y[*i] >= 1.0).collect();
    work::count(first_work(problem.c.nrows()) + 2 * PASS * pivots.len() * problem.c.nrows());
    let beside =
        map_items(pivots, 1, |_, p| if over() { None } else { Some((p, sums.beside(p, &y, most)?)) });
    let pivots: Vec<(usize, Vec<usize>)> = beside.into_iter().collect::<Option<Vec<_>>>()?;
    let pivots: Vec<(usize, Vec<usize>)> = pivots.into_iter().filter(|(_, rows)| !rows.is_empty()).collect();
    let mut rows: Vec<usize> = pivots.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
    rows.sort_unstable();
    rows.dedup();
    Some(Screened { rows, pivots })
}

/// The inequalities.
struct Sums<'a> {
    problem: &'a Problem,
    k: usize,
    least: f64, // θ₀
    up: f64,    // covers the rounding of a sum of k products and of a division
}

impl Sums<'_> {
    /// Bᵢⱼ, i ≠ j.
    fn entry(&self, i: usize, j: usize) -> f64 {
        let c = self.problem.c.get(i, j);
        if self.problem.nonneg { c.max(0.0) } else { c.abs() }
    }

    /// θ₀ − Cᵢᵢ, rounded down.
    fn room(&self, i: usize) -> f64 {
        let own = self.problem.c.get(i, i);
        (self.least - own) - f64::EPSILON * (self.least + own.abs())
    }

    /// Upper bounds of x, whatever the set.
    fn everywhere(&self, over: &dyn Fn() -> bool) -> Option<Vec<f64>> {
        let n = self.problem.c.nrows();
        let kept = (KEPT * self.k).max(64).min(n - 1);
        // the largest entries of each row, and the largest of the others
        let lists: Vec<(Vec<(usize, f64)>, f64)> = map_items((0..n).collect(), 1, |_, i: usize| {
            let mut list: Vec<(usize, f64)> =
                (0..n).filter(|j| *j != i).map(|j| (j, self.entry(i, j))).collect();
            if kept < list.len() {
                list.select_nth_unstable_by(kept, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            }
            let rest = list.get(kept).map_or(0.0, |(_, value)| *value);
            list.truncate(kept);
            (list, rest)
        });
        let mut y = vec![1.0; n];
        for _ in 0..ROUNDS {
            if over() {
                return None;
            }
            let next = map_items((0..n).collect(), 1, |_, i: usize| {
                let (list, rest) = &lists[i];
                let mut products: Vec<f64> =
                    list.iter().map(|(j, value)| (value * y[*j]).max(*rest)).collect();
                self.upper(i, top(&mut products, self.k - 1)).min(y[i])
            });
            let change = y.iter().zip(&next).map(|(a, b)| a - b).fold(0.0, f64::max);
            y = next;
            if change <= SETTLED {
                break;
            }
        }
        Some(y)
    }

    /// The bound of xᵢ from that of Σ Bᵢₗxₗ.
    fn upper(&self, i: usize, sum: f64) -> f64 {
        let room = self.room(i);
        if room > 0.0 { sum / room * self.up } else { f64::INFINITY }
    }

    /// The rows that may stand beside pivot p, and p; none where it is no pivot, `None` where they are more than `most`.
    fn beside(&self, p: usize, y: &[f64], most: usize) -> Option<Vec<usize>> {
        let room = self.room(p);
        let mut rows: Vec<usize> = (0..y.len()).filter(|j| *j != p).collect();
        let mut y: Vec<f64> = rows.iter().map(|j| y[*j]).collect();
        for round in 0..ROUNDS {
            // of xⱼ from below: the others give Σ Bₚₗxₗ at most what the largest k − 2 of them can
            let products: Vec<f64> = rows.iter().zip(&y).map(|(j, y)| self.entry(p, *j) * y).collect();
            let mut sorted = products.clone();
            let all = top(&mut sorted, self.k - 1) * self.up;
            if all <= room {
                return Some(Vec::new());
            }
            let last = sorted.iter().take(self.k - 1).copied().fold(f64::INFINITY, f64::min);
            let last = if rows.len() < self.k - 1 { 0.0 } else { last };
            let fits = |a: &usize| {
                // with row a in the place of the last of those
                products[*a] >= last || (all + (products[*a] - last)) * self.up > room
            };
            let mut kept: Vec<usize> = (0..rows.len()).filter(fits).collect();
            if round == 0 && kept.len() > most {
                return None;
            }
            // from above, among the rows that are left
            let above: Vec<f64> = kept
                .iter()
                .map(|a| {
                    let others = kept.iter().filter(|b| *b != a);
                    let mut sums: Vec<f64> = others.map(|b| self.entry(rows[*a], rows[*b]) * y[*b]).collect();
                    let sum = top(&mut sums, self.k.saturating_sub(2)) + self.entry(rows[*a], p);
                    self.upper(rows[*a], sum).min(y[*a])
                })
                .collect();
            let change = kept.iter().zip(&above).map(|(a, above)| y[*a] - above).fold(0.0, f64::max);
            let settled = kept.len() == rows.len() && change <= SETTLED;
            let next: Vec<(usize, f64)> = kept.drain(..).map(|a| rows[a]).zip(above).collect();
            (rows, y) = next.into_iter().unzip();
            if settled {
                break;
            }
        }
        let place = rows.partition_point(|j| *j < p);
        rows.insert(place, p);
        Some(rows)
    }
}

/// The sum of the q largest of the numbers, none of them negative; they come first afterwards.
fn top(numbers: &mut [f64], q: usize) -> f64 {
    if q == 0 {
        return 0.0;
    }
    select_numbers(numbers, q);
    // in an order that no selection decides
    let count = q.min(numbers.len());
    let largest = &mut numbers[..count];
    sort_numbers_down(largest);
    largest.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::covariance::principal;
    use orthopt_linalg::RowMat;
    use orthopt_linalg::eigen::symmetric_eigenvalues;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// Half the largest eigenvalue on a set, less the price; for X ≥ 0 only of sets with an eigenvector of one sign.
    fn value(problem: &Problem, set: &[usize]) -> f64 {
        let block = principal(&problem.c, set);
        let price = problem.lambda * set.len() as f64;
        if !problem.nonneg {
            return 0.5 * symmetric_eigenvalues(&block).unwrap()[0] - price;
        }
        let (values, v) = orthopt_linalg::eigen::symmetric_eigenpairs(&block).unwrap();
        let one_sign =
            |k: &usize| [1.0, -1.0].iter().any(|s| (0..set.len()).all(|i| s * v.get(i, *k) >= -1e-9));
        (0..set.len()).find(one_sign).map_or(f64::NEG_INFINITY, |k| 0.5 * values[k] - price)
    }

    /// Every set above the cutoff stands beside one of the pivots: with both signs, prices, X ≥ 0, tied entries.
    #[test]
    fn no_better_set_is_screened_out() {
        let mut rng = Pcg64::seed_from_u64(7);
        let (n, mut gone) = (9, [0; 4]);
        for case in 0..400 {
            let (sort, k) = (case % 4, 2 + case / 4 % 4);
            let spread = |j: usize| if j < 4 { 3.0 } else { [1.0, 0.3, 3.0][case / 16 % 3] };
            let factor = RowMat::from_fn(12, 1, |_, _| rng.random::<f64>() - 0.5);
            let a = RowMat::from_fn(12, n, |i, j| {
                spread(j) * (factor.get(i, 0) * f64::from(u8::from(j < 5)) * 2.0 + rng.random::<f64>() - 0.5)
            });
            let mut problem = Problem::plain(orthopt_linalg::products::gram(&a), 1);
            if sort == 3 {
                let rounded: Vec<f64> = problem.c.data().iter().map(|v| v.round()).collect();
                problem.c = RowMat::from_vec(n, n, rounded).unwrap(); // ties, zeros, indefinite
            }
            problem.nonneg = sort == 1;
            problem.lambda = if sort == 2 { 0.3 } else { 0.0 };
            let sets = (1u32..1 << n)
                .map(|mask| (0..n).filter(|i| mask >> i & 1 == 1).collect::<Vec<usize>>())
                .filter(|set| set.len() <= k);
            let values: Vec<(Vec<usize>, f64)> =
                sets.map(|set| (set.clone(), value(&problem, &set))).collect();
            let best = values.iter().map(|v| v.1).fold(f64::NEG_INFINITY, f64::max);
            for cutoff in [best + 1e-9 * best.abs(), 0.97 * best, 0.7 * best] {
                let Some(found) = screened(&problem, k, cutoff, n, &|| false) else { continue };
                gone[sort] += n - found.rows.len();
                for (set, value) in values.iter().filter(|v| v.1 > cutoff) {
                    let inside = |(_, rows): &(usize, Vec<usize>)| set.iter().all(|i| rows.contains(i));
                    let pivot = |(p, _): &&(usize, Vec<usize>)| set.contains(p);
                    assert!(
                        found.pivots.iter().filter(pivot).any(inside),
                        "{sort} {k}: {found:?} {set:?} {value} {cutoff}"
                    );
                }
            }
        }
        assert!(gone.iter().all(|count| *count > 50), "{gone:?}");
    }

    /// Many more rows than are examined one by one: the same rows as from all entries.
    #[test]
    fn rows_looked_at_together_lose_nothing() {
        let mut rng = Pcg64::seed_from_u64(8);
        let (n, k) = (300, 3);
        let shared: Vec<f64> = (0..30).map(|_| rng.random::<f64>() - 0.5).collect();
        let a = RowMat::from_fn(30, n, |i, j| {
            let with = if j % 40 == 0 { 4.0 } else { 0.0 };
            with * shared[i] + rng.random::<f64>() - 0.5
        });
        let problem = Problem::plain(orthopt_linalg::products::gram(&a), 1);
        let planted: Vec<usize> = (0..n).step_by(40).collect();
        let mut best = f64::NEG_INFINITY;
        for a in 0..planted.len() {
            for b in 0..a {
                for c in 0..b {
                    best = best.max(value(&problem, &[planted[c], planted[b], planted[a]]));
                }
            }
        }
        let found = screened(&problem, k, best * (1.0 - 1e-12), n, &|| false).unwrap();
        assert!(found.rows.len() < 40, "{}", found.rows.len());
        let few = screened(&problem, k, best * (1.0 + 1e-12), n, &|| false).unwrap();
        assert!(few.rows.len() <= found.rows.len());
        assert!(screened(&problem, k, 0.2 * best, 40, &|| false).is_none());
    }
}
