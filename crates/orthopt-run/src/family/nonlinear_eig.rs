//! The nonlinear eigenvalue problem.

use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;

use super::portfolio::{cost_of_gradient, race};
use super::{Family, Kind, ProblemInfo};
use crate::family::{Plan, Recipe, Request};
use orthopt_core::certify::{Certificate, CircleOffers, Scope, certify, criticality_while};
use orthopt_core::constraint::stiefel;
use orthopt_core::problem::NonlinearEigProblem;
use orthopt_core::solve::info::{SolverInfo, join};
use orthopt_core::start::{Start, unknown};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_solvers::{nonlinear_obcd, second_order, smooth_only};

/// E of ⟨E, X⟩, as a user names it.
#[derive(Clone, Debug)]
pub enum LinearInput {
    /// The matrix itself, n × r.
    Given(RowMat),
    /// Standard normal numbers from this seed: what the first version of the OBCD paper seems to
    /// use, as its F_min for λ = 1 agree with it.
    Normal(u64),
}

impl LinearInput {
    /// True if a text is `randn`, with or without a seed.
    pub fn is_normal(text: &str) -> bool {
        text.strip_prefix("randn").is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
    }

    /// `randn` or `randn:SEED`.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse(text: &str) -> Result<Self> {
        if text == "randn" {
            return Ok(Self::Normal(0));
        }
        let seed = text.strip_prefix("randn:").and_then(|seed| seed.parse().ok());
        seed.map(Self::Normal).ok_or_else(|| Error::InvalidOption {
            option: "linear".into(),
            value: text.into(),
            expected: match Self::is_normal(text) {
                true => "randn or randn:SEED with a whole number >= 0",
                false => "an n x r matrix or randn[:SEED]",
            }
            .into(),
        })
    }

    /// E for X of n × r.
    pub fn matrix(&self, n: usize, r: usize) -> RowMat {
        match self {
            Self::Given(e) => e.clone(),
            Self::Normal(seed) => {
                let mut rng = Pcg64::seed_from_u64(*seed);
                RowMat::from_fn(n, r, |_, _| rng.sample(StandardNormal))
            }
        }
    }
}

/// Entry of the registry.
pub const INFO: ProblemInfo = ProblemInfo {
    name: "nonlinear-eig",
    kind: Kind::NonlinearEig,
    penalty: "none",
    uses_lambda: true,
    doc: "nonlinear eigenvalue problem: min 1/2 <X, CX> + <E, X> + lambda/4 rho'C^+ rho, rho = diag(XX'), X'X = I",
};

/// Solvers for it.
pub static SOLVERS: &[SolverInfo<NonlinearEigProblem>] =
    &join::<_, 15>(&[&nonlinear_obcd::SOLVERS, smooth_only(), second_order()]);

/// Starting points, the default first.
pub(super) const STARTS: &[(&str, &str)] = &[
    ("random", "Q of a Gaussian matrix"),
    ("identity", "the first r columns of the identity"),
    ("eigen", "the r eigenvectors of C for its smallest eigenvalues"),
];

/// Smooth methods of the race and where they begin; `None` is the one that f suits best. The step of `foforth-gr` is that of
/// the gradient alone and leads to other minima than those of the projected one.
const ARMS: &[(Option<&str>, &str)] = &[
    (None, "random"),
    (Some("foforth-gr"), "random"),
    (None, "eigen"),
    (Some("optm-cayley"), "random"),
    (Some("foforth-gr"), "eigen"),
];

/// Largest n for which passes over all pairs follow by themselves. Two passes take some 5 µs·n², which
/// for larger n is many times what the smooth solvers take.
const PAIRS_LIMIT: usize = 100;

impl Family for NonlinearEigProblem {
    fn solvers(&self) -> &'static [SolverInfo<Self>] {
        SOLVERS
    }

    /// An iteration is a gradient: without a request for more one run from each start is enough.
    fn recipe(&self) -> Recipe {
        Recipe { starts: STARTS, auto_effort: 0, has_pairs: self.f.has_inverse(), ..Recipe::default() }
    }

    fn shape(&self) -> (usize, usize) {
        (self.nrows(), self.rank())
    }

    fn start_while(&self, name: &str, seed: u64, _: &Cancel) -> Result<RowMat> {
        let (n, r) = self.shape();
        match name {
            "random" => Ok(stiefel::random(n, r, &mut Pcg64::seed_from_u64(seed ^ 0x4e4c_4549_475f_5830))),
            "identity" => Ok(RowMat::from_fn(n, r, |i, k| f64::from(u8::from(i == k)))),
            "eigen" => {
                let mut x = self.f.lowest_eigenvectors(r);
                stiefel::repair_on_support(&mut x);
                Ok(x)
            }
            _ => Err(unknown(name, STARTS)),
        }
    }

    /// With no solver named: a race of smooth methods from random points and from eigenvectors, as F has many local
    /// minima, and fresh starts of those that did well. The first is the fastest one on the Laplacians of the literature
    /// (`orthopt-bench nonlinear`), with the multiplier correction where there is a linear term. Where n is small passes of
    /// OBCD over all pairs follow, which end block-2 stationary, so that no end is a saddle point.
    fn plan(&self, request: &Request) -> Result<Plan<Self>> {
        if request.solver.is_some() {
            return Plan::by_default(self, request);
        }
        let mut reasons = Vec::new();
        let smooth = if self.f.has_linear() { "foforth-qr" } else { "optm-qr" };
        let corrects = if self.f.has_linear() { ", with the multiplier correction for E" } else { "" };
        reasons.push(format!("solver {smooth}: full gradients with Barzilai-Borwein steps{corrects}").into());
        let has_pairs = self.nrows() <= PAIRS_LIMIT;
        let then = if has_pairs { "+obcd" } else { "" };
        if has_pairs {
            reasons.push("then obcd: pairs of rows, solved globally, until none lowers F".into());
        }
        let solver = format!("{smooth}{then}");
        let mut plan = Plan::by_default(self, &Request { solver: Some(solver.clone()), ..request.clone() })?;
        if request.init.is_none() {
            plan.starts.push(Start::named("eigen"));
        }
        let arms = ARMS.iter().map(|(first, start)| (format!("{}{then}", first.unwrap_or(smooth)), *start));
        let table: Vec<(String, &str)> = arms.collect();
        let table: Vec<_> = table.iter().map(|(chain, start)| (chain.as_str(), *start)).collect();
        let gradient = cost_of_gradient(&self.f, self.shape());
        let costs = (gradient, Some(solver.as_str()));
        plan.portfolio = Some(race(self, &table, &plan.options, request.start(), costs, request.tuning)?);
        plan.chosen = true;
        plan.reasons.extend(reasons);
        Ok(plan)
    }

    fn check(&self, x: &RowMat, what: &str) -> Result<()> {
        stiefel::check(x, self.nrows(), self.rank(), what)
    }

    fn criticality(&self, x: &RowMat, cancel: &Cancel) -> Option<f64> {
        criticality_while(self, x, cancel)
    }

    fn block_stationarity(&self, x: &RowMat, scope: Scope, cancel: &Cancel) -> Option<Certificate> {
        self.f.has_inverse().then(|| certify(&CircleOffers::new(&self.f, x), scope, cancel))
    }
}
