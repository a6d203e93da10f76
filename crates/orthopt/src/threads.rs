//! How many threads are sensible, and the threads that those who embed the library share.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::Error;

/// Threads for somebody who asks for `wanted`: at most four for every core, or 64 where that is more. Further ones
/// would only take memory, and thousands of them the machine.
pub fn sensible(wanted: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    wanted.min((4 * cores).max(64))
}

/// The shared pool and the process it was made in: the threads of a pool do not survive a fork, which
/// Python's `multiprocessing` and R's `parallel` use, and work given to it afterwards would wait for ever.
static SHARED: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// A pool of `threads` threads, or the shared one with as many as there are processors: for modules of other
/// languages.
///
/// # Errors
/// `threads` = 0, or threads that cannot be started.
#[doc(hidden)]
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
    fn the_shared_pool_is_made_once_and_none_has_no_threads() {
        let pools = [(); 2].map(|()| super::pool(None).unwrap());
        assert!(std::sync::Arc::ptr_eq(&pools[0], &pools[1]));
        assert_eq!(super::pool(Some(3)).unwrap().current_num_threads(), 3);
        assert!(super::pool(Some(0)).unwrap_err().to_string().contains("threads is 0"));
    }
}
