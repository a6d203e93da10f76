//! `minimize` over the J-orthogonal group.

use orthopt::Error;
use orthopt::cancel::Cancel;
use orthopt::constraint::Constraint;
use orthopt::constraint::Signature;
use orthopt::family::Case;
use orthopt_core::constraint::j_orthogonal::stationarity;

use orthopt::message::Message;
use orthopt::problem::Problem;
use orthopt::request::Settled;
use orthopt::smooth::Smooth;
use orthopt::solve::{Solution, Status};
use orthopt::solvers::j_sums;
use orthopt_hyperbolic::jobcd::vr_j_jobcd;
use pyo3::prelude::*;

use crate::begun::{Begun, stages, start_rng};
use crate::errors::Failure;
use crate::options::Request;
use crate::smooth::Callable;

/// Default solver.
const DEFAULT: &str = "j-lbfgs";
/// Number of components from which `vr-j-jobcd` is the default: it comes within 1e-6 of the minimum with fewer
/// evaluations for 10⁶ of them, and with more for 10⁵ (docs/minimize.md).
const MANY: usize = 1_000_000;

/// Runs a solver for XᵀJX = J.
///
/// # Errors
/// A penalty, a missing signature, a start that does not fit; exceptions of the callable.
pub fn run(py: Python<'_>, begun: &Begun, request: &Request) -> PyResult<(Solution, Option<f64>)> {
    let Request { settled, given, .. } = request;
    let Settled { pose, wanted, stopping, certify: scope, .. } = settled;
    let run = || -> Result<_, Failure> {
        let (n, r) = begun.shape;
        if n != r {
            let what = "X of a J-orthogonal problem".into();
            return Err(Error::Shape { what, rows: n, cols: r, expected_rows: n, expected_cols: n }.into());
        }
        let case = Case::of_function(true, pose.penalty.as_deref().unwrap_or("none"), pose.map.is_some());
        given.check(case.clone())?;
        let text = pose.signature.as_ref().ok_or_else(|| Error::InvalidOption {
            option: "signature".into(),
            value: "not given".into(),
            expected: "the number of leading ones of J, or a list of signs".into(),
        })?;
        let problem = Problem::with_signature(begun.f.clone(), Signature::parse(text, n)?)?;
        let sums = begun.f.components() > 1;
        let default = if begun.f.components() >= MANY { vr_j_jobcd::<Callable>().name } else { DEFAULT };
        let samples = |named: &str| named.split('+').any(|name| name == vr_j_jobcd::<Callable>().name);
        if sums && wanted.solver.as_deref().is_some_and(|named| !samples(named)) {
            let why = " does not apply to this solver: it is for vr-j-jobcd; leave it out";
            return Err(Error::Incompatible(Message::about("sample").text(why)).into());
        }
        let stages = stages(j_sums(), &problem, default, wanted, (given, &case))?;
        let x0 = match &begun.x0 {
            Some(x) => x.clone(),
            None => problem.constraint.random(&mut start_rng(wanted.seed)),
        };
        problem.constraint.check(&x0, "the starting point X")?;
        let unit = begun.f.settle_unit(&x0);
        if sums {
            begun.f.check_sum(&x0)?;
        }
        let solution = begun.run(&problem, stages, x0, wanted, stopping)?;
        let measured = scope.filter(|_| solution.status != Status::Interrupted);
        let measure = |clock: &Cancel| {
            let x = &solution.x;
            let gradient = (!clock.is_over()).then(|| problem.gradient(x))?;
            (!clock.is_over()).then(|| stationarity(x, &gradient, problem.signature()))
        };
        let critical = measured.and_then(|_| begun.check_in_time(&solution, stopping, measure));
        Ok((solution.times(unit), critical.map(|size| unit * size)))
    };
    Ok(py.detach(run)?)
}
