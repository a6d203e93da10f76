//! Arms of the search for every family, with their order, and moves for PCA.

use std::sync::Arc;

use super::arms::{Costs, arms, at_level_0, seeded};
use super::curvature::Curvature;
use super::line_up::{CONVEX, L0, NONCONVEX, NONNEGATIVE, ROWS};
use super::{Family, Plan, Request};
use crate::search::clustered::{Clustered, Regrown};
use crate::search::moves::{Cross, MakeSolver, Polish, Polished, Reheat};
use crate::search::{MakeTask, Move, Phase, Portfolio, Task, Tuning, at};
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::penalty::AnyPenalty;
use orthopt_core::problem::PcaProblem;
use orthopt_core::smooth::Smooth;
use orthopt_core::solve::AnySolver;
use orthopt_core::solve::info::{SolverOptions, find_solvers};
use orthopt_core::start::Start;
use orthopt_linalg::error::Result;
use orthopt_linalg::{RowMat, work};
use orthopt_solvers::SOLVERS;
use orthopt_solvers::irpg::Irpg;
use orthopt_solvers::ladmm::Ladmm;
use orthopt_solvers::obcd::{Obcd, ObcdOptions, WorkingSet};
use orthopt_solvers::preset::Domain;

const T: Tuning = Tuning::DEFAULT;
/// Name of the move that lowers a penalty, which is raised again.
pub(super) const REHEAT: &str = "penalty lowered and raised";
/// Work of the first solver of a run that takes some seconds.
const LONG: u64 = 20_000_000_000;

/// The portfolio of a PCA problem; with `start`, all arms begin there. `options` hold what the user fixed, `rule` is that of
/// OBCD where it continues from another method or from `pool`.
pub(super) fn portfolio(
    problem: &PcaProblem,
    (options, rule): (&SolverOptions, WorkingSet),
    start: Option<&Start>,
    tuning: Tuning,
) -> Result<Option<Portfolio<PcaProblem>>> {
    if problem.h.row_weight().is_some() {
        let gradient = cost_of_gradient(&problem.f, (problem.nrows(), problem.rank()));
        return race(problem, ROWS, options, start, (gradient, Some("irpg")), tuning).map(Some);
    }
    let table = match &problem.h {
        AnyPenalty::None(_) => return Ok(None),
        AnyPenalty::L0(_) => L0,
        h if h.requires_nonneg() => NONNEGATIVE,
        h if Domain::FINITE_CONVEX.takes(h) => CONVEX,
        _ => NONCONVEX,
    };
    let gradient = cost_of_gradient(&problem.f, (problem.nrows(), problem.rank()));
    let run = at_level_0(gradient);
    let again = Some(tuning.again).filter(|_| !problem.h.requires_nonneg() && tuning.has("again"));
    let share = if tuning.has("share") { tuning.share } else { 1 };
    let costs =
        Costs { gradient, share, again, rule, near: Some(tuning.near).filter(|_| tuning.has("near")) };
    let arms = arms(problem, table, options, start, costs, tuning)?;
    let polish = tuning.polish_at(gradient);
    let make = polisher(options, rule);
    let polisher = Polish {
        solver: if tuning.has("by turns") { by_turns(&problem.h, &make) } else { Arc::clone(&make) },
        most: polish,
    };
    let mut moves: Vec<Arc<dyn Move<PcaProblem>>> = vec![Arc::new(Polished(Cross, polisher.clone()))];
    let (solver, polish_of) = (reheat(problem, tuning.has("near")), polisher.clone());
    moves.push(Arc::new(Reheat { name: REHEAT, solver, warmth: tuning.reheat_range(), polish: polish_of }));
    if problem.clustered().is_some() {
        moves.insert(0, Arc::new(Polished(Regrown { most: polish }, polisher)));
    }
    let settle: MakeTask<PcaProblem> = Box::new(move |problem, _, seed| {
        let phase =
            Phase { solver: make(seed), most: None, share: 1, again: None, patient: true, hands_on: None };
        Ok(Task { phases: vec![phase], x0: at(RowMat::zeros(problem.nrows(), problem.rank())) })
    });
    Ok(Some(Portfolio { arms, moves, run, polish, settle: Some(settle), tuning }))
}

/// The plan of a race alone, of these solvers and starts, from the start of this name where none is given; pairs of rows end it where h
/// is one of single entries.
pub(super) fn raced(
    problem: &PcaProblem,
    table: &[(&str, &str)],
    start: &str,
    request: &Request,
) -> Result<Plan<PcaProblem>> {
    let mut options = request.options();
    options.obcd.block = request.block.unwrap_or(2);
    let gradient = cost_of_gradient(&problem.f, (problem.nrows(), problem.rank()));
    let settle = problem.h.row_weight().is_none().then_some("obcd");
    let portfolio = race(problem, table, &options, request.start(), (gradient, settle), request.tuning)?;
    let starts = request.start().cloned().map_or_else(|| vec![Start::named(start)], |start| vec![start]);
    Plan {
        solvers: find_solvers(SOLVERS, table[0].0)?,
        options,
        starts,
        reasons: Vec::new(),
        chosen: true,
        portfolio: Some(portfolio),
        lower_bound: None,
    }
    .checked(problem)
}

/// A race of solvers and starts with no moves but fresh starts, for a family that has none of its own;
/// `settle` names the solvers that polish the best point.
pub(super) fn race<P: Family>(
    problem: &P,
    table: &[(&str, &str)],
    options: &SolverOptions,
    start: Option<&Start>,
    (gradient, settle): (u64, Option<&str>),
    tuning: Tuning,
) -> Result<Portfolio<P>> {
    let costs = Costs { gradient, share: 1, again: None, rule: options.obcd.working_set, near: None };
    let arms = arms(problem, table, options, start, costs, tuning)?;
    let settle = settle.map(|chain| -> Result<MakeTask<P>> {
        let (solvers, base) = (find_solvers(problem.solvers(), chain)?, options.clone());
        Ok(Box::new(move |problem, _, seed| {
            let options = seeded(&base, seed);
            let phase =
                |solver| Phase { solver, most: None, share: 1, again: None, patient: true, hands_on: None };
            let phases = solvers.iter().map(|solver| solver.build(problem, &options).map(phase));
            let (n, r) = problem.shape();
            Ok(Task { phases: phases.collect::<Result<_>>()?, x0: at(RowMat::zeros(n, r)) })
        }))
    });
    let settle = settle.transpose()?;
    Ok(Portfolio {
        arms,
        moves: Vec::new(),
        run: at_level_0(gradient),
        polish: tuning.min_run,
        settle,
        tuning,
    })
}

/// True if a run with the defaults of a solver takes some seconds of a thread.
pub(super) fn is_long(gradient: u64) -> bool {
    at_level_0(gradient) << T.own_level >= LONG
}

/// Work of a gradient.
pub(super) fn cost_of_gradient(f: &impl Smooth, (n, r): (usize, usize)) -> u64 {
    let x = RowMat::from_fn(n, r, |i, k| f64::from(u8::from(i == k)));
    let mut g = RowMat::zeros(n, r);
    let ((), work) = work::counted(|| f.gradient(&x, &mut g));
    work.max(1) + 30 * (n * r) as u64
}

fn polisher(
    options: &SolverOptions,
    working_set: WorkingSet,
) -> Arc<dyn Fn(u64) -> AnySolver<PcaProblem> + Send + Sync> {
    let options = ObcdOptions { working_set, ..options.obcd.clone() };
    // bad options have been refused with the arms
    let made = move |seed| Obcd::new(ObcdOptions { seed, ..options.clone() });
    Arc::new(move |seed| AnySolver::new(made(seed).unwrap_or_else(|_| Obcd::seeded(seed))))
}

/// The polish of the local search: where h is convex and finite proximal gradients, which are soon where X has many nonzeros, and pairs of
/// rows, which find what these do not see, by turns.
fn by_turns(
    h: &AnyPenalty,
    pairs: &Arc<dyn Fn(u64) -> AnySolver<PcaProblem> + Send + Sync>,
) -> Arc<dyn Fn(u64) -> AnySolver<PcaProblem> + Send + Sync> {
    let (pairs, proximal) = (Arc::clone(pairs), Domain::FINITE_CONVEX.takes(h));
    Arc::new(move |seed| if proximal && seed % 2 == 1 { AnySolver::new(Irpg::DEFAULT) } else { pairs(seed) })
}

/// LADMM with a first β between L/100 (all is forgotten) and L.
fn reheat(problem: &PcaProblem, hands_on: bool) -> MakeSolver<PcaProblem> {
    let (r, curvature) = (problem.rank(), Curvature::default());
    Box::new(move |p, warmth| {
        let beta = curvature.of(&p.f, r) * 100f64.powf(-warmth);
        AnySolver::new(Ladmm {
            beta: Some(beta),
            near: if hands_on { T.near } else { Ladmm::DEFAULT.near },
            ..Ladmm::DEFAULT
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthopt_core::options::Value;
    use orthopt_core::penalty::L0;
    use orthopt_core::smooth::{AnySmooth, DenseQuadratic};

    /// Methods that raise a penalty hand on, later at every level; others and the polish after them do not.
    #[test]
    fn what_raises_a_penalty_hands_on() {
        let m = RowMat::from_fn(12, 12, |i, j| {
            -((i + 2 * j + i * j) as f64).cos() - ((j + 2 * i + i * j) as f64).cos()
        });
        let f = DenseQuadratic::new(m.to_mat().as_ref()).unwrap();
        let p = PcaProblem::new(AnySmooth::Dense(f), AnyPenalty::L0(L0::new(0.1).unwrap()), 3).unwrap();
        let arms = portfolio(&p, (&SolverOptions::default(), WorkingSet::Active), None, Tuning::DEFAULT)
            .unwrap()
            .unwrap()
            .arms;
        for arm in &arms {
            for level in [0, 2] {
                let task = (arm.task)(&p, level, 1).unwrap();
                let first = (!arm.solver.starts_with("obcd")).then_some(T.hand_on << level);
                assert_eq!(task.phases[0].hands_on, first, "{}", arm.solver);
                assert!(task.phases[1..].iter().all(|phase| phase.hands_on.is_none()));
                let near = (arm.constants)(level).get("ladmm-near");
                assert_eq!(
                    near,
                    arm.solver.starts_with("ladmm").then_some(Value::Number(T.near)),
                    "{}",
                    arm.solver
                );
            }
        }
        assert!(arms.len() > 3);
    }
}
