//! Sparse components that maximise a measure of what they explain, every X on the constraints to rounding
//! (docs/mathematics.md, section 19): min −½ φ(X) + λ‖X‖₀ over limits of nonzeros.
//!
//! ```text
//! fill       entries on free rows by exact gains, 15 % of those there are at a time, while the limits allow it
//! exchange   drop entries in order of least loss; the gain of every entry that may enter, both at the multipliers of the constraints; the
//!            best four polished, the first that improves is taken; every free variable in the place of the only one of a component;
//!            again until there is none
//! overshoot  add the m entries with the largest gradient, polish, prune back by exact losses; m = 1, 2, 3, 5, 8, 12, 20;
//!            exchange after each gain
//! pair       two rows of another component for one that shares none with it, as columns that meet in one row are not orthogonal;
//!            exchange after each gain
//! until      no m and no pair improves
//! ```
//!
//! Backward elimination with exact losses never leaves the manifold and changes several entries at once, which coordinate
//! search does not: two columns that overlap must share two rows or more.
//!
//! Cost of an iteration: a few dozen polishes on the rows of the supports, each step of which is a product of C on these rows, or with the
//! samples where these are fewer than half as many, with X; and O(r²) for each candidate with adjusted variance, O(r³)
//! with another measure, of which there are at most 512 for each entry that leaves; a product of C with X for each.

mod common;
mod kept;
mod local;
mod nested;
mod pairs;
mod shared;
mod single;
mod starts;
mod support_model;

use std::time::Duration;

use crate::problem::MeasuredProblem;
pub use common::{common, grouped};
pub use local::EQUATIONS;
pub use nested::one_by_one;
use orthopt_core::constraint::stiefel;
use orthopt_core::objective::Evaluate;
use orthopt_core::smooth::{Order, Quadratic};
use orthopt_core::solve::info::SolverInfo;
use orthopt_core::solve::{
    AnySolver, Behaviour, Current, Details, Ending, Pass, Solver, Stagnation, Status, Step,
};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
pub use shared::{anew, fitted, on_groups};
pub use starts::{apart, divided, polished, pruned, repaired, rotated};
use support_model::{LAST, STAYING, WORTH, mask_of};
pub use support_model::{Point, SupportModel};

/// Entry of the registry.
pub const INFO: SolverInfo<MeasuredProblem> = SolverInfo {
    name: "overshoot",
    doc: "exchanges nonzeros, and adds several at once to prune them back, by exact gains on the exact manifold",
    constants: &[],
    shared: &[],
    handles: &|p| p.order() == Order::Joint,
    scope: "components that maximise a measure together",
    make: &|_| Ok(AnySolver::new(Overshoot)),
};

/// Entry of the registry for uncorrelated components with a number of nonzeros each.
pub const OF_UNCORRELATED: SolverInfo<MeasuredProblem> =
    SolverInfo { scope: "uncorrelated components", ..INFO };

/// Entry of the registry for components one after the other.
pub const NESTED: SolverInfo<MeasuredProblem> = SolverInfo {
    name: "nested",
    doc: "components one after the other, each the best one beside those before it",
    constants: &[],
    shared: &[],
    handles: &|p| p.order() == Order::Sequential,
    scope: "components one after the other (order sequential)",
    make: &|_| Ok(AnySolver::new(Nested)),
};

/// Entries that are added to be pruned again, one number after the other.
const ADDED: [usize; 9] = [1, 2, 3, 5, 8, 12, 20, 2, 5];
/// Share of the value that the last polish, which goes by gradients, may lose to rounding.
const ROUNDING: f64 = 1e-13;
/// Time of the last polish once all time is over.
const CLOSING: Duration = Duration::from_millis(50);
/// Why it ends.
const DONE: (Status, &str) = (
    Status::Converged,
    "no exchange of nonzeros, and no pruning of more, that was tried raises what is explained",
);

/// The solver; there is no chance in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overshoot;

/// State of [`Overshoot`].
#[derive(Clone, Debug)]
pub struct State {
    at: Point,
    objective: f64,
    stage: Stage,
    exchanges: u64,
    overshoots: u64,
    made: (u64, f64), // moves and F at the last pass
    cancel: Cancel,   // of the last step
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Fill,
    Exchange(usize), // and then the overshoot of this place
    Overshoot(usize),
    Pair, // and then an exchange
    Ended,
}

impl<F: Quadratic> Solver<MeasuredProblem<F>> for Overshoot {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    /// It ends by itself, and moves that bring nothing are no sign of an end.
    fn behaviour(&self, _: &MeasuredProblem<F>) -> Behaviour {
        Behaviour { goes_by_supports: true, ..Behaviour::fading(Stagnation::Never) }
    }

    fn init(&self, p: &MeasuredProblem<F>, x0: RowMat) -> Result<State> {
        p.check(&x0, "the starting point X")?;
        let model = SupportModel::of(p);
        let at = model.polish(&x0, &mask_of(&x0), STAYING).ok_or_else(|| {
            Error::Incompatible("no feasible X was found on the supports of the starting point X".into())
        })?;
        let objective = p.value(&at.x);
        Ok(State::new(at, objective, model.cancel()))
    }

    fn step(&self, p: &MeasuredProblem<F>, st: &mut State) -> Step {
        let model = SupportModel::of(p);
        st.cancel = model.cancel().clone();
        if st.advance(&model) {
            st.objective = p.value(&st.at.x);
        }
        // unless it was not looked for to the end
        let ended = (st.stage == Stage::Ended && !model.is_over()).then_some(DONE);
        Step { pass: st.pass(model.shape().1), ..Step::ended(ended) }
    }

    fn current<'a>(&self, _: &MeasuredProblem<F>, st: &'a State) -> Current<'a> {
        Current::new(&st.at.x, st.objective)
    }

    fn finish(&self, p: &MeasuredProblem<F>, st: State) -> Ending {
        let mut details = Details::default();
        details.set("exchanges", st.exchanges);
        details.set("overshoots", st.overshoots);
        let model = SupportModel::of(p).until(&st.cancel.with_grace(CLOSING));
        let last = model.polish(&st.at.x, &mask_of(&st.at.x), LAST);
        let least = st.at.value * (1.0 - ROUNDING);
        let kept = |at: &Point| at.value >= least && model.meets(&at.x);
        let at = last.filter(kept).unwrap_or(st.at);
        let x = model.without_dust(&at).unwrap_or(at).x;
        Ending::new(x, details)
    }
}

impl State {
    fn new(at: Point, objective: f64, cancel: &Cancel) -> Self {
        let (made, cancel) = ((0, objective), cancel.clone());
        Self { at, objective, stage: Stage::Fill, exchanges: 0, overshoots: 0, made, cancel }
    }

    /// Every so many moves that raise the value are a pass.
    fn pass(&mut self, moves: usize) -> Option<Pass> {
        let made = self.exchanges + self.overshoots;
        let pairs = made - self.made.0;
        if pairs < moves as u64 {
            return None;
        }
        let decrease = self.made.1 - self.objective;
        self.made = (made, self.objective);
        Some(Pass { pairs, decrease, max_decrease: decrease, covers_all: false })
    }

    /// One move; whether it raised the value.
    fn advance<F: Quadratic>(&mut self, model: &SupportModel<'_, F>) -> bool {
        let before = model.worth(&self.at);
        // what is not taken must not be found again and again
        let better = |at: &Point| model.raises(model.worth(at), before, WORTH) && model.meets(&at.x);
        let (next, then) = match self.stage {
            Stage::Fill => (model.filled(self.at.clone()), Stage::Exchange(0)),
            Stage::Exchange(m) => match model.exchange(&self.at).filter(better) {
                Some(at) => {
                    self.exchanges += 1;
                    (Some(at), Stage::Exchange(m))
                }
                None if m < ADDED.len() => (None, Stage::Overshoot(m)),
                None => (None, Stage::Pair),
            },
            Stage::Pair => {
                let found = model.paired(&self.at).filter(better);
                self.exchanges += u64::from(found.is_some());
                let then = if found.is_some() { Stage::Exchange(ADDED.len()) } else { Stage::Ended };
                (found, then)
            }
            Stage::Overshoot(m) => {
                let found = model.overshoot(&self.at, ADDED[m]).filter(better);
                self.overshoots += u64::from(found.is_some());
                let then = match &found {
                    Some(_) => Stage::Exchange(m + 1),
                    None if m + 1 < ADDED.len() => Stage::Overshoot(m + 1),
                    None => Stage::Pair,
                };
                (found, then)
            }
            Stage::Ended => (None, Stage::Ended),
        };
        self.stage = then;
        let next = next.filter(|at| model.worth(at) > before && model.meets(&at.x));
        let raised = next.is_some();
        self.at = next.unwrap_or_else(|| self.at.clone());
        raised
    }
}

/// The point that the moves lead to from another one; `None` if cancelled.
pub fn climbed<F: Quadratic>(model: &SupportModel<'_, F>, at: Point, cancel: &Cancel) -> Option<Point> {
    let mut st = State::new(at, 0.0, cancel);
    while st.stage != Stage::Ended {
        if cancel.is_over() {
            return None;
        }
        st.advance(model);
    }
    Some(st.at)
}

/// Components one after the other; there is no chance in it, and the starting point does not matter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nested;

/// State of [`Nested`]: the components found, and those of the starting point where none is found.
#[derive(Clone, Debug)]
pub struct NestedState {
    x: RowMat,
    found: usize,
    objective: f64,
    best: RowMat, // all components that are found, or the starting point
}

impl<F: Quadratic> Solver<MeasuredProblem<F>> for Nested {
    type State = NestedState;

    fn name(&self) -> &'static str {
        NESTED.name
    }

    fn behaviour(&self, _: &MeasuredProblem<F>) -> Behaviour {
        Behaviour::fading(Stagnation::Never)
    }

    fn init(&self, p: &MeasuredProblem<F>, x0: RowMat) -> Result<NestedState> {
        p.check(&x0, "the starting point X")?;
        let objective = p.value(&x0);
        Ok(NestedState { x: RowMat::zeros(x0.nrows(), x0.ncols()), found: 0, objective, best: x0 })
    }

    fn step(&self, p: &MeasuredProblem<F>, st: &mut NestedState) -> Step {
        const DONE: (Status, &str) =
            (Status::Converged, "no exchange of a nonzero that was tried makes a component add more");
        const STUCK: (Status, &str) =
            (Status::Stalled, "no direction is left for a component beside those before it");
        let model = SupportModel::of(p);
        let r = p.rank();
        if st.found == r {
            return Step::ended(Some(DONE));
        }
        let size = model.limits().shares(r)[st.found];
        let Some(v) = nested::component(&model, &st.x, st.found, size) else {
            // unless it was not looked for to the end
            return Step::ended((!model.is_over()).then_some(STUCK));
        };
        v.iter().enumerate().for_each(|(i, v)| st.x.set(i, st.found, *v));
        st.found += 1;
        if st.found < r {
            return Step::default();
        }
        stiefel::repair_on_support(&mut st.x);
        st.objective = p.value(&st.x);
        st.best = st.x.clone();
        Step::ended(Some(DONE))
    }

    fn current<'a>(&self, _: &MeasuredProblem<F>, st: &'a NestedState) -> Current<'a> {
        Current::new(&st.best, st.objective)
    }

    fn finish(&self, _: &MeasuredProblem<F>, st: NestedState) -> Ending {
        let mut details = Details::default();
        details.set("components", st.found);
        Ending::new(st.best, details)
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use rand::{RngExt, SeedableRng};

    use super::*;
    use orthopt_core::problem::{Between, Cardinality};
    use orthopt_core::smooth::{DenseGram, Measure, Measured};
    use orthopt_linalg::products::gram;

    /// Entries that enter some at a time, against one at a time: within the limits, on rows that were free, and about as good.
    #[test]
    fn filling_by_shares_is_about_as_good_as_one_by_one() {
        for seed in 0..6u64 {
            let mut rng = rand_pcg::Pcg64::seed_from_u64(seed);
            let (m, n, r) = (12, 90, 3);
            let a = Mat::from_fn(m, n, |_, _| rng.random_range(-1.0..1.0));
            let f = Measured::new(DenseGram::new(a.as_ref()), Measure::Adjusted).unwrap();
            let limits =
                if seed % 2 == 0 { Cardinality::Components(vec![30, 20, 7]) } else { Cardinality::Total(57) };
            let p = MeasuredProblem::new(f, r, limits, 0.0, Between::Orthogonal).unwrap();
            let model = SupportModel::of(&p);
            let x = RowMat::from_fn(n, r, |i, k| f64::from(u8::from(i == 7 * k)));
            let at = model.polish(&x, &mask_of(&x), STAYING).unwrap();
            let filled = model.fill(at.clone()).unwrap();
            let slow = model.fill_one_by_one(at.clone()).unwrap();
            let counts = filled.counts();
            assert_eq!(counts.iter().sum::<usize>(), 57, "{counts:?}");
            assert!(seed % 2 == 1 || counts == [30, 20, 7]);
            let error = gram(&filled.x);
            for i in 0..r {
                for j in 0..r {
                    let one = f64::from(u8::from(i == j));
                    assert!((error.get(i, j) - one).abs() < 1e-12);
                }
            }
            assert!(filled.mask.chunks(r).all(|row| row.iter().filter(|free| **free).count() <= 1));
            assert!(filled.value > 0.98 * slow.value, "{seed}: {} and {}", filled.value, slow.value);
            assert!(filled.value > 1.5 * at.value);
        }
    }
}
