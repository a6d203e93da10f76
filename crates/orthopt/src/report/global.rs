//! What a global bound says, as facts for the command, its JSON and Python.

use serde::Serialize;

use crate::bound::{Bound, PROVED, Proof};

/// A global bound without its matrices.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Global {
    /// No feasible X has an F below this.
    pub bound: f64,
    /// The lowest F known.
    pub objective: Option<f64>,
    /// (F − bound)/|F|; `None` where no F is known, or F is 0 and the bound is not.
    pub gap: Option<f64>,
    /// `optimal` where the gap is closed.
    pub proof: Option<&'static str>,
    /// How it ended: `optimal`, or the name of an [`End`](crate::bound::End).
    pub status: &'static str,
    /// Which argument gave the bound.
    pub method: &'static str,
    /// Iterations of the relaxation at the root.
    pub iterations: u64,
    /// Nodes of branch and bound.
    pub nodes: u64,
    /// Nodes left open.
    pub open: u64,
    /// Seconds.
    pub seconds: f64,
}

impl Global {
    /// The facts of a bound.
    pub fn of(bound: &Bound) -> Self {
        let proof = bound.proof.map(|Proof::Optimal| "optimal");
        Self {
            bound: bound.value,
            objective: bound.objective,
            gap: bound.gap.filter(|gap| gap.is_finite()),
            proof,
            status: proof.unwrap_or(bound.end.name()),
            method: bound.method.name(),
            iterations: bound.iterations,
            nodes: bound.nodes,
            open: bound.open,
            seconds: bound.seconds,
        }
    }

    /// The facts of a bound as they are for an X with F = `f`, whatever the bound was computed with: its gap, and a
    /// proof where that is closed. An X that was found on the way may be better by rounding only.
    pub fn beside(bound: &Bound, f: f64) -> Self {
        let facts = Self::of(bound);
        let above = f - facts.bound;
        let gap = Some(if above <= 0.0 { 0.0 } else { above / f.abs() }).filter(|gap| gap.is_finite());
        let proof = gap.filter(|gap| *gap <= PROVED).map(|_| "optimal");
        Self { gap, proof, ..facts }
    }
}
