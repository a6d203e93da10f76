//! Runs faer's factorisations on one thread.
//!
//! Their high-level interfaces take the global number of threads, and the bits of the result
//! may depend on it. Inside [`sequential`] there is one thread, whatever the caller's pool is.

use std::sync::OnceLock;

use rayon::{ThreadPool, ThreadPoolBuilder};

static ONE_THREAD: OnceLock<Option<ThreadPool>> = OnceLock::new();

/// `f()` where rayon (and so faer) sees a single thread.
pub fn sequential<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    match ONE_THREAD.get_or_init(|| ThreadPoolBuilder::new().num_threads(1).build().ok()) {
        Some(pool) => pool.install(f),
        None => f(), // a machine that cannot start a thread has no second one either
    }
}
