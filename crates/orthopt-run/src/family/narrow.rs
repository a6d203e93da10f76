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

use super::arms::at_level_0;
use super::portfolio::{is_long, race};
use super::{Family, Request};
use crate::search::{ALL_WORK, Effort, Portfolio, Settings, Tuning, search};
use orthopt_core::smooth::{AnySmooth, Quadratic};
use orthopt_core::solve::{Event, Observer, Progress, Solution, Status, Trace, TracePoint, VariablesReport};
use orthopt_core::start::Start;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::order::ascending_to;

/// Gradients that a point may cost that is there early.
pub(super) const EARLY: u64 = 20;
/// Gradients that the polish of a first point may cost.
const POLISH: u64 = 20;

/// A problem in which variables may be left out: their rows of X are zero.
pub trait Reducible<P> {
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

    /// Description of the subject of the search; `None` if that is some of the variables.
    fn on(&self) -> Option<String> {
        None
    }

    /// True if the point that was found is an end for a search of this effort; else the search continues with the whole problem.
    fn is_an_end(&self, _x: &RowMat, _objective: f64, _effort: Effort) -> bool {
        true
    }

    /// The variables with a zero row of X that lower F, each by itself, the best first; what has been found of them where it is cancelled.
    fn entrants(&self, x: &RowMat, cancel: &Cancel) -> Vec<usize>;
}

/// A problem in which variables may be left out: the one that is asked, or one made from it.
pub enum MaybeOwned<'a, P> {
    /// The problem itself.
    Own(&'a (dyn Reducible<P> + 'a)),
    /// Another.
    Made(Box<dyn Reducible<P> + 'a>),
}

impl<'a, P> Deref for MaybeOwned<'a, P> {
    type Target = dyn Reducible<P> + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Own(narrow) => *narrow,
            Self::Made(narrow) => &**narrow,
        }
    }
}

/// What searches on some of the variables of the same data have in common, for those that differ in a limit or in λ: the rotated eigenvectors, and
/// the variables of their solutions, which are in the first set of the next. Nothing is kept by default.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct WarmStart(Option<Arc<Mutex<Kept>>>);

#[derive(Debug, Default)]
struct Kept {
    rotated: Option<((usize, u64), RowMat)>, // of so many columns and a seed
    variables: Vec<usize>,
}

impl WarmStart {
    /// From one search to the next.
    #[doc(hidden)]
    pub fn along() -> Self {
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
    request: &Request,
    settings: Settings,
    cancel: &Cancel,
    observers: &mut [&mut dyn Observer],
) -> Option<Result<Solution>> {
    let (n, r) = problem.shape();
    let clock = cancel.within(settings.stopping.time_limit);
    if !request.leaves_method_open() || request.tuning.max_work.is_some() {
        return None;
    }
    // what is lower with less of C need not be lower: a longer limit would give a worse X
    let limited = settings.stopping.time_limit.is_some() || settings.stopping.max_iters.is_some();
    let narrow = problem.narrow((!limited).then_some((request.seed(), &clock)))?;
    let narrow = &*narrow;
    let has_all_variables = narrow.on().is_some();
    let all: Vec<usize> = (0..n).collect();
    let gradient = narrow.gradient();
    let pays = |count: usize| 2 * count <= n && cost_on(2 * count, (n, r), gradient) <= gradient;
    let third = cancel.within(settings.stopping.time_limit.map(|limit| limit / 3.0));
    let mut first_points = Vec::new();
    let (order, first) = if has_all_variables {
        (all, n)
    } else if !is_long(gradient) || !pays(request.tuning.room * narrow.least()) {
        return None;
    } else if let Some(early) = narrow.first_point(EARLY * gradient, request.seed(), &third) {
        // where gradients are dear the early point is all there is before the search
        let more = Some(at_level_0(gradient).min(request.tuning.longest_of_measures))
            .filter(|w| *w > EARLY * gradient);
        let further = more.and_then(|work| narrow.first_point(work, request.seed(), &third));
        let x = further.clone().unwrap_or_else(|| early.clone());
        first_points = std::iter::once(early).chain(further).collect();
        let (order, first) = around(narrow, &x, &clock);
        let first = Some(first.max(narrow.least()).min(n)).filter(|first| pays(*first))?;
        let (order, more) = request.carried.placed(order, first);
        (order, if pays(more) { more } else { first })
    } else {
        let y = request.carried.rotated(narrow.form(), (r, request.seed()), &clock)?;
        let first = request.tuning.room * narrow.needed(&y).max(narrow.least());
        // C on many variables takes long, too
        let first = if clock.is_over() { narrow.least() } else { first };
        let first = Some(first).filter(|first| pays(*first))?;
        let (order, more) = request.carried.placed(ranked(narrow.form(), &y), first);
        (order, if pays(more) { more } else { first })
    };
    let rounds = Rounds::new(problem, narrow, (request, settings), cancel, observers);
    let mut rounds = Rounds { clock, ..rounds };
    let begun = first_points.into_iter().try_for_each(|x| rounds.begin_at(x));
    let found = begun.and_then(|()| rounds.run(&order, first, &pays));
    if let Ok(found) = &found
        && !has_all_variables
    {
        request.carried.found(&found.x);
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
fn around<P>(narrow: &dyn Reducible<P>, x: &RowMat, clock: &Cancel) -> (Vec<usize>, usize) {
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
    narrow: &'a dyn Reducible<P>,
    request: &'a Request,
    settings: Settings,
    cancel: &'a Cancel,
    clock: Cancel, // with the limit of the whole
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
        narrow: &'a dyn Reducible<P>,
        (request, settings): (&'a Request, Settings),
        cancel: &'a Cancel,
        observers: &'a mut [&'o mut dyn Observer],
    ) -> Self {
        let clock = cancel.within(settings.stopping.time_limit);
        Self {
            problem,
            narrow,
            request,
            settings,
            cancel,
            clock,
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
        // where work is limited the first search continues from the first point, so that its variables are in it
        if let Some(best) = self.best.as_ref().filter(|_| self.settings.work.is_some()) {
            (0..n).for_each(|i| inside[i] |= best.x.row(i).iter().any(|v| *v != 0.0));
        }
        let mut checked = f64::INFINITY; // F at which none of the others lowered it
        loop {
            let variables: Vec<usize> = (0..n).filter(|i| inside[*i]).collect();
            if self.best.is_some() && self.is_over() {
                break; // the first point is all that there is work for
            }
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
        // a first point with which it ends is of all variables
        let variables = if self.rounds == 0 { n } else { inside.iter().filter(|i| **i).count() };
        let all = checked <= self.lowest();
        let clock = self.clock.clone();
        let rounds = self.rounds;
        let seconds = self.clock.seconds();
        let mut best =
            self.best.ok_or_else(|| Error::Incompatible("a search needs at least one arm".into()))?;
        best.seconds = seconds;
        if let Some(search) = &mut best.search {
            search.variables = Some(VariablesReport { searched: variables, of: n, rounds, checked: all });
        }
        let (others, limit) = if all {
            ("none of the others lowers F", None)
        } else if clock.is_cancelled() {
            ("the others were not checked", Some((Status::Interrupted, "interrupted")))
        } else if clock.is_late() {
            ("the others were not checked", Some((Status::TimeLimit, "reached the time limit")))
        } else if self.settings.work.is_some_and(|most| best.search.as_ref().is_some_and(|s| s.work >= most))
        {
            ("the others were not checked", Some((Status::Stalled, ALL_WORK)))
        } else {
            ("the others were not checked", Some((Status::MaxIters, "reached the limit of iterations")))
        };
        if let (Some((status, what)), Status::Converged) = (limit, best.status) {
            (best.status, best.message) = (status, format!("{what} before all variables were checked"));
        }
        let on = self.narrow.on().unwrap_or_else(|| format!("{variables} variables"));
        if self.on_some && (variables < n || self.narrow.on().is_some()) {
            best.message = format!("on {on}: {}", best.message);
        }
        if variables < n {
            best.notes.push(format!("{variables} of {n} variables took part in the search; {others}").into());
        } else if let Some(on) = self.narrow.on() {
            let then = match () {
                () if self.on_some => "there was no time to continue with all of C",
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
        let mut settings = Settings { effort, work, before: self.work(), ..self.settings };
        let stopping = &mut settings.stopping;
        stopping.time_limit = stopping.time_limit.map(|limit| (limit - self.clock.seconds()).max(0.0));
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
        let continues = self.rounds > 0 || self.settings.work.is_some();
        let start = self.best.as_ref().filter(|_| continues).map(from);
        let plan = part.plan(&Request { init: start.map(Into::into), ..self.request.clone() })?;
        if let Some(portfolio) = &plan.portfolio {
            self.perform(&part, portfolio, Some(effort), Some(variables))?;
        }
        self.rounds += 1;
        Ok(())
    }

    /// The search on all variables from the best point, until the limit or as the effort says.
    fn search_on_all(&mut self) -> Result<()> {
        let start = self.best.as_ref().map(|best| Start::Given(best.x.clone()));
        let plan = self.problem.plan(&Request { init: start.map(Into::into), ..self.request.clone() })?;
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
        let most = self.request.tuning.longest_of_measures.max(EARLY * gradient);
        let max_work = gradients.map(|gradients| most.min(gradients * gradient));
        let portfolio = race(
            self.problem,
            &[(solver, "")],
            &self.request.options(),
            Some(&start),
            (gradient, None),
            Tuning { max_work, ..self.request.tuning },
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
        let seconds = self.clock.seconds();
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
            let counts = is_better || self.on_some && !on_some && self.narrow.on().is_some();
            if counts {
                self.on_some = on_some;
            }
            if counts || found.status == Status::Interrupted {
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
mod tests;
