//! Results of a global bound, as facts for the command, its JSON and Python.

use serde::Serialize;

use orthopt_bound::{Bound, Claim, PROVED, Point, Proof};
use orthopt_core::certify::Certificate;
use orthopt_linalg::RowMat;
use orthopt_linalg::error::Result;

/// A global bound without its matrices.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Global {
    /// No feasible X has an F below this.
    pub bound: f64,
    /// The lowest F known.
    pub objective: Option<f64>,
    /// (F − bound)/|F|; `None` where no F is known, or F is 0 and the bound is not.
    pub gap: Option<f64>,
    /// `optimal` where the gap is closed; `supports` where no X with other supports is better, and the gap is what is left on those
    /// of X.
    pub proof: Option<&'static str>,
    /// Ending: `optimal`, or the name of an [`End`](orthopt_bound::End).
    pub status: &'static str,
    /// Which argument gave the bound.
    pub method: &'static str,
    /// Iterations of the relaxation at the root.
    pub iterations: u64,
    /// Nodes of branch and bound.
    pub nodes: u64,
    /// Nodes left open.
    pub open: u64,
    /// Seconds.
    pub seconds: f64,
    #[serde(skip)]
    size: f64, // of the terms of F
}

impl Global {
    /// The facts of a bound.
    pub fn of(bound: &Bound) -> Self {
        let proof = bound.proof.map(Proof::name);
        Self {
            bound: bound.value,
            objective: bound.objective,
            gap: bound.gap.filter(|gap| gap.is_finite()),
            proof,
            status: ending(bound, bound.proof),
            method: bound.method.name(),
            iterations: bound.iterations,
            nodes: bound.nodes,
            open: bound.open,
            seconds: bound.seconds,
            size: bound.size,
        }
    }

    /// Checks the bound against the lowest F that pairs of rows of X lead to.
    ///
    /// # Errors
    /// [`Error::Contradiction`](orthopt_linalg::Error::Contradiction): a pair leads below the bound.
    pub fn check(&self, certificate: Option<&Certificate>) -> Result<()> {
        self.check_below(certificate.map_or(0.0, |certificate| certificate.max_decrease))
    }

    /// Checks the bound against an F that is lower than that of X by `decrease`.
    ///
    /// # Errors
    /// As [`Global::check`].
    pub fn check_below(&self, decrease: f64) -> Result<()> {
        let lower = self.objective.map(|f| Point { objective: f - decrease, feasibility: 0.0 });
        Claim::new(self.bound, lower, self.size, PROVED).map(|_| ())
    }

    /// True if X is proved to be a global minimum.
    pub fn is_optimal(&self) -> bool {
        self.proof == Some(Proof::Optimal.name())
    }

    /// The facts of a bound for the X of a solution, for any incumbent of the bound. An X
    /// found during the bound may be better by rounding only.
    ///
    /// # Errors
    /// [`Error::Contradiction`](orthopt_linalg::Error::Contradiction): F of the solution is below the bound.
    pub fn beside(bound: &Bound, point: Point, x: &RowMat) -> Result<Self> {
        let claim = bound.beside_x(point, x)?;
        let proof = claim.proof.map(Proof::name);
        let status = ending(bound, claim.proof);
        let objective = Some(point.objective);
        Ok(Self { bound: claim.bound, objective, gap: claim.gap, proof, status, ..Self::of(bound) })
    }
}

/// `optimal`, or how the bound ended.
fn ending(bound: &Bound, proof: Option<Proof>) -> &'static str {
    match proof {
        Some(Proof::Optimal) => Proof::Optimal.name(),
        _ => bound.end.name(),
    }
}
