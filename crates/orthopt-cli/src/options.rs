//! The options of `solve` as they are typed or written in a config file: one struct for both.
//! What they mean is in [`crate::settings`].

use std::path::PathBuf;

use clap::ValueHint;
use clap::builder::{PossibleValue, PossibleValuesParser};
use orthopt::family::PROBLEMS;
use orthopt::family::{all_penalties, check_solvers};
use orthopt::solvers::jobcd::SIDES;
use orthopt::solvers::obcd::WORKING_SETS;
use serde::{Deserialize, Serialize};

use crate::constants::Constants;

/// Every option of `solve`; `None` is "not given".
///
/// The doc comments are the help texts. A config file has the long names as its keys.
#[derive(Clone, Debug, Default, PartialEq, clap::Args, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct SolveOptions {
    /// What to solve
    #[arg(value_name = "PROBLEM", value_parser = problems())]
    pub problem: Option<String>,

    /// The samples: a file (.svm, .mtx, .npy, .npz, .csv, .tsv, each also .gz), randn:M:N[:SEED]
    /// or builtin:NAME
    ///
    /// Rows are samples and columns are variables; C = A'A of the matrix as it is. laplace:N and
    /// laplace2:P:Q are Laplacians: C itself. `orthopt list` shows all formats, generators and
    /// built-in tables.
    #[arg(value_name = "DATA", value_hint = ValueHint::FilePath)]
    pub data: Option<String>,

    /// Give C itself (symmetric, n x n) instead of DATA
    #[arg(long, value_name = "FILE", conflicts_with = "data", help_heading = "Data", value_hint = ValueHint::FilePath)]
    pub gram: Option<String>,

    /// Subtract the mean of each column (sparse data stay sparse)
    #[arg(long, value_name = "BOOL", help_heading = "Data", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    pub center: Option<bool>,

    /// Scale the columns, after centring: unit (2-norm 1), none, or a number to multiply all
    /// entries with
    #[arg(long, value_name = "HOW", help_heading = "Data")]
    pub scale: Option<String>,

    /// Keep the first N columns only
    #[arg(long, value_name = "N", help_heading = "Data")]
    pub features: Option<usize>,

    /// How f keeps the data: dense (forms C), gram (keeps A) or auto [default: auto]
    #[arg(long, value_name = "HOW", help_heading = "Data", value_parser = ["auto", "dense", "gram"], hide_possible_values = true)]
    pub storage: Option<String>,

    /// r, the number of components [default: 5, or all columns if there are fewer]
    #[arg(short, long, value_name = "R", help_heading = "Problem")]
    pub rank: Option<usize>,

    /// lambda >= 0, the weight of the penalty h [default: 0.05 (l0) or 0.5 (l1) of the mean of the r
    /// largest C_ii], or of the nonlinear term of nonlinear-eig [default: 1]
    #[arg(long, value_name = "LAMBDA", help_heading = "Problem", allow_hyphen_values = true)]
    pub lambda: Option<f64>,

    /// Another penalty for a PCA problem: `orthopt list penalties` shows all; with pca or as l1-pca
    /// --penalty mcp [default: the one in the name of the problem]; rho of the OADMM paper is lambda
    #[arg(long, value_name = "NAME", help_heading = "Problem", value_parser = penalties(), hide_possible_values = true)]
    pub penalty: Option<String>,

    /// k of dc-pca and of --penalty l1-largest-k: at most so many entries of X are free of penalty
    /// [default: 5 % of the n*r entries, rounded up, and at least r]
    #[arg(long, value_name = "K", help_heading = "Problem")]
    pub k: Option<usize>,

    /// A in h(A(X)), for a PCA problem: differences (of neighbouring rows), rows:LIST, columns:LIST,
    /// or a .npy file with a p x n matrix B for A(X) = BX [default: the one of the penalty]
    #[arg(long, value_name = "MAP|FILE.npy", help_heading = "Problem", value_hint = ValueHint::FilePath)]
    pub map: Option<String>,

    /// J of X'JX = J: P ones and then minus ones, or a file with one sign per variable
    /// [default: half of the variables]
    #[arg(long, value_name = "P|FILE", help_heading = "Problem")]
    pub signature: Option<String>,

    /// Add R * tr(C)/n to the diagonal of C (hyperbolic-eig) [default: 0]
    #[arg(long, value_name = "R", help_heading = "Problem", allow_hyphen_values = true)]
    pub ridge: Option<f64>,

    /// hyperbolic-eig with the sign of the paper, which has no lower bound: ends as unbounded
    #[arg(long, value_name = "BOOL", help_heading = "Problem", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    pub reproduction: Option<bool>,

    /// Distances that probe should match, m x m [default: the Euclidean ones of the samples]
    #[arg(long, value_name = "FILE", help_heading = "Problem", value_hint = ValueHint::FilePath)]
    pub distances: Option<PathBuf>,

    /// Radius > 0 of the ultrahyperbolic space of probe [default: 1]
    #[arg(long, value_name = "RADIUS", help_heading = "Problem", allow_hyphen_values = true)]
    pub radius: Option<f64>,

    /// E of the linear term of nonlinear-eig: an n x r matrix in a file, or randn[:SEED] for normal
    /// numbers [default: none]
    #[arg(long, value_name = "FILE", help_heading = "Problem", value_hint = ValueHint::FilePath)]
    pub linear: Option<String>,

    /// auto chooses solver, start and working sets and says why; `orthopt list solvers` shows all;
    /// A+B runs B from where A ended, under one time limit [default: auto]
    #[arg(long, value_name = "NAME[+NAME...]", help_heading = "Solver and start", value_parser = solvers())]
    pub solver: Option<String>,

    /// X0: identity, coordinates, pca, random, partition, eigen (nonlinear-eig), or a file with an
    /// orthonormal n x r matrix
    #[arg(long, value_name = "START|FILE.npy", help_heading = "Solver and start", value_hint = ValueHint::FilePath)]
    pub init: Option<String>,

    /// Further starts after the first has ended by itself; the best X counts [default: with
    /// --time-limit as many as fit into it, until 100 in a row find nothing better; without,
    /// auto makes one for each other starting point it considers, and more until it has spent
    /// two million iterations; other solvers make none]
    #[arg(long, value_name = "N", help_heading = "Solver and start")]
    pub restarts: Option<u64>,

    /// Seed of all random choices [default: 0]
    #[arg(long, value_name = "SEED", help_heading = "Solver and start")]
    pub seed: Option<u64>,

    /// Threads to use [default: all]; X does not depend on it
    #[arg(long, value_name = "N", help_heading = "Solver and start")]
    pub threads: Option<usize>,

    /// Stop after so many iterations (working sets tried)
    #[arg(long, value_name = "N", help_heading = "Stopping")]
    pub max_iters: Option<u64>,

    /// Stop after so many seconds in the solver
    #[arg(long, value_name = "SECONDS", help_heading = "Stopping", allow_hyphen_values = true)]
    pub time_limit: Option<f64>,

    /// Converged when a pass over all pairs that can move finds no decrease above TOL * (1 + |F|),
    /// or, for methods without passes, when their stationarity measure is at most 1000 TOL
    /// [default: 1e-9]
    #[arg(long, value_name = "TOL", help_heading = "Stopping", allow_hyphen_values = true)]
    pub tol: Option<f64>,

    /// Stalled when a pass lowers F by less than TOL * (1 + |F|) [default: 0, never]
    #[arg(long, value_name = "TOL", help_heading = "Stopping", allow_hyphen_values = true)]
    pub min_decrease: Option<f64>,

    /// B, the rule for choosing rows: random, cyclic, greedy-sv or greedy-or [default: random; gs-jobcd
    /// and rounds of columns of j-jobcd: cyclic]
    #[arg(long, value_name = "RULE", help_heading = "OBCD and JOBCD", value_parser = working_sets(), hide_possible_values = true)]
    pub working_set: Option<String>,

    /// k >= 2, the number of rows in B [default: 2, where subproblems are solved globally]; OBCD only
    #[arg(long, value_name = "K", help_heading = "OBCD and JOBCD")]
    pub block: Option<usize>,

    /// Q, the model of a block: exact (8) or diagonal (9); for OBCD and gs-jobcd [default: exact]
    #[arg(long, value_name = "MODEL", help_heading = "OBCD and JOBCD", value_parser = ["exact", "diagonal"], hide_possible_values = true)]
    pub model: Option<String>,

    /// alpha > 0 of the proximal term alpha/2 ||V - I||^2 [default: 1e-5]; JOBCD: --gs-jobcd-theta
    #[arg(long, value_name = "ALPHA", help_heading = "OBCD and JOBCD", allow_hyphen_values = true)]
    pub alpha: Option<f64>,

    /// Pairs scored by the greedy rules: a number or all [default: min(n, 200)]
    #[arg(long, value_name = "N|all", help_heading = "OBCD and JOBCD")]
    pub candidates: Option<String>,

    /// Pairs of rows of X (the paper), of columns, or auto: columns where that decouples the pairs
    /// (hyperbolic-eig); for gs-jobcd and j-jobcd [default: auto]
    #[arg(long, value_name = "SIDE", help_heading = "OBCD and JOBCD", value_parser = sides(), hide_possible_values = true)]
    pub side: Option<String>,

    /// Rounds of n/2 disjoint pairs in parallel with the diagonal model (JOBCD: --solver j-jobcd)
    #[arg(long, value_name = "BOOL", help_heading = "OBCD and JOBCD", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    pub jacobi: Option<bool>,

    /// Check all pairs of rows: certifies block-2 stationarity or says what is left to gain
    #[arg(long, value_name = "BOOL", help_heading = "Certificate", num_args = 0..=1, require_equals = true, default_missing_value = "true", hide_possible_values = true)]
    pub certify: Option<bool>,

    /// Check so many random pairs instead of all
    #[arg(long, value_name = "PAIRS", help_heading = "Certificate")]
    pub certify_sample: Option<u64>,

    /// Variables listed per component [default: 5]
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub top: Option<usize>,

    /// Write the result as JSON; - is stdout, without the summary
    #[arg(long, value_name = "FILE|-", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,

    /// Write the convergence curve: seconds, iteration, objective, feasibility, nnz
    #[arg(long, value_name = "FILE.csv|.jsonl", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub trace: Option<PathBuf>,

    /// Write X, n x r
    #[arg(long, value_name = "FILE.npy", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub save_x: Option<PathBuf>,

    /// Draw F against time
    #[arg(long, value_name = "FILE.svg", help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub plot: Option<PathBuf>,

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

/// Names of solvers joined with `+`, or auto.
fn solvers() -> impl Fn(&str) -> Result<String, String> + Clone {
    |text: &str| match text {
        "auto" => Ok(text.into()),
        _ => check_solvers(text).map(|()| text.into()).map_err(|error| format!("{error}, auto")),
    }
}

fn penalties() -> PossibleValuesParser {
    values(all_penalties().into_iter())
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
