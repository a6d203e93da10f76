//! SPGM: smoothing proximal gradient methods (Beck and Rosset 2023; Böhm and Wright 2021).
//!
//! ```text
//! μᵗ = μ⁰(t + 1)^(−1/3), G = ∇f − ξ + Aᵀ(A(X) − prox_{μh}(A(X)))/μ, ℓ = L_f + Ā²/μ
//! EP: X⁺ = polar(X − G/ℓ)        RR: X⁺ = polar(X − Proj_T(G)/ℓ)
//! ```
//!
//! No multiplier; the smoothing alone pulls X towards the kinks of h. Cost per iteration: one
//! gradient and O(nr²).

use super::splitting::{
    Linearised, SCOPE, check_splitting, confirmed, curvature, end, plus, project, prox, pull_back, slope,
    suits_splitting,
};
use crate::oadmm::Variant;
use orthopt_core::composite::Composite;
use orthopt_core::concave::Concave;
use orthopt_core::constraint::stiefel::{self, tangent};
use orthopt_core::linear_map::LinearMap;
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::options::{Constants, constants};
use orthopt_core::smooth::Smooth;
use orthopt_core::solve::info::SolverInfo;
use orthopt_core::solve::{AnySolver, Confirmed, Current, Details, Ending, Solver, Step};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::Result;

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
    const EP: Self = Self::DEFAULT;
    const RR: Self = Self { variant: Variant::Rr, ..Self::DEFAULT };
}

/// SPGM-EP.
pub const fn euclidean<
    F: Smooth + 'static,
    H: Nonsmooth + 'static,
    G: Concave + 'static,
    A: LinearMap + 'static,
>() -> SolverInfo<Composite<F, H, G, A>> {
    SolverInfo {
        name: "spgm-ep",
        doc: "smoothing proximal gradient, Euclidean projection",
        constants: Spgm::LIST,
        shared: &[],
        handles: &|p| suits_splitting(&p.h),
        scope: SCOPE,
        make: &|o| Ok(AnySolver::new(euclidean::<F, H, G, A>().configured(Spgm::EP, o)?)),
    }
}

/// SPGM-RR.
pub const fn riemannian<
    F: Smooth + 'static,
    H: Nonsmooth + 'static,
    G: Concave + 'static,
    A: LinearMap + 'static,
>() -> SolverInfo<Composite<F, H, G, A>> {
    SolverInfo {
        name: "spgm-rr",
        doc: "smoothing proximal gradient, Riemannian retraction",
        constants: Spgm::LIST,
        shared: &[],
        handles: &|p| suits_splitting(&p.h),
        scope: SCOPE,
        make: &|o| Ok(AnySolver::new(riemannian::<F, H, G, A>().configured(Spgm::RR, o)?)),
    }
}

/// Its state.
#[derive(Clone, Debug)]
pub struct State {
    t: u64,
    x: RowMat,       // X
    ax: RowMat,      // A(X)
    scale: f64,      // of f
    mu0: f64,        // μ⁰
    lf: f64,         // L_f
    abar: f64,       // Ā
    now: Linearised, // ∇f(X), ξ
}

impl State {
    /// μᵗ.
    fn mu(&self) -> f64 {
        self.mu0 / ((self.t + 1) as f64).cbrt()
    }

    /// y̌ = prox_{μh}(A(X)) and the multiplier (A(X) − y̌)/μ ∈ ∂h(y̌).
    fn smoothed<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &self,
        p: &Composite<F, H, G, A>,
    ) -> (RowMat, RowMat) {
        let mu = self.mu();
        let ycheck = prox(&p.h, &self.ax, mu);
        let mut z = plus(self.ax.clone(), -1.0, &ycheck);
        z.data_mut().iter_mut().for_each(|v| *v /= mu);
        (ycheck, z)
    }
}

impl<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap> Solver<Composite<F, H, G, A>> for Spgm {
    type State = State;

    fn name(&self) -> &'static str {
        match self.variant {
            Variant::Ep => "spgm-ep",
            Variant::Rr => "spgm-rr",
        }
    }

    fn init(&self, p: &Composite<F, H, G, A>, x0: RowMat) -> Result<State> {
        let (n, r) = p.shape();
        stiefel::check(&x0, n, r, "the starting point X")?;
        check_splitting(&p.h)?;
        let w = p.h.weak_convexity().unwrap_or(0.0);
        let most = if w > 0.0 { 0.5 / w } else { f64::INFINITY };
        Ok(State {
            t: 0,
            ax: p.a.apply(&x0),
            scale: p.f.scale(&x0),
            mu0: self.mu0.unwrap_or(1.0 / slope(p, &x0)).min(most),
            lf: curvature(&p.f, &x0),
            abar: p.a.norm((n, r)),
            now: Linearised::at(p, &x0),
            x: x0,
        })
    }

    fn step(&self, p: &Composite<F, H, G, A>, st: &mut State) -> Step {
        self.iterate_once(p, st);
        Step::default()
    }

    fn current<'a>(&self, p: &Composite<F, H, G, A>, st: &'a State) -> Current<'a> {
        let (_, z) = st.smoothed(p);
        let g = st.now.plus(pull_back(p, z));
        Current::new(&st.x, p.value(&st.x))
            .with_residual(Some(tangent(&st.x, &g).norm() / (st.scale + g.norm()).max(f64::MIN_POSITIVE)))
    }

    fn confirmed(&self, p: &Composite<F, H, G, A>, st: &State) -> Option<Confirmed> {
        let (ycheck, z) = st.smoothed(p);
        confirmed(p, &st.x, &ycheck, &z)
    }

    fn finish(&self, p: &Composite<F, H, G, A>, st: State) -> Ending {
        let mut details = Details::default();
        details.chosen("mu0", st.mu0);
        details.set("mu", st.mu());
        details.set("lf", st.lf);
        let (ycheck, z) = st.smoothed(p);
        end(p, details, None, st.x, &ycheck, &z)
    }
}

impl Spgm {
    fn iterate_once<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &self,
        p: &Composite<F, H, G, A>,
        st: &mut State,
    ) {
        let (_, z) = st.smoothed(p);
        let g = st.now.plus(pull_back(p, z));
        let step = 1.0 / (st.lf + st.abar * st.abar / st.mu());
        let direction = if self.variant == Variant::Ep { g } else { tangent(&st.x, &g) };
        st.x = project(&plus(st.x.clone(), -step, &direction));
        st.now.update(p, &st.x);
        st.ax = p.a.apply(&st.x);
        st.t += 1;
    }
}
