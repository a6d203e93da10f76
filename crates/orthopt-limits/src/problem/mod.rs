//! Problems with limits of nonzeros, and with other measures of variance than that of each component by itself.

pub(crate) mod cardinality;
pub(crate) mod measured;

pub use cardinality::CardinalityProblem;
pub use measured::{MeasuredProblem, Share};
