//! Starting points: feasible, what they claim to be, and exact about what is wrong.

use crate::common::{gaussian, gaussian_rows, on_data, problem, rng, sparse, thinned};
use faer::Mat;
use orthopt::Error;
use orthopt::RowMat;
use orthopt::problem::{PcaData, Storage, covariance_model};
use orthopt::smooth::{AnySmooth, DenseGram, DenseQuadratic, Quadratic, Smooth, SparseGram};
use orthopt::start::{STARTS, Start, leading_eigenvectors};
use orthopt_core::constraint::stiefel;
use rand::seq::SliceRandom;

fn model(a: &Mat<f64>) -> AnySmooth {
    covariance_model(&PcaData::Dense(a.as_ref()), Storage::Auto).unwrap()
}

fn groups_of(x: &RowMat) -> Vec<usize> {
    (0..x.ncols()).map(|k| (0..x.nrows()).filter(|i| x.get(*i, k) != 0.0).count()).collect()
}

#[test]
fn every_start_is_feasible() {
    for (n, r) in [(1, 1), (2, 1), (2, 2), (7, 7), (30, 4), (40, 39), (300, 5)] {
        let f = model(&gaussian(n + 5, n, 3));
        for (name, _) in STARTS {
            let start = Start::parse(name).unwrap();
            assert_eq!(start.name(), *name);
            for nonneg in [false, true] {
                for seed in 0..3 {
                    let what = format!("{name}, {n} x {r}, nonneg {nonneg}, seed {seed}");
                    let x = match start.point(&f, r, nonneg, seed) {
                        Ok(x) => x,
                        Err(e) => {
                            assert!(nonneg && *name == "random", "{what}: {e}");
                            continue;
                        }
                    };
                    assert_eq!((x.nrows(), x.ncols()), (n, r), "{what}");
                    assert!(stiefel::feasibility(&x) <= 1e-12, "{what}: {:e}", stiefel::feasibility(&x));
                    assert!(!nonneg || x.data().iter().all(|v| *v >= 0.0), "{what}");
                    assert_eq!(x, start.point(&f, r, nonneg, seed).unwrap(), "{what} twice");
                }
            }
        }
    }
}

#[test]
fn identity_and_coordinates() {
    let mut a = gaussian(20, 6, 1);
    for (j, size) in [0.1, 3.0, 0.2, 9.0, 5.0, 0.3].into_iter().enumerate() {
        let norm = a.col(j).norm_l2();
        (0..20).for_each(|i| a[(i, j)] *= size / norm);
    }
    let f = model(&a);
    let x = Start::Identity.point(&f, 3, true, 0).unwrap();
    assert_eq!(x, RowMat::from_fn(6, 3, |i, k| f64::from(u8::from(i == k))));
    // the largest variances in decreasing order: variables 3, 4, 1
    let x = Start::Coordinates.point(&f, 3, true, 0).unwrap();
    assert_eq!(x, RowMat::from_fn(6, 3, |i, k| f64::from(u8::from([3, 4, 1][k] == i))));
}

#[test]
fn partitions_have_equal_weights_and_no_empty_group() {
    let f = model(&gaussian(10, 12, 1));
    for r in [1, 3, 11, 12] {
        let mut distinct = std::collections::HashSet::new();
        for seed in 0..50 {
            let x = Start::Partition.point(&f, r, true, seed).unwrap();
            let sizes = groups_of(&x);
            assert!(sizes.iter().all(|s| *s > 0) && sizes.iter().sum::<usize>() == 12, "{sizes:?}");
            for i in 0..12 {
                let entries: Vec<usize> = (0..r).filter(|k| x.get(i, *k) != 0.0).collect();
                assert_eq!(entries.len(), 1);
                let k = entries[0];
                assert_eq!(x.get(i, k), 1.0 / (sizes[k] as f64).sqrt());
            }
            distinct.insert(format!("{:?}", x.data()));
        }
        assert!(r == 1 || distinct.len() > 40, "{} partitions from 50 seeds", distinct.len());
    }
}

/// Spans the eigenspace of the r largest eigenvalues of C = −M: the residual of every vector,
/// and the sum of the eigenvalues.
fn check_pca(what: &str, f: &impl Quadratic, m: &Mat<f64>, r: usize, tol: f64) {
    let v = leading_eigenvectors(f, r).unwrap();
    let mv = m * v.to_mat();
    let known = m.self_adjoint_eigenvalues(faer::Side::Lower).unwrap(); // ascending
    let scale = known.iter().fold(0.0f64, |a, b| a.max(b.abs()));
    assert!(stiefel::feasibility(&v) <= 1e-12, "{what}: {:e}", stiefel::feasibility(&v));
    for k in 0..r {
        let value: f64 = (0..v.nrows()).map(|i| v.get(i, k) * mv[(i, k)]).sum();
        let residual = (0..v.nrows()).map(|i| (mv[(i, k)] - value * v.get(i, k)).powi(2)).sum::<f64>().sqrt();
        assert!((value - known[k]).abs() <= tol * scale, "{what}: eigenvalue {k} {value}, full {}", known[k]);
        assert!(residual <= tol.sqrt() * scale, "{what}: residual {k} {residual:e}");
        assert!((0..v.nrows()).map(|i| v.get(i, k).powi(3)).sum::<f64>() >= 0.0, "{what}: sign {k}");
    }
    let x = Start::Pca.point(f, r, false, 0).unwrap();
    assert_eq!(x, v, "{what}");
}

#[test]
fn pca_is_the_full_eigendecomposition() {
    for (m, n, r) in
        [(50, 30, 1), (50, 30, 7), (9, 30, 12), (20, 5, 5), (400, 300, 6), (60, 320, 10), (500, 350, 1)]
    {
        let a = thinned(m, n, 0.5, 2);
        let s = sparse(&a);
        let c = -(a.transpose() * &a);
        let what = format!("{m} x {n}, rank {r}");
        check_pca(&format!("dense {what}"), &model(&a), &c, r, 1e-9);
        check_pca(&format!("gram {what}"), &DenseGram::new(a.as_ref()), &c, r, 1e-9);
        check_pca(&format!("sparse {what}"), &SparseGram::new(s.as_ref(), None).unwrap(), &c, r, 1e-9);
        let means: Vec<f64> = (0..n).map(|j| a.col(j).sum() / m as f64).collect();
        let centred = Mat::from_fn(m, n, |i, j| a[(i, j)] - means[j]);
        let f = SparseGram::new(s.as_ref(), Some(means)).unwrap();
        check_pca(&format!("centred {what}"), &f, &-(centred.transpose() * &centred), r, 1e-9);
    }
}

#[test]
fn pca_of_indefinite_and_degenerate_matrices() {
    for n in [40, 300] {
        let b = gaussian(n, n, 4);
        for (what, m) in [
            ("indefinite", Mat::from_fn(n, n, |i, j| b[(i, j)] + b[(j, i)])),
            // all eigenvalues equal, and fewer of them than vectors asked for
            ("identity", Mat::from_fn(n, n, |i, j| -f64::from(u8::from(i == j)))),
            ("rank one", Mat::from_fn(n, n, |_, _| -1.0)),
            ("rank two", Mat::from_fn(n, n, |i, j| if i == j && i < 2 { -1.0 - i as f64 } else { 0.0 })),
        ] {
            let what = format!("{what} {n}");
            check_pca(&what, &DenseQuadratic::new(m.as_ref()).unwrap(), &m, 4, 1e-8);
        }
    }
}

/// Round numbers of low rank: Krylov vectors become exactly zero.
#[test]
fn pca_of_round_numbers_of_low_rank() {
    let hit = |yes: bool| f64::from(u8::from(yes));
    let n = 300;
    for (what, a) in [
        ("ones", Mat::from_fn(1, n, |_, _| 1.0)),
        ("equal rows", Mat::from_fn(7, n, |_, _| 0.1)),
        ("every second variable", Mat::from_fn(1, n, |_, j| hit(j % 2 == 0))),
        ("two groups of four", Mat::from_fn(2, n, |i, j| hit(j % 4 == i))),
        ("three groups", Mat::from_fn(3, n, |i, j| hit(j % 3 == i))),
        ("four variables", Mat::from_fn(1, n, |_, j| hit(j < 4))),
        ("one variable", Mat::from_fn(9, n, |i, j| if j == 7 { 1.0 + i as f64 } else { 0.0 })),
    ] {
        let m = -(a.transpose() * &a);
        for r in [1, 3, 12] {
            check_pca(what, &DenseGram::new(a.as_ref()), &m, r, 1e-9);
            check_pca(what, &DenseQuadratic::new(m.as_ref()).unwrap(), &m, r, 1e-9);
            check_pca(what, &SparseGram::new(sparse(&a).as_ref(), None).unwrap(), &m, r, 1e-9);
        }
    }
}

#[test]
fn pca_of_data_that_are_all_zero() {
    for n in [40, 300] {
        let zero = Mat::zeros(n, n);
        check_pca(&format!("zero {n}"), &DenseQuadratic::new(zero.as_ref()).unwrap(), &zero, 3, 1e-8);
    }
}

#[test]
fn rounding_pca_for_nonnegative_problems() {
    for (n, r) in [(6, 2), (6, 6), (50, 7), (300, 10)] {
        for seed in 0..4 {
            let f = model(&gaussian(2 * n, n, seed));
            let x = Start::Pca.point(&f, r, true, 0).unwrap();
            assert!(x.data().iter().all(|v| *v >= 0.0) && stiefel::feasibility(&x) <= 1e-12);
            assert!(groups_of(&x).iter().all(|s| *s > 0), "{n} x {r}: {:?}", groups_of(&x));
            // disjoint supports
            assert!((0..n).all(|i| x.row(i).iter().filter(|v| **v > 0.0).count() <= 1));
        }
    }
    // columns of equal signs must be kept whole: a leading vector that is all negative
    let a = Mat::from_fn(8, 4, |i, j| -1.0 - (i * j) as f64);
    assert!(groups_of(&Start::Pca.point(&model(&a), 1, true, 0).unwrap())[0] == 4);
    // duplicated variables leave columns empty, which are filled
    let a = Mat::from_fn(8, 5, |i, _| 1.0 + i as f64);
    let x = Start::Pca.point(&model(&a), 4, true, 0).unwrap();
    assert!(stiefel::feasibility(&x) <= 1e-12 && groups_of(&x).iter().all(|s| *s > 0));
}

#[test]
fn a_given_point_is_checked_and_repaired() {
    let f = model(&gaussian(20, 8, 1));
    let given = |x: &RowMat, nonneg| Start::Given(x.clone()).point(&f, 3, nonneg, 0);
    let q = stiefel::random(8, 3, &mut rng(2));
    assert_eq!(given(&q, false).unwrap(), q);
    // errors up to 1e-6 are repaired, zeros and signs stay
    let mut rough = Start::Partition.point(&f, 3, true, 1).unwrap();
    rough.data_mut().iter_mut().enumerate().for_each(|(k, v)| *v *= 1.0 + 1e-7 * (k as f64).sin());
    let repaired = given(&rough, true).unwrap();
    assert!(stiefel::feasibility(&rough) > 1e-9 && stiefel::feasibility(&repaired) <= 1e-14);
    assert!(rough.data().iter().zip(repaired.data()).all(|(a, b)| (*a == 0.0) == (*b == 0.0) && *b >= 0.0));

    let said = |x: &RowMat, nonneg| given(x, nonneg).unwrap_err().to_string();
    assert_eq!(said(&RowMat::zeros(8, 2), false), "the starting point X is 8 x 2, expected 8 x 3");
    let mut x = q.clone();
    x.set(4, 1, f64::NAN);
    assert_eq!(
        said(&x, false),
        "the starting point X has a value that is not finite in row 5, column 2 (counted from 1)"
    );
    let mut x = q.clone();
    x.data_mut().iter_mut().for_each(|v| *v *= 1.1);
    let Error::NotOrthonormal { error, tolerance, .. } = given(&x, false).unwrap_err() else { panic!() };
    // ‖1.21 I − I‖ = 0.21 √3
    assert!((error - 0.21 * 3f64.sqrt()).abs() < 1e-12 && tolerance == 1e-6);
    assert_eq!(
        said(&x, false),
        "the starting point X is not orthonormal: the error of its Gram matrix is 3.637e-1, at most 1e-6 is accepted"
    );
    let mut x = Start::Identity.point(&f, 3, true, 0).unwrap();
    x.set(1, 1, -1.0);
    assert_eq!(
        said(&x, true),
        "the starting point X has a negative entry -1 in row 2, column 2 (counted from 1), but the problem asks for X >= 0"
    );
    assert!(given(&x, false).is_ok());
    let refusal = Start::Random.point(&f, 3, true, 0).unwrap_err().to_string();
    assert!(refusal.contains("partition, pca, coordinates or identity"), "{refusal}");
}

#[test]
fn tools_of_the_manifold() {
    let mut order: Vec<u64> = (0..6).collect();
    order.shuffle(&mut rng(1));
    for seed in order {
        let (n, r) = (5 + 3 * seed as usize, 1 + seed as usize);
        let x = stiefel::random(n, r, &mut rng(seed));
        assert!(stiefel::feasibility(&x) <= 1e-14 * n as f64);
        assert!(x != stiefel::random(n, r, &mut rng(seed + 100)));
        // tangent: XᵀT skew, idempotent, and D − T normal (X times a symmetric matrix)
        let d = gaussian_rows(n, r, seed);
        let t = stiefel::tangent(&x, &d);
        let again = stiefel::tangent(&x, &t);
        let product = x.to_mat().transpose() * t.to_mat();
        for i in 0..r {
            for j in 0..r {
                assert!((product[(i, j)] + product[(j, i)]).abs() < 1e-13);
            }
        }
        assert!(t.data().iter().zip(again.data()).all(|(a, b)| (a - b).abs() < 1e-13));
        // Q of an orthonormal X is X, signs included
        let q = stiefel::orthonormalise(&x);
        assert!(q.data().iter().zip(x.data()).all(|(a, b)| (a - b).abs() < 1e-13));
    }
    let p = problem("nonneg-pca", 0.0, 5, 2, 1);
    let mut x = RowMat::zeros(5, 2);
    x.set(0, 0, -3.0);
    x.set(1, 1, -4.0);
    assert_eq!(p.nonneg_violation(&x), Some(5.0));
    assert_eq!(on_data("pca", 0.0, &gaussian(3, 2, 1), 1).nonneg_violation(&RowMat::zeros(2, 1)), None);
    assert_eq!((p.nrows(), p.rank(), p.f.nrows()), (5, 2, 5));
}

/// Where two columns of a nonnegative X share a row the repair takes the smaller entry away.
#[test]
fn a_nonnegative_start_with_a_tiny_overlap_stays_nonnegative() {
    let p = problem("nonneg-pca", 0.0, 12, 3, 5);
    let mut x = RowMat::zeros(12, 3);
    (0..12).for_each(|i| x.set(i, i / 4, 0.5));
    for (i, k, v) in [(0, 1, 3e-7), (1, 2, 1e-7), (9, 0, 2e-7)] {
        x.set(i, k, v);
        let repaired = Start::Given(x.clone()).point(&p.f, 3, true, 0).unwrap();
        assert!(repaired.data().iter().all(|v| *v >= 0.0));
        assert!(stiefel::feasibility(&repaired) <= 1e-12);
    }
}
