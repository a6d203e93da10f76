//! Sparse PCA with uncorrelated instead of orthogonal components, by name: starts, what the search is made of, and how
//! it is posed.

use std::borrow::Cow;
use std::sync::Arc;

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::cardinality::Limit;
use super::knee::Knee;
use super::measured::{self, pose_measured};
use super::portfolio::{cost_of_gradient, race};
use super::posed::{Posed, excess, rank_or_default};
use super::{AnyProblem, Family, Kind, Plan, ProblemInfo, Request};
use crate::search::cardinality_moves::{Anew, Shake};
use crate::search::measured_moves::{Overshot, Rotate};
use crate::search::moves::{Polish, Polished};
use crate::search::uncorrelated_moves::component_by_power;
use crate::search::{Portfolio, Tuning};
use orthopt_bound as bound;
use orthopt_core::certify::{Certificate, Scope};
use orthopt_core::problem::{
    ExplainedVariance, PcaData, by_variance, covariance_model, pca_share, variance_in_time,
};
use orthopt_core::smooth::{AnySmooth, Measure};
use orthopt_core::solve::AnySolver;
use orthopt_core::solve::Solution;
use orthopt_core::solve::info::{SolverInfo, SolverOptions};
use orthopt_core::start::Start;
use orthopt_limits::UNCORRELATED_SOLVERS;
use orthopt_limits::overshoot::{self, Overshoot, Point, SupportProblem};
use orthopt_limits::problem::{UncorrelatedProblem, takes_one_by_one};
use orthopt_limits::uncorrelated::{UncorrelatedExchange, criticality, rounded};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;

/// Poses the problem: numbers of nonzeros as given, or the knee of the variance explained.
pub(super) fn pose_uncorrelated(
    info: &'static ProblemInfo,
    data: &PcaData<'_>,
    options: &Request,
) -> Result<Posed> {
    let mut reasons = Vec::new();
    let limit = options.limit();
    let limit = limit.as_ref();
    let penalty = options.penalty.as_deref().unwrap_or(info.penalty);
    if info.kind != Kind::Pca || !matches!(penalty, "l0" | "none") || options.map().is_some() {
        return Err(refused(" uncorrelated is for l0-pca and pca with a number of nonzeros"));
    }
    let rank = match limit.and_then(Limit::rank).filter(|_| options.rank().is_none()) {
        Some(rank) => rank,
        None => rank_or_default(data, options, &mut reasons),
    };
    if rank == 0 || rank > data.ncols() {
        return Err(Error::Rank { rank, columns: data.ncols() }); // before any work
    }
    let counts = match limit {
        Some(Limit::Nonzeros(list)) if list.len() == 1 => Some(vec![list[0]; rank]),
        Some(Limit::Nonzeros(list)) if list.len() == rank => Some(list.clone()),
        Some(Limit::Nonzeros(list)) => {
            return Err(Error::InvalidOption {
                option: "nonzeros".into(),
                value: format!("{} numbers", list.len()),
                expected: format!("{rank}, one for each component, or rank {}", list.len()),
            });
        }
        Some(Limit::Knee) => None,
        Some(Limit::Variables(_)) => {
            return Err(refused(
                " uncorrelated is not needed with common variables: their components are \
                 eigenvectors, which are orthogonal and uncorrelated",
            ));
        }
        Some(Limit::Total(_)) => return pose_measured(info, data, options, Measure::Variance),
        None => {
            return Err(Error::Incompatible(
                Message::about("constraint")
                    .text(" uncorrelated needs a number of nonzeros for each component: ")
                    .option("nonzeros"),
            ));
        }
    };
    if counts.as_ref().is_some_and(|counts| !takes_one_by_one(counts)) {
        // components one by one may find no direction; all together may
        return pose_measured(info, data, options, Measure::Variance);
    }
    let lambda = options.lambda;
    let f = covariance_model(data, options.storage.unwrap_or_default())?;
    let counts = match counts {
        Some(counts) => counts,
        None => {
            let knee = Knee::of(&f, rank)?;
            reasons.push(knee.reason());
            vec![knee.count.max(rank); rank]
        }
    };
    let problem = UncorrelatedProblem::new(f, counts, lambda.unwrap_or(0.0))?;
    let limits = Some(orthopt_core::problem::Cardinality::Components(problem.nonzeros().to_vec()));
    let statement = Cow::from(
        "sparse PCA with uncorrelated scores: min -1/2 <X, CX> + lambda ||X||_0, columns of length 1, X'CX diagonal",
    );
    let problem = AnyProblem::Uncorrelated(problem);
    let notes =
        limit.zip(limits.as_ref()).map(|(limit, kept)| excess(limit, rank, kept, data)).unwrap_or_default();
    Ok(Posed { lambda, limits, notes, ..Posed::new(info, statement, problem, rank, reasons) })
}

fn refused(why: &'static str) -> Error {
    Error::Incompatible(Message::about("constraint").text(why))
}

/// Starting points, the default first.
pub(super) const STARTS: &[(&str, &str)] = &[
    (
        "deflation",
        "components one after the other by truncated power iterations, uncorrelated with those before",
    ),
    ("pca", "the r leading eigenvectors of C, the largest entries kept"),
    ("varimax", "eigenvectors rotated towards few large entries, the largest kept"),
    ("coordinates", "the r variables with the largest variance: entries enter one by one"),
    ("random", "the largest entries of a random orthonormal matrix"),
    measured::PRUNED,
    measured::APART,
];

/// Solvers and starts: neither solver is the better one on all data. No data set went into it.
const ARMS: &[(&str, &str)] = &[
    (NAME, "deflation"),
    (OVER, "pruned"),
    (OVER, "apart"),
    (NAME, "varimax"),
    (OVER, "varimax"),
    (NAME, "coordinates"),
];
const NAME: &str = "uncorrelated-exchange";
const OVER: &str = measured::NAME;

impl Family for UncorrelatedProblem {
    fn solvers(&self) -> &'static [SolverInfo<Self>] {
        UNCORRELATED_SOLVERS
    }

    fn starts(&self) -> &'static [(&'static str, &'static str)] {
        STARTS
    }

    fn shape(&self) -> (usize, usize) {
        (self.nrows(), self.rank())
    }

    fn start(&self, name: &str, seed: u64) -> Result<RowMat> {
        self.start_while(name, seed, &Cancel::never())
    }

    fn start_while(&self, name: &str, seed: u64, cancel: &Cancel) -> Result<RowMat> {
        let model = || self.support_model().until(cancel);
        let eigenvectors = || Start::Pca.point_while(&self.f, self.rank(), (false, 0), cancel);
        let guide = match name {
            "pruned" => return placed("pruned", overshoot::pruned(&model(), &eigenvectors()?)),
            "apart" => {
                let (model, shares) = (model(), self.nonzeros());
                let x = overshoot::apart(&model, shares, cancel);
                return placed("apart", x.and_then(|x| overshoot::polished(&model, &x)));
            }
            // there are no components to take away where C = 0: coordinates are uncorrelated then
            "deflation" => deflation(self, seed, cancel)
                .or_else(|| Start::Coordinates.point(&self.f, self.rank(), false, seed).ok()),
            _ => Some(Start::parse(name)?.point_while(&self.f, self.rank(), (false, seed), cancel)?),
        };
        guide.and_then(|guide| rounded(self, &guide)).ok_or_else(|| {
            Error::Incompatible("the data are zero or not finite: there is no component to find".into())
        })
    }

    fn has_chance(&self, start: &str) -> bool {
        matches!(start, "deflation" | "random")
    }

    /// One that is not feasible is rounded.
    fn given(&self, x: &RowMat) -> Result<RowMat> {
        if self.check(x, "the starting point X").is_ok() {
            return Ok(x.clone());
        }
        let failed = || Error::Incompatible("no feasible X was found near the starting point X".into());
        let fits = (x.nrows(), x.ncols()) == self.shape();
        fits.then(|| rounded(self, x)).flatten().ok_or_else(failed)
    }

    fn plan(&self, wanted: &Request) -> Result<Plan<Self>> {
        let mut plan = Plan::by_default(self, wanted)?;
        if wanted.solver.is_none() {
            plan.reasons.clear();
            plan.portfolio = Some(portfolio(self, &plan.options, wanted.start(), wanted.tuning)?);
        }
        Ok(plan)
    }

    fn feasibility_name(&self) -> &'static str {
        "of lengths and of correlations of scores"
    }

    fn bounded(&self) -> Result<(&AnySmooth, bound::Kind)> {
        Err(bound::no_bound("the relaxation over the Fantope holds for orthogonal loadings only"))
    }

    fn explained_variance(&self, x: &RowMat) -> Option<ExplainedVariance> {
        variance_in_time(&self.f, None, x)
    }

    fn pca_share(&self) -> Option<f64> {
        pca_share(&self.f, self.shape().1)
    }

    fn order_components(&self, solution: &mut Solution) {
        if self.nonzeros().iter().all(|s| *s == self.nonzeros()[0])
            && let Some(x) = by_variance(&self.f, &solution.x)
        {
            solution.x = x;
        }
    }

    fn check(&self, x: &RowMat, what: &str) -> Result<()> {
        Self::check(self, x, what)
    }

    fn criticality_name(&self) -> &'static str {
        "the gradient along the constraints on the support of X"
    }

    fn criticality(&self, x: &RowMat, _: &Cancel) -> Option<f64> {
        criticality(&self.f, x)
    }

    fn has_pairs(&self) -> bool {
        false // the scores tie rows together
    }

    /// Correlations tie rows together: no pair of rows is a problem of its own.
    fn block_stationarity(&self, _x: &RowMat, _scope: Scope, _: &Cancel) -> Option<Certificate> {
        None
    }
}

/// A point that was found from a start.
fn placed(start: &'static str, at: Option<Point>) -> Result<RowMat> {
    let why = || "no X with X'CX diagonal was found from it".to_string();
    at.map(|at| at.x).ok_or_else(|| Error::NoPlace { start, why: why(), instead: STARTS[0].0 })
}

/// Parts of the search for the best point.
fn portfolio(
    p: &UncorrelatedProblem,
    options: &SolverOptions,
    start: Option<&Start>,
    tuning: Tuning,
) -> Result<Portfolio<UncorrelatedProblem>> {
    // before any task, which would count it as work of its own; where C is not kept exchanges alone take little
    let overshoots = p.covariance().matrix().is_some();
    let gradient = cost_of_gradient(&p.f, p.shape());
    let mut table = ARMS.to_vec();
    table.retain(|(solver, _)| overshoots || *solver != OVER);
    let mut all = race(p, &table, options, start, (gradient, Some(NAME)), tuning)?;
    all.polish = tuning.polish_at(gradient);
    let polish = Polish { solver: Arc::new(|_| AnySolver::new(UncorrelatedExchange)), most: all.polish };
    all.moves = vec![Arc::new(Polished(Shake, polish.clone())), Arc::new(Polished(Anew, polish.clone()))];
    if overshoots {
        let polish = Polish { solver: Arc::new(|_| AnySolver::new(Overshoot)), ..polish };
        all.moves.push(Arc::new(Polished(Overshot, polish.clone())));
        all.moves.push(Arc::new(Polished(Rotate, polish)));
    }
    Ok(all)
}

/// Components one after the other from rows of large variance.
fn deflation(p: &UncorrelatedProblem, seed: u64, cancel: &Cancel) -> Option<RowMat> {
    let mut rng = Pcg64::seed_from_u64(seed ^ 0x554e_434f);
    let mut x = RowMat::zeros(p.nrows(), p.rank());
    for k in 0..p.rank() {
        let v = component_by_power(p, &x, p.nonzeros()[k], (&mut rng, cancel))?;
        v.iter().enumerate().for_each(|(i, e)| x.set(i, k, *e));
    }
    Some(x)
}
