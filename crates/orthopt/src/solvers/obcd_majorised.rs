//! OBCD for any smooth f (OBCD paper, Algorithm 1; first version, section 7.2): min f(X) + h(X), XᵀX = I, from values
//! and gradients of f alone.
//!
//! ```text
//! for t = 0, 1, ...
//!   (S1) disjoint working sets: a matching of all rows, blocks of k rows, or one pair
//!   (S2) m(Y) = ⟨G, Y − X⟩ + L/2‖Y − X‖², G = ∇f(X)                 smooth/majoriser.rs
//!   (S3) V ← minimisers of m + h over every working set              obcd/jacobi.rs, obcd/block.rs, pair/
//!   (S4) X ← X⁺ if F(X) − F(X⁺) ≥ max(α/2 Σ‖Vᵢ − I‖², what m promised/10), else L ← 2L and again
//! ```
//!
//! m has the curvature L·I, so the working sets of a round decouple, and one gradient of f serves all of them, for any
//! penalty whose pairs can be solved. `model` is how m enters a block: exactly (Q = L·ZZᵀ ⊗ I), or by (9), Q = ςI with
//! ς = L‖ZZᵀ‖, whose steps are shorter. L follows the curvature that rounds meet: lowered after a round that was taken
//! at once, raised to what a refused one shows. A concave f has L = 0: its linearisation majorises it.
//!
//! Where nothing is left, X minimises m + h over every pair for that L. This is no certificate for F: the run has
//! converged where the criticality of X, computed anew, is small, and is stalled otherwise.
//!
//! Cost of a round: a gradient and a value of f for each trial (1.7 or so), and O(nr) or O(nr log r).

use super::SolverInfo;
use super::obcd::{ObcdOptions, block_round, clean, jacobi_round};
use super::pair_descent::{
    self, Candidates, Demand, PairDescent, PairOracle, Schedule, Tried, Upkeep, stationarity_score,
};
use crate::composite::relative_criticality;
use crate::constraint::{Stiefel, stiefel};
use crate::error::Result;
use crate::linalg::RowMat;
use crate::linalg::kernels::inner;
use crate::options::{Constant, Constants, checked, only};
use crate::pair::PairPenalty;
use crate::pair::movable::Movable;
use crate::pair::rows::PairStep;
use crate::pair::step::{Damping, PairWork, Shape};
use crate::problem::Problem;
use crate::smooth::Smooth;
use crate::smooth::majoriser::Majoriser;
use crate::solve::{Confirmed, Settings, Solver, Status, Step};

/// Its name in the registry.
const NAME: &str = "obcd-majorised";

/// What the registry says of OBCD for any f and h of the kind: rounds of n/2 disjoint pairs, or of blocks where
/// `block` is more than 2; single pairs, a gradient each, where the rule is greedy.
pub const fn info<F, H>() -> SolverInfo<Problem<Stiefel, F, H>>
where
    F: Smooth + 'static,
    H: PairPenalty + 'static,
{
    const SHARED: &[Constant] =
        &only(ObcdOptions::LIST, ["working-set", "block", "model", "alpha", "candidates"]);
    SolverInfo {
        name: NAME,
        doc: "OBCD for any smooth f: disjoint pairs or blocks of rows, a gradient a round; feasible and monotone",
        constants: &[],
        shared: SHARED,
        handles: |_| true,
        scope: "every smooth f",
        make: |o| {
            let jacobi = o.obcd.block == 2 && !o.obcd.working_set.is_greedy();
            let options = ObcdOptions { name: NAME, seed: o.seed, jacobi, ..o.obcd.clone() };
            Ok(Box::new(MajorisedObcd::new(options)?))
        },
    }
}

/// The solver. With `jacobi` working sets are matchings of all rows, otherwise blocks of `block` rows or one pair.
#[derive(Clone, Debug)]
pub struct MajorisedObcd {
    options: ObcdOptions,
}

/// Share of what the majoriser promised that F must fall by.
const SHARE: f64 = 0.1;
/// L is divided by this after a round that was taken at once.
const RELAX: f64 = 1.5;
/// Trials of a round, each with an L of at least twice the last.
const TRIALS: u32 = 60;
/// f is known up to so much of its size.
const ROUNDING: f64 = 1e-13;
/// Decreases below so much of the size of f are nothing but rounding of X.
const NOTHING: f64 = 1e-17;
/// Rounds and passes that lower F by less than this, relative to 1 + |F|, are followed by a look at criticality.
const SLOW: f64 = 1e-4;
/// Moves between two gradients that are computed anew from a repaired X, if it needs repair.
const LOOK: u64 = 500;
/// The same, whether or not it does.
const REFRESH: u64 = 100_000;
/// ‖XᵀX − I‖_F above which X is repaired on its support.
const DRIFT: f64 = 5e-14;

impl MajorisedObcd {
    /// The method with checked options.
    ///
    /// # Errors
    /// α not positive and finite, k < 2, or no candidates.
    pub fn new(options: ObcdOptions) -> Result<Self> {
        checked("tol", options.tol, "a finite number >= 0", |tol| tol >= 0.0)?;
        Ok(Self { options: options.checked("")? })
    }
}

/// State of the method.
#[derive(Clone, Debug)]
pub struct State {
    at: Iterate,                  // Xᵗ and its gradient
    descent: pair_descent::State, // F(Xᵗ), α and the working sets
    measured: Option<f64>,        // criticality at the last slow round or pass
}

/// Xᵗ and what is kept of it.
#[derive(Clone, Debug)]
struct Iterate {
    x: RowMat,      // Xᵗ
    g: RowMat,      // ∇f(Xᵗ)
    f: f64,         // f(Xᵗ)
    next: RowMat,   // X⁺ of a trial; Xᵗ between rounds
    next_g: RowMat, // ∇f(X⁺)
    l: f64,         // L
    rows: Movable,
    work: PairWork,
    gradients: u64,
    refused: u64, // trials
    repairs: u64,
    alive: bool, // since the last pass something moved, or was left alone because of the tolerance only
    done: bool,  // a whole pass had nothing to offer but rounding
}

impl Iterate {
    fn new<F: Smooth>(f: &F, x: RowMat) -> Self {
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        let value = f.value_and_gradient(&x, &mut g);
        let guess = f.step_curvature(x.ncols()).unwrap_or(f64::INFINITY).min(g.norm() / x.norm());
        Self {
            next: x.clone(),
            next_g: g.clone(),
            f: value,
            l: if f.is_concave() { 0.0 } else { guess.max(f64::MIN_POSITIVE) },
            rows: Movable::new(&x),
            work: PairWork::new(x.ncols()),
            gradients: 1,
            refused: 0,
            repairs: 0,
            alive: false,
            done: false,
            g,
            x,
        }
    }

    /// A size of f that does not cancel.
    fn size(&self) -> f64 {
        self.f.abs() + self.g.norm() * self.x.norm()
    }

    /// ‖G − XGᵀX‖_F relative to 1 + ‖G‖, where h = 0.
    fn smooth_criticality(&self) -> f64 {
        stiefel::tangent(&self.x, &self.g).norm() / (1.0 + self.g.norm())
    }
}

impl<F: Smooth, H: PairPenalty> Solver<Problem<Stiefel, F, H>> for MajorisedObcd {
    type State = State;

    fn name(&self) -> &'static str {
        self.options.name
    }

    fn fades(&self) -> bool {
        false
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, mut x0: RowMat) -> Result<State> {
        stiefel::check(&x0, p.nrows(), p.rank(), "the starting point X")?;
        stiefel::repair_on_support(&mut x0);
        let (o, at) = (&self.options, Iterate::new(&p.f, x0));
        let n = at.x.nrows();
        let candidates = Candidates::or_default(o.candidates, n);
        let blocks = (o.block.min(n), false);
        let schedule = Schedule::of_blocks(o.working_set, candidates, blocks, o.tol, o.seed, &at.rows);
        let schedule = if o.jacobi { schedule.of_matchings(&at.rows) } else { schedule };
        let objective = at.f + p.h.value(at.x.data());
        let descent = pair_descent::State { objective, alpha: o.alpha, schedule };
        Ok(State { at, descent, measured: None })
    }

    fn one_iteration(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> Step {
        let oracle = Sets { p, options: &self.options, at: &mut st.at };
        let step = PairDescent { oracle, state: &mut st.descent }.iterate();
        let slow = |objective: f64, decrease: f64| decrease <= SLOW * (1.0 + objective.abs());
        if step.pass.is_some_and(|pass| slow(st.descent.objective, pass.decrease)) {
            st.measured = Some(self.criticality(p, st));
        }
        // what pairs offer is what m does: a pass is no certificate, and where it ends the run X must be critical
        let pass = step
            .pass
            .filter(|_| step.ended.is_none())
            .map(|pass| crate::solve::Pass { covers_all: false, ..pass });
        Step { pass, ..step }
    }

    fn objective(&self, _: &Problem<Stiefel, F, H>, st: &State) -> f64 {
        st.descent.objective
    }

    fn residual(&self, p: &Problem<Stiefel, F, H>, st: &State) -> Option<f64> {
        if p.h.kinks().is_empty() { Some(st.at.smooth_criticality()) } else { st.measured }
    }

    fn confirmed(&self, p: &Problem<Stiefel, F, H>, st: &State) -> Option<Confirmed> {
        Some(Confirmed::new(relative_criticality(p, &self.finish(p, st.clone()))))
    }

    fn point<'a>(&self, st: &'a State) -> &'a RowMat {
        &st.at.x
    }

    fn finish(&self, p: &Problem<Stiefel, F, H>, st: State) -> RowMat {
        clean(p, st.at.x)
    }

    fn settings(&self, _: &Problem<Stiefel, F, H>, st: &State) -> Settings {
        let (o, State { at, descent, .. }) = (&self.options, st);
        let mut s = Settings::new();
        s.insert("working_set".into(), o.working_set.name().into());
        s.insert("block".into(), descent.schedule.block().into());
        s.insert("model".into(), o.model.name().into());
        s.insert("alpha".into(), o.alpha.into());
        s.insert("jacobi".into(), o.jacobi.into());
        s.insert("curvature_at_end".into(), at.l.into());
        s.insert("gradients".into(), at.gradients.into());
        s.insert("trials_refused".into(), at.refused.into());
        s.insert("pairs".into(), descent.schedule.pairs.into());
        s.insert("moves".into(), descent.schedule.moves.into());
        s.insert("repairs".into(), at.repairs.into());
        s
    }
}

impl MajorisedObcd {
    fn criticality<F: Smooth, H: PairPenalty>(&self, p: &Problem<Stiefel, F, H>, st: &State) -> f64 {
        if p.h.kinks().is_empty() { st.at.smooth_criticality() } else { relative_criticality(p, &st.at.x) }
    }
}

/// Disjoint rows that one round moves.
#[derive(Clone, Copy)]
enum Round<'a> {
    Pair(usize, usize),
    Pairs(&'a [(usize, usize)]),
    Blocks(&'a [Vec<usize>]),
}

impl Round<'_> {
    fn rows(self) -> Vec<usize> {
        match self {
            Self::Pair(i, j) => vec![i, j],
            Self::Pairs(pairs) => pairs.iter().flat_map(|(i, j)| [*i, *j]).collect(),
            Self::Blocks(blocks) => blocks.concat(),
        }
    }
}

/// The working sets of X.
struct Sets<'a, F, H> {
    p: &'a Problem<Stiefel, F, H>,
    options: &'a ObcdOptions,
    at: &'a mut Iterate,
}

impl<F: Smooth, H: PairPenalty> Sets<'_, F, H> {
    /// Steps (S2) to (S4): trials with growing L until F falls enough.
    fn round(&mut self, round: Round<'_>, demand: Demand) -> Tried {
        let (first, mut rows) = (self.at.l, None);
        for trial in 0..TRIALS {
            let tried = self.minimise(round, demand);
            if tried.moves == 0 {
                self.at.alive |= tried.max_decrease > NOTHING * self.at.size();
                return tried;
            }
            let rows = rows.get_or_insert_with(|| round.rows());
            if tried.decrease <= NOTHING * self.at.size() {
                self.withdraw(rows);
                return Tried { moves: 0, decrease: 0.0, ..tried };
            }
            if let Some(decrease) = self.judge(rows, tried.decrease) {
                self.at.l = if trial == 0 { (self.at.l / RELAX).max(self.floor()) } else { self.at.l };
                self.at.alive = true;
                return Tried { decrease, ..tried };
            }
            self.withdraw(rows);
            self.at.refused += 1;
        }
        // a kink of f, or its rounding: others may pass by it
        self.at.l = first;
        Tried { pairs: 1, ..Tried::default() }
    }

    /// L is 0 for concave f alone.
    fn floor(&self) -> f64 {
        if self.p.f.is_concave() { 0.0 } else { f64::MIN_POSITIVE }
    }

    /// Step (S3): minimises m + h over every working set, in `next`.
    fn minimise(&mut self, round: Round<'_>, demand: Demand) -> Tried {
        let Iterate { x, g, next, l, work, .. } = &mut *self.at;
        let (model, h) = (Majoriser { g, x, l: *l }, &self.p.h);
        let ObcdOptions { model: kind, search, .. } = *self.options;
        // F must fall by SHARE of what m does, and that be α/2‖V − I‖²
        let alpha = demand.alpha / SHARE;
        let shape = Shape { model: kind, alpha, damping: Damping::of(&model), search };
        match round {
            Round::Pair(i, j) => {
                let mut step = PairStep {
                    f: &model,
                    h,
                    shape,
                    x: next,
                    image: &mut (),
                    work,
                    cache: None,
                    least: demand.least,
                };
                let found = step.run(i, j);
                Tried::pair(found.offered, (found.decrease > 0.0).then_some(found.decrease))
            }
            Round::Pairs(pairs) => jacobi_round(&model, h, (shape, demand.least), next, &mut (), pairs),
            Round::Blocks(blocks) => block_round(&model, h, shape, demand.least, next, &mut (), blocks),
        }
    }

    /// Step (S4): the decrease of F if that is enough of what was `promised`, and X⁺ is then the new X. Otherwise L
    /// is raised: to the curvature of f on the way to X⁺, and at least twofold.
    fn judge(&mut self, rows: &[usize], promised: f64) -> Option<f64> {
        let (p, at) = (self.p, &mut *self.at);
        let value = p.f.value_and_gradient(&at.next, &mut at.next_g);
        at.gradients += 1;
        let (mut before, mut after, mut square, mut penalty) = (0.0, 0.0, 0.0, 0.0);
        for i in rows {
            let (old, new) = (at.x.row(*i), at.next.row(*i));
            let d: Vec<f64> = new.iter().zip(old).map(|(a, b)| a - b).collect();
            before += inner(at.g.row(*i), &d);
            after += inner(at.next_g.row(*i), &d);
            square += inner(&d, &d);
            penalty += p.h.value(old) - p.h.value(new);
        }
        // where the values say no more than rounding, the gradients at both ends do (exactly, for a quadratic f)
        let (values, gradients) = (at.f - value, -0.5 * (before + after));
        let rounding = values.abs() <= ROUNDING * at.size();
        let smooth = if rounding || p.f.is_quadratic() { gradients } else { values };
        let decrease = smooth + penalty;
        if decrease >= SHARE * promised && value.is_finite() {
            rows.iter().for_each(|i| {
                at.x.row_mut(*i).copy_from_slice(at.next.row(*i));
                at.rows.update(*i, &at.x);
            });
            std::mem::swap(&mut at.g, &mut at.next_g);
            at.f = value;
            return Some(decrease);
        }
        let met = -2.0 * (smooth + before) / square;
        at.l = (2.0 * at.l).max(f64::MIN_POSITIVE).max(if met.is_finite() { met } else { 0.0 });
        None
    }

    /// X⁺ is X again.
    fn withdraw(&mut self, rows: &[usize]) {
        let Iterate { x, next, .. } = &mut *self.at;
        rows.iter().for_each(|i| next.row_mut(*i).copy_from_slice(x.row(*i)));
    }
}

impl<F: Smooth, H: PairPenalty> PairOracle for Sets<'_, F, H> {
    fn rows(&self) -> &Movable {
        &self.at.rows
    }

    fn try_pair(&mut self, i: usize, j: usize, demand: Demand) -> Tried {
        self.round(Round::Pair(i, j), demand)
    }

    fn try_blocks(&mut self, blocks: &[Vec<usize>], demand: Demand) -> Tried {
        self.round(Round::Blocks(blocks), demand)
    }

    fn try_matching(&mut self, pairs: &[(usize, usize)], demand: Demand) -> Tried {
        self.round(Round::Pairs(pairs), demand)
    }

    /// |S| with G = ∇f + a subgradient of h: 0 at kinks.
    fn score(&mut self, pairs: &[(usize, usize)]) -> Vec<f64> {
        let ObcdOptions { working_set, alpha, .. } = *self.options;
        let (at, h) = (&*self.at, &self.p.h);
        let row = |i: usize| -> Vec<f64> {
            let slope = |v: f64| Some(h.subdifferential(v)).filter(|(lo, hi)| lo == hi).map_or(0.0, |s| s.0);
            at.g.row(i).iter().zip(at.x.row(i)).map(|(g, x)| g + slope(*x)).collect()
        };
        let score = |&(i, j): &(usize, usize)| {
            let (gi, gj, xi, xj) = (row(i), row(j), at.x.row(i), at.x.row(j));
            let [g11, g12] = [inner(&gi, xi), inner(&gi, xj)];
            let [g21, g22] = [inner(&gj, xi), inner(&gj, xj)];
            let products = [g11, g12, g21, g22, inner(xi, xi), inner(xi, xj), inner(xj, xj)];
            stationarity_score(working_set, alpha, at.l, products)
        };
        pairs.iter().map(score).collect()
    }

    fn upkeep(&self) -> Upkeep {
        Upkeep { refresh: REFRESH, look: LOOK, between_passes: false }
    }

    fn has_drifted(&self) -> bool {
        stiefel::feasibility(&self.at.x) > DRIFT
    }

    fn refresh(&mut self) -> f64 {
        let (drifted, p, at) = (self.has_drifted(), self.p, &mut *self.at);
        if drifted {
            stiefel::repair_on_support(&mut at.x);
            at.repairs += 1;
        }
        at.next.data_mut().copy_from_slice(at.x.data());
        at.f = p.f.value_and_gradient(&at.x, &mut at.g);
        at.gradients += 1;
        at.f + p.h.value(at.x.data())
    }

    fn after_pass(&mut self, _: bool) {
        self.at.done = !std::mem::replace(&mut self.at.alive, false);
    }

    fn ended(&self, _: f64) -> Option<(Status, &'static str)> {
        let why = "a pass over all pairs finds nothing but rounding";
        self.at.done.then_some((Status::Converged, why))
    }
}
