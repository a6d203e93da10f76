//! ManIAL: inexact augmented Lagrangian with an inner Riemannian solver (Deng, Deng, Hu, Wen
//! 2024).
//!
//! ```text
//! X_{k+1} ≈ argmin f − ⟨ξ, X⟩ + h^{1/σ}(A(X) + z/σ)          until the gradient is below ε_k
//! y = prox_{h/σ}(A(X) + z/σ),  z⁺ = z + τ(A(X) − y),  σ⁺ = growth·σ,  ε⁺ = ε/growth
//! τ = σ⁰·min(1, ‖A(X₁)−y₁‖ log²2 / (‖A(X)−y‖ (k+1)² log(k+2)))
//! ```
//!
//! h^{1/σ} is the Moreau envelope; the short dual steps keep z bounded. −g is linearised anew at
//! every inner step. An iteration is one inner step: a gradient and O(nr²) for every trial.

use super::descent::{Descent, Inner};
use super::splitting::{
    Candidates, Linearised, SCOPE, Told, check_splitting, confirmed, curvature, end, least_beta, plus, prox,
    pull_back, raw, slope, suits_splitting,
};
use crate::composite::{Composite, distance};
use crate::concave::Concave;
use crate::constraint::stiefel;
use crate::error::Result;
use crate::linalg::RowMat;
use crate::linear_map::LinearMap;
use crate::nonsmooth::Nonsmooth;
use crate::options::{Constants, constants};
use crate::smooth::Smooth;
use crate::solve::{Confirmed, Ending, Raw, Settings, Solver, Step, settings_of};
use crate::solvers::SolverInfo;

/// What the registry says of it.
pub const fn info<
    F: Smooth + 'static,
    H: Nonsmooth + 'static,
    G: Concave + 'static,
    A: LinearMap + 'static,
>() -> SolverInfo<Composite<F, H, G, A>> {
    SolverInfo {
        name: "manial",
        doc: "inexact augmented Lagrangian with an inner Riemannian solver",
        constants: Manial::LIST,
        shared: &[],
        handles: |p| suits_splitting(&p.h),
        scope: SCOPE,
        make: |o| Ok(Box::new(info::<F, H, G, A>().configured(Manial::DEFAULT, o)?)),
    }
}

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
}

/// σ beyond which differences of the envelope drown in rounding, relative to σ⁰.
const MOST_GROWTH: f64 = 1e10;

/// Its state.
#[derive(Clone, Debug)]
pub struct State {
    k: u64,                  // outer steps
    left: u64,               // inner steps left in this one
    sigma: f64,              // σ_k
    sigma0: f64,             // σ⁰
    eps: f64,                // ε_k
    gap1: Option<f64>,       // ‖A(X₁) − y₁‖
    z: RowMat,               // z
    lf: f64,                 // L_f
    abar: f64,               // Ā
    descent: Descent<Point>, // X and what belongs to it
}

impl State {
    /// y = prox_{h/σ}(A(X) + z/σ) and the multiplier σ(A(X) + z/σ − y) ∈ ∂h(y).
    fn split<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &self,
        p: &Composite<F, H, G, A>,
    ) -> (RowMat, RowMat) {
        let v = plus(p.a.apply(&self.descent.x), 1.0 / self.sigma, &self.z);
        let y = prox(&p.h, &v, 1.0 / self.sigma);
        let mut w = plus(v, -1.0, &y);
        w.data_mut().iter_mut().for_each(|v| *v *= self.sigma);
        (y, w)
    }
}

impl<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap> Solver<Composite<F, H, G, A>> for Manial {
    type State = State;

    fn name(&self) -> &'static str {
        "manial"
    }

    fn init(&self, p: &Composite<F, H, G, A>, x0: RowMat) -> Result<State> {
        let (n, r) = p.shape();
        stiefel::check(&x0, n, r, "the starting point X")?;
        check_splitting(&p.h)?;
        let sigma0 = self.sigma0.unwrap_or(slope(&p.h)).max(least_beta(&p.h, 0.0));
        let ax = p.a.apply(&x0);
        let z = RowMat::zeros(ax.nrows(), ax.ncols());
        let (lf, abar) = (curvature(&p.f, &x0), p.a.norm((n, r)));
        let subproblem = Subproblem { p, z: &z, sigma: sigma0 };
        let descent = Descent::new(&subproblem, x0, 1.0 / (lf + sigma0 * abar * abar));
        Ok(State {
            k: 0,
            left: self.inner,
            sigma: sigma0,
            sigma0,
            eps: self.eps0,
            gap1: None,
            z,
            lf,
            abar,
            descent,
        })
    }

    fn one_iteration(&self, p: &Composite<F, H, G, A>, st: &mut State) -> Step {
        self.iterate_once(p, st);
        Step::default()
    }

    fn objective(&self, p: &Composite<F, H, G, A>, st: &State) -> f64 {
        p.value(&st.descent.x)
    }

    fn residual(&self, p: &Composite<F, H, G, A>, st: &State) -> Option<f64> {
        let d = &st.descent;
        let (y, _) = st.split(p);
        let primal = distance(&p.a.apply(&d.x), &y) / (1.0 + y.norm());
        Some(primal.max(relative_gradient(d)))
    }

    fn confirmed(&self, p: &Composite<F, H, G, A>, st: &State) -> Option<Confirmed> {
        let (y, w) = st.split(p);
        confirmed(p, &st.descent.x, &y, &w)
    }

    fn point<'a>(&self, st: &'a State) -> &'a RowMat {
        &st.descent.x
    }

    fn finish(&self, p: &Composite<F, H, G, A>, st: State) -> RowMat {
        Candidates::new(p, &st.descent.x, &st.split(p).0).best(st.descent.x)
    }

    fn chosen(&self, _p: &Composite<F, H, G, A>, st: &State) -> Vec<(&'static str, f64)> {
        vec![("sigma0", st.sigma0)]
    }

    fn settings(&self, _p: &Composite<F, H, G, A>, st: &State) -> Settings {
        let mut s = settings_of(self, Self::LIST);
        s.insert("sigma0".into(), st.sigma0.into());
        s.insert("sigma".into(), st.sigma.into());
        s.insert("outer_steps".into(), st.k.into());
        s
    }

    fn ending(&self, p: &Composite<F, H, G, A>, st: State) -> Ending {
        let told = Told { settings: self.settings(p, &st), constants: self.chosen(p, &st), mu_norm_z: None };
        let (y, w) = st.split(p);
        end(p, told, st.descent.x, &y, &w)
    }

    fn raw(&self, p: &Composite<F, H, G, A>, st: &State) -> Option<Raw> {
        raw(p, &st.split(p).0)
    }
}

impl Manial {
    /// One inner step, and the outer one when the inner solver is done.
    fn iterate_once<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &self,
        p: &Composite<F, H, G, A>,
        st: &mut State,
    ) {
        let subproblem = Subproblem { p, z: &st.z, sigma: st.sigma };
        let moved = st.descent.advance(&subproblem);
        st.left -= 1;
        if moved && st.left > 0 && relative_gradient(&st.descent) > st.eps {
            return;
        }
        let ax = p.a.apply(&st.descent.x);
        let (y, _) = st.split(p);
        let gap = distance(&ax, &y);
        let gap1 = *st.gap1.get_or_insert(gap);
        st.k += 1;
        let k = st.k as f64;
        let log2 = std::f64::consts::LN_2;
        let bound = gap1 * log2 * log2 / (gap * (k + 1.0).powi(2) * (k + 2.0).ln());
        let tau = st.sigma0 * if bound.is_finite() { bound.min(1.0) } else { 1.0 };
        st.z = plus(plus(st.z.clone(), tau, &ax), -tau, &y);
        if st.sigma < MOST_GROWTH * st.sigma0 {
            st.sigma *= self.growth;
            st.eps /= self.growth;
        }
        st.left = self.inner;
        let subproblem = Subproblem { p, z: &st.z, sigma: st.sigma };
        let first = 1.0 / (st.lf + st.sigma * st.abar * st.abar);
        st.descent = Descent::new(&subproblem, st.descent.x.clone(), first);
    }
}

/// The Riemannian gradient relative to the terms of the Euclidean one.
fn relative_gradient(d: &Descent<Point>) -> f64 {
    d.gradient.norm() / (1.0 + d.at.terms.grad_f.norm() + d.at.terms.xi.norm() + d.at.pulled.norm())
}

/// f − ⟨ξ, X⟩ + h^{1/σ}(A(X) + z/σ).
struct Subproblem<'a, F, H, G, A> {
    p: &'a Composite<F, H, G, A>,
    z: &'a RowMat,
    sigma: f64,
}

/// What is known of it at one X.
#[derive(Clone, Debug)]
struct Point {
    terms: Linearised, // ∇f(X), ξ
    pulled: RowMat,    // Aᵀ of the gradient of the envelope
    envelope: f64,     // h^{1/σ}
}

impl<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap> Inner for Subproblem<'_, F, H, G, A> {
    type Point = Point;

    fn at(&self, x: &RowMat) -> Point {
        let v = plus(self.p.a.apply(x), 1.0 / self.sigma, self.z);
        let y = prox(&self.p.h, &v, 1.0 / self.sigma);
        let mut w = plus(v, -1.0, &y);
        let envelope = self.p.h.value(y.data()) + 0.5 * self.sigma * w.inner(&w);
        w.data_mut().iter_mut().for_each(|v| *v *= self.sigma);
        Point { terms: Linearised::at(self.p, x), pulled: pull_back(self.p, w), envelope }
    }

    fn gradient(&self, at: &Point) -> RowMat {
        at.terms.plus(at.pulled.clone())
    }

    fn change(&self, from: &Point, to: &Point, step: &RowMat) -> f64 {
        from.terms.change_of_f(&to.terms, step) - step.inner(&from.terms.xi) + (to.envelope - from.envelope)
    }
}
