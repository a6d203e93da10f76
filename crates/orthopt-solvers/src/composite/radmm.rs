//! RADMM: Riemannian ADMM with a fixed penalty and a fixed Moreau envelope (Li, Ma, Srivastava
//! 2022, as run in the OADMM paper).
//!
//! ```text
//! X⁺ = polar(X − Proj_T(∇f − ξ + Aᵀ(z + β(A(X) − y)))/(βĀ² + L_f))
//! b = A(X⁺) + z/β, y̌ = prox_{(μ+1/β)h}(b), y⁺ = (y̌ + μβb)/(1 + μβ), z⁺ = z + β(A(X⁺) − y⁺)
//! ```
//!
//! β is all there is to choose, and the result hangs on it: the OADMM paper shows 100 and 10⁴.
//! Cost per iteration: one gradient and O(nr²).

use super::iterate::Iterate;
use super::splitting::{least_beta, plus, project, prox, slope};
use crate::prelude::*;
use orthopt_core::constraint::stiefel::tangent;

/// Entry of the registry.
pub const INFO: Preset<Radmm> =
    Preset::new("radmm", "Riemannian ADMM with fixed penalty, smoothing and step", Domain::SPLITTING);

constants! {
    /// The solver.
    pub struct Radmm {
        /// penalty parameter; chosen as 100 times the slope lambda of h unless set (papers: 100 and 1e4)
        beta ["β"]: Option<f64> = None, "a finite number > 0" if |v| v > 0.0;
        /// smoothing mu = chi / beta
        chi ["χ"]: f64 = 1.01, "a finite number > 1" if |v| v > 1.0;
    }
}

/// Its state.
#[derive(Clone, Debug)]
pub struct State {
    at: Iterate, // X, y, y̌ and z
    beta: f64,   // β, raised if h asks for it
    step: f64,   // 1/(βĀ² + L_f)
}

impl<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap> Solver<Composite<F, H, G, A>> for Radmm {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &Composite<F, H, G, A>, x0: RowMat) -> Result<State> {
        let at = Iterate::new(p, x0, None)?;
        INFO.check(&p.h)?;
        let beta = self.beta.unwrap_or(100.0 * slope(p, &at.x)).max(least_beta(&p.h, self.chi));
        Ok(State { step: 1.0 / at.curvature(beta), at, beta })
    }

    fn step(&self, p: &Composite<F, H, G, A>, st: &mut State) -> Step {
        let (at, beta, chi) = (&mut st.at, st.beta, self.chi);
        let g = at.gradient(p, beta);
        at.move_to(p, project(&plus(at.x.clone(), -st.step, &tangent(&at.x, &g))));
        let b = plus(at.ax.clone(), 1.0 / beta, &at.z);
        at.ycheck = prox(&p.h, &b, (chi + 1.0) / beta);
        for ((y, check), b) in at.y.data_mut().iter_mut().zip(at.ycheck.data()).zip(b.data()) {
            *y = (check + chi * b) / (1.0 + chi);
        }
        at.ascend(beta);
        Step::default()
    }

    fn current<'a>(&self, p: &Composite<F, H, G, A>, st: &'a State) -> Current<'a> {
        st.at.current(p)
    }

    fn confirmed(&self, p: &Composite<F, H, G, A>, st: &State) -> Option<Confirmed> {
        st.at.confirmed(p)
    }

    fn finish(&self, p: &Composite<F, H, G, A>, st: State) -> Ending {
        let mut details = Details::of(self, Self::LIST);
        details.chosen("beta", st.beta);
        details.set("mu", self.chi / st.beta);
        details.set("step", st.step);
        st.at.end(p, details, None)
    }
}
