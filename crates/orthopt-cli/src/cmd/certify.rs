//! `orthopt certify PROBLEM DATA --x X.npy`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::ValueHint;
use orthopt::certify::{BlockReport, Certificate, Scope};
use orthopt::family::{Call, Family, Kind, PoseOptions, find_problem};
use orthopt::linalg::RowMat;
use orthopt::problem::ExplainedVariance;
use orthopt::report::{Assessment, Checks, DataFacts, Global, Measures, SCHEMA, Task};
use orthopt::solve::Stopping;
use orthopt::with_family;
use serde::Serialize;

use crate::blocks::Blocks;
use crate::configured::Help;
use crate::constants::Constants;
use crate::export::json;
use crate::failure::{EXIT_CODES, say};
use crate::files::Files;
use crate::given::Asked;
use crate::global::{self, Effort};
use crate::input::{DataRequest, Input, check_rows, keeps_sparse, missing, one_source, prepare, read_x};
use crate::limits::Counts;
use crate::options::SolveOptions;
use crate::pose::{pose, remark_on_counts, remark_on_tiny_entries};
use crate::progress::Progress;
use crate::run::checks;
use crate::settings::{at_least_one, at_least_zero, pose_options};
use crate::size::Size;
use crate::streamed::Stream;
use crate::summary::{Summary, verdict};
use crate::wording::said;
use crate::{blocks, interrupt, options, output};

const EXAMPLES: &str = "\
Examples:
  orthopt certify l0-pca builtin:pitprops --x x.npy --lambda 0.1
  orthopt certify nonneg-pca data.svm.gz --center --x x.npy --sample 100000
  orthopt certify l0-pca builtin:pitprops --x x.npy --lambda 0.1 --blocks 3
  orthopt certify l0-pca builtin:pitprops --x x.npy --lambda 0.1 --global 30";

/// Say what kind of point a given X is: feasibility, criticality, block-2 stationarity, what larger blocks of
/// rows offer, distance from the global minimum
///
/// The data must be prepared as they were when X was found (--center, --scale, --covariance,
/// --features, --missing).
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "orthopt certify [OPTIONS] PROBLEM DATA --x X.npy\n       orthopt certify [OPTIONS] PROBLEM --gram FILE --x X.npy",
    after_help = EXAMPLES,
    after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"),
    disable_help_flag = true
)]
pub struct Args {
    #[command(flatten)]
    help: Help,

    /// What X is meant to solve
    #[arg(value_name = "PROBLEM", value_parser = options::problems())]
    problem: String,

    /// The samples, as for solve
    #[arg(value_name = "DATA", value_hint = ValueHint::FilePath)]
    data: Option<PathBuf>,

    /// X, n x r with X'X = I to 1e-6; r is the rank
    #[arg(long, value_name = "X.npy", value_hint = ValueHint::FilePath)]
    x: PathBuf,

    /// lambda >= 0, the weight of the penalty h [default: as for solve with --solver]
    #[arg(long, value_name = "LAMBDA", allow_hyphen_values = true)]
    lambda: Option<f64>,

    /// Another penalty for a PCA problem, as for solve
    #[arg(long, value_name = "NAME")]
    penalty: Option<String>,

    /// At most K nonzeros in each component (K1,K2,...), as for solve
    #[arg(long, value_name = "K", conflicts_with_all = ["total_nonzeros", "variables"])]
    nonzeros: Option<Counts>,

    /// At most K nonzeros in all components together, as for solve
    #[arg(long, value_name = "K", conflicts_with = "variables")]
    total_nonzeros: Option<usize>,

    /// At most K variables for all components together, each of them LAMBDA, as for solve
    #[arg(long, value_name = "K")]
    variables: Option<usize>,

    /// orthogonal or uncorrelated components, as for solve
    #[arg(long, value_name = "NAME")]
    constraint: Option<String>,

    /// k of dc-pca and of --penalty l1-largest-k, as for solve
    #[arg(long, value_name = "K")]
    k: Option<usize>,

    /// A in h(A(X)), as for solve
    #[arg(long, value_name = "MAP|FILE.npy")]
    map: Option<String>,

    /// J of X'JX = J: P ones and then minus ones, or a file with one sign per variable
    #[arg(long, value_name = "P|FILE")]
    signature: Option<String>,

    /// Add R * tr(C)/n to the diagonal of C (hyperbolic-eig)
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    ridge: Option<f64>,

    /// hyperbolic-eig as the paper prints it, as for solve
    #[arg(long)]
    reproduction: bool,

    /// Distances of probe, as for solve
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    distances: Option<PathBuf>,

    /// Radius of probe, as for solve
    #[arg(long, value_name = "RADIUS", allow_hyphen_values = true)]
    radius: Option<f64>,

    /// Where phi of probe stands, as for solve
    #[arg(long, value_name = "WHERE", value_parser = options::placements(), hide_possible_values = true)]
    placement: Option<String>,

    /// E of nonlinear-eig, as for solve
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    linear: Option<String>,

    #[command(flatten)]
    constants: Constants,

    /// Check so many random pairs of rows instead of all
    #[arg(long, value_name = "PAIRS")]
    sample: Option<u64>,

    /// Seed of the samples
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    blocks: Blocks,

    /// A decrease of F up to TOL * (scale + |F|) counts as none, scale half the variance of the r largest variables
    #[arg(long, value_name = "TOL", default_value_t = 1e-9, allow_hyphen_values = true)]
    tol: f64,

    /// Bound F over all feasible X too, and say how far this X is from the minimum [default: 60 seconds]
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "60", hide_default_value = true)]
    global: Option<f64>,

    /// Write the result as JSON; - is stdout, without the text
    #[arg(long, value_name = "FILE|-", value_hint = ValueHint::FilePath)]
    json: Option<PathBuf>,

    /// Give C itself (symmetric, n x n) instead of DATA
    #[arg(long, value_name = "FILE", conflicts_with = "data", help_heading = "Data", value_hint = ValueHint::FilePath)]
    gram: Option<PathBuf>,

    /// Subtract the mean of each column
    #[arg(long, help_heading = "Data")]
    center: bool,

    /// Scale the columns, after centring, as for solve
    #[arg(long, value_name = "HOW", help_heading = "Data")]
    scale: Option<String>,

    /// C = A'A/(m - 1), as for solve
    #[arg(long, help_heading = "Data")]
    covariance: bool,

    /// What is done with missing values, as for solve
    #[arg(long, value_name = "HOW", help_heading = "Data", value_parser = options::missing(), hide_possible_values = true)]
    missing: Option<String>,

    /// Keep the first N columns only
    #[arg(long, value_name = "N", help_heading = "Data")]
    features: Option<usize>,

    /// Refuse data and problems that take more memory, as for solve
    #[arg(long, value_name = "SIZE", help_heading = "Data")]
    max_memory: Option<Size>,

    /// How f keeps the data: dense (forms C), gram (keeps A) or auto
    #[arg(long, value_name = "HOW", help_heading = "Data", default_value = "auto", value_parser = ["auto", "dense", "gram"], hide_possible_values = true)]
    storage: String,
}

/// What is known of X.
#[derive(Debug, Serialize)]
struct Findings {
    schema: u32,
    problem: &'static str,
    data: DataFacts,
    x: String,
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
    explained_variance: Option<ExplainedVariance>,
    feasibility: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    relative_feasibility: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonneg_violation: Option<f64>,
    criticality: Option<f64>,
    certificate: Option<Certificate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<BlockReport>,
    tolerance: f64,
    certified: bool,
    verdict: String,
    bound: Option<f64>,
    gap: Option<f64>,
    proof: Option<&'static str>,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let info = find_problem(&args.problem)?;
    files(&args).check()?;
    at_least_zero("tol", args.tol)?;
    scope(&args)?; // what is wrong is said before any work
    args.blocks.check()?;
    let options = pose_options(&mut problem_options(&args))?;
    let own = [("certify-sample", args.sample.is_some()), ("seed", args.seed != 0)];
    let asked = Asked::new(Call::Certify, &typed(&args))?.and(&own);
    asked.check(info, &options)?;
    let input = Input::load(&data_request(&args)?)?;
    asked.check_data(info, &options, &input)?;
    let n = input.info.cols;
    let given = read_x("--x", &args.x)?;
    check_rows("--x", &given, n)?;
    let options = PoseOptions { rank: Some(given.ncols()), ..options };
    let (mut posed, data) = pose(info, &input, &options)?;
    posed.notes.extend(remark_on_counts(info, &options));
    drop(input);
    let task = Task::new(&posed, data);
    let draws = args.sample.is_some() || args.blocks.are_searched();
    with_family!(&posed.problem, problem => asked.check_x((info, &options), problem, draws))?;
    with_family!(posed.problem, problem => certify(&args, task, problem, given))
}

fn certify<P: Family>(args: &Args, task: Task, problem: P, given: RowMat) -> anyhow::Result<ExitCode> {
    let (path, tol, scope) = (args.x.display().to_string(), at_least_zero("tol", args.tol)?, scope(args)?);
    let seconds = args.global.map(|seconds| at_least_zero("global", seconds)).transpose()?;
    if seconds.is_some() {
        problem.bounded()?; // what has no bound says so before the pairs are checked
    }
    // a bound is below the F of feasible X only
    let assess = if seconds.is_some() { Assessment::repaired } else { Assessment::new };
    let found = assess(&problem, given, "X", tol).with_context(|| path.clone())?;
    task.notes.iter().for_each(|note| say("note", &said(note)));
    remark_on_tiny_entries(&found, &problem);
    let measures = Measures::of(&problem);
    interrupt::keep_results();
    let checks = checks(&problem, &found.x, Some(scope), |stage| tracing::info!("{stage}"));
    let blocks = args.blocks.search(&problem, &found.x, args.seed, found.tolerance)?;
    let shown = args.json.as_deref() != Some(Path::new("-"));
    if shown {
        output::print(&text(&path, &task, &found, &checks, measures))?;
    }
    if let (true, Some(blocks)) = (shown, &blocks) {
        output::print(&blocks::text(blocks, found.tolerance))?;
    }
    let global = seconds.map(|seconds| global(&problem, &found, &checks, seconds)).transpose()?;
    if let (true, Some(global)) = (shown, &global) {
        let mut summary = Summary::default();
        summary.global(global);
        output::print(&summary.take())?;
    }
    if let Some(file) = &args.json {
        let findings = Findings { blocks, ..Findings::new(path, task, found, checks, global.as_ref()) };
        json::write(&findings, file)?;
    }
    Ok(ExitCode::from(if interrupt::asked() { 130 } else { 0 }))
}

fn global<P: Family>(
    problem: &P,
    found: &Assessment,
    checks: &Checks,
    seconds: f64,
) -> anyhow::Result<Global> {
    let stopping = Stopping { max_iters: None, time_limit: Some(seconds), tol: 0.0, min_decrease: 0.0 };
    let progress = Progress::new(false, stopping);
    let bound = global::bound(problem, Some(&found.x), Effort { seconds, nodes: None }, &progress)?;
    progress.clear();
    let global = Global::beside(&bound, found.point())?;
    global.check(checks.certificate.as_ref())?;
    Ok(global)
}

impl Findings {
    fn new(x: String, task: Task, found: Assessment, checks: Checks, global: Option<&Global>) -> Self {
        let certificate = checks.certificate;
        Self {
            schema: SCHEMA,
            problem: task.problem.name,
            data: task.data,
            x,
            rank: task.rank,
            lambda: task.lambda,
            k: task.k,
            reasons: task.reasons.iter().map(said).collect(),
            objective: found.objective.total,
            smooth: found.objective.smooth,
            nonsmooth: found.objective.nonsmooth,
            nnz: found.nnz,
            explained_variance: found.explained_variance,
            feasibility: found.feasibility,
            relative_feasibility: found.relative_feasibility,
            nonneg_violation: found.nonneg_violation,
            criticality: checks.criticality,
            certificate,
            blocks: None,
            tolerance: found.tolerance,
            certified: certificate.is_some_and(|c| c.holds(found.tolerance)),
            verdict: certificate.map_or(String::new(), |c| verdict(&c, found.tolerance)),
            bound: global.map(|g| g.bound),
            gap: global.and_then(|g| g.gap),
            proof: global.and_then(|g| g.proof),
        }
    }
}

/// Everything that `solve` knows as well.
fn typed(args: &Args) -> SolveOptions {
    SolveOptions {
        gram: args.gram.clone(),
        center: Some(args.center),
        scale: args.scale.clone(),
        covariance: Some(args.covariance),
        missing: args.missing.clone(),
        features: args.features,
        json: args.json.clone(),
        ..problem_options(args)
    }
}

/// The options of the problem, which mean what they mean to `solve`.
fn problem_options(args: &Args) -> SolveOptions {
    SolveOptions {
        lambda: args.lambda,
        storage: Some(args.storage.clone()),
        max_memory: args.max_memory,
        penalty: args.penalty.clone(),
        k: args.k,
        nonzeros: args.nonzeros.clone(),
        total_nonzeros: args.total_nonzeros,
        variables: args.variables,
        constraint: args.constraint.clone(),
        map: args.map.clone(),
        signature: args.signature.clone(),
        ridge: args.ridge,
        reproduction: Some(args.reproduction),
        distances: args.distances.clone(),
        radius: args.radius,
        placement: args.placement.clone(),
        linear: args.linear.clone(),
        constants: args.constants.clone(),
        ..Default::default()
    }
}

fn files(args: &Args) -> Files {
    let data = SolveOptions { data: args.data.clone(), gram: args.gram.clone(), ..problem_options(args) };
    Files::of(&data).reads("--x", Some(&args.x)).writes("--json", args.json.as_deref())
}

fn data_request(args: &Args) -> anyhow::Result<DataRequest> {
    let (source, gram) = one_source(args.data.as_deref(), args.gram.as_deref())?;
    let flag = |given: bool| given.then_some(true);
    Ok(DataRequest {
        source,
        gram,
        keep_sparse: keeps_sparse(Some(&args.problem)),
        missing: missing(args.missing.as_deref()),
        max_memory: args.max_memory,
        names: None,
        labels: None,
        prepare: prepare(flag(args.center), args.scale.as_deref(), flag(args.covariance), args.features)?,
        stream: Stream::default(),
    })
}

fn scope(args: &Args) -> anyhow::Result<Scope> {
    match args.sample {
        None => Ok(Scope::All),
        Some(pairs) => Ok(Scope::Sample { pairs: at_least_one("sample", pairs)?, seed: args.seed }),
    }
}

fn text(path: &str, task: &Task, found: &Assessment, checks: &Checks, measures: Measures) -> String {
    let mut summary = Summary::default();
    let (n, r) = (found.x.nrows(), found.x.ncols());
    summary.problem(task);
    summary.reasons(&task.reasons);
    summary.line("X", &format!("{path}, {n} x {r}"));
    summary.gap();
    let has_penalty = task.problem.uses_lambda && task.problem.kind == Kind::Pca;
    let feasibility = (found.feasibility, measures.feasibility);
    let relative = found.relative_feasibility;
    summary.objective(&found.objective, has_penalty, feasibility, relative, found.nonneg_violation);
    summary.line("nonzeros", &format!("{} of {}", found.nnz, n * r));
    summary.checks(checks, measures.criticality, found.tolerance);
    if let Some(c) = &checks.certificate {
        summary.line(
            "mean distance",
            &format!("{:.3e}, of I to the best move of a pair, squared", c.mean_distance),
        );
    }
    summary.take()
}
