//! `orthopt data info|convert|generate|gram`.

use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueHint};
use orthopt::report::TableFacts;
use orthopt::request::Size;
use orthopt_data::{DataSet, LoadOptions, Matrix, Missing, Role, generators, load, write_file, write_npy};
use serde::Serialize;

use crate::export::json;
use crate::failure::{ExitCode, say, usage};
use crate::files::Files;
use crate::look::{TableSummary, first_rows};
use crate::summary::Summary;
use crate::table_options::TableArgs;
use crate::wording::typed;
use crate::{data_request, output, text};

/// Inspect, convert and generate data; add up C of rows that do not fit memory
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,

    /// Refuse data that need more memory: 500M, 8G [default: nine tenths of what is free]
    #[arg(long, value_name = "SIZE", global = true)]
    max_memory: Option<Size>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Info(InfoArgs),
    Convert(ConvertArgs),
    Generate(GenerateArgs),
    Gram(super::gram::Args),
}

const INFO_EXAMPLES: &str = "\
Examples:
  orthopt data info data.svm.gz
  orthopt data info builtin:pitprops --json -";

/// Show shape, density, names, labels and range of DATA
#[derive(Debug, clap::Args)]
#[command(after_help = INFO_EXAMPLES)]
struct InfoArgs {
    /// A file, randn:M:N[:SEED] or builtin:NAME
    #[arg(value_hint = ValueHint::FilePath)]
    data: PathBuf,

    #[command(flatten)]
    table: TableArgs,

    /// The table is C itself
    #[arg(long)]
    gram: bool,

    /// Write this information as JSON; - is stdout, without the text
    #[arg(long, value_name = "FILE|-", value_hint = ValueHint::FilePath)]
    json: Option<PathBuf>,
}

const CONVERT_EXAMPLES: &str = "\
Examples:
  orthopt data convert data.svm data.npz
  orthopt data convert builtin:pitprops pitprops.csv";

/// Write DATA to a file in the format of its extension
///
/// Sparse data stay sparse in .svm, .mtx and .npz. Names are kept by .csv and .tsv, labels by
/// .svm and .npz. A final .gz compresses.
#[derive(Debug, clap::Args)]
#[command(after_help = CONVERT_EXAMPLES)]
struct ConvertArgs {
    /// A file, randn:M:N[:SEED] or builtin:NAME
    #[arg(value_hint = ValueHint::FilePath)]
    data: PathBuf,

    /// File to write: .svm, .mtx, .npy, .npz, .csv or .tsv, each also .gz
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,

    #[command(flatten)]
    table: TableArgs,
}

const GENERATE_EXAMPLES: &str = "\
Examples:
  orthopt data generate randn:500:1000:7 randn.npy
  orthopt data generate spiked:200:50:3:5 spiked.csv --truth truth.npy
  orthopt list generators";

/// Write random data to a file
#[derive(Debug, clap::Args)]
#[command(after_help = GENERATE_EXAMPLES)]
struct GenerateArgs {
    /// A generator with its numbers, such as spiked:200:50:3:5 (see `orthopt list generators`)
    spec: String,

    /// File to write: .svm, .mtx, .npy, .npz, .csv or .tsv, each also .gz
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,

    /// Write the true components, for generators that have them
    #[arg(long, value_name = "FILE.npy", value_hint = ValueHint::FilePath)]
    truth: Option<PathBuf>,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let how = LoadOptions { max_memory: args.max_memory.map(|size| size.0), ..LoadOptions::default() };
    match args.command {
        Command::Info(args) => info(&args, &how)?,
        Command::Convert(args) => convert(&args, &how)?,
        Command::Generate(args) => generate(&args, &how)?,
        Command::Gram(args) => return super::gram::run(&args, &how),
    }
    Ok(ExitCode::SUCCESS)
}

fn info(args: &InfoArgs, how: &LoadOptions) -> anyhow::Result<()> {
    let files = args.table.files(Files::default().reads("DATA", Some(&args.data)));
    files.writes("--json", args.json.as_deref()).check()?;
    let mut how = LoadOptions { missing: Missing::Keep, gram: args.gram, ..args.table.added_to(how)? };
    how.table.drop_text = true; // columns of text are listed, not refused
    let data = load(&args.data, &how)?;
    let look = TableSummary::of(&data, &args.data);
    let facts = Facts::of(&data, &look);
    if args.json.as_deref() != Some(Path::new("-")) {
        output::print(&facts.text(&data))?;
        data.how.notes.iter().for_each(|note| say("note", &note.worded(typed)));
    }
    match &args.json {
        Some(path) => json::write(&facts, path),
        None => Ok(()),
    }
}

fn convert(args: &ConvertArgs, how: &LoadOptions) -> anyhow::Result<()> {
    let files = args.table.files(Files::default().reads("DATA", Some(&args.data)));
    files.writes("FILE", Some(&args.file)).check()?;
    let data = load(&args.data, &args.table.added_to(how)?)?;
    write_file(&args.file, &data)?;
    data.how.notes.iter().for_each(|note| say("note", &note.worded(typed)));
    if data.role == Role::Gram {
        say(
            "note",
            &format!("the table holds C, not samples: give the file with --gram {}", args.file.display()),
        );
    }
    output::print_line(&wrote(&args.file, &data))
}

fn generate(args: &GenerateArgs, how: &LoadOptions) -> anyhow::Result<()> {
    let names: Vec<_> = generators().into_iter().map(|(form, _)| form).collect();
    let is_generator = names.iter().any(|form| {
        let name = form.split([':', '[']).next().unwrap_or(form);
        args.spec.split(':').next() == Some(name)
    });
    if !is_generator {
        return Err(usage(format!(
            "`{}` is not a generator; generators are: {}",
            args.spec,
            names.join(", ")
        )));
    }
    let files = Files::default().writes("FILE", Some(&args.file));
    files.writes("--truth", args.truth.as_deref()).check()?;
    let data = load(&args.spec, how)?;
    let truth = match (&args.truth, &data.truth) {
        (None, _) => None,
        (Some(path), Some(truth)) => Some((path, truth)),
        (Some(_), None) => {
            return Err(usage(format!(
                "--truth: {} has no true components; only the spiked generators have them",
                data.source
            )));
        }
    };
    write_file(&args.file, &data)?;
    output::print_line(&wrote(&args.file, &data))?;
    let Some((path, truth)) = truth else { return Ok(()) };
    write_npy(path, truth.as_ref())?;
    let (rows, cols) = truth.shape();
    output::print_line(&format!("wrote {}: {rows} x {cols}, the true components", path.display()))
}

fn wrote(path: &Path, data: &DataSet) -> String {
    let (rows, cols) = (data.matrix.nrows(), data.matrix.ncols());
    format!("wrote {}: {rows} x {cols} from {}", path.display(), data.source)
}

/// Description of a data set.
#[derive(Debug, Serialize)]
struct Facts {
    source: String,
    rows: usize,
    cols: usize,
    nnz: usize,
    density: f64,
    storage: &'static str,
    role: &'static str,
    min: f64,
    max: f64,
    empty_rows: usize,
    empty_cols: usize,
    names: Option<Vec<String>>,
    labels: Option<Vec<LabelCount>>,
    truth: Option<[usize; 2]>,
    #[serde(flatten)]
    table: TableFacts,
    columns: Vec<ColumnFacts>,
    #[serde(flatten)]
    look: TableSummary,
}

/// A column of the file.
#[derive(Debug, Serialize)]
struct ColumnFacts {
    name: String,
    kind: &'static str,
    left_out: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct LabelCount {
    label: f64,
    rows: usize,
}

impl Facts {
    fn of(data: &DataSet, look: &TableSummary) -> Self {
        let (rows, cols) = (data.matrix.nrows(), data.matrix.ncols());
        let column = |c: &orthopt_data::Column| ColumnFacts {
            name: c.name.clone(),
            kind: c.kind.name(),
            left_out: c.left_out,
        };
        let nnz = data.matrix.nnz();
        let scan = Scan::of(&data.matrix);
        Self {
            source: data.source.clone(),
            rows,
            cols,
            nnz,
            density: nnz as f64 / (rows as f64 * cols as f64),
            storage: if data.matrix.is_sparse() { "sparse" } else { "dense" },
            role: if data.role == Role::Gram { "gram" } else { "samples" },
            min: scan.min,
            max: scan.max,
            empty_rows: scan.filled_rows.iter().filter(|filled| !**filled).count(),
            empty_cols: scan.empty_cols,
            names: data.names.clone(),
            labels: data.labels.as_deref().map(count_labels),
            truth: data.truth.as_ref().map(|t| [t.nrows(), t.ncols()]),
            table: data_request::facts(&data.how, data.sentence()),
            columns: data.how.columns.iter().map(column).collect(),
            look: look.clone(),
        }
    }

    fn text(&self, data: &DataSet) -> String {
        let mut summary = Summary::default();
        let mut line = |label: &str, value: String| summary.line(label, &value);
        line("source", self.source.clone());
        line("read as", self.table.read.clone());
        line("shape", format!("{} x {} ({})", self.rows, self.cols, self.rows_are()));
        let nnz = text::grouped(self.nnz as u64);
        line("nonzeros", format!("{nnz}, {} % of the entries", text::number(100.0 * self.density, 3)));
        line("storage", self.storage.into());
        line("values", format!("{} to {}", text::exact(self.min), text::exact(self.max)));
        line("empty rows", self.empty_rows.to_string());
        line("empty columns", self.empty_cols.to_string());
        line("names", self.names.as_deref().map_or("none".into(), first_few));
        line("labels", self.labels.as_deref().map_or("none".into(), label_summary));
        if let Some([n, r]) = self.truth {
            line("truth", format!("{n} x {r} true components"));
        }
        for (label, value) in self.look.lines() {
            line(label, value);
        }
        summary.gap();
        first_rows(data).iter().for_each(|row| summary.sentence(row));
        summary.gap();
        summary.line("a first command", &self.look.command);
        summary.take()
    }

    fn rows_are(&self) -> &'static str {
        if self.role == "gram" { "C itself" } else { "samples x variables" }
    }
}

fn first_few(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN { format!("{shown}, ... ({} in all)", names.len()) } else { shown }
}

fn label_summary(labels: &[LabelCount]) -> String {
    const SHOWN: usize = 20;
    if labels.len() > SHOWN {
        let (low, high) = (labels[0].label, labels[labels.len() - 1].label);
        return format!("{} different values from {low} to {high}", labels.len());
    }
    let counts = labels.iter().map(|l| format!("{} ({} rows)", l.label, text::grouped(l.rows as u64)));
    counts.collect::<Vec<_>>().join(", ")
}

/// How many rows have each label, in order.
fn count_labels(labels: &[f64]) -> Vec<LabelCount> {
    let mut sorted = labels.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(|same| LabelCount { label: same[0], rows: same.len() }).collect()
}

/// One pass over every stored value.
struct Scan {
    min: f64,
    max: f64,
    filled_rows: Vec<bool>,
    empty_cols: usize,
}

impl Scan {
    fn of(matrix: &Matrix) -> Self {
        let mut scan = Self {
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            filled_rows: vec![false; matrix.nrows()],
            empty_cols: 0,
        };
        for j in 0..matrix.ncols() {
            let filled = match matrix {
                Matrix::Dense(a) => scan.column(a.col_as_slice(j).iter().copied().enumerate()),
                Matrix::Sparse(a) => scan.column(a.row_idx_of_col(j).zip(a.val_of_col(j).iter().copied())),
            };
            scan.empty_cols += usize::from(filled == 0);
        }
        if matrix.nnz() < matrix.nrows() * matrix.ncols() {
            (scan.min, scan.max) = (scan.min.min(0.0), scan.max.max(0.0)); // zeros that are not stored
        }
        scan
    }

    /// Returns the number of nonzeros.
    fn column(&mut self, entries: impl Iterator<Item = (usize, f64)>) -> usize {
        let mut filled = 0;
        for (i, value) in entries.filter(|entry| !entry.1.is_nan()) {
            (self.min, self.max) = (self.min.min(value), self.max.max(value));
            if value != 0.0 {
                self.filled_rows[i] = true;
                filled += 1;
            }
        }
        filled
    }
}
