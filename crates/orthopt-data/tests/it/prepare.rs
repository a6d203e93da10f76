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

/// What a prepared matrix means, with implicit means subtracted.
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
        for scale in [Scale::None, Scale::Unit] {
            for features in [None, Some(6), Some(4)] {
                let prepare = Prepare { center, scale, features };
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
    let prepare = Prepare { center: true, scale: Scale::Unit, features: None };
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
    let prepare = Prepare { center: true, scale: Scale::None, features: Some(3) };
    let (data, means) = prepare.apply_to(zht).unwrap();
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
        let (data, _) = select.apply_to(data).unwrap();
        let expected = pitprops().matrix.to_dense().submatrix(0, 0, 4, 4).to_owned();
        assert_eq!(data.matrix.to_dense(), expected);
    }
}
