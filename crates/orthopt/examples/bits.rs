//! Prints, for a table of problems, rules and seeds, the bits of F and a hash of X after fixed numbers of
//! iterations of the methods over pairs of rows, and a hash of the passes they made: two builds of the
//! library that make the same moves print the same table.
//!
//! ```sh
//! cargo run -p orthopt --example bits
//! ```

use orthopt::Error;
use orthopt::RowMat;
use orthopt::constraint::Signature;
use orthopt::family::Family;
use orthopt::penalty::find_penalty;
use orthopt::problem::JProblem;
use orthopt::problem::NonlinearEigProblem;
use orthopt::problem::covariance;
use orthopt::problem::{PcaData, PcaProblem, Problem, Storage, covariance_model};
use orthopt::smooth::NonlinearEig;
use orthopt::solve::{Pass, Solver, advance};
use orthopt::solvers::NonlinearObcd;
use orthopt::solvers::obcd::Model;
use orthopt::solvers::obcd::{Candidates, Obcd, ObcdOptions, WORKING_SETS};
use orthopt::solvers::{J_SOLVERS, SolverOptions, find_solvers};
use orthopt::solvers::{JobcdOptions, SIDES};
use orthopt::start::Start;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const SEEDS: u64 = 3;

fn main() -> Result<(), Error> {
    for seed in 0..SEEDS {
        pca(seed)?;
        nonlinear(seed)?;
        hyperbolic(seed)?;
    }
    Ok(())
}

/// FNV-1a over 64-bit words.
struct Hash(u64);

impl Hash {
    fn add(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

const EMPTY: Hash = Hash(0xcbf2_9ce4_8422_2325);

/// Runs for so many iterations, or until a pass shows stationarity to `tol`, and prints a line of the table.
fn line<P, S: Solver<P>>(
    what: &str,
    p: &P,
    solver: &S,
    x0: RowMat,
    (most, tol): (u64, f64),
) -> Result<(), Error> {
    let mut state = solver.init(p, x0)?;
    let (mut done, mut objective, mut passes, mut x) = (0, f64::NAN, EMPTY, EMPTY);
    while done < most {
        let (made, step) = advance(solver, p, &mut state, most - done);
        (done, objective) = (done + made, solver.current(p, &state).objective);
        if let Some(pass) = step.pass {
            [pass.pairs, done, u64::from(pass.covers_all)].into_iter().for_each(|w| passes.add(w));
        }
        let limit = tol * (1.0 + objective.abs());
        let still = |pass: Pass| pass.covers_all && pass.decrease == 0.0 && pass.max_decrease <= limit;
        if step.ended.is_some() || step.pass.is_some_and(still) {
            break;
        }
    }
    solver.finish(p, state).x.data().iter().for_each(|v| x.add(v.to_bits()));
    println!("{what:<60} {:016x} {:016x} {:016x}", objective.to_bits(), x.0, passes.0);
    Ok(())
}

fn uniform(m: usize, n: usize, density: f64, seed: u64) -> faer::Mat<f64> {
    let mut rng = Pcg64::seed_from_u64(seed);
    faer::Mat::from_fn(m, n, |_, _| {
        let v = 2.0 * rng.random::<f64>() - 1.0;
        if rng.random::<f64>() < density { v } else { 0.0 }
    })
}

fn sparse(a: &faer::Mat<f64>) -> Result<faer::sparse::SparseColMat<usize, f64>, Error> {
    let entries: Vec<_> = (0..a.ncols())
        .flat_map(|j| (0..a.nrows()).map(move |i| (i, j)))
        .filter(|(i, j)| a[(*i, *j)] != 0.0)
        .map(|(i, j)| faer::sparse::Triplet::new(i, j, a[(i, j)]))
        .collect();
    faer::sparse::SparseColMat::try_new_from_triplets(a.nrows(), a.ncols(), &entries)
        .map_err(|_| Error::Incompatible("triplets out of range".into()))
}

/// The presets of OBCD, and blocks, Jacobi rounds and candidates beside them.
fn variants(seed: u64) -> Vec<(String, ObcdOptions, u64)> {
    let mut out = Vec::new();
    for (name, working_set, _) in WORKING_SETS {
        let plain = ObcdOptions { working_set: *working_set, seed, ..Default::default() };
        out.push((
            format!("{name} all"),
            ObcdOptions { candidates: Some(Candidates::All), ..plain.clone() },
            800,
        ));
        out.push((format!("{name} block 6"), ObcdOptions { block: 6, ..plain.clone() }, 400));
        out.push((format!("{name} diagonal"), ObcdOptions { model: Model::Diagonal, ..plain.clone() }, 4000));
        out.push((format!("{name} tol 0"), ObcdOptions { tol: 0.0, ..plain.clone() }, 6000));
        out.push((name.to_string(), plain, 6000));
    }
    let jacobi = ObcdOptions { jacobi: true, seed, ..Default::default() };
    out.push(("jacobi".into(), jacobi.clone(), 2000));
    out.push(("jacobi, cyclic block 5".into(), ObcdOptions { block: 5, ..jacobi }, 1000));
    out
}

fn pca(seed: u64) -> Result<(), Error> {
    let (a, b) = (uniform(50, 40, 1.0, seed), uniform(50, 40, 0.1, seed + 10));
    let s = sparse(&b)?;
    let storages = [
        ("dense", PcaData::Dense(a.as_ref()), Storage::Dense),
        ("factored", PcaData::Dense(a.as_ref()), Storage::Gram),
        ("sparse", PcaData::Sparse(s.as_ref(), None), Storage::Gram),
    ];
    for (storage, data, how) in &storages {
        for (h, lambda) in [("l0", 0.3), ("l1", 0.4), ("nonneg", 0.0), ("none", 0.0), ("mcp", 0.3)] {
            let penalty = (find_penalty(h)?.make)(lambda)?;
            let nonneg = h == "nonneg";
            let p: PcaProblem = Problem::new(covariance_model(data, *how)?, penalty, 4)?;
            let start = if nonneg { Start::Partition } else { Start::Identity };
            let x0 = start.point(&p.f, 4, nonneg, seed)?;
            for (name, options, most) in variants(seed) {
                line(
                    &format!("{seed} {h} {storage} {name}"),
                    &p,
                    &Obcd::new(options)?,
                    x0.clone(),
                    (most, 0.0),
                )?;
            }
        }
    }
    // long enough for the checks of drift
    let p: PcaProblem = Problem::new(
        covariance_model(&storages[0].1, Storage::Dense)?,
        (find_penalty("l1")?.make)(0.01)?,
        12,
    )?;
    let x0 = Start::Random.point(&p.f, 12, false, seed)?;
    let options = ObcdOptions { seed, tol: 0.0, ..Default::default() };
    line(&format!("{seed} l1 dense random, 200,000 pairs"), &p, &Obcd::new(options)?, x0, (200_000, 0.0))
}

fn nonlinear(seed: u64) -> Result<(), Error> {
    let a = uniform(24, 24, 1.0, seed + 20);
    let c = faer::Mat::from_fn(24, 24, |i, j| a[(i, j)] + a[(j, i)] + if i == j { 24.0 } else { 0.0 });
    let e = RowMat::from_fn(24, 3, |i, j| a[(i, j)]);
    let problems = [
        ("chain", NonlinearEig::laplacian_1d(24, 5.0)?),
        ("dense", NonlinearEig::dense(c.as_ref(), 20.0)?),
        ("dense + E", NonlinearEig::dense(c.as_ref(), 20.0)?.with_linear(e)?),
    ];
    for (what, f) in problems {
        let p: NonlinearEigProblem = Problem::new(f, orthopt::penalty::NoPenalty, 3)?;
        let x0 = p.start("random", seed)?;
        for search in [Default::default(), orthopt::solvers::obcd::CircleSearch::FifthOrder] {
            for (rule, working_set, _) in WORKING_SETS {
                for (how, candidates, tol) in
                    [("", None, 1e-9), (" tol 0", None, 0.0), (" all", Some(Candidates::All), 1e-9)]
                {
                    let options = ObcdOptions {
                        working_set: *working_set,
                        seed,
                        candidates,
                        tol,
                        ..Default::default()
                    };
                    let solver = NonlinearObcd::new(search, options)?;
                    let name = format!("{seed} nonlinear {what} {search:?} {rule}{how}");
                    line(
                        &name,
                        &p,
                        &solver,
                        x0.clone(),
                        (if candidates.is_some() { 400 } else { 4000 }, 0.0),
                    )?;
                }
            }
        }
        let options = ObcdOptions { seed, tol: 0.0, ..Default::default() };
        let solver = NonlinearObcd::new(Default::default(), options)?;
        line(&format!("{seed} nonlinear {what} random, 60,000 pairs"), &p, &solver, x0, (60_000, 0.0))?;
    }
    Ok(())
}

fn hyperbolic(seed: u64) -> Result<(), Error> {
    let n = 16;
    let a = uniform(40, n, 1.0, seed + 30);
    let c = covariance(&PcaData::Dense(a.as_ref()), 1e-2)?;
    let m = faer::Mat::from_fn(n, n, |i, j| a[(i, j)] + a[(j, i)] + if i == j { 9.0 } else { 0.0 });
    let right =
        faer::Mat::from_fn(n, n, |i, j| a[(i + 20, j)] + a[(j + 20, i)] + if i == j { 9.0 } else { 0.0 });
    let j = Signature::leading(6, n)?;
    let problems = [
        ("hyperbolic-eig", JProblem::hyperbolic_eig(c.as_mat(), j.clone())?),
        ("quadratic", JProblem::quadratic(m.as_ref(), Some(right.as_ref()), j.clone())?),
        ("quadratic N = I", JProblem::quadratic(m.as_ref(), None, j.clone())?),
        ("reproduction", JProblem::reproduction(c.as_mat(), j)?),
    ];
    for (what, p) in &problems {
        let x0 = p.start("random", seed)?;
        for (rule, working_set, _) in WORKING_SETS {
            for (side, which, _) in SIDES {
                for model in [Model::Exact, Model::Diagonal] {
                    for candidates in [None, Some(Candidates::All)] {
                        let jobcd =
                            JobcdOptions { working_set: Some(*working_set), model, side: *which, candidates };
                        let o = SolverOptions { seed, jobcd, ..Default::default() };
                        let solver = find_solvers(J_SOLVERS, "gs-jobcd")?[0].build(p, &o)?;
                        let all = if candidates.is_some() { " all" } else { "" };
                        let name = format!("{seed} {what} {rule} {side} {}{all}", model.name());
                        let most = if candidates.is_some() { 300 } else { 3000 };
                        line(&name, p, &solver, x0.clone(), (most, 1e-9))?;
                    }
                }
            }
        }
    }
    Ok(())
}
