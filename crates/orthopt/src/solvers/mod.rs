//! Algorithms, one per file or folder, and the list of them.
//!
//! A new solver is one file that implements [`Solver`](crate::solve::Solver), says what it is in
//! a `SolverInfo`, and has one line in [`SOLVERS`].

pub(crate) mod amanpg;
pub(crate) mod cardinality_ladmm;
pub(crate) mod composite;
pub(crate) mod curvilinear;
pub(crate) mod ep4orth;
pub(crate) mod exchange;
pub(crate) mod irpg;
pub(crate) mod j_baselines;
pub(crate) mod j_lbfgs;
pub(crate) mod jobcd;
pub(crate) mod ladmm;
pub(crate) mod lbfgs;
pub(crate) mod manpg;
pub(crate) mod nonlinear_obcd;
pub(crate) mod oadmm;
pub mod obcd;
pub(crate) mod obcd_approx;
pub(crate) mod obcd_majorised;
pub(crate) mod overshoot;
pub(crate) mod pair_descent;
pub(crate) mod proximal;
pub(crate) mod rsubgrad;
pub(crate) mod slpg;
pub(crate) mod soc;
pub(crate) mod spectral;
pub(crate) mod spm;
pub(crate) mod support;
pub(crate) mod trust_region;
pub(crate) mod uncorrelated;

use crate::composite::Composite;
use crate::concave::{AnyConcave, Concave, NoConcave};
use crate::constraint::{JOrthogonal, Stiefel};

use crate::linear_map::{AnyMap, Identity, LinearMap};
use crate::nonsmooth::Nonsmooth;
use crate::pair::PairPenalty;
pub use crate::pair::options::{JobcdOptions, SIDES, Side};
use crate::penalty::AnyPenalty;
use crate::problem::{
    CardinalityProblem, CompositeProblem, JProblem, MeasuredProblem, Problem, UncorrelatedProblem,
};
use crate::smooth::{AnySmooth, FiniteSum, HessianVector, Smooth, TwoSided};
use crate::solve::info::join;
pub use crate::solve::info::{Make, SolverInfo, SolverOptions, find_solvers};
pub use manpg::ManPg;
pub use nonlinear_obcd::NonlinearObcd;
pub use oadmm::{FirstBeta, Oadmm, OadmmOptions, Variant};

/// The name that lets the library choose (see [`crate::family`]).
pub const AUTO: (&str, &str) =
    ("auto", "chooses solver, working set and start from the penalty and the data, and reports the choice");

/// What needs of f no more than values and gradients, and of h its prox, for XᵀX = I.
pub const fn first_order<F, H>() -> &'static [SolverInfo<Problem<Stiefel, F, H>>]
where
    F: Smooth + 'static,
    H: Nonsmooth + 'static,
{
    const {
        &[
            manpg::info(),
            manpg::info_ada(),
            irpg::info(),
            amanpg::info(),
            slpg::info(),
            rsubgrad::info(),
            ladmm::info(),
            spm::info(),
            soc::info(),
            ep4orth::info(),
        ]
    }
}

/// What needs of f no more than values and gradients, where h = 0.
pub const fn smooth_only<F, H>() -> &'static [SolverInfo<Problem<Stiefel, F, H>>]
where
    F: Smooth + 'static,
    H: Nonsmooth + 'static,
{
    const {
        &[
            lbfgs::info(),
            curvilinear::optm_qr::info(),
            curvilinear::optm_cayley::info(),
            curvilinear::foforth_gr::info(),
            curvilinear::foforth_p::info(),
            curvilinear::foforth_qr::info(),
        ]
    }
}

/// What needs products with the Hessian of f too, where h = 0.
pub const fn second_order<F, H>() -> &'static [SolverInfo<Problem<Stiefel, F, H>>]
where
    F: HessianVector + 'static,
    H: Nonsmooth + 'static,
{
    const { &[trust_region::info()] }
}

/// [`smooth_only`], [`second_order`], [`pairwise`] and [`approximate`].
pub(crate) const fn smooth<F, H>() -> &'static [SolverInfo<Problem<Stiefel, F, H>>]
where
    F: HessianVector + 'static,
    H: PairPenalty + 'static,
{
    const {
        &join::<_, { SMOOTH_ONLY + SECOND_ORDER + PAIRWISE + APPROXIMATE }>(&[
            smooth_only::<F, H>(),
            second_order(),
            pairwise(),
            approximate(),
        ])
    }
}

/// What needs of f no more than values and gradients, and solves pairs of rows with h, for XᵀX = I.
pub const fn pairwise<F, H>() -> &'static [SolverInfo<Problem<Stiefel, F, H>>]
where
    F: Smooth + 'static,
    H: PairPenalty + 'static,
{
    const { &[obcd_majorised::info()] }
}

/// What needs of f no more than values and gradients, and moves pairs of rows along f itself, where h = 0.
pub const fn approximate<F, H>() -> &'static [SolverInfo<Problem<Stiefel, F, H>>]
where
    F: Smooth + 'static,
    H: Nonsmooth + 'static,
{
    const { &[obcd_approx::info()] }
}

/// What takes f − g + h∘A apart, with values and gradients of f.
pub const fn splitting<F, H, G, A>() -> &'static [SolverInfo<Composite<F, H, G, A>>]
where
    F: Smooth + 'static,
    H: Nonsmooth + 'static,
    G: Concave + 'static,
    A: LinearMap + 'static,
{
    const {
        &[
            oadmm::fast(),
            oadmm::euclidean(),
            oadmm::riemannian(),
            composite::radmm::info(),
            composite::spgm::euclidean(),
            composite::spgm::riemannian(),
            composite::subgrad::info(),
            composite::madmm::info(),
            composite::manial::info(),
            composite::manial::rial(),
            composite::rada::info(),
        ]
    }
}

/// Lengths of these lists, which do not depend on the types.
const FIRST_ORDER: usize = first_order::<AnySmooth, AnyPenalty>().len();
const SMOOTH_ONLY: usize = smooth_only::<AnySmooth, AnyPenalty>().len();
const SECOND_ORDER: usize = second_order::<AnySmooth, AnyPenalty>().len();
const SPLITTING: usize = splitting::<AnySmooth, AnyPenalty, NoConcave, Identity>().len();
const GENERAL: usize = FIRST_ORDER + SMOOTH_ONLY + SPLITTING;
const PAIRWISE: usize = pairwise::<AnySmooth, AnyPenalty>().len();
const APPROXIMATE: usize = approximate::<AnySmooth, AnyPenalty>().len();

/// All solvers of f + h with XᵀX = I for an f of which only values and gradients are known.
pub const fn general<F, H>() -> &'static [SolverInfo<Problem<Stiefel, F, H>>]
where
    F: Smooth + 'static,
    H: Nonsmooth + 'static,
{
    const { &join::<_, GENERAL>(&[first_order::<F, H>(), smooth_only(), splitting()]) }
}

/// [`general`], [`second_order`], [`pairwise`] and [`approximate`], for an h that has both a prox and a pair search.
pub const fn general_pairwise<F, H>() -> &'static [SolverInfo<Problem<Stiefel, F, H>>]
where
    F: HessianVector + 'static,
    H: PairPenalty + 'static,
{
    const {
        &join::<_, { GENERAL + SECOND_ORDER + PAIRWISE + APPROXIMATE }>(&[
            general::<F, H>(),
            second_order(),
            pairwise(),
            approximate(),
        ])
    }
}

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

/// What needs a quadratic f.
const QUADRATIC: &[SolverInfo] = &[
    obcd::INFO,
    obcd::OBCD_R,
    obcd::OBCD_C,
    obcd::OBCD_SV,
    obcd::OBCD_OR,
    obcd::OBCD_BLOCK,
    obcd::OBCD_JACOBI,
    spectral::INFO,
];

/// All solvers of the problems with XᵀX = I.
pub static SOLVERS: &[SolverInfo] = &join::<
    _,
    { QUADRATIC.len() + PAIRWISE + APPROXIMATE + FIRST_ORDER + 1 + SMOOTH_ONLY + SECOND_ORDER + SPLITTING },
>(&[
    QUADRATIC,
    pairwise(),
    approximate(),
    first_order(),
    &[support::INFO],
    smooth_only(),
    second_order(),
    splitting(),
]);

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

/// All solvers of composite problems.
pub static COMPOSITE_SOLVERS: &[SolverInfo<CompositeProblem>] = &join::<_, { SPLITTING + 1 }>(&[
    splitting::<AnySmooth, AnyPenalty, AnyConcave, AnyMap>(),
    &[composite::obcd::info()],
]);

/// All solvers of problems with a limit on nonzeros.
pub(crate) static CARDINALITY_SOLVERS: &[SolverInfo<CardinalityProblem>] =
    &[exchange::INFO, cardinality_ladmm::INFO];

/// All solvers of problems with components that maximise a measure.
pub(crate) static MEASURED_SOLVERS: &[SolverInfo<MeasuredProblem>] = &[overshoot::INFO, overshoot::NESTED];

/// All solvers of problems with uncorrelated components.
pub(crate) static UNCORRELATED_SOLVERS: &[SolverInfo<UncorrelatedProblem>] =
    &[uncorrelated::INFO, overshoot::OF_UNCORRELATED];
