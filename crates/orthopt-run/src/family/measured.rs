//! Sparse components that maximise a measure of what they explain, by name: starts, what the search is made of, how it is posed.

use std::borrow::Cow;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

use super::arms::at_level_0;
use super::cardinality::{self, limited, turn_to_principal_axes};
use super::catalogue::instead;
use super::lambda::{default_lambda, relative_lambda};
use super::line_up::K_COMPONENTS;
use super::narrow::{EARLY, MaybeOwned, Reducible};
use super::portfolio::{cost_of_gradient, race};
use super::posed::{Posed, excess};
use super::shared_rows::{self, GROUPED, SELECTED};
use super::supports_proof;
use super::uncorrelated;
use super::{AnyProblem, Family, Kind, Plan, ProblemInfo, Recipe, Request};
use crate::search::clustered::{Regrown, clustered_start, shared_start};
use crate::search::measured_moves::{Regroup, Rotate, Together};
use crate::search::moves::{Polish, Polished};
use crate::search::{Portfolio, Tuning};
use orthopt_bound as bound;
use orthopt_core::constraint::stiefel;
use orthopt_core::objective::Evaluate;
use orthopt_core::penalty::find_penalty;
use orthopt_core::problem::{
    Between, Cardinality, ExplainedVariance, PcaData, by_variance, explained_variance, variance_in_time,
};
use orthopt_core::smooth::measured::Root;
use orthopt_core::smooth::{AnySmooth, Measure, Measured, Order, Quadratic};
use orthopt_core::solve::info::{SolverInfo, SolverOptions};
use orthopt_core::solve::{AnySolver, Solution};
use orthopt_core::start::{Start, unknown};
use orthopt_limits::overshoot::{self, Overshoot, Point, SupportModel};
use orthopt_limits::problem::{MeasuredProblem, Share};
use orthopt_limits::uncorrelated::{criticality, rounded};
use orthopt_limits::{MEASURED_SOLVERS, UNCORRELATED_SOLVERS};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_linalg::order::descending_to;
use orthopt_linalg::varimax::varimax;

/// Starting points, the default first.
pub(super) const STARTS: &[(&str, &str)] = &[
    PRUNED,
    ("varimax", "the same from eigenvectors rotated towards few large entries"),
    ("scaled", "the same from eigenvectors times their standard deviations, rotated, made orthonormal"),
    APART,
    ("halves", "the same with half of the nonzeros, then the others where they gain most"),
    ("divided", "every variable given to the eigenvector where its loading is largest, pruned"),
    ("divided-varimax", "the same with rotated eigenvectors"),
    ("variance", "the best point of variance from the pruned eigenvectors"),
    (COORDINATES, "the r variables with the largest variance: entries enter one by one"),
    K_COMPONENTS,
    SHARED,
    SEQUENTIAL,
    ("random", "random columns on random rows, made feasible"),
    GROUPED,
    SELECTED,
];

pub(super) const PRUNED: (&str, &str) = (
    "pruned",
    "the r leading eigenvectors of C, entries of least exact loss taken away until the limits hold",
);
pub(super) const APART: (&str, &str) =
    ("apart", "components one after the other that share no variable, entries of most exact gain first");

pub(super) const SHARED: (&str, &str) =
    ("shared", "components on the rows of a smaller number of groups of variables, which k-components finds");
const SEQUENTIAL: (&str, &str) =
    ("sequential", "components one after the other, each the best beside those before it");

/// Solver and starts of the race. With more starts than these F is no lower after the same time.
const ARMS: &[(&str, &str)] = &[(NAME, "k-components"), (NAME, "varimax")];
/// Those of many components: pruning dense loadings solves r(r + 1)/2 equations at each step, disjoint ones r.
const ARMS_OF_MANY: &[(&str, &str)] = &[(NAME, "k-components"), (NAME, SHARED.0)];
/// Those where limits allow more nonzeros than there are variables.
const CROWDED: &[(&str, &str)] = &[(NAME, SHARED.0), (NAME, SEQUENTIAL.0), (NAME, "varimax")];
const CROWDED_OF_MANY: &[(&str, &str)] = &[(NAME, SHARED.0), (NAME, SEQUENTIAL.0)];
/// More components than this are many.
const MANY: usize = 20;
/// That where the limits exclude no X: nothing is pruned of eigenvectors.
const PLAIN: &[(&str, &str)] = &[(NAME, "pruned")];
/// Those of what scores explain by regression, which k-components does not see.
const EXPLAINED: &[(&str, &str)] =
    &[(NAME, "varimax"), (NAME, "pruned"), (NAME, "apart"), (NAME, "halves"), (NAME, "divided")];
/// Those where XᵀCX must be diagonal: random supports lead to feasible points where nearly all entries are needed for that.
const TIED: &[(&str, &str)] = &[
    (NAME, "pruned"),
    (NAME, "apart"),
    (NAME, "varimax"),
    (NAME, "halves"),
    (NAME, "divided"),
    (NAME, "random"),
    (NAME, "divided-varimax"),
    (NAME, COORDINATES),
];
/// Those where loadings are orthogonal besides: on rows that components share they are eigenvectors. The best of these come first, so
/// that a run that is cut off has them.
const BOTH: &[(&str, &str)] = &[
    (NAME, "selected"),
    (NAME, "grouped"),
    (NAME, "pruned"),
    (NAME, "apart"),
    (NAME, "varimax"),
    (NAME, "halves"),
    (NAME, "divided"),
    (NAME, "random"),
    (NAME, "divided-varimax"),
    (NAME, COORDINATES),
];
pub(super) const NAME: &str = "overshoot";
const T: Tuning = Tuning::DEFAULT;
/// The start that takes no time.
const COORDINATES: &str = "coordinates";

/// Seconds for what uncorrelated scores cost.
const PRICE: f64 = 1.0;
/// Variables up to which a bound takes roots of C, one after the other.
const DECOMPOSED: usize = 400;
/// Share of the time that the bound of variance may take where lists of supports follow.
const BEFORE_LISTS: f64 = 0.3;
/// Random points from which a feasible one is searched for.
const TRIES: usize = 300;

/// Why there may be no X, and what to do. None where unknowns are fewer than equations: a component of s nonzeros and length 1 has s − 1. A C with zeros
/// of its own may still have solutions.
fn why_none(p: &MeasuredProblem) -> String {
    let r = p.rank();
    let (unknowns, equations) = (p.limits().total().saturating_sub(r), r * (r - 1) / 2);
    if p.between().is_uncorrelated() && unknowns < equations {
        return format!(
            " (uncorrelated scores of {r} components are {equations} equations, and each component has one fewer unknowns than \
             nonzeros, {unknowns} in all): allow more nonzeros"
        );
    }
    match equations + r > overshoot::EQUATIONS {
        true => format!(
            " ({r} components are {} equations where all share variables, and at most {} are solved together): ask for \
             fewer components",
            equations + r,
            overshoot::EQUATIONS
        ),
        false => ": allow more nonzeros".into(),
    }
}

/// True if every X with XᵀX = I is allowed, so that the leading eigenvectors are best in every measure.
fn excludes_nothing(p: &MeasuredProblem) -> bool {
    let (n, r) = p.shape();
    let free = p.share() == Share { min: 1, max: n } && !p.limits().excludes(n, r);
    free && p.lambda() == 0.0 && p.between() == Between::Orthogonal && p.order() == Order::Joint
}

/// True if limits allow more nonzeros than there are variables: components that share none leave some of them unused.
pub(super) fn is_crowded(limits: &Cardinality, (n, r): (usize, usize)) -> bool {
    !matches!(limits, Cardinality::Rows(_)) && limits.shares(r).into_iter().sum::<usize>() > n
}

fn eigenvectors(p: &MeasuredProblem, cancel: &Cancel) -> Result<RowMat> {
    Start::Pca.point_while(p.f.quadratic(), p.rank(), (false, 0), cancel)
}

/// V Diag(√λ), rotated and made orthonormal.
fn scaled(p: &MeasuredProblem, v: &RowMat) -> RowMat {
    let image = p.f.quadratic().apply(v); // −CV
    let (n, r) = p.shape();
    let variance = |k: usize| -(0..n).map(|i| v.get(i, k) * image.get(i, k)).sum::<f64>();
    let deviations: Vec<f64> = (0..r).map(|k| variance(k).max(0.0).sqrt()).collect();
    let largest = deviations.iter().fold(f64::MIN_POSITIVE, |a, d| a.max(*d));
    let scaled = RowMat::from_fn(n, r, |i, k| v.get(i, k) * (deviations[k] / largest));
    stiefel::orthonormalise(&varimax(&scaled))
}

/// r components from free variables, `size` each.
fn random_point(p: &MeasuredProblem, seed: u64, cancel: &Cancel) -> Option<Point> {
    let model = SupportModel::of(p).until(cancel);
    let (n, r) = p.shape();
    let sizes = model.limits().shares(r);
    let mut rng = Pcg64::seed_from_u64(seed ^ 0x4d45_4153);
    for _ in 0..TRIES {
        if cancel.is_over() {
            return None;
        }
        let mut rows: Vec<usize> = (0..n).collect();
        (0..n).for_each(|k| rows.swap(k, rng.random_range(k..n)));
        let mut x = RowMat::zeros(n, r);
        let mut next = rows.iter().cycle();
        for (k, size) in sizes.iter().enumerate() {
            for i in next.by_ref().take((*size).min(n)) {
                x.set(*i, k, rng.sample(StandardNormal));
            }
        }
        if let Some(at) = overshoot::polished(&model, &x) {
            return Some(at);
        }
    }
    None
}

/// Work of k-components for a start.
fn work_of_start(p: &MeasuredProblem) -> u64 {
    let gradient = cost_of_gradient(p.f.quadratic(), p.shape());
    at_level_0(gradient).min(T.longest_of_measures).max(EARLY * gradient)
}

/// X of the start called `name`; `None` if it leads to none.
pub(super) fn named_start(
    p: &MeasuredProblem,
    name: &str,
    seed: u64,
    cancel: &Cancel,
) -> Result<Option<RowMat>> {
    let model = SupportModel::of(p).until(cancel);
    let r = p.rank();
    let point = match name {
        "pruned" => overshoot::pruned(&model, &eigenvectors(p, cancel)?),
        "varimax" => overshoot::pruned(&model, &varimax(&eigenvectors(p, cancel)?)),
        "scaled" => overshoot::pruned(&model, &scaled(p, &eigenvectors(p, cancel)?)),
        "divided" => overshoot::divided(&model, &eigenvectors(p, cancel)?),
        "divided-varimax" => overshoot::divided(&model, &varimax(&eigenvectors(p, cancel)?)),
        "apart" | "halves" => {
            let mut shares = model.limits().shares(r);
            if name == "halves" {
                shares.iter_mut().for_each(|s| *s = (*s / 2).max(2.min(*s)));
            }
            let x = overshoot::apart(&model, &shares, cancel);
            x.and_then(|x| overshoot::polished(&model, &x))
        }
        "variance" => {
            let other = model.for_variance();
            let at = overshoot::pruned(&other, &eigenvectors(p, cancel)?);
            at.and_then(|at| overshoot::climbed(&other, at, cancel))
                .and_then(|at| overshoot::polished(&model, &at.x))
        }
        COORDINATES => {
            let c = p.f.covariance();
            let order = descending_to(p.nrows(), &|i| c.diagonal(i));
            let x = RowMat::from_fn(p.nrows(), r, |i, k| f64::from(u8::from(order[k] == i)));
            if p.between().is_uncorrelated() || p.share().min > 1 {
                overshoot::polished(&model, &x)
            } else {
                return Ok(Some(x));
            }
        }
        "k-components" => return Ok(clustered_start(p, work_of_start(p), seed, cancel)),
        "shared" => {
            let work = work_of_start(p);
            let is_point = |x: &RowMat| p.check(x, "X").is_ok();
            return Ok(shared_start(p, &model, is_point, (work, seed), cancel));
        }
        "sequential" => return Ok(overshoot::one_by_one(&model)),
        "random" => random_point(p, seed, cancel),
        "grouped" => shared_rows::grouped(p, cancel),
        "selected" => shared_rows::selected(p, seed, cancel),
        _ if cardinality::STARTS.iter().any(|start| start.0 == name) => {
            let own = STARTS.iter().map(|s| s.0).collect::<Vec<_>>().join(", ");
            let why = format!("the start {name} is for variance; this problem has {own}, and ");
            return Err(Error::Incompatible(Message::from(why).then(instead("starts"))));
        }
        _ => return Err(unknown(name, STARTS)),
    };
    Ok(point.map(|at| at.x))
}
impl Family for MeasuredProblem {
    fn solvers(&self) -> &'static [SolverInfo<Self>] {
        if self.takes_one_by_one() { UNCORRELATED_SOLVERS } else { MEASURED_SOLVERS }
    }

    fn recipe(&self) -> Recipe {
        let starts = if self.takes_one_by_one() { uncorrelated::STARTS } else { STARTS };
        Recipe {
            starts,
            default_start: match self.between() {
                Between::Both => GROUPED.0,
                _ if self.order() == Order::Sequential => COORDINATES,
                _ => starts[0].0,
            },
            random_starts: &["deflation", "random"],
            feasibility: match self.between() {
                Between::Orthogonal => "||X'X - I||_F",
                Between::Uncorrelated => "of lengths and of correlations of scores",
                Between::Both => "||X'X - I||_F and correlations of scores",
            },
            criticality: "the gradient along the constraints on the support of X",
            has_local_solutions: self.order() == Order::Joint,
            has_pairs: false, // limits tie rows together
            ..Recipe::default()
        }
    }

    fn shape(&self) -> (usize, usize) {
        (self.nrows(), self.rank())
    }

    fn start_while(&self, name: &str, seed: u64, cancel: &Cancel) -> Result<RowMat> {
        if self.takes_one_by_one() {
            return uncorrelated::start(self, name, seed, cancel);
        }
        let mut found = named_start(self, name, seed, cancel)?;
        if found.is_none() && cancel.is_over() && name != COORDINATES {
            found = named_start(self, COORDINATES, seed, cancel)?; // what is there at once
        }
        let is_point = |x: &RowMat| self.check(x, "the starting point X").is_ok();
        let mut x = found.filter(is_point);
        // where C has less rank than X has columns, what explains nothing may end on supports that no X has; a search begins somewhere
        let begins = [PRUNED.0, K_COMPONENTS.0, SHARED.0].contains(&name);
        if x.is_none() && begins && self.between() == Between::Orthogonal {
            x = named_start(self, "random", seed, cancel)?.filter(is_point);
        }
        x.ok_or_else(|| {
            let what = match self.between() {
                Between::Orthogonal => "no X with X'X = I",
                Between::Uncorrelated => "no X with X'CX diagonal",
                Between::Both => "no X with X'X = I and X'CX diagonal",
            };
            let limits = self.limits().words();
            let instead = self.recipe().default_start;
            match STARTS.iter().find(|start| start.0 == name && name != instead) {
                Some((start, _)) => {
                    Error::NoPlace { start, why: format!("{what} and {limits} was found from it"), instead }
                }
                None => {
                    Error::Incompatible(format!("{what} and {limits} was found{}", why_none(self)).into())
                }
            }
        })
    }

    /// One that is not feasible, or has too many nonzeros, is pruned; rounded where components exist one by one.
    fn given(&self, x: &RowMat) -> Result<RowMat> {
        if (x.nrows(), x.ncols()) != self.shape() {
            self.check(x, "the starting point X")?;
        }
        let failed = || Error::Incompatible("no feasible X was found near the starting point X".into());
        if self.takes_one_by_one() {
            let is_point = self.check(x, "X").is_ok();
            return if is_point { Ok(x.clone()) } else { rounded(self, x).ok_or_else(failed) };
        }
        let model = SupportModel::of(self);
        let near = match self.allows(x) {
            true => overshoot::repaired(&model, x),
            false => overshoot::polished(&model, x),
        };
        near.map(|at| at.x).filter(|x| self.check(x, "X").is_ok()).ok_or_else(failed)
    }

    /// One after the other there is one way; together a search.
    fn plan(&self, wanted: &Request) -> Result<Plan<Self>> {
        let mut plan = Plan::by_default(self, wanted)?;
        let unnamed = wanted.solver.is_none() && wanted.init.is_none() && wanted.effort.is_none();
        if excludes_nothing(self) && unnamed {
            plan.reasons = vec!["the limit excludes no X: plain PCA".into()]; // nothing of it is pruned
            return Ok(plan);
        }
        if wanted.solver.is_none() && self.order() == Order::Joint {
            plan.reasons.clear();
            let make = if self.takes_one_by_one() { uncorrelated::portfolio } else { portfolio };
            plan.portfolio = Some(make(self, &plan.options, wanted.start(), wanted.tuning)?);
        }
        Ok(plan)
    }

    fn bounded(&self) -> Result<(&AnySmooth, bound::Kind)> {
        if !self.between().is_orthogonal() {
            return Err(bound::no_bound(
                "the relaxation over the Fantope holds for orthogonal loadings only",
            ));
        }
        let lambda = self.lambda();
        let kind = match (self.f.measure(), self.limits()) {
            // scores of few variables may predict as much as principal components do
            (Measure::Explained, _) => bound::Kind::L0 { lambda: 0.0 },
            (_, Cardinality::Components(list)) => bound::Kind::Counts { nonzeros: list.clone(), lambda },
            (_, Cardinality::Total(s) | Cardinality::Rows(s)) => bound::Kind::Total { nonzeros: *s, lambda },
        };
        Ok((self.f.quadratic(), kind))
    }

    fn proved_with(&self, known: Option<&RowMat>, work: u64, cancel: &Cancel) -> Option<bound::Bound> {
        match excludes_nothing(self) && known.is_some() {
            true => cardinality::proof_of_plain(self, known, work, cancel),
            false => supports_proof::proved_with_work(self, known, work, cancel),
        }
    }

    /// The better one of the bounds of variance, as −½ φ is not below it, and of lists of supports, or where these are too long of
    /// whitened scores.
    fn lower_bound(
        &self,
        x: Option<&RowMat>,
        options: &bound::Options,
        cancel: &Cancel,
        show: bound::Show<'_>,
    ) -> Result<bound::Bound> {
        let (f, kind) = self.bounded()?;
        let cancel = cancel.within(options.seconds);
        let x = x.map(|x| self.given(x)).transpose()?;
        let point =
            x.as_ref().map(|x| bound::Point { objective: self.value(x), feasibility: self.feasibility(x) });
        let known = x.as_ref().zip(point).filter(|(_, p)| {
            options.nodes > 0 && p.objective < 0.0 && supports_proof::listed(self).is_some()
        });
        // lists of supports have multipliers of their own, but long ones may be cut off before anything is proved of them
        let short = known.is_some()
            && !supports_proof::listed(self).is_some_and(|l| bound::lists_are_long(self.nrows(), &l));
        let iterations = if short { 0 } else { options.iterations };
        let seconds = options.seconds.map(|all| if known.is_some() { BEFORE_LISTS * all } else { all });
        // the work is for the lists
        let plain = bound::Options { nodes: 0, iterations, seconds, work: None, ..options.clone() };
        let mut found = bound::lower_bound(f, self.rank(), &kind, None, &plain, &cancel, show)?;
        let listed = known.and_then(|(x, point)| {
            supports_proof::proved_by_supports(
                self,
                found.clone(),
                (x, point.objective),
                options,
                &cancel,
                show,
            )
        });
        if let (Some(proved), Some(point), Some(x)) = (listed, point, &x) {
            let best = proved.x.as_ref().unwrap_or(x);
            let point = match &proved.x {
                Some(x) => bound::Point { objective: self.value(x), feasibility: self.feasibility(x) },
                None => point,
            };
            let claim = proved.beside_x(point, best)?;
            return Ok(bound::Bound {
                value: claim.bound,
                gap: claim.gap,
                proof: claim.proof,
                seconds: cancel.seconds(),
                ..proved
            });
        }
        let matrix = self.f.covariance().matrix();
        let measured = matches!(self.f.measure(), Measure::Adjusted | Measure::Polar);
        if let Some(c) = matrix.filter(|c| measured && c.nrows() <= DECOMPOSED) {
            let known = point.map_or(0.0, |p| -2.0 * p.objective / self.f.covariance().unit());
            let most = bound::adjusted(
                c,
                self.limits(),
                self.share().max,
                self.rank(),
                known,
                (options.work, &cancel),
            );
            if let Some((most, steps)) = most {
                let value = -0.5 * most * self.f.covariance().unit();
                if value > found.value {
                    (found.value, found.method) = (value, bound::Method::Scores);
                    found.iterations += steps;
                }
            }
            if cancel.is_over() {
                found.end = if cancel.is_cancelled() { bound::End::Interrupted } else { bound::End::Time };
            }
        }
        let claim = bound::Claim::new(found.value, point, found.size, options.gap)?;
        Ok(bound::Bound {
            value: claim.bound,
            objective: point.map(|p| p.objective),
            gap: claim.gap,
            proof: claim.proof,
            x: None,
            seconds: cancel.seconds(),
            ..found
        })
    }

    /// Not for what scores explain by regression, which is a sum over all variables.
    fn narrow(&self, _: Option<(u64, &Cancel)>) -> Option<MaybeOwned<'_, Self>> {
        let takes = self.order() == Order::Joint && self.f.measure() != Measure::Explained;
        (takes && !self.takes_one_by_one()).then_some(MaybeOwned::Own(self))
    }

    fn explained_variance(&self, x: &RowMat) -> Option<ExplainedVariance> {
        Some(variance_in_time(self.f.quadratic(), self.f.measures(x), x)?.of(self.f.measure()))
    }

    fn covariance(&self) -> Option<&AnySmooth> {
        Some(self.f.quadratic())
    }

    fn order_components(&self, solution: &mut Solution) {
        if self.takes_one_by_one() {
            let x = Some(&solution.x).filter(|_| !self.f.is_in_given_order());
            if let Some(x) = x.and_then(|x| by_variance(self.f.quadratic(), x)) {
                solution.x = x;
            }
        } else if self.order() == Order::Joint {
            if self.between().is_orthogonal() {
                // what scores predict does not depend on their axes; other measures are at their best there
                turn_to_principal_axes(self, self.f.quadratic(), |x| self.allows(x), solution);
            }
            if !self.f.is_in_given_order() {
                // that in which adjusted variance takes them
                let order = self.f.order_of(&solution.x);
                let x = &solution.x;
                solution.x = RowMat::from_fn(x.nrows(), x.ncols(), |i, k| x.get(i, order[k]));
            }
            solution.objective = self.objective(&solution.x);
        }
    }

    fn check(&self, x: &RowMat, what: &str) -> Result<()> {
        Self::check(self, x, what)
    }

    fn criticality(&self, x: &RowMat, _: &Cancel) -> Option<f64> {
        match self.takes_one_by_one() {
            true => criticality(self.f.quadratic(), x),
            false => SupportModel::of(self).criticality(x),
        }
    }
}

/// What uncorrelated scores cost beside orthogonal loadings: what the moves find from X without the former.
pub(super) fn price(p: &MeasuredProblem, x: &RowMat) -> Option<Message> {
    if p.between() != Between::Both {
        return None;
    }
    let seconds = Cancel::never().within(Some(PRICE));
    let model = SupportModel::of(p).for_orthogonal().until(&seconds);
    let other = overshoot::climbed(&model, overshoot::polished(&model, x)?, &Cancel::never())?;
    let share = |x: &RowMat| 100.0 * explained_variance(p.f.quadratic(), x).projected;
    let (own, other) = (share(x), share(&other.x));
    Some(
        format!(
            "uncorrelated scores cost {:.1} % of the variance: {own:.1} % here, {other:.1} % found with orthogonal loadings alone",
            (other - own).max(0.0)
        )
        .into(),
    )
}

impl Reducible<Self> for MeasuredProblem {
    fn form(&self) -> &AnySmooth {
        self.f.quadratic()
    }

    /// That of a product with C, where C is kept.
    fn gradient(&self) -> u64 {
        let (n, r) = self.shape();
        let kept = if self.f.covariance().matrix().is_some() { n * n * r } else { 0 };
        cost_of_gradient(self.form(), (n, r)).max(kept as u64)
    }

    fn on_variables(&self, variables: &[usize]) -> Result<Self> {
        Self::on_variables(self, variables)
    }

    fn least(&self) -> usize {
        self.limits().total().max(self.rank())
    }

    fn needed(&self, _y: &RowMat) -> usize {
        self.least()
    }

    fn settles(&self) -> Option<(&'static str, Option<u64>)> {
        Some((NAME, Some(T.polish)))
    }

    /// Those that an exchange brings which lowers F.
    fn first_point(&self, work: u64, seed: u64, cancel: &Cancel) -> Option<RowMat> {
        let x = clustered_start(self, work, seed, cancel);
        x.filter(|x| self.check(x, "X").is_ok())
    }

    fn polisher(&self) -> &'static str {
        "overshoot"
    }

    fn entrants(&self, x: &RowMat, cancel: &Cancel) -> Vec<usize> {
        let model = SupportModel::of(self).until(cancel);
        let better = overshoot::repaired(&model, x).and_then(|at| model.exchange(&at));
        let has = |x: &RowMat, i: usize| x.row(i).iter().any(|v| *v != 0.0);
        better.map_or_else(Vec::new, |at| (0..x.nrows()).filter(|i| has(&at.x, *i) && !has(x, *i)).collect())
    }
}

/// Arms and moves of the search.
fn portfolio(
    p: &MeasuredProblem,
    options: &SolverOptions,
    start: Option<&Start>,
    tuning: Tuning,
) -> Result<Portfolio<MeasuredProblem>> {
    // before any task, which would count it as work of its own
    p.f.prepare();
    let gradient = cost_of_gradient(p.f.quadratic(), p.shape());
    let table = match p.between() {
        Between::Orthogonal if excludes_nothing(p) => PLAIN,
        Between::Orthogonal if p.f.measure() == Measure::Explained => EXPLAINED,
        Between::Orthogonal if is_crowded(p.limits(), p.shape()) && p.rank() > MANY => CROWDED_OF_MANY,
        Between::Orthogonal if is_crowded(p.limits(), p.shape()) => CROWDED,
        Between::Orthogonal if p.rank() > MANY => ARMS_OF_MANY,
        Between::Orthogonal => ARMS,
        Between::Uncorrelated => TIED,
        Between::Both => BOTH,
    };
    let tuning = Tuning { longest: tuning.longest_of_measures, ..tuning };
    let mut all = race(p, table, options, start, (gradient, Some(NAME)), tuning)?;
    all.polish = tuning.polish_at(gradient);
    let polish = Polish { solver: Arc::new(|_| AnySolver::new(Overshoot)), most: all.polish };
    all.moves =
        vec![Arc::new(Polished(Rotate, polish.clone())), Arc::new(Polished(Together, polish.clone()))];
    if !is_crowded(p.limits(), p.shape()) {
        all.moves.push(Arc::new(Polished(Regrown { most: all.polish }, polish.clone())));
    }
    if p.between() == Between::Both {
        all.moves.push(Arc::new(Polished(Regroup, polish)));
    }
    Ok(all)
}

/// R with C = RᵀR of samples, for measures that need it and unless they are many.
fn root_of(data: &PcaData<'_>, measure: Measure) -> Result<Option<Root>> {
    let (n, m) = (data.ncols(), data.samples().unwrap_or(0));
    if measure == Measure::Variance || !Root::takes(m, n) {
        return Ok(None);
    }
    Ok(Some(Root::of_samples(&data.variables()?)))
}

/// Poses the problem: limits as given, the knee of the variance explained, or all entries at the price λ.
///
/// # Errors
/// A problem that has no such measure; limits, ranks or numbers out of range; data that are not what they should be.
pub(super) fn pose_measured(
    info: &'static ProblemInfo,
    data: &PcaData<'_>,
    options: &Request,
    measure: Measure,
) -> Result<Posed> {
    let mut reasons = Vec::new();
    let penalty = options.penalty.as_deref().unwrap_or(info.penalty);
    if info.kind != Kind::Pca || !matches!(penalty, "l0" | "none") || options.map().is_some() {
        let option = if options.between().is_uncorrelated() { "constraint" } else { "maximise" };
        return Err(Error::Incompatible(
            Message::about(option).text(" is for l0-pca and pca, with lambda or limits of nonzeros"),
        ));
    }
    let limit = options.limit();
    let limit = limit.as_ref();
    let is_pca = penalty == "none" && (options.between() == Between::Both || measure != Measure::Variance);
    if limit.is_none() && !is_pca && options.between().is_uncorrelated() {
        let what = format!(" {} needs a number of nonzeros for each component: ", options.between().name());
        return Err(Error::Incompatible(Message::about("constraint").text(what).option("nonzeros")));
    }
    let (f, rank, limits) = limited(data, options, &mut reasons)?;
    let n = data.ncols();
    let weighed = limit.is_none() && penalty == "l0";
    let lambda = match (options.relative_lambda, options.lambda) {
        (Some(share), _) => Some(relative_lambda(&f, penalty, share, options.unit(), &mut reasons)?),
        (None, None) if weighed => {
            let share = find_penalty(penalty)?.lambda_share.unwrap_or(0.0);
            Some(default_lambda(&f, rank, share, options.unit(), &mut reasons))
        }
        (None, given) => given,
    };
    let f = match data.samples() {
        // C is what it should be, and scores of the samples themselves have all digits
        Some(_) => Measured::of(f, measure, root_of(data, measure)?),
        None => Measured::new(f, measure)?,
    };
    let mut problem = MeasuredProblem::new(f, rank, limits, lambda.unwrap_or(0.0), options.between())?;
    if options.min_nonzeros.is_some() || options.max_nonzeros.is_some() {
        let share = Share { min: options.min_nonzeros.unwrap_or(1), max: options.max_nonzeros.unwrap_or(n) };
        problem = problem.shared(share)?;
    }
    if options.order.unwrap_or_default() == Order::Sequential {
        problem = problem.in_sequence()?;
    }
    let limits = Some(problem.limits().clone());
    let constraint = match options.between() {
        Between::Orthogonal => "X'X = I",
        Between::Uncorrelated => "columns of length 1, X'CX diagonal",
        Between::Both => "X'X = I, X'CX diagonal",
    };
    let what = match measure {
        Measure::Variance => "<X, CX>",
        Measure::Adjusted => "adjusted variance",
        Measure::Polar => "polar variance",
        Measure::Explained => "explained variance",
    };
    let of = if options.between().is_uncorrelated() { " with uncorrelated scores" } else { "" };
    let statement = Cow::from(format!("sparse PCA{of}: min -1/2 {what} + lambda ||X||_0, {constraint}"));
    let problem = AnyProblem::Measured(problem);
    let notes =
        limit.zip(limits.as_ref()).map(|(limit, kept)| excess(limit, rank, kept, data)).unwrap_or_default();
    Ok(Posed { lambda, limits, notes, ..Posed::new(info, statement, problem, rank, reasons) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use orthopt_core::problem::{Storage, covariance_model};

    fn why(r: usize, counts: usize, between: Between) -> String {
        let a = Mat::from_fn(3, 200, |i, j| ((7 * i + j * j) as f64).cos());
        let f = covariance_model(&PcaData::Dense(a.as_ref()), Storage::Auto).unwrap();
        let f = Measured::new(f, Measure::Adjusted).unwrap();
        let limits = Cardinality::Components(vec![counts; r]);
        why_none(&MeasuredProblem::new(f, r, limits, 0.0, between).unwrap())
    }

    /// The reason why there is no X is the one that the numbers show, and so is the advice.
    #[test]
    fn the_reason_fits_the_numbers() {
        let too_few = why(6, 2, Between::Uncorrelated);
        assert!(too_few.contains("15 equations") && too_few.ends_with("allow more nonzeros"), "{too_few}");
        let too_many = why(181, 150, Between::Uncorrelated);
        assert!(too_many.contains("16471 equations"), "{too_many}");
        assert!(too_many.ends_with("ask for fewer components"), "{too_many}");
        for (r, between) in [(180, Between::Uncorrelated), (3, Between::Orthogonal)] {
            assert_eq!(why(r, 150, between), ": allow more nonzeros");
        }
    }
}
