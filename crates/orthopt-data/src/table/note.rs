//! Sentences that name options. The readers do not know how an option is given: the caller that shows the sentence says it, the
//! command as `--drop Species`, Python as `drop="Species"`.

use std::borrow::Cow;
use std::fmt;

use crate::text::printable;

/// A part of a [`Note`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotePart {
    /// Words.
    Text(Cow<'static, str>),
    /// An option, with a value where one is proposed.
    Option {
        /// Its name; words are joined by hyphens.
        name: &'static str,
        /// The value.
        value: Option<String>,
    },
}

/// A sentence with options in it.
///
/// ```
/// use orthopt_data::Note;
///
/// let note = Note::from("columns of text are left out by ").set("drop", "Species");
/// assert_eq!(note.to_string(), "columns of text are left out by option `drop` = Species");
/// let typed = note.worded(|name, value| format!("--{name} {}", value.unwrap_or_default()));
/// assert_eq!(typed, "columns of text are left out by --drop Species");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note(Vec<NotePart>);

impl Note {
    /// A note that begins with an option.
    pub fn about(option: &'static str) -> Self {
        Self::default().option(option)
    }

    /// Continues with text.
    #[must_use]
    pub fn text(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.0.push(NotePart::Text(text.into()));
        self
    }

    /// Continues with an option.
    #[must_use]
    pub fn option(mut self, name: &'static str) -> Self {
        self.0.push(NotePart::Option { name, value: None });
        self
    }

    /// Continues with an option and a value for it.
    #[must_use]
    pub fn set(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.push(NotePart::Option { name, value: Some(value.into()) });
        self
    }

    /// The parts, in order.
    pub fn parts(&self) -> &[NotePart] {
        &self.0
    }

    /// The text, with options as `word` says them.
    pub fn worded(&self, word: impl Fn(&str, Option<&str>) -> String) -> String {
        let part = |part: &NotePart| match part {
            NotePart::Text(text) => text.to_string(),
            NotePart::Option { name, value } => word(name, value.as_deref().map(printable).as_deref()),
        };
        self.0.iter().map(part).collect()
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(|name, value| match value {
            None => format!("option `{name}`"),
            Some(value) => format!("option `{name}` = {value}"),
        }))
    }
}

impl From<&'static str> for Note {
    fn from(text: &'static str) -> Self {
        Self::default().text(text)
    }
}

impl From<String> for Note {
    fn from(text: String) -> Self {
        Self::default().text(text)
    }
}
