//! Centring and scaling: the sparse way means the same as the obvious dense way.

use crate::common::sparse;
use faer::Mat;
use orthopt_data::{DataSet, LoadOptions, Matrix, Prepare, Prepared, Scale, load};

fn example() -> Mat<f64> {
    let data = load("sparse-randn:30:6:70:4", &LoadOptions::default()).unwrap();
    let mut matrix = data.matrix.to_dense();
    for i in 0..30 {
        matrix[(i, 1)] = 0.1; // constant
        matrix[(i, 2)] = 0.0; // empty
        matrix[(i, 3)] += 1e3; // mean far above the spread
    }
    matrix
}

/// Prepared data as a matrix, with implicit means subtracted.
fn explicit(prepared: &Prepared) -> Mat<f64> {
    let mut matrix = prepared.matrix.to_dense();
    if let Some(means) = &prepared.means {
        for j in 0..matrix.ncols() {
            for i in 0..matrix.nrows() {
                matrix[(i, j)] -= means[j];
            }
        }
    }
    matrix
}

fn norms(matrix: &Mat<f64>) -> Vec<f64> {
    matrix.col_iter().map(|column| column.norm_l2()).collect()
}

#[test]
fn sparse_and_dense_agree() {
    let original = example();
    for center in [false, true] {
        for scale in [Scale::None, Scale::Unit, Scale::Std] {
            for (features, covariance) in [(None, false), (Some(6), true), (Some(4), false)] {
                let prepare = Prepare { center, scale, features, covariance };
                let dense = prepare.apply(original.clone().into()).unwrap();
                let implicit = prepare.apply(sparse(&original)).unwrap();
                assert!(dense.means.is_none() && !dense.matrix.is_sparse());
                assert!(implicit.matrix.is_sparse());
                assert_eq!(implicit.means.is_some(), center);
                let difference = explicit(&dense) - explicit(&implicit);
                assert!(difference.norm_max() < 1e-12, "{prepare:?}: {}", difference.norm_max());
            }
        }
    }
}

#[test]
fn centred_columns_of_unit_norm() {
    let prepare = Prepare { center: true, scale: Scale::Unit, ..Prepare::default() };
    let prepared = prepare.apply(example().into()).unwrap();
    assert!(prepared.matrix.column_means().iter().all(|mean| mean.abs() < 1e-13));
    for (found, expected) in norms(&explicit(&prepared)).iter().zip([1.0, 0.0, 0.0, 1.0, 1.0, 1.0]) {
        assert!((found - expected).abs() < 1e-13);
    }
}

#[test]
fn all_entries_by_a_number() {
    let half = Scale::parse("0.5").unwrap();
    assert_eq!(
        (half, Scale::parse("none"), Scale::parse("unit")),
        (Scale::By(0.5), Some(Scale::None), Some(Scale::Unit))
    );
    assert!(["0", "-1", "nan", "inf", "rows", ""].iter().all(|text| Scale::parse(text).is_none()));
    let original = example();
    for center in [false, true] {
        let plain = Prepare { center, ..Prepare::default() };
        let scaled = Prepare { scale: half, ..plain.clone() };
        for matrix in [Matrix::Dense(original.clone()), sparse(&original)] {
            let expected = explicit(&plain.apply(matrix.clone()).unwrap());
            let found = explicit(&scaled.apply(matrix).unwrap());
            assert!((found * faer::Scale(2.0) - expected).norm_max() < 1e-12);
        }
    }
}

#[test]
fn nothing_is_done_unless_asked() {
    let original = example();
    let prepared = Prepare::default().apply(original.clone().into()).unwrap();
    assert_eq!(prepared.matrix.to_dense(), original);
    let huge = faer::mat![[3e200, 0.0], [4e200, 5e-324]];
    let unit = Prepare { scale: Scale::Unit, ..Prepare::default() };
    let expected = faer::mat![[0.6, 0.0], [0.8, 1.0]];
    for matrix in [Matrix::Dense(huge.clone()), sparse(&huge)] {
        let found = unit.apply(matrix).unwrap().matrix.to_dense();
        assert!((found - &expected).norm_max() < 1e-15);
    }
}

#[test]
fn wrong_numbers_of_features() {
    for (features, expected) in [
        (7, "7 features were asked for, but the data has 6 columns; choose 1 to 6"),
        (0, "0 features were asked for, but the data has 6 columns; choose 1 to 6"),
    ] {
        let prepare = Prepare { features: Some(features), ..Prepare::default() };
        assert_eq!(prepare.apply(example().into()).unwrap_err().to_string(), expected);
    }
}

#[test]
fn data_sets() {
    let zht = load("spiked:zht:20", &LoadOptions::default()).unwrap();
    let prepare = Prepare { center: true, features: Some(3), ..Prepare::default() };
    let (data, means, _) = prepare.apply_to(zht).unwrap();
    assert_eq!(data.names.unwrap(), ["X1", "X2", "X3"]);
    assert!(data.truth.is_none() && means.is_none());

    let pitprops = || load("builtin:pitprops", &LoadOptions::default()).unwrap();
    assert_eq!(
        prepare.apply_to(pitprops()).unwrap_err().to_string(),
        "builtin:pitprops: centring is not possible, because the table is C itself and not samples; \
         leave it out, or give the samples"
    );
    let select = Prepare { features: Some(4), ..Prepare::default() };
    let as_sparse = DataSet { matrix: sparse(&pitprops().matrix.to_dense()), ..pitprops() };
    for data in [pitprops(), as_sparse] {
        let (data, ..) = select.apply_to(data).unwrap();
        let expected = pitprops().matrix.to_dense().submatrix(0, 0, 4, 4).to_owned();
        assert_eq!(data.matrix.to_dense(), expected);
    }
}

/// (row − means) / scales of raw rows is what was prepared, but for the factor of a covariance.
#[test]
fn units_say_what_was_done_to_the_columns() {
    let original = example();
    for scale in [Scale::None, Scale::Unit, Scale::Std, Scale::By(0.25)] {
        for (center, covariance) in [(true, false), (true, true), (false, true)] {
            let prepare = Prepare { center, scale, covariance, features: None };
            for matrix in [Matrix::Dense(original.clone()), sparse(&original)] {
                let prepared = prepare.apply(matrix).unwrap();
                let units = &prepared.units;
                assert_eq!(units.means.is_some(), center);
                assert_eq!(units.scales.is_some(), scale != Scale::None);
                assert_eq!(units.shrunk, covariance.then(|| 29f64.sqrt()));
                let expected = explicit(&prepared) * faer::Scale(units.shrunk.unwrap_or(1.0));
                for j in [0, 2, 3, 4, 5] {
                    let mean = units.means.as_ref().map_or(0.0, |means| means[j]);
                    let divisor = units.scales.as_ref().map_or(1.0, |scales| scales[j]);
                    for i in 0..30 {
                        let found = (original[(i, j)] - mean) / divisor;
                        assert!((found - expected[(i, j)]).abs() < 1e-11, "{prepare:?} {i} {j}");
                    }
                }
            }
        }
    }
}

#[test]
fn correlations_and_covariances() {
    let a = faer::mat![[1.0, 2.0], [2.0, 1.0], [4.0, 9.0], [5.0, 4.0]];
    let c = |scale| {
        let prepare = Prepare { center: true, scale, covariance: true, features: None };
        let a = prepare.apply(Matrix::Dense(a.clone())).unwrap().matrix.to_dense();
        a.transpose() * &a
    };
    // cov() and cor() of R
    let (covariance, correlation) = (c(Scale::None), c(Scale::Std));
    for (found, expected) in [
        (covariance[(0, 0)], 10.0 / 3.0),
        (covariance[(0, 1)], 4.0),
        (covariance[(1, 1)], 38.0 / 3.0),
        (correlation[(0, 0)], 1.0),
        (correlation[(0, 1)], 4.0 / (380f64 / 9.0).sqrt()),
    ] {
        assert!((found - expected).abs() < 1e-14, "{found} {expected}");
    }
    let one = Prepare { covariance: true, ..Prepare::default() };
    let error = one.apply(Matrix::Dense(Mat::zeros(1, 3))).unwrap_err().to_string();
    assert_eq!(error, "one row has no variance: standard deviations and covariances need at least two");
}
