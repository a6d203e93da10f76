//! The ℓ1 family of the literature: A = randn(50, n), columns centred and of unit norm,
//! F = −tr(XᵀAᵀAX) + μ‖X‖₁, from the leading right singular vectors and from a random start.
//! Every solver that can do it, on one thread, timed by the processor time of this process, which
//! other work on the machine does not change.

use anyhow::Result;
use orthopt::certify::criticality;
use orthopt::family::Family;
use orthopt::problem::{PcaData, PcaProblem, Storage};
use orthopt::solve::{Critical, Event, RunOptions, Solution, Stationary, Stop, TimeLimit, run};
use orthopt::solvers::{SOLVERS, SolverOptions};
use orthopt_data::{Matrix, Prepare, Scale};

use crate::instance::load;

/// Seconds of processor time of all threads of this process so far, where the system tells.
pub fn processor_seconds() -> Option<f64> {
    let mut nanoseconds = 0.0;
    for task in std::fs::read_dir("/proc/self/task").ok()?.flatten() {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        nanoseconds += text.split_whitespace().next()?.parse::<f64>().ok()?;
    }
    Some(1e-9 * nanoseconds)
}

/// Relative stationarity at which solvers stop; F is settled long before.
const TOLERANCE: f64 = 1e-8;
/// Relative distance of F that is timed.
const GAP: f64 = 1e-6;

struct Outcome {
    name: &'static str,
    solution: Solution,
    curve: Vec<(f64, f64)>, // processor seconds, lowest F so far
    criticality: f64,
}

impl Outcome {
    /// Seconds until F was within GAP of `target`, relative to it.
    fn reached(&self, target: f64) -> String {
        let limit = target + GAP * target.abs();
        let point = self.curve.iter().find(|c| c.1 <= limit);
        point.map_or_else(|| "-".into(), |c| format!("{:.4}", c.0))
    }
}

/// −tr(XᵀAᵀAX) + μ‖X‖₁ is twice the library's −½tr(XᵀAᵀAX) + (μ/2)‖X‖₁.
fn problem(n: usize, rank: usize, mu: f64) -> Result<Option<PcaProblem>> {
    let Some(matrix) = load(&format!("randn:50:{n}:1"))? else { return Ok(None) };
    let prepare = Prepare { center: true, scale: Scale::Unit, ..Prepare::default() };
    let Matrix::Dense(a) = prepare.apply(matrix)?.matrix else { return Ok(None) };
    let data = PcaData::Dense(a.as_ref());
    Ok(Some(orthopt::family::pca_problem("l1-pca", &data, rank, 0.5 * mu, Storage::Gram)?))
}

fn outcomes(p: &PcaProblem, start: &str, seconds: f64, names: Option<&str>) -> Result<Vec<Outcome>> {
    let x0 = p.start(start, 1)?;
    let wanted = |name: &str| names.is_none_or(|list| list.split(',').any(|s| s == name));
    let mut out = Vec::new();
    for info in SOLVERS.iter().filter(|s| wanted(s.name) && (s.handles)(p)) {
        let solver = info.build(p, &SolverOptions { seed: 1, ..Default::default() })?;
        let mut curve = vec![];
        let begin = processor_seconds();
        let clock = |wall: f64| match (begin, processor_seconds()) {
            (Some(before), Some(now)) => now - before,
            _ => wall,
        };
        let mut watch = |event: Event<'_>| {
            if let Event::Step(p) = event {
                let lowest = curve.last().map_or(f64::INFINITY, |c: &(f64, f64)| c.1);
                curve.push((clock(p.seconds), lowest.min(p.objective)));
            }
        };
        let mut stop = Critical { tol: TOLERANCE }.or(Stationary { tol: 1e-9 }).or(TimeLimit(Some(seconds)));
        let solution = run(p, &solver, x0.clone(), RunOptions::default(), &mut stop, &mut [&mut watch])?;
        curve.push((clock(solution.seconds), solution.objective.total));
        let criticality = criticality(p, &solution.x);
        out.push(Outcome { name: info.name, solution, curve, criticality });
    }
    Ok(out)
}

/// Prints the table; `filter` keeps the cells whose title (`n r mu start`) begins with it, `names`
/// the solvers listed with commas.
pub fn suite(seconds: f64, filter: Option<&str>, names: Option<&str>) -> Result<()> {
    rayon::ThreadPoolBuilder::new().num_threads(1).build()?.install(|| -> Result<()> {
        println!("one thread, at most {seconds} s each; seconds to within {GAP:e} of the solver's own final F");
        println!("and of the lowest F of the cell; criticality is dist(0, dF) for F as printed\n");
        println!("| n r mu start | solver | s to own F | s to best F | F | criticality | zeros | ||X'X - I|| | status |");
        println!("|---|---|---|---|---|---|---|---|---|");
        for n in [300, 1000, 2000] {
            for rank in [4, 10, 20] {
                for mu in [0.5, 0.8] {
                    for start in ["pca", "random"] {
                        let title = format!("{n} {rank} {mu} {start}");
                        if filter.is_some_and(|f| !title.starts_with(f)) {
                            continue;
                        }
                        let Some(p) = problem(n, rank, mu)? else { continue };
                        print(&title, &outcomes(&p, start, seconds, names)?);
                    }
                }
            }
        }
        Ok(())
    })
}

fn print(title: &str, outcomes: &[Outcome]) {
    let best = outcomes.iter().map(|o| o.solution.objective.total).fold(f64::INFINITY, f64::min);
    for o in outcomes {
        let (s, own) = (&o.solution, o.solution.objective.total);
        println!(
            "| {title} | {} | {} | {} | {:.6} | {:.1e} | {} | {:.1e} | {} |",
            o.name,
            o.reached(own),
            o.reached(best),
            2.0 * own,
            2.0 * o.criticality,
            s.x.data().iter().filter(|v| **v == 0.0).count(),
            s.feasibility,
            s.status.name()
        );
    }
}
