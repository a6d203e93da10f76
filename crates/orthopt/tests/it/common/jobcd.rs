//! JOBCD by name and option, and the problems it is run on.

use orthopt::RowMat;
use orthopt::problem::{JProblem, PcaData, covariance};
use orthopt::smooth::{Placement, euclidean_distances};
use orthopt::solve::AnySolver;
use orthopt::solvers::{J_SOLVERS, SolverOptions, find_solvers};
use orthopt::solvers::{JobcdOptions, Side};

use super::gaussian;
use super::jorth::shuffled;

pub fn options(jobcd: JobcdOptions, constants: &[(&str, f64)]) -> SolverOptions {
    let constants = constants.iter().map(|(k, v)| ((*k).to_string(), *v)).collect();
    SolverOptions { seed: 5, jobcd, constants, ..Default::default() }
}

pub fn solver(p: &JProblem, name: &str, o: &SolverOptions) -> AnySolver<JProblem> {
    find_solvers(J_SOLVERS, name).unwrap()[0].build(p, o).unwrap()
}

pub fn side(side: Side) -> JobcdOptions {
    JobcdOptions { side, ..Default::default() }
}

/// AᵀA/m + ridge for a Gaussian A.
pub fn definite(n: usize, ridge: f64, seed: u64) -> RowMat {
    let a = gaussian(2 * n, n, seed);
    covariance(&PcaData::Dense(a.as_ref()), ridge).unwrap()
}

pub fn hyperbolic(n: usize, p: usize, seed: u64) -> JProblem {
    JProblem::hyperbolic_eig(definite(n, 1e-2, seed).as_mat(), shuffled(p, n, seed)).unwrap()
}

/// Points on a curve, with the distances of twice as many coordinates: something to be learnt.
pub fn probe(m: usize, n: usize, placement: Placement) -> JProblem {
    let noise = gaussian(m, n, 4);
    let d = faer::Mat::from_fn(m, n, |i, k| {
        let t = i as f64 / m as f64;
        ((k + 1) as f64 * t * 2.0).sin() * 1.5 / (k + 1) as f64 + 0.1 * noise[(i, k)]
    });
    let mut t = euclidean_distances(d.as_ref());
    t.data_mut().iter_mut().for_each(|v| *v *= 1.5);
    JProblem::probe(d.as_ref(), t, shuffled(n / 2, n, 2), 1.0, placement).unwrap()
}
