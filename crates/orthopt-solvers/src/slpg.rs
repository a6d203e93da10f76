//! SLPG: the sequential linearised proximal gradient method for f(X) + h(X), XᵀX = I, with a
//! convex finite h (Xiao, Liu, Yuan 2021; Liu, Xiao, Yuan 2024, Algorithm 1 with Arrow–Hurwicz
//! multipliers, steps of Barzilai and Borwein as in their STOP toolbox).
//!
//! ```text
//! for k = 0, 1, ...
//!   Z ← prox_ηh(X − η(∇f(X) − XM))                           tangential step, M the multiplier
//!   X ← A(Z),  A(Z) = Z(3I − ZᵀZ)/2                          normal step
//!   M ← M − sym(Xᵀ(prox_ηh(X − η(∇f(X) − XM)) − X))/η, a few times      Arrow–Hurwicz
//!   η ← |⟨s, s⟩/⟨s, y⟩|, s and y the changes of X and of ∇f(X) − XM
//! ```
//!
//! No subproblem is solved and nothing is retracted: X is feasible in the limit only, the error
//! being of fourth order in the step. A feasible copy is kept beside it and handed out.
//!
//! The public code takes every step of any length, which sends columns to coordinate vectors or
//! to NaN. Here (1) a step must lower φ(X) = F(X) − ½⟨M, XᵀX − I⟩ below the largest of its last m
//! values, (2) Z must stay where A leads back to the manifold, otherwise η is halved, and (3) the
//! stationarity measure is ‖Z − X‖·max(1/η, L), relative to the largest ‖∇f‖ met, so that a long
//! step cannot pass for convergence, (4) a step that is refused is tried again with the multiplier
//! that belongs to its length.
//!
//! Cost per iteration: a gradient and 4nr² flops for each of the normal step and the one to five
//! updates of M.

use std::collections::VecDeque;

use super::proximal::{Feasible, Point, Progressing, Relative, curvature, distance, feasible_start};
use crate::prelude::*;
use orthopt_linalg::orthonormal::nearest;
use orthopt_linalg::products::{cross, gram, multiply, product};
use orthopt_linalg::simd::dispatch;

constants! {
    /// SLPG with the constants of STOP unless set.
    #[derive(Copy)]
    pub struct Slpg {
        /// maximum number of Arrow-Hurwicz updates of the multiplier per iteration
        inner [""]: usize = 5, "a whole number from 1 to 1000" if |v| (1.0..=1000.0).contains(&v);
        /// values of phi a step is compared with (1: monotone)
        memory ["m"]: usize = 20, "a whole number from 1 to 1000" if |v| (1.0..=1000.0).contains(&v);
        /// largest eta, in units of 1/L
        longest ["ηL"]: f64 = 1e3, "a number >= 1" if |v| v >= 1.0;
    }
}

/// Entry of the registry.
pub const INFO: Preset<Slpg> = Preset::new(
    "slpg",
    "sequential linearised proximal gradient, no subproblems and no retractions; feasible in the limit",
    Domain::FINITE_CONVEX,
);

/// ‖ZᵀZ − I‖_F up to which A is a contraction towards the manifold with a margin.
const BASIN: f64 = 0.9;
/// ‖XᵀX − I‖_F that X is brought to before it is used, by further applications of A.
const NEAR: f64 = 1e-2;
/// Halvings of η before X is projected onto the manifold and the search begins afresh.
const HALVINGS: u32 = 30;

/// State of SLPG.
#[derive(Clone, Debug)]
pub struct State {
    at: Point,             // Xᵏ with ∇f, f, h
    trial: Point,          // A(Z)
    m: RowMat,             // M, multiplier: ∇f(X) + ∂h(X) ∋ XM at a critical point
    z: RowMat,             // Z, the sparse point before the normal step
    work: RowMat,          // n × r
    xtx: RowMat,           // XᵀX of the trial point
    eta: f64,              // η
    lipschitz: f64,        // L
    recent: VecDeque<f64>, // the last m values of φ
    moved: f64,            // ‖Z − X‖_F of the last step
    taken: f64,            // η of the last step
    relative: Relative,
    best: Feasible,
    iterations: u64,
    updates: u64,  // Arrow–Hurwicz updates
    halvings: u64, // of η
    progress: Progressing,
}

impl State {
    /// ‖Z − X‖·max(1/η, L) relative to the largest ‖∇f‖ met.
    fn residual(&self) -> f64 {
        self.relative.to(self.moved * (1.0 / self.taken).max(self.lipschitz))
    }

    /// φ(X) = F(X) − ½⟨M, XᵀX − I⟩: the multiplier takes away what F gains by leaving the
    /// manifold.
    fn phi(&self, point: &Point, xtx: &RowMat) -> f64 {
        let trace: f64 = (0..self.m.nrows()).map(|k| self.m.get(k, k)).sum();
        point.objective() - 0.5 * (self.m.inner(xtx) - trace)
    }
}

/// z ← prox_ηh(X − η(∇f(X) − XM)).
fn tangential_step<H: Nonsmooth>(h: &H, z: &mut RowMat, at: &Point, m: &RowMat, eta: f64) {
    let out = z.data_mut();
    dispatch(|| {
        for ((z, x), g) in out.iter_mut().zip(at.x.data()).zip(at.grad.data()) {
            *z = x - eta * g;
        }
    });
    product(z, true, eta, at.x.as_mat(), m.as_mat());
    h.prox_rows(z.data_mut(), at.x.ncols(), eta);
}

/// out ← A(Z), applied until ‖XᵀX − I‖ ≤ NEAR; XᵀX, or `None` where Z is too far off. All but the
/// last product are r × r.
fn normal_step(z: &RowMat, out: &mut RowMat) -> Option<RowMat> {
    let r = z.ncols();
    let identity = |k: usize, l: usize| f64::from(u8::from(k == l));
    let error = |g: &RowMat| {
        g.data().iter().enumerate().map(|(k, v)| (v - identity(k / r, k % r)).powi(2)).sum::<f64>().sqrt()
    };
    let mut g = gram(z);
    let mut total = RowMat::from_fn(r, r, identity);
    let mut off = error(&g);
    loop {
        if off.is_nan() || off > BASIN {
            return None;
        }
        let w = RowMat::from_fn(r, r, |k, l| 1.5 * identity(k, l) - 0.5 * g.get(k, l));
        let next = multiply(total.as_mat(), w.as_mat());
        total = next;
        let (mut gw, mut wgw) = (RowMat::zeros(r, r), RowMat::zeros(r, r));
        product(&mut gw, false, 1.0, g.as_mat(), w.as_mat());
        product(&mut wgw, false, 1.0, w.as_mat(), gw.as_mat());
        g = wgw;
        off = error(&g);
        if off <= NEAR {
            break;
        }
    }
    product(out, false, 1.0, z.as_mat(), total.as_mat());
    Some(g)
}

impl Slpg {
    /// Tangential and normal step with an η that is accepted.
    fn move_x<F: Smooth, H: Nonsmooth>(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> bool {
        for attempt in 0..=2 * HALVINGS {
            if attempt == HALVINGS {
                // the merit function has lost its meaning: begin afresh on the manifold
                let x = st.at.x.clone();
                if !nearest(&x, &mut st.at.x) {
                    return false;
                }
                st.at.evaluate(p);
                st.xtx = gram(&st.at.x);
                st.eta = 1.0 / st.lipschitz;
                st.recent.clear();
                st.recent.push_back(st.phi(&st.at, &st.xtx));
            }
            tangential_step(&p.h, &mut st.z, &st.at, &st.m, st.eta);
            st.moved = distance(&st.z, &st.at.x);
            if let Some(xtx) = normal_step(&st.z, &mut st.trial.x) {
                st.trial.evaluate(p);
                let reference = st.recent.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let wanted = 1e-4 * st.moved.powi(2) / st.eta;
                if st.phi(&st.trial, &xtx) <= reference - wanted + st.at.rounding() {
                    std::mem::swap(&mut st.at, &mut st.trial);
                    st.xtx = xtx;
                    st.taken = st.eta;
                    st.relative.meet(&st.at.grad);
                    return true;
                }
            }
            // shorter, and with the multiplier that belongs to it: only then is the step sure to descend
            st.eta *= 0.5;
            st.halvings += 1;
            self.update_multiplier(&p.h, st);
        }
        false
    }

    /// Arrow–Hurwicz: M moves until the tangential step keeps sym(Xᵀ·) = I. The dual function has
    /// curvature between 0 and η, so 1/η is the step of gradient ascent.
    fn update_multiplier<H: Nonsmooth>(&self, h: &H, st: &mut State) {
        let eta = st.eta;
        for _ in 0..self.inner {
            tangential_step(h, &mut st.work, &st.at, &st.m, eta);
            let xtz = cross(&st.at.x, &st.work);
            let r = xtz.nrows();
            let mut size = 0.0;
            for k in 0..r {
                for l in 0..r {
                    let d = 0.5 * (xtz.get(k, l) + xtz.get(l, k)) - st.xtx.get(k, l);
                    size += d * d;
                    st.m.set(k, l, st.m.get(k, l) - d / eta);
                }
            }
            st.updates += 1;
            if size.sqrt() <= 1e-2 * st.moved.min(1.0) {
                break;
            }
        }
    }

    /// η ← |⟨s, s⟩/⟨s, y⟩|, between 1/L and the longest; `trial` holds the point before.
    fn update_length(&self, st: &mut State, m_before: &RowMat) {
        let s = &mut st.work;
        super::proximal::difference(s, &st.at.x, &st.trial.x);
        let ss = s.inner(s);
        // ⟨s, y⟩ with y = Δ∇f − X⁺M⁺ + XM
        let gradients = s.inner(&st.at.grad) - s.inner(&st.trial.grad);
        let multipliers = cross(&st.at.x, s).inner(&st.m) - cross(&st.trial.x, s).inner(m_before);
        let length = ss / (gradients - multipliers).abs();
        let shortest = 1.0 / st.lipschitz;
        st.eta = if length.is_finite() { length.clamp(shortest, self.longest * shortest) } else { shortest };
    }
}

impl<F: Smooth, H: Nonsmooth> Solver<Problem<Stiefel, F, H>> for Slpg {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, x0: RowMat) -> Result<State> {
        INFO.check(&p.h)?;
        let x0 = feasible_start(p, x0)?;
        let lipschitz = curvature(&p.f, &x0);
        let best = Feasible::new(p, &x0);
        let at = Point::new(p, x0);
        let xtg = cross(&at.x, &at.grad);
        let mut relative = Relative::default();
        relative.meet(&at.grad);
        let mut state = State {
            trial: at.clone(),
            m: xtg.symmetric_part(),
            z: at.x.clone(),
            work: at.x.clone(),
            xtx: gram(&at.x),
            eta: 1.0 / lipschitz,
            lipschitz,
            recent: VecDeque::from([at.objective()]),
            moved: 1.0,
            taken: 1.0 / lipschitz,
            relative,
            best,
            iterations: 0,
            updates: 0,
            halvings: 0,
            progress: Progressing::default(),
            at,
        };
        self.update_multiplier(&p.h, &mut state);
        Ok(state)
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> Step {
        if !self.move_x(p, st) {
            return Step::ended(Some((Status::Stalled, "no step lowers the merit function")));
        }
        let m_before = st.m.clone();
        self.update_multiplier(&p.h, st);
        self.update_length(st, &m_before);
        let phi = st.phi(&st.at, &st.xtx);
        if st.recent.len() == self.memory {
            st.recent.pop_front();
        }
        st.recent.push_back(phi);
        st.iterations += 1;
        if st.best.is_due(st.iterations) {
            st.best.offer(p, &st.at.x, &st.z);
        }
        let residual = st.residual();
        Step::ended(st.progress.note(st.best.objective, residual))
    }

    fn current<'a>(&self, _: &Problem<Stiefel, F, H>, st: &'a State) -> Current<'a> {
        st.best.current(st.residual())
    }

    fn confirmed(&self, p: &Problem<Stiefel, F, H>, st: &State) -> Option<Confirmed> {
        st.best.confirmed(p, &st.at.x, &st.z)
    }

    fn finish(&self, p: &Problem<Stiefel, F, H>, st: State) -> Ending {
        let mut details = Details::of(self, INFO.constants);
        details.set("iterations", st.iterations);
        details.set("multiplier_updates", st.updates);
        details.set("halvings", st.halvings);
        st.best.finish(p, (&st.at.x, &st.z), &st.at.x, details)
    }
}
