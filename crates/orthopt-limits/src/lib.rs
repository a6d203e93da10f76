//! Problems with limits of nonzeros, or with another measure of variance than that of each component by itself, and the
//! solvers of them.

pub mod cardinality_ladmm;
pub mod exchange;
pub mod overshoot;
pub mod problem;
pub mod uncorrelated;

use orthopt_core::solve::info::SolverInfo;

use problem::{CardinalityProblem, MeasuredProblem};

/// All solvers of problems with a limit on nonzeros.
pub static CARDINALITY_SOLVERS: &[SolverInfo<CardinalityProblem>] =
    &[exchange::INFO, cardinality_ladmm::INFO];

/// All solvers of problems with components that maximise a measure.
pub static MEASURED_SOLVERS: &[SolverInfo<MeasuredProblem>] = &[overshoot::INFO, overshoot::NESTED];

/// All solvers of those where uncorrelated components exist one after the other for every C.
pub static UNCORRELATED_SOLVERS: &[SolverInfo<MeasuredProblem>] =
    &[uncorrelated::INFO, overshoot::OF_UNCORRELATED];
