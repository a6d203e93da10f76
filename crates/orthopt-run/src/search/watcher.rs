//! Shows a search to its observers.

use super::control::Control;
use orthopt_core::objective::{Evaluate, count_nonzeros};
use orthopt_core::solve::{Event, Observer, Progress, Trace, TracePoint};
use orthopt_linalg::work::counted;

/// Shows the search to the observers, on the thread that called it.
pub(super) struct Watcher<'a, 'o, P> {
    pub problem: &'a P,
    pub control: &'a Control,
    pub observers: &'a mut [&'o mut dyn Observer],
    pub trace: Trace,
    pub seen: u64, // changes of the best point that have been recorded
}

impl<P: Evaluate> Watcher<'_, '_, P> {
    /// `whatever` the time: records a point if there is a better one.
    pub fn look(&mut self, whatever: bool) {
        // the cost of a check is no work of the task on whose thread it runs
        counted(|| self.show(whatever));
    }

    fn show(&mut self, whatever: bool) {
        let seconds = self.control.cancel.seconds();
        let due = whatever || self.trace.is_due(seconds);
        let (objective, newer) = self.control.newer(if due { self.seen } else { u64::MAX });
        let iteration = self.control.iterations();
        // what is shown is not asked whether to stop
        let progress = Progress { iteration, seconds, objective, scale: 0.0, pass: None, residual: None };
        self.observers.iter_mut().for_each(|o| o.observe(Event::Step(&progress)));
        let Some(best) = newer else { return };
        self.seen = best.changes;
        let feasibility = self.problem.feasibility(&best.x);
        let nnz = count_nonzeros(&best.x);
        let point = TracePoint { seconds, iteration, objective: best.objective, feasibility, nnz };
        self.trace.push(point);
        self.observers.iter_mut().for_each(|o| o.observe(Event::Trace(&point, &best.x)));
    }
}
