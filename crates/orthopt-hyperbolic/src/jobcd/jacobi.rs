//! J-JOBCD: n/2 disjoint pairs at once (JOBCD paper, Section 2.2).
//!
//! *Any f, pairs of rows.* With G = ∇f(X), f(X⁺) ≤ f(X) + Σᵢ ⟨Vᵢ − I, [GXᵀ]_BᵢBᵢ⟩ + ½s‖(Vᵢ −
//! I)Zᵢ‖² for s ≥ L_f: the metric Qᵢ = s(ZᵢZᵢᵀ ⊗ I₂) + θI (the paper's ςI with ς ≤ L_f is too small by
//! ‖ZᵢZᵢᵀ‖ ≥ 1, docs/mathematics.md, section 9, C10). s is found by backtracking, between steps as large as f allows and
//! L_f where that is known. A round costs a gradient, a few values of f, and O(n²).
//!
//! *`hyperbolic-eig`, pairs of columns.* The pairs decouple: each of them is solved exactly in closed
//! form, O(n) a pair. For n < 64 n − 1 rounds of disjoint pairs meet all pairs once; larger problems
//! have their columns in blocks, and a round is up to eight such rounds at once (see `pairing.rs`).

use std::borrow::Borrow;
use std::sync::OnceLock;

use crate::EVERY_F;
use orthopt_solvers::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64;

use super::decoupled::{DRIFT, Decoupled, EMPTY};
use super::image::Image;
use super::pairing::{BlockTournament, Tournament, matching};
use super::rounds::{HalfRule, half_round, moved, pair_data, solve};
use super::{beyond_limit, largest_row, relative_stationarity};
use orthopt_core::constraint::{JOrthogonal, j_orthogonal};
use orthopt_core::pair::options::{JobcdOptions, Side};
use orthopt_core::pair::step::Model;
use orthopt_core::pair::working_set::WorkingSet;
use orthopt_core::smooth::TwoSided;
use orthopt_core::solve::Pass;
use orthopt_core::solve::info::SolverOptions;
use orthopt_linalg::factor::transpose;
use orthopt_linalg::long::is_left;

/// Entry of the registry.
pub const INFO: Preset<JJobcd> = Preset {
    shared: &only(JobcdOptions::LIST, ["working-set", "side"]),
    make: |_, o| JJobcd::new(o),
    ..Preset::new(
        "j-jobcd",
        "rounds of n/2 disjoint pairs in parallel; feasible and monotone, for any f",
        EVERY_F,
    )
};

constants! {
    /// The solver.
    pub struct JJobcd {
        /// proximal term of a step, relative to the size of grad f(X) X'
        theta ["θ"]: f64 = 1e-8, "a finite number >= 0" if |v| v >= 0.0;
        /// hyperbolic-eig: all pairs that a whole pass does not change lower f together by at most this times |f|
        tol [""]: f64 = 1e-11, "a finite number >= 0" if |v| v >= 0.0;
        /// metric of the majoriser at the start; chosen as L_f, or ||grad f(X)||/||X||, unless set
        s ["s"]: Option<f64> = None, "a finite number > 0" if |v| v > 0.0;
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

/// Share of the predicted decrease that a trial must bring.
pub(super) const ARMIJO: f64 = 1e-4;
/// Doublings of s before a pairing is given up.
pub(super) const DOUBLINGS: u32 = 40;
/// s is divided by this after a success.
pub(super) const RELAX: f64 = 1.5;
/// Pairings in a row without a decrease that end the run.
const HOPELESS: u32 = 30;
/// Rounds between two measurements of the residual, each worth a product of matrices.
const LOOK: u64 = 16;
/// Rounds between two checks of feasibility.
const CHECK: u64 = 200;
/// See GS-JOBCD.
const ALIGNED: f64 = 1e-10;

impl JJobcd {
    /// J-JOBCD with checked constants.
    ///
    /// # Errors
    /// A constant outside its range, a greedy working set.
    pub fn new(o: &SolverOptions) -> Result<Self> {
        if let Some(rule @ (WorkingSet::GreedySv | WorkingSet::GreedyOr)) = o.jobcd.working_set {
            return Err(Error::Incompatible(format!(
                "j-jobcd turns all rows in every round: its working set is random or cyclic, and {} is for gs-jobcd",
                rule.name()
            ).into()));
        }
        let options = o.jobcd.clone();
        INFO.configured(Self { options, seed: o.seed, ..Self::DEFAULT }, o)
    }
}

/// State of J-JOBCD.
#[derive(Clone, Debug)]
pub struct State {
    mode: Mode,
    objective: f64, // f(Xᵗ)
    rng: Pcg64,
    rounds: u64,
    repairs: u64,
    ended: Option<(Status, &'static str)>,
}

#[derive(Clone, Debug)]
enum Mode {
    Gradient(Gradient),
    Decoupled(Decoupled),
}

/// State of rounds of rows with a gradient.
#[derive(Clone, Debug)]
struct Gradient {
    x: RowMat,                      // Xᵗ
    g: RowMat,                      // ∇f(Xᵗ)
    tournament: Option<Tournament>, // pairings of cyclic rounds
    s: f64,                         // s of the metric
    usual: f64,                     // running median of s, in steps of a tenth
    cap: f64,                       // L_f, or infinity
    scale: f64,                     // largest |W| seen, the unit of the residual
    failures: u32,                  // pairings in a row without a decrease
    gradients: u64,                 // evaluations of ∇f
    values: u64,                    // evaluations of f alone
}

impl<F: TwoSided> Solver<Problem<JOrthogonal, F>> for JJobcd {
    type State = State;

    fn name(&self) -> &'static str {
        INFO.name
    }

    fn behaviour(&self, p: &Problem<JOrthogonal, F>) -> Behaviour {
        Behaviour::fading(if p.f.is_quadratic() { Stagnation::Never } else { Stagnation::Work })
    }

    fn init(&self, p: &Problem<JOrthogonal, F>, x0: RowMat) -> Result<State> {
        j_orthogonal::check(&x0, p.signature(), "the starting point X")?;
        let (mode, objective) = match p.f.two_sided().filter(|q| q.factor().is_some()) {
            Some(q) if self.options.side != Side::Rows => {
                let Image::Half { y, f } = Image::new(q, &x0, true, true) else {
                    return Err(Error::Incompatible("f does not decouple".into()));
                };
                let objective = 0.5 * f.inner(&f);
                let tournament = BlockTournament::new(x0.nrows());
                let x = OnceLock::from(x0);
                let d = Decoupled { y, f, x, tournament, pass: EMPTY, aligned: 0, align: true };
                (Mode::Decoupled(d), objective)
            }
            _ => {
                let (state, objective) = self.gradient_mode(p, x0);
                (Mode::Gradient(state), objective)
            }
        };
        let rng = Pcg64::seed_from_u64(self.seed);
        Ok(State { mode, objective, rng, rounds: 0, repairs: 0, ended: None })
    }

    fn step(&self, p: &Problem<JOrthogonal, F>, st: &mut State) -> Step {
        st.rounds += 1;
        let (pass, residual) = match &mut st.mode {
            Mode::Decoupled(d) => {
                d.x = OnceLock::new();
                (self.decoupled_round(p, st), None)
            }
            Mode::Gradient(_) => (None, self.gradient_round(p, st)),
        };
        Step { pass, residual, ended: st.ended }
    }

    fn current<'a>(&self, _: &Problem<JOrthogonal, F>, st: &'a State) -> Current<'a> {
        Current::new(st, st.objective)
    }

    fn finish(&self, p: &Problem<JOrthogonal, F>, st: State) -> Ending {
        let mut details = Details::of(self, Self::LIST);
        details.set("rounds", st.rounds);
        details.set("repairs", st.repairs);
        details.set("working_set", self.rule(&st.mode).name());
        match &st.mode {
            Mode::Decoupled(d) => {
                details.set("side", "columns");
                details.set("columns_per_task", 2 * d.tournament.block() as u64);
                details.set("model", Model::Exact.name());
            }
            Mode::Gradient(g) => {
                details.set("side", "rows");
                details.set("model", Model::Diagonal.name());
                details.set("s_at_end", g.s);
                details.set("gradients", g.gradients);
                details.set("values", g.values);
                let n = p.f.components() as u64;
                details.set("component_gradients", n * g.gradients);
                let each = (n * g.gradients) as f64 / st.rounds.max(1) as f64;
                details.set("component_gradients_per_iteration", each);
            }
        }
        let mut x: RowMat = Borrow::<RowMat>::borrow(&st).clone();
        j_orthogonal::repair(&mut x, p.signature());
        Ending::new(x, details)
    }
}

impl Borrow<RowMat> for State {
    /// X, which is made where it is asked for.
    fn borrow(&self) -> &RowMat {
        match &self.mode {
            Mode::Gradient(g) => &g.x,
            Mode::Decoupled(d) => d.x.get_or_init(|| transpose(&d.y)),
        }
    }
}

impl JJobcd {
    fn rule(&self, mode: &Mode) -> WorkingSet {
        self.options.working_set.unwrap_or(match mode {
            Mode::Decoupled(_) => WorkingSet::Cyclic,
            Mode::Gradient(_) => WorkingSet::Random,
        })
    }

    fn gradient_mode<F: TwoSided>(&self, p: &Problem<JOrthogonal, F>, x: RowMat) -> (Gradient, f64) {
        let mut g = RowMat::zeros(x.nrows(), x.ncols());
        let objective = p.f.value_and_gradient(&x, &mut g);
        let cap = p.f.lipschitz().unwrap_or(f64::INFINITY);
        let guess = if cap.is_finite() { cap } else { g.norm() / x.norm().max(1.0) };
        let s = self.s.unwrap_or(guess).max(f64::MIN_POSITIVE);
        let tournament =
            (self.options.working_set == Some(WorkingSet::Cyclic)).then(|| Tournament::new(x.nrows()));
        let (usual, scale) = (s, 0.0);
        let state = Gradient { x, g, tournament, s, usual, cap, scale, failures: 0, gradients: 1, values: 0 };
        (state, objective)
    }

    /// One round of rows: the pairing, then trials with growing s until f falls enough.
    fn gradient_round<F: TwoSided>(&self, p: &Problem<JOrthogonal, F>, st: &mut State) -> Option<f64> {
        let Mode::Gradient(state) = &mut st.mode else { return None };
        let left = || is_left(p.order().pow(3)); // a gradient is long, and it is cancelled
        if left() {
            return None;
        }
        let pairs = match &mut state.tournament {
            Some(tournament) => tournament.next_round().0,
            None => matching(p.order(), &mut st.rng),
        };
        let data = pair_data(&state.x, &state.g, &pairs);
        let limit = (!p.is_bounded()).then_some(self.mu_max);
        let theta = self.theta * state.g.norm() * state.x.norm() / p.order().max(1) as f64;
        // a quadratic has its value from its gradient, others are cheaper without
        let both = p.f.two_sided().is_some();
        let mut next_g = RowMat::zeros(state.x.nrows(), state.x.ncols());
        let mut moved_to = None;
        for _ in 0..DOUBLINGS {
            if left() {
                return None;
            }
            let moves = solve(&data, p.signature(), state.s, theta, limit);
            if moves.predicted <= f64::EPSILON * st.objective.abs() {
                break; // no more than rounding
            }
            let next = moved(&state.x, &moves.list);
            let value = if both { p.f.value_and_gradient(&next, &mut next_g) } else { p.f.value(&next) };
            if both {
                state.gradients += 1
            } else {
                state.values += 1
            }
            // with s = L_f the majoriser guarantees the decrease, but for rounding
            let rounding = if state.s >= state.cap { 1e-14 * st.objective.abs() } else { 0.0 };
            if value <= st.objective - ARMIJO * moves.predicted + rounding {
                moved_to = Some((next, value.min(st.objective)));
                break;
            }
            if state.s >= state.cap {
                break;
            }
            state.s = (2.0 * state.s).min(state.cap);
        }
        match moved_to {
            Some((x, value)) => {
                (state.x, st.objective) = (x, value);
                if both {
                    state.g = next_g;
                } else if left() {
                    return None; // there is no next round
                } else {
                    p.f.gradient(&state.x, &mut state.g);
                    state.gradients += 1;
                }
                state.failures = 0;
                state.usual *= if state.s > state.usual { 1.1 } else { 1.0 / 1.1 };
                state.s = (state.s / RELAX).max(f64::MIN_POSITIVE);
            }
            None => {
                state.failures += 1;
                state.s = state.usual; // a kink of f: another pairing may pass by it
            }
        }
        state.s = if state.s > 1e6 * state.usual { state.usual } else { state.s };
        let pass = state.tournament.as_ref().map_or(0, |t| t.rounds() as u32);
        if state.failures >= HOPELESS.max(pass) {
            st.ended = Some((Status::Stalled, "no pairing of the rows lowers f"));
        }
        if !p.is_bounded() && largest_row(&state.x) > self.norm_limit {
            st.ended = Some(beyond_limit(&p.f));
        }
        self.look(p, st)
    }

    /// Repairs X now and then, and measures max |Ω| relative to the largest |W| so far.
    fn look<F: TwoSided>(&self, p: &Problem<JOrthogonal, F>, st: &mut State) -> Option<f64> {
        let Mode::Gradient(state) = &mut st.mode else { return None };
        if st.rounds.is_multiple_of(CHECK)
            && j_orthogonal::residual(&state.x, p.signature()).norm() > DRIFT
            && j_orthogonal::repair(&mut state.x, p.signature()).is_some()
        {
            st.repairs += 1;
            st.objective = p.f.value_and_gradient(&state.x, &mut state.g);
            state.gradients += 1;
        }
        (st.rounds.is_multiple_of(LOOK) || st.ended.is_some())
            .then(|| relative_stationarity(p, &state.x, &state.g, &mut state.scale))
    }

    /// One round of decoupled columns.
    fn decoupled_round<F: TwoSided>(&self, p: &Problem<JOrthogonal, F>, st: &mut State) -> Option<Pass> {
        let Mode::Decoupled(d) = &mut st.mode else { return None };
        let n = p.order() as f64;
        let least = self.tol * st.objective.abs() / (0.5 * n * (n - 1.0)).max(1.0);
        let (groups, last) = d.tournament.next();
        let rule = HalfRule { align: d.align, aligned: ALIGNED, least };
        let done = half_round(&mut d.y, &mut d.f, &groups, p.signature(), rule);
        st.objective -= done.decrease;
        d.pass.pairs += done.pairs;
        d.pass.decrease += done.decrease;
        d.pass.max_decrease = d.pass.max_decrease.max(done.max_decrease);
        d.aligned += done.aligned;
        if !last {
            return None;
        }
        let pass = Pass { covers_all: d.aligned == 0, ..std::mem::replace(&mut d.pass, EMPTY) };
        // a pass that shows stationarity must leave X alone
        d.align = pass.max_decrease > least;
        d.aligned = 0;
        if self.options.working_set == Some(WorkingSet::Random) {
            d.tournament.shuffle(&mut st.rng);
        }
        let passes = st.rounds / d.tournament.rounds() as u64;
        if passes.is_multiple_of(4)
            && let Some(q) = p.f.two_sided()
        {
            d.refresh(p.signature(), q, &mut st.objective, &mut st.repairs);
        }
        Some(pass)
    }
}
