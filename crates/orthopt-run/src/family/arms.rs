//! The arms of a search: a chain of solvers and a start, as patient as the level says.

use std::sync::{Arc, OnceLock};

use super::Family;
use crate::search::{Arm, MakeStart, MakeTask, Phase, Task, Tuning};
use orthopt_core::options::{Given, Value};
use orthopt_core::solve::info::{SolverInfo, SolverOptions, find_solvers};
use orthopt_core::start::Start;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::Result;
use orthopt_linalg::{RowMat, work};
use orthopt_solvers::obcd::WorkingSet;

const T: Tuning = Tuning::DEFAULT;

/// Starts that are sparse where it matters, so that OBCD narrows down the rows it examines.
const SPARSE: [&str; 2] = ["k-components", "coordinates"];

/// Limits of arms.
#[derive(Clone, Copy)]
pub(super) struct Costs {
    pub(super) gradient: u64,      // work of one
    pub(super) share: u64,         // of solvers after the first
    pub(super) again: Option<f64>, // of these
    pub(super) rule: WorkingSet,   // of OBCD among these
    pub(super) near: Option<f64>,  // where LADMM hands on to them
}

/// The arms of a table that can solve the problem.
pub(super) fn arms<P: Family>(
    problem: &P,
    table: &[(&str, &str)],
    options: &SolverOptions,
    start: Option<&Start>,
    costs: Costs,
    tuning: Tuning,
) -> Result<Vec<Arm<P>>> {
    let mut arms: Vec<Arm<P>> = Vec::new();
    let mut known_starts: Vec<(String, Arc<KnownStart>)> = Vec::new();
    let has = |names: &str| names.split('+').all(|name| tuning.has(name));
    for (chain, from) in table.iter().filter(|arm| has(arm.0) && has(arm.1)) {
        let solvers = find_solvers(problem.solvers(), chain)?;
        let begin = start.cloned().unwrap_or_else(|| Start::named(from));
        let twice = arms.iter().any(|a| a.solver == *chain && a.start == begin.name());
        if !twice && solvers.iter().all(|s| (s.handles)(problem)) {
            let known = known_starts.iter().find(|k| k.0 == begin.name()).map(|k| Arc::clone(&k.1));
            let known = known.unwrap_or_default();
            known_starts.push((begin.name().into(), Arc::clone(&known)));
            let random = problem.recipe().random_starts.contains(&begin.name());
            arms.push(arm(chain, solvers, (begin, known, random), options, costs, tuning));
        }
    }
    Ok(arms)
}

/// The work of the first solver of an arm at level 0.
pub(super) fn at_level_0(gradient: u64) -> u64 {
    (T.run * gradient).max(T.min_run)
}

/// The options with another seed.
pub(super) fn seeded(options: &SolverOptions, seed: u64) -> SolverOptions {
    let mut options = SolverOptions { seed, ..options.clone() };
    options.obcd.seed = seed;
    options
}

/// One arm.
fn arm<P: Family>(
    chain: &str,
    solvers: Vec<&'static SolverInfo<P>>,
    (begin, known, random): (Start, Arc<KnownStart>, bool),
    options: &SolverOptions,
    Costs { gradient, share, again, rule, near }: Costs,
    tuning: Tuning,
) -> Arm<P> {
    let names: Vec<_> = solvers.iter().map(|s| s.name).collect();
    let continues = !random && solvers.iter().all(|s| s.constants.is_empty() && s.shared.is_empty());
    let constants = move |level: u32| {
        let mut out = Given::new();
        if let Some(near) = near.filter(|_| names[0] == "ladmm") {
            out.insert("ladmm-near".to_string(), Value::Number(near));
        }
        for (owner, name, growth) in
            tuning.growths().iter().filter(|c| names.contains(&c.0) && tuning.has("patience"))
        {
            let value = 1.0 + growth / f64::from(1u32 << level.min(20));
            out.insert(format!("{owner}-{name}"), Value::Number(value));
        }
        out
    };
    let (base, set) = (options.clone(), constants.clone());
    let start = begin.name().to_string();
    let task: MakeTask<P> = Box::new(move |problem, level, seed| {
        let mut options = seeded(&base, seed);
        for (name, value) in set(level).iter() {
            // what the user has set stays
            if options.constants.get(name).is_none() {
                options.constants.insert(name.to_string(), value);
            }
        }
        let (from, known, own) = (begin.clone(), Arc::clone(&known), base.seed);
        let x0: MakeStart<P> = Box::new(move |problem, cancel| {
            if random {
                problem.start_at(&from, seed, cancel)
            } else {
                known.point(&from, (problem, own), cancel)
            }
        });
        let mut phases = Vec::new();
        for (k, solver) in solvers.iter().enumerate() {
            if k > 0 || (SPARSE.contains(&begin.name()) && tuning.has("sparse starts")) {
                options.obcd.working_set = rule;
            }
            let proximal = solver.name == "irpg";
            let patience = if proximal { level.saturating_sub(tuning.own_level) } else { level };
            let most = (k == 0).then(|| at_level_0(gradient).min(tuning.longest) << patience.min(20));
            let share = if proximal { 1 } else { share };
            let grows = tuning.has("hand on")
                && k == 0
                && solvers.len() > 1
                && tuning.growths().iter().any(|c| c.0 == solver.name);
            let hands_on = grows.then(|| tuning.hand_on << level.min(20));
            let solver = solver.build(problem, &options)?;
            let again = again.filter(|_| k > 0);
            phases.push(Phase { solver, most, share, again, patient: level >= tuning.own_level, hands_on });
        }
        Ok(Task { phases, x0 })
    });
    Arm { solver: chain.into(), random, continues, start, task, constants: Box::new(constants) }
}

/// A start without chance in it, made once and where it is needed first. What it costs counts for every
/// task that begins there, so that it does not matter which was first.
#[derive(Default)]
struct KnownStart(OnceLock<(RowMat, u64)>);

impl KnownStart {
    fn point<P: Family>(&self, from: &Start, (problem, seed): (&P, u64), cancel: &Cancel) -> Result<RowMat> {
        let (x, cost) = match self.0.get() {
            Some(known) => known,
            None => {
                let (x, cost) = work::counted(|| problem.start_at(from, seed, cancel));
                let x = x?;
                self.0.get_or_init(|| (x, cost))
            }
        };
        work::count(*cost as usize);
        Ok(x.clone())
    }
}
