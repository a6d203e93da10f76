//! Knowledge graphs with relations as J-orthogonal matrices, scored by inner products or by distances in ultrahyperbolic
//! space (UltraE with the full group; JOBCD paper, App. F.2).
//!
//! ```text
//! bilinear   z(h, r, t) = c_r·⟨R_r x_h, x_t⟩_J,                 RᵣᵀJRᵣ = J,   x ∈ ℝⁿ
//! ultrae     z(h, r, t) = −d²(R_r e_h, e_t) + b_h + b_t + δ,   RᵣᵀJRᵣ = J,   e ∈ U = {x : ⟨x, x⟩_J = −α²}
//! ```
//!
//! Entities of `bilinear` are free vectors ([`bilinear`]), those of `ultrae` points of U, the images of free parameters
//! ([`manifold`]). Relations stay on the group at every step ([`relation`]), as Givens rotations and boosts, and with
//! `ultrae` also moved along all pairs of their rows or as factors of the hyperbolic CS decomposition. [`Trainer`]
//! learns them from triples, [`Model`] answers questions.
//!
//! ```
//! use orthopt_embed::{Graph, Options, Trainer, Triple};
//!
//! let fact = |head, relation, tail| Triple { head, relation, tail };
//! let names = |n: usize| (0..n).map(|i| i.to_string()).collect();
//! // a ring of 12: (i, next, i + 1)
//! let train = (0..12).map(|i| fact(i, 0, (i + 1) % 12)).collect();
//! let graph = Graph { entities: names(12), relations: names(1), train, ..Graph::default() };
//!
//! let mut options = Options::default();
//! (options.dim, options.signature) = (16, 8);
//! let never = orthopt::cancel::Cancel::never();
//! let mut trainer = Trainer::new(graph, &options)?;
//! trainer.run(None, &never, |_, _| ());
//!
//! let ranks = trainer.rank(&trainer.model, &trainer.graph().train, &never).unwrap();
//! assert!(ranks.metrics().mrr > 0.9);
//! assert!(trainer.model.residual() < 1e-12);
//! # Ok::<(), orthopt_embed::Error>(())
//! ```
//!
//! Bad input is an [`Error`]. The same seed gives the same numbers for any number of threads.

mod batch;
pub mod bilinear;
pub mod chunk;
pub mod distance;
mod error;
mod evaluate;
mod file;
mod graph;
mod jobcd;
mod loss;
pub mod manifold;
mod model;
pub mod moments;
mod options;
mod own;
mod part;
mod race;
mod read;
pub mod relation;
mod train;

pub use distance::Distance;
pub use error::{Error, Result};
pub use evaluate::{Metrics, Ranks};
pub use file::Saved;
pub use graph::{Answers, Graph, Question, Triple};
pub use loss::Loss;
pub use manifold::Space;
pub use model::Model;
pub use moments::Optimiser;
pub use options::{NoNegatives, Options, Rule, Schedule, Scorer, Unknown};
pub use own::{Own, PerRelation};
pub use part::PartSizes;
pub use race::{Race, RaceEnded, Tried};
pub use read::{Format, Found, Order, Words, may_be_header, read_graph, read_triples};
pub use relation::Form;
pub use train::{Ended, Record, Trainer};
