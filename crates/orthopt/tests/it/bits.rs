//! The bits of X of every solver on dense, sparse and given C, and of the default search by work, against `data/bits.txt`: a change
//! that moves code and no number leaves them. After a change that is meant to move them,
//! `ORTHOPT_PIN=1 cargo test -p orthopt --test it bits` writes the file anew.

use std::fmt::Write;

use faer::Mat;
use faer::sparse::{SparseColMat, Triplet};
use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::family::{
    AnyProblem, Between, Family, Limit, LinearInput, PROBLEMS, ProblemInfo, Request, find_problem, pose,
};
use orthopt::problem::PcaData;
use orthopt::smooth::{Measure, Order};
use orthopt::solve::{Solution, Stopping};
use orthopt_linalg::parallel::alone;

use crate::common::gaussian;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/bits.txt");
/// Iterations of a solver, and work of a search.
const ITERATIONS: u64 = 12;
const WORK: u64 = 20_000_000;
const SHAPE: (usize, usize) = (18, 9);

/// The instruction sets that a sum is rounded by.
fn machine() -> String {
    #[cfg(target_arch = "x86_64")]
    let sets = format!(
        "fma {} avx512f {}",
        std::arch::is_x86_feature_detected!("fma"),
        std::arch::is_x86_feature_detected!("avx512f")
    );
    #[cfg(not(target_arch = "x86_64"))]
    let sets = std::env::consts::ARCH;
    format!("machine: {} {sets}", std::env::consts::OS)
}

/// FNV-1a over the bits of X.
fn hash(x: &RowMat) -> u64 {
    let bytes = x.data().iter().flat_map(|v| v.to_bits().to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Problems as they are, and those that limits, measures and constraints make of them.
fn asked() -> Vec<(&'static ProblemInfo, &'static str, Request)> {
    let mut out: Vec<_> = PROBLEMS.iter().map(|p| (p, "", Request::default())).collect();
    let counts = || Request::default().with_limit(Some(Limit::Nonzeros(vec![4])));
    let measured = |measure| Request { maximise: Some(measure), ..counts() };
    let total = Request::default().with_limit(Some(Limit::Total(9)));
    let rows = Request::default().with_limit(Some(Limit::Variables(5)));
    let of_l0 = [
        ("4 nonzeros, variance", measured(Measure::Variance)),
        ("4 nonzeros, adjusted", measured(Measure::Adjusted)),
        ("4 nonzeros, polar", measured(Measure::Polar)),
        ("4 nonzeros, explained", measured(Measure::Explained)),
        ("4 nonzeros, sequential", Request { order: Some(Order::Sequential), ..counts() }),
        ("4 nonzeros, uncorrelated", Request { constraint: Some(Between::Uncorrelated), ..counts() }),
        ("9 nonzeros in all", total),
        ("5 variables", rows),
    ];
    let l0 = find_problem("l0-pca").unwrap();
    out.extend(of_l0.into_iter().map(|(what, options)| (l0, what, options)));
    let nonneg = find_problem("nonneg-pca").unwrap();
    out.push((nonneg, "4 nonzeros", counts()));
    let pca = find_problem("pca").unwrap();
    out.push((pca, "4 nonzeros, both", Request { constraint: Some(Between::Both), ..counts() }));
    out
}

fn run(problem: &AnyProblem, wanted: &Request, max_iters: Option<u64>) -> orthopt::Result<Solution> {
    let stopping = Stopping { max_iters, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
    problem.plan(wanted)?.run(problem, wanted, &stopping, None, &Cancel::never(), &mut [])
}

/// A line for every solver of a problem, and one for its default search.
fn lines(what: &str, problem: &AnyProblem, out: &mut String) {
    let mut line = |solver: &str, found: orthopt::Result<Solution>| {
        let text = match found {
            Ok(s) => format!("{:016x} {:016x}", s.objective.total.to_bits(), hash(&s.x)),
            Err(error) => error.to_string().lines().next().unwrap_or_default().to_string(),
        };
        writeln!(out, "{what} | {solver} | {text}").unwrap();
    };
    for solver in problem.solvers().iter().filter(|s| (s.handles)(problem)) {
        let wanted = Request { solver: Some(solver.name.into()), seed: Some(1), ..Request::default() };
        line(solver.name, run(problem, &wanted, Some(ITERATIONS)));
    }
    let wanted = Request { work: Some(WORK), seed: Some(1), ..Request::default() };
    line("search", run(problem, &wanted, None));
}

fn table() -> String {
    let (m, n) = SHAPE;
    let dense = gaussian(m, n, 7);
    let thin = Mat::from_fn(m, n, |i, j| if (3 * i + 5 * j) % 7 < 3 { dense[(i, j)] } else { 0.0 });
    let entries: Vec<_> =
        (0..n).flat_map(|j| (0..m).map(move |i| (i, j))).filter(|e| thin[*e] != 0.0).collect();
    let entries: Vec<_> = entries.into_iter().map(|(i, j)| Triplet::new(i, j, thin[(i, j)])).collect();
    let sparse = SparseColMat::<usize, f64>::try_new_from_triplets(m, n, &entries).unwrap();
    let c = dense.transpose() * &dense;
    let storages = [
        ("dense", PcaData::Dense(dense.as_ref())),
        ("sparse", PcaData::Sparse(sparse.as_ref(), None)),
        ("C", PcaData::Gram(c.as_ref())),
    ];
    let mut out = machine() + "\n";
    for (info, limits, options) in asked() {
        for (storage, data) in &storages {
            let what = format!("{} {limits} | {storage}", info.name);
            let mut options = Request { rank: Some(3.into()), ..options.clone() };
            match (info.name, *storage) {
                ("hyperbolic-eig", _) => options.rank = None,
                ("probe", _) => {
                    options.rank = None;
                    options.distances = Some(RowMat::from_fn(m, m, |i, j| i.abs_diff(j) as f64).into());
                }
                ("procrustes", "C") => {
                    options.linear =
                        Some(LinearInput::Given(RowMat::from_fn(n, 3, |i, k| dense[(i, k)])).into())
                }
                ("procrustes", _) => {
                    options.target = Some(RowMat::from_fn(m, 3, |i, k| dense[(m - 1 - i, k)]).into())
                }
                _ => {}
            }
            match pose(info, data, &options) {
                Ok(posed) => lines(&what, &posed.problem, &mut out),
                Err(error) => {
                    let why = error.to_string().lines().next().unwrap_or_default().to_string();
                    writeln!(out, "{what} | refused | {why}").unwrap();
                }
            }
        }
    }
    out
}

/// On a machine with other instruction sets than the one that wrote the file, the table of one thread against that of another run.
#[test]
fn every_solver_gives_the_bits_that_are_pinned() {
    let now = alone(table);
    if std::env::var_os("ORTHOPT_PIN").is_some() {
        std::fs::write(FILE, &now).unwrap();
    }
    let pinned = std::fs::read_to_string(FILE).unwrap();
    let pinned = if pinned.starts_with(&machine()) { pinned } else { alone(table) };
    let differ: Vec<_> = now.lines().zip(pinned.lines()).filter(|(a, b)| a != b).take(20).collect();
    assert!(differ.is_empty() && now.lines().count() == pinned.lines().count(), "{differ:#?}");
}
