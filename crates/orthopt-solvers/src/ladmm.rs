//! LADMM: the linearised alternating direction method of multipliers for f(X) + h(Y), X = Y,
//! XᵀX = I (He, Yuan 2012; Lai, Osher 2014; the OBCD papers compare with it).
//!
//! ```text
//! L(X, Y; Z) = f(X) + h(Y) + ⟨Z, X − Y⟩ + β/2‖X − Y‖²
//! for k = 0, 1, ...
//!   X ← the orthonormal matrix nearest to X − (∇f(X) + Z + β(X − Y))/ℓ
//!   Y ← prox_{h/β}(X + Z/β)
//!   Z ← Z + β(X − Y)
//!   β ← ρβ while X and Y are apart by more than the iteration moves them
//! ```
//!
//! ℓ = β for a concave f, which its linearisation majorises (on XᵀX = I the term β/2‖X‖² is
//! constant), else L + β. X is orthonormal but not sparse, Y is sparse but not orthonormal: a
//! feasible copy made of both is kept and handed out, and Y is what `raw` reports. With h = 0, Z
//! stays 0 and this is X ← nearest(X − ∇f(X)/ℓ).
//!
//! The papers state no β. It must be in proportion to f, so it is given in units of L here. A
//! fixed β = L (as in the comparison of Chen et al. 2020, `ladmm-beta` = L and `ladmm-rho` = 1)
//! hardly leaves a sparse start, and small ones need not converge when h is not convex. From
//! L/100, growing by one per cent, it first follows f and then closes the gap: ℓ0 PCA of
//! randn:500:1000, r = 20, λ = 1 ends at -1.73e4 instead of -1.45e4.
//!
//! The end point depends on the start:
//! * what C does not connect with the support of a sparse start stays zero for ever, as in every method
//!   with full gradients. The first 20 variables of w1a only occur together with 14 others: ℓ0 PCA with
//!   λ = 1 ends at -1.1e3 from the identity, at -6.6e3 from the leading eigenvectors.
//! * with a large λ nothing that it finds is as good as a sparse start, which is handed back then: on
//!   randn:500:1000, λ = 100, the identity has F = -3.0e3 and the method's own iterate ends at +7e2
//!   (the papers' LADMM row says +2e2). While √(2λ/β) > 1 the prox leaves no entry, so Y = 0 and X
//!   forgets the start; by the time entries survive, β is so large that X does not move.
//!
//! Once X and Y have met (‖X − Y‖/√r of 1e-3 or so), where it will end is mostly decided: F of the feasible copy is then often within some
//! 1e-3 of |F| of the end (with ℓ1 on data without structure within 2 %), for which it takes two to ten times as many iterations again. With `near` it ends there, so that another solver
//! continues; a search of many runs does that.
//!
//! The stationarity measure is ‖X − Y‖/√r plus the violation of ∇f(X) + Z ∈ normal space, bounded by
//! what the iteration moved and relative to the largest ‖∇f‖ met; Z ∈ ∂h(Y) holds exactly.
//!
//! Cost per iteration: a gradient and 4nr² flops.

use super::proximal::Copies;
use crate::prelude::*;
use orthopt_linalg::kernels::squared_distance;
use orthopt_linalg::orthonormal::nearest;
use orthopt_linalg::simd::dispatch;

constants! {
    /// LADMM; the papers leave its constants open.
    #[derive(Copy)]
    pub struct Ladmm {
        /// first penalty parameter; chosen as L/100, L = ||hess f||, unless set
        beta ["β"]: Option<f64> = None, "a number > 0" if |v| v > 0.0;
        /// growth of beta per iteration (1: fixed)
        rho ["ρ"]: f64 = 1.01, "from 1 to 2" if |v| (1.0..=2.0).contains(&v);
        /// largest beta, in units of L
        most ["β/L"]: f64 = 1e6, "a number > 0" if |v| v > 0.0;
        /// ends where ||X - Y||/sqrt(r) is no larger, for another solver to continue (0: not before it has converged)
        near [""]: f64 = 0.0, "a number >= 0" if |v| v >= 0.0;
    }
}

/// Entry of the registry.
pub const INFO: Preset<Ladmm> = Preset::new(
    "ladmm",
    "linearised ADMM with an orthonormal X and a sparse copy; feasible in the limit",
    Domain::EVERY,
);

/// First β in units of L.
const FIRST: f64 = 0.01;
/// β grows while ‖X − Y‖/√r is above this,
const NEAR: f64 = 1e-3;
/// and while it is above this share of the dual residual.
const BALANCE: f64 = 0.1;

/// Iterations before X and Y are taken to have met: both start at X⁰.
const SETTLED: u64 = 30;

/// State of LADMM.
#[derive(Clone, Debug)]
pub struct State {
    at: Copies,   // Xᵏ and Yᵏ
    z: RowMat,    // Zᵏ, multiplier of X = Y
    next: RowMat, // Xᵏ⁺¹
}

/// Numbers of X, Y and Z that are taken together: what the nearest cache holds. Whole rows where h is a function of rows.
const BLOCK: usize = 512;

impl State {
    /// W ← X − (∇f(X) + Z + β(X − Y))/ℓ.
    fn step_from(&mut self, ell: f64) {
        let beta = self.at.beta;
        let at = &mut self.at;
        let w = at.work.data_mut();
        let (x, y) = (&at.x.data()[..w.len()], &at.y.data()[..w.len()]);
        let (z, g) = (&self.z.data()[..w.len()], &at.grad.data()[..w.len()]);
        dispatch(|| {
            for k in 0..w.len() {
                w[k] = x[k] - (g[k] + z[k] + beta * (x[k] - y[k])) / ell;
            }
        });
    }

    /// X is the next one, and Y ← prox_{h/β}(X + Z/β), Z ← Z + β(X − Y). How far X and Y have moved, and ‖X − Y‖.
    fn follow<H: Nonsmooth>(&mut self, h: &H) -> [f64; 3] {
        let beta = self.at.beta;
        let at = &mut self.at;
        let mut squares = [0.0; 3];
        let r = at.work.ncols();
        let block = if h.row_weight().is_some() { (BLOCK / r).max(1) * r } else { BLOCK };
        for start in (0..at.work.data().len()).step_by(block) {
            let part = start..(start + block).min(at.work.data().len());
            let w = &mut at.work.data_mut()[part.clone()];
            let (x, y) = (&self.next.data()[part.clone()], &at.y.data()[part.clone()]);
            let (before, z) = (&at.x.data()[part.clone()], &mut self.z.data_mut()[part]);
            dispatch(|| w.iter_mut().zip(x).zip(&*z).for_each(|((w, x), z)| *w = x + z / beta));
            h.prox_rows(w, r, 1.0 / beta);
            dispatch(|| {
                z.iter_mut().zip(x).zip(&*w).for_each(|((z, x), y)| *z += beta * (x - y));
                squares[0] += squared_distance(x, before);
                squares[1] += squared_distance(w, y);
                squares[2] += squared_distance(x, w);
            });
        }
        std::mem::swap(&mut at.x, &mut self.next);
        std::mem::swap(&mut at.y, &mut at.work);
        squares.map(f64::sqrt)
    }
}

impl<F: Smooth, H: Nonsmooth> Solver<Problem<Stiefel, F, H>> for Ladmm {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, x0: RowMat) -> Result<State> {
        let at = Copies::new(p, x0, self.beta, FIRST)?;
        let zeros = RowMat::zeros(at.x.nrows(), at.x.ncols());
        Ok(State { at, z: zeros.clone(), next: zeros })
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> Step {
        let (beta, ell) = (st.at.beta, st.at.ell(&p.f));
        // X ← nearest(X − (∇f(X) + Z + β(X − Y))/ℓ)
        p.f.gradient(&st.at.x, &mut st.at.grad);
        st.at.relative.meet(&st.at.grad);
        st.step_from(ell);
        if !nearest(&st.at.work, &mut st.next) {
            return Step::ended(Some((
                Status::NumericalError,
                "the gradient or the multiplier is not finite",
            )));
        }
        let [dx, dy, apart] = st.follow(&p.h);
        let at = &mut st.at;
        // Z ∈ ∂h(Y) holds exactly; the other two conditions up to these
        let primal = at.primal(apart);
        let dual = at.relative.to((at.lipschitz + beta + ell) * dx + beta * dy);
        at.residual = primal + dual;
        if primal > NEAR || primal >= BALANCE * dual {
            at.raise_beta(self.rho, self.most);
        }
        let ended = at.end_iteration(p, self.near > 0.0);
        if self.near > 0.0 && primal <= self.near && at.iterations() >= SETTLED {
            return Step::ended(Some((Status::Stalled, "X and its sparse copy agree")));
        }
        Step::ended(ended)
    }

    fn current<'a>(&self, _: &Problem<Stiefel, F, H>, st: &'a State) -> Current<'a> {
        st.at.current()
    }

    fn confirmed(&self, p: &Problem<Stiefel, F, H>, st: &State) -> Option<Confirmed> {
        st.at.confirmed(p)
    }

    fn finish(&self, p: &Problem<Stiefel, F, H>, st: State) -> Ending {
        let mut details = Details::of(self, INFO.constants);
        details.set("beta_at_end", st.at.beta);
        st.at.finish(p, details)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthopt_core::penalty::{AnyPenalty, L0};
    use orthopt_core::problem::PcaProblem;
    use orthopt_core::smooth::{AnySmooth, DenseQuadratic};

    /// Lines Y and Z of the method, entry by entry, on matrices that are longer than a block and no multiple of it.
    #[test]
    fn block_by_block_is_entry_by_entry() {
        let (n, r, beta) = (2 * BLOCK / 5 + 3, 5, 0.7);
        let identity = RowMat::from_fn(n, n, |i, j| f64::from(u8::from(i == j))).to_mat();
        let f = AnySmooth::Dense(DenseQuadratic::negative(identity.as_ref()).unwrap());
        let p = PcaProblem::new(f, AnyPenalty::L0(L0::new(0.1).unwrap()), r).unwrap();
        let x0 = RowMat::from_fn(n, r, |i, k| f64::from(u8::from(i == k)));
        let mut st = Ladmm::DEFAULT.init(&p, x0).unwrap();
        let wave = |a: f64| RowMat::from_fn(n, r, |i, k| (a * (i * r + k) as f64).sin());
        (st.at.x, st.at.y, st.z, st.next) = (wave(0.3), wave(0.5), wave(0.7), wave(1.1));
        let (x, y, z, next) = (st.at.x.clone(), st.at.y.clone(), st.z.clone(), st.next.clone());
        st.at.beta = beta;
        let moved = st.follow(&p.h);
        let slow_y = RowMat::from_fn(n, r, |i, k| p.h.prox(next.get(i, k) + z.get(i, k) / beta, 1.0 / beta));
        let slow_z = RowMat::from_fn(n, r, |i, k| z.get(i, k) + beta * (next.get(i, k) - slow_y.get(i, k)));
        assert_eq!((&st.at.x, &st.at.y, &st.z), (&next, &slow_y, &slow_z));
        let apart = |a: &RowMat, b: &RowMat| RowMat::from_fn(n, r, |i, k| a.get(i, k) - b.get(i, k)).norm();
        let slow = [apart(&next, &x), apart(&slow_y, &y), apart(&next, &slow_y)];
        assert!(moved.iter().zip(slow).all(|(a, b)| (a - b).abs() < 1e-12 * b), "{moved:?} {slow:?}");
    }
}
