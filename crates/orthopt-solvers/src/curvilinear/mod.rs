//! Curvilinear search for smooth f on the Stiefel manifold: the loop that OptM and FOForth share.
//!
//! ```text
//! for k = 0, 1, ...
//!   G = ∇f(X),  D = G − XGᵀX
//!   X(τ): a curve on the manifold with X(0) = X and f falling at 0           one file per curve
//!   τ ← ητ until f(X(τ)) ≤ C − στ‖D‖²                                        Zhang-Hager, nonmonotone
//!   X ← X(τ);  Q ← γQ + 1;  C ← (γQC + f(X))/Q
//!   τ ← ⟨S,S⟩/|⟨S,Y⟩| or |⟨S,Y⟩|/⟨Y,Y⟩ in turn,  S = ΔX, Y = ΔD             Barzilai-Borwein
//! ```
//!
//! (Wen & Yin 2013, Algorithm 2; Gao, Liu, Chen & Yuan 2018, Algorithm 2.1 with ABB steps.) The
//! residual that it reports is ‖D‖_F/‖G‖_F. Cost per iteration: a gradient, 4nr² flops for D, and
//! the curve. Where f rises on the way, the lowest X is kept and returned.

mod correction;
pub mod foforth_gr;
pub mod foforth_p;
pub mod foforth_qr;
pub mod optm_cayley;
pub mod optm_qr;

use crate::prelude::*;
use orthopt_core::objective::size;
use orthopt_linalg::kernels::axpy;
use orthopt_linalg::products::{cross, gram, product};

/// A curve on the manifold.
pub trait Curve: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// Entry of the registry for the search along it.
    const INFO: Preset<Curvilinear<Self>>;

    /// True if each point is followed by the multiplier correction.
    const CORRECTS: bool;

    /// Quantities that are computed once for all τ of a search.
    type Prepared: Send;

    /// Prepares a search from `at`.
    fn prepare(at: &Iterate) -> Self::Prepared;

    /// X(τ), orthonormal to rounding; `None` where it cannot be computed, and τ must be smaller.
    fn point(at: &Iterate, prepared: &Self::Prepared, tau: f64) -> Option<RowMat>;
}

/// A point with its gradient.
#[derive(Clone, Debug)]
pub struct Iterate {
    /// X.
    pub x: RowMat,
    /// f(X).
    pub value: f64,
    /// G = ∇f(X).
    pub g: RowMat,
    /// A = XᵀG.
    pub a: RowMat,
    /// D = G − XGᵀX.
    pub d: RowMat,
    square: f64, // ‖D‖²
}

impl Iterate {
    /// f, G, A and D at X. Cost of a gradient and 4nr² flops.
    pub fn new(f: &impl Smooth, x: RowMat) -> Self {
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        let value = f.value_and_gradient(&x, &mut g);
        let a = cross(&x, &g);
        let mut d = g.clone();
        product(&mut d, true, -1.0, x.as_mat(), a.as_mat().transpose());
        let square = d.inner(&d);
        Self { x, value, g, a, d, square }
    }

    /// X − τ·D for a direction D.
    pub fn moved(&self, direction: &RowMat, tau: f64) -> RowMat {
        let mut z = self.x.clone();
        axpy(-tau, direction.data(), z.data_mut());
        z
    }

    /// X − τ(G − XΛ) with Λ = sym(A): a step along the gradient of the Lagrangian
    /// f − ½⟨Λ, XᵀX − I⟩, which on the manifold is f. With G itself, as printed, the step turns X
    /// over and goes uphill wherever τΛ exceeds I: with large multipliers that leaves tiny steps
    /// only (1-D Laplacian, n = 500, r = 10, α = 10: 3,600 iterations instead of about a hundred).
    pub fn lagrangian_step(&self, tau: f64) -> RowMat {
        let r = self.a.ncols();
        let lambda = RowMat::from_fn(r, r, |k, l| 0.5 * (self.a.get(k, l) + self.a.get(l, k)));
        let mut z = self.moved(&self.g, tau);
        product(&mut z, true, tau, self.x.as_mat(), lambda.as_mat());
        z
    }

    /// ‖D‖_F/‖G‖_F; where G vanishes beside the `scale` of f, as at a perfect fit, relative to a share of that.
    fn residual(&self, scale: f64) -> f64 {
        let size = self.g.norm().max(VANISHED * scale);
        if self.square == 0.0 { 0.0 } else { self.square.sqrt() / size } // one that is no number says nothing
    }
}

constants! {
    /// Constants of the search.
    pub struct CurveOptions {
        /// sufficient decrease (Wen & Yin: rho_1)
        sigma ["σ"]: f64 = 1e-4, "a number in (0, 1)" if |v| v > 0.0 && v < 1.0;
        /// factor of tau after a refused step
        eta ["η"]: f64 = 0.2, "a number in (0, 1)" if |v| v > 0.0 && v < 1.0;
        /// weight of the past in the reference value; 0 is a monotone search
        gamma ["γ"]: f64 = 0.85, "a number in [0, 1]" if |v| (0.0..=1.0).contains(&v);
    }
}

/// Steps shorter than the first by this factor end the search.
const SHORTEST: f64 = 1e-20;
/// Rounding of f relative to its size that the search overlooks. Close to a solution f no longer
/// tells good steps from bad ones, the steps of Barzilai and Borwein converge all the same.
pub(crate) const NOISE: f64 = 1e-13;
/// ‖G‖ below this share of the scale of f is that of rounding errors.
pub(crate) const VANISHED: f64 = 1e-8;
/// Bounds of τ relative to ‖X‖/‖G‖.
const LARGEST: f64 = 1e15;
/// Largest ‖XᵀX − I‖_F of a point of a curve, before it is polished: squared it is rounding.
const NEAR: f64 = 1e-6;
/// ‖XᵀX − I‖_F above which X is made orthonormal again.
const DRIFT: f64 = 1e-13;

/// The search along the curves C.
#[derive(Clone, Debug)]
pub struct Curvilinear<C> {
    options: CurveOptions,
    curve: std::marker::PhantomData<C>,
}

/// Entry of the registry for the search along C.
const fn preset<C: Curve>(name: &'static str, doc: &'static str) -> Preset<Curvilinear<C>> {
    Preset {
        name,
        doc,
        constants: CurveOptions::LIST,
        shared: &[],
        domain: Domain::SMOOTH,
        make: |info, o| Curvilinear::new(info.configured(CurveOptions::DEFAULT, o)?),
    }
}

impl<C: Curve> Curvilinear<C> {
    /// The method with checked constants.
    ///
    /// # Errors
    /// A constant outside its range.
    pub fn new(options: CurveOptions) -> Result<Self> {
        Ok(Self { options: options.checked(C::INFO.name)?, curve: std::marker::PhantomData })
    }
}

/// State of a curvilinear search.
#[derive(Clone, Debug)]
pub struct State {
    now: Iterate,
    best: Option<(f64, RowMat)>, // where f has risen since: the lowest f and its X
    tau: f64,                    // τ, the step to try first
    scale: f64,                  // of f
    reference: f64,              // C
    weight: f64,                 // Q
    linear: Option<RowMat>,      // E, where the multiplier correction applies
    iterations: u64,
    evaluations: u64, // of f and ∇f
    ended: Option<(Status, &'static str)>,
}

impl<C: Curve, F: Smooth, H: Nonsmooth> Solver<Problem<Stiefel, F, H>> for Curvilinear<C> {
    type State = State;

    fn name(&self) -> &'static str {
        C::INFO.name
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, mut x0: RowMat) -> Result<State> {
        C::INFO.check(&p.h)?;
        stiefel::check(&x0, p.nrows(), p.rank(), "the starting point X")?;
        repair(&mut x0);
        let linear = if C::CORRECTS { correction::linear_term(&p.f, &x0) } else { None };
        let now = Iterate::new(&p.f, x0);
        // a tenth of the length of X; Barzilai and Borwein know better after one step
        let tau = 0.1 * now.x.norm() / now.g.norm().max(f64::MIN_POSITIVE);
        let reference = now.value;
        Ok(State {
            scale: p.f.scale(&now.x),
            now,
            best: None,
            tau,
            reference,
            weight: 1.0,
            linear,
            iterations: 0,
            evaluations: 1,
            ended: None,
        })
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> Step {
        self.iterate_once(&p.f, st);
        Step::ended(st.ended)
    }

    fn current<'a>(&self, _: &Problem<Stiefel, F, H>, st: &'a State) -> Current<'a> {
        Current::new(&st.now.x, st.now.value).with_residual(Some(st.now.residual(st.scale)))
    }

    fn finish(&self, _: &Problem<Stiefel, F, H>, st: State) -> Ending {
        let mut details = Details::of(&self.options, CurveOptions::LIST);
        details.set("evaluations", st.evaluations);
        if C::CORRECTS {
            details.set("correction", st.linear.is_some());
        }
        // a lower f within rounding is no better a point
        let limit = st.now.value - NOISE * size(st.scale, st.now.value);
        let mut x = match st.best {
            Some((value, x)) if value < limit => x,
            _ => st.now.x,
        };
        repair(&mut x);
        Ending::new(x, details)
    }
}

/// X − ½X(XᵀX − I): what rounding has left of ‖XᵀX − I‖, squared. f along a curve is only as smooth
/// as X is orthonormal. `None` where more than rounding is left: the system behind X was singular, and X is off the manifold.
pub(crate) fn polished(x: &RowMat) -> Option<RowMat> {
    let mut e = gram(x);
    (0..e.nrows()).for_each(|k| e.set(k, k, e.get(k, k) - 1.0));
    let is_near = e.norm() <= NEAR; // false for what is no number
    is_near.then(|| {
        let mut out = x.clone();
        product(&mut out, true, -0.5, x.as_mat(), e.as_mat());
        out
    })
}

/// X back on the manifold if it has drifted off.
pub(crate) fn repair(x: &mut RowMat) {
    if stiefel::feasibility(x) > DRIFT {
        stiefel::repair_on_support(x);
    }
}

impl<C: Curve> Curvilinear<C> {
    /// One search and what follows from it.
    fn iterate_once(&self, f: &impl Smooth, st: &mut State) {
        if st.now.square == 0.0 {
            st.ended = Some((Status::Converged, "the Riemannian gradient is zero"));
            return;
        }
        st.iterations += 1;
        let Some(next) = self.search(f, st) else {
            let why = "no step along the curve lowers f: the limit of rounding";
            st.ended = Some((Status::Stalled, why));
            return;
        };
        let last = std::mem::replace(&mut st.now, next);
        self.adapt(st, &last);
        if last.value < st.now.value && st.best.as_ref().is_none_or(|b| last.value < b.0) {
            st.best = Some((last.value, last.x)); // moved, not copied
        }
    }

    /// X(τ) with τ shrunk until f is low enough.
    fn search(&self, f: &impl Smooth, st: &mut State) -> Option<Iterate> {
        let prepared = C::prepare(&st.now);
        let noise = NOISE * size(st.scale, st.reference);
        let first = st.tau;
        while st.tau > SHORTEST * first {
            if let Some(mut x) = C::point(&st.now, &prepared, st.tau) {
                if let Some(e) = &st.linear {
                    x = correction::corrected(x, e);
                }
                let next = Iterate::new(f, x);
                st.evaluations += 1;
                if next.value <= st.reference - self.options.sigma * st.tau * st.now.square + noise {
                    return Some(next);
                }
            }
            st.tau *= self.options.eta;
        }
        None
    }

    /// τ by Barzilai and Borwein, C and Q by Zhang and Hager.
    fn adapt(&self, st: &mut State, last: &Iterate) {
        let (mut ss, mut sy, mut yy) = (0.0, 0.0, 0.0);
        let entries =
            st.now.x.data().iter().zip(last.x.data()).zip(st.now.d.data().iter().zip(last.d.data()));
        for ((x, x_last), (d, d_last)) in entries {
            let (s, y) = (x - x_last, d - d_last);
            (ss, sy, yy) = (ss + s * s, sy + s * y, yy + y * y);
        }
        let tau = if st.iterations.is_multiple_of(2) { sy.abs() / yy } else { ss / sy.abs() };
        let unit = st.now.x.norm() / st.now.g.norm().max(f64::MIN_POSITIVE);
        st.tau = if tau.is_finite() && tau > 0.0 { tau.clamp(unit / LARGEST, unit * LARGEST) } else { unit };
        let past = self.options.gamma * st.weight;
        st.reference = (past * st.reference + st.now.value) / (past + 1.0);
        st.weight = past + 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthopt_core::smooth::DenseQuadratic;

    /// Points of a curve far out, where the systems behind them are singular up to rounding: orthonormal or refused.
    fn check<C: Curve>() {
        for (n, r) in [(14, 2), (5, 2), (3, 3), (9, 1), (30, 7)] {
            let c = RowMat::from_fn(n, n, |i, j| ((3 * i * j + 5 * (i + j)) % 17) as f64 - 8.0);
            for (scale, seed) in [(1.0, 1), (1e-9, 2), (1e9, 3)] {
                let m = RowMat::from_fn(n, n, |i, j| -scale * (c.get(i, j) + c.get(j, i)));
                let f = DenseQuadratic::new(m.as_mat()).unwrap();
                let mut rng = <rand_pcg::Pcg64 as rand::SeedableRng>::seed_from_u64(seed);
                let at = Iterate::new(&f, stiefel::random(n, r, &mut rng));
                let prepared = C::prepare(&at);
                let mut points = 0;
                for exponent in -20..20 {
                    let tau = 10f64.powi(exponent) / scale;
                    if let Some(x) = C::point(&at, &prepared, tau) {
                        let error = stiefel::feasibility(&x);
                        assert!(error <= 1e-10, "{}: {n} x {r}, tau {tau:e}: {error:e}", C::INFO.name);
                        points += 1;
                    }
                }
                assert!(points >= 15, "{}: {n} x {r}: {points} points", C::INFO.name);
            }
        }
    }

    #[test]
    fn every_point_is_orthonormal() {
        check::<optm_cayley::Cayley>();
        check::<optm_qr::Qr>();
        check::<foforth_gr::FoforthGr>();
        check::<foforth_p::FoforthP>();
        check::<foforth_qr::FoforthQr>();
    }
}
