//! Constraints, one per file: feasibility, tangent space, random points, repair.

pub mod j_orthogonal;
mod repair;
pub mod stiefel;
