//! `orthopt path PROBLEM DATA`.

use std::path::PathBuf;

use clap::ValueHint;
use orthopt::family::Call;
use orthopt::message::Message;
use orthopt::path::{Along, By, Folds, Path, PathRequest, Validation, Watch, cross_validate, path};
use orthopt::solve::Observer;

use super::solve::kept_data;
use crate::configured::Configured;
use crate::export::{Found, check_ending, json, picture};
use crate::failure::{EXIT_CODES, ExitCode, say, usage};
use crate::input::Input;
use crate::options::Typed;
use crate::path_report::{self, PathSummary};
use crate::progress::Progress;
use crate::settings::{Settings, at_least_one};
use crate::wording::explained;
use crate::{interrupt, output};

const EXAMPLES: &str = "\
Examples:
  Variance explained by 1, 2, 3, 5, ... nonzeros in each component:
    orthopt path l0-pca builtin:pitprops -r 3
  Given counts, and a picture:
    orthopt path l0-pca data.csv --scale std --counts 5,10,20,40 --plot path.svg
  Number of components and count chosen by the data, cross-validation by cells with 5 folds:
    orthopt path l0-pca data.csv --scale std -r auto --cv --cv-by cells
  Along lambda, every point with a bound, two seconds each:
    orthopt path l1-pca data.csv --center --lambdas 100,50,20,10 --bound 2";

/// Solve for several numbers of nonzeros or several lambda, and choose a point
///
/// Points are searched one after the other, sparse ones first. Then each point tries the X of
/// its neighbours, so that no point is worse than the X of a neighbour and more nonzeros never explain less. The
/// point is chosen by cross-validation with --cv: the sparsest whose mean share of held-out variance is within one
/// standard error of the best; without it by the knee of the variance explained. Files of solve (--save-x, --report,
/// ...) are those of the chosen point.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "orthopt path [OPTIONS] PROBLEM DATA [--counts K1,K2,... | --lambdas L1,L2,...]",
    after_help = EXAMPLES,
    after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"),
    disable_help_flag = true
)]
pub struct Args {
    #[command(flatten)]
    configured: Configured,

    #[command(flatten)]
    options: Typed,

    /// Nonzeros in each component [default: 1,2,3,5,7,10,14,20,30]
    #[arg(
        long,
        value_name = "K1,K2,...",
        help_heading = "Path",
        value_delimiter = ',',
        conflicts_with = "lambdas"
    )]
    counts: Vec<usize>,

    /// Weights of the penalty [default for l1: nine of them, each half of the one before]
    #[arg(
        long,
        value_name = "L1,L2,...",
        help_heading = "Path",
        value_delimiter = ',',
        allow_negative_numbers = true
    )]
    lambdas: Vec<f64>,

    /// Choose the point by cross-validation with this number of folds [5 if none is given]
    #[arg(long, value_name = "FOLDS", help_heading = "Path", num_args = 0..=1, default_missing_value = "5")]
    cv: Option<usize>,

    /// With --cv: hold out rows, or cells of the table, which the others of their row predict [default: rows]
    #[arg(long, value_name = "rows|cells", help_heading = "Path", requires = "cv")]
    cv_by: Option<String>,

    /// Write the table
    #[arg(long, value_name = "FILE.csv", help_heading = "Output", value_hint = ValueHint::FilePath)]
    save_path: Option<PathBuf>,
}

/// Options in addition to those of `solve`.
struct PathOptions {
    along: Option<Along>,
    folds: Option<Folds>,
    table: Option<PathBuf>,
    plot: Option<PathBuf>,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut options = args.configured.options(args.options.0)?;
    let extra = PathOptions {
        along: along(args.counts, args.lambdas),
        folds: args.cv.map(|n| folds(n, args.cv_by.as_deref())).transpose()?,
        table: args.save_path,
        plot: options.plot.take(),
    };
    check(&options, &extra)?;
    args.configured
        .files(&options)
        .writes("--plot", extra.plot.as_deref())
        .writes("--save-path", extra.table.as_deref())
        .check()?;
    let own = [("cv", extra.folds.is_some()), ("cv-by", args.cv_by.is_some())];
    let own: Vec<&str> = own.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect();
    let settings = args.configured.settings(Call::Path, &mut options, &own)?;
    walk_path(&settings, &extra)
}

fn folds(count: usize, by: Option<&str>) -> anyhow::Result<Folds> {
    let by = by.map(By::parse).transpose()?.unwrap_or_default();
    Ok(Folds { count: at_least_one("cv", count as u64)? as usize, by })
}

fn along(counts: Vec<usize>, lambdas: Vec<f64>) -> Option<Along> {
    let along = match (counts.is_empty(), lambdas.is_empty()) {
        (false, _) => Along::Counts(counts),
        (true, false) => Along::Lambdas(lambdas),
        (true, true) => return None,
    };
    Some(along.ordered())
}

/// Checks options of `solve` that do not apply, and extensions of files.
fn check(options: &orthopt::request::Request, extra: &PathOptions) -> anyhow::Result<()> {
    let given = [
        ("lambda", options.lambda.is_some() && !matches!(extra.along, Some(Along::Counts(_)))),
        ("lambda-share", options.lambda_share.is_some()),
        ("relative-lambda", options.relative_lambda.is_some()),
        ("nonzeros", options.nonzeros.is_some()),
        ("total-nonzeros", options.total_nonzeros.is_some()),
        ("variables", options.variables.is_some()),
    ];
    if let Some((name, _)) = given.iter().find(|(_, given)| *given) {
        return Err(usage(format!(
            "--{name} gives one point; path takes --counts K1,K2,... or --lambdas L1,L2,..."
        )));
    }
    if options.certify == Some(true) || options.certify_sample.is_some() {
        return Err(usage(
            "path does not check pairs of rows; orthopt certify checks them, for an X of --save-x",
        ));
    }
    if options.restarts.is_some() {
        return Err(usage(
            "path searches at every point; --effort sets the length, and --restarts is an option of solve",
        ));
    }
    if options.trace.is_some() {
        return Err(usage("path does not write a trace; solve writes one, for one point"));
    }
    if options.init.is_some() {
        return Err(usage("path chooses the starting points of every point; --init is an option of solve"));
    }
    if let Some(path) = &extra.plot {
        picture::check("--plot", path)?;
    }
    extra.table.as_deref().map_or(Ok(()), |path| check_ending("--save-path", path, &[".csv"]))
}

fn walk_path(settings: &Settings, extra: &PathOptions) -> anyhow::Result<ExitCode> {
    let stopping = settings.job.request.stopping();
    let mut progress = Progress::new(settings.quiet, stopping);
    progress.stage(format!("reading {}", settings.data.source.display()));
    let input = Input::load(&settings.data)?;
    progress.stage("setting up the problem");
    let facts = input.info.clone();
    let data = input.pca();
    let of_columns = matches!(facts.scale.as_str(), "unit" | "std");
    if extra.folds.is_some_and(|folds| folds.by == By::Cells) && of_columns {
        let sentence = "the cells that are held out had their part in the scales of the columns, which are those of all cells (";
        progress.note(&Message::from(sentence).option("scale").text(")"));
    }
    let clock = interrupt::cancel().within(stopping.time_limit);
    let walks = 1 + extra.folds.map_or(0, |folds| folds.count);
    let (request, note) = settings.job.path(&data, &facts, extra.along.clone(), walks, &clock)?;
    note.iter().for_each(|note| progress.note(note));
    interrupt::keep_results();
    let bar = progress.points();
    let mut what = "path".to_string();
    let validation = match extra.folds {
        None => None,
        Some(folds) => {
            what = format!("{} folds", folds.count);
            watched(&mut progress, &bar, &what, |watch| {
                Ok(cross_validate(&data, &facts, &request, folds, watch)?)
            })?
        }
    };
    let mut found = watched(&mut progress, &bar, &what, |watch| Ok(path(&data, &facts, &request, watch)?))?;
    if let Some(seconds) = request.options.bound.filter(|_| !found.interrupted) {
        progress.stage("bounding");
        found.bound(&data, &request, seconds, interrupt::cancel())?;
    }
    progress.clear();
    publish(settings, extra, input, &request, &found, validation)
}

/// Runs under a bar, until Ctrl-C.
fn watched<T>(
    progress: &mut Progress,
    bar: &crate::progress::Points,
    what: &str,
    work: impl FnOnce(&mut Watch<'_, '_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    progress.run_begins();
    let observers: &mut [&mut dyn Observer] = &mut [progress];
    let mut stage = |i: usize, of: usize| bar.show(what, i, of);
    work(&mut Watch { cancel: interrupt::cancel(), observers, stage: &mut stage })
}

/// Files first, then the table or the JSON. Error if a file cannot be written, after all others have been written.
fn publish(
    settings: &Settings,
    extra: &PathOptions,
    input: Input,
    request: &PathRequest,
    found: &Path,
    validation: Option<Validation>,
) -> anyhow::Result<ExitCode> {
    let summary = PathSummary::new(&request.along, found, validation.zip(extra.folds.map(|folds| folds.by)));
    let chosen = &found.points[summary.chosen].report;
    let mut failures: Vec<anyhow::Error> = Vec::new();
    if let Some(path) = &extra.table {
        failures.extend(path_report::write_table(&summary, path).err());
    }
    if let Some(path) = &extra.plot {
        failures.extend(path_report::write_picture(&summary, path, settings.look).err());
    }
    let shown = kept_data(settings, input)?.map(|input| input.shown(chosen.x()));
    for file in &settings.outputs {
        failures
            .extend(file.write(&Found { report: chosen, shown: shown.as_ref(), look: settings.look }).err());
    }
    if settings.prints() {
        failures.extend(output::print(&path_report::summary(&summary, settings.top)).err());
    }
    if let Some(path) = &settings.json {
        failures.extend(json::write(&summary.object(), path).err());
    }
    failures.iter().for_each(|failure| say("error", &explained(failure)));
    Ok(ExitCode::from(match failures.is_empty() {
        false => 1,
        true if interrupt::asked() => 130,
        true => 0,
    }))
}
