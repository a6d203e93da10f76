//! Tasks in flight: performed on the threads of the pool as they come, taken in as on a machine where each has a processor of its
//! own.
//!
//! That machine has a clock of work. A task begins when it is launched and ends when its own work has passed, and ends are taken in
//! in that order, whoever performed what. So whoever launches the next task at an end has seen the same results for any number of
//! threads, and no thread waits for the longest of a batch. An end may be taken in as soon as everything else in flight has
//! done too much to end before it.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};

use rayon::Scope;

use super::control::Control;
use super::ended::Known;
use super::task::{Done, OVERHEAD, Task, perform};
use orthopt_core::objective::Evaluate;
use orthopt_core::solve::Stopping;
use orthopt_linalg::error::Result;

/// Result of a task; `None` if it was cancelled.
pub(super) type Outcome = Option<Result<Done>>;

/// Problem, limits and control that tasks share.
#[derive(Debug)]
pub(super) struct Ground<'a, P> {
    pub problem: &'a P,
    pub stopping: Stopping,
    pub control: &'a Control,
}

impl<P> Clone for Ground<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Ground<'_, P> {}

/// A task in flight.
pub(super) struct Job<P> {
    task: Task<P>,
    known: Known, // when it was launched
    begin: u64,   // on the clock of work
    work: Arc<AtomicU64>,
    is_over: AtomicBool, // and `work` all there is
    outcome: Mutex<Outcome>,
}

/// Says that a job is over. Where it panics the search ends, which then panics too, without waiting for the other jobs.
struct Landing<'j> {
    is_over: &'j AtomicBool,
    control: &'j Control,
}

impl Drop for Landing<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.control.cancel.cancel();
        }
        self.is_over.store(true, Ordering::Release);
    }
}

impl<P: Evaluate + 'static> Job<P> {
    /// Performs it, unless cancelled. `tick` is called all the time.
    pub fn perform(&self, on: Ground<'_, P>, tick: &mut dyn FnMut()) {
        let Ground { problem, stopping, control } = on;
        let _landing = Landing { is_over: &self.is_over, control };
        // tasks follow each other on one thread where iterations are limited
        let left = stopping.max_iters.map(|most| most.saturating_sub(control.iterations()));
        if left == Some(0) || control.cancel.is_over() {
            return;
        }
        let shown = &self.work;
        let (result, work) =
            perform(problem, &self.task, &stopping, (control, left, &self.known), shown, tick);
        self.work.store(work, Ordering::Relaxed);
        *locked(&self.outcome) = Some(result);
    }

    /// When it ends, or what that is later than; whether it has ended.
    fn end(&self) -> (u64, bool) {
        let is_over = self.is_over.load(Ordering::Acquire);
        (self.begin + self.work.load(Ordering::Relaxed), is_over)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where jobs wait that no thread performs yet.
pub(super) struct Queue<P> {
    jobs: Mutex<VecDeque<Arc<Job<P>>>>, // the first first
    idle: AtomicUsize,                  // helpers without a job
    master: Thread,                     // whoever launches them
}

impl<P: Evaluate + 'static> Queue<P> {
    fn new(helpers: usize) -> Self {
        Self { jobs: Mutex::default(), idle: AtomicUsize::new(helpers), master: thread::current() }
    }

    /// The next job; a helper without one is idle.
    fn take(&self, is_helper: bool) -> Option<Arc<Job<P>>> {
        let mut jobs = locked(&self.jobs);
        let job = jobs.pop_front();
        if is_helper && job.is_none() {
            self.idle.fetch_add(1, Ordering::Relaxed);
        }
        job
    }

    /// One more job; whether a helper is to be called.
    fn push(&self, job: Arc<Job<P>>) -> bool {
        let mut jobs = locked(&self.jobs);
        jobs.push_back(job);
        let idle = self.idle.load(Ordering::Relaxed);
        self.idle.store(idle.saturating_sub(1), Ordering::Relaxed);
        idle > 0
    }
}

/// Performs jobs on another thread, one after the other. Every one is a piece of work of its own for the pool: a thread that
/// takes one up while it waits inside another is soon back.
pub(super) fn help<'s, P: Evaluate + Sync + 'static>(
    scope: &Scope<'s>,
    queue: Arc<Queue<P>>,
    on: Ground<'s, P>,
) {
    scope.spawn(move |scope| {
        if let Some(job) = queue.take(true) {
            // what has been done may be all that the next launch waits for
            let mut tick = || {
                if queue.idle.load(Ordering::Relaxed) > 0 {
                    queue.master.unpark();
                }
            };
            // a panic continues once the other jobs have been handed on, which are all to end
            let panic = catch_unwind(AssertUnwindSafe(|| job.perform(on, &mut tick))).err();
            queue.master.unpark();
            help(scope, queue, on);
            if let Some(panic) = panic {
                resume_unwind(panic);
            }
        }
    });
}

/// All tasks in flight, each with a `W` that says what for.
pub(super) struct Flight<'a, P, W> {
    jobs: Vec<(Arc<Job<P>>, W)>, // as launched
    queue: Arc<Queue<P>>,
    call: &'a dyn Fn(Arc<Queue<P>>), // a helper
    clock: u64,
}

impl<'a, P: Evaluate + 'static, W> Flight<'a, P, W> {
    /// Nothing, with up to so many helpers.
    pub fn new(helpers: usize, call: &'a dyn Fn(Arc<Queue<P>>)) -> Self {
        Self { jobs: Vec::new(), queue: Arc::new(Queue::new(helpers)), call, clock: 0 }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// What they are for.
    pub fn aims(&self) -> impl Iterator<Item = &W> {
        self.jobs.iter().map(|job| &job.1)
    }

    /// One more, where so much is known.
    pub fn launch(&mut self, task: Task<P>, aim: W, known: Known) {
        let (work, is_over) = (Arc::new(AtomicU64::new(OVERHEAD)), AtomicBool::new(false));
        let job = Arc::new(Job { task, known, begin: self.clock, work, is_over, outcome: Mutex::new(None) });
        self.jobs.push((Arc::clone(&job), aim));
        if self.queue.push(job) {
            (self.call)(Arc::clone(&self.queue));
        }
    }

    /// Takes the next waiting job; the calling thread runs it.
    pub fn take(&self) -> Option<Arc<Job<P>>> {
        self.queue.take(false)
    }

    /// The next one to end, and when, once that is known.
    fn next(&self) -> Option<(usize, u64)> {
        let ends = self.jobs.iter().map(|(job, _)| job.end());
        // of those that end together the first; while one that has not ended is first, it may be anyone
        let (next, (end, is_over)) =
            ends.enumerate().min_by_key(|(k, (end, is_over))| (*end, *is_over, *k))?;
        is_over.then_some((next, end))
    }

    /// True if it is known which is the next one to end.
    pub fn is_next_known(&self) -> bool {
        self.next().is_some()
    }

    /// The next one to end, what became of it and its work; `None` before it is known which that is. The clock is at its end.
    pub fn ended(&mut self) -> Option<(W, Outcome, u64)> {
        let (next, end) = self.next()?;
        let (job, aim) = self.jobs.remove(next);
        self.clock = end;
        let outcome = locked(&job.outcome).take();
        Some((aim, outcome, end - job.begin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job that panics ends the others too, and the panic continues once all are over.
    #[test]
    fn a_panic_keeps_nobody_waiting() {
        use orthopt_core::penalty::{AnyPenalty, L0};
        use orthopt_core::problem::PcaProblem;
        use orthopt_core::smooth::{AnySmooth, DenseQuadratic};
        use orthopt_linalg::RowMat;
        use orthopt_linalg::cancel::Cancel;

        let c = RowMat::from_fn(4, 4, |i, j| f64::from(u8::from(i == j))).to_mat();
        let f = AnySmooth::Dense(DenseQuadratic::new(c.as_ref()).unwrap());
        let problem = PcaProblem::new(f, AnyPenalty::L0(L0::new(0.1).unwrap()), 1).unwrap();
        let control = Control::new(Cancel::never(), Default::default());
        let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
        let on = Ground { problem: &problem, stopping, control: &control };
        let queue = Arc::new(Queue::new(1));
        let jobs: Vec<Arc<Job<PcaProblem>>> = (0..3)
            .map(|_| {
                let task = Task { parts: Vec::new(), x0: Box::new(|_: &PcaProblem, _| panic!("a test")) };
                let (work, is_over) = (Arc::new(AtomicU64::new(OVERHEAD)), AtomicBool::new(false));
                Arc::new(Job {
                    task,
                    known: Known::default(),
                    begin: 0,
                    work,
                    is_over,
                    outcome: Mutex::new(None),
                })
            })
            .collect();
        jobs.iter()
            .for_each(|job| assert!(!queue.push(Arc::clone(job)) || queue.idle.load(Ordering::Relaxed) == 0));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let ended =
            catch_unwind(AssertUnwindSafe(|| pool.scope(|scope| help(scope, Arc::clone(&queue), on))));
        assert!(ended.is_err() && control.cancel.is_over());
        assert!(jobs.iter().all(|job| job.end().1));
    }

    /// Ends are taken in in the order of work, not of time.
    #[test]
    fn nobody_is_overtaken() {
        use orthopt_core::penalty::{AnyPenalty, L0};
        use orthopt_core::problem::PcaProblem;
        use orthopt_core::smooth::{AnySmooth, DenseQuadratic};
        use orthopt_linalg::RowMat;
        use orthopt_linalg::cancel::Cancel;

        let f =
            DenseQuadratic::new(RowMat::from_fn(4, 4, |i, j| f64::from(u8::from(i == j))).to_mat().as_ref())
                .unwrap();
        let problem = PcaProblem::new(AnySmooth::Dense(f), AnyPenalty::L0(L0::new(0.1).unwrap()), 1).unwrap();
        let control = Control::new(Cancel::never(), Default::default());
        let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
        let on = Ground { problem: &problem, stopping, control: &control };
        let costs = |work: usize| Task {
            parts: Vec::new(),
            x0: (Box::new(move |_: &PcaProblem, _| {
                orthopt_linalg::work::count(work);
                Err(orthopt_linalg::error::Error::Incompatible("a test".into()))
            })),
        };
        let call = |_| ();
        let mut flight: Flight<'_, PcaProblem, &str> = Flight::new(0, &call);
        flight.launch(costs(3_000_000), "long", Known::default());
        flight.launch(costs(1_000_000), "short", Known::default());
        let [long, short] = [(); 2].map(|()| flight.take().unwrap());
        assert!(flight.take().is_none() && flight.ended().is_none());
        // the long one is over first, but the other might still end before it
        long.perform(on, &mut || ());
        assert!(flight.ended().is_none());
        short.perform(on, &mut || ());
        assert_eq!(flight.ended().map(|e| (e.0, e.2)), Some(("short", 1_000_000 + OVERHEAD)));
        // launched at the end of the short one, so it ends before the long one
        flight.launch(costs(500_000), "next", Known::default());
        assert!(flight.ended().is_none());
        flight.take().unwrap().perform(on, &mut || ());
        let order: Vec<_> = std::iter::from_fn(|| flight.ended().map(|e| e.0)).collect();
        assert_eq!(order, ["next", "long"]);
        assert_eq!(flight.clock, 3_000_000 + OVERHEAD);
        // ended like a whole task that is cancelled
        control.cancel.cancel();
        flight.launch(costs(1), "late", Known::default());
        flight.take().unwrap().perform(on, &mut || ());
        assert!(matches!(flight.ended(), Some(("late", None, _))));
    }
}
