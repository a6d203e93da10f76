//! OBCD for the nonlinear eigenvalue problem: pairs of rows, f of degree 4 along each circle
//! (OBCD, first version, Algorithm 1, sections 7.2 and 9.5).
//!
//! `obcd` takes the global minimum over both circles, `obcd-approx` the fifth-order iteration from
//! θ = 0 on each. Both lower f by at least α/2‖V − I‖² in every move. As in [`crate::solvers::obcd`] a round of
//! working sets by the rule that lowers f little is followed by a whole pass over all pairs, which
//! either finds what was missed or shows block-2 stationarity (for `obcd-approx`: that its own
//! iteration finds nothing).
//!
//! Cost per pair O(r); an accepted move adds the update of CX and C†ρ: O(r + n) for Laplacians, O(nr)
//! for a dense C.

mod pair;
mod trig4;

use rand::SeedableRng;
use rand_pcg::Pcg64;
use rayon::prelude::*;

use crate::certify::Certificate;
use crate::certify::Scope;
use crate::constraint::stiefel;
use crate::error::{Error, Result};
use crate::linalg::RowMat;
use crate::linalg::kernels::inner;
use crate::pair::movable::{Cursor, Movable, Next};
use crate::pair::step::Model;
use crate::problem::NonlinearEigProblem;
use crate::smooth::nonlinear_eig::Image;
use crate::smooth::{NonlinearEig, Smooth};
use crate::solve::{Pass, Settings, Solver, Step};
use crate::solvers::SolverInfo;
use crate::solvers::obcd::{Candidates, ObcdOptions, WorkingSet};
pub use pair::{CircleSearch, PairGain, PairObjective};
use pair::{Work, apply, solve_pair};
pub use trig4::{Trig4, roots_from_zero};

const SCOPE: &str =
    "nonlinear eigenvalue problems, but not on a grid of more than 16384 points: it needs the entries of C^+";

/// What the registry says of `obcd`.
pub const INFO: SolverInfo<NonlinearEigProblem> = SolverInfo {
    name: "obcd",
    doc: "pairs of rows, the global minimum over both circles of every pair; feasible and monotone",
    constants: &[],
    handles: |p| p.f.has_inverse(),
    scope: SCOPE,
    make: |o| {
        Ok(Box::new(NonlinearObcd::new(CircleSearch::Exact, ObcdOptions { seed: o.seed, ..o.obcd.clone() })?))
    },
};

/// What the registry says of `obcd-approx`.
pub const APPROX: SolverInfo<NonlinearEigProblem> = SolverInfo {
    name: "obcd-approx",
    doc: "pairs of rows, the fifth-order iteration of the first version of the OBCD paper",
    constants: &[],
    handles: |p| p.f.has_inverse(),
    scope: SCOPE,
    make: |o| {
        Ok(Box::new(NonlinearObcd::new(
            CircleSearch::FifthOrder,
            ObcdOptions { seed: o.seed, ..o.obcd.clone() },
        )?))
    },
};

/// The solver.
#[derive(Clone, Debug)]
pub struct NonlinearObcd {
    search: CircleSearch,
    options: ObcdOptions,
}

/// Accepted moves between two refreshes of CX and C†ρ from X.
const REFRESH: u64 = 20_000;
/// ‖XᵀX − I‖_F above which X is repaired.
const DRIFT: f64 = 3e-13;
/// A round that lowers f by less, relative to 1 + |f|, is followed by a whole pass.
const SLOW: f64 = 1e-4;

impl NonlinearObcd {
    /// The method with checked options: pairs only, the exact model.
    ///
    /// # Errors
    /// Options out of range, or that ask for what there is not.
    pub fn new(search: CircleSearch, options: ObcdOptions) -> Result<Self> {
        crate::solvers::obcd::Obcd::new(options.clone())?;
        let name = if search == CircleSearch::Exact { "obcd" } else { "obcd-approx" };
        let refuse = |what: &str| {
            Err(Error::Incompatible(format!(
                "{name} for nonlinear eigenvalue problems works on pairs of rows: no {what}"
            )))
        };
        if options.block != 2 {
            return refuse("blocks of more rows (block must be 2)");
        }
        if options.jacobi {
            return refuse("Jacobi rounds");
        }
        if options.model != Model::Exact {
            return refuse("diagonal model");
        }
        Ok(Self { search, options })
    }
}

/// What the method is doing.
#[derive(Clone, Debug)]
enum Phase {
    /// Working sets by the rule, so many left in this round.
    Select { left: u64 },
    /// A whole pass over all pairs that can move.
    Sweep(Cursor),
}

/// State of the method.
#[derive(Clone, Debug)]
pub struct State {
    x: RowMat,    // Xᵗ
    image: Image, // CX, ρ, C†ρ
    value: f64,   // f(Xᵗ), tracked by the decreases
    rows: Movable,
    phase: Phase,
    sum: Pass, // of the round or pass under way
    rng: Pcg64,
    work: Work,
    lipschitz: f64, // L_f of WSS-OR
    tol: f64,       // what passes leave alone, relative to 1 + |f|
    alpha: f64,     // α, lowered when it alone stands in the way
    pairs: u64,
    moves: u64,
    refreshed: u64, // `moves` at the last refresh
}

const NO_PASS: Pass = Pass { pairs: 0, decrease: 0.0, max_decrease: 0.0, covers_all: false };

impl Solver<NonlinearEigProblem> for NonlinearObcd {
    type State = State;

    fn name(&self) -> &'static str {
        match self.search {
            CircleSearch::Exact => INFO.name,
            CircleSearch::FifthOrder => APPROX.name,
        }
    }

    fn init(&self, p: &NonlinearEigProblem, mut x0: RowMat) -> Result<State> {
        stiefel::check(&x0, p.nrows(), p.rank(), "the starting point X")?;
        stiefel::repair_on_support(&mut x0);
        let image = p.f.image(&x0);
        let mut state = State {
            value: p.f.value_at(&image, &x0),
            image,
            rows: Movable::new(&x0),
            phase: Phase::Select { left: 0 },
            sum: NO_PASS,
            rng: Pcg64::seed_from_u64(self.options.seed),
            work: Work::new(x0.ncols()),
            lipschitz: p
                .f
                .lipschitz()
                .filter(|_| self.options.working_set == WorkingSet::GreedyOr)
                .unwrap_or(0.0),
            tol: self.options.tol,
            alpha: self.options.alpha,
            pairs: 0,
            moves: 0,
            refreshed: 0,
            x: x0,
        };
        state.phase = self.round(&state);
        Ok(state)
    }

    fn one_iteration(&self, p: &NonlinearEigProblem, st: &mut State) -> Step {
        Step::passed(self.iterate_once(&p.f, st))
    }

    fn objective(&self, _p: &NonlinearEigProblem, st: &State) -> f64 {
        st.value
    }

    fn point<'a>(&self, st: &'a State) -> &'a RowMat {
        &st.x
    }

    fn finish(&self, _p: &NonlinearEigProblem, st: State) -> RowMat {
        let mut x = st.x;
        if stiefel::feasibility(&x) > DRIFT {
            stiefel::repair_on_support(&mut x);
        }
        x
    }

    fn settings(&self, p: &NonlinearEigProblem, st: &State) -> Settings {
        let mut s = Settings::new();
        s.insert("working_set".into(), self.options.working_set.name().into());
        s.insert("alpha".into(), self.options.alpha.into());
        s.insert("gradient".into(), p.f.bookkeeping().into());
        s.insert("pairs".into(), st.pairs.into());
        s.insert("moves".into(), st.moves.into());
        s
    }
}

impl NonlinearObcd {
    /// One pair, and the pass or round that ends with it.
    fn iterate_once(&self, f: &NonlinearEig, st: &mut State) -> Option<Pass> {
        let chosen = match &mut st.phase {
            Phase::Sweep(cursor) => match cursor.next(&st.rows, 1) {
                Some(Next::Pair(i, j)) => Some((i, j)),
                _ => None,
            },
            Phase::Select { .. } => self.choose(f, st),
        };
        if let Some(pair) = chosen {
            self.pair(f, st, pair);
        }
        if st.moves >= st.refreshed + REFRESH {
            self.refresh(f, st);
        }
        self.advance(st)
    }

    /// Step (S1): a random pair, or the best of some sampled ones.
    fn choose(&self, f: &NonlinearEig, st: &mut State) -> Option<(usize, usize)> {
        let greedy = matches!(self.options.working_set, WorkingSet::GreedySv | WorkingSet::GreedyOr);
        if !greedy {
            return st.rows.random_pair(&mut st.rng);
        }
        let sampled = match self.options.candidates {
            Some(Candidates::Sample(count)) => count,
            Some(Candidates::All) => st.rows.pairs() as usize,
            None => st.x.nrows().min(200),
        };
        let all = self.options.candidates == Some(Candidates::All);
        let n = st.x.nrows();
        let pairs: Vec<(usize, usize)> = if all {
            (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).collect()
        } else {
            (0..sampled).map_while(|_| st.rows.random_pair(&mut st.rng)).collect()
        };
        let (mut gi, mut gj) = (vec![0.0; st.x.ncols()], vec![0.0; st.x.ncols()]);
        let mut best: Option<(f64, (usize, usize))> = None;
        for (i, j) in pairs {
            f.gradient_row(&st.image, &st.x, i, &mut gi);
            f.gradient_row(&st.image, &st.x, j, &mut gj);
            let score = self.score(st, (i, j), &gi, &gj);
            if best.is_none_or(|b| score > b.0) {
                best = Some((score, (i, j)));
            }
        }
        best.map(|b| b.1)
    }

    /// |Sᵢⱼ| of WSS-SV or WSS-OR (docs/mathematics.md, section 3).
    fn score(&self, st: &State, (i, j): (usize, usize), gi: &[f64], gj: &[f64]) -> f64 {
        let (xi, xj) = (st.x.row(i), st.x.row(j));
        let (g12, g21) = (inner(gi, xj), inner(gj, xi));
        if self.options.working_set == WorkingSet::GreedySv {
            return (g12 - g21).abs();
        }
        let l = st.lipschitz;
        let w12 = inner(xi, xj);
        let t11 = inner(gi, xi) - l * inner(xi, xi) - st.alpha;
        let t22 = inner(gj, xj) - l * inner(xj, xj) - st.alpha;
        let (t12, t21) = (g12 - l * w12, g21 - l * w12);
        let c1 = t11 + t22;
        (c1 + c1.hypot(t12 - t21).max((t22 - t11).hypot(t12 + t21))).abs()
    }

    /// Steps (S2) to (S4).
    fn pair(&self, f: &NonlinearEig, st: &mut State, pair: (usize, usize)) {
        let (offered, gain) = solve_pair(f, &st.x, &st.image, pair, st.alpha, self.search, &mut st.work);
        st.pairs += 1;
        st.sum.pairs += 1;
        st.sum.max_decrease = st.sum.max_decrease.max(offered);
        let least = match st.phase {
            Phase::Select { .. } => 0.0,
            Phase::Sweep(_) => st.tol * (1.0 + st.value.abs()),
        };
        if let Some(gain) = gain.filter(|g| g.decrease > least) {
            apply(f, &mut st.x, &mut st.image, pair, &mut st.work);
            st.rows.update(pair.0, &st.x);
            st.rows.update(pair.1, &st.x);
            st.value -= gain.decrease;
            st.sum.decrease += gain.decrease;
            st.moves += 1;
        }
    }

    /// Moves on to the next phase where a round or pass ends.
    fn advance(&self, st: &mut State) -> Option<Pass> {
        let over = match &mut st.phase {
            Phase::Select { left } => {
                *left = left.saturating_sub(1);
                *left == 0
            }
            Phase::Sweep(cursor) => cursor.is_done(),
        };
        if !over {
            return None;
        }
        let covers_all = matches!(st.phase, Phase::Sweep(_));
        let pass = Pass { covers_all, ..std::mem::replace(&mut st.sum, NO_PASS) };
        let scale = 1.0 + st.value.abs();
        if covers_all && pass.decrease == 0.0 && pass.max_decrease > 0.0 {
            // nobody stopped, so what is left is wanted: it is refused by α, or by the tolerance
            if pass.max_decrease > st.tol * scale {
                st.alpha = (0.1 * st.alpha).max(f64::MIN_POSITIVE);
            }
            st.tol = st.tol.min(0.1 * pass.max_decrease / scale);
        }
        let slow = pass.decrease <= SLOW * scale;
        let sweep = slow && (!covers_all || pass.max_decrease > 0.0);
        st.phase = if sweep { Phase::Sweep(Cursor::new(&st.rows, 2)) } else { self.round(st) };
        Some(pass)
    }

    fn round(&self, st: &State) -> Phase {
        match self.options.working_set {
            WorkingSet::Cyclic => Phase::Sweep(Cursor::new(&st.rows, 2)),
            // a greedy step looks at many pairs, so its rounds are shorter
            WorkingSet::GreedySv | WorkingSet::GreedyOr => Phase::Select { left: st.x.nrows() as u64 },
            WorkingSet::Random => Phase::Select { left: st.rows.pairs().max(1) },
        }
    }

    /// Drift control: X repaired if it has left the manifold, CX and C†ρ afresh.
    fn refresh(&self, f: &NonlinearEig, st: &mut State) {
        st.refreshed = st.moves;
        if stiefel::feasibility(&st.x) > DRIFT {
            stiefel::repair_on_support(&mut st.x);
        }
        st.image = f.image(&st.x);
        let fresh = f.value_at(&st.image, &st.x);
        // a difference that is only rounding would show as an increase
        if fresh < st.value || fresh - st.value > 1e-9 * (1.0 + fresh.abs()) || fresh.is_nan() {
            st.value = fresh;
        }
    }
}

/// Block-2 stationarity: every pair that can move (or a sample) solved globally with α = 0. Cost
/// O(r) and some microseconds a pair, in parallel; the result does not depend on the threads.
pub fn block_stationarity(p: &NonlinearEigProblem, x: &RowMat, scope: Scope) -> Certificate {
    let image = p.f.image(x);
    let rows = Movable::new(x);
    let noise = 1e-12 * (1.0 + p.f.value_at(&image, x).abs());
    let pairs: Vec<(usize, usize)> = match scope {
        Scope::All => {
            let n = x.nrows();
            let moves = |i: usize, j: usize| rows.contains(i) || rows.contains(j);
            (0..n).flat_map(|i| (i + 1..n).filter(move |j| moves(i, *j)).map(move |j| (i, j))).collect()
        }
        Scope::Sample { pairs, seed } => {
            let mut rng = Pcg64::seed_from_u64(seed);
            (0..pairs).map_while(|_| rows.random_pair(&mut rng)).collect()
        }
    };
    let solved: Vec<(f64, f64)> = pairs
        .par_iter()
        .map_init(
            || Work::new(x.ncols()),
            |work, pair| {
                let (offered, gain) = solve_pair(&p.f, x, &image, *pair, 0.0, CircleSearch::Exact, work);
                let distance =
                    gain.filter(|g| g.decrease > noise).map_or(0.0, |g| 2.0 * g.step.half_dist_sq());
                (offered, distance)
            },
        )
        .collect();
    Certificate {
        pairs_checked: solved.len() as u64,
        pairs_total: rows.pairs(),
        max_decrease: solved.iter().fold(0.0, |m, s| m.max(s.0)),
        mean_distance: solved.iter().map(|s| s.1).sum::<f64>() / solved.len().max(1) as f64,
    }
}
