//! Any orthogonal matrix as a product of plane factors, at most one of them a reflection.

use crate::common::rng;
use faer::Mat;
use orthopt::{Error, RowMat};
use orthopt_core::constraint::stiefel;
use orthopt_linalg::GivensFactor;
use orthopt_linalg::givens::multiply_factors;
use orthopt_linalg::givens_factors;
use orthopt_linalg::plane::Branch;
use rand::seq::SliceRandom;

/// Factors D, checks their number, form and product, and returns how many are reflections.
fn check(what: &str, d: &Mat<f64>) -> usize {
    let n = d.nrows();
    let factors = givens_factors(d.as_ref()).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(factors.len(), n * n.saturating_sub(1) / 2, "{what}");
    for GivensFactor { i, j, block } in &factors {
        assert!(i < j && *j < n, "{what}: rows ({i}, {j})");
        assert!((block.c.hypot(block.s) - 1.0).abs() <= 1e-15, "{what}: {block:?}");
    }
    // the product once by the library and once with full n × n factors
    let product = multiply_factors(n, &factors);
    let mut slow = Mat::<f64>::identity(n, n);
    for f in &factors {
        let mut full = Mat::<f64>::identity(n, n);
        let v = f.block.matrix();
        (full[(f.i, f.i)], full[(f.i, f.j)]) = (v[0][0], v[0][1]);
        (full[(f.j, f.i)], full[(f.j, f.j)]) = (v[1][0], v[1][1]);
        slow = &slow * &full;
    }
    assert!(
        (product.to_mat() - d).norm_max() <= 1e-13,
        "{what}: error {:e}",
        (product.to_mat() - d).norm_max()
    );
    assert!((&slow - d).norm_max() <= 1e-13, "{what}: order of the factors");
    factors.iter().filter(|f| f.block.branch == Branch::Reflection).count()
}

fn with_determinant(n: usize, sign: f64, seed: u64) -> Mat<f64> {
    let mut q = stiefel::random(n, n, &mut rng(seed)).to_mat();
    if (q.determinant() > 0.0) != (sign > 0.0) {
        (0..n).for_each(|i| q[(i, 0)] = -q[(i, 0)]);
    }
    q
}

#[test]
fn random_matrices_of_both_determinants() {
    for n in 1..=12 {
        for seed in 0..10 {
            if n > 1 {
                assert_eq!(check(&format!("O({n}), det -1"), &with_determinant(n, -1.0, seed)), 1);
            }
            assert_eq!(check(&format!("O({n}), det +1"), &with_determinant(n, 1.0, seed)), 0);
        }
    }
    assert_eq!(check("O(40)", &with_determinant(40, -1.0, 3)), 1);
}

#[test]
fn structured_matrices() {
    for n in 2..=9 {
        assert_eq!(check("identity", &Mat::identity(n, n)), 0);
        let minus = Mat::from_fn(n, n, |i, j| if i == j { -1.0 } else { 0.0 });
        assert_eq!(check("minus identity", &minus), n % 2);
        let flipped = Mat::from_fn(n, n, |i, j| f64::from(u8::from(i + j + 1 == n)));
        assert_eq!(check("reversal", &flipped), (n / 2) % 2);
        for seed in 0..5 {
            let mut order: Vec<usize> = (0..n).collect();
            order.shuffle(&mut rng(seed));
            let p = Mat::from_fn(n, n, |i, j| f64::from(u8::from(order[i] == j)));
            assert_eq!(check("permutation", &p), usize::from(p.determinant() < 0.0));
            let signs = Mat::from_fn(n, n, |i, j| {
                if (i + j + seed as usize).is_multiple_of(3) { -p[(i, j)] } else { p[(i, j)] }
            });
            assert_eq!(check("signed permutation", &signs), usize::from(signs.determinant() < 0.0));
        }
        // blocks that leave columns with nothing to rotate
        let mut block = Mat::identity(n, n);
        let tail = with_determinant(2, -1.0, n as u64);
        for i in 0..2 {
            for j in 0..2 {
                block[(n - 2 + i, n - 2 + j)] = tail[(i, j)];
            }
        }
        assert_eq!(check("identity and a reflection", &block), 1);
        // rounding errors of a long computation
        let nearly = with_determinant(n, 1.0, 7) * faer::Scale(1.0 + 1e-14);
        check("nearly orthogonal", &nearly);
    }
    assert!(givens_factors(Mat::<f64>::identity(1, 1).as_ref()).unwrap().is_empty());
    assert!(givens_factors(Mat::<f64>::zeros(0, 0).as_ref()).unwrap().is_empty());
    assert_eq!(multiply_factors(3, &[]), RowMat::from_fn(3, 3, |i, j| f64::from(u8::from(i == j))));
}

#[test]
fn what_is_not_orthogonal_is_refused() {
    let refuse = |d: &Mat<f64>| givens_factors(d.as_ref()).unwrap_err();
    let scaled = Mat::<f64>::identity(3, 3) * faer::Scale(2.0);
    let Error::NotOrthonormal { error, .. } = refuse(&scaled) else { panic!() };
    assert_eq!(error, 3.0); // largest entry of DᵀD − I
    assert_eq!(
        refuse(&scaled).to_string(),
        "the matrix to factor is not orthonormal: the error of its Gram matrix is 3.000e0, at most 1e-10 is accepted"
    );
    let tilted = Mat::from_fn(2, 2, |i, j| if i == j { 1.0 } else { 1e-9 });
    assert!(matches!(refuse(&tilted), Error::NotOrthonormal { .. }));
    let mut nan = Mat::<f64>::identity(4, 4);
    nan[(3, 1)] = f64::NAN;
    assert!(matches!(refuse(&nan), Error::NotOrthonormal { error, .. } if error.is_nan()));
    // −1 is no product of plane factors; a tall matrix has no determinant
    assert!(matches!(refuse(&Mat::from_fn(1, 1, |_, _| -1.0)), Error::NotOrthonormal { .. }));
    let tall = stiefel::random(4, 2, &mut rng(1)).to_mat();
    assert!(matches!(refuse(&tall), Error::NotOrthonormal { .. }));
}
