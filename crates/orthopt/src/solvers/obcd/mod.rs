//! OBCD: block coordinate descent on rows for f(X) + h(X), XᵀX = I (OBCD paper, Algorithm 1).
//!
//! ```text
//! for t = 0, 1, ...
//!   (S1) choose a working set B of k rows            pair/movable.rs, greedy.rs
//!   (S2) choose Q by (8) [exact] or (9) [diagonal]   pair/step.rs
//!   (S3) V ← a global (k = 2) or local (k > 2) minimiser of K(V; X, B), K(V) ≤ K(I)
//!   (S4) X(B, :) ← V X(B, :)
//! ```
//!
//! Every accepted move satisfies F(Xᵗ) − F(Xᵗ⁺¹) ≥ α/2‖V − I‖². Pairs whose two rows are zero
//! cannot move anything and are never drawn. Whenever random or greedy choices bring little, a
//! whole pass over all pairs that can move follows, which either finds what they missed or
//! shows block-2 stationarity.
//!
//! With `block` > 2 a step takes a round of disjoint blocks of k rows and sweeps the pairs
//! inside each (block.rs).
//!
//! Cost per pair: two gradient rows, O(r) products and an O(r log r) search; an accepted move
//! adds the update of the image (O(nr) or less, see [`crate::smooth`]).

mod block;
mod greedy;
mod jacobi;
mod options;
mod step;

use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::constraint::Stiefel;
use crate::constraint::stiefel;
use crate::error::{Error, Result};
use crate::linalg::RowMat;
use crate::objective::REPORT_ZERO;
use crate::pair::PairPenalty;
use crate::problem::Problem;
use crate::smooth::{Quadratic, Usage};
use crate::solve::{Pass, Settings, Solver, Step};
pub use options::{
    Candidates, INFO, OBCD_BLOCK, OBCD_C, OBCD_JACOBI, OBCD_OR, OBCD_R, OBCD_SV, ObcdOptions, WORKING_SETS,
    WorkingSet,
};

use crate::pair::movable::{Cursor, Movable, Next};
use crate::pair::step::{Damping, Model, PairWork, Shape};
use step::{GradientCache, PairStep};

/// The solver.
#[derive(Clone, Debug)]
pub struct Obcd {
    options: ObcdOptions,
}

/// Accepted moves between two refreshes of the image from X.
const REFRESH: u64 = 100_000;
/// Accepted moves between two looks at the feasibility of X.
const CHECK: u64 = 5_000;
/// ‖XᵀX − I‖_F above which X is repaired on its support.
const DRIFT: f64 = 3e-13;
/// Disjoint blocks solved in parallel from the same X: at least so many, and small blocks up to so
/// many rows, for a round to be worth sharing out. X does not depend on the number of threads.
const ROUND_BLOCKS: usize = 4;
const ROUND_ROWS: usize = 256;
/// A round of random or greedy steps that lowers F by less than this, relative to 1 + |F|, is
/// followed by a whole pass.
const SLOW_ROUND: f64 = 1e-4;

/// Blocks of `k` rows in a round.
fn blocks_at_once(k: usize) -> usize {
    (ROUND_ROWS / k.max(1)).max(ROUND_BLOCKS)
}

impl Obcd {
    /// OBCD with checked options.
    ///
    /// # Errors
    /// α not positive and finite, k < 2, or no candidates.
    pub fn new(options: ObcdOptions) -> Result<Self> {
        let invalid = |option: &str, value: String, expected: &str| {
            Err(Error::InvalidOption { option: option.into(), value, expected: expected.into() })
        };
        if !(options.alpha > 0.0 && options.alpha.is_finite()) {
            return invalid("alpha", options.alpha.to_string(), "a finite number > 0 (papers: 1e-5)");
        }
        if options.block < 2 {
            return invalid("block", options.block.to_string(), "at least 2 rows");
        }
        if !(options.tol >= 0.0 && options.tol.is_finite()) {
            return invalid("tol", options.tol.to_string(), "a finite number >= 0");
        }
        if options.candidates == Some(Candidates::Sample(0)) {
            return invalid("candidates", "0".into(), "at least 1 pair, or all");
        }
        Ok(Self { options })
    }

    /// Its options.
    pub fn options(&self) -> &ObcdOptions {
        &self.options
    }
}

/// What OBCD is doing.
#[derive(Clone, Debug)]
enum Phase {
    /// Working sets by the rule, so many left in this round.
    Select { left: u64, sum: Tally },
    /// A whole pass over all pairs that can move.
    Sweep { cursor: Cursor, sum: Tally },
}

/// Sums over a round or pass.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    pairs: u64,
    decrease: f64,
    max_decrease: f64,
}

impl Tally {
    fn add(&mut self, pairs: u64, decrease: f64, max_decrease: f64) {
        self.pairs += pairs;
        self.decrease += decrease;
        self.max_decrease = self.max_decrease.max(max_decrease);
    }

    fn pass(&self, covers_all: bool) -> Pass {
        Pass { pairs: self.pairs, decrease: self.decrease, max_decrease: self.max_decrease, covers_all }
    }
}

/// State of OBCD.
#[derive(Clone, Debug)]
pub struct State<I> {
    x: RowMat,      // Xᵗ
    image: I,       // Y = MX or R = AX
    objective: f64, // F(Xᵗ), tracked by the decreases
    rows: Movable,  // nonzero rows of X
    phase: Phase,   //
    rng: Pcg64,     //
    work: PairWork, // buffers of the pair step
    greedy: greedy::Greedy,
    cache: Option<GradientCache>,
    tol: f64,            // what whole passes leave alone, relative to 1 + |F|
    alpha: f64,          // α, lowered when it alone stands in the way
    pairs: u64,          // pairs tried
    moves: u64,          // pairs moved
    refreshed: u64,      // `moves` at the last refresh
    repairs: u64,        // times X was repaired
    weighed: (u64, u64), // pairs read and moves when the cost of the gradient was last weighed
    rebalanced: u64,     // times the way it is kept was changed
    checked: u64,        // `moves` at the last look at feasibility
    max_block: usize,    // k, at most n
    lipschitz: f64,      // λ_max(H)₊ for Jacobi rounds of an f that is not concave
}

impl<I> State<I> {
    /// Decreases of F that are left alone: none in rounds, those within the tolerance in passes.
    fn least(&self) -> f64 {
        match self.phase {
            Phase::Select { .. } => 0.0,
            Phase::Sweep { .. } => self.tol * (1.0 + self.objective.abs()),
        }
    }

    /// X.
    pub(crate) fn x(&self) -> &RowMat {
        &self.x
    }

    /// F(X), tracked.
    pub(crate) fn objective(&self) -> f64 {
        self.objective
    }

    /// The linear term of f has changed, and with it F(X): to `objective`.
    pub(crate) fn retarget(&mut self, objective: f64) {
        self.objective = objective;
        self.forget_gradients();
        self.greedy.moved();
    }

    /// X has moved outside the pair step: cached gradient rows are stale.
    fn forget_gradients(&mut self) {
        if let Some(cache) = &mut self.cache {
            cache.moved();
        }
    }
}

impl<F: Quadratic, H: PairPenalty> Solver<Problem<Stiefel, F, H>> for Obcd {
    type State = State<F::Image>;

    fn name(&self) -> &'static str {
        "obcd"
    }

    fn init(&self, p: &Problem<Stiefel, F, H>, x0: RowMat) -> Result<Self::State> {
        stiefel::check(&x0, p.nrows(), p.rank(), "the starting point X")?;
        let image = p.f.image(&x0);
        let objective = p.f.value_at(&image, &x0) + p.h.value(x0.data());
        let rows = Movable::new(&x0);
        let mut state = State {
            cache: GradientCache::new(&p.f, &image, x0.ncols()),
            image,
            objective,
            rows,
            phase: Phase::Select { left: 0, sum: Tally::default() },
            rng: Pcg64::seed_from_u64(self.options.seed),
            work: PairWork::new(x0.ncols()),
            greedy: greedy::Greedy::new(&self.options, &p.f, x0.nrows()),
            alpha: self.options.alpha,
            tol: self.options.tol,
            checked: 0,
            pairs: 0,
            moves: 0,
            refreshed: 0,
            repairs: 0,
            weighed: (0, 0),
            rebalanced: 0,
            max_block: self.options.block.min(x0.nrows()),
            lipschitz: if self.options.jacobi && !p.f.is_concave() { p.f.norm() } else { 0.0 },
            x: x0,
        };
        state.phase = self.next_round(&state);
        Ok(state)
    }

    fn one_iteration(&self, p: &Problem<Stiefel, F, H>, st: &mut Self::State) -> Step {
        Step::passed(self.iterate_once(p, st))
    }

    fn objective(&self, _p: &Problem<Stiefel, F, H>, st: &Self::State) -> f64 {
        st.objective
    }

    fn point<'a>(&self, st: &'a Self::State) -> &'a RowMat {
        &st.x
    }

    fn finish(&self, p: &Problem<Stiefel, F, H>, st: Self::State) -> RowMat {
        let mut x = drop_dust(p, st.x);
        if stiefel::feasibility(&x) > DRIFT {
            stiefel::repair_on_support(&mut x);
        }
        x
    }

    fn settings(&self, p: &Problem<Stiefel, F, H>, st: &Self::State) -> Settings {
        let o = &self.options;
        let mut s = Settings::new();
        s.insert("working_set".into(), o.working_set.name().into());
        s.insert("block".into(), st.max_block.into());
        s.insert("model".into(), o.model.name().into());
        s.insert("alpha".into(), o.alpha.into());
        if st.alpha < o.alpha {
            s.insert("alpha_at_end".into(), st.alpha.into());
        }
        s.insert("jacobi".into(), o.jacobi.into());
        if self.is_greedy() {
            s.insert("candidates".into(), st.greedy.describe().into());
        }
        s.insert("gradient".into(), p.f.bookkeeping(&st.image).into());
        s.insert("gradient_changes".into(), st.rebalanced.into());
        s.insert("pairs".into(), st.pairs.into());
        s.insert("moves".into(), st.moves.into());
        s.insert("repairs".into(), st.repairs.into());
        s
    }
}

impl Obcd {
    /// One working set: (S1) to (S4), and what ends with it.
    fn iterate_once<F: Quadratic, H: PairPenalty>(
        &self,
        p: &Problem<Stiefel, F, H>,
        st: &mut State<F::Image>,
    ) -> Option<Pass> {
        let before = (st.pairs, st.objective);
        let max_decrease = match self.choose(p, st) {
            Some(Chosen::Pair(i, j)) => self.pair(p, st, i, j),
            Some(Chosen::Blocks(blocks)) => self.blocks(p, st, &blocks),
            Some(Chosen::Matching(pairs)) => self.matching(p, st, &pairs),
            None => 0.0, // nothing can move
        };
        let tried = st.pairs - before.0;
        let decrease = before.1 - st.objective;
        self.weigh(p, st);
        if st.moves >= st.refreshed + REFRESH {
            self.refresh(p, st);
        } else if st.moves >= st.checked + CHECK {
            st.checked = st.moves;
            if stiefel::feasibility(&st.x) > DRIFT {
                self.refresh(p, st);
            }
        }
        self.advance(st, tried, decrease, max_decrease)
    }

    /// Every n/8 pairs or so: is the gradient kept the cheapest way?
    fn weigh<F: Quadratic, H: PairPenalty>(&self, p: &Problem<Stiefel, F, H>, st: &mut State<F::Image>) {
        let read = st.pairs + st.greedy.scored();
        let usage =
            Usage { pairs: read - st.weighed.0, moves: st.moves - st.weighed.1, nonzero_rows: st.rows.len() };
        if usage.pairs < (st.x.nrows() as u64 / 8).max(16) {
            return;
        }
        st.weighed = (read, st.moves);
        if p.f.rebalance(&mut st.image, &st.x, usage) {
            st.cache = GradientCache::new(&p.f, &st.image, st.x.ncols());
            st.rebalanced += 1;
        }
    }

    /// Step (S1).
    fn choose<F: Quadratic, H: PairPenalty>(
        &self,
        p: &Problem<Stiefel, F, H>,
        st: &mut State<F::Image>,
    ) -> Option<Chosen> {
        let k = st.max_block;
        match &mut st.phase {
            Phase::Sweep { cursor, .. } => cursor.next(&st.rows, blocks_at_once(k)).map(Chosen::from),
            Phase::Select { .. } if self.options.jacobi => {
                Some(Chosen::Matching(jacobi::matching(st.x.nrows(), &mut st.rng)))
            }
            Phase::Select { .. } => match self.options.working_set {
                WorkingSet::GreedySv | WorkingSet::GreedyOr => {
                    let buffers = (&mut st.work, st.cache.as_mut());
                    st.greedy.choose(k, p, &st.x, &st.image, &st.rows, &mut st.rng, buffers)
                }
                _ if k > 2 => Some(Chosen::Blocks(st.rows.random_blocks(k, blocks_at_once(k), &mut st.rng))),
                _ => st.rows.random_pair(&mut st.rng).map(|(i, j)| Chosen::Pair(i, j)),
            },
        }
    }

    /// Steps (S2) to (S4) for a pair; returns the decrease of F that it offered.
    fn pair<F: Quadratic, H: PairPenalty>(
        &self,
        p: &Problem<Stiefel, F, H>,
        st: &mut State<F::Image>,
        i: usize,
        j: usize,
    ) -> f64 {
        st.pairs += 1;
        let least = st.least();
        let result = PairStep {
            f: &p.f,
            h: &p.h,
            shape: self.shape(&p.f, st.alpha),
            x: &mut st.x,
            image: &mut st.image,
            work: &mut st.work,
            cache: st.cache.as_mut(),
            least,
        }
        .run(i, j);
        if result.decrease > 0.0 {
            st.moves += 1;
            st.objective -= result.decrease;
            st.rows.update(i, &st.x);
            st.rows.update(j, &st.x);
            st.greedy.moved();
        }
        result.offered
    }

    /// Steps (S2) to (S4) for disjoint blocks of more than two rows; returns the largest decrease
    /// that one pair made, or the decrease of a block where it is solved at once.
    fn blocks<F: Quadratic, H: PairPenalty>(
        &self,
        p: &Problem<Stiefel, F, H>,
        st: &mut State<F::Image>,
        blocks: &[Vec<usize>],
    ) -> f64 {
        let least = st.least();
        let done = block::block_round(
            &p.f,
            &p.h,
            self.shape(&p.f, st.alpha),
            least,
            &mut st.x,
            &mut st.image,
            blocks,
        );
        st.pairs += done.pairs;
        if done.moves > 0 {
            st.moves += done.moves;
            st.objective -= done.decrease;
            blocks.iter().flatten().for_each(|i| st.rows.update(*i, &st.x));
            st.forget_gradients();
            st.greedy.moved();
        }
        done.max_decrease
    }

    /// Steps (S2) to (S4) for disjoint pairs with the diagonal model.
    fn matching<F: Quadratic, H: PairPenalty>(
        &self,
        p: &Problem<Stiefel, F, H>,
        st: &mut State<F::Image>,
        pairs: &[(usize, usize)],
    ) -> f64 {
        let damping = if p.f.is_concave() { Damping::None } else { Damping::Global(st.lipschitz) };
        let shape = Shape { model: Model::Diagonal, alpha: st.alpha, damping, search: self.options.search };
        let done = jacobi::jacobi_round(&p.f, &p.h, shape, &mut st.x, &mut st.image, pairs);
        st.pairs += done.pairs;
        if done.moves > 0 {
            st.moves += done.moves;
            st.objective -= done.decrease;
            st.forget_gradients();
            pairs.iter().for_each(|(i, j)| {
                st.rows.update(*i, &st.x);
                st.rows.update(*j, &st.x);
            });
        }
        done.max_decrease
    }

    fn is_greedy(&self) -> bool {
        matches!(self.options.working_set, WorkingSet::GreedySv | WorkingSet::GreedyOr)
    }

    fn shape(&self, f: &impl Quadratic, alpha: f64) -> Shape {
        Shape { model: self.options.model, alpha, damping: Damping::of(f), search: self.options.search }
    }

    /// Books a working set and moves on to the next phase where a round or pass ends.
    fn advance<I>(&self, st: &mut State<I>, tried: u64, decrease: f64, max_decrease: f64) -> Option<Pass> {
        let scale = 1.0 + st.objective.abs();
        match &mut st.phase {
            Phase::Select { left, sum } => {
                sum.add(tried, decrease, max_decrease);
                *left = left.saturating_sub(1);
                if *left > 0 && !st.greedy.exhausted() {
                    return None;
                }
                let pass = sum.pass(false);
                let slow = sum.decrease <= SLOW_ROUND * scale;
                st.phase = if slow || st.greedy.exhausted() { self.sweep(st) } else { self.next_round(st) };
                st.greedy.moved();
                Some(pass)
            }
            Phase::Sweep { cursor, sum } => {
                sum.add(tried, decrease, max_decrease);
                if !cursor.is_done() {
                    return None;
                }
                let pass = sum.pass(true);
                if pass.decrease == 0.0 && pass.max_decrease > 0.0 {
                    // Nobody stopped, so what is left is wanted. Either it is below the tolerance
                    // of passes, or it goes far for little and is refused by α alone, which may
                    // be any positive number.
                    if pass.max_decrease > st.tol * scale {
                        st.alpha = (0.1 * st.alpha).max(f64::MIN_POSITIVE);
                    }
                    st.tol = st.tol.min(0.1 * pass.max_decrease / scale);
                }
                let slow = sum.decrease <= SLOW_ROUND * scale;
                st.phase = if slow && pass.max_decrease > 0.0 { self.sweep(st) } else { self.next_round(st) };
                Some(pass)
            }
        }
    }

    /// A round of working sets by the rule: as many as there are pairs that can move (a block
    /// of k rows counts for its pairs).
    fn next_round<I>(&self, st: &State<I>) -> Phase {
        if self.options.working_set == WorkingSet::Cyclic && !self.options.jacobi {
            return self.sweep(st);
        }
        let inside = ((st.max_block * (st.max_block - 1) / 2) as u64).max(1);
        // a greedy step looks at many pairs, so its rounds are shorter
        let pairs = if self.is_greedy() { st.x.nrows() as u64 } else { st.rows.pairs() };
        let at_once = if self.options.jacobi {
            (st.x.nrows() as u64 / 2).max(1)
        } else if st.max_block > 2 && !self.is_greedy() {
            inside * blocks_at_once(st.max_block) as u64
        } else {
            inside
        };
        let left = pairs.div_ceil(at_once).max(1);
        Phase::Select { left, sum: Tally::default() }
    }

    fn sweep<I>(&self, st: &State<I>) -> Phase {
        Phase::Sweep { cursor: Cursor::new(&st.rows, st.max_block), sum: Tally::default() }
    }

    /// Drift control: the image afresh from X, X repaired where it left the manifold by more
    /// than [`DRIFT`], F compared with the tracked value.
    fn refresh<F: Quadratic, H: PairPenalty>(&self, p: &Problem<Stiefel, F, H>, st: &mut State<F::Image>) {
        (st.refreshed, st.checked) = (st.moves, st.moves);
        if stiefel::feasibility(&st.x) > DRIFT {
            stiefel::repair_on_support(&mut st.x);
            st.repairs += 1;
        }
        st.image = p.f.image(&st.x);
        st.cache = GradientCache::new(&p.f, &st.image, st.x.ncols());
        let fresh = p.f.value_at(&st.image, &st.x) + p.h.value(st.x.data());
        let drift = fresh - st.objective;
        // Rounding may put the fresh value a hair above the tracked one, which would show as an
        // increase; only a real difference replaces it.
        if drift < 0.0 || drift > 1e-9 * (1.0 + fresh.abs()) || drift.is_nan() {
            st.objective = fresh;
        }
    }
}

/// Entries that are rounding (or, for ℓ0, that reports do not count, |x| ≤ 1e-6): sets them to
/// zero, restores XᵀX = I on the support that is left, and keeps the result if F is no higher.
fn drop_dust<F: Quadratic, H: PairPenalty>(p: &Problem<Stiefel, F, H>, mut x: RowMat) -> RowMat {
    if !p.h.promotes_sparsity() {
        return x;
    }
    let exact = |x: &RowMat| p.f.value(x) + p.h.value(x.data());
    for limit in [1e-10, REPORT_ZERO] {
        if limit == REPORT_ZERO && p.h.value(x.data()) == p.h.reported_value(x.data()) {
            break;
        }
        let mut clean = x.clone();
        let dust = |v: &&mut f64| **v != 0.0 && v.abs() <= limit;
        let dropped = clean.data_mut().iter_mut().filter(dust).map(|v| *v = 0.0).count();
        if dropped == 0 {
            continue;
        }
        let error = stiefel::repair_on_support(&mut clean);
        let before = exact(&x);
        // dropping rounding errors may cost rounding errors
        let slack = if limit < REPORT_ZERO { 1e-11 * (1.0 + before.abs()) } else { 0.0 };
        if error <= DRIFT && exact(&clean) <= before + slack {
            x = clean;
        }
    }
    x
}

/// A working set.
enum Chosen {
    Pair(usize, usize),
    Blocks(Vec<Vec<usize>>),
    Matching(Vec<(usize, usize)>),
}

impl From<Next> for Chosen {
    fn from(next: Next) -> Self {
        match next {
            Next::Pair(i, j) => Self::Pair(i, j),
            Next::Blocks(blocks) => Self::Blocks(blocks),
        }
    }
}
