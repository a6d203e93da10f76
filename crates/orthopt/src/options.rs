//! Constants of solvers and penalties that users may set, and the check of a value against its range.

use crate::error::{Error, Result};

/// A constant of a solver that users may set.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// Its name, the symbol of the paper in letters.
    pub name: &'static str,
    /// Symbol and meaning.
    pub doc: &'static str,
    /// Its value unless set; `None` is chosen from the data, as the doc says.
    pub default: Option<f64>,
}

/// `value` if it is finite and `accepted`, or an error that names the constant.
///
/// # Errors
/// [`Error::InvalidOption`].
pub fn checked(option: &str, value: f64, expected: &str, accepted: impl Fn(f64) -> bool) -> Result<f64> {
    if value.is_finite() && accepted(value) {
        return Ok(value);
    }
    Err(Error::InvalidOption { option: option.into(), value: value.to_string(), expected: expected.into() })
}
