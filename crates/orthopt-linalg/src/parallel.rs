//! Loops over the threads of the pool, by rayon, compiled once.
//!
//! rayon is generic in its arguments, which costs about 2,500 lines of machine-level code for every loop. The
//! functions here hand it two loops only: one over ranges of indices, one over chunks of numbers. Code
//! that depends on a caller's types is a plain loop over one range. Results are in the order of the
//! indices, for any thread that computed them.

use std::cell::Cell;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::cancel::{Cancel, inherit};
use crate::threads;

thread_local! {
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// `f` with all its loops on this thread, for callers that must not wait for the threads of the pool.
pub fn alone<R>(f: impl FnOnce() -> R) -> R {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            ALONE.set(self.0);
        }
    }
    let _before = Before(ALONE.replace(true));
    f()
}

/// True inside of [`alone`].
pub fn is_alone() -> bool {
    ALONE.get()
}

/// True if a loop runs on this thread alone.
fn stays_here() -> bool {
    ALONE.get() || threads::is_crowded()
}

/// `f(0), f(1), ..., f(n − 1)`; a task takes `least` of them or more.
pub fn map<T: Send>(n: usize, least: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    gathered(n, least, &|range| range.map(&f).collect())
}

/// [`map`] where every task makes buffers of its own.
pub fn map_with<S, T: Send>(
    n: usize,
    least: usize,
    buffers: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, usize) -> T + Sync,
) -> Vec<T> {
    gathered(n, least, &|range| {
        let mut own = buffers();
        range.map(|k| f(&mut own, k)).collect()
    })
}

/// [`map`] of items that are consumed, or that are borrowed to be written to, each with its index.
pub fn map_items<I: Send, T: Send>(items: Vec<I>, least: usize, f: impl Fn(usize, I) -> T + Sync) -> Vec<T> {
    let items: Vec<Mutex<Option<I>>> = items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let take = |k: usize| items[k].lock().unwrap_or_else(PoisonError::into_inner).take();
    gathered(items.len(), least, &|range| range.filter_map(|k| Some(f(k, take(k)?))).collect())
}

/// Function of a buffer, the number of a chunk and the chunk.
pub type OnChunk<'a> = dyn Fn(&mut Vec<f64>, usize, &mut [f64]) + Sync + 'a;

/// `f(buffer, k, chunk)` for every chunk of `size` numbers, of which the last may be shorter; the
/// buffer is empty at first and keeps its contents for the next chunk of the same task.
pub fn for_each_chunk(data: &mut [f64], size: usize, f: &OnChunk<'_>) {
    let size = size.max(1);
    if stays_here() {
        let mut buffer = Vec::new();
        data.chunks_mut(size).enumerate().for_each(|(k, chunk)| f(&mut buffer, k, chunk));
        return;
    }
    threads::on_chosen(|| {
        let chunks = data.par_chunks_mut(size).enumerate();
        chunks.for_each_init(Vec::new, |buffer, (k, chunk)| f(buffer, k, chunk));
    });
}

/// The results of all ranges in order.
fn gathered<T: Send>(n: usize, least: usize, f: &(dyn Fn(Range<usize>) -> Vec<T> + Sync)) -> Vec<T> {
    let parts: Vec<Mutex<Vec<T>>> = (0..n).map(|_| Mutex::default()).collect();
    for_each_range(n, least, &|range| {
        let start = range.start;
        let part = f(range);
        *parts[start].lock().unwrap_or_else(PoisonError::into_inner) = part;
    });
    let mut all = Vec::with_capacity(n);
    for part in parts {
        all.append(&mut part.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
    all
}

/// Ranges that make up 0..n, each for one task: as rayon cuts them, which depends on the threads.
fn for_each_range(n: usize, least: usize, f: &(dyn Fn(Range<usize>) + Sync)) {
    if n == 0 {
        return;
    }
    if stays_here() {
        return f(0..n);
    }
    let waiting = Cancel::current();
    let f = |range| inherit(waiting.clone(), || f(range));
    let longer = |range: Range<usize>, k: usize| if range.is_empty() { k..k + 1 } else { range.start..k + 1 };
    threads::on_chosen(|| {
        let ranges = (0..n).into_par_iter().with_min_len(least).fold(|| 0..0, longer);
        ranges.filter(|range| !range.is_empty()).for_each(f);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_indices() {
        for (n, least) in [(0, 1), (1, 1), (7, 3), (1000, 1), (1000, 64), (50, 100)] {
            let slow: Vec<String> = (0..n).map(|k| format!("{k}")).collect();
            assert_eq!(map(n, least, |k| format!("{k}")), slow);
            assert_eq!(alone(|| map(n, least, |k| format!("{k}"))), slow);
            // buffers of a task see its indices in order, one after the other
            let pairs = map_with(n, least, Vec::new, |seen: &mut Vec<usize>, k| {
                let follows = seen.last().is_none_or(|last| last + 1 == k);
                seen.push(k);
                (follows, format!("{k}"))
            });
            assert!(pairs.iter().all(|p| p.0));
            assert_eq!(pairs.into_iter().map(|p| p.1).collect::<Vec<_>>(), slow);
            let items = map_items(slow.clone(), least, |k, item| format!("{item}{k}"));
            assert_eq!(items, (0..n).map(|k| format!("{k}{k}")).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_chunk_is_written_to() {
        for (n, size) in [(0, 4), (3, 4), (4, 4), (1001, 4), (1001, 1)] {
            let mut slow: Vec<f64> = (0..n).map(f64::from).collect();
            let mut fast = slow.clone();
            let mut chunks = slow.clone();
            for (k, chunk) in slow.chunks_mut(size).enumerate() {
                chunk.iter_mut().for_each(|v| *v = *v * 0.1 + k as f64);
            }
            for_each_chunk(&mut fast, size, &|buffer, k, chunk| {
                buffer.clear();
                buffer.extend(chunk.iter().map(|v| v * 0.1 + k as f64));
                chunk.copy_from_slice(buffer);
            });
            assert_eq!(fast, slow);
            let mut here: Vec<f64> = (0..n).map(f64::from).collect();
            let caller = std::thread::current().id();
            alone(|| {
                for_each_chunk(&mut here, size, &|_, k, chunk| {
                    assert_eq!(std::thread::current().id(), caller);
                    chunk.iter_mut().for_each(|v| *v = *v * 0.1 + k as f64);
                });
            });
            assert_eq!(here, slow);
            map_items(chunks.chunks_mut(size).collect(), 2, |k, chunk| {
                chunk.iter_mut().for_each(|v| *v = *v * 0.1 + k as f64);
            });
            assert_eq!(chunks, slow);
        }
    }
}
