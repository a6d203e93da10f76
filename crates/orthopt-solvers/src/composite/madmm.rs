//! MADMM: manifold ADMM with an inner Riemannian solver (Kovnatsky, Glashoff, Bronstein 2016).
//!
//! ```text
//! X⁺ ≈ argmin f − ⟨ξ, X⟩ + ⟨z, A(X)⟩ + β/2‖A(X) − y‖²   (a few Barzilai–Borwein steps)
//! y⁺ = prox_{h/β}(A(X⁺) + z/β),  z⁺ = z + β(A(X⁺) − y⁺)
//! ```
//!
//! β is fixed. Cost per iteration: a gradient and O(nr²) for every trial step.

use super::descent::{Descent, Inner};
use super::iterate::Iterate;
use super::splitting::{
    least_beta, plus, prox, pull_back, quadratic_change, shifted_multiplier, slope, value_where_needed,
};
use crate::prelude::*;

/// Entry of the registry.
pub const INFO: Preset<Madmm> =
    Preset::new("madmm", "manifold ADMM with an inner Riemannian solver", Domain::SPLITTING);

constants! {
    /// The solver.
    pub struct Madmm {
        /// penalty parameter; chosen as 10 times the slope lambda of h unless set
        beta ["β"]: Option<f64> = None, "a finite number > 0" if |v| v > 0.0;
        /// steps of the inner solver, at most
        inner [""]: u64 = 5, "a whole number >= 1" if |v| v >= 1.0;
    }
}

/// Its state.
#[derive(Clone, Debug)]
pub struct State {
    at: Iterate, // X, y and z
    beta: f64,   // β
    inner: u64,  // inner steps so far
}

impl<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap> Solver<Composite<F, H, G, A>> for Madmm {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &Composite<F, H, G, A>, x0: RowMat) -> Result<State> {
        let at = Iterate::new(p, x0, None)?;
        INFO.check(&p.h)?;
        let beta = self.beta.unwrap_or(10.0 * slope(p, &at.x)).max(least_beta(&p.h, 0.0));
        Ok(State { at, beta, inner: 0 })
    }

    fn step(&self, p: &Composite<F, H, G, A>, st: &mut State) -> Step {
        let (at, beta) = (&mut st.at, st.beta);
        let subproblem = Subproblem { p, xi: &at.now.xi, y: &at.y, z: &at.z, beta };
        let mut descent = Descent::new(&subproblem, at.x.clone(), 1.0 / at.curvature(beta));
        for _ in 0..self.inner {
            if !descent.advance(&subproblem) {
                break;
            }
            st.inner += 1;
        }
        at.move_to(p, descent.x);
        at.y = prox(&p.h, &plus(at.ax.clone(), 1.0 / beta, &at.z), 1.0 / beta);
        at.ycheck.clone_from(&at.y);
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
        details.set("inner_steps", st.inner);
        st.at.end(p, details, None)
    }
}

/// Derivatives of the problem in X at one X.
#[derive(Clone, Debug)]
struct Point {
    gradient: RowMat,              // Euclidean
    beyond: Option<(f64, RowMat)>, // f and ∇f, where f is not quadratic
}

/// The problem in X. But for f it is quadratic: its change is half of ⟨X⁺ − X, both gradients⟩.
struct Subproblem<'a, F, H, G, A> {
    p: &'a Composite<F, H, G, A>,
    xi: &'a RowMat,
    y: &'a RowMat,
    z: &'a RowMat,
    beta: f64,
}

impl<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap> Inner for Subproblem<'_, F, H, G, A> {
    type Point = Point;

    fn at(&self, x: &RowMat) -> Point {
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        let value = value_where_needed(&self.p.f, x, &mut g);
        let beyond = value.map(|f| (f, g.clone()));
        let w = shifted_multiplier(&self.p.a.apply(x), self.y, self.z, self.beta);
        Point { gradient: plus(plus(g, -1.0, self.xi), 1.0, &pull_back(self.p, w)), beyond }
    }

    fn gradient(&self, at: &Point) -> RowMat {
        at.gradient.clone()
    }

    fn change(&self, from: &Point, to: &Point, step: &RowMat) -> f64 {
        let change = quadratic_change(step, &from.gradient, &to.gradient);
        match (&from.beyond, &to.beyond) {
            (Some((f, g)), Some((f_new, g_new))) => change + (f_new - f - quadratic_change(step, g, g_new)),
            _ => change,
        }
    }
}
