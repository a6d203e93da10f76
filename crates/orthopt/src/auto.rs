//! `--solver auto`: chooses solver, working set and starting points from the penalty and the
//! data, and says what it chose and why.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::nonsmooth::{AnyPenalty, Nonsmooth};
use crate::problem::AnyProblem;
use crate::smooth::AnySmooth;
use crate::solve::{AnySolver, Chain};
use crate::solvers::obcd::{Candidates, INFO as OBCD, Model, ObcdOptions, WorkingSet};
use crate::solvers::{SolverInfo, SolverOptions};
use crate::start::Start;

/// What the user has fixed; everything else is chosen.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Starting point.
    pub start: Option<Start>,
    /// Rule for the working set.
    pub working_set: Option<WorkingSet>,
    /// Rows per working set.
    pub block: Option<usize>,
    /// Model of a block.
    pub model: Option<Model>,
    /// α.
    pub alpha: Option<f64>,
    /// Pairs scored by greedy rules.
    pub candidates: Option<Candidates>,
    /// Tolerance of whole passes; give the one of the stopping rule.
    pub tol: Option<f64>,
    /// Jacobi rounds.
    pub jacobi: bool,
    /// Seed.
    pub seed: u64,
    /// Solvers, one after the other; none lets the library choose.
    pub solvers: Vec<&'static SolverInfo>,
    /// Constants of solvers: `solver-constant` to value.
    pub constants: BTreeMap<String, f64>,
}

/// A solver with all its options, starting points in the order they should be tried, and the
/// reasons.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Solvers, one after the other.
    pub solvers: Vec<&'static SolverInfo>,
    /// Their options for the first start.
    pub options: SolverOptions,
    /// Starting points; further starts go round in this list.
    pub starts: Vec<Start>,
    /// One sentence per choice that was made for the user.
    pub reasons: Vec<String>,
}

impl Plan {
    /// Solver and X⁰ of start k = 0, 1, ... for [`crate::solve::run_restarts`]: the starting
    /// points in turn, every start with a seed of its own. A rule without chance in it would
    /// find the same point again, so once all starting points have been tried it gives way to
    /// random pairs.
    ///
    /// # Errors
    /// Whatever is wrong with the starting point.
    pub fn start(&self, problem: &AnyProblem, k: u64) -> Result<Chain<AnySolver<AnyProblem>>> {
        let start = &self.starts[(k % self.starts.len() as u64) as usize];
        let seed = self.options.seed.wrapping_add(k);
        let x0 = start.point(&problem.f, problem.rank(), problem.h.requires_nonneg(), seed)?;
        let mut options = SolverOptions { seed, ..self.options.clone() };
        if k >= self.starts.len() as u64 && options.obcd.working_set == WorkingSet::Cyclic {
            options.obcd.working_set = WorkingSet::Random;
        }
        let stages = self.solvers.iter().map(|s| s.build(problem, &options)).collect::<Result<_>>()?;
        Ok(Chain { stages, x0 })
    }

    /// Name of the first starting point.
    pub fn start_name(&self) -> &'static str {
        self.starts[0].name()
    }
}

/// Makes a plan for `problem`. With no solver named, what the user left open is chosen by the
/// rules below; otherwise the solvers of `wanted` get the defaults of the papers (random pairs from the identity,
/// or from a partition for nonnegative problems).
///
/// Starting points, measured on w1a, randn:500:1000, colon and pitprops: the lowest F among
/// the candidates of the penalty is tried first and the others follow when there is time for
/// more starts. Random pairs are the working set: on those data cyclic and greedy rules were
/// slower or ended higher in most cases (`bench/RESULTS.md`).
///
/// # Errors
/// Whatever is wrong with a starting point the user gave, or options out of range.
pub fn plan(problem: &AnyProblem, wanted: &Wanted) -> Result<Plan> {
    let automatic = wanted.solvers.is_empty();
    let mut reasons = Vec::new();
    let nonneg = problem.h.requires_nonneg();
    let starts = match &wanted.start {
        Some(start) => vec![start.clone()],
        None if automatic => ordered_starts(problem, wanted.seed, &mut reasons)?,
        None if nonneg => vec![Start::Partition],
        None => vec![Start::Identity],
    };
    let defaults = ObcdOptions::default();
    let obcd = ObcdOptions {
        working_set: wanted.working_set.unwrap_or(defaults.working_set),
        block: wanted.block.unwrap_or(if automatic { choose_block(problem) } else { defaults.block }),
        model: wanted.model.unwrap_or(defaults.model),
        alpha: wanted.alpha.unwrap_or(defaults.alpha),
        candidates: wanted.candidates,
        jacobi: wanted.jacobi,
        search: defaults.search,
        tol: wanted.tol.unwrap_or(defaults.tol),
        seed: wanted.seed,
    };
    if automatic {
        reasons.push("solver obcd: feasible and monotone, with exact zeros".into());
        if wanted.block.is_none() && obcd.block > 2 {
            reasons.push(format!(
                "blocks of {}: moves are frequent and a sweep inside a block makes them cheap",
                obcd.block
            ));
        }
        if wanted.working_set.is_none() {
            reasons.push("working set random: uniform pairs, whole passes when they bring little".into());
        }
    }
    let options =
        SolverOptions { seed: wanted.seed, obcd, constants: wanted.constants.clone(), ..Default::default() };
    let solvers = if automatic { vec![&OBCD] } else { wanted.solvers.clone() };
    let plan = Plan { solvers, options, starts, reasons };
    for solver in &plan.solvers {
        solver.build(problem, &plan.options)?;
    }
    Ok(plan)
}

/// Rows per working set: blocks pay where most pairs move, so that updates of the gradient
/// dominate (convex penalties on a dense M), and where a round of blocks is a small part of all
/// rows. Elsewhere (zeros to be found, signs to keep) single random pairs end lower.
fn choose_block(problem: &AnyProblem) -> usize {
    let convex = matches!(problem.h, AnyPenalty::None(_) | AnyPenalty::L1(_));
    let dense = matches!(problem.f, AnySmooth::Quadratic(_));
    if convex && dense && problem.nrows() >= 512 { 32 } else { 2 }
}

/// The starts worth trying for the penalty, lowest F first; one that fails (an eigenvalue
/// routine) is passed over.
fn ordered_starts(problem: &AnyProblem, seed: u64, reasons: &mut Vec<String>) -> Result<Vec<Start>> {
    let nonneg = problem.h.requires_nonneg();
    let candidates = match &problem.h {
        _ if nonneg => vec![Start::Pca, Start::Partition, Start::Coordinates],
        h if h.promotes_sparsity() => vec![Start::Coordinates, Start::Pca],
        _ => vec![Start::Pca],
    };
    let mut tried = Vec::new();
    let mut failure = None;
    for start in candidates {
        match start.point(&problem.f, problem.rank(), nonneg, seed) {
            Ok(x) => tried.push((problem.objective(&x).total, start)),
            Err(e) => failure = Some(e),
        }
    }
    if let (true, Some(e)) = (tried.is_empty(), failure) {
        return Err(e);
    }
    tried.sort_by(|a, b| a.0.total_cmp(&b.0));
    let list: Vec<String> = tried.iter().map(|(f, s)| format!("{} {f:.6e}", s.name())).collect();
    reasons.push(format!("start {}: the lowest F of {}", tried[0].1.name(), list.join(", ")));
    Ok(tried.into_iter().map(|t| t.1).collect())
}
