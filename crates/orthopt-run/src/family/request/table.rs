//! Every option of every front end, declared once; see [`declare`](super::declare).

use std::path::PathBuf;
use std::sync::Arc;

use super::case::{Call, Case, Run};
use super::declare::{Choices, Entry, Front, Group, Of, option, options};
use super::written::{Counts, Field, Gram, Input, Rank, Size, constants_from_config, from_config, to_config};
use crate::family::catalogue::all_penalties;
use crate::family::composite_pca::split;
use crate::family::{Kind, LinearInput, PROBLEMS, Scree, WarmStart};
use crate::search::{EFFORTS, Effort, Tuning};
use orthopt_core::linear_map::AnyMap;
use orthopt_core::options::Given;
use orthopt_core::pair::options::{SIDES, Side};
use orthopt_core::pair::step::{MODELS, Model};
use orthopt_core::problem::{Between, STORAGES, Storage};
use orthopt_core::smooth::{Measure, Order, PLACEMENTS, Placement};
use orthopt_core::start::Start;
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_solvers::obcd::{Candidates, WORKING_SETS, WorkingSet};

/// Calls that take data.
const READS: &[Call] =
    &[Call::Solve, Call::Compare, Call::Path, Call::Bound, Call::BoundOfX, Call::Certify, Call::Explore];
/// Calls that take data and a problem.
const DATA: &[Call] = &[Call::Solve, Call::Compare, Call::Path, Call::Bound, Call::BoundOfX, Call::Certify];
/// Calls that take a penalty or a constraint.
const ALL: &[Call] =
    &[Call::Solve, Call::Compare, Call::Path, Call::Bound, Call::BoundOfX, Call::Certify, Call::Minimize];
/// Calls in which a solver runs.
const RUNS: &[Call] = &[Call::Solve, Call::Compare, Call::Path, Call::Bound, Call::Minimize];
/// Calls that have one component after the other to show.
const SHOWN: &[Call] = &[Call::Solve, Call::Path];
/// Calls whose result has a title: those that draw.
const RESULTS: &[Call] =
    &[Call::Solve, Call::Compare, Call::Path, Call::Bound, Call::BoundOfX, Call::Explore];
/// Calls whose X is written.
const FOUND: &[Call] = &[Call::Solve, Call::Compare, Call::Path, Call::Bound, Call::BoundOfX];

/// Calls that find X or a bound of it, and the one that writes a page.
const SAYS: &[Call] = &[Call::Solve, Call::Compare, Call::Path, Call::Bound, Call::BoundOfX, Call::Explore];

const LIMITS: &str = "l0-pca, nonneg-pca and pca without a linear map";
const TOTAL: &str = "l0-pca and pca with a total of nonzeros";
const SEARCH: &str = "the search, which runs when neither a solver nor a number of restarts is given and local solutions differ";
const SEED: &str = "checks of random pairs or blocks";
const PAIRS: &str =
    "problems whose pairs of rows can be solved globally: no limit on nonzeros, concave part or linear map";
const NODES: &str = "bounds that branch, and the bound of this problem does not";
const LOOKED_AT: &str =
    "methods on pairs of rows that use it (`orthopt list solver NAME` shows the options of each)";

// Why a front end lacks an option.
use Front::{Command, Python, R};

/// Files that are written, and what is printed.
pub(super) const FILES: &[(Front, &str)] = &[
    (Python, "the result is an object with arrays, a table and pictures of its own"),
    (R, "the result is an object with matrices and pictures of its own"),
];
const MATRICES: &[(Front, &str)] = &[
    (
        Python,
        "arrays and frames have their names and are in memory; GramAccumulator adds up rows part by part",
    ),
    (R, "matrices and data frames have their names and are in memory"),
];
const IN_R: &[(Front, &str)] = &[(
    R,
    "files are read by R; for data frames sparse_pca takes columns, drop, row_names, drop_rows, strip, na, decimal and thousands",
)];
const IN_MEMORY: &[(Front, &str)] = &[
    (Python, "labels are for pictures, which have an argument for them"),
    (R, "labels are for pictures, which have an argument for them"),
];
const ROWS: &[(Front, &str)] = &[(R, "sparse_pca prepares the matrix in R, as prcomp does")];
const PCA: &[(Front, &str)] = &[(R, "sparse_pca is PCA with X'X = I and the penalties of its own argument")];
const SIZES: &[(Front, &str)] = &[
    (Python, "pictures are figures of matplotlib, which have sizes of their own"),
    (R, "pictures have the size and letters of the device"),
];
const HALVES: &[(Front, &str)] = &[(Python, "orthopt.stability is a function of its own")];
const CALLS: &[(Front, &str)] = &[(R, "sparse_pca is the one call")];

const fn data(value: &'static str) -> Entry {
    option(Group::Data, value, READS)
}

/// How a table is read.
const fn table(value: &'static str) -> Entry {
    option(Group::Table, value, READS).without(IN_R)
}

const fn problem(value: &'static str, calls: &'static [Call]) -> Entry {
    option(Group::Problem, value, calls)
}

/// Of one kind of problem, which R does not have.
const fn of_kind(value: &'static str, scope: &'static str, means: fn(&Case) -> Option<bool>) -> Entry {
    problem(value, DATA).means(Of::Problem, scope, means).without(PCA)
}

/// Samples that only C is made of: rows scaled without those of a target are other data.
const ALIKE: &str = "samples that only C is made of";

fn alike(case: &Case) -> Option<bool> {
    if case.is(Kind::Procrustes) { Some(false) } else { case.of_samples() }
}

const fn limit(value: &'static str) -> Entry {
    problem(value, DATA).means(Of::Problem, LIMITS, |case| Some(case.takes_limits()))
}

const fn solver(value: &'static str, calls: &'static [Call]) -> Entry {
    option(Group::Solver, value, calls)
}

/// An option that methods on pairs of rows share.
macro_rules! shared {
    ($name:literal, $value:literal) => {
        option(Group::Pairs, $value, RUNS)
            .means(Of::Run, LOOKED_AT, |case| case.run.as_ref().map(|run| run.looks_at($name)))
    };
}

const fn output(value: &'static str, calls: &'static [Call]) -> Entry {
    option(Group::Output, value, calls).without(FILES)
}

options! {
    /// Name of the problem
    problem: String = problem("PROBLEM", DATA).positional().one_of(problems).listed()
        .without(&[(R, "the arguments penalty and nonneg say it")]);

    /// The samples, one per row: a file (.csv .tsv .xlsx .ods .npy .npz .mtx .svm and more, each also .gz .bz2 .xz), - for
    /// stdin, randn:M:N[:SEED], builtin:NAME; laplace:N is C itself
    data: PathBuf = data("DATA").positional().reads().r("x");

    /// More files with the same columns, read as with --stream; names may contain * and ?
    more: Vec<PathBuf> = data("MORE").positional().reads().excludes(&["gram"]).without(MATRICES);

    /// Give C itself (symmetric, n x n) instead of DATA
    gram: Gram = data("FILE").reads().excludes(&["data"]).r("covmat")
        .common("C itself (symmetric) instead of samples");

    /// Subtract the mean of each column (sparse data stay sparse)
    center: bool = data("BOOL").of_samples()
        .common("Subtract the means of the columns");

    /// Scale the columns, after centring: std (standard deviation 1: C holds correlations; implies --covariance and
    /// --center), unit (2-norm 1), none, or a factor
    scale: String = data("HOW").of_samples().default("none").numeric().r("scale.")
        .common("Scale the columns: std (correlations), unit, none or a factor");

    /// C = A'A/(m - 1) of the centred columns, so that lambda does not depend on the number of samples
    covariance: bool = data("BOOL").means(Of::Data, ALIKE, alike).without(&[(R, "C is always the covariance matrix")]);

    /// Missing values (NA, empty cells, NaN): error, mean of the column, drop the row, or em, a model of a few components
    missing: String = data("HOW").of_samples().default("error").one_of(missing).r("na.action")
        .common("Missing values: mean (of the column), drop (the row) or em");

    /// Read the table as another one was read: a result (solve --json), or a JSON object of the options below
    layout: String = table("FILE").reads();

    /// Whether the first line holds the names of the columns, or how many lines do
    header: String = table("auto|yes|no|N").default("auto").numeric();

    /// Leave out N lines in front of the table
    skip: usize = table("N");

    /// Leave out N rows at the end of the table
    footer: usize = table("N");

    /// Columns to read: names, numbers, ranges, patterns with * and ? (a,b,5-9,gene*)
    columns: String = table("LIST").numeric();

    /// Columns to leave out, as with --columns; `text` leaves out all columns of text
    drop: String = table("LIST").numeric();

    /// The column that names the rows: auto, none, or a column
    row_names: String = table("COLUMN").default("auto").numeric();

    /// Rows to leave out, by names or numbers, beside totals and means: auto, none, or a list
    drop_rows: String = table("LIST").default("auto").numeric();

    /// Columns of numbers with something beside them (5 kg, 5.1*, 5.1 (0.2)) that is taken off
    strip: String = table("LIST").numeric();

    /// Labels of the rows, for pictures: a column, or a file with one per line
    labels: String = option(Group::Table, "COLUMN|FILE", READS).reads().of_samples().numeric().without(IN_MEMORY);

    /// Weights of the rows: a column, or a file with one per line; a row counts as often as its weight says
    weights: String = option(Group::Table, "COLUMN|FILE", READS).reads().means(Of::Data, ALIKE, alike).numeric()
        .without(IN_R);

    /// Rows are variables, columns are samples
    transpose: bool = option(Group::Table, "BOOL", READS).of_samples().without(IN_R)
        .common("Rows of the file are variables");

    /// Further codes of a missing value, beside NA and empty cells, such as -999,<LOD
    na: String = table("LIST").numeric();

    /// Decimal mark, . or , [default: the table decides]
    decimal: String = table("MARK");

    /// Mark between groups of three digits: . , ' space or none [default: the table decides]
    thousands: String = table("MARK");

    /// Sheet of a spreadsheet, by its name or number [default: the first with data]
    sheet: String = table("NAME").numeric();

    /// Names of the columns, one per line, or a column of a table (FILE:2, FILE:symbol)
    names: String = table("FILE").reads();

    /// Replace C by a positive semidefinite matrix with the same diagonal, the nearest one in correlations
    nearest: bool = option(Group::Table, "BOOL", READS).without(IN_R)
        .means(Of::Data, "C itself", |case| case.of_samples().map(|samples| !samples));

    /// Keep the first N columns only
    features: usize = data("N").without(ROWS);

    /// Storage of the data in f: C (dense), A (gram), or the cheaper one (auto)
    storage: Storage = data("HOW").default("auto").one_of(|| list(STORAGES))
        .means(Of::Problem, "samples of a problem with f = -1/2 <X, CX>", |case| {
            if case.is_pca() { case.of_samples() } else { Some(false) }
        });

    /// Read rows part by part and keep only C [default: above 1 GB]
    stream: bool = data("BOOL").of_samples().without(MATRICES);

    /// With --stream: the same bits for any order of rows; slower
    reproducible: bool = data("BOOL").of_samples().without(MATRICES);

    /// Keep the N columns with the largest variance; reads the rows twice
    screen: usize = data("N").of_samples().excludes(&["features"]).without(MATRICES);

    /// Refuse data and problems that need more memory: 500M, 8G [default: nine tenths of what is free]
    max_memory: Size = data("SIZE");

    /// Number of components r; 90%: as many as PCA needs for 90 % of the variance; auto: as many as exceed noise
    /// [default: 5, or one fewer than the variables]
    rank: Rank = problem("R|90%|auto", SAYS).short('r').r("ncomp")
        .common("Number of components; 90% (of the variance in PCA), auto");

    /// Number of rows behind C, for a rank of auto
    samples: usize = problem("M", SAYS).at_least(2.0)
        .means(Of::Data, "C itself with a rank of auto", |case| case.gram.map(|gram| gram && case.auto))
        .needs("rank");

    /// Weight of the penalty [default: l0 uses --nonzeros auto instead; other penalties use a share of the mean of the
    /// r largest C_ii]
    lambda: f64 = problem("LAMBDA", ALL).at_least(0.0).python("lam")
        .means(Of::Problem, "a penalty with a weight, and nonlinear-eig", |case| Some(case.has_lambda()))
        .common("Weight of the penalty, instead of a number of nonzeros");

    /// Weight of the penalty as a share of the mean of the r largest C_ii
    lambda_share: f64 = problem("SHARE", DATA).at_least(0.0).python("lam_share")
        .excludes(&["lambda", "relative-lambda"])
        .means(Of::Problem, "PCA problems with a penalty that has a weight", |case| {
            Some(case.is_pca() && case.has_lambda())
        });

    /// Weight of the penalty l0 or l1 as a share of the largest useful one
    relative_lambda: f64 = problem("SHARE", DATA).python("relative_lam")
        .excludes(&["lambda", "nonzeros", "total-nonzeros", "variables"])
        .means(Of::Problem, "the penalties l0 and l1 without a linear map", |case| {
            Some(case.is(Kind::Pca) && !case.mapped && matches!(case.penalty.as_str(), "l0" | "l1"))
        });

    /// At most K nonzeros in each component (K1,K2,...: one number for each; auto: the knee of variance against nonzeros)
    /// instead of lambda [default: auto for l0 without lambda]
    nonzeros: Counts = limit("K").excludes(&["total-nonzeros", "variables"])
        .common("Nonzeros in each component, or auto");

    /// At most K nonzeros in all components together
    total_nonzeros: usize = limit("K").excludes(&["variables"]);

    /// At most K variables in all components together; with --lambda each variable costs LAMBDA
    variables: usize = limit("K")
        .common("Variables in all components together");

    /// Relation between two components: orthogonal loadings (X'X = I), uncorrelated scores (X'CX diagonal, columns of
    /// length 1), or both, for l0-pca with a number of nonzeros
    constraint: Between = problem("NAME", ALL).default("orthogonal")
        .means(Of::Problem, "l0-pca and pca with a number of nonzeros", |case| {
            Some(case.kind.is_none() || (case.takes_limits() && case.penalty != "nonneg"))
        });

    /// Measure to maximise: variance; adjusted: variance that earlier components do not have; polar: the same, all
    /// components on equal terms; explained: variance of all variables predicted from the scores [default: adjusted with
    /// a number of nonzeros, otherwise variance]
    maximise: Measure = problem("NAME", READS)
        .means(Of::Problem, "l0-pca and pca", |case| Some(case.takes_its_measure()))
        .common("Measure: variance, adjusted, polar or explained");

    /// joint: all components together; sequential: each the best one beside those before it
    order: Order = problem("NAME", DATA).default("joint")
        .means(Of::Problem, "l0-pca and pca with a number of nonzeros", |case| {
            Some(case.takes_measures() && case.limited)
        })
        .needs("nonzeros");

    /// Least number of nonzeros in a component, with --total-nonzeros [default: 1]
    min_nonzeros: usize = problem("K", DATA).means(Of::Problem, TOTAL, |case| {
        Some(case.takes_measures() && case.limited)
    })
    .needs("total-nonzeros");

    /// Largest number of nonzeros in a component, with --total-nonzeros [default: all]
    max_nonzeros: usize = problem("K", DATA).means(Of::Problem, TOTAL, |case| {
        Some(case.takes_measures() && case.limited)
    })
    .needs("total-nonzeros");

    /// Another penalty for a PCA problem; `orthopt list penalties` shows all
    penalty: String = problem("NAME", ALL).one_of(penalties)
        .means(Of::Problem, "PCA problems and functions of your own with X'X = I", |case| {
            let named = case.is(Kind::Procrustes) || case.is(Kind::Brockett);
            Some(case.is_pca() || named || (case.kind.is_none() && !case.is_j))
        });

    /// k of dc-pca and l1-largest-k: number of entries of X without penalty [default: 5 %]
    k: usize = problem("K", ALL).without(PCA)
        .means(Of::Problem, "the penalty l1-largest-k, which dc-pca has", |case| {
            Some(!case.is_j && !case.limited && split(&case.penalty).is_some_and(|split| split.has_k))
        });

    /// A in h(A(X)): differences, rows:LIST, columns:LIST, or a file with B, A(X) = BX
    map: Input<AnyMap> = problem("MAP|FILE.npy", ALL)
        .means(Of::Problem, "PCA problems and functions of your own with X'X = I", |case| {
            Some((case.is_pca() && !case.limited) || (case.kind.is_none() && !case.is_j))
        });

    /// J of X'JX = J: P ones (below 1: a share of them), then minus ones, or a file with signs [default: half]
    signature: String = problem("P|FILE", ALL).numeric().reads()
        .means(Of::Problem, "problems with X'JX = J", |case| Some(case.is_j)).without(PCA);

    /// hyperbolic-eig: add R * tr(C)/n to the diagonal of C
    ridge: f64 = of_kind("R", "hyperbolic-eig", |case| Some(case.is(Kind::HyperbolicEig)))
        .at_least(0.0).default("0");

    /// hyperbolic-eig as the paper prints it, min -tr(X'CX) with C = A'A, which has no lower bound
    reproduction: bool = of_kind("BOOL", "hyperbolic-eig", |case| Some(case.is(Kind::HyperbolicEig)));

    /// probe: distances to match, m x m [default: Euclidean ones]
    distances: Input<RowMat> = of_kind("FILE", "probe", |case| Some(case.is(Kind::Probe)));

    /// probe: radius of the ultrahyperbolic space [default: 1]
    radius: f64 = of_kind("RADIUS", "probe", |case| Some(case.is(Kind::Probe)));

    /// probe: position of phi, after X (phi(DX)) or before X (phi(D)X, as the paper prints
    /// it: F is then the same for every feasible X)
    placement: Placement = of_kind("WHERE", "probe", |case| Some(case.is(Kind::Probe)))
        .default("after").one_of(|| list(PLACEMENTS));

    /// nonlinear-eig, and procrustes of C itself: E of the linear term, a file or randn[:SEED]
    linear: Input<LinearInput> = of_kind("FILE", "nonlinear-eig and procrustes of C itself", |case| match case.kind {
        Some(Kind::Procrustes) => case.gram,
        kind => Some(kind == Some(Kind::NonlinearEig)),
    });

    /// procrustes: B of ||AX - B||, one row for each sample; centred where these are
    target: Input<RowMat> = of_kind("FILE", "procrustes of samples", |case| {
        if case.is(Kind::Procrustes) { case.of_samples() } else { Some(false) }
    });

    /// brockett: weights of the components, D1,D2,... of tr(X'CXD) [default: falling evenly, with mean 1]
    component_weights: Vec<f64> = of_kind("D1,D2,...", "brockett", |case| Some(case.is(Kind::Brockett))).numeric();

    /// `orthopt list solvers` shows all; A+B runs B from the result of A [default: auto, which chooses and gives the
    /// reason]
    solver: String = solver("NAME[+NAME...]", &[Call::Solve, Call::Path, Call::Bound, Call::Minimize])
        .default("auto")
        .common("One solver instead of the search (`orthopt list solvers`)");

    /// Starting point X0: a name (`orthopt list starts` shows all) or a file
    init: Input<Start> = solver("START|FILE.npy", &[Call::Solve, Call::Compare, Call::Bound]);

    /// Length of the search of auto: quick, normal or thorough [default: normal; with a limit, until the limit]
    effort: Effort = solver("HOW", &[Call::Solve, Call::Compare, Call::Path, Call::Bound])
        .one_of(|| list(EFFORTS)).listed()
        .means(Of::Run, SEARCH, |case| case.run.as_ref().map(|run| run.searches))
        .common("Length of the search");

    /// Further starts of one solver; the best X is returned [default: as the time limit allows; auto searches
    /// instead, see --effort]
    restarts: u64 = solver("N", &[Call::Solve, Call::Compare, Call::Bound, Call::Minimize])
        .means(Of::Problem, "problems with X'X = I, in minimize", |case| {
            Some(case.call != Some(Call::Minimize) || !case.is_j)
        });

    /// Seed of all random choices
    seed: u64 = solver(
        "SEED",
        &[Call::Solve, Call::Compare, Call::Path, Call::Bound, Call::Certify, Call::Explore, Call::Minimize],
    )
        .default("0").means(Of::Run, SEED, |case| {
        if case.call == Some(Call::Certify) { case.draws } else { Some(true) }
    });

    /// Threads to use [default: all]; X does not depend on it
    threads: usize = solver("N", READS).at_least(1.0);

    /// Stop after this many iterations (working sets tried)
    max_iters: u64 = option(Group::Stopping, "N", RUNS).at_least(1.0);

    /// Seconds for the whole call after the data are read, setting up the problem too; those of `bound` come on top
    time_limit: f64 = option(
        Group::Stopping,
        "SECONDS",
        &[Call::Solve, Call::Compare, Call::Path, Call::Bound, Call::BoundOfX, Call::Explore, Call::Minimize],
    )
        .at_least(0.0)
        .common("Limit of the call after the data are read, a bound not counted");

    /// Converged when no pair lowers F by more than TOL * (scale + |F|), or stationarity is at most 1000 TOL
    tol: f64 = option(
        Group::Stopping,
        "TOL",
        &[Call::Solve, Call::Compare, Call::Path, Call::Bound, Call::Certify, Call::Minimize],
    )
    .at_least(0.0).default("1e-9");

    /// Stop as stalled when a pass lowers F by less [default: 0, never]
    min_decrease: f64 = option(Group::Stopping, "TOL", RUNS).at_least(0.0).default("0");

    /// Rule of methods on pairs of rows.
    working_set: WorkingSet = shared!("working-set", "RULE").one_of(|| list(WORKING_SETS));

    /// Rows of a working set.
    block: usize = shared!("block", "K");

    /// Model of a block.
    model: Model = shared!("model", "MODEL").one_of(|| list(MODELS));

    /// Weight of the proximal term.
    alpha: f64 = shared!("alpha", "ALPHA");

    /// Pairs that greedy rules score.
    candidates: Candidates = option(Group::Pairs, "N|all", RUNS).numeric()
        .means(Of::Run, "the greedy working sets (greedy-sv, greedy-or)", |case| {
            case.run.as_ref().map(|run| run.looks_at("candidates") && run.greedy)
        });

    /// Rows or columns of X.
    side: Side = shared!("side", "SIDE").one_of(|| list(SIDES)).without(PCA);

    /// Rounds of disjoint pairs.
    jacobi: bool = shared!("jacobi", "BOOL");

    /// Check all pairs of rows: certify block-2 stationarity, or report the largest decrease of F
    // where there are no pairs to check it measures criticality, and solve says how critical X is all the same
    certify: bool = option(Group::Certificate, "BOOL", &[Call::Solve, Call::Compare, Call::Minimize])
        .means(Of::Problem, PAIRS, |case| {
            if case.call == Some(Call::Compare) { case.run.as_ref().map(|run| run.pairs) } else { Some(true) }
        })
        .common("Check all pairs of rows");

    /// Check this many random pairs instead of all
    certify_sample: u64 = option(Group::Certificate, "PAIRS", &[Call::Solve, Call::Compare, Call::Certify])
        .at_least(1.0).python("certify").r("certify")
        .means(Of::Problem, PAIRS, |case| case.run.as_ref().map(|run| run.pairs));

    /// Also compute a lower bound of F over all feasible X, and the gap, in these seconds beyond the time limit [60]
    // a problem without a bound says why (`Family::bounded`)
    bound: f64 = option(Group::Certificate, "SECONDS", SHOWN).at_least(0.0).alone("60")
        .common("Lower bound of F, and the gap");

    /// Also solve B pairs of disjoint halves of the rows, and say how often each loading is not zero [50 pairs if none are
    /// given]
    stability: usize = option(Group::Certificate, "B", &[Call::Solve]).at_least(1.0).alone("50")
        .means(Of::Problem, "PCA problems of samples", |case| {
            if case.is_pca() { case.of_samples() } else { Some(false) }
        })
        .without(HALVES);

    /// Variables listed per component
    top: usize = output("N", &[Call::Solve, Call::Path, Call::Explore]).default("5")
        .means(Of::Problem, "PCA problems, whose components are shown", |case| Some(case.is_pca()));

    /// Write the result as JSON; - is stdout, without the summary
    json: PathBuf = output("FILE|-", READS).writes()
        .common("Result as JSON; - is stdout");

    /// Write the convergence curve, .csv or .jsonl
    trace: PathBuf = output("FILE", &[Call::Solve]).writes();

    /// Write X, n x r, .npy or .csv
    save_x: PathBuf = output("FILE", FOUND).writes();

    /// Write the loadings with all names, .csv or .tsv
    save_loadings: PathBuf = output("FILE", SHOWN).writes()
        .common("Loadings with all names, .csv");

    /// Write the loadings, variables sorted by component and size, .csv or .tsv
    save_sorted_loadings: PathBuf = output("FILE", SHOWN).writes();

    /// Write the scores of the samples, .csv, .tsv or .npy; for other rows see `orthopt transform`
    save_scores: PathBuf = output("FILE", SHOWN).writes().of_samples()
        .common("Scores of the samples, .csv or .npy");

    /// Title of the pictures, in place of "3 sparse components of 13 variables"
    title: String = option(Group::Output, "TEXT", RESULTS)
        .without(&[(R, "functions that draw have an argument for it")]);

    /// Width of pictures in pixels [default: 800]
    plot_width: usize = output("PIXELS", FOUND).at_least(200.0).without(SIZES);

    /// Size of the letters of pictures in pixels [default: 14]
    font_size: usize = output("PIXELS", FOUND).at_least(4.0).without(SIZES);

    /// Draw F against time, .svg, .png or .pdf
    plot: PathBuf = output("FILE", FOUND).writes();

    /// Draw the loadings: bars, or a heat map of more than 20 variables
    plot_loadings: PathBuf = output("FILE", SHOWN).writes();

    /// Draw the samples in the plane of the first two components, in colours by --labels
    plot_scores: PathBuf = output("FILE", SHOWN).writes().of_samples();

    /// Draw samples and variables in one plane
    plot_biplot: PathBuf = output("FILE", SHOWN).writes().of_samples();

    /// Draw the correlations of the variables with the scores of the first two components, in a circle
    plot_correlations: PathBuf = output("FILE", SHOWN).writes()
        .means(Of::Problem, "PCA problems", |case| Some(case.is_pca()));

    /// Draw the variance that each component explains
    plot_variance: PathBuf = output("FILE", SHOWN).writes();

    /// Draw the eigenvalues of C beside those of noise, with the number of components
    plot_scree: PathBuf = output("FILE", SHOWN).writes()
        .means(Of::Problem, "PCA problems", |case| Some(case.is_pca()));

    /// Draw how often each loading is not zero in halves of the rows, with --stability
    plot_stability: PathBuf = output("FILE", &[Call::Solve]).writes().of_samples();

    /// Write the whole result as one HTML page with pictures
    report: PathBuf = output("HTML", &[Call::Solve, Call::Path, Call::Explore]).writes()
        .common("Everything as one page with pictures");

    /// Print errors only: no summary, no notes, no progress bar
    quiet: bool = output("BOOL", READS).short('q').default("false");

    /// Print how the result was found too: parts of F, feasibility, reasons of all choices, arms and moves of the search
    verbose: bool = output("BOOL", &[Call::Solve]).short('v').default("false")
        .common("Print how the result was found, too");
}

/// Arguments of one call each: what they mean something for. They are declared where the call is.
pub static ARGUMENTS: &[Entry] = &[
    argument("solvers", solver("A,B,...", &[Call::Compare]).without(CALLS)),
    argument("cv", option(Group::Solver, "FOLDS", &[Call::Path]).of_samples().without(CALLS)),
    argument("cv-by", option(Group::Solver, "rows|cells", &[Call::Path]).of_samples().without(CALLS)),
    argument(
        "nodes",
        option(Group::Certificate, "N", &[Call::Bound, Call::BoundOfX])
            .means(Of::Problem, NODES, |case| case.run.as_ref().map(|run| run.branches))
            .without(CALLS),
    ),
    argument(
        "lipschitz",
        solver("L", &[Call::Minimize])
            .means(Of::Run, "solvers whose step length it sets", |case| case.run.as_ref().map(Run::has_steps))
            .without(&[
                (Command, "it is of functions that Python evaluates"),
                (R, "sparse_pca is the one call"),
            ]),
    ),
];

const fn argument(name: &'static str, entry: Entry) -> Entry {
    entry.named(name, "", (super::Kind::Text, None), |_, _| Ok(false), |_| None)
}

fn problems() -> Choices {
    PROBLEMS.iter().map(|p| (p.name, p.doc)).collect()
}

fn penalties() -> Choices {
    all_penalties().into_iter().map(|p| (p.name, p.doc)).collect()
}

fn list<T>(names: &[(&'static str, T, &'static str)]) -> Choices {
    names.iter().map(|name| (name.0, name.2)).collect()
}

/// Those of `orthopt-data`, which reads the data.
fn missing() -> Choices {
    vec![
        ("error", "missing values are an error"),
        ("mean", "the mean of the column"),
        ("drop", "rows with missing values are left out"),
        ("em", "prediction by a model of a few components"),
    ]
}

impl Case {
    /// Refuses the first of the options `given` that does not apply here; those that make the problem come first.
    ///
    /// # Errors
    /// [`Error::Incompatible`] with what the option is for; [`Error::UnknownName`] for a name that the table lacks.
    pub fn check<'o>(&self, given: impl IntoIterator<Item = &'o str>) -> Result<()> {
        let choices = self.choices();
        let (first, rest): (Vec<_>, Vec<_>) = given.into_iter().partition(|option| choices.contains(option));
        first.into_iter().chain(rest).try_for_each(|option| self.check_one(option))
    }

    fn check_one(&self, option: &str) -> Result<()> {
        let mut known = OPTIONS.iter().chain(ARGUMENTS);
        let Some(entry) = known.find(|entry| entry.name == option) else {
            let known = OPTIONS.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ");
            return Err(Error::UnknownName { kind: "option", name: option.into(), known });
        };
        if let Some(call) = self.call.filter(|call| !entry.calls.contains(call)) {
            let calls: Vec<_> = entry.calls.iter().map(|call| call.name()).collect();
            return Err(refused(entry, call.name(), &calls.join(", ")));
        }
        match (entry.means)(self) {
            Some(false) => Err(self.why_not(entry)),
            _ => Ok(()),
        }
    }

    /// Why an option means nothing here, and what to do. The subject is never built with the option itself, and where
    /// other options, one that is missing or the kind of the data is the reason, that is said.
    fn why_not(&self, entry: &Entry) -> Error {
        let case = self.without(entry.name);
        let means = |case: &Case| (entry.means)(case) != Some(false);
        let others = case.choices();
        // what users could change, the smallest change first
        let one_out = others.iter().map(|other| vec![*other]);
        let out: Vec<_> = std::iter::once(Vec::new()).chain(one_out).chain([others.clone()]).collect();
        let adds: &[bool] = if entry.needs.is_empty() { &[false] } else { &[false, true] };
        // what is said of data names them by itself
        let data: &[bool] =
            if entry.of == Of::Problem && case.gram.is_some() { &[false, true] } else { &[false] };
        for flips in data.iter().copied() {
            for (add, out) in adds.iter().flat_map(|add| out.iter().map(move |out| (*add, out))) {
                let changed = out.iter().fold(case.clone(), |case, other| case.without(other));
                let changed = if add { changed.with(entry.needs) } else { changed };
                let changed = if flips { changed.of_other_data() } else { changed };
                if (!out.is_empty() || add || flips) && means(&changed) {
                    return needs(entry, add, out, case.gram.filter(|_| flips));
                }
            }
        }
        refused(entry, &case.subject(entry.of), entry.scope)
    }
}

/// An option that would mean something with another one, without others, or with other data.
fn needs(entry: &Entry, add: bool, out: &[&'static str], gram: Option<bool>) -> Error {
    let about = Message::about(entry.name);
    let beside = |message: Message| {
        out.iter().enumerate().fold(message.text(" does not apply beside "), |message, (k, other)| {
            message.text(if k == 0 { "" } else { " and " }).option(*other)
        })
    };
    let leave_out = "; leave it out";
    let message = match (gram, add, out) {
        (Some(true), ..) => {
            about.text(format!(" needs samples (rows), but the data are C itself{leave_out}"))
        }
        (Some(false), ..) => about.text(format!(" needs C itself, but the data are samples{leave_out}")),
        (None, true, []) => {
            let about = about.text(format!(" needs {}: give ", entry.needed()));
            let about = match entry.needs {
                "rank" => about.set("rank", "auto"),
                option => about.option(option),
            };
            about.text(" too, or leave it out")
        }
        (None, true, _) => beside(about.text(format!(" needs {}, and", entry.needed()))).text(leave_out),
        (None, false, [_]) => beside(about).text(": leave one of them out"),
        (None, false, _) => beside(about).text(leave_out),
    };
    Error::Incompatible(message)
}

fn refused(entry: &Entry, subject: &str, scope: &str) -> Error {
    let why = format!(" does not apply to {subject}: it is for {scope}; leave it out");
    Error::Incompatible(Message::about(entry.name).text(why))
}
