//! k-sparse PCA by all methods for composite problems, from the same start for the same time:
//! F(X), F(polar(y̌)) and the better of the two.

use anyhow::Result;
use orthopt::composite::{Composite, CompositeOptions};
use orthopt::linalg::RowMat;
use orthopt::problem::{Family, PcaData};
use orthopt::solve::{RunOptions, Setting, Solution, TimeLimit, run};
use orthopt::solvers::composite::COMPOSITE_SOLVERS;
use orthopt::solvers::{SolverOptions, find_solvers};
use orthopt_data::{Matrix, Prepare, Scale};

use crate::instance::load;

const DATA: [&str; 4] = ["mnist_a_5000_images.npy", "w1a.svm", "pcmac.svm.gz", "randn:500:1000"];
/// Weights of the penalty with the growth ξ of β that the paper takes for each.
const WEIGHTS: [(f64, f64); 5] = [(10.0, 1.0), (50.0, 2.0), (100.0, 5.0), (500.0, 8.0), (1000.0, 10.0)];
const RANK: usize = 20;

/// A method with the constants that differ from its defaults.
struct Method {
    label: String,
    solver: &'static str,
    constants: Vec<(&'static str, f64)>,
}

/// The methods for a weight ρ; the paper's ones with its constants.
fn methods(xi: f64) -> Vec<Method> {
    let method = |label: &str, solver, constants: &[(&'static str, f64)]| Method {
        label: label.into(),
        solver,
        constants: constants.to_vec(),
    };
    vec![
        method("oadmm (fast)", "oadmm", &[]),
        method("oadmm-ep, chi 1.01", "oadmm-ep", &[("oadmm-ep-xi", xi)]),
        method("oadmm-rr, chi 1.01", "oadmm-rr", &[("oadmm-rr-xi", xi)]),
        method("oadmm-ep, theory", "oadmm-ep", &[("oadmm-ep-xi", xi), ("oadmm-ep-chi", 0.0)]),
        method("oadmm-rr, theory", "oadmm-rr", &[("oadmm-rr-xi", xi), ("oadmm-rr-chi", 0.0)]),
        method("radmm, beta 100", "radmm", &[("radmm-beta", 100.0)]),
        method("radmm, beta 10000", "radmm", &[]),
        method("spgm-ep", "spgm-ep", &[]),
        method("spgm-rr", "spgm-rr", &[]),
        method("subgrad", "subgrad", &[]),
        method("madmm", "madmm", &[]),
        method("manial", "manial", &[]),
    ]
}

/// Columns to unit norm, then centred, as the paper has it; sparse data stay sparse.
fn prepare(matrix: Matrix) -> Result<(Matrix, Option<Vec<f64>>)> {
    let scaled = Prepare { scale: Scale::Unit, ..Prepare::default() }.apply(matrix)?;
    let centred = Prepare { center: true, ..Prepare::default() }.apply(scaled.matrix)?;
    Ok((centred.matrix, centred.means))
}

fn solve(p: &Composite, m: &Method, x0: &RowMat, seconds: f64) -> Result<Solution> {
    let info = find_solvers(COMPOSITE_SOLVERS, m.solver)?[0];
    let constants = m.constants.iter().map(|(k, v)| ((*k).to_string(), *v)).collect();
    let solver = info.build(p, &SolverOptions { seed: 1, constants, ..Default::default() })?;
    let mut stop = TimeLimit(Some(seconds));
    Ok(run(p, &solver, x0.clone(), RunOptions::default(), &mut stop, &mut [])?)
}

fn real(s: &Solution, name: &str) -> String {
    match s.settings.get(name) {
        Some(Setting::Real(v)) => format!("{v:.6}"),
        _ => "-".into(),
    }
}

/// Prints a table for every data set and weight whose title contains `filter`, and how often the
/// fast OADMM is at or below all rivals.
pub fn suite(seconds: f64, filter: Option<&str>) -> Result<()> {
    println!("{seconds} s for every method; all threads; r = {RANK}, k = 5 % of nr; * the best\n");
    let (mut cells, mut won) = (0, 0);
    for data in DATA {
        let Some(matrix) = load(data)? else { continue };
        let (matrix, means) = prepare(matrix)?;
        let data_of = || match &matrix {
            Matrix::Dense(a) => PcaData::Dense(a.as_ref()),
            Matrix::Sparse(a) => PcaData::Sparse(a.as_ref(), means.clone()),
        };
        for (rho, xi) in WEIGHTS {
            let title = format!("{data} rho {rho}");
            if filter.is_some_and(|f| !title.contains(f)) {
                continue;
            }
            let p = Composite::pca("dc-pca", &data_of(), RANK, rho, &CompositeOptions::default())?;
            let x0 = p.start("random", 1)?;
            let runs: Vec<(Method, Solution)> = methods(xi)
                .into_iter()
                .map(|m| solve(&p, &m, &x0, seconds).map(|s| (m, s)))
                .collect::<Result<_>>()?;
            let best = runs.iter().map(|r| r.1.objective.total).fold(f64::INFINITY, f64::min);
            println!("### {title}\n");
            println!("| method | F(X) | F(polar(y)) | returned | iterations |\n|---|---|---|---|---|");
            for (m, s) in &runs {
                println!(
                    "| {} | {} | {} | {:.6}{} | {} |",
                    m.label,
                    real(s, "objective_x"),
                    real(s, "objective_sparse"),
                    s.objective.total,
                    if s.objective.total == best { " *" } else { "" },
                    s.iterations
                );
            }
            println!();
            cells += 1;
            let rivals = runs.iter().filter(|r| !r.0.label.contains("oadmm"));
            let rival = rivals.map(|r| r.1.objective.total).fold(f64::INFINITY, f64::min);
            won += u32::from(runs[0].1.objective.total <= rival);
        }
    }
    println!("the fast OADMM is at or below every rival in {won} of {cells} cells");
    Ok(())
}
