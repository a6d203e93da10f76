//! Paths: one problem along numbers of nonzeros or along λ, warm-started both ways and consistent, with a point
//! chosen by the knee of the variance explained or by cross-validation.
//!
//! ```text
//! for every point, sparse ones first     search as for this point alone
//! repeat at most twice                   for every point: the X of its neighbours, and the X of all points that has
//!                                        the lowest F here, are starts of the last solver; what is lower stays
//! at the end, whatever ended it          a point takes the X of another that has a lower F here, as it is
//! ```
//!
//! So F of no point is above what the X of another allows, and along counts the variance explained
//! ([`projected`](orthopt_core::problem::ExplainedVariance::projected)) never falls.

mod cells;
mod folds;
mod steps;

use std::collections::BTreeSet;

pub use cells::Pattern;
pub use folds::{By, Fold, Folds, Validation, cross_validate, folds, judge};
pub(crate) use folds::{Centre, Rows, is_centred};
pub use steps::Along;
pub(crate) use steps::DEFAULT_COUNTS;

use orthopt_bound as bound;
use orthopt_core::objective::{Evaluate, size};
use orthopt_core::problem::{ExplainedVariance, PcaData};
use orthopt_core::solve::{Observer, Status, Stopping};
use orthopt_core::start::Start;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::{Error, Result};
use orthopt_run::family::request::Of;
use orthopt_run::family::{
    AnyProblem, Case, Family, Plan, Posed, ProblemInfo, Request, Run, WarmStart, knee, pose,
};
use orthopt_run::report::{DataFacts, Report, Task};
use orthopt_run::search::Effort;

/// Request for a path.
#[derive(Clone, Debug)]
pub struct PathRequest {
    /// The problem.
    pub problem: &'static ProblemInfo,
    /// The options: the path sets λ or the limit; the effort is quick if not given.
    pub options: Request,
    /// The points.
    pub along: Along,
    /// Limits; the time is that of the whole path, iterations are those of each point.
    pub stopping: Stopping,
}

impl PathRequest {
    /// The request with the number of components that a rule gives.
    ///
    /// # Errors
    /// Those of [`Request::with_rank`].
    pub fn with_rank(&self, data: &PcaData<'_>) -> Result<Self> {
        Ok(Self { options: self.options.with_rank(self.problem, data)?.into_owned(), ..self.clone() })
    }
}

/// One point of a path.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Point {
    /// Nonzeros allowed in each component, or λ.
    pub at: f64,
    /// Result.
    pub report: Report,
    /// The point whose X led to this one, if that was better than the search at this point.
    pub from: Option<usize>,
}

impl Point {
    /// Nonzeros of X.
    pub fn nnz(&self) -> usize {
        self.report.nonzeros().iter().sum()
    }

    /// Share of the variance that the projection on the components keeps.
    pub fn variance(&self) -> f64 {
        self.report.explained_variance.as_ref().map_or(f64::NAN, |v| v.projected)
    }

    /// Share of the variance in the measure that was maximised.
    pub fn maximised(&self) -> f64 {
        self.report.explained_variance.as_ref().map_or(f64::NAN, ExplainedVariance::of_maximised)
    }

    /// Upper bound of [`Point::maximised`] over all feasible X with a penalty up to that of this point; `None` without a bound
    /// of F.
    pub fn variance_bound(&self) -> Option<f64> {
        // −½ φ(X) ≥ bound − penalty
        let (objective, bound) = (&self.report.solution.objective, self.report.global.as_ref()?.bound);
        let share = self.maximised() * ((objective.nonsmooth - bound) / -objective.smooth);
        Some(share).filter(|share| share.is_finite())
    }
}

/// The points, sparse ones first; fewer than requested if it was interrupted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Path {
    /// The points.
    pub points: Vec<Point>,
    /// The point where the variance that is maximised has its knee over the nonzeros, the middle one if there is no knee.
    pub knee: usize,
    /// True if there is a knee.
    pub bends: bool,
    /// True if the path was ended early.
    pub interrupted: bool,
}

/// Who watches a path, and may end it.
pub struct Watch<'a, 'b> {
    /// Ends it; the points so far are returned.
    pub cancel: &'a Cancel,
    /// The runs.
    pub observers: &'a mut [&'b mut dyn Observer],
    /// Called with the current task: the number of the point and the number of points.
    pub stage: &'a mut dyn FnMut(usize, usize),
}

/// Solves along the path.
///
/// # Errors
/// A problem without such a path, bad data, errors of [`pose`] and of the solvers.
pub fn path(
    data: &PcaData<'_>,
    facts: &DataFacts,
    request: &PathRequest,
    watch: &mut Watch<'_, '_>,
) -> Result<Path> {
    request.along.check(request)?;
    let mut walk = Walk::begin(data, facts, request, watch.cancel)?;
    let count = request.along.len();
    for i in 0..count {
        (watch.stage)(i, count);
        walk.search(i, watch)?;
        if walk.interrupted {
            break;
        }
    }
    for _ in 0..ROUNDS {
        if walk.interrupted || walk.cancel.is_late() || !walk.exchange(watch)? {
            break;
        }
    }
    walk.settle(watch)?;
    let problem = walk.posed.as_ref().map(|posed| &posed.problem);
    // the same for all points
    let share = walk.cancel.during(|| problem.and_then(AnyProblem::pca_share));
    let mut points = walk.points;
    points.iter_mut().for_each(|point| point.report.pca_share = share);
    // single variables are no components: the chord begins at two
    let single = request.along.singles(points.len().saturating_sub(1));
    let curve: Vec<_> = points[single..].iter().map(|p| (p.nnz() as f64, p.maximised())).collect();
    let place = knee(&curve);
    let knee = place.map_or(points.len() / 2, |place| single + place);
    Ok(Path { points, knee, bends: place.is_some(), interrupted: walk.interrupted })
}

/// Work of the search of a point, at most, where neither effort nor time are given: about a second of one thread.
const WORK: u64 = 1_000_000_000;
/// Rounds in which points exchange their X.
const ROUNDS: usize = 2;

/// A path during its computation. The problem is posed for one point at a time, and moves to the next with its data.
struct Walk<'a> {
    request: &'a PathRequest,
    facts: &'a DataFacts,
    wanted: Request,
    posed: Option<Posed>,
    points: Vec<Point>,
    tried: BTreeSet<(usize, usize, u64)>, // the point, where X came from, and F there: which X it was
    cancel: Cancel,                       // with the limit of the whole path
    interrupted: bool,
}

impl<'a> Walk<'a> {
    fn begin(
        data: &PcaData<'_>,
        facts: &'a DataFacts,
        request: &'a PathRequest,
        cancel: &Cancel,
    ) -> Result<Self> {
        let pose_options = request.along.first(&request.options);
        let cancel = cancel.within(request.stopping.time_limit);
        let posed = cancel.during(|| pose(request.problem, data, &pose_options))?;
        let is_open = request.options.effort.is_none() && request.stopping.time_limit.is_none();
        let own = if is_open { request.options.with_work(WORK) } else { request.options.clone() };
        let effort = own.effort.or(Some(Effort::Quick));
        let wanted = Request { effort, carried: WarmStart::along(), ..own };
        let (points, tried) = (Vec::new(), BTreeSet::new());
        Ok(Self { request, facts, wanted, posed: Some(posed), points, tried, cancel, interrupted: false })
    }

    /// The problem at point i.
    fn at(&mut self, i: usize) -> Result<Posed> {
        let posed = self.posed.take().ok_or(Error::Factorisation("an earlier step of the path"))?;
        self.request.along.to(i, posed, self.request)
    }

    /// The search of point i alone, in its share of the time that is left.
    fn search(&mut self, i: usize, watch: &mut Watch<'_, '_>) -> Result<()> {
        let posed = self.at(i)?;
        let parts = (self.request.along.len() - i) as f64;
        let time_limit = self.cancel.left().map(|left| left / parts);
        let stopping = Stopping { time_limit, ..self.request.stopping };
        let task = Task::new(&posed, self.facts.clone());
        let problem = &posed.problem;
        let report = {
            let plan = problem.plan(&self.wanted)?;
            if i == 0 {
                let case = Case::new(self.request.problem, &self.request.along.first(&self.request.options));
                case.run_by(Run::of(problem, &plan, None))
                    .check(self.request.options.given_of(&[Of::Run]))?;
            }
            run(problem, &plan, &task, &self.wanted, stopping, None, watch)?
        };
        self.posed = Some(posed);
        self.interrupted = report.solution.status == Status::Interrupted;
        self.points.push(Point { at: self.request.along.at(i), report, from: None });
        Ok(())
    }

    /// Every point tries the X of its neighbours; true if that changed any of them.
    fn exchange(&mut self, watch: &mut Watch<'_, '_>) -> Result<bool> {
        let count = self.points.len();
        let mut changed = false;
        // up, then down: what is found at one end reaches the other
        for i in (0..count).chain((0..count).rev()) {
            if self.interrupted || self.cancel.is_late() {
                break;
            }
            changed |= self.improve(i, watch)?;
        }
        Ok(changed)
    }

    fn improve(&mut self, i: usize, watch: &mut Watch<'_, '_>) -> Result<bool> {
        let posed = self.at(i)?;
        let stopping = Stopping { time_limit: self.cancel.left(), ..self.request.stopping };
        let from = candidates(&posed.problem, &self.points, i);
        let mut changed = false;
        for j in from {
            // the same X from the same point leads to the same end
            let f = self.points[j].report.solution.objective.total;
            if self.tried.insert((i, j, f.to_bits())) {
                changed |= self.take(i, j, &posed, stopping, watch);
            }
        }
        self.posed = Some(posed);
        Ok(changed)
    }

    /// Runs the last solver of point i from the X of point j; true if the result is better.
    fn take(
        &mut self,
        i: usize,
        j: usize,
        posed: &Posed,
        stopping: Stopping,
        watch: &mut Watch<'_, '_>,
    ) -> bool {
        let task = Task::new(posed, self.facts.clone());
        let x = self.points[j].report.x();
        // an error: nothing feasible is near this X
        let problem = &posed.problem;
        let report = polished(problem, &self.wanted, x)
            .and_then(|(plan, wanted)| run(problem, &plan, &task, &wanted, stopping, Some(0), watch));
        let Ok(report) = report else { return false };
        self.interrupted |= report.solution.status == Status::Interrupted;
        let now = &self.points[i].report.solution;
        let less = LESS * size(now.scale, now.objective.total);
        let better = report.solution.objective.total < now.objective.total - less;
        if better {
            (self.points[i].report, self.points[i].from) = (report, Some(j));
        }
        better
    }

    /// Points take the unchanged X of others if they are better, so that the properties of a
    /// path also hold after limits and interruptions. An X that is taken is repaired to rounding and may then be
    /// better at other points: repeated until no point changes.
    fn settle(&mut self, watch: &mut Watch<'_, '_>) -> Result<()> {
        for _ in 0..self.points.len() {
            let mut taken = false;
            for i in 0..self.points.len() {
                taken |= self.settle_at(i, watch)?;
            }
            if !taken {
                break;
            }
        }
        Ok(())
    }

    /// True if point i has taken the X of another.
    fn settle_at(&mut self, i: usize, watch: &mut Watch<'_, '_>) -> Result<bool> {
        let none = Stopping { time_limit: Some(0.0), ..self.request.stopping };
        let posed = self.at(i)?;
        let best = lowest(&posed.problem, &self.points, i);
        let now = &self.points[i].report.solution;
        let least = now.objective.total - LESS * size(now.scale, now.objective.total);
        let interrupted = self.interrupted;
        let better = best.filter(|(_, f)| *f < least);
        let taken = better.is_some_and(|(j, _)| self.take(i, j, &posed, none, watch));
        if taken {
            let solution = &mut self.points[i].report.solution;
            solution.status = if interrupted { Status::Interrupted } else { Status::Stalled };
            solution.message = "the X of another point, which is better than the one found here".into();
        }
        self.interrupted = interrupted;
        self.posed = Some(posed);
        Ok(taken)
    }
}

/// Smallest relative decrease of F that is more than rounding.
const LESS: f64 = 1e-10;

/// The neighbours, and the point whose X has the lowest F here.
fn candidates(problem: &AnyProblem, points: &[Point], i: usize) -> Vec<usize> {
    let mut all: Vec<usize> = i.checked_sub(1).into_iter().collect();
    all.extend((i + 1 < points.len()).then_some(i + 1));
    let best = lowest(problem, points, i).map(|best| best.0).filter(|best| !all.contains(best));
    all.extend(best);
    all
}

/// Of the other points the one whose X has the lowest F here, and this F; the unchanged X must be feasible.
fn lowest(problem: &AnyProblem, points: &[Point], i: usize) -> Option<(usize, f64)> {
    let feasible = |j: &usize| *j != i && problem.check(points[*j].report.x(), "X").is_ok();
    let values = (0..points.len()).filter(feasible).map(|j| (j, problem.value(points[j].report.x())));
    values.min_by(|a, b| a.1.total_cmp(&b.1))
}

/// The last solver of the default chain from a given X.
pub(crate) fn polished(problem: &AnyProblem, wanted: &Request, x: &RowMat) -> Result<(Plan, Request)> {
    let usual = problem.plan(&Request { effort: wanted.effort, ..Request::default() })?;
    let solver = usual.solvers.last().map(|solver| solver.name.to_string());
    let wanted = Request { solver, init: Some(Start::Given(x.clone()).into()), ..wanted.clone() };
    Ok((problem.plan(&wanted)?, wanted))
}

fn run(
    problem: &AnyProblem,
    plan: &Plan,
    task: &Task,
    wanted: &Request,
    stopping: Stopping,
    restarts: Option<u64>,
    watch: &mut Watch<'_, '_>,
) -> Result<Report> {
    let solution = plan.run(problem, wanted, &stopping, restarts, watch.cancel, watch.observers)?;
    Report::new(task, problem, plan, wanted, stopping, solution)
}

impl Path {
    /// Bounds F of every point over all feasible X, with the given seconds for each. A bound
    /// with more nonzeros, or with a smaller λ, also holds for fewer nonzeros.
    ///
    /// # Errors
    /// There is no bound of this problem.
    pub fn bound(
        &mut self,
        data: &PcaData<'_>,
        request: &PathRequest,
        seconds: f64,
        cancel: &Cancel,
    ) -> Result<()> {
        let mut posed = pose(request.problem, data, &request.along.first(&request.options))?;
        let mut below = f64::NEG_INFINITY;
        for i in (0..self.points.len()).rev() {
            posed = request.along.to(i, posed, request)?;
            let report = &mut self.points[i].report;
            if let Some(known) = report.global.as_ref().filter(|known| known.is_optimal()) {
                below = below.max(known.bound);
                continue;
            }
            let options = bound::Options {
                seconds: Some(seconds),
                nodes: u64::MAX,
                memory: request.options.memory(),
                ..Default::default()
            };
            let problem = &posed.problem;
            let found = problem.lower_bound(Some(report.x()), &options, cancel, &|_| ())?;
            below = below.max(found.value);
            let bound = bound::Bound { value: below, ..found };
            report.bound_by(&bound)?;
        }
        Ok(())
    }
}
