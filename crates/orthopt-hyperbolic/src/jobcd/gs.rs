//! GS-JOBCD (JOBCD paper, Algorithm 1): one pair a step. For f = ½tr(XᵀMXN) it costs O(n) and the model of a pair is f
//! itself; for any other f it costs a gradient ([`gs_any`](super::gs_any)). The algorithm is
//! [`PairDescent`](orthopt_solvers::pair_descent), with θ, which is never lowered, in the place of α.

use std::borrow::Borrow;
use std::sync::OnceLock;

use super::gs_any::{self, GradientPairs};
use super::image::{Block, Image};
use super::{UNBOUNDED, has_drifted, not_below_rounding, upkeep};
use crate::EVERY_F;
use crate::jpair::{JMove, JPair, jacobi};
use orthopt_core::constraint::{JOrthogonal, j_orthogonal};
use orthopt_core::pair::movable::Movable;
use orthopt_core::pair::options::{JobcdOptions, Side};
use orthopt_core::pair::step::Model;
use orthopt_core::smooth::{JQuadratic, TwoSided};
use orthopt_core::solve::info::SolverOptions;
use orthopt_solvers::pair_descent::{
    self, Candidates, Demand, PairDescent, PairOracle, Schedule, Tried, Upkeep, WorkingSet, pairs,
};
use orthopt_solvers::prelude::*;

/// Entry of the registry.
pub const INFO: Preset<GsJobcd> = Preset {
    shared: JobcdOptions::LIST,
    make: |_, o| GsJobcd::new(o),
    ..Preset::new(
        "gs-jobcd",
        "block coordinate descent on pairs of rows (columns, too, of quadratic f); feasible and monotone",
        EVERY_F,
    )
};

constants! {
    /// The solver.
    pub struct GsJobcd {
        /// proximal term of a step, relative to the mean curvature
        theta ["θ"]: f64 = 1e-8, "a finite number >= 0" if |v| v >= 0.0;
        /// all pairs that a whole pass does not change lower f together by at most this times |f|
        tol [""]: f64 = 1e-11, "a finite number >= 0" if |v| v >= 0.0;
        /// largest |mu| of a step where f may be unbounded
        mu_max ["μ"]: f64 = 1.0, "a finite number > 0" if |v| v > 0.0;
        /// row norm of X at which a run with an f that may be unbounded ends
        norm_limit [""]: f64 = 1e4, "a finite number >= 1" if |v| v >= 1.0;
    }
    plain {
        /// Rule, model and side.
        options: JobcdOptions = JobcdOptions::DEFAULT;
        /// Seed of all random choices.
        seed: u64 = 0;
    }
}

/// Pairs of the same sign are turned to make S₁₂ vanish while |S₁₂| is above this, relative to
/// √(S₁₁S₂₂).
const ALIGNED: f64 = 1e-10;

impl GsJobcd {
    /// GS-JOBCD with checked constants.
    ///
    /// # Errors
    /// A constant outside its range.
    pub fn new(o: &SolverOptions) -> Result<Self> {
        let options = o.jobcd.clone().checked("")?;
        INFO.configured(Self { options, seed: o.seed, ..Self::DEFAULT }, o)
    }
}

/// State of GS-JOBCD.
#[derive(Clone, Debug)]
pub struct State {
    at: At,                       // Xᵗ
    x: OnceLock<RowMat>,          // Xᵗ where Y is its transpose, once somebody asks for it
    descent: pair_descent::State, // f(Xᵗ) and the working sets
}

/// Xᵗ for the two kinds of f.
#[derive(Clone, Debug)]
enum At {
    Quadratic(Iterate),
    Any(gs_any::Iterate),
}

/// Xᵗ and what is kept of it.
#[derive(Clone, Debug)]
struct Iterate {
    image: Image, // Y and S or F
    rows: Movable,
    size: f64,     // ½Σ|Wᵢᵢ| when last examined
    theta: f64,    // θ in the unit of the curvature
    align: bool,   // whether pairs of the same sign are aligned in this pass
    limited: bool, // ‖X‖ has reached the limit
    repairs: u64,
}

/// Decrease that a pair offers.
struct Offer {
    step: Option<JMove>,
    decrease: f64, // of f, exact
    aligns: bool,  // f stays, but the other pairs gain
}

impl<F: TwoSided> Solver<Problem<JOrthogonal, F>> for GsJobcd {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn behaviour(&self, p: &Problem<JOrthogonal, F>) -> Behaviour {
        Behaviour::fading(if p.f.is_quadratic() { Stagnation::Never } else { Stagnation::Work })
    }

    fn init(&self, p: &Problem<JOrthogonal, F>, x0: RowMat) -> Result<State> {
        j_orthogonal::check(&x0, p.signature(), "the starting point X")?;
        let Some(q) = p.f.two_sided() else {
            let at = gs_any::Iterate::new(&p.f, x0, self.theta);
            let descent = self.descent(at.f, 0.0, &at.rows);
            return Ok(State { at: At::Any(at), x: OnceLock::new(), descent });
        };
        let decoupled = q.factor().is_some() && self.options.model == Model::Exact;
        let columns = match self.options.side {
            Side::Auto => decoupled,
            side => side == Side::Columns,
        };
        let image = Image::new(q, &x0, columns, decoupled);
        let (n, size) = (x0.nrows(), image.size(q));
        // mean of the diagonal of Q: 2·size/n is that of A·S
        let theta = match image {
            Image::Half { .. } => 0.0,
            Image::Full { .. } => self.theta * 2.0 * size / n.max(1) as f64,
        };
        let rows = Movable::always(n);
        let descent = self.descent(image.value(q), theta, &rows);
        let at = Iterate { image, rows, size, theta, align: true, limited: false, repairs: 0 };
        Ok(State { at: At::Quadratic(at), x: OnceLock::new(), descent })
    }

    fn step(&self, p: &Problem<JOrthogonal, F>, st: &mut State) -> Step {
        st.x = OnceLock::new();
        let state = &mut st.descent;
        match (&mut st.at, p.f.two_sided()) {
            (At::Quadratic(at), Some(q)) => {
                PairDescent { oracle: JPairs { solver: self, p, q, at }, state }.iterate()
            }
            (At::Any(at), _) => PairDescent {
                oracle: GradientPairs {
                    theta: self.theta,
                    mu_max: self.mu_max,
                    norm_limit: self.norm_limit,
                    rule: self.rule(),
                    p,
                    at,
                },
                state,
            }
            .iterate(),
            (At::Quadratic(_), None) => Step::default(), // the state of another problem
        }
    }

    fn current<'a>(&self, _: &Problem<JOrthogonal, F>, st: &'a State) -> Current<'a> {
        Current::new(st, st.descent.objective)
    }

    /// Passes over pairs of a quadratic f are certificates; what others find is what a majoriser of f has to offer.
    fn confirmed(&self, p: &Problem<JOrthogonal, F>, st: &State) -> Option<Confirmed> {
        match &st.at {
            At::Quadratic(_) => None,
            At::Any(at) => Some(Confirmed::new(at.stationarity(p))),
        }
    }

    fn finish(&self, p: &Problem<JOrthogonal, F>, st: State) -> Ending {
        let mut details = Details::of(self, Self::LIST);
        details.set("working_set", self.rule().name());
        let (model, columns, rows) = match &st.at {
            At::Quadratic(at) => (self.options.model, at.image.columns(), &at.rows),
            At::Any(at) => (Model::Diagonal, false, &at.rows),
        };
        details.set("model", model.name());
        details.set("side", if columns { "columns" } else { "rows" });
        if let Some(candidates) = st.descent.schedule.candidates() {
            let count = match candidates {
                Candidates::Sample(count) => count as u64,
                Candidates::All => rows.pairs(),
            };
            details.set("candidates", count);
        }
        details.set("pairs", st.descent.schedule.pairs);
        details.set("moves", st.descent.schedule.moves);
        details.set("passes", st.descent.schedule.passes);
        match &st.at {
            At::Quadratic(at) => {
                details.set("theta_scaled", at.theta);
                details.set("repairs", at.repairs);
            }
            At::Any(at) => at.report(&mut details, p.f.components() as u64, st.descent.schedule.pairs),
        }
        let mut x = match st.at {
            At::Quadratic(at) => at.image.x(),
            At::Any(at) => at.x,
        };
        j_orthogonal::repair(&mut x, p.signature());
        Ending::new(x, details)
    }
}

impl Borrow<RowMat> for State {
    /// X, which is made where it is asked for.
    fn borrow(&self) -> &RowMat {
        match &self.at {
            At::Quadratic(at) if at.image.columns() => self.x.get_or_init(|| at.image.x()),
            At::Quadratic(at) => at.image.y(),
            At::Any(at) => &at.x,
        }
    }
}

impl GsJobcd {
    /// Pairs by the rule from the beginning of a round.
    fn descent(&self, objective: f64, alpha: f64, rows: &Movable) -> pair_descent::State {
        let candidates = self.candidates(rows.nrows());
        let schedule = Schedule::new(self.rule(), candidates, self.tol, self.seed, rows);
        pair_descent::State { objective, alpha, schedule }
    }

    fn rule(&self) -> WorkingSet {
        self.options.working_set.unwrap_or(WorkingSet::Cyclic)
    }

    /// Pairs that a greedy rule examines in a step.
    fn candidates(&self, n: usize) -> Candidates {
        match Candidates::or_default(self.options.candidates, n) {
            Candidates::Sample(count) if count >= pairs(n) => Candidates::All,
            candidates => candidates,
        }
    }
}

/// The pairs of rows or columns of X.
struct JPairs<'a, F> {
    solver: &'a GsJobcd,
    p: &'a Problem<JOrthogonal, F>,
    q: &'a JQuadratic,
    at: &'a mut Iterate,
}

impl<F: TwoSided> PairOracle for JPairs<'_, F> {
    fn rows(&self) -> &Movable {
        &self.at.rows
    }

    fn try_pair(&mut self, i: usize, j: usize, demand: Demand) -> Tried {
        let Offer { step, decrease, aligns } = self.offer(i, j);
        let Some(v) = step.filter(|_| aligns || decrease > demand.least) else {
            return Tried::pair(decrease, None);
        };
        self.at.image.turn(i, j, &v);
        self.at.limited |= !self.p.is_bounded() && self.at.image.reach(i, j) > self.solver.norm_limit;
        Tried { level: u64::from(aligns), ..Tried::pair(decrease, Some(decrease)) }
    }

    /// The decrease of f, or |Ωᵢⱼ|.
    fn score(&mut self, pairs: &[(usize, usize)]) -> Vec<f64> {
        let reduction = self.solver.rule() == WorkingSet::GreedyOr;
        let violation = |i: usize, j: usize| {
            let w = self.at.image.block(self.q, i, j).w;
            if self.p.signature().mixed(i, j) { w[0][1] + w[1][0] } else { w[0][1] - w[1][0] }
        };
        let one = |i, j| if reduction { self.offer(i, j).decrease } else { violation(i, j).abs() };
        pairs.iter().map(|(i, j)| one(*i, *j)).collect()
    }

    fn size(&self, objective: f64) -> f64 {
        not_below_rounding(objective, self.at.size)
    }

    fn shares(&self) -> f64 {
        (self.at.rows.pairs() as f64).max(1.0)
    }

    fn upkeep(&self) -> Upkeep {
        upkeep(&self.at.rows)
    }

    fn has_drifted(&self) -> bool {
        has_drifted(self.at.image.y(), self.p.signature())
    }

    fn refresh(&mut self) -> f64 {
        let drifted = self.has_drifted();
        let (q, at) = (self.q, &mut *self.at);
        if drifted && j_orthogonal::repair(at.image.y_mut(), self.p.signature()).is_some() {
            at.repairs += 1;
        }
        at.image.refresh(q);
        at.size = at.image.size(q);
        at.image.value(q)
    }

    /// A pass that shows stationarity must leave X alone.
    fn after_pass(&mut self, found: bool) {
        self.at.align = found;
    }

    fn ended(&self, objective: f64) -> Option<(Status, &'static str)> {
        (self.at.limited || !objective.is_finite()).then_some((Status::Unbounded, UNBOUNDED))
    }
}

impl<F: TwoSided> JPairs<'_, F> {
    /// Steps (S2) and (S3).
    fn offer(&self, i: usize, j: usize) -> Offer {
        let (image, theta) = (&self.at.image, self.at.theta);
        let (block, mixed) = (image.block(self.q, i, j), self.p.signature().mixed(i, j));
        if let Image::Half { .. } = image {
            return closed_form(&block, mixed, self.at.align);
        }
        let exact = JPair::exact(block.w, block.a, block.s, theta);
        let model = match self.solver.options.model {
            Model::Exact => exact,
            Model::Diagonal => JPair::metric(block.w, Image::curvature(self.q), image.gram(i, j), theta),
        };
        let bounded = self.p.is_bounded();
        let found = if bounded { model.solve(mixed) } else { model.solve_within(mixed, self.solver.mu_max) };
        // what f itself gains: the exact model without θ
        let gain = |v: &JMove| exact.decrease(v) + 0.5 * theta * v.distance_squared();
        Offer { decrease: found.step.as_ref().map_or(0.0, gain).max(0.0), step: found.step, aligns: false }
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
