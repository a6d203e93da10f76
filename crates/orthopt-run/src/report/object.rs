//! A report as one object for other programs; its fields are a contract.

use serde::{Serialize, Serializer};

use super::{Assessment, Checks, DataFacts, Global, Report, Stability, Task};
use crate::family::Scree;
use orthopt_bound::Bound;
use orthopt_core::certify::{BlockReport, Certificate};
use orthopt_core::options::Given;
use orthopt_core::problem::{Cardinality, ExplainedVariance};
use orthopt_core::solve::{Raw, SearchReport, Settings, Status, Stopping};
use orthopt_linalg::message::{Hint, Message};
use orthopt_linalg::threads;

/// Version of the fields; increases when a field changes its meaning or is removed.
pub const SCHEMA: u32 = 1;

/// A [`Report`] with its messages worded, ready to be written.
#[derive(Clone, Debug, Serialize)]
pub struct Object<'a> {
    schema: u32,
    title: &'a str,
    problem: &'a str,
    data: &'a DataFacts,
    rank: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    scree: Option<&'a Scree>,
    lambda: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<&'a Cardinality>,
    solver: &'a str,
    #[serde(skip_serializing_if = "Given::is_empty")]
    constants: &'a Given,
    settings: &'a Settings,
    start: &'a str,
    starts: u64,
    reasons: Vec<String>,
    notes: Vec<String>,
    stopping: Stopping,
    seed: u64,
    threads: usize,
    status: Status,
    message: &'a str,
    objective: f64,
    smooth: f64,
    nonsmooth: f64,
    nnz: usize,
    components: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explained_variance: Option<&'a ExplainedVariance>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pca_share: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    optimum: Option<f64>,
    feasibility: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    relative_feasibility: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<Raw>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonneg_violation: Option<f64>,
    criticality: Option<f64>,
    iterations: u64,
    seconds: f64,
    certificate: Option<Certificate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<&'a SearchReport>,
    bound: Option<f64>,
    gap: Option<f64>,
    proof: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stability: Option<&'a Stability>,
}

impl Report {
    /// The object, with options spelt by `word`.
    pub fn object(&self, word: impl Fn(&Hint) -> String) -> Object<'_> {
        let (s, task) = (&self.solution, &self.task);
        let worded = |list: &[Message]| list.iter().map(|m| m.worded(&word)).collect();
        let read = task
            .data
            .table
            .as_ref()
            .map(|table| Message::from(format!("the table was read as {}", table.read)));
        let notes: Vec<Message> =
            read.into_iter().chain(task.notes.clone()).chain(self.notes.clone()).collect();
        Object {
            schema: SCHEMA,
            title: &task.title,
            problem: task.problem.name,
            data: &task.data,
            rank: task.rank,
            scree: task.scree.as_deref(),
            lambda: task.lambda,
            k: task.k,
            limits: task.limits.as_ref(),
            constants: &self.constants,
            solver: &self.solver,
            settings: &s.settings,
            start: &self.start,
            starts: s.starts,
            reasons: worded(&self.reasons),
            notes: worded(&notes),
            stopping: self.stopping,
            seed: s.seed,
            threads: self.threads,
            status: s.status,
            message: &s.message,
            objective: s.objective.total,
            smooth: s.objective.smooth,
            nonsmooth: s.objective.nonsmooth,
            nnz: s.nnz,
            components: self.nonzeros(),
            explained_variance: self.explained_variance.as_ref(),
            pca_share: self.pca_share,
            optimum: self.optimum,
            feasibility: s.feasibility,
            relative_feasibility: self.relative_feasibility,
            raw: s.raw,
            nonneg_violation: s.nonneg_violation,
            criticality: self.checks.criticality,
            iterations: s.iterations,
            seconds: s.seconds,
            certificate: self.checks.certificate,
            search: s.search.as_ref(),
            bound: self.global.as_ref().map(|g| g.bound),
            gap: self.global.as_ref().and_then(|g| g.gap),
            proof: self.global.as_ref().and_then(|g| g.proof),
            stability: self.stability.as_ref(),
        }
    }
}

impl Serialize for Report {
    /// The [`Object`] in the wording of the library.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.object(Hint::to_string).serialize(serializer)
    }
}

/// The object of `bound`.
#[derive(Clone, Debug, Serialize)]
pub struct BoundObject<'a> {
    schema: u32,
    title: &'a str,
    problem: &'a str,
    data: &'a DataFacts,
    rank: usize,
    lambda: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limits: Option<&'a Cardinality>,
    incumbent: String,
    reasons: Vec<String>,
    #[serde(flatten)]
    global: Global,
    relaxation: f64, // the bound that the dual matrix proves
    threads: usize,
}

impl<'a> BoundObject<'a> {
    /// That of a bound; `incumbent` says where its X comes from, and options are spelt by `word`.
    pub fn new(task: &'a Task, found: &Bound, incumbent: String, word: impl Fn(&Hint) -> String) -> Self {
        Self {
            schema: SCHEMA,
            title: &task.title,
            problem: task.problem.name,
            data: &task.data,
            rank: task.rank,
            lambda: task.lambda,
            limits: task.limits.as_ref(),
            incumbent,
            reasons: task.reasons.iter().map(|m| m.worded(&word)).collect(),
            global: Global::of(found),
            relaxation: found.relaxation.bound,
            threads: threads::count(),
        }
    }
}

/// The object of `certify`.
#[derive(Clone, Debug, Serialize)]
pub struct CheckObject<'a> {
    schema: u32,
    problem: &'a str,
    data: &'a DataFacts,
    /// Source of X.
    pub x: String,
    rank: usize,
    lambda: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<usize>,
    reasons: Vec<String>,
    objective: f64,
    smooth: f64,
    nonsmooth: f64,
    nnz: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    explained_variance: Option<&'a ExplainedVariance>,
    feasibility: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    relative_feasibility: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonneg_violation: Option<f64>,
    criticality: Option<f64>,
    certificate: Option<Certificate>,
    /// Blocks of more rows than two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<BlockReport>,
    tolerance: f64,
    certified: bool,
    /// The certificate in words.
    pub verdict: String,
    bound: Option<f64>,
    gap: Option<f64>,
    proof: Option<&'static str>,
}

impl<'a> CheckObject<'a> {
    /// That of an X that is given, with a bound where there is one; options are spelt by `word`.
    pub fn new(
        task: &'a Task,
        found: &'a Assessment,
        checks: &Checks,
        global: Option<&Global>,
        word: impl Fn(&Hint) -> String,
    ) -> Self {
        let certificate = checks.certificate;
        Self {
            schema: SCHEMA,
            problem: task.problem.name,
            data: &task.data,
            x: String::new(),
            rank: task.rank,
            lambda: task.lambda,
            k: task.k,
            reasons: task.reasons.iter().map(|m| m.worded(&word)).collect(),
            objective: found.objective.total,
            smooth: found.objective.smooth,
            nonsmooth: found.objective.nonsmooth,
            nnz: found.nnz,
            explained_variance: found.explained_variance.as_ref(),
            feasibility: found.feasibility,
            relative_feasibility: found.relative_feasibility,
            nonneg_violation: found.nonneg_violation,
            criticality: checks.criticality,
            certificate,
            blocks: None,
            tolerance: found.tolerance,
            certified: certificate.is_some_and(|c| c.holds(found.tolerance)),
            verdict: String::new(),
            bound: global.map(|g| g.bound),
            gap: global.and_then(|g| g.gap),
            proof: global.and_then(|g| g.proof),
        }
    }
}
