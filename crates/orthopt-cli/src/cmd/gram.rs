//! `orthopt data gram FILES... -o C.npz`.

use std::path::PathBuf;

use clap::ValueHint;
use orthopt::solve::Stopping;
use orthopt_data::stream::{Accumulate, accumulate, files, read_accumulator, write_accumulator};
use orthopt_data::{GramAccumulator, LoadOptions, Summation};

use crate::failure::{ExitCode, say, usage};
use crate::files::Files;
use crate::progress::Progress;
use crate::table_options::TableArgs;
use crate::wording::typed;
use crate::{data_request, output, streamed, text};

const EXAMPLES: &str = "\
Examples:
  C of rows in many files, and a solution:
    orthopt data gram 'part-*.csv.gz' -o c.npz
    orthopt solve l0-pca --gram c.npz --scale std -r 5
  More rows later, and sums made elsewhere:
    orthopt data gram new.csv --add c.npz -o c.npz
    orthopt data gram --add a.npz --add b.npz -o c.npz";

/// Add up C = A'A of rows in files, part by part
///
/// Memory holds the sums (16 bytes for each of n*n/2 entries; 32 with --reproducible; refused
/// in advance if it does not fit) and one part of a file. The .npz file has C as X, for --gram and numpy.load, and
/// the sums, to which more rows can be added; centring and scaling are applied when the file is used.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "orthopt data gram FILES... -o C.npz [OPTIONS]")]
pub struct Args {
    /// Files of rows, in the formats of DATA; names may contain * and ?. An .npz file of this command adds its sums
    #[arg(value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,

    /// File for C and the sums
    #[arg(short, long, value_name = "C.npz", value_hint = ValueHint::FilePath)]
    output: PathBuf,

    /// Add to the sums of an earlier file, which may be the output file
    #[arg(long, value_name = "C.npz", value_hint = ValueHint::FilePath)]
    add: Vec<PathBuf>,

    /// Sums that are bitwise independent of the order of rows and files; two to seven times slower
    #[arg(long)]
    reproducible: bool,

    /// Treatment of missing values: error, or drop their rows [default: error]
    #[arg(long, value_name = "HOW")]
    missing: Option<String>,

    #[command(flatten)]
    table: TableArgs,
}

/// # Errors
/// Files that cannot be read or written, or that are incompatible.
pub fn run(args: &Args, how: &LoadOptions) -> anyhow::Result<ExitCode> {
    if args.output.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("npz")) {
        return Err(usage(format!("-o {}: the name must end in .npz", args.output.display())));
    }
    let (rows, earlier) = parts(args, how)?;
    let read = rows.iter().fold(Files::default(), |files, path| files.reads("FILES", Some(path)));
    read.writes("-o", Some(&args.output)).check()?;
    let exact = earlier.as_ref().map(GramAccumulator::is_reproducible);
    if args.reproducible && exact == Some(false) {
        return Err(usage("--reproducible: the existing sums are not reproducible; sum the rows again"));
    }
    let reproducible = args.reproducible || exact == Some(true);
    let summation = if reproducible { Summation::Reproducible } else { Summation::Compensated };
    let before = earlier.as_ref().map_or(0, GramAccumulator::rows);
    let mut read = None;
    let (sums, dropped) = match (earlier, rows.is_empty()) {
        (None, true) => return Err(usage("FILES are missing: orthopt data gram FILES... -o C.npz")),
        (Some(sums), true) => (sums, 0),
        (earlier, false) => {
            let never = Stopping { max_iters: None, time_limit: None, tol: 0.0, min_decrease: 0.0 };
            let progress = Progress::new(false, never);
            let how = args.table.added_to(how)?;
            let load = LoadOptions { missing: data_request::missing(args.missing.as_deref())?, ..how };
            let request = Accumulate { how: summation, load, ..Accumulate::default() };
            let found = accumulate(&rows, &request, earlier, &mut |step| progress.reading(step))?;
            progress.clear();
            read = Some((
                found.read.sentence(found.sums.rows() as usize, found.sums.columns(), false),
                found.read.notes,
            ));
            (found.sums, found.missing)
        }
    };
    write_accumulator(&args.output, &sums)?;
    if let Some((sentence, notes)) = read {
        notes.iter().for_each(|note| say("note", &note.worded(typed)));
        output::print_line(&format!("read as {sentence}"))?;
    }
    let kind = if reproducible { "reproducible" } else { "compensated" };
    let mut text = format!(
        "wrote {}: C of {} columns, {}, {kind} sums",
        args.output.display(),
        text::grouped(sums.columns() as u64),
        text::count(sums.rows(), "row"),
    );
    if before > 0 {
        text += &format!(" ({} of them in the earlier file)", text::grouped(before));
    }
    if dropped > 0 {
        text += &format!(", rows with {} left out", text::count(dropped as u64, "missing value"));
    }
    output::print_line(&format!("{text}; {} of memory", streamed::memory(sums.columns(), summation)))?;
    Ok(ExitCode::SUCCESS)
}

/// The files of rows, and all sums of earlier files together.
fn parts(args: &Args, how: &LoadOptions) -> anyhow::Result<(Vec<PathBuf>, Option<GramAccumulator>)> {
    let (mut rows, mut earlier) = (Vec::new(), None::<GramAccumulator>);
    for path in args.add.iter().chain(&files(&args.files)?) {
        match read_accumulator(path, how.max_memory)? {
            Some(sums) => match &mut earlier {
                Some(earlier) => earlier.merge(&sums)?,
                None => earlier = Some(sums),
            },
            None if args.add.contains(path) => {
                let problem = "it holds no sums of `data gram`; give it without --add to add its rows";
                return Err(usage(format!("--add {}: {problem}", path.display())));
            }
            None => rows.push(path.clone()),
        }
    }
    Ok((rows, earlier))
}
