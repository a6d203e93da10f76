//! `orthopt bound PROBLEM DATA`.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueHint;
use orthopt::RowMat;
use orthopt::bound::Bound;
use orthopt::cancel::Cancel;
use orthopt::family::{AnyProblem, Call};
use orthopt::job::{PlannedRun, PosedJob};
use orthopt::report::{Assessment, BoundObject, Global, Report, Task};
use orthopt::request::Request;
use orthopt_data::NpzArray;

use crate::configured::Configured;
use crate::export::{Output, What, json, pictures};
use crate::failure::{EXIT_CODES, ExitCode, say, usage};
use crate::global::{self, Effort};
use crate::input::{Input, check_rows, read_x};
use crate::options::Typed;
use crate::pose::pose;
use crate::progress::Progress;
use crate::run;
use crate::settings::{Settings, at_least_zero};
use crate::summary::Summary;
use crate::wording::{explained, word};
use crate::{interrupt, output, text};

const EXAMPLES: &str = "\
Examples:
  Proof that the first example of solve is a global minimum:
    orthopt bound l0-pca builtin:pitprops -r 3 --lambda 0.1
  Gap of a given X to the minimum, ten minutes at most:
    orthopt bound nonneg-pca data.csv --center --x x.npy --time-limit 600
  At most 5 nonzeros in each of two components, no other penalty, with a proof to cite:
    orthopt bound l0-pca builtin:pitprops -r 2 --nonzeros 5 --proof proof.json
    orthopt check-proof proof.json builtin:pitprops";

/// Compute a lower bound of F over all feasible X, and the gap between it and the best X
///
/// The incumbent is X of --x, or the X of the default solver. Bounds hold in floating point; a gap of 0 proves that F
/// is the global minimum. There are bounds for l0-pca, l1-pca (a weak one), nonneg-pca and pca. Options of the solver
/// apply to the incumbent.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "orthopt bound [OPTIONS] PROBLEM DATA\n       orthopt bound [OPTIONS] PROBLEM --gram FILE",
    after_help = EXAMPLES,
    after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"),
    disable_help_flag = true
)]
pub struct Args {
    #[command(flatten)]
    configured: Configured,

    #[command(flatten)]
    options: Typed,

    /// The incumbent, n x r with X'X = I to 1e-6 [default: the X that solve finds in .3 of --time-limit]
    #[arg(long, value_name = "X.npy", help_heading = "Bound", value_hint = ValueHint::FilePath)]
    x: Option<PathBuf>,

    /// Limit on the nodes of branch and bound; 0 is the relaxation alone [default: as many as time allows]
    #[arg(long, value_name = "N", help_heading = "Bound")]
    nodes: Option<u64>,

    /// Write the dual matrix Z that proves the bound of the relaxation, n x n; .npz holds all that a check of the
    /// proof needs
    #[arg(long, value_name = "FILE.npy|.npz", help_heading = "Output", value_hint = ValueHint::FilePath)]
    save_dual: Option<PathBuf>,

    /// Write what is proved, with X and all numbers that prove it, for `orthopt check-proof`
    #[arg(long, value_name = "FILE.json", help_heading = "Output", value_hint = ValueHint::FilePath)]
    proof: Option<PathBuf>,
}

/// Options in addition to those of `solve`.
struct BoundOptions {
    x: Option<PathBuf>,
    effort: Effort,
    dual: Option<PathBuf>,
    proof: Option<PathBuf>,
    save_x: Option<PathBuf>,
    plot: Option<PathBuf>,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let mut options = args.configured.options(args.options.0)?;
    args.configured
        .files(&options)
        .reads("--x", args.x.as_deref())
        .writes("--save-dual", args.save_dual.as_deref())
        .writes("--proof", args.proof.as_deref())
        .check()?;
    let extra = BoundOptions::of(&mut options, args.x, args.nodes, (args.save_dual, args.proof))?;
    let call = if extra.x.is_some() { Call::BoundOfX } else { Call::Bound };
    let own: &[&str] = if extra.effort.nodes.is_some() { &["nodes"] } else { &[] };
    let settings = args.configured.settings(call, &mut options, own)?;
    if extra.x.is_some() {
        let set = settings.job.request.solver_constants().iter().next().map(|(name, _)| name.to_string());
        if let Some(name) = set {
            return Err(usage(format!(
                "--{name} is an option of a solver, but no solver runs when --x gives X; leave it out"
            )));
        }
    }
    settings.outputs.iter().try_for_each(|output| output.check_is_for("bound"))?;
    start(settings, &extra)
}

impl BoundOptions {
    /// Request for a bound; takes the limits and files of a bound out of `options`.
    fn of(
        options: &mut Request,
        x: Option<PathBuf>,
        nodes: Option<u64>,
        (dual, proof): (Option<PathBuf>, Option<PathBuf>),
    ) -> anyhow::Result<Self> {
        if options.trace.is_some() {
            return Err(usage("bound does not write a trace; --plot draws F and its bound"));
        }
        if options.bound.is_some() {
            return Err(usage("--bound is an option of solve; set the time of bound with --time-limit"));
        }
        if options.certify == Some(true) || options.certify_sample.is_some() {
            return Err(usage(
                "bound does not check pairs of rows; orthopt certify --global checks the pairs and computes the bound",
            ));
        }
        let seconds = at_least_zero("time-limit", options.time_limit.take().unwrap_or(global::SECONDS))?;
        let (save_x, plot) = (options.save_x.take(), options.plot.take());
        save_x.as_deref().map(|path| Output::new(What::X, path)).transpose()?;
        plot.as_deref().map(|path| Output::new(What::Plot, path)).transpose()?;
        if let Some(path) = dual.as_deref().filter(|path| ending(path).is_none()) {
            return Err(usage(format!("--save-dual {}: the name must end in .npy or .npz", path.display())));
        }
        let keeps = proof.is_some();
        Ok(Self { x, effort: Effort { seconds, nodes, memory: None, keeps }, dual, proof, save_x, plot })
    }
}

fn start(mut settings: Settings, extra: &BoundOptions) -> anyhow::Result<ExitCode> {
    let request = &mut settings.job.request;
    request.search_before_a_bound(extra.effort.seconds);
    let progress = Progress::new(settings.quiet, request.stopping());
    progress.stage(format!("reading {}", settings.data.source.display()));
    let input = Input::load(&settings.data)?;
    let given = extra.x.as_deref().map(|path| read_x("--x", path)).transpose()?;
    if let Some(x) = &given {
        check_rows("--x", x, input.info.cols)?;
        if request.rank_rule().is_some() {
            return Err(usage(format!("--rank: X of --x has {} columns; leave the rank out", x.ncols())));
        }
        request.rank.get_or_insert(x.ncols().into());
    }
    progress.stage("setting up the problem");
    let clock = interrupt::cancel().within(Some(extra.effort.seconds));
    let posed = pose(settings.job.clone(), &input, &clock)?;
    drop(input);
    posed.task.notes.iter().for_each(|note| progress.note(note));
    of_posed(&settings, (extra, &clock), &posed, given, progress)
}

/// An X, its F, and how it came about.
struct Incumbent {
    x: RowMat,
    source: String,
    report: Option<Report>,
}

fn of_posed(
    settings: &Settings,
    (extra, clock): (&BoundOptions, &Cancel),
    posed: &PosedJob,
    given: Option<RowMat>,
    mut progress: Progress,
) -> anyhow::Result<ExitCode> {
    let (task, problem) = (&posed.task, &posed.problem);
    if extra.proof.is_some() {
        problem.statement(task.problem.name)?; // what no file could prove needs no incumbent
    }
    let incumbent = match given {
        Some(x) => {
            posed.check_x(false)?;
            interrupt::keep_results();
            read(extra, problem, x)?
        }
        None => {
            progress.stage("choosing the starting point");
            let run = run::plan(posed)?;
            interrupt::keep_results();
            solved(posed, &run, &mut progress)?
        }
    };
    let seconds = clock.left().unwrap_or_default();
    let effort = Effort { seconds, memory: posed.job.request.memory(), ..extra.effort };
    let found = global::bound(problem, Some(&incumbent.x), effort, &progress)?;
    progress.clear();
    publish(settings, extra, problem, task, &incumbent, &found)
}

/// X of `--x`, checked.
fn read(extra: &BoundOptions, problem: &AnyProblem, x: RowMat) -> anyhow::Result<Incumbent> {
    let source = extra.x.as_ref().map_or(String::new(), |path| path.display().to_string());
    let x = Assessment::repaired(problem, x, "X", 0.0).with_context(|| source.clone())?.x;
    Ok(Incumbent { x, source, report: None })
}

/// X of the default solver, or of the one that was named.
fn solved(posed: &PosedJob, run: &PlannedRun, progress: &mut Progress) -> anyhow::Result<Incumbent> {
    progress.run_begins();
    let report = run::minimise(posed, run, progress)?;
    let time = text::duration(report.solution.seconds);
    let source = format!("{} from {} in {time}", report.solver, report.start);
    Ok(Incumbent { x: report.x().clone(), source, report: Some(report) })
}

/// Files first; then the summary or the JSON. Error if a file cannot be written, after all others have been written.
fn publish(
    settings: &Settings,
    extra: &BoundOptions,
    problem: &AnyProblem,
    task: &Task,
    incumbent: &Incumbent,
    found: &Bound,
) -> anyhow::Result<ExitCode> {
    let mut failures: Vec<anyhow::Error> = Vec::new();
    let x = found.x.as_ref().unwrap_or(&incumbent.x);
    if let Some(path) = &extra.save_x {
        failures.extend(orthopt_data::write_npy(path, x.as_mat()).err().map(Into::into));
    }
    if let Some(path) = &extra.dual {
        failures.extend(save_dual(problem, found, path).err());
    }
    if let Some(path) = &extra.proof {
        failures.extend(write_proof((task, problem), (found, x), path).err());
    }
    if let Some(path) = &extra.plot {
        failures.extend(
            pictures::write_bound((task, incumbent.report.as_ref()), found, path, settings.look).err(),
        );
    }
    let global = Global::of(found);
    let from = match &found.x {
        Some(_) => "found while computing the bound".into(),
        None => incumbent.source.clone(),
    };
    if settings.prints() {
        failures.extend(output::print(&summary(task, &global, &from)).err());
    }
    if let Some(path) = &settings.json {
        let findings = BoundObject::new(task, found, from, word);
        failures.extend(json::write(&findings, path).err());
    }
    failures.iter().for_each(|failure| say("error", &explained(failure)));
    let interrupted = interrupt::asked();
    Ok(ExitCode::from(if !failures.is_empty() {
        1
    } else if interrupted {
        130
    } else {
        0
    }))
}

fn summary(task: &Task, global: &Global, incumbent: &str) -> String {
    let mut summary = Summary::default();
    summary.problem(task);
    summary.reasons(&task.reasons);
    summary.gap();
    let objective = global.objective.map_or("not finite".into(), |f| text::number(f, 10));
    summary.line("F", &format!("{objective}, {incumbent}"));
    summary.global(global);
    summary.take()
}

/// `npy` or `npz`.
fn ending(path: &Path) -> Option<&'static str> {
    let name = path.to_string_lossy().to_lowercase();
    ["npy", "npz"].into_iter().find(|ending| name.ends_with(&format!(".{ending}")))
}

fn write_proof(
    (task, problem): (&Task, &AnyProblem),
    proved: (&Bound, &RowMat),
    path: &Path,
) -> anyhow::Result<()> {
    let file = problem.proof_file(task.problem.name, proved, task.data.prepared(), interrupt::cancel())?;
    json::write(&file, path)
}

fn save_dual(problem: &AnyProblem, found: &Bound, path: &Path) -> anyhow::Result<()> {
    let dual = problem.dual(found)?;
    if ending(path) != Some("npz") {
        return Ok(orthopt_data::write_npy(path, dual.z.as_mat())?);
    }
    let limits = problem.limit_dual(found.objective, interrupt::cancel())?;
    let mut arrays = vec![
        ("C", NpzArray::Matrix(dual.c.as_mat())),
        ("Z", NpzArray::Matrix(dual.z.as_mat())),
        ("method", NpzArray::Text(dual.method.name())),
    ];
    arrays.extend(dual.numbers().map(|(name, value)| (name, NpzArray::Number(value))));
    if let Some(limits) = &limits {
        arrays.extend(limits.arrays().map(|(name, array)| (name, NpzArray::Matrix(array.as_mat()))));
        arrays.push(("root", NpzArray::Number(limits.bound)));
    }
    Ok(orthopt_data::write_npz(path, &arrays)?)
}
