//! MADMM: manifold ADMM with an inner Riemannian solver (Kovnatsky, Glashoff, Bronstein 2016).
//!
//! ```text
//! X⁺ ≈ argmin f − ⟨ξ, X⟩ + ⟨z, A(X)⟩ + β/2‖A(X) − y‖²   (a few Barzilai–Borwein steps)
//! y⁺ = prox_{h/β}(A(X⁺) + z/β),  z⁺ = z + β(A(X⁺) − y⁺)
//! ```
//!
//! β is fixed. Cost per iteration: a gradient and O(nr²) for every trial step.

use super::descent::{Descent, Inner};
use super::splitting::{
    Candidates, Linearised, curvature, image, least_beta, plus, prox, pull_back, raw, report_crit,
    shifted_multiplier, slope, stationarity,
};
use crate::composite::{Terms, check_splitting, crit_parts, suits_splitting};
use crate::constraint::stiefel;
use crate::error::Result;
use crate::linalg::RowMat;
use crate::linear_map::LinearMap;
use crate::options::{Constants, constants};
use crate::smooth::Smooth;
use crate::solve::{Raw, Settings, Solver, StepInfo, settings_of};
use crate::solvers::SolverInfo;

/// What the registry says of it.
pub const fn info<T: Terms>() -> SolverInfo<T> {
    SolverInfo {
        name: "madmm",
        doc: "manifold ADMM with an inner Riemannian solver",
        constants: Madmm::LIST,
        shared: &[],
        handles: suits_splitting,
        scope: super::SCOPE,
        make: |o| Ok(Box::new(info::<T>().configured(Madmm::DEFAULT, o)?)),
    }
}

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
    x: RowMat,       // X
    ax: RowMat,      // A(X)
    y: RowMat,       // y
    z: RowMat,       // z
    beta: f64,       // β
    step: f64,       // first step of the inner solver
    now: Linearised, // ∇f(X), ξ
    inner: u64,      // inner steps so far
}

impl<T: Terms> Solver<T> for Madmm {
    type State = State;

    fn name(&self) -> &'static str {
        "madmm"
    }

    fn init(&self, p: &T, x0: RowMat) -> Result<State> {
        let (n, r) = p.size();
        stiefel::check(&x0, n, r, "the starting point X")?;
        check_splitting(p)?;
        let abar = p.map().norm((n, r));
        let beta = self.beta.unwrap_or(10.0 * slope(p)).max(least_beta(p, 0.0));
        let ax = image(p, &x0);
        Ok(State {
            y: ax.clone(),
            z: RowMat::zeros(ax.nrows(), ax.ncols()),
            ax,
            beta,
            step: 1.0 / (beta * abar * abar + curvature(p)),
            now: Linearised::at(p, &x0),
            x: x0,
            inner: 0,
        })
    }

    fn step(&self, p: &T, st: &mut State, budget: u64) -> StepInfo {
        (0..budget).for_each(|_| self.iterate_once(p, st));
        let residual = Some(stationarity(p, &st.x, &st.ax, &st.y, &st.z, &st.now));
        StepInfo { iterations: budget, objective: p.value(&st.x), residual, ..StepInfo::default() }
    }

    fn iterate<'a>(&self, st: &'a State) -> &'a RowMat {
        &st.x
    }

    fn finish(&self, p: &T, st: State) -> RowMat {
        Candidates::new(p, &st.x, &st.y).best(st.x)
    }

    fn settings(&self, p: &T, st: &State) -> Settings {
        let mut s = settings_of(self, Self::LIST);
        s.insert("beta".into(), st.beta.into());
        s.insert("inner_steps".into(), st.inner.into());
        report_crit(&mut s, crit_parts(p, &st.x, &st.y, &st.z));
        Candidates::new(p, &st.x, &st.y).report(&mut s);
        s
    }

    fn raw(&self, p: &T, st: &State) -> Option<Raw> {
        raw(p, &st.y)
    }
}

impl Madmm {
    fn iterate_once<T: Terms>(&self, p: &T, st: &mut State) {
        let subproblem = Subproblem { p, xi: &st.now.xi, y: &st.y, z: &st.z, beta: st.beta };
        let mut descent = Descent::new(&subproblem, st.x.clone(), st.step);
        for _ in 0..self.inner {
            if !descent.advance(&subproblem) {
                break;
            }
            st.inner += 1;
        }
        st.x = descent.x;
        st.now.update(p, &st.x);
        st.ax = image(p, &st.x);
        st.y = prox(p.h(), &plus(st.ax.clone(), 1.0 / st.beta, &st.z), 1.0 / st.beta);
        st.z = shifted_multiplier(&st.ax, &st.y, &st.z, st.beta);
    }
}

/// The problem in X, quadratic: its change is half of ⟨X⁺ − X, both gradients⟩.
struct Subproblem<'a, T> {
    p: &'a T,
    xi: &'a RowMat,
    y: &'a RowMat,
    z: &'a RowMat,
    beta: f64,
}

impl<T: Terms> Inner for Subproblem<'_, T> {
    type Point = RowMat; // the Euclidean gradient

    fn at(&self, x: &RowMat) -> RowMat {
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        self.p.f().gradient(x, &mut g);
        let w = shifted_multiplier(&image(self.p, x), self.y, self.z, self.beta);
        plus(plus(g, -1.0, self.xi), 1.0, &pull_back(self.p, w))
    }

    fn gradient(&self, at: &RowMat) -> RowMat {
        at.clone()
    }

    fn change(&self, from: &RowMat, to: &RowMat, step: &RowMat) -> f64 {
        0.5 * (step.inner(from) + step.inner(to))
    }
}
