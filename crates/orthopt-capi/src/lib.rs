//! The C library of orthopt: six functions over the one request, each of which returns a handle.
//!
//! [`border`] is the only file that touches pointers. [`options`] reads JSON, [`solve`] and [`minimize`] call the stages of the
//! library, [`outcome`] is the handle. `include/orthopt.h` is made from this crate by a test.

#![allow(missing_docs, reason = "the header is the documentation, and the crate has no users in Rust")]

mod border;
mod minimize;
mod options;
mod outcome;
mod solve;
mod watch;
