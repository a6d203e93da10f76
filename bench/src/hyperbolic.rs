//! J-orthogonal problems: seconds to the known optimum of `hyperbolic-eig` beside the rivals, the
//! cost of a Gauss–Seidel step over n, the structural probe against component gradients and time,
//! and rounds on two threads against one.

use std::time::Instant;

use anyhow::Result;
use faer::Mat;
use orthopt::RowMat;
use orthopt::constraint::Signature;
use orthopt::family::Family;
use orthopt::problem::PcaData;
use orthopt::problem::{JProblem, covariance};
use orthopt::smooth::{Placement, Smooth, euclidean_distances};
use orthopt::solve::{
    AnySolver, RunOptions, Setting, Settings, Solution, Solver, Stationary, Stop, TimeLimit, advance,
    run as solve,
};
use orthopt::solvers::{J_SOLVERS, SolverOptions, find_solvers};
use orthopt::solvers::{JobcdOptions, Side};
use orthopt_core::constraint::j_orthogonal::spectral_norm;
use orthopt_data::Matrix;

use crate::instance::load;

/// Relative gap that counts as solved.
const GAP: f64 = 1e-8;
/// Ridge relative to tr(C)/n.
const RIDGE: f64 = 1e-3;

/// Prints the tables; `part` is one of eig, steps, probe, threads, or probe/M\[/SOLVER\] for one
/// number of samples and one solver.
pub fn run(seconds: f64, part: Option<&str>) -> Result<()> {
    let mut words = part.unwrap_or_default().split('/');
    let part = words.next().filter(|w| !w.is_empty());
    let only = (words.next().map(str::parse).transpose()?, words.next());
    let wanted = |name: &str| part.is_none_or(|p| p == name);
    if wanted("eig") {
        eigenvalues(seconds)?;
    }
    if wanted("steps") {
        step_cost()?;
    }
    if wanted("probe") {
        probes(seconds, only)?;
    }
    if wanted("threads") {
        threads()?;
    }
    Ok(())
}

fn solver(
    p: &JProblem,
    name: &str,
    jobcd: JobcdOptions,
    constants: &[(&str, f64)],
) -> Result<AnySolver<JProblem>> {
    let constants = constants.iter().map(|(k, v)| ((*k).to_string(), *v)).collect();
    let options = SolverOptions { seed: 1, jobcd, constants, ..Default::default() };
    Ok(find_solvers(J_SOLVERS, name)?[0].build(p, &options)?)
}

fn on(side: Side) -> JobcdOptions {
    JobcdOptions { side, ..Default::default() }
}

/// The `most` columns of largest variance, in order; all where there are fewer.
fn widest(a: &Matrix, most: usize) -> Mat<f64> {
    let dense = match a {
        Matrix::Dense(a) => a.clone(),
        Matrix::Sparse(a) => a.to_dense(),
    };
    let m = dense.nrows() as f64;
    let variance = |j: usize| {
        let mean = (0..dense.nrows()).map(|i| dense[(i, j)]).sum::<f64>() / m;
        (0..dense.nrows()).map(|i| (dense[(i, j)] - mean).powi(2)).sum::<f64>() / m
    };
    let mut order: Vec<(f64, usize)> = (0..dense.ncols()).map(|j| (variance(j), j)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut keep: Vec<usize> = order.iter().take(most).map(|o| o.1).collect();
    keep.sort_unstable();
    Mat::from_fn(dense.nrows(), keep.len(), |i, k| dense[(i, keep[k])])
}

fn first(a: &Matrix, most: usize) -> Mat<f64> {
    let dense = match a {
        Matrix::Dense(a) => a.clone(),
        Matrix::Sparse(a) => a.to_dense(),
    };
    Mat::from_fn(dense.nrows(), dense.ncols().min(most), |i, k| dense[(i, k)])
}

/// Signs in a fixed irregular order, a third of them ones.
fn scattered(n: usize) -> Result<Signature> {
    let signs: Vec<f64> = (0..n).map(|i| if (i * 7 + i / 3) % 3 == 0 { 1.0 } else { -1.0 }).collect();
    Ok(Signature::from_signs(&signs)?)
}

fn eigenvalues(seconds: f64) -> Result<()> {
    println!("### hyperbolic-eig: seconds to a relative gap of {GAP:.0e} of the closed form\n");
    println!("At most {seconds} s each; in brackets the gap that was left. Same random start.\n");
    let mut watched = Watched::default();
    println!("| data | n | signature | gs columns | gs rows | j columns | j rows | j-admm | umcm | csdm |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (data, most, pick) in [
        ("w1a.svm", 300, true),
        ("mnist_a_5000_images.npy", 500, true),
        ("colon_alon.csv.gz", 300, false),
        ("randn:1000:500:1", 500, false),
        ("randn:200:100:1", 100, false),
    ] {
        let Some(matrix) = load(data)? else { continue };
        let a = if pick { widest(&matrix, most) } else { first(&matrix, most) };
        let c = covariance(&PcaData::Dense(a.as_ref()), RIDGE)?;
        let n = c.nrows();
        for (what, j) in [
            ("half ones", Signature::leading(n / 2, n)?),
            ("one minus one", Signature::leading(n - 1, n)?),
            ("a third ones, unsorted", scattered(n)?),
        ] {
            let p = JProblem::hyperbolic_eig(c.as_mat(), j)?;
            let Some(best) = p.optimum().transpose()? else { continue };
            let x0 = p.start("random", 1)?;
            let mut cells = Vec::new();
            for (name, side, constants) in [
                ("gs-jobcd", Side::Columns, vec![]),
                ("gs-jobcd", Side::Rows, vec![]),
                ("j-jobcd", Side::Columns, vec![]),
                ("j-jobcd", Side::Rows, vec![]),
                ("j-admm", Side::Auto, vec![]),
                ("umcm", Side::Auto, vec![("umcm-lr", 5e-3)]),
                ("csdm", Side::Auto, vec![("csdm-lr", 5e-2)]),
            ] {
                let s = solver(&p, name, on(side), &constants)?;
                let mut stop = Stationary { tol: 1e-12 }.or(TimeLimit(Some(seconds)));
                let solution = solve(&p, &s, x0.clone(), RunOptions::default(), &mut stop, &mut [])?;
                if name.contains("jobcd") {
                    watched.look(&solution, spectral_norm(&x0));
                }
                cells.push(reached(&solution, best));
            }
            println!("| {data} | {n} | {what} | {} |", cells.join(" | "));
        }
    }
    println!(
        "\ngs and j: {} traces, of which {} rise somewhere; largest mean |X'JX - J| on the way: {:.1} eps max ||X||^2\n",
        watched.traces, watched.rising, watched.residual
    );
    Ok(())
}

/// Invariants of every trace of JOBCD.
#[derive(Default)]
struct Watched {
    traces: usize,
    rising: usize,
    residual: f64, // in units of eps·‖X‖², ‖X‖ the larger one of start and end
}

impl Watched {
    fn look(&mut self, s: &Solution, norm: f64) {
        let (points, norm) = (s.trace.points(), norm.max(spectral_norm(&s.x)));
        self.traces += 1;
        self.rising += usize::from(points.windows(2).any(|w| w[1].objective > w[0].objective));
        let most = points.iter().fold(0.0f64, |m, t| m.max(t.feasibility));
        self.residual = self.residual.max(most / (f64::EPSILON * norm * norm));
    }
}

/// The first time at which f is within [`GAP`] of the optimum, or the gap at the end.
fn reached(s: &Solution, best: f64) -> String {
    let point = s.trace.points().iter().find(|t| t.objective <= best * (1.0 + GAP));
    match point {
        Some(t) => format!("{:.2}", t.seconds),
        None => format!("- ({:.0e})", (s.objective.total - best) / best),
    }
}

/// Batches of 500 steps whose fastest counts.
const BATCHES: usize = 40;

fn step_cost() -> Result<()> {
    println!(
        "### Cost of a Gauss-Seidel step, microseconds (cyclic pairs, moves included; best of {BATCHES} batches of 500)\n"
    );
    println!("| n | columns (F = YK) | rows (S = XX') |\n|---|---|---|");
    let sizes = [100usize, 200, 400, 700, 1000, 1400, 2000];
    let mut logs: [Vec<(f64, f64)>; 2] = Default::default();
    for n in sizes {
        let Some(Matrix::Dense(a)) = load(&format!("randn:{}:{n}:1", n + 50))? else { continue };
        let c = covariance(&PcaData::Dense(a.as_ref()), 0.1)?;
        let p = JProblem::hyperbolic_eig(c.as_mat(), Signature::leading(n / 2, n)?)?;
        let x0 = p.start("random", 0)?; // where every pair moves
        let mut cells = Vec::new();
        for (k, side) in [Side::Columns, Side::Rows].into_iter().enumerate() {
            let choice = JobcdOptions { side, ..Default::default() };
            let s = solver(&p, "gs-jobcd", choice, &[])?;
            let mut state = s.init(&p, x0.clone())?;
            // the best of many batches: the machine may be busy with other things
            let mut cost = f64::INFINITY;
            // and within the first pass, where every pair moves
            for _ in 0..BATCHES.min(n * (n - 1) / 1000) {
                let clock = Instant::now();
                let done = advance(&s, &p, &mut state, 500).0;
                cost = cost.min(1e6 * clock.elapsed().as_secs_f64() / done as f64);
            }
            logs[k].push(((n as f64).ln(), cost.ln()));
            let settings = s.finish(&p, state).details.settings;
            let share = counted(&settings, "moves") / counted(&settings, "pairs");
            cells.push(format!("{cost:.2} ({:.0} % moved)", 100.0 * share));
        }
        println!("| {n} | {} |", cells.join(" | "));
    }
    println!("| slope of log cost over log n | {:.2} | {:.2} |\n", slope(&logs[0]), slope(&logs[1]));
    Ok(())
}

/// A counter among the settings.
pub fn counted(settings: &Settings, name: &str) -> f64 {
    match settings.get(name) {
        Some(Setting::Int(v)) => *v as f64,
        _ => f64::NAN,
    }
}

/// Least squares slope.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len().max(1) as f64;
    let mean = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
    let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
    let (xy, xx) = (mean(&|p| (p.0 - x) * (p.1 - y)), mean(&|p| (p.0 - x).powi(2)));
    xy / xx
}

/// Images with their n widest pixels as D and the distances of whole images as T, both scaled to
/// a mean distance of 3.
pub fn image_probe(m: usize, n: usize) -> Result<Option<JProblem>> {
    let Some(matrix) = load("mnist_a_5000_images.npy")? else { return Ok(None) };
    let all = first(&matrix, usize::MAX);
    let rows = m.min(all.nrows());
    let whole = all.submatrix(0, 0, rows, all.ncols()).to_owned();
    let mut t = euclidean_distances(whole.as_ref());
    scale_to(&mut t, 3.0);
    let narrow = widest(&Matrix::Dense(whole), n);
    let mean = |k: usize| (0..rows).map(|i| narrow[(i, k)]).sum::<f64>() / rows as f64;
    let means: Vec<f64> = (0..n).map(mean).collect();
    let size = euclidean_distances(narrow.as_ref()).data().iter().sum::<f64>() / (rows * rows) as f64;
    let d = Mat::from_fn(rows, n, |i, k| 3.0 / size * (narrow[(i, k)] - means[k]));
    let j = Signature::leading(n / 2, n)?;
    Ok(Some(JProblem::probe(d.as_ref(), t, j, 1.0, Placement::After)?))
}

fn scale_to(t: &mut RowMat, mean: f64) {
    let factor = mean * t.data().len() as f64 / t.data().iter().sum::<f64>();
    t.data_mut().iter_mut().for_each(|v| *v *= factor);
}

fn probes(seconds: f64, (samples, one): (Option<usize>, Option<&str>)) -> Result<()> {
    println!("### Structural probe: f against component gradients (in units of N = m) and time\n");
    println!(
        "At most {seconds} s each, the same random start; 'after k N' counts components of gradients only.\n"
    );
    println!(
        "| m | n | solver | start | after 10 N | after 30 N | after 100 N | at {:.1} s | at the end | N used |",
        seconds / 4.0
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for n in [50, 100] {
        for m in [200, 1000, 5000].into_iter().filter(|m| samples.is_none_or(|o| o == *m)) {
            let Some(p) = image_probe(m, n)? else { return Ok(()) };
            for (name, constants) in [
                ("j-jobcd", vec![]),
                ("vr-j-jobcd", vec![]),
                ("j-admm", vec![]),
                ("umcm", vec![]),
                ("csdm", vec![("csdm-lr", 2e-2)]),
            ] {
                if one.is_some_and(|o| o != name) {
                    continue;
                }
                let s = solver(&p, name, JobcdOptions::default(), &constants)?;
                let row = probe_row(&p, &s, seconds)?;
                println!("| {m} | {n} | {name} | {row} |");
            }
        }
    }
    println!();
    Ok(())
}

fn probe_row(p: &JProblem, s: &AnySolver<JProblem>, seconds: f64) -> Result<String> {
    let x0 = p.start("random", 1)?;
    let start = p.value(&x0);
    let n = p.f.components() as f64;
    let mut state = s.init(p, x0)?;
    let mut elapsed = 0.0;
    let (mut at_count, mut at_quarter) = ([None; 3], None);
    let (mut f, mut used, mut iterations) = (start, 0.0, 0u64);
    while elapsed < seconds {
        let clock = Instant::now();
        let step = s.step(p, &mut state);
        f = s.current(p, &state).objective;
        elapsed += clock.elapsed().as_secs_f64();
        iterations += 1;
        let settings = s.finish(p, state.clone()).details.settings;
        let components = counted(&settings, "component_gradients");
        // UMCM takes a Hessian product by two more gradients
        let each = if s.name() == "umcm" { 3.0 } else { 1.0 };
        used = if components.is_nan() { iterations as f64 * each } else { components / n };
        for (slot, limit) in at_count.iter_mut().zip([10.0, 30.0, 100.0]) {
            if used >= limit && slot.is_none() {
                *slot = Some(f);
            }
        }
        if at_quarter.is_none() && elapsed >= seconds / 4.0 {
            at_quarter = Some(f);
        }
        if step.ended.is_some() {
            break;
        }
    }
    let cell = |v: Option<f64>| v.map_or_else(|| "-".into(), |v| format!("{v:.4}"));
    let counts: Vec<String> = at_count.into_iter().map(cell).collect();
    Ok(format!("{start:.4} | {} | {} | {f:.4} | {used:.0}", counts.join(" | "), cell(at_quarter.or(Some(f)))))
}

/// Runs on each number of threads, in turn, of which the fastest counts.
const REPEATS: usize = 9;

fn threads() -> Result<()> {
    println!("### Jacobi rounds on two threads against one (fastest of {REPEATS} runs each)\n");
    println!("| work | 1 thread, s | 2 threads, s | ratio | same X |\n|---|---|---|---|---|");
    let Some(Matrix::Dense(a)) = load("randn:1200:1000:1")? else { return Ok(()) };
    let c = covariance(&PcaData::Dense(a.as_ref()), RIDGE)?;
    let p = JProblem::hyperbolic_eig(c.as_mat(), Signature::leading(500, 1000)?)?;
    compare(&p, "hyperbolic-eig n 1000, 30 rounds of columns (8 x 8 pairs a task)", Side::Columns, 30)?;
    compare(&p, "hyperbolic-eig n 1000, 5 rounds of rows", Side::Rows, 5)?;
    if let Some(p) = image_probe(2000, 100)? {
        compare(&p, "probe m 2000 n 100, 2 rounds of rows", Side::Rows, 2)?;
    }
    println!();
    Ok(())
}

fn compare(p: &JProblem, what: &str, side: Side, rounds: u64) -> Result<()> {
    let s = solver(p, "j-jobcd", on(side), &[])?;
    let x0 = p.start("random", 1)?;
    let timed = |threads: usize| -> Result<(f64, RowMat)> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        pool.install(|| {
            let mut state = s.init(p, x0.clone())?;
            let (clock, mut done) = (Instant::now(), 0);
            while done < rounds {
                done += advance(&s, p, &mut state, rounds - done).0;
            }
            let seconds = clock.elapsed().as_secs_f64();
            Ok((seconds, s.finish(p, state).x))
        })
    };
    let mut best = [(f64::INFINITY, RowMat::zeros(0, 0)), (f64::INFINITY, RowMat::zeros(0, 0))];
    for _ in 0..REPEATS {
        for (threads, slot) in [1, 2].into_iter().zip(&mut best) {
            let found = timed(threads)?;
            if found.0 < slot.0 {
                *slot = found;
            }
        }
    }
    let [one, two] = best;
    println!("| {what} | {:.3} | {:.3} | {:.2} | {} |", one.0, two.0, one.0 / two.0, one.1 == two.1);
    Ok(())
}
