//! What the options of `solve` mean: checked, with defaults filled in.

use std::path::{Path, PathBuf};

use anyhow::Context;

use orthopt::certify::Scope;
use orthopt::family::LinearInput;
use orthopt::family::Wanted;
use orthopt::family::{Between, PoseOptions, all_starts, check_solvers};
use orthopt::family::{ProblemInfo, find_problem};
use orthopt::linear_map::{AnyMap, LeftMatrix};
use orthopt::pair::step::Model;
use orthopt::problem::Storage;
use orthopt::search::Effort;
use orthopt::smooth::{Measure, Order, Placement};
use orthopt::solve::Stopping;
use orthopt::solvers::AUTO;
use orthopt::solvers::jobcd::Side;
use orthopt::solvers::obcd::{Candidates, Obcd, ObcdOptions, WorkingSet};
use orthopt::start::Start;

use crate::export::{Output, What};
use crate::failure::usage;
use crate::input::{DataRequest, read_x, short_text};
use crate::limits::limit;
use crate::options::SolveOptions;

/// Everything `solve` and `compare` need to know.
#[derive(Clone, Debug)]
pub struct Settings {
    pub problem: &'static ProblemInfo,
    pub data: DataRequest,
    pub pose: PoseOptions,
    pub init: Option<Init>,
    /// What the user fixed; the start is filled in from `init`.
    pub wanted: Wanted,
    pub restarts: Option<u64>,
    pub threads: Option<usize>,
    pub stopping: Stopping,
    pub certify: Option<Scope>,
    /// Seconds for a global bound.
    pub bound: Option<f64>,
    pub top: usize,
    pub json: Option<PathBuf>,
    pub outputs: Vec<Output>,
    pub quiet: bool,
}

/// A starting point by name or in a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    Named(String),
    File(PathBuf),
}

impl Settings {
    /// Checks `options` without looking at the data, and fills defaults into `options` itself,
    /// so that they can be printed.
    ///
    /// # Errors
    /// A value that makes no sense; exit code 2.
    pub fn resolve(options: &mut SolveOptions) -> anyhow::Result<Self> {
        let solver = options.solver.get_or_insert_with(|| "auto".into());
        let solver = (solver != AUTO.0).then(|| solver.clone());
        solver.as_deref().map_or(Ok(()), check_solvers)?;
        let stopping = Stopping {
            max_iters: options.max_iters.map(|n| at_least_one("max-iters", n)).transpose()?,
            time_limit: options.time_limit.map(|s| at_least_zero("time-limit", s)).transpose()?,
            tol: at_least_zero("tol", *options.tol.get_or_insert(1e-9))?,
            min_decrease: at_least_zero("min-decrease", *options.min_decrease.get_or_insert(0.0))?,
        };
        let seed = *options.seed.get_or_insert(0);
        let quiet = *options.quiet.get_or_insert(false);
        Ok(Self {
            problem: problem(options.problem.as_deref())?,
            data: DataRequest::new(options)?,
            pose: pose_options(options)?,
            init: options.init.as_deref().map(parse_init).transpose()?,
            wanted: Wanted { solver, ..wanted(options, seed)? },
            restarts: options.restarts,
            threads: options
                .threads
                .map(|n| at_least_one("threads", n as u64).map(|n| n as usize))
                .transpose()?,
            stopping,
            bound: options.bound.map(|s| at_least_zero("bound", s)).transpose()?,
            certify: scope(options, seed)?,
            top: *options.top.get_or_insert(5),
            json: options.json.clone(),
            outputs: outputs(options)?,
            quiet,
        })
    }
}

impl Settings {
    /// With a number of nonzeros from the data, where nothing says how sparse X is to be and how it is found.
    pub fn or_counts(mut self) -> Self {
        if self.init.is_none() {
            self.pose = self.pose.or_counts(self.problem, &self.wanted);
        }
        self
    }
}

fn problem(name: Option<&str>) -> anyhow::Result<&'static ProblemInfo> {
    match name {
        Some(name) => Ok(find_problem(name)?),
        None => Err(usage(
            "PROBLEM is missing: orthopt solve PROBLEM DATA; `orthopt list problems` shows what there is",
        )),
    }
}

/// What the problem needs besides its data.
///
/// # Errors
/// A value that makes no sense, a file that cannot be read.
pub fn pose_options(options: &mut SolveOptions) -> anyhow::Result<PoseOptions> {
    let storage = Storage::parse(options.storage.get_or_insert_with(|| "auto".into()))?;
    if let Some(lambda) = options.lambda {
        at_least_zero("lambda", lambda)?;
    }
    Ok(PoseOptions {
        rank: options.rank,
        lambda: options.lambda,
        relative_lambda: options.relative_lambda,
        storage,
        penalty: options.penalty.clone(),
        shape: options.constants.parse()?.1,
        k: options.k,
        map: options.map.as_deref().map(linear_map).transpose()?,
        signature: options.signature.as_deref().map(signature).transpose()?,
        ridge: at_least_zero("ridge", options.ridge.unwrap_or(0.0))?,
        reproduction: options.reproduction.unwrap_or(false),
        distances: options.distances.as_deref().map(|path| read_x("--distances", path)).transpose()?,
        radius: options.radius,
        placement: options.placement.as_deref().map(Placement::parse).transpose()?.unwrap_or_default(),
        linear: options.linear.as_deref().map(linear_term).transpose()?,
        limit: limit(options)?,
        between: options.constraint.as_deref().map(Between::parse).transpose()?.unwrap_or_default(),
        maximise: options.maximise.as_deref().map(Measure::parse).transpose()?.unwrap_or_default(),
        order: options.order.as_deref().map(Order::parse).transpose()?.unwrap_or_default(),
        min_nonzeros: options.min_nonzeros,
        max_nonzeros: options.max_nonzeros,
        max_memory: Some(options.max_memory.map_or_else(orthopt_data::default_memory, |size| size.0)),
    })
}

/// A map by name, or the matrix B of A(X) = BX in a file.
fn linear_map(text: &str) -> anyhow::Result<AnyMap> {
    match AnyMap::parse(text) {
        Ok(map) => Ok(map),
        Err(orthopt::Error::UnknownName { .. }) if Path::new(text).extension().is_some() => {
            let b = read_x("--map", Path::new(text))?;
            Ok(AnyMap::Left(LeftMatrix::new(b.as_mat()).context("--map")?))
        }
        Err(error) => Err(anyhow::Error::from(error).context("--map: no map, and no file name (FILE.npy)")),
    }
}

/// Normal numbers, or E in a file.
fn linear_term(text: &str) -> anyhow::Result<LinearInput> {
    match LinearInput::parse(text) {
        Some(term) => Ok(term.context("--linear")?),
        None => Ok(LinearInput::Given(read_x("--linear", Path::new(text))?)),
    }
}

/// P or a share as it is, or the signs in a file.
fn signature(text: &str) -> anyhow::Result<String> {
    if text.trim().parse::<f64>().is_ok() {
        return Ok(text.into());
    }
    short_text(Path::new(text)).with_context(|| format!("--signature: `{text}` is no number and no file"))
}

/// The name of a start, or else of a file that has an extension or exists.
fn parse_init(text: &str) -> anyhow::Result<Init> {
    let known = all_starts().iter().any(|start| start.0 == text);
    match Start::parse(text) {
        _ if known => Ok(Init::Named(text.into())),
        Ok(_) => Ok(Init::Named(text.into())),
        Err(_) if Path::new(text).extension().is_some() || Path::new(text).exists() => {
            Ok(Init::File(text.into()))
        }
        Err(error) => Err(error.into()),
    }
}

fn wanted(options: &SolveOptions, seed: u64) -> anyhow::Result<Wanted> {
    let wanted = Wanted {
        working_set: options.working_set.as_deref().map(WorkingSet::parse).transpose()?,
        block: options.block,
        model: options.model.as_deref().map(Model::parse).transpose()?,
        side: options.side.as_deref().map(Side::parse).transpose()?,
        alpha: options.alpha,
        candidates: options.candidates.as_deref().map(parse_candidates).transpose()?,
        jacobi: options.jacobi.unwrap_or(false),
        tol: options.tol,
        seed,
        constants: options.constants.parse()?.0,
        effort: options.effort.as_deref().map(Effort::parse).transpose()?,
        ..Default::default()
    };
    // The solver checks its options; doing it now spares reading the data first.
    let defaults = ObcdOptions::default();
    Obcd::new(ObcdOptions {
        block: wanted.block.unwrap_or(defaults.block),
        alpha: wanted.alpha.unwrap_or(defaults.alpha),
        candidates: wanted.candidates,
        ..defaults
    })?;
    Ok(wanted)
}

fn parse_candidates(text: &str) -> anyhow::Result<Candidates> {
    match text {
        "all" => Ok(Candidates::All),
        _ => text
            .parse()
            .map(Candidates::Sample)
            .map_err(|_| invalid("candidates", text, "a number of pairs, or all")),
    }
}

fn scope(options: &SolveOptions, seed: u64) -> anyhow::Result<Option<Scope>> {
    Ok(match options.certify_sample {
        // --certify=false in front of a sample from a config file switches it off
        _ if options.certify == Some(false) => None,
        Some(pairs) => Some(Scope::Sample { pairs: at_least_one("certify-sample", pairs)?, seed }),
        None => (options.certify == Some(true)).then_some(Scope::All),
    })
}

/// The files that are made of a result, where they are wanted.
pub fn asked(options: &SolveOptions) -> [(What, Option<&Path>); 10] {
    let asked = [
        (What::X, &options.save_x),
        (What::Loadings, &options.save_loadings),
        (What::Scores, &options.save_scores),
        (What::Trace, &options.trace),
        (What::Plot, &options.plot),
        (What::PlotLoadings, &options.plot_loadings),
        (What::PlotScores, &options.plot_scores),
        (What::PlotBiplot, &options.plot_biplot),
        (What::PlotVariance, &options.plot_variance),
        (What::Report, &options.report),
    ];
    asked.map(|(what, path)| (what, path.as_deref()))
}

fn outputs(options: &SolveOptions) -> anyhow::Result<Vec<Output>> {
    asked(options).into_iter().filter_map(|(what, path)| Some(Output::new(what, path?))).collect()
}

/// `value`, unless it is negative or NaN.
pub fn at_least_zero(option: &str, value: f64) -> anyhow::Result<f64> {
    if value >= 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(invalid(option, &value.to_string(), "a finite number >= 0"))
    }
}

/// `value`, unless it is 0.
pub fn at_least_one(option: &str, value: u64) -> anyhow::Result<u64> {
    if value >= 1 { Ok(value) } else { Err(invalid(option, "0", "a whole number >= 1")) }
}

fn invalid(option: &str, value: &str, expected: &str) -> anyhow::Error {
    orthopt::Error::InvalidOption { option: option.into(), value: value.into(), expected: expected.into() }
        .into()
}
