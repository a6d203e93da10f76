//! Code shared by modules for other languages: data in memory as problems take them, and names of errors.

pub mod errors;
mod input;

pub use input::{About, Borrowed, Failure, Preparation};
