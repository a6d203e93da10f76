//! Descent on fixed supports, and revision of the supports (docs/mathematics.md, section 12): for penalties
//! that want zeros.
//!
//! Pairs of rows cannot do everything: on dense data with a small λ, OBCD stops at points that a
//! change of many entries at once improves by half. This method works on the support S of X.
//!
//! ```text
//! 1  penalty continuation: X orthonormal, Y its sparse copy, ρ growing         penalty.rs
//! 2  XᵀX = I restored on the support of Y                                      pattern.rs
//! 3  repeat until nothing changes:
//!      descend on {X : supp(X) ⊆ S, XᵀX = I}                                   descent.rs
//!      revise S by batches of entries that promise a decrease                  revise.rs
//!      revise S by moves of pairs of rows (OBCD)
//! 4  excursions: thin or thicken S by step 3 with the penalty κh, κ = 2, ½, ...
//!    for some batches, then step 3 with h again; the best point stays
//! 5  OBCD until block-2 stationary
//! ```
//!
//! Every point it returns is exactly sparse and orthonormal to rounding, and F never rises from
//! one to the next. A batch costs a few gradients and O(r·nnz(X)) per step of conjugate gradients.

pub(crate) mod descent;
pub(crate) mod pattern;
mod penalty;
mod revise;
#[cfg(test)]
mod tests;

use crate::obcd::{self, Obcd, ObcdOptions};
use crate::prelude::*;
use crate::proximal::Feasible;
use descent::{Objective, Pace, Point};
use orthopt_core::objective::size;
use orthopt_core::pair::PairPenalty;
use orthopt_core::penalty::AnyPenalty;
use orthopt_core::problem::PcaProblem;
use orthopt_core::smooth::Quadratic;
use orthopt_core::solve::info::SolverInfo;
use orthopt_core::solve::{AnySolver, Pass, advance};
use penalty::{Continuation, Outcome};
use revise::{Batch, Revision};

constants! {
    /// Constants of the method.
    pub struct SupportOptions {
        /// rho/L of the penalty at the start
        rho0 ["ρ₀/L"]: f64 = 0.15, "a finite number > 0" if |v| v > 0.0;
        /// factor of rho per step
        growth [""]: f64 = 1.05, "a finite number > 1" if |v| v > 1.0;
        /// factor of the penalty in excursions, which take kappa, 1/kappa, sqrt(kappa), 1/sqrt(kappa),
        /// kappa^2, 1/kappa^2 in turn
        kappa ["κ"]: f64 = 2.0, "a finite number > 1" if |v| v > 1.0;
        /// fruitless excursions in a row before it ends
        patience [""]: u32 = 6, "a whole number from 0 to 1e6" if |v| (0.0..=1e6).contains(&v);
    }
    plain {
        /// OBCD of steps 3 and 5.
        obcd: ObcdOptions = ObcdOptions::DEFAULT;
    }
}

/// Entry of the registry.
pub const INFO: SolverInfo = SolverInfo {
    name: "support",
    doc: "descent on fixed supports; supports change by single entries and by OBCD; exactly sparse",
    constants: SupportOptions::LIST,
    shared: ObcdOptions::LIST,
    handles: &|p: &PcaProblem| matches!(p.h, AnyPenalty::L0(_) | AnyPenalty::L1(_)),
    scope: "the penalties l0 and l1",
    make: &|o| {
        let obcd = ObcdOptions { seed: o.seed, ..o.obcd.clone() };
        let defaults = SupportOptions { obcd, ..SupportOptions::DEFAULT };
        Ok(AnySolver::new(Support::new(INFO.configured(defaults, o)?)?))
    },
};

/// The solver.
#[derive(Clone, Debug)]
pub struct Support {
    options: SupportOptions,
    obcd: Obcd,
}

/// Pairs that one iteration of OBCD tries here.
const CHUNK: u64 = 2000;
/// Pairs per row after which OBCD must have shown something.
const TRIAL: u64 = 100;
/// Batches of an excursion.
const EXCURSION: u32 = 10;
/// Exponents of κ: excursions in the order in which they are tried since the last one that paid.
const EXPONENTS: [f64; 6] = [1.0, -1.0, 0.5, -0.5, 2.0, -2.0];
/// Gradient steps where a descent is to converge, and after the continuation.
const LONG: usize = 30;
const SHORT: usize = 3;
/// A decrease below this, relative to the size of F, is none.
const NOTHING: f64 = 1e-6;
/// The decrease that no pair may offer at the end, relative to the size of F, where no stopping rule says
/// otherwise before.
const CERTAIN: f64 = 1e-12;
/// Why it ends.
const NO_BETTER: &str = "block-2 stationary, and neither thinner nor thicker supports lead to a lower F";
/// A round of OBCD that lowers F by less, relative to the size of F, is the last one.
const SLOW: f64 = 1e-4;

impl Support {
    /// The method with checked constants.
    ///
    /// # Errors
    /// A constant outside its range.
    pub fn new(options: SupportOptions) -> Result<Self> {
        let options = options.checked(INFO.name)?;
        let obcd = Obcd::new(options.obcd.clone())?;
        Ok(Self { options, obcd })
    }
}

/// Step of the method that is under way.
#[derive(Clone, Debug)]
enum Phase<I> {
    /// Step 1.
    Continue(Box<Continuation>),
    /// Step 3, batches of entries; `last` after the long descent.
    Entries { last: bool },
    /// Step 3, pairs of rows.
    Pairs(Box<Pairs<I>>),
    /// Step 4, so many batches left with κh.
    Excursion { kappa: f64, left: u32 },
    /// Step 5.
    Certify(Box<obcd::State<I>>),
    /// Nothing more to do.
    Done,
}

/// OBCD under way.
#[derive(Clone, Debug)]
struct Pairs<I> {
    state: obcd::State<I>,
    from: f64,     // F where it began
    tried: u64,    // pairs
    opening: bool, // from X⁰, as the other candidate to begin with
}

/// State of the method.
#[derive(Clone, Debug)]
pub struct State<I> {
    best: Point<I>,    // X, the best point so far
    current: Point<I>, // the point at work
    phase: Phase<I>,
    batch: Batch,
    pace: Pace,
    diagonal: Vec<f64>, // of M
    pairs_pay: bool,    // OBCD lowered F the last time it was tried
    since: f64,         // F of the best point at the end of the last step 3
    fruitless: u32,     // excursions in a row that found nothing
    excursions: u64,
    batches: u64,
}

impl<I: Clone> State<I> {
    /// Keeps the point at work if it is the best so far.
    fn keep(&mut self) {
        if self.current.value() < self.best.value()
            && let Some(point) = self.current.tightened()
        {
            self.best = point;
        }
    }
}

impl<F: Quadratic, H: PairPenalty> Solver<Problem<Stiefel, F, H>> for Support {
    type State = State<F::Image>;

    fn name(&self) -> &'static str {
        "support"
    }

    fn behaviour(&self, _: &Problem<Stiefel, F, H>) -> Behaviour {
        Behaviour::fading(Stagnation::Never)
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, mut x0: RowMat) -> Result<Self::State> {
        stiefel::check(&x0, p.nrows(), p.rank(), "the starting point X")?;
        stiefel::repair_on_support(&mut x0);
        let objective = weighted(p, 1.0);
        let path = Continuation::new(objective, x0.clone(), self.options.rho0, self.options.growth);
        let best = objective.at(x0);
        Ok(State {
            since: best.value(),
            current: best.clone(),
            best,
            pace: Pace { step: 1.0 / path.lipschitz(), lambda: RowMat::zeros(p.rank(), p.rank()) },
            phase: Phase::Continue(Box::new(path)),
            batch: Batch::default(),
            diagonal: p.f.diagonal(),
            pairs_pay: true,
            fruitless: 0,
            excursions: 0,
            batches: 0,
        })
    }

    fn step(&self, p: &Problem<Stiefel, F, H>, st: &mut Self::State) -> Step {
        let mut pass = None;
        st.phase = match std::mem::replace(&mut st.phase, Phase::Done) {
            Phase::Continue(path) => self.follow(p, st, path),
            Phase::Entries { last } => self.entries(p, st, last),
            Phase::Pairs(pairs) => self.pairs(p, st, pairs),
            Phase::Excursion { kappa, left } => self.excursion(p, st, kappa, left),
            Phase::Certify(state) => {
                let (phase, done) = self.certify(p, st, state);
                pass = done;
                phase
            }
            Phase::Done => return Step::ended(Some((Status::Converged, NO_BETTER))),
        };
        Step::passed(pass)
    }

    fn current<'a>(&self, _: &Problem<Stiefel, F, H>, st: &'a Self::State) -> Current<'a> {
        Current::new(&st.best.x, st.best.value())
    }

    fn finish(&self, p: &Problem<Stiefel, F, H>, st: Self::State) -> Ending {
        let mut details = Details::of(&self.options, INFO.constants);
        details.set("batches", st.batches);
        details.set("excursions", st.excursions);
        details.set("gradient", p.f.bookkeeping(&st.best.image));
        Ending::new(st.best.x, details)
    }
}

/// f + κh.
fn weighted<F, H>(p: &Problem<Stiefel, F, H>, kappa: f64) -> Objective<'_, F, H> {
    Objective { f: &p.f, h: &p.h, kappa, loose: descent::LOOSE }
}

impl Support {
    /// Steps 1 and 2: one step of the continuation.
    fn follow<F: Quadratic, H: PairPenalty>(
        &self,
        p: &Problem<Stiefel, F, H>,
        st: &mut State<F::Image>,
        mut path: Box<Continuation>,
    ) -> Phase<F::Image> {
        let objective = weighted(p, 1.0);
        let opening = st.best.x.clone();
        match path.step(objective) {
            Outcome::Going => return Phase::Continue(path),
            Outcome::Met(mut point) => {
                objective.descend(&mut point, SHORT, 1e-6, &mut st.pace);
                st.current = *point;
                st.keep();
            }
            // no support of the path admits XᵀX = I, as with many components and few entries
            Outcome::Lost => {
                let (x, y) = path.iterates();
                let found = objective.at(Feasible::new(p, &opening).last(p, x, y));
                if found.value() < st.current.value() {
                    st.current = found;
                    st.keep();
                }
            }
        }
        self.begin_pairs(p, opening, true).unwrap_or(Phase::Entries { last: false })
    }

    /// Step 3: a batch of entries; where none is left a long descent and a last try, then pairs.
    fn entries<F: Quadratic, H: PairPenalty>(
        &self,
        p: &Problem<Stiefel, F, H>,
        st: &mut State<F::Image>,
        last: bool,
    ) -> Phase<F::Image> {
        let objective = weighted(p, 1.0);
        st.batches += 1;
        match objective.revise(&mut st.current, &st.diagonal, &mut st.batch, &mut st.pace) {
            Revision::Improved => {
                st.keep();
                Phase::Entries { last: false }
            }
            Revision::Refused => Phase::Entries { last },
            Revision::Exhausted if !last => {
                objective.descend(&mut st.current, LONG, 1e-7, &mut st.pace);
                Phase::Entries { last: true }
            }
            Revision::Exhausted => {
                st.keep();
                let point = st.current.tightened().filter(|_| st.pairs_pay);
                point.and_then(|t| self.begin_pairs(p, t.x, false)).unwrap_or_else(|| self.settle(p, st))
            }
        }
    }

    fn begin_pairs<F: Quadratic, H: PairPenalty>(
        &self,
        p: &Problem<Stiefel, F, H>,
        x: RowMat,
        opening: bool,
    ) -> Option<Phase<F::Image>> {
        let from = p.value(&x);
        let state = self.obcd.init(p, x).ok()?;
        Some(Phase::Pairs(Box::new(Pairs { state, from, tried: 0, opening })))
    }

    /// Step 3: some pairs of rows, until a round of OBCD brings little.
    fn pairs<F: Quadratic, H: PairPenalty>(
        &self,
        p: &Problem<Stiefel, F, H>,
        st: &mut State<F::Image>,
        mut pairs: Box<Pairs<F::Image>>,
    ) -> Phase<F::Image> {
        let (made, step) = advance(&self.obcd, p, &mut pairs.state, CHUNK);
        pairs.tried += made;
        let objective = pairs.state.objective();
        let size = size(p.f.scale(&st.best.x), objective);
        let pays = pairs.from - objective > NOTHING * size;
        let slow = step.pass.is_some_and(|pass| pass.decrease <= SLOW * size);
        let tried = step.pass.is_some() || pairs.tried >= TRIAL * p.nrows() as u64;
        // the other candidate continues while it is ahead
        let hopeless = if pairs.opening { objective > st.current.value() } else { !pays };
        if !(slow || tried && hopeless) {
            return Phase::Pairs(pairs);
        }
        let found = weighted(p, 1.0).at(self.obcd.finish(p, pairs.state).x);
        if found.value() < st.current.value() {
            st.current = found;
            st.keep();
        }
        if !pairs.opening {
            st.pairs_pay = pays;
        }
        if pairs.opening || pays { Phase::Entries { last: false } } else { self.settle(p, st) }
    }

    /// The end of step 3: sets out again, or ends.
    fn settle<F: Quadratic, H: PairPenalty>(
        &self,
        p: &Problem<Stiefel, F, H>,
        st: &mut State<F::Image>,
    ) -> Phase<F::Image> {
        let won = st.since - st.best.value() > NOTHING * size(p.f.scale(&st.best.x), st.since);
        st.fruitless = if won { 0 } else { st.fruitless + 1 };
        st.since = st.best.value();
        if st.fruitless >= self.options.patience {
            let state = self.obcd.init(p, st.best.x.clone());
            return state.map_or(Phase::Done, |state| Phase::Certify(Box::new(state)));
        }
        st.excursions += 1;
        st.current = st.best.clone();
        st.batch = Batch::default();
        let kappa = self.options.kappa.powf(EXPONENTS[st.fruitless as usize % EXPONENTS.len()]);
        Phase::Excursion { kappa, left: EXCURSION }
    }

    /// Step 4: a batch of entries for f + κh.
    fn excursion<F: Quadratic, H: PairPenalty>(
        &self,
        p: &Problem<Stiefel, F, H>,
        st: &mut State<F::Image>,
        kappa: f64,
        left: u32,
    ) -> Phase<F::Image> {
        st.batches += 1;
        let done = weighted(p, kappa).revise(&mut st.current, &st.diagonal, &mut st.batch, &mut st.pace);
        if left > 1 && done != Revision::Exhausted {
            return Phase::Excursion { kappa, left: left - 1 };
        }
        st.batch = Batch::default();
        Phase::Entries { last: false }
    }

    /// Step 5: OBCD, whose passes are shown; over when a whole pass offers nothing.
    fn certify<F: Quadratic, H: PairPenalty>(
        &self,
        p: &Problem<Stiefel, F, H>,
        st: &mut State<F::Image>,
        mut state: Box<obcd::State<F::Image>>,
    ) -> (Phase<F::Image>, Option<Pass>) {
        let (_, step) = advance(&self.obcd, p, &mut state, CHUNK);
        let Some(pass) = step.pass else { return (Phase::Certify(state), None) };
        if pass.decrease > 0.0 {
            st.current = weighted(p, 1.0).at(state.x().clone());
            st.keep();
        }
        let limit = CERTAIN * size(p.f.scale(&st.best.x), state.objective());
        let over = pass.covers_all && pass.decrease == 0.0 && pass.max_decrease <= limit;
        (if over { Phase::Done } else { Phase::Certify(state) }, Some(pass))
    }
}
