//! Problems with a loss of the scores of samples that is not quadratic: independent components, dictionaries, robust subspaces.

use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::portfolio::{cost_of_gradient, race};
use super::posed::{Posed, rank_or_default};
use super::{AnyProblem, Family, Kind, Plan, ProblemInfo, Recipe, Request};
use orthopt_core::certify::criticality_while;
use orthopt_core::constraint::stiefel;
use orthopt_core::penalty::NoPenalty;
use orthopt_core::problem::{PcaData, SampleProblem};
use orthopt_core::smooth::{Loss, SampleLoss};
use orthopt_core::solve::info::SolverInfo;
use orthopt_core::start::unknown;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::factor::transpose;
use orthopt_linalg::message::Message;
use orthopt_solvers::smooth;

/// Entries of the registry.
pub(super) const ICA: ProblemInfo = ProblemInfo {
    name: "ica",
    doc: "independent components: max 1/2 sum_k (mean ln cosh z_k - that of a normal number)^2, Z = A C^(-1/2) X, C = A'A/m, X'X = I",
    kind: Kind::Samples(Loss::Ica),
    penalty: "none",
    uses_lambda: false,
};
pub(super) const DICTIONARY: ProblemInfo = ProblemInfo {
    name: "dictionary",
    doc: "orthogonal dictionary: max 1/4 mean sum_k z_k^4, Z = AX, X'X = I: samples are sparse combinations of the columns of X",
    kind: Kind::Samples(Loss::Dictionary),
    ..ICA
};
pub(super) const ROBUST_SUBSPACE: ProblemInfo = ProblemInfo {
    name: "robust-subspace",
    doc: "a subspace despite outliers: min sum_i sqrt(||a_i - XX'a_i||^2 + delta^2), X'X = I, distances and not their squares",
    kind: Kind::Samples(Loss::RobustSubspace),
    ..ICA
};

/// Starting points, the default first.
pub(super) const STARTS: &[(&str, &str)] = &[
    ("random", "Q of a Gaussian matrix"),
    ("pca", "the r leading eigenvectors of C"),
    ("identity", "the first r columns of the identity"),
];

/// Arms of the search. F has many local minima, and the same method from another random point finds others.
const ARMS: &[(&str, &str)] =
    &[("lbfgs", "pca"), ("lbfgs", "random"), ("optm-cayley", "random"), ("lbfgs", "identity")];

/// Its solvers.
pub(super) static SOLVERS: &[SolverInfo<SampleProblem>] = smooth();

impl Family for SampleProblem {
    fn solvers(&self) -> &'static [SolverInfo<Self>] {
        SOLVERS
    }

    fn recipe(&self) -> Recipe {
        Recipe { starts: STARTS, has_pairs: false, ..Recipe::default() }
    }

    fn shape(&self) -> (usize, usize) {
        (self.nrows(), self.rank())
    }

    fn start_while(&self, name: &str, seed: u64, cancel: &Cancel) -> Result<RowMat> {
        let (n, r) = self.shape();
        match name {
            "random" => Ok(stiefel::random(n, r, &mut Pcg64::seed_from_u64(seed ^ 0x5341_4d50))),
            "identity" => Ok(RowMat::from_fn(n, r, |i, k| f64::from(u8::from(i == k)))),
            "pca" => {
                // if cancelled for eigenvectors the first coordinates are what there is
                match cancel.during(|| self.f.leading_eigenvectors(r)) {
                    Some(mut x) => {
                        stiefel::repair_on_support(&mut x);
                        Ok(x)
                    }
                    None if cancel.is_over() => self.start_while("identity", seed, cancel),
                    None => Err(Error::Factorisation("the eigenvalue decomposition")),
                }
            }
            _ => Err(unknown(name, STARTS)),
        }
    }

    fn plan(&self, request: &Request) -> Result<Plan<Self>> {
        if request.solver.is_some() {
            return Plan::by_default(self, request);
        }
        let solver = Some(ARMS[0].0.to_string());
        let mut plan = Plan::by_default(self, &Request { solver, ..request.clone() })?;
        let gradient = cost_of_gradient(&self.f, self.shape());
        let start = request.start();
        plan.portfolio =
            Some(race(self, ARMS, &plan.options, start, (gradient, Some(ARMS[0].0)), request.tuning)?);
        plan.chosen = true;
        Ok(plan)
    }

    fn check(&self, x: &RowMat, what: &str) -> Result<()> {
        stiefel::check(x, self.nrows(), self.rank(), what)
    }

    fn criticality(&self, x: &RowMat, cancel: &Cancel) -> Option<f64> {
        criticality_while(self, x, cancel)
    }
}

/// Poses the problem.
pub(super) fn pose(
    info: &'static ProblemInfo,
    loss: Loss,
    data: &PcaData<'_>,
    options: &Request,
) -> Result<Posed> {
    let mut reasons = Vec::new();
    if data.samples().is_none() {
        let text = format!("{} needs samples, not C: give DATA instead of ", info.name);
        return Err(Error::Incompatible(Message::from(text).option("gram")));
    }
    let rank = rank_or_default(data, options, &mut reasons);
    if rank == 0 || rank > data.ncols() {
        return Err(Error::Rank { rank, columns: data.ncols() }); // before any work
    }
    let f = SampleLoss::new(loss, transpose(&data.variables()?))?;
    Ok(Posed::new(
        info,
        info.doc.into(),
        AnyProblem::Samples(SampleProblem::new(f, NoPenalty, rank)?),
        rank,
        reasons,
    ))
}
