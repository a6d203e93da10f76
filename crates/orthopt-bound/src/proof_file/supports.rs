//! Bounds of adjusted and polar variance that lists of supports prove, and the F of X.

use super::lists::{SLACK, ScaledProblem};
use super::{Limits, Lists, OfOthers, ProofFile, Refusal, Statement, certain, refused};
use crate::Elsewhere;
use orthopt_core::smooth::Measure;
use orthopt_linalg::RowMat;
use orthopt_linalg::cholesky::cholesky;
use orthopt_linalg::eigen::symmetric_eigenpairs;

/// F of adjusted and polar variance counts as proved at this gap, relative to |F|.
pub const TOLERANCE: f64 = 1e-6;

/// An upper bound of −F over all X, and a bound of F over those with other supports than some.
pub fn most(file: &ProofFile, lists: &Lists, c: &RowMat, x: &RowMat) -> Result<(f64, OfOthers), Refusal> {
    let problem = &file.problem;
    let has_order = problem.measure == Measure::Adjusted.name();
    if !(has_order || problem.measure == Measure::Polar.name())
        || problem.nonnegative
        || problem.lambda != 0.0
    {
        return refused("lists of supports are for adjusted and polar variance alone");
    }
    let unit = lists.unit;
    if !(unit.is_finite() && unit > 0.0 && unit.log2().fract() == 0.0) {
        return refused("the unit is not a power of two");
    }
    let (n, r) = (x.nrows(), x.ncols());
    let mut stated: Vec<Vec<usize>> = ways(problem, n, has_order)?;
    let mut written: Vec<Vec<usize>> = lists.ways.iter().map(|way| way.counts.clone()).collect();
    stated.sort();
    written.sort();
    if stated != written {
        return refused("nonzeros are not given to the components in all ways that the limit allows");
    }
    let of_unit = RowMat::from_fn(n, n, |i, j| c.get(i, j) / unit);
    if of_unit.find_non_finite().is_some() || !lists.cutoff.is_finite() {
        return refused("a number is not finite");
    }
    let cut = lists.cutoff * (1.0 + SLACK);
    let scaled = ScaledProblem::new(&of_unit, r, has_order, problem.own_order(), cut)?;
    let left = scaled.left(lists)?;
    let most = left.iter().map(|left| left.most).fold(cut, f64::max);
    let sorted = |sets: &Vec<Vec<usize>>| {
        let mut sets = sets.clone();
        sets.sort();
        sets
    };
    let first = left.first().and_then(|left| left.supports.as_ref()).map(sorted);
    let same = left.iter().all(|left| left.supports.as_ref().map(sorted) == first);
    let elsewhere = first.filter(|_| same);
    let elsewhere = elsewhere.map(|supports| Elsewhere { supports, bound: -0.5 * cut * unit });
    Ok((0.5 * most * unit, elsewhere))
}

/// All ways to give nonzeros to the components: as the limit says, or a total to a first component and the others in descending
/// order.
fn ways(problem: &Statement, n: usize, has_order: bool) -> Result<Vec<Vec<usize>>, Refusal> {
    let r = problem.rank;
    let total = match &problem.limits {
        Some(Limits::Nonzeros(list)) if list.len() == r => {
            return Ok(vec![list.iter().map(|k| *k.min(&n)).collect()]);
        }
        Some(Limits::Total(total)) => *total,
        _ => return refused("lists of supports are for a limit of nonzeros"),
    };
    let most = problem.max_nonzeros.unwrap_or(n).min(n);
    let total = total.min(r * most);
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for j in 0..r {
        let free = has_order && j <= 1;
        let longer = |way: &Vec<usize>| {
            let used: usize = way.iter().sum();
            let ceiling = way.last().filter(|_| !free).map_or(most, |last| most.min(*last));
            let spent = total.saturating_sub(used);
            let range = if j + 1 == r { spent.max(1)..=ceiling.min(spent) } else { 1..=ceiling.min(spent) };
            range.map(|k| [way.as_slice(), &[k]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
        if all.len() > 100_000 {
            return refused("the total can be divided in too many ways");
        }
    }
    Ok(all)
}

/// F of X, from C and X alone.
pub fn objective(problem: &Statement, c: &RowMat, x: &RowMat) -> Result<f64, Refusal> {
    let r = x.ncols();
    let s = certain::cross(x, &orthopt_linalg::products::times(c, x)).symmetric_part();
    let nonzero = |i: usize| x.row(i).iter().any(|v| *v != 0.0);
    let counted = match problem.limits {
        Some(Limits::Variables(_)) => (0..x.nrows()).filter(|i| nonzero(*i)).count(),
        _ => x.data().iter().filter(|v| **v != 0.0).count(),
    };
    let explained = match problem.measure.as_str() {
        "variance" => (0..r).map(|k| s.get(k, k)).sum(),
        "adjusted" => {
            let mut order: Vec<usize> = (0..r).collect();
            if problem.own_order() {
                order.sort_by(|a, b| s.get(*b, *b).total_cmp(&s.get(*a, *a)));
            }
            adjusted(&RowMat::from_fn(r, r, |i, j| s.get(order[i], order[j])))
        }
        "polar" => {
            let Some((values, v)) = symmetric_eigenpairs(&s) else { return refused("F is not finite") };
            let root =
                |k: usize| (0..r).map(|j| values[j].max(0.0).sqrt() * v.get(k, j).powi(2)).sum::<f64>();
            (0..r).map(|k| root(k).powi(2)).sum()
        }
        other => return refused(format!("there is no proof of {other} variance")),
    };
    let f = -0.5 * explained + problem.lambda * counted as f64;
    if f.is_finite() { Ok(f) } else { refused("F is not finite") }
}

/// Σ Rⱼⱼ² of the scores, S = R'R: what each has beside those before it. A score that has nothing left adds nothing.
fn adjusted(s: &RowMat) -> f64 {
    if let Some(l) = cholesky(s) {
        return (0..s.nrows()).map(|k| l.get(k, k).powi(2)).sum();
    }
    let (mut left, mut sum) = (s.clone(), 0.0);
    let small = 1e-14 * (0..s.nrows()).map(|k| s.get(k, k)).fold(0.0, f64::max);
    for k in 0..s.nrows() {
        let own = left.get(k, k);
        if own <= small {
            continue;
        }
        sum += own;
        let before = left.clone();
        let entry = |i: usize, j: usize| before.get(i, j) - before.get(i, k) * before.get(k, j) / own;
        left = RowMat::from_fn(s.nrows(), s.nrows(), entry);
    }
    sum
}
