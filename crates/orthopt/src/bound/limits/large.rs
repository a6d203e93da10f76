//! Many variables (docs/bounds-limits.md, section 1): multipliers of a core of them bound the problem of all, and say which of the
//! others no better X has.
//!
//! Let H be the core and O the others. With the multipliers of a part on H, W = 0 outside H and, for i in O,
//! aᵢ ≥ |Cᵢⱼ|/(2aⱼ) for j in H, Zᵢⱼ = ½Cᵢⱼ takes all of ½C between H and O; in O, Z is ½C cut to aᵢaⱼ. What is left is M_H
//! and a matrix on O whose eigenvalues are at most the largest ½Cᵢᵢ − aᵢ² + Σⱼ (½|Cᵢⱼ| − aᵢaⱼ)₊ (Gershgorin).

use super::super::certified::gamma;
use super::super::columns::principal;
use super::admm::{Effort, Splitting};
use super::dual::{Part, Problem, blocks_of};
use crate::linalg::order::{descending_to, sort_numbers_down};

/// Cores, at most, each of what the one before could not exclude.
const CORES: usize = 8;
/// Effort for a core.
const CORE: Effort = Effort { iterations: 150, patience: 5, share: 0.03, rounds: 1 };
/// Rounding of the steps that make the weights aᵢ, which may be larger than needed.
const UP: f64 = 1.0 + 1e-13;

/// What is known after the last core.
#[derive(Debug)]
pub struct Reduced {
    /// A bound over all X, proved.
    pub most: f64,
    /// The variables that a better X may have; `None` where others than those of a core are left.
    pub rows: Option<Vec<usize>>,
}

/// Cores of at most `size` variables for one list of limits, from the rows of `first` (the best first) on.
pub fn reduce(
    problem: &Problem,
    limits: &[usize],
    (size, first): (usize, &[usize]),
    cutoff: f64,
    over: &dyn Fn() -> bool,
) -> Option<Reduced> {
    let n = problem.c.nrows();
    let mut alive = vec![true; n];
    let mut core: Vec<usize> = first.iter().copied().take(size).collect();
    let mut most = f64::INFINITY;
    for _ in 0..CORES {
        core.sort_unstable();
        let outside: Vec<usize> = (0..n).filter(|i| alive[*i] && core.binary_search(i).is_err()).collect();
        if outside.is_empty() {
            return Some(Reduced { most, rows: Some(core) });
        }
        let found = Core::new(problem, limits, &core, &outside, cutoff, over)?;
        most = most.min(found.most);
        if found.most <= cutoff {
            return Some(Reduced { most, rows: None });
        }
        for i in &found.excluded {
            alive[*i] = false;
        }
        if over() {
            break;
        }
        let worth = found.worth;
        let next: Vec<usize> = descending_to(n, &|i| if alive[i] { worth[i] } else { f64::NEG_INFINITY });
        let next: Vec<usize> = next.into_iter().filter(|i| alive[*i]).take(size).collect();
        let same = next.len() == core.len() && next.iter().all(|i| core.binary_search(i).is_ok());
        if same {
            break; // nothing new to look at
        }
        core = next;
    }
    let left: Vec<usize> = (0..n).filter(|i| alive[*i]).collect();
    Some(Reduced { most, rows: Some(left).filter(|left| left.len() <= size) })
}

/// The bound from one core.
struct Core {
    most: f64,
    excluded: Vec<usize>,
    worth: Vec<f64>, // of every row: its cost beside what a row of the best set costs, the largest of the parts
}

impl Core {
    fn new(
        problem: &Problem,
        limits: &[usize],
        core: &[usize],
        outside: &[usize],
        cutoff: f64,
        over: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let small = Problem { c: principal(&problem.c, core), ..problem.clone() };
        let parts: Vec<Part> = limits.iter().map(|k| Part::all(core.len(), *k)).collect();
        let mut run = Splitting::new(&small, &parts, None);
        run.keeps = true;
        let found = run.lower(cutoff, CORE, over)?;
        let (mut dual, mut inner) = (found.dual, found.most);
        let n = problem.c.nrows();
        let mut worth = vec![f64::NEG_INFINITY; n];
        let mut costs: Vec<Vec<f64>> = Vec::new();
        let mut floors = Vec::new();
        for (p, part) in parts.iter().enumerate() {
            // aⱼ may be larger where that excludes no row less
            let spare = dual.last(p, part) - (inner - cutoff).max(0.0);
            let kappa = problem.kappa(part.k);
            for j in 0..core.len() {
                let more = 0.999 * (spare - dual.parts[p].costs[j]);
                if more > 0.0 {
                    dual.given[p].squares[j] += more / kappa;
                }
            }
            dual.renew(&small, p, part);
            let a: Vec<f64> = dual.given[p].squares.iter().map(|v| v.max(0.0).sqrt()).collect();
            let level = dual.level(&small, p)?;
            let weights = weights_outside(problem, (core, &a), outside, level);
            floors.push(weights.floor);
            costs.push(weights.a.iter().map(|a| (kappa * a * a * UP - problem.lambda).next_up()).collect());
        }
        inner = dual.proved(&small, &parts, &blocks_of(&small.c, &parts), &floors)?;
        let mut most = inner;
        for (p, part) in parts.iter().enumerate() {
            let own = top(&dual.parts[p].costs, part.k);
            let all: Vec<f64> = dual.parts[p].costs.iter().chain(&costs[p]).copied().collect();
            most += (top(&all, part.k) - own).max(0.0);
            most += gamma(2 * part.k + 8) * (own + most.abs());
        }
        let mut excluded = Vec::new();
        let mut out = |row: usize, cost: &dyn Fn(usize) -> (f64, f64)| {
            // a row leaves where no part can have it
            let slack = |p: usize| {
                let (last, cost) = cost(p);
                most - (last - cost) + 1e-14 * (most.abs() + last.abs() + cost.abs())
            };
            let above = |p: usize| {
                let (last, cost) = cost(p);
                cost - last
            };
            if (0..parts.len()).all(|p| above(p) < 0.0 && slack(p) <= cutoff) {
                excluded.push(row);
            }
            worth[row] = (0..parts.len()).map(above).fold(f64::NEG_INFINITY, f64::max);
        };
        let last: Vec<f64> = (0..parts.len())
            .map(|p| {
                let mut all: Vec<f64> = dual.parts[p].costs.iter().chain(&costs[p]).copied().collect();
                sort_numbers_down(&mut all);
                all.get(parts[p].k - 1).copied().unwrap_or(0.0).max(0.0)
            })
            .collect();
        for (b, i) in core.iter().enumerate() {
            out(*i, &|p| (last[p], dual.parts[p].costs[b]));
        }
        for (b, i) in outside.iter().enumerate() {
            out(*i, &|p| (last[p], costs[p][b]));
        }
        Some(Self { most, excluded, worth })
    }
}

/// Sum of the k largest positive numbers.
fn top(costs: &[f64], k: usize) -> f64 {
    let mut list: Vec<f64> = costs.iter().copied().filter(|c| *c > 0.0).collect();
    sort_numbers_down(&mut list);
    list.iter().take(k).sum()
}

/// aᵢ outside the core, and what bounds the eigenvalues there.
struct Weights {
    a: Vec<f64>,
    floor: f64,
}

/// Weights with which the eigenvalues outside are about `level`, those of the core.
fn weights_outside(problem: &Problem, (core, a): (&[usize], &[f64]), outside: &[usize], level: f64) -> Weights {
    let c = &problem.c;
    let mut own: Vec<f64> = outside
        .iter()
        .map(|i| {
            let row = c.row(*i);
            let ratio = |(j, a): (&usize, &f64)| {
                let entry = 0.5 * if problem.nonneg { row[*j].max(0.0) } else { row[*j].abs() };
                if entry == 0.0 { 0.0 } else { entry / a.max(f64::MIN_POSITIVE) * UP }
            };
            let most = core.iter().zip(a).map(ratio).fold(0.0, f64::max);
            most.max((0.5 * c.get(*i, *i) - level).max(0.0).sqrt())
        })
        .collect();
    let excess = |own: &[f64], b: usize| {
        let (i, row) = (outside[b], c.row(outside[b]));
        let mut sum = 0.5 * row[i] - own[b] * own[b];
        let mut size = 0.5 * row[i].abs() + own[b] * own[b];
        for (d, j) in outside.iter().enumerate().filter(|(d, _)| *d != b) {
            let entry = 0.5 * if problem.nonneg { row[*j].max(0.0) } else { row[*j].abs() };
            let left = entry - own[b] * own[d] * (1.0 - 1e-15);
            if left > 0.0 {
                sum += left;
                size += entry;
            }
        }
        sum + gamma(outside.len() + 8) * size
    };
    // a larger aᵢ lowers the sums of all rows, so that one pass is enough
    let more: Vec<f64> = (0..own.len()).map(|b| (excess(&own, b) - level).max(0.0)).collect();
    own.iter_mut().zip(&more).for_each(|(a, more)| *a = (*a * *a + more).sqrt() * UP);
    let floor = (0..own.len()).map(|b| excess(&own, b)).fold(f64::NEG_INFINITY, f64::max);
    Weights { a: own, floor }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::RowMat;
    use crate::linalg::eigen::symmetric_eigenvalues;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// What cores exclude no better set has, and the bound is above the best of all sets.
    #[test]
    fn cores_exclude_no_better_set() {
        let mut rng = Pcg64::seed_from_u64(4);
        let mut excluded = 0;
        for case in 0..60 {
            let (n, rank) = (10, 1 + case % 2);
            let k = 2 + case % 3;
            let spread = |j: usize| if j < 4 { 3.0 } else { [1.0, 0.3][case % 2] };
            let a = RowMat::from_fn(14, n, |_, j| spread(j) * (rng.random::<f64>() - 0.5));
            let problem = Problem::plain(crate::linalg::products::gram(&a), rank);
            let value = |mask: u32| {
                let set: Vec<usize> = (0..n).filter(|i| mask >> i & 1 == 1).collect();
                0.5 * symmetric_eigenvalues(&principal(&problem.c, &set)).unwrap()[..rank].iter().sum::<f64>()
            };
            let sets: Vec<u32> = (0..1 << n).filter(|m: &u32| m.count_ones() as usize == k.max(rank)).collect();
            let best = sets.iter().map(|m| value(*m)).fold(f64::NEG_INFINITY, f64::max);
            let first: Vec<usize> = descending_to(n, &|i| problem.c.get(i, i));
            for cutoff in [best * (1.0 + 1e-9), 0.9 * best] {
                let found = reduce(&problem, &[k.max(rank)], (5, &first), cutoff, &|| false).unwrap();
                assert!(found.most >= best - 1e-12 * best, "{} {best}", found.most);
                if let Some(rows) = found.rows {
                    excluded += n - rows.len();
                    for mask in &sets {
                        let inside = (0..n).all(|i| mask >> i & 1 == 0 || rows.contains(&i));
                        assert!(inside || value(*mask) <= cutoff, "{rows:?} {mask:b}");
                    }
                }
            }
        }
        assert!(excluded > 30, "{excluded}");
    }
}
