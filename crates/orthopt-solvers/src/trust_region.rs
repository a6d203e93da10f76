//! Trust-region Newton-CG on the Stiefel manifold: min f(X), XᵀX = I, for a smooth f with products with its Hessian.
//!
//! ```text
//! ξ = P(∇f(X)),  P(Z) = Z − X·sym(XᵀZ)                        the gradient in the tangent space at X
//! Hd = P(∇²f(X)[d] − d·sym(Xᵀ∇f(X)))                          the Hessian on it
//! m(η) = f(X) + ⟨ξ, η⟩ + ½⟨η, Hη⟩                             the model of f(polar(X + η)), exact to second order
//!
//! η = 0,  r = ξ,  δ = −r                                      minimise m(η), ‖η‖ ≤ Δ, by truncated CG
//! until ‖r‖ ≤ ‖ξ‖·min(κ, (‖ξ‖/scale of f)^θ)
//!   α = ⟨r, r⟩/⟨δ, Hδ⟩
//!   if ⟨δ, Hδ⟩ ≤ 0 or ‖η + αδ‖ ≥ Δ:  η ← η + τδ, τ > 0, ‖η‖ = Δ, and end
//!   η ← η + αδ,  r⁺ = r + αHδ,  δ ← −r⁺ + δ⟨r⁺, r⁺⟩/⟨r, r⟩
//!
//! ρ = (f(X) − f(polar(X + η)) + ε)/(f(X) − m(η) + ε)          ε: rounding of f
//! X ← polar(X + η) if ρ > 0.1
//! Δ ← ¼‖η‖ if ρ < ¼,  min(2Δ, ‖X‖) if ρ > ¾ and ‖η‖ = Δ
//! ```
//!
//! Absil, Baker and Gallivan 2007, Algorithms 1 and 2; Steihaug 1983 and Toint 1981 for truncated CG. The order of convergence is
//! 1 + θ where the Hessian at the minimum is definite. θ = ½ also serves an f that depends on the span of X alone, whose Hessian has
//! a direction of curvature −O(‖ξ‖²) that CG meets at ‖r‖ = O(‖ξ‖²). ‖ξ‖ is measured by the scale of f, so that the unit of f
//! changes nothing.
//! ε keeps ρ near 1 where the decrease of f is lost in rounding, as `rho_regularization` of Manopt does; where m promises less
//! than ε, ‖ξ‖ has to fall by half instead. Cost of an iteration: f and ∇f once, and up to `inner` products with ∇²f, 6nr² flops each.

use crate::curvilinear::{NOISE, repair};
use crate::lbfgs::{Point, moved};
use crate::prelude::*;
use orthopt_core::objective::size;
use orthopt_core::smooth::HessianVector;
use orthopt_linalg::cancel::is_over;
use orthopt_linalg::kernels::axpy;
use orthopt_linalg::products::product;

/// Entry of the registry.
pub const INFO: Preset<TrustRegion> = Preset::new(
    "trust-region",
    "Newton's method by truncated CG in a trust region; for smooth f with a Hessian",
    DOMAIN,
);

const DOMAIN: Domain = Domain {
    words: "problems without a penalty (pca), with an f that has products with its Hessian",
    ..Domain::SMOOTH
};

/// True if h = 0 and f has products with its Hessian.
pub fn suits<F: HessianVector, H: Nonsmooth>(p: &Problem<Stiefel, F, H>) -> bool {
    p.h.is_zero() && p.f.has_hessian()
}

constants! {
    /// The solver.
    #[derive(Copy)]
    pub struct TrustRegion {
        /// CG ends where it has reduced the gradient of the model to this share
        kappa ["κ"]: f64 = 0.1, "a number in (0, 1)" if |v| v > 0.0 && v < 1.0;
        /// order of convergence beyond 1
        theta ["θ"]: f64 = 0.5, "a finite number >= 0" if |v| v >= 0.0;
        /// products with the Hessian in an iteration at the most
        inner [""]: usize = 2000, "a whole number from 1 to 1000000" if |v| (1.0..=1e6).contains(&v);
    }
}

/// The first Δ as a share of ‖X‖, which is the largest.
const FIRST: f64 = 0.125;
/// ρ above which a step is accepted, below which Δ shrinks, and above which it may grow.
const ACCEPTED: f64 = 0.1;
const POOR: f64 = 0.25;
const GOOD: f64 = 0.75;
/// √ε: a gradient of the model this much smaller leaves nothing but rounding where ‖ξ‖ is as small, and less is hardly to be had.
const CLOSEST: f64 = 1.5e-8;

/// State of the solver.
#[derive(Clone, Debug)]
pub struct State {
    now: Point,
    scale: f64,       // of f
    radius: f64,      // Δ
    evaluations: u64, // of f and ∇f
    products: u64,    // with ∇²f
    ended: Option<(Status, &'static str)>,
}

impl<F: HessianVector, H: Nonsmooth> Solver<Problem<Stiefel, F, H>> for TrustRegion {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, mut x0: RowMat) -> Result<State> {
        if !suits(p) {
            return Err(DOMAIN.refusal(INFO.name));
        }
        stiefel::check(&x0, p.nrows(), p.rank(), "the starting point X")?;
        repair(&mut x0);
        let scale = p.f.scale(&x0);
        let now = Point::new(&p.f, x0, scale);
        let radius = FIRST * now.x.norm();
        Ok(State { now, scale, radius, evaluations: 1, products: 0, ended: None })
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> Step {
        st.ended = if st.now.residual == 0.0 {
            Some((Status::Converged, "the Riemannian gradient is zero"))
        } else {
            self.iterate_once(&p.f, st)
        };
        Step::ended(st.ended)
    }

    fn current<'a>(&self, _: &Problem<Stiefel, F, H>, st: &'a State) -> Current<'a> {
        Current::new(&st.now.x, st.now.f).with_residual(Some(st.now.residual))
    }

    fn finish(&self, _: &Problem<Stiefel, F, H>, st: State) -> Ending {
        let mut details = Details::of(self, Self::LIST);
        details.set("evaluations", st.evaluations);
        details.set("hessian_products", st.products);
        Ending::new(st.now.x, details)
    }
}

/// η with what the model says of it.
struct Minimiser {
    eta: RowMat,
    promised: f64, // f(X) − m(η)
    at_edge: bool, // ‖η‖ = Δ
}

impl TrustRegion {
    /// A step that is accepted or not, and the next Δ; how the run ended if it did.
    fn iterate_once(&self, f: &impl HessianVector, st: &mut State) -> Option<(Status, &'static str)> {
        let Some(Minimiser { eta, promised, at_edge }) = self.truncated_cg(f, st) else {
            return Some((Status::NumericalError, "a product with the Hessian is not finite"));
        };
        let next = moved(&st.now.x, &eta, 1.0).map(|x| Point::new(f, x, st.scale));
        st.evaluations += u64::from(next.is_some());
        let noise = NOISE * size(st.scale, st.now.f);
        let rho = next.as_ref().map_or(f64::NAN, |x| (st.now.f - x.f + noise) / (promised + noise));
        if rho.is_nan() || rho < POOR {
            st.radius = 0.25 * eta.norm();
        } else if rho > GOOD && at_edge {
            st.radius = (2.0 * st.radius).min(st.now.x.norm());
        }
        // close to a minimum f no longer tells good steps from bad ones, its gradient does
        let level = promised <= noise;
        let gentler = |next: &Point| next.xi.norm() <= 0.5 * st.now.xi.norm();
        match next {
            Some(next) if rho > ACCEPTED && (!level || gentler(&next)) => st.now = next,
            _ if level => {
                let why = "no step in the trust region lowers f: a kink of f, a wrong gradient or Hessian, or rounding";
                return Some((Status::Stalled, why));
            }
            _ => {}
        }
        None
    }

    /// The minimiser of m in the trust region, approximately, and less so where time is over; `None` where a product is not finite.
    /// r and m are divided by ‖ξ‖, as
    /// the square of a small unit of f times the square of a small gradient would be 0.
    fn truncated_cg(&self, f: &impl HessianVector, st: &mut State) -> Option<Minimiser> {
        let (now, radius) = (&st.now, st.radius);
        let mut eta = RowMat::zeros(now.x.nrows(), now.x.ncols());
        // ξ has errors of rounding of ∇f off the tangent space, which no Hδ would take out of r
        let mut r = stiefel::tangent(&now.x, &now.xi);
        let length = r.norm();
        if length == 0.0 {
            return Some(Minimiser { eta, promised: 0.0, at_edge: false });
        }
        r.data_mut().iter_mut().for_each(|v| *v /= length);
        let mut delta = negative(&r);
        let mut square = r.inner(&r);
        let mut promised = 0.0;
        let target = self.kappa.min((length / st.scale).powf(self.theta).max(CLOSEST));
        // ‖η‖², ⟨η, δ⟩ and ‖δ‖²
        let (mut ee, mut ed, mut dd) = (0.0, 0.0, square);
        for _ in 0..self.inner {
            let image = hessian(f, now, &delta);
            st.products += 1;
            let curvature = delta.inner(&image) / length;
            if !curvature.is_finite() {
                return None;
            }
            let alpha = square / curvature;
            let beyond = ee + alpha * (2.0 * ed + alpha * dd);
            if curvature <= 0.0 || beyond >= radius * radius {
                let tau = ((ed * ed + dd * (radius * radius - ee)).sqrt() - ed) / dd;
                // −⟨r, δ⟩ = ⟨r, r⟩
                promised += tau * (square - 0.5 * tau * curvature);
                axpy(tau, delta.data(), eta.data_mut());
                return Some(Minimiser { eta, promised: length * promised, at_edge: true });
            }
            promised += 0.5 * alpha * square;
            axpy(alpha, delta.data(), eta.data_mut());
            axpy(alpha / length, image.data(), r.data_mut());
            let last = std::mem::replace(&mut square, r.inner(&r));
            if square.sqrt() <= target || is_over() {
                break;
            }
            let beta = square / last;
            (ee, ed, dd) = (beyond, beta * (ed + alpha * dd), square + beta * beta * dd);
            delta.data_mut().iter_mut().zip(r.data()).for_each(|(d, r)| *d = beta * *d - r);
        }
        Some(Minimiser { eta, promised: length * promised, at_edge: false })
    }
}

/// Hd = P(∇²f(X)[d] − d·sym(Xᵀ∇f(X))).
fn hessian(f: &impl HessianVector, at: &Point, d: &RowMat) -> RowMat {
    let mut image = f.hessian_vector(&at.x, d);
    product(&mut image, true, -1.0, d.as_mat(), at.multiplier.as_mat());
    stiefel::tangent(&at.x, &image)
}

fn negative(m: &RowMat) -> RowMat {
    RowMat::from_fn(m.nrows(), m.ncols(), |i, k| -m.get(i, k))
}
