//! SPM: the smoothing penalty method (PADM in the first version of the OBCD paper) for
//! f(X) + h(X), XᵀX = I (Chen 2012; Lai, Osher 2014).
//!
//! ```text
//! h is replaced by its envelope min_Y h(Y) + β/2‖X − Y‖², β → ∞
//! for k = 0, 1, ...
//!   X ← the orthonormal matrix nearest to X − (∇f(X) + β(X − Y))/ℓ
//!   Y ← prox_{h/β}(X)
//!   β ← ρβ
//! ```
//!
//! ℓ = β for a concave f, else L + β. X is orthonormal but not sparse, Y is sparse but not
//! orthonormal: a feasible copy made of both is kept and handed out, and Y is what `raw` reports.
//!
//! The papers state neither β nor ρ. β must be in proportion to f: it begins at L/100, where the
//! iteration follows f alone, and grows by half a per cent until nothing moves any more. Without
//! multipliers X and Y meet in the limit β → ∞ only, where the steps are short: the point reached
//! need not be critical. The stationarity measure is that of LADMM with β(X − Y) for Z.
//!
//! For the same reason the first β decides the support where h counts entries: an entry of X off the
//! support of Y falls like 1/β, the threshold √(2λ/β) of the prox more slowly, so what is not in Y
//! early never gets in. ℓ0 PCA of randn:500:1000, r = 20, λ = 1 from the leading eigenvectors ends at
//! -1.27e4 with 1,500 nonzeros from β = L/100, at -1.60e4 with 6,300 from β = 2λn (a column that is
//! spread out evenly survives the first prox; the papers' SPM row says -1.58e4), at -1.37e4 from four
//! times that; for λ = 10 the same β = 2λn leaves X dense and F at +4e4, so it is no default. The
//! multipliers of LADMM lift such entries over the threshold: -1.73e4 from any of these starts.
//!
//! Cost per iteration: a gradient and 4nr² flops.

use super::proximal::{Feasible, Progressing, Relative, curvature, distance, feasible_start};
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
    /// SPM; the papers leave its constants open.
    #[derive(Copy)]
    pub struct Spm {
        /// first penalty parameter; chosen as L/100, L = ||hess f||, unless set
        beta ["β"]: Option<f64> = None, "a number > 0" if |v| v > 0.0;
        /// growth of beta per iteration
        rho ["ρ"]: f64 = 1.005, "above 1, at most 2" if |v| v > 1.0 && v <= 2.0;
        /// largest beta, in units of L
        most ["β/L"]: f64 = 1e6, "a number > 0" if |v| v > 0.0;
    }
}

/// What the registry says of SPM.
pub const INFO: SolverInfo = info();

/// The same for any f and h of the kind.
pub const fn info<F: Smooth + 'static, H: Nonsmooth + 'static>() -> SolverInfo<Problem<Stiefel, F, H>> {
    SolverInfo {
        name: "spm",
        doc: "smoothing penalty (PADM in the first version of the OBCD paper): alternating steps in an orthonormal X and a sparse copy; feasible in the limit",
        constants: Spm::LIST,
        shared: &[],
        handles: &|_| true,
        scope: "every problem",
        make: &|o| Ok(AnySolver::new(INFO.configured(Spm::DEFAULT, o)?)),
    }
}

/// First β in units of L.
const FIRST: f64 = 0.01;

/// State of SPM.
#[derive(Clone, Debug)]
pub struct State {
    x: RowMat,      // Xᵏ, orthonormal
    y: RowMat,      // Yᵏ, sparse
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

impl Spm {
    /// One iteration; how the method ended, if it did.
    fn advance<F: Smooth, H: Nonsmooth>(
        &self,
        p: &Problem<Stiefel, F, H>,
        st: &mut State,
    ) -> Option<(Status, &'static str)> {
        let beta = st.beta;
        let ell = if p.f.is_concave() { beta } else { st.lipschitz + beta };
        // X ← nearest(X − (∇f(X) + β(X − Y))/ℓ)
        p.f.gradient(&st.x, &mut st.grad);
        st.relative.meet(&st.grad);
        st.work.data_mut().copy_from_slice(st.x.data());
        let (x, y, g) = (st.x.data(), st.y.data(), st.grad.data());
        let work = st.work.data_mut();
        dispatch(|| {
            for k in 0..work.len() {
                work[k] -= (g[k] + beta * (x[k] - y[k])) / ell;
            }
        });
        let mut x_next = st.x.clone();
        if !nearest(&st.work, &mut x_next) {
            return Some((Status::NumericalError, "the gradient is not finite"));
        }
        let dx = distance(&x_next, &st.x);
        st.x = x_next;
        // Y ← prox_{h/β}(X)
        st.work.data_mut().copy_from_slice(st.x.data());
        p.h.prox_rows(st.work.data_mut(), st.x.ncols(), 1.0 / beta);
        let dy = distance(&st.work, &st.y);
        std::mem::swap(&mut st.y, &mut st.work);
        let apart = distance(&st.x, &st.y);
        // β(X − Y) ∈ ∂h(Y) holds exactly; the other two conditions up to these
        let dual = (st.lipschitz + beta + ell) * dx + beta * dy;
        let primal = apart / (st.x.ncols() as f64).sqrt();
        st.residual = primal + st.relative.to(dual);
        st.iterations += 1;
        st.beta = (beta * self.rho).min(self.most * st.lipschitz).max(beta);
        if st.beta > beta {
            st.progress.restart();
        }
        if st.best.is_due(st.iterations) {
            st.best.offer(p, &st.x, &st.y);
        }
        st.progress.note(st.best.objective, st.residual)
    }
}

impl<F: Smooth, H: Nonsmooth> Solver<Problem<Stiefel, F, H>> for Spm {
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
            y: x0.clone(),
            x: x0,
            grad: zeros.clone(),
            work: zeros,
            beta: self.beta.unwrap_or(FIRST * lipschitz),
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
        st.best.confirmed(p, &st.x, &st.y)
    }

    fn finish(&self, p: &Problem<Stiefel, F, H>, st: State) -> Ending {
        let mut details = Details::of(self, INFO.constants);
        details.chosen("beta", self.beta.unwrap_or(FIRST * st.lipschitz));
        details.set("beta_at_end", st.beta);
        details.set("iterations", st.iterations);
        st.best.finish(p, (&st.x, &st.y), &st.y, details)
    }
}
