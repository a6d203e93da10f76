//! A search on some of the variables: a working set, chosen at the leading eigenvectors, that grows by the variables which lower F.
//!
//! ```text
//! choose   the variables with the largest entries in each of the rotated eigenvectors, and those with the largest variance,
//!          twice as many as a solution has
//! repeat   the search on these variables alone, from the best point so far
//!          that point polished on all variables, where a solver does that at the cost of a few gradients
//!          each of the other variables offered to it: those that lower F are added
//! until    none does
//! ```
//!
//! With C on the chosen variables as a dense matrix a gradient costs a small share of one on all of them. The answer is one of the whole
//! problem: X is feasible there, F is the same number, and what ends the search is asked of all variables.
//!
//! A variable that helps only together with other variables left out is not found by offering one at a time: that some of each group are
//! in the first set is left to the eigenvectors.
//!
//! Where a limit of time or iterations ends the search the set doubles when none of the others lowers F, up to all variables.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::arms::at_level_0;
use super::portfolio::{is_long, race};
use super::{Family, Wanted};
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::linalg::RowMat;
use crate::linalg::order::ascending_to;
use crate::search::{ALL_WORK, Effort, Portfolio, Settings, Tuning, search};
use crate::smooth::{AnySmooth, Quadratic};
use crate::solve::{Event, Observer, Progress, Solution, Status, Trace, TracePoint, VariablesReport};
use crate::start::Start;

/// Gradients that a point may cost that is there early.
const EARLY: u64 = 20;
/// Gradients that the polish of a first point may cost.
const POLISH: u64 = 20;

/// A problem in which variables may be left out: their rows of X are zero.
pub trait Narrow<P> {
    /// Its smooth part, a quadratic form.
    fn form(&self) -> &AnySmooth;

    /// Work of a gradient on all variables.
    fn gradient(&self) -> u64;

    /// The same problem on some of the variables.
    ///
    /// # Errors
    /// Limits that do not fit so few variables.
    fn on_variables(&self, variables: &[usize]) -> Result<P>;

    /// Number of variables that a solution has at least, known before anything is computed.
    fn least(&self) -> usize;

    /// Number of variables that a solution has, roughly, where `y` are the rotated eigenvectors.
    fn needed(&self, y: &RowMat) -> usize;

    /// A sparse point that is found on all variables with so much work, where there is a way to one.
    fn first_point(&self, _work: u64, _seed: u64, _cancel: &Cancel) -> Option<RowMat> {
        None
    }

    /// The solver that polishes a point on all variables, where there is one for which that costs a few gradients, or the
    /// gradients that it may cost.
    fn settles(&self) -> Option<(&'static str, Option<u64>)> {
        None
    }

    /// The solver that polishes any point.
    fn polisher(&self) -> &'static str {
        "obcd"
    }

    /// What the search is on, where that is not some of the variables.
    fn on(&self) -> Option<String> {
        None
    }

    /// Whether the point that was found is an end for a search of this effort; else the search goes on with the whole problem.
    fn is_an_end(&self, _x: &RowMat, _objective: f64, _effort: Effort) -> bool {
        true
    }

    /// The variables with a zero row of X that lower F, each by itself, the best first; what has been found of them where it is cancelled.
    fn entrants(&self, x: &RowMat, cancel: &Cancel) -> Vec<usize>;
}

/// A problem in which variables may be left out: the one that is asked, or one made from it.
pub enum Held<'a, P> {
    /// The problem itself.
    Own(&'a (dyn Narrow<P> + 'a)),
    /// Another.
    Made(Box<dyn Narrow<P> + 'a>),
}

impl<'a, P> Deref for Held<'a, P> {
    type Target = dyn Narrow<P> + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Own(narrow) => *narrow,
            Self::Made(narrow) => &**narrow,
        }
    }
}

/// What searches on some of the variables of the same data have in common, for those that differ in a limit or in λ: the rotated eigenvectors, and
/// the variables of their solutions, which are in the first set of the next. Nothing is kept by default.
#[derive(Clone, Debug, Default)]
pub struct Carried(Option<Arc<Mutex<Kept>>>);

#[derive(Debug, Default)]
struct Kept {
    rotated: Option<((usize, u64), RowMat)>, // of so many columns and a seed
    variables: Vec<usize>,
}

impl Carried {
    /// From one search to the next.
    pub(crate) fn along() -> Self {
        Self(Some(Arc::default()))
    }

    fn with<R>(&self, f: impl FnOnce(&mut Kept) -> R) -> Option<R> {
        self.0.as_ref().map(|kept| f(&mut kept.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The rotated eigenvectors, those of an earlier search if there was one.
    fn rotated(&self, f: &AnySmooth, of: (usize, u64), clock: &Cancel) -> Option<RowMat> {
        let known =
            |kept: &mut Kept| kept.rotated.as_ref().filter(|own| own.0 == of).map(|own| own.1.clone());
        if let Some(y) = self.with(known).flatten() {
            return Some(y);
        }
        let y = Start::Varimax.point_while(f, of.0, (false, of.1), clock).ok()?;
        if !clock.is_over() {
            self.with(|kept| kept.rotated = Some((of, y.clone())));
        }
        Some(y)
    }

    /// The order with the variables of earlier solutions behind the first ones, and the number of both.
    fn placed(&self, order: Vec<usize>, first: usize) -> (Vec<usize>, usize) {
        let variables = self.with(|kept| kept.variables.clone()).unwrap_or_default();
        let mut due = vec![false; order.len()];
        variables.iter().for_each(|i| due[*i] = true);
        order[..first].iter().for_each(|i| due[*i] = false);
        let (new, rest): (Vec<usize>, Vec<usize>) = order[first..].iter().partition(|i| due[**i]);
        let count = first + new.len();
        ([order[..first].to_vec(), new, rest].concat(), count)
    }

    /// A solution.
    fn found(&self, x: &RowMat) {
        let rows = (0..x.nrows()).filter(|i| x.row(*i).iter().any(|v| *v != 0.0)).collect();
        self.with(|kept| kept.variables = rows);
    }
}

/// The search on some of the variables, or on less of C; `None` where that does not pay: a gradient is cheap, or a solution needs so many
/// variables that a gradient on twice the first set would cost as much as one on all.
pub(super) fn narrowed<P: Family>(
    problem: &P,
    wanted: &Wanted,
    settings: Settings,
    cancel: &Cancel,
    observers: &mut [&mut dyn Observer],
) -> Option<Result<Solution>> {
    let (n, r) = problem.shape();
    let begun = Instant::now();
    let clock = cancel.within(settings.stopping.time_limit);
    if !wanted.leaves_method_open() || wanted.tuning.max_work.is_some() {
        return None;
    }
    // what is lower with less of C need not be lower: a longer limit would give a worse X
    let limited = settings.stopping.time_limit.is_some() || settings.stopping.max_iters.is_some();
    let condensed = if limited { None } else { problem.condensed(wanted.seed, &clock) };
    let is_condensed = condensed.is_some();
    let narrow = condensed.or_else(|| problem.narrow())?;
    let narrow = &*narrow;
    let all: Vec<usize> = (0..n).collect();
    let gradient = narrow.gradient();
    let pays = |count: usize| 2 * count <= n && cost_on(2 * count, (n, r), gradient) <= gradient;
    let third = cancel.within(settings.stopping.time_limit.map(|limit| limit / 3.0));
    let mut first_points = Vec::new();
    let (order, first) = if is_condensed {
        (all, n)
    } else if !is_long(gradient) || !pays(wanted.tuning.room * narrow.least()) {
        return None;
    } else if let Some(early) = narrow.first_point(EARLY * gradient, wanted.seed, &third) {
        // where gradients are dear the early point is all there is before the search
        let more = Some(at_level_0(gradient).min(wanted.tuning.longest_of_measures))
            .filter(|w| *w > EARLY * gradient);
        let further = more.and_then(|work| narrow.first_point(work, wanted.seed, &third));
        let x = further.clone().unwrap_or_else(|| early.clone());
        first_points = std::iter::once(early).chain(further).collect();
        let (order, first) = around(narrow, &x, &clock);
        let first = Some(first.max(narrow.least()).min(n)).filter(|first| pays(*first))?;
        let (order, more) = wanted.carried.placed(order, first);
        (order, if pays(more) { more } else { first })
    } else {
        let y = wanted.carried.rotated(narrow.form(), (r, wanted.seed), &clock)?;
        let first = wanted.tuning.room * narrow.needed(&y).max(narrow.least());
        // C on many variables takes long, too
        let first = if clock.is_over() { narrow.least() } else { first };
        let first = Some(first).filter(|first| pays(*first))?;
        let (order, more) = wanted.carried.placed(ranked(narrow.form(), &y), first);
        (order, if pays(more) { more } else { first })
    };
    let rounds = Rounds::new(problem, narrow, (wanted, settings), cancel, observers);
    let mut rounds = Rounds { begun, clock, ..rounds };
    let begun = first_points.into_iter().try_for_each(|x| rounds.begin_at(x));
    let found = begun.and_then(|()| rounds.run(&order, first, &pays));
    if let Ok(found) = &found
        && !is_condensed
    {
        wanted.carried.found(&found.x);
    }
    Some(found)
}

/// Work of a gradient on so many of n variables: with C on them, or with the share of the data that is theirs.
fn cost_on(count: usize, (n, r): (usize, usize), gradient: u64) -> u64 {
    let share = gradient as f64 * count as f64 / n as f64;
    (count * count * r).min(share as usize) as u64
}

/// All variables in the order in which they are chosen: those of a sparse point, those that lower F there, the best first, and the
/// others by their variance; and the number of those for the first set, twice as many as the point has.
fn around<P>(narrow: &dyn Narrow<P>, x: &RowMat, clock: &Cancel) -> (Vec<usize>, usize) {
    let (n, diagonal) = (x.nrows(), narrow.form().diagonal());
    let mut order: Vec<usize> = (0..n).filter(|i| x.row(*i).iter().any(|v| *v != 0.0)).collect();
    let rows = order.len();
    let mut taken = vec![false; n];
    order.iter().for_each(|i| taken[*i] = true);
    let entrants = narrow.entrants(x, clock);
    let first = (2 * rows).min(n);
    let others = entrants.into_iter().chain(ascending_to(n, &|i| diagonal[i]));
    order.extend(others.filter(|i| !std::mem::replace(&mut taken[*i], true)));
    (order, first)
}

/// All variables in the order in which they are chosen: each column of `y` names its largest entries in turn, and so do the variances.
fn ranked(f: &AnySmooth, y: &RowMat) -> Vec<usize> {
    let (n, diagonal) = (y.nrows(), f.diagonal());
    let mut lists: Vec<Vec<usize>> =
        (0..y.ncols()).map(|k| ascending_to(n, &|i| -y.get(i, k).abs())).collect();
    lists.push(ascending_to(n, &|i| diagonal[i]));
    let mut taken = vec![false; n];
    let turns = (0..n).flat_map(|place| lists.iter().map(move |list| list[place]));
    turns.filter(|i| !std::mem::replace(&mut taken[*i], true)).collect()
}

/// The rounds of a search on some of the variables.
pub(super) struct Rounds<'a, 'o, P> {
    problem: &'a P,
    narrow: &'a dyn Narrow<P>,
    wanted: &'a Wanted,
    settings: Settings,
    cancel: &'a Cancel,
    clock: Cancel, // with the limit of the whole
    begun: Instant,
    observers: &'a mut [&'o mut dyn Observer],
    best: Option<Solution>,
    on_some: bool, // whether a search on some variables gave it
    on_all: bool,  // whether there was one on all
    rounds: u64,
}

impl<'a, 'o, P: Family> Rounds<'a, 'o, P> {
    /// Before the first round.
    pub(super) fn new(
        problem: &'a P,
        narrow: &'a dyn Narrow<P>,
        (wanted, settings): (&'a Wanted, Settings),
        cancel: &'a Cancel,
        observers: &'a mut [&'o mut dyn Observer],
    ) -> Self {
        let (clock, begun) = (cancel.within(settings.stopping.time_limit), Instant::now());
        Self {
            problem,
            narrow,
            wanted,
            settings,
            cancel,
            clock,
            begun,
            observers,
            best: None,
            on_some: false,
            on_all: false,
            rounds: 0,
        }
    }

    /// A point of all variables to begin with, polished a little.
    fn begin_at(&mut self, x: RowMat) -> Result<()> {
        self.polish((self.narrow.polisher(), Some(POLISH)), x)
    }

    /// From the `first` variables of the order, as long as it `pays` to leave some out.
    pub(super) fn run(
        mut self,
        order: &[usize],
        first: usize,
        pays: &dyn Fn(usize) -> bool,
    ) -> Result<Solution> {
        let n = order.len();
        let mut inside = vec![false; n];
        order[..first].iter().for_each(|i| inside[*i] = true);
        let mut checked = f64::INFINITY; // F at which none of the others lowered it
        loop {
            let variables: Vec<usize> = (0..n).filter(|i| inside[*i]).collect();
            self.search_on(&variables)?;
            self.settle()?;
            let Some(x) = self.best.as_ref().map(|best| &best.x).filter(|_| !self.is_over()) else { break };
            let entrants = self.narrow.entrants(x, &self.clock);
            let new = entrants.into_iter().chain((0..n).filter(|i| x.row(*i).iter().any(|v| *v != 0.0)));
            let new: Vec<usize> = new.filter(|i| !inside[*i]).collect();
            if self.clock.is_over() {
                break;
            }
            if new.is_empty() {
                checked = self.lowest();
            }
            let lowest = self.lowest();
            let is_an_end = |effort| self.narrow.is_an_end(x, lowest, effort);
            if new.is_empty() && self.settings.effort.is_some_and(is_an_end) {
                break;
            }
            // the set doubles where a limit ends the search and there is nothing to add
            let more = if new.is_empty() { variables.len() } else { 0 };
            let further: Vec<usize> = order.iter().copied().filter(|i| !inside[*i]).take(more).collect();
            new.iter().chain(&further).for_each(|i| inside[*i] = true);
            if !pays(inside.iter().filter(|i| **i).count()) {
                self.search_on_all()?;
                checked = self.lowest(); // as any search on all
                inside.fill(true);
                break;
            }
        }
        let variables = inside.iter().filter(|i| **i).count();
        let all = checked <= self.lowest();
        let clock = self.clock.clone();
        let rounds = self.rounds;
        let seconds = self.begun.elapsed().as_secs_f64();
        let mut best =
            self.best.ok_or_else(|| Error::Incompatible("a search needs at least one arm".into()))?;
        best.seconds = seconds;
        if let Some(search) = &mut best.search {
            search.variables = Some(VariablesReport { searched: variables, of: n, rounds, checked: all });
        }
        let (others, limit) = if all {
            ("none of the others lowers F", None)
        } else if clock.is_cancelled() {
            ("the others were not looked at", Some((Status::Interrupted, "interrupted")))
        } else if clock.is_late() {
            ("the others were not looked at", Some((Status::TimeLimit, "reached the time limit")))
        } else if self.settings.work.is_some_and(|most| best.search.as_ref().is_some_and(|s| s.work >= most))
        {
            ("the others were not looked at", Some((Status::Stalled, ALL_WORK)))
        } else {
            ("the others were not looked at", Some((Status::MaxIters, "reached the limit of iterations")))
        };
        if let (Some((status, what)), Status::Converged) = (limit, best.status) {
            (best.status, best.message) = (status, format!("{what} before all variables were looked at"));
        }
        let on = self.narrow.on().unwrap_or_else(|| format!("{variables} variables"));
        if self.on_some && (variables < n || self.narrow.on().is_some()) {
            best.message = format!("on {on}: {}", best.message);
        }
        if variables < n {
            best.notes.push(format!("{variables} of {n} variables took part in the search; {others}").into());
        } else if let Some(on) = self.narrow.on() {
            let then = match () {
                () if self.on_some => "there was no time to go on with all of C",
                () if self.on_all => "then with all of C",
                () => "the best point polished with all of C",
            };
            best.notes.push(format!("searched on {on} (F of the arms is of these alone); {then}").into());
        }
        Ok(best)
    }

    /// Lowest F so far.
    fn lowest(&self) -> f64 {
        self.best.as_ref().map_or(f64::INFINITY, |best| best.objective.total)
    }

    /// Whether a limit or a user ends it here.
    fn is_over(&self) -> bool {
        let made = self.best.as_ref().map_or(0, |best| best.iterations);
        let is_made = self.settings.stopping.max_iters.is_some_and(|most| made >= most);
        let has_worked = self.settings.work.is_some_and(|most| self.work() >= most);
        self.clock.is_over() || is_made || has_worked
    }

    /// Work of all searches so far.
    fn work(&self) -> u64 {
        self.best.as_ref().and_then(|best| best.search.as_ref()).map_or(0, |search| search.work)
    }

    /// What is left of the limits, with an effort that ends a round.
    fn left(&self, effort: Option<Effort>) -> Settings {
        let work = self.settings.work.map(|most| most.saturating_sub(self.work()));
        let mut settings = Settings { effort, work, ..self.settings };
        let stopping = &mut settings.stopping;
        stopping.time_limit =
            stopping.time_limit.map(|limit| (limit - self.begun.elapsed().as_secs_f64()).max(0.0));
        let made = self.best.as_ref().map_or(0, |best| best.iterations);
        stopping.max_iters = stopping.max_iters.map(|most| most.saturating_sub(made));
        settings
    }

    /// The search on these variables alone: from the start, then from the best point.
    fn search_on(&mut self, variables: &[usize]) -> Result<()> {
        let part = self.clock.during(|| self.narrow.on_variables(variables))?;
        let (_, r) = self.problem.shape();
        let from = |best: &Solution| {
            Start::Given(RowMat::from_fn(variables.len(), r, |a, k| best.x.get(variables[a], k)))
        };
        let effort = match self.best {
            _ if self.rounds == 0 && self.narrow.on().is_none() => self.settings.effort.unwrap_or_default(),
            _ => Effort::Quick,
        };
        // the first search has starts of its own
        let start = self.best.as_ref().filter(|_| self.rounds > 0).map(from);
        let plan = part.plan(&Wanted { start, ..self.wanted.clone() })?;
        if let Some(portfolio) = &plan.portfolio {
            self.perform(&part, portfolio, Some(effort), Some(variables))?;
        }
        self.rounds += 1;
        Ok(())
    }

    /// The search on all variables from the best point, until the limit or as the effort says.
    fn search_on_all(&mut self) -> Result<()> {
        let start = self.best.as_ref().map(|best| Start::Given(best.x.clone()));
        let plan = self.problem.plan(&Wanted { start, ..self.wanted.clone() })?;
        let effort = self.settings.effort;
        self.on_all = true;
        plan.portfolio
            .as_ref()
            .map_or(Ok(()), |portfolio| self.perform(self.problem, portfolio, effort, None))
    }

    /// The best point, polished on all variables.
    fn settle(&mut self) -> Result<()> {
        let settles = self.narrow.settles().zip(self.best.as_ref()).filter(|_| !self.is_over());
        let Some((with, best)) = settles else { return Ok(()) };
        let x = best.x.clone();
        self.polish(with, x)
    }

    /// A point polished by a solver on all variables, for as many gradients as are given.
    fn polish(&mut self, (solver, gradients): (&str, Option<u64>), x: RowMat) -> Result<()> {
        let start = Start::Given(x);
        let gradient = self.narrow.gradient();
        let most = self.wanted.tuning.longest_of_measures.max(EARLY * gradient);
        let max_work = gradients.map(|gradients| most.min(gradients * gradient));
        let portfolio = race(
            self.problem,
            &[(solver, "")],
            &self.wanted.options(),
            Some(&start),
            (gradient, None),
            Tuning { max_work, ..self.wanted.tuning },
        )?;
        self.perform(self.problem, &portfolio, Some(Effort::Quick), None)
    }

    /// A search, on some variables where they are given; what it finds is taken in.
    fn perform<Q: Family>(
        &mut self,
        on: &Q,
        portfolio: &Portfolio<Q>,
        effort: Option<Effort>,
        variables: Option<&[usize]>,
    ) -> Result<()> {
        let settings = self.left(effort);
        let (n, _) = self.problem.shape();
        let (iterations, lowest) = (self.best.as_ref().map_or(0, |best| best.iterations), self.lowest());
        let seconds = self.begun.elapsed().as_secs_f64();
        let mut lifted = Lifted {
            variables,
            n,
            seconds,
            iterations,
            lowest,
            trace: Trace::default(),
            observers: &mut *self.observers,
        };
        let mut found = search(on, portfolio, settings, self.cancel, &mut [&mut lifted])?;
        tracing::info!(
            variables = on.shape().0,
            objective = found.objective.total,
            work = found.search.as_ref().map(|search| search.work),
            seconds = found.seconds,
            solver = found.solver,
            "a part of the search on some of the variables has ended"
        );
        let trace = lifted.trace;
        if let Some(variables) = variables {
            found.take(self.problem, lift(&found.x, variables, n));
        }
        self.take(found, &trace, variables.is_some());
        Ok(())
    }

    /// The better of two points, with the work of both.
    fn take(&mut self, mut found: Solution, trace: &Trace, on_some: bool) {
        if let Some(mut best) = self.best.take() {
            trace.points().iter().for_each(|point| best.trace.push(*point));
            if let (Some(all), Some(own)) = (&mut best.search, &found.search) {
                all.work += own.work;
            }
            best.iterations += found.iterations;
            best.starts += found.starts;
            let is_better = found.objective.total < best.objective.total;
            // less of C says nothing of a point with all of it
            let speaks = is_better || self.on_some && !on_some && self.narrow.on().is_some();
            if speaks {
                self.on_some = on_some;
            }
            if speaks || found.status == Status::Interrupted {
                (best.status, best.message) = (found.status, found.message);
            }
            if is_better {
                best.stages.append(&mut found.stages);
                best.take(self.problem, found.x);
            }
            self.best = Some(best);
        } else {
            self.on_some = on_some;
            found.trace = trace.clone();
            self.best = Some(found);
        }
    }
}

/// X with zero rows for the variables that took no part.
fn lift(x: &RowMat, variables: &[usize], n: usize) -> RowMat {
    let mut out = RowMat::zeros(n, x.ncols());
    variables.iter().enumerate().for_each(|(a, i)| out.row_mut(*i).copy_from_slice(x.row(a)));
    out
}

/// Shows a search on some variables as one on all, after what has been shown before.
struct Lifted<'a, 'o> {
    variables: Option<&'a [usize]>,
    n: usize,
    seconds: f64,
    iterations: u64,
    lowest: f64,
    trace: Trace,
    observers: &'a mut [&'o mut dyn Observer],
}

impl Observer for Lifted<'_, '_> {
    fn observe(&mut self, event: Event<'_>) {
        match event {
            Event::Step(progress) => {
                let progress = Progress {
                    seconds: self.seconds + progress.seconds,
                    iteration: self.iterations + progress.iteration,
                    objective: self.lowest.min(progress.objective),
                    ..*progress
                };
                self.observers.iter_mut().for_each(|o| o.observe(Event::Step(&progress)));
            }
            Event::Trace(point, x) if point.objective < self.lowest => {
                let (seconds, iteration) = (self.seconds + point.seconds, self.iterations + point.iteration);
                let point = TracePoint { seconds, iteration, ..*point };
                self.trace.push(point);
                let lifted = self.variables.map(|variables| lift(x, variables, self.n));
                let x = lifted.as_ref().unwrap_or(x);
                self.observers.iter_mut().for_each(|o| o.observe(Event::Trace(&point, x)));
            }
            Event::Trace(..) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    use super::*;
    use crate::linalg::eigen::symmetric_eigenpairs;
    use crate::nonsmooth::Nonsmooth;
    use crate::penalty::find_penalty;
    use crate::problem::{
        Between, Cardinality, CardinalityProblem, MeasuredProblem, PcaData, PcaProblem, Storage,
        covariance_model, support,
    };
    use crate::smooth::{Measure, Measured, Smooth};
    use crate::solve::Stopping;

    const N: usize = 40;

    /// Two groups of variables that move together; the second is last in the order, outside of any first set.
    const GROUPS: [[usize; 5]; 2] = [[0, 1, 2, 3, 4], [35, 36, 37, 38, 39]];

    /// 60 rows of noise and the groups, times `unit`.
    fn data(seed: u64, unit: f64) -> Mat<f64> {
        let mut rng = Pcg64::seed_from_u64(seed);
        let factors: Vec<[f64; 2]> = (0..60).map(|_| [rng.random(), rng.random()]).collect();
        let noise: Vec<f64> = (0..60 * N).map(|_| rng.random::<f64>() - 0.5).collect();
        Mat::from_fn(60, N, |i, j| {
            let group = GROUPS.iter().position(|group| group.contains(&j));
            unit * (noise[i * N + j] + group.map_or(0.0, |g| 2.0 * (factors[i][g] - 0.5)))
        })
    }

    fn counts(a: &Mat<f64>) -> CardinalityProblem {
        let f = covariance_model(&PcaData::Dense(a.as_ref()), Storage::Gram).unwrap();
        CardinalityProblem::new(f, 2, Cardinality::Components(vec![5, 5]), 0.0, false).unwrap()
    }

    fn prices(a: &Mat<f64>, lambda: f64) -> PcaProblem {
        priced(a, "l0", lambda)
    }

    fn priced(a: &Mat<f64>, penalty: &str, lambda: f64) -> PcaProblem {
        let f = covariance_model(&PcaData::Dense(a.as_ref()), Storage::Gram).unwrap();
        PcaProblem::new(f, (find_penalty(penalty).unwrap().make)(lambda).unwrap(), 2).unwrap()
    }

    fn measured(a: &Mat<f64>, measure: Measure) -> MeasuredProblem {
        let f = covariance_model(&PcaData::Dense(a.as_ref()), Storage::Gram).unwrap();
        let f = Measured::new(f, measure).unwrap();
        MeasuredProblem::new(f, 2, Cardinality::Components(vec![5, 5]), 0.0, Between::Orthogonal).unwrap()
    }

    /// Adjusted variance is searched on some variables as variance is; what scores explain by regression is a sum over all of them.
    #[test]
    fn measures_that_see_no_other_variables() {
        for seed in 0..3 {
            let p = measured(&data(seed, 1.0), Measure::Adjusted);
            let found = forced(&p, 12, None);
            assert_eq!(supports(&found.x), GROUPS.map(|group| group.to_vec()));
            let report = found.search.unwrap().variables.unwrap();
            assert!(report.checked && report.searched < N, "{report:?}");
            let f = found.objective.total;
            assert!((f - p.f.value(&found.x)).abs() <= 1e-12 * f.abs());
        }
        assert!(measured(&data(0, 1.0), Measure::Polar).narrow().is_some());
        assert!(measured(&data(0, 1.0), Measure::Explained).narrow().is_none());
    }

    /// Penalties of single entries that cost something at once, with a λ for the data of these tests.
    const PENALTIES: [(&str, f64); 6] =
        [("l0", 0.8), ("l1", 4.0), ("mcp", 4.0), ("scad", 4.0), ("capped-l1", 4.0), ("elastic-net", 4.0)];

    /// The rounds whatever they cost, from the first variables of the order.
    fn forced<P: Family>(problem: &P, first: usize, limit: Option<f64>) -> Solution {
        let (cancel, wanted) = (Cancel::never(), Wanted { seed: 1, ..Wanted::default() });
        let stopping = Stopping { max_iters: None, time_limit: limit, tol: 1e-9, min_decrease: 0.0 };
        let effort = limit.is_none().then_some(Effort::Normal);
        let settings = Settings { seed: 1, effort, stopping, work: None, bound: None };
        let narrow = problem.narrow().unwrap();
        let rounds = Rounds::new(problem, &*narrow, (&wanted, settings), &cancel, &mut []);
        let order: Vec<usize> = (0..N).map(|i| 7 * i % N).collect(); // some of each group first
        rounds.run(&order, first, &|_| true).unwrap()
    }

    fn supports(x: &RowMat) -> Vec<Vec<usize>> {
        let mut all: Vec<Vec<usize>> = (0..x.ncols()).map(|k| support(x, k)).collect();
        all.sort();
        all
    }

    #[test]
    fn variables_left_out_at_first_are_found() {
        for seed in 0..3 {
            let a = data(seed, 1.0);
            for found in [forced(&counts(&a), 20, None), forced(&prices(&a, 1.0), 20, None)] {
                assert_eq!(supports(&found.x), GROUPS.map(|group| group.to_vec()));
                let report = found.search.unwrap().variables.unwrap();
                assert!(
                    report.checked && report.rounds > 1 && (24..N).contains(&report.searched),
                    "{report:?}"
                );
                assert_eq!(report.of, N);
            }
        }
    }

    /// With a penalty that leaves more than the groups: all of each is there, from a first set that has half of it.
    #[test]
    fn penalties_find_what_was_left_out() {
        for (penalty, lambda) in &PENALTIES[1..] {
            let found = forced(&priced(&data(1, 1.0), penalty, *lambda), 20, None);
            for (support, group) in supports(&found.x).iter().zip(GROUPS) {
                assert!(group.iter().all(|i| support.contains(i)), "{penalty}: {support:?}");
            }
            assert!(found.search.unwrap().variables.unwrap().rounds > 1, "{penalty}");
        }
    }

    /// C on these rows, from the data.
    fn gram(a: &Mat<f64>, rows: &[usize]) -> RowMat {
        let entry = |i: usize, j: usize| (0..a.nrows()).map(|l| a[(l, i)] * a[(l, j)]).sum();
        RowMat::from_fn(rows.len(), rows.len(), |i, j| entry(rows[i], rows[j]))
    }

    /// Slow twin of the check: the leading eigenvalue of C on the rows of a component after each exchange with each variable that none has.
    #[test]
    fn no_exchange_with_any_variable_lowers_f() {
        for seed in 0..3 {
            let a = data(seed + 10, 1.0);
            let x = forced(&counts(&a), 12, None).x;
            let leading = |rows: &[usize]| symmetric_eigenpairs(&gram(&a, rows)).unwrap().0[0];
            let all = supports(&x);
            assert!(all[0].iter().all(|i| !all[1].contains(i)), "components apart");
            for rows in &all {
                let before = leading(rows);
                for i in (0..N).filter(|i| x.row(*i).iter().all(|v| *v == 0.0)) {
                    for out in 0..rows.len() {
                        let mut other = rows.clone();
                        other[out] = i;
                        assert!(leading(&other) <= before * (1.0 + 1e-9), "{i} for {}", rows[out]);
                    }
                }
            }
        }
    }

    /// The least F of X with the rows i and j turned by many angles; i is a zero row.
    fn lowest_turned(p: &PcaProblem, x: &RowMat, (i, j): (usize, usize)) -> f64 {
        let turned = |step: u32| {
            let (s, c) = (f64::from(step) * std::f64::consts::PI / 100.0).sin_cos();
            let (s, c) =
                (if step.is_multiple_of(100) { 0.0 } else { s }, if step % 100 == 50 { 0.0 } else { c });
            let mut y = x.clone();
            (0..2).for_each(|k| {
                y.set(i, k, s * x.get(j, k));
                y.set(j, k, c * x.get(j, k));
            });
            p.value(&y)
        };
        (0..200).map(turned).fold(f64::INFINITY, f64::min)
    }

    fn zero_rows(x: &RowMat) -> (Vec<usize>, Vec<usize>) {
        (0..N).partition(|i| x.row(*i).iter().all(|v| *v == 0.0))
    }

    /// Whether an entry of a zero row that leaves 0 lowers F at once: its gradient is steeper than the penalty.
    fn is_steep(p: &PcaProblem, x: &RowMat, i: usize) -> bool {
        let (_, slope) = p.h.subdifferential(0.0);
        p.f.apply(x).row(i).iter().any(|g| g.abs() > slope * (1.0 + 1e-9))
    }

    /// Slow twin of the check with a penalty: F at many angles of each pair of a row and a zero row, and the slope at each zero row.
    #[test]
    fn no_pair_with_any_variable_lowers_f() {
        for (seed, (penalty, lambda)) in (0..2).flat_map(|seed| PENALTIES.map(|h| (seed, h))) {
            let p = priced(&data(seed + 20, 1.0), penalty, lambda);
            let found = forced(&p, 12, None);
            let (x, lowest) = (found.x, found.objective.total);
            let (zero, rows) = zero_rows(&x);
            assert!(!zero.is_empty() && !rows.is_empty(), "{penalty}");
            assert!(found.search.unwrap().variables.unwrap().checked, "{penalty}");
            assert!(p.entrants(&x, &Cancel::never()).is_empty(), "{penalty}");
            for i in &zero {
                assert!(!is_steep(&p, &x, *i), "{penalty} {i}");
                for j in &rows {
                    let turned = lowest_turned(&p, &x, (*i, *j));
                    assert!(turned >= lowest - 1e-9 * lowest.abs(), "{penalty} {i} {j}");
                }
            }
        }
    }

    /// At points that are far from any solution each zero row that lowers F is named.
    #[test]
    fn entrants_are_the_rows_that_lower_f() {
        for (seed, (penalty, lambda)) in (0..4).flat_map(|seed| PENALTIES.map(|h| (seed, h))) {
            let p = priced(&data(seed + 40, 1.0), penalty, 1.5 * lambda);
            let mut rng = Pcg64::seed_from_u64(seed);
            let mut x = RowMat::zeros(N, 2);
            let shared = seed % 2 == 1; // the two components on the same variables
            (0..6).for_each(|i| (0..2).for_each(|k| x.set(i, k, rng.random::<f64>() - 0.5)));
            if !shared {
                (0..6).for_each(|i| x.set(i, usize::from(i < 3), 0.0));
            }
            let x = crate::constraint::stiefel::orthonormalise(&x);
            let (zero, rows) = zero_rows(&x);
            let (named, before) = (p.entrants(&x, &Cancel::never()), p.value(&x));
            assert!(named.iter().all(|i| zero.contains(i)));
            for i in &zero {
                let turned =
                    rows.iter().map(|j| lowest_turned(&p, &x, (*i, *j))).fold(f64::INFINITY, f64::min);
                let lowers = turned < before - 1e-9 * before.abs() || is_steep(&p, &x, *i);
                assert!(!lowers || named.contains(i), "{penalty} {seed}: {i} lowers F");
            }
        }
    }

    #[test]
    fn the_unit_and_the_threads_change_nothing() {
        let bits = |x: &RowMat| x.data().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        let on = |threads: usize, f: &(dyn Fn() -> RowMat + Sync)| {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(f)
        };
        let (a, b) = (data(1, 1.0), data(1, 1024.0));
        let one = bits(&on(1, &|| forced(&counts(&a), 20, None).x));
        assert_eq!(one, bits(&on(2, &|| forced(&counts(&a), 20, None).x)));
        assert_eq!(one, bits(&forced(&counts(&b), 20, None).x));
        let one = bits(&forced(&prices(&a, 1.0), 20, None).x);
        assert_eq!(one, bits(&forced(&prices(&b, 1024.0 * 1024.0), 20, None).x));
    }

    /// With time left the set grows to all variables, and F is not above that of the run without a limit; without time there is
    /// a feasible X that claims nothing.
    #[test]
    fn limits_of_time() {
        let a = data(2, 1.0);
        let (free, long, short) = (
            forced(&counts(&a), 20, None),
            forced(&counts(&a), 20, Some(2.0)),
            forced(&counts(&a), 20, Some(0.0)),
        );
        assert!(long.objective.total <= free.objective.total);
        assert!(long.search.unwrap().variables.unwrap().searched == N);
        assert!(short.feasibility < 1e-12 && short.status == Status::TimeLimit, "{:?}", short.status);
    }

    /// Small problems are searched as a whole; large ones on some variables.
    #[test]
    fn only_where_it_pays() {
        let on_some = |p: &CardinalityProblem| {
            let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
            let settings =
                Settings { seed: 1, effort: Some(Effort::Quick), stopping, work: None, bound: None };
            narrowed(p, &Wanted { ..Default::default() }, settings, &Cancel::never(), &mut [])
                .map(|found| found.unwrap())
        };
        let a = data(3, 1.0);
        assert!(on_some(&counts(&a)).is_none());
        let large = Mat::from_fn(200, 4500, |i, j| {
            if j < N { a[(i % 60, j)] } else { ((i * j + 7 * j) % 101) as f64 / 300.0 }
        });
        let f = covariance_model(&PcaData::Dense(large.as_ref()), Storage::Gram).unwrap();
        let of = |count: usize| {
            CardinalityProblem::new(f.clone(), 8, Cardinality::Components(vec![count; 8]), 0.0, false)
                .unwrap()
        };
        assert!(on_some(&of(800)).is_none(), "supports of all variables");
        let found = on_some(&of(3)).unwrap();
        let report = found.search.unwrap().variables.unwrap();
        assert!(report.checked && report.searched >= 48 && report.searched < 4500, "{report:?}");

        // what was found with another limit is in the first set of the next
        let wanted = Wanted { carried: Carried::along(), ..Default::default() };
        let stopping = Stopping { max_iters: None, time_limit: None, tol: 1e-9, min_decrease: 0.0 };
        let settings = Settings { seed: 1, effort: Some(Effort::Quick), stopping, work: None, bound: None };
        let rows = |x: &RowMat| -> Vec<usize> {
            (0..x.nrows()).filter(|i| x.row(*i).iter().any(|v| *v != 0.0)).collect()
        };
        let mut before: Vec<usize> = Vec::new();
        for count in [5, 3, 4] {
            let (order, more) = wanted.carried.placed((0..4500).rev().collect(), 2 * 8 * count);
            assert!(before.iter().all(|i| order[..more].contains(i)));
            let p = of(count);
            let found = narrowed(&p, &wanted, settings, &Cancel::never(), &mut []).unwrap().unwrap();
            assert!(found.search.unwrap().variables.unwrap().checked);
            before = rows(&found.x);
            assert_eq!(wanted.carried.with(|kept| kept.variables.clone()), Some(before.clone()));
        }
    }

    #[test]
    fn the_form_on_some_variables_is_that_of_their_columns() {
        let a = data(4, 1.0);
        let some = [3, 7, 8, 20, 39];
        let x = RowMat::from_fn(5, 2, |i, k| (1 + i + 3 * k) as f64 / 7.0);
        let means = (0..N).map(|j| (0..60).map(|i| a[(i, j)]).sum::<f64>() / 60.0).collect();
        let entries: Vec<_> =
            (0..60 * N).map(|e| faer::sparse::Triplet::new(e / N, e % N, a[(e / N, e % N)])).collect();
        let sparse = faer::sparse::SparseColMat::try_new_from_triplets(60, N, &entries).unwrap();
        for (data, storage) in [
            (PcaData::Dense(a.as_ref()), Storage::Gram),
            (PcaData::Dense(a.as_ref()), Storage::Dense),
            (PcaData::Sparse(sparse.as_ref(), Some(means)), Storage::Gram),
        ] {
            let f = covariance_model(&data, storage).unwrap();
            let (part, whole) = (f.on_variables(&some).value(&x), f.value(&lift(&x, &some, N)));
            assert!((part - whole).abs() <= 1e-12 * whole.abs(), "{part} {whole}");
            // also where nobody waits for C on them
            let over = Cancel::never();
            over.cancel();
            let part = over.during(|| f.on_variables(&some)).value(&x);
            assert!((part - whole).abs() <= 1e-12 * whole.abs(), "{part} {whole}");
        }
    }
}
