//! Work in a thread of its own, while the calling thread examines the caller's flag and shows how far it is.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use orthopt::cancel::Cancel;
use orthopt::solve::{Event, Observer};

/// Time between two checks.
const POLL: Duration = Duration::from_millis(20);

/// How far a run is.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Progress {
    /// Seconds since the run began.
    pub seconds: f64,
    /// F now; infinite before there is a point.
    pub objective: f64,
    /// The lower bound of F, in `orthopt_bound`; minus infinity before there is one.
    pub bound: f64,
    /// Iterations, or nodes in `orthopt_bound`.
    pub iterations: u64,
}

impl Default for Progress {
    fn default() -> Self {
        Self { seconds: 0.0, objective: f64::INFINITY, bound: f64::NEG_INFINITY, iterations: 0 }
    }
}

/// What the caller wants to see and to say; asked on the thread of the caller.
pub trait Caller {
    /// Shows how far the work is; true ends it with what there is.
    fn look(&self, now: &Progress) -> bool;

    /// True if the work is to end; asked on any thread.
    fn has_cancelled(&self) -> bool;
}

/// What working and waiting threads share.
#[derive(Debug, Default)]
pub struct Shared {
    /// Ends the work.
    pub cancel: Cancel,
    now: Mutex<Progress>,
}

impl Shared {
    /// Sets how far the work is.
    pub fn show(&self, now: Progress) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// How far the work is.
    pub fn now(&self) -> Progress {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for &Shared {
    fn observe(&mut self, event: Event<'_>) {
        if let Event::Step(p) = event {
            let (seconds, objective, iterations) = (p.seconds, p.objective, p.iteration);
            self.show(Progress { seconds, objective, iterations, ..Progress::default() });
        }
    }
}

/// Runs `work`, which has ended when this returns; a panic of it continues here.
pub fn watched<T: Send>(caller: &dyn Caller, work: impl FnOnce(&Shared) -> T + Send) -> T {
    let shared = Shared::default();
    let (send, receive) = channel::<()>();
    thread::scope(|scope| {
        let shared = &shared;
        let worker = scope.spawn(move || {
            let _ends = send; // dropped at the end, and by a panic
            work(shared)
        });
        while receive.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
            if !shared.cancel.is_cancelled() && caller.look(&shared.now()) {
                shared.cancel.cancel();
            }
        }
        worker.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}
