//! Result of a run.

use std::collections::BTreeMap;

use super::Trace;
use super::bound::Bound;
use super::claim::Point;
use crate::objective::{Evaluate, Objective, count_nonzeros};
use crate::options::{Constant, Constants, Value};
use crate::solve::SearchReport;
use orthopt_linalg::RowMat;
use orthopt_linalg::message::Message;

/// Status of a run at its end: a result, not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// F is proved to be the global minimum: it meets a lower bound of F over all feasible X.
    Optimal,
    /// The solver's own stationarity test holds to the tolerance.
    Converged,
    /// The iteration limit was reached.
    MaxIters,
    /// The time limit was reached.
    TimeLimit,
    /// The user interrupted the run.
    Interrupted,
    /// Progress fell below the threshold before stationarity was shown.
    Stalled,
    /// The objective has no lower bound.
    Unbounded,
    /// NaN or infinity appeared.
    NumericalError,
}

impl Status {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Optimal => "optimal",
            Self::Converged => "converged",
            Self::MaxIters => "max_iters",
            Self::TimeLimit => "time_limit",
            Self::Interrupted => "interrupted",
            Self::Stalled => "stalled",
            Self::Unbounded => "unbounded",
            Self::NumericalError => "numerical_error",
        }
    }
}

/// A value among the settings of a run.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum Setting {
    /// A yes or no.
    Bool(bool),
    /// A whole number.
    Int(u64),
    /// A real number.
    Real(f64),
    /// A name or a sentence.
    Text(String),
}

impl From<bool> for Setting {
    fn from(v: bool) -> Self {
        Self::Bool(v)
    }
}
impl From<u64> for Setting {
    fn from(v: u64) -> Self {
        Self::Int(v)
    }
}
impl From<usize> for Setting {
    fn from(v: usize) -> Self {
        Self::Int(v as u64)
    }
}
impl From<f64> for Setting {
    fn from(v: f64) -> Self {
        Self::Real(v)
    }
}
impl From<&str> for Setting {
    fn from(v: &str) -> Self {
        Self::Text(v.into())
    }
}
impl From<String> for Setting {
    fn from(v: String) -> Self {
        Self::Text(v)
    }
}

impl From<Value> for Setting {
    fn from(v: Value) -> Self {
        match v {
            Value::Flag(v) => Self::Bool(v),
            Value::Whole(v) => Self::Int(v),
            Value::Number(v) => Self::Real(v),
            Value::Auto | Value::Name(_) => Self::Text(v.to_string()),
        }
    }
}

/// Settings and counters by name.
pub type Settings = BTreeMap<String, Setting>;

/// Details of a run: constants in force, and counters.
#[derive(Clone, Debug, Default)]
pub struct Details {
    /// For display.
    pub settings: Settings,
    /// The constants of the registry that the data decided or a bound moved, with the values in force.
    pub constants: Vec<(&'static str, f64)>,
}

impl Details {
    /// With the `listed` constants of a solver; what is chosen from the data is left to add.
    pub fn of(constants: &impl Constants, listed: &[Constant]) -> Self {
        Self { settings: settings(constants.in_force(listed)), constants: Vec::new() }
    }

    /// Adds a setting or a counter.
    pub fn set(&mut self, name: &str, value: impl Into<Setting>) {
        self.settings.insert(name.into(), value.into());
    }

    /// Adds a constant that the data decided or a bound moved.
    pub fn chosen(&mut self, name: &'static str, value: f64) {
        self.set(name, value);
        self.constants.push((name, value));
    }
}

/// Once for all solvers: a map from an iterator sorts first, which is much code.
fn settings(constants: Vec<(String, Value)>) -> Settings {
    constants.into_iter().map(|(name, value)| (name, value.into())).collect()
}

/// The natural iterate of a method that is feasible in the limit only.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Raw {
    /// F there, with the papers' convention for zeros.
    pub objective: f64,
    /// Its ‖XᵀX − I‖_F.
    pub feasibility: f64,
    /// Its entries with |x| > 1e-6.
    pub nnz: usize,
}

/// The two points of a splitting method at its end: X on the manifold and y̌, the prox output, which is sparse.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Splitting {
    /// F(X).
    pub x: f64,
    /// F(polar(y̌)), where y̌ has full rank and A = I.
    pub sparse: Option<f64>,
    /// True if polar(y̌) was returned, which is done where F is lower there.
    pub returned_sparse: bool,
    /// μ‖z‖, what smoothing leaves between X and y̌; of methods with a multiplier and smoothing.
    pub mu_norm_z: Option<f64>,
    /// The three terms of Crit at (X, y̌, z): A(X) − y̌, z, X.
    pub crit: Option<[f64; 3]>,
}

/// Settings with the unit of F.
const OF_F: [&str; 6] =
    ["objective", "objective_x", "objective_sparse", "mu_norm_z", "crit_dual", "crit_tangent"];

impl Splitting {
    /// These values with F multiplied by `unit`, a power of two.
    fn times(self, unit: f64) -> Self {
        Self {
            x: unit * self.x,
            sparse: self.sparse.map(|f| unit * f),
            mu_norm_z: self.mu_norm_z.map(|v| unit * v),
            crit: self.crit.map(|[primal, dual, tangent]| [primal, unit * dual, unit * tangent]),
            ..self
        }
    }

    /// The point that was returned, in words.
    pub fn returned(&self) -> &'static str {
        if self.returned_sparse { "polar(y_check)" } else { "X" }
    }

    /// Adds itself to what is displayed.
    pub(super) fn display(&self, settings: &mut Settings) {
        let [primal, dual, tangent] = self.crit.map_or([None; 3], |crit| crit.map(Some));
        let reals = [
            ("objective_x", Some(self.x)),
            ("objective_sparse", self.sparse),
            ("mu_norm_z", self.mu_norm_z),
            ("crit_primal", primal),
            ("crit_dual", dual),
            ("crit_tangent", tangent),
        ];
        settings.extend(reals.into_iter().filter_map(|(name, v)| Some((name.to_string(), v?.into()))));
        settings.insert("returned".into(), self.returned().into());
    }
}

/// Result of a solver: X, cleaned of rounding drift, and its details.
#[derive(Clone, Debug)]
pub struct Ending {
    /// X.
    pub x: RowMat,
    /// Constants and counters.
    pub details: Details,
    /// The natural iterate of a method that is feasible in the limit only: what the papers report.
    pub raw: Option<Raw>,
    /// The two points of a splitting method.
    pub splitting: Option<Splitting>,
}

impl Ending {
    /// At X.
    pub fn new(x: RowMat, details: Details) -> Self {
        Self { x, details, raw: None, splitting: None }
    }

    /// This result with a natural iterate that is not feasible.
    pub fn with_raw(self, raw: Option<Raw>) -> Self {
        Self { raw, ..self }
    }

    /// This result with the two points of a splitting method.
    pub fn with_splitting(self, splitting: Option<Splitting>) -> Self {
        Self { splitting, ..self }
    }
}

/// One solver of a run, as far as it went.
#[derive(Clone, Debug)]
pub struct Stage {
    /// Its name.
    pub solver: String,
    /// F at its end (exact zeros count).
    pub objective: f64,
    /// Status at its end.
    pub status: Status,
    /// Its iterations.
    pub iterations: u64,
    /// The constants that the data decided or a bound moved, by name.
    pub constants: Vec<(&'static str, f64)>,
    /// The two points of a splitting method.
    pub splitting: Option<Splitting>,
}

impl Solution {
    /// F and feasibility, for what a bound says of X.
    pub fn point(&self) -> Point {
        Point { objective: self.objective.total, feasibility: self.feasibility }
    }

    /// This solution with F multiplied by `unit`, a power of two; X is unchanged.
    #[doc(hidden)]
    pub fn times(mut self, unit: f64) -> Self {
        self.objective = self.objective.times(unit);
        self.scale *= unit;
        self.trace.times(unit);
        for stage in &mut self.stages {
            stage.objective *= unit;
            stage.splitting = stage.splitting.map(|splitting| splitting.times(unit));
        }
        self.splitting = self.splitting.map(|splitting| splitting.times(unit));
        for (name, setting) in &mut self.settings {
            let own = name.rsplit('.').next().unwrap_or_default();
            if let Setting::Real(value) = setting
                && OF_F.contains(&own)
            {
                *value *= unit;
            }
        }
        if let Some(raw) = &mut self.raw {
            raw.objective *= unit;
        }
        if let Some(search) = &mut self.search {
            search.times(unit);
        }
        self.proof = self.proof.map(|proof| Box::new(proof.times(unit)));
        self
    }

    /// Takes another X, without the entries that are rounding, and what is known of it.
    #[doc(hidden)]
    pub fn take<P: Evaluate>(&mut self, problem: &P, x: RowMat) {
        let x = problem.cleaned(&x).unwrap_or(x);
        self.objective = problem.objective(&x);
        self.scale = problem.scale(&x);
        self.feasibility = problem.feasibility(&x);
        self.nonneg_violation = problem.nonneg_violation(&x);
        self.nnz = count_nonzeros(&x);
        self.x = x;
    }
}

/// The best point found and what is known of it.
#[derive(Clone, Debug)]
pub struct Solution {
    /// X (n × r), XᵀX = I to rounding.
    pub x: RowMat,
    /// F(X) and its parts, evaluated afresh at `x`.
    pub objective: Objective,
    /// The scale of F ([`Evaluate::scale`](crate::objective::Evaluate::scale)): tolerances are relative to it plus |F|.
    pub scale: f64,
    /// ‖XᵀX − I‖_F.
    pub feasibility: f64,
    /// ‖min(0, X)‖_F where the problem asks for X ≥ 0.
    pub nonneg_violation: Option<f64>,
    /// Number of entries of `x` that are not zero.
    pub nnz: usize,
    /// Status at the end of the run.
    pub status: Status,
    /// The status as a sentence.
    pub message: String,
    /// Iterations (OBCD: pairs tried, or rounds of blocks).
    pub iterations: u64,
    /// Seconds in the solver, data preparation excluded.
    pub seconds: f64,
    /// Convergence curve.
    pub trace: Trace,
    /// The seed all random choices came from.
    pub seed: u64,
    /// Name of the solver; those of a chain are joined by `+`.
    pub solver: String,
    /// The stages of the start that led to X: one for each solver of a chain.
    pub stages: Vec<Stage>,
    /// Starts that were made.
    pub starts: u64,
    /// The start, from 0, that led to X.
    pub best_start: u64,
    /// The two points of the last splitting method, if there is one.
    pub splitting: Option<Splitting>,
    /// Settings and counters, for display: everything of them that means something is a field.
    pub settings: Settings,
    /// The last infeasible iterate, of methods that have one.
    pub raw: Option<Raw>,
    /// Faults that did not end the run: later starts or stages that failed.
    pub notes: Vec<Message>,
    /// Report of the search, if there was one.
    pub search: Option<SearchReport>,
    /// The bound that a run has computed on its own, which proves that X is a global minimum.
    pub proof: Option<Box<Bound>>,
}
