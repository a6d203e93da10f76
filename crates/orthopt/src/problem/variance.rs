//! Variance explained by the components of a PCA problem.

use crate::linalg::RowMat;
use crate::smooth::Quadratic;

/// Variance explained by the columns of X under C: per component tr(xₖᵀCxₖ), and together.
///
/// The scores of sparse components are correlated, so the parts do not add up: `adjusted` gives
/// each component only what the ones before it have not explained (Zou, Hastie, Tibshirani
/// 2006: squared diagonal of R in the QR decomposition of the scores AX), and their sum is the
/// total.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ExplainedVariance {
    /// xₖᵀCxₖ / tr C.
    pub ratio: Vec<f64>,
    /// The part of it that earlier components do not explain already.
    pub adjusted: Vec<f64>,
    /// Sum of `adjusted`.
    pub total: f64,
}

/// Variance explained by X; `f` must be −½ tr(XᵀCX). Cost of a gradient plus O(nr² + r³).
pub fn explained_variance(f: &impl Quadratic, x: &RowMat) -> ExplainedVariance {
    let trace: f64 = -f.diagonal().iter().sum::<f64>();
    let cx = f.apply(x);
    let s = crate::linalg::products::cross(x, &cx); // −XᵀCX
    let r = x.ncols();
    let safe = if trace > 0.0 { trace } else { 1.0 };
    // Cholesky of XᵀCX = RᵀR: Rₖₖ² is what component k adds
    let mut l = RowMat::from_fn(r, r, |i, j| -0.5 * (s.get(i, j) + s.get(j, i)));
    let ratio = (0..r).map(|k| l.get(k, k) / safe + 0.0).collect();
    let mut adjusted = vec![0.0; r];
    for k in 0..r {
        let pivot = l.get(k, k).max(0.0) + 0.0;
        adjusted[k] = pivot / safe;
        if pivot <= 1e-12 * safe {
            continue; // nothing left of this component
        }
        for i in k + 1..r {
            let factor = l.get(i, k) / pivot;
            for j in k + 1..r {
                l.set(i, j, l.get(i, j) - factor * l.get(k, j));
            }
        }
    }
    let total = adjusted.iter().sum();
    ExplainedVariance { ratio, adjusted, total }
}

/// The columns of X in the order of the variance they explain; `f` must be −½ tr(XᵀCX).
pub(crate) fn by_variance(f: &impl Quadratic, x: &RowMat) -> RowMat {
    let cx = f.apply(x); // −CX
    let variance = |k: usize| -> f64 { (0..x.nrows()).map(|i| x.get(i, k) * cx.get(i, k)).sum() };
    let mut order: Vec<(f64, usize)> = (0..x.ncols()).map(|k| (variance(k), k)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    RowMat::from_fn(x.nrows(), x.ncols(), |i, k| x.get(i, order[k].1))
}
