//! JOBCD by name and option, and the problems it is run on.

use orthopt::problem::{JProblem, covariance};

use orthopt::linalg::RowMat;
use orthopt::problem::PcaData;
use orthopt::solve::AnySolver;
use orthopt::solvers::jobcd::{JobcdOptions, Side};
use orthopt::solvers::{J_SOLVERS, SolverOptions, find_solvers};

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
