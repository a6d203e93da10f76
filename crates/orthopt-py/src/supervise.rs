//! Work in a thread of its own while the calling thread waits without the GIL: it searches for
//! Ctrl-C, hands progress to a callback, and asks the work to end when either wants that.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use orthopt::cancel::Cancel;
use orthopt::report::Report;
use orthopt::solve::{Event, Observer};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;

use crate::errors::Failure;

/// How often the waiting thread looks up.
const POLL: Duration = Duration::from_millis(20);
/// Time between two calls of a callback.
const CALLBACK: Duration = Duration::from_millis(100);

/// How far the run is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Now {
    pub iteration: u64,
    pub seconds: f64,
    pub objective: f64,
    pub feasibility: f64,
    pub nnz: usize,
}

impl Now {
    /// The arguments of a callback.
    pub fn call(&self, callback: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Self { iteration, seconds, objective, feasibility, nnz } = *self;
        callback.call1((iteration, seconds, objective, feasibility, nnz))?.is_truthy()
    }

    /// Takes in what an observer is shown.
    pub fn note(&mut self, event: Event<'_>) {
        match event {
            Event::Step(p) => {
                (self.iteration, self.seconds, self.objective) = (p.iteration, p.seconds, p.objective);
            }
            Event::Trace(point, _) => (self.feasibility, self.nnz) = (point.feasibility, point.nnz),
        }
    }
}

/// State that the two threads share.
#[derive(Debug)]
pub struct Shared {
    cancel: Cancel,
    run: Cancel,
    now: Mutex<Option<Now>>,
}

impl Default for Shared {
    fn default() -> Self {
        let cancel = Cancel::never();
        let run = cancel.within(None);
        Self { cancel, run, now: Mutex::default() }
    }
}

/// The observer of the thread that works.
#[derive(Clone, Debug)]
pub struct Watch(pub Arc<Shared>);

impl Observer for Watch {
    fn observe(&mut self, event: Event<'_>) {
        // nothing is shown before there is a point
        if !matches!(event, Event::Step(p) if p.objective.is_infinite()) {
            let mut now = self.0.now.lock().unwrap_or_else(PoisonError::into_inner);
            now.get_or_insert_default().note(event);
        }
    }
}

impl Watch {
    /// Set when the work is to end.
    pub fn cancel(&self) -> &Cancel {
        &self.0.cancel
    }

    /// Set when the run is to end, which a callback may ask for too.
    pub fn run(&self) -> &Cancel {
        &self.0.run
    }
}

/// A report of the working thread: after the run, and again after its checks and its bound.
pub struct Found {
    pub report: Report,
    /// Why there is no bound although one was asked for.
    pub broken: Option<orthopt::Error>,
}

/// Runs `work` and waits for its last report, and tells whether Ctrl-C has come. A KeyboardInterrupt ends the run with
/// the best X so far; other exceptions of signal handlers and of the callback are raised. Either way the
/// work has ended when this returns.
///
/// # Errors
/// Errors of the work or of Python.
pub fn supervise(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch, &Sender<Result<Found, orthopt::Error>>) + Send + 'static,
) -> Result<(Found, bool), Failure> {
    let shared = Arc::new(Shared::default());
    let (send, receive) = channel();
    let receive = Mutex::new(receive); // detached code may only use what threads can share
    let watch = Watch(Arc::clone(&shared));
    let worker = thread::spawn(move || work(&watch, &send));
    let mut waiting = Waiting { shared: &shared, callback, shown: Instant::now(), raised: None };
    let mut found = None;
    loop {
        match py.detach(|| wait(&receive)) {
            Ok(outcome) => found = Some(outcome?),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => waiting.look_up(py),
        }
    }
    join(py, worker);
    if let Some(error) = waiting.raised {
        return Err(error.into());
    }
    let lost = || orthopt::Error::Incompatible("the run ended without a result".into());
    Ok((found.ok_or_else(lost)?, shared.cancel.is_cancelled()))
}

/// Runs `work` and waits for its result. A KeyboardInterrupt, or whatever else the handler of a signal raises,
/// asks the work to end and is raised when it has.
///
/// # Errors
/// Errors of Python.
pub fn attend<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Watch) -> T + Send + 'static,
) -> PyResult<T> {
    let shared = Arc::new(Shared::default());
    let (send, receive) = channel();
    let receive = Mutex::new(receive);
    let watch = Watch(Arc::clone(&shared));
    let worker = thread::spawn(move || drop(send.send(work(&watch))));
    let (mut found, mut raised) = (None, None);
    loop {
        match py.detach(|| wait(&receive)) {
            Ok(result) => found = Some(result),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                if let Err(error) = py.check_signals() {
                    shared.cancel.cancel();
                    raised.get_or_insert(error);
                }
            }
        }
    }
    join(py, worker);
    let lost = || PyRuntimeError::new_err("the work ended without a result");
    raised.map_or_else(|| found.ok_or_else(lost), Err)
}

/// Runs `work` and waits for its result, which a KeyboardInterrupt brings about early. `look` is called about
/// ten times a second; true ends the work too, an exception of it or of a signal handler is raised then.
///
/// # Errors
/// Errors of Python.
pub fn follow<T: Send>(
    py: Python<'_>,
    mut look: impl FnMut() -> PyResult<bool>,
    work: impl FnOnce(&Watch) -> T + Send,
) -> PyResult<T> {
    let shared = Arc::new(Shared::default());
    let (send, receive) = channel();
    let receive = Mutex::new(receive);
    let watch = Watch(Arc::clone(&shared));
    let mut waiting = Waiting { shared: &shared, callback: None, shown: Instant::now(), raised: None };
    let mut found = None;
    // the work may borrow data of the caller, so it has ended when this returns
    thread::scope(|scope| {
        let worker = scope.spawn(move || drop(send.send(work(&watch))));
        loop {
            match py.detach(|| wait(&receive)) {
                Ok(result) => found = Some(result),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    waiting.look_up(py);
                    if waiting.shown.elapsed() >= CALLBACK && !shared.cancel.is_cancelled() {
                        match look() {
                            Ok(false) => {}
                            Ok(true) => waiting.end(None),
                            Err(error) => waiting.end(Some(error)),
                        }
                        waiting.shown = Instant::now();
                    }
                }
            }
        }
        if let Err(panic) = worker.join() {
            resume_unwind(panic);
        }
    });
    let lost = || PyRuntimeError::new_err("the work ended without a result");
    waiting.raised.map_or_else(|| found.ok_or_else(lost), Err)
}

/// Waits until the thread is gone; its panic continues here.
fn join(py: Python<'_>, worker: JoinHandle<()>) {
    if let Err(panic) = py.detach(|| worker.join()) {
        resume_unwind(panic);
    }
}

fn wait<T: Send>(receive: &Mutex<Receiver<T>>) -> Result<T, RecvTimeoutError> {
    receive.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(POLL)
}

/// The thread that waits.
struct Waiting<'a, 'py> {
    shared: &'a Shared,
    callback: Option<&'a Bound<'py, PyAny>>,
    shown: Instant,
    raised: Option<PyErr>,
}

impl Waiting<'_, '_> {
    fn look_up(&mut self, py: Python<'_>) {
        if let Err(error) = py.check_signals() {
            let interrupt = error.is_instance_of::<PyKeyboardInterrupt>(py);
            self.end((!interrupt).then_some(error));
        }
        let Some(callback) = self.callback.filter(|_| self.shown.elapsed() >= CALLBACK) else { return };
        let now = *self.shared.now.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(now) = now.filter(|_| !self.shared.run.is_cancelled()) {
            match now.call(callback) {
                Ok(false) => {}
                Ok(true) => self.shared.run.cancel(),
                Err(error) => self.end(Some(error)),
            }
            self.shown = Instant::now();
        }
    }

    fn end(&mut self, error: Option<PyErr>) {
        self.shared.cancel.cancel();
        if self.raised.is_none() {
            self.raised = error;
        }
    }
}
