//! Sparse, nonnegative and plain PCA by name: solvers, starts, and what is chosen where the user leaves it
//! open.

use super::{Begin, Family, Kind, Plan, Wanted, find_problem};
use crate::certify::{Certificate, RowOffers, Scope, certify, criticality_while};
use crate::constraint::stiefel;
use crate::error::{Error, Result};
use crate::linalg::RowMat;
use crate::message::Message;
use crate::nonsmooth::Nonsmooth;
use crate::penalty::{AnyPenalty, PENALTIES};
use crate::problem::{
    ExplainedVariance, PcaData, PcaProblem, Storage, by_variance, covariance_model, explained_variance,
};
use crate::smooth::AnySmooth;
use crate::solve::Solution;
use crate::solvers::ladmm::INFO as LADMM;
use crate::solvers::obcd::INFO as OBCD;
use crate::solvers::support::INFO as SUPPORT;
use crate::solvers::{SOLVERS, SolverInfo};
use crate::start::{STARTS, Start};

impl PcaProblem {
    /// The PCA problem called `name` (see [`PROBLEMS`](super::PROBLEMS)) of the data, with C = AᵀA:
    /// F(X) = −½ tr(XᵀCX) + h(X).
    ///
    /// # Errors
    /// An unknown name, a bad rank or λ, data that are not finite, a C that is not symmetric.
    pub fn pca(name: &str, data: &PcaData<'_>, rank: usize, lambda: f64, storage: Storage) -> Result<Self> {
        let info = find_problem(name)?;
        if info.kind != Kind::Pca {
            return Err(Error::Incompatible(
                format!("{name} is not f + h with X'X = I: pose it by orthopt::family").into(),
            ));
        }
        let penalty =
            PENALTIES.iter().find(|p| p.name == info.penalty).ok_or_else(|| Error::UnknownName {
                kind: "penalty",
                name: info.penalty.into(),
                known: PENALTIES.iter().map(|p| p.name).collect::<Vec<_>>().join(", "),
            })?;
        let columns = data.ncols();
        if rank == 0 || rank > columns {
            return Err(Error::Rank { rank, columns }); // before any work
        }
        let h = (penalty.make)(lambda)?;
        Self::new(covariance_model(data, storage)?, h, rank)
    }
}

impl Family for PcaProblem {
    fn solvers() -> &'static [SolverInfo] {
        SOLVERS
    }

    fn starts() -> &'static [(&'static str, &'static str)] {
        STARTS
    }

    fn shape(&self) -> (usize, usize) {
        (self.nrows(), self.rank())
    }

    fn start(&self, name: &str, seed: u64) -> Result<RowMat> {
        Start::parse(name)?.point(&self.f, self.rank(), self.h.requires_nonneg(), seed)
    }

    /// The papers' starts, but a random one where h = 0: the span of a few coordinates can be
    /// invariant under C, and then it is a saddle point that methods with full gradients never
    /// leave. The first 20 variables of w1a only ever occur with 14 others, and from there plain PCA
    /// ends at -1234 instead of below -6000.
    fn default_start(&self) -> &'static str {
        match &self.h {
            h if h.requires_nonneg() => "partition",
            AnyPenalty::None(_) => "random",
            _ => "identity",
        }
    }

    fn given(&self, x: &RowMat) -> Result<RowMat> {
        Start::Given(x.clone()).point(&self.f, self.rank(), self.h.requires_nonneg(), 0)
    }

    fn plan(&self, wanted: &Wanted) -> Result<Plan<Self>> {
        plan(self, wanted)
    }

    fn explained_variance(&self, x: &RowMat) -> Option<ExplainedVariance> {
        Some(explained_variance(&self.f, x))
    }

    fn order_components(&self, solution: &mut Solution) {
        order_components(self, solution);
    }

    fn check(&self, x: &RowMat, what: &str) -> Result<()> {
        stiefel::check(x, self.nrows(), self.rank(), what)
    }

    fn criticality(&self, x: &RowMat, keep_going: &(dyn Fn() -> bool + Sync)) -> Option<f64> {
        criticality_while(self, x, keep_going)
    }

    fn block_stationarity(
        &self,
        x: &RowMat,
        scope: Scope,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Option<Certificate> {
        Some(certify(&RowOffers::new(self, x), scope, keep_going))
    }
}

/// Puts the components of a solution in the order of the variance they explain, xₖᵀCxₖ, largest
/// first. The order is free: the value of a PCA problem does not depend on it.
pub fn order_components(problem: &PcaProblem, solution: &mut Solution) {
    solution.x = by_variance(&problem.f, &solution.x);
    solution.objective = problem.objective(&solution.x);
    solution.feasibility = problem.feasibility(&solution.x);
}

/// The plan for a PCA problem. With no solver named, what the user left open is chosen by the
/// rules below; otherwise the solvers of `wanted` get the defaults of the papers (random pairs
/// from the identity, or from a partition for nonnegative problems).
///
/// Starting points, measured on w1a, randn:500:1000, colon and pitprops: the lowest F among
/// the candidates of the penalty is tried first and the others follow when there is time for
/// more starts. Random pairs are the working set: on those data cyclic and greedy rules were
/// slower or ended higher in most cases (`bench/RESULTS.md`).
///
/// # Errors
/// Whatever is wrong with a starting point the user gave, or options out of range.
pub(crate) fn plan(problem: &PcaProblem, wanted: &Wanted) -> Result<Plan<PcaProblem>> {
    if wanted.solver.is_some() {
        return Plan::by_default(problem, wanted);
    }
    let mut reasons = Vec::new();
    let starts = match &wanted.start {
        Some(start) => vec![start.clone()],
        None => ordered_starts(problem, wanted.seed, &mut reasons)?,
    };
    // OBCD alone, which later rounds are, gets nowhere from a dense X
    let once = starts.iter().filter(|s| starts.len() > 1 && s.name() == RANDOM).count();
    let mut options = wanted.options();
    options.obcd.block = wanted.block.unwrap_or_else(|| choose_block(problem));
    let solvers = choose_solvers(problem, &mut reasons);
    if wanted.block.is_none() && options.obcd.block > 2 {
        reasons.push(
            format!(
                "blocks of {}: moves are frequent and a sweep inside a block makes them cheap",
                options.obcd.block
            )
            .into(),
        );
    }
    if wanted.working_set.is_none() {
        reasons.push("working set random: uniform pairs, whole passes when they bring little".into());
    }
    Plan { solvers, options, starts, reasons, chosen: true, once }.checked(problem)
}

/// OBCD, for ℓ0 and nonnegativity after a method that moves all rows at once: pairs of rows stop at
/// points that a change of many entries improves. Lowest F of all starts without a limit, OBCD alone
/// and after the other: l0 with the default λ, srbct r = 5 −2058 and −2302, colon r = 10 −3.22e9 and
/// −3.51e9, MNIST r = 20 −2.89e9 and −3.01e9; nonneg r = 20, w1a −6700 and −6806, randn −11408 and
/// −11638, MNIST −9.68e9 and −1.000e10. For ℓ1 blocks of rows are as good.
fn choose_solvers(problem: &PcaProblem, reasons: &mut Vec<Message>) -> Vec<&'static SolverInfo<PcaProblem>> {
    match problem.h {
        AnyPenalty::L0(_) => {
            reasons.push(
                "solver support+obcd: many zeros at once first, then pairs of rows until none lowers F"
                    .into(),
            );
            vec![&SUPPORT, &OBCD]
        }
        AnyPenalty::Nonneg(_) => {
            reasons.push(
                "solver ladmm+obcd: all rows at once first, then pairs of rows until none lowers F".into(),
            );
            vec![&LADMM, &OBCD]
        }
        _ => {
            reasons.push("solver obcd: feasible and monotone, with exact zeros".into());
            vec![&OBCD]
        }
    }
}

/// Rows per working set: blocks pay where most pairs move, so that updates of the gradient
/// dominate (convex penalties on a dense M), and where a round of blocks is a small part of all
/// rows. Elsewhere (zeros to be found, signs to keep) single random pairs end lower.
fn choose_block(problem: &PcaProblem) -> usize {
    let convex = matches!(problem.h, AnyPenalty::None(_) | AnyPenalty::L1(_));
    let dense = matches!(problem.f, AnySmooth::Dense(_));
    if convex && dense && problem.nrows() >= 512 { 32 } else { 2 }
}

/// A start that says nothing by its F, so it comes last.
const RANDOM: &str = "random";

/// The starts worth trying for the penalty, lowest F first; one that fails (an eigenvalue
/// routine) is passed over. From a random X `support` often ends lowest of all (w1a, λ = 10, r = 20:
/// −5346, from coordinates −5208, from the leading eigenvectors −3973).
fn ordered_starts(problem: &PcaProblem, seed: u64, reasons: &mut Vec<Message>) -> Result<Vec<Begin>> {
    let candidates: &[&str] = match &problem.h {
        h if h.requires_nonneg() => &["pca", "partition", "coordinates"],
        AnyPenalty::L0(_) => &["coordinates", "pca", RANDOM],
        h if h.promotes_sparsity() => &["coordinates", "pca"],
        _ => &["pca"],
    };
    let mut tried = Vec::new();
    let mut failure = None;
    for name in candidates {
        match problem.start(name, seed) {
            Ok(x) => tried.push((problem.objective(&x).total, *name)),
            Err(e) => failure = Some(e),
        }
    }
    if let (true, Some(e)) = (tried.is_empty(), failure) {
        return Err(e);
    }
    tried.sort_by(|a, b| (a.1 == RANDOM).cmp(&(b.1 == RANDOM)).then(a.0.total_cmp(&b.0)));
    let list: Vec<String> = tried.iter().map(|(f, name)| format!("{name} {f:.6e}")).collect();
    reasons.push(format!("start {}: the lowest F of {}", tried[0].1, list.join(", ")).into());
    Ok(tried.into_iter().map(|t| Begin::Named(t.1.into())).collect())
}
