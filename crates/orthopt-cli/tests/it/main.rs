//! The tests of the command: one binary, a module for each part.

mod common;

mod any_table;
mod bad_data;
mod bad_options;
mod beyond_memory;
mod bound;
mod certify;
mod claims;
mod compare;
mod composite;
mod config;
mod constants;
mod data;
mod determinism;
mod embed;
mod explore;
mod far_means;
mod files;
mod first_contact;
mod gallery;
mod hyperbolic;
#[cfg(unix)]
mod interrupt;
mod json;
mod limits;
mod meaning;
mod measures;
mod memory;
mod names;
mod nonlinear;
mod nonzeros;
mod options;
mod outputs;
mod path;
mod pictures;
mod problems;
mod proof;
mod rank;
mod real_data;
mod reproduce;
mod results;
mod solve;
mod stability;
#[cfg(unix)]
mod streams;
mod tables;
mod terminal;
mod units;
mod whole_table;
