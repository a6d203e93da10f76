//! One problem, one plan, one run: shared by `solve` and `compare`.

use orthopt::family::{Family, Named, Plan, Wanted};
use orthopt::internal::check_in_time;
use orthopt::message::Message;
use orthopt::report::{Report, Task};
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
pub fn plan(settings: &Settings, wanted: &Wanted, problem: &Named) -> anyhow::Result<Plan> {
    if let Some(Start::Given(x)) = &wanted.start {
        check_rows("--init", x, problem.shape().0)?;
    }
    let mut plan = problem.plan(wanted)?;
    plan.reasons.extend(plan.restart_reason(problem, wanted, &settings.stopping, settings.restarts));
    Ok(plan)
}

/// Notes on options beyond their range.
pub fn remarks(wanted: &Wanted, plan: &Plan, problem: &Named) -> Option<Message> {
    let (given, n) = (wanted.candidates?, problem.shape().0);
    let looks = plan.solvers.iter().any(|s| s.shared.iter().any(|c| c.name == "candidates"));
    let why = format!(" exceeds the {} that exist: all are scored", count(pairs(n) as u64, "pair"));
    (looks && given != given.within(n)).then(|| Message::about("candidates").text(why))
}

/// Runs the plan and reports; checks come later.
///
/// # Errors
/// Errors of the library.
pub fn minimise(
    settings: &Settings,
    wanted: &Wanted,
    problem: &Named,
    plan: &Plan,
    task: &Task,
    progress: &mut Progress,
) -> anyhow::Result<Report> {
    let (stopping, cancel) = (settings.of_run(), interrupt::cancel());
    let solution = plan.run(problem, wanted, &stopping, settings.restarts, cancel, &mut [&mut *progress])?;
    let report = cancel.during(|| Report::new(task, problem, plan, wanted, settings.stopping, solution))?;
    report.notes.iter().for_each(|note| progress.note(note));
    Ok(report)
}

/// Criticality and block stationarity, if requested, in what the run has left of its limit and a moment.
pub fn check(settings: &Settings, problem: &Named, report: &mut Report, progress: &Progress) {
    let spent = (settings.stopping.time_limit, report.solution.seconds);
    let wanted = (report.x(), settings.certify);
    let stage = |what: &'static str| progress.stage(what);
    report.checks = check_in_time(problem, wanted, spent, (interrupt::cancel(), &patience()), stage);
}
