//! The threads that solvers use.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use orthopt::Error;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The shared pool and the process it was made in: the threads of a pool do not survive a fork,
/// which `multiprocessing` uses, and work given to it afterwards would wait for ever.
static SHARED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// A pool of `threads` threads, or the shared one with as many as there are processors.
///
/// # Errors
/// `threads` = 0, or threads that cannot be started.
pub fn pool(threads: Option<usize>) -> Result<Arc<ThreadPool>, Error> {
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

fn start(threads: usize) -> Result<Arc<ThreadPool>, Error> {
    let invalid = |expected: &str| Error::InvalidOption {
        option: "threads".into(),
        value: threads.to_string(),
        expected: expected.into(),
    };
    if threads == 0 {
        return Err(invalid("a whole number >= 1"));
    }
    let pool = ThreadPoolBuilder::new().num_threads(orthopt::threads::sensible(threads)).build();
    pool.map(Arc::new).map_err(|error| invalid(&format!("a number of threads that can be started ({error})")))
}
