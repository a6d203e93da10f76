//! RADA-RGD: Riemannian alternating descent ascent (Xu, Jiang, Liu, So 2024, arXiv:2409.19588) for convex h in
//! its form max_Y ⟨A(X), Y⟩ − h*(Y).
//!
//! ```text
//! Φ_k(X) = max_Y f − ⟨ξ, X⟩ + ⟨A(X), Y⟩ − h*(Y) − λ/2‖Y‖² − β_k/2‖Y − Y_k‖²
//! X_{k+1}: T steps of Riemannian gradient descent on Φ_k from X_k, each may raise it by 2R²β_k
//! Y_{k+1} = argmax at X_{k+1},   β_k = β̃_k/k^ρ,   β̃⁺ = τ₂β̃ where max|A(X) − y| is at least τ₁ times the last
//! ```
//!
//! By Moreau's identity Φ_k is f − ⟨ξ, X⟩ plus the Moreau envelope of h with 1/σ = λ + β_k at
//! A(X) + β_k·Y_k, and Y_{k+1} = σ(A(X) + β_kY_k − y) for y, the prox of h there: an augmented Lagrangian whose
//! multiplier is damped by β_k/(λ + β_k). In that form it also runs on weakly convex h. λ = ε/(2R), R the radius
//! of the domain of h*. −g is linearised anew at every step. An iteration is one step of descent: a gradient and
//! O(nr²) for every trial.

use super::augmented::{Augmented, MOST_GROWTH};
use super::splitting::{least_beta, slope};
use crate::prelude::*;

/// Entry of the registry.
pub const INFO: Preset<Rada> = Preset::new(
    "rada-rgd",
    "Riemannian alternating descent ascent with gradient descent steps",
    Domain::SPLITTING,
);

constants! {
    /// The solver.
    pub struct Rada {
        /// first weight of the proximal term in Y; chosen as n sqrt(r) / slope of h unless set
        beta1 ["β₁"]: Option<f64> = None, "a finite number > 0" if |v| v > 0.0;
        /// power of k by which it falls
        rho ["ρ"]: f64 = 1.5, "a finite number > 1" if |v| v > 1.0;
        /// steps of gradient descent between two steps in Y
        steps ["T"]: u64 = 10, "a whole number >= 1" if |v| v >= 1.0;
        /// accuracy that the regularisation of Y is chosen for
        epsilon ["ε"]: f64 = 1e-8, "a finite number > 0" if |v| v > 0.0;
        /// the weight shrinks where max |A(X) - y| is not below this factor times the last one
        tau1 ["τ₁"]: f64 = 0.999, "between 0 and 1, exclusive" if |v| v > 0.0 && v < 1.0;
        /// factor by which it then shrinks
        tau2 ["τ₂"]: f64 = 0.9, "above 0, at most 1" if |v| v > 0.0 && v <= 1.0;
    }
}

/// max |A(X) − y| from which on the weight does not shrink beyond k^−ρ.
const CLOSE: f64 = 1e-3;

/// Its state.
#[derive(Clone, Debug)]
pub struct State {
    k: u64,        // steps in Y
    left: u64,     // steps of descent left in this one
    beta1: f64,    // β₁
    tilde: f64,    // β̃_k
    beta: f64,     // β_k
    lambda: f64,   // λ
    radius: f64,   // R
    gap: f64,      // max |A(X) − y| at the last step in Y
    at: Augmented, // X, with z = β_k/(λ + β_k)·Y_k and σ = 1/(λ + β_k)
}

impl<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap> Solver<Composite<F, H, G, A>> for Rada {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &Composite<F, H, G, A>, x0: RowMat) -> Result<State> {
        let (n, r) = p.shape();
        stiefel::check(&x0, n, r, "the starting point X")?;
        INFO.check(&p.h)?;
        let slope = slope(p, &x0);
        let radius = slope * (p.a.apply(&x0).data().len() as f64).sqrt();
        let lambda = self.epsilon / (2.0 * radius);
        let beta1 = self.beta1.unwrap_or(n as f64 * (r as f64).sqrt() / slope);
        let beta = at_most(beta1, lambda, &p.h);
        let at = Augmented::new(p, x0, 1.0 / (lambda + beta));
        Ok(State {
            k: 1,
            left: self.steps,
            beta1,
            tilde: beta1,
            beta,
            lambda,
            radius,
            gap: f64::INFINITY,
            at,
        })
    }

    fn step(&self, p: &Composite<F, H, G, A>, st: &mut State) -> Step {
        let moved = st.at.advance(p, 2.0 * st.radius * st.radius * st.beta);
        st.left -= 1;
        if !moved || st.left == 0 {
            self.ascend(p, st);
        }
        Step::default()
    }

    fn current<'a>(&self, p: &Composite<F, H, G, A>, st: &'a State) -> Current<'a> {
        Current::new(st.at.x(), p.value(st.at.x())).with_residual(Some(st.at.residual(p)))
    }

    fn confirmed(&self, p: &Composite<F, H, G, A>, st: &State) -> Option<Confirmed> {
        st.at.confirmed(p)
    }

    fn finish(&self, p: &Composite<F, H, G, A>, st: State) -> Ending {
        let mut details = Details::of(self, Self::LIST);
        details.chosen("beta1", st.beta1);
        details.set("beta", st.beta);
        details.set("outer_steps", st.k);
        st.at.ending(p, details)
    }
}

impl Rada {
    /// The step in Y, and the next β.
    fn ascend<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &self,
        p: &Composite<F, H, G, A>,
        st: &mut State,
    ) {
        let (y, mut dual) = st.at.split(p); // Y_{k+1}
        let ax = p.a.apply(st.at.x());
        let gap = ax.data().iter().zip(y.data()).fold(0.0, |m: f64, (a, y)| m.max((a - y).abs()));
        if gap >= CLOSE && gap >= self.tau1 * st.gap {
            st.tilde *= self.tau2;
        }
        st.gap = gap;
        st.k += 1;
        let beta = (st.tilde / (st.k as f64).powf(self.rho)).max(st.beta1 / MOST_GROWTH);
        st.beta = at_most(beta, st.lambda, &p.h);
        let sum = st.lambda + st.beta;
        dual.data_mut().iter_mut().for_each(|v| *v *= st.beta / sum);
        st.left = self.steps;
        st.at.reset(p, (dual, 1.0 / sum), true);
    }
}

/// β, but no more than leaves the prox of a weakly convex h single-valued: λ + β ≤ 1/W.
fn at_most(beta: f64, lambda: f64, h: &impl Nonsmooth) -> f64 {
    match least_beta(h, 0.0) {
        w if w > 0.0 => beta.min(1.0 / w - lambda).max(f64::MIN_POSITIVE),
        _ => beta,
    }
}
