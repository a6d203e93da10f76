//! Nonsmooth optimisation under orthogonality constraints.
//!
//! ```text
//! min F(X) = f(X) + h(X)   subject to   XᵀX = I_r,   X ∈ ℝⁿˣʳ
//! ```
//!
//! with a smooth f and a separable nonsmooth h: sparse PCA (ℓ0, ℓ1) and nonnegative PCA whose
//! components are *exactly* orthogonal. The main solver is OBCD, block coordinate descent on the rows
//! of X: every iterate is feasible, F never rises, zeros are exact, and what it returns comes
//! with a statement of what kind of point it is (block-2 stationary, checked over all pairs).
//!
//! ```
//! use orthopt::prelude::*;
//!
//! // 40 samples (rows) of 6 variables (columns)
//! let a = Matrix::from_fn(40, 6, |i, j| ((i * (j + 3)) as f64 * 0.37).sin() * (j + 1) as f64);
//!
//! // min −½ tr(XᵀAᵀAX) + 20‖X‖₀ over 6 × 2 matrices with orthonormal columns
//! let found = SparsePca::l0(&a).components(2).lambda(20.0).certify().fit()?;
//!
//! assert_eq!(found.solution.status, Status::Converged);
//! assert!(found.solution.feasibility <= 1e-12);
//! assert!(found.is_certified());
//! # Ok::<(), orthopt::Error>(())
//! ```
//!
//! The parts behind it, for problems, solvers and criteria of your own (`examples/` has more):
//!
//! ```
//! use orthopt::certify::{Scope, block_stationarity};
//! use orthopt::problem::{PcaProblem, PcaData, Storage};
//! use orthopt::prelude::*;
//! use orthopt::solvers::obcd::{Obcd, ObcdOptions};
//! use orthopt::start::Start;
//!
//! // 40 samples of 6 variables, rows are samples
//! let a = faer::Mat::from_fn(40, 6, |i, j| ((i * (j + 3)) as f64 * 0.37).sin() * (j + 1) as f64);
//! let data = PcaData::Dense(a.as_ref());
//!
//! // min −½ tr(XᵀAᵀAX) + 20‖X‖₀ over 6 × 2 matrices with orthonormal columns
//! let problem = PcaProblem::pca("l0-pca", &data, 2, 20.0, Storage::Auto)?;
//! let x0 = Start::Coordinates.point(&problem.f, 2, false, 0)?;
//! let mut stop = Stationary { tol: 1e-10 }.or(TimeLimit(Some(10.0)));
//! let solver = Obcd::new(ObcdOptions::default())?;
//! let solution = run(&problem, &solver, x0, RunOptions::default(), &mut stop, &mut [])?;
//!
//! assert_eq!(solution.status, Status::Converged);
//! assert!(solution.feasibility <= 1e-12);
//! let certificate = block_stationarity(&problem, &solution.x, Scope::All);
//! assert!(certificate.holds(1e-8));
//! # Ok::<(), orthopt::Error>(())
//! ```
//!
//! # Where things are
//!
//! | module | holds |
//! |---|---|
//! | [`SparsePca`], [`prelude`] | components in three lines, and what most programs import |
//! | [`report`], [`message`] | what there is to say of a run, and messages that name options |
//! | [`family`] | what users name: problems, solvers, starts, and what is chosen for them |
//! | [`request`] | every option of every front end, declared once, and what they mean |
//! | [`problem`] | a constraint and the terms f, h, g and A put together; data, explained variance |
//! | [`constraint`] | what a constraint is: the Stiefel manifold, the J-orthogonal group |
//! | [`smooth`] | what f is and the capabilities that solvers ask for; one f or storage per file |
//! | [`nonsmooth`], [`penalty`] | what h is, and one penalty per file |
//! | [`concave`], [`linear_map`] | the part g that is subtracted, the map A inside h |
//! | [`composite`] | how far a point of f − g + h(A(X)) is from being critical |
//! | [`solvers`] | algorithms |
//! | [`solve`] | the one loop: clock, stopping, observers, solution |
//! | [`start`], [`cancel`] | starting points; whether work may go on |
//! | [`bound`] | lower bounds of F over all X, proofs of optimality |
//! | [`minimize`] | functions of the caller's own: starts, default solvers, one text for all front ends |
//! | [`explore`] | from a table to components: how many, how sparse, which, how good |
//! | [`certify`] | criticality and block-2 stationarity |
//! | [`path`], [`stability`] | how sparse components are to be, and how sure they are |
//! | [`RowMat`] | the matrix type: rows are contiguous |
//!
//! An f, h, g or A of your own is a type that implements [`smooth::Smooth`], [`nonsmooth::Nonsmooth`],
//! [`concave::Concave`] or [`linear_map::LinearMap`]; every solver takes it whose bounds it meets
//! (`examples/own_smooth.rs`, `any_smooth.rs`, `own_penalty.rs`, `own_composite.rs`).
//!
//! Bad input is an [`Error`]; what the mathematics does is a [`solve::Status`]. Nothing panics
//! on user input. The same seed gives the same X for any number of threads.

pub mod bound;
pub mod cancel;
pub mod certify;
pub mod composite;
pub mod concave;
pub mod constraint;
mod convert;
mod error;
pub mod explore;
pub mod family;
#[doc(hidden)]
pub mod internal;
pub mod job;
mod jpair;
mod linalg;
pub mod linear_map;
pub mod message;
pub mod minimize;
pub mod nonsmooth;
pub mod objective;
pub mod options;
mod pair;
pub mod path;
pub mod penalty;
pub mod prelude;
pub mod problem;
pub mod registry;
pub mod report;
mod search;
pub mod smooth;
pub mod solve;
pub mod solvers;
mod sparse_pca;
pub mod stability;
pub mod start;
pub mod threads;

pub use error::{Error, Result};
pub use family::request;
pub use linalg::RowMat;
pub use sparse_pca::SparsePca;

/// The examples of the README are compiled and run by the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
