//! VR-J-JOBCD (JOBCD paper, Algorithm 2): J-JOBCD for f = (1/N) Σ fᵢ with a PAGE estimator of the
//! gradient (equation (9)).
//!
//! With b = N, b′ = √N and p = b′/(b + b′): with probability p the estimator is ∇f(Xᵗ), otherwise it
//! is the last one plus the mean of ∇fᵢ(Xᵗ) − ∇fᵢ(Xᵗ⁻¹) over b′ components drawn without
//! replacement. The linear term uses the estimator (docs/mathematics.md, section 9, C7). The method does not descend in
//! every step; whenever ∇f is computed, f comes with it, and if f has risen the best X is restored
//! and s doubled. Boosts are kept to |μ| ≤ `mu-max`.
//!
//! The samples that move the estimator see f change too, and stand in for the line search of J-JOBCD:
//! a round by which they rise is taken back and s doubled, after a good one s is relaxed. Two bad
//! rounds in a row mean that the estimator has strayed, and ∇f is computed at once; so it is when the
//! sum of these changes has lost half of what was gained.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::decoupled::DRIFT;
use super::jacobi::DOUBLINGS;
use super::pairing::{matching, sample};
use super::rounds::{moved, pair_data, solve};
use super::{UNBOUNDED, largest_row, relative_stationarity};
use crate::constraint::JOrthogonal;
use crate::constraint::j_orthogonal;
use crate::error::Result;
use crate::linalg::RowMat;
use crate::options::{Constants, constants};
use crate::problem::{JProblem, Problem};
use crate::smooth::FiniteSum;
use crate::solve::{Settings, Solver, Status, Step, settings_of};
use crate::solvers::{SolverInfo, SolverOptions};

/// What the registry says of VR-J-JOBCD.
pub const INFO: SolverInfo<JProblem> = info();

/// The same for any f of the kind.
pub const fn info<F: FiniteSum + 'static>() -> SolverInfo<Problem<JOrthogonal, F>> {
    SolverInfo {
        name: "vr-j-jobcd",
        doc: "rounds of n/2 disjoint pairs with a variance-reduced gradient, for finite sums",
        constants: VrJJobcd::LIST,
        shared: &[],
        handles: |p| p.f.components() > 1,
        scope: "finite sums (probe)",
        make: |o| Ok(Box::new(VrJJobcd::new(o)?)),
    }
}

constants! {
    /// The solver.
    pub struct VrJJobcd {
        /// proximal term of a step, relative to the size of grad f(X) X'
        theta ["θ"]: f64 = 1e-8, "a finite number >= 0" if |v| v >= 0.0;
        /// components per estimate, as a multiple of sqrt(N)
        batch ["b'/√N"]: f64 = 1.0, "a finite number > 0" if |v| v > 0.0;
        /// metric of the majoriser at the start; found by backtracking unless set
        s ["s"]: Option<f64> = None, "a finite number > 0" if |v| v > 0.0;
        /// largest |mu| of a step
        mu_max ["μ"]: f64 = 0.5, "a finite number > 0" if |v| v > 0.0;
        /// row norm of X at which an f that may be unbounded is given up
        norm_limit [""]: f64 = 1e4, "a finite number >= 1" if |v| v >= 1.0;
    }
    plain {
        /// Seed of all random choices.
        seed: u64 = 0;
    }
}

/// s is divided by this at a refresh that found f lower. (With 1.5, as in J-JOBCD, every third
/// refresh finds f higher and throws away all that was done since the one before.)
const RELAX: f64 = 1.15;
/// The gradient is computed at once when the estimate of f has lost this share of what was gained
/// since the last time.
const LOST: f64 = 0.5;
/// s is divided by this after a round by which the samples fall.
const RELAX_ROUND: f64 = 1.5;
/// Share of the predicted decrease that the samples must see.
const ARMIJO: f64 = 1e-4;
/// Rounds taken back in a row after which the gradient is computed. (With 4 or 8, or with a smaller
/// RELAX_ROUND, f falls less per component gradient.)
const STREAK: u32 = 2;
/// Refreshes in a row that found nothing better after which nothing more is to be had.
const HOPELESS: u32 = 40;

impl VrJJobcd {
    /// VR-J-JOBCD with checked constants.
    ///
    /// # Errors
    /// A constant outside its range.
    pub fn new(o: &SolverOptions) -> Result<Self> {
        INFO.configured(Self { seed: o.seed, ..Self::DEFAULT }, o)
    }

    /// N and b′.
    fn sizes<F: FiniteSum>(&self, p: &Problem<JOrthogonal, F>) -> (usize, usize) {
        let n = p.f.components();
        let batch = (self.batch * (n as f64).sqrt()).round() as usize;
        (n, batch.clamp(1, n.max(1)))
    }
}

/// A point where f and its gradient are known exactly.
#[derive(Clone, Debug)]
struct Known {
    x: RowMat,
    g: RowMat,
    f: f64,
}

/// State of VR-J-JOBCD.
#[derive(Clone, Debug)]
pub struct State {
    x: RowMat,        // Xᵗ
    previous: RowMat, // Xᵗ⁻¹
    estimate: RowMat, // G̃ᵗ at Xᵗ⁻¹, or at Xᵗ after a refresh
    fresh: bool,      // the estimate is ∇f(Xᵗ)
    predicted: f64,   // decrease that the last round promised
    tracked: f64,     // estimate of f(Xᵗ), by the same samples as that of the gradient
    lowest: f64,      // the lowest such estimate since the last refresh
    best: Known,      // the lowest f known, which is what is shown
    s: f64,           // s of the metric
    usual: f64,       // running median of s, in steps of a tenth
    streak: u32,      // rounds in a row that were taken back
    kept: u64,        // rounds since ∇f was computed that were not
    scale: f64,       // largest |W| seen
    failures: u32,    // refreshes in a row that found nothing better
    rng: Pcg64,
    refreshes: u64,
    taken_back: u64,
    restores: u64,
    component_gradients: u64,
    values: u64,
    ended: Option<(Status, &'static str)>,
}

impl State {
    /// Nothing better was found since the last exact gradient; many times in a row is the end.
    fn failed(&mut self, lost: bool) {
        self.failures += 1;
        if self.failures >= HOPELESS {
            let stalled = (Status::Stalled, "no round lowers f any more");
            self.ended = Some(if lost { (Status::Unbounded, UNBOUNDED) } else { stalled });
        }
    }
}

impl<F: FiniteSum> Solver<Problem<JOrthogonal, F>> for VrJJobcd {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn fades(&self) -> bool {
        false
    }

    fn init(&self, p: &Problem<JOrthogonal, F>, x0: RowMat) -> Result<State> {
        j_orthogonal::check(&x0, p.signature(), "the starting point X")?;
        let mut g = RowMat::zeros(x0.nrows(), x0.ncols());
        let f = p.f.value_and_gradient(&x0, &mut g);
        let s = self.s.unwrap_or(g.norm() / x0.norm().max(1.0)).max(f64::MIN_POSITIVE);
        let mut st = State {
            x: x0.clone(),
            previous: x0.clone(),
            estimate: g.clone(),
            fresh: true,
            predicted: 0.0,
            tracked: f,
            lowest: f,
            best: Known { x: x0, g, f },
            s,
            usual: s,
            streak: 0,
            kept: 0,
            scale: 0.0,
            failures: 0,
            rng: Pcg64::seed_from_u64(self.seed),
            refreshes: 1,
            taken_back: 0,
            restores: 0,
            component_gradients: p.f.components() as u64,
            values: 0,
            ended: None,
        };
        if self.s.is_none() {
            self.first_s(p, &mut st);
            st.usual = st.s;
        }
        Ok(st)
    }

    fn one_iteration(&self, p: &Problem<JOrthogonal, F>, st: &mut State) -> Step {
        let residual = self.iterate_once(p, st);
        Step::ended(st.ended).with_residual(residual)
    }

    fn objective(&self, _: &Problem<JOrthogonal, F>, st: &State) -> f64 {
        st.best.f
    }

    fn point<'a>(&self, st: &'a State) -> &'a RowMat {
        &st.best.x
    }

    fn finish(&self, p: &Problem<JOrthogonal, F>, st: State) -> RowMat {
        // the current point may be better than the last one that was looked at
        let mut x = if p.f.value(&st.x) < st.best.f { st.x } else { st.best.x };
        j_orthogonal::repair(&mut x, p.signature());
        x
    }

    fn settings(&self, p: &Problem<JOrthogonal, F>, st: &State) -> Settings {
        let (components, batch) = self.sizes(p);
        let mut out = settings_of(self, Self::LIST);
        out.insert("components".into(), components.into());
        out.insert("batch_size".into(), batch.into());
        out.insert("s_at_end".into(), st.s.into());
        out.insert("refreshes".into(), st.refreshes.into());
        out.insert("taken_back".into(), st.taken_back.into());
        out.insert("restores".into(), st.restores.into());
        out.insert("component_gradients".into(), st.component_gradients.into());
        out.insert("values".into(), st.values.into());
        out
    }
}

impl VrJJobcd {
    /// Doubles s until the first round lowers f.
    fn first_s<F: FiniteSum>(&self, p: &Problem<JOrthogonal, F>, st: &mut State) {
        let pairs = matching(p.order(), &mut st.rng.clone());
        let data = pair_data(&st.x, &st.estimate, &pairs);
        for _ in 0..DOUBLINGS {
            let moves = solve(&data, p.signature(), st.s, self.theta_at(st), Some(self.mu_max));
            st.values += 1;
            if p.f.value(&moved(&st.x, &moves.list)) <= st.best.f - ARMIJO * moves.predicted {
                break;
            }
            st.s *= 2.0;
        }
    }

    fn theta_at(&self, st: &State) -> f64 {
        self.theta * st.best.g.norm() * st.best.x.norm() / st.x.nrows().max(1) as f64
    }

    /// The estimator at Xᵗ, then a round of pairs.
    fn iterate_once<F: FiniteSum>(&self, p: &Problem<JOrthogonal, F>, st: &mut State) -> Option<f64> {
        let residual = if st.fresh { None } else { self.estimate(p, st) };
        st.fresh = false;
        if st.ended.is_some() {
            return residual;
        }
        let pairs = matching(p.order(), &mut st.rng);
        let data = pair_data(&st.x, &st.estimate, &pairs);
        let moves = solve(&data, p.signature(), st.s, self.theta_at(st), Some(self.mu_max));
        let next = moved(&st.x, &moves.list);
        st.predicted = moves.predicted;
        st.previous = std::mem::replace(&mut st.x, next);
        residual
    }

    /// Equation (9): the estimator moves from Xᵗ⁻¹ to Xᵗ.
    fn estimate<F: FiniteSum>(&self, p: &Problem<JOrthogonal, F>, st: &mut State) -> Option<f64> {
        let (n, batch) = self.sizes(p);
        let probability = batch as f64 / (n + batch) as f64;
        // more rounding than signal: start again from what is known
        let lost = largest_row(&st.x) > self.norm_limit;
        let falling = st.tracked - st.lowest <= LOST * (st.best.f - st.lowest);
        if lost || !falling || st.rng.random::<f64>() < probability {
            return self.refresh(p, st, lost);
        }
        let drawn = sample(n, batch, &mut st.rng);
        let zeros = RowMat::zeros(st.x.nrows(), st.x.ncols());
        let (mut now, mut before) = (zeros.clone(), zeros);
        let value = p.f.sample_gradient(&drawn, &st.x, &mut now);
        let change = value - p.f.sample_gradient(&drawn, &st.previous, &mut before);
        st.component_gradients += 2 * batch as u64;
        if change > -ARMIJO * st.predicted {
            return self.take_back(p, st);
        }
        for (e, (a, b)) in st.estimate.data_mut().iter_mut().zip(now.data().iter().zip(before.data())) {
            *e += a - b;
        }
        st.usual *= if st.s > st.usual { 1.1 } else { 1.0 / 1.1 };
        st.s /= RELAX_ROUND;
        (st.streak, st.kept) = (0, st.kept + 1);
        st.tracked += change;
        st.lowest = st.lowest.min(st.tracked);
        None
    }

    /// Back to Xᵗ⁻¹, where the estimator stays what it was.
    fn take_back<F: FiniteSum>(&self, p: &Problem<JOrthogonal, F>, st: &mut State) -> Option<f64> {
        st.x = st.previous.clone();
        st.taken_back += 1;
        st.streak += 1;
        st.s *= 2.0;
        if st.streak < STREAK {
            return None;
        }
        if st.kept == 0 {
            // the estimator is ∇f(Xᵗ): nothing to compute, the rounds were too long
            st.streak = 0;
            st.failed(false);
            return None;
        }
        st.s = st.usual;
        self.refresh(p, st, false)
    }

    /// ∇f and f at Xᵗ; back to the best X where f has risen.
    fn refresh<F: FiniteSum>(&self, p: &Problem<JOrthogonal, F>, st: &mut State, lost: bool) -> Option<f64> {
        if j_orthogonal::residual(&st.x, p.signature()).norm() > DRIFT {
            j_orthogonal::repair(&mut st.x, p.signature());
        }
        let mut g = RowMat::zeros(st.x.nrows(), st.x.ncols());
        let f = p.f.value_and_gradient(&st.x, &mut g);
        st.refreshes += 1;
        st.component_gradients += p.f.components() as u64;
        if f < st.best.f && !lost {
            st.best = Known { x: st.x.clone(), g, f };
            (st.s, st.failures) = (st.s / RELAX, 0);
        } else {
            st.x = st.best.x.clone();
            st.s *= 2.0;
            st.restores += 1;
            st.failed(lost);
        }
        (st.streak, st.kept) = (0, 0);
        st.estimate = st.best.g.clone();
        (st.tracked, st.lowest) = (st.best.f, st.best.f);
        Some(relative_stationarity(p, &st.best.x, &st.best.g, &mut st.scale))
    }
}
