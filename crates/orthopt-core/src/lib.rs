//! The parts of [orthopt](https://docs.rs/orthopt) that know no solver and no name of a problem: the terms of F, constraints, the subproblem of two rows, the loop around a solver, checks of a point. It promises nothing to other
//! programs: use `orthopt`, which shows what is promised.

pub mod certify;
pub mod composite;
pub mod concave;
pub mod constraint;
pub mod linear_map;
pub mod nonsmooth;
pub mod objective;
pub mod options;
pub mod pair;
pub mod penalty;
pub mod problem;
pub mod smooth;
pub mod solve;
pub mod start;

pub use orthopt_linalg::{Error, Result, RowMat};
