//! The convergence curve of a run.

/// One recorded point.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct TracePoint {
    /// Seconds since the start of the run.
    pub seconds: f64,
    /// Iterations so far.
    pub iteration: u64,
    /// F as the solver tracks it (ℓ0 counts exact zeros).
    pub objective: f64,
    /// ‖XᵀX − I‖_F.
    pub feasibility: f64,
    /// Entries with |x| > 1e-6.
    pub nnz: usize,
}

/// Points at about log-spaced times, at most about 1,000.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    points: Vec<TracePoint>,
    next: f64, // seconds at which the next point is due
}

/// First spacing, and growth of the spacing afterwards: runs of some milliseconds have a curve too.
const FIRST_GAP: f64 = 2e-4;
const GROWTH: f64 = 0.02;
/// Times what it took to measure a point that pass before the next one: on large problems feasibility costs as much as
/// an iteration, and the solver is to have most of the time.
const REST: f64 = 10.0;
/// A hard limit whatever the length of the run.
const MOST: usize = 1000;

impl Trace {
    /// The recorded points, in order of time.
    pub fn points(&self) -> &[TracePoint] {
        &self.points
    }

    /// F times a power of two.
    #[doc(hidden)]
    pub fn times(&mut self, unit: f64) {
        self.points.iter_mut().for_each(|point| point.objective *= unit);
    }

    /// True if a point at `seconds` is due.
    pub fn is_due(&self, seconds: f64) -> bool {
        seconds >= self.next
    }

    /// Puts the next point off where it took until `seconds` to measure the last one.
    pub fn rest(&mut self, seconds: f64) {
        if let Some(last) = self.points.last() {
            self.next = self.next.max(seconds + REST * (seconds - last.seconds));
        }
    }

    /// Records a point and sets when the next one is due.
    pub fn push(&mut self, point: TracePoint) {
        self.next = point.seconds + FIRST_GAP.max(GROWTH * point.seconds);
        match self.points.last_mut() {
            Some(last) if last.iteration == point.iteration => *last = point,
            _ => self.points.push(point),
        }
        if self.points.len() >= MOST {
            // every second point goes; the first and the last stay
            let last = self.points.len() - 1;
            let mut k = 0;
            self.points.retain(|_| {
                k += 1;
                k % 2 == 1 || k > last
            });
        }
    }
}
