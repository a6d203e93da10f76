//! `orthopt solve PROBLEM DATA`.

use orthopt::family::Call;
use orthopt::job::PosedJob;
use orthopt::message::Message;
use orthopt::report::{Global, Report, Role};

use crate::configured::Configured;
use crate::export::{Found, Output, json, pictures};
use crate::failure::{EXIT_CODES, ExitCode, code_of, say, usage};
use crate::input::Input;
use crate::options::Typed;
use crate::pose::pose;
use crate::progress::{BoundBar, Progress};
use crate::run;
use crate::settings::Settings;
use crate::stability::halves;
use crate::summary::Summary;
use crate::wording::explained;
use crate::{config, interrupt, output};

const EXAMPLES: &str = "\
Examples:
  A first look, three sparse components of a built-in table:
    orthopt solve l0-pca builtin:pitprops -r 3 --lambda 0.1 --certify
  Five variables in each of three components; 12 for all components together:
    orthopt solve l0-pca builtin:pitprops -r 3 --nonzeros 5
    orthopt solve l0-pca builtin:pitprops -r 3 --variables 12
  Samples in a file, centred; X and the whole result as files:
    orthopt solve l1-pca data.csv --center -r 5 --lambda 2 --save-x x.npy --json result.json
  Sparse data, a limit in seconds, the convergence curve as a picture:
    orthopt solve l0-pca data.svm.gz -r 10 --lambda 5 --time-limit 10 --plot curve.svg
  More rows than fit memory, in several files; the 2000 columns with the largest variance:
    orthopt solve l0-pca 'part-*.csv.gz' -r 5 --stream --center
    orthopt solve l0-pca counts.svm.gz -r 10 --screen 2000 --scale std
  A nonlinear eigenvalue problem, C the Laplacian of a chain:
    orthopt solve nonlinear-eig laplace:500 -r 10 --lambda 10
  The settings of a run as a file, and the same run again with another seed:
    orthopt solve nonneg-pca data.mtx -r 4 --print-config > run.toml
    orthopt solve --config run.toml --seed 1";

/// Examples of the short help.
const FIRST: &str = "\
Examples:
  orthopt solve l0-pca builtin:pitprops -r 3 --lambda 0.1 --certify
  orthopt solve l0-pca data.csv --scale std -r 3 --nonzeros 10 --save-loadings loadings.csv
  orthopt solve nonneg-pca data.csv --center -r 5 --time-limit 10 --json result.json

-v prints how the result was found. These are the common options; all: orthopt solve --help-all";

/// The third line answers the first question of most.
const USAGE: &str = "orthopt solve [OPTIONS] PROBLEM DATA\n       orthopt solve [OPTIONS] PROBLEM --gram FILE\n\n\
    Ten nonzeros in each of three components:  orthopt solve l0-pca data.csv --scale std -r 3 --nonzeros 10";

/// Find X: minimise F(X) = -1/2 <X, CX> + h(X) over the n x r matrices X with X'X = I
///
/// Prints a summary to stdout.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = USAGE,
    after_help = FIRST,
    after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"),
    disable_help_flag = true
)]
pub struct Args {
    #[command(flatten)]
    configured: Configured,

    #[command(flatten)]
    options: Typed,

    /// Print the options in effect as a config file and stop
    #[arg(long, hide_short_help = true, help_heading = "Configuration")]
    print_config: bool,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut options = args.configured.options(args.options.0)?;
    args.configured.files(&options).check()?;
    let settings = args.configured.settings(Call::Solve, &mut options, &[])?;
    if args.print_config {
        output::print(&config::print(&options)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    solve(&settings)
}

fn solve(settings: &Settings) -> anyhow::Result<ExitCode> {
    let stopping = settings.job.request.stopping();
    let mut progress = Progress::new(settings.quiet, stopping);
    progress.stage(format!("reading {}", settings.data.source.display()));
    let input = Input::watched(&settings.data, &mut |step| progress.reading(step))?;
    progress.has_read();
    let clock = interrupt::cancel().within(stopping.time_limit);
    let posed = pose(settings.job.clone(), &input, &clock)?;
    let data = kept_data(settings, input)?;
    posed.task.notes.iter().for_each(|note| progress.note(note));
    solve_posed(settings, &posed, data.as_ref(), progress)
}

/// The data, where a file shows them.
pub fn kept_data(settings: &Settings, input: Input) -> anyhow::Result<Option<Input>> {
    match settings.outputs.iter().find(|output| output.needs_rows()) {
        Some(output) if !input.has_rows() => {
            let problem = match input.info.role {
                Role::Gram => "scores need samples, but the data are C itself",
                _ => "scores need samples, but only C is kept of rows that are read part by part",
            };
            Err(usage(format!("{}: {problem}", output.option())))
        }
        _ => {
            let shown = settings.outputs.iter().any(Output::needs_data);
            Ok((shown || settings.job.request.stability.is_some()).then_some(input))
        }
    }
}

fn solve_posed(
    settings: &Settings,
    posed: &PosedJob,
    input: Option<&Input>,
    mut progress: Progress,
) -> anyhow::Result<ExitCode> {
    progress.stage("choosing the starting point");
    let run = run::plan(posed)?;
    interrupt::keep_results();
    progress.run_begins();
    let report = run::minimise(posed, &run, &mut progress)?;
    Ok(publish(settings, posed, report, input, &progress))
}

/// The bound that is asked for.
fn bounded(
    settings: &Settings,
    posed: &PosedJob,
    report: &mut Report,
    seconds: f64,
    progress: &Progress,
) -> anyhow::Result<Global> {
    let bar = BoundBar::new(progress, seconds);
    let found = posed.bound(report, (seconds, false), interrupt::cancel(), &|now| bar.show(now))?;
    if let Some(output) = settings.outputs.iter().find(|output| output.is_plot()) {
        pictures::write_bound((&report.task, Some(report)), &found, output.path(), settings.look)?;
    }
    let facts = report.global.clone().unwrap_or_else(|| Global::of(&found));
    if let (None, Some(_), Some(better)) = (facts.proof, &found.x, found.objective) {
        let text = format!("a better X, F = {better}, was found while computing the bound; orthopt bound ");
        progress.note(&Message::from(text).option("save-x").text(" writes it"));
    }
    Ok(facts)
}

/// Files first, so that nothing computed can be lost; then the summary, the checks and the JSON.
/// Error if a file cannot be written, after all others have been written.
fn publish(
    settings: &Settings,
    posed: &PosedJob,
    mut report: Report,
    input: Option<&Input>,
    progress: &Progress,
) -> ExitCode {
    let request = &posed.job.request;
    let shown = input.filter(|_| settings.outputs.iter().any(Output::needs_data));
    let shown = shown.map(|input| input.shown(report.x()));
    let is_last =
        |output: &Output| output.is_page() || (request.stability.is_some() && output.shows_stability());
    let write = |report: &Report, last: bool| -> Vec<anyhow::Error> {
        let found = Found { report, shown: shown.as_ref(), look: settings.look };
        let outputs = settings.outputs.iter().filter(|output| is_last(output) == last);
        outputs.filter_map(|output| output.write(&found).err()).collect()
    };
    let mut failures = write(&report, false);
    let summary_wanted = settings.prints();
    let (mut summary, mut broken, mut failed) = (Summary::default(), None, None);
    let mut show = |summary: &mut Summary| {
        if summary_wanted {
            failures.extend(progress.suspend(|| output::print(&summary.take())).err());
        }
    };

    summary.result(&report, settings.top, settings.verbose);
    summary.before(progress.before());
    show(&mut summary);
    if request.scope().is_some() || settings.json.is_some() || settings.outputs.iter().any(Output::is_page) {
        run::check(posed, &mut report, progress);
    }
    if request.scope().is_some() {
        summary.checks(&report.checks, report.measures.criticality, report.tolerance());
    }
    show(&mut summary);
    if let (Some(_), Some(input)) = (request.stability, input) {
        match halves(posed, &mut report, input, progress) {
            Ok(()) => summary.stability(&report, settings.top),
            Err(error) => failed = Some(error), // X and what is known of it are reported all the same
        }
        show(&mut summary);
    }
    if let Some(seconds) = request.bound {
        match bounded(settings, posed, &mut report, seconds, progress) {
            Ok(found) => summary.global(&found),
            Err(error) => broken = Some(error), // X and what is known of it are reported all the same
        }
    } else if let Some(found) = &report.global {
        summary.global(found); // proved on the way
    }
    progress.clear();
    show(&mut summary);
    failures.extend(failed);
    failures.extend(broken);
    failures.extend(write(&report, true));
    if let Some(path) = &settings.json {
        failures.extend(json::write(&json::Solved::of(&report), path).err());
    }

    failures.iter().for_each(|failure| say("error", &explained(failure)));
    ExitCode::from(match report.solution.status {
        _ if !failures.is_empty() => 1,
        _ if interrupt::asked() => 130,
        status => code_of(status),
    })
}
