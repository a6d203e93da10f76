//! Sparse, nonnegative and plain PCA by name: solvers, starts, and what is chosen where the user leaves it
//! open.

use super::arms::at_level_0;
use super::cardinality::{proof_of_plain, turn_to_principal_axes};
use super::line_up::K_COMPONENTS;
use super::low_rank::LowRank;
use super::portfolio::{cost_of_gradient, portfolio};
use super::{
    self as family, Family, MaybeOwned, Plan, Recipe, Reducible, Request, brockett, find_problem, procrustes,
    proved_by_branching,
};
use crate::search::clustered::clustered_start;
use orthopt_bound::{Bound, Kind, no_bound};
use orthopt_core::certify::{Certificate, RowOffers, Scope, certify, criticality_while, entering_rows};
use orthopt_core::constraint::stiefel;
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::objective::size;
use orthopt_core::penalty::{AnyPenalty, PENALTIES};
use orthopt_core::problem::{PcaData, PcaProblem, Storage, by_variance, covariance_model, support};
use orthopt_core::smooth::{AnySmooth, Quadratic, Smooth};
use orthopt_core::solve::Solution;
use orthopt_core::solve::info::{SolverInfo, find_solvers};
use orthopt_core::start::{STARTS, Start, in_box};
use orthopt_limits::exchange::component::{block, leading_few};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::long::is_left;
use orthopt_solvers::obcd::WorkingSet;
use orthopt_solvers::{SOLVERS, spectral};

/// Rows up to which a block of C is decomposed for the last digits of a component, and the work of that by their cube.
const DECOMPOSED: usize = 200;
const DECOMPOSITION: usize = 20;
/// Loadings that differ by less are one and the same with other digits: the root of rounding, and a hundred times that.
const SAME: f64 = 1e-6;
/// Rise of F that is rounding.
const NOISE: f64 = 1e-14;

/// The PCA problem called `name` (see [`PROBLEMS`](super::PROBLEMS)) of the data, with C = AᵀA:
/// F(X) = −½ tr(XᵀCX) + h(X).
///
/// # Errors
/// An unknown name, a bad rank or λ, data that are not finite, a C that is not symmetric.
pub fn pca_problem(
    name: &str,
    data: &PcaData<'_>,
    rank: usize,
    lambda: f64,
    storage: Storage,
) -> Result<PcaProblem> {
    let info = find_problem(name)?;
    if info.kind != family::Kind::Pca {
        return Err(Error::Incompatible(
            format!("{name} is not f + h with X'X = I: pose it by orthopt::family").into(),
        ));
    }
    let penalty = PENALTIES.iter().find(|p| p.name == info.penalty).ok_or_else(|| Error::UnknownName {
        kind: "penalty",
        name: info.penalty.into(),
        known: PENALTIES.iter().map(|p| p.name).collect::<Vec<_>>().join(", "),
    })?;
    problem_of(data, rank, (penalty.make)(lambda)?, storage)
}

/// The PCA problem of the data with a penalty.
///
/// # Errors
/// A bad rank, data that are not finite, a C that is not symmetric.
pub(super) fn problem_of(
    data: &PcaData<'_>,
    rank: usize,
    h: AnyPenalty,
    storage: Storage,
) -> Result<PcaProblem> {
    let columns = data.ncols();
    if rank == 0 || rank > columns {
        return Err(Error::Rank { rank, columns }); // before any work
    }
    if let AnyPenalty::Box(bounds) = &h {
        bounds.check_shape(columns, rank)?;
    }
    // without a penalty, whatever its λ, the optimum takes a few products with C
    let plain = matches!(h, AnyPenalty::None(_));
    let storage = if plain { storage.for_products(data, rank) } else { storage };
    PcaProblem::new(covariance_model(data, storage)?, h, rank)
}

/// The start called `name`, whatever h asks of the size of its entries.
fn named_start(p: &PcaProblem, name: &str, seed: u64, cancel: &Cancel) -> Result<RowMat> {
    match name {
        "k-components" => clustered_start(p, at_level_0(cost_of_gradient(&p.f, p.shape())), seed, cancel)
            .ok_or_else(|| Error::NoPlace {
                start: "k-components",
                why: "it needs the penalty l0 or nonneg and a finite C".into(),
                instead: "varimax",
            }),
        "polar" => procrustes::polar(p),
        "ordered" => brockett::ordered(p, cancel),
        _ => Start::parse(name)?.point_while(&p.f, p.rank(), (p.h.requires_nonneg(), seed), cancel),
    }
}

impl Family for PcaProblem {
    fn solvers(&self) -> &'static [SolverInfo] {
        SOLVERS
    }

    /// The papers' starts, but a random one where h = 0: the span of a few coordinates can be
    /// invariant under C, and then it is a saddle point that methods with full gradients never
    /// leave. The first 20 variables of w1a only ever occur with 14 others, and from there plain PCA
    /// ends at -1234 instead of below -6000. Eigenvectors where whole rows become zero.
    ///
    /// Where h = 0 every local minimum is a global one.
    fn recipe(&self) -> Recipe {
        Recipe {
            starts: PCA_STARTS,
            default_start: match &self.h {
                _ if procrustes::is_linear(self) => procrustes::POLAR.0,
                _ if brockett::is_weighted(self) => brockett::ORDERED.0,
                h if h.row_weight().is_some() => "pca",
                h if h.requires_nonneg() => "partition",
                h if h.is_zero() => "random",
                _ => "identity",
            },
            random_starts: &["random", "partition", "k-components"],
            has_local_solutions: !spectral::suits(self),
            has_pairs: self.h.row_weight().is_none(),
            ..Recipe::default()
        }
    }

    fn shape(&self) -> (usize, usize) {
        (self.nrows(), self.rank())
    }

    fn start_while(&self, name: &str, seed: u64, cancel: &Cancel) -> Result<RowMat> {
        let x = named_start(self, name, seed, cancel)?;
        match &self.h {
            AnyPenalty::Box(bounds) => in_box(x, bounds, seed),
            _ => Ok(x),
        }
    }

    fn given(&self, x: &RowMat) -> Result<RowMat> {
        let x = Start::Given(x.clone()).point(&self.f, self.rank(), self.h.requires_nonneg(), 0)?;
        if let AnyPenalty::Box(bounds) = &self.h {
            bounds.check_point(&x, "the starting point X")?;
        }
        Ok(x)
    }

    fn plan(&self, request: &Request) -> Result<Plan<Self>> {
        if procrustes::is_linear(self) && request.solver.is_none() {
            return procrustes::plan(self, request);
        }
        if brockett::is_weighted(self) && !self.h.is_zero() && request.solver.is_none() {
            return brockett::plan(self, request);
        }
        plan(self, request)
    }

    fn known_optimum(&self) -> Option<f64> {
        spectral::optimum(self)
    }

    fn bounded(&self) -> Result<(&AnySmooth, Kind)> {
        if procrustes::is_linear(self) {
            return Err(no_bound("f has a linear term, which the relaxation over XX' does not see"));
        }
        if brockett::is_weighted(self) {
            return Err(no_bound("components have weights, which the relaxation over XX' does not see"));
        }
        Ok((&self.f, Kind::of(&self.h)?))
    }

    /// Where h = 0 by the eigenvalues of C.
    fn proved_with(&self, known: Option<&RowMat>, work: u64, cancel: &Cancel) -> Option<Bound> {
        if spectral::suits(self) && !brockett::is_weighted(self) {
            return proof_of_plain(self, known, work, cancel);
        }
        known.and_then(|x| proved_by_branching(self, Some(x), work, cancel))
    }

    /// Where h costs something as soon as a row has an entry: a solution needs as many variables as pay it. With less of C where
    /// X is nonnegative.
    fn narrow(&self, low_rank: Option<(u64, &Cancel)>) -> Option<MaybeOwned<'_, Self>> {
        if self.f.ncols().is_some() {
            return None;
        }
        let low_rank = low_rank.filter(|_| matches!(self.h, AnyPenalty::Nonneg(_)));
        match low_rank.and_then(|(seed, cancel)| LowRank::of(self, seed, cancel)) {
            Some(part) => Some(MaybeOwned::Made(Box::new(part))),
            None => self.h.turning_price(&[]).map(|_| MaybeOwned::Own(self)),
        }
    }

    fn covariance(&self) -> Option<&AnySmooth> {
        (!procrustes::is_linear(self)).then_some(&self.f)
    }

    /// As they are where f has a linear term; in the order of the weights where components have some.
    fn order_components(&self, solution: &mut Solution) {
        if brockett::is_weighted(self) {
            return brockett::order(self, solution);
        }
        if procrustes::is_linear(self) {
            return;
        }
        match self.h {
            AnyPenalty::None(_) => {}
            AnyPenalty::Nonneg(_) => take_eigenvectors(self, solution),
            _ if self.h.requires_nonneg() => {}
            _ => turn_to_principal_axes(self, &self.f, |_| true, solution),
        }
        order_components(self, solution);
    }

    fn check(&self, x: &RowMat, what: &str) -> Result<()> {
        stiefel::check(x, self.nrows(), self.rank(), what)
    }

    fn criticality(&self, x: &RowMat, cancel: &Cancel) -> Option<f64> {
        criticality_while(self, x, cancel)
    }

    fn block_stationarity(&self, x: &RowMat, scope: Scope, cancel: &Cancel) -> Option<Certificate> {
        if is_left(x.nrows() * x.ncols().pow(2)) {
            return None; // a gradient is long
        }
        self.recipe().has_pairs.then(|| certify(&RowOffers::new(self, x), scope, cancel))
    }
}

impl Reducible<Self> for PcaProblem {
    fn form(&self) -> &AnySmooth {
        &self.f
    }

    fn gradient(&self) -> u64 {
        cost_of_gradient(&self.f, (self.nrows(), self.rank()))
    }

    fn on_variables(&self, variables: &[usize]) -> Result<Self> {
        Self::new(self.f.on_variables(variables), self.h.clone(), self.rank())
    }

    fn least(&self) -> usize {
        self.rank()
    }

    /// Rows with an entry where f is steeper than h, or whose share of the variance, half of it in f, is worth the price of a nonzero.
    fn needed(&self, y: &RowMat) -> usize {
        let my = self.f.apply(y);
        let (_, slope) = self.h.subdifferential(0.0);
        let price = self.h.value(&[1.0]);
        let pays = |(a, b): (&f64, &f64)| {
            if slope.is_finite() { b.abs() > slope } else { -0.5 * a * b > price }
        };
        (0..y.nrows()).filter(|i| y.row(*i).iter().zip(my.row(*i)).any(pays)).count()
    }

    fn first_point(&self, work: u64, seed: u64, cancel: &Cancel) -> Option<RowMat> {
        clustered_start(self, work, seed, cancel)
    }

    fn entrants(&self, x: &RowMat, cancel: &Cancel) -> Vec<usize> {
        entering_rows(self, x, cancel)
    }
}

/// Gives a solution with X ≥ 0 all its digits. Its columns have rows of their own, and on these the best column is the leading
/// eigenvector of C where that has one sign. Descent ends at the root of rounding from it, where F is level.
fn take_eigenvectors(problem: &PcaProblem, solution: &mut Solution) {
    let mut x = solution.x.clone();
    for k in 0..x.ncols() {
        let rows = support(&x, k);
        let apart = rows.iter().all(|i| x.row(*i).iter().filter(|v| **v != 0.0).count() == 1);
        if !apart || rows.len() > DECOMPOSED || is_left(DECOMPOSITION * rows.len().pow(3)) {
            return;
        }
        let Some((_, v)) = leading_few(&block(&problem.f, &rows), &[], 1) else { return };
        let sign = if v.data().iter().sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
        let near = |(i, v): (&usize, &f64)| sign * v > 0.0 && (sign * v - x.get(*i, k)).abs() <= SAME;
        if rows.iter().zip(v.data()).all(near) {
            rows.iter().zip(v.data()).for_each(|(i, v)| x.set(*i, k, sign * v));
        }
    }
    let before = problem.value(&solution.x);
    if problem.value(&x) <= before + NOISE * size(solution.scale, before) {
        solution.take(problem, x);
    }
}

/// Puts the components of a solution in the order of the variance they explain, xₖᵀCxₖ, largest
/// first. The order is free: the value of a PCA problem does not depend on it. It stays as it is if
/// the work is long and cancelled.
pub fn order_components(problem: &PcaProblem, solution: &mut Solution) {
    let Some(x) = by_variance(&problem.f, &solution.x) else { return };
    solution.x = x;
    solution.objective = problem.objective(&solution.x);
    solution.feasibility = problem.feasibility(&solution.x);
}

/// Names of the starting points, with one line each: those of every quadratic f, and one that examines h.
pub(super) const PCA_STARTS: &[(&str, &str)] = &{
    let mut all = [("", ""); STARTS.len() + 3];
    let mut k = 0;
    while k < STARTS.len() {
        all[k] = STARTS[k];
        k += 1;
    }
    all[k] = K_COMPONENTS;
    all[k + 1] = procrustes::POLAR;
    all[k + 2] = brockett::ORDERED;
    all
};

/// The plan for a PCA problem. With no solver named, a search over the arms of
/// [`portfolio`](super::portfolio) does what the user left open; otherwise the solvers of `request` get the
/// defaults of the papers (random pairs from the identity, or from a partition for nonnegative problems).
///
/// # Errors
/// Whatever is wrong with a starting point the user gave, or options out of range.
pub(crate) fn plan(problem: &PcaProblem, request: &Request) -> Result<Plan<PcaProblem>> {
    if request.solver.is_some() {
        return Plan::by_default(problem, request);
    }
    if spectral::suits(problem) && !request.asks_for_pairs() {
        let solver = Some(spectral::INFO.name.to_string());
        let mut plan = Plan::by_default(problem, &Request { solver, ..request.clone() })?;
        plan.reasons
            .push("solver spectral: without a penalty the optimum is known, eigenvectors of C".into());
        plan.chosen = true;
        return Ok(plan);
    }
    let mut reasons = Vec::new();
    let mut options = request.options();
    options.obcd.block = request.block.unwrap_or_else(|| choose_block(problem));
    if request.block.is_none() && options.obcd.block > 2 {
        reasons.push(
            format!(
                "blocks of {}: moves are frequent and a sweep inside a block makes them cheap",
                options.obcd.block
            )
            .into(),
        );
    }
    // near a good point few pairs matter; from elsewhere those that are drawn from all end lower
    let rule = request.working_set.unwrap_or(WorkingSet::Active);
    let portfolio = portfolio(problem, (&options, rule), request.start(), request.tuning)?;
    // where one chain is to run it is the first arm that is one
    let arms = portfolio.as_ref().map_or(&[][..], |p| &p.arms);
    let first = arms.iter().find(|arm| arm.solver.contains('+')).or(arms.first());
    let chain = first.map_or("obcd", |arm| arm.solver.as_str());
    let solvers = find_solvers(SOLVERS, chain)?;
    let starts = match (request.start(), &portfolio) {
        (Some(start), _) => vec![start.clone()],
        (None, Some(all)) => {
            let named = all.arms.iter().filter(|arm| arm.solver == chain);
            named.map(|arm| Start::named(&arm.start)).collect()
        }
        (None, None) => vec![Start::named("pca")],
    };
    Plan { solvers, options, starts, reasons, chosen: true, portfolio, lower_bound: None }.checked(problem)
}

/// Rows per working set: blocks pay where most pairs move, so that updates of the gradient
/// dominate (convex penalties on a dense M), and where a round of blocks is a small part of all
/// rows. Elsewhere (zeros to be found, signs to keep) single random pairs end lower.
fn choose_block(problem: &PcaProblem) -> usize {
    let convex = matches!(problem.h, AnyPenalty::None(_) | AnyPenalty::L1(_));
    let dense = matches!(problem.f, AnySmooth::Dense(_));
    if convex && dense && problem.nrows() >= 512 { 32 } else { 2 }
}
