//! UMCM, the unconstrained multiplier correction method (JOBCD paper, Appendix F.4):
//! Adagrad on
//!
//! ```text
//! f(X) − ½⟨JXᵀ∇f(X), R⟩ + ½β‖R‖²_F,     R = XᵀJX − J
//! ```
//!
//! About 16n³ flops an iteration, and a product with the Hessian.

use super::adagrad::Adagrad;
use super::{OffGroup, curvature, lost, profile, size};
use crate::EVERY_F;
use orthopt_core::constraint::JOrthogonal;
use orthopt_core::constraint::j_orthogonal::{self, Signature, residual};
use orthopt_core::smooth::HessianVector;
use orthopt_linalg::factor::transpose;
use orthopt_linalg::products::{cross, product};
use orthopt_solvers::prelude::*;

/// Entry of the registry.
pub const INFO: Preset<Umcm> = Preset::new(
    "umcm",
    "unconstrained multiplier correction with Adagrad: infeasible until the end",
    EVERY_F,
);

constants! {
    /// The solver.
    pub struct Umcm {
        /// penalty at the start; L_f or an estimate unless set
        beta ["β"]: Option<f64> = None, "a finite number > 0" if |v| v > 0.0;
        /// learning rate of Adagrad (papers: 5e-4 to 5e-3)
        lr [""]: f64 = 5e-3, "a finite number > 0" if |v| v > 0.0;
        /// iterations after which beta doubles; 0 never
        double [""]: u64 = 0, "a whole number >= 0" if |v| v >= 0.0;
        /// beta does not double beyond this many times its start
        beta_max [""]: f64 = 1e9, "a finite number > 0" if |v| v > 0.0;
        /// entry of X at which a run with an unbounded f ends
        norm_limit [""]: f64 = 1e4, "a finite number > 0" if |v| v > 0.0;
    }
}

/// The merit function and its gradient
/// G − ½[G R J + ∇²f(X)[X J R] + J X (Λ + Λᵀ)] + 2β J X R, Λ = JXᵀG.
pub fn merit(f: &impl HessianVector, x: &RowMat, j: &Signature, beta: f64) -> (f64, RowMat) {
    let n = x.nrows();
    let mut g = RowMat::zeros(n, n);
    let value = f.value_and_gradient(x, &mut g);
    let r = residual(x, j);
    let lambda = j.times(&cross(x, &g));
    let total = value - 0.5 * lambda.inner(&r) + 0.5 * beta * r.inner(&r);
    let jx = j.times(x);
    let (mut grj, mut xjr) = (RowMat::zeros(n, n), RowMat::zeros(n, n));
    product(&mut grj, false, 1.0, g.as_mat(), j.times_right(&r).as_mat());
    product(&mut xjr, false, 1.0, x.as_mat(), j.times(&r).as_mat());
    let bent = f.hessian_vector(x, &xjr);
    let lt = transpose(&lambda);
    // −½(Λ + Λᵀ) + 2βR, which JX multiplies
    let inner =
        RowMat::from_fn(n, n, |a, b| 2.0 * beta * r.get(a, b) - 0.5 * (lambda.get(a, b) + lt.get(a, b)));
    let mut out = RowMat::from_fn(n, n, |a, b| g.get(a, b) - 0.5 * (grj.get(a, b) + bent.get(a, b)));
    product(&mut out, true, 1.0, jx.as_mat(), inner.as_mat());
    (total, out)
}

/// State of UMCM.
#[derive(Clone, Debug)]
pub struct State {
    at: OffGroup, // Xᵗ and β
    adagrad: Adagrad,
}

impl<F: HessianVector> Solver<Problem<JOrthogonal, F>> for Umcm {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn behaviour(&self, p: &Problem<JOrthogonal, F>) -> Behaviour {
        profile(p)
    }

    fn init(&self, p: &Problem<JOrthogonal, F>, x0: RowMat) -> Result<State> {
        j_orthogonal::check(&x0, p.signature(), "the starting point X")?;
        let adagrad = Adagrad::new(self.lr, x0.data().len());
        let beta = self.beta.unwrap_or_else(|| curvature(p, &x0));
        Ok(State { at: OffGroup::new(p, x0, beta), adagrad })
    }

    fn step(&self, p: &Problem<JOrthogonal, F>, st: &mut State) -> Step {
        let State { at, adagrad } = st;
        let (_, g) = merit(&p.f, &at.x, p.signature(), at.beta);
        let mut next = at.x.clone();
        next.data_mut().iter_mut().zip(adagrad.step(g.data())).for_each(|(v, d)| *v += d);
        let ended = lost(p, size(&next), self.norm_limit);
        if ended.is_some() {
            return Step::ended(ended);
        }
        Step::default().with_residual(at.take(p, next, (self.double, self.beta_max)))
    }

    fn current<'a>(&self, _: &Problem<JOrthogonal, F>, st: &'a State) -> Current<'a> {
        Current::new(&st.at.shown.x, st.at.shown.f)
    }

    fn finish(&self, p: &Problem<JOrthogonal, F>, st: State) -> Ending {
        let mut details = Details::of(self, Self::LIST);
        details.set("beta_at_end", st.at.beta);
        st.at.finish(p, details)
    }
}
