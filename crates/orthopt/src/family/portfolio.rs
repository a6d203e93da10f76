//! What the search for the best point of a problem is made of: which arms of every family run when, moves for PCA.

use std::sync::Arc;

use super::arms::{Costs, arms, at_level_0, seeded};
use super::curvature::Curvature;
use super::line_up::{CONVEX, GLANCES, L0, LOOKS, NONCONVEX, NONNEGATIVE, QUICK, ROWS};
use super::{Family, Plan, Wanted};
use crate::bound::{self, Kind, lower_bound};
use crate::cancel::Cancel;
use crate::constraint::stiefel;
use crate::error::{Error, Result};
use crate::linalg::varimax::varimax;
use crate::linalg::{RowMat, work};
use crate::nonsmooth::Nonsmooth;
use crate::penalty::AnyPenalty;
use crate::problem::PcaProblem;
use crate::search::moves::{Cross, Kick, MakeSolver, Polish, Polished, Pooled, Regrow, Reheat};
use crate::search::{MakeTask, Move, Part, Portfolio, Task, Tuning, at};
use crate::smooth::Smooth;
use crate::solve::AnySolver;
use crate::solvers::irpg::Irpg;
use crate::solvers::ladmm::Ladmm;
use crate::solvers::obcd::{Obcd, ObcdOptions, WorkingSet};
use crate::solvers::proximal::finite_convex;
use crate::solvers::{SOLVERS, SolverOptions, find_solvers};
use crate::start::Start;
use crate::start::round_to_partition;

const T: Tuning = Tuning::DEFAULT;

/// The portfolio of a PCA problem; with `start`, all arms begin there. `options` hold what the user fixed, `rule` is that of
/// OBCD where it goes on from another method or from `pool`.
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
        h if finite_convex(h) => CONVEX,
        _ => NONCONVEX,
    };
    let gradient = cost_of_gradient(&problem.f, (problem.nrows(), problem.rank()));
    let mut table = table.to_vec();
    table.retain(|(_, from)| *from != "relaxed" || problem.nrows() <= tuning.max_relaxed);
    let run = at_level_0(gradient);
    if run >= tuning.long() && tuning.has("eigenvectors first") {
        // where there may be time for one run only it begins at the leading eigenvectors
        if let Some(k) = table.iter().position(|(_, from)| *from == "pca") {
            table[..=k].rotate_right(1);
        }
    }
    let again = Some(tuning.again).filter(|_| !problem.h.requires_nonneg() && tuning.has("again"));
    let share = if tuning.has("share") { tuning.share } else { 1 };
    let costs =
        Costs { gradient, share, again, rule, near: Some(tuning.near).filter(|_| tuning.has("near")) };
    let arms = arms(problem, &table, options, start, costs, tuning)?;
    let polish = (tuning.polish * gradient).max(tuning.min_polish);
    let make = polisher(options, rule);
    let polisher = Polish {
        solver: if tuning.has("by turns") { by_turns(&problem.h, &make) } else { Arc::clone(&make) },
        most: polish,
    };
    let mut moves: Vec<Arc<dyn Move<PcaProblem>>> = vec![
        Arc::new(Polished(Kick, polisher.clone())),
        Arc::new(Polished(Regrow, polisher.clone())),
        Arc::new(Polished(Cross, polisher.clone())),
    ];
    for (name, warmth) in tuning.reheats() {
        let (solver, polish) = (reheat(problem, tuning.has("near")), polisher.clone());
        moves.push(Arc::new(Reheat { name, solver, warmth, polish }));
    }
    if matches!(problem.h, AnyPenalty::L0(_)) {
        moves.push(Arc::new(Polished(Pooled, polisher)));
    }
    moves.retain(|m| tuning.has(m.name()));
    let settle: MakeTask<PcaProblem> = Box::new(move |problem, _, seed| {
        let part =
            Part { solver: make(seed), most: None, share: 1, again: None, patient: true, hands_on: None };
        Ok(Task { parts: vec![part], x0: at(RowMat::zeros(problem.nrows(), problem.rank())) })
    });
    let place =
        |solver: &str, from: &str| arms.iter().position(|arm| arm.solver == solver && arm.start == from);
    let looks = QUICK.iter().filter_map(|(solver, from, gradients)| Some((place(solver, from)?, gradients)));
    let quick = looks.map(|(k, gradients)| (k, (gradients * gradient).max(tuning.min_run))).collect();
    let is_l0 = matches!(problem.h, AnyPenalty::L0(_));
    let leaders = match problem.h.requires_nonneg() {
        true if run >= tuning.long() && tuning.has("four leaders") => tuning.leaders_of_others + 1,
        true => tuning.leaders_of_others,
        false if !tuning.has("five leaders") => tuning.leaders_of_others,
        false => tuning.leaders,
    };
    let places = |pairs: &[(&str, &str)], wanted: bool| -> Vec<usize> {
        pairs.iter().filter(|_| is_l0 && wanted).filter_map(|(solver, from)| place(solver, from)).collect()
    };
    let looks = LOOKS
        .iter()
        .filter(|_| is_l0 && tuning.has("looks") && (tuning.long() / 10..tuning.long()).contains(&run));
    let looks = looks.filter_map(|(solver, from, share)| Some((place(solver, from)?, *share))).collect();
    let glances = places(GLANCES, run >= tuning.long() && tuning.has("glances"));
    let (freshest, hopeless, settle) =
        (tuning.own_level, (is_l0 && tuning.has("hopeless")).then_some(tuning.hopeless), Some(settle));
    Ok(Some(Portfolio {
        arms,
        leaders,
        hopeless,
        quick: if tuning.has("quick") { quick } else { Vec::new() },
        looks,
        glances,
        moves,
        run,
        polish,
        freshest,
        settle,
        tuning,
    }))
}

/// The plan of a race alone, of these solvers and starts, from the start of this name where none is given; pairs of rows end it where h
/// is one of single entries.
pub(super) fn raced(
    problem: &PcaProblem,
    table: &[(&str, &str)],
    start: &str,
    wanted: &Wanted,
) -> Result<Plan<PcaProblem>> {
    let mut options = wanted.options();
    options.obcd.block = wanted.block.unwrap_or(2);
    let gradient = cost_of_gradient(&problem.f, (problem.nrows(), problem.rank()));
    let settle = problem.h.row_weight().is_none().then_some("obcd");
    let portfolio = race(problem, table, &options, wanted.start.as_ref(), (gradient, settle), wanted.tuning)?;
    let starts = wanted.start.clone().map_or_else(|| vec![Start::named(start)], |start| vec![start]);
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
/// `settle` names the solvers that settle the best point.
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
            let part =
                |solver| Part { solver, most: None, share: 1, again: None, patient: true, hands_on: None };
            let parts = solvers.iter().map(|solver| solver.build(problem, &options).map(part));
            let (n, r) = problem.shape();
            Ok(Task { parts: parts.collect::<Result<_>>()?, x0: at(RowMat::zeros(n, r)) })
        }))
    });
    let settle = settle.transpose()?;
    Ok(Portfolio {
        arms,
        leaders: tuning.leaders_of_others,
        hopeless: None,
        quick: Vec::new(),
        looks: Vec::new(),
        glances: Vec::new(),
        moves: Vec::new(),
        run: at_level_0(gradient),
        polish: tuning.min_run,
        freshest: 0,
        settle,
        tuning,
    })
}

/// Whether a run with the defaults of a solver takes some seconds of a thread.
pub(super) fn is_long(gradient: u64) -> bool {
    at_level_0(gradient) << T.own_level >= T.long()
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
    let (pairs, proximal) = (Arc::clone(pairs), finite_convex(h));
    Arc::new(move |seed| if proximal && seed % 2 == 1 { AnySolver::new(Irpg::DEFAULT) } else { pairs(seed) })
}

/// Iterations of a relaxation that a start comes from.
const ROUGH: u64 = 150;

/// The eigenvectors of the relaxation over the Fantope, rotated towards few large entries: not a bound,
/// so a rough solution will do.
///
/// # Errors
/// A penalty for which there is no relaxation, more variables than it can take.
pub(super) fn relaxed(problem: &PcaProblem, cancel: &Cancel) -> Result<RowMat> {
    let none = || Error::Incompatible("there is no relaxation of this problem to start from".into());
    let kind = match &problem.h {
        AnyPenalty::L0(h) => Kind::L0 { lambda: h.value(&[1.0]) },
        AnyPenalty::L1(h) => Kind::L1 { lambda: h.value(&[1.0]) },
        AnyPenalty::Nonneg(_) => Kind::Nonnegative,
        _ => return Err(none()),
    };
    let options = bound::Options { iterations: ROUGH, ..Default::default() };
    let r = problem.rank();
    let found = lower_bound(&problem.f, r, &kind, None, &options, cancel, &|_| ())?;
    let v = found.relaxation.leading_eigenvectors(r).ok_or_else(none)?;
    let y = varimax(&stiefel::orthonormalise(&v));
    Ok(if problem.h.requires_nonneg() { round_to_partition(&y) } else { y })
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
    use crate::options::Value;
    use crate::penalty::{L0, Nonneg};
    use crate::smooth::{AnySmooth, DenseQuadratic};

    /// Where a run takes seconds one arm from the eigenvectors comes first, the others stay as they are, and supports get a glance
    /// in the place of looks.
    #[test]
    fn long_runs_begin_at_the_eigenvectors() {
        let m = RowMat::from_fn(900, 900, |i, j| if i == j { -1.0 - i as f64 } else { 0.0 });
        let f = DenseQuadratic::new(m.to_mat().as_ref()).unwrap();
        let made = |h: AnyPenalty, r| {
            let p = PcaProblem::new(AnySmooth::Dense(f.clone()), h, r).unwrap();
            portfolio(&p, (&SolverOptions::default(), WorkingSet::Active), None, Tuning::DEFAULT)
                .unwrap()
                .unwrap()
        };
        let names = |p: &Portfolio<PcaProblem>, places: &[usize]| -> Vec<(String, String)> {
            places.iter().map(|k| (p.arms[*k].solver.clone(), p.arms[*k].start.clone())).collect()
        };
        let owned = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs.iter().map(|(solver, from)| (solver.to_string(), from.to_string())).collect()
        };
        let l0 = || AnyPenalty::L0(L0::new(0.1).unwrap());
        let (short, long) = (made(l0(), 20), made(l0(), 60));
        let looks: Vec<_> = short.looks.iter().map(|look| look.0).collect();
        assert_eq!(names(&short, &looks), owned(&LOOKS.map(|look| (look.0, look.1))));
        assert!(short.glances.is_empty() && long.looks.is_empty());
        assert_eq!(names(&long, &long.glances), owned(GLANCES));
        assert_eq!(names(&long, &[0, 1, 2]), owned(&[L0[3], L0[0], L0[1]]));
        let long = made(AnyPenalty::Nonneg(Nonneg), 60);
        assert_eq!(names(&long, &[0, 1, 2, 3]), owned(&NONNEGATIVE[..4]));
        assert!(long.looks.is_empty() && long.glances.is_empty());
    }

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
                assert_eq!(task.parts[0].hands_on, first, "{}", arm.solver);
                assert!(task.parts[1..].iter().all(|part| part.hands_on.is_none()));
                let near = (arm.constants)(level).get("ladmm-near");
                assert_eq!(
                    near,
                    arm.solver.starts_with("ladmm").then_some(Value::Number(T.near)),
                    "{}",
                    arm.solver
                );
            }
        }
        assert!(arms.len() > 8);
    }
}
