//! Composite problems by name: solvers, starts and defaults.

use super::{Family, Plan, Wanted};
use crate::certify::{Certificate, RowOffers, Scope, certify};
use crate::composite::criticality;
use crate::concave::Concave;
use crate::constraint::Constraint;
use crate::error::Result;
use crate::linalg::RowMat;
use crate::linear_map::LinearMap;
use crate::problem::{CompositeProblem, ExplainedVariance, Problem, by_variance, explained_variance};
use crate::solve::Solution;
use crate::solvers::SolverInfo;
use crate::solvers::composite::COMPOSITE_SOLVERS;
use crate::solvers::composite::splitting::suits_splitting;
use crate::start::Start;

/// Starting points of composite problems; the paper's, a random one, comes first.
const STARTS: &[(&str, &str)] = &[
    ("random", "Q of a Gaussian matrix"),
    ("pca", "the r leading eigenvectors of C"),
    ("coordinates", "the r variables with the largest variance"),
    ("identity", "the first r columns of the identity"),
    ("partition", "a random partition of the variables, one group per component"),
];

impl Family for CompositeProblem {
    fn solvers() -> &'static [SolverInfo<Self>] {
        COMPOSITE_SOLVERS
    }

    fn starts() -> &'static [(&'static str, &'static str)] {
        STARTS
    }

    fn shape(&self) -> (usize, usize) {
        Self::shape(self)
    }

    fn start(&self, name: &str, seed: u64) -> Result<RowMat> {
        Start::parse(name)?.point(&self.f, self.rank(), self.requires_nonneg(), seed)
    }

    fn given(&self, x: &RowMat) -> Result<RowMat> {
        Start::Given(x.clone()).point(&self.f, self.rank(), false, 0)
    }

    /// OADMM with fast constants, then OBCD, which lowers F further without a linear map (suite
    /// `dc` of the benchmarks); OBCD alone where h does not suit OADMM.
    fn plan(&self, wanted: &Wanted) -> Result<Plan<Self>> {
        if wanted.solver.is_some() {
            return Plan::by_default(self, wanted);
        }
        let (solver, why) = match (suits_splitting(&self.h), self.a.is_identity()) {
            (true, true) => ("oadmm+obcd", "splitting finds the region, pairs of rows what is left to gain"),
            (true, false) => ("oadmm", "obcd has no linear map"),
            (false, _) => ("obcd", "the penalty is not weakly convex and Lipschitz"),
        };
        let mut plan = Plan::by_default(self, &Wanted { solver: Some(solver.into()), ..wanted.clone() })?;
        plan.reasons.push(format!("solver {solver}: {why}").into());
        Ok(plan)
    }

    /// An iteration of OADMM is a gradient: one start is enough.
    fn auto_effort(&self) -> u64 {
        0
    }

    fn explained_variance(&self, x: &RowMat) -> Option<ExplainedVariance> {
        Some(explained_variance(&self.f, x))
    }

    /// Where A acts on columns the order is not free, and is kept.
    fn order_components(&self, solution: &mut Solution) {
        let x = by_variance(&self.f, &solution.x);
        let objective = self.objective(&x);
        if objective.total <= solution.objective.total + 1e-12 * (1.0 + objective.total.abs()) {
            solution.feasibility = self.feasibility(&x);
            (solution.x, solution.objective) = (x, objective);
        }
    }

    fn check(&self, x: &RowMat, what: &str) -> Result<()> {
        self.constraint.check(x, what)
    }

    fn criticality(&self, x: &RowMat, keep_going: &(dyn Fn() -> bool + Sync)) -> Option<f64> {
        criticality(self, x, keep_going)
    }

    /// Where g = 0 and A is the identity; a pair with g is not solved globally.
    fn block_stationarity(
        &self,
        x: &RowMat,
        scope: Scope,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Option<Certificate> {
        if !self.a.is_identity() || !self.g.is_zero() {
            return None;
        }
        let plain = Problem::new(self.f.clone(), self.h.clone(), self.rank()).ok()?;
        Some(certify(&RowOffers::new(&plain, x), scope, keep_going))
    }
}
