//! LADMM where the sparse copy is the projection onto a limit of cardinality:
//!
//! ```text
//! min −½ tr(XᵀCX) + ι(Y)   subject to   XᵀX = I, X = Y,   ι(Y) = 0 within the limits
//! X ← nearest(CX + β(Y − U)),   Y ← the largest entries of X + U,   U ← U + X − Y,   β ← ρβ
//! ```
//!
//! with U = Z/β. β grows from L/100, so it first follows f and then closes the gap between X and Y; every tenth
//! pair is rounded to a feasible X on the support of Y, and the best of these is the point. Cost per
//! iteration: a gradient, 4nr² flops and a sort of the entries.

use super::exchange::rounded;
use crate::problem::CardinalityProblem;
use orthopt_core::objective::Evaluate;
use orthopt_core::options::Constants;
use orthopt_core::problem::nonzero_rows;
use orthopt_core::smooth::Quadratic;
use orthopt_core::solve::info::SolverInfo;
use orthopt_core::solve::{AnySolver, Current, Details, Ending, Solver, Status, Step};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::Result;
use orthopt_linalg::orthonormal::nearest;
use orthopt_linalg::work::count;
use orthopt_solvers::ladmm::Ladmm;

/// Entry of the registry.
pub const INFO: SolverInfo<CardinalityProblem> = SolverInfo {
    name: "ladmm",
    doc: "linearised ADMM with an orthonormal X and a copy with the allowed nonzeros; feasible in the limit",
    constants: Ladmm::LIST,
    shared: &[],
    handles: &|_| true,
    scope: "problems with limits on nonzeros (nonzeros, total-nonzeros, variables)",
    make: &|o| Ok(AnySolver::new(INFO.configured(Ladmm::DEFAULT, o)?)),
};

/// First β, in units of L; the one beyond which nothing moves any more.
const FIRST: f64 = 0.01;
const LAST: f64 = 300.0;
/// Iterations between two feasible copies.
const EVERY: u64 = 10;
/// ‖X − Y‖/√r at which it has converged.
const NEAR: f64 = 1e-7;

/// State of the method.
#[derive(Clone, Debug)]
pub struct State {
    x: RowMat,
    y: RowMat,
    u: RowMat,
    beta: f64,
    lipschitz: f64,
    apart: f64, // ‖X − Y‖/√r
    best: RowMat,
    objective: f64, // F of it
    iterations: u64,
}

impl State {
    /// The feasible X on the support of Y, if it is better.
    fn offer<F: Quadratic>(&mut self, p: &CardinalityProblem<F>) {
        let guide = RowMat::from_fn(self.x.nrows(), self.x.ncols(), |i, k| {
            if self.y.get(i, k) != 0.0 { self.x.get(i, k) } else { 0.0 }
        });
        if let Some(x) = rounded(p, &guide) {
            let objective = p.value(&x);
            if objective < self.objective {
                (self.best, self.objective) = (x, objective);
            }
        }
    }
}

impl<F: Quadratic> Solver<CardinalityProblem<F>> for Ladmm {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &CardinalityProblem<F>, x0: RowMat) -> Result<State> {
        p.check(&x0, "the starting point X")?;
        let lipschitz = p.f.step_curvature(p.rank()).unwrap_or(1.0).max(f64::MIN_POSITIVE);
        Ok(State {
            objective: p.value(&x0),
            best: x0.clone(),
            y: x0.clone(),
            u: RowMat::zeros(x0.nrows(), x0.ncols()),
            x: x0,
            beta: self.beta.unwrap_or(FIRST * lipschitz),
            lipschitz,
            apart: f64::INFINITY,
            iterations: 0,
        })
    }

    fn step(&self, p: &CardinalityProblem<F>, st: &mut State) -> Step {
        let shift = if p.f.is_concave() { 0.0 } else { st.lipschitz };
        let mut work = p.f.apply(&st.x); // −CX
        for k in 0..work.data().len() {
            let (x, y, u) = (st.x.data()[k], st.y.data()[k], st.u.data()[k]);
            work.data_mut()[k] = shift * x - work.data()[k] + st.beta * (y - u);
        }
        if !nearest(&work, &mut st.x) {
            return Step::ended(Some((Status::NumericalError, "the gradient is not finite")));
        }
        st.y.data_mut().copy_from_slice(st.x.data());
        st.y.data_mut().iter_mut().zip(st.u.data()).for_each(|(y, u)| *y += u);
        if p.requires_nonneg() {
            st.y.data_mut().iter_mut().for_each(|v| *v = v.max(0.0));
        }
        count(300 * st.y.data().len());
        p.limits().truncate(&mut st.y);
        let mut apart = 0.0;
        for k in 0..st.x.data().len() {
            let d = st.x.data()[k] - st.y.data()[k];
            apart += d * d;
            // U = Z/β shrinks as β grows
            st.u.data_mut()[k] = (st.u.data()[k] + d) / self.rho;
        }
        st.apart = (apart / st.x.ncols() as f64).sqrt();
        st.beta *= self.rho;
        st.iterations += 1;
        let met = st.apart <= NEAR.max(self.near);
        let still = met || st.beta >= LAST.min(self.most) * st.lipschitz;
        if still || st.iterations.is_multiple_of(EVERY) {
            st.offer(p);
        }
        let why = if met { "X and its sparse copy agree" } else { "beta is so large that X no longer moves" };
        // a fixed beta need not get anywhere; a limit ends that
        Step::ended(still.then_some((Status::Converged, why)))
    }

    fn current<'a>(&self, _: &CardinalityProblem<F>, st: &'a State) -> Current<'a> {
        Current::new(&st.best, st.objective)
    }

    fn finish(&self, p: &CardinalityProblem<F>, mut st: State) -> Ending {
        let mut details = Details::of(self, INFO.constants);
        details.chosen("beta", self.beta.unwrap_or(FIRST * st.lipschitz));
        details.set("beta_at_end", st.beta);
        details.set("iterations", st.iterations);
        details.set("rows", nonzero_rows(&st.best).len());
        st.offer(p);
        Ending::new(st.best, details)
    }
}
