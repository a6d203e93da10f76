//! Runs faer's factorisations on one thread.
//!
//! Their high-level interfaces take the global number of threads, and the bits of the result
//! may depend on it. Inside [`sequential`] there is one thread, whatever the caller's pool is.

use std::process;
use std::sync::{Arc, PoisonError, RwLock};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The pool and the process it was made in: threads do not survive a fork (Python's
/// multiprocessing forks), and work given to those of the parent would wait for ever.
static ONE_THREAD: RwLock<Option<(u32, Arc<ThreadPool>)>> = RwLock::new(None);

/// `f()` where rayon (and so faer) sees a single thread.
pub fn sequential<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    match one_thread() {
        Some(pool) => pool.install(f),
        None => f(), // a machine that cannot start a thread has no second one either
    }
}

fn one_thread() -> Option<Arc<ThreadPool>> {
    let here = process::id();
    if let Some((made_in, pool)) = &*ONE_THREAD.read().unwrap_or_else(PoisonError::into_inner)
        && *made_in == here
    {
        return Some(Arc::clone(pool));
    }
    let made = Arc::new(ThreadPoolBuilder::new().num_threads(1).build().ok()?);
    let mut kept = ONE_THREAD.write().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, of_parent)) = kept.replace((here, Arc::clone(&made))) {
        std::mem::forget(of_parent); // there are no threads to be joined
    }
    Some(made)
}
