//! RSubGrad: the Riemannian subgradient method for f(X) + h(X), XᵀX = I, with a convex finite h
//! (Li, Chen, Deng, Qu, Zhu, So 2021; the steps of the comparison in Chen et al. 2020).
//!
//! ```text
//! for k = 1, 2, ...
//!   G ← ∇f(X) + ξ,  ξ ∈ ∂h(X)
//!   D ← G − X sym(XᵀG)
//!   X ← Retr_X(−η₀ k^{−p} D)                                  polar retraction
//! ```
//!
//! Steps must diminish as no multiple of a subgradient need be a descent direction; F is not
//! monotone, the best X is kept. Entries never become zero exactly, so do not expect the
//! stationarity measure to become small where h has kinks: it is ‖D‖ for the subgradient at
//! hand, not the distance to ∂F.
//!
//! Cost per iteration: a gradient and 8nr² flops.

use super::proximal::{Point, Progressing, Relative, combine, curvature, feasible_start};
use crate::prelude::*;
use orthopt_core::composite::relative_criticality;
use orthopt_core::nonsmooth::Subgradients;
use orthopt_linalg::orthonormal::nearest;
use orthopt_linalg::products::{cross, product};

constants! {
    /// RSubGrad with the steps of the comparisons unless set.
    #[derive(Copy)]
    pub struct RSubGrad {
        /// first step (papers: 1 for data of unit scale); chosen as 1/L, L = ||hess f||, unless set
        eta ["η₀"]: Option<f64> = None, "a number > 0" if |v| v > 0.0;
        /// steps are eta k^-p
        p ["p"]: f64 = 0.75, "above 0, at most 1" if |v| v > 0.0 && v <= 1.0;
    }
}

/// Entry of the registry.
pub const INFO: Preset<RSubGrad> = Preset::new(
    "rsubgrad",
    "Riemannian subgradient method with diminishing steps; feasible",
    Domain::FINITE_CONVEX,
);

/// State of RSubGrad.
#[derive(Clone, Debug)]
pub struct State {
    at: Point,     // Xᵏ
    d: RowMat,     // D, then X − ηD
    eta0: f64,     // η₀
    k: u64,        // k
    residual: f64, // ‖D‖_F, relative
    best: RowMat,  // X of the lowest F
    lowest: f64,   // F there
    relative: Relative,
    progress: Progressing,
}

impl<F: Smooth, H: Nonsmooth> Solver<Problem<Stiefel, F, H>> for RSubGrad {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, x0: RowMat) -> Result<State> {
        INFO.check(&p.h)?;
        let x0 = feasible_start(p, x0)?;
        let at = Point::new(p, x0);
        let mut relative = Relative::default();
        relative.meet(&at.grad);
        Ok(State {
            d: at.x.clone(),
            eta0: self.eta.unwrap_or_else(|| 1.0 / curvature(&p.f, &at.x)),
            k: 0,
            residual: f64::INFINITY,
            best: at.x.clone(),
            lowest: at.objective(),
            relative,
            progress: Progressing::default(),
            at,
        })
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> Step {
        st.k += 1;
        // G: where ∂h is a set, the element that comes closest to cancelling ∇f
        st.d.data_mut().iter_mut().zip(st.at.grad.data()).for_each(|(g, grad)| *g = -grad);
        Subgradients::of(&p.h, &st.at.x, 0.0).nearest(&mut st.d);
        st.d.data_mut().iter_mut().zip(st.at.grad.data()).for_each(|(g, grad)| *g += grad);
        // D = G − X sym(XᵀG)
        let xtg = cross(&st.at.x, &st.d);
        let sym = xtg.symmetric_part();
        product(&mut st.d, true, -1.0, st.at.x.as_mat(), sym.as_mat());
        st.residual = st.relative.to(st.d.norm());
        // X ← Retr(−ηD)
        let eta = st.eta0 * (st.k as f64).powf(-self.p);
        let mut y = st.at.x.clone();
        combine(&mut y, &st.at.x, -eta, &st.d);
        if !nearest(&y, &mut st.at.x) {
            return Step::ended(Some((Status::NumericalError, "the subgradient is not finite")));
        }
        st.at.evaluate(p);
        st.relative.meet(&st.at.grad);
        if st.at.objective() < st.lowest {
            st.lowest = st.at.objective();
            st.best.data_mut().copy_from_slice(st.at.x.data());
        }
        Step::ended(st.progress.note(st.lowest, st.residual))
    }

    fn current<'a>(&self, _: &Problem<Stiefel, F, H>, st: &'a State) -> Current<'a> {
        Current::new(&st.best, st.lowest).with_residual(Some(st.residual))
    }

    fn confirmed(&self, p: &Problem<Stiefel, F, H>, st: &State) -> Option<Confirmed> {
        Some(Confirmed::new(relative_criticality(p, &st.best)))
    }

    fn finish(&self, _: &Problem<Stiefel, F, H>, st: State) -> Ending {
        let mut details = Details::of(self, INFO.constants);
        details.chosen("eta", st.eta0);
        details.set("iterations", st.k);
        Ending::new(st.best, details)
    }
}
