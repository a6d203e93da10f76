//! One problem, one plan, one run: shared by `solve` and `compare`.

use orthopt::certify::Scope;
use orthopt::family::{Begin, Family, Plan, Wanted};
use orthopt::linalg::RowMat;
use orthopt::message::Message;
use orthopt::report::{Checks, Report, Task};
use orthopt::solve::{Interrupt, Observer};
use orthopt::solvers::SolverInfo;
use orthopt::solvers::obcd::{WorkingSet, pairs};

use crate::input::{check_rows, read_x};
use crate::interrupt::{self, patience};
use crate::progress::Progress;
use crate::settings::{Init, Settings};
use crate::text::count;

/// Solvers and starts for `problem`: what was typed, and the choices of the library for the rest.
///
/// # Errors
/// A start that cannot be read or does not fit; solvers that do not fit.
pub fn plan<P: Family>(settings: &Settings, wanted: &Wanted, problem: &P) -> anyhow::Result<Plan<P>> {
    let start = match &settings.init {
        None => None,
        Some(Init::Named(start)) => Some(Begin::Named(start.clone())),
        Some(Init::File(path)) => {
            let x = read_x("--init", path)?;
            check_rows("--init", &x, problem.shape().0)?;
            Some(Begin::Given(x))
        }
    };
    let wanted = Wanted { start, ..wanted.clone() };
    let mut plan = problem.plan(&wanted)?;
    plan.reasons.extend(plan.restart_reason(problem, &wanted, &settings.stopping, settings.restarts));
    Ok(plan)
}

/// Options that were given and do nothing, or less than they say.
pub fn unused<P: Family>(wanted: &Wanted, plan: &Plan<P>, problem: &P) -> Vec<Message> {
    let rule = plan.options.obcd.working_set;
    let looks_at = |solver: &SolverInfo<P>, option: &str| solver.shared.iter().any(|c| c.name == option);
    // a preset that has candidates and no rule to choose has a greedy one
    let preset = |s: &&SolverInfo<P>| looks_at(s, "candidates") && !looks_at(s, "working-set");
    let greedy =
        matches!(rule, WorkingSet::GreedySv | WorkingSet::GreedyOr) || plan.solvers.iter().any(preset);
    let mut notes = Vec::new();
    let given = [
        ("working-set", wanted.working_set.is_some()),
        ("block", wanted.block.is_some()),
        ("model", wanted.model.is_some()),
        ("alpha", wanted.alpha.is_some()),
        ("candidates", wanted.candidates.is_some()),
        ("side", wanted.side.is_some()),
        ("jacobi", wanted.jacobi),
    ];
    let meant = |option: &str| plan.solvers.iter().any(|s| looks_at(s, option));
    let idle: Vec<_> = given.iter().filter(|(o, set)| *set && !meant(o)).map(|(o, _)| *o).collect();
    if let Some((first, others)) = idle.split_first() {
        let all = others.iter().fold(Message::about(*first), |list, o| list.text(", ").option(*o));
        let verb = if others.is_empty() { "means" } else { "mean" };
        notes.push(all.text(format!(" {verb} nothing to {}", plan.names())));
    }
    if wanted.candidates.is_some() && meant("candidates") && !greedy {
        let rule = wanted.working_set.map_or("the default rule", WorkingSet::name);
        let why = format!(" is for the greedy working sets; {rule} ignores it");
        notes.push(Message::about("candidates").text(why));
    }
    let (given, n) = (wanted.candidates, problem.shape().0);
    if meant("candidates") && greedy && given.is_some_and(|given| given != given.within(n)) {
        let why =
            format!(" is more than the {} there are: all are looked at", count(pairs(n) as u64, "pair"));
        notes.push(Message::about("candidates").text(why));
    }
    notes
}

/// Runs the plan and reports; checks come later.
///
/// # Errors
/// What the library finds wrong.
pub fn minimise<P: Family>(
    settings: &Settings,
    wanted: &Wanted,
    problem: &P,
    plan: &Plan<P>,
    task: &Task,
    progress: &mut Progress,
) -> anyhow::Result<Report> {
    let mut interrupted = Interrupt(interrupt::asked());
    let observers: &mut [&mut dyn Observer] = &mut [progress, &mut interrupted];
    let solution = plan.run(problem, wanted, &settings.stopping, settings.restarts, observers)?;
    let report = Report::new(task, problem, plan, wanted, settings.stopping, solution);
    report.notes.iter().for_each(|note| progress.note(note));
    Ok(report)
}

/// Criticality, where it is wanted, and block stationarity, where that is.
pub fn check<P: Family>(settings: &Settings, problem: &P, report: &mut Report, progress: &Progress) {
    report.checks = checks(problem, report.x(), settings.certify, |what| progress.stage(what));
}

/// Criticality of X, and block stationarity where there is a scope; after an interruption, of the pairs that
/// were checked by then.
pub fn checks<P: Family>(
    problem: &P,
    x: &RowMat,
    scope: Option<Scope>,
    stage: impl Fn(&'static str),
) -> Checks {
    stage("measuring criticality");
    let criticality = problem.criticality(x, &patience());
    let certificate = scope.and_then(|scope| {
        stage("checking pairs of rows");
        problem.block_stationarity(x, scope, &patience())
    });
    Checks { criticality, certificate }
}
