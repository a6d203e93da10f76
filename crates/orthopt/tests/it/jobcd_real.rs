//! `hyperbolic-eig` on covariances of random data and of data sets that are not part of the
//! repository: the closed form, monotone traces, residuals within rounding.

use crate::common::jorth::shuffled;
use crate::common::{gaussian, shared};
use orthopt::constraint::Signature;
use orthopt::family::Family;
use orthopt::problem::{JProblem, covariance};
use orthopt_core::constraint::j_orthogonal::spectral_norm;

use orthopt::RowMat;
use orthopt::problem::PcaData;
use orthopt::solve::{MaxIterations, RunOptions, Stationary, Status, Stop, run};
use orthopt::solvers::{J_SOLVERS, SolverOptions, find_solvers};
use orthopt_data::{LoadOptions, Matrix, load};

/// Covariance + ridge of `n` columns around the middle (images have empty borders).
fn data(file: &str, n: usize) -> RowMat {
    let a = match load(shared(file), &LoadOptions::default()).unwrap().matrix {
        Matrix::Dense(a) => a,
        Matrix::Sparse(a) => a.to_dense(),
    };
    let from = (a.ncols() - n) / 2;
    let part = a.submatrix(0, from, a.nrows(), n);
    covariance(&PcaData::Dense(part), 1e-3).unwrap()
}

fn check(what: &str, c: &RowMat) {
    let n = c.nrows();
    for j in
        [Signature::leading(n / 2, n).unwrap(), Signature::leading(n - 1, n).unwrap(), shuffled(n / 3, n, 4)]
    {
        let p = JProblem::hyperbolic_eig(c.as_mat(), j).unwrap();
        let best = p.optimum().unwrap().unwrap();
        let x0 = p.start("random", 1).unwrap();
        for name in ["gs-jobcd", "j-jobcd"] {
            let s = find_solvers(J_SOLVERS, name).unwrap()[0].build(&p, &SolverOptions::default()).unwrap();
            let mut stop = Stationary { tol: 1e-10 }.or(MaxIterations(Some(40 * (n * n) as u64)));
            let options = RunOptions { max_iterations: Some(40 * (n * n) as u64), ..Default::default() };
            let found = run(&p, &s, x0.clone(), options, &mut stop, &mut []).unwrap();
            let what = format!("{what}, {} plus ones, {name}: {}", p.signature().plus().len(), found.message);
            assert_eq!(found.status, Status::Converged, "{what}");
            let gap = (found.objective.total - best) / best;
            assert!(gap.abs() <= 1e-8, "{what}: {gap:e}");
            let norm = spectral_norm(&x0).max(spectral_norm(&found.x));
            for w in found.trace.points().windows(2) {
                assert!(w[1].objective <= w[0].objective, "{what}");
                assert!(w[1].feasibility <= 100.0 * f64::EPSILON * norm * norm, "{what}");
            }
        }
    }
}

#[test]
fn random_data() {
    let a = gaussian(160, 80, 5);
    check("random", &covariance(&PcaData::Dense(a.as_ref()), 1e-3).unwrap());
}

#[test]
#[ignore = "needs the data sets beside the checkout: ../shared/data"]
fn w1a() {
    check("w1a", &data("w1a.svm", 80));
}

#[test]
#[ignore = "needs the data sets beside the checkout: ../shared/data"]
fn mnist() {
    check("mnist", &data("mnist_a_5000_images.npy", 80));
}

#[test]
#[ignore = "needs the data sets beside the checkout: ../shared/data"]
fn colon() {
    check("colon", &data("colon_alon.csv.gz", 80));
}
