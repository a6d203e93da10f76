//! UMCM, the unconstrained multiplier correction method (JOBCD paper, Appendix F.4):
//! Adagrad on
//!
//! ```text
//! f(X) − ½⟨JXᵀ∇f(X), R⟩ + ½β‖R‖²_F,     R = XᵀJX − J
//! ```
//!
//! About 16n³ flops an iteration, and a product with the Hessian.

use super::adagrad::Adagrad;
use super::{Shown, is_looked_at, lost, raw, size};
use orthopt_core::constraint::JOrthogonal;
use orthopt_core::constraint::j_orthogonal::{self, Signature, residual};
use orthopt_core::options::{Constants, constants};
use orthopt_core::problem::{JProblem, Problem};
use orthopt_core::smooth::HessianVector;
use orthopt_core::solve::info::SolverInfo;
use orthopt_core::solve::{AnySolver, Current, Details, Ending, Fades, Profile, Solver, Status, Step};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::Result;
use orthopt_linalg::factor::transpose;
use orthopt_linalg::products::{cross, product};

/// What the registry says of UMCM.
pub const INFO: SolverInfo<JProblem> = info();

/// The same for any f of the kind.
pub const fn info<F: HessianVector + 'static>() -> SolverInfo<Problem<JOrthogonal, F>> {
    SolverInfo {
        name: "umcm",
        doc: "unconstrained multiplier correction with Adagrad: infeasible until the end",
        constants: Umcm::LIST,
        shared: &[],
        handles: &|_| true,
        scope: "every f",
        make: &|o| Ok(AnySolver::new(INFO.configured(Umcm::DEFAULT, o)?)),
    }
}

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
    x: RowMat, // Xᵗ
    beta: f64, // β
    beta0: f64,
    adagrad: Adagrad,
    iterations: u64,
    shown: Shown,
    ended: Option<(Status, &'static str)>,
}

impl<F: HessianVector> Solver<Problem<JOrthogonal, F>> for Umcm {
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
        let estimate = || (p.gradient(&x0).norm() / x0.norm().max(1.0)).max(f64::MIN_POSITIVE);
        let usual = || p.f.lipschitz().filter(|l| *l > 0.0).unwrap_or_else(estimate);
        let beta = self.beta.unwrap_or_else(usual);
        Ok(State {
            beta,
            beta0: beta,
            adagrad: Adagrad::new(self.lr, x0.data().len()),
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
        details.set("beta_at_end", st.beta);
        details.set("misses", st.shown.misses);
        let raw = Some(raw(p, &st.x));
        if st.iterations > 0 && !is_looked_at(st.iterations) {
            st.shown.offer(p, &st.x);
        }
        Ending::new(st.shown.x, details).with_raw(raw)
    }
}

impl Umcm {
    fn iterate_once<F: HessianVector>(&self, p: &Problem<JOrthogonal, F>, st: &mut State) -> Option<f64> {
        let (_, g) = merit(&p.f, &st.x, p.signature(), st.beta);
        let step = st.adagrad.step(g.data());
        let mut next = st.x.clone();
        next.data_mut().iter_mut().zip(step).for_each(|(v, d)| *v += d);
        st.ended = lost(p, size(&next), self.norm_limit);
        if st.ended.is_some() {
            return None;
        }
        st.x = next;
        st.iterations += 1;
        if self.double > 0 && st.iterations.is_multiple_of(self.double) && st.beta <= self.beta_max * st.beta0
        {
            st.beta *= 2.0;
        }
        is_looked_at(st.iterations).then(|| st.shown.offer(p, &st.x))
    }
}
