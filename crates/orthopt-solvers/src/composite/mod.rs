//! Solvers of composite problems f − g + h∘A.
//!
//! All but the last ask for f, g, h and A as they are for anybody ([`Composite`](orthopt_core::composite::Composite)): they
//! linearise −g and see h through its proximal operator. The last one, OBCD, is for quadratic f and A = I.

mod augmented;
mod descent;
pub mod iterate;
pub mod madmm;
pub mod manial;
pub mod obcd;
pub mod rada;
pub mod radmm;
pub mod spgm;
pub mod splitting;
pub mod subgrad;
