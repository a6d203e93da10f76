//! Tasks in flight: performed on threads of their own as they come, taken in as on a machine where each has a processor of its
//! own.
//!
//! That machine has a clock of work. A task begins when it is launched and ends when its own work has passed, and ends are taken in
//! in that order, whichever thread performed them. So the thread that launches the next task at an end has seen the same results for
//! any number of threads, and no thread waits for the longest of a batch. An end may be taken in as soon as everything else in flight
//! has done too much to end before it.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};

use super::control::Control;
use super::ended::Known;
use super::task::{Done, OVERHEAD, Task, perform};
use orthopt_core::objective::Evaluate;
use orthopt_core::solve::Stopping;
use orthopt_linalg::error::Result;
use orthopt_linalg::threads::Crew;

/// Result of a task; `None` if it was cancelled.
pub(super) type Outcome = Option<Result<Done>>;

/// Problem, limits and control that tasks share.
#[derive(Debug)]
pub(super) struct JobContext<'a, P> {
    pub problem: &'a P,
    pub stopping: Stopping,
    pub control: &'a Control,
}

impl<P> Clone for JobContext<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for JobContext<'_, P> {}

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
    pub fn perform(&self, on: JobContext<'_, P>, tick: &mut dyn FnMut()) {
        let JobContext { problem, stopping, control } = on;
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

/// Queue of the jobs that no thread performs yet.
pub(super) struct Queue<P> {
    waiting: Mutex<Waiting<P>>,
    changed: Condvar,
    idle: AtomicUsize, // helpers that wait for a job
    master: Thread,    // that launches them
}

struct Waiting<P> {
    jobs: VecDeque<Arc<Job<P>>>, // the first first
    to_come: usize,              // helpers that there may still be
    is_closed: bool,
}

impl<P> Queue<P> {
    fn new(helpers: usize) -> Self {
        let waiting = Waiting { jobs: VecDeque::new(), to_come: helpers, is_closed: false };
        Self {
            waiting: Mutex::new(waiting),
            changed: Condvar::new(),
            idle: AtomicUsize::new(0),
            master: thread::current(),
        }
    }

    /// One more job; whether another helper is to come.
    fn push(&self, job: Arc<Job<P>>) -> bool {
        let mut waiting = locked(&self.waiting);
        waiting.jobs.push_back(job);
        self.changed.notify_one();
        let comes = waiting.to_come > 0 && waiting.jobs.len() > self.idle.load(Ordering::Relaxed);
        waiting.to_come -= usize::from(comes);
        comes
    }

    /// The next job, once there is one; `None` where no more come.
    fn next(&self) -> Option<Arc<Job<P>>> {
        let mut waiting = locked(&self.waiting);
        self.idle.fetch_add(1, Ordering::Relaxed);
        while waiting.jobs.is_empty() && !waiting.is_closed {
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        self.idle.fetch_sub(1, Ordering::Relaxed);
        if waiting.is_closed { None } else { waiting.jobs.pop_front() }
    }

    /// No more come.
    fn close(&self) {
        locked(&self.waiting).is_closed = true;
        self.changed.notify_all();
    }
}

/// Performs jobs on a thread of its own, one after the other. A panic goes on at the end: it ends the search, whose jobs are all to end.
pub(super) fn help<P: Evaluate + Sync + 'static>(queue: &Queue<P>, crew: &Arc<Crew>, on: JobContext<'_, P>) {
    crew.join(|| {
        let mut panicked = None;
        while let Some(job) = queue.next() {
            // what has been done may be all that the next launch waits for
            let mut tick = || {
                if queue.idle.load(Ordering::Relaxed) > 0 {
                    queue.master.unpark();
                }
            };
            let perform = || crew.busy(|| job.perform(on, &mut tick));
            let panic = catch_unwind(AssertUnwindSafe(perform)).err();
            panicked = panicked.or(panic);
            queue.master.unpark();
        }
        if let Some(panic) = panicked {
            resume_unwind(panic);
        }
    });
}

/// All tasks in flight, each with a `W` that says what for.
pub(super) struct Jobs<'a, P, W> {
    jobs: Vec<(Arc<Job<P>>, W)>, // as launched
    queue: Arc<Queue<P>>,
    call: &'a dyn Fn(Arc<Queue<P>>) -> bool, // a helper; whether one comes
    helpers: usize,                          // that have come
    clock: u64,
}

impl<P, W> Drop for Jobs<'_, P, W> {
    /// The helpers go, after the jobs that they have.
    fn drop(&mut self) {
        self.queue.close();
    }
}

impl<'a, P: Evaluate + 'static, W> Jobs<'a, P, W> {
    /// Nothing, with up to so many helpers.
    pub fn new(helpers: usize, call: &'a dyn Fn(Arc<Queue<P>>) -> bool) -> Self {
        Self { jobs: Vec::new(), queue: Arc::new(Queue::new(helpers)), call, helpers: 0, clock: 0 }
    }

    /// True if the thread that launches jobs has to perform them too.
    pub fn is_without_help(&self) -> bool {
        self.helpers == 0
    }

    /// Number of jobs.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Purposes of the jobs.
    pub fn aims(&self) -> impl Iterator<Item = &W> {
        self.jobs.iter().map(|job| &job.1)
    }

    /// One more, where so much is known.
    pub fn launch(&mut self, task: Task<P>, aim: W, known: Known) {
        let (work, is_over) = (Arc::new(AtomicU64::new(OVERHEAD)), AtomicBool::new(false));
        let job = Arc::new(Job { task, known, begin: self.clock, work, is_over, outcome: Mutex::new(None) });
        self.jobs.push((Arc::clone(&job), aim));
        if self.queue.push(job) && (self.call)(Arc::clone(&self.queue)) {
            self.helpers += 1;
        }
    }

    /// Takes the next waiting job; the calling thread runs it.
    pub fn take(&self) -> Option<Arc<Job<P>>> {
        locked(&self.queue.waiting).jobs.pop_front()
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
    use crate::search::task::MakeStart;

    /// A job that panics ends the search, and the panic continues.
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
        let on = JobContext { problem: &problem, stopping, control: &control };
        let crew = Crew::new();
        let ended = catch_unwind(AssertUnwindSafe(|| {
            thread::scope(|scope| {
                let helper = std::cell::RefCell::new(None);
                let call = |queue: Arc<Queue<PcaProblem>>| {
                    let crew = Arc::clone(&crew);
                    *helper.borrow_mut() = Some(scope.spawn(move || help(&queue, &crew, on)));
                    true
                };
                let mut jobs: Jobs<'_, PcaProblem, ()> = Jobs::new(1, &call);
                for _ in 0..3 {
                    let x0: MakeStart<PcaProblem> = Box::new(|_, _| panic!("a test"));
                    jobs.launch(Task { phases: Vec::new(), x0 }, (), Known::default());
                }
                while jobs.len() > 0 {
                    if jobs.ended().is_none() {
                        thread::yield_now();
                    }
                }
                drop(jobs);
                if let Err(panic) = helper.take().unwrap().join() {
                    resume_unwind(panic);
                }
            });
        }));
        let panic = ended.unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"a test"));
        assert!(control.cancel.is_over());
    }

    /// A task whose loops wait for the pool is not kept from going on by another one on its thread.
    #[test]
    fn no_task_begins_inside_another() {
        use orthopt_core::penalty::{AnyPenalty, L0};
        use orthopt_core::problem::PcaProblem;
        use orthopt_core::smooth::{AnySmooth, DenseQuadratic};
        use orthopt_linalg::RowMat;
        use orthopt_linalg::cancel::Cancel;
        use orthopt_linalg::error::Error;
        use orthopt_linalg::parallel::map;
        use std::cell::Cell;

        thread_local! {
            static INSIDE: Cell<usize> = const { Cell::new(0) };
        }
        let c = RowMat::from_fn(4, 4, |i, j| f64::from(u8::from(i == j))).to_mat();
        let f = AnySmooth::Dense(DenseQuadratic::new(c.as_ref()).unwrap());
        let problem = PcaProblem::new(f, AnyPenalty::L0(L0::new(0.1).unwrap()), 1).unwrap();
        let control = Control::new(Cancel::never(), Default::default());
        let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
        let on = JobContext { problem: &problem, stopping, control: &control };
        let (begun, nested) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let crew = Crew::new();
        thread::scope(|scope| {
            let call = |queue: Arc<Queue<PcaProblem>>| {
                let crew = Arc::clone(&crew);
                scope.spawn(move || help(&queue, &crew, on));
                true
            };
            let mut jobs: Jobs<'_, PcaProblem, ()> = Jobs::new(2, &call);
            for _ in 0..40 {
                let (begun, nested) = (Arc::clone(&begun), Arc::clone(&nested));
                let x0: MakeStart<PcaProblem> = Box::new(move |_, _| {
                    begun.fetch_add(1, Ordering::Relaxed);
                    nested.fetch_add(INSIDE.get(), Ordering::Relaxed);
                    INSIDE.set(INSIDE.get() + 1);
                    let sums =
                        map(64, 1, |i| (0..20_000).map(|j| f64::from(i as u32 ^ j).sqrt()).sum::<f64>());
                    INSIDE.set(INSIDE.get() - 1);
                    Err(Error::Incompatible(format!("{}", sums.len()).into()))
                });
                jobs.launch(Task { phases: Vec::new(), x0 }, (), Known::default());
            }
            while jobs.len() > 0 {
                if jobs.ended().is_none() {
                    thread::yield_now();
                }
            }
        });
        assert_eq!((begun.load(Ordering::Relaxed), nested.load(Ordering::Relaxed)), (40, 0));
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
        let on = JobContext { problem: &problem, stopping, control: &control };
        let costs = |work: usize| Task {
            phases: Vec::new(),
            x0: (Box::new(move |_: &PcaProblem, _| {
                orthopt_linalg::work::count(work);
                Err(orthopt_linalg::error::Error::Incompatible("a test".into()))
            })),
        };
        let call = |_| false;
        let mut jobs: Jobs<'_, PcaProblem, &str> = Jobs::new(0, &call);
        jobs.launch(costs(3_000_000), "long", Known::default());
        jobs.launch(costs(1_000_000), "short", Known::default());
        let [long, short] = [(); 2].map(|()| jobs.take().unwrap());
        assert!(jobs.take().is_none() && jobs.ended().is_none());
        // the long one is over first, but the other might still end before it
        long.perform(on, &mut || ());
        assert!(jobs.ended().is_none());
        short.perform(on, &mut || ());
        assert_eq!(jobs.ended().map(|e| (e.0, e.2)), Some(("short", 1_000_000 + OVERHEAD)));
        // launched at the end of the short one, so it ends before the long one
        jobs.launch(costs(500_000), "next", Known::default());
        assert!(jobs.ended().is_none());
        jobs.take().unwrap().perform(on, &mut || ());
        let order: Vec<_> = std::iter::from_fn(|| jobs.ended().map(|e| e.0)).collect();
        assert_eq!(order, ["next", "long"]);
        assert_eq!(jobs.clock, 3_000_000 + OVERHEAD);
        // ended like a whole task that is cancelled
        control.cancel.cancel();
        jobs.launch(costs(1), "late", Known::default());
        jobs.take().unwrap().perform(on, &mut || ());
        assert!(matches!(jobs.ended(), Some(("late", None, _))));
    }
}
