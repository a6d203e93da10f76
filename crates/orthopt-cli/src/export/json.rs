//! The result as one JSON object; its fields are a contract with other programs.

use std::path::Path;

use orthopt::certify::Certificate;
use orthopt::options::Given;
use orthopt::problem::ExplainedVariance;
use orthopt::solve::{Raw, Settings, Status};
use serde::Serialize;

use super::to_file;
use crate::input::DataInfo;
use crate::output;
use crate::report::Report;
use orthopt::solve::Stopping;

/// Version of the fields; grows when a field changes its meaning or goes.
pub const SCHEMA: u32 = 1;

/// Writes `value` to the file, or to stdout for `-`.
pub fn write(value: &impl Serialize, path: &Path) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(value)? + "\n";
    if path == Path::new("-") {
        return output::print(&text);
    }
    to_file(path, |out| out.write_all(text.as_bytes()))
}

/// The object for a run of `solve`.
#[derive(Debug, Serialize)]
pub struct SolveObject<'a> {
    schema: u32,
    problem: &'a str,
    data: &'a DataInfo,
    rank: usize,
    lambda: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<usize>,
    solver: &'a str,
    #[serde(skip_serializing_if = "Given::is_empty")]
    constants: &'a Given,
    settings: &'a Settings,
    start: &'a str,
    reasons: &'a [String],
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
}

impl<'a> From<&'a Report> for SolveObject<'a> {
    fn from(report: &'a Report) -> Self {
        let s = &report.solution;
        Self {
            schema: SCHEMA,
            problem: report.problem.name,
            data: &report.data,
            rank: report.rank,
            lambda: report.lambda,
            k: report.k,
            constants: &report.constants,
            solver: &s.solver,
            settings: &s.settings,
            start: &report.start,
            reasons: &report.reasons,
            stopping: report.stopping,
            seed: s.seed,
            threads: report.threads,
            status: s.status,
            message: &s.message,
            objective: s.objective.total,
            smooth: s.objective.smooth,
            nonsmooth: s.objective.nonsmooth,
            nnz: s.nnz,
            components: report.nonzeros(),
            explained_variance: report.explained.as_ref(),
            optimum: report.optimum,
            feasibility: s.feasibility,
            relative_feasibility: report.relative_feasibility,
            raw: s.raw,
            nonneg_violation: s.nonneg_violation,
            criticality: report.checks.criticality,
            iterations: s.iterations,
            seconds: s.seconds,
            certificate: report.checks.certificate,
        }
    }
}
