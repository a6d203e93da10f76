//! MADMM: manifold ADMM with an inner Riemannian solver (Kovnatsky, Glashoff, Bronstein 2016).
//!
//! ```text
//! X⁺ ≈ argmin f − ⟨ξ, X⟩ + ⟨z, A(X)⟩ + β/2‖A(X) − y‖²   (a few Barzilai–Borwein steps)
//! y⁺ = prox_{h/β}(A(X⁺) + z/β),  z⁺ = z + β(A(X⁺) − y⁺)
//! ```
//!
//! β is fixed. Cost per iteration: a gradient and O(nr²) for every trial step.

use super::descent::{Descent, Inner};
use super::splitting::{
    Linearised, SCOPE, check_splitting, confirmed, curvature, end, least_beta, plus, prox, pull_back,
    quadratic_change, shifted_multiplier, slope, stationarity, suits_splitting, value_where_needed,
};
use orthopt_core::composite::Composite;
use orthopt_core::concave::Concave;
use orthopt_core::constraint::stiefel;
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
        name: "madmm",
        doc: "manifold ADMM with an inner Riemannian solver",
        constants: Madmm::LIST,
        shared: &[],
        handles: &|p| suits_splitting(&p.h),
        scope: SCOPE,
        make: &|o| Ok(AnySolver::new(info::<F, H, G, A>().configured(Madmm::DEFAULT, o)?)),
    }
}

constants! {
    /// The solver.
    pub struct Madmm {
        /// penalty parameter; chosen as 10 times the slope lambda of h unless set
        beta ["β"]: Option<f64> = None, "a finite number > 0" if |v| v > 0.0;
        /// steps of the inner solver, at most
        inner [""]: u64 = 5, "a whole number >= 1" if |v| v >= 1.0;
    }
}

/// Its state.
#[derive(Clone, Debug)]
pub struct State {
    x: RowMat,       // X
    ax: RowMat,      // A(X)
    y: RowMat,       // y
    z: RowMat,       // z
    scale: f64,      // of f
    beta: f64,       // β
    step: f64,       // first step of the inner solver
    now: Linearised, // ∇f(X), ξ
    inner: u64,      // inner steps so far
}

impl<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap> Solver<Composite<F, H, G, A>> for Madmm {
    type State = State;

    fn name(&self) -> &'static str {
        "madmm"
    }

    fn init(&self, p: &Composite<F, H, G, A>, x0: RowMat) -> Result<State> {
        let (n, r) = p.shape();
        stiefel::check(&x0, n, r, "the starting point X")?;
        check_splitting(&p.h)?;
        let abar = p.a.norm((n, r));
        let beta = self.beta.unwrap_or(10.0 * slope(p, &x0)).max(least_beta(&p.h, 0.0));
        let ax = p.a.apply(&x0);
        Ok(State {
            y: ax.clone(),
            z: RowMat::zeros(ax.nrows(), ax.ncols()),
            ax,
            scale: p.f.scale(&x0),
            beta,
            step: 1.0 / (beta * abar * abar + curvature(&p.f, &x0)),
            now: Linearised::at(p, &x0),
            x: x0,
            inner: 0,
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
        confirmed(p, &st.x, &st.y, &st.z)
    }

    fn finish(&self, p: &Composite<F, H, G, A>, st: State) -> Ending {
        let mut details = Details::of(self, Self::LIST);
        details.chosen("beta", st.beta);
        details.set("inner_steps", st.inner);
        end(p, details, None, st.x, &st.y, &st.z)
    }
}

impl Madmm {
    fn iterate_once<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &self,
        p: &Composite<F, H, G, A>,
        st: &mut State,
    ) {
        let subproblem = Subproblem { p, xi: &st.now.xi, y: &st.y, z: &st.z, beta: st.beta };
        let mut descent = Descent::new(&subproblem, st.x.clone(), st.step);
        for _ in 0..self.inner {
            if !descent.advance(&subproblem) {
                break;
            }
            st.inner += 1;
        }
        st.x = descent.x;
        st.now.update(p, &st.x);
        st.ax = p.a.apply(&st.x);
        st.y = prox(&p.h, &plus(st.ax.clone(), 1.0 / st.beta, &st.z), 1.0 / st.beta);
        st.z = shifted_multiplier(&st.ax, &st.y, &st.z, st.beta);
    }
}

/// What is known of the problem in X at one X.
#[derive(Clone, Debug)]
struct Point {
    gradient: RowMat,              // Euclidean
    beyond: Option<(f64, RowMat)>, // f and ∇f, where f is not quadratic
}

/// The problem in X. But for f it is quadratic: its change is half of ⟨X⁺ − X, both gradients⟩.
struct Subproblem<'a, F, H, G, A> {
    p: &'a Composite<F, H, G, A>,
    xi: &'a RowMat,
    y: &'a RowMat,
    z: &'a RowMat,
    beta: f64,
}

impl<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap> Inner for Subproblem<'_, F, H, G, A> {
    type Point = Point;

    fn at(&self, x: &RowMat) -> Point {
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        let value = value_where_needed(&self.p.f, x, &mut g);
        let beyond = value.map(|f| (f, g.clone()));
        let w = shifted_multiplier(&self.p.a.apply(x), self.y, self.z, self.beta);
        Point { gradient: plus(plus(g, -1.0, self.xi), 1.0, &pull_back(self.p, w)), beyond }
    }

    fn gradient(&self, at: &Point) -> RowMat {
        at.gradient.clone()
    }

    fn change(&self, from: &Point, to: &Point, step: &RowMat) -> f64 {
        let change = quadratic_change(step, &from.gradient, &to.gradient);
        match (&from.beyond, &to.beyond) {
            (Some((f, g)), Some((f_new, g_new))) => change + (f_new - f - quadratic_change(step, g, g_new)),
            _ => change,
        }
    }
}
