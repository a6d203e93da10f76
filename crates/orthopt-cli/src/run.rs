//! One problem, one plan, one run: shared by `solve` and `compare`.

use orthopt::RowMat;
use orthopt::cancel::Cancel;
use orthopt::certify::Scope;
use orthopt::family::{Family, Plan, Wanted};
use orthopt::internal::left_after;
use orthopt::message::Message;
use orthopt::report::{Checks, Report, Task};
use orthopt::solvers::obcd::pairs;
use orthopt::start::Start;

use crate::input::check_rows;
use crate::interrupt::{self, patience};
use crate::progress::Progress;
use crate::settings::Settings;
use crate::text::count;

/// Solvers and starts for `problem`: those given, and the choices of the library for the rest.
///
/// # Errors
/// A start that cannot be read or does not fit; solvers that do not fit.
pub fn plan<P: Family>(settings: &Settings, wanted: &Wanted, problem: &P) -> anyhow::Result<Plan<P>> {
    if let Some(Start::Given(x)) = &wanted.start {
        check_rows("--init", x, problem.shape().0)?;
    }
    let mut plan = problem.plan(wanted)?;
    plan.reasons.extend(plan.restart_reason(problem, wanted, &settings.stopping, settings.restarts));
    Ok(plan)
}

/// Notes on options beyond their range.
pub fn remarks<P: Family>(wanted: &Wanted, plan: &Plan<P>, problem: &P) -> Option<Message> {
    let (given, n) = (wanted.candidates?, problem.shape().0);
    let looks = plan.solvers.iter().any(|s| s.shared.iter().any(|c| c.name == "candidates"));
    let why = format!(" exceeds the {} that exist: all are scored", count(pairs(n) as u64, "pair"));
    (looks && given != given.within(n)).then(|| Message::about("candidates").text(why))
}

/// Runs the plan and reports; checks come later.
///
/// # Errors
/// Errors of the library.
pub fn minimise<P: Family>(
    settings: &Settings,
    wanted: &Wanted,
    problem: &P,
    plan: &Plan<P>,
    task: &Task,
    progress: &mut Progress,
) -> anyhow::Result<Report> {
    let (stopping, cancel) = (settings.of_run(), interrupt::cancel());
    let solution = plan.run(problem, wanted, &stopping, settings.restarts, cancel, &mut [&mut *progress])?;
    let report = cancel.during(|| Report::new(task, problem, plan, wanted, settings.stopping, solution))?;
    report.notes.iter().for_each(|note| progress.note(note));
    Ok(report)
}

/// Seconds that the checks of X may take in any case.
const CHECKS: f64 = 0.2;
/// Share of a limit that they may exceed it by.
const SHARE: f64 = 0.05;

/// Criticality and block stationarity, if requested, in what the run has left of its limit and a moment.
pub fn check<P: Family>(settings: &Settings, problem: &P, report: &mut Report, progress: &Progress) {
    let (limit, seconds) = (settings.stopping.time_limit, report.solution.seconds);
    let left = |limit: f64| (limit - seconds).max(0.0) + CHECKS.max(SHARE * limit);
    let clock = patience().within(limit.map(left));
    let stage = |what: &'static str| progress.stage(what);
    // steps that cannot be divided are not begun later
    let long = interrupt::cancel().within(limit.map(|limit| left_after(limit, seconds)));
    report.checks = long.during(|| checks(problem, report.x(), settings.certify, &clock, stage));
}

/// Criticality of X, and block stationarity where there is a scope; where the clock ends it, of the pairs that
/// were checked by then.
pub fn checks<P: Family>(
    problem: &P,
    x: &RowMat,
    scope: Option<Scope>,
    clock: &Cancel,
    stage: impl Fn(&'static str),
) -> Checks {
    stage("measuring criticality");
    let criticality = problem.criticality(x, clock);
    let certificate = scope.and_then(|scope| {
        stage("checking pairs of rows");
        problem.block_stationarity(x, scope, clock)
    });
    Checks { criticality, certificate }
}
