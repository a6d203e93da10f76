//! RADMM: Riemannian ADMM with a fixed penalty and a fixed Moreau envelope (Li, Ma, Srivastava
//! 2022, as run in the OADMM paper).
//!
//! ```text
//! X⁺ = polar(X − Proj_T(∇f − ξ + Aᵀ(z + β(A(X) − y)))/(βĀ² + L_f))
//! b = A(X⁺) + z/β, y̌ = prox_{(μ+1/β)h}(b), y⁺ = (y̌ + μβb)/(1 + μβ), z⁺ = z + β(A(X⁺) − y⁺)
//! ```
//!
//! β is all there is to choose, and the result hangs on it: the OADMM paper shows 100 and 10⁴.
//! Cost per iteration: one gradient and O(nr²).

use super::splitting::{
    Candidates, Linearised, curvature, image, least_beta, plus, project, prox, pull_back, raw, report_crit,
    shifted_multiplier, stationarity,
};
use crate::composite::{Terms, check_splitting, crit_parts, suits_splitting};
use crate::constraint::stiefel::{self, tangent};
use crate::error::Result;
use crate::linalg::RowMat;
use crate::linear_map::LinearMap;
use crate::options::{Constants, constants};
use crate::solve::{Raw, Settings, Solver, StepInfo, settings_of};
use crate::solvers::SolverInfo;

/// What the registry says of it.
pub const fn info<T: Terms>() -> SolverInfo<T> {
    SolverInfo {
        name: "radmm",
        doc: "Riemannian ADMM with fixed penalty, smoothing and step",
        constants: Radmm::LIST,
        shared: &[],
        handles: suits_splitting,
        scope: super::SCOPE,
        make: |o| Ok(Box::new(info::<T>().configured(Radmm::DEFAULT, o)?)),
    }
}

constants! {
    /// The solver.
    pub struct Radmm {
        /// penalty parameter
        beta ["β"]: f64 = 1e4, "a finite number > 0" if |v| v > 0.0;
        /// smoothing mu = chi / beta
        chi ["χ"]: f64 = 1.01, "a finite number > 1" if |v| v > 1.0;
    }
}

/// Its state.
#[derive(Clone, Debug)]
pub struct State {
    x: RowMat,       // X
    ax: RowMat,      // A(X)
    y: RowMat,       // y
    ycheck: RowMat,  // y̌
    z: RowMat,       // z
    beta: f64,       // β, raised if h asks for it
    step: f64,       // 1/(βĀ² + L_f)
    now: Linearised, // ∇f(X), ξ
}

impl<T: Terms> Solver<T> for Radmm {
    type State = State;

    fn name(&self) -> &'static str {
        "radmm"
    }

    fn init(&self, p: &T, x0: RowMat) -> Result<State> {
        let (n, r) = p.size();
        stiefel::check(&x0, n, r, "the starting point X")?;
        check_splitting(p)?;
        let abar = p.map().norm((n, r));
        let beta = self.beta.max(least_beta(p, self.chi));
        let ax = image(p, &x0);
        Ok(State {
            y: ax.clone(),
            ycheck: ax.clone(),
            z: RowMat::zeros(ax.nrows(), ax.ncols()),
            ax,
            beta,
            step: 1.0 / (beta * abar * abar + curvature(p)),
            now: Linearised::at(p, &x0),
            x: x0,
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
        Candidates::new(p, &st.x, &st.ycheck).best(st.x)
    }

    fn settings(&self, p: &T, st: &State) -> Settings {
        let mut s = settings_of(self, Self::LIST);
        s.insert("beta".into(), st.beta.into());
        s.insert("mu".into(), (self.chi / st.beta).into());
        s.insert("step".into(), st.step.into());
        report_crit(&mut s, crit_parts(p, &st.x, &st.ycheck, &st.z));
        Candidates::new(p, &st.x, &st.ycheck).report(&mut s);
        s
    }

    fn raw(&self, p: &T, st: &State) -> Option<Raw> {
        raw(p, &st.ycheck)
    }
}

impl Radmm {
    fn iterate_once<T: Terms>(&self, p: &T, st: &mut State) {
        let (beta, chi) = (st.beta, self.chi);
        let g = st.now.plus(pull_back(p, shifted_multiplier(&st.ax, &st.y, &st.z, beta)));
        st.x = project(&plus(st.x.clone(), -st.step, &tangent(&st.x, &g)));
        st.now.update(p, &st.x);
        st.ax = image(p, &st.x);
        let b = plus(st.ax.clone(), 1.0 / beta, &st.z);
        st.ycheck = prox(p.h(), &b, (chi + 1.0) / beta);
        for ((y, check), b) in st.y.data_mut().iter_mut().zip(st.ycheck.data()).zip(b.data()) {
            *y = (check + chi * b) / (1.0 + chi);
        }
        st.z = shifted_multiplier(&st.ax, &st.y, &st.z, beta);
    }
}
