//! Prox and projection in turns, X ← polar(prox_{ηh}(X − η∇f(X))): no theory, one gradient an iteration.

use crate::prelude::*;
use crate::proximal::{Point, Progressing, combine, curvature, feasible_start};
use orthopt_linalg::orthonormal::nearest;

constants! {
    /// The method with a step of 1/L unless set.
    #[derive(Copy)]
    pub struct ProxProject {
        /// step; chosen as 1/L, L = ||hess f||, unless set
        eta ["η"]: Option<f64> = None, "a number > 0" if |v| v > 0.0;
    }
}

/// Entry of the registry.
pub const INFO: Preset<ProxProject> = Preset::new(
    "prox-project",
    "prox and projection in turns; feasible, not monotone",
    Domain::FINITE_CONVEX,
);

/// State between iterations.
#[derive(Clone, Debug)]
pub struct State {
    at: Point,
    eta: f64,
    best: RowMat, // X of the lowest F
    lowest: f64,  // F there
    progress: Progressing,
}

impl<F: Smooth, H: Nonsmooth> Solver<Problem<Stiefel, F, H>> for ProxProject {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, x0: RowMat) -> Result<State> {
        INFO.check(&p.h)?;
        let at = Point::new(p, feasible_start(p, x0)?);
        Ok(State {
            eta: self.eta.unwrap_or_else(|| 1.0 / curvature(&p.f, &at.x)),
            best: at.x.clone(),
            lowest: at.objective(),
            progress: Progressing::default(),
            at,
        })
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> Step {
        let mut y = st.at.x.clone();
        combine(&mut y, &st.at.x, -st.eta, &st.at.grad);
        p.h.prox_rows(y.data_mut(), p.rank(), st.eta);
        if !nearest(&y, &mut st.at.x) {
            return Step::ended(Some((Status::NumericalError, "the gradient is not finite")));
        }
        st.at.evaluate(p);
        if st.at.objective() < st.lowest {
            st.lowest = st.at.objective();
            st.best.data_mut().copy_from_slice(st.at.x.data());
        }
        Step::ended(st.progress.note(st.lowest, f64::INFINITY))
    }

    fn current<'a>(&self, _: &Problem<Stiefel, F, H>, st: &'a State) -> Current<'a> {
        Current::new(&st.best, st.lowest)
    }

    fn finish(&self, _: &Problem<Stiefel, F, H>, st: State) -> Ending {
        let mut details = Details::of(self, INFO.constants);
        details.chosen("eta", st.eta);
        Ending::new(st.best, details)
    }
}
