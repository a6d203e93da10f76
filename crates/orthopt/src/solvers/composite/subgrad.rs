//! Sub-Grad: the subgradient method with Euclidean projection (Davis and Drusvyatskiy 2019).
//!
//! ```text
//! X⁺ = polar(X − a⁰/√(t+1)·(∇f − ξ + Aᵀs)),  s ∈ ∂h(A(X)), 0 where that contains 0
//! ```
//!
//! Cost per iteration: one gradient and O(nr²).

use super::splitting::{Candidates, Linearised, image, plus, project, pull_back, slope};
use crate::composite::{Terms, check_splitting, suits_splitting};
use crate::constraint::stiefel;
use crate::error::Result;
use crate::linalg::RowMat;
use crate::nonsmooth::Nonsmooth;
use crate::options::{Constants, constants};
use crate::solve::{Settings, Solver, StepInfo};
use crate::solvers::SolverInfo;

/// What the registry says of it.
pub const fn info<T: Terms>() -> SolverInfo<T> {
    SolverInfo {
        name: "subgrad",
        doc: "subgradient method with Euclidean projection",
        constants: Subgrad::LIST,
        shared: &[],
        handles: suits_splitting,
        scope: super::SCOPE,
        make: |o| Ok(Box::new(info::<T>().configured(Subgrad::DEFAULT, o)?)),
    }
}

constants! {
    /// The solver.
    pub struct Subgrad {
        /// first step; chosen as 0.1 over the slope lambda of h times sqrt(n) unless set
        a0 ["a⁰"]: Option<f64> = None, "a finite number > 0" if |v| v > 0.0;
    }
}

/// Its state.
#[derive(Clone, Debug)]
pub struct State {
    t: u64,
    x: RowMat,       // X
    a0: f64,         // a⁰
    now: Linearised, // ∇f(X), ξ
}

impl<T: Terms> Solver<T> for Subgrad {
    type State = State;

    fn name(&self) -> &'static str {
        "subgrad"
    }

    fn init(&self, p: &T, x0: RowMat) -> Result<State> {
        let (n, r) = p.size();
        stiefel::check(&x0, n, r, "the starting point X")?;
        check_splitting(p)?;
        // a column of s has the length λ√n at most: X moves by a tenth of itself at first
        let a0 = self.a0.unwrap_or(0.1 / (slope(p) * (n as f64).sqrt()));
        Ok(State { t: 0, a0, now: Linearised::at(p, &x0), x: x0 })
    }

    fn step(&self, p: &T, st: &mut State, budget: u64) -> StepInfo {
        (0..budget).for_each(|_| iterate_once(p, st));
        StepInfo { iterations: budget, objective: p.value(&st.x), ..StepInfo::default() }
    }

    fn iterate<'a>(&self, st: &'a State) -> &'a RowMat {
        &st.x
    }

    fn finish(&self, _p: &T, st: State) -> RowMat {
        st.x
    }

    fn settings(&self, p: &T, st: &State) -> Settings {
        let mut s = Settings::new();
        s.insert("a0".into(), st.a0.into());
        Candidates::single(p, &st.x).report(&mut s);
        s
    }
}

fn iterate_once<T: Terms>(p: &T, st: &mut State) {
    let mut s = image(p, &st.x);
    for v in s.data_mut() {
        let (lo, hi) = p.h().subdifferential(*v);
        *v = 0.0f64.clamp(lo, hi);
    }
    let g = st.now.plus(pull_back(p, s));
    let step = st.a0 / ((st.t + 1) as f64).sqrt();
    st.x = project(&plus(st.x.clone(), -step, &g));
    st.now.update(p, &st.x);
    st.t += 1;
}
