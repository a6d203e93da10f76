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
    Linearised, SCOPE, check_splitting, confirmed, curvature, end, least_beta, plus, project, prox,
    pull_back, shifted_multiplier, slope, stationarity, suits_splitting,
};
use orthopt_core::composite::Composite;
use orthopt_core::concave::Concave;
use orthopt_core::constraint::stiefel::{self, tangent};
use orthopt_core::linear_map::LinearMap;
use orthopt_core::nonsmooth::Nonsmooth;
use orthopt_core::options::{Constants, constants};
use orthopt_core::smooth::Smooth;
use orthopt_core::solve::info::SolverInfo;
use orthopt_core::solve::{AnySolver, Confirmed, Current, Details, Ending, Solver, Step};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::Result;

/// What the registry says of it.
pub const fn info<
    F: Smooth + 'static,
    H: Nonsmooth + 'static,
    G: Concave + 'static,
    A: LinearMap + 'static,
>() -> SolverInfo<Composite<F, H, G, A>> {
    SolverInfo {
        name: "radmm",
        doc: "Riemannian ADMM with fixed penalty, smoothing and step",
        constants: Radmm::LIST,
        shared: &[],
        handles: &|p| suits_splitting(&p.h),
        scope: SCOPE,
        make: &|o| Ok(AnySolver::new(info::<F, H, G, A>().configured(Radmm::DEFAULT, o)?)),
    }
}

constants! {
    /// The solver.
    pub struct Radmm {
        /// penalty parameter; chosen as 100 times the slope lambda of h unless set (papers: 100 and 1e4)
        beta ["β"]: Option<f64> = None, "a finite number > 0" if |v| v > 0.0;
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
    scale: f64,      // of f
    beta: f64,       // β, raised if h asks for it
    step: f64,       // 1/(βĀ² + L_f)
    now: Linearised, // ∇f(X), ξ
}

impl<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap> Solver<Composite<F, H, G, A>> for Radmm {
    type State = State;

    fn name(&self) -> &'static str {
        "radmm"
    }

    fn init(&self, p: &Composite<F, H, G, A>, x0: RowMat) -> Result<State> {
        let (n, r) = p.shape();
        stiefel::check(&x0, n, r, "the starting point X")?;
        check_splitting(&p.h)?;
        let abar = p.a.norm((n, r));
        let beta = self.beta.unwrap_or(100.0 * slope(p, &x0)).max(least_beta(&p.h, self.chi));
        let ax = p.a.apply(&x0);
        Ok(State {
            y: ax.clone(),
            ycheck: ax.clone(),
            z: RowMat::zeros(ax.nrows(), ax.ncols()),
            ax,
            scale: p.f.scale(&x0),
            beta,
            step: 1.0 / (beta * abar * abar + curvature(&p.f, &x0)),
            now: Linearised::at(p, &x0),
            x: x0,
        })
    }

    fn step(&self, p: &Composite<F, H, G, A>, st: &mut State) -> Step {
        self.iterate_once(p, st);
        Step::default()
    }

    fn current<'a>(&self, p: &Composite<F, H, G, A>, st: &'a State) -> Current<'a> {
        Current::new(&st.x, p.value(&st.x)).with_residual(Some(stationarity(
            p,
            &st.x,
            &st.ax,
            &st.y,
            &st.z,
            (&st.now, st.scale),
        )))
    }

    fn confirmed(&self, p: &Composite<F, H, G, A>, st: &State) -> Option<Confirmed> {
        confirmed(p, &st.x, &st.ycheck, &st.z)
    }

    fn finish(&self, p: &Composite<F, H, G, A>, st: State) -> Ending {
        let mut details = Details::of(self, Self::LIST);
        details.chosen("beta", st.beta);
        details.set("mu", self.chi / st.beta);
        details.set("step", st.step);
        end(p, details, None, st.x, &st.ycheck, &st.z)
    }
}

impl Radmm {
    fn iterate_once<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &self,
        p: &Composite<F, H, G, A>,
        st: &mut State,
    ) {
        let (beta, chi) = (st.beta, self.chi);
        let g = st.now.plus(pull_back(p, shifted_multiplier(&st.ax, &st.y, &st.z, beta)));
        st.x = project(&plus(st.x.clone(), -st.step, &tangent(&st.x, &g)));
        st.now.update(p, &st.x);
        st.ax = p.a.apply(&st.x);
        let b = plus(st.ax.clone(), 1.0 / beta, &st.z);
        st.ycheck = prox(&p.h, &b, (chi + 1.0) / beta);
        for ((y, check), b) in st.y.data_mut().iter_mut().zip(st.ycheck.data()).zip(b.data()) {
            *y = (check + chi * b) / (1.0 + chi);
        }
        st.z = shifted_multiplier(&st.ax, &st.y, &st.z, beta);
    }
}
