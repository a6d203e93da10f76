//! Feasible X with disjoint supports from a solution of the relaxation.

use crate::linalg::RowMat;
use crate::linalg::eigen::symmetric_eigenpairs;
use crate::linalg::order::descending;

/// Supports of r columns near the leading eigenvectors of T: every row goes to the vector where it is
/// largest, and each keeps as many of its largest rows as pay for themselves at λ.
pub(super) fn disjoint_supports(c: &RowMat, t: &RowMat, r: usize, lambda: f64) -> Option<Vec<Vec<usize>>> {
    let n = t.nrows();
    if n < r {
        return None;
    }
    let (_, v) = symmetric_eigenpairs(t)?;
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); r];
    for i in 0..n {
        let size = |k: usize| v.get(i, k).abs();
        let owner = (0..r).fold(0, |best, k| if size(k) > size(best) { k } else { best });
        if size(owner) > 1e-6 {
            groups[owner].push(i);
        }
    }
    groups
        .iter_mut()
        .enumerate()
        .map(|(k, group)| {
            descending(group, &|i| v.get(i, k).abs());
            let most = if lambda > 0.0 { best_prefix(c, &v, k, group, lambda) } else { group.len() };
            group.truncate(most);
            (!group.is_empty()).then(|| group.clone())
        })
        .collect()
}

/// The number of leading rows of the group with the largest ½xᵀCx − λ·(rows), x the vector cut to them.
fn best_prefix(c: &RowMat, v: &RowMat, k: usize, group: &[usize], lambda: f64) -> usize {
    let (mut form, mut length, mut best) = (0.0, 0.0, (f64::NEG_INFINITY, 0));
    for (size, i) in group.iter().enumerate() {
        let x = v.get(*i, k);
        let cross: f64 = group[..size].iter().map(|j| c.get(*i, *j) * v.get(*j, k)).sum();
        form += 2.0 * x * cross + x * x * c.get(*i, *i);
        length += x * x;
        let value = 0.5 * form / length - lambda * (size + 1) as f64;
        if value > best.0 {
            best = (value, size + 1);
        }
    }
    best.1
}

/// The X (n × r) whose columns are the leading eigenvectors of C on the given supports; nonnegative where
/// asked for, what is negative being cut off. `None` where a column would vanish.
pub(super) fn columns_on(c: &RowMat, sets: &[Vec<usize>], nonnegative: bool) -> Option<RowMat> {
    let mut x = RowMat::zeros(c.nrows(), sets.len());
    for (k, set) in sets.iter().enumerate() {
        let block = RowMat::from_fn(set.len(), set.len(), |i, j| c.get(set[i], set[j]));
        let (_, v) = symmetric_eigenpairs(&block)?;
        let mut column: Vec<f64> = (0..set.len()).map(|i| v.get(i, 0)).collect();
        if nonnegative {
            if column.iter().sum::<f64>() < 0.0 {
                column.iter_mut().for_each(|v| *v = -*v);
            }
            column.iter_mut().for_each(|v| *v = v.max(0.0));
        }
        let length = column.iter().map(|v| v * v).sum::<f64>().sqrt();
        if length <= 1e-8 {
            return None;
        }
        set.iter().zip(&column).for_each(|(i, v)| x.set(*i, k, v / length));
    }
    Some(x)
}
