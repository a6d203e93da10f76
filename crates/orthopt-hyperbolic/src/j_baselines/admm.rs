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

use super::{Shown, is_looked_at, lost, raw, size};
use orthopt_core::constraint::JOrthogonal;
use orthopt_core::constraint::j_orthogonal::{self, Signature};
use orthopt_core::options::{Constants, constants};
use orthopt_core::problem::{JProblem, Problem};
use orthopt_core::smooth::Smooth;
use orthopt_core::solve::info::SolverInfo;
use orthopt_core::solve::{AnySolver, Current, Details, Ending, Fades, Profile, Solver, Status, Step};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::Result;
use orthopt_linalg::factor::solve_definite;
use orthopt_linalg::products::{cross, product};

/// What the registry says of ADMM.
pub const INFO: SolverInfo<JProblem> = info();

/// The same for any f of the kind.
pub const fn info<F: Smooth + 'static>() -> SolverInfo<Problem<JOrthogonal, F>> {
    SolverInfo {
        name: "j-admm",
        doc: "ADMM on X'Y = J, Y = JX: infeasible until the end",
        constants: Admm::LIST,
        shared: &[],
        handles: &|_| true,
        scope: "every f",
        make: &|o| Ok(AnySolver::new(INFO.configured(Admm::DEFAULT, o)?)),
    }
}

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
    x: RowMat, // Xᵗ
    y: RowMat, // Yᵗ ≈ JXᵗ
    z: RowMat, // Zᵗ, multiplier of XᵀY = J
    w: RowMat, // Wᵗ, multiplier of Y = JX
    beta: f64, // β
    beta0: f64,
    l: f64, // l
    iterations: u64,
    shown: Shown,
    ended: Option<(Status, &'static str)>,
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

    /// A point of the group takes much longer than the rest of an iteration.
    fn profile(&self, p: &Problem<JOrthogonal, F>) -> Profile {
        let fades = if p.f.is_quadratic() { Fades::Iterations } else { Fades::Work };
        Profile { closing_steps: 1.0, ..Profile::fading(fades) }
    }

    fn init(&self, p: &Problem<JOrthogonal, F>, x0: RowMat) -> Result<State> {
        j_orthogonal::check(&x0, p.signature(), "the starting point X")?;
        let n = p.order();
        let estimate = || (p.gradient(&x0).norm() / x0.norm().max(1.0)).max(f64::MIN_POSITIVE);
        let l = self.l.or(p.f.lipschitz().filter(|l| *l > 0.0)).unwrap_or_else(estimate);
        Ok(State {
            y: p.signature().times(&x0),
            z: RowMat::zeros(n, n),
            w: RowMat::zeros(n, n),
            beta: self.beta.unwrap_or(l),
            beta0: self.beta.unwrap_or(l),
            l,
            iterations: 0,
            shown: Shown::new(p, x0.clone()),
            ended: None,
            x: x0,
        })
    }

    fn step(&self, p: &Problem<JOrthogonal, F>, st: &mut State) -> Step {
        let residual = self.iterate_once(p, st);
        Step::ended(st.ended).with_residual(residual)
    }

    fn current<'a>(&self, _: &Problem<JOrthogonal, F>, st: &'a State) -> Current<'a> {
        Current::new(&st.shown.x, st.shown.f)
    }

    fn finish(&self, p: &Problem<JOrthogonal, F>, mut st: State) -> Ending {
        let mut details = Details::of(self, Self::LIST);
        details.chosen("l", st.l);
        details.set("beta_at_end", st.beta);
        details.set("misses", st.shown.misses);
        let raw = Some(raw(p, &st.x));
        if st.iterations > 0 && !is_looked_at(st.iterations) {
            st.shown.offer(p, &st.x);
        }
        Ending::new(st.shown.x, details).with_raw(raw)
    }
}

impl Admm {
    fn iterate_once<F: Smooth>(&self, p: &Problem<JOrthogonal, F>, st: &mut State) -> Option<f64> {
        let grad = p.gradient(&st.x);
        let now = (&st.x, &st.y, &st.z, &st.w);
        let Some((x, y, z, w)) = admm_update(now, &grad, p.signature(), st.beta, st.l) else {
            st.ended = lost(p, f64::INFINITY, self.norm_limit);
            return None;
        };
        st.ended = lost(p, size(&x), self.norm_limit);
        if st.ended.is_some() {
            return None;
        }
        (st.x, st.y, st.z, st.w) = (x, y, z, w);
        st.iterations += 1;
        if self.double > 0 && st.iterations.is_multiple_of(self.double) && st.beta <= self.beta_max * st.beta0
        {
            st.beta *= 2.0;
        }
        is_looked_at(st.iterations).then(|| st.shown.offer(p, &st.x))
    }
}
