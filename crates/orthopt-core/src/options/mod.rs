//! Constants of solvers and penalties that users may set: declared once by `constants!`, with type,
//! default, range, meaning and the paper's symbol. The registry, the command, Python and reports read
//! them from that declaration.

pub mod declare;
mod value;

pub use crate::{choices, constants};
pub use declare::Constants;
pub use value::{Given, Value};

use orthopt_linalg::error::{Error, Result};

/// A constant that users may set.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// Its name: that of the field, with hyphens.
    pub name: &'static str,
    /// The symbol of the paper.
    pub symbol: &'static str,
    /// Its meaning.
    pub doc: &'static str,
    /// Its value unless set.
    pub default: Value,
    /// Kind and range.
    pub kind: Kind,
    /// True if it may be [`Value::Auto`], chosen from the data as `doc` says.
    pub optional: bool,
    /// The range of numbers, in words; empty for what has none.
    pub expected: &'static str,
    /// The range of numbers.
    pub accepts: fn(f64) -> bool,
}

/// Kind of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A real number.
    Number,
    /// A whole number >= 0.
    Whole,
    /// A whole number >= 0, or one of these words.
    WholeOr(&'static [&'static str]),
    /// Yes or no.
    Flag,
    /// One of these words.
    Name(&'static [&'static str]),
}

/// Whole numbers that an f64 holds exactly.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;

impl Constant {
    /// Symbol, meaning and default in one line.
    pub fn line(&self) -> String {
        let symbol = if self.symbol.is_empty() { String::new() } else { format!("{}, ", self.symbol) };
        format!("{symbol}{} [default: {}]", self.doc, self.default)
    }

    /// Accepted values in words; with `auto` if the constant is [`optional`](Self::optional).
    pub fn range(&self) -> String {
        match self.kind {
            Kind::Flag => "true or false".into(),
            Kind::Name(names) => format!("one of {}", names.join(", ")),
            Kind::WholeOr(names) => format!("{}, or {}", self.expected, names.join(", ")),
            Kind::Number | Kind::Whole => self.expected.into(),
        }
    }

    /// The value that `text` stands for.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] for `option` with the range.
    pub fn parse(&self, option: &str, text: &str) -> Result<Value> {
        let text = text.trim();
        let value = match (text, self.kind) {
            ("auto", _) => Some(Value::Auto),
            ("true", _) => Some(Value::Flag(true)),
            ("false", _) => Some(Value::Flag(false)),
            (_, Kind::Name(names) | Kind::WholeOr(names)) if names.contains(&text) => {
                names.iter().find(|name| **name == text).map(|name| Value::Name(name))
            }
            (_, Kind::Whole | Kind::WholeOr(_)) if text.parse::<u64>().is_ok() => {
                text.parse().ok().map(Value::Whole)
            }
            _ => text.parse().ok().map(Value::Number),
        };
        let Some(value) = value else { return Err(self.refused(option, text)) };
        self.check(option, value)
    }

    /// `value` in the constant's own type, if it is in range: 20.0 is the whole number 20, and 1 is
    /// true.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] for `option` with the range.
    pub fn check(&self, option: &str, value: Value) -> Result<Value> {
        let number = |v: f64| v.is_finite() && (self.accepts)(v);
        let fits = match (self.kind, value) {
            (_, Value::Auto) if self.optional => Some(value),
            (Kind::Number, Value::Number(v)) if number(v) => Some(value),
            (Kind::Number, Value::Whole(v)) if number(v as f64) => Some(Value::Number(v as f64)),
            (Kind::Whole | Kind::WholeOr(_), Value::Whole(v)) if number(v as f64) => Some(value),
            (Kind::Whole | Kind::WholeOr(_), Value::Number(v))
                if number(v) && v.fract() == 0.0 && (0.0..=MOST_WHOLE).contains(&v) =>
            {
                Some(Value::Whole(v as u64))
            }
            (Kind::Flag, Value::Flag(_)) => Some(value),
            (Kind::Flag, Value::Whole(v @ (0 | 1))) => Some(Value::Flag(v == 1)),
            (Kind::Flag, Value::Number(v)) if v == 0.0 || v == 1.0 => Some(Value::Flag(v == 1.0)),
            (Kind::Name(names) | Kind::WholeOr(names), Value::Name(name)) if names.contains(&name) => {
                Some(value)
            }
            _ => None,
        };
        fits.ok_or_else(|| self.refused(option, &value.to_string()))
    }

    fn refused(&self, option: &str, value: &str) -> Error {
        Error::InvalidOption { option: option.into(), value: value.into(), expected: self.range() }
    }
}

/// `value` if it is finite and `accepted`, or an error that names the option.
///
/// # Errors
/// [`Error::InvalidOption`].
pub fn checked(option: &str, value: f64, expected: &str, accepted: impl Fn(f64) -> bool) -> Result<f64> {
    if value.is_finite() && accepted(value) {
        return Ok(value);
    }
    Err(Error::InvalidOption { option: option.into(), value: value.to_string(), expected: expected.into() })
}

/// Those of `all` that have these names, for a preset that does not examine the others. A name that does
/// not exist does not compile where the list is a constant.
pub const fn only<const N: usize>(all: &[Constant], names: [&str; N]) -> [Constant; N] {
    let mut found = [all[0]; N];
    let mut k = 0;
    while k < N {
        found[k] = all[place(all, names[k])];
        k += 1;
    }
    found
}

/// Copy of `list` with `doc` as the meaning of the constant `name`.
pub const fn described<const N: usize>(
    mut list: [Constant; N],
    name: &str,
    doc: &'static str,
) -> [Constant; N] {
    let at = place(&list, name);
    list[at].doc = doc;
    list
}

/// Index of the constant `name` in `all`.
const fn place(all: &[Constant], name: &str) -> usize {
    let mut k = 0;
    while !same(all[k].name.as_bytes(), name.as_bytes()) {
        k += 1;
    }
    k
}

/// a == b, for constants.
const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut k = 0;
    while k < a.len() && k < b.len() && a[k] == b[k] {
        k += 1;
    }
    k == a.len() && k == b.len()
}
