//! A solve, from data and options to a result that is checked: one text for all front ends.
//!
//! ```text
//! Job        pose     refuse options that do not apply, choose what is open, set up the problem
//! PosedJob   plan     choose solvers and starts, refuse options that no solver uses
//!            run      X and its report
//!            check    criticality and pairs of rows, in what the run has left of its limit
//!            halves   the same on pairs of halves of the rows, in what the run has left of its limit
//!            bound    a lower bound of F over all feasible X
//! ```
//!
//! Checks, halves and bound come after the run: X does not depend on which of them are asked for, unless halves share a limit of
//! time with it.
//!
//! A front end makes data and a [`Job`] of its own input, calls the stages it wants in this order, and shows what they return.
//! It has no default, no division of a time limit and no restart of its own.

use std::iter;

use crate::path::{Along, PathRequest};
use crate::stability::{self, StabilityRequest, of_halves, of_run};
use orthopt_bound::{self as bound, Bound, Show};
use orthopt_core::problem::PcaData;
use orthopt_core::solve::{Observer, Stopping};
use orthopt_core::start::Start;
use orthopt_linalg::RowMat;
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::Result;
use orthopt_linalg::message::Message;
use orthopt_run::family::request::CallOptions;
use orthopt_run::family::{AnyProblem, Call, Case, Family, Plan, ProblemInfo, Request, Run, pose};
use orthopt_run::report::assessment::check_in_time;
use orthopt_run::report::{DataFacts, Report, Role, Stability, Task};
use orthopt_run::search::{Arm, Portfolio};
use orthopt_run::solvers::AUTO;
use orthopt_solvers::obcd::pairs;

/// A request before the data are known.
#[derive(Clone, Debug)]
pub struct Job {
    /// The problem.
    pub problem: &'static ProblemInfo,
    /// The options.
    pub request: Request,
    /// The options that were given.
    pub given: CallOptions,
    /// True if a number of nonzeros is chosen where no option says how sparse X is to be.
    pub chooses_counts: bool,
}

/// A job whose problem is set up.
#[derive(Debug)]
pub struct PosedJob {
    /// The job.
    pub job: Job,
    /// The problem in words, with the facts of the data.
    pub task: Task,
    /// The problem.
    pub problem: AnyProblem,
    clock: Cancel,
}

/// Solvers, starts and limits of a run.
#[derive(Debug)]
pub struct PlannedRun {
    /// Solvers and starts.
    pub plan: Plan,
    /// The data that they were chosen from.
    pub request: Request,
    /// Number of further starts.
    pub restarts: Option<u64>,
    /// Limits.
    pub stopping: Stopping,
}

impl Job {
    /// The job of a call.
    pub fn new(problem: &'static ProblemInfo, request: Request, given: CallOptions) -> Self {
        let chooses_counts = matches!(given.call(), Call::Solve | Call::Bound | Call::BoundOfX);
        Self { problem, request, given, chooses_counts }
    }

    /// Refuses options that do not apply to the problem, whatever the data are.
    ///
    /// # Errors
    /// One of them.
    pub fn check(&self) -> Result<()> {
        self.given.check(self.case())
    }

    /// Refuses options that do not apply to these data.
    ///
    /// # Errors
    /// One of them.
    pub fn check_data(&self, data: &PcaData<'_>, facts: &DataFacts) -> Result<()> {
        if let Some(pairs) = self.request.stability {
            stability::check(data, pairs)?;
        }
        self.given.check(self.case().of_gram(facts.role == Role::Gram))
    }

    /// Sets up the problem of these data until the `clock` is over, which began when the data were there; `notes` are those of
    /// the front end.
    ///
    /// # Errors
    /// Options that do not apply; a rank or λ out of range; data that the problem does not take; no bound where one is asked for.
    pub fn pose(
        self,
        data: &PcaData<'_>,
        facts: DataFacts,
        notes: Vec<Message>,
        clock: &Cancel,
    ) -> Result<PosedJob> {
        self.check_data(data, &facts)?;
        let options = self.options(data, &facts);
        let mut posed = clock.during(|| pose(self.problem, data, &options))?;
        posed.notes.extend(notes);
        if self.given.has("bound") || matches!(self.given.call(), Call::Bound | Call::BoundOfX) {
            posed.problem.bounded()?; // before any work
        }
        let task = Task::new(&posed, facts);
        let job = Self { request: options, ..self };
        Ok(PosedJob { job, task, problem: posed.problem, clock: clock.clone() })
    }

    /// The options of the problem beside data of which these facts are known.
    pub fn options(&self, data: &PcaData<'_>, facts: &DataFacts) -> Request {
        let options = self.request.clone();
        let options = if self.chooses_counts { options.or_counts(self.problem) } else { options };
        let is_gram = matches!(data, PcaData::Gram(_) | PcaData::SparseGram(_));
        // C that was summed over rows
        let rows = (is_gram && facts.role == Role::Samples).then_some(facts.rows);
        let options = Request { samples: options.samples.or(rows), ..options };
        if facts.centered { options.centred() } else { options }
    }

    /// The path of these data through the points that are `given`, or through default ones, with a note; each of `walks` paths,
    /// one for each fold and one for all rows, has its share of what is left on the `clock`.
    ///
    /// # Errors
    /// Options that do not apply; those of [`Request::with_rank`] and [`Along::of`].
    pub fn path(
        &self,
        data: &PcaData<'_>,
        facts: &DataFacts,
        given: Option<Along>,
        walks: usize,
        clock: &Cancel,
    ) -> Result<(PathRequest, Option<Message>)> {
        self.check_data(data, facts)?;
        let options = self.options(data, facts);
        let options = clock.during(|| options.with_rank(self.problem, data))?.into_owned();
        let along = clock.during(|| Along::of(given.clone(), self.problem, &options, data))?;
        let excess = || {
            let text = format!(" exceeds the number of variables, {}", data.ncols());
            Message::about("counts").text(text)
        };
        let note = given.is_some_and(|given| given != along).then(excess);
        let time_limit = clock.left().map(|seconds| seconds / walks as f64);
        let stopping = Stopping { time_limit, ..options.stopping() };
        Ok((PathRequest { problem: self.problem, options, along, stopping }, note))
    }

    fn case(&self) -> Case {
        Case::new(self.problem, &self.request)
    }
}

impl PosedJob {
    /// The run that is asked for, with what is left of the time limit.
    ///
    /// # Errors
    /// Unknown names, solvers that do not fit, options that no solver uses.
    pub fn plan(&self) -> Result<PlannedRun> {
        let request = &self.job.request;
        let run = self.clock.during(|| self.planned(request.clone(), request.restarts))?;
        self.check_runs([&run])?;
        Ok(PlannedRun { stopping: self.left(), ..run })
    }

    /// The limits, with what is left of that of time.
    pub fn left(&self) -> Stopping {
        self.job.request.stopping().after(&self.clock)
    }

    /// Several runs, each with the whole time limit.
    ///
    /// # Errors
    /// As [`plan`](Self::plan); an option that none of them uses.
    pub fn plans(&self, runs: impl IntoIterator<Item = (Request, Option<u64>)>) -> Result<Vec<PlannedRun>> {
        let runs = runs.into_iter().map(|(request, restarts)| self.planned(request, restarts));
        let runs = runs.collect::<Result<Vec<_>>>()?;
        self.check_runs(&runs)?;
        Ok(runs)
    }

    /// Runs that are compared, each with its name and the whole time limit. Solvers that are named start at the same X⁰ and run
    /// once unless restarts are given; `auto` searches. Without names: the search and its arms, each alone from its own start, or
    /// all solvers where nothing is searched.
    ///
    /// # Errors
    /// As [`plans`](Self::plans).
    pub fn rivals(&self, names: &[String]) -> Result<Vec<(String, PlannedRun)>> {
        let auto = || self.problem.plan(&self.job.request);
        let runs = match names {
            [] => match auto()?.portfolio {
                Some(portfolio) => self.arms(&portfolio),
                None => self.named(&solvers_for(&self.problem)),
            },
            _ => self.named(names),
        };
        let (names, runs): (Vec<_>, Vec<_>) = runs.into_iter().unzip();
        Ok(names.into_iter().zip(self.plans(runs)?).collect())
    }

    fn named(&self, names: &[String]) -> Vec<(String, (Request, Option<u64>))> {
        let (request, restarts) = (&self.job.request, self.job.request.restarts);
        let run = |name: &String| {
            let mut request = request.one_of(name, names);
            let restarts = match request.solver {
                Some(_) => {
                    let start = || Start::named(self.problem.recipe().default_start).into();
                    request.init.get_or_insert_with(start);
                    restarts.or(Some(0))
                }
                None => restarts.filter(|n| *n > 0),
            };
            (name.clone(), (request, restarts))
        };
        names.iter().map(run).collect()
    }

    fn arms(&self, portfolio: &Portfolio<AnyProblem>) -> Vec<(String, (Request, Option<u64>))> {
        let (request, restarts) = (&self.job.request, self.job.request.restarts);
        let arm = |arm: &Arm<AnyProblem>| {
            let start = request.start().cloned().unwrap_or_else(|| Start::named(&arm.start));
            let request =
                Request { solver: Some(arm.solver.clone()), init: Some(start.into()), ..request.clone() };
            (format!("{} {}", arm.solver, arm.start), (request, restarts.or(Some(0))))
        };
        let auto = (AUTO.0.to_string(), (request.clone(), restarts.filter(|n| *n > 0)));
        iter::once(auto).chain(portfolio.arms.iter().map(arm)).collect()
    }

    fn planned(&self, request: Request, restarts: Option<u64>) -> Result<PlannedRun> {
        let stopping = self.job.request.stopping();
        let mut plan = self.problem.plan(&request)?;
        plan.reasons.extend(plan.restart_reason(&self.problem, &request, &stopping, restarts));
        Ok(PlannedRun { plan, request, restarts, stopping })
    }

    fn check_runs<'a>(&self, runs: impl IntoIterator<Item = &'a PlannedRun>) -> Result<()> {
        let runs = runs.into_iter().map(|run| Run::of(&self.problem, &run.plan, run.restarts));
        let run = runs.reduce(Run::and).unwrap_or_else(|| Run::none(&self.problem));
        self.job.given.check(self.job.case().run_by(run))
    }

    /// Refuses options that do not apply to an X that is given; `draws` tells whether random pairs or blocks of its rows are
    /// checked.
    ///
    /// # Errors
    /// One of them.
    pub fn check_x(&self, draws: bool) -> Result<()> {
        self.job.given.check(self.job.case().run_by(Run::none(&self.problem)).drawing(draws))
    }

    /// Minimises F. The half of the time limit is for halves of the rows, where they are asked for.
    ///
    /// # Errors
    /// Those of the solvers.
    pub fn run(
        &self,
        run: &PlannedRun,
        cancel: &Cancel,
        observers: &mut [&mut dyn Observer],
    ) -> Result<Report> {
        let PlannedRun { plan, request, restarts, stopping, .. } = run;
        let of_x = if self.job.request.stability.is_some() { of_run(*stopping) } else { *stopping };
        let solution = plan.run(&self.problem, request, &of_x, *restarts, cancel, observers)?;
        let report = || Report::new(&self.task, &self.problem, plan, request, *stopping, solution);
        let mut report = cancel.during(report)?;
        cancel.during(|| report.beside_pca(&self.problem));
        report.notes.extend(remark_on_candidates(run, self.problem.shape().0));
        Ok(report)
    }

    /// Measures criticality of X, and checks its pairs of rows if that is asked for, until `cancel`, or `patient` where small
    /// problems are still checked; `stage` is called with what is done.
    pub fn check(&self, report: &mut Report, cancels: (&Cancel, &Cancel), stage: impl Fn(&'static str)) {
        let spent = (report.stopping.time_limit, report.solution.seconds);
        let what = (report.x(), self.job.request.scope());
        report.checks = check_in_time(&self.problem, what, spent, cancels, stage);
    }

    /// Solves the problem on pairs of halves of the rows, if they are asked for, in what the run has left of its limit.
    ///
    /// # Errors
    /// Every pair has a half without a solution.
    pub fn halves(
        &self,
        report: &mut Report,
        data: &PcaData<'_>,
        watch: &stability::Watch<'_>,
    ) -> Result<()> {
        let Some(pairs) = self.job.request.stability else { return Ok(()) };
        let stopping = of_halves(report.stopping, report.solution.seconds);
        report.stability = self.halves_of(report.x(), stopping, pairs, data, watch)?;
        Ok(())
    }

    /// Solves the problem on pairs of halves for an X of all rows, as [`halves`](Self::halves); `None` if no pair is
    /// complete at the end of the limit.
    ///
    /// # Errors
    /// As [`halves`](Self::halves).
    pub fn halves_of(
        &self,
        x: &RowMat,
        stopping: Stopping,
        pairs: usize,
        data: &PcaData<'_>,
        watch: &stability::Watch<'_>,
    ) -> Result<Option<Stability>> {
        let request = StabilityRequest::of(&self.task, &self.job.request, stopping, pairs);
        stability::stability(data, &self.task.data, x, &request, watch)
    }

    /// Bounds F over all feasible X in so many seconds, from X of the report on; `keeps` tells whether what proves it is kept.
    ///
    /// # Errors
    /// A problem without a bound; a bound that contradicts F of X.
    pub fn bound(
        &self,
        report: &mut Report,
        (seconds, keeps): (f64, bool),
        cancel: &Cancel,
        show: Show<'_>,
    ) -> Result<Bound> {
        let found = self.problem.lower_bound(Some(report.x()), &self.limits(seconds, keeps), cancel, show)?;
        report.bound_by(&found)?;
        Ok(found)
    }

    fn limits(&self, seconds: f64, keeps: bool) -> bound::Options {
        let memory = self.job.request.memory();
        bound::Options { seconds: Some(seconds), nodes: u64::MAX, memory, keeps, ..Default::default() }
    }
}

fn solvers_for(problem: &AnyProblem) -> Vec<String> {
    problem
        .solvers()
        .iter()
        .filter(|solver| (solver.handles)(problem))
        .map(|solver| solver.name.into())
        .collect()
}

/// That fewer pairs of rows exist than candidates were asked for, where a solver of the run examines candidates.
fn remark_on_candidates(run: &PlannedRun, n: usize) -> Option<Message> {
    run.request.candidates.filter(|given| *given != given.within(n))?;
    let looks = run.plan.solvers.iter().any(|solver| solver.shared.iter().any(|c| c.name == "candidates"));
    let all = match pairs(n) {
        1 => "the only pair".to_string(),
        all => format!("the {all} pairs"),
    };
    looks.then(|| Message::about("candidates").text(format!(" exceeds {all} that exist: all are scored")))
}

impl PlannedRun {
    /// True if solvers and starts compete.
    pub fn searches(&self) -> bool {
        self.plan.portfolio.is_some() && self.restarts.is_none()
    }
}
