//! CSDM, the method of the hyperbolic CS decomposition (JOBCD paper, Section 6):
//! Adagrad on the factors of X[perm, perm] = L H(μ) Rᵀ, L = blkdiag(U₁, U₂), R = blkdiag(V₁, V₂).
//!
//! ```text
//! dL = G R H,  dR = Gᵀ L H  (their diagonal blocks),   M = Lᵀ G R
//! dμᵢ = sinh μᵢ (Mᵢᵢ + M_{p+i,p+i}) + cosh μᵢ (M_{i,p+i} + M_{p+i,i})
//! ```
//!
//! Orthogonal factors move by U ← U·Cayley(A) with A the Adagrad step of the skew gradient UᵀdU −
//! dUᵀU, so X stays on the group. About 12n³ flops an iteration beyond the gradient.

use super::LOOK;
use super::adagrad::Adagrad;
use crate::EVERY_F;
use crate::jobcd::{beyond_limit, relative_stationarity};
use orthopt_core::constraint::JOrthogonal;
use orthopt_core::constraint::j_orthogonal::{self, CsFactors, Signature};
use orthopt_linalg::factor::inverse;
use orthopt_linalg::products::{cross, multiply, product};
use orthopt_solvers::prelude::*;

/// Entry of the registry.
pub const INFO: Preset<Csdm> = Preset::new(
    "csdm",
    "Adagrad on the factors of the hyperbolic CS decomposition; feasible, not monotone",
    EVERY_F,
);

constants! {
    /// The solver.
    pub struct Csdm {
        /// learning rate of Adagrad (papers: 5e-4 to 5e-3)
        lr [""]: f64 = 5e-3, "a finite number > 0" if |v| v > 0.0;
        /// ||X|| at which a run with an unbounded f ends
        norm_limit [""]: f64 = 1e4, "a finite number > 0" if |v| v > 0.0;
    }
}

/// Iterations between two orthonormalisations of the factors.
const CLEAN: u64 = 100;

/// The Euclidean gradient with respect to the factors, given ∇f at X: dU₁, dU₂, dV₁, dV₂, dμ.
pub fn cs_gradient(factors: &CsFactors, g: &RowMat, j: &Signature) -> CsFactors {
    let (n, p) = (j.len(), j.plus().len());
    let perm: Vec<usize> = j.plus().iter().chain(j.minus()).copied().collect();
    let g = RowMat::from_fn(n, n, |a, b| g.get(perm[a], perm[b]));
    let block = |a: &RowMat, b: &RowMat| {
        RowMat::from_fn(n, n, |i, k| match (i < p, k < p) {
            (true, true) => a.get(i, k),
            (false, false) => b.get(i - p, k - p),
            _ => 0.0,
        })
    };
    let (l, r) = (block(&factors.u1, &factors.u2), block(&factors.v1, &factors.v2));
    let gr = multiply(g.as_mat(), r.as_mat());
    let m = cross(&l, &gr);
    let dl = times_h(gr, &factors.mu, p);
    let dr = times_h(cross(&g, &l), &factors.mu, p);
    let part = |m: &RowMat, from: usize, to: usize| {
        RowMat::from_fn(to - from, to - from, |i, k| m.get(from + i, from + k))
    };
    let mu = factors.mu.iter().enumerate().map(|(i, mu)| {
        mu.sinh() * (m.get(i, i) + m.get(p + i, p + i)) + mu.cosh() * (m.get(i, p + i) + m.get(p + i, i))
    });
    CsFactors {
        mu: mu.collect(),
        u1: part(&dl, 0, p),
        u2: part(&dl, p, n),
        v1: part(&dr, 0, p),
        v2: part(&dr, p, n),
    }
}

/// A·H(μ).
fn times_h(mut a: RowMat, mu: &[f64], p: usize) -> RowMat {
    for (k, mu) in mu.iter().enumerate() {
        let (c, s) = (mu.cosh(), mu.sinh());
        for i in 0..a.nrows() {
            let (x, y) = (a.get(i, k), a.get(i, p + k));
            a.set(i, k, c * x + s * y);
            a.set(i, p + k, s * x + c * y);
        }
    }
    a
}

/// State of CSDM.
#[derive(Clone, Debug)]
pub struct State {
    factors: CsFactors,
    adagrad: [Adagrad; 5], // U₁, U₂, V₁, V₂, μ
    x: RowMat,             // Xᵗ
    best: (RowMat, f64),   // the best X so far, and f there
    scale: f64,            // largest |W| seen
    iterations: u64,
    ended: Option<(Status, &'static str)>,
}

impl<F: Smooth> Solver<Problem<JOrthogonal, F>> for Csdm {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn behaviour(&self, _: &Problem<JOrthogonal, F>) -> Behaviour {
        Behaviour::fading(Stagnation::Work)
    }

    fn init(&self, p: &Problem<JOrthogonal, F>, x0: RowMat) -> Result<State> {
        j_orthogonal::check(&x0, p.signature(), "the starting point X")?;
        let factors = CsFactors::decompose(&x0, p.signature())
            .ok_or(Error::Factorisation("the singular value decomposition"))?;
        let x = factors.compose(p.signature());
        let square = |m: &RowMat| Adagrad::new(self.lr, m.data().len());
        let adagrad = [
            square(&factors.u1),
            square(&factors.u2),
            square(&factors.v1),
            square(&factors.v2),
            Adagrad::new(self.lr, factors.mu.len()),
        ];
        let f = p.f.value(&x0);
        Ok(State { adagrad, factors, x, best: (x0, f), scale: 0.0, iterations: 0, ended: None })
    }

    fn step(&self, p: &Problem<JOrthogonal, F>, st: &mut State) -> Step {
        let residual = self.iterate_once(p, st);
        Step::ended(st.ended).with_residual(residual)
    }

    fn current<'a>(&self, _: &Problem<JOrthogonal, F>, st: &'a State) -> Current<'a> {
        Current::new(&st.best.0, st.best.1)
    }

    fn finish(&self, p: &Problem<JOrthogonal, F>, st: State) -> Ending {
        let mut details = Details::of(self, Self::LIST);
        details.set("mu_at_end", st.factors.mu.iter().fold(0.0f64, |m, v| m.max(v.abs())));
        let mut x = if p.f.value(&st.x) < st.best.1 { st.x } else { st.best.0 };
        j_orthogonal::repair(&mut x, p.signature());
        Ending::new(x, details)
    }
}

impl Csdm {
    fn iterate_once<F: Smooth>(&self, p: &Problem<JOrthogonal, F>, st: &mut State) -> Option<f64> {
        let mut g = RowMat::zeros(st.x.nrows(), st.x.ncols());
        let f = p.f.value_and_gradient(&st.x, &mut g);
        if f < st.best.1 {
            st.best = (st.x.clone(), f);
        }
        let looks = st.iterations.is_multiple_of(LOOK);
        let residual = looks.then(|| relative_stationarity(p, &st.x, &g, &mut st.scale));
        let d = cs_gradient(&st.factors, &g, p.signature());
        let factors = &mut st.factors;
        let orthogonal = [
            (&mut factors.u1, &d.u1),
            (&mut factors.u2, &d.u2),
            (&mut factors.v1, &d.v1),
            (&mut factors.v2, &d.v2),
        ];
        st.iterations += 1;
        let [a0, a1, a2, a3, a_mu] = &mut st.adagrad;
        for ((u, du), adagrad) in orthogonal.into_iter().zip([a0, a1, a2, a3]) {
            turn(u, du, adagrad);
            if st.iterations.is_multiple_of(CLEAN) {
                *u = stiefel::orthonormalise(u);
            }
        }
        let cap = self.norm_limit.max(1.0).ln();
        let step = a_mu.step(&d.mu);
        factors.mu.iter_mut().zip(step).for_each(|(mu, s)| *mu = (*mu + s).clamp(-cap, cap));
        st.x = factors.compose(p.signature());
        if !p.is_bounded() && factors.mu.iter().any(|mu| mu.abs() >= cap) {
            st.ended = Some(beyond_limit(&p.f));
        }
        residual
    }
}

/// U ← U (I − A/2)⁻¹(I + A/2), A the Adagrad step of the skew gradient UᵀdU − dUᵀU.
fn turn(u: &mut RowMat, du: &RowMat, adagrad: &mut Adagrad) {
    let k = u.nrows();
    if k == 0 {
        return;
    }
    let m = cross(u, du);
    let skew = RowMat::from_fn(k, k, |a, b| m.get(a, b) - m.get(b, a));
    let step = adagrad.step(skew.data());
    let half =
        |sign: f64| RowMat::from_fn(k, k, |a, b| 0.5 * sign * step[a * k + b] + f64::from(u8::from(a == b)));
    if let Some(inverse) = inverse(&half(-1.0)) {
        let (mut turned, mut moved) = (RowMat::zeros(k, k), RowMat::zeros(k, k));
        product(&mut turned, false, 1.0, u.as_mat(), inverse.as_mat());
        product(&mut moved, false, 1.0, turned.as_mat(), half(1.0).as_mat());
        *u = moved;
    }
}
