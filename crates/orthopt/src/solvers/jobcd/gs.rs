//! GS-JOBCD (JOBCD paper, Algorithm 1) for f = ½tr(XᵀMXN): one pair a step, O(n).

use std::sync::OnceLock;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::super::{obcd::Candidates, obcd::WorkingSet};
use super::image::{Block, Image};
use super::{JobcdOptions, Side, UNBOUNDED, constant};
use crate::constraint::j_orthogonal;
use crate::error::{Error, Result};
use crate::jpair::{JMove, JPair, jacobi};
use crate::linalg::RowMat;
use crate::options::Constant;
use crate::pair::step::Model;
use crate::problem::JProblem;
use crate::smooth::JQuadratic;
use crate::solve::{Pass, Settings, Solver, Status, Step};
use crate::solvers::{SolverInfo, SolverOptions};

/// What the registry says of GS-JOBCD.
pub const INFO: SolverInfo<JProblem> = SolverInfo {
    name: "gs-jobcd",
    doc: "block coordinate descent on pairs of rows or columns, solved globally; feasible and monotone",
    constants: &[
        Constant {
            name: "theta",
            doc: "theta, proximal term of a step, relative to the mean curvature",
            default: Some(1e-8),
        },
        Constant {
            name: "tol",
            doc: "all pairs that a whole pass leaves alone together offer at most this times |f|",
            default: Some(1e-11),
        },
        Constant {
            name: "mu-max",
            doc: "largest |mu| of a step where f may be unbounded",
            default: Some(1.0),
        },
        Constant {
            name: "norm-limit",
            doc: "row norm of X at which an f that may be unbounded is given up",
            default: Some(1e4),
        },
    ],
    handles: |p| p.f.quadratic().is_some(),
    scope: "quadratic f (hyperbolic-eig, 1/2 tr(X'MXN)), where a pair costs O(n); j-jobcd takes any f",
    make: |o| Ok(Box::new(GsJobcd::new(o)?)),
};

/// The solver.
#[derive(Clone, Debug)]
pub struct GsJobcd {
    options: JobcdOptions,
    theta: f64,
    tol: f64,
    mu_max: f64,
    norm_limit: f64,
    seed: u64,
}

/// A round of random or greedy steps that lowers f by less than this, relative to |f|, is
/// followed by a whole pass.
const SLOW_ROUND: f64 = 1e-4;
/// Passes between two looks at feasibility, each of which costs two thirds of a pass or less.
const CHECK: u64 = 4;
/// ‖XᵀJX − J‖_F above which X is repaired.
const DRIFT: f64 = 1e-10;
/// Pairs of the same sign are turned to make S₁₂ vanish while |S₁₂| is above this, relative to
/// √(S₁₁S₂₂).
const ALIGNED: f64 = 1e-10;
/// Pairs that a greedy rule looks at.
const CANDIDATES: usize = 200;

impl GsJobcd {
    /// GS-JOBCD with checked constants.
    ///
    /// # Errors
    /// A constant outside its range.
    pub fn new(o: &SolverOptions) -> Result<Self> {
        let positive = "a finite number > 0";
        if o.jobcd.candidates == Some(Candidates::Sample(0)) {
            return Err(Error::InvalidOption {
                option: "candidates".into(),
                value: "0".into(),
                expected: "a number of pairs >= 1, or all".into(),
            });
        }
        Ok(Self {
            options: o.jobcd.clone(),
            theta: constant(&INFO, o, "theta", "a finite number >= 0", |v| v >= 0.0)?,
            tol: constant(&INFO, o, "tol", "a finite number >= 0", |v| v >= 0.0)?,
            mu_max: constant(&INFO, o, "mu-max", positive, |v| v > 0.0)?,
            norm_limit: constant(&INFO, o, "norm-limit", "a finite number >= 1", |v| v >= 1.0)?,
            seed: o.seed,
        })
    }
}

/// What is being done.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Pairs by the rule, so many left in this round.
    Select { left: u64 },
    /// A whole pass, next the pair (i, j).
    Sweep { i: usize, j: usize },
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    pairs: u64,
    decrease: f64,
    max_decrease: f64,
    aligned: u64, // pairs of the same sign turned without changing f
}

/// State of GS-JOBCD.
#[derive(Clone, Debug)]
pub struct State {
    image: Image,        // Y and S or F
    x: OnceLock<RowMat>, // Xᵗ where Y is its transpose, once somebody asks for it
    objective: f64,      // f(Xᵗ), tracked by the decreases
    size: f64,           // ½Σ|Wᵢᵢ| when last looked at
    theta: f64,          // θ in the unit of the curvature
    phase: Phase,
    sum: Tally,
    align: bool, // whether pairs of the same sign are aligned in this pass
    rng: Pcg64,
    pairs: u64,
    moves: u64,
    passes: u64, // whole passes
    repairs: u64,
    refreshed: u64, // `moves` when S was last computed afresh
    ended: Option<(Status, &'static str)>,
}

impl State {
    fn scale(&self) -> f64 {
        self.objective.abs().max(1e-6 * self.size)
    }
}

/// What a pair offers.
struct Offer {
    step: Option<JMove>,
    decrease: f64, // of f, exact
    aligns: bool,  // f stays, but the other pairs gain
}

fn quadratic(p: &JProblem) -> Result<&JQuadratic> {
    p.f.quadratic().ok_or_else(|| Error::Incompatible(format!("solver {} is for {}", INFO.name, INFO.scope)))
}

impl Solver<JProblem> for GsJobcd {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn init(&self, p: &JProblem, x0: RowMat) -> Result<State> {
        j_orthogonal::check(&x0, p.signature(), "the starting point X")?;
        let q = quadratic(p)?;
        let decoupled = q.factor().is_some() && self.options.model == Model::Exact;
        let columns = match self.options.side {
            Side::Auto => decoupled,
            side => side == Side::Columns,
        };
        let image = Image::new(q, &x0, columns, decoupled);
        let (n, size) = (x0.nrows().max(1) as f64, image.size(q));
        // mean of the diagonal of Q: 2·size/n is that of A·S
        let theta = if matches!(image, Image::Half { .. }) { 0.0 } else { self.theta * 2.0 * size / n };
        let mut st = State {
            objective: image.value(q),
            size,
            theta,
            image,
            x: OnceLock::new(),
            phase: Phase::Sweep { i: 0, j: 1 },
            sum: Tally::default(),
            align: true,
            rng: Pcg64::seed_from_u64(self.seed),
            pairs: 0,
            moves: 0,
            passes: 0,
            repairs: 0,
            refreshed: 0,
            ended: None,
        };
        st.phase = self.next_round(&st);
        Ok(st)
    }

    fn one_iteration(&self, p: &JProblem, st: &mut State) -> Step {
        st.x = OnceLock::new();
        let pass = p.f.quadratic().and_then(|q| self.iterate_once(p, q, st));
        Step { pass, ended: st.ended, ..Step::default() }
    }

    fn objective(&self, _: &JProblem, st: &State) -> f64 {
        st.objective
    }

    fn point<'a>(&self, st: &'a State) -> &'a RowMat {
        if st.image.columns() { st.x.get_or_init(|| st.image.x()) } else { st.image.y() }
    }

    fn finish(&self, p: &JProblem, st: State) -> RowMat {
        let mut x = st.image.x();
        j_orthogonal::repair(&mut x, p.signature());
        x
    }

    fn settings(&self, p: &JProblem, st: &State) -> Settings {
        let mut s = Settings::new();
        s.insert("working_set".into(), self.rule().name().into());
        s.insert("model".into(), self.options.model.name().into());
        s.insert("side".into(), if st.image.columns() { "columns" } else { "rows" }.into());
        s.insert("theta".into(), st.theta.into());
        s.insert("tol".into(), self.tol.into());
        if !p.is_bounded() {
            s.insert("mu_max".into(), self.mu_max.into());
            s.insert("norm_limit".into(), self.norm_limit.into());
        }
        if matches!(self.rule(), WorkingSet::GreedySv | WorkingSet::GreedyOr) {
            s.insert("candidates".into(), self.candidates(p.order()).into());
        }
        s.insert("pairs".into(), st.pairs.into());
        s.insert("moves".into(), st.moves.into());
        s.insert("passes".into(), st.passes.into());
        s.insert("repairs".into(), st.repairs.into());
        s
    }
}

impl GsJobcd {
    fn rule(&self) -> WorkingSet {
        self.options.working_set.unwrap_or(WorkingSet::Cyclic)
    }

    /// Pairs that a greedy rule looks at in a step.
    fn candidates(&self, n: usize) -> usize {
        let all = n * n.saturating_sub(1) / 2;
        match self.options.candidates {
            None => CANDIDATES.min(n),
            Some(Candidates::Sample(count)) => count.min(all),
            Some(Candidates::All) => all,
        }
    }

    fn iterate_once(&self, p: &JProblem, q: &JQuadratic, st: &mut State) -> Option<Pass> {
        if let Some((i, j)) = self.choose(p, q, st) {
            let offer = self.offer(p, q, st, i, j);
            st.pairs += 1;
            st.sum.pairs += 1;
            st.sum.max_decrease = st.sum.max_decrease.max(offer.decrease);
            if let Some(v) = offer.step.filter(|_| offer.aligns || offer.decrease > self.least(st)) {
                st.image.turn(i, j, &v);
                st.moves += 1;
                st.objective -= offer.decrease;
                st.sum.decrease += offer.decrease;
                st.sum.aligned += u64::from(offer.aligns);
                let limited = !p.is_bounded() && st.image.reach(i, j) > self.norm_limit;
                if limited || !st.objective.is_finite() {
                    st.ended = Some((Status::Unbounded, UNBOUNDED));
                }
            }
        }
        self.advance(p, q, st)
    }

    /// Decreases that are left alone: none in rounds, those within the tolerance in passes.
    fn least(&self, st: &State) -> f64 {
        match st.phase {
            Phase::Select { .. } => 0.0,
            Phase::Sweep { .. } => {
                let n = st.image.y().nrows() as f64;
                self.tol * st.scale() / (0.5 * n * (n - 1.0)).max(1.0)
            }
        }
    }

    /// Step (S1).
    fn choose(&self, p: &JProblem, q: &JQuadratic, st: &mut State) -> Option<(usize, usize)> {
        let n = p.order();
        match st.phase {
            _ if n < 2 => None,
            Phase::Sweep { i, j } => Some((i, j)),
            Phase::Select { .. } => match self.rule() {
                WorkingSet::GreedySv | WorkingSet::GreedyOr => Some(self.greediest(p, q, st)),
                _ => Some(random_pair(n, &mut st.rng)),
            },
        }
    }

    /// The pair of the highest score among the candidates, all pairs or random ones.
    fn greediest(&self, p: &JProblem, q: &JQuadratic, st: &mut State) -> (usize, usize) {
        let n = p.order();
        let mut best = (f64::NEG_INFINITY, (0, 1));
        let mut look = |st: &State, (i, j): (usize, usize)| {
            let score = self.score(p, q, st, i, j);
            if score > best.0 {
                best = (score, (i, j));
            }
        };
        let count = self.candidates(n);
        if count == n * (n - 1) / 2 {
            (0..n).for_each(|i| (i + 1..n).for_each(|j| look(st, (i, j))));
        } else {
            for _ in 0..count {
                let pair = random_pair(n, &mut st.rng);
                look(st, pair);
            }
        }
        best.1
    }

    /// What a greedy rule goes by: the decrease of f, or |Ωᵢⱼ|.
    fn score(&self, p: &JProblem, q: &JQuadratic, st: &State, i: usize, j: usize) -> f64 {
        if self.rule() == WorkingSet::GreedyOr {
            return self.offer(p, q, st, i, j).decrease;
        }
        let w = st.image.block(q, i, j).w;
        if p.signature().mixed(i, j) { (w[0][1] + w[1][0]).abs() } else { (w[0][1] - w[1][0]).abs() }
    }

    /// Steps (S2) and (S3).
    fn offer(&self, p: &JProblem, q: &JQuadratic, st: &State, i: usize, j: usize) -> Offer {
        let (block, mixed) = (st.image.block(q, i, j), p.signature().mixed(i, j));
        if let Image::Half { .. } = st.image {
            return closed_form(&block, mixed, st.align);
        }
        let exact = JPair::exact(block.w, block.a, block.s, st.theta);
        let model = match self.options.model {
            Model::Exact => exact,
            Model::Diagonal => JPair::metric(block.w, Image::curvature(q), st.image.gram(i, j), st.theta),
        };
        let found = if p.is_bounded() { model.solve(mixed) } else { model.solve_within(mixed, self.mu_max) };
        // what f itself gains: the exact model without θ
        let gain = |v: &JMove| exact.decrease(v) + 0.5 * st.theta * v.distance_squared();
        Offer { decrease: found.step.as_ref().map_or(0.0, gain).max(0.0), step: found.step, aligns: false }
    }

    /// Books a pair and moves on to the next phase where a round or pass ends.
    fn advance(&self, p: &JProblem, q: &JQuadratic, st: &mut State) -> Option<Pass> {
        let n = p.order();
        let over = match &mut st.phase {
            Phase::Select { left } => {
                *left = left.saturating_sub(1);
                *left == 0
            }
            Phase::Sweep { i, j } => {
                *j += 1;
                if *j >= n {
                    *i += 1;
                    *j = *i + 1;
                }
                *j >= n
            }
        };
        if !over {
            return None;
        }
        let (sum, scale) = (std::mem::take(&mut st.sum), st.scale());
        let whole = matches!(st.phase, Phase::Sweep { .. });
        if whole {
            st.passes += 1;
            // a pass that shows stationarity must leave X alone
            st.align = sum.max_decrease > self.least(st);
        }
        self.maintain(p, q, st);
        let slow = sum.decrease <= SLOW_ROUND * scale;
        let found = sum.max_decrease > self.least(st);
        let rest = slow && (found || !whole || sum.aligned > 0);
        st.phase = if rest { Phase::Sweep { i: 0, j: 1 } } else { self.next_round(st) };
        Some(Pass {
            pairs: sum.pairs,
            decrease: sum.decrease,
            max_decrease: sum.max_decrease,
            covers_all: whole && sum.aligned == 0,
        })
    }

    fn next_round(&self, st: &State) -> Phase {
        let n = st.image.y().nrows() as u64;
        match self.rule() {
            WorkingSet::Cyclic => Phase::Sweep { i: 0, j: 1 },
            // a greedy step looks at many pairs, so its rounds are shorter
            WorkingSet::GreedySv | WorkingSet::GreedyOr => Phase::Select { left: n.max(1) },
            WorkingSet::Random => Phase::Select { left: (n * n.saturating_sub(1) / 2).max(1) },
        }
    }

    /// Drift control (docs/mathematics.md, section 9): S or F afresh every few passes, X repaired where it
    /// left the group.
    fn maintain(&self, p: &JProblem, q: &JQuadratic, st: &mut State) {
        let n = st.image.y().nrows() as u64;
        if st.moves < st.refreshed + CHECK * (n * n.saturating_sub(1) / 2).max(1) {
            return;
        }
        st.refreshed = st.moves;
        if j_orthogonal::residual(st.image.y(), p.signature()).norm() > DRIFT
            && j_orthogonal::repair(st.image.y_mut(), p.signature()).is_some()
        {
            st.repairs += 1;
        }
        st.image.refresh(q);
        st.size = st.image.size(q);
        let fresh = st.image.value(q);
        let drift = fresh - st.objective;
        // a hair above the tracked value is rounding and would show as an increase
        if drift < 0.0 || drift > 1e-9 * st.scale() {
            st.objective = fresh;
        }
    }
}

/// The closed forms of [`crate::jpair::jacobi`].
fn closed_form(block: &Block, mixed: bool, align: bool) -> Offer {
    let [s11, s12, s22] = block.s;
    if mixed {
        let found = jacobi::hyperbolic(block.s);
        return Offer {
            decrease: found.map_or(0.0, |f| f.1),
            step: found.filter(|f| f.1 > 0.0).map(|f| f.0),
            aligns: false,
        };
    }
    let aligns = align && s12.abs() > ALIGNED * (s11 * s22).sqrt();
    Offer { step: aligns.then(|| jacobi::circular(block.s)), decrease: 0.0, aligns }
}

/// Two different numbers i < j below n.
fn random_pair(n: usize, rng: &mut Pcg64) -> (usize, usize) {
    let i = rng.random_range(0..n);
    let mut j = rng.random_range(0..n - 1);
    j += usize::from(j >= i);
    (i.min(j), i.max(j))
}
