//! Events of a run, for observers.

use super::{Progress, TracePoint};
use orthopt_linalg::RowMat;

/// Progress that an observer receives.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// After every step of the solver (a few times a second to a few thousand). In a search F is infinite before any
    /// of its tasks has a point.
    Step(&'a Progress),
    /// A point was added to the trace; the current X comes with it.
    Trace(&'a TracePoint, &'a RowMat),
}

/// Watches a run: progress bar, log, callback. To end the run it sets the [`Cancel`](orthopt_linalg::cancel::Cancel) that the run
/// was given; the best X so far is still returned.
pub trait Observer {
    /// Takes an event in.
    fn observe(&mut self, event: Event<'_>);
}

/// Shows what happens to F times a power of two.
pub struct Times<'a, 'b> {
    /// The power.
    pub unit: f64,
    /// Whoever watches.
    pub observers: &'a mut [&'b mut dyn Observer],
}

impl Observer for Times<'_, '_> {
    fn observe(&mut self, event: Event<'_>) {
        let mut show = |event| self.observers.iter_mut().for_each(|observer| observer.observe(event));
        match event {
            Event::Step(progress) => show(Event::Step(&progress.times(self.unit))),
            Event::Trace(point, x) => {
                show(Event::Trace(&TracePoint { objective: self.unit * point.objective, ..*point }, x));
            }
        }
    }
}

impl<F: FnMut(Event<'_>)> Observer for F {
    fn observe(&mut self, event: Event<'_>) {
        self(event);
    }
}
