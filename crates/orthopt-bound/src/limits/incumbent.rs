//! Good X with limits on nonzeros: exchanges of rows for one part, one column at a time where there are several.

use super::super::covariance::principal;
use super::super::rounding::columns_on;
use super::dual::Problem;
use orthopt_core::constraint::stiefel::{feasibility, orthonormalise, repair_on_support};
use orthopt_core::objective::lowers;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::is_over;
use orthopt_linalg::eigen::{symmetric_eigenpairs, symmetric_eigenvalues};
use orthopt_linalg::long::is_left;
use orthopt_linalg::masked_system::MaskedSystem;
use orthopt_linalg::order::{ascending_to, descending_to, select_numbers, sort_numbers_down};
use orthopt_linalg::products::{cross, multiply};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Rows from which sets are grown, and the best of these sets from which rows are exchanged.
const STARTS: usize = 40;
const EXCHANGED: usize = 3;
/// Candidates tried in exchange for a row.
const CANDIDATES: usize = 8;
/// An improvement counts above this, relative to the size of the value.
const BETTER: f64 = 1e-12;
/// Starts where sets of columns meet: one column after the other ends where no single one can be improved.
const ROTATIONS: usize = 12;
/// Steps along the gradient, at most.
const ASCENTS: usize = 1000;
/// Power iterations for a column of X ≥ 0.
const POWERS: usize = 200;
/// Sweeps over the columns, at most.
const SWEEPS: usize = 100;
/// Columns are orthonormal to this.
const FEASIBLE: f64 = 1e-12;

/// Sum of the `rank` largest eigenvalues of ½C on the rows of a set.
pub fn value_of(problem: &Problem, set: &[usize]) -> Option<f64> {
    let values = symmetric_eigenvalues(&principal(&problem.c, set))?;
    (values.len() >= problem.rank).then(|| 0.5 * values[..problem.rank].iter().sum::<f64>())
}

/// The scale of such a sum: as many times the largest ½Cᵢᵢ.
fn scale_of(problem: &Problem) -> f64 {
    let largest = (0..problem.c.nrows()).fold(0.0f64, |most, i| most.max(problem.c.get(i, i).abs()));
    0.5 * problem.rank as f64 * largest
}

/// A set of k rows with a large value, grown from several rows and improved by exchanges.
pub fn best_set(problem: &Problem, k: usize) -> Option<(f64, Vec<usize>)> {
    let n = problem.c.nrows();
    let connected = |i: usize| {
        let mut row: Vec<f64> = problem.c.row(i).iter().map(|v| v.abs()).collect();
        select_numbers(&mut row, k);
        sort_numbers_down(&mut row[..k]);
        row[..k].iter().sum::<f64>()
    };
    let connected: Vec<f64> = (0..n).map(connected).collect();
    let mut sets: Vec<(f64, Vec<usize>)> = Vec::new();
    for first in descending_to(n, &|i| connected[i]).into_iter().take(STARTS) {
        let set = grown(problem, k, first)?;
        if !sets.iter().any(|s| s.1 == set) {
            sets.push((value_of(problem, &set)?, set));
        }
    }
    let order = descending_to(sets.len(), &|s| sets[s].0);
    let mut best: Option<(f64, Vec<usize>)> = None;
    for s in order.into_iter().take(EXCHANGED) {
        let found = exchanged(problem, sets[s].1.clone())?;
        if best.as_ref().is_none_or(|b| found.0 > b.0) {
            best = Some(found);
        }
    }
    best
}

/// Σ over the `rank` leading eigenvectors v of C on `set` of (Cv)ᵢ², for every row.
fn pulls(problem: &Problem, set: &[usize]) -> Option<Vec<f64>> {
    let (_, v) = symmetric_eigenpairs(&principal(&problem.c, set))?;
    let columns = problem.rank.min(set.len());
    let one = |i: usize, k: usize| -> f64 {
        set.iter().enumerate().map(|(a, j)| problem.c.get(i, *j) * v.get(a, k)).sum()
    };
    Some((0..problem.c.nrows()).map(|i| (0..columns).map(|k| one(i, k).powi(2)).sum()).collect())
}

fn grown(problem: &Problem, k: usize, first: usize) -> Option<Vec<usize>> {
    let n = problem.c.nrows();
    let mut set = vec![first];
    while set.len() < k {
        // rows of their own first, as many as there are columns
        let worth = if set.len() < problem.rank {
            let near = |i: usize| set.iter().map(|j| problem.c.get(i, *j).abs()).sum::<f64>();
            (0..n).map(|i| problem.c.get(i, i) - near(i)).collect()
        } else {
            pulls(problem, &set)?
        };
        set.push(descending_to(n, &|i| worth[i]).into_iter().find(|i| !set.contains(i))?);
    }
    set.sort_unstable();
    Some(set)
}

/// Exchanges one row for another while that helps.
pub fn exchanged(problem: &Problem, mut set: Vec<usize>) -> Option<(f64, Vec<usize>)> {
    let mut value = value_of(problem, &set)?;
    let scale = scale_of(problem);
    'again: loop {
        if is_over() {
            return Some((value, set));
        }
        let here = pulls(problem, &set)?;
        for a in ascending_to(set.len(), &|a| here[set[a]]) {
            let mut rest = set.clone();
            rest.remove(a);
            let worth = if rest.len() < problem.rank {
                (0..here.len()).map(|i| problem.c.get(i, i)).collect()
            } else {
                pulls(problem, &rest)?
            };
            let others = descending_to(worth.len(), &|i| worth[i]).into_iter().filter(|i| !set.contains(i));
            for i in others.take(CANDIDATES) {
                let mut candidate = rest.clone();
                candidate.push(i);
                candidate.sort_unstable();
                let now = value_of(problem, &candidate)?;
                if lowers(-now, -value, scale, BETTER) {
                    (value, set) = (now, candidate);
                    continue 'again;
                }
            }
        }
        return Some((value, set));
    }
}

/// Sets of k_p rows, one for each column: of C as it is without the columns before, one after the other.
pub fn deflated_sets(
    problem: &Problem,
    counts: &[usize],
    over: &dyn Fn() -> bool,
) -> Option<Vec<Vec<usize>>> {
    let mut left = Problem::plain(problem.c.clone(), 1);
    let mut sets: Vec<Vec<usize>> = Vec::new();
    for k in counts {
        if over() {
            return None;
        }
        let (_, set) = best_set(&left, *k)?;
        let (_, v) = symmetric_eigenpairs(&principal(&left.c, &set))?;
        // (I − xxᵀ)C(I − xxᵀ)
        let n = left.c.nrows();
        let mut x = vec![0.0; n];
        set.iter().enumerate().for_each(|(a, i)| x[*i] = v.get(a, 0));
        let image: Vec<f64> =
            (0..n).map(|i| left.c.row(i).iter().zip(&x).map(|(c, x)| c * x).sum()).collect();
        let form: f64 = image.iter().zip(&x).map(|(a, b)| a * b).sum();
        left.c = RowMat::from_fn(n, n, |i, j| {
            left.c.get(i, j) - image[i] * x[j] - x[i] * image[j] + form * x[i] * x[j]
        });
        sets.push(set);
    }
    Some(sets)
}

/// Exchanges rows of one column for others, or for rows of another column, while that helps and it is not `over`.
pub fn exchanged_columns(
    problem: &Problem,
    mut sets: Vec<Vec<usize>>,
    over: &dyn Fn() -> bool,
) -> Option<(f64, Vec<Vec<usize>>)> {
    let (n, scale) = (problem.c.nrows(), scale_of(problem));
    let (mut value, mut x) = solution_on(problem, &sets, Effort::Little)?;
    'again: for _ in 0..SWEEPS {
        for p in 0..sets.len() {
            for a in ascending_to(sets[p].len(), &|a| x.get(sets[p][a], p).abs()) {
                if over() {
                    return Some((value, sets));
                }
                let out = sets[p][a];
                let worth = pulls_without(problem, &x, p, out);
                let others = descending_to(n, &|i| worth[i]).into_iter().filter(|i| !sets[p].contains(i));
                for i in others.take(CANDIDATES).collect::<Vec<_>>() {
                    // from outside, or in exchange with a column that has it
                    let owners =
                        (0..sets.len()).filter(|q| sets[*q].contains(&i) && !sets[*q].contains(&out));
                    for owner in std::iter::once(None).chain(owners.map(Some)).collect::<Vec<_>>() {
                        let mut candidate = sets.clone();
                        replace(&mut candidate[p], out, i);
                        if let Some(q) = owner {
                            replace(&mut candidate[q], i, out);
                        }
                        if let Some(found) = solution_on(problem, &candidate, Effort::Little)
                            && lowers(-found.0, -value, scale, BETTER)
                        {
                            ((value, x), sets) = (found, candidate);
                            continue 'again;
                        }
                    }
                }
            }
        }
        break;
    }
    Some((value, sets))
}

fn replace(set: &mut [usize], out: usize, with: usize) {
    set.iter_mut().filter(|i| **i == out).for_each(|i| *i = with);
    set.sort_unstable();
}

/// (Cy)ᵢ² in the complement of the other columns, y being column p without row `out`.
fn pulls_without(problem: &Problem, x: &RowMat, p: usize, out: usize) -> Vec<f64> {
    let (n, r) = (x.nrows(), x.ncols());
    let y: Vec<f64> = (0..n).map(|i| if i == out { 0.0 } else { x.get(i, p) }).collect();
    let mut image: Vec<f64> =
        (0..n).map(|i| problem.c.row(i).iter().zip(&y).map(|(c, y)| c * y).sum()).collect();
    for q in (0..r).filter(|q| *q != p) {
        let dot: f64 = (0..n).map(|i| x.get(i, q) * image[i]).sum();
        (0..n).for_each(|i| image[i] -= dot * x.get(i, q));
    }
    image.iter().map(|v| v * v).collect()
}

/// X on these sets with a large value, tr Xᵀ(½C)X less the price of its rows.
pub fn best_on(problem: &Problem, sets: &[Vec<usize>], effort: Effort) -> Option<(f64, RowMat)> {
    let (value, x) =
        if problem.nonneg { positive_on(problem, sets)? } else { solution_on(problem, sets, effort)? };
    if problem.lambda == 0.0 {
        return Some((value, x));
    }
    let single = sets.len() == 1;
    let used = |i: usize| x.row(i).iter().filter(|v| **v != 0.0).count();
    let rows: usize = (0..x.nrows()).map(|i| if single { used(i).min(1) } else { used(i) }).sum();
    Some((value - problem.lambda * rows as f64, x))
}

/// X ≥ 0 on sets that do not meet: leading eigenvectors without their negative entries, then projected power iterations.
fn positive_on(problem: &Problem, sets: &[Vec<usize>]) -> Option<(f64, RowMat)> {
    let c = &problem.c;
    let meets = |p: usize| sets[..p].iter().any(|s| s.iter().any(|i| sets[p].contains(i)));
    if (0..sets.len()).any(meets) {
        return None;
    }
    let mut x = columns_on(c, sets, true)?;
    let mut value = 0.0;
    for (p, set) in sets.iter().enumerate() {
        let block = principal(c, set);
        let shift = block.norm();
        let mut y: Vec<f64> = set.iter().map(|i| x.get(*i, p)).collect();
        let times = |y: &[f64]| -> Vec<f64> {
            (0..y.len()).map(|a| block.row(a).iter().zip(y).map(|(c, v)| c * v).sum()).collect()
        };
        for _ in 0..POWERS {
            let mut next: Vec<f64> =
                times(&y).iter().zip(&y).map(|(c, v)| (c + shift * v).max(0.0)).collect();
            if normalise(&mut next) == 0.0 {
                break;
            }
            y = next;
        }
        value += 0.5 * times(&y).iter().zip(&y).map(|(c, v)| c * v).sum::<f64>();
        set.iter().zip(&y).for_each(|(i, v)| x.set(*i, p, *v));
    }
    Some((value, x))
}

/// Starts that are tried if the sets of columns meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// From nothing, the first column first and the last one first.
    Little,
    /// Also from rotations of the leading eigenvectors.
    Full,
}

/// X with the columns of each part on the rows of its set, and tr Xᵀ(½C)X: leading eigenvectors of one part; of several
/// with one column each, one column after the other in the complement of the others. `None` where these
/// leave no room, or if it is long and cancelled.
pub fn solution_on(problem: &Problem, sets: &[Vec<usize>], effort: Effort) -> Option<(f64, RowMat)> {
    if let [set] = sets {
        let (values, v) = symmetric_eigenpairs(&principal(&problem.c, set))?;
        let mut x = RowMat::zeros(problem.c.nrows(), problem.rank);
        for (a, i) in set.iter().enumerate() {
            (0..problem.rank).for_each(|k| x.set(*i, k, v.get(a, k)));
        }
        return Some((0.5 * values[..problem.rank].iter().sum::<f64>(), x));
    }
    let c = &problem.c;
    let forward: Vec<usize> = (0..sets.len()).collect();
    let nothing = || RowMat::zeros(c.nrows(), sets.len());
    let mut best = by_columns(c, sets, &forward, nothing());
    let meet = |p: usize| sets[..p].iter().any(|s| s.iter().any(|i| sets[p].contains(i)));
    if !(0..sets.len()).any(meet) {
        return best; // every column has its own maximum
    }
    let mut offer = |found: Option<(f64, RowMat)>| {
        if let Some(found) = found
            && best.as_ref().is_none_or(|b| found.0 > b.0)
        {
            best = Some(found);
        }
    };
    let backward: Vec<usize> = (0..sets.len()).rev().collect();
    offer(by_columns(c, sets, &backward, nothing()));
    if effort == Effort::Little {
        return best;
    }
    for start in rotations(c, sets)? {
        if is_over() {
            return best;
        }
        offer(by_columns(c, sets, &forward, start));
    }
    best.map(|best| ascended(c, sets, best))
}

/// Ascends along the gradient on the X with these supports: one column after the other ends where no single column can be
/// improved, which need not be where all together cannot.
fn ascended(c: &RowMat, sets: &[Vec<usize>], (mut value, mut x): (f64, RowMat)) -> (f64, RowMat) {
    let (n, r) = (x.nrows(), x.ncols());
    let mut system = MaskedSystem::new(n, r);
    let mut mask = RowMat::zeros(n, r);
    sets.iter().enumerate().for_each(|(p, set)| set.iter().for_each(|i| mask.set(*i, p, 1.0)));
    system.mask().copy_from_slice(mask.data());
    let masked = |mut m: RowMat| {
        m.data_mut().iter_mut().zip(mask.data()).for_each(|(v, p)| *v *= p);
        m
    };
    let times = |a: &RowMat, b: &RowMat| multiply(a.as_mat(), b.as_mat());
    let mut length = 1.0 / c.norm().max(f64::MIN_POSITIVE);
    for _ in 0..ASCENTS {
        // the tangent part of the gradient: G − P ∘ (XΛ), Λ symmetric
        let gradient = masked(times(c, &x));
        if is_over() {
            break;
        }
        let normal = cross(&x, &gradient).symmetric_part();
        system.forget();
        let lambda = system.solve(&x, &RowMat::from_fn(r, r, |p, q| -normal.get(p, q)), 0.0);
        let mut direction = gradient;
        let along = masked(times(&x, &lambda));
        direction.data_mut().iter_mut().zip(along.data()).for_each(|(d, a)| *d -= a);
        let size = direction.inner(&direction);
        let improved = (0..30).find_map(|_| {
            let mut next = x.clone();
            next.data_mut().iter_mut().zip(direction.data()).for_each(|(x, d)| *x += length * d);
            if repair_on_support(&mut next) <= FEASIBLE {
                let now = 0.5 * times(c, &next).inner(&next);
                if now >= value + 0.1 * length * size && now > value {
                    return Some((now, next));
                }
            }
            length *= 0.5;
            None
        });
        let Some((now, next)) = improved else { break };
        let gain = now - value;
        (value, x) = (now, next);
        length *= 2.0;
        if gain <= 1e-14 * value.abs() {
            break;
        }
    }
    (value, x)
}

/// Rotations of the leading eigenvectors on the rows of all sets, each column cut to its set.
fn rotations(c: &RowMat, sets: &[Vec<usize>]) -> Option<Vec<RowMat>> {
    let mut rows: Vec<usize> = sets.iter().flatten().copied().collect();
    rows.sort_unstable();
    rows.dedup();
    let r = sets.len().min(rows.len());
    let (_, v) = symmetric_eigenpairs(&principal(c, &rows))?;
    let mut rng = Pcg64::seed_from_u64(1);
    let one = |_| {
        let q = orthonormalise(&RowMat::from_fn(r, r, |_, _| rng.random::<f64>() - 0.5));
        let mut x = RowMat::zeros(c.nrows(), sets.len());
        for (p, set) in sets.iter().enumerate().take(r) {
            for i in set {
                let a = rows.binary_search(i).unwrap_or(0);
                x.set(*i, p, (0..r).map(|k| v.get(a, k) * q.get(k, p)).sum());
            }
        }
        x
    };
    Some((0..ROTATIONS).map(one).collect())
}

fn by_columns(c: &RowMat, sets: &[Vec<usize>], order: &[usize], mut x: RowMat) -> Option<(f64, RowMat)> {
    let size = sets.iter().map(Vec::len).max().unwrap_or(0);
    let over = || is_left(8 * size.pow(3));
    if over() {
        return None;
    }
    let blocks: Vec<RowMat> = sets.iter().map(|set| principal(c, set)).collect();
    let mut value = f64::NEG_INFINITY;
    for sweep in 0..SWEEPS {
        let mut now = 0.0;
        if is_over() {
            return None;
        }
        for p in order {
            if over() {
                return None;
            }
            let column = best_column(&blocks[*p], &others_on(&x, &sets[*p], *p))?;
            for (a, i) in sets[*p].iter().enumerate() {
                x.set(*i, *p, column[a]);
                let image: f64 = column.iter().enumerate().map(|(b, v)| blocks[*p].get(a, b) * v).sum();
                now += 0.5 * column[a] * image;
            }
        }
        if sweep > 0 && now - value <= 1e-13 * now.abs() {
            value = now;
            break;
        }
        value = now;
    }
    (feasibility(&x) <= FEASIBLE).then_some((value, x))
}

/// An orthonormal basis of what the other columns are on these rows.
fn others_on(x: &RowMat, set: &[usize], p: usize) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for k in (0..x.ncols()).filter(|k| *k != p) {
        let mut v: Vec<f64> = set.iter().map(|i| x.get(*i, k)).collect();
        orthogonalise(&mut v, &basis);
        if normalise(&mut v) > 1e-10 {
            orthogonalise(&mut v, &basis); // twice is enough
            normalise(&mut v);
            basis.push(v);
        }
    }
    basis
}

fn orthogonalise(v: &mut [f64], basis: &[Vec<f64>]) {
    for q in basis {
        let dot: f64 = v.iter().zip(q).map(|(a, b)| a * b).sum();
        v.iter_mut().zip(q).for_each(|(a, b)| *a -= dot * b);
    }
}

/// Divides by the length, which is returned.
fn normalise(v: &mut [f64]) -> f64 {
    let length = v.iter().map(|v| v * v).sum::<f64>().sqrt();
    if length > 0.0 {
        v.iter_mut().for_each(|v| *v /= length);
    }
    length
}

/// The leading eigenvector of the block in the complement of the basis, which is made the largest by a shift.
fn best_column(block: &RowMat, basis: &[Vec<f64>]) -> Option<Vec<f64>> {
    let n = block.nrows();
    if basis.len() >= n {
        return None;
    }
    let shift = 2.0 * block.norm() + f64::MIN_POSITIVE;
    let mut m = block.clone();
    (0..n).for_each(|i| m.set(i, i, m.get(i, i) + shift));
    for q in basis {
        // (I − qqᵀ)M(I − qqᵀ)
        let image: Vec<f64> = (0..n).map(|i| m.row(i).iter().zip(q).map(|(c, x)| c * x).sum()).collect();
        let form: f64 = image.iter().zip(q).map(|(a, b)| a * b).sum();
        m = RowMat::from_fn(n, n, |i, j| {
            m.get(i, j) - image[i] * q[j] - q[i] * image[j] + form * q[i] * q[j]
        });
    }
    let (_, v) = symmetric_eigenpairs(&m)?;
    let mut x: Vec<f64> = (0..n).map(|i| v.get(i, 0)).collect();
    orthogonalise(&mut x, basis);
    (normalise(&mut x) > 0.5).then_some(())?;
    orthogonalise(&mut x, basis);
    normalise(&mut x);
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(n: usize, rank: usize, seed: usize) -> Problem {
        let a =
            RowMat::from_fn(n + 2, n, |i, j| ((i * i * 3 + (j + seed) * (2 * i + 1)) as f64 * 0.713).sin());
        Problem::plain(orthopt_linalg::products::gram(&a), rank)
    }

    #[test]
    fn exchanges_end_at_sets_that_no_exchange_improves() {
        for (rank, k) in [(1, 3), (2, 4), (3, 3)] {
            let problem = problem(8, rank, 1);
            let (value, set) = best_set(&problem, k).unwrap();
            assert!((value - value_of(&problem, &set).unwrap()).abs() <= 1e-12 * value);
            let (found, x) = solution_on(&problem, std::slice::from_ref(&set), Effort::Full).unwrap();
            assert!((found - value).abs() <= 1e-12 * value && feasibility(&x) <= 1e-13);
            let mut best = 0.0f64;
            for mask in (0u32..256).filter(|m| m.count_ones() as usize == k) {
                let rows: Vec<usize> = (0..8).filter(|i| mask >> i & 1 == 1).collect();
                best = best.max(value_of(&problem, &rows).unwrap());
            }
            assert!(value <= best * (1.0 + 1e-12) && value >= 0.9 * best, "{value} {best}");
        }
    }

    #[test]
    fn columns_on_sets_that_meet_are_orthonormal() {
        let problem = problem(7, 1, 2);
        for sets in [
            vec![vec![0, 1, 2], vec![3, 4]],
            vec![vec![0, 1, 2, 3], vec![2, 3, 4]],
            vec![vec![0, 1, 2], vec![0, 1, 2], vec![0, 1, 2]],
        ] {
            let (value, x) = solution_on(&problem, &sets, Effort::Full).unwrap();
            assert!(feasibility(&x) <= 1e-12, "{}", feasibility(&x));
            let mut form = 0.0;
            for (p, set) in sets.iter().enumerate() {
                assert!((0..7).all(|i| set.contains(&i) || x.get(i, p) == 0.0));
                for i in 0..7 {
                    (0..7).for_each(|j| form += 0.5 * x.get(i, p) * problem.c.get(i, j) * x.get(j, p));
                }
            }
            assert!((form - value).abs() <= 1e-12 * value, "{form} {value}");
        }
        assert!(solution_on(&problem, &[vec![1], vec![1]], Effort::Full).is_none());
        let sets = deflated_sets(&problem, &[3, 2], &|| false).unwrap();
        assert!(deflated_sets(&problem, &[3, 2], &|| true).is_none());
        assert_eq!(
            exchanged_columns(&problem, sets.clone(), &|| true).unwrap().1,
            sets,
            "no time for any exchange"
        );
        assert_eq!((sets[0].len(), sets[1].len()), (3, 2));
        let (value, better) = exchanged_columns(&problem, sets.clone(), &|| false).unwrap();
        assert_eq!((better[0].len(), better[1].len()), (3, 2));
        assert!(value >= solution_on(&problem, &sets, Effort::Little).unwrap().0);
    }
}
