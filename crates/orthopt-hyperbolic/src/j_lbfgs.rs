//! L-BFGS on the J-orthogonal group: min f(X), XᵀJX = J, for any smooth f.
//!
//! ```text
//! Ω = J∇f(X)Xᵀ − (J∇f(X)Xᵀ)ᵀ                 the gradient: f falls along X(t), t = 0, at the rate ½⟨Ω, S⟩
//! S = −H·Ω                                   two loops over the last m pairs (s, y) of skew matrices
//! X(t) = (I − ½tJS)⁻¹(I + ½tJS)·X            a Cayley transform: on the group for every t
//! t      f(X(t)) ≤ f(X) + c₁tφ,  ½⟨Ω(t), S⟩ ≥ c₂φ,  φ = ½⟨Ω, S⟩   (weak Wolfe, by bisection)
//! s = tS,  y = Ω(t) − Ω
//! ```
//!
//! The tangent space at X is {JSX : S skew}, so skew matrices are coordinates that need no transport from one X to the next.
//! J-JOBCD and its rivals follow the gradient; near a minimum of an ill-conditioned f this one learns the curvature, which
//! is why it ends their runs in the search of the default. Liu and Nocedal 1989 for the two loops, Lewis and Overton 2013 for the
//! line search, which also passes kinks of f. Cost of an iteration: f and ∇f once or twice, 4m·n²/2 + 6n³ flops.

use std::collections::VecDeque;

use super::jobcd::{beyond_limit, largest_row};
use crate::EVERY_F;
use orthopt_core::constraint::JOrthogonal;
use orthopt_core::constraint::j_orthogonal::{self, Signature, max_abs};
use orthopt_linalg::long::is_left;
use orthopt_linalg::products::{multiply, product};
use orthopt_linalg::sequential::lu_solve;
use orthopt_solvers::prelude::*;

/// Entry of the registry.
pub const INFO: Preset<JLbfgs> = Preset::new(
    "j-lbfgs",
    "L-BFGS in the Lie algebra with Cayley steps; feasible and monotone, for any f",
    EVERY_F,
);

constants! {
    /// The solver.
    pub struct JLbfgs {
        /// pairs (s, y) that are kept
        memory ["m"]: usize = 20, "a whole number from 1 to 1000" if |v| (1.0..=1000.0).contains(&v);
        /// largest ||tS||_F of a step; larger boosts change the size of X by large factors
        radius [""]: f64 = 1.0, "a number > 0 and <= 2" if |v| v > 0.0 && v <= 2.0;
        /// row norm of X at which a run with an f that may be unbounded ends
        norm_limit [""]: f64 = 1e4, "a finite number >= 1" if |v| v >= 1.0;
    }
}

/// c₁ and c₂ of the weak Wolfe conditions.
const DECREASE: f64 = 1e-4;
const SLOPE: f64 = 0.9;
/// Trials of a line search.
const TRIALS: u32 = 40;
/// Iterations between two checks of feasibility, and what is repaired.
const CHECK: u64 = 50;
const DRIFT: f64 = 1e-13;

/// State of the solver.
#[derive(Clone, Debug)]
pub struct State {
    x: RowMat,                                  // Xᵗ
    f: f64,                                     // f(Xᵗ)
    omega: Vec<f64>,                            // Ω above the diagonal, row by row
    pairs: VecDeque<(Vec<f64>, Vec<f64>, f64)>, // s, y, 1/⟨s, y⟩
    residual: f64,                              // max |Ω| relative to the largest |W|
    scale: f64,                                 // that |W|, W = ∇f(X)Xᵀ
    iterations: u64,
    gradients: u64,
    repairs: u64,
    ended: Option<(Status, &'static str)>,
}

impl<F: Smooth> Solver<Problem<JOrthogonal, F>> for JLbfgs {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn behaviour(&self, _: &Problem<JOrthogonal, F>) -> Behaviour {
        Behaviour::fading(Stagnation::Work)
    }

    fn init(&self, p: &Problem<JOrthogonal, F>, x0: RowMat) -> Result<State> {
        j_orthogonal::check(&x0, p.signature(), "the starting point X")?;
        let mut scale = 0.0;
        let (f, omega, residual) = look(p, &x0, &mut scale);
        let pairs = VecDeque::new();
        let (x, ended) = (x0, None);
        Ok(State { x, f, omega, pairs, residual, scale, iterations: 0, gradients: 1, repairs: 0, ended })
    }

    fn step(&self, p: &Problem<JOrthogonal, F>, st: &mut State) -> Step {
        if is_over(st) {
            return Step::default();
        }
        st.iterations += 1;
        let mut direction = direction(st);
        if dot(&st.omega, &direction) >= 0.0 {
            st.pairs.clear(); // rounding: what is remembered is worth nothing
            direction = st.omega.iter().map(|v| -v).collect();
        }
        match self.line_search(p, st, &direction) {
            Some(found) => self.accept(p, st, &direction, found),
            None if is_over(st) => {} // X is what there is
            None if st.pairs.is_empty() => {
                st.ended =
                    Some((Status::Stalled, "no step along the gradient lowers f: a kink, or rounding"));
            }
            None => st.pairs.clear(), // once more along the gradient
        }
        Step::ended(st.ended).with_residual(Some(st.residual))
    }

    fn current<'a>(&self, _: &Problem<JOrthogonal, F>, st: &'a State) -> Current<'a> {
        Current::new(&st.x, st.f)
    }

    fn finish(&self, p: &Problem<JOrthogonal, F>, mut st: State) -> Ending {
        let mut details = Details::of(self, Self::LIST);
        details.set("gradients", st.gradients);
        details.set("repairs", st.repairs);
        details.set("component_gradients", p.f.components() as u64 * st.gradients);
        j_orthogonal::repair(&mut st.x, p.signature());
        Ending::new(st.x, details)
    }
}

/// Result of a line search.
struct Found {
    t: f64,
    x: RowMat,
    f: f64,
    omega: Vec<f64>,
    residual: f64,
    scale: f64,
}

impl JLbfgs {
    /// A t with f(X(t)) low enough and a slope that has risen; the best t so far where trials or the radius end it.
    fn line_search<F: Smooth>(
        &self,
        p: &Problem<JOrthogonal, F>,
        st: &mut State,
        direction: &[f64],
    ) -> Option<Found> {
        let slope = dot(&st.omega, direction);
        // ‖S‖_F² counts every entry twice
        let longest = self.radius / (2.0 * dot(direction, direction)).sqrt();
        let (mut low, mut high, mut found) = (0.0, f64::INFINITY, None);
        let mut t = if st.pairs.is_empty() { 0.1 * longest } else { longest.min(1.0) };
        for _ in 0..TRIALS {
            if is_over(st) {
                break;
            }
            let x = cayley(&st.x, direction, t, p.signature())?;
            if is_over(st) {
                break;
            }
            // with its gradient: nearly every first trial is taken
            let mut scale = st.scale; // a trial that is not taken says nothing of it
            let (f, omega, residual) = look(p, &x, &mut scale);
            st.gradients += 1;
            if f <= st.f + DECREASE * t * slope && f < st.f {
                let steep = dot(&omega, direction) < SLOPE * slope;
                found = Some(Found { t, x, f, omega, residual, scale });
                if !steep || t >= longest {
                    break;
                }
                low = t;
            } else {
                high = t;
            }
            t = if high.is_finite() { 0.5 * (low + high) } else { (2.0 * t).min(longest) };
        }
        found
    }

    fn accept<F: Smooth>(
        &self,
        p: &Problem<JOrthogonal, F>,
        st: &mut State,
        direction: &[f64],
        found: Found,
    ) {
        let s: Vec<f64> = direction.iter().map(|v| found.t * v).collect();
        let y: Vec<f64> = found.omega.iter().zip(&st.omega).map(|(new, old)| new - old).collect();
        let curvature = dot(&s, &y);
        if curvature > f64::EPSILON * (dot(&s, &s) * dot(&y, &y)).sqrt() {
            st.pairs.push_back((s, y, 1.0 / curvature));
            if st.pairs.len() > self.memory {
                st.pairs.pop_front();
            }
        }
        (st.x, st.f, st.omega) = (found.x, found.f, found.omega);
        (st.residual, st.scale) = (found.residual, found.scale);
        if st.iterations.is_multiple_of(CHECK)
            && !is_over(st)
            && j_orthogonal::residual(&st.x, p.signature()).norm() > DRIFT
            && j_orthogonal::repair(&mut st.x, p.signature()).is_some()
        {
            st.repairs += 1;
            st.gradients += 1;
            (st.f, st.omega, st.residual) = look(p, &st.x, &mut st.scale);
        }
        if !p.is_bounded() && largest_row(&st.x) > self.norm_limit {
            st.ended = Some(beyond_limit(&p.f));
        }
    }
}

/// True where a product of n × n matrices is long and it is cancelled.
fn is_over(st: &State) -> bool {
    is_left(st.x.nrows().pow(3))
}

/// f, Ω and its size at X.
fn look<F: Smooth>(p: &Problem<JOrthogonal, F>, x: &RowMat, scale: &mut f64) -> (f64, Vec<f64>, f64) {
    let (n, j) = (p.order(), p.signature());
    let mut g = RowMat::zeros(n, n);
    let f = p.f.value_and_gradient(x, &mut g);
    let w = multiply(g.as_mat(), x.as_mat().transpose());
    *scale = scale.max(max_abs(&w));
    let entry = |a: usize, b: usize| j.sign(a) * w.get(a, b) - j.sign(b) * w.get(b, a);
    let omega: Vec<f64> =
        (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).map(|(a, b)| entry(a, b)).collect();
    let largest = omega.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    (f, omega, largest / scale.max(f64::MIN_POSITIVE))
}

/// −H·Ω by two loops over the pairs, the newest first and last.
fn direction(st: &State) -> Vec<f64> {
    let mut q: Vec<f64> = st.omega.iter().map(|v| -v).collect();
    let mut kept = Vec::with_capacity(st.pairs.len());
    for (s, y, rho) in st.pairs.iter().rev() {
        let alpha = rho * dot(s, &q);
        add(&mut q, -alpha, y);
        kept.push(alpha);
    }
    if let Some((_, y, rho)) = st.pairs.back() {
        let gamma = 1.0 / (rho * dot(y, y));
        q.iter_mut().for_each(|v| *v *= gamma);
    }
    for ((s, y, rho), alpha) in st.pairs.iter().zip(kept.into_iter().rev()) {
        let beta = rho * dot(y, &q);
        add(&mut q, alpha - beta, s);
    }
    q
}

/// X(t), S given above the diagonal; `None` where the system has no finite solution.
fn cayley(x: &RowMat, s: &[f64], t: f64, j: &Signature) -> Option<RowMat> {
    let n = x.nrows();
    let mut half = RowMat::zeros(n, n); // ½tJS
    let mut entries = s.iter();
    for a in 0..n {
        for b in a + 1..n {
            let v = 0.5 * t * entries.next().copied().unwrap_or(0.0);
            half.set(a, b, j.sign(a) * v);
            half.set(b, a, -j.sign(b) * v);
        }
    }
    let mut right = x.clone();
    product(&mut right, true, 1.0, half.as_mat(), x.as_mat());
    let left = RowMat::from_fn(n, n, |a, b| f64::from(u8::from(a == b)) - half.get(a, b));
    let next = RowMat::from_mat(lu_solve(left.as_mat(), right.as_mat()).as_ref());
    next.find_non_finite().is_none().then_some(next)
}

/// Σ aᵢbᵢ above the diagonal: ½⟨A, B⟩ of skew matrices.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], factor: f64, what: &[f64]) {
    to.iter_mut().zip(what).for_each(|(to, v)| *to += factor * v);
}
