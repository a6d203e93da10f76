//! Two threads against one: the same number of rounds, the same X, the ratio of the times.

use anyhow::Result;
use orthopt::certify::{Scope, block_stationarity};
use orthopt::nonsmooth::Nonsmooth;
use orthopt::problem::PcaProblem;
use orthopt::solve::{MaxIterations, RunOptions, Solution, run};
use orthopt::solvers::obcd::{Obcd, ObcdOptions};
use orthopt::start::Start;

use crate::instance::{load, problem};

fn on<R: Send>(threads: usize, f: impl FnOnce() -> R + Send) -> Result<R> {
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?.install(f))
}

fn rounds(p: &PcaProblem, options: &ObcdOptions, count: u64) -> Result<Solution> {
    let start = if p.h.requires_nonneg() { Start::Partition } else { Start::Pca };
    let x0 = start.point(&p.f, p.rank(), p.h.requires_nonneg(), 1)?;
    let run_options = RunOptions { max_iterations: Some(count), ..Default::default() };
    Ok(run(p, &Obcd::new(options.clone())?, x0, run_options, &mut MaxIterations(Some(count)), &mut [])?)
}

/// Prints the table.
pub fn suite() -> Result<()> {
    println!("| work | 1 thread, s | 2 threads, s | ratio | same X |\n|---|---|---|---|---|");
    let Some(matrix) = load("randn:500:1000")? else { return Ok(()) };
    for (name, lambda, rank) in [("l1-pca", 1.0, 20), ("l1-pca", 1.0, 100), ("nonneg-pca", 0.0, 20)] {
        let p = problem(name, &matrix, rank, lambda)?;
        for (what, options, count) in [
            ("blocks of 32", ObcdOptions { block: 32, ..Default::default() }, 600),
            ("blocks of 64", ObcdOptions { block: 64, ..Default::default() }, 200),
            ("jacobi", ObcdOptions { jacobi: true, ..Default::default() }, 300),
        ] {
            let one = on(1, || rounds(&p, &options, count))??;
            let two = on(2, || rounds(&p, &options, count))??;
            println!(
                "| {name} r {rank}, {what} | {:.2} | {:.2} | {:.2} | {} |",
                one.seconds,
                two.seconds,
                one.seconds / two.seconds,
                one.x == two.x
            );
        }
        let x = rounds(&p, &ObcdOptions::default(), 20_000)?.x;
        let time = |threads| {
            on(threads, || {
                let clock = std::time::Instant::now();
                let certificate = block_stationarity(&p, &x, Scope::All);
                (clock.elapsed().as_secs_f64(), certificate)
            })
        };
        let (one, two) = (time(1)?, time(2)?);
        println!(
            "| {name} r {rank}, certify all pairs | {:.3} | {:.3} | {:.2} | {} |",
            one.0,
            two.0,
            one.0 / two.0,
            one.1 == two.1
        );
    }
    Ok(())
}
