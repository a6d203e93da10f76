//! Tasks side by side on the threads of the pool, results in the order of the tasks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::control::Control;
use super::task::{Done, Task, perform};
use crate::error::Result;
use crate::objective::Evaluate;
use crate::solve::Stopping;

/// How long whoever watches sleeps when there is nothing else to do.
const NAP: Duration = Duration::from_millis(1);

/// What became of a task; `None` where nobody waited for it any more.
pub(super) type Outcome = Option<Result<Done>>;

/// Performs all tasks. `tick` is called on this thread all the time, also while it works.
pub(super) fn perform_all<P: Evaluate + Sync + 'static>(
    problem: &P,
    tasks: &[Task<P>],
    stopping: &Stopping,
    control: &Control,
    tick: &mut dyn FnMut(),
) -> Vec<Outcome> {
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Vec<Mutex<Outcome>> = tasks.iter().map(|_| Mutex::new(None)).collect();
    let take = |tick: &mut dyn FnMut()| {
        let k = next.fetch_add(1, Ordering::Relaxed);
        let Some(task) = tasks.get(k) else { return false };
        if !control.is_over() {
            let done = perform(problem, task, stopping, (control, None), tick);
            *results[k].lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        }
        finished.fetch_add(1, Ordering::Release);
        true
    };
    let helpers = rayon::current_num_threads().min(tasks.len()).saturating_sub(1);
    rayon::in_place_scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|_| while take(&mut || ()) {});
        }
        while take(tick) {}
        while finished.load(Ordering::Acquire) < tasks.len() {
            tick();
            std::thread::sleep(NAP);
        }
    });
    results.into_iter().map(|r| r.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// The same, one after the other, with no more than so many iterations in all: what a limit of iterations
/// needs in order to mean the same for any number of threads.
pub(super) fn perform_counted<P: Evaluate + 'static>(
    problem: &P,
    tasks: &[Task<P>],
    stopping: &Stopping,
    (control, most): (&Control, u64),
    tick: &mut dyn FnMut(),
) -> Vec<Outcome> {
    let one = |task| {
        let left = most.saturating_sub(control.iterations());
        (left > 0 && !control.is_over())
            .then(|| perform(problem, task, stopping, (control, Some(left)), tick))
    };
    tasks.iter().map(one).collect()
}
