//! `cargo run --release -p orthopt-bench -- SUITE`: end-to-end benchmarks, as Markdown tables.
//!
//! | suite | measures |
//! |---|---|
//! | `ablation [PART[/PART]...] [seed:N] [=FILTER] [large]` | F with parts of the search left out, after two amounts of work and at the end, as CSV |
//! | `pairs [PENALTY]` | pair solves per second |
//! | `convergence [SECONDS [FILTER]]` | seconds to within 1e-3, 1e-4 and 1e-5 of the best F of the run |
//! | `blocks [SECONDS [FILTER]]` | what blocks of three and four rows offer where no pair does |
//! | `limits [SECONDS [FILTER]]` | limits of nonzeros: proofs, and a published branch and bound beside them; at most SECONDS each |
//! | `bounds [SECONDS [FILTER [CSV...]]]` | global bounds and gaps; seconds of branch and bound, 0 for none |
//! | `portfolio [SECONDS [FILTER [FILE[@R]...]]]` | the default against every solver and start alone |
//! | `gram [ROWS [reproducible]]` | sums of AᵀA over chunks against faer's product; ROWS × 1000 streamed |
//! | `sparse-gram FILE...` | sums of AᵀA over sparse chunks, and C of variables of sparse data, with one and two threads, as CSV |
//! | `endings [FILTER]` | how every solver ends on every problem without a limit |
//! | `threads` | two threads against one |
//! | `sparse` | large sparse data |
//! | `storage` | C formed against A kept, beside the cost model of `--storage auto` |
//! | `drift` | 10⁷ pairs and more |
//! | `l1-family [SECONDS [CELL [SOLVERS]]]` | first-order solvers on the ℓ1 family of the literature |
//! | `dc [SECONDS [FILTER [LABELS]]] [SOLVER-CONSTANT=VALUE...]` | k-sparse PCA by OADMM and its rivals |
//! | `hyperbolic [SECONDS [PART]]` | J-orthogonal problems; parts eig, steps, probe, threads |
//! | `counts SECONDS M/N/SEEDS/MOST/SOLVER[:CONSTANT=VALUE,...][/SOLVER...]` | the probe against evaluations of components |
//! | `nonlinear [SECONDS [N/R/ALPHA]]` | smooth solvers on the nonlinear eigenvalue problem of a 1-D Laplacian |
//!
//! `bench/results/README.md` says how the rows of a table come into the files of figures.
//!
//! Data files are looked for in the folder named by `ORTHOPT_DATA`, `../shared/data` if that is
//! not set; what is not there is skipped with a message.

mod ablation;
mod blocks;
mod bounds;
mod convergence;
mod counts;
mod dc;
mod drift;
mod endings;
mod frozen;
mod gram;
mod hyperbolic;
mod instance;
mod l1_family;
mod limits;
mod loglog;
mod nonlinear;
mod pairs;
mod portfolio;
mod sparse;
mod storage;
mod threads;

use anyhow::Context as _;

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // the second word is a number where a suite takes one; anything else there is a mistake
    let takes_seconds = !matches!(
        args.first().map(String::as_str),
        None | Some("pairs" | "endings" | "ablation" | "sparse-gram")
    );
    let seconds: Option<f64> = match args.get(1) {
        Some(word) if takes_seconds => {
            Some(word.parse().with_context(|| format!("{word}: expected a number of seconds"))?)
        }
        _ => None,
    };
    match args.first().map(String::as_str) {
        Some("pairs") => pairs::run(args.get(1).map(String::as_str)),
        Some("convergence") => convergence::run(seconds.unwrap_or(8.0), args.get(2).map(String::as_str))?,
        Some("bounds") => {
            bounds::run_suite(
                seconds.unwrap_or(0.0),
                args.get(2).map(String::as_str),
                args.get(3..).unwrap_or(&[]),
            )?;
        }
        Some("ablation") => ablation::suite(&args[1..])?,
        Some("limits") => limits::run_suite(seconds.unwrap_or(30.0), args.get(2).map(String::as_str))?,
        Some("blocks") => blocks::suite(seconds.unwrap_or(10.0), args.get(2).map(String::as_str))?,
        Some("portfolio") => portfolio::suite(
            seconds.unwrap_or(5.0),
            args.get(2).map(String::as_str),
            args.get(3..).unwrap_or(&[]),
        )?,
        Some("gram") => match args.get(1).and_then(|rows| rows.parse().ok()) {
            None => gram::ratios()?,
            Some(rows) if args.len() > 2 => gram::stream(rows, orthopt_data::Summation::Reproducible)?,
            Some(rows) => gram::stream(rows, orthopt_data::Summation::Compensated)?,
        },
        Some("sparse-gram") => gram::sparse(&args[1..])?,
        Some("endings") => endings::suite(args.get(1).map(String::as_str))?,
        Some("threads") => threads::suite()?,
        Some("sparse") => sparse::run(seconds.unwrap_or(60.0))?,
        Some("storage") => storage::suite()?,
        Some("drift") => drift::suite()?,
        Some("dc") => {
            let (typed, words): (Vec<_>, Vec<_>) = args.iter().skip(2).partition(|arg| arg.contains('='));
            let constants: Vec<(String, f64)> = typed
                .iter()
                .filter_map(|arg| arg.split_once('='))
                .map(|(name, value)| Ok((name.to_string(), value.parse()?)))
                .collect::<anyhow::Result<_>>()?;
            let word = |k: usize| words.get(k).map(|w| w.as_str());
            dc::suite(seconds.unwrap_or(10.0), word(0), word(1), &constants)?;
        }
        Some("l1-family") => l1_family::suite(
            seconds.unwrap_or(20.0),
            args.get(2).map(String::as_str),
            args.get(3).map(String::as_str),
        )?,
        Some("counts") => counts::run(seconds.unwrap_or(60.0), args.get(2).map(String::as_str))?,
        Some("hyperbolic") => hyperbolic::run(seconds.unwrap_or(6.0), args.get(2).map(String::as_str))?,
        Some("nonlinear") => nonlinear::suite(seconds.unwrap_or(10.0), args.get(2).map(String::as_str))?,
        _ => anyhow::bail!(
            "usage: orthopt-bench ablation [PART...]|pairs [PENALTY]|convergence [SECONDS [FILTER]]|blocks [SECONDS [FILTER]]|bounds [SECONDS [FILTER [CSV...]]]|limits [SECONDS [FILTER]]|portfolio [SECONDS [FILTER [FILE[@R]...]]]|endings [FILTER]|gram [ROWS [reproducible]]|sparse-gram FILE...|threads|sparse|storage|drift|l1-family|dc|counts|hyperbolic|nonlinear"
        ),
    }
    Ok(())
}
