//! Imports of nearly every file with a solver.

pub use crate::preset::{Domain, Penalties, Preset};
pub use orthopt_core::composite::Composite;
pub use orthopt_core::concave::Concave;
pub use orthopt_core::constraint::{Stiefel, stiefel};
pub use orthopt_core::linear_map::LinearMap;
pub use orthopt_core::nonsmooth::Nonsmooth;
pub use orthopt_core::options::{Constants, constants, only};
pub use orthopt_core::problem::Problem;
pub use orthopt_core::smooth::Smooth;
pub use orthopt_core::solve::{
    Behaviour, Confirmed, Current, Details, Ending, Solver, Stagnation, Status, Step,
};
pub use orthopt_linalg::RowMat;
pub use orthopt_linalg::error::{Error, Result};
