//! State shared by the tasks of a search: when to stop, and the best point so far.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Tuning;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::{RowMat, work};

/// The best point that any task has examined; for observers, and for X if a search is cut off.
#[derive(Clone, Debug)]
pub(super) struct Best {
    pub x: RowMat,
    pub objective: f64,
    pub changes: u64,
    pub curve: Vec<(u64, f64)>, // work and F, wherever it fell
}

/// Shared by the tasks and their observers.
#[derive(Debug)]
pub(super) struct Control {
    pub cancel: Cancel, // with the clock and the limit of the search
    pub tuning: Tuning,
    work: AtomicU64,       // of all that has ended
    iterations: AtomicU64, // of all tasks
    best: Mutex<Option<Best>>,
}

impl Control {
    pub fn new(cancel: Cancel, tuning: Tuning) -> Self {
        Self {
            cancel,
            tuning,
            work: AtomicU64::new(0),
            iterations: AtomicU64::new(0),
            best: Mutex::new(None),
        }
    }

    /// Work so far, where there is one thread.
    fn work(&self) -> u64 {
        self.work.load(Ordering::Relaxed) + work::so_far()
    }

    /// True if there is no more work to be done.
    pub fn is_spent(&self) -> bool {
        self.tuning.max_work.is_some_and(|limit| self.work() >= limit)
    }

    /// So much more work has been done.
    pub fn worked(&self, work: u64) {
        self.work.fetch_add(work, Ordering::Relaxed);
    }

    pub fn made(&self, iterations: u64) {
        self.iterations.fetch_add(iterations, Ordering::Relaxed);
        if self.is_spent() {
            self.cancel.cancel();
        }
    }

    pub fn iterations(&self) -> u64 {
        self.iterations.load(Ordering::Relaxed)
    }

    /// Takes X in if it is the best so far.
    pub fn offer(&self, x: &RowMat, objective: f64) {
        let mut best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        match best.as_mut() {
            Some(best) if objective < best.objective => {
                best.x.data_mut().copy_from_slice(x.data());
                (best.objective, best.changes) = (objective, best.changes + 1);
                best.curve.push((self.work(), objective));
            }
            Some(_) => {}
            None => {
                *best =
                    Some(Best { x: x.clone(), objective, changes: 1, curve: vec![(self.work(), objective)] })
            }
        }
    }

    /// Lowest F so far (infinite before there is any), and the best point if it has changed since there
    /// were so many changes.
    pub fn newer(&self, than: u64) -> (f64, Option<Best>) {
        let best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        let objective = best.as_ref().map_or(f64::INFINITY, |b| b.objective);
        (objective, best.as_ref().filter(|b| b.changes > than).cloned())
    }
}
