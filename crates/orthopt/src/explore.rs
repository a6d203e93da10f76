//! From a table to components that can be read: how many, how sparse, which, how sure, and how far from the best.
//!
//! ```text
//! how many     the rank that is given, or as many as exceed noise (parallel analysis)
//! how sparse   a path along numbers of nonzeros; the knee of the variance that is maximised
//! which        the search with that number in each component
//! how sure     the same on pairs of disjoint halves of the rows; where these do not agree on all variables of a component,
//!              components with as many as they agree on
//! how good     a lower bound of F over all X with that number
//! ```
//!
//! Each step is a call of the library with options that are all in [`Step`], so that each can be repeated alone. Without a limit
//! of time each does a fixed amount of work: the same table has the same answers. Steps share a limit; what one leaves the
//! next ones have.

use crate::job::{Job, PosedJob};
use crate::path::{self, Along, DEFAULT_COUNTS, Path, PathRequest};
use crate::stability::{self, StabilityRequest};
use orthopt_bound as bound;
use orthopt_core::problem::{ExplainedVariance, PcaData};
use orthopt_core::solve::{Observer, Status, Stopping};
use orthopt_linalg::cancel::Cancel;
use orthopt_linalg::error::Result;
use orthopt_linalg::message::Message;
use orthopt_run::family::request::Rank;
use orthopt_run::family::{AnyProblem, Call, CallOptions, Family, Limit, RankRule, Request, find_problem};
use orthopt_run::report::{DataFacts, Global, Report, Stability};
use orthopt_run::search::Effort;

/// Numbers of nonzeros beyond [`DEFAULT_COUNTS`] that are examined where they are at most a quarter of the variables.
const LARGER_COUNTS: [usize; 2] = [50, 100];
/// Share of the seconds left that the path, the search, the halves and the bound may take.
const ON_PATH: f64 = 0.4;
const ON_SEARCH: f64 = 0.4;
const ON_HALVES: f64 = 0.6;
const ON_BOUND: f64 = 0.9;
/// Work after which no other pairs of halves begin, and of a bound, where no seconds are given: some two and one seconds of
/// one thread.
const ON_PAIRS: u64 = 6_000_000_000;
const WORK_ON_BOUND: u64 = 3_000_000_000;
/// Iterations of the relaxation that a bound has at least.
const LEAST_ITERATIONS: u64 = 10;
/// Variables up to which F is bounded: the relaxation decomposes C again and again.
const BOUNDED: usize = 1000;
/// Pairs of halves of the rows.
const PAIRS: usize = 25;
/// Correlation of two scores from which on components are said to repeat each other.
const ALIKE: f64 = 0.7;

/// The call of a step, complete enough to repeat it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Step {
    /// The question that it answers.
    pub question: &'static str,
    /// The call.
    pub call: Call,
    /// Its options, in addition to those of the data.
    pub options: Vec<(&'static str, String)>,
    /// Seconds it took.
    pub seconds: f64,
    /// True if a limit ended it.
    pub limited: bool,
}

/// The answers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Exploration {
    /// True if a rule chose the number of components.
    pub by_rule: bool,
    /// The numbers of nonzeros that were examined.
    pub along: Along,
    /// The path along them; its knee has the number that was chosen.
    pub path: Path,
    /// The components, with a bound where there was time for one.
    pub report: Report,
    /// Components with as many variables as halves of the rows agree on, where these are fewer.
    pub fewer: Option<Fewer>,
    /// The steps, each a call of its own.
    pub steps: Vec<Step>,
    /// True if it was ended early: later steps are missing.
    pub interrupted: bool,
}

/// Components with numbers of variables of their own.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fewer {
    /// Number of variables of each component.
    pub nonzeros: Vec<usize>,
    /// The components.
    pub report: Report,
}

/// Who watches, and may end it; what is there by then is returned.
pub struct Watch<'a, 'b> {
    /// Ends it.
    pub cancel: &'a Cancel,
    /// The runs.
    pub observers: &'a mut [&'b mut dyn Observer],
    /// Called with the question that is asked next.
    pub stage: &'a mut dyn FnMut(&'static str),
}

/// Examines the data; `facts` are what is known of their preparation. The time limit is that of all steps together; without it each
/// step does a fixed amount of work. Limits on nonzeros are chosen.
///
/// # Errors
/// Data or options that [`pose`](orthopt_run::family::pose) refuses, errors of the solvers.
pub fn explore(
    data: &PcaData<'_>,
    facts: &DataFacts,
    request: &Request,
    watch: &mut Watch<'_, '_>,
) -> Result<Exploration> {
    let clock = watch.cancel.within(request.time_limit);
    clock.during(|| explored(data, facts, request, watch, &clock))
}

fn explored(
    data: &PcaData<'_>,
    facts: &DataFacts,
    request: &Request,
    watch: &mut Watch<'_, '_>,
    clock: &Cancel,
) -> Result<Exploration> {
    let left = |share: f64| clock.left().map(|left| share * left);
    let mut steps = Vec::new();

    (watch.stage)(HOW_MANY);
    let mut options = request.clone();
    let rows = !matches!(data, PcaData::Gram(_) | PcaData::SparseGram(_));
    if options.rank.is_none() && (rows || options.samples.is_some()) {
        options.rank = Some(Rank::By(RankRule::Auto));
    }
    options.show_scree = true;
    // without eigenvalues there is still a number by default
    let without_rule = |options: Request| match options.rank_rule() {
        Some(_) => Request { rank: None, ..options },
        None => options,
    };
    let request = &match options.with_rank(find_problem(PROBLEM)?, data) {
        Err(_) if clock.is_over() => without_rule(Request { show_scree: false, ..options }),
        Ok(ranked) if ranked.scree.is_none() => without_rule(ranked.into_owned()),
        ranked => ranked?.into_owned(),
    };

    (watch.stage)(HOW_SPARSE);
    let mut of_path = path_request(data, request)?;
    of_path.stopping.time_limit = left(ON_PATH);
    let begun = clock.seconds();
    let path = {
        let Watch { cancel, observers, .. } = watch;
        path::path(data, facts, &of_path, &mut path::Watch { cancel, observers, stage: &mut |_, _| {} })?
    };
    let limited = path.points.iter().any(|point| point.report.solution.status == Status::TimeLimit);
    let chosen = path.knee;
    let rank = path.points[chosen].report.task.rank;
    let maximise = request.maximise.map(|measure| ("maximise", measure.name().to_string()));
    let of_all = |more: &[(&'static str, String)]| {
        let mut options = vec![("rank", rank.to_string())];
        options.extend(maximise.clone());
        options.extend_from_slice(more);
        options.extend((request.seed() != 0).then(|| ("seed", request.seed().to_string())));
        options
    };
    let Along::Counts(counts) = &of_path.along else { unreachable!("counts were asked for") };
    let listed = counts.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let seconds = clock.seconds() - begun;
    let options = of_all(&[("counts", listed)]);
    steps.push(Step { question: HOW_SPARSE, call: Call::Path, options, seconds, limited });

    let count = counts[chosen];
    let limit = [("nonzeros", count.to_string())];
    let interrupted = path.interrupted;
    let report = path.points[chosen].report.clone();
    let mut found = Exploration {
        by_rule: request.rank_rule().is_some(),
        along: of_path.along.clone(),
        path,
        report,
        fewer: None,
        steps,
        interrupted,
    };
    found.interrupted |= clock.is_late(); // later steps would begin with no time
    if found.interrupted {
        return Ok(found);
    }

    (watch.stage)(WHICH);
    let begun = clock.seconds();
    let options =
        Request { rank: Some(rank.into()), ..request.clone() }.with_limit(Some(Limit::Nonzeros(vec![count])));
    let (posed, report) = searched((data, facts), &of_path, options.clone(), left(ON_SEARCH), watch)?;
    found.interrupted = report.solution.status == Status::Interrupted;
    let (task, problem) = (&posed.task, &posed.problem);
    let limited = report.solution.status == Status::TimeLimit;
    let seconds = clock.seconds() - begun;
    found.steps.push(Step { question: WHICH, call: Call::Solve, options: of_all(&limit), seconds, limited });
    if report.solution.objective.total <= found.report.solution.objective.total {
        found.report = report;
    }
    if !found.interrupted && stability::check(data, PAIRS).is_ok() {
        (watch.stage)(HOW_SURE);
        let begun = clock.seconds();
        let stopping = Stopping { time_limit: left(ON_HALVES), ..of_path.stopping };
        let work = request.time_limit.is_none().then_some(ON_PAIRS);
        let halves = StabilityRequest { work, ..StabilityRequest::of(task, &options, stopping, PAIRS) };
        let seen = stability::Watch { cancel: watch.cancel, done: &|_, _| {} };
        // where no half has a solution nothing is known of them
        found.report.stability =
            stability::stability(data, facts, found.report.x(), &halves, &seen).unwrap_or(None);
        let made = found.report.stability.as_ref().map_or(0, |s| s.pairs + s.failed);
        let limited = made < PAIRS;
        let seconds = clock.seconds() - begun;
        // the command makes as many pairs
        let pairs = [&limit[..], &[("stability", if made > 0 { made } else { PAIRS }.to_string())]].concat();
        found.steps.push(Step {
            question: HOW_SURE,
            call: Call::Solve,
            options: of_all(&pairs),
            seconds,
            limited,
        });
        found.interrupted = watch.cancel.is_cancelled();
    }
    if let Some(nonzeros) = found.agreed().filter(|_| !found.interrupted) {
        let begun = clock.seconds();
        let listed = nonzeros.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let limit = Some(Limit::Nonzeros(nonzeros.clone()));
        let options = options.with_limit(limit);
        // what is there stays where these have no solution
        if let Ok((_, report)) = searched((data, facts), &of_path, options, left(ON_SEARCH), watch) {
            let limited = report.solution.status == Status::TimeLimit;
            found.interrupted = report.solution.status == Status::Interrupted;
            found.fewer = Some(Fewer { nonzeros, report });
            let (seconds, options) = (clock.seconds() - begun, of_all(&[("nonzeros", listed)]));
            found.steps.push(Step { question: HOW_SURE, call: Call::Solve, options, seconds, limited });
        }
    }
    if !found.interrupted {
        (watch.stage)(HOW_GOOD);
        let effort = (left(ON_BOUND), request.memory());
        bounded(problem, &mut found, effort, watch.cancel, of_all(&limit))?;
    }
    Ok(found)
}

/// A share in percent, with two digits.
fn short_percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent < 1e-3 {
        format!("{percent:.1e}")
    } else {
        format!("{percent:.*}", (1.0 - percent.log10().floor()).max(0.0) as usize)
    }
}

/// The questions.
const HOW_MANY: &str = "how many components";
const HOW_SPARSE: &str = "how many variables in each component";
/// Question whose answer is shown with the components.
pub const WHICH: &str = "which components";
/// Question whose answer is shown with the components of fewer variables.
pub const HOW_SURE: &str = "how sure";
const HOW_GOOD: &str = "how far from the best";

/// Answer where no pair of halves has ended.
const UNKNOWN: &str = "not known: no pair of halves of the rows has components within its share of the time";

/// The problem that is solved.
const PROBLEM: &str = "l0-pca";

fn path_request(data: &PcaData<'_>, request: &Request) -> Result<PathRequest> {
    let n = data.ncols();
    let larger = LARGER_COUNTS.iter().filter(|k| 4 * **k <= n);
    let mut counts: Vec<usize> = DEFAULT_COUNTS.iter().filter(|k| **k < n).chain(larger).copied().collect();
    if DEFAULT_COUNTS.last().is_some_and(|most| n <= *most) {
        counts.push(n);
    }
    Ok(PathRequest {
        problem: find_problem(PROBLEM)?,
        options: request.clone(),
        along: Along::Counts(counts),
        stopping: request.stopping(),
    })
}

/// The search for components of the problem with `options`.
fn searched(
    (data, facts): (&PcaData<'_>, &DataFacts),
    of_path: &PathRequest,
    options: Request,
    seconds: Option<f64>,
    watch: &mut Watch<'_, '_>,
) -> Result<(PosedJob, Report)> {
    let request = Request {
        effort: Some(Effort::Normal),
        time_limit: seconds,
        restarts: None,
        certify: None,
        certify_sample: None,
        stability: None,
        ..options
    };
    let job = Job::new(of_path.problem, request, CallOptions::new(Call::Explore, [""; 0]));
    let posed = job.pose(data, facts.clone(), Vec::new(), &watch.cancel.within(seconds))?;
    let report = posed.run(&posed.plan()?, watch.cancel, watch.observers)?;
    Ok((posed, report))
}

/// Bounds F; a problem that has no bound, or none in time, still has an answer.
fn bounded(
    problem: &AnyProblem,
    found: &mut Exploration,
    (seconds, memory): (Option<f64>, Option<u64>),
    cancel: &Cancel,
    options: Vec<(&'static str, String)>,
) -> Result<()> {
    let work = seconds.is_none().then_some(WORK_ON_BOUND);
    let usual = bound::Options::default();
    // an iteration of the relaxation decomposes C, for about the cube of its size
    let most = work.map_or(u64::MAX, |work| work / (problem.shape().0 as u64).pow(3).max(1));
    let iterations = usual.iterations.min(most.max(LEAST_ITERATIONS));
    let limits = bound::Options { seconds, nodes: u64::MAX, work, iterations, memory, ..usual };
    if seconds == Some(0.0)
        || found.report.global.is_some()
        || problem.bounded().is_err()
        || problem.shape().0 > BOUNDED
    {
        return Ok(()); // proved on the way, nothing is known, or a single step takes longer than all others
    }
    let begun = cancel.seconds();
    let bound = problem.lower_bound(Some(found.report.x()), &limits, cancel, &|_| ())?;
    found.report.bound_by(&bound)?;
    let seconds = cancel.seconds() - begun;
    let limited = bound.proof.is_none();
    found.steps.push(Step { question: HOW_GOOD, call: Call::Bound, options, seconds, limited });
    Ok(())
}

impl Exploration {
    /// Variables in each component.
    pub fn count(&self) -> usize {
        self.path.points[self.path.knee].at as usize
    }

    /// Shares of the variance of the components.
    pub fn explained(&self) -> Option<&ExplainedVariance> {
        self.report.explained_variance.as_ref()
    }

    /// Largest share of the variance that any X with so many nonzeros can explain, in the measure that was maximised.
    pub fn most_possible(&self) -> Option<f64> {
        let (explained, global) = (self.explained()?, self.report.global.as_ref()?);
        let f = self.report.solution.objective.total;
        (f < 0.0).then(|| (explained.of_maximised() * global.bound / f).min(1.0))
    }

    /// The answers in words: each question with its sentences.
    pub fn said(&self) -> Vec<(&'static str, Vec<Message>)> {
        let mut all = vec![
            (HOW_MANY, vec![self.said_of_rank()]),
            (HOW_SPARSE, self.said_of_counts()),
            (WHICH, self.said_of_components()),
        ];
        match &self.report.stability {
            Some(found) => all.push((HOW_SURE, self.said_of_halves(found))),
            None if self.steps.iter().any(|step| step.question == HOW_SURE) => {
                all.push((HOW_SURE, vec![UNKNOWN.into()]))
            }
            None => {}
        }
        match self.most_possible() {
            Some(most) => all.push((HOW_GOOD, self.said_of_bound(most))),
            None if !self.interrupted && self.report.x().nrows() > BOUNDED => {
                let said = format!("not known: nothing is computed of more than {BOUNDED} variables");
                all.push((HOW_GOOD, vec![said.into()]));
            }
            None => {}
        }
        all
    }

    fn said_of_rank(&self) -> Message {
        let task = &self.report.task;
        match task.scree.as_deref() {
            Some(scree) if self.by_rule => scree.reason.clone().into(),
            _ => format!("{} of at most {}", task.rank, task.data.cols).into(),
        }
    }

    /// Number of variables of each component that are in it in most halves of the rows, at least one; `None` where that is all of
    /// them, or too few halves are known.
    fn agreed(&self) -> Option<Vec<usize>> {
        let (x, found) = (self.report.x(), self.report.stability.as_ref()?);
        let is_sure =
            |i: usize, k: usize| x.get(i, k) != 0.0 && found.frequency.get(i, k) >= Stability::THRESHOLD;
        let sure = |k: usize| (0..x.nrows()).filter(|i| is_sure(*i, k)).count().max(1);
        let counts: Vec<usize> = (0..x.ncols()).map(sure).collect();
        let used = x.data().iter().filter(|v| **v != 0.0).count();
        (found.pairs >= Stability::FEW && counts.iter().sum::<usize>() < used).then_some(counts)
    }

    fn said_of_fewer(&self) -> Option<Message> {
        let Fewer { nonzeros, report } = self.fewer.as_ref()?;
        let together = |report: &Report| report.explained_variance.as_ref().map(|e| 100.0 * e.total);
        let (now, all) = (together(report)?, together(&self.report)?);
        let listed = nonzeros.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let said = format!(
            "components with {listed} variables, as many as halves agree on, have {now:.1} % of the variance together; those \
             with {} in each have {all:.1} %",
            self.count()
        );
        Some(said.into())
    }

    fn said_of_halves(&self, found: &Stability) -> Vec<Message> {
        let x = self.report.x();
        let is_few = found.pairs < Stability::FEW;
        let (often, halves) = match 2 * found.pairs {
            halves if is_few => (1.0, format!("each of {halves} halves of the rows")),
            halves => {
                let often = Stability::THRESHOLD;
                (often, format!("at least {:.0} % of {halves} halves of the rows", 100.0 * often))
            }
        };
        (0..x.ncols())
            .map(|k| {
                let used: Vec<usize> = (0..x.nrows()).filter(|i| x.get(*i, k) != 0.0).collect();
                let sure = used.iter().filter(|i| found.frequency.get(**i, k) >= often).count();
                let (all, cosine) = (variables(used.len()), found.cosine[k]);
                let is = if sure == 1 { "is" } else { "are" };
                let component = k + 1;
                format!(
                    "component {component}: {sure} of its {all} {is} in it in {halves} (mean cosine {cosine:.2})"
                )
                .into()
            })
            .chain((found.limited > 0).then(|| {
                let all = 2 * found.pairs;
                Message::from(format!("{} of {all} halves were ended by their share of ", found.limited))
                    .option("time-limit")
                    .text(": with more of it their components may be better, and agree more")
            }))
            .chain(self.said_of_fewer())
            .collect()
    }

    fn said_of_counts(&self) -> Vec<Message> {
        let point = &self.path.points[self.path.knee];
        let task = &self.report.task;
        let (count, n) = (self.count(), task.data.cols);
        let all = self.path.points.last().map_or(f64::NAN, path::Point::maximised);
        let why = if self.path.bends {
            "the knee of the curve"
        } else {
            "the middle of the path: the curve has no knee"
        };
        let most = self.path.points.last().map_or(0, |point| point.at as usize);
        let (places, each) = match task.rank {
            1 => ("the component".into(), ""),
            rank => (format!("each of {rank} components"), " in each"),
        };
        let share = 100.0 * point.maximised() / all;
        let explain = |count, it: &'static str, they| if count == 1 && task.rank == 1 { it } else { they };
        let (they, explain) =
            (explain(count, "it explains", "they explain"), explain(most, "explains", "explain"));
        let said = format!(
            "{count} of {} in {places}, {why}: {they} {share:.0} % of what {most}{each} {explain}",
            variables(n)
        );
        vec![said.into()]
    }

    fn said_of_components(&self) -> Vec<Message> {
        let Some(explained) = self.explained() else { return Vec::new() };
        let pca = self
            .report
            .pca_share
            .map_or(String::new(), |share| format!(" (PCA with as many components {:.1} %)", 100.0 * share));
        let (they, their) = match self.report.task.rank {
            1 => ("it has", "its"),
            _ => ("together they have", "their"),
        };
        let mut said: Vec<Message> = vec![
            format!(
                "{they} {:.1} % of the variance{pca}; regression on {their} scores explains {:.1} %",
                100.0 * explained.total,
                100.0 * explained.predicted
            )
            .into(),
        ];
        said.extend(match (explained.closest, explained.least_added()) {
            (None, _) => None,
            (Some((j, k, correlation)), _) if correlation > ALIKE => {
                let (j, k) = (j + 1, k + 1);
                Some(format!("components {j} and {k} repeat each other: their scores correlate at {correlation:.2}").into())
            }
            (Some((j, k, correlation)), least) => {
                let adds = least.map_or(1.0, |(_, share)| share);
                let said = format!(
                    "none repeats another: scores correlate at {correlation:.2} at most (components {} and {}), and each adds \
                     {:.0} % of its own variance or more",
                    j + 1,
                    k + 1,
                    100.0 * adds
                );
                Some(said.into())
            }
        });
        said
    }

    fn said_of_bound(&self, most: f64) -> Vec<Message> {
        let global = self.report.global.as_ref();
        let (optimal, proof) =
            (global.is_some_and(Global::is_optimal), global.and_then(|global| global.proof));
        let measure = self.explained().map_or("variance".into(), ExplainedVariance::words);
        let now = self.explained().map_or(f64::NAN, ExplainedVariance::of_maximised);
        let of_supports = global.and_then(|global| global.gap).filter(|_| proof.is_some());
        let s = if self.count() == 1 { "s" } else { "" };
        let is_alone = self.report.task.rank == 1;
        let (each, of_each) =
            if is_alone { ("", "the component") } else { (" in each component", "each component") };
        let [none, explain, these] = match is_alone {
            true => ["no component", "explains", "this one explains"],
            false => ["no components", "each explain", "these explain"],
        };
        vec![if optimal {
            let other = if self.count() == 1 { "variable".into() } else { variables(self.count()) };
            format!("proved: no other {other}{each} explain{s} more ({measure})").into()
        } else if let Some(gap) = of_supports {
            format!(
                "proved: these are the best {} for {of_each}, and what they explain is within {} % of the best possible on \
                 them ({measure})",
                variables(self.count()),
                short_percent(gap)
            )
            .into()
        } else {
            format!(
                "{none} with {} {explain} more than {:.1} % of the variance ({measure}); {these} {:.1} %",
                variables(self.count()),
                100.0 * most,
                100.0 * now
            )
            .into()
        }]
    }
}

/// A number of variables in words.
fn variables(count: usize) -> String {
    format!("{count} variable{}", if count == 1 { "" } else { "s" })
}
