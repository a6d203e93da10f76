//! The hyperbolic QR factorisation against its definition, the ordinary one and the minors of A'JA.

use crate::common::first_order::{apart, plain_product, transposed_product};
use crate::common::{gaussian, gaussian_rows};
use faer::Mat;
use orthopt::RowMat;
use orthopt::constraint::Signature;
use orthopt::constraint::hyperbolic_qr;
use orthopt_core::constraint::j_orthogonal::random;
use orthopt_core::constraint::j_orthogonal::spectral_norm;

fn rows(a: &Mat<f64>) -> RowMat {
    RowMat::from_mat(a.as_ref())
}

#[test]
fn the_definition_holds() {
    let (mut both, mut orders) = (0, std::collections::HashSet::new());
    for seed in 0..60 {
        let n = 1 + seed as usize % 9;
        let r = 1 + (seed as usize * 7) % n;
        let signs: Vec<f64> =
            (0..n).map(|i| if (i * 5 + seed as usize).is_multiple_of(3) { -1.0 } else { 1.0 }).collect();
        let j = Signature::from_signs(&signs).unwrap();
        let a = gaussian(n, r, seed);
        let found = hyperbolic_qr(a.as_ref(), &j).unwrap();
        let size = spectral_norm(&found.q).powi(2) * (1.0 + rows(&a).norm());
        assert!(apart(&plain_product(&found.q, &found.r), &rows(&a)) <= 1e-14 * size, "seed {seed}: QR");
        let qjq = transposed_product(&found.q, &j.times(&found.q));
        let s = RowMat::from_fn(r, r, |i, k| if i == k { found.signs[k] } else { 0.0 });
        assert!(apart(&qjq, &s) <= 1e-13 * size, "seed {seed}: Q'JQ {:e}", apart(&qjq, &s));
        for i in 0..r {
            assert!(found.r.get(i, i) > 0.0 && (0..i).all(|k| found.r.get(i, k) == 0.0), "seed {seed}");
        }
        // the signs are those of ratios of leading minors of A'JA
        let m = transposed_product(&rows(&a), &j.times(&rows(&a)));
        let minor = |k: usize| m.to_mat().submatrix(0, 0, k, k).to_owned().determinant();
        for k in 0..r {
            let before = if k == 0 { 1.0 } else { minor(k) };
            assert_eq!(found.signs[k], (minor(k + 1) / before).signum(), "seed {seed}, column {k}");
        }
        both += usize::from(found.signs.contains(&1.0) && found.signs.contains(&-1.0));
        orders.insert(found.signs.iter().map(|s| *s > 0.0).collect::<Vec<_>>());
    }
    assert!(both > 10 && orders.len() > 10);
}

#[test]
fn with_ones_it_is_the_ordinary_one() {
    let a = gaussian(8, 4, 3);
    let found = hyperbolic_qr(a.as_ref(), &Signature::leading(8, 8).unwrap()).unwrap();
    let qr = a.qr();
    let (q, r) = (qr.compute_thin_Q(), qr.thin_R().to_owned());
    for k in 0..4 {
        let sign = r[(k, k)].signum();
        for i in 0..8 {
            assert!((sign * q[(i, k)] - found.q.get(i, k)).abs() <= 1e-14);
        }
    }
    assert!(found.signs.iter().all(|s| *s == 1.0));
}

/// A member of the group is its own Q, up to signs and order.
#[test]
fn members_of_the_group_have_r_of_ones() {
    let j = Signature::leading(3, 6).unwrap();
    let x = random(&j, 1.0, &mut crate::common::rng(4)).unwrap();
    let found = hyperbolic_qr(x.to_mat().as_ref(), &j).unwrap();
    let identity = RowMat::from_fn(6, 6, |i, k| f64::from(u8::from(i == k)));
    assert!(apart(&found.r, &identity) <= 1e-13 && apart(&found.q, &x) <= 1e-13);
    assert_eq!(found.signs, j.signs());
}

#[test]
fn what_has_none_is_refused() {
    let j = Signature::leading(1, 2).unwrap();
    let refused = |a: Mat<f64>| hyperbolic_qr(a.as_ref(), &j).unwrap_err().to_string();
    assert!(refused(faer::mat![[1.0], [1.0]]).contains("order 1"));
    assert!(refused(faer::mat![[2.0, 2.0], [1.0, 1.0]]).contains("order 2"));
    assert!(refused(faer::mat![[0.0], [0.0]]).contains("order 1"));
    assert!(refused(faer::mat![[1.0], [f64::NAN]]).contains("row 2"));
    assert!(refused(rows(&gaussian(2, 3, 1)).to_mat()).contains('3'));
    assert!(refused(gaussian_rows(3, 1, 1).to_mat()).contains('3'));
}
