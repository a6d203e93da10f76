//! Problems to run.

use std::path::PathBuf;

use anyhow::Result;
use orthopt::problem::{PcaData, PcaProblem, Storage};
use orthopt::solve::{RunOptions, Solution, Stationary, Stop, TimeLimit, run};
use orthopt::solvers::obcd::{Obcd, ObcdOptions};
use orthopt::start::Start;
use orthopt_data::{LoadOptions, Matrix};

/// The folder of the data files.
pub fn data_dir() -> PathBuf {
    std::env::var_os("ORTHOPT_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from)
}

/// Loads a generator specification, or a file of the data folder; `None` when it is not there.
pub fn load(data: &str) -> Result<Option<Matrix>> {
    let spec = if data.contains(':') {
        data.to_string()
    } else {
        let path = data_dir().join(data);
        if !path.exists() {
            eprintln!("skipped: {data} is not in the data folder (set ORTHOPT_DATA)");
            return Ok(None);
        }
        path.display().to_string()
    };
    Ok(Some(orthopt_data::load(&spec, &LoadOptions::default())?.matrix))
}

/// The problem `name` of a matrix.
pub fn problem(name: &str, matrix: &Matrix, rank: usize, lambda: f64) -> Result<PcaProblem> {
    let data = match matrix {
        Matrix::Dense(a) => PcaData::Dense(a.as_ref()),
        Matrix::Sparse(a) => PcaData::Sparse(a.as_ref(), None),
    };
    Ok(orthopt::family::pca_problem(name, &data, rank, lambda, Storage::Auto)?)
}

/// One run with a time limit.
pub fn solve(p: &PcaProblem, start: &Start, options: &ObcdOptions, seconds: f64) -> Result<Solution> {
    let nonneg = orthopt::nonsmooth::Nonsmooth::requires_nonneg(&p.h);
    let x0 = start.point(&p.f, p.rank(), nonneg, options.seed)?;
    let mut stop = Stationary { tol: 1e-10 }.or(TimeLimit(Some(seconds)));
    Ok(run(p, &Obcd::new(options.clone())?, x0, RunOptions::default(), &mut stop, &mut [])?)
}

/// A counter among the settings of a solution.
pub fn counter(s: &Solution, name: &str) -> u64 {
    match s.settings.get(name) {
        Some(orthopt::solve::Setting::Int(v)) => *v,
        _ => 0,
    }
}
