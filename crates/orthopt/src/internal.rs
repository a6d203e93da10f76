//! What only this repository's own crates, tests and measurements use: kernels, searches on pairs of rows and parts of
//! solvers. It is no part of what is promised and changes without notice; `public-api.txt` does not list it.

pub use crate::family::catalogue::{find_constant, parse_constants};
pub use crate::family::in_unit::{far_unit, shape as shape_in_unit};
pub use crate::linalg::parallel::alone;
pub use crate::problem::limits::nonzero_rows;
pub use crate::problem::variance::projected_share;
pub use crate::report::assessment::{check_in_time, in_time};
pub use crate::smooth::central_difference;
pub use crate::smooth::two_sided::{hyperbolic_minimum, hyperbolic_optimum};
use crate::solve::Solution;

/// A solution of a problem whose F has been divided by a power of two, as one of the problem itself.
#[must_use]
pub fn solution_in_unit(solution: Solution, unit: f64) -> Solution {
    solution.times(unit)
}

/// XᵀX = I.
pub mod stiefel {
    pub use crate::constraint::stiefel::{feasibility, orthonormalise, random, repair_on_support, tangent};
}

/// XᵀJX = J.
pub mod j_orthogonal {
    pub use crate::constraint::j_orthogonal::{
        CsFactors, check, feasibility, polar, random, relative_feasibility, repair, residual, skew,
        spectral_norm, stationarity, tangent_descent,
    };
}

/// Kernels.
pub mod linalg {
    pub use crate::linalg::{
        GivensFactor, block_krylov, eigen, elementary, factor, givens, givens_factors, orthonormal, plane,
        products, sequential, simd, small,
    };
}

/// The k = 2 subproblem for XᵀX = I.
pub mod pair {
    pub use crate::pair::{PairModel, arc, circle, fold, nonlinear, plain, slow, trig4};
}

/// The k = 2 subproblem for XᵀJX = J.
pub mod jpair {
    pub use crate::jpair::{Component, Ending, JMove, JPair, JPairMin, jacobi, slow};
}

/// The search among starts and solvers.
pub mod search {
    pub use crate::search::{
        Arm, MakeStart, MakeTask, Move, PARTS, Part, Portfolio, Settings, Task, Tuning, at, search,
    };
}

/// Sparse components with disjoint supports.
pub mod k_components {
    pub use crate::search::k_components::{Found, KComponents, Limits, Request, k_components};
}

/// Solvers, and what they are made of.
pub mod solvers {
    pub use crate::solvers::amanpg::AManPg;
    pub use crate::solvers::composite::rada::Rada;
    pub use crate::solvers::curvilinear::{
        Curve, CurveOptions, Curvilinear, Iterate, foforth_gr::FoforthGr, foforth_p::FoforthP,
        foforth_qr::FoforthQr, optm_cayley::Cayley, optm_qr::Qr,
    };
    pub use crate::solvers::ep4orth::Ep4Orth;
    pub use crate::solvers::irpg::Irpg;
    pub use crate::solvers::j_baselines::{admm_update, cs_gradient, merit};
    pub use crate::solvers::jobcd::rounds::{moved, pair_data, solve};
    pub use crate::solvers::jobcd::{Tournament, gs_jobcd, j_jobcd, matching, vr_j_jobcd};
    pub use crate::solvers::ladmm::{Ladmm, info as ladmm};
    pub use crate::solvers::oadmm::State as OadmmState;
    pub use crate::solvers::obcd_approx::ObcdApprox;
    pub use crate::solvers::obcd_majorised::MajorisedObcd;
    pub use crate::solvers::proximal::TangentProx;
    pub use crate::solvers::rsubgrad::RSubGrad;
    pub use crate::solvers::slpg::Slpg;
    pub use crate::solvers::support::{INFO as SUPPORT, Support, SupportOptions};
}
