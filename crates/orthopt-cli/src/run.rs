//! One run and its notes.

use orthopt::family::Family;
use orthopt::job::{PlannedRun, PosedJob};
use orthopt::report::Report;
use orthopt::start::Start;

use crate::input::check_rows;
use crate::interrupt::{self, patience};
use crate::progress::Progress;

/// The run that is asked for.
///
/// # Errors
/// A start of another number of rows; solvers that do not fit.
pub fn plan(posed: &PosedJob) -> anyhow::Result<PlannedRun> {
    if let Some(Start::Given(x)) = posed.job.request.start() {
        check_rows("--init", x, posed.problem.shape().0)?;
    }
    Ok(posed.plan()?)
}

/// Runs and reports; checks come later.
///
/// # Errors
/// Errors of the library.
pub fn minimise(posed: &PosedJob, run: &PlannedRun, progress: &mut Progress) -> anyhow::Result<Report> {
    let report = posed.run(run, interrupt::cancel(), &mut [&mut *progress])?;
    report.notes.iter().for_each(|note| progress.note(note));
    Ok(report)
}

/// Criticality and block stationarity, if requested, in what the run has left of its limit and a moment.
pub fn check(posed: &PosedJob, report: &mut Report, progress: &Progress) {
    posed.check(report, (interrupt::cancel(), &patience()), |what| progress.stage(what));
}
