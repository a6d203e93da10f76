//! Algorithms, one per file or folder, and the list of them.
//!
//! A new solver is one file that implements [`Solver`](orthopt_core::solve::Solver), says what it is in
//! a [`Preset`](preset::Preset), and has one line in a list below.

pub mod amanpg;
pub mod composite;
pub mod curvilinear;
pub mod ep4orth;
pub mod irpg;
pub mod ladmm;
pub mod lbfgs;
pub mod manpg;
pub mod nonlinear_obcd;
pub mod oadmm;
pub mod obcd;
pub mod obcd_approx;
pub mod obcd_majorised;
pub mod pair_descent;
pub mod prelude;
pub mod preset;
pub mod proximal;
pub mod rsubgrad;
pub mod slpg;
pub mod soc;
pub mod spectral;
pub mod spm;
pub mod support;
pub mod trust_region;

use curvilinear::Curve;
use curvilinear::{foforth_gr::FoforthGr, foforth_p::FoforthP, foforth_qr::FoforthQr};
use curvilinear::{optm_cayley::Cayley, optm_qr::Qr};
use orthopt_core::composite::Composite;
use orthopt_core::concave::{AnyConcave, Concave, NoConcave};
use orthopt_core::constraint::Stiefel;

pub use manpg::ManPg;
pub use nonlinear_obcd::NonlinearObcd;
pub use oadmm::{FirstBeta, Oadmm, OadmmOptions, Variant};
use orthopt_core::linear_map::{AnyMap, Identity, LinearMap};
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::pair::PairPenalty;
use orthopt_core::penalty::AnyPenalty;
use orthopt_core::problem::{CompositeProblem, Problem};
use orthopt_core::smooth::{AnySmooth, HessianVector, Smooth};
use orthopt_core::solve::info::{SolverInfo, join};

/// Solvers that need of f no more than values and gradients, and of h its prox, for XᵀX = I.
pub const fn first_order<F, H>() -> &'static [SolverInfo<Problem<Stiefel, F, H>>]
where
    F: Smooth + 'static,
    H: Nonsmooth + 'static,
{
    const {
        &entries![
            manpg::INFO,
            manpg::INFO_ADA,
            irpg::INFO,
            amanpg::INFO,
            slpg::INFO,
            rsubgrad::INFO,
            ladmm::INFO,
            spm::INFO,
            soc::INFO,
            ep4orth::INFO,
        ]
    }
}

/// Solvers that need of f no more than values and gradients, where h = 0.
pub const fn smooth_only<F, H>() -> &'static [SolverInfo<Problem<Stiefel, F, H>>]
where
    F: Smooth + 'static,
    H: Nonsmooth + 'static,
{
    const { &entries![lbfgs::INFO, Qr::INFO, Cayley::INFO, FoforthGr::INFO, FoforthP::INFO, FoforthQr::INFO,] }
}

/// Solvers that need products with the Hessian of f too, where h = 0.
pub const fn second_order<F, H>() -> &'static [SolverInfo<Problem<Stiefel, F, H>>]
where
    F: HessianVector + 'static,
    H: Nonsmooth + 'static,
{
    const { &[entry!(trust_region::INFO, |p| trust_region::suits(p))] }
}

/// [`smooth_only`], [`second_order`], [`pairwise`] and [`approximate`].
pub const fn smooth<F, H>() -> &'static [SolverInfo<Problem<Stiefel, F, H>>]
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

/// Solvers that need of f no more than values and gradients, and solves pairs of rows with h, for XᵀX = I.
pub const fn pairwise<F, H>() -> &'static [SolverInfo<Problem<Stiefel, F, H>>]
where
    F: Smooth + 'static,
    H: PairPenalty + 'static,
{
    const { &entries![obcd_majorised::INFO] }
}

/// Solvers that need of f no more than values and gradients, and moves pairs of rows along f itself, where h = 0.
pub const fn approximate<F, H>() -> &'static [SolverInfo<Problem<Stiefel, F, H>>]
where
    F: Smooth + 'static,
    H: Nonsmooth + 'static,
{
    const { &entries![obcd_approx::INFO] }
}

/// Splitting methods for f − g + h∘A, with values and gradients of f.
pub const fn splitting<F, H, G, A>() -> &'static [SolverInfo<Composite<F, H, G, A>>]
where
    F: Smooth + 'static,
    H: Nonsmooth + 'static,
    G: Concave + 'static,
    A: LinearMap + 'static,
{
    const {
        &entries![
            oadmm::FAST,
            oadmm::EUCLIDEAN,
            oadmm::RIEMANNIAN,
            composite::radmm::INFO,
            composite::spgm::EUCLIDEAN,
            composite::spgm::RIEMANNIAN,
            composite::subgrad::INFO,
            composite::madmm::INFO,
            composite::manial::INFO,
            composite::manial::RIAL,
            composite::rada::INFO,
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

/// Solvers that need a quadratic f.
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

/// All solvers of composite problems.
pub static COMPOSITE_SOLVERS: &[SolverInfo<CompositeProblem>] = &join::<_, { SPLITTING + 1 }>(&[
    splitting::<AnySmooth, AnyPenalty, AnyConcave, AnyMap>(),
    &[entry!(composite::obcd::INFO, |p| composite::obcd::suits(p))],
]);

#[cfg(test)]
mod tests;
