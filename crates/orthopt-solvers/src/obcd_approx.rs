//! OBCD-Approx for any smooth f (OBCD, first version, Algorithm 1 and section 7.2): min f(X), XᵀX = I, pair by pair
//! along f itself.
//!
//! ```text
//! for t = 0, 1, ...
//!   (S1) choose two rows B
//!   (S2) p(θ) = f(X with the rows VX_B), V a rotation or a reflection by θ    f and ∇f at five angles of both circles
//!   (S3) θ ← where the fifth-order iteration on p ends that begins at 0       pair/trig4.rs
//!   (S4) X_B ← VX_B if f falls by α/2‖V − I‖², else a shorter θ: the step from 0 with a larger p̄₅
//! ```
//!
//! If f is a polynomial of degree 4 at most, so is p in cos θ and sin θ, and values and slopes at five angles determine it: the
//! step of a pair is that of `nonlinear_obcd`. For any other f the polynomial through them is a model, and its θ is taken
//! if f falls as demanded. p̄₅ ≥ |p⁽⁵⁾|, which the paper takes for granted, is then found by trials, as L is elsewhere.
//!
//! A pair at which p′(0) ≠ 0 moves, so that without h an X at which no pair does is critical. Cost of a pair: ten values and
//! gradients of f, as many as some six rounds of n/2 pairs of `obcd-majorised`.

use super::obcd::{ObcdOptions, repaired};
use super::obcd_majorised::rounds::{DRIFT, LOOK, NOTHING, REFRESH, ROUNDING, fall};
use super::pair_descent::{
    self, Candidates, Demand, PairDescent, PairOracle, Schedule, Tried, Upkeep, row_products,
    stationarity_score,
};
use crate::prelude::*;
use orthopt_core::composite::relative_criticality;
use orthopt_core::objective::size;
use orthopt_core::pair::movable::Movable;
use orthopt_core::pair::trig4::{NODES, Trig4, majorant_step};
use orthopt_linalg::kernels::inner;
use orthopt_linalg::plane::{Branch, PairMove};

/// Entry of the registry.
pub const INFO: Preset<ObcdApprox> = Preset {
    name: "obcd-approx",
    doc: "pairs of rows of any smooth f, the fifth-order iteration of the first version of the OBCD paper: ten gradients a pair",
    constants: &[],
    shared: &only(ObcdOptions::LIST, ["working-set", "alpha", "candidates"]),
    domain: Domain { words: "every smooth f without a penalty", ..Domain::SMOOTH },
    make: |_, o| ObcdApprox::new(ObcdOptions { seed: o.seed, ..o.obcd.clone() }),
};

/// The solver.
#[derive(Clone, Debug)]
pub struct ObcdApprox {
    options: ObcdOptions,
}

/// p̄₅ is multiplied by this where f did not fall enough: for a large p̄₅ the step is then 2.4 times as short.
const SHORTER: f64 = 32.0;
/// Trials of a pair.
const TRIALS: u32 = 40;

impl ObcdApprox {
    /// The method with checked options, of which it uses the working set, α, candidates, tol and seed.
    ///
    /// # Errors
    /// Options out of range.
    pub fn new(options: ObcdOptions) -> Result<Self> {
        Ok(Self { options: options.checked("")? })
    }
}

/// State of the method.
#[derive(Clone, Debug)]
pub struct State {
    at: Iterate,                  // Xᵗ and its gradient
    descent: pair_descent::State, // f(Xᵗ), α and the working sets
}

/// Xᵗ and what is kept of it.
#[derive(Clone, Debug)]
struct Iterate {
    x: RowMat,      // Xᵗ
    g: RowMat,      // ∇f(Xᵗ)
    f: f64,         // f(Xᵗ)
    next: RowMat,   // X⁺ of a trial; Xᵗ between pairs
    next_g: RowMat, // ∇f(X⁺)
    next_f: f64,    // f(X⁺)
    rows: Movable,
    scale: f64,     // of f
    lipschitz: f64, // L_f of WSS-OR
    gradients: u64,
    shortened: u64, // steps with a larger p̄₅
}

impl Iterate {
    /// A size of f that does not cancel.
    fn size(&self) -> f64 {
        self.f.abs() + self.g.norm() * self.x.norm()
    }
}

impl<F: Smooth, H: Nonsmooth> Solver<Problem<Stiefel, F, H>> for ObcdApprox {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn behaviour(&self, _: &Problem<Stiefel, F, H>) -> Behaviour {
        Behaviour::fading(Stagnation::Never)
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, mut x: RowMat) -> Result<State> {
        INFO.check(&p.h)?;
        stiefel::check(&x, p.nrows(), p.rank(), "the starting point X")?;
        if stiefel::feasibility(&x) > DRIFT {
            stiefel::repair_on_support(&mut x);
        }
        let (o, rows, scale) = (&self.options, Movable::new(&x), p.f.scale(&x));
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        let f = p.f.value_and_gradient(&x, &mut g);
        let lipschitz = p.f.step_curvature(x.ncols()).unwrap_or(g.norm() / x.norm());
        let candidates = Candidates::or_default(o.candidates, x.nrows());
        let schedule = Schedule::new(o.working_set, candidates, o.tol, o.seed, &rows);
        let descent = pair_descent::State { objective: f, alpha: o.alpha * scale, schedule };
        let (next, next_g) = (x.clone(), g.clone());
        let at =
            Iterate { x, g, f, next, next_g, next_f: f, rows, scale, lipschitz, gradients: 1, shortened: 0 };
        Ok(State { at, descent })
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> Step {
        let oracle = Pairs { f: &p.f, options: &self.options, at: &mut st.at };
        PairDescent { oracle, state: &mut st.descent }.iterate()
    }

    fn current<'a>(&self, _: &Problem<Stiefel, F, H>, st: &'a State) -> Current<'a> {
        Current::new(&st.at.x, st.descent.objective)
    }

    fn confirmed(&self, p: &Problem<Stiefel, F, H>, st: &State) -> Option<Confirmed> {
        Some(Confirmed::new(relative_criticality(p, &repaired(st.at.x.clone()))))
    }

    fn finish(&self, _: &Problem<Stiefel, F, H>, st: State) -> Ending {
        let mut details = Details::default();
        details.set("working_set", self.options.working_set.name());
        details.set("alpha", self.options.alpha);
        details.set("gradients", st.at.gradients);
        details.set("pairs", st.descent.schedule.pairs);
        details.set("moves", st.descent.schedule.moves);
        details.set("steps_shortened", st.at.shortened);
        Ending::new(repaired(st.at.x), details)
    }
}

/// The pairs of rows of X.
struct Pairs<'a, F> {
    f: &'a F,
    options: &'a ObcdOptions,
    at: &'a mut Iterate,
}

impl<F: Smooth> Pairs<'_, F> {
    /// X⁺ and its gradient for a move of the rows i and j; f(X⁺).
    fn trial(&mut self, (i, j): (usize, usize), v: PairMove) -> f64 {
        let Iterate { x, next, next_g, next_f, gradients, .. } = &mut *self.at;
        let (first, second) = next.two_rows_mut(i, j);
        v.apply(x.row(i), x.row(j), first, second);
        *next_f = self.f.value_and_gradient(next, next_g);
        *gradients += 1;
        *next_f
    }

    /// p′ at V = (c, s), from the gradient there.
    fn slope(&self, (i, j): (usize, usize), v: PairMove, g: &RowMat) -> f64 {
        let (z1, z2) = (self.at.x.row(i), self.at.x.row(j));
        let [g11, g12] = [inner(g.row(i), z1), inner(g.row(i), z2)];
        let [g21, g22] = [inner(g.row(j), z1), inner(g.row(j), z2)];
        match v.branch {
            Branch::Rotation => v.c * (g12 - g21) - v.s * (g11 + g22),
            Branch::Reflection => v.c * (g12 + g21) + v.s * (g11 - g22),
        }
    }

    /// p − f(X) on a circle, through its values and slopes at five angles.
    fn circle(&mut self, pair: (usize, usize), branch: Branch) -> Trig4 {
        let (mut values, mut slopes) = ([0.0; NODES], [0.0; NODES]);
        for k in 0..NODES {
            let (s, c) = Trig4::node(k).sin_cos();
            let v = PairMove::new(branch, c, s);
            if v == PairMove::IDENTITY {
                slopes[k] = self.slope(pair, v, &self.at.g);
                continue;
            }
            values[k] = self.trial(pair, v) - self.at.f;
            slopes[k] = self.slope(pair, v, &self.at.next_g);
        }
        Trig4::through(&values, &slopes)
    }

    /// f(X) − f(X⁺) for a move, whose X⁺ is then in `next`.
    fn decrease(&mut self, (i, j): (usize, usize), v: PairMove) -> f64 {
        let value = self.trial((i, j), v);
        let at = &*self.at;
        let along = |g: &RowMat, row: usize| {
            let d: Vec<f64> = at.next.row(row).iter().zip(at.x.row(row)).map(|(a, b)| a - b).collect();
            inner(g.row(row), &d)
        };
        let gradients =
            -0.5 * [i, j].iter().map(|row| along(&at.g, *row) + along(&at.next_g, *row)).sum::<f64>();
        let decrease = fall(at.f - value, gradients, ROUNDING * at.size(), self.f.is_quadratic());
        if value.is_finite() { decrease } else { f64::NEG_INFINITY }
    }

    /// Steps (S3) and (S4): a move that lowers f as demanded, X⁺ in `next`, and the largest decrease that was met.
    fn solve(&mut self, pair: (usize, usize), demand: Demand) -> (f64, Option<f64>) {
        let circles = [Branch::Rotation, Branch::Reflection].map(|branch| self.circle(pair, branch));
        let least = demand.least.max(NOTHING * self.at.size());
        let is_enough =
            |decrease: f64, v: PairMove| decrease > least && decrease >= demand.alpha * v.half_dist_sq();
        let mut offered = 0.0f64;
        for weight in [0.0, demand.alpha] {
            let Some(v) = end_of_iteration(&circles, weight) else { break };
            let decrease = self.decrease(pair, v);
            offered = offered.max(decrease);
            if is_enough(decrease, v) {
                return (offered, Some(decrease));
            }
        }
        // the model is not f: from θ = 0, where its slope is that of f, with shorter steps
        let slope = self.slope(pair, PairMove::IDENTITY, &self.at.g);
        let mut d = circles[0].derivatives(0.0);
        let mut p5 = circles[0].bound(5).max(slope.abs());
        d[1] = slope;
        for _ in 0..TRIALS {
            let theta = majorant_step(&d, p5);
            if slope.abs() * theta.abs() <= least {
                break;
            }
            let v = PairMove::new(Branch::Rotation, theta.cos(), theta.sin());
            let decrease = self.decrease(pair, v);
            self.at.shortened += 1;
            offered = offered.max(decrease);
            if is_enough(decrease, v) {
                return (offered, Some(decrease));
            }
            p5 *= SHORTER;
        }
        (offered, None)
    }
}

/// The better end of the iterations from 0 on p plus α/2‖V − I‖²; `None` if that is V = I.
fn end_of_iteration(circles: &[Trig4; 2], alpha: f64) -> Option<PairMove> {
    let [mut rotation, mut reflection] = *circles;
    rotation.c0 += 2.0 * alpha;
    rotation.a[0] -= 2.0 * alpha;
    reflection.c0 += 2.0 * alpha;
    let mut best = (rotation.value(0.0), None);
    for (branch, p) in [(Branch::Rotation, &rotation), (Branch::Reflection, &reflection)] {
        let theta = p.fifth_order(0.0);
        let value = p.value(theta);
        if value < best.0 {
            best = (value, Some(PairMove::new(branch, theta.cos(), theta.sin())));
        }
    }
    best.1.filter(|v| *v != PairMove::IDENTITY)
}

impl<F: Smooth> PairOracle for Pairs<'_, F> {
    fn rows(&self) -> &Movable {
        &self.at.rows
    }

    fn try_pair(&mut self, i: usize, j: usize, demand: Demand) -> Tried {
        let (offered, taken) = self.solve((i, j), demand);
        let at = &mut *self.at;
        for row in [i, j] {
            if taken.is_some() {
                at.x.row_mut(row).copy_from_slice(at.next.row(row));
                at.rows.update(row, &at.x);
            } else {
                at.next.row_mut(row).copy_from_slice(at.x.row(row));
            }
        }
        if taken.is_some() {
            std::mem::swap(&mut at.g, &mut at.next_g);
            at.f = at.next_f;
        }
        Tried::pair(offered, taken)
    }

    fn score(&mut self, pairs: &[(usize, usize)]) -> Vec<f64> {
        let ObcdOptions { working_set, alpha, .. } = *self.options;
        let at = &*self.at;
        let score = |&(i, j): &(usize, usize)| {
            let products = row_products([at.g.row(i), at.g.row(j), at.x.row(i), at.x.row(j)]);
            stationarity_score(working_set, alpha * at.scale, at.lipschitz, products)
        };
        pairs.iter().map(score).collect()
    }

    fn size(&self, objective: f64) -> f64 {
        size(self.at.scale, objective)
    }

    fn upkeep(&self) -> Upkeep {
        Upkeep { refresh: REFRESH, look: LOOK, between_passes: false }
    }

    fn has_drifted(&self) -> bool {
        stiefel::feasibility(&self.at.x) > DRIFT
    }

    fn refresh(&mut self) -> f64 {
        let (drifted, at) = (self.has_drifted(), &mut *self.at);
        if drifted {
            stiefel::repair_on_support(&mut at.x);
        }
        at.next.data_mut().copy_from_slice(at.x.data());
        at.f = self.f.value_and_gradient(&at.x, &mut at.g);
        at.gradients += 1;
        at.f
    }
}
