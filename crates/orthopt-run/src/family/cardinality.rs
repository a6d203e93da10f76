//! Sparse PCA with the number of nonzeros given, by name: starts, what the search for the best point is made of,
//! and how it is posed.

use std::sync::Arc;

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::arms::at_level_0;
use super::curvature::Curvature;
use super::knee::Knee;
use super::measured::{SHARED, is_crowded};
use super::portfolio::{REHEAT, cost_of_gradient, is_long, race};
use super::posed::{Posed, excess, rank_or_default};
use super::statement::statement;
use super::{
    AnyProblem, Between, Family, MaybeOwned, Plan, ProblemInfo, Recipe, Reducible, Request,
    proved_by_branching,
};
use crate::search::cardinality_moves::{Mix, Shake, Turn, component_by_power};
use crate::search::clustered::{Regrown, clustered_start, shared_start};
use crate::search::moves::{Polish, Polished, Reheat};
use crate::search::{Portfolio, Tuning};
use orthopt_bound::{Bound, Kind, Options};
use orthopt_core::constraint::stiefel;
use orthopt_core::objective::{Evaluate, size};
use orthopt_core::problem::{
    Cardinality, PcaData, by_variance, covariance_model, nonzero_rows, principal_axes, support,
};
use orthopt_core::smooth::measured::Covariance;
use orthopt_core::smooth::{AnySmooth, Quadratic};
use orthopt_core::solve::AnySolver;
use orthopt_core::solve::Solution;
use orthopt_core::solve::info::{SolverInfo, SolverOptions};
use orthopt_core::start::Start;
use orthopt_limits::CARDINALITY_SOLVERS;
use orthopt_limits::exchange::{Exchange, disjoint, entrants, rounded, sequential, tangent};
use orthopt_limits::overshoot::SupportModel;
use orthopt_limits::problem::CardinalityProblem;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::long::is_left;
use orthopt_linalg::message::Message;
use orthopt_linalg::order::best_first;
use orthopt_solvers::ladmm::Ladmm;

/// A limit on nonzeros as users give it, before the number of components is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limit {
    /// In each component: one number for all, or one for each.
    Nonzeros(Vec<usize>),
    /// In all components together.
    Total(usize),
    /// Variables for all components together.
    Variables(usize),
    /// In each component as many as [`Knee`] says.
    Knee,
}

impl Limit {
    /// For r components, where it does not depend on the data.
    pub fn of(&self, r: usize) -> Option<Cardinality> {
        Some(match self {
            Self::Nonzeros(list) if list.len() == 1 => Cardinality::Components(vec![list[0]; r]),
            Self::Nonzeros(list) => Cardinality::Components(list.clone()),
            Self::Total(s) => Cardinality::Total(*s),
            Self::Variables(s) => Cardinality::Rows(*s),
            Self::Knee => return None,
        })
    }

    /// The number of components, where the limit says it.
    pub fn rank(&self) -> Option<usize> {
        match self {
            Self::Nonzeros(list) if list.len() > 1 => Some(list.len()),
            _ => None,
        }
    }

    /// The name of the option.
    pub fn option(&self) -> &'static str {
        match self {
            Self::Nonzeros(_) | Self::Knee => "nonzeros",
            Self::Total(_) => "total-nonzeros",
            Self::Variables(_) => "variables",
        }
    }
}

/// Limits of nonzeros in their simplest form: what a total with a least and a largest number leaves no choice about is a number for
/// each component, and numbers that bind nothing are none. So one problem has one form, whichever way it is asked for. A component may
/// then have fewer than the least: points with more are as near to it as one likes. `None` where the form is the simplest, or no X
/// meets the limits, which is said where the problem is posed.
pub(super) fn simplest(options: &Request, rank: usize, n: usize) -> Option<Request> {
    let Request { min_nonzeros, max_nonzeros, .. } = *options;
    let given = match options.limit() {
        Some(Limit::Total(total)) => total,
        // a variable of the only component is a nonzero
        Some(Limit::Variables(count)) if rank == 1 && options.between() == Between::Orthogonal => count,
        _ => return None,
    };
    if rank == 0 || rank > n || given > n * rank {
        return None; // refused, as more than there are
    }
    let (min, max) = (min_nonzeros.unwrap_or(1), max_nonzeros.unwrap_or(n).min(n));
    if min == 0 || min > max || min * rank > given {
        return None;
    }
    let simple =
        |limit| Request { min_nonzeros: None, max_nonzeros: None, ..options.clone() }.with_limit(Some(limit));
    if min * rank == given {
        return Some(simple(Limit::Nonzeros(vec![min])));
    }
    if max * rank <= given && (min == 1 || min == max) {
        return Some(simple(Limit::Nonzeros(vec![max])));
    }
    if rank == 1 && min == 1 {
        return Some(simple(Limit::Nonzeros(vec![given.min(max)])));
    }
    // the others have at least one
    let is_free = min == 1 && max >= n.min(given - (rank - 1));
    let is_limited = min_nonzeros.is_some() || max_nonzeros.is_some();
    (is_free && is_limited).then(|| simple(Limit::Total(given)))
}

/// f, r and the limits of a problem with limits on nonzeros: as given, or as [`Knee`] says; all entries where there are none.
///
/// # Errors
/// A limit or rank out of range; data that are not what they should be.
pub(super) fn limited(
    data: &PcaData<'_>,
    options: &Request,
    reasons: &mut Vec<Message>,
) -> Result<(AnySmooth, usize, Cardinality)> {
    let limit = options.limit();
    let limit = limit.as_ref();
    let rank = match limit.and_then(Limit::rank).filter(|_| options.rank().is_none()) {
        Some(rank) => rank, // as many components as there are limits
        None => rank_or_default(data, options, reasons),
    };
    let n = data.ncols();
    if rank == 0 || rank > n {
        return Err(Error::Rank { rank, columns: n }); // before any work
    }
    let limits = match limit {
        None => Some(Cardinality::Components(vec![n; rank])),
        Some(limit) => limit.of(rank).map(|limits| limits.checked(n, rank)).transpose()?,
    };
    let f = covariance_model(data, options.storage.unwrap_or_default())?;
    let limits = match limits {
        Some(limits) => limits,
        None => {
            let knee = Knee::of(&f, rank)?;
            reasons.push(knee.reason());
            // r uncorrelated components take r rows
            let least = if options.between().is_uncorrelated() { rank } else { 1 };
            Cardinality::Components(vec![knee.count.max(least); rank])
        }
    };
    Ok((f, rank, limits))
}

/// Poses the problem with a limit in the place of λ (or beside it, where λ is given).
///
/// # Errors
/// A problem that takes no limit; a limit, rank or λ out of range; data that are not what they should be.
pub(super) fn pose_cardinality(
    info: &'static ProblemInfo,
    data: &PcaData<'_>,
    options: &Request,
) -> Result<Posed> {
    let name = options.penalty.as_deref().unwrap_or(info.penalty);
    let limit = &options.limit().unwrap_or(Limit::Knee);
    let takes =
        info.kind == super::Kind::Pca && matches!(name, "l0" | "none" | "nonneg") && options.map().is_none();
    if !takes {
        let with =
            if options.map().is_some() { "a linear map".to_string() } else { format!("the penalty {name}") };
        return Err(Error::Incompatible(Message::about(limit.option()).text(format!(
            " is for l0-pca, nonneg-pca and pca; {} with {with} takes no limits on nonzeros",
            info.name
        ))));
    }
    let mut reasons = Vec::new();
    let (f, rank, limits) = limited(data, options, &mut reasons)?;
    let lambda = options.lambda;
    let problem = CardinalityProblem::new(f, rank, limits, lambda.unwrap_or(0.0), name == "nonneg")?;
    let limits = Some(problem.limits().clone());
    let notes =
        if problem.requires_nonneg() { Vec::new() } else { excess(limit, rank, problem.limits(), data) };
    let (statement, problem) = (statement(info, options), AnyProblem::Cardinality(problem));
    Ok(Posed { lambda, limits, notes, ..Posed::new(info, statement, problem, rank, reasons) })
}

/// Starting points, the default first.
pub(super) const STARTS: &[(&str, &str)] = &[
    ("deflation", "components one after the other by truncated power iterations, orthogonal to those before"),
    ("apart", "truncated power iterations, each component on variables that no other component uses"),
    super::line_up::K_COMPONENTS,
    SHARED,
    ("varimax", "eigenvectors rotated towards few large entries, the largest kept"),
    ("pca", "the r leading eigenvectors of C, the largest entries kept"),
    ("coordinates", "the r variables with the largest variance: entries enter one by one"),
    ("random", "the largest entries of a random orthonormal matrix"),
];

/// Solvers and starts, the pairs first that cost least and that most often do well. No data set went into it.
const ARMS: &[(&str, &str)] = &[
    ("exchange", "k-components"),
    ("exchange", "deflation"),
    ("ladmm+exchange", "varimax"),
    ("ladmm+exchange", "pca"),
    ("exchange", "random"),
];

impl Family for CardinalityProblem {
    fn solvers(&self) -> &'static [SolverInfo<Self>] {
        CARDINALITY_SOLVERS
    }

    /// Where the limits exclude no X every local minimum is a global one, as of plain PCA.
    fn recipe(&self) -> Recipe {
        Recipe {
            starts: STARTS,
            default_start: STARTS[0].0,
            // components found one after the other begin at rows drawn by their variance
            random_starts: &["k-components", "deflation", "apart", "random"],
            criticality: "dist(0, df(X)) along the manifold on the support of X",
            has_local_solutions: !is_plain(self),
            has_pairs: false, // limits tie rows together
            ..Recipe::default()
        }
    }

    fn shape(&self) -> (usize, usize) {
        (self.nrows(), self.rank())
    }

    fn start_while(&self, name: &str, seed: u64, cancel: &Cancel) -> Result<RowMat> {
        let failed =
            || Error::Incompatible("the data are zero or not finite: there is no component to find".into());
        let rows = matches!(self.limits(), Cardinality::Rows(_));
        match name {
            // variables that all components share are no components apart from each other; nor are there any where C = 0
            "k-components" if rows => Err(Error::NoPlace {
                start: "k-components",
                why: "components that share their variables are no components apart from each other".into(),
                instead: "deflation",
            }),
            "k-components" => {
                let work = at_level_0(cost_of_gradient(&self.f, self.shape()));
                let x = clustered_start(self, work, seed, cancel).filter(|x| self.check(x, "X").is_ok());
                x.or_else(|| one_by_one(self, false, seed, cancel)).ok_or_else(failed)
            }
            "shared" if rows || self.requires_nonneg() => Err(Error::NoPlace {
                start: SHARED.0,
                why: if rows {
                    "all components are on the same variables there".into()
                } else {
                    "orthogonal components on common variables have entries of both signs".into()
                },
                instead: "deflation",
            }),
            "shared" => {
                let work = at_level_0(cost_of_gradient(&self.f, self.shape()));
                let cov = Covariance::new(&self.f, false);
                let model = SupportModel::of_variance(self, &cov).until(cancel);
                let is_point = |x: &RowMat| self.check(x, "X").is_ok();
                let x = shared_start(self, &model, is_point, (work, seed), cancel);
                x.or_else(|| one_by_one(self, false, seed, cancel)).ok_or_else(failed)
            }
            "deflation" | "apart" => one_by_one(self, name == "apart", seed, cancel).ok_or_else(failed),
            _ => {
                let dense = Start::parse(name)?.point_while(&self.f, self.rank(), (false, seed), cancel)?;
                rounded(self, &dense).ok_or_else(failed)
            }
        }
    }

    /// One that has too many nonzeros is rounded.
    fn given(&self, x: &RowMat) -> Result<RowMat> {
        stiefel::check(x, self.nrows(), self.rank(), "the starting point X")?;
        let fits = self.check(x, "the starting point X").is_ok();
        let mut exact = x.clone();
        if fits && !self.requires_nonneg() && stiefel::repair_on_support(&mut exact) <= 1e-12 {
            return Ok(exact);
        }
        let failed = || Error::Incompatible("no feasible X was found near the starting point X".into());
        rounded(self, x).ok_or_else(failed)
    }

    fn plan(&self, wanted: &Request) -> Result<Plan<Self>> {
        let unnamed = wanted.solver.is_none() && wanted.init.is_none() && wanted.effort.is_none();
        if is_plain(self) && unnamed {
            let start = Some(Start::named("pca"));
            let mut plan =
                Plan::by_default(self, &Request { init: start.map(Into::into), ..wanted.clone() })?;
            plan.reasons = vec!["the limit excludes no X: plain PCA".into()];
            return Ok(plan);
        }
        let mut plan = Plan::by_default(self, wanted)?;
        if wanted.solver.is_none() {
            plan.reasons.clear();
            plan.portfolio = Some(portfolio(self, &plan.options, wanted.start(), wanted.tuning)?);
        }
        Ok(plan)
    }

    fn bounded(&self) -> Result<(&AnySmooth, Kind)> {
        let lambda = self.lambda();
        let kind = match self.limits() {
            Cardinality::Components(list) => Kind::Counts { nonzeros: list.clone(), lambda },
            Cardinality::Total(s) => Kind::Total { nonzeros: *s, lambda },
            Cardinality::Rows(s) => Kind::Rows { rows: *s, lambda },
        };
        let signed = self.requires_nonneg();
        Ok((&self.f, if signed { Kind::NonnegativeLimited(Box::new(kind)) } else { kind }))
    }

    fn proved_with(&self, known: Option<&RowMat>, work: u64, cancel: &Cancel) -> Option<Bound> {
        if is_plain(self) && known.is_some() {
            return proof_of_plain(self, known, work, cancel);
        }
        // with λ or signs a bound finds no X to begin from by itself
        let begins = known.is_some() || (self.lambda() == 0.0 && !self.requires_nonneg());
        begins.then(|| proved_by_branching(self, known, work, cancel)).flatten()
    }

    fn narrow(&self, _: Option<(u64, &Cancel)>) -> Option<MaybeOwned<'_, Self>> {
        Some(MaybeOwned::Own(self))
    }

    fn covariance(&self) -> Option<&AnySmooth> {
        Some(&self.f)
    }

    fn order_components(&self, solution: &mut Solution) {
        if !self.requires_nonneg() {
            turn_to_principal_axes(self, &self.f, |x| self.limits().allows(x), solution);
        }
        solution.x = ordered(&self.f, self.limits(), &solution.x);
        solution.notes.extend(unused(self, &solution.x));
    }

    fn check(&self, x: &RowMat, what: &str) -> Result<()> {
        Self::check(self, x, what)
    }

    fn criticality(&self, x: &RowMat, cancel: &Cancel) -> Option<f64> {
        if cancel.is_over() || is_left(x.nrows() * x.ncols().pow(2)) {
            return None;
        }
        let mut cx = self.f.apply(x);
        cx.data_mut().iter_mut().for_each(|v| *v = -*v);
        Some(tangent(x, &cx).norm())
    }
}

/// True if it is plain PCA: limits that exclude no X, no λ and no signs.
fn is_plain(p: &CardinalityProblem) -> bool {
    let (n, r) = p.shape();
    p.lambda() == 0.0 && !p.requires_nonneg() && !p.limits().excludes(n, r)
}
/// That the eigenvectors of C are the solution of plain PCA, where C is decomposed with so much work.
pub(super) fn proof_of_plain(
    p: &impl Family,
    known: Option<&RowMat>,
    work: u64,
    cancel: &Cancel,
) -> Option<Bound> {
    let n = p.shape().0 as u64;
    if DECOMPOSITIONS * n.pow(3) > work {
        return None;
    }
    let options = Options { nodes: 0, ..Options::default() };
    p.lower_bound(known, &options, cancel, &|_| ()).ok().filter(|bound| bound.proof.is_some())
}

/// Work of the bound of plain PCA over n³.
const DECOMPOSITIONS: u64 = 100;

impl Reducible<Self> for CardinalityProblem {
    fn form(&self) -> &AnySmooth {
        &self.f
    }

    fn gradient(&self) -> u64 {
        cost_of_gradient(&self.f, self.shape())
    }

    fn on_variables(&self, variables: &[usize]) -> Result<Self> {
        let f = self.f.on_variables(variables);
        Self::new(f, self.rank(), self.limits().clone(), self.lambda(), self.requires_nonneg())
    }

    fn least(&self) -> usize {
        self.limits().total().max(self.rank())
    }

    fn needed(&self, _y: &RowMat) -> usize {
        self.least()
    }

    /// Where all components share their variables, which are not offered one by one.
    fn settles(&self) -> Option<(&'static str, Option<u64>)> {
        matches!(self.limits(), Cardinality::Rows(_)).then_some(("exchange", None))
    }

    fn first_point(&self, work: u64, seed: u64, cancel: &Cancel) -> Option<RowMat> {
        let x = clustered_start(self, work, seed, cancel);
        x.filter(|x| self.check(x, "X").is_ok())
    }

    fn polisher(&self) -> &'static str {
        "exchange"
    }

    fn entrants(&self, x: &RowMat, cancel: &Cancel) -> Vec<usize> {
        entrants(self, x, cancel)
    }
}

/// Parts of the search for the best point.
fn portfolio(
    p: &CardinalityProblem,
    options: &SolverOptions,
    start: Option<&Start>,
    tuning: Tuning,
) -> Result<Portfolio<CardinalityProblem>> {
    let gradient = cost_of_gradient(&p.f, p.shape());
    let mut table = ARMS.to_vec();
    if is_crowded(p.limits(), p.shape()) && !p.requires_nonneg() {
        table.insert(0, ("exchange", SHARED.0));
    }
    if is_long(gradient) {
        // exchanges cost a small share of it there, and components one after the other passes over the data of their own; the
        // eigenvectors are there
        let worth = |(solver, from): &(&str, &str)| match *from {
            "varimax" => 2,
            "deflation" => 0,
            _ => 1,
        } + 3 * u8::from(*solver == "exchange");
        table = best_first(table, |arm| f64::from(worth(arm)));
    }
    let mut all = race(p, &table, options, start, (gradient, Some("exchange")), tuning)?;
    all.polish = tuning.polish_at(gradient);
    let polish = Polish { solver: Arc::new(|_| AnySolver::new(Exchange)), most: all.polish };
    let curvature = Curvature::default();
    let ladmm = move |p: &CardinalityProblem, warmth: f64| -> AnySolver<CardinalityProblem> {
        let beta = Some(curvature.of(&p.f, p.rank()) * 100f64.powf(-warmth));
        AnySolver::new(Ladmm { beta, rho: 1.05, ..Ladmm::DEFAULT })
    };
    all.moves = vec![
        Arc::new(Polished(Regrown { most: all.polish }, polish.clone())),
        Arc::new(Polished(Shake, polish.clone())),
        Arc::new(Polished(Mix, polish.clone())),
        Arc::new(Polished(Turn, polish.clone())),
    ];
    if !is_long(gradient) {
        // one takes as much work there as all else
        all.moves.push(Arc::new(Reheat { name: REHEAT, solver: Box::new(ladmm), warmth: 0.0..1.0, polish }));
    }
    Ok(all)
}

/// Components one after the other from rows of large variance, each on free rows where `apart`, else on any.
fn one_by_one(p: &CardinalityProblem, apart: bool, seed: u64, cancel: &Cancel) -> Option<RowMat> {
    let mut rng = Pcg64::seed_from_u64(seed ^ 0x4341_5244);
    let (n, r) = p.shape();
    let sizes = p.limits().shares(r);
    let mut x = RowMat::zeros(n, r);
    let apart = apart || p.requires_nonneg();
    for (k, size) in sizes.iter().enumerate() {
        let free: Vec<bool> = (0..n).map(|i| !apart || x.row(i).iter().all(|v| *v == 0.0)).collect();
        // rows for the components to come
        let spare = free.iter().filter(|f| **f).count().saturating_sub(r - 1 - k).max(1);
        let found = component_by_power(p, &x, &free, (*size).min(spare), (&mut rng, cancel));
        if let Some(v) = found {
            (0..n).for_each(|i| x.set(i, k, v[i]));
            // orthogonal to those before from here on
            if !apart && let Some(exact) = sequential_upto(p, &x, k) {
                x = exact;
            }
        }
    }
    rounded(p, &x).or_else(|| disjoint(p, &x))
}

/// The first k + 1 components made orthogonal on their supports, one after the other.
fn sequential_upto(p: &CardinalityProblem, x: &RowMat, k: usize) -> Option<RowMat> {
    let part = RowMat::from_fn(x.nrows(), k + 1, |i, j| x.get(i, j));
    let exact = sequential(p, &part)?;
    Some(RowMat::from_fn(x.nrows(), x.ncols(), |i, j| if j <= k { exact.get(i, j) } else { 0.0 }))
}

/// What F may rise by where columns are turned, relative to its size: rounding.
const RISE: f64 = 1e-11;

/// Columns turned to their principal axes where F does not rise and the limits allow it: all of them, else those that share
/// all their rows. Of all points with the same F it is the one whose components repeat each other least, and PCA where
/// nothing binds.
pub(super) fn turn_to_principal_axes<P: Evaluate>(
    p: &P,
    f: &impl Quadratic,
    allows: impl Fn(&RowMat) -> bool,
    solution: &mut Solution,
) {
    if is_left(solution.x.nrows() * solution.x.ncols().pow(2)) {
        return;
    }
    let before = p.value(&solution.x);
    for together in [true, false] {
        let Some(mut x) = principal_axes(f, &solution.x, together) else { continue };
        stiefel::repair_on_support(&mut x);
        let slack = RISE * size(p.scale(&x), before);
        let feasible = p.feasibility(&x) <= p.feasibility(&solution.x).max(RISE) && allows(&x);
        if feasible && p.value(&x) <= before + slack {
            return solution.take(p, x);
        }
    }
}

/// The columns in the order of the variance they explain, among those with the same limit; as they are if that is long
/// and cancelled.
pub(super) fn ordered(f: &AnySmooth, limits: &Cardinality, x: &RowMat) -> RowMat {
    let Cardinality::Components(limits) = limits else {
        return by_variance(f, x).unwrap_or_else(|| x.clone());
    };
    if is_left(x.nrows() * x.ncols().pow(2)) {
        return x.clone();
    }
    let cx = f.apply(x); // −CX
    let mut value = vec![0.0; x.ncols()]; // −xₖᵀCxₖ
    for i in 0..x.nrows() {
        value.iter_mut().zip(x.row(i)).zip(cx.row(i)).for_each(|((v, x), cx)| *v += x * cx);
    }
    let mut order: Vec<usize> = (0..x.ncols()).collect();
    for place in 0..order.len() {
        // the best of those left with the same limit comes here
        let alike = (place..order.len()).filter(|l| limits[order[*l]] == limits[order[place]]);
        if let Some(best) = alike.min_by(|a, b| value[order[*a]].total_cmp(&value[order[*b]])) {
            order.swap(place, best);
        }
    }
    RowMat::from_fn(x.nrows(), x.ncols(), |i, k| x.get(i, order[k]))
}

/// That there are fewer nonzeros than allowed, and why.
fn unused(p: &CardinalityProblem, x: &RowMat) -> Option<Message> {
    if p.limits().is_used(x) || *p.limits() == Cardinality::Rows(p.nrows()) {
        return None; // or there is none
    }
    let has = match p.limits() {
        Cardinality::Rows(_) => format!("{} variables", nonzero_rows(x).len()),
        _ => {
            let counts: Vec<_> = (0..x.ncols()).map(|k| support(x, k).len().to_string()).collect();
            format!("{} nonzeros", counts.join(", "))
        }
    };
    let why = if p.lambda() > 0.0 {
        "no further one that was tried lowers F by more than its lambda"
    } else {
        "no further one that was tried lowers F"
    };
    Some(format!("X has {has}, fewer than allowed ({}): {why}", p.limits().words()).into())
}
