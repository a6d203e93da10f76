//! The subcommands, one per file.

pub mod bound;
pub mod certify;
pub mod check_proof;
pub mod compare;
pub mod completions;
pub mod data;
pub mod embed;
pub mod explore;
pub mod gram;
pub mod list;
pub mod path;
#[cfg(feature = "papers")]
pub mod reproduce;
pub mod solve;
pub mod transform;
#[cfg(any(test, not(feature = "papers")))]
pub mod without_papers;
