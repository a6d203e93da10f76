//! A problem of any family: what is above the families (plans, searches, reports, front ends) is compiled for this type alone.
//!
//! Solvers, starts and moves are written for the type of their own family. A plan of one becomes a plan of [`AnyProblem`] with the
//! function that gives the problem back.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::in_unit::InUnit;
use super::narrow::{MaybeOwned, Reducible};
use super::{Family, Plan, Recipe, Request, composite, measured, supports_proof};
use crate::search::Effort;
use orthopt_bound as bound;
use orthopt_core::certify::{BlockReport, BlockScope, Certificate, Scope, block_k_stationarity};
use orthopt_core::constraint::j_orthogonal;
use orthopt_core::objective::{Evaluate, Objective};
use orthopt_core::problem::{
    CompositeProblem, ExplainedVariance, JProblem, NonlinearEigProblem, PcaProblem, SampleProblem, pca_share,
};
use orthopt_core::smooth::AnySmooth;
use orthopt_core::solve::Solution;
use orthopt_core::solve::info::SolverInfo;
use orthopt_limits::problem::{CardinalityProblem, MeasuredProblem};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::Result;
use orthopt_linalg::message::Message;

/// A problem of any family.
///
/// Exhaustive on purpose: a family that is not in the list below does not compile.
#[derive(Clone, Debug)]
pub enum AnyProblem {
    /// min −½⟨X, CX⟩ + h(X), XᵀX = I.
    Pca(PcaProblem),
    /// min −½⟨X, CX⟩ + λ‖X‖₀, XᵀX = I and a limit on nonzeros.
    Cardinality(CardinalityProblem),
    /// min −½ φ(X) + λ‖X‖₀ for a measure φ of what components explain, limits of nonzeros, and XᵀX = I, unit columns with XᵀCX
    /// diagonal, or both.
    Measured(MeasuredProblem),
    /// min f(X) − g(X) + h(A(X)), XᵀX = I.
    Composite(CompositeProblem),
    /// min f(X), XᵀJX = J.
    JOrthogonal(JProblem),
    /// min ½⟨X, CX⟩ + ⟨E, X⟩ + (λ/4) ρᵀC†ρ, XᵀX = I.
    NonlinearEig(NonlinearEigProblem),
    /// min f(AX), XᵀX = I.
    Samples(SampleProblem),
    /// Any of these for data far from 1, divided by a power of two.
    InUnit(Box<InUnit>),
}

impl AnyProblem {
    /// The problem of one family, for data divided by a power of two where they are far from 1.
    pub(super) fn near(&self) -> &Self {
        self.in_unit().map_or(self, |(near, _)| near)
    }

    /// Factor of F of [`near`](Self::near), a power of two.
    pub(super) fn unit(&self) -> f64 {
        self.in_unit().map_or(1.0, |(_, unit)| unit)
    }

    /// The bound with an X of its own whose rounding is zero.
    fn without_dust(&self, mut bound: bound::Bound) -> bound::Bound {
        bound.x = bound.x.map(|x| self.cleaned(&x).unwrap_or(x));
        bound
    }

    /// A feasibility that has been measured at X, divided by max(1, ‖X‖₂²), the unit in which rounding counts where ‖X‖ is not
    /// bounded; `None` where it is.
    pub fn relative_feasibility(&self, x: &RowMat, feasibility: f64) -> Option<f64> {
        match self.near() {
            Self::JOrthogonal(_) => j_orthogonal::relative(feasibility, x),
            _ => None,
        }
    }

    /// Share of the variance that PCA with as many components explains, where that means something.
    pub fn pca_share(&self) -> Option<f64> {
        pca_share(self.covariance()?, self.shape().1)
    }

    /// What a constraint of the problem costs at X, where that is asked first.
    pub(crate) fn price(&self, x: &RowMat) -> Option<Message> {
        match self.near() {
            Self::Measured(p) => measured::price(p, x),
            _ => None,
        }
    }

    /// True if a bound branches. That of a measure does so over lists of supports: adjusted and polar variance are at most the
    /// variance, but an X that is found for that need not be one for them.
    pub(crate) fn branches(&self) -> bool {
        let (n, r) = self.shape();
        match self.near() {
            Self::Measured(p) => supports_proof::listed(p).is_some(),
            _ => self.bounded().is_ok_and(|(_, kind)| bound::branches(&kind, r, n)),
        }
    }

    /// Decreases of F by blocks of more rows, by a search of some of them; `None` if rows are tied together, or
    /// f or h is not of the kind that blocks are searched for.
    pub fn block_k_stationarity(
        &self,
        x: &RowMat,
        scope: &BlockScope,
        cancel: &Cancel,
    ) -> Option<BlockReport> {
        let unit = self.unit();
        let scope = BlockScope { tolerance: scope.tolerance / unit, ..*scope };
        let found = match self.near() {
            Self::Pca(p) if p.recipe().has_pairs => block_k_stationarity(p, x, &scope, cancel),
            Self::Composite(p) => block_k_stationarity(&composite::plain(p)?, x, &scope, cancel),
            _ => return None,
        };
        Some(found.times(unit))
    }

    /// Data for an independent check of a bound of the problem.
    ///
    /// # Errors
    /// There is no bound, and why.
    pub fn dual(&self, bound: &bound::Bound) -> Result<bound::Dual> {
        let (unit, (f, _)) = (self.unit(), self.bounded()?);
        let (_, rank) = self.shape();
        Ok(bound.clone().times(1.0 / unit).dual(f, rank).times(unit))
    }

    /// The multipliers for a limit of nonzeros; `None` for other kinds, for too many variables, and where `cancel` ends it
    /// before there are any. `objective` is the lowest F known.
    ///
    /// # Errors
    /// There is no bound, and why; data that are not finite.
    pub fn limit_dual(&self, objective: Option<f64>, cancel: &Cancel) -> Result<Option<bound::LimitDual>> {
        let (unit, (f, kind)) = (self.unit(), self.bounded()?);
        let (_, rank) = self.shape();
        let dual = bound::limit_dual(f, rank, &kind, objective.map(|f| f / unit), cancel)?;
        Ok(dual.map(|dual| dual.times(unit)))
    }
}

/// A family that [`AnyProblem`] lists.
trait Member: Family {
    /// The problem again.
    fn of(named: &AnyProblem) -> &Self;

    /// As one of any family.
    fn named(self) -> AnyProblem;

    /// Its lists of solvers for such problems, each made once, by the address of the list.
    fn lifted() -> &'static Mutex<BTreeMap<usize, &'static [SolverInfo<AnyProblem>]>>;
}

macro_rules! members {
    ($($variant:ident($problem:ty)),*) => {
        $(impl Member for $problem {
            fn of(named: &AnyProblem) -> &Self {
                match named.near() {
                    AnyProblem::$variant(problem) => problem,
                    _ => unreachable!("the plan of a problem is used with that problem"),
                }
            }

            fn named(self) -> AnyProblem {
                AnyProblem::$variant(self)
            }

            fn lifted() -> &'static Mutex<BTreeMap<usize, &'static [SolverInfo<AnyProblem>]>> {
                static LIFTED: Mutex<BTreeMap<usize, &[SolverInfo<AnyProblem>]>> = Mutex::new(BTreeMap::new());
                &LIFTED
            }
        }

        impl From<$problem> for AnyProblem {
            fn from(problem: $problem) -> Self {
                AnyProblem::$variant(problem)
            }
        })*

        /// The same expression for the problem of any family, in its own unit.
        macro_rules! each {
            ($named:expr, $p:ident => $body:expr) => {
                match $named.near() {
                    $(AnyProblem::$variant($p) => $body,)*
                    AnyProblem::InUnit(_) => unreachable!("data that are divided by a power of two are near 1"),
                }
            };
        }
    };
}

members!(
    Pca(PcaProblem),
    Cardinality(CardinalityProblem),
    Measured(MeasuredProblem),
    Composite(CompositeProblem),
    JOrthogonal(JProblem),
    NonlinearEig(NonlinearEigProblem),
    Samples(SampleProblem)
);

fn solvers<P: Member>(problem: &P) -> &'static [SolverInfo<AnyProblem>] {
    let own = problem.solvers();
    let mut lifted = P::lifted().lock().unwrap_or_else(PoisonError::into_inner);
    lifted
        .entry(own.as_ptr().addr())
        .or_insert_with(|| own.iter().map(|s| s.lifted(P::of)).collect::<Vec<_>>().leak())
}

fn plan<P: Member>(problem: &P, request: &Request) -> Result<Plan<AnyProblem>> {
    let Plan { solvers: own, options, starts, reasons, chosen, portfolio, lower_bound } =
        problem.plan(request)?;
    let lifted = solvers(problem);
    let of_name = |name| lifted.iter().find(|solver| solver.name == name);
    let solvers = own.iter().filter_map(|solver| of_name(solver.name)).collect();
    let portfolio = portfolio.map(|portfolio| portfolio.lifted(P::of));
    Ok(Plan { solvers, options, starts, reasons, chosen, portfolio, lower_bound })
}

/// A problem of one family in which variables may be left out.
struct Lifted<'a, P>(MaybeOwned<'a, P>);

impl<P: Member> Reducible<AnyProblem> for Lifted<'_, P> {
    fn form(&self) -> &AnySmooth {
        self.0.form()
    }

    fn gradient(&self) -> u64 {
        self.0.gradient()
    }

    fn on_variables(&self, variables: &[usize]) -> Result<AnyProblem> {
        self.0.on_variables(variables).map(P::named)
    }

    fn least(&self) -> usize {
        self.0.least()
    }

    fn needed(&self, y: &RowMat) -> usize {
        self.0.needed(y)
    }

    fn settles(&self) -> Option<(&'static str, Option<u64>)> {
        self.0.settles()
    }

    fn on(&self) -> Option<String> {
        self.0.on()
    }

    fn is_an_end(&self, x: &RowMat, objective: f64, effort: Effort) -> bool {
        self.0.is_an_end(x, objective, effort)
    }

    fn first_point(&self, work: u64, seed: u64, cancel: &Cancel) -> Option<RowMat> {
        self.0.first_point(work, seed, cancel)
    }

    fn polisher(&self) -> &'static str {
        self.0.polisher()
    }

    fn entrants(&self, x: &RowMat, cancel: &Cancel) -> Vec<usize> {
        self.0.entrants(x, cancel)
    }
}

fn lifted<P: Member>(narrow: MaybeOwned<'_, P>) -> MaybeOwned<'_, AnyProblem> {
    MaybeOwned::Made(Box::new(Lifted(narrow)))
}

impl Evaluate for AnyProblem {
    fn value(&self, x: &RowMat) -> f64 {
        self.unit() * each!(self, p => Evaluate::value(p, x))
    }

    fn objective(&self, x: &RowMat) -> Objective {
        each!(self, p => Evaluate::objective(p, x)).times(self.unit())
    }

    fn evaluated(&self, x: &RowMat) -> (f64, Objective) {
        let (f, parts) = each!(self, p => Evaluate::evaluated(p, x));
        (self.unit() * f, parts.times(self.unit()))
    }

    fn scale(&self, x: &RowMat) -> f64 {
        self.unit() * each!(self, p => Evaluate::scale(p, x))
    }

    fn feasibility(&self, x: &RowMat) -> f64 {
        each!(self, p => Evaluate::feasibility(p, x))
    }

    fn is_sized(&self, x: &RowMat) -> bool {
        each!(self, p => Evaluate::is_sized(p, x))
    }

    fn nonneg_violation(&self, x: &RowMat) -> Option<f64> {
        each!(self, p => Evaluate::nonneg_violation(p, x))
    }

    fn asks_for_zeros(&self) -> bool {
        each!(self, p => Evaluate::asks_for_zeros(p))
    }

    fn cleaned(&self, x: &RowMat) -> Option<RowMat> {
        each!(self, p => Evaluate::cleaned(p, x))
    }
}

impl Family for AnyProblem {
    fn in_unit(&self) -> Option<(&Self, f64)> {
        match self {
            Self::InUnit(far) => Some((&far.near, far.of_f())),
            _ => None,
        }
    }

    fn solvers(&self) -> &'static [SolverInfo<Self>] {
        each!(self, p => solvers(p))
    }

    fn recipe(&self) -> Recipe {
        each!(self, p => Family::recipe(p))
    }

    fn shape(&self) -> (usize, usize) {
        each!(self, p => Family::shape(p))
    }

    fn start_while(&self, name: &str, seed: u64, cancel: &Cancel) -> Result<RowMat> {
        each!(self, p => Family::start_while(p, name, seed, cancel))
    }

    fn given(&self, x: &RowMat) -> Result<RowMat> {
        each!(self, p => Family::given(p, x))
    }

    fn plan(&self, request: &Request) -> Result<Plan<Self>> {
        each!(self, p => plan(p, request))
    }

    fn known_optimum(&self) -> Option<f64> {
        each!(self, p => Family::known_optimum(p)).map(|f| self.unit() * f)
    }

    fn bounded(&self) -> Result<(&AnySmooth, bound::Kind)> {
        each!(self, p => Family::bounded(p))
    }

    fn lower_bound(
        &self,
        x: Option<&RowMat>,
        options: &bound::Options,
        cancel: &Cancel,
        show: bound::Show<'_>,
    ) -> Result<bound::Bound> {
        let unit = self.unit();
        if unit == 1.0 {
            let bound = each!(self, p => Family::lower_bound(p, x, options, cancel, show))?;
            return Ok(self.without_dust(bound));
        }
        let mut options = options.clone();
        if let Some(warm) = &mut options.warm {
            warm.times(1.0 / unit);
        }
        let show = |now: &bound::Progress| show(&now.times(unit));
        let bound = each!(self, p => Family::lower_bound(p, x, &options, cancel, &show))?;
        Ok(self.without_dust(bound.times(unit)))
    }

    fn proved_with(&self, known: Option<&RowMat>, work: u64, cancel: &Cancel) -> Option<bound::Bound> {
        each!(self, p => Family::proved_with(p, known, work, cancel)).map(|bound| bound.times(self.unit()))
    }

    fn narrow(&self, low_rank: Option<(u64, &Cancel)>) -> Option<MaybeOwned<'_, Self>> {
        each!(self, p => Family::narrow(p, low_rank).map(lifted))
    }

    fn covariance(&self) -> Option<&AnySmooth> {
        each!(self, p => Family::covariance(p))
    }

    fn explained_variance(&self, x: &RowMat) -> Option<ExplainedVariance> {
        each!(self, p => Family::explained_variance(p, x))
    }

    fn order_components(&self, solution: &mut Solution) {
        each!(self, p => Family::order_components(p, solution))
    }

    fn check(&self, x: &RowMat, what: &str) -> Result<()> {
        each!(self, p => Family::check(p, x, what))
    }

    fn criticality(&self, x: &RowMat, cancel: &Cancel) -> Option<f64> {
        each!(self, p => Family::criticality(p, x, cancel)).map(|size| self.unit() * size)
    }

    fn block_stationarity(&self, x: &RowMat, scope: Scope, cancel: &Cancel) -> Option<Certificate> {
        each!(self, p => Family::block_stationarity(p, x, scope, cancel))
            .map(|found| found.times(self.unit()))
    }
}
