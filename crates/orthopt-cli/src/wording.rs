//! Messages of the library with options in the spelling of the command.

use orthopt::message::{Hint, Message};
use orthopt_data::{DataError, Note, NotePart};

/// `--restarts`, or `--restarts 0` where a value is proposed.
pub fn word(hint: &Hint) -> String {
    typed(&hint.option, hint.value.as_deref())
}

/// An option as it is typed, ready to be pasted into a shell.
pub fn typed(option: &str, value: Option<&str>) -> String {
    match value {
        None => format!("--{option}"),
        // a flag
        Some("true") => format!("--{option}"),
        Some(value) => format!("--{option} {}", quoted(value)),
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-+.,:/=@%".contains(c);
    if word.chars().all(plain) && !word.is_empty() {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A note of the readers as a message of the library.
pub fn message(note: &Note) -> Message {
    note.parts().iter().fold(Message::default(), |message, part| match part {
        NotePart::Text(text) => message.text(text.clone()),
        NotePart::Option { name, value: None } => message.option(*name),
        NotePart::Option { name, value: Some(value) } => message.set(name, value.clone()),
    })
}

/// A message.
pub fn said(message: &Message) -> String {
    message.worded(word)
}

/// An error with what led to it, in one line.
pub fn explained(error: &anyhow::Error) -> String {
    let causes = error.chain().map(|cause| match cause.downcast_ref::<orthopt::Error>() {
        Some(error) => said(&error.message()),
        None => match cause.downcast_ref::<DataError>() {
            Some(error) => error.worded(typed),
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
