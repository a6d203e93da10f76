//! The J-orthogonal group.

use super::starts::start_rng;
use super::{OwnResult, OwnRun, in_unit};
use orthopt_core::constraint::j_orthogonal::stationarity;
use orthopt_core::constraint::{Constraint, Signature};
use orthopt_core::problem::Problem;
use orthopt_core::smooth::Smooth;
use orthopt_core::solve::Observer;
use orthopt_hyperbolic::jobcd::VR_J_JOBCD;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_run::family::Case;
use orthopt_run::solvers::j_sums;

/// Default solver.
const DEFAULT: &str = "j-lbfgs";
/// Number of components from which `vr-j-jobcd` is the default: it comes within 1e-6 of the minimum with fewer
/// evaluations for 10⁶ of them, and with more for 10⁵ (docs/minimize.md).
const MANY: usize = 1_000_000;

impl OwnRun<'_> {
    /// A run over XᵀJX = J.
    ///
    /// # Errors
    /// A penalty, a missing signature, a start that does not fit; those of the solvers.
    pub(super) fn hyperbolic(&self, observers: &mut [&mut dyn Observer]) -> Result<OwnResult> {
        let request = self.request;
        let (n, r) = self.f.shape();
        if n != r {
            let what = "X of a J-orthogonal problem".into();
            return Err(Error::Shape { what, rows: n, cols: r, expected_rows: n, expected_cols: n });
        }
        let case = Case::of_function(true, self.penalty(), request.map.is_some());
        self.given.check(case.clone())?;
        let text = request.signature.as_ref().ok_or_else(|| Error::InvalidOption {
            option: "signature".into(),
            value: "not given".into(),
            expected: "the number of leading ones of J, or a list of signs".into(),
        })?;
        let problem = Problem::with_signature(self.f.clone(), Signature::parse(text, n)?)?;
        let sums = self.f.components() > 1;
        let sampled = VR_J_JOBCD.name;
        let default = if self.f.components() >= MANY { sampled } else { DEFAULT };
        let samples = |named: &str| named.split('+').any(|name| name == sampled);
        if sums && request.solver.as_deref().is_some_and(|named| !samples(named)) {
            let why = " does not apply to this solver: it is for vr-j-jobcd; leave it out";
            return Err(Error::Incompatible(Message::about("sample").text(why)));
        }
        let stages = self.stages(j_sums(), &problem, default, &case)?;
        let x0 = match &self.x0 {
            Some(x) => x.clone(),
            None => problem.constraint.random(&mut start_rng(request.seed())),
        };
        problem.constraint.check(&x0, "the starting point X")?;
        let unit = self.f.settle_unit(&x0);
        if sums {
            self.f.check_sum(&x0)?;
        }
        let solution = self.run(&problem, stages, x0, &request.stopping(), (unit, observers))?;
        let measure = |clock: &Cancel| {
            let x = &solution.x;
            let gradient = (!clock.is_over()).then(|| problem.gradient(x))?;
            (!clock.is_over()).then(|| stationarity(x, &gradient, problem.signature()))
        };
        let critical = self.checked(&solution, measure);
        Ok(in_unit(solution, critical, unit))
    }
}
