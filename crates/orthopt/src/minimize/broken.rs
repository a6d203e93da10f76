//! Answers of a user's function that are no numbers, and what is said of a run that met them.

use super::Function;
use orthopt_core::solve::{Solution, Status};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};

/// Number of times that f was NaN, and that f was a number and its gradient was not. An infinite f is a barrier, from
/// which methods step back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Broken {
    values: u64,
    gradients: u64,
}

impl Broken {
    /// Counts one answer.
    pub fn note(&mut self, f: f64, g: &RowMat) {
        self.values += u64::from(f.is_nan());
        self.gradients += u64::from(f.is_finite() && g.find_non_finite().is_some());
    }

    /// The fault in words.
    fn words(self, of: u64) -> Option<String> {
        let what = match self {
            Self { values: 0, gradients: 0 } => return None,
            Self { values: 0, gradients } => {
                format!("a gradient with NaN or infinite entries {gradients} times")
            }
            Self { values, gradients: 0 } => format!("NaN as f(X) {values} times"),
            Self { values, gradients } => {
                format!(
                    "NaN as f(X) {values} times, and a gradient with NaN or infinite entries {gradients} times"
                )
            }
        };
        Some(format!("fun returned {what} in {of} calls"))
    }
}

/// The solution of a run with what the function returned that is no number: a status and a message where the run ended because of it.
///
/// # Errors
/// There is no X where f and its gradient are numbers to begin from.
pub(super) fn judged(f: &Function, mut found: Solution) -> Result<Solution> {
    if matches!(found.status, Status::Converged | Status::Interrupted) {
        return Ok(found);
    }
    if !found.objective.smooth.is_finite() {
        let value = found.objective.smooth;
        if found.trace.points().iter().any(|point| point.objective.is_finite()) {
            found.status = Status::NumericalError;
            found.message = format!(
                "fun returned {value} at an X where it had returned a number before; that X is what is here"
            );
            return Ok(found);
        }
        return Err(nothing(&format!("f(X) that fun returned is {value}")));
    }
    let Some(words) = f.broken().words(f.evaluations()) else { return Ok(found) };
    // the gradient is asked for again: no run has kept it
    let mut g = RowMat::zeros(found.x.nrows(), found.x.ncols());
    f.evaluate(&found.x, &mut g);
    let first = found.trace.points().first().map(|point| point.objective);
    if let Some((i, k)) = g.find_non_finite().filter(|_| first == Some(found.objective.total)) {
        let (entry, row, column) = (g.get(i, k), i + 1, k + 1);
        return Err(nothing(&format!(
            "the gradient that fun returned is {entry} in row {row}, column {column} (counted from 1)"
        )));
    }
    if !matches!(found.status, Status::Stalled | Status::NumericalError) {
        return Ok(found); // a limit, which it has gone on to
    }
    found.status = Status::NumericalError;
    found.message = format!("{words}, so the run could not continue; X is the best point with a finite F");
    Ok(found)
}

fn nothing(what: &str) -> Error {
    let advice = "give a start x0 where f and its gradient are finite, or mend fun";
    Error::NoNumber(format!("{what} at the starting point: {advice}"))
}
