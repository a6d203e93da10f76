//! VR-J-JOBCD (JOBCD paper, Algorithm 2): J-JOBCD for f = (1/N) Σ fᵢ with a PAGE estimator of the
//! gradient (equation (9)).
//!
//! With b = N, b′ = √N and p = b′/(b + b′): with probability p the estimator is ∇f(Xᵗ), otherwise it
//! is the last one plus the mean of ∇fᵢ(Xᵗ) − ∇fᵢ(Xᵗ⁻¹) over b′ components drawn without
//! replacement. The linear term uses the estimator (docs/mathematics.md, section 9, C7). The method does not descend in
//! every step; whenever ∇f is computed, f comes with it, and if f has risen the best X is restored
//! and s doubled. Boosts are kept to |μ| ≤ `mu-max`.
//!
//! **Every round is kept**, so the components are drawn after Xᵗ and Xᵗ⁻¹ are fixed, and the estimator is unbiased as
//! the paper's analysis has it. (A line search on the same components would keep the rounds for which they happen to
//! fall.) The components see f change, too. This may decide what comes next: s follows the share of the promised
//! decrease that they saw, and ∇f is computed at once where the sum of these changes has lost half of what was gained.

use orthopt_solvers::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::decoupled::DRIFT;
use super::jacobi::DOUBLINGS;
use super::pairing::{matching, sample};
use super::rounds::{moved, pair_data, solve};
use super::{beyond_limit, largest_row, relative_stationarity};
use orthopt_core::constraint::JOrthogonal;
use orthopt_core::constraint::j_orthogonal;
use orthopt_core::smooth::FiniteSum;
use orthopt_core::solve::info::SolverOptions;

/// Entry of the registry.
pub const INFO: Preset<VrJJobcd> = Preset {
    make: |_, o| VrJJobcd::new(o),
    ..Preset::new(
        "vr-j-jobcd",
        "rounds of n/2 disjoint pairs with a variance-reduced gradient, for finite sums",
        DOMAIN,
    )
};

const DOMAIN: Domain =
    Domain { words: "finite sums (probe, functions of your own with sampled components)", ..Domain::EVERY };

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
        mu_max ["μ"]: f64 = 2.0, "a finite number > 0" if |v| v > 0.0;
        /// row norm of X at which a run with an f that may be unbounded ends
        norm_limit [""]: f64 = 1e4, "a finite number >= 1" if |v| v >= 1.0;
    }
    plain {
        /// Seed of all random choices.
        seed: u64 = 0;
    }
}

/// The gradient is computed at once when the estimate of f has lost this share of what was gained
/// since the last time.
const LOST: f64 = 0.5;
/// Share of the promised decrease at which s stays what it is. (An exact gradient and a metric twice too small bring
/// nothing, one that fits brings all.)
const TARGET: f64 = 0.2;
/// Rate of adaptation of s: s ← s·exp(RATE·(TARGET − share)).
const RATE: f64 = 0.3;
/// Range of the share that a single round may count for.
const SHARES: (f64, f64) = (-1.0, 1.5);
/// Share of the predicted decrease that the first round must bring.
const ARMIJO: f64 = 1e-4;
/// Refreshes in a row without a better point that end the run.
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
    scale: f64,       // largest |W| seen
    failures: u32,    // refreshes in a row that found nothing better
    rng: Pcg64,
    refreshes: u64,
    rounds: u64,
    restores: u64,
    component_gradients: u64,
    values: u64,
    ended: Option<(Status, &'static str)>,
}

impl State {
    /// Nothing better was found since the last exact gradient; many times in a row is the end, `beyond` where ‖X‖ has
    /// reached the limit.
    fn failed(&mut self, beyond: Option<(Status, &'static str)>) {
        self.failures += 1;
        if self.failures >= HOPELESS {
            self.ended = Some(beyond.unwrap_or((Status::Stalled, "no round lowers f")));
        }
    }
}

impl<F: FiniteSum> Solver<Problem<JOrthogonal, F>> for VrJJobcd {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn behaviour(&self, _: &Problem<JOrthogonal, F>) -> Behaviour {
        Behaviour::fading(Stagnation::Work)
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
            scale: 0.0,
            failures: 0,
            rng: Pcg64::seed_from_u64(self.seed),
            refreshes: 1,
            rounds: 0,
            restores: 0,
            component_gradients: p.f.components() as u64,
            values: 0,
            ended: None,
        };
        if self.s.is_none() {
            self.first_s(p, &mut st);
        }
        Ok(st)
    }

    fn step(&self, p: &Problem<JOrthogonal, F>, st: &mut State) -> Step {
        let residual = self.iterate_once(p, st);
        Step::ended(st.ended).with_residual(residual)
    }

    fn current<'a>(&self, _: &Problem<JOrthogonal, F>, st: &'a State) -> Current<'a> {
        Current::new(&st.best.x, st.best.f)
    }

    fn finish(&self, p: &Problem<JOrthogonal, F>, st: State) -> Ending {
        let (components, batch) = self.sizes(p);
        let mut details = Details::of(self, Self::LIST);
        details.set("components", components);
        details.set("batch_size", batch);
        details.set("s_at_end", st.s);
        details.set("refreshes", st.refreshes);
        details.set("restores", st.restores);
        details.set("component_gradients", st.component_gradients);
        let each = st.component_gradients as f64 / st.rounds.max(1) as f64;
        details.set("component_gradients_per_iteration", each);
        details.set("values", st.values);
        // the current point may be better than the last one that was examined
        let mut x = if p.f.value(&st.x) < st.best.f { st.x } else { st.best.x };
        j_orthogonal::repair(&mut x, p.signature());
        Ending::new(x, details)
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
        st.rounds += 1;
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
        for (e, (a, b)) in st.estimate.data_mut().iter_mut().zip(now.data().iter().zip(before.data())) {
            *e += a - b;
        }
        st.s *= (RATE * (TARGET - share(-change, st.predicted))).exp();
        st.tracked += change;
        st.lowest = st.lowest.min(st.tracked);
        None
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
            st.failures = 0;
        } else {
            st.x = st.best.x.clone();
            st.s *= 2.0;
            st.restores += 1;
            st.failed(lost.then(|| beyond_limit(&p.f)));
        }
        st.estimate = st.best.g.clone();
        (st.tracked, st.lowest) = (st.best.f, st.best.f);
        Some(relative_stationarity(p, &st.best.x, &st.best.g, &mut st.scale))
    }
}

/// The share of what a round promised that it brought, within [`SHARES`]; none of nothing.
fn share(brought: f64, promised: f64) -> f64 {
    if promised > 0.0 { (brought / promised).clamp(SHARES.0, SHARES.1) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthopt_core::constraint::Constraint;
    use orthopt_core::constraint::j_orthogonal::Signature;
    use orthopt_core::problem::JProblem;
    use orthopt_core::smooth::{Placement, Smooth, euclidean_distances};

    /// From one Xᵗ and Xᵗ⁻¹, after a round so long that the components of some draws rise and those of others fall,
    /// the mean of the estimator over draws is the gradient, up to what so many draws may miss it by.
    #[test]
    fn the_estimator_is_unbiased_whatever_the_components_see() {
        let d = faer::Mat::from_fn(36, 6, |i, k| ((1 + i * (k + 2)) as f64).sin());
        let mut t = euclidean_distances(d.as_ref());
        t.data_mut().iter_mut().for_each(|v| *v *= 1.5);
        let j = Signature::leading(3, 6).expect("signs");
        let p = JProblem::probe(d.as_ref(), t, j, 1.0, Placement::After).expect("a probe");
        let x0 = p.constraint.random(&mut Pcg64::seed_from_u64(1));
        let solver = VrJJobcd::DEFAULT;
        let mut at = Solver::<JProblem>::init(&solver, &p, x0).expect("a start");
        at.s /= 1.7;
        solver.iterate_once(&p, &mut at);
        let mut exact = RowMat::zeros(6, 6);
        p.f.gradient(&at.x, &mut exact);
        let (mut sum, mut square, mut draws, mut rising) = (RowMat::zeros(6, 6), 0.0, 0.0, 0);
        for seed in 0..3000 {
            let mut drawn = at.clone();
            drawn.rng = Pcg64::seed_from_u64(seed);
            solver.estimate(&p, &mut drawn);
            if drawn.refreshes > at.refreshes {
                continue;
            }
            let error: Vec<f64> =
                drawn.estimate.data().iter().zip(exact.data()).map(|(e, g)| e - g).collect();
            square += error.iter().map(|e| e * e).sum::<f64>();
            sum.data_mut().iter_mut().zip(&error).for_each(|(s, e)| *s += e);
            draws += 1.0;
            rising += u32::from(drawn.tracked > at.tracked);
        }
        assert!(draws > 2000.0 && rising > 200 && f64::from(rising) < draws - 200.0, "{rising} of {draws}");
        // the mean of so many errors of this size is off by 1/sqrt(draws) of it
        let (mean, usual) = (sum.norm() / draws, (square / draws / draws).sqrt());
        assert!(mean <= 3.0 * usual, "off by {mean}, where {usual} is usual");
    }
}
