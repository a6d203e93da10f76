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
    Candidates, Linearised, curvature, image, plus, project, prox, pull_back, raw, report_crit, slope,
};
use crate::composite::{Terms, check_splitting, crit_parts, suits_splitting};
use crate::constraint::stiefel::{self, tangent};
use crate::error::Result;
use crate::linalg::RowMat;
use crate::linear_map::LinearMap;
use crate::nonsmooth::Nonsmooth;
use crate::options::{Constants, constants};
use crate::solve::{Raw, Settings, Solver, StepInfo};
use crate::solvers::SolverInfo;
use crate::solvers::oadmm::Variant;

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
pub const fn euclidean<T: Terms>() -> SolverInfo<T> {
    SolverInfo {
        name: "spgm-ep",
        doc: "smoothing proximal gradient, Euclidean projection",
        constants: Spgm::LIST,
        shared: &[],
        handles: suits_splitting,
        scope: super::SCOPE,
        make: |o| Ok(Box::new(euclidean::<T>().configured(Spgm::EP, o)?)),
    }
}

/// SPGM-RR.
pub const fn riemannian<T: Terms>() -> SolverInfo<T> {
    SolverInfo {
        name: "spgm-rr",
        doc: "smoothing proximal gradient, Riemannian retraction",
        constants: Spgm::LIST,
        shared: &[],
        handles: suits_splitting,
        scope: super::SCOPE,
        make: |o| Ok(Box::new(riemannian::<T>().configured(Spgm::RR, o)?)),
    }
}

/// Its state.
#[derive(Clone, Debug)]
pub struct State {
    t: u64,
    x: RowMat,       // X
    ax: RowMat,      // A(X)
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
    fn smoothed<T: Terms>(&self, p: &T) -> (RowMat, RowMat) {
        let mu = self.mu();
        let ycheck = prox(p.h(), &self.ax, mu);
        let mut z = plus(self.ax.clone(), -1.0, &ycheck);
        z.data_mut().iter_mut().for_each(|v| *v /= mu);
        (ycheck, z)
    }
}

impl<T: Terms> Solver<T> for Spgm {
    type State = State;

    fn name(&self) -> &'static str {
        match self.variant {
            Variant::Ep => "spgm-ep",
            Variant::Rr => "spgm-rr",
        }
    }

    fn init(&self, p: &T, x0: RowMat) -> Result<State> {
        let (n, r) = p.size();
        stiefel::check(&x0, n, r, "the starting point X")?;
        check_splitting(p)?;
        let w = p.h().weak_convexity().unwrap_or(0.0);
        let most = if w > 0.0 { 0.5 / w } else { f64::INFINITY };
        Ok(State {
            t: 0,
            ax: image(p, &x0),
            mu0: self.mu0.unwrap_or(1.0 / slope(p)).min(most),
            lf: curvature(p),
            abar: p.map().norm((n, r)),
            now: Linearised::at(p, &x0),
            x: x0,
        })
    }

    fn step(&self, p: &T, st: &mut State, budget: u64) -> StepInfo {
        (0..budget).for_each(|_| self.iterate_once(p, st));
        let (_, z) = st.smoothed(p);
        let g = st.now.plus(pull_back(p, z));
        let residual = Some(tangent(&st.x, &g).norm() / (1.0 + g.norm()));
        StepInfo { iterations: budget, objective: p.value(&st.x), residual, ..StepInfo::default() }
    }

    fn iterate<'a>(&self, st: &'a State) -> &'a RowMat {
        &st.x
    }

    fn finish(&self, p: &T, st: State) -> RowMat {
        Candidates::new(p, &st.x, &st.smoothed(p).0).best(st.x)
    }

    fn settings(&self, p: &T, st: &State) -> Settings {
        let mut s = Settings::new();
        s.insert("mu0".into(), st.mu0.into());
        s.insert("mu".into(), st.mu().into());
        s.insert("lf".into(), st.lf.into());
        let (ycheck, z) = st.smoothed(p);
        report_crit(&mut s, crit_parts(p, &st.x, &ycheck, &z));
        Candidates::new(p, &st.x, &ycheck).report(&mut s);
        s
    }

    fn raw(&self, p: &T, st: &State) -> Option<Raw> {
        raw(p, &st.smoothed(p).0)
    }
}

impl Spgm {
    fn iterate_once<T: Terms>(&self, p: &T, st: &mut State) {
        let (_, z) = st.smoothed(p);
        let g = st.now.plus(pull_back(p, z));
        let step = 1.0 / (st.lf + st.abar * st.abar / st.mu());
        let direction = if self.variant == Variant::Ep { g } else { tangent(&st.x, &g) };
        st.x = project(&plus(st.x.clone(), -step, &direction));
        st.now.update(p, &st.x);
        st.ax = image(p, &st.x);
        st.t += 1;
    }
}
