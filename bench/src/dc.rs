//! k-sparse PCA by all methods for composite problems, from the same start for the same time:
//! F(X), F(polar(y̌)) and the better of the two.

use anyhow::Result;
use orthopt::RowMat;
use orthopt::family::CompositeOptions;
use orthopt::family::Family;
use orthopt::problem::CompositeProblem;
use orthopt::problem::PcaData;
use orthopt::solve::{Chain, RunOptions, Solution, TimeLimit, run_restarts};
use orthopt::solvers::COMPOSITE_SOLVERS;
use orthopt::solvers::{SolverOptions, find_solvers};
use orthopt_data::{Matrix, Prepare, Scale};

use crate::instance::load;

const DATA: [&str; 6] = [
    "mnist_a_5000_images.npy",
    "w1a.svm",
    "pcmac.svm.gz",
    "randn:500:1000",
    "colon_alon.csv.gz",
    "coil20.npy",
];
/// Weights of the penalty with the growth ξ of β that the paper takes for each.
const WEIGHTS: [(f64, f64); 5] = [(10.0, 1.0), (50.0, 2.0), (100.0, 5.0), (500.0, 8.0), (1000.0, 10.0)];
const RANK: usize = 20;
const FAST: &str = "oadmm (fast)";

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
        method(FAST, "oadmm", &[]),
        method("oadmm+obcd, half each", "oadmm+obcd", &[]),
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
        method("rial", "rial", &[]),
        method("rada-rgd", "rada-rgd", &[]),
    ]
}

/// Columns to unit norm, then centred, as the paper has it; sparse data stay sparse.
fn prepare(matrix: Matrix) -> Result<(Matrix, Option<Vec<f64>>)> {
    let scaled = Prepare { scale: Scale::Unit, ..Prepare::default() }.apply(matrix)?;
    let centred = Prepare { center: true, ..Prepare::default() }.apply(scaled.matrix)?;
    Ok((centred.matrix, centred.means))
}

/// One run from X⁰ with the constants of the method and, above those, what was typed.
fn solve(
    p: &CompositeProblem,
    m: &Method,
    typed: &[(String, f64)],
    x0: &RowMat,
    seconds: f64,
) -> Result<Solution> {
    let constants = m.constants.iter().map(|(k, v)| ((*k).to_string(), *v)).chain(typed.to_vec()).collect();
    let options = SolverOptions { seed: 1, constants, ..Default::default() };
    let infos = find_solvers(COMPOSITE_SOLVERS, m.solver)?;
    let stages = infos.iter().map(|info| info.build(p, &options)).collect::<orthopt::Result<Vec<_>>>()?;
    let share = seconds / stages.len() as f64;
    let mut stop = TimeLimit(Some(seconds));
    let options = RunOptions { stage_seconds: Some(share), ..Default::default() };
    let start = |_| Ok(Chain { stages: stages.clone(), x0: x0.clone() });
    Ok(run_restarts(p, start, options, &mut stop, &mut [])?)
}

fn shown(value: Option<f64>) -> String {
    value.map_or("-".into(), |v| format!("{v:.9}"))
}

/// Counts over all cells.
#[derive(Default)]
struct Tally {
    cells: u32,
    won: u32,         // the fast OADMM at or below every rival
    paper_won: u32,   // the best of the paper's OADMMs at or below every rival
    chain_below: u32, // obcd after oadmm strictly below oadmm
    chain_above: u32, // and above, which must not be
}

/// Prints a table for every data set and weight whose title contains `filter`, by the methods
/// whose label contains one of `labels`, and how often OADMM is at or below all rivals and OBCD
/// improves what it found. `typed` are constants, `solver-constant` to value.
pub fn suite(
    seconds: f64,
    filter: Option<&str>,
    labels: Option<&str>,
    typed: &[(String, f64)],
) -> Result<()> {
    println!("{seconds} s for every method; all threads; r = {RANK}, k = 5 % of nr; * the best\n");
    let mut tally = Tally::default();
    for data in DATA {
        if filter.is_some_and(|f| !WEIGHTS.iter().any(|(rho, _)| title(data, *rho).contains(f))) {
            continue;
        }
        let Some(matrix) = load(data)? else { continue };
        let (matrix, means) = prepare(matrix)?;
        let data_of = || match &matrix {
            Matrix::Dense(a) => PcaData::Dense(a.as_ref()),
            Matrix::Sparse(a) => PcaData::Sparse(a.as_ref(), means.clone()),
        };
        for (rho, xi) in WEIGHTS {
            let title = title(data, rho);
            if filter.is_some_and(|f| !title.contains(f)) {
                continue;
            }
            let p = orthopt::family::composite_problem(
                "dc-pca",
                &data_of(),
                RANK,
                rho,
                &CompositeOptions::default(),
            )?;
            let wanted = |m: &Method| labels.is_none_or(|l| l.split(',').any(|l| m.label.contains(l)));
            cell(&p, &title, methods(xi).into_iter().filter(wanted).collect(), typed, seconds, &mut tally)?;
        }
    }
    let Tally { cells, won, paper_won, chain_below, chain_above } = tally;
    println!("the fast OADMM is at or below every rival in {won} of {cells} cells,");
    println!("the best of the paper's OADMMs in {paper_won};");
    println!("obcd after oadmm for as long again ends lower in {chain_below}, higher in {chain_above}");
    Ok(())
}

fn title(data: &str, rho: f64) -> String {
    format!("{data} rho {rho}")
}

/// One table.
fn cell(
    p: &CompositeProblem,
    title: &str,
    methods: Vec<Method>,
    typed: &[(String, f64)],
    seconds: f64,
    tally: &mut Tally,
) -> Result<()> {
    let x0 = p.start("random", 1)?;
    let mut runs: Vec<(String, Solution)> = Vec::new();
    for m in methods {
        runs.push((m.label.clone(), solve(p, &m, typed, &x0, seconds)?));
    }
    let lowest = |of: &dyn Fn(&str) -> bool| {
        let some = runs.iter().filter(|r| of(&r.0)).map(|r| r.1.objective.total);
        some.fold(f64::INFINITY, f64::min)
    };
    let rival = lowest(&|label| !label.contains("oadmm"));
    let fast = lowest(&|label| label == FAST);
    tally.cells += 1;
    tally.won += u32::from(fast <= rival);
    tally.paper_won += u32::from(lowest(&|label| label.starts_with("oadmm-")) <= rival);
    if let Some(at) = runs.iter().position(|r| r.0 == FAST) {
        let obcd = Method { label: "then obcd as long again".into(), solver: "obcd", constants: Vec::new() };
        let after = solve(p, &obcd, &[], &runs[at].1.x, seconds)?;
        let (before, now) = (fast, after.objective.total);
        tally.chain_below += u32::from(now < before - 1e-9 * (1.0 + before.abs()));
        tally.chain_above += u32::from(now > before + 1e-9 * (1.0 + before.abs()));
        runs.insert(at + 1, (obcd.label, after));
    }
    let best = runs.iter().map(|r| r.1.objective.total).fold(f64::INFINITY, f64::min);
    println!("### {title}\n\n| method | F(X) | F(polar(y)) | returned | iterations |\n|---|---|---|---|---|");
    for (label, s) in &runs {
        let star = if s.objective.total == best { " *" } else { "" };
        let split = s.splitting;
        let (x, sparse) = (shown(split.map(|s| s.x)), shown(split.and_then(|s| s.sparse)));
        println!("| {label} | {x} | {sparse} | {:.9}{star} | {} |", s.objective.total, s.iterations);
    }
    println!();
    Ok(())
}
