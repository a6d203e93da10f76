//! `orthopt explore DATA`.

use orthopt::explore::{Exploration, Watch, explore};
use orthopt::family::{Call, CallOptions};
use orthopt::solve::Observer;
use orthopt_data::{DataError, Scale};

use crate::configured::Help;
use crate::explored::{self, ExplorationSummary};
use crate::export::html::explored as page;
use crate::export::json;
use crate::failure::{EXIT_CODES, ExitCode, code_of, say};
use crate::files::Files;
use crate::input::Input;
use crate::options::{OF_EXPLORE, Typed};
use crate::progress::Progress;
use crate::settings::Settings;
use crate::wording::explained;
use crate::{interrupt, output};

const EXAMPLES: &str = "\
Examples:
  Components of a table, as text and as a page with pictures:
    orthopt explore data.csv --report page.html
  Three components; the columns as they are, centred, instead of correlations:
    orthopt explore data.csv -r 3 --scale none --center
  A correlation matrix; more time for the bound:
    orthopt explore --gram correlations.csv --time-limit 60";

/// Analyse a table: number of components, number of nonzeros, loadings, stability and bound, with the command for each step
///
/// Columns are centred and scaled to standard deviation 1 unless --scale says otherwise. The number of variables in each
/// component is the knee of the variance along a path, the components are those of `solve`, none of which repeats another,
/// and a lower bound of F says how much better any others could be. Each step is a command of
/// its own, which is printed. Each step does a fixed amount of work; with --time-limit all together take so many seconds at most.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "orthopt explore [OPTIONS] DATA\n       orthopt explore [OPTIONS] --gram FILE",
    after_help = EXAMPLES,
    after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"),
    disable_help_flag = true
)]
pub struct Args {
    #[command(flatten)]
    help: Help,

    #[command(flatten)]
    options: Typed<OF_EXPLORE>,
}

/// The problem that is explored.
const PROBLEM: &str = "l0-pca";

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut options = args.options.0;
    Files::of(&options).check()?;
    let typed = options.clone();
    let given_options = CallOptions::new(Call::Explore, options.given());
    options.problem = Some(PROBLEM.into());
    let given = options.scale.is_some() || options.gram.is_some();
    if !given {
        options.scale = Some(Scale::Std.to_string());
    }
    let mut settings = Settings::resolve(given_options, &mut options)?;
    let stopping = settings.job.request.stopping();
    let mut progress = Progress::new(settings.quiet, stopping);
    progress.stage(format!("reading {}", settings.data.source.display()));
    let input = match Input::load(&settings.data) {
        // C itself: nothing to scale, unless somebody asks for it
        Err(error) if !given && is_of_c(&error) => {
            settings.data.prepare.scale = Scale::None;
            settings.data.prepare.center = false;
            settings.data.prepare.covariance = false;
            Input::load(&settings.data)
        }
        read => read,
    }?;
    settings.job.check_data(&input.pca(), &input.info)?;
    input.notes.iter().for_each(|note| progress.note(note));
    input.remark_on_means().iter().for_each(|note| progress.note(note));
    interrupt::keep_results();
    progress.run_begins();
    let bar = progress.points();
    let observers: &mut [&mut dyn Observer] = &mut [&mut progress];
    let mut stage = |question: &'static str| bar.asks(question);
    let mut watch = Watch { cancel: interrupt::cancel(), observers, stage: &mut stage };
    let found = explore(&input.pca(), &input.info, &settings.job.request, &mut watch)?;
    progress.clear();
    found.report.notes.iter().for_each(|note| progress.note(note));
    publish(&settings, &ExplorationSummary::new(&found, &typed, &input), &found)
}

/// True if data cannot be scaled because they are C itself.
fn is_of_c(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| matches!(cause.downcast_ref(), Some(DataError::GramPreparation { .. })))
}

/// Files first, then the text. Error if a file cannot be written, after all others have been written.
fn publish(
    settings: &Settings,
    told: &ExplorationSummary<'_>,
    found: &Exploration,
) -> anyhow::Result<ExitCode> {
    let mut failures: Vec<anyhow::Error> = Vec::new();
    for file in &settings.outputs {
        failures.extend(page::write(told, file.path()).err());
    }
    if settings.prints() {
        failures.extend(output::print(&explored::summary(told, settings.top)).err());
    }
    if let Some(path) = &settings.json {
        failures.extend(json::write(&told.object(), path).err());
    }
    failures.iter().for_each(|failure| say("error", &explained(failure)));
    Ok(ExitCode::from(match found.report.solution.status {
        _ if !failures.is_empty() => 1,
        _ if interrupt::asked() => 130,
        status => code_of(status),
    }))
}
