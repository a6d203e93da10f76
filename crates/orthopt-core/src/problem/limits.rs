//! Limits on the number of nonzero entries of X, and which entries those are.

use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::order::{descending, descending_to};

/// Limits on the number of nonzero entries of X (n × r).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Cardinality {
    /// ‖xₖ‖₀ ≤ sₖ for each of the r components.
    Components(Vec<usize>),
    /// ‖X‖₀ ≤ s for all components together.
    Total(usize),
    /// At most s rows of X are not zero: variables selected for all components together.
    Rows(usize),
}

impl Cardinality {
    /// Checks the limits for n × r and reduces them to n entries per component.
    ///
    /// # Errors
    /// Fewer or more limits than components, limits under which no X has XᵀX = I.
    pub fn checked(self, n: usize, r: usize) -> Result<Self> {
        let wrong = |option: &str, value: String, expected: String| {
            Err(Error::InvalidOption { option: option.into(), value, expected })
        };
        Ok(match self {
            Self::Components(list) if list.len() != r => {
                let numbers =
                    if list.len() == 1 { "1 number".into() } else { format!("{} numbers", list.len()) };
                return wrong(
                    "nonzeros",
                    numbers,
                    format!("{r}, one for each component, or rank {}", list.len()),
                );
            }
            Self::Components(list) if list.contains(&0) => {
                return wrong("nonzeros", "0".into(), "at least 1 for every component".into());
            }
            Self::Components(list) => Self::Components(list.into_iter().map(|s| s.min(n)).collect()),
            Self::Total(s) if s < r => {
                let expected =
                    format!("at least {r}, one nonzero for each of the {r} components, or a smaller rank");
                return wrong("total-nonzeros", s.to_string(), expected);
            }
            Self::Total(s) => Self::Total(s.min(n * r)),
            Self::Rows(s) if s < r => {
                let expected = format!(
                    "at least {r}: {r} orthogonal components have {r} variables; or choose a smaller rank"
                );
                return wrong("variables", s.to_string(), expected);
            }
            Self::Rows(s) => Self::Rows(s.min(n)),
        })
    }

    /// Nonzeros that all components may have together; variables, where those are limited.
    #[doc(hidden)]
    pub fn total(&self) -> usize {
        match self {
            Self::Components(list) => list.iter().sum(),
            Self::Total(s) | Self::Rows(s) => *s,
        }
    }

    /// True if X keeps the limits; exact zeros count as zeros.
    pub fn allows(&self, x: &RowMat) -> bool {
        match self {
            Self::Components(list) => list.iter().enumerate().all(|(k, s)| support(x, k).len() <= *s),
            Self::Total(s) => x.data().iter().filter(|v| **v != 0.0).count() <= *s,
            Self::Rows(s) => nonzero_rows(x).len() <= *s,
        }
    }

    /// True if an n × r matrix can have more nonzeros than allowed.
    pub fn excludes(&self, n: usize, r: usize) -> bool {
        match self {
            Self::Components(list) => list.iter().any(|s| *s < n),
            Self::Total(s) => *s < n * r,
            Self::Rows(s) => *s < n,
        }
    }

    /// In words.
    pub fn words(&self) -> String {
        match self {
            Self::Components(list) => {
                let one = list.iter().all(|s| *s == list[0]);
                let shown: Vec<_> =
                    list.iter().take(if one { 1 } else { list.len() }).map(usize::to_string).collect();
                format!(
                    "at most {} in {}",
                    shown.join(", "),
                    if one { "each component" } else { "the components" }
                )
            }
            Self::Total(s) => format!("at most {s} in all components together"),
            Self::Rows(s) => format!("at most {s} variables for all components together"),
        }
    }

    /// True if X has as many nonzeros as it may.
    #[doc(hidden)]
    pub fn is_used(&self, x: &RowMat) -> bool {
        match self {
            Self::Components(list) => list.iter().enumerate().all(|(k, s)| support(x, k).len() >= *s),
            Self::Total(s) => x.data().iter().filter(|v| **v != 0.0).count() >= *s,
            Self::Rows(s) => nonzero_rows(x).len() >= *s,
        }
    }

    /// Keeps the entries largest in absolute value and sets the others to zero: the projection onto the limits.
    /// For a total, the largest entry of every component stays. Cost O(nr log nr).
    pub fn truncate(&self, x: &mut RowMat) {
        let (n, r) = (x.nrows(), x.ncols());
        match self {
            Self::Components(list) => list.iter().enumerate().for_each(|(k, s)| keep_largest(x, k, *s)),
            Self::Total(s) => {
                let peak = |k: usize| {
                    (0..n).fold(0, |best, i| if x.get(i, k).abs() > x.get(best, k).abs() { i } else { best })
                };
                let peaks: Vec<usize> = (0..r).map(peak).collect();
                let mut order: Vec<usize> = (0..n * r).filter(|e| peaks[e % r] != e / r).collect();
                descending(&mut order, &|e| x.data()[e].abs());
                order.iter().skip(s.saturating_sub(r)).for_each(|e| x.data_mut()[*e] = 0.0);
            }
            Self::Rows(s) => {
                let size = |i: usize| x.row(i).iter().map(|v| v * v).sum::<f64>();
                let order = descending_to(n, &size);
                order.iter().skip(*s).for_each(|i| x.row_mut(*i).fill(0.0));
            }
        }
    }

    /// Approximate number of entries of each component, for methods that need one.
    pub fn shares(&self, r: usize) -> Vec<usize> {
        match self {
            Self::Components(list) => list.clone(),
            Self::Total(s) => (0..r).map(|k| s / r + usize::from(k < s % r)).collect(),
            Self::Rows(s) => vec![*s; r],
        }
    }
}

fn keep_largest(x: &mut RowMat, k: usize, s: usize) {
    let mut order = support(x, k);
    descending(&mut order, &|i| x.get(i, k).abs());
    order.iter().skip(s).for_each(|i| x.set(*i, k, 0.0));
}

/// Rows of the nonzeros of column k, ascending.
pub fn support(x: &RowMat, k: usize) -> Vec<usize> {
    (0..x.nrows()).filter(|i| x.get(*i, k) != 0.0).collect()
}

/// Rows that are not zero, ascending.
pub fn nonzero_rows(x: &RowMat) -> Vec<usize> {
    (0..x.nrows()).filter(|i| x.row(*i).iter().any(|v| *v != 0.0)).collect()
}
