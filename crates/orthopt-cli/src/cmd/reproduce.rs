//! `orthopt reproduce list` and `orthopt reproduce ITEM...`.

use std::path::PathBuf;

use anyhow::Context;
use clap::ValueHint;

use crate::export::to_file;
use crate::failure::{ExitCode, say, usage};
use crate::progress::Progress;
use crate::reproduce::bound::LowerBound;
use crate::reproduce::cell::{Cell, Record};
use crate::reproduce::grid::Finished;
use crate::reproduce::landscape;
use crate::reproduce::listing::list;
use crate::reproduce::page::{self, Section};
use crate::reproduce::sheet::Drawing;
use crate::reproduce::training::{Course, Place};
use crate::settings::{at_least_zero, use_threads};
use crate::wording::explained;
use crate::{interrupt, output};
use orthopt::solve::Stopping;
use orthopt_papers::datasets;
use orthopt_papers::item::{Content, Item, Method, Plan};
use orthopt_papers::items::{self, ITEMS};
use orthopt_papers::training::{self as papers, MOVERS, Mover};

const EXAMPLES: &str = "\
Examples:
  All items, and the data sets that are available:
    orthopt reproduce list --data-dir data
  A table on one data set, a second for each method:
    orthopt reproduce obcd/table5 --datasets randn --ranks 20 --time-limit 1
  Several tables at the papers' shortest limit, the page written as Markdown too:
    orthopt reproduce obcd/table2 obcd/table6 --data-dir data --datasets w1a,randn --time-limit 10 \\
      --markdown tables.md
  After an interruption, the same command continues the work.";

/// The papers' tables and figures on this machine, next to the papers' numbers
///
/// Every method runs as in `orthopt solve`, on one thread unless --threads is given. Finished
/// runs are kept in the output folder, one file per method and cell, and are not repeated. The tables are written as
/// CSV, JSON, Markdown and an HTML page with the convergence curves.
#[derive(Debug, clap::Args)]
#[command(override_usage = "orthopt reproduce list\n       orthopt reproduce [OPTIONS] ITEM...", after_help = EXAMPLES)]
pub struct Args {
    /// Names of items, all for every item that can be run (except figures that only draw the
    /// runs of a table), or list
    #[arg(value_name = "ITEM", required = true)]
    items: Vec<String>,

    /// The folder with the papers' data sets
    #[arg(long, value_name = "DIR", env = "ORTHOPT_DATA", value_hint = ValueHint::DirPath)]
    data_dir: Option<PathBuf>,

    /// Only these data sets, by the papers' names [default: all that are available]
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    datasets: Vec<String>,

    /// Only these r [default: all of the item]
    #[arg(long, value_name = "R,...", value_delimiter = ',')]
    ranks: Vec<usize>,

    /// Only these lambda [default: all of the item]
    #[arg(long, value_name = "LAMBDA,...", value_delimiter = ',')]
    lambdas: Vec<f64>,

    /// Only these p of J as shares of n [default: all of the item]
    #[arg(long, value_name = "SHARE,...", value_delimiter = ',')]
    signatures: Vec<f64>,

    /// Only these methods, by the names in the table [default: all]
    #[arg(long, value_name = "A,B,...", value_delimiter = ',')]
    methods: Vec<String>,

    /// Seconds for each method; several values give several tables; `paper` is all limits of the paper [default: the
    /// shortest of them]
    #[arg(long, value_name = "SECONDS,...", value_delimiter = ',', allow_hyphen_values = true)]
    time_limit: Vec<String>,

    /// Iterations for each method, for runs that can be repeated exactly
    #[arg(long, value_name = "N")]
    max_iters: Option<u64>,

    /// Threads [default: 1, as the papers' programs]
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true)]
    threads: usize,

    /// Folder for records and pages
    #[arg(long, value_name = "DIR", default_value = "reproduction", value_hint = ValueHint::DirPath)]
    out: PathBuf,

    /// Also compute a lower bound of F for each cell, and a column with the gap of the lowest F [60 seconds if none
    /// are given]
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "60")]
    bound: Option<f64>,

    /// Also write the page here
    #[arg(long, value_name = "FILE.md", value_hint = ValueHint::FilePath)]
    markdown: Option<PathBuf>,

    /// Run again the cells that have results
    #[arg(long)]
    again: bool,

    /// No progress on stderr
    #[arg(short, long)]
    quiet: bool,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.items.iter().any(|name| name == "list") {
        if args.items.len() > 1 {
            return Err(usage("`reproduce list` takes no items"));
        }
        return output::print(&list(args.data_dir.as_deref())).map(|()| ExitCode::SUCCESS);
    }
    let jobs = jobs(args)?;
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("cannot make the folder `{}`", args.out.display()))?;
    use_threads(Some(args.threads))?;
    interrupt::keep_results();
    let sections = jobs.into_iter().map(|job| section(args, job)).collect::<anyhow::Result<Vec<_>>>()?;
    let command = command_line();
    page::write(&sections, &args.out, &command)?;
    if let Some(path) = &args.markdown {
        let text = page::markdown(&sections, &command);
        to_file(path, |out| out.write_all(text.as_bytes()))?;
    }
    sections.iter().try_for_each(|s| output::print(&format!("{}\n", s.text())))?;
    if sections.iter().all(Section::is_empty) {
        return Err(anyhow::anyhow!("no item could be run"));
    }
    Ok(ExitCode::from(if interrupt::asked() { 130 } else { 0 }))
}

/// Command line of this run, with the name of the program.
fn command_line() -> String {
    let words = crate::arguments::arguments().map(|w| if w.contains(' ') { format!("'{w}'") } else { w });
    std::iter::once("orthopt".to_string()).chain(words).collect::<Vec<_>>().join(" ")
}

/// An item with its cells or drawing.
struct Job {
    item: &'static Item,
    cells: Vec<Cell>,
    missing: Vec<String>,
    drawing: Option<Drawing>,
    training: Option<Training>,
}

/// A knowledge graph to train, its files and methods.
struct Training {
    what: Course,
    files: Vec<PathBuf>,
    movers: Vec<&'static Mover>,
}

/// All cells asked for, before anything runs.
fn jobs(args: &Args) -> anyhow::Result<Vec<Job>> {
    let items: Vec<&'static Item> = if args.items.iter().any(|name| name == "all") {
        ITEMS.iter().filter(|item| item.is_its_own()).collect()
    } else {
        args.items.iter().map(|name| find(name)).collect::<anyhow::Result<_>>()?
    };
    for name in &args.datasets {
        if datasets::find(name).is_none() {
            return Err(usage(format!(
                "no item has a data set called '{name}'; see `orthopt reproduce list`"
            )));
        }
    }
    args.bound.map_or(Ok(0.0), |s| at_least_zero("bound", s))?;
    items.into_iter().map(|item| job(args, item)).collect()
}

fn find(name: &str) -> anyhow::Result<&'static Item> {
    let names = || ITEMS.iter().map(|item| item.name).collect::<Vec<_>>().join(", ");
    items::find(name)
        .ok_or_else(|| usage(format!("there is no item '{name}'; give list, all, or one of {}", names())))
}

fn job(args: &Args, item: &'static Item) -> anyhow::Result<Job> {
    let none = Job { item, cells: Vec::new(), missing: Vec::new(), drawing: None, training: None };
    let mut plan = match item.content {
        Content::Runs(plan) => plan,
        Content::Landscapes => return Ok(Job { drawing: Some(landscape::figure()?), ..none }),
        Content::Training(what) => return training_of(args, item, what, none),
    };
    let kept = chosen(args, item, plan.methods, |m| m.name)?;
    if !args.methods.is_empty() {
        plan.methods = Vec::leak(kept.into_iter().copied().collect()); // once per item and program
    }
    let limits = limits(plan.seconds, &args.time_limit)?;
    let (mut cells, mut missing) = (Vec::new(), Vec::new());
    for name in plan.datasets.iter().filter(|name| wanted(args, name)) {
        let Some(source) = datasets::find(name) else { continue };
        match source.locate(args.data_dir.as_deref()) {
            Err(why) => missing.push(format!("{name} ({why})")),
            Ok(data) => {
                let data = data.measured()?;
                for (seconds, axes) in
                    limits.iter().flat_map(|s| grid(plan, args).into_iter().map(move |a| (*s, a)))
                {
                    let (lambda, rank, share) = axes;
                    let (dataset, data, max_iters) = (name.to_string(), data.clone(), args.max_iters);
                    cells.push(Cell { item, plan, dataset, data, lambda, rank, share, seconds, max_iters });
                }
            }
        }
    }
    Ok(Job { cells, missing, ..none })
}

fn wanted(args: &Args, dataset: &str) -> bool {
    args.datasets.is_empty() || args.datasets.iter().any(|d| d == dataset)
}

/// The methods of an item that are asked for.
fn chosen<'a, T>(args: &Args, item: &Item, all: &'a [T], name: fn(&T) -> &str) -> anyhow::Result<Vec<&'a T>> {
    for asked in &args.methods {
        if !all.iter().any(|m| name(m) == asked) {
            let names: Vec<_> = all.iter().map(name).collect();
            return Err(usage(format!(
                "{} has no method '{asked}'; its methods are {}",
                item.name,
                names.join(", ")
            )));
        }
    }
    let kept = |m: &&T| args.methods.is_empty() || args.methods.iter().any(|n| n == name(m));
    Ok(all.iter().filter(kept).collect())
}

fn training_of(args: &Args, item: &'static Item, what: papers::Training, none: Job) -> anyhow::Result<Job> {
    let movers = chosen(args, item, MOVERS, |m| m.name)?;
    limits(&[TRAINED], &args.time_limit)?;
    if !wanted(args, what.dataset) {
        return Ok(none);
    }
    let Some(source) = datasets::find(what.dataset) else { return Ok(none) };
    Ok(match source.facts(args.data_dir.as_deref()) {
        Ok(files) => Job { training: Some(Training { what: Course(what), files, movers }), ..none },
        Err(why) => Job { missing: vec![format!("{} ({why})", what.dataset)], ..none },
    })
}

/// The time limits asked for.
fn limits(paper: &[f64], asked: &[String]) -> anyhow::Result<Vec<f64>> {
    if asked.is_empty() {
        return Ok(paper.first().map_or(vec![10.0], |s| vec![*s]));
    }
    let mut all = Vec::new();
    for word in asked {
        match word.parse() {
            _ if word == "paper" => all.extend(paper),
            Ok(seconds) => all.push(at_least_zero("time-limit", seconds)?),
            Err(_) => {
                return Err(usage(format!(
                    "--time-limit: '{word}' is neither a number of seconds nor `paper`"
                )));
            }
        }
    }
    Ok(all)
}

/// Requested values of an axis; one empty value if the item has no such axis.
fn axis<T: Copy + PartialEq>(all: &[T], only: &[T]) -> Vec<Option<T>> {
    if all.is_empty() {
        return vec![None];
    }
    all.iter().filter(|v| only.is_empty() || only.contains(v)).map(|v| Some(*v)).collect()
}

/// Lambda, rank and p/n of a cell.
type Axes = (Option<f64>, Option<usize>, Option<f64>);

/// The lambdas, ranks and signatures asked for.
fn grid(plan: Plan, args: &Args) -> Vec<Axes> {
    let mut out = Vec::new();
    for lambda in axis(plan.lambdas, &args.lambdas) {
        for rank in axis(plan.ranks, &args.ranks) {
            out.extend(axis(plan.shares, &args.signatures).into_iter().map(|share| (lambda, rank, share)));
        }
    }
    out
}

/// Runs the cells of an item, or takes them from their records.
fn section(args: &Args, job: Job) -> anyhow::Result<Section> {
    let time_limit = job.cells.iter().map(|cell| cell.seconds).reduce(f64::max);
    let stopping = Stopping { max_iters: args.max_iters, time_limit, tol: 0.0, min_decrease: 0.0 };
    let mut progress = Progress::new(args.quiet, stopping);
    if let Some(training) = &job.training {
        let drawing = trained(args, job.item, training, &mut progress)?;
        progress.clear();
        return Ok(Section { item: job.item, finished: Vec::new(), missing: job.missing, drawing });
    }
    let mut finished = Vec::with_capacity(job.cells.len());
    for cell in job.cells {
        let mut records = Vec::with_capacity(cell.plan.methods.len());
        for method in cell.plan.methods {
            records.extend(record(args, &cell, method, &mut progress)?);
        }
        let bound = args.bound.and_then(|seconds| bound(args, &cell, seconds, &progress));
        finished.push(Finished { cell, records, bound });
    }
    progress.clear();
    Ok(Section { item: job.item, finished, missing: job.missing, drawing: job.drawing })
}

/// Seconds of a training where no limit is given.
const TRAINED: f64 = 60.0;

/// The figure of a knowledge graph in training; none if it was interrupted before a method had ended.
fn trained(
    args: &Args,
    item: &Item,
    training: &Training,
    progress: &mut Progress,
) -> anyhow::Result<Option<Drawing>> {
    let place = Place {
        out: &args.out,
        // trained once: where several limits are given, for the longest
        seconds: limits(&[TRAINED], &args.time_limit)?.into_iter().fold(0.0, f64::max),
        epochs: args.max_iters,
        again: args.again,
        quiet: args.quiet,
    };
    let Training { what, files, movers } = training;
    let runs = what.run(item, movers, files, &place, progress)?;
    match runs.iter().all(|run| run.history.is_empty()) {
        true => Ok(None),
        false => what.drawing(&runs, &what.folder(&args.out)).map(Some),
    }
}

/// The bound of a cell, computed once; `None` where there is none, or it was interrupted.
fn bound(args: &Args, cell: &Cell, seconds: f64, progress: &Progress) -> Option<LowerBound> {
    let path = cell.bound_file(&args.out, seconds);
    if let (false, Some(kept)) = (args.again, LowerBound::read(&path)) {
        return Some(kept);
    }
    if interrupt::asked() {
        return None;
    }
    if !args.quiet {
        progress.suspend(|| say("run", &format!("{} {}: bound", cell.item.name, cell.label())));
    }
    let found = cell.lower_bound(seconds, progress).and_then(|found| {
        if found.status != "interrupted" {
            found.write(&path)?;
        }
        Ok(found)
    });
    match found {
        Ok(found) => Some(found),
        Err(error) => {
            progress.suspend(|| say("note", &format!("{}: {}", cell.label(), explained(&error))));
            None
        }
    }
}

/// The record of a method; `None` where it does not fit the cell or was interrupted.
fn record(
    args: &Args,
    cell: &Cell,
    method: &Method,
    progress: &mut Progress,
) -> anyhow::Result<Option<Record>> {
    let path = cell.file(&args.out, method);
    if !args.again
        && let Some(kept) = Record::read(&path)
        && cell.fits(method, &kept)
    {
        return Ok(Some(kept));
    }
    if interrupt::asked() {
        return Ok(None); // what is finished is shown; the rest next time
    }
    if !args.quiet {
        progress.suspend(|| say("run", &format!("{} {}: {}", cell.item.name, cell.label(), method.name)));
    }
    match cell.run(method, progress) {
        Ok(record) if record.status == "interrupted" => Ok(None),
        Ok(record) => record.write(&path).map(|()| Some(record)),
        Err(error) => {
            progress.suspend(|| say("note", &format!("{}: {}", method.name, explained(&error))));
            Ok(None)
        }
    }
}
