//! Global bounds: how far below F(X) the minimum can be.
//!
//! ```text
//! min F(X) = −½ tr(XᵀCX) + h(X)   subject to   XᵀX = I_r
//! ```
//!
//! is nonconvex, so a solver's F alone does not say how good it is. Everything here computes lower
//! bounds of F over **all** feasible X, which hold in floating point (docs/mathematics.md, section 14):
//! the dual of a relaxation over the Fantope for any n that fits, disjoint blocks by a dynamic
//! programme for few variables, branch and bound in between.

mod adjusted;
mod admm;
mod assignment;
mod blocks;
mod certified;
mod covariance;
mod fantope;
mod fixed;
mod front;
mod groups;
mod l1;
mod limits;
mod of_penalty;
mod penalty;
mod proof_file;
mod relaxation;
mod rounding;
mod scores;
mod tree;
mod types;

pub use adjusted::{
    Outcome as SupportOutcome, Request as SupportRequest, applies, least_work, lists_are_long,
    supports_proved, ways,
};
pub use blocks::work as work_of_all_supports;
pub use front::branches;
pub use front::lower_bound;
pub use limits::least_work as least_proof_work;
pub use limits::{LimitDual, limit_dual};
pub use of_penalty::no_bound;
pub use orthopt_core::solve::claim::is_met;
pub use orthopt_core::solve::claim::{Claim, Elsewhere, PROVED, Point, Proof};
pub use orthopt_core::solve::dual::Dual;
pub use proof_file::Proved;
pub use proof_file::{CheckedProof, Limits, Prepared, ProofFile, Statement};
pub use scores::adjusted;

pub use types::{Bound, End, Kind, Method, Options, Progress, Relaxation, Show};

/// Bytes that the relaxation needs for every entry of its matrices, at most.
const BYTES_PER_ENTRY: f64 = 100.0;
