//! OBCD for any smooth f (OBCD paper, Algorithm 1): min f(X) + h(X), XᵀX = I, from values and gradients of f alone.
//! `obcd_approx` is the other form of the first version (section 7.2), pairs along f itself.
//!
//! ```text
//! for t = 0, 1, ...
//!   (S1) disjoint working sets: a matching of all rows, blocks of k rows, or one pair
//!   (S2) m(Y) = ⟨G, Y − X⟩ + L/2‖Y − X‖², G = ∇f(X)                 smooth/majoriser.rs
//!   (S3) V ← minimisers of m + h over every working set              obcd/jacobi.rs, obcd/block.rs, pair/rows.rs
//!   (S4) X ← X⁺ if F(X) − F(X⁺) ≥ max(α/2 Σ‖Vᵢ − I‖², what m promised/10), else L ← 2L and again
//!   (S5) where pairs have nothing left and X is not critical: a step of all rows      all_rows.rs
//! ```
//!
//! m has the curvature L·I, so the working sets of a round decouple, and one gradient of f serves all of them, for any
//! penalty whose pairs can be solved. `model` is how m enters a block: exactly (Q = L·ZZᵀ ⊗ I), or by (9), Q = ςI with
//! ς = L‖ZZᵀ‖, whose steps are shorter. L follows the curvature that rounds meet: lowered after a round that was taken
//! at once, raised to what a refused one shows. A concave f has L = 0: its linearisation majorises it.
//!
//! With h there are X at which every pair of rows is stationary and X is not critical (docs/mathematics.md, section 6), so a pass
//! that lowers F by little is followed by (S5). Where nothing is left, X minimises m + h over every pair for that L. This is no certificate for
//! F: the run has converged where the criticality of X, computed anew, is small, and is stalled otherwise.
//!
//! Cost of a round: a gradient and a value of f for each trial (1.7 or so), and O(nr) or O(nr log r).

mod all_rows;
pub(super) mod rounds;

use super::obcd::{ObcdOptions, repaired};
use super::pair_descent::{self, Candidates, PairDescent, Schedule, Turn};
use crate::prelude::*;
use orthopt_core::composite::relative_criticality;
use orthopt_core::objective::size;
use orthopt_core::options::checked;
use orthopt_core::pair::PairPenalty;
use orthopt_core::solve::Pass;
use rounds::{DRIFT, Iterate, Sets};

/// Entry of the registry for OBCD for any f and h of the kind: rounds of n/2 disjoint pairs, or of blocks where
/// `block` is more than 2; single pairs, a gradient each, where the rule is greedy.
pub const INFO: Preset<MajorisedObcd> = Preset {
    name: "obcd-majorised",
    doc: "OBCD for any smooth f: disjoint pairs or blocks of rows, a gradient a round; feasible and monotone",
    constants: &[],
    shared: &only(ObcdOptions::LIST, ["working-set", "block", "model", "alpha", "candidates"]),
    domain: Domain {
        penalties: Penalties::OfEntries,
        words: "every smooth f, and penalties of single entries (all but l21, l1-largest-k and fused-l1)",
    },
    make: |info, o| {
        let jacobi = o.obcd.block == 2 && !o.obcd.working_set.is_greedy();
        MajorisedObcd::new(ObcdOptions { name: info.name, seed: o.seed, jacobi, ..o.obcd.clone() })
    },
};

/// The solver. With `jacobi` working sets are matchings of all rows, otherwise blocks of `block` rows or one pair.
#[derive(Clone, Debug)]
pub struct MajorisedObcd {
    options: ObcdOptions,
}

/// Rounds and passes that lower F by less than this, relative to its size, are followed by a check of criticality.
const SLOW: f64 = 1e-4;

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

impl<F: Smooth, H: PairPenalty> Solver<Problem<Stiefel, F, H>> for MajorisedObcd {
    type State = State;

    fn name(&self) -> &'static str {
        self.options.name
    }

    /// Rounds are like iterations of a first-order method, single pairs are not.
    fn behaviour(&self, _: &Problem<Stiefel, F, H>) -> Behaviour {
        Behaviour::fading(if self.options.jacobi || self.options.block > 2 {
            Stagnation::Iterations
        } else {
            Stagnation::Never
        })
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, mut x0: RowMat) -> Result<State> {
        stiefel::check(&x0, p.nrows(), p.rank(), "the starting point X")?;
        if stiefel::feasibility(&x0) > DRIFT {
            stiefel::repair_on_support(&mut x0);
        }
        let (o, at) = (&self.options, Iterate::new(&p.f, x0));
        let n = at.x.nrows();
        let candidates = Candidates::or_default(o.candidates, n);
        let blocks = (o.block.min(n), false);
        let schedule = Schedule::of_blocks(o.working_set, candidates, blocks, o.tol, o.seed, &at.rows);
        let schedule = schedule.of_all_rows(o.jacobi, &at.rows);
        let objective = at.f + p.h.value(at.x.data());
        let descent = pair_descent::State { objective, alpha: o.alpha * at.scale, schedule };
        Ok(State { at, descent, measured: None })
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> Step {
        let oracle = Sets { p, options: &self.options, at: &mut st.at };
        let step = PairDescent { oracle, state: &mut st.descent }.iterate();
        let slow = SLOW * size(st.at.scale, st.descent.objective);
        let settled = step.pass.is_some_and(|pass| pass.decrease <= slow) && self.settles(p, st);
        let ended = step.ended.filter(|_| !settled);
        // what pairs offer is what m does: a pass is no certificate, and where it ends the run X must be critical
        let pass = step.pass.filter(|_| ended.is_none()).map(|pass| Pass { covers_all: false, ..pass });
        Step { pass, ended, ..step }
    }

    fn current<'a>(&self, p: &Problem<Stiefel, F, H>, st: &'a State) -> Current<'a> {
        Current::new(&st.at.x, st.descent.objective).with_residual(if p.h.kinks().is_empty() {
            Some(st.at.smooth_criticality())
        } else {
            st.measured
        })
    }

    fn confirmed(&self, p: &Problem<Stiefel, F, H>, st: &State) -> Option<Confirmed> {
        Some(Confirmed::new(relative_criticality(p, &repaired(st.at.x.clone()))))
    }

    fn finish(&self, _: &Problem<Stiefel, F, H>, st: State) -> Ending {
        let (o, State { at, descent, .. }) = (&self.options, &st);
        let mut details = Details::default();
        details.set("working_set", o.working_set.name());
        details.set("block", descent.schedule.block());
        details.set("model", o.model.name());
        details.set("alpha", o.alpha);
        details.set("jacobi", o.jacobi);
        details.set("curvature_at_end", at.l);
        details.set("gradients", at.gradients);
        details.set("trials_refused", at.refused);
        details.set("pairs", descent.schedule.pairs);
        details.set("moves", descent.schedule.moves);
        details.set("repairs", at.repairs);
        details.set("steps_of_all_rows", at.settled);
        Ending::new(repaired(st.at.x), details)
    }
}

impl MajorisedObcd {
    /// Step (S5): measures the criticality of X, and lowers F where it is not small and pairs see nothing of it.
    fn settles<F: Smooth, H: PairPenalty>(&self, p: &Problem<Stiefel, F, H>, st: &mut State) -> bool {
        if p.h.kinks().is_empty() {
            st.measured = Some(st.at.smooth_criticality());
            return false; // without h pairs see all there is
        }
        let (criticality, lower) = st.at.settle(p);
        st.measured = Some(criticality).filter(|_| lower.is_none());
        let Some(objective) = lower else { return false };
        st.descent.objective = objective.min(st.descent.objective);
        st.descent.schedule.begin(Turn::Round, &st.at.rows);
        true
    }
}
