//! Data for which nothing n × n can be formed: time, pairs per second, peak memory, and the cost
//! of a pair against n.

use anyhow::{Context, Result};
use orthopt::certify::{Scope, block_stationarity};
use orthopt::solvers::obcd::ObcdOptions;
use orthopt::start::Start;

use crate::instance::{counter, load, problem, solve};
use crate::loglog::{Series, draw, slope};

/// Where the plot goes.
const PLOT: &str = "bench/sparse.svg";

/// Peak memory of this process so far in MB, where the system tells.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kb| kb / 1024.0)
}

/// One run, as a row of the table; µs per pair of the solver, and of a whole check of all pairs.
fn row(data: &str, lambda: f64, seconds: f64) -> Result<Option<(f64, f64)>> {
    let Some(matrix) = load(data)? else { return Ok(None) };
    let p = problem("l0-pca", &matrix, 10, lambda)?;
    let s = solve(&p, &Start::Coordinates, &ObcdOptions::default(), seconds)?;
    let clock = std::time::Instant::now();
    let certificate = block_stationarity(&p, &s.x, Scope::All);
    let checking = clock.elapsed().as_secs_f64();
    let pairs = counter(&s, "pairs");
    let cost = 1e6 * s.seconds / pairs as f64;
    println!(
        "| {data} | {lambda} | {:.6e} | {} | {} | {:.2} | {pairs} | {:.2e} | {cost:.3} | {} | {} |",
        s.objective.total,
        s.nnz,
        s.status.name(),
        s.seconds,
        pairs as f64 / s.seconds,
        certificate.holds(1e-9 * (1.0 + s.objective.total.abs())),
        peak_memory().map_or_else(|| "?".into(), |m| format!("{m:.0}"))
    );
    Ok(Some((cost, 1e6 * checking / certificate.pairs_checked.max(1) as f64)))
}

/// Prints the table, the largest case last, so that the peak is its own, and draws the cost of a
/// pair against n: ten nonzeros a column, the same λ.
pub fn run(seconds: f64) -> Result<()> {
    println!("| data | lambda | F | nnz | status | s | pairs | pairs/s | us/pair | certified | peak MB |");
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    let (mut solver, mut check) = (Vec::new(), Vec::new());
    for n in [1000usize, 3000, 10_000, 30_000, 100_000] {
        let data = format!("sparse-randn:{n}:{n}:{}", 10 * n);
        if let Some((cost, checking)) = row(&data, 0.3, seconds)? {
            solver.push((n as f64, cost));
            check.push((n as f64, checking));
        }
    }
    for (data, lambda) in [
        ("news20_counts.mtx.gz", 2000.0),
        ("news20_counts.mtx.gz", 500.0),
        ("sparse-randn:100000:100000:5000000", 5.0),
        ("sparse-randn:100000:100000:5000000", 0.5),
    ] {
        row(data, lambda, seconds)?;
    }
    println!(
        "\nslope of log(us/pair) against log n: solver {:.2}, check {:.2}",
        slope(&solver),
        slope(&check)
    );
    let series = [
        Series { label: "solver".into(), points: solver },
        Series { label: "check of all pairs".into(), points: check },
    ];
    let svg = draw(
        "cost of a pair, sparse n x n data, 10 nonzeros a column, lambda 0.3",
        "n",
        "microseconds",
        &series,
    )?;
    std::fs::write(PLOT, svg).with_context(|| format!("cannot write {PLOT}"))?;
    println!("drawn in {PLOT}");
    Ok(())
}
