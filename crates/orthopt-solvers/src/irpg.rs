//! IRPG: the inexact Riemannian proximal gradient method for f(X) + h(X), XᵀX = I, with a convex
//! finite h (Huang, Wei 2023, Algorithm 1; steps as in their ROPTLIB).
//!
//! ```text
//! for k = 0, 1, ...
//!   D ≈ argmin ⟨∇f(X), D⟩ + ‖D‖²/(2t) + h(X + D) over the tangent space,
//!       ‖sym(Xᵀ(X + D)) − I‖ ≤ φ·min(‖D‖, ‖D‖²)                  proximal/tangent.rs
//!   α ← 1;  while F(Retr_X(αD)) > max of the last m values of F − δα‖D‖²/t:  α ← γα
//!   X ← Retr_X(αD)
//!   t ← a Barzilai-Borwein length of X and of the gradient of the Lagrangian
//! ```
//!
//! The subproblem needs no more accuracy than the retraction has, which is second order in D
//! (their condition for local convergence), and t follows the curvature along the path instead of
//! the bound L. m = 1 makes F monotone; the X of lowest F is kept. The stationarity measure is
//! that of ManPG.

use std::collections::VecDeque;

use super::proximal::{Descent, Progressing, Searched, curvature, feasible_start};
use crate::prelude::*;

constants! {
    /// IRPG with the constants of ROPTLIB unless set.
    #[derive(Copy)]
    pub struct Irpg {
        /// inexactness of subproblems
        phi ["φ"]: f64 = 0.1, "a number > 0" if |v| v > 0.0;
        /// factor of the line search on alpha
        gamma ["γ"]: f64 = 0.5, "between 0 and 1, exclusive" if |v| v > 0.0 && v < 1.0;
        /// decrease asked for: delta alpha ||D||^2 / t
        delta ["δ"]: f64 = 1e-4, "above 0, at most 0.5" if |v| v > 0.0 && v <= 0.5;
        /// values of F the line search compares with (1: monotone)
        memory ["m"]: usize = 20, "a whole number from 1 to 1000" if |v| (1.0..=1000.0).contains(&v);
        /// largest t, in units of 1/L
        longest ["tL"]: f64 = 1e3, "a number >= 1" if |v| v >= 1.0;
    }
}

/// Entry of the registry.
pub const INFO: Preset<Irpg> = Preset::new(
    "irpg",
    "inexact Riemannian proximal gradient with Barzilai-Borwein steps; feasible",
    Domain::FINITE_CONVEX,
);

/// State of IRPG.
#[derive(Clone, Debug)]
pub struct State {
    body: Descent,         // Xᵗ, D and the multiplier
    t: f64,                // t
    lipschitz: f64,        // L
    recent: VecDeque<f64>, // the last m values of F
    phi: f64,              // φ, lowered when a line search fails
    best: RowMat,          // X of the lowest F (a nonmonotone search may end above it)
    lowest: f64,           // F there
    iterations: u64,
    newton_steps: u64,
    backtracks: u64,
    progress: Progressing,
}

impl Irpg {
    /// |⟨s, s⟩/⟨s, y⟩|, between 1/L and the longest. (The shorter |⟨s, y⟩/⟨y, y⟩| of ROPTLIB takes
    /// three to ten times the iterations on sparse PCA.)
    fn next_length(&self, st: &mut State) -> f64 {
        let (ss, sy) = st.body.secant();
        let (length, shortest) = (ss / sy.abs(), 1.0 / st.lipschitz);
        if length.is_finite() { length.clamp(shortest, self.longest * shortest) } else { shortest }
    }
}

impl<F: Smooth, H: Nonsmooth> Solver<Problem<Stiefel, F, H>> for Irpg {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, x0: RowMat) -> Result<State> {
        INFO.check(&p.h)?;
        let x0 = feasible_start(p, x0)?;
        let lipschitz = curvature(&p.f, &x0);
        let body = Descent::new(p, x0);
        Ok(State {
            t: 1.0 / lipschitz,
            lipschitz,
            recent: VecDeque::from([body.at.objective()]),
            phi: self.phi,
            best: body.at.x.clone(),
            lowest: body.at.objective(),
            iterations: 0,
            newton_steps: 0,
            backtracks: 0,
            progress: Progressing::default(),
            body,
        })
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> Step {
        st.iterations += 1;
        let phi = st.phi;
        st.body.direction(p, st.t, |d| phi * d * d.min(1.0));
        st.newton_steps += st.body.inner.steps;
        let reference = st.recent.iter().copied().fold(st.body.at.objective(), f64::max);
        match st.body.line_search(p, reference, self.gamma, self.delta) {
            Searched::Moved(backtracks) => {
                st.backtracks += backtracks;
                st.t = self.next_length(st);
                if st.recent.len() == self.memory {
                    st.recent.pop_front();
                }
                st.recent.push_back(st.body.at.objective());
                if st.body.at.objective() < st.lowest {
                    st.lowest = st.body.at.objective();
                    st.best.data_mut().copy_from_slice(st.body.at.x.data());
                }
            }
            Searched::Failed => {
                st.t = 1.0 / st.lipschitz;
                st.phi *= 0.1;
                if st.phi < 1e-12 * self.phi {
                    return Step::ended(Some((Status::Stalled, "no step along the direction lowers F")));
                }
            }
        }
        Step::ended(st.progress.note(st.lowest, st.body.residual(st.lipschitz)))
    }

    fn current<'a>(&self, _: &Problem<Stiefel, F, H>, st: &'a State) -> Current<'a> {
        Current::new(&st.best, st.lowest).with_residual(Some(st.body.residual(st.lipschitz)))
    }

    fn confirmed(&self, p: &Problem<Stiefel, F, H>, st: &State) -> Option<Confirmed> {
        st.body.confirmed(p, &st.best, st.lowest)
    }

    fn finish(&self, p: &Problem<Stiefel, F, H>, st: State) -> Ending {
        let mut details = Details::of(self, INFO.constants);
        details.set("iterations", st.iterations);
        details.set("newton_steps", st.newton_steps);
        details.set("backtracks", st.backtracks);
        Ending::new(st.body.finish(p, st.best, st.lowest), details)
    }
}
