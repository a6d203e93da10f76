//! The declaration of constants: one line gives a field of a struct, its default, range, meaning and
//! symbol, and with them the entry of the registry, the option of the command, the keyword of Python
//! and the line of reports.
//!
//! ```text
//! constants! {
//!     /// Constants of ManPG.
//!     pub struct ManPg {
//!         /// factor of the line search on alpha
//!         gamma ["γ"]: f64 = 0.5, "between 0 and 1, exclusive" if |v| v > 0.0 && v < 1.0;
//!     }
//!     plain {
//!         /// Whether t grows.
//!         adaptive: bool = false;
//!     }
//! }
//! ```
//!
//! Types are f64, `Option<f64>` (`None` is chosen from the data), u32, u64, usize, bool, and enums of
//! `choices!`. What is `plain` belongs to the struct but is not for users. A preset is a constant
//! of the struct, `ManPg { adaptive: true, ..ManPg::DEFAULT }`, whose `constants()` the registry shows.

use super::{Constant, Given, Kind, Value};
use orthopt_linalg::error::Result;

/// A struct made by `constants!`.
pub trait Constants: Sized {
    /// All constants with their defaults.
    const LIST: &'static [Constant];

    /// Sets one to a value of its kind; false if there is none of that name and kind.
    fn set(&mut self, name: &str, value: Value) -> bool;

    /// The constants with the values they have here as defaults.
    fn values(&self) -> Vec<Constant>;

    /// The value of one.
    fn value(&self, name: &str) -> Option<Value> {
        value(&self.values(), name)
    }

    /// This, if all constants are in range; `owner` is the solver or penalty they belong to.
    ///
    /// # Errors
    /// [`Error::InvalidOption`](orthopt_linalg::Error::InvalidOption) for `owner-constant`.
    fn checked(self, owner: &str) -> Result<Self> {
        check(&self.values(), owner)?;
        Ok(self)
    }

    /// This with those of the `listed` constants that were given for `owner`, all in range.
    ///
    /// # Errors
    /// [`Error::InvalidOption`](orthopt_linalg::Error::InvalidOption) for `owner-constant`.
    fn with(mut self, owner: &str, listed: &[Constant], given: &Given) -> Result<Self> {
        for (name, value) in chosen(owner, listed, given)? {
            self.set(name, value);
        }
        self.checked(owner)
    }

    /// The `listed` constants as they are here, under the names of their fields; those that are chosen
    /// from the data are left out.
    fn in_force(&self, listed: &[Constant]) -> Vec<(String, Value)> {
        in_force(&self.values(), listed)
    }
}

// Code that the methods of all structs share, compiled once.

fn check(values: &[Constant], owner: &str) -> Result<()> {
    for constant in values {
        constant.check(&option(owner, constant.name), constant.default)?;
    }
    Ok(())
}

fn chosen(owner: &str, listed: &[Constant], given: &Given) -> Result<Vec<(&'static str, Value)>> {
    let mut chosen = Vec::new();
    for constant in listed {
        let option = option(owner, constant.name);
        if let Some(value) = given.get(&option) {
            chosen.push((constant.name, constant.check(&option, value)?));
        }
    }
    Ok(chosen)
}

fn value(values: &[Constant], name: &str) -> Option<Value> {
    values.iter().find(|c| c.name == name).map(|c| c.default)
}

fn in_force(values: &[Constant], listed: &[Constant]) -> Vec<(String, Value)> {
    let named = listed.iter().filter_map(|c| Some((c.name.replace('-', "_"), value(values, c.name)?)));
    named.filter(|(_, value)| *value != Value::Auto).collect()
}

/// The name users type: `owner-constant`, or the constant alone where it belongs to several solvers.
fn option(owner: &str, constant: &str) -> String {
    if owner.is_empty() { constant.into() } else { format!("{owner}-{constant}") }
}

/// A type that constants may have.
pub trait Typed: Sized {
    /// Kind of the value.
    const KIND: Kind;
    /// True if it may be chosen from the data.
    const OPTIONAL: bool = false;

    /// From a value of its kind.
    fn of(value: Value) -> Option<Self>;
}

impl Typed for f64 {
    const KIND: Kind = Kind::Number;

    fn of(value: Value) -> Option<Self> {
        if let Value::Number(v) = value { Some(v) } else { None }
    }
}

impl Typed for bool {
    const KIND: Kind = Kind::Flag;

    fn of(value: Value) -> Option<Self> {
        if let Value::Flag(v) = value { Some(v) } else { None }
    }
}

impl<T: Typed> Typed for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;

    fn of(value: Value) -> Option<Self> {
        if value == Value::Auto { Some(None) } else { T::of(value).map(Some) }
    }
}

macro_rules! whole {
    ($($type:ty),*) => {$(
        impl Typed for $type {
            const KIND: Kind = Kind::Whole;

            fn of(value: Value) -> Option<Self> {
                if let Value::Whole(v) = value { v.try_into().ok() } else { None }
            }
        }
    )*};
}

whole!(u32, u64, usize);

/// `name` with hyphens, for constants.
pub const fn hyphened<const N: usize>(name: &str) -> [u8; N] {
    let mut bytes = [0; N];
    let mut k = 0;
    while k < N {
        let byte = name.as_bytes()[k];
        bytes[k] = if byte == b'_' { b'-' } else { byte };
        k += 1;
    }
    bytes
}

/// The text of bytes that came from text.
pub const fn text(bytes: &[u8]) -> &str {
    match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => "",
    }
}

/// A field as a [`Value`], for constants: by the words of its type.
#[doc(hidden)]
#[macro_export]
macro_rules! value_of {
    ($e:expr, f64) => {
        $crate::options::Value::Number($e)
    };
    ($e:expr, bool) => {
        $crate::options::Value::Flag($e)
    };
    ($e:expr, u32) => {
        $crate::options::Value::Whole($e as u64)
    };
    ($e:expr, u64) => {
        $crate::options::Value::Whole($e)
    };
    ($e:expr, usize) => {
        $crate::options::Value::Whole($e as u64)
    };
    ($e:expr, Option $inner:ident) => {
        match $e {
            Some(v) => $crate::value_of!(v, $inner),
            None => $crate::options::Value::Auto,
        }
    };
    ($e:expr, $named:ident) => {
        $e.value()
    };
}

/// The test of a range; everything where there is none.
#[doc(hidden)]
#[macro_export]
macro_rules! accepts {
    () => {
        |_| true
    };
    ($test:expr) => {
        $test
    };
}

/// See the [module](self).
#[doc(hidden)]
#[macro_export]
macro_rules! constants {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident [$symbol:literal]: $type:ident $(<$inner:ident>)? = $default:expr
                    $(, $expected:literal if $accepts:expr)?;
            )*
        }
        $(plain {
            $($(#[doc = $plain_doc:literal])+ $plain:ident: $plain_type:ty = $plain_default:expr;)+
        })?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $name {
            $(
                #[doc = concat!("`", $symbol, "`:", $($doc),+, ".")]
                pub $field: $type $(<$inner>)?,
            )*
            $($($(#[doc = $plain_doc])+ pub $plain: $plain_type,)+)?
        }

        impl $name {
            /// The defaults.
            pub const DEFAULT: Self = Self { $($field: $default,)* $($($plain: $plain_default,)+)? };

            /// Number of constants.
            pub const COUNT: usize = { let names: &[&str] = &[$(stringify!($field)),*]; names.len() };

            /// All constants with the values they have here as defaults.
            pub const fn constants(&self) -> [$crate::options::Constant; Self::COUNT] {
                [$($crate::options::Constant {
                    name: {
                        const BYTES: [u8; stringify!($field).len()] =
                            $crate::options::declare::hyphened(stringify!($field));
                        $crate::options::declare::text(&BYTES)
                    },
                    symbol: $symbol,
                    doc: concat!($($doc),+).trim_ascii(),
                    default: $crate::value_of!(self.$field, $type $($inner)?),
                    kind: <$type $(<$inner>)? as $crate::options::declare::Typed>::KIND,
                    optional: <$type $(<$inner>)? as $crate::options::declare::Typed>::OPTIONAL,
                    expected: concat!($($expected)?),
                    accepts: $crate::accepts!($($accepts)?),
                },)*]
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::DEFAULT
            }
        }

        impl $crate::options::Constants for $name {
            const LIST: &'static [$crate::options::Constant] = &Self::DEFAULT.constants();

            fn values(&self) -> Vec<$crate::options::Constant> {
                self.constants().to_vec()
            }

            #[allow(unused_variables)]
            fn set(&mut self, name: &str, value: $crate::options::Value) -> bool {
                let name = name.replace('-', "_");
                $(if name == stringify!($field) {
                    let typed = <$type $(<$inner>)? as $crate::options::declare::Typed>::of(value);
                    return typed.map(|v| self.$field = v).is_some();
                })*
                false
            }
        }
    };
}

/// An enum whose variants have names that users type, with one line each: the type, the table of names,
/// `parse`, `name`, and what [`constants!`] needs of it.
#[doc(hidden)]
#[macro_export]
macro_rules! choices {
    (
        $(#[$meta:meta])*
        $vis:vis enum $type:ident as $what:literal, $table:ident {
            $($(#[$doc:meta])* $variant:ident = $name:literal, $line:literal;)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $type { $($(#[$doc])* $variant,)+ }

        #[doc = concat!("Names for [`", stringify!($type), "`], with one line each.")]
        pub const $table: &[(&str, $type, &str)] = &[$(($name, $type::$variant, $line)),+];

        impl $type {
            #[doc = concat!("Parses one of `", stringify!($table), "`.")]
            ///
            /// # Errors
            /// [`UnknownName`](orthopt_linalg::Error::UnknownName).
            pub fn parse(name: &str) -> $crate::Result<Self> {
                $table.iter().find(|entry| entry.0 == name).map(|entry| entry.1).ok_or_else(|| {
                    $crate::Error::UnknownName {
                        kind: $what,
                        name: name.into(),
                        known: $table.iter().map(|entry| entry.0).collect::<Vec<_>>().join(", "),
                    }
                })
            }

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            #[allow(dead_code)] // a choice need not be a constant of anything
            #[doc(hidden)]
            pub const fn value(self) -> $crate::options::Value {
                $crate::options::Value::Name(self.name())
            }
        }

        impl $crate::options::declare::Typed for $type {
            const KIND: $crate::options::Kind = $crate::options::Kind::Name(&[$($name),+]);

            fn of(value: $crate::options::Value) -> Option<Self> {
                match value {
                    $crate::options::Value::Name(name) => Self::parse(name).ok(),
                    _ => None,
                }
            }
        }
    };
}
