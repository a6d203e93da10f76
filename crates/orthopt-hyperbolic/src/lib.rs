//! Problems over matrices with XᵀJX = J: the subproblem of two rows, solvers, the certificate by pairs of rows, and the
//! list of the solvers.

pub mod j_baselines;
pub mod j_lbfgs;
pub mod jobcd;
pub mod jpair;

use orthopt_core::constraint::JOrthogonal;
use orthopt_core::problem::{JProblem, Problem};
use orthopt_core::smooth::{FiniteSum, HessianVector, TwoSided};
use orthopt_core::solve::info::{SolverInfo, join};

/// All solvers of problems with XᵀJX = J for an f of which only values and gradients are known.
pub const fn j_general<F>() -> &'static [SolverInfo<Problem<JOrthogonal, F>>]
where
    F: TwoSided + HessianVector + 'static,
{
    const {
        &[
            jobcd::j_jobcd(),
            j_baselines::j_admm(),
            j_baselines::umcm(),
            j_baselines::csdm(),
            jobcd::gs_jobcd(),
            j_lbfgs::info(),
        ]
    }
}

/// [`j_general`] and the solvers of finite sums.
pub const fn j_sums<F>() -> &'static [SolverInfo<Problem<JOrthogonal, F>>]
where
    F: TwoSided + HessianVector + FiniteSum + 'static,
{
    const { &join::<_, 7>(&[j_general::<F>(), &[jobcd::vr_j_jobcd()]]) }
}

/// All solvers of the problems with XᵀJX = J.
pub static J_SOLVERS: &[SolverInfo<JProblem>] = &[
    jobcd::GS_JOBCD,
    jobcd::J_JOBCD,
    jobcd::VR_J_JOBCD,
    j_baselines::J_ADMM,
    j_baselines::UMCM,
    j_baselines::CSDM,
    j_lbfgs::INFO,
];
