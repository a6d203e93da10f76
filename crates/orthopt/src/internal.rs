//! What only this repository's own crates, tests and measurements use: kernels, searches on pairs of rows and parts of
//! solvers. It is no part of what is promised and changes without notice; `public-api.txt` does not list it.

pub use orthopt_core::problem::limits::nonzero_rows;
pub use orthopt_core::problem::variance::projected_share;
pub use orthopt_core::smooth::central_difference;
pub use orthopt_core::smooth::two_sided::{hyperbolic_minimum, hyperbolic_optimum};
use orthopt_core::solve::Solution;
pub use orthopt_linalg::parallel::alone;
pub use orthopt_run::family::catalogue::{find_constant, parse_constants};
pub use orthopt_run::family::in_unit::{far_unit, shape as shape_in_unit};
pub use orthopt_run::report::assessment::{check_in_time, in_time};

/// A solution of a problem whose F has been divided by a power of two, as one of the problem itself.
#[must_use]
pub fn solution_in_unit(solution: Solution, unit: f64) -> Solution {
    solution.times(unit)
}

/// XᵀX = I.
pub mod stiefel {
    pub use orthopt_core::constraint::stiefel::{
        feasibility, orthonormalise, random, repair_on_support, tangent,
    };
}

/// XᵀJX = J.
pub mod j_orthogonal {
    pub use orthopt_core::constraint::j_orthogonal::{
        CsFactors, check, feasibility, polar, random, relative_feasibility, repair, residual, skew,
        spectral_norm, stationarity, tangent_descent,
    };
}

/// Kernels.
pub mod linalg {
    pub use orthopt_linalg::{
        GivensFactor, block_krylov, eigen, elementary, factor, givens, givens_factors, orthonormal, plane,
        products, sequential, simd, small,
    };
}

/// The k = 2 subproblem for XᵀX = I.
pub mod pair {
    pub use orthopt_core::pair::{PairModel, arc, circle, fold, nonlinear, plain, slow, trig4};
}

/// The k = 2 subproblem for XᵀJX = J.
pub mod jpair {
    pub use orthopt_hyperbolic::jpair::{Component, Ending, JMove, JPair, JPairMin, jacobi, slow};
}

/// The search among starts and solvers.
pub mod search {
    pub use orthopt_run::search::{
        Arm, MakeStart, MakeTask, Move, PARTS, Part, Portfolio, Settings, Task, Tuning, at, search,
    };
}

/// Sparse components with disjoint supports.
pub mod k_components {
    pub use orthopt_run::search::k_components::{Found, KComponents, Limits, Request, k_components};
}

/// Solvers, and what they are made of.
pub mod solvers {
    pub use orthopt_hyperbolic::j_baselines::{admm_update, cs_gradient, merit};
    pub use orthopt_hyperbolic::jobcd::rounds::{moved, pair_data, solve};
    pub use orthopt_hyperbolic::jobcd::{Tournament, gs_jobcd, j_jobcd, matching, vr_j_jobcd};
    pub use orthopt_solvers::amanpg::AManPg;
    pub use orthopt_solvers::composite::rada::Rada;
    pub use orthopt_solvers::curvilinear::{
        Curve, CurveOptions, Curvilinear, Iterate, foforth_gr::FoforthGr, foforth_p::FoforthP,
        foforth_qr::FoforthQr, optm_cayley::Cayley, optm_qr::Qr,
    };
    pub use orthopt_solvers::ep4orth::Ep4Orth;
    pub use orthopt_solvers::irpg::Irpg;
    pub use orthopt_solvers::ladmm::{Ladmm, info as ladmm};
    pub use orthopt_solvers::oadmm::State as OadmmState;
    pub use orthopt_solvers::obcd_approx::ObcdApprox;
    pub use orthopt_solvers::obcd_majorised::MajorisedObcd;
    pub use orthopt_solvers::proximal::TangentProx;
    pub use orthopt_solvers::rsubgrad::RSubGrad;
    pub use orthopt_solvers::slpg::Slpg;
    pub use orthopt_solvers::support::{INFO as SUPPORT, Support, SupportOptions};
}
