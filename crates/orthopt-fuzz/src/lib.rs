//! Common parts of the fuzz tests: [`run`] sets the number of inputs, [`mutated`] makes them from valid files,
//! [`one_line`] checks that a message has one line.
//!
//! A target is an ordinary test whose name has `fuzz` in it. `cargo test` tries a fixed number of inputs, the same
//! ones every time; `cargo xtask fuzz MINUTES` tries as many as there is time for. What fails is named by its seed:
//! `ORTHOPT_FUZZ_SEED=N cargo test ...` begins with it.

mod budget;
mod mutate;

pub use budget::run;
pub use mutate::{mutated, pick};

/// Checks that a message is one line without control characters, and short enough to be read.
///
/// # Panics
/// It is not.
#[track_caller]
pub fn one_line(message: &str) {
    let foreign = |c: &char| c.is_control() || matches!(c, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}');
    assert!(!message.contains(|c| foreign(&c)), "a message of several lines: {message:?}");
    assert!(!message.is_empty() && message.len() <= 4000, "a message of {} bytes: {message}", message.len());
}
