//! Problems over the J-orthogonal group by name: solvers, starts and defaults.

use super::portfolio::{cost_of_gradient, race};
use super::{Family, Plan, Recipe, Request};
use crate::search::{Arm, Portfolio, Tuning};
use orthopt_core::certify::{Certificate, Scope, certify};
use orthopt_core::constraint::{Constraint, j_orthogonal};
use orthopt_core::options::{Given, Value};
use orthopt_core::pair::options::Side;
use orthopt_core::problem::JProblem;
use orthopt_core::smooth::TwoSided;
use orthopt_core::solve::info::{SolverInfo, SolverOptions};
use orthopt_core::start::{Start, unknown};
use orthopt_hyperbolic::J_SOLVERS;
use orthopt_hyperbolic::jobcd;
use orthopt_hyperbolic::jpair::offers::JOffers;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::Result;
use orthopt_linalg::long::is_left;
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// Names of the starting points, with one line each.
pub(super) const STARTS: &[(&str, &str)] = &[
    ("random", "a random hyperbolic CS decomposition with ||X|| at most e"),
    ("identity", "the identity matrix"),
];

/// Chain that runs if the user gives the number of starts.
const CHAIN: &str = "j-jobcd+j-lbfgs";
/// Solvers and starts, first the pairs that reach a low F on the data of `bench/results/j_race.csv` that are marked `chosen_on`.
const ARMS: &[(&str, &str)] = &[
    ("j-lbfgs", "random"), // soon at its end, where the others take their time
    ("j-lbfgs", "identity"),
    (CHAIN, "random"),
    ("j-admm+j-lbfgs", "random"),
    ("vr-j-jobcd+j-lbfgs", "random"),
    (CHAIN, "identity"),
    ("csdm+j-lbfgs", "random"),
    ("gs-jobcd+j-lbfgs", "random"),
];
/// The same on the other side, where f has two.
const COLUMNS: &[(&str, &str)] = &[("gs-jobcd+j-lbfgs", "random"), ("gs-jobcd+j-lbfgs", "identity")];

fn portfolio(
    p: &JProblem,
    options: &SolverOptions,
    start: Option<&Start>,
    tuning: Tuning,
) -> Result<Portfolio<JProblem>> {
    let how = (cost_of_gradient(&p.f, p.shape()), Some("j-lbfgs"));
    let mut all = race(p, ARMS, options, start, how, tuning)?;
    if p.f.two_sided().is_some() {
        let mut columns = options.clone();
        columns.jobcd.side = Side::Columns;
        for arm in race(p, COLUMNS, &columns, start, how, tuning)?.arms {
            let set = arm.constants;
            let constants = Box::new(move |level| {
                let mut given: Given = set(level);
                given.insert("side", Value::Name(Side::Columns.name()));
                given
            });
            all.arms.push(Arm { constants, ..arm });
        }
    }
    Ok(all)
}

impl Family for JProblem {
    fn solvers(&self) -> &'static [SolverInfo<Self>] {
        J_SOLVERS
    }

    /// Every critical point of `hyperbolic-eig` is a global minimiser (docs/mathematics.md, section 9).
    fn recipe(&self) -> Recipe {
        Recipe {
            starts: STARTS,
            feasibility: "mean of |X'JX - J|",
            criticality: "max |skew part of J grad f(X) X'|",
            has_local_solutions: self.has_local_solutions(),
            has_pairs: self.f.quadratic().is_some(),
            ..Recipe::default()
        }
    }

    /// Where local solutions differ: a race of the methods of the paper and its rivals, each ended by L-BFGS, on both sides where
    /// f has two. With an option of a method set, that method by its defaults.
    fn plan(&self, request: &Request) -> Result<Plan<Self>> {
        let open = request.solver.is_none() && self.has_local_solutions();
        if open && !request.leaves_solver_open() {
            // a round with its gradient moves n/2 pairs, where gs-jobcd would move one
            let rounds = Request { solver: Some(jobcd::J_JOBCD.name.into()), ..request.clone() };
            let mut plan = Plan::by_default(self, &rounds)?;
            plan.chosen = true;
            plan.reasons.push(format!("solver {}: {}", jobcd::J_JOBCD.name, jobcd::J_JOBCD.doc).into());
            return Ok(plan);
        }
        if !open {
            return Plan::by_default(self, request);
        }
        let chain = Request { solver: Some(CHAIN.into()), ..request.clone() };
        let mut plan = Plan::by_default(self, &chain)?;
        plan.chosen = true;
        plan.portfolio = Some(portfolio(self, &plan.options, request.start(), request.tuning)?);
        Ok(plan)
    }

    fn known_optimum(&self) -> Option<f64> {
        self.optimum()?.ok()
    }

    fn shape(&self) -> (usize, usize) {
        (self.order(), self.order())
    }

    fn start_while(&self, name: &str, seed: u64, _: &Cancel) -> Result<RowMat> {
        let n = self.order();
        match name {
            "random" => {
                let mut rng = Pcg64::seed_from_u64(seed ^ 0x5354_4152_545f_5830);
                Ok(self.constraint.random(&mut rng))
            }
            "identity" => Ok(RowMat::from_fn(n, n, |i, k| f64::from(u8::from(i == k)))),
            _ => Err(unknown(name, STARTS)),
        }
    }

    fn check(&self, x: &RowMat, what: &str) -> Result<()> {
        self.constraint.check(x, what)
    }

    /// max |Ωᵢⱼ|, Ω = JW − (JW)ᵀ with W = ∇f(X)Xᵀ.
    fn criticality(&self, x: &RowMat, cancel: &Cancel) -> Option<f64> {
        let left = || is_left(x.nrows().pow(3));
        if cancel.is_over() || left() {
            return None;
        }
        let gradient = self.gradient(x);
        (!left()).then(|| j_orthogonal::stationarity(x, &gradient, self.signature()))
    }

    /// Over all pairs of rows, exactly, for quadratic f; `None` for others.
    fn block_stationarity(&self, x: &RowMat, scope: Scope, cancel: &Cancel) -> Option<Certificate> {
        let q = self.f.quadratic()?;
        if is_left(x.nrows().pow(3)) {
            return None; // what the pairs are taken from is long
        }
        Some(certify(&JOffers::new(q, self.signature(), x), scope, cancel))
    }
}
