//! The nonlinear eigenvalue problem ½tr(XᵀLX) + (α/4)ρᵀL⁻¹ρ with the 1-D Laplacian L: seconds of
//! the smooth solvers to ‖G − XGᵀX‖_F < 1e-5, on one thread, and F where it is below 1e-6. The last
//! column says whether all agree to 1e-8 of F with a gradient of at most 1e-6.

use std::time::Instant;

use anyhow::{Context, Result};
use orthopt::family::Family;
use orthopt::family::NONLINEAR_EIG_SOLVERS as SOLVERS;
use orthopt::penalty::NoPenalty;
use orthopt::problem::NonlinearEigProblem;
use orthopt::smooth::{NonlinearEig, Smooth};
use orthopt::solve::Solver;
use orthopt::solvers::SolverOptions;
use orthopt_linalg::products::cross;
use orthopt_linalg::products::product;

/// Seconds of the best public code, (n, r, α).
const PUBLIC: &[(usize, usize, f64, f64)] =
    &[(500, 10, 10.0, 0.043), (1000, 10, 10.0, 0.074), (1000, 20, 100.0, 0.37)];
/// Runs of which the fastest counts.
const REPEATS: usize = 5;

struct Outcome {
    seconds: f64, // to a gradient below 1e-5
    iterations: u64,
    value: f64,    // where the gradient is below 1e-6
    gradient: f64, // there
    feasibility: f64,
}

/// One run of at most so many seconds from the random start, the gradient looked at after every
/// iteration, off the clock.
fn run(p: &NonlinearEigProblem, solver: usize, limit: f64) -> Result<Outcome> {
    let solver = SOLVERS[solver].build(p, &SolverOptions::default())?;
    let x0 = p.start("random", 1)?;
    let clock = Instant::now();
    let mut state = solver.init(p, x0)?;
    let mut seconds = clock.elapsed().as_secs_f64();
    let (mut iterations, mut reached) = (0, None);
    while seconds < limit {
        let clock = Instant::now();
        let step = solver.step(p, &mut state);
        seconds += clock.elapsed().as_secs_f64();
        iterations += 1;
        let now = gradient(p, solver.current(p, &state).x());
        if now < 1e-5 && reached.is_none() {
            reached = Some((seconds, iterations));
        }
        if now < 1e-6 || step.ended.is_some() {
            break;
        }
    }
    let x = solver.finish(p, state).x;
    let (seconds, iterations) = reached.unwrap_or((f64::NAN, iterations));
    Ok(Outcome {
        seconds,
        iterations,
        value: p.value(&x),
        gradient: gradient(p, &x),
        feasibility: p.feasibility(&x),
    })
}

/// ‖G − XGᵀX‖_F.
fn gradient(p: &NonlinearEigProblem, x: &orthopt::RowMat) -> f64 {
    let mut g = orthopt::RowMat::zeros(x.nrows(), x.ncols());
    p.f.gradient(x, &mut g);
    let gtx = cross(&g, x);
    let mut d = g.clone();
    product(&mut d, true, -1.0, x.as_mat(), gtx.as_mat());
    d.norm()
}

/// Prints the table: runs of at most so many seconds, of the cells whose name `N/R/ALPHA` begins with
/// `filter`.
pub fn suite(limit: f64, filter: Option<&str>) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    println!("one thread, random start, the fastest of {REPEATS} runs; public: the best public code\n");
    println!(
        "| n | r | alpha | solver | s to 1e-5 | iterations | public | F | F - lowest | gradient | feasibility | agrees |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for n in [500, 1000] {
        for r in [10, 20] {
            for alpha in [1.0, 10.0, 100.0] {
                if filter.is_none_or(|f| format!("{n}/{r}/{alpha}").starts_with(f)) {
                    pool.install(|| cell(n, r, alpha, limit))?;
                }
            }
        }
    }
    Ok(())
}

fn cell(n: usize, r: usize, alpha: f64, limit: f64) -> Result<()> {
    let p = NonlinearEigProblem::new(NonlinearEig::laplacian_1d(n, alpha)?, NoPenalty, r)?;
    let smooth = (0..SOLVERS.len()).filter(|k| !SOLVERS[*k].name.starts_with("obcd"));
    let best: Vec<(&str, Outcome)> = smooth
        .map(|k| {
            let mut runs = (0..REPEATS).map(|_| run(&p, k, limit)).collect::<Result<Vec<_>>>()?;
            runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
            Ok((SOLVERS[k].name, runs.into_iter().next().context("at least one run")?))
        })
        .collect::<Result<_>>()?;
    let lowest = best.iter().map(|b| b.1.value).fold(f64::INFINITY, f64::min);
    let public = PUBLIC.iter().find(|c| (c.0, c.1, c.2) == (n, r, alpha));
    for (name, o) in best {
        let agrees = o.value - lowest <= 1e-8 * lowest.abs() && o.gradient <= 1e-6;
        println!(
            "| {n} | {r} | {alpha} | {name} | {:.4} | {} | {} | {:.10e} | {:.1e} | {:.1e} | {:.1e} | {} |",
            o.seconds,
            o.iterations,
            public.map_or_else(|| "-".into(), |c| c.3.to_string()),
            o.value,
            o.value - lowest,
            o.gradient,
            o.feasibility,
            if agrees { "yes" } else { "no" }
        );
    }
    Ok(())
}
