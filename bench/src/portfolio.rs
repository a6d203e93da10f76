//! The default against every solver and start alone, the same seconds and one thread for each.

use anyhow::Result;
use faer::Mat;
use orthopt::cancel::Cancel;
use orthopt::family::{AnyProblem, Family, Request, find_problem, pose};
use orthopt::problem::{PcaData, PcaProblem};
use orthopt::solve::{Solution, Stopping};
use orthopt::start::Start;
use orthopt_data::Matrix;

use crate::instance::load;

/// Data sets on which results of the search were looked at while its constants were chosen ...
const SEEN: &[&str] = &[
    "w1a.svm",
    "breast_sorlie.csv.gz",
    "ionosphere.csv",
    "colon_alon.csv.gz",
    "srbct_khan.csv.gz",
    "breast_west.csv.gz",
    "coil20.npy",
    "news20_top100words.mtx.gz",
    "pcmac.svm.gz",
    "a9a.svm.gz",
    "mnist_a_5000_images.npy",
    "randn:150:400:11",
    "spiked:150:400:5:12:2:7",
    "spiked:80:250:4:20:1:11",
];
/// ... and others, on which nothing was looked at before the constants were fixed.
const UNSEEN: &[&str] =
    &["colon_discretized.csv.gz", "randn:130:350:21", "spiked:100:300:6:15:3:9", "spiked:200:250:3:30:1:5"];

/// Solvers alone.
const L0: &[&str] = &["ladmm+obcd", "support+obcd", "spm+obcd", "obcd"];
const L1: &[&str] = &["ladmm+obcd", "irpg", "amanpg", "slpg+obcd", "manpg-ada+obcd", "obcd"];
const NONNEGATIVE: &[&str] = &["ladmm+obcd", "ep4orth+obcd", "spm+obcd", "obcd"];

/// Components where a file has no number of its own, FILE@R.
pub const RANK: usize = 10;

pub struct Cell {
    pub data: String,
    pub problem: &'static str,
    pub share: f64, // of the default λ
    pub rank: usize,
}

/// Results of a cell.
struct Found {
    excess: f64,
    lower: bool,
    l0: bool,
}

/// Columns centred and of unit length.
pub fn prepared(a: &Mat<f64>) -> Mat<f64> {
    let (m, n) = (a.nrows(), a.ncols());
    let mean: Vec<f64> = (0..n).map(|j| (0..m).map(|i| a[(i, j)]).sum::<f64>() / m as f64).collect();
    let z = Mat::from_fn(m, n, |i, j| a[(i, j)] - mean[j]);
    let length: Vec<f64> = (0..n).map(|j| (0..m).map(|i| z[(i, j)].powi(2)).sum::<f64>().sqrt()).collect();
    Mat::from_fn(m, n, |i, j| if length[j] > 0.0 { z[(i, j)] / length[j] } else { 0.0 })
}

/// A run with a time limit.
pub fn run_one(p: &PcaProblem, wanted: &Request, seconds: f64) -> Result<Solution> {
    let stopping = Stopping { max_iters: None, time_limit: Some(seconds), tol: 1e-9, min_decrease: 0.0 };
    Ok(p.plan(wanted)?.run(p, wanted, &stopping, None, &Cancel::never(), &mut [])?)
}

/// The problem of a cell.
pub fn posed(cell: &Cell, data: &PcaData<'_>) -> Result<PcaProblem> {
    let mut options = Request { rank: Some(cell.rank.min(data.ncols() / 2).into()), ..Default::default() };
    let info = find_problem(cell.problem)?;
    let first = pose(info, data, &options)?;
    options.lambda = first.lambda.map(|lambda| cell.share * lambda);
    match pose(info, data, &options)?.problem {
        AnyProblem::Pca(p) => Ok(p),
        _ => anyhow::bail!("{} is not a PCA problem", cell.problem),
    }
}

/// One line of the table.
fn row(cell: &Cell, p: &PcaProblem, seconds: f64) -> Result<Found> {
    let (solvers, starts): (&[&str], &[&str]) = match cell.problem {
        "l0-pca" => (L0, &["random", "pca", "varimax", "coordinates"]),
        "l1-pca" => (L1, &["random", "pca", "varimax", "coordinates"]),
        _ => (NONNEGATIVE, &["partition", "pca", "varimax", "coordinates"]),
    };
    let mut best = (f64::INFINITY, String::new());
    for solver in solvers {
        for start in starts {
            let start = Some(Start::named(start));
            let wanted = Request {
                solver: Some((*solver).into()),
                init: start.map(Into::into),
                seed: Some(1),
                ..Default::default()
            };
            let f = run_one(p, &wanted, seconds)?.objective.total;
            if f < best.0 {
                best = (f, format!("{solver} from {}", wanted.start().map_or("", Start::name)));
            }
        }
    }
    let auto = run_one(p, &Request { seed: Some(1), ..Default::default() }, seconds)?;
    let f = auto.objective.total;
    let excess = (f - best.0) / best.0.abs();
    println!(
        "| {} | {} | {} | {f:.6} | {:.6} | {} | {:+.4} |",
        cell.data,
        cell.problem,
        if cell.problem == "nonneg-pca" { String::new() } else { cell.share.to_string() },
        best.0,
        best.1,
        100.0 * excess
    );
    Ok(Found { excess, lower: f < best.0 - 1e-9 * best.0.abs(), l0: cell.problem == "l0-pca" })
}

fn table(title: &str, files: &[String], seconds: f64, filter: Option<&str>) -> Result<()> {
    println!(
        "\n{title}, {seconds} s each, one thread, r = {RANK} (or as given after @, or half the variables)\n"
    );
    println!("| data | problem | share of default lambda | auto | best alone | which | excess % |");
    println!("|---|---|---|---|---|---|---|");
    let mut found = Vec::new();
    for file in files {
        let (path, rank) = match file.split_once('@') {
            Some((path, rank)) => (path, rank.parse()?),
            None => (file.as_str(), RANK),
        };
        let Some(matrix) = load(path)? else { continue };
        let dense = match &matrix {
            Matrix::Dense(a) => Some(prepared(a)),
            Matrix::Sparse(_) => None,
        };
        let data = match (&dense, &matrix) {
            (Some(a), _) => PcaData::Dense(a.as_ref()),
            (None, Matrix::Sparse(a)) => PcaData::Sparse(a.as_ref(), None),
            (None, Matrix::Dense(a)) => PcaData::Dense(a.as_ref()),
        };
        let name = std::path::Path::new(file).file_name().map_or(file.clone(), |f| f.display().to_string());
        for (problem, share) in
            [("l0-pca", 0.1), ("l0-pca", 1.0), ("l1-pca", 0.1), ("l1-pca", 1.0), ("nonneg-pca", 1.0)]
        {
            let cell = Cell { data: name.clone(), problem, share, rank };
            if filter.is_some_and(|f| !format!("{name} {problem} {share}").contains(f)) {
                continue;
            }
            found.push(row(&cell, &posed(&cell, &data)?, seconds)?);
        }
    }
    let of = |which: &dyn Fn(&Found) -> bool| found.iter().filter(|c| which(c)).count();
    println!(
        "\n{} cells: excess at most 1e-3 in {}, above 1 % in {}; strictly lower than all in {} ({} of {} l0 cells)",
        found.len(),
        of(&|c| c.excess <= 1e-3),
        of(&|c| c.excess > 1e-2),
        of(&|c| c.lower),
        of(&|c| c.lower && c.l0),
        of(&|c| c.l0)
    );
    Ok(())
}

/// Both tables; `files` are further tables, FILE or FILE@R, which no constant has seen.
pub fn suite(seconds: f64, filter: Option<&str>, files: &[String]) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let names = |list: &[&str]| list.iter().map(|f| f.to_string()).collect::<Vec<_>>();
    pool.install(|| {
        table("Data that constants were looked at on", &names(SEEN), seconds, filter)?;
        let unseen = [names(UNSEEN), files.to_vec()].concat();
        table("Data that no constant has seen", &unseen, seconds, filter)
    })
}
