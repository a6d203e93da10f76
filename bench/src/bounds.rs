//! Global bounds against the best X of a few runs: gaps before and after branching.

use anyhow::Result;
use faer::Mat;
use orthopt::bound::{Bound, Kind, Options, Proof, lower_bound};
use orthopt::cancel::Cancel;
use orthopt::problem::{PcaData, PcaProblem, Storage};
use orthopt::solve::{MaxIterations, RunOptions, Solution, Stationary, Stop, TimeLimit, run};
use orthopt::solvers::obcd::ObcdOptions;
use orthopt::start::Start;
use orthopt_data::Matrix;
use orthopt_solvers::support::Support;
use orthopt_solvers::support::SupportOptions;

use crate::instance::{load, problem, solve};

/// Seconds of a single run for the incumbent.
const RUN: f64 = 5.0;
/// Seconds of a relaxation.
const ROOT: f64 = 300.0;

/// C with 1 on the diagonal: columns centred and of unit length; a constant column gives 0 beside the 1.
pub fn correlation(a: &Mat<f64>) -> Mat<f64> {
    let (m, n) = (a.nrows(), a.ncols());
    let mut z = a.clone();
    for j in 0..n {
        let mean = (0..m).map(|i| a[(i, j)]).sum::<f64>() / m as f64;
        let size = (0..m).map(|i| a[(i, j)].powi(2)).sum::<f64>().sqrt();
        let length = (0..m).map(|i| (a[(i, j)] - mean).powi(2)).sum::<f64>().sqrt();
        let scale = if length > 1e-12 * size { 1.0 / length } else { 0.0 };
        (0..m).for_each(|i| z[(i, j)] = scale * (a[(i, j)] - mean));
    }
    let mut c = z.transpose() * &z;
    (0..n).for_each(|j| c[(j, j)] = 1.0);
    c
}

/// One family of cases.
struct Case {
    name: String,
    matrix: Matrix,
    gram: bool, // the matrix is C
    ranks: &'static [usize],
    lambdas: &'static [f64],
}

impl Case {
    fn problem(&self, name: &str, r: usize, lambda: f64) -> Result<PcaProblem> {
        match &self.matrix {
            Matrix::Dense(c) if self.gram => {
                Ok(orthopt::family::pca_problem(name, &PcaData::Gram(c.as_ref()), r, lambda, Storage::Auto)?)
            }
            matrix => problem(name, matrix, r, lambda),
        }
    }
}

fn correlations(file: &str, ranks: &'static [usize], lambdas: &'static [f64]) -> Result<Option<Case>> {
    let Some(Matrix::Dense(a)) = load(file)? else { return Ok(None) };
    Ok(Some(Case { name: file.into(), matrix: Matrix::Dense(correlation(&a)), gram: true, ranks, lambdas }))
}

fn cases(files: &[String]) -> Result<Vec<Case>> {
    let mut all = Vec::new();
    if let Some(matrix) = load("builtin:pitprops")? {
        let (name, gram) = ("pitprops".into(), true);
        all.push(Case { name, matrix, gram, ranks: &[2, 3], lambdas: &[0.02, 0.05, 0.1, 0.2] });
    }
    all.extend(correlations("ionosphere.csv", &[2, 3], &[0.05, 0.1, 0.2])?);
    for file in files {
        all.extend(correlations(file, &[2, 3], &[0.05, 0.1, 0.2])?);
    }
    all.extend(correlations("colon_alon.csv.gz", &[5], &[1.0, 0.2])?);
    if let Some(matrix) = load("w1a.svm")? {
        let (name, gram) = ("w1a".into(), false);
        all.push(Case { name, matrix, gram, ranks: &[20], lambdas: &[1.0, 100.0, 300.0] });
    }
    Ok(all)
}

/// The best of runs of OBCD and of `support` from the usual starts and from the relaxation's solution.
fn incumbent(p: &PcaProblem, root: &Bound, nonneg: bool) -> Result<Solution> {
    let mut starts = vec![Start::Coordinates, Start::Pca];
    if !nonneg {
        starts.push(Start::Identity);
        starts.extend(root.relaxation.leading_eigenvectors(p.rank()).map(Start::Given));
    }
    let random = if nonneg { Start::Partition } else { Start::Random };
    let mut best: Option<Solution> = None;
    let mut offer = |s: Solution| {
        if best.as_ref().is_none_or(|b| s.objective.total < b.objective.total) {
            best = Some(s);
        }
    };
    for (k, start) in starts.iter().chain(std::iter::repeat_n(&random, 12)).enumerate() {
        let options = ObcdOptions { seed: k as u64, ..Default::default() };
        offer(solve(p, start, &options, RUN)?);
        if !nonneg {
            let x0 = start.point(&p.f, p.rank(), false, k as u64)?;
            let mut stop =
                Stationary { tol: 1e-10 }.or(MaxIterations(Some(1_000_000))).or(TimeLimit(Some(RUN)));
            let solver = Support::new(SupportOptions { obcd: options, ..Default::default() })?;
            offer(run(p, &solver, x0, RunOptions::default(), &mut stop, &mut [])?);
        }
    }
    best.ok_or_else(|| anyhow::anyhow!("no run"))
}

fn row(case: &Case, r: usize, lambda: Option<f64>, seconds: f64) -> Result<()> {
    let (name, kind) = match lambda {
        Some(lambda) => ("l0-pca", Kind::L0 { lambda }),
        None => ("nonneg-pca", Kind::Nonnegative),
    };
    let p = case.problem(name, r, lambda.unwrap_or(0.0))?;
    let options = Options { seconds: Some(ROOT), ..Options::default() };
    let root = lower_bound(&p.f, r, &kind, None, &options, &Cancel::never(), &|_| ())?;
    let best = incumbent(&p, &root, lambda.is_none())?;
    let percent = |f: f64, bound: f64| 100.0 * (f - bound).max(0.0) / f.abs();
    let f = best.objective.total;
    print!(
        "| {} | {name} | {r} | {} | {f:.7} | {:.7} | {:.3} | {:.1} |",
        case.name,
        lambda.map_or_else(String::new, |l| l.to_string()),
        root.value,
        percent(f, root.value),
        root.seconds
    );
    if seconds > 0.0 {
        let options =
            Options { seconds: Some(seconds), nodes: u64::MAX, warm: Some(root.relaxation), ..options };
        let tree = lower_bound(&p.f, r, &kind, Some(&best.x), &options, &Cancel::never(), &|_| ())?;
        let f = tree.objective.unwrap_or(f);
        print!(
            " {f:.7} | {:.7} | {:.4} | {} | {} | {} | {:.1} |",
            tree.value,
            percent(f, tree.value),
            if tree.proof == Some(Proof::Optimal) { "yes" } else { "" },
            tree.method.name(),
            tree.nodes,
            tree.seconds
        );
    }
    println!();
    Ok(())
}

/// Prints the table; `seconds` of branch and bound for every line, 0 for none; `filter` is part of
/// the name of a case; `files` are further CSV tables, as correlation matrices.
pub fn run_suite(seconds: f64, filter: Option<&str>, files: &[String]) -> Result<()> {
    let (mut head, mut rule) =
        ("| data | problem | r | lambda | F | bound | gap % | s |".to_string(), "|---".repeat(8));
    if seconds > 0.0 {
        head += " F | bound | gap % | proved | method | nodes | s |";
        rule += &"|---".repeat(7);
    }
    println!("{head}\n{rule}|");
    for case in cases(files)?.iter().filter(|c| filter.is_none_or(|f| f == "all" || c.name.contains(f))) {
        for r in case.ranks {
            for lambda in case.lambdas.iter().copied().map(Some).chain([None]) {
                row(case, *r, lambda, seconds)?;
            }
        }
    }
    Ok(())
}
