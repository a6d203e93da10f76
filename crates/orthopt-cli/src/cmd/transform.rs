//! `orthopt transform MODEL.json DATA -o SCORES.csv`.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueHint;
use clap::builder::PossibleValuesParser;
use faer::Mat;
use orthopt::request::Size;
use orthopt_data::{DataSet, LoadOptions, Matrix, Missing, allow_memory, load, write_npy};

use crate::export::TABLES;
use crate::failure::{EXIT_CODES, ExitCode, say, usage};
use crate::files::Files;
use crate::model::Model;
use crate::rows::{Rows, scores, share_explained};
use crate::table_options::TableArgs;
use crate::wording::typed;
use crate::{output, text};

const EXAMPLES: &str = "\
Examples:
  Components of one table, scores of another with the same variables:
    orthopt solve l0-pca train.csv --scale std -r 3 --json model.json
    orthopt transform model.json test.csv -o scores.csv
  From a pipe, to a pipe:
    zcat new.csv.gz | orthopt transform model.json - -o - | head";

/// Scores of new rows: the components of `solve`, with the same centring and scaling
///
/// Columns are matched by name where both the model and DATA have names (in any order, others are left
/// out), else by position.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct Args {
    /// The result that `orthopt solve ... --json MODEL.json` wrote
    #[arg(value_name = "MODEL.json", value_hint = ValueHint::FilePath)]
    model: PathBuf,

    /// The rows, as for solve; - is stdin
    #[arg(value_name = "DATA", value_hint = ValueHint::FilePath)]
    data: PathBuf,

    /// File for the scores; - is stdout
    #[arg(short, long, value_name = "SCORES.csv|.tsv|.npy|-", value_hint = ValueHint::FilePath)]
    output: PathBuf,

    /// Treatment of missing values: error, mean of the column in the data of the model, or drop the row [default:
    /// error]
    #[arg(long, value_name = "HOW", value_parser = PossibleValuesParser::new(["error", "mean", "drop"]), hide_possible_values = true)]
    missing: Option<String>,

    /// Refuse data that need more memory: 500M, 8G [default: nine tenths of what is free]
    #[arg(long, value_name = "SIZE")]
    max_memory: Option<Size>,

    #[command(flatten)]
    table: TableArgs,

    /// No message about the written file
    #[arg(short, long)]
    quiet: bool,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let array = check_ending(&args.output)?;
    Files::default()
        .reads("MODEL.json", Some(&args.model))
        .reads("DATA", Some(&args.data))
        .writes("--output", Some(&args.output))
        .check()?;
    if let Some(size) = args.max_memory {
        allow_memory(size.0);
    }
    let model = Model::read(&args.model)?;
    let data = rows_of(args, &model)?;
    let (means, scales) = (model.means.as_deref(), model.scales.as_deref());
    let matrix = in_units(data.matrix, means, scales);
    let implicit = means.filter(|_| matrix.is_sparse()).map(|means| divided(means, scales));
    let scores = scores(&matrix, implicit.as_deref(), 1.0, &model.x);
    if let Some((i, k)) = first_not_finite(&scores) {
        anyhow::bail!(
            "{}: the score of row {} for component {} is {}: the numbers of this row, centred and scaled as the model says, are too large",
            args.data.display(),
            i + 1,
            k + 1,
            scores[(i, k)]
        );
    }
    let share = share_explained(&model.x, scores.as_ref(), sum_of_squares(&matrix, implicit.as_deref()));
    let rows = Rows { scores, names: data.row_names, labels: data.groups };
    match array {
        true => write_npy(&args.output, rows.scores.as_ref())?,
        false => rows.write(&args.output)?,
    }
    if !args.quiet && args.output != Path::new("-") {
        output::print_line(&wrote(&args.output, &rows, share))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Row and column of the first number that is not finite.
fn first_not_finite(scores: &Mat<f64>) -> Option<(usize, usize)> {
    let all = (0..scores.nrows()).flat_map(|i| (0..scores.ncols()).map(move |k| (i, k)));
    all.into_iter().find(|&(i, k)| !scores[(i, k)].is_finite())
}

/// Whether the scores go into a NumPy array, by the ending of the file.
fn check_ending(path: &Path) -> anyhow::Result<bool> {
    const ARRAYS: &[&str] = &[".npy", ".npy.gz"];
    let name = path.to_string_lossy().to_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    match (ends(ARRAYS), name == "-" || ends(TABLES)) {
        (array, table) if array || table => Ok(array),
        _ => {
            let known = [TABLES, ARRAYS].concat().join(", ");
            Err(usage(format!("--output {}: the name must end in {known}, or be -", path.display())))
        }
    }
}

/// The rows with the columns of the model, after the treatment of missing values.
fn rows_of(args: &Args, model: &Model) -> anyhow::Result<DataSet> {
    let missing = match args.missing.as_deref() {
        Some("drop") => Missing::Drop,
        Some("mean") => Missing::Keep, // of the model, not of these rows
        _ => Missing::Error,
    };
    let features = Some(model.x.nrows()); // LIBSVM files do not say how wide they are
    let mut table = args.table.options()?.with_marks_of(&model.layout);
    table.drop_text = true; // what the model does not need may be anything
    table.needed = model.names.clone().unwrap_or_default();
    let max_memory = args.max_memory.map(|size| size.0);
    let mut data =
        load(&args.data, &LoadOptions { missing, features, max_memory, table, ..LoadOptions::default() })?;
    data = model.columns_of(data).with_context(|| format!("with {}", args.model.display()))?;
    if !args.quiet {
        data.how.notes.iter().for_each(|note| say("note", &note.worded(typed)));
    }
    if let (Missing::Keep, Matrix::Dense(a)) = (missing, &mut data.matrix) {
        data.missing = fill(a, model)?;
    }
    if data.missing > 0 && !args.quiet {
        let count = text::count(data.missing as u64, "missing value");
        say("note", &format!("{count} in {}, treated as --missing says", data.source));
    }
    Ok(data)
}

/// Fills in the means of the model; returns the number of missing values.
fn fill(a: &mut Mat<f64>, model: &Model) -> anyhow::Result<usize> {
    let mut count = 0;
    for j in 0..a.ncols() {
        for value in a.col_as_slice_mut(j).iter_mut().filter(|value| value.is_nan()) {
            let Some(means) = &model.means else {
                return Err(usage(
                    "--missing mean needs a model with column means: this model was made without --center",
                ));
            };
            *value = means[j];
            count += 1;
        }
    }
    Ok(count)
}

/// (A − means) / scales of dense data; sparse data are only divided.
fn in_units(matrix: Matrix, means: Option<&[f64]>, scales: Option<&[f64]>) -> Matrix {
    let unit = |j: usize| (means.map_or(0.0, |means| means[j]), scales.map_or(1.0, |scales| scales[j]));
    match matrix {
        Matrix::Dense(mut a) => {
            for j in 0..a.ncols() {
                let (mean, scale) = unit(j);
                a.col_as_slice_mut(j).iter_mut().for_each(|value| *value = (*value - mean) / scale);
            }
            a.into()
        }
        Matrix::Sparse(mut a) => {
            for j in 0..a.ncols() {
                let (_, scale) = unit(j);
                a.val_of_col_mut(j).iter_mut().for_each(|value| *value /= scale);
            }
            a.into()
        }
    }
}

fn divided(means: &[f64], scales: Option<&[f64]>) -> Vec<f64> {
    means.iter().enumerate().map(|(j, mean)| mean / scales.map_or(1.0, |scales| scales[j])).collect()
}

/// Of A − 1·meansᵀ.
fn sum_of_squares(matrix: &Matrix, means: Option<&[f64]>) -> f64 {
    let (rows, mean) = (matrix.nrows(), |j: usize| means.map_or(0.0, |means| means[j]));
    let column = |j: usize| -> f64 {
        let stored: &[f64] = match matrix {
            Matrix::Dense(a) => a.col_as_slice(j),
            Matrix::Sparse(a) => a.val_of_col(j),
        };
        let absent = (rows - stored.len()) as f64;
        stored.iter().map(|value| (value - mean(j)).powi(2)).sum::<f64>() + absent * mean(j).powi(2)
    };
    (0..matrix.ncols()).map(column).sum()
}

fn wrote(path: &Path, rows: &Rows, share: Option<f64>) -> String {
    let (m, r) = rows.scores.shape();
    let explained = share.map_or(String::new(), |share| {
        format!("; the components explain {:.2} % of the sum of squares of these rows", 100.0 * share)
    });
    format!("wrote {}: {m} x {r} scores{explained}", path.display())
}
