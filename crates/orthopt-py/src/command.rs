//! The command `orthopt` in the process of Python.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command with these words, the first of which is its name; returns its exit code. Signals are its own from then
/// on: a process runs it once, and ends.
#[pyfunction]
pub fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| orthopt_cli::command(words))
}
