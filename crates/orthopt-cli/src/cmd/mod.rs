//! The subcommands, one per file.

pub mod bound;
pub mod certify;
pub mod compare;
pub mod completions;
pub mod data;
pub mod embed;
pub mod explore;
pub mod gram;
pub mod list;
pub mod path;
pub mod reproduce;
pub mod solve;
pub mod transform;
