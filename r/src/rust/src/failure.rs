//! What goes wrong, and options in messages as R has them.

use std::fmt;

use extendr_api::prelude::*;
use orthopt::message::{Hint, Message};

use orthopt::request::{Front, OPTIONS};

/// What can go wrong between R and the library.
#[derive(Debug)]
pub enum Failure {
    /// Said by the library.
    Library(orthopt::Error),
    /// Said by the bridge to R.
    Bridge(String),
}

impl From<orthopt::Error> for Failure {
    fn from(error: orthopt::Error) -> Self {
        Self::Library(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Bridge(error.to_string())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Library(error) => f.write_str(&worded(&error.message())),
            Self::Bridge(text) => f.write_str(text),
        }
    }
}

/// A result as R takes it apart: `ok`, or the text of `error`.
pub fn told(result: Result<Robj, Failure>) -> List {
    match result {
        Ok(value) => list!(ok = value),
        Err(failure) => list!(error = failure.to_string()),
    }
}

/// An option as it is given in R: `ncomp`, `time_limit = 10`, `effort = "quick"`.
pub fn word(hint: &Hint) -> String {
    let entry = OPTIONS.iter().find(|entry| entry.name == hint.option);
    let name = entry.map_or_else(|| hint.option.replace('-', "_"), |entry| entry.name_in(Front::R));
    match &hint.value {
        None => name,
        Some(value) if value.parse::<f64>().is_ok() => format!("{name} = {value}"),
        Some(value) => format!("{name} = \"{value}\""),
    }
}

/// A message with options as R has them.
pub fn worded(message: &Message) -> String {
    message.worded(word)
}
