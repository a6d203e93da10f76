//! Data for which nothing n × n can be formed: time, pairs per second, peak memory, and the cost
//! of a pair against n.

use anyhow::Result;
use orthopt::certify::{Scope, block_stationarity};
use orthopt::solvers::obcd::ObcdOptions;
use orthopt::start::Start;

use crate::instance::{counter, load, problem, solve};

/// Peak memory of this process so far in MB, where the system tells.
fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kb| kb / 1024.0)
}

/// Prints the table; the largest case last, so that the peak is its own.
pub fn run(seconds: f64) -> Result<()> {
    println!("| data | lambda | F | status | s | pairs | pairs/s | us/pair | certified | peak MB |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (data, lambda) in [
        ("sparse-randn:1000:1000:50000", 5.0),
        ("sparse-randn:3000:3000:150000", 5.0),
        ("sparse-randn:10000:10000:500000", 5.0),
        ("sparse-randn:30000:30000:1500000", 5.0),
        ("news20_counts.mtx.gz", 2000.0),
        ("news20_counts.mtx.gz", 500.0),
        ("sparse-randn:100000:100000:5000000", 5.0),
        ("sparse-randn:100000:100000:5000000", 2.0),
    ] {
        let Some(matrix) = load(data)? else { continue };
        let p = problem("l0-pca", &matrix, 10, lambda)?;
        let s = solve(&p, &Start::Coordinates, &ObcdOptions::default(), seconds)?;
        let certificate = block_stationarity(&p, &s.x, Scope::All);
        let pairs = counter(&s, "pairs");
        println!(
            "| {data} | {lambda} | {:.6e} | {} | {:.2} | {pairs} | {:.2e} | {:.2} | {} | {} |",
            s.objective.total,
            s.status.name(),
            s.seconds,
            pairs as f64 / s.seconds,
            1e6 * s.seconds / pairs as f64,
            certificate.holds(1e-9 * (1.0 + s.objective.total.abs())),
            peak_memory().map_or_else(|| "?".into(), |m| format!("{m:.0}"))
        );
    }
    Ok(())
}
