//! SOC: splitting orthogonality constraints, ADMM for f(X) + h(Q), X = P = Q, PᵀP = I (Lai, Osher
//! 2014; Ozoliņš, Lai, Caflisch, Osher 2013, Algorithm 1; constants of the comparison in Chen et
//! al. 2020).
//!
//! ```text
//! for k = 0, 1, ...
//!   X ← argmin f(X) + β/2‖X − P + B‖² + β/2‖X − Q + b‖²            f linearised at the last X
//!   Q ← prox_{h/β}(X + b)
//!   P ← the orthonormal matrix nearest to X + B
//!   B ← B + X − P,   b ← b + X − Q                                scaled multipliers
//! ```
//!
//! The originals solve a linear system for X; here f is only known by its gradient, and a
//! linearisation majorises a concave f (for others (L/2)‖X − Xᵏ‖² is added). The X-problem is
//! bounded only for 2β > L: β = L is their default. X, P and Q agree in the limit: a feasible copy
//! made of P and Q is kept and handed out, and Q is what `raw` reports.
//!
//! The stationarity measure is (‖X − P‖ + ‖X − Q‖)/√r plus the violation of the condition for X,
//! bounded by what the iteration moved and relative to the largest ‖∇f‖ met.
//!
//! Cost per iteration: a gradient and 4nr² flops.

use super::proximal::{Copies, combine, distance};
use crate::prelude::*;
use orthopt_linalg::orthonormal::nearest;
use orthopt_linalg::simd::dispatch;

constants! {
    /// SOC.
    #[derive(Copy)]
    pub struct Soc {
        /// penalty parameter; chosen as L = ||hess f|| unless set
        beta ["β"]: Option<f64> = None, "a number > 0" if |v| v > 0.0;
    }
}

/// Entry of the registry.
pub const INFO: Preset<Soc> = Preset::new(
    "soc",
    "splitting of orthogonality constraints (Lai-Osher ADMM); feasible in the limit",
    Domain::EVERY,
);

/// State of SOC.
#[derive(Clone, Debug)]
pub struct State {
    x: RowMat,  // Xᵏ, free
    at: Copies, // Pᵏ and Qᵏ
    bp: RowMat, // B, scaled multiplier of X = P
    bq: RowMat, // b, scaled multiplier of X = Q
}

impl<F: Smooth, H: Nonsmooth> Solver<Problem<Stiefel, F, H>> for Soc {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, x0: RowMat) -> Result<State> {
        let at = Copies::new(p, x0, self.beta, 1.0)?;
        let zeros = RowMat::zeros(at.x.nrows(), at.x.ncols());
        Ok(State { x: at.x.clone(), at, bp: zeros.clone(), bq: zeros })
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> Step {
        let State { x, at, bp, bq } = st;
        let beta = at.beta;
        let damping = if p.f.is_concave() { 0.0 } else { at.lipschitz };
        // X ← (β(P − B) + β(Q − b) + damping·X − ∇f(X))/(2β + damping)
        p.f.gradient(x, &mut at.grad);
        at.relative.meet(&at.grad);
        let (pp, q, g, work) = (at.x.data(), at.y.data(), at.grad.data(), at.work.data_mut());
        let (x_before, bp_before, bq_before) = (x.data(), bp.data(), bq.data());
        let total = 2.0 * beta + damping;
        dispatch(|| {
            for k in 0..work.len() {
                let pulled = beta * (pp[k] - bp_before[k] + q[k] - bq_before[k]);
                work[k] = (pulled + damping * x_before[k] - g[k]) / total;
            }
        });
        let dx = distance(&at.work, x);
        std::mem::swap(x, &mut at.work);
        // Q ← prox_{h/β}(X + b)
        combine(&mut at.work, x, 1.0, bq);
        let dq = at.update_sparse(&p.h);
        // P ← nearest(X + B)
        combine(&mut at.work, x, 1.0, bp);
        let mut next = at.x.clone();
        if !nearest(&at.work, &mut next) {
            return Step::ended(Some((Status::NumericalError, "the gradient or a multiplier is not finite")));
        }
        let dp = distance(&next, &at.x);
        at.x = next;
        // B ← B + X − P, b ← b + X − Q
        for (k, x) in x.data().iter().enumerate() {
            bp.data_mut()[k] += x - at.x.data()[k];
            bq.data_mut()[k] += x - at.y.data()[k];
        }
        let apart = distance(x, &at.x) + distance(x, &at.y);
        // βb ∈ ∂h(Q) and βB normal to the manifold at P hold exactly; the X-problem up to this
        let dual = at.relative.to((at.lipschitz + damping) * dx + beta * (dp + dq));
        at.residual = at.primal(apart) + dual;
        Step::ended(at.end_iteration(p, false))
    }

    fn current<'a>(&self, _: &Problem<Stiefel, F, H>, st: &'a State) -> Current<'a> {
        st.at.current()
    }

    fn confirmed(&self, p: &Problem<Stiefel, F, H>, st: &State) -> Option<Confirmed> {
        st.at.confirmed(p)
    }

    fn finish(&self, p: &Problem<Stiefel, F, H>, st: State) -> Ending {
        st.at.finish(p, Details::of(self, INFO.constants))
    }
}
