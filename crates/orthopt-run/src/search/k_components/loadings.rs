//! From directions to X, and from X to directions.

use orthopt_core::objective::price_of_nonzeros;
use orthopt_core::smooth::{Entries, Measure, Quadratic, Small};
use orthopt_linalg::RowMat;
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::order::ascending;
use orthopt_linalg::products::cross;

use super::alternation::{State, weights};
use super::limits::{NOBODY, Rules};
use super::samples::Space;

/// Power steps on given supports at most, and the relative gain at which they end.
const STEPS: usize = 100;
const STILL: f64 = 1e-14;
/// Supports up to this size have their leading eigenvector from a decomposition.
const SMALL: usize = 64;
/// A loading of a variable that is there only because a component has a least number of them.
const TOKEN: f64 = 1e-8;

/// The columns of X by their entries.
pub(super) fn entries_of(x: &RowMat) -> Vec<Entries> {
    let mut w: Vec<Entries> = vec![Vec::new(); x.ncols()];
    for i in 0..x.nrows() {
        for (k, v) in x.row(i).iter().enumerate().filter(|(_, v)| **v != 0.0) {
            w[k].push((i, *v));
        }
    }
    w
}

/// F(X) of the problem.
pub(super) fn objective<F: Quadratic>(space: &Space<'_, F>, rules: &Rules, x: &RowMat) -> f64 {
    let f = space.f;
    let price = price_of_nonzeros(rules.lambda * space.unit, x);
    if rules.measure == Measure::Variance {
        return f.value(x) + price;
    }
    let mut m = f.apply(x);
    m.data_mut().iter_mut().for_each(|v| *v = -*v);
    let s = cross(x, &m).symmetric_part();
    let w = if rules.measure == Measure::Explained { cross(&m, &m) } else { RowMat::zeros(0, 0) };
    let diagonal = f.diagonal(); // of −C
    let size =
        |k: usize| (0..x.nrows()).map(|i| x.get(i, k).abs() * (-diagonal[i]).max(0.0).sqrt()).sum::<f64>();
    let sizes: Vec<f64> = (0..x.ncols()).map(|k| size(k).powi(2)).collect();
    price - 0.5 * Small::new(x.ncols(), false).value(rules.measure, (s.data(), w.data()), &sizes)
}

/// X with disjoint supports: the variables of each direction, with the leading eigenvector of their C, or, where X ≥ 0 or directions are
/// orthonormal, their scores. Every component has the variables that it must have. `None` where a number is not finite.
pub(super) fn loadings<F: Quadratic>(space: &Space<'_, F>, rules: &Rules, state: &State) -> Option<RowMat> {
    let (n, r) = (space.f.nrows(), rules.rank);
    let mut label = state.label.clone();
    complete(space.f, rules, state, &mut label);
    let w = if rules.orthonormal {
        weights(rules, &state.directions, &label)
    } else {
        stepped(space, rules, state, &label)
    };
    let mut supports: Vec<Vec<usize>> = vec![Vec::new(); r];
    (0..n).filter(|i| label[*i] != NOBODY).for_each(|i| supports[label[i]].push(i));
    let mut x = RowMat::zeros(n, r);
    for (k, support) in supports.iter().enumerate() {
        w[k].iter().for_each(|(i, v)| x.set(*i, k, *v));
        if !rules.orthonormal && !rules.nonneg && (2..=SMALL).contains(&support.len()) {
            leading(space.f, support, &mut x, k);
        }
        unit(&mut x, k, support, rules.least)?;
    }
    Some(x)
}

/// Power steps with these supports until the value stands still; what serves each variable.
fn stepped<F: Quadratic>(
    space: &Space<'_, F>,
    rules: &Rules,
    state: &State,
    label: &[usize],
) -> Vec<Entries> {
    let mut w = weights(rules, &state.directions, label);
    let sum = |w: &[Entries]| w.iter().flatten().map(|e| e.1 * e.1).sum::<f64>();
    let mut before = sum(&w);
    for _ in 0..STEPS {
        let directions = space.directions(&w, None, false);
        let next = weights(rules, &directions, label);
        let value = sum(&next);
        if value.partial_cmp(&before).is_none_or(std::cmp::Ordering::is_lt) {
            break;
        }
        w = next;
        if value <= before * (1.0 + STILL) {
            break;
        }
        before = value;
    }
    w
}

/// The leading eigenvector of C on a support, where it is found.
fn leading<F: Quadratic>(f: &F, support: &[usize], x: &mut RowMat, k: usize) {
    let mut c = f.curvature_block(support);
    c.data_mut().iter_mut().for_each(|v| *v = -*v);
    if let Some((_, vectors)) = symmetric_eigenpairs(&c) {
        support.iter().enumerate().for_each(|(l, i)| x.set(*i, k, vectors.get(l, 0)));
    }
}

/// Column k to unit length, with at least so many nonzeros of its support.
fn unit(x: &mut RowMat, k: usize, support: &[usize], least: usize) -> Option<()> {
    let largest = support.iter().fold(0.0f64, |m, i| m.max(x.get(*i, k).abs()));
    if !largest.is_finite() {
        return None;
    }
    let nothing = largest == 0.0;
    let token = if nothing { 1.0 } else { TOKEN * largest };
    let mut nonzeros = support.iter().filter(|i| x.get(**i, k) != 0.0).count();
    for i in support {
        if x.get(*i, k) == 0.0 && nonzeros < least {
            x.set(*i, k, token);
            nonzeros += 1;
        }
    }
    let largest = if nothing { 1.0 } else { largest };
    support.iter().for_each(|i| x.set(*i, k, x.get(*i, k) / largest));
    let length = support.iter().map(|i| x.get(*i, k).powi(2)).sum::<f64>().sqrt();
    support.iter().for_each(|i| x.set(*i, k, x.get(*i, k) / length));
    Some(())
}

/// Components that have too few variables get the unused ones of largest variance (the first of them: those that it explains most of), or, where none is
/// left, those that others can spare.
fn complete<F: Quadratic>(f: &F, rules: &Rules, state: &State, label: &mut [usize]) {
    let mut sizes = vec![0usize; rules.rank];
    label.iter().filter(|l| **l != NOBODY).for_each(|l| sizes[*l] += 1);
    if sizes.iter().all(|s| *s >= rules.least) {
        return;
    }
    let diagonal = f.diagonal(); // of M = −C
    let mut used: usize = sizes.iter().sum();
    for k in 0..rules.rank {
        while sizes[k] < rules.least {
            let score = |i: usize| rules.counts(state.directions.y.get(k, i));
            let mut free: Vec<usize> = (0..label.len()).filter(|i| label[*i] == NOBODY).collect();
            let spare = |i: &usize| label[*i] != NOBODY && sizes[label[*i]] > rules.least;
            if free.is_empty() || used >= rules.total {
                // the one that its owner misses least
                free = (0..label.len()).filter(spare).collect();
                ascending(&mut free, &|i| rules.counts(state.directions.y.get(label[i], i)));
            } else if sizes[k] == 0 {
                ascending(&mut free, &|i| diagonal[i]);
            } else {
                ascending(&mut free, &|i| -score(i));
            }
            let Some(i) = free.first().copied() else { break };
            match std::mem::replace(&mut label[i], k) {
                NOBODY => used += 1,
                owner => sizes[owner] -= 1,
            }
            sizes[k] += 1;
        }
    }
}
