//! Sparse PCA with the number of nonzeros given: min −½ tr(XᵀCX) + λ‖X‖₀ over XᵀX = I and a
//! limit on cardinality, which is not a sum over entries and so is a constraint in addition to XᵀX = I and not a
//! penalty. If variables are selected for all components together, λ is the penalty of a variable: λ‖X‖₂,₀.

use crate::constraint::{Constraint, Stiefel};
use crate::error::{Error, Result};
use crate::linalg::RowMat;
use crate::linalg::order::{descending, descending_to};
use crate::objective::{Evaluate, Objective, count_nonzeros, price_of_nonzeros, with_price, without_dust};
use crate::smooth::{AnySmooth, Quadratic};

/// Limits on the number of nonzero entries of X (n × r).
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
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
    pub(crate) fn total(&self) -> usize {
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

    /// Whether an n × r matrix can have more nonzeros than allowed.
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
    pub(crate) fn is_used(&self, x: &RowMat) -> bool {
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

/// min −½ tr(XᵀCX) + λ‖X‖₀ over XᵀX = I_r and a [`Cardinality`], with X ≥ 0 where asked for; f = −½ tr(XᵀCX). With
/// [`Cardinality::Rows`] λ weighs rows that are not zero: λ‖X‖₂,₀.
#[derive(Clone, Debug)]
pub struct CardinalityProblem<F = AnySmooth> {
    /// −½ tr(XᵀCX).
    pub f: F,
    constraint: Stiefel,
    limits: Cardinality,
    lambda: f64,
    nonneg: bool,
}

impl<F: Quadratic> CardinalityProblem<F> {
    /// The problem.
    ///
    /// # Errors
    /// A rank, λ or limit out of range, an f with a linear term.
    pub fn new(f: F, rank: usize, limits: Cardinality, lambda: f64, nonneg: bool) -> Result<Self> {
        let n = f.nrows();
        let constraint = Stiefel::new(n, rank)?;
        if !(lambda >= 0.0 && lambda.is_finite()) {
            let (option, value) = ("lambda".into(), lambda.to_string());
            return Err(Error::InvalidOption { option, value, expected: "a finite number >= 0".into() });
        }
        if f.ncols().is_some() {
            return Err(Error::Incompatible("limits on nonzeros need an f without a linear term".into()));
        }
        let mut limits = limits.checked(n, rank)?;
        if nonneg && let Cardinality::Rows(s) = limits {
            limits = Cardinality::Total(s); // a row of X >= 0 with X'X = I has one nonzero at most
        }
        Ok(Self { f, constraint, limits, lambda, nonneg })
    }

    /// n.
    pub fn nrows(&self) -> usize {
        self.constraint.n
    }

    /// r.
    pub fn rank(&self) -> usize {
        self.constraint.r
    }

    /// The limits.
    pub fn limits(&self) -> &Cardinality {
        &self.limits
    }

    /// λ.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// λ times the nonzeros that are not exactly zero, or the rows.
    pub fn price(&self, x: &RowMat) -> f64 {
        match self.limits {
            Cardinality::Rows(_) => self.lambda * nonzero_rows(x).len() as f64,
            _ => price_of_nonzeros(self.lambda, x),
        }
    }

    fn parts(&self, smooth: f64, x: &RowMat) -> Objective {
        with_price(smooth, self.lambda, || match self.limits {
            Cardinality::Rows(_) => nonzero_rows(x).len(),
            _ => count_nonzeros(x),
        })
    }

    /// True if X ≥ 0.
    pub fn requires_nonneg(&self) -> bool {
        self.nonneg
    }

    /// Checks a given X: shape, finite, orthonormal to 1e-6, within the limits, no
    /// entry below −1e-6 where X ≥ 0.
    ///
    /// # Errors
    /// Error if X is infeasible, with the measured numbers.
    pub fn check(&self, x: &RowMat, what: &str) -> Result<()> {
        self.constraint.check(x, what)?;
        if !self.limits.allows(x) {
            let counts: Vec<_> = (0..x.ncols()).map(|k| support(x, k).len().to_string()).collect();
            return Err(Error::Incompatible(
                format!(
                    "{what} has {} nonzeros in its components and {} nonzero rows: {} are allowed",
                    counts.join(", "),
                    nonzero_rows(x).len(),
                    self.limits.words()
                )
                .into(),
            ));
        }
        let negative = x.data().iter().position(|v| *v < -1e-6).filter(|_| self.nonneg);
        negative.map_or(Ok(()), |e| {
            let (row, col) = (e / x.ncols() + 1, e % x.ncols() + 1);
            Err(Error::Negative { what: what.into(), row, col, value: x.data()[e] })
        })
    }
}

impl<F: Quadratic> Evaluate for CardinalityProblem<F> {
    fn value(&self, x: &RowMat) -> f64 {
        self.f.value(x) + self.price(x)
    }

    fn objective(&self, x: &RowMat) -> Objective {
        self.parts(self.f.value(x), x)
    }

    fn evaluated(&self, x: &RowMat) -> (f64, Objective) {
        let smooth = self.f.value(x);
        (smooth + self.price(x), self.parts(smooth, x))
    }

    fn scale(&self, x: &RowMat) -> f64 {
        self.f.scale(x)
    }

    fn feasibility(&self, x: &RowMat) -> f64 {
        self.constraint.feasibility(x)
    }

    fn asks_for_zeros(&self) -> bool {
        true
    }

    fn cleaned(&self, x: &RowMat) -> Option<RowMat> {
        let is_negative = |x: &RowMat| self.nonneg && x.data().iter().any(|v| *v < 0.0);
        let restore = |x: &mut RowMat| {
            let error = self.constraint.repair(x);
            if is_negative(x) { f64::INFINITY } else { error }
        };
        without_dust(x, |x| self.objective(x), restore)
    }

    fn nonneg_violation(&self, x: &RowMat) -> Option<f64> {
        self.nonneg.then(|| x.data().iter().map(|v| v.min(0.0).powi(2)).sum::<f64>().sqrt())
    }
}
