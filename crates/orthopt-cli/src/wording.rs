//! Messages of the library with options in the spelling of the command.

use orthopt::message::{Hint, Message};
use orthopt_data::DataError;

/// `--restarts`, or `--restarts 0` where a value is proposed.
pub fn word(hint: &Hint) -> String {
    match &hint.value {
        None => format!("--{}", hint.option),
        Some(value) => format!("--{} {value}", hint.option),
    }
}

/// A message.
pub fn said(message: &Message) -> String {
    message.worded(word)
}

/// An error with what led to it, in one line.
pub fn explained(error: &anyhow::Error) -> String {
    let causes = error.chain().map(|cause| match cause.downcast_ref::<orthopt::Error>() {
        Some(error) => said(&error.message()),
        None => match cause.downcast_ref::<DataError>().and_then(DataError::hint) {
            Some(option) => format!("{cause} (--{option})"),
            None => cause.to_string(),
        },
    });
    causes.collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn options_are_worded_through_all_layers_of_an_error() {
        let overflow = orthopt::Error::Overflow { column: 3 };
        let error = Err::<(), _>(overflow).context("data.csv").unwrap_err();
        let text = explained(&error);
        assert!(text.starts_with("data.csv: C = A'A overflows in column 3"), "{text}");
        assert!(text.ends_with("scale them (--scale unit)"), "{text}");
        let message = Message::from("one start (").option("restarts").text(")");
        assert_eq!(said(&message), "one start (--restarts)");
    }
}
