//! Variance explained by components, in the definitions of the literature.

use super::{PcaData, support};
use crate::smooth::measured::{Measures, Root, Scores, Small};
use crate::smooth::{Measure, Quadratic};
use crate::start::eigenvectors_while;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::{Cancel, inherit};
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::kernels::axpy;
use orthopt_linalg::long::{is_left, or_cancelled};
use orthopt_linalg::products::{cross, gram, multiply};
use orthopt_linalg::small::symmetric_eigen;
use orthopt_linalg::unit::power_of_two;

/// Shares of the variance tr C that the columns of X explain; the scores are Z = AX, C = AᵀA.
///
/// | field | formula, divided by tr C | meaning |
/// |---|---|---|
/// | `ratio` | xₖᵀCxₖ = ‖zₖ‖² | of each component alone; scores of sparse components are correlated, so these count some variance twice |
/// | `adjusted` | Rₖₖ² of Z = QR | what component k adds to those before it (Zou, Hastie and Tibshirani 2006, section 3.4) |
/// | `total` | Σ Rₖₖ² | adjusted, all components together |
/// | `projected` | tr((XᵀX)⁻¹XᵀCX) | of the data projected on the span of the loadings (Shen and Huang 2008); Σ `ratio` where XᵀX = I |
/// | `polar` | Σ ((S^{1/2})ₖₖ)², S = XᵀCX | variance of the orthonormal scores nearest to Z: `total` without an order (Chavent and Chavent 2017) |
/// | `predicted` | tr((XᵀCX)⁻¹XᵀC²X) = ‖P A‖²_F, P on the span of Z | of the data projected on the span of the scores: what a linear regression on them gives back (Camacho et al. 2020) |
///
/// With XᵀX = I, `total` and `polar` ≤ `projected` ≤ `predicted` ≤ the variance of r principal
/// components, for which all are equal.
///
/// * H. Zou, T. Hastie, R. Tibshirani: Sparse principal component analysis. J. Comput. Graph. Stat. 15
///   (2006) 265–286.
/// * H. Shen, J. Z. Huang: Sparse principal component analysis via regularized low rank matrix
///   approximation. J. Multivar. Anal. 99 (2008) 1015–1034.
/// * M. Chavent, G. Chavent: Group-sparse block PCA and explained variance. arXiv 1705.00461 (2017).
/// * J. Camacho, A. K. Smilde, E. Saccenti, J. A. Westerhuis: All sparse PCA models are wrong, but some are
///   useful. Part I. Chemom. Intell. Lab. Syst. 196 (2020) 103907.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct ExplainedVariance {
    /// xₖᵀCxₖ / tr C.
    pub ratio: Vec<f64>,
    /// The part of it beyond earlier components.
    pub adjusted: Vec<f64>,
    /// Sum of `adjusted`.
    pub total: f64,
    /// Of the data projected on the span of the loadings.
    pub projected: f64,
    /// Of the orthonormal scores nearest to the scores.
    pub polar: f64,
    /// Of the data projected on the span of the scores.
    pub predicted: f64,
    /// Name of the measure that was maximised: `variance` is `projected` where XᵀX = I, `adjusted` is `total`, `explained` is
    /// `predicted`.
    pub maximised: &'static str,
    /// The two components whose scores correlate most, and the size of that correlation.
    #[serde(skip)]
    pub closest: Option<(usize, usize, f64)>,
}

impl ExplainedVariance {
    /// These values, with `measure` as the name of the one that was maximised.
    #[must_use]
    #[doc(hidden)]
    pub fn of(self, measure: Measure) -> Self {
        Self { maximised: measure.name(), ..self }
    }

    /// The measure that was maximised.
    #[doc(hidden)]
    pub fn of_maximised(&self) -> f64 {
        match self.maximised {
            "adjusted" => self.total,
            "polar" => self.polar,
            "explained" => self.predicted,
            _ => self.projected,
        }
    }

    /// The measure that was maximised, in words.
    #[doc(hidden)]
    pub fn words(&self) -> String {
        match self.maximised {
            "variance" => "variance".into(),
            measure => format!("{measure} variance"),
        }
    }

    /// The component that adds the smallest share of its own variance to those before it, and that share.
    pub fn least_added(&self) -> Option<(usize, f64)> {
        let share = |k: usize| self.adjusted[k] / self.ratio[k];
        let all = (0..self.ratio.len()).filter(|k| self.ratio[*k] > 0.0).map(|k| (k, share(k)));
        all.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Variance explained by X; `f` must be −½ tr(XᵀCX). X needs full rank but not XᵀX = I. Cost of a gradient
/// plus O(nr² + r³).
pub fn explained_variance(f: &impl Quadratic, x: &RowMat) -> ExplainedVariance {
    // it is computed to the end
    inherit(None, || variance_in_time(f, None, x)).unwrap_or_else(|| unreachable!("no step is left"))
}

/// Variables up to which a root of C is made for the measures of X, which then have all digits.
const ROOT: usize = 400;

/// [`explained_variance`] of X, or `None` if a long step of it is cancelled. `known` are the measures of X, if they are
/// known.
pub fn variance_in_time(
    f: &impl Quadratic,
    known: Option<Measures>,
    x: &RowMat,
) -> Option<ExplainedVariance> {
    let (n, r) = (x.nrows(), x.ncols());
    if is_left(n * r * r) {
        return None; // a product with C may take long, too
    }
    let trace: f64 = -f.diagonal().iter().sum::<f64>();
    let safe = if trace > 0.0 { trace } else { 1.0 };
    let root = || Root::of(f, ROOT).map(|root| Scores::new(&root, x).measures());
    let of_products = || of_products(f, x, safe);
    let Measures { own, adjusted, polar, explained, products } =
        known.or_else(root).map_or_else(of_products, Some)?;
    let share = |v: f64| v / safe + 0.0;
    let adjusted: Vec<f64> = adjusted.into_iter().map(share).collect();
    let (total, projected) = (adjusted.iter().sum(), squares_on_span(x, &products) / safe);
    let predicted = share(explained);
    let is_whole = !(projected.is_nan() || predicted.is_nan() || polar.is_nan());
    let all = ExplainedVariance {
        ratio: own.into_iter().map(share).collect(),
        adjusted,
        total,
        projected,
        polar: share(polar),
        predicted,
        maximised: Measure::Variance.name(),
        closest: closest(&products),
    };
    (is_whole || !is_left(8 * r * r * r)).then_some(all)
}

/// The measures from XᵀCX and XᵀC²X, of a C with many variables or negative eigenvalues.
fn of_products(f: &impl Quadratic, x: &RowMat, trace: f64) -> Option<Measures> {
    let r = x.ncols();
    let mut cx = f.apply(x); // −CX
    let s = cross(x, &cx);
    let s = RowMat::from_fn(r, r, |i, j| -0.5 * (s.get(i, j) + s.get(j, i))); // XᵀCX
    let work = 8 * r * r * r; // of a decomposition
    let over = || is_left(work);
    let adjusted = adjusted(&s, trace, &over)?;
    if over() {
        return None;
    }
    // in a unit of a power of two, as squares of C may overflow
    let unit = power_of_two(trace);
    cx.data_mut().iter_mut().for_each(|v| *v /= unit);
    let scaled = RowMat::from_fn(r, r, |i, j| s.get(i, j) / unit);
    let explained = unit * trace_of_quotient(&scaled, &gram(&cx));
    if over() {
        return None;
    }
    let polar = move || unit * Small::new(r, false).value(Measure::Polar, (scaled.data(), &[]), &[]);
    let polar = or_cancelled(work, polar)?;
    let own = (0..r).map(|k| s.get(k, k)).collect();
    Some(Measures { own, adjusted, polar, explained, products: s })
}

/// Share of tr C that the r largest eigenvalues of C have: what plain PCA explains. `None` where their computation takes longer
/// than the work in hand may, and where tr C is not positive.
pub fn pca_share(f: &impl Quadratic, r: usize) -> Option<f64> {
    let trace: f64 = -f.diagonal().iter().sum::<f64>();
    if trace <= 0.0 {
        return None;
    }
    let cancel = Cancel::current().unwrap_or_default();
    let v = eigenvectors_while(f, r, &cancel).ok().filter(|_| !cancel.is_over())?;
    let cv = f.apply(&v); // −CV
    let sum: f64 = v.data().iter().zip(cv.data()).map(|(v, c)| -v * c).sum();
    Some(sum / trace).filter(|share| share.is_finite())
}

/// ‖(A − 1μᵀ)X‖² / ‖A − 1μᵀ‖² of an X with orthonormal columns: the measure of X on rows that
/// it was not computed from, with their columns in the same units (means and scales of the rows X was found from, so
/// μ need not be the mean of these rows). Cost 2mr for every nonzero row of X, and one pass over A.
///
/// # Errors
/// C instead of samples, data that are not finite.
pub fn projected_share(data: &PcaData<'_>, x: &RowMat) -> Result<f64> {
    let (m, r) = (samples(data)?, x.ncols());
    let (mut scores, mut offset) = (RowMat::zeros(m, r), vec![0.0; r]); // AX and μᵀX
    let mut total = 0.0;
    for j in 0..data.ncols() {
        let loading = x.row(j);
        let used = loading.iter().any(|v| *v != 0.0);
        let mut add = |i: usize, value: f64| {
            if used {
                axpy(value, loading, scores.row_mut(i));
            }
        };
        match data {
            PcaData::Sparse(a, means) => {
                let (values, mu) = (a.val_of_col(j), means.as_ref().map_or(0.0, |means| means[j]));
                a.row_idx_of_col(j).zip(values).for_each(|(i, v)| add(i, *v));
                axpy(mu, loading, &mut offset);
                total += values.iter().map(|v| (v - mu).powi(2)).sum::<f64>();
                total += (m - values.len()) as f64 * mu * mu;
            }
            PcaData::Dense(a) | PcaData::Centred(a, _) => {
                let centring = if let PcaData::Centred(_, c) = data { Some(c) } else { None };
                for i in 0..m {
                    let value = centring.map_or(a[(i, j)], |c| c.apply(j, a[(i, j)]));
                    add(i, value);
                    total += value * value;
                }
            }
            PcaData::Gram(_) | PcaData::SparseGram(_) => {} // refused by samples()
        }
    }
    let kept = |i: usize| -> f64 { scores.row(i).iter().zip(&offset).map(|(s, q)| (s - q).powi(2)).sum() };
    let share = (0..m).map(kept).sum::<f64>() / if total > 0.0 { total } else { 1.0 };
    if share.is_finite() { Ok(share) } else { Err(Error::Incompatible(NOT_FINITE.into())) }
}

const NOT_FINITE: &str =
    "the rows for the variance of X have entries that are not finite, or too large to be squared";

/// m, where the data are samples.
fn samples(data: &PcaData<'_>) -> Result<usize> {
    data.samples().ok_or_else(|| {
        Error::Incompatible("the variance of held-out rows needs samples, but the data are C itself".into())
    })
}

/// Squared diagonal of R in Z = QR, of data with so much variance, by the Cholesky factor of XᵀCX = RᵀR; `None` where it is `over` before its end.
fn adjusted(s: &RowMat, trace: f64, over: &dyn Fn() -> bool) -> Option<Vec<f64>> {
    let r = s.nrows();
    let mut left = s.clone();
    let mut shares = vec![0.0; r];
    for k in 0..r {
        if over() {
            return None;
        }
        let pivot = left.get(k, k).max(0.0) + 0.0;
        shares[k] = pivot;
        if pivot <= NOTHING * trace {
            continue; // nothing left of this component
        }
        for i in k + 1..r {
            let factor = left.get(i, k) / pivot;
            let (above, below) = left.data_mut().split_at_mut(i * r);
            axpy(-factor, &above[k * r + k + 1..(k + 1) * r], &mut below[k + 1..r]);
        }
    }
    Some(shares)
}

/// The two scores with the largest correlation, from their products; scores without variance correlate with none.
fn closest(s: &RowMat) -> Option<(usize, usize, f64)> {
    let largest = (0..s.nrows()).fold(0.0f64, |a, k| a.max(s.get(k, k)));
    let has = |k: usize| s.get(k, k) > NOTHING * largest;
    let mut best: Option<(usize, usize, f64)> = None;
    for j in 0..s.nrows() {
        for i in (0..j).filter(|i| has(*i) && has(j)) {
            let correlation = s.get(i, j).abs() / (s.get(i, i).sqrt() * s.get(j, j).sqrt());
            if best.is_none_or(|b| correlation > b.2) {
                best = Some((i, j, correlation));
            }
        }
    }
    best
}

/// X with the columns of each group that have the same support, or all of them `together`, turned to their principal axes,
/// XᵀCX diagonal within the group; `None` where no two columns share all their rows, or where all are such axes already.
/// `f` must be −½ tr(XᵀCX), for which all rotations are the same. Also `None` if it is long and cancelled.
pub fn principal_axes(f: &impl Quadratic, x: &RowMat, together: bool) -> Option<RowMat> {
    let (n, r) = (x.nrows(), x.ncols());
    if is_left(n * r * r) {
        return None;
    }
    if together {
        let s = cross(x, &f.apply(x)); // −XᵀCX
        let s = RowMat::from_fn(r, r, |i, j| -s.get(i, j));
        closest(&s).filter(|(_, _, correlation)| *correlation > NOTHING)?;
    }
    let supports: Vec<Vec<usize>> =
        (0..r).map(|k| if together { Vec::new() } else { support(x, k) }).collect();
    let mut out: Option<RowMat> = None;
    for k in 0..r {
        let group: Vec<usize> = (k..r).filter(|l| supports[*l] == supports[k]).collect();
        if group.len() < 2 || supports[..k].contains(&supports[k]) {
            continue;
        }
        let part = RowMat::from_fn(n, group.len(), |i, l| x.get(i, group[l]));
        let s = cross(&part, &f.apply(&part)).symmetric_part(); // −XᵀCX: the largest variance first
        let (_, u) = symmetric_eigen(&s)?;
        let turned = multiply(part.as_mat(), u.as_mat());
        let to = out.get_or_insert_with(|| x.clone());
        for (l, k) in group.iter().enumerate() {
            (0..n).for_each(|i| to.set(i, *k, turned.get(i, l)));
        }
    }
    out
}

/// Shares below this are rounding.
const NOTHING: f64 = 1e-12;

/// tr((XᵀX)⁻¹W) for W = ZᵀZ of scores Z: the sum of squares of the rows projected on the span of X, which
/// need not have orthonormal columns.
pub fn squares_on_span(x: &RowMat, w: &RowMat) -> f64 {
    trace_of_quotient(&gram(x), w)
}

/// tr(G⁺W) of symmetric matrices, G ≥ 0.
fn trace_of_quotient(g: &RowMat, w: &RowMat) -> f64 {
    let Some((values, u)) = symmetric_eigen(g) else { return f64::NAN };
    let r = g.nrows();
    let largest = values.last().copied().unwrap_or(0.0);
    let wu = multiply(w.as_mat(), u.as_mat());
    let along = |k: usize| -> f64 { (0..r).map(|i| u.get(i, k) * wu.get(i, k)).sum() };
    let counted = (0..r).filter(|k| values[*k] > NOTHING * largest);
    counted.map(|k| along(k) / values[k]).sum::<f64>() + 0.0
}

/// The columns of X in the order of the variance they explain, equal ones by what they add to those before them; `f` must
/// be −½ tr(XᵀCX). `None` if it is long and cancelled.
pub fn by_variance(f: &impl Quadratic, x: &RowMat) -> Option<RowMat> {
    let (n, r) = (x.nrows(), x.ncols());
    if is_left(n * r * r) {
        return None;
    }
    let s = cross(x, &f.apply(x)).symmetric_part(); // −XᵀCX
    if is_left(r * r * r) {
        return None;
    }
    let s: Vec<f64> = s.data().iter().map(|v| -v).collect();
    let order = Small::new(x.ncols(), false).ordered(&s);
    Some(RowMat::from_fn(n, r, |i, k| x.get(i, order[k])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smooth::DenseQuadratic;
    use orthopt_linalg::cancel::Cancel;

    /// C and X = I of n variables.
    fn all_of(n: usize) -> (DenseQuadratic, RowMat) {
        let c = faer::Mat::from_fn(n, n, |i, j| 1.0 / (1.0 + (i as f64 - j as f64).abs()));
        let x = RowMat::from_fn(n, n, |i, k| f64::from(u8::from(i == k)));
        (DenseQuadratic::negative(c.as_ref()).unwrap(), x)
    }

    #[test]
    fn shares_of_many_components_are_none_where_nobody_waits() {
        let over = Cancel::never();
        over.cancel();
        for (n, many) in [(6, false), (480, true)] {
            let (f, x) = all_of(n);
            let found = over.during(|| variance_in_time(&f, None, &x));
            assert_eq!(found.is_none(), many, "{n}");
            assert_eq!(over.during(|| by_variance(&f, &x)).is_none(), many, "{n}");
            assert_eq!(over.during(|| principal_axes(&f, &x, true)).is_none(), many, "{n}");
            // they are returned, and are those without a limit of time
            let asked = over.during(|| explained_variance(&f, &x));
            let endless = Cancel::never().during(|| variance_in_time(&f, None, &x));
            assert!((asked.projected - 1.0).abs() <= 1e-12 && asked.polar.is_finite(), "{n}: {asked:?}");
            assert_eq!(Some(asked), endless, "{n}");
        }
    }
}
