//! `minimize` over the J-orthogonal group.

use orthopt::Error;
use orthopt::constraint::j_orthogonal::Signature;
use orthopt::family::Begin;
use orthopt::family::Family;
use orthopt::j_problem::JProblem;
use orthopt::solve::{Observer, RunOptions, Solution, Status, run_restarts};
use pyo3::prelude::*;

use crate::errors::Failure;
use crate::minimize::Begun;
use crate::options::Options;
use crate::smooth::Between;

/// Runs a solver for XᵀJX = J.
///
/// # Errors
/// A penalty, a missing signature, a start that does not fit; exceptions of the callable.
pub fn run(py: Python<'_>, begun: &Begun, options: &Options<'_>) -> PyResult<(Solution, Option<f64>)> {
    let stopping = options.stopping().map_err(Failure::from)?;
    let start = begun.x0.clone().map(Begin::Given);
    let wanted = options.wanted(start).map_err(Failure::from)?;
    let (signature, penalty) = (options.signature.clone(), options.penalty.clone());
    let scope = options.scope();
    let run = || -> Result<_, Failure> {
        let (n, r) = begun.shape;
        if n != r {
            let what = "X of a J-orthogonal problem".into();
            return Err(Error::Shape { what, rows: n, cols: r, expected_rows: n, expected_cols: n }.into());
        }
        if penalty.is_some_and(|name| name != "none") {
            return Err(Error::Incompatible("problems with X'JX = J have no penalty".into()).into());
        }
        let text = signature.ok_or_else(|| Error::InvalidOption {
            option: "signature".into(),
            value: "not given".into(),
            expected: "the number of leading ones of J, or a list of signs".into(),
        })?;
        let problem = JProblem::custom(begun.f.clone(), Signature::parse(&text, n)?)?;
        let plan = problem.plan(&wanted)?;
        let run_options = RunOptions {
            max_iterations: stopping.max_iters,
            seed: wanted.seed,
            stage_seconds: stopping.time_limit.map(|limit| limit / plan.solvers.len() as f64),
            ..RunOptions::default()
        };
        let mut stop = stopping.criteria();
        let mut between = Between::new(&begun.f, begun.callback.as_ref());
        let observers: &mut [&mut dyn Observer] = &mut [&mut between];
        let solution = run_restarts(&problem, |k| plan.start(&problem, k), run_options, &mut stop, observers)
            .map_err(|error| begun.failure(error))?;
        let measured = scope.filter(|_| solution.status != Status::Interrupted);
        let critical = measured.and_then(|_| problem.criticality(&solution.x, &|| begun.f.keep_going()));
        Ok((solution, critical))
    };
    Ok(py.detach(run)?)
}
