//! How a run is cut into steps, when it is looked at, and the best point of those looks.

use crate::linalg::RowMat;

/// The iterations after which a run is looked at: 1, 2, ..., 16, then further apart by a sixteenth
/// of their number. Steps are sized by the clock; the iteration at which a method is found to have
/// converged, and the points of which the best one counts, must not be.
pub(crate) struct Looks {
    made: u64, // iterations made
    due: u64,  // iteration of the next look
}

impl Looks {
    pub fn new() -> Self {
        Self { made: 0, due: 1 }
    }

    /// The most iterations that do not pass over the next look.
    pub fn ahead(&self) -> u64 {
        self.due.saturating_sub(self.made).max(1)
    }

    /// Whether a look is due after so many more iterations.
    pub fn take(&mut self, iterations: u64) -> bool {
        self.made += iterations;
        let is_due = self.made == self.due;
        while self.due <= self.made {
            self.due += 1 + self.due / 16;
        }
        is_due
    }
}

/// Sizes steps: about 1 % of the time so far, between 0.2 and 20 ms, so that the trace is fine
/// at the start, and limits and Ctrl-C are prompt later.
#[derive(Default)]
pub(crate) struct Pace {
    rate: f64, // iterations per second, smoothed
}

impl Pace {
    pub fn budget(&self, seconds: f64) -> u64 {
        ((self.rate * (0.01 * seconds).clamp(2e-4, 2e-2)) as u64).max(1)
    }

    pub fn adapt(&mut self, iterations: u64, seconds: f64) {
        let rate = iterations as f64 / seconds.max(1e-7);
        self.rate = if self.rate == 0.0 { rate.min(1e5) } else { 0.5 * (self.rate + rate) };
    }
}

/// The best of the points that were looked at, X⁰ first: what is left when numbers break, and what
/// counts for methods that go up and down. A copy of X per look at which F is lower is all it costs,
/// some sixteen for every e-fold of the iterations.
pub(crate) struct Kept {
    /// The point.
    pub x: RowMat,
    /// F there, as the solver tracks it.
    pub objective: f64,
    /// Iterations of this run that led there.
    pub iteration: u64,
}

impl Kept {
    pub fn new(x0: RowMat) -> Self {
        Self { x: x0, objective: f64::INFINITY, iteration: 0 }
    }

    /// Takes X in if F is lower there than before and both are finite.
    pub fn look(&mut self, objective: f64, iteration: u64, x: &RowMat) {
        let lower = objective.is_finite() && objective < self.objective;
        if lower && x.find_non_finite().is_none() {
            self.x.data_mut().copy_from_slice(x.data());
            (self.objective, self.iteration) = (objective, iteration);
        }
    }
}
