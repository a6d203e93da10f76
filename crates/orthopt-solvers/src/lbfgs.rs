//! L-BFGS on the Stiefel manifold: min f(X), XᵀX = I, for any smooth f.
//!
//! ```text
//! ξ = P(∇f(X)),  P(Z) = Z − X·sym(XᵀZ)           the gradient in the tangent space at X
//! d = P(−H·ξ)                                    two loops over the last m pairs (s, y)
//! X(t) = polar(X + td)                           on the manifold for every t
//! t      f(X(t)) ≤ f(X) + c₁tφ,  ⟨ξ(t), d⟩ ≥ c₂φ,  φ = ⟨ξ, d⟩      (weak Wolfe, cubics in a bracket)
//! s = P(td),  y = ξ(t) − P(ξ)                    P at X(t)
//! ```
//!
//! Projection is the vector transport (Huang, Gallivan and Absil 2015). Pairs of older points are not carried along: only the
//! direction that comes of them is projected, which takes 1/2m of the projections and, on the problems of
//! `bench/python/own_functions.py`, about as many evaluations.
//!
//! Gradient methods follow ξ; near a minimum of an ill-conditioned f this one learns the curvature, mostly with one evaluation
//! an iteration. Liu and Nocedal 1989 for the two loops, Hager and Zhang 2005 for the test of a decrease that is lost in rounding,
//! Lewis and Overton 2013 for a line search that also passes kinks of f. Cost of an iteration: f and ∇f about once, 8mnr + 24nr²
//! flops.

use std::collections::VecDeque;

use crate::curvilinear::{NOISE, VANISHED, repair};
use crate::prelude::*;
use orthopt_core::objective::size;
use orthopt_linalg::kernels::axpy;
use orthopt_linalg::orthonormal::nearest;
use orthopt_linalg::products::{cross, product};

/// Entry of the registry.
pub const INFO: Preset<Lbfgs> =
    Preset::new("lbfgs", "L-BFGS in tangent spaces with polar steps; for any smooth f", Domain::SMOOTH);

constants! {
    /// The solver.
    pub struct Lbfgs {
        /// pairs (s, y) that are kept
        memory ["m"]: usize = 30, "a whole number from 1 to 1000" if |v| (1.0..=1000.0).contains(&v);
    }
}

/// c₁ and c₂ of the weak Wolfe conditions.
const DECREASE: f64 = 1e-4;
const SLOPE: f64 = 0.9;
/// Trials of a line search, and those that interpolate; the others halve the bracket.
const TRIALS: u32 = 40;
const CUBICS: u32 = 8;
/// Length of the first trial along a gradient as a share of ‖X‖; no more than ‖X‖/‖∇f‖ times the gradient, as second derivatives
/// along the manifold are of the size of ‖∇f‖/‖X‖.
const FIRST: f64 = 0.1;

/// A point with its gradient.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) x: RowMat,
    pub(super) f: f64,
    pub(super) xi: RowMat,         // ξ
    pub(super) multiplier: RowMat, // sym(Xᵀ∇f)
    pub(super) residual: f64,      // ‖∇f − X∇fᵀX‖ relative to ‖∇f‖
    size: f64,                     // ‖∇f‖
}

/// State of the solver.
#[derive(Clone, Debug)]
pub struct State {
    now: Point,
    scale: f64,                             // of f
    pairs: VecDeque<(RowMat, RowMat, f64)>, // s, y, 1/⟨s, y⟩
    evaluations: u64,                       // of f and ∇f
    ended: Option<(Status, &'static str)>,
}

impl<F: Smooth, H: Nonsmooth> Solver<Problem<Stiefel, F, H>> for Lbfgs {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, mut x0: RowMat) -> Result<State> {
        INFO.check(&p.h)?;
        stiefel::check(&x0, p.nrows(), p.rank(), "the starting point X")?;
        repair(&mut x0);
        let scale = p.f.scale(&x0);
        let now = Point::new(&p.f, x0, scale);
        Ok(State { now, scale, pairs: VecDeque::new(), evaluations: 1, ended: None })
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> Step {
        if st.now.residual == 0.0 {
            return Step::ended(Some((Status::Converged, "the Riemannian gradient is zero")));
        }
        let mut d = direction(&st.now, &st.pairs);
        if st.now.xi.inner(&d) >= 0.0 {
            st.pairs.clear(); // rounding: what is remembered is worth nothing
            d = direction(&st.now, &st.pairs);
        }
        match line_search(&p.f, st, &d) {
            Some((t, next)) => self.accept(st, t, &d, next),
            None if st.pairs.is_empty() => {
                let why = "no step along the gradient lowers f: a kink of f, a wrong gradient, or rounding";
                st.ended = Some((Status::Stalled, why));
            }
            None => st.pairs.clear(), // once more along the gradient
        }
        Step::ended(st.ended)
    }

    fn current<'a>(&self, _: &Problem<Stiefel, F, H>, st: &'a State) -> Current<'a> {
        Current::new(&st.now.x, st.now.f).with_residual(Some(st.now.residual))
    }

    fn finish(&self, _: &Problem<Stiefel, F, H>, st: State) -> Ending {
        let mut details = Details::of(self, Self::LIST);
        details.set("evaluations", st.evaluations);
        Ending::new(st.now.x, details)
    }
}

impl Lbfgs {
    /// X(t), and what the step says of the curvature; a pair that says there is none would make H indefinite.
    fn accept(&self, st: &mut State, t: f64, d: &RowMat, next: Point) {
        let last = std::mem::replace(&mut st.now, next);
        let now = &st.now;
        let mut s = stiefel::tangent(&now.x, d);
        s.data_mut().iter_mut().for_each(|v| *v *= t);
        let mut y = now.xi.clone();
        axpy(-1.0, stiefel::tangent(&now.x, &last.xi).data(), y.data_mut());
        let curvature = s.inner(&y);
        if curvature > f64::EPSILON * s.norm() * y.norm() {
            st.pairs.push_back((s, y, 1.0 / curvature));
        }
        if st.pairs.len() > self.memory {
            st.pairs.pop_front();
        }
    }
}

impl Point {
    /// f and ξ at X. Cost of a gradient and 4nr² flops.
    pub(super) fn new(f: &impl Smooth, x: RowMat, scale: f64) -> Self {
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        let value = f.value_and_gradient(&x, &mut g);
        let size = g.norm();
        let a = cross(&x, &g);
        let multiplier = a.symmetric_part();
        let mut xi = g;
        product(&mut xi, true, -1.0, x.as_mat(), multiplier.as_mat());
        // ∇f − X∇fᵀX is ξ plus X times the skew part of XᵀG, which is the part of ξ within the span of X
        let skew = a.data().iter().zip(multiplier.data()).fold(0.0, |sum, (a, s)| sum + (a - s) * (a - s));
        let square = xi.inner(&xi) + 3.0 * skew;
        // where ∇f vanishes beside the scale of f, as at a perfect fit, relative to a share of that
        let residual = if square == 0.0 { 0.0 } else { square.sqrt() / size.max(VANISHED * scale) };
        Self { x, f: value, xi, multiplier, residual, size }
    }
}

/// P(−H·ξ) by two loops over the pairs, the newest first and last.
fn direction(now: &Point, pairs: &VecDeque<(RowMat, RowMat, f64)>) -> RowMat {
    let mut q = now.xi.clone();
    q.data_mut().iter_mut().for_each(|v| *v = -*v);
    let mut kept = Vec::with_capacity(pairs.len());
    for (s, y, rho) in pairs.iter().rev() {
        let alpha = rho * s.inner(&q);
        axpy(-alpha, y.data(), q.data_mut());
        kept.push(alpha);
    }
    if let Some((_, y, rho)) = pairs.back() {
        let gamma = 1.0 / (rho * y.inner(y));
        q.data_mut().iter_mut().for_each(|v| *v *= gamma);
    }
    for ((s, y, rho), alpha) in pairs.iter().zip(kept.into_iter().rev()) {
        let beta = rho * y.inner(&q);
        axpy(alpha - beta, s.data(), q.data_mut());
    }
    stiefel::tangent(&now.x, &q)
}

/// t, f(X(t)) and its slope.
#[derive(Clone, Copy)]
struct Trial {
    t: f64,
    f: f64,
    slope: f64,
}

/// A t that satisfies the weak Wolfe conditions with X(t); the last that satisfies the first of them where trials end, or where
/// X(t) is close to polar(d) and longer steps change little.
fn line_search(f: &impl Smooth, st: &mut State, d: &RowMat) -> Option<(f64, Point)> {
    let now = &st.now;
    let slope = now.xi.inner(d);
    let (length, reach) = (d.norm(), now.x.norm());
    let longest = reach / length;
    let noise = NOISE * size(st.scale, now.f);
    let mut low = Trial { t: 0.0, f: now.f, slope };
    let (mut lower, mut high) = (low, None);
    let mut found = None;
    let first = (FIRST * longest).min(reach / now.size);
    let mut t = if st.pairs.is_empty() { first } else { longest.min(1.0) };
    for k in 0..TRIALS {
        let next = moved(&now.x, d, t).map(|x| Point::new(f, x, st.scale));
        st.evaluations += u64::from(next.is_some());
        let (f_there, slope_there) = next.as_ref().map_or((f64::NAN, f64::NAN), |x| (x.f, x.xi.inner(d)));
        let trial = Trial { t, f: f_there, slope: slope_there };
        let falls = trial.f <= now.f + DECREASE * t * slope && trial.f < now.f && trial.slope.is_finite();
        let gentle = trial.slope >= SLOPE * slope;
        // close to a minimum f no longer tells good steps from bad ones, its slope does
        let level = trial.f <= now.f + noise;
        if falls || (level && gentle && trial.slope <= (2.0 * DECREASE - 1.0) * slope) {
            found = next.map(|next| (t, next));
            if gentle || t >= longest {
                break;
            }
        }
        if falls || (level && trial.slope < 0.0) {
            (lower, low) = (low, trial);
        } else {
            high = Some(trial);
        }
        t = match high {
            Some(high) => between(low, high, k < CUBICS),
            None => beyond(lower, low).min(longest),
        };
    }
    found
}

/// polar(X + td).
pub(super) fn moved(x: &RowMat, d: &RowMat, t: f64) -> Option<RowMat> {
    let mut y = x.clone();
    axpy(t, d.data(), y.data_mut());
    let mut out = RowMat::zeros(x.nrows(), x.ncols());
    nearest(&y, &mut out).then_some(out)
}

/// Zero of the slope by the secant of the last two trials, kept between two and ten times the last t, as it may be far
/// off.
fn beyond(lower: Trial, low: Trial) -> f64 {
    let rise = low.slope - lower.slope;
    let zero = low.t - low.slope * (low.t - lower.t) / rise;
    if rise > 0.0 { zero.clamp(2.0 * low.t, 10.0 * low.t) } else { 10.0 * low.t }
}

/// The minimiser of the cubic through both ends of the bracket, kept off them by a tenth of it; the middle where f is no number
/// at the upper end or cubics have had their chance.
fn between(low: Trial, high: Trial, cubic: bool) -> f64 {
    let width = high.t - low.t;
    let a = low.slope + high.slope - 3.0 * (high.f - low.f) / width;
    let b = (a * a - low.slope * high.slope).sqrt();
    let t = high.t - width * (high.slope + b - a) / (high.slope - low.slope + 2.0 * b);
    if cubic && t.is_finite() {
        t.clamp(low.t + 0.1 * width, high.t - 0.1 * width)
    } else {
        low.t + 0.5 * width
    }
}
