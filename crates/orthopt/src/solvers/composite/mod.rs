//! Solvers of composite problems f − g + h∘A, and the list of them.
//!
//! All but the last linearise −g and see h through its proximal operator; they work on every
//! problem with [`Terms`](crate::composite::Terms). The last one, OBCD, is for A = I.

mod descent;
pub mod madmm;
pub mod manial;
pub mod obcd;
pub mod radmm;
pub mod spgm;
pub(crate) mod splitting;
pub mod subgrad;

use super::SolverInfo;
use super::oadmm;
use crate::composite::Composite;

/// All solvers of composite problems.
pub const COMPOSITE_SOLVERS: &[SolverInfo<Composite>] = &[
    oadmm::fast(),
    oadmm::euclidean(),
    oadmm::riemannian(),
    radmm::info(),
    spgm::euclidean(),
    spgm::riemannian(),
    subgrad::info(),
    madmm::info(),
    manial::info(),
    obcd::INFO,
];

/// What the splitting methods are for, as the end of "... is for".
pub(crate) const SCOPE: &str =
    "a weakly convex penalty with a Lipschitz constant (l1, mcp, scad, elastic-net, none)";
