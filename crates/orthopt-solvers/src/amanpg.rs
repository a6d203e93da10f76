//! AManPG: the accelerated manifold proximal gradient method for f(X) + h(X), XᵀX = I, with a convex
//! finite h (Huang, Wei 2022, "An extension of fast iterative shrinkage-thresholding algorithm to Riemannian
//! optimization for sparse PCA"; with the restart of O'Donoghue and Candès 2015 in the place of its safeguard).
//!
//! ```text
//! Z ← X,  θ ← 1
//! for k = 0, 1, ...
//!   D ≈ argmin ⟨∇f(Z), D⟩ + ‖D‖²/(2t) + h(Z + D) over the tangent space at Z    proximal/tangent.rs
//!   X⁺ ← Retr_Z(D)
//!   if F(X⁺) > F(X):  Z ← X,  θ ← 1,  and again, now with a line search as in ManPG
//!   θ⁺ ← (1 + √(1 + 4θ²))/2
//!   Z ← Retr(X⁺ + (θ − 1)/θ⁺ · (X⁺ − X)),  θ ← θ⁺,  X ← X⁺                      polar retraction
//! ```
//!
//! F never rises. Four things make an iteration cheap and the way short:
//!
//! 1. An f of XXᵀ alone does not change when X⁰ is turned, X⁰Q, while h does: the method begins at the
//!    varimax rotation of X⁰ where F is lower there, instead of finding it in small steps.
//! 2. The Hessian of the Lagrangian on the tangent space is ∇²f − Λ, Λ the multiplier of the subproblem.
//!    Where f is concave only Λ limits t, and ‖Λ‖ is well below L where h costs much: t is in units of
//!    1/‖Λ‖ there, and of 1/(L + ‖Λ‖) elsewhere.
//! 3. Where f = ½tr(XᵀMX) the gradient at Z comes from those at X⁺ and X, by 2nr² flops.
//! 4. The multiplier of the subproblem is extrapolated as X is: fewer Newton steps.
//!
//! The stationarity measure is that of ManPG, of the point Z that the step began at.
//!
//! Cost per iteration: a gradient (two where f is not quadratic), 4nr² flops for each Newton step of
//! the subproblem, 10nr² for retraction and extrapolation.

use super::proximal::{Descent, Point, Progressing, Searched, curvature, feasible_start};
use crate::prelude::*;
use orthopt_linalg::small::symmetric_eigen;
use orthopt_linalg::varimax::varimax_until;

constants! {
    /// AManPG with the constants chosen here unless set.
    #[derive(Copy)]
    pub struct AManPg {
        /// step of the subproblem, in units of 1/||Lambda||, or of 1/(L + ||Lambda||) where f is not concave
        step ["t‖Λ‖"]: f64 = 1.3, "above 0, at most 2" if |v| v > 0.0 && v <= 2.0;
        /// inexactness of subproblems
        phi ["φ"]: f64 = 0.3, "a number > 0" if |v| v > 0.0;
        /// factor of the line search on alpha after a restart
        gamma ["γ"]: f64 = 0.5, "between 0 and 1, exclusive" if |v| v > 0.0 && v < 1.0;
        /// decrease asked for there: delta alpha ||D||^2 / t
        delta ["δ"]: f64 = 1e-4, "above 0, at most 0.5" if |v| v > 0.0 && v <= 0.5;
        /// whether X0 is turned by varimax first, where that lowers F
        rotate [""]: bool = true;
    }
}

/// Entry of the registry.
pub const INFO: Preset<AManPg> = Preset::new(
    "amanpg",
    "accelerated manifold proximal gradient: momentum with restarts; feasible and monotone",
    Domain::FINITE_CONVEX,
);

/// State of AManPG.
#[derive(Clone, Debug)]
pub struct State {
    x: Point,        // Xᵏ
    body: Descent,   // Z, D and the multiplier
    lambda: RowMat,  // Λ of the last subproblem
    theta: f64,      // θ
    plain: bool,     // whether Z is Xᵏ
    t: f64,          // t
    shrink: f64,     // factor on t, lowered where a line search had to backtrack
    lipschitz: f64,  // L
    caution: f64,    // factor on the accuracy of subproblems, lowered when a line search fails
    rotated: bool,   // whether X⁰ was turned
    iterations: u64, // those that moved X
    newton_steps: u64,
    restarts: u64,
    progress: Progressing,
}

/// Growth of the varimax criterion at which the rotation of X⁰ ends. (To the last digit it takes as
/// long as 40 iterations.)
const TURNED: f64 = 1e-3;
/// Smallest curvature that t is computed with, in units of L.
const FLATTEST: f64 = 0.3;
/// Iterations after which t is computed anew.
const RENEWED: u64 = 10;
/// Least factor on t.
const SHORTEST: f64 = 0.25;

impl AManPg {
    /// A step from X itself; whether there was one.
    fn search<F: Smooth, H: Nonsmooth>(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> bool {
        let found = st.body.line_search(p, st.x.objective(), self.gamma, self.delta);
        if found != Searched::Moved(0) {
            st.shrink = (0.5 * st.shrink).max(SHORTEST);
        }
        if found == Searched::Failed {
            st.t *= 0.5;
            st.caution *= 0.1;
        }
        found != Searched::Failed
    }
}

impl State {
    /// X ← X⁺ and Z ← Retr(X⁺ + b(X⁺ − X)) with the b of FISTA, the multiplier likewise.
    fn extrapolate<F: Smooth, H: Nonsmooth>(&mut self, p: &Problem<Stiefel, F, H>) {
        let theta = 0.5 * (1.0 + (1.0 + 4.0 * self.theta * self.theta).sqrt());
        let b = (self.theta - 1.0) / theta;
        std::mem::swap(&mut self.x, &mut self.body.at);
        self.theta = theta;
        self.plain = b == 0.0 || !self.body.extrapolate(p, &self.x, b);
        if self.plain {
            self.body.at.clone_from(&self.x);
        }
        let lambda = self.body.tangent.lambda();
        self.body.tangent.extrapolate_multiplier(&self.lambda, b);
        self.lambda = lambda;
    }

    /// ‖Λ‖₂, and L besides unless f is concave.
    fn curvature(&self, f: &impl Smooth) -> f64 {
        let Some((values, _)) = symmetric_eigen(&self.lambda) else { return self.lipschitz };
        let lambda = values.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let own = if f.is_concave() { 0.0 } else { self.lipschitz };
        (own + lambda).max(FLATTEST * self.lipschitz)
    }
}

/// X⁰, or its varimax rotation where F is lower there; and whether it was turned.
fn start<F: Smooth, H: Nonsmooth>(p: &Problem<Stiefel, F, H>, x0: RowMat, rotate: bool) -> (RowMat, bool) {
    if !rotate || x0.ncols() == 1 {
        return (x0, false);
    }
    let turned = varimax_until(&x0, TURNED);
    let (before, after) = (p.value(&x0), p.value(&turned));
    if after < before - 1e-12 * before.abs() { (turned, true) } else { (x0, false) }
}

impl<F: Smooth, H: Nonsmooth> Solver<Problem<Stiefel, F, H>> for AManPg {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, x0: RowMat) -> Result<State> {
        INFO.check(&p.h)?;
        let x0 = feasible_start(p, x0)?;
        let lipschitz = curvature(&p.f, &x0);
        let (x0, rotated) = start(p, x0, self.rotate);
        let body = Descent::new(p, x0);
        let x = body.at.clone();
        Ok(State {
            lambda: body.tangent.lambda(),
            x,
            body,
            theta: 1.0,
            plain: true,
            t: 1.0 / lipschitz,
            shrink: 1.0,
            lipschitz,
            caution: 1.0,
            rotated,
            iterations: 0,
            newton_steps: 0,
            restarts: 0,
            progress: Progressing::default(),
        })
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> Step {
        let phi = self.phi * st.caution;
        st.body.direction(p, st.t, |d| phi * d * d.min(1.0));
        st.newton_steps += st.body.inner.steps;
        let moved = if st.plain { self.search(p, st) } else { st.body.full_step(p, st.x.objective()) };
        let residual = st.body.residual(st.lipschitz);
        if moved {
            st.extrapolate(p);
            if st.plain || st.iterations.is_multiple_of(RENEWED) {
                st.t = st.shrink * self.step / st.curvature(&p.f);
            }
            st.iterations += 1;
        } else if st.caution < 1e-12 {
            return Step::ended(Some((Status::Stalled, "no step along the direction lowers F")));
        } else {
            st.body.at.clone_from(&st.x);
            (st.theta, st.plain) = (1.0, true);
            st.restarts += 1;
        }
        Step::ended(st.progress.note(st.x.objective(), residual))
    }

    fn current<'a>(&self, _: &Problem<Stiefel, F, H>, st: &'a State) -> Current<'a> {
        Current::new(&st.x.x, st.x.objective()).with_residual(Some(st.body.residual(st.lipschitz)))
    }

    fn confirmed(&self, p: &Problem<Stiefel, F, H>, st: &State) -> Option<Confirmed> {
        st.body.confirmed(p, &st.x.x, st.x.objective())
    }

    fn finish(&self, p: &Problem<Stiefel, F, H>, st: State) -> Ending {
        let mut details = Details::of(self, INFO.constants);
        details.set("t_at_end", st.t);
        details.set("rotated", st.rotated);
        details.set("iterations", st.iterations);
        details.set("newton_steps", st.newton_steps);
        details.set("restarts", st.restarts);
        let objective = st.x.objective();
        Ending::new(st.body.finish(p, st.x.x, objective), details)
    }
}
