//! OBCD: block coordinate descent on rows for f(X) + h(X), XᵀX = I (OBCD paper, Algorithm 1).
//!
//! The algorithm is `PairDescent`; here are its options and what pairs of rows offer.
//!
//! ```text
//! (S1) a working set B of k rows            pair_descent/schedule.rs, greedy.rs
//! (S2) Q by (8) [exact] or (9) [diagonal]   pair/step.rs
//! (S3) V, a global (k = 2) or local (k > 2) minimiser of K(V; X, B), K(V) ≤ K(I)
//! (S4) X(B, :) ← V X(B, :)                  step.rs, block.rs, jacobi.rs
//! ```
//!
//! Every accepted move satisfies F(Xᵗ) − F(Xᵗ⁺¹) ≥ α/2‖V − I‖². Pairs whose two rows are zero
//! cannot move anything and are never drawn.
//!
//! With `block` > 2 a step takes a round of disjoint blocks of k rows and sweeps the pairs
//! inside each (block.rs).
//!
//! Cost per pair: two gradient rows, O(r) products and an O(r log r) search; an accepted move
//! adds the update of the image (O(nr) or less, see [`orthopt_core::smooth`]).

mod block;
mod jacobi;
mod narrow;
mod options;
mod oracle;

use crate::pair_descent::{self, PairDescent, Schedule};
pub use crate::pair_descent::{Candidates, WORKING_SETS, WorkingSet, pairs};
use crate::prelude::*;
pub(crate) use options::{BLOCK, INFO, OBCD_BLOCK, OBCD_C, OBCD_JACOBI, OBCD_OR, OBCD_R, OBCD_SV};
use oracle::{Iterate, RowPairs};
use orthopt_core::options::checked;
use orthopt_core::pair::PairPenalty;
pub use orthopt_core::pair::nonlinear::CircleSearch;
pub use orthopt_core::pair::options::ObcdOptions;
pub use orthopt_core::pair::step::{Model, Search};
use orthopt_core::smooth::Quadratic;

pub(crate) use block::block_round;
pub(crate) use jacobi::jacobi_round;
pub(crate) use oracle::repaired;

/// The solver.
#[derive(Clone, Debug)]
pub struct Obcd {
    options: ObcdOptions,
}

impl Obcd {
    /// OBCD with checked options.
    ///
    /// # Errors
    /// α not positive and finite, k < 2, or no candidates.
    pub fn new(options: ObcdOptions) -> Result<Self> {
        checked("tol", options.tol, "a finite number >= 0", |tol| tol >= 0.0)?;
        let options = options.checked("")?;
        Ok(Self { options })
    }

    /// OBCD with its defaults.
    pub fn seeded(seed: u64) -> Self {
        Self { options: ObcdOptions { seed, ..ObcdOptions::DEFAULT } }
    }

    /// Its options.
    pub fn options(&self) -> &ObcdOptions {
        &self.options
    }
}

/// State of OBCD.
#[derive(Clone, Debug)]
pub struct State<I> {
    at: Iterate<I>,               // Xᵗ and its image
    descent: pair_descent::State, // F(Xᵗ), α and the working sets
}

impl<I> State<I> {
    /// X.
    pub(crate) fn x(&self) -> &RowMat {
        &self.at.x
    }

    /// F(X), tracked.
    pub(crate) fn objective(&self) -> f64 {
        self.descent.objective
    }

    /// The linear term of f has changed, and with it F(X): to `objective`.
    pub(crate) fn retarget(&mut self, objective: f64) {
        self.descent.objective = objective;
        self.descent.schedule.forget();
        self.at.forget_gradients();
    }
}

impl<F: Quadratic, H: PairPenalty> Solver<Problem<Stiefel, F, H>> for Obcd {
    type State = State<F::Image>;

    fn name(&self) -> &'static str {
        self.options.name
    }

    fn behaviour(&self, _: &Problem<Stiefel, F, H>) -> Behaviour {
        Behaviour::fading(Stagnation::Never)
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, x0: RowMat) -> Result<Self::State> {
        stiefel::check(&x0, p.nrows(), p.rank(), "the starting point X")?;
        let o = &self.options;
        let mut at = Iterate::new(&p.f, o, x0);
        if o.working_set == WorkingSet::Active && o.block == 2 && !o.jacobi {
            at.narrow(p);
        }
        let n = at.x.nrows();
        let candidates = Candidates::or_default(o.candidates, n);
        let blocks = (o.block.min(n), o.jacobi);
        let descent = pair_descent::State {
            objective: p.f.value_at(&at.image, &at.x) + p.h.value(at.x.data()),
            alpha: o.alpha * at.scale,
            schedule: Schedule::of_blocks(o.working_set, candidates, blocks, o.tol, o.seed, &at.rows),
        };
        Ok(State { at, descent })
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut Self::State) -> Step {
        let oracle = RowPairs { p, options: &self.options, at: &mut st.at };
        PairDescent { oracle, state: &mut st.descent }.iterate()
    }

    fn current<'a>(&self, _: &Problem<Stiefel, F, H>, st: &'a Self::State) -> Current<'a> {
        Current::new(st.x(), st.descent.objective)
    }

    fn finish(&self, p: &Problem<Stiefel, F, H>, st: Self::State) -> Ending {
        let (o, State { at, descent }) = (&self.options, &st);
        let mut details = Details::default();
        details.set("working_set", o.working_set.name());
        details.set("block", descent.schedule.block());
        details.set("model", o.model.name());
        details.set("alpha", o.alpha);
        if descent.alpha < o.alpha * at.scale {
            details.set("alpha_at_end", descent.alpha / at.scale);
        }
        details.set("jacobi", o.jacobi);
        if let Some(candidates) = descent.schedule.candidates() {
            let text = match candidates {
                Candidates::Sample(p) => format!("{p} sampled pairs"),
                Candidates::All => "all pairs".into(),
            };
            details.set("candidates", text);
        }
        details.set("gradient", p.f.bookkeeping(&at.image));
        details.set("gradient_changes", at.rebalanced);
        details.set("pairs", descent.schedule.pairs);
        details.set("moves", descent.schedule.moves);
        details.set("repairs", at.repairs);
        Ending::new(repaired(st.at.x), details)
    }
}
