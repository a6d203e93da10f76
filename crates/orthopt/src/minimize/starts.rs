//! Starting points of a run over XᵀX = I, and the best of the runs from them.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::Function;
use orthopt_core::solve::{Solution, Status, Stopping};
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};

/// Starts after the first.
#[derive(Clone, Copy, Debug)]
pub(super) enum Further {
    /// So many random ones.
    Count(u64),
    /// Random ones until two starts have come to the lowest F, but no more than [`MOST_STARTS`] in all.
    UntilAgreed,
}

impl Further {
    /// The starts that follow from a number of `restarts`, if there is one, and from whether a start is given.
    pub fn of(restarts: Option<u64>, given: bool) -> Self {
        match restarts {
            Some(count) => Self::Count(count),
            None if given => Self::Count(0),
            None => Self::UntilAgreed,
        }
    }
}

/// The largest number of starts of those who give none and no number.
const MOST_STARTS: usize = 10;
/// The F of two runs are the same up to this share of their size.
const SAME: f64 = 1e-6;

/// The generator of random starts, as for the problems with a name.
pub(super) fn start_rng(seed: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed ^ 0x5354_4152_545f_5830)
}

/// Starting points without end: each with its mirror image, in the other half of O(n), where X is square.
pub(super) struct Starts<'a, R> {
    next: Vec<RowMat>,
    both: bool,
    random: R,
    rng: &'a mut Pcg64,
}

impl<'a, R: FnMut(&mut Pcg64) -> RowMat> Starts<'a, R> {
    pub fn new(first: RowMat, both: bool, random: R, rng: &'a mut Pcg64) -> Self {
        let mut starts = Self { next: Vec::new(), both, random, rng };
        starts.push(first);
        starts
    }

    fn push(&mut self, x: RowMat) {
        self.next.extend(self.both.then(|| mirrored(&x)));
        self.next.push(x);
    }
}

impl<R: FnMut(&mut Pcg64) -> RowMat> Iterator for Starts<'_, R> {
    type Item = RowMat;

    fn next(&mut self) -> Option<RowMat> {
        if self.next.is_empty() {
            let x = (self.random)(self.rng);
            self.push(x);
        }
        self.next.pop()
    }
}

/// X with the sign of the last column changed: in the other half of O(n) where X is square.
fn mirrored(x: &RowMat) -> RowMat {
    let last = x.ncols() - 1;
    RowMat::from_fn(x.nrows(), x.ncols(), |i, k| if k == last { -x.get(i, k) } else { x.get(i, k) })
}

/// Rounding errors of f and ∇f, relative to their size.
const ROUNDING: f64 = 1e-12;

/// True if a random X and its mirror image have the same f and mirrored gradients: then so have all others, and both halves
/// of O(n) the same minima.
pub(super) fn is_even(f: &Function, x: &RowMat) -> bool {
    let (mut g, mut of_image) = (RowMat::zeros(x.nrows(), x.ncols()), RowMat::zeros(x.nrows(), x.ncols()));
    let here = f.evaluate(x, &mut g);
    let there = f.evaluate(&mirrored(x), &mut of_image);
    let image = mirrored(&g);
    let apart = RowMat::from_fn(x.nrows(), x.ncols(), |i, k| image.get(i, k) - of_image.get(i, k)).norm();
    (here - there).abs() <= ROUNDING * here.abs() && apart <= ROUNDING * g.norm()
}

/// A random nonnegative X⁰: the rows, shuffled, are dealt out to the columns.
pub(super) fn partition(n: usize, r: usize, rng: &mut Pcg64) -> RowMat {
    let mut rows: Vec<usize> = (0..n).collect();
    for i in (1..n).rev() {
        rows.swap(i, rng.random_range(0..=i));
    }
    let mut x = RowMat::zeros(n, r);
    for (k, row) in rows.iter().enumerate() {
        let column = k % r;
        let size = (n - column).div_ceil(r); // rows that this column gets
        x.set(*row, column, 1.0 / (size as f64).sqrt());
    }
    x
}

/// The lowest F of runs from these starts, under one limit of time.
///
/// # Errors
/// The first run has no result.
pub(super) fn best_of<R: FnMut(&mut Pcg64) -> RowMat>(
    starts: Starts<'_, R>,
    further: Further,
    stopping: &Stopping,
    mut run: impl FnMut(RowMat, &Stopping) -> Result<Solution>,
) -> Result<Solution> {
    let halves = if starts.both { 2 } else { 1 };
    let mut best: Option<(usize, Solution)> = None;
    let mut interrupted = None; // how the run ended, also where an earlier start is the best
    let (mut values, mut seconds, mut iterations) = (Vec::new(), 0.0, 0);
    for x0 in starts {
        let limit = stopping.time_limit.map(|limit| (limit - seconds).max(0.0));
        let found = match run(x0, &Stopping { time_limit: limit, ..*stopping }) {
            Ok(found) => found,
            Err(failure) if best.is_none() => return Err(failure),
            Err(_) => break, // what is found already stays; the caller knows of an f that failed
        };
        seconds += found.seconds;
        iterations += found.iterations;
        let (f, size, ended) = (found.objective.total, found.scale, found.status);
        interrupted = (ended == Status::Interrupted).then(|| (ended, found.message.clone()));
        values.push(f);
        if best.as_ref().is_none_or(|(_, best)| f < best.objective.total) {
            best = Some((values.len() - 1, found));
        }
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let agreed = values.iter().filter(|v| **v <= lowest + SAME * (size + lowest.abs())).count();
        let enough = match further {
            Further::Count(count) => values.len() as u64 >= halves * (1 + count),
            Further::UntilAgreed => agreed >= 2 || values.len() >= MOST_STARTS,
        };
        if enough || !matches!(ended, Status::Converged | Status::Stalled) {
            break;
        }
    }
    let Some((at, mut best)) = best else {
        return Err(Error::Incompatible("there is no start".into()));
    };
    if let Some((status, message)) = interrupted {
        (best.status, best.message) = (status, message);
    }
    if values.len() > 1 {
        let lowest = best.objective.total;
        let near = SAME * (best.scale + lowest.abs());
        let agreed = values.iter().filter(|v| **v <= lowest + near).count();
        best.message = format!(
            "{} (the best of {} starts, of which {agreed} came to this F)",
            best.message,
            values.len()
        );
        best.settings.insert("starts_at_best".into(), (agreed as u64).into());
    }
    best.settings.insert("starts".into(), (values.len() as u64).into());
    best.settings.insert("best_start".into(), (at as u64).into());
    (best.starts, best.best_start) = (values.len() as u64, at as u64);
    (best.seconds, best.iterations) = (seconds, iterations);
    Ok(best)
}
