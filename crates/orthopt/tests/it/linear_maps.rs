//! Linear maps: adjoints, norms, sizes.

use crate::common::{cases, gaussian, gaussian_rows};
use orthopt::linalg::RowMat;
use orthopt::linear_map::{AnyMap, Composition, Differences, Identity, LeftMatrix, LinearMap, Selection};
use proptest::prelude::*;

const N: usize = 9;
const R: usize = 4;

/// Every kind, for X of N × R.
fn maps() -> Vec<AnyMap> {
    let left =
        |p: usize, n: usize, seed: u64| AnyMap::Left(LeftMatrix::new(gaussian(p, n, seed).as_ref()).unwrap());
    let rows = AnyMap::Selection(Selection::rows(vec![7, 0, 3]).unwrap());
    let columns = AnyMap::Selection(Selection::columns(vec![2, 1]).unwrap());
    let fused = AnyMap::Differences(Differences);
    let compose = |a: &AnyMap, b: &AnyMap| AnyMap::Composition(Composition::new(a.clone(), b.clone()));
    vec![
        AnyMap::Identity(Identity),
        rows.clone(),
        columns.clone(),
        fused.clone(),
        left(5, N, 1),
        left(14, N, 2),
        compose(&fused, &columns),
        compose(&columns, &fused),
        compose(&left(6, 3, 3), &rows),
        compose(&fused, &compose(&left(6, N, 4), &columns)),
        compose(&fused, &fused),
    ]
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn adjoint_identity_and_norm(seed in any::<u64>()) {
        let x = gaussian_rows(N, R, seed);
        for a in maps() {
            let shape = a.output((N, R)).unwrap();
            let y = gaussian_rows(shape.0, shape.1, seed ^ 1);
            let ax = a.apply(&x);
            prop_assert_eq!((ax.nrows(), ax.ncols()), shape);
            let aty = a.adjoint(&y, (N, R));
            prop_assert_eq!((aty.nrows(), aty.ncols()), (N, R));
            let (left, right) = (ax.inner(&y), x.inner(&aty));
            prop_assert!((left - right).abs() <= 1e-12 * (1.0 + left.abs()), "{a:?}: {left} {right}");
            prop_assert!(ax.norm() <= a.norm((N, R)) * x.norm() * (1.0 + 1e-12), "{a:?}");
        }
    }
}

/// The bound is reached, to one part in a hundred thousand, by power iteration.
#[test]
fn norms_are_tight() {
    for a in maps() {
        let mut v = gaussian_rows(N, R, 3);
        for _ in 0..3000 {
            v = a.adjoint(&a.apply(&v), (N, R));
            let length = v.norm();
            v.data_mut().iter_mut().for_each(|x| *x /= length);
        }
        let (reached, bound) = (a.apply(&v).norm(), a.norm((N, R)));
        assert!(reached >= bound * (1.0 - 1e-5), "{a:?}: {reached} {bound}");
    }
}

#[test]
fn small_maps_by_hand() {
    let x = RowMat::from_fn(3, 2, |i, j| (10 * i + j) as f64);
    assert_eq!(Differences.apply(&x).data(), &[10.0, 10.0, 10.0, 10.0]);
    assert_eq!(Selection::rows(vec![2]).unwrap().apply(&x).data(), &[20.0, 21.0]);
    assert_eq!(Selection::columns(vec![1]).unwrap().apply(&x).data(), &[1.0, 11.0, 21.0]);
}

#[test]
fn sizes_that_do_not_fit() {
    let said = |a: &dyn Fn() -> orthopt::Result<(usize, usize)>| a().unwrap_err().to_string();
    assert_eq!(
        said(&|| Selection::rows(vec![9])?.output((N, R))),
        "the linear map selects row 10 (counted from 1), but X is 9 x 4"
    );
    assert_eq!(
        said(&|| Selection::columns(vec![4])?.output((N, R))),
        "the linear map selects column 5 (counted from 1), but X is 9 x 4"
    );
    assert_eq!(
        said(&|| Selection::rows(vec![1, 1])?.output((N, R))),
        "a selection of rows needs at least one, each once"
    );
    assert_eq!(
        said(&|| Selection::columns(vec![])?.output((N, R))),
        "a selection of columns needs at least one, each once"
    );
    assert_eq!(said(&|| Differences.output((1, R))), "differences of rows need 2 rows, but X is 1 x 4");
    assert_eq!(
        said(&|| LeftMatrix::new(gaussian(3, 5, 1).as_ref())?.output((N, R))),
        "the matrix of the linear map is 3 x 5, expected 3 x 9"
    );
    assert!(LeftMatrix::new(faer::Mat::zeros(0, 4).as_ref()).is_err());
    assert!(LeftMatrix::new(faer::Mat::from_fn(2, 2, |_, _| f64::NAN).as_ref()).is_err());
    let late = AnyMap::Composition(Composition::new(
        AnyMap::Selection(Selection::rows(vec![8]).unwrap()),
        AnyMap::Differences(Differences),
    ));
    assert!(late.output((N, R)).is_err() && late.output((N + 1, R)).is_ok());
}
