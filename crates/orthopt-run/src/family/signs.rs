//! The signs of components, which are free wherever F is even.

use super::Family;
use orthopt_core::objective::size;
use orthopt_core::solve::Solution;
use orthopt_linalg::long::is_left;

/// Loadings that differ by less, relative to the largest, count as equally large.
const ROUNDING: f64 = 1e-9;

/// Makes the largest loading of each component positive (the first of those that differ by rounding
/// only), so that runs and programs can be compared by eye. Where F is not the same at −xₖ (nonnegative
/// components, an f with a linear term) X stays as it is. Cost: two values of F.
pub(super) fn orient<P: Family>(problem: &P, solution: &mut Solution) {
    let x = &solution.x;
    let (n, r) = (x.nrows(), x.ncols());
    let largest = |k: usize| {
        let size = (0..n).fold(0.0, |size: f64, i| size.max(x.get(i, k).abs()));
        (0..n).map(|i| x.get(i, k)).find(|v| v.abs() >= (1.0 - ROUNDING) * size)
    };
    let flip: Vec<bool> = (0..r).map(|k| largest(k).is_some_and(|v| v < 0.0)).collect();
    if !flip.contains(&true) || is_left(n * r * r) {
        return;
    }
    let mut turned = x.clone();
    for (at, value) in turned.data_mut().iter_mut().enumerate() {
        if flip[at % r] && *value != 0.0 {
            *value = -*value;
        }
    }
    let (before, after) = (problem.value(x), problem.value(&turned));
    if (after - before).abs() <= 1e-12 * size(problem.scale(x), before) {
        solution.x = turned;
    }
}
