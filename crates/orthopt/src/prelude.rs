//! Common imports: `use orthopt::prelude::*`.
//!
//! [`SparsePca`] for components in three lines; [`run`] with a problem, a solver and criteria for
//! everything else.

pub use crate::cancel::Cancel;
pub use crate::certify::{Certificate, Scope};
#[doc(no_inline)]
pub use crate::error::{Error, Result};
pub use crate::family::Family;
#[doc(no_inline)]
pub use crate::linalg::RowMat as Matrix;
pub use crate::nonsmooth::Nonsmooth;
pub use crate::objective::{Evaluate, Objective};
pub use crate::report::{Checks, Report};
pub use crate::smooth::Smooth;
pub use crate::solve::{
    Chain, Event, MaxIterations, Observer, RunOptions, Solution, Solver, Stationary, Status, Stop, Stopping,
    TimeLimit, run, run_restarts,
};
#[doc(no_inline)]
pub use crate::sparse_pca::SparsePca;
