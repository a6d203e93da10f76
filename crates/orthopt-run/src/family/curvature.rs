//! The curvature of f that step lengths of a search go by, computed once.

use std::sync::OnceLock;

use orthopt_core::smooth::Smooth;
use orthopt_linalg::work;

/// The curvature of f for step lengths, computed where it is first asked for: on large data it takes as long as a start.
/// It counts as no work, since the first thread that asks is not determined; threads that ask at once compute it each.
#[derive(Default)]
pub(super) struct Curvature(OnceLock<f64>);

impl Curvature {
    pub fn of(&self, f: &impl Smooth, columns: usize) -> f64 {
        if let Some(known) = self.0.get() {
            return *known;
        }
        let (found, _) = work::counted(|| f.step_curvature(columns));
        let found = found.unwrap_or(1.0).max(f64::MIN_POSITIVE);
        let _ = self.0.set(found); // another one has found the same
        found
    }
}
