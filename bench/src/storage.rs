//! C = AᵀA formed against A kept as it is: full gradients, and pairs of rows with few (ℓ0) and with many (ℓ1)
//! moves, beside the cost model behind `--storage auto`. One thread, processor time.

use anyhow::Result;
use orthopt::RowMat;
use orthopt::problem::{Cost, PcaData, Storage};
use orthopt::smooth::Smooth;
use orthopt::solve::{MaxIterations, RunOptions, run};
use orthopt::solvers::obcd::{Obcd, ObcdOptions};
use orthopt::start::Start;
use orthopt_data::Matrix;

use crate::instance::load;
use crate::l1_family::processor_seconds;

/// Columns of X.
const RANK: usize = 10;
/// Shares of nonzeros of sparse data; 1 is dense.
const DENSITIES: [f64; 3] = [1.0, 0.1, 0.02];
const SHAPES: [(usize, usize); 8] =
    [(50, 300), (50, 600), (50, 2000), (200, 500), (200, 1000), (500, 1000), (500, 2000), (1000, 1500)];

/// Seconds of processor time that `work` takes.
fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let before = processor_seconds().unwrap_or(f64::NAN);
    work()?;
    Ok(processor_seconds().unwrap_or(f64::NAN) - before)
}

/// Seconds of gradients, of pairs with ℓ0 and of pairs with ℓ1, as many as there are rows times `rounds`.
fn seconds(data: &PcaData<'_>, storage: Storage, rounds: u64) -> Result<[f64; 3]> {
    let mut out = [0.0; 3];
    for (k, (name, share)) in [("l1-pca", 0.02), ("l0-pca", 0.05)].iter().enumerate() {
        let p = orthopt::family::pca_problem(name, data, RANK, 1.0, storage)?;
        let lambda =
            share * -orthopt::smooth::Quadratic::diagonal(&p.f).iter().sum::<f64>() / p.nrows() as f64;
        let p = orthopt::family::pca_problem(name, data, RANK, lambda, storage)?;
        let x0 = Start::Random.point(&p.f, RANK, false, 1)?;
        let pairs = rounds * p.nrows() as u64;
        let options = RunOptions { max_iterations: Some(pairs), ..Default::default() };
        out[2 - k] = timed(|| {
            let mut stop = MaxIterations(Some(pairs));
            run(&p, &Obcd::new(ObcdOptions::default())?, x0.clone(), options, &mut stop, &mut [])
                .map(drop)?;
            Ok(())
        })?;
        let mut g = RowMat::zeros(p.nrows(), RANK);
        out[0] = timed(|| {
            (0..rounds).for_each(|_| p.f.gradient(&x0, &mut g));
            Ok(())
        })?;
    }
    Ok(out)
}

/// Prints the table.
pub fn suite() -> Result<()> {
    rayon::ThreadPoolBuilder::new().num_threads(1).build()?.install(|| {
        println!("r = {RANK}; times of A kept over times of C formed, above 1 where C is faster\n");
        println!("| m x n | nonzeros | gradients | pairs, l0 | pairs, l1 | one gradient and n pairs | model | auto |");
        println!("|---|---|---|---|---|---|---|---|");
        for (m, n) in SHAPES {
            for density in DENSITIES {
                row((m, n), density)?;
            }
        }
        Ok(())
    })
}

fn row((m, n): (usize, usize), density: f64) -> Result<()> {
    let Some(Matrix::Dense(a)) = load(&format!("randn:{m}:{n}:1"))? else { return Ok(()) };
    let thin = thinned(&a, density);
    let data = if density == 1.0 { PcaData::Dense(a.as_ref()) } else { PcaData::Sparse(thin.as_ref(), None) };
    let (kept, formed) = (seconds(&data, Storage::Gram, 20)?, seconds(&data, Storage::Dense, 20)?);
    let ratio = |k: usize| kept[k] / formed[k];
    // the round of the model: few and many moves in equal parts
    let round = |t: [f64; 3]| t[0] + 0.5 * (t[1] + t[2]);
    let model = Cost::kept(&data).map_or(1.0, |kept| kept.round(n) / Cost::dense(n).round(n));
    println!(
        "| {m} x {n} | {:.0} % | {:.2} | {:.2} | {:.2} | {:.2} | {model:.2} | {:?} |",
        100.0 * density,
        ratio(0),
        ratio(1),
        ratio(2),
        round(kept) / round(formed),
        Storage::Auto.for_search(&data)
    );
    Ok(())
}

/// Every 1/density-th entry, spread over the matrix.
fn thinned(a: &faer::Mat<f64>, density: f64) -> faer::sparse::SparseColMat<usize, f64> {
    let mut entries = Vec::new();
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            let place = (0.618_033_988_749_895 * (i * 7919 + j * 104_729) as f64).fract();
            if place < density {
                entries.push(faer::sparse::Triplet::new(i, j, a[(i, j)]));
            }
        }
    }
    faer::sparse::SparseColMat::try_new_from_triplets(a.nrows(), a.ncols(), &entries)
        .unwrap_or_else(|_| unreachable!("indices are those of the matrix"))
}
