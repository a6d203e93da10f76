//! SPGM: smoothing proximal gradient methods (Beck and Rosset 2023; Böhm and Wright 2021).
//!
//! ```text
//! μᵗ = μ⁰(t + 1)^(−1/3), G = ∇f − ξ + Aᵀ(A(X) − prox_{μh}(A(X)))/μ, ℓ = L_f + Ā²/μ
//! EP: X⁺ = polar(X − G/ℓ)        RR: X⁺ = polar(X − Proj_T(G)/ℓ)
//! ```
//!
//! No multiplier; the smoothing alone pulls X towards the kinks of h. Cost per iteration: one
//! gradient and O(nr²).

use super::iterate::Iterate;
use super::splitting::{plus, project, prox, pull_back, slope};
use crate::oadmm::Variant;
use crate::prelude::*;
use orthopt_core::constraint::stiefel::tangent;

constants! {
    /// The solver.
    pub struct Spgm {
        /// first smoothing; chosen as 1 over the slope lambda of h unless set
        mu0 ["μ⁰"]: Option<f64> = None, "a finite number > 0" if |v| v > 0.0;
    }
    plain {
        /// EP or RR.
        variant: Variant = Variant::Ep;
    }
}

impl Spgm {
    const RR: Self = Self { variant: Variant::Rr, ..Self::DEFAULT };

    fn info(&self) -> Preset<Self> {
        match self.variant {
            Variant::Ep => EUCLIDEAN,
            Variant::Rr => RIEMANNIAN,
        }
    }
}

/// SPGM-EP.
pub const EUCLIDEAN: Preset<Spgm> =
    Preset::new("spgm-ep", "smoothing proximal gradient, Euclidean projection", Domain::SPLITTING);

/// SPGM-RR.
pub const RIEMANNIAN: Preset<Spgm> = Preset {
    make: |info, o| info.configured(Spgm::RR, o),
    ..Preset::new("spgm-rr", "smoothing proximal gradient, Riemannian retraction", Domain::SPLITTING)
};

/// Its state.
#[derive(Clone, Debug)]
pub struct State {
    t: u64,
    mu0: f64,    // μ⁰
    at: Iterate, // X, with y̌ = prox_{μh}(A(X)) and the multiplier z = (A(X) − y̌)/μ ∈ ∂h(y̌)
}

impl State {
    /// μᵗ.
    fn mu(&self) -> f64 {
        self.mu0 / ((self.t + 1) as f64).cbrt()
    }

    /// y̌ and z.
    fn smooth(&mut self, h: &impl Nonsmooth) {
        let (mu, at) = (self.mu(), &mut self.at);
        at.ycheck = prox(h, &at.ax, mu);
        at.z = plus(at.ax.clone(), -1.0, &at.ycheck);
        at.z.data_mut().iter_mut().for_each(|v| *v /= mu);
    }
}

impl<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap> Solver<Composite<F, H, G, A>> for Spgm {
    type State = State;

    fn name(&self) -> &'static str {
        self.info().name
    }

    fn init(&self, p: &Composite<F, H, G, A>, x0: RowMat) -> Result<State> {
        let at = Iterate::new(p, x0, None)?;
        self.info().check(&p.h)?;
        let w = p.h.weak_convexity().unwrap_or(0.0);
        let most = if w > 0.0 { 0.5 / w } else { f64::INFINITY };
        let mu0 = self.mu0.unwrap_or(1.0 / slope(p, &at.x)).min(most);
        let mut st = State { t: 0, mu0, at };
        st.smooth(&p.h);
        Ok(st)
    }

    fn step(&self, p: &Composite<F, H, G, A>, st: &mut State) -> Step {
        let (mu, at) = (st.mu(), &mut st.at);
        let g = at.now.plus(pull_back(p, at.z.clone()));
        let step = 1.0 / (at.lf + at.abar * at.abar / mu);
        let direction = if self.variant == Variant::Ep { g } else { tangent(&at.x, &g) };
        at.move_to(p, project(&plus(at.x.clone(), -step, &direction)));
        st.t += 1;
        st.smooth(&p.h);
        Step::default()
    }

    fn current<'a>(&self, p: &Composite<F, H, G, A>, st: &'a State) -> Current<'a> {
        let Iterate { x, now, z, scale, .. } = &st.at;
        let g = now.plus(pull_back(p, z.clone()));
        let residual = tangent(x, &g).norm() / (scale + g.norm()).max(f64::MIN_POSITIVE);
        Current::new(x, p.value(x)).with_residual(Some(residual))
    }

    fn confirmed(&self, p: &Composite<F, H, G, A>, st: &State) -> Option<Confirmed> {
        st.at.confirmed(p)
    }

    fn finish(&self, p: &Composite<F, H, G, A>, st: State) -> Ending {
        let mut details = Details::default();
        details.chosen("mu0", st.mu0);
        details.set("mu", st.mu());
        details.set("lf", st.at.lf);
        st.at.end(p, details, None)
    }
}
