//! `orthopt compare PROBLEM DATA --solvers a,b`.

use orthopt::family::{Call, check_solvers};
use orthopt::report::{Object, Report};
use orthopt::solve::Status;
use orthopt::solvers::AUTO;

use crate::configured::Configured;
use crate::export::json;
use crate::export::{Found, Output, pictures};
use crate::failure::{EXIT_CODES, ExitCode, code_of, say, usage};
use crate::input::Input;
use crate::options::Typed;
use crate::plot::PictureSize;
use crate::pose::pose;
use crate::progress::Progress;
use crate::run;
use crate::settings::Settings;
use crate::table;
use crate::wording::{explained, word};
use crate::{interrupt, output};

/// Default number of seconds for each solver.
const SECONDS: f64 = 10.0;

const EXAMPLES: &str = "\
Examples:
  The solvers of the papers on a built-in table, two seconds each:
    orthopt compare l1-pca builtin:pitprops -r 3 --lambda 0.3 --solvers obcd,manpg,ladmm+obcd --time-limit 2
  The rules for working sets, from the leading eigenvectors, with a plot and all results as JSON:
    orthopt compare l0-pca data.svm -r 10 --solvers obcd-r,obcd-sv,obcd-or --init pca --plot f.svg --json all.json";

/// Run several solvers on the same problem from the same start: a table, and a plot of F against time
///
/// Every named solver starts from the same X0 and runs once (--restarts N: N more starts); auto searches.
/// Without --solvers the search is compared with its arms, each alone from its own start. All have the same
/// limit, 10 s unless --time-limit or --max-iters is given. F is evaluated at a feasible X.
/// For methods that are feasible only in the limit, the columns raw have F and the error of their own iterate. The
/// constants of every solver are printed below the table.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "orthopt compare [OPTIONS] PROBLEM DATA --solvers A,B,...",
    after_help = EXAMPLES,
    after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"),
    disable_help_flag = true
)]
pub struct Args {
    #[command(flatten)]
    configured: Configured,

    #[command(flatten)]
    options: Typed,

    /// The solvers, separated by commas; A+B is a chain, auto lets the library choose
    /// [default: the search and its arms, or all that can solve the problem]
    #[arg(long, value_name = "A,B,...", value_delimiter = ',', help_heading = "Solver and start")]
    solvers: Vec<String>,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut options = args.configured.options(args.options.0)?;
    args.configured.files(&options).check()?;
    if options.solver.is_some() {
        return Err(usage("compare takes --solvers A,B,... instead of --solver"));
    }
    if options.bound.is_some() {
        return Err(usage(
            "compare does not compute a bound; orthopt bound computes it, for an X of any solver",
        ));
    }
    if options.trace.is_some() {
        return Err(usage(
            "compare does not write a trace; --plot draws all curves and --json writes all results",
        ));
    }
    if options.time_limit.is_none() && options.max_iters.is_none() {
        options.time_limit = Some(SECONDS);
    }
    let mut settings = args.configured.settings(Call::Compare, &mut options, &[])?;
    settings.outputs.iter().try_for_each(|output| output.check_is_for("compare"))?;
    let solvers: Vec<String> = args.solvers.iter().map(|name| name.trim().to_string()).collect();
    solvers.iter().filter(|name| *name != AUTO.0).try_for_each(|name| check_solvers(name))?;
    settings.job.chooses_counts = solvers.is_empty();
    compare(&settings, &solvers)
}

fn compare(settings: &Settings, solvers: &[String]) -> anyhow::Result<ExitCode> {
    let stopping = settings.job.request.stopping();
    let mut progress = Progress::new(settings.quiet, stopping);
    progress.stage(format!("reading {}", settings.data.source.display()));
    let input = Input::load(&settings.data)?;
    progress.stage("setting up the problem");
    let clock = interrupt::cancel().within(stopping.time_limit);
    let posed = pose(settings.job.clone(), &input, &clock)?;
    drop(input);
    posed.task.notes.iter().for_each(|note| progress.note(note));
    let runs = posed.rivals(solvers)?;
    interrupt::keep_results();
    let mut reports: Vec<Report> = Vec::with_capacity(runs.len());
    for (name, run) in &runs {
        if interrupt::asked() {
            break; // what is finished is reported
        }
        progress.run_begins();
        let mut report = match run::minimise(&posed, run, &mut progress) {
            Ok(report) => report,
            // an arm that the search chose, not the user
            Err(error) if solvers.is_empty() && !reports.is_empty() => {
                progress.note(&format!("{name} is left out: {}", explained(&error)).into());
                continue;
            }
            Err(error) => return Err(error.context(format!("solver {name}"))),
        };
        report.solver.clone_from(name);
        run::check(&posed, &mut report, &progress);
        reports.push(report);
    }
    progress.clear();
    Ok(publish(settings, &reports))
}

/// Files first, then the table; error if a file cannot be written, after all others have been written.
fn publish(settings: &Settings, reports: &[Report]) -> ExitCode {
    let best = reports
        .iter()
        .filter(|r| r.solution.objective.total.is_finite())
        .min_by(|a, b| a.solution.objective.total.total_cmp(&b.solution.objective.total));
    let mut failures: Vec<anyhow::Error> = Vec::new();
    for output in &settings.outputs {
        failures.extend(write(output, reports, best, settings.look).err());
    }
    if settings.prints() {
        failures.extend(output::print(&table::comparison(reports, settings.job.request.stopping())).err());
    }
    if let Some(path) = &settings.json {
        let objects: Vec<Object<'_>> = reports.iter().map(|report| report.object(word)).collect();
        failures.extend(json::write(&objects, path).err());
    }
    failures.iter().for_each(|failure| say("error", &explained(failure)));
    // one method that breaks down is a result; all of them are a failure
    let status = best.map_or(Status::NumericalError, |r| r.solution.status);
    ExitCode::from(match status {
        _ if !failures.is_empty() => 1,
        _ if interrupt::asked() => 130,
        status => code_of(status),
    })
}

/// The plot has all curves; X is the best one.
fn write(to: &Output, reports: &[Report], best: Option<&Report>, look: PictureSize) -> anyhow::Result<()> {
    match (to.is_plot(), best) {
        (true, _) => pictures::write_all(reports, to.path(), look),
        (false, Some(best)) => to.write(&Found { report: best, shown: None, look }),
        (false, None) => Ok(()),
    }
}
