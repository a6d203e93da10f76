//! Report of a run or of an X, as facts: the common source that the command, its JSON and
//! Python render.
//!
//! Nothing is evaluated twice: the driver measures F, feasibility and zeros of the X it returns, a
//! [`Report`] adds the facts of the problem, and the expensive [`Checks`] come last, when files are written and the
//! summary is shown.

#[doc(hidden)]
pub mod assessment;
mod data;
mod global;
mod model;
mod object;
mod stability;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

pub use assessment::{Assessment, Checks, nonzeros};
pub use data::{DataFacts, Role, TableFacts};
pub use global::Global;
pub use model::{Model, used};
pub use object::{BoundObject, CheckObject, Object, SCHEMA};
pub use stability::Stability;

use crate::family::{AnyProblem, Family, Kind, Plan, Posed, ProblemInfo, Recipe, Request, Scree};
use orthopt_bound::Bound;
use orthopt_core::options::{Given, Value};
use orthopt_core::problem::{Cardinality, ExplainedVariance};
use orthopt_core::solve::info::find_solvers;
use orthopt_core::solve::{Solution, Status, Stopping};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::Result;
use orthopt_linalg::long::left_after;
use orthopt_linalg::message::Message;
use orthopt_linalg::threads;

/// Problem of a run as posed, for any solver.
#[derive(Clone, Debug)]
pub struct Task {
    /// Entry of the registry for the problem.
    pub problem: &'static ProblemInfo,
    /// Objective in words, with penalty and map.
    pub statement: Cow<'static, str>,
    /// The data.
    pub data: DataFacts,
    /// r.
    pub rank: usize,
    /// λ, where the problem has one.
    pub lambda: Option<f64>,
    /// k of `l1-largest-k`.
    pub k: Option<usize>,
    /// The limit on nonzeros, where there is one.
    pub limits: Option<Cardinality>,
    /// One sentence per automatic choice.
    pub reasons: Vec<Message>,
    /// Notes on options without effect.
    pub notes: Vec<Message>,
    /// Eigenvalues of C beside those of noise, where a rule has chosen r or a picture shows them.
    pub scree: Option<Arc<Scree>>,
    /// Title of pictures: what was found, in words.
    pub title: String,
    optimum: OnceLock<Option<f64>>, // O(n³), so once for all solvers
}

impl Task {
    /// The task of a posed problem; the problem itself is left out.
    pub fn new(posed: &Posed, data: DataFacts) -> Self {
        Self {
            problem: posed.info,
            statement: posed.statement.clone(),
            data,
            rank: posed.rank,
            lambda: posed.lambda,
            k: posed.k,
            limits: posed.limits.clone(),
            reasons: posed.reasons.clone(),
            notes: posed.notes.clone(),
            scree: posed.scree.clone(),
            title: posed.title.clone(),
            optimum: OnceLock::new(),
        }
    }
}

/// Quantities that the numbers of a problem measure, in words.
#[derive(Clone, Copy, Debug)]
pub struct Measures {
    /// Feasibility.
    pub feasibility: &'static str,
    /// Criticality.
    pub criticality: &'static str,
}

impl Measures {
    /// Those of a problem.
    pub fn of(problem: &AnyProblem) -> Self {
        let Recipe { feasibility, criticality, .. } = problem.recipe();
        Self { feasibility, criticality }
    }
}

/// Everything there is to say of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Problem of the run.
    pub task: Task,
    /// The solvers as they were asked for.
    pub solver: String,
    /// Constants of the solvers in force, `solver-constant` to value.
    pub constants: Given,
    /// Name of the starting point that led to X.
    pub start: String,
    /// Reasons of automatic choices.
    pub reasons: Vec<Message>,
    /// Further notes: constants out of their range, starts that failed.
    pub notes: Vec<Message>,
    /// When the run was to end.
    pub stopping: Stopping,
    /// Threads.
    pub threads: usize,
    /// X with the results of the run.
    pub solution: Solution,
    /// Meaning of feasibility and criticality.
    pub measures: Measures,
    /// Feasibility divided by ‖X‖², where that is not bounded.
    pub relative_feasibility: Option<f64>,
    /// The minimum of F, where it is known in closed form.
    pub optimum: Option<f64>,
    /// Variance explained, if it is defined.
    pub explained_variance: Option<ExplainedVariance>,
    /// Share of the variance that PCA with as many components explains, if it is asked for.
    pub pca_share: Option<f64>,
    /// Checks of X, filled in on request.
    pub checks: Checks,
    /// A global bound and the gap of F; also filled in on request.
    pub global: Option<Global>,
    /// Stability of the components over halves of the rows; also filled in on request.
    pub stability: Option<Stability>,
}

/// Number of variables from which on a run with a time limit does not compute the optimum.
const LARGE: usize = 500;

impl Report {
    /// The report of a run of `plan`. The optimum, which may cost O(n³), is left out after an interruption, and
    /// of large problems with a time limit; so are shares of the variance of hundreds of components, and the size of a large X
    /// that is not bounded, where they take longer than what is left and a moment.
    ///
    /// # Errors
    /// A bound that the run has found contradicts F of its X.
    pub fn new(
        task: &Task,
        problem: &AnyProblem,
        plan: &Plan,
        request: &Request,
        stopping: Stopping,
        solution: Solution,
    ) -> Result<Self> {
        let constants = constants(problem, plan, &solution);
        let hurried = match solution.status {
            Status::Interrupted => true,
            Status::TimeLimit => problem.shape().0 > LARGE,
            _ => false,
        };
        let clock = clock(&stopping, &solution);
        let (explained_variance, relative_feasibility) = clock.during(|| {
            let explained_variance = problem.explained_variance(&solution.x);
            (explained_variance, problem.relative_feasibility(&solution.x, solution.feasibility))
        });
        let has_shares = matches!(task.problem.kind, Kind::Pca | Kind::Composite);
        let left = (has_shares && explained_variance.is_none() && clock.is_over()).then(left_out);
        let repeats = explained_variance.as_ref().and_then(|explained| repeats(task, explained));
        let price = if hurried { None } else { problem.price(&solution.x) };
        let proof = solution.proof.clone();
        let optimum = (!hurried).then(|| *task.optimum.get_or_init(|| problem.known_optimum())).flatten();
        let mut report = Self {
            solver: if solution.search.is_some() { solution.solver.clone() } else { plan.names() },
            start: start(plan, &solution),
            reasons: [&task.reasons[..], &plan.reasons, price.as_slice()].concat(),
            notes: [&moved(request, &constants)[..], &solution.notes, repeats.as_slice(), left.as_slice()]
                .concat(),
            constants,
            stopping,
            threads: threads::count(),
            measures: Measures::of(problem),
            relative_feasibility,
            optimum,
            explained_variance,
            pca_share: None,
            checks: Checks::default(),
            global: None,
            stability: None,
            task: task.clone(),
            solution,
        };
        if let Some(proof) = proof {
            report.bound_by(&proof)?;
        }
        Ok(report)
    }

    /// Adds what PCA with as many components explains, in what the run has left of its limit and a moment.
    #[doc(hidden)]
    pub fn beside_pca(&mut self, problem: &AnyProblem) {
        if self.explained_variance.is_some() {
            self.pca_share = clock(&self.stopping, &self.solution).during(|| problem.pca_share());
        }
    }

    /// Adds a global bound: an X that it proves to be a global minimum is `optimal`, for any ending of its run.
    ///
    /// # Errors
    /// A bound that contradicts F of X, or a decrease by pairs of its rows.
    pub fn bound_by(&mut self, bound: &Bound) -> Result<&Global> {
        let global = Global::beside(bound, self.solution.point(), self.x())?;
        global.check(self.checks.certificate.as_ref())?;
        if global.is_optimal() {
            self.solution.status = Status::Optimal;
        }
        Ok(self.global.insert(global))
    }

    /// X.
    pub fn x(&self) -> &RowMat {
        &self.solution.x
    }

    /// True if all pairs of rows were checked and none lowers F by more than [`Report::tolerance`].
    pub fn is_certified(&self) -> bool {
        self.checks.certificate.is_some_and(|c| c.holds(self.tolerance()))
    }

    /// A decrease of F that counts as none.
    pub fn tolerance(&self) -> f64 {
        self.stopping.tolerance(self.solution.scale, self.solution.objective.total)
    }

    /// Excess of F over the optimum, relative to it.
    pub fn above_optimum(&self) -> Option<f64> {
        let f = self.solution.objective.total;
        self.optimum.map(|optimum| (f - optimum) / optimum.abs().max(f64::MIN_POSITIVE))
    }

    /// Nonzeros of each component.
    pub fn nonzeros(&self) -> Vec<usize> {
        nonzeros(&self.solution.x)
    }
}

/// Time for the long steps of a report: the rest of the limit of the run, and a moment.
fn clock(stopping: &Stopping, solution: &Solution) -> Cancel {
    let left = |limit: f64| left_after(limit, solution.seconds);
    let seconds = match solution.status {
        Status::Interrupted => Some(0.0),
        _ => stopping.time_limit.map(left),
    };
    Cancel::current().unwrap_or_default().within(seconds)
}

/// That shares of the variance are missing, and why.
fn left_out() -> Message {
    Message::from("the shares of the variance of so many components take longer than was left of the time: allow more (")
        .option("time-limit")
        .text(")")
}

/// A correlation of two scores, and a share of its own variance that a component adds, from which on one repeats others.
const ALIKE: f64 = 0.7;
const ADDS_LITTLE: f64 = 0.2;

/// That two scores nearly repeat each other, or that a component adds little, and what finds others.
fn repeats(task: &Task, explained: &ExplainedVariance) -> Option<Message> {
    let said = match (explained.closest, explained.least_added()) {
        (Some((j, k, correlation)), _) if correlation > ALIKE => {
            format!("components {} and {} repeat each other (correlation {correlation:.2})", j + 1, k + 1)
        }
        (_, Some((k, share))) if share < ADDS_LITTLE => {
            format!("component {} adds {:.0} % of its variance to those before it", k + 1, 100.0 * share)
        }
        _ => return None,
    };
    let takes_measures = task.problem.kind == Kind::Pca && matches!(task.problem.penalty, "l0" | "none");
    let has_another = matches!(explained.maximised, "variance" | "explained") && takes_measures;
    Some(if has_another {
        Message::from(said + "; ").set("maximise", "adjusted").text(" finds components that share less")
    } else {
        said.into()
    })
}

/// The start that led to X, or the arm of a search that did.
fn start(plan: &Plan, solution: &Solution) -> String {
    let searched = solution.search.as_ref().and_then(|s| s.arms.get(s.winner));
    searched.map_or_else(|| plan.start_name(solution.best_start).into(), |arm| arm.start.clone())
}

/// The constants of the solvers of `plan`: the values chosen from the data, else those set,
/// else the defaults; none for values that the solver chooses and does not report.
fn constants(problem: &AnyProblem, plan: &Plan, solution: &Solution) -> Given {
    let mut all = Given::new();
    let arm = solution.search.as_ref().and_then(|s| s.arms.get(s.winner));
    // the solvers of the arm that won, with its constants
    let won = arm.and_then(|arm| find_solvers(problem.solvers(), &arm.solver).ok());
    for solver in won.as_ref().unwrap_or(&plan.solvers) {
        let stage = solution.stages.iter().find(|stage| stage.solver == solver.name);
        for constant in solver.constants {
            let option = format!("{}-{}", solver.name, constant.name);
            let decided = stage.and_then(|s| s.constants.iter().find(|c| c.0 == constant.name));
            let of_arm = arm.and_then(|arm| arm.constants.get(&option));
            let set = plan.options.constants.get(&option).or(of_arm).unwrap_or(constant.default);
            let value = decided.map_or(set, |c| Value::Number(c.1));
            if value != Value::Auto {
                all.insert(option, value);
            }
        }
    }
    all
}

/// Constants whose value was changed: a weakly convex penalty bounds β from below and μ from
/// above. Zero means an automatic value.
fn moved(request: &Request, in_force: &Given) -> Vec<Message> {
    let number =
        |(name, value): (&str, Value)| Some((name.to_string(), value.number().filter(|v| *v != 0.0)?));
    let constants = request.solver_constants();
    let typed = constants.iter().filter_map(number);
    typed
        .filter_map(|(name, typed)| {
            let used = in_force.get(&name).and_then(Value::number)?;
            let used = Some(used).filter(|used| (used - typed).abs() > 1e-12 * typed.abs())?;
            let (what, done) = if used > typed { ("small", "raised") } else { ("large", "lowered") };
            Some(Message::about(name).text(format!(
                " {typed} is too {what} for a weakly convex penalty: {done} to {used}, where its prox is single-valued"
            )))
        })
        .collect()
}
