//! Composite problems by name: solvers, starts and defaults.

use super::portfolio::{cost_of_gradient, race};
use super::{Family, Plan, Recipe, Request};
use orthopt_core::certify::{Certificate, RowOffers, Scope, certify};
use orthopt_core::composite::criticality;
use orthopt_core::concave::Concave;
use orthopt_core::constraint::Constraint;
use orthopt_core::linear_map::LinearMap;
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::objective::{Evaluate, size};
use orthopt_core::problem::{CompositeProblem, PcaProblem, Problem, by_variance};
use orthopt_core::smooth::AnySmooth;
use orthopt_core::solve::Solution;
use orthopt_core::solve::info::SolverInfo;
use orthopt_core::start::Start;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::Result;
use orthopt_linalg::long::is_left;
use orthopt_solvers::COMPOSITE_SOLVERS;
use orthopt_solvers::preset::Domain;

/// Starting points of composite problems; the paper's, a random one, comes first.
pub(super) const STARTS: &[(&str, &str)] = &[
    ("random", "Q of a Gaussian matrix"),
    ("pca", "the r leading eigenvectors of C"),
    ("coordinates", "the r variables with the largest variance"),
    ("identity", "the first r columns of the identity"),
    ("partition", "a random partition of the variables, one group per component"),
];

/// Arms: splitting methods, each followed by OBCD where there are `pairs`; OBCD `alone` where h does not suit
/// them. Dense starts of a nonnegative X do not exist.
fn arms(alone: bool, pairs: bool, nonneg: bool) -> Vec<(String, &'static str)> {
    let starts: &[&str] =
        if nonneg { &["partition", "pca", "coordinates"] } else { &["random", "pca", "coordinates"] };
    let solvers: &[&str] = if alone { &["obcd"] } else { &["oadmm", "manial", "radmm"] };
    let then = if pairs && !alone { "+obcd" } else { "" };
    let mut all = Vec::new();
    for (k, solver) in solvers.iter().enumerate() {
        // all starts for the first one
        let few = if k == 0 { starts.len() } else { 2 };
        all.extend(starts.iter().take(few).map(|start| (format!("{solver}{then}"), *start)));
    }
    if pairs && !alone {
        all.push(("obcd".into(), starts[2]));
    }
    all
}

/// True if OBCD takes the problem: h is a sum over the entries of X itself.
fn takes_pairs(p: &CompositeProblem) -> bool {
    p.a.is_identity() && p.h.row_weight().is_none()
}

/// f + h, where there is no more to the problem and pairs of rows can be solved.
pub(super) fn plain(p: &CompositeProblem) -> Option<PcaProblem> {
    if !takes_pairs(p) || !p.g.is_zero() {
        return None;
    }
    Problem::new(p.f.clone(), p.h.clone(), p.rank()).ok()
}

impl Family for CompositeProblem {
    fn solvers(&self) -> &'static [SolverInfo<Self>] {
        COMPOSITE_SOLVERS
    }

    /// An iteration of OADMM is a gradient: one start is enough.
    fn recipe(&self) -> Recipe {
        let has_pairs = takes_pairs(self) && self.g.is_zero();
        Recipe { starts: STARTS, auto_effort: 0, has_pairs, ..Recipe::default() }
    }

    fn shape(&self) -> (usize, usize) {
        Self::shape(self)
    }

    fn start_while(&self, name: &str, seed: u64, _: &Cancel) -> Result<RowMat> {
        Start::parse(name)?.point(&self.f, self.rank(), self.requires_nonneg(), seed)
    }

    fn given(&self, x: &RowMat) -> Result<RowMat> {
        Start::Given(x.clone()).point(&self.f, self.rank(), false, 0)
    }

    /// OADMM with fast constants, then OBCD, which lowers F further without a linear map (suite
    /// `dc` of the benchmarks); OBCD alone where h does not suit OADMM.
    fn plan(&self, request: &Request) -> Result<Plan<Self>> {
        if request.solver.is_some() {
            return Plan::by_default(self, request);
        }
        let pairs = takes_pairs(self);
        let (solver, why) = match (Domain::SPLITTING.takes(&self.h), pairs) {
            (true, true) => {
                ("oadmm+obcd", "a splitting method, then descent on pairs of rows from its result")
            }
            (true, false) => ("oadmm", "obcd takes neither a linear map nor l21"),
            (false, _) => ("obcd", "the penalty is not weakly convex and Lipschitz"),
        };
        let mut plan = Plan::by_default(self, &Request { solver: Some(solver.into()), ..request.clone() })?;
        plan.reasons.push(format!("solver {solver}: {why}").into());
        plan.chosen = true;
        let table: Vec<(String, &str)> = arms(solver == "obcd", pairs, self.requires_nonneg());
        let table: Vec<_> = table.iter().map(|(chain, from)| (chain.as_str(), *from)).collect();
        let gradient = cost_of_gradient(&self.f, self.shape());
        let settle = pairs.then_some("obcd");
        plan.portfolio =
            Some(race(self, &table, &plan.options, request.start(), (gradient, settle), request.tuning)?);
        Ok(plan)
    }

    fn covariance(&self) -> Option<&AnySmooth> {
        Some(&self.f)
    }

    /// Where A acts on columns the order is not free, and is kept.
    fn order_components(&self, solution: &mut Solution) {
        let Some(x) = by_variance(&self.f, &solution.x) else { return };
        let objective = self.objective(&x);
        if objective.total <= solution.objective.total + 1e-12 * size(self.scale(&x), objective.total) {
            solution.feasibility = self.feasibility(&x);
            (solution.x, solution.objective) = (x, objective);
        }
    }

    fn check(&self, x: &RowMat, what: &str) -> Result<()> {
        self.constraint.check(x, what)
    }

    fn criticality(&self, x: &RowMat, cancel: &Cancel) -> Option<f64> {
        criticality(self, x, cancel)
    }

    /// Where g = 0 and A is the identity; a pair with g is not solved globally.
    fn block_stationarity(&self, x: &RowMat, scope: Scope, cancel: &Cancel) -> Option<Certificate> {
        if is_left(x.nrows() * x.ncols().pow(2)) {
            return None; // a gradient is long
        }
        Some(certify(&RowOffers::new(&plain(self)?, x), scope, cancel))
    }
}
