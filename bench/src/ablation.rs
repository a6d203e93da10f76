//! What every part of the search is worth: the frozen data sets and problems with the part left out, in units of work.

use std::time::Instant;

use anyhow::Result;
use orthopt::cancel::Cancel;

use orthopt::family::{AnyProblem, Between, Effort, Family, Knee, Limit, Request, find_problem, pose};
use orthopt::problem::PcaData;
use orthopt::smooth::Measure;
use orthopt::solve::{Solution, Stopping};
use orthopt_data::Matrix;
use orthopt_run::search::PARTS;
use orthopt_run::search::Tuning;

use crate::frozen::{LARGE, SETS, Set, matrix};
use crate::portfolio::prepared;

/// Units of work at which F is recorded, some .1 s and 1 s of one thread, and the most work of a cell: the search ends by itself, or
/// there.
const BUDGETS: [u64; 3] = [320_000_000, 3_200_000_000, 40_000_000_000];

/// The problems of a set: adjusted variance and variance with numbers of nonzeros are `measured` and `counts`; the last one is scad or
/// uncorrelated by turns.
const PROBLEMS: [&str; 6] = ["l0", "measured", "counts", "l1", "nonneg", "other"];
const OF_LARGE: [&str; 2] = ["l0", "measured"];

/// A problem and a data set.
struct Cell<'a> {
    set: &'a Set,
    kind: &'static str,
    problem: AnyProblem,
}

fn posed(set: &Set, place: usize, kind: &str, data: &PcaData<'_>) -> Result<(&'static str, AnyProblem)> {
    let mut options = Request { rank: Some(set.rank.into()), ..Default::default() };
    let even = place.is_multiple_of(2);
    let (kind, name) = match kind {
        "l0" => ("l0", "l0-pca"),
        "measured" => ("measured", "l0-pca"),
        "counts" => ("counts", "l0-pca"),
        "l1" => ("l1", "l1-pca"),
        "nonneg" => ("nonneg", "nonneg-pca"),
        _ if even => ("scad", "scad-pca"),
        _ => ("uncorrelated", "pca"),
    };
    let info = find_problem(name)?;
    match kind {
        "l0" | "l1" => {
            let first = pose(info, data, &options)?;
            options.lambda = first.lambda.map(|lambda| if even { 0.1 * lambda } else { lambda });
            if let AnyProblem::Pca(p) = &first.problem
                && kind == "l0"
                && !even
            {
                options.lambda = Some(Knee::of(&p.f, set.rank)?.lambda);
            }
        }
        "measured" => {
            options.set_limit(Some(if even { Limit::Nonzeros(vec![5]) } else { Limit::Knee }));
            options.maximise = Some(Measure::Adjusted);
        }
        "counts" => {
            options.set_limit(Some(if even { Limit::Knee } else { Limit::Nonzeros(vec![8]) }));
            options.maximise = Some(Measure::Variance);
        }
        "uncorrelated" => {
            options.set_limit(Some(Limit::Nonzeros(vec![10])));
            options.constraint = Some(Between::Uncorrelated);
        }
        _ => {}
    }
    Ok((kind, pose(info, data, &options)?.problem))
}

fn solved<P: Family>(p: &P, tuning: Tuning, seed: u64) -> Result<Solution> {
    let wanted = Request { seed: Some(seed), tuning, effort: Some(Effort::Normal), ..Default::default() };
    // no limit of time is reached: the search ends before, or that of work does
    let stopping = Stopping { max_iters: None, time_limit: Some(1e6), tol: 1e-9, min_decrease: 0.0 };
    Ok(p.plan(&wanted)?.run(p, &wanted, &stopping, None, &Cancel::never(), &mut [])?)
}

/// Lowest F within each budget.
fn run(cell: &Cell<'_>, without: &'static [&'static str], seed: u64) -> Result<([f64; 3], u64, f64)> {
    let tuning = Tuning { without, max_work: Some(BUDGETS[2]), ..Tuning::DEFAULT };
    let clock = Instant::now();
    // a thread of its own: work is counted by thread
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let s = pool.install(|| solved(&cell.problem, tuning, seed))?;
    let seconds = clock.elapsed().as_secs_f64();
    let Some(search) = s.search else { anyhow::bail!("{} {}: no search", cell.set.name, cell.kind) };
    let within = |budget: u64| {
        search.curve.iter().filter(|(work, _)| *work <= budget).map(|(_, f)| *f).fold(f64::INFINITY, f64::min)
    };
    Ok((BUDGETS.map(within), search.work, seconds))
}

fn cells(sets: &'static [Set], problems: &[&str], filter: &str) -> Result<Vec<Cell<'static>>> {
    let mut cells = Vec::new();
    for (place, set) in sets.iter().enumerate() {
        if !problems.iter().any(|kind| format!("{} {kind}", set.name).contains(filter))
            && !set.name.contains(filter)
        {
            continue;
        }
        let Some(matrix) = matrix(set)? else { continue };
        let dense = match &matrix {
            Matrix::Dense(a) if set.name != "builtin:pitprops" => Some(prepared(a)),
            _ => None,
        };
        let data = match (&dense, &matrix) {
            (Some(a), _) => PcaData::Dense(a.as_ref()),
            (None, Matrix::Sparse(a)) => PcaData::Sparse(a.as_ref(), None),
            (None, Matrix::Dense(a)) => PcaData::Gram(a.as_ref()),
        };
        for kind in problems {
            let (kind, problem) = posed(set, place, kind, &data)?;
            if format!("{} {kind}", set.name).contains(filter) {
                cells.push(Cell { set, kind, problem });
            }
        }
    }
    Ok(cells)
}

/// The rows of the ablation: every part of `parts` (all of them, where there is none) left out. `seed:N` is nothing left out with
/// another seed, `A/B` several parts left out together; `=TEXT` keeps the cells whose name has the text, `large` takes the large sets.
pub fn suite(words: &[String]) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let filter = words.iter().find_map(|word| word.strip_prefix('=')).unwrap_or("");
    let large = words.iter().any(|word| word == "large");
    let mut wanted: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| !word.starts_with('=') && *word != "large").collect();
    if wanted.is_empty() {
        wanted = ["all", "seed:2", "seed:3"].into_iter().chain(PARTS.iter().map(|part| part.name)).collect();
    }
    println!("without,seed,set,data,problem,rank,F_first,F_second,F_third,work,seconds");
    pool.install(|| {
        let cells = if large { cells(LARGE, &OF_LARGE, filter)? } else { cells(SETS, &PROBLEMS, filter)? };
        for name in wanted {
            let seed = name.strip_prefix("seed:").map(str::parse).transpose()?;
            let parts: Vec<_> =
                name.split('/').map(|name| PARTS.iter().find(|part| part.name == name)).collect();
            let parts: Vec<_> = parts.into_iter().flatten().collect();
            let known = name == "all" || seed.is_some() || parts.len() == name.split('/').count();
            anyhow::ensure!(known, "{name} is no part of the search");
            let without: &'static [&'static str] =
                parts.iter().map(|part| part.name).collect::<Vec<_>>().leak();
            let concerned = |cell: &&Cell<'_>| {
                parts.is_empty() || parts.iter().any(|part| part.problems.contains(cell.kind))
            };
            for cell in cells.iter().filter(concerned) {
                let seed = seed.unwrap_or(1);
                let (f, work, seconds) = run(cell, without, seed)?;
                let Set { name: data, rank, seen } = cell.set;
                let set = if *seen { "seen" } else { "unseen" };
                println!(
                    "{name},{seed},{set},{data},{},{rank},{:.12e},{:.12e},{:.12e},{work},{seconds:.2}",
                    cell.kind, f[0], f[1], f[2]
                );
            }
        }
        Ok(())
    })
}
