//! ADMM for min f(X), XᵀY = J, Y = JX (JOBCD paper, Appendix F.3; docs/mathematics.md, section 9, C14).
//!
//! ```text
//! X⁺ = −(l I + β(YYᵀ + I))⁻¹ (∇f(X) − l X + Y Zᵀ + J W − β Y J − β J Y)
//! Y⁺ = −(β(X⁺X⁺ᵀ + I))⁻¹ (X⁺ Z − W − β X⁺ J − β J X⁺)
//! Z⁺ = Z + β(X⁺ᵀY⁺ − J),   W⁺ = W + β(J X⁺ − Y⁺)
//! ```
//!
//! The printed updates are not stationary points of their subproblems; these are. Start Y⁰ = JX⁰
//! (the printed Y⁰ = X⁰ is infeasible). Two definite solves and eight products, about 20n³ flops.

use super::{OffGroup, curvature, lost, profile, size};
use crate::EVERY_F;
use orthopt_core::constraint::JOrthogonal;
use orthopt_core::constraint::j_orthogonal::{self, Signature};
use orthopt_linalg::factor::solve_definite;
use orthopt_linalg::products::{cross, product};
use orthopt_solvers::prelude::*;

/// Entry of the registry.
pub const INFO: Preset<Admm> =
    Preset::new("j-admm", "ADMM on X'Y = J, Y = JX: infeasible until the end", EVERY_F);

constants! {
    /// The solver.
    pub struct Admm {
        /// penalty at the start; L_f or an estimate unless set
        beta ["β"]: Option<f64> = None, "a finite number > 0" if |v| v > 0.0;
        /// constant of the majoriser of f, at least L_f; L_f or an estimate unless set
        l ["l"]: Option<f64> = None, "a finite number > 0" if |v| v > 0.0;
        /// iterations after which beta doubles (papers: 5); 0 never
        double [""]: u64 = 100, "a whole number >= 0" if |v| v >= 0.0;
        /// beta does not double beyond this many times its start
        beta_max [""]: f64 = 1e9, "a finite number > 0" if |v| v > 0.0;
        /// entry of X at which a run with an unbounded f ends
        norm_limit [""]: f64 = 1e4, "a finite number > 0" if |v| v > 0.0;
    }
}

/// State of ADMM.
#[derive(Clone, Debug)]
pub struct State {
    at: OffGroup, // Xᵗ and β
    y: RowMat,    // Yᵗ ≈ JXᵗ
    z: RowMat,    // Zᵗ, multiplier of XᵀY = J
    w: RowMat,    // Wᵗ, multiplier of Y = JX
    l: f64,       // l
}

/// One iteration from (X, Y, Z, W); `grad` is ∇f(X). `None` where a system is not definite or not
/// finite.
pub fn admm_update(
    (x, y, z, w): (&RowMat, &RowMat, &RowMat, &RowMat),
    grad: &RowMat,
    j: &Signature,
    beta: f64,
    l: f64,
) -> Option<(RowMat, RowMat, RowMat, RowMat)> {
    let n = x.nrows();
    // β(AAᵀ + I) + shift·I
    let system = |a: &RowMat, shift: f64| {
        let mut m = RowMat::zeros(n, n);
        product(&mut m, false, beta, a.as_mat(), a.as_mat().transpose());
        (0..n).for_each(|i| m.set(i, i, m.get(i, i) + beta + shift));
        m
    };
    let (yj, jy, jw) = (j.times_right(y), j.times(y), j.times(w));
    let mut rhs = RowMat::from_fn(n, n, |a, b| {
        l * x.get(a, b) - grad.get(a, b) - jw.get(a, b) + beta * (yj.get(a, b) + jy.get(a, b))
    });
    product(&mut rhs, true, -1.0, y.as_mat(), z.as_mat().transpose());
    let x = solve_definite(&system(y, l), &rhs)?;

    let (xj, jx) = (j.times_right(&x), j.times(&x));
    let mut rhs = RowMat::from_fn(n, n, |a, b| w.get(a, b) + beta * (xj.get(a, b) + jx.get(a, b)));
    product(&mut rhs, true, -1.0, x.as_mat(), z.as_mat());
    let y = solve_definite(&system(&x, 0.0), &rhs)?;

    let xty = cross(&x, &y);
    let z = RowMat::from_fn(n, n, |a, b| {
        z.get(a, b) + beta * (xty.get(a, b) - if a == b { j.sign(a) } else { 0.0 })
    });
    let w = RowMat::from_fn(n, n, |a, b| w.get(a, b) + beta * (jx.get(a, b) - y.get(a, b)));
    Some((x, y, z, w))
}

impl<F: Smooth> Solver<Problem<JOrthogonal, F>> for Admm {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn behaviour(&self, p: &Problem<JOrthogonal, F>) -> Behaviour {
        profile(p)
    }

    fn init(&self, p: &Problem<JOrthogonal, F>, x0: RowMat) -> Result<State> {
        j_orthogonal::check(&x0, p.signature(), "the starting point X")?;
        let n = p.order();
        let l = self.l.unwrap_or_else(|| curvature(p, &x0));
        Ok(State {
            y: p.signature().times(&x0),
            z: RowMat::zeros(n, n),
            w: RowMat::zeros(n, n),
            l,
            at: OffGroup::new(p, x0, self.beta.unwrap_or(l)),
        })
    }

    fn step(&self, p: &Problem<JOrthogonal, F>, st: &mut State) -> Step {
        let at = &st.at;
        let now = (&at.x, &st.y, &st.z, &st.w);
        let next = admm_update(now, &p.gradient(&at.x), p.signature(), at.beta, st.l);
        let reach = next.as_ref().map_or(f64::INFINITY, |next| size(&next.0));
        let ended = lost(p, reach, self.norm_limit);
        let Some((x, y, z, w)) = next.filter(|_| ended.is_none()) else { return Step::ended(ended) };
        (st.y, st.z, st.w) = (y, z, w);
        let residual = st.at.take(p, x, (self.double, self.beta_max));
        Step::default().with_residual(residual)
    }

    fn current<'a>(&self, _: &Problem<JOrthogonal, F>, st: &'a State) -> Current<'a> {
        Current::new(&st.at.shown.x, st.at.shown.f)
    }

    fn finish(&self, p: &Problem<JOrthogonal, F>, st: State) -> Ending {
        let mut details = Details::of(self, Self::LIST);
        details.chosen("l", st.l);
        details.set("beta_at_end", st.at.beta);
        st.at.finish(p, details)
    }
}
