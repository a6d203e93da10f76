//! `orthopt certify PROBLEM DATA --x X.npy`.

use std::path::PathBuf;

use anyhow::Context;
use clap::ValueHint;
use orthopt::RowMat;
use orthopt::certify::Scope;
use orthopt::family::{AnyProblem, Call, CallOptions, Family, Kind};
use orthopt::job::PosedJob;
use orthopt::report::{Assessment, CheckObject, Checks, Global, Measures, Task};
use orthopt::solve::Stopping;
use orthopt_run::report::assessment::check_in_time;

use crate::blocks::Blocks;
use crate::configured::Help;
use crate::export::json;
use crate::failure::{EXIT_CODES, ExitCode, say};
use crate::files::Files;
use crate::global::{self, Effort};
use crate::input::{Input, check_rows, read_x};
use crate::interrupt::patience;
use crate::options::{OF_X, Typed};
use crate::pose::{pose, remark_on_counts, remark_on_tiny_entries};
use crate::progress::Progress;
use crate::settings::{Settings, at_least_one, at_least_zero};
use crate::summary::{Summary, verdict};
use crate::wording::{said, word};
use crate::{blocks, interrupt, output};

const EXAMPLES: &str = "\
Examples:
  orthopt certify l0-pca builtin:pitprops --x x.npy --lambda 0.1
  orthopt certify nonneg-pca data.svm.gz --center --x x.npy --sample 100000
  orthopt certify l0-pca builtin:pitprops --x x.npy --lambda 0.1 --blocks 3
  orthopt certify l0-pca builtin:pitprops --x x.npy --lambda 0.1 --global 30";

/// Check a given X: feasibility, criticality, block-2 stationarity, decrease of F by larger
/// blocks of rows, distance from the global minimum
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

    #[command(flatten)]
    options: Typed<OF_X>,

    /// X, n x r with X'X = I to 1e-6; r is the rank
    #[arg(long, value_name = "X.npy", value_hint = ValueHint::FilePath)]
    x: PathBuf,

    /// Check this many random pairs of rows instead of all
    #[arg(long, value_name = "PAIRS")]
    sample: Option<u64>,

    #[command(flatten)]
    blocks: Blocks,

    /// Also compute a lower bound of F over all feasible X, and the gap of this X [default: 60 seconds]
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "60", hide_default_value = true)]
    global: Option<f64>,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut options = args.options.0.clone();
    Files::of(&options).reads("--x", Some(&args.x)).check()?;
    options.certify_sample = args.sample.map(|pairs| at_least_one("sample", pairs)).transpose()?;
    args.blocks.check()?; // what is wrong is said before any work
    let given = CallOptions::new(Call::Certify, options.given());
    let mut settings = Settings::resolve(given, &mut options)?;
    let input = Input::load(&settings.data)?;
    settings.job.check_data(&input.pca(), &input.info)?;
    let given = read_x("--x", &args.x)?;
    check_rows("--x", &given, input.info.cols)?;
    settings.job.request.rank = Some(given.ncols().into());
    let mut posed = pose(settings.job.clone(), &input, interrupt::cancel())?;
    posed.task.notes.extend(remark_on_counts(&settings.job));
    drop(input);
    let draws = args.sample.is_some() || args.blocks.are_searched();
    posed.check_x(draws)?;
    certify(&args, &settings, posed, given)
}

fn certify(args: &Args, settings: &Settings, posed: PosedJob, given: RowMat) -> anyhow::Result<ExitCode> {
    let PosedJob { job, task, problem, .. } = posed;
    let request = job.request;
    let (path, tol) = (args.x.display().to_string(), request.stopping().tol);
    let seconds = args.global.map(|seconds| at_least_zero("global", seconds)).transpose()?;
    if seconds.is_some() {
        problem.bounded()?; // what has no bound says so before the pairs are checked
    }
    // a bound is below the F of feasible X only
    let assess = if seconds.is_some() { Assessment::repaired } else { Assessment::new };
    let found = assess(&problem, given, "X", tol).with_context(|| path.clone())?;
    if !settings.quiet {
        task.notes.iter().for_each(|note| say("note", &said(note)));
        remark_on_tiny_entries(&found, &problem);
    }
    let measures = Measures::of(&problem);
    interrupt::keep_results();
    let scope = request.scope().unwrap_or(Scope::All);
    let cancels = (interrupt::cancel(), &patience());
    let stage = |stage| tracing::info!("{stage}");
    let checks = check_in_time(&problem, (&found.x, Some(scope)), (None, 0.0), cancels, stage);
    let blocks = args.blocks.search(&problem, &found.x, request.seed(), found.tolerance)?;
    let shown = settings.prints();
    if shown {
        output::print(&text(&path, &task, &found, &checks, measures))?;
    }
    if let (true, Some(blocks)) = (shown, &blocks) {
        output::print(&blocks::text(blocks, found.tolerance))?;
    }
    let global = seconds.map(|seconds| {
        let effort = Effort { seconds, nodes: None, memory: request.memory(), keeps: false };
        global(&problem, &found, &checks, effort)
    });
    let global = global.transpose()?;
    if let (true, Some(global)) = (shown, &global) {
        let mut summary = Summary::default();
        summary.global(global);
        output::print(&summary.take())?;
    }
    if let Some(file) = &settings.json {
        let certificate = checks.certificate.as_ref();
        let verdict = certificate.map_or(String::new(), |c| verdict(c, found.tolerance));
        let mut object = CheckObject::new(&task, &found, &checks, global.as_ref(), word);
        (object.x, object.blocks, object.verdict) = (path, blocks, verdict);
        json::write(&object, file)?;
    }
    Ok(ExitCode::from(if interrupt::asked() { 130 } else { 0 }))
}

fn global(
    problem: &AnyProblem,
    found: &Assessment,
    checks: &Checks,
    effort: Effort,
) -> anyhow::Result<Global> {
    let stopping =
        Stopping { max_iters: None, time_limit: Some(effort.seconds), tol: 0.0, min_decrease: 0.0 };
    let progress = Progress::new(false, stopping);
    let bound = global::bound(problem, Some(&found.x), effort, &progress)?;
    progress.clear();
    let global = Global::beside(&bound, found.point(), &found.x)?;
    global.check(checks.certificate.as_ref())?;
    Ok(global)
}

fn text(path: &str, task: &Task, found: &Assessment, checks: &Checks, measures: Measures) -> String {
    let mut summary = Summary::default();
    let (n, r) = (found.x.nrows(), found.x.ncols());
    summary.problem(task);
    summary.reasons(&task.reasons);
    summary.line("X", &format!("{path}, {n} x {r}"));
    summary.gap();
    let has_penalty =
        task.lambda.is_some() && matches!(task.problem.kind, Kind::Pca | Kind::Procrustes | Kind::Brockett);
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
