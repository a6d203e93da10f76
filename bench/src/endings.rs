//! How every solver ends on every problem without a limit: the status, iterations, seconds, and the
//! criticality of its X computed anew. A run of more than [`PATIENCE`] seconds is cut off and named.

use anyhow::Result;
use orthopt::cancel::Cancel;
use orthopt::family::{Family, Kind, PROBLEMS, Request, pose};
use orthopt::problem::PcaData;
use orthopt::solve::{Solution, Status, Stopping};
use orthopt_data::Matrix;

use crate::instance::load;

/// Data sets of some fifty variables and less.
const DATA: &[&str] = &["builtin:pitprops", "ionosphere.csv", "randn:100:50:1"];
/// Seconds after which a run is said not to end.
const PATIENCE: f64 = 120.0;
/// Components.
const RANK: usize = 3;

fn line(data: &str, problem: &str, solver: &str, s: &Solution, criticality: Option<f64>) {
    let ended = if s.status == Status::TimeLimit { "DOES NOT END" } else { s.status.name() };
    println!(
        "| {data} | {problem} | {solver} | {:.7} | {ended} | {} | {:.2} | {} |",
        s.objective.total,
        s.iterations,
        s.seconds,
        criticality.map_or("-".into(), |c| format!("{c:.1e}"))
    );
}

fn all_solvers<P: Family>(data: &str, name: &str, p: &P, filter: Option<&str>) {
    let stopping = Stopping { max_iters: None, time_limit: Some(PATIENCE), tol: 1e-9, min_decrease: 0.0 };
    for info in p.solvers().iter().filter(|info| (info.handles)(p)) {
        if filter.is_some_and(|f| !format!("{data} {name} {}", info.name).contains(f)) {
            continue;
        }
        let wanted = Request { solver: Some(info.name.into()), seed: Some(1), ..Default::default() };
        match p
            .plan(&wanted)
            .and_then(|plan| plan.run(p, &wanted, &stopping, Some(0), &Cancel::never(), &mut []))
        {
            Ok(s) => line(data, name, info.name, &s, p.criticality(&s.x, &Cancel::never())),
            Err(error) => println!("| {data} | {name} | {} | | {error} | | | |", info.name),
        }
    }
}

/// The table; `filter` is a part of data, problem and solver.
pub fn suite(filter: Option<&str>) -> Result<()> {
    println!("| data | problem | solver | F | ended | iterations | s | criticality |");
    println!("|---|---|---|---|---|---|---|---|");
    for data in DATA {
        let Some(matrix) = load(data)? else { continue };
        let data_of = match &matrix {
            Matrix::Dense(a) => PcaData::Dense(a.as_ref()),
            Matrix::Sparse(a) => PcaData::Sparse(a.as_ref(), None),
        };
        for info in PROBLEMS {
            let rank = (!matches!(info.kind, Kind::HyperbolicEig | Kind::Probe)).then_some(RANK);
            let options = Request { rank: rank.map(Into::into), ..Default::default() };
            match pose(info, &data_of, &options) {
                Ok(posed) => all_solvers(data, info.name, &posed.problem, filter),
                Err(error) => eprintln!("skipped: {} of {data}: {error}", info.name),
            }
        }
    }
    Ok(())
}
