//! Solvers on the structural probe against evaluations of components: f that a run has after so many of them, from
//! several starts. A gradient of fᵢ counts as one and a value of fᵢ as one, as both take the distances of a point to
//! all others; J-JOBCD asks for two or three values per gradient in its line search.

use std::time::Instant;

use anyhow::{Result, bail};
use orthopt::family::Family;
use orthopt::problem::JProblem;
use orthopt::smooth::Smooth;
use orthopt::solve::{AnySolver, Solver};
use orthopt::solvers::{J_SOLVERS, SolverOptions, find_solvers};

use crate::hyperbolic::{counted, image_probe};

/// Course of a run: F and its cost at every improvement.
struct Course(Vec<(f64, f64, f64)>); // F, evaluations in units of N, seconds

impl Course {
    fn run(p: &JProblem, s: &AnySolver<JProblem>, seed: u64, most: f64, seconds: f64) -> Result<Self> {
        let n = p.f.components() as f64;
        let x0 = p.start("random", seed)?;
        let mut state = s.init(p, x0)?;
        let (mut course, mut iterations, mut best, mut elapsed) = (Vec::new(), 0u64, f64::INFINITY, 0.0);
        loop {
            let clock = Instant::now();
            let step = s.step(p, &mut state);
            let objective = s.current(p, &state).objective;
            elapsed += clock.elapsed().as_secs_f64();
            iterations += 1;
            let settings = s.finish(p, state.clone()).details.settings;
            let components = counted(&settings, "component_gradients");
            let values = counted(&settings, "values");
            // UMCM takes a Hessian product by two more gradients
            let each = if s.name() == "umcm" { 3.0 } else { 1.0 };
            let used = if components.is_nan() { iterations as f64 * each } else { components / n };
            let used = used + if values.is_nan() { 0.0 } else { values };
            if objective < best {
                best = objective;
                course.push((best, used, elapsed));
            }
            if used >= most || elapsed >= seconds || step.ended.is_some() {
                return Ok(Self(course));
            }
        }
    }

    /// F after so many evaluations.
    fn after(&self, evaluations: f64) -> f64 {
        self.0.iter().take_while(|c| c.1 <= evaluations).last().map_or(f64::NAN, |c| c.0)
    }

    /// Evaluations and seconds until F.
    fn until(&self, f: f64) -> Option<(f64, f64)> {
        self.0.iter().find(|c| c.0 <= f).map(|c| (c.1, c.2))
    }
}

/// Rows of a table for `part`, which is M/N/SEEDS/MOST/SOLVER\[:CONSTANT=VALUE,...\]\[/SOLVER...\]; F of the first solver
/// at the end is what the others are to reach.
pub fn run(seconds: f64, part: Option<&str>) -> Result<()> {
    let words: Vec<&str> = part.unwrap_or_default().split('/').collect();
    let [m, n, seeds, most, solvers @ ..] = words.as_slice() else {
        bail!("expected M/N/SEEDS/MOST/SOLVER...")
    };
    let (m, n, most): (usize, usize, f64) = (m.parse()?, n.parse()?, most.parse()?);
    let Some(p) = image_probe(m, n)? else { return Ok(()) };
    println!(
        "| m | n | seed | solver | F after {most}/10 N, {most}/3 N, {most} N | N to the first's F | s to it | F, s at the end |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for seed in seeds.split(',') {
        let seed: u64 = seed.parse()?;
        let mut target = None;
        for spec in solvers {
            let (name, constants) = spec.split_once(':').unwrap_or((spec, ""));
            let constants = constants.split(',').filter_map(|w| w.split_once('='));
            let constants = constants.map(|(k, v)| Ok((format!("{name}-{k}"), v.parse::<f64>()?)));
            let constants = constants.collect::<Result<_>>()?;
            let options = SolverOptions { seed, constants, ..Default::default() };
            let s = find_solvers(J_SOLVERS, name)?[0].build(&p, &options)?;
            let course = Course::run(&p, &s, seed, most, seconds)?;
            let f = *target.get_or_insert_with(|| course.after(most));
            let (g, t) = course.until(f).unwrap_or((f64::NAN, f64::NAN));
            let end = course.0.last().map_or((f64::NAN, 0.0, 0.0), |c| *c);
            println!(
                "| {m} | {n} | {seed} | {spec} | {:.4} {:.4} {:.4} | {g:.1} | {t:.2} | {:.4}, {:.1} |",
                course.after(most / 10.0),
                course.after(most / 3.0),
                course.after(most),
                end.0,
                end.2
            );
        }
    }
    Ok(())
}
