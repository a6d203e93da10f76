//! `minimize`: f is a function of the caller.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::family::Call;
use orthopt::minimize::{CONSTRAINTS, Callback, Function, OwnResult, OwnRun, checked_lipschitz};
use orthopt::request::Front;
use orthopt::solve::{Event, Observer};
use serde_json::json;

use crate::options::Stated;
use crate::outcome::{Failure, Found};
use crate::watch::{Caller, Progress};

/// The functions of the caller, who is called on the thread that calls.
pub trait Functions: Send + Sync {
    /// f(X), and G ← ∇f(X); `None` where the function says that it has failed.
    fn evaluate(&self, x: &RowMat, g: &mut RowMat) -> Option<f64>;
}

/// f as the library calls it.
struct Own<F, C> {
    functions: F,
    caller: C,
    cancel: Cancel,
    failed: AtomicBool,
}

impl<F: Functions, C: Caller + Send + Sync> Callback for Own<F, C> {
    fn evaluate(&self, x: &RowMat, g: &mut RowMat) -> Option<f64> {
        let found = (!self.failed.load(Ordering::Relaxed)).then(|| self.functions.evaluate(x, g)).flatten();
        if found.is_none() {
            self.failed.store(true, Ordering::Relaxed);
            self.cancel.cancel();
        }
        found
    }

    fn is_interrupted(&self) -> bool {
        self.caller.has_cancelled()
    }
}

impl<F, C: Caller> Observer for &Own<F, C> {
    fn observe(&mut self, event: Event<'_>) {
        let Event::Step(p) = event else { return };
        let now = Progress {
            seconds: p.seconds,
            objective: p.objective,
            iterations: p.iteration,
            ..Default::default()
        };
        if !self.cancel.is_cancelled() && self.caller.look(&now) {
            self.cancel.cancel();
        }
    }
}

/// Minimises f(X) + h(X) over XᵀX = I, or f(X) over XᵀJX = J where a signature is given.
///
/// # Errors
/// Options, a start that does not fit, a function that fails or returns no number at the start; errors of the solvers.
pub fn minimize(
    functions: impl Functions + 'static,
    caller: impl Caller + Send + Sync + 'static,
    (x0, shape): (Option<RowMat>, (usize, usize)),
    mut stated: Stated,
) -> Result<Found, Failure> {
    let lipschitz = stated.take("lipschitz", f64::NEG_INFINITY, "a number > 0")?;
    let lipschitz = lipschitz.map(checked_lipschitz).transpose()?;
    let constraint = CONSTRAINTS[usize::from(stated.has("signature"))];
    let own: &[&str] = if lipschitz.is_some() { &["lipschitz"] } else { &[] };
    let options = stated.read(Call::Minimize, own)?;
    let cancel = Cancel::never();
    let failed = AtomicBool::new(false);
    let callback = Arc::new(Own { functions, caller, cancel: cancel.clone(), failed });
    let f = Function::new(callback.clone(), shape, lipschitz, cancel);
    let run = OwnRun {
        f: f.clone(),
        x0,
        constraint,
        request: &options.request,
        given: &options.given,
        front: Front::C,
    };
    let mut observer = &*callback;
    let found = orthopt::minimize::minimize(&run, &mut [&mut observer]);
    if callback.failed.load(Ordering::Relaxed) {
        return Err(Failure::Callback);
    }
    let OwnResult { criticality, solution: s } = found?;
    let object = json!({
        "constraint": constraint,
        "rank": shape.1,
        "lambda": options.request.lambda,
        "solver": s.solver,
        "settings": s.settings,
        "seed": s.seed,
        "status": s.status,
        "message": s.message,
        "objective": s.objective.total,
        "smooth": s.objective.smooth,
        "nonsmooth": s.objective.nonsmooth,
        "nnz": s.nnz,
        "feasibility": s.feasibility,
        "nonneg_violation": s.nonneg_violation,
        "criticality": criticality,
        "iterations": s.iterations,
        "evaluations": f.evaluations(),
        "starts": s.starts,
        "seconds": s.seconds,
    });
    Found::of(&object, Some(s.x))
}
