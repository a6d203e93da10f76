//! Factorisations that take long and cannot be divided: the caller can stop waiting for them.
//!
//! A large one runs on a thread of its own while the caller asks the clock that it works
//! [`during`](Cancel::during). Where that is over the caller continues without the result, and the thread ends when its
//! factorisation does, or with the process. The routine and its one thread are the same, and so are the bits.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::cancel::{Cancel, is_over, moment};

/// Work (`linalg::work`) of a factorisation that is waited for in any case: about a tenth of a second.
const SHORT: usize = 1_000_000_000;
/// Time between two checks of the clock.
const LOOK: Duration = Duration::from_millis(20);
/// Threads at a time for every processor; further callers wait, so cancelled ones do not add up.
const PER_PROCESSOR: usize = 2;

/// The result of `factorise`, which takes so much work; `None` if cancelled.
pub fn or_cancelled<R: Send + 'static>(
    work: usize,
    factorise: impl FnOnce() -> R + Send + 'static,
) -> Option<R> {
    let cancel = if work > SHORT { Cancel::current() } else { None };
    let Some(cancel) = cancel else { return Some(factorise()) };
    let place = Place::take(&cancel)?;
    let (send, receive) = channel();
    let run = move || {
        let _place = place;
        let _ = send.send(factorise());
    };
    if std::thread::Builder::new().name("factorisation".into()).spawn(run).is_err() {
        return None;
    }
    loop {
        match receive.recv_timeout(LOOK) {
            Ok(result) => return Some(result),
            Err(RecvTimeoutError::Timeout) if !cancel.is_over() => {}
            Err(_) => return None,
        }
    }
}

/// Work of a step from which on it is left: about a hundredth of a second, and several of them follow each other.
const STEP: usize = 100_000_000;

/// True where a step of so much work is long.
pub fn is_long(work: usize) -> bool {
    work > STEP
}

/// True where a step of so much work is long and it is cancelled.
pub fn is_left(work: usize) -> bool {
    is_long(work) && is_over()
}

/// Seconds that are left for long steps after work that took some of its limit: none where they are too few to begin one.
pub fn left_after(limit: f64, seconds: f64) -> f64 {
    const FEW: f64 = 0.05;
    let left = limit + moment(limit) - seconds;
    if left < FEW { 0.0 } else { left }
}

/// Seconds of a limit that are left to a run whose problem took so long to set up: all of them if the share is negligible.
pub fn rest_of(limit: f64, seconds: f64) -> f64 {
    const NOTICED: f64 = 0.05; // a tenth of what a limit may be exceeded by
    if seconds < NOTICED { limit } else { (limit - seconds).max(0.0) }
}

static TAKEN: Mutex<usize> = Mutex::new(0);
static FREED: Condvar = Condvar::new();

/// The place of a thread.
struct Place;

impl Place {
    /// Waits for one; `None` where `cancel` is over first.
    fn take(cancel: &Cancel) -> Option<Self> {
        let most = PER_PROCESSOR * std::thread::available_parallelism().map_or(1, usize::from);
        let mut taken = Self::taken();
        while !cancel.is_over() {
            if *taken < most {
                *taken += 1;
                return Some(Self);
            }
            taken = FREED.wait_timeout(taken, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        None
    }

    fn taken() -> MutexGuard<'static, usize> {
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        *Self::taken() -= 1;
        FREED.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_one_that_does_not_end() {
        let (held, hold) = channel::<()>();
        let cancel = Cancel::never();
        let flag = cancel.clone();
        let endless = move || {
            flag.cancel(); // once it has begun
            let _ = hold.recv();
        };
        assert!(cancel.during(|| or_cancelled(SHORT + 1, endless)).is_none());
        assert!(cancel.during(|| or_cancelled(SHORT + 1, || 1)).is_none());
        assert_eq!(cancel.during(|| or_cancelled(SHORT, || 1)), Some(1));
        assert_eq!(Cancel::never().during(|| or_cancelled(SHORT + 1, || 1)), Some(1));
        assert_eq!(or_cancelled(SHORT + 1, || 1), Some(1));
        drop(held);
    }

    #[test]
    fn long_steps_alone_are_left() {
        let over = Cancel::never();
        over.cancel();
        assert!(over.during(|| is_left(STEP + 1)) && !over.during(|| is_left(STEP)));
        assert!(!is_left(STEP + 1) && !Cancel::never().during(|| is_left(STEP + 1)));
    }

    #[test]
    fn what_is_left_is_nothing_or_enough() {
        assert_eq!(left_after(0.5, 0.5), 0.0);
        assert_eq!(left_after(10.0, 11.0), 0.0);
        assert_eq!(left_after(10.0, 10.0), 0.5);
        assert_eq!(left_after(10.0, 2.0), 8.5);
        assert_eq!((rest_of(3.0, 0.01), rest_of(3.0, 1.0), rest_of(3.0, 4.0)), (3.0, 2.0, 0.0));
    }

    #[test]
    fn a_panic_of_the_thread_is_a_failure() {
        let breaks = || {
            if std::hint::black_box(true) {
                std::panic::resume_unwind(Box::new(()))
            }
        };
        assert!(Cancel::never().during(|| or_cancelled(SHORT + 1, breaks)).is_none());
    }

    #[test]
    fn places_are_given_back() {
        let cancel = Cancel::never();
        for k in 0..200 {
            assert_eq!(cancel.during(|| or_cancelled(SHORT + 1, move || k)), Some(k));
        }
    }
}
