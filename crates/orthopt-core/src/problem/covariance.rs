//! C of the data of a PCA problem, and the smooth part that they make.

use faer::MatRef;

use super::{PcaData, Storage};
use crate::smooth::{AnySmooth, DenseGram, DenseQuadratic, Quadratic, SparseGram, for_each};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::inherit;
use orthopt_linalg::error::{Error, Result};

/// f(X) = −½ tr(XᵀCX) in the storage asked for; `auto` is that of a search ([`Storage::for_search`]).
///
/// # Errors
/// Data that are not finite, or so large or small that C overflows or underflows; a C that is not
/// symmetric.
pub fn covariance_model(data: &PcaData<'_>, storage: Storage) -> Result<AnySmooth> {
    let model = model_of(data, storage)?;
    check_range(&model, data)?;
    Ok(model)
}

/// The smallest size of C, its largest entry: 2⁻¹⁰⁴², below which subnormal numbers have fewer than 32 binary digits,
/// too few for tolerances of 1e-9.
pub const SMALLEST: f64 = f64::MIN_POSITIVE / (1 << 20) as f64;

/// Squares of very large data overflow, those of very small data vanish.
fn check_range(model: &AnySmooth, data: &PcaData<'_>) -> Result<()> {
    let diagonal = model.diagonal();
    if let Some(i) = diagonal.iter().position(|m| !m.is_finite()) {
        return Err(Error::Overflow { column: i + 1 });
    }
    let largest = |values: &[f64]| values.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    let size = match data {
        PcaData::Gram(c) => {
            (0..c.ncols()).flat_map(|j| c.col(j).iter()).fold(0.0f64, |most, v| most.max(v.abs()))
        }
        PcaData::SparseGram(c) => largest(c.val()),
        _ => largest(&diagonal),
    };
    if size < SMALLEST && (size > 0.0 || !is_zero(data)) {
        return Err(Error::Underflow);
    }
    Ok(())
}

/// True if all entries of the samples are 0 after centring, or those of C.
fn is_zero(data: &PcaData<'_>) -> bool {
    let all = |a: MatRef<'_, f64>, zero: &dyn Fn(usize, f64) -> bool| {
        (0..a.ncols()).all(|j| (0..a.nrows()).all(|i| zero(j, a[(i, j)])))
    };
    match data {
        PcaData::Dense(a) | PcaData::Gram(a) => all(*a, &|_, v| v == 0.0),
        PcaData::Centred(a, centring) => all(*a, &|j, v| centring.apply(j, v) == 0.0),
        PcaData::SparseGram(a) | PcaData::Sparse(a, None) => a.val().iter().all(|v| *v == 0.0),
        PcaData::Sparse(a, Some(means)) => (0..a.ncols()).all(|j| {
            let values = a.val_of_col(j);
            (values.len() == a.nrows() || means[j] == 0.0) && values.iter().all(|v| *v == means[j])
        }),
    }
}

fn model_of(data: &PcaData<'_>, storage: Storage) -> Result<AnySmooth> {
    Ok(match data {
        PcaData::Gram(c) => AnySmooth::Dense(DenseQuadratic::negative(*c)?),
        PcaData::SparseGram(c) => AnySmooth::Dense(DenseQuadratic::negative(c.to_dense().as_ref())?),
        PcaData::Dense(a) | PcaData::Centred(a, _) => {
            check_finite(*a)?;
            let centring = if let PcaData::Centred(_, c) = data { Some(c) } else { None };
            let dense = storage.for_search(data) == Storage::Dense;
            let form = || DenseQuadratic::from_gram_of(*a, centring);
            // wide data are less than C, and are there if cancelled; tall data take longer without it
            let formed = || if a.nrows() < a.ncols() { form() } else { inherit(None, form) };
            match dense.then(formed).flatten() {
                Some(f) => AnySmooth::Dense(f),
                None => AnySmooth::DenseGram(
                    centring.map_or_else(|| DenseGram::new(*a), |c| DenseGram::centred(*a, c)),
                ),
            }
        }
        PcaData::Sparse(a, means) => {
            let model = SparseGram::new(*a, means.clone())?;
            let all: Vec<usize> = (0..a.ncols()).collect();
            let dense = storage.for_search(data) == Storage::Dense;
            // the data are there if cancelled
            match dense.then(|| model.negative_gram(&all)).flatten() {
                Some(m) => AnySmooth::Dense(DenseQuadratic::from_negative_gram(m)),
                None => AnySmooth::SparseGram(model),
            }
        }
    })
}

/// C = AᵀA/m + ridge·tr(AᵀA/m)/n·I of data with m rows (minus their means for centred data),
/// or C + ridge·tr(C)/n·I of a given C. Cost O(mn²).
///
/// # Errors
/// Data that are not finite, a C that is not symmetric, a negative ridge.
pub fn covariance(data: &PcaData<'_>, ridge: f64) -> Result<RowMat> {
    let samples = match data {
        PcaData::Dense(a) | PcaData::Centred(a, _) => a.nrows(),
        PcaData::Sparse(a, _) => a.nrows(),
        PcaData::Gram(_) | PcaData::SparseGram(_) => 1,
    };
    shared_out(data, samples, ridge)
}

/// C = AᵀA + ridge·tr(AᵀA)/n·I, [`covariance`] without the division by m. Cost O(mn²).
///
/// # Errors
/// Those of [`covariance`].
pub fn scatter(data: &PcaData<'_>, ridge: f64) -> Result<RowMat> {
    shared_out(data, 1, ridge)
}

/// AᵀA/samples with the ridge.
fn shared_out(data: &PcaData<'_>, samples: usize, ridge: f64) -> Result<RowMat> {
    if !(ridge >= 0.0 && ridge.is_finite()) {
        return Err(Error::InvalidOption {
            option: "ridge".into(),
            value: ridge.to_string(),
            expected: "a finite number >= 0; it is relative to tr(C)/n".into(),
        });
    }
    // all entries are computed first
    let AnySmooth::Dense(model) = inherit(None, || covariance_model(data, Storage::Dense))? else {
        return Err(Error::Factorisation("C = A'A of the samples"));
    };
    let (minus, n) = (model.matrix(), data.ncols()); // −AᵀA
    let scale = 1.0 / samples.max(1) as f64;
    let mut c = RowMat::from_fn(n, n, |i, k| -0.5 * scale * (minus.get(i, k) + minus.get(k, i)));
    let mean = (0..n).map(|i| c.get(i, i)).sum::<f64>() / n.max(1) as f64;
    (0..n).for_each(|i| c.set(i, i, c.get(i, i) + ridge * mean));
    Ok(c)
}

fn check_finite(a: MatRef<'_, f64>) -> Result<()> {
    let mut bad = None;
    for_each(a, |i, j, v| {
        if !v.is_finite() && bad.is_none() {
            bad = Some((i, j));
        }
    });
    match bad {
        Some((i, j)) => Err(Error::NotFinite { what: "the data matrix".into(), row: i + 1, col: j + 1 }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;

    use super::*;
    use crate::smooth::Smooth;
    use orthopt_linalg::cancel::Cancel;

    /// If cancelled, C of data with more columns than rows is not completed; f then uses the data, with equal values. C of other data is completed.
    #[test]
    fn a_c_that_nobody_waits_for_is_left() {
        let a = Mat::from_fn(30, 300, |i, j| ((3 * i + 5 * j + i * j) % 17) as f64 - 8.0);
        let x = RowMat::from_fn(300, 2, |i, k| ((i + 7 * k) % 5) as f64);
        let over = Cancel::never();
        over.cancel();
        let centring = crate::smooth::Centring::of(a.as_ref());
        for data in [PcaData::Dense(a.as_ref()), PcaData::Centred(a.as_ref(), centring)] {
            let formed = covariance_model(&data, Storage::Dense).unwrap();
            let left = over.during(|| covariance_model(&data, Storage::Dense)).unwrap();
            assert!(matches!(formed, AnySmooth::Dense(_)) && matches!(left, AnySmooth::DenseGram(_)));
            let (one, other) = (formed.value(&x), left.value(&x));
            assert!((one - other).abs() <= 1e-12 * one.abs(), "{one} {other}");
        }
        let tall = PcaData::Dense(a.as_ref().transpose());
        let formed = over.during(|| covariance_model(&tall, Storage::Dense)).unwrap();
        assert!(matches!(formed, AnySmooth::Dense(_)));
    }
}
