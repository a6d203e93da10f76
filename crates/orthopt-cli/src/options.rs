//! The options of `solve` as they are typed or written in a config file: one struct for both.
//! What they mean is in [`crate::settings`].

use std::path::PathBuf;

use clap::ValueHint;
use clap::builder::{PossibleValue, PossibleValuesParser};
use orthopt::family::PROBLEMS;
use orthopt::family::{all_penalties, check_solvers};
use orthopt::pair::step::MODELS;
use orthopt::search::EFFORTS;
use orthopt::smooth::PLACEMENTS;
use orthopt::solvers::jobcd::SIDES;
use orthopt::solvers::obcd::WORKING_SETS;
use orthopt_data::Missing;
use serde::{Deserialize, Serialize};

use crate::constants::Constants;
use crate::describe::shared;
use crate::limits::Counts;
use crate::size::Size;

/// Every option of `solve`; `None` is "not given".
///
/// The doc comments are the help texts. A config file has the long names as its keys.
#[derive(Clone, Debug, Default, PartialEq, clap::Args, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct SolveOptions {
    /// What to solve
    #[arg(value_name = "PROBLEM", value_parser = problems())]
    pub problem: Option<String>,

    /// The samples, one a row: a file (.svm .mtx .npy .npz .csv .tsv .txt, each also .gz), - for stdin,
    /// randn:M:N[:SEED], builtin:NAME; laplace:N is C itself
    #[arg(value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub data: Option<PathBuf>,

    /// More files of the same columns (* and ? may stand in names), as by --stream
    #[arg(value_name = "MORE", value_hint = ValueHint::FilePath, conflicts_with = "gram")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<PathBuf>,

    /// Give C itself (symmetric, n x n) instead of DATA
    #[arg(long, value_name = "FILE", conflicts_with = "data", help_heading = "Data", value_hint = ValueHint::FilePath)]
    pub gram: Option<PathBuf>,

    /// Subtract the mean of each column (sparse data stay sparse)
    #[arg(long, value_name = "BOOL", help_heading = "Data", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    pub center: Option<bool>,

    /// Scale the columns, after centring: std (standard deviation 1: C holds correlations; implies
    /// --covariance and --center), unit (2-norm 1), none, or a factor
    #[arg(long, value_name = "HOW", help_heading = "Data")]
    pub scale: Option<String>,

    /// C = A'A/(m - 1) of the centred columns, so that lambda does not depend on the number of samples
    #[arg(long, value_name = "BOOL", help_heading = "Data", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    pub covariance: Option<bool>,

    /// Missing values (NA, empty cells, NaN): error, mean of the column, drop the row, or em, a model of a
    /// few components [default: error]
    #[arg(long, value_name = "HOW", help_heading = "Data", value_parser = missing(), hide_possible_values = true, hide_short_help = true)]
    pub missing: Option<String>,

    /// Names of the columns, one a line (a vocabulary)
    #[arg(long, value_name = "FILE", help_heading = "Data", value_hint = ValueHint::FilePath)]
    pub names: Option<PathBuf>,

    /// Labels of the rows, one a line, for pictures
    #[arg(long, value_name = "FILE", help_heading = "Data", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub labels: Option<PathBuf>,

    /// Keep the first N columns only
    #[arg(long, value_name = "N", help_heading = "Data", hide_short_help = true)]
    pub features: Option<usize>,

    /// f keeps C (dense), A (gram) or what is smaller (auto)
    #[arg(long, value_name = "HOW", help_heading = "Data", value_parser = ["auto", "dense", "gram"], hide_possible_values = true, hide_short_help = true)]
    pub storage: Option<String>,

    /// Read rows part by part, keep C alone [default: above 1 GB]
    #[arg(long, value_name = "BOOL", help_heading = "Data", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, hide_short_help = true)]
    pub stream: Option<bool>,

    /// With --stream: the same bits for any order of rows; slower
    #[arg(long, value_name = "BOOL", help_heading = "Data", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, hide_short_help = true)]
    pub reproducible: Option<bool>,

    /// Keep the N columns with the largest variance; reads the rows twice
    #[arg(long, value_name = "N", help_heading = "Data", conflicts_with = "features")]
    pub screen: Option<usize>,

    /// Refuse data and problems that take more memory: 500M, 8G [default: nine tenths of what is free]
    #[arg(long, value_name = "SIZE", help_heading = "Data", hide_short_help = true)]
    pub max_memory: Option<Size>,

    /// r, the number of components [default: 5]
    #[arg(short, long, value_name = "R", help_heading = "Problem")]
    pub rank: Option<usize>,

    /// Weight of the penalty [default: for l0 a number of nonzeros instead; for others a share of the mean
    /// of the r largest C_ii]
    #[arg(long, value_name = "LAMBDA", help_heading = "Problem", allow_hyphen_values = true)]
    pub lambda: Option<f64>,

    /// Weight of the penalty l0 or l1 as a share of the largest useful one
    #[arg(long, value_name = "SHARE", help_heading = "Problem", allow_hyphen_values = true, conflicts_with_all = ["lambda", "nonzeros", "total_nonzeros", "variables"], hide_short_help = true)]
    pub relative_lambda: Option<f64>,

    /// At most K nonzeros in each component (K1,K2,...: one number for each; auto: the knee of variance
    /// against nonzeros) instead of lambda [default: auto for l0 without lambda]
    #[arg(long, value_name = "K", help_heading = "Problem", conflicts_with_all = ["total_nonzeros", "variables"])]
    pub nonzeros: Option<Counts>,

    /// At most K nonzeros in all components together
    #[arg(long, value_name = "K", help_heading = "Problem", conflicts_with = "variables")]
    pub total_nonzeros: Option<usize>,

    /// At most K variables, the same ones for all components; with --lambda each costs LAMBDA
    #[arg(long, value_name = "K", help_heading = "Problem")]
    pub variables: Option<usize>,

    /// What holds between two components: orthogonal loadings (X'X = I), uncorrelated scores (X'CX
    /// diagonal, columns of length 1), or both, for l0-pca with limits of nonzeros [default: orthogonal]
    #[arg(long, value_name = "NAME", help_heading = "Problem", hide_short_help = true)]
    pub constraint: Option<String>,

    /// What components maximise: variance, adjusted (of each score what those before it do not have: none repeats
    /// another), polar (the same without an order) or explained (what a regression on the scores gives back), for
    /// l0-pca and pca [default: variance]
    #[arg(long, value_name = "NAME", help_heading = "Problem")]
    pub maximise: Option<String>,

    /// joint: all components together; sequential: each the best one beside those before it [default: joint]
    #[arg(long, value_name = "NAME", help_heading = "Problem", hide_short_help = true)]
    pub order: Option<String>,

    /// Least number of nonzeros in a component, with --total-nonzeros [default: 1]
    #[arg(long, value_name = "K", help_heading = "Problem", hide_short_help = true)]
    pub min_nonzeros: Option<usize>,

    /// Largest number of nonzeros in a component, with --total-nonzeros [default: all]
    #[arg(long, value_name = "K", help_heading = "Problem", hide_short_help = true)]
    pub max_nonzeros: Option<usize>,

    /// Another penalty for a PCA problem; `orthopt list penalties` shows all
    #[arg(long, value_name = "NAME", help_heading = "Problem", value_parser = penalties(), hide_possible_values = true)]
    pub penalty: Option<String>,

    /// k of dc-pca and l1-largest-k: so many entries of X are free of penalty [default: 5 %]
    #[arg(long, value_name = "K", help_heading = "Problem", hide_short_help = true)]
    pub k: Option<usize>,

    /// A in h(A(X)): differences, rows:LIST, columns:LIST, or a file with B, A(X) = BX
    #[arg(long, value_name = "MAP|FILE.npy", help_heading = "Problem", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub map: Option<String>,

    /// J of X'JX = J: P ones (below 1: a share of them), then minus ones, or a file with signs [default: half]
    #[arg(long, value_name = "P|FILE", help_heading = "Problem", hide_short_help = true)]
    pub signature: Option<String>,

    /// hyperbolic-eig: add R * tr(C)/n to the diagonal of C
    #[arg(
        long,
        value_name = "R",
        help_heading = "Problem",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub ridge: Option<f64>,

    /// hyperbolic-eig as the paper prints it, min -tr(X'CX) with C = A'A, which has no lower bound
    #[arg(long, value_name = "BOOL", help_heading = "Problem", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, hide_short_help = true)]
    pub reproduction: Option<bool>,

    /// probe: distances to match, m x m [default: Euclidean ones]
    #[arg(long, value_name = "FILE", help_heading = "Problem", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub distances: Option<PathBuf>,

    /// probe: radius of the ultrahyperbolic space [default: 1]
    #[arg(
        long,
        value_name = "RADIUS",
        help_heading = "Problem",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub radius: Option<f64>,

    /// probe: where phi stands, after (of DX) or before X (of D alone, as printed: F is then the same for every
    /// feasible X, a free check that X is) [default: after]
    #[arg(long, value_name = "WHERE", help_heading = "Problem", value_parser = placements(), hide_possible_values = true, hide_short_help = true)]
    pub placement: Option<String>,

    /// nonlinear-eig: E of the linear term, a file or randn[:SEED]
    #[arg(long, value_name = "FILE", help_heading = "Problem", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub linear: Option<String>,

    /// `orthopt list solvers` shows all; A+B runs B from where A ended [default: auto, which chooses and
    /// says why]
    #[arg(long, value_name = "NAME[+NAME...]", help_heading = "Solver and start", value_parser = solvers())]
    pub solver: Option<String>,

    /// X0: identity, coordinates, pca, random, partition, eigen, or a file
    #[arg(long, value_name = "START|FILE.npy", help_heading = "Solver and start", value_hint = ValueHint::FilePath)]
    pub init: Option<String>,

    /// How long auto searches: quick, normal or thorough [default: normal; with a limit, until the limit]
    #[arg(long, value_name = "HOW", help_heading = "Solver and start", value_parser = efforts())]
    pub effort: Option<String>,

    /// Further starts of one solver; the best X counts [default: as the time limit allows; auto searches
    /// instead, see --effort]
    #[arg(long, value_name = "N", help_heading = "Solver and start", hide_short_help = true)]
    pub restarts: Option<u64>,

    /// Seed of all random choices [default: 0]
    #[arg(long, value_name = "SEED", help_heading = "Solver and start")]
    pub seed: Option<u64>,

    /// Threads to use [default: all]; X does not depend on it
    #[arg(long, value_name = "N", help_heading = "Solver and start")]
    pub threads: Option<usize>,

    /// Stop after so many iterations (working sets tried)
    #[arg(long, value_name = "N", help_heading = "Stopping", hide_short_help = true)]
    pub max_iters: Option<u64>,

    /// Stop after so many seconds in the solver
    #[arg(long, value_name = "SECONDS", help_heading = "Stopping", allow_hyphen_values = true)]
    pub time_limit: Option<f64>,

    /// Converged when no pair lowers F by more than TOL * (scale + |F|), or stationarity is at most 1000 TOL
    /// [default: 1e-9]
    #[arg(
        long,
        value_name = "TOL",
        help_heading = "Stopping",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub tol: Option<f64>,

    /// Stalled when a pass lowers F by less [default: 0, never]
    #[arg(
        long,
        value_name = "TOL",
        help_heading = "Stopping",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub min_decrease: Option<f64>,

    #[arg(long, value_name = "RULE", help = shared("working-set"), help_heading = "OBCD and JOBCD", value_parser = working_sets(), hide_possible_values = true, hide_short_help = true)]
    pub working_set: Option<String>,

    #[arg(long, value_name = "K", help = shared("block"), help_heading = "OBCD and JOBCD", hide_short_help = true)]
    pub block: Option<usize>,

    #[arg(long, value_name = "MODEL", help = shared("model"), help_heading = "OBCD and JOBCD", value_parser = models(), hide_possible_values = true, hide_short_help = true)]
    pub model: Option<String>,

    #[arg(long, value_name = "ALPHA", help = shared("alpha"), help_heading = "OBCD and JOBCD", allow_hyphen_values = true, hide_short_help = true)]
    pub alpha: Option<f64>,

    #[arg(long, value_name = "N|all", help = shared("candidates"), help_heading = "OBCD and JOBCD", hide_short_help = true)]
    pub candidates: Option<String>,

    #[arg(long, value_name = "SIDE", help = shared("side"), help_heading = "OBCD and JOBCD", value_parser = sides(), hide_possible_values = true, hide_short_help = true)]
    pub side: Option<String>,

    #[arg(long, value_name = "BOOL", help = shared("jacobi"), help_heading = "OBCD and JOBCD", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true, hide_short_help = true)]
    pub jacobi: Option<bool>,

    /// Check all pairs of rows: block-2 stationary, or what is left to gain
    #[arg(long, value_name = "BOOL", help_heading = "Certificate", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    pub certify: Option<bool>,

    /// Check so many random pairs instead of all
    #[arg(long, value_name = "PAIRS", help_heading = "Certificate", hide_short_help = true)]
    pub certify_sample: Option<u64>,

    /// Bound F over all feasible X too: how far X can be from the minimum [60 seconds if none are given]
    #[arg(long, value_name = "SECONDS", help_heading = "Certificate", num_args = 0..=1, default_missing_value = "60", allow_negative_numbers = true)]
    pub bound: Option<f64>,

    /// Variables listed per component [default: 5]
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub top: Option<usize>,

    /// Write the result as JSON; - is stdout, without the summary
    #[arg(long, value_name = "FILE|-", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,

    /// Write the convergence curve, .csv or .jsonl
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub trace: Option<PathBuf>,

    /// Write X, n x r, .npy or .csv
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub save_x: Option<PathBuf>,

    /// Write the loadings with all names, .csv or .tsv
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub save_loadings: Option<PathBuf>,

    /// Write the scores of the samples, .csv, .tsv or .npy; of others: `orthopt transform`
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub save_scores: Option<PathBuf>,

    /// Draw F against time, .svg, .png or .pdf
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,

    /// Draw the loadings: bars, or a heat map of more than 20 variables
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub plot_loadings: Option<PathBuf>,

    /// Draw the samples in the plane of the first two components, in colours by --labels
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub plot_scores: Option<PathBuf>,

    /// Draw samples and variables in one plane
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub plot_biplot: Option<PathBuf>,

    /// Draw the variance that each component explains
    #[arg(long, value_name = "FILE", help_heading = "Output", value_hint = ValueHint::FilePath, hide_short_help = true)]
    pub plot_variance: Option<PathBuf>,

    /// Write everything there is to say as one page with pictures
    #[arg(long, value_name = "HTML", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub report: Option<PathBuf>,

    /// No progress bar and no notes on stderr
    #[arg(short, long, value_name = "BOOL", help_heading = "Output", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    pub quiet: Option<bool>,

    #[command(flatten)]
    #[serde(skip_serializing_if = "Constants::is_empty")]
    pub constants: Constants,
}

/// The problems as values of an argument.
pub fn problems() -> PossibleValuesParser {
    values(PROBLEMS.iter().map(|p| (p.name, p.doc)))
}

/// What can be done with missing values.
pub fn missing() -> PossibleValuesParser {
    values(Missing::NAMES.iter().copied())
}

fn efforts() -> PossibleValuesParser {
    values(EFFORTS.iter().copied())
}

/// Names of solvers joined with `+`, or auto.
fn solvers() -> impl Fn(&str) -> Result<String, String> + Clone {
    |text: &str| match text {
        "auto" => Ok(text.into()),
        _ => check_solvers(text).map(|()| text.into()).map_err(|error| format!("{error}, auto")),
    }
}

fn penalties() -> PossibleValuesParser {
    values(all_penalties().into_iter().map(|p| (p.name, p.doc)))
}

fn models() -> PossibleValuesParser {
    values(MODELS.iter().map(|m| (m.0, m.2)))
}

pub fn placements() -> PossibleValuesParser {
    values(PLACEMENTS.iter().map(|p| (p.0, p.2)))
}

fn sides() -> PossibleValuesParser {
    values(SIDES.iter().map(|s| (s.0, s.2)))
}

fn working_sets() -> PossibleValuesParser {
    values(WORKING_SETS.iter().map(|w| (w.0, w.2)))
}

fn values(entries: impl Iterator<Item = (&'static str, &'static str)>) -> PossibleValuesParser {
    PossibleValuesParser::new(entries.map(|(name, doc)| PossibleValue::new(name).help(doc)))
}
