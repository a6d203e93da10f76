//! Sub-Grad: the subgradient method with Euclidean projection (Davis and Drusvyatskiy 2019).
//!
//! ```text
//! X⁺ = polar(X − a⁰/√(t+1)·(∇f − ξ + Aᵀs)),  s ∈ ∂h(A(X)), 0 where that contains 0
//! ```
//!
//! Cost per iteration: one gradient and O(nr²).

use super::splitting::{Candidates, Linearised, plus, project, pull_back, slope};
use crate::prelude::*;
use orthopt_core::nonsmooth::Subgradients;

/// Entry of the registry.
pub const INFO: Preset<Subgrad> =
    Preset::new("subgrad", "subgradient method with Euclidean projection", Domain::SPLITTING);

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

impl<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap> Solver<Composite<F, H, G, A>> for Subgrad {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &Composite<F, H, G, A>, x0: RowMat) -> Result<State> {
        let (n, r) = p.shape();
        stiefel::check(&x0, n, r, "the starting point X")?;
        INFO.check(&p.h)?;
        // a column of s has the length λ√n at most: X moves by a tenth of itself at first
        let a0 = self.a0.unwrap_or(0.1 / (slope(p, &x0) * (n as f64).sqrt()));
        Ok(State { t: 0, a0, now: Linearised::at(p, &x0), x: x0 })
    }

    fn step(&self, p: &Composite<F, H, G, A>, st: &mut State) -> Step {
        let mut s = p.a.apply(&st.x);
        let all = Subgradients::of(&p.h, &s, 0.0);
        s.data_mut().fill(0.0);
        all.nearest(&mut s);
        let g = st.now.plus(pull_back(p, s));
        let step = st.a0 / ((st.t + 1) as f64).sqrt();
        st.x = project(&plus(st.x.clone(), -step, &g));
        st.now.update(p, &st.x);
        st.t += 1;
        Step::default()
    }

    fn current<'a>(&self, p: &Composite<F, H, G, A>, st: &'a State) -> Current<'a> {
        Current::new(&st.x, p.value(&st.x))
    }

    fn finish(&self, p: &Composite<F, H, G, A>, st: State) -> Ending {
        let mut details = Details::default();
        details.chosen("a0", st.a0);
        let splitting = Some(Candidates::single(p, &st.x).report());
        Ending::new(st.x, details).with_splitting(splitting)
    }
}
