//! Seconds to within 1e-3, 1e-4 and 1e-5 of the best F of the run, and to the F that the plain
//! pairwise method ends with, for it and all variants of OBCD, from the same start.

use anyhow::Result;
use orthopt::solve::Solution;
use orthopt::solvers::obcd::Search;
use orthopt::solvers::obcd::{ObcdOptions, WorkingSet};
use orthopt::start::Start;

use crate::instance::{counter, load, problem, solve};

struct Case {
    data: &'static str,
    problem: &'static str,
    lambda: f64,
    rank: usize,
    start: Start,
}

fn cases() -> Vec<Case> {
    let case = |data, problem, lambda, rank, start| Case { data, problem, lambda, rank, start };
    let mut out = Vec::new();
    for rank in [20, 100] {
        out.push(case("randn:500:1000", "l1-pca", 1.0, rank, Start::Pca));
        out.push(case("randn:500:1000", "l1-pca", 1.0, rank, Start::Identity));
        out.push(case("randn:500:1000", "nonneg-pca", 0.0, rank, Start::Partition));
        out.push(case("randn:500:1000", "l0-pca", 1.0, rank, Start::Coordinates));
    }
    for (data, l0, l1) in [
        ("w1a.svm", 1.0, 1.0),
        ("mnist_a_5000_images.npy", 1e4, 1e3),
        ("pcmac.svm.gz", 10.0, 1.0),
        ("colon_alon.csv.gz", 1e6, 1e5),
    ] {
        out.push(case(data, "l0-pca", l0, 20, Start::Coordinates));
        out.push(case(data, "l1-pca", l1, 20, Start::Pca));
        out.push(case(data, "nonneg-pca", 0.0, 20, Start::Pca));
    }
    out
}

fn variants() -> Vec<(&'static str, ObcdOptions)> {
    let base = ObcdOptions { seed: 1, ..Default::default() };
    vec![
        ("plain pairwise", ObcdOptions { search: Search::Plain, ..base.clone() }),
        ("random pairs", base.clone()),
        ("cyclic pairs", ObcdOptions { working_set: WorkingSet::Cyclic, ..base.clone() }),
        ("greedy-sv", ObcdOptions { working_set: WorkingSet::GreedySv, ..base.clone() }),
        ("greedy-or", ObcdOptions { working_set: WorkingSet::GreedyOr, ..base.clone() }),
        ("blocks of 32", ObcdOptions { block: 32, ..base.clone() }),
        ("blocks of 64", ObcdOptions { block: 64, ..base.clone() }),
        ("jacobi", ObcdOptions { jacobi: true, ..base }),
    ]
}

/// First time at which F is within `gap` of `best`, relative to |best|.
fn reached(s: &Solution, best: f64, gap: f64) -> String {
    let limit = best + gap * best.abs().max(1e-300);
    let point = s.trace.points().iter().find(|p| p.objective <= limit);
    point.map_or_else(|| "-".into(), |p| format!("{:.3}", p.seconds))
}

/// Prints a table for every case whose data are there and whose name contains `filter`.
pub fn run(seconds: f64, filter: Option<&str>) -> Result<()> {
    println!("{seconds} s for every variant; all threads; best = lowest F of the table\n");
    for c in cases() {
        let title =
            format!("{} {} lambda {} r {} from {}", c.data, c.problem, c.lambda, c.rank, c.start.name());
        if filter.is_some_and(|f| !title.contains(f)) {
            continue;
        }
        let Some(matrix) = load(c.data)? else { continue };
        let p = problem(c.problem, &matrix, c.rank, c.lambda)?;
        let runs: Vec<(&str, Solution)> = variants()
            .into_iter()
            .map(|(name, options)| Ok((name, solve(&p, &c.start, &options, seconds)?)))
            .collect::<Result<_>>()?;
        let best = runs.iter().map(|r| r.1.objective.total).fold(f64::INFINITY, f64::min);
        let plain = runs.first().map_or(best, |r| r.1.objective.total);
        println!("### {title}\n");
        println!(
            "| variant | F | 1e-3 | 1e-4 | 1e-5 | plain's F | status | pairs/s |\n|---|---|---|---|---|---|---|---|"
        );
        for (name, s) in &runs {
            println!(
                "| {name} | {:.6e} | {} | {} | {} | {} | {} | {:.2e} |",
                s.objective.total,
                reached(s, best, 1e-3),
                reached(s, best, 1e-4),
                reached(s, best, 1e-5),
                reached(s, plain, 1e-9),
                s.status.name(),
                counter(s, "pairs") as f64 / s.seconds
            );
        }
        println!();
    }
    Ok(())
}
