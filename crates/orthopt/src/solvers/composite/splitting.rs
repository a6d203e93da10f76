//! What the splitting methods share: their view of the terms, and the choice of what to return.

use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::composite::{CritParts, Terms, distance};
use crate::concave::Concave;
use crate::constraint::stiefel;
use crate::error::Result;
use crate::linalg::RowMat;
use crate::linalg::kernels::axpy;
use crate::linalg::products::cross;
use crate::linalg::small::{polar, symmetric_eigen};
use crate::linear_map::LinearMap;
use crate::nonsmooth::Nonsmooth;
use crate::objective::count_nonzeros;
use crate::options::checked;
use crate::penalty::AnyPenalty;
use crate::smooth::{Quadratic, Smooth};
use crate::solve::{Raw, Settings};
use crate::solvers::{SolverInfo, SolverOptions};

/// A constant of a solver by name, checked.
pub(crate) struct Constants<'a, P: 'static> {
    pub info: &'a SolverInfo<P>,
    pub options: &'a SolverOptions,
}

impl<P> Constants<'_, P> {
    /// The constant `name`, which has a default.
    pub fn get(&self, name: &str, expected: &str, accepted: impl Fn(f64) -> bool) -> Result<f64> {
        let value = self.options.value(self.info, name);
        checked(&format!("{}-{name}", self.info.name), value, expected, accepted)
    }

    /// The constant `name`, which is chosen from the data unless it was set.
    pub fn optional(
        &self,
        name: &str,
        expected: &str,
        accepted: impl Fn(f64) -> bool,
    ) -> Result<Option<f64>> {
        match self.options.constant(self.info, name) {
            Some(_) => self.get(name, expected, accepted).map(Some),
            None => Ok(None),
        }
    }

    /// The constant `name` as a switch.
    pub fn flag(&self, name: &str) -> Result<bool> {
        Ok(self.get(name, "0 or 1", |v| v == 0.0 || v == 1.0)? == 1.0)
    }
}

pub(crate) const POSITIVE: &str = "a finite number > 0";

/// A(X).
pub(crate) fn image(p: &impl Terms, x: &RowMat) -> RowMat {
    p.map().apply(x)
}

/// Aᵀ(W).
pub(crate) fn pull_back(p: &impl Terms, w: RowMat) -> RowMat {
    if p.map().is_identity() { w } else { p.map().adjoint(&w, p.size()) }
}

/// z + β(A(X) − y), the multiplier that the quadratic term makes of z.
pub(crate) fn shifted_multiplier(ax: &RowMat, y: &RowMat, z: &RowMat, beta: f64) -> RowMat {
    let mut w = z.clone();
    for ((w, a), y) in w.data_mut().iter_mut().zip(ax.data()).zip(y.data()) {
        *w += beta * (a - y);
    }
    w
}

/// y + c·x.
pub(crate) fn plus(mut y: RowMat, c: f64, x: &RowMat) -> RowMat {
    axpy(c, x.data(), y.data_mut());
    y
}

/// prox_{τh}(B), entry by entry.
pub(crate) fn prox(h: &AnyPenalty, b: &RowMat, tau: f64) -> RowMat {
    let mut out = b.clone();
    match h {
        // one choice for all entries, not one for each
        AnyPenalty::L1(h) => out.data_mut().iter_mut().for_each(|v| *v = h.prox(*v, tau)),
        h => out.data_mut().iter_mut().for_each(|v| *v = h.prox(*v, tau)),
    }
    out
}

/// The smooth and concave parts at one X.
#[derive(Clone, Debug)]
pub(crate) struct Linearised {
    pub grad_f: RowMat, // ∇f(X)
    pub xi: RowMat,     // ξ ∈ ∂g(X)
}

impl Linearised {
    /// At X. Cost of a gradient.
    pub fn at(p: &impl Terms, x: &RowMat) -> Self {
        let mut out =
            Self { grad_f: RowMat::zeros(x.nrows(), x.ncols()), xi: RowMat::zeros(x.nrows(), x.ncols()) };
        out.update(p, x);
        out
    }

    /// At another X.
    pub fn update(&mut self, p: &impl Terms, x: &RowMat) {
        p.f().gradient(x, &mut self.grad_f);
        if !p.g().is_zero() {
            p.g().subgradient(x, &mut self.xi);
        }
    }

    /// ∇f(X) − ξ + W.
    pub fn plus(&self, w: RowMat) -> RowMat {
        plus(plus(w, 1.0, &self.grad_f), -1.0, &self.xi)
    }
}

/// f(X⁺) − f(X) from the gradients at both ends, exact for the quadratic f of this library and
/// free of the cancellation between two totals: ½⟨X⁺ − X, ∇f(X⁺) + ∇f(X)⟩.
pub(crate) fn quadratic_change(step: &RowMat, g: &RowMat, g_new: &RowMat) -> f64 {
    0.5 * (step.inner(g) + step.inner(g_new))
}

/// The nearest point of the manifold; any orthonormal basis of the columns where X has lost rank.
pub(crate) fn project(x: &RowMat) -> RowMat {
    polar(x).unwrap_or_else(|| stiefel::orthonormalise(x))
}

/// L_f. Where f is concave its linearisation majorises it whatever the curvature is, so a few
/// steps of subspace iteration are exact enough; a convex direction needs the true bound.
pub(crate) fn curvature(p: &impl Terms) -> f64 {
    const STEPS: usize = 12;
    let f = p.f();
    if !f.is_concave() {
        return f.lipschitz();
    }
    let (n, r) = p.size();
    let mut v = stiefel::random(n, r.min(4), &mut Pcg64::seed_from_u64(0x4c66));
    for _ in 0..STEPS {
        let w = f.apply(&v);
        if w.norm() == 0.0 || w.find_non_finite().is_some() {
            return 0.0;
        }
        v = stiefel::orthonormalise(&w);
    }
    let ritz = cross(&v, &f.apply(&v));
    symmetric_eigen(&ritz).map_or(0.0, |(values, _)| values.iter().fold(0.0f64, |a, w| a.max(w.abs())))
}

/// Slope λ of h per entry, the unit of penalty parameters; 1 where h = 0.
pub(crate) fn slope(p: &impl Terms) -> f64 {
    let slope = p.h().lipschitz();
    if slope > 0.0 { slope } else { 1.0 }
}

/// The β from which prox_{(χ+1)h/β} is single-valued for a weakly convex h, with 0.1 % to spare.
pub(crate) fn least_beta(p: &impl Terms, chi: f64) -> f64 {
    1.001 * (chi + 1.0) * p.h().weak_convexity().unwrap_or(0.0)
}

/// The larger of ‖A(X) − y‖/(1 + ‖y‖) and ‖Proj_T(∇f − ξ + Aᵀz)‖/(1 + its terms): stationarity,
/// up to what smoothing costs.
pub(crate) fn stationarity(
    p: &impl Terms,
    x: &RowMat,
    ax: &RowMat,
    y: &RowMat,
    z: &RowMat,
    at: &Linearised,
) -> f64 {
    let primal = distance(ax, y) / (1.0 + y.norm());
    let atz = pull_back(p, z.clone());
    let size = 1.0 + at.grad_f.norm() + at.xi.norm() + atz.norm();
    primal.max(stiefel::tangent(x, &at.plus(atz)).norm() / size)
}

/// What a splitting method has in hand when it ends: X on the manifold, and polar(y̌), which
/// keeps most of the zeros of the prox output.
#[derive(Clone, Debug)]
pub(crate) struct Candidates {
    objective_x: f64,
    sparse: Option<(RowMat, f64)>, // polar(y̌) and F there
}

impl Candidates {
    /// F at X and at polar(y̌); the latter exists where A = I and y̌ has rank r.
    pub fn new(p: &impl Terms, x: &RowMat, ycheck: &RowMat) -> Self {
        let sparse = if p.map().is_identity() { polar(ycheck) } else { None };
        let sparse = sparse.map(|s| {
            let value = p.value(&s);
            (s, value)
        });
        Self { objective_x: p.value(x), sparse }
    }

    /// X alone.
    pub fn single(p: &impl Terms, x: &RowMat) -> Self {
        Self { objective_x: p.value(x), sparse: None }
    }

    /// Whether polar(y̌) is the better one.
    fn takes_sparse(&self) -> bool {
        self.sparse.as_ref().is_some_and(|s| s.1 < self.objective_x)
    }

    /// The better of the two.
    pub fn best(self, x: RowMat) -> RowMat {
        match self.takes_sparse() {
            true => self.sparse.map_or(x, |s| s.0),
            false => x,
        }
    }

    /// F of both and which one is returned.
    pub fn report(&self, s: &mut Settings) {
        s.insert("objective_x".into(), self.objective_x.into());
        if let Some((_, value)) = &self.sparse {
            s.insert("objective_sparse".into(), (*value).into());
        }
        s.insert("returned".into(), if self.takes_sparse() { "polar(y_check)" } else { "X" }.into());
    }
}

/// The prox output as the infeasible iterate of the papers.
pub(crate) fn raw(p: &impl Terms, ycheck: &RowMat) -> Option<Raw> {
    p.map().is_identity().then(|| Raw {
        objective: p.objective(ycheck).total,
        feasibility: p.feasibility(ycheck),
        nnz: count_nonzeros(ycheck),
    })
}

/// Reports the terms of Crit.
pub(crate) fn report_crit(s: &mut Settings, crit: CritParts) {
    s.insert("crit_primal".into(), crit.primal.into());
    s.insert("crit_dual".into(), crit.dual.into());
    s.insert("crit_tangent".into(), crit.tangent.into());
}
