//! SOC: splitting orthogonality constraints, ADMM for f(X) + h(Q), X = P = Q, PᵀP = I (Lai, Osher
//! 2014; Ozoliņš, Lai, Caflisch, Osher 2013, Algorithm 1; constants of the comparison in Chen et
//! al. 2020).
//!
//! ```text
//! for k = 0, 1, ...
//!   X ← argmin f(X) + β/2‖X − P + B‖² + β/2‖X − Q + b‖²            f linearised at the last X
//!   Q ← prox_{h/β}(X + b)
//!   P ← the orthonormal matrix nearest to X + B
//!   B ← B + X − P,   b ← b + X − Q                                scaled multipliers
//! ```
//!
//! The originals solve a linear system for X; here f is only known by its gradient, and a
//! linearisation majorises a concave f (for others (L/2)‖X − Xᵏ‖² is added). The X-problem is
//! bounded only for 2β > L: β = L is their default. X, P and Q agree in the limit: a feasible copy
//! made of P and Q is kept and handed out, and Q is what `raw` reports.
//!
//! The stationarity measure is (‖X − P‖ + ‖X − Q‖)/√r plus the violation of the condition for X,
//! bounded by what the iteration moved and relative to the largest ‖∇f‖ met.
//!
//! Cost per iteration: a gradient and 4nr² flops.

use super::proximal::{Feasible, Progressing, Relative, combine, curvature, distance, feasible_start};
use orthopt_core::constraint::Stiefel;
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::options::{Constants, constants};
use orthopt_core::problem::Problem;
use orthopt_core::smooth::Smooth;
use orthopt_core::solve::info::SolverInfo;
use orthopt_core::solve::{AnySolver, Confirmed, Current, Details, Ending, Solver, Status, Step};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::Result;
use orthopt_linalg::orthonormal::nearest;
use orthopt_linalg::simd::dispatch;

constants! {
    /// SOC.
    #[derive(Copy)]
    pub struct Soc {
        /// penalty parameter; chosen as L = ||hess f|| unless set
        beta ["β"]: Option<f64> = None, "a number > 0" if |v| v > 0.0;
    }
}

/// What the registry says of SOC.
pub const INFO: SolverInfo = info();

/// The same for any f and h of the kind.
pub const fn info<F: Smooth + 'static, H: Nonsmooth + 'static>() -> SolverInfo<Problem<Stiefel, F, H>> {
    SolverInfo {
        name: "soc",
        doc: "splitting of orthogonality constraints (Lai-Osher ADMM); feasible in the limit",
        constants: Soc::LIST,
        shared: &[],
        handles: &|_| true,
        scope: "every problem",
        make: &|o| Ok(AnySolver::new(INFO.configured(Soc::DEFAULT, o)?)),
    }
}

/// State of SOC.
#[derive(Clone, Debug)]
pub struct State {
    x: RowMat,      // Xᵏ, free
    p: RowMat,      // Pᵏ, orthonormal
    q: RowMat,      // Qᵏ, sparse
    bp: RowMat,     // B, scaled multiplier of X = P
    bq: RowMat,     // b, scaled multiplier of X = Q
    grad: RowMat,   // ∇f(Xᵏ)
    work: RowMat,   // n × r
    beta: f64,      // β
    lipschitz: f64, // L
    residual: f64,
    relative: Relative,
    best: Feasible,
    iterations: u64,
    progress: Progressing,
}

impl Soc {
    /// One iteration; how the method ended, if it did.
    fn advance<F: Smooth, H: Nonsmooth>(
        &self,
        p: &Problem<Stiefel, F, H>,
        st: &mut State,
    ) -> Option<(Status, &'static str)> {
        let beta = st.beta;
        let damping = if p.f.is_concave() { 0.0 } else { st.lipschitz };
        // X ← (β(P − B) + β(Q − b) + damping·X − ∇f(X))/(2β + damping)
        p.f.gradient(&st.x, &mut st.grad);
        st.relative.meet(&st.grad);
        let (x, pp, q) = (st.x.data(), st.p.data(), st.q.data());
        let (bp, bq, g) = (st.bp.data(), st.bq.data(), st.grad.data());
        let work = st.work.data_mut();
        let total = 2.0 * beta + damping;
        dispatch(|| {
            for k in 0..work.len() {
                work[k] = (beta * (pp[k] - bp[k] + q[k] - bq[k]) + damping * x[k] - g[k]) / total;
            }
        });
        let dx = distance(&st.work, &st.x);
        std::mem::swap(&mut st.x, &mut st.work);
        // Q ← prox_{h/β}(X + b)
        combine(&mut st.work, &st.x, 1.0, &st.bq);
        p.h.prox_rows(st.work.data_mut(), st.x.ncols(), 1.0 / beta);
        let dq = distance(&st.work, &st.q);
        std::mem::swap(&mut st.q, &mut st.work);
        // P ← nearest(X + B)
        combine(&mut st.work, &st.x, 1.0, &st.bp);
        let mut p_next = st.p.clone();
        if !nearest(&st.work, &mut p_next) {
            return Some((Status::NumericalError, "the gradient or a multiplier is not finite"));
        }
        let dp = distance(&p_next, &st.p);
        st.p = p_next;
        // B ← B + X − P, b ← b + X − Q
        for (k, x) in st.x.data().iter().enumerate() {
            st.bp.data_mut()[k] += x - st.p.data()[k];
            st.bq.data_mut()[k] += x - st.q.data()[k];
        }
        let apart = distance(&st.x, &st.p) + distance(&st.x, &st.q);
        let primal = apart / (st.x.ncols() as f64).sqrt();
        // βb ∈ ∂h(Q) and βB normal to the manifold at P hold exactly; the X-problem up to this
        let dual = st.relative.to((st.lipschitz + damping) * dx + beta * (dp + dq));
        st.residual = primal + dual;
        st.iterations += 1;
        if st.best.is_due(st.iterations) {
            st.best.offer(p, &st.p, &st.q);
        }
        st.progress.note(st.best.objective, st.residual)
    }
}

impl<F: Smooth, H: Nonsmooth> Solver<Problem<Stiefel, F, H>> for Soc {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, x0: RowMat) -> Result<State> {
        let x0 = feasible_start(p, x0)?;
        let lipschitz = curvature(&p.f, &x0);
        let zeros = RowMat::zeros(x0.nrows(), x0.ncols());
        Ok(State {
            best: Feasible::new(p, &x0),
            p: x0.clone(),
            q: x0.clone(),
            x: x0,
            bp: zeros.clone(),
            bq: zeros.clone(),
            grad: zeros.clone(),
            work: zeros,
            beta: self.beta.unwrap_or(lipschitz),
            lipschitz,
            residual: f64::INFINITY,
            relative: Relative::default(),
            iterations: 0,
            progress: Progressing::default(),
        })
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> Step {
        Step::ended(self.advance(p, st))
    }

    fn current<'a>(&self, _: &Problem<Stiefel, F, H>, st: &'a State) -> Current<'a> {
        st.best.current(st.residual)
    }

    fn confirmed(&self, p: &Problem<Stiefel, F, H>, st: &State) -> Option<Confirmed> {
        st.best.confirmed(p, &st.p, &st.q)
    }

    fn finish(&self, p: &Problem<Stiefel, F, H>, st: State) -> Ending {
        let mut details = Details::of(self, INFO.constants);
        details.chosen("beta", st.beta);
        details.set("iterations", st.iterations);
        st.best.finish(p, (&st.p, &st.q), &st.q, details)
    }
}
