//! Explained variance against the figures of the literature, and the inequalities between its kinds.

use faer::Mat;
use faer::sparse::{SparseColMat, Triplet};
use orthopt::RowMat;
use orthopt::problem::{ExplainedVariance, PcaData, Storage, covariance_model, explained_variance};
use orthopt::smooth::Centring;
use orthopt_core::problem::variance::projected_share;

fn pitprops() -> Mat<f64> {
    orthopt_data::load("builtin:pitprops", &Default::default()).unwrap().matrix.to_dense()
}

fn explained(c: &Mat<f64>, x: &RowMat) -> ExplainedVariance {
    explained_variance(&covariance_model(&PcaData::Gram(c.as_ref()), Storage::Dense).unwrap(), x)
}

/// In per cent, to one digit, as papers print them.
fn percents(shares: &[f64]) -> Vec<f64> {
    shares.iter().map(|share| (1000.0 * share).round() / 10.0).collect()
}

/// The loadings of sparse PCA that Zou, Hastie and Tibshirani print for the pitprops data (2006, table 3).
/// Order: topdiam length moist testsg ovensg ringtop ringbut bowmax bowdist whorls clear knots diaknot.
fn zou_hastie_tibshirani() -> RowMat {
    let columns: [[f64; 13]; 6] = [
        [-0.477, -0.476, 0.0, 0.0, 0.177, 0.0, -0.250, -0.344, -0.416, -0.400, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.785, 0.620, 0.0, 0.0, 0.0, -0.021, 0.0, 0.0, 0.0, 0.013, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.640, 0.589, 0.492, 0.0, 0.0, 0.0, 0.0, 0.0, -0.015],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    ];
    RowMat::from_fn(13, 6, |i, k| columns[k][i])
}

/// Their table 3: adjusted variance of each component, and cumulated.
#[test]
fn adjusted_variance_of_the_paper() {
    let e = explained(&pitprops(), &zou_hastie_tibshirani());
    assert_eq!(percents(&e.adjusted), [28.0, 14.0, 13.3, 7.4, 6.8, 6.2]);
    assert_eq!(percents(&[e.total]), [75.8]);
    // the same loadings counted in the other ways (computed independently by Gaussian elimination)
    assert_eq!(percents(&e.ratio), [28.0, 14.4, 15.0, 7.7, 7.7, 7.7]);
    assert!((e.projected - 0.802_187_896_157_588).abs() < 1e-12, "{}", e.projected);
    assert!((e.predicted - 0.851_833_957_826_496_2).abs() < 1e-12, "{}", e.predicted);
}

/// Jeffers (1967) and table 1 of the same paper: principal components, for which all ways agree.
#[test]
fn principal_components_of_the_literature() {
    let c = pitprops();
    let eigen = c.self_adjoint_eigen(faer::Side::Lower).unwrap();
    let x = RowMat::from_fn(13, 6, |i, k| eigen.U()[(i, 12 - k)]);
    let e = explained(&c, &x);
    // as the paper prints them
    for (found, printed) in e.adjusted.iter().zip([32.4, 18.3, 14.4, 8.5, 7.0, 6.3]) {
        assert!((100.0 * found - printed).abs() <= 0.06, "{found} {printed}");
    }
    for share in [e.projected, e.predicted, e.ratio.iter().sum()] {
        assert!((share - e.total).abs() < 1e-12);
    }
    assert!((100.0 * e.total - 86.9).abs() <= 0.11, "{}", e.total);
}

#[test]
fn the_kinds_are_in_order_and_survive_lost_rank() {
    let c = pitprops();
    // orthonormal and sparse: pairs of variables, rotated
    for r in 1..=6 {
        for turn in [0.0, 0.3, 1.1, 2.5] {
            let (cos, sin) = (f64::cos(turn), f64::sin(turn));
            let x = RowMat::from_fn(13, r, |i, k| match i {
                i if i == 2 * k => cos,
                i if i == 2 * k + 1 => sin,
                _ => 0.0,
            });
            let e = explained(&c, &x);
            let sum: f64 = e.ratio.iter().sum();
            assert!((e.projected - sum).abs() < 1e-12, "XᵀX = I");
            assert!(e.total <= e.projected + 1e-12 && e.projected <= e.predicted + 1e-12, "{e:?}");
            assert!(e.adjusted.iter().zip(&e.ratio).all(|(a, b)| *a >= 0.0 && *a <= b + 1e-12));
        }
    }
    let twice = RowMat::from_fn(13, 2, |i, _| f64::from(u8::from(i == 0)));
    let e = explained(&c, &twice);
    assert!(e.adjusted[1].abs() < 1e-12 && (e.projected - 1.0 / 13.0).abs() < 1e-12, "{e:?}");
    let nothing = explained(&Mat::zeros(3, 3), &RowMat::from_fn(3, 1, |i, _| f64::from(u8::from(i == 0))));
    assert_eq!((nothing.total, nothing.projected, nothing.predicted), (0.0, 0.0, 0.0));
}

/// Of rows that X was not found from, also with means that are not theirs.
#[test]
fn of_held_out_rows() {
    let a = Mat::from_fn(9, 5, |i, j| ((i * 5 + j) as f64 * 1.3).cos());
    let x = RowMat::from_fn(5, 2, |i, k| f64::from(u8::from(i == k)));
    let other = Mat::from_fn(7, 5, |i, j| 2.0 + ((i * 5 + j) as f64 * 0.9).sin());
    let centring = Centring::of(other.as_ref());
    let means = centring.means().to_vec();
    let entries: Vec<_> = (0..5).flat_map(|j| (0..9).map(move |i| (i, j))).collect();
    let entries: Vec<_> = entries.iter().map(|(i, j)| Triplet::new(*i, *j, a[(*i, *j)])).collect();
    let sparse = SparseColMat::<usize, f64>::try_new_from_triplets(9, 5, &entries).unwrap();
    for (data, mu) in [
        (PcaData::Dense(a.as_ref()), vec![0.0; 5]),
        (PcaData::Sparse(sparse.as_ref(), None), vec![0.0; 5]),
        (PcaData::Centred(a.as_ref(), centring), means.clone()),
        (PcaData::Sparse(sparse.as_ref(), Some(means.clone())), means.clone()),
    ] {
        let square = |j: usize| (0..9).map(|i| (a[(i, j)] - mu[j]).powi(2)).sum::<f64>();
        let expected = (square(0) + square(1)) / (0..5).map(square).sum::<f64>();
        let share = projected_share(&data, &x).unwrap();
        assert!((share - expected).abs() < 1e-12, "{share} {expected}");
    }
    let c = Mat::<f64>::identity(5, 5);
    assert!(projected_share(&PcaData::Gram(c.as_ref()), &x).is_err());
    // a model of sparse data takes the means of its own columns only
    let error = covariance_model(&PcaData::Sparse(sparse.as_ref(), Some(means)), Storage::Gram).unwrap_err();
    assert!(error.to_string().contains("another mean"), "{error}");
    let bad = Mat::from_fn(2, 5, |_, _| f64::NAN);
    assert!(projected_share(&PcaData::Dense(bad.as_ref()), &x).is_err());
}
