//! `orthopt embed TRAIN` and `orthopt embed predict MODEL TRIPLES`.

pub mod options;
mod predict;
mod report;

use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueHint};
use orthopt::request::Size;
use orthopt::solve::{Status, Stopping};
use orthopt_embed::{Ended, Found, Graph, Record, Saved, Trainer, read_graph};

use self::options::{Choices, Signature};
use self::report::{Parts, Result};
use crate::configured::Help;
use crate::export::{check_ending, json, picture};
use crate::failure::{EXIT_CODES, ExitCode, code_of, say, usage};
use crate::files::Files;
use crate::progress::Progress;
use crate::settings::{at_least_zero, use_threads};
use crate::wording::explained;
use crate::{interrupt, output, text};

const EXAMPLES: &str = "\
Examples:
  The model of the best epoch on valid, its ranks on test, and the baseline ComplEx beside it:
    orthopt embed train.tsv --valid valid.tsv --test test.tsv --save-model model
    orthopt embed train.tsv --valid valid.tsv --test test.tsv --scorer complex
  Distances in hyperbolic space of 31 dimensions, relations from the whole group:
    orthopt embed train.tsv --valid valid.tsv --test test.tsv --scorer ultrae
  The signature chosen on valid by a race; half an hour, with a checkpoint, and the continuation:
    orthopt embed train.tsv --valid valid.tsv --signature auto --time-limit 1800 --checkpoint run
    orthopt embed train.tsv --valid valid.tsv --time-limit 1800 --resume run --checkpoint run
  The setting of the JOBCD paper (pairs of rows, 50 corruptions of a triple):
    orthopt embed train.tsv --test test.tsv --scorer ultrae --dim 36 --signature 18 \\
      --rule j-jobcd --margin 5 --no-reciprocal --negatives 25 --share 1 --optimiser adam --lr 5e-4
  Questions about triples; the question mark is the unknown part:
    printf 'anna\\tmother of\\t?\\n' | orthopt embed predict model -";

/// Knowledge graphs: relations as J-orthogonal matrices
///
/// TRAIN has one triple per line, head<TAB>relation<TAB>tail, as names or numbers, also .gz;
/// or OpenKE's format (a count, then lines of head tail relation). Relations keep R'JR = J to rounding. A triple has a high
/// score where x_t' J R x_h is large, or with --scorer ultrae where R e_h is near e_t on {x : x'Jx = -alpha^2}.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "orthopt embed [OPTIONS] TRAIN\n       orthopt embed predict [OPTIONS] MODEL TRIPLES",
    after_help = EXAMPLES,
    after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"),
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_flag = true
)]
pub struct Args {
    #[command(flatten)]
    help: Help,

    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    training: Training,
}

#[derive(Debug, Subcommand)]
enum Command {
    Predict(predict::Args),
}

#[derive(Debug, clap::Args)]
struct Training {
    /// Triples for training
    #[arg(value_name = "TRAIN", required = true, value_hint = ValueHint::FilePath)]
    train: Option<PathBuf>,

    /// Triples for validation: the epoch with the best MRR on them is kept
    #[arg(long, value_name = "FILE", help_heading = "Data", value_hint = ValueHint::FilePath)]
    valid: Option<PathBuf>,

    /// Triples for testing, ranked once at the end
    #[arg(long, value_name = "FILE", help_heading = "Data", value_hint = ValueHint::FilePath)]
    test: Option<PathBuf>,

    /// Refuse data that need more memory: 500M, 8G [default: nine tenths of what is free]
    #[arg(long, value_name = "SIZE", help_heading = "Data")]
    max_memory: Option<Size>,

    #[command(flatten)]
    choices: Choices,

    /// Seconds of training; without --epochs only these and --patience end it
    #[arg(long, value_name = "SECONDS", help_heading = "Run")]
    time_limit: Option<f64>,

    /// Threads; the result does not depend on their number [default: one per core]
    #[arg(long, value_name = "N", help_heading = "Run")]
    threads: Option<usize>,

    /// Continue from a checkpoint with its options, except --epochs, --patience and --eval-every
    #[arg(long, value_name = "FILE", help_heading = "Run", value_hint = ValueHint::FilePath)]
    resume: Option<PathBuf>,

    /// Write a checkpoint after every evaluation and at the end, also after Ctrl-C
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    checkpoint: Option<PathBuf>,

    /// Write the best model
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    save_model: Option<PathBuf>,

    /// Write the result as JSON; - is stdout
    #[arg(long, value_name = "FILE|-", help_heading = "Output", value_hint = ValueHint::FilePath)]
    json: Option<PathBuf>,

    /// Write seconds, epoch, loss, residual and ranking of valid, a line per epoch
    #[arg(long, value_name = "FILE.csv", help_heading = "Output", value_hint = ValueHint::FilePath)]
    trace: Option<PathBuf>,

    /// Draw loss and MRR on valid against time, .svg, .png or .pdf
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    plot: Option<PathBuf>,

    /// Print errors only: no summary, no notes, no progress bar
    #[arg(short, long, help_heading = "Output")]
    quiet: bool,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        Some(Command::Predict(args)) => predict::run(&args),
        None => train(&args.training),
    }
}

/// Conversion of errors of the library to errors of the command, whose types determine exit codes.
fn ours(error: orthopt_embed::Error) -> anyhow::Error {
    match error {
        orthopt_embed::Error::Data(error) => error.into(),
        orthopt_embed::Error::Option(error) => error.into(),
        other => other.into(),
    }
}

fn train(args: &Training) -> anyhow::Result<ExitCode> {
    let Some(train) = &args.train else { return Err(usage("embed needs TRAIN, a file of triples")) };
    check_files(args, train)?;
    args.time_limit.map(|seconds| at_least_zero("time-limit", seconds)).transpose()?;
    let timed = args.time_limit.is_some();
    args.choices.check(args.valid.is_some(), args.test.is_some(), args.save_model.is_some())?;
    let options = args.choices.options(timed);
    options.check().map_err(ours)?;
    use_threads(args.threads)?;
    let max_iters = ends(&options).map(|n| n as u64);
    let stopping = Stopping { max_iters, time_limit: args.time_limit, tol: 0.0, min_decrease: 0.0 };
    let mut progress = Progress::new(args.quiet, stopping);
    progress.stage(format!("reading {}", train.display()));
    let memory = args.max_memory.map(|size| size.0);
    let (graph, found) =
        read_graph(train, args.valid.as_deref(), args.test.as_deref(), memory).map_err(ours)?;
    notes(args, &graph, found, &progress);
    let mut trainer = match &args.resume {
        Some(path) => {
            let mut other = None;
            let change = |options: &mut orthopt_embed::Options| {
                other = args.choices.other_than(options);
                args.choices.again(options, timed);
            };
            let trainer = Trainer::resume(graph, path, memory, change).map_err(ours)?;
            if let Some(name) = other {
                return Err(usage(format!(
                    "--{name} differs from the checkpoint {}, whose options are used; leave it out",
                    path.display()
                )));
            }
            if ends(&trainer.model.options).is_none() && !timed {
                return Err(usage(
                    "the run of the checkpoint had a time limit and no number of epochs: give --epochs or --time-limit",
                ));
            }
            trainer
        }
        None if args.choices.signature() == Some(Signature::Auto) => {
            Trainer::racing(graph, &options, &options.signatures()).map_err(ours)?
        }
        None => Trainer::new(graph, &options).map_err(ours)?,
    };
    interrupt::keep_results();
    progress.run_begins();
    let mut failure = None;
    let ended = trainer.run(args.time_limit, interrupt::cancel(), |trainer, record| {
        progress.epoch(&line(record, trainer), record.epoch as u64, record.seconds);
        if record.valid.is_some()
            && !trainer.is_racing()
            && let Some(path) = &args.checkpoint
        {
            failure = trainer.save(path).err();
        }
    });
    progress.stage("ranking test");
    publish(args, &trainer, ended, failure.into_iter().map(ours).collect(), &progress)
}

/// The number of epochs, where there is one.
fn ends(options: &orthopt_embed::Options) -> Option<usize> {
    Some(options.epochs).filter(|n| *n != orthopt_embed::Options::NO_END)
}

/// Text of the progress bar after an epoch.
fn line(record: &Record, trainer: &Trainer) -> String {
    let options = &trainer.model.options;
    let racing =
        if trainer.is_racing() { format!("signature {}, ", options.signature) } else { String::new() };
    let valid = record.valid.map_or(String::new(), |m| format!("  valid MRR {}", text::number(m.mrr, 4)));
    format!(
        "{racing}epoch {}{}  loss {}  residual {:.0e}{valid}",
        record.epoch,
        ends(options).map_or(String::new(), |n| format!(" of {n}")),
        text::number(record.loss, 5),
        record.residual
    )
}

fn check_files(args: &Training, train: &Path) -> anyhow::Result<()> {
    if let Some(path) = &args.trace {
        check_ending("--trace", path, &[".csv"])?;
    }
    if let Some(path) = &args.plot {
        picture::check("--plot", path)?;
    }
    // a checkpoint may be gone on from and written again
    let resumed = args.resume.as_deref().filter(|path| Some(*path) != args.checkpoint.as_deref());
    Files::default()
        .reads("TRAIN", Some(train))
        .reads("--valid", args.valid.as_deref())
        .reads("--test", args.test.as_deref())
        .reads("--resume", resumed)
        .writes("--checkpoint", args.checkpoint.as_deref())
        .writes("--save-model", args.save_model.as_deref())
        .writes("--json", args.json.as_deref())
        .writes("--trace", args.trace.as_deref())
        .writes("--plot", args.plot.as_deref())
        .check()
}

/// Notes about the triples.
fn notes(args: &Training, graph: &Graph, found: Found, progress: &Progress) {
    let say = |count: usize, what: &str, then: &str| {
        if count > 0 {
            progress.note(&format!("{} {then}", text::count(count as u64, what)).into());
        }
    };
    say(found.headers, "header line", "(head, relation, tail) left out: names of columns and no triples");
    if found.order != orthopt_embed::Order::default() {
        progress.note(&format!("the columns of the triples are read as {}", found.order.name()).into());
    }
    say(found.duplicates, "triple", "occurred more than once: the first copy is kept");
    say(found.repeated, "triple", "of valid or test also in train");
    let fate = match args.choices.options(false).unknown {
        orthopt_embed::Unknown::Last => "they are ranked last (--unknown)",
        orthopt_embed::Unknown::LeaveOut => "triples with them are left out (--unknown)",
        _ => "they are ranked by their random embedding (--unknown)",
    };
    say(found.unknown_entities, "name", &format!("of valid or test not among the entities of train: {fate}"));
    say(found.unknown_relations, "relation", "of valid or test not in train: nothing is learned about them");
    if args.valid.is_some() && graph.valid.is_empty() {
        progress.note(&"valid has no triples: the last epoch is kept".into());
    }
    if args.test.is_some() && graph.test.is_empty() {
        progress.note(&"test has no triples: nothing is ranked".into());
    }
}

/// Files first, then the summary or the JSON. Error if a file cannot be written, after all others have been written.
fn publish(
    args: &Training,
    trainer: &Trainer,
    ended: Ended,
    mut failures: Vec<anyhow::Error>,
    progress: &Progress,
) -> anyhow::Result<ExitCode> {
    let best = trainer.best().map_err(ours)?;
    if let Some(path) = &args.checkpoint {
        failures.extend(trainer.save(path).err().map(ours));
    }
    if let Some(path) = &args.save_model {
        failures.extend(Saved::new(best.clone(), trainer.graph()).write(path).err().map(ours));
    }
    let ranks = |part: &[orthopt_embed::Triple]| match part.is_empty() {
        true => None,
        false => trainer.rank(&best, part, interrupt::cancel()), // nothing after a second Ctrl-C
    };
    let graph = trainer.graph();
    let parts = Parts { valid: ranks(&graph.valid), test: ranks(&graph.test) };
    progress.clear();
    let result = Result::of(trainer, &best, ended, &parts);
    if let Some(path) = &args.trace {
        failures.extend(report::trace(trainer.history(), path).err());
    }
    if let Some(path) = &args.plot {
        failures.extend(report::plot(&result, trainer.history(), path).err());
    }
    if !args.quiet && args.json.as_deref() != Some(Path::new("-")) {
        let no_choice = args.choices.signature().is_none() && args.resume.is_none();
        failures.extend(output::print(&result.summary(no_choice)).err());
    }
    if let Some(path) = &args.json {
        failures.extend(json::write(&result, path).err());
    }
    failures.iter().for_each(|failure| say("error", &explained(failure)));
    let code = code_of(ended.status());
    let interrupted = interrupt::asked();
    Ok(ExitCode::from(match failures.is_empty() {
        false => 1,
        true if interrupted => code_of(Status::Interrupted),
        true => code,
    }))
}
