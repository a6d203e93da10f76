//! Stability of components: the same problem on halves of the rows.
//!
//! ```text
//! B times     a random half of the rows, and another of the rows left: a complementary pair (Shah & Samworth 2013)
//! each half   centred and scaled anew; a short search, and its last solver from the X of all rows: the lower F
//!             components matched with those of all rows: the assignment with the largest sum of |cosine|, signs aligned
//! at the end  over the pairs whose halves both have a solution: how often each loading is not zero, percentiles of its values
//! ```
//!
//! λ and limits on nonzeros are those of all rows, also where the data chose them, and C of a half is multiplied so that λ
//! means the same. What a half gives depends on the data, the options and the seed alone: halves run on the threads of the
//! pool, each on one of them.

use std::sync::atomic::{AtomicUsize, Ordering};

use rand::RngExt;
use rand_pcg::Pcg64;

use crate::path::{Centre, Rows, is_centred, polished};
use orthopt_core::problem::{Cardinality, PcaData};
use orthopt_core::solve::{Solution, Status, Stopping};
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_linalg::order::sort_numbers;
use orthopt_linalg::parallel::{alone, map};
use orthopt_run::family::{AnyProblem, Case, Family, Limit, ProblemInfo, Request, pose};
use orthopt_run::report::{DataFacts, Stability, Task};
use orthopt_run::search::Effort;

/// Pairs for which a limit of time has room: each of the two runs of a half ends at its share.
const ROOM: usize = 5;

/// Pairs that begin together where their work is limited: the same for any number of threads.
const TOGETHER: usize = 5;
/// Work of the search of a half, at most, where neither effort nor time are given: a tenth of a second of one thread.
const WORK: u64 = 100_000_000;
/// Work of the run from the X of all rows, at most, where neither effort nor time are given.
const WORK_FROM_X: u64 = 1_000_000_000;

/// The problem of all rows, for halves of them.
#[derive(Clone, Debug)]
pub struct StabilityRequest {
    /// The problem.
    pub problem: &'static ProblemInfo,
    /// The options: r, λ, k and limits are those of all rows.
    pub options: Request,
    /// Limits; the time is that of all halves together, iterations are those of each run.
    pub stopping: Stopping,
    /// Number of pairs of halves.
    pub pairs: usize,
    /// Work after which no other pairs begin; any if `None`.
    pub work: Option<u64>,
}

/// Limits of a run of all rows before halves are solved: it has half of the time.
#[must_use]
pub fn of_run(stopping: Stopping) -> Stopping {
    Stopping { time_limit: stopping.time_limit.map(|limit| 0.5 * limit), ..stopping }
}

/// Limits of the halves after a run of so many seconds: they have the rest of the time.
#[must_use]
pub fn of_halves(stopping: Stopping, seconds: f64) -> Stopping {
    Stopping { time_limit: stopping.time_limit.map(|limit| (limit - seconds).max(0.0)), ..stopping }
}

impl StabilityRequest {
    /// The request beside a run of all rows: what that chose from the data is fixed.
    pub fn of(task: &Task, options: &Request, stopping: Stopping, pairs: usize) -> Self {
        let limit = task.limits.as_ref().map(|limits| match limits {
            Cardinality::Components(list) => Limit::Nonzeros(list.clone()),
            Cardinality::Total(most) => Limit::Total(*most),
            Cardinality::Rows(most) => Limit::Variables(*most),
        });
        let options = Request {
            rank: Some(task.rank.into()),
            lambda: task.lambda,
            lambda_share: None,
            relative_lambda: None,
            k: task.k,
            ..options.clone()
        }
        .with_limit(limit);
        Self { problem: task.problem, options, stopping, pairs, work: None }
    }
}

/// Who watches the halves, and may end them.
pub struct Watch<'a> {
    /// Ends them; the pairs that are complete are returned.
    pub cancel: &'a Cancel,
    /// Called with the number of pairs that have ended and the number of all, on any thread.
    pub done: &'a (dyn Fn(usize, usize) + Sync),
}

/// Fewest rows: two for each half.
const FEWEST: usize = 4;

/// Refuses what has no halves.
///
/// # Errors
/// C itself, or rows of which only C is kept; fewer than four rows; no pairs.
pub fn check(data: &PcaData<'_>, pairs: usize) -> Result<()> {
    let rows = match data {
        PcaData::Gram(_) | PcaData::SparseGram(_) => {
            return Err(Error::Incompatible(Message::about("stability").text(
                " needs the rows of the data, to take halves of them, but only C is there: give the samples, \
                 read as a whole",
            )));
        }
        PcaData::Dense(a) | PcaData::Centred(a, _) => a.nrows(),
        PcaData::Sparse(a, _) => a.nrows(),
    };
    if rows < FEWEST {
        let why = format!(" needs at least {FEWEST} rows, two for each half, but the data have {rows}");
        return Err(Error::Incompatible(Message::about("stability").text(why)));
    }
    if pairs == 0 {
        return Err(Error::InvalidOption {
            option: "stability".into(),
            value: pairs.to_string(),
            expected: "a number of pairs of halves >= 1".into(),
        });
    }
    Ok(())
}

/// Solves the problem on pairs of disjoint halves of the rows. `x` are the components of all rows, and data and facts those
/// that they were found from. `None`: it was ended before a pair was complete.
///
/// # Errors
/// Those of [`check`]; a problem without components of variance; every pair has a half without a solution.
pub fn stability(
    data: &PcaData<'_>,
    facts: &DataFacts,
    x: &RowMat,
    request: &StabilityRequest,
    watch: &Watch<'_>,
) -> Result<Option<Stability>> {
    check(data, request.pairs)?;
    let shape = (data.ncols(), request.options.rank().unwrap_or(x.ncols()));
    if (x.nrows(), x.ncols()) != shape {
        return Err(Error::Shape {
            what: "X of all rows".into(),
            rows: x.nrows(),
            cols: x.ncols(),
            expected_rows: shape.0,
            expected_cols: shape.1,
        });
    }
    Case::new(request.problem, &request.options).of_gram(false).check(["stability"])?;
    let cancel = watch.cancel.within(request.stopping.time_limit);
    let whole = Whole::of(data, facts)?;
    let ended = AtomicUsize::new(0);
    let (mut complete, mut failures) = (Vec::new(), Vec::new());
    let (mut begun, mut work) = (0, 0);
    while begun < request.pairs && request.work.is_none_or(|most| work < most) {
        let together =
            if request.work.is_some() { TOGETHER.min(request.pairs - begun) } else { request.pairs };
        let found = map(together, 1, |pair| {
            let found = alone(|| whole.pair(begun + pair, x, request, &cancel));
            if !matches!(found, Ok(None)) {
                let ended = 1 + ended.fetch_add(1, Ordering::Relaxed);
                tracing::info!(ended, of = request.pairs, "a pair of halves of the rows has ended");
                (watch.done)(ended, request.pairs);
            }
            found
        });
        begun += together;
        for pair in found {
            match pair {
                Ok(pair) => complete.extend(pair),
                Err(error) => failures.push(error),
            }
        }
        work = complete.iter().flatten().map(|half| half.work).sum();
    }
    match (complete.is_empty(), failures.len()) {
        (true, 0) => Ok(None),
        (true, _) => Err(failures.swap_remove(0)),
        (false, failed) => Ok(Some(summed(x.nrows(), x.ncols(), &complete, request.pairs, failed))),
    }
}

/// All rows, and what scaling has made of their columns.
struct Whole<'a> {
    data: &'a PcaData<'a>,
    facts: &'a DataFacts,
    rows: usize,
    mass: f64,
    /// Sum of squares of each column, where columns are scaled to be equally large.
    sizes: Option<Vec<f64>>,
}

/// A column whose norm falls by this factor when its mean is subtracted is constant, and the rest is rounding. (The same
/// figure as in the preparation of data.)
const CONSTANT: f64 = 1e-12;

/// Some rows, centred where all are.
struct Part {
    rows: Rows,
    centre: Option<Centre>,
    /// Sums of the weights.
    mass: f64,
    /// Sum of squares that scaling makes equal, and 0 for a constant column.
    sizes: Vec<f64>,
}

impl<'a> Whole<'a> {
    fn of(data: &'a PcaData<'a>, facts: &'a DataFacts) -> Result<Self> {
        let rows = match data {
            PcaData::Dense(a) | PcaData::Centred(a, _) | PcaData::Gram(a) => a.nrows(),
            PcaData::Sparse(a, _) | PcaData::SparseGram(a) => a.nrows(),
        };
        let mass = facts.roots.as_ref().map_or(rows as f64, |roots| roots.iter().map(|w| w * w).sum());
        let mut whole = Self { data, facts, rows, mass, sizes: None };
        if matches!(facts.scale.as_str(), "std" | "unit") {
            whole.sizes = Some(whole.part(&(0..rows).collect::<Vec<_>>())?.sizes);
        }
        Ok(whole)
    }

    fn is_centred(&self) -> bool {
        self.facts.centered || is_centred(self.data)
    }

    /// These rows, centred but not scaled.
    fn part(&self, chosen: &[usize]) -> Result<Part> {
        let mut rows = Rows::of(self.data, chosen)?;
        let roots = self.facts.roots.as_ref().map(|all| chosen.iter().map(|i| all[*i]).collect::<Vec<_>>());
        let mass = roots.as_ref().map_or(chosen.len() as f64, |roots| roots.iter().map(|w| w * w).sum());
        let raw = rows.view(None).squares();
        let centre = centred(&mut rows, roots.as_deref(), self.is_centred());
        let mut sizes = match self.facts.scale.as_str() {
            // deviations are about the mean, also where that stays
            "std" if !self.is_centred() => {
                let mut about = rows.clone();
                let centre = centred(&mut about, roots.as_deref(), true);
                about.view(centre.as_ref()).squares()
            }
            _ => rows.view(centre.as_ref()).squares(),
        };
        for (size, raw) in sizes.iter_mut().zip(raw) {
            *size = if *size <= CONSTANT * CONSTANT * raw { 0.0 } else { *size };
        }
        Ok(Part { rows, centre, mass, sizes })
    }

    /// These rows as the data of the problem: columns as large as scaling has made those of all rows, and all of it so much
    /// larger that C is one of as many rows. A constant column is zero where the data are centred, and else is not scaled.
    fn half(&self, chosen: &[usize]) -> Result<(Rows, Option<Centre>)> {
        let Part { rows, centre, mass, sizes } = self.part(chosen)?;
        let lost = f64::from(u8::from(self.is_centred() && mass > 1.0)); // degrees of freedom
        let more = (self.mass - lost) / (mass - lost);
        let factor = |j: usize| match &self.sizes {
            _ if sizes[j] == 0.0 && self.is_centred() => 0.0,
            Some(all) if sizes[j] > 0.0 => all[j] / sizes[j],
            _ => more,
        };
        let factors: Vec<f64> = (0..sizes.len()).map(|j| factor(j).sqrt()).collect();
        Ok(scaled(rows, centre, &factors))
    }

    /// Both halves of pair `number`, each with its components matched to those of all rows; `None`: it was ended early.
    fn pair(
        &self,
        number: usize,
        x: &RowMat,
        request: &StabilityRequest,
        cancel: &Cancel,
    ) -> Result<Option<[Matched; 2]>> {
        if cancel.is_over() {
            return Ok(None);
        }
        let [one, other] = halves(self.rows, request.options.seed(), number);
        let Some(one) = self.solved(&one, x, request, cancel)? else { return Ok(None) };
        let Some(other) = self.solved(&other, x, request, cancel)? else { return Ok(None) };
        Ok(Some([one, other]))
    }

    fn solved(
        &self,
        chosen: &[usize],
        x: &RowMat,
        request: &StabilityRequest,
        cancel: &Cancel,
    ) -> Result<Option<Matched>> {
        if cancel.is_over() {
            return Ok(None);
        }
        let (rows, centre) = self.half(chosen)?;
        let posed = pose(request.problem, &rows.view(centre.as_ref()), &request.options)?;
        let time_limit = request.stopping.time_limit.map(|limit| limit / (4 * ROOM) as f64);
        let stopping = Stopping { time_limit, ..request.stopping };
        let found = best(&posed.problem, x, &request.options, stopping, cancel)?;
        let limited = |found: &Solution| found.status == Status::TimeLimit;
        let work = |found: &Solution| found.search.as_ref().map_or(0, |search| search.work);
        let of = |found: &Solution| Matched {
            limited: limited(found),
            work: work(found),
            ..Matched::of(&found.x, x)
        };
        Ok(found.as_ref().map(of))
    }
}

/// Subtracts the means where the data are `centred`.
fn centred(rows: &mut Rows, roots: Option<&[f64]>, centred: bool) -> Option<Centre> {
    match roots {
        // rows with weights have been multiplied with the roots of these, and so must be their mean
        Some(roots) if centred => {
            let means = rows.weighted_means(roots);
            rows.subtract(&means, roots);
            None
        }
        _ => rows.centre(centred),
    }
}

/// Columns times factors.
fn scaled(rows: Rows, centre: Option<Centre>, factors: &[f64]) -> (Rows, Option<Centre>) {
    match (rows, centre) {
        (Rows::Dense(a), centre) => {
            let mut a = match &centre {
                Some(Centre::Dense(centring)) => centring.copy(a.as_ref()),
                _ => a,
            };
            for (j, factor) in factors.iter().enumerate() {
                a.col_as_slice_mut(j).iter_mut().for_each(|v| *v *= factor);
            }
            (Rows::Dense(a), None)
        }
        (Rows::Sparse(mut a), centre) => {
            for (j, factor) in factors.iter().enumerate() {
                a.val_of_col_mut(j).iter_mut().for_each(|v| *v *= factor);
            }
            let centre = match centre {
                Some(Centre::Sparse(means)) => Some(Centre::Sparse(
                    means.iter().zip(factors).map(|(mean, factor)| mean * factor).collect(),
                )),
                other => other,
            };
            (Rows::Sparse(a), centre)
        }
    }
}

/// Two disjoint random halves of m rows, each in the order of the data; of an odd number one row is in neither.
fn halves(m: usize, seed: u64, pair: usize) -> [Vec<usize>; 2] {
    let mut rng = Pcg64::new(u128::from(seed ^ 0x5354_4142), pair as u128);
    let mut order: Vec<usize> = (0..m).collect();
    (1..m).rev().for_each(|i| order.swap(i, rng.random_range(0..=i)));
    [&order[..m / 2], &order[m / 2..2 * (m / 2)]].map(|half| {
        let mut half = half.to_vec();
        half.sort_unstable();
        half
    })
}

/// The lower F of a short search, or of one run of the solver that is asked for, and of the last solver from the X of all rows.
/// That run is left out where a limit of time or its work ends it: near the X of all rows a half would seem to agree with them. `None`:
/// they were ended early.
fn best(
    problem: &AnyProblem,
    x: &RowMat,
    wanted: &Request,
    stopping: Stopping,
    cancel: &Cancel,
) -> Result<Option<Solution>> {
    let is_open = wanted.effort.is_none() && stopping.time_limit.is_none();
    let own = if is_open { wanted.with_work(WORK) } else { wanted.clone() };
    let short = Request { effort: Some(Effort::Normal), ..own };
    let plan = problem.plan(&short)?;
    let restarts = plan.portfolio.is_none().then_some(0);
    let found = plan.run(problem, &short, &stopping, restarts, cancel, &mut []);
    let part = cancel.within_work(is_open.then_some(WORK_FROM_X));
    // an error: nothing feasible is near this X
    let warm = polished(problem, wanted, x)
        .and_then(|(plan, wanted)| plan.run(problem, &wanted, &stopping, Some(0), &part, &mut []));
    let warm = warm.ok().filter(|_| !part.is_late() || cancel.is_late());
    if cancel.is_over() {
        return Ok(None);
    }
    let found = match (found, warm) {
        (Ok(found), Some(warm))
            if warm.objective.total < found.objective.total && warm.status != Status::TimeLimit =>
        {
            warm
        }
        (Ok(found), _) => found,
        (Err(_), Some(warm)) => warm,
        (Err(error), None) => return Err(error),
    };
    match found.status {
        Status::Unbounded | Status::NumericalError => Err(Error::Factorisation("the problem of a half")),
        _ => Ok(Some(found)),
    }
}

/// The components of a half in the order and with the signs of those of all rows they are matched with.
struct Matched {
    /// Place in X by rows, and value, of what is not zero.
    loadings: Vec<(usize, f64)>,
    /// |cosine| of each component.
    cosine: Vec<f64>,
    /// True if a limit of time ended the search.
    limited: bool,
    /// Work of the search.
    work: u64,
}

impl Matched {
    fn of(found: &RowMat, x: &RowMat) -> Self {
        let (n, r) = (x.nrows(), x.ncols());
        let lengths = |x: &RowMat| -> Vec<f64> {
            (0..r).map(|k| (0..n).map(|i| x.get(i, k).powi(2)).sum::<f64>().sqrt()).collect()
        };
        let (long, longs) = (lengths(x), lengths(found));
        let products = RowMat::from_fn(r, r, |k, l| (0..n).map(|i| x.get(i, k) * found.get(i, l)).sum());
        let cosine = |k: usize, l: usize| {
            let lengths = long[k] * longs[l];
            if lengths > 0.0 { products.get(k, l) / lengths } else { 0.0 }
        };
        let other = assignment(r, &|k, l| -cosine(k, l).abs());
        let signs: Vec<f64> = (0..r).map(|k| if cosine(k, other[k]) < 0.0 { -1.0 } else { 1.0 }).collect();
        let entry = |i: usize, k: usize| signs[k] * found.get(i, other[k]);
        let places = (0..n).flat_map(|i| (0..r).map(move |k| (i, k)));
        let loadings = places.map(|(i, k)| (i * r + k, entry(i, k))).filter(|(_, v)| *v != 0.0).collect();
        let cosine = (0..r).map(|k| cosine(k, other[k]).abs()).collect();
        Self { loadings, cosine, limited: false, work: 0 }
    }
}

/// The column of each of r rows so that the sum of the costs is least: shortest augmenting paths (the Hungarian method),
/// O(r³).
fn assignment(r: usize, cost: &dyn Fn(usize, usize) -> f64) -> Vec<usize> {
    // rows and columns count from 1; column 0 stands for the row that is to be assigned
    let (mut of_row, mut of_column) = (vec![0.0; r + 1], vec![0.0; r + 1]);
    let mut row_of = vec![0; r + 1];
    for row in 1..=r {
        row_of[0] = row;
        let (mut least, mut from) = (vec![f64::INFINITY; r + 1], vec![0; r + 1]);
        let mut seen = vec![false; r + 1];
        let mut at = 0;
        while row_of[at] != 0 {
            seen[at] = true;
            let (i, mut step, mut next) = (row_of[at], f64::INFINITY, 0);
            for j in (1..=r).filter(|j| !seen[*j]) {
                let reduced = cost(i - 1, j - 1) - of_row[i] - of_column[j];
                if reduced < least[j] {
                    (least[j], from[j]) = (reduced, at);
                }
                if least[j] < step {
                    (step, next) = (least[j], j);
                }
            }
            for j in 0..=r {
                if seen[j] {
                    of_row[row_of[j]] += step;
                    of_column[j] -= step;
                } else {
                    least[j] -= step;
                }
            }
            at = next;
        }
        while at != 0 {
            row_of[at] = row_of[from[at]];
            at = from[at];
        }
    }
    let mut columns = vec![0; r];
    (1..=r).for_each(|j| columns[row_of[j] - 1] = j - 1);
    columns
}

/// Shares of the percentiles.
const LOW: f64 = 0.025;
const HIGH: f64 = 0.975;

fn summed(n: usize, r: usize, pairs: &[[Matched; 2]], requested: usize, failed: usize) -> Stability {
    let count = 2 * pairs.len();
    let mut values = vec![Vec::new(); n * r];
    let (mut both, mut users) = (vec![0usize; n * r], vec![0usize; n]);
    for pair in pairs {
        let mut hits = vec![0u8; n * r];
        for half in pair {
            let mut uses = vec![false; n];
            for (place, value) in &half.loadings {
                values[*place].push(*value);
                hits[*place] += 1;
                uses[place / r] = true;
            }
            users.iter_mut().zip(uses).for_each(|(users, uses)| *users += usize::from(uses));
        }
        both.iter_mut().zip(hits).for_each(|(both, hits)| *both += usize::from(hits == 2));
    }
    let share = |number: usize, of: usize| number as f64 / of as f64;
    let frequency = RowMat::from_fn(n, r, |i, k| share(values[i * r + k].len(), count));
    let simultaneous = RowMat::from_fn(n, r, |i, k| share(both[i * r + k], pairs.len()));
    let used: Vec<f64> = users.iter().map(|users| share(*users, count)).collect();
    for values in values.iter_mut().filter(|values| !values.is_empty()) {
        values.resize(count, 0.0);
        sort_numbers(values);
    }
    let at = |share: f64| {
        RowMat::from_fn(n, r, |i, k| match &values[i * r + k] {
            values if values.is_empty() => 0.0,
            values => percentile(values, share),
        })
    };
    let halves = || pairs.iter().flatten();
    Stability {
        pairs: pairs.len(),
        requested,
        failed,
        limited: halves().filter(|half| half.limited).count(),
        low: at(LOW),
        high: at(HIGH),
        cosine: (0..r).map(|k| halves().map(|half| half.cosine[k]).sum::<f64>() / count as f64).collect(),
        selected: (0..r).map(|k| (0..n).map(|i| frequency.get(i, k)).sum()).collect(),
        selected_together: used.iter().sum(),
        frequency,
        simultaneous,
        used,
    }
}

/// Of sorted numbers, by linear interpolation between the two nearest (type 7 of R).
fn percentile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (low, part) = (place.floor() as usize, place.fract());
    let high = (low + 1).min(sorted.len() - 1);
    sorted[low] + part * (sorted[high] - sorted[low])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn halves_are_disjoint_and_depend_on_seed_and_pair() {
        for m in [4, 5, 90] {
            let [one, other] = halves(m, 3, 0);
            assert_eq!((one.len(), other.len()), (m / 2, m / 2));
            assert!(one.iter().all(|i| *i < m && !other.contains(i)));
            assert!(one.is_sorted() && other.is_sorted());
        }
        assert_eq!(halves(90, 3, 7), halves(90, 3, 7));
        assert!(halves(90, 3, 7) != halves(90, 3, 8) && halves(90, 3, 7) != halves(90, 4, 7));
    }

    #[test]
    fn the_assignment_is_the_best_of_all() {
        fn least(cost: &RowMat, row: usize, free: &mut Vec<usize>) -> f64 {
            if free.is_empty() {
                return 0.0;
            }
            let mut best = f64::INFINITY;
            for place in 0..free.len() {
                let column = free.remove(place);
                best = best.min(cost.get(row, column) + least(cost, row + 1, free));
                free.insert(place, column);
            }
            best
        }
        let mut rng = Pcg64::seed_from_u64(1);
        for r in [1, 2, 3, 5, 6] {
            for _ in 0..50 {
                // few values: many are equal
                let cost = RowMat::from_fn(r, r, |_, _| f64::from(rng.random_range(-4..=0i32)));
                let columns = assignment(r, &|i, j| cost.get(i, j));
                let mut sorted = columns.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..r).collect::<Vec<_>>());
                let sum: f64 = columns.iter().enumerate().map(|(i, j)| cost.get(i, *j)).sum();
                assert_eq!(sum, least(&cost, 0, &mut (0..r).collect()));
            }
        }
    }

    #[test]
    fn percentiles_are_those_of_r() {
        // quantile(1:40, c(.025, .975))
        let numbers: Vec<f64> = (1..=40).map(f64::from).collect();
        assert!((percentile(&numbers, LOW) - 1.975).abs() < 1e-12);
        assert!((percentile(&numbers, HIGH) - 39.025).abs() < 1e-12);
        assert_eq!(percentile(&[2.0, 4.0], 0.5), 3.0);
    }

    #[test]
    fn components_are_matched_in_order_and_sign() {
        let x = RowMat::from_fn(4, 2, |i, k| f64::from(u8::from(i == k)));
        let found = RowMat::from_fn(4, 2, |i, k| match (i, k) {
            (0, 1) => -0.8,
            (2, 1) => 0.6,
            (1, 0) => 1.0,
            _ => 0.0,
        });
        let matched = Matched::of(&found, &x);
        assert_eq!(matched.loadings, [(0, 0.8), (3, 1.0), (4, -0.6)]);
        assert_eq!(matched.cosine, [0.8, 1.0]);
    }
}
