//! Problems over matrices with XᵀJX = J: the subproblem of two rows, solvers, the certificate by pairs of rows, and the
//! list of the solvers.

pub mod j_baselines;
pub mod j_lbfgs;
pub mod jobcd;
pub mod jpair;

use j_baselines::{CSDM, J_ADMM, UMCM};
use jobcd::{GS_JOBCD, J_JOBCD, VR_J_JOBCD};
use orthopt_core::constraint::JOrthogonal;
use orthopt_core::problem::{JProblem, Problem};
use orthopt_core::smooth::{FiniteSum, HessianVector, TwoSided};
use orthopt_core::solve::info::{SolverInfo, join};
use orthopt_solvers::preset::Domain;
use orthopt_solvers::{entries, entry};

const EVERY_F: Domain = Domain { words: "every f", ..Domain::EVERY };

/// All solvers of problems with XᵀJX = J for an f of which only values and gradients are known.
pub const fn j_general<F>() -> &'static [SolverInfo<Problem<JOrthogonal, F>>]
where
    F: TwoSided + HessianVector + 'static,
{
    const { &entries![J_JOBCD, J_ADMM, UMCM, CSDM, GS_JOBCD, j_lbfgs::INFO] }
}

/// [`j_general`] and the solvers of finite sums.
pub const fn j_sums<F>() -> &'static [SolverInfo<Problem<JOrthogonal, F>>]
where
    F: TwoSided + HessianVector + FiniteSum + 'static,
{
    const { &join::<_, 7>(&[j_general::<F>(), &[sampled()]]) }
}

const fn sampled<F: FiniteSum + 'static>() -> SolverInfo<Problem<JOrthogonal, F>> {
    entry!(VR_J_JOBCD, |p| p.f.components() > 1)
}

/// All solvers of the problems with XᵀJX = J.
pub static J_SOLVERS: &[SolverInfo<JProblem>] = &join::<JProblem, 7>(&[
    &entries![GS_JOBCD, J_JOBCD],
    &[sampled()],
    &entries![J_ADMM, UMCM, CSDM, j_lbfgs::INFO],
]);
