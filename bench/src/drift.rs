//! 10⁷ pairs and more: what rounding does to feasibility, signs and F.

use anyhow::Result;
use orthopt::solve::{MaxIterations, RunOptions, run};
use orthopt::solvers::obcd::{Obcd, ObcdOptions};
use orthopt::start::Start;

use crate::instance::{counter, load, problem};

/// Prints the table: 2·10⁷ pairs each, restarted from a random seed of pairs, not of X.
pub fn suite() -> Result<()> {
    const PAIRS: u64 = 20_000_000;
    println!("| data | problem | pairs | moves | ||X'X - I|| | most negative | F - F afresh | trace falls |");
    println!("|---|---|---|---|---|---|---|---|");
    for (data, name, lambda, start) in [
        ("w1a.svm", "l1-pca", 1.0, Start::Identity),
        ("randn:80:60", "l1-pca", 0.5, Start::Identity),
        ("randn:500:1000", "l0-pca", 0.5, Start::Identity),
        ("randn:500:1000", "nonneg-pca", 0.0, Start::Partition),
    ] {
        let Some(matrix) = load(data)? else { continue };
        let p = problem(name, &matrix, 20, lambda)?;
        let x0 = start.point(&p.f, 20, name == "nonneg-pca", 0)?;
        let options = RunOptions { max_iterations: Some(PAIRS), ..Default::default() };
        let s = run(
            &p,
            &Obcd::new(ObcdOptions::default())?,
            x0,
            options,
            &mut MaxIterations(Some(PAIRS)),
            &mut [],
        )?;
        let points = s.trace.points();
        let falls = points.windows(2).all(|w| w[1].objective <= w[0].objective);
        let last = points.last().map_or(f64::NAN, |p| p.objective);
        println!(
            "| {data} | {name} {lambda} | {} | {} | {:.1e} | {:.1e} | {:.1e} | {falls} |",
            counter(&s, "pairs"),
            counter(&s, "moves"),
            s.feasibility,
            s.x.data().iter().fold(0.0f64, |m, v| m.min(*v)),
            last - s.objective.total,
        );
    }
    Ok(())
}
