//! Models of the nonlinear eigenvalue problem.

use faer::Mat;
use orthopt::RowMat;
use orthopt::smooth::NonlinearEig;
use orthopt_core::constraint::stiefel;

use super::{gaussian, gaussian_rows, rng};

/// tridiag(−1, 2, −1) entry by entry.
pub fn chain(n: usize) -> Mat<f64> {
    Mat::from_fn(n, n, |i, j| if i == j { 2.0 } else { -f64::from(u8::from(i.abs_diff(j) == 1)) })
}

/// The five-point stencil entry by entry.
pub fn grid(p: usize, q: usize) -> Mat<f64> {
    Mat::from_fn(p * q, p * q, |i, j| {
        let (a, b, c, d) = (i / q, i % q, j / q, j % q);
        match a.abs_diff(c) + b.abs_diff(d) {
            0 => 4.0,
            1 => -1.0,
            _ => 0.0,
        }
    })
}

/// A Gaussian AᵀA of rank m.
pub fn gram_of(m: usize, n: usize, seed: u64) -> Mat<f64> {
    let a = gaussian(m, n, seed);
    a.transpose() * &a
}

pub fn random_point(n: usize, r: usize, seed: u64) -> RowMat {
    stiefel::random(n, r, &mut rng(seed))
}

/// One of every kind with a linear term: Laplacians, a regular C, a singular one, an indefinite one.
pub fn models(r: usize) -> Vec<(&'static str, NonlinearEig)> {
    let indefinite = {
        let g = gaussian(12, 12, 5);
        &g + g.transpose()
    };
    let all = vec![
        ("chain", NonlinearEig::laplacian_1d(12, 3.0)),
        ("grid", NonlinearEig::laplacian_2d(3, 4, 3.0)),
        ("regular", NonlinearEig::dense(gram_of(20, 12, 1).as_ref(), 3.0)),
        ("singular", NonlinearEig::dense(gram_of(5, 12, 2).as_ref(), 3.0)),
        ("indefinite", NonlinearEig::dense(indefinite.as_ref(), -2.0)),
    ];
    all.into_iter()
        .map(|(name, f)| (name, f.unwrap().with_linear(gaussian_rows(12, r, 8)).unwrap()))
        .collect()
}
