//! `cargo run --release -p orthopt-bench -- SUITE`: end-to-end benchmarks, as Markdown tables.
//!
//! Suites: `pairs` (pair solves per second), `convergence [SECONDS]` (seconds to within 1e-3,
//! 1e-4 and 1e-5 of the best F of the run), `threads` (two threads against one), `sparse`
//! (large sparse data), `drift` (10⁷ pairs and more), `nonlinear` (smooth solvers on the nonlinear
//! eigenvalue problem). Data files are looked for in the folder
//! named by `ORTHOPT_DATA`, `../shared/data` if that is not set; what is not there is skipped
//! with a message.

mod convergence;
mod drift;
mod instance;
mod nonlinear;
mod pairs;
mod sparse;
mod threads;

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let seconds = args.get(1).and_then(|s| s.parse().ok());
    match args.first().map(String::as_str) {
        Some("pairs") => pairs::run(),
        Some("convergence") => convergence::run(seconds.unwrap_or(8.0), args.get(2).map(String::as_str))?,
        Some("threads") => threads::suite()?,
        Some("sparse") => sparse::run(seconds.unwrap_or(60.0))?,
        Some("drift") => drift::suite()?,
        Some("nonlinear") => nonlinear::suite()?,
        _ => anyhow::bail!(
            "usage: orthopt-bench pairs|convergence [SECONDS [FILTER]]|threads|sparse|drift|nonlinear"
        ),
    }
    Ok(())
}
