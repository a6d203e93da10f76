//! `orthopt solve PROBLEM DATA`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Context;
use orthopt::auto::{self, Plan, Wanted};
use orthopt::problem::{AnyProblem, explained_variance, order_components};
use orthopt::solve::{Interrupt, Observer, RunOptions, Setting, Solution, run_restarts};
use orthopt::solvers::obcd::WorkingSet;
use orthopt::start::Start;

use crate::export::json::{self, SolveObject};
use crate::failure::{code_of, say, usage};
use crate::input::{Input, check_rows, read_x};
use crate::options::SolveOptions;
use crate::pose::pose;
use crate::progress::Progress;
use crate::report::{Checks, Report};
use crate::settings::{DEFAULT_RANK, Init, Settings};
use crate::summary::Summary;
use crate::{config, interrupt, output};

const EXAMPLES: &str = "\
Examples:
  A first look, three sparse components of a built-in table:
    orthopt solve l0-pca builtin:pitprops -r 3 --lambda 0.1 --certify
  Samples in a file, centred; X and the whole result as files:
    orthopt solve l1-pca data.csv --center -r 5 --lambda 2 --save-x x.npy --json result.json
  Sparse data, a limit in seconds, the convergence curve as a picture:
    orthopt solve l0-pca data.svm.gz -r 10 --lambda 5 --time-limit 10 --plot curve.svg
  The settings of a run as a file, and the same run again with another seed:
    orthopt solve nonneg-pca data.mtx -r 4 --print-config > run.toml
    orthopt solve --config run.toml --seed 1";

/// Find X: minimise F(X) = -1/2 <X, CX> + h(X) over the n x r matrices X with X'X = I
///
/// Prints a summary to stdout. Exit codes: 0 finished, 1 invalid data or a file that cannot be
/// written, 2 usage, 4 numerical breakdown, 130 interrupted (what was found is still written).
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "orthopt solve [OPTIONS] PROBLEM DATA\n       orthopt solve [OPTIONS] PROBLEM --gram FILE",
    after_help = EXAMPLES
)]
pub struct Args {
    #[command(flatten)]
    options: SolveOptions,

    /// Read options from a TOML file; what is typed overrides it
    #[arg(long, value_name = "FILE.toml", help_heading = "Configuration", value_hint = clap::ValueHint::FilePath)]
    config: Option<PathBuf>,

    /// Print the options in effect as a config file and stop
    #[arg(long, help_heading = "Configuration")]
    print_config: bool,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut options = match &args.config {
        Some(path) => config::merge(&args.options, path)?,
        None => args.options,
    };
    let settings = Settings::resolve(&mut options);
    let settings = match &args.config {
        Some(path) => settings.with_context(|| format!("with {}", path.display()))?,
        None => settings?,
    };
    if args.print_config {
        output::print(&config::print(&options)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    solve(&settings)
}

fn solve(settings: &Settings) -> anyhow::Result<ExitCode> {
    use_threads(settings.threads)?;
    let mut progress = Progress::new(settings.quiet, settings.stopping);
    progress.stage(format!("reading {}", settings.data.source));
    let input = Input::load(&settings.data)?;
    let rank = settings.rank.unwrap_or(DEFAULT_RANK.min(input.info.cols));
    progress.stage("setting up the problem");
    let posed = pose(settings.problem, input, rank, settings.lambda, settings.storage)?;
    progress.stage("choosing the starting point");
    let plan = plan(settings, &posed.problem)?;
    for note in posed.notes.iter().chain(&unused(settings, &plan)) {
        progress.note(note);
    }

    interrupt::install()?; // from here on there is something to lose
    progress.run_begins();
    let solution = minimise(settings, &posed.problem, &plan, &mut progress)?;
    let problem = Arc::new(posed.problem);
    let report = Report {
        problem: posed.info,
        data: posed.data,
        rank,
        lambda: posed.lambda,
        start: best_start(&plan, &solution),
        reasons: [default_rank(settings, rank), posed.reasons, plan.reasons].concat(),
        stopping: settings.stopping,
        threads: rayon::current_num_threads(),
        explained: explained_variance(&problem.f, &solution.x),
        solution,
        checks: Checks::default(),
    };
    Ok(publish(settings, &problem, report, &progress))
}

fn use_threads(threads: Option<usize>) -> anyhow::Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|error| usage(format!("cannot start {threads} threads: {error}")))
}

fn plan(settings: &Settings, problem: &AnyProblem) -> anyhow::Result<Plan> {
    let start = match &settings.init {
        None => None,
        Some(Init::Named(start)) => Some(start.clone()),
        Some(Init::File(path)) => {
            let x = read_x("--init", path)?;
            check_rows("--init", &x, problem.nrows())?;
            Some(Start::Given(x))
        }
    };
    let wanted = Wanted { start, ..settings.wanted.clone() };
    let mut plan = auto::plan(problem, &wanted)?;
    if settings.restarts.is_none() && settings.stopping.time_limit.is_some() {
        let sentence =
            "starts again with other seeds while there is time; the best X counts (--restarts 0: one start)";
        plan.reasons.push(sentence.into());
    } else if by_effort(settings) {
        let names: Vec<_> = plan.starts.iter().map(Start::name).collect();
        let (names, effort) = (names.join(", "), AUTO_EFFORT / 1_000_000);
        plan.reasons.push(format!(
            "one run each from {names}, and more while under {effort} million iterations; the best X counts (--restarts)"
        ));
    }
    Ok(plan)
}

/// Options that were given and do nothing.
fn unused(settings: &Settings, plan: &Plan) -> Option<String> {
    let greedy = matches!(plan.options.obcd.working_set, WorkingSet::GreedySv | WorkingSet::GreedyOr);
    (settings.wanted.candidates.is_some() && !greedy).then(|| {
        let rule = plan.options.obcd.working_set.name();
        format!("--candidates is for the greedy working sets; {rule} ignores it")
    })
}

/// Name of the starting point that led to the best X.
fn best_start(plan: &Plan, solution: &Solution) -> String {
    let best = match solution.settings.get("best_start") {
        Some(Setting::Int(k)) => *k as usize,
        _ => 0,
    };
    plan.starts[best % plan.starts.len()].name().into()
}

fn default_rank(settings: &Settings, rank: usize) -> Vec<String> {
    let sentence = format!("rank {rank}: {DEFAULT_RANK}, or all columns if there are fewer");
    if settings.rank.is_none() { vec![sentence] } else { Vec::new() }
}

/// Iterations that auto spends at least when neither time nor restarts are given: about a second.
const AUTO_EFFORT: u64 = 2_000_000;

/// Whether auto decides how many starts to make.
fn by_effort(settings: &Settings) -> bool {
    settings.automatic && settings.restarts.is_none() && settings.stopping.time_limit.is_none()
}

fn minimise(
    settings: &Settings,
    problem: &AnyProblem,
    plan: &Plan,
    progress: &mut Progress,
) -> anyhow::Result<Solution> {
    let options = RunOptions {
        max_iterations: settings.stopping.max_iters,
        seed: settings.wanted.seed,
        restarts: settings.restarts.unwrap_or(match settings.stopping.time_limit {
            Some(_) => u64::MAX,
            None => plan.starts.len() as u64 - 1,
        }),
        effort: if by_effort(settings) { AUTO_EFFORT } else { 0 },
        stage_seconds: settings.stopping.time_limit.map(|limit| limit / plan.solvers.len() as f64),
    };
    let mut stop = settings.stopping.criteria();
    let mut interrupted = Interrupt(interrupt::asked());
    let observers: &mut [&mut dyn Observer] = &mut [progress, &mut interrupted];
    let mut solution = run_restarts(problem, |k| plan.start(problem, k), options, &mut stop, observers)?;
    order_components(problem, &mut solution);
    Ok(solution)
}

/// Files first, so that nothing computed can be lost; then the summary, the checks and the JSON.
/// What cannot be written is said at the end.
fn publish(
    settings: &Settings,
    problem: &Arc<AnyProblem>,
    mut report: Report,
    progress: &Progress,
) -> ExitCode {
    let mut failures: Vec<anyhow::Error> =
        settings.outputs.iter().filter_map(|output| output.write(&report).err()).collect();
    let summary_wanted = settings.json.as_deref() != Some(Path::new("-"));
    let mut summary = Summary::default();
    let mut show = |summary: &mut Summary| {
        if summary_wanted {
            failures.extend(progress.suspend(|| output::print(&summary.take())).err());
        }
    };

    summary.result(&report, settings.top);
    show(&mut summary);
    let x = &report.solution.x;
    if settings.certify.is_some() || settings.json.is_some() {
        progress.stage("measuring criticality");
        report.checks.measure_criticality(problem, x);
    }
    if let Some(scope) = settings.certify {
        progress.stage("checking pairs of rows");
        report.checks.certify(problem, x, scope);
        summary.checks(&report.checks, settings.stopping.tolerance(report.solution.objective.total));
    }
    progress.clear();
    show(&mut summary);
    if let Some(path) = &settings.json {
        failures.extend(json::write(&SolveObject::from(&report), path).err());
    }

    failures.iter().for_each(|failure| say("error", &format!("{failure:#}")));
    ExitCode::from(match report.solution.status {
        _ if !failures.is_empty() => 1,
        _ if interrupt::asked().load(Ordering::Relaxed) => 130,
        status => code_of(status),
    })
}
