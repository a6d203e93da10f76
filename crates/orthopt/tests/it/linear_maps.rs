//! Linear maps: adjoints, norms, sizes.

use crate::common::{cases, gaussian, gaussian_rows};
use orthopt::RowMat;
use orthopt::concave::Concave;
use orthopt::family::CompositeOptions;
use orthopt::linear_map::{
    AnyMap, Composition, Differences, FunctionMap, Identity, LeftMatrix, LinearMap, Selection,
};
use orthopt::nonsmooth::Nonsmooth;
use orthopt::objective::Evaluate;
use orthopt::problem::PcaData;
use orthopt::smooth::Smooth;
use orthopt_core::constraint::stiefel::orthonormalise;
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
    let other = columns.clone();
    let (there, back) = (other.clone(), other);
    let functions =
        FunctionMap::new((N, R), move |x| there.apply(x), move |y| back.adjoint(y, (N, R))).unwrap();
    let functions = AnyMap::Functions(functions);
    let compose = |a: &AnyMap, b: &AnyMap| AnyMap::Composition(Composition::new(a.clone(), b.clone()));
    vec![
        AnyMap::Identity(Identity),
        rows.clone(),
        columns.clone(),
        fused.clone(),
        left(5, N, 1),
        left(14, N, 2),
        functions.clone(),
        compose(&fused, &functions),
        compose(&fused, &columns),
        compose(&columns, &fused),
        compose(&left(6, 3, 3), &rows),
        compose(&fused, &compose(&left(6, N, 4), &columns)),
        compose(&fused, &fused),
    ]
}

#[test]
fn functions_that_are_no_map_are_refused() {
    let b = gaussian_rows(5, N, 8);
    let (of_product, of_adjoint) = (b.clone(), b.clone());
    let product = move |x: &RowMat, sign: f64| {
        let b = &of_product;
        RowMat::from_fn(5, x.ncols(), |i, k| sign * (0..N).map(|j| b.get(i, j) * x.get(j, k)).sum::<f64>())
    };
    let adjoint = move |y: &RowMat| {
        let b = &of_adjoint;
        RowMat::from_fn(N, y.ncols(), |j, k| (0..5).map(|i| b.get(i, j) * y.get(i, k)).sum::<f64>())
    };
    let said = |apply: Box<dyn Fn(&RowMat) -> RowMat + Send + Sync>,
                adjoint: Box<dyn Fn(&RowMat) -> RowMat + Send + Sync>| {
        FunctionMap::new((N, R), apply, adjoint).unwrap_err().to_string()
    };
    let (p, q) = (product.clone(), adjoint.clone());
    let map = FunctionMap::new((N, R), move |x| p(x, 1.0), move |y| q(y)).unwrap();
    let exact = LeftMatrix::new(b.as_mat()).unwrap().norm((N, R));
    assert!((map.norm((N, R)) - exact).abs() <= 1e-5 * exact && map.shape() == (5, R));
    assert!(map.output((N, R + 1)).is_err());
    let (p, q) = (product.clone(), adjoint.clone());
    assert!(said(Box::new(move |x| p(x, -1.0)), Box::new(move |y| q(y))).contains("not the adjoint"));
    let (p, q) = (product.clone(), adjoint.clone());
    let shifted = move |x: &RowMat| {
        let y = p(x, 1.0);
        RowMat::from_fn(5, y.ncols(), |i, k| y.get(i, k) + 1.0)
    };
    assert!(said(Box::new(shifted), Box::new(move |y| q(y))).contains("not linear"));
    let p = product.clone();
    assert!(said(Box::new(move |x| p(x, 1.0)), Box::new(Clone::clone)).contains("adjoint"));
    let q = adjoint.clone();
    let holes = |x: &RowMat| RowMat::from_fn(5, x.ncols(), |_, _| f64::NAN);
    assert!(said(Box::new(holes), Box::new(move |y| q(y))).contains("A(X)"));
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

/// A penalty h − g with a map is (h − g)(A(X)): here against sums over the entries of A(X), and the slope of
/// F where it is smooth against its own differences.
#[test]
fn a_penalty_with_a_map_is_all_of_it_at_the_image() {
    let (lambda, cap, k) = (0.8, 0.3, 5);
    let (data, x) = (gaussian(20, N, 5), orthonormalise(&gaussian_rows(N, R, 6)));
    let value = |penalty: &str, y: &RowMat| -> f64 {
        let mut sizes: Vec<f64> = y.data().iter().map(|v| v.abs()).collect();
        sizes.sort_by(|a, b| b.total_cmp(a));
        lambda
            * match penalty {
                "capped-l1" => sizes.iter().map(|v| v.min(cap)).sum::<f64>(),
                "l1-largest-k" => sizes[k..].iter().sum(),
                _ => sizes.iter().sum(),
            }
    };
    for a in maps() {
        for penalty in ["capped-l1", "l1-largest-k", "fused-l1"] {
            let mut options = CompositeOptions {
                penalty: Some(penalty.into()),
                k: Some(k),
                map: Some(a.clone()),
                ..Default::default()
            };
            options.shape.insert("capped-l1-cap".to_string(), orthopt::options::Value::Number(cap));
            let samples = PcaData::Dense(data.as_ref());
            let p = orthopt::family::composite_problem("pca", &samples, R, lambda, &options).unwrap();
            let mut image = a.apply(&x);
            if penalty == "fused-l1" {
                image = Differences.apply(&image);
            }
            let (direct, found) = (value(penalty, &image), p.objective(&x).nonsmooth);
            assert!((found - direct).abs() <= 1e-5 * (1.0 + direct), "{penalty} {a:?}: {found} {direct}");
            assert_eq!(p.evaluated(&x), (p.value(&x), p.objective(&x)));
            let exact = p.value(&x) - p.f.value(&x);
            assert!((exact - direct).abs() <= 1e-12 * (1.0 + direct), "{penalty} {a:?}: {exact} {direct}");
            // h∘A − g by the subgradients that solvers use
            let mut slope = p.a.apply(&x);
            slope.data_mut().iter_mut().for_each(|v| *v = p.h.subdifferential(*v).0);
            let mut slope = p.a.adjoint(&slope, (N, R));
            let mut xi = RowMat::zeros(N, R);
            p.g.subgradient(&x, &mut xi);
            slope.data_mut().iter_mut().zip(xi.data()).for_each(|(s, xi)| *s -= xi);
            for entry in [0, 7, N * R - 1] {
                let at = |t: f64| {
                    let mut moved = x.clone();
                    moved.data_mut()[entry] += t;
                    p.value(&moved) - p.f.value(&moved)
                };
                let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
                let along = slope.data()[entry];
                assert!((difference - along).abs() <= 1e-7, "{penalty} {a:?}: {difference} {along}");
            }
        }
    }
}
