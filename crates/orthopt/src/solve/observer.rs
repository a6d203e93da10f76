//! Events out, control flow back.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Progress, TracePoint};
use crate::linalg::RowMat;

/// What an observer is shown.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// After every step of the solver (a few times a second to a few thousand). In a search F is infinite before any
    /// of its tasks has a point.
    Step(&'a Progress),
    /// A point was added to the trace; the current X comes with it.
    Trace(&'a TracePoint, &'a RowMat),
}

/// Watches a run: progress bar, log, user callback, interruption.
pub trait Observer {
    /// Returns `Break` to stop the run; the best X so far is still returned.
    fn observe(&mut self, event: Event<'_>) -> ControlFlow<()>;
}

impl<F: FnMut(Event<'_>) -> ControlFlow<()>> Observer for F {
    fn observe(&mut self, event: Event<'_>) -> ControlFlow<()> {
        self(event)
    }
}

/// Stops the run once a flag is set, for signal handlers.
#[derive(Clone, Copy, Debug)]
pub struct Interrupt<'a>(pub &'a AtomicBool);

impl Observer for Interrupt<'_> {
    fn observe(&mut self, _: Event<'_>) -> ControlFlow<()> {
        if self.0.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
