//! The feasible copy of methods whose own iterates are not feasible.

use crate::prelude::*;
use orthopt_core::composite::relative_criticality;
use orthopt_core::objective::{count_nonzeros, without_tiny};
use orthopt_core::solve::Raw;
use orthopt_core::start::{largest_of_rows, round_to_partition};
use orthopt_linalg::orthonormal::nearest;

/// Largest ‖XᵀX − I‖_F of what is handed out.
const FEASIBLE: f64 = 1e-12;
/// Sparse copies further from feasible than this cannot be repaired on their support.
const REPAIRABLE: f64 = 1.0;
/// A copy is made at every iteration at first, later when their number has grown by a sixteenth:
/// as many as log k, whatever the cost of one.
const SHARE: u64 = 16;
/// [`SHARE`] for runs without a request for points on the way: a copy costs some iterations.
const RARELY: u64 = 4;

/// The best feasible point seen.
#[derive(Clone, Debug)]
pub(crate) struct Feasible {
    pub(crate) x: RowMat,      // feasible X of lowest F
    pub(crate) objective: f64, // F(X)
    due: u64,                  // iteration of the next copy
    steps: usize,              // that its repair may take
}

/// Steps of a repair for every iteration since the last copy: one costs less than an iteration.
const STEPS: u64 = 4;
/// The least of them, and those of the copy at the end.
const LEAST: u64 = 32;
const LAST: usize = 300;

impl Feasible {
    /// X⁰ is the first.
    pub(crate) fn new<F: Smooth, H: Nonsmooth>(p: &Problem<Stiefel, F, H>, x0: &RowMat) -> Self {
        Self { x: x0.clone(), objective: p.value(x0), due: 1, steps: LAST }
    }

    /// True if a copy is to be made at iteration k. Decided by k alone, so that the result of a
    /// run does not depend on how it is cut into steps.
    pub(crate) fn is_due(&mut self, k: u64) -> bool {
        self.is_due_by(k, SHARE)
    }

    /// True if a copy is to be made at iteration k of a run of which only the end counts.
    pub(crate) fn is_rarely_due(&mut self, k: u64) -> bool {
        self.is_due_by(k, RARELY)
    }

    fn is_due_by(&mut self, k: u64, share: u64) -> bool {
        if k < self.due {
            return false;
        }
        self.due = k + 1 + k / share;
        self.steps = (STEPS * (self.due - k)).max(LEAST) as usize;
        true
    }

    /// Offers what can be made of the iterates: the orthonormal matrix nearest to `natural`; the
    /// `sparse` copy made orthonormal on its support, but for overlaps that forbid it; the rows of `sparse` reduced to their largest
    /// entry and its columns to unit length, which can always be had. The lowest F wins.
    pub(crate) fn offer<F: Smooth, H: Nonsmooth>(
        &mut self,
        p: &Problem<Stiefel, F, H>,
        natural: &RowMat,
        sparse: &RowMat,
    ) {
        if !p.h.requires_nonneg() {
            let mut x = natural.clone();
            if nearest(natural, &mut x) {
                self.keep_lower(p, x);
            }
        }
        if sparse.find_non_finite().is_some() {
            return;
        }
        if stiefel::feasibility(sparse) < REPAIRABLE {
            let mut x = sparse.clone();
            stiefel::drop_lone_overlaps(&mut x);
            stiefel::repair_within(&mut x, self.steps);
            self.keep_lower(p, x);
        }
        let apart = if p.h.requires_nonneg() { round_to_partition(sparse) } else { largest_of_rows(sparse) };
        self.keep_lower(p, apart);
    }

    /// The best point, that of the last iterates among them.
    pub(crate) fn last<F: Smooth, H: Nonsmooth>(
        mut self,
        p: &Problem<Stiefel, F, H>,
        natural: &RowMat,
        sparse: &RowMat,
    ) -> RowMat {
        self.steps = LAST;
        self.offer(p, natural, sparse);
        self.x
    }

    /// The best feasible point, with the residual of the method.
    pub(crate) fn current(&self, residual: f64) -> Current<'_> {
        Current::new(&self.x, self.objective).with_residual(Some(residual))
    }

    /// Criticality of the X that [`Feasible::finish`] would return.
    pub(crate) fn confirmed<F: Smooth, H: Nonsmooth>(
        &self,
        p: &Problem<Stiefel, F, H>,
        natural: &RowMat,
        sparse: &RowMat,
    ) -> Option<Confirmed> {
        Some(Confirmed::new(relative_criticality(p, &self.clone().last(p, natural, sparse))))
    }

    /// The end: the best point, and what the papers report of the iterate `reported`.
    pub(crate) fn finish<F: Smooth, H: Nonsmooth>(
        self,
        p: &Problem<Stiefel, F, H>,
        (natural, sparse): (&RowMat, &RowMat),
        reported: &RowMat,
        details: Details,
    ) -> Ending {
        let raw = Some(raw(p, reported));
        Ending::new(self.last(p, natural, sparse), details).with_raw(raw)
    }

    fn keep_lower<F: Smooth, H: Nonsmooth>(&mut self, p: &Problem<Stiefel, F, H>, x: RowMat) {
        let objective = p.value(&x);
        // NaN compares false
        if objective < self.objective && stiefel::feasibility(&x) <= FEASIBLE {
            (self.x, self.objective) = (x, objective);
        }
    }
}

/// F, violation and nonzeros of a natural iterate, with the papers' conventions.
fn raw<F: Smooth, H: Nonsmooth>(p: &Problem<Stiefel, F, H>, x: &RowMat) -> Raw {
    let counted = without_tiny(x);
    let objective = p.objective(x).smooth + p.h.of(&counted);
    Raw { objective, feasibility: stiefel::feasibility(x), nnz: count_nonzeros(&counted) }
}
