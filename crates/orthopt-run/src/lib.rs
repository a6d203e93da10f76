//! Problems by their names, the options of every front end, the search, and what there is to say of a run.

pub mod family;
pub mod registry;
pub mod report;
pub mod search;
pub mod solvers;

pub use family::request;
