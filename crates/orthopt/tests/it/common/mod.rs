//! Helpers of the test files: seeded data, problems by name, runs with fixed options.

pub mod composite;
pub mod first_order;
pub mod jobcd;
pub mod jorth;
pub mod nonlinear;
pub mod obcd;
pub mod pair;
pub mod quartic;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use faer::Mat;
use faer::sparse::{SparseColMat, Triplet};
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::nonsmooth::Nonsmooth;
use orthopt::penalty::{AnyPenalty, PENALTIES};
use orthopt::problem::{PcaData, PcaProblem, Storage};
use orthopt::smooth::Smooth;
use orthopt::solve::{
    MaxIterations, Pass, RunOptions, Settings, Solution, Solver, Stationary, Status, Stop, advance, run,
};
use orthopt::solvers::obcd::{Obcd, ObcdOptions};
use orthopt::start::Start;
use proptest::test_runner::Config;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// The four problems of the library with a λ that makes a random instance interesting.
pub const PROBLEMS: [(&str, f64); 4] = [("l0-pca", 2.0), ("l1-pca", 1.5), ("nonneg-pca", 0.0), ("pca", 0.0)];

/// A generator of its own for every test.
pub fn rng(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed)
}

/// One standard normal number.
pub fn normal(rng: &mut Pcg64) -> f64 {
    rng.sample(rand_distr::StandardNormal)
}

/// An m × n matrix of standard normal numbers.
pub fn gaussian(m: usize, n: usize, seed: u64) -> Mat<f64> {
    let mut rng = rng(seed);
    Mat::from_fn(m, n, |_, _| normal(&mut rng))
}

/// The same as rows.
pub fn gaussian_rows(n: usize, r: usize, seed: u64) -> RowMat {
    let mut rng = rng(seed);
    RowMat::from_fn(n, r, |_, _| normal(&mut rng))
}

/// A Gaussian matrix with a share `density` of its entries kept.
pub fn thinned(m: usize, n: usize, density: f64, seed: u64) -> Mat<f64> {
    let mut rng = rng(seed);
    Mat::from_fn(m, n, |_, _| {
        let value = normal(&mut rng);
        if rng.random::<f64>() < density { value } else { 0.0 }
    })
}

/// The nonzeros of a dense matrix.
pub fn sparse(a: &Mat<f64>) -> SparseColMat<usize, f64> {
    let mut entries = Vec::new();
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            if a[(i, j)] != 0.0 {
                entries.push(Triplet::new(i, j, a[(i, j)]));
            }
        }
    }
    SparseColMat::try_new_from_triplets(a.nrows(), a.ncols(), &entries).unwrap()
}

/// The means of the columns.
pub fn means(a: &SparseColMat<usize, f64>) -> Vec<f64> {
    (0..a.ncols()).map(|j| a.val_of_col(j).iter().sum::<f64>() / a.nrows() as f64).collect()
}

/// A penalty of the registry.
pub fn penalty(name: &str, lambda: f64) -> AnyPenalty {
    let info = PENALTIES.iter().find(|p| p.name == name).unwrap();
    (info.make)(lambda).unwrap()
}

/// A problem of the registry on a dense matrix A.
pub fn on_data(name: &str, lambda: f64, a: &Mat<f64>, r: usize) -> PcaProblem {
    orthopt::family::pca_problem(name, &PcaData::Dense(a.as_ref()), r, lambda, Storage::Auto).unwrap()
}

/// A problem of the registry on a Gaussian A (2n × n).
pub fn problem(name: &str, lambda: f64, n: usize, r: usize, seed: u64) -> PcaProblem {
    on_data(name, lambda, &gaussian(2 * n, n, seed), r)
}

/// The starting point of the papers.
pub fn usual_start(p: &PcaProblem, seed: u64) -> RowMat {
    let nonneg = p.h.requires_nonneg();
    let start = if nonneg { Start::Partition } else { Start::Identity };
    start.point(&p.f, p.rank(), nonneg, seed).unwrap()
}

/// Cancelled after so many questions; and the number of them so far.
pub fn patient(answers: u64) -> (Cancel, Arc<AtomicU64>) {
    let asked = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&asked);
    (Cancel::when(move || count.fetch_add(1, Ordering::Relaxed) >= answers), asked)
}

/// At most so many iterations, for the driver to size its steps.
pub fn limits(most: u64, seed: u64) -> RunOptions {
    RunOptions { max_iterations: Some(most), seed, ..Default::default() }
}

/// OBCD from `x0` until stationary to `tol`, or so many iterations.
pub fn solve_from(p: &PcaProblem, x0: RowMat, options: &ObcdOptions, tol: f64, most: u64) -> Solution {
    let solver = Obcd::new(options.clone()).unwrap();
    let mut stop = Stationary { tol }.or(MaxIterations(Some(most)));
    run(p, &solver, x0, limits(most, options.seed), &mut stop, &mut []).unwrap()
}

/// OBCD from the usual start with default options.
pub fn solve(p: &PcaProblem, seed: u64, tol: f64) -> Solution {
    let options = ObcdOptions { seed, ..Default::default() };
    solve_from(p, usual_start(p, seed), &options, tol, 2_000_000)
}

/// Some iterations of a solver, seen from outside.
pub struct Made {
    pub iterations: u64,
    pub objective: f64,
    pub pass: Option<Pass>,
    pub residual: Option<f64>,
    pub ended: Option<(Status, &'static str)>,
}

/// Solvers step by step.
pub trait Steps<P>: Solver<P> {
    /// At most so many iterations, as the loop makes them.
    fn steps(&self, p: &P, state: &mut Self::State, budget: u64) -> Made
    where
        Self: Sized,
    {
        let (iterations, step) = advance(self, p, state, budget);
        let now = self.current(p, state);
        let (pass, residual, ended) = (step.pass, step.residual.or(now.residual), step.ended);
        Made { iterations, objective: now.objective, pass, residual, ended }
    }

    /// X.
    fn point<'a>(&self, p: &P, state: &'a Self::State) -> &'a RowMat {
        self.current(p, state).x()
    }

    /// Constants and counters so far.
    fn settings(&self, p: &P, state: &Self::State) -> Settings
    where
        Self::State: Clone,
    {
        self.finish(p, state.clone()).details.settings
    }
}

impl<P, S: Solver<P>> Steps<P> for S {}

/// The current X of a run made step by step.
pub fn iterate<'a>(
    solver: &Obcd,
    p: &PcaProblem,
    state: &'a <Obcd as Solver<PcaProblem>>::State,
) -> &'a RowMat {
    solver.point(p, state)
}

/// f + h with exact zeros, as the solvers track it.
pub fn exact_objective(p: &PcaProblem, x: &RowMat) -> f64 {
    p.f.value(x) + p.h.value(x.data())
}

/// A data set that is not part of the repository: in the folder that `ORTHOPT_DATA` names, else in
/// `shared/data` beside the checkout.
pub fn shared(name: &str) -> PathBuf {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let path = std::env::var_os("ORTHOPT_DATA").map_or_else(beside, PathBuf::from).join(name);
    assert!(path.exists(), "{} does not exist: ORTHOPT_DATA names the folder of data sets", path.display());
    path
}

/// ∇f(X).
pub fn gradient(p: &PcaProblem, x: &RowMat) -> RowMat {
    let mut g = RowMat::zeros(x.nrows(), x.ncols());
    p.f.gradient(x, &mut g);
    g
}

/// proptest with so many cases, the same ones every time, and no files written.
pub fn cases(count: u32) -> Config {
    Config {
        cases: count,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(7),
        max_shrink_iters: 2000,
        ..Config::default()
    }
}

/// Correlations of the pit props.
pub fn pitprops() -> Mat<f64> {
    orthopt_data::load("builtin:pitprops", &Default::default()).unwrap().matrix.to_dense()
}

/// A correlation matrix of `tests/tables`.
pub fn table(text: &str) -> Mat<f64> {
    let rows: Vec<Vec<f64>> =
        text.lines().map(|line| line.split(',').map(|v| v.parse().unwrap()).collect()).collect();
    Mat::from_fn(rows.len(), rows.len(), |i, j| rows[i][j])
}
