//! Bound A: the dual of the relaxation over the Fantope, for every kind of problem.

use super::BYTES_PER_ENTRY;
use super::admm::{Admm, CHECK, Point};
use super::certified::sum_of_largest;
use super::covariance::{Covariance, Screen};
use super::penalty::{Entries, Nonnegative, Penalty};
use super::types::{End, Kind, Options, Progress, Relaxation, Room, Watch};
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::order::sort_numbers_down;
use orthopt_linalg::work::so_far;

/// Checks of the bound among which it must fall for the run to continue.
const WINDOW: usize = 20;
/// Residuals at which nothing is left to gain.
const CONVERGED: f64 = 1e-11;

/// An upper bound of −F that is proved, and the run that proves it.
#[derive(Debug)]
pub(super) struct Root {
    pub most: f64,
    pub columns: usize, // r
    pub largest: f64,   // |Cᵢⱼ| among the variables kept, and |Cᵢᵢ| of all
    pub relaxation: Relaxation,
    pub iterations: u64,
    pub end: End,
}

impl Root {
    /// Nothing is bounded.
    ///
    /// # Errors
    /// Entries that are not finite on the diagonal of C.
    pub fn none(f: &impl Quadratic, r: usize) -> Result<Self> {
        let diagonal = f.diagonal();
        if let Some(i) = diagonal.iter().position(|v| !v.is_finite()) {
            return Err(Error::Overflow { column: i + 1 });
        }
        let empty = RowMat::zeros(0, 0);
        let relaxation = Relaxation {
            rows: Vec::new(),
            variables: f.nrows(),
            threshold: 0.0,
            budget: None,
            z: empty.clone(),
            constant: 0.0,
            bound: f64::NEG_INFINITY,
            t: empty.clone(),
            y: empty.clone(),
            u: empty,
            rho: 1.0,
        };
        let largest = diagonal.iter().fold(0.0f64, |m, v| m.max(v.abs())); // that of C ⪰ 0 is on its diagonal
        Ok(Self { most: f64::INFINITY, columns: r, largest, relaxation, iterations: 0, end: End::Limit })
    }
}

/// For the matrices of the relaxation.
fn room(options: &Options) -> Room {
    Room::new(options.variables, options, BYTES_PER_ENTRY)
}

/// The relaxation of max −F for an ℓ0-like or nonnegative `kind` over r columns.
pub(super) fn relax(
    f: &impl Quadratic,
    r: usize,
    kind: &Kind,
    known: Progress,
    options: &Options,
    watch: &Watch<'_>,
) -> Result<Root> {
    let (lambda, budget) = match kind {
        Kind::Nonnegative => {
            let cov = Covariance::of(f, r, Screen::Positive, room(options))?;
            return Ok(run(&cov, f.nrows(), r, Nonnegative::default(), 0.0, known, options, watch));
        }
        Kind::NonnegativeLimited(limited) => return relax(f, r, limited, known, options, watch),
        Kind::L0 { lambda } | Kind::L1 { lambda } => (*lambda, None),
        Kind::Total { nonzeros, lambda } => (*lambda, Some(*nonzeros as f64)),
        Kind::Counts { nonzeros, lambda } => (*lambda, Some(nonzeros.iter().sum::<usize>() as f64)),
        // Y = XXᵀ on m rows has m² entries and ‖Y‖ = √r, so ‖Y‖₁,₁ ≤ m√r
        Kind::Rows { rows, lambda } => {
            let root = (r as f64).sqrt();
            ((lambda / root).next_down().max(0.0), Some((*rows as f64 * root).next_up()))
        }
    };
    let cov = Covariance::of(f, r, Screen::Above(lambda), room(options))?;
    // a smaller λ only raises the bound of −F
    let scaled = (lambda / cov.scale).min(1e100);
    let penalty = Entries { lambda: scaled, budget };
    let mut root = run(&cov, f.nrows(), r, penalty, lambda, known, options, watch);
    root.relaxation.budget = budget;
    if let Kind::Rows { rows, lambda } = kind {
        let lowest = lowest_eigenvalue(f, &cov);
        root.most = root.most.min(by_trace(f, (r, *rows), *lambda, (-0.5 * lowest).max(0.0)));
    }
    Ok(root)
}

/// Share of the largest diagonal entry that rounding may take from the diagonal of C = AᵀA, which is positive
/// semidefinite: γₘ of m samples, up to nine million of them.
const INDEFINITE: f64 = 1e-9;

/// A number that is certainly at most the smallest eigenvalue of C, and at most 0: −∞ where C is not known to be
/// positive semidefinite and variables were left out of `cov`.
fn lowest_eigenvalue(f: &impl Quadratic, cov: &Covariance) -> f64 {
    if f.is_concave() {
        return -INDEFINITE * cov.largest * cov.scale;
    }
    if cov.rows.len() < f.nrows() {
        return f64::NEG_INFINITY;
    }
    let n = cov.c.nrows();
    let minus = RowMat::from_fn(n, n, |i, j| -cov.c.get(i, j));
    let most = sum_of_largest(&minus, &RowMat::zeros(n, n), 1, f64::NEG_INFINITY); // of −½C
    most.map_or(f64::NEG_INFINITY, |most| (-2.0 * most.max(0.0) * cov.scale).next_down())
}

/// Bound for r to `rows` rows R: the r largest eigenvalues of ½C[R, R] are ½tr C[R, R] less the other
/// |R| − r, each at least −`excess`. So the largest ½cᵢᵢ − λ, of which r have to be taken, and with those beyond r
/// the excess.
fn by_trace(f: &impl Quadratic, (r, rows): (usize, usize), lambda: f64, excess: f64) -> f64 {
    let mut worth: Vec<f64> = f.diagonal().iter().map(|v| -0.5 * v - lambda).collect();
    sort_numbers_down(&mut worth);
    let with = worth.iter().take(rows).enumerate().map(|(k, v)| if k < r { (*v, 0.0) } else { (*v, excess) });
    let taken = with.enumerate().filter(|(k, (v, extra))| *k < r || v + extra > 0.0);
    let add = |(sum, size): (f64, f64), (_, (v, extra)): (usize, (f64, f64))| {
        (sum + v + extra, size + v.abs() + extra)
    };
    let (sum, size) = taken.fold((0.0, 0.0), add);
    sum + size * 2.0 * f64::EPSILON * rows as f64
}

#[allow(clippy::too_many_arguments)]
fn run<P: Penalty>(
    cov: &Covariance,
    variables: usize,
    r: usize,
    penalty: P,
    threshold: f64,
    mut known: Progress,
    options: &Options,
    watch: &Watch<'_>,
) -> Root {
    let start = warm(cov, options);
    let most_work = options.work.map_or(u64::MAX, |work| so_far().saturating_add(work));
    let mut admm = Admm::new(&cov.c, r, cov.floor, penalty, start);
    // a proof of the bound is made at the end as well
    let begun = watch.seconds();
    let mut most = admm.certified();
    let proof = watch.seconds() - begun;
    // at iterations 10, 20, 40, ... for observers, later if it takes long
    let (mut proved_at, mut history) = (if cov.rows.len() <= 300 { CHECK } else { 16 * CHECK }, Vec::new());
    let end = loop {
        known.iterations = admm.iteration;
        known.bound = known.bound.max(-most * cov.scale);
        if let Some(end) = watch.ask(known).or_else(|| watch.has_less_than(proof)) {
            break end;
        }
        if admm.iteration >= options.iterations || so_far() > most_work {
            break End::Limit;
        }
        if !admm.advance(&|| watch.is_over() || watch.has_less_than(proof).is_some())
            || admm.converged(CONVERGED)
        {
            break watch.ask(known).unwrap_or(End::Finished); // numbers are missing after a cancellation
        }
        let now = admm.best().estimate;
        history.push(now);
        if history.len() > WINDOW
            && history[history.len() - 1 - WINDOW] - now <= options.tolerance * now.abs()
            && admm.latest() - now <= 1e-3 * now.abs()
        {
            break End::Finished;
        }
        if admm.iteration >= proved_at {
            most = most.min(admm.certified());
            proved_at *= 2;
        }
    };
    most = up(most.min(admm.certified()) * cov.scale);
    let iterations = admm.iteration;
    let relaxation = Relaxation { bound: -most, ..keep(cov, variables, threshold, admm) };
    Root { most, columns: r, largest: cov.largest * cov.scale, iterations, end, relaxation }
}

/// Rounded up: scaling back may underflow.
fn up(v: f64) -> f64 {
    if v.is_finite() { v.next_up() } else { v }
}

fn warm(cov: &Covariance, options: &Options) -> Option<Point> {
    let known = options.warm.as_ref().filter(|w| w.rows == cov.rows)?;
    Some(Point { t: known.t.clone(), u: known.u.clone(), rho: known.rho / cov.scale })
}

fn keep<P: Penalty>(cov: &Covariance, variables: usize, threshold: f64, admm: Admm<'_, P>) -> Relaxation {
    let mut z = admm.best().z.clone();
    z.data_mut().iter_mut().for_each(|v| *v *= cov.scale);
    Relaxation {
        rows: cov.rows.clone(),
        variables,
        threshold,
        budget: None,
        z,
        constant: admm.best().constant * cov.scale,
        bound: f64::NEG_INFINITY,
        rho: admm.point.rho * cov.scale,
        t: admm.point.t,
        u: admm.point.u,
        y: admm.y,
    }
}
