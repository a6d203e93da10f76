//! ManPG and ManPG-Ada: the manifold proximal gradient method for f(X) + h(X), XᵀX = I, with a
//! convex finite h (Chen, Ma, So, Zhang 2020, Algorithm 1 and, with an adaptive t, Algorithm 2).
//!
//! ```text
//! for k = 0, 1, ...
//!   D ← argmin ⟨∇f(X), D⟩ + ‖D‖²/(2t) + h(X + D)  s.t. DᵀX + XᵀD = 0    proximal/tangent.rs
//!   α ← 1;  while F(Retr_X(αD)) > F(X) − δα‖D‖²/t:  α ← γα
//!   X ← Retr_X(αD)                                                      polar retraction
//!   Ada:  t ← τt if α = 1 was accepted, else max(t⁰, t/τ)
//! ```
//!
//! D = 0 exactly at critical points: the stationarity measure is ‖D‖·max(1/t, L), relative to the
//! largest ‖∇f(X)‖ met. F never rises. With h = 0 and α = 1 this is the Riemannian
//! gradient step X − t·grad f(X), retracted.
//!
//! Cost per iteration: a gradient, 4nr² flops for each Newton step of the subproblem, 4nr² for
//! each point tried.

use super::proximal::{Descent, Progressing, Searched, curvature, feasible_start};
use crate::prelude::*;

constants! {
    /// ManPG with the papers' constants unless set.
    #[derive(Copy)]
    pub struct ManPg {
        /// step of the subproblem; chosen as 1/L, L = ||hess f||, unless set
        t ["t"]: Option<f64> = None, "a number > 0" if |t| t > 0.0;
        /// factor of the line search on alpha
        gamma ["γ"]: f64 = 0.5, "between 0 and 1, exclusive" if |v| v > 0.0 && v < 1.0;
        /// decrease asked for: delta alpha ||D||^2 / t
        delta ["δ"]: f64 = 0.5, "above 0, at most 0.5" if |v| v > 0.0 && v <= 0.5;
        /// growth of t after an iteration without backtracking
        tau ["τ"]: f64 = 1.01, "a number > 1" if |v| v > 1.0;
    }
    plain {
        /// ManPG-Ada: t grows by τ and shrinks after backtracking. ManPG leaves it fixed and has no τ.
        adaptive: bool = false;
    }
}

/// Entry of the registry for ManPG.
pub const INFO: Preset<ManPg> = Preset {
    constants: &only(&ManPg::FIXED.constants(), ["t", "gamma", "delta"]),
    ..Preset::new(
        "manpg",
        "manifold proximal gradient, semismooth Newton subproblems, step 1/L; feasible and monotone",
        Domain::FINITE_CONVEX,
    )
};

/// Entry of the registry for ManPG-Ada.
pub const INFO_ADA: Preset<ManPg> = Preset {
    make: |info, o| info.configured(ManPg::ADAPTIVE, o),
    ..Preset::new(
        "manpg-ada",
        "manifold proximal gradient with an adaptive step; feasible and monotone",
        Domain::FINITE_CONVEX,
    )
};

impl ManPg {
    /// ManPG.
    pub const FIXED: Self = Self::DEFAULT;
    /// ManPG-Ada.
    pub const ADAPTIVE: Self = Self { adaptive: true, ..Self::DEFAULT };

    /// Entry of the registry.
    fn info(&self) -> Preset<Self> {
        if self.adaptive { INFO_ADA } else { INFO }
    }
}

/// State of ManPG.
#[derive(Clone, Debug)]
pub struct State {
    body: Descent,  // Xᵗ, D and the multiplier
    t: f64,         // t
    t0: f64,        // t⁰
    lipschitz: f64, // L
    caution: f64,   // factor on the accuracy of subproblems, lowered when a line search fails
    iterations: u64,
    newton_steps: u64,
    backtracks: u64,
    progress: Progressing,
}

impl<F: Smooth, H: Nonsmooth> Solver<Problem<Stiefel, F, H>> for ManPg {
    type State = State;

    fn name(&self) -> &'static str {
        self.info().name
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, x0: RowMat) -> Result<State> {
        self.info().check(&p.h)?;
        let x0 = feasible_start(p, x0)?;
        let lipschitz = curvature(&p.f, &x0);
        let t = self.t.unwrap_or(1.0 / lipschitz);
        Ok(State {
            body: Descent::new(p, x0),
            t,
            t0: t,
            lipschitz,
            caution: 1.0,
            iterations: 0,
            newton_steps: 0,
            backtracks: 0,
            progress: Progressing::default(),
        })
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> Step {
        st.iterations += 1;
        // the error of the constraint second order in D, as that of the retraction is
        let caution = st.caution;
        st.body.direction(p, st.t, |d| 1e-2 * caution * d * d.min(1.0));
        st.newton_steps += st.body.inner.steps;
        let objective = st.body.at.objective();
        match st.body.line_search(p, objective, self.gamma, self.delta) {
            Searched::Moved(backtracks) => {
                st.backtracks += backtracks;
                if self.adaptive {
                    // where F can no longer tell steps apart, back towards the t that is safe anyway
                    let grow = backtracks == 0 && st.body.is_visible(self.delta);
                    st.t = if grow { st.t * self.tau } else { st.t0.max(st.t / self.tau) };
                }
            }
            // a D that is not a descent direction is too inexact, or t is beyond 1/L
            Searched::Failed => {
                st.t *= 0.5;
                st.caution *= 0.1;
                if st.caution < 1e-12 {
                    return Step::ended(Some((Status::Stalled, "no step along the direction lowers F")));
                }
            }
        }
        Step::ended(st.progress.note(st.body.at.objective(), st.body.residual(st.lipschitz)))
    }

    fn current<'a>(&self, _: &Problem<Stiefel, F, H>, st: &'a State) -> Current<'a> {
        Current::new(&st.body.at.x, st.body.at.objective())
            .with_residual(Some(st.body.residual(st.lipschitz)))
    }

    fn confirmed(&self, p: &Problem<Stiefel, F, H>, st: &State) -> Option<Confirmed> {
        st.body.confirmed(p, &st.body.at.x, st.body.at.objective())
    }

    fn finish(&self, p: &Problem<Stiefel, F, H>, st: State) -> Ending {
        let mut details = Details::of(self, self.info().constants);
        details.chosen("t", st.t0);
        if self.adaptive {
            details.set("t_at_end", st.t);
        }
        details.set("iterations", st.iterations);
        details.set("newton_steps", st.newton_steps);
        details.set("backtracks", st.backtracks);
        let (x, objective) = (st.body.at.x.clone(), st.body.at.objective());
        Ending::new(st.body.finish(p, x, objective), details)
    }
}
