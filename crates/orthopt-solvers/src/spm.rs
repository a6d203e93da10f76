//! SPM: the smoothing penalty method (PADM in the first version of the OBCD paper) for
//! f(X) + h(X), XᵀX = I (Chen 2012; Lai, Osher 2014).
//!
//! ```text
//! h is replaced by its envelope min_Y h(Y) + β/2‖X − Y‖², β → ∞
//! for k = 0, 1, ...
//!   X ← the orthonormal matrix nearest to X − (∇f(X) + β(X − Y))/ℓ
//!   Y ← prox_{h/β}(X)
//!   β ← ρβ
//! ```
//!
//! ℓ = β for a concave f, else L + β. X is orthonormal but not sparse, Y is sparse but not
//! orthonormal: a feasible copy made of both is kept and handed out, and Y is what `raw` reports.
//!
//! The papers state neither β nor ρ. β must be in proportion to f: it begins at L/100, where the
//! iteration follows f alone, and grows by half a per cent until nothing moves any more. Without
//! multipliers X and Y meet in the limit β → ∞ only, where the steps are short: the point reached
//! need not be critical. The stationarity measure is that of LADMM with β(X − Y) for Z.
//!
//! For the same reason the first β decides the support where h counts entries: an entry of X off the
//! support of Y falls like 1/β, the threshold √(2λ/β) of the prox more slowly, so what is not in Y
//! early never gets in. ℓ0 PCA of randn:500:1000, r = 20, λ = 1 from the leading eigenvectors ends at
//! -1.27e4 with 1,500 nonzeros from β = L/100, at -1.60e4 with 6,300 from β = 2λn (a column that is
//! spread out evenly survives the first prox; the papers' SPM row says -1.58e4), at -1.37e4 from four
//! times that; for λ = 10 the same β = 2λn leaves X dense and F at +4e4, so it is no default. The
//! multipliers of LADMM lift such entries over the threshold: -1.73e4 from any of these starts.
//!
//! Cost per iteration: a gradient and 4nr² flops.

use super::proximal::{Copies, distance};
use crate::prelude::*;
use orthopt_linalg::orthonormal::nearest;
use orthopt_linalg::simd::dispatch;

constants! {
    /// SPM; the papers leave its constants open.
    #[derive(Copy)]
    pub struct Spm {
        /// first penalty parameter; chosen as L/100, L = ||hess f||, unless set
        beta ["β"]: Option<f64> = None, "a number > 0" if |v| v > 0.0;
        /// growth of beta per iteration
        rho ["ρ"]: f64 = 1.005, "above 1, at most 2" if |v| v > 1.0 && v <= 2.0;
        /// largest beta, in units of L
        most ["β/L"]: f64 = 1e6, "a number > 0" if |v| v > 0.0;
    }
}

/// Entry of the registry.
pub const INFO: Preset<Spm> = Preset::new(
    "spm",
    "smoothing penalty (PADM in the first version of the OBCD paper): alternating steps in an orthonormal X and a sparse copy; feasible in the limit",
    Domain::EVERY,
);

/// First β in units of L.
const FIRST: f64 = 0.01;

/// State of SPM.
#[derive(Clone, Debug)]
pub struct State {
    at: Copies,   // Xᵏ and Yᵏ
    next: RowMat, // Xᵏ⁺¹
}

impl<F: Smooth, H: Nonsmooth> Solver<Problem<Stiefel, F, H>> for Spm {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, x0: RowMat) -> Result<State> {
        let at = Copies::new(p, x0, self.beta, FIRST)?;
        Ok(State { next: at.x.clone(), at })
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> Step {
        let State { at, next } = st;
        let (beta, ell) = (at.beta, at.ell(&p.f));
        // X ← nearest(X − (∇f(X) + β(X − Y))/ℓ)
        p.f.gradient(&at.x, &mut at.grad);
        at.relative.meet(&at.grad);
        let (x, y, g, work) = (at.x.data(), at.y.data(), at.grad.data(), at.work.data_mut());
        dispatch(|| {
            for k in 0..work.len() {
                work[k] = x[k] - (g[k] + beta * (x[k] - y[k])) / ell;
            }
        });
        if !nearest(&at.work, next) {
            return Step::ended(Some((Status::NumericalError, "the gradient is not finite")));
        }
        std::mem::swap(&mut at.x, next);
        let dx = distance(&at.x, next);
        // Y ← prox_{h/β}(X)
        at.work.data_mut().copy_from_slice(at.x.data());
        let dy = at.update_sparse(&p.h);
        // β(X − Y) ∈ ∂h(Y) holds exactly; the other two conditions up to these
        let dual = (at.lipschitz + beta + ell) * dx + beta * dy;
        at.residual = at.primal(distance(&at.x, &at.y)) + at.relative.to(dual);
        at.raise_beta(self.rho, self.most);
        Step::ended(at.end_iteration(p, false))
    }

    fn current<'a>(&self, _: &Problem<Stiefel, F, H>, st: &'a State) -> Current<'a> {
        st.at.current()
    }

    fn confirmed(&self, p: &Problem<Stiefel, F, H>, st: &State) -> Option<Confirmed> {
        st.at.confirmed(p)
    }

    fn finish(&self, p: &Problem<Stiefel, F, H>, st: State) -> Ending {
        let mut details = Details::of(self, INFO.constants);
        details.set("beta_at_end", st.at.beta);
        st.at.finish(p, details)
    }
}
