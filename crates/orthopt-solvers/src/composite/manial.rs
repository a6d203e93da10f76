//! ManIAL: inexact augmented Lagrangian with an inner Riemannian solver (Deng, Deng, Hu, Wen
//! 2024). RiAL: the same with the classical dual update (Xu, Jiang, Liu, So 2024, arXiv:2410.00482).
//!
//! ```text
//! X_{k+1} ≈ argmin f − ⟨ξ, X⟩ + h^{1/σ}(A(X) + z/σ)          until the gradient is below ε_k
//! y = prox_{h/σ}(A(X) + z/σ),  z⁺ = z + τ(A(X) − y),  σ⁺ = growth·σ,  ε⁺ = ε/growth
//! ManIAL: τ = σ⁰·min(1, ‖A(X₁)−y₁‖ log²2 / (‖A(X)−y‖ (k+1)² log(k+2))),  RiAL: τ = σ
//! ```
//!
//! h^{1/σ} is the Moreau envelope. The short dual steps of ManIAL keep z bounded; with those of RiAL z⁺ is a
//! subgradient of h at y, so it is bounded where h is Lipschitz, and σ is kept where ‖A(X) − y‖ falls by a tenth
//! or more. −g is linearised anew at every inner step. An iteration is one inner step: a gradient and O(nr²) for
//! every trial.

use super::augmented::{Augmented, MOST_GROWTH};
use super::splitting::{least_beta, plus, slope};
use crate::prelude::*;
use orthopt_core::composite::distance;

/// Entry of the registry.
pub const INFO: Preset<Manial> =
    Preset::new("manial", "inexact augmented Lagrangian with an inner Riemannian solver", Domain::SPLITTING);

/// RiAL.
pub const RIAL: Preset<Manial> = Preset {
    make: |info, o| info.configured(Manial::RIAL, o),
    ..Preset::new("rial", "inexact augmented Lagrangian with the classical dual step", Domain::SPLITTING)
};

constants! {
    /// The solver.
    pub struct Manial {
        /// first penalty parameter and dual step; chosen as the slope lambda of h unless set
        sigma0 ["σ⁰"]: Option<f64> = None, "a finite number > 0" if |v| v > 0.0;
        /// factor of sigma per outer step
        growth [""]: f64 = 1.5, "a finite number > 1" if |v| v > 1.0;
        /// first tolerance of the inner gradient, relative to its terms
        eps0 ["ε₀"]: f64 = 0.1, "a finite number > 0" if |v| v > 0.0;
        /// steps of the inner solver, at most
        inner [""]: u64 = 50, "a whole number >= 1" if |v| v >= 1.0;
    }
    plain {
        /// RiAL: dual steps of length σ.
        classical: bool = false;
    }
}

/// Factor of ‖A(X) − y‖ from one dual step to the next up to which RiAL keeps its σ.
const FALLS: f64 = 0.9;

/// Its state.
#[derive(Clone, Debug)]
pub struct State {
    k: u64,            // outer steps
    left: u64,         // inner steps left in this one
    sigma0: f64,       // σ⁰
    eps: f64,          // ε_k
    least_eps: f64,    // where it stays
    gap1: Option<f64>, // ‖A(X₁) − y₁‖
    gap: f64,          // ‖A(X) − y‖ at the last dual step
    at: Augmented,     // X, z and σ
}

impl<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap> Solver<Composite<F, H, G, A>> for Manial {
    type State = State;

    fn name(&self) -> &'static str {
        self.info().name
    }

    fn init(&self, p: &Composite<F, H, G, A>, x0: RowMat) -> Result<State> {
        let (n, r) = p.shape();
        stiefel::check(&x0, n, r, "the starting point X")?;
        self.info().check(&p.h)?;
        let sigma0 = self.sigma0.unwrap_or(slope(p, &x0)).max(least_beta(&p.h, 0.0));
        let at = Augmented::new(p, x0, sigma0);
        let (eps, least_eps) = (self.eps0, self.eps0 / MOST_GROWTH);
        let gap = f64::INFINITY;
        Ok(State { k: 0, left: self.inner, sigma0, eps, least_eps, gap1: None, gap, at })
    }

    /// One inner step, and the outer one when the inner solver is done.
    fn step(&self, p: &Composite<F, H, G, A>, st: &mut State) -> Step {
        let moved = st.at.advance(p, 0.0);
        st.left -= 1;
        if moved && st.left > 0 && st.at.relative_gradient() > st.eps {
            return Step::default();
        }
        st.k += 1;
        let (y, w) = st.at.split(p);
        let ax = p.a.apply(st.at.x());
        let gap = distance(&ax, &y);
        let z = if self.classical { w } else { self.short_dual_step(st, &ax, &y, gap) };
        let mut sigma = st.at.sigma;
        // with long dual steps a fixed σ is enough while A(X) − y falls by itself
        let falls = self.classical && gap <= FALLS * st.gap;
        if sigma < MOST_GROWTH * st.sigma0 && !falls {
            sigma *= self.growth;
        }
        if st.eps > st.least_eps {
            st.eps /= self.growth;
        }
        (st.gap, st.left) = (gap, self.inner);
        st.at.reset(p, (z, sigma), false);
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
        details.chosen("sigma0", st.sigma0);
        details.set("sigma", st.at.sigma);
        details.set("outer_steps", st.k);
        st.at.ending(p, details)
    }
}

impl Manial {
    /// RiAL.
    pub const RIAL: Self = Self { classical: true, ..Self::DEFAULT };

    fn info(&self) -> Preset<Self> {
        if self.classical { RIAL } else { INFO }
    }

    /// z⁺ = z + τ(A(X) − y) with the τ of ManIAL.
    fn short_dual_step(&self, st: &mut State, ax: &RowMat, y: &RowMat, gap: f64) -> RowMat {
        let gap1 = *st.gap1.get_or_insert(gap);
        let k = st.k as f64;
        let log2 = std::f64::consts::LN_2;
        let bound = gap1 * log2 * log2 / (gap * (k + 1.0).powi(2) * (k + 2.0).ln());
        let tau = st.sigma0 * if bound.is_finite() { bound.min(1.0) } else { 1.0 };
        plus(plus(st.at.z.clone(), tau, ax), -tau, y)
    }
}
