//! Sensible numbers of threads, and the pool that programs with the library share.

use std::cell::RefCell;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::Error;

/// Number of threads for a request of `wanted`: at most four per core, or 64 if that is more.
/// Further threads only take memory.
pub fn sensible(wanted: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    wanted.min((4 * cores).max(64))
}

/// Threads that work together.
#[doc(hidden)]
pub type Pool = Arc<ThreadPool>;

/// The shared pool and the process it was made in: the threads of a pool do not survive a fork, which
/// Python's `multiprocessing` and R's `parallel` use, and work given to it after a fork would wait for ever.
static SHARED: Mutex<Option<(u32, Pool)>> = Mutex::new(None);

/// A pool of `threads` threads, or the shared one with as many as there are processors: for modules of other
/// languages.
///
/// # Errors
/// `threads` = 0, or threads that cannot be started.
#[doc(hidden)]
pub fn pool(threads: Option<usize>) -> Result<Pool, Error> {
    if let Some(threads) = threads {
        return start(threads);
    }
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let here = process::id();
    if let Some((made_in, pool)) = shared.take() {
        if made_in == here {
            *shared = Some((here, Arc::clone(&pool)));
            return Ok(pool);
        }
        std::mem::forget(pool); // of the parent: its threads are not here to be joined
    }
    let pool = start(std::thread::available_parallelism().map_or(1, usize::from))?;
    *shared = Some((here, Arc::clone(&pool)));
    Ok(pool)
}

thread_local! {
    static CHOSEN: RefCell<Option<Pool>> = const { RefCell::new(None) };
}

/// `f` with the threads of `pool`: on one of them, or where it is a search on this one, so that all of them are
/// free for its tasks.
#[doc(hidden)]
pub fn on<R: Send>(pool: &Pool, is_search: bool, f: impl FnOnce() -> R + Send) -> R {
    if is_search { with(pool, f) } else { pool.install(f) }
}

/// `f` on this thread, with the threads of `pool` for its parallel work.
fn with<R>(pool: &Pool, f: impl FnOnce() -> R) -> R {
    struct Before(Option<Pool>);
    impl Drop for Before {
        fn drop(&mut self) {
            CHOSEN.set(self.0.take());
        }
    }
    let _before = Before(CHOSEN.replace(Some(Arc::clone(pool))));
    f()
}

fn chosen() -> Option<Pool> {
    CHOSEN.with_borrow(Clone::clone)
}

/// `f` on a thread of the pool that a search on this thread has; without one it is left to rayon.
#[doc(hidden)]
pub fn on_chosen<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    match chosen() {
        Some(pool) => pool.install(f),
        None => f(),
    }
}

/// Number of threads for the parallel work of this one.
#[doc(hidden)]
pub fn count() -> usize {
    chosen().map_or_else(rayon::current_num_threads, |pool| pool.current_num_threads())
}

/// Threads beside the pool, each of which has a long piece of work of its own. A thread of the pool that waits for others takes up whatever
/// there is meanwhile, and does not go on before that is done: long pieces are not for the pool.
#[doc(hidden)]
#[derive(Debug)]
pub struct Crew {
    pool: Option<Pool>,
    size: usize,
    busy: AtomicUsize,
}

thread_local! {
    static CREW: RefCell<Option<Arc<Crew>>> = const { RefCell::new(None) };
}

impl Crew {
    /// One that has the pool of this thread for its parallel work.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { pool: chosen(), size: count(), busy: AtomicUsize::new(0) })
    }

    /// `f`, all that a thread of the crew does.
    pub fn join<R>(self: &Arc<Self>, f: impl FnOnce() -> R) -> R {
        CREW.set(Some(Arc::clone(self)));
        match &self.pool {
            Some(pool) => with(pool, f),
            None => f(),
        }
    }

    /// `f`, a piece of work of this thread.
    pub fn busy<R>(&self, f: impl FnOnce() -> R) -> R {
        struct Ended<'a>(&'a AtomicUsize);
        impl Drop for Ended<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.busy.fetch_add(1, Ordering::Relaxed);
        let _ended = Ended(&self.busy);
        f()
    }
}

/// True if this thread has as many of its crew beside it as there are to be threads: its loops run on it alone.
pub(crate) fn is_crowded() -> bool {
    CREW.with_borrow(|crew| crew.as_ref().is_some_and(|crew| crew.busy.load(Ordering::Relaxed) >= crew.size))
}

fn start(threads: usize) -> Result<Pool, Error> {
    let invalid = |expected: &str| Error::InvalidOption {
        option: "threads".into(),
        value: threads.to_string(),
        expected: expected.into(),
    };
    if threads == 0 {
        return Err(invalid("a whole number >= 1"));
    }
    let pool = ThreadPoolBuilder::new().num_threads(sensible(threads)).build();
    pool.map(Arc::new).map_err(|error| invalid(&format!("a number of threads that can be started ({error})")))
}

#[cfg(test)]
mod tests {
    #[test]
    fn few_stay_and_many_are_cut() {
        assert_eq!([1, 2, 64].map(super::sensible), [1, 2, 64]);
        assert!(super::sensible(1_000_000) < 100_000);
    }

    #[test]
    fn threads_are_used_from_outside() {
        let pool = super::pool(Some(3)).unwrap();
        let here = std::thread::current().id();
        let (count, on) = super::with(&pool, || {
            assert_eq!(std::thread::current().id(), here);
            (super::count(), super::on_chosen(rayon::current_num_threads))
        });
        assert_eq!((count, on), (3, 3));
        assert!(super::chosen().is_none());
        for is_search in [false, true] {
            let stays = super::on(&pool, is_search, || std::thread::current().id() == here);
            assert_eq!(stays, is_search);
        }
    }

    /// The crew has the pool for its loops until as many are busy as there are to be threads.
    #[test]
    fn a_crew_has_the_pool_until_all_are_busy() {
        let pool = super::pool(Some(2)).unwrap();
        let crew = super::with(&pool, super::Crew::new);
        assert!(!super::is_crowded());
        let seen = std::thread::scope(|scope| {
            let at_work = || {
                crew.join(|| {
                    let alone = crew.busy(|| (super::is_crowded(), super::count()));
                    let both = crew.busy(|| crew.busy(super::is_crowded));
                    (alone, both, super::is_crowded())
                })
            };
            scope.spawn(at_work).join().unwrap()
        });
        assert_eq!(seen, ((false, 2), true, false));
    }

    #[test]
    fn the_shared_pool_is_made_once_and_none_has_no_threads() {
        let pools = [(); 2].map(|()| super::pool(None).unwrap());
        assert!(std::sync::Arc::ptr_eq(&pools[0], &pools[1]));
        assert_eq!(super::pool(Some(3)).unwrap().current_num_threads(), 3);
        assert!(super::pool(Some(0)).unwrap_err().to_string().contains("threads is 0"));
    }
}
