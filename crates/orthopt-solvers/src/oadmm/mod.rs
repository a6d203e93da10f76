//! OADMM: an ADMM with a Moreau envelope for f(X) − g(X) + h(A(X)), XᵀX = I (OADMM paper,
//! Algorithm 1, with the corrections C15 to C17 of docs/mathematics.md, section 10).
//!
//! ```text
//! for t = 0, 1, ...
//!   (S1) βᵗ = β⁰(1 + ξ tᵖ), μᵗ = χ/βᵗ
//!   (S2) EP: Xc = X + α(X − X⁻), G = ∇f(Xc) − ξ_g + Aᵀ(z + β(A(Xc) − y)),
//!            X⁺ = polar(Xc − G/(θℓ)),  ℓ = βĀ² + L_f
//!        RR: G at X, Gρ = G − ρXGᵀX − (1−ρ)XXᵀG, X⁺ = Retr(X − ηGρ), η = bγʲ/β, with the
//!            least j for which L̇(X⁺) − L̇(X) ≤ −δη‖Gρ‖²
//!   (S3) b = A(X⁺) + z/β, y̌ = prox_{(μ+1/β)h}(b), y⁺ = (y̌ + μβb)/(1 + μβ)
//!   (S4) z⁺ = z + σβ(A(X⁺) − y⁺)
//! ```
//!
//! X is feasible, y̌ has exact zeros; ‖A(X) − y̌‖ is about μ‖z‖ and so falls like t^(−p) only, far
//! slower than ‖A(X) − y‖. What is returned is the better of X and polar(y̌).
//!
//! Cost per iteration: one gradient and O(nr²); RR one gradient and one retraction per trial.

mod options;

use crate::prelude::*;
use options::Schedule;
pub use options::{EUCLIDEAN, FAST, FirstBeta, OadmmOptions, RIEMANNIAN, Variant};

use crate::composite::iterate::Iterate;
use crate::composite::splitting::{Linearised, plus, project, prox, pull_back, shifted_multiplier};
use orthopt_linalg::products::{cross, product};

/// Most halvings of a line search.
const MAX_BACKTRACKS: u32 = 40;
/// Bounds of b from Barzilai and Borwein.
const BB_RANGE: (f64, f64) = (1e-2, 1e2);

/// The solver.
#[derive(Clone, Debug)]
pub struct Oadmm {
    name: &'static str,
    options: OadmmOptions,
}

impl Oadmm {
    /// OADMM with checked options.
    ///
    /// # Errors
    /// A constant outside its range.
    pub fn new(options: OadmmOptions) -> Result<Self> {
        let name = if options.variant == Variant::Ep { "oadmm-ep" } else { "oadmm-rr" };
        Ok(Self { name, options: options.in_range(name)? })
    }

    /// Its options.
    pub fn options(&self) -> &OadmmOptions {
        &self.options
    }
}

/// State of OADMM, named as in the paper.
#[derive(Clone, Debug)]
pub struct State {
    /// Iterations made.
    pub t: u64,
    /// Xᵗ, yᵗ, y̌ᵗ and zᵗ.
    pub at: Iterate,
    /// Xᵗ⁻¹.
    pub x_prev: RowMat,
    /// βᵗ of the last iteration.
    pub beta: f64,
    /// μᵗ of the last iteration.
    pub mu: f64,
    /// β⁰.
    pub beta0: f64,
    /// ξ in force, the growth of β.
    pub xi: f64,
    /// Halvings in all line searches.
    pub backtracks: u64,
    raised: bool,        // β⁰ was too small for the weak convexity of h
    grad_f_prev: RowMat, // ∇f(Xᵗ⁻¹)
}

impl<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap> Solver<Composite<F, H, G, A>> for Oadmm {
    type State = State;

    fn name(&self) -> &'static str {
        self.name
    }

    fn init(&self, p: &Composite<F, H, G, A>, x0: RowMat) -> Result<State> {
        let at = Iterate::new(p, x0, self.options.lf)?;
        Domain::SPLITTING.check(self.name, &p.h)?;
        let Schedule { beta0, xi, raised } = self.options.schedule(p, &at.x, (at.abar, at.lf));
        Ok(State {
            t: 0,
            beta: beta0,
            mu: self.options.chi() / beta0,
            beta0,
            xi,
            backtracks: 0,
            raised,
            grad_f_prev: at.now.grad_f.clone(),
            x_prev: at.x.clone(),
            at,
        })
    }

    /// (S1) to (S4).
    fn step(&self, p: &Composite<F, H, G, A>, st: &mut State) -> Step {
        let o = &self.options;
        let beta = st.beta0 * (1.0 + st.xi * (st.t as f64).powf(o.p));
        let mu = o.chi() / beta;
        (st.beta, st.mu) = (beta, mu);
        match o.variant {
            Variant::Ep => self.euclidean_step(p, st),
            Variant::Rr => self.riemannian_step(p, st),
        }
        let at = &mut st.at;
        let b = plus(at.ax.clone(), 1.0 / beta, &at.z);
        at.ycheck = prox(&p.h, &b, mu + 1.0 / beta);
        let (weight, scale) = (mu * beta, 1.0 / (1.0 + mu * beta));
        for ((y, check), b) in at.y.data_mut().iter_mut().zip(at.ycheck.data()).zip(b.data()) {
            *y = (check + weight * b) * scale;
        }
        at.ascend(o.sigma * beta);
        st.t += 1;
        Step::default()
    }

    fn current<'a>(&self, p: &Composite<F, H, G, A>, st: &'a State) -> Current<'a> {
        st.at.current(p)
    }

    fn confirmed(&self, p: &Composite<F, H, G, A>, st: &State) -> Option<Confirmed> {
        st.at.confirmed(p)
    }

    fn finish(&self, p: &Composite<F, H, G, A>, st: State) -> Ending {
        let o = &self.options;
        let mut details = Details::of(o, o.listed());
        details.chosen("chi", o.chi());
        details.chosen("beta0", st.beta0);
        details.chosen("xi", st.xi);
        details.chosen("lf", st.at.lf);
        details.set("chi_bound", o.chi_bound());
        details.set("norm_a", st.at.abar);
        details.set("beta", st.beta);
        details.set("mu", st.mu);
        match o.variant {
            Variant::Ep => details.chosen("alpha", o.alpha()),
            Variant::Rr => details.set("backtracks", st.backtracks),
        }
        details.set("beta0_raised", st.raised);
        let mu_norm_z = Some(st.mu * st.at.z.norm());
        st.at.end(p, details, mu_norm_z)
    }
}

impl Oadmm {
    /// (S2) of EP. Where ∇f is affine, its value at Xc comes from those at X and X⁻.
    fn euclidean_step<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &self,
        p: &Composite<F, H, G, A>,
        st: &mut State,
    ) {
        let alpha = self.options.alpha();
        let forward = |now: &RowMat, before: &RowMat| {
            if alpha == 0.0 { now.clone() } else { plus(plus(now.clone(), alpha, now), -alpha, before) }
        };
        let at = &mut st.at;
        let xc = forward(&at.x, &st.x_prev);
        let axc = if alpha == 0.0 { at.ax.clone() } else { p.a.apply(&xc) };
        let w = pull_back(p, shifted_multiplier(&axc, &at.y, &at.z, st.beta));
        let affine = alpha == 0.0 || p.f.is_quadratic();
        let grad_f = if affine { forward(&at.now.grad_f, &st.grad_f_prev) } else { p.gradient(&xc) };
        let w = plus(plus(w, 1.0, &grad_f), -1.0, &at.now.xi);
        let ell = self.options.theta * at.curvature(st.beta);
        st.grad_f_prev.data_mut().copy_from_slice(at.now.grad_f.data());
        st.x_prev = at.move_to(p, project(&plus(xc, -1.0 / ell, &w)));
    }

    /// (S2) of RR.
    fn riemannian_step<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &self,
        p: &Composite<F, H, G, A>,
        st: &mut State,
    ) {
        let o = &self.options;
        let g = st.at.gradient(p, st.beta);
        let direction = search_direction(&st.at.x, &g, o.rho);
        let slope = direction.inner(&direction);
        let first = if o.bb || o.bb2 { self.barzilai_borwein(p, st, &g) } else { o.b };
        let mut eta = first / st.beta;
        let g_now = p.g.value(&st.at.x);
        let mut next = (st.at.x.clone(), st.at.now.clone());
        for j in 0..=MAX_BACKTRACKS {
            let moved = plus(st.at.x.clone(), -eta, &direction);
            next.0 = if o.qr { stiefel::orthonormalise(&moved) } else { project(&moved) };
            next.1.update(p, &next.0);
            let (change, slack) = lagrangian_change(p, st, &next.0, &next.1, g_now);
            if change <= -o.delta * eta * slope + slack || j == MAX_BACKTRACKS {
                break;
            }
            eta *= o.gamma;
            st.backtracks += 1;
        }
        st.at.ax = p.a.apply(&next.0);
        st.x_prev = std::mem::replace(&mut st.at.x, next.0);
        st.grad_f_prev = std::mem::replace(&mut st.at.now, next.1).grad_f;
    }

    /// b = β⟨S,S⟩/|⟨S,Z⟩|, or β|⟨S,Z⟩|/⟨Z,Z⟩ (the paper's footnote 1 has both), with S = X − X⁻ and Z the
    /// difference of the Riemannian gradients of the same function at both points, kept in a range; the b of
    /// the options at the first step (docs/mathematics.md, section 10, C17).
    fn barzilai_borwein<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
        &self,
        p: &Composite<F, H, G, A>,
        st: &State,
        g: &RowMat,
    ) -> f64 {
        let at = &st.at;
        let s = plus(at.x.clone(), -1.0, &st.x_prev);
        let w = shifted_multiplier(&p.a.apply(&st.x_prev), &at.y, &at.z, st.beta);
        let g_prev = plus(plus(pull_back(p, w), 1.0, &st.grad_f_prev), -1.0, &at.now.xi);
        let now = search_direction(&at.x, g, 1.0);
        let z = plus(now, -1.0, &search_direction(&st.x_prev, &g_prev, 1.0));
        secant_steps(&s, &z).map_or(self.options.b, |(long, short)| {
            let step = if self.options.bb2 { short } else { long };
            (st.beta * step).clamp(BB_RANGE.0, BB_RANGE.1)
        })
    }
}

/// The two steps of Barzilai and Borwein, ⟨S,S⟩/|⟨S,Z⟩| and |⟨S,Z⟩|/⟨Z,Z⟩, the second never longer than the first;
/// `None` where they are not defined.
fn secant_steps(s: &RowMat, z: &RowMat) -> Option<(f64, f64)> {
    let (ss, sz, zz) = (s.inner(s), s.inner(z).abs(), z.inner(z));
    (ss > 0.0 && sz > 0.0).then(|| (ss / sz, sz / zz))
}

/// Gρ = G − ρXGᵀX − (1−ρ)XXᵀG, tangent at X for every ρ.
fn search_direction(x: &RowMat, g: &RowMat, rho: f64) -> RowMat {
    let xtg = cross(x, g);
    let r = xtg.nrows();
    let mix = RowMat::from_fn(r, r, |i, j| rho * xtg.get(j, i) + (1.0 - rho) * xtg.get(i, j));
    let mut out = g.clone();
    product(&mut out, true, -1.0, x.as_mat(), mix.as_mat());
    out
}

/// L̇(X⁺) − L̇(X) term by term, and the rounding that the comparison should forgive.
fn lagrangian_change<F: Smooth, H: Nonsmooth, G: Concave, A: LinearMap>(
    p: &Composite<F, H, G, A>,
    st: &State,
    x: &RowMat,
    next: &Linearised,
    g_now: f64,
) -> (f64, f64) {
    let at = &st.at;
    let step = plus(x.clone(), -1.0, &at.x);
    let ax = p.a.apply(x);
    let (mut linear, mut square) = (0.0, 0.0);
    for (((new, old), y), z) in ax.data().iter().zip(at.ax.data()).zip(at.y.data()).zip(at.z.data()) {
        linear += z * (new - old);
        square += (new - old) * (new + old - 2.0 * y);
    }
    let smooth = at.now.change_of_f(next, &step);
    let g_change = p.g.value(x) - g_now;
    let f = next.value.map_or(0.0, f64::abs);
    let size = linear.abs() + st.beta * square.abs() + smooth.abs() + g_now.abs() + f;
    (smooth + linear + 0.5 * st.beta * square - g_change, 1e-15 * size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secant_steps_are_those_of_the_curvature() {
        let s = RowMat::from_fn(4, 2, |i, j| ((3 * i + j) as f64).sin());
        // one over the curvature where that is the same in all directions, whatever its sign
        let curved = |c: f64| plus(RowMat::zeros(4, 2), c, &s);
        for c in [4.0, -4.0] {
            let (long, short) = secant_steps(&s, &curved(c)).unwrap();
            assert!((long - 0.25).abs() <= 1e-15 && (short - 0.25).abs() <= 1e-15, "{long} {short}");
        }
        let z = RowMat::from_fn(4, 2, |i, j| (1 + i) as f64 * s.get(i, j));
        let (long, short) = secant_steps(&s, &z).unwrap();
        assert!(0.25 < short && short < long && long < 1.0, "{short} {long}");
        assert!(secant_steps(&curved(0.0), &z).is_none() && secant_steps(&s, &curved(0.0)).is_none());
    }
}
