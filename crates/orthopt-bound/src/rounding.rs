//! Feasible X with disjoint supports from a solution of the relaxation.

use orthopt_linalg::RowMat;
use orthopt_linalg::eigen::symmetric_eigenpairs;
use orthopt_linalg::order::descending;

/// Supports of r columns near the leading eigenvectors of T: every row goes to the vector where it is
/// largest.
pub(super) fn disjoint_supports(t: &RowMat, r: usize) -> Option<Vec<Vec<usize>>> {
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
    if groups.iter().any(Vec::is_empty) {
        return None;
    }
    for (k, group) in groups.iter_mut().enumerate() {
        descending(group, &|i| v.get(i, k).abs());
    }
    Some(groups)
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
