//! Values of constants, and the set of given ones.

use std::collections::BTreeMap;
use std::fmt;

/// The value of a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Chosen from the data.
    Auto,
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Whole(u64),
    /// A real number.
    Number(f64),
    /// A word.
    Name(&'static str),
}

impl Value {
    /// The number; yes is 1 and no is 0. `None` for words.
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Flag(v) => Some(f64::from(u8::from(v))),
            Self::Whole(v) => Some(v as f64),
            Self::Number(v) => Some(v),
            Self::Auto | Self::Name(_) => None,
        }
    }
}

/// As a person would type it.
impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => out.write_str("auto"),
            Self::Flag(v) => v.fmt(out),
            Self::Whole(v) => v.fmt(out),
            Self::Number(v) if *v != 0.0 && !(1e-3..1e5).contains(&v.abs()) && v.is_finite() => {
                write!(out, "{v:e}")
            }
            Self::Number(v) => v.fmt(out),
            Self::Name(v) => out.write_str(v),
        }
    }
}

impl serde::Serialize for Value {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => to.serialize_str("auto"),
            Self::Flag(v) => to.serialize_bool(*v),
            Self::Whole(v) => to.serialize_u64(*v),
            Self::Number(v) => to.serialize_f64(*v),
            Self::Name(v) => to.serialize_str(v),
        }
    }
}

impl From<f64> for Value {
    fn from(v: f64) -> Self {
        Self::Number(v)
    }
}
impl From<u64> for Value {
    fn from(v: u64) -> Self {
        Self::Whole(v)
    }
}
impl From<bool> for Value {
    fn from(v: bool) -> Self {
        Self::Flag(v)
    }
}

/// Constants that were set: `owner-constant` (`manpg-t`, `mcp-gamma`) to value.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(transparent)]
pub struct Given(BTreeMap<String, Value>);

impl Given {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets one.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.0.insert(name.into(), value.into());
    }

    /// Value given for `owner-constant`.
    pub fn get(&self, name: &str) -> Option<Value> {
        self.0.get(name).copied()
    }

    /// True if none was set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Those for which `which` is true.
    #[must_use]
    #[doc(hidden)]
    pub fn filtered(&self, which: impl Fn(&str) -> bool) -> Self {
        self.iter().filter(|(name, _)| which(name)).map(|(name, v)| (name.to_string(), v)).collect()
    }
}

impl<V: Into<Value>> FromIterator<(String, V)> for Given {
    fn from_iter<I: IntoIterator<Item = (String, V)>>(pairs: I) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name, value.into())).collect())
    }
}

impl<V: Into<Value>, const N: usize> From<[(String, V); N]> for Given {
    fn from(pairs: [(String, V); N]) -> Self {
        pairs.into_iter().collect()
    }
}

impl Extend<(String, Value)> for Given {
    fn extend<I: IntoIterator<Item = (String, Value)>>(&mut self, pairs: I) {
        self.0.extend(pairs);
    }
}

impl IntoIterator for Given {
    type Item = (String, Value);
    type IntoIter = std::collections::btree_map::IntoIter<String, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
