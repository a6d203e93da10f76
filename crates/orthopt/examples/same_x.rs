//! Solves a sparse PCA problem of the samples in a file and prints the bits of X in hexadecimal:
//! what the command line (`--save-x`) and Python (`Solution.X`) give for the same options.
//!
//! ```sh
//! cargo run -p orthopt --example same_x -- l0-pca samples.npy 3 0.5 7     # rank, lambda, seed
//! ```

use orthopt::family::Wanted;
use orthopt::family::{Family, find_problem};
use orthopt::family::{Named, PoseOptions, pose};
use orthopt::problem::PcaData;
use orthopt::solve::{Critical, RunOptions, Stationary, Stop, run_restarts};
use orthopt_data::{LoadOptions, Matrix, load};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [problem, file, rank, lambda, seed] = &args[..] else {
        return Err("usage: same_x PROBLEM FILE RANK LAMBDA SEED".into());
    };
    let data = load(file, &LoadOptions::default())?;
    let a = match &data.matrix {
        Matrix::Dense(a) => PcaData::Dense(a.as_ref()),
        Matrix::Sparse(a) => PcaData::Sparse(a.as_ref(), None),
    };
    let info = find_problem(problem)?;
    let lambda = if info.uses_lambda { Some(lambda.parse()?) } else { None };
    let options = PoseOptions { rank: Some(rank.parse()?), lambda, ..Default::default() };
    let Named::Pca(problem) = pose(info, &a, &options)?.problem else {
        return Err("this example is for PCA problems".into());
    };

    // one start of OBCD with the defaults of the papers, to the tolerance of the command line
    let seed = seed.parse()?;
    let wanted = Wanted { solver: Some("obcd".into()), tol: Some(1e-9), seed, ..Default::default() };
    let plan = problem.plan(&wanted)?;
    let mut stop = Stationary { tol: 1e-9 }.or(Critical { tol: 1e-6 });
    let run = RunOptions { seed, ..Default::default() };
    let mut solution = run_restarts(&problem, |k| plan.start(&problem, k), run, &mut stop, &mut [])?;
    problem.order_components(&mut solution);

    for value in solution.x.data() {
        println!("{:016x}", value.to_bits());
    }
    Ok(())
}
