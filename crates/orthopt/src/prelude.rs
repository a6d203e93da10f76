//! Common imports: `use orthopt::prelude::*`.
//!
//! [`SparsePca`] for components in three lines; [`run`] with a problem, a solver and criteria for
//! everything else.

#[doc(no_inline)]
pub use crate::sparse_pca::SparsePca;
#[doc(no_inline)]
pub use orthopt_core::certify::{Certificate, Scope};
#[doc(no_inline)]
pub use orthopt_core::nonsmooth::Nonsmooth;
#[doc(no_inline)]
pub use orthopt_core::objective::{Evaluate, Objective};
#[doc(no_inline)]
pub use orthopt_core::smooth::Smooth;
#[doc(no_inline)]
pub use orthopt_core::solve::{
    Chain, Event, MaxIterations, Observer, RunOptions, Solution, Solver, Stationary, Status, Stop, Stopping,
    TimeLimit, run, run_restarts,
};
#[doc(no_inline)]
pub use orthopt_linalg::RowMat as Matrix;
#[doc(no_inline)]
pub use orthopt_linalg::cancel::Cancel;
#[doc(no_inline)]
pub use orthopt_linalg::error::{Error, Result};
#[doc(no_inline)]
pub use orthopt_run::family::Family;
#[doc(no_inline)]
pub use orthopt_run::report::{Checks, Report};
