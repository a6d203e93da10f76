//! Code shared by the splitting methods: their view of the terms, and the choice of the point to return.

use crate::prelude::*;
use crate::proximal::estimated_curvature;
use orthopt_core::composite::{CritParts, crit_parts, relative_criticality};
use orthopt_core::objective::{count_nonzeros, without_tiny};
use orthopt_core::solve::{Raw, Splitting};
use orthopt_linalg::kernels::axpy;
use orthopt_linalg::small::polar;

/// Aᵀ(W).
pub(crate) fn pull_back<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
    p: &Composite<F, H, G, A>,
    w: RowMat,
) -> RowMat {
    if p.a.is_identity() { w } else { p.a.adjoint(&w, p.shape()) }
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

/// prox_{τh}(B).
pub(crate) fn prox(h: &impl Nonsmooth, b: &RowMat, tau: f64) -> RowMat {
    let mut out = b.clone();
    h.prox_rows(out.data_mut(), b.ncols(), tau);
    out
}

/// The smooth and concave parts at one X.
#[derive(Clone, Debug)]
pub(crate) struct Linearised {
    pub grad_f: RowMat,     // ∇f(X)
    pub value: Option<f64>, // f(X), kept where f is not quadratic
    pub xi: RowMat,         // ξ ∈ ∂g(X)
}

impl Linearised {
    /// At X. Cost of a gradient.
    pub fn at<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        p: &Composite<F, H, G, A>,
        x: &RowMat,
    ) -> Self {
        let zeros = RowMat::zeros(x.nrows(), x.ncols());
        let mut out = Self { grad_f: zeros.clone(), value: None, xi: zeros };
        out.update(p, x);
        out
    }

    /// At another X.
    pub fn update<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &mut self,
        p: &Composite<F, H, G, A>,
        x: &RowMat,
    ) {
        self.value = value_where_needed(&p.f, x, &mut self.grad_f);
        if !p.g.is_zero() {
            p.g.subgradient(x, &mut self.xi);
        }
    }

    /// ∇f(X) − ξ + W.
    pub fn plus(&self, w: RowMat) -> RowMat {
        plus(plus(w, 1.0, &self.grad_f), -1.0, &self.xi)
    }

    /// f(X⁺) − f(X) for X⁺ = X + `step`, where `next` is.
    pub fn change_of_f(&self, next: &Self, step: &RowMat) -> f64 {
        match (self.value, next.value) {
            (Some(now), Some(then)) => then - now,
            _ => quadratic_change(step, &self.grad_f, &next.grad_f),
        }
    }
}

/// G ← ∇f(X), and f(X) where differences of f cannot be had from gradients.
pub(crate) fn value_where_needed(f: &impl Smooth, x: &RowMat, g: &mut RowMat) -> Option<f64> {
    if f.is_quadratic() {
        f.gradient(x, g);
        return None;
    }
    Some(f.value_and_gradient(x, g))
}

/// f(X⁺) − f(X) from the gradients at both ends, exact for a quadratic f and free of the
/// cancellation between two totals: ½⟨X⁺ − X, ∇f(X⁺) + ∇f(X)⟩.
pub(crate) fn quadratic_change(step: &RowMat, g: &RowMat, g_new: &RowMat) -> f64 {
    0.5 * (step.inner(g) + step.inner(g_new))
}

/// The nearest point of the manifold; any orthonormal basis of the columns where X has lost rank.
pub(crate) fn project(x: &RowMat) -> RowMat {
    polar(x).unwrap_or_else(|| stiefel::orthonormalise(x))
}

/// L_f, from ∇f about X⁰ where f does not know it.
pub(crate) fn curvature(f: &impl Smooth, x0: &RowMat) -> f64 {
    f.step_curvature(x0.ncols()).unwrap_or_else(|| estimated_curvature(f, x0))
}

/// Slope λ of h per entry, the unit of penalty parameters; the scale of f where h = 0.
pub(crate) fn slope<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
    p: &Composite<F, H, G, A>,
    x0: &RowMat,
) -> f64 {
    let positive = |v: &f64| *v > 0.0;
    let slope = Some(p.h.lipschitz()).filter(positive);
    slope.or_else(|| Some(p.f.scale(x0)).filter(positive)).unwrap_or(1.0)
}

/// The β from which prox_{(χ+1)h/β} is single-valued for a weakly convex h, with 0.1 % to spare.
pub(crate) fn least_beta(h: &impl Nonsmooth, chi: f64) -> f64 {
    1.001 * (chi + 1.0) * h.weak_convexity().unwrap_or(0.0)
}

/// Largest ‖A(X) − y̌‖/(1 + ‖y̌‖), left by smoothing, at which a run ends if only the smoothed problem is solved.
const SMOOTHED: f64 = 1e-2;

/// Recomputed criticality of X and y̌ of a splitting method: the criticality of what would be returned. Where A is not the
/// identity, so that zeros of A(X) cannot be made exact, Crit(X, y̌, z) of the paper where that is smaller, relative to
/// its parts.
///
/// The stationarity of X with the multiplier z is that of a smoothed problem: with a large μ there is next to
/// nothing left of h in it, and it says nothing of F.
pub(crate) fn confirmed<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
    p: &Composite<F, H, G, A>,
    x: &RowMat,
    ycheck: &RowMat,
    z: &RowMat,
) -> Option<Confirmed> {
    let CritParts { primal, dual, tangent } = crit_parts(p, x, ycheck, z);
    let gap = primal / (1.0 + ycheck.norm());
    let size = (p.f.scale(x) + p.gradient(x).norm()).max(f64::MIN_POSITIVE);
    let of_paper = gap.max((dual + tangent) / size);
    let best = Candidates::new(p, x, ycheck).best(x.clone());
    let returned = p.cleaned(&best).unwrap_or(best);
    let why =
        "critical for the smoothed penalty only; the smoothing error falls too slowly to reach the tolerance";
    let of_x = relative_criticality(p, &returned);
    let found = Confirmed::new(if p.a.is_identity() { of_x } else { of_x.min(of_paper) });
    Some(found.or_ends((gap <= SMOOTHED).then_some(why)))
}

/// Points of a splitting method at its end: X on the manifold, and polar(y̌), which keeps most of the zeros of the prox
/// output.
#[derive(Clone, Debug)]
pub(crate) struct Candidates {
    objective_x: f64,
    sparse: Option<(RowMat, f64)>, // polar(y̌) and F there
}

impl Candidates {
    /// F at X and at polar(y̌); the latter exists where A = I and y̌ has rank r.
    pub fn new<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        p: &Composite<F, H, G, A>,
        x: &RowMat,
        ycheck: &RowMat,
    ) -> Self {
        let sparse = if p.a.is_identity() { polar(ycheck) } else { None };
        let sparse = sparse.map(|s| {
            let value = p.value(&s);
            (s, value)
        });
        Self { objective_x: p.value(x), sparse }
    }

    /// X alone.
    pub fn single<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        p: &Composite<F, H, G, A>,
        x: &RowMat,
    ) -> Self {
        Self { objective_x: p.value(x), sparse: None }
    }

    /// True if polar(y̌) is the better one.
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
    pub fn report(&self) -> Splitting {
        Splitting {
            x: self.objective_x,
            sparse: self.sparse.as_ref().map(|s| s.1),
            returned_sparse: self.takes_sparse(),
            mu_norm_z: None,
            crit: None,
        }
    }
}

/// The prox output as the infeasible iterate of the papers.
pub(crate) fn raw<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
    p: &Composite<F, H, G, A>,
    ycheck: &RowMat,
) -> Option<Raw> {
    p.a.is_identity().then(|| Raw {
        objective: p.objective(ycheck).total,
        feasibility: p.feasibility(ycheck),
        nnz: count_nonzeros(&without_tiny(ycheck)),
    })
}

/// The end of a splitting method that is at (X, y̌, z); `mu_norm_z` is μ‖z‖, where there is a smoothing.
pub(crate) fn end<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
    p: &Composite<F, H, G, A>,
    details: Details,
    mu_norm_z: Option<f64>,
    x: RowMat,
    ycheck: &RowMat,
    z: &RowMat,
) -> Ending {
    let candidates = Candidates::new(p, &x, ycheck);
    let crit = crit_parts(p, &x, ycheck, z);
    let crit = Some([crit.primal, crit.dual, crit.tangent]);
    let splitting = Some(Splitting { crit, mu_norm_z, ..candidates.report() });
    let raw = raw(p, ycheck);
    Ending::new(candidates.best(x), details).with_raw(raw).with_splitting(splitting)
}
