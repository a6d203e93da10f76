//! EP4Orth+: the exact penalty method for f(X), XᵀX = I, X ≥ 0 (Jiang, Meng, Wen, Chen: An exact penalty
//! approach for optimization with nonnegative orthogonality constraints. Math. Program. 198 (2023) 855–897;
//! the variant with first-order subproblems of their code).
//!
//! A nonnegative X with columns of unit length is orthonormal where ‖XV‖_F = 1, V any matrix of norm 1 with
//! VVᵀ > 0; it is at least 1 elsewhere. With V = 1/√r, a vector:
//!
//! ```text
//! for t = 0, 1, ...
//!   X ← about argmin f(X)/L + σ(‖XV‖² − 1),  X ≥ 0, unit columns      projected gradients, steps of Barzilai
//!   σ ← ω₂σ,  tol ← ω₃ tol                                            and Borwein, nonmonotone search
//! until ‖XV‖² − 1 ≤ 1e-8; then rows keep their largest entry, and columns are optimised on their support
//! ```
//!
//! Columns share variables as long as σ is small and are driven apart slowly: with many components this ends
//! lower than methods that decide early whose a variable is.
//!
//! The paper's data have ‖A‖_F = 1; here f is divided by L = ‖∇²f‖, so that σ does not depend on scale, and
//! σ begins at 1e-2 in these units (randn:500:1000, r = 20: -11294 from 1e-3, -11875 from 1e-2, -11790 from
//! 1e-1, where σ begins the run near the end of what columns can share). The subproblem ends by its own
//! gradient, penalty included. Cost per iteration: a gradient and 4nr flops.

use super::proximal::{Feasible, Relative, curvature, distance, feasible_start};
use crate::prelude::*;

constants! {
    /// EP4Orth+ with the constants of its code unless set.
    #[derive(Copy)]
    pub struct Ep4Orth {
        /// first weight of the penalty, in units of L
        sigma ["σ/L"]: f64 = 1e-2, "a number > 0" if |v| v > 0.0;
        /// growth of sigma from one subproblem to the next
        growth ["ω₂"]: f64 = 1.05, "above 1, at most 10" if |v| v > 1.0 && v <= 10.0;
        /// first tolerance of the subproblem
        accuracy [""]: f64 = 0.1, "a number > 0" if |v| v > 0.0;
        /// most steps for one subproblem
        inner [""]: u32 = 20, "a whole number from 1 to 100000" if |v| (1.0..=1e5).contains(&v);
    }
}

/// Entry of the registry.
pub const INFO: Preset<Ep4Orth> = Preset::new(
    "ep4orth",
    "exact penalty for nonnegative X: columns of unit length, their overlaps penalised increasingly",
    DOMAIN,
);

const DOMAIN: Domain =
    Domain { penalties: Penalties::Nonnegative, words: "X >= 0 without another penalty (nonneg-pca)" };

/// ω₃, and the least tolerance of a subproblem.
const TIGHTER: f64 = 0.98;
const TIGHTEST: f64 = 1e-7;
/// ‖XV‖² − 1 at which columns are apart.
const APART: f64 = 1e-8;
/// Largest σ.
const MOST: f64 = 1e5;
/// Weight of the past in the reference value of the search, and the decrease asked for.
const MEMORY: f64 = 0.85;
const DECREASE: f64 = 1e-6;
/// Shortest and longest step, in units of 1/L.
const SHORTEST: f64 = 1e-10;
const LONGEST: f64 = 1e6;
/// Rounding errors of the function, relative to it.
const ROUNDING: f64 = 1e-14;
/// Length of a projected gradient step that rounding allows at the end, relative to √r.
const EXACT: f64 = 1e-9;

/// State of EP4Orth+.
#[derive(Clone, Debug)]
pub struct State {
    x: RowMat,                  // X: nonnegative, unit columns
    g: RowMat,                  // gradient of f/L + σ‖XV‖²
    value: f64,                 // its value
    sigma: f64,                 // σ
    tolerance: f64,             // of the subproblem
    step: f64,                  // of Barzilai and Borwein
    reference: f64,             // value that a step is compared with
    weight: f64,                // of this reference
    inner: u32,                 // steps in this subproblem
    overlap: f64,               // ‖XV‖² − 1
    moved: f64,                 // ‖P(X − G) − X‖_F
    support: Option<Vec<bool>>, // once columns are apart: where X may be positive
    lipschitz: f64,             // L
    relative: Relative,
    best: Feasible,
    iterations: u64,
    subproblems: u64,
}

/// The nearest nonnegative matrix with unit columns; where a column has nothing positive (on the support), its
/// largest entry becomes 1.
fn project(x: &mut RowMat, support: Option<&[bool]>) {
    let (n, r) = (x.nrows(), x.ncols());
    let mut squares = vec![0.0; r];
    let mut largest = vec![(f64::NEG_INFINITY, 0); r];
    for i in 0..n {
        for (k, v) in x.row_mut(i).iter_mut().enumerate() {
            if support.is_some_and(|s| !s[i * r + k]) {
                *v = 0.0;
                continue;
            }
            if *v > largest[k].0 {
                largest[k] = (*v, i);
            }
            *v = v.max(0.0);
            squares[k] += *v * *v;
        }
    }
    for k in 0..r {
        if squares[k] == 0.0 {
            x.set(largest[k].1, k, 1.0);
            squares[k] = 1.0;
        }
    }
    let scale: Vec<f64> = squares.iter().map(|s| s.sqrt().recip()).collect();
    for i in 0..n {
        x.row_mut(i).iter_mut().zip(&scale).for_each(|(v, s)| *v *= s);
    }
}

impl State {
    /// Value and gradient of f/L + σ(‖XV‖² − 1) at X, and ‖XV‖² − 1.
    fn evaluate<F: Smooth>(&mut self, f: &F, x: &RowMat, g: &mut RowMat) -> (f64, f64) {
        let value = f.value_and_gradient(x, g) / self.lipschitz;
        if g.find_non_finite().is_some() {
            return (f64::NAN, f64::NAN);
        }
        self.relative.meet(g);
        let r = x.ncols() as f64;
        let mut square = 0.0;
        for i in 0..x.nrows() {
            let sum: f64 = x.row(i).iter().sum(); // √r (XV)ᵢ
            square += sum * sum / r;
            let pull = 2.0 * self.sigma * sum / r;
            g.row_mut(i).iter_mut().for_each(|v| *v = *v / self.lipschitz + pull);
        }
        (value + self.sigma * (square - 1.0), square - 1.0)
    }

    /// ‖P(X − G) − X‖_F.
    fn gradient_step(&self) -> f64 {
        let mut x = self.stepped(1.0);
        project(&mut x, self.support.as_deref());
        distance(&x, &self.x)
    }

    fn stepped(&self, step: f64) -> RowMat {
        let mut x = self.x.clone();
        x.data_mut().iter_mut().zip(self.g.data()).for_each(|(v, g)| *v -= step * g);
        x
    }

    /// Another function to minimise: σ or the support has changed.
    fn restart<F: Smooth>(&mut self, f: &F) {
        let mut g = RowMat::zeros(self.x.nrows(), self.x.ncols());
        (self.value, self.overlap) = self.evaluate(f, &self.x.clone(), &mut g);
        self.g = g;
        (self.reference, self.weight) = (self.value, 1.0);
        (self.step, self.inner) = (1.0, 0);
        self.moved = f64::INFINITY;
    }

    /// A projected gradient step; false where none lowers the function, `None` where it is no number on the way.
    fn descend<F: Smooth>(&mut self, f: &F) -> Option<bool> {
        let mut g = RowMat::zeros(self.x.nrows(), self.x.ncols());
        loop {
            let mut x = self.stepped(self.step);
            project(&mut x, self.support.as_deref());
            let length = distance(&x, &self.x).powi(2);
            let (value, overlap) = self.evaluate(f, &x, &mut g);
            if !value.is_finite() {
                return None;
            }
            let rounding = ROUNDING * value.abs();
            if value <= self.reference - DECREASE / self.step * length + rounding {
                self.accept(x, g, (value, overlap), length);
                return Some(true);
            }
            self.step *= 0.5;
            if self.step < SHORTEST {
                return Some(false);
            }
        }
    }

    fn accept(&mut self, x: RowMat, g: RowMat, (value, overlap): (f64, f64), length: f64) {
        let (mut sy, mut yy) = (0.0, 0.0);
        let changes = x.data().iter().zip(self.x.data()).zip(g.data().iter().zip(self.g.data()));
        for ((x, before), (g, g_before)) in changes {
            sy += (x - before) * (g - g_before);
            yy += (g - g_before).powi(2);
        }
        let before = self.weight;
        self.weight = MEMORY * before + 1.0;
        self.reference = (MEMORY * before * self.reference + value) / self.weight;
        (self.x, self.g, self.value, self.overlap) = (x, g, value, overlap);
        let step = (sy / yy).abs();
        self.step = if length > 0.0 && step.is_finite() { step.clamp(SHORTEST, LONGEST) } else { 1.0 };
        self.inner += 1;
    }
}

impl Ep4Orth {
    /// Columns are driven further apart, or are apart.
    fn next_subproblem<F: Smooth, H: Nonsmooth>(&self, p: &Problem<Stiefel, F, H>, st: &mut State) {
        st.subproblems += 1;
        if st.overlap <= APART || st.sigma >= MOST {
            st.best.offer(p, &st.x, &st.x);
            st.x = st.best.x.clone();
            st.support = Some(st.x.data().iter().map(|v| *v > 0.0).collect());
            st.sigma = 0.0;
        } else {
            st.sigma = (st.sigma * self.growth).min(MOST);
            st.tolerance = (st.tolerance * TIGHTER).max(TIGHTEST);
        }
        st.restart(&p.f);
    }
}

impl<F: Smooth, H: Nonsmooth> Solver<Problem<Stiefel, F, H>> for Ep4Orth {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, x0: RowMat) -> Result<State> {
        INFO.check(&p.h)?;
        let x0 = feasible_start(p, x0)?;
        let mut st = State {
            best: Feasible::new(p, &x0),
            g: RowMat::zeros(x0.nrows(), x0.ncols()),
            lipschitz: curvature(&p.f, &x0),
            x: x0,
            value: 0.0,
            sigma: self.sigma,
            tolerance: self.accuracy,
            step: 1.0,
            reference: 0.0,
            weight: 1.0,
            inner: 0,
            overlap: 0.0,
            moved: f64::INFINITY,
            support: None,
            relative: Relative::default(),
            iterations: 0,
            subproblems: 0,
        };
        project(&mut st.x, None);
        st.restart(&p.f);
        Ok(st)
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> Step {
        st.iterations += 1;
        let Some(descended) = st.descend(&p.f).filter(|_| st.value.is_finite()) else {
            return Step::ended(Some((Status::NumericalError, "f is not finite")));
        };
        st.moved = st.gradient_step();
        if st.best.is_due(st.iterations) {
            st.best.offer(p, &st.x, &st.x);
        }
        if st.support.is_some() {
            let exact = st.moved <= EXACT * (st.x.ncols() as f64).sqrt();
            return Step::ended(match (exact, descended) {
                (true, _) => {
                    Some((Status::Converged, "the columns share no row and are critical on their supports"))
                }
                (_, false) => Some((Status::Stalled, "no step lowers f on the supports of the columns")),
                _ => None,
            });
        }
        let goes_on = descended && st.inner < self.inner && (st.moved >= st.tolerance || st.inner < 3);
        if !goes_on {
            self.next_subproblem(p, st);
        }
        Step::default()
    }

    fn current<'a>(&self, _: &Problem<Stiefel, F, H>, st: &'a State) -> Current<'a> {
        let apart = if st.support.is_some() { 0.0 } else { st.overlap };
        st.best.current(apart + st.relative.to(st.lipschitz * st.moved))
    }

    fn confirmed(&self, p: &Problem<Stiefel, F, H>, st: &State) -> Option<Confirmed> {
        st.best.confirmed(p, &st.x, &st.x)
    }

    fn finish(&self, p: &Problem<Stiefel, F, H>, st: State) -> Ending {
        let mut details = Details::of(self, INFO.constants);
        details.set("sigma_at_end", st.sigma);
        details.set("subproblems", st.subproblems);
        details.set("iterations", st.iterations);
        st.best.finish(p, (&st.x, &st.x), &st.x, details)
    }
}
