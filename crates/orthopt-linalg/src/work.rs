//! Counts of work: a search divides work among its parts instead of seconds, so that its
//! course depends neither on the machine nor on the number of threads.
//!
//! The unit is a multiplication in a large product of matrices, about a tenth of a nanosecond. Products, factorisations and
//! pairs of rows count themselves, on the thread that asks for them; [`counted`] returns the
//! count of a piece of work.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static DONE: Cell<u64> = const { Cell::new(0) };
    static SHOWN: RefCell<Option<Arc<AtomicU64>>> = const { RefCell::new(None) };
}

/// Adds to the work done on this thread.
#[inline(always)]
pub fn count(operations: usize) {
    DONE.with(|done| done.set(done.get() + operations as u64));
    SHOWN.with_borrow(|shown| {
        if let Some(shown) = shown {
            shown.fetch_add(operations as u64, Ordering::Relaxed);
        }
    });
}

/// Count of this thread.
pub fn so_far() -> u64 {
    DONE.with(Cell::get)
}

/// The result and the work of `f`. Other tasks that the thread takes while it waits inside
/// `f` count separately, so `f` must be the outermost call of the thread for its task.
pub fn counted<R>(f: impl FnOnce() -> R) -> (R, u64) {
    apart(None, f)
}

/// [`counted`], with the work added to `shown` for other threads.
pub fn shown<R>(shown: &Arc<AtomicU64>, f: impl FnOnce() -> R) -> (R, u64) {
    apart(Some(Arc::clone(shown)), f)
}

fn apart<R>(shown: Option<Arc<AtomicU64>>, f: impl FnOnce() -> R) -> (R, u64) {
    let (outer, outer_shown) = (DONE.with(|done| done.replace(0)), SHOWN.replace(shown));
    let result = f();
    SHOWN.set(outer_shown);
    let inner = DONE.with(|done| done.replace(outer));
    (result, inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_taken_up_in_between_counts_for_itself() {
        let ((), all) = counted(|| {
            count(5);
            let ((), other) = counted(|| count(100));
            assert_eq!(other, 100);
            count(7);
            assert_eq!(so_far(), 12);
        });
        assert_eq!(all, 12);
    }

    #[test]
    fn others_see_what_counts_in_the_end() {
        let seen = Arc::new(AtomicU64::new(1));
        let ((), all) = shown(&seen, || {
            count(5);
            let ((), known) = counted(|| count(100));
            assert_eq!(seen.load(Ordering::Relaxed), 6);
            count(known as usize);
        });
        count(7);
        assert_eq!((all, seen.load(Ordering::Relaxed)), (105, 106));
    }
}
