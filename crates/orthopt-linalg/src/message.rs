//! Messages for users that name options. The library does not know the spelling of an
//! option: each front end words it, the command as `--restarts 0`, Python as `restarts=0`.

use std::borrow::Cow;
use std::fmt;

/// An option in a message, which the reader may set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Its name; words are joined by dashes.
    pub option: Cow<'static, str>,
    /// A value that helps, where one is proposed.
    pub value: Option<Cow<'static, str>>,
}

impl fmt::Display for Hint {
    /// The wording of the library itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            None => write!(f, "option `{}`", self.option),
            Some(value) => write!(f, "option `{}` = {value}", self.option),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(Cow<'static, str>),
    Hint(Hint),
}

/// A sentence with options in it.
///
/// ```
/// use orthopt::message::Message;
///
/// let message = Message::from("radius 1 (").option("radius").text(")");
/// assert_eq!(message.worded(|hint| format!("--{}", hint.option)), "radius 1 (--radius)");
/// assert_eq!(message.to_string(), "radius 1 (option `radius`)");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message(Vec<Part>);

impl Message {
    /// A message that begins with an option.
    pub fn about(option: impl Into<Cow<'static, str>>) -> Self {
        Self::default().option(option)
    }

    /// Continues with text.
    #[must_use]
    pub fn text(mut self, text: impl Into<Cow<'static, str>>) -> Self {
        self.0.push(Part::Text(text.into()));
        self
    }

    /// Continues with an option.
    #[must_use]
    pub fn option(mut self, option: impl Into<Cow<'static, str>>) -> Self {
        self.0.push(Part::Hint(Hint { option: option.into(), value: None }));
        self
    }

    /// Continues with an option and a value for it.
    #[must_use]
    pub fn set(mut self, option: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.0.push(Part::Hint(Hint { option: option.into(), value: Some(value.into()) }));
        self
    }

    /// Continues with another message.
    #[must_use]
    pub fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The text, with options spelt by `word`.
    pub fn worded(&self, word: impl Fn(&Hint) -> String) -> String {
        let parts = self.0.iter().map(|part| match part {
            Part::Text(text) => text.to_string(),
            Part::Hint(hint) => word(hint),
        });
        parts.collect()
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(Hint::to_string))
    }
}

impl From<&'static str> for Message {
    fn from(text: &'static str) -> Self {
        Self::default().text(text)
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::default().text(text)
    }
}
